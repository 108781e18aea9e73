"""From recorded answers to verdicts.

What an answer scores, and why, comes from the family's `explain` alone.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ..core.documents import documents
from ..core.errors import NOT_A_DOCUMENT, LineError, ToolError, fault_of_document
from ..core.families import FOLDER, Verdict, scorer
from .answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = {
    "no_instruction": "the prompt lacks the format instruction: the chat template dropped"
    " the system message",
    "cut_off": "ended by the token limit, or, without an answer, within reasoning, a box"
    " or an object",
}
# Fields of documents by which scores are broken down; the answer format comes from the
# prompt, see `answer_format`.
BREAKDOWNS = "question_type type format level graph_gen_algorithm sorting_type".split()
# Bounded, so that no question takes quadratic time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")


class Scored(NamedTuple):
    """An answer with the family's verdict on it."""

    answer: Answer
    doc: dict
    verdict: Verdict
    invalid: str | None  # one of INVALID
    digest: bytes  # of the document, by the family
    is_changed: bool  # whether the harness's log gives other scores


def score(answer: Answer, include_path: Path = FOLDER) -> Scored:
    """Return the verdict on an answer.

    A document that the line only names is looked up in the tasks at `include_path`.
    Raises LineError for a line that cannot be scored, ToolError where there are no
    documents to look it up in.
    """
    if answer.fault:
        raise LineError(f"{answer.place}: {answer.fault}")
    doc = document_of(answer, include_path)
    try:
        verdict = scorer(answer.task).explain(doc, answer.response)
        return scored_as(answer, doc, verdict, _invalid(answer, doc, verdict.reason))
    except NOT_A_DOCUMENT as error:
        raise misfit(answer, doc, error) from None


def misfit(answer: Answer, doc: dict, error: Exception) -> LineError:
    """Return why the document that a line holds is not one of its task."""
    why = fault_of_document(error, doc)
    return LineError(
        f"{answer.place}: its document is not one of {answer.task} ({why}); give the"
        " 'doc' as the harness logs it, or the task that it is of"
    )


def scored_as(
    answer: Answer, doc: dict, verdict: Verdict, invalid: str | None
) -> Scored:
    """Return an answer with a verdict on it; NOT_A_DOCUMENT without a digest."""
    # Of several answers, the harness scores the one that its filter leaves.
    left = answer.line.get("filtered_resps")
    is_logged = left in ([answer.response], [[answer.response]])
    logged = answer.line if is_logged else {}
    task, scores = scorer(answer.task), verdict.scores
    is_changed = any(
        scores.get(task.metric(name), value) != value for name, value in logged.items()
    )
    return Scored(answer, doc, verdict, invalid, task.utils.digest(doc), is_changed)


def document_of(answer: Answer, include_path: Path) -> dict:
    """Return the document of an answer; errors as of `score` where it is only named."""
    if answer.doc is not None:
        return answer.doc
    task, doc_id = answer.task, answer.doc_id
    try:
        found = documents(task, include_path)
    except ToolError as error:
        raise ToolError(f"{answer.place}: {error}") from None
    if not isinstance(doc_id, int) or not 0 <= doc_id < len(found):
        fault = f"{task} has no document {doc_id!r:.80} at {include_path}"
        fault += f" ({len(found)} documents)"
    else:
        doc, doc_hash = found[doc_id], answer.doc_hash or ""
        if not doc_hash or sha256(document_text(doc)).startswith(doc_hash):
            return doc
        fault = (
            f"answers another version of document {doc_id} of {task} than the one at"
        )
        fault += f" {include_path}"
    fix = "name the tasks that it was made with by --include_path"
    raise LineError(f"{answer.place}: {fault}; {fix}")


def _invalid(answer: Answer, doc: dict, reason: str) -> str | None:
    instruction = doc.get("instruction")
    if isinstance(instruction, str) and answer.prompt is not None:
        # The prompt of a chat API is JSON, with or without escapes beyond ASCII.
        text = instruction.strip()
        forms = (text, *(json.dumps(text, ensure_ascii=x)[1:-1] for x in (False, True)))
        if not any(form in answer.prompt for form in forms):
            return "no_instruction"
    is_cut_off = answer.finish_reason == "length" or reason == "cut_off"
    return "cut_off" if is_cut_off else None


def verdicts(scored: list[Scored]) -> dict | list[dict]:
    """Return the scores of the answers of a line, and why; a list where there are several."""
    found = []
    for one in scored:
        task = scorer(one.answer.task)
        told = {"version": task.version, **jsonable(one.verdict._asdict())}
        why = task.utils.REASONS[one.verdict.reason]
        found.append(told | {"why": why, "invalid": one.invalid})
    return found if len(found) > 1 else found[0]


def jsonable(value: object) -> object:
    """Return a value that the rules read in a form that JSON has."""
    if isinstance(value, dict):
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [jsonable(cell) for cell in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Decimal) and abs(value.adjusted()) < 20:
        return format(value.normalize(), "f")  # 5.0 is 5
    return value if isinstance(value, int | float | None) else str(value)


def breakdowns(doc: dict) -> dict[str, str]:
    """Return by what a document's scores are broken down: name -> its value."""
    cells = {"format": answer_format(doc), **doc}
    return {x: str(cells[x]) for x in BREAKDOWNS if cells.get(x) is not None}


def answer_format(doc: dict) -> str | None:
    """Return the fields of the JSON object that a question asks for; None without one."""
    question = doc.get("question")
    found = _TEMPLATE.search(question) if isinstance(question, str) else None
    return " ".join(found["fields"].split()) if found else None
