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
from argparse import Namespace
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timezone
from itertools import accumulate, chain, groupby, product
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lm_eval_tasks import VERSION

from ..core.cli import printable
from ..core.documents import documents
from ..core.errors import ToolError
from ..core.families import prompt, scorer
from ..core.files import read_lines
from ..core.tables import natural, percent
from ..score.rows import RULES
from ..verdicts.answers import Answer, Source, answers_in, sha256
from ..verdicts.checks import SEVERITY, messages_of
from ..verdicts.figures import Document
from ..verdicts.isolate import each_apart
from ..verdicts.judge import BREAKDOWNS, shorten
from ..verdicts.runs import Model
from .data import CAUSES


# How a page begins, and a file beside it: by these lines, they are ours.
FIRST_LINE = "<!doctype html><!-- temporal-eval leaderboard -->"
SCRIPT_LINE = "// temporal-eval leaderboard"
_TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 20_000_000  # of the page,
MOST_OF_DOCUMENTS = 12_000_000  # and of JSON that holds documents in it
MOST_ANSWERS = 8_000  # of all models together, to the documents in it
MOST_OF_A_FILE = 300  # documents
LONGEST_PROMPT, LONGEST_RESPONSE = 4_000, 2_400  # characters; longer ones lose some
FIRST = 15  # models that a section shows of many, beside the pinned ones
FEW = 20  # rows below which a cell is grey

# A text: [which rules' answer it belongs to, text], or how many characters are left out.
Pieces = list[list | int]
Key = tuple[str, str, int]  # task, digest of a document, and number of the copy


def files(board: dict, options: Namespace) -> dict[Path, bytes]:
    """Return the content of the page of a board's data, and of the files beside it.

    ToolError for a page above MOST_BYTES.
    """
    models = [entrant.model for entrant in board["models"]]
    json_docs, scripts, script_names = collect(models, options), {}, {}
    for task in json_docs if options.is_folder else ():
        script_names[task] = []
        for start in range(0, len(json_docs[task]), MOST_OF_A_FILE):
            documents_json = ",".join(json_docs[task][start : start + MOST_OF_A_FILE])
            script = f"{SCRIPT_LINE}\naddDocuments([{documents_json}]);\n"
            script_names[task].append(f"documents/{task}-{len(script_names[task])}.js")
            scripts[options.html.parent / script_names[task][-1]] = script.encode()
    scorers = {task: scorer(task) for task in json_docs}
    script_data = {
        # In the order in which documents number them; the page has its own.
        "models": [printable(model.name) for model in models],
        "families": {task: task_scorer.family for task, task_scorer in scorers.items()},
        "reasons": {
            task_scorer.family: task_scorer.utils.REASONS
            for task_scorer in scorers.values()
        },
        "files": script_names,
    }
    inline_json_docs = [] if options.is_folder else [*chain(*json_docs.values())]
    page_json = (
        f'{escaped(script_data)[:-1]},"documents":[{",".join(inline_json_docs)}]}}'
    )
    all_keys = {key for model in models for key, _ in model.documents()}
    page_values = {"encoded": json_docs, "total": len(all_keys), "held": page_json}
    page_text = _render(board, page_values | {"is_folder": options.is_folder})
    page_content = f"{FIRST_LINE}\n{page_text.lstrip()}".encode()
    if len(page_content) > MOST_BYTES:
        raise ToolError(
            f"a page of {len(models)} models is larger than {MOST_BYTES // 10**6} MB;"
            " name fewer runs, or write --csv or --json alone"
        )
    return scripts | {options.html: page_content}


