"""The page: an HTML file with its style, script and data, which opens from disk.

Tables count every answer. Of the documents, a page holds as many as its bound allows
(`shown_documents`); a page in a folder has files beside it that hold all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timezone
from functools import cache, partial
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from lm_eval_tasks import VERSION

from ..core.cli import printable
from ..core.files import check_output
from ..core.format_tables import percent, points, whole
from ..core.task_scorers import scorer
from ..integrity.run_checks import SEVERITY
from . import pictures
from .model_status import Entrant
from .shown_documents import ShownDocument, collect, escaped, share_out


# How a page begins, and a file beside it: by these lines, they are ours.
FIRST_LINE = "<!doctype html><!-- temporal-eval leaderboard -->"
SCRIPT_LINE = "// temporal-eval leaderboard"
_TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 20_000_000  # of the page
MOST_OF_A_FILE = 300  # documents
LONGEST_NAME, LONGEST_LABEL = 28, 16  # characters of a model's name, and in a picture
_FILLED = 0.95  # share of the room behind tables that documents or run cards may take
_AROUND_TEXT = 40  # bytes of a run card around a label or a value
_PLACE = re.compile(r" \(#\d+\)$")  # of a model on the board, behind its name
_NAMES_OF_ROWS = ("constant answer",)  # that are no models
# What a narrow page shows of the table of all: the benchmark that is picked.
_PICKED = "@media screen and (max-width: 920px) {{ {} {{ display: table-cell; }} }}\n"
# Of how many models a page is that is too large without documents and run cards.
_FEWER_MODELS = (500, 50)


def files(board: dict, options: Namespace) -> dict[Path, bytes]:
    """Return the content of the page of a board's data, and of the files beside it.

    ToolError where a file beside the page is not ours.
    """
    models = [entrant.model for entrant in board["models"]]
    documents_by_task = collect(models, options.is_folder)
    script_by_path = {}
    script_names: dict[str, list[str]] = defaultdict(list)
    for task, documents in documents_by_task.items() if options.is_folder else ():
        for start in range(0, len(documents), MOST_OF_A_FILE):
            documents_json = _joined(documents[start : start + MOST_OF_A_FILE])
            script = f"{SCRIPT_LINE}\naddDocuments([{documents_json}]);\n"
            script_names[task].append(f"documents/{task}-{len(script_names[task])}.js")
            script_path = options.html.parent / script_names[task][-1]
            check_output(script_path, "leaderboard", re.escape(SCRIPT_LINE))
            script_by_path[script_path] = script.encode()
    script_data = {
        # In the order in which documents number them.
        "models": _shown_names([model.name for model in models]),
        "labels": _shown_names([model.name for model in models], LONGEST_LABEL),
        "shapes": [
            board["pictured"].index(entrant) if entrant in board["pictured"] else None
            for entrant in board["models"]
        ],
        "reasons": {task: scorer(task).utils.REASONS for task in documents_by_task},
        "tasks": {group["name"]: group["tasks"] for group in board["benchmarks"]},
        "pairs": {group["name"]: group["pairs"] for group in board["benchmarks"]},
        "files": script_names,
    }
    page_of = partial(_page_content, board, script_data, options)
    page_content = _fit(page_of, board["models"], documents_by_task, options.is_folder)
    return script_by_path | {options.html: page_content}


def _fit(
    page_of: Callable[..., bytes],
    entrants: list[Entrant],
    documents_by_task: dict[str, list[ShownDocument]],
    is_folder: bool,
) -> bytes:
    """Return the page with as much in it as MOST_BYTES allow.

    It has as many documents as there is room for behind its tables; where these alone are
    too large, run cards share the room, as documents do: the largest are left out, so that
    no model takes the card of another. Then models are left out. `page_of` is
    `_page_content` of a board, whose models are `entrants`.
    """
    models = [entrant.model for entrant in entrants]
    page_content = page_of(documents_by_task)
    no_documents: dict = dict.fromkeys(documents_by_task, [])
    if len(page_content) > MOST_BYTES and not is_folder:
        page_content = page_of(no_documents)
        room = int((MOST_BYTES - len(page_content)) * _FILLED)
        if room > 0:
            page_content = page_of(collect(models, False, room))
    if len(page_content) > MOST_BYTES:
        page_content = page_of(no_documents, most_of_a_card=0)
        room = int((MOST_BYTES - len(page_content)) * _FILLED)
        if room > 0:
            most_of_a_card = share_out([*map(_size_of_card, entrants)], room)
            page_content = page_of(no_documents, most_of_a_card=most_of_a_card)
    for most_models in _FEWER_MODELS:
        if len(page_content) > MOST_BYTES:
            page_content = page_of(
                no_documents, most_of_a_card=0, most_models=most_models
            )
    return page_content


def _size_of_card(entrant: Entrant) -> int:
    """Return about how many bytes of a page the run card of a model takes."""
    texts = [*chain(*entrant.card().items())]
    return sum(
        len(html.escape(printable(text)).encode()) + _AROUND_TEXT for text in texts
    )


def _page_content(
    board: dict,
    script_data: dict,
    options: Namespace,
    documents_by_task: dict[str, list[ShownDocument]],
    most_of_a_card: float | None = None,
    most_models: int | None = None,
) -> bytes:
    """Return the page; JSON of documents is in it unless it has files beside it.

    It has the run cards that take at most so many bytes, and at most so many models.
    """
    documents = [*chain(*documents_by_task.values())]
    inline_json = "" if options.is_folder else _joined(documents)
    models = [entrant.model for entrant in board["models"]]
    keys = [key for model in models for key, _ in model.documents()]
    shown = {"models": board["models"][:most_models]}
    shown["left_out"] = board["left_out"][:most_models]
    ids = [entrant.id for entrant in board["models"]]
    with_card = [
        entrant.id
        for entrant in shown["models"]
        if most_of_a_card is None or _size_of_card(entrant) <= most_of_a_card
    ]
    page_text = _render(
        len(board["benchmarks"]) + 1,  # with that of the mean
        **board | shown,
        hidden_count=len(models) - len(shown["models"]),
        with_card=with_card,
        names=dict(zip(ids, script_data["models"])),
        labels=dict(zip(ids, script_data["labels"])),
        held=f'{escaped(script_data)[:-1]},"documents":[{inline_json}]}}',
        held_counts={task: len(documents_by_task[task]) for task in documents_by_task},
        held_answers=sum(document.answer_count for document in documents),
        total=len({*keys}),
        total_answers=len(keys),  # one of each model to a document is shown
        is_folder=options.is_folder,
        data_links=_data_links(options),
    )
    return f"{FIRST_LINE}\n{page_text.lstrip()}".encode()


def _joined(documents: list[ShownDocument]) -> str:
    """Return the JSON of documents, with commas between them."""
    return ",".join(document.json for document in documents)


def _data_links(options: Namespace) -> dict[str, str]:
    """Return label -> link from the page to its figures, of the files that are written."""
    paths = {"CSV": options.csv, "JSON": options.json}
    page_folder = options.html.absolute().parent
    return {
        label: quote(os.path.relpath(path.absolute(), page_folder))
        for label, path in paths.items()
        if path
    }


@cache  # it takes a quarter of a second, and a page may be rendered again without documents
def _template() -> Template:
    """Return the template of the page, with the filters that it names."""
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
        "whole": whole,
        "points": points,
        "span": lambda rank: "–".join(dict.fromkeys(rank.split("-"))) if rank else "–",
        "middle": _middle,
        "hash": _hash,
    }
    return environment.get_template("board.html.jinja")


def _render(column_count: int, **board_and_documents: object) -> str:
    """Return the page that the template makes of a board's data and of its documents."""
    columns = range(column_count)
    picked = ", ".join(f"body:has(#pick{n}:checked) .c{n}" for n in columns)
    return _template().render(
        **board_and_documents,
        style=(_TEMPLATES / "board.css").read_text("utf-8") + _PICKED.format(picked),
        script=(_TEMPLATES / "board.js").read_text("utf-8"),
        made=datetime.now(timezone.utc),
        tool=VERSION,
        severity=SEVERITY,
        panel_size=(pictures.WIDTH, pictures.HEIGHT),
        low=pictures.LOW,
        axes={
            "left": pictures.LEFT,
            "right": pictures.RIGHT,
            "top": pictures.TOP,
            "bottom": pictures.BOTTOM,
        },
    )


def _clean(value: object) -> object:
    """Return what is to be printed; what nobody could see in a name is escaped."""
    is_markup = hasattr(value, "__html__")  # made of texts that have been here
    return printable(value) if isinstance(value, str) and not is_markup else value


def _hash(text: str) -> str:
    """Return how a Content-Security-Policy names an inline script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _shown_names(names: list[str], longest: int = LONGEST_NAME) -> list[str]:
    """Return names without their middles where they are long, and no two alike.

    Where two would be, the places of their models on the board tell them apart.
    """
    short_names = [_middle(name, longest) for name in names]
    counts = Counter([*short_names, *_NAMES_OF_ROWS])
    shown_names = []
    for number, (name, short_name) in enumerate(zip(names, short_names), 1):
        place = f" (#{number})"
        if counts[short_name] > 1 or _PLACE.search(short_name):
            short_name = _middle(name, longest - len(place)) + place
        shown_names.append(short_name)
    return shown_names


def _middle(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name without its middle where it is long: both of its ends tell."""
    name = printable(name)
    if len(name) <= longest:
        return name
    return f"{name[: longest - longest // 2]}…{name[-(longest // 2 - 1) :]}"
