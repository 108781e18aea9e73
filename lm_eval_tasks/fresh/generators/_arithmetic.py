"""How generators tell dates, times and numbers, and what questions of arithmetic share."""

from __future__ import annotations

import json
import random
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from itertools import cycle, product
from pathlib import Path
from typing import NamedTuple


SYLLABLES = "ba do ke la mi no pu ra sel tor ush vin wal yor zem".split()
PLURALS = {"shelf": "shelves"}
DAY = 24 * 60 * 60


def texts(name: str) -> dict:
    """Return what a generator says, of a file beside this one."""
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))


TEXTS = texts("_arithmetic")
MONTHS, WEEKDAYS = TEXTS["months"], TEXTS["weekdays"]


Knobs = dict[str, int]


class Problem(NamedTuple):
    """A question without its format, the fields asked for, and the answer."""

    text: str
    fields: str
    answer: dict


def problem(kind: str, answer: dict, **parts: object) -> Problem:
    """Return a problem of a kind, told in the words of the table."""
    kind_patterns = TEXTS[kind]
    problem_text = kind_patterns["text"].format(**TEXTS, **parts)
    return Problem(problem_text, kind_patterns["fields"].format(**parts), answer)


def is_relative(rng: random.Random, level: int) -> bool:
    """Return whether a fact is told by another: never at level 1, mostly from 3 on."""
    return rng.random() < (0, 0.5, 0.8)[min(level, 3) - 1]


Facts = list[tuple[int, str]]  # each a value and whose it is


def draw_facts(
    rng: random.Random, level: int, names: list[str], value: Callable, wording: tuple
) -> tuple[Facts, str, Facts]:
    """Return facts (value, name), their text, and those whose value is told directly.

    `wording` has the pattern of a clause (name, value), the functions that write a value
    and a difference, and the words between a smaller, or a larger value, and the other.
    """
    clause_pattern, write_value, write_difference, *side_words = wording
    facts: Facts = []
    clauses, direct_facts = [], []
    for name in names:
        drawn_value = facts[-1][0] if facts and rng.random() < 0.2 else value()
        peer_value, peer_name = rng.choice(facts) if facts else (drawn_value, "")
        if drawn_value != peer_value and is_relative(rng, level):
            difference_text = write_difference(abs(drawn_value - peer_value))
            side_word = side_words[drawn_value > peer_value]
            value_phrase = f"{difference_text} {side_word} {peer_name}"
        else:
            value_phrase = write_value(drawn_value)
            direct_facts.append((drawn_value, name))
        facts.append((drawn_value, name))
        clauses.append(clause_pattern.format(name, value_phrase))
    return facts, "; ".join(clauses), direct_facts


def first_or_last(
    rng: random.Random, level: int, names: list[str], value: Callable, wording: tuple
) -> tuple[str, list[str], str] | None:
    """Return "first" or "last", who is so, and the facts that tell it.

    From level 3 on, most draws with the same answer by the facts that are told by no other
    are dropped: None. Some are kept, else such an answer would be known to be wrong.
    """
    facts, clauses_text, direct_facts = draw_facts(rng, level, names, value, wording)
    rank_word, min_or_max = rng.choice((("first", min), ("last", max)))
    right_names, right_names_of_direct_facts = (
        [
            name
            for fact_value, name in fact_list
            if fact_value == min_or_max(fact_list)[0]
        ]
        for fact_list in (facts, direct_facts)
    )
    if level > 2 and right_names == right_names_of_direct_facts and rng.random() < 0.7:
        return None
    return rank_word, right_names, clauses_text


def names(rng: random.Random, count: int) -> list[str]:
    """Return names of people; with surnames where there are too many for first names."""
    if count <= len(TEXTS["first names"]):
        return rng.sample(TEXTS["first names"], count)
    full_names = [*map(" ".join, product(TEXTS["first names"], TEXTS["last names"]))]
    return rng.sample(full_names, count)


def places(rng: random.Random, count: int) -> list[str]:
    """Return made names of cities."""
    all_lowercase_names = [*map("".join, product(SYLLABLES, repeat=3))]
    return [*map(str.capitalize, rng.sample(all_lowercase_names, count))]


