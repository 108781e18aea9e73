"""Rows of figures: of benchmarks, tasks and parts of them; for CSV, JSON and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean

from ..core.errors import ToolError
from ..core.family_contract import SHARE, Metric
from ..core.format_tables import natural, percent
from ..core.task_scorers import Group, benchmarks, scorer
from ..stats import (
    Estimate,
    estimate_difference,
    estimate_mean,
    estimate_median,
    estimate_score,
    estimate_whole_score,
    linearised,
)
from ..verdicts.judge_answer import INVALID
from ..verdicts.pass_at_k import together
from ..verdicts.tally import Document, Figures, Tally


RULES = ("published", "flexible")
# Columns of which a benchmark has the mean, and counts of answers.
_MEANS = (*RULES, "extracted", "constant")
_COUNTS = ("changed", *INVALID, "cut_off_unknown")
_ENDS = ("", "_low", "_high")  # of the columns of a figure and of its interval


def rows_of_run(
    run: str,
    tallies: dict[str, Tally],
    filter_name: str | None = None,
    k: int | None = None,
) -> list[dict]:
    """Return the rows of a run: benchmarks, tasks, and then each part of the tasks.

    `tallies` are by task. With `k` there are pass@k and the majority, too.
    """
    benchmark_rows, task_rows, part_rows = [], [], []
    for benchmark in benchmarks(sorted(tallies)):
        labels = {"run": run, "task": benchmark.name, "filter": filter_name}
        scored_rows = []
        for task in (task for task in benchmark.tasks if task in tallies):
            task_labels = labels | {"task": task}
            task_row, *rows_of_parts = _task_rows(task_labels, tallies[task], k)
            task_rows.append(task_row)
            part_rows += rows_of_parts
            if task_row["n"]:
                scored_rows.append(task_row)
        if len(scored_rows) > 1:
            benchmark_rows.append(labels | _means(benchmark, scored_rows, tallies))
    return benchmark_rows + task_rows + part_rows


def _task_rows(labels: dict, tally: Tally, k: int | None) -> Iterator[dict]:
    """Yield the row of a task and those of its parts."""
    if k and tally.all.n and k > tally.fewest()[0]:
        fewest_answers, document_name = tally.fewest()
        lack = f"{document_name} has only {fewest_answers} answers in {labels['run']}"
        raise ToolError(f"--k {k}: {lack}; give at most --k {fewest_answers}")
    best_constant = max(
        tally.constants, key=lambda answer: tally.constants[answer], default=None
    )
    best_constant_cells: dict = {"constant": None, "constant_answer": best_constant}
    if best_constant is not None:
        best_constant_cells["constant"] = tally.constants[best_constant] / tally.all.n
    left_out_text = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    whole_task_cells = {"left_out": left_out_text, "rows": tally.describe_rows()}
    whole_task_cells["fingerprint"] = tally.fingerprint
    part_keys = sorted(tally.parts, key=lambda key: (key[0], natural(key[1])))
    figures_of_parts = ((*part_key, tally.parts[part_key]) for part_key in part_keys)
    for breakdown, value, figures in ((None, None, tally.all), *figures_of_parts):
        yield {
            **labels,
            **{"by": breakdown, "value": value},
            **{"n": figures.n, "answers": figures.answers},
            **_scores(figures, k, tally),
            **best_constant_cells,
            **{column: figures.counts[column] for column in _COUNTS},
            **{f"reason_{reason}": n for reason, n in figures.reasons.most_common()},
            **{f"unextracted_{reason}": n for reason, n in figures.unextracted.items()},
            **whole_task_cells,
        }
        # Its parts have none of what is of the whole task.
        best_constant_cells = dict.fromkeys(best_constant_cells)
        whole_task_cells = dict.fromkeys(whole_task_cells)


def _scores(figures: Figures, k: int | None, tally: Tally) -> dict[str, float | None]:
    """Return column -> score, or end of its interval; the headline's columns are RULES.

    `figures` are of the documents of `tally`, or of a part of them.
    """
    headline, documents = scorer(figures.task).headline, figures.documents
    rule_by_metric = {metric: rule for rule, metric in headline.items()}
    # Where nothing counts, a row has None for these.
    figure_by_column: dict[str, float | None] = dict.fromkeys((*RULES, "extracted"))
    if headline and documents:
        figure_by_column |= _intervals(
            Group(figures.task, (figures.task,)),
            {figures.task: documents},
            {figures.task: tally},
        )
    for metric, scores in figures.values().items():
        column = rule_by_metric.get(metric, metric)
        # The harness's to the last bit: it, too, divides what `sum` gives.
        figure_by_column[column] = sum(scores) / len(scores)
        if len(scores) < figures.n:
            figure_by_column[f"{column} n"] = len(scores)
        if metric in rule_by_metric:
            continue  # their intervals are above
        clusters = [doc.cluster for doc in documents if metric in doc.means()]
        metric_entry = scorer(figures.task).metrics[metric]
        ends = _ends_of_mean(metric_entry, scores, clusters, tally.drawn_share)
        figure_by_column |= zip((f"{column}_low", f"{column}_high"), ends)
    if k and headline and documents:
        clusters = [document.cluster for document in documents]
        for column, scores in together(documents, k).items():
            estimate = _estimate(scores, clusters, tally.drawn_share)
            figure_by_column |= _ends(column, estimate)
    if timed_documents := [document for document in documents if document.errors]:
        mean_errors = [fmean(document.errors) for document in timed_documents]
        clusters = [document.cluster for document in timed_documents]
        column = f"median_error_{timed_documents[0].unit}"
        figure_by_column |= _ends(column, estimate_median(mean_errors, clusters))
        read_time_count = sum(len(document.errors) for document in timed_documents)
        figure_by_column["error_read"] = read_time_count / figures.answers
    return figure_by_column


def _ends_of_mean(
    metric: Metric, scores: list[float], clusters: list[str], drawn_share: float | None
) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a metric's mean, by its kind."""
    if metric.kind != SHARE:
        _, low, high = estimate_mean(scores, clusters)
        return low, high
    shares = [score / metric.top for score in scores]
    estimate = _estimate(shares, clusters, drawn_share)
    return estimate.low * metric.top, estimate.high * metric.top


