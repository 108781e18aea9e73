"""What the pictures of a page show: scores by level, where points go, and pairs of models.

Pictures are plain SVG in the page. Positions of a panel are in its own units, WIDTH wide and
HEIGHT high; scores of bars are shares.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from ..core.cli import printable
from ..core.format_tables import natural
from ..core.task_scorers import Group, scorer
from ..figures.score_rows import RULES, estimate_headline, headline_scores
from ..stats import estimate_difference
from ..verdicts.tally import Document
from .model_status import Entrant, describing, standing_in


MOST_LINES = 8  # models in a panel, each with a colour, a shape and a dash of its own
MOST_RIVALS = 12  # models of which each pair is compared
LEVEL = "level"  # the breakdown that panels show
LOW = 0.5  # a score below which a model has broken down
WIDTH, HEIGHT = 420, 210  # of a panel
# Of the axes in it; names of models stand behind RIGHT.
LEFT, RIGHT = 34, 292
TOP, BOTTOM = 10, 176
_LABEL_HEIGHT = 14
_REFERENCES = json.loads(Path(__file__).with_name("references.json").read_bytes())


class Point(NamedTuple):
    """A score at a level."""

    x: float
    y: float  # of the score, and of the ends of its interval
    y_low: float
    y_high: float
    row: dict  # the figures


class Line(NamedTuple):
    """A model's scores by level."""

    entrant: Entrant
    points: dict[str, list[Point]]  # by rule
    label_y: dict[str, float]  # of the name at the line's end


class Panel(NamedTuple):
    """Scores by level of a task, or of the mean of several."""

    name: str
    tasks: int  # of which it shows the mean
    levels: dict[str, float]  # with their x
    lines: list[Line]

    def falls(self, rule: str) -> list[tuple[Line, dict | None]]:
        """Return each line with the figures of the first level at which it is below LOW."""
        falls = []
        for line in self.lines:
            low_rows = [x.row for x in line.points[rule] if x.row[rule] < LOW]
            falls.append((line, low_rows[0] if low_rows else None))
        return falls


def pictured(entrants: list[Entrant], benchmarks: list[Group]) -> list[Entrant]:
    """Return the models with a colour and a shape, in their order.

    They are the first ones with scores at two levels, and then the first of the others.
    """
    with_levels = [
        entrant
        for entrant in entrants
        if any(
            len(_rows_by_level(task, entrant)) > 1
            for benchmark in benchmarks
            if benchmark.name in entrant.standings
            for task in benchmark.tasks
        )
    ][:MOST_LINES]
    others = [entrant for entrant in entrants if entrant not in with_levels]
    chosen = [*with_levels, *others][:MOST_LINES]
    return [entrant for entrant in entrants if entrant in chosen]


def level_panels(entrants: list[Entrant], benchmarks: list[Group]) -> list[list[Panel]]:
    """Return the panels of each benchmark with levels: the mean of its tasks, and each.

    `entrants` are those that are pictured. A task has a panel if a model has scores at two
    levels or more, and several tasks a mean. The levels are those of the models that tell
    which parts the benchmark has.
    """
    panels_of_benchmarks = []
    for benchmark in benchmarks:
        panels = []
        standing = standing_in(benchmark, entrants)
        for task in benchmark.tasks:
            rows_of = partial(_rows_by_level, task)
            if panel := _panel(1, task, benchmark, standing, rows_of):
                panels.append(panel)
        tasks = _tasks_of_mean(benchmark, standing, [panel.name for panel in panels])
        if len(tasks) > 1:
            with_levels = Group(benchmark.name, tasks, benchmark.by_size)
            rows_of = partial(_mean_by_level, with_levels)
            mean_panel = _panel(
                len(tasks), benchmark.name, benchmark, standing, rows_of
            )
            if mean_panel:
                panels = [mean_panel, *panels]
        if panels:
            panels_of_benchmarks.append(panels)
    return panels_of_benchmarks


def _tasks_of_mean(
    benchmark: Group, entrants: list[Entrant], tasks: list[str]
) -> tuple[str, ...]:
    """Return which of some tasks most of the models answered that tell a benchmark's parts.

    Of equally frequent ones, they are the most tasks.
    """
    if not entrants:
        return ()
    counts = Counter(
        tuple(x for x in tasks if x in entrant.standings[benchmark.name].tasks)
        for entrant in describing(benchmark, entrants)
    )
    return max(counts, key=lambda answered: (counts[answered], len(answered)))


