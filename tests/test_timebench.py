"""TimeBench: the card's examples, bad rows, the real data.

What the flexible rule says of an answer is in `tests/cases/timebench`.
"""

import logging

import datasets
import pytest

from lm_eval_tasks.timebench import utils
from tests.corpus import echoes, read_jsonl
from utils.core.families import prompt, scorer


MARKER = "Thus, the correct answer is:"

ROWS = {
    "qa": {
        "question": "Which club?",
        "answer": ["Cardiff City"],
        "context": "He joined Cardiff City.",
        "fact_context": "He joined Cardiff City in 1990.",
    },
    "date": {"question": "When?", "answer": ["Aug, 1987"], "context": ""},
    "options": {
        "qid": 0,
        "question": "How long?",
        "context": "He waits.",
        "options": ["two hours", "no more than ten minutes ", "No more than five minutes", "a day"],
        "labels": ["no", "yes", "yes", "no"],
    },
    "nli": {"Premise": "It rains.", "Hypothesis": "It is wet.", "Label": "Entailment"},
    "two_way": {"Premise": "It rains.", "Hypothesis": "It is wet.", "Label": "Entailment"},
    "generation": {
        "keywords": ["moon", "sun", "night", "day"],
        "keywords_pos": [0, 1, 0, 1],
        "statements": ["The moon shines at night.", "The sun shines by day."],
        "ids": ["a", "b"],
    },
}  # fmt: skip

TASKS = {  # kind of row -> a task
    "qa": "timebench_timeqa_explicit",
    "date": "timebench_date_arithmetic",
    "options": "timebench_mctaco",
    "nli": "timebench_timexnli_s1",
    "two_way": "timebench_tracie",
    "generation": "timebench_situatedgen",
}


def documents(task: str, *rows: dict) -> datasets.Dataset:
    return scorer(task).process_docs(datasets.Dataset.from_list(list(rows)))


def score(response: str, kind: str, **changes: object) -> dict[str, float]:
    task = TASKS[kind]
    (doc,) = documents(task, ROWS[kind] | changes)
    scores = scorer(task).process_results(doc, [response])
    assert all(type(value) is float and 0 <= value <= 1 for value in scores.values())
    return scores


@pytest.mark.parametrize(
    "response, kind, changes, expected",
    [  # Source: the metric card's examples, word for word.
        (f"... {MARKER} Aug, 1987.", "date", {}, {"exact_match": 1}),
        (f"... {MARKER} January 2020.", "date", {"answer": ["Feb, 2020"]}, {"exact_match": 0}),
        (f"... {MARKER} Cardiff City.", "qa", {}, {"exact_match": 1, "f1_score": 1}),
        (f"... {MARKER} unanswerable", "qa", {"answer": ["unanswerable"]}, {"exact_match": 1, "f1_score": 1}),
        (f"... {MARKER} B, C.", "options", {}, {"exact_match": 1, "f1_score": 1}),
    ],
)  # fmt: skip
def test_published_score_is_that_of_the_card(response, kind, changes, expected):
    assert expected.items() <= score(response, kind, **changes).items()


@pytest.mark.parametrize("task", ["timebench_timexnli_s2", "timebench_tracie"])
def test_a_two_way_task_knows_no_neutral_and_no_third_letter(task):
    (doc,) = documents(task, ROWS["nli"] | {"Label": "Contradiction"})
    assert doc["options"] == ["Entailment", "Contradiction"]
    for answer, expected in (("B", 1), ("C", 0), ("Neutral", 0)):
        scores = scorer(task).process_results(doc, [f"{MARKER} {answer}"])
        assert (scores["score"], scores["score_flexible"]) == (expected, expected)


@pytest.mark.parametrize(
    "answer, keywords",
    [
        ("The moon shines at night. The sun shines by day.", 1),
        ("The sun shines by day. The moon shines at night.", 1),
        ("Dr. Moon sees the moon at night. Mr. Day sees the sun by day.", 1),
        ("The moon shines by day. The sun shines at night.", 0.5),
        ("The moon shines at night.", 0.5),
        ("Moonlight, sunny, nights, days.", 0),
    ],
)
def test_keywords_count_in_the_sentence_they_belong_to(answer, keywords):
    assert score(f"{MARKER} {answer}", "generation")["keywords"] == keywords


def test_generation_that_is_the_reference_scores_one():
    reference = " ".join(ROWS["generation"]["statements"])
    scores = score(f"{MARKER} {reference}", "generation")
    assert scores == {"bleu": 1.0, "rouge_l": 1.0, "keywords": 1.0, "extracted": 1.0}


