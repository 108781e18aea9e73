"""Tables of verdicts: their format, those that are kept, and the making of the others.

A table is a folder with `run.json` and a `verdicts_TASK.jsonl` a task. `run.json` says
which file was judged, what its results claim, and what was refused and why. The other
files have a row an answer, in the order of the source: plain JSON Lines, with the same
columns in each row.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from argparse import Namespace
from collections import Counter
from collections.abc import Container, Iterator
from contextlib import closing, suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from lm_eval_tasks import VERSION

from ..core.documents import documents
from ..core.errors import LineError, ToolError, fault_of
from ..core.files import (
    is_stream,
    open_part,
    parse,
    read_lines,
    remove_leftovers,
    sha256_of,
)
from ..core.limited_processes import Ended, run_apart
from ..core.progress import metered
from ..core.task_scorers import FOLDER, all_tasks
from .find_answer_files import SAMPLES_NAME, AnswerFile
from .judge_file import (
    DOCUMENTS_NAME,
    LIMITS,
    PROMPTS_NAME,
    RESPONSES_NAME,
    ROWS_NAME,
    Judging,
    digests_of,
    judge_apart,
)
from .page_excerpts import Pieces
from .read_answers import sha256
from .tally import Document


SCHEMA = "temporal-eval verdicts 2"
HEAD = "run.json"
# A file of so many bytes, of which less than this part takes room on the disk, is not read.
_SPARSE_FROM, _SPARSE_SHARE = 2**28, 1_000
_TOOLS = Path(__file__).parents[1]
# What a verdict depends on beside the code of the pack.
_LIBRARIES = ("lm-eval", "jinja2", "python-dateutil", "sacrebleu", "rouge-score")


class Table(NamedTuple):
    """The verdicts on a file of answers."""

    folder: Path
    head: dict  # what run.json says; of a file that cannot be judged, `failure` alone
    source: AnswerFile

    def rows(self, task: str) -> Iterator[dict]:
        """Yield the rows of a task, in the order of the source."""
        for _, row in self._lines(ROWS_NAME.format(task)):
            yield row

    def rows_at(self, task: str, numbers: Container[int]) -> dict[int, dict]:
        """Return number -> row of a task, of those that are asked for."""
        return dict(self._lines(ROWS_NAME.format(task), numbers))

    def responses_at(
        self, task: str, numbers: Container[int]
    ) -> dict[int, Pieces | None]:
        """Return number of a row -> what a page shows of its response; None for no room."""
        lines = self._lines(RESPONSES_NAME.format(task), numbers)
        return {number: line.get("response") for number, line in lines}

    def prompts(self, task: str) -> dict[str, dict]:
        """Return digest of a document -> `prompt` that a page shows, and whether it `is_logged`."""
        lines = self._lines(PROMPTS_NAME.format(task))
        return {line["digest"]: line for _, line in lines if line}

    def documents(
        self, task: str, filter_name: str | None = None
    ) -> Iterator[Document]:
        """Yield the documents of a task that are answered through a filter."""
        shared: dict = {}
        for _, fields in self._lines(DOCUMENTS_NAME.format(task)):
            if fields["filter"] == filter_name:
                document = Document.from_json(fields, shared)
                document.table = self
                yield document

    def _lines(
        self, name: str, numbers: Container[int] | None = None
    ) -> Iterator[tuple[int, dict]]:
        """Yield the lines of a file, from 0 on, that are asked for; ToolError for a damaged one."""
        for number, table_line in enumerate(read_lines(self.folder / name)):
            if numbers is not None and number not in numbers:
                continue
            try:
                yield number, parse(table_line)
            except LineError:
                fix = f"delete {self.folder}, and run again"
                raise ToolError(f"{table_line.place}: is damaged; {fix}") from None


def read_table(folder: Path, source: AnswerFile, key: str) -> Table | None:
    """Return the table in a folder; None unless it has a key and is as it was written."""
    head = _read_head(folder)
    if not head or head.get("key") != key or head.get("digest") != _digest(head):
        return None
    with suppress(OSError):
        files = {name: _describe(folder / name) for name in head["files"]}
        if files == head["files"]:
            return Table(folder, head, source)
    return None


def _read_head(folder: Path) -> dict | None:
    """Return what a folder's run.json says; None without one of this schema."""
    with suppress(OSError, ValueError, RecursionError):
        head = json.loads((folder / HEAD).read_bytes())
        if isinstance(head, dict) and head.get("schema") == SCHEMA:
            return head
    return None


