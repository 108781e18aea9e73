"""Transformations of public rows: the same words and steps, and another answer.

A transformation takes a row, what the rows of its file have in common, and a source of
chance. It returns a `Twin`, or the reason why the row has none. No row is solved: a label
changes as the names and years in the question do.

Those that move years say by how many a row can move (`Moves`). Two rows whose labels are 2n
years apart become a pair with the same right year: one moves by n, the other by -n. The
label of either row is then the mirror image of the other, on the other side of that year.
"""

from __future__ import annotations

import ast
import json
import re
from calendar import isleap
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple


class Twin(NamedTuple):
    """A row that asks for another answer than its original."""

    row: dict
    column: str  # of the label


class Moves(NamedTuple):
    """By how many years a row can move."""

    kind: tuple  # rows of one kind can be a pair
    year: int | None  # of the label; None where it has none, or several
    story_years: list[int]  # of the question
    shifts: list[int]
    usual: list[int]  # those of them that keep decades apart, or all
    twin: Callable[[int], Twin]  # by the shift
    mirror: Callable[[int], object]  # the label that has moved twice as far


class Survey(NamedTuple):
    """What the rows of a file have in common."""

    # By type of question, and whether it names eras: of questions, and of labels, too.
    years: dict[tuple, set[int]]
    answers: dict[tuple, set[int]]
    names: set[str]  # that labels are made of

    @classmethod
    def of(cls, rows: Iterable[dict]) -> Survey:
        """Return the years and names of rows; a vintage is a type and whether it has eras."""
        story_years_by_vintage = defaultdict(set)
        all_years_by_vintage, label_names = defaultdict(set), set()
        for row in rows:
            story, label = _story(row.get("prompt", row["question"])), row.get("label")
            year_pattern = _BARE_YEAR if "prompt" in row else _pattern(story)
            vintage = _vintage(row, story)
            story_years_by_vintage[vintage].update(_years(story, year_pattern))
            story_and_label_years = _years(f"{story} {label}", year_pattern)
            all_years_by_vintage[vintage].update(story_and_label_years)
            if label and year_pattern is not _BARE_YEAR:
                label_names.update(_names(label))
        vintages = *story_years_by_vintage.items(), *all_years_by_vintage.items()
        for _, years in vintages:
            if years:  # of few rows, they lie far apart; those between are as natural
                years.update(range(min(years), max(years)))
        return cls(story_years_by_vintage, all_years_by_vintage, label_names)

    def has_room(
        self, vintage: tuple, story_years: list[int], label_years: list[int], shift: int
    ) -> bool:
        """Tell whether moved years are among those of the rows, and the mirror image, too."""
        mirror_years = {year + 2 * shift for year in label_years}
        moved_label_years = {year + shift for year in label_years}
        moved_story_years = {year + shift for year in story_years}
        return (
            moved_story_years <= self.years[vintage]
            and moved_label_years | mirror_years <= self.answers[vintage]
        )


Transformation = Callable[[dict, Survey, Random], Twin | Moves | str]
NO_ROOM = "no room among the years of the other rows"


def choose(rng: Random, options: Sequence):
    """Return one of the options, the same in every version of Python."""
    return options[int(rng.random() * len(options))]


# -------------------------------------------------------------------- parts of a text

_FIXED = re.compile(  # examples, and sentences on JSON: they say how to answer
    r"\b(?:Eg|E\.g|e\.g|For example)\b.*?(?:\.(?=\s)|\Z)"
    r"|(?<![^.?!\n])[^.?!\n]*\b(?i:json)\b(?:(?!\n\s*\n).)*",
    re.DOTALL,
)
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_NO_COUNT = r"(?!\d|:\d|[.,]\d)(?![ -](?:second|minute|hour|day|week|month|year)s?\b)"
_DATE = (  # up to its year
    r"(?<![\d:.,/+-])(?=\d{4}[-/](?:\d{1,2}|[A-Z][a-z]{2})[-/]\d)"
    rf"|\b\d{{1,2}}[-/.]\d{{1,2}}[-/.]|\b{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?,? ?"
)
_DATE_YEAR = re.compile(rf"(?:{_DATE})(?P<year>[12]\d{{3}}){_NO_COUNT}")
_YEAR = re.compile(  # in a date, or where a word says so
    rf"(?:{_DATE}|\b(?:[Ii]n|since|[Yy]ear|until) )(?P<year>[12]\d{{3}}){_NO_COUNT}"
)
_YEAR_AD = re.compile(r"(?<!\d)(?P<year>\d{1,4})(?= AD\b)")
_BARE_YEAR = re.compile(r"(?<!\d)(?P<year>[12]\d{3})(?!\d)")
_MONTH_AND_YEAR = re.compile(rf"\b{_MONTH},? (?P<year>\d{{3,4}})\b")
_ERA = re.compile(r"\b(?:AD|BCE?|CE)\b")


