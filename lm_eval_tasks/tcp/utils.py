"""TCP (temporal planning): the published rule, the flexible one, verdict, documents."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import re
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from datasets import Dataset
    from lm_eval_tasks import answer
else:  # What the families share stands beside their folders, whatever pack is installed.
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
REASONS = {  # why an answer scores as it does: one of these
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
_BOX_START = "\\boxed{"


def extract_published(response: str) -> tuple[str, tuple[int, int]] | tuple[None, None]:
    r"""Return what the first box holds up to `}`, by the card's `\\boxed{([^}]*)}`, and its span."""
    box_start = response.find(_BOX_START)
    if box_start < 0:
        return None, None
    text_start = box_start + len(_BOX_START)
    text_end = response.find("}", text_start)
    if text_end < 0:
        return None, None
    text = response[text_start:text_end].strip()
    if not text:
        return None, None
    text_start = response.index(text, text_start)
    return text, (text_start, text_start + len(text))


def match_published(extracted: str | None, reference: str, answer_format: str) -> bool:
    """Tell whether two texts are equal; for TCP short without "GMT" (metric card)."""
    if extracted and answer_format == SHORT_FORMAT:
        extracted = extracted.replace("GMT", "").strip()
        reference = reference.replace("GMT", "").strip()
    return extracted == reference


# ------------------------------------------------------------------- flexible rule
MADE_UP_PROMPT = answer.Pattern(
    "A line that begins like a fixed line of the prompt",
    r"\n [ \t#*>]* (?: Read[ ]this[ ]dialogue[ ]between | Reason[ ]step[ ]by[ ]step )",
    reads={"A.\n\n# Read this dialogue between us": "\n# Read this dialogue between"},
    refuses=["Reason step by step", "\nRead this dialogue"],
)
CLOCK = answer.Pattern(
    "A time of a 24-hour clock, or of a 12-hour clock with am or pm, and its zone if that"
    " is GMT or an offset",
    r"""
    (?<! [\d:.] )
    (?= \d\d? (?: : | [ ]? [ap] \.?m \b ) )      # a colon, am or pm has to follow
    (?P<hour> \d\d? )
    (?: : (?P<minute> \d\d ) (?: : (?P<second> \d\d ) (?: \.0+ )? )? )?
    (?: [ ]? (?P<half> [ap] ) \.?m \b \.? )?
    (?: [ ]? (?: GMT | UTC | Z ) \b )?
    (?: [ ]? (?P<sign> [+-] ) (?P<zone_hours> \d\d? ) (?: :? (?P<zone_minutes> \d\d ) )? )?
    (?! [\d:] )
    """,
    reads={
        "at 16:00.": "16:00",
        "4 p.m. GMT": "4 p.m. GMT",
        "2020-05-28T16:00:00.000Z": "16:00:00.000Z",
        "18:00+02:00": "18:00+02:00",
        "9:30am UTC-5": "9:30am UTC-5",
        "25:61": "25:61",
    },
    refuses=["16", "16.00", "4 amber", "1:2", "16:00:", "2020-05-28"],
    flags=re.ASCII | re.IGNORECASE,
)
OTHER_ZONE = answer.Pattern(
    "A zone other than GMT: capitals that end in T, a place's time, an offset from GMT",
    r"""
    \b (?! GMT ) [A-Z]{1,4}T \b
    | \b (?: local | [A-Z][a-z]+ ) [ ] time \b
    | (?: GMT | UTC ) [ ]? [+-]
    """,
    reads={
        "16:00 EST": "EST",
        "16:00 (Berlin time)": "Berlin time",
        "local time": "local time",
        "16:00 GMT+2": "GMT+",
    },
    refuses=["16:00 GMT", "at that time", "UTC 5", "est"],
)


def _read_clock(clock: re.Match) -> timedelta | None:
    """Return the time since midnight in GMT of what CLOCK found; None of no possible one."""
    hour, minute = int(clock["hour"]), int(clock["minute"] or 0)
    second = int(clock["second"] or 0)
    zone_hours, zone_minutes = (
        int(clock["zone_hours"] or 0),
        int(clock["zone_minutes"] or 0),
    )
    if clock["half"]:
        if not 1 <= hour <= 12:
            return None
        hour %= 12
        if clock["half"].lower() == "p":
            hour += 12
    if hour > 23 or zone_hours > 14 or max(minute, second, zone_minutes) > 59:
        return None
    local_time = timedelta(hours=hour, minutes=minute, seconds=second)
    zone_offset = timedelta(hours=zone_hours, minutes=zone_minutes)
    if clock["sign"] == "-":
        return local_time + zone_offset
    return local_time - zone_offset


