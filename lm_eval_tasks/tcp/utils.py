"""Documents and scores of TCP, temporal constraint-based planning.

From top to bottom, as a response goes: reasoning blocks, the published rule, the flexible
rule, the verdict, and last the documents. Both rules keep three stages apart: extract
(response -> where its answer stands; never sees the reference), read, match.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import statistics
import unicodedata
import weakref
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    import datasets

eval_logger = logging.getLogger("lm_eval.tasks.tcp")

# Rows of each file of the benchmark; no fingerprint is known.
FILES = {"TCP_short": (300, None), "TCP_long": (300, None)}
# How references look: moments in GMT in TCP short, dates in TCP long.
SHORT_FORMAT, LONG_FORMAT = "YYYY-MM-DD HH:MM GMT", "YYYY-MM-DD"
REASONS = {
    "right": "both rules say right",
    "flexible_only": "the right value in a form that only the flexible rule reads",
    "superseded": "the published answer is right, but the response commits to another",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer that is not one value of the kind asked for",
    "no_answer": "neither rule found an answer",
    "cut_off": "no answer, and the response ends within a reasoning block or a box",
}
# The text of an answer and where it stands in the response; None, None for no answer.
Answer = tuple[str, tuple[int, int]] | tuple[None, None]


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


# ----------------------------------------------------------------- reasoning blocks

# Tags around reasoning, by their first character: one character is found fastest.
_REASONING_TAGS = {
    "<": re.compile(r"<(?P<closing>/?)(?P<name>think|thinking|reasoning)>"),
    "[": re.compile(r"\[(?P<closing>/?)(?P<name>THINK)\]"),
    "\u25c1": re.compile("\u25c1(?P<closing>/?)(?P<name>think)\u25b7"),
}
_CHANNEL = "<|channel|>"  # gpt-oss: "<|channel|>final<|message|>" precedes the answer


def mask_reasoning(response: str) -> str:
    """Return a text of equal length in which newlines stand for the reasoning blocks.

    A block that never closes reaches to the end; a closing tag that nothing opened ends
    one that starts with the response. Of gpt-oss's channels all that stands before the
    final one is reasoning, also where its headers have lost their special tokens.
    """
    text = response
    if "<" in text and (last := text.rfind(_CHANNEL)) >= 0:
        if (final := text.rfind(_CHANNEL + "final")) >= 0:
            message = text.find("<|message|>", final)
            end = message + len("<|message|>") if message >= 0 else final
            text = _mask(text, [(0, end)])
        elif text.startswith(_CHANNEL + "analysis", last):
            text = _mask(text, [(last, len(text))])
    elif text.startswith("analysis") and "assistantfinal" in text:
        end = text.rfind("assistantfinal") + len("assistantfinal")
        text = _mask(text, [(0, end)])
    for first_character, tags in _REASONING_TAGS.items():
        if first_character in text:
            text = _mask(text, _tagged_blocks(text, tags))
    return text


def _tagged_blocks(text: str, tags: re.Pattern) -> list[tuple[int, int]]:
    """Return where blocks between an opening and a closing tag start and end."""
    blocks: list[tuple[int, int]] = []
    opened: re.Match | None = None
    for tag in tags.finditer(text):
        if not tag["closing"]:
            opened = opened or tag
        elif not opened:
            blocks = [(0, tag.end())]
        elif tag["name"] == opened["name"]:
            blocks.append((opened.start(), tag.end()))
            opened = None
    if opened:
        blocks.append((opened.start(), len(text)))
    return blocks


def _mask(text: str, blocks: list[tuple[int, int]]) -> str:
    """Return `text` with newlines in place of the blocks, which follow each other."""
    parts, position = [], 0
    for start, end in blocks:
        parts += text[position:start], "\n" * (end - start)
        position = end
    return "".join([*parts, text[position:]]) if blocks else text


# ------------------------------------------------------------------ published rule


def extract_published(response: str) -> Answer:
    r"""Return what the first box holds up to `}`, by the card's `\\boxed{([^}]*)}`."""
    # One character is found many times as fast as several.
    start = response.find("\\boxed{", response.find("\\"))
    end = response.find("}", start)
    return _strip(response, start + 7, end) if 0 <= start < end else (None, None)