def _story(text: str) -> str:
    return _FIXED.sub(" ", text)


def _edit(text: str, change: Callable[[str], str]) -> str:
    """Return a text that is changed in all parts but those that say how to answer."""
    result_parts, fixed_end = [], 0
    for fixed_match in _FIXED.finditer(text):
        result_parts += [change(text[fixed_end : fixed_match.start()]), fixed_match[0]]
        fixed_end = fixed_match.end()
    return "".join([*result_parts, change(text[fixed_end:])])


def _vintage(row: dict, story: str) -> tuple:
    """Return the type of a question, and whether it names eras."""
    return row.get("question_type"), bool(_ERA.search(story))


def _pattern(story: str) -> re.Pattern:
    return _YEAR_AD if _ERA.search(story) else _YEAR


def _label_pattern(story: str) -> re.Pattern:
    """Return the pattern of years in the label of a question."""
    asks_year = _pattern(story) is _YEAR and _ASKS_YEAR.search(story)
    return _BARE_YEAR if asks_year else _pattern(story)


def _years(text: str, pattern: re.Pattern) -> list[int]:
    """Return the years that a pattern finds in a text."""
    return [int(year_match["year"]) for year_match in pattern.finditer(text)]


def _moved(text: str, shift: int, pattern: re.Pattern) -> str:
    """Return a text with its years moved."""
    return pattern.sub(
        lambda year_match: (
            year_match[0].removesuffix(year_match["year"])
            + str(int(year_match["year"]) + shift)
        ),
        text,
    )


# -------------------------------------------------------------------- years of a date

_ASKS_YEAR = re.compile(r"(?i)\b(?:what|which) year\b")
_ASKS_COUNT = re.compile(r"(?i)\bhow (?:many|old|long)\b|num_")
_LONG_NUMBER = re.compile(rf"(?<![\d:.,+-])\d{{4,}}{_NO_COUNT}")
_WEEKDAY = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")


def move_years(row: dict, survey: Survey, _: Random) -> Moves | str:
    """Move the years of a question, and of a label that is a date or a year.

    By a multiple of 4, or of 28 beside a weekday, each day is a day of the new year.
    """
    story, label = _story(row["question"]), row["label"]
    story_year_pattern, label_year_pattern = _pattern(story), _label_pattern(story)
    story_years = _years(story, story_year_pattern)
    label_years = _years(label, label_year_pattern)
    texts_left = story_year_pattern.sub(" ", story), label_year_pattern.sub(" ", label)
    if reason := _unsure_years(row, story_years, *texts_left):
        return reason
    vintage = _vintage(row, story)
    shifts = [
        shift
        for shift in _shifts_of_days(story, label, story_years + label_years)
        if survey.has_room(vintage, story_years, label_years, shift)
    ]
    if not shifts:
        return NO_ROOM

    def moved_label(shift: int) -> str:
        return _moved(label, shift, label_year_pattern)

    def twin(shift: int) -> Twin:
        def change(text: str) -> str:
            return _moved(text, shift, story_year_pattern)

        question = _edit(row["question"], change)
        return Twin(row | {"question": question, "label": moved_label(shift)}, "label")

    return Moves(
        kind=(*vintage, label_year_pattern is _BARE_YEAR),
        year=_only(label_years),
        story_years=story_years,
        shifts=shifts,
        usual=_as_many_carries(shifts, story_years + label_years, 10),
        twin=twin,
        mirror=lambda shift: moved_label(2 * shift),
    )


