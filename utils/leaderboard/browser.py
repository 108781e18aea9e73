"""The documents that a board shows whole: which, and their texts as pieces for the page.

Tables count every answer. Of the documents, a page holds as many as its bound allows,
chosen so that each reason of each model in each task has some before any has more.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from jinja2 import TemplateError

from ..core.errors import ToolError
from ..core.families import prompt, scorer
from ..core.tables import natural
from ..runs.answers import Answer
from ..runs.models import Model, shown
from ..runs.scoring import Scored, breakdowns, jsonable, score
from .checks import messages_of


MOST_ANSWERS = 8_000  # of all models together, to the documents that are shown
MOST_BYTES = 12_000_000  # of JSON that holds them
MOST_OF_A_FILE = 300  # documents
LONGEST_PROMPT, LONGEST_RESPONSE = 4_000, 2_400  # characters; longer ones lose some

Key = tuple[str, bytes, int]  # task, document, and number of the copy
# A text: [which rules' answer it belongs to, text], or how many characters are left out.
Pieces = list[list | int]


def pieces(text: str, spans: list[tuple[int, int] | None], longest: int) -> Pieces:
    """Return a text as pieces, the n-th span marked by the bit n.

    Of a text longer than `longest` the start, the end, and what stands around the ends of
    the spans are kept.
    """
    marked = [(*span, 1 << n) for n, span in enumerate(spans) if span]
    ends = [x for start, end, _ in marked for x in (start, end)]
    size, share = len(text), longest // (2 + len(ends))
    kept = [(0, share), (size - share, size)]
    kept += [(max(0, x - share // 2), min(size, x + share // 2)) for x in ends]
    kept = kept if size > longest else [(0, size)]
    cuts = sorted({0, size, *ends, *(x for window in kept for x in window)})
    found: Pieces = []
    for start, end in zip(cuts, cuts[1:]):
        if any(x <= start and end <= y for x, y in kept):
            mark = sum(bit for x, y, bit in marked if x <= start and end <= y)
            found.append([mark, text[start:end]])
        elif found and isinstance(found[-1], int):
            found[-1] += end - start
        else:
            found.append(end - start)
    return found


def chosen(models: list[Model], most: float) -> list[Key]:
    """Return the documents to show, the first ones first, with at most so many answers.

    In each cell of model, task and reason documents stand in the order of their digests,
    which is as good as random and the same every time; a document's place is its best.
    """
    cells: dict[tuple, list[Key]] = defaultdict(list)
    answers: Counter[Key] = Counter()
    for number, model in enumerate(models):
        for key, result in model.results():
            cells[number, key[0], result.reason].append(key)
            answers[key] += 1
    places: dict[Key, int] = {}
    for keys in cells.values():
        for place, key in enumerate(sorted(keys)):
            places[key] = min(place, places.get(key, place))
    found, n = [], 0
    for key in sorted(places, key=lambda key: (places[key], key)):
        n += answers[key]
        if n > most:
            break
        found.append(key)
    return found


class Documents(NamedTuple):
    """Documents as a page, or the files beside it, hold them."""

    encoded: dict[str, list[str]]  # task -> JSON of each document
    total: int  # how many there are

    def scripts(self) -> dict[str, dict[str, bytes]]:
        """Return task -> name of a file -> content, which a page from disk can load."""
        found: dict[str, dict[str, bytes]] = defaultdict(dict)
        for task, of in self.encoded.items():
            for n, at in enumerate(range(0, len(of), MOST_OF_A_FILE)):
                text = f"addDocuments([{','.join(of[at : at + MOST_OF_A_FILE])}]);\n"
                found[task][f"documents/{task}-{n}.js"] = text.encode()
        return found


def collect(models: list[Model], include_path: Path, is_all: bool = False) -> Documents:
    """Return the documents to show, or all, with every model's answer.

    The files are read a second time, so that texts of others need not be kept. Raises
    ToolError where a file has changed since.
    """
    most, room = (math.inf, math.inf) if is_all else (MOST_ANSWERS, MOST_BYTES)
    found: dict[Key, dict] = {key: {} for key in chosen(models, most)}
    order: dict[Key, tuple] = {}
    for number, model in enumerate(models):
        for key, scored in _answers(model, found.keys(), include_path):
            doc_id = natural(json.dumps(scored.answer.doc_id))
            order.setdefault(key, (key[0], doc_id, len(order)))
            found[key] = found[key] or _document(key, scored)
            found[key]["answers"].append(_answer(number, scored))
    encoded = {key: escaped(document) for key, document in found.items()}
    sizes = zip(encoded, accumulate(map(len, encoded.values())))
    by_task: dict[str, list[str]] = defaultdict(list)
    for key in sorted((key for key, size in sizes if size <= room), key=order.get):
        by_task[key[0]].append(encoded[key])
    total = {key for model in models for key, _ in model.results()}
    return Documents(by_task, len(total))


def _answers(
    model: Model, keys: set[Key], include_path: Path
) -> Iterator[tuple[Key, Scored]]:
    """Yield the answers of a model to some documents."""
    wanted = {result.place: key for key, result in model.results() if key in keys}
    for place, answer in enumerate(model.run.answers()):
        if place in wanted:
            scored = score(answer, include_path)
            if wanted[place][:2] == (answer.task, scored.digest):
                yield wanted.pop(place), scored
    if wanted:
        raise ToolError(f"{model.name}: has changed while it was read; run again")


def _document(key: Key, scored: Scored) -> dict:
    (task, digest, copy), doc = key, scored.doc
    return {
        # The same in every build, so that links to it stay.
        "key": f"{task}-{digest.hex()[:12]}{f'-{copy}' if copy else ''}",
        "task": task,
        "id": scored.answer.doc_id,
        "parts": breakdowns(doc),
        "prompt": pieces(_prompt(scored.answer, doc), [], LONGEST_PROMPT),
        "reference": plain(scored.verdict.reference),
        "answers": [],
    }


def _answer(model: int, scored: Scored) -> dict:
    verdict = scored.verdict
    headline = scorer(scored.answer.task).headline or ()
    spans = [verdict.published_span, verdict.flexible_span]
    return {
        "model": model,
        "reason": verdict.reason,
        "scores": [verdict.scores[x] for x in headline] or [None, None],
        "read": [plain(verdict.published), plain(verdict.value)],
        "invalid": scored.invalid,
        "response": pieces(scored.answer.response, spans, LONGEST_RESPONSE),
    }


def plain(value: object) -> str | None:
    """Return a value that a rule reads as a text: a field alone is its value."""
    value = jsonable(value)
    if isinstance(value, str) and value[:1] in "{[":
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, dict):
        fields = {x: plain(y) for x, y in value.items() if x != "explanation"}
        named = [y if len(fields) == 1 else f"{x} {y}" for x, y in fields.items()]
        value = ", ".join(map(str, named))
    elif isinstance(value, list):
        value = ", ".join(f"{plain(x)}" for x in value)
    return shown(None if value is None else str(value))


def _prompt(answer: Answer, doc: dict) -> str:
    """Return the prompt as it was sent, else as the task makes it without examples.

    Messages of a chat stand below their roles.
    """
    if answer.prompt is None:
        try:
            return prompt(answer.task, doc)
        except (KeyError, TypeError, ValueError, TemplateError):
            return json.dumps(doc, indent=2, ensure_ascii=False)
    if messages := messages_of(answer.prompt):
        return "\n\n".join(f"[{x.get('role')}]\n{x.get('content')}" for x in messages)
    return answer.prompt


def escaped(value: object) -> str:
    """Return JSON that may stand in a <script> element: ASCII, and without `<`."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
