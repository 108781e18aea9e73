"""Test of Time (ToT): the published rule, the flexible one, the verdict, documents."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import logging
import re
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from datasets import Dataset
    from lm_eval_tasks import answer
else:  # What the families share stands beside their folders, whatever pack is installed.
    _SPEC = importlib.util.spec_from_file_location(
        "temporal_answer", Path(__file__).parents[1] / "answer.py"
    )
    answer = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(answer)

_log = lru_cache(logging.getLogger("lm_eval.tasks.tot").log)  # once a run
REASONS = {  # why an answer scores as it does: one of these
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


def extract_published(
    response: str, is_semantic: bool
) -> tuple[dict | None, tuple[int, int] | None]:
    """Return the first JSON object but for its explanation, and its span (card)."""
    fields, object_span = next(_objects(response, _DECODER), ({}, (0, 0)))
    fields = {key: value for key, value in fields.items() if key != "explanation"}
    if is_semantic:
        answer_field = fields.get("answer")
        fields = {} if answer_field is None else {"answer": str(answer_field)}
    return (fields, object_span) if fields else (None, None)


def _objects(
    text: str, decoder: json.JSONDecoder
) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Yield the outermost objects in a text, and their spans.

    It ends when failures have read the text 100 times; no real text needs four times.
    """
    characters_left, position = 100 * len(text), 0
    while characters_left >= 0 and (brace := _OBJECT_START.search(text, position)):
        try:
            decoded_object, position = decoder.raw_decode(text, brace.start())
        except (json.JSONDecodeError, RecursionError) as error:
            position = brace.start() + 1
            characters_left -= getattr(error, "pos", len(text))
        else:
            yield decoded_object, (brace.start(), position)


# ------------------------------------------------- flexible rule: where the answer is
class Extracted(NamedTuple):
    """The fields of an answer in a response, by the keys that it gives them."""

    fields: dict[
        str, list
    ]  # in small letters -> what is said of it, once or more often
    span: tuple[int, int]
    is_taken_back: bool = False  # by what is behind it


def _flat(pairs: list[tuple[str, object]]) -> tuple[dict, ...]:
    """Return the objects in an object, but for its explanation, and what else it has."""
    fields: dict[str, list] = {}
    inner_objects: list[dict] = []
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
_LENIENT_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_flat, parse_int=str, parse_float=str
)
MADE_UP_PROMPT = answer.Pattern(
    "A line that begins like a fixed line of the prompt",
    r"\n [ \t#*]* (?: Question: | Q: | Here[ ]is[ ]a[ ]set[ ]of[ ]temporal[ ]facts )",
    reads={"E5\n\n**Question:** Who?": "\n**Question:", "E5\nQ: Who?": "\nQ:"},
    refuses=["Question: Who?", "E5\nThe question: who?"],
)
PAIR = answer.Pattern(
    "A key and its value, outside of JSON; `answer` stands for the keys that are asked for",
    r"""
    (?: ^ | [{,] ) \s{0,40}                      # at a line start, behind a brace or comma
    ["']? (?P<key> answer ) ["']? \s{0,20} : \s{0,20}
    (?P<value>
        \[ [^\[\]]* \]                           # a list
      | (?P<quote> ["'] ) (?: (?! (?P=quote) ) [^\\\n] | \\. )* (?P=quote)
        (?= \s{0,20} (?: [,}\n] | \Z ) )         # a string with quotation marks
      | (?P<bare> \[? [^,{}\[\]\n]*              # or none: a comma may stand before a digit
            (?: , (?= [ ]? [0-9] ) [^,{}\[\]\n]* )* )
    )
    """,
    reads={
        "answer: 5 May, 2012": "answer: 5 May, 2012",
        "{'explanation': 'it\\'s', 'answer': 'E5'}": ", 'answer': 'E5'",
        '{"answer": ["E5", "E7"],}': '{"answer": ["E5", "E7"]',
        "{answer: E5, other: E7}": "{answer: E5",
    },
    refuses=["the answer: E5", '"final answer": 5', "answer = 5"],
    flags=re.IGNORECASE | re.MULTILINE,
)
CODE_COMMENT = answer.Pattern(
    "A comment of a programming language",
    r"\s (?: // | \# ) [^\n]* | /\* [^*\n]* \*/",
    replacement="",
    reads={"5 // days": "5", "5 # days": "5", "5 /* days */": "5 "},
    refuses=["5/6", "http://a", "#5"],
)


