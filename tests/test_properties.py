"""What holds for every answer, shown on generated ones."""

import json
from datetime import date, timedelta
from math import isfinite

import pytest
from hypothesis import assume, given, settings, strategies as st

from tests.corpus import headlines, score
from tests.documents import DOCUMENTS, KINDS, LONG, SHORT
from utils.core.families import scorer


MARKER = "Thus, the correct answer is:"
DATES = st.dates(date(1000, 1, 1), date(9999, 11, 30))
TIMES = st.times()
NAMES = st.text("abcdefgh", min_size=4, max_size=8)
NUMBERS = st.integers(0, 10_000)


def verdict(kind: str, response: str, **fields: object) -> tuple[float, float]:
    """Return published and flexible score of a response to a document of the kind."""
    task, doc = KINDS[kind]
    scores = headlines(task, doc | fields, response)
    return scores["published"], scores["flexible"]


def tot_flexible(response: str, label: object) -> float:
    return verdict("tot_arithmetic", response, label=str(label))[1]


def tcp_flexible(box: str, doc: dict) -> float:
    task = "tcp_long" if doc["answer_format"] == LONG["answer_format"] else "tcp_short"
    return score(task, doc, f"\\boxed{{{box}}}")["accuracy_flexible"]


# A value of each kind: how the label writes it, and another value of the kind.
VALUES = {
    "number": st.tuples(NUMBERS, NUMBERS).map(lambda pair: list(map(str, pair))),
    "date": st.tuples(DATES, DATES).map(lambda pair: [f"{d:%m/%d/%Y}" for d in pair]),
    "iso date": st.tuples(DATES, DATES).map(lambda pair: list(map(str, pair))),
    "time": st.tuples(TIMES, TIMES).map(lambda pair: [f"{t:%H:%M:%S}" for t in pair]),
    "year": st.tuples(NUMBERS, NUMBERS).map(lambda pair: [f"{n} BC" for n in pair]),
    "name": st.tuples(NAMES, NAMES).map(list),
    "names": st.tuples(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True)).map(list),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_tot_gold_scores_one_and_another_value_zero(kind, data):
    value, other = data.draw(VALUES[kind])
    key = "ordered_list" if kind == "names" else "answer"
    assert tot_flexible(json.dumps({"explanation": "x", key: value}), {key: value}) == 1
    assume(other != value)
    assert tot_flexible(json.dumps({"explanation": "x", key: other}), {key: value}) == 0


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=20), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(JSON, st.permutations(["explanation", "hours", "minutes"]), st.booleans())
def test_an_answer_in_json_is_right_whatever_its_explanation_holds(
    explanation, keys, pretty
):
    values = {"explanation": explanation, "hours": 5, "minutes": 30}
    answer = {key: values[key] for key in keys}
    response = json.dumps(answer, indent=2 if pretty else None, ensure_ascii=pretty)
    # The marks of a reasoning block are no explanation.
    assume("think>" not in response and "assistantfinal" not in response)
    label = '{"hours": 5, "minutes": 30}'
    assert verdict("tot_arithmetic", response, label=label) == (1, 1)


FORMS = ["%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%Y-%b-%d", "%Y/%m/%d"]


@given(DATES, st.sampled_from(FORMS))
def test_the_form_of_a_date_does_not_change_the_verdict(day, form):
    written, later = day.strftime(form), day + timedelta(days=1)
    answer = json.dumps({"date": written})
    assert tot_flexible(answer, {"date": f"{day:%m/%d/%Y}"}) == 1
    assert tot_flexible(answer, {"date": f"{later:%m/%d/%Y}"}) == 0
    assert tcp_flexible(written, LONG | {"answer": str(day)}) == 1


@given(DATES, TIMES, st.sampled_from([" GMT", " UTC", "", " (GMT)"]), st.booleans())
def test_the_form_of_a_moment_does_not_change_the_verdict(day, clock, zone, half):
    written = f"{day} {clock.strftime('%I:%M %p' if half else '%H:%M')}{zone}"
    assert tcp_flexible(written, SHORT | {"answer": f"{day} {clock:%H:%M} GMT"}) == 1
    other = f"{clock.hour:02}:{(clock.minute + 1) % 60:02}"
    assert tcp_flexible(written, SHORT | {"answer": f"{day} {other} GMT"}) == 0


@given(DATES)
def test_timebench_month_is_right_whatever_its_form(day):
    golds = [f"{day:%b, %Y}"]
    for form in ("%b, %Y", "%B %Y", "%Y-%m", "%m/%Y", "%B %d, %Y"):
        response = f"{MARKER} {day.strftime(form)}"
        assert verdict("date", response, golds=golds) == (1, 1)
    later = f"{MARKER} {day + timedelta(days=31):%b, %Y}"
    assert verdict("date", later, golds=golds) == (0, 0)


