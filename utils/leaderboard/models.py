"""The models of a board: every answer of their runs, scored again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import LineError, Refusals
from ..core.families import scorer
from ..runs.find import Run
from ..runs.scoring import Scored, Tally, score
from ..stats import cluster


class Result(NamedTuple):
    """What one answer scored, without its text."""

    scores: tuple[float, float] | None  # published and flexible; None where neither is
    reason: str
    cluster: str
    place: int  # how many answers of the run stand before it


class TaskRun:
    """A model's answers to one task: figures, and the results by document.

    Documents go by their digests. Copies, which some benchmarks have, are numbered: which
    is which changes no figure, since they stand in one cluster.
    """

    def __init__(self, task: str, leave_out: str | None) -> None:
        self.tally = Tally(task, leave_out)
        self.results: dict[bytes, Result] = {}
        self._copies: Counter[bytes] = Counter()

    def add(self, scored: Scored, place: int) -> None:
        """Count one more answer; LineError for a second one to the same document."""
        if not self.tally.add(scored):
            return
        task, verdict, key = scored.answer.task, scored.verdict, scored.digest
        number = self._copies[key]
        self._copies[key] += 1
        headline = scorer(task).headline
        self.results[key + number.to_bytes(4, "big")] = Result(
            headline and tuple(verdict.scores[x] for x in headline),
            verdict.reason,
            sys.intern(cluster(task, scored.doc)),
            place,
        )


class Model(NamedTuple):
    """A run and what became of its answers."""

    run: Run
    tasks: dict[str, TaskRun]
    refusals: Refusals  # why lines of it count nowhere
    refused: Counter[str]  # how many, by task

    @property
    def name(self) -> str:
        """The name of the model on the board."""
        return self.run.name

    def results(self) -> Iterator[tuple[str, bytes, Result]]:
        """Yield task, key and result of each document."""
        for task, task_run in self.tasks.items():
            for key, result in task_run.results.items():
                yield task, key, result


def read(run: Run, include_path: Path, leave_out: str | None = None) -> list[Model]:
    """Return the answers of a run, scored, without those to a list of rows.

    Where the harness logged them through several filters, there is a model for each. A
    line that cannot be scored is refused, as `score` does. Raises OSError and ToolError
    for a file that is not one of answers, and where there are no documents.
    """
    models: dict[str, Model] = {}
    for place, answer in enumerate(run.answers()):
        name = answer.filter if answer.filter not in (None, "none") else ""
        model = models.setdefault(name, Model(run, {}, Refusals(), Counter()))
        try:
            scored = score(answer, include_path)
            if answer.task not in model.tasks:
                model.tasks[answer.task] = TaskRun(answer.task, leave_out)
            model.tasks[answer.task].add(scored, place)
        except LineError as error:
            model.refused[answer.task] += 1
            model.refusals.add(str(error))
    for model in models.values():
        for name, task in [*model.tasks.items()]:
            task.tally.made = run.made(name, include_path)
            if not task.results:
                del model.tasks[name]
    if sum(bool(model.tasks) for model in models.values()) < 2:
        return [*models.values()]
    return [
        model._replace(run=run._replace(name=f"{run.name} ({name})")) if name else model
        for name, model in models.items()
    ]
