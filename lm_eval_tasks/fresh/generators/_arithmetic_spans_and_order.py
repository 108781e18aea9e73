"""Questions on spans and their order: of the types add_subtract, compare and duration."""

from __future__ import annotations

import random
from datetime import date, timedelta
from functools import partial
from typing import NamedTuple

from . import _arithmetic as a, _wording as words


# Unit -> its days and months, and the most that something is moved by.
MOVES = ("day", 1, 0, 300), ("week", 7, 0, 50), ("month", 0, 1, 20), ("year", 0, 12, 3)
FIRST_YEAR = 2030  # of what is still to come


# ---------------------------------------------------------------------- add_subtract


def dynasties(rng: random.Random, level: int) -> a.Problem:
    """The year when dynasties gained or lost power, from the years of their reigns."""
    longest_reign = 29 + a.most(level, 40, 3000, 1)  # years
    reign_lengths = [rng.randint(5, longest_reign) for _ in range(level)]
    total_years = sum(reign_lengths)
    # From level 2 on year 1 AD is passed; at level 1 it may be. All end by 2000.
    start_year_bounds = (
        (1 - total_years, min(1, 2001 - total_years)) if level > 1 else (-900, 900)
    )
    start_year = rng.randrange(*start_year_bounds)
    reign_texts = [
        f"the {words.ordinal(dynasty_number)} for {words.years(reign_length)}"
        for dynasty_number, reign_length in enumerate(reign_lengths, 1)
    ]
    facts_text = a.TEXTS["one dynasty" if level == 1 else "some dynasties"].format(
        *a.places(rng, 1), level, words.joined(reign_texts), words.years(total_years)
    )
    stated_subject, asked_subject = (
        f"the {words.ordinal(dynasty_number)} dynasty" if level > 1 else "it"
        for dynasty_number in (1, level)
    )
    stated_verb, asked_verb = "took", "lose"
    stated_year, answer_year = start_year, start_year + total_years
    if rng.random() < 0.5:
        stated_subject, asked_subject = asked_subject, stated_subject
        stated_verb, asked_verb = "lost", "take"
        stated_year, answer_year = answer_year, stated_year
    return a.problem(
        "dynasties",
        {"answer": words.era(answer_year)},
        facts=facts_text,
        subject=stated_subject.capitalize(),
        verb=stated_verb,
        year=words.era(stated_year),
        target=asked_subject,
        target_verb=asked_verb,
    )


def _appointment(rng: random.Random) -> str:
    return rng.choice(a.TEXTS["appointments"]).format(*a.places(rng, 1))


def _moves(amounts: list[tuple[int, str]]) -> str:
    """Return in words by how much of a unit an appointment was moved, time after time."""
    return ", then ".join(
        f"{words.counted(abs(amount), unit)} {'later' if amount > 0 else 'earlier'}"
        for amount, unit in amounts
    )


def moved_weekday(rng: random.Random, level: int) -> a.Problem:
    """The weekday of an appointment that was moved by days and weeks, several times."""
    moves: list[tuple[int, str]] = []
    start_weekday, days_moved = rng.randrange(7), 0
    for _ in range(level):
        unit, days_per_unit, _, most_amount = MOVES[bool(moves) and rng.random() < 0.2]
        moves.append((rng.choice((1, -1)) * rng.randrange(2, most_amount), unit))
        days_moved += moves[-1][0] * days_per_unit
    return a.problem(
        "moved_weekday",
        {"answer": words.WEEKDAYS[(start_weekday + days_moved) % 7]},
        topic=_appointment(rng),
        weekday=words.WEEKDAYS[start_weekday],
        moves=_moves(moves),
    )


