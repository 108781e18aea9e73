"""The page: one HTML file with its style, script and data, which opens from disk."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..core.cli import printable
from ..core.errors import ToolError
from ..core.families import scorer
from ..core.tables import number
from ..runs.models import Model
from . import browser
from .board import RULES, Scope, Table


_TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 20_000_000  # of the page
_SIDE, _LABEL_HEIGHT = 260, 16  # of a plot


def render(
    models: list[Model],
    tables: list[Table],
    documents: browser.Documents,
    leave_out: str | None = None,
) -> bytes:
    """Return the page; `leave_out` is the list of rows that were left out.

    Raises ToolError for a page above MOST_BYTES.
    """
    files = ("board.css", "board.js")
    style, script = ((_TEMPLATES / x).read_text(encoding="utf-8") for x in files)
    tallies = [task.tally for model in models for task in model.tasks.values()]
    entries = {table.scope.name: _entries(table) for table in tables}
    names = dict.fromkeys([*entries[tables[0].scope.name], *(x.name for x in models)])
    text = _environment().get_template("board.html.jinja").render(
        style=style,
        script=script,
        models=models,
        names=[*names],
        tables=tables,
        entries=entries,
        groups=_overview(tables),
        fresh_plots=_fresh_plots(tables, entries),
        side=_SIDE,
        documents=documents,
        bounds=browser,
        data=_data(models, tables, documents),
        leave_out=leave_out,
        left_out=sum(tally.left_out for tally in tallies),
        n_answers=sum(tally.all.n for tally in tallies),
    )  # fmt: skip
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
    filters = {"number": number, "short": _short, "others": _others, "costs": _costs}
    environment.filters |= filters | {"hash": _hash}
    return environment


def _clean(value: object) -> object:
    """Return what is to be printed; what nobody could see in a name is escaped."""
    is_markup = hasattr(value, "__html__")  # made of texts that have been here
    return printable(value) if isinstance(value, str) and not is_markup else value


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(
    models: list[Model], tables: list[Table], documents: browser.Documents
) -> str:
    tasks = sorted({task for table in tables for task in table.scope.tasks})
    scorers = [scorer(task) for task in tasks]
    known = {
        "models": [printable(model.name) for model in models],
        "families": {x.task: x.family for x in scorers},
        "reasons": {x.family: x.utils.REASONS for x in scorers},
    }
    return (
        f'{browser.escaped(known)[:-1]},"documents":[{",".join(documents.encoded)}]}}'
    )


def _entries(table: Table) -> dict[str, dict]:
    """Return model -> its row of a table with both scores as `_estimate` has them."""
    rows = table.rows
    return {
        x["model"]: x | {rule: _estimate(rows, x, rule) for rule in RULES} for x in rows
    }


def _estimate(rows: list[dict], row: dict, rule: str) -> dict | None:
    """Return a score with interval, the half of it before it is cut, and rank."""
    value, low, high = (row[f"{rule}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return None
    rank = row[f"{rule}_rank"]
    is_tied = [other[f"{rule}_rank"] for other in rows].count(rank) > 1
    known = {"value": value, "rank": rank and f"{'=' * is_tied}{rank}"}
    known |= {"low": value, "high": value, "reach": None}
    if low is not None:
        known |= {"low": low, "high": high, "reach": max(high - value, value - low)}
    return known


def _overview(tables: list[Table]) -> list[tuple[str, list[Table]]]:
    """Return the columns of the overview under their headings: the benchmarks first."""
    found: dict[str, list[Table]] = {"Benchmarks": []}
    for table in tables:
        is_whole = table.scope.name == table.scope.benchmark
        heading = "Benchmarks" if is_whole else table.scope.title
        found.setdefault(heading, []).append(table)
    return [(heading, those) for heading, those in found.items() if those]


def _short(scope: Scope) -> str:
    """Return the name of a task below the title of its benchmark."""
    return scope.name.removeprefix(f"{scope.benchmark}_").replace("_", " ")


def _others(table: Table) -> dict[str, bool | None]:
    """Return the metrics beside the headline ones that some models have: name -> whether
    higher is better.
    """
    if table.scope.is_group:
        return {}
    task = scorer(table.scope.name)
    known = {*(task.headline or ()), "extracted"}
    return {
        name: is_better
        for name, is_better in task.higher_is_better.items()
        if name not in known and any(name in row for row in table.rows)
    }


def _costs(entries: dict[str, dict]) -> dict | None:
    """Return the plot of published against flexible scores."""
    return plot((x, y["published"], y["flexible"]) for x, y in entries.items())


def _fresh_plots(
    tables: list[Table], entries: dict[str, dict[str, dict]]
) -> list[dict]:
    """Return a plot of the flexible score in each public task against its fresh twin.

    The twin is the same task over rows that are made from a seed.
    """
    found = []
    scopes = (x.scope for x in tables if x.scope.is_made and not x.scope.is_group)
    for name in (scope.name for scope in scopes):
        base = scorer(name).base
        public, fresh = entries.get(base, {}), entries[name]
        drawn = plot(
            (model, public[model]["flexible"], fresh[model]["flexible"])
            for model in public.keys() & fresh.keys()
        )
        if drawn:
            found.append({"public": base, "fresh": name, "plot": drawn})
    return found


def plot(pairs: Iterable[tuple[str, dict | None, dict | None]]) -> dict | None:
    """Return the points of models by two scores, both between 0 and 1.

    Takes (model, horizontal score, vertical score); models that lack one are left out.
    None where no model is left.
    """
    known = [pair for pair in pairs if pair[1] and pair[2]]
    if not known:
        return None
    known.sort(key=lambda pair: (-pair[2]["value"], -pair[1]["value"], pair[0]))
    # Labels stand beside the plot, none over another, around the middle of the points.
    middle = sum(_SIDE * (1 - y["value"]) for _, _, y in known) / len(known)
    top = max(0, middle - _LABEL_HEIGHT * (len(known) - 1) / 2)
    points = [
        {"name": name, "x": x, "y": y, "label_y": top + _LABEL_HEIGHT * place}
        for place, (name, x, y) in enumerate(known)
    ]
    return {"points": points, "height": max(_SIDE, points[-1]["label_y"] + 10)}
