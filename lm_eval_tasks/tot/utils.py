"""Documents and scores of Test of Time (ToT).

Read from top to bottom: tables, the published rule, the flexible rule, documents,
`process_results`. Both rules keep three stages apart: extract (response -> answer,
never sees the reference), read (answer -> value), match (two values).
"""

import ast
import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from decimal import Decimal

import datasets


eval_logger = logging.getLogger("lm_eval.tasks.tot")

# Rows of each configuration of baharef/ToT (its hub card swaps the first two), and the
# fingerprint of those that this pack is proven on.
KNOWN_ROWS = {"tot_arithmetic": 1850, "tot_semantic": 2800, "tot_semantic_large": 46480}
KNOWN_FINGERPRINTS = {"tot_arithmetic": "6bdf6382cd8bd76a"}

# Columns that prompts, scores, breakdowns and logs need.
ARITHMETIC_COLUMNS = ("question", "question_type", "label")
SEMANTIC_COLUMNS = (
    "question",
    "question_type",
    "label",
    "prompt",
    "graph_gen_algorithm",
    "sorting_type",
)

# Answers are a few flat fields; with deeper ones refused, nothing recurses unbounded.
MAX_NESTING = 100
# No value is longer; what is longer is read as nothing.
MAX_VALUE_LENGTH = 1000

# Keys that prompts ask for where the label has another: 50 prompts say "age", 100
# misspell "unordered_list".
PROMPTED_KEYS = {"answer": "age", "unordered_list": "unorered_list"}

MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
# Hyphens, dashes and the minus sign that models write for "-".
DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
ERAS = {"ad": "AD", "ce": "AD", "bc": "BC", "bce": "BC"}
DAY_OFFSETS = {"same day": 0, "next day": 1, "previous day": -1}
UNITS = {
    "year": ("year", "years", "yr", "yrs", "years old"),
    "month": ("month", "months"),
    "week": ("week", "weeks"),
    "day": ("day", "days", "d"),
    "hour": ("hour", "hours", "hr", "hrs", "h"),
    "minute": ("minute", "minutes", "min", "mins", "m"),
    "second": ("second", "seconds", "sec", "secs", "s"),
}
# What the prompts' letters stand for: "X hours, Y minutes, and Z seconds" and the like.
UNIT_OF_LETTER = dict(zip("HMSXYZABC", ("hour", "minute", "second") * 3, strict=True))


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

