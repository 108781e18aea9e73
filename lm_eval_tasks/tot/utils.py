"""Test of Time (ToT): the published rule, the flexible one, the verdict, documents."""

from __future__ import annotations

import ast
import hashlib
import json
import logging
import re
import unicodedata
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from datasets import Dataset

_log = lru_cache(logging.getLogger("lm_eval.tasks.tot").log)  # once a run
REASONS = {  # the first that holds
    "right": "both rules find the right value",
    "flexible_only": "the right value, in a form that only the flexible rule reads",
    "superseded": "the published answer is right, but then taken back or replaced",
    "other_value": "a value, but not the reference's",
    "unreadable": "an answer without one value of the kind asked for in each field",
    "no_answer": "no answer outside of the reasoning",
    "cut_off": "no answer, and the response ends within its reasoning or an object",
}
LICENCE = "CC BY 4.0"
# Rows and fingerprint of each file of baharef/ToT (its hub card swaps the first two).
FILES = {
    "tot_arithmetic": (1850, "6bdf6382cd8bd76a"),
    "tot_semantic": (2800, None),
    "tot_semantic_large": (46480, None),
}
COLUMNS = ["question", "question_type", "label"]  # that prompts, scores and logs need
SEMANTIC_COLUMNS = [*COLUMNS, "prompt", "graph_gen_algorithm", "sorting_type"]


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
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits[:1000]))


class Extracted(NamedTuple):
    """The fields of an answer in a response, none where what is behind it supersedes it."""

    fields: dict
    span: tuple[int, int]


def extract_published(response: str, is_semantic: bool) -> tuple[dict | None, tuple]:
    """Return the first JSON object but for its explanation, and its span (card)."""
    fields, object_span = next(_objects(response, _DECODER), ({}, (0, 0)))
    fields = {key: value for key, value in fields.items() if key != "explanation"}
    if is_semantic:
        answer_field = fields.get("answer")
        fields = {} if answer_field is None else {"answer": str(answer_field)}
    return (fields, object_span) if fields else (None, None)


def _objects(text: str, decoder: json.JSONDecoder) -> Iterator[Extracted]:
    """Yield the outermost objects in a text, until failures have read it 100 times."""
    characters_left, position = 100 * len(text), 0  # no real text needs four times
    while characters_left >= 0 and (brace := _OBJECT_START.search(text, position)):
        try:
            decoded_object, position = decoder.raw_decode(text, brace.start())
            yield Extracted(decoded_object, (brace.start(), position))
        except (json.JSONDecodeError, RecursionError) as error:
            position = brace.start() + 1
            characters_left -= getattr(error, "pos", len(text))


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


# ------------------------------------------------------------------- flexible rule
def _flat(pairs: list[tuple[str, object]]) -> tuple[dict, ...]:
    """Return the objects in an object, but for its explanation, and what else it has."""
    fields, inner_objects = {}, []
    for key, value in dict(pairs).items():  # the last of one key counts
        key = key.strip().lower()
        elements = value if isinstance(value, list) else [value]
        objects = [obj for item in elements if isinstance(item, tuple) for obj in item]
        if objects and key != "explanation":
            inner_objects += objects
        else:  # of keys that differ in case each one counts
            fields.setdefault(key, []).append(value)
    return (*inner_objects, fields)


# Numbers stay as they are written; raw newlines may stand in strings.
_LENIENT = json.JSONDecoder(
    strict=False, object_pairs_hook=_flat, parse_int=str, parse_float=str
)
# Keys that 50 and 100 prompts ask for where the label has another.
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}
# Lines that begin so are no answer, but a prompt that a base model makes up.
_ECHO = re.compile(r"\n[ \t#*]*(?:Question:|Q:|Here is a set of temporal facts)|\Z")
_CODE_COMMENT = re.compile(r"\s(?://|#)[^\n]*|/\*[^*\n]*\*/")
# `key: value` stands at a line start, behind a brace or a comma.
_PAIR = r"""(?imx)(?:^|[{{,])\s{{0,40}}["']?
    (?P<key>{})["']?\s{{0,20}}:\s{{0,20}}(?P<value>\[[^\[\]]*\]
    |(["'])(?:(?!\3)[^\\\n]|\\.)*\3(?=\s{{0,20}}(?:[,}}\n]|\Z))
    |(?P<bare>\[?[^,{{}}\[\]\n]*(?:,(?=\ ?[0-9])[^,{{}}\[\]\n]*)*))"""
WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_WEEKDAYS = {name[:end].lower(): name for name in WEEK for end in range(3, 10)}
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: str(number) for number, word in enumerate(_COUNTS.split())}
DAY_OFFSETS = {"same day": "0", "next day": "1", "previous day": "-1"}
UNITS = {"hour": 3600, "minute": 60, "second": 1, "day": 86400, "week": 604800}
UNITS |= {"month": "month", "year": "year"}  # whose seconds differ
_LETTERS = str.maketrans("xyzabc", "hmshms")  # prompts say "X hours, Y minutes", too
_MONTH, _DAY = "(?:mm|0?[1-9]|1[0-2])[-/.]", "(?:dd|1[3-9]|2[0-9]|3[01])[-/.]"
_ORDER = re.compile(rf"\b(?:({_MONTH}){_DAY}|{_DAY}{_MONTH})(?:yyyy|[0-9]{{4}})\b")
_DIGITS = "(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"
_NUMBER_AND_UNIT = re.compile(
    rf"(?=[+-]*\.?[0-9])\+?(-?{_DIGITS}?(?:\.[0-9]{{1,15}})?)(?: ?([a-z]+))?"
)
_ERA = r"(?:[ac]\.?[de]|b\.?c(?:\.?e)?)\.?"
_YEAR_AND_ERA = re.compile(rf"({_ERA} ?)?{_DIGITS}(?(1)|(?: ?{_ERA})?)")
_CLOCK = re.compile(
    r"(?=.*[:m])([0-9]{1,2})(?::([0-9]{2})(?::([0-5][0-9]))?)?(?: ?([ap])\.?m\.?)?"
)
_WORD = re.compile(
    r"(?:the |entity )?(e[0-9]+)(?: era)?|(?:(?:it|this|the question) )?(?:(?:is )?unanswerable"
    r"|(?:can ?not|can't) be (?:answered|determined))"
)
_OTHER_WORD = re.compile(rf"(?i)\b(?:e[0-9]+|{'|'.join(WEEK)})\b")
_ASKED_UNIT = re.compile(r"(?:<num_|how many |number of |\bin )([a-z]{3,})")
_LIST_SEPARATOR = re.compile(r"[,;<\u2192]|-{1,2}>|\band\b")


def extract_flexible(text: str, keys: set[str], is_one: bool) -> Extracted | None:
    """Return the last answer of a masked response: an object, pairs or a cue."""
    objects = []
    for inner_objects, span in _objects(text, _LENIENT):
        objects += [Extracted(fields, span) for fields in inner_objects]
    if objects:
        text = text[: _ECHO.search(text, objects[0].span[1]).start()]
        objects = [obj for obj in objects if obj.span[0] < len(text)]
    pair_answers = _last_pairs(text, objects[-1].span[1] if objects else 0, keys)
    objects = [obj for obj in objects if not _DOUBTED.search(text[: obj.span[0]][-60:])]
    candidates = [obj for obj in objects if keys & obj.fields.keys()] + pair_answers
    if not candidates and is_one:
        if not _OBJECT_START.search(text):
            return _last_cue(text)
        candidates = [obj for obj in objects if len({"explanation", *obj.fields}) == 2]
    if not candidates:
        return None
    fields, span = candidates[-1]  # up to its closing brace, nothing takes it back
    closing_brace_at = max(span[1] - 1, text.find("}", span[1] - 1))
    retraction = _TAKEN_BACK.search(text[closing_brace_at:].translate(_QUIET).lower())
    return Extracted({} if retraction else fields, span)


def _last_pairs(text: str, start: int, keys: set[str]) -> list[Extracted]:
    """Return the last pair of each key from a place on, where no JSON is, as one."""
    brace_position = text.find("{", start)
    if brace_position < 0 and "}" not in text[start:]:
        return []
    fields, positions = {}, []
    pair_pattern = re.compile(_PAIR.format("|".join(map(re.escape, sorted(keys)))))
    for pair in pair_pattern.finditer(text, max(start, brace_position)):
        value = pair["value"].strip("\"'")
        if pair["bare"] is not None:
            value = _CODE_COMMENT.sub("", value).strip()
        if value or pair["bare"] is None:  # a bare pair without a value is an object's
            fields[pair["key"].lower()] = [value]
            positions += pair.start("key"), pair.end()
    return [Extracted(fields, (positions[0], positions[-1]))] if fields else []


