"""What a board says: one object, from which the page and the tables are made.

Keys of `board_data(...)`: `about`, `benchmarks`, `models` in the order of the board, those
`pictured`, `panels` of levels, `left_out`, `ends`, and `recall`, which are sentences. The
`figures` of a model are the rows of `score`, with ranks: of the `mean`, of benchmarks, of
tasks, and by TASK|BREAKDOWN|VALUE of their parts.
"""

from __future__ import annotations

from argparse import Namespace
from collections import ChainMap, Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain, combinations, product
from pathlib import Path
from statistics import fmean

from .. import stats
from ..core import task_scorers
from ..core.cli import quoted
from ..core.documents import documents
from ..core.errors import ToolError
from ..core.format_tables import natural
from ..core.task_scorers import Group, configuration, scorer, title_of
from ..figures.cite import citations
from ..figures.health import silent_ends
from ..figures.score_rows import (
    RULES,
    estimate_headline,
    headline_scores,
    rows_of_run,
)
from ..integrity.recall import recall, recall_sentence
from ..integrity.run_checks import FALSE, SEVERITY, pack_rows
from ..verdicts.find_answer_files import Failure
from ..verdicts.judge_answer import INVALID
from ..verdicts.read_answers import sha256
from ..verdicts.runs_by_model import Model, add_rows
from .model_status import (
    Entrant,
    add_remarks,
    describing,
    fullest,
    standing,
    standing_in,
)
from .pictures import level_panels, pairs, pictured, reason_bars, references


UNRANKED = dict.fromkeys([*(f"{rule}_rank" for rule in RULES), "rank_of", "rank_group"])
# Columns of `score` that tables of a board lack: `model` and `scope` say it.
OF_SCORE = ("run", "task", "filter")
MEAN = "mean"  # the scope of the mean over benchmarks


def board_data(
    entrants: list[Entrant], left_out: list[Failure], options: Namespace
) -> dict:
    """Return what the head of this module describes; put `entrants` into their order."""
    shown_tasks = set().union(*(entrant.tasks_to_show for entrant in entrants))
    if not shown_tasks:
        raise ToolError(
            "the runs have no scored document; name others, or no --leave_out"
        )
    public_tasks = shown_tasks & task_scorers.benchmark_tasks()
    public_benchmarks = sorted(task_scorers.benchmarks([*public_tasks]))
    other_benchmarks = sorted(task_scorers.benchmarks([*shown_tasks - public_tasks]))
    benchmarks = public_benchmarks + other_benchmarks
    for entrant in entrants:
        for benchmark in filter(entrant.answered, benchmarks):
            entrant.standings[benchmark.name] = standing(entrant, benchmark)
        _add_figures(entrant, public_benchmarks)
    add_remarks(entrants)
    board_facts = _about(entrants, options) | _add_ranks(entrants, benchmarks)
    entrants.sort(
        key=lambda entrant: (
            *_order(entrant, entrant.status, public_benchmarks),
            *_order(entrant, entrant.status, other_benchmarks),
            entrant.name,
        )
    )
    board_facts |= _summary(public_benchmarks, other_benchmarks, entrants)
    board_facts["remarks"] = _shared_remarks(entrants)
    models = [entrant.model for entrant in entrants]
    models_in_pictures = pictured(entrants, benchmarks)
    return {
        "about": board_facts,
        "benchmarks": [_benchmark(benchmark, entrants) for benchmark in benchmarks],
        "models": entrants,
        "pictured": models_in_pictures,
        "panels": level_panels(models_in_pictures, benchmarks),
        "left_out": left_out,
        "ends": silent_ends(models),
        "recall": [*_recall_sentences(models, options.include_path)],
    }


def _shared_remarks(entrants: list[Entrant]) -> list[str]:
    """Return the remarks that all models have."""
    return [
        remark
        for remark in entrants[0].remarks
        if all(remark in entrant.remarks for entrant in entrants)
    ]


def _recall_sentences(models: list[Model], include_path: Path) -> Iterator[str]:
    """Yield what the answers to twins tell of each model that answered some."""
    add_rows(
        (key[0], document)
        for model in models
        for key, document in model.documents()
        if task_scorers.transformations(key[0])
    )
    for row in recall(models, include_path):
        yield recall_sentence(row, quoted(row["run"]))


