"""What a board says: one object, from which the page and the tables are made.

Keys of `board_data(...)`: `about`, `benchmarks`, `models` in the order of the board,
`left_out`, and `recall`, which are sentences. The `figures` of a model are the rows of
`score`, with ranks: of the `mean`, of benchmarks, of tasks, and by TASK|BREAKDOWN|VALUE of
their parts. Benchmarks also have `status`, `marks`, `lost` (points by cause), `gap` (public
minus fresh) and `levels`.
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations
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
from ..verdicts.figures import Document
from ..verdicts.judge import INVALID
from ..verdicts.recall import recall, recall_sentence
from ..verdicts.tables import Failure
from .board import Entrant, add_remarks, standing, title


PUBLIC = "temporal_reasoning"  # the group of the benchmarks that the mean is over
CEILINGS = Path(__file__).parents[1] / "ceilings.json"
# Why the published rule gives less than the flexible one, by what it read.
CAUSES = {
    "nothing": "the published rule finds no answer",
    "form": "it reads the answer, but not its form",
    "elsewhere": "it reads another part of the response",
}
# Breakdowns whose values a page has columns for, in this order.
COLUMNS = ("question_type", "type", "format")
UNRANKED = dict.fromkeys([*(f"{rule}_rank" for rule in RULES), "rank_of", "rank_group"])
# Figures that rows of tables lack.
OF_PAGE = ("run", "task", "filter", "status", "marks", "levels", "lost", "gap")

Parts = list[list[Document]]  # the documents of each task, or of each type of question
Score = Callable[[Document], float]


def board_data(
    entrants: list[Entrant], left_out: list[Failure], options: Namespace
) -> dict:
    """Return what the head of this module describes; put `entrants` into their order."""
    answered_tasks = {task for entrant in entrants for task in entrant.model.tasks}
    scored_tasks = [task for task in answered_tasks if scorer(task).headline]
    non_twins = [task for task in scored_tasks if not families.transformations(task)]
    benchmarks = families.benchmarks(non_twins or scored_tasks)
    benchmarks.sort(key=lambda group: (not _is_public(group), group.name))
    public_benchmarks = [*filter(_is_public, benchmarks)]
    for entrant in entrants:
        for group in filter(entrant.answered, benchmarks):
            entrant.standings[group.name] = standing(entrant, group)
        _add_figures(entrant, benchmarks, public_benchmarks)
    add_remarks(entrants)
    benchmarks_by_scope = {group.name: [group] for group in benchmarks} | {
        "mean": public_benchmarks
    }
    board_facts = _about(entrants, options) | _add_ranks(entrants, benchmarks_by_scope)
    sort_benchmark_names = [group.name for group in public_benchmarks or benchmarks]
    entrants.sort(key=lambda entrant: _order(entrant, sort_benchmark_names))
    for remark_attribute in ("reasons", "remarks"):
        remark_lists = [getattr(entrant, remark_attribute) for entrant in entrants]
        board_facts[remark_attribute] = [
            remark
            for remark in remark_lists[0]
            if all(remark in entrant_remarks for entrant_remarks in remark_lists)
        ]
    models = [entrant.model for entrant in entrants]
    recall_rows = recall(models, options.include_path)
    return {
        "about": board_facts,
        "benchmarks": [_benchmark(group, entrants) for group in benchmarks],
        "models": entrants,
        "left_out": left_out,
        "ends": silent_ends(models),
        "recall": [recall_sentence(row, printable(row["run"])) for row in recall_rows],
    }


def rows(entrants: list[Entrant]) -> Iterator[dict]:
    """Yield the figures of models as rows, for CSV and JSON."""
    for entrant in entrants:
        model_cells = {"model": entrant.name, "status": entrant.status}
        model_cells["remarks"] = "; ".join(entrant.remarks) or None
        for figures_key, row in entrant.figures.items():
            row_cells = {column: row[column] for column in row if column not in OF_PAGE}
            yield model_cells | {"scope": figures_key.partition("|")[0]} | row_cells


def _is_public(benchmark: Group) -> bool:
    return {*benchmark.tasks} <= {*families.leaf_tasks(PUBLIC)}


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


def _order(entrant: Entrant, benchmark_names: list[str]) -> tuple:
    """Return by what models are sorted, the best first.

    Status decides, then whether tasks ran as they are, first ranks, and the mean score.
    """
    rows_or_none = [
        entrant.figures.get(benchmark_name) for benchmark_name in benchmark_names
    ]
    present_rows = [row for row in rows_or_none if row]
    rank_sums = []
    for rule in RULES:
        rank_ranges = [row[f"{rule}_rank"] for row in present_rows]
        has_all_ranks = None not in (*rows_or_none, *rank_ranges)
        first_ranks = (int(rank_range.partition("-")[0]) for rank_range in rank_ranges)
        rank_sums.append(sum(first_ranks) if has_all_ranks else math.inf)
    negative_score_sums = [-sum(row[rule] for row in present_rows) for rule in RULES]
    has_marks = any(row["marks"] for row in present_rows)
    severity = SEVERITY.index(entrant.status)
    rank_and_score_sums = *rank_sums, *negative_score_sums
    return severity, has_marks, None in rows_or_none, *rank_and_score_sums, entrant.name


# ---------------------------------------------------------------------------- figures


def _score(rule: str, document: Document) -> float:
    """Return what the answers to a document score by a rule, on average."""
    metric = scorer(document.row["task"]).headline[RULES.index(rule)]
    return document.means()[metric]


def _loss(cause: str, document: Document) -> float:
    """Return what a cause takes from the published score of a document."""
    score_difference = _score("flexible", document) - _score("published", document)
    published_span, flexible_span = (document.row[f"{rule}_span"] for rule in RULES)
    document_cause = "form"
    if document.row["published"] is None or not published_span:
        document_cause = "nothing"
    elif flexible_span and (
        flexible_span[0] >= published_span[1] or flexible_span[1] <= published_span[0]
    ):
        document_cause = "elsewhere"
    return max(score_difference, 0.0) if document_cause == cause else 0.0


def _values(parts: Parts, by_size: bool, score: Score) -> tuple[list, list]:
    """Return a value for each document, of which the mean is the score, and its cluster."""
    scores_of_parts = [[*map(score, part_docs)] for part_docs in parts]
    clusters = [document.cluster for part_docs in parts for document in part_docs]
    return stats.linearised(scores_of_parts, by_size), clusters


def _estimate(parts: Parts, by_size: bool, score: Score) -> stats.Estimate:
    return stats.estimate_score(*_values(parts, by_size, score))


def _parts(entrant: Entrant, benchmark: Group) -> Parts:
    """Return the documents of each task of a benchmark that a model has."""
    answered_tasks = entrant.answered(benchmark)
    return [entrant.documents_by_task[task] for task in answered_tasks]


def _add_figures(entrant: Entrant, groups: list[Group], public: list[Group]) -> None:
    """Add the rows of `score`, after those of the mean and of benchmarks."""
    model_rows = score_rows(entrant.name, entrant.model.tasks)
    entrant.cite = [*citations(entrant.model, model_rows)]
    key_columns = ("task", "by", "value")
    row_by_key, row_by_scope = {}, {}
    for row in model_rows:
        row_by_key["|".join(row[column] for column in key_columns if row[column])] = row
    for group in (group for group in groups if group.name in entrant.standings):
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = row_by_key.get(group.name) or row_by_key[entrant.answered(group)[0]]
        row_by_scope[group.name] = row | UNRANKED | _benchmark_cells(entrant, group)
    has_all_tasks = all(entrant.answered(group) == group.tasks for group in public)
    if len(public) > 1 and has_all_tasks:
        public_rows = [row_by_scope[group.name] for group in public]
        mean_row = {"by": None, "value": None} | UNRANKED
        for column in ("n", "answers", *INVALID):
            mean_row[column] = sum(row[column] for row in public_rows)
        mean_row["extracted"] = fmean(row["extracted"] for row in public_rows)
        for rule in RULES:
            benchmark_estimates = []
            for group in public:
                parts, rule_score = _parts(entrant, group), partial(_score, rule)
                benchmark_estimates.append(_estimate(parts, group.by_size, rule_score))
            rule_columns = (rule, f"{rule}_low", f"{rule}_high")
            shares = [1 / len(public)] * len(public)
            mean_row |= zip(rule_columns, stats.combine(benchmark_estimates, shares))
        row_by_scope = {"mean": mean_row} | row_by_scope
    remaining_keys = [key for key in row_by_key if key not in row_by_scope]
    entrant.figures = row_by_scope | {key: row_by_key[key] for key in remaining_keys}


def _benchmark_cells(entrant: Entrant, benchmark: Group) -> dict:
    """Return what a page shows of a benchmark beside its figures."""
    docs_of_tasks, by_size = _parts(entrant, benchmark), benchmark.by_size
    level_splits = [_split(task_documents, "level") for task_documents in docs_of_tasks]
    shared_levels = set.intersection(*map(set, level_splits))
    flexible_score, levels, losses = partial(_score, "flexible"), {}, {}
    for level in sorted(filter(str.isdecimal, shared_levels), key=int):
        level_docs = [documents_by_level[level] for documents_by_level in level_splits]
        levels[int(level)] = _estimate(level_docs, by_size, flexible_score)[:3]
    for cause in CAUSES:
        losses[cause] = _estimate(docs_of_tasks, by_size, partial(_loss, cause)).value
    standing = entrant.standings[benchmark.name]
    page_cells = {"status": standing.status, "marks": standing.marks, "levels": levels}
    return page_cells | {"lost": losses, "gap": _gap(entrant, benchmark)}


def _split(documents: list[Document], breakdown: str) -> dict[str, list[Document]]:
    """Return the documents by their values of a breakdown, "" for none."""
    documents_by_value: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        documents_by_value[document.row[breakdown] or ""].append(document)
    return documents_by_value


def _gap(entrant: Entrant, benchmark: Group) -> tuple | None:
    """Return the flexible score on public rows minus that on fresh ones, with its ends.

    It is the plain mean over tasks with both, and in each over question types with both.
    """
    estimates: list[stats.Estimate] = []  # public and fresh in turns
    for fresh_task in entrant.answered(benchmark):
        task_pair = (scorer(fresh_task).base, fresh_task)
        if (
            task_pair[0] in entrant.model.tasks
            and scorer(fresh_task).upstream[0] is None
        ):
            base_and_fresh_docs = [
                entrant.documents_by_task[task] for task in task_pair
            ]
            type_splits = [
                _split(documents_of_task, "question_type")
                for documents_of_task in base_and_fresh_docs
            ]
            if shared_types := sorted(type_splits[0].keys() & type_splits[1].keys()):
                parts_of_both = [
                    [docs_by_type[question_type] for question_type in shared_types]
                    for docs_by_type in type_splits
                ]
                flexible_score = partial(_score, "flexible")
                estimates += [
                    _estimate(task_parts, False, flexible_score)
                    for task_parts in parts_of_both
                ]
    if not estimates:
        return None
    task_share = 2 / len(estimates)
    return stats.combine(estimates, [task_share, -task_share] * (len(estimates) // 2))


# ------------------------------------------------------------------------------ ranks


def _add_ranks(entrants: list[Entrant], scopes: dict[str, list[Group]]) -> dict:
    """Add ranks to figures, by each benchmark or mean over several.

    A rank is the range of the models that tests, paired by document and corrected by Holm's
    method, do not tell apart. Return how many models and tests the correction is for.
    """
    tests: list[tuple] = []  # two ranges of ranks, and how far the first is above
    rows_and_ranges, ranked_entrants = [], set()
    for ranking_key, members in _together(entrants, scopes).items():
        ranking_id = f"{members[0].status} #{sha256(str(ranking_key))[:6]}"
        shared_rank_cells = {"rank_of": len(members), "rank_group": ranking_id}
        ranked_entrants |= {*members}
        for rule in RULES:
            benchmarks, score = scopes[ranking_key[0]], partial(_score, rule)
            values = [_scope_values(entrant, benchmarks, score) for entrant in members]
            ranges = [[1, len(members)] for _ in members]
            for entrant, rank_range in zip(members, ranges):
                figures_row = entrant.figures[ranking_key[0]]
                figures_row |= shared_rank_cells
                rows_and_ranges.append((figures_row, f"{rule}_rank", rank_range))
            for first_index, second_index in combinations(range(len(members)), 2):
                difference_arguments = values[second_index][0], *values[first_index]
                difference = stats.estimate_difference(*difference_arguments)
                tests.append((ranges[first_index], ranges[second_index], difference))
    p_values = stats.holm(difference.p_value for *_, difference in tests)
    for (first_range, second_range, difference), p_value in zip(tests, p_values):
        if p_value < 1 - stats.CONFIDENCE:
            better_range, worse_range = (
                (first_range, second_range)
                if difference.value > 0
                else (second_range, first_range)
            )
            better_range[1] -= 1
            worse_range[0] += 1
    for figures_row, rank_column, (best_rank, worst_rank) in rows_and_ranges:
        figures_row[rank_column] = f"{best_rank}-{worst_rank}"
    return {"ranked": len(ranked_entrants), "tests": len(tests)}


def _together(
    entrants: list[Entrant], scopes: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: whose `Standing.together` are equal."""
    entrants_by_key: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        for scope in (scope for scope in scopes if scope in entrant.figures):
            scope_standings = [entrant.standings[group.name] for group in scopes[scope]]
            if FALSE not in (standing.status for standing in scope_standings):
                key = (scope, *(standing.together for standing in scope_standings))
                entrants_by_key[key].append(entrant)
    # Nobody is ranked alone.
    return {key: rivals for key, rivals in entrants_by_key.items() if len(rivals) > 1}


