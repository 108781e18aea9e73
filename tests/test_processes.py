"""Pieces of work in processes of their own: what one takes or does, the others never notice."""

import os
import signal

import pytest

from utils.core.limited_processes import Ended, allow_seconds, run_apart


DEEDS = {
    "memory": lambda: bytearray(100 << 20),
    "time": lambda: any(iter(int, 1)),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "fault": lambda: 1 / 0,
}


@pytest.fixture(scope="module", params=[1, 2])
def replies(request) -> dict:
    """What pieces of work reply, of which some end badly; with one or two processes."""

    def do(work: object) -> dict:
        allow_seconds(0)
        DEEDS.get(work, int)()
        return {"work": work}

    pieces = ["memory", 1, "time", 2, "killed", 3, "fault", 4]
    return dict(run_apart(do, pieces, request.param, 50))


def test_work_beside_a_process_that_ends_badly_is_done(replies):
    assert all(replies[number] == {"work": number} for number in range(1, 5))


@pytest.mark.parametrize("kind", DEEDS)
def test_a_process_without_a_reply_says_how_it_ended(replies, kind):
    assert isinstance(replies[kind], Ended)
    assert replies[kind].kind == kind


def test_a_fault_says_what_and_where(replies):
    assert "ZeroDivisionError" in replies["fault"].detail
    assert "test_processes.py, line " in replies["fault"].detail


def test_a_process_that_is_killed_says_by_which_signal(replies):
    assert replies["killed"].detail == f"{-signal.SIGKILL}"


def do_with(memory: int) -> dict:
    """Do what takes memory, and what a terminal does to all of a group."""
    for number in (signal.SIGINT, signal.SIGHUP):  # which are the parent's to heed
        os.kill(os.getpid(), number)
    return {"bytes": len(bytearray(memory))}


def test_a_process_within_its_limit_replies_whatever_ends_its_parent():
    polls = []
    pieces = run_apart(do_with, [20 << 20], 1, 50, lambda: polls.append(1))
    assert [*pieces] == [(20 << 20, {"bytes": 20 << 20})]
    assert polls


def test_a_piece_is_taken_when_it_is_its_turn():
    replies = []
    pieces = (number for number in range(4) if len(replies) >= number - 1)
    for _, reply in run_apart(lambda number: {"n": number}, pieces, 1, 50):
        replies.append(reply["n"])
    assert replies == [0, 1, 2, 3]


def test_processes_end_when_nobody_asks_for_more():
    pieces = run_apart(lambda number: {"pid": os.getpid()}, range(4), 2, 50)
    _, reply = next(pieces)
    pieces.close()
    with pytest.raises(ProcessLookupError):
        os.kill(reply["pid"], 0)
