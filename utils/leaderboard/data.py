"""The data of a board: one JSON-able object, which the page and the tables are made from.

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
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import fmean

from ..core.cli import printable
from ..core.documents import documents
from ..core.families import (
    FOLDER,
    Group,
    benchmarks,
    groups,
    leaf_tasks,
    scorer,
    transformations,
)
from ..score import rows as score_rows
from ..score.cite import citations
from ..score.health import silent_ends
from ..stats import Estimate, combine
from ..verdicts.answers import sha256
from ..verdicts.checks import FALSE, SEVERITY, pack_rows
from ..verdicts.figures import Document
from ..verdicts.judge import INVALID
from ..verdicts.recall import recall, recall_sentence
from ..verdicts.tables import Failure
from .board import (
    CAUSES,
    RULES,
    Entrant,
    add_ranks,
    by_task,
    copies,
    estimate,
    loss,
    name_remarks,
    score,
    standing,
    title,
)


PUBLIC = "temporal_reasoning"  # the group of the benchmarks that the mean is over
CEILINGS = Path(__file__).parents[1] / "ceilings.json"
# Breakdowns whose values a page has columns for, in this order.
COLUMNS = ("question_type", "type", "format")
UNRANKED = dict.fromkeys([*(f"{rule}_rank" for rule in RULES), "rank_of", "rank_group"])
# Figures that rows of tables lack.
OF_PAGE = ("run", "task", "filter", "status", "marks", "levels", "lost", "gap")
flexible = partial(score, "flexible")


def board_data(
    entrants: list[Entrant], left_out: list[Failure], options: Namespace
) -> dict:
    """Return the data of a board, as the head of this module describes them.

    `entrants` are put into the order of the board.
    """
    tasks = {task for entrant in entrants for task in entrant.model.tasks}
    scored = [task for task in tasks if scorer(task).headline]
    public_tasks = [task for task in scored if not transformations(task)]
    shown_groups = benchmarks(public_tasks or scored)
    shown_groups.sort(key=lambda group: (not _is_public(group), group.name))
    public = [*filter(_is_public, shown_groups)]
    for entrant in entrants:
        for group in filter(entrant.answered, shown_groups):
            entrant.standings[group.name] = standing(entrant, group)
        entrant.figures = _figures(entrant, shown_groups, public)
    _add_remarks(entrants)
    scopes = {group.name: [group] for group in shown_groups} | {"mean": public}
    about = _about(entrants, options) | add_ranks(entrants, scopes)
    names = [group.name for group in public or shown_groups]
    entrants.sort(key=lambda entrant: _order(entrant, names))
    models = [_model(entrant) for entrant in entrants]
    for name in ("reasons", "remarks"):
        lists = [model[name] for model in models]
        about[name] = [text for text in lists[0] if all(text in x for x in lists)]
    board_models = [entrant.model for entrant in entrants]
    recall_rows = recall(board_models, options.include_path)
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants) for group in shown_groups],
        "models": models,
        "left_out": [
            {"place": str(path), "reason": reason, "model": name}
            for path, name, reason in left_out
        ],
        "ends": silent_ends(board_models),
        "recall": [recall_sentence(row, printable(row["run"])) for row in recall_rows],
    }


def rows(board: dict) -> Iterator[dict]:
    """Yield the figures of a board's data as rows, for CSV and JSON."""
    for model in board["models"]:
        model_cells = {column: model[column] for column in ("model", "status")}
        model_cells["remarks"] = "; ".join(model["remarks"]) or None
        for key, row in model["figures"].items():
            cells = {column: row[column] for column in row if column not in OF_PAGE}
            yield model_cells | {"scope": key.partition("|")[0]} | cells


def _is_public(benchmark: Group) -> bool:
    return {*benchmark.tasks} <= {*leaf_tasks(PUBLIC)}


def _add_remarks(entrants: list[Entrant]) -> None:
    for entrant, remark in name_remarks(entrants):
        entrant.remarks.append(remark)
    for *pair, remark in copies(entrants):
        for entrant, other in permutations(pair):
            # A copy that is not ranked costs nobody a remark.
            if other.status != FALSE or entrant.status == FALSE:
                entrant.remarks.append(f"{remark} {other.name}")


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    include_path = options.include_path
    tallies = [tally for entrant in entrants for tally in entrant.model.tasks.values()]
    return {
        "runs": len(entrants),
        "answers": sum(tally.all.answers for tally in tallies),
        "pack": include_path.name if include_path != FOLDER else None,
        "partial": dict(_differences({tally.task for tally in tallies}, include_path)),
        "leave_out": options.leave_out,
        "left_out_rows": sum(tally.left_out for tally in tallies),
    }


