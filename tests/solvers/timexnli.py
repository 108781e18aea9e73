"""Labels of premises and hypotheses about days, by trying each day.

Every day on which the event of the hypothesis may have been is a world: where all worlds
of the premise make the hypothesis true it is entailed, where none does contradicted.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from tests.solvers import Solution


_DATE = re.compile(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_ON_DATE = re.compile(r"(?P<event>.+) (?P<how>on|before|after) (?P<date>\d.*)")
_ON_DAY_OF = re.compile(
    r"(?P<event>.+) (?P<how>on|before|after) the day on which (?P<of>.+)"
)
_STEP = re.compile(
    r"(?P<event>.+) (?P<count>\d+) (?P<unit>day|week|month)s? (?P<side>before|after)"
    r" (?P<of>.+)"
)
_MARGIN = 3  # days tried beyond all that are named: what holds there holds further out


def solve(premise: str, hypothesis: str) -> Solution | None:
    """Return the label of a pair; None where one of the two cannot be read."""
    facts = [_clause(x) for x in re.findall(r"[^.]+\.", premise)]
    asked = _ON_DATE.fullmatch(_clause(hypothesis))
    asked_day = _read_date(asked["date"]) if asked else None
    days = _days_of_events(facts)
    known = next(filter(None, (_known(x, asked["event"], days) for x in facts)), None)
    if not asked_day or not known:
        return None
    how, day = known
    worlds = [x for x in _worlds(day, asked_day) if _holds(x, how, day)]
    true = [_holds(x, asked["how"], asked_day) for x in worlds]
    label = "Entailment" if all(true) else "Neutral" if any(true) else "Contradiction"
    return Solution((label,), f"{how} {day} against {asked['how']} {asked_day}")


def _clause(sentence: str) -> str:
    words = sentence.strip().removesuffix(".")
    return words[:1].lower() + words[1:]


def _read_date(text: str) -> date | None:
    match = _DATE.fullmatch(text)
    if not match or match[2] not in _MONTHS:
        return None
    return date(int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1]))


def _days_of_events(facts: list[str]) -> dict[str, date]:
    """Return event -> its day, found by going over the facts again and again."""
    days: dict[str, date] = {}
    for _ in facts:
        for fact in facts:
            told, step = _ON_DATE.fullmatch(fact), _STEP.fullmatch(fact)
            if told and told["how"] == "on" and (day := _read_date(told["date"])):
                days[told["event"]] = day
            elif step and step["of"] in days:
                days[step["event"]] = _walked(days[step["of"]], step)
    return days


def _walked(day: date, step: re.Match) -> date:
    """Return the day at the end of a step, walked day by day."""
    one = timedelta(days=1 if step["side"] == "after" else -1)
    if step["unit"] != "month":
        for _ in range(int(step["count"]) * (7 if step["unit"] == "week" else 1)):
            day += one
        return day
    number = day.day
    for _ in range(int(step["count"])):
        day += one
        while day.day != number:
            day += one
    return day


def _known(fact: str, event: str, days: dict[str, date]) -> tuple[str, date] | None:
    """Return what a fact says of an event: on, before or after which day."""
    if (told := _ON_DAY_OF.fullmatch(fact)) and told["event"] == event:
        return (told["how"], days[told["of"]]) if told["of"] in days else None
    if (told := _ON_DATE.fullmatch(fact)) and told["event"] == event:
        day = _read_date(told["date"])
        return (told["how"], day) if day else None
    return None


def _worlds(day: date, other: date) -> list[date]:
    """Return each day from a little before the two to a little after them."""
    first, last = sorted((day, other))
    count = (last - first).days + 2 * _MARGIN + 1
    return [first + timedelta(days=x - _MARGIN) for x in range(count)]


def _holds(day: date, how: str, named: date) -> bool:
    return {"on": day == named, "before": day < named, "after": day > named}[how]
