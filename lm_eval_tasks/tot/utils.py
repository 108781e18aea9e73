"""Documents and scores of Test of Time (ToT).

From top to bottom: the published rule, the flexible rule (first its half that is equal
in each family), the verdict, the documents.
"""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    import datasets


eval_logger = logging.getLogger("lm_eval.tasks.tot")

REASONS = {  # the first that holds
    "right": "both rules find the right value",
    "flexible_only": "the right value, in a form that only the flexible rule reads",
    "superseded": "the first object is right, but not what the response commits to",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer without one value of the kind asked for in each field",
    "no_answer": "neither rule found an answer",
    "cut_off": "no answer: the response ends within its reasoning or an object",
}
# Rows and fingerprint of each file of baharef/ToT (its hub card swaps the first two).
FILES = {
    "tot_arithmetic": (1850, "6bdf6382cd8bd76a"),
    "tot_semantic": (2800, None),
    "tot_semantic_large": (46480, None),
}
COLUMNS = ["question", "question_type", "label"]  # that prompts, scores and logs need
SEMANTIC_COLUMNS = [*COLUMNS, "prompt", "graph_gen_algorithm", "sorting_type"]
# Keys that prompts ask for where the label has another: 50 prompts say "age", 100
# misspell "unordered_list".
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}
# Names of a unit and its seconds; prompts ask for "X hours, Y minutes, Z seconds", too.
UNITS = {
    "year years": None,
    "month months": None,
    "week weeks": None,
    "day days d": 86400,
    "hour hours h x a": 3600,
    "minute minutes min mins m y b": 60,
    "second seconds sec secs s z c": 1,
}
UNIT_OF_NAME = {name: names for names in UNITS for name in names.split()}
DAY_OFFSETS = {"same day": 0, "next day": 1, "previous day": -1}
EMPTY_LISTS = ("", "[]", "none", "null")


class Verdict(NamedTuple):
    """What both rules read in a response, and what follows from it."""

    scores: dict[str, float]  # in the order of the YAML
    reason: str  # one of REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None  # of its object in the response
    flexible: str | None  # the answer that the response commits to, as it stands there
    flexible_span: tuple[int, int] | None
    value: dict | None  # its fields as read; None where one of them cannot be read
    reference: dict  # the fields of the reference, read the same way


# ------------------------------------------------------------------ published rule

_OBJECT_START = re.compile(r'\{[ \t\n\r]*["}]')
# Python refuses integers of several thousand digits.
_DECODER = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) < 1000 else float(digits)
)


class Extracted(NamedTuple):
    """The fields of an answer in a response, and where it starts and ends."""

    fields: dict
    span: tuple[int, int]
    doubted: bool = False  # by the word right before it


def extract_published(response: str, is_semantic: bool = False) -> Extracted | None:
    """Return the first valid JSON object of `response`, or None (source: metric card).

    The explanation is left out, of semantic answers all but `answer`, as a text.
    """
    found = next(_objects(response, _DECODER), Extracted({}, (0, 0)))
    fields = {key: x for key, x in found.fields.items() if key != "explanation"}
    if is_semantic:
        answer = fields.get("answer")
        fields = {} if answer is None else {"answer": str(answer)}
    return found._replace(fields=fields) if fields else None


def _objects(text: str, decoder: json.JSONDecoder) -> Iterator[Extracted]:
    """Yield the outermost objects that a decoder reads in a text.

    So that no text costs quadratic time, it gives up where failures have read ten times
    the text, or are 1,000; in no recorded answer do four fail.
    """
    budget, failures, position = 10 * len(text), 0, max(text.find("{"), 0)
    while budget >= 0 and failures < 1000:
        if not (brace := _OBJECT_START.search(text, position)):
            return
        try:
            fields, position = decoder.raw_decode(text, brace.start())
            yield Extracted(fields, (brace.start(), position))
        except (json.JSONDecodeError, RecursionError) as error:
            position = brace.start() + 1
            budget -= getattr(error, "pos", position + 16_000) - position
            failures += 1


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


# ------------------------------------------------------------------- flexible rule