def board_rows(entrants: list[Entrant]) -> Iterator[dict]:
    """Yield the figures of models as rows, for CSV and JSON."""
    for entrant in entrants:
        remarks = "; ".join(entrant.remarks) or None
        for figures_key, row in entrant.figures.items():
            scope = figures_key.partition("|")[0]
            cells = {column: row[column] for column in row if column not in OF_SCORE}
            model_cells = {"model": entrant.name, "status": status_in(entrant, scope)}
            yield model_cells | {"remarks": remarks, "scope": scope} | cells


def status_in(entrant: Entrant, scope: str) -> str:
    """Return the status by which a model stands in a scope of its figures.

    That of a task is its benchmark's, that of a mean the worst in it. Other scopes have the
    model's.
    """
    in_mean = {group.name for group in entrant.in_mean}
    statuses = [
        benchmark_standing.status
        for name, benchmark_standing in entrant.standings.items()
        if scope in (name, *benchmark_standing.tasks)
        or (scope == MEAN and name in in_mean)
    ]
    return max(statuses or [entrant.status], key=SEVERITY.index)


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    """Return what holds for the whole board: its models, answers, tasks and pack."""
    tasks_folder = options.include_path
    tallies = [tally for entrant in entrants for tally in entrant.model.tasks.values()]
    return {
        "answers": sum(tally.all.answers for tally in tallies),
        "pack": tasks_folder.name if tasks_folder != task_scorers.FOLDER else None,
        "partial": dict(_differences({tally.task for tally in tallies}, tasks_folder)),
        "leave_out": options.leave_out,
        "warnings": [],  # on top of the page of a few runs
        "left_out_rows": sum(tally.left_out for tally in tallies),
    }


def _differences(tasks: set[str], include_path: Path) -> Iterator[tuple[str, str]]:
    """Yield the tasks of which a pack has other rows than the benchmark, and which."""
    for task in sorted(tasks):
        upstream_row_count, fingerprint = scorer(task).upstream
        if upstream_row_count is None or pack_rows(task, include_path) is None:
            continue
        utils, pack_docs = scorer(task).utils, documents(task, include_path)
        if len(pack_docs) != upstream_row_count:
            yield task, f"{len(pack_docs):,} of {upstream_row_count:,} rows"
        elif fingerprint not in (None, utils.fingerprint(map(utils.digest, pack_docs))):
            yield task, "other rows"


def _order(entrant: Entrant, status: str, benchmarks: list[Group]) -> tuple:
    """Return what models are sorted by: a status, tasks as they are, ranks, mean score.

    Those that did not run the tasks as they are stand by their number of documents, so that
    a few rows stand below many. A benchmark that two models lack, or in which they have no
    rank, changes nothing between them.
    """
    rows = [
        entrant.benchmark_rows[group.name]
        for group in benchmarks
        if group.name in entrant.standings
    ]
    standings = (entrant.standings.get(group.name) for group in benchmarks)
    has_marks = any(standing and standing.marks for standing in standings)
    marked_document_count = sum(row["n"] for row in rows) if has_marks else 0
    gap_count = len(benchmarks) - len(rows)
    rank_sums, negative_score_sums = [], []
    for rule in RULES:
        ranks = [
            row[f"{rule}_rank"].partition("-")[0] for row in rows if row["rank_of"]
        ]
        unranked_count = len(benchmarks) - len(ranks)
        rank_sums.append((unranked_count, sum(map(int, ranks))))
        negative_score_sums.append(-sum(row[rule] for row in rows))
    status_and_marks = SEVERITY.index(status), has_marks, -marked_document_count
    return *status_and_marks, gap_count, *rank_sums, *negative_score_sums


