"""Rows of figures: of benchmarks, tasks and parts of them; for CSV, JSON and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from statistics import fmean

from ..core.families import Group, configuration, groups, scorer
from ..core.tables import natural
from ..stats import estimate_difference, estimate_median, estimate_score, linearised
from ..verdicts.figures import Figures, Tally
from ..verdicts.judge import INVALID
from ..verdicts.several import together


Tallies = dict[tuple[str, str | None], Tally]  # by task, and by filter of the harness
# What a benchmark has the mean of, and what it has the sum of.
RULES = ("published", "flexible")
_MEANS = (*RULES, "extracted", "constant")
_SUMS = ("n", "answers", "changed", *INVALID, "cut_off_unknown")


@cache
def _benchmarks() -> list[Group]:
    return [x for x in groups() if "title" in configuration(x.name)["metadata"]]


def _place(task: str) -> tuple:
    """Return by what tasks are sorted: as in their benchmarks, then others by name."""
    names = [task for group in _benchmarks() for task in group.tasks]
    return names.index(task) if task in names else len(names), natural(task)


def rows(run: str, tallies: Tallies, k: int | None) -> list[dict]:
    """Return the rows of a run: benchmarks, tasks, and then each part of the tasks."""
    tasks, parts = [], []
    for key in sorted(tallies, key=lambda key: (_place(key[0]), key[1] or "")):
        place = {"run": run, "task": key[0], "filter": key[1]}
        of_task, *of_parts = _rows(place, tallies[key], k)
        tasks.append(of_task)
        parts += of_parts
    return [*_means(run, tasks, tallies), *tasks, *parts]


def _rows(place: dict, tally: Tally, k: int | None) -> Iterator[dict]:
    """Yield the row of a task and those of its parts."""
    parts = sorted(tally.parts.items(), key=lambda x: (x[0][0], natural(x[0][1])))
    constant = dict(zip(("constant", "constant_answer"), tally.constant()))
    left_out = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    of_task = {"left_out": left_out, "rows": tally.rows_are()}
    of_task["fingerprint"] = tally.fingerprint
    for (name, value), figures in [((None, None), tally.all), *parts]:
        yield {
            **place,
            "by": name,
            "value": value,
            "n": figures.n,
            "answers": figures.answers,
            **(scores(figures, k) if figures.n else dict.fromkeys(_MEANS[:3])),
            **(dict.fromkeys(constant) if name else constant),
            "changed": figures.changed,
            **{word: figures.invalid[word] for word in INVALID},
            "cut_off_unknown": figures.untold,
            **{f"reason_{word}": x for word, x in figures.reasons.most_common()},
            **{f"unextracted_{x}": figures.unextracted[x] for x in figures.reasons},
            **(dict.fromkeys(of_task) if name else of_task),
        }


def scores(figures: Figures, k: int | None) -> dict[str, float | None]:
    """Return the scores of a task with their intervals, the headline by its common names.

    With `k` there are pass@k and the majority, too.
    """
    headline, values = scorer(figures.task).headline or (), figures.values()
    clusters = [document.cluster for document in figures.documents]
    # Where nothing counts, a row has None for these.
    cells: dict[str, float | None] = dict.fromkeys((*RULES, "extracted"))
    for metric, of_metric in values.items():
        name = dict(zip(headline, RULES)).get(metric, metric)
        # The harness's to the last bit: it, too, divides what `sum` gives.
        cells[name] = sum(of_metric) / len(of_metric)
        scale, having = 100 if metric == "smape" else 1, clusters
        if len(of_metric) < figures.n:
            cells[f"{name} n"] = len(of_metric)
            having = [x.cluster for x in figures.documents if metric in x.means()]
        estimate = estimate_score([score / scale for score in of_metric], having)
        cells |= _ends(name, estimate.low * scale, estimate.high * scale)
    if headline:
        cells |= intervals([[values[x]] for x in headline], True, clusters)
    if k and headline:
        readings = [document.readings for document in figures.documents]
        for name, of_name in together(readings, k).items():
            estimate = estimate_score(of_name, clusters)
            cells |= {name: estimate.value, **_ends(name, estimate.low, estimate.high)}
    return cells | _errors(figures)


def _ends(name: str, low: float, high: float) -> dict[str, float]:
    return {f"{name}_low": low, f"{name}_high": high}


def intervals(
    parts: list[list[list[float]]], by_size: bool, clusters: list[str]
) -> dict[str, float]:
    """Return how sure the published and the flexible score are, and the format cost.

    Takes the scores by rule and task. The format cost is the flexible score minus the
    published one.
    """
    cells, values = {}, [linearised(of_rule, by_size) for of_rule in parts]
    for rule, of_rule in zip(RULES, values):
        estimate = estimate_score(of_rule, clusters)
        cells |= _ends(rule, estimate.low, estimate.high)
        for name in ("error", "freedom", "design_effect"):
            cells[f"{rule}_{name}"] = getattr(estimate, name)
    cost = estimate_difference(*values, clusters)
    cells |= {"format_cost": cost.value, **_ends("format_cost", cost.low, cost.high)}
    return cells | {"clusters": cost.clusters}


def _errors(figures: Figures) -> dict[str, float]:
    """Return the median signed error of values in time, and the share that was read.

    {} where no answer has one. Several answers to a document count as their mean.
    """
    documents = [x for x in figures.documents if x.errors]
    if not documents:
        return {}
    values = [fmean(document.errors) for document in documents]
    median, *ends = estimate_median(values, [x.cluster for x in documents])
    read = sum(len(document.errors) for document in documents) / figures.answers
    name = f"median_error_{documents[0].unit}"
    return {name: median, **_ends(name, *ends), "error_read": read}


def _means(run: str, tasks: list[dict], tallies: Tallies) -> Iterator[dict]:
    """Yield a row for each benchmark of which there are several tasks."""
    filters = dict.fromkeys(row["filter"] for row in tasks)
    for group, name in product(_benchmarks(), filters):
        parts = [x for x in tasks if x["task"] in group.tasks and x["filter"] == name]
        if len(parts := [x for x in parts if x["n"]]) < 2:
            continue
        sizes = [part["n"] if group.by_size else 1 for part in parts]
        number = f"{len(parts)} of {len(group.tasks)}"
        cells = {"run": run, "task": group.name, "filter": name, "tasks": number}
        cells |= dict.fromkeys(("by", "value", *_MEANS))
        for mean in _MEANS:
            values = [part[mean] for part in parts]
            if None not in values:
                total = math.fsum(map(math.prod, zip(values, sizes)))
                cells[mean] = total / sum(sizes)
        if cells["published"] is not None:
            figures = [tallies[x["task"], name].all for x in parts]
            by_task = (
                [x.values()[y] for y in scorer(x.task).headline] for x in figures
            )
            clusters = [x.cluster for of_task in figures for x in of_task.documents]
            cells |= intervals([*map(list, zip(*by_task))], group.by_size, clusters)
        yield cells | {x: sum(part[x] for part in parts) for x in _SUMS}
