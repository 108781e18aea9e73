"""Documents and scores of TimeBench.

From top to bottom: the published rule, the flexible rule (first what all families share,
then a grammar for each kind of task), the verdicts, the documents.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dateutil import parser as dateutil_parser


if TYPE_CHECKING:
    import datasets


eval_logger = logging.getLogger("lm_eval.tasks.timebench")

MARKER = "Thus, the correct answer is:"  # what the prompts ask for and the card reads
LETTERS = "ABCD"
THREE_WAY = ["Entailment", "Neutral", "Contradiction"]
TWO_WAY = ["Entailment", "Contradiction"]

REASONS = {  # the first that holds
    "right": "both rules say right",
    "flexible_only": "the right value in a form that only the flexible rule reads",
    "superseded": "the published answer is right, but another is committed to",
    "partly_right": "some of what is right, or more than that (0 < F1 < 1)",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer that is not one value of the kind asked for",
    "no_answer": "neither rule found an answer",
    "cut_off": "no answer, and the response ends within a reasoning block or a box",
}


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it."""

    scores: dict[str, float]
    reason: str  # one of REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None  # of it in the response
    flexible: str | None  # the statement that the response commits to, as it stands
    flexible_span: tuple[int, int] | None
    value: object  # what the statement is read as; None where it cannot be read
    reference: object


# ------------------------------------------------------- the published rule (card)


def extract_published(response: str) -> tuple[str, tuple[int, int] | None]:
    """Return the first line of what follows the last marker, and its span (card).

    White space around it and `.!?` at its end go; with "unanswerable" in it the answer
    is just that. Where nothing is left, or no marker, it is "", and the span None.
    """
    marker = response.rfind(MARKER)
    after = marker + len(MARKER)
    line, _, _ = response[after:].lstrip().partition("\n")
    answer = line.strip().rstrip(".!?").strip()
    if marker < 0 or not answer:
        return "", None
    start = response.index(answer, after)
    text = "unanswerable" if "unanswerable" in answer.lower() else answer
    return text, (start, start + len(answer))


