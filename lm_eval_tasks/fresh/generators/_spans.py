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
    longest_reign = 30 + a.most(level, 40, 3000, 1)
    reign_lengths = [rng.randrange(5, longest_reign) for _ in range(level)]
    total_years = sum(reign_lengths)
    # From level 2 on year 1 AD is passed; at level 1 it may be. All end by 2000.
    start_year_range = (
        (1 - total_years, min(1, 2001 - total_years)) if level > 1 else (-900, 900)
    )
    start_year = rng.randrange(*start_year_range)
    reign_texts = [
        f"the {a.ordinal(dynasty_number)} for {a.years(reign_length)}"
        for dynasty_number, reign_length in enumerate(reign_lengths, 1)
    ]
    facts_text = a.TEXTS["one dynasty" if level == 1 else "some dynasties"].format(
        *a.places(rng, 1), level, a.joined(reign_texts), a.years(total_years)
    )
    first_and_last_dynasty = [
        f"the {a.ordinal(dynasty_number)} dynasty" if level > 1 else "it"
        for dynasty_number in (1, level)
    ]
    stated_verb, asked_verb = "took", "lose"
    stated_year, answer_year = start_year, start_year + total_years
    if rng.random() < 0.5:
        stated_verb, asked_verb = "lost", "take"
        stated_year, answer_year = answer_year, stated_year
        first_and_last_dynasty.reverse()
    text_slots = {
        "subject": first_and_last_dynasty[0].capitalize(),
        "verb": stated_verb,
        "year": a.era(stated_year),
    }
    text_slots |= {
        "facts": facts_text,
        "target": first_and_last_dynasty[1],
        "target_verb": asked_verb,
    }
    return a.problem("dynasties", {"answer": a.era(answer_year)}, **text_slots)


def _appointment(rng: random.Random) -> str:
    return rng.choice(a.TEXTS["appointments"]).format(*a.places(rng, 1))


def _moves(amounts: list[tuple[int, str]]) -> str:
    """Return what moved an appointment."""
    move_texts = [
        f"{a.counted(abs(amount), unit)} {'later' if amount > 0 else 'earlier'}"
        for amount, unit in amounts
    ]
    return ", then ".join(move_texts)


def moved_weekday(rng: random.Random, level: int) -> a.Problem:
    """The weekday of what was moved by days and weeks."""
    start_weekday, days_moved, moves = rng.randrange(7), 0, []
    for step_number in range(level):
        unit, unit_days, _, most_amount = MOVES[step_number > 0 and rng.random() < 0.2]
        moves.append((rng.choice((1, -1)) * rng.randrange(2, most_amount), unit))
        days_moved += moves[-1][0] * unit_days
    text_slots = {"topic": _appointment(rng), "moves": _moves(moves)}
    answer = {"answer": a.WEEKDAYS[(start_weekday + days_moved) % 7]}
    return a.problem(
        "moved_weekday", answer, weekday=a.WEEKDAYS[start_weekday], **text_slots
    )


