"""Scoring files of answers by chunks of their lines, in one process or several.

An output depends on its file alone, and on code and documents. Beside it, in `.finished`,
stands what it was made of: a file whose output is finished is not scored again.
"""

from __future__ import annotations

import codecs
import json
import multiprocessing
import os
import platform
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from ..core.documents import pack_files, quiet_harness
from ..core.errors import LineError, Refusals, ToolError
from ..core.families import FOLDER
from ..core.files import is_stream, written_whole
from ..core.jsonl import Line, read_lines, written_lines
from ..packs.local_data import sha256_of
from ..runs.answers import answers_in, sha256
from ..runs.models import shown
from ..runs.scoring import Scored, document_of, score, scored_as, verdicts


# A chunk is long enough to be worth its way to another process.
_MOST_LINES, _MOST_BYTES = 64, 1 << 20
_WAITING = 4  # chunks handed out for each worker, so that few are in memory
_METHOD = "spawn"  # for threads do not live through a fork
_NOTED = ("made_of", "output", "refused", "source")


class Job(NamedTuple):
    """A file of answers, and what is to be done with it."""

    path: Path
    task: str | None  # of lines that do not name theirs
    include_path: Path  # the tasks whose documents a doc_id is of
    output: Path | None = None  # where the scored lines go


class Outcome(NamedTuple):
    """What came of a chunk of lines."""

    scored: list[Scored]
    text: bytes  # the lines with their verdicts
    refusals: list[str]
    end: str | None  # why no line after these is read, where that is a fault


class Refused(NamedTuple):
    """What of a file does not count."""

    messages: tuple[str, ...] = ()
    lines: int = 0
    is_whole: bool = True  # whether the file was read to its end
    was_finished: bool = False  # whether the output of an earlier call stands


Chunk = list[Line | ToolError]  # lines, and why there are no more behind them
# What applies a function to each chunk; outcomes come in the order of the chunks.
Work = Callable[[Callable[[Chunk], Outcome], Iterator[Chunk]], Iterator[Outcome]]


def score_file(job: Job, work: Work, count: Callable[[Scored], object]) -> Refused:
    """Score a file, unless its output is finished, and write the output.

    Returns what was refused. `count` is called with each scored answer, and raises
    LineError for one that does not count. OSError where a file cannot be read or written.
    """
    repeated = Refusals()

    def counted(function: Callable, path: Path) -> Iterator[Outcome]:
        for outcome in work(partial(function, job), _chunks(path)):
            for scored in outcome.scored:
                try:
                    count(scored)
                except LineError as error:
                    repeated.add(str(error))
            yield outcome

    # What can be read but once is never finished.
    made_of = _made_of(job) if job.output and not is_stream(job.path) else None
    note = _note(job.output) if made_of else {}
    if (
        made_of
        and note["made_of"] == made_of
        and note["output"] == sha256_of(job.output)
    ):
        refused = Refused(*note["refused"])._replace(was_finished=True)
        deque(counted(_read_back, job.output), maxlen=0)
    else:
        refused = _write(job, counted(_score_chunk, job.path), made_of)
    messages = (*refused.messages, *repeated.messages(job.path))
    return refused._replace(messages=messages, lines=refused.lines + repeated.count)


def _write(job: Job, outcomes: Iterable[Outcome], made_of: dict | None) -> Refused:
    """Write the output of a file, and what it is made of; return what was refused.

    Where the file cannot be read to its end, what came before it stands, if anything did;
    else the output stays as it was.
    """
    refused, is_empty, end = Refusals(), True, None
    try:
        with written_lines(job.output) if job.output else nullcontext() as lines:
            for outcome in outcomes:
                for message in outcome.refusals:
                    refused.add(message)
                if lines:
                    lines.write(outcome.text)
                is_empty = is_empty and not outcome.scored
                if end := outcome.end:
                    break
            if is_empty:
                fault = "has no answers that can be scored; give a file with some"
                raise ToolError(end or f"{job.path}: {fault}")
    except ToolError as error:
        end = str(error)
    messages = (*refused.messages(job.path), *filter(None, [end]))
    found = Refused(messages, refused.count, not end)
    if made_of and not end:
        values = (made_of, sha256_of(job.output), found, os.path.realpath(job.path))
        with written_whole(_note_path(job.output)) as file:
            file.write(json.dumps(dict(zip(_NOTED, values)), indent=1).encode())
    return found


def _chunks(path: Path) -> Iterator[Chunk]:
    lines: Chunk = []
    size = 0
    try:
        for line in read_lines(path):
            lines.append(line)
            size += len(line.text)
            if len(lines) == _MOST_LINES or size > _MOST_BYTES:
                yield lines
                lines, size = [], 0
    except ToolError as error:
        lines.append(error)
    yield lines