def _strip(text: str, start: int, end: int) -> Answer:
    """Return a part of a text without the white space at its ends, and its span."""
    part = text[start:end]
    answer = part.strip()
    start += part.find(answer)
    return (answer, (start, start + len(answer))) if answer else (None, None)


def match_published(answer: str | None, reference: str, answer_format: str) -> bool:
    """Tell whether two texts are equal; for TCP short without "GMT" (metric card)."""
    if answer is None or answer == reference or answer_format != SHORT_FORMAT:
        return answer == reference
    return answer.replace("GMT", "").strip() == reference.replace("GMT", "").strip()


# ------------------------------------------------------------------- flexible rule

MAX_LENGTH = 300  # of an answer with its comment; what is longer is not read
# Words around a date that say nothing about its value.
FILLERS = (
    "answer at be by can complete completed completion date datetime day deadline done due"
    " earliest end ended ending ends eod final finish finished finishes for gmt here in is"
    " insert it last moment of on overall possible project ready result so task tasks the thus"
    " time total utc value was will your"
).split()
NAMES = {
    "M": "january february march april may june july august september october november"
    " december",
    "W": "monday tuesday wednesday thursday friday saturday sunday",
}
# What is read for a word: M1 to M12, W1 to W7 (of three letters or more), no fillers.
WORDS = dict.fromkeys(FILLERS, "") | {
    name[:length]: f" {kind}{number} "
    for kind, names in NAMES.items()
    for number, name in enumerate(names.split(), 1)
    for length in range(3, len(name) + 1)
}
_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|(?<!\\)[{}]")
_OWN_FORM = re.compile(r"\d{4}-\d\d-\d\d( ([01]\d|2[0-3]):[0-5]\d( GMT)?)?", re.ASCII)
# LaTeX that changes looks or spacing, Markdown, tags, citation marks, quotes, ticks. Other
# commands (\neg, \cancel, \geq) may change the value: they stay, and nothing reads them.
_NOISE = re.compile(
    r"""
    \\+ (?: (?:text)?color\s*\{\w*\} | [hv]space\*?\s*\{[^{}]*\}
          | (?: (?:text|math)(?:rm|bf|it|tt|sf|sc|up|md|normal)? | [fmh]box | boxed | emph
              | underline | boldsymbol | (?:display|text)style | bf | rm | tt | [lL]arge | left
              | right | checkmark | q?quad ) (?![A-Za-z])
          | [ ,;:!(){}\[\]$&_~] | (?![A-Za-z0-9]) )
    | </?[A-Za-z]{1,10}/?> | \[[0-9]{1,2}\]
    | [~&_$^`*"'\u00ab\u00bb\u2018-\u201f\u2705\u2611\u2713\u2714\ufe0f\U0001f389\U0001f4c5]
    """,
    re.VERBOSE,
)
# What makes an answer no value: other values, in a comment beside a number, or a doubt.
_OTHER = r"\b(?:or|and|but|either|otherwise|alternatively|maybe|perhaps|possibly|plus|minus)\b"
_DENIAL = (
    r"not(?! (?:count|includ|consider))|never|cannot|[a-z]+n't|im(?:possible|practical)"
    r"|in(?:correct|valid|feasible|eligible)|un(?:likely|sure|certain|available|feasible)"
    r"|too|draft|tentative|no longer|ruled out"
    r"|(?:exclu|reject|discard|eliminat|dismiss|fail|violat)[a-z]*"
)
_DOUBT = (
    rf"\b(?:if|unless|wrong|next|previous|am|pm|{_DENIAL})\b"
    r"|[?\u00b1\\<>%\u2717\u2718\u274c\u274e]"
)
# The rest gives a reason, or says what the value is not.
_REASON = re.compile(
    r"(?:[,;-]*[ (]+(?:because|since|as|given|assuming|due to|considering|based|when|where"
    r"|which)|(?:[,;-] |\()(?:not|rather than|instead of)(?=[a-z ]*[0-9]))\b"
    rf"(?!.*(?:{_DOUBT}|{_OTHER}.*[0-9])).*"
)
_CLOCK = re.compile(
    r"""
    (?<![\d:.]) (?P<hour>\d\d?)
    (?: (?: \ ?:\ ? | \.(?=\d\d\ ?(?:hrs?|hours|[ap]\.?m|gmt|utc|z|\(|\Z)) ) (?P<minute>\d\d)
        (?: :(?P<second>\d\d)(?:\.0+)? )?
      | (?=\ ?[ap]\.?m\b) )
    (?: \ ?(?:hrs?|h|hours|o.?clock)\b\.? )? (?: \ ?(?P<half>[ap])\.?m\b\.? )?
    (?P<zone> (?: \ ?[(/]?(?:gmt|utc|z|greenwich\ mean\ time)\b\)? ){0,2}
        (?: \ ?(?P<sign>[+-])(?P<hours>\d\d?)(?::?(?P<minutes>\d\d))? )? )
    (?![\d:])
    """,
    re.ASCII | re.VERBOSE,
)
_DATE = re.compile(
    r"(?<![\w.+/-]) (\d{4}|\d\d?|M\d+) [-/.,\ ]+ (\d\d?|M\d+) [-/.,\ ]+ (\d{4}|\d\d?)"
    r"(?!\w|[/-]\d)",
    re.ASCII | re.VERBOSE,
)
# A label, a date (#), maybe with a clock (@), and comments: in brackets words with numbers
# as small as in "5 days", elsewhere words alone.
_ANSWER = re.compile(
    r"""
    (?: (?!.*\b(?:not|start|begin|before|after|about|around|approx)) [a-z -]*[:=]
      | (?![^#@]*\b(?:no|start|begin|before|after|about|around|approx|until|than|from|since
            |past|within|under|over|near|eve|week|month|year)) [a-z ,]*(?=[#@]) )?
    [ ,(]* (?P<value> \#[ ,()|:=]*@ | @[ ,(:=]*\# | \# ) [ )]*
    (?P<comment>
        (?: [ ,;.:=-]* \( (?![^()]*(?:\d{3}|M\d|[+-]\ ?\d)) (?:[^()]*[a-z]{2}[^()]*|\ *) (?:\)|\Z) )*
        [ ,;.:=-]* (?: [,;.:=-]\ [a-z][^\d@()]* )? )
    """,
    re.VERBOSE,
)


