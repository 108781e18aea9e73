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
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from itertools import islice, product
from typing import NamedTuple

from . import _wording as words


VERSION = "5"
HIGHEST = 100
BOUNDS = {"gap": (1, 100), "balanced": (0, 1)}
# The turns of the labels, in about the shares of the public set: 43, 34 and 23 %.
LABELS = tuple(
    {"C": "Contradiction", "E": "Entailment", "N": "Neutral"}[x] for x in "CECNECNCECEN"
)
# How the premise places its event, where the hypothesis says before or after: at its time,
# on the same side of it, or on the other. By label, and how often of twelve rows: so each
# of the three is as often right for one label as for another, and never for the third.
WAYS = {
    "Contradiction": ("at", "at", "at", "other", "other"),
    "Entailment": ("at", "at", "at", "same"),
    "Neutral": ("same", "other", "other"),
}
MOST_CHAINS = 2_000  # that are drawn for a row
# Events happen once by their nature: each is a subject, and what it did, does, will do.
TEXTS = words.texts("_timexnli")
PLACES = TEXTS["places"]
ERAS = {"past": (1900, 2021), "future": (2030, 2100)}  # years, the second one left out
FIRST_TIMES = {  # of a year, by number
    "date": lambda year: date(year, 1, 1).toordinal(),
    "month of a year": lambda year: 12 * year,
}
ENDLESS = (-math.inf, math.inf)
DATE_STEPS = {"day": 60, "week": 20, "month": 18}  # unit -> the most of it in a step
LAST_SAFE_DAY = 28  # that every month has: a step of months is certain up to it


class Kind(NamedTuple):
    """A kind of time; its times are numbered."""

    share: int  # of fifty rows, as in the public set
    at: str  # in, on or at such a time
    noun: str
    units: tuple[tuple[str, int], ...] = ()  # of steps, each as a number of times
    longest: int = 0  # step
    cycle: tuple[int, int] | None = None  # the first and the last time
    grid: int = 1  # from one time that is named to the next


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
SAID: dict[str, Callable[[int], str]] = {  # how a time is said
    "weekday": words.WEEKDAYS.__getitem__,
    "day": lambda day: f"the {words.ordinal(day)}",
    "month": words.MONTHS.__getitem__,
    "month of a year": lambda month: f"{words.MONTHS[month % 12]} {month // 12}",
    "date": lambda day: words.in_words(date.fromordinal(day), False),
    "year": str,
}
REACH = 2  # cycles before and after the one of the times that are named
SHARES = tuple(kind for kind in KINDS for _ in range(KINDS[kind].share))
SIDES = ("before", "after")
Placed = tuple[str, int]  # at, before or after a time, and the time
Chain = tuple[list[int], list[str]]  # the times of events, and the spans between them
Event = tuple[str, str]  # as a sentence says it, and as a clause after "which" does


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level; its gap is the most between the times compared.

    Where it is `balanced`, neither the hypothesis nor the prepositions tell the label.
    """
    return {
        "steps": level - 1,
        "distractors": level - 1,
        "gap": 100 if level < 3 else 2,
        "balanced": int(level > 2),
    }


BENCHMARK = ladder(1)


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a premise, a hypothesis (the claim) and its label; times are numbers.

    Each label has its turn: None where the draw has another, or none that is certain.
    """
    kind_name, tense = rng.choice(SHARES), rng.choice(tuple(ERAS))
    kind, step_count = KINDS[kind_name], knobs["steps"]
    time_range = _time_range(kind_name, tense)
    linked_numbers, decoys_linked_numbers = _link_events(
        rng, step_count, knobs["distractors"]
    )
    label = LABELS[index % len(LABELS)]
    chains = _draw_chains(rng, kind_name, time_range, linked_numbers, step_count)
    draw_pair = _draw_balanced if knobs["balanced"] else _draw_freely
    chain_and_pair = draw_pair(
        rng, kind, label, chains, step_count, knobs["gap"], time_range
    )
    if chain_and_pair is None:
        return None
    (event_times, span_texts), premise, claim = chain_and_pair
    premise_side, _ = premise
    all_event_count = 1 + len(linked_numbers) + len(decoys_linked_numbers)
    main_event, *other_events = _draw_events(rng, kind_name, tense, all_event_count)
    premise_and_claim_events = [(main_event, *premise), (main_event, *claim)]
    if step_count:
        premise_and_claim_events[0] = (other_events[0], kind.at, event_times[0])
    *sentences, hypothesis = _tell_times(rng, kind_name, premise_and_claim_events)
    sentences += _tell_steps(rng, other_events, linked_numbers, span_texts)
    decoys = other_events[len(linked_numbers) :]
    linked_events = [
        (decoy, rng.choice(_sides(kind, event_times[linked_number])), linked_number)
        for decoy, linked_number in zip(decoys, decoys_linked_numbers)
    ]
    if step_count:
        linked_events.append((main_event, premise_side, step_count))
    sentences += _tell_same_times(rng, kind, linked_events, other_events)
    rng.shuffle(sentences)
    premise_text = " ".join([*TEXTS["notes"].get(kind_name, []), *sentences])
    return {"Premise": premise_text, "Hypothesis": hypothesis, "Label": label}