def _mean_by_level(benchmark: Group, entrant: Entrant) -> dict[str, dict]:
    """Return level -> figures of the mean of tasks, of the levels that all of these have."""
    documents_by_level: dict[str, dict[str, list[Document]]] = {}
    for task in benchmark.tasks:
        for document in entrant.documents_by_task.get(task, []):
            if LEVEL in document.parts:
                by_task = documents_by_level.setdefault(document.parts[LEVEL], {})
                by_task.setdefault(task, []).append(document)
    rows = {}
    for level, documents_by_task in documents_by_level.items():
        if len(documents_by_task) < len(benchmark.tasks):
            continue
        row: dict = {"value": level, "n": sum(map(len, documents_by_task.values()))}
        for rule in RULES:
            estimate = estimate_headline(
                benchmark, documents_by_task, rule, entrant.model.tasks
            )
            row |= zip((rule, f"{rule}_low", f"{rule}_high"), estimate)
        rows[level] = row
    return rows


def _rows_by_level(task: str, entrant: Entrant) -> dict[str, dict]:
    """Return level -> figures of a model's answers to a task."""
    return {
        row["value"]: row
        for row in entrant.figures.values()
        if row["by"] == LEVEL and row["task"] == task and row["published"] is not None
    }


def _panel(
    task_count: int,
    name: str,
    benchmark: Group,
    entrants: list[Entrant],
    rows_of: Callable[[Entrant], dict[str, dict]],
) -> Panel | None:
    """Return the panel of the models with figures at two levels, or None.

    `rows_of` returns level -> figures of a model.
    """
    rows_by_entrant = {
        entrant: rows for entrant in entrants if len(rows := rows_of(entrant)) > 1
    }
    if not rows_by_entrant:
        return None
    describers = describing(benchmark, [*rows_by_entrant])
    levels = {level for entrant in describers for level in rows_by_entrant[entrant]}
    rows_shown = {
        entrant: {level: rows[level] for level in levels & rows.keys()}
        for entrant, rows in rows_by_entrant.items()
        if levels & rows.keys()
    }
    step = (RIGHT - LEFT) / len(levels)
    x_by_level = {
        level: LEFT + step * (place + 0.5)
        for place, level in enumerate(sorted(levels, key=natural))
    }
    points_by_entrant = {}
    for place, (entrant, rows) in enumerate(rows_shown.items()):
        # Bars of several models at one level stand beside each other.
        shift = 3.2 * (place - (len(rows_shown) - 1) / 2)
        points_by_entrant[entrant] = _points(rows, x_by_level, shift)
    label_ys = {rule: _spread_labels(points_by_entrant, rule) for rule in RULES}
    lines = []
    for entrant, points in points_by_entrant.items():
        label_y = {rule: label_ys[rule][entrant] for rule in RULES}
        lines.append(Line(entrant, points, label_y))
    return Panel(name, task_count, x_by_level, lines)


def _points(
    rows: dict[str, dict], x_by_level: dict[str, float], shift: float
) -> dict[str, list[Point]]:
    """Return the points of a model's figures by rule, beside the places of their levels."""
    return {
        rule: [
            _point(x + shift, rows[level], rule)
            for level, x in x_by_level.items()
            if level in rows
        ]
        for rule in RULES
    }


def _point(x: float, row: dict, rule: str) -> Point:
    """Return a score and the ends of its interval as a place in a panel."""
    shares = [row[f"{rule}{end}"] for end in ("", "_low", "_high")]
    y, low_y, high_y = (BOTTOM - (BOTTOM - TOP) * share for share in shares)
    return Point(x, y, low_y, high_y, row)


def _spread_labels(
    points_by_model: dict[Entrant, dict[str, list[Point]]], rule: str
) -> dict[Entrant, float]:
    """Return model -> y of its name: near the last point, and no two on each other."""
    last_y = {model: points[rule][-1].y for model, points in points_by_model.items()}
    label_y = {}
    lowest: float = TOP
    for model in sorted(last_y, key=lambda entrant: last_y[entrant]):
        label_y[model] = max(last_y[model], lowest)
        lowest = label_y[model] + _LABEL_HEIGHT
    overflow = max(0, lowest - _LABEL_HEIGHT - BOTTOM)
    return {model: y - overflow for model, y in label_y.items()}


def reason_bars(place_of: dict[Entrant, int], benchmark: Group) -> dict:
    """Return where the points of a benchmark go: a bar of reasons for each model.

    `place_of` has places on the board, in the order of the benchmark. Each answer counts
    once, by the reason that its family's rules give. `legend` says what each reason means,
    and `found` which of them there are.
    """
    tasks = {task for entrant in place_of for task in entrant.answered(benchmark)}
    meanings: dict[str, str] = {}
    for task in sorted(tasks):
        meanings = scorer(task).utils.REASONS | meanings
    bars: list[dict] = []
    for entrant, number in place_of.items():
        counts: Counter[str] = Counter()
        for task in entrant.answered(benchmark):
            counts.update(entrant.model.tasks[task].all.reasons)
        if total := counts.total():
            parts, start = [], 0.0
            for reason in filter(counts.get, meanings):
                share = counts[reason] / total
                part = {"reason": reason, "count": counts[reason], "share": share}
                parts.append(part | {"start": start})
                start += share
            bars.append({"model": number, "entrant": entrant, "parts": parts})
    found = {part["reason"] for bar in bars for part in bar["parts"]}
    return {"legend": meanings, "found": found, "bars": bars}


