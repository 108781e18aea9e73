"""No response makes a scorer raise, and none costs more than it may.

Time is that of this process, which a busy machine does not add to, and the one bound is
ten times what the slowest needs: it tells linear from quadratic. How cost grows with
length, and against what it is measured, is the business of `python -m tests.cost`.
"""

import gc
import time
from collections.abc import Iterator

import pytest

from tests.corpus import score
from tests.documents import DOCUMENTS, KINDS


SECONDS = 0.25  # of processor time, for a response of any content up to LENGTH
LENGTH = 8_000

MARKER = "Thus, the correct answer is:"
# Each is repeated until the response has the wanted length.
UNITS = [
    *("{", "}", "[", '"', "'", "\\", "9", " ", "\n", "a", ":", ",", "a: ", "{'a': "),
    *('{"a":', '{"a":{', '{"":', '{":","', '{"a":"\\"', '"\\"', '"a":', '"a": x '),
    *('"a": [', '{"a": "b" c, ', "{{", "{}", '{"a":1,', "'a': '", "a: 'b a: ", "\\{"),
    *('{"explanation": "', '"a":1 // ', "//\n", "[[", '{"a":[', '{"{":"{', '{"{'),
    *(MARKER, f"{MARKER} Z ", "answer "),
    *("Answer:", "\n### Answer\n", "**Answer:** ", "the answer is ", "(C), ", "not "),
    *("* ", "**", "_", "`", "```\n", "- C\n", "1. ", "(", "((", "[1]", "or ", "C, "),
    *("\\boxed{", "\\boxed{x", "\\boxed {", "\\boxed{}", "<think>", "</think>"),
    *("\\text{", "\\ ", "~", "$", "\\boxed{\\text{C}} and ", "<answer>", "</answer>"),
    *("<think></think>", "<thinking>", "[THINK]", "[/THINK]", "\u25c1think\u25b7"),
    *("\u25c1/think\u25b7", "</reasoning>", "assistantfinal", "analysis"),
    *("<|channel|>final<|message|>", "<|channel|>", "<|im_end|>", "<|", "<", "</"),
    *("\x00", "\ud800", "\u0661", "\uff11", "\u202e", "\u2011", "\ufb01", "1e999 "),
    *('"a": NaN, ', "__import__('os').system('true') ", '{"a": ' + "9" * 5000 + "}"),
    *("because ", "since, ", "isn't unanswerable, ", "x - "),
    *("A", "Aa", "A1", "Aa ", "1,000", "1 000 ", "\u2014", "E46 ", "next "),
    *("2012-11-", "16:00 ", "1/", "12 ", "Aug, ", "Entailment ", "1987 ", "BC "),
]
# How a response may begin and end so that the repeated part is reached at all.
FRAMES = {
    "tcp": [("\\boxed{", "}")],
    "tot": [('{"a": "', '"}'), ("{'a': ", "}"), ("{", "")],
    "timebench": [(f"{MARKER} ", ""), (f"{MARKER} ", "!"), ("\\boxed{", "}")],
}
ALL_FRAMES = [("", ""), *{frame for frames in FRAMES.values() for frame in frames}]


def checked(task: str, doc: dict, response: str) -> dict[str, float]:
    """Return the scores; they are floats, and come in time."""
    start = time.process_time()
    scores = score(task, doc, response)
    assert time.process_time() - start < SECONDS, (task, response[:99])
    assert all(type(value) is float for value in scores.values())
    return scores


def assert_no_credit(scores: dict[str, float]) -> None:
    for name in ("accuracy", "accuracy_flexible", "score_flexible"):
        assert scores.get(name, 0.0) == 0.0, scores


@pytest.fixture(scope="module", autouse=True)
def imported() -> Iterator[None]:
    """What a first response makes a scorer import does not count, nor does the collection
    of what other tests have left.
    """
    for task, doc in KINDS.values():
        score(task, doc, f"{MARKER} A")
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: repr(unit)[:40])
def test_a_hostile_response_scores_zero_in_time_and_never_raises(unit):
    for task, doc in KINDS.values():
        family = task.partition("_")[0]
        for before, after in [("", ""), *FRAMES[family]]:
            response = before + unit * (LENGTH // len(unit)) + after
            assert_no_credit(checked(task, doc, response))
    for task, doc in DOCUMENTS:
        for before, after in ALL_FRAMES:
            response = before + unit * (200 // len(unit) + 1) + after
            assert_no_credit(checked(task, doc, response))


FORMS = ["\\boxed{%s}", '{"answer": "%s"}', MARKER + " %s"]


@pytest.mark.parametrize("unit", ["a", "1", "a1", " ", "1,", "-", "1 a", ":", "may "])
@pytest.mark.parametrize("tail", ["", "!", "a", "\u0661"])
def test_a_value_of_any_length_is_read_in_time(unit, tail):
    # Up to some length a value is read: a pattern that backtracks would not return.
    for length in (100, 250, 1_000, 4_000, LENGTH):
        value = (unit * length)[: length - 1] + tail
        for task, doc in KINDS.values():
            for form in FORMS:
                scores = checked(task, doc, form % value)
                assert scores.get("accuracy_flexible", 0.0) == 0.0
