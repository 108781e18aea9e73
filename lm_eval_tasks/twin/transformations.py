"""Transformations of public rows: the same words and steps, and another answer.

A transformation takes a row, what the rows of its file have in common, and a source of
chance. It returns a `Twin`, or the reason why the row has none. No row is solved: a label
changes as the names and years in the question do.
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
    mirror: object  # a wrong label as far from the right one as the original's, or None


class Survey(NamedTuple):
    """What the rows of a file have in common."""

    # By type of question, and whether it names eras: of questions, and of labels, too.
    years: dict[tuple, set[int]]
    answers: dict[tuple, set[int]]
    names: set[str]  # that labels are made of

    @classmethod
    def of(cls, rows: Iterable[dict]) -> Survey:
        """Return the years and names of rows."""
        years_by_vintage, answer_years_by_vintage = defaultdict(set), defaultdict(set)
        names = set()
        for row in rows:
            story, label = _story(row.get("prompt", row["question"])), row.get("label")
            year_pattern = _BARE_YEAR if "prompt" in row else _pattern(story)
            years_by_vintage[_vintage(row, story)] |= {*_years(story, year_pattern)}
            answer_years_by_vintage[_vintage(row, story)] |= {
                *_years(f"{story} {label}", year_pattern)
            }
            names |= (
                {*_names(label)} if year_pattern is not _BARE_YEAR and label else set()
            )
        for (_, has_eras), year_set in [
            *years_by_vintage.items(),
            *answer_years_by_vintage.items(),
        ]:
            if has_eras and year_set:  # few rows, whose years lie far apart
                year_set |= {*range(min(year_set), max(year_set))}
        return cls(years_by_vintage, answer_years_by_vintage, names)


Transformation = Callable[[dict, Survey, Random], Twin | str]
NO_ROOM = "no room among the years of the other rows"


def choose(rng: Random, options: Sequence):
    """Return one of the options, the same in every version of Python."""
    return options[int(rng.random() * len(options))]


# -------------------------------------------------------------------- parts of a text

_FIXED = re.compile(  # examples, and sentences on JSON: they say how to answer
    r"\b(?:Eg|E\.g|e\.g|For example)\b.*?(?:\.(?=\s)|\Z)"
    r"|[^.?!\n]*\b(?i:json)\b(?:(?!\n\s*\n).)*",
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
    text_parts, fixed_end = [], 0
    for fixed_match in _FIXED.finditer(text):
        text_parts += [change(text[fixed_end : fixed_match.start()]), fixed_match[0]]
        fixed_end = fixed_match.end()
    return "".join([*text_parts, change(text[fixed_end:])])


def _vintage(row: dict, story: str) -> tuple:
    return row.get("question_type"), bool(_ERA.search(story))


def _pattern(story: str) -> re.Pattern:
    return _YEAR_AD if _ERA.search(story) else _YEAR


def _years(text: str, pattern: re.Pattern) -> list[int]:
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


def move_years(row: dict, survey: Survey, rng: Random) -> Twin | str:
    """Move the years of a question, and of a label that is a date or a year.

    By a multiple of 4, or of 28 beside a weekday, each day is a day of the new year.
    """
    story, label = _story(row["question"]), row["label"]
    story_pattern = label_pattern = _pattern(story)
    if story_pattern is _YEAR and _ASKS_YEAR.search(story):
        label_pattern = _BARE_YEAR
    story_years = _years(story, story_pattern)
    label_years = _years(label, label_pattern)
    all_years = story_years + label_years
    if re.search(r"\bBCE?\b", story + label):
        return "a year BC"
    if not story_years:
        return "no year"
    has_other_number = _LONG_NUMBER.search(story_pattern.sub(" ", story))
    if _BARE_YEAR.search(label_pattern.sub(" ", label)):
        has_other_number = has_other_number or not _ASKS_COUNT.search(row["question"])
    if has_other_number:
        return "another number that may be a year"
    year_step = 28 if _WEEKDAY.search(story + label) else 4
    vintage = _vintage(row, story)
    has_days = story_pattern is _YEAR or re.search(rf"\b{_MONTH}|\d[-/]\d", story)
    year_range = range(min(all_years) - 1, max(all_years) + 2)
    shifts = [
        shift
        for shift in (year_step * factor for factor in range(-5, 6) if factor)
        if {year + shift for year in story_years} <= survey.years[vintage]
        # Those of the mirror image, too.
        and {year + factor * shift for year in label_years for factor in (1, 2)}
        <= survey.answers[vintage]
        and (not has_days or all(isleap(x) == isleap(x + shift) for x in year_range))
    ]
    if not shifts:
        return NO_ROOM
    shift = choose(rng, _as_many_carries(shifts, all_years, 10))
    moved_text = _edit(row["question"], lambda text: _moved(text, shift, story_pattern))
    right, mirror = (_moved(label, factor * shift, label_pattern) for factor in (1, 2))
    return Twin(row | {"question": moved_text, "label": right}, "label", mirror)


def _as_many_carries(shifts: list[int], years: list[int], unit: int) -> list[int]:
    """Return the shifts that leave years as many decades or so apart, or else all."""

    def carries(year_shift: int) -> int:
        return (max(years) + year_shift) // unit - (min(years) + year_shift) // unit

    return [shift for shift in shifts if carries(shift) == carries(0)] or shifts


def move_centuries(row: dict, _: Survey, rng: Random) -> Twin | str:
    """Move the year of a question on months by centuries, within 1000 to 2019."""
    (label,) = row["answer"]
    told_years = _years(f"{row['question']} {label}", _MONTH_AND_YEAR)
    shifts = [
        century_shift
        for century_shift in range(-1000, 1001, 100)
        if century_shift
        and all(1000 <= year + century_shift <= 2019 for year in told_years)
        if 1000 <= told_years[-1] + 2 * century_shift <= 2019
    ]
    if len(told_years) != 2 or not shifts:
        return NO_ROOM
    century_shift = choose(rng, _as_many_carries(shifts, told_years, 1000))
    moved_question = _moved(row["question"], century_shift, _MONTH_AND_YEAR)
    right_label, mirror_label = (
        [_moved(label, factor * century_shift, _MONTH_AND_YEAR)] for factor in (1, 2)
    )
    return Twin(
        row | {"question": moved_question, "answer": right_label},
        "answer",
        mirror_label,
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
    """Move all dates of a project by 28 years, which keep weekdays and leap years.

    They have no mirror image: of both wrong years, one is near today, the other is not.
    """
    whole_text, speech = " ".join([*row["dialogue"], row["question"]]), defaultdict(str)
    for utterance in row["dialogue"]:
        speaker, _, spoken_text = utterance.partition(":")
        speech[speaker] += f"{spoken_text}\n"
    zones = _zones(speech)
    zones_and_question = zones | ({"question": 0} if zones else {})
    if reason := _unmovable(speech | {"question": row["question"]}, zones_and_question):
        return reason
    start_texts = [row[column] for column in row if column.startswith("project_start")]
    start_and_end_years = {*_years(" ".join([*start_texts, row["answer"]]), _DATE_YEAR)}
    if not _hours(row, start_texts) <= _stated_hours(speech, zones):
        return _LOCAL
    if not start_and_end_years & {*_years(" ".join(row["dialogue"]), _DATE_YEAR)}:
        return "a dialogue without the year"
    years = start_and_end_years | {*_years(whole_text, _DATE_YEAR)}
    if max(years) - min(years) > 1:  # a number after a day of the project
        return "another number that may be a year"
    room = range(STEADY if zones else 1901, 2100)
    shifts = [
        n for n in (-28, 28) if all(year in room and year + n in room for year in years)
    ]
    if not shifts:
        return NO_ROOM
    year_shift = choose(rng, shifts)

    def moved(cell: object) -> object:
        if isinstance(cell, dict):
            return {cell_key: moved(cell_part) for cell_key, cell_part in cell.items()}
        if isinstance(cell, list):
            return [moved(cell_part) for cell_part in cell]
        return _moved(cell, year_shift, _DATE_YEAR) if isinstance(cell, str) else cell

    moved_columns = {column: moved(row[column]) for column in row if column != "index"}
    return Twin(row | moved_columns, "answer", None)


def _zones(texts: dict[str, str]) -> dict[str, int]:
    """Return the minutes that speakers are ahead of GMT, where all they say of it is sure.

    That is a sentence with an offset, and with a place whose clocks have it. Such clocks
    show the same 28 years later, as daylight saving begins and ends by the weekday.
    """
    zones_by_speaker = {}
    for speaker, spoken_text in texts.items():
        speaker_offsets = set()
        for sentence in re.split(r"(?<=[.?!]) |\n", _SURE.sub(" ", spoken_text)):
            offsets_of_places = [
                place_offsets
                for place_offsets, places_pattern in PLACES
                if places_pattern.search(sentence)
            ]
            for offset in _ZONE.findall(sentence):
                is_sure = len(offsets_of_places) == 1 and offset in offsets_of_places[0]
                speaker_offsets.add(offset if is_sure else None)
        if len(speaker_offsets) == 1 and None not in speaker_offsets:
            zones_by_speaker[speaker] = minutes_of(*speaker_offsets)
    return zones_by_speaker


def minutes_of(clock: str) -> int:
    """Return the minutes of a clock, or of an offset from GMT."""
    hours, _, minutes = clock.strip("-+").partition(":")
    return (int(hours or 0) * 60 + int(minutes or 0)) * (-1 if clock[:1] == "-" else 1)


def _unmovable(texts: dict[str, str], zones: dict[str, int]) -> str | None:
    """Return why texts of speakers cannot move; clocks may be local beside a zone."""
    for reason, pattern in _UNMOVABLE.items():
        for speaker, spoken_text in texts.items():
            rest_of_text = _SURE.sub(" ", _DATE_YEAR.sub(" ", spoken_text))
            if pattern.search(rest_of_text) and not (
                reason is _LOCAL and speaker in zones
            ):
                return reason
    return None


def _hours(row: dict, start: list[str]) -> set[int]:
    """Return the times in GMT that a project depends on: of its start and its agents."""
    times = {minutes_of(clock) for clock in re.findall(_CLOCK, " ".join(start))}
    for agent_constraints in (row.get("agent_constraints_gmt") or {}).values():
        times |= {
            int(60 * hour) % 1440
            for hour in agent_constraints.get("working_hours") or ()
        }
    return times


def _stated_hours(texts: dict[str, str], zones: dict[str, int]) -> set[int]:
    """Return the times in GMT that speakers name."""
    times = set()
    for speaker, spoken_text in texts.items():
        gmt_texts = [sure_match[0] for sure_match in _SURE.finditer(spoken_text)]
        gmt_clocks = re.findall(_CLOCK, " ".join(gmt_texts))
        times |= {minutes_of(clock) % 1440 for clock in gmt_clocks}
        local_clocks = (
            re.findall(_CLOCK, _SURE.sub(" ", spoken_text)) if speaker in zones else []
        )
        times |= {(minutes_of(clock) - zones[speaker]) % 1440 for clock in local_clocks}
    return times


# -------------------------------------------------------------------- names exchanged

_NAME = re.compile(r"E\d+|[A-Za-z]+(?: [A-Za-z]+)*")


def exchange_names(row: dict, survey: Survey, rng: Random) -> Twin | str:
    """Exchange two names in a question whose label is made of names from it."""
    story, label = _story(row["question"]), row["label"]
    answer_names = _names(label)
    names = [name for name in sorted(survey.names) if re.search(rf"\b{name}\b", story)]
    name_kind = (
        _kind(answer_names[0]) if answer_names else max(map(_kind, names), default=None)
    )
    names = [name for name in names if _kind(name) == name_kind]
    is_made_of_names = {*answer_names} <= {*names} and (answer_names or "[]" in label)
    if len(names) < 2 or not is_made_of_names or "alphabet" in story:
        return "no names to exchange"
    draw_exchange = (
        _exchange_places if re.search(r"\bordered", label) else _exchange_members
    )
    exchanged_pair, mirror_pairs = draw_exchange(answer_names, names, rng)
    exchanged_question = _edit(
        row["question"], lambda text: _exchanged(text, *exchanged_pair)
    )
    keeps_label = draw_exchange is _exchange_members and {*exchanged_pair} <= {
        *answer_names
    }
    right_label = label if keeps_label else _exchanged(label, *exchanged_pair)
    mirror_label = (
        _exchanged(right_label, *choose(rng, mirror_pairs)) if mirror_pairs else None
    )
    return Twin(
        row | {"question": exchanged_question, "label": right_label},
        "label",
        mirror_label,
    )


def _names(label: str) -> list[str]:
    """Return the names that a label of fields is made of."""
    label_fields = json.loads(label) if label[:2] == '{"' else ast.literal_eval(label)
    answer = next(iter(label_fields.values()), None)
    answer_texts = [
        str(name) for name in (answer if isinstance(answer, list) else [answer])
    ]
    name_texts = [
        text
        for text in answer_texts
        if _NAME.fullmatch(text) and not _WEEKDAY.fullmatch(text)
    ]
    return [
        name for name in name_texts if name not in ("equal", "unanswerable", "None")
    ]


def _kind(name: str) -> str:
    """Return "entity", "person" or "activity", by the form of a name."""
    if name[1:].isdecimal():
        return "entity"
    return "person" if name[0].isupper() else "activity"


Exchange = tuple[tuple[str, str], list[tuple[str, str]]]


def _exchange_places(order: list[str], names: list[str], rng: Random) -> Exchange:
    """Return two names, and those as far apart in the order that they leave."""
    most_distance = max(1, len(order) - 2)  # so that another pair is as far apart
    place_pairs = [
        place_pair
        for place_pair in combinations(range(len(order)), 2)
        if place_pair[1] - place_pair[0] <= most_distance
    ]
    if not place_pairs:
        return _exchange_members(order, names, rng)
    first_place, last_place = choose(rng, place_pairs)
    right_order = [*order]
    right_order[first_place], right_order[last_place] = (
        order[last_place],
        order[first_place],
    )
    equally_far_pairs = [
        place_pair
        for place_pair in place_pairs
        if place_pair[1] - place_pair[0] == last_place - first_place
        and place_pair != (first_place, last_place)
    ]
    return (order[first_place], order[last_place]), [
        (right_order[place], right_order[farther_place])
        for place, farther_place in equally_far_pairs
    ]


def _exchange_members(answers: list[str], names: list[str], rng: Random) -> Exchange:
    """Return two names, one an answer if possible, and what makes a mirror image.

    The original has the first name for the second. The mirror image has a third name for
    the second or, where all others are answers, the first name for a third.
    """
    wrong_names = [name for name in names if name not in answers]
    if not answers or not wrong_names:
        return choose(rng, [*combinations(names, 2)]), []
    answer_name, wrong_name = choose(rng, answers), choose(rng, wrong_names)
    mirror_pairs = [(wrong_name, name) for name in wrong_names if name != wrong_name]
    return (answer_name, wrong_name), mirror_pairs or [
        (answer_name, name) for name in answers if name != answer_name
    ]


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


def replace_names(row: dict, survey: Survey, rng: Random) -> Twin | str:
    """Replace names such as E17 and R3 by absent ones, and move years by up to 9."""
    story, label = _story(f"{row['prompt']}\n\n{row['question']}"), row["label"]
    present_names, answers = (
        {*_ENTITY.findall(text)} for text in (row["prompt"] + story, label)
    )
    rest_of_text = _ENTITY.sub(" ", _YEAR_OF_FACT.sub(" ", story))
    if re.search(r"\d|\bleap\b", rest_of_text) or _IN_WORDS.search(rest_of_text):
        return "another number that may be a name or a year"
    replacements = _replacements({*_ENTITY.findall(story)}, present_names, rng)
    if not answers <= replacements.keys():
        return "too few absent names"
    usual, label_years = set().union(*survey.years.values()), _years(label, _BARE_YEAR)
    edge_years = [*_years(story, _YEAR_OF_FACT), *label_years]
    edge_years = [min(edge_years), max(edge_years)] if edge_years else []
    possible_years = range(min(usual, default=0), max(usual, default=0) + 1)
    shifts = [
        shift
        for shift in range(-9, 10)
        if shift and all(year + shift in possible_years for year in edge_years)
    ]
    if label_years and not shifts:
        return NO_ROOM
    year_shift = choose(rng, shifts or [0])

    def named(text: str, replacements: dict[str, str] = replacements) -> str:
        return _ENTITY.sub(lambda match: replacements.get(match[0], match[0]), text)

    def change(text: str) -> str:
        return named(_moved(text, year_shift, _YEAR_OF_FACT))

    edits = {column: _edit(row[column], change) for column in ("prompt", "question")}
    if (row["question"] in row["prompt"]) != (edits["question"] in edits["prompt"]):
        return "a question among the sentences on JSON"
    mirror_names = _replacements(answers, present_names | {*replacements.values()}, rng)
    moved_label, mirror = (
        _moved(label, factor * year_shift, _BARE_YEAR) for factor in (1, 2)
    )
    mirror = named(mirror, mirror_names) if answers <= mirror_names.keys() else None
    return Twin(row | edits | {"label": named(moved_label)}, "label", mirror)


_FARTHEST = 12  # places, so that names are not crowded where others make room


def _replacements(used: set[str], present: set[str], rng: Random) -> dict[str, str]:
    """Return an absent name for each name that can have one.

    All names keep their digits and their order, as numbers and as texts. Each is drawn
    from three that are near.
    """
    replacements: dict[str, str] = {}
    for letter in "ER":
        used_names = sorted(name for name in used if name[0] == letter)
        most_digits = max((len(name) - 1 for name in used_names), default=1)
        greatest_number = max(
            [99, *(int(name[1:]) + len(used_names) for name in used_names)]
        )
        number_range = range(1, min(10**most_digits, greatest_number + 1))
        order = sorted({f"{letter}{number}" for number in number_range} | {*used_names})
        room_end, options = len(order), []  # places that leave room for later names
        for used_name in reversed(used_names):
            own_place = order.index(used_name)
            near_range = range(
                max(0, own_place - _FARTHEST), min(room_end, own_place + _FARTHEST + 1)
            )
            places_of_length = [
                place for place in near_range if len(order[place]) == len(used_name)
            ]
            absent_places = [
                place for place in places_of_length if order[place] not in present
            ]
            options.append((own_place, absent_places))
            room_end = max([own_place, *absent_places])
        place_taken = -1
        for used_name, (own_place, absent_places) in zip(used_names, reversed(options)):
            later_places = [place for place in absent_places if place > place_taken]
            nearest_places = sorted(
                later_places, key=lambda place: abs(place - own_place)
            )
            place_taken = (
                choose(rng, nearest_places[:3]) if nearest_places else own_place
            )
            replacements |= {used_name: order[place_taken]} if nearest_places else {}
    return replacements


TRANSFORMATIONS: dict[str, Transformation] = {  # by the names in the YAML files
    "names_exchanged": exchange_names,
    "years_moved": move_years,
    "names_replaced": replace_names,
    "centuries_moved": move_centuries,
    "projects_moved": move_projects,
}