def _unsure_years(
    row: dict, story_years: list[int], story_left: str, label_left: str
) -> str | None:
    """Return why years of a row cannot move, by what is left of its texts without them."""
    if re.search(r"\bBCE?\b", story_left + label_left):
        return "a year BC"
    if not story_years:
        return "no year"
    if _LONG_NUMBER.search(story_left) or (
        _BARE_YEAR.search(label_left) and not _ASKS_COUNT.search(row["question"])
    ):
        return "another number that may be a year"
    return None


def _only(years: list[int]) -> int | None:
    """Return the year that all years are; None of none, or of several."""
    return years[0] if len({*years}) == 1 else None


def _shifts_of_days(story: str, label: str, years: list[int]) -> list[int]:
    """Return by how many years a text can move, if each day it names stays a day."""
    least_shift = 28 if _WEEKDAY.search(f"{story} {label}") else 4
    shifts = [factor * least_shift for factor in range(-10, 11) if factor]
    if _pattern(story) is not _YEAR and not re.search(rf"\b{_MONTH}|\d[-/]\d", story):
        return shifts
    surrounding_years = range(min(years) - 1, max(years) + 2)
    return [
        shift
        for shift in shifts
        if all(isleap(year) == isleap(year + shift) for year in surrounding_years)
    ]


def _as_many_carries(shifts: list[int], years: list[int], unit: int) -> list[int]:
    """Return the shifts that leave years as many decades or so apart, or else all."""

    def carries(year_shift: int) -> int:
        return (max(years) + year_shift) // unit - (min(years) + year_shift) // unit

    return [shift for shift in shifts if carries(shift) == carries(0)] or shifts


def move_centuries(row: dict, _: Survey, __: Random) -> Moves | str:
    """Move the year of a question on months by centuries, within 1000 to 2019."""
    (label,) = row["answer"]
    question_and_label_years = _years(f"{row['question']} {label}", _MONTH_AND_YEAR)
    if len(question_and_label_years) != 2:
        return NO_ROOM
    shifts = [
        shift
        for shift in range(-1000, 1001, 100)
        if shift
        and all(1000 <= year + shift <= 2019 for year in question_and_label_years)
        and 1000 <= question_and_label_years[-1] + 2 * shift <= 2019
    ]
    if not shifts:
        return NO_ROOM

    def moved_label(shift: int) -> list[str]:
        return [_moved(label, shift, _MONTH_AND_YEAR)]

    def twin(shift: int) -> Twin:
        moved_question = _moved(row["question"], shift, _MONTH_AND_YEAR)
        moved_columns = {"question": moved_question, "answer": moved_label(shift)}
        return Twin(row | moved_columns, "answer")

    return Moves(
        kind=(),
        year=question_and_label_years[-1],
        story_years=question_and_label_years[:1],
        shifts=shifts,
        usual=_as_many_carries(shifts, question_and_label_years, 1000),
        twin=twin,
        mirror=lambda shift: moved_label(2 * shift),
    )


# ------------------------------------------------------------------ dates of a project

