"""What each model scores in each task and benchmark, how surely, and its rank.

Scores are those of `Figures`, as `temporal-eval score` prints them. Intervals and
differences are those of `paired`.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ..core.errors import LineError, Refusals
from ..core.families import Group, groups, scorer
from ..stats import CONFIDENCE, cluster, holm, mean_interval, paired
from ..runs.find import Run
from ..runs.scoring import INVALID, Figures, Scored, Tally, score
from ..core.tables import natural


RULES = ("published", "flexible")
_AS_MANY = "as many as the benchmark's"


class Result(NamedTuple):
    """What one answer scored, without its text."""

    scores: tuple[float, float] | None  # published and flexible; None where neither is
    reason: str
    cluster: str
    place: int  # how many answers of the run stand before it
    doc_id: int | str | None


class TaskRun:
    """A model's answers to one task: figures, and the results by document."""

    def __init__(self, task: str, leave_out: str | None) -> None:
        self.tally = Tally(task, leave_out)
        self.results: dict[bytes, Result] = {}
        self._copies: dict[bytes, list[Result]] = {}

    def add(self, scored: Scored, place: int) -> None:
        """Count one more answer; LineError for a second one to the same document."""
        task, verdict = self.tally.task, scored.verdict
        if not self.tally.add(scored):
            return
        headline = scorer(task).headline
        key = scorer(task).utils.digest(scored.doc)
        result = Result(
            tuple(verdict.scores[x] for x in headline) if headline else None,
            verdict.reason,
            sys.intern(cluster(task, scored.doc)),
            place,
            scored.answer.doc_id,
        )
        if key in self.results:  # some benchmarks have a row twice
            self._copies.setdefault(key, []).append(result)
        else:
            self.results[key] = result

    def settle(self) -> None:
        """Name the copies of a document in one order, whatever that of the answers."""
        for key, copies in self._copies.items():
            copies.append(self.results[key])
            for n, result in enumerate(sorted(copies, key=_by_id)):
                self.results[key + n.to_bytes(4, "big") if n else key] = result
        self._copies.clear()


def _by_id(result: Result) -> tuple:
    is_number = isinstance(result.doc_id, int)
    return (not is_number, result.doc_id if is_number else str(result.doc_id), result)


class Model(NamedTuple):
    """A run and what became of its answers."""

    run: Run
    tasks: dict[str, TaskRun]
    refusals: Refusals  # why lines of it count nowhere
    refused: Counter[str]  # how many, by task


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
        for task in [name for name, task in model.tasks.items() if not task.results]:
            del model.tasks[task]
        for name, task in model.tasks.items():
            task.settle()
            task.tally.made = run.made(name, include_path)
    if sum(bool(model.tasks) for model in models.values()) < 2:
        return list(models.values())
    return [
        model._replace(run=run._replace(name=f"{run.name} ({name})")) if name else model
        for name, model in models.items()
    ]


class Estimate(NamedTuple):
    """A score, its confidence interval where one is known, and the rank of its model.

    Scores lie between 0 and 1, and so does the interval: it is cut there.
    """

    value: float
    low: float | None
    high: float | None
    rank: int | None = None  # 1 + how many are better, not only by chance
    is_tied: bool = False
    reach: float | None = None  # half of the interval before it is cut


class Other(NamedTuple):
    """A metric that is not a headline one, over the documents that have it."""

    value: float
    n: int


class Part(NamedTuple):
    """What a model scores on some documents of a task."""

    n: int
    published: float | None
    flexible: float | None
    extracted: float
    others: dict[str, Other]  # in the order of the task's YAML file
    invalid: Counter[str]


def part(task: str, figures: Figures) -> Part:
    """Return the figures of some documents by the common names of their metrics."""
    means = figures.means()
    published, flexible = scorer(task).headline or (None, None)
    return Part(
        figures.n,
        means.pop(published, None),
        means.pop(flexible, None),
        means.pop("extracted"),
        {name: Other(mean, figures.counts[name]) for name, mean in means.items()},
        figures.invalid,
    )


class Entry(NamedTuple):
    """A model's row in the table of a task or benchmark."""

    model: str
    n: int
    rows: str  # whether these are the benchmark's
    version: str | None  # as run
    published: Estimate | None
    flexible: Estimate | None
    extracted: float | None  # None where not all tasks were run
    others: dict[str, Other]  # the other metrics of a task
    invalid: Counter[str]
    notes: tuple[str, ...]  # why it has no rank
    left_out: int  # answers to rows of the list that is left out


class Scope(NamedTuple):
    """A task, or a group of tasks, that models are ranked in."""

    name: str
    tasks: tuple[str, ...]
    by_size: bool
    version: float
    is_group: bool