def extract_flexible(text: str) -> Answer:
    r"""Return what the last complete box of a masked response holds.

    Braces balance. A box that is empty or repeats the form (`\boxed{YYYY-MM-DD}`) is none.
    """
    for start, end in reversed(_boxes(text)):
        answer, span = _strip(text, start, end or start)
        words = re.findall(r"\w+", normalise((answer or "")[:MAX_LENGTH]))
        is_form = all(
            x in FILLERS or re.fullmatch("[ymdhstxz]+|[lcvd]?dots", x) for x in words
        )
        if answer and (len(answer) > MAX_LENGTH or not is_form):
            return answer, span
    return None, None


def _boxes(text: str) -> list[tuple[int, int | None]]:
    """Return start and end of what each box holds, with None for those that never close."""
    boxes, opened = [], []  # `opened`: where a box starts, None for other braces
    # Braces before the first command do not matter.
    for mark in _BOX_OR_BRACE.finditer(text, max(text.find("\\"), 0)):
        if mark[0] != "}":
            opened.append(mark.end() if mark[0] != "{" else None)
        elif opened and (start := opened.pop()) is not None:
            boxes.append((start, mark.start()))
    return boxes + [(start, None) for start in opened if start is not None]


def normalise(answer: str) -> str:
    """Return an answer in lower case without LaTeX, Markdown, tags and typography."""
    text = unicodedata.normalize("NFKC", answer).replace("\\colon", ":")
    text = re.sub("[{}\u200b-\u200d\u2060\ufeff]", "", _NOISE.sub(" ", text))
    text = re.sub("[\u2010-\u2015\u2212]|(?<=[0-9])[\u5e74\u6708]", "-", text)
    text = re.sub("(?<=[0-9])\u65e5", " ", text)
    text = text.replace("[", "(").replace("]", ")")
    text = re.sub(r"\b(?:12(?::00)? )?noon\b", "12:00", text.casefold())
    return " ".join(text.split()).strip(" .,;")


