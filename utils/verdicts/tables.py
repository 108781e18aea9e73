"""Tables of verdicts: their format, those that are kept, and the making of the others.

A table is a folder with `run.json` and a `verdicts_TASK.jsonl` a task. `run.json` says
which file was judged, what its results claim, and what was refused and why. The other
files have a row an answer, in the order of the source: plain JSON Lines, with the same
columns in each row.
"""

from __future__ import annotations

import json
import os
import platform
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from lm_eval_tasks import VERSION

from ..core.documents import documents
from ..core.errors import LineError, ToolError, fault_of
from ..core.families import FOLDER, all_tasks
from ..core.files import (
    is_stream,
    open_part,
    parse,
    read_lines,
    remove_leftovers,
    sha256_of,
)
from .answers import Source, sha256
from .judge_file import DOCUMENTS_NAME, LIMITS, ROWS_NAME, Judging, judge_apart
from .tally import Document


SCHEMA = "temporal-eval verdicts 1"
HEAD = "run.json"
# What a verdict depends on beside the code of the pack.
_LIBRARIES = ("lm-eval", "jinja2", "python-dateutil", "sacrebleu", "rouge-score")


class Failure(NamedTuple):
    """A file or a folder that cannot be read, and why."""

    path: Path
    label: str  # what it calls itself, where it says so
    reason: str

    @property
    def message(self) -> str:
        """What a user is told of it."""
        return f"{self.path}: {self.reason}"


class Table(NamedTuple):
    """The verdicts on a file of answers."""

    folder: Path
    head: dict  # what run.json says; of a file that cannot be judged, `failure` alone
    source: Source

    def rows(self, task: str) -> Iterator[dict]:
        """Yield the rows of a task, in the order of the source."""
        return self._lines(ROWS_NAME.format(task))

    def documents(
        self, task: str, filter_name: str | None = None
    ) -> Iterator[Document]:
        """Yield the documents of a task that are answered through a filter."""
        shared: dict = {}
        for fields in self._lines(DOCUMENTS_NAME.format(task)):
            if fields["filter"] == filter_name:
                document = Document.from_json(fields, shared)
                document.table = self
                yield document

    def _lines(self, name: str) -> Iterator[dict]:
        """Yield the objects in a file of the table; ToolError where it is damaged."""
        for table_line in read_lines(self.folder / name):
            try:
                yield parse(table_line)
            except LineError:
                fix = f"delete {self.folder}, and run again"
                raise ToolError(f"{table_line.place}: is damaged; {fix}") from None


def read_table(folder: Path, source: Source, key: str | None = None) -> Table | None:
    """Return the table in a folder; None without one of this schema, and of the key."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        head = json.loads((folder / HEAD).read_bytes())
        if head["schema"] == SCHEMA and key in (None, head["key"]):
            return Table(folder, head, source)
    return None


def make_tables(
    sources: list[Source], options: Namespace, check: type | None, output: Path | None
) -> list[Table]:
    """Return the tables of files, in their order: those that are kept, and new ones.

    `options` are those of `runs.answer_options`. A table is kept in the cache under the
    key of what it depends on, or in `output` under the name of its file. ToolError for a
    place in `output` that is something else's.
    """
    caches_folder = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    top_folder = output or options.cache or Path(caches_folder, "temporal-eval")
    tables: dict[Source, Table] = {}
    source_by_place: dict[Path, Source] = {}
    missing: dict[Source, tuple[str, Path]] = {}  # keys and places of their tables
    for source in sources:
        try:
            key = _key(source, options, check)
        except OSError as error:
            tables[source] = Table(top_folder, {"failure": fault_of(error)}, source)
            continue
        place = top_folder / source.path.name.removesuffix(".gz").removesuffix(".jsonl")
        if output:
            _check_place(place, source, key, source_by_place.setdefault(place, source))
        # The cache may be a folder that `score --output` has made.
        tables[source] = read_table(place, source, key)
        tables[source] = tables[source] or read_table(top_folder / key, source, key)
        if not tables[source]:
            missing[source] = key, place if output else top_folder / key
    remove_leftovers(top_folder)  # even if no table is missing
    if missing:
        new_tables = _judge(missing, top_folder, options, check)
        tables |= {table.source: table for table in new_tables}
    return [tables[source] for source in sources]


def _key(source: Source, options: Namespace, check: type | None) -> str:
    """Return a digest of all that a file's table depends on; OSError as reading it."""
    if is_stream(source.path):
        raise OSError("is a pipe or a device, not a file; write its lines to a file")
    source_paths = (source.path, source.results_path)
    dependencies = [
        *(SCHEMA, source.path.name, source.task, options.leave_out),
        *(check and check.__name__, str(options.include_path.resolve())),
        [getattr(options, limit_name) for limit_name in LIMITS],
        [source_path and sha256_of(source_path) for source_path in source_paths],
        _rules(options.include_path),
    ]
    return sha256(json.dumps(dependencies))