class Table(NamedTuple):
    """A scope, the models in it, best first, and breakdown -> value -> model -> part."""

    scope: Scope
    entries: list[Entry]
    breakdowns: dict[str, dict[str, dict[str, Part]]]


def tables(models: list[Model]) -> list[Table]:
    """Return a table for each benchmark that a model ran whole, and for each task."""
    return [_table(scope, models) for scope in scopes(models)]


def scopes(models: list[Model]) -> list[Scope]:
    """Return the groups that a model ran whole, then the tasks, family by family."""
    run = {task for model in models for task in model.tasks}
    found = [
        Scope(*group, is_group=True)
        for group in groups()
        if any(model.tasks.keys() >= set(group.tasks) for model in models)
    ]
    for task in run:
        group = Group(task, (task,), True, scorer(task).version)
        found.append(Scope(*group, is_group=False))
    return sorted(found, key=_order)


def outermost(found: list[Scope]) -> set[str]:
    """Return the names of scopes that are not part of another one."""
    return {
        scope.name
        for scope in found
        if not any({*scope.tasks} < {*other.tasks} for other in found)
    }


def _order(scope: Scope) -> tuple:
    """Return what scopes are sorted by: benchmarks, their parts, their tasks."""
    is_fresh = scope.name.startswith("fresh")
    is_part = scope.is_group and scope.name != scorer(scope.tasks[0]).family
    of = [x.tasks.index(scope.tasks[0]) for x in groups() if scope.tasks[0] in x.tasks]
    place = max(of, default=math.inf)
    family = scorer(scope.tasks[0]).family
    return (is_fresh, family, not scope.is_group, is_part, place, scope.name)


def _table(scope: Scope, models: list[Model]) -> Table:
    those = [model for model in models if model.tasks.keys() & set(scope.tasks)]
    notes = {model.run.name: _notes(scope, model) for model in those}
    expected = _expected_documents(scope, those)
    for model in those:
        others = _documents(scope, model)
        if others != expected and not any("tasks" in x for x in notes[model.run.name]):
            notes[model.run.name].append(
                _other_documents(scope, model, those, expected)
            )
    ranked = [model for model in those if not notes[model.run.name]]
    ranks = [_ranks(scope, ranked, rule) for rule in range(len(RULES))]
    entries = [_entry(scope, model, ranks, notes[model.run.name]) for model in those]
    return Table(scope, sorted(entries, key=_best_first), _breakdowns(scope, those))


def _notes(scope: Scope, model: Model) -> list[str]:
    """Return why the model is not ranked, but for its documents."""
    tasks = [model.tasks[task] for task in scope.tasks if task in model.tasks]
    refused = sum(model.refused[task] for task in scope.tasks)
    notes = []
    if len(tasks) < len(scope.tasks):
        notes.append(f"{len(tasks)} of {len(scope.tasks)} tasks")
    if version := _other_version(scope, model):
        notes.append(version)
    if lacking := sum(task.tally.all.invalid["no_instruction"] for task in tasks):
        notes.append(f"prompts without the instruction: {lacking}")
    if surplus := sum(task.tally.answered.surplus for task in tasks):
        notes.append(f"answers beyond the benchmark's rows: {surplus}")
    if refused:
        notes.append(f"lines refused: {refused}")
    return notes


def _other_version(scope: Scope, model: Model) -> str | None:
    for task in scope.tasks:
        version = model.run.version(task)
        if version is not None and version != str(scorer(task).version):
            of = f" of {task}" if scope.is_group else ""
            return f"run as version {version}{of}, not {scorer(task).version}"
    return None


def _documents(scope: Scope, model: Model) -> tuple[str, ...] | None:
    """Return the fingerprints of the documents, None where a task was not run."""
    if not model.tasks.keys() >= set(scope.tasks):
        return None
    return tuple(model.tasks[task].tally.fingerprint for task in scope.tasks)


def _other_documents(
    scope: Scope, model: Model, models: list[Model], expected: tuple[str, ...] | None
) -> str:
    """Return that a model's documents are not those expected; of which seed, if known."""
    first = next(x for x in models if _documents(scope, x) == expected)
    ours, theirs = (
        {made and made.seed for made in (x.tasks[y].tally.made for y in scope.tasks)}
        for x in (model, first)
    )
    if ours == theirs or None in ours | theirs:
        return "other documents"
    ours, theirs = (", ".join(map(str, sorted(x))) for x in (ours, theirs))
    return f"other documents: of seed {ours}, not {theirs}"