_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> list[str]:
    """Return the words of a text as SQuAD compares them: no case, punctuation, articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_WITHOUT_PUNCTUATION)).split()


def token_f1(words: list[str], golds: Iterable[list[str]]) -> float:
    """Return the F1 of normalised words with the best of several golds (SQuAD)."""
    counts = Counter(words)
    shared = ((sum((counts & Counter(gold)).values()), len(gold)) for gold in golds)
    return max((_f1(same, len(words), size) for same, size in shared), default=0.0)


def _f1(shared: int, answered: int, wanted: int) -> float:
    return 2 * shared / (answered + wanted) if shared else 0.0


_PARSER = dateutil_parser.parser()
# A year of two digits is taken as it is, where dateutil would ask the clock.
_PARSER.info.convertyear = lambda year, century_specified=False: year
# A word in small letters that dateutil does not know makes it fail, which takes it long.
_SMALL_WORD = re.compile(r"(?<![\w.])[a-z]+(?![\w.])")
_KNOWN_WORDS = {
    word.lower()
    for table in ("JUMP", "WEEKDAYS", "MONTHS", "HMS", "AMPM", "UTCZONE", "PERTAIN")
    for entry in getattr(_PARSER.info, table)
    for word in ([entry] if isinstance(entry, str) else entry)
}


def parse_month(text: str) -> tuple[int, int] | datetime | None:
    """Return the year and month that dateutil reads in a text, or None (card).

    A day does not count. With a clock or a zone it is a datetime, which equals no month.
    """
    if month := _PLAIN_MONTH.fullmatch(text):
        return int(month[2]), int(_MONTHS[month[1][:3]])
    return _parse_month(text) if len(text) <= 100 else None


@lru_cache(maxsize=1024)
def _parse_month(text: str) -> tuple[int, int] | datetime | None:
    if not _KNOWN_WORDS.issuperset(_SMALL_WORD.findall(text)):
        return None
    # What a text does not say is filled in from a default, which two of them show; no
    # zone is asked of the machine.
    zone = {"tzinfos": lambda *said: None if said == (None, None) else timezone.utc}
    try:
        first, second = (
            _PARSER.parse(text, default=default, **zone).replace(day=1)
            for default in (datetime(2000, 1, 1), datetime(2001, 2, 1))
        )
    except Exception:  # of hostile text, dateutil raises far more than ParserError
        return None
    if first != second:
        return None
    is_month = first == datetime(first.year, first.month, 1)
    return (first.year, first.month) if is_month else first


_PUBLISHED_LETTER = re.compile(r"\b([A-D])(?:\.|,|\s|&|$)")
_LABEL_WORD = re.compile(r"\b(?:entailment|neutral|contradiction)\b", re.IGNORECASE)


def read_published_label(text: str, options: list[str]) -> str | None:
    """Return the label that an answer names, by word or else by letter (card)."""
    named = {label.capitalize() for label in _LABEL_WORD.findall(text)} & set(options)
    if not named:
        letters = map(LETTERS.index, re.findall(r"\b[A-C]\b", text))
        return next((options[i] for i in letters if i < len(options)), None)
    return named.pop() if len(named) == 1 else None


# ------------------------------------------- the answer statement (equal in each family)

LONGEST = 2_000  # characters of a statement; what is longer is not read
_THOUGHT_END = r"[<\[\u25c1]/(?:think|thinking|reasoning)[>\]\u25b7]"
_THOUGHT = re.compile(
    rf"(?i)(?:{_THOUGHT_END.replace('/', '')}|<\|channel\|>)"
    rf"(?:[^<\[\u25c1]+|[<\[\u25c1])*?(?:{_THOUGHT_END}|\Z)"
)
_TEXT = (  # on the line of its cue or, without a word there, on the next that has one
    r"(?=(?:(?:(?:\\[\[(]|[^\w\n\[\\]){0,200}\n)+\s*(?:[-#>\u2022]+ +)*|\s*)"
    rf"(?P<cue>[^\n]{{0,{2 * LONGEST}}}))"
)
_VALUE = r'(?<=")[^"\\]*(?:\\[\s\S][^"\\]*)*|(?<=\[)[^\]]*|[^,}\n]*'
_INSIDE = "[^{}]*"
for _ in range(4):  # braces within a box
    _INSIDE = rf"[^{{}}]*(?:\{{{_INSIDE}\}}[^{{}}]*){{0,99}}"
_BOX, _JOINER = rf"\\boxed\s*\{{{_INSIDE}", r"(?:[^\w\n]|and|or|text|quad){0,20}"
_CUES = (  # a cue's text is the group that is named like its kind
    r"the +(?:(?:final|correct)[ ,]+){0,2}(?:answer|option|label)(?:s|\(s\))? +"
    rf"(?:is/are|is|are)\b *:?{_TEXT}",
    rf"answers? *(?::|(?=\n|\Z)){_TEXT}",
    rf"correct +option(?:s|\(s\))? *:{_TEXT}",
    r"<answer>[ \t]*(?P<tag>[^<]*(?=</)|[^<\n]*)",
    rf'"answer"\s{{0,20}}:\s{{0,20}}["\[]?(?P<json>{_VALUE})',
    rf"\\boxed\s*\{{(?P<box>{_INSIDE}(?:\}}{_JOINER}{_BOX}){{0,20}})\}}",
)
_START = re.compile(r"(?:\A|\n|[.!?]\s)[^\w\n]*(?:final +)?$")  # of "Final answer:"
_MORE_LINES = re.compile(r"(?:\n[ \t]*\S[^\n]*)*")
_REJECTED = re.compile(
    r"\b(?:(?:if|whether)\b[^.!?;:\n]*"
    r"|(?:not|cannot|\w+n't|would|might|doubt|thought)\b[^.!?,;:\n]*)$"
)
_PLACEHOLDER = re.compile(  # what the prompts themselves put where an answer goes
    r"[\W_]*(?:(?:\w+\{)?(?:yyyy-mm-dd(?: hh:mm(?: gmt)?)?|mon,? yyyy|letters?|label"
    r"|(?:your )?(?:final )?answers?(?: here)?|an? (?:name|month) (?:or|and) [^\n]*"
    r"|first sentence> <second sentence)[\W_]*)?"
)
_ONE_LINE = re.compile(r"\s*(\S(?:[^\n]{0,98}\S)?)\s*")
_DOUBTED = re.compile(r"\b(?:not|maybe|perhaps|possibly|probably)[^\w\n]*$", re.I)
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−。：", "'" * 4 + '"' * 6 + "-" * 7 + ".:")
_QUIET = _PLAIN | str.maketrans("\u0130*_`", "I   ")  # cues are found without Markdown
_TAG = "(?:b|i|u|em|strong|br|p|div|span|code|sub|sup|center|answer)(?: [^<>]{0,60})?"
_MARKUP = {  # and what stands for it, in the order in which it goes
    # Digits that NFKC would add to the number before them.
    "[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u2189]": "?",
    "(?![✗✘❌❎])[\u200b-\u200d\u2060\ufe0f\ufeff\u2600-\u2790\U0001f000-\U0001faff]": "",
    r"\\colon\b\s*": ":",
    r"\\[,;:! ]|\\q?quad\b|\\\\(?![a-z])|(?<=\S)~(?=\S)": " ",
    r"(?i)\\+(?:boxed|[fhm]box|underline|emph|bf|rm|large|displaystyle)\b": "",
    r"\\+(?:(?:text)?color\s*\{\w*\}|(?:text|math)[a-z]*|[()\[\]]|(?=[&$%_]))|[{}$]": "",
    rf"(?i)</?{_TAG}/?>|</s>|<(?:end_of_turn|eos)>|<\|[^<>|]{{0,40}}\|>": "",
    r"<([^<>\n]{1,80})>": r"\1",
    r"`+|(?<!\d)\*\*+|\*\*+(?!\d)": "",
    r"(?<![\w*_])([*_]{1,3})(?=\S)((?:(?!\1).)+)(?<=\S)\1(?![\w*_])": r"\2",
    r"[^\S\n]+": " ",
}
_NO_MARKUP = re.compile(r"[A-Za-z0-9.,:;()/-]+(?: [A-Za-z0-9.,:;()/-]+)*")
_ENDS = " \n\t*_`\"',;:!\\"  # what may stand around a value and says nothing
_LEAD = re.compile(
    r"(?i)\A(?:(?:so|thus|therefore),? )?(?:(?:it|this|that) (?:is|was)\b|it's\b"
    r"|the (?:\w+ ){1,3}(?:is|was|are)\b|(?:final )?answer ?(?=:)) ?:?\s*"
)
_REASONS = r"because|since|given|based on|as(?! well\b)|not|instead of|rather than"
_REASON = re.compile(rf"\b(?:{_REASONS})\b", re.IGNORECASE)  # anything may follow
_COMMENT = re.compile(
    r"[(\[;]| -+ |(?:(?<=[A-Za-z]{3})|(?<=\d))\.\s+(?=[A-Z])"
    rf"|\b(?i:{_REASONS}|which|where|for)\b"
)
_DOUBT = re.compile(
    r"(?i)\Anot\b|\b(?:or|either|maybe|perhaps|possibly|probably|might|could|unless"
    r"|otherwise|alternatively|wait|actually|sorry|wrong)\b|\?"
)
MONTHS = "January February March April May June July August September".split()
MONTHS += "October November December".split()
_MONTHS = {name[:3]: str(number) for number, name in enumerate(MONTHS, 1)}
_NUMBER = re.compile(rf"\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(_MONTHS)})")


class Statement(NamedTuple):
    """Where a response says its answer."""

    kind: str  # "box", "cue" (words), "tag", "json", "line" (a response of one line)
    start: int  # of its text, as a position in the response
    end: int
    doubted: bool = False  # a box right behind "not", "maybe", "probably", ...


def mask(response: str, repeated: Iterable[str] = ()) -> str:
    """Return a text of equal length with newlines for reasoning and repeated lines."""
    text = response
    for final in ("assistantfinal", "<|channel|>final<|message|>", "<|channel|>final"):
        text = text.rpartition(final)[2]  # gpt-oss, and without its special tokens
    if "<" in text or "[" in text or "\u25c1" in text:
        text = _THOUGHT.sub(lambda thought: "\n" * len(thought[0]), text)
        text = re.split(f"(?i){_THOUGHT_END}", text)[-1]  # lone: all before it goes
    kept = text.rjust(len(response), "\n").split("\n")
    lines = {line.strip() for one in repeated for line in one.split("\n")} - {""}
    return "\n".join("\n" * len(x) if x.strip() in lines else x for x in kept)


def statements(text: str, prompt: re.Pattern, several: bool = False) -> list[Statement]:
    r"""Return the statements of a masked response, up to a made-up prompt (steps 2 to 4).

    `prompt` matches "\n" and the beginnings of the prompt's fixed lines; with `several`
    the text of a cue goes on to the next empty line.
    """
    low = text.translate(_QUIET).lower()  # of the same length
    cues = [cue for pattern in _CUES for cue in re.finditer(pattern, low)]
    found, has_cue, limit = [], "\\boxed" in low, -1
    for cue in sorted(cues, key=re.Match.start):
        at, kind, before = cue.start(), cue.lastgroup, max(0, cue.start() - 200)
        if low[at] == "a" and not _START.search(low, before, at):
            continue
        has_cue = True
        if not found and limit < at:
            limit = next((x.start() for x in prompt.finditer(text, at)), len(text))
        can_fail = kind == "cue" and cue[0][-1] != ":"
        if at > limit or (can_fail and _REJECTED.search(low, before, at)):
            continue
        start, end = cue.span(kind)
        if several and kind == "cue":
            end = _MORE_LINES.match(low, end, end + 2 * LONGEST).end()
        end = start + len(text[start : min(end, limit)].rstrip())
        start = end - len(text[start:end].lstrip())
        if not _PLACEHOLDER.fullmatch(low, start, end):
            is_doubted = kind == "box" and doubted(low, at)
            found.append(Statement(kind, start, end, is_doubted))
    if not has_cue and (line := _ONE_LINE.fullmatch(text)):
        found.append(Statement("line", *line.span(1)))
    return found


def doubted(text: str, at: int) -> bool:
    """Tell whether the word right before a place is "not", "maybe", "probably", ..."""
    return bool(_DOUBTED.search(text, max(0, at - 60), at))


def plain(text: str, ends: bool = False) -> str:
    """Return a text without markup, "" for one too long; `ends` keeps marks at its ends."""
    text = text.translate(_PLAIN) if len(text) <= LONGEST else ""
    for pattern, new in () if _NO_MARKUP.fullmatch(text) else _MARKUP.items():
        text = re.sub(pattern, new, text)
    text = unicodedata.normalize("NFKC", text)
    return text.strip() if ends else text.lstrip(_ENDS).rstrip(_ENDS + ".")


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Yield a plain text as it stands, without its lead, and without a comment too.

    With each goes what the comment says before a reason or denial, "" without one.
    """
    yield text, ""
    if (led := _LEAD.sub("", text)) != text:
        yield led, ""
    if cut := _COMMENT.search(led, 1):
        kept = led[: cut.start()].rstrip(_ENDS + ".")
        yield kept, _REASON.split(led[cut.start() :], maxsplit=1)[0]


