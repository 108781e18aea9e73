"""Rows of figures: of benchmarks, tasks and parts of them; for CSV, JSON and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import chain, product
from statistics import fmean

from ..core.families import Group, configuration, groups, scorer
from ..core.tables import natural
from ..stats import estimate_difference, estimate_median, estimate_score, linearised
from ..verdicts.figures import Figures, Tally, together
from ..verdicts.judge import INVALID


Tallies = dict[tuple[str, str | None], Tally]  # by task, and by filter of the harness
# What a benchmark has the mean of, and what it has the sum of.
RULES = ("published", "flexible")
_MEANS = (*RULES, "extracted", "constant")
_SUMS = ("n", "answers", "changed", *INVALID, "cut_off_unknown")


@cache
def _benchmarks() -> list[Group]:
    metadata = {group: configuration(group.name)["metadata"] for group in groups()}
    return [group for group in metadata if "title" in metadata[group]]


def _place(task: str) -> tuple:
    """Return by what tasks are sorted: as in their benchmarks, then others by name."""
    names = [task for group in _benchmarks() for task in group.tasks]
    return names.index(task) if task in names else len(names), natural(task)


def rows(run: str, tallies: Tallies, k: int | None) -> list[dict]:
    """Return the rows of a run: benchmarks, tasks, and then each part of the tasks."""
    tasks, parts = [], []
    for key in sorted(tallies, key=lambda key: (_place(key[0]), key[1] or "")):
        run_cells = {"run": run, "task": key[0], "filter": key[1]}
        task_row, *part_rows = _rows(run_cells, tallies[key], k)
        tasks.append(task_row)
        parts += part_rows
    return [*_means(run, tasks, tallies), *tasks, *parts]


def _rows(place: dict, tally: Tally, k: int | None) -> Iterator[dict]:
    """Yield the row of a task and those of its parts."""
    keys = sorted(tally.parts, key=lambda key: (key[0], natural(key[1])))
    parts = [(key, tally.parts[key]) for key in keys]
    constant = dict(zip(("constant", "constant_answer"), tally.constant()))
    left_out = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    task_cells = {"left_out": left_out, "rows": tally.rows_are()}
    task_cells["fingerprint"] = tally.fingerprint
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
            **{f"reason_{word}": n for word, n in figures.reasons.most_common()},
            **{
                f"unextracted_{word}": figures.unextracted[word]
                for word in figures.reasons
            },
            **(dict.fromkeys(task_cells) if name else task_cells),
        }


def scores(figures: Figures, k: int | None) -> dict[str, float | None]:
    """Return the scores of a task with their intervals, the headline by its common names.

    With `k` there are pass@k and the majority, too.
    """
    headline, values = scorer(figures.task).headline or (), figures.values()
    clusters = [document.cluster for document in figures.documents]
    # Where nothing counts, a row has None for these.
    cells: dict[str, float | None] = dict.fromkeys((*RULES, "extracted"))
    for metric, metric_scores in values.items():
        name = dict(zip(headline, RULES)).get(metric, metric)
        # The harness's to the last bit: it, too, divides what `sum` gives.
        cells[name] = sum(metric_scores) / len(metric_scores)
        scale, metric_clusters = 100 if metric == "smape" else 1, clusters
        if len(metric_scores) < figures.n:
            cells[f"{name} n"] = len(metric_scores)
            docs = (doc for doc in figures.documents if metric in doc.means())
            metric_clusters = [doc.cluster for doc in docs]
        shares = [score / scale for score in metric_scores]
        estimate = estimate_score(shares, metric_clusters)
        cells |= _ends(name, estimate.low * scale, estimate.high * scale)
    if headline:
        cells |= intervals([[values[metric]] for metric in headline], True, clusters)
    if k and headline:
        readings = [document.readings for document in figures.documents]
        for name, document_scores in together(readings, k).items():
            estimate = estimate_score(document_scores, clusters)
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
    linear_scores = [linearised(rule_scores, by_size) for rule_scores in parts]
    cells: dict[str, float] = {}
    for rule, rule_scores in zip(RULES, linear_scores):
        estimate = estimate_score(rule_scores, clusters)
        cells |= _ends(rule, estimate.low, estimate.high)
        for name in ("error", "freedom", "design_effect"):
            cells[f"{rule}_{name}"] = getattr(estimate, name)
    cost = estimate_difference(*linear_scores, clusters)
    cells |= {"format_cost": cost.value, **_ends("format_cost", cost.low, cost.high)}
    return cells | {"clusters": cost.clusters}


def _errors(figures: Figures) -> dict[str, float]:
    """Return the median signed error of values in time, and the share that was read.

    {} where no answer has one. Several answers to a document count as their mean.
    """
    documents = [document for document in figures.documents if document.errors]
    if not documents:
        return {}
    mean_errors = [fmean(document.errors) for document in documents]
    clusters = [document.cluster for document in documents]
    median, *ends = estimate_median(mean_errors, clusters)
    share_read = sum(len(document.errors) for document in documents) / figures.answers
    name = f"median_error_{documents[0].unit}"
    return {name: median, **_ends(name, *ends), "error_read": share_read}


def _headline_values(figures: Figures) -> list[list[float]]:
    values = figures.values()
    return [values[metric] for metric in scorer(figures.task).headline]


def _means(run: str, tasks: list[dict], tallies: Tallies) -> Iterator[dict]:
    """Yield a row for each benchmark of which there are several tasks."""
    filters = dict.fromkeys(row["filter"] for row in tasks)
    for group, name in product(_benchmarks(), filters):
        rows = [row for row in tasks if row["filter"] == name and row["n"]]
        if len(rows := [row for row in rows if row["task"] in group.tasks]) < 2:
            continue
        sizes = [row["n"] if group.by_size else 1 for row in rows]
        tasks_present = f"{len(rows)} of {len(group.tasks)}"
        cells = {"run": run, "task": group.name, "filter": name, "tasks": tasks_present}
        cells |= dict.fromkeys(("by", "value", *_MEANS))
        for mean in _MEANS:
            means = [row[mean] for row in rows]
            if None not in means:
                total = math.fsum(map(math.prod, zip(means, sizes)))
                cells[mean] = total / sum(sizes)
        if cells["published"] is not None:
            figures = [tallies[row["task"], name].all for row in rows]
            scores_by_task = map(_headline_values, figures)
            documents = chain.from_iterable(part.documents for part in figures)
            clusters = [document.cluster for document in documents]
            scores_by_rule = [*map(list, zip(*scores_by_task))]
            cells |= intervals(scores_by_rule, group.by_size, clusters)
        yield cells | {name: sum(row[name] for row in rows) for name in _SUMS}
