"""Runs: the files of answers that arguments name, and the models that they are of.

A model has the tables of one place, or of all paths that share a NAME. What has several
filters is a model for each. No file is opened here: `judge_file` reads what a stranger wrote.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path

from ..core.cli import include_path_option, output_path, whole_number
from ..core.errors import fault_of
from ..core.families import all_tasks
from ..core.files import SUFFIXES
from ..packs import disputed
from ..packs.sample import recognise
from .answers import LONGEST, SAMPLES_NAME, Source
from .judge_file import LIMITS, MOST_FAULTS
from .tables import Failure, Table, make_tables
from .tally import Document, Tally


# As LIMITS, of an argument.
_RUN_LIMITS = {"most_runs": (100, "runs that one argument stands for")}


def answer_options(parser: ArgumentParser) -> None:
    """Add the options of the tools that read answers."""
    add, positive_number = parser.add_argument, partial(whole_number, least=1)
    add("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    disputed_help = f"a list of disputed rows to leave out: {', '.join(disputed.LISTS)}"
    add("--leave_out", choices=disputed.LISTS, metavar="LIST", help=disputed_help)
    cache_help = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", metavar="DIR", type=output_path, help=cache_help)
    number_args = {"metavar": "N", "type": positive_number}
    workers_help = "files that are judged at a time; default: %(default)s"
    add("--workers", **number_args, default=1, help=workers_help)
    group = parser.add_argument_group("limits: what exceeds one is left out")
    for option, (default, meaning) in (LIMITS | _RUN_LIMITS).items():
        number_args |= {"default": default, "help": f"{meaning}; default: %(default)s"}
        group.add_argument(f"--{option}", **number_args)


def find_sources(
    arguments: list[str], task: str | None = None, most_runs: int | None = None
) -> tuple[list[Source], list[Failure]]:
    """Return the files that `PATH` or `NAME=PATH` arguments name, and what is no run.

    A folder stands for the samples of the pack's tasks in it and below it, or else for the
    files of answers in it. An argument without either, and what it has beyond `most_runs`
    runs, is a failure of that argument alone.
    """
    sources: dict[tuple[str, str], Source] = {}
    failures = []
    for argument in arguments:
        label, path_text = _split_argument(argument)
        if not path_text:
            fault = "names no file or folder; give PATH"
            failures.append(Failure(Path(argument), label, fault))
            continue
        # A link stands for what it leads to.
        is_link = os.path.islink(path_text)
        target = Path(os.path.realpath(path_text) if is_link else path_text)
        answer_files, faults = _files_of(target)
        runs: dict[Path, list[Source]] = defaultdict(list)
        for path in answer_files:
            source = _source_of(path, target, label, task)
            if source.results_path and (fault := _fault_of_kind(source.results_path)):
                faults[source.results_path] = fault
            else:
                runs[source.place].append(source)
        places = [*runs]
        if most_runs and len(places) > most_runs:
            fault = f"has {len(places):,} runs: those after the first {most_runs:,}"
            faults[target] = f"{fault} are not read; raise --most_runs"
        for place in places[:most_runs]:
            for source in runs[place]:
                real_path = os.path.realpath(source.path)
                sources.setdefault((label, real_path), source)
        failures += [Failure(path, label, fault) for path, fault in faults.items()]
    return [*sources.values()], failures


def _split_argument(argument: str) -> tuple[str, str]:
    """Return the NAME of a `PATH` or `NAME=PATH` argument, "" for none, and the path.

    What is there under the whole argument is the path, even a link to nothing: no file name
    can give another's answers a name.
    """
    before_first, _, after_first = argument.partition("=")
    before_last, _, after_last = argument.rpartition("=")
    splits = [("", argument), (before_first, after_first), (before_last, after_last)]
    existing = (split for split in splits if split[1] and os.path.lexists(split[1]))
    return next(existing, splits[-1])


def _source_of(path: Path, target: Path, label: str, task: str | None) -> Source:
    """Return the source that a file of an argument is, with its results if it has some."""
    name_match = SAMPLES_NAME.fullmatch(path.name)
    run_place = path.parent if name_match else target
    place_name = os.path.basename(os.path.abspath(run_place))
    default_name = place_name.removesuffix(".gz").removesuffix(".jsonl")
    source = Source(path, run_place, task, label, default_name)
    if name_match:
        source = source._replace(time=name_match["time"])
        results_path = run_place / f"results_{source.time}.json"
        if os.path.lexists(results_path):
            source = source._replace(results_path=results_path)
        if task is None or name_match["task"] in all_tasks():
            source = source._replace(task=name_match["task"])
    return source


def _files_of(target: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the files of answers that a path stands for, and what is no run in it."""
    if not os.path.isdir(target):
        return [target], {}
    sample_files, answer_files, faults = [], [], {}

    def note_fault(error: OSError) -> None:
        faults[Path(error.filename)] = fault_of(error)

    # Links are not followed.
    for parent, folder_names, file_names in os.walk(target, onerror=note_fault):
        folder_names.sort()
        entry_names = sorted([*file_names, *folder_names])
        matches = [*filter(None, map(SAMPLES_NAME.fullmatch, entry_names))]
        parent_sample_paths = [
            Path(parent, match[0]) for match in matches if match["task"] in all_tasks()
        ]
        links = filter(os.path.islink, (Path(parent, name) for name in folder_names))
        for path in (*parent_sample_paths, *links):
            if fault := _fault_of_kind(path):
                faults[path] = fault
            else:
                sample_files.append(path)
        if not matches and fnmatch.filter(file_names, "results_*.json"):
            faults[Path(parent)] = "has results without samples; run with --log_samples"
        if Path(parent) == target:
            answer_files = [
                target / name
                for name in sorted(file_names)
                if name.endswith(SUFFIXES) and not name.startswith(".")
                if os.path.isfile(target / name) and not SAMPLES_NAME.fullmatch(name)
            ]
    if not (sample_files or answer_files or faults):
        fix = "run with --log_samples, or name files"
        faults[target] = f"has no samples of the pack's tasks; {fix}"
    return sample_files or answer_files, faults


