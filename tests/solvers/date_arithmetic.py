"""Months and years reached step by step, of TimeBench's and of fresh questions."""

from __future__ import annotations

import re

from tests.solvers import Solution


MONTHS = ("jan feb mar apr may jun jul aug sep oct nov dec").split()
_MONTH = r"(?P<month>[A-Z][a-z]{2}),? (?P<year>\d+)"
_SPAN = r"(?P<span>\d+ (?:year|month)s?(?: and \d+ months?)?)"
# "What is the time 7 year and 11 month before Sep, 1104", "Which month is …?"
_SHIFT = re.compile(
    rf"(?:What is the time|Which month is) {_SPAN} (?P<side>before|after) {_MONTH}\??"
)
_START = re.compile(rf"Start in {_MONTH}\.")
_STEP = re.compile(rf"(?:G|Then g)o {_SPAN} (?P<side>forward|back)\.")
_END = " Which month is it?"


def solve(question: str) -> Solution | None:
    """Return the month that a question asks for; None where it cannot be read."""
    text = question.strip()
    if shift := _SHIFT.fullmatch(text):
        start, steps = shift, [shift]
    elif (start := _START.match(text)) and text.endswith(_END):
        told = text[start.end() : -len(_END)]
        steps = list(_STEP.finditer(told))
        if "".join(step[0] for step in steps) != told.replace(". ", ".").strip():
            return None
    else:
        return None
    if not steps or start["month"].lower() not in MONTHS:
        return None
    year, month = int(start["year"]), MONTHS.index(start["month"].lower())
    places = [_name(year, month)]
    for step in steps:
        year, month = _walked(year, month, step["span"], step["side"])
        places.append(_name(year, month))
    return Solution((places[-1],), " -> ".join(places))


def _walked(year: int, month: int, span: str, side: str) -> tuple[int, int]:
    """Return the month after a walk of single months."""
    for count, unit in re.findall(r"(\d+) (year|month)", span):
        for _ in range(int(count) * (12 if unit == "year" else 1)):
            month += 1 if side in ("after", "forward") else -1
            if month == 12:
                year, month = year + 1, 0
            elif month < 0:
                year, month = year - 1, 11
    return year, month


def _name(year: int, month: int) -> str:
    return f"{MONTHS[month].capitalize()}, {year}"