_STRICT_START = re.compile(r'\{[ \t\n\r]*["}]')
_STRICT_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<mark>[{}\[\],:])
        |(?P<string>"[^"\\\x00-\x1f]*
            (?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*")
        |(?P<scalar>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?
            |true|false|null|NaN|-?Infinity)
    )""",
    re.VERBOSE,
)


def _scan_strict_object(text: str, start: int, ends: dict[int, int | None]) -> None:
    """Parse the JSON object at `start` as strictly as `json` does.

    Notes in `ends`, for it and for each object within, where it ends; None for nowhere.
    """
    opened: list[int] = []
    expected, position = "value", start
    while token := _STRICT_TOKEN.match(text, position):
        kind, position = token["mark"] or token.lastgroup, token.end()
        in_object = bool(opened) and text[opened[-1]] == "{"
        match expected, kind:
            case ("value" | "value or close", "{" | "[") if len(opened) < MAX_NESTING:
                opened.append(position - 1)
                if kind == "{":
                    ends[position - 1] = None
                expected = "key or close" if kind == "{" else "value or close"
            case ("value" | "value or close", "string" | "scalar"):
                expected = "comma or close"
            case ("key" | "key or close", "string"):
                expected = "colon"
            case ("colon", ":"):
                expected = "value"
            case ("comma or close", ","):
                expected = "key" if in_object else "value"
            case ("comma or close" | "key or close", "}") if in_object:
                ends[opened.pop()] = position
                expected = "comma or close"
            case ("comma or close" | "value or close", "]") if not in_object:
                opened.pop()
                expected = "comma or close"
            case _:
                return
        if not opened:
            return


def _bounded_int(digits: str) -> int | float:
    """Return the integer, or a float where Python may refuse so many digits."""
    return int(digits) if len(digits) < 1000 else float(digits)


def extract_published(response: str) -> dict | None:
    """Return the first valid JSON object in `response`, or None (source: metric card).

    The explanation is left out; with nothing but an explanation there is no answer.
    Where the card decodes at each brace in turn, which is quadratic, a brace that an
    earlier attempt passed outside of a string is not tried again: its fate is known.
    Any place is tried at most twice, since quotes pair up in no more than two ways.
    """
    ends: dict[int, int | None] = {}
    for brace in _STRICT_START.finditer(response):
        start = brace.start()
        if start not in ends:
            _scan_strict_object(response, start, ends)
        if ends[start] is not None:
            found = json.loads(response[start : ends[start]], parse_int=_bounded_int)
            found.pop("explanation", None)
            return found or None
    return None


# ------------------------------------------------------------------- flexible rule

_KEY = (
    r"""(?:"(?:[^"\\\n]|\\.){0,200}"\s*:"""
    r"""|(?<=[{,\s])(?:'(?:[^'\\\n]|\\.){0,200}'\s*:|[A-Za-z_]\w{0,63}:(?=[\s"'\[])))"""
)
# Bounded: a comment that does not end is looked for after each field.
_COMMENT = r"(?://|#)[^\n]{0,200}\n|/\*[^\n]{0,200}?\*/"
_KEY_OR_BRACKET = re.compile(rf"[{{}}\[\]]|{_KEY}")
_BETWEEN_FIELDS = re.compile(rf"[\s,]*(?:(?:{_COMMENT})[\s,]*)*")
_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(
    r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'""", re.DOTALL
)
_UNQUOTED_END = re.compile(rf"[{{}}\[\]\"\n]|\s(?://|#|/\*)|{_KEY}")
_UNQUOTED_ITEM = re.compile(r"""[^\s,\[\]{}"'][^,\[\]{}"\n]*""")
_AFTER_VALUE = re.compile(rf"\s*(?:[,}}#]|//|/\*|{_KEY})")
_AFTER_ITEM = re.compile(r"\s*(?:[,\]#]|//|/\*)")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_TYPOGRAPHIC_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")


def _unescape(text: str) -> str:
    """Return the text that the inside of a quoted JSON or Python string stands for."""
    named = {"n": "\n", "t": "\t", "r": "\r"}
    return _ESCAPE.sub(
        lambda m: chr(int(m[1], 16)) if m[1] else named.get(m[2], m[2]), text
    )


def _value_at(text: str, position: int, in_list: bool) -> tuple[str, int] | None:
    """Return the text, quoted or not, at `position` and its end; None for no other."""
    position = _SPACE.match(text, position).end()
    if quoted := _QUOTED.match(text, position):
        value, end = _unescape(quoted[0][1:-1]), quoted.end()
    else:
        stop = (_UNQUOTED_ITEM.match if in_list else _UNQUOTED_END.search)(
            text, position
        )
        if not stop:
            return None
        end = stop.end() if in_list else stop.start()
        value = text[position:end].strip(" \t\r,")
    after = _AFTER_ITEM if in_list else _AFTER_VALUE
    return (value, end) if end > position and after.match(text, end) else None


def _key_name(mark: str) -> str:
    """Return the name in a key with its colon, quoted or not."""
    if mark[0] in "\"'":
        return _unescape(mark[1 : mark.rindex(mark[0])])
    return mark[:-1]


class _Container:
    """An object or list that is still open, and the key whose value comes next.

    An implied one starts with a key, where what stands before is no clean object.
    """

    def __init__(self, bracket: str, implied: bool = False):
        self.bracket, self.implied = bracket, implied
        self.fields, self.key = {}, None

    def put(self, value: str | list | dict) -> None:
        """Add a field; those of a list are keyed by their number."""
        self.fields[self.key if self.bracket == "{" else len(self.fields)] = value
        self.key = None

    @property
    def value(self) -> dict | list:
        """What it holds."""
        return self.fields if self.bracket == "{" else list(self.fields.values())


