"""Kept tables: finding those that are there, and making those that are missing."""

from __future__ import annotations

import atexit
import os
import shutil
from argparse import ArgumentParser, Namespace
from collections import deque
from functools import partial
from pathlib import Path

from tqdm import tqdm

from ..core.cli import output_path, whole_number
from ..core.documents import documents, quiet_harness
from ..core.errors import ToolError, fault_of
from ..core.files import is_stream, open_part, remove_leftovers
from .find import Failure, Source, odd_kind
from .isolate import Died, Limits, each_apart
from .table import Table, check_place, key_of, put_in_place, read_table, write_head
from .write import Order, write_table


_PATIENCE = 10  # seconds after which a tool in a terminal shows how far it is
# Field of Limits -> what it is a bound of.
_BOUNDS = {
    "memory": "MiB of memory to judge a file, above what the tool has itself",
    "seconds": "seconds of processor time to judge a file",
    "answer_ms": "milliseconds more for each answer",
    "row_ms": "milliseconds more for each row that is regenerated from a seed",
    "line": "MiB of a line",
    "unpacked": "MiB of a file once it is unpacked",
    "filters": "filters of a task",
    "samples": "answers to a document",
}


def table_options(parser: ArgumentParser) -> None:
    """Add --cache, --workers and the limits of a file to the options of a tool."""
    add, positive = parser.add_argument, partial(whole_number, least=1)
    cache_help = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", metavar="DIR", type=output_path, help=cache_help)
    number_option = {"metavar": "N", "type": positive}
    workers_help = "files that are judged at a time; default: %(default)s"
    add("--workers", **number_option, default=1, help=workers_help)
    limits = parser.add_argument_group("limits of a file; what exceeds one is left out")
    for field, limit_help in _BOUNDS.items():
        number_option["default"] = int(Limits._field_defaults[field])
        limit_help += "; default: %(default)s"
        limits.add_argument(f"--most_{field}", **number_option, help=limit_help)


def limits_of(options: Namespace) -> Limits:
    """Return the limits that options give."""
    return Limits(*(getattr(options, f"most_{field}") for field in Limits._fields))


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
        with tqdm(total=len(maker.orders), **bar) as progress:
            work = partial(write_table, ready=maker.ready)
            replies = each_apart(work, maker.orders, options.workers, maker.limits)
            for order, reply in replies:
                progress.update(maker.take(order, reply))
    finally:
        maker.clean()
    tables = [maker.tables[source] for source in sources if source in maker.tables]
    good = [table for table in tables if table.head["failure"] is None]
    failed = [table for table in tables if table.head["failure"] is not None]
    failures = [
        Failure(table.source.path, table.source.label, table.head["failure"])
        for table in failed
    ]
    return good, [*failures, *maker.failures]


class _Maker:
    """The tables of some files: those that are kept, and orders for the others."""

    def __init__(
        self, options: Namespace, check: type | None, output: Path | None
    ) -> None:
        self.include_path, self.leave_out = options.include_path, options.leave_out
        self.check, self.output, self.limits = check, output, limits_of(options)
        caches = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
        self.folder = output or options.cache or Path(caches, "temporal-eval")
        self.ready: set[tuple[str, str]] = set()  # what is prepared, of which task
        self.faults: dict[tuple[str, str], str] = {}  # why it cannot be
        self.orders: deque[Order] = deque()
        self.part: Path | None = None  # the folder for what is not finished
        self.lock: int | None = None  # its descriptor
        self.stamps: dict[Source, list] = {}  # of the files when they were hashed
        self.tables: dict[Source, Table] = {}
        self.failures: list[Failure] = []

    def look_up(self, source: Source) -> None:
        """Find the table of a file, or order it."""
        key, results = None, source.results_path
        if results and (fault := odd_kind(results)):
            return self._fail(source, fault, results)
        if not is_stream(source.path):
            dependencies = {
                "include_path": str(self.include_path.resolve()),
                "leave_out": self.leave_out,
                "check": self.check and self.check.__name__,
                "limits": self.limits,
            }
            try:
                self.stamps[source] = _stamps(source)
                key = key_of(source, dependencies)
            except OSError as error:
                return self._fail(source, fault_of(error))
        elif self.check:
            return self._fail(source, "is a pipe or a device, not a file")
        if self.output:
            self._check_output(source, key)
        if table := self._kept(source, key):
            self.tables[source] = table
            return None
        if not self.part:
            self.part, self.lock = open_part(self.folder, is_folder=True)
        part_folder = self.part / str(len(self.orders))
        part_folder.mkdir()
        if not key and not self.output:  # a pipe: kept no longer than it is needed
            atexit.register(shutil.rmtree, self.part, ignore_errors=True)
            self.lock = None
        settings = (self.include_path, self.leave_out, self.check, self.limits)
        self.orders.append(Order(source, part_folder, key, *settings))
        return None

    def _kept(self, source: Source, key: str | None) -> Table | None:
        """Return the table with a key, under it or under the name of the file."""
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
        check_place(place, source, key)
        other_sources = [other.source for other in self.orders] + [*self.tables]
        for other in (other for other in other_sources if self._named(other) == place):
            fault = f"is of {other.path} and of {source.path}; name another --output"
            raise ToolError(f"{place}: {fault}")

    def take(self, order: Order, reply: object) -> bool:
        """Take what became of an order; return whether it is done with."""
        source, key = order.source, order.key
        if isinstance(reply, dict) and "want" in reply:
            return not self._prepare(order, reply["want"])
        if isinstance(reply, dict) and "error" in reply:
            self._fail(source, reply["error"], Path(reply["path"]))
        elif isinstance(reply, Died) and not reply.is_of_job:
            self._fail(source, reply.reason)
        elif key and self.stamps[source] != _stamps(source):
            self._fail(source, "has changed while it was read; run again")
        else:
            if isinstance(reply, Died):
                write_head(order.part, source, key, failure=reply.reason)
            place = self.folder / key if key else order.part
            place = self._named(source) if self.output else place
            if place != order.part and not self._kept(
                source, key
            ):  # by another process
                put_in_place(order.part, place)
            self.tables[source] = read_table(place, source)
        return True

    def _prepare(self, order: Order, needs: list[tuple[str, str, int]]) -> bool:
        """Prepare what a file needs, and order it again; return whether it can be."""
        for need, task, line in needs:
            if (need, task) not in self.faults | dict.fromkeys(self.ready):
                try:
                    with quiet_harness():
                        if need == "documents":
                            documents(task, self.include_path)
                        else:
                            self.check.prepare(task, self.include_path)
                    self.ready.add((need, task))
                except ToolError as error:
                    self.faults[need, task] = str(error)
            if fault := self.faults.get((need, task)):
                self._fail(order.source, f", line {line}: {fault}")
                return False
        self.orders.appendleft(order)
        return True

    def _fail(self, source: Source, fault: str, path: Path | None = None) -> None:
        self.failures.append(Failure(path or source.path, source.label, fault))

    def clean(self) -> None:
        """Remove what was not finished, also by runs that were killed just before."""
        if self.lock:
            os.close(self.lock)
        remove_leftovers(self.folder)


def _stamps(source: Source) -> list[tuple[int, ...]]:
    """Return what changes with the files of a source, as a rule."""
    stats = (path.stat() for path in (source.path, source.results_path) if path)
    return [(stat.st_size, stat.st_mtime_ns, stat.st_ino) for stat in stats]
