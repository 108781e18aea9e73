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
from itertools import combinations, permutations
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
from ..stats import (
    CONFIDENCE,
    Estimate,
    combine,
    estimate_difference,
    estimate_score,
    holm,
    linearised,
)
from ..verdicts.answers import sha256
from ..verdicts.checks import FALSE, SEVERITY, pack_rows
from ..verdicts.judge import INVALID
from ..verdicts.recall import recall, recall_sentence
from ..verdicts.tables import Failure
from .board import (
    CAUSES,
    RULES,
    Entrant,
    Result,
    by_task,
    copies,
    estimate,
    name_remarks,
    standing,
    title,
    values,
)


PUBLIC = "temporal_reasoning"  # the group of the benchmarks that the mean is over
CEILINGS = Path(__file__).parents[1] / "ceilings.json"
# Breakdowns whose values a page has columns for, in this order.
COLUMNS = ("question_type", "type", "format")
UNRANKED = dict.fromkeys([*(f"{rule}_rank" for rule in RULES), "rank_of", "rank_group"])
# Figures that rows of tables lack.
OF_PAGE = ("run", "task", "filter", "status", "marks", "levels", "lost", "gap")


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
    for entrant in entrants:
        for group in filter(entrant.answered, shown_groups):
            entrant.standings[group.name] = standing(entrant, group)
    for entrant, remark in name_remarks(entrants):
        entrant.remarks.append(remark)
    for *pair, remark in copies(entrants):
        for entrant, other in permutations(pair):
            # A copy that is not ranked costs nobody a remark.
            if FALSE not in {other.status} - {entrant.status}:
                entrant.remarks.append(f"{remark} {other.name}")
    models = {id(entrant): _model(entrant, shown_groups) for entrant in entrants}
    about = _about(entrants, options) | _rank(entrants, models, shown_groups)
    ranked_groups = [*filter(_is_public, shown_groups)] or shown_groups
    names = [group.name for group in ranked_groups]
    entrants.sort(key=lambda entrant: _order(models[id(entrant)], names))
    models = [models[id(entrant)] for entrant in entrants]
    for name in ("reasons", "remarks"):
        lists = [model[name] for model in models]
        about[name] = [text for text in lists[0] if all(text in x for x in lists)]
    recall_rows = recall([entrant.model for entrant in entrants], options.include_path)
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants, models) for group in shown_groups],
        "models": models,
        "left_out": [*map(_left_out, left_out)],
        "ends": silent_ends([entrant.model for entrant in entrants]),
        "recall": [recall_sentence(row, printable(row["run"])) for row in recall_rows],
    }


def _left_out(failure: Failure) -> dict[str, str]:
    place, name = str(failure.path), failure.label
    return {"place": place, "reason": failure.reason, "model": name}


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
        rows, fingerprint = scorer(task).upstream
        digests = pack_rows(task, include_path)
        if rows is None or digests is None:
            continue
        utils, docs = scorer(task).utils, documents(task, include_path)
        if len(docs) != rows:
            yield task, f"{len(docs):,} of {rows:,} rows"
        elif fingerprint not in (None, utils.fingerprint(map(utils.digest, docs))):
            yield task, "other rows"


def _model(entrant: Entrant, groups: list[Group]) -> dict:
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
    rows = score_rows.rows(entrant.name, entrant.model.tasks)
    rows_by_key = {_key(row): row for row in rows}
    return {
        "id": sha256(entrant.name)[:10],
        "model": entrant.name,
        "place": f"{entrant.model.place}",
        "status": status,
        "reasons": reasons,
        "remarks": [*reasons, *marks],
        "card": _card([outcome["card"] for outcome in outcomes.values()]),
        "checked": _card([outcome["checked"] for outcome in outcomes.values()]),
        "frames": _frames(outcomes),
        "figures": _figures(entrant, groups, rows_by_key),
        "cite": [*citations(entrant.model, [*rows_by_key.values()])],
    }


def _key(row: dict) -> str:
    return "|".join(filter(None, (row["task"], row["by"], row["value"])))


def _frames(outcomes: dict[str, dict]) -> dict[str, str]:
    """Return what stands around the prompts of a model -> the tasks where it does."""
    tasks: dict[str, list[str]] = defaultdict(list)
    for task, outcome in outcomes.items():
        tasks[outcome["prompts"]["frame"]].append(task)
    return {frame: ", ".join(names) for frame, names in tasks.items() if frame}