def _write_head(folder: Path, head: dict) -> None:
    """Write run.json to a folder, with what the other files there are like."""
    files = {path.name: _describe(path) for path in sorted(folder.iterdir())}
    head = head | {"files": files}
    head["digest"] = _digest(head)
    (folder / HEAD).write_text(json.dumps(head, indent=1), "utf-8")


def _describe(path: Path) -> dict:
    """Return the rows, the bytes and the SHA-256 of a file of a table."""
    row_count = byte_count = 0
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 16):
            row_count += chunk.count(b"\n")
            byte_count += len(chunk)
            hasher.update(chunk)
    return {"rows": row_count, "bytes": byte_count, "sha256": hasher.hexdigest()}


def _digest(head: dict) -> str:
    """Return a digest of what a run.json says beside it."""
    return sha256(json.dumps({name: head[name] for name in head if name != "digest"}))


def make_tables(
    sources: list[AnswerFile],
    options: Namespace,
    check: Any,
    output: Path | None,
) -> list[Table]:
    """Return the tables of files, in their order: those that are kept, and new ones.

    `options` are those of `options.answer_options`. A table is kept in the cache under the
    key of what it depends on, or in `output` under the name of its file. ToolError for a
    place in `output` that is something else's.
    """
    caches_folder = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    top_folder = output or options.cache or Path(caches_folder, "temporal-eval")
    tables: dict[AnswerFile, Table] = {}
    source_by_place: dict[Path, AnswerFile] = {}
    missing: dict[AnswerFile, tuple[str, Path]] = {}  # keys and places of their tables
    digests, faults = _hash_sources(sources, options)
    for source in sources:
        if source in faults:
            tables[source] = Table(top_folder, {"failure": faults[source]}, source)
            continue
        key = _key(source, digests[source], options, check)
        place = top_folder / source.path.name.removesuffix(".gz").removesuffix(".jsonl")
        if output:
            _check_place(place, source, key, source_by_place.setdefault(place, source))
        # The cache may be a folder that `score --output` has made.
        table = read_table(place, source, key)
        table = table or read_table(top_folder / key, source, key)
        if table:
            tables[source] = table
        else:
            missing[source] = key, place if output else top_folder / key
    remove_leftovers(top_folder)  # even if no table is missing
    if missing:
        new_tables = _judge(missing, digests, top_folder, options, check)
        tables |= {table.source: table for table in new_tables}
    return [tables[source] for source in sources]


def _hash_sources(
    sources: list[AnswerFile], options: Namespace
) -> tuple[dict[AnswerFile, list], dict[AnswerFile, str]]:
    """Return the digests of sources, and why others have none; sizes are looked at first."""
    faults = {
        source: fault
        for source in sources
        if (fault := _fault_of_size(source, options))
    }
    bounded_sources = [source for source in sources if source not in faults]
    digests: dict[AnswerFile, list] = {}
    for _, reply in run_apart(_hash_apart, [bounded_sources], 1, options.most_memory):
        if isinstance(reply, Ended):
            raise ToolError(f"the files cannot be read: {reply}")
        for source, source_digests, fault in zip(bounded_sources, *reply["hashed"]):
            if fault:
                faults[source] = fault
            else:
                digests[source] = source_digests
    return digests, faults


def _fault_of_size(source: AnswerFile, options: Namespace) -> str | None:
    """Return why a source is not opened: a file is no file, is missing, or too large."""
    limits = [(source.path, "most_unpacked")]
    if source.results_path:
        limits.append((source.results_path, "most_line"))
    for path, limit in limits:
        try:
            if is_stream(path):
                return "is a pipe or a device, not a file; write its lines to a file"
            status = path.stat()
        except OSError as error:
            return fault_of(error)
        size = status.st_size
        name = "" if path == source.path else f"{path.name} "
        if size > getattr(options, limit) << 20:
            bound = f"more than {getattr(options, limit):,} MiB; raise --{limit}"
            return f"{name}has {size / 2**20:,.0f} MiB, {bound}"
        if size > _SPARSE_FROM and status.st_blocks * 512 < size // _SPARSE_SHARE:
            return f"{name}has {size / 2**20:,.0f} MiB, nearly all holes; copy it again"
    return None


