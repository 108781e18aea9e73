"""Models: the tables of the files that arguments name, made where they are missing.

A model has the tables of one place, or of all paths that share a NAME. What has several
filters is a model for each.
"""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..core.cli import include_path_option
from ..core.errors import LineError, ToolError
from ..core.families import all_tasks, scorer
from ..core.jsonl import SUFFIXES
from ..packs import disputed
from .answers import SAMPLES_NAME, Source
from .figures import Document, Tally
from .tables import Failure, Table, make_tables, table_options


def answer_options(parser: ArgumentParser) -> None:
    """Add the options of the tools that read answers."""
    parser.add_argument("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    parser.add_argument(
        "--leave_out",
        choices=disputed.LISTS,
        metavar="LIST",
        help=f"a list of disputed rows to leave out: {', '.join(disputed.LISTS)}",
    )
    table_options(parser)


_LONGEST_NAME = 200


class Model:
    """The answers of a model through one filter: its tables, and the figures of its tasks."""

    def __init__(self, name: str, tables: list[Table], filter_name: str | None) -> None:
        self.name, self.tables, self.filter = name, tables, filter_name
        self.label = tables[0].source.label
        self.remarks: list[str] = []
        self.messages: list[str] = []  # what a user is told of its lines
        self.refused: Counter[str] = Counter()  # lines, by task
        self.tasks: dict[str, Tally] = {}
        for table in tables:
            for task, refused_filter, count in table.head["refused"]["tasks"]:
                self.refused[task] += count * (refused_filter == filter_name)

    @property
    def place(self) -> Path:
        """The folder or file of its first answers."""
        return self.tables[0].source.place

    def entries(self) -> Iterator[tuple[Table, dict]]:
        """Yield what the heads of its tables say of each task through its filter."""
        for table in self.tables:
            for entry in table.head["tasks"]:
                if entry["filter"] == self.filter:
                    yield table, entry

    def claims(self, task: str | None = None) -> dict:
        """Return what results claim of a task, or the first do; {} where they are silent."""
        entries = (
            entry for _, entry in self.entries() if task in (None, entry["task"])
        )
        claims = (entry["claims"] for entry in entries)
        return next(filter(None, claims), {})

    def documents(self) -> Iterator[tuple[tuple[str, str, int], Document]]:
        """Yield its documents, each after its task, digest and number of the copy.

        Which copy is which changes no figure, since they stand in one cluster.
        """
        for task, tally in self.tasks.items():
            copies: Counter[str] = Counter()
            for document in tally.all.documents:
                yield (task, document.digest, copies[document.digest]), document
                copies[document.digest] += 1

    def read(self, options: Namespace, **wanted: bool) -> None:
        """Read the rows of its tables; note second answers in several of them."""
        for table, entry in self.entries():
            task = entry["task"]
            if not (tally := self.tasks.get(task)):
                tally = self.tasks[task] = self._tally(task, options, wanted)
            tally.constants.update(entry["constants"])
            refused, path = 0, table.source.path
            for row in table.rows(task, self.filter):
                try:
                    if document := tally.add(row):
                        document.table = table
                except LineError as error:
                    refused += 1
                    if refused == 1:
                        self.messages.append(f"{path}, line {row['line']}: {error}")
            self.refused[task] += refused
            if refused > 1:
                count = f"{refused - 1} more second answers to documents"
                self.messages.append(f"{path}: {count}")

    def _tally(self, task: str, options: Namespace, wanted: dict[str, bool]) -> Tally:
        claims, made = self.claims(task), None
        if scorer(task).upstream[0] is None:
            made = claims.get("made") or _made_of_pack(task, options.include_path)
        return Tally(
            task,
            repeats=claims.get("repeats") or 1,
            made=made,
            leave_out=options.leave_out,
            **wanted,
        )


