"""What holds for every answer, shown on generated ones."""

import json
import re
from datetime import date, timedelta
from math import isfinite

import pytest
from hypothesis import assume, given, seed, settings, strategies as st

from tests import fuzz
from tests.conftest import ROOT, run_python
from tests.corpus import headlines, score
from tests.digest import digest
from tests.documents import DOCUMENTS, KINDS, LONG, MARKER, PIECES, SHORT
from utils.core.task_scorers import scorer


DATES = st.dates(date(1000, 1, 1), date(9999, 11, 30))
NAMES = st.text("abcdefgh", min_size=4, max_size=8)
NUMBERS = st.integers(0, 10_000)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=8,
)
ENDS_REASONING = re.compile("(?i)think|reasoning|channel|assistantfinal")
VALUES = {  # kind of value -> values as labels write them
    "number": NUMBERS.map(str),
    "date": DATES.map("{:%m/%d/%Y}".format),
    "iso date": DATES.map(str),
    "time": st.times().map("{:%H:%M:%S}".format),
    "year": NUMBERS.map("{} BC".format),
    "name": NAMES,
    "ordered_list": st.lists(NAMES, unique=True),
}


def verdict(kind: str, response: str, **fields: object) -> tuple[float, float]:
    """Return published and flexible score of a response to a document of the kind."""
    task, document = KINDS[kind]
    scores = headlines(task, document | fields, response)
    return scores["published"], scores["flexible"]


@pytest.mark.parametrize("kind", VALUES)
@given(draws=st.data(), explanation=JSON)
def test_the_label_is_right_and_another_value_wrong_whatever_explains_them(
    kind, draws, explanation
):
    key = kind if kind == "ordered_list" else "answer"
    label, other = draws.draw(VALUES[kind]), draws.draw(VALUES[kind])
    order = draws.draw(st.permutations(["explanation", key]))
    indent = draws.draw(st.sampled_from([None, 2]))
    for value in (label, other):
        fields = {"explanation": explanation, key: value}
        response = json.dumps({name: fields[name] for name in order}, indent=indent)
        assume(not ENDS_REASONING.search(response))
        scores = verdict("tot_arithmetic", response, label=str({key: label}))
        assert scores == ((1, 1) if value == label else (0, 0))


FORMS = ["%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%Y-%b-%d", "%Y/%m/%d"]
MONTH_FORMS = ["%b, %Y", "%B %Y", "%Y-%m", "%m/%Y", "%B %d, %Y"]


@given(DATES, st.sampled_from(FORMS), st.sampled_from(MONTH_FORMS))
def test_the_form_of_a_date_does_not_change_the_verdict(day, form, month_form):
    written, later = day.strftime(form), day + timedelta(days=31)
    answer, month = json.dumps({"date": written}), f"{MARKER} {day:{month_form}}"
    for reference, right in ((day, 1), (later, 0)):
        label = str({"date": f"{reference:%m/%d/%Y}"})
        assert verdict("tot_arithmetic", answer, label=label)[1] == right
        document = LONG | {"answer": str(reference)}
        scores = score("tcp_long", document, f"\\boxed{{{written}}}")
        assert scores["accuracy_flexible"] == right
        golds = [f"{reference:%b, %Y}"]
        assert verdict("date", month, golds=golds) == (right, right)


@given(
    DATES, st.times(), st.sampled_from([" GMT", " UTC", "", " (GMT)"]), st.booleans()
)
def test_the_form_of_a_moment_does_not_change_the_verdict(day, clock, zone, half):
    written = f"{day} {clock.strftime('%I:%M %p' if half else '%H:%M')}{zone}"
    other_clock = f"{clock.hour:02}:{(clock.minute + 1) % 60:02}"
    for reference, right in ((f"{clock:%H:%M}", 1), (other_clock, 0)):
        document = SHORT | {"answer": f"{day} {reference} GMT"}
        scores = score("tcp_short", document, f"\\boxed{{{written}}}")
        assert scores["accuracy_flexible"] == right


OTHER_REFERENCES = [
    ("tcp", {"answer": "2021-01-10 08:30 GMT"}),
    ("tot_arithmetic", {"label": "{'day': '0', 'time': '02:10'}"}),
    *[("tot_semantic", {"label": "E1"}), ("qa", {"golds": ["Swansea"]})],
    *[("date", {"golds": ["Feb, 2020"]}), ("options", {"letters": ["B", "C"]})],
    ("nli", {"label": "Entailment"}),
]
# Pieces of answers get further into the scorers than any text does.
PROSE = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)
# Where each family looks for its answer, so that the pieces meet its readers.
PLACES = ["{}", '{{"answer": "{}"}}', '{{"day": "{0}", "time": "{0}"}}']
PLACES += ["\\boxed{{{}}}", f"{MARKER} {{}}"]
# What is nearly a date or a time, to meet each way in which one may not be one.
DIGITS = st.text("0123456789", min_size=1, max_size=5) | st.just("2012")
WORDS = st.sampled_from("jan may sept november sunday wed of th at am gmt ad".split())
PARTS = st.lists(st.one_of(DIGITS, DIGITS, WORDS), min_size=2, max_size=5)
NEARLY = st.builds(str.join, st.sampled_from([" ", "-", "/", ":", ", "]), PARTS)
IN_PLACES = st.builds(str.format, st.sampled_from(PLACES), PROSE | NEARLY)
RESPONSES = st.text() | IN_PLACES


def check_scores(response: str) -> None:
    """Every score is a float from 0 to 1, every error finite, the same each time."""
    for task, document in DOCUMENTS:
        scores = score(task, document, response)
        assert all(type(x) is float and isfinite(x) for x in scores.values()), scores
        for name, metric in scorer(task).metrics.items():
            assert 0 <= scores.get(name, 0) <= metric.top, scores
        near = [x for name, x in scores.items() if name.startswith("within_")]
        assert near == sorted(near)
        if scores.get("accuracy_flexible"):
            assert all(near) and not scores.get("smape")
        assert scores == score(task, document, response)


@pytest.mark.parametrize("n", fuzz.sizes(300, 240_000))
def test_any_response_gives_floats_from_zero_to_one(n):
    seeded = seed(fuzz.DAY)(given(RESPONSES)(check_scores))
    settings(max_examples=n, database=None)(seeded)()


@pytest.mark.parametrize(("kind", "reference"), OTHER_REFERENCES)
@given(RESPONSES)
def test_what_is_extracted_does_not_depend_on_the_reference(kind, reference, response):
    task, document = KINDS[kind]
    verdict, other = (
        scorer(task).explain(doc, response) for doc in (document, document | reference)
    )
    assert verdict.published_span == other.published_span
    assert verdict.flexible_span == other.flexible_span
    assert verdict.scores["extracted"] == other.scores["extracted"]


def test_verdicts_are_the_same_on_any_machine_in_any_place_at_any_time():
    elsewhere = {"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "1"}
    elsewhere |= dict.fromkeys(("LANG", "LC_ALL"), "de_DE.UTF-8")
    command = ["-m", "tests.digest", "1987-06-05 23:59:59"]
    assert run_python(*command, cwd=ROOT, **elsewhere).stdout.split() == [digest()]
