"""The documents that a board shows whole: which, and their texts as pieces for the page.

Tables count every answer. Of the documents, a page holds as many as its bound allows,
chosen so that each reason of each model in each task has some before any has more.
"""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from jinja2 import TemplateError

from ..core.errors import ToolError
from ..core.families import prompt, scorer
from ..core.jsonl import read_lines
from ..core.tables import natural
from ..verdicts.answers import Answer, answers_in, task_of
from ..verdicts.checks import messages_of
from ..verdicts.figures import Document
from ..verdicts.isolate import Prepared, each_apart
from ..verdicts.judge import (
    BREAKDOWNS,
    document_of,
    hash_response,
    shorten,
)
from ..verdicts.runs import Model
from ..verdicts.tables import Table
from .board import FIRST_LINES, Key


MOST_ANSWERS = 8_000  # of all models together, to the documents that are shown
MOST_BYTES = 12_000_000  # of JSON that holds them
MOST_OF_A_FILE = 300  # documents
LONGEST_PROMPT, LONGEST_RESPONSE = 4_000, 2_400  # characters; longer ones lose some

# A text: [which rules' answer it belongs to, text], or how many characters are left out.
Pieces = list[list | int]


def pieces(text: str, spans: list[tuple[int, int] | None], longest: int) -> Pieces:
    """Return a text as pieces, the n-th span marked by the bit n.

    A text longer than `longest` keeps its start, its end, and what is around ends of spans.
    """
    marked_spans = [(*span, 1 << place) for place, span in enumerate(spans) if span]
    ends = [end for start, end, _ in marked_spans for end in (start, end)]
    size, window_size = len(text), longest // (2 + len(ends))
    windows = [(0, window_size), (size - window_size, size)]
    half = window_size // 2
    windows += [(max(0, end - half), min(size, end + half)) for end in ends]
    windows = windows if size > longest else [(0, size)]
    boundaries = sorted({0, size, *ends, *chain(*windows)})
    text_pieces: Pieces = []
    for start, end in zip(boundaries, boundaries[1:]):
        if any(first <= start and end <= last for first, last in windows):
            covering = [x for x in marked_spans if x[0] <= start and end <= x[1]]
            text_pieces.append([sum(bit for *_, bit in covering), text[start:end]])
        elif text_pieces and isinstance(text_pieces[-1], int):
            text_pieces[-1] += end - start
        else:
            text_pieces.append(end - start)
    return text_pieces


def chosen(models: list[Model], limit: float) -> list[Key]:
    """Return the documents to show, the first ones first, with at most `limit` answers.

    A document's place is its best in a cell of model, task and reason, in digests' order.
    """
    keys_by_cell: dict[tuple, list[Key]] = defaultdict(list)
    answer_counts: Counter[Key] = Counter()
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            keys_by_cell[model_number, key[0], document.row["reason"]].append(key)
            answer_counts[key] += 1
    places: dict[Key, int] = {}
    for keys in keys_by_cell.values():
        for place, key in enumerate(sorted(keys)):
            places[key] = min(place, places.get(key, place))
    ranked_keys = sorted(places, key=lambda key: (places[key], key))
    totals = accumulate(answer_counts[key] for key in ranked_keys)
    return [key for key, total in zip(ranked_keys, totals) if total <= limit]


class Documents(NamedTuple):
    """Documents as a page, or the files beside it, hold them."""

    encoded: dict[str, list[str]]  # task -> JSON of each document
    total: int  # how many there are

    def scripts(self) -> dict[str, dict[str, bytes]]:
        """Return task -> name of a file -> content, which a page from disk can load."""
        scripts: dict[str, dict[str, bytes]] = defaultdict(dict)
        for task, encoded in self.encoded.items():
            for number, start in enumerate(range(0, len(encoded), MOST_OF_A_FILE)):
                joined = ",".join(encoded[start : start + MOST_OF_A_FILE])
                text = f"{FIRST_LINES['js']}\naddDocuments([{joined}]);\n"
                scripts[task][f"documents/{task}-{number}.js"] = text.encode()
        return scripts


class Reading(NamedTuple):
    """Lines of a file whose texts are shown."""

    table: Table
    rows: dict[int, list[tuple[int, dict]]]  # line -> number of an answer, and its row
    prompts: set[int]  # numbers of answers with which the prompt is shown
    include_path: Path


def collect(models: list[Model], options: Namespace) -> Documents:
    """Return the documents to show, or in a folder all, with every model's answer.

    Texts are read again from the files of answers; ToolError where one has changed since.
    """
    limit, most_bytes = MOST_ANSWERS, MOST_BYTES
    if options.is_folder:
        limit = most_bytes = math.inf
    entries: dict[Key, dict] = {key: {} for key in chosen(models, limit)}
    order_by_key: dict[Key, tuple] = {}
    answers: list[dict] = []
    readings: dict[Path, Reading] = {}
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            if key not in entries:
                continue
            row, table = document.row, document.table
            reading = Reading(table, {}, set(), options.include_path)
            reading = readings.setdefault(table.source.path, reading)
            reading.rows.setdefault(row["line"], []).append((len(answers), row))
            if not entries[key]:
                doc_id = natural(json.dumps(row["doc_id"]))
                order_by_key[key] = (key[0], doc_id, len(order_by_key))
                reading.prompts.add(len(answers))
                entries[key] = _document(key, row)
            answers.append(_answer(model_number, document))
            entries[key]["answers"].append(answers[-1])
    prompts = _read_texts(readings, answers, options)
    for entry in entries.values():
        entry["prompt"] = prompts[id(entry["answers"][0])]
    encoded = {key: escaped(entry) for key, entry in entries.items()}
    sizes = zip(encoded, accumulate(map(len, encoded.values())))
    encoded_by_task: dict[str, list[str]] = defaultdict(list)
    shown_keys = [key for key, size in sizes if size <= most_bytes]
    for key in sorted(shown_keys, key=order_by_key.get):
        encoded_by_task[key[0]].append(encoded[key])
    total = {key for model in models for key, _ in model.documents()}
    return Documents(encoded_by_task, len(total))


