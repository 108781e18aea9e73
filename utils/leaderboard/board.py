"""What each model scores in each task and benchmark, how surely, and its rank.

Scores are those of `Figures`, as `temporal-eval score` prints them. Intervals and
differences are those of `stats`, as in `temporal-eval compare`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from ..core.families import configuration, groups, scorer
from ..core.tables import natural
from ..runs.answers import sha256
from ..runs.models import Model
from ..runs.scoring import INVALID, Scored
from ..runs.tally import Figures, Tally
from ..score.command import scores
from ..stats import CONFIDENCE, difference, holm, linearised, score_interval


RULES = ("published", "flexible")
_AS_MANY = "as many as the benchmark's"


class Result(NamedTuple):
    """What one answer scored, without its text."""

    scores: tuple[float, float] | None  # published and flexible; None where neither is
    reason: str
    cluster: str
    place: int  # how many answers of the run stand before it


def result(scored: Scored, place: int) -> Result:
    """Return what a board keeps of an answer."""
    task, verdict = scored.answer.task, scored.verdict
    headline = scorer(task).headline
    scores = headline and tuple(verdict.scores[x] for x in headline)
    cluster = sys.intern(sha256(scorer(task).utils.cluster(scored.doc)))
    return Result(scores, verdict.reason, cluster, place)


class Scope(NamedTuple):
    """A task, or a group of tasks, that models are ranked in."""

    name: str
    tasks: tuple[str, ...]
    by_size: bool  # whether documents count alike, not tasks
    version: float
    is_group: bool

    @property
    def is_made(self) -> bool:
        """Whether its rows are made from a seed: no benchmark has a number of them."""
        return scorer(self.tasks[0]).known[0] is None

    @property
    def benchmark(self) -> str:
        """The name of its family, or of the group of tasks whose rows are made."""
        of = [x for x in groups() if self.is_made and {*self.tasks} <= {*x.tasks}]
        largest = max(of, key=lambda group: len(group.tasks), default=None)
        return largest.name if largest else scorer(self.tasks[0]).family

    @property
    def title(self) -> str:
        """What the YAML file of the benchmark's group calls it."""
        is_known = self.benchmark in (group.name for group in groups())
        told = configuration(self.benchmark)["metadata"] if is_known else {}
        return told.get("title", self.benchmark)


class Table(NamedTuple):
    """What models score in a scope: rows as in the CSV file.

    `parts` are breakdown -> value -> model -> scores: of a group, by its tasks.
    """

    scope: Scope
    rows: list[dict]  # best first
    parts: dict[str, dict[str, dict[str, dict]]]


def tables(models: list[Model]) -> list[Table]:
    """Return a table for each group that a model ran whole, and for each task."""
    found = [
        Scope(*group, is_group=True)
        for group in groups()
        if any(model.tasks.keys() >= {*group.tasks} for model in models)
    ]
    for task in {task for model in models for task in model.tasks}:
        found.append(Scope(task, (task,), True, scorer(task).version, is_group=False))
    return [_table(scope, models) for scope in sorted(found, key=_order)]


def _order(scope: Scope) -> tuple:
    """Return what scopes are sorted by: benchmarks, their parts, their tasks."""
    first, is_part = scope.tasks[0], scope.name != scope.benchmark
    places = [group.tasks.index(first) for group in groups() if first in group.tasks]
    parts = not scope.is_group, is_part, max(places, default=math.inf)
    return scope.is_made, scope.benchmark, *parts, scope.name


def outermost(found: list[Scope]) -> set[str]:
    """Return the names of scopes that are not part of another one."""
    return {
        scope.name
        for scope in found
        if not any({*scope.tasks} < {*other.tasks} for other in found)
    }


