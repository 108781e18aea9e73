"""Scoring files of answers by chunks of their lines, in one process or several.

An output depends on its file alone, and on code and documents. Beside it, in `.finished`,
stands what it was made of: a file whose output is finished is not scored again.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import multiprocessing
import os
import platform
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from ..core.documents import documents, quiet_harness
from ..core.errors import LineError, Refusals, ToolError
from ..core.families import FOLDER, scorer
from ..core.files import is_stream, written_whole
from ..core.jsonl import Line, parse, read_lines, written_lines
from ..runs.answers import answer_in, document_text, sha256
from ..runs.scoring import Row, Scored, document_of, row_of, score, told, verdict_line


# A chunk is long enough to be worth its way to another process.
_MOST_LINES, _MOST_BYTES = 64, 1 << 20
_WAITING = 4  # chunks handed out for each worker


class Job(NamedTuple):
    """A file of answers, and what is to be done with it."""

    path: Path
    task: str | None  # of lines that do not name theirs
    include_path: Path  # the tasks whose documents a doc_id is of
    output: Path | None = None  # where the scored lines go


class Chunk(NamedTuple):
    """Some lines of the file of a job."""

    job: Job
    lines: list[Line]
    end: str | None  # why no line comes after these, where that is a fault


class Outcome(NamedTuple):
    """What came of a chunk."""

    rows: list[Row]
    text: bytes  # the lines with their verdicts
    refusals: list[str]
    looked_up: set[str]  # tasks of which documents are only named
    end: str | None  # as of the chunk


# A function of chunks, and what does it: outcomes come in the order of the chunks.
Work = Callable[[Callable[[Chunk], Outcome], Iterator[Chunk]], Iterator[Outcome]]


def score_file(
    job: Job, work: Work, count: Callable[[Row], object]
) -> tuple[tuple[str, ...], bool]:
    """Score a file, unless its output is finished, and write the output.

    Returns why lines were refused (the first by name, and how many more), and whether the
    output of an earlier call stands. `count` is called with the row of each answer, and
    raises LineError for one that does not count. What is wrong with lines is returned,
    with files raised as OSError.
    """
    refused, repeated = Refusals(), Refusals()

    def counted(rows: list[Row]) -> None:
        for row in rows:
            try:
                count(row)
            except LineError as error:
                repeated.add(str(error))

    # What can be read but once is never finished.
    is_kept = job.output and not is_stream(job.path) and not is_stream(job.output)
    made_of = _made_of(job) if is_kept else {}
    messages = _finished(job, made_of) if made_of else None
    was_finished = messages is not None
    if was_finished:
        for outcome in work(_read_back, _chunks(job, job.output)):
            counted(outcome.rows)
    else:
        try:
            looked_up = _score(job, work, counted, refused)
        except ToolError as error:
            refused.add(str(error))
            looked_up = None
        messages = refused.messages(job.path)
        if made_of and looked_up is not None and _made_of(job) == made_of:
            _finish(job, made_of, looked_up, messages)
    return (*messages, *repeated.messages(job.path)), was_finished


def _score(
    job: Job, work: Work, counted: Callable[[list[Row]], None], refused: Refusals
) -> set[str] | None:
    """Score a file and write its output, which ToolError leaves as it was.

    Returns the tasks whose documents were looked up; None where the file has lines that
    could not be read.
    """
    looked_up: set[str] = set()
    is_empty, end = True, None
    with written_lines(job.output) if job.output else nullcontext() as lines:
        for outcome in work(_score_chunk, _chunks(job, job.path)):
            if lines:
                lines.write(outcome.text)
            counted(outcome.rows)
            for message in outcome.refusals:
                refused.add(message)
            looked_up |= outcome.looked_up
            is_empty = is_empty and not outcome.rows
            if end := outcome.end:
                break
        if is_empty:
            found = "answers that can be scored" if refused.count else "answers"
            raise ToolError(end or f"{job.path}: has no {found}; give a file with some")
    if end:
        refused.add(end)  # what came before it stands
    return None if end else looked_up


def _chunks(job: Job, path: Path) -> Iterator[Chunk]:
    """Yield the lines of a file, some at a time."""
    lines: list[Line] = []
    size, end = 0, None
    try:
        for line in read_lines(path):
            lines.append(line)
            size += len(line.text)
            if len(lines) == _MOST_LINES or size > _MOST_BYTES:
                yield Chunk(job, lines, None)
                lines, size = [], 0
    except ToolError as error:
        end = str(error)
    yield Chunk(job, lines, end)


@quiet_harness()
def _score_chunk(chunk: Chunk) -> Outcome:
    """Return what comes of a chunk: a function of it, of code and documents."""
    job, end = chunk.job, chunk.end
    rows, lines, refusals, looked_up = [], [], [], set()
    for line in chunk.lines:
        try:
            answer = answer_in(line, job.task)
            if answer.doc is None and not answer.fault:
                looked_up.add(answer.task)
            scored = score(answer, job.include_path)
            if job.output:
                lines.append(_with_verdict(line, scored))
            rows.append(row_of(scored))
        except LineError as error:
            refusals.append(str(error))
        except ToolError as error:
            end = str(error)
            break
    return Outcome(rows, b"".join(lines), refusals, looked_up, end)


def _read_back(chunk: Chunk) -> Outcome:
    """Return what came of lines of an output earlier, by the verdicts in them."""
    rows = []
    for line in chunk.lines:
        answer = answer_in(line, None)._replace(place=str(chunk.job.path))
        doc = document_of(answer, chunk.job.include_path)
        verdict = SimpleNamespace(**answer.line["verdict"])
        digest = scorer(answer.task).utils.digest(doc)
        rows.append(row_of(Scored(answer, doc, verdict, verdict.invalid, digest)))
    return Outcome(rows, b"", [], set(), None)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def _with_verdict(line: Line, scored: Scored) -> bytes:
    """Return a line with the verdict before its last brace, else as it was.

    One that has a verdict, or another task, is encoded anew: no key comes twice.
    """
    given, task = scored.answer.line, scored.answer.task
    try:
        if "verdict" in given or given.get("task", task) != task:
            return _encoded(verdict_line(scored)) + b"\n"
        added = {"verdict": told(scored)}
        if "task" not in given:
            added = {"task": task} | added
        text = line.text.strip().removeprefix(codecs.BOM_UTF8)
        return text[:-1].rstrip() + b", " + _encoded(added)[1:] + b"\n"
    except RecursionError:
        place = scored.answer.place
        raise LineError(f"{place}: is nested too deeply; fix the line") from None


def _encoded(value: dict) -> bytes:
    # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


# ------------------------------------------------------------------------ processes


@contextmanager
def workers(count: int) -> Iterator[Work]:
    """Give what does work by so many processes; one is this process itself.

    ToolError where one of several is killed.
    """
    if count == 1:
        yield map
        return
    # Spawned, for threads do not live through a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, context, _end_with_parent)
    try:
        yield partial(_in_order, pool, _WAITING * count)
    except BrokenProcessPool:
        raise ToolError(
            "a worker process was killed; see whether memory ran out, and run the command"
            " again: it goes on behind the last finished output"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor,
    most: int,
    function: Callable[[Chunk], Outcome],
    chunks: Iterator[Chunk],
) -> Iterator[Outcome]:
    """Yield what a function makes of each chunk, with at most so many in memory."""
    waiting: deque = deque()
    for chunk in chunks:
        waiting.append(pool.submit(function, chunk))
        if len(waiting) == most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _end_with_parent() -> None:
    """Prepare a worker: it ends when its parent is gone, however that went."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent tells it

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# ---------------------------------------------------------------- finished outputs


