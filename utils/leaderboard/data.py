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
from itertools import combinations
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
from ..verdicts.find import Failure
from ..verdicts.judge import INVALID
from ..verdicts.recall import recall, recall_sentence
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
    shown = benchmarks([x for x in scored if not transformations(x)] or scored)
    shown.sort(key=lambda x: (not _is_public(x), x.name))
    for entrant in entrants:
        answered = [group for group in shown if entrant.answered(group)]
        entrant.standings.update((x.name, standing(entrant, x)) for x in answered)
    for entrant, remark in name_remarks(entrants):
        entrant.remarks.append(remark)
    for a, b, remark in copies(entrants):
        for entrant, other in ((a, b), (b, a)):
            # A copy that is not ranked costs nobody a remark.
            if FALSE not in {other.status} - {entrant.status}:
                entrant.remarks.append(f"{remark} {other.name}")
    models = {id(entrant): _model(entrant, shown) for entrant in entrants}
    tests = _rank(entrants, models, shown)
    names = [x.name for x in shown if _is_public(x)] or [x.name for x in shown]
    entrants.sort(key=lambda entrant: _order(models[id(entrant)], names))
    models = [models[id(entrant)] for entrant in entrants]
    about = _about(entrants, options) | tests
    for name in ("reasons", "remarks"):
        first, *others = (model[name] for model in models)
        about[name] = [x for x in first if all(x in other for other in others)]
    recalled = recall([entrant.model for entrant in entrants], options.include_path)
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants, models) for group in shown],
        "models": models,
        "left_out": [*map(_left_out, left_out)],
        "ends": silent_ends([entrant.model for entrant in entrants]),
        "recall": [recall_sentence(row, printable(row["run"])) for row in recalled],
    }


def _left_out(failure: Failure) -> dict[str, str]:
    place, name = str(failure.path), failure.label
    return {"place": place, "reason": failure.reason, "model": name}


def rows(board: dict) -> Iterator[dict]:
    """Yield the figures of a board's data as rows, for CSV and JSON."""
    for model in board["models"]:
        place = {x: model[x] for x in ("model", "status")}
        place["remarks"] = "; ".join(model["remarks"]) or None
        for key, row in model["figures"].items():
            row = {x: y for x, y in row.items() if x not in OF_PAGE}
            yield place | {"scope": key.partition("|")[0]} | row


def _is_public(benchmark: Group) -> bool:
    return {*benchmark.tasks} <= {*leaf_tasks(PUBLIC)}


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    include_path = options.include_path
    tallies = [tally for entrant in entrants for tally in entrant.model.tasks.values()]
    return {
        "runs": len(entrants),
        "answers": sum(tally.all.answers for tally in tallies),
        "pack": include_path.name if include_path != FOLDER else None,
        "partial": dict(_differences({x.task for x in tallies}, include_path)),
        "leave_out": options.leave_out,
        "left_out_rows": sum(tally.left_out for tally in tallies),
    }


def _differences(tasks: set[str], include_path: Path) -> Iterator[tuple[str, str]]:
    """Yield the tasks of which a pack has other rows than the benchmark, and which."""
    for task in sorted(tasks):
        rows, fingerprint = scorer(task).known
        pack = pack_rows(task, include_path)
        if rows is None or pack is None:
            continue
        utils, docs = scorer(task).utils, documents(task, include_path)
        if len(docs) != rows:
            yield task, f"{len(docs):,} of {rows:,} rows"
        elif fingerprint not in (None, utils.fingerprint(map(utils.digest, docs))):
            yield task, "other rows"