def _time_range(kind_name: str, tense: str) -> tuple[int, int]:
    """Return the first and the last time, as numbers, of a kind's cycle or of an era."""
    first_time, time_after_last = map(FIRST_TIMES.get(kind_name, int), ERAS[tense])
    return KINDS[kind_name].cycle or (first_time, time_after_last - 1)


def _near_times(kind: Kind, time: int, gap: int, within: tuple[int, int]) -> list[int]:
    """Return the times of a range that are at most a gap away from another time."""
    near_times = range(time - gap * kind.grid, time + gap * kind.grid + 1, kind.grid)
    return [
        near_time for near_time in near_times if within[0] <= near_time <= within[1]
    ]


def _draw_freely(
    rng: random.Random,
    kind: Kind,
    label: str,
    chains: Iterator[Chain],
    last: int,
    gap: int,
    within: tuple[int, int],
) -> tuple[Chain, Placed, Placed] | None:
    """Return a chain, and how premise and hypothesis place the event, if the label fits.

    `last` is the number of the event that the premise is about.
    """
    chain = next(chains)
    event_times, _ = chain
    claim_time = rng.choice(_near_times(kind, event_times[last], gap, within))
    premise = rng.choice(_sides(kind, event_times[last])), event_times[last]
    claim = rng.choice(_sides(kind, claim_time)[2:]), claim_time
    has_label = _label(kind, event_times, premise, claim) == label
    return (chain, premise, claim) if has_label else None


def _draw_balanced(
    rng: random.Random,
    kind: Kind,
    label: str,
    chains: Iterator[Chain],
    last: int,
    gap: int,
    within: tuple[int, int],
) -> tuple[Chain, Placed, Placed] | None:
    """Return a chain, and how premise and hypothesis place the event, with a label.

    The parameters are those of `_draw_freely`. Of a cycle, such as a week, the time of the
    hypothesis is drawn first, and is as likely for one label as for another: else it would
    tell the label, as few days are before Tuesday. Other times are drawn near the premise's.
    None where no chain leads to such a premise.
    """
    way, claim_side = rng.choice(WAYS[label]), rng.choice(SIDES)
    claim_times: list[int] = []
    if kind.cycle:
        possible_times = _claim_times_of_way(kind, way, claim_side, gap, within)
        if not possible_times:  # a gap of 1 is too small for some ways
            return None
        claim_times = [rng.choice(possible_times)]
    premise_side = _premise_side(kind, way, claim_side)
    for chain in islice(chains, MOST_CHAINS if kind.cycle else 1):
        event_times, _ = chain
        premise = premise_side, event_times[last]
        near_times = _near_times(kind, event_times[last], gap, within)
        claims = [
            (claim_side, claim_time)
            for claim_time in claim_times or near_times
            if claim_time in near_times
            and _label(kind, event_times, premise, (claim_side, claim_time)) == label
        ]
        if claims:
            return chain, premise, rng.choice(claims)
    return None


def _premise_side(kind: Kind, way: str, claim_side: str) -> str:
    """Return where the premise places its event, by a way of WAYS."""
    other_side = SIDES[1 - SIDES.index(claim_side)]
    return {"at": kind.at, "same": claim_side, "other": other_side}[way]


