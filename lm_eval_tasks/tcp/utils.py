"""Documents and scores of TCP, temporal constraint-based planning.

Read from top to bottom: the published rule, the flexible rule, `process_results`.
Both rules keep three stages apart: extract (response -> answer, never sees the
reference), read (answer -> value), match (two values).
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

import datasets


eval_logger = logging.getLogger("lm_eval.tasks.tcp")

KNOWN_ROWS = 300  # of each of TCP_short.jsonl and TCP_long.jsonl

# How answers look, and which reference has which look.
SHORT_FORMAT, LONG_FORMAT = "YYYY-MM-DD HH:MM GMT", "YYYY-MM-DD"
REFERENCE_FORMATS = {
    re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} GMT"): SHORT_FORMAT,
    re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"): LONG_FORMAT,
}

# No date and time is longer; what is longer is read as nothing.
MAX_ANSWER_LENGTH = 200

MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
# Hyphens, dashes and the minus sign that models write for "-".
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


# ------------------------------------------------------------------ published rule


def extract_published(response: str) -> str | None:
    r"""Return what the first `\boxed{…}` holds up to its first brace, or None.

    Source: metric card, `\\boxed{([^}]*)}`. An empty box is no answer.
    """
    _, opening, rest = response.partition("\\boxed{")
    content, closing, _ = rest.partition("}")
    return content.strip() or None if opening and closing else None


def match_published(answer: str, reference: str, answer_format: str) -> bool:
    """Tell whether two texts are equal; for TCP short without "GMT" (metric card)."""
    if answer_format == SHORT_FORMAT:
        answer, reference = (
            side.replace("GMT", "").strip() for side in (answer, reference)
        )
    return answer == reference


# ------------------------------------------------------------------- flexible rule

_REASONING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\[{}]|[{}]")
_LATEX_COMMAND = re.compile(
    r"\\(?:(?:text|math)(?:rm|bf|tt|it|sf|normal)?|mbox|boxed|fbox)(?![a-z])"
)
_LATEX_SPACE = re.compile(r"\\(?:quad|[ ,;:])|~")
_LATEX_MARK = re.compile(r"\\!|[\\{}$^`]")
_EMPHASIS = re.compile(r"(\*{1,3})([^*]+)\1")

_CLOCK = re.compile(
    r"(?<![0-9:.])(?P<hour>[0-9]{1,2})"
    r"(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.0+)?)?|(?= ?[ap]\.?m\b))"
    r"(?: ?(?P<half>[ap])\.?m\b\.?)?"
    r"(?: ?\(?(?:(?:gmt|utc)\b|z\b)\)?)?"
    r"(?: ?(?P<sign>[+-])(?P<offset_hour>[0-9]{1,2})(?::?(?P<offset_minute>[0-9]{2}))?)?"
    r"(?![0-9:])"
)
_AROUND_DATE = re.compile(r"\b(?:the|at|on|of|gmt|utc)\b|(?<=[0-9])(?:st|nd|rd|th|t)\b")
_DATE = re.compile(r"[a-z0-9][a-z0-9 ,./()-]*")


def extract_flexible(response: str) -> str | None:
    r"""Return what the last complete box outside of the reasoning block holds, or None.

    A box is complete when its braces balance; `\{` and `\}` are not braces.
    """
    text = _REASONING.sub("", response).rpartition("</think>")[2]
    opened: list[int | None] = []  # where a box starts, None for other braces
    answer = None
    for mark in _BOX_OR_BRACE.finditer(text):
        if mark[0] == "}":
            if opened and (start := opened.pop()) is not None:
                answer = text[start : mark.start()]
        elif mark[0].endswith("{") and mark[0] != "\\{":
            opened.append(mark.end() if mark[0] != "{" else None)
    return answer


def _plain(text: str) -> str:
    """Return `text` in lower case, without LaTeX, Markdown and doubled white space."""
    if len(text) > MAX_ANSWER_LENGTH:
        return ""
    text = _LATEX_SPACE.sub(" ", _LATEX_COMMAND.sub("", text.translate(DASHES)))
    text = _LATEX_MARK.sub("", _EMPHASIS.sub(r"\2", text))
    return " ".join(text.split()).strip(" .,;\"'").casefold()


def read_moment(answer: str) -> tuple[date, time | None] | None:
    """Return the date and, where the answer has one, the time in GMT; None for another.

    Months may have names; a clock may have 12 or 24 hours, seconds and an offset to
    GMT. What reads two ways (05/06/2020, two times) or is followed by more is none.
    """
    text = _plain(answer)
    clocks = list(_CLOCK.finditer(text))
    if len(clocks) > 1:
        return None
    if not clocks:
        day = read_date(text)
        return day and (day, None)
    (clock,) = clocks
    day = read_date(f"{text[: clock.start()]} {text[clock.end() :]}")
    hour, minute, second = (
        int(clock[part] or 0) for part in ("hour", "minute", "second")
    )
    if clock["half"] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if clock["half"] == "p" else 0)
    elif (clock["half"] == "a" and hour > 12) or (clock["half"] == "p" and hour == 0):
        return None
    offset = timedelta(
        hours=int(clock["offset_hour"] or 0), minutes=int(clock["offset_minute"] or 0)
    )
    try:
        moment = datetime.combine(day, time(hour, minute, second))
        moment += offset if clock["sign"] == "-" else -offset
    except (TypeError, ValueError, OverflowError):
        return None
    return moment.date(), moment.time()


def read_date(text: str) -> date | None:
    """Return the one date that `text` is, whatever the order of its parts, or None."""
    text = " ".join(_AROUND_DATE.sub(" ", text).split()).strip(" ,()")
    if not _DATE.fullmatch(text):
        return None
    numbers, words = re.findall(r"[0-9]+", text), re.findall(r"[a-z]+", text)
    weekdays = [i for word in words if (i := _name_index(word, WEEKDAYS)) is not None]
    months = [i + 1 for word in words if (i := _name_index(word, MONTHS)) is not None]
    years = [number for number in numbers if len(number) == 4]
    others = [number for number in numbers if len(number) <= 2]
    if len(weekdays + months) != len(words) or len(years + others) != len(numbers):
        return None
    if len(years) != 1 or (len(months), len(others)) not in ((1, 1), (0, 2)):
        return None
    if months:
        orders = [(months[0], *others)]
    elif numbers[0] in years:
        orders = [others]
    else:
        orders = [others, others[::-1]]
    dates = {found for order in orders if (found := _valid_date(years[0], *order))}
    if len(dates) != 1 or weekdays not in ([], [min(dates).weekday()]):
        return None
    return dates.pop()


def _name_index(word: str, names: list[str]) -> int | None:
    """Return which name the word is, whole or cut to three letters or more, or None."""
    return next(
        (i for i, name in enumerate(names) if len(word) > 2 and name.startswith(word)),
        None,
    )


def _valid_date(year: str | int, month: str | int, day: str | int) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def match_flexible(answer: str, reference: str) -> bool:
    """Tell whether an answer is the moment of the reference; midnight may go unsaid."""
    given, expected = read_moment(answer), read_moment(reference)
    if given and expected and expected[1] is None and given[1] == time(0):
        given = given[0], None
    return given is not None and given == expected


# --------------------------------------------------------- what the YAML files name


def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of upstream rows, with the form that their answers have.

    Raises ValueError, naming file, row and column, where a column is missing, a cell is
    not as it should be, a reference cannot be read, or there is no row. Logs row count
    and fingerprint, as a warning where the count is not the known one.
    """
    if not len(dataset):
        raise ValueError("TCP: there is no row; give a split with at least one")
    columns = ("index", "dialogue", "question", "answer")
    source = (
        "TCP_short.jsonl"
        if "project_start_datetime_gmt" in dataset.column_names
        else "TCP_long.jsonl"
    )
    if missing := [name for name in columns if name not in dataset.column_names]:
        raise ValueError(
            f"{source}: column {', '.join(map(repr, missing))} is missing; found"
            f" {dataset.column_names}. Give rows in the schema of Beanbagdzf/TCP"
        )
    documents = [
        _document(f"{source}, row {row}", {name: cells[name] for name in columns})
        for row, cells in enumerate(dataset.select_columns(list(columns)))
    ]
    found = f"{source}: {len(documents)} rows, fingerprint {fingerprint(documents)}"
    eval_logger.info(found)
    if len(documents) != KNOWN_ROWS:
        eval_logger.warning(
            "%s; the benchmark has %d rows: scores may not be comparable",
            found,
            KNOWN_ROWS,
        )
    return datasets.Dataset.from_list(documents)


