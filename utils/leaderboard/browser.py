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
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from jinja2 import TemplateError

from ..core.documents import documents
from ..core.errors import ToolError
from ..core.families import prompt, scorer
from ..core.jsonl import read_lines
from ..core.tables import natural
from ..verdicts.answers import Answer, Source, answers_in, task_of
from ..verdicts.checks import messages_of
from ..verdicts.figures import Document
from ..verdicts.isolate import each_apart
from ..verdicts.judge import BREAKDOWNS, response_digest, sample_name, shown
from ..verdicts.runs import Model


SCRIPT_LINE = "// temporal-eval leaderboard"  # by which a script with documents is ours
MOST_ANSWERS = 8_000  # of all models together, to the documents that are shown
MOST_BYTES = 12_000_000  # of JSON that holds them
MOST_OF_A_FILE = 300  # documents
LONGEST_PROMPT, LONGEST_RESPONSE = 4_000, 2_400  # characters; longer ones lose some

# A text: [which rules' answer it belongs to, text], or how many characters are left out.
Pieces = list[list | int]
Key = tuple[str, str, int]  # task, digest of a document, and number of the copy


def cut(text: str, spans: list[tuple[int, int] | None], longest: int) -> Pieces:
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
    pieces: Pieces = []
    for start, end in zip(boundaries, boundaries[1:]):
        if any(first <= start and end <= last for first, last in windows):
            covering = [x for x in marked_spans if x[0] <= start and end <= x[1]]
            pieces.append([sum(bit for *_, bit in covering), text[start:end]])
        elif pieces and isinstance(pieces[-1], int):
            pieces[-1] += end - start
        else:
            pieces.append(end - start)
    return pieces


def choose_keys(models: list[Model], limit: float) -> list[Key]:
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
                text = f"{SCRIPT_LINE}\naddDocuments([{joined}]);\n"
                scripts[task][f"documents/{task}-{number}.js"] = text.encode()
        return scripts


class Shown(NamedTuple):
    """An answer whose texts are shown."""

    row: dict
    entry: dict  # what the page holds of it
    document: dict  # and of its document

    @property
    def is_first(self) -> bool:
        """Whether the prompt of the document is taken from its line."""
        return self.document["answers"][0] is self.entry


class Reading(NamedTuple):
    """The answers of a file whose texts are shown."""

    source: Source
    numbers: dict[int, list[int]]  # line -> numbers of its answers on the page


def collect(models: list[Model], options: Namespace) -> Documents:
    """Return the documents to show, or in a folder all, with every model's answer.

    Texts are read again from the files of answers; ToolError where one has changed since.
    """
    limit, most_bytes = MOST_ANSWERS, MOST_BYTES
    if options.is_folder:
        limit = most_bytes = math.inf
    entries: dict[Key, dict] = {key: {} for key in choose_keys(models, limit)}
    order_by_key: dict[Key, tuple] = {}
    answers: list[Shown] = []
    readings: dict[Path, Reading] = {}
    for model_number, model in enumerate(models):
        for key, document in model.documents():
            if key not in entries:
                continue
            row, source = document.row, document.table.source
            if not entries[key]:
                doc_id = natural(json.dumps(row["doc_id"]))
                order_by_key[key] = (key[0], doc_id, len(order_by_key))
                entries[key] = _document_entry(key, row)
            entry = _answer_entry(model_number, document)
            entries[key]["answers"].append(entry)
            reading = readings.setdefault(source.path, Reading(source, {}))
            reading.numbers.setdefault(row["line"], []).append(len(answers))
            answers.append(Shown(row, entry, entries[key]))
    _add_texts([*readings.values()], answers, options)
    encoded = {key: escaped(entry) for key, entry in entries.items()}
    sizes = zip(encoded, accumulate(map(len, encoded.values())))
    encoded_by_task: dict[str, list[str]] = defaultdict(list)
    shown_keys = [key for key, size in sizes if size <= most_bytes]
    for key in sorted(shown_keys, key=order_by_key.get):
        encoded_by_task[key[0]].append(encoded[key])
    total = {key for model in models for key, _ in model.documents()}
    return Documents(encoded_by_task, len(total))


def _document_entry(key: Key, row: dict) -> dict:
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


