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
from .board import (
    CAUSES,
    RULES,
    Entrant,
    LeftOut,
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
    entrants: list[Entrant], left_out: list[LeftOut], options: Namespace
) -> dict:
    """Return the data of a board, as the head of this module describes them.

    `entrants` are put into the order of the board.
    """
    tasks = {task for one in entrants for task in one.model.tasks}
    scored = [task for task in tasks if scorer(task).headline]
    found = benchmarks([x for x in scored if not transformations(x)] or scored)
    found.sort(key=lambda x: (not _is_public(x), x.name))
    for one in entrants:
        those = [group for group in found if one.answered(group)]
        one.standings.update((x.name, standing(one, x)) for x in those)
    for one, remark in name_remarks(entrants):
        one.remarks.append(remark)
    for a, b, remark in copies(entrants):
        for one, other in ((a, b), (b, a)):
            # A copy that is not ranked costs nobody a remark.
            if FALSE not in {other.status} - {one.status}:
                one.remarks.append(f"{remark} {other.name}")
    models = {id(one): _model(one, found) for one in entrants}
    tests = _rank(entrants, models, found)
    names = [x.name for x in found if _is_public(x)] or [x.name for x in found]
    entrants.sort(key=lambda one: _order(models[id(one)], names))
    models = [models[id(one)] for one in entrants]
    about = _about(entrants, options) | tests
    for name in ("reasons", "remarks"):
        first, *others = (model[name] for model in models)
        about[name] = [x for x in first if all(x in other for other in others)]
    recalled = recall([one.model for one in entrants], options.include_path)
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants, models) for group in found],
        "models": models,
        "left_out": [one._asdict() for one in left_out],
        "recall": [recall_sentence(row, printable(row["run"])) for row in recalled],
    }


def rows(data: dict) -> Iterator[dict]:
    """Yield the figures of a board's data as rows, for CSV and JSON."""
    for model in data["models"]:
        place = {x: model[x] for x in ("model", "status")}
        place["remarks"] = "; ".join(model["remarks"]) or None
        for key, row in model["figures"].items():
            row = {x: y for x, y in row.items() if x not in OF_PAGE}
            yield place | {"scope": key.partition("|")[0]} | row


def _is_public(benchmark: Group) -> bool:
    return {*benchmark.tasks} <= {*leaf_tasks(PUBLIC)}


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    include_path = options.include_path
    tallies = [tally for one in entrants for tally in one.model.tasks.values()]
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


