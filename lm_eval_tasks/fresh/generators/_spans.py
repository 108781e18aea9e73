"""Questions on spans and their order: of the types add_subtract, compare and duration."""

from __future__ import annotations

import random
from datetime import date, timedelta
from functools import partial
from typing import NamedTuple

from . import _arithmetic as a


# Unit -> its days and months, and the most that something is moved by.
MOVES = ("day", 1, 0, 300), ("week", 7, 0, 50), ("month", 0, 1, 20), ("year", 0, 12, 3)
FIRST_YEAR = 2030  # of what is still to come


# ---------------------------------------------------------------------- add_subtract


def dynasties(rng: random.Random, level: int) -> a.Problem:
    """A year that follows from the lengths of reigns, over the line between the eras."""
    longest = 30 + a.most(level, 40, 3000, 1)
    years = [rng.randrange(5, longest) for _ in range(level)]
    total = sum(years)
    # From level 2 on year 1 AD is passed; at level 1 it may be. All end by 2000.
    span = (1 - total, min(1, 2001 - total)) if level > 1 else (-900, 900)
    start = rng.randrange(*span)
    reigns = [f"the {a.ordinal(n)} for {a.years(x)}" for n, x in enumerate(years, 1)]
    facts = a.TEXTS["one dynasty" if level == 1 else "some dynasties"].format(
        *a.places(rng, 1), level, a.joined(reigns), a.years(total)
    )
    ends = [f"the {a.ordinal(n)} dynasty" if level > 1 else "it" for n in (1, level)]
    verb, target_verb, year, answer = "took", "lose", start, start + total
    if rng.random() < 0.5:
        verb, target_verb, year, answer = "lost", "take", answer, start
        ends.reverse()
    parts = {"subject": ends[0].capitalize(), "verb": verb, "year": a.era(year)}
    parts |= {"facts": facts, "target": ends[1], "target_verb": target_verb}
    return a.problem("dynasties", {"answer": a.era(answer)}, **parts)


def _appointment(rng: random.Random) -> str:
    return rng.choice(a.TEXTS["appointments"]).format(*a.places(rng, 1))


def _moves(amounts: list[tuple[int, str]]) -> str:
    """Return what moved an appointment."""
    parts = [
        f"{a.counted(abs(number), unit)} {'later' if number > 0 else 'earlier'}"
        for number, unit in amounts
    ]
    return ", then ".join(parts)


def moved_weekday(rng: random.Random, level: int) -> a.Problem:
    """The weekday of what was moved by days and weeks."""
    start, at, amounts = rng.randrange(7), 0, []
    for step in range(level):
        unit, days, _, longest = MOVES[step > 0 and rng.random() < 0.2]
        amounts.append((rng.choice((1, -1)) * rng.randrange(2, longest), unit))
        at += amounts[-1][0] * days
    parts = {"topic": _appointment(rng), "moves": _moves(amounts)}
    answer = {"answer": a.WEEKDAYS[(start + at) % 7]}
    return a.problem("moved_weekday", answer, weekday=a.WEEKDAYS[start], **parts)