def _hash_apart(sources: list[AnswerFile]) -> dict[str, tuple[list, list]]:
    """Return the digests of each source, and why one has none, in a process with limits."""
    digests: list[list[str | None] | None] = []
    faults: list[str | None] = []
    for source in sources:
        try:
            digests.append(digests_of(source))
            faults.append(None)
        except OSError as error:
            digests.append(None)
            faults.append(fault_of(error))
    return {"hashed": (digests, faults)}


def _key(source: AnswerFile, digests: list, options: Namespace, check: Any) -> str:
    """Return a digest of all that a file's table depends on."""
    dependencies = [
        *(SCHEMA, source.path.name, source.task, options.leave_out),
        *(check and check.__name__, str(options.include_path.resolve())),
        [getattr(options, limit_name) for limit_name in LIMITS],
        digests,
        _rules(options.include_path),
    ]
    return sha256(json.dumps(dependencies))


@cache
def _rules(include_path: Path) -> str:
    """Return a digest of code, tasks, data and libraries, which verdicts depend on."""
    folders = (_TOOLS, FOLDER, include_path)
    file_digests = [
        [f"{path.relative_to(folder)} {sha256_of(path)}" for path in _walk(folder)]
        for folder in folders
    ]
    library_versions = [platform.python_version_tuple()[:2]]
    for library_name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            library_versions.append((library_name, metadata.version(library_name)))
    return sha256(f"{file_digests} {library_versions}")


def _walk(folder: Path) -> list[Path]:
    """Return the files below a folder, links followed, in the order of their paths.

    Without those that are hidden or compiled, and without what runs have logged there.
    """
    paths, visited_folders = [], set()
    for parent, folder_names, file_names in os.walk(folder, followlinks=True):
        visited_folders.add(os.path.realpath(parent))
        folder_names[:] = [
            name
            for name in folder_names
            if not name.startswith(".") and name != "__pycache__"
            if os.path.realpath(os.path.join(parent, name)) not in visited_folders
        ]
        paths += [
            Path(parent, name)
            for name in file_names
            if not name.startswith(".") and not SAMPLES_NAME.fullmatch(name)
            if os.path.isfile(os.path.join(parent, name))
        ]
    return sorted(paths)


def _check_place(place: Path, source: AnswerFile, key: str, owner: AnswerFile) -> None:
    """Raise ToolError where the place for a table is something else's."""
    head = _read_head(place)
    old_path = head and head.get("source")
    if owner != source:
        fault = f"is of {owner.path} and of {source.path}; name another --output"
    elif place.exists() and head is None:
        fix = "move it elsewhere, or name another --output"
        fault = f"is there, and is not a table of score; {fix}"
    elif head and old_path != os.path.realpath(source.path) and head.get("key") != key:
        fix = f"name another --output for {source.path}, or delete it"
        fault = f"was made of {old_path}; {fix}"
    else:
        return
    raise ToolError(f"{place}: {fault}")


def _check_files(place: Path) -> None:
    """Raise ToolError for a folder with a file that no tool wrote: it is not replaced."""
    if not place.is_dir():
        return
    head = _read_head(place) or {}
    own_names = {HEAD, *head.get("files", ())}
    for name_pattern in (ROWS_NAME, DOCUMENTS_NAME, RESPONSES_NAME, PROMPTS_NAME):
        own_names.update(map(name_pattern.format, all_tasks()))
    for name in sorted(path.name for path in place.iterdir()):
        if name not in own_names:
            fix = "move it elsewhere, or name another folder for tables"
            raise ToolError(f"{place}: holds {name}, which is of no table; {fix}")


def _no_room(folder: Path, fault: str) -> ToolError:
    """Return the error for a folder in which no table can be written."""
    return ToolError(f"{folder}: {fault}; make room, or name another folder by --cache")


