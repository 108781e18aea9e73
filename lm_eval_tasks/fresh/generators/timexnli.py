"""Premises and hypotheses about the time of an event, in the schema of TimeX-NLI.

Times are of the public set's kinds, and as frequent: clocks, weekdays, days of a month,
months, months of a year, dates, years. So are labels, tenses, and how an event is placed.
At level 1 the premise says in, before or after which time the event was. At level N a chain
of N - 1 steps from event to event leads to that time, told in any order among steps and
events that do not lead there; from level 3 on premise and hypothesis are at most two days
(or other units) apart. Times of a cycle, such as weekdays, are named within one week, but
events on the way may be in other weeks: else few steps would leave an event no other day,
and the rest of the chain would not matter.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import date
from itertools import product
from typing import NamedTuple

from . import _arithmetic as words


VERSION = "3"
HIGHEST = 100
BOUNDS = {"gap": (1, 100)}
# The turns of the labels, in about the shares of the public set: 43, 34 and 23 %.
LABELS = tuple(
    {"C": "Contradiction", "E": "Entailment", "N": "Neutral"}[x] for x in "CECNECNCECEN"
)
# Events happen once by their nature: each is a subject, and what it did, does, will do.
TEXTS = words.texts("_timexnli")
PLACES = TEXTS["places"]
ERAS = {"past": (1900, 2021), "future": (2030, 2100)}  # years, the second one left out
FIRST_PLACES = {  # of a year
    "date": lambda year: date(year, 1, 1).toordinal(),
    "month of a year": lambda year: 12 * year,
}
ENDLESS = (-math.inf, math.inf)
DATE_STEPS = {"day": 60, "week": 20, "month": 18}  # unit -> the most of it in a step
LAST_SAFE_DAY = 28  # that every month has: a step of months is certain up to it


class Kind(NamedTuple):
    """A kind of time; its places are numbered."""

    share: int  # of fifty rows, as in the public set
    at: str  # in, on or at such a time
    noun: str
    units: tuple[tuple[str, int], ...] = ()  # of steps, each with its places
    longest: int = 0  # step
    cycle: tuple[int, int] | None = None  # the first and the last place
    grid: int = 1  # places from one time to the next


_HOURS, _YEARS = (("hour", 60), ("minute", 1)), (("year", 12), ("month", 1))
KINDS = {
    "clock": Kind(9, "at", "time", _HOURS, 1440, (0, 1425), grid=15),
    "weekday": Kind(4, "on", "day", (("day", 1),), 7, (0, 6)),
    "day": Kind(5, "on", "day", (("day", 1),), 28, (1, 28)),
    "month": Kind(13, "in", "month", (("month", 1),), 12, (0, 11)),
    "month of a year": Kind(9, "in", "month", _YEARS, 60),
    "date": Kind(8, "on", "day"),
    "year": Kind(2, "in", "year", (("year", 1),), 30),
}
SAID = {  # how a place is said
    "weekday": words.WEEKDAYS.__getitem__,
    "day": lambda place: f"the {words.ordinal(place)}",
    "month": words.MONTHS.__getitem__,
    "month of a year": lambda place: f"{words.MONTHS[place % 12]} {place // 12}",
    "date": lambda place: words.in_words(date.fromordinal(place), False),
    "year": str,
}
REACH = 2  # cycles before and after the one of the times that are named
SHARES = tuple(kind for kind in KINDS for _ in range(KINDS[kind].share))
SIDES = ("before", "after")
Event = tuple[str, str]  # as a sentence says it, and as a clause after "which" does


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level; its gap is the most between the times compared."""
    largest_gap = 100 if level < 3 else 2
    return {"steps": level - 1, "distractors": level - 1, "gap": largest_gap}


BENCHMARK = ladder(1)


