"""Runs: the files of answers that arguments name, and the models that they are of.

A model has the tables of one place, or of all paths that share a NAME. What has several
filters is a model for each. No file is opened here: `isolate` reads what a stranger wrote.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from operator import itemgetter
from pathlib import Path

from ..core.cli import include_path_option, output_path, whole_number
from ..core.errors import LineError, ToolError
from ..core.families import all_tasks, scorer
from ..core.files import SUFFIXES
from ..packs import disputed
from .answers import SAMPLES_NAME, Source
from .figures import Document, Tally
from .isolate import LIMITS, MOST_FAULTS
from .tables import Failure, Table, make_tables


_LONGEST_NAME = 200


def answer_options(parser: ArgumentParser) -> None:
    """Add the options of the tools that read answers."""
    add, positive_number = parser.add_argument, partial(whole_number, least=1)
    add("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    list_names_text = ", ".join(disputed.LISTS)
    leave_out_help = f"a list of disputed rows to leave out: {list_names_text}"
    add("--leave_out", choices=disputed.LISTS, metavar="LIST", help=leave_out_help)
    cache_help = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", metavar="DIR", type=output_path, help=cache_help)
    number_args = {"metavar": "N", "type": positive_number}
    workers_help = "files that are judged at a time; default: %(default)s"
    add("--workers", **number_args, default=1, help=workers_help)
    group = parser.add_argument_group("limits of a file; what exceeds one is left out")
    for limit_name, (default, bound) in LIMITS.items():
        number_args |= {"default": default, "help": f"{bound}; default: %(default)s"}
        group.add_argument(f"--{limit_name}", **number_args)


# ------------------------------------------------------------------------------ files


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
        label, target = _split_name(argument)
        answer_files, reasons = _files_in(target) if target.is_dir() else ([target], {})
        if not answer_files and not reasons:
            fix = "run with --log_samples, or name files"
            raise ToolError(f"{target}: has no samples of the pack's tasks; {fix}")
        for answer_file in answer_files:
            source = Source(answer_file, target, task, label, None, None)
            if name_match := SAMPLES_NAME.fullmatch(answer_file.name):
                log_time = name_match["time"]
                source = source._replace(place=answer_file.parent, time=log_time)
                results_path = answer_file.parent / f"results_{log_time}.json"
                if os.path.lexists(results_path):
                    source = source._replace(results_path=results_path)
                if task is None or name_match["task"] in all_tasks():
                    source = source._replace(task=name_match["task"])
            if source.results_path and (fault := _fault_of_kind(source.results_path)):
                reasons[source.results_path] = fault
            else:
                sources.setdefault((label, answer_file.absolute()), source)
        failures += [
            Failure(odd_path, label, fault) for odd_path, fault in reasons.items()
        ]
    return [*sources.values()], failures


def _split_name(argument: str) -> tuple[str, Path]:
    """Return the name, or "", and the path of `PATH` or `NAME=PATH`; ToolError without."""
    label, path_text = "", argument
    if "=" in argument and not Path(argument).exists():
        label, _, path_text = argument.rpartition("=")
        if not Path(path_text).exists():
            label, _, path_text = argument.partition("=")
    if not path_text:
        raise ToolError(f"'{argument}': names no file or folder; give PATH")
    return label, Path(path_text)


def _files_in(folder: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the files of answers that a folder stands for, and what is no run in it."""
    sample_files, fault_by_path = [], {}
    for parent, folder_names, file_names in os.walk(folder):  # which follows no links
        folder_names.sort()
        entry_names = sorted([*file_names, *folder_names])
        matches = [*filter(None, map(SAMPLES_NAME.fullmatch, entry_names))]
        samples_in_folder = [
            Path(parent, match[0]) for match in matches if match["task"] in all_tasks()
        ]
        links = filter(Path.is_symlink, (Path(parent, name) for name in folder_names))
        for file in (*samples_in_folder, *links):
            if fault := _fault_of_kind(file):
                fault_by_path[file] = fault
            else:
                sample_files.append(file)
        if not matches and any(Path(parent).glob("results_*.json")):
            fault = "has results without samples; run with --log_samples"
            fault_by_path[Path(parent)] = fault
    answer_files = [
        file
        for file in sorted(folder.iterdir())
        if file.name.endswith(SUFFIXES) and file.is_file()
        if not file.name.startswith(".") and not SAMPLES_NAME.fullmatch(file.name)
    ]
    return sample_files or answer_files, fault_by_path


