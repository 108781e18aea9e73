"""Rows of figures: of benchmarks, tasks and parts of them; for CSV, JSON and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from ..core.errors import ToolError
from ..core.families import Group, benchmarks, scorer
from ..core.tables import natural, percent
from ..stats import estimate_difference, estimate_median, estimate_score, linearised
from ..verdicts.figures import Figures, Tally, together
from ..verdicts.judge import INVALID


RULES = ("published", "flexible")
# Columns of which a benchmark has the mean, and counts of answers.
_MEANS = (*RULES, "extracted", "constant")
_COUNTS = ("changed", *INVALID, "cut_off_unknown")


def rows(
    run: str,
    tallies: dict[str, Tally],
    filter_name: str | None = None,
    k: int | None = None,
) -> list[dict]:
    """Return the rows of a run: benchmarks, tasks, and then each part of the tasks.

    `tallies` are by task. With `k` there are pass@k and the majority, too.
    """
    benchmark_rows, task_rows, part_rows = [], [], []
    for benchmark in benchmarks(sorted(tallies, key=natural)):
        benchmark_labels = {"run": run, "task": benchmark.name, "filter": filter_name}
        scored_rows = []
        for task in (task for task in benchmark.tasks if task in tallies):
            task_labels = benchmark_labels | {"task": task}
            task_row, *rows_of_parts = _task_rows(task_labels, tallies[task], k)
            task_rows.append(task_row)
            part_rows += rows_of_parts
            if task_row["n"]:
                scored_rows.append(task_row)
        if len(scored_rows) > 1:
            benchmark_columns = _benchmark_columns(benchmark, scored_rows, tallies)
            benchmark_rows.append(benchmark_labels | benchmark_columns)
    return benchmark_rows + task_rows + part_rows


def _task_rows(labels: dict, tally: Tally, k: int | None) -> Iterator[dict]:
    """Yield the row of a task and those of its parts."""
    if k and k > (fewest_and_name := tally.fewest())[0]:
        fault = f"{fewest_and_name[1]} has only {fewest_and_name[0]} answers in {labels['run']}"
        raise ToolError(f"--k {k}: {fault}; give at most --k {fewest_and_name[0]}")
    constant_columns = dict(zip(("constant", "constant_answer"), tally.constant()))
    left_out_text = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    task_columns = {"left_out": left_out_text, "rows": tally.describe_rows()}
    task_columns["fingerprint"] = tally.fingerprint
    part_keys = sorted(tally.parts, key=lambda key: (key[0], natural(key[1])))
    for part_key in ((None, None), *part_keys):
        figures = tally.parts.get(part_key, tally.all)
        row = labels | dict(zip(("by", "value"), part_key))
        row |= {"n": figures.n, "answers": figures.answers}
        row |= _scores(figures, k) | constant_columns
        row |= {count_name: figures.counts[count_name] for count_name in _COUNTS}
        for reason, count_of_reason in figures.reasons.most_common():
            row[f"reason_{reason}"] = count_of_reason
        for reason in figures.reasons:
            row[f"unextracted_{reason}"] = figures.unextracted[reason]
        yield row | task_columns
        # Its parts have none of what is of the whole task.
        constant_columns = dict.fromkeys(constant_columns)
        task_columns = dict.fromkeys(task_columns)


def _scores(figures: Figures, k: int | None) -> dict[str, float | None]:
    """Return the scores of a task with their intervals, the headline by its common names."""
    headline_metrics = scorer(figures.task).headline or ()
    scores_by_metric = figures.values()
    clusters = [document.cluster for document in figures.documents]
    # Where nothing counts, a row has None for these.
    cell_by_column: dict[str, float | None] = dict.fromkeys((*RULES, "extracted"))
    for metric, scores in scores_by_metric.items():
        column = dict(zip(headline_metrics, RULES)).get(metric, metric)
        # The harness's to the last bit: it, too, divides what `sum` gives.
        cell_by_column[column] = sum(scores) / len(scores)
        scale, metric_clusters = 100 if metric == "smape" else 1, clusters
        if len(scores) < figures.n:
            cell_by_column[f"{column} n"] = len(scores)
            scored_documents = (
                doc for doc in figures.documents if metric in doc.means()
            )
            metric_clusters = [document.cluster for document in scored_documents]
        estimate = estimate_score([score / scale for score in scores], metric_clusters)
        interval_ends = estimate.low * scale, estimate.high * scale
        cell_by_column |= _with_ends(column, (cell_by_column[column], *interval_ends))
    if headline_metrics and scores_by_metric:
        cell_by_column |= _intervals([figures], by_size=True)
    if headline_metrics and k:
        for column, scores in together(figures.documents, k).items():
            cell_by_column |= _with_ends(column, estimate_score(scores, clusters))
    return cell_by_column | _errors(figures)


def _with_ends(name: str, figure: Sequence[float]) -> dict[str, float]:
    """Return a figure, which begins with its value and the ends of its interval."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), figure))


