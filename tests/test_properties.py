"""What holds for every answer, shown on generated ones."""

import inspect
import json
import os
import subprocess
import sys
from datetime import date, timedelta

import pytest
from hypothesis import assume, given, settings, strategies as st

from lm_eval_tasks.tcp import utils as tcp
from lm_eval_tasks.timebench import utils as timebench
from lm_eval_tasks.tot import utils as tot
from tests.conftest import ROOT
from tests.documents import DOCUMENTS, QUESTION


DATES = st.dates(date(1000, 1, 1), date(9999, 12, 1))
TIMES = st.times()
NAMES = st.text("abcdefgh", min_size=4, max_size=8)
NUMBERS = st.integers(0, 10_000)


def tot_score(response: str, label: object, question: str = QUESTION) -> float:
    doc = {"question": question, "question_type": "trick", "label": str(label)}
    return tot.process_results(doc, [response])["acc_flexible"]


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
    assert tot_score(json.dumps({"explanation": "x", key: value}), {key: value}) == 1
    assume(other != value)
    assert tot_score(json.dumps({"explanation": "x", key: other}), {key: value}) == 0


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=20), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(JSON, st.permutations(["explanation", "hours", "minutes"]), st.booleans())
@settings(max_examples=500, deadline=None)
def test_an_answer_in_json_is_right_whatever_its_explanation_holds(
    explanation, keys, pretty
):
    values = {"explanation": explanation, "hours": 5, "minutes": 30}
    answer = {key: values[key] for key in keys}
    response = json.dumps(answer, indent=2 if pretty else None, ensure_ascii=pretty)
    assume("think>" not in response)  # the tag of a reasoning block is no explanation
    doc = {"question": QUESTION, "label": '{"hours": 5, "minutes": 30}'}
    scores = tot.process_results(doc, [response])
    assert (scores["acc"], scores["acc_flexible"]) == (1, 1)


@given(
    DATES,
    st.sampled_from(["%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%Y-%b-%d", "%Y/%m/%d"]),
)
def test_the_form_of_a_date_does_not_change_the_verdict(day, form):
    written = day.strftime(form)
    assert tot_score(json.dumps({"date": written}), {"date": f"{day:%m/%d/%Y}"}) == 1
    later = day + timedelta(days=1)
    assert tot_score(json.dumps({"date": written}), {"date": f"{later:%m/%d/%Y}"}) == 0
    tcp_doc = {"answer": str(day), "answer_format": tcp.LONG_FORMAT}
    scores = tcp.process_results(tcp_doc, [f"\\boxed{{{written}}}"])
    assert scores["acc_flexible"] == 1


@given(DATES, TIMES, st.sampled_from([" GMT", " UTC", "", " (GMT)"]), st.booleans())
def test_the_form_of_a_moment_does_not_change_the_verdict(day, clock, zone, half):
    doc = {
        "answer": f"{day} {clock:%H:%M} GMT",
        "answer_format": tcp.SHORT_FORMAT,
    }
    written = f"{day} {clock.strftime('%I:%M %p' if half else '%H:%M')}{zone}"
    assert tcp.process_results(doc, [f"\\boxed{{{written}}}"])["acc_flexible"] == 1
    doc["answer"] = f"{day} {clock.hour:02}:{(clock.minute + 1) % 60:02} GMT"
    assert tcp.process_results(doc, [f"\\boxed{{{written}}}"])["acc_flexible"] == 0


@given(DATES)
def test_timebench_month_is_right_whatever_its_form(day):
    doc = {"kind": "date", "golds": [f"{day:%b, %Y}"]}
    for form in ("%b, %Y", "%B %Y", "%Y-%m", "%m/%Y", "%B %d, %Y"):
        response = f"{timebench.MARKER} {day.strftime(form)}"
        scores = timebench.process_results(doc, [response])
        assert (scores["score"], scores["score_flexible"]) == (1, 1)
    later = f"{timebench.MARKER} {day + timedelta(days=31):%b, %Y}"
    scores = timebench.process_results(doc, [later])
    assert (scores["score"], scores["score_flexible"]) == (0, 0)


@given(st.sets(st.sampled_from("ABCD"), min_size=1), st.sets(st.sampled_from("ABCD")))
def test_timebench_option_sets_are_right_only_if_they_are_the_same(gold, answered):
    options = ["a few minutes", "an hour", "a day", "two days"]
    doc = {"kind": "options", "options": options, "letters": sorted(gold)}
    texts = [options["ABCD".index(letter)] for letter in sorted(answered)]
    lettered = [f"{x}. {text}" for x, text in zip(sorted(answered), texts, strict=True)]
    for form in (sorted(answered), lettered, texts):
        response = f"{timebench.MARKER} {', '.join(form)}."
        scores = timebench.process_results(doc, [response])
        assert (scores["score_flexible"] == 1) == (answered == gold)


AROUND = st.sampled_from(
    [
        "{}",
        "  {}\n\n",
        "```json\n{}\n```",
        "**{}**",
        "So:\n\n{}\n\nThat is all.",
        "> {}",
    ]
)