def has_doubt(text: str, golds: str = "", reason: re.Pattern = _REASON) -> bool:
    """Tell whether a text has a doubt, no word of a gold, at its start or before a reason."""
    before = reason.split(text, maxsplit=1)[0] or text[:3]
    doubts = {found[0].lower() for found in _DOUBT.finditer(before)}
    return bool(doubts and doubts - set(re.findall(r"\w+|\?", golds.lower())))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text, and of its months by name; "24hr" is none."""
    found = _NUMBER.findall(re.sub(r"\b24[ -]?h(?:ou)?rs?\b", "", text))
    return {_MONTHS.get(x) or x.replace(",", "").lstrip("0") for x in found}


# ------------------------------------------- end of the answer statement

# Fixed lines of the prompts: behind an answer they begin a prompt that is made up.
MADE_UP = re.compile(
    r"\n[ \t#*>]*(?:Context:|Facts:|Question:|Premise:|Hypothesis:|What is the time\b"
    r"|How does the premise relate|Which of these can stand|More than one option can be"
    r"|The answer is a (?:name|month)|Write two sentences that)"
)
REPEATED = ("context", "fact_context", "question", "premise")  # of documents
# What dateutil surely reads so, and takes 20 times as long for: "Aug, 1987", "May 1987".
_PLAIN_MONTH = re.compile(rf"({'|'.join((*MONTHS, *_MONTHS))}),? ([1-9][0-9]{{3}})")


# ------------------------------------------------------------------------------ dates

# What says nothing beside a month and a year; year, number, name, and what is neither.
_IDLE = re.compile(
    r"(?<=\d)(?:st|nd|rd|th)\b|\b(?:in|on|the|of|month|year|ad|a\.d|ce)\b"
)
_DATE_PART = re.compile(
    r"(?P<y>[0-9]{3,4}(?!\d))|(?P<n>[0-9]{1,2}(?!\d))|(?P<m>[a-z]{3,9}(?![a-z]))"
    r"|[^\s.,/()[\]-]"
)
_BEHIND = re.compile(r"\b(?:is|was)\b|=")


def read_month(text: str) -> tuple[int, int] | None:
    """Return the year and month that a text is, or what is behind its last "is"."""
    for kept, cut in readings(text):
        for part in (kept, _BEHIND.split(kept)[-1]):
            if month := _month(part.lower()):
                allowed = numbers(cut) <= numbers(part) and not has_doubt(text)
                return month if allowed else None
    return None


def _month(text: str) -> tuple[int, int] | None:
    """Return the year and month of a date that can only be this one, or None."""
    parts = [*_DATE_PART.finditer(_IDLE.sub(" ", text))]
    shape = "".join(part.lastgroup or "?" for part in parts)
    if "".join(sorted(shape)) not in ("my", "mny", "ny", "nny"):
        return None
    parts.sort(key=lambda part: part.lastgroup)  # the month's name, numbers, the year
    *fields, year = (_number(part[0]) for part in parts)
    orders = [[*fields, 1][:2]]
    if shape == "nny":  # of two numbers before a year, the one that can be the month
        orders.append(fields[::-1])
    months = {month for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31}
    return (year, months.pop()) if len(months) == 1 else None


def _number(word: str) -> int:
    months = (n for n, x in enumerate(MONTHS, 1) if x.lower().startswith(word))
    return int(word) if word.isdigit() else next(months, 0)


# ------------------------------------------------------------------------- NLI labels

_LABELS = {"entail": "Entailment", "neutral": "Neutral", "contradict": "Contradiction"}
_LABEL = re.compile(
    rf"(?i)\b(?:an? (?:case of )?)?({'|'.join(_LABELS)})"
    r"(?:s|ed|ing|ments?|ions?|ory|ity)?\b"
)
_BESIDE = "the premise hypothesis option label letter it is of by to with case".split()
_LETTER = re.compile(r"\b(?:[B-D]|A(?! [a-z]))\b")
_SMALL_LETTER = re.compile(r"\b[a-d]\)")  # "(b)", "b)"; others are words
_capitals = partial(_SMALL_LETTER.sub, lambda letter: letter[0].upper())


def read_label(text: str, options: list[str]) -> str | None:
    """Return the one label that a text is by word, by letter or by both, or None."""
    for kept, cut in readings(text):
        if label := _label(kept, options):
            letters = set(_LETTER.findall(cut)) - {LETTERS[options.index(label)]}
            others = letters or _labels(cut) - {label}
            return None if others or has_doubt(text) else label
    return None


def _labels(text: str) -> set[str]:
    return {_LABELS[stem.lower()] for stem in _LABEL.findall(text)}


def _label(text: str, options: list[str]) -> str | None:
    """Return the label of a text that holds little else, or None."""
    rest = _capitals(_LABEL.sub(" ", text))
    words = re.findall(r"\w+|[^\s.,:;()[\]'\"-]", rest)
    words = [word for word in words if word.lower() not in _BESIDE]
    if len(words) > 1 or not set(words) <= set(LETTERS):
        return None
    place = LETTERS.index(words[0]) if words else len(LETTERS)
    # A letter that is not offered says nothing.
    named = _labels(text) | {*options[place : place + 1]}
    return named.pop() if len(named) == 1 and named <= set(options) else None


# ---------------------------------------------------------------------------- options

_BEFORE_ITEM = re.compile(
    r"(?:both\s+)?(?:(?:[-*\u2022]|\d{1,2}[.)])\s+)?(?:options?:?\s+)?[(\['\"]*",
    re.IGNORECASE,
)
_ITEM_LETTER = re.compile(r"([A-D])(?!\w)[])'\".:= (-]*")
_CLOSED = re.compile(r"[])'\"]*")
_REMARK = re.compile(r"\s*\(([^()\n]*)\)")
_JOINT = re.compile(r"(?i)\s*[.!]?\s*(?:(?:[,;&/+\n]|(?:and|plus|as well as)\b)\s*)+")
_APPROVED = re.compile(
    r"(?i:\s+only\b|\s+(?:is|are) (?:both )?(?:correct|plausible|right)\b)?[.!\s]*"
)
_BEHIND_ITEMS = re.compile(
    rf"(?<=\. )(?=[A-Z])|,?\s*(?:[(\[;]|-+ |(?i:{_REASONS}|which|where|for)\b)"
)


def read_options(text: str, options: list[str]) -> set[str] | None:
    """Return the letters of the options that a text lists, or None.

    Behind the last item may stand words that approve and one comment.
    """
    # Letter of each option, and words and marks of its text.
    parts = (re.findall(r"\w+|[^\w\s\"]", plain(option).lower()) for option in options)
    texts, text = [*zip(LETTERS, parts)], _capitals(text)
    for part in (text, _LEAD.sub("", text)):
        letters, end = _list(part, texts)
        if letters:
            end = _APPROVED.match(part, end).end()
            cut = _REASON.split(part[end:], maxsplit=1)[0]
            others = numbers(cut) - numbers(part[:end])
            others |= _options(cut, texts) - letters
            is_whole = end == len(part) or _BEHIND_ITEMS.match(part, end)
            doubt = others or has_doubt(text, " ".join(options))
            return letters if is_whole and not doubt else None
    return None


def _list(text: str, texts: list) -> tuple[set[str], int]:
    """Return the letters of the items that a text begins with, and where these end."""
    letters, start, end = set(), 0, 0
    while start is not None and (item := _item(text, start, texts)):
        named, end = item
        if remark := _REMARK.match(text, end):
            end = remark.end()
            said = _REASON.split(remark[1], maxsplit=1)[0]
            named = named if _options(said, texts) <= named else set()
        if not named:
            return set(), 0
        letters |= named
        joint = _JOINT.match(text, end)
        start = joint.end() if joint else None
    return letters, end


def _item(text: str, start: int, texts: list) -> tuple[set[str], int] | None:
    """Return the option that an item names, and its end; none if letter and text differ."""
    begin = _BEFORE_ITEM.match(text, start).end()
    for place in (start, begin):
        named, end = _longest(text, place, texts)
        if named:
            return named, _CLOSED.match(text, end).end()
    if letter := _ITEM_LETTER.match(text, begin):
        named, end = _longest(text, letter.end(), texts)
        end = _CLOSED.match(text, end if named else letter.end(1)).end()
        return (named or {x for x, _ in texts}) & {letter[1]}, end
    return None


def _longest(text: str, start: int, texts: list) -> tuple[set[str], int]:
    """Return the options with the longest text that stands at a place, and its end."""
    named, longest = set(), start
    for letter, parts in texts:
        end = start
        for part in parts:
            while text[end : end + 1] in (" ", '"'):
                end += 1
            if text[end : end + len(part)].lower() != part:
                break
            end += len(part)
        else:
            if parts and end >= longest and not text[end : end + 1].isalnum():
                named = {letter} | (named if end == longest else set())
                longest = end
    return named, longest


def _options(text: str, texts: list) -> set[str]:
    """Return the options that a text names anywhere."""
    named, end = set(), 0
    for word in re.finditer(r"(?<!\w)\S", text):
        if word.start() >= end:
            found, end = _longest(text, word.start(), texts)
            letter = _LETTER.match(text, word.start())
            named |= found or set(letter[0] if letter else "")
    return named


# --------------------------------------------------------------------------------- QA

_NOT_STATED = re.compile(
    r"(?i)(?:(?:the answer|it|this|that|there|(?:the|this) question)(?: is|'s)? )?"
    r"(?:un-?answerable|un(?:known|specified|determined|stated)|(?:can ?not|can't|could not)"
    r" be |not (?:mentioned|stated|specified|given|provided|covered|found|known|available"
    r"|answerable|enough)|insufficient|no (?:information|answer|mention)"
    r"|(?:the|this) (?:context|text|passage|article) (?:does not|doesn't|never|lacks) )"
)
_NAME_BEHIND = re.compile(r"(?:\b(?i:so|but|or)\b|\?)[^.]{0,200}?\s(?!The )[A-Z]\w")
_JOINED = re.compile(r"(?:;|\bas well as\b)\s*(?:the |an? )?[A-Z\d]")
_NAME_REASONS = _REASONS.replace(r"as(?! well\b)", "as stated|as of")
_NAME_REASON = re.compile(rf"\b(?:{_NAME_REASONS})\b", re.IGNORECASE)
_TIME = rf"(?:(?:{'|'.join(_MONTHS)})[a-z]*\.?,?\s)?\d{{4}}\b"
# Comments of three kinds: brackets, a period, and what goes on to the end.
_NAME_COMMENTS = [
    re.compile(r"\s*[(\[][^()\[\]]*[)\]]?"),
    re.compile(
        rf",?\s*\b(?:(?i:from|since|between|in|until|during)\s)?{_TIME}"
        rf"(?:\s?(?:-|to|until|and)\s?(?:{_TIME}|present\b))?"
    ),
    re.compile(
        r"(?s)(?: -+ |(?<=[A-Za-z]{3})\.\s+(?=[A-Z])"
        rf"|[,\s]+(?i:{_NAME_REASONS})\b|,\s(?i:which|where|for)\b).*"
    ),
]
_COPULAS = set("is was are were be been being".split())
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|d)$")


@lru_cache(maxsize=4096)
def _read_golds(golds: tuple[str, ...]) -> tuple[list, list, str]:
    """Return the golds' words, as the card and as this rule compares them, and text."""
    texts = [plain(gold) for gold in golds]
    return [*map(normalise, golds)], [*map(name_words, texts)], "\n".join(texts)


