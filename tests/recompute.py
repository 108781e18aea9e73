"""The figures of `score` and `compare` again, by scipy and statsmodels, from tables alone.

    python -m tests.recompute SCORE.json COMPARE.json TABLES TABLES

The first two are what `score` and `compare --detail` print of two runs with
`--format json`; TABLES are what `score --output` writes of each. Nothing of the pack is
used but the names and weights of tasks in benchmarks.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import statsmodels.api as sm
from scipy.stats import norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from utils.core.families import configuration, groups, scorer


RULES, LEVEL = ("published", "flexible"), 0.05


class Document:
    """The rows of a document, and the means of its scores."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows, self.cluster = rows, rows[0]["cluster"]
        self.key = rows[0]["task"], rows[0]["digest"], str(rows[0]["doc_id"])
        scores = defaultdict(list)
        for row in rows:
            for name, score in row["scores"].items():
                if score is not None:
                    scores[name].append(score)
        self.scores = {name: np.mean(values) for name, values in scores.items()}


def read_run(folders: list[Path]) -> dict[str, list[Document]]:
    """Return task -> documents of the tables of a run."""
    rows = defaultdict(lambda: defaultdict(list))
    for path in sorted(
        path for folder in folders for path in folder.glob("verdicts_*")
    ):
        for row in map(json.loads, path.read_text().splitlines()):
            rows[row["task"]][row["digest"], str(row["doc_id"])].append(row)
    return {x: [*map(Document, documents.values())] for x, documents in rows.items()}


@cache
def bell_mccaffrey(sizes: tuple[float, ...]) -> float:
    """Return the degrees of freedom of the CR2 error of a mean by clusters."""
    root = np.sqrt(sizes)
    annihilator = np.eye(len(sizes)) - np.outer(root, root) / sum(sizes)
    vectors = annihilator * (root / np.sqrt(np.diag(annihilator)))
    products = vectors.T @ vectors
    return max(1, np.trace(products) ** 2 / (products**2).sum())


def weighted_mean(values, clusters, ends, added) -> tuple:
    """Return mean, CR2 error, sizes and weight of clusters, and their squares.

    A mean by clusters is a regression on a constant, weighted by size; there, CR2 is HC2.
    """
    names = sorted({*clusters})
    index = np.searchsorted(names, clusters)
    sizes = np.append(np.bincount(index), [added, added])
    sums = np.append(np.bincount(index, weights=values), np.multiply(ends, added))
    fitted = sm.WLS(sums / sizes, np.ones(len(sizes)), weights=sizes).fit(
        cov_type="HC2"
    )
    weight, squares = sizes.sum() / len(values), (sizes * fitted.resid) ** 2
    return fitted.params[0], fitted.bse[0], tuple(sizes), weight, squares


def score_interval(values, clusters) -> dict[str, float]:
    """Return the figures of a score."""
    n, number = len(values), len({*clusters})
    added = max(n / number / 2, 1)
    mean, error, sizes, weight, squares = weighted_mean(values, clusters, (0, 1), added)
    alike = 3 * squares.sum() ** 2 / (squares**2).sum()
    freedom = min(bell_mccaffrey(sizes), max(10, alike - 1))
    effective = mean * (1 - mean) / error**2 / weight
    alpha = 2 * norm.sf(t.ppf(1 - LEVEL / 2, freedom))
    count = np.clip(np.mean(values), 0, 1) * effective
    low, high = proportion_confint(count, effective, alpha, method="wilson")
    naive = weighted_mean(values, [*range(n)], (0, 1), 1)[1]
    cells = {"low": max(low, 0), "high": min(high, 1), "error": error}
    cells |= {"freedom": freedom, "design_effect": error / naive}
    return cells | {"effective": effective}


def difference(values, clusters) -> dict[str, float]:
    """Return the figures of a paired difference."""
    mean, error, sizes, weight, _ = weighted_mean(values, clusters, (-1, 1), 1)
    freedom = bell_mccaffrey(sizes)
    low, high = np.clip(t.interval(1 - LEVEL, freedom, mean, error), -1, 1)
    naive = weighted_mean(values, [*range(len(values))], (-1, 1), 1)[1]
    p_value = 2 * t.sf(abs(mean) / error, freedom)
    cells = {"difference": np.mean(values), "low": low, "high": high, "error": error}
    cells |= {"freedom": freedom, "design_effect": error / naive, "p": p_value}
    return cells | {"whole_error": error * weight}