@cache
def _claim_times_of_way(
    kind: Kind, way: str, claim_side: str, gap: int, within: tuple[int, int]
) -> tuple[int, ...]:
    """Return the times of a hypothesis near which a premise can be for each label of a way."""
    premise_side = _premise_side(kind, way, claim_side)
    labels_of_way = {label for label in WAYS if way in WAYS[label]}
    return tuple(
        claim_time
        for claim_time in range(within[0], within[1] + 1, kind.grid)
        if labels_of_way
        <= {
            _label(kind, [time], (premise_side, time), (claim_side, claim_time))
            for time in _near_times(kind, claim_time, gap, within)
        }
    )


def _sides(kind: Kind, time: int) -> list[str]:
    """Return how an event can lie to a time: "at" it, or before or after it.

    Not before the first time of a week (or other cycle), and not after its last.
    """
    first_time, last_time = kind.cycle or ENDLESS
    sides = [kind.at, kind.at]
    sides += [SIDES[0]] * (time != first_time) + [SIDES[1]] * (time != last_time)
    return sides


def _link_events(
    rng: random.Random, steps: int, distractors: int
) -> tuple[list[int], list[int]]:
    """Return the numbers of the events that each event, then each decoy, is told by.

    The first is told by its time, and has no use for its number. Every other distractor
    is a step from any event so far.
    """
    linked_numbers = [0, *range(steps)]
    decoys_linked_numbers: list[int] = []
    for distractor_number in range(distractors if steps else 0):
        linked_number = rng.randrange(len(linked_numbers))
        (decoys_linked_numbers if distractor_number % 2 else linked_numbers).append(
            linked_number
        )
    return linked_numbers, decoys_linked_numbers


def _draw_chains(
    rng: random.Random, kind: str, within: tuple[int, int], links: list[int], end: int
) -> Iterator[Chain]:
    """Yield any number of draws of `_draw_times`."""
    while True:
        yield _draw_times(rng, kind, within, links, end)


def _draw_times(
    rng: random.Random, kind: str, within: tuple[int, int], links: list[int], end: int
) -> Chain:
    """Return each event's time, as a number, and its span from the event it is told by.

    Of a cycle, the first event and the one of number `end` are within its times; of other
    kinds, all are. Walks that are not so are drawn again, so that kinds stay as frequent.
    """
    time_kind, (first_time, last_time) = KINDS[kind], within
    event_times = [rng.randrange(first_time, last_time + 1, time_kind.grid)]
    span_texts = [""]
    reach_beyond_cycle = REACH * time_kind.longest if time_kind.cycle else 0
    for linked_number in links[1:]:
        rooms_before_and_after = (
            event_times[linked_number] - first_time + reach_beyond_cycle,
            last_time + reach_beyond_cycle - event_times[linked_number],
        )
        event_time, span_text = _step(
            rng, kind, event_times[linked_number], rooms_before_and_after
        )
        event_times.append(event_time)
        span_texts.append(span_text)
    bounded_times = [event_times[end]] if time_kind.cycle else event_times
    if first_time <= min(bounded_times) <= max(bounded_times) <= last_time:
        return event_times, span_texts
    return _draw_times(rng, kind, within, links, end)


