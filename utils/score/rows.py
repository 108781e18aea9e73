"""Rows of figures: of benchmarks, tasks and parts of them; for CSV, JSON and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product

from ..core.families import configuration, groups, scorer
from ..core.tables import natural
from ..stats import estimate_score, linearised
from ..verdicts.figures import Figures, Tally
from ..verdicts.judge import INVALID
from ..verdicts.several import together


Tallies = dict[tuple[str, str | None], Tally]  # by task, and by filter of the harness
# What a benchmark has the mean of, and what it has the sum of.
_MEANS = ("published", "flexible", "extracted", "trivial")
_SUMS = ("n", "answers", "changed", *INVALID, "cut_off_unknown")


@cache
def _place(task: str) -> list:
    """Return by what tasks are sorted: as in their benchmarks, then others by name."""
    names = [task for group in _benchmarks() for task in group.tasks]
    return [names.index(task) if task in names else len(names), natural(task)]


def _benchmarks() -> list:
    return [x for x in groups() if "title" in configuration(x.name)["metadata"]]


def rows(run: str, tallies: Tallies, k: int | None) -> list[dict]:
    """Return the rows of a run: benchmarks, tasks, and then each part of the tasks."""
    tasks, parts = [], []
    for key in sorted(tallies, key=lambda key: (_place(key[0]), key[1] or "")):
        place = {"run": run, "task": key[0], "filter": key[1]}
        first, *rest = _rows(place, tallies[key], k)
        tasks.append(first)
        parts += rest
    return [*_means(run, tasks, tallies), *tasks, *parts]


def _rows(place: dict, tally: Tally, k: int | None) -> Iterator[dict]:
    """Yield the row of a task and those of its parts."""
    parts = sorted(tally.parts.items(), key=lambda x: (x[0][0], natural(x[0][1])))
    score, answer = tally.trivial()
    left_out = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    for (name, value), figures in [((None, None), tally.all), *parts]:
        has_both = figures.n and scorer(tally.task).headline
        readings = [document.readings for document in figures.documents]
        several = together(readings, k) if k and has_both else {}
        yield {
            **place,
            "by": name,
            "value": value,
            "n": figures.n,
            "answers": figures.answers,
            **scores(tally.task, figures),
            **several,
            **(intervals([figures], True) if has_both else {}),
            "trivial": None if name else score,
            "trivial_answer": None if name else answer,
            "changed": figures.changed,
            **{word: figures.invalid[word] for word in INVALID},
            "cut_off_unknown": figures.untold,
            **{f"reason_{word}": x for word, x in figures.reasons.most_common()},
            **{f"unextracted_{x}": figures.unextracted[x] for x in figures.reasons},
            "left_out": None if name else left_out,
            "rows": None if name else tally.rows_are(),
            "fingerprint": None if name else tally.fingerprint,
        }


def scores(task: str, figures: Figures) -> dict[str, float | None]:
    """Return the mean scores, the headline by its common names, and counts of others."""
    means: dict[str, float | None] = {}
    for metric, values in figures.values().items():
        # The harness's to the last bit: it, too, divides what `sum` gives.
        means[metric] = sum(values) / len(values)
        if len(values) < figures.n:
            means[f"{metric} n"] = len(values)
    published, flexible = scorer(task).headline or (None, None)
    return {
        "published": means.pop(published, None),
        "flexible": means.pop(flexible, None),
        "extracted": means.pop("extracted", None),  # where nothing counts
        **means,
    }


def intervals(tasks: list[Figures], by_size: bool) -> dict[str, float]:
    """Return both ends of the intervals of the published and the flexible score."""
    clusters = [x.cluster for task in tasks for x in task.documents]
    found = {}
    for place, rule in enumerate(("published", "flexible")):
        parts = [x.values()[scorer(x.task).headline[place]] for x in tasks]
        score = estimate_score(linearised(parts, by_size), clusters)
        found |= {f"{rule}_low": score.low, f"{rule}_high": score.high}
    return found


def _means(run: str, tasks: list[dict], tallies: Tallies) -> Iterator[dict]:
    """Yield a row for each benchmark of which there are several tasks."""
    filters = dict.fromkeys(row["filter"] for row in tasks)
    for group, name in product(_benchmarks(), filters):
        parts = [x for x in tasks if x["task"] in group.tasks and x["filter"] == name]
        if len(parts := [x for x in parts if x["n"]]) < 2:
            continue
        sizes = [part["n"] if group.by_size else 1 for part in parts]
        number = f"{len(parts)} of {len(group.tasks)}"
        cells = {"run": run, "task": group.name, "filter": name, "tasks": number}
        cells |= dict.fromkeys(("by", "value", *_MEANS))
        for mean in _MEANS:
            values = [part[mean] for part in parts]
            if None not in values:
                found = math.fsum(map(math.prod, zip(values, sizes)))
                cells[mean] = found / sum(sizes)
        if cells["published"] is not None:
            those = [tallies[x["task"], name].all for x in parts]
            cells |= intervals(those, group.by_size)
        yield cells | {x: sum(part[x] for part in parts) for x in _SUMS}
