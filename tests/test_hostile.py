"""No response makes a scorer raise, and none costs more than it may.

Time is this process's, and the bound ten times what the slowest needs: it tells linear from
quadratic. `python -m tests.cost` measures how cost grows with length.
"""

import gc
import time
from itertools import product

import pytest

from tests.corpus import score
from tests.documents import DOCUMENTS, KINDS, MARKER, PIECES


SECONDS = 0.25  # of processor time, for a response of any content up to LENGTH
LENGTH = 8_000
# How a response may begin and end so that the repeated part is reached at all.
FRAMES = {
    "tcp": ["%s", "\\boxed{%s}"],
    "tot": ["%s", '{"a": "%s"}', "{'a': %s}", "{%s"],
    "timebench": ["%s", f"{MARKER} %s", f"{MARKER} %s!", "\\boxed{%s}"],
}
ALL_FRAMES = dict.fromkeys(sum(FRAMES.values(), []))


def check(task: str, document: dict, response: str) -> None:
    """The scores are floats, come in time, and give no credit."""
    start = time.process_time()
    scores = score(task, document, response)
    assert time.process_time() - start < SECONDS, (task, response[:99])
    assert all(type(value) is float for value in scores.values())
    assert not any(map(scores.get, ("accuracy", "accuracy_flexible", "score_flexible")))


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Neither imports for a first response count, nor garbage of other tests."""
    for task, document in KINDS.values():
        score(task, document, f"{MARKER} A")
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: repr(piece)[:40])
def test_a_hostile_response_scores_zero_in_time_and_never_raises(piece):
    for task, document in KINDS.values():
        for frame in FRAMES[task.partition("_")[0]]:
            check(task, document, frame.replace("%s", piece * (LENGTH // len(piece))))
    for task, document in DOCUMENTS:
        for frame in ALL_FRAMES:
            check(task, document, frame.replace("%s", piece * (200 // len(piece) + 1)))


@pytest.mark.parametrize("piece", ["a", "1", "a1", " ", "1,", "-", "1 a", ":", "may "])
@pytest.mark.parametrize("end", ["", "!", "a", "\u0661"])
def test_a_value_of_any_length_is_read_in_time(piece, end):
    # Up to some length a value is read: a pattern that backtracks would not return.
    forms = "\\boxed{%s}", '{"answer": "%s"}', f"{MARKER} %s"
    lengths = 100, 250, 1_000, 4_000, LENGTH
    for form, length, (task, document) in product(forms, lengths, KINDS.values()):
        check(task, document, form % ((piece * length)[: length - 1] + end))
