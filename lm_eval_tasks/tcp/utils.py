"""TCP (temporal planning): the published rule, the flexible one, verdict, documents."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import re
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Iterable

    from datasets import Dataset

# What the families share stands beside their folders, whatever pack is installed.
_SPEC = importlib.util.spec_from_file_location(
    "temporal_answer", Path(__file__).parents[1] / "answer.py"
)
answer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(answer)

_log = lru_cache(logging.getLogger("lm_eval.tasks.tcp").log)  # once a run
LICENCE = "see https://huggingface.co/datasets/Beanbagdzf/TCP"
FILES = {"TCP_short": (300, None), "TCP_long": (300, None)}  # rows, no fingerprint
COLUMNS = ["index", "dialogue", "question", "answer", "level"]  # that are kept
# How references look: moments in GMT in TCP short, dates in TCP long.
SHORT_FORMAT, LONG_FORMAT = "YYYY-MM-DD HH:MM GMT", "YYYY-MM-DD"
DISTANCES = {  # of an answer from the reference, at most
    SHORT_FORMAT: {"within_1h": timedelta(hours=1), "within_24h": timedelta(hours=24)},
    LONG_FORMAT: {"within_1d": timedelta(days=1), "within_7d": timedelta(days=7)},
}
REASONS = {  # the first that holds
    "right": "both rules say right",
    "flexible_only": "the right value in a form that only the flexible rule reads",
    "superseded": "the published answer is right, but then taken back or replaced",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer that is not one value of the kind asked for",
    "no_answer": "no answer outside of the reasoning",
    "cut_off": "no answer, and the response ends within its reasoning or a box",
}


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it."""

    scores: dict[str, float]  # the metrics, in the order of the YAML
    reason: str  # one of REASONS
    published: str | None  # what the metric card's rule extracts
    published_span: tuple[int, int] | None  # where it stands in the response
    flexible: str | None  # the committed answer, as it stands in the response
    flexible_span: tuple[int, int] | None
    value: object  # what the flexible answer was read as; None where it cannot be read
    reference: object  # the reference's value, read the same way


# ------------------------------------------------------------------ published rule
def extract_published(response: str) -> tuple[str, tuple[int, int]] | tuple[None, None]:
    r"""Return what the first box holds up to `}`, by the card's `\\boxed{([^}]*)}`."""
    # One character is found many times as fast as several.
    box_start = response.find("\\boxed{", response.find("\\")) + 7
    box_end = response.find("}", box_start)
    box_text = response[box_start:box_end].strip() if 7 <= box_start <= box_end else ""
    if not box_text:
        return None, None
    box_start = response.index(box_text, box_start)
    return box_text, (box_start, box_start + len(box_text))


def match_published(answer: str | None, reference: str, answer_format: str) -> bool:
    """Tell whether two texts are equal; for TCP short without "GMT" (metric card)."""
    if answer and answer_format == SHORT_FORMAT:
        answer = answer.replace("GMT", "").strip()
        reference = reference.replace("GMT", "").strip()
    return answer == reference


# --------------------------------------------------------------------- flexible rule
# The prompt's fixed lines: behind an answer they begin a made-up prompt.
_ECHO = re.compile(r"\n[ \t#*>]*(?:Read this dialogue between|Reason step by step)|\Z")
_CLOCK = re.compile(
    r"(?ai)(?<![\d:.])(?=\d\d?(?::| ?[ap]\.?m\b))"
    r"(\d\d?)(?::(\d\d)(?::(\d\d)(?:\.0+)?)?)?(?: ?([ap])\.?m\b\.?)?"
    r"(?: ?(?:GMT|UTC|Z)\b)?(?: ?([+-])(\d\d?)(?::?(\d\d))?)?(?![\d:])"
)
_ZONE = re.compile(  # another than GMT
    r"\b(?!GMT)[A-Z]{1,4}T\b|\b(?:local|[A-Z][a-z]+) time\b|(?:GMT|UTC) ?[+-]"
)


def _read_clock(clock: re.Match) -> timedelta | None:
    """Return the time since midnight in GMT; None of no possible clock."""
    hour, minute, second = (int(digits or 0) for digits in clock.groups()[:3])
    zone_hours, zone_minutes = (int(digits or 0) for digits in clock.groups()[5:])
    if am_or_pm := clock[4]:
        hour = hour % 12 + 12 * (am_or_pm in "pP") if 0 < hour < 13 else 24
    if hour > 23 or max(minute, second, zone_minutes) > 59 or zone_hours > 14:
        return None
    time_of_day = timedelta(hours=hour, minutes=minute, seconds=second)
    zone_offset = timedelta(hours=zone_hours, minutes=zone_minutes)
    return time_of_day + zone_offset if clock[5] == "-" else time_of_day - zone_offset