def _render(board: dict, page_values: dict) -> str:
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
            (heading, [*heading_columns])
            for heading, heading_columns in groupby(columns, itemgetter("group"))
        ],
    }
    style_text, script_text = (
        _TEMPLATES.joinpath(f"board.{ext}").read_text("utf-8") for ext in ("css", "js")
    )
    return environment.get_template("board.html.jinja").render(
        **board,
        **page_values,
        style=style_text,
        script=script_text,
        made=datetime.now(timezone.utc),
        tool=VERSION,
        causes=CAUSES,
        scales=_scales(board),
        severity=SEVERITY,
        first=FIRST,
        few=FEW,
    )


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
    percentage = 100 * (value - scale["low"]) / (scale["high"] - scale["low"])
    return f"{min(max(percentage, 0), 100):.1f}%"


def _middle(name: str, longest: int = 28) -> str:
    """Return a name without its middle where it is long: both of its ends tell."""
    name = printable(name)
    if len(name) <= longest:
        return name
    return f"{name[: longest - longest // 2]}…{name[-(longest // 2 - 1) :]}"


def _scales(board: dict) -> dict[str, dict]:
    """Return the scales of benchmarks' scores, of their gaps, and of points lost."""
    scale_by_name, lost_sums = {}, [0.0]
    for scope in ["mean", *(benchmark["name"] for benchmark in board["benchmarks"])]:
        figures_of_models = [entrant.figures for entrant in board["models"]]
        rows = [figures[scope] for figures in figures_of_models if scope in figures]
        end_columns = [f"{rule}_{end}" for rule in RULES for end in ("low", "high")]
        scale_by_name[scope] = scale(
            row[column] for row in rows for column in end_columns
        )
        gap_values = [
            gap_value for row in rows if row.get("gap") for gap_value in row["gap"]
        ]
        scale_by_name[f"{scope} gap"] = scale([0, *gap_values])
        lost_sums += [sum(row["lost"].values()) for row in rows if "lost" in row]
    return scale_by_name | {"lost": scale(lost_sums, 0.05)}


def scale(values: Iterable[float], step: float = 0.1) -> dict:
    """Return the ends of a scale of whole steps, and where its ticks are."""
    values = [*values] or [0.0]
    low_index = math.floor(min(values) / step + 1e-9)
    high_index = max(math.ceil(max(values) / step - 1e-9), low_index + 1)
    steps_per_tick = math.ceil((high_index - low_index) / 5)
    ticks = [step * index for index in range(low_index, high_index + 1, steps_per_tick)]
    return {"low": step * low_index, "high": step * high_index, "ticks": ticks}


# -------------------------------------------------------------------------- documents


class Shown(NamedTuple):
    """An answer whose text is shown."""

    row: dict
    entry: dict  # what the page holds of it
    document: dict | None  # and of its document, if the prompt is taken from its line


Reading = tuple[Source, list[Shown]]  # a file of answers, and those that are shown


def collect(models: list[Model], options: Namespace) -> dict[str, list[str]]:
    """Return task -> JSON of each document to show, with every model's answer.

    In a folder, these are all. ToolError where a file of answers has changed since.
    """
    answer_limit, byte_limit = MOST_ANSWERS, MOST_OF_DOCUMENTS
    if options.is_folder:
        answer_limit = byte_limit = math.inf
    chosen_keys = choose_keys(models, answer_limit)
    chosen_key_set, entry_by_key = {*chosen_keys}, {}
    reading_by_path: dict[Path, Reading] = {}
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            if key in chosen_key_set:
                row, source = document.row, document.table.source
                answer_entry = _answer_entry(model_number, document)
                is_first = key not in entry_by_key
                document_entry = entry_by_key.setdefault(key, _document_entry(key, row))
                document_entry["answers"].append(answer_entry)
                _, shown_answers = reading_by_path.setdefault(source.path, (source, []))
                shown_answers.append(
                    Shown(row, answer_entry, document_entry if is_first else None)
                )
    _add_texts([*reading_by_path.values()], options)
    json_by_key = {key: escaped(entry_by_key[key]) for key in chosen_keys}
    keys_and_totals = zip(chosen_keys, accumulate(map(len, json_by_key.values())))
    shown_keys = {
        key for key, total_size in keys_and_totals if total_size <= byte_limit
    }
    sort_id_by_key = {
        key: natural(json.dumps(entry_of_key["id"]))
        for key, entry_of_key in entry_by_key.items()
    }
    json_docs_by_task: dict[str, list[str]] = defaultdict(list)
    for key in sorted(entry_by_key, key=lambda key: (key[0], sort_id_by_key[key])):
        if key in shown_keys:
            json_docs_by_task[key[0]].append(json_by_key[key])
    return json_docs_by_task


