"""Labels of TimeX-NLI's own pairs, of which both sides are times, by trying each case.

Times of day, weekdays, days of a month, months, and years lie on a line of their own: two
clocks are of one day, two months without a year are of one year. A duration from an end
to an earlier start goes over the end of the day, week or year. What English leaves open
is read in every way, and what the readings give are the answers:

- after October and before November there are moments, if both are points, or none;
- a week begins on Monday or on Sunday;
- from Monday to Thursday are three days, or four where both ends count;
- a month has 28 to 31 days, and several have as many as they may have in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from tests.solvers import Solution
from tests.solvers.reading import (
    WEEKDAYS,
    Unreadable,
    month_length,
    read_month,
    year_days,
)


class Time(NamedTuple):
    """A place on one of the lines, which are named by `kind`."""

    kind: str
    place: int


_NAME = r"(?:[A-Z][a-z]{2,8})"
_TIME = rf"""(?x:
    \d{{1,2}}:\d\d | \d{{1,2}}\ [AP]M
    | \d{{1,2}}(?:st|nd|rd|th)(?:\ {_NAME}\ \d{{4}})?
    | {_NAME}(?:\ \d{{4}})? | \d{{4}}
)"""
_WHEN = rf"(?P<how>in|on|at|before|after) (?P<time>{_TIME})"
_SPAN = r"(?P<count>\d+) (?P<unit>year|month|day|hour|minute)s{0,2}"
_IN_SPAN = rf"(?P<how>in|before|after) {_SPAN}"
# "They toured from May to July", "It began at 9 PM and ended at 8 AM", "… lasted until …"
_FROM_TO = re.compile(
    rf".* (?:(?:from|in|on|at) )(?P<start>{_TIME})(?: and (?:\w+ ){{1,5}}?(?:in|on|at|until)"
    rf"| to) (?P<end>{_TIME})"
)
_LASTED = re.compile(
    rf".* for (?P<less>less than )?{_SPAN}(?: (?P<months>\d+) months?)?"
)
_UNIT_OF_KIND = {
    "clock": "minute",
    "weekday": "day",
    "day of the month": "day",
    "month": "month",
    "month of a year": "month",
    "year": "year",
}
_CYCLES = {"clock": 24 * 60, "weekday": 7, "month": 12}
_PARTS = {"minute": ("minute", 1), "hour": ("minute", 60), "day": ("minute", 24 * 60)}
_PARTS |= {"month": ("month", 1), "year": ("month", 12)}


def solve(premise: str, hypothesis: str) -> Solution | None:
    """Return the labels that a pair may have; None where one side cannot be read."""
    sides = [text.strip().removesuffix(".") for text in (premise, hypothesis)]
    try:
        found = dict(_lengths(*sides) or _moments(*sides))
    except Unreadable:
        return None
    ways = (f"{way}: {label}" for label, way in found.items())
    return Solution(tuple(found), "; or ".join(ways)) if found else None


# -------------------------------------------------------- one moment against another


def _moments(premise: str, hypothesis: str) -> Iterator[tuple[str, str]]:
    """Yield label and way of two sides that say before, at or after which time."""
    (fact, known), (claim, asked) = (
        _said(side, _WHEN) for side in (premise, hypothesis)
    )
    if known and asked and fact == claim:
        yield from _by_time(known, asked)
        return
    (fact, known), (claim, asked) = (
        _said(side, _IN_SPAN) for side in (premise, hypothesis)
    )
    if known and asked and fact == claim:
        yield from _by_span(known, asked)


def _said(side: str, pattern: str) -> tuple[str, re.Match | None]:
    """Return an event and the match of its time, which stands first or last."""
    text = side[:1].lower() + side[1:]
    if match := re.match(rf"{pattern}, (?P<event>.+)", text):
        return match["event"].lower(), match
    match = re.fullmatch(rf"(?P<event>.+) {pattern}", text)
    return (match["event"].lower(), match) if match else ("", None)


def _by_time(known: re.Match, asked: re.Match) -> Iterator[tuple[str, str]]:
    readings = zip(_read(known["time"]), _read(asked["time"]), strict=True)
    for one, other in readings:
        if one.kind != other.kind:
            raise Unreadable(known["time"], asked["time"])
        for is_dense in (True,) if one.kind == "clock" else (True, False):
            label = _label(known["how"], one.place, asked["how"], other.place, is_dense)
            yield (
                label,
                f"{known['how']} {known['time']}, {asked['how']} {asked['time']}",
            )


def _by_span(known: re.Match, asked: re.Match) -> Iterator[tuple[str, str]]:
    pairs = product(_places(known, asked), _places(asked, known))
    for one, other in pairs:
        label = _label(known["how"], one, asked["how"], other, is_dense=True)
        yield label, f"{_told(known, one)}, {_told(asked, other)}"


def _told(span: re.Match, place: int) -> str:
    """Return a span as it is told, with the days that its months are taken to have."""
    text = f"{span['how']} {span['count']} {span['unit']}s"
    is_in_days = _PARTS[span["unit"]][0] == "month" and place % (24 * 60) == 0
    return f"{text} of {place // (24 * 60)} days" if is_in_days else text


def _places(span: re.Match, other: re.Match) -> list[int]:
    """Return what a span may be in the finer unit of two, minutes or months."""
    unit, size = _PARTS[span["unit"]]
    count = int(span["count"]) * size
    if unit == _PARTS[other["unit"]][0] or unit == "minute":
        return [count]
    return [days * 24 * 60 for days in _days_of_months(count)]


@cache
def _days_of_months(months: int) -> list[int]:
    """Return how many days so many months in a row may have, and 30 for each."""
    lengths = [month_length(year, month) for year in range(1996, 2036) for month in range(1, 13)]  # fmt: skip
    found = {sum(lengths[start : start + months]) for start in range(12 * 8)}
    return sorted({*range(min(found), max(found) + 1), 30 * months})


def _label(how: str, place: int, claimed: str, other: int, is_dense: bool) -> str:
    """Return the label by going over the places near and between two."""
    steps = (-1, -0.5, 0, 0.5, 1) if is_dense else (-1, 0, 1)
    worlds = {named + step for named in (place, other) for step in steps}
    worlds |= {(place + other) / 2} if is_dense else set()
    true = {_holds(x, claimed, other) for x in worlds if _holds(x, how, place)}
    return {(True,): "Entailment", (False,): "Contradiction"}.get((*true,), "Neutral")


def _holds(place: float, how: str, named: float) -> bool:
    if how in ("before", "after"):
        return place < named if how == "before" else place > named
    return place == named


# ------------------------------------------------------------------- how long it was


def _lengths(premise: str, hypothesis: str) -> list[tuple[str, str]]:
    """Return label and way for a start with an end, and a length; none for others."""
    span, lasted = _FROM_TO.fullmatch(premise), _LASTED.fullmatch(hypothesis)
    if not span or not lasted:
        return []
    starts, ends = _read(span["start"]), _read(span["end"])
    unit, size = _PARTS[lasted["unit"]]
    wanted = int(lasted["count"]) * size + int(lasted["months"] or 0)
    found = []
    for length in dict.fromkeys(
        x for start, end in zip(starts, ends) for x in _passed(start, end)
    ):
        own_unit, own_size = _PARTS[_UNIT_OF_KIND[starts[0].kind]]
        if own_unit != unit:
            raise Unreadable(hypothesis)
        passed = length * own_size
        is_so = passed < wanted if lasted["less"] else passed == wanted
        way = f"{span['start']} to {span['end']} is {length}"
        found.append(("Entailment" if is_so else "Contradiction", way))
    return found


def _passed(start: Time, end: Time) -> Iterator[int]:
    """Yield how far an end is from its start, and that with both ends counted."""
    if start.kind != end.kind:
        raise Unreadable(start, end)
    passed = end.place - start.place
    cycle = _CYCLES.get(start.kind)
    lengths = range(28, 32) if start.kind == "day of the month" else [cycle]
    for length in lengths if passed <= 0 else [0]:
        if length is None:
            raise Unreadable(start, end)
        yield passed + length
        if start.kind != "clock":
            yield passed + length + 1


# ------------------------------------------------------------------ what a time says


def _read(text: str) -> list[Time]:
    """Return what a time is, for each way to begin a week; Unreadable for no time."""
    if clock := re.fullmatch(r"(\d+)(?::(\d\d)| ([AP])M)", text):
        hour = int(clock[1]) % (12 if clock[3] else 24)
        minutes = 60 * (hour + 12 * (clock[3] == "P")) + int(clock[2] or 0)
        return [Time("clock", minutes)] * 2
    if text in WEEKDAYS:
        monday_first = WEEKDAYS.index(text)
        return [
            Time("weekday", place) for place in (monday_first, (monday_first + 1) % 7)
        ]
    number, _, rest = text.partition(" ")
    if day := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", number):
        place = int(day[1])
        if not rest:
            return [Time("day of the month", place)] * 2
        name, year = rest.split()
        return [Time("date", _days_before((int(year), read_month(name), place)))] * 2
    if text.isdigit():
        return [Time("year", int(text))] * 2
    name, _, year = text.partition(" ")
    month = read_month(name)
    kind, place = ("month of a year", 12 * int(year)) if year else ("month", 0)
    return [Time(kind, place + month)] * 2


def _days_before(date: tuple[int, int, int]) -> int:
    """Return how many days lie between the year 1 and a date."""
    days = year_days(date[0])
    if date not in days:
        raise Unreadable(date)
    return _years_in_days(date[0]) + days.index(date)


@cache
def _years_in_days(year: int) -> int:
    return sum(len(year_days(each)) for each in range(1, year))