def read_own_form(text: str) -> date | None:
    """Return the value of a text in the form of references, None for no such day."""
    try:
        if len(text) > 10:
            return datetime.fromisoformat(text[:16])
        return date.fromisoformat(text)
    except ValueError:
        return None


def read_reference(answer: str, form: str) -> date | None:
    """Return the value of a reference, None where it is not in the form of its file."""
    is_form = len(answer) == len(form) and _OWN_FORM.fullmatch(answer)
    return read_own_form(answer) if is_form else None


def read_moment(answer: str) -> date | None:
    """Return the date, or the moment in GMT, that an answer commits to; None for others.

    Months may have names; a clock may have 12 or 24 hours, seconds and an offset to GMT; a
    comment may follow. What reads two ways (05/06/2020, two times) is none.
    """
    if _OWN_FORM.fullmatch(answer):
        return read_own_form(answer)
    text = _REASON.sub("", normalise(answer) if len(answer) <= MAX_LENGTH else "")
    clocks = list(_CLOCK.finditer(text))
    times = {_read_clock(clock) for clock in clocks}
    # The same clock, weekday or day once more says nothing new.
    again = clocks[1].start() if len(clocks) > len(times) == 1 else len(text)
    shape = _CLOCK.sub(lambda clock: "@" if clock.start() < again else "", text)
    shape = re.sub("(?<=[0-9]) ?(?:st|nd|rd|th|t)\\b", "", shape)
    # "day 5" is a comment that needs its word.
    shape = re.sub(
        r"\bday(?= \d)|([a-z]+)", lambda word: WORDS.get(word[1], word[0]), shape
    )
    weekdays, shape = {*re.findall("W[1-7]", shape)}, re.sub("W[1-7]", "", shape)
    days = {_read_day(*found.groups()) for found in _DATE.finditer(shape)}
    shape = _DATE.sub("", _DATE.sub("#", shape, count=1))
    day = days.pop() if len(days) == 1 else None
    if (
        not day
        or weekdays - {f"W{day.isoweekday()}"}
        or re.search(f"{_OTHER}|{_DOUBT}", shape)
    ):
        return None
    found = _ANSWER.fullmatch(" ".join(shape.split()))
    if not found or not clocks:
        return day if found else None
    return _at_clock(day, clocks[0], **found.groupdict())


def _at_clock(day: date, clock: re.Match, value: str, comment: str) -> datetime | None:
    """Return the moment; None for a clock elsewhere, or one whose zone words may say."""
    since_midnight = _read_clock(clock)
    zone_is_sure = clock["zone"] or not re.search("[a-z@]", comment)
    if since_midnight is None or "@" not in value or not zone_is_sure:
        return None
    with suppress(OverflowError):
        return datetime.combine(day, time()) + since_midnight
    return None


def _read_day(first: str, second: str, third: str) -> date | None:
    """Return the day that three numbers are in one order alone; a month may be M1."""
    orders = (first, second, third), (third, second, first), (third, first, second)
    days = set()
    for year, month, day in orders:
        with suppress(ValueError):
            if len(year) == 4:
                days.add(date(int(year), int(month.lstrip("M")), int(day)))
    return days.pop() if len(days) == 1 else None