def influence(parts: list[list[float]], by_size: bool) -> np.ndarray:
    """Return values whose mean and spread are those of the mean over tasks."""
    n = sum(map(len, parts))
    weights = [len(x) / n if by_size else 1 / len(parts) for x in parts]
    mean = np.average([np.mean(x) for x in parts], weights=weights)
    own = [w * n / len(x) * (np.array(x) - np.mean(x)) for w, x in zip(weights, parts)]
    return mean + np.concatenate(own)


def pass_at(k: int, scores: list[float]) -> float:
    n, ordered = len(scores), sorted(scores)
    return sum(comb(x, k - 1) * ordered[x] for x in range(n)) / comb(n, k)


def score_cells(tasks: list[list[Document]], names: list[tuple], by_size: bool) -> dict:
    """Return what a row of `score` says of both rules; `names` are the metrics by task."""
    clusters = [x.cluster for documents in tasks for x in documents]
    cells, both = {"clusters": len({*clusters})}, []
    for place, rule in enumerate(RULES):
        parts = [[x.scores[y[place]] for x in z] for z, y in zip(tasks, names)]
        both.append(influence(parts, by_size))
        cells[rule] = both[-1].mean()
        of_rule = score_interval(both[-1], clusters)
        cells |= {f"{rule}_{x}": y for x, y in of_rule.items() if x != "effective"}
    cost = difference(both[1] - both[0], clusters)
    cells |= {f"format_cost_{end}": cost[end] for end in ("low", "high")}
    return cells | {"format_cost": cost["difference"]}


def errors(documents: list[Document]) -> dict[str, float]:
    """Return the median signed error in time, its interval and the share that was read."""
    values, clusters, read, unit = [], [], 0, "days"
    for document in documents:
        late = []
        for row in document.rows:
            if row["value"]:
                pair = (json.loads(row[x]) for x in ("value", "reference"))
                a, b = map(datetime.fromisoformat, pair)
                unit = "hours" if ":" in row["reference"] else "days"
                late.append(
                    (a - b).total_seconds() / (3600 if unit == "hours" else 86400)
                )
        read += len(late)
        if late:
            values.append(np.mean(late))
            clusters.append(document.cluster)
    if not values:
        return {}
    median = np.median(values)
    sides = [(np.sign(median - value) + 1) / 2 for value in values]
    of_sides = score_interval(sides, clusters)
    reach = t.ppf(1 - LEVEL / 2, of_sides["freedom"]) * of_sides["design_effect"]
    reach /= 2 * len(values) ** 0.5
    ordered, n = sorted(values), len(values)
    places = [np.ceil(n * np.clip(x, 0, 1) - 1e-9) for x in (0.5 - reach, 0.5 + reach)]
    low, high = (ordered[max(int(place) - 1, 0)] for place in places)
    answers = sum(len(document.rows) for document in documents)
    cells = {f"median_error_{unit}": median, "error_read": read / answers}
    return cells | {f"median_error_{unit}_low": low, f"median_error_{unit}_high": high}


def with_ends(name: str, values, clusters, scale=1) -> dict[str, float]:
    """Return the mean of scores by a name, and the ends of its interval."""
    interval = score_interval(np.array(values) / scale, clusters)
    cells = {f"{name}_{end}": interval[end] * scale for end in ("low", "high")}
    return cells | {name: np.mean(values)}


def task_cells(documents: list[Document], task: str, k: int | None) -> dict:
    """Return the cells of a row of `score` for a task or a part of it."""
    headline = scorer(task).headline
    cells = {"n": len(documents), "answers": sum(len(x.rows) for x in documents)}
    for metric in documents[0].rows[0]["scores"]:
        if of := [x for x in documents if metric in x.scores]:
            values = [x.scores[metric] for x in of]
            name = dict(zip(headline or (), RULES)).get(metric, metric)
            scale = 100 if metric == "smape" else 1
            cells |= with_ends(name, values, [x.cluster for x in of], scale)
    if headline:
        cells |= score_cells([documents], [headline], True)
        clusters = [document.cluster for document in documents]
        for rule, metric in zip(RULES, headline) if k else ():
            scores = [[row["scores"][metric] for row in x.rows] for x in documents]
            values = [pass_at(k, of_document) for of_document in scores]
            cells |= with_ends(f"pass@{k}_{rule}", values, clusters)
    if any(x.startswith("within_") for x in documents[0].scores):
        cells |= errors(documents)
    return cells


