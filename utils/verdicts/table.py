"""The table of verdicts: a folder with `run.json` and a `verdicts_TASK.jsonl` a task.

`run.json` says which file was judged, what its results claim, what was refused and why,
and has counts and sums of each task. The other files have a row an answer, in the order
of the source: plain JSON Lines, with the same columns in each row.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from ..core.documents import pack_files
from ..core.errors import ToolError
from ..core.families import FOLDER
from ..core.files import is_stream, sha256_of
from .answers import sha256
from .find import Source, located


SCHEMA = 1
HEAD = "run.json"
_PREFIX, _SUFFIX = ".temporal-eval-", ".part"
# What a verdict depends on beside the code of the pack.
_LIBRARIES = ("lm-eval", "jinja2", "python-dateutil", "sacrebleu", "rouge-score")
# Keys of a head with their types; `tasks` has a dict a task and filter.
_KEYS = {
    **{"schema": int, "key": str, "pack": str, "harness": str | None, "sources": list},
    **{
        "source": str,
        "model": str | None,
        "task": str | None,
        "time": str | None,
        "claims": dict,
    },
    **{"refused": dict, "end": str | None, "failure": str | None, "tasks": list},
}


class Table(NamedTuple):
    """The verdicts on a file of answers."""

    folder: Path
    head: dict  # what run.json says
    source: Source

    def rows(self, task: str, filter_name: str | None = None) -> Iterator[dict]:
        """Yield the rows of a task through a filter, in the order of the source."""
        path = self.folder / verdicts_name(task)
        with path.open("rb") as file:
            for row in map(json.loads, file):
                if row["filter"] == filter_name:
                    yield row

    def messages(self) -> Iterator[str]:
        """Yield what a user is told of the file: which lines do not count, and why."""
        path, refused = self.source.path, self.head["refused"]
        for number, fault in refused["lines"]:
            yield f"{path}, line {number}: {fault}"
        if more := refused["count"] - len(refused["lines"]):
            lines = "line was" if more == 1 else "lines were"
            yield f"{path}: {more} more {lines} refused"
        for fault in filter(None, (self.head["end"], self.head["failure"])):
            yield located(path, fault)


def verdicts_name(task: str) -> str:
    """Return the name of the file with the rows of a task."""
    return f"verdicts_{task}.jsonl"


def read_table(folder: Path, source: Source) -> Table | None:
    """Return the table in a folder; None where there is none of this schema."""
    try:
        head = json.loads((folder / HEAD).read_bytes())
        is_head = all(isinstance(head[key], kind) for key, kind in _KEYS.items())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Table(folder, head, source) if is_head and head["schema"] == SCHEMA else None


# ------------------------------------------------------------------- what it depends on


def key_of(source: Source, options: dict) -> str | None:
    """Return what the table of a source depends on, as a digest.

    None for what can be read but once. OSError for a file that cannot be read.
    """
    if is_stream(source.path):
        return None
    paths = [source.path, *filter(None, [source.results_path])]
    sources = [(path.name, sha256_of(path)) for path in paths]
    return key_from([digest for _, digest in sources], source, options)


def key_from(digests: list[str], source: Source, options: dict) -> str:
    """Return the key of a table by the digests of its sources, as they were read."""
    parts = {"sources": digests, "file": source.path.name, "task": source.task}
    parts |= {"options": options, "libraries": _libraries(), "schema": SCHEMA}
    parts["code"] = _code(Path(options["include_path"]))
    return sha256(json.dumps(parts, sort_keys=True))


@cache
def _libraries() -> dict[str, str | None]:
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python} | {name: installed(name) for name in _LIBRARIES}


def installed(name: str) -> str | None:
    """Return the version of a library, None where it is not installed."""
    with suppress(PackageNotFoundError):
        return version(name)
    return None


@cache
def _code(include_path: Path) -> str:
    """Return a digest of the code, the tasks and the data: rules change with them."""
    tools = Path(__file__).parents[1].rglob("*.py")
    files = {*tools, *pack_files(FOLDER), *pack_files(include_path)}
    digests = sorted(
        f"{path.name} {sha256_of(path)}" for path in files if path.is_file()
    )
    return sha256("\n".join(digests))


# ------------------------------------------------------------------------- places


def new_part(folder: Path) -> Path:
    """Return a new folder in one for tables, in which a table is made.

    What a process left that is no longer there is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    host = f"{_PREFIX}{platform.node()[:40]}-"
    for path in folder.glob(f"{host}*{_SUFFIX}"):
        number = path.name.removeprefix(host).partition("-")[0]
        if number.isdecimal() and not _is_alive(int(number)):
            shutil.rmtree(path, ignore_errors=True)
    part = folder / f"{host}{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
    part.mkdir()
    return part


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def put_in_place(part: Path, place: Path) -> None:
    """Give a finished table its name; what is there is a table, and is replaced."""
    if place.exists():
        old = part.with_name(f"{part.name.removesuffix(_SUFFIX)}-old{_SUFFIX}")
        with suppress(FileNotFoundError):  # another process was faster
            place.rename(old)
        try:
            part.rename(place)
        finally:
            shutil.rmtree(old, ignore_errors=True)
    else:
        part.rename(place)


def check_place(place: Path, source: Source, key: str | None) -> None:
    """Raise ToolError where a place has something else than a table of this file."""
    if not place.exists():
        return
    table = read_table(place, source)
    if table is None:
        fix = "move it elsewhere, or name another --output"
        raise ToolError(f"{place}: is there, and is not a table of score; {fix}")
    if table.head["source"] != os.path.realpath(source.path) and (
        table.head["key"] != key
    ):
        fix = f"name another --output for {source.path}, or delete it"
        raise ToolError(f"{place}: was made of {table.head['source']}; {fix}")
