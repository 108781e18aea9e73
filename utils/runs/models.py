"""Models: the answers of runs, all scored again, for tools that set them side by side."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..core.cli import include_path_option
from ..core.errors import LineError, Refusals
from ..packs import disputed
from .find import Run
from .scoring import Scored, jsonable, score
from .tally import Tally


Keep = Callable[[Scored, int], object]


class TaskRun(NamedTuple):
    """A model's answers to one task: figures, and what is kept of each document.

    Documents go by their digests, for some benchmarks have copies.
    """

    tally: Tally
    results: dict[bytes, list[Any]]


class Model(NamedTuple):
    """A run and what became of its answers."""

    run: Run
    tasks: dict[str, TaskRun]
    refusals: Refusals  # why lines of it count nowhere
    refused: Counter[str]  # how many, by task

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.run.name

    def results(self) -> Iterator[tuple[tuple[str, bytes, int], Any]]:
        """Yield what is kept of documents, behind task, digest and number of the copy.

        Which copy is which changes no figure, since they stand in one cluster.
        """
        for task, (_, results) in self.tasks.items():
            for digest, copies in results.items():
                for number, result in enumerate(copies):
                    yield (task, digest, number), result


def answer_options(parser: ArgumentParser) -> None:
    """Add --task, --include_path and --leave_out to the options of a tool."""
    parser.add_argument("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    parser.add_argument(
        "--leave_out",
        choices=disputed.LISTS,
        metavar="LIST",
        help=f"a list of disputed rows to leave out: {', '.join(disputed.LISTS)}",
    )


def read_models(
    runs: list[Run], options: Namespace, keep: Keep
) -> tuple[list[Model], list[str]]:
    """Return the models of some runs, and what a user has to be told of their lines.

    `options` are those of `answer_options`. Where the harness logged answers through
    several filters, there is a model for each. Of a document stays what `keep` makes of its
    answer and of the number of answers of the run before it. Of several answers that is the
    last one, with the mean scores of all. A line that cannot be scored, and a second answer
    to a document, are refused. Raises OSError and ToolError for a file that
    is not one of answers, and where there are no documents.
    """
    models, said = [], []
    for run in runs:
        found = _models(run, options, keep)
        said += [x for model in found for x in model.refusals.messages(model.name)]
        models += (counted := [model for model in found if model.tasks])
        if not counted:
            fault = f"has no answer that counts in {run.files[0].path}"
            said.append(f"{run.name}: {fault}; name another run")
    return models, said


def _models(run: Run, options: Namespace, keep: Keep) -> list[Model]:
    models: dict[str, Model] = {}
    for place, answer in enumerate(run.answers()):
        model = models.setdefault(
            answer.filter or "", Model(run, {}, Refusals(), Counter())
        )
        try:
            scored = score(answer, options.include_path)
            if answer.task not in model.tasks:
                tally = Tally(answer.task, run, options)
                model.tasks[answer.task] = TaskRun(tally, {})
            tally, results = model.tasks[answer.task]
            if document := tally.add(scored):
                verdict = scored.verdict._replace(scores=document.means())
                kept = keep(scored._replace(verdict=verdict), place)
                results.setdefault(scored.digest, {})[document] = kept
        except LineError as error:
            model.refused[answer.task] += 1
            model.refusals.add(str(error))
    for name, model in models.items():
        tasks = {
            task: TaskRun(tally, {x: [*copies.values()] for x, copies in found.items()})
            for task, (tally, found) in model.tasks.items()
            if found
        }
        models[name] = model._replace(tasks=tasks)
    if sum(bool(model.tasks) for model in models.values()) < 2:
        return [*models.values()]
    return [
        model._replace(run=run._replace(name=f"{run.name} ({name})")) if name else model
        for name, model in models.items()
    ]


def shown(value: object, longest: int = 200) -> str | None:
    """Return a value that the rules read as a text; of a longer one, start and end.

    An object with an explanation has the answer last.
    """
    if not isinstance(value, str | None):
        value = json.dumps(jsonable(value), ensure_ascii=False)
    if value is None or len(value) <= longest:
        return value
    return f"{value[: longest // 2]} … {value[-longest // 2 :]}"