def extract_flexible(text: str, keys: set[str], is_one: bool) -> Extracted | None:
    """Return the last answer of a masked response: an object, pairs or a cue.

    keys: those that were asked for; is_one: whether the answer has one field. Then an
    object with one other key counts, and a cue in a response without an object.
    """
    objects = []
    for inner_objects, span in _objects(text, _LENIENT_DECODER):
        objects += [Extracted(fields, span) for fields in inner_objects]
    if objects:
        text = _before_prompt(text, objects[0].span[1])
        objects = [obj for obj in objects if obj.span[0] < len(text)]
    pairs = _last_pairs(text, objects[-1].span[1] if objects else 0, keys)
    candidates = [
        obj
        for obj in objects
        if keys & obj.fields.keys() and not _is_doubted(text, obj.span[0])
    ]
    if pairs:
        candidates.append(pairs)
    if not candidates and is_one:
        if not _OBJECT_START.search(text):
            return _last_cue(text)
        candidates = [
            obj
            for obj in objects
            if len({"explanation", *obj.fields}) == 2
            and not _is_doubted(text, obj.span[0])
        ]
    if not candidates:
        return None
    fields, span, _ = candidates[-1]
    closing_brace_at = text.find("}", span[1] - 1)  # before it, nothing takes it back
    text_behind = text[max(span[1] - 1, closing_brace_at) :]
    return Extracted(
        fields, span, is_taken_back=answer.takes_back(answer.quiet(text_behind))
    )


def _before_prompt(text: str, start: int) -> str:
    """Return a text up to where the model makes up a prompt, behind a position."""
    made_up_prompt = MADE_UP_PROMPT.regex.search(text, start)
    return text[: made_up_prompt.start()] if made_up_prompt else text


def _is_doubted(text: str, position: int) -> bool:
    text_before = text[max(0, position - 60) : position]
    return bool(answer.DOUBTED.regex.search(text_before))


def _last_pairs(text: str, start: int, keys: set[str]) -> Extracted | None:
    """Return the last pair of each key from a position on, where no JSON is."""
    brace_position = text.find("{", start)
    if brace_position < 0:
        if text.find("}", start) < 0:
            return None
        brace_position = start
    fields: dict[str, list] = {}
    positions: list[int] = []
    for pair in _pair_regex(frozenset(keys)).finditer(text, brace_position):
        value = pair["value"].strip("\"'")
        if pair["bare"] is not None:
            value = CODE_COMMENT.remove_from(value).strip()
            if not value:  # it is an object's
                continue
        fields[pair["key"].lower()] = [value]
        positions += pair.start("key"), pair.end()
    return Extracted(fields, (positions[0], positions[-1])) if fields else None


@lru_cache
def _pair_regex(keys: frozenset[str]) -> re.Pattern:
    """Return PAIR with keys in the place of `answer`."""
    alternatives = " | ".join(map(re.escape, sorted(keys)))
    text = PAIR.regex.pattern.replace("(?P<key> answer )", f"(?P<key> {alternatives} )")
    return re.compile(text, PAIR.regex.flags)


def _last_cue(text: str, offset: int = 0) -> Extracted | None:
    """Return what a text's last cue points to, by kind; the text begins at `offset`."""
    for statement in reversed(answer.statements(text, MADE_UP_PROMPT)):
        if not statement.superseded:
            start, end = statement.span
            fields = {statement.kind: [text[start:end]]}
            return Extracted(fields, (offset + start, offset + end))
    return None


