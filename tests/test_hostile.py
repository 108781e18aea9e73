"""No response makes a scorer raise, and none costs more than linear time."""

import time

import pytest

from lm_eval_tasks.tcp import utils as tcp
from lm_eval_tasks.timebench import utils as timebench
from lm_eval_tasks.tot import utils as tot
from tests.documents import DOCUMENTS


# Each is repeated until the response has the wanted length.
UNITS = [
    *("{", "}", "[", '"', "'", "\\", "9", " ", "\n", "a", ":", ",", "a: ", "{'a': "),
    *('{"a":', '{"a":{', '{"":', '{":","', '{"a":"\\"', '"\\"', '"a":', '"a": x '),
    *('"a": [', '{"a": "b" c, ', "{{", "{}", '{"a":1,', "'a': '", "a: 'b a: ", "\\{"),
    *('{"explanation": "', '"a":1 // ', "//\n", "[[", '{"a":[', '{"{":"{', '{"{'),
    *(
        "Thus, the correct answer is:",
        "Thus, the correct answer is: Z ",
        "answer ",
        "* ",
    ),
    *("\\boxed{", "\\boxed{x", "\\boxed {", "\\boxed{}", "<think>", "</think>"),
    *("<think></think>", "\x00", "\ud800", "\u0661", "\uff11", "\u202e", "1e999 "),
    *('"a": NaN, ', "__import__('os').system('true') ", '{"a": ' + "9" * 5000 + "}"),
]
# How a response may begin or end so that the repeated part is reached at all.
FRAMES = [
    ("", ""),
    ('{"a": "', '"}'),
    ("{'a': ", "}"),
    ("\\boxed{", "}"),
    ("{", ""),
    ("Thus, the correct answer is: ", ""),
]
RESPONSES = [
    pytest.param(lambda n, u=unit, a=a, b=b: a + u * (n // len(u)) + b, id=repr(a + unit)[:30])
    for unit in UNITS
    for a, b in FRAMES
]  # fmt: skip


# One document of each kind is enough where time is measured.
KINDS = list(
    {
        (family, doc.get("kind"), "prompt" in doc): (family, doc)
        for family, doc in DOCUMENTS
    }.values()
)


@pytest.mark.parametrize("response", RESPONSES)
def test_hostile_response_scores_zero_and_never_raises(response):
    for family, doc in DOCUMENTS:
        scores = family.process_results(doc, [response(20_000)])
        assert all(type(value) is float for value in scores.values())
        for name in ("acc", "acc_flexible", "score_flexible"):
            assert scores.get(name, 0.0) == 0.0


def seconds(function, *arguments: object) -> float:
    """Return the least time of three calls: what else the machine does adds to it."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("response", RESPONSES)
def test_four_times_the_response_takes_about_four_times_as_long(response):
    for family, doc in KINDS:
        short, long = response(8_000), response(32_000)
        # A thousandth of a second is added, where the ratio would be that of noise.
        ratio = (seconds(family.process_results, doc, [long]) + 0.001) / (
            seconds(family.process_results, doc, [short]) + 0.001
        )
        if ratio > 8:  # quadratic would be 16; measure larger ones before believing
            ratio = seconds(family.process_results, doc, [response(128_000)]) / seconds(
                family.process_results, doc, [long]
            )
        assert ratio < 8


@pytest.mark.parametrize("unit", ["a", "1", "a1", " ", "1,", "-", "1 a", ":", "may "])
@pytest.mark.parametrize("tail", ["", "!", "a", "\u0661"])
def test_a_value_of_the_greatest_length_is_read_in_linear_time(unit, tail):
    # Longer values are not read; up to there a pattern that backtracks would not return.
    for length in (
        tcp.MAX_ANSWER_LENGTH,
        tot.MAX_VALUE_LENGTH,
        timebench.MAX_ANSWER_LENGTH,
        timebench.MAX_DATE_LENGTH,
    ):
        long, short = ((unit * length)[: length // part - 1] + tail for part in (1, 4))
        for family, doc in KINDS:
            for form in ("\\boxed{%s}", '{"answer": "%s"}', timebench.MARKER + " %s"):
                scores = family.process_results(doc, [form % long])
                assert scores.get("acc_flexible", 0.0) == 0.0
                ratio = (seconds(family.process_results, doc, [form % long]) + 1e-3) / (
                    seconds(family.process_results, doc, [form % short]) + 1e-3
                )
                assert ratio < 8