@given(st.sets(st.sampled_from("ABCD"), min_size=1), st.sets(st.sampled_from("ABCD")))
def test_timebench_option_sets_are_right_only_if_they_are_the_same(gold, answered):
    options = ["a few minutes", "an hour", "a day", "two days"]
    texts = [options["ABCD".index(letter)] for letter in sorted(answered)]
    lettered = [f"{x}. {text}" for x, text in zip(sorted(answered), texts, strict=True)]
    for form in (sorted(answered), lettered, texts):
        response = f"{MARKER} {', '.join(form)}."
        found = verdict("options", response, options=options, letters=sorted(gold))
        assert (found[1] == 1) == (answered == gold)


AROUND = ["{}", "  {}\n\n", "```json\n{}\n```", "**{}**", "So:\n\n{}\n\nThat is all.", "> {}"]  # fmt: skip
CASES = [str.lower, str.upper, str.title, str]


@given(st.sampled_from(AROUND), st.sampled_from(CASES), st.booleans())
def test_what_is_around_an_answer_and_its_case_do_not_change_the_verdict(
    around, case, right
):
    name = "plant watering" if right else "cooking"
    object_ = around.format(json.dumps({"answer": case(name)}))
    day = "5 november 2012" if right else "6 november 2012"
    boxed = around.format(f"\\boxed{{{case(day)}}}")
    marked = around.format(f"{MARKER} {case(name)}")
    assert [
        tot_flexible(object_, {"answer": "plant watering"}),
        score("tcp_long", LONG, boxed)["accuracy_flexible"],
        verdict("qa", marked, golds=["Plant Watering"])[1],
    ] == [float(right)] * 3


# Two references of a kind that a response may be scored against.
OTHERS = {
    "tcp": {"answer": "2021-01-10 08:30 GMT"},
    "tot_arithmetic": {"label": "{'day': '0', 'time': '02:10'}"},
    "tot_semantic": {"label": "E1"},
    "qa": {"golds": ["Swansea"]},
    "date": {"golds": ["Feb, 2020"]},
    "options": {"letters": ["B", "C"]},
    "nli": {"label": "Entailment"},
}


# Pieces of which answers are made, to get further into the scorers than any text does.
PIECES = [
    *('{"answer": ', '"day": ', '"time": "', "{", "}", "[", "]", '"', "'", ",", ":"),
    *("\\boxed{", "\\text{", "}", "$", "**", "```json\n", "\n", " ", "\\", "//"),
    *("<think>", "</think>", "[THINK]", "assistantfinal", "<answer>", "</answer>"),
    *("Thus, the correct answer is: ", "answer is ", "Answer: ", "### Answer\n"),
    *("A", "B, C", "(d)", "or", "- B\n", "because ", "(not ", "Entailment", "not"),
    *("2012-11-05", "05/06/2012", "16:00", "4 PM", "GMT", "+02:00", "Aug, 1987", "May"),
    *("1307", "-6.5", "1e999", "-", "/", "7", "12", "123", "12345", "NaN", "null"),
    *("the", "th", "Sunday", "AM", "BC", "days", "792 AD", "same_day", "+1"),
    *("unanswerable", "\x00", "\ud800", "\u0661", "\uff11", "\u202e", "\u2011"),
]
PROSE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)
# Where each family looks for its answer, so that the pieces meet its readers.
OBJECTS = ['{{"answer": "{}"}}', '{{"day": "{0}", "time": "{0}"}}']
PLACES = st.sampled_from(["{}", *OBJECTS, "\\boxed{{{}}}", MARKER + " {}"])
# What is nearly a date or a time, to meet each way in which one may not be one.
NUMBER = st.text("0123456789", min_size=1, max_size=5) | st.just("2012")
WORDS = st.sampled_from("jan may sept november sunday wed of th at am gmt ad".split())
SEPARATORS = st.sampled_from([" ", "-", "/", ":", ", "])
PARTS = st.lists(st.one_of(NUMBER, NUMBER, WORDS), min_size=2, max_size=5)
NEARLY = st.builds(str.join, SEPARATORS, PARTS)
PLACED = [st.builds(str.format, PLACES, said) for said in (PROSE, NEARLY)]
RESPONSES = st.one_of(st.text(), *PLACED)


def check_scores(response: str) -> None:
    """Every score is a float from 0 to 1, every error finite, the same each time."""
    for task, doc in DOCUMENTS:
        scores = score(task, doc, response)
        assert all(type(x) is float and isfinite(x) for x in scores.values()), scores
        for name, is_score in scorer(task).higher_is_better.items():
            assert not is_score or 0 <= scores[name] <= 1, scores
        assert scores == score(task, doc, response)


@pytest.mark.parametrize("n", [300, pytest.param(240_000, marks=pytest.mark.fuzz)])
def test_any_response_gives_floats_from_zero_to_one(n):
    settings(max_examples=n)(given(RESPONSES)(check_scores))()


@pytest.mark.parametrize("kind", OTHERS)
@given(RESPONSES)
def test_what_is_extracted_does_not_depend_on_the_reference(kind, response):
    task, doc = KINDS[kind]
    one, other = (scorer(task).explain(x, response) for x in (doc, doc | OTHERS[kind]))
    assert one.published_span == other.published_span
    assert one.flexible_span == other.flexible_span
    assert one.scores["extracted"] == other.scores["extracted"]