def expected_row(row: dict, run: dict[str, list[Document]], k: int | None) -> dict:
    """Return the cells of a row of `score`."""
    if "tasks" in row:
        group = next(x for x in groups() if x.name == row["task"])
        tasks = [x for x in group.tasks if x in run]
        names = [scorer(x).headline for x in tasks]
        return score_cells([run[x] for x in tasks], names, group.by_size)
    documents = run[row["task"]]
    if row["by"]:
        documents = [x for x in documents if x.rows[0][row["by"]] == row["value"]]
    return task_cells(documents, row["task"], k)


def detectable(a, b, clusters, paired: dict, tests: int) -> float | None:
    """Return the detectable difference of two runs."""
    if paired["freedom"] < 30:
        return None
    n, freedom = len(a), paired["freedom"]
    factor = t.ppf(1 - LEVEL / 2 / tests, freedom) + t.ppf(0.8, freedom)
    effective = min(score_interval(x, clusters)["effective"] for x in (a, b))
    before = sum(x * (1 - x) for x in ((y.sum() + 1) / (n + 2) for y in (a, b)))
    middle = (a.mean() + b.mean()) / 2
    for step in np.arange(1, 1001) / 1000:
        lower, upper = middle - step / 2, middle + step / 2
        if lower < 0:
            lower, upper = 0, step
        elif upper > 1:
            lower, upper = 1 - step, 1
        after = sum(x * (1 - x) for x in (lower, upper))
        is_end = lower <= 0 or upper >= 1
        differing = effective if is_end else (n * effective) ** 0.5
        least = (step * (1 - step) + 1 / n) / differing
        if (
            step
            >= factor * max(paired["whole_error"] ** 2 * after / before, least) ** 0.5
        ):
            return step
    return None


def expected_comparisons(rows: list[dict], runs: list[dict]) -> Iterator[dict]:
    """Yield the cells of the rows of `compare` of two runs, all of one family."""
    cells, titles = (
        [],
        {configuration(x.name)["metadata"].get("title"): x for x in groups()},
    )
    for row in rows:
        place = RULES.index(row["score"])
        group = titles.get(row["scope"].partition(" (")[0].rpartition(" tasks of ")[2])
        tasks = [x for x in group.tasks if x in runs[0]] if group else [row["scope"]]
        names = [scorer(task).headline[place] for task in tasks]
        documents = [
            [sorted(run[x], key=lambda y: y.key) for x in tasks] for run in runs
        ]
        a, b = (
            influence(
                [[x.scores[name] for x in of] for name, of in zip(names, of_run)],
                group is None or group.by_size,
            )
            for of_run in documents
        )
        clusters = [
            document.cluster for of_task in documents[0] for document in of_task
        ]
        paired = difference(a - b, clusters)
        paired["detectable"] = detectable(a, b, clusters, paired, len(rows))
        paired.pop("whole_error")
        cells.append(
            paired | {"a": a.mean(), "b": b.mean(), "clusters": len({*clusters})}
        )
    adjusted = multipletests([x["p"] for x in cells], method="holm")[1]
    yield from (x | {"p_holm": p} for x, p in zip(cells, adjusted))


def check(printed: list[dict], expected: list[dict]) -> int:
    """Return how many figures agree to 1e-7; AssertionError for one that does not."""
    figures = 0
    for row, cells in zip(printed, expected, strict=True):
        for name, value in cells.items():
            is_equal = row[name] == value
            if None not in (row[name], value):
                is_equal = abs(row[name] - value) <= 1e-7 * max(1, abs(value))
            assert is_equal, (row.get("task", row.get("scope")), name, row[name], value)
            figures += 1
    return figures


def recompute(
    runs: list[dict], scores: list[dict], comparisons: list[dict], k=None
) -> int:
    """Return how many figures of both tools agree with those of the tables."""
    names = [*dict.fromkeys(row["run"] for row in scores)]
    of_rows = [expected_row(row, runs[names.index(row["run"])], k) for row in scores]
    figures = check(scores, of_rows)
    while comparisons:  # sentences and tables are families of tests of their own
        size = comparisons[0]["tests"]
        rows, comparisons = comparisons[:size], comparisons[size:]
        figures += check(rows, [*expected_comparisons(rows, runs)])
    return figures


if __name__ == "__main__":
    printed = [json.loads(Path(path).read_text()) for path in sys.argv[1:3]]
    runs = [read_run([*Path(folder).iterdir()]) for folder in sys.argv[3:]]
    print(recompute(runs, *printed), "figures agree to 1e-7")
