"""TCP (temporal planning): the published rule, the flexible one, verdict, documents."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import unicodedata
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from datasets import Dataset

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


# ------------------------------------------- the answer statement (equal in each family)
LONGEST = 2_000  # characters of a statement; what is longer is not read
_NAME = r"(?i:think|thinking|reasoning)[>\]\u25b7]"
_THOUGHT_END = rf"[<\[\u25c1]/{_NAME}"
_THOUGHT = re.compile(
    rf"[<\[\u25c1](?:{_NAME}|(?<=<)\|(?i:channel)\|>)"
    rf"(?:[^<\[\u25c1]+|[<\[\u25c1])*?(?:{_THOUGHT_END}|\Z)"
)
_FINAL = re.compile(r"(?:<\|channel\|>|assistant)final(?:<\|message\|>)?")  # gpt-oss
_TEXT = (  # on the line of its cue or, without a word there, on the next that has one
    r"(?=(?:(?:[^\w\n]{0,200}\n)+\s*(?:[-#>\u2022]+ +)*|\s*)"
    rf"(?P<cue>[^\n]{{0,{2 * LONGEST}}}))"
)
_INSIDE = "[^{}]*"
for _ in range(3):  # braces within a box
    _INSIDE = rf"[^{{}}]*(?:\{{{_INSIDE}\}}[^{{}}]*){{0,99}}"
_JOINED_BOX = rf"\}}(?:[^\w\n]|and|or|text|quad){{0,20}}boxed\s*\{{{_INSIDE}"
_CUES = {  # by what stands in each; its text is the group that is named like its kind
    "the ": (
        r"the +(?:(?:final|correct) +)?(?:answer|option|label)(?:s|\(s\))? +"
        rf"(?:is/are|is|are)\b *:?{_TEXT}"
    ),
    "answer": rf"answers? *(?::|->|\u2192|(?=\n|\Z)){_TEXT}",
    "correct": rf"correct +options? *:{_TEXT}",
    "<answer>": r"<answer>\s*(?P<tag>[^<\n]*)",
    '"answer"': r'"answer"\s{0,20}:\s{0,20}["\[](?P<json>(?<=")[^"]*|[^\]]*)',
    "boxed": rf"boxed\s*\{{(?P<box>{_INSIDE}(?:{_JOINED_BOX}){{0,20}})\}}",
}
_START = re.compile(r"(?:\A|\n|[.!?]\s)[^\w\n]*(?:final +)?$")  # of "Final answer:"
_WORDS = re.compile(r"(?s)(?=[\W_]*[^\W_])\s*(\S(?:.*\S)?)")  # linear in blanks
_MORE_LINES = re.compile(r"(?:\n[ \t]*\S[^\n]*)*")  # up to an empty one
_REJECTED = re.compile(
    r"\b(?:(?:if|whether)\b[^.!?;:\n]*"
    r"|(?:not|cannot|\w+n't|would|might|doubt|thought)\b[^.!?,;:\n]*)$"
)
_DOUBTED = re.compile(r"(?i)\b(?:not|maybe|perhaps|possibly|probably)[^\w\n]*$")
_TAKEN_BACK = re.compile(  # behind a statement, in small letters
    r"[.!?\u2026>})\]\n][^\w\n]{0,20}(?:wait|actually|sorry|correction"
    r"|that(?:'s| is) wrong|(?<!\? )no(?=,))\b|\b(?:answer should be|i now get)\b"
)
_BACK = "wait", "actually", "sorry", "correction", "no,", "wrong", "should be", "now"
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−。：", "'" * 4 + '"' * 6 + "-" * 7 + ".:")
_QUIET = _PLAIN | str.maketrans("\u0130*_`", "I   ")  # cues are found without Markdown
_TAG = "(?:b|i|u|em|strong|br|p|div|span|code|sub|sup|center|answer)"
_MARKUP = {  # and what stands for it, in the order in which it goes
    "[\u200b-\u200d\u2060\ufe0f\ufeff\u2600-\u2790\U0001f000-\U0001faff]": "",
    r"\\colon\b\s*": ":",
    r"\\[,;:! ]|\\q?quad\b|\\\\(?![a-z])|(?<=\S)~(?=\S)": " ",
    r"(?i)\\+(?:boxed|[fhm]box|underline|emph|bf|rm|large|displaystyle)\b": "",
    r"\\+(?:(?:text)?color\s*\{\w*\}|(?:text|math)[a-z]*|[()\[\]]|(?=[&$%_]))|[{}$]": "",
    rf"(?i)</?{_TAG}/?>|</s>|<(?:end_of_turn|eos)>|<\|[^<>|]{{0,40}}\|>": "",
    r"<([^<>\n]{1,80})>": r"\1",
    r"`+|(?<!\d)\*\*+|\*\*+(?!\d)": "",
    r"[^\S\n]+": " ",
}
_NO_MARKUP = re.compile(r"[A-Za-z0-9.,:;()/-]+(?: [A-Za-z0-9.,:;()/-]+)*")
_ENDS = " \n\t*_`\"',;:!\\"  # what may stand around a value and says nothing
_LEAD = r"(?i)\A(?:(?:it|this|that|s?he|they) (?:is|was|were|are)\b|in (?=\d)) ?:?\s*"
_WHY = r"\b(?i:because|since|given|based on|as(?! well\b)|not|instead of|rather than)\b"
_REASON = re.compile(  # anything may follow; "(9 months before June)" is one, too
    rf"(?i){_WHY}|[(\[]\d+ [a-z]+ (?:before|after|from)\b(?![^()\n]*(?:=|\bis\b))"
)
_COMMENT = re.compile(
    rf"[(\[]|:\s| -+ |(?:(?<=[A-Za-z]{{3}})|(?<=\d))\.\s+(?=[A-Z])|{_WHY}|\Z"
)
_HEDGE = re.compile(
    r"(?i)\b(?:or|either|maybe|perhaps|possibly|probably|might|could|unless|otherwise"
    r"|alternatively|wait|actually|sorry|wrong)\b|\?"
)
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
MONTHS += ["September", "October", "November", "December"]
_MONTHS = {x[:k].lower(): str(n) for n, x in enumerate(MONTHS, 1) for k in range(3, 10)}
_CUT_MONTH = "|".join(name[:3] for name in MONTHS)
_NUMBER = re.compile(rf"(?<![A-Za-z\d])\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_CUT_MONTH})")
_IDLE = re.compile(  # what says nothing beside a date, weekdays too
    r"(?<=\d)(?:st|nd|rd|th|t)\b|\b(?:at|in|on|of|the|month|year|hrs|gmt|utc|a\.?d|ce"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?)\b"
)
_FIELD = re.compile("[0-9]+|[a-z]+|^-|[^ ,./()-]")


class Statement(NamedTuple):
    """Where a response says its answer."""

    kind: str  # "box", "cue" (words), "tag", "json", "line" (a response of one line)
    span: tuple[int, int]  # of its text in the response
    superseded: bool = False  # taken back, or contradicted, by what stands behind it


def mask(response: str) -> str:
    """Return a text of equal length with newlines for reasoning."""
    text = _FINAL.split(response)[-1] if "final" in response else response
    lower_text = text.lower() if "<" in text or "[" in text or "\u25c1" in text else ""
    if any(tag in lower_text for tag in ("think", "reasoning", "<|channel|>")):
        text = _THOUGHT.sub(lambda thought: "\n" * len(thought[0]), text)
        text = re.split(_THOUGHT_END, text)[-1]  # lone: all before it goes
    return text.rjust(len(response), "\n")


def statements(text: str, prompt: re.Pattern, several: bool = False) -> list[Statement]:
    """Return the statements of a masked response (steps 2 to 4) before a made-up prompt."""
    lower_text = text.translate(_QUIET).lower()  # of the same length
    regexes = [_CUES[needed_text] for needed_text in _CUES if needed_text in lower_text]
    cues = [cue for regex in regexes for cue in re.finditer(regex, lower_text)]
    cues.sort(key=re.Match.start)
    prompt_start = prompt.search(text, cues[0].start() if cues else 0).start()
    answers = []
    for cue in cues:
        text_start, text_end = cue.span(cue.lastgroup)
        if text_start > prompt_start or _is_rejected(lower_text, cue):
            continue
        if several and cue.lastgroup == "cue":
            end_limit = text_end + LONGEST + 100
            text_end = _MORE_LINES.match(lower_text, text_end, end_limit).end()
        if answer_match := _WORDS.match(text, text_start, min(text_end, prompt_start)):
            answers.append(Statement(cue.lastgroup, answer_match.span(1)))
    line = None if cues or "\\boxed" in lower_text else re.search(r"(?m)^.*\w.*$", text)
    is_only_line = line and not re.search(r"\w", text[line.end() :])
    answer_match = is_only_line and _WORDS.match(text, *line.span())
    if answer_match and len(line[0]) <= 100:  # a longer one is prose
        answers.append(Statement("line", answer_match.span(1)))
    behind_first = (answers[0].span[1] if answers else prompt_start, prompt_start)
    may_retract = any(lower_text.find(word, *behind_first) >= 0 for word in _BACK)
    retractions = _TAKEN_BACK.finditer(lower_text, *behind_first) if may_retract else ()
    retracted_at = max((retraction.start() for retraction in retractions), default=-1)
    return [Statement(kind, span, span[1] <= retracted_at) for kind, span, _ in answers]


def _is_rejected(lower_text: str, cue: re.Match) -> bool:
    """Tell whether what stands before a cue keeps it from pointing to an answer."""
    text_before = lower_text[max(0, cue.start() - 200) : cue.start()]
    if cue[0][0] == "a":  # "Answer:"
        return not _START.search(text_before)
    rejecting_pattern = _DOUBTED if cue.lastgroup == "box" else _REJECTED
    return cue[0][-1] != ":" and bool(rejecting_pattern.search(text_before))


def plain(text: str, ends: bool = False) -> str:
    """Return a text without markup, "" for one too long; `ends` keeps marks at its ends."""
    text = text.translate(_PLAIN) if len(text) <= LONGEST else ""
    for pattern, replacement in () if _NO_MARKUP.fullmatch(text) else _MARKUP.items():
        text = re.sub(pattern, replacement, text)
    text = unicodedata.normalize("NFKC", text)
    return text.strip() if ends else text.lstrip(_ENDS).rstrip(_ENDS + ".")


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the readings of a text without a hedge, and their comment up to a reason."""
    leadless = re.sub(_LEAD, "", text)
    main_end = _COMMENT.search(leadless, 1).start()
    main_text, comment = leadless[:main_end].rstrip(_ENDS + "."), leadless[main_end:]
    for reading, reading_comment in ((text, ""), (leadless, ""), (main_text, comment)):
        if not is_hedged(reading, reading_comment):
            yield reading, _REASON.split(reading_comment, maxsplit=1)[0]