def extract_flexible(response: str) -> dict | None:
    """Return the last complete object of `response` outside of the reasoning, or None.

    Objects with nothing but an explanation do not count, and one that only wraps
    another gives way to it. Keys are recognised wherever they start, so that raw
    newlines, stray quotes, brackets or code in an explanation lose nothing but the
    explanation; the bracket that closes an object is what makes it complete. Values are
    texts (numbers too), lists, or such objects.
    """
    text = mask_reasoning(response)
    if '"' not in text:
        text = text.translate(_TYPOGRAPHIC_QUOTES)
    answer: dict = {}
    opened: list[_Container] = []  # outermost first
    position = 0
    while True:
        inner = opened[-1] if opened else None
        if inner:  # outside, "# Answer: {…}" is a heading, not a comment
            position = _BETWEEN_FIELDS.match(text, position).end()
        if (
            inner
            and inner.bracket == "["
            and (found := _value_at(text, position, True))
        ):
            value, position = found
            inner.put(value)
            continue
        if not (token := _KEY_OR_BRACKET.search(text, position)):
            return answer or None
        if token.start() != position or len(opened) > MAX_NESTING:
            opened, inner = [], None
        position, mark = token.end(), token[0]
        if mark in "{[":
            if inner and inner.bracket == "{" and inner.key is None:
                opened = []
            opened.append(_Container(mark))
        elif mark in "}]":
            if (
                not inner
                or inner.bracket + mark not in ("{}", "[]")
                or inner.key is not None
            ):
                opened = []
                continue
            opened.pop()
            if opened:
                opened[-1].put(inner.value)
            if not opened or opened[-1].implied:
                answer = _last_object(inner.value) or answer
        else:
            if not inner or inner.bracket == "[" or inner.key is not None:
                opened = []
                if mark[0] not in "\"'":  # in prose, "the answer: {" is no key
                    continue
                inner = _Container("{", implied=True)
                opened.append(inner)
            inner.key = _key_name(mark)
            if found := _value_at(text, position, False):
                value, position = found
                inner.put(value)


def _last_object(value: dict | list) -> dict:
    """Return an object without its explanation, or {}.

    Of an object that only wraps another it is the inner one, of a list its last one.
    """
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        return _last_object(objects[-1]) if objects else {}
    fields = {
        key: item for key, item in value.items() if key.casefold() != "explanation"
    }
    if len(fields) == 1 and isinstance(inner := next(iter(fields.values())), dict):
        return _last_object(inner)
    return fields


# Readers take a text as `_plain` leaves it, the key it stands under and the question,
# and give a value that is equal however the text spelled it, or None.

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?"
)
_ERA = r"(a\.?d|c\.?e|b\.?c(?:\.?e)?)\.?"
_YEAR = re.compile(
    rf"(?:year )?(?:{_ERA} ?)?([0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.0+)?(?: ?{_ERA})?"
)
_TIME = re.compile(
    r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)?(?: ?([ap])\.?m)?(?: ?\(?24 ?hr)?"
)
_DATE = re.compile(r"[a-z0-9][a-z0-9 ,./()-]*")
_NUMERIC_DATE = re.compile(
    r"\b(mm|dd|[0-9]{1,2})([-/.])(mm|dd|[0-9]{1,2})\2(?:yyyy|[0-9]{4})\b"
)
_MARKUP = re.compile(r"\\(?:boxed|text|mathrm|mathbf|textbf)\s*\{|[\\{}$`]")
_EMPHASIS = re.compile(r"(\*{1,3})([^*]+)\1")
_LIST_SEPARATOR = re.compile(r"[,;\u2192]|->")


def _plain(text: str) -> str:
    """Return `text` in lower case, without markup, outer punctuation and underscores."""
    if len(text) > MAX_VALUE_LENGTH:
        return ""
    text = _MARKUP.sub("", _EMPHASIS.sub(r"\2", text.translate(DASHES)))
    text = " ".join(text.replace("_", " ").split())
    if text.startswith("<") and text.endswith(">"):  # the prompts' <year> <era>
        text = text[1:-1]
    # A full stop ends a sentence; before a digit it starts a number.
    return text.lstrip(" ,;\"'([").rstrip(" .,;\"')]").casefold()


def _name_index(word: str, names: list[str]) -> int | None:
    """Return which name the word is, whole or cut to three letters or more, or None."""
    return next(
        (i for i, name in enumerate(names) if len(word) >= 3 and name.startswith(word)),
        None,
    )


_ASKED_UNIT = re.compile(
    r"(?:<num_|how many |\bin )(years|months|weeks|days|hours|minutes|seconds)\b",
    re.IGNORECASE,
)