UNREADABLE = False  # a value that no grammar reads
# Lines that begin so are no answer, but a prompt that a base model makes up.
_MADE_UP = re.compile(r"\n[ \t#*]*(?:Question:|Q:|Here is a set of temporal facts)")
_CODE_COMMENT = re.compile(r"\s(?://|#)[^\n]*|/\*[^*\n]*\*/")
# `key: value` stands at a line start, behind a brace or a comma.
_PAIR_START = re.compile(r"(?:\A|[\n{,])\s*(?:/\*[^*\n]*\*/\s*)?[\"']?$")
_PAIR_VALUE = re.compile(
    r"""\s{0,20}(?:\[(?P<list>[^\[\]]*)\]
    |(["'])(?P<text>(?:(?!\2)[^\\\n]|\\.)*)\2(?=\s{0,20}(?:[,}\n\#]|//|\Z))
    |(?P<bare>[^,{}\[\]\n]*(?:,(?=\ ?[0-9])[^,{}\[\]\n]*)*))""",
    re.VERBOSE,
)


def _unique(pairs: list[tuple[str, object]]) -> dict:
    """Return an object with its keys in lower case; two that become one must agree."""
    fields: dict[str, object] = {}
    for key, value in dict(pairs).items():  # the last of one key counts
        key = key.strip().lower()
        fields[key] = value if fields.get(key, value) == value else UNREADABLE
    return fields


# Numbers stay as they are written; raw newlines may stand in strings.
_LENIENT = json.JSONDecoder(
    strict=False, object_pairs_hook=_unique, parse_int=str, parse_float=str
)


def extract_flexible(text: str, keys: list[str], is_one: bool) -> list[Extracted]:
    """Return the answers of a masked response; it commits to the last of them.

    They are objects with an asked key, or the pairs behind the last object. Where one
    value is asked, and there is none, they are objects with one other key or, without
    any object, what the cues of an answer point to (source: our own reasoning).
    """
    found, others, end, limit = [], [], 0, len(text)
    for answer in _objects(text, _LENIENT):
        if answer.span[0] >= limit:
            break
        if fields := _with_asked(answer.fields, keys):
            found.append(Extracted(fields, answer.span))
        elif len(answer.fields.keys() - {"explanation"}) == 1:
            others.append(answer)
        if not end and (prompt := _MADE_UP.search(text, answer.span[1])):
            limit = prompt.start()
        end = answer.span[1]
    if "{" in text[end:limit] or "}" in text[end:limit]:
        found += _last_pairs(text[:limit], end, keys)
    if found or not is_one:
        return found
    return others if _OBJECT_START.search(text) else _said(text)