def row(rng: random.Random, level: int, index: int, knobs: words.Knobs) -> dict | None:
    """Return a premise, a hypothesis and its label, each label in its turn.

    None where the draw has another label, or none that is certain.
    """
    kind_name, tense = rng.choice(SHARES), rng.choice(tuple(ERAS))
    kind, main_number = KINDS[kind_name], knobs["steps"]
    year_range, place_of = ERAS[tense], FIRST_PLACES.get(kind_name, int)
    first, last = kind.cycle or (place_of(year_range[0]), place_of(year_range[1]) - 1)
    links, decoy_links = _links(rng, main_number, knobs["distractors"])
    places, span_texts = _places(rng, kind_name, (first, last), links, main_number)
    end_place, largest_gap = places[main_number], knobs["gap"] * kind.grid
    near_places = range(end_place - largest_gap, end_place + largest_gap + 1, kind.grid)
    claim_place = rng.choice([place for place in near_places if first <= place <= last])
    premise_side = rng.choice(_hows(kind, end_place))
    claim_side = rng.choice(_hows(kind, claim_place)[2:])
    label = _label(kind, places, (premise_side, end_place), (claim_side, claim_place))
    if label != LABELS[index % len(LABELS)]:
        return None
    main_event, *events = _events(
        rng, kind_name, tense, 1 + len(links) + len(decoy_links)
    )
    first_event = (events[0], kind.at) if main_number else (main_event, premise_side)
    dated_events = [(*first_event, places[0]), (main_event, claim_side, claim_place)]
    *sentences, hypothesis = _dated(rng, kind_name, dated_events)
    sentences += _tell_steps(rng, events, links, span_texts)
    placed_decoys = [
        (decoy, rng.choice(_hows(kind, places[link])), link)
        for decoy, link in zip(events[len(links) :], decoy_links)
    ]
    placed_events = [*placed_decoys, (main_event, premise_side, main_number)]
    for event, how, link in placed_events if main_number else ():
        slots = {"how": how, "noun": kind.noun, "at": kind.at, "other": events[link][1]}
        sentences.append(_sentence(rng, event, "same", **slots))
    rng.shuffle(sentences)
    return {
        "Premise": " ".join([*TEXTS["notes"].get(kind_name, []), *sentences]),
        "Hypothesis": hypothesis,
        "Label": label,
    }


def _tell_steps(
    rng: random.Random, events: list[Event], links: list[int], span_texts: list[str]
) -> Iterator[str]:
    """Yield a sentence on each event but the first: its span from the linked event."""
    for event, linked_number, span_text in list(zip(events, links, span_texts))[1:]:
        text_slots = {"span": span_text, "other": events[linked_number][1]}
        yield _sentence(rng, event, "step", **text_slots)


def _hows(kind: Kind, place: int) -> list[str]:
    """Return how an event can be placed: not before a week (or other cycle), or after it."""
    sides_and_edges = zip(SIDES, kind.cycle or ENDLESS)
    return [
        kind.at,
        kind.at,
        *(side for side, edge_place in sides_and_edges if place != edge_place),
    ]


def _links(
    rng: random.Random, steps: int, distractors: int
) -> tuple[list[int], list[int]]:
    """Return which event each one is a step from, and which the decoys are told by.

    The first is told by its time, and has no use for its number. Every other distractor
    is a step from any event so far.
    """
    links, decoy_links = [0, *range(steps)], []
    for distractor_number in range(distractors if steps else 0):
        linked_number = rng.randrange(len(links))
        (decoy_links if distractor_number % 2 else links).append(linked_number)
    return links, decoy_links


def _places(
    rng: random.Random, name: str, within: tuple[int, int], links: list[int], end: int
) -> tuple[list[int], list[str]]:
    """Return where each event is, and the span from the one that it is a step from.

    Of a cycle, the first event and the one of number `end` are within its places; of other
    kinds, all are. Walks that are not so are drawn again, so that kinds stay as frequent.
    """
    time_kind, (first_place, last_place) = KINDS[name], within
    places = [rng.randrange(first_place, last_place + 1, time_kind.grid)]
    span_texts = [""]
    cycle_reach = REACH * time_kind.longest if time_kind.cycle else 0
    for linked_number in links[1:]:
        rooms = (
            places[linked_number] - first_place + cycle_reach,
            last_place + cycle_reach - places[linked_number],
        )
        next_place, span_text = _step(rng, name, places[linked_number], rooms)
        places.append(next_place)
        span_texts.append(span_text)
    bounded_places = [places[end]] if time_kind.cycle else places
    if first_place <= min(bounded_places) <= max(bounded_places) <= last_place:
        return places, span_texts
    return _places(rng, name, within, links, end)


