"""The figures of `score` and `compare` again, by scipy and statsmodels, from tables alone.

Nothing of the pack is used but the names and weights of tasks in benchmarks.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
from scipy.stats import norm, t

from utils.core.task_scorers import configuration, groups, scorer


RULES, LEVEL = ("published", "flexible"), 0.05


class Document:
    """The rows of a document, and the means of its scores."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows, self.cluster = rows, rows[0]["cluster"]
        scores = defaultdict(list)
        for metric, score in (cell for row in rows for cell in row["scores"].items()):
            if score is not None:
                scores[metric].append(score)
        self.scores = {metric: np.mean(values) for metric, values in scores.items()}


def read_run(folders: list[Path]) -> dict[str, list[Document]]:
    """Return task -> documents of the tables of a run, sorted by their keys."""
    rows, run = defaultdict(list), defaultdict(list)
    for path in sorted(x for folder in folders for x in folder.glob("verdicts_*")):
        for row in map(json.loads, path.read_text().splitlines()):
            rows[row["task"], row["digest"], str(row["doc_id"])].append(row)
    for (task, *_), rows_of_document in sorted(rows.items()):
        run[task].append(Document(rows_of_document))
    return run


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
    import statsmodels.api as sm  # here, since each process of the tests would carry it

    index = np.unique(clusters, return_inverse=True)[1]
    sizes = np.append(np.bincount(index), [added, added])
    sums = np.append(np.bincount(index, weights=values), np.multiply(ends, added))
    regression = sm.WLS(sums / sizes, np.ones(len(sizes)), weights=sizes)
    fitted = regression.fit(cov_type="HC2")
    weight, squares = sizes.sum() / len(values), (sizes * fitted.resid) ** 2
    return fitted.params[0], fitted.bse[0], tuple(sizes), weight, squares


def score_interval(values, clusters) -> dict[str, float]:
    """Return the figures of a score, and its effective number of documents."""
    from statsmodels.stats.proportion import proportion_confint

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
    cells |= {"freedom": freedom, "design_effect": (error / naive) ** 2}
    return cells | {"effective": effective}


def difference(values, clusters) -> dict[str, float]:
    """Return the figures of a paired difference, and its error without additions."""
    mean, error, sizes, weight, _ = weighted_mean(values, clusters, (-1, 1), 1)
    freedom = bell_mccaffrey(sizes)
    low, high = np.clip(t.interval(1 - LEVEL, freedom, mean, error), -1, 1)
    naive = weighted_mean(values, [*range(len(values))], (-1, 1), 1)[1]
    p_value = 2 * t.sf(abs(mean) / error, freedom)
    cells = {"difference": np.mean(values), "low": low, "high": high, "error": error}
    cells |= {"freedom": freedom, "design_effect": (error / naive) ** 2, "p": p_value}
    return cells | {"whole_error": error * weight}


def scores_of(tasks: list[list[Document]], place: int, by_size: bool) -> np.ndarray:
    """Return values with mean and spread of the mean over tasks by a rule, 0 or 1."""
    parts = []
    for documents in tasks:
        metric = scorer(documents[0].rows[0]["task"]).headline[RULES[place]]
        parts.append(np.array([document.scores[metric] for document in documents]))
    n = sum(map(len, parts))
    weights = [len(x) / n if by_size else 1 / len(parts) for x in parts]
    mean = np.average([x.mean() for x in parts], weights=weights)
    own = [w * n / len(x) * (x - x.mean()) for w, x in zip(weights, parts)]
    return mean + np.concatenate(own)


def score_cells(tasks: list[list[Document]], by_size: bool) -> dict:
    """Return what a row of `score` says of both rules."""
    clusters = [document.cluster for documents in tasks for document in documents]
    cells, both = {"clusters": len({*clusters})}, []
    for place, rule in enumerate(RULES):
        both.append(scores_of(tasks, place, by_size))
        interval = score_interval(both[-1], clusters)
        del interval["effective"]
        cells |= {rule: both[-1].mean()}
        cells |= {f"{rule}_{name}": interval[name] for name in interval}
    cost = difference(both[1] - both[0], clusters)
    cells |= {f"format_cost_{end}": cost[end] for end in ("low", "high")}
    return cells | {"format_cost": cost["difference"]}


