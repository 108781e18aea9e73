"""Solve a prompt of TimeX-NLI: `solve(text)` returns the label.

Times are numbers of a scale: minutes, days, months, or days of a week or month. Events
may lie outside of the one day, week, month or year of the times, or not; they may happen
at any time, at times such as those that are named, or, where all clocks show quarters, half
or full hours, at such times alone. A label on which these readings disagree, or a sentence
that one of them makes impossible, is returned as "ambiguous".
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import product
from math import gcd


MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
EVENT = re.compile(
    r"^([Tt]he .+?) (?:(?:was|will be|is) (\w+)|(?:closed|closes|will close) for good)$"
)
SPAN = re.compile(r"^(.+?) ((?:\d+ \w+(?:, | and )?)+) (before|after) (the .+)$")
FRONT = re.compile(r"^(On|In|At|Before|After) (.+?), (the .+)$")
BACK = re.compile(r"^(The .+?) (on|in|at|before|after) (.+)$")
WHICH = re.compile(r"^the (?:day|month|year|time|moment|hour) (?:on|in|at) which (.+)$")


def event(text: str) -> tuple | None:
    found = EVENT.match(text.strip())
    if not found or re.search(r"\b(before|after) \b", text):
        return None
    return found[1].lower(), found[2] or "close"


def moment(text: str) -> tuple | None:
    """Return the unit and the value of a time that is named."""
    text = text.removeprefix("the ")
    for at, clock in ((0, r"^(\d+):(\d\d)$"), (1, r"^(\d+)(?::(\d\d))? ([AP])M$")):
        if found := re.match(clock, text):
            hour = int(found[1])
            if at:
                hour = hour % 12 + 12 * (found[3] == "P")
            return "minute", hour * 60 + int(found[2] or 0)
    if text in DAYS:
        return "weekday", DAYS.index(text)
    if found := re.match(r"^(\d+)(st|nd|rd|th)$", text):
        return "monthday", int(found[1])
    if text in MONTHS:
        return "yearmonth", MONTHS.index(text)
    if re.match(r"^\d{4}$", text):
        return "year", int(text)
    if found := re.match(r"^([A-Z]\w+),? (\d{4})$", text):
        return "month", int(found[2]) * 12 + MONTHS.index(found[1])
    if found := re.match(r"^(\d+) ([A-Z]\w+),? (\d{4})$", text):
        return "day", date(int(found[3]), MONTHS.index(found[2]) + 1, int(found[1]))
    if found := re.match(r"^([A-Z]\w+) (\d+), (\d{4})$", text):
        return "day", date(int(found[3]), MONTHS.index(found[1]) + 1, int(found[2]))
    return None


def move(at: tuple, span: str, sign: int) -> tuple:
    """Return the time that is a span away; months keep the day of the month."""
    unit, value = at
    for number, name in re.findall(r"(\d+) (\w+?)s?\b", span):
        many = sign * int(number)
        name = name.removesuffix("s")
        if unit == "minute":
            value += many * {"hour": 60, "minute": 1}[name]
        elif unit == "day" and name in ("month", "year"):
            count = value.year * 12 + value.month - 1
            count += many * (12 if name == "year" else 1)
            value = value.replace(year=count // 12, month=count % 12 + 1)
        elif unit == "day":
            value += timedelta(days=many * {"day": 1, "week": 7}[name])
        elif unit in ("month", "yearmonth"):
            value += many * {"month": 1, "year": 12}[name]
        elif unit in ("weekday", "monthday"):
            value += many * {"day": 1, "week": 7}[name]
        else:
            value += many * {"year": 1}[name]
    return unit, value


def place(at: tuple) -> tuple[str, float, float]:
    """Return the scale, the first and the last instant of a time, both included."""
    unit, value = at
    if unit == "day":
        return "days", value.toordinal(), value.toordinal()
    if unit == "month":
        year, month = divmod(value, 12)
        first = date(year, month + 1, 1)
        then = (first.replace(day=28) + timedelta(days=5)).replace(day=1)
        return "days", first.toordinal(), then.toordinal() - 1
    if unit == "year":
        return "days", date(value, 1, 1).toordinal(), date(value, 12, 31).toordinal()
    return unit, value, value


def read(sentence: str) -> tuple:
    """Return (event, preposition or span and way, event or time)."""
    if found := SPAN.match(sentence):
        one, other = event(found[1]), event(found[4])
        if one and other:
            return one, (found[2], found[3]), other
    for pattern, order in ((FRONT, (3, 1, 2)), (BACK, (1, 2, 3))):
        for split in _splits(pattern, sentence):
            one = event(split[order[0]])
            where = split[order[2]]
            which = WHICH.match(where)
            other = event(which[1]) if which else moment(where)
            if one and other:
                return one, split[order[1]].lower(), other
    raise ValueError(f"cannot read: {sentence}")


def _splits(pattern: re.Pattern, sentence: str):
    if pattern is FRONT:
        if found := pattern.match(sentence):
            yield found
        return
    for found in re.finditer(r" (on|in|at|before|after) ", sentence):
        yield {1: sentence[: found.start()], 2: found[1], 3: sentence[found.end() :]}


def window(way: str, at: tuple, step: float, lowest: float, highest: float) -> tuple:
    """Return the first and the last instant of a grid that a sentence leaves to an event."""
    scale, first, last = place(at)
    if way == "before":
        return scale, lowest, first - step
    if way == "after":
        return scale, last + step, highest // step * step
    return scale, first, last


def label(known: tuple, claimed: tuple) -> str:
    if known[1] > known[2] or claimed[1] > claimed[2]:
        return "impossible"
    low, high = max(known[1], claimed[1]), min(known[2], claimed[2])
    if low > high:
        return "Contradiction"
    return "Entailment" if (low, high) == known[1:] else "Neutral"


def read_premise(premise: str) -> tuple[list[tuple], dict]:
    """Return what the sentences say, and the times of the events that follow."""
    facts = [
        read(x.rstrip("."))
        for x in re.split(r"(?<=\.) (?=[A-Z])", premise)
        if not x.startswith("All the ")
    ]
    times: dict = {}
    count = -1
    while len(times) > count:
        count = len(times)
        for one, how, other in facts:
            _spread(times, one, how, other)
    return facts, times


def solve(text: str) -> str:
    facts, times = read_premise(re.search(r"^Premise: (.+)$", text, re.M)[1])
    hypothesis = re.search(r"^Hypothesis: (.+)$", text, re.M)[1]
    subject, way, time = read(hypothesis.rstrip("."))
    ends = {"weekday": (0, 6), "yearmonth": (0, 11), "monthday": (1, 31)}
    ends["minute"] = (0, 24 * 60 - 1)
    unit, far = place(time)[0], (-1e9, 1e9)
    steps = [0.5, 1]
    if unit == "minute":
        shown = [place(x)[1] for x in (*times.values(), time) if x[0] == unit]
        steps += [15, gcd(*shown, *(x[2][1] for x in facts if x[2][0] == unit)) or 15]
    about = [x for x in facts if x[0] == subject and isinstance(x[1], str)]
    answers = set()
    for step, limits in product(steps, {far, ends.get(unit, far)}):
        claimed = window(way, time, step, *limits)
        if subject in times:
            known = place(times[subject])
        else:
            (_, how, other) = next(iter(about), (0, "unknown", 0))
            known = window(how, times.get(other, other), step, *limits)
        answers.add(label(known, claimed))
    return answers.pop() if len(answers) == 1 else f"ambiguous {sorted(answers)}"


def _spread(times: dict, one, how, other) -> None:
    if isinstance(how, tuple):
        span, way = how
        sign = 1 if way == "after" else -1
        if other in times:
            times.setdefault(one, move(times[other], span, sign))
        elif one in times:
            times.setdefault(other, move(times[one], span, -sign))
    elif how in ("on", "in", "at"):
        if isinstance(other[0], str) and other[0].startswith("the "):
            if other in times:
                times.setdefault(one, times[other])
            elif one in times:
                times.setdefault(other, times[one])
        else:
            times.setdefault(one, other)
