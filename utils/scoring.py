"""From recorded answers to verdicts, and from verdicts to the figures of a run.

What an answer scores, and why, comes from the family's `explain` alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from .answers import Answer, document_text, sha256
from .documents import documents
from .errors import ToolError
from .families import FOLDER, scorer


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = {
    "no_instruction": "the prompt lacks the format instruction: the chat template dropped"
    " the system message",
    "cut_off": "the token limit ended the response",
}
# Fields of documents by which scores are broken down; the answer format comes from the
# prompt, see `answer_format`.
BREAKDOWNS = (
    *("question_type", "type", "format", "level"),
    *("graph_gen_algorithm", "sorting_type"),
)
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]*,(?P<fields>.*?)\}""")


class Scored(NamedTuple):
    """An answer with the family's verdict on it."""

    answer: Answer
    doc: dict
    verdict: tuple  # the `Verdict` of the family
    invalid: str | None  # one of INVALID


def score(answer: Answer, include_path: Path = FOLDER) -> Scored:
    """Return the verdict on an answer.

    A document that the line only names is looked up in the tasks at `include_path`.
    Raises ToolError, naming the line, for what cannot be scored.
    """
    doc = _document(answer, include_path)
    if answer.fault:
        raise ToolError(f"{answer.place}: {answer.fault}")
    try:
        verdict = scorer(answer.task).explain(doc, answer.response)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ToolError(
            f"{answer.place}: its document is not one of {answer.task} ({error!r:.100});"
            " give a 'doc' as the harness logs it, or a 'doc_id'"
        ) from None
    return Scored(answer, doc, verdict, _invalid(answer, doc, verdict.reason))


def _document(answer: Answer, include_path: Path) -> dict:
    doc = answer.doc
    if doc is None:
        found = documents(answer.task, include_path)
        known = isinstance(answer.doc_id, int) and 0 <= answer.doc_id < len(found)
        if not known:
            raise ToolError(
                f"{answer.place}: {answer.task} has no document {answer.doc_id!r} at"
                f" {include_path} ({len(found)} documents); use the tasks it was made with"
            )
        doc = found[answer.doc_id]
        if not sha256(document_text(doc)).startswith(answer.doc_hash or ""):
            raise ToolError(
                f"{answer.place}: answers another version of document {answer.doc_id} of"
                f" {answer.task} than the one at {include_path}; use the tasks it was made"
                " with"
            )
    if not isinstance(doc, dict):
        raise ToolError(f"{answer.place}: 'doc' is not an object; fix the line")
    return doc


def _invalid(answer: Answer, doc: dict, reason: str) -> str | None:
    instruction = doc.get("instruction")
    if instruction and isinstance(answer.prompt, str):
        # The prompt of a chat API is JSON, with or without escapes beyond ASCII.
        forms = [
            instruction.strip(),
            *(json.dumps(instruction.strip(), ensure_ascii=x)[1:-1] for x in (0, 1)),
        ]
        if not any(form in answer.prompt for form in forms):
            return "no_instruction"
    return "cut_off" if answer.hit_limit or reason == "cut_off" else None


def verdict_line(scored: Scored) -> dict:
    """Return the line of an answer with `task` and `verdict`: scores and why."""
    verdict = scored.verdict
    reasons = scorer(scored.answer.task).utils.REASONS
    return {
        **scored.answer.line,
        "task": scored.answer.task,
        "verdict": {
            "scores": verdict.scores,
            "reason": verdict.reason,
            "why": reasons[verdict.reason],
            "published": verdict.published,
            "published_span": verdict.published_span,
            "flexible": verdict.flexible,
            "flexible_span": verdict.flexible_span,
            "value": jsonable(verdict.value),
            "reference": jsonable(verdict.reference),
            "invalid": scored.invalid,
        },
    }


def jsonable(value: object) -> object:
    """Return a value that the rules read in a form that JSON has."""
    if isinstance(value, dict):
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [jsonable(cell) for cell in value]
    is_plain = value is None or isinstance(value, str | int | float)
    return value if is_plain else str(value)


def breakdowns(doc: dict) -> dict[str, str]:
    """Return by what a document's scores are broken down: name -> its value."""
    cells = {"format": answer_format(doc), **doc}
    return {
        name: str(cells[name]) for name in BREAKDOWNS if cells.get(name) is not None
    }


def answer_format(doc: dict) -> str | None:
    """Return the JSON fields that a prompt of ToT arithmetic asks for; None elsewhere."""
    found = _TEMPLATE.search(doc.get("question") or "")
    return " ".join(found["fields"].split()) if found else None


class Figures:
    """Counts and sums over the answers to some documents of one task."""

    def __init__(self) -> None:
        self.n = 0
        self.sums: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.invalid: Counter[str] = Counter()

    def add(self, scored: Scored) -> None:
        """Count one more answer."""
        self.n += 1
        for metric, value in scored.verdict.scores.items():
            self.sums[metric] += value
        self.reasons[scored.verdict.reason] += 1
        if scored.invalid:
            self.invalid[scored.invalid] += 1

    def means(self) -> dict[str, float]:
        """Return metric -> mean, in the order of the task's YAML file."""
        return {metric: total / self.n for metric, total in self.sums.items()}


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    It keeps a digest and an id for each document, and nothing else of an answer.
    """

    def __init__(self, task: str) -> None:
        self.task = task
        self.all = Figures()
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        self._digests: list[bytes] = []
        self._ids: set = set()

    def add(self, scored: Scored) -> None:
        """Count one more answer; ToolError for a second one to the same document."""
        answer = scored.answer
        if answer.doc_id is not None and answer.doc_id in self._ids:
            raise ToolError(
                f"{answer.place}: is a second answer to document {answer.doc_id!r} of"
                f" {self.task}; keep one"
            )
        self._ids.add(answer.doc_id)
        self._digests.append(scorer(self.task).utils.digest(scored.doc))
        for figures in (
            self.all,
            *(
                self.parts.setdefault(part, Figures())
                for part in breakdowns(scored.doc).items()
            ),
        ):
            figures.add(scored)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return scorer(self.task).utils.fingerprint(self._digests)

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark."""
        rows, fingerprint = scorer(self.task).known
        if self.all.n == rows and self.fingerprint == fingerprint:
            return "the benchmark's"
        if self.all.n == rows and fingerprint is None:
            return f"{rows}, as the benchmark has"
        if rows and self.all.n < rows:
            return f"{self.all.n} of {rows}"
        return "not the benchmark's"