def _step(
    rng: random.Random, name: str, place: int, rooms: tuple[int, int]
) -> tuple[int, str]:
    """Return the place that a step leads to, and what it is called.

    `rooms` are the places before and after it; the more there are, the likelier the step
    leads there. So long chains stay near the middle, and no edge is met.
    """
    step_side, places_on_side = rng.choices([*zip(SIDES, rooms)], rooms)[0]
    direction = 1 if step_side == "after" else -1
    if name == "date":
        day_is_in_every_month = date.fromordinal(place).day <= LAST_SAFE_DAY
        unit = rng.choice(("day", "week", "month")[: 2 + day_is_in_every_month])
        step_size = rng.randint(1, DATE_STEPS[unit])
        return _moved(
            place, direction * step_size, unit
        ), f"{words.counted(step_size, unit)} {step_side}"
    time_kind = KINDS[name]
    step_size = (
        rng.randint(1, min(time_kind.longest, places_on_side) // time_kind.grid)
        * time_kind.grid
    )
    amount_texts, remaining_places = [], step_size
    for unit, unit_size in time_kind.units:
        amount, remaining_places = divmod(remaining_places, unit_size)
        amount_texts += [words.counted(amount, unit)] * (amount > 0)
    return place + direction * step_size, f"{' and '.join(amount_texts)} {step_side}"


def _moved(place: int, count: int, unit: str) -> int:
    """Return the day that a step leads to."""
    if unit != "month":
        return place + count * (7 if unit == "week" else 1)
    return words.plus_months(date.fromordinal(place), count).toordinal()


def _label(
    kind: Kind, places: list[int], premise: tuple[str, int], claim: tuple[str, int]
) -> str | None:
    """Return how a claim follows from the premise, each a side and a place.

    None where it hangs on whether events happen on a grid of times, on the times alone, or
    between them, too; or on whether the event is in the week (or other cycle) of the times
    that are named; and where a side has no time at all.
    """
    # Clocks that show full hours, halves or quarters may say when events are.
    time_grid = math.gcd(*places, claim[1]) or kind.grid if kind.grid > 1 else 1
    cycle_ranges, possible_labels = (ENDLESS, kind.cycle or ENDLESS), set()
    for grid_step, (first_place, last_place) in product(
        (time_grid, 1, 0.5), cycle_ranges
    ):
        last_place = (
            last_place // grid_step * grid_step if last_place < math.inf else last_place
        )
        (premise_start, premise_end), (claim_start, claim_end) = (
            {
                "before": (first_place, place - grid_step),
                "after": (place + grid_step, last_place),
            }.get(side, (place, place))
            for side, place in (premise, claim)
        )
        if premise_start > premise_end or claim_start > claim_end:
            return None
        if claim_start <= premise_start <= premise_end <= claim_end:
            possible_labels.add("Entailment")
        elif premise_end < claim_start or claim_end < premise_start:
            possible_labels.add("Contradiction")
        else:
            possible_labels.add("Neutral")
    return possible_labels.pop() if len(possible_labels) == 1 else None


# ------------------------------------------------------------------------------ wording


def _events(rng: random.Random, name: str, tense: str, count: int) -> list[Event]:
    """Return different events, by the hour or by the day."""
    event_texts = TEXTS[
        "events by the hour" if name == "clock" else "events by the day"
    ]
    events = []
    for text_number in rng.sample(range(len(event_texts) * len(PLACES)), count):
        subject, past_verb, present_verb, future_verb = event_texts[
            text_number % len(event_texts)
        ]
        subject = subject.format(PLACES[text_number // len(event_texts)])
        main_verb, clause_verb = (
            (past_verb, past_verb) if tense == "past" else (future_verb, present_verb)
        )
        events.append((f"{subject} {main_verb}", f"{subject} {clause_verb}"))
    return events


def _dated(rng: random.Random, name: str, dated: list[tuple]) -> Iterator[str]:
    """Yield a sentence on each event, how it is placed, and the place; clocks are of one
    style, without AM and PM where the hour is 12, which some misread.
    """
    has_hour_twelve = any(event_place // 60 % 12 == 0 for *_, event_place in dated)
    write_clock = words.clock if has_hour_twelve else words.clock_of_a_style(rng)
    for event, placing, place in dated:
        time_text = write_clock(60 * place) if name == "clock" else SAID[name](place)
        yield _sentence(rng, event, "time", how=placing, time=time_text)


def _sentence(rng: random.Random, event: Event, wording: str, **parts: str) -> str:
    """Return a sentence on an event and its time, by a wording of the table."""
    time_words = TEXTS[wording].format(**parts)
    word_order = "last" if wording == "step" else rng.choice(("first", "last"))
    sentence = TEXTS[word_order].format(event=event[0], when=time_words)
    return f"{sentence[0].upper()}{sentence[1:]}."