def name_words(text: str) -> list[str]:
    """Return the words of a text without case, accents, punctuation and articles."""
    if not text.isascii():
        letters = unicodedata.normalize("NFKD", text)
        text = "".join(x for x in letters if not unicodedata.combining(x))
    return normalise(text)


def read_name(text: str, names: list[list[str]], golds: str) -> str | None:
    """Return the name or phrase that a text gives, "unanswerable", or None."""
    if name_words(text) in names:
        return text
    text = _LEAD.sub("", text)
    if _NOT_STATED.match(text) and not _NAME_BEHIND.search(text):
        return "unanswerable"
    two = _JOINED.search(text) and not _JOINED.search(golds)
    if two or has_doubt(text, golds, _NAME_REASON):
        return None

    def cut(comment: re.Match) -> str:
        words = set(name_words(comment[0]))
        return comment[0] if any(words.issuperset(x) for x in names) else " "

    for comment in _NAME_COMMENTS:
        if not comment.search(golds):
            text = comment.sub(cut, text)
    return text.strip() or None


def name_f1(name: str, names: list[list[str]], question: str) -> float:
    """Return the F1 of a name's words with the best gold; 0 or 1 for "unanswerable".

    Beyond a gold's own, words of the question do not count, unless it says them all.
    """
    words = name_words(name)
    if words in names or words == ["unanswerable"]:
        return float(words in names)
    asked = _COPULAS | {_ENDING.sub("", word) for word in name_words(question)}
    said = Counter(words)
    new = Counter(word for word in words if _ENDING.sub("", word) not in asked)
    golds = [gold for gold in names if gold != ["unanswerable"]]
    kept = (said & Counter(gold) | new if new else said for gold in golds)
    f1 = (token_f1([*x.elements()], [gold]) for x, gold in zip(kept, golds))
    return max(f1, default=0.0)