def _judge(
    missing: dict[AnswerFile, tuple[str, Path]],
    digests: dict[AnswerFile, list],
    folder: Path,
    options: Namespace,
    check: Any,
) -> list[Table]:
    """Return the tables of files that have none, each with its key and at its place.

    ToolError where the machine is at fault: no other table could be written either.
    """
    for _, place in missing.values():
        _check_files(place)
    tables: list[Table] = []
    with open_part(folder) as part_folder:
        judgings: list[Judging] = []
        for number, source in enumerate(missing):
            judgings.append(Judging(source, part_folder / f"{number}", options, check))
            judgings[-1].folder.mkdir()
        shared = _SharedDocuments(options.include_path, check)
        shared.needed.update(map(_task_of, missing))
        meters = [judging.meter for judging in judgings]
        paths = [judging.source.path for judging in judgings]
        sizes = [*map(_size_of, paths)]
        spent: Counter[str] = Counter()  # milliseconds of processor time, by argument
        affordable = _affordable(judgings, spent, shared, options)
        with metered(meters, sizes, lambda: _say_kept(missing)) as show:
            replies = judge_apart(affordable, options, lambda: show(len(tables)))
            with closing(replies):  # ends its processes before their folder goes
                for judging, reply in replies:
                    spent[judging.source.argument] += judging.meter.milliseconds
                    shared.needed.update(reply.pop("looked_up", ()))
                    key, place = missing[judging.source]
                    source_digests = digests[judging.source]
                    tables.append(_put(judging, reply, source_digests, key, place))
    return [*tables, *_without_time(judgings, tables, options)]


def _affordable(
    judgings: list[Judging],
    spent: Counter[str],
    shared: _SharedDocuments,
    options: Namespace,
) -> Iterator[Judging]:
    """Yield each judging when it is its turn, unless its argument has had its time.

    `spent` are the milliseconds of arguments so far.
    """
    most_milliseconds = options.most_argument_seconds * 1000
    for judging in judgings:
        if spent[judging.source.argument] < most_milliseconds:
            shared.load()
            yield judging


def _without_time(
    judgings: list[Judging], tables: list[Table], options: Namespace
) -> Iterator[Table]:
    """Yield tables without verdicts for what was not judged, as its argument had no time."""
    judged_sources = {table.source for table in tables}
    fault = (
        f"its argument has taken {options.most_argument_seconds:,} s of processor time"
    )
    fault += "; run again, which goes on, or raise --most_argument_seconds"
    for judging in judgings:
        if judging.source not in judged_sources:
            yield Table(judging.folder, {"failure": fault}, judging.source)


def _size_of(path: Path) -> int:
    """Return the bytes of a file, 0 of one that is not there any more."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _say_kept(missing: dict[AnswerFile, tuple[str, Path]]) -> str:
    """Return what an interruption leaves, as it is found: it may come behind the last table."""
    kept_count = 0
    for key, place in missing.values():
        head = _read_head(place) or {}
        kept_count += head.get("key") == key
    tables_text = f"verdicts on {kept_count} of {len(missing)} files are kept"
    return f"{tables_text}, and the same command goes on"


def _put(
    judging: Judging, reply: dict, source_digests: list, key: str, place: Path
) -> Table:
    """Return the table of a file that was judged, at its place; errors as of `_judge`."""
    source = judging.source
    if reply.get("is_of_machine"):
        raise _no_room(place.parent, reply["error"])
    if reply.get("sha256", source_digests) != source_digests:
        reply = {"error": "has changed while it was read; run again"}
    if "error" in reply:  # which the next run may not have
        return Table(judging.folder, {"failure": reply["error"]}, source)
    head = {"schema": SCHEMA, "key": key, "pack": VERSION}
    head |= {"source": os.path.realpath(source.path), "failure": None} | reply
    try:
        _write_head(judging.folder, head)
    except OSError as error:
        raise _no_room(place.parent, fault_of(error)) from None
    if not read_table(place, source, key):  # by another process
        _check_files(place)
        with suppress(FileNotFoundError):
            place.rename(f"{judging.folder}-old")
        judging.folder.rename(place)
    return Table(place, _read_head(place) or {}, source)


class _SharedDocuments:
    """The documents of a pack that processes share.

    Needed are those that files are likely to answer, as their names say, and those that a
    process had to load itself: the next ones have them from here.
    """

    def __init__(self, include_path: Path, check: Any) -> None:
        self.include_path, self.check = include_path, check
        self.needed: set[str] = set()  # names, of tasks and others
        self.loaded: set[str] = set()

    def load(self) -> None:
        """Load what is needed and is a task of the pack."""
        if self.include_path == FOLDER:
            return
        for task in sorted(self.needed & {*all_tasks()} - self.loaded):
            self.loaded.add(task)
            with suppress(ToolError):  # the process of the file says it with the line
                documents(task, self.include_path)
                if self.check:
                    self.check.prepare(task, self.include_path)


def _task_of(source: AnswerFile) -> str:
    """Return the task that a file of answers is of, or that its name suggests."""
    return source.task or source.path.name.partition(".jsonl")[0]