def _model(one: Entrant, found: list[Group]) -> dict:
    standings, outcomes, status = one.standings, one.outcomes, one.status
    reasons = [
        f"{title(name)}: {'; '.join(x.reasons)}"
        for name, x in standings.items()
        if x.reasons and x.status == status
    ]
    said = [mark for x in standings.values() for mark in x.marks]
    of_tasks = [(mark, task) for task, x in outcomes.items() for mark in x["marks"]]
    said += [*by_task(of_tasks, tuple(outcomes)), *one.remarks]
    tallies = {(task, None): tally for task, tally in one.model.tasks.items()}
    figures = {_key(x): x for x in score_rows.rows(one.name, tallies, None)}
    return {
        "id": sha256(one.name)[:10],
        "model": one.name,
        "place": f"{one.model.place}",
        "status": status,
        "reasons": reasons,
        "remarks": [*reasons, *said],
        "card": _card([x["card"] for x in outcomes.values()]),
        "checked": _card([x["checked"] for x in outcomes.values()]),
        "frames": _frames(outcomes),
        "figures": _figures(one, found, figures),
        "cite": [*citations(one.model, [*figures.values()])],
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
    """Return the run card of a model; where its tasks differ, the most frequent value,
    and how many tasks have others.
    """
    cells = {}
    for name in cards[0]:
        [(most, count), *others] = Counter(x[name] for x in cards).most_common()
        rest = f" ({len(cards) - count} tasks: {others[0][0]}, …)" if others else ""
        cells[name] = f"{most}{rest}"
    return cells


def _figures(one: Entrant, groups: list[Group], figures: dict[str, dict]) -> dict:
    """Return figures with more of benchmarks, and with their mean; these come first."""
    found = {}
    for group in (x for x in groups if x.name in one.standings):
        # The score of one task of a benchmark is that of the benchmark, as far as it goes.
        row = figures.get(group.name) or figures[one.answered(group)[0]]
        found[group.name] = row | UNRANKED | _more(one, group)
    public = [x for x in groups if _is_public(x)]
    if len(public) > 1 and all(one.answered(x) == x.tasks for x in public):
        of = [found[x.name] for x in public]
        mean = {"by": None, "value": None} | UNRANKED
        mean |= {x: sum(row[x] for row in of) for x in ("n", "answers", *INVALID)}
        mean |= {"extracted": fmean(row["extracted"] for row in of)}
        for rule, score in RULES.items():
            names = (rule, f"{rule}_low", f"{rule}_high")
            mean |= zip(names, estimate(one, public, score))
        found = {"mean": mean} | found
    return found | {x: y for x, y in figures.items() if x not in found}


def _more(one: Entrant, benchmark: Group) -> dict:
    """Return what a page shows of a benchmark beside its figures."""
    found = [{x.level for x in one.results(task)} for task in one.answered(benchmark)]
    levels = sorted(set.intersection(*found) - {None})
    lost = {
        cause: lambda x, cause=cause: (x.scores[1] - x.scores[0]) * (x.cause == cause)
        for cause in CAUSES
    }
    return {
        "status": one.standings[benchmark.name].status,
        "marks": one.standings[benchmark.name].marks,
        "levels": {
            x: estimate(one, [benchmark], RULES["flexible"], x)[:3] for x in levels
        },
        "lost": {x: estimate(one, [benchmark], of)[0] for x, of in lost.items()},
        "gap": _gap(one, benchmark),
    }


def _gap(one: Entrant, benchmark: Group) -> tuple | None:
    """Return the flexible score on public rows minus that on fresh ones.

    It is the plain mean over the tasks of which both were run, and in each over the
    question types that both have.
    """
    scores: list[Estimate] = []  # public and fresh in turns
    for fresh in one.answered(benchmark):
        tasks = (scorer(fresh).base, fresh)
        if tasks[0] not in one.model.tasks or scorer(fresh).known[0] is not None:
            continue
        results = [one.results(task) for task in tasks]
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
    entrants: list[Entrant], models: dict[int, dict], found: list[Group]
) -> dict[str, int]:
    """Give each model its ranks in each benchmark, and in their mean.

    A rank is a range: of the models from which one cannot be told apart. Differences are
    paired by document; the p-values of all pairs are corrected by Holm's method. Nobody
    is ranked alone. Return how many models and tests the correction is for.
    """
    those = {group.name: [group] for group in found}
    those["mean"] = [group for group in found if _is_public(group)]
    together = _together(entrants, models, those)
    tests, better, worse = [], Counter(), Counter()
    for key in ((x, rule) for x in together for rule in RULES):
        (name, *_), rule = key
        members = {id(one): one for one in together[key[0]]}
        of = {x: values(one, those[name], RULES[rule]) for x, one in members.items()}
        pairs = combinations(of, 2)
        tests += [(key, a, b, estimate_difference(of[b][0], *of[a])) for a, b in pairs]
    p_values = holm(test.p_value for *_, test in tests)
    for (key, a, b, test), p_value in zip(tests, p_values):
        if p_value < 1 - CONFIDENCE:
            winner, loser = (a, b) if test.value > 0 else (b, a)
            better[key, loser] += 1
            worse[key, winner] += 1
    for key, members in together.items():
        of = len(members)
        group = f"{members[0].status} #{sha256(str(key))[:6]}"
        for one in members if of > 1 else ():
            cells = models[id(one)]["figures"][key[0]]
            cells |= {"rank_of": of, "rank_group": group}
            for rule in RULES:
                at = (key, rule), id(one)
                cells[f"{rule}_rank"] = f"{1 + better[at]}-{of - worse[at]}"
    ranked = {
        id(one) for members in together.values() if members[1:] for one in members
    }
    return {"ranked": len(ranked), "tests": len(tests)}