# --------------------------------------------------------------------- the verdicts


def _kind(name: str, read: Callable[[dict, str, str], tuple], several: bool = False):
    """Return the public functions of a kind of task, under their names here.

    `read` makes scores, value and reference of a document and both rules' answers.
    """

    def explain(doc: dict, response: str) -> Verdict:
        """Return the verdict on one response to a document; any text has one."""
        published, published_span = extract_published(response)
        repeated = filter(None, map(doc.get, REPEATED))
        found = statements(mask(response, repeated), MADE_UP, several)
        last = found[-1] if found else None
        span = last and (last.start, last.end)
        flexible = last and response[last.start : last.end]
        read_text = flexible if last and not last.doubted else ""
        scores, *values = read(doc, published, read_text)
        scores["extracted"] = float(published != "")
        shown = published or None, published_span, flexible, span
        reason = _reason(scores, values[0], response, shown)
        return Verdict(scores, reason, *shown, *values)

    def process_results(doc: dict, results: list[str]) -> dict[str, float]:
        """Return the scores of one response; ValueError where it is not one string."""
        if isinstance(results[0], str):
            return explain(doc, results[0]).scores
        found = f"the response is a {type(results[0]).__name__}, not a string"
        raise ValueError(f"{found}; let the task's last filter be `take_first`")

    return _named(explain, name), _named(process_results, name)


