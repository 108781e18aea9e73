"""From a recorded answer to a verdict: what it scores and why, as a row of a table."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from ..core.documents import documents
from ..core.errors import DocumentError, LineError
from ..core.family_contract import CUT_OFF, Verdict
from ..core.task_scorers import reading, scorer
from .read_answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = ("no_instruction", "cut_off")
_LONGEST = 1_000  # characters of a text in a table
_DIGITS = 16  # of a digest that is in a table to be compared


def look_up_document(answer: Answer, include_path: Path) -> dict:
    """Return the document that an answer only names, of the tasks at `include_path`.

    LineError where it is not there, ToolError where there are no documents.
    """
    task, doc_id = answer.task, answer.doc_id
    docs = documents(task, include_path)
    fault = f"{task} has no document {doc_id!r:.80}"
    if isinstance(doc_id, int) and 0 <= doc_id < len(docs):
        if sha256(document_text(docs[doc_id])).startswith(answer.doc_hash or ""):
            return docs[doc_id]
        fault = f"answers another version of document {doc_id} of {task} than the one"
    fix = "name the tasks that it was made with by --include_path"
    raise LineError(f"{fault} at {include_path}; {fix}")


def judge_answer(answer: Answer, doc: dict, file: str, system: str | None) -> dict:
    """Return the row of a table for an answer to a document.

    `file` is the name of the answer's file, `system` the system instruction of the run.
    LineError where the document is not one of the task.
    """
    task_scorer = scorer(answer.task)
    utils = task_scorer.utils
    try:
        with reading(answer.task, doc):
            verdict = task_scorer.explain(doc, answer.response)
            doc_digest, gold_response = (
                utils.digest(doc).hex(),
                utils.gold_response(doc),
            )
            cluster_digest = sha256(utils.cluster(doc))[:_DIGITS]
            breakdowns = task_scorer.breakdowns(doc)
            error, error_unit = task_scorer.error_of(verdict)
    except DocumentError as error:
        raise LineError(str(error)) from None
    _check_metrics(answer, verdict)
    return {
        "task": answer.task,
        "doc_id": answer.doc_id,
        "digest": doc_digest,
        "cluster": cluster_digest,
        "sample": answer.sample,
        "filter": answer.filter,
        **_verdict_columns(answer, doc, verdict, gold_response),
        "error": error,
        "error_unit": error_unit,
        "length": len(answer.response),
        "response": sha256(answer.response)[:_DIGITS],
        "excerpt": shorten(answer.response),
        **{name: shorten(value) for name, value in breakdowns.items()},
        "file": file,
        "line": answer.number,
        "has_system": _contains(answer.prompt, system),
    }


def _check_metrics(answer: Answer, verdict: Verdict) -> None:
    """Raise LineError for a document of a line that is scored as one of another task.

    FamilyError for other verdicts that are not as the family declares.
    """
    foreign_metrics = verdict.scores.keys() - scorer(answer.task).metrics.keys()
    if foreign_metrics and answer.doc is not None:
        names_text = ", ".join(sorted(foreign_metrics))
        fault = f"its document is scored by {names_text}, as one of another task"
        raise LineError(f"{fault} than {answer.task}; give the task that it is of")
    scorer(answer.task).check_verdict(verdict)


def _verdict_columns(answer: Answer, doc: dict, verdict: Verdict, gold: str) -> dict:
    """Return what a row has of a verdict, and of how much it says of the model."""
    task_scorer, invalid_reason = scorer(answer.task), None
    if answer.finish_reason == "length" or verdict.reason == CUT_OFF:
        invalid_reason = "cut_off"
    if _contains(answer.prompt, doc.get("instruction")) is False:
        invalid_reason = "no_instruction"
    logged_scores = {}
    # Of several answers, the harness scores the one that its filter leaves.
    if answer.line.get("filtered_resps") in ([answer.response], [[answer.response]]):
        for column, logged_score in answer.line.items():
            logged_scores[task_scorer.metric(column)] = logged_score
    explanation = "empty response"
    if answer.response.strip():
        explanation = task_scorer.utils.REASONS[verdict.reason]
    scores = {metric: verdict.scores.get(metric) for metric in task_scorer.metrics}
    return {
        "scores": scores,
        "reason": verdict.reason,
        "why": explanation,
        "published": shorten(verdict.published, _LONGEST),
        "published_span": verdict.published_span,
        "flexible": shorten(verdict.flexible, _LONGEST),
        "flexible_span": verdict.flexible_span,
        "value": encode_value(verdict.value),
        "reference": encode_value(verdict.reference),
        "gold": shorten(gold, _LONGEST),
        "invalid": invalid_reason,
        "finish_reason": shorten(answer.finish_reason),
        "changed": any(
            logged_scores.get(metric, score) != score
            for metric, score in verdict.scores.items()
        ),
    }


def _contains(prompt: str | None, text: object) -> bool | None:
    """Tell whether a prompt has a text, stripped; None where either is unknown.

    The prompt of a chat API is JSON, with or without escapes beyond ASCII.
    """
    if prompt is None or not isinstance(text, str) or not text.strip():
        return None
    text = text.strip()
    spellings = text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    return any(spelling in prompt for spelling in spellings)


def shorten(value: object, longest: int = 200) -> str | None:
    """Return a value as a text; of a longer one, start and end; None for None.

    An object with an explanation has the answer last.
    """
    if value is None:
        return None
    full_text = str(value)
    if len(full_text) <= longest:
        return full_text
    return f"{full_text[: longest // 2]} … {full_text[-longest // 2 :]}"


def encode_value(value: object) -> str | None:
    """Return a value that a rule read as JSON; None where it read none."""
    if value is None:
        return None
    try:
        value_json = json.dumps(
            value,
            allow_nan=False,
            ensure_ascii=False,
            sort_keys=True,
            default=_json_default,
        )
    except (TypeError, ValueError):  # JSON has no infinity, and texts alone for keys
        value_json = json.dumps(str(value), ensure_ascii=False)
    return shorten(value_json, _LONGEST)


def _json_default(value: object) -> str | list[str]:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Decimal) and abs(value.adjusted()) < 20:
        return format(value.normalize(), "f")  # 5.0 is 5
    return str(value)


def value_text(row: dict, column: str = "value") -> str | None:
    """Return a value in a row as a text; for none, what the response has in its place."""
    if (value_json := row[column]) is None:
        return row["flexible"]
    with suppress(ValueError):  # of JSON that was cut
        decoded_value = json.loads(value_json)
        return decoded_value if isinstance(decoded_value, str) else value_json
    return value_json