@given(AROUND, st.sampled_from([str.lower, str.upper, str.title, str]), st.booleans())
def test_what_is_around_an_answer_and_its_case_do_not_change_the_verdict(
    around, case, right
):
    name = "plant watering" if right else "cooking"
    scores = [tot_score(around.format(json.dumps({"answer": case(name)})), {"answer": "plant watering"})]  # fmt: skip
    day = "5 november 2012" if right else "6 november 2012"
    doc = {"answer": "2012-11-05", "answer_format": tcp.LONG_FORMAT}
    boxed = around.format(f"\\boxed{{{case(day)}}}")
    scores.append(tcp.process_results(doc, [boxed])["acc_flexible"])
    doc = {"kind": "qa", "golds": ["Plant Watering"]}
    marked = around.format(f"{timebench.MARKER} {case(name)}")
    scores.append(timebench.process_results(doc, [marked])["score_flexible"])
    assert scores == [float(right)] * 3


@pytest.mark.parametrize("family", [tcp, tot, timebench], ids=lambda f: f.__name__)
def test_extraction_sees_the_response_alone(family):
    for extract in (family.extract_published, family.extract_flexible):
        assert list(inspect.signature(extract).parameters) == ["response"]


@given(st.text(), NAMES, NAMES)
def test_whether_an_answer_is_found_does_not_depend_on_the_label(text, one, other):
    response = (
        text + json.dumps({"answer": one}) + f"\\boxed{{{one}}}{timebench.MARKER} x"
    )
    docs = [
        (tot, [{"question": "?", "label": str({"answer": x})} for x in (one, other)]),
        (timebench, [{"kind": "qa", "golds": [x]} for x in (one, other)]),
    ]
    for family, pair in docs:
        first, second = (
            family.process_results(d, [response])["extracted"] for d in pair
        )
        assert first == second


# Pieces of which answers are made, to get further into the scorers than any text does.
PIECES = st.sampled_from(
    [
        *(
            '{"answer": ',
            '"day": ',
            '"time": "',
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            ",",
            ":",
        ),
        *(
            "\\boxed{",
            "\\text{",
            "}",
            "$",
            "**",
            "```json\n",
            "\n",
            " ",
            "\\",
            "//",
            "<think>",
        ),
        *(
            "</think>",
            "Thus, the correct answer is: ",
            "answer is ",
            "A",
            "B, C",
            "(d)",
            "or",
        ),
        *(
            "2012-11-05",
            "05/06/2012",
            "16:00",
            "4 PM",
            "GMT",
            "+02:00",
            "Aug, 1987",
            "May",
        ),
        *(
            "1307",
            "-6.5",
            "1e999",
            *(
                "-",
                "/",
                "7",
                "12",
                "123",
                "12345",
                "the",
                "th",
                "Sunday",
                "AM",
                "BC",
                "days",
            ),
            "NaN",
            "792 AD",
            "same_day",
            "+1",
            "unanswerable",
            "not",
        ),
        *(
            "Entailment",
            "\x00",
            "\ud800",
            "\u0661",
            "\uff11",
            "\u202e",
            "\u2011",
            "null",
        ),
    ]
)
PROSE = st.lists(st.one_of(PIECES, st.text(max_size=3))).map("".join)
# Where each family looks for its answer, so that the pieces meet its readers.
PLACES = st.sampled_from(
    [
        "{}",
        '{{"answer": "{}"}}',
        '{{"day": "{0}", "time": "{0}"}}',
        "\\boxed{{{}}}",
        timebench.MARKER + " {}",
    ]
)
# What is nearly a date or a time, to meet each way in which one may not be one.
NUMBER = st.one_of(st.text("0123456789", min_size=1, max_size=5), st.just("2012"))
WORDS = st.sampled_from(
    [*tot.MONTHS, *tot.WEEKDAYS, "of", "th", "at", "am", "gmt", "ad"]
)
SEPARATORS = st.sampled_from([" ", "-", "/", ":", ", "])
NEARLY = st.builds(
    str.join,
    SEPARATORS,
    st.lists(st.one_of(NUMBER, NUMBER, WORDS), min_size=2, max_size=5),
)
RESPONSES = st.one_of(st.text(), st.builds(str.format, PLACES, PROSE))
NEAR_RESPONSES = st.builds(str.format, PLACES, NEARLY)


def check_scores(response: str) -> None:
    """Every metric is a float from 0 to 1, the same each time."""
    for family, doc in DOCUMENTS:
        scores = family.process_results(doc, [response])
        assert all(type(x) is float and 0 <= x <= 1 for x in scores.values()), scores
        assert scores == family.process_results(doc, [response])


@given(RESPONSES)
@settings(max_examples=300, deadline=None)
def test_any_response_gives_floats_from_zero_to_one(response):
    check_scores(response)


@given(NEAR_RESPONSES)
@settings(max_examples=1500, deadline=None)
def test_what_is_nearly_a_date_gives_floats_from_zero_to_one(response):
    check_scores(response)


@pytest.mark.fuzz
@given(st.one_of(RESPONSES, NEAR_RESPONSES))
@settings(max_examples=240_000, deadline=None)
def test_long_fuzz(response):
    check_scores(response)


@pytest.mark.parametrize(
    "environment, arguments",
    [
        ({"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "1"}, []),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C", "PYTHONHASHSEED": "2"}, []),
        ({"TZ": "America/Los_Angeles"}, ["--at", "1987-06-05"]),
        ({"PYTHONHASHSEED": "3"}, ["--at", "2099-12-31 23:59:59"]),
    ],
)
def test_verdicts_do_not_depend_on_where_and_when(environment, arguments):
    digests = {
        subprocess.run(
            [sys.executable, "-m", "tests.verdicts", *options],
            cwd=ROOT,
            env=os.environ | changes,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for changes, options in (({}, []), (environment, arguments))
    }
    assert len(digests) == 1