def _table(scope: Scope, models: list[Model]) -> Table:
    models = [model for model in models if model.tasks.keys() & {*scope.tasks}]
    notes = {model.name: [*_notes(scope, model)] for model in models}
    whole = [model for model in models if model.tasks.keys() >= {*scope.tasks}]
    documents = {
        x.name: tuple(tally.fingerprint for tally in _tallies(scope, x)) for x in whole
    }
    standard = max(whole, key=lambda x: _weight(scope, x, documents), default=None)
    for model in whole:
        if documents[model.name] != documents[standard.name]:
            notes[model.name].append("other documents")
    ranked = [model for model in whole if not notes[model.name]]
    ranks = {rule: _ranks(scope, ranked, rule) for rule in RULES}
    found = [_row(scope, model, ranks, notes[model.name]) for model in models]
    return Table(scope, sorted(found, key=_best_first), _parts(scope, models))


def _best_first(row: dict) -> tuple:
    means = (-1 if row[rule] is None else row[rule] for rule in RULES)
    return bool(row["not_ranked"]), *(-mean for mean in means), row["model"]


def _tallies(scope: Scope, model: Model) -> list[Tally]:
    return [model.tasks[task].tally for task in scope.tasks if task in model.tasks]


def _notes(scope: Scope, model: Model) -> Iterator[str]:
    """Yield why the model is not ranked, but for its documents."""
    tallies = _tallies(scope, model)
    if len(tallies) < len(scope.tasks):
        yield f"{len(tallies)} of {len(scope.tasks)} tasks"
    for task in scope.tasks:
        version = model.run.version(task)
        if not scorer(task).asks_as(version):
            of = f" of {task}" if scope.is_group else ""
            yield f"run as version {version}{of}, not {scorer(task).version}"
            break
    if lacking := sum(tally.all.invalid["no_instruction"] for tally in tallies):
        yield f"prompts without the instruction: {lacking}"
    if surplus := sum(tally.surplus for tally in tallies):
        yield f"answers beyond the benchmark's rows: {surplus}"
    if refused := sum(model.refused[task] for task in scope.tasks):
        yield f"lines refused: {refused}"


def _weight(scope: Scope, model: Model, documents: dict[str, tuple[str, ...]]) -> tuple:
    """Return what is greatest for a model with the documents that all are ranked on.

    The benchmark's, where a model has them: by their fingerprint where it is known, else
    by their number. Then those that most models have, then the most. Documents under
    several ids do not count more often than in the benchmark.
    """
    tallies, those = _tallies(scope, model), documents[model.name]
    return (
        those == tuple(scorer(task).known[1] for task in scope.tasks),
        all(map(_has_all, tallies)),
        not any(tally.surplus for tally in tallies),
        [*documents.values()].count(those),
        sum(tally.different for tally in tallies),
        -sum(tally.answered for tally in tallies),
        those,
    )


def _has_all(tally: Tally) -> bool:
    rows, fingerprint = scorer(tally.task).known
    rows = tally.made.rows if tally.made else rows
    is_repeated = fingerprint is None and tally.different < tally.answered
    return tally.answered == rows and not tally.surplus and not is_repeated


def _ranks(scope: Scope, models: list[Model], rule: str) -> dict[str, int]:
    """Return model -> rank: 1 + how many are better by a difference that is not chance.

    The differences are paired by document, and their p-values corrected by Holm's method
    over all pairs of models. Nothing is ranked alone.
    """
    if len(models) < 2 or not all(scorer(task).headline for task in scope.tasks):
        return {}
    values = {model.name: _values(scope, model, rule) for model in models}
    pairs = [*combinations(values, 2)]
    found = [difference(values[b][0], *values[a]) for a, b in pairs]
    corrected = holm(x.p_value for x in found)
    ranks = dict.fromkeys(values, 1)
    for (a, b), tested, p_value in zip(pairs, found, corrected):
        if p_value < 1 - CONFIDENCE:
            ranks[b if tested.value > 0 else a] += 1
    return ranks


def _values(scope: Scope, model: Model, rule: str) -> tuple[list[float], list[str]]:
    """Return value and cluster of each document, in the same order for every model."""
    found = [sorted(model.tasks[task].results.items()) for task in scope.tasks]
    tasks = [[x for _, copies in task for x in copies] for task in found]
    parts = [[x.scores[RULES.index(rule)] for x in task] for task in tasks]
    clusters = [x.cluster for task in tasks for x in task]
    return linearised(parts, scope.by_size), clusters