def _with_asked(value: object, keys: list[str]) -> dict | None:
    """Return the last outermost object in a value that has an asked key, or None."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if any(not isinstance(item.get(key, {}), dict) for key in keys):
                return item
            waiting += [inner for key, inner in item.items() if key != "explanation"]
        elif isinstance(item, list):
            waiting += item
    return None


def _last_pairs(text: str, start: int, keys: list[str]) -> list[Extracted]:
    """Return the last pair of each key from a place on, where no JSON is, as one."""
    fields, places = {}, []
    low = text.replace("\u0130", "I").lower()  # of equal length
    for key in keys:
        for name in re.finditer(rf"{re.escape(key)}[\"']?\s{{0,20}}:", low[start:]):
            at = start + name.start()
            if not _PAIR_START.search(text, max(0, at - 80), at):
                continue
            pair = _PAIR_VALUE.match(text, start + name.end())
            value = pair["text"]
            if pair["list"] is not None:
                value = [item for item in pair["list"].split(",") if item.strip()]
            elif value is None:
                value = _CODE_COMMENT.sub("", pair["bare"]).strip()
                is_list = text[pair.end() : pair.end() + 1] == "["
                if value.startswith("<") or not (value or is_list):
                    continue  # the form of the prompt, an object, or nothing
                if is_list or pair.end() == len(text):  # the end cuts it off
                    value = UNREADABLE
            fields[key] = value
            places += at, pair.end()
    return [Extracted(fields, (min(places), max(places)))] if fields else []


def _said(text: str) -> list[Extracted]:
    """Return what the cues of an answer point to, as the fields "box", "cue", ..."""
    said = statements(text, _MADE_UP)
    return [Extracted({x.kind: text[x.start : x.end]}, x[1:3], x.doubted) for x in said]


# ------------------------------------------------------------------------ grammars

WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
# Names, whole or cut to three letters or more, and their numbers from 1.
_MONTH_NUMBERS, _WEEKDAY_NUMBERS = (
    {name[:end].lower(): n for n, name in enumerate(names, 1) for end in range(3, 10)}
    for names in (MONTHS, WEEKDAYS)
)
_MONTH, _DAY = "(?:mm|0?[1-9]|1[0-2])[-/.]", "(?:dd|1[3-9]|2[0-9]|3[01])[-/.]"
_ORDER = re.compile(rf"\b(?:({_MONTH}){_DAY}|{_DAY}{_MONTH})(?:yyyy|[0-9]{{4}})\b")
_DIGITS = "(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"
_NUMBER_AND_UNIT = re.compile(
    rf"(\+|\+?-)?({_DIGITS}?(?:\.[0-9]{{1,15}})?)(?: ?([a-z]+))?"
)
_ERA = r"(?:[ac]\.?[de]|b\.?c(?:\.?e)?)\.?"
_YEAR_AND_ERA = re.compile(rf"({_ERA} ?)?({_DIGITS})( ?{_ERA})?")
_BESIDE_A_DATE = {"st", "nd", "rd", "th", "of", "the", *_WEEKDAY_NUMBERS}
_DATE = re.compile(r"[a-z0-9][a-z0-9 ,./()-]*")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)?(?: ?([ap])\.?m\.?)?")
_ENTITY = re.compile(r"(?:the )?(e[0-9]+)(?: era)?")
_UNANSWERABLE = re.compile(
    r"(?:(?:it|this|the question) )?(?:(?:is )?unanswerable"
    r"|(?:can ?not|can't) be (?:answered|determined))"
)
_ASKED_UNIT = re.compile(r"(?:<num_|how many |number of |\bin )([a-z]{3,})")
_LIST_SEPARATOR = re.compile(r"[,;<\u2192]|-{1,2}>|\band\b")


class Field:
    """A field of a label, the grammar of its values, and what the prompt says of them.

    A grammar takes a text in lower case and returns its value, or None.
    """

    def __init__(self, key: str, label: object, question: str):
        self.keys, self.question = [key.lower()], question.lower()
        if f'"{PROMPTED_KEYS.get(key)}"' in question:
            self.keys.append(PROMPTED_KEYS[key])
        is_unit = self.keys[0] in UNIT_OF_NAME
        asked = self.keys[:1] if is_unit else _ASKED_UNIT.findall(self.question)
        self.units = {x for one in asked for x in UNIT_OF_NAME.get(one, one).split()}
        self.is_list, self.is_ordered = isinstance(label, list), key != "unordered_list"
        items = [plain(str(item)) for item in (label if self.is_list else [label])]
        self.label = " ".join(items)
        # The first grammar that reads a label reads the answers, too.
        kinds = [self.number, self.year, self.date, self.clock]
        if self.is_list or key == "day":
            kinds = [] if self.is_list else [self.day_offset]
        for self.grammar in (*kinds, self.word, str):
            values = [self.grammar(item.lower()) for item in items]
            if values and None not in values:
                break
        self.value = self._listed(values) if self.is_list else values[0]

    def may_be(self, key: str) -> bool:
        """Tell whether another key than the asked one may hold the value."""
        is_other = key in UNIT_OF_NAME and key not in self.units
        has_unit = not self.units.isdisjoint(UNIT_OF_NAME)
        return key != "explanation" and not (is_other and has_unit)

    def number(self, text: str) -> Decimal | None:
        """Return a number; a word behind it is the unit that the field counts."""
        found = _NUMBER_AND_UNIT.fullmatch(text)
        if not found or not found[2] or found[3] not in (None, *self.units):
            return None
        sign = "-" if "-" in (found[1] or "") else ""
        return Decimal(sign + found[2].replace(",", ""))

    def year(self, text: str) -> str | None:
        """Return a year and its era; without one it is AD."""
        found = _YEAR_AND_ERA.fullmatch(text)
        if not found or (found[1] and found[3]):
            return None
        era = "BC" if "b" in (found[1] or found[3] or "") else "AD"
        return f"{int(found[2].replace(',', ''))} {era}"

    def date(self, text: str) -> date | None:
        """Return the date of a year of four digits, a month and a day.

        Three numbers that do not begin with the year are in the prompt's order or,
        where that makes no date or there is none, in the only order that makes one.
        """
        words = set(re.findall("[a-z]+", text)) - _BESIDE_A_DATE
        months = [_MONTH_NUMBERS.get(word, 0) for word in words]  # there is no month 0
        numbers = re.findall("[0-9]+", text)
        years = [int(number) for number in numbers if len(number) == 4]
        parts = months[:1] + [int(number) for number in numbers if len(number) < 3]
        counts = (len(years), len(parts), len(numbers + months))
        if counts != (1, 2, 3) or not _DATE.fullmatch(text):
            return None
        days = [_valid(date, *years, *parts)]
        if not months and len(numbers[0]) < 4:
            days.append(_valid(date, *years, *parts[::-1]))
            if shown := _ORDER.findall(self.question):  # the last one is what is asked
                asked, other = days if shown[-1] else days[::-1]
                days = [asked or other]
        days = {*days} - {None}
        days = [day for day in days if _weekdays(text) <= {day.isoweekday()}]
        return days[0] if len(days) == 1 else None

    def clock(self, text: str) -> time | None:
        """Return the time of a 12- or 24-hour clock, without seconds if none are asked."""
        found = _CLOCK.fullmatch(text)
        if not found or not (found[2] or found[4]):
            return None
        hour, minute, second = (int(part or 0) for part in found.groups()[:3])
        if found[4]:
            hour = hour % 12 + 12 * (found[4] == "p") if 1 <= hour <= 12 else 24
        clock = _valid(time, hour, minute, second)
        return clock and clock.replace(second=second * (self.label.count(":") != 1))

    def day_offset(self, text: str) -> Decimal | int | None:
        """Return how many days after the start: 0 for `same_day`, `+0` and `0`."""
        return DAY_OFFSETS.get(text.replace("_", " "), self.number(text))

    def word(self, text: str) -> str | None:
        """Return a weekday, an entity such as "e17", or "unanswerable"."""
        if text in _WEEKDAY_NUMBERS:
            return WEEKDAYS[_WEEKDAY_NUMBERS[text] - 1]
        if entity := _ENTITY.fullmatch(text):
            return entity[1]
        return "unanswerable" if _UNANSWERABLE.fullmatch(text) else None

    def read(self, given: object) -> object:
        """Return the value of what an answer has in the field; None if it has none."""
        if self.is_list:
            return self._read_list(given)
        if isinstance(given, list) and len(given) == 1:
            (given,) = given
        if given == self.label:
            return self.value
        return self._read_text(given) if isinstance(given, str) else None

    def _read_text(self, text: str) -> object:
        """Return the value of a text as a whole, or without its lead and one comment."""
        text = plain(text)
        if not text or has_doubt(text, self.label):
            return None
        kept = [x for x, cut in readings(text) if not cut or self._is_aside(x, cut)]
        # Any text is a name: what is left of it in the end is the value.
        for reading in kept[-1:] if self.grammar is str else kept:
            if (value := self.grammar(reading.lower())) is not None:
                return value
        return None

    def _is_aside(self, kept: str, comment: str) -> bool:
        """Tell whether a comment, but for a reason or denial, has no other value."""
        if self.grammar is str:
            return not re.search(r"\w", comment)
        is_day = self.grammar == self.date or _weekdays(self.label)
        return numbers(comment) <= numbers(kept) and not (is_day and _weekdays(comment))

    def _read_list(self, given: object) -> tuple | None:
        """Return the values of a list, or of a text that is one."""
        if given is None or isinstance(given, str):
            text = plain(given or "").strip("[]")
            if has_doubt(text, self.label):
                return None
            given = _LIST_SEPARATOR.split("" if text.lower() in EMPTY_LISTS else text)
        if not isinstance(given, list) or not all(isinstance(x, str) for x in given):
            return None
        values = [self._read_text(item) for item in given if item.strip(" \"'")]
        return None if None in values else self._listed(values)

    def _listed(self, values: list) -> tuple:
        return tuple(values if self.is_ordered else sorted(values))


def _valid(kind: type, *parts: int) -> date | time | None:
    with suppress(ValueError):
        return kind(*parts)
    return None


def _weekdays(text: str) -> set[int]:
    words = re.findall("[a-z]+", text.lower())
    return {_WEEKDAY_NUMBERS[word] for word in words if word in _WEEKDAY_NUMBERS}


# ------------------------------------------------------------------------- matching


@lru_cache(maxsize=4096)
def _fields(label: str, question: str, is_semantic: bool) -> dict[str, Field]:
    reference = read_label(label, is_semantic)
    return {key: Field(key, value, question) for key, value in reference.items()}


def read_flexible(text: str, fields: dict) -> tuple[Extracted | None, dict | None]:
    """Return what a masked response commits to, and its values where all can be read."""
    keys = [key for field in fields.values() for key in field.keys]
    *before, last = extract_flexible(text, keys, len(fields) == 1) or [None]
    values = _values(text, last, fields)
    if before and values is None:  # the year of a date says it again
        values = _values(text, before[-1], fields) or {}
        days = [value for value in values.values() if isinstance(value, date)]
        is_again = days and f"{days[0]:%Y}" in last.fields.values()
        return (before[-1], values) if is_again else (last, None)
    if values and len(fields) == 1:  # a later cue may say another value
        rest = _MADE_UP.split(text[last.span[1] :], maxsplit=1)[0]
        said = [x for x in _said(rest) if "line" not in x.fields]
        if said and _values(rest, said[-1], fields) not in (None, values):
            values = None
    return last, values


def _values(text: str, answer: Extracted | None, fields: dict) -> dict | None:
    """Return the values of an answer by the keys of a label; None without one of them."""
    if not answer or answer.doubted or doubted(text, answer.span[0]):
        return None
    values = {}
    for key, field in fields.items():
        given = [answer.fields[x] for x in field.keys if x in answer.fields]
        if not given and len(fields) == 1:
            given = [x for key, x in answer.fields.items() if field.may_be(key)]
        is_one = given and given.count(given[0]) == len(given)
        values[key] = field.read(given[0]) if is_one else None
    return None if None in values.values() else values


def size(values: dict, fields: dict[str, Field]) -> float | None:
    """Return the number that values are together: a count, or seconds; None for none.

    A day with a time counts from the midnight that starts the first day (source: arXiv
    2509.16720, and our own reasoning).
    """
    total = 0.0
    for key, field in fields.items():
        value, seconds = values[key], UNITS.get(UNIT_OF_NAME.get(key.lower()))
        if isinstance(value, time):
            value, seconds = 3600 * value.hour + 60 * value.minute + value.second, 1
        elif len(fields) == 1 and '"yyyy"' not in field.question:
            seconds = 1
        if seconds is None or not isinstance(value, int | Decimal):
            return None
        total += seconds * float(value)
    return total


def smape(given: float | None, expected: float) -> float:
    """Return the symmetric percentage error; 100, the largest, for no readable answer."""
    if given is None:
        return 100.0
    return 100 * abs(given - expected) / (abs(given) + abs(expected) or 1)


# ------------------------------------------------------------------------- verdict


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
    label, question = doc["label"], doc["question"]
    fields = _fields(label, question, is_semantic)
    reference = {key: field.value for key, field in fields.items()}
    asked = doc.get("prompt") or split_instruction(question, question)[1]
    text = mask(response, (question, asked))
    found = extract_published(response, is_semantic)
    answer, value = read_flexible(text, fields)
    published = found and (found.fields["answer"] if is_semantic else found.fields)
    is_exact = published == (label if is_semantic else read_label(label, False))
    is_right = value == reference
    verdicts = map(float, (is_exact, is_right, found is not None))
    scores = dict(zip(("accuracy", "accuracy_flexible", "extracted"), verdicts))
    if not is_semantic and (expected := size(reference, fields)) is not None:
        scores["smape"] = smape(value and size(value, fields), expected)
    spans = (found and found.span, answer and answer.span)
    is_cut_off = text.rfind("{") > text.rfind("}") or text[-1:] != response[-1:]
    reason = _reason(is_exact, is_right, value, spans, is_cut_off)
    flexible = answer and response[slice(*answer.span)]
    answers = found and str(published), spans[0], flexible, spans[1]
    return Verdict(scores, reason, *answers, value, reference)


def _reason(
    is_exact: bool, is_right: bool, value: dict | None, spans: tuple, is_cut_off: bool
) -> str:
    """Return the first of REASONS that holds; `spans` are of both extracted texts."""
    is_superseded = is_exact and spans[0] != spans[1]
    is_other = value or (spans[0] and not spans[1])
    holds = is_exact and is_right, is_right, is_superseded, is_other, spans[1]
    holds = zip(REASONS, (*holds, not is_cut_off, True))
    return next(reason for reason, is_so in holds if is_so)


# ---------------------------------------------------------------------- documents


@lru_cache(maxsize=4096)
def read_label(label: str, is_semantic: bool) -> dict:
    """Return the fields of a label.

    Arithmetic ones are a dict as JSON or as a Python literal, semantic ones the text of
    the one field `answer`, a timeline with commas. ValueError says why one cannot be
    scored: values are texts, finite numbers, or lists of these; none but a list is empty.
    """
    if len(label) > 10_000:
        raise ValueError("is longer than 10,000 characters")
    fields = {"answer": label.split(",") if "," in label else label}
    if not is_semantic:
        try:  # which reads the JSON of the benchmark as well
            fields = ast.literal_eval(label.strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("is neither JSON nor a Python literal") from None
    if not isinstance(fields, dict) or not fields:
        raise ValueError("is not a dict with at least one field")
    keys = {key.strip().lower() for key in fields if isinstance(key, str)}
    if len(keys) < len(fields) or not keys.isdisjoint(("", "explanation")):
        raise ValueError("has keys that name no answer, or differ in case alone")
    for value in fields.values():
        if not all(map(_is_value, value if isinstance(value, list) else [value])):
            raise ValueError("has a value that is empty, too long or not finite")
    return fields


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return plain(value).lower().strip("[]") not in EMPTY_LISTS
    return type(value) in (int, float) and abs(value) < 10**15


def process_docs_arithmetic(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents; ValueError names file, row and column of a bad cell."""
    return _documents(dataset, is_semantic=False, is_separate=False)