def _answer_entry(model_number: int, document: Document) -> dict:
    row, means = document.row, document.means()
    headline = scorer(row["task"]).headline or ()
    return {
        "model": model_number,
        "reason": row["reason"],
        "scores": [means[metric] for metric in headline] or [None, None],
        "read": [plain(row["published"]), plain(row["value"])],
        "invalid": row["invalid"],
        "response": [],
    }


def _add_texts(
    readings: list[Reading], answers: list[Shown], options: Namespace
) -> None:
    """Add the texts of responses and prompts, which are read in processes with limits."""
    workers, do = options.workers, partial(_read_texts, answers=answers)
    batches = (readings[number::workers] for number in range(workers))
    queue = deque(filter(None, batches))
    for work, reply in each_apart(do, queue, options):
        if fault := reply.get("failure", reply.get("error")):
            raise ToolError(f"{work[0].source.path}: {fault}")
        for reading, texts in zip(work, reply["texts"]):
            if len(texts) < sum(map(len, reading.numbers.values())):
                fault = "has changed while it was read; run again"
                raise ToolError(f"{reading.source.path}: {fault}")
            for number, response, prompt_pieces in texts:
                row, entry, document = answers[number]
                entry["response"] = response
                if answers[number].is_first:
                    folder = options.include_path
                    document["prompt"] = prompt_pieces or _pack_prompt(row, folder)


def _pack_prompt(row: dict, include_path: Path) -> Pieces:
    """Return the prompt of a document that a pack has, without examples."""
    doc = documents(row["task"], include_path)[row["doc_id"]]
    return cut(prompt(row["task"], doc), [], LONGEST_PROMPT)


def _read_texts(readings: list[Reading], _: object, answers: list[Shown]) -> dict:
    """Return, by file, the numbers of answers with pieces of their responses and prompts."""
    texts_by_file = []
    for reading in readings:
        texts = []
        for number, answer in _read_again(reading, answers):
            row = answers[number].row
            spans = [row["published_span"], row["flexible_span"]]
            response = cut(answer.response, spans, LONGEST_RESPONSE)
            prompt_pieces = _prompt(answer) if answers[number].is_first else None
            texts.append([number, response, prompt_pieces])
        texts_by_file.append(texts)
    return {"texts": texts_by_file}


def _read_again(reading: Reading, answers: list[Shown]) -> Iterator[tuple[int, Answer]]:
    """Yield the answers of a reading that are still in its file, each after its number."""
    source, last_line = reading.source, max(reading.numbers)
    task = task_of(source.path, source.task)
    for line in read_lines(source.path):
        numbers = reading.numbers.get(line.number, ())
        for answer in answers_in(line, task) if numbers else ():
            for number in numbers:
                if not answer.fault and _is_of(answer, answers[number].row):
                    yield number, answer
        if line.number == last_line:
            break


def _is_of(answer: Answer, row: dict) -> bool:
    """Tell whether a row is that of an answer in its line."""
    names = answer.task, answer.filter, sample_name(answer.sample)
    columns = ("task", "filter", "sample", "response")
    return (*names, response_digest(answer)) == tuple(row[name] for name in columns)


def _prompt(answer: Answer) -> Pieces | None:
    """Return the prompt as it was sent, or as the task renders a document in the line."""
    text = answer.prompt
    if text is None and answer.doc is None:
        return None
    if text is None:
        try:
            text = prompt(answer.task, answer.doc)
        except (KeyError, TypeError, ValueError, TemplateError):
            text = json.dumps(answer.doc, indent=2, ensure_ascii=False)
    elif messages := messages_of(text):
        texts = (f"[{x.get('role')}]\n{x.get('content')}" for x in messages)
        text = "\n\n".join(texts)
    return cut(text, [], LONGEST_PROMPT)


def plain(text: str | None) -> str | None:
    """Return a value that a rule read, as JSON, as a text: of a lone field its value."""
    with suppress(ValueError, RecursionError):
        if text and text[0] in '{["':
            return shown(_flat(json.loads(text)))
    return shown(text)


def _flat(value: object) -> str:
    if isinstance(value, dict):
        fields = {name: value[name] for name in value if name != "explanation"}
        texts = {name: _flat(field) for name, field in fields.items()}
        if len(texts) > 1:
            return ", ".join(f"{name} {texts[name]}" for name in texts)
        return "".join(texts.values())
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value)


def escaped(value: object) -> str:
    """Return JSON that may stand in a <script> element: ASCII, and without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