_IN_WORDS = re.compile(  # "two thousand", "twenty twenty-four", "eighties", "'82"
    r"(?i)\b(?:thousand|decades?|century|centuries|(?:twen|thir|for|fif|six|seven|eigh"
    r"|nine)ties|(?:nineteen|twenty)[ -](?:hundred|oh|ten|eleven|twelve|[a-z]+(?:teen|ty)))\b"
    r"|['’]\d\ds?\b"
)
_DAYS = r"\d{1,2}(?:st|nd|rd|th)?(?:(?: to | ?[-–] ?)\d{1,2}(?:st|nd|rd|th)?)?"
_CLOCK = r"\b\d{1,2}:\d\d"
_SURE = re.compile(  # days of a month, and clocks in GMT
    rf"\b{_MONTH} {_DAYS}|\b{_DAYS} (?:of )?{_MONTH}"
    rf"|{_CLOCK}(?:(?: to | and | until | ?[-–] ?){_CLOCK})? ?\(?(?:GMT|UTC)\b"
    r"(?! ?[-+−±]| ?(?:plus|minus)\b)"
)
_LOCAL = "a clock that may not be in GMT"
_UNMOVABLE = {  # what a shift of 28 years would change, or may be a year or a clock
    _LOCAL: re.compile(
        r"\d:\d|\b\d{1,2} ?[ap]\.?m\b|\b(?:GMT|UTC) ?[-+−±]|\b(?:GMT|UTC) (?:plus|minus)"
        r"|(?<![-/.\d])\d{1,2}(?:h|(?: to | until | ?[-–] ?)\d{1,2})\b(?![-/.]\d)"
        r"|(?i:\b(?:my (?:own )?time|clock|o'clock|local|here|noon|midnight)\b)"
    ),
    "a zone whose clocks may change": re.compile(
        r"\b(?!GMT)[A-Z]{1,4}T\b|\b(?:MSK|WIB)\b|[A-Z][a-z]+(?: [Ss]tandard)? [Tt]ime\b"
        r"|(?i:\b(?:clocks|ahead of|behind|offset|daylight|(?:winter|summer|standard) time"
        r"|(?:time )?zones?)\b)"
    ),
    "a movable feast": re.compile(
        r"\b(?:Easter|Good Friday|Ascension|Pentecost|Whit|Mardi Gras|Carnival|Lent|Eid"
        r"|Ramadan|Passover|Hanukkah|Rosh|Yom|Purim|Diwali|Holi|Vesak|Nowruz|Tet"
        r"|Thanksgiving|(?:Lunar|Chinese) New Year)\b"
    ),
    "a day that goes by today": re.compile(
        r"(?i)\b(?:today|tonight|tomorrow|yesterday)\b"
    ),
    "another number that may be a year": re.compile(
        rf"{_IN_WORDS.pattern}|\d{{4}}|\b\d\d?[/.]\d\d?[/.]\d\d\b"
    ),
}
STEADY = 2011  # from this year on, the clocks of these places follow the same rules
PLACES = [  # offsets from GMT in winter and in summer, and the places that have them
    (offsets, re.compile(rf"\b(?:{names})\b"))
    for offsets, names in json.loads(
        Path(__file__).with_name("places.json").read_text("utf-8")
    )
]
_ZONE = re.compile(r"\b(?:GMT|UTC)( ?[-+−±] ?(?:\d\d?(?::\d\d)?)?| plus| minus|)(?!\d)")


def move_projects(row: dict, _: Survey, rng: Random) -> Twin | str:
    """Move all dates of a project by 28 years, which keep weekdays and leap years."""
    dialogue_text = " ".join(row["dialogue"])
    speech_by_speaker: dict[str, str] = defaultdict(str)
    for dialogue_line in row["dialogue"]:
        speaker, _, spoken_text = dialogue_line.partition(":")
        speech_by_speaker[speaker] += f"{spoken_text}\n"
    minutes_by_speaker = _zone_minutes(speech_by_speaker)
    question_zone = {"question": 0} if minutes_by_speaker else {}
    text_by_source = speech_by_speaker | {"question": row["question"]}
    if reason := _unmovable(text_by_source, minutes_by_speaker | question_zone):
        return reason
    start_texts = [row[column] for column in row if column.startswith("project_start")]
    project_years = {*_years(" ".join([*start_texts, row["answer"]]), _DATE_YEAR)}
    stated_minutes_of_day = _stated_minutes(speech_by_speaker, minutes_by_speaker)
    if not _needed_minutes(row, start_texts) <= stated_minutes_of_day:
        return _LOCAL
    if not project_years & {*_years(dialogue_text, _DATE_YEAR)}:
        return "a dialogue without the year"
    all_years = project_years | {
        *_years(f"{dialogue_text} {row['question']}", _DATE_YEAR)
    }
    if max(all_years) - min(all_years) > 1:  # a number after a day of the project
        return "another number that may be a year"
    possible_years = {*range(STEADY if minutes_by_speaker else 1901, 2100)}
    shifts = [
        shift
        for shift in (-28, 28)
        if all_years | {year + shift for year in all_years} <= possible_years
    ]
    if not shifts:
        return NO_ROOM
    shift = choose(rng, shifts)
    moved_columns = {
        column: _moved_cell(row[column], shift) for column in row if column != "index"
    }
    return Twin(row | moved_columns, "answer")