@cache
def _rules(include_path: Path) -> str:
    """Return a digest of code, tasks, data and libraries, which verdicts depend on."""
    rule_paths = {*Path(__file__).parents[1].rglob("*.py")}
    for folder in (FOLDER, include_path):
        for pattern in ("*.py", "*yaml", "*manifest.json"):
            rule_paths.update(folder.rglob(pattern))
        rule_paths.update((folder / "data").glob("*"))  # which may be a symlink
    file_digests = sorted(
        f"{path.name} {sha256_of(path)}" for path in rule_paths if path.is_file()
    )
    library_versions = [platform.python_version_tuple()[:2]]
    for library_name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            library_versions.append((library_name, metadata.version(library_name)))
    return sha256(f"{file_digests} {library_versions}")


def _check_place(place: Path, source: Source, key: str, owner: Source) -> None:
    """Raise ToolError where the place for a table is something else's."""
    table = read_table(place, source)
    old_path = table and table.head["source"]
    if owner != source:
        fault = f"is of {owner.path} and of {source.path}; name another --output"
    elif place.exists() and table is None:
        fix = "move it elsewhere, or name another --output"
        fault = f"is there, and is not a table of score; {fix}"
    elif (
        table and old_path != os.path.realpath(source.path) and table.head["key"] != key
    ):
        fix = f"name another --output for {source.path}, or delete it"
        fault = f"was made of {old_path}; {fix}"
    else:
        return
    raise ToolError(f"{place}: {fault}")


def _judge(
    missing: dict[Source, tuple[str, Path]],
    folder: Path,
    options: Namespace,
    check: type | None,
) -> Iterator[Table]:
    """Yield the tables of files that have none, each with its key and at its place."""
    with open_part(folder) as part_folder:
        judgings: list[Judging] = []
        for number, source in enumerate(missing):
            judgings.append(Judging(source, part_folder / f"{number}", options, check))
            judgings[-1].folder.mkdir()
        _load_documents(missing, options.include_path, check)
        for judging, reply in judge_apart(judgings, options):
            source, (key, place) = judging.source, missing[judging.source]
            if key != _key(source, options, check):
                reply = {"error": "has changed while it was read; run again"}
            if "error" in reply:  # which the next run may not have
                yield Table(judging.folder, {"failure": reply["error"]}, source)
                continue
            head = {"schema": SCHEMA, "key": key, "pack": VERSION}
            head |= {"source": os.path.realpath(source.path), "failure": None} | reply
            (judging.folder / HEAD).write_text(json.dumps(head, indent=1), "utf-8")
            if not read_table(place, source, key):  # by another process
                with suppress(FileNotFoundError):
                    place.rename(f"{judging.folder}-old")
                judging.folder.rename(place)
            yield read_table(place, source)


def _load_documents(
    sources: Iterable[Source], include_path: Path, check: type | None
) -> None:
    """Load the documents of a pack that files are likely to answer, which processes share.

    A file is of the task that was given or that it is named by. What is missing here, the
    process of the file loads itself.
    """
    if include_path == FOLDER:
        return
    for task in sorted({_task_of(source) for source in sources} & {*all_tasks()}):
        with suppress(ToolError):  # the process of the file says it with the line
            documents(task, include_path)
            if check:
                check.prepare(task, include_path)


def _task_of(source: Source) -> str:
    """Return the task that a file of answers is of, or that its name suggests."""
    return source.task or source.path.name.partition(".jsonl")[0]