def _step(
    rng: random.Random, kind_name: str, time: int, rooms: tuple[int, int]
) -> tuple[int, str]:
    """Return the time that a step leads to, as a number, and the words for the step.

    `rooms` are how many times are before and after it; the more there are, the likelier
    the step leads there. So long chains stay near the middle, and no edge is met.
    """
    side, room_on_side = rng.choices([*zip(SIDES, rooms)], rooms)[0]
    direction = 1 if side == "after" else -1
    if kind_name == "date":
        is_day_of_all_months = date.fromordinal(time).day <= LAST_SAFE_DAY
        unit = rng.choice(("day", "week", "month")[: 2 + is_day_of_all_months])
        amount = rng.randint(1, DATE_STEPS[unit])
        step_text = f"{words.counted(amount, unit)} {side}"
        return _moved(time, direction * amount, unit), step_text
    time_kind = KINDS[kind_name]
    step_size = rng.randint(1, min(time_kind.longest, room_on_side) // time_kind.grid)
    step_size *= time_kind.grid
    amount_texts, remaining_size = [], step_size
    for unit, unit_size in time_kind.units:
        amount, remaining_size = divmod(remaining_size, unit_size)
        amount_texts += [words.counted(amount, unit)] * (amount > 0)
    return time + direction * step_size, f"{' and '.join(amount_texts)} {side}"


def _moved(day: int, count: int, unit: str) -> int:
    """Return the day that a step leads to."""
    if unit != "month":
        return day + count * (7 if unit == "week" else 1)
    return words.plus_months(date.fromordinal(day), count).toordinal()


def _label(kind: Kind, times: list[int], premise: Placed, claim: Placed) -> str | None:
    """Return how a claim follows from the premise, each a side and a time.

    None where it hangs on whether events happen on a grid of times, on the times alone, or
    between them, too; or on whether the event is in the week (or other cycle) of the times
    that are named; and where a side has no time at all.
    """
    # Clocks that show full hours, halves or quarters may say when events are.
    shown_clock_step = math.gcd(*times, claim[1]) or kind.grid if kind.grid > 1 else 1
    possible_ranges, possible_labels = (ENDLESS, kind.cycle or ENDLESS), set()
    for step_between_times, (first_time, last_time) in product(
        (shown_clock_step, 1, 0.5), possible_ranges
    ):
        if last_time < math.inf:
            last_time = last_time // step_between_times * step_between_times
        (premise_start, premise_end), (claim_start, claim_end) = (
            {
                "before": (first_time, time - step_between_times),
                "after": (time + step_between_times, last_time),
            }.get(side, (time, time))
            for side, time in (premise, claim)
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


def _draw_events(rng: random.Random, kind: str, tense: str, count: int) -> list[Event]:
    """Return different events, each in a town: by the hour for clocks, else by the day."""
    subjects_and_verbs = TEXTS[f"events by the {'hour' if kind == 'clock' else 'day'}"]
    events, event_kind_count = [], len(subjects_and_verbs)
    for event_number in rng.sample(range(event_kind_count * len(PLACES)), count):
        town_number, kind_number = divmod(event_number, event_kind_count)
        subject, past_verb, present_verb, future_verb = subjects_and_verbs[kind_number]
        subject = subject.format(PLACES[town_number])
        if tense == "past":
            events.append((f"{subject} {past_verb}", f"{subject} {past_verb}"))
        else:
            events.append((f"{subject} {future_verb}", f"{subject} {present_verb}"))
    return events


def _tell_times(rng: random.Random, kind: str, dated: list[tuple]) -> Iterator[str]:
    """Yield a sentence on each event, its side ("before" …) of a time, and the time.

    Clocks are of one style, without AM and PM where the hour is 12, which some misread.
    """
    has_hour_twelve = any(time // 60 % 12 == 0 for *_, time in dated)
    write_clock: Callable[[int], str] = words.clock
    if not has_hour_twelve:
        write_clock = words.clock_of_a_style(rng)
    for event, side, time in dated:
        time_text = write_clock(60 * time) if kind == "clock" else SAID[kind](time)
        yield _sentence(rng, event, "time", how=side, time=time_text)


def _tell_steps(
    rng: random.Random, events: list[Event], links: list[int], span_texts: list[str]
) -> Iterator[str]:
    """Yield a sentence on each event but the first: its span from the linked event."""
    for event, linked_number, span_text in list(zip(events, links, span_texts))[1:]:
        yield _sentence(
            rng, event, "step", span=span_text, other=events[linked_number][1]
        )


def _tell_same_times(
    rng: random.Random, kind: Kind, linked_events: list[tuple], events: list[Event]
) -> Iterator[str]:
    """Yield a sentence on each event, its side of a time, and the linked event of then."""
    for event, side, linked_number in linked_events:
        slots = {"how": side, "noun": kind.noun, "at": kind.at}
        yield _sentence(rng, event, "same", **slots, other=events[linked_number][1])


def _sentence(rng: random.Random, event: Event, wording: str, **parts: str) -> str:
    """Return a sentence on an event and its time, by a wording of the table."""
    time_phrase = TEXTS[wording].format(**parts)
    phrase_position = "last" if wording == "step" else rng.choice(("first", "last"))
    sentence = TEXTS[phrase_position].format(event=event[0], when=time_phrase)
    return f"{sentence[0].upper()}{sentence[1:]}."