def read_moment(text: str) -> date | None:
    """Return the moment in GMT, or without a clock the day, that a text is."""
    clock = CLOCK.regex.search(text)
    text_without_clock = CLOCK.regex.sub(" ", text, count=1).lower()
    day = answer.read_day(answer.date_fields(text_without_clock))
    if day is None or clock is None:
        return day
    time_of_day = _read_clock(clock)
    if time_of_day is None:
        return None
    with suppress(OverflowError):  # past the last year
        return _midnight(day) + time_of_day
    return None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def _agrees(comment: str, moment: date) -> bool:
    """Tell whether a comment names no other date, clock or number than a moment, and no zone."""
    if OTHER_ZONE.regex.search(comment):
        return False
    commented_moment = read_moment(comment.strip(" ([])"))
    if commented_moment and not str(moment).startswith(str(commented_moment)):
        return False
    own_numbers = {str(moment.year), str(moment.month), str(moment.day)}
    if isinstance(moment, datetime):
        own_numbers.add(str(moment - _midnight(moment)))
    numbers = answer.numbers(CLOCK.regex.sub("", comment))
    numbers |= {str(_read_clock(clock)) for clock in CLOCK.regex.finditer(comment)}
    return numbers <= own_numbers


def read_answer(text: str, answer_format: str) -> date | None:
    """Return the moment (TCP short) or day (TCP long) that a text commits to, or None."""
    for reading, comment in answer.readings(answer.plain(text)):
        moment = read_moment(reading)
        if moment and _agrees(comment, moment):
            if answer_format == LONG_FORMAT:
                return date(moment.year, moment.month, moment.day)
            return moment if isinstance(moment, datetime) else None
    return None


def read_flexible(
    text: str, answer_format: str
) -> tuple[answer.Statement | None, date | None]:
    """Return the statement of a masked response that counts, and its value.

    Of statements that are not superseded, it is the last box, or without one the last. A
    later statement with another value supersedes the box. Where all are superseded, it is
    the last one, without a value.
    """
    statements = answer.statements(text, MADE_UP_PROMPT)
    upheld = [statement for statement in statements if not statement.superseded]
    if not upheld:
        return (statements[-1], None) if statements else (None, None)
    last = upheld[-1]
    boxes = [statement for statement in upheld if statement.kind == "box"]
    chosen = boxes[-1] if boxes else last
    value = read_answer(text[slice(*chosen.span)], answer_format)
    if last != chosen:  # a statement behind the last box
        last_value = read_answer(text[slice(*last.span)], answer_format)
        if last_value is not None and last_value != value:
            return chosen._replace(superseded=True), None
    return chosen, value


# ------------------------------------------------------------------------- verdict
def explain(doc: dict, response: str) -> Verdict:
    """Return what the rules read; `accuracy` is the metric card's, the others are ours.

    ValueError of a document whose answer is not in its format.
    """
    answer_format, gold = doc["answer_format"], doc["answer"]
    reference = read_reference(gold, answer_format)
    if reference is None or answer_format not in DISTANCES:
        fault = f"{gold!r:.80} is not in the form {answer_format!r:.80}"
        raise ValueError(f"'answer': {fault}")
    published, published_span = extract_published(response)
    masked_text = answer.mask(response)
    statement, value = read_flexible(masked_text, answer_format)
    scores = {
        "accuracy": float(match_published(published, gold, answer_format)),
        "accuracy_flexible": float(value == reference),
        "extracted": float(published is not None),
    }
    for metric, limit in DISTANCES[answer_format].items():
        scores[metric] = float(value is not None and abs(value - reference) <= limit)
    reason = _reason_of_value(scores, value, statement)
    if reason is None:
        shown_span = statement.span if statement else published_span
        is_open = masked_text.rfind(_BOX_START) > masked_text.rfind("}")
        reason = answer.reason_without_value(response, masked_text, shown_span, is_open)
    return Verdict(
        scores=scores,
        reason=reason,
        published=published,
        published_span=published_span,
        flexible=response[slice(*statement.span)] if statement else None,
        flexible_span=statement.span if statement else None,
        value=value,
        reference=reference,
    )


