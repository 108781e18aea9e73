"""From a recorded answer to a verdict: what it scores and why, as a row of a table."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from ..core.documents import documents
from ..core.errors import NOT_A_DOCUMENT, LineError, ToolError
from ..core.families import Verdict, explain, not_a_document, scorer
from .answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = ("no_instruction", "cut_off")
# Fields of documents by which scores are broken down; the question has `format`.
BREAKDOWNS = "question_type type format level graph_gen_algorithm sorting_type".split()
# The JSON object that a question asks for. Bounded, so that no question takes quadratic
# time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")
_LONGEST = 1_000  # characters of a text in a table
_DIGITS = 16  # of a digest that is in a table to be compared


def document_of(answer: Answer, include_path: Path) -> dict:
    """Return the document of an answer.

    One that the line only names is looked up in the tasks at `include_path`: LineError
    where it is not there, ToolError where there are no documents.
    """
    if answer.doc is not None:
        return answer.doc
    task, doc_id = answer.task, answer.doc_id
    docs = documents(task, include_path)
    if not isinstance(doc_id, int) or not 0 <= doc_id < len(docs):
        count = f"{len(docs)} documents"
        fault = f"{task} has no document {doc_id!r:.80} at {include_path} ({count})"
    elif sha256(document_text(docs[doc_id])).startswith(answer.doc_hash or ""):
        return docs[doc_id]
    else:
        fault = f"answers another version of document {doc_id} of {task} than the one"
        fault += f" at {include_path}"
    raise LineError(f"{fault}; name the tasks that it was made with by --include_path")


def judge_answer(answer: Answer, doc: dict, file: str, system: str | None) -> dict:
    """Return the row of a table for an answer to a document.

    `file` is the name of the answer's file, `system` the system instruction of the run.
    LineError where the document is not one of the task.
    """
    family = scorer(answer.task).utils
    try:
        verdict = explain(answer.task, doc, answer.response)
        digest, gold = family.digest(doc).hex(), family.gold_response(doc)
        cluster = sha256(family.cluster(doc))[:_DIGITS]
    except ToolError as error:
        raise LineError(str(error)) from None
    except NOT_A_DOCUMENT as error:
        raise LineError(str(not_a_document(answer.task, doc, error))) from None
    return {
        "task": answer.task,
        "doc_id": answer.doc_id,
        "digest": digest,
        "cluster": cluster,
        "sample": answer.sample,
        "filter": answer.filter,
        **_verdict_columns(answer, verdict),
        "gold": shorten(gold, _LONGEST),
        "invalid": _invalid(answer, doc, verdict.reason),
        "finish_reason": shorten(answer.finish_reason),
        "changed": _is_changed(answer, verdict.scores),
        "length": len(answer.response),
        "response": sha256(answer.response)[:_DIGITS],
        "excerpt": shorten(answer.response),
        **_breakdowns(doc),
        "file": file,
        "line": answer.number,
        "has_system": _contains(answer.prompt, system),
    }


def _verdict_columns(answer: Answer, verdict: Verdict) -> dict:
    task, why = scorer(answer.task), "empty response"
    if answer.response.strip():
        why = task.utils.REASONS[verdict.reason]
    return {
        "scores": {metric: verdict.scores.get(metric) for metric in task.metrics},
        "reason": verdict.reason,
        "why": why,
        "published": shorten(verdict.published, _LONGEST),
        "published_span": verdict.published_span,
        "flexible": shorten(verdict.flexible, _LONGEST),
        "flexible_span": verdict.flexible_span,
        "value": encode_value(verdict.value),
        "reference": encode_value(verdict.reference),
    }


def _invalid(answer: Answer, doc: dict, reason: str) -> str | None:
    """Return which of INVALID an answer is, if any."""
    if _contains(answer.prompt, doc.get("instruction")) is False:
        return "no_instruction"
    is_cut_off = answer.finish_reason == "length" or reason == "cut_off"
    return "cut_off" if is_cut_off else None


def _contains(prompt: str | None, text: object) -> bool | None:
    """Tell whether a prompt has a text, stripped; None where either is unknown.

    The prompt of a chat API is JSON, with or without escapes beyond ASCII.
    """
    if prompt is None or not isinstance(text, str) or not text.strip():
        return None
    text = text.strip()
    spellings = text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    return any(spelling in prompt for spelling in spellings)


def _is_changed(answer: Answer, scores: dict[str, float]) -> bool:
    """Tell whether the harness's log gives an answer other scores.

    Of several answers, the harness scores the one that its filter leaves.
    """
    filtered = answer.line.get("filtered_resps")
    if filtered not in ([answer.response], [[answer.response]]):
        return False
    logged = {scorer(answer.task).metric(name): x for name, x in answer.line.items()}
    return any(logged.get(metric, score) != score for metric, score in scores.items())


def _breakdowns(doc: dict) -> dict[str, str | None]:
    """Return what a document has of BREAKDOWNS."""
    question, answer_format = doc.get("question"), None
    if isinstance(question, str) and (template := _TEMPLATE.search(question)):
        answer_format = " ".join(template["fields"].split())
    fields = {"format": answer_format, **doc}
    return {name: shorten(fields.get(name)) for name in BREAKDOWNS}


# --------------------------------------------------------------- values in a table


def shorten(value: object, longest: int = 200) -> str | None:
    """Return a value as a text; of a longer one, start and end; None for None.

    An object with an explanation has the answer last.
    """
    if value is None:
        return None
    text = str(value)
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def encode_value(value: object) -> str | None:
    """Return a value that a rule read as JSON; None where it read none."""
    if value is None:
        return None
    options = {"ensure_ascii": False, "sort_keys": True, "default": _plain}
    try:
        encoded = json.dumps(value, allow_nan=False, **options)
    except (TypeError, ValueError):  # JSON has no infinity, and texts alone for keys
        encoded = json.dumps(str(value), ensure_ascii=False)
    return shorten(encoded, _LONGEST)


def _plain(value: object) -> str | list[str]:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Decimal) and abs(value.adjusted()) < 20:
        return format(value.normalize(), "f")  # 5.0 is 5
    return str(value)


def value_text(row: dict, column: str = "value") -> str | None:
    """Return a value in a row as a text; for none, what the response has in its place."""
    if (encoded := row[column]) is None:
        return row["flexible"]
    with suppress(ValueError):  # of a text, JSON has quotation marks
        value = json.loads(encoded)
        return value if isinstance(value, str) else encoded
    return encoded  # JSON that was cut