def _scope_values(
    entrant: Entrant, benchmarks: list[Group], score: Score
) -> tuple[list, list]:
    """Return values and clusters of the documents of all benchmarks."""
    values_and_clusters = [
        _values(_parts(entrant, group), group.by_size, score) for group in benchmarks
    ]
    values_of_benchmarks, clusters = zip(*values_and_clusters)
    return stats.linearised(values_of_benchmarks, by_size=False), [*chain(*clusters)]


# ------------------------------------------------------------------------- benchmarks


def _benchmark(group: Group, entrants: list[Entrant]) -> dict:
    """Return what is to be said of a benchmark, by the first model that has it."""
    first_entrant = next(
        entrant for entrant in entrants if group.name in entrant.figures
    )
    tasks, entrant_figures = first_entrant.answered(group), first_entrant.figures
    benchmark_row = entrant_figures[group.name]
    task_rows = [entrant_figures[task] for task in tasks]
    constant_counts = Counter(
        f"{task_row['constant_answer']}".rpartition(": ")[2] for task_row in task_rows
    )
    quoted_constant_answers = [
        f"“{constant_answer}”" for constant_answer, _ in constant_counts.most_common(3)
    ]
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": {task: _others(task) for task in tasks},
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": benchmark_row["n"],
        "clusters": benchmark_row["clusters"],
        "columns": [*_columns(group, tasks, entrant_figures)],
        "constant": {"published": benchmark_row["constant"]},
        "constant_answers": ", ".join(quoted_constant_answers),
        "ceiling": _ceiling(group, task_rows),
    }


