"""Tables of verdicts: their format, those that are kept, and the making of the others.

A table is a folder with `run.json` and a `verdicts_TASK.jsonl` a task. `run.json` says
which file was judged, what its results claim, and what was refused and why. The other
files have a row an answer, in the order of the source: plain JSON Lines, with the same
columns in each row.
"""

from __future__ import annotations

import atexit
import json
import os
import platform
import shutil
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from lm_eval_tasks import VERSION

from ..core.cli import output_path, whole_number
from ..core.errors import ToolError, fault_of
from ..core.families import FOLDER, pack_files
from ..core.files import is_stream, open_part, remove_leftovers, sha256_of
from .answers import Source, sha256
from .isolate import LIMITS, Order, each_apart, judge_file, rows_name


SCHEMA = "temporal-eval verdicts 1"
HEAD = "run.json"
# What a verdict depends on beside the code of the pack.
_LIBRARIES = ("lm-eval", "jinja2", "python-dateutil", "sacrebleu", "rouge-score")
_PATIENCE = 10  # seconds after which a tool in a terminal shows how far it is


class Failure(NamedTuple):
    """A file or a folder that cannot be read, and why."""

    path: Path
    label: str  # what it calls itself, where it says so
    reason: str

    @property
    def message(self) -> str:
        """What a user is told of it."""
        return located(self.path, self.reason)


def located(path: Path, fault: str) -> str:
    """Return a fault after the path that it is of; it may begin with a line's number."""
    is_of_line = fault.startswith(("line ", "after line "))
    return f"{path}{', ' if is_of_line else ': '}{fault}"


class Table(NamedTuple):
    """The verdicts on a file of answers."""

    folder: Path
    head: dict  # what run.json says
    source: Source

    def rows(self, task: str, filter_name: str | None = None) -> Iterator[dict]:
        """Yield the rows of a task through a filter, in the order of the source."""
        with (self.folder / rows_name(task)).open("rb") as file:
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


def read_table(folder: Path, source: Source) -> Table | None:
    """Return the table in a folder; None where there is none of this schema."""
    with suppress(OSError, ValueError, AttributeError):
        head = json.loads((folder / HEAD).read_bytes())
        if head.get("schema") == SCHEMA:
            return Table(folder, head, source)
    return None


# ------------------------------------------------------------------ what a table is of


def key_of(source: Source, settings: dict) -> str:
    """Return what the table of a source depends on, as a digest.

    OSError for a file that cannot be read.
    """
    paths = (source.path, source.results_path)
    dependencies = {"sources": [path and sha256_of(path) for path in paths]}
    dependencies |= {
        "file": source.path.name,
        "task": source.task,
        "settings": settings,
    }
    dependencies |= {"libraries": _libraries(), "schema": SCHEMA}
    dependencies["code"] = _code(Path(settings["include_path"]))
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


def _stamps(source: Source) -> list[tuple[int, ...]]:
    """Return what changes with the files of a source, as a rule."""
    stats = (path.stat() for path in (source.path, source.results_path) if path)
    return [(stat.st_size, stat.st_mtime_ns, stat.st_ino) for stat in stats]


# --------------------------------------------------------------------- tables of files


def table_options(parser: ArgumentParser) -> None:
    """Add --cache, --workers and the limits of a file to the options of a tool."""
    add, positive = parser.add_argument, partial(whole_number, least=1)
    cache_help = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", metavar="DIR", type=output_path, help=cache_help)
    number_option = {"metavar": "N", "type": positive}
    workers_help = "files that are judged at a time; default: %(default)s"
    add("--workers", **number_option, default=1, help=workers_help)
    limits = parser.add_argument_group("limits of a file; what exceeds one is left out")
    for option, (default, bound) in LIMITS.items():
        number_option |= {"default": default, "help": f"{bound}; default: %(default)s"}
        limits.add_argument(f"--{option}", **number_option)


def make_tables(
    sources: list[Source],
    options: Namespace,
    check: type | None = None,
    output: Path | None = None,
) -> tuple[list[Table], list[Failure]]:
    """Return the tables of files, in their order, and the files that have none.

    `options` are those of `table_options`, `include_path` and `leave_out`. A table is
    kept in the cache under the key of what it depends on, or in `output` under the name of
    its file. ToolError for a place in `output` that is something else's.
    """
    maker = _Maker(options, check, output)
    try:
        for source in sources:
            maker.look_up(source)
        bar = {"unit": " files", "delay": _PATIENCE, "leave": False, "disable": None}
        with tqdm(total=len(maker.queue), **bar) as progress:
            for order, reply in each_apart(judge_file, maker.queue, options, check):
                maker.take(order, reply)
                progress.update()
    finally:
        maker.clean()
    tables = [maker.tables[source] for source in sources if source in maker.tables]
    failures = [
        Failure(table.source.path, table.source.label, table.head["failure"])
        for table in tables
        if table.head["failure"] is not None
    ]
    good = [table for table in tables if table.head["failure"] is None]
    return good, [*failures, *maker.failures]