def _card(cards: list[dict[str, str]]) -> dict[str, str]:
    """Return a model's run card: of each cell the most frequent value, and others' number."""
    cells = {}
    for name in cards[0]:
        values = Counter(card[name] for card in cards).most_common(2)
        cells[name], count = values[0]
        if len(values) > 1:
            cells[name] += f" ({len(cards) - count} tasks: {values[1][0]}, …)"
    return cells


def _figures(entrant: Entrant, groups: list[Group], figures: dict[str, dict]) -> dict:
    """Return figures with more of benchmarks, and with their mean; these come first."""
    rows = {}
    for group in (group for group in groups if group.name in entrant.standings):
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = figures.get(group.name) or figures[entrant.answered(group)[0]]
        rows[group.name] = row | UNRANKED | _more(entrant, group)
    public = [group for group in groups if _is_public(group)]
    is_whole = all(entrant.answered(group) == group.tasks for group in public)
    if len(public) > 1 and is_whole:
        public_rows = [rows[group.name] for group in public]
        mean = {"by": None, "value": None} | UNRANKED
        for column in ("n", "answers", *INVALID):
            mean[column] = sum(row[column] for row in public_rows)
        mean |= {"extracted": fmean(row["extracted"] for row in public_rows)}
        for rule, score in RULES.items():
            names = (rule, f"{rule}_low", f"{rule}_high")
            mean |= zip(names, estimate(entrant, public, score))
        rows = {"mean": mean} | rows
    return rows | {key: row for key, row in figures.items() if key not in rows}


def _more(entrant: Entrant, benchmark: Group) -> dict:
    """Return what a page shows of a benchmark beside its figures."""
    tasks = entrant.answered(benchmark)
    task_levels = ({answer.level for answer in entrant.results(task)} for task in tasks)
    levels = set.intersection(*task_levels)
    flexible = RULES["flexible"]
    by_level = {
        level: estimate(entrant, [benchmark], flexible, level)[:3]
        for level in sorted(levels - {None})
    }
    losses = {cause: partial(_lost, cause) for cause in CAUSES}
    lost = {x: estimate(entrant, [benchmark], loss)[0] for x, loss in losses.items()}
    status, _, marks, _ = entrant.standings[benchmark.name]
    cells = {"status": status, "marks": marks, "levels": by_level, "lost": lost}
    return cells | {"gap": _gap(entrant, benchmark)}


def _lost(cause: str, answer: Result) -> float:
    """Return what a cause takes from the published score of an answer."""
    published, flexible = answer.scores
    return (flexible - published) * (answer.cause == cause)