def _named(function: Callable, kind: str) -> Callable:
    """Name a function as it is named here, which pickles and tools rely on."""
    function.__name__ = function.__qualname__ = f"{function.__name__}_{kind}"
    return function


def _reason(scores: dict, value: object, response: str, shown: tuple) -> str:
    """Return the first of REASONS that holds."""
    flexible, is_exact = scores.get("score_flexible", 0), scores.get("score") == 1
    is_read, (_, published_span, _, span) = value is not None, shown
    in_box = response.rfind("\\boxed{") > response.rfind("}")
    is_cut_off = not span and (in_box or mask(response + ".").endswith("\n"))
    answered = not is_cut_off and (published_span or span)
    holds = flexible == 1 and is_exact, flexible == 1, is_read and is_exact, flexible
    holds = zip(REASONS, (*holds, is_read, answered, not is_cut_off, True))
    return next(reason for reason, is_so in holds if is_so)


def _scores(exact: bool, flexible: float, f1: float | None = None) -> dict[str, float]:
    """Return the metrics of a kind; its headline is the F1 where it has one (paper)."""
    scores = {"exact_match": float(exact)} | ({} if f1 is None else {"f1_score": f1})
    scores["score"] = float(exact) if f1 is None else f1
    scores["score_flexible"] = float(flexible)
    return scores | {"accuracy_flexible": float(flexible == 1)}


