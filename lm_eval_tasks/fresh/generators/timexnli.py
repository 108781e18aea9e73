"""Premises and hypotheses about the day of an event, in the schema of TimeX-NLI.

At level 1 the premise names a day; at level N a chain of N - 1 steps of days, weeks or
months from event to event leads to it, told in any order. Days are of the Gregorian
calendar.
"""

from __future__ import annotations

import math
import random
from datetime import date, timedelta


VERSION = "2"
HIGHEST = 100
LABELS = ("Entailment", "Contradiction", "Neutral")
MONTHS = (
    "January February March April May June July August September October November"
    " December"
).split()
SUBJECTS = (
    *("the ferry line", "the night market", "the glass works", "the east bridge"),
    *("the tram depot", "the sea wall", "the salt mill", "the new archive"),
    *("the tide clock", "the grain hall", "the radio mast", "the rope walk"),
    *("the canal lock", "the hill chapel", "the fish auction", "the reading room"),
    *("the ice rink", "the herb garden", "the cable car", "the print shop"),
    *("the bell tower", "the oyster bar", "the town orchard", "the boat school"),
)
VERBS = (
    *("opened", "closed", "was sold", "was inspected", "was repainted", "was flooded"),
    *("got a new roof", "changed hands", "was insured", "was photographed"),
)
# Relation -> the first and the last day that it leaves, counted from the day it names.
RELATIONS = {"on": (0, 0), "before": (-math.inf, -1), "after": (1, math.inf)}
UNITS = {"day": 60, "week": 20, "month": 18}  # unit -> the most of it in a step
LAST_SAFE_DAY = 28  # that every month has: a step of months is certain up to it
NEAR = 15  # days at most between what premise and hypothesis name


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level."""
    return {"steps": level - 1}


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a premise, a hypothesis and its label, each label in its turn.

    None where the draw has another label, or a step of months has no certain end.
    """
    *events, asked_event = _events(rng, knobs["steps"] + 2)
    day = date(
        rng.randint(1801, 2399), rng.randint(1, 12), rng.randint(1, LAST_SAFE_DAY)
    )
    sentences = [f"{events[0]} on {_said(day)}"]
    for earlier, event in zip(events, events[1:]):
        count, unit = _step(rng)
        if (day := _moved(day, count, unit)) is None:
            return None
        side = "after" if count > 0 else "before"
        span = f"{abs(count)} {unit}{'s' * (abs(count) > 1)}"
        sentences.append(f"{event} {span} {side} {earlier}")
    known, asked = rng.choice(tuple(RELATIONS)), rng.choice(tuple(RELATIONS))
    asked_day = day + timedelta(days=rng.randint(-NEAR, NEAR))
    label = _label(_days(day, known), _days(asked_day, asked))
    if label != LABELS[index % len(LABELS)]:
        return None
    if not knobs["steps"]:
        sentences = [f"{asked_event} {known} {_said(day)}"]
    else:
        sentences.append(f"{asked_event} {known} the day on which {events[-1]}")
        rng.shuffle(sentences)
    return {
        "Premise": " ".join(map(_sentence, sentences)),
        "Hypothesis": _sentence(f"{asked_event} {asked} {_said(asked_day)}"),
        "Label": label,
    }


def _events(rng: random.Random, count: int) -> list[str]:
    """Return clauses, no two with the same subject while there are enough of them."""
    subjects = [
        subject
        for _ in range(-(-count // len(SUBJECTS)))
        for subject in rng.sample(SUBJECTS, len(SUBJECTS))
    ]
    return [
        f"{subject} {rng.choice(VERBS)}{' again' * (place // len(SUBJECTS))}"
        for place, subject in enumerate(subjects[:count])
    ]


def _step(rng: random.Random) -> tuple[int, str]:
    unit = rng.choice(tuple(UNITS))
    return rng.randint(1, UNITS[unit]) * rng.choice((1, -1)), unit


def _moved(day: date, count: int, unit: str) -> date | None:
    """Return the day a step leads to; None where not every month has that day."""
    if unit != "month":
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    if day.day > LAST_SAFE_DAY:
        return None
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return day.replace(year=year, month=month + 1)


def _days(day: date, relation: str) -> tuple[float, float]:
    """Return the first and the last day, as ordinals, that a relation to a day leaves."""
    first, last = RELATIONS[relation]
    return day.toordinal() + first, day.toordinal() + last


def _label(known: tuple[float, float], asked: tuple[float, float]) -> str:
    """Return how the days that are known relate to those that are asked about."""
    if asked[0] <= known[0] and known[1] <= asked[1]:
        return "Entailment"
    if known[1] < asked[0] or asked[1] < known[0]:
        return "Contradiction"
    return "Neutral"


def _said(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."