def _fault_of_kind(path: Path) -> str | None:
    """Return why a path of a submission is not read; None for a file."""
    if path.is_symlink():
        return "is a link; copy there what it leads to"
    if path.is_dir():
        return "is a folder"
    return None if path.is_file() else "is a pipe or a device, not a file"


# ----------------------------------------------------------------------------- models


@dataclass(eq=False)
class Model:
    """The answers of a model through one filter: its tables, and the figures of its tasks."""

    name: str
    tables: list[Table]
    filter: str | None
    remarks: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # on its lines, for a user
    tasks: dict[str, Tally] = field(default_factory=dict)

    @property
    def source(self) -> Source:
        """The file of its first answers."""
        return self.tables[0].source

    @property
    def refused(self) -> Counter[str]:
        """How many lines are refused, by task."""
        refused_by_task: Counter[str] = Counter()
        for table in self.tables:
            for task, filter_name, line_count in table.head["refused"]["tasks"]:
                refused_by_task[task] += line_count * (filter_name == self.filter)
        return refused_by_task

    def entries(self) -> Iterator[tuple[Table, dict]]:
        """Yield what the heads of its tables say of each task through its filter."""
        for table in self.tables:
            for task_entry in table.head["tasks"]:
                if task_entry["filter"] == self.filter:
                    yield table, task_entry

    def claims(self, task: str | None = None) -> dict:
        """Return what results claim of a task, or the first do; {} where they are silent."""
        for _, task_entry in self.entries():
            if task in (None, task_entry["task"]) and task_entry["claims"]:
                return task_entry["claims"]
        return {}

    def documents(self) -> Iterator[tuple[tuple[str, str, int], Document]]:
        """Yield its documents, each after its task, digest and number of the copy.

        Which copy is which changes no figure, since they stand in one cluster.
        """
        for task, tally in self.tasks.items():
            copy_counts: Counter[str] = Counter()
            for document in tally.all.documents:
                yield (task, document.digest, copy_counts[document.digest]), document
                copy_counts[document.digest] += 1

    def read(self, options: Namespace, has_rows: bool) -> None:
        """Read the rows of its tables; refuse second answers in several of them."""
        for table, task_entry in self.entries():
            task = task_entry["task"]
            if task not in self.tasks:
                claims, origin = self.claims(task), None
                if scorer(task).upstream[0] is None:
                    origin = claims.get("made") or _made(task, options.include_path)
                repeat_count = claims.get("repeats") or 1
                tally_args = {
                    "repeats": repeat_count,
                    "made": origin,
                    "has_rows": has_rows,
                }
                left_out_list = options.leave_out
                self.tasks[task] = Tally(task, leave_out=left_out_list, **tally_args)
            tally, table_refusals = self.tasks[task], table.head["refused"]
            tally.constants.update(task_entry["constants"])
            for row in table.rows(task, self.filter):
                try:
                    if document := tally.add(row):
                        document.table = table
                except LineError as error:
                    table_refusals["tasks"].append([task, self.filter, 1])
                    if len(table_refusals["lines"]) < MOST_FAULTS:
                        table_refusals["lines"].append([row["line"], str(error)])


@cache
def _made(task: str, folder: Path) -> dict | None:
    """Return what a pack's rows of a task were made from, None where it does not say."""
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        manifest = json.loads((folder / "manifest.json").read_bytes())
        for file_entry in manifest["data"].values():
            recipe = file_entry["generated"] if task in file_entry["tasks"] else {}
            origin = {"seed": recipe.get("gen_seed"), "rows": recipe.get("gen_rows")}
            if None not in origin.values():
                return origin | {"fingerprint": file_entry["fingerprint"]}
    return None


