"""The table of verdicts: a folder with `run.json` and a `verdicts_TASK.jsonl` a task.

`run.json` says which file was judged, what its results claim, and what was refused and
why. The other files have a row an answer, in the order of the source: plain JSON Lines,
with the same columns in each row.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from lm_eval_tasks import version

from ..core.documents import pack_files
from ..core.errors import ToolError
from ..core.families import FOLDER
from ..core.files import sha256_of
from .answers import sha256
from .find import Source, located


SCHEMA = "temporal-eval verdicts 1"
HEAD = "run.json"
# What a verdict depends on beside the code of the pack.
_LIBRARIES = ("lm-eval", "jinja2", "python-dateutil", "sacrebleu", "rouge-score")


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
        count = sum(number for *_, number in refused["tasks"])
        if more := count - len(refused["lines"]):
            subject = "line was" if more == 1 else "lines were"
            yield f"{path}: {more} more {subject} refused"
        if end_fault := self.head["end"]:
            yield located(path, end_fault)


def verdicts_name(task: str) -> str:
    """Return the name of the file with the rows of a task."""
    return f"verdicts_{task}.jsonl"


def write_head(folder: Path, source: Source, key: str | None, **cells: object) -> None:
    """Write the head of a table; what `cells` lack is not so."""
    head = {
        "schema": SCHEMA,
        "key": key,
        "pack": version(),
        "source": os.path.realpath(source.path),
        "model": None,
        "refused": {"lines": [], "tasks": []},
        "end": None,
        "failure": None,
        "tasks": [],
    }
    text = json.dumps(head | cells, indent=1)
    (folder / HEAD).write_text(text, encoding="utf-8")


def read_table(folder: Path, source: Source) -> Table | None:
    """Return the table in a folder; None where there is none of this schema."""
    with suppress(OSError, ValueError, AttributeError):
        head = json.loads((folder / HEAD).read_bytes())
        if head.get("schema") == SCHEMA:
            return Table(folder, head, source)
    return None


def key_of(source: Source, options: dict) -> str:
    """Return what the table of a source depends on, as a digest.

    OSError for a file that cannot be read.
    """
    paths = (source.path, source.results_path)
    dependencies = {"sources": [path and sha256_of(path) for path in paths]}
    dependencies |= {"file": source.path.name, "task": source.task, "options": options}
    dependencies |= {"libraries": _libraries(), "schema": SCHEMA}
    dependencies["code"] = _code(Path(options["include_path"]))
    return sha256(json.dumps(dependencies, sort_keys=True))


@cache
def _libraries() -> dict[str, str | None]:
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


@cache
def _code(include_path: Path) -> str:
    """Return a digest of the code, the tasks and the data: rules change with them."""
    tools = Path(__file__).parents[1].rglob("*.py")
    files = {*tools, *pack_files(FOLDER), *pack_files(include_path)}
    digests = sorted(
        f"{path.name} {sha256_of(path)}" for path in files if path.is_file()
    )
    return sha256("\n".join(digests))


def put_in_place(part: Path, place: Path) -> None:
    """Give a finished table its name; a table that is there is replaced."""
    old_place = part.with_name(f"{part.name}-old")
    with suppress(FileNotFoundError):
        place.rename(old_place)
    part.rename(place)
    shutil.rmtree(old_place, ignore_errors=True)


def check_place(place: Path, source: Source, key: str | None) -> None:
    """Raise ToolError where a place has something else than a table of this file."""
    if not place.exists():
        return
    table = read_table(place, source)
    if table is None:
        fix = "move it elsewhere, or name another --output"
        raise ToolError(f"{place}: is there, and is not a table of score; {fix}")
    is_same = key is not None and table.head["key"] == key
    if table.head["source"] != os.path.realpath(source.path) and not is_same:
        fix = f"name another --output for {source.path}, or delete it"
        raise ToolError(f"{place}: was made of {table.head['source']}; {fix}")