def _read_clock(clock: re.Match) -> timedelta | None:
    """Return the time in GMT since midnight; None for an impossible one and a range."""
    names = ("hour", "minute", "second", "hours", "minutes")
    hour, minute, second, hours, minutes = (int(clock[name] or 0) for name in names)
    if half := clock["half"]:  # "16:00 p.m." says the same twice
        if hour > 12 if half == "a" else not 0 < hour < 24:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    given = timedelta(hours=hour, minutes=minute, seconds=second)
    offset = timedelta(hours=hours, minutes=minutes)
    is_range = clock["zone"].startswith("-") and offset > given  # "09:00-11:00"
    if max(minute, second, minutes) > 59 or given > timedelta(1) or hours > 14:
        return None
    return None if is_range else given + (offset if clock["sign"] == "-" else -offset)


def match_flexible(value: date | None, expected: date) -> bool:
    """Tell whether a value is the reference's; midnight on a day is that day."""
    if isinstance(value, datetime) and not isinstance(expected, datetime):
        return value == datetime.combine(expected, time())
    return value == expected


# ------------------------------------------------------------------- graded errors


_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


def signed_error(value: date | None, expected: date) -> float | None:
    """Return how much later than the reference a value is; None where none was read.

    In hours (TCP short), a date without a time being none; in days (TCP long).
    """
    if isinstance(expected, datetime):
        is_moment = isinstance(value, datetime)
        return (value - expected) / _HOUR if is_moment else None
    if isinstance(value, datetime):
        return (value - datetime.combine(expected, time())) / _DAY
    return None if value is None else (value - expected) / _DAY


# The names of the errors, and the scores of a right answer: TCP long's, TCP short's.
_ERRORS = (
    ("days_off", "days_off_median", "days_off_absolute"),
    ("hours_off", "hours_off_median", "hours_off_absolute"),
)
_RIGHT = tuple(
    {"acc": 1.0, "acc_flexible": 1.0, "extracted": 1.0, **dict.fromkeys(names, 0.0)}
    for names in _ERRORS
)


def graded_errors(value: date | None, expected: date) -> dict[str, float]:
    """Return the errors of an answer that can be read; {} for another.

    The signed one goes by two names, since the harness aggregates a metric in one way.
    """
    error = signed_error(value, expected)
    if error is None:
        return {}
    signed, middle, absolute = _ERRORS[isinstance(expected, datetime)]
    return {signed: error, middle: error, absolute: abs(error)}


def median(errors: list[float]) -> float:
    """Return the median, for the YAML; the harness's own costs 100,000 bootstrap draws."""
    return statistics.median(errors)


# ------------------------------------------------------------------------- verdict


def explain(doc: dict, response: str) -> Verdict:
    """Return scores, answers and reason for one response to a document.

    `acc` follows the metric card, `acc_flexible` the value; `extracted` says whether
    the card's rule found a box. Any text has a verdict.
    """
    reference, expected = doc["answer"], read_own_form(doc["answer"])
    text = mask_reasoning(response)
    # The quick way: one box, which the last brace ends, in the form of references.
    start = response.find("\\boxed{", response.find("\\")) + 7
    end = response.rfind("}")
    answer = response[start:end]
    if text is not response or not 7 <= start < end:
        answer = ""
    if answer == reference:
        scores, span = _RIGHT[len(reference) > len(LONG_FORMAT)].copy(), (start, end)
        return Verdict(scores, "right", answer, span, answer, span, expected, expected)
    if _OWN_FORM.fullmatch(answer):
        published = flexible = answer, (start, end)
    else:
        published, flexible = extract_published(response), extract_flexible(text)
    acc = match_published(published[0], reference, doc["answer_format"])
    is_reference = acc and flexible[0] == published[0]
    value = expected if is_reference else read_moment(flexible[0] or "")
    right = is_reference or match_flexible(value, expected)
    if right or acc:
        reason = "flexible_only" if not acc else "right" if right else "superseded"
    else:
        reason = _why_wrong(response, text, published[0], flexible[0], value)
    found = published[0] is not None
    scores = {"acc": 1.0 * acc, "acc_flexible": 1.0 * right, "extracted": 1.0 * found}
    scores |= graded_errors(value, expected)
    return Verdict(scores, reason, *published, *flexible, value, expected)