def _intervals(tasks: list[Figures], by_size: bool) -> dict[str, float]:
    """Return how sure the mean scores of tasks are, and the format cost with its interval.

    The format cost is the flexible score minus the published one.
    """
    clusters = [document.cluster for figures in tasks for document in figures.documents]
    cell_by_column, scores_by_rule = {}, []
    for rule_number, rule in enumerate(RULES):
        scores_by_task = []
        for figures in tasks:
            metric = scorer(figures.task).headline[rule_number]
            documents = figures.documents
            scores_by_task.append([document.means()[metric] for document in documents])
        scores_by_rule.append(linearised(scores_by_task, by_size))
        score_estimate = estimate_score(scores_by_rule[-1], clusters)
        for estimate_field in ("low", "high", "error", "freedom", "design_effect"):
            cell_by_column[f"{rule}_{estimate_field}"] = getattr(
                score_estimate, estimate_field
            )
    cost_estimate = estimate_difference(*scores_by_rule, clusters)
    return (
        cell_by_column
        | _with_ends("format_cost", cost_estimate)
        | {"clusters": cost_estimate.clusters}
    )


def _errors(figures: Figures) -> dict[str, float]:
    """Return the median signed error of values in time, and the share that was read.

    {} where no answer has one. Several answers to a document count as their mean.
    """
    timed_documents = [document for document in figures.documents if document.errors]
    if not timed_documents:
        return {}
    mean_errors = [fmean(document.errors) for document in timed_documents]
    clusters = [document.cluster for document in timed_documents]
    median_with_ends = estimate_median(mean_errors, clusters)
    read_count = sum(len(document.errors) for document in timed_documents)
    cell_by_column = _with_ends(
        f"median_error_{timed_documents[0].unit}", median_with_ends
    )
    return cell_by_column | {"error_read": read_count / figures.answers}


def _benchmark_columns(
    benchmark: Group, task_rows: list[dict], tallies: dict[str, Tally]
) -> dict:
    """Return the means and sums of a benchmark's tasks."""
    weights = [row["n"] if benchmark.by_size else 1 for row in task_rows]
    cell_by_column = {"tasks": f"{len(task_rows)} of {len(benchmark.tasks)}"}
    cell_by_column |= dict.fromkeys(("by", "value", *_MEANS))
    for column in _MEANS:
        task_means = [row[column] for row in task_rows]
        if None not in task_means:
            weighted_sum = math.fsum(map(math.prod, zip(task_means, weights)))
            cell_by_column[column] = weighted_sum / sum(weights)
    if cell_by_column["published"] is not None:
        figures_by_task = [tallies[row["task"]].all for row in task_rows]
        cell_by_column |= _intervals(figures_by_task, benchmark.by_size)
    for column in ("n", "answers", *_COUNTS):
        cell_by_column[column] = sum(row[column] for row in task_rows)
    return cell_by_column


def with_interval(row: dict, name: str, form: Callable = percent) -> str | None:
    """Return a figure of a row with the ends of its interval, in words of `form`."""
    if row.get(name) is None:
        return None
    figure_texts = [form(row[f"{name}{suffix}"]) for suffix in ("", "_low", "_high")]
    return "{} [{}, {}]".format(*figure_texts)
