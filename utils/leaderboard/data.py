"""What a board says: one object, from which the page and the tables are made.

Keys of `board_data(...)`: `about`, `benchmarks`, `models` in the order of the board,
`left_out`, `ends`, and `recall`, which are sentences. The `figures` of a model are the rows
of `score`, with ranks: of the `mean`, of benchmarks, of tasks, and by TASK|BREAKDOWN|VALUE
of their parts.
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, combinations, product
from pathlib import Path
from statistics import fmean

from .. import stats
from ..core import families
from ..core.cli import printable
from ..core.documents import documents
from ..core.families import Group, scorer
from ..score.cite import citations
from ..score.health import silent_ends
from ..score.rows import RULES, rows as score_rows
from ..verdicts.answers import sha256
from ..verdicts.checks import FALSE, SEVERITY, pack_rows
from ..verdicts.judge import INVALID
from ..verdicts.recall import recall, recall_sentence
from ..verdicts.tables import Failure
from .board import Entrant, add_remarks, standing, title


PUBLIC = "temporal_reasoning"  # the group of the benchmarks that the mean is over
CEILINGS = Path(__file__).parents[1] / "ceilings.json"
# Breakdowns whose values a page has columns for, in this order.
COLUMNS = ("question_type", "type", "format")
UNRANKED = dict.fromkeys([*(f"{rule}_rank" for rule in RULES), "rank_of", "rank_group"])
# Columns of `score` that tables of a board lack: `model` and `scope` say it.
OF_SCORE = ("run", "task", "filter")


def board_data(
    entrants: list[Entrant], left_out: list[Failure], options: Namespace
) -> dict:
    """Return what the head of this module describes; put `entrants` into their order."""
    models = [entrant.model for entrant in entrants]
    answered_tasks = {task for model in models for task in model.tasks}
    scored_tasks = [task for task in answered_tasks if scorer(task).headline]
    non_twins = [task for task in scored_tasks if not families.transformations(task)]
    benchmarks = families.benchmarks(non_twins or scored_tasks)
    public_tasks = {*families.leaf_tasks(PUBLIC)}
    public_benchmarks = [
        group for group in benchmarks if public_tasks.issuperset(group.tasks)
    ]
    benchmarks.sort(key=lambda group: (group not in public_benchmarks, group.name))
    public_benchmarks.sort(key=lambda group: group.name)
    for entrant in entrants:
        for group in filter(entrant.answered, benchmarks):
            entrant.standings[group.name] = standing(entrant, group)
        _add_figures(entrant, public_benchmarks)
    add_remarks(entrants)
    benchmarks_by_scope = {group.name: [group] for group in benchmarks}
    benchmarks_by_scope["mean"] = public_benchmarks
    about = _about(entrants, options) | _add_ranks(entrants, benchmarks_by_scope)
    entrants.sort(key=lambda entrant: _order(entrant, public_benchmarks or benchmarks))
    about["remarks"] = [
        remark
        for remark in entrants[0].remarks
        if all(remark in entrant.remarks for entrant in entrants)
    ]
    recall_rows = recall([entrant.model for entrant in entrants], options.include_path)
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants) for group in benchmarks],
        "models": entrants,
        "left_out": left_out,
        "ends": silent_ends([entrant.model for entrant in entrants]),
        "recall": [recall_sentence(row, printable(row["run"])) for row in recall_rows],
    }


def rows(entrants: list[Entrant]) -> Iterator[dict]:
    """Yield the figures of models as rows, for CSV and JSON."""
    for entrant in entrants:
        model_cells = {"model": entrant.name, "status": entrant.status}
        model_cells["remarks"] = "; ".join(entrant.remarks) or None
        for key, row in entrant.figures.items():
            cells = {column: row[column] for column in row if column not in OF_SCORE}
            yield model_cells | {"scope": key.partition("|")[0]} | cells


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    """Return what holds for the whole board: its models, answers, tasks and pack."""
    tasks_folder = options.include_path
    tallies = [tally for entrant in entrants for tally in entrant.model.tasks.values()]
    return {
        "runs": len(entrants),
        "answers": sum(tally.all.answers for tally in tallies),
        "pack": tasks_folder.name if tasks_folder != families.FOLDER else None,
        "partial": dict(_differences({tally.task for tally in tallies}, tasks_folder)),
        "leave_out": options.leave_out,
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


def _order(entrant: Entrant, benchmarks: list[Group]) -> tuple:
    """Return by what models are sorted, the best first.

    Status decides, then whether tasks ran as they are, first ranks, and the mean score.
    """
    rows_or_empty = [entrant.figures.get(group.name, {}) for group in benchmarks]
    rank_sums, negative_score_sums = [], []
    for rule in RULES:
        ranks = [row.get(f"{rule}_rank") for row in rows_or_empty]
        first_ranks = [
            int(rank.partition("-")[0]) if rank else math.inf for rank in ranks
        ]
        rank_sums.append(sum(first_ranks))
        negative_score_sums.append(-sum(row.get(rule, 0) for row in rows_or_empty))
    standings = map(entrant.standings.get, (group.name for group in benchmarks))
    has_marks = any(standing and standing.marks for standing in standings)
    status_and_marks = SEVERITY.index(entrant.status), has_marks, {} in rows_or_empty
    return *status_and_marks, *rank_sums, *negative_score_sums, entrant.name


# ---------------------------------------------------------------------------- figures


def _add_figures(entrant: Entrant, public_benchmarks: list[Group]) -> None:
    """Add the rows of `score`, after those of the mean and of benchmarks."""
    model_rows, figures = score_rows(entrant.name, entrant.model.tasks), {}
    entrant.cite = [*citations(entrant.model, model_rows)]
    row_by_key = {
        "|".join(filter(None, (row["task"], row["by"], row["value"]))): row
        for row in model_rows
    }
    for name, benchmark_standing in entrant.standings.items():
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = row_by_key.get(name) or row_by_key[benchmark_standing.tasks[0]]
        figures[name] = row | UNRANKED
    has_all_tasks = all(
        entrant.answered(group) == group.tasks for group in public_benchmarks
    )
    if len(public_benchmarks) > 1 and has_all_tasks:
        figures = {"mean": _mean_row(entrant, public_benchmarks, figures)} | figures
    other_keys = [key for key in row_by_key if key not in figures]
    entrant.figures = figures | {key: row_by_key[key] for key in other_keys}


def _mean_row(entrant: Entrant, benchmarks: list[Group], figures: dict) -> dict:
    """Return the figures of the mean over benchmarks of a model."""
    benchmark_rows = [figures[group.name] for group in benchmarks]
    mean_row = {"by": None, "value": None} | UNRANKED
    for column in ("n", "answers", *INVALID):
        mean_row[column] = sum(row[column] for row in benchmark_rows)
    mean_row["extracted"] = fmean(row["extracted"] for row in benchmark_rows)
    for rule in RULES:
        estimates = [
            stats.estimate_score(*_values(entrant, group, rule)) for group in benchmarks
        ]
        shares = [1 / len(benchmarks)] * len(benchmarks)
        rule_columns = (rule, f"{rule}_low", f"{rule}_high")
        mean_row |= zip(rule_columns, stats.combine(estimates, shares))
    return mean_row


def _values(entrant: Entrant, benchmark: Group, rule: str) -> tuple[list, list]:
    """Return a value for each document, of which the mean is the score, and its cluster."""
    scores_by_task, clusters = [], []
    for task in entrant.answered(benchmark):
        metric = scorer(task).headline[RULES.index(rule)]
        task_documents = entrant.documents_by_task[task]
        scores_by_task.append([document.means()[metric] for document in task_documents])
        clusters += [document.cluster for document in task_documents]
    return stats.linearised(scores_by_task, benchmark.by_size), clusters


# ------------------------------------------------------------------------------ ranks


def _add_ranks(entrants: list[Entrant], scopes: dict[str, list[Group]]) -> dict:
    """Add ranks to figures, by each benchmark or mean over several.

    A rank is the range of the models that tests, paired by document and corrected by Holm's
    method, do not tell apart. Return how many models and tests the correction is for.
    """
    tests, ranked_rows, ranked_entrants = [], [], set()
    for ranking_key, rivals in _rivals(entrants, scopes).items():
        ranking_id = f"{rivals[0].status} #{sha256(str(ranking_key))[:6]}"
        rival_rows = [rival.figures[ranking_key[0]] for rival in rivals]
        ranked_rows += rival_rows
        ranked_entrants |= {*rivals}
        for rule in RULES:
            for row in rival_rows:
                row |= {"rank_of": len(rivals), "rank_group": ranking_id}
                row[f"{rule}_rank"] = [1, len(rivals)]  # until all tests are adjusted
            values = [
                _scope_values(rival, scopes[ranking_key[0]], rule) for rival in rivals
            ]
            for first, second in combinations(zip(rival_rows, values), 2):
                difference = stats.estimate_difference(second[1][0], *first[1])
                tests.append((f"{rule}_rank", first[0], second[0], difference))
    p_values = stats.holm(difference.p_value for *_, difference in tests)
    for (rank_column, *row_pair, difference), p_value in zip(tests, p_values):
        if p_value < 1 - stats.CONFIDENCE:
            better_row, worse_row = row_pair if difference.value > 0 else row_pair[::-1]
            better_row[rank_column][1] -= 1
            worse_row[rank_column][0] += 1
    for row, rule in product(ranked_rows, RULES):
        row[f"{rule}_rank"] = "{}-{}".format(*row[f"{rule}_rank"])
    return {"ranked": len(ranked_entrants), "tests": len(tests)}


def _rivals(
    entrants: list[Entrant], scopes: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: whose `Standing.together` are equal."""
    entrants_by_key: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant, scope in product(entrants, scopes):
        if scope in entrant.figures:
            scope_standings = [entrant.standings[group.name] for group in scopes[scope]]
            if FALSE not in (standing.status for standing in scope_standings):
                key = (scope, *(standing.together for standing in scope_standings))
                entrants_by_key[key].append(entrant)
    # Nobody is ranked alone.
    return {key: rivals for key, rivals in entrants_by_key.items() if len(rivals) > 1}