@pytest.mark.parametrize(
    "kind, rows, message",
    [
        ("qa", [ROWS["qa"] | {"answer": ["the"]}], "row 0, column 'answer': ['the'] is not an answer"),
        ("qa", [ROWS["qa"] | {"question": None}], "row 0, column 'question': None is"),
        ("date", [ROWS["date"] | {"answer": ["Aug"]}], "row 0, column 'answer': ['Aug'] is not a month"),
        ("nli", [ROWS["nli"] | {"Label": "Maybe"}], "row 0, column 'Label': 'Maybe' is"),
        ("options", [ROWS["options"], ROWS["options"] | {"labels": ["no"] * 4}], "row 1, column 'labels': ['no', 'no', 'no', 'no'] "),
        ("options", [ROWS["options"] | {"options": [b"a day"] * 4}], "row 0, column 'options'"),
        ("options", [ROWS["options"] | {"labels": ["yes"]}], "row 0, column 'labels'"),
        ("generation", [ROWS["generation"] | {"keywords_pos": [0]}], "column 'keywords_pos': [0] "),
        ("two_way", [ROWS["nli"], ROWS["nli"] | {"Label": "Neutral"}], "row 1, column 'Label': 'Neutral' is not"),
        *((kind, [], "TimeBench") for kind in TASKS),
    ],
)  # fmt: skip
def test_bad_rows_stop_with_their_place(kind, rows, message):
    with pytest.raises(ValueError) as error:
        documents(TASKS[kind], *rows)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "kind, config, changes, words",
    [
        ("date", None, {"question": "In which month?"}, ["TimeBench (rows): 1 rows", "the benchmark has other files"]),
        ("two_way", "tracie_timebench", {"Premise": "It pours."}, ["TimeBench (tracie): 1 rows", f"the benchmark has 500 rows, {utils.FILES['tracie'][1]}"]),
    ],
)  # fmt: skip
def test_rows_of_no_known_file_are_a_warning(caplog, kind, config, changes, words):
    rows = datasets.Dataset.from_list([ROWS[kind] | changes])
    rows.info.config_name = config
    with caplog.at_level(logging.WARNING):
        scorer(TASKS[kind]).process_docs(rows)
    assert all(word in caplog.text for word in words)


# ------------------------------------------------------------------ on the real data

FILES = {  # file -> task, rows; 7,553 in all
    "durationqa_f2": ("durationqa", 687), "mctaco_f2": ("mctaco", 851),
    "timedial_f2": ("timedial", 500), "situatedgen": ("situatedgen", 115),
    "menatqa_counterfactual": ("menatqa_counterfactual", 200),
    "menatqa_order": ("menatqa_order", 200), "menatqa_scope": ("menatqa_scope", 500),
    "tempreason_l1": ("date_arithmetic", 500), "tempreason_l2": ("tempreason_l2", 500),
    "tempreason_l3": ("tempreason_l3", 500), "tracie": ("tracie", 500),
    "timeqa_easy": ("timeqa_explicit", 500), "timeqa_hard": ("timeqa_implicit", 500),
    "timexnli_cs1": ("timexnli_s1", 500), "timexnli_cs2": ("timexnli_s2", 500),
    "timexnli_cs3": ("timexnli_s3", 500),
}  # fmt: skip
SCORED = [name for name in FILES if name != "situatedgen"]


@pytest.fixture(scope="module")
def real_documents(shared) -> dict[str, list[dict]]:
    found = {}
    for name, (task, number) in FILES.items():
        rows = read_jsonl(shared / "timebench" / f"{name}_timebench.jsonl")
        found[name] = list(documents(f"timebench_{task}", *rows))
        assert len(found[name]) == number
    return found


def gold_answer(doc: dict) -> str:
    """Return what the prompt asks for, with the label's value."""
    if "letters" in doc:
        return ", ".join(doc["letters"])
    return doc.get("label") or doc["golds"][0]


@pytest.mark.parametrize("name", SCORED)
def test_the_gold_is_always_right_and_any_other_answer_gets_less(real_documents, name):
    process_results = scorer(f"timebench_{FILES[name][0]}").process_results
    docs = real_documents[name]
    for doc, other in zip(docs, docs[1:] + docs[:1], strict=True):
        gold, answer = gold_answer(doc), gold_answer(other)
        scores = process_results(doc, [f"So. {MARKER} {gold}."])
        assert set(scores.values()) == {1.0}, doc
        golds = [utils.normalise(gold) for gold in doc.get("golds", [gold])]
        if utils.normalise(answer) not in golds:
            scores = process_results(doc, [f"So. {MARKER} {answer}."])
            assert scores["score"] < 1 and scores["score_flexible"] < 1
            assert scores["score"] == scores.get("f1_score", scores["exact_match"])
            assert scores["accuracy_flexible"] == 0


FORMS = [
    *(f"{MARKER}\n%s", f"**{MARKER} %s**", f"**{MARKER}** %s", "The answer is %s."),
    *("So $\\boxed{\\text{%s}}$", '{"answer": "%s"}', "<answer>%s</answer>"),
    "## Answer\n\n%s",
]


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("form", FORMS)
def test_the_right_value_is_right_in_any_form(real_documents, name, form):
    process_results = scorer(f"timebench_{FILES[name][0]}").process_results
    for doc in real_documents[name][::5]:
        answer = gold_answer(doc)
        if '"' not in answer or "{" not in form:
            scores = process_results(doc, [form % answer])
            assert scores["accuracy_flexible"] == 1, (answer, doc)


@pytest.mark.parametrize("name", SCORED)
def test_who_only_repeats_the_prompt_has_no_answer(real_documents, name):
    task = f"timebench_{FILES[name][0]}"
    for doc in real_documents[name][::7]:  # all of them take a quarter of a minute
        for echo in echoes(prompt(task, doc)):
            scores = scorer(task).process_results(doc, [echo])
            assert scores["score_flexible"] == 0, echo[-200:]