def process_docs_semantic(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of rows of ToT semantic, each prompt with its question."""
    return _documents(dataset, is_semantic=True, is_separate=False)


def process_docs_arithmetic_separate(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with `instruction` and `question_wo_instruct`, too."""
    return _documents(dataset, is_semantic=False, is_separate=True)


def process_docs_semantic_separate(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return documents with `instruction` and `question_wo_instruct`, too."""
    return _documents(dataset, is_semantic=True, is_separate=True)


@lru_cache(maxsize=2)  # the harness asks four times a task
def _documents(dataset: datasets.Dataset, is_semantic: bool, is_separate: bool):
    name = dataset.info.config_name
    source = f"ToT/{name}" if name else "ToT"
    if not len(dataset):
        raise ValueError(f"{source}: there are no rows; use a split that has some")
    columns = SEMANTIC_COLUMNS if is_semantic else COLUMNS
    if missing := ", ".join(repr(x) for x in columns if x not in dataset.column_names):
        raise ValueError(
            f"{source}: column {missing} is missing; found {dataset.column_names}. Use"
            " rows in the schema of baharef/ToT"
        )
    kind = "semantic" if is_semantic else "arithmetic"
    files = [name] if name in FILES else [file for file in FILES if kind in file]
    if "level" in dataset.column_names:  # made from a seed
        columns, files = [*columns, "level"], []
    # Column by column, which takes a fifth of the time that row by row takes.
    cells = zip(*(dataset[column][:] for column in columns), strict=True)
    documents = [dict(zip(columns, row, strict=True)) for row in cells]
    is_changed = is_separate
    for row, document in enumerate(documents):
        try:
            _check(document, is_semantic)
            is_changed |= _complete(document, is_semantic, is_separate)
        except ValueError as error:
            raise ValueError(f"{source}, row {row}, column {error}") from None
    _report(source, len(documents), fingerprint(map(digest, documents)), tuple(files))
    if not is_changed:  # the rows are in memory already
        return dataset.select_columns(columns)
    return type(dataset).from_list(documents)


def _check(document: dict, is_semantic: bool) -> None:
    """Raise ValueError that says which column of a row cannot be used, and why."""
    for column in SEMANTIC_COLUMNS if is_semantic else COLUMNS:
        cell = document[column]
        try:
            if not isinstance(cell, str):
                raise ValueError("is not a string")
            if not cell.strip():
                raise ValueError("is empty")
            if column == "label":
                read_label(cell, is_semantic)
        except ValueError as error:
            is_text = isinstance(cell, str)
            shown = f"{cell[:80]!r:.82}" if is_text else f"a {type(cell).__name__}"
            raise ValueError(f"'{column}': {shown} {error}; fix the row") from None


def _complete(document: dict, is_semantic: bool, is_separate: bool) -> bool:
    """Put the question into a prompt that lacks it, and tell whether one did.

    For separate tasks take the prompt apart; ValueError where that cannot be done.
    """
    column, question = (
        "prompt" if is_semantic else "question",
        document["question"].strip(),
    )
    is_missing = question not in document[column]
    if is_missing:
        document[column] = f"{document[column].rstrip()}\n\n{question}"
    if is_separate:
        rest, instruction = split_instruction(document[column], question)
        if not instruction or not rest:
            problem = "no sentence asks for JSON; run the task without '_separate'"
            raise ValueError(f"'{column}': {problem}")
        document.update(instruction=instruction, question_wo_instruct=rest)
    return is_missing


@lru_cache(maxsize=256)
def _report(source: str, rows: int, digest: str, files: tuple[str, ...]) -> None:
    """Log rows and fingerprint, once a run; warn where they are of none of the files."""
    found, known = (
        f"{source}: {rows} rows, fingerprint {digest}",
        [*map(FILES.get, files)],
    )
    if not files or (rows, digest) in known or (rows, None) in known:
        eval_logger.info(found)
        return
    expected = (f"{rows} rows" + f", fingerprint {x}" * bool(x) for rows, x in known)
    text = f"{found}; the benchmark has {' or '.join(expected)}"
    eval_logger.warning(f"{text}: scores may not be comparable")


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    cells = [doc.get(column) for column in ("prompt", "question", "label")]
    return hashlib.sha256(json.dumps(cells).encode()).digest()


# What a template of ToT arithmetic fills in: names, numbers, dates, units, activities.
_FILLED_IN = re.compile(
    r"[A-Z0-9]|ing\b|^(?:(?:hour|minute|second)s?|on|at|in|from|to|noon|and)\b"
)


def cluster(doc: dict) -> str:
    """Return what documents share: a question, of arithmetic its template."""
    question = doc.get("question") or digest(doc).hex()
    if "prompt" in doc:
        return question
    return " ".join(word for word in question.split() if not _FILLED_IN.search(word))


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


_INSTRUCTION_CUE = re.compile(r"json|H:M:S", re.IGNORECASE)
_SENTENCE_START = re.compile(r"[.?!)\"]\s+(?=[A-Z])|\n\s*\n\s*")
_PARAGRAPH = re.compile(r"\n\s*\n\s*")
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
    starts = (x.end() for x in _SENTENCE_START.finditer(prompt, 0, cue.start() + 1))
    start = max((x for x in starts if x <= cue.start()), default=0)
    ends = [len(prompt), prompt.find(question.strip(), cue.end())]
    for paragraph in _PARAGRAPH.finditer(prompt, cue.end()):
        following = prompt[paragraph.end() :].split("\n\n")[0]
        if not _FORMAT_WORDS.search(following):
            ends.append(paragraph.start())
            break
    end = min(x for x in ends if x >= 0)
    rest = f"{prompt[:start].strip()}\n\n{prompt[end:].strip()}".strip()
    return rest, prompt[start:end].strip()
