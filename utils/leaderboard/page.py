"""The page: one HTML file with its style, script and data, which opens from disk."""

from __future__ import annotations

import base64
import hashlib
import math
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..core import tables as text_tables
from ..core.cli import printable
from ..core.errors import ToolError
from ..core.families import configuration, scorer
from . import browser
from .board import Entry, Estimate, Model, Scope, Table
from .browser import Documents


_TEMPLATES = Path(__file__).parent / "templates"
MOST_PARTS = 60  # values of a breakdown that the page shows
MOST_BYTES = 20_000_000  # of the page
# Of the columns of the overview: what stands first, and families.
HEADINGS = {
    "benchmarks": "Benchmarks",
    "tcp": "TCP",
    "tot": "Test of Time",
    "timebench": "TimeBench",
    "fresh": "Fresh",
}
_LABEL_HEIGHT, _LONGEST_LABEL = 16, 24


class Point(NamedTuple):
    """A model in a plot, with its intervals; all in the plot's own coordinates."""

    label: str
    name: str
    x: float
    y: float
    x_low: float
    x_high: float
    y_low: float
    y_high: float
    label_y: float


class Axis(NamedTuple):
    """An axis of scores, drawn over `length` from 0."""

    low: float
    high: float
    length: float

    def at(self, score: float | None) -> float:
        """Return where a score is drawn; what lies outside, at the end."""
        share = ((score or 0) - self.low) / (self.high - self.low)
        return round(self.length * min(1, max(0, share)), 1)

    def ticks(self) -> list[float]:
        """Return round scores, at most six steps."""
        low, high = round(self.low * 10), round(self.high * 10)
        return [i / 10 for i in range(low, high + 1, _step(low, high))]


def _step(low: int, high: int) -> int:
    return next(step for step in (1, 2, 5) if high - low <= 6 * step)


class Plot(NamedTuple):
    """Models by two scores; on the diagonal both are equal."""

    axis: Axis
    points: list[Point]
    height: float


def axis(estimates: list[Estimate], length: float) -> Axis:
    """Return an axis that holds the estimates with their intervals, between ticks."""
    lows = [x.value if x.low is None else x.low for x in estimates]
    highs = [x.value if x.high is None else x.high for x in estimates]
    low = min(9, math.floor(min(lows, default=0) * 10))
    high = max(low + 1, math.ceil(max(highs, default=1) * 10))
    step = _step(low, high)
    low, high = low // step * step, -(-high // step) * step
    return Axis(low / 10, high / 10, length)


def plot(pairs: list[tuple[str, Estimate, Estimate]], length: float = 260) -> Plot:
    """Return the plot of (model, horizontal score, vertical score)."""
    scale = axis([estimate for _, *both in pairs for estimate in both], length)
    pairs = sorted(pairs, key=lambda pair: (-pair[2].value, -pair[1].value, pair[0]))
    heights = _spread([length - scale.at(y.value) for _, _, y in pairs], length)
    points = [
        Point(
            label=name
            if len(name) <= _LONGEST_LABEL
            else f"{name[: _LONGEST_LABEL - 1]}…",
            name=name,
            x=scale.at(x.value),
            y=length - scale.at(y.value),
            x_low=scale.at(x.value if x.low is None else x.low),
            x_high=scale.at(x.value if x.high is None else x.high),
            y_low=length - scale.at(y.value if y.low is None else y.low),
            y_high=length - scale.at(y.value if y.high is None else y.high),
            label_y=height,
        )
        for (name, x, y), height in zip(pairs, heights)
    ]
    return Plot(scale, points, max([length, *(height + 10 for height in heights)]))


def _spread(heights: list[float], length: float) -> list[float]:
    """Return places for labels at sorted heights, none over another."""
    places: list[float] = []
    for height in heights:
        places.append(max(height, places[-1] + _LABEL_HEIGHT) if places else height)
    # Those at the lower end move up as far as there is room.
    limit = max(length, _LABEL_HEIGHT * (len(places) - 1))
    for i in reversed(range(len(places))):
        places[i] = min(places[i], limit)
        limit = places[i] - _LABEL_HEIGHT
    return places


def costs(table: Table) -> Plot | None:
    """Return the plot of published against flexible scores."""
    return _plot_of((x.model, x.published, x.flexible) for x in table.entries)


def _plot_of(pairs) -> Plot | None:
    known = [pair for pair in pairs if pair[1] and pair[2]]
    return plot(known) if known else None


def fresh_plots(tables: list[Table]) -> list[dict]:
    """Return a plot of the flexible score in each public task against its fresh twin.

    The twin is the same task over rows that are made from a seed.
    """
    by_name = {table.scope.name: table for table in tables}
    found = []
    for fresh in tables:
        name = fresh.scope.name
        is_made = not fresh.scope.is_group and configuration(name).get("custom_dataset")
        public = by_name.get(scorer(name).base) if is_made else None
        if public is None:
            continue
        scores = {entry.model: entry.flexible for entry in public.entries}
        pairs = [(x.model, scores.get(x.model), x.flexible) for x in fresh.entries]
        if drawn := _plot_of(pairs):
            found.append(
                {"public": public.scope.name, "fresh": fresh.scope.name, "plot": drawn}
            )
    return found