def _fault_of_kind(path: Path) -> str | None:
    """Return why a path of a submission is not read; None for a file."""
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return fault_of(error)
    if stat.S_ISLNK(mode):
        return "is a link; copy there what it leads to"
    if stat.S_ISDIR(mode):
        return "is a folder"
    return None if stat.S_ISREG(mode) else "is a pipe or a device, not a file"


@dataclass(eq=False)
class Model:
    """The answers of a model through one filter: its tables, and the figures of its tasks."""

    name: str
    tables: list[Table]
    filter: str | None
    entries: list[tuple[Table, dict]]  # of their heads, on each task through the filter
    remarks: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # on its lines, for a user
    tasks: dict[str, Tally] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)  # lines, by task

    @property
    def source(self) -> Source:
        """The file of its first answers."""
        return self.tables[0].source

    def claims(self, task: str | None = None) -> dict:
        """Return what results claim of a task, or the first do; {} where they are silent."""
        for _, task_entry in self.entries:
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
        """Join the documents of its tables; count second answers as refused.

        Where `has_rows`, documents have the rows of their answers.
        """
        for table, task_entry in self.entries:
            task, refusals = task_entry["task"], table.head["refused"]
            if task not in self.tasks:
                repeats = self.claims(task).get("repeats") or 1
                self.tasks[task] = Tally(task, repeats, options.leave_out)
            tally = self.tasks[task]
            tally.constants.update(task_entry["constants"])
            tally.examples = task_entry["examples"] | tally.examples
            rows = [*table.rows(task)] if has_rows else []
            for document in table.documents(task, self.filter):
                for line_number, fault in tally.join(document, rows):
                    refusals["tasks"].append([task, self.filter, 1])
                    if len(refusals["lines"]) < MOST_FAULTS:
                        refusals["lines"].append([line_number, fault])
        for task, tally in self.tasks.items():
            seed = self.claims(task).get("sample_seed")
            if seed is not None:
                pack = options.include_path
                tally.drawn = recognise(task, seed, tally.digests, pack)
        for table in self.tables:
            for task, filter_name, line_count in table.head["refused"]["tasks"]:
                self.refused[task] += line_count * (filter_name == self.filter)


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
    """
    sources, failures = find_sources(arguments, options.task, options.most_runs)
    tables_by_run: dict[str | Path, list[Table]] = defaultdict(list)
    for table in make_tables(sources, options, check, output):
        source = table.source
        if fault := table.head["failure"]:
            failures.append(Failure(source.path, source.label, fault))
        else:  # a label is a text, a place a path: no two are equal
            tables_by_run[source.label or source.place].append(table)
    models_of_runs = [_models_of(tables) for tables in tables_by_run.values()]
    models = [model for models_of_run in models_of_runs for model in models_of_run]
    _make_names_unique(models)
    for model in models:
        model.read(options, has_rows)
    for first_model, *_ in models_of_runs:  # all filters of a run share its tables
        for table in first_model.tables:
            first_model.messages += _messages(table)
    return models, failures


def _messages(table: Table) -> Iterator[str]:
    """Yield what a user is told of a file: which lines do not count, and why."""
    path, refusals = table.source.path, table.head["refused"]
    for line_number, fault in refusals["lines"]:
        yield f"{path}, line {line_number}: {fault}"
    refused_line_count = sum(line_count for *_, line_count in refusals["tasks"])
    if unnamed_count := refused_line_count - len(refusals["lines"]):
        lines_were = "line was" if unnamed_count == 1 else "lines were"
        yield f"{path}: {unnamed_count} more {lines_were} refused"
    if end_fault := table.head["end"]:
        yield f"{path}: {end_fault}"


def _make_names_unique(models: list[Model]) -> None:
    """Give each model a name of its own, and remark which name several runs have given.

    A name that the operator gave stays where a submission claims it, too. Others get their
    place, and what still shares a name a number.
    """
    renamed_models: set[Model] = set()
    while namesakes_by_name := _find_namesakes(models):
        for name, namesakes in namesakes_by_name.items():
            claimants = [model for model in namesakes if not model.source.label]
            claimants = claimants or namesakes
            if not (unplaced_models := {*claimants} - renamed_models):
                for number, model in enumerate(claimants[1:], 2):
                    model.name = f"{name} ({number})"
            for model in unplaced_models:
                model.remarks.append(f"{len(namesakes)} runs give the name {name:.150}")
                model.name = f"{name:.150} ({model.source.place})"
                renamed_models.add(model)


def _find_namesakes(models: list[Model]) -> dict[str, list[Model]]:
    """Return the names that several models have, each with these models."""
    models_by_name: dict[str, list[Model]] = defaultdict(list)
    for model in models:
        models_by_name[model.name].append(model)
    return {name: group for name, group in models_by_name.items() if len(group) > 1}


def _models_of(tables: list[Table]) -> list[Model]:
    """Return the models whose tables these are, one for each filter.

    Of several runs of a task the fullest counts, of equal ones the last: a run with --limit
    takes the place of no whole one.
    """
    tables_by_run: dict[object, list] = defaultdict(list)
    for table in tables:
        table_entries, log_time = table.head["tasks"], table.source.time
        task_names_text = ", ".join(sorted({entry["task"] for entry in table_entries}))
        run_key = table.source.place if log_time and task_names_text else table.source
        size = sum(entry["documents"] for entry in table_entries)
        tables_by_run[run_key, task_names_text].append(((size, log_time or ""), table))
    fullest_tables, remarks = [], []
    for (_, task_names_text), ranks_and_tables in tables_by_run.items():
        (_, log_time), table = max(ranks_and_tables, key=itemgetter(0))
        fullest_tables.append(table)
        if len(ranks_and_tables) > 1:
            runs_text = f"{len(ranks_and_tables)} runs of {task_names_text}"
            remarks.append(f"{runs_text}: that of {log_time} is shown")
    first_source = fullest_tables[0].source
    claimed_names = [*filter(None, (table.head["model"] for table in fullest_tables))]
    run_name = first_source.label or (claimed_names or [first_source.default_name])[0]
    if len({*claimed_names}) > 1 and not first_source.label:
        claimed_names_text = ", ".join(sorted({*claimed_names}))
        remarks.append(f"its results name several models: {claimed_names_text:.200}")
    entries_by_filter: dict[str | None, list] = defaultdict(list)
    for table in fullest_tables:
        for entry in table.head["tasks"]:
            entries_by_filter[entry["filter"]].append((table, entry))
    models = []
    for filter_name in sorted(entries_by_filter, key=str) or [None]:
        is_only_filter = filter_name is None or len(entries_by_filter) < 2
        model_name = run_name if is_only_filter else f"{run_name} ({filter_name})"
        entries = entries_by_filter[filter_name]
        models.append(Model(model_name[:LONGEST], fullest_tables, filter_name, entries))
        models[-1].remarks += remarks
    return models