def _finish(
    job: Job, made_of: dict, looked_up: set[str], messages: tuple[str, ...]
) -> None:
    """Note what an output was made of, and what was said of its file."""
    known = {
        "made_of": made_of,
        "documents": {task: _documents(task, job.include_path) for task in looked_up},
        "output": _digest(job.output),
        "messages": messages,
    }
    with written_whole(_note(job.output)) as file:
        file.write(json.dumps(known, indent=1).encode())


def _finished(job: Job, made_of: dict) -> tuple[str, ...] | None:
    """Return what was said of a file; None where its output is not finished, was
    changed, or would be another today.
    """
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        known = json.loads(_note(job.output).read_bytes())
        is_same = known["made_of"] == made_of and known["output"] == _digest(job.output)
        if is_same and all(
            digest == _documents(task, job.include_path)
            for task, digest in known["documents"].items()
        ):
            return tuple(known["messages"])
    return None


def may_replace(output: Path) -> bool:
    """Tell whether nothing is lost where an output is written: nothing is there, or an
    earlier output, which need not be finished.
    """
    if not output.is_file() or not output.stat().st_size:
        return True
    with suppress(ToolError), closing(read_lines(output)) as lines:
        return any("verdict" in parse(line) for line in islice(lines, 1))
    return False


def _note(output: Path) -> Path:
    return output.parent / ".finished" / f"{output.name}.json"


def _made_of(job: Job) -> dict:
    """Return what the output of a file depends on, but for the documents."""
    return {
        "input": _digest(job.path),
        "task": job.task,
        "code": _code(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "dateutil": version("python-dateutil"),
    }


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 16):
            digest.update(block)
        return digest.hexdigest()


@cache
def _code() -> str:
    """Return a digest of the code and the tasks: rules change without a version, too."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parents[1], FOLDER):
        for path in sorted(folder.rglob("*")):
            if path.name.endswith((".py", ".json", "yaml")):
                digest.update(f"{path.relative_to(folder)}\n{_digest(path)}\n".encode())
    return digest.hexdigest()


@cache
def _documents(task: str, include_path: Path) -> str:
    texts = (sha256(document_text(doc)) for doc in documents(task, include_path))
    return sha256("".join(texts))
