"""Work spread over processes, of which none can take the others' work with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice
from typing import TypeVar


Job, Result = TypeVar("Job"), TypeVar("Result")


def in_order(
    function: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Iterator[Result | None]:
    """Yield what a function makes of each job, in the order of the jobs.

    One worker is this process itself. When one of several is killed, the jobs that were
    being done are done again, each alone; None stands for one whose process was killed
    again. Function, jobs and results must be picklable; the processes are spawned, for
    threads do not live through a fork.
    """
    if workers == 1:
        yield from map(function, jobs)
        return
    done: dict[int, Result | None] = {}
    following = 0
    with closing(_as_done(function, jobs, workers)) as found:
        for number, result in found:
            done[number] = result
            while following in done:
                yield done.pop(following)
                following += 1


def _as_done(
    function: Callable[[Job], Result], jobs: Sequence[Job], workers: int
) -> Generator[tuple[int, Result | None], None, None]:
    """Yield number and result of each job, as they come."""
    waiting = iter(range(len(jobs)))
    while suspects := (yield from _until_broken(function, jobs, waiting, workers)):
        for number in suspects:
            if (yield from _until_broken(function, jobs, iter([number]), 1)):
                yield number, None


def _until_broken(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    numbers: Iterator[int],
    workers: int,
) -> Generator[tuple[int, Result], None, list[int]]:
    """Yield number and result of jobs; return those that a killed process left undone.

    No more jobs are handed out than there are workers: which ones a kill has stopped is
    known, and a worker waits for its next job but for an instant.
    """
    undone: set[int] = set()
    running: dict[Future, int] = {}
    context = multiprocessing.get_context("spawn")
    others = multiprocessing.active_children()
    with ProcessPoolExecutor(workers, context, _end_with_parent) as pool:
        try:
            while True:
                for number in islice(numbers, workers - len(running)):
                    undone.add(number)
                    future = pool.submit(_interruptible, function, jobs[number])
                    running[future] = number
                if not running:
                    return []
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result, number = future.result(), running.pop(future)
                    undone.remove(number)
                    yield number, result
        except BrokenProcessPool:
            return sorted(undone)
        except BaseException:  # Ctrl-C, or nobody wants the rest
            for process in multiprocessing.active_children():
                if process not in others:
                    process.terminate()
            raise


def _end_with_parent() -> None:
    """Prepare a worker: it ends when its parent is gone, however that went."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent tells it

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _interruptible(function: Callable[[Job], Result], job: Job) -> Result:
    """Do a job; where the parent ends it, clean up after it and end the process."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return function(job)
    except KeyboardInterrupt:
        os._exit(1)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # cleaning up is not interrupted
    raise KeyboardInterrupt
