"""Documents and scores of Test of Time (ToT).

A response goes down this file: its reasoning is masked, the published and the flexible
rule each extract an answer, never seeing the reference; readers turn the flexible one
into values, which are matched with the reference's; `explain_*` says what came of it and
`process_results_*` are its scores. Documents come last.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import logging
import re
import unicodedata
import weakref
from collections.abc import Callable, Collection, Iterable
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    import datasets


eval_logger = logging.getLogger("lm_eval.tasks.tot")

REASONS = {
    "right": "both rules find the right value",
    "flexible_only": "the right value, in a form that only the flexible rule reads",
    "superseded": "the first object is right, but not what the response commits to",
    "other_value": "a value, but not the reference's",
    "unreadable": "an object without one value of the kind asked for in each field",
    "no_answer": "neither rule found an answer",
    "cut_off": "no answer: the response ends within its reasoning or an object",
}

# Rows and fingerprint of each file of baharef/ToT (its hub card swaps the first two).
FILES = {
    "tot_arithmetic": (1850, "6bdf6382cd8bd76a"),
    "tot_semantic": (2800, None),
    "tot_semantic_large": (46480, None),
}
# Columns that prompts, scores, breakdowns and logs need.
ARITHMETIC_COLUMNS = ("question", "question_type", "label")
SEMANTIC_COLUMNS = (
    *ARITHMETIC_COLUMNS,
    "prompt",
    "graph_gen_algorithm",
    "sorting_type",
)

MAX_STARTS = 1000  # objects that the published rule tries
MAX_NESTING = 100  # objects within each other that the flexible rule follows
MAX_VALUE_LENGTH = 1000  # longer values are read as nothing
MAX_LABEL_LENGTH = 10_000
MAX_LEAD_LENGTH = 40  # characters before an object that show it to be the prompt's

# Keys that prompts ask for where the label has another: 50 prompts say "age", 100
# misspell "unordered_list".
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}
ANSWER_KEYS = ("answer", "final answer", "correct answer", "corrected answer")
# Keys whose value comments on the answer, and keys whose value may wrap it.
EXPLANATIONS = {"explanation", "reasoning", "rationale", "thought", "steps", "analysis"}
WRAPPERS = {"answer", "result", "response", "output", "json", "content"}
WRAPPERS |= {"arguments", "parameters", "function"}  # of a tool call
PARTS = {"value", "unit"}, {"year", "era"}  # of one value, as an object
EMPTY_LISTS = {"none", "null", "empty", "n/a", "nobody", "no one", "nothing"}

MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
ERAS = {"ad": "AD", "ce": "AD", "bc": "BC", "bce": "BC"}
DAY_OFFSETS = {"same day": 0, "next day": 1, "following day": 1, "previous day": -1}
DAY_OFFSETS |= {"today": 0, "tomorrow": 1, "yesterday": -1}
UNITS = {
    "year": ("year", "years", "yr", "yrs"),
    "month": ("month", "months"),
    "week": ("week", "weeks"),
    "day": ("day", "days", "d"),
    "hour": ("hour", "hours", "hr", "hrs", "h"),
    "minute": ("minute", "minutes", "min", "mins", "m"),
    "second": ("second", "seconds", "sec", "secs", "s"),
}
# Prompts use letters, too: "X hours, Y minutes, and Z seconds" and the like.
UNIT_OF_NAME = {name: unit for unit, names in UNITS.items() for name in names}
UNIT_OF_NAME |= zip("hmsxyzabc", ("hour", "minute", "second") * 3, strict=True)
NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve"
).split()
# Words around a value that say nothing about it, as those of the prompt.
FILLERS = set(
    "the a an it this that there is are was were be been will would in on exactly answer"
    " final result value entity era age period date day-of-week weekday so thus therefore"
    " came started starts began begins ended ends happened total number options ways slots"
    " times possible old half-hour".split()
)
# Words that make another number or value of what stands before or after them.
VALUE_WORDS = {*UNIT_OF_NAME, *ERAS, *MONTHS, *WEEKDAYS}.union(
    "am pm utc gmt noon midnight or not to half more less than before after"
    " earlier later plus minus over dozen hundred thousand million same next"
    " previous".split()
)
# In a comment, what makes another value of a number, a date or a time; of a weekday or a
# name only what puts it beside another.
_SIDES = {"before", "after", "next", "previous"}
RIVAL_WORDS = {word for word in VALUE_WORDS if len(word) > 1}
RIVAL_WORDS |= set(NUMBER_WORDS) - {"one"}
# Words that a prompt may have as well, but that make another thing of a value.
NO_FILLERS = VALUE_WORDS.union(
    "no cannot never none any but except if can could may might should any every other only"
    " neither nor without until about around approximately almost impossible last most"
    " least equal unanswerable".split()
)


class Scale(NamedTuple):
    """Mean absolute deviations of the golds in a unit from the centre of their cluster."""

    lowest: float  # gold of the cluster
    highest: float
    inside: float  # the deviation of the golds from here to there
    outside: float  # that of the others, which count as a cluster of their own


# By `temporal-eval scales tot_arithmetic.jsonl`: of all 1,850 rows, so that no error depends
# on the rows of a run. Durations are in seconds; dates are ordinals, in days.
SCALES = {
    "calendar year": Scale(1987.0, 2046.0, 15.1358, 787.8239),
    "count": Scale(0.0, 10.0, 3.0822, 0.9477),
    "date": Scale(731750.0, 735293.0, 883.5217, 3589.9585),
    "day": Scale(422.0, 755.0, 81.4803, 817.325),
    "month": Scale(9.0, 21.0, 3.4858, 10.5542),
    "second": Scale(1440.0, 18300.0, 3119.8369, 62111.4786),
    # "year": a scale takes 30 rows, not 5
}
# Numbers from here on are not read as answers: one of them would make up a whole mean.
MAX_QUANTITY = 10.0**15
SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
POINTS_IN_TIME = {"date", "calendar year"}  # which have no zero to be in proportion to


class Extracted(NamedTuple):
    """The fields of an object in a response, and where it starts and ends."""

    fields: dict
    span: tuple[int, int]


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it."""

    scores: dict[str, float]  # in the order of the YAML
    reason: str  # one of REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None  # of its object in the response
    flexible: str | None  # the object that the response commits to, as it stands there
    flexible_span: tuple[int, int] | None
    value: dict | None  # its fields as read, None where one cannot be read
    reference: dict  # the fields of the reference, read the same way


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


def mask_prompt(text: str, question: str) -> str:
    """Return a text with newlines for what only repeats the question.

    That is all of it, or its end from a few words before its last object on, such as
    "If there are no valid entities, return an empty list. answer = {…}".
    """
    question = question.strip()
    end = question[max(0, question.rfind("{") - MAX_LEAD_LENGTH) :]
    for asked in (question, end):
        if len(asked) > MAX_LEAD_LENGTH:
            text = text.replace(asked, "\n" * len(asked))
    return text


# ------------------------------------------------------------------ published rule

_OBJECT_START = re.compile(r'\{[ \t\n\r]*["}]')
# Python refuses integers of several thousand digits.
_DECODER = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) < 1000 else float(digits)
)


@lru_cache(maxsize=1)  # both rules ask for it
def extract_published(response: str) -> Extracted | None:
    """Return the first valid JSON object of `response`, or None (source: metric card).

    The explanation is left out; with nothing but an explanation there is no answer. So
    that no response costs quadratic time, at most MAX_STARTS braces are tried, until the
    failures have read ten times the response; in no recorded answer do four fail.
    """
    budget = 10 * len(response)
    # One character is found many times as fast as a pattern.
    starts = _OBJECT_START.finditer(response, max(response.find("{"), 0))
    for brace in islice(starts, MAX_STARTS):
        try:
            fields, end = _DECODER.raw_decode(response, brace.start())
        except json.JSONDecodeError as error:
            budget -= error.pos - brace.start()
        except RecursionError:
            continue
        else:
            fields.pop("explanation", None)
            return Extracted(fields, (brace.start(), end)) if fields else None
        if budget < 0:
            break
    return None