def fingerprint(documents: Iterable[dict]) -> str:
    """Return a digest of what prompts and scores depend on, whatever the order."""
    return _digest(
        [[doc[x] for x in ("dialogue", "question", "answer")] for doc in documents]
    )


def _digest(rows: list) -> str:
    """Return a digest of JSON values that does not depend on their order."""
    hashes = sorted(hashlib.sha256(json.dumps(row).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]


def _document(place: str, cells: dict) -> dict:
    """Return the document of one row; ValueError says what is wrong at `place`."""
    for column in ("question", "answer"):
        if not isinstance(cells[column], str):
            raise ValueError(
                f"{place}, column '{column}': {cells[column]!r} is no text; mend the row"
            )
    turns = cells["dialogue"]
    if not (
        isinstance(turns, list) and turns and all(isinstance(t, str) for t in turns)
    ):
        raise ValueError(
            f"{place}, column 'dialogue': {turns!r} is no list of texts; mend the row"
        )
    reference = cells["answer"].strip()
    answer_format = next(
        (name for look, name in REFERENCE_FORMATS.items() if look.fullmatch(reference)),
        None,
    )
    if not answer_format or not read_moment(reference):
        raise ValueError(
            f"{place}, column 'answer': {cells['answer']!r} is neither"
            f" '{SHORT_FORMAT}' nor '{LONG_FORMAT}'; mend the row"
        )
    return {**cells, "answer": reference, "answer_format": answer_format}


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Score one response: `acc` by the metric card, `acc_flexible` by value.

    Takes a document of `process_docs` and a list with one response; what is no text is
    scored as an empty response. `extracted` says whether the card's rule found a box.
    """
    response = results[0] if isinstance(results[0], str) else ""
    reference = doc["answer"]
    published, answer = extract_published(response), extract_flexible(response)
    return {
        "acc": float(
            published is not None
            and match_published(published, reference, doc["answer_format"])
        ),
        "acc_flexible": float(answer is not None and match_flexible(answer, reference)),
        "extracted": float(published is not None),
    }