def moved_date(rng: random.Random, level: int) -> a.Problem:
    """The date of an appointment that was moved by days, weeks, months and years."""
    move_units = MOVES[: min(level, len(MOVES))]
    moved_day = start_day = a.date_of(rng, FIRST_YEAR, 2060)
    if level > 2 and rng.random() < 0.3:  # months lead to others without such a day
        moved_day = start_day = start_day.replace(
            month=rng.choice((1, 3, 5, 7, 8, 10, 12)), day=31
        )
    moves = []
    for move_number in range(level):
        unit, days_per_unit, months_per_unit, most_amount = move_units[
            -1 - move_number % len(move_units)
        ]
        amount = rng.randrange(2, 2 + most_amount * min(level, 5) // 5)
        amount *= rng.choice((1, -1) if moved_day.year > FIRST_YEAR else (1,))
        moves.append((amount, unit))
        moved_day = words.plus_months(
            moved_day + timedelta(amount * days_per_unit), amount * months_per_unit
        )
    return a.problem(
        "moved_date",
        {"date": f"{moved_day:%m/%d/%Y}"},
        topic=_appointment(rng),
        date=words.in_words(start_day, rng.random() < 0.5),
        moves=_moves(moves),
        rule=a.TEXTS["month rule"] * (level > 2),
    )


def founded(rng: random.Random, level: int) -> a.Problem:
    """The year of an anniversary, over a chain of guilds' foundations in places."""
    places, founding_year = a.places(rng, level), rng.randrange(1400, 1900)
    facts = [f"The guild of {places[0]} was founded in {founding_year}"]
    for previous_place, place in zip(places, places[1:]):
        previous_year = founding_year
        founding_year = rng.randrange(
            max(1300, previous_year - 90), min(2000, previous_year + 90)
        )
        distance_text = "in the same year as"
        if founding_year != previous_year:
            side_word = "after" if founding_year > previous_year else "before"
            distance_text = (
                f"{words.years(abs(founding_year - previous_year))} {side_word}"
            )
        facts.append(f"that of {place} {distance_text} that of {previous_place}")
    anniversary_number = rng.randrange(5, 150)
    return a.problem(
        "founded",
        {"answer": str(founding_year + anniversary_number)},
        facts=", ".join(facts),
        rank=words.ordinal(anniversary_number),
        place=places[-1],
    )


# --------------------------------------------------------------------------- compare

WINDOWS = (5_000, 1_000, 300, 60)  # days between which moments lie, by level


class Moment(NamedTuple):
    """A moment in days and seconds, and how it is told."""

    day: date
    second: int
    text: str


def _moment(rng: random.Random, day: date, level: int, share: float = 0.5) -> Moment:
    """Return a moment of a day; above level 3, a share of them with a time."""
    date_text = words.mixed_date(rng, day) if level > 1 else words.in_words(day, False)
    if level < 4 or rng.random() >= share:
        return Moment(day, 0, f"on {date_text}")
    second_of_day = 60 * rng.randrange(1, words.DAY // 60)
    return Moment(day, second_of_day, f"on {date_text} at {words.clock(second_of_day)}")


def _moments(rng: random.Random, level: int, count: int) -> list[Moment]:
    """Return random moments: the higher the level, the closer and the more precise."""
    window_days = max(2 * count, WINDOWS[min(level, len(WINDOWS)) - 1])
    window_start = a.date_of(rng, 1950, 2010)
    moments: list[Moment] = []
    for day_offset in rng.sample(range(window_days), count):
        day = window_start + timedelta(day_offset)
        if level > 2 and rng.random() < 0.15:
            month_text = f"in {words.MONTHS[day.month - 1]} {day.year}"
            moments.append(Moment(day.replace(day=1), 0, month_text))
        elif level > 3 and moments and rng.random() < 0.3:  # on the day of another
            moments.append(_moment(rng, moments[-1].day, level))
        else:
            moments.append(_moment(rng, day, level))
    return moments


def in_order(rng: random.Random, level: int) -> a.Problem | None:
    """People in the order of the moments at which they did something."""
    people_count = level + 2
    names = a.names(rng, people_count)
    moment_by_day_and_second = {
        moment[:2]: moment for moment in _moments(rng, level, 2 * people_count)
    }
    moments = list(moment_by_day_and_second.values())[:people_count]
    if len(moments) < people_count:
        return None
    facts_text = "; ".join(
        f"{name} {moment.text}" for name, moment in zip(names, moments)
    )
    is_ascending = rng.random() < 0.5
    order_text = "earliest to the latest" if is_ascending else "latest to the earliest"
    sorted_moments_and_names = sorted(zip(moments, names), reverse=not is_ascending)
    return a.problem(
        "in_order",
        {"ordered_list": [name for _, name in sorted_moments_and_names]},
        topic=rng.choice(("reports", "films", "designs")),
        facts=facts_text,
        way=order_text,
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
    side_texts = [f"before {upper_text}", f"after {lower_text}"]
    side_texts.append(f"after {lower_text} and strictly before {upper_text}")
    side_number = rng.randrange(3 if level > 1 else 2)  # from 0 on
    chosen_names = [
        name
        for name, moment in zip(names, moments)
        if (side_number == 0 or lower_bound[:2] < moment[:2])
        and (side_number == 1 or moment[:2] < upper_bound[:2])
    ]
    return a.problem(
        "before_or_after",
        {"unordered_list": chosen_names},
        facts=facts_text,
        side=side_texts[side_number],
    )


def first_or_last(rng: random.Random, level: int) -> a.Problem | None:
    """Who arrived first or last in a day; some times are told by that of others."""
    write_clock, names = words.clock_of_a_style(rng), a.names(rng, level + 2)
    draw_second = partial(rng.randrange, 60, words.DAY, 60)
    fact_wording = (
        "{} {}",
        lambda second: f"at {write_clock(second)}",
        words.duration,
        "before",
        "after",
    )
    rank_names_and_facts = a.first_or_last(rng, level, names, draw_second, fact_wording)
    if not rank_names_and_facts:
        return None
    rank_word, right_names, facts_text = rank_names_and_facts
    return a.problem(
        "first_or_last",
        {"unordered_list": right_names},
        facts=facts_text,
        rank=rank_word,
        edge="earliest" if rank_word == "first" else "latest",
    )


def oldest_city(rng: random.Random, level: int) -> a.Problem | None:
    """The city founded first or last, by years of both eras and by years from others."""
    draw_year, cities = partial(rng.randrange, -700, 700), a.places(rng, level + 1)
    fact_wording = (
        "{} was founded {}",
        lambda year: f"in {words.era(year)}",
        words.years,
        "before",
        "after",
    )
    rank_cities_and_facts = a.first_or_last(rng, level, cities, draw_year, fact_wording)
    if not rank_cities_and_facts:
        return None
    rank_word, right_cities, facts_text = rank_cities_and_facts
    answer_value = right_cities[0] if len(right_cities) == 1 else "equal"
    return a.problem(
        "oldest_city", {"answer": answer_value}, facts=facts_text, rank=rank_word
    )


# -------------------------------------------------------------------------- duration


def open_days(rng: random.Random, level: int) -> a.Problem:
    """The days of spans together, both ends of which count."""
    most_span_days = 9 + a.most(level, 150, 30_000, 20)
    first_day, span_texts, total_days = a.date_of(rng, 1870, 1920), [], 0
    is_month_first = rng.random() < 0.5
    for _ in range(level):
        first_day += timedelta(rng.randrange(2, 60))
        span_days = rng.randint(10, most_span_days)
        last_day = first_day + timedelta(span_days - 1)
        span_texts.append(
            f"from {words.in_words(first_day, is_month_first)}"
            f" to {words.in_words(last_day, is_month_first)}"
        )
        first_day, total_days = last_day, total_days + span_days
    return a.problem(
        "open_days",
        {"answer": total_days},
        place=a.places(rng, 1)[0],
        facts="; ".join(span_texts),
    )


def full_months(rng: random.Random, level: int) -> a.Problem:
    """The ages of people in full months, added up."""
    today = a.date_of(rng, 1980, 2023)
    names, birth_facts, total_months = a.names(rng, level), [], 0
    today = today.replace(day=min(today.day, 28))
    for name in names:
        age_months = rng.randrange(2, 60 + 60 * min(level, 10))
        extra_days = rng.randrange(28)
        # `extra_days` before the same day of the month, but less than a month.
        birth_date = words.plus_months(today, -age_months) - timedelta(extra_days)
        if birth_date.day > 28:
            birth_date = birth_date.replace(day=28)
        birth_facts.append(f"{name} was born on {words.in_words(birth_date, False)}")
        total_months += age_months
    query = "Add up their ages, each in full months: how many months did that make"
    if len(names) == 1:
        query = f"How many full months old was {names[0]}"
    return a.problem(
        "full_months",
        {"answer": total_months},
        facts=". ".join(birth_facts),
        today=words.in_words(today, False),
        query=query,
    )


def shifts_worked(rng: random.Random, level: int) -> a.Problem:
    """The time of shifts together, some of which end on the next day."""
    shift_facts, total_seconds, write_clock = [], 0, words.clock_of_a_style(rng)
    for name in a.names(rng, level):
        start_second = a.time(rng, level)
        shift_seconds = 600 + a.time(rng, level) % 50_400
        end_second = (start_second + shift_seconds) % words.DAY
        shift_facts.append(
            f"{name} was logged in from {write_clock(start_second)}"
            f" to {write_clock(end_second)}"
        )
        total_seconds += shift_seconds
    query = "How long was that?" if level == 1 else "Add up these spans."
    answer = words.hours_minutes_seconds(total_seconds, "hours minutes seconds")
    return a.problem(
        "shifts_worked", answer, facts=words.joined(shift_facts), query=query
    )


def reigns(rng: random.Random, level: int) -> a.Problem:
    """The years together for which places were republics, many of them over year 1."""
    span_facts, total_years = [], 0
    for place in a.places(rng, level):
        span_years = rng.randrange(20, 120 + 60 * min(level, 10))
        is_across_eras = level > 1 and rng.random() < 0.7
        start_year = (
            rng.randrange(1 - span_years, 1)
            if is_across_eras
            else rng.randrange(-900, 500)
        )
        span_text = f"{words.era(start_year)} to {words.era(start_year + span_years)}"
        span_facts.append(f"{place} was a republic from {span_text}")
        total_years += span_years
    query = "Add up these spans, in years."
    if level == 1:
        query = "For how many years was it a republic?"
    return a.problem(
        "reigns", {"answer": total_years}, facts="; ".join(span_facts), query=query
    )


ADD_SUBTRACT = (dynasties, moved_weekday, moved_date, founded)
COMPARE = (in_order, before_or_after, first_or_last, oldest_city)
DURATION = (open_days, full_months, shifts_worked, reigns)