def _moved_cell(cell: object, shift: int) -> object:
    """Return a cell with the years of its dates moved, in whatever lists and dicts."""
    if isinstance(cell, dict):
        return {key: _moved_cell(value, shift) for key, value in cell.items()}
    if isinstance(cell, list):
        return [_moved_cell(value, shift) for value in cell]
    return _moved(cell, shift, _DATE_YEAR) if isinstance(cell, str) else cell


def _zone_minutes(texts: dict[str, str]) -> dict[str, int]:
    """Return the minutes that speakers are ahead of GMT, where all they say of it is sure.

    That is a sentence with an offset, and with a place whose clocks have it. Such clocks
    show the same 28 years later, as daylight saving begins and ends by the weekday.
    """
    minutes_by_speaker = {}
    for speaker, spoken_text in texts.items():
        stated_offsets = set()
        for sentence in re.split(r"(?<=[.?!]) |\n", _SURE.sub(" ", spoken_text)):
            place_offsets = [
                zone_offsets
                for zone_offsets, places_pattern in PLACES
                if places_pattern.search(sentence)
            ]
            for stated_offset in _ZONE.findall(sentence):
                is_sure = len(place_offsets) == 1 and stated_offset in place_offsets[0]
                stated_offsets.add(stated_offset if is_sure else None)
        sure_offsets = [offset for offset in stated_offsets if offset is not None]
        if len(stated_offsets) == len(sure_offsets) == 1:
            minutes_by_speaker[speaker] = minutes_of(sure_offsets[0])
    return minutes_by_speaker


def minutes_of(clock: str) -> int:
    """Return the minutes of a clock, or of an offset from GMT."""
    hours_text, _, minutes_text = clock.strip("-+").partition(":")
    absolute_minutes = int(hours_text or 0) * 60 + int(minutes_text or 0)
    return -absolute_minutes if clock[:1] == "-" else absolute_minutes


def _unmovable(texts: dict[str, str], zones: dict[str, int]) -> str | None:
    """Return why texts of speakers cannot move; clocks may be local beside a zone."""
    for reason, pattern in _UNMOVABLE.items():
        for speaker, spoken_text in texts.items():
            unsure_text = _SURE.sub(" ", _DATE_YEAR.sub(" ", spoken_text))
            is_clock_of_known_zone = reason is _LOCAL and speaker in zones
            if pattern.search(unsure_text) and not is_clock_of_known_zone:
                return reason
    return None


def _needed_minutes(row: dict, start: list[str]) -> set[int]:
    """Return the minutes of the day, in GMT, that a project's start and agents have."""
    minutes_of_day = {
        minutes_of(clock) for clock in re.findall(_CLOCK, " ".join(start))
    }
    for agent_constraints in (row.get("agent_constraints_gmt") or {}).values():
        working_hours = agent_constraints.get("working_hours") or ()
        minutes_of_day |= {int(60 * hour) % 1440 for hour in working_hours}
    return minutes_of_day


def _stated_minutes(texts: dict[str, str], zones: dict[str, int]) -> set[int]:
    """Return the minutes of the day, in GMT, that speakers name; zones are minutes."""
    minutes_of_day = set()
    for speaker, spoken_text in texts.items():
        days_and_clocks = [sure_match[0] for sure_match in _SURE.finditer(spoken_text)]
        gmt_clocks = re.findall(_CLOCK, " ".join(days_and_clocks))
        minutes_of_day |= {minutes_of(clock) % 1440 for clock in gmt_clocks}
        if speaker in zones:
            local_clocks = re.findall(_CLOCK, _SURE.sub(" ", spoken_text))
            minutes_of_day |= {
                (minutes_of(clock) - zones[speaker]) % 1440 for clock in local_clocks
            }
    return minutes_of_day


# -------------------------------------------------------------------- names exchanged

_NAME = re.compile(r"E\d+|[A-Za-z]+(?: [A-Za-z]+)*")