# --------------------------------------------------- flexible rule: what a field reads
# Keys that 50 and 100 prompts ask for where the label has another.
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}
WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
# "mon", "mond", … and "monday" are "Monday".
WEEKDAYS = {name[:end].lower(): name for name in WEEK for end in range(3, 10)}
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: str(n) for n, word in enumerate(_NUMBER_WORDS.split())}
DAY_OFFSETS = {"same day": "0", "next day": "1", "previous day": "-1"}
UNITS: dict[str, int | str] = {  # in seconds; those of months and years differ
    "hour": 3600,
    "minute": 60,
    "second": 1,
    "day": 86400,
    "week": 604800,
    "month": "month",
    "year": "year",
}
UNIT_LETTERS = str.maketrans(
    "xyzabc", "hmshms"
)  # prompts say "X hours, Y minutes", too
_MONTH = r"(?: mm | 0?[1-9] | 1[0-2] ) [-/.]"
_DAY = r"(?: dd | 1[3-9] | 2[0-9] | 3[01] ) [-/.]"
ASKED_ORDER = answer.Pattern(
    "A date in a question, which shows whether the month or the day goes first",
    rf"""
    \b (?: (?P<month_first> {_MONTH} {_DAY} ) | (?P<day_first> {_DAY} {_MONTH} ) )
    (?: yyyy | [0-9]{{4}} ) \b
    """,
    reads={
        '"mm/dd/yyyy"': "mm/dd/yyyy",
        "on 5/13/2012": "5/13/2012",
        "dd-mm-yyyy": "dd-mm-yyyy",
    },
    refuses=["yyyy-mm-dd", "on 5/6/2012", "2012-13-05"],
)
_DIGITS = "(?: [0-9]{1,3} (?: ,[0-9]{3} ){1,4} | [0-9]{1,15} )"
NUMBER_AND_UNIT = answer.Pattern(
    "A text that is a number, with or without a word behind it",
    rf"""
    \A (?= [+-]* \.? [0-9] )
    \+? (?P<number> -? {_DIGITS}? (?: \.[0-9]{{1,15}} )? )
    (?: [ ]? (?P<unit> [a-z]+ ) )? \Z
    """,
    reads={
        "1,307 days": "1,307 days",
        "1,307,000": "1,307,000",
        "-6.5": "-6.5",
        "+1": "+1",
        ".5h": ".5h",
    },
    refuses=["1.307,5", "5 of 6", "five", "1,3", "5 days ago"],
)
_ERA = r"(?: [ac]\.?[de] | b\.?c (?:\.?e)? ) \.?"
YEAR_AND_ERA = answer.Pattern(
    "A text that is a year, with or without an era on one side",
    rf"\A ( {_ERA} [ ]? )? {_DIGITS} (?(1) | (?: [ ]? {_ERA} )? ) \Z",
    reads={
        "792 ad": "792 ad",
        "bc 44": "bc 44",
        "44 b.c.e.": "44 b.c.e.",
        "1985": "1985",
    },
    refuses=["ad 792 ad", "the year 792", "792 bd"],
)
CLOCK = answer.Pattern(
    "A text that is a time of a 24-hour clock, or of a 12-hour clock with am or pm",
    r"""
    \A (?= .* [:m] )                             # a colon, am or pm has to be there
    (?P<hour> [0-9]{1,2} )
    (?: : (?P<minute> [0-9]{2} ) (?: : (?P<second> [0-5][0-9] ) )? )?
    (?: [ ]? (?P<half> [ap] ) \.?m\.? )? \Z
    """,
    reads={"16:05": "16:05", "4 p.m.": "4 p.m.", "4:05:30 pm": "4:05:30 pm"},
    refuses=["16", "4:5", "16:05:75", "at 16:05", "4 p"],
)
WORD = answer.Pattern(
    'A text that is an entity, such as "e17", or says that the question has no answer',
    r"""
    \A (?: (?: the[ ] | entity[ ] )? (?P<entity> e[0-9]+ ) (?: [ ]era )?
         | (?: (?: it | this | the[ ]question ) [ ] )?
           (?P<unanswerable> (?: is[ ] )? unanswerable
             | (?: can[ ]?not | can't ) [ ]be[ ] (?: answered | determined ) )
       ) \Z
    """,
    reads={
        "entity e17": "entity e17",
        "the e17 era": "the e17 era",
        "unanswerable": "unanswerable",
        "the question is unanswerable": "the question is unanswerable",
        "it cannot be determined": "it cannot be determined",
    },
    refuses=["e17 and e18", "unknown", "not answerable", "e"],
)
OTHER_WORD = answer.Pattern(
    "An entity or a weekday in a comment",
    rf"\b (?: e[0-9]+ | {' | '.join(WEEK)} ) \b",
    reads={"(after E46)": "E46", "since Sunday": "Sunday"},
    refuses=["ME46", "Sun"],
    flags=re.IGNORECASE,
)
ASKED_UNIT = answer.Pattern(
    "The unit that a question asks for, in small letters",
    r"(?: <num_ | how[ ]many[ ] | number[ ]of[ ] | \bin[ ] ) (?P<unit> [a-z]{3,} )",
    reads={"how many days are": "days", "<num_hours>": "hours", "in years": "years"},
    refuses=["in a day", "within days", "many days"],
)
LIST_SEPARATOR = answer.Pattern(
    "What stands between the items of a list",
    r"[,;<\u2192] | -{1,2}> | \b and \b",
    reads={"E5, E7": ",", "E5 -> E7": "->", "E5 and E7": "and", "E5 < E7": "<"},
    refuses=["E5 E7", "E5 - E7", "sand"],
)