def _read_qa(doc: dict, published: str, statement: str) -> tuple:
    words, (golds, names, text) = normalise(published), _read_golds(tuple(doc["golds"]))
    value = read_name(plain(statement), names, text)
    flexible = name_f1(value, names, doc.get("question") or "") if value else 0
    scores = _scores(words in golds, flexible, token_f1(words, golds))
    return scores, value, doc["golds"]


def _read_date(doc: dict, published: str, statement: str) -> tuple:
    months = [parse_month(gold) for gold in doc["golds"]]
    value, exact = read_month(plain(statement)), parse_month(published) in months
    return _scores(exact, value in months), value, months


def _read_options(doc: dict, published: str, statement: str) -> tuple:
    gold, given = set(doc["letters"]), set(_PUBLISHED_LETTER.findall(published))
    value = read_options(plain(statement), doc["options"]) or set()
    f1, flexible = (_f1(len(x & gold), len(x), len(gold)) for x in (given, value))
    return _scores(given == gold, flexible, f1), sorted(value) or None, doc["letters"]


def _read_nli(doc: dict, published: str, statement: str) -> tuple:
    options, label = doc["options"], doc["label"]
    exact = read_published_label(published, options) == label
    value = read_label(plain(statement), options)
    return _scores(exact, value == label), value, label