def exchange_names(row: dict, survey: Survey, rng: Random) -> Twin | str:
    """Exchange two names in a question whose label is made of names from it.

    Such twins are no pairs: which name a model prefers may go by places or by the alphabet.
    """
    story, label = _story(row["question"]), row["label"]
    answer_names = _names(label)
    story_names = [
        name for name in sorted(survey.names) if re.search(rf"\b{name}\b", story)
    ]
    kind_of_name = (
        _kind(answer_names[0])
        if answer_names
        else max(map(_kind, story_names), default=None)
    )
    story_names = [name for name in story_names if _kind(name) == kind_of_name]
    is_made_of_names = {*answer_names} <= {*story_names} and (
        answer_names or "[]" in label
    )
    if len(story_names) < 2 or not is_made_of_names or "alphabet" in story:
        return "no names to exchange"
    is_ordered = re.search(r"\bordered", label)
    draw_exchange = _exchange_places if is_ordered else _exchange_members
    exchanged_pair = draw_exchange(answer_names, story_names, rng)
    exchanged_question = _edit(
        row["question"], lambda text: _exchanged(text, *exchanged_pair)
    )
    keeps_label = draw_exchange is _exchange_members and {*exchanged_pair} <= {
        *answer_names
    }
    right_label = label if keeps_label else _exchanged(label, *exchanged_pair)
    exchanged_row = row | {"question": exchanged_question, "label": right_label}
    return Twin(exchanged_row, "label")


def _names(label: str) -> list[str]:
    """Return the names in the first field of a label; it may be one or a list."""
    label_fields = json.loads(label) if label[:2] == '{"' else ast.literal_eval(label)
    first_value = next(iter(label_fields.values()), None)
    names = map(str, first_value if isinstance(first_value, list) else [first_value])
    return [
        name
        for name in names
        if _NAME.fullmatch(name)
        and not _WEEKDAY.fullmatch(name)
        and name not in ("equal", "unanswerable", "None")
    ]


def _kind(name: str) -> str:
    """Return "entity", "person" or "activity", by the form of a name."""
    if name[1:].isdecimal():
        return "entity"
    return "person" if name[0].isupper() else "activity"


def _exchange_places(
    order: list[str], names: list[str], rng: Random
) -> tuple[str, str]:
    """Return two names of an order."""
    place_pairs = [*combinations(range(len(order)), 2)]
    if not place_pairs:
        return _exchange_members(order, names, rng)
    left_place, right_place = choose(rng, place_pairs)
    return order[left_place], order[right_place]


def _exchange_members(
    answers: list[str], names: list[str], rng: Random
) -> tuple[str, str]:
    """Return two names, one of them an answer if possible, and the other none."""
    wrong_names = [name for name in names if name not in answers]
    if not answers or not wrong_names:
        return choose(rng, [*combinations(names, 2)])
    return choose(rng, answers), choose(rng, wrong_names)


def _exchanged(text: str, a: str, b: str) -> str:
    """Return a text in which two names have changed places."""
    return re.sub(rf"\b(?:{a}|{b})\b", lambda match: b if match[0] == a else a, text)


# --------------------------------------------------------------------- names replaced

_ENTITY = re.compile(r"\b[ER]\d{1,4}\b")
_YEAR_OF_FACT = re.compile(  # after a word or a sign of time, and written in full
    rf"(?:\b(?i:in|of|from|to|until|till|since|and|or|between|before|after|by|through"
    rf"|during|starting|years?|{_MONTH}),? |(?<=\d)[-–]| [-–] |[(:] ?)"
    r"(?P<year>[12]\d{3})(?![\w'’])"
)