def _unit(word: str) -> int | str:
    """Return the seconds of a unit, be it cut, or its name; of others the singular."""
    word = word.lower().rstrip("s") or "s"
    if len(word) == 1:
        word = word.translate(UNIT_LETTERS)
    return next((UNITS[name] for name in UNITS if name.startswith(word)), word)


class Field:
    """A field of a label; its grammar returns the value of a text in lower case or None."""

    def __init__(self, key: str, label: object, question: str):
        """Find the grammar that reads a label, and what it stands for in a question."""
        self.question = question.lower()
        self.keys = [key.lower()]
        prompted_key = PROMPTED_KEYS.get(key)
        if prompted_key and f'"{prompted_key}"' in question:
            self.keys.append(prompted_key)
        known_units = {*UNITS.values()}
        asked_words = [key]
        if _unit(key) not in known_units:
            asked_words = ASKED_UNIT.regex.findall(self.question)
        self.units = {*map(_unit, asked_words)}
        # What another key than the asked one may not be.
        self.other_keys: set[int | str] = {"explanation"}
        if known_units & self.units:
            self.other_keys |= known_units - self.units
        self.has_seconds = str(label).count(":") != 1
        self.is_list = isinstance(label, list)
        label_items = [str(x) for x in (label if isinstance(label, list) else [label])]
        texts = [answer.plain(item).lower() for item in label_items]
        self.grammar = self._grammar_of(texts or [""])
        self.value = self._together([self.grammar(text) for text in texts])

    def _grammar_of(self, texts: list[str]) -> Callable[[str], object]:
        """Return the first grammar that reads a label: it reads the answers, too."""
        for grammar in (self.number, self.year, self.clock, self.word, self.date):
            if None not in map(grammar, texts):
                return grammar
        return str

    def number(self, text: str) -> Decimal | None:
        """Return a number; a word behind it is the unit that the field counts."""
        first_word, _, rest = text.partition(" ")
        text = f"{NUMBER_WORDS.get(first_word, first_word)} {rest}".strip()
        if "day" in self.keys:
            text = DAY_OFFSETS.get(text.replace("_", " "), text)
        match = NUMBER_AND_UNIT.regex.search(text)
        if not match or (match["unit"] and _unit(match["unit"]) not in self.units):
            return None
        return Decimal(match["number"].replace(",", ""))

    def year(self, text: str) -> str | None:
        """Return a year and its era; without one it is AD."""
        if not YEAR_AND_ERA.regex.search(text):
            return None
        year = int(re.sub("[^0-9]", "", text))
        return f"{year} BC" if "b" in text else f"{year} AD"

    def date(self, text: str) -> date | None:
        """Return a date of three fields, in the prompt's order if two make one."""
        fields = answer.date_fields(text)
        names_month = not answer.MONTH_NUMBERS.keys().isdisjoint(fields)
        if len(fields) != 3 or len(fields[0]) == 4 or names_month:
            return answer.read_day(fields)
        first, second, year = fields
        month_first = answer.read_day([year, first, second])
        day_first = answer.read_day([year, second, first])
        asked_orders = [*ASKED_ORDER.regex.finditer(self.question)]
        if asked_orders:  # the last one counts
            if asked_orders[-1]["month_first"]:
                return month_first or day_first
            return day_first or month_first
        if month_first and day_first and month_first != day_first:
            return None
        return month_first or day_first

    def clock(self, text: str) -> time | None:
        """Return the time of a 12- or 24-hour clock, without seconds if none are asked."""
        match = CLOCK.regex.search(text)
        if not match:
            return None
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        second = int(match["second"] or 0) if self.has_seconds else 0
        if match["half"]:
            if not 1 <= hour <= 12:
                return None
            hour %= 12
            if match["half"] == "p":
                hour += 12
        with suppress(ValueError):
            return time(hour, minute, second)
        return None

    def word(self, text: str) -> str | None:
        """Return a weekday, an entity such as "e17", or "unanswerable"."""
        match = WORD.regex.search(text)
        if match:
            return match["entity"] or "unanswerable"
        return WEEKDAYS.get(text)

    def read(self, cell: object) -> object:
        """Return the value of what an answer has in the field; None if it has none."""
        if isinstance(cell, str) and (self.is_list or cell.startswith("[")):
            text = answer.plain(cell[: answer.LONGEST]).strip("[]")
            cell = LIST_SEPARATOR.regex.split(text)
        items = cell if isinstance(cell, list) else [cell]
        if self.is_list:
            items = [item for item in items if not _is_null(item)]
        return self._together([self._read_text(item) for item in items])

    def _together(self, values: list) -> object:
        """Return the value of a list's items, or of the one item of no list; or None."""
        if None in values:
            return None
        if not self.is_list:
            return values[0] if len(values) == 1 else None
        return tuple(sorted(values) if "unordered_list" in self.keys else values)

    def _read_text(self, text: object) -> object:
        """Return the value of a text as a whole, or without its lead and one comment."""
        if not isinstance(text, str):
            return None
        text = answer.plain(text)
        if not text:
            return None
        find_parts: Callable[[str], Iterable[str]] = answer.numbers
        if self.grammar == self.word:
            find_parts = OTHER_WORD.regex.findall
        for reading, comment in answer.readings(text):
            value = self.grammar(reading.lower())
            extra_parts = {*find_parts(comment)} - {*find_parts(reading)}
            if value is not None and not extra_parts:
                return value
        return None