def breakdown(values: dict, models: list[str]) -> dict:
    """Return a breakdown as rows: value, number of documents, the scores of each model."""
    rows = []
    for value, of_model in list(values.items())[:MOST_PARTS]:
        sizes = sorted({part.n for part in of_model.values()})
        scores = [of_model.get(model) for model in models]
        size = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
        rows.append({"value": value, "n": size, "scores": scores})
    return {"rows": rows, "left_out": len(values) - len(rows)}


def render(
    models: list[Model],
    tables: list[Table],
    documents: Documents,
    leave_out: str | None = None,
) -> bytes:
    """Return the page; `leave_out` is the list of rows that were left out."""
    names = ("board.css", "board.js")
    style, script = ((_TEMPLATES / x).read_text(encoding="utf-8") for x in names)
    template = _environment().get_template("board.html.jinja")
    text = template.render(
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        models=models,
        names=_names(models, tables),
        tables=tables,
        cells=_cells(tables),
        groups=_overview(tables),
        fresh_plots=fresh_plots(tables),
        documents=documents,
        bounds=browser,
        reasons=_reasons(tables),
        data=_data(models, tables, documents),
        leave_out=leave_out,
        left_out=sum(y.tally.left_out for x in models for y in x.tasks.values()),
        n_answers=sum(y.tally.all.n for x in models for y in x.tasks.values()),
    )
    content = text.encode()
    if len(content) > MOST_BYTES:
        raise ToolError(
            f"a page of {len(models)} models is larger than {MOST_BYTES // 10**6} MB;"
            " name fewer runs, or write --csv or --json alone"
        )
    return content


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    environment.filters |= {
        "number": text_tables.number,
        "rows_shown": _rows_shown,
        "short": short,
    }
    environment.globals |= {
        "HEADINGS": HEADINGS,
        "axis": axis,
        "breakdown": breakdown,
        "costs": costs,
        "higher_is_better": lambda task: scorer(task).higher_is_better,
        "other_metrics": other_metrics,
    }
    return environment


def other_metrics(entries: list[Entry]) -> list[str]:
    """Return the metrics beside the headline ones that some models have."""
    return list(dict.fromkeys(name for entry in entries for name in entry.others))


def _overview(tables: list[Table]) -> list[tuple[str, list[Table]]]:
    """Return the columns of the overview under their headings: the benchmarks first."""
    found: dict[str, list[Table]] = {"benchmarks": []}
    for table in tables:
        family = scorer(table.scope.tasks[0]).family
        if table.scope.name.startswith("fresh"):
            family = "fresh"
        is_whole = table.scope.is_group and table.scope.name == family
        found.setdefault("benchmarks" if is_whole else family, []).append(table)
    return [(heading, those) for heading, those in found.items() if those]


def _clean(value: object) -> object:
    """Return what is to be printed; what nobody could see in a name is escaped."""
    is_markup = hasattr(value, "__html__")  # made of texts that have been here
    return printable(value) if isinstance(value, str) and not is_markup else value


def short(scope: Scope) -> str:
    """Return the name of a task below the name of its family."""
    family = scorer(scope.tasks[0]).family
    name = scope.name.removeprefix("fresh_").removeprefix(f"{family}_")
    return name.replace("_", " ")


def _rows_shown(words: str) -> str:
    """Return the words of `Tally.rows_are` beside a number of answers, in less space."""
    start, _, number = words.rpartition(" ")
    is_part = start == "fewer than the benchmark's"
    return f"of {int(number):,}, a part" if is_part else words


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _names(models: list[Model], tables: list[Table]) -> list[str]:
    """Return the models in the order of the first table, then the others."""
    first = [entry.model for entry in tables[0].entries]
    return first + [x.run.name for x in models if x.run.name not in first]


def _cells(tables: list[Table]) -> dict[tuple[str, str], object]:
    return {(t.scope.name, entry.model): entry for t in tables for entry in t.entries}


def _reasons(tables: list[Table]) -> list[str]:
    tasks = {task for table in tables for task in table.scope.tasks}
    words = (word for task in sorted(tasks) for word in scorer(task).utils.REASONS)
    return list(dict.fromkeys(words))


def _data(models: list[Model], tables: list[Table], documents: Documents) -> str:
    tasks = sorted({task for table in tables for task in table.scope.tasks})
    known = browser.escaped(
        {
            "models": [printable(model.run.name) for model in models],
            "families": {task: scorer(task).family for task in tasks},
            "reasons": {
                scorer(task).family: scorer(task).utils.REASONS for task in tasks
            },
        }
    )
    return f'{known[:-1]},"documents":[{",".join(documents.encoded)}]}}'