def _last_cue(text: str, offset: int = 0) -> Extracted | None:
    """Return what a text's last cue points to, by kind; the text begins at `offset`."""
    for kind, (start, end), is_superseded in reversed(statements(text, _ECHO)):
        if not is_superseded:
            return Extracted({kind: [text[start:end]]}, (offset + start, offset + end))
    return None


def _unit(word: str) -> int | str:
    """Return the seconds of a unit, be it cut, or its name; of others the singular."""
    word = word.lower().rstrip("s") or "s"
    word = word.translate(_LETTERS) if len(word) == 1 else word
    return next((UNITS[name] for name in UNITS if name.startswith(word)), word)


class Field:
    """A field of a label; its grammar returns the value of a text in lower case or None."""

    def __init__(self, key: str, label: object, question: str):
        self.keys, self.question = [key.lower()], question.lower()
        if f'"{PROMPTED_KEYS.get(key)}"' in question:
            self.keys.append(PROMPTED_KEYS[key])
        units, asked_units = {*UNITS.values()}, _ASKED_UNIT.findall(self.question)
        self.units = {*map(_unit, [key] if _unit(key) in units else asked_units)}
        # What another key than the asked one may not be.
        self.others = {"explanation"} | (units & self.units and units - self.units)
        self.is_list = isinstance(label, list)
        self.has_seconds = str(label).count(":") != 1
        label_items = [str(item) for item in (label if self.is_list else [label])]
        # The first grammar that reads a label reads the answers, too.
        texts = [plain(label_item).lower() for label_item in label_items] or [""]
        grammars = self.number, self.year, self.clock, self.word, self.date, str
        self.grammar = next(read for read in grammars if None not in map(read, texts))
        self.value = self._together([*map(self.grammar, texts[: len(label_items)])])

    def number(self, text: str) -> Decimal | None:
        """Return a number; a word behind it is the unit that the field counts."""
        first_word, _, rest = text.partition(" ")
        text = f"{_COUNTS.get(first_word, first_word)} {rest}".strip()
        if "day" in self.keys:
            text = DAY_OFFSETS.get(text.replace("_", " "), text)
        match = _NUMBER_AND_UNIT.fullmatch(text)
        if not match or match[2] and _unit(match[2]) not in self.units:
            return None
        return Decimal(match[1].replace(",", ""))

    def year(self, text: str) -> str | None:
        """Return a year and its era; without one it is AD."""
        if not _YEAR_AND_ERA.fullmatch(text):
            return None
        return f"{int(re.sub('[^0-9]', '', text))} {'BC' if 'b' in text else 'AD'}"

    def date(self, text: str) -> date | None:
        """Return a date of three fields, in the prompt's order if two make one."""
        fields = _FIELD.findall(_IDLE.sub(" ", text))
        if len(fields) != 3 or len(fields[0]) == 4 or _MONTHS.keys() & {*fields}:
            return read_day(fields)
        first, second, year = fields
        days = [read_day([year, first, second]), read_day([year, second, first])]
        if prompt_orders := _ORDER.findall(self.question):  # the last one counts
            return days[not prompt_orders[-1]] or days[bool(prompt_orders[-1])]
        return (days[0] or days[1]) if None in days or days[0] == days[1] else None

    def clock(self, text: str) -> time | None:
        """Return the time of a 12- or 24-hour clock, without seconds if none are asked."""
        if match := _CLOCK.fullmatch(text):
            hour, minute, second = (int(digits or 0) for digits in match.groups()[:3])
            if match[4]:
                hour = hour % 12 + 12 * (match[4] == "p") if 1 <= hour <= 12 else 24
            with suppress(ValueError):
                return time(hour, minute, second * self.has_seconds)
        return None

    def word(self, text: str) -> str | None:
        """Return a weekday, an entity such as "e17", or "unanswerable"."""
        if word_match := _WORD.fullmatch(text):
            return word_match[1] or "unanswerable"
        return _WEEKDAYS.get(text)

    def read(self, answer: object) -> object:
        """Return the value of what an answer has in the field; None if it has none."""
        if isinstance(answer, str) and (self.is_list or answer.startswith("[")):
            answer = _LIST_SEPARATOR.split(plain(answer[:LONGEST]).strip("[]"))
        items = answer if isinstance(answer, list) else [answer]
        if self.is_list:
            null_words = {"", "none", "null"}
            items = [x for x in items if str(x).strip(" \"'").lower() not in null_words]
        return self._together([self._read_text(item) for item in items])

    def _together(self, values: list) -> object:
        if None in values or not self.is_list and len(values) != 1:
            return None
        values = sorted(values) if "unordered_list" in self.keys else values
        return tuple(values) if self.is_list else values[0]

    def _read_text(self, text: object) -> object:
        """Return the value of a text as a whole, or without its lead and one comment."""
        text = plain(text) if isinstance(text, str) else ""
        find_parts = _OTHER_WORD.findall if self.grammar == self.word else numbers
        for reading, comment in readings(text) if text else ():
            value = self.grammar(reading.lower())
            extra_parts = comment and {*find_parts(comment)} - {*find_parts(reading)}
            if value is not None and not extra_parts:
                return value
        return None