def _add_figures(entrant: Entrant, public_benchmarks: list[Group]) -> None:
    """Add the rows of `score`, after those of the mean and of benchmarks."""
    model_rows, figures = rows_of_run(entrant.name, entrant.model.tasks), {}
    cited_rows = [row | {"run": quoted(entrant.name)} for row in model_rows]
    entrant.cite = [*citations(entrant.model, cited_rows)]
    row_by_key = {
        "|".join(filter(None, (row["task"], row["by"], row["value"]))): row
        for row in model_rows
    }
    for benchmark_name, benchmark_standing in entrant.standings.items():
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        first_task = benchmark_standing.tasks[0]
        benchmark_row = row_by_key.pop(benchmark_name, None) or row_by_key[first_task]
        figures[benchmark_name] = benchmark_row | UNRANKED
    entrant.in_mean = [
        group for group in public_benchmarks if entrant.answered(group) == group.tasks
    ]
    if len(entrant.in_mean) > 1:
        figures = {MEAN: _mean_row(entrant, figures)} | figures
    entrant.benchmark_rows = figures
    entrant.figures = figures | row_by_key


def _summary(
    public_benchmarks: list[Group],
    other_benchmarks: list[Group],
    entrants: list[Entrant],
) -> dict:
    """Return of what a summary speaks: the scope, and the models that are ranked in it.

    Of public benchmarks, if there are some, and their mean it is the one for which most
    models count, each for the widest in which it is ranked with the fullest one: a few rows
    count for nothing, and runs of one benchmark do not outvote those of all.
    """
    benchmarks = public_benchmarks or other_benchmarks
    scopes = [MEAN, *(group.name for group in benchmarks)]
    models_by_scope = {
        scope: _summarised(scope, benchmarks, entrants)
        for scope in scopes
        if any(scope in entrant.benchmark_rows for entrant in entrants)
    }
    widest_scopes = {
        entrant: scope
        for scope in reversed(models_by_scope)
        for entrant in models_by_scope[scope]
    }
    votes = Counter(widest_scopes.values())
    scope = max(models_by_scope, key=lambda name: votes[name])
    summarised = models_by_scope[scope]
    status = status_in(summarised[0], scope) if summarised else None
    return {"overall": scope, "summarised": summarised, "summarised_status": status}


def _summarised(
    scope: str, benchmarks: list[Group], entrants: list[Entrant]
) -> list[Entrant]:
    """Return the models of which a summary speaks: those ranked with the fullest one.

    Of means, which may be over other benchmarks, it is the one of most weight.
    """
    ranked = [x for x in entrants if x.benchmark_rows.get(scope, UNRANKED)["rank_of"]]
    if not ranked:
        return []
    rivals_by_ranking: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in ranked:
        rivals_by_ranking[entrant.benchmark_rows[scope]["rank_group"]].append(entrant)
    if scope == MEAN:
        row_counts = {}
        for group in benchmarks:
            spoken_of = fullest(group, standing_in(group, entrants))
            row_counts[group.name] = spoken_of.benchmark_rows[group.name]["n"]
        weight = partial(_weight_of_mean, row_counts)
        return max(rivals_by_ranking.values(), key=weight)
    [benchmark] = [group for group in benchmarks if group.name == scope]
    spoken_of = fullest(benchmark, ranked)
    return rivals_by_ranking[spoken_of.benchmark_rows[scope]["rank_group"]]


def _weight_of_mean(
    row_counts: dict[str, int], rivals: list[Entrant]
) -> tuple[int, bool, float, int, int]:
    """Return what a summary chooses by, of models that are ranked together in a mean.

    That is whether the documents are the benchmarks', whether they were run as they are,
    and which share of the rows that are known of each; then how many models they are, and
    their status.
    """
    first = rivals[0]  # the others stand as it does
    standings = [first.standings[group.name] for group in first.in_mean]
    worst_documents = max(SEVERITY.index(standing.documents) for standing in standings)
    shares = [
        first.benchmark_rows[group.name]["n"] / row_counts[group.name]
        for group in first.in_mean
    ]
    return (
        -worst_documents,
        not any(standing.marks for standing in standings),
        0.0 if worst_documents else min(shares),  # others may be any number
        len(rivals),
        -SEVERITY.index(status_in(first, MEAN)),
    )


