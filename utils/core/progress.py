"""Progress on a terminal: what is done of how much, how fast, and what time is left.

Nothing is shown in the first second of a command, nor where stderr is no terminal.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tqdm import tqdm


Item = TypeVar("Item")
NOTHING_KEPT = "nothing is kept, and the same command starts again"
_STARTED = time.monotonic()  # with the command, whose first second shows nothing
_QUIET_SECONDS = 1
_LEAST_DELAY = 0.1  # seconds: what is done at once flashes no bar
_FORM = "{desc} |{bar}| {percentage:.0f} %, {elapsed} < {remaining}"


class Meter(ctypes.Structure):
    """How far a process is in a file; memory that it shares with its parent."""

    _fields_ = (
        ("position", ctypes.c_int64),  # bytes
        ("answers", ctypes.c_int64),
        # Of processor time: what it may take, and once it has ended, what it took.
        ("milliseconds", ctypes.c_int64),
    )

    @classmethod
    def shared(cls) -> Meter:
        """Return a meter at 0, which processes share that are forked from this one."""
        return cls.from_buffer(mmap.mmap(-1, ctypes.sizeof(cls)))


class _Bar(tqdm):
    monitor_interval = 0  # a thread of tqdm's: none may run where processes are forked


# Forked processes share the lock that tqdm has: one that is killed would keep it for ever.
_Bar.set_lock(threading.RLock())


@contextmanager
def progress(
    title: str,
    total: int | None,
    kept: Callable[[], str] = lambda: NOTHING_KEPT,
    **form: str,
) -> Iterator[tqdm]:
    """Give a bar up to `total`, of which `update` says what is done more.

    What interrupts the work, as Ctrl-C does, gets the text of `kept` for its last line.
    """
    delay = max(_LEAST_DELAY, _STARTED + _QUIET_SECONDS - time.monotonic())
    settings = {"delay": delay, "disable": None, "leave": False, "dynamic_ncols": True}
    try:
        with _Bar(desc=title, total=total, **settings, **form) as bar:
            yield bar
    except KeyboardInterrupt as error:
        signum = error.args[0] if error.args else signal.SIGINT
        raise KeyboardInterrupt(signum, *(error.args[1:] or [kept()])) from None


@contextmanager
def tracked(
    items: Iterable[Item], title: str, total: int | None, kept: str = NOTHING_KEPT
) -> Iterator[Iterator[Item]]:
    """Give items one by one, with a bar of how many of `total` are done; None where nobody knows.

    The work on an item is done within this context, or its interruption would not be seen.
    """
    with progress(title, total, lambda: kept) as bar:
        yield _counted(items, bar)


def _counted(items: Iterable[Item], bar: tqdm) -> Iterator[Item]:
    for item in items:
        yield item
        bar.update()


@contextmanager
def metered(
    meters: list[Meter], sizes: list[int], kept: Callable[[], str]
) -> Iterator[Callable[[int], None]]:
    """Give a function that shows how far the files are whose processes have these meters.

    `sizes` are those of the files, in bytes; the function takes how many files are done.
    """
    started = time.monotonic()
    title = f"0 of {len(meters)} files"
    with progress(title, sum(sizes), kept, bar_format=_FORM) as bar:

        def show(done_count: int) -> None:
            if bar.disable:
                return
            answer_count = sum(meter.answers for meter in meters)
            rate = answer_count / max(time.monotonic() - started, 1e-3)
            files_text = f"{done_count} of {len(meters)} files"
            title = f"{files_text}, {answer_count:,} answers, {rate:,.0f}/s"
            bar.set_description_str(title, refresh=False)
            bar.update(sum(meter.position for meter in meters) - bar.n)

        yield show