def rows(found: list[Table]) -> Iterator[dict]:
    """Yield the rows of all tables, for CSV and JSON; floats are not rounded."""
    for table in found:
        yield from table.rows
        place = {"model": None, "scope": table.scope.name}
        for by, values in table.parts.items() if not table.scope.is_group else ():
            for value, of_model in values.items():
                for model, cells in of_model.items():
                    yield place | {"model": model, "by": by, "value": value} | cells


def _row(
    scope: Scope, model: Model, ranks: dict[str, dict[str, int]], notes: list[str]
) -> dict:
    tallies = _tallies(scope, model)
    first = tallies[0]
    told = _mean(scope, tallies) if scope.is_group else _scores(first, first.all)
    versions = {model.run.version(tally.task) for tally in tallies} - {None}
    row = {
        "model": model.name,
        "scope": scope.name,
        "by": None,
        "value": None,
        "n": told["n"],
        "rows": _rows_are(scope, tallies),
        "version_run": " ".join(sorted(versions)) or None,
        "version_scored": str(scope.version),
        "not_ranked": "; ".join(notes) or None,
    }
    for rule in RULES:
        row |= {rule: None, f"{rule}_low": None, f"{rule}_high": None}
        row[f"{rule}_rank"] = ranks[rule].get(model.name)
        if told[rule] is not None:
            interval = score_interval(*_values(scope, model, rule))
            row |= zip((f"{rule}_low", f"{rule}_high"), interval)
    left_out = sum(tally.left_out for tally in tallies)
    return row | {"left_out": left_out or None} | told


def _scores(tally: Tally, figures: Figures) -> dict:
    """Return the scores as columns, as `temporal-eval score` names them."""
    cells = dict.fromkeys(("n", *RULES, "extracted")) | {"n": figures.n}
    cells |= {word: figures.invalid[word] for word in INVALID}
    return cells | scores(tally.task, figures)


def _mean(scope: Scope, tallies: list[Tally]) -> dict:
    """Return the scores of a group as its YAML file says, from those of its tasks."""
    parts = [_scores(tally, tally.all) for tally in tallies]
    sizes = [part["n"] if scope.by_size else 1 for part in parts]
    cells = {"n": sum(part["n"] for part in parts)}
    for name in (*RULES, "extracted"):
        values = [part[name] for part in parts]
        cells[name] = None
        if None not in values and len(parts) == len(scope.tasks):
            cells[name] = math.fsum(map(math.prod, zip(values, sizes))) / sum(sizes)
    return cells | {word: sum(part[word] for part in parts) for word in INVALID}


def _rows_are(scope: Scope, tallies: list[Tally]) -> str:
    """Return in words whether the documents are the rows of the benchmark.

    Of a group, what is so of each task; else how many of its rows were run.
    """
    words = {tally.rows_are() for tally in tallies}
    n = sum(tally.all.n for tally in tallies)
    known = sum(scorer(task).known[0] or 0 for task in scope.tasks)
    if n < known and "not the benchmark's" not in words and scope.is_group:
        return f"fewer than the benchmark's {known}"
    if len(words) == 1:
        return words.pop()
    if not known:
        return "made from a seed, not alike for each task"
    is_known = n == known and words <= {"the benchmark's", _AS_MANY}
    return _AS_MANY if is_known else "not the benchmark's"


def _parts(scope: Scope, models: list[Model]) -> dict:
    found: dict[str, dict[str, dict[str, dict]]] = {}
    for model, tally in ((x, y) for x in models for y in _tallies(scope, x)):
        parts = {("task", tally.task): tally.all} if scope.is_group else tally.parts
        for (by, value), figures in parts.items():
            of_model = found.setdefault(by, {}).setdefault(value, {})
            of_model[model.name] = _scores(tally, figures)
    return {
        by: dict(sorted(values.items(), key=lambda x: natural(x[0])))
        for by, values in sorted(found.items())
    }