def read_number(text: str, key: str, question: str) -> Decimal | None:
    """Return the number, with no unit or the one that is asked for; 6.5 is not 6."""
    if not (match := _NUMBER.match(text)):
        return None
    unit = text[match.end() :].strip(" ()")
    if unit and unit not in UNITS.get(_asked_unit(key, question), ()):
        return None
    return Decimal(match[0].replace(",", ""))


def _asked_unit(key: str, question: str) -> str | None:
    """Return the unit that the key, or the prompt by "<num_days>" or "how many years",

    asks for, or None.
    """
    asked = _ASKED_UNIT.search(question)
    word = UNIT_OF_LETTER.get(key) or (
        asked[1].lower() if key == "answer" and asked else key
    )
    return next((unit for unit, names in UNITS.items() if word in names), None)


def read_year(text: str, key: str, question: str) -> tuple[str, int] | None:
    """Return era and year; without an era it is AD, with a sign or two eras none."""
    match = _YEAR.fullmatch(text)
    if not match or (match[1] and match[3]):
        return None
    era = (match[1] or match[3] or "ad").replace(".", "")
    return ERAS[era], int(match[2].replace(",", ""))


def read_weekday(text: str, key: str, question: str) -> int | None:
    """Return the day of the week, Monday being 0."""
    return _name_index(text, WEEKDAYS)


def read_day_offset(text: str, key: str, question: str) -> int | None:
    """Return how many days after the start day: 0 for `same_day`, `+0` and `0`."""
    if (named := text.replace("-", " ")) in DAY_OFFSETS:
        return DAY_OFFSETS[named]
    match = re.fullmatch(r"([+-]?[0-9]{1,6})(?: days?)?", text)
    return int(match[1]) if match else None


def read_time(text: str, key: str, question: str) -> tuple[int, int, int] | None:
    """Return hour, minute and second (0 if unsaid) of a 12- or 24-hour clock."""
    match = _TIME.fullmatch(text)
    if not match or not (match[2] or match[4]):
        return None
    hour, minute, second = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    if match[4] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if match[4] == "p" else 0)
    elif (match[4] == "a" and hour > 12) or (match[4] == "p" and hour == 0):
        return None
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def read_date(text: str, key: str, question: str) -> date | None:
    """Return the date, its month by name or number; what reads two ways is none."""
    if not _DATE.fullmatch(text):
        return None
    words = [
        word
        for word in re.findall(r"[a-z]+", text)
        if word not in ("st", "nd", "rd", "th", "of", "the")
    ]
    numbers = re.findall(r"[0-9]+", text)
    weekdays = [i for word in words if (i := _name_index(word, WEEKDAYS)) is not None]
    months = [i + 1 for word in words if (i := _name_index(word, MONTHS)) is not None]
    years = [number for number in numbers if len(number) == 4]
    others = [number for number in numbers if len(number) <= 2]
    if len(weekdays + months) != len(words) or len(years + others) != len(numbers):
        return None
    if len(years) != 1 or (len(months), len(others)) not in ((1, 1), (0, 2)):
        return None
    if months:
        candidates = [(years[0], months[0], others[0])]
    elif numbers[0] in years:
        candidates = [numbers]
    else:
        first, second, year = (*others, years[0])
        by_order = {"mdy": (year, first, second), "dmy": (year, second, first)}
        separator = text[re.search(r"[0-9]+", text).end()]
        candidates = [by_order[order] for order in _numeric_orders(question, separator)]
        if not any(map(_valid_date, candidates)):
            candidates = list(by_order.values())
    dates = {found for candidate in candidates if (found := _valid_date(candidate))}
    if len(dates) != 1 or weekdays not in ([], [min(dates).weekday()]):
        return None
    return dates.pop()


def _valid_date(year_month_day: tuple) -> date | None:
    try:
        return date(*map(int, year_month_day))
    except ValueError:
        return None


def _numeric_orders(question: str, separator: str) -> set[str]:
    """Return in which orders day and month may stand in a numeric date, by the prompt.

    The order that the prompt asks for with this separator is sure. Otherwise all the
    orders that it asks for or shows are possible, and both where it shows none.
    """
    possible = set()
    for first, mark, second in _NUMERIC_DATE.findall(question):
        for order, month, day in (("mdy", first, second), ("dmy", second, first)):
            if month == "mm" and mark == separator:
                return {order}
            if month == "mm" or (day.isdigit() and int(day) > 12):
                possible.add(order)
    return possible or {"mdy", "dmy"}