def read_flexible(text: str, fields: dict) -> tuple[Extracted | None, dict | None]:
    """Return what a masked response commits to, and its values where all can be read."""
    keys = {key for field in fields.values() for key in field.keys}
    answer = extract_flexible(text, keys, len(fields) == 1)
    values = _values(answer, fields)
    if answer and len(fields) == 1 and "}" in text:  # a later cue may say another
        text_behind = _ECHO.split(text[answer.span[1] :], maxsplit=1)[0]
        cue = _last_cue(text_behind, answer.span[1])
        cue_values = _values(cue, fields) if cue and "line" not in cue.fields else None
        if cue_values and cue_values != values:
            return (answer._replace(fields={}), None) if values else (cue, cue_values)
    return answer, values


def _values(answer: Extracted | None, fields: dict) -> dict | None:
    """Return the values of an answer by the keys of a label; None without one of them."""
    values = {}
    for key, field in fields.items() if answer else ():
        answer_keys = [name for name in field.keys if name in answer.fields]
        if not answer_keys and len(fields) == 1:
            answer_keys = [
                name for name in answer.fields if _unit(name) not in field.others
            ]
        texts = [text for name in answer_keys for text in answer.fields[name]]
        field_values = {*map(field.read, texts)}  # keys for one field must agree
        values[key] = field_values.pop() if len(field_values) == 1 else None
    return None if None in values.values() else values or None


# ------------------------------------------------------------------------- verdict
def explain_arithmetic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: the dict is the label's (metric card)."""
    return _explain(doc, response, is_semantic=False)


