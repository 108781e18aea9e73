"""Dates, clocks and spans as questions tell them, and calendars walked step by step.

A day is `(year, month, day)`, a time is in seconds after midnight. Years before 1 AD are
negative: -1 is 1 BC, and there is no year 0. What can be read in two ways, such as
05-04-2010, is read in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice, takewhile


Day = tuple[int, int, int]

MONTHS = (
    "january february march april may june july august september october november"
    " december"
).split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
DAY_SECONDS = 86_400
SECONDS = {"hour": 3600, "minute": 60, "second": 1}

# What a name in braces stands for in the pattern of a question.
SHAPES = {
    "number": r"\d+",
    "weekday": "|".join(WEEKDAYS),
    "date": (
        r"\d{1,2} [A-Z][a-z]+,? \d+|[A-Z][a-z]+ \d{1,2}, ?\d+|\d+[-/]\w+[-/]\d+"
        r"|[A-Z][a-z]+,? \d{4}|\d{4}"
    ),
    "time": r"\d{1,2}(?::\d\d){0,2}(?: [AP]M)?(?: \(24hr\))?|noon|midnight",
    "duration": (
        r"\d+ (?:hours?(?:(?:,? and|,) \d+ minutes?)?(?:(?:,? and|,) \d+ seconds?)?"
        r"|minutes?(?:(?:,? and|,) \d+ seconds?)?|seconds?)"
    ),
    "when": (
        r"(?:(?:on|in|at) )?(?:[A-Z][a-z]+ \d{1,2}, ?\d+|[A-Z][a-z]+,? \d+"
        r"|\d+[\w/:-]*(?: [A-Z][a-z]+,? \d+)?(?: [AP]M)?(?: \(24hr\))?)"
        r"(?:(?: at)? \d+[\d:]*(?: [AP]M)?(?: \(24hr\))?)?"
    ),
    "offset": r"[+-]\d{4}|UTC[+-]\d\d:\d\d",
    "year": r"\d+ (?:AD|BC)",
    "unit": "days?|weeks?|months?|years?",
    "word": r"\w+",
    "name": r"[A-Z]\w*(?: [A-Z]\w*)?",
    "rest": r"(?s:.*?)",
}
_PLACEHOLDER = re.compile(
    r"\{([a-z]+)(\d*)(?::([^{}]+))?\}|<([^<>]+)>|(\.\.\.)|(\s+)|(.)"
)
# Any words; of numbers only those of names such as E7, so that none is passed over.
_WORDS = r"(?:\D|(?<=E)\d+|(?<=entity)\d+)*?"


class Unreadable(Exception):
    """A part of a question that its pattern found but that cannot be read."""


@cache
def pattern(template: str) -> re.Pattern:
    """Return the pattern of a sentence.

    `{date}` or `{date2}` is a named group with one of the SHAPES, `{side:before|after}`
    one with these words; `<is|was>` are words that do not matter (`<is|>`: or nothing),
    `...` are any words without a number.
    """
    parts = []
    for kind, number, words, either, any_words, space, text in _PLACEHOLDER.findall(
        template
    ):
        if kind:
            parts.append(f"(?P<{kind}{number}>{words or SHAPES[kind]})")
        elif either:
            parts.append(f"(?:{'|'.join(map(re.escape, either.split('|')))})")
        elif any_words:
            parts.append(_WORDS)
        else:
            parts.append(r"\s*" if space else re.escape(text))
    return re.compile("".join(parts))


# ---------------------------------------------------------------- what questions tell


def read_month(name: str) -> int:
    """Return the number of a month by its name or the first three letters of it."""
    for number, month in enumerate(MONTHS, start=1):
        if name.lower() == month or (len(name) > 2 and month.startswith(name.lower())):
            return number
    raise Unreadable(name)


def read_dates(text: str) -> list[Day]:
    """Return the days that a date may be; they need not be in the calendar.

    A month or year alone is its first day.
    """
    text = text.strip()
    if match := re.fullmatch(r"(\d+) ([A-Za-z]+),? (\d+)", text):
        return [(int(match[3]), read_month(match[2]), int(match[1]))]
    if match := re.fullmatch(r"([A-Za-z]+) (\d+), ?(\d+)", text):
        return [(int(match[3]), read_month(match[1]), int(match[2]))]
    if match := re.fullmatch(r"([A-Za-z]+),? (\d+)", text):
        return [(int(match[2]), read_month(match[1]), 1)]
    if match := re.fullmatch(r"(\d+)-([A-Za-z]+)-(\d+)", text):
        return [(int(match[1]), read_month(match[2]), int(match[3]))]
    if match := re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text):
        return [tuple(map(int, match.groups()))]
    if match := re.fullmatch(r"(\d\d)([-/])(\d\d)\2(\d+)", text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        orders = {(year, first, second), (year, second, first)}
        return sorted(day for day in orders if day[1] <= 12)
    if re.fullmatch(r"\d+", text):
        return [(int(text), 1, 1)]
    raise Unreadable(text)


def read_date(text: str) -> Day:
    """Return the day that a date is; Unreadable where it may be two."""
    days = read_dates(text)
    if len(days) != 1:
        raise Unreadable(text)
    return days[0]


def read_era(text: str) -> int:
    """Return a year such as "44 BC", which is -44."""
    year, era = text.split()
    return -int(year) if era == "BC" else int(year)


def era(year: int) -> str:
    """Return a year with its era."""
    return f"{-year} BC" if year < 0 else f"{year} AD"


def read_time(text: str) -> int:
    """Return the seconds after midnight of "2:40 PM", "05 AM" or "14:40:10 (24hr)"."""
    text = {"noon": "12:00", "midnight": "00:00"}.get(text.strip(), text.strip())
    match = re.fullmatch(r"([\d:]+)(?: ([AP])M)?(?: \(24hr\))?", text)
    if not match:
        raise Unreadable(text)
    hours, minutes, seconds = [*map(int, match[1].split(":")), 0, 0][:3]
    if match[2]:
        hours = hours % 12 + (12 if match[2] == "P" else 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise Unreadable(text)
    return hours * 3600 + minutes * 60 + seconds


_TIME_AT_END = re.compile(r"(?:^|\s)(?:at\s+)?(?P<time>\d+:[\d:]+.*|\d+ [AP]M)$")


def read_moments(text: str) -> list[tuple[Day, int]]:
    """Return the moments that "on 5 March 1911 at 14:05" may be.

    A date without a time is its midnight; a time without a date has the day (0, 1, 1).
    """
    date = re.sub(r"^(?:on|in)\s", "", text.strip())
    found = _TIME_AT_END.search(date)
    seconds = read_time(found["time"]) if found else 0
    date = date[: found.start()].strip() if found else date
    days = read_dates(date) if date else [(0, 1, 1)]
    return [(day, seconds) for day in days]


def read_duration(text: str) -> int:
    """Return the seconds of "3 hours, 5 minutes and 7 seconds" or of 3:05:07."""
    if re.fullmatch(r"\d+:\d+:\d+", text.strip()):
        hours, minutes, seconds = map(int, text.split(":"))
        return hours * 3600 + minutes * 60 + seconds
    found = re.findall(r"(\d+) (hour|minute|second)", text)
    if not found:
        raise Unreadable(text)
    return sum(int(number) * SECONDS[unit] for number, unit in found)


def read_offset(text: str) -> int:
    """Return the seconds by which a zone is ahead of UTC."""
    sign, hours, minutes = re.fullmatch(r"(?:UTC)?([+-])(\d\d):?(\d\d)", text).groups()
    return (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)


# ------------------------------------------------------------------- what is written


def iso(day: Day) -> str:
    """Return a day as yyyy-mm-dd."""
    return f"{day[0]:04}-{day[1]:02}-{day[2]:02}"


def american(day: Day) -> str:
    """Return a day as mm/dd/yyyy."""
    return f"{day[1]:02}/{day[2]:02}/{day[0]:04}"


def clock(seconds: int, with_seconds: bool = True) -> str:
    """Return a time of the day as HH:MM:SS or HH:MM."""
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if with_seconds else text


def split_time(seconds: int) -> tuple[int, int, int]:
    """Return hours, minutes and seconds."""
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def day_offset(days: int) -> str:
    """Return how many days after a day another is, as ToT writes it."""
    return "same_day" if days == 0 else f"{days:+}"


# ----------------------------------------------------------------------- calendars


def month_length(year: int, month: int) -> int:
    """Return the number of days of a month in the Gregorian calendar."""
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return {2: 29 if is_leap else 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31)


def exists(day: Day) -> bool:
    """Tell whether a day is in the calendar."""
    year, month, number = day
    return 1 <= month <= 12 and 1 <= number <= month_length(year, month)


@cache
def year_days(year: int) -> list[Day]:
    """Return the days of a year, one after the other."""
    months = range(1, 13)
    return [
        (year, month, day)
        for month in months
        for day in range(1, month_length(year, month) + 1)
    ]


def walk(day: Day, days: int) -> Day:
    """Return the day reached by walking on, or back, over so many days."""
    if not exists(day):
        raise Unreadable(day)
    step = 1 if days >= 0 else -1
    for reached, _ in zip(_days_from(day, step), range(abs(days) + 1)):
        day = reached
    return day


def _days_from(day: Day, step: int) -> Iterator[Day]:
    """Yield a day and those after it, or before it."""
    year = day[0]
    days = year_days(year)[::step]
    yield from days[days.index(day) :]
    while True:
        year += step
        yield from year_days(year)[::step]


def days_between(first: Day, last: Day) -> int:
    """Return how many days `last` is after `first`, by counting them."""
    if not exists(first) or not exists(last):
        raise Unreadable((first, last))
    if last < first:
        return -days_between(last, first)
    for count, day in enumerate(_days_from(first, 1)):
        if day == last:
            return count
    raise AssertionError


def walk_months(day: Day, months: int) -> Day:
    """Return the same day of the month some months on, or the last one before it."""
    walked = _months_from(day, 1 if months >= 0 else -1)
    return next(islice(walked, abs(months), None))


def _months_from(day: Day, step: int) -> Iterator[Day]:
    """Yield the same day of one month after the other, or the last one of it."""
    year, month, number = day
    while True:
        yield year, month, min(number, month_length(year, month))
        month += step
        if month in (0, 13):
            year, month = year + step, 12 if step < 0 else 1


def walk_years(year: int, years: int) -> int:
    """Return the year reached by walking on or back; 1 AD follows 1 BC."""
    step = 1 if years >= 0 else -1
    for _ in range(abs(years)):
        year += step
        if year == 0:
            year += step
    return year


def full_years(born: Day, day: Day) -> int:
    """Return how many birthdays have come since."""
    years = 0
    while (born[0] + years + 1, *born[1:]) <= day:
        years += 1
    return years


def full_months(born: Day, day: Day) -> int:
    """Return how often the same day of the month has come since."""
    return sum(1 for _ in takewhile(day.__ge__, _months_from(born, 1))) - 1


def wait(moment: int) -> tuple[int, int]:
    """Return the day and the time of the day that seconds after a midnight are."""
    days = 0
    while moment >= DAY_SECONDS:
        days, moment = days + 1, moment - DAY_SECONDS
    while moment < 0:
        days, moment = days - 1, moment + DAY_SECONDS
    return days, moment