def _mean_row(entrant: Entrant, figures: dict) -> dict:
    """Return the figures of the mean over the benchmarks of which a model answered all tasks.

    What other models answered changes nothing in it.
    """
    benchmark_rows = [figures[benchmark.name] for benchmark in entrant.in_mean]
    names = ", ".join(benchmark.name for benchmark in entrant.in_mean)
    mean_row = {"by": None, "value": None, "tasks": names} | UNRANKED
    for column in ("n", "answers", *INVALID):
        mean_row[column] = sum(row[column] for row in benchmark_rows)
    mean_row["extracted"] = fmean(row["extracted"] for row in benchmark_rows)
    for rule in RULES:
        tallies, documents_by_task = entrant.model.tasks, entrant.documents_by_task
        estimates = [
            estimate_headline(group, documents_by_task, rule, tallies)
            for group in entrant.in_mean
        ]
        mean_and_ends = stats.mean_of_independent(estimates)
        mean_row |= zip((rule, f"{rule}_low", f"{rule}_high"), mean_and_ends)
    return mean_row


def _values(
    entrant: Entrant, benchmarks: list[Group], rule: str
) -> tuple[list[float], list[str]]:
    """Return a value for each document, of which the mean is the score, and its cluster."""
    values_by_benchmark, clusters = [], []
    for benchmark in benchmarks:
        documents_by_task, tallies = entrant.documents_by_task, entrant.model.tasks
        scores, benchmark_clusters = headline_scores(
            benchmark, documents_by_task, rule, tallies
        )
        values_by_benchmark.append(scores)
        clusters += benchmark_clusters
    return stats.linearised(values_by_benchmark, [1] * len(benchmarks)), clusters


def _add_ranks(entrants: list[Entrant], benchmarks: list[Group]) -> dict:
    """Add ranks to figures, by each benchmark and the mean over several.

    A rank is the range of the models that tests, paired by document and corrected by Holm's
    method, do not tell apart. The correction is for the tests of the models that are ranked
    together: no other run changes it. Return how many models and tests the largest has.
    """
    model_and_test_counts = [(0, 0)]
    for ranking_key, rivals in _rivals(entrants, benchmarks).items():
        scope = ranking_key[0]
        ranking_status = status_in(rivals[0], scope)
        ranking_id = f"{ranking_status} #{sha256(str(ranking_key))[:16]}"
        rival_rows = [rival.benchmark_rows[scope] for rival in rivals]
        for row in rival_rows:
            row |= {"rank_of": len(rivals), "rank_group": ranking_id}
        ranked_in = _groups_by_scope(rivals[0], benchmarks)[scope]
        test_count = _rank(rivals, rival_rows, ranked_in)
        model_and_test_counts.append((len(rivals), test_count))
    ranked_count, test_count = max(model_and_test_counts)
    return {"ranked": ranked_count, "tests": test_count}


def _rank(rivals: list[Entrant], rows: list[dict], benchmarks: list[Group]) -> int:
    """Add the ranks among models to their rows; return how many tests were corrected."""
    tests = []
    for rule in RULES:
        values = [_values(rival, benchmarks, rule) for rival in rivals]
        for first, second in combinations(range(len(rivals)), 2):
            scores, clusters = values[first]
            difference = stats.estimate_difference(values[second][0], scores, clusters)
            tests.append((rule, first, second, difference))
    adjusted_p = stats.holm(difference.p_value for *_, difference in tests)
    # By rule and number of a model: how many are shown to be better than it, and worse.
    better_counts: Counter[tuple[str, int]] = Counter()
    worse_counts: Counter[tuple[str, int]] = Counter()
    for (rule, first, second, difference), p_value in zip(tests, adjusted_p):
        if p_value < 1 - stats.CONFIDENCE:
            better, worse = second, first
            if difference.value > 0:
                better, worse = first, second
            worse_counts[rule, better] += 1
            better_counts[rule, worse] += 1
    for rule, (number, row) in product(RULES, enumerate(rows)):
        best_rank = 1 + better_counts[rule, number]
        worst_rank = len(rivals) - worse_counts[rule, number]
        row[f"{rule}_rank"] = f"{best_rank}-{worst_rank}"
    return len(tests)


