"""The documents that a page holds: which of them, and what is shown of prompt and answers.

Each model has an equal share of the room for answers, and of that in bytes, so that no
model takes the room of another; what a model does not need of its share goes to the others.
In a folder there is room for all.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..core.cli import printable
from ..core.format_tables import natural
from ..core.task_scorers import scorer
from ..figures.score_rows import RULES
from ..integrity.run_checks import VERIFIED
from ..verdicts.judge_answer import shorten
from ..verdicts.page_excerpts import Pieces
from ..verdicts.runs_by_model import Model, add_rows, by_table
from ..verdicts.tally import Document


MOST_OF_DOCUMENTS = 12_000_000  # bytes of JSON that holds documents in a page
MOST_ANSWERS = 8_000  # of all models together, to these documents

_LONGEST_ID = 60  # characters of the id of a document

Key = tuple[str, str, int]  # task, digest of a document, and number of the copy


class ShownDocument(NamedTuple):
    """A document as a page holds it."""

    json: str
    answer_count: int  # how many models' answers it has


class Prompt(NamedTuple):
    """What a page shows of the prompt that a model had of a document."""

    pieces: Pieces  # [] where there was no room for it in the table
    is_of_task: bool  # verified, or not in the file and so rendered from the document


def collect(
    models: list[Model], is_folder: bool, most_bytes: int | None = None
) -> dict[str, list[ShownDocument]]:
    """Return task -> the documents to show, with answers of models to them.

    In a folder, these are all; else they have at most so many bytes.
    """
    answer_limit: float = math.inf if is_folder else MOST_ANSWERS
    byte_limit: float = math.inf if is_folder else most_bytes or MOST_OF_DOCUMENTS
    ranked_keys = rank_keys(models)
    entry_by_key: dict[Key, dict] = {}
    prompts_by_key: dict[Key, list[Prompt]] = defaultdict(list)
    ids_by_key: dict[Key, list] = defaultdict(list)
    for model_number, keys in enumerate(choose_keys(models, ranked_keys, answer_limit)):
        shown = [(k, doc) for k, doc in models[model_number].documents() if k in keys]
        documents = [(key[0], document) for key, document in shown]
        add_rows(documents)
        texts_by_document = _read_texts(documents)
        for key, document in shown:
            entry = entry_by_key.setdefault(key, _document_entry(key, document.row))
            response, prompt = texts_by_document[document]
            entry["answers"].append(_answer_entry(model_number, document, response))
            prompts_by_key[key].append(prompt)
            ids_by_key[key].append(document.row["doc_id"])
            document.rows = ()  # which would hold the texts of all models
    for key, entry in entry_by_key.items():
        _add_prompt(entry, prompts_by_key[key], ids_by_key[key])
    ranked_entries = [entry_by_key[key] for key in ranked_keys if key in entry_by_key]
    documents_by_task: dict[str, list[tuple]] = defaultdict(list)
    for entry in _within(ranked_entries, len(models), byte_limit):
        order = natural(json.dumps(entry["id"])), entry["key"]
        shown_document = ShownDocument(escaped(entry), len(entry["answers"]))
        documents_by_task[entry["task"]].append((order, shown_document))
    return {
        task: [document for _, document in sorted(documents_by_task[task])]
        for task in sorted(documents_by_task)
    }


def share_out(needs: Sequence[float], room: float) -> float:
    """Return the most that each may take of a room, so that all together keep within it.

    Who needs less than an equal share leaves the rest to the others.
    """
    for place, need in enumerate(sorted(needs)):
        share = room / (len(needs) - place)
        if need > share:
            return share
        room -= need
    return max(needs, default=0)


def rank_keys(models: list[Model]) -> list[Key]:
    """Return the documents of all models, those to show first in front.

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
    return sorted(place_by_key, key=lambda key: (place_by_key[key], key))


def choose_keys(
    models: list[Model], ranked_keys: list[Key], limit: float
) -> list[set[Key]]:
    """Return for each model the documents with the answers of it to show, `limit` in all."""
    keys_of_models = [{key for key, _ in model.documents()} for model in models]
    most = share_out([len(keys) for keys in keys_of_models], limit)
    chosen: list[set[Key]] = [set() for _ in models]
    for key in ranked_keys:
        for keys, chosen_keys in zip(keys_of_models, chosen):
            if key in keys and len(chosen_keys) + 1 <= most:
                chosen_keys.add(key)
    return chosen