def _expected_documents(scope: Scope, models: list[Model]) -> tuple[str, ...] | None:
    """Return the documents that models are ranked on.

    The benchmark's, where a model has them: by their fingerprint where it is known, else
    by their number. Then those that most models have, then the most. Documents under
    several ids do not count more often than in the benchmark.
    """

    def weight(documents: tuple[str, ...]) -> tuple:
        having = [model for model in models if found[model.run.name] == documents]
        return (
            all(scorer(x).known[1] == y for x, y in zip(scope.tasks, documents)),
            all(_has_all(having[0].tasks[task].tally) for task in scope.tasks),
            not any(
                x.tasks[task].tally.answered.surplus
                for x in having
                for task in scope.tasks
            ),
            len(having),
            *_size(scope, having[0]),
            documents,
        )

    found = {model.run.name: _documents(scope, model) for model in models}
    return max({x for x in found.values() if x}, key=weight, default=None)


def _has_all(tally: Tally) -> bool:
    rows, fingerprint = scorer(tally.task).known
    rows = tally.made.rows if tally.made else rows
    found = tally.answered
    is_repeated = fingerprint is None and found.different < found.n
    return found.n == rows and not found.surplus and not is_repeated


def _size(scope: Scope, model: Model) -> tuple[int, int]:
    """Return how many documents a model answers, and that it answers them but once."""
    answered = [model.tasks[task].tally.answered for task in scope.tasks]
    return sum(x.different for x in answered), -sum(x.n for x in answered)


def linearised(parts: list[list[float]], by_size: bool) -> list[float]:
    """Return a value for each document, of which the plain mean is the group's score.

    Their spread about it is that of the scores about the mean of their own task, weighted
    as the task is; so the error of their mean is that of the group's.
    """
    if len(parts) == 1:
        return parts[0]
    n = sum(map(len, parts))
    means = [math.fsum(part) / len(part) for part in parts]
    weights = [len(part) / n if by_size else 1 / len(parts) for part in parts]
    mean = math.fsum(weight * mean for weight, mean in zip(weights, means))
    return [
        mean + weight * n / len(part) * (score - part_mean)
        for part, part_mean, weight in zip(parts, means, weights)
        for score in part
    ]


def _values(scope: Scope, model: Model, rule: int) -> tuple[list[float], list[str]]:
    """Return value and cluster of each document, in the same order for every model."""
    tasks = [sorted(model.tasks[task].results.items()) for task in scope.tasks]
    parts = [[result.scores[rule] for _, result in task] for task in tasks]
    clusters = [result.cluster for task in tasks for _, result in task]
    return linearised(parts, scope.by_size), clusters


def _has_headline(scope: Scope) -> bool:
    return all(scorer(task).headline for task in scope.tasks)


def _ranks(scope: Scope, models: list[Model], rule: int) -> dict[str, int]:
    """Return model -> rank: 1 + how many are better by a difference that is not chance.

    The differences are paired by document, and their p-values corrected by Holm's method
    over all pairs of models. Nothing is ranked alone.
    """
    if len(models) < 2 or not _has_headline(scope):
        return {}
    values = {x.run.name: _values(scope, x, rule) for x in models}
    pairs = list(combinations(values, 2))
    found = [paired(values[a][0], values[b][0], values[a][1]) for a, b in pairs]
    ranks = dict.fromkeys(values, 1)
    for (a, b), difference, p_value in zip(
        pairs, found, holm(x.p_value for x in found)
    ):
        if p_value < 1 - CONFIDENCE:
            ranks[b if difference.value > 0 else a] += 1
    return ranks


def _entry(
    scope: Scope, model: Model, ranks: list[dict[str, int]], notes: list[str]
) -> Entry:
    name = model.run.name
    tallies = [model.tasks[x].tally for x in scope.tasks if x in model.tasks]
    is_whole = len(tallies) == len(scope.tasks)
    estimates = [
        _estimate(scope, model, rule, ranks[rule])
        if is_whole and _has_headline(scope)
        else None
        for rule in range(len(RULES))
    ]
    return Entry(
        model=name,
        n=sum(tally.all.n for tally in tallies),
        rows=_rows(scope, tallies),
        version=_version(scope, model),
        published=estimates[0],
        flexible=estimates[1],
        extracted=_mean(scope, tallies, "extracted") if is_whole else None,
        others={} if scope.is_group else part(scope.name, tallies[0].all).others,
        invalid=sum((tally.all.invalid for tally in tallies), Counter()),
        notes=tuple(notes),
        left_out=sum(tally.left_out for tally in tallies),
    )


def _estimate(
    scope: Scope, model: Model, rule: int, ranks: dict[str, int]
) -> Estimate | None:
    tallies = [model.tasks[task].tally for task in scope.tasks]
    interval = mean_interval(*_values(scope, model, rule))
    # Answers that all score the same, as 8 of 8 right, tell nothing of the spread.
    is_known = bool(interval.standard_error)
    rank = ranks.get(model.run.name)
    return Estimate(
        _mean(scope, tallies, rule),
        max(interval.low, 0.0) if is_known else None,
        min(interval.high, 1.0) if is_known else None,
        rank,
        list(ranks.values()).count(rank) > 1,
        interval.high - interval.value if is_known else None,
    )


