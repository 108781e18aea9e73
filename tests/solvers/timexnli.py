"""Labels of premises and hypotheses about times, by trying each time.

Every time at which the event of the hypothesis may have been is a world: where all worlds
of the premise make the hypothesis true it is entailed, where none does contradicted. Each
reading gives an answer: worlds are times such as those that are named, or moments between
two of them, too; the event is in the week (or other cycle) that is named, or out of it.
"""

from __future__ import annotations

import json
import re
from calendar import day_name, month_name
from datetime import date
from itertools import product

from lm_eval_tasks.fresh.utils import GENERATORS
from tests.solvers import Solution


_TABLE = json.loads((GENERATORS / "_timexnli.json").read_text(encoding="utf-8"))
_EVENTS = _TABLE["events by the day"] + _TABLE["events by the hour"]
_EVENT = "|".join(
    rf"{subject.format('[A-Z][a-z]+')} (?:{'|'.join(verbs)})"
    for subject, *verbs in _EVENTS
)
_PARTS = {
    "event": rf"(?P<event>{_EVENT})",
    "other": rf"(?P<other>{_EVENT})",
    "how": "(?P<how>in|on|at|before|after)",
    "span": r"(?P<span>\d+ \w+(?: and \d+ \w+)?) (?P<side>before|after)",
    "time": r"(?P<time>[\w: ]+)",
    "noun": r"(?:time|day|month|year)",
    "at": "(?:in|on|at)",
}
_SENTENCES = [
    re.compile(
        _TABLE[order].format(
            event=_PARTS["event"], when=_TABLE[wording].format(**_PARTS)
        )
    )
    for order, wording in product(("first", "last"), ("same", "step", "time"))
]
_NOTE = re.compile(r"All the \w+ named are (?:in|on) the same (\w+)[^.]*\. ")
_CYCLES = {"day": (0, 24 * 60 - 1), "week": (0, 6), "month": (1, 31), "year": (0, 11)}
_MARGIN = 3  # tried beyond all that are named: what holds there holds further out


def solve(premise: str, hypothesis: str) -> Solution | None:
    """Return the labels that a pair may have; None where one of the two is not read.

    Nor is one with clocks of two styles, or about before a week (or other cycle) or after.
    """
    clocks = re.findall(r"\b\d+:\d\d( [AP]M)?", f"{premise} {hypothesis}")
    if len({*map(bool, clocks)}) > 1:
        return None
    note = _NOTE.match(premise)
    told = [_said(x) for x in re.findall(r"[^.]+\.", _NOTE.sub("", premise))]
    claim = _said(hypothesis)
    if None in told or not claim:
        return None
    places: dict[str, int] = {}
    for said in told * len(told):  # over and over, for they are in any order
        if said["event"] in places:
            continue
        if "span" in said and said["other"] in places:
            places[said["event"]] = _walked(places[said["other"]], said)
        elif said.get("how") in ("in", "on", "at") and "time" in said:
            places[said["event"]] = _place(said["time"])
    [known] = [said for said in told if said["event"] == claim["event"]]
    place = _place(known["time"]) if "time" in known else places[known["other"]]
    cycle = _CYCLES[note[1]] if note else None
    sides = (known["how"], place), (claim["how"], _place(claim["time"]))
    if cycle and sides[1] in (("before", cycle[0]), ("after", cycle[1])):
        return None
    labels = {_label(*sides, *x) for x in product((0.5, 1), {None, cycle})}
    return Solution(tuple(labels), f"{sides[0]} against {sides[1]}")


def _said(sentence: str) -> dict[str, str] | None:
    """Return what a sentence says, events by their subjects."""
    text = sentence.strip().removesuffix(".")
    text = text[0].lower() + text[1:]
    match = next(filter(None, (x.fullmatch(text) for x in _SENTENCES)), None)
    said = match.groupdict() if match else {}
    for name in said.keys() & {"event", "other"}:
        ends = "|".join(verb for _, *verbs in _EVENTS for verb in verbs)
        said[name] = re.sub(f" ({ends})$", "", said[name])
    return said or None


def _place(text: str) -> int:
    """Return the minute, day, month or year that a time is, counted from any start."""
    if clock := re.fullmatch(r"(\d+)(?::(\d\d))?(?: ([AP])M)?", text):
        if not clock[2] and not clock[3]:
            return int(text)
        hour = int(clock[1]) % (12 if clock[3] else 24) + 12 * (clock[3] == "P")
        return 60 * hour + int(clock[2] or 0)
    if day := re.fullmatch(r"the (\d+)(?:st|nd|rd|th)", text):
        return int(day[1])
    if text in day_name:
        return [*day_name].index(text)
    *day, month, year = text.split() if " " in text else (text, "0")
    number = [*month_name].index(month)
    if day:
        return date(int(year), number, int(*day)).toordinal()
    return 12 * int(year) + number - 1


def _walked(place: int, said: dict[str, str]) -> int:
    """Return the place at the end of a span, walked step by step."""
    sign = 1 if said["side"] == "after" else -1
    is_date, is_year = place > 366 * 1000, place < 3000  # else months, of the year 0
    sizes = {"week": 7, "hour": 60, "year": 1 if is_year else 12}
    for count, unit in re.findall(r"(\d+) (\w+?)s?\b", said["span"]):
        for _ in range(int(count)):
            if unit == "month" and is_date:
                number = date.fromordinal(place).day
                place += sign
                while date.fromordinal(place).day != number:
                    place += sign
            else:
                place += sign * sizes.get(unit, 1)
    return place


def _label(
    known: tuple[str, int], asked: tuple[str, int], step: float, cycle: tuple | None
) -> str:
    """Return the label that the worlds of a reading give."""
    near = sorted((known[1], asked[1]))
    first, last = cycle or (near[0] - _MARGIN, near[1] + _MARGIN)
    count = int((last - first) / step) + 1
    worlds = [x for x in (first + step * n for n in range(count)) if _holds(x, *known)]
    true = {_holds(x, *asked) for x in worlds}
    return {(True,): "Entailment", (False,): "Contradiction"}.get((*true,), "Neutral")


def _holds(place: float, how: str, named: int) -> bool:
    if how in ("before", "after"):
        return place < named if how == "before" else place > named
    return place == named