def errors(documents: list[Document]) -> dict[str, float]:
    """Return the median signed error, its interval and the share that was read.

    Values are numbers, or times: hours apart where they have a clock, else days.
    """
    values, clusters, read = [], [], 0
    for document in documents:
        errors_read = []
        for row in (row for row in document.rows if row["value"]):
            value, reference = (json.loads(row[x]) for x in ("value", "reference"))
            if isinstance(value, str):
                value, reference = map(datetime.fromisoformat, (value, reference))
                errors_read.append((value - reference).total_seconds())
            else:
                errors_read.append(value - reference)
        if errors_read:
            values.append(np.mean(errors_read))
            clusters.append(document.cluster)
        read += len(errors_read)
    if not values:
        return {}
    first_row = documents[0].rows[0]
    unit, seconds = first_row["error_unit"], 1
    if '"' in first_row["reference"]:
        is_hours = ":" in first_row["reference"]
        unit, seconds = ("hours", 3600) if is_hours else ("days", 86400)
    median, n = np.median(values), len(values)
    sides = score_interval([(np.sign(median - x) + 1) / 2 for x in values], clusters)
    reach = t.ppf(1 - LEVEL / 2, sides["freedom"]) * sides["design_effect"] ** 0.5
    reach /= 2 * n**0.5
    places = np.ceil(n * np.clip([0.5 - reach, 0.5 + reach], 0, 1) - 1e-9)
    low, high = np.sort(values)[np.maximum(places.astype(int) - 1, 0)]
    figures = zip(("", "_low", "_high"), (median, low, high))
    cells = {f"median_error_{unit}{end}": figure / seconds for end, figure in figures}
    return cells | {"error_read": read / sum(len(x.rows) for x in documents)}


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
        if scored := [x for x in documents if metric in x.scores]:
            values = [x.scores[metric] for x in scored]
            name = dict(zip(headline.values(), RULES)).get(metric, metric)
            scale = 100 if metric == "smape" else 1
            cells |= with_ends(name, values, [x.cluster for x in scored], scale)
    if headline:
        cells |= score_cells([documents], True)
        clusters = [document.cluster for document in documents]
        for rule, metric in headline.items() if k else ():
            values = []
            for document in documents:
                scores = sorted(row["scores"][metric] for row in document.rows)
                best = sum(comb(x, k - 1) * score for x, score in enumerate(scores))
                values.append(best / comb(len(scores), k))
            cells |= with_ends(f"pass@{k}_{rule}", values, clusters)
    if any(x.startswith("within_") for x in documents[0].scores):
        cells |= errors(documents)
    return cells


def expected_row(row: dict, run: dict[str, list[Document]], k: int | None) -> dict:
    """Return the cells of a row of `score`."""
    if "tasks" in row:
        group = next(x for x in groups() if x.name == row["task"])
        return score_cells([run[x] for x in group.tasks if x in run], group.by_size)
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
    smoothed = [(scores.sum() + 1) / (n + 2) for scores in (a, b)]
    before, middle = sum(x * (1 - x) for x in smoothed), (a.mean() + b.mean()) / 2
    for step in np.arange(1, 1001) / 1000:
        upper = min(max(middle + step / 2, step), 1)
        lower = upper - step
        after = lower * (1 - lower) + upper * (1 - upper)
        is_end = lower <= 0 or upper >= 1
        differing = effective if is_end else (n * effective) ** 0.5
        least = (step * (1 - step) + 1 / n) / differing
        variance = max(paired["whole_error"] ** 2 * after / before, least)
        if step >= factor * variance**0.5:
            return step
    return None


def expected_comparisons(rows: list[dict], runs: list[dict]) -> Iterator[dict]:
    """Yield the cells of the rows of `compare` of two runs, all of one family."""
    from statsmodels.stats.multitest import multipletests

    titles = {configuration(x.name)["metadata"].get("title"): x for x in groups()}
    expected = []
    for row in rows:
        group = titles.get(row["scope"].partition(" (")[0].rpartition(" tasks of ")[2])
        names = [x for x in group.tasks if x in runs[0]] if group else [row["scope"]]
        place, by_size = RULES.index(row["score"]), group is None or group.by_size
        tasks = [[run[name] for name in names] for run in runs]
        a, b = (scores_of(documents, place, by_size) for documents in tasks)
        clusters = [document.cluster for task in tasks[0] for document in task]
        cells = difference(a - b, clusters)
        cells["detectable"] = detectable(a, b, clusters, cells, len(rows))
        del cells["whole_error"]
        cells |= {"a": a.mean(), "b": b.mean(), "clusters": len({*clusters})}
        expected.append(cells)
    adjusted = multipletests([cells["p"] for cells in expected], method="holm")[1]
    yield from (cells | {"p_holm": p} for cells, p in zip(expected, adjusted))


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


def recompute(runs: list[dict], scores: list[dict], *comparisons, k=None) -> int:
    """Return how many figures agree, of what `score` prints, and each call of `compare`."""
    names = [*dict.fromkeys(row["run"] for row in scores)]
    expected = [expected_row(row, runs[names.index(row["run"])], k) for row in scores]
    figures = check(scores, expected)
    for rows in comparisons:
        figures += check(rows, [*expected_comparisons(rows, runs)])
    return figures