def _scope_values(
    entrant: Entrant, benchmarks: list[Group], rule: str
) -> tuple[list, list]:
    """Return values and clusters of the documents of all benchmarks."""
    values_and_clusters = [_values(entrant, group, rule) for group in benchmarks]
    values_of_benchmarks, clusters = zip(*values_and_clusters)
    return stats.linearised(values_of_benchmarks, by_size=False), [*chain(*clusters)]


# ------------------------------------------------------------------------- benchmarks


def _benchmark(group: Group, entrants: list[Entrant]) -> dict:
    """Return what is to be said of a benchmark, by the first model that has it."""
    first_entrant = next(
        entrant for entrant in entrants if group.name in entrant.figures
    )
    tasks, figures = first_entrant.answered(group), first_entrant.figures
    task_rows = [figures[task] for task in tasks]
    constant_answers = Counter(row["constant_answer"] for row in task_rows)
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": tasks,
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": figures[group.name]["n"],
        "clusters": figures[group.name]["clusters"],
        "columns": _columns(group, tasks, figures),
        "constant": {"published": figures[group.name]["constant"]},
        "constant_answers": [answer for answer, _ in constant_answers.most_common(3)],
        "ceiling": _ceiling(group, task_rows),
    }


def _ceiling(group: Group, task_rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    ceilings = json.loads(CEILINGS.read_bytes())
    if not all(
        row["task"] in ceilings.get(row["fingerprint"], {}) for row in task_rows
    ):
        return None
    task_ceilings = [
        ceilings[row["fingerprint"]][row["task"]]["answers"]["as asked"]
        for row in task_rows
    ]
    weights = [row["n"] if group.by_size else 1 for row in task_rows]
    return {
        rule: fmean((ceiling[rule] for ceiling in task_ceilings), weights)
        for rule in RULES
    }


def _columns(group: Group, tasks: tuple[str, ...], figures: dict) -> dict:
    """Return what scores are split by, tasks and then breakdowns: heading -> columns."""
    columns: dict[str, list[dict]] = defaultdict(list)
    labels = {
        task: task.removeprefix(f"{group.name}_").replace("_", " ") for task in tasks
    }
    for task in tasks if len(tasks) > 1 else ():
        parent_names = [
            parent.name.removeprefix(f"{group.name}_")
            for parent in families.groups()
            if task in parent.tasks and parent.tasks != group.tasks
        ]
        column = {"key": task, "label": labels[task], "n": figures[task]["n"]}
        columns[[*parent_names, "Tasks"][0]].append(column)
    for breakdown, task in product(COLUMNS, tasks):
        heading = f"{labels[task]} by " if len(tasks) > 1 else "By "
        heading += breakdown.replace("_", " ")
        for key, row in figures.items():
            if row["by"] == breakdown and row["task"] == task:
                column = {"key": key, "label": row["value"], "n": row["n"]}
                columns[heading].append(column)
    return columns