def _others(task: str) -> list[str]:
    """Return the measures of a task beside its scores; levels are shown by themselves."""
    main_metrics = {*(scorer(task).headline or ()), "extracted"}
    measures = (metric for metric in scorer(task).metrics if metric not in main_metrics)
    return [
        metric for metric in measures if not metric.startswith("score_flexible_level")
    ]


def _ceiling(group: Group, task_rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    ceilings_by_fingerprint = json.loads(CEILINGS.read_text(encoding="utf-8"))
    ceiling_entries = [
        ceilings_by_fingerprint.get(row["fingerprint"], {}).get(row["task"])
        for row in task_rows
    ]
    if None in ceiling_entries:
        return None
    task_weights = [row["n"] if group.by_size else 1 for row in task_rows]
    task_ceilings = [
        ceiling_entry["answers"]["as asked"] for ceiling_entry in ceiling_entries
    ]
    return {
        rule: fmean(
            (task_ceiling[rule] for task_ceiling in task_ceilings), task_weights
        )
        for rule in RULES
    }


def _columns(group: Group, tasks: tuple[str, ...], figures: dict) -> Iterator[dict]:
    """Yield what a benchmark's scores are split by: tasks, question types, formats."""
    task_prefix = f"{group.name}_"
    labels = {task: task.removeprefix(task_prefix).replace("_", " ") for task in tasks}
    for task in tasks if len(tasks) > 1 else ():
        parent_names = [
            parent_group.name.removeprefix(task_prefix)
            for parent_group in families.groups()
            if task in parent_group.tasks and parent_group.tasks != group.tasks
        ]
        column_cells = {"key": task, "label": labels[task], "n": figures[task]["n"]}
        yield column_cells | {"group": parent_names[0] if parent_names else "Tasks"}
    for breakdown, task in (
        (breakdown, task) for breakdown in COLUMNS for task in tasks
    ):
        heading_start = f"{labels[task]} by " if len(tasks) > 1 else "By "
        for row_key, row in figures.items():
            if row["by"] == breakdown and row["task"] == task:
                column_cells = {"key": row_key, "label": row["value"], "n": row["n"]}
                yield column_cells | {
                    "group": heading_start + breakdown.replace("_", " ")
                }