def read_moment(text: str) -> date | None:
    """Return the moment in GMT, or without a clock the day, that a text is."""
    clock_match = _CLOCK.search(text)
    rest_of_text = _CLOCK.sub(" ", text, count=1).lower()
    day = answer.read_day(answer.date_fields(rest_of_text))
    if not day or not clock_match:
        return day
    with suppress(OverflowError, TypeError):  # past the last year; no such time of day
        return datetime.combine(day, time()) + _read_clock(clock_match)
    return None


def _agrees(comment: str, value: date) -> bool:
    """Tell whether a comment holds no other date, clock or number, and no zone."""
    value_numbers = {str(value.year), str(value.month), str(value.day)}
    if isinstance(value, datetime):
        value_numbers.add(str(value - datetime.combine(value, time())))
    comment_numbers = answer.numbers(_CLOCK.sub("", comment))
    comment_numbers |= {str(_read_clock(clock)) for clock in _CLOCK.finditer(comment)}
    moment_text = str(read_moment(comment.strip(" ([])")) or "")
    repeats = comment_numbers <= value_numbers and str(value).startswith(moment_text)
    return repeats and not _ZONE.search(comment)


def read_answer(text: str, answer_format: str) -> date | None:
    """Return the moment (TCP short) or day (TCP long) that a text commits to, or None."""
    for reading, comment in answer.readings(answer.plain(text)):
        moment = read_moment(reading)
        if moment and _agrees(comment, moment):
            if answer_format == LONG_FORMAT:
                return date(moment.year, moment.month, moment.day)
            return moment if isinstance(moment, datetime) else None
    return None


def read_flexible(text: str, form: str) -> tuple[answer.Statement | None, date | None]:
    """Return the last box, or else statement, and its value if the last has no other."""
    all_statements = answer.statements(text, _ECHO)
    upheld = [candidate for candidate in all_statements if not candidate.superseded]
    if not upheld:
        return (all_statements[-1], None) if all_statements else (None, None)
    last, chosen = upheld[-1], max(reversed(upheld), key=lambda x: x.kind == "box")
    value = read_answer(text[slice(*chosen.span)], form)
    last_text = text[slice(*last.span)]
    if last != chosen and read_answer(last_text, form) not in (value, None):
        return chosen._replace(superseded=True), None
    return chosen, value


# ------------------------------------------------------------------------- verdict
def explain(doc: dict, response: str) -> Verdict:
    """Return what the rules read; `accuracy` is the metric card's, the others are ours."""
    reference, answer_format = doc["answer"], doc["answer_format"]
    gold_value = read_reference(reference, answer_format)
    if gold_value is None or answer_format not in DISTANCES:
        fault = f"{reference!r:.80} is not in the form {answer_format!r:.80}"
        raise ValueError(f"'answer': {fault}")
    published_text, published_span = extract_published(response)
    masked_text = answer.mask(response)
    statement, value = read_flexible(masked_text, answer_format)
    scores = {
        "accuracy": float(match_published(published_text, reference, answer_format)),
        "accuracy_flexible": float(value == gold_value),
        "extracted": float(published_text is not None),
    }
    for metric, limit in DISTANCES[answer_format].items():
        scores[metric] = float(value is not None and abs(value - gold_value) <= limit)
    flexible_span = statement and statement.span
    flexible_text = flexible_span and response[slice(*flexible_span)]
    texts_and_spans = published_text, published_span, flexible_text, flexible_span
    verdict = Verdict(scores, "", *texts_and_spans, value, gold_value)
    is_revoked = bool(statement and statement.superseded)
    return verdict._replace(reason=_reason(verdict, is_revoked, response, masked_text))


