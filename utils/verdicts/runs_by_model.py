"""Runs: the files of answers that arguments name, and the models that they are of.

A model has the tables of one place, or of all paths that share a NAME. What has several
filters is a model for each. No file is opened here: `judge_file` reads what a stranger wrote.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..core.cli import named_path, quoted
from ..core.progress import progress
from ..packs.random_sample import recognise
from .find_answer_files import (
    AnswerFile,
    Failure,
    find_answer_files,
    name_as_given,
)
from .judge_answer import shorten
from .judge_file import MOST_FAULTS
from .read_answers import LONGEST
from .stored_tables import Table, make_tables
from .tally import Document, Tally


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
    given_name: str = field(init=False)  # before names were made unique

    def __post_init__(self) -> None:
        """Keep the name that was given."""
        self.given_name = self.name

    @property
    def source(self) -> AnswerFile:
        """The file of its first answers."""
        return self.tables[0].source

    @property
    def is_named(self) -> bool:
        """Whether its name stands on the command line as it is."""
        return self.name == self.source.label

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

    def read(
        self, options: Namespace, has_rows: bool, note: Callable[[], object]
    ) -> None:
        """Join the documents of its tables; count second answers as refused.

        Where `has_rows`, documents have the rows of their answers. `note` is called after
        each document.
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
                note()
        for task, tally in self.tasks.items():
            seed = self.claims(task).get("sample_seed")
            if seed is not None:
                pack = options.include_path
                tally.drawn = recognise(task, seed, tally.digests, pack)
        for table in self.tables:
            for task, filter_name, line_count in table.head["refused"]["tasks"]:
                self.refused[task] += line_count * (filter_name == self.filter)


def by_table(
    documents: Iterable[tuple[str, Document]],
) -> Iterator[tuple[Table, str, list[Document]]]:
    """Yield tables and tasks with those documents, each after its task, that are last in it."""
    groups: dict[tuple, list[Document]] = defaultdict(list)
    for task, document in documents:
        groups[document.table.folder, task].append(document)
    for (_, task), group in groups.items():
        yield group[0].table, task, group


def add_rows(documents: Iterable[tuple[str, Document]]) -> None:
    """Give documents, each after its task, the rows of their last answers."""
    for table, task, group in by_table(documents):
        rows = table.rows_at(task, {document.answers[-1].row for document in group})
        for document in group:
            document.rows = [rows[document.answers[-1].row]]


def read_models(
    arguments: list[str],
    options: Namespace,
    check: Any = None,
    output: Path | None = None,
    has_rows: bool = False,
) -> tuple[list[Model], list[Failure]]:
    """Return the models that arguments name, and the files that give no table.

    `options` are those of `answer_options`. `check` is what a board has checked of the
    answers; `output` is a folder for the tables. Where `has_rows`, documents keep their rows.
    """
    sources, failures = find_answer_files(
        arguments, options.task, options.most_runs, options.most_files
    )
    tables_by_run: dict[str | Path, list[Table]] = defaultdict(list)
    for table in make_tables(sources, options, check, output):
        source = table.source
        if fault := table.head["failure"]:
            failures.append(Failure(source.path, source.label, fault))
        else:  # a label is a text, a place a path: no two are equal
            place = Path(os.path.realpath(source.place))
            tables_by_run[source.label or place].append(table)
    models_of_runs = [_models_of(tables) for tables in tables_by_run.values()]
    failures += _drop_excess(models_of_runs, options)
    models = [model for models_of_run in models_of_runs for model in models_of_run]
    _make_names_unique(models)
    entries = [task_entry for model in models for _, task_entry in model.entries]
    document_count = sum(task_entry["documents"] for task_entry in entries)
    kept = "all verdicts are kept, and the same command goes on"
    with progress("documents", document_count, lambda: kept) as bar:
        for model in models:
            model.read(options, has_rows, bar.update)
    for first_model, *_ in models_of_runs:  # all filters of a run share its tables
        for table in first_model.tables:
            first_model.messages += _messages(table)
    return models, name_as_given(failures, arguments)