def _ends(column: str, figure_and_ends: Iterable[float]) -> dict[str, float]:
    """Return column -> figure, with the columns of the ends of its interval."""
    return dict(zip((f"{column}{suffix}" for suffix in _ENDS), figure_and_ends))


def _estimate(
    scores: list[float], clusters: list[str], drawn_share: float | None
) -> Estimate:
    """Return the mean of scores with its interval; of drawn documents, that of the whole."""
    if drawn_share is None:
        return estimate_score(scores, clusters)
    return estimate_whole_score(scores, drawn_share)


def estimate_headline(
    benchmark: Group,
    documents_by_task: dict[str, list[Document]],
    rule: str,
    tallies: dict[str, Tally],
) -> Estimate:
    """Return a benchmark's score by one of RULES, with its interval."""
    scores, clusters = headline_scores(benchmark, documents_by_task, rule, tallies)
    drawn_share = _least_drawn_share(benchmark, documents_by_task, tallies)
    return _estimate(scores, clusters, drawn_share)


def _least_drawn_share(
    benchmark: Group,
    documents_by_task: dict[str, list[Document]],
    tallies: dict[str, Tally],
) -> float | None:
    """Return the least share that was drawn of a task; None where one is not drawn."""
    tasks = filter(documents_by_task.get, benchmark.tasks)
    drawn_shares = [tallies[task].drawn_share for task in tasks]
    known_shares = [share for share in drawn_shares if share is not None]
    all_are_drawn = len(known_shares) == len(drawn_shares)
    return min(known_shares) if all_are_drawn else None


def _intervals(
    benchmark: Group,
    documents_by_task: dict[str, list[Document]],
    tallies: dict[str, Tally],
) -> dict[str, float]:
    """Return intervals of the mean scores, and of flexible minus published (format cost)."""
    drawn_share = _least_drawn_share(benchmark, documents_by_task, tallies)
    figure_by_column, scores_by_rule = {}, {}
    for rule in RULES:
        scores, clusters = headline_scores(benchmark, documents_by_task, rule, tallies)
        scores_by_rule[rule] = scores
        estimate = _estimate(scores, clusters, drawn_share)
        for field in ("low", "high", "error", "freedom", "design_effect"):
            figure_by_column[f"{rule}_{field}"] = getattr(estimate, field)
    format_cost = estimate_difference(
        scores_by_rule["published"], scores_by_rule["flexible"], clusters
    )
    figure_by_column |= _ends("format_cost", format_cost)
    return figure_by_column | {"clusters": format_cost.clusters}


def headline_scores(
    benchmark: Group,
    documents_by_task: dict[str, list[Document]],
    rule: str,
    tallies: dict[str, Tally] | None = None,
) -> tuple[list[float], list[str]]:
    """Return `linearised` scores of a benchmark's documents by one of RULES, and clusters.

    Where `tallies` know that documents were drawn, a task counts as all its rows do.
    """
    scores_by_task, clusters, weights = [], [], []
    for task in filter(documents_by_task.get, benchmark.tasks):
        drawn = tallies[task].drawn if tallies else None
        whole_size = drawn.rows if drawn else len(documents_by_task[task])
        weights.append(whole_size if benchmark.by_size else 1)
        metric = scorer(task).headline[rule]
        scores_by_task.append([doc.means()[metric] for doc in documents_by_task[task]])
        clusters += [document.cluster for document in documents_by_task[task]]
    return linearised(scores_by_task, weights), clusters


def _means(benchmark: Group, task_rows: list[dict], tallies: dict[str, Tally]) -> dict:
    """Return the means and sums of a benchmark's tasks."""
    weights = [1] * len(task_rows)
    if benchmark.by_size:
        all_drawn = [tallies[row["task"]].drawn for row in task_rows]
        weights = [
            drawn.rows if drawn else row["n"]
            for drawn, row in zip(all_drawn, task_rows)
        ]
    cell_by_column: dict = {"tasks": f"{len(task_rows)} of {len(benchmark.tasks)}"}
    cell_by_column |= dict.fromkeys(("by", "value", *_MEANS))
    for column in _MEANS:
        task_means = [row[column] for row in task_rows]
        if None not in task_means:
            weighted_sum = math.fsum(map(math.prod, zip(task_means, weights)))
            cell_by_column[column] = weighted_sum / sum(weights)
    if cell_by_column["published"] is not None:
        documents_by_task = {task: tallies[task].all.documents for task in tallies}
        cell_by_column |= _intervals(benchmark, documents_by_task, tallies)
    for column in ("n", "answers", *_COUNTS):
        cell_by_column[column] = sum(row[column] for row in task_rows)
    return cell_by_column


def with_interval(
    row: dict, column: str, form: Callable = percent, end_form: Callable | None = None
) -> str | None:
    """Return a figure of a row with the ends of its interval, in words of `form`.

    `end_form` is of the ends, where it is another one.
    """
    if row.get(column) is None:
        return None
    if row[f"{column}_low"] is None:  # as of a mean of one cluster
        return form(row[column])
    low, high = map(end_form or form, (row[f"{column}_low"], row[f"{column}_high"]))
    return f"{form(row[column])} [{low}, {high}]"