def _rivals(
    entrants: list[Entrant], benchmarks: list[Group]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together, by scope and equal `Standing.together`.

    In the mean these are models of which it is over the same benchmarks.
    """
    rivals_by_key: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        groups_by_scope = _groups_by_scope(entrant, benchmarks)
        for scope in filter(entrant.benchmark_rows.get, groups_by_scope):
            groups = groups_by_scope[scope]
            standings = [entrant.standings[group.name] for group in groups]
            if FALSE not in (standing.status for standing in standings):
                ranking_key = (scope, *(standing.together for standing in standings))
                rivals_by_key[ranking_key].append(entrant)
    # Nobody is ranked alone.
    return {key: rivals for key, rivals in rivals_by_key.items() if len(rivals) > 1}


def _groups_by_scope(
    entrant: Entrant, benchmarks: list[Group]
) -> dict[str, list[Group]]:
    """Return the benchmarks of which each scope of a model's figures is the mean."""
    return {group.name: [group] for group in benchmarks} | {MEAN: entrant.in_mean}


def _benchmark(benchmark: Group, entrants: list[Entrant]) -> dict:
    """Return what is to be said of a benchmark, by the model that shows most of it."""
    name = benchmark.name
    standing_in_it = standing_in(benchmark, entrants)
    describers = describing(benchmark, standing_in_it)
    in_order = sorted(
        standing_in_it,
        key=lambda entrant: _order(
            entrant, entrant.standings[name].status, [benchmark]
        ),
    )
    places = {entrant: place for place, entrant in enumerate(entrants)}
    place_of = {entrant: places[entrant] for entrant in in_order}
    tasks, row = describers[0].answered(benchmark), describers[0].benchmark_rows[name]
    return {
        "name": name,
        "title": title_of(name).replace("_", " "),
        "tasks": tasks,
        "of": len(benchmark.tasks),
        "by_size": benchmark.by_size,
        "version": configuration(name)["metadata"]["version"],
        "rows": row["n"],
        "clusters": row["clusters"],
        "columns": _columns(benchmark, describers),
        "constant": row["constant"],
        "references": references(benchmark, tasks, row["n"]),
        "models": in_order,
        "reasons": reason_bars(place_of, benchmark),
        "pairs": pairs(place_of, benchmark),
    }


def _columns(benchmark: Group, describers: list[Entrant]) -> dict[str, list[dict]]:
    """Return what scores are split by, tasks and then breakdowns: heading -> columns.

    The numbers of rows are those of the first model that has the column.
    """
    columns_by_heading: dict[str, list[dict]] = defaultdict(list)
    figures = dict(ChainMap(*(entrant.figures for entrant in describers)))
    answered_tasks = {*chain(*(x.answered(benchmark) for x in describers))}
    tasks = [task for task in benchmark.tasks if task in answered_tasks]
    prefix, has_many_tasks, label_by_task = f"{benchmark.name}_", len(tasks) > 1, {}
    for task in tasks:
        label_by_task[task] = task.removeprefix(prefix).replace("_", " ")
    for task in tasks if has_many_tasks else ():
        subgroup_names = [
            group.name.removeprefix(prefix)
            for group in task_scorers.groups()
            if task in group.tasks and group.name != benchmark.name
        ]
        column = {"key": task, "label": label_by_task[task], "n": figures[task]["n"]}
        column["is_detail"] = False
        columns_by_heading[[*subgroup_names, "Tasks"][0]].append(column)
    columns_of_tasks = chain(*(scorer(task).utils.BOARD_COLUMNS for task in tasks))
    for breakdown, task in product(dict.fromkeys(columns_of_tasks), tasks):
        # A page shows the first breakdown of a family at once, and others on demand.
        is_detail = breakdown not in scorer(task).utils.BOARD_COLUMNS[:1]
        heading = f"{label_by_task[task]} by " if has_many_tasks else "By "
        heading += breakdown.replace("_", " ")
        row_by_key = {
            key: row
            for key, row in figures.items()
            if row["by"] == breakdown and row["task"] == task
        }
        for key in sorted(
            row_by_key, key=lambda key: natural(row_by_key[key]["value"])
        ):
            row = row_by_key[key]
            column = {"key": key, "label": row["value"], "n": row["n"]}
            column["is_detail"] = is_detail
            columns_by_heading[heading].append(column)
    return columns_by_heading