def _reason_of_value(
    scores: dict, value: date | None, statement: answer.Statement | None
) -> str | None:
    """Return the word of REASONS for a value, or for one that was taken back; else None."""
    if scores["accuracy_flexible"]:
        return "right" if scores["accuracy"] else "flexible_only"
    is_taken_back = statement is not None and statement.superseded
    if scores["accuracy"] and (value or is_taken_back):
        return "superseded"
    return "other_value" if value else None


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Return metric -> mean of the scores of responses; ValueError for one that is not text."""
    return answer.mean_scores(explain, doc, results)


# ----------------------------------------------------------------------- documents
def process_docs_short(dataset: Dataset) -> Dataset:
    """Return documents; as in TCP long, ValueError names file, row and column."""
    return _process_docs(dataset, "TCP_short", SHORT_FORMAT)


def process_docs_long(dataset: Dataset) -> Dataset:
    return _process_docs(dataset, "TCP_long", LONG_FORMAT)


def _process_docs(dataset: Dataset, name: str, answer_format: str) -> Dataset:
    """Return the documents of a file's rows, and log their count and fingerprint."""
    if not len(dataset):
        raise ValueError(f"{name}.jsonl: has no rows; give a split with at least one")
    documents = []
    for row_number, row in enumerate(dataset):
        try:
            documents.append(_document(row, answer_format))
        except ValueError as error:
            place = f"{name}.jsonl, row {row_number}"
            raise ValueError(f"{place}, column {error}; fix the row") from None
    row_count, checksum = len(documents), fingerprint(map(digest, documents))
    message = f"{name}.jsonl: {row_count} rows, fingerprint {checksum}"
    is_fresh = not {"level", "twin"}.isdisjoint(dataset.column_names)  # from a seed
    benchmark_row_count, _ = FILES[name]
    if is_fresh or row_count == benchmark_row_count:
        _log(logging.INFO, message)
    else:
        message += f"; the benchmark has {benchmark_row_count} rows"
        _log(logging.WARNING, f"{message}: scores may not be comparable")
    return type(dataset).from_list(documents)


def _has_text(cell: object) -> bool:
    """Tell whether a cell is a list of texts, and not of blanks alone."""
    return (
        isinstance(cell, list)
        and all(isinstance(text, str) for text in cell)
        and bool("".join(cell).strip())
    )


def _document(row: dict, answer_format: str) -> dict:
    """Return a row's document; ValueError begins with its faulty column."""
    document = {column: row[column] for column in COLUMNS if column in row}
    if isinstance(document.get("answer"), datetime):  # how `datasets` reads a date
        document["answer"] = document["answer"].date().isoformat()
    for column in ("dialogue", "question", "answer"):
        cell = document.get(column)
        texts = cell if column == "dialogue" else [cell]
        if not _has_text(texts):
            raise ValueError(f"'{column}': {cell!r:.80} is missing, empty or not text")
    gold = document["answer"].strip()
    if read_reference(gold, answer_format) is None:
        fault = f"{document['answer']!r:.80} is not in the form {answer_format}"
        raise ValueError(f"'answer': {fault}")
    return {**document, "answer": gold, "answer_format": answer_format}


def read_reference(gold: str, answer_format: str) -> date | None:
    """Return the value of a reference, None where it is not in the form of its file."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(gold.removesuffix(" GMT"))
        if answer_format == LONG_FORMAT and gold == moment.date().isoformat():
            return moment.date()
        iso_text = moment.isoformat(" ", "minutes")
        if answer_format == SHORT_FORMAT and gold == f"{iso_text} GMT":
            return moment
    return None


def gold_response(doc: dict) -> str:
    """Return the reference of a document as the prompt asks for it."""
    return f"\\boxed{{{doc['answer']}}}"


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    digested_cells = [doc[column] for column in ("dialogue", "question", "answer")]
    # The form of an answer says its format, which is digested where it is another one.
    own_format = SHORT_FORMAT if str(doc["answer"]).endswith("GMT") else LONG_FORMAT
    if doc.get("answer_format") != own_format:
        digested_cells.append(doc.get("answer_format"))
    return hashlib.sha256(json.dumps(digested_cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what is equal for documents that share their dialogue."""
    return json.dumps(doc["dialogue"])


fingerprint = answer.fingerprint


# -------------- what the tools know of this family (`Family` in utils/core/family_contract.py)
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
BOARD_COLUMNS: list[str] = []


def reference_key(doc: dict) -> str:
    """Return what is equal for documents with equal references."""
    return f"{doc['answer']} {doc['answer_format']}"


def signed_error(value: date, reference: date) -> tuple[float, str]:
    """Return how much later than the reference an answer is, and in which unit."""
    unit = "hours" if isinstance(reference, datetime) else "days"
    return (value - reference) / timedelta(**{unit: 1}), unit