def _drop_excess(
    models_of_runs: list[list[Model]], options: Namespace
) -> Iterator[Failure]:
    """Drop the models of an argument beyond its bounds, and yield why.

    A run has a model for each of its filters.
    """
    model_counts: Counter[str] = Counter()
    document_counts: Counter[str] = Counter()
    dropped: dict[str, Failure] = {}
    for models in models_of_runs:
        for model in [*models]:
            source = model.source
            argument = source.argument
            model_counts[argument] += 1
            document_counts[argument] += sum(
                task_entry["documents"] for _, task_entry in model.entries
            )
            if model_counts[argument] > options.most_runs:
                fault = f"has more than {options.most_runs:,} models, as filters count"
                fix = "raise --most_runs"
            elif document_counts[argument] > options.most_argument_documents:
                bound = options.most_argument_documents
                fault = f"has more than {bound:,} documents with those before it"
                fix = "raise --most_argument_documents"
            else:
                continue
            models.remove(model)
            failure = Failure(source.place, source.label, f"{fault}; {fix}")
            dropped.setdefault(argument, failure)
    models_of_runs[:] = filter(None, models_of_runs)
    yield from dropped.values()


def _messages(table: Table) -> Iterator[str]:
    """Yield what a user is told of a file: which lines do not count, and why."""
    path, refusals = named_path(table.source.path), table.head["refused"]
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
        names = {model.name for model in models}
        for name, namesakes in namesakes_by_name.items():
            # A name that is made of a label and a filter is a claim, too.
            claimants = [model for model in namesakes if not model.is_named]
            claimants = claimants or namesakes
            if unplaced_models := {*claimants} - renamed_models:
                for model in unplaced_models:
                    model.remarks.append(
                        f"{len(namesakes)} runs give the name {quoted(name)}"
                    )
                    model.name = f"{name:.150} ({shorten(model.source.place)})"
                    renamed_models.add(model)
                continue
            others = claimants if len(claimants) < len(namesakes) else claimants[1:]
            for model in others:
                numbered = (f"{name} ({number})" for number in count(2))
                model.name = next(x for x in numbered if x not in names)
                names.add(model.name)


def _find_namesakes(models: list[Model]) -> dict[str, list[Model]]:
    """Return the names that several models have, each with these models."""
    models_by_name: dict[str, list[Model]] = defaultdict(list)
    for model in models:
        models_by_name[model.name].append(model)
    return {name: group for name, group in models_by_name.items() if len(group) > 1}


def _models_of(tables: list[Table]) -> list[Model]:
    """Return the models whose tables these are, one for each filter."""
    fullest_tables, remarks = _choose_fullest(tables)
    run_name, claimed_names = _name_run(fullest_tables)
    if len(claimed_names) > 1:
        claimed_names_text = ", ".join(map(quoted, sorted(claimed_names)))
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


def _choose_fullest(tables: list[Table]) -> tuple[list[Table], list[str]]:
    """Return the tables that count, and remarks on others.

    Of several runs of a task the fullest counts, of equal ones the last: a run with --limit
    takes the place of no whole one.
    """
    tables_by_run: dict[tuple, list] = defaultdict(list)
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
    return fullest_tables, remarks


def _name_run(tables: list[Table]) -> tuple[str, set[str]]:
    """Return the name of a run, and the names that its results claim.

    None are claimed where the operator gave the name.
    """
    first_source = tables[0].source
    if first_source.label:
        return first_source.label, set()
    claimed_names = [*filter(None, (table.head["model"] for table in tables))]
    for name in (*claimed_names[:1], first_source.default_name):
        if seen_name := " ".join(name.split()):  # blanks are not seen
            return seen_name, {*claimed_names}
    return "unnamed", {*claimed_names}