def _is_null(item: object) -> bool:
    return str(item).strip(" \"'").lower() in ("", "none", "null")


def read_flexible(text: str, fields: dict) -> tuple[Extracted | None, dict | None]:
    """Return what a masked response commits to, and its values where all can be read."""
    keys = {key for field in fields.values() for key in field.keys}
    extracted = extract_flexible(text, keys, len(fields) == 1)
    values = _values(extracted, fields)
    if extracted is None or len(fields) != 1 or "}" not in text:
        return extracted, values
    # A later cue may say another value.
    text_behind = _before_prompt(text, extracted.span[1])[extracted.span[1] :]
    cue = _last_cue(text_behind, extracted.span[1])
    cue_values = _values(cue, fields) if cue and "line" not in cue.fields else None
    if not cue_values or cue_values == values:
        return extracted, values
    if values is None:
        return cue, cue_values
    return extracted._replace(is_taken_back=True), None


def _values(extracted: Extracted | None, fields: dict) -> dict | None:
    """Return the values of an answer by the keys of a label; None without one of them."""
    if extracted is None or extracted.is_taken_back:
        return None
    values = {}
    for key, field in fields.items():
        said_keys = [name for name in field.keys if name in extracted.fields]
        if not said_keys and len(fields) == 1:
            said_keys = [
                name for name in extracted.fields if _unit(name) not in field.other_keys
            ]
        texts = [text for name in said_keys for text in extracted.fields[name]]
        field_values = {*map(field.read, texts)}  # keys for one field must agree
        if len(field_values) != 1 or None in field_values:
            return None
        values[key] = field_values.pop()
    return values or None


# ------------------------------------------------------------------------- verdict
def explain_arithmetic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: the dict is the label's (metric card)."""
    return _explain(doc, response, is_semantic=False)


def explain_semantic(doc: dict, response: str) -> Verdict:
    """Return what the rules read; published: `answer` is the label (metric card)."""
    return _explain(doc, response, is_semantic=True)


def process_results_arithmetic(doc: dict, results: list[str]) -> dict[str, float]:
    """Return metric -> mean of the scores of responses; ValueError for one that is not text."""
    return answer.mean_scores(explain_arithmetic, doc, results)


def process_results_semantic(doc: dict, results: list[str]) -> dict[str, float]:
    return answer.mean_scores(explain_semantic, doc, results)


@lru_cache(maxsize=4096)
class Reference:
    """What a document asks for, which depends on no response."""

    def __init__(self, label: str, question: str, prompt: str | None):
        """Read a label; the prompt of an arithmetic document is None here."""
        if prompt is None:
            self.label = _read_label(label)  # as the published rule compares it
            golds = self.label
            request = split_instruction(question, question)[1]
        else:
            self.label = {"answer": label}
            golds = {"answer": label.split(",")} if "," in label else self.label
            request = prompt
        self.fields = {key: Field(key, gold, question) for key, gold in golds.items()}
        self.value = {key: field.value for key, field in self.fields.items()}
        # None for what has no size, and in semantic tasks.
        self.size = size(self.value, self.fields) if prompt is None else None
        self.lines = {*map(str.strip, f"{question}\n{request}".split("\n"))} - {""}

    def without_its_lines(self, text: str) -> str:
        """Return a text with newlines for lines of the question and request: no answers."""
        lines = text.split("\n")
        if self.lines.isdisjoint(map(str.strip, lines)):
            return text
        return "\n".join(
            "\n" * len(line) if line.strip() in self.lines else line for line in lines
        )


