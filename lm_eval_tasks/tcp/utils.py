"""Documents and scores of TCP, temporal constraint-based planning.

Read from top to bottom, as a response goes: tables, reasoning blocks, the published rule,
the flexible rule, the verdict, and last the documents. Both rules keep three stages apart:
extract (response -> where its answer stands; never sees the reference), read (answer ->
value), match (two values).
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import reprlib
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
    "superseded": "the published rule's answer is right, but the response commits to"
    " another",
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


# -------------------------------------------------------------------------- tables


def _names(names: str) -> dict[str, int]:
    """Return the numbers, from 1, of names, whole or cut to three letters or more."""
    return {
        name[:length]: number
        for number, name in enumerate(names.split(), 1)
        for length in range(3, len(name) + 1)
    }


MONTHS = _names(
    "january february march april may june july august september october november"
    " december"
)
WEEKDAYS = _names("monday tuesday wednesday thursday friday saturday sunday")
# Hours that may stand before a.m. and p.m.; "16:00 p.m." says the same twice.
HOURS_OF_HALF = {"a": range(13), "p": range(1, 24)}
# Words around a date that say nothing about its value.
FILLERS = (
    "the at on of by in for it so thus is was will be can gmt utc final answer result"
    " date time datetime day moment completion complete completed end ends ended ending"
    " eod finish finished finishes done earliest possible project overall total last"
    " task tasks deadline due"
).split()
# LaTeX commands that leave their argument as it is, that are blanks, that are marks.
# One that is not here stays as a word, which no date has.
LATEX = {
    **dict.fromkeys(
        "text textrm textbf textit texttt textsf textsc textup textmd textnormal mathrm"
        " mathbf mathit mathtt mathsf mathnormal mathord mathbin mathrel mathpunct mathop"
        " operatorname mbox hbox boxed fbox underline emph textsuperscript boldsymbol bm"
        " ensuremath displaystyle textstyle bf rm it tt sf tiny scriptsize footnotesize"
        " small normalsize large Large LARGE huge Huge left right big Big bigg Bigg dots"
        " ldots cdots square checkmark ! { } $".split(),
        "",
    ),
    **dict.fromkeys(
        "quad qquad space enspace thinspace medspace thickspace nobreakspace newline , ;"
        " : ( ) [ ]".split(),
        " ",
    ),
    **{"": " ", "colon": ":", "slash": "/", "textendash": "-", "textemdash": "-"},
}
# Characters by Unicode category: dashes; blanks, quotes, emoji and ticks; what does not
# show. A minus is a dash, too; a cross denies what it stands at.
TYPOGRAPHY = {"Pd": "-", "Zs": " ", "Pi": " ", "Pf": " ", "So": " ", "Cf": "", "Mn": ""}
MINUS_AND_CROSSES = str.maketrans(
    {"\u2212": "-", **dict.fromkeys("\u2717\u2718\u274c\u274e\U0001f6ab", " wrong ")}
)
# No date and time is longer, with a comment and without; what is longer is not read.
MAX_ANSWER_LENGTH, MAX_VALUE_LENGTH = 300, 100


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
    if answer is not part:
        start += part.find(answer)
        end = start + len(answer)
    return (answer, (start, end)) if answer else (None, None)


def match_published(answer: str | None, reference: str, answer_format: str) -> bool:
    """Tell whether two texts are equal; for TCP short without "GMT" (metric card)."""
    if answer is None or answer == reference or answer_format != SHORT_FORMAT:
        return answer == reference
    return answer.replace("GMT", "").strip() == reference.replace("GMT", "").strip()


# ------------------------------------------- flexible rule: which box is the answer

_PLAIN = re.compile(r"[0-9](?:[^{}\\]*[^{}\\\s])?")  # surely a whole answer
_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\[{}]|[{}]")
# A word of the form that the prompt asks for, such as "YYYY-MM-DD".
_PLACEHOLDER = re.compile(rf"[ymdhstxz_]+|your|here|insert|value|{'|'.join(FILLERS)}")


def extract_flexible(text: str) -> Answer:
    r"""Return the content of the last complete box that is an answer.

    Takes a response whose reasoning is masked. A box is complete when its braces balance;
    one that is empty or repeats the form (`\boxed{YYYY-MM-DD}`) is no answer.
    """
    found: Answer = (None, None)
    for start, end in _boxes(text):
        if end is not None and _commits((box := _strip(text, start, end))[0]):
            found = box
    return found


def _boxes(text: str) -> Iterator[tuple[int, int | None]]:
    r"""Give start and end of what each box holds, with None for those that never close.

    `\{` and `\}` are not braces. A box in a box closes before the outer one.
    """
    # Braces before the first box do not matter, and text without a backslash has none.
    backslash = text.find("\\")
    if backslash < 0 or (first := text.find("box", backslash)) < 0:
        return
    opened: list[int | None] = []  # where a box starts, None for other braces
    for mark in _BOX_OR_BRACE.finditer(text, first - 2):
        if mark[0] == "}":
            if opened and (start := opened.pop()) is not None:
                yield start, mark.start()
        elif mark[0].endswith("{") and mark[0] != "\\{":
            opened.append(mark.end() if mark[0] != "{" else None)
    yield from ((start, None) for start in opened if start is not None)


def _commits(answer: str | None) -> bool:
    """Tell whether a box says anything, rather than the form that an answer has."""
    if not answer or answer[0].isdigit() or len(answer) > MAX_ANSWER_LENGTH:
        return bool(answer)
    words = re.findall(r"\w+", normalise(answer))
    return not all(_PLACEHOLDER.fullmatch(word) for word in words)


# --------------------------------------------------- flexible rule: read the value

_LATEX_HIDDEN = re.compile(
    r"\\{1,2}(?:textcolor|color|colorbox|fcolorbox\s*\{[^{}]*\}|[hv]space|[hv]?phantom"
    r"|begin\s*\{array\}|begin|end|tag|label)\*?\s*\{[^{}]*\}"
)
_LATEX_BLANK = re.compile(r"\\\\(?![A-Za-z])|[~&]")
_LATEX_COMMAND = re.compile(r"\\+([A-Za-z]+\s*|[^A-Za-z]|\Z)")
_MARK = re.compile(r"[{}$^`]|</?[A-Za-z]{1,10}/?>|\[[0-9]{1,2}\]")
_EMPHASIS = re.compile(r"(\*{1,3})([^*]+)\1")

_OWN_FORM = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: (?:[01][0-9]|2[0-3]):[0-5][0-9](?: GMT)?)?"
)
_CLOCK = re.compile(
    r"""
    (?<![0-9:.])(?P<hour>[0-9]{1,2})
    (?: :(?P<minute>[0-9]{2}) (?: :(?P<second>[0-9]{2})(?:\.0+)?)?
      | \.(?P<dotted_minute>[0-9]{2}) (?=\ ?(?:hrs?|hours|[ap]\.?m|gmt|utc|z)\b|\ ?\(|\Z)
      | (?=\ ?[ap]\.?m\b) )
    (?: \ ?(?:hrs?|h|hours|o'clock)\b\.? )?
    (?: \ ?(?P<half>[ap])\.?m\b\.? )?
    (?P<zone> (?: \ ?[(/]?(?:gmt|utc|z)\b\)? ){0,2}
        (?: \ ?(?P<sign>[+-])(?P<offset_hour>[0-9]{1,2})(?::?(?P<offset_minute>[0-9]{2}))? )? )
    (?![0-9:])
    """,
    re.VERBOSE,
)
_FILLER = re.compile(
    rf"\b(?:{'|'.join(FILLERS)})\b(?:\s?[:=])?|(?<=[0-9])(?:st|nd|rd|th|t)\b"
)
_DATE = re.compile(r"[a-z0-9][a-z0-9 ,;|./()\[\]-]*")

_WHY = r"\b(?:because|since|as|given|assuming|due|considering|based|when|where|which)\b"
# Where a comment may start: a bracket, punctuation before a blank, a reason.
_COMMENT_START = re.compile(rf"\s?[(\[]|[,;.:]\s|\s=\s|\s-+\s(?=[a-z])|\s(?={_WHY})")
_NO_LABEL = (
    r"(?![^:=]*\b(?:not|start|begin|before|after|wrong|about|around|approx|if|or))"
)
_LABEL = re.compile(_NO_LABEL + r"[a-z][a-z' -]*[:=]")
_COMMENT = re.compile(r"[(\[](?P<bracketed>[^()\[\]]*)|[^()\[\],;]+")
_REASON = re.compile(rf"{_WHY}|(?:not|rather than|instead of)\b.*[0-9]")
_HEDGE = re.compile(
    r"""
    ^ (?:or|and|but|either|plus|minus|maybe|perhaps|possibly|as\ well)\b  |  ^ [+-]\ ?[0-9]
    | \b(?:or|if|unless|otherwise|alternatively|maybe|perhaps|possibly)\b .* [0-9]
    | [0-9] .* \b(?:if|unless)\b
    | \b(?:wrong|incorrect|invalid)\b | [?\u00b1]
    """,
    re.VERBOSE,
)


def read_own_form(text: str) -> date | datetime | None:
    """Return the value of a text in the form of references, None for no such day."""
    try:
        if len(text) == len(LONG_FORMAT):
            return date.fromisoformat(text)
        return datetime.fromisoformat(text[:16])
    except ValueError:
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
        if end <= MAX_VALUE_LENGTH and (value := _read_value(text[:end])):
            is_all = end == len(text) or _only_comments(text[end:], text[:end], value)
            return value if is_all else None
    return None


def normalise(answer: str) -> str:
    """Return an answer in lower case without LaTeX, Markdown, tags and typography.

    What is too long for an answer becomes the empty text.
    """
    if len(answer) > MAX_ANSWER_LENGTH:
        return ""
    text = _LATEX_BLANK.sub(" ", _LATEX_HIDDEN.sub("", answer))
    text = _LATEX_COMMAND.sub(_shown, text)
    text = _EMPHASIS.sub(r"\2", _MARK.sub("", text)).replace('"', " ").replace("_", " ")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(MINUS_AND_CROSSES))
        text = "".join(TYPOGRAPHY.get(unicodedata.category(x), x) for x in text)
    text = " ".join(text.split()).strip(" .,;'*").casefold()
    return text.replace("greenwich mean time", "gmt")


def _shown(command: re.Match) -> str:
    """Return what stands for a LaTeX command; what is not known stays as it is."""
    name = command[1].strip()
    return LATEX.get(name, f"{name} " if name.isalpha() else name)


def _read_value(text: str) -> date | datetime | None:
    """Return the value of a normalised text that holds a value and fillers alone."""
    clocks = list(_CLOCK.finditer(text))
    if not clocks:
        return read_date(text)
    if len(clocks) > 1 or (since_midnight := _read_clock(clocks[0])) is None:
        return None
    day = read_date(f"{text[: clocks[0].start()]} {text[clocks[0].end() :]}")
    try:
        return day and datetime.combine(day, time()) + since_midnight
    except OverflowError:
        return None


def _read_clock(clock: re.Match) -> timedelta | None:
    """Return the time in GMT since midnight; None for an impossible one and a range."""
    hour, minute, second, hours, minutes = (
        int(clock[part] or 0)
        for part in ("hour", "minute", "second", "offset_hour", "offset_minute")
    )
    minute = int(clock["dotted_minute"] or minute)
    if (half := clock["half"]) and hour not in HOURS_OF_HALF[half]:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    given = 3600 * hour + 60 * minute + second
    offset = 3600 * hours + 60 * minutes
    if max(minute, second, minutes) > 59 or given > 24 * 3600 or hours > 14:
        return None
    if clock["zone"].startswith("-") and offset > given:
        return None  # "09:00-11:00" is a range
    return timedelta(seconds=given + offset if clock["sign"] == "-" else given - offset)


def read_date(text: str) -> date | None:
    """Return the one date in a normalised text of a date and fillers; None for others."""
    text = _FILLER.sub(" ", text).strip(" ,()[]")
    words, numbers = re.findall(r"[a-z]+", text), re.findall(r"[0-9]+", text)
    months = [MONTHS[word] for word in words if word in MONTHS]
    weekdays = [WEEKDAYS[word] for word in words if word in WEEKDAYS]
    if not _DATE.fullmatch(text) or len(months) + len(weekdays) < len(words):
        return None
    dates = set()
    for order in _orders(numbers, months):
        with suppress(ValueError):
            dates.add(date(*map(int, order)))
    if len(dates) != 1 or weekdays not in ([], [min(dates).isoweekday()]):
        return None
    return dates.pop()


def _orders(numbers: list[str], months: list[int]) -> list[tuple]:
    """Return the ways to read numbers and named months as year, month and day."""
    years = [number for number in numbers if len(number) == 4]
    others = [number for number in numbers if len(number) <= 2]
    if len(years) != 1 or len(numbers) != 1 + len(others) or len(others + months) != 2:
        return []
    if len(months) == 1:
        return [(years[0], months[0], others[0])]
    if months or numbers[0] in years:
        return [(years[0], *others)] if others else []
    return [(years[0], *others), (years[0], *reversed(others))]


def _only_comments(rest: str, text: str, value: date | datetime) -> bool:
    """Tell whether what follows the text of a value leaves the value as it is.

    It may give a reason, say the value again, or comment in words.
    """
    rest = rest.strip(" =,;.-")
    if _HEDGE.search(rest.lstrip("([ ")):
        return False
    if _says_again(rest.strip("()[]"), value):
        return True
    for comment in _COMMENT.finditer(rest):
        words = (comment["bracketed"] or comment[0]).strip(" =([.:-")
        if _REASON.match(words):
            return True
        if words and not _says_again(words, value):
            clock, digits = _CLOCK.search(text), 3 if comment["bracketed"] else 1
            if not _has_other_words(words) or (clock and not clock["zone"]):
                return False
            if _adds_numbers(words, value, digits, clock is not None):
                return False
    return True


def _adds_numbers(words: str, value: date, digits: int, timed: bool) -> bool:
    """Tell whether a comment has numbers that may be another value.

    The value's day may be said again. In brackets only a year (three digits) counts, and
    a clock where the value has none: "(18:00 in Rome)" after one in GMT is a comment.
    """
    words = words.replace(value.isoformat()[:10], "")
    if re.search(f"[0-9]{{{digits}}}", words):
        return True
    return not timed and _CLOCK.search(words) is not None


def _says_again(words: str, value: date | datetime) -> bool:
    """Tell whether words are the same value or part of it: its weekday, its clock."""
    day = value.isoformat()[:10]
    same = [value, value.date()] if isinstance(value, datetime) else [value]
    return any(
        _read_value(start + words) in same for start in ("", f"{day[:4]} ", f"{day} ")
    )


def _has_other_words(text: str) -> bool:
    """Tell whether there is a word that belongs to no date."""
    words = set(re.findall(r"[a-z]+", _FILLER.sub(" ", _CLOCK.sub(" ", text))))
    return not words <= {*MONTHS, *WEEKDAYS, "am", "pm"}


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
    reference = doc["answer"]
    expected = read_own_form(reference)
    text = mask_reasoning(response)
    # By far most responses have no brace behind the last box: this is the quick way.
    first, start, end = text.find("\\"), text.rfind("\\boxed{"), text.rfind("}")
    is_first = text is response and (
        first == start or text.find("\\boxed{", first, end) == start
    )
    start += len("\\boxed{")
    answer = text[start:end]
    if is_first and 7 <= start < end and answer == reference:
        scores, span = {"acc": 1.0, "acc_flexible": 1.0, "extracted": 1.0}, (start, end)
        return Verdict(scores, "right", answer, span, answer, span, expected, expected)
    is_plain = 7 <= start < end and _PLAIN.fullmatch(answer)
    flexible = (answer, (start, end)) if is_plain else extract_flexible(text)
    published = flexible if is_first and is_plain else extract_published(response)
    return _verdict(doc, response, text, expected, published, flexible)


def _verdict(
    doc: dict,
    response: str,
    text: str,
    expected: date | datetime,
    published: Answer,
    flexible: Answer,
) -> Verdict:
    """Return what follows from the answers that both rules extracted."""
    answer, span = flexible
    acc = match_published(published[0], doc["answer"], doc["answer_format"])
    if acc and answer == published[0]:
        value = expected  # right to the letter is right
    else:
        value = read_moment(answer) if answer else None
    right = match_flexible(value, expected)
    if right:
        reason = "right" if acc else "flexible_only"
    elif acc:
        reason = "superseded"
    elif answer:
        reason = "other_value" if value else "unreadable"
    else:
        reason = _why_no_answer(response, text, published[0])
    scores = {
        "acc": 1.0 if acc else 0.0,
        "acc_flexible": 1.0 if right else 0.0,
        "extracted": 1.0 if published[0] else 0.0,
    }
    shown = response[span[0] : span[1]] if span else None
    return Verdict(scores, reason, *published, shown, span, value, expected)


def _why_no_answer(response: str, text: str, published: str | None) -> str:
    """Return the reason where no box commits to an answer.

    What the published rule found is then in the reasoning, or the form of an answer.
    """
    if _is_cut_off(response, text):
        return "cut_off"
    if published is None:
        return "no_answer"
    return "other_value" if read_moment(published) else "unreadable"


def _is_cut_off(response: str, text: str) -> bool:
    """Tell whether a response ends in a reasoning block, or a box, that never closes.

    `text` is masked; the mask of a block that does close may end the response, too.
    """
    end = len(response.rstrip()) - 1
    if end >= 0 and text[end] == "\n" and response[end] not in ">]\u25b7":
        return True
    return any(closing is None for _, closing in _boxes(text))


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
    for column in ("question", "answer"):
        if not isinstance(cells[column], str):
            return f"'{column}': {_cut(cells[column])} is not a string"
        if not cells[column].strip():
            return f"'{column}': is empty"
    turns = cells["dialogue"]
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        return f"'dialogue': {_cut(turns)} is not a list of strings"
    if not any(turn.strip() for turn in turns):
        return "'dialogue': is empty"
    reference = cells["answer"].strip()
    if (
        len(reference) != len(answer_format)
        or not _OWN_FORM.fullmatch(reference)
        or read_own_form(reference) is None
    ):
        return f"'answer': {_cut(reference)} is not in the form {answer_format}"
    return None


def _cut(cell: object) -> str:
    """Return what a cell holds in one line of 80 characters or less, however large."""
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = 80
    return shown.repr(cell)[:80]


def fingerprint(documents: Iterable[dict]) -> str:
    """Return a digest of what prompts and scores depend on, whatever the order."""
    rows = ([doc[x] for x in ("dialogue", "question", "answer")] for doc in documents)
    hashes = sorted(hashlib.sha256(json.dumps(row).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]
