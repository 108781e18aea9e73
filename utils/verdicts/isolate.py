"""Processes with limits, one a file: what a stranger wrote is read in them alone.

A process is forked from the tool's own, which has imported and loaded what is needed, and
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
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple, TypeVar


_MIB = 1 << 20
_OUT_OF_MEMORY = 77  # exit status
_FORK = multiprocessing.get_context("fork")


class Limits(NamedTuple):
    """What the judging of one file may take."""

    memory: int = 2_048  # MiB, above what the tool has mapped itself
    seconds: float = 20.0  # of processor time, and
    answer_ms: float = 5.0  # milliseconds more for each answer
    row_ms: float = 300.0  # and for each row that is regenerated from a seed
    line: int = 64  # MiB of a line
    unpacked: int = 4_096  # MiB of a file
    filters: int = 8
    samples: int = 64  # answers a document


class Budget:
    """Processor time that grows with the work; the kernel ends a process beyond it."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._bound = seconds, 0
        self.add(0)

    def add(self, seconds: float) -> None:
        """Allow so much more."""
        self._seconds += seconds
        # Whole seconds, and few calls.
        if (new_bound := int(self._seconds) + 1) > self._bound:
            self._bound = new_bound + int(new_bound > 30) * 5
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            with suppress(ValueError):  # a limit from outside is lower
                resource.setrlimit(resource.RLIMIT_CPU, (self._bound, hard))


class Died(NamedTuple):
    """Why a process gave no answer."""

    reason: str
    is_of_job: bool  # else of the machine: the job may be tried again


Job = TypeVar("Job")


def each_apart(
    work: Callable[[Job], object], jobs: deque[Job], workers: int, limits: Limits
) -> Iterator[tuple[Job, object]]:
    """Yield each job with what `work` returns of it in a process, as they finish.

    `jobs` may grow meanwhile. Where a process ends before it has answered, Died is
    in the place of what it returns. What `work` returns is JSON.
    """
    running: dict[Connection, tuple[Job, multiprocessing.Process]] = {}
    try:
        while jobs or running:
            while jobs and len(running) < workers:
                job = jobs.popleft()
                reader, writer = _FORK.Pipe(duplex=False)
                arguments = (work, job, writer, limits)
                process = _FORK.Process(target=_run, args=arguments, daemon=True)
                process.start()
                writer.close()
                running[reader] = job, process
            for reader in wait(running):
                reply = b""
                with suppress(EOFError), reader:
                    reply = reader.recv_bytes()
                job, process = running.pop(reader)
                process.join()
                yield job, json.loads(reply) if reply else _died(process, limits)
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _died(process: multiprocessing.Process, limits: Limits) -> Died:
    status = process.exitcode
    if status == -signal.SIGXCPU:
        allowance = f"{limits.seconds:g} s and {limits.answer_ms:g} ms an answer"
        fix = "raise --most_seconds"
        return Died(f"takes more processor time than {allowance}; {fix}", True)
    if status == _OUT_OF_MEMORY:
        fix = "raise --most_memory"
        return Died(f"takes more than {limits.memory:,} MiB of memory; {fix}", True)
    fix = "see whether memory ran out, and run the command again"
    return Died(f"its process was killed (status {status}); {fix}", False)


def _run(
    work: Callable[[Job], object], job: Job, writer: Connection, limits: Limits
) -> None:
    """Do a job in this process, within limits; it ends when its parent is gone."""
    gc.freeze()  # a collection would copy every page that the parent shares
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError, ValueError):  # macOS has neither the file nor the limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most_bytes = pages * resource.getpagesize() + limits.memory * _MIB
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, hard))
    try:
        writer.send_bytes(json.dumps(work(job)).encode())
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
