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
from typing import TYPE_CHECKING, NamedTuple


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from datasets import Dataset

# What the families share stands beside their folders, whatever pack is installed.
_SPEC = importlib.util.spec_from_file_location(
    "temporal_answer", Path(__file__).parents[1] / "answer.py"
)
answer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(answer)

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
    objects = [
        obj for obj in objects if not answer.DOUBTED.search(text[: obj.span[0]][-60:])
    ]
    candidates = [obj for obj in objects if keys & obj.fields.keys()] + pair_answers
    if not candidates and is_one:
        if not _OBJECT_START.search(text):
            return _last_cue(text)
        candidates = [obj for obj in objects if len({"explanation", *obj.fields}) == 2]
    if not candidates:
        return None
    fields, span = candidates[-1]  # up to its closing brace, nothing takes it back
    closing_brace_at = max(span[1] - 1, text.find("}", span[1] - 1))
    text_behind = text[closing_brace_at:].translate(answer.QUIET).lower()
    retraction = answer.TAKEN_BACK.search(text_behind)
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
    for kind, (start, end), is_superseded in reversed(answer.statements(text, _ECHO)):
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
        texts = [answer.plain(label_item).lower() for label_item in label_items] or [""]
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
        fields = answer.date_fields(text)
        if (
            len(fields) != 3
            or len(fields[0]) == 4
            or answer.MONTH_NUMBERS.keys() & {*fields}
        ):
            return answer.read_day(fields)
        first, second, year = fields
        days = [
            answer.read_day([year, first, second]),
            answer.read_day([year, second, first]),
        ]
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

    def read(self, cell: object) -> object:
        """Return the value of what an answer has in the field; None if it has none."""
        if isinstance(cell, str) and (self.is_list or cell.startswith("[")):
            cell = _LIST_SEPARATOR.split(
                answer.plain(cell[: answer.LONGEST]).strip("[]")
            )
        items = cell if isinstance(cell, list) else [cell]
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
        text = answer.plain(text) if isinstance(text, str) else ""
        find_parts = answer.numbers
        if self.grammar == self.word:
            find_parts = _OTHER_WORD.findall
        for reading, comment in answer.readings(text) if text else ():
            value = self.grammar(reading.lower())
            extra_parts = comment and {*find_parts(comment)} - {*find_parts(reading)}
            if value is not None and not extra_parts:
                return value
        return None


def read_flexible(text: str, fields: dict) -> tuple[Extracted | None, dict | None]:
    """Return what a masked response commits to, and its values where all can be read."""
    keys = {key for field in fields.values() for key in field.keys}
    extracted = extract_flexible(text, keys, len(fields) == 1)
    values = _values(extracted, fields)
    if extracted and len(fields) == 1 and "}" in text:  # a later cue may say another
        text_behind = _ECHO.split(text[extracted.span[1] :], maxsplit=1)[0]
        cue = _last_cue(text_behind, extracted.span[1])
        cue_values = _values(cue, fields) if cue and "line" not in cue.fields else None
        if cue_values and cue_values != values:
            return (
                (extracted._replace(fields={}), None) if values else (cue, cue_values)
            )
    return extracted, values


def _values(extracted: Extracted | None, fields: dict) -> dict | None:
    """Return the values of an answer by the keys of a label; None without one of them."""
    values = {}
    for key, field in fields.items() if extracted else ():
        answer_keys = [name for name in field.keys if name in extracted.fields]
        if not answer_keys and len(fields) == 1:
            answer_keys = [
                name for name in extracted.fields if _unit(name) not in field.others
            ]
        texts = [text for name in answer_keys for text in extracted.fields[name]]
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
    text, task_lines = answer.mask(response), reference.lines
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
    ends_in_thought = answer.mask(f"{response}.").endswith("\n")
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


# --------------------- what the tools know of this family (`Family` in utils/core/contract.py)
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