@cache
def _made_of_pack(task: str, folder: Path) -> dict | None:
    """Return what a pack's rows of a task were made from, None where it does not say."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for entry in manifest["data"].values():
            if task in entry["tasks"] and "generated" in entry:
                request = entry["generated"]
                cells = {"seed": request["gen_seed"], "rows": request["gen_rows"]}
                if type(cells["seed"]) is type(cells["rows"]) is int:
                    return cells | {"fingerprint": entry["fingerprint"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    return None


def read_models(
    arguments: list[str],
    options: Namespace,
    check: type | None = None,
    output: Path | None = None,
    **wanted: bool,
) -> tuple[list[Model], list[Failure]]:
    """Return the models that arguments name, and the files that give no table.

    `options` are those of `answer_options`. `check` is what a board has checked of the
    answers; `output` is a folder for the tables. `wanted` may be `has_rows`, to keep the rows of
    each document. ToolError where arguments name nothing.
    """
    sources, failures = find_sources(arguments, options.task)
    tables, table_failures = make_tables(sources, options, check, output)
    models = models_of(tables)
    for model in models:
        model.read(options, **wanted)
    return models, [*failures, *table_failures]


def models_of(tables: list[Table]) -> list[Model]:
    """Return the models whose tables these are, each under another name."""
    tables_by_model: dict[tuple, list[Table]] = defaultdict(list)
    for table in tables:
        source = table.source
        key = (source.label,) if source.label else ("", source.place)
        tables_by_model[key].append(table)
    models = []
    for model_tables in tables_by_model.values():
        latest, remarks = _latest(model_tables)
        source = latest[0].source
        claimed_names = [table.head["model"] for table in latest if table.head["model"]]
        name = source.label or (claimed_names or [source.default_name])[0]
        if len(distinct_names := sorted({*claimed_names})) > 1 and not source.label:
            joined = ", ".join(distinct_names)
            remarks.append(f"its results name several models: {joined:.200}")
        filters = {entry["filter"] for table in latest for entry in table.head["tasks"]}
        for place, filter_name in enumerate(sorted(filters, key=str) or [None]):
            is_plain = filter_name is None or len(filters) < 2
            full_name = name if is_plain else f"{name} ({filter_name})"
            models.append(Model(full_name[:_LONGEST_NAME], latest, filter_name))
            models[-1].remarks += remarks
            if place == 0:
                for table in latest:
                    models[-1].messages += table.messages()
    _name_apart(models)
    return models


def _latest(tables: list[Table]) -> tuple[list[Table], list[str]]:
    """Return tables without those of samples of a task that a place has again, and what
    there is to say of them.

    The table with the most documents counts, of these the last: a run with --limit takes
    the place of no whole one.
    """
    tables_by_run: dict[object, list[Table]] = defaultdict(list)
    for table in tables:
        tasks = tuple(sorted({entry["task"] for entry in table.head["tasks"]}))
        is_samples = table.source.time and tasks
        key = (table.source.place, tasks) if is_samples else table.folder
        tables_by_run[key].append(table)
    latest, remarks = [], []
    for key, run_tables in tables_by_run.items():
        run_tables.sort(key=_size)
        latest.append(run_tables[-1])
        if len(run_tables) > 1:
            count = f"{len(run_tables)} runs of {', '.join(key[1])}"
            remarks.append(f"{count}: that of {run_tables[-1].source.time} is shown")
    return latest, remarks


def _size(table: Table) -> tuple[int, str]:
    documents = sum(entry["documents"] for entry in table.head["tasks"])
    return documents, table.source.time or ""


def _name_apart(models: list[Model]) -> None:
    """Give models of one name the names of their places, too."""
    names = Counter(model.name for model in models)
    for model in models:
        if names[name := model.name] > 1:
            model.remarks.append(f"{names[name]} runs give the name {name:.150}")
            model.name = f"{name:.150} ({model.place})"


# ------------------------------------------------------------------------- files


def find_sources(
    arguments: list[str], task: str | None = None
) -> tuple[list[Source], list[Failure]]:
    """Return the files that `PATH` or `NAME=PATH` arguments name, and what is no run.

    A folder stands for the samples of the pack's tasks in it and below it, or else for the
    files of answers in it. ToolError for an argument without either.
    """
    sources: dict[tuple[str, Path], Source] = {}
    failures: list[Failure] = []
    for argument in arguments:
        (label, path), old_failures = split_name(argument), len(failures)
        if not path.is_dir():
            is_sample = SAMPLES_NAME.fullmatch(path.name)
            files = [(path, path.parent if is_sample else path)]
        else:
            files = [(file, file.parent) for file in _samples(path, label, failures)]
            files = files or [(file, path) for file in _parts(path)]
            if not files and len(failures) == old_failures:
                fix = "run with --log_samples, or name files"
                raise ToolError(f"{path}: has no samples of the pack's tasks; {fix}")
        for file, place in files:
            source = Source(file, place, task, label)
            results = source.results_path
            if results and (fault := _odd_kind(results)):
                failures.append(Failure(results, label, fault))
            else:
                sources.setdefault((label, file.absolute()), source)
    return [*sources.values()], failures


def split_name(argument: str) -> tuple[str, Path]:
    """Return the name, or "", and the path of `PATH` or `NAME=PATH`; ToolError without.

    Both may have an equals sign in them: it is split at the last one before a path that
    is there, else at the first one.
    """
    pieces = argument.split("=")
    splits = [("=".join(pieces[:n]), "=".join(pieces[n:])) for n in range(len(pieces))]
    existing = [split for split in splits if split[1] and Path(split[1]).exists()]
    if splits[0] not in existing:
        splits = existing[-1:] or splits[1:2] or splits
    name, path = splits[0]
    if not path:
        raise ToolError(f"'{argument}': names no file or folder; give PATH")
    return name, Path(path)


def _samples(folder: Path, label: str, failures: list[Failure]) -> Iterator[Path]:
    """Yield the samples of the pack's tasks in and below a folder.

    Links are not followed. Folders of results without samples are noted.
    """
    for place, folders, files in os.walk(folder):
        folders.sort()
        names = sorted([*files, *folders])
        matches = ((SAMPLES_NAME.fullmatch(name), name) for name in names)
        tasks = {name: match["task"] for match, name in matches if match}
        samples = [name for name in tasks if tasks[name] in all_tasks()]
        for path in (Path(place, name) for name in samples):
            if fault := _odd_kind(path):
                failures.append(Failure(path, label, fault))
            else:
                yield path
        for name in (name for name in folders if name not in samples):
            if Path(place, name).is_symlink():
                reason = "is a link to a folder"
                failures.append(Failure(Path(place, name), label, reason))
        if not tasks and any(re.match(r"results_.*\.json$", name) for name in files):
            reason = "has results without samples; run with --log_samples"
            failures.append(Failure(Path(place), label, reason))


def _odd_kind(path: Path) -> str | None:
    """Return what stands at a path of a submission instead of a file; None for a file."""
    if path.is_symlink():
        return "is a link; copy the file there"
    if path.is_dir():
        return "is a folder"
    return None if path.is_file() else "is a pipe or a device, not a file"


def _parts(folder: Path) -> list[Path]:
    """Return the files of answers in a folder that are no samples."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(SUFFIXES) and path.is_file()
        if not path.name.startswith(".") and not SAMPLES_NAME.fullmatch(path.name)
    ]