def _read_texts(
    readings: dict[Path, Reading], answers: list[dict], options: Namespace
) -> dict[int, Pieces]:
    """Put the texts of responses into answers; return id of an answer -> its prompt."""
    prompts: dict[int, Pieces] = {}
    all_readings = [*readings.values()]
    workers = options.workers
    queue = deque(all_readings[number::workers] for number in range(workers))
    for job, reply in each_apart(_texts, queue, options):
        if fault := reply.get("failure", reply.get("error")):
            raise ToolError(f"{job[0].table.source.path}: {fault}")
        if "changed" in reply:
            fault = "has changed while it was read; run again"
            raise ToolError(f"{reply['changed']}: {fault}")
        for number, response, prompt_pieces in reply["texts"]:
            answers[number]["response"] = response
            prompts[id(answers[number])] = prompt_pieces
    return prompts


def _texts(readings: list[Reading], prepared: Prepared) -> dict:
    """Return the number of each answer with the pieces of its response and prompt.

    Or `changed`, a file that has changed, or a reply as of `each_apart`.
    """
    texts: list[list] = []
    wanted: dict[str, int] = {}  # task -> line
    for reading in readings:
        old_count = len(texts)
        for answer in _answers(reading):
            needs_documents = answer.doc is None
            if needs_documents and ("documents", answer.task) not in prepared:
                wanted[answer.task] = answer.number
                continue
            for number, row in reading.rows[answer.number]:
                if _is_of(answer, row):
                    is_shown = number in reading.prompts
                    prompt_pieces = is_shown and _prompt(answer, reading.include_path)
                    spans = [row["published_span"], row["flexible_span"]]
                    response = pieces(answer.response, spans, LONGEST_RESPONSE)
                    texts.append([number, response, prompt_pieces or None])
        expected_count = sum(map(len, reading.rows.values()))
        if len(texts) - old_count < expected_count and not wanted:
            return {"changed": str(reading.table.source.path)}
    needs = [("documents", task, line) for task, line in wanted.items()]
    return {"want": needs} if needs else {"texts": texts}


def _answers(reading: Reading) -> Iterator[Answer]:
    """Yield the answers in the lines of a reading that can be scored."""
    source, last_line = reading.table.source, max(reading.rows)
    task = task_of(source.path, source.task)
    for line in read_lines(source.path):
        if line.number in reading.rows:
            yield from (answer for answer in answers_in(line, task) if not answer.fault)
        if line.number == last_line:
            break


def _is_of(answer: Answer, row: dict) -> bool:
    """Tell whether a row is that of an answer in its line."""
    columns = ("task", "filter", "sample", "response")
    cells = answer.task, answer.filter, answer.sample, hash_response(answer.response)
    return cells == tuple(row[column] for column in columns)


def _document(key: Key, row: dict) -> dict:
    task, digest, copy = key
    return {
        # The same in every build, so that links to it stay.
        "key": f"{task}-{digest[:12]}{f'-{copy}' if copy else ''}",
        "task": task,
        "id": row["doc_id"],
        "parts": {name: row[name] for name in BREAKDOWNS if row[name] is not None},
        "prompt": [],
        "reference": plain(row["reference"]),
        "answers": [],
    }


def _answer(model: int, document: Document) -> dict:
    row, means = document.row, document.means()
    headline = scorer(row["task"]).headline or ()
    return {
        "model": model,
        "reason": row["reason"],
        "scores": [means[metric] for metric in headline] or [None, None],
        "read": [plain(row["published"]), plain(row["value"])],
        "invalid": row["invalid"],
        "response": [],
    }


def plain(text: str | None) -> str | None:
    """Return a value that a rule read, as JSON, as a text: of a lone field its value."""
    value: object = text
    if text is not None and text[:1] in '{["':
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
    if isinstance(value, dict):
        names = [name for name in value if name != "explanation"]
        texts = [_flat(value[name]) for name in names]
        labels = [f"{name} " if len(names) > 1 else "" for name in names]
        value = ", ".join(f"{label}{text}" for label, text in zip(labels, texts))
    elif isinstance(value, list):
        value = ", ".join(f"{_flat(cell)}" for cell in value)
    return shorten(value)


def _flat(value: object) -> str | None:
    """Return a value in another one as a text."""
    return plain(value if isinstance(value, str) else json.dumps(value))


def _prompt(answer: Answer, include_path: Path) -> Pieces:
    """Return the prompt as it was sent, else as the task makes it without examples."""
    text = answer.prompt
    if text is None:
        doc = document_of(answer, include_path)
        try:
            text = prompt(answer.task, doc)
        except (KeyError, TypeError, ValueError, TemplateError):
            text = json.dumps(doc, indent=2, ensure_ascii=False)
    elif messages := messages_of(text):
        texts = (f"[{x.get('role')}]\n{x.get('content')}" for x in messages)
        text = "\n\n".join(texts)
    return pieces(text, [], LONGEST_PROMPT)


def escaped(value: object) -> str:
    """Return JSON that may stand in a <script> element: ASCII, and without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