@lru_cache(maxsize=1)
def _metrics() -> tuple:
    """Return BLEU and ROUGE, which take long to load: one task in eighteen needs them."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import BLEU

    return BLEU(effective_order=True), RougeScorer(["rougeL"])


def _read_generation(doc: dict, published: str, statement: str) -> tuple:
    text, gold = " ".join(plain(statement, ends=True).split()), doc["statement"]
    bleu, rouge = _metrics()
    scores = {
        # Floating point may leave 1.0 by a hair.
        "bleu": min(max(bleu.sentence_score(text, [gold]).score / 100, 0.0), 1.0),
        "rouge_l": float(rouge.score(gold, text)["rougeL"].fmeasure),
        "keywords": keyword_share(text, doc["keywords"], doc["keywords_pos"]),
    }
    return scores, text or None, gold


def keyword_share(text: str, keywords: list[str], positions: list[int]) -> float:
    """Return the share of keywords that stand in the sentence they belong to.

    Abbreviations make it unsure where the first of two sentences ends, and either may
    come first: the split and order with the greatest share counts.
    """
    # Marks become blanks, so that a keyword between blanks is within no other word.
    padded = re.sub(r"\W", " ", f" {text.casefold()} ")
    words = [re.sub(r"\W", " ", f" {word.casefold()} ") for word in keywords]
    places = [(padded.find(x), padded.rfind(x), len(x) - 2) for x in words]
    ends = [end.end() for end in re.finditer(r"[.!?]\s+", text.casefold())][:50]
    best = 0
    for end in [*ends, len(padded)]:
        in_first = [0 <= first <= end - size for first, _, size in places]
        in_second = [last >= end for _, last, _ in places]
        for order in ((in_first, in_second), (in_second, in_first)):
            best = max(best, sum(order[p][k] for k, p in enumerate(positions)))
    return best / len(keywords)


explain_qa, process_results_qa = _kind("qa", _read_qa)
explain_date, process_results_date = _kind("date", _read_date)
explain_options, process_results_options = _kind("options", _read_options, several=True)
explain_nli, process_results_nli = _kind("nli", _read_nli)
explain_generation, process_results_generation = _kind(
    "generation", _read_generation, several=True
)


# ------------------------------------------------------------------------ documents

# The files of the benchmark: rows, and the fingerprint of their documents.
with Path(__file__).with_name("files.jsonl").open() as _file:
    FILES = {row.pop("file"): (*row.values(),) for row in map(json.loads, _file)}
# Columns that some files have, for prompts, breakdowns and logs; pairs of equal length.
EXTRA_COLUMNS = "qid idx question question_type type fact_context level".split()
PAIRED_COLUMNS = (("options", "labels"), ("keywords", "keywords_pos"))


def _reader(is_right: Callable, wrong: str, made: Callable | None = None) -> Callable:
    """Return what makes a field of a cell; ValueError says what is wrong with it."""

    def read(cell: object) -> object:
        if is_right(cell):
            return made(cell) if made else cell
        raise ValueError(wrong)

    return read


def _listed(cell: object) -> list:
    return cell if isinstance(cell, list) else [cell]


def _stripped(cell: str | list[str]) -> list[str]:
    return [text.strip() for text in _listed(cell)]


def _all(test: Callable[[str], object], cell: object) -> bool:
    """Tell whether a cell is a list of strings, and each stripped one passes a test."""
    strings = isinstance(cell, list) and all(isinstance(x, str) for x in cell)
    return bool(strings and cell and all(map(test, _stripped(cell))))


_text = _reader(lambda x: _all(len, [x]), "is not a string with words")
_texts = _reader(partial(_all, len), "is not a list of strings with words")
_context = _reader(
    lambda x: all(isinstance(y, str) for y in _listed(x)) and "".join(x).strip(),
    "is not a string or a list of strings, with words",
    lambda x: "\n".join(_listed(x)),
)
_golds = _reader(
    lambda x: _all(lambda y: normalise(y) and name_words(plain(y)), _listed(x)),
    "has an answer without a word",
    _stripped,
)
_months = _reader(
    lambda x: _all(lambda y: isinstance(parse_month(y), tuple), _listed(x)),
    'has an answer that is not a month and a year ("Aug, 1987")',
    _stripped,
)
_letters = _reader(
    lambda x: _all(len, x) and {"yes"} <= {*x} <= {"yes", "no"},
    'is not a list of "yes" and "no" with at least one "yes"',
    lambda x: [letter for letter, said in zip(LETTERS, x) if said == "yes"],
)
_offered = _reader(
    lambda x: _all(len, x) and len(x) in (2, 3, 4),
    "is not a list of two to four options",
    _stripped,
)
_positions = _reader(
    lambda x: isinstance(x, list) and {*map(repr, x)} <= {"0", "1"},
    "is not a list of the integers 0 and 1",
)


def _labelled(labels: list[str]) -> dict[str, tuple]:
    label = _reader(labels.__contains__, f"is not one of {', '.join(labels)}")
    texts = {"premise": ("Premise", _text), "hypothesis": ("Hypothesis", _text)}
    return texts | {"label": ("Label", label), "options": ("Label", lambda x: labels)}


_QUESTION = {"question": ("question", _text)}
_QA = _QUESTION | {"context": ("context", _context), "golds": ("answer", _golds)}
_CHOICES = {
    "context": ("context", _text),
    "options": ("options", _offered),
    "letters": ("labels", _letters),
}
# Kind of documents -> field -> its column, and the reader of the cells there.
FIELDS = {
    "qa": _QA,
    "facts_qa": _QA | {"fact_context": ("fact_context", _text)},
    "date": _QUESTION | {"golds": ("answer", _months)},
    "options": _QUESTION | _CHOICES,
    "dialogue_options": _CHOICES,
    "nli_two_way": _labelled(TWO_WAY),
    "nli_three_way": _labelled(THREE_WAY),
    "generation": {
        "keywords": ("keywords", _texts),
        "keywords_pos": ("keywords_pos", _positions),
        "statement": ("statements", lambda cell: " ".join(_texts(cell))),
    },
}


def _maker(kind: str) -> Callable[[datasets.Dataset], datasets.Dataset]:
    """Return what the YAML files name: rows -> documents of a kind, in memory."""

    def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
        """Return documents; ValueError names file, row and column that are wrong."""
        # `sources.load` and packs name the file; other loaders say "default-…".
        name = (dataset.info.config_name or "default").removesuffix("_timebench")
        name = kind if name.startswith("default") else name
        place, columns = f"TimeBench ({name})", dataset.column_names
        for column in (x for x, _ in FIELDS[kind].values() if x not in columns):
            fix = f"found {columns}. Give rows in the schema of TimeBench-subset-7553"
            raise ValueError(f"{place}: column '{column}' is missing; {fix}")
        numbered = enumerate(dataset)
        rows = [_document(row, kind, f"{place}, row {n}") for n, row in numbered]
        if not rows:
            raise ValueError(f"{place}: there are no rows; give a split with some")
        is_fresh = "level" in columns  # rows made from a seed say so
        _report(name, len(rows), fingerprint(map(digest, rows)), is_fresh)
        return type(dataset).from_list(rows)

    return _named(process_docs, kind)


process_docs_qa = _maker("qa")
process_docs_facts_qa = _maker("facts_qa")
process_docs_date = _maker("date")
process_docs_options = _maker("options")
process_docs_dialogue_options = _maker("dialogue_options")
process_docs_nli_two_way = _maker("nli_two_way")
process_docs_nli_three_way = _maker("nli_three_way")
process_docs_generation = _maker("generation")


def _document(row: dict, kind: str, place: str) -> dict:
    document = {name: row[name] for name in EXTRA_COLUMNS if name in row}
    try:
        for field, (column, read) in FIELDS[kind].items():
            document[field] = read(row[column])
        for one, column in PAIRED_COLUMNS:
            if len(row.get(one, "")) != len(row.get(column, "")):
                raise ValueError(f"does not have as many items as '{one}'")
    except ValueError as error:
        cell = f"{row[column]!r:.80}"
        fault = f"{place}, column '{column}': {cell} {error}; fix the row"
        raise ValueError(fault) from None
    return document


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    names = {"qid", "idx", "question_type", "type", "level"}
    cells = sorted((k, v) for k, v in doc.items() if k not in names)
    return hashlib.sha256(json.dumps(cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what documents share that ask about one context, premise or question."""
    names = ("context", "premise", "question", "statement")
    text = json.dumps(next((doc[name] for name in names if doc.get(name)), doc))
    # A dialogue goes by its start: TimeDial masks several places of one.
    return text.replace("<MASK>", "")[:60] if "<MASK>" in text else text


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


@lru_cache(maxsize=256)
def _report(name: str, rows: int, found: str, is_fresh: bool) -> None:
    """Log rows and fingerprint of a file, once a run; warn where they are unknown."""
    theirs = [FILES[name]] if name in FILES else [*FILES.values()]
    said = f"TimeBench ({name}): {rows} rows, fingerprint {found}"
    if is_fresh or (rows, found) in theirs:
        return eval_logger.info(said)
    known = "{} rows, {}".format(*theirs[0]) if name in FILES else "other files"
    known += ": scores may not be comparable"
    eval_logger.warning(f"{said}; the benchmark has {known}")