def _differences(tasks: set[str], include_path: Path) -> Iterator[tuple[str, str]]:
    """Yield the tasks of which a pack has other rows than the benchmark, and which."""
    for task in sorted(tasks):
        row_count, fingerprint = scorer(task).upstream
        if row_count is None or pack_rows(task, include_path) is None:
            continue
        utils, docs = scorer(task).utils, documents(task, include_path)
        if len(docs) != row_count:
            yield task, f"{len(docs):,} of {row_count:,} rows"
        elif fingerprint not in (None, utils.fingerprint(map(utils.digest, docs))):
            yield task, "other rows"


def _order(entrant: Entrant, names: list[str]) -> tuple:
    """Return by what models are sorted, the best first.

    Status decides, then whether tasks ran as they are, first ranks, and the mean score.
    """
    figures = [entrant.figures.get(name) for name in names]
    benchmark_rows = [row for row in figures if row]
    rank_sums, negative_scores = [], []
    for rule in RULES:
        ranks = [row[f"{rule}_rank"] for row in benchmark_rows]
        is_whole = None not in (*figures, *ranks)
        first_ranks = (int(rank.partition("-")[0]) for rank in ranks)
        rank_sums.append(sum(first_ranks) if is_whole else math.inf)
        negative_scores.append(-sum(row[rule] for row in benchmark_rows))
    is_other = any(row["marks"] for row in benchmark_rows)
    severity = SEVERITY.index(entrant.status)
    sums = *rank_sums, *negative_scores
    return severity, is_other, None in figures, *sums, entrant.name


# ----------------------------------------------------------------------------- models


def _model(entrant: Entrant) -> dict:
    standings, outcomes, status = entrant.standings, entrant.outcomes, entrant.status
    reasons = [
        f"{title(name)}: {'; '.join(standing.reasons)}"
        for name, standing in standings.items()
        if standing.reasons and standing.status == status
    ]
    marks = [mark for standing in standings.values() for mark in standing.marks]
    task_marks = [
        (mark, task) for task, outcome in outcomes.items() for mark in outcome["marks"]
    ]
    marks += [*by_task(task_marks, tuple(outcomes)), *entrant.remarks]
    frames: dict[str, list[str]] = defaultdict(list)  # around prompts -> tasks
    for task, outcome in outcomes.items():
        frames[outcome["prompts"]["frame"]].append(task)
    cited_rows = [row for row in entrant.figures.values() if "task" in row]
    return {
        "id": sha256(entrant.name)[:10],
        "model": entrant.name,
        "place": str(entrant.model.place),
        "status": status,
        "reasons": reasons,
        "remarks": [*reasons, *marks],
        "card": _card([outcome["card"] for outcome in outcomes.values()]),
        "checked": _card([outcome["checked"] for outcome in outcomes.values()]),
        "frames": {frame: ", ".join(frames[frame]) for frame in frames if frame},
        "figures": entrant.figures,
        "cite": [*citations(entrant.model, cited_rows)],
    }


def _card(cards: list[dict[str, str]]) -> dict[str, str]:
    """Return a model's run card: of each cell the most frequent value, and others' number."""
    cells = {}
    for name in cards[0]:
        values = Counter(card[name] for card in cards).most_common(2)
        cells[name], count = values[0]
        if len(values) > 1:
            cells[name] += f" ({len(cards) - count} tasks: {values[1][0]}, …)"
    return cells


def _figures(entrant: Entrant, groups: list[Group], public: list[Group]) -> dict:
    """Return the rows of `score` by key, after those of the mean and of benchmarks."""
    rows_by_key, benchmark_rows = {}, {}
    for row in score_rows.rows(entrant.name, entrant.model.tasks):
        rows_by_key["|".join(filter(None, (row["task"], row["by"], row["value"])))] = (
            row
        )
    for group in (group for group in groups if group.name in entrant.standings):
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = rows_by_key.get(group.name) or rows_by_key[entrant.answered(group)[0]]
        benchmark_rows[group.name] = row | UNRANKED | _benchmark_cells(entrant, group)
    is_whole = all(entrant.answered(group) == group.tasks for group in public)
    if len(public) > 1 and is_whole:
        public_rows = [benchmark_rows[group.name] for group in public]
        mean = {"by": None, "value": None} | UNRANKED
        for column in ("n", "answers", *INVALID):
            mean[column] = sum(row[column] for row in public_rows)
        mean["extracted"] = fmean(row["extracted"] for row in public_rows)
        for rule in RULES:
            shares, score_by_rule = (
                [1 / len(public)] * len(public),
                partial(score, rule),
            )
            estimates = [_estimate(entrant, group, score_by_rule) for group in public]
            names = (rule, f"{rule}_low", f"{rule}_high")
            mean |= zip(names, combine(estimates, shares))
        benchmark_rows = {"mean": mean} | benchmark_rows
    other_keys = [key for key in rows_by_key if key not in benchmark_rows]
    return benchmark_rows | {key: rows_by_key[key] for key in other_keys}