def pairs(place_of: dict[Entrant, int], benchmark: Group) -> dict:
    """Return how the models of a benchmark differ, two by two, on what both answered.

    Of each of `pairs`, "FIRST-SECOND", and each rule: the `difference` of scores (first minus
    second) with its interval, on how many `documents`, and as `parts` the place of a part
    among `parts` with how many of its documents the first model has the higher score of, how
    many the second, how many there are, and the mean score of both. A part is a whole task,
    without a value, or a question type of one. `models` are places on the board, in the order
    of the benchmark, which `place_of` has.
    """
    rivals = [(place, entrant) for entrant, place in place_of.items()][:MOST_RIVALS]
    differences = {}
    for (first, entrant), (second, other) in combinations(rivals, 2):
        if sides := _common_documents(entrant, other, benchmark):
            by_rule = {rule: _difference(benchmark, sides, rule) for rule in RULES}
            differences[f"{first}-{second}"] = by_rule
    all_differences = [*chain(*(by_rule.values() for by_rule in differences.values()))]
    all_parts = [*dict.fromkeys(chain(*(x["counts"] for x in all_differences)))]
    places = {part: place for place, part in enumerate(all_parts)}
    for difference in all_differences:
        counts_by_part = difference.pop("counts")
        difference["parts"] = [
            [places[part], *counts_by_part[part]] for part in counts_by_part
        ]
    return {
        "models": [number for number, _ in rivals],
        "parts": [[task, by, printable(value)] for task, by, value in all_parts],
        "pairs": differences,
    }


def _common_documents(
    first: Entrant, second: Entrant, benchmark: Group
) -> list[list[tuple[str, Document]]]:
    """Return the documents that two models answered, of either one after their tasks."""
    documents_by_key = [
        {
            key: doc
            for key, doc in entrant.model.documents()
            if key[0] in benchmark.tasks
        }
        for entrant in (first, second)
    ]
    common_keys = sorted(documents_by_key[0].keys() & documents_by_key[1].keys())
    if not common_keys:
        return []
    return [[(key[0], docs[key]) for key in common_keys] for docs in documents_by_key]


def _difference(
    benchmark: Group, sides: list[list[tuple[str, Document]]], rule: str
) -> dict:
    """Return the paired difference of two models, and their `counts` by part."""
    values: list[list[float]] = []
    clusters: list[str] = []
    for side in sides:
        documents_by_task: dict[str, list[Document]] = {}
        for task, document in side:
            documents_by_task.setdefault(task, []).append(document)
        side_scores, clusters = headline_scores(benchmark, documents_by_task, rule)
        values.append(side_scores)
    estimate = estimate_difference(values[1], values[0], clusters)
    scores_by_part: dict[tuple, list[tuple[float, float]]] = {}
    for (task, first), (_, second) in zip(*sides):
        metric = scorer(task).headline[rule]
        scores = first.means()[metric], second.means()[metric]
        for part in _parts(task, first):
            scores_by_part.setdefault(part, []).append(scores)
    return {
        "difference": [estimate.value, estimate.low, estimate.high],
        "documents": len(clusters),
        "counts": {part: _counts(scores_by_part[part]) for part in scores_by_part},
    }


def _counts(scores: list[tuple[float, float]]) -> list[float]:
    """Return of how many documents each of two has the higher score, all, and both means."""
    first_count = sum(first > second for first, second in scores)
    second_count = sum(first < second for first, second in scores)
    first_mean = fmean(first for first, _ in scores)
    second_mean = fmean(second for _, second in scores)
    means = [round(first_mean, 4), round(second_mean, 4)]
    return [first_count, second_count, len(scores), *means]


def _parts(task: str, document: Document) -> Iterator[tuple[str, str | None, str]]:
    """Yield the parts that a document is in, as task, breakdown and value: task and type."""
    yield task, None, ""
    for breakdown in scorer(task).utils.BOARD_COLUMNS:
        if breakdown in document.parts:
            yield task, breakdown, document.parts[breakdown]
            return


def references(benchmark: Group, tasks: tuple[str, ...], rows: int) -> list[dict]:
    """Return what others scored on the very rows of a benchmark, and ceilings of these.

    `tasks` are those of it on the board, and `rows` how many documents they have there.
    """
    return [
        reference
        for reference in _REFERENCES
        if reference["tasks"] == [*tasks] and reference["rows"] == rows
    ]