def joined(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " * (len(items) > 1) + items[-1]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where needed."""
    plural_noun = PLURALS.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural_noun}"


def years(number: int) -> str:
    return counted(number, "year")


def ordinal(number: int) -> str:
    """Return a number as "1st", "2nd", "11th"."""
    last_digit_suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else last_digit_suffix}"


def duration(seconds: int) -> str:
    """Return "3 hours, 5 minutes and 7 seconds", without what is zero."""
    amounts_by_unit = hours_minutes_seconds(seconds, "hour minute second")
    return joined(
        [counted(amount, unit) for unit, amount in amounts_by_unit.items() if amount]
    )


def by_turns(spans: list[int], first: str, second: str) -> str:
    """Return spans of seconds one after the other, of two sorts in turns."""
    labels_and_spans = zip(cycle((first, second)), spans)
    return ", then ".join(
        f"{label} {duration(span_seconds)}" for label, span_seconds in labels_and_spans
    )


def clock(seconds: int) -> str:
    """Return a time on the 24-hour clock, with seconds where there are any."""
    hour_of_day, minute_of_hour = divmod(seconds // 60, 60)
    seconds_text = f":{seconds % 60:02}" if seconds % 60 else ""
    return f"{hour_of_day:02}:{minute_of_hour:02}{seconds_text}"


def clock_of_a_style(rng: random.Random) -> Callable[[int], str]:
    """Return what tells times on the 24-hour clock, or all of them with AM or PM."""
    return rng.choice((clock, half_day_clock))


def half_day_clock(seconds: int) -> str:
    """Return a time with AM or PM, or noon or midnight."""
    hour24, second_of_hour = divmod(seconds, 3600)
    if seconds % (12 * 3600) == 0:
        return "noon" if hour24 else "midnight"
    return f"{hour24 % 12 or 12}{clock(second_of_hour)[2:]} {'AP'[hour24 // 12]}M"


def time(rng: random.Random, level: int) -> int:
    """Return seconds since midnight: of a full minute first, later of any second."""
    return rng.randrange(DAY) if level > 2 else 60 * rng.randrange(DAY // 60)


def hours_minutes_seconds(seconds: int, keys: str) -> dict[str, int]:
    """Return a duration's hours, minutes and seconds by keys such as "H M S"."""
    amounts = seconds // 3600, seconds // 60 % 60, seconds % 60
    return dict(zip(keys.split(), amounts, strict=True))


def day_and_time(seconds: int, width: int = 8) -> dict[str, str]:
    """Return the fields `day`, such as "+1", and `time` of seconds since midnight."""
    day_shift, second_of_day = divmod(seconds, DAY)
    time_text = f"{clock(second_of_day)[:5]}:{second_of_day % 60:02}"[:width]
    return {"day": f"{day_shift:+d}" if day_shift else "same_day", "time": time_text}


def date_of(rng: random.Random, first_year: int, last_year: int) -> date:
    """Return any day from the first of a year to the end of another."""
    first_day = date(first_year, 1, 1)
    return first_day + timedelta(
        rng.randrange((date(last_year + 1, 1, 1) - first_day).days)
    )


def in_words(day: date, is_month_first: bool) -> str:
    """Return a date with its month in words, before or behind the day."""
    month_name = MONTHS[day.month - 1]
    if is_month_first:
        return f"{month_name} {day.day}, {day.year}"
    return f"{day.day} {month_name} {day.year}"


def mixed_date(rng: random.Random, day: date) -> str:
    """Return a date in one of three forms that cannot be mistaken for each other."""
    form_number = rng.randrange(3)
    return day.isoformat() if form_number == 2 else in_words(day, form_number == 1)


def plus_months(day: date, months: int) -> date:
    """Return a date some months on, or the last day of that month where it is shorter."""
    year, month_index = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(
        year, month_index + 1, min(day.day, monthrange(year, month_index + 1)[1])
    )


def era(year: int) -> str:
    """Return a year that counts 1 BC as 0."""
    return f"{year} AD" if year > 0 else f"{1 - year} BC"


def most(level: int, step: int, total: int, least: int) -> int:
    """Return the size of one of `level` spans: it grows until all together are `total`."""
    return max(least, min(step * level, total // level))
