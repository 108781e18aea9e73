"""Scoring a file of answers: a pure function of the file, the code and the documents.

Beside the outputs, in `.finished`, stands for each what it was made of and the figures in
it: a file whose output is finished is not scored again.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..runs.answers import Answer, document_text, read_answers, sha256
from ..core.documents import documents
from ..core.errors import LineError, Refusals, ToolError
from ..core.families import FOLDER
from ..core.files import is_stream, written_whole
from ..core.jsonl import Lines, parse, read_lines, written_lines
from ..runs.scoring import Scored, Tally, score, verdict_line


Tallies = dict[tuple[str, str | None], Tally]  # by task, and by filter of the harness


class Shard(NamedTuple):
    """A file of answers, and what is to be done with it."""

    path: Path
    task: str | None  # of lines that do not name theirs
    include_path: Path  # the tasks whose documents a doc_id is of
    leave_out: str | None = None  # a list of rows that do not count
    output: Path | None = None  # where the scored lines go


class Result(NamedTuple):
    """What came of a file."""

    tallies: Tallies  # {} where nothing in it can be scored
    messages: tuple[str, ...]  # why lines were refused: the first ones, and a count
    was_finished: bool = False  # whether the output of an earlier call stands

    def state(self) -> dict:
        """Return what `from_state` takes, in JSON."""
        tallies = [[key[1], tally.state()] for key, tally in self.tallies.items()]
        return {"tallies": tallies, "messages": self.messages}

    @classmethod
    def from_state(cls, state: dict, was_finished: bool = False) -> Result:
        """Return the result whose state it is."""
        tallies = ((name, Tally.from_state(tally)) for name, tally in state["tallies"])
        found = {(tally.task, name): tally for name, tally in tallies}
        return cls(found, tuple(state["messages"]), was_finished)


def score_shard(shard: Shard, before: Tallies | None = None) -> Result:
    """Score a file, unless its output is finished, and write the output.

    `before` are the tallies of files that come before it: an answer to a document that
    they have is a second one. What is wrong with files is said in messages, not raised.
    """
    refused = Refusals()
    try:
        return _result(shard, before or {}, refused)
    except ToolError as error:
        refused.add(str(error))
    except OSError as error:
        refused.add(f"{error.filename or shard.path}: {error.strerror or error}")
    return Result({}, refused.messages(shard.path))


def _result(shard: Shard, before: Tallies, refused: Refusals) -> Result:
    # What depends on other files, too, or can be read but once, is never finished.
    streams = shard.output and (is_stream(shard.path) or is_stream(shard.output))
    may_finish = shard.output and not before and not streams
    state = may_finish and _state(shard.path)
    made_of = _made_of(shard) if may_finish else {}
    if made_of and (found := _finished(shard, made_of)):
        return found
    looked_up: set[str] = set()
    answers = _noted(read_answers(shard.path, shard.task), looked_up)
    with written_lines(shard.output) if shard.output else nullcontext() as lines:
        tallies, is_whole = score_answers(answers, shard, refused, lines, before)
    result = Result(tallies, refused.messages(shard.path))
    if made_of and is_whole and _state(shard.path) == state:
        _finish(shard, made_of, looked_up, result)
    return result


def _noted(answers: Iterator[Answer], looked_up: set[str]) -> Iterator[Answer]:
    """Yield answers; note tasks of which documents are named alone."""
    for answer in answers:
        if answer.doc is None and not answer.fault:
            looked_up.add(answer.task)
        yield answer


def score_answers(
    answers: Iterator[Answer],
    shard: Shard,
    refused: Refusals,
    lines: Lines | None,
    before: Tallies | None = None,
) -> tuple[Tallies, bool]:
    """Return the tallies of the answers in a file, and whether it was read to its end.

    Lines with verdicts go to `lines` as answers are read. Raises OSError, and ToolError
    where nothing can be scored.
    """
    tallies: Tallies = {}
    is_whole = True
    try:
        for answer in answers:
            try:
                _add(answer, shard, tallies, before or {}, lines)
            except LineError as error:
                refused.add(str(error))
    except ToolError as error:
        if not tallies:
            raise
        refused.add(str(error))  # what came before it stands
        is_whole = False
    if not tallies:
        found = "answers that can be scored" if refused.count else "answers"
        raise ToolError(f"{shard.path}: has no {found}; give a file with some")
    return tallies, is_whole


def _add(
    answer: Answer, shard: Shard, tallies: Tallies, before: Tallies, lines: Lines | None
) -> None:
    """Count an answer and write its line; LineError, and neither, where it cannot be."""
    scored = score(answer, shard.include_path)
    line = written(scored) if lines else b""
    key = answer.task, answer.filter
    tally = tallies.get(key) or Tally(answer.task, shard.leave_out, before.get(key))
    tally.add(scored)
    tallies[key] = tally
    if lines:
        lines.write(line)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def written(scored: Scored) -> bytes:
    """Return the line with the verdict on an answer; LineError for a nested one."""
    line = verdict_line(scored)
    try:
        return _ENCODER.encode(line).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which has no UTF-8
        return json.dumps(line).encode() + b"\n"
    except RecursionError:
        place = scored.answer.place
        raise LineError(f"{place}: is nested too deeply; fix the line") from None


# ---------------------------------------------------------------- finished outputs


def _finish(shard: Shard, made_of: dict, looked_up: set[str], result: Result) -> None:
    """Write what the output was made of, and the figures in it."""
    known = {
        "made_of": made_of,
        "documents": {
            task: _documents_digest(task, shard.include_path)
            for task in sorted(looked_up)
        },
        "output": _file_digest(shard.output),
        **result.state(),
        "said_of": _names(shard),
    }
    with written_whole(_beside(shard.output)) as file:
        for part in json.JSONEncoder().iterencode(known):  # not all of it in memory
            file.write(part.encode())


def _finished(shard: Shard, made_of: dict) -> Result | None:
    """Return what came of a file earlier; None where its output is not finished, was
    changed, or would be another today.
    """
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        known = json.loads(_beside(shard.output).read_bytes())
        if known["made_of"] != made_of or known["output"] != _file_digest(shard.output):
            return None
        if known["messages"] and known["said_of"] != _names(shard):
            return None
        for task, digest in known["documents"].items():
            if digest != _documents_digest(task, shard.include_path):
                return None
        return Result.from_state(known, was_finished=True)
    return None


def may_replace(output: Path) -> bool:
    """Tell whether nothing is lost where an output is written: nothing is there but an
    earlier one, which need not be finished.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        if not output.is_file() or not output.stat().st_size:
            return True
        if _beside(output).is_file():
            return True
        with suppress(ToolError), closing(read_lines(output)) as lines:
            return any("verdict" in parse(line) for line in islice(lines, 1))
        return False
    return True


def _beside(output: Path) -> Path:
    return output.parent / ".finished" / f"{output.name}.json"


def _names(shard: Shard) -> list[str]:
    return [str(shard.path), str(shard.include_path)]


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _made_of(shard: Shard) -> dict:
    """Return what the output of a file depends on, but for the documents."""
    return {
        "input": _file_digest(shard.path),
        "task": shard.task,
        "leave_out": shard.leave_out,
        "code": _code_digest(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "dateutil": version("python-dateutil"),
    }


def _file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        buffer = memoryview(bytearray(1 << 16))
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()


@cache
def _code_digest() -> str:
    """Return a digest of the code and the tasks: rules change without a version, too."""
    digest, tools = hashlib.sha256(), Path(__file__).parent
    for folder, pattern in ((tools, "*"), (tools / "disputed", "*"), (FOLDER, "**/*")):
        for path in sorted(folder.glob(pattern)):
            if path.name.endswith((".py", ".json", "yaml")):
                digest.update(f"{path.relative_to(folder)}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@cache
def _documents_digest(task: str, include_path: Path) -> str:
    digest = hashlib.sha256()
    for doc in documents(task, include_path):
        digest.update(sha256(document_text(doc)).encode())
    return digest.hexdigest()