def _estimate(entrant: Entrant, benchmark: Group, score: partial) -> Estimate:
    return estimate(entrant.parts(benchmark), benchmark.by_size, score)


def _benchmark_cells(entrant: Entrant, benchmark: Group) -> dict:
    """Return what a page shows of a benchmark beside its figures."""
    documents_by_level = [_split(docs, "level") for docs in entrant.parts(benchmark)]
    shared_levels = set.intersection(*map(set, documents_by_level))
    levels = {}
    for level in sorted(filter(str.isdecimal, shared_levels), key=int):
        parts = [docs[level] for docs in documents_by_level]
        levels[int(level)] = estimate(parts, benchmark.by_size, flexible)[:3]
    lost = {
        cause: _estimate(entrant, benchmark, partial(loss, cause)).value
        for cause in CAUSES
    }
    standing = entrant.standings[benchmark.name]
    cells = {"status": standing.status, "marks": standing.marks, "levels": levels}
    return cells | {"lost": lost, "gap": _gap(entrant, benchmark)}


def _split(documents: list[Document], breakdown: str) -> dict[str, list[Document]]:
    """Return the documents by their values of a breakdown, "" for none."""
    parts: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        parts[document.row[breakdown] or ""].append(document)
    return parts


def _gap(entrant: Entrant, benchmark: Group) -> tuple | None:
    """Return the flexible score on public rows minus that on fresh ones, with its ends.

    It is the plain mean over tasks with both, and in each over question types with both.
    """
    estimates: list[Estimate] = []  # public and fresh in turns
    for fresh in entrant.answered(benchmark):
        public = scorer(fresh).base
        if public in entrant.model.tasks and scorer(fresh).upstream[0] is None:
            by_type = [
                _split(entrant.documents_by_task[task], "question_type")
                for task in (public, fresh)
            ]
            if types := sorted(by_type[0].keys() & by_type[1].keys()):
                parts = [[docs[name] for name in types] for docs in by_type]
                estimates += [estimate(x, False, flexible) for x in parts]
    if not estimates:
        return None
    share = 2 / len(estimates)
    return combine(estimates, [share, -share] * (len(estimates) // 2))


# ------------------------------------------------------------------------- benchmarks


def _benchmark(group: Group, entrants: list[Entrant]) -> dict:
    """Return what is to be said of a benchmark, by the first model that has it."""
    example = next(x for x in entrants if group.name in x.figures)
    tasks, figures = example.answered(group), example.figures
    row, task_rows = figures[group.name], [figures[task] for task in tasks]
    constants = Counter(
        f"{row['constant_answer']}".rpartition(": ")[2] for row in task_rows
    )
    frequent_constants = [f"“{answer}”" for answer, _ in constants.most_common(3)]
    docs = [document for part in example.parts(group) for document in part]
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": {task: _others(task) for task in tasks},
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": row["n"],
        "clusters": len({document.cluster for document in docs}),
        "columns": [*_columns(group, tasks, figures)],
        "constant": {"published": row["constant"]},
        "constant_answers": ", ".join(frequent_constants),
        "ceiling": _ceiling(group, task_rows),
    }


def _others(task: str) -> list[str]:
    """Return the measures of a task beside its scores; levels are shown by themselves."""
    shown_metrics = {*(scorer(task).headline or ()), "extracted"}
    names = (name for name in scorer(task).metrics if name not in shown_metrics)
    return [name for name in names if not name.startswith("score_flexible_level")]


def _ceiling(group: Group, task_rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8"))
    entries = [ceilings.get(x["fingerprint"], {}).get(x["task"]) for x in task_rows]
    if None in entries:
        return None
    weights = [row["n"] if group.by_size else 1 for row in task_rows]
    cells = [entry["answers"]["as asked"] for entry in entries]
    return {rule: fmean((cell[rule] for cell in cells), weights) for rule in RULES}


def _columns(group: Group, tasks: tuple[str, ...], figures: dict) -> Iterator[dict]:
    """Yield what a benchmark's scores are split by: tasks, question types, formats."""
    prefix = f"{group.name}_"
    labels = {task: task.removeprefix(prefix).replace("_", " ") for task in tasks}
    for task in tasks if len(tasks) > 1 else ():
        parents = [
            x.name for x in groups() if task in x.tasks and x.tasks != group.tasks
        ]
        heading = parents[0].removeprefix(prefix) if parents else "Tasks"
        cells = {"key": task, "label": labels[task]}
        yield cells | {"group": heading, "n": figures[task]["n"]}
    for by, task in ((by, task) for by in COLUMNS for task in tasks):
        heading_start = f"{labels[task]} by " if len(tasks) > 1 else "By "
        for key, row in figures.items():
            if row["by"] == by and row["task"] == task:
                cells = {"key": key, "label": row["value"], "n": row["n"]}
                yield cells | {"group": heading_start + by.replace("_", " ")}