def read_models(
    arguments: list[str],
    options: Namespace,
    check: type | None = None,
    output: Path | None = None,
    has_rows: bool = False,
) -> tuple[list[Model], list[Failure]]:
    """Return the models that arguments name, and the files that give no table.

    `options` are those of `answer_options`. `check` is what a board has checked of the
    answers; `output` is a folder for the tables. Where `has_rows`, documents keep their rows.
    ToolError where arguments name nothing.
    """
    sources, failures = find_sources(arguments, options.task)
    tables_by_model: dict[tuple, list[Table]] = defaultdict(list)
    for table in make_tables(sources, options, check, output):
        source, table_fault = table.source, table.head["failure"]
        if table_fault is None:
            model_key = (source.label, None if source.label else source.place)
            tables_by_model[model_key].append(table)
        else:
            failures.append(Failure(source.path, source.label, table_fault))
    models = [
        model for tables in tables_by_model.values() for model in _models_of(tables)
    ]
    name_counts = Counter(model.name for model in models)
    for model in models:
        if name_counts[name := model.name] > 1:
            model.remarks.append(f"{name_counts[name]} runs give the name {name:.150}")
            model.name = f"{name:.150} ({model.source.place})"
        model.read(options, has_rows)
    reported_sources: set[Source] = set()
    for model in models:  # those of several filters share tables
        for table in model.tables:
            if table.source not in reported_sources:
                model.messages += _messages(table)
                reported_sources.add(table.source)
    return models, failures


def _messages(table: Table) -> Iterator[str]:
    """Yield what a user is told of a file: which lines do not count, and why."""
    answers_path, refusals = table.source.path, table.head["refused"]
    for line_number, line_fault in refusals["lines"]:
        yield f"{answers_path}, line {line_number}: {line_fault}"
    refused_count = sum(line_count for *_, line_count in refusals["tasks"])
    if unnamed_line_count := refused_count - len(refusals["lines"]):
        lines_were = "line was" if unnamed_line_count == 1 else "lines were"
        yield f"{answers_path}: {unnamed_line_count} more {lines_were} refused"
    if end_fault := table.head["end"]:
        yield f"{answers_path}: {end_fault}"


def _models_of(tables: list[Table]) -> Iterator[Model]:
    """Yield the model whose tables these are, once for each filter."""
    fullest_tables, remarks = _latest(tables)
    first_source = fullest_tables[0].source
    claimed_names = [
        table.head["model"] for table in fullest_tables if table.head["model"]
    ]
    base_name = first_source.label or (claimed_names or [first_source.default_name])[0]
    if len(distinct_names := sorted({*claimed_names})) > 1 and not first_source.label:
        claimed_names_text = ", ".join(distinct_names)
        remarks.append(f"its results name several models: {claimed_names_text:.200}")
    filters = {
        entry["filter"] for table in fullest_tables for entry in table.head["tasks"]
    }
    for filter_name in sorted(filters, key=str) or [None]:
        is_only_filter = filter_name is None or len(filters) < 2
        model_name = base_name if is_only_filter else f"{base_name} ({filter_name})"
        yield Model(model_name[:_LONGEST_NAME], fullest_tables, filter_name, [*remarks])


def _latest(tables: list[Table]) -> tuple[list[Table], list[str]]:
    """Return the fullest table of each run of a task, and remarks on the others.

    Of equal ones it is the last: a run with --limit takes the place of no whole one.
    """
    tables_by_run: dict[object, list[tuple[tuple, Table]]] = defaultdict(list)
    for table in tables:
        task_entries, log_time = table.head["tasks"], table.source.time
        task_names_text = ", ".join(sorted({entry["task"] for entry in task_entries}))
        is_samples = log_time and task_names_text
        run_key = (table.source.place if is_samples else table.source, task_names_text)
        table_rank = sum(entry["documents"] for entry in task_entries), log_time or ""
        tables_by_run[run_key].append((table_rank, table))
    fullest_tables, remarks = [], []
    for (_, task_names_text), ranked_tables in tables_by_run.items():
        (_, log_time), table = max(ranked_tables, key=itemgetter(0))
        fullest_tables.append(table)
        if (run_count := len(ranked_tables)) > 1:
            remarks.append(
                f"{run_count} runs of {task_names_text}: that of {log_time} is shown"
            )
    return fullest_tables, remarks