def replace_names(row: dict, survey: Survey, rng: Random) -> Twin | Moves | str:
    """Replace names such as E17 and R3 by absent ones, and move years by up to 9."""
    story, label = _story(f"{row['prompt']}\n\n{row['question']}"), row["label"]
    if _has_unsure_number(story):
        return "another number that may be a name or a year"
    present_names = {*_ENTITY.findall(row["prompt"] + story)}
    replacements = _replacements({*_ENTITY.findall(story)}, present_names, rng)
    if not {*_ENTITY.findall(label)} <= replacements.keys():
        return "too few absent names"
    label_years, story_years = _years(label, _BARE_YEAR), _years(story, _YEAR_OF_FACT)
    shifts = _shifts_of_facts({*story_years, *label_years}, survey)
    if label_years and not shifts:
        return NO_ROOM

    def named(text: str) -> str:
        return _ENTITY.sub(lambda match: replacements.get(match[0], match[0]), text)

    def moved_label(shift: int) -> str:
        return named(_moved(label, shift, _BARE_YEAR))

    def twin(shift: int) -> Twin:
        def change(text: str) -> str:
            return named(_moved(text, shift, _YEAR_OF_FACT))

        texts = {
            column: _edit(row[column], change) for column in ("prompt", "question")
        }
        return Twin(row | texts | {"label": moved_label(shift)}, "label")

    if _has_question(row) != _has_question(twin(0).row):
        return "a question among the sentences on JSON"
    return Moves(
        kind=(row.get("question_type"),),
        year=_only(label_years),
        story_years=story_years,
        shifts=shifts or [0],
        usual=shifts or [0],
        twin=twin,
        mirror=lambda shift: moved_label(2 * shift),
    )


def _has_question(row: dict) -> bool:
    return row["question"] in row["prompt"]


def _has_unsure_number(story: str) -> bool:
    text_left = _ENTITY.sub(" ", _YEAR_OF_FACT.sub(" ", story))
    return bool(re.search(r"\d|\bleap\b", text_left) or _IN_WORDS.search(text_left))


def _shifts_of_facts(years: set[int], survey: Survey) -> list[int]:
    """Return by how many years facts can move within those of the file's rows."""
    survey_years = set().union(*survey.years.values()) or {0}
    possible_years = {*range(min(survey_years), max(survey_years) + 1)}
    return [
        shift
        for shift in range(-9, 10)
        if shift and {year + shift for year in years} <= possible_years
    ]


_FARTHEST = 12  # places, so that names are not crowded where others make room


def _replacements(used: set[str], present: set[str], rng: Random) -> dict[str, str]:
    """Return an absent name for each used name that can have one, by the used name.

    All names keep their digits and their order, as numbers and as texts. Each is drawn
    from three that are near.
    """
    replacements: dict[str, str] = {}
    for letter in "ER":
        used_names = sorted(name for name in used if name[0] == letter)
        possible_names = _possible_names(letter, used_names)
        place_limit, places_and_choices = len(possible_names), []
        for used_name in reversed(used_names):
            used_place = possible_names.index(used_name)
            near_place_limit = min(place_limit, used_place + _FARTHEST + 1)
            absent_places = [
                place
                for place in range(max(0, used_place - _FARTHEST), near_place_limit)
                if len(possible_names[place]) == len(used_name)
                and possible_names[place] not in present
            ]
            places_and_choices.append((used_place, absent_places))
            place_limit = max([used_place, *absent_places])  # room for later names
        chosen_place = -1
        for used_name in used_names:
            used_place, absent_places = places_and_choices.pop()
            later_places = [place for place in absent_places if place > chosen_place]
            later_places.sort(key=lambda place: abs(place - used_place))
            chosen_place = choose(rng, later_places[:3]) if later_places else used_place
            if later_places:
                replacements[used_name] = possible_names[chosen_place]
    return replacements


def _possible_names(letter: str, used_names: list[str]) -> list[str]:
    """Return the used names and those of a letter and a number, sorted as texts."""
    most_digits = max((len(name) - 1 for name in used_names), default=1)
    used_numbers = [int(name[1:]) for name in used_names]
    largest_number = max(99, max(used_numbers, default=0) + len(used_names))
    numbers = range(1, min(10**most_digits, largest_number + 1))
    return sorted({f"{letter}{number}" for number in numbers} | {*used_names})


TRANSFORMATIONS: dict[str, Transformation] = {  # by the names in the YAML files
    "names_exchanged": exchange_names,
    "years_moved": move_years,
    "names_replaced": replace_names,
    "centuries_moved": move_centuries,
    "projects_moved": move_projects,
}