def _model(entrant: Entrant, groups: list[Group]) -> dict:
    standings, outcomes, status = entrant.standings, entrant.outcomes, entrant.status
    reasons = [
        f"{title(name)}: {'; '.join(x.reasons)}"
        for name, x in standings.items()
        if x.reasons and x.status == status
    ]
    marks = [mark for x in standings.values() for mark in x.marks]
    of_tasks = [(mark, task) for task, x in outcomes.items() for mark in x["marks"]]
    marks += [*by_task(of_tasks, tuple(outcomes)), *entrant.remarks]
    tallies = {(task, None): tally for task, tally in entrant.model.tasks.items()}
    figures = {_key(x): x for x in score_rows.rows(entrant.name, tallies, None)}
    return {
        "id": sha256(entrant.name)[:10],
        "model": entrant.name,
        "place": f"{entrant.model.place}",
        "status": status,
        "reasons": reasons,
        "remarks": [*reasons, *marks],
        "card": _card([x["card"] for x in outcomes.values()]),
        "checked": _card([x["checked"] for x in outcomes.values()]),
        "frames": _frames(outcomes),
        "figures": _figures(entrant, groups, figures),
        "cite": [*citations(entrant.model, [*figures.values()])],
    }


def _key(row: dict) -> str:
    return "|".join(filter(None, (row["task"], row["by"], row["value"])))


def _frames(outcomes: dict[str, dict]) -> dict[str, str]:
    """Return what stands around the prompts of a model -> the tasks where it does."""
    tasks: dict[str, list[str]] = defaultdict(list)
    for task, outcome in outcomes.items():
        tasks[outcome["prompts"]["frame"]].append(task)
    return {x: ", ".join(names) for x, names in tasks.items() if x}


def _card(cards: list[dict[str, str]]) -> dict[str, str]:
    """Return a model's run card: of each cell the most frequent value, and others' number."""
    cells = {}
    for name in cards[0]:
        [(value, count), *others] = Counter(x[name] for x in cards).most_common()
        more = f" ({len(cards) - count} tasks: {others[0][0]}, …)" if others else ""
        cells[name] = f"{value}{more}"
    return cells


def _figures(entrant: Entrant, groups: list[Group], figures: dict[str, dict]) -> dict:
    """Return figures with more of benchmarks, and with their mean; these come first."""
    rows = {}
    for group in (x for x in groups if x.name in entrant.standings):
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = figures.get(group.name) or figures[entrant.answered(group)[0]]
        rows[group.name] = row | UNRANKED | _more(entrant, group)
    public = [x for x in groups if _is_public(x)]
    if len(public) > 1 and all(entrant.answered(x) == x.tasks for x in public):
        parts = [rows[x.name] for x in public]
        mean = {"by": None, "value": None} | UNRANKED
        mean |= {x: sum(row[x] for row in parts) for x in ("n", "answers", *INVALID)}
        mean |= {"extracted": fmean(row["extracted"] for row in parts)}
        for rule, score in RULES.items():
            names = (rule, f"{rule}_low", f"{rule}_high")
            mean |= zip(names, estimate(entrant, public, score))
        rows = {"mean": mean} | rows
    return rows | {x: y for x, y in figures.items() if x not in rows}


def _more(entrant: Entrant, benchmark: Group) -> dict:
    """Return what a page shows of a benchmark beside its figures."""
    tasks, place = entrant.answered(benchmark), entrant.standings[benchmark.name]
    levels = set.intersection(
        *({x.level for x in entrant.results(task)} for task in tasks)
    )
    flexible = RULES["flexible"]
    by_level = {
        x: estimate(entrant, [benchmark], flexible, x)[:3]
        for x in sorted(levels - {None})
    }
    lost = {x: estimate(entrant, [benchmark], partial(_lost, x))[0] for x in CAUSES}
    more = {"status": place.status, "marks": place.marks, "levels": by_level}
    return more | {"lost": lost, "gap": _gap(entrant, benchmark)}


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
        if tasks[0] not in entrant.model.tasks or scorer(fresh).known[0] is not None:
            continue
        results = [entrant.results(task) for task in tasks]
        kinds = sorted(set.intersection(*({x.kind for x in y} for y in results)))
        for of_task in results if kinds else ():
            parts = [[x for x in of_task if x.kind == kind] for kind in kinds]
            values = linearised([[x.scores[1] for x in y] for y in parts], False)
            clusters = [x.cluster for y in parts for x in y]
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
    for key in ((x, rule) for x in together for rule in RULES):
        scope, score = scopes[key[0][0]], RULES[key[1]]
        scores = {
            id(entrant): values(entrant, scope, score) for entrant in together[key[0]]
        }
        for (a, of_a), (b, of_b) in combinations(scores.items(), 2):
            tests.append((key, a, b, estimate_difference(of_b[0], *of_a)))
    p_values = holm(test.p_value for *_, test in tests)
    for (key, a, b, test), p_value in zip(tests, p_values):
        if p_value < 1 - CONFIDENCE:
            winner, loser = (a, b) if test.value > 0 else (b, a)
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
                at = (key, rule), id(entrant)
                ends = 1 + better[at], len(members) - worse[at]
                cells[f"{rule}_rank"] = "{}-{}".format(*ends)
    return {"ranked": len(ranked), "tests": len(tests)}