def _together(
    entrants: list[Entrant], models: dict[int, dict], those: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: that answered the same documents of the
    same tasks with as many few-shot examples and through the same filter.
    """
    found: dict[tuple, list[Entrant]] = defaultdict(list)
    for one in entrants:
        for name in (x for x in those if x in models[id(one)]["figures"]):
            told = [one.standings[x.name] for x in those[name]]
            if FALSE not in (x.status for x in told):
                found[(name, *(x.together for x in told))].append(one)
    return found


def _order(model: dict, names: list[str]) -> tuple:
    """Return by what models are sorted: the best comes first.

    Verified ones come first, then those that did not run the tasks as they are; among
    these the mean over the benchmarks of the first rank decides, then the mean score.
    """
    figures = [model["figures"].get(name) for name in names]
    known = [x for x in figures if x]
    firsts, means = [], []
    for rule in RULES:
        ranks = [x[f"{rule}_rank"] for x in known]
        is_whole = None not in (*figures, *ranks)
        those = (int(x.partition("-")[0]) for x in ranks)
        firsts.append(sum(those) if is_whole else math.inf)
        means.append(-sum(x[rule] for x in known))
    is_other = any(x["marks"] for x in known)
    severity = SEVERITY.index(model["status"])
    return severity, is_other, None in figures, *firsts, *means, model["model"]


def _benchmark(group: Group, entrants: list[Entrant], models: list[dict]) -> dict:
    """Return what is to be said of a benchmark; the first model that has it is its
    example.
    """
    one, model = next(x for x in zip(entrants, models) if group.name in x[1]["figures"])
    tasks, figures = one.answered(group), model["figures"]
    constant = Counter(
        f"{figures[x]['trivial_answer']}".rpartition(": ")[2] for x in tasks
    )
    return {
        "name": group.name,
        "title": title(group.name),
        "tasks": {x: _others(x) for x in tasks},
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": figures[group.name]["n"],
        "clusters": len({x.cluster for task in tasks for x in one.results(task)}),
        "columns": [*_columns(one, group, model)],
        "trivial": {"published": figures[group.name]["trivial"]},
        "constant": ", ".join(
            f"“{answer}”" for answer, _ in Counter(constant).most_common(3)
        ),
        "ceiling": _ceiling(group, [figures[task] for task in tasks]),
    }


def _others(task: str) -> list[str]:
    """Return the measures of a task beside its scores; levels are shown by themselves."""
    known = {*(scorer(task).headline or ()), "extracted"}
    names = (x for x in scorer(task).metrics if x not in known)
    return [x for x in names if not x.startswith("score_flexible_level")]


def _ceiling(group: Group, rows: list[dict]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    known = json.loads(CEILINGS.read_text(encoding="utf-8"))
    found = [known.get(x["fingerprint"], {}).get(x["task"]) for x in rows]
    if None in found:
        return None
    weights = [row["n"] if group.by_size else 1 for row in rows]
    cells = [x["answers"]["as asked"] for x in found]
    return {rule: fmean((x[rule] for x in cells), weights) for rule in RULES}


def _columns(one: Entrant, group: Group, model: dict) -> Iterator[dict]:
    """Yield what a benchmark's scores are split by: tasks, question types, formats."""
    tasks, figures = one.answered(group), model["figures"]
    label = {x: x.removeprefix(f"{group.name}_").replace("_", " ") for x in tasks}
    for task in tasks if len(tasks) > 1 else ():
        inner = [x.name for x in groups() if task in x.tasks and x.tasks != group.tasks]
        of = inner[0].removeprefix(f"{group.name}_") if inner else "Tasks"
        cells = {"key": task, "label": label[task]}
        yield cells | {"group": of, "n": figures[task]["n"]}
    for by, task in ((by, task) for by in COLUMNS for task in tasks):
        at = f"{label[task]} by " if len(tasks) > 1 else "By "
        for key, x in figures.items():
            if x["by"] == by and x["task"] == task:
                cells = {"key": key, "label": x["value"], "n": x["n"]}
                yield cells | {"group": at + by.replace("_", " ")}
