"""Kept tables: finding those that are there, and making those that are missing."""

from __future__ import annotations

import os
import shutil
from argparse import ArgumentParser, Namespace
from collections import deque
from functools import partial
from pathlib import Path
from typing import Protocol

from tqdm import tqdm

from ..core.cli import output_path, whole_number
from ..core.documents import documents, quiet_harness
from ..core.errors import ToolError, fault_of
from .find import Failure, Source
from .isolate import Died, Limits, each_apart
from .table import Table, check_place, key_of, new_part, put_in_place, read_table
from .write import Order, write_failure, write_table


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


class Check(Protocol):
    """What else is looked at in the answers to a task, while they are judged."""

    @classmethod
    def prepare(cls, task: str, include_path: Path) -> None:
        """Make in the tool's own process what all files need, from trusted input alone."""

    def __init__(
        self, results: dict, task: str, filter_name: str | None, include_path: Path
    ) -> None:
        """Take the results of the harness, {} for none."""

    def add(self, scored: object) -> None:
        """Look at one more answer, a Scored."""

    def outcome(self, tally: object) -> dict:
        """Return what was seen, in JSON, for the head of the table."""


def table_options(parser: ArgumentParser) -> None:
    """Add --cache, --workers and the limits of a file to the options of a tool."""
    add, positive = parser.add_argument, partial(whole_number, least=1)
    told = {"metavar": "DIR", "type": output_path}
    what = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", **told, help=what)
    told = {"metavar": "N", "type": positive}
    what = "files that are judged at a time; default: %(default)s"
    add("--workers", **told, default=1, help=what)
    limits = parser.add_argument_group("limits of a file; what exceeds one is left out")
    for field, what in _BOUNDS.items():
        default = int(Limits._field_defaults[field])
        what += "; default: %(default)s"
        limits.add_argument(f"--most_{field}", **told, default=default, help=what)


def limits_of(options: Namespace) -> Limits:
    """Return the limits that options give."""
    return Limits(*(getattr(options, f"most_{field}") for field in Limits._fields))


def default_cache() -> Path:
    """Return the folder for tables that no option names."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    return Path(caches, "temporal-eval")


def make_tables(
    sources: list[Source],
    options: Namespace,
    check: type[Check] | None = None,
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
            each = each_apart(work, maker.orders, options.workers, maker.limits)
            for order, reply in each:
                progress.update(maker.take(order, reply))
    finally:
        maker.clean()
    tables = [maker.tables[source] for source in sources if source in maker.tables]
    good = [table for table in tables if table.head["failure"] is None]
    failed = [table for table in tables if table.head["failure"] is not None]
    failures = [Failure(*x.source[::3], x.head["failure"]) for x in failed]
    return good, [*failures, *maker.failures]


class _Maker:
    """The tables of some files: those that were found, and orders for the others."""

    def __init__(
        self, options: Namespace, check: type[Check] | None, output: Path | None
    ) -> None:
        self.include_path, self.check = options.include_path, check
        self.leave_out, self.output = options.leave_out, output
        self.folder = output or options.cache or default_cache()
        self.limits = limits_of(options)
        self.depends = {
            "include_path": str(self.include_path.resolve()),
            "leave_out": self.leave_out,
            "check": check and check.__name__,
            "limits": self.limits,
        }
        self.ready: set[tuple[str, str]] = set()  # what was made, for which task
        self.faults: dict[tuple[str, str], str] = {}  # why it cannot be
        self.orders: deque[Order] = deque()
        self.parts: list[Path] = []
        self.tables: dict[Source, Table] = {}
        self.failures: list[Failure] = []

    def look_up(self, source: Source) -> None:
        """Find the table of a file, or order it."""
        try:
            key = key_of(source, self.depends)
        except OSError as error:
            self._fail(source, fault_of(error))
            return
        if key is None and self.check:
            self._fail(source, "is a pipe or a device, not a file")
            return
        if self.output:
            check_place(self._named(source), source, key)
            others = [x.source for x in self.orders] + [*self.tables]
            if other := [x for x in others if self._named(x) == self._named(source)]:
                fault = f"is of {other[0].path} and of {source.path}"
                raise ToolError(
                    f"{self._named(source)}: {fault}; name another --output"
                )
        for place in [self._named(source), *([self.folder / key] if key else [])]:
            table = read_table(place, source)
            if key and table and table.head["key"] == key:
                self.tables[source] = table
                return
        part = new_part(self.folder)
        self.parts.append(part)
        how = (self.include_path, self.leave_out, self.check, self.limits, self.depends)
        self.orders.append(Order(source, part, *how))

    def _named(self, source: Source) -> Path:
        name = source.path.name.removesuffix(".gz").removesuffix(".jsonl")
        return self.folder / name

    def take(self, order: Order, reply: object) -> bool:
        """Take what became of an order; return whether it is done with."""
        source = order.source
        if isinstance(reply, Died) and reply.is_of_job:
            write_failure(order, reply.reason)
        elif isinstance(reply, Died):
            self._fail(source, reply.reason)
            return True
        elif fault := reply.get("error"):
            self._fail(source, fault, Path(reply["path"]))
            return True
        elif "want" in reply:
            return not self._prepare(order, **reply)
        if table := read_table(order.part, source):
            key = table.head["key"]
            place = self._named(source) if self.output else self.folder / key
            put_in_place(order.part, place)
            self.tables[source] = table._replace(folder=place)
        else:
            self._fail(source, "its process left no table; run the command again")
        return True

    def _prepare(self, order: Order, want: str, task: str, line: int) -> bool:
        """Make what a file needs of a task, and order it again; return whether it can be."""
        if (want, task) not in self.faults | dict.fromkeys(self.ready):
            try:
                with quiet_harness():
                    if want == "documents":
                        documents(task, self.include_path)
                    else:
                        self.check.prepare(task, self.include_path)
                self.ready.add((want, task))
            except ToolError as error:
                self.faults[want, task] = str(error)
        if fault := self.faults.get((want, task)):
            self._fail(order.source, f", line {line}: {fault}")
            return False
        self.orders.appendleft(order)
        return True

    def _fail(self, source: Source, fault: str, path: Path | None = None) -> None:
        self.failures.append(Failure(path or source.path, source.label, fault))

    def clean(self) -> None:
        """Remove what was not finished."""
        for part in self.parts:
            shutil.rmtree(part, ignore_errors=True)