def read_text(text: str, key: str, question: str) -> str:
    """Return the text itself."""
    return text


# The first reader that can read the reference reads the answer too.
READERS = (read_number, read_weekday, read_year, read_date, read_time, read_text)


def _same_value(
    given: str | list | dict | None, expected: object, key: str, question: str
) -> bool:
    """Tell whether an answer's field has the value of the reference's field `key`."""
    if isinstance(expected, list):
        items = _LIST_SEPARATOR.split(given) if isinstance(given, str) else given
        if not isinstance(items, list):
            return False
        given_items, expected_items = (
            [_read_item(str(item)) for item in side if str(item).strip(" []")]
            for side in (items, expected)
        )
        return (
            Counter(given_items) == Counter(expected_items)
            if key == "unordered_list"
            else given_items == expected_items
        )
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if not isinstance(given, str):
        return False
    given_text, expected_text = _plain(given), _plain(str(expected))
    for read in (read_day_offset, read_text) if key == "day" else READERS:
        if (value := read(expected_text, key, question)) is not None:
            return read(given_text, key, question) == value
    return False


def _read_item(item: str) -> int | str:
    """Return the value of a list item: a day of the week or a text."""
    text = _plain(item) or item  # what is nothing but marks, or too long, is itself
    return text if (weekday := read_weekday(text, "", "")) is None else weekday


def match_flexible(answer: dict, reference: dict, question: str) -> bool:
    """Tell whether an answer has the value of every field of the reference.

    A field may stand under the reference's key, under the key that the prompt asks for
    instead, or, where one value is asked and one is given, under any but another unit;
    more fields do no harm. `question` tells units and the order of numeric dates.
    """
    given: dict[str, list] = {}  # keys that differ in case alone are the same key
    for key, value in answer.items():
        given.setdefault(_plain(key), []).append(value)
    for key, expected in reference.items():
        names = {_plain(key), _plain(PROMPTED_KEYS.get(key, key))}
        if len(given) == len(reference) == 1 and not names & given.keys():
            (name,) = given
            unit = next((unit for unit, words in UNITS.items() if name in words), None)
            names = {name} if unit in (None, _asked_unit(key, question)) else set()
        values = [value for name in names for value in given.get(name, [])]
        if not values or not all(
            _same_value(value, expected, key, question) for value in values
        ):
            return False
    return True


# --------------------------------------------------------- what the YAML files name


def _is_semantic(columns: object) -> bool:
    """Tell the semantic schema from the arithmetic one by the columns it has alone."""
    return any(
        column in columns for column in SEMANTIC_COLUMNS[len(ARITHMETIC_COLUMNS) :]
    )


def read_reference(doc: dict) -> dict:
    """Return the reference of a row or document: its fields as a dict.

    Arithmetic labels are a dict as JSON or as a Python literal. Semantic ones are the
    text of the one field `answer`, a timeline with commas. Raises ValueError for others.
    """
    if _is_semantic(doc):
        if not doc["label"].strip():
            raise ValueError("is empty")
        items = doc["label"].split(",")
        return {"answer": items if len(items) > 1 else doc["label"]}
    try:
        reference = json.loads(doc["label"])
    except ValueError:
        try:
            reference = ast.literal_eval(doc["label"])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("is neither JSON nor a Python literal") from None
    if not isinstance(reference, dict) or not reference:
        raise ValueError("is not a dict with at least one field")
    return reference


def process_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of upstream rows, arithmetic or semantic.

    They have the columns in use, and semantic ones a prompt that holds the question.
    Raises ValueError, naming configuration, row and column, where a column is missing, a
    cell is no text, a reference cannot be read, or there is no row. Logs row count and
    fingerprint, as a warning where they are not the known ones.
    """
    return datasets.Dataset.from_list(_documents(dataset))


def process_docs_separate(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return the documents of `process_docs`, with the prompt in two parts as well.

    These are `instruction` and `question_wo_instruct`. Raises ValueError as
    `process_docs` does, and where a prompt has no instruction to take apart.
    """
    documents = _documents(dataset)
    for row, document in enumerate(documents):
        column = "prompt" if _is_semantic(document) else "question"
        question, instruction = split_instruction(
            document[column], document["question"]
        )
        if not instruction or not question:
            raise ValueError(
                f"{_source(dataset)}, row {row}, column '{column}': no sentence asks for"
                " JSON; run the task without '_separate'"
            )
        document.update(instruction=instruction, question_wo_instruct=question)
    return datasets.Dataset.from_list(documents)