def _together(
    entrants: list[Entrant], models: dict[int, dict], scopes: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: whose `Standing.together` are equal."""
    together: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        for name in (x for x in scopes if x in models[id(entrant)]["figures"]):
            standings = [entrant.standings[x.name] for x in scopes[name]]
            if FALSE not in (x.status for x in standings):
                together[(name, *(x.together for x in standings))].append(entrant)
    return together


def _order(model: dict, names: list[str]) -> tuple:
    """Return by what models are sorted, the best first.

    Status decides, then whether tasks ran as they are, first ranks, and the mean score.
    """
    figures = [model["figures"].get(name) for name in names]
    rows = [x for x in figures if x]
    firsts, means = [], []
    for rule in RULES:
        ranks = [x[f"{rule}_rank"] for x in rows]
        is_whole = None not in (*figures, *ranks)
        first = (int(x.partition("-")[0]) for x in ranks)
        firsts.append(sum(first) if is_whole else math.inf)
        means.append(-sum(x[rule] for x in rows))
    is_other = any(x["marks"] for x in rows)
    severity = SEVERITY.index(model["status"])
    return severity, is_other, None in figures, *firsts, *means, model["model"]


def _benchmark(group: Group, entrants: list[Entrant], models: list[dict]) -> dict:
    """Return what is to be said of a benchmark; the first model that has it is its
    example.
    """
    entrant, model = next(
        x for x in zip(entrants, models) if group.name in x[1]["figures"]
    )
    tasks, figures = entrant.answered(group), model["figures"]
    constant = Counter(
        f"{figures[x]['constant_answer']}".rpartition(": ")[2] for x in tasks
    )
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": {x: _others(x) for x in tasks},
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
    shown = {*(scorer(task).headline or ()), "extracted"}
    names = (x for x in scorer(task).metrics if x not in shown)
    return [x for x in names if not x.startswith("score_flexible_level")]


def _ceiling(group: Group, rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8"))
    entries = [ceilings.get(x["fingerprint"], {}).get(x["task"]) for x in rows]
    if None in entries:
        return None
    weights = [row["n"] if group.by_size else 1 for row in rows]
    cells = [x["answers"]["as asked"] for x in entries]
    return {rule: fmean((x[rule] for x in cells), weights) for rule in RULES}


def _columns(entrant: Entrant, group: Group, model: dict) -> Iterator[dict]:
    """Yield what a benchmark's scores are split by: tasks, question types, formats."""
    tasks, figures = entrant.answered(group), model["figures"]
    label = {x: x.removeprefix(f"{group.name}_").replace("_", " ") for x in tasks}
    for task in tasks if len(tasks) > 1 else ():
        inner = [x.name for x in groups() if task in x.tasks and x.tasks != group.tasks]
        heading = inner[0].removeprefix(f"{group.name}_") if inner else "Tasks"
        cells = {"key": task, "label": label[task]}
        yield cells | {"group": heading, "n": figures[task]["n"]}
    for by, task in ((by, task) for by in COLUMNS for task in tasks):
        at = f"{label[task]} by " if len(tasks) > 1 else "By "
        for key, x in figures.items():
            if x["by"] == by and x["task"] == task:
                cells = {"key": key, "label": x["value"], "n": x["n"]}
                yield cells | {"group": at + by.replace("_", " ")}