def _why_wrong(
    response: str, text: str, published: str | None, flexible: str | None, value: object
) -> str:
    """Return the reason where neither rule says right; `text` is the masked response.

    What the published rule alone found stands in the reasoning, or is a form.
    """
    if not flexible:
        # The mask of a block that does close may end the response, too.
        end = len(response.rstrip()) - 1
        in_block = end >= 0 and text[end] == "\n" and response[end] not in ">]\u25b7"
        if in_block or any(closing is None for _, closing in _boxes(text)):
            return "cut_off"
        if not published:
            return "no_answer"
        value = read_moment(published)
    return "other_value" if value else "unreadable"


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Return the scores of `explain`; ValueError where the response is not a string."""
    if not isinstance(results[0], str):
        raise ValueError(
            f"TCP: a response is a {type(results[0]).__name__}, not a string; use a filter"
            " that leaves one response, such as take_first"
        )
    return explain(doc, results[0]).scores


# ----------------------------------------------------------------------- documents

# The harness asks four times for the documents of a dataset; none is kept alive here.
_DOCUMENTS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def process_docs_short(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of TCP short: `process_docs_long` says the rest."""
    return _process_docs(dataset, "TCP_short", SHORT_FORMAT)


def process_docs_long(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of upstream rows, with the form that their answers have.

    Raises ValueError, naming file, row and column, for what cannot be scored. Logs row
    count and fingerprint, as a warning where the count is not the known one.
    """
    return _process_docs(dataset, "TCP_long", LONG_FORMAT)


def _process_docs(dataset: datasets.Dataset, name: str, form: str) -> datasets.Dataset:
    if (known := _DOCUMENTS.get(dataset)) and known[0] == name:
        return known[1]
    file, (known_rows, _) = f"{name}.jsonl", FILES[name]
    if not len(dataset):
        raise ValueError(f"{file}: has no rows; give a split with at least one")
    columns = ["index", "dialogue", "question", "answer"]
    if missing := [repr(name) for name in columns if name not in dataset.column_names]:
        fault = (
            f"column {', '.join(missing)} is missing; give rows as in Beanbagdzf/TCP"
        )
        raise ValueError(f"{file}: {fault}")
    is_fresh = "level" in dataset.column_names  # rows made from a seed say so
    columns += ["level"] * is_fresh
    documents = []
    for row, cells in enumerate(dataset.select_columns(columns)):
        if isinstance(cells["answer"], datetime):  # as `datasets` reads dates in JSON
            cells["answer"] = cells["answer"].date().isoformat()
        if fault := _fault(cells, form):
            raise ValueError(f"{file}, row {row}, column {fault}; fix the row")
        answer = cells["answer"].strip()
        documents.append({**cells, "answer": answer, "answer_format": form})
    found = f"{len(documents)} rows, fingerprint {fingerprint(map(digest, documents))}"
    if is_fresh or len(documents) == known_rows:
        eval_logger.info(f"{file}: {'fresh ' * is_fresh}{found}")
    else:
        eval_logger.warning(
            f"{file}: {found}; the benchmark has {known_rows} rows, scores on others may"
            " not be comparable"
        )
    _DOCUMENTS[dataset] = name, type(dataset).from_list(documents)
    return _DOCUMENTS[dataset][1]


def _fault(cells: dict, form: str) -> str | None:
    """Return which column of a row is wrong, and how; None where none is."""
    for column in ("question", "answer", "dialogue"):
        is_list = column == "dialogue"
        texts = cells[column] if is_list else [cells[column]]
        if not isinstance(texts, list) or not all(isinstance(x, str) for x in texts):
            kind = "a list of strings" if is_list else "a string"
            return f"'{column}': {repr(cells[column])[:80]} is not {kind}"
        if not "".join(texts).strip():
            return f"'{column}': is empty"
    answer = cells["answer"].strip()
    if not read_reference(answer, form):
        return f"'answer': {repr(answer)[:80]} is not in the form {form}"
    return None


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    cells = [doc[column] for column in ("dialogue", "question", "answer")]
    return hashlib.sha256(json.dumps(cells).encode()).digest()


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]