def explain_semantic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: `answer` is the label (metric card)."""
    return _explain(doc, response, is_semantic=True)


def process_results_arithmetic(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_arithmetic, doc, results)


def process_results_semantic(doc: dict, results: list[str]) -> dict[str, float]:
    return _mean_scores(explain_semantic, doc, results)


def _mean_scores(explain: Callable, doc: dict, results: list[str]) -> dict[str, float]:
    """Return means by metric of rows of scores, one a response; ValueError of no text."""
    if not all(isinstance(response, str) for response in results):
        raise ValueError("a response is not a string; use the filter take_first")
    rows = [explain(doc, response).scores for response in results]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


@lru_cache(maxsize=4096)
class Reference:
    """What a document asks for, which depends on no response."""

    def __init__(self, label: str, question: str, prompt: str | None):
        """Read a label; the prompt of an arithmetic document is None here."""
        fields = None if prompt is None else {"answer": label}
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            fields = fields or ast.literal_eval(label.strip())
        if not isinstance(fields, dict) or {*map(type, fields)} != {str}:
            raise ValueError(f"'label': {label!r:.80} is not a dict in JSON or Python")
        self.label = fields  # as the published rule compares it
        if prompt is not None and "," in label:
            fields = {"answer": label.split(",")}  # a timeline
        self.fields = {key: Field(key, gold, question) for key, gold in fields.items()}
        self.value = {key: field.value for key, field in self.fields.items()}
        # None for what has no size, and in semantic tasks.
        self.size = size(self.value, self.fields) if prompt is None else None
        request = split_instruction(question, question)[1] if prompt is None else prompt
        self.lines = {*map(str.strip, f"{question}\n{request}".split("\n"))} - {""}


def _explain(doc: dict, response: str, is_semantic: bool) -> Verdict:
    """Return what the rules read in a response to a document of either kind."""
    prompt = doc.get("prompt", "") if is_semantic else None
    reference = Reference(doc["label"], doc["question"], prompt)
    text, task_lines = mask(response), reference.lines
    lines = text.split("\n")
    if not task_lines.isdisjoint(map(str.strip, lines)):  # they are no answer
        text = "\n".join(
            "\n" * len(line) if line.strip() in task_lines else line for line in lines
        )
    card_dict, published_span = extract_published(response, is_semantic)
    flexible_answer, flexible_values = read_flexible(text, reference.fields)
    scores = {
        "accuracy": float(card_dict == reference.label),
        "accuracy_flexible": float(flexible_values == reference.value),
        "extracted": float(card_dict is not None),
    }
    if reference.size is not None:
        scores["smape"] = 100.0  # the largest, for no readable answer
        if flexible_values:  # then it has a size as well
            answer_size = size(flexible_values, reference.fields)
            norm = abs(answer_size) + abs(reference.size) or 1
            scores["smape"] = min(100.0, 100 * abs(answer_size - reference.size) / norm)
    published = card_dict and str(card_dict["answer"] if is_semantic else card_dict)
    flexible_span = flexible_answer and flexible_answer.span
    flexible_text = flexible_span and response[slice(*flexible_span)]
    texts_and_spans = published, published_span, flexible_text, flexible_span
    verdict = Verdict(scores, "", *texts_and_spans, flexible_values, reference.value)
    is_taken_back = bool(flexible_answer and not flexible_answer.fields)
    return verdict._replace(reason=_reason(verdict, is_taken_back, response, text))


def _reason(verdict: Verdict, is_taken_back: bool, response: str, text: str) -> str:
    """Return the word of REASONS for a verdict; `text` is the masked response."""
    is_published_right, is_flexible_right, *_ = verdict.scores.values()
    if is_flexible_right:
        return "right" if is_published_right else "flexible_only"
    if is_published_right and (verdict.value or is_taken_back):
        return "superseded"
    if verdict.value:
        return "other_value"
    shown_span = verdict.flexible_span or verdict.published_span
    if shown_span and text[shown_span[0]] == response[shown_span[0]]:  # not reasoning
        return "unreadable"
    ends_in_object = text.rfind("{") > text.rfind("}")
    ends_in_thought = mask(f"{response}.").endswith("\n")
    return "cut_off" if ends_in_object or ends_in_thought else "no_answer"


def size(values: dict, fields: dict[str, Field]) -> float | None:
    """Return the number that values are together: a count, or seconds; None for none."""
    # A day with a time counts from the first day's midnight (arXiv 2509.16720, and ours).
    total = 0.0
    for key, field in fields.items():
        value, unit_size = values[key], _unit(key)
        if isinstance(value, time):
            value, unit_size = 3600 * value.hour + 60 * value.minute + value.second, 1
        elif len(fields) == 1 and '"yyyy"' not in field.question:
            unit_size = 1
        if not isinstance(unit_size, int) or not isinstance(value, int | Decimal):
            return None
        total += unit_size * float(value)
    return total


# ---------------------------------------------------------------------- documents
# What a template of ToT arithmetic fills in: names, numbers, dates, units, activities.
_FILLED_IN = re.compile(
    r"[A-Z0-9]|ing\b|^(?:(?:hour|minute|second)s?|on|at|in|from|to|noon|and)\b"
)
_CUE = "(?:json|JSON|H:M:S)"
_FORMAT = r"(?:(?!\n\n).)*(?i:json|\bexplanation\b|\banswer field\b)"
_INSTRUCTION = re.compile(
    rf"(?s)(?:(?:(?!{_CUE}).)*(?:[.?!)\"]\s+(?=[A-Z])|\n\s*\n\s*))?"
    rf"(.*?{_CUE}.*?)(?:\n\s*\n\s*(?!\s|{_FORMAT})|\Z)"
)


def process_docs_arithmetic(dataset: Dataset) -> Dataset:
    """Return documents; as in all below, ValueError names file, row and column."""
    return _documents(dataset, is_semantic=False, is_separate=False)


def process_docs_semantic(dataset: Dataset) -> Dataset:
    return _documents(dataset, is_semantic=True, is_separate=False)


def process_docs_arithmetic_separate(dataset: Dataset) -> Dataset:
    """Return documents with `instruction` and `question_wo_instruct`, too."""
    return _documents(dataset, is_semantic=False, is_separate=True)


def process_docs_semantic_separate(dataset: Dataset) -> Dataset:
    return _documents(dataset, is_semantic=True, is_separate=True)


def _documents(dataset: Dataset, is_semantic: bool, is_separate: bool) -> Dataset:
    """Return the documents of a file's rows, and log their count and fingerprint."""
    source = f"ToT/{dataset.info.config_name or ''}".rstrip("/")
    if not len(dataset):
        raise ValueError(f"{source}: there are no rows; use a split that has some")
    is_fresh = bool({"level", "twin"} & {*dataset.column_names})  # made from a seed
    columns = [*(SEMANTIC_COLUMNS if is_semantic else COLUMNS), "level"]
    documents = [{key: row[key] for key in columns if key in row} for row in dataset]
    for row_number, document in enumerate(documents):
        try:
            _prepare(document, is_semantic, is_separate)
        except ValueError as error:
            fault = f"row {row_number}, column {error}; fix the row"
            raise ValueError(f"{source}, {fault}") from None
    row_count, checksum = len(documents), fingerprint(map(digest, documents))
    files = [FILES[file] for file in FILES if is_semantic == ("semantic" in file)]
    log_message = f"{source}: {row_count} rows, fingerprint {checksum}"
    if is_fresh or {(row_count, checksum), (row_count, None)} & {*files}:
        _log(logging.INFO, log_message)
    else:
        file_texts = (f"{n} rows" + f", fingerprint {x}" * bool(x) for n, x in files)
        log_message = f"{log_message}; the benchmark has {' or '.join(file_texts)}"
        _log(logging.WARNING, f"{log_message}: scores may not be comparable")
    return type(dataset).from_list(documents)