def is_hedged(text: str, comment: str = "") -> bool:
    """Tell whether a text hedges, or a comment begins with a hedge or takes it back."""
    text_hedges = text[:4].lower() == "not " or _HEDGE.search(text)
    comment_hedges = _HEDGE.match(comment.lstrip(_ENDS + "([.-"))
    return bool(text_hedges or comment_hedges or _TAKEN_BACK.search(comment.lower()))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, and of its months by name; "24hr" is none."""
    text = re.sub(r"\b24[ -]?h(?:ou)?rs?\b", "", text)
    numerals = [number.replace(",", "").lstrip("0") for number in _NUMBER.findall(text)]
    return {_MONTHS.get(numeral.lower(), numeral) for numeral in numerals}


def read_day(fields: list[str]) -> date | None:
    """Return the day of year, month, day, or with a month's name of any three fields."""
    if named_months := [_MONTHS[field] for field in fields if field in _MONTHS]:
        others = sorted((field for field in fields if field not in _MONTHS), key=len)
        fields = [*others[1:], *named_months, *others[:1]]
    with suppress(ValueError, OverflowError):  # not three, no number, or no such day
        year, month, day = fields
        if len(year) == 4 and len(day) < 3:
            return date(int(year), int(month), int(day))
    return None


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
    day = read_day(_FIELD.findall(_IDLE.sub(" ", rest_of_text)))
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
    comment_numbers = numbers(_CLOCK.sub("", comment))
    comment_numbers |= {str(_read_clock(clock)) for clock in _CLOCK.finditer(comment)}
    moment_text = str(read_moment(comment.strip(" ([])")) or "")
    repeats = comment_numbers <= value_numbers and str(value).startswith(moment_text)
    return repeats and not _ZONE.search(comment)


def read_answer(text: str, answer_format: str) -> date | None:
    """Return the moment (TCP short) or day (TCP long) that a text commits to, or None."""
    for reading, comment in readings(plain(text)):
        moment = read_moment(reading)
        if moment and _agrees(comment, moment):
            if answer_format == LONG_FORMAT:
                return date(moment.year, moment.month, moment.day)
            return moment if isinstance(moment, datetime) else None
    return None


def read_flexible(text: str, form: str) -> tuple[Statement | None, date | None]:
    """Return the last box, or else statement, and its value if the last has no other."""
    all_statements = statements(text, _ECHO)
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
    published_text, published_span = extract_published(response)
    masked_text = mask(response)
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
    ends_in_thought = mask(f"{response}.").endswith("\n")
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
