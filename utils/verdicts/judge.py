"""From recorded answers to verdicts: what an answer scores and why, as a row of a table."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ..core.documents import documents
from ..core.errors import NOT_A_DOCUMENT, LineError, ToolError
from ..core.families import FOLDER, Verdict, digest_of, explain, scorer
from .answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = ("no_instruction", "cut_off")
# Fields of documents by which scores are broken down; the answer format comes from the
# prompt, see `answer_format`.
BREAKDOWNS = "question_type type format level graph_gen_algorithm sorting_type".split()
# Bounded, so that no question takes quadratic time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")
LONGEST, LONGEST_EXCERPT = 1_000, 200  # characters of a text in a table
_DIGITS = 16  # of a digest that is in a table to be compared


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
    doc, task = document_of(answer, include_path), answer.task
    try:
        verdict = explain(task, doc, answer.response)
        digest = digest_of(task, doc)
    except ToolError as error:
        raise LineError(f"{answer.place}: {error}") from None
    # Of several answers, the harness scores the one that its filter leaves.
    filtered = answer.line.get("filtered_resps")
    is_scored = filtered in ([answer.response], [[answer.response]])
    logged_line = answer.line if is_scored else {}
    is_changed = any(
        verdict.scores.get(scorer(task).metric(name), value) != value
        for name, value in logged_line.items()
    )
    invalid = _invalid(answer, doc, verdict.reason)
    return Scored(answer, doc, verdict, invalid, digest, is_changed)


def document_of(answer: Answer, include_path: Path) -> dict:
    """Return the document of an answer; errors as of `score` where it is only named."""
    if answer.doc is not None:
        return answer.doc
    task, doc_id = answer.task, answer.doc_id
    try:
        docs = documents(task, include_path)
    except ToolError as error:
        raise ToolError(f"{answer.place}: {error}") from None
    if not isinstance(doc_id, int) or not 0 <= doc_id < len(docs):
        fault = f"{task} has no document {doc_id!r:.80} at {include_path}"
        fault += f" ({len(docs)} documents)"
    else:
        doc, doc_hash = docs[doc_id], answer.doc_hash or ""
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
        if not _holds(answer.prompt, instruction):
            return "no_instruction"
    is_cut_off = answer.finish_reason == "length" or reason == "cut_off"
    return "cut_off" if is_cut_off else None


def _holds(prompt: str, text: str) -> bool:
    """Tell whether a prompt holds a text, stripped.

    The prompt of a chat API is JSON, with or without escapes beyond ASCII.
    """
    text = text.strip()
    spellings = text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    return any(spelling in prompt for spelling in spellings)


# ------------------------------------------------------------------ rows of a table


def row(scored: Scored, file: str, system: str | None = None) -> dict:
    """Return the row of an answer in a table.

    `file` is the name of its file, `system` the system instruction of the run.
    """
    answer, verdict, task = scored.answer, scored.verdict, scorer(scored.answer.task)
    is_blank = not answer.response.strip()
    is_known = answer.prompt and system and system.strip()
    fields = breakdowns(scored.doc)
    return {
        "task": answer.task,
        "doc_id": answer.doc_id,
        "digest": scored.digest.hex(),
        "cluster": sha256(task.utils.cluster(scored.doc))[:_DIGITS],
        "sample": sample_name(answer.sample),
        "filter": answer.filter,
        "scores": {name: verdict.scores.get(name) for name in task.metrics},
        "reason": verdict.reason,
        "why": "empty response" if is_blank else task.utils.REASONS[verdict.reason],
        "published": shown(verdict.published, LONGEST),
        "published_span": verdict.published_span,
        "flexible": shown(verdict.flexible, LONGEST),
        "flexible_span": verdict.flexible_span,
        "value": value_json(verdict.value),
        "reference": value_json(verdict.reference),
        "gold": _gold(answer.task, scored.doc),
        "invalid": scored.invalid,
        "finish_reason": shown(answer.finish_reason),
        "changed": scored.is_changed,
        "length": len(answer.response),
        "response": response_digest(answer),
        "excerpt": shown(answer.response, LONGEST_EXCERPT),
        **{name: shown(fields.get(name)) for name in BREAKDOWNS},
        "file": file,
        "line": answer.number,
        "has_system": _holds(answer.prompt, system) if is_known else None,
    }


def response_digest(answer: Answer) -> str:
    """Return what tells a response from others."""
    return sha256(answer.response)[:_DIGITS]


def _gold(task: str, doc: dict) -> str | None:
    """Return the reference in the form that the prompt asks for, if the document has it."""
    with suppress(*NOT_A_DOCUMENT):
        return shown(scorer(task).utils.gold_response(doc), LONGEST)
    return None


def sample_name(sample: object) -> str | None:
    """Return which of several answers to a document a row is, None for the only one."""
    numbers = sample if isinstance(sample, tuple) else (sample,)
    names = [str(number) for number in numbers if number is not None]
    return shown(".".join(names)) if names else None


def value_json(value: object) -> str | None:
    """Return a value that a rule read as JSON."""
    if value is None:
        return None
    text = json.dumps(jsonable(value), ensure_ascii=False, sort_keys=True)
    return shown(text, LONGEST)


def shown(value: object, longest: int = 200) -> str | None:
    """Return a value that the rules read as a text; of a longer one, start and end.

    An object with an explanation has the answer last.
    """
    if not isinstance(value, str | None):
        value = json.dumps(jsonable(value), ensure_ascii=False)
    if value is None or len(value) <= longest:
        return value
    return f"{value[: longest // 2]} … {value[-longest // 2 :]}"


def value_text(row: dict, column: str = "value") -> str | None:
    """Return a value in a row as a text; for none, what the response has in its place."""
    if (text := row[column]) is None:
        return row["flexible"]
    with suppress(ValueError):  # of a text, JSON has quotation marks
        text = value if isinstance(value := json.loads(text), str) else text
    return text


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
    fields = {"format": answer_format(doc), **doc}
    names = [name for name in BREAKDOWNS if fields.get(name) is not None]
    return {name: str(fields[name]) for name in names}


def answer_format(doc: dict) -> str | None:
    """Return the fields of the JSON object that a question asks for; None without one."""
    question = doc.get("question")
    template = _TEMPLATE.search(question) if isinstance(question, str) else None
    return " ".join(template["fields"].split()) if template else None