def choose_keys(models: list[Model], limit: float) -> list[Key]:
    """Return the documents to show, the first ones first, with at most `limit` answers.

    A document's place is its best in a cell of model, task and reason, in digests' order.
    """
    keys_by_cell: dict[tuple, list[Key]] = defaultdict(list)
    answer_count_by_key: Counter[Key] = Counter()
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            keys_by_cell[model_number, key[0], document.row["reason"]].append(key)
            answer_count_by_key[key] += 1
    place_by_key: dict[Key, int] = {}
    for cell_keys in keys_by_cell.values():
        for place_in_cell, key in enumerate(sorted(cell_keys)):
            place_by_key[key] = min(place_in_cell, place_by_key.get(key, place_in_cell))
    ranked_keys = sorted(place_by_key, key=lambda key: (place_by_key[key], key))
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
            column: row[column] for column in BREAKDOWNS if row[column] is not None
        },
        "prompt": [],
        "reference": plain(row["reference"]),
        "answers": [],
    }


def _answer_entry(model_number: int, document: Document) -> dict:
    """Return what the page holds of a model's answer to a document, without its text."""
    scored_row, mean_by_metric = document.row, document.means()
    headline_metrics = scorer(scored_row["task"]).headline or ()
    return {
        "model": model_number,
        "reason": scored_row["reason"],
        "scores": [mean_by_metric[metric] for metric in headline_metrics]
        or [None, None],
        "read": [plain(scored_row["published"]), plain(scored_row["value"])],
        "invalid": scored_row["invalid"],
        "response": [],
    }


def _add_texts(readings: list[Reading], options: Namespace) -> None:
    """Add the texts of responses and prompts, which are read in processes with limits."""
    reading_batches = (
        readings[worker_number :: options.workers]
        for worker_number in range(options.workers)
    )
    batch_queue = deque(filter(None, reading_batches))
    for batch, batch_reply in each_apart(_read_texts, batch_queue, options):
        if fault := batch_reply.get("failure", batch_reply.get("error")):
            raise ToolError(f"{batch[0][0].path}: {fault}")
        for (source, shown_answers), answer_texts in zip(batch, batch_reply["texts"]):
            if len(answer_texts) < len(shown_answers):
                fault = "has changed while it was read; run again"
                raise ToolError(f"{source.path}: {fault}")
            for answer_number, response_pieces, prompt_pieces in answer_texts:
                row, answer_entry, document_entry = shown_answers[answer_number]
                answer_entry["response"] = response_pieces
                if document_entry and prompt_pieces is None:
                    document_entry["prompt"] = _pack_prompt(row, options.include_path)
                elif document_entry:
                    document_entry["prompt"] = prompt_pieces


def _pack_prompt(row: dict, include_path: Path) -> Pieces:
    """Return the prompt of a document that a pack has, without examples."""
    doc = documents(row["task"], include_path)[row["doc_id"]]
    return cut(prompt(row["task"], doc), [], LONGEST_PROMPT)