def _within(entries: list[dict], model_count: int, limit: float) -> list[dict]:
    """Return documents with those answers for which there is room in bytes."""
    if limit == math.inf:
        return entries
    most_needs: Counter[int] = Counter()  # were each to bear all prompts alone
    for entry in entries:
        bytes_around = _bytes_around_answers(entry)
        for answer in entry["answers"]:
            most_needs[answer["model"]] += len(escaped(answer)) + bytes_around
    most = share_out([most_needs[number] for number in range(model_count)], limit)
    used: Counter[int] = Counter()
    kept_entries = []
    for entry in entries:
        costs = _costs(entry, used, most)
        used.update(costs)
        if kept_answers := [x for x in entry["answers"] if x["model"] in costs]:
            kept_entries.append(entry | {"answers": kept_answers})
    return kept_entries


def _costs(entry: dict, used: Counter[int], most: float) -> dict[int, int]:
    """Return how much of its room a document takes of each model that has as much left.

    What stands around the answers, such as the prompt, takes of all their rooms alike;
    where a model has none left, its part falls to the others.
    """
    sizes = {answer["model"]: len(escaped(answer)) for answer in entry["answers"]}
    bytes_around = _bytes_around_answers(entry)
    models = [*sizes]
    while models:
        part = bytes_around // len(models)
        costs = {model: sizes[model] + part for model in models}
        models = [model for model in costs if used[model] + costs[model] <= most]
        if len(models) == len(costs):
            return costs
    return {}


def _bytes_around_answers(entry: dict) -> int:
    return len(escaped(entry | {"answers": []}))


def _add_prompt(entry: dict, prompts: list[Prompt], ids: list) -> None:
    """Add the task's prompt and the id that most answers to it have; mark the other answers.

    What is verified, or rendered here, holds the task's messages: nothing is shorter than
    the prompt with nothing around it. Where no prompt is the task's, all are asked.
    """
    prompts_of_task = [prompt.pieces for prompt in prompts if prompt.is_of_task]
    ids_of_task = [id_ for prompt, id_ in zip(prompts, ids) if prompt.is_of_task]
    if prompts_of_task:
        entry["prompt"] = min(prompts_of_task, key=_length)
    else:
        entry["prompt"] = _most_frequent([prompt.pieces for prompt in prompts])
    shown_id = _most_frequent(ids_of_task or ids)
    is_text = isinstance(shown_id, str)
    entry["id"] = shorten(shown_id, _LONGEST_ID) if is_text else shown_id
    for answer, prompt in zip(entry["answers"], prompts):
        if not prompt.is_of_task and prompt.pieces not in ([], entry["prompt"]):
            answer["prompt"] = "another"


def _most_frequent(values: list) -> Any:
    """Return the value of plain JSON that is there most often; of tied ones, the first."""
    counts = Counter(map(json.dumps, values))
    return json.loads(max(counts, key=lambda text: counts[text]))


def _length(pieces: Pieces) -> int:
    """Return the length of a text of which pieces are shown."""
    return sum(piece if isinstance(piece, int) else len(piece[1]) for piece in pieces)


def _document_entry(key: Key, row: dict) -> dict:
    """Return what the page holds of a document, without its prompt and answers yet."""
    task, document_digest, copy_number = key
    return {
        # The same in every build, so that links to it stay.
        "key": f"{task}-{document_digest[:12]}{f'-{copy_number}' if copy_number else ''}",
        "task": task,
        "id": row["doc_id"],
        "parts": {
            column: printable(row[column])  # as the pictures name it
            for column in scorer(task).utils.BREAKDOWNS
            if row[column] is not None
        },
        "prompt": [],
        "reference": plain(row["reference"]),
        "answers": [],
    }


def _read_texts(
    documents: list[tuple[str, Document]],
) -> dict[Document, tuple[Pieces, Prompt]]:
    """Return document -> pieces of the last response to it, and its prompt."""
    texts_by_document = {}
    for table, task, group in by_table(documents):
        is_verified = any(
            task_entry["check"]["prompts"]["status"] == VERIFIED
            for task_entry in table.head["tasks"]
            if task_entry["task"] == task
        )
        prompts = table.prompts(task)
        responses = table.responses_at(task, {doc.answers[-1].row for doc in group})
        for document in group:
            last_answer = document.answers[-1]
            response = responses[last_answer.row]
            if response is None:
                response = [last_answer.length]
            prompt = Prompt([], False)
            if line := prompts.get(document.digest):
                prompt = Prompt(line["prompt"], is_verified or not line["is_logged"])
            texts_by_document[document] = response, prompt
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
