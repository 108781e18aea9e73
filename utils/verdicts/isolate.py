"""Processes with limits, one a file: what a stranger wrote is read in them alone.

A process is forked from the tool's own, which has imported and loaded what is needed, and
answers in JSON through a pipe. Whatever becomes of it, the others never notice.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import selectors
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar


_MIB = 1 << 20


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
        if (bound := int(self._seconds) + 1) > self._bound:
            self._bound = bound + int(bound > 30) * 5
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
    running: dict[int, tuple[Job, int, bytearray]] = {}
    with selectors.DefaultSelector() as selector:
        try:
            while True:
                while jobs and len(running) < workers:
                    process, pipe = _start(work, job := jobs.popleft(), limits)
                    running[pipe] = (job, process, bytearray())
                    selector.register(pipe, selectors.EVENT_READ)
                if not running:
                    return
                for event, _ in selector.select():
                    job, process, text = running[event.fd]
                    if part := os.read(event.fd, _MIB):
                        text += part
                        continue
                    selector.unregister(event.fd)
                    os.close(event.fd)
                    del running[event.fd]
                    _, status = os.waitpid(process, 0)
                    yield job, _answer(bytes(text), status, limits)
        finally:
            for pipe, (_, process, _) in running.items():
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                os.close(pipe)


def _answer(text: bytes, status: int, limits: Limits) -> object:
    if text:
        with suppress(ValueError):
            return json.loads(text)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        spent = f"{limits.seconds:g} s and {limits.answer_ms:g} ms an answer"
        fix = "raise --most_seconds"
        return Died(f"takes more processor time than {spent}; {fix}", True)
    if code == _OUT_OF_MEMORY:
        fix = "raise --most_memory"
        return Died(f"takes more than {limits.memory:,} MiB of memory; {fix}", True)
    fix = "see whether memory ran out, and run the command again"
    return Died(f"its process was killed (status {code}); {fix}", False)


_OUT_OF_MEMORY = 77  # exit status


def _start(work: Callable[[Job], object], job: Job, limits: Limits) -> tuple[int, int]:
    """Fork a process for a job; return its number and where its answer is read."""
    read, write = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    if process := os.fork():
        os.close(write)
        return process, read
    status = 1
    try:
        os.close(read)
        _prepare(parent, limits)
        text = json.dumps(work(job)).encode()
        while text:
            text = text[os.write(write, text) :]
        status = 0
    except MemoryError:
        status = _OUT_OF_MEMORY
    except BaseException:  # Ctrl-C, too
        with suppress(BaseException):
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
    finally:
        os._exit(status)


def _prepare(parent: int, limits: Limits) -> None:
    """Set the limits of this process, which ends when its parent is gone."""
    gc.freeze()  # a collection would copy every page that the parent shares
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(OSError, ValueError):  # macOS has neither the file nor the limit
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + limits.memory * _MIB
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