def moved_date(rng: random.Random, level: int) -> a.Problem:
    """The date of what was moved by days, weeks, months and years, over months' ends."""
    move_units = MOVES[: min(level, len(MOVES))]
    current_day = start_day = a.date_of(rng, FIRST_YEAR, 2060)
    if level > 2 and rng.random() < 0.3:  # months lead to others without such a day
        current_day = start_day = start_day.replace(
            month=rng.choice((1, 3, 5, 7, 8, 10, 12)), day=31
        )
    moves = []
    for step_number in range(level):
        unit, unit_days, unit_months, most_amount = move_units[
            -1 - step_number % len(move_units)
        ]
        amount = rng.randrange(2, 2 + most_amount * min(level, 5) // 5)
        amount *= rng.choice((1, -1) if current_day.year > FIRST_YEAR else (1,))
        moves.append((amount, unit))
        current_day = a.plus_months(
            current_day + timedelta(amount * unit_days), amount * unit_months
        )
    text_slots = {
        "topic": _appointment(rng),
        "date": a.in_words(start_day, rng.random() < 0.5),
    }
    text_slots |= {"moves": _moves(moves), "rule": a.TEXTS["month rule"] * (level > 2)}
    return a.problem("moved_date", {"date": f"{current_day:%m/%d/%Y}"}, **text_slots)


def founded(rng: random.Random, level: int) -> a.Problem:
    """The year of an anniversary, over a chain of foundations."""
    places, year = a.places(rng, level), rng.randrange(1400, 1900)
    facts = [f"The guild of {places[0]} was founded in {year}"]
    for previous_place, place in zip(places, places[1:]):
        previous_year = year
        year = rng.randrange(max(1300, year - 90), min(2000, year + 90))
        side_word = "after" if year > previous_year else "before"
        distance_text = f"{a.years(abs(year - previous_year))} {side_word}"
        distance_text = (
            distance_text if year != previous_year else "in the same year as"
        )
        facts.append(f"that of {place} {distance_text} that of {previous_place}")
    anniversary_number = rng.randrange(5, 150)
    text_slots = {"facts": ", ".join(facts), "rank": a.ordinal(anniversary_number)}
    answer = {"answer": str(year + anniversary_number)}
    return a.problem("founded", answer, place=places[-1], **text_slots)


# --------------------------------------------------------------------------- compare

WINDOWS = (5_000, 1_000, 300, 60)  # days between which moments lie, by level


class Moment(NamedTuple):
    """A moment in days and seconds, and how it is told."""

    day: date
    second: int
    text: str


def _moment(rng: random.Random, day: date, level: int, share: float = 0.5) -> Moment:
    """Return a moment of a day; above level 3, a share of them with a time."""
    date_text = a.mixed_date(rng, day) if level > 1 else a.in_words(day, False)
    if level < 4 or rng.random() >= share:
        return Moment(day, 0, f"on {date_text}")
    second = 60 * rng.randrange(1, a.DAY // 60)
    return Moment(day, second, f"on {date_text} at {a.clock(second)}")


def _moments(rng: random.Random, level: int, count: int) -> list[Moment]:
    """Return moments that lie the closer, and are told the more precisely, the higher."""
    window_days = max(2 * count, WINDOWS[min(level, len(WINDOWS)) - 1])
    window_start = a.date_of(rng, 1950, 2010)
    moments: list[Moment] = []
    for day_offset in rng.sample(range(window_days), count):
        day = window_start + timedelta(day_offset)
        if level > 2 and rng.random() < 0.15:
            month_text = f"in {a.MONTHS[day.month - 1]} {day.year}"
            moments.append(Moment(day.replace(day=1), 0, month_text))
        elif level > 3 and moments and rng.random() < 0.3:  # on the day of another
            moments.append(_moment(rng, moments[-1].day, level))
        else:
            moments.append(_moment(rng, day, level))
    return moments


def in_order(rng: random.Random, level: int) -> a.Problem | None:
    """People in the order of what they did."""
    people_count = level + 2
    names = a.names(rng, people_count)
    moments_by_time = {
        moment[:2]: moment for moment in _moments(rng, level, 2 * people_count)
    }
    moments = list(moments_by_time.values())[:people_count]
    if len(moments) < people_count:
        return None
    facts_text = "; ".join(
        f"{name} {moment.text}" for name, moment in zip(names, moments)
    )
    is_ascending = rng.random() < 0.5
    order_words = "earliest to the latest" if is_ascending else "latest to the earliest"
    topic_word = rng.choice(("reports", "films", "designs"))
    ordered_moments_and_names = sorted(zip(moments, names), reverse=not is_ascending)
    answer = {"ordered_list": [name for _, name in ordered_moments_and_names]}
    return a.problem(
        "in_order", answer, topic=topic_word, facts=facts_text, way=order_words
    )


def before_or_after(rng: random.Random, level: int) -> a.Problem | None:
    """The people who did something before, after or between moments, perhaps none."""
    people_count = level + 3
    names, moments = a.names(rng, people_count), _moments(rng, level, people_count)
    min_day, max_day = min(moments)[0], max(moments)[0]
    bound_days = [
        min_day + timedelta(rng.randrange((max_day - min_day).days + 1)) for _ in "ab"
    ]
    lower_bound, upper_bound = sorted(
        _moment(rng, bound_day, level, share=1) for bound_day in bound_days
    )
    facts_text = "; ".join(
        f"{name} {moment.text}" for name, moment in zip(names, moments)
    )
    lower_text, upper_text = (
        bound.text.removeprefix("on ") for bound in (lower_bound, upper_bound)
    )
    side_index = rng.randrange(3 if level > 1 else 2)
    both_bounds_text = f"after {lower_text} and strictly before {upper_text}"
    side_texts = f"before {upper_text}", f"after {lower_text}", both_bounds_text
    chosen_names = [
        name
        for name, moment in zip(names, moments)
        if (side_index == 0 or lower_bound[:2] < moment[:2])
        and (side_index == 1 or moment[:2] < upper_bound[:2])
    ]
    answer = {"unordered_list": chosen_names}
    return a.problem(
        "before_or_after", answer, facts=facts_text, side=side_texts[side_index]
    )


def first_or_last(rng: random.Random, level: int) -> a.Problem | None:
    """Who arrived first or last in a day; some times are told by that of others."""
    write_clock, names = a.clock_of_a_style(rng), a.names(rng, level + 2)
    wording = (
        "{} {}",
        lambda time: f"at {write_clock(time)}",
        a.duration,
        "before",
        "after",
    )
    draw_time = partial(rng.randrange, 60, a.DAY, 60)
    if not (rank_and_facts := a.first_or_last(rng, level, names, draw_time, wording)):
        return None
    rank_word, right_names, facts_text = rank_and_facts
    text_slots = {
        "rank": rank_word,
        "edge": "earliest" if rank_word == "first" else "latest",
    }
    return a.problem(
        "first_or_last", {"unordered_list": right_names}, facts=facts_text, **text_slots
    )


def oldest_city(rng: random.Random, level: int) -> a.Problem | None:
    """The city founded first or last, by years of both eras and by years from others."""
    write_year = lambda year: f"in {a.era(year)}"  # noqa: E731
    wording = "{} was founded {}", write_year, a.years, "before", "after"
    draw_year, cities = partial(rng.randrange, -700, 700), a.places(rng, level + 1)
    if not (rank_and_facts := a.first_or_last(rng, level, cities, draw_year, wording)):
        return None
    rank_word, right_cities, facts_text = rank_and_facts
    answer = {"answer": right_cities[0] if len(right_cities) == 1 else "equal"}
    return a.problem("oldest_city", answer, facts=facts_text, rank=rank_word)


# -------------------------------------------------------------------------- duration


def open_days(rng: random.Random, level: int) -> a.Problem:
    """The days of spans, both ends of which count."""
    most_days = a.most(level, 150, 30_000, 20)
    first_day, facts, total_days = a.date_of(rng, 1870, 1920), [], 0
    is_month_first = rng.random() < 0.5
    for _ in range(level):
        first_day += timedelta(rng.randrange(2, 60))
        day_count = rng.randrange(10, 10 + most_days)
        last_day = first_day + timedelta(day_count - 1)
        boundary_texts = [
            a.in_words(boundary_day, is_month_first)
            for boundary_day in (first_day, last_day)
        ]
        facts.append(f"from {boundary_texts[0]} to {boundary_texts[1]}")
        first_day, total_days = last_day, total_days + day_count
    text_slots = {"place": a.places(rng, 1)[0], "facts": "; ".join(facts)}
    return a.problem("open_days", {"answer": total_days}, **text_slots)


def full_months(rng: random.Random, level: int) -> a.Problem:
    """The ages of people in full months, added up."""
    today = a.date_of(rng, 1980, 2023)
    names, facts, total_months = a.names(rng, level), [], 0
    today = today.replace(day=min(today.day, 28))
    for name in names:
        age_months = rng.randrange(2, 60 + 60 * min(level, 10))
        extra_days = rng.randrange(28)
        latest_birthday = a.plus_months(today, -age_months)
        # `extra_days` before the same day of the month, but less than a month.
        birthday = latest_birthday - timedelta(extra_days)
        if birthday.day > 28:
            birthday = birthday.replace(day=28)
        facts.append(f"{name} was born on {a.in_words(birthday, False)}")
        total_months += age_months
    if len(names) == 1:
        query = f"How many full months old was {names[0]}"
    else:
        query = "Add up their ages, each in full months: how many months did that make"
    text_slots = {"facts": ". ".join(facts), "today": a.in_words(today, False)}
    return a.problem("full_months", {"answer": total_months}, query=query, **text_slots)


def shifts_worked(rng: random.Random, level: int) -> a.Problem:
    """The time of shifts together, some of which end on the next day."""
    facts, total_seconds, write_clock = [], 0, a.clock_of_a_style(rng)
    for name in a.names(rng, level):
        start_second = a.time(rng, level)
        shift_seconds = 600 + a.time(rng, level) % 50_400
        clock_pair = (
            write_clock(start_second),
            write_clock((start_second + shift_seconds) % a.DAY),
        )
        facts.append(f"{name} was logged in from {clock_pair[0]} to {clock_pair[1]}")
        total_seconds += shift_seconds
    query = "How long was that?" if level == 1 else "Add up these spans."
    answer = a.hours_minutes_seconds(total_seconds, "hours minutes seconds")
    return a.problem("shifts_worked", answer, facts=a.joined(facts), query=query)


def reigns(rng: random.Random, level: int) -> a.Problem:
    """The years of reigns, many of which began before year 1 and ended after it."""
    places, facts, total_years = a.places(rng, level), [], 0
    for place in places:
        reign_length = rng.randrange(20, 120 + 60 * min(level, 10))
        is_across_eras = level > 1 and rng.random() < 0.7
        start_year = (
            rng.randrange(1 - reign_length, 1)
            if is_across_eras
            else rng.randrange(-900, 500)
        )
        span_text = " to ".join(map(a.era, (start_year, start_year + reign_length)))
        facts.append(f"{place} was a republic from {span_text}")
        total_years += reign_length
    query = "Add up these spans, in years."
    if level == 1:
        query = "For how many years was it a republic?"
    return a.problem(
        "reigns", {"answer": total_years}, facts="; ".join(facts), query=query
    )


ADD_SUBTRACT = (dynasties, moved_weekday, moved_date, founded)
COMPARE = (in_order, before_or_after, first_or_last, oldest_city)
DURATION = (open_days, full_months, shifts_worked, reigns)