@quiet_harness()
def _score_chunk(job: Job, chunk: Chunk) -> Outcome:
    """Return what comes of some lines of a job's file."""
    done, lines, refusals = [], [], []
    for line in chunk:
        try:
            if isinstance(line, ToolError):
                raise line
            scored = [
                score(answer, job.include_path) for answer in answers_in(line, job.task)
            ]
            if job.output:
                lines.append(_with_verdict(line, scored))
        except LineError as error:
            refusals.append(str(error))
        except ToolError as error:
            return Outcome(done, b"".join(lines), refusals, str(error))
        else:
            # Without what is long and not counted, to go to another process.
            for one in scored:
                response = shown(one.answer.response)
                light = one.answer._replace(line={}, prompt=None, response=response)
                done.append(one._replace(answer=light))
    return Outcome(done, b"".join(lines), refusals, None)


def _read_back(job: Job, chunk: Chunk) -> Outcome:
    """Return what came of some lines of a job's output earlier, by their verdicts."""
    done = []
    for line in chunk:
        for n, answer in enumerate(answers_in(line, None)):
            told = answer.line["verdict"]
            verdict = SimpleNamespace(**(told[n] if isinstance(told, list) else told))
            doc = document_of(answer, job.include_path)
            done.append(scored_as(answer, doc, verdict, verdict.invalid))
    return Outcome(done, b"", [], None)


def _with_verdict(line: Line, scored: list[Scored]) -> bytes:
    """Return a line with the verdict before its last brace, else as it was.

    One that has a verdict, or another task, is encoded anew: no key comes twice.
    """
    given, task = scored[0].answer.line, scored[0].answer.task
    added = {"task": task, "verdict": verdicts(scored)}
    if "verdict" in given or given.get("task", task) != task:
        start, added = b"{", given | added
    else:
        start = line.text.strip().removeprefix(codecs.BOM_UTF8)[:-1].rstrip() + b", "
        added = {name: added[name] for name in added if name not in given}
    try:
        text = json.dumps(added, ensure_ascii=False)
    except RecursionError:
        raise LineError(f"{line.place}: is nested too deeply; fix the line") from None
    # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
    return start + text[1:].encode("utf-8", "backslashreplace") + b"\n"


@contextmanager
def workers(count: int) -> Iterator[Work]:
    """Give what does work by so many processes; one is this process itself.

    ToolError where one of several is killed.
    """
    if count == 1:
        yield map
        return
    context = multiprocessing.get_context(_METHOD)
    pool = ProcessPoolExecutor(count, context, _end_with_parent)

    def in_order(function: Callable, chunks: Iterator[Chunk]) -> Iterator[Outcome]:
        waiting: deque = deque()
        for chunk in chunks:
            waiting.append(pool.submit(function, chunk))
            if len(waiting) == _WAITING * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    try:
        yield in_order
    except BrokenProcessPool:
        raise ToolError(
            "a worker process was killed; see whether memory ran out, and run the command"
            " again: it goes on behind the last finished output"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Prepare a worker: it ends when its parent is gone, however that went."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the parent tells it

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def check_source(path: Path, output: Path) -> None:
    """Raise ToolError where an output was made of another file, with other lines."""
    note = _note(output)
    if note["source"] in (None, os.path.realpath(path)):
        return
    if note["made_of"]["input"] != sha256_of(path):
        fix = f"name another --output for {path}, or delete it"
        raise ToolError(f"{output}: was made of {note['source']}; {fix}")


def _note(output: Path) -> dict:
    """Return what is noted of an output; None for each where there is no note, or none."""
    with suppress(OSError, ValueError, AttributeError):
        note = json.loads(_note_path(output).read_bytes())
        if note.keys() == {*_NOTED} and output.exists():
            return note
    return dict.fromkeys(_NOTED)


def _note_path(output: Path) -> Path:
    return output.parent / ".finished" / f"{output.name}.json"


def _made_of(job: Job) -> dict:
    """Return what the output of a file depends on."""
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = {"python": python, "dateutil": version("python-dateutil")}
    made_of = {"input": sha256_of(job.path), "task": job.task}
    return made_of | {"code": _code(job.include_path)} | libraries


@cache
def _code(include_path: Path) -> str:
    """Return a digest of the code, the tasks and the data: rules change with them."""
    tools = Path(__file__).parents[1].rglob("*.py")
    files = {*tools, *pack_files(FOLDER), *pack_files(include_path)}
    found = sorted(f"{path.name} {sha256_of(path)}" for path in files if path.is_file())
    return sha256("\n".join(found))
