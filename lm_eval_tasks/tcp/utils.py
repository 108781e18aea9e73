"""Documents and scores of TCP, temporal constraint-based planning.

Read from top to bottom, as a response goes: reasoning blocks, the published rule, the
flexible rule, the verdict, and last the documents. Both rules keep three stages apart:
extract (response -> where its answer stands; never sees the reference), read (answer ->
value), match (two values).
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import unicodedata
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    import datasets


eval_logger = logging.getLogger("lm_eval.tasks.tcp")

KNOWN_ROWS = 300  # of each of TCP_short.jsonl and TCP_long.jsonl

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
        if not opened and not tag["closing"]:
            opened = tag
        elif not opened:
            blocks = [(0, tag.end())]
        elif tag["closing"] and tag["name"] == opened["name"]:
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
    r"""Return the text of the first `\boxed{…}` up to its first brace.

    Source: metric card, `\\boxed{([^}]*)}`, stripped. An empty box is no answer.
    """
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


# ------------------------------------------- flexible rule: which box is the answer

_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\[{}]|[{}]")


def extract_flexible(text: str) -> Answer:
    r"""Return what the last complete box holds that says more than the answer's form.

    Takes a response whose reasoning is masked. A box is complete when its braces balance;
    one that is empty or repeats the form (`\boxed{YYYY-MM-DD}`) is no answer.
    """
    found: Answer = (None, None)
    for start, end in _boxes(text):
        box = _strip(text, start, end or start)
        if box[0] and (len(box[0]) > MAX_LENGTH or _says_something(box[0])):
            found = box
    return found


def _boxes(text: str) -> Iterator[tuple[int, int | None]]:
    r"""Give start and end of what each box holds, with None for those that never close.

    `\{` and `\}` are not braces. A box in a box closes before the outer one.
    """
    opened: list[int | None] = []  # where a box starts, None for other braces
    # Braces before the first command do not matter.
    for mark in _BOX_OR_BRACE.finditer(text, max(text.find("\\"), 0)):
        if mark[0] == "}":
            if opened and (start := opened.pop()) is not None:
                yield start, mark.start()
        elif mark[0].endswith("{") and mark[0] != "\\{":
            opened.append(mark.end() if mark[0] != "{" else None)
    yield from ((start, None) for start in opened if start is not None)


def _says_something(box: str) -> bool:
    """Tell whether there is more than fillers and letters as in "YYYY-MM-DD"."""
    words = set(re.findall(r"\w+", normalise(box)))
    return any(not re.fullmatch("[ymdhstxz]+", word) for word in words - FILLERS)


# --------------------------------------------------- flexible rule: read the value

MAX_LENGTH = 300  # of an answer with its comment; what is longer is not read
# Words around a date that say nothing about its value.
FILLERS = set(
    "a answer at be by can complete completed completion date datetime day deadline done"
    " due earliest end ended ending ends eod final finish finished finishes for gmt here"
    " in insert is it last moment nd of on overall possible project rd result so st t"
    " task tasks th the thus time total utc value was will your".split()
)


def _numbered(names: str) -> dict[str, int]:
    """Return the numbers, from 1, of names, whole or cut to three letters or more."""
    return {
        name[:length]: number
        for number, name in enumerate(names.split(), 1)
        for length in range(3, len(name) + 1)
    }


MONTHS = _numbered(
    "january february march april may june july august september october november"
    " december"
)
WEEKDAYS = _numbered("monday tuesday wednesday thursday friday saturday sunday")

# Orders of a date; one of numbers that reads as two dates is none.
_DATES = [
    re.compile(order)
    for order in (
        r"(?P<year>[0-9]{4}) (?P<month>[0-9]{1,2}|[a-z]+) (?P<day>[0-9]{1,2})",
        r"(?P<day>[0-9]{1,2}) (?P<month>[0-9]{1,2}|[a-z]+) (?P<year>[0-9]{4})",
        r"(?P<month>[0-9]{1,2}|[a-z]+) (?P<day>[0-9]{1,2}) (?P<year>[0-9]{4})",
    )
]
_DATE_TEXT = re.compile(r"[(\[]*[a-z0-9][a-z0-9 ,;|./()\[\]-]*")
_CLOCK = re.compile(
    r"""
    (?<![0-9:.])(?P<hour>[0-9]{1,2})
    (?: \ ?:\ ?(?P<minute>[0-9]{2}) (?: :(?P<second>[0-9]{2})(?:\.0+)?)?
      | \.(?P<dotted_minute>[0-9]{2}) (?=\ ?(?:hrs?|hours|[ap]\.?m|gmt|utc|z)\b|\ ?\(|\Z)
      | (?=\ ?[ap]\.?m\b) )
    (?: \ ?(?:hrs?|h|hours|o.?clock)\b\.? )?
    (?: \ ?(?P<half>[ap])\.?m\b\.? )?
    (?P<zone> (?: \ ?[(/]?(?:gmt|utc|z|greenwich\ mean\ time)\b\)? ){0,2}
        (?: \ ?(?P<sign>[+-])(?P<offset_hour>[0-9]{1,2})(?::?(?P<offset_minute>[0-9]{2}))? )? )
    (?![0-9:])
    """,
    re.VERBOSE,
)
# Hours that may stand before a.m. and p.m.; "16:00 p.m." says the same twice.
_HOURS_OF_HALF = {"a": range(13), "p": range(1, 24)}

# LaTeX that shows its argument as it is, or nothing. All other commands stay: what they
# do to a value (\neg, \cancel, \geq) is not known, so that it cannot be read.
_LATEX = re.compile(
    r"""
    \\+ (?: (?:text)?color\s*\{\w*\} | [hv]space\*?\s*\{[^{}]*\}
          | (?: (?:text|math)(?:rm|bf|it|tt|sf|sc|up|md|normal)? | [fmh]box | boxed | emph
              | underline | boldsymbol | operatorname | (?:display|text)style | bf | rm
              | q?quad | newline | left | right | [bB]ig | [lL]arge ) (?![A-Za-z])
          | [ ,;:!(){}\[\]$&_~] | (?![A-Za-z]) )
    | [~&_"]
    """,
    re.VERBOSE,
)
# Tags, citation marks, Markdown, typographic quotes, ticks, what does not show.
_MARK = re.compile(
    r"</?[A-Za-z]{1,10}/?>|\[[0-9]{1,2}\]|[{}$^`*'\u00ab\u00bb\u2018-\u201f"
    "\u00ad\u200b-\u200d\u2060\ufe0f\ufeff\u2705\u2611\u2713\u2714\U0001f389\U0001f4c5]"
)

_LABEL = re.compile(
    r"(?![^:=]*\b(?:not|start|begin|before|after|wrong|about|around|approx|if|or))"
    r"[a-z][a-z' -]*[:=]"
)
_WHY = r"\b(?:because|since|as|given|assuming|due|considering|based|when|where|which)\b"
# Where a comment may start: a bracket, punctuation before a blank, a reason.
_COMMENT_START = re.compile(rf"\s?[(\[]|[,;.:]\s|\s=\s|\s-+\s(?=[a-z])|\s(?={_WHY})")
_COMMENT = re.compile(r"(?P<bracket>[(\[])[^()\[\]]*|[^()\[\],;]+")
_REASON = re.compile(rf"{_WHY}|(?:not|rather than|instead of)\b.*[0-9]")
_HEDGE = re.compile(
    r"""
    ^ (?:or|and|but|either|plus|minus|maybe|perhaps|possibly|as\ well)\b  |  ^ [+-]\ ?[0-9]
    | \b(?:or|if|unless|otherwise|alternatively|maybe|perhaps|possibly)\b .* [0-9]
    | [0-9] .* \b(?:if|unless)\b
    | \b(?:wrong|incorrect|invalid)\b | [?\u00b1\\]
    """,
    re.VERBOSE,
)
_OWN_FORM = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: (?:[01][0-9]|2[0-3]):[0-5][0-9](?: GMT)?)?"
)


def read_own_form(text: str) -> date | datetime | None:
    """Return the value of a text in the form of references, None for no such day."""
    with suppress(ValueError):
        if len(text) == len(LONG_FORMAT):
            return date.fromisoformat(text)
        return datetime.fromisoformat(text[:16])
    return None


def read_moment(answer: str) -> date | datetime | None:
    """Return the date, or the moment in GMT, that an answer commits to; None for others.

    Months may have names; a clock may have 12 or 24 hours, seconds and an offset to
    GMT; a comment may follow. What reads two ways (05/06/2020, two times) is none.
    """
    if _OWN_FORM.fullmatch(answer):
        return read_own_form(answer)
    text = normalise(answer)
    if label := _LABEL.match(text):
        text = text[label.end() :].lstrip()
    # The longest part from the start on that is a value; what follows must comment.
    ends = [len(text), *(start.start() for start in _COMMENT_START.finditer(text))]
    for end in sorted(ends, reverse=True):
        if value := _read_value(text[:end]):
            return value if _only_comments(text[end:], text[:end], value) else None
    return None


def normalise(answer: str) -> str:
    """Return an answer in lower case without LaTeX, Markdown, tags and typography.

    What is too long for an answer becomes the empty text.
    """
    if len(answer) > MAX_LENGTH:
        return ""
    text = unicodedata.normalize("NFKC", answer).replace("\\colon", ":")
    text = _MARK.sub("", _LATEX.sub(" ", re.sub("[\u2010-\u2015\u2212]", "-", text)))
    return " ".join(text.casefold().split()).strip(" .,;")


def _read_value(text: str) -> date | datetime | None:
    """Return the value of a normalised text that holds a value and fillers alone."""
    clocks = list(_CLOCK.finditer(text))
    if not clocks:
        return _read_date(text)
    day = _read_date(f"{text[: clocks[0].start()]} {text[clocks[0].end() :]}")
    if day is None or (since_midnight := _read_clock(clocks[0])) is None:
        return None
    with suppress(OverflowError):
        return datetime.combine(day, time()) + since_midnight
    return None


def _read_clock(clock: re.Match) -> timedelta | None:
    """Return the time in GMT since midnight; None for an impossible one and a range."""
    hour, minute, second, hours, minutes = (
        int(clock[part] or 0)
        for part in ("hour", "minute", "second", "offset_hour", "offset_minute")
    )
    if half := clock["half"]:
        if hour not in _HOURS_OF_HALF[half]:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    minute = int(clock["dotted_minute"] or minute)
    given = timedelta(hours=hour, minutes=minute, seconds=second)
    offset = timedelta(hours=hours, minutes=minutes)
    if max(minute, second, minutes) > 59 or given > timedelta(days=1) or hours > 14:
        return None
    if clock["zone"].startswith("-") and offset > given:
        return None  # "09:00-11:00" is a range
    return given + offset if clock["sign"] == "-" else given - offset


def _read_date(text: str) -> date | None:
    """Return the one date in a normalised text of a date and fillers; None for others."""
    if not _DATE_TEXT.fullmatch(text.strip(" ,")):
        return None
    words = [x for x in re.findall("[a-z]+|[0-9]+", text) if x not in FILLERS]
    weekdays = {WEEKDAYS[word] for word in words if word in WEEKDAYS}
    rest = " ".join(word for word in words if word not in WEEKDAYS)
    dates = set()
    for found in filter(None, (order.fullmatch(rest) for order in _DATES)):
        with suppress(ValueError):
            month = MONTHS.get(found["month"]) or int(found["month"])
            dates.add(date(int(found["year"]), month, int(found["day"])))
    day = dates.pop() if len(dates) == 1 else None
    return day if day and weekdays <= {day.isoweekday()} else None


def _only_comments(rest: str, text: str, value: date | datetime) -> bool:
    """Tell whether what follows the text of a value leaves the value as it is.

    It may give a reason, say the value again, or comment in words; not on a clock without
    a zone, whose zone the words may be.
    """
    rest = rest.strip(" =,;.-")
    if _HEDGE.search(rest.lstrip("([ ")):
        return False
    if not rest or _says_again(rest.strip("()[]"), value):
        return True
    clock = _CLOCK.search(text)
    for comment in _COMMENT.finditer(rest):
        words = comment[0].strip(" =()[].:-")
        if _REASON.match(words):
            return True
        if words and not _says_again(words, value):
            if clock and not clock["zone"]:
                return False
            if not _is_remark(words, bool(comment["bracket"]), bool(clock)):
                return False
    return True


def _says_again(words: str, value: date | datetime) -> bool:
    """Tell whether words are the same value or part of it: its weekday, its clock."""
    day = value.isoformat()[:10]
    same = [value, value.date()] if isinstance(value, datetime) else [value]
    return any(
        _read_value(start + words) in same for start in ("", f"{day[:4]} ", f"{day} ")
    )


def _is_remark(words: str, in_brackets: bool, timed: bool) -> bool:
    """Tell whether words have something to say and no number that may be another value.

    In brackets only a year (three digits) may, and a clock where the value has none:
    "(5 days)" is a remark, and "(18:00 in Rome)" after a clock in GMT.
    """
    if re.search("[0-9]{3}" if in_brackets else "[0-9]", words):
        return False
    if not timed and _CLOCK.search(words):
        return False
    names = re.findall("[a-z]+", _CLOCK.sub(" ", words))
    return not FILLERS.union(MONTHS, WEEKDAYS, ("am", "pm")).issuperset(names)


def match_flexible(value: date | datetime | None, expected: date | datetime) -> bool:
    """Tell whether a value is the reference's; midnight on a day is that day."""
    if isinstance(value, datetime) and not isinstance(expected, datetime):
        return value == datetime.combine(expected, time())
    return value == expected


# ------------------------------------------------------------------------- verdict


def explain(doc: dict, response: str) -> Verdict:
    """Return scores, answers and reason for one response to a document.

    `acc` follows the metric card, `acc_flexible` the value; `extracted` says whether
    the card's rule found a box. Any text has a verdict.
    """
    expected = read_own_form(doc["answer"])
    text = mask_reasoning(response)
    published = extract_published(response)
    flexible = published
    if text is not response or not _is_only_answer(response, *published):
        flexible = extract_flexible(text)
    acc = match_published(published[0], doc["answer"], doc["answer_format"])
    # Right to the letter is right.
    is_reference = acc and flexible[0] == published[0]
    value = expected if is_reference else read_moment(flexible[0] or "")
    right = match_flexible(value, expected)
    if right or acc:
        reason = "superseded" if not right else "right" if acc else "flexible_only"
    else:
        reason = _why_wrong(response, text, published[0], flexible[0], value)
    scores = {
        "acc": 1.0 if acc else 0.0,
        "acc_flexible": 1.0 if right else 0.0,
        "extracted": 1.0 if published[0] else 0.0,
    }
    return Verdict(scores, reason, *published, *flexible, value, expected)


def _is_only_answer(response: str, answer: str | None, span: tuple | None) -> bool:
    """Tell whether a published answer is surely the flexible one: the quick way.

    It is where it is plain, and its brace is the last one.
    """
    if not answer or not answer[0].isdigit() or "{" in answer:
        return False
    return response.find("}", span[1]) == response.rfind("}")


def _why_wrong(
    response: str, text: str, published: str | None, flexible: str | None, value: object
) -> str:
    """Return the reason for a response that neither rule says is right.

    What the published rule found without the other stands in the reasoning, or is a form.
    """
    if not flexible:
        # The mask of a block that does close may end the response, too.
        end = len(response.rstrip()) - 1
        if end >= 0 and text[end] == "\n" and response[end] not in ">]\u25b7":
            return "cut_off"
        if any(closing is None for _, closing in _boxes(text)):
            return "cut_off"
        if not published:
            return "no_answer"
        value = read_moment(published)
    return "other_value" if value else "unreadable"


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Return the scores of `explain` for a list with one response.

    Raises ValueError where that is not a string, as with a filter that keeps several.
    """
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
    return _process_docs(dataset, "TCP_short.jsonl", SHORT_FORMAT)


def process_docs_long(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of upstream rows, with the form that their answers have.

    Raises ValueError, naming file, row and column, where a column is missing, a cell is
    not as it should be, a reference is not in the form of the task, or there is no row.
    Logs row count and fingerprint, as a warning where the count is not the known one.
    """
    return _process_docs(dataset, "TCP_long.jsonl", LONG_FORMAT)


def _process_docs(
    dataset: datasets.Dataset, source: str, answer_format: str
) -> datasets.Dataset:
    if (known := _DOCUMENTS.get(dataset)) and known[0] == source:
        return known[1]
    if not len(dataset):
        raise ValueError(f"{source}: has no rows; give a split with at least one")
    columns = ("index", "dialogue", "question", "answer")
    if missing := [name for name in columns if name not in dataset.column_names]:
        raise ValueError(
            f"{source}: column {', '.join(map(repr, missing))} is missing; give rows in"
            " the schema of Beanbagdzf/TCP"
        )
    documents = []
    for row, cells in enumerate(dataset.select_columns(list(columns))):
        if fault := _fault(cells, answer_format):
            raise ValueError(f"{source}, row {row}, column {fault}; fix the row")
        answer = cells["answer"].strip()
        documents.append({**cells, "answer": answer, "answer_format": answer_format})
    found = f"{source}: {len(documents)} rows, fingerprint {fingerprint(documents)}"
    if len(documents) == KNOWN_ROWS:
        eval_logger.info(found)
    else:
        eval_logger.warning(
            "%s; the benchmark has %d rows, so scores may not be comparable",
            *(found, KNOWN_ROWS),
        )
    _DOCUMENTS[dataset] = source, type(dataset).from_list(documents)
    return _DOCUMENTS[dataset][1]


def _fault(cells: dict, answer_format: str) -> str | None:
    """Return which column of a row is wrong, and how; None where none is."""
    for column in ("question", "answer", "dialogue"):
        cell, kind = cells[column], "a string"
        texts = [cell]
        if column == "dialogue":
            texts, kind = cell, "a list of strings"
        if not isinstance(texts, list) or not all(isinstance(x, str) for x in texts):
            return f"'{column}': {repr(cell)[:80]} is not {kind}"
        if not "".join(texts).strip():
            return f"'{column}': is empty"
    reference = cells["answer"].strip()
    is_form = len(reference) == len(answer_format) and _OWN_FORM.fullmatch(reference)
    if not is_form or read_own_form(reference) is None:
        return f"'answer': {repr(reference)[:80]} is not in the form {answer_format}"
    return None


def fingerprint(documents: Iterable[dict]) -> str:
    """Return a digest of what prompts and scores depend on, whatever the order."""
    rows = ([doc[x] for x in ("dialogue", "question", "answer")] for doc in documents)
    hashes = sorted(hashlib.sha256(json.dumps(row).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]