def _mean(scope: Scope, tallies: list[Tally], metric: str | int) -> float:
    """Return a score of a group as its YAML file says, from the scores of its tasks.

    `metric` is a name, or which of the two headlines of each task.
    """
    means = []
    for tally in tallies:
        of = metric if isinstance(metric, str) else scorer(tally.task).headline[metric]
        means.append(tally.all.means()[of])
    if len(tallies) == 1:
        return means[0]
    sizes = [tally.all.n if scope.by_size else 1 for tally in tallies]
    return math.fsum(map(math.prod, zip(means, sizes))) / sum(sizes)


def _rows(scope: Scope, tallies: list[Tally]) -> str:
    """Return in words whether the documents are the rows of the benchmark.

    Of a group, what is so of each task; else how many of its rows were run.
    """
    words = [tally.rows_are() for tally in tallies]
    n = sum(tally.all.n for tally in tallies)
    known = sum(scorer(task).known[0] or 0 for task in scope.tasks)
    if n < known and "not the benchmark's" not in words and scope.is_group:
        return f"fewer than the benchmark's {known}"
    if len(set(words)) == 1:
        return words[0]
    if not known:
        return "made from a seed, not alike for each task"
    is_known = n == known and {*words} <= {"the benchmark's", _AS_MANY}
    return _AS_MANY if is_known else "not the benchmark's"


def _version(scope: Scope, model: Model) -> str | None:
    versions = {model.run.version(task) for task in scope.tasks if task in model.tasks}
    return " ".join(sorted(versions - {None})) or None


def _best_first(entry: Entry) -> tuple:
    value = entry.published.value if entry.published else -1
    flexible = entry.flexible.value if entry.flexible else -1
    return (bool(entry.notes), -value, -flexible, entry.model)


def _breakdowns(scope: Scope, models: list[Model]) -> dict:
    """Return breakdown -> value -> model -> part; of a group, by its tasks."""
    found: dict[str, dict[str, dict[str, Part]]] = {}
    for model in models:
        for name, value, of in _parts(scope, model):
            values = found.setdefault(name, {})
            values.setdefault(value, {})[model.run.name] = of
    return {
        name: values
        if name == "task"
        else dict(sorted(values.items(), key=lambda x: natural(x[0])))
        for name, values in sorted(found.items())
    }


def _parts(scope: Scope, model: Model) -> Iterator[tuple[str, str, Part]]:
    if scope.is_group:
        for task in scope.tasks:
            if task in model.tasks:
                yield "task", task, part(task, model.tasks[task].tally.all)
        return
    for (name, value), figures in model.tasks[scope.name].tally.parts.items():
        yield name, value, part(scope.name, figures)


def rows(found: list[Table]) -> Iterator[dict]:
    """Yield the rows of all tables, for CSV and JSON; floats are not rounded."""
    for table in found:
        for entry in table.entries:
            yield _row(table.scope, entry)
        for name, values in table.breakdowns.items():
            if name == "task":  # each has rows of its own
                continue
            for value, of_model in values.items():
                for model, of in of_model.items():
                    place = {"model": model, "scope": table.scope.name}
                    yield place | {"by": name, "value": value} | _scores(of)


def _row(scope: Scope, entry: Entry) -> dict:
    cells = {
        "model": entry.model,
        "scope": scope.name,
        "by": None,
        "value": None,
        "n": entry.n,
        "rows": entry.rows,
        "version_run": entry.version,
        "version_scored": str(scope.version),
        "not_ranked": "; ".join(entry.notes) or None,
    }
    for rule in RULES:
        estimate = getattr(entry, rule)
        for name in ("value", "low", "high", "rank"):
            column = rule if name == "value" else f"{rule}_{name}"
            cells[column] = getattr(estimate, name) if estimate else None
    return (
        cells
        | {"left_out": entry.left_out or None}
        | _scores(
            Part(
                entry.n,
                cells["published"],
                cells["flexible"],
                entry.extracted,
                entry.others,
                entry.invalid,
            )
        )
    )


def _scores(of: Part) -> dict:
    """Return the scores as columns, as `temporal-eval score` names them.

    Beside a metric that not every document has stands how many have it.
    """
    cells = {
        "n": of.n,
        "published": of.published,
        "flexible": of.flexible,
        "extracted": of.extracted,
        **{word: of.invalid[word] for word in INVALID},
    }
    for name, other in of.others.items():
        cells[name] = other.value
        if other.n < of.n:
            cells[f"{name} n"] = other.n
    return cells
