"""The page: an HTML file with its style, script and data, which opens from disk.

Tables count every answer. Of the documents, a page holds as many as its bound allows,
chosen so that each reason of each model in each task has some before any has more; a page
in a folder has files beside it that hold all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import re
from argparse import Namespace
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lm_eval_tasks import VERSION

from ..core.cli import printable
from ..core.errors import ToolError
from ..core.files import check_output
from ..core.task_scorers import scorer
from ..core.write_tables import natural, percent, points, whole
from ..figures.score_rows import RULES
from ..integrity.run_checks import SEVERITY
from ..verdicts.judge_answer import shorten
from ..verdicts.page_excerpts import Pieces
from ..verdicts.runs_by_model import Model, add_rows, by_table
from ..verdicts.tally import Document
from . import pictures


# How a page begins, and a file beside it: by these lines, they are ours.
FIRST_LINE = "<!doctype html><!-- temporal-eval leaderboard -->"
SCRIPT_LINE = "// temporal-eval leaderboard"
_TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 20_000_000  # of the page,
MOST_OF_DOCUMENTS = 12_000_000  # and of JSON that holds documents in it
MOST_ANSWERS = 8_000  # of all models together, to the documents in it
MOST_OF_A_FILE = 300  # documents

Key = tuple[str, str, int]  # task, digest of a document, and number of the copy


def files(board: dict, options: Namespace) -> dict[Path, bytes]:
    """Return the content of the page of a board's data, and of the files beside it.

    ToolError for a page above MOST_BYTES, and where a file beside it is not ours.
    """
    models = [entrant.model for entrant in board["models"]]
    json_by_task = collect(models, options)
    script_by_path = {}
    script_names: dict[str, list[str]] = defaultdict(list)
    for task, task_json_docs in json_by_task.items() if options.is_folder else ():
        for start in range(0, len(task_json_docs), MOST_OF_A_FILE):
            documents_json = ",".join(task_json_docs[start : start + MOST_OF_A_FILE])
            script = f"{SCRIPT_LINE}\naddDocuments([{documents_json}]);\n"
            script_names[task].append(f"documents/{task}-{len(script_names[task])}.js")
            script_path = options.html.parent / script_names[task][-1]
            check_output(script_path, "leaderboard", re.escape(SCRIPT_LINE))
            script_by_path[script_path] = script.encode()
    script_data = {
        # In the order in which documents number them; the page has its own.
        "models": [printable(model.name) for model in models],
        "reasons": {task: scorer(task).utils.REASONS for task in json_by_task},
        "tasks": {group["name"]: group["tasks"] for group in board["benchmarks"]},
        "pairs": {group["name"]: group["pairs"] for group in board["benchmarks"]},
        "files": script_names,
    }
    page_of = partial(_page_content, board, script_data, options)
    page_content = page_of(json_by_task)
    if len(page_content) > MOST_BYTES:  # the board itself counts more than documents
        page_content = page_of(dict.fromkeys(json_by_task, []))
    if len(page_content) > MOST_BYTES:
        raise ToolError(
            f"a page of {len(models)} models is larger than {MOST_BYTES // 10**6} MB;"
            " name fewer runs, or write --csv or --json alone"
        )
    return script_by_path | {options.html: page_content}


def _page_content(
    board: dict,
    script_data: dict,
    options: Namespace,
    json_by_task: dict[str, list[str]],
) -> bytes:
    """Return the page; JSON of documents is in it unless it has files beside it."""
    inline_json = "" if options.is_folder else ",".join(chain(*json_by_task.values()))
    models = [entrant.model for entrant in board["models"]]
    page_text = _render(
        **board,
        held=f'{escaped(script_data)[:-1]},"documents":[{inline_json}]}}',
        held_counts={task: len(json_by_task[task]) for task in json_by_task},
        total=len({key for model in models for key, _ in model.documents()}),
        is_folder=options.is_folder,
        data_links=_data_links(options),
    )
    return f"{FIRST_LINE}\n{page_text.lstrip()}".encode()


def _data_links(options: Namespace) -> dict[str, str]:
    """Return label -> link from the page to its figures, of the files that are written."""
    paths = {"CSV": options.csv, "JSON": options.json}
    page_folder = options.html.absolute().parent
    return {
        label: quote(os.path.relpath(path.absolute(), page_folder))
        for label, path in paths.items()
        if path
    }


def _render(**board_and_documents: object) -> str:
    """Return the page that the template makes of a board's data and of its documents."""
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
    return environment.get_template("board.html.jinja").render(
        **board_and_documents,
        style=(_TEMPLATES / "board.css").read_text("utf-8"),
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


def _middle(name: str, longest: int = 28) -> str:
    """Return a name without its middle where it is long: both of its ends tell."""
    name = printable(name)
    if len(name) <= longest:
        return name
    return f"{name[: longest - longest // 2]}…{name[-(longest // 2 - 1) :]}"


def collect(models: list[Model], options: Namespace) -> dict[str, list[str]]:
    """Return task -> JSON of each document to show, with every model's answer.

    In a folder, these are all.
    """
    answer_limit: float = MOST_ANSWERS
    byte_limit: float = MOST_OF_DOCUMENTS
    if options.is_folder:
        answer_limit = byte_limit = math.inf
    ranked_keys = dict.fromkeys(choose_keys(models, answer_limit))
    entry_by_key: dict[Key, dict] = {}  # in the order of models and their files
    for model_number, model in enumerate(models):
        shown = [(key, doc) for key, doc in model.documents() if key in ranked_keys]
        documents = [(key[0], document) for key, document in shown]
        add_rows(documents)
        texts_by_document = _read_texts(documents)
        for key, document in shown:
            entry = entry_by_key.setdefault(key, _document_entry(key, document.row))
            response, prompt = texts_by_document[document]
            entry["prompt"] = entry["prompt"] or prompt
            entry["answers"].append(_answer_entry(model_number, document, response))
            document.rows = ()  # which would hold the texts of all models
    json_by_key, total_json_bytes = {}, 0
    for key in ranked_keys:
        document_json = escaped(entry_by_key[key])
        total_json_bytes += len(document_json)
        if total_json_bytes <= byte_limit:
            json_by_key[key] = document_json
    json_docs_by_task: dict[str, list[str]] = defaultdict(list)
    id_by_key = {key: json.dumps(entry_by_key[key]["id"]) for key in entry_by_key}
    for key in sorted(id_by_key, key=lambda key: (key[0], natural(id_by_key[key]))):
        if key in json_by_key:
            json_docs_by_task[key[0]].append(json_by_key[key])
    return json_docs_by_task


def choose_keys(models: list[Model], limit: float) -> list[Key]:
    """Return the documents to show, the first ones first, with at most `limit` answers.

    A document's place is its best in a cell of model, task and reason, in digests' order.
    """
    keys_by_cell: dict[tuple, list[Key]] = defaultdict(list)
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            keys_by_cell[model_number, key[0], document.answers[-1].reason].append(key)
    place_by_key: dict[Key, int] = {}
    for cell_keys in keys_by_cell.values():
        for place_in_cell, key in enumerate(sorted(cell_keys)):
            place_by_key[key] = min(place_in_cell, place_by_key.get(key, place_in_cell))
    ranked_keys = sorted(place_by_key, key=lambda key: (place_by_key[key], key))
    answer_count_by_key = Counter(chain(*keys_by_cell.values()))
    running_totals = accumulate(answer_count_by_key[key] for key in ranked_keys)
    return [key for key, total in zip(ranked_keys, running_totals) if total <= limit]


def _document_entry(key: Key, row: dict) -> dict:
    """Return what the page holds of a document, without its prompt and answers yet."""
    task, document_digest, copy_number = key
    return {
        # The same in every build, so that links to it stay.
        "key": f"{task}-{document_digest[:12]}{f'-{copy_number}' if copy_number else ''}",
        "task": task,
        "id": row["doc_id"],
        "parts": {
            column: row[column]
            for column in scorer(task).utils.BREAKDOWNS
            if row[column] is not None
        },
        "prompt": [],
        "reference": plain(row["reference"]),
        "answers": [],
    }


def _read_texts(
    documents: list[tuple[str, Document]],
) -> dict[Document, list[Pieces]]:
    """Return document -> pieces of the last response to it, and of its prompt."""
    texts_by_document = {}
    for table, task, group in by_table(documents):
        prompts = table.prompts(task)
        responses = table.responses_at(task, {doc.answers[-1].row for doc in group})
        for document in group:
            last_answer = document.answers[-1]
            response = responses[last_answer.row]
            if response is None:
                response = [last_answer.length]
            texts_by_document[document] = [response, prompts.get(document.digest, [])]
    return texts_by_document


def _answer_entry(model_number: int, document: Document, response: Pieces) -> dict:
    """Return what the page holds of a model's answer to a document."""
    row, mean_by_metric = document.row, document.means()
    headline = scorer(row["task"]).headline
    return {
        "model": model_number,
        "reason": row["reason"],
        "scores": [mean_by_metric.get(headline.get(rule, "")) for rule in RULES],
        "read": [plain(row["published"]), plain(row["value"])],
        "invalid": row["invalid"],
        "response": response,
    }


def plain(encoded: str | None) -> str | None:
    """Return a value that a rule read, as JSON, as a text: of a lone field its value."""
    with suppress(ValueError, RecursionError):
        if encoded and encoded[0] in '{["':
            return shorten(_flat(json.loads(encoded)))
    return shorten(encoded)


def _flat(value: object) -> str:
    """Return a JSON value as a text, nested objects and lists with commas."""
    if isinstance(value, dict):
        field_texts = [f"{key} {_flat(value[key])}" for key in value]
        value = field_texts if len(value) > 1 else [*value.values()]
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)


def escaped(value: object) -> str:
    """Return JSON that may stand in a <script> element: ASCII, and without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