def _read_label(label: str) -> dict:
    """Return the dict that a label is in JSON or Python; ValueError of another text."""
    with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        fields = ast.literal_eval(label.strip())
        if isinstance(fields, dict) and {*map(type, fields)} == {str}:
            return fields
    raise ValueError(f"'label': {label!r:.80} is not a dict in JSON or Python")


def _explain(doc: dict, response: str, is_semantic: bool) -> Verdict:
    """Return what the rules read in a response to a document of either kind."""
    prompt = doc.get("prompt", "") if is_semantic else None
    reference = Reference(doc["label"], doc["question"], prompt)
    published_fields, published_span = extract_published(response, is_semantic)
    text = reference.without_its_lines(answer.mask(response))
    extracted, value = read_flexible(text, reference.fields)
    scores = {
        "accuracy": float(published_fields == reference.label),
        "accuracy_flexible": float(value == reference.value),
        "extracted": float(published_fields is not None),
    }
    if reference.size is not None:
        scores["smape"] = _smape(value, reference)
    reason = _reason_of_value(scores, value, extracted)
    if reason is None:
        shown_span = extracted.span if extracted else published_span
        is_open = text.rfind("{") > text.rfind("}")
        reason = answer.reason_without_value(response, text, shown_span, is_open)
    published = None
    if published_fields:
        published = str(published_fields["answer"] if is_semantic else published_fields)
    return Verdict(
        scores=scores,
        reason=reason,
        published=published,
        published_span=published_span,
        flexible=response[slice(*extracted.span)] if extracted else None,
        flexible_span=extracted.span if extracted else None,
        value=value,
        reference=reference.value,
    )


def _reason_of_value(
    scores: dict, value: dict | None, extracted: Extracted | None
) -> str | None:
    """Return the word of REASONS for a value, or for one that was taken back; else None."""
    if scores["accuracy_flexible"]:
        return "right" if scores["accuracy"] else "flexible_only"
    is_taken_back = extracted is not None and extracted.is_taken_back
    if scores["accuracy"] and (value or is_taken_back):
        return "superseded"
    return "other_value" if value else None