def _prepare(document: dict, is_semantic: bool, is_separate: bool) -> None:
    """Put the question into a prompt that lacks it; take that of separate tasks apart."""
    for column in SEMANTIC_COLUMNS if is_semantic else COLUMNS:
        if not isinstance(cell := document.get(column), str) or not cell.strip():
            raise ValueError(f"'{column}': {cell!r:.80} is missing, empty or not text")
    column, question = "prompt" if is_semantic else "question", document["question"]
    if question.strip() not in document[column]:
        document[column] = f"{document[column].rstrip()}\n\n{question.strip()}"
    if is_separate:
        prompt_left, instruction = split_instruction(document[column], question)
        if not instruction or not prompt_left:
            raise ValueError(f"'{column}': {prompt_left!r:.80} has no sentence on JSON")
        document.update(instruction=instruction, question_wo_instruct=prompt_left)
    label = document["label"]
    reference = Reference(label, question, document.get("prompt"))
    label_as_answer = json.dumps(reference.label, default=str)
    if _explain(document, label_as_answer, is_semantic).reason != "right":
        raise ValueError(f"'label': {label!r:.80} is not right as an answer to itself")


def gold_response(doc: dict) -> str:
    """Return the reference of a document as the prompt asks for it."""
    if doc.get("prompt"):
        return f'{{"answer": "{doc["label"]}"}}'
    return doc["label"].replace("'", '"')


def digest(doc: dict) -> bytes:
    """Return a digest of what prompt and scores of a document depend on."""
    digested_cells = [doc.get("prompt"), doc["question"], doc["label"]]
    return hashlib.sha256(json.dumps(digested_cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what documents share: a question, of arithmetic its template."""
    question = doc.get("question") or digest(doc).hex()
    if "prompt" in doc:
        return question
    return " ".join(word for word in question.split() if not _FILLED_IN.search(word))


def fingerprint(digests: Iterable[bytes]) -> str:
    """Return one digest of the digests of documents, whatever their order."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()[:16]


def split_instruction(prompt: str, question: str) -> tuple[str, str]:
    """Return a prompt without its format instruction, and the instruction or ""."""
    # It goes from the first sentence with JSON, or the H:M:S that the JSON is to hold, to
    # the end of the last paragraph about the format, or to where `question` begins.
    if not (match := _INSTRUCTION.match(prompt)):
        return prompt, ""
    instruction = match[1].partition(question.strip())[0]
    cut_start, cut_end = match.start(1), match.start(1) + len(instruction)
    prompt_left = f"{prompt[:cut_start].strip()}\n\n{prompt[cut_end:].strip()}".strip()
    return prompt_left, instruction.strip()