def moved_date(rng: random.Random, level: int) -> a.Problem:
    """The date of what was moved by days, weeks, months and years, over months' ends."""
    units = MOVES[: min(level, len(MOVES))]
    day = start = a.date_of(rng, FIRST_YEAR, 2060)
    if level > 2 and rng.random() < 0.3:  # months lead to others without such a day
        day = start = start.replace(month=rng.choice((1, 3, 5, 7, 8, 10, 12)), day=31)
    amounts = []
    for step in range(level):
        unit, days, months, longest = units[-1 - step % len(units)]
        amount = rng.randrange(2, 2 + longest * min(level, 5) // 5)
        amount *= rng.choice((1, -1) if day.year > FIRST_YEAR else (1,))
        amounts.append((amount, unit))
        day = a.plus_months(day + timedelta(amount * days), amount * months)
    parts = {"topic": _appointment(rng), "date": a.in_words(start, rng.random() < 0.5)}
    parts |= {"moves": _moves(amounts), "rule": a.TEXTS["month rule"] * (level > 2)}
    return a.problem("moved_date", {"date": f"{day:%m/%d/%Y}"}, **parts)


def founded(rng: random.Random, level: int) -> a.Problem:
    """The year of an anniversary, over a chain of foundations."""
    places, year = a.places(rng, level), rng.randrange(1400, 1900)
    facts = [f"The guild of {places[0]} was founded in {year}"]
    for before, place in zip(places, places[1:]):
        last, year = year, rng.randrange(max(1300, year - 90), min(2000, year + 90))
        side = "after" if year > last else "before"
        text = f"{a.years(abs(year - last))} {side}"
        text = text if year != last else "in the same year as"
        facts.append(f"that of {place} {text} that of {before}")
    anniversary = rng.randrange(5, 150)
    parts = {"facts": ", ".join(facts), "rank": a.ordinal(anniversary)}
    answer = {"answer": str(year + anniversary)}
    return a.problem("founded", answer, place=places[-1], **parts)


# --------------------------------------------------------------------------- compare

WINDOWS = (5_000, 1_000, 300, 60)  # days between which moments lie, by level


class Moment(NamedTuple):
    """A moment in days and seconds, and how it is told."""

    day: date
    second: int
    text: str


def _moment(rng: random.Random, day: date, level: int, share: float = 0.5) -> Moment:
    """Return a moment of a day; above level 3, a share of them with a time."""
    text = a.mixed_date(rng, day) if level > 1 else a.in_words(day, False)
    if level < 4 or rng.random() >= share:
        return Moment(day, 0, f"on {text}")
    second = 60 * rng.randrange(1, a.DAY // 60)
    return Moment(day, second, f"on {text} at {a.clock(second)}")


def _moments(rng: random.Random, level: int, count: int) -> list[Moment]:
    """Return moments that lie the closer, and are told the more precisely, the higher."""
    window = max(2 * count, WINDOWS[min(level, len(WINDOWS)) - 1])
    first = a.date_of(rng, 1950, 2010)
    moments: list[Moment] = []
    for offset in rng.sample(range(window), count):
        day = first + timedelta(offset)
        if level > 2 and rng.random() < 0.15:
            month = f"in {a.MONTHS[day.month - 1]} {day.year}"
            moments.append(Moment(day.replace(day=1), 0, month))
        elif level > 3 and moments and rng.random() < 0.3:  # on the day of another
            moments.append(_moment(rng, moments[-1].day, level))
        else:
            moments.append(_moment(rng, day, level))
    return moments


def in_order(rng: random.Random, level: int) -> a.Problem | None:
    """People in the order of what they did."""
    count = level + 2
    names = a.names(rng, count)
    apart = {moment[:2]: moment for moment in _moments(rng, level, 2 * count)}
    moments = list(apart.values())[:count]
    if len(moments) < count:
        return None
    facts = "; ".join(f"{name} {moment.text}" for name, moment in zip(names, moments))
    is_first = rng.random() < 0.5
    way = "earliest to the latest" if is_first else "latest to the earliest"
    topic = rng.choice(("reports", "films", "designs"))
    order = sorted(zip(moments, names), reverse=not is_first)
    answer = {"ordered_list": [name for _, name in order]}
    return a.problem("in_order", answer, topic=topic, facts=facts, way=way)


def before_or_after(rng: random.Random, level: int) -> a.Problem | None:
    """The people who did something before, after or between moments, perhaps none."""
    count = level + 3
    names, moments = a.names(rng, count), _moments(rng, level, count)
    first, last = min(moments)[0], max(moments)[0]
    days = [first + timedelta(rng.randrange((last - first).days + 1)) for _ in "ab"]
    lower, upper = sorted(_moment(rng, day, level, share=1) for day in days)
    facts = "; ".join(f"{name} {moment.text}" for name, moment in zip(names, moments))
    after, before = (cut.text.removeprefix("on ") for cut in (lower, upper))
    side = rng.randrange(3 if level > 1 else 2)
    both = f"after {after} and strictly before {before}"
    sides = f"before {before}", f"after {after}", both
    chosen = [
        name
        for name, moment in zip(names, moments)
        if (side == 0 or lower[:2] < moment[:2])
        and (side == 1 or moment[:2] < upper[:2])
    ]
    answer = {"unordered_list": chosen}
    return a.problem("before_or_after", answer, facts=facts, side=sides[side])


def first_or_last(rng: random.Random, level: int) -> a.Problem | None:
    """Who arrived first or last in a day; some times are told by that of others."""
    clock, names = a.clock_of_a_style(rng), a.names(rng, level + 2)
    wording = "{} {}", lambda time: f"at {clock(time)}", a.duration, "before", "after"
    time = partial(rng.randrange, 60, a.DAY, 60)
    if not (draw := a.first_or_last(rng, level, names, time, wording)):
        return None
    rank, chosen, facts = draw
    parts = {"rank": rank, "edge": "earliest" if rank == "first" else "latest"}
    return a.problem("first_or_last", {"unordered_list": chosen}, facts=facts, **parts)


def oldest_city(rng: random.Random, level: int) -> a.Problem | None:
    """The city founded first or last, by years of both eras and by years from others."""
    in_year = lambda x: f"in {a.era(x)}"  # noqa: E731
    wording = "{} was founded {}", in_year, a.years, "before", "after"
    year, names = partial(rng.randrange, -700, 700), a.places(rng, level + 1)
    if not (draw := a.first_or_last(rng, level, names, year, wording)):
        return None
    rank, chosen, facts = draw
    answer = {"answer": chosen[0] if len(chosen) == 1 else "equal"}
    return a.problem("oldest_city", answer, facts=facts, rank=rank)


# -------------------------------------------------------------------------- duration


def open_days(rng: random.Random, level: int) -> a.Problem:
    """The days of spans, both ends of which count."""
    longest = a.most(level, 150, 30_000, 20)
    day, facts, total = a.date_of(rng, 1870, 1920), [], 0
    is_month_first = rng.random() < 0.5
    for _ in range(level):
        day += timedelta(rng.randrange(2, 60))
        days = rng.randrange(10, 10 + longest)
        last = day + timedelta(days - 1)
        ends = [a.in_words(end, is_month_first) for end in (day, last)]
        facts.append(f"from {ends[0]} to {ends[1]}")
        day, total = last, total + days
    parts = {"place": a.places(rng, 1)[0], "facts": "; ".join(facts)}
    return a.problem("open_days", {"answer": total}, **parts)


def full_months(rng: random.Random, level: int) -> a.Problem:
    """The ages of people in full months, added up."""
    today = a.date_of(rng, 1980, 2023)
    names, facts, total = a.names(rng, level), [], 0
    today = today.replace(day=min(today.day, 28))
    for name in names:
        months, days = rng.randrange(2, 60 + 60 * min(level, 10)), rng.randrange(28)
        back = a.plus_months(today, -months)
        # `days` before the same day of the month, but less than a month.
        born = back - timedelta(days)
        if born.day > 28:
            born = born.replace(day=28)
        facts.append(f"{name} was born on {a.in_words(born, False)}")
        total += months
    if len(names) == 1:
        query = f"How many full months old was {names[0]}"
    else:
        query = "Add up their ages, each in full months: how many months did that make"
    parts = {"facts": ". ".join(facts), "today": a.in_words(today, False)}
    return a.problem("full_months", {"answer": total}, query=query, **parts)


def shifts_worked(rng: random.Random, level: int) -> a.Problem:
    """The time of shifts together, some of which end on the next day."""
    facts, total, clock = [], 0, a.clock_of_a_style(rng)
    for name in a.names(rng, level):
        start, span = a.time(rng, level), 600 + a.time(rng, level) % 50_400
        ends = clock(start), clock((start + span) % a.DAY)
        facts.append(f"{name} was logged in from {ends[0]} to {ends[1]}")
        total += span
    query = "How long was that?" if level == 1 else "Add up these spans."
    answer = a.hours_minutes_seconds(total, "hours minutes seconds")
    return a.problem("shifts_worked", answer, facts=a.joined(facts), query=query)


def reigns(rng: random.Random, level: int) -> a.Problem:
    """The years of reigns, many of which began before year 1 and ended after it."""
    places, facts, total = a.places(rng, level), [], 0
    for place in places:
        years = rng.randrange(20, 120 + 60 * min(level, 10))
        is_across = level > 1 and rng.random() < 0.7
        start = rng.randrange(1 - years, 1) if is_across else rng.randrange(-900, 500)
        ends = " to ".join(map(a.era, (start, start + years)))
        facts.append(f"{place} was a republic from {ends}")
        total += years
    query = "Add up these spans, in years."
    if level == 1:
        query = "For how many years was it a republic?"
    return a.problem("reigns", {"answer": total}, facts="; ".join(facts), query=query)


ADD_SUBTRACT = (dynasties, moved_weekday, moved_date, founded)
COMPARE = (in_order, before_or_after, first_or_last, oldest_city)
DURATION = (open_days, full_months, shifts_worked, reigns)
