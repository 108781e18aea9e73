"""`compute` is the metric cards' function, and says of every sample what a run says."""

import re

import pytest

from tests.conftest import ROOT, run_python
from tests.corpus import FAMILIES, cases, score
from utils import compute
from utils.adapters.metric_card_compute import _SUBSETS, _TASKS
from utils.core.task_scorers import scorer


THREE = [
    "They finish the project on \\boxed{2012-11-05}.",
    "So the last day is \\boxed{2021-01-10}.",
    "In GMT, that is \\boxed{2020-05-28 16:00}.",
]
MOMENTS = ["2012-11-05", "2012-11-05", "2020-05-28 16:00 GMT"]
THREE_SUBSETS = ["tcp_long", "tcp_long", "tcp_short"]
MARKER = "Thus, the correct answer is:"
BOTH = ['{"explanation": "...", "answer": 1}', '{"explanation": "", "answer": "1985"}']
LONDON = [
    '{"explanation": "Some explanation...", "unordered_list": ["London"]}',
    ' "Response without opening curly brackets...", "answer": "2005-04-07"}',
]
LABELS = ['{"unordered_list": ["London"]}', "{'answer': '2005-04-07'}"]
CLUBS = [f"He rowed there. {MARKER} Cardiff City.", f"{MARKER} unanswerable"]
NAMES = ["Cardiff City", "unanswerable"]
TIMEDIAL = "B. No more than ten minutes && C. No more than five minutes"
LETTERS = [TIMEDIAL, "B, C", "B C", "BC", "B && C", ["B", "C"], ("B", "C"), " B, C. "]
LETTERS += ["B. salt && pepper && C. a\nb"]
LONG, SINGLE, FLEXIBLE = (
    {"subset": "tcp_long"},
    {"return_average": False},
    {"flexible": True},
)
BOX, DAY, MONTHS = ["\\boxed{2012-11-05}"], ["2012-11-05"], ["Aug, 1987"]
EXAMPLES = [  # predictions, references, card and options, what is returned
    (THREE, MOMENTS, {"subset": THREE_SUBSETS}, {"accuracy": 0.6666666666666666}),
    (tuple(THREE), tuple(MOMENTS), {"subset": tuple(THREE_SUBSETS)} | SINGLE, {"accuracy": [1, 0, 1]}),
    (LONDON, LABELS, {"subset": "arithmetic"} | SINGLE, {"accuracy": [True, False]}),
    (BOTH, ["0", "1985"], {"subset": "semantic"} | SINGLE, {"accuracy": [False, True]}),
    ([f"Four years on. {MARKER} Aug, 1987.", f"{MARKER} January 2020."], [*MONTHS, "Feb, 2020"], {"task": "Date Arithmetic"}, {"exact_match": [1, 0]}),
    (CLUBS, NAMES, {"task": "MenatQA"}, {"exact_match": [1.0, 1.0], "f1": [1.0, 1.0]}),
    ([f"{MARKER} B, C.", *[f"{MARKER} C, B"] * 8], LETTERS, {"task": "TimeDial"}, {"exact_match": [1] * 9, "f1": [1.0] * 9}),
    ([f"{MARKER} Paris"], [("London", "Paris")], {"task": "TempReason"}, {"exact_match": [1.0], "f1": [1.0]}),
    (THREE[2:], ["2020-05-28 16:00 GMT "], {"subset": "tcp_short"}, {"accuracy": 1.0}),
    ([f"{MARKER} B, C", f"{MARKER} A"], ["B, C", "A, D"], {"task": "TimeDial", "return_average": True}, {"exact_match": 0.5, "f1": (1 + 2 / 3) / 2}),
    # The flexible score beside the card's.
    (["\\boxed{\\text{5 Nov 2012}}"], DAY, LONG | SINGLE | FLEXIBLE, {"accuracy": [0], "accuracy_flexible": [1]}),
    ([f"{MARKER} **August 1987**"], MONTHS, {"task": "Date Arithmetic"} | FLEXIBLE, {"exact_match": [0], "score_flexible": [1]}),
    ([f"{MARKER} B."], ["B. an hour && C. a day"], {"task": "TimeDial"} | FLEXIBLE, {"exact_match": [0], "f1": [2 / 3], "score_flexible": [2 / 3]}),
]  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_cards_return_what_the_cards_print(example):
    predictions, references, options, expected = example
    found = compute(predictions, references, **options)
    assert repr(found) == repr(expected)  # 1 is not True, and 1.0 is neither


