"""Work that may go wrong, each piece in a process of its own with limits.

A process is forked from this one, which has imported and loaded what is needed, and
answers in JSON through a pipe. Whatever becomes of it, the others never notice.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import NamedTuple, TypeVar


Work = TypeVar("Work")
_OUT_OF_MEMORY = 77  # exit status
_POLL_SECONDS = 0.2
_FORK = multiprocessing.get_context("fork")


class Ended(NamedTuple):
    """How a process ended that gave no reply."""

    kind: str  # "time", "memory", "fault" (an exception) or "killed" (from outside)
    detail: str = ""  # of a fault, what it was and where; of a kill, the exit status


def run_apart(
    do: Callable[[Work], dict],
    pieces: Iterable[Work],
    workers: int,
    most_memory: int,
    poll: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Work, dict | Ended]]:
    """Yield each piece of work with what `do` returns of it, as they finish.

    At most `workers` processes run at a time, each with at most `most_memory` MiB above
    this one's own. `do` limits processor time by `allow_seconds`. A piece is taken when it
    is its turn. `poll` is called some times a second, as to show progress.
    """
    waiting_pieces = iter(pieces)
    running: dict[Connection, tuple[Work, ForkProcess]] = {}
    next_poll = 0.0
    try:
        while True:
            for work in islice(waiting_pieces, workers - len(running)):
                reader, process = _start(partial(do, work), most_memory)
                running[reader] = work, process
            if not running:
                return
            for reader in _ready(running):
                message = b""
                with suppress(EOFError, OSError), reader:  # it may end while it replies
                    message = reader.recv_bytes()
                work, process = running.pop(reader)
                process.join()
                yield work, _reply(message, process.exitcode)
            if time.monotonic() >= next_poll:
                poll()
                next_poll = time.monotonic() + _POLL_SECONDS
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _start(job: Callable[[], dict], most_memory: int) -> tuple[Connection, ForkProcess]:
    """Start a process that does a job; return where its reply can be read, and it."""
    reader, writer = _FORK.Pipe(duplex=False)
    run_args = job, writer, most_memory
    process = _FORK.Process(target=_run, args=run_args, daemon=True)
    process.start()
    writer.close()
    return reader, process


def _ready(readers: Iterable[Connection]) -> list[Connection]:
    """Return those of some readers that have a message or an end, after a while at most."""
    ready_readers = wait(readers, _POLL_SECONDS)
    return [reader for reader in readers if reader in ready_readers]


def _reply(message: bytes, exit_status: int | None) -> dict | Ended:
    """Return what a process replied, or how it ended."""
    if message:
        reply = json.loads(message)
        return Ended("fault", reply["fault"]) if "fault" in reply else reply["reply"]
    if exit_status == -signal.SIGXCPU:
        return Ended("time")
    if exit_status == _OUT_OF_MEMORY:
        return Ended("memory")
    return Ended("killed", f"{exit_status}")


def _run(job: Callable[[], dict], writer: Connection, most_memory: int) -> None:
    """Do a job in this process, within limits; it ends when its parent is gone."""
    gc.freeze()  # a collection would copy every page that the parent shares
    for ignored_signal in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored_signal, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError, ValueError):  # macOS has neither the file nor the limit
        mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory_bound = mapped_pages * resource.getpagesize() + (most_memory << 20)
        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bound, hard_limit))
    try:
        reply_json = json.dumps({"reply": job()})
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except Exception as error:  # what nobody foresaw is a fault of this work alone
        frame = traceback.extract_tb(error.__traceback__)[-1]
        error_file = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}"
        fault = f"{error!r:.200}; {error_file}, line {frame.lineno}"
        reply_json = json.dumps({"fault": fault})
    writer.send_bytes(reply_json.encode())


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def allow_seconds(seconds: float) -> None:
    """Allow this process so much processor time in all; the kernel ends it beyond."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(ValueError):  # a limit from outside is lower
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, hard_limit))