def _gap(entrant: Entrant, benchmark: Group) -> tuple | None:
    """Return the flexible score on public rows minus that on fresh ones, with its ends.

    It is the plain mean over tasks with both, and in each over question types with both.
    """
    scores: list[Estimate] = []  # public and fresh in turns
    for fresh in entrant.answered(benchmark):
        tasks = (scorer(fresh).base, fresh)
        if tasks[0] not in entrant.model.tasks or scorer(fresh).upstream[0] is not None:
            continue
        results = [entrant.results(task) for task in tasks]
        task_kinds = ({answer.kind for answer in answers} for answers in results)
        kinds = sorted(set.intersection(*task_kinds))
        for answers in results if kinds else ():
            scores_by_kind, clusters = [], []
            for kind in kinds:
                kind_answers = [answer for answer in answers if answer.kind == kind]
                scores_by_kind.append([answer.scores[1] for answer in kind_answers])
                clusters += [answer.cluster for answer in kind_answers]
            values = linearised(scores_by_kind, by_size=False)
            scores.append(estimate_score(values, clusters))
    if not scores:
        return None
    share = 2 / len(scores)
    return combine(scores, [share, -share] * (len(scores) // 2))[:3]


def _rank(
    entrants: list[Entrant], models: dict[int, dict], groups: list[Group]
) -> dict[str, int]:
    """Give each model its ranks in each benchmark, and in their mean.

    A rank is the range of the models that tests, paired by document and corrected by Holm's
    method, do not tell apart. Return how many models and tests the correction is for.
    """
    scopes = {group.name: [group] for group in groups}
    scopes["mean"] = [group for group in groups if _is_public(group)]
    together = _together(entrants, models, scopes)
    tests, better, worse = [], Counter(), Counter()
    for key in ((rank_group, rule) for rank_group in together for rule in RULES):
        scope, score = scopes[key[0][0]], RULES[key[1]]
        scores = {
            id(entrant): values(entrant, scope, score) for entrant in together[key[0]]
        }
        for first, second in combinations(scores, 2):
            difference = estimate_difference(scores[second][0], *scores[first])
            tests.append((key, first, second, difference))
    p_values = holm(difference.p_value for *_, difference in tests)
    for (key, first, second, difference), p_value in zip(tests, p_values):
        if p_value < 1 - CONFIDENCE:
            winner, loser = (first, second) if difference.value > 0 else (second, first)
            better[key, loser] += 1
            worse[key, winner] += 1
    ranked = set()
    for key, members in together.items():
        group = f"{members[0].status} #{sha256(str(key))[:6]}"
        for entrant in members if len(members) > 1 else ():  # nobody is ranked alone
            ranked.add(id(entrant))
            cells = models[id(entrant)]["figures"][key[0]]
            cells |= {"rank_of": len(members), "rank_group": group}
            for rule in RULES:
                rank_key = (key, rule), id(entrant)
                rank_range = 1 + better[rank_key], len(members) - worse[rank_key]
                cells[f"{rule}_rank"] = "{}-{}".format(*rank_range)
    return {"ranked": len(ranked), "tests": len(tests)}


def _together(
    entrants: list[Entrant], models: dict[int, dict], scopes: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: whose `Standing.together` are equal."""
    entrants_by_key: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        figures = models[id(entrant)]["figures"]
        for name in (scope for scope in scopes if scope in figures):
            standings = [entrant.standings[group.name] for group in scopes[name]]
            if FALSE not in (standing.status for standing in standings):
                key = (name, *(standing.together for standing in standings))
                entrants_by_key[key].append(entrant)
    return entrants_by_key


def _order(model: dict, names: list[str]) -> tuple:
    """Return by what models are sorted, the best first.

    Status decides, then whether tasks ran as they are, first ranks, and the mean score.
    """
    figures = [model["figures"].get(name) for name in names]
    rows = [row for row in figures if row]
    rank_sums, negative_scores = [], []
    for rule in RULES:
        ranks = [row[f"{rule}_rank"] for row in rows]
        is_whole = None not in (*figures, *ranks)
        first_ranks = (int(rank.partition("-")[0]) for rank in ranks)
        rank_sums.append(sum(first_ranks) if is_whole else math.inf)
        negative_scores.append(-sum(row[rule] for row in rows))
    is_other = any(row["marks"] for row in rows)
    severity = SEVERITY.index(model["status"])
    sums = *rank_sums, *negative_scores
    return severity, is_other, None in figures, *sums, model["model"]


def _benchmark(group: Group, entrants: list[Entrant], models: list[dict]) -> dict:
    """Return what is to be said of a benchmark; the first model that has it is its
    example.
    """
    entrant, model = next(
        pair for pair in zip(entrants, models) if group.name in pair[1]["figures"]
    )
    tasks, figures = entrant.answered(group), model["figures"]
    constant = Counter(
        f"{figures[task]['constant_answer']}".rpartition(": ")[2] for task in tasks
    )
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": {task: _others(task) for task in tasks},
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": figures[group.name]["n"],
        "clusters": len({x.cluster for task in tasks for x in entrant.results(task)}),
        "columns": [*_columns(entrant, group, model)],
        "constant": {"published": figures[group.name]["constant"]},
        "constant_answers": ", ".join(
            f"“{answer}”" for answer, _ in Counter(constant).most_common(3)
        ),
        "ceiling": _ceiling(group, [figures[task] for task in tasks]),
    }


def _others(task: str) -> list[str]:
    """Return the measures of a task beside its scores; levels are shown by themselves."""
    shown_metrics = {*(scorer(task).headline or ()), "extracted"}
    names = (name for name in scorer(task).metrics if name not in shown_metrics)
    return [name for name in names if not name.startswith("score_flexible_level")]


def _ceiling(group: Group, rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8"))
    entries = [ceilings.get(row["fingerprint"], {}).get(row["task"]) for row in rows]
    if None in entries:
        return None
    weights = [row["n"] if group.by_size else 1 for row in rows]
    cells = [entry["answers"]["as asked"] for entry in entries]
    return {rule: fmean((cell[rule] for cell in cells), weights) for rule in RULES}


def _columns(entrant: Entrant, group: Group, model: dict) -> Iterator[dict]:
    """Yield what a benchmark's scores are split by: tasks, question types, formats."""
    tasks, figures = entrant.answered(group), model["figures"]
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