def _read_texts(readings: list[Reading], _: object) -> dict[str, list[list]]:
    """Return, by file, the numbers of answers with pieces of their responses and prompts."""
    texts_of_files = []
    for source, shown_answers in readings:
        numbers: dict[int, list[int]] = defaultdict(list)  # by line
        for answer_number, (row, *_) in enumerate(shown_answers):
            numbers[row["line"]].append(answer_number)
        file_texts = []
        lines = (line for line in read_lines(source.path) if line.number in numbers)
        for line in lines:
            answers_and_numbers = product(
                answers_in(line, source.task), numbers[line.number]
            )
            for answer, answer_number in answers_and_numbers:
                row, _, document_entry = shown_answers[answer_number]
                if not answer.fault and _is_of(answer, row):
                    rule_spans = [row["published_span"], row["flexible_span"]]
                    response_pieces = cut(answer.response, rule_spans, LONGEST_RESPONSE)
                    prompt_pieces = _prompt(answer) if document_entry else None
                    file_texts.append([answer_number, response_pieces, prompt_pieces])
        texts_of_files.append(file_texts)
    return {"texts": texts_of_files}


def _is_of(answer: Answer, row: dict) -> bool:
    """Tell whether a row is that of an answer in its line."""
    compared_attributes = ("task", "filter", "sample")
    has_same_attributes = all(
        getattr(answer, attribute) == row[attribute]
        for attribute in compared_attributes
    )
    return has_same_attributes and sha256(answer.response).startswith(row["response"])


def _prompt(answer: Answer) -> Pieces | None:
    """Return the prompt as it was sent, or as the task renders a document in the line."""
    prompt_text = answer.prompt
    if prompt_text is None and answer.doc is None:
        return None
    if prompt_text is None:
        try:
            prompt_text = prompt(answer.task, answer.doc)
        except Exception:  # what a submission's document may raise
            prompt_text = json.dumps(answer.doc, indent=2, ensure_ascii=False)
    elif messages := messages_of(prompt_text):
        message_texts = (
            f"[{message.get('role')}]\n{message.get('content')}" for message in messages
        )
        prompt_text = "\n\n".join(message_texts)
    return cut(prompt_text, [], LONGEST_PROMPT)


def cut(text: str, spans: list[tuple[int, int] | None], longest: int) -> Pieces:
    """Return a text as pieces, the n-th span marked by the bit n.

    A text longer than `longest` keeps its start, its end, and what is around ends of spans.
    """
    marked_spans = [(*span, 1 << number) for number, span in enumerate(spans) if span]
    span_edges = [edge for start, end, _ in marked_spans for edge in (start, end)]
    length, window_size = len(text), longest // (2 + len(span_edges))
    windows = [(0, window_size), (length - window_size, length)]
    half_window = window_size // 2
    windows += [
        (max(0, edge - half_window), min(length, edge + half_window))
        for edge in span_edges
    ]
    windows = windows if length > longest else [(0, length)]
    boundaries = sorted({0, length, *span_edges, *chain(*windows)})
    pieces: Pieces = []
    for piece_start, piece_end in zip(boundaries, boundaries[1:]):
        if any(
            window_start <= piece_start and piece_end <= window_end
            for window_start, window_end in windows
        ):
            covering_spans = [
                marked_span
                for marked_span in marked_spans
                if marked_span[0] <= piece_start and piece_end <= marked_span[1]
            ]
            pieces.append(
                [sum(bit for *_, bit in covering_spans), text[piece_start:piece_end]]
            )
        elif pieces and isinstance(pieces[-1], int):
            pieces[-1] += piece_end - piece_start
        else:
            pieces.append(piece_end - piece_start)
    return pieces


def plain(encoded: str | None) -> str | None:
    """Return a value that a rule read, as JSON, as a text: of a lone field its value."""
    with suppress(ValueError, RecursionError):
        if encoded and encoded[0] in '{["':
            return shorten(_flat(json.loads(encoded)))
    return shorten(encoded)


def _flat(value: object) -> str:
    """Return a JSON value as a text, nested objects and lists with commas."""
    if isinstance(value, dict):
        text_by_field = {field: _flat(value[field]) for field in value}
        if len(text_by_field) > 1:
            return ", ".join(
                f"{field} {text_by_field[field]}" for field in text_by_field
            )
        return "".join(text_by_field.values())
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)


def escaped(value: object) -> str:
    """Return JSON that may stand in a <script> element: ASCII, and without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