class _Maker:
    """The tables of some files: those that are kept, and a queue of the others."""

    def __init__(
        self, options: Namespace, check: type | None, output: Path | None
    ) -> None:
        self.options, self.check, self.output = options, check, output
        caches = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        self.folder = output or options.cache or Path(caches, "temporal-eval")
        self.queue: deque[Order] = deque()
        self.keys: dict[Source, str | None] = {}  # None of what can be read but once
        self.stamps: dict[Source, list] = {}  # of the files when they were hashed
        self.part: Path | None = None  # the folder for what is not finished
        self.lock: int | None = None  # its descriptor
        self.tables: dict[Source, Table] = {}
        self.failures: list[Failure] = []

    def look_up(self, source: Source) -> None:
        """Find the table of a file, or queue it."""
        options, key = self.options, None
        if not is_stream(source.path):
            settings = {
                "include_path": str(options.include_path.resolve()),
                "leave_out": options.leave_out,
                "check": self.check and self.check.__name__,
                "limits": [getattr(options, option) for option in LIMITS],
            }
            try:
                self.stamps[source] = _stamps(source)
                key = key_of(source, settings)
            except OSError as error:
                return self._fail(source, fault_of(error))
        elif self.check:
            return self._fail(source, "is a pipe or a device, not a file")
        if self.output:
            self._check_output(source, key)
        self.keys[source] = key
        if table := self._kept(source):
            self.tables[source] = table
            return None
        if not self.part:
            self.part, self.lock = open_part(self.folder, is_folder=True)
        part_folder = self.part / str(len(self.queue))
        part_folder.mkdir()
        if not key and not self.output:  # a pipe: kept no longer than it is needed
            atexit.register(shutil.rmtree, self.part, ignore_errors=True)
            self.lock = None
        self.queue.append(Order(source, part_folder, options, self.check))
        return None

    def _kept(self, source: Source) -> Table | None:
        """Return the table with a file's key, under it or under the name of the file."""
        key = self.keys[source]
        for place in (self._named(source), self.folder / f"{key}"):
            table = read_table(place, source)
            if key and table and table.head["key"] == key:
                return table
        return None

    def _named(self, source: Source) -> Path:
        name = source.path.name.removesuffix(".gz").removesuffix(".jsonl")
        return self.folder / name

    def _check_output(self, source: Source, key: str | None) -> None:
        """Raise ToolError where the place of a table is something else's."""
        place = self._named(source)
        for other in (other for other in self.keys if self._named(other) == place):
            fault = f"is of {other.path} and of {source.path}; name another --output"
            raise ToolError(f"{place}: {fault}")
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

    def take(self, order: Order, reply: dict) -> None:
        """Take what became of a file."""
        source, key = order.source, self.keys[order.source]
        if "error" in reply:
            return self._fail(source, reply["error"])
        if key and self.stamps[source] != _stamps(source):
            return self._fail(source, "has changed while it was read; run again")
        head = {
            "schema": SCHEMA,
            "key": key,
            "pack": VERSION,
            "source": os.path.realpath(source.path),
            "model": None,
            "refused": {"lines": [], "tasks": []},
            "end": None,
            "failure": None,
            "tasks": [],
        }
        text = json.dumps(head | reply, indent=1)
        (order.folder / HEAD).write_text(text, encoding="utf-8")
        place = self.folder / key if key else order.folder
        place = self._named(source) if self.output else place
        if place != order.folder and not self._kept(source):  # by another process
            _replace(place, order.folder)
        self.tables[source] = read_table(place, source)
        return None

    def _fail(self, source: Source, fault: str) -> None:
        self.failures.append(Failure(source.path, source.label, fault))

    def clean(self) -> None:
        """Remove what was not finished, also by runs that were killed just before."""
        if self.lock:
            os.close(self.lock)
        remove_leftovers(self.folder)


def _replace(place: Path, folder: Path) -> None:
    """Give a finished table its name; a table that is there is replaced."""
    old_place = folder.with_name(f"{folder.name}-old")
    with suppress(FileNotFoundError):
        place.rename(old_place)
    folder.rename(place)
    shutil.rmtree(old_place, ignore_errors=True)
