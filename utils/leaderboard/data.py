"""The data of a board: one JSON-able object, which the page and the tables are made from.

Keys of `board_data(...)`:

- `about`: `runs`, `answers`, `pack` (which documents are compared with), `partial` (task ->
  how many of its rows that pack has), `leave_out`, `left_out_rows`, and the `reasons` and
  `remarks` that all models have
- `benchmarks`: `name`, `title`, `tasks`, `of` (so many), `by_size`, `version`, `rows`,
  `clusters`, `columns` (`key`, `label`, `group`, `n`), `levels`, `trivial` (the best
  constant answers) and `ceiling`, or None
- `models`, in the order of the board: `id`, `name`, `place`, `status`, `reasons` (of it),
  `remarks`, `card` (label -> value), `scopes` (name of a benchmark, group or task, or
  `mean` -> figures), `parts` (key of a column -> `task`, `by`, `value`, scores)
- figures: `published` and `flexible` (`value`, `low`, `high`, `rank`; or None), `n`,
  `extracted`, counts of invalid answers, `others` (metric -> mean, and on how many documents
  it rests); of a benchmark also `status`, `marks`, `lost` (by cause), `levels` and `gap`
- `left_out`: `place`, `model`, `reason`
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from ..core.families import FOLDER, Group, alone, groups, scorer
from ..core.tables import natural
from ..runs.answers import sha256
from ..runs.scoring import INVALID
from ..runs.tally import Figures, Tally
from ..score.rows import scores
from ..stats import linearised, spread
from . import board
from .board import RULES, Entrant
from .checks import FALSE, UNKNOWN, VERIFIED, Check
from .submissions import LeftOut


CEILINGS = Path(__file__).parents[1] / "ceilings.json"
NORMAL = 1.96  # standard errors that 95 % of a normal distribution are within
SEVERITY = (VERIFIED, UNKNOWN, FALSE)
# Breakdowns whose values a page has columns for, in this order.
COLUMNS = ("question_type", "type", "format")


def board_data(
    entrants: list[Entrant], left_out: list[LeftOut], options: Namespace
) -> dict:
    """Return the data of a board, as the head of this module describes them.

    `entrants` are put into the order of the board.
    """
    found = board.benchmarks_of(entrants)
    for one in entrants:
        those = [group for group in found if one.answered(group)]
        one.standings.update((x.name, board.standing(one, x)) for x in those)
    pairs = board.equal_answers(entrants)
    for a, b, same, both in pairs:
        for one, other in ((a, b), (b, a)):
            said = f"{same:,} of {both:,} answers are those of {entrants[other].name}"
            # A copy that is not ranked costs nobody a remark.
            if FALSE not in {_status(entrants[other])} - {_status(entrants[one])}:
                entrants[one].remarks.append(said)
    models = [_model(one, found) for one in entrants]
    _rank(entrants, models, found, board.units(len(entrants), pairs))
    order = _in_order(models, found)
    entrants[:] = [entrants[place] for place in order]
    about = _about(entrants, options)
    for name in ("reasons", "remarks"):
        first, *others = (model[name] for model in models)
        about[name] = [x for x in first if all(x in other for other in others)]
    return {
        "about": about,
        "benchmarks": [_benchmark(group, entrants) for group in found],
        "models": [models[place] for place in order],
        "left_out": [one._asdict() for one in left_out],
    }


def _about(entrants: list[Entrant], options: Namespace) -> dict:
    include_path = options.include_path
    tallies = [task.tally for one in entrants for task in one.model.tasks.values()]
    is_pack, partial, most = include_path != FOLDER, {}, Counter()
    for tally in tallies if is_pack else ():
        most[tally.task] = max(most[tally.task], tally.answered)
    for task in sorted(most):
        rows = scorer(task).known[0]
        if rows and most[task] < rows:
            partial[task] = f"{most[task]} of {rows:,}"
    return {
        "runs": len(entrants),
        "answers": sum(tally.all.answers for tally in tallies),
        "pack": include_path.name if is_pack else None,
        "partial": partial,
        "leave_out": options.leave_out,
        "left_out_rows": sum(tally.left_out for tally in tallies),
    }


# ---------------------------------------------------------------------------- models


def _status(one: Entrant) -> str:
    """Return the worst status that a model has in a benchmark."""
    told = [x.status for x in one.standings.values()] or [UNKNOWN]
    return max(told, key=SEVERITY.index)


def _model(one: Entrant, found: list[Group]) -> dict:
    standings, checks, tasks = one.standings, one.checks, one.model.tasks
    status = _status(one)
    reasons = [
        f"{board.title(name)}: {'; '.join(x.reasons)}"
        for name, x in standings.items()
        if x.reasons and x.status == status
    ]
    said = [mark for x in standings.values() for mark in x.marks]
    of_tasks = [(mark, task) for task, x in checks.items() for mark in x.marks()]
    said += board.by_task(of_tasks, tuple(checks))
    own = (x.own_scores_differ(one.tally(task)) for task, x in checks.items())
    return {
        "id": sha256(one.name)[:10],
        "name": one.name,
        "place": one.place,
        "status": status,
        "reasons": reasons,
        "remarks": [*reasons, *said, *one.remarks, *filter(None, own)],
        "card": _card(checks),
        "scopes": _scopes(one, found),
        "parts": {
            key: {"task": task, "by": by, "value": value, "n": figures.n}
            | scores(task, figures)
            for task in sorted(tasks)
            for key, by, value, figures in _parts(one.tally(task))
        },
    }


def _parts(tally: Tally) -> Iterator[tuple[str, str | None, str | None, Figures]]:
    """Yield the figures of a task and of its parts: key, breakdown, value, figures."""
    yield tally.task, None, None, tally.all
    parts = sorted(tally.parts.items(), key=lambda x: (x[0][0], natural(x[0][1])))
    for (by, value), figures in parts:
        yield f"{tally.task}|{by}|{value}", by, value, figures


def _card(checks: dict[str, Check]) -> dict[str, str]:
    """Return the run card of a model; where its tasks differ, the most frequent value,
    and how many tasks have others.
    """
    cards = [check.card() for check in checks.values()]
    cells = {}
    for name in cards[0]:
        [(most, count), *others] = Counter(x[name] for x in cards).most_common()
        rest = f" ({len(cards) - count} tasks: {others[0][0]}, …)" if others else ""
        cells[name] = f"{most}{rest}"
    return cells


def _scopes(one: Entrant, found: list[Group]) -> dict[str, dict]:
    public = [x for x in found if board.is_public(x)]
    scopes = {}
    if len(public) > 1 and all(one.answered(x) == x.tasks for x in public):
        scopes["mean"] = _figures(one, public)
    for group in found:
        if group.name in one.standings:
            scopes[group.name] = _figures(one, [group]) | _more(one, group)
    whole = [group for group in groups() if {*group.tasks} <= one.model.tasks.keys()]
    for group in (*whole, *map(alone, sorted(one.model.tasks))):
        if group.name not in scopes:
            scopes[group.name] = _figures(one, [group])
    return scopes


def _figures(one: Entrant, those: list[Group]) -> dict:
    """Return the figures of a group, or of the mean of several."""
    shares = board.shares(one, those)
    tallies = [one.tally(task) for task in shares]
    cells = [scores(tally.task, tally.all) for tally in tallies]
    told = {"n": sum(tally.all.n for tally in tallies), "others": {}}
    for name in (*RULES, "extracted"):
        values = [x.pop(name) for x in cells]
        told[name] = None
        if None not in values:
            # As the harness adds them up; of a task to the last bit.
            mean = math.fsum(map(math.prod, zip(shares.values(), values)))
            told[name] = mean if len(cells) > 1 else values[0]
    for rule in (rule for rule in RULES if told[rule] is not None):
        found = board.estimate(board.values(one, those, rule))
        told[rule] = found | {"value": told[rule]}
    if len(cells) == 1:
        n = {x: cells[0].pop(f"{x} n", told["n"]) for x in [*cells[0]]}
        told["others"] = {x: (mean, n[x]) for x, mean in cells[0].items()}
    told["untold"] = sum(tally.all.untold for tally in tallies)
    return told | {word: sum(x.all.invalid[word] for x in tallies) for word in INVALID}


def _more(one: Entrant, benchmark: Group) -> dict:
    """Return what a benchmark has beside its figures."""
    levels = {}
    for level in _levels(one, benchmark):
        found = board.values(one, [benchmark], "flexible", level)
        levels[level] = board.estimate(found)
    return {
        "status": one.standings[benchmark.name].status,
        "marks": one.standings[benchmark.name].marks,
        "lost": board.lost(one, benchmark),
        "levels": levels,
        "gap": _gap(one, benchmark),
    }


def _levels(one: Entrant, benchmark: Group) -> list[int]:
    """Return the levels that each of the tasks has."""
    tasks = one.answered(benchmark)
    found = [{x.level for x in one.results(task)} for task in tasks]
    return sorted(set.intersection(*found) - {None}) if found else []


def _gap(one: Entrant, benchmark: Group) -> dict | None:
    """Return the flexible score on public rows minus that on fresh ones.

    It is the plain mean over the tasks of which both were run, and in each over the
    question types that both have.
    """
    gaps, variance = [], 0.0
    for fresh in one.answered(benchmark):
        tasks = (scorer(fresh).base, fresh)
        if tasks[0] not in one.model.tasks or scorer(fresh).known[0] is not None:
            continue
        kinds = [{x.kind for x in one.results(task)} for task in tasks]
        if not (both := sorted(set.intersection(*kinds))):
            continue
        means = []
        for task in tasks:
            parts = [[x for x in one.results(task) if x.kind == kind] for kind in both]
            values = linearised([[x.scores[1] for x in y] for y in parts], False)
            clusters = [x.cluster for y in parts for x in y]
            means.append(math.fsum(values) / len(values))
            variance += spread(values, clusters, ends=(0, 1)).error ** 2
        gaps.append(means[0] - means[1])
    if not gaps:
        return None
    value, half = math.fsum(gaps) / len(gaps), NORMAL * variance**0.5 / len(gaps)
    return {"value": value, "low": value - half, "high": value + half}


# ----------------------------------------------------------------------------- ranks


def _rank(
    entrants: list[Entrant], models: list[dict], found: list[Group], unit: list[int]
) -> None:
    """Give each model its ranks in each benchmark, and in their mean."""
    together: dict[tuple, list[int]] = defaultdict(list)
    those = {group.name: [group] for group in found}
    those["mean"] = [group for group in found if board.is_public(group)]
    for place, model in enumerate(models):
        for name in model["scopes"].keys() & those.keys():
            told = [entrants[place].standings[x.name] for x in those[name]]
            if FALSE not in (x.status for x in told):
                key = (name, *(x.together for x in told))
                together[key].append(place)
    scores = [(key[0], rule, of) for key, of in together.items() for rule in RULES]
    contests = [
        {x: board.values(entrants[x], those[name], rule) for x in of}
        for name, rule, of in scores
    ]
    for (name, rule, _), ranks in zip(scores, board.rank(contests, unit)):
        for place, ends in ranks.items():
            models[place]["scopes"][name][rule]["rank"] = ends


def _in_order(models: list[dict], found: list[Group]) -> list[int]:
    """Return the places of the models, the best first.

    Verified ones come first, then those that did not run the tasks as they are; among
    these the mean over the benchmarks of the first rank decides, then the mean score.
    """
    names = [x.name for x in found if board.is_public(x)] or [x.name for x in found]

    def key(place: int) -> tuple:
        model = models[place]
        scopes = [model["scopes"].get(name) for name in names]
        is_other = any(x and x["marks"] for x in scopes)
        firsts, means = [], []
        for rule in RULES:
            told = [x[rule] if x else None for x in scopes]
            is_whole = all(x and x["rank"] for x in told)
            firsts.append(sum(x["rank"][0] for x in told) if is_whole else math.inf)
            means.append(-sum(x["value"] for x in told if x))
        severity = SEVERITY.index(model["status"])
        return severity, is_other, None in scopes, *firsts, *means, model["name"]

    return sorted(range(len(models)), key=key)


# ------------------------------------------------------------------------ benchmarks


def _benchmark(group: Group, entrants: list[Entrant]) -> dict:
    """Return what is to be said of a benchmark; the first model that has it is its
    example.
    """
    one = next(x for x in entrants if x.answered(group))
    shares = board.shares(one, [group])
    return {
        "name": group.name,
        "title": board.title(group.name),
        "tasks": [*shares],
        "of": len(group.tasks),
        "by_size": group.by_size,
        "version": str(group.version),
        "rows": sum(one.tally(task).all.n for task in shares),
        "clusters": len({x.cluster for task in shares for x in one.results(task)}),
        "columns": _columns(one, group),
        "levels": _levels(one, group),
        "trivial": _trivial(one, shares),
        "ceiling": _ceiling(one, shares),
    }


def _trivial(one: Entrant, shares: dict[str, float]) -> dict | None:
    """Return what the best answers that are the same for all documents of a task score."""
    found = [one.tally(x).trivial.best() for x in shares]
    if (None, None) in found:
        return None
    answers = (answer.rpartition(": ")[2] for _, answer in found)
    answers = Counter(answers).most_common(3)
    mean = math.fsum(share * x for share, (x, _) in zip(shares.values(), found))
    return {"published": mean, "told": ", ".join(f"“{x}”" for x, _ in answers)}


def _columns(one: Entrant, group: Group) -> list[dict]:
    """Return what a benchmark's scores are split by: tasks, question types, formats."""
    tasks = one.answered(group)
    label = {x: x.removeprefix(f"{group.name}_").replace("_", " ") for x in tasks}
    found = []
    for task in tasks if len(tasks) > 1 else ():
        inner = [x.name for x in groups() if task in x.tasks and x.tasks != group.tasks]
        of = inner[0].removeprefix(f"{group.name}_") if inner else "Tasks"
        n = one.tally(task).all.n
        found.append({"key": task, "label": label[task], "group": of, "n": n})
    for by in COLUMNS:
        for task in tasks:
            at = f"{label[task]} by " if len(tasks) > 1 else "By "
            for key, kind, value, x in _parts(one.tally(task)):
                if kind == by:
                    cells = {"key": key, "label": value, "n": x.n}
                    found.append(cells | {"group": at + by.replace("_", " ")})
    return found


def _ceiling(one: Entrant, shares: dict[str, float]) -> dict | None:
    """Return the most that prompts allow, where the documents are those it is known of."""
    known = json.loads(CEILINGS.read_text(encoding="utf-8"))
    found = [known.get(one.tally(x).fingerprint, {}).get(x) for x in shares]
    if None in found:
        return None
    cells = [x["answers"]["as asked"] for x in found]
    return {
        rule: math.fsum(share * x[rule] for share, x in zip(shares.values(), cells))
        for rule in RULES
    }