def _documents(dataset: datasets.Dataset) -> list[dict]:
    source = _source(dataset)
    if not len(dataset):
        raise ValueError(f"{source}: there is no row; give a split with at least one")
    columns = (
        SEMANTIC_COLUMNS if _is_semantic(dataset.column_names) else ARITHMETIC_COLUMNS
    )
    if missing := [column for column in columns if column not in dataset.column_names]:
        raise ValueError(
            f"{source}: column {', '.join(map(repr, missing))} is missing; found"
            f" {dataset.column_names}. Give rows in the schema of baharef/ToT"
        )
    documents = []
    for row, cells in enumerate(dataset):
        document = {column: cells[column] for column in columns}
        for column, cell in document.items():
            if not isinstance(cell, str):
                raise ValueError(
                    f"{source}, row {row}, column '{column}': {cell!r} is no text;"
                    " mend the row"
                )
        try:
            read_reference(document)
        except ValueError as error:
            raise ValueError(
                f"{source}, row {row}, column 'label': {document['label']!r} {error};"
                " mend the row"
            ) from None
        if (
            "prompt" in document
            and document["question"].strip() not in document["prompt"]
        ):
            document["prompt"] = (
                f"{document['prompt'].rstrip()}\n\n{document['question'].strip()}"
            )
        documents.append(document)
    _report(source, dataset.info.config_name, documents)
    return documents


def _source(dataset: datasets.Dataset) -> str:
    """Return what to call the data in messages: its configuration, if it has one."""
    return "/".join(filter(None, ("ToT", dataset.info.config_name)))


def _report(source: str, configuration: str | None, documents: list[dict]) -> None:
    """Log row count and fingerprint, as a warning where they are not the known ones."""
    semantic = _is_semantic(documents[0])
    names = [
        name
        for name in KNOWN_ROWS
        if configuration == name
        or (configuration not in KNOWN_ROWS and ("semantic" in name) == semantic)
    ]
    digest = fingerprint(documents)
    found = f"{source}: {len(documents)} rows, fingerprint {digest}"
    eval_logger.info(found)
    for name in names:
        if len(documents) == KNOWN_ROWS[name] and digest == KNOWN_FINGERPRINTS.get(
            name, digest
        ):
            return
    known = " or ".join(
        f"{KNOWN_ROWS[name]} rows"
        + (
            f", fingerprint {KNOWN_FINGERPRINTS[name]}"
            if name in KNOWN_FINGERPRINTS
            else ""
        )
        for name in names
    )
    eval_logger.warning(
        "%s; the benchmark has %s: scores may not be comparable", found, known
    )


def fingerprint(documents: Iterable[dict]) -> str:
    """Return a digest of what prompts and scores depend on, whatever the order."""
    fields = ("prompt", "question", "label")
    return _digest([[doc.get(field) for field in fields] for doc in documents])


def _digest(rows: list) -> str:
    """Return a digest of JSON values that does not depend on their order."""
    hashes = sorted(hashlib.sha256(json.dumps(row).encode()).digest() for row in rows)
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:16]


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
    start = max(
        (
            m.end()
            for m in _SENTENCE_START.finditer(prompt, 0, cue.start() + 1)
            if m.end() <= cue.start()
        ),
        default=0,
    )
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


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """Score one response: `acc` by the metric card, `acc_flexible` by value.

    Takes a document of `process_docs` and a list with one response; what is no text is
    scored as an empty response. `extracted` says whether the card's rule found an answer.
    """
    response = results[0] if isinstance(results[0], str) else ""
    reference = read_reference(doc)
    published = extract_published(response)
    if _is_semantic(doc):
        published = (published or {}).get("answer")
        exact = published is not None and str(published) == doc["label"]
    else:
        exact = published == reference
    answer = extract_flexible(response)
    return {
        "acc": float(exact),
        "acc_flexible": float(
            answer is not None and match_flexible(answer, reference, doc["question"])
        ),
        "extracted": float(published is not None),
    }