ERRORS = [
    ([], [], LONG, "predictions is empty"),
    ("abc", DAY, LONG, "predictions is a str; give a list"),
    (BOX, DAY * 2, LONG, "1 predictions, but 2 references"),
    (b"abc", DAY, LONG, "predictions is a bytes; give a list"),
    ({"a": 1}, DAY, LONG, "predictions is a dict; give a list"),
    (5, DAY, LONG, "predictions is a int; give a list"),
    (BOX, [], LONG, "references is empty; give at least one"),
    (BOX, DAY, {}, "give either subset (tcp_short, "),
    (BOX, DAY, {"task": "tcp"}, "task 'tcp' is unknown; use TempReason, TimeQA, "),
    (BOX, DAY, {"subset": ["tcp_long"] * 2}, "1 predictions, but 2 subset; give as many"),
    (BOX * 2, DAY * 2, {"subset": ["tcp_long", "long"]}, "subset[1] 'long' is unknown; use "),
    (BOX, DAY, {"subset": [["tcp_long"]]}, "subset[0] ['tcp_long'] is unknown; use tcp_short"),
    (BOX, [5], {"subset": "tcp_short"}, "references[0]: column 'answer': 5 is missing, empty or"),
    (BOX, ["x && B. ten"], {"task": "TimeDial"}, "'x && B. ten' is not like \"B. one day"),
    (BOX, DAY, LONG | {"task": "TimeQA"}, "give either subset (tcp_short, "),
    (BOX, DAY, {"subset": "long"}, "subset 'long' is unknown; use tcp_short, tcp_long, "),
    (BOX, DAY, {"subset": ["semantic"]}, "subset[0] 'semantic' is unknown; use tcp_short, "),
    ([*BOX, None], DAY * 2, LONG, "predictions[1] is a NoneType; give a str"),
    (BOX * 2, [*DAY, "2012-11-31"], LONG, "references[1]: .*'2012-11-31' is not in the form"),
    (BOX, ["{"], {"subset": "arithmetic"}, "is not a dict in JSON or Python"),
    (BOX, ["The"], {"task": "TimeQA"}, "references[0]: .*'The'"),
    (BOX, ["1987"], {"task": "Date Arithmetic"}, "'1987'.* is not a month and a year"),
    (BOX, ["E. ten"], {"task": "TimeDial"}, "is not like \"B. one day && C. two days\""),
]  # fmt: skip


@pytest.mark.parametrize("example", ERRORS)
def test_what_cannot_be_computed_is_a_value_error_that_says_which(example):
    predictions, references, options, message = example
    with pytest.raises(ValueError) as raised:
        compute(predictions, references, **options)
    pattern = ".*".join(map(re.escape, message.split(".*")))
    assert re.search(pattern, str(raised.value))
    assert "\n" not in str(raised.value)


CARDS = [
    *(({"subset": name}, card.task) for name, card in _SUBSETS.items()),
    *(({"task": name}, card.task) for name, card in _TASKS.items()),
]


def reference_of(doc: dict) -> str | list[str]:
    """Return the text that the data set has for the answer to a document."""
    if "letters" not in doc:
        return doc.get("answer") or doc.get("label") or doc["golds"]
    texts = dict(zip("ABCD", doc["options"]))
    return " && ".join(f"{letter}. {texts[letter]}" for letter in doc["letters"])


@pytest.mark.parametrize(("card", "task"), CARDS)
def test_every_case_scores_as_in_a_run(card, task):
    known = [case for family in FAMILIES for case in cases(family) if case.task == task]
    documents = [case.doc for case in known]
    given = [case.response for case in known], [*map(reference_of, documents)]
    options = card | SINGLE | {"flexible": True}
    runs = [score(*case[1:4]) for case in known]
    for name, scores in compute(*given, **options).items():
        # The flexible score depends on the prompt, too.
        expected = [run[scorer(task).metric(name)] for run in runs]
        assert scores == expected or name.endswith("_flexible")


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"lm_eval", "datasets", "yaml", "numpy", "pandas", "dateutil", "scipy"}
    row = {"dialogue": ["Hi."], "question": "Now?", "answer": "2012-11-05"}
    code = (
        f"import utils, sys; assert not {heavy} & sys.modules.keys();"
        f"_, doc = utils.render('tcp_long', {row});"
        "assert utils.reward('tcp_long')(['\\\\boxed{2012-11-05}'], [doc]) == [1.0];"
        f"assert not {heavy} - {{'dateutil', 'yaml'}} & sys.modules.keys(), sys.modules"
    )
    done = run_python("-c", code, cwd=ROOT)
    assert done.returncode == 0, done.stderr