def _reason(verdict: Verdict, is_taken_back: bool, response: str, text: str) -> str:
    """Return the word of REASONS for a verdict; `text` is the masked response."""
    is_published_right, is_flexible_right, *_ = verdict.scores.values()
    if is_flexible_right:
        return "right" if is_published_right else "flexible_only"
    if is_published_right and (is_taken_back or verdict.value):
        return "superseded"
    if verdict.value:
        return "other_value"
    shown_span = verdict.flexible_span or verdict.published_span
    if shown_span and text[shown_span[0]] == response[shown_span[0]]:  # not reasoning
        return "unreadable"
    ends_in_box = text.rfind("\\boxed{") > text.rfind("}")
    ends_in_thought = answer.mask(f"{response}.").endswith("\n")
    return "cut_off" if ends_in_box or ends_in_thought else "no_answer"


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Return means by metric of rows of scores, one a response; ValueError of no text."""
    if not all(isinstance(response, str) for response in results):
        raise ValueError("TCP: a response is not a string; use the filter take_first")
    rows = [explain(doc, response).scores for response in results]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


# ----------------------------------------------------------------------- documents
def process_docs_short(dataset: Dataset) -> Dataset:
    """Return documents; as in TCP long, ValueError names file, row and column."""
    return _process_docs(dataset, "TCP_short", SHORT_FORMAT)


def process_docs_long(dataset: Dataset) -> Dataset:
    return _process_docs(dataset, "TCP_long", LONG_FORMAT)


def _process_docs(dataset: Dataset, name: str, form: str) -> Dataset:
    """Return the documents of a file's rows, and log their count and fingerprint."""
    if not len(dataset):
        raise ValueError(f"{name}.jsonl: has no rows; give a split with at least one")
    is_fresh = bool({"level", "twin"} & {*dataset.column_names})  # made from a seed
    documents = [*map(partial(_document, name, form), dataset, range(len(dataset)))]
    row_count, checksum = len(documents), fingerprint(map(digest, documents))
    message = f"{name}.jsonl: {row_count} rows, fingerprint {checksum}"
    if is_fresh or row_count == FILES[name][0]:
        _log(logging.INFO, message)
    else:
        message = f"{message}; the benchmark has {FILES[name][0]} rows"
        _log(logging.WARNING, f"{message}: scores may not be comparable")
    return type(dataset).from_list(documents)


def read_reference(answer: str, form: str) -> date | None:
    """Return the value of a reference, None where it is not in the form of its file."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(answer.removesuffix(" GMT"))
        iso_text = moment.isoformat(" ", "minutes")
        if answer == (iso_text[:10] if form == LONG_FORMAT else f"{iso_text} GMT"):
            return moment.date() if form == LONG_FORMAT else moment
    return None


def _document(name: str, form: str, row: dict, row_number: int) -> dict:
    """Return a row's document; ValueError names its file, number and faulty column."""
    place = f"{name}.jsonl, row {row_number}"
    document = {column: row[column] for column in COLUMNS if column in row}
    if isinstance(document.get("answer"), datetime):  # how `datasets` reads a date
        document["answer"] = document["answer"].date().isoformat()
    for column in ("dialogue", "question", "answer"):
        cell = document.get(column)
        cell_texts = cell if column == "dialogue" else [cell]
        is_list = isinstance(cell_texts, list)
        has_only_texts = is_list and all(isinstance(text, str) for text in cell_texts)
        if not has_only_texts or not "".join(cell_texts).strip():
            fault = f"'{column}': {cell!r:.80} is missing, empty or not text"
            raise ValueError(f"{place}, column {fault}; fix the row")
    answer_text = document["answer"].strip()
    if not read_reference(answer_text, form):
        fault = f"'answer': {document['answer']!r:.80} is not in the form {form}"
        raise ValueError(f"{place}, column {fault}; fix the row")
    return {**document, "answer": answer_text, "answer_format": form}


def gold_response(doc: dict) -> str:
    """Return the reference of a document as the prompt asks for it."""
    return f"\\boxed{{{doc['answer']}}}"


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    digested_cells = [doc[column] for column in ("dialogue", "question", "answer")]
    return hashlib.sha256(json.dumps(digested_cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what is equal for documents that share their dialogue."""
    return json.dumps(doc["dialogue"])


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


# --------------------- what the tools know of this family (`Family` in utils/core/contract.py)
METRICS = {
    "accuracy": {"role": "published", "formerly": "acc"},
    "accuracy_flexible": {"role": "flexible", "formerly": "acc_flexible"},
    "extracted": {},
    "within_1h": {"shown": True},
    "within_24h": {"shown": True},
    "within_1d": {"shown": True},
    "within_7d": {"shown": True},
}
DOCUMENTS = {
    "explain": {
        "answer": str,
        "answer_format": str,
        "dialogue": [str],
        "question": str,
    },
}
BREAKDOWNS = {"level": "level"}
BOARD_COLUMNS = []


def reference_key(doc: dict) -> str:
    """Return what is equal for documents with equal references."""
    return f"{doc['answer']} {doc['answer_format']}"


def signed_error(value: date, reference: date) -> tuple[float, str]:
    """Return how much later than the reference an answer is, and in which unit."""
    unit = "hours" if isinstance(reference, datetime) else "days"
    return (value - reference) / timedelta(**{unit: 1}), unit
