"""How generators word dates, times and numbers, and where they read their other words."""

from __future__ import annotations

import json
import random
from calendar import monthrange
from collections.abc import Callable
from datetime import date
from itertools import cycle
from pathlib import Path


DAY = 24 * 60 * 60  # seconds
MONTHS = [
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
]
WEEKDAYS = [
    *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
]
PLURALS = {"shelf": "shelves"}


def texts(name: str) -> dict:
    """Return what a generator says, of a file beside this one."""
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))


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


def hours_minutes_seconds(seconds: int, keys: str) -> dict[str, int]:
    """Return a duration's hours, minutes and seconds by keys such as "H M S"."""
    amounts = seconds // 3600, seconds // 60 % 60, seconds % 60
    return dict(zip(keys.split(), amounts, strict=True))


def day_and_time(seconds: int, width: int = 8) -> dict[str, str]:
    """Return the fields `day`, such as "+1", and `time` of seconds since midnight."""
    day_shift, second_of_day = divmod(seconds, DAY)
    time_text = f"{clock(second_of_day)[:5]}:{second_of_day % 60:02}"[:width]
    return {"day": f"{day_shift:+d}" if day_shift else "same_day", "time": time_text}


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