# ------------------------------------------------------------------- flexible rule

# One character stands for one, so that places stay those of the response.
_FULL_WIDTH = str.maketrans("\uff5b\uff5d\uff3b\uff3d\uff1a\uff0c\uff02", '{}[]:,"')
_TYPOGRAPHIC_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')

# Repetitions are bounded, for each step of one costs memory and may be tried in vain.
_DOUBLE_QUOTED = r'"([^"\\\n]{0,200}(?:\\.[^"\\\n]{0,200}){0,20})"'
_SINGLE_QUOTED = r"'(?<![^{,\s]')" + _DOUBLE_QUOTED.replace('"', "'")[1:]
_BARE_KEY = r"""(?<![^{,\s])([A-Za-z_]\w{0,63}):(?=[\s"'\[])"""
_KEY = rf"(?:{_DOUBLE_QUOTED}\s*:|{_SINGLE_QUOTED}\s*:|{_BARE_KEY})"
_TEXT = r""""[^"\\]*(?:\\.[^"\\]*){0,9999}"|'[^'\\]*(?:\\.[^'\\]*){0,9999}'"""
_COMMENT = r"(?://|\#)[^\n]{0,200}\n|/\*[^\n]{0,200}?\*/"
# The engine skips to the first characters of these; so bare keys, which count only
# right after a field or brace, are tried there alone.
_TOKEN = re.compile(rf"\{{|\}}|{_DOUBLE_QUOTED}\s*[:,\]]|{_SINGLE_QUOTED}\s*:")
_TOKEN_INSIDE = re.compile(rf"{_TOKEN.pattern}|{_BARE_KEY}")
_BETWEEN = re.compile(rf"[\s,\[\]\\]*(?:(?:{_COMMENT})[\s,\[\]\\]*){{0,9}}")
_VALUE = re.compile(
    rf"""
    \s*
    (?:
        (?P<text>{_TEXT})
        |(?P<list>\[(?:[^"'\[\]{{}}]|{_TEXT}){{0,2000}}\])
        |(?P<other>[\[{{])                                    # what is in it follows
        |(?P<bare>
            \$*\\[a-z]+\s*\{{[^{{}}\n]{{0,200}}\}}\$*         # \boxed{{5}}
            |[^\s"'\[\]{{}}](?:(?!\s(?://|\#|/\*)|{_KEY})[^"\[\]{{}}\n]){{0,1000}}
        )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_AFTER_VALUE = re.compile(rf"\s*(?:\\?[,}}]|\#|//|/\*|{_KEY})")
_ITEM = re.compile(rf"""{_COMMENT}|({_TEXT}|[^\s,"'\[\]][^,"\[\]]*)""", re.DOTALL)
# What JSON escapes, but not the commands of LaTeX that start alike.
_ESCAPE = re.compile(
    r"\\(?!boxed|fbox|frac|text|times|to\b|right|math|quad|[,;!])(?:u([0-9A-Fa-f]{4})|(.))",
    re.DOTALL,
)


class _Items(list):
    """The objects, and texts beside them, of a list in a field."""


class _Open(NamedTuple):
    """An object that is still open."""

    fields: dict  # a value that something else follows, and so is lost, is None
    start: int
    is_implied: bool = False  # it starts with a key
    is_stray: bool = False  # it stands in a value that is lost, as in an explanation

    @property
    def last_key(self) -> str:
        return next(reversed(self.fields), "")

    @property
    def last_value(self) -> dict | str | list | None:
        return next(reversed(self.fields.values()), "")

    @property
    def ends_in_explanation(self) -> bool:
        return self.last_key.casefold() in EXPLANATIONS

    def pass_over(self, token: re.Match, is_stray: bool) -> None:
        """Forget a value that something else follows; an explanation may go on so."""
        is_text = token[0][-1] in ",]"  # without a key
        is_second = is_text and type(self.last_value) in (str, list)
        if is_text and isinstance(self.last_value, _Items):
            self.last_value.append(_unescape(token[token.lastindex]))
        if (is_stray or is_second) and self.fields and not self.ends_in_explanation:
            self.fields[self.last_key] = None

    def wraps(self, inner: dict) -> bool:
        """Put an object into the last field; tell whether it may be the answer itself."""
        if isinstance(self.last_value, _Items):
            self.last_value.append(inner)
            return self.is_implied
        self.fields[self.last_key] = inner
        return self.is_implied or normalise(self.last_key) in WRAPPERS


def _with_plain_marks(text: str) -> str:
    """Return a text of equal length with the marks of JSON for other forms of them."""
    if "\uff1a" in text:  # a full-width colon
        text = text.translate(_FULL_WIDTH)
    if ">" in text:  # of Ruby's "key" => value, or of a quotation
        for mark, plain in (('" =>', '"  :'), ('"=>', '" :'), ("\n>", "\n ")):
            text = text.replace(mark, plain)
    if text[:1] == '"' and '{"' not in text:  # an object as a text
        text = text.replace('\\"', ' "')
    if '"' not in text:
        text = text.replace("&quot;", '     "').translate(_TYPOGRAPHIC_QUOTES)
    return text


def extract_flexible(text: str) -> tuple[list[Extracted], bool]:
    """Return the complete objects of a masked response, and whether one is left open.

    Fields, which are a key and its value, count wherever they stand in an object; so raw
    newlines, stray quotes or code in an explanation lose nothing but the explanation. A
    value that anything but the next field follows is lost, too: None. An explanation
    alone is no answer, and an object that only wraps another gives way to it (source:
    our own reasoning).
    """
    text = _with_plain_marks(text)
    decoded = _first_flat_object(text)
    answers: list[Extracted] = []
    opened: list[_Open] = []  # outermost first
    # One character is found faster than by a pattern.
    position = min((p for p in map(text.find, "{\"'") if p >= 0), default=0)
    while True:
        token = None
        if opened:  # outside, "# Answer: {…}" is a heading, not a comment
            position = _BETWEEN.match(text, position).end()
            token = _TOKEN_INSIDE.match(text, position)
        if not (token := token or _TOKEN.search(text, position)):
            return answers, any(text[inner.start] == "{" for inner in opened)
        if not opened and token.start() == decoded.span[0]:
            answers.append(decoded)
            position = decoded.span[1]
            continue
        is_stray = token.start() != position
        position = token.end()
        if opened:
            opened[-1].pass_over(token, is_stray)
        if token[0] == "{":
            _open_object(opened, token.start())
        elif token[0] == "}" and opened:
            _close_object(opened, position, is_stray, answers)
        elif token[0][-1] == ":":
            position = _add_field(opened, text, token)


def _first_flat_object(text: str) -> Extracted:
    """Return the first JSON object if it holds but texts, integers and lists of them.

    It is taken as decoded; floats are not, for they may have lost digits. Otherwise it
    has no fields and starts nowhere.
    """
    found = extract_published(text)
    fields = {}
    for key, value in found.fields.items() if found else ():
        items = value if isinstance(value, list) else [value]
        if not all(type(item) in (str, int) for item in items):
            return Extracted({}, (-1, -1))
        fields[key] = [*map(str, items)] if value is items else str(value)
    # JSON takes the start of LaTeX's commands for escapes.
    fields = {} if "\\" in repr(fields) else _committed_fields(fields)
    return Extracted(fields, found.span if fields else (-1, -1))


def _open_object(opened: list[_Open], start: int) -> None:
    """Note a new object, within the last field of the innermost if that has no value."""
    last = opened[-1].last_value if opened else ""
    if type(last) in (str, list) or len(opened) > MAX_NESTING:
        opened.clear()
    opened.append(_Open({}, start, is_stray=last is None))


def _close_object(
    opened: list[_Open], end: int, is_stray: bool, answers: list[Extracted]
) -> None:
    """Put the innermost object where it belongs: if it is an answer, to these."""
    closed = opened.pop()
    is_lost = closed.last_value is None and not closed.ends_in_explanation
    if is_lost or (closed.is_implied and is_stray):
        opened.clear()
        return
    if opened and not closed.is_stray and not opened[-1].wraps(closed.fields):
        return
    if fields := _committed_fields(closed.fields):
        while answers and answers[-1].span[0] > closed.start:  # which is within it
            answers.pop()
        answers.append(Extracted(fields, (closed.start, end)))


def _add_field(opened: list[_Open], text: str, key: re.Match) -> int:
    """Put the field of a key into the innermost object; return where it ends."""
    value, end = None, key.end()
    if (found := _VALUE.match(text, end)) and found["other"]:
        value, end = _Items() if found["other"] == "[" else {}, found.end() - 1
    elif found and _AFTER_VALUE.match(text, found.end()):
        value, end = _as_text(found[found.lastgroup]), found.end()
    if not opened:
        if not value:  # in prose, '"answer": as I said' is no field
            return key.end()
        opened.append(_Open({}, key.start(), is_implied=True))
    fields, name = opened[-1].fields, _unescape(key[key.lastindex]).strip()
    fields.pop(name, None)  # so that it is the last one
    fields[name] = value
    return end


def _as_text(value: str) -> str | list[str]:
    """Return the text, or list of texts, that a value as written stands for."""
    if value[0] == "[":
        return [_as_text(item[1]) for item in _ITEM.finditer(value) if item[1]]
    return _unescape(value[1:-1]) if value[0] in "\"'" else value.strip(" \t\r\n,")


def _unescape(text: str) -> str:
    """Return what the inside of a quoted JSON or Python string stands for."""
    spaces = {"n": "\n", "t": "\t", "r": "\r"}
    return _ESCAPE.sub(
        lambda m: chr(int(m[1], 16)) if m[1] else spaces.get(m[2], m[2]), text
    )


def _committed_fields(fields: dict) -> dict:
    """Return an object, or the one that it wraps, without comments; {} for none."""
    answer = {key: v for key, v in fields.items() if key.casefold() != "explanation"}
    inside = [key for key in answer if normalise(key) in WRAPPERS] or list(answer)
    inner = answer[inside[0]] if len(inside) == 1 else None
    if isinstance(inner, _Items) and len(inner) == 1:
        (inner,) = inner
    if isinstance(inner, str) and inner.startswith("{"):  # JSON in a text
        found, _ = extract_flexible(mask_reasoning(inner))
        inner = found[-1].fields if found else None
    if not isinstance(inner, dict) or inner.keys() in PARTS:
        return answer
    # What stands beside it under the same key must say the same: both are read.
    beside = {
        f"{key} ": answer[key] for key in inner if answer.get(key, inner) != inner
    }
    return _committed_fields(inner) | beside


# ------------------------------------------------------------------------- readers

_PLAIN = re.compile(r"[+-]?[A-Za-z0-9](?:[A-Za-z0-9 :/_-]{0,200}[A-Za-z0-9])?")
_SAME_CHARACTERS = str.maketrans(
    "\u2010\u2011\u2012\u2013\u2212\u2018\u2019\u201c\u201d", "-----''\"\"", "\ufe0f"
) | {ord("\u2014"): " - "}
# NFKC would make digits of what are none: 10² is not 102, 3½ not 31/2.
_NO_DIGIT = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2150-\u2189]")
# Ticks, stars, emoji, invisible characters and citation marks; crosses stay.
_SYMBOL = re.compile(
    "[\u2611\u2705\u2713\u2714\u2728\u2b50\U0001f300-\U0001faff\ufe0f\u20e3"
    "\u200b-\u200f\u2060\ufeff]|\u3010[^\u3011]*\u3011"
)
_MARKUP = re.compile(
    r"""
    \\(?:boxed|fbox|mbox|(?:text|math)(?:bf|it|rm|sf|tt)?)(?![a-z])|[{}$`]
    |<\|[^|<>]{1,40}\|>|</s>|<(?:eos|end_of_turn)>               # ends of a turn
    |</?(?:b|i|em|strong|u|code|span|p|answer)>|<br\s?/?>
    |\A<(?=\w{0,9}[0-9]>\Z)|(?<=[0-9])>\Z                        # as prompts have it
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\\(?:[,;:! ]|q?quad\b)|(?<=[0-9}])~|_")
_EMPHASIS = re.compile(r"(\*{1,3})([^*]+)\1")


def normalise(text: str) -> str:
    """Return `text` in lower case without noise: markup, ticks, outer punctuation.

    Full-width and other forms of a character are that character. Too long a text is "".
    """
    if _PLAIN.fullmatch(text):
        return " ".join(text.lower().replace("_", " ").split())
    if len(text) > MAX_VALUE_LENGTH:
        return ""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _NO_DIGIT.sub("?", text))
        text = _SYMBOL.sub("", text.translate(_SAME_CHARACTERS))
    text = _EMPHASIS.sub(r"\2", _MARKUP.sub("", _SPACE.sub(" ", text)))
    text = " ".join(text.replace("\\", "").replace("(s)", "s").split())
    # A full stop ends a sentence; before a digit it starts a number.
    return text.lstrip(" ,;\"'([").rstrip(" .,;!\"')]").casefold()


def _by_abbreviation(names: list[str]) -> dict[str, int]:
    """Return the number of each name, whole or cut to three letters or more."""
    places = enumerate(names)
    return {name[:end]: n for n, name in places for end in range(3, len(name) + 1)}


_MONTH, _WEEKDAY = _by_abbreviation(MONTHS), _by_abbreviation(WEEKDAYS)
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?P<mark>[, '])[0-9]{3}(?:(?P=mark)[0-9]{3})*|[0-9]+)"
    r"(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?"
)
_ERA = r"(a\.?d|c\.?e|b\.?c(?:\.?e)?)\.?"
_YEAR = re.compile(
    rf"(?:year:? )?(?:{_ERA} ?)?([0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.0+)?(?: ?\(?{_ERA})?"
)
_DAY_OFFSET = re.compile(r"([+-]?[0-9]{1,6})(?: days?(?: later| after)?)?")
_TIME = re.compile(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?)?"
    r"(?: ?(?P<half>[ap])\.?m)?(?: ?\(?(?:24 ?-?)?h(?:ou)?rs?)?"
)
# The hour by what a 12-hour clock says with it; 17:00 PM is redundant, 0:00 PM wrong.
_HOURS = {
    None: dict(zip(range(24), range(24))),
    "a": {12: 0, **dict(zip(range(12), range(12)))},
    "p": {hour: hour % 12 + 12 for hour in range(1, 24)},
}
_DATE = re.compile(r"[a-z0-9][a-z0-9 ,./()-]*")
_ENTITY = re.compile(r"\be[0-9]+\b")
_UNANSWERABLE = re.compile(
    r"(?:[a-z ,']{1,200}, so )?"
    r"(?:(?:the|this|h(?:er|is)|its) (?!not )[a-z]+ |(?:question|problem|answer|date|day|it|this) )?(?:is )?"
    r"(?:(?:un|not )answerable|indeterminate|undetermined|not determinable"
    r"|(?:cannot|can't|can not|could not) be (?:answered|determined|calculated|known)"
    r"|impossible to (?:answer|determine|calculate|compute|know|tell)"
    r"|(?:there is )?(?:not enough|insufficient) information(?: (?:provided|given))?)"
    r"(?: (?:with|from|to|without) (?!.*\b(?:or|but|unless|so)\b)[a-z ']{1,200})?"
)


def read_number(text: str, field: _Field) -> Decimal | None:
    """Return the number; what follows it may be what the prompt counts; 6.5 is not 6."""
    first, _, others = text.partition(" ")
    if first in NUMBER_WORDS:
        text = f"{NUMBER_WORDS.index(first)} {others}"
    digits = _NUMBER.match(text)
    if not digits or not field.counts(text[digits.end() :].strip(" ()").split()):
        return None
    return Decimal(digits[0].translate({44: None, 32: None, 39: None}))


def read_weekday(text: str, field: _Field) -> int | None:
    """Return the day of the week, Monday being 0."""
    return _WEEKDAY.get(text)


def read_year(text: str, field: _Field) -> tuple[str, int] | None:
    """Return era and year; without an era it is AD, with a sign or two eras none."""
    match = _YEAR.fullmatch(text)
    if not match or (match[1] and match[3]):
        return None
    era = (match[1] or match[3] or "ad").replace(".", "")
    return ERAS[era], int(match[2].replace(",", ""))


def read_date(text: str, field: _Field) -> date | None:
    """Return the date, its month by name or number; what reads two ways is none."""
    if not _DATE.fullmatch(text):
        return None
    words = set(re.findall(r"[a-z]+", text)) - {"st", "nd", "rd", "th", "of", "the"}
    weekdays = set(map(_WEEKDAY.get, words & _WEEKDAY.keys()))
    months = [_MONTH[word] + 1 for word in words & _MONTH.keys()]
    numbers = re.findall(r"[0-9]+", text)
    years = [int(number) for number in numbers if len(number) == 4]
    others = [int(number) for number in numbers if len(number) <= 2]
    counts = (len(numbers), len(years), len(months), len(others))
    is_date = counts in ((2, 1, 1, 1), (3, 1, 0, 2))
    if not is_date or words - _WEEKDAY.keys() - _MONTH.keys():
        return None
    if months or len(numbers[0]) == 4:
        dates = _valid_dates((*years, *months, *others))
    else:
        by_order = {"mdy": (*years, *others), "dmy": (*years, *others[::-1])}
        separator = text[text.index(numbers[0]) + len(numbers[0])]
        likely = field.day_orders.get(separator, field.day_orders[""])
        dates = _valid_dates(*map(by_order.get, likely))
        dates = dates or _valid_dates(*by_order.values())
    dates = {day for day in dates if weekdays <= {day.weekday()}}
    return dates.pop() if len(dates) == 1 else None


def _valid_dates(*parts: tuple[int, int, int]) -> set[date]:
    """Return those dates, given as year, month and day, that there are."""
    dates = set()
    for year_month_day in parts:
        with contextlib.suppress(ValueError):
            dates.add(date(*year_month_day))
    return dates


def read_time(text: str, field: _Field) -> tuple[int, int, int] | None:
    """Return hour, minute and second (0 if unsaid) of a 12- or 24-hour clock."""
    match = _TIME.fullmatch(text)
    if not match or not (match["minute"] or match["half"]):
        return None
    hour = _HOURS[match["half"]].get(int(match["hour"]), 24)
    minute, second = int(match["minute"] or 0), int(match["second"] or 0)
    return (hour, minute, second) if hour < 24 and max(minute, second) < 60 else None


def read_day_offset(text: str, field: _Field) -> int | None:
    """Return how many days after the start day: 0 for `same_day`, `+0` and `0`."""
    if (named := text.replace("-", " ").removeprefix("the ")) in DAY_OFFSETS:
        return DAY_OFFSETS[named]
    match = _DAY_OFFSET.fullmatch(text)
    return int(match[1]) if match else None


def read_unanswerable(text: str, field: _Field) -> str | None:
    """Return "unanswerable" for any wording of it."""
    return "unanswerable" if _UNANSWERABLE.fullmatch(text) else None


def read_text(text: str, field: _Field) -> str | None:
    """Return a text without a comment; of a sentence the one entity that it names."""
    if " " in text:
        entity = field.without_fillers(text, field.entities)
        if field.is_entity(entity):
            return entity
    return None if _COMMENT_START.search(text) else text


# The first that reads a reference reads the answers, too.
READERS = (read_number, read_weekday, read_year, read_date, read_time)
READERS += (read_unanswerable, read_text)
_FACTUAL_READERS = {read_number, read_weekday, read_year, read_date}
DAY_READERS = (read_day_offset, read_text)  # of the key `day`
ITEM_READERS = (read_weekday, read_text)  # of what is in lists

# What comes after a value when a comment on it follows.
_COMMENT_START = re.compile(
    r"(?:\s*[(\[]|\s-+\s|[.:;!]\s|,?\s(?=(?:which|where|because|since|as|due|from|not"
    r"|rather than|instead of)\s))"
    r"(?P<reason>(?=(?:because|since|as|due|given|counting|i\.e\.)\s))?"
)
_REASON = re.compile(r"[,;]? (?:because|since) |[,;] (?:as|due to|given|counting) ")
_REJECTION = re.compile(r"(?:not|rather than|instead of) ([^,;()]+)")
_HEDGE = re.compile(
    r"no\Z|(?:not|if|but|and|to)\b|.*(?:/|\?)|.*\b(?:or|either|maybe|perhaps|possibly|too"
    r"|probably|alternatively|otherwise|unless|depending|also|instead|rather|as well"
    r"|wrong|incorrect|false|impossible|infeasible|invalid|off by|estimated?|guess|draft|tentative)\b"
)
# What denies a value, but may well say why a question is unanswerable.
_DENIAL = re.compile(
    r"\b(?:not|never|cannot|[a-z]+n't|un(?:likely|sure|certain|clear|available)|ineligible"
    r"|(?:exclud|reject|discard|eliminat|dismiss|disqualif|remov|omit|dropp|fail|violat"
    r"|ignor|withdr|revers)[a-z]*|(?:ruled|left|crossed|struck) ?out|struck)\b"
)
# What makes of a comment another value: digits and the words of values; beside a text
# that is no name, a single word or two, or an entity.
_RIVAL = re.compile(
    rf"[0-9]|[+-](?= ?[0-9])|\b(?:{'|'.join(sorted({*RIVAL_WORDS, *_MONTH, *_WEEKDAY}))})\b"
)
_RIVAL_TEXT = re.compile(rf"{_ENTITY.pattern}|\A[a-z'-]+(?: [a-z'-]+)?\Z")
_CLOCKED = r"[0-9]{1,2}(?::[0-9]{2}){1,2}(?:\ ?[ap]\.?m\b)?|[0-9]{1,2}\ ?[ap]\.?m\b"
_CALENDAR_YEAR = r"(?:1[5-9]|20)[0-9]{2}(?![0-9])"
# Facts that a comment may state beside a number, a date or a weekday. What comes to the
# number itself says it again: a sum, or the time between two years.
_FACT = re.compile(
    rf"""
    (?<![\w.:+-])
    (?: [er][0-9]+ | [0-9]+(?:st|nd|rd|th)
      | (?:[0-9]{{1,2}}\ ?-\ ?)? (?:{_CLOCKED}) (?:\ ?-\ ?(?:{_CLOCKED}|[0-9]{{1,2}}))?
      | [mdyhs]+(?:[-/:][mdyhs]+)+
      | (?:from|until|till|since|after|before|(?<=[a-z0-9]\ )in)\ (?:
            [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} | [0-9]{{1,2}}[-/][0-9]{{1,2}}[-/][0-9]{{4}}
          | {_CALENDAR_YEAR}(?:\ -\ {_CALENDAR_YEAR})?
          | [0-9]{{1,4}}\ (?:bce?|ad|ce) | [a-z]{{3,6}}day )
      | [0-9]+\ (?P<unit>[a-z]+)
      | (?P<sum>[0-9]+(?:\ ?[-+*x\u00d7]\ ?[0-9]+)*)
    )
    (?![\w.:])
    """,
    re.VERBOSE,
)


# What it comes to is the answer of "16 - 4 = 12", "Tuesday + 10 days = Friday".
_EQUATION = re.compile(
    r"(?=[^=]*[+*\u00d7]|[^=]*[0-9a-z] ?- ?[0-9])(?![^=]*\b(?:or|not)\b)[\w ,.:()*+/\u00d7-]{1,200}"
    r"= ?([^=]+)"
)


def read_value(text: str, field: _Field) -> object:
    """Return the value of a normalised text by the first reader that has one, or None.

    A comment that hedges, denies or has a value of its own spoils it, unless it gives a
    reason or says the same.
    """
    if worked := _EQUATION.fullmatch(text):
        text = worked[1]
    for read in field.readers:
        if (value := _read_bare(text, read, field)) is not None:
            return value
        for start in islice(_COMMENT_START.finditer(text), 5):
            head = text[: start.start()].rstrip(" ,")
            if not head or (value := _read_bare(head, read, field)) is None:
                continue
            comment = text[start.end() :].strip(" ()[],.")
            if start["reason"] is None and _is_spoilt(value, comment, read, field):
                return value if read(comment, field) == value else None
            return value
    return None


def _read_bare(text: str, read: Callable, field: _Field) -> object:
    """Return what a reader reads in a text, or else without the fillers around it."""
    value = read(text, field)
    if value is not None or read is read_text:  # which does without them itself
        return value
    names = () if read in _FACTUAL_READERS else field.entities  # of time zones
    return read(field.without_fillers(text, names), field)


def _is_spoilt(value: object, comment: str, read: Callable, field: _Field) -> bool:
    """Tell whether a comment, up to the reason that it gives, takes back a value."""
    comment = _REASON.split(comment, maxsplit=1)[0]
    if rejected := _REJECTION.match(comment):
        other = read(rejected[1].strip(), field)
        is_value = not isinstance(other, str) or field.is_entity(other)
        if other not in (None, value) and is_value:
            comment = comment[rejected.end() :].strip(" ()[],.;")
    if read in _FACTUAL_READERS:
        comment = comment.replace(" to ", " - ").replace(" minus ", " - ")
        comment = _FACT.sub(partial(_without_fact, value=value, field=field), comment)
    if _HEDGE.match(comment):
        return True
    if value == "unanswerable":  # for which a denial is a reason
        return bool(_RIVAL_TEXT.search(comment) or re.match("[0-9]", comment))
    return bool(_DENIAL.search(comment)) or _has_rival(value, comment, field)


def _has_rival(value: object, comment: str, field: _Field) -> bool:
    """Tell whether a comment without facts has another value of the kind."""
    if isinstance(value, str) and field.is_entity(value):
        others = {*re.findall(r"[\w'-]+", comment)} - {value}
        return any(map(field.is_entity, others)) or not others.isdisjoint(_SIDES)
    if isinstance(value, str):
        return bool(_RIVAL_TEXT.search(comment))
    rivals = set(_RIVAL.findall(comment)).difference(UNITS.get(field.unit, ()))
    if isinstance(value, date):
        rivals -= {name for name, day in _WEEKDAY.items() if day == value.weekday()}
    if read_weekday in field.readers:
        rivals &= _WEEKDAY.keys() | {"+", "-", *_SIDES}
    return bool(rivals)


def _without_fact(fact: re.Match, value: object, field: _Field) -> str:
    """Return nothing for a fact in a comment; what may be another value stays."""
    number = value[1] if isinstance(value, tuple) else value
    if fact["unit"]:
        unit = UNIT_OF_NAME.get(fact["unit"], field.unit)
        return fact[0] if unit == field.unit else ""
    if fact["sum"]:
        terms = re.findall(r"[+-]?[^+-]+", fact["sum"].replace(" ", ""))
        products = (map(Decimal, re.split("[*x\u00d7]", term)) for term in terms)
        return "" if abs(sum(map(prod, products))) == number else fact[0]
    return ""


# ----------------------------------------------------------------------- matching

_ASKED_UNIT = re.compile(
    r"(?:<num_|how many |\bin )(years|months|weeks|days|hours|minutes|seconds)\b"
)
_NUMERIC_DATE = re.compile(
    r"\b(mm|dd|[0-9]{1,2})([-/.])(mm|dd|[0-9]{1,2})\2(?:yyyy|[0-9]{4})\b"
)
_BULLET = re.compile(r"(?m)^[ \t]{0,9}(?:[-*\u2022]|[0-9]{1,2}[.)])[ \t]+")
_LIST_SEPARATOR = re.compile(
    r"[,;&|<>\n\u2022\u2192]|-{1,9}>|\\(?:right|long)\w*arrow|\\to\b|\band\b|\bthen\b"
)
# What stands for a value in a form.
_FORM = re.compile(r"(?:<[^<>0-9]*>|\b(?:yyyy|mm|dd|hh|ss)\b|[ :/.,-])*")


def _only_value(item: object) -> str | None:
    """Return a text, or what an object with parts of one value says; None for others."""
    if isinstance(item, dict) and (len(item) == 1 or item.keys() in PARTS):
        values = [*item.values()]
        return " ".join(values) if all(isinstance(x, str) for x in values) else None
    return item if isinstance(item, str) else None


def _items(given: object) -> list[str] | None:
    """Return the texts of a list, or of a text that is one; None for others."""
    listed = given if isinstance(given, list) else [given]
    items = list(map(_only_value, listed))
    keys = {tuple(item) for item in listed if isinstance(item, dict)}
    if None in items or len(keys) > 1:  # {"name": "Joe"}, {"rejected": "Kyle"}
        return None
    items = [_BULLET.sub("", item) for item in items]
    is_text = isinstance(given, str) or (
        len(items) == 1 and re.search("[,;]", items[0])
    )
    return _LIST_SEPARATOR.split(items[0]) if is_text else items


class _Field:
    """A field of a reference, and what its prompt asks for, read when first wanted."""

    def __init__(self, key: str, value: object, question: str):
        self.name, self.names, self.other_names = _names(key)
        self.question, self.prompt, self.text = question, question.lower(), ""
        if isinstance(value, list):
            self.readers = ITEM_READERS
            self.value = self._read_list(value)
            return
        self.text = normalise(str(value))
        for read in DAY_READERS if key == "day" else READERS:
            if (found := read(self.text, self)) is not None:
                break
        self.readers, self.value = (read,), self.text if found is None else found

    def read(self, given: object) -> object:
        """Return the value of an answer's field, read as this one is; None for none."""
        if self.readers is ITEM_READERS:
            return self._read_list(given)
        if isinstance(given, list) and len(given) == 1:
            (given,) = given
        if (given := _only_value(given)) is None:
            return None
        text = normalise(given)
        return self.value if text == self.text else read_value(text, self)

    def _read_list(self, given: object) -> tuple | None:
        """Return the weekdays or texts of a list, sorted where any order will do."""
        items = _items(given)
        if items is None:
            return None
        values = []
        for item in items:
            text = normalise(item)
            # What is nothing but marks, or too long, stays as it is.
            value = read_value(text, self) if text else item.strip(" []")
            if value != "":
                values.append(text if value is None else value)
        if len(values) == 1 and values[0] in EMPTY_LISTS:
            return ()
        is_unordered = "unordered list" in self.names
        return tuple(sorted(values, key=str) if is_unordered else values)

    def is_sure(self, value: object) -> bool:
        """Tell whether a value is of a kind, or a name that the prompt has."""
        items = value if self.readers is ITEM_READERS else [value]
        texts = [item for item in items if isinstance(item, str)]
        return all(self.is_entity(text) or text == "unanswerable" for text in texts)

    def is_form(self, given: object) -> bool:
        """Tell whether a value is what the prompt's form has in its place, or blank."""
        items = given if isinstance(given, list) else [given]
        if not items or not all(isinstance(item, str) for item in items):
            return False
        return all(
            text in self._forms or _FORM.fullmatch(text)
            for text in map(normalise, items)
        )

    @cached_property
    def _forms(self) -> set[str]:
        """The texts in the first object of the prompt, which shows the form."""
        forms, _ = extract_flexible(self.prompt)
        values = forms[0].fields.values() if forms else ()
        lists = (value if isinstance(value, list) else [value] for value in values)
        return {normalise(x) for items in lists for x in items if isinstance(x, str)}

    @cached_property
    def unit(self) -> str | None:
        """The unit that the key, "<num_days>" or "how many years" asks for."""
        asked = _ASKED_UNIT.search(self.prompt) if self.name == "answer" else None
        return UNIT_OF_NAME.get(asked[1] if asked else self.name)

    def counts(self, words: list[str]) -> bool:
        """Tell whether words after a number are its unit or say nothing about it."""
        eras = () if self.text.endswith(("ad", "ce")) else ("ad", "ce")
        others = set(words).difference(UNITS.get(self.unit, eras))
        return not others or others <= self.fillers

    def is_entity(self, text: str) -> bool:
        """Tell whether a text is E and a number, or a name in the prompt."""
        return bool(_ENTITY.fullmatch(text)) or text in self.entities

    @cached_property
    def entities(self) -> set[str]:
        """The names in the prompt, among them words that start a sentence."""
        names = re.findall(r"\b[A-Z][\w'-]*\b(?! E[0-9])", self.question)
        return {name.lower() for name in names} - NO_FILLERS - FILLERS - _MONTH.keys()

    @cached_property
    def fillers(self) -> set[str]:
        """The words that say nothing about a value, in this prompt."""
        words = re.findall("[a-z]+(?:-[a-z]+)*", self.prompt)
        # "Compute M" where M months are asked; a year where no duration is.
        letters = re.findall(rf"\b([a-z]) {self.unit}s?\b", self.prompt)
        letters += [] if self.unit else ["day", "year"]
        return FILLERS.union(words).difference(NO_FILLERS).union(letters, "a")

    def without_fillers(self, text: str, names: Collection[str] = ()) -> str:
        """Return a text without what says nothing about a value at its ends; with names."""
        words = text.split()
        bare = [word.strip(":=,") for word in words]
        is_kept = (
            word and (word in names or word not in self.fillers) for word in bare
        )
        kept = [place for place, is_so in enumerate(is_kept) if is_so]
        return " ".join(words[kept[0] : kept[-1] + 1]) if kept else text

    @cached_property
    def day_orders(self) -> dict[str, set[str]]:
        """The orders of day and month that the prompt asks for with a separator.

        "" has those that it asks for or shows with any, or both where it shows none.
        """
        sure, shown = {}, set()
        for first, separator, second in _NUMERIC_DATE.findall(self.prompt):
            for order, month, day in (("mdy", first, second), ("dmy", second, first)):
                if month == "mm":
                    sure.setdefault(separator, {order})
                if month == "mm" or (day.isdigit() and int(day) > 12):
                    shown.add(order)
        return {"": shown or {"mdy", "dmy"}, **sure}


class _Reference(NamedTuple):
    """A label, as each rule compares it."""

    published: dict | str
    fields: dict[str, _Field]
    values: dict  # of the fields
    unit: str | None
    quantity: float | None  # what they are in this unit; None: errors have no size


@lru_cache(maxsize=4096)
def _reference(label: str, question: str, is_semantic: bool) -> _Reference:
    """Return what a label says; names of entities in semantic ones have no unit."""
    reference = read_label(label, is_semantic)
    fields = {key: _Field(key, value, question) for key, value in reference.items()}
    values = {key: field.value for key, field in fields.items()}
    unit = None if is_semantic else unit_of(fields)
    number = quantity(values, fields, unit)
    published = label if is_semantic else reference
    return _Reference(published, fields, values, unit, number)


@lru_cache(maxsize=1024)
def _names(key: str) -> tuple[str, set[str], set[str]]:
    """Return a key's name, its names in a prompt, and those of the same unit."""
    name = normalise(key)
    others = UNITS.get(UNIT_OF_NAME.get(name), ANSWER_KEYS)
    return name, {name, normalise(PROMPTED_KEYS.get(key, key))}, set(others)


def commit(answers: list[Extracted], fields: dict[str, _Field]) -> Extracted | None:
    """Return the last object with a key of a reference, or else the last one.

    Keys alone count. What repeats the form that the prompt asks for is no answer.
    """
    if len(answers) < 2:
        return answers[0] if answers else None
    filled, asked = [], []
    for answer in answers:
        given = [
            field.is_form(value)
            for key, value in answer.fields.items()
            for field in fields.values()
            if _names(key)[0] in field.names | field.other_names
        ]
        if not given or not all(given):
            (asked if given else filled).append(answer)
    return (asked or filled or answers)[-1]


# A sure cue outside of JSON: a box, or "Final answer:" at the start of a line.
_CUE = re.compile(
    r"\\boxed\s?\{((?:[^{}]|\{[^{}]{0,99}\}){1,200})\}"
    r"|^[\s#>*_-]{0,9}(?:final |correct(?:ed)? )?answer[*_ ]{0,4}[:\n][\s*_:]{0,9}"
    r"([^\n]{1,200}?)[*_ ]{0,9}$",
    re.IGNORECASE | re.MULTILINE,
)


def find_later(text: str, answer: Extracted, fields: dict) -> Extracted | None:
    """Return what the last sure cue after an object says where it is another value.

    It must read as a value for sure: a sentence without one is none.
    """
    cues = [*_CUE.finditer(text, answer.span[1])]
    if not cues or len(fields) > 1:
        return None
    (key, field), cue = *fields.items(), cues[-1]
    value = field.read(cue[cue.lastindex])
    if value in (None, field.value) or not field.is_sure(value):
        return None
    return Extracted({key: cue[cue.lastindex]}, cue.span(cue.lastindex))


def read_flexible(
    text: str, reference: _Reference
) -> tuple[Extracted | None, dict | None, bool]:
    """Return what a masked response commits to, as read, and if an object is left open."""
    answers, is_open = extract_flexible(text)
    answer = commit(answers, reference.fields)
    value = match_flexible(answer.fields, reference.fields) if answer else None
    if value == reference.values:  # which a later cue may take back, but never gives
        later = find_later(text, answer, reference.fields)
        if later:
            answer, value = later, match_flexible(later.fields, reference.fields)
    return answer, value, is_open


def match_flexible(answer: dict, fields: dict[str, _Field]) -> dict | None:
    """Return the values of an object's fields by the keys of a reference, or None.

    A field stands under the reference's key, the one that the prompt asks for instead,
    or another name of its unit, which must agree, as keys that are the same in lower
    case; or, where one value is asked and one is given, under any but another unit. More
    keys do no harm. None where a value is missing or cannot be read.
    """
    given: dict[str, list] = {}
    for key, value in answer.items():
        given.setdefault(_names(key)[0], []).append(value)
    values = {}
    for key, field in fields.items():
        names = (field.names | field.other_names) & given.keys()
        only = given.keys() - EXPLANATIONS
        if not names and len(fields) == len(only) == 1:
            names = {n for n in only if UNIT_OF_NAME.get(n) in (None, field.unit)}
            names |= only & field.fillers
        read = [field.read(value) for name in names for value in given[name]]
        if not read or None in read or any(value != read[0] for value in read):
            return None
        values[key] = read[0]
    return values


# ------------------------------------------------------------------- graded errors


def reference_quantity(doc: dict) -> tuple[str | None, float | None]:
    """Return the unit of a row of ToT arithmetic and the number that its label is in it.

    None, None where the label says no quantity; ValueError where it cannot be read.
    """
    reference = _reference(doc["label"], doc["question"], is_semantic=False)
    return reference.unit, reference.quantity


def unit_of(fields: dict[str, _Field]) -> str | None:
    """Return the unit in which the values of a reference are one number, or None.

    Durations of several fields are in seconds, as is a day with a time, counted from the
    midnight that starts the first day (source: arXiv 2509.16720, and our own reasoning).
    """
    readers = [field.readers[0] for field in fields.values()]
    if readers == [read_day_offset, read_time]:
        return "second"
    if readers in ([read_year], [read_date]):
        return "date" if readers == [read_date] else "calendar year"
    if set(readers) != {read_number}:
        return None
    if len(fields) > 1:
        is_duration = all(field.unit in SECONDS for field in fields.values())
        return "second" if is_duration else None
    (field,) = fields.values()
    return field.unit or ("calendar year" if '"yyyy"' in field.prompt else "count")


def quantity(
    values: dict | None, fields: dict[str, _Field], unit: str | None
) -> float | None:
    """Return the number, in a unit, that values of fields say together, or None."""
    if values is None or unit is None:
        return None
    if len(values) > 1:
        number = sum(map(_seconds, values.values(), fields.values()))
    else:
        (value,) = values.values()
        if isinstance(value, tuple):  # the year before AD 1 is 1 BC
            number = value[1] if value[0] == "AD" else 1 - value[1]
        else:
            number = value.toordinal() if isinstance(value, date) else float(value)
    return float(number) if abs(number) < MAX_QUANTITY else None


def _seconds(value: Decimal | int | tuple[int, int, int], field: _Field) -> float:
    """Return the seconds that a part of a duration, or a time of the day, stands for."""
    if isinstance(value, tuple):
        return 3600 * value[0] + 60 * value[1] + value[2]
    return SECONDS[field.unit] * float(value)


def smape(given: float | None, expected: float) -> float:
    """Return the symmetric percentage error; 100, the largest, for no readable answer."""
    if given == expected:
        return 0.0
    if given is None:
        return 100.0
    return 100 * abs(given - expected) / (abs(given) + abs(expected))


def scaled_error(given: float | None, expected: float, scale: Scale) -> float:
    """Return the error in deviations of the golds around the expected one.

    1 is what guessing the centre costs on average, and what no readable answer costs.
    """
    if given is None:
        return 1.0
    is_inside = scale.lowest <= expected <= scale.highest
    return abs(given - expected) / (scale.inside if is_inside else scale.outside)


def graded_errors(values: dict | None, reference: _Reference) -> dict[str, float]:
    """Return the errors of the values read in an answer, as far as each applies."""
    unit, expected, errors = reference.unit, reference.quantity, {}
    if expected is None:
        return errors
    is_right = values == reference.values
    given = expected if is_right else quantity(values, reference.fields, unit)
    if unit not in POINTS_IN_TIME:
        errors["smape"] = smape(given, expected)
    if unit in SCALES:
        errors["mase"] = scaled_error(given, expected, SCALES[unit])
    return errors


# --------------------------------------------------------- what the YAML files name


def explain_arithmetic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: the dict is the label's (metric card)."""
    return _explain(doc, response, is_semantic=False)


def explain_semantic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: `answer` is the label (metric card)."""
    return _explain(doc, response, is_semantic=True)


def process_results_arithmetic(doc: dict, results: list[str]) -> dict[str, float]:
    """Score one response; ValueError where a filter leaves anything but one text."""
    return explain_arithmetic(doc, _only_response(results)).scores


def process_results_semantic(doc: dict, results: list[str]) -> dict[str, float]:
    """Score one response; ValueError where a filter leaves anything but one text."""
    return explain_semantic(doc, _only_response(results)).scores


def _only_response(results: list) -> str:
    if not isinstance(results[0], str):
        raise ValueError(
            f"the response is a {type(results[0]).__name__}, not a string; use a filter"
            " that leaves one response, such as take_first"
        )
    return results[0]


def _explain(doc: dict, response: str, is_semantic: bool) -> Verdict:
    """Return the verdict on a response."""
    reference = _reference(doc["label"], doc["question"], is_semantic)
    text = mask_prompt(mask_reasoning(response), doc["question"])
    found = extract_published(response)
    published = found.fields if found else None
    if found and is_semantic and (published := published.get("answer")) is not None:
        published = str(published)
    answer, value, is_open = read_flexible(text, reference)
    is_exact, is_right = published == reference.published, value == reference.values
    given = (response[slice(*answer.span)], answer.span) if answer else (None, None)
    end = len(response.rstrip())
    is_cut = is_open or text[end - 1 : end] != response[end - 1 : end]  # or masked
    reasons = {
        "right": is_exact and is_right,
        "flexible_only": is_right,
        "superseded": is_exact and given[1] != found.span,
        "unreadable": answer is not None and value is None,
        "other_value": answer is not None or published is not None,
        "cut_off": is_cut,
        "no_answer": True,
    }
    verdicts = (is_exact, is_right, published is not None)
    scores = dict(zip(("acc", "acc_flexible", "extracted"), map(float, verdicts)))
    scores |= graded_errors(value, reference)
    shown = (None, None) if published is None else (str(published), found.span)
    reason = next(reason for reason, is_so in reasons.items() if is_so)
    return Verdict(scores, reason, *shown, *given, value, reference.values)


# ---------------------------------------------------------------------- documents


def read_label(label: str, is_semantic: bool) -> dict:
    """Return the fields of a label.

    Arithmetic ones are a dict as JSON or as a Python literal, semantic ones the text of
    the one field `answer`, a timeline with commas. ValueError says why one cannot be
    scored: values are texts, finite numbers, or lists of these; none but a list is empty.
    """
    if len(label) > MAX_LABEL_LENGTH:
        raise ValueError(f"is longer than {MAX_LABEL_LENGTH:,} characters")
    if is_semantic:
        reference = {"answer": label.split(",") if "," in label else label}
    else:
        reference = _parse_dict(label)
    for key, value in reference.items():
        if not isinstance(key, str) or normalise(key) in ("", "explanation"):
            raise ValueError("has a key that names no answer")
        _check_values(value if isinstance(value, list) else [value])
    if len({normalise(key) for key in reference}) < len(reference):
        raise ValueError("has two keys that differ in case or punctuation alone")
    return reference


def _check_values(values: list) -> None:
    """Raise ValueError for a value that no answer, or an empty one, would equal."""
    if any(isinstance(x, str) and normalise(x) in ("", "null", "none") for x in values):
        raise ValueError("has a value that is empty or too long")
    numbers = [value for value in values if not isinstance(value, str)]
    if not {type(number) for number in numbers} <= {int, float}:
        raise ValueError("has a value that is not a string, a number or a list of them")
    if not all(abs(number) < 10**15 for number in numbers):
        raise ValueError("has a number that is not finite or over 15 digits long")


def _parse_dict(label: str) -> dict:
    """Return the dict that a text is as JSON or as a Python literal."""
    # Without other quotes and escapes, a literal is JSON but for its quotes, which is fast.
    quoted = label if '"' in label or "\\" in label else label.replace("'", '"')
    try:
        value = json.loads(quoted)
    except (ValueError, RecursionError):
        try:
            value = ast.literal_eval(label)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("is neither JSON nor a Python literal") from None
    if not isinstance(value, dict) or not value:
        raise ValueError("is not a dict with at least one field")
    return value


# The documents of each dataset, since the harness asks four times a task.
_made: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def process_docs_arithmetic(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents; ValueError names file, row and column of a bad cell."""
    return _documents(dataset, ARITHMETIC_COLUMNS, is_separate=False)


def process_docs_semantic(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of rows of ToT semantic, each prompt with its question."""
    return _documents(dataset, SEMANTIC_COLUMNS, is_separate=False)


def process_docs_arithmetic_separate(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with `instruction` and `question_wo_instruct`, too."""
    return _documents(dataset, ARITHMETIC_COLUMNS, is_separate=True)


def process_docs_semantic_separate(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with `instruction` and `question_wo_instruct`, too."""
    return _documents(dataset, SEMANTIC_COLUMNS, is_separate=True)


def doc_to_text_arithmetic(doc: dict) -> str:
    """Return the prompt of a document of ToT arithmetic."""
    return doc["question"].rstrip()


def doc_to_text_semantic(doc: dict) -> str:
    """Return the prompt of a document of ToT semantic."""
    return doc["prompt"].rstrip()


def _documents(
    dataset: datasets.Dataset, columns: tuple[str, ...], is_separate: bool
) -> datasets.Dataset:
    made, kind = _made.setdefault(dataset, {}), (columns, is_separate)
    if kind in made:
        return made[kind]
    source = "/".join(filter(None, ("ToT", dataset.info.config_name)))
    if not len(dataset):
        raise ValueError(f"{source}: there are no rows; use a split that has some")
    if missing := [column for column in columns if column not in dataset.column_names]:
        raise ValueError(
            f"{source}: column {', '.join(map(repr, missing))} is missing; found"
            f" {dataset.column_names}. Use rows in the schema of baharef/ToT"
        )
    # Column by column, which takes a fifth of the time that row by row takes.
    cells = zip(*(dataset[column][:] for column in columns), strict=True)
    documents = [dict(zip(columns, row, strict=True)) for row in cells]
    is_changed = is_separate
    for row, document in enumerate(documents):
        for column, cell in document.items():
            if problem := _problem(column, cell, "prompt" in columns):
                raise ValueError(
                    f"{source}, row {row}, column '{column}': {problem}; fix the row"
                )
        is_changed |= _complete(document, f"{source}, row {row}", is_separate)
    candidates = _candidates(dataset, "prompt" in columns)
    if not candidates:
        columns = (*columns, "level")
        for document, level in zip(documents, dataset["level"]):
            document["level"] = level
    _report(source, candidates, len(documents), fingerprint(map(digest, documents)))
    if not is_changed:  # the rows are in memory already
        return made.setdefault(kind, dataset.select_columns([*columns]))
    return made.setdefault(kind, type(dataset).from_list(documents))


def _candidates(dataset: datasets.Dataset, is_semantic: bool) -> tuple[str, ...]:
    """Return which files the rows may be of; none for rows made from a seed."""
    if "level" in dataset.column_names:
        return ()
    if dataset.info.config_name in FILES:
        return (dataset.info.config_name,)
    kind = "tot_semantic" if is_semantic else "tot_arithmetic"
    return tuple(name for name in FILES if kind in name)


def _problem(column: str, cell: object, is_semantic: bool) -> str | None:
    """Return what is wrong with a cell, with the start of it, or None."""
    if not isinstance(cell, str):
        return f"a {type(cell).__name__} is not a string"
    try:
        if not cell.strip():
            raise ValueError("is empty")
        if column == "label":
            read_label(cell, is_semantic)
    except ValueError as error:
        return f"{cell[:80]!r:.82} {error}"
    return None


def _complete(document: dict, place: str, is_separate: bool) -> bool:
    """Make the prompt of a document what the model is to see, and take it apart.

    Returns whether the prompt lacked the question.
    """
    column = "prompt" if "prompt" in document else "question"
    question = document["question"].strip()
    is_missing = question not in document[column]
    if is_missing:
        document[column] = f"{document[column].rstrip()}\n\n{question}"
    if is_separate:
        rest, instruction = split_instruction(document[column], question)
        if not instruction or not rest:
            raise ValueError(
                f"{place}, column '{column}': no sentence asks for JSON; run the task"
                " without '_separate'"
            )
        document.update(instruction=instruction, question_wo_instruct=rest)
    return is_missing


@lru_cache(maxsize=256)
def _report(source: str, candidates: tuple[str, ...], rows: int, digest: str) -> None:
    """Log rows and fingerprint of a file, once a run; warn where they are not known.

    `candidates` are the files that it may be; none for rows made from a seed.
    """
    found = f"{rows} rows, fingerprint {digest}"
    if not candidates:
        eval_logger.info(f"{source}: fresh {found}")
        return
    expected = []
    for name in candidates:
        known_rows, known_digest = FILES[name]
        if rows == known_rows and known_digest in (digest, None):
            eval_logger.info(f"ToT/{name}: {found}")
            return
        known = known_digest and f", fingerprint {known_digest}"
        expected.append(f"{known_rows} rows{known or ''}")
    eval_logger.warning(
        f"{source}: {found}; the benchmark has {' or '.join(expected)}: scores may not be"
        " comparable"
    )


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    cells = [doc.get(column) for column in ("prompt", "question", "label")]
    return hashlib.sha256(json.dumps(cells).encode()).digest()


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


_INSTRUCTION_CUE = re.compile(r"json|H:M:S", re.IGNORECASE)
_SENTENCE_START = re.compile(r"[.?!)\"]\s+(?=[A-Z])|\n\s*\n\s*")
_FORMAT_WORDS = re.compile(r"json|\bexplanation\b|\banswer field\b", re.IGNORECASE)


def split_instruction(prompt: str, question: str) -> tuple[str, str]:
    """Return a prompt without its format instruction, and the instruction or "".

    The instruction starts with the first sentence that mentions JSON, or the H:M:S that
    the JSON is to hold, and goes on to the end of the last paragraph about the format,
    or to where `question` begins. No word is lost or doubled.
    """
    cue = _INSTRUCTION_CUE.search(prompt)
    if not cue:
        return prompt, ""
    before = _SENTENCE_START.finditer(prompt, 0, cue.start() + 1)
    start = max((m.end() for m in before if m.end() <= cue.start()), default=0)
    end = len(prompt)
    for paragraph in re.finditer(r"\n\s*\n\s*", prompt[cue.end() :]):
        following = prompt[cue.end() + paragraph.end() :].split("\n\n")[0]
        if not _FORMAT_WORDS.search(following):
            end = cue.end() + paragraph.start()
            break
    asked_at = prompt.find(question.strip(), cue.end())
    if asked_at > start:
        end = min(end, asked_at)
    rest = f"{prompt[:start].strip()}\n\n{prompt[end:].strip()}".strip()
    return rest, prompt[start:end].strip()