def _smape(value: dict | None, reference: Reference) -> float:
    """Return the symmetric percentage error; 100, the largest, for no readable answer."""
    answered_size = size(value, reference.fields) if value else None
    if answered_size is None or reference.size is None:
        return 100.0
    norm = abs(answered_size) + abs(reference.size) or 1
    return min(100.0, 100 * abs(answered_size - reference.size) / norm)


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
FILLED_IN = answer.Pattern(
    "A word that a template of ToT arithmetic fills in: a name, a number, a date, a unit,"
    " an activity",
    r"""
    [A-Z0-9]
    | ing \b
    | ^ (?: (?: hour | minute | second ) s? | on | at | in | from | to | noon | and ) \b
    """,
    reads={"Mary": "M", "13:00": "1", "reading": "ing", "hours": "hours", "at": "at"},
    refuses=["was", "date", "inside", "days"],
)
_FORMAT = "(?: json | JSON | H:M:S )"
INSTRUCTION = answer.Pattern(
    "The instruction on the format: from the first sentence that names JSON or H:M:S to the"
    " end of its paragraph, or of the last paragraph behind it that is about the format",
    rf"""
    \A
    (?: (?: (?! {_FORMAT} ) . )*
        (?: [.?!)"] \s+ (?= [A-Z] ) | \n\s*\n\s* )      # what stands before the sentence
    )?
    (?P<instruction> .*? {_FORMAT} .*? )
    (?: \n\s*\n\s* (?! \s | (?: (?! \n\n ) . )* (?i: json | \bexplanation\b | \banswer[ ]field\b ) )
      | \Z )
    """,
    reads={
        "Who won? Answer as a JSON.": "Answer as a JSON.",
        "Answer as a JSON.\n\nWho won?": "Answer as a JSON.",
        "Who won?\n\nUse H:M:S.\n\nThe explanation first.": (
            "Use H:M:S.\n\nThe explanation first."
        ),
    },
    refuses=["Who won? Answer in a word."],
    flags=re.DOTALL,
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
    columns = [*(SEMANTIC_COLUMNS if is_semantic else COLUMNS), "level"]
    documents = [{key: row[key] for key in columns if key in row} for row in dataset]
    for row_number, document in enumerate(documents):
        try:
            _prepare(document, is_semantic, is_separate)
        except ValueError as error:
            fault = f"row {row_number}, column {error}; fix the row"
            raise ValueError(f"{source}, {fault}") from None
    row_count, checksum = len(documents), fingerprint(map(digest, documents))
    message = f"{source}: {row_count} rows, fingerprint {checksum}"
    is_fresh = not {"level", "twin"}.isdisjoint(dataset.column_names)  # from a seed
    files = [FILES[file] for file in FILES if is_semantic == ("semantic" in file)]
    if is_fresh or (row_count, checksum) in files or (row_count, None) in files:
        _log(logging.INFO, message)
    else:
        file_texts = [
            f"{count} rows, fingerprint {known}" if known else f"{count} rows"
            for count, known in files
        ]
        message += f"; the benchmark has {' or '.join(file_texts)}"
        _log(logging.WARNING, f"{message}: scores may not be comparable")
    return type(dataset).from_list(documents)


def _prepare(document: dict, is_semantic: bool, is_separate: bool) -> None:
    """Put the question into a prompt that lacks it; take that of separate tasks apart."""
    for column in SEMANTIC_COLUMNS if is_semantic else COLUMNS:
        cell = document.get(column)
        if not isinstance(cell, str) or not cell.strip():
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
    prompt, question = doc.get("prompt"), doc["question"]
    digested_cells = [prompt, question, doc["label"]]
    # The parts of a separate task follow from the prompt; others are digested as well.
    parts = doc.get("question_wo_instruct"), doc.get("instruction")
    if parts != (None, None) and parts != split_instruction(
        prompt or question, question
    ):
        digested_cells += parts
    return hashlib.sha256(json.dumps(digested_cells).encode()).digest()


def cluster(doc: dict) -> str:
    """Return what documents share: a question, of arithmetic its template."""
    question = doc.get("question") or digest(doc).hex()
    if doc.get("prompt") is not None:
        return question
    words = question.split()
    return " ".join(word for word in words if not FILLED_IN.regex.search(word))


fingerprint = answer.fingerprint


def split_instruction(prompt: str, question: str) -> tuple[str, str]:
    """Return a prompt without its format instruction, and the instruction or "".

    The instruction ends where the question begins, if that is in it.
    """
    match = INSTRUCTION.regex.match(prompt)
    if not match:
        return prompt, ""
    instruction = match["instruction"].partition(question.strip())[0]
    cut_start = match.start("instruction")
    cut_end = cut_start + len(instruction)
    prompt_left = f"{prompt[:cut_start].strip()}\n\n{prompt[cut_end:].strip()}".strip()
    return prompt_left, instruction.strip()


# -------------- what the tools know of this family (`Family` in utils/core/family_contract.py)
METRICS = {
    "accuracy": {"role": "published", "formerly": "acc"},
    "accuracy_flexible": {"role": "flexible", "formerly": "acc_flexible"},
    "extracted": {},
    "smape": {"top": 100, "optional": True},  # of references that have a size
}
DOCUMENTS = {
    "explain_arithmetic": {"question": str, "label": str},
    "explain_semantic": {"question": str, "label": str, "prompt": str},
}
# The JSON object that a question asks for; bounded, so that the search takes linear time.
_ASKED_OBJECT = re.compile(
    r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}"""
)


def asked_format(doc: dict) -> str | None:
    """Return the fields of the JSON object that a question asks for; None without one."""
    asked_object = _ASKED_OBJECT.search(doc.get("question") or "")
    return " ".join(asked_object["fields"].split()) if asked_object else None


BREAKDOWNS = {
    "question_type": "question_type",
    "format": asked_format,
    "level": "level",
    "graph_gen_algorithm": "graph_gen_algorithm",
    "sorting_type": "sorting_type",
}
BOARD_COLUMNS = ["question_type", "format"]


def reference_key(doc: dict) -> str:
    """Return what is equal for documents with equal references."""
    return doc["label"]
