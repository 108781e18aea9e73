"""The page: an HTML file with its style, script and data, which opens from disk."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable
from datetime import datetime, timezone
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lm_eval_tasks import VERSION

from ..core.cli import printable
from ..core.errors import ToolError
from ..core.families import scorer
from ..core.tables import percent
from ..verdicts.checks import SEVERITY
from . import browser
from .board import CAUSES, FIRST_LINES, RULES


_TEMPLATES = Path(__file__).parent / "templates"
_GROUP = itemgetter("group")
MOST_BYTES = 20_000_000  # of the page
FIRST = 15  # models that a section shows of many, beside the pinned ones
ENDS = ("low", "high")
FEW = 20  # rows below which a cell is grey


def render(board: dict, documents: browser.Documents, files: dict[str, dict]) -> bytes:
    """Return the page of a board's data; ToolError for one above MOST_BYTES.

    In a folder, `files` has the files beside the page with the documents of each task.
    """
    names = ("board.css", "board.js")
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    text = _environment().get_template("board.html.jinja").render(
        **board,
        style=style,
        script=script,
        made=datetime.now(timezone.utc),
        tool=VERSION,
        causes=CAUSES,
        scales=_scales(board),
        severity=SEVERITY,
        first=FIRST,
        few=FEW,
        documents=documents,
        is_folder=bool(files),
        held=_held(board, documents, files),
    )  # fmt: skip
    content = f"{FIRST_LINES['html']}\n{text.lstrip()}".encode()
    if len(content) > MOST_BYTES:
        raise ToolError(
            f"a page of {len(board['models'])} models is larger than"
            f" {MOST_BYTES // 10**6} MB; name fewer runs, or write --csv or --json alone"
        )
    return content


@cache
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
        "one": percent,
        "signed": lambda value: f"{100 * value:+.1f}".replace("-", "−"),
        "at": _at,
        "span": lambda rank: "–".join(dict.fromkeys(rank.split("-"))) if rank else "–",
        "middle": _middle,
        "hash": _hash,
        # Columns under their headings.
        "runs": lambda columns: [
            (name, [*run]) for name, run in groupby(columns, _GROUP)
        ],
    }
    return environment


def _clean(value: object) -> object:
    """Return what is to be printed; what nobody could see in a name is escaped."""
    is_markup = hasattr(value, "__html__")  # made of texts that have been here
    return printable(value) if isinstance(value, str) and not is_markup else value


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _at(value: float, scale: dict) -> str:
    """Return where a score stands on a scale, as a length of SVG."""
    share = 100 * (value - scale["low"]) / (scale["high"] - scale["low"])
    return f"{min(max(share, 0), 100):.1f}%"


def _middle(name: str, longest: int = 28) -> str:
    """Return a name without its middle where it is long: both of its ends tell."""
    name = printable(name)
    if len(name) <= longest:
        return name
    return f"{name[: longest - longest // 2]}…{name[-(longest // 2 - 1) :]}"


def _scales(board: dict) -> dict[str, dict]:
    """Return the scales of benchmarks' scores, of their gaps, and of points lost."""
    scales, lost = {}, [0.0]
    for name in ["mean", *(benchmark["name"] for benchmark in board["benchmarks"])]:
        figures = [model["figures"] for model in board["models"]]
        rows = [by_name[name] for by_name in figures if name in by_name]
        columns = [f"{rule}_{end}" for rule in RULES for end in ENDS]
        scales[name] = scale(row[column] for row in rows for column in columns)
        gaps = [ends for row in rows if row.get("gap") for ends in row["gap"]]
        scales[f"{name} gap"] = scale([0, *gaps])
        lost += [sum(row["lost"].values()) for row in rows if "lost" in row]
    return scales | {"lost": scale(lost, 0.05)}


def scale(values: Iterable[float], step: float = 0.1) -> dict:
    """Return the ends of a scale of whole steps, and where its ticks are."""
    values = [*values] or [0.0]
    low = math.floor(min(values) / step + 1e-9)
    high = max(math.ceil(max(values) / step - 1e-9), low + 1)
    ticks_apart = math.ceil((high - low) / 5)
    ticks = [step * place for place in range(low, high + 1, ticks_apart)]
    return {"low": step * low, "high": step * high, "ticks": ticks}


def _held(board: dict, documents: browser.Documents, files: dict[str, dict]) -> str:
    """Return what the script of the page needs, as JSON."""
    tasks = {task: scorer(task) for task in documents.encoded}
    head = {
        # In the order in which documents number them; the page has its own.
        "models": [printable(model["model"]) for model in board["models"]],
        "families": {task: entry.family for task, entry in tasks.items()},
        "reasons": {entry.family: entry.utils.REASONS for entry in tasks.values()},
        "files": {task: [*names] for task, names in files.items()},
    }
    inline = [] if files else [*chain(*documents.encoded.values())]
    return f'{browser.escaped(head)[:-1]},"documents":[{",".join(inline)}]}}'
