"""Questions about dates, clocks and calendars, in the schema of ToT arithmetic.

Each of the seven types has a few kinds of question. A kind is a function that draws the
facts, computes the answer from them and says both. The level is the number of steps (or
of spans, people, zones …); with it come longer spans, ends of months, the line between
BC and AD, half hours of zones and precise times. What decides an answer is said in the
question: which calendar, whether ends count, what a full month is.
"""

from __future__ import annotations

import json
import random
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from math import lcm
from typing import NamedTuple


VERSION = "2"
HIGHEST = 100

MONTHS = (
    "January February March April May June July August September October November"
    " December"
).split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
FIRST_NAMES = (
    "Ada Bram Carla Deniz Edda Farid Greta Hugo Ilse Jonas Kaya Leon Mira Nils Olga Pavel"
    " Quinn Rosa Sven Tilda Uwe Vera Wanda Xaver Yara Zeno Anouk Bela Cosima Dario Elif"
    " Fiona Gustav Heidi Imran Jana Kofi Lotte Marek Noor"
).split()
LAST_NAMES = (
    "Adler Bauer Costa Duarte Ekberg Falk Grau Holm Iversen Jansen Kraus Lund Moor Novak"
    " Ortiz Perez Quist Renner Sato Tanaka Ude Vogel Weiss Yilmaz Zeller"
).split()
SYLLABLES = "ba do ke la mi no pu ra sel tor ush vin wal yor zem".split()
APPOINTMENTS = (
    "concert",
    "wedding",
    "inspection",
    "board meeting",
    "regatta",
    "book launch",
    "hearing",
    "school play",
    "harvest fair",
    "opening night",
)
JOBS = (
    ("page", "scan"),
    ("letter", "fold"),
    ("window", "clean"),
    ("crate", "load"),
    ("chair", "paint"),
    ("loaf", "bake"),
    ("shelf", "dust"),
    ("bicycle", "repair"),
    ("ticket", "check"),
    ("vase", "wrap"),
)
PLURALS = {"loaf": "loaves", "shelf": "shelves"}
ROUTINES = (
    "the boiler is serviced",
    "the filters are changed",
    "the stock is counted",
    "the lift is inspected",
    "the beds are watered",
    "the log is archived",
    "the pump is tested",
    "the signs are washed",
)
# Divisors of 2,520, so that any of them fall together within seven years.
PERIODS = (5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 35, 36, 40, 42)
NUMERIC_FORMS = (
    ("yyyy-mm-dd", "%Y-%m-%d"),
    ("mm/dd/yyyy", "%m/%d/%Y"),
    ("dd-mm-yyyy", "%d-%m-%Y"),
)
MOVES = (("day", 1, 0, 60), ("week", 7, 0, 10), ("month", 0, 1, 8), ("year", 0, 12, 3))
MACHINES = ("washing machine", "printer", "pump", "kiln", "loom", "harvester", "backup")
GREGORIAN = "Use the Gregorian calendar."
MOST_DAYS = 20_000  # over which what returns is followed
NO_YEAR_ZERO = "There is no year zero: 1 BC is followed by 1 AD."
NUMBERS = "Give numbers as JSON numbers, without quotes and units."
DAY_SAID = (
    'Here "day" is "same_day", or "+x" or "-x" for x calendar days after or before the day'
    " of the time given first."
)
LOCAL_DAY_SAID = f"{DAY_SAID} Days and times are local, on the 24-hour clock."
HALVES = "Times without AM or PM are on the 24-hour clock."
MOST_NAMES = 500  # and so the most people, cities or places of one question
DAY = 24 * 60 * 60


class Problem(NamedTuple):
    """A question without its format, the fields asked for, and the answer."""

    text: str
    fields: str
    answer: dict


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level."""
    return {"steps": level}


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of the type whose turn it is, or None where the draw is not sound."""
    question_type = list(KINDS)[index % len(KINDS)]
    kinds = KINDS[question_type]
    problem = kinds[(index // len(KINDS) + level) % len(kinds)](rng, level)
    if problem is None:
        return None
    return {
        "question": (
            f"{problem.text} Answer with a JSON object of this form: JSON ="
            f' {{"explanation": "<your step by step solution>", {problem.fields}}}'
        ),
        "question_type": question_type,
        "label": json.dumps(problem.answer),
    }


# ----------------------------------------------------------------- draws and wordings


def _names(rng: random.Random, count: int) -> list[str]:
    """Return names of people; with surnames where there are too many for first names."""
    if count <= len(FIRST_NAMES):
        return rng.sample(FIRST_NAMES, count)
    full = [f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES]
    return rng.sample(full, count)


def _places(rng: random.Random, count: int) -> list[str]:
    """Return made names of cities."""
    made = [
        (a + b + c).capitalize()
        for a in SYLLABLES
        for b in SYLLABLES
        for c in SYLLABLES
    ]
    return rng.sample(made, count)


def _joined(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " * (len(items) > 1) + items[-1]


def _counted(number: int, noun: str) -> str:
    plural = PLURALS.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural}"


def _ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else suffix}"


def _duration(seconds: int) -> str:
    """Return "3 hours, 5 minutes and 7 seconds", without what is zero."""
    sizes = (("hour", 3600, 10**9), ("minute", 60, 60), ("second", 1, 60))
    parts = [(seconds // size % most, unit) for unit, size, most in sizes]
    return _joined([_counted(number, unit) for number, unit in parts if number])


def _clock(seconds: int) -> str:
    """Return a time on the 24-hour clock, with seconds where there are any."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours:02}:{minutes:02}" + f":{rest:02}" * bool(rest)


def _either_clock(rng: random.Random, seconds: int) -> str:
    """Return a time on the 24-hour clock or, but for noon and midnight, with AM or PM."""
    if seconds % (12 * 3600) == 0 or rng.random() < 0.5:
        return _clock(seconds)
    half = "AM" if seconds < 12 * 3600 else "PM"
    hour = seconds // 3600 % 12 or 12
    return f"{hour}{_clock(seconds % 3600)[2:]} {half}"


def _time(rng: random.Random, level: int) -> int:
    """Return seconds since midnight: of a full minute first, later of any second."""
    return rng.randrange(DAY) if level > 2 else 60 * rng.randrange(DAY // 60)


def _hours_minutes_seconds(seconds: int, keys: str) -> dict[str, int]:
    values = (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return dict(zip(keys.split(), values, strict=True))


def _day_and_time(days: int, clock: str) -> dict[str, str]:
    return {"day": f"{days:+d}" if days else "same_day", "time": clock}


def _date_of(rng: random.Random, first_year: int, last_year: int) -> date:
    first = date(first_year, 1, 1)
    return first + timedelta(rng.randrange((date(last_year + 1, 1, 1) - first).days))


def _in_words(day: date, is_month_first: bool) -> str:
    month = MONTHS[day.month - 1]
    if is_month_first:
        return f"{month} {day.day}, {day.year}"
    return f"{day.day} {month} {day.year}"


def _mixed_date(rng: random.Random, day: date) -> str:
    """Return a date in one of three forms that cannot be mistaken for each other."""
    form = rng.randrange(3)
    return day.isoformat() if form == 2 else _in_words(day, form == 1)


def _plus_months(day: date, months: int) -> date:
    """Return a date some months on, or the last day of that month where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _era(year: int) -> str:
    """Return a year that counts 1 BC as 0."""
    return f"{year} AD" if year > 0 else f"{1 - year} BC"


def _most(level: int, step: int, total: int, least: int) -> int:
    """Return the size of one of `level` spans: it grows until all together are `total`."""
    return max(least, min(step * level, total // level))


# ---------------------------------------------------------------------- add_subtract


def dynasties(rng: random.Random, level: int) -> Problem:
    """A year that follows from the lengths of reigns, over the line between the eras."""
    most = 30 + _most(level, 40, 3000, 1)
    years = [rng.randrange(5, most) for _ in range(level)]
    total = sum(years)
    # From level 2 on year 1 AD is passed; at level 1 it may be.
    start = rng.randrange(1 - total, 1) if level > 1 else rng.randrange(-900, 900)
    ranks = [_ordinal(number) for number in range(1, level + 1)]
    reigns = [f"the {rank} for {_counted(n, 'year')}" for rank, n in zip(ranks, years)]
    (place,) = _places(rng, 1)
    if level == 1:
        text = (
            f"A single dynasty, the 1st, ruled {place} for {_counted(total, 'year')}."
        )
    else:
        text = (
            f"{level} dynasties ruled {place} one after the other: {_joined(reigns)}. Each"
            " took power in the year in which the one before it lost power."
        )
    if rng.random() < 0.5:
        known, asked = f"took power in {_era(start)}", "lose power"
        knows, asks, answer = ranks[0], ranks[-1], start + total
    else:
        known, asked = f"lost power in {_era(start + total)}", "take power"
        knows, asks, answer = ranks[-1], ranks[0], start
    text += (
        f" The {knows} dynasty {known}. In which year did the {asks} dynasty {asked}?"
        f' {NO_YEAR_ZERO} Give the year with its era, such as "44 BC" or "44 AD".'
    )
    return Problem(text, '"answer": "<year> <era>"', {"answer": _era(answer)})


def _moves(amounts: list[tuple[int, str]]) -> str:
    """Return what moved an appointment."""
    parts = [
        f"{_counted(abs(number), unit)} {'later' if number > 0 else 'earlier'}"
        for number, unit in amounts
    ]
    return f"It was moved {', then '.join(parts)}."


def moved_weekday(rng: random.Random, level: int) -> Problem:
    """The weekday of what was moved by days and weeks."""
    amounts = [
        (rng.choice((1, -1)) * rng.randrange(2, 60 + 60 * min(level, 50)), "day")
        if step == 0 or rng.random() < 0.8
        else (rng.choice((1, -1)) * rng.randrange(2, 20), "week")
        for step in range(level)
    ]
    start, (name,) = rng.randrange(7), _names(rng, 1)
    moved = sum(n * (7 if unit == "week" else 1) for n, unit in amounts)
    text = (
        f"The {rng.choice(APPOINTMENTS)} of {name} was set for a {WEEKDAYS[start]}."
        f" {_moves(amounts)} On which day of the week does it take place now?"
    )
    answer = {"answer": WEEKDAYS[(start + moved) % 7]}
    return Problem(text, '"answer": "<day of the week>"', answer)


def moved_date(rng: random.Random, level: int) -> Problem:
    """The date of what was moved by days, weeks, months and years, over months' ends."""
    units = MOVES[: min(level, len(MOVES))]
    day = start = _date_of(rng, 1950, 2060)
    if level > 2:  # moves by months lead to months without such a day
        day = start = start.replace(month=rng.choice((1, 3, 5, 7, 8, 10, 12)), day=31)
    amounts = []
    for step in range(level):
        unit, days, months, most = units[-1 - step % len(units)]
        signs = (day.year < 2200,) if abs(day.year - 2000) > 200 else (True, False)
        amount = rng.randrange(2, most * min(level, 10))
        amount = amount if rng.choice(signs) else -amount
        amounts.append((amount, unit))
        day = _plus_months(day + timedelta(amount * days), amount * months)
    text = (
        f"The {rng.choice(APPOINTMENTS)} of {_names(rng, 1)[0]} was set for"
        f" {_in_words(start, rng.random() < 0.5)}. {_moves(amounts)} On which date does it"
        f" take place now? {GREGORIAN}"
    )
    if level > 2:
        text += (
            " A move by months or years keeps the day of the month; where the month that"
            " it leads to is too short for that, it leads to the last day of that month."
        )
    return Problem(text, '"date": "mm/dd/yyyy"', {"date": f"{day:%m/%d/%Y}"})


def founded(rng: random.Random, level: int) -> Problem:
    """The year of an anniversary, over a chain of foundations."""
    places, year = _places(rng, min(level, MOST_NAMES)), rng.randrange(1400, 1900)
    told = [f"The guild of {places[0]} was founded in {year}"]
    for before, place in zip(places, places[1:]):
        last, year = year, rng.randrange(max(1300, year - 90), min(2000, year + 90))
        side = "after" if year > last else "before"
        said = f"{_counted(abs(year - last), 'year')} {side}"
        if year == last:
            said = "in the same year as"
        told.append(f"that of {place} {said} that of {before}")
    anniversary = rng.randrange(5, 150)
    text = (
        f"{', '.join(told)}. In which year is the {_ordinal(anniversary)} anniversary of"
        f" the guild of {places[-1]}?"
    )
    return Problem(text, '"answer": "yyyy"', {"answer": str(year + anniversary)})


# --------------------------------------------------------------------------- compare

PRECISION = (
    "A month without a day stands for its first day and a date without a time for 00:00 of"
    " that day; numeric dates are yyyy-mm-dd and times are on the 24-hour clock."
)
WINDOWS = (40_000, 4_000, 400, 60)  # days between which moments lie, by level


class Moment(NamedTuple):
    """A moment in days and seconds, and how it is told."""

    day: date
    second: int
    said: str


def _moment(rng: random.Random, day: date, level: int, share: float = 0.5) -> Moment:
    """Return a moment of a day; above level 3, a share of them with a time."""
    said = _mixed_date(rng, day) if level > 1 else _in_words(day, False)
    if level < 4 or rng.random() >= share:
        return Moment(day, 0, f"on {said}")
    second = 60 * rng.randrange(1, DAY // 60)
    return Moment(day, second, f"on {said} at {_clock(second)}")


def _moments(rng: random.Random, level: int, count: int) -> list[Moment]:
    """Return moments that lie the closer, and are told the more precisely, the higher."""
    window = max(2 * count, WINDOWS[min(level, len(WINDOWS)) - 1])
    first = _date_of(rng, 1780, 1980)
    made: list[Moment] = []
    for offset in rng.sample(range(window), count):
        day = first + timedelta(offset)
        if level > 2 and rng.random() < 0.15:
            month = f"in {MONTHS[day.month - 1]} {day.year}"
            made.append(Moment(day.replace(day=1), 0, month))
        elif level > 3 and made and rng.random() < 0.3:  # on the day of another
            made.append(_moment(rng, made[-1].day, level))
        else:
            made.append(_moment(rng, day, level))
    return made


def in_order(rng: random.Random, level: int) -> Problem | None:
    """People in the order of what they did."""
    count = min(level + 2, MOST_NAMES)
    names = _names(rng, count)
    apart = {moment[:2]: moment for moment in _moments(rng, level, 2 * count)}
    moments = list(apart.values())[:count]
    if len(moments) < count:
        return None
    told = "; ".join(f"{name} {moment.said}" for name, moment in zip(names, moments))
    is_first = rng.random() < 0.5
    way = "earliest to the latest" if is_first else "latest to the earliest"
    text = (
        f"These people sent in their {rng.choice(('reports', 'films', 'designs'))} at the"
        f" following times: {told}. Put them in order, from the {way}. {PRECISION}"
    )
    order = sorted(zip(moments, names), reverse=not is_first)
    answer = {"ordered_list": [name for _, name in order]}
    return Problem(text, '"ordered_list": ["name1", "name2"]', answer)


def before_or_after(rng: random.Random, level: int) -> Problem | None:
    """The people who did something before, after or between moments, perhaps none."""
    count = min(level + 3, MOST_NAMES)
    names, moments = _names(rng, count), _moments(rng, level, count)
    first, last = min(moments)[0], max(moments)[0]
    days = [first + timedelta(rng.randrange((last - first).days + 1)) for _ in "ab"]
    lower, upper = sorted(_moment(rng, day, level, share=1) for day in days)
    told = "; ".join(f"{name} {moment.said}" for name, moment in zip(names, moments))
    after, before = (cut.said.removeprefix("on ") for cut in (lower, upper))
    side = rng.randrange(3 if level > 1 else 2)
    said = (
        f"before {before}",
        f"after {after}",
        f"after {after} and strictly before {before}",
    )
    chosen = [
        name
        for name, moment in zip(names, moments)
        if (side == 0 or lower[:2] < moment[:2])
        and (side == 1 or moment[:2] < upper[:2])
    ]
    text = (
        f"These people handed in their keys at the following times: {told}. Which of them"
        f" did so strictly {said[side]}? {PRECISION} Where nobody did, the list is empty."
    )
    answer = {"unordered_list": chosen}
    return Problem(text, '"unordered_list": ["name1", "name2"]', answer)


def first_or_last(rng: random.Random, level: int) -> Problem:
    """Who arrived first or last in a day; some times are told by that of others."""
    count = min(level + 2, MOST_NAMES)
    names, minutes, told = _names(rng, count), [], []
    for name in names:
        minute, other = (
            rng.randrange(1, 24 * 60),
            rng.choice(names[: len(minutes)] or [""]),
        )
        if other and rng.random() < 0.2:  # as late as the one before
            minute = minutes[-1]
        said = f"at {_either_clock(rng, 60 * minute)}"
        if other and level > 1 and rng.random() < 0.6:
            known = minutes[names.index(other)]
            minute = rng.randrange(max(1, known - 150), min(24 * 60, known + 150))
            said = f"at the same time as {other}"
            if shift := 60 * (minute - known):
                side = "after" if shift > 0 else "before"
                said = f"{_duration(abs(shift))} {side} {other}"
        minutes.append(minute)
        told.append(f"{name} {said}")
    rank, wanted = rng.choice((("first", min(minutes)), ("last", max(minutes))))
    text = (
        f"On one day guests arrived at an inn: {'; '.join(told)}. Who arrived {rank}?"
        f" {HALVES} Name everybody who arrived at"
        f" the {'earliest' if rank == 'first' else 'latest'} time."
    )
    chosen = [name for name, minute in zip(names, minutes) if minute == wanted]
    answer = {"unordered_list": chosen}
    return Problem(text, '"unordered_list": ["name1", "name2"]', answer)


def oldest_city(rng: random.Random, level: int) -> Problem | None:
    """The city founded first or last, by years of both eras and by years from others."""
    count = min(level + 1, MOST_NAMES)
    names = _places(rng, count)
    years, told = [], []
    for place, name in enumerate(names):
        if place and rng.random() < 0.2:
            years.append(years[-1])
        else:
            years.append(rng.randrange(-700, 700))
        said = f"in {_era(years[-1])}"
        if place and level > 1 and rng.random() < 0.5:
            other = rng.randrange(place)
            if shift := years[-1] - years[other]:
                side = "after" if shift > 0 else "before"
                said = f"{_counted(abs(shift), 'year')} {side} {names[other]}"
        told.append(f"{name} was founded {said}")
    rank, wanted = rng.choice((("first", min(years)), ("last", max(years))))
    text = (
        f"{'. '.join(told)}. Which of these cities was founded {rank}? {NO_YEAR_ZERO} Only"
        f" years count; where two or more cities share the {rank} year, the answer is"
        ' "equal".'
    )
    chosen = [name for name, year in zip(names, years) if year == wanted]
    answer = {"answer": chosen[0] if len(chosen) == 1 else "equal"}
    return Problem(text, '"answer": "<city>"', answer)


# -------------------------------------------------------------------------- duration


def open_days(rng: random.Random, level: int) -> Problem:
    """The days of spans, both ends of which count."""
    most = _most(level, 150, 100_000, 20)
    day, told, total = _date_of(rng, 1590, 1920), [], 0
    is_month_first = rng.random() < 0.5
    for _ in range(level):
        day, days = day + timedelta(rng.randrange(2, 60)), rng.randrange(10, 10 + most)
        last = day + timedelta(days - 1)
        ends = [_in_words(end, is_month_first) for end in (day, last)]
        told.append(f"from {ends[0]} to {ends[1]}")
        day, total = last, total + days
    text = (
        f"The museum of {_places(rng, 1)[0]} was open {'; '.join(told)}. On how many"
        " days was it open in all? It was open on the first and the last day of each span"
        f" and on every day between them. {GREGORIAN} {NUMBERS}"
    )
    return Problem(text, '"answer": <num_days>', {"answer": total})


def full_months(rng: random.Random, level: int) -> Problem:
    """The ages of people in full months, added up."""
    today = _date_of(rng, 1980, 2040)
    names, told, total = _names(rng, min(level, MOST_NAMES)), [], 0
    today = today.replace(day=min(today.day, 28))
    for name in names:
        months, days = rng.randrange(2, 60 + 60 * min(level, 10)), rng.randrange(28)
        back = _plus_months(today, -months)
        # `days` before the same day of the month, but less than a month.
        born = back - timedelta(days)
        if born.day > 28:
            born = born.replace(day=28)
        told.append(f"{name} was born on {_in_words(born, False)}")
        total += months
    if len(names) == 1:
        asked = f"How many full months old was {names[0]}"
    else:
        asked = "Add up their ages, each in full months: how many months did that make"
    text = (
        f"{'. '.join(told)}. {asked} on {_in_words(today, False)}? A month is full on the"
        f" same day of the next month. {NUMBERS}"
    )
    return Problem(text, '"answer": <num_months>', {"answer": total})


def shifts_worked(rng: random.Random, level: int) -> Problem:
    """The time of shifts together, some of which end on the next day."""
    told, total = [], 0
    for _ in range(level):
        start, end = _time(rng, level), _time(rng, level)
        end = (start + 60) % DAY if start == end else end
        told.append(f"from {_either_clock(rng, start)} to {_either_clock(rng, end)}")
        total += (end - start) % DAY
    text = (
        f"{_names(rng, 1)[0]} was on duty {_joined(told)}. How long is that in all?"
        " Each of these spans is shorter than a day: where an end is before its start, it"
        f" is on the next day. {HALVES} Minutes and"
        f" seconds stay below 60, hours may be any number. {NUMBERS}"
    )
    fields = '"hours": <num_hours>, "minutes": <num_minutes>, "seconds": <num_seconds>'
    answer = _hours_minutes_seconds(total, "hours minutes seconds")
    return Problem(text, fields, answer)


def reigns(rng: random.Random, level: int) -> Problem:
    """The years of reigns, many of which began before year 1 and ended after it."""
    places, told, total = _places(rng, min(level, MOST_NAMES)), [], 0
    for place in places:
        years = rng.randrange(20, 120 + 60 * min(level, 10))
        is_across = level > 1 and rng.random() < 0.7
        start = rng.randrange(1 - years, 1) if is_across else rng.randrange(-900, 500)
        told.append(
            f"{place} was a republic from {_era(start)} to {_era(start + years)}"
        )
        total += years
    asked = "How long was that" if level == 1 else "How long is that in all"
    text = (
        f"{'; '.join(told)}. {asked}, in years, if each began and ended on the same day"
        f" of the year? {NO_YEAR_ZERO} {NUMBERS}"
    )
    return Problem(text, '"answer": <num_years>', {"answer": total})


# -------------------------------------------------------------------------- multi_op


def average(rng: random.Random, level: int) -> Problem:
    """The mean of durations, which is full seconds."""
    count = level + 1
    unit = 60 if level == 1 else 1
    mean = unit * rng.randrange(1800 // unit, 14_400 // unit)
    shares = [unit * rng.randrange(-840 // unit, 840 // unit) for _ in range(count)]
    # Each takes from the mean what the one before it adds.
    times = [mean + own - last for own, last in zip(shares, [shares[-1], *shares])]
    told = "; ".join(_duration(time) for time in times)
    text = (
        f"{_names(rng, 1)[0]} timed {count} runs of a {rng.choice(MACHINES)}: {told}. How"
        f" long did a run take on average? Minutes and seconds stay below 60. {NUMBERS}"
    )
    answer = _hours_minutes_seconds(mean, "H M S")
    return Problem(text, '"H": <hours>, "M": <minutes>, "S": <seconds>', answer)


def at_the_same_pace(rng: random.Random, level: int) -> Problem:
    """The time of several jobs, each at the pace of a sample of it."""
    told, asked, total = [], [], 0
    jobs = rng.sample(JOBS, len(JOBS))
    for step in range(level):
        (noun, verb), batch = jobs[step % len(jobs)], step // len(jobs)
        sample = 1 if level == 1 else rng.randrange(2, 8)
        pace = 30 * rng.randrange(1, 40) if level == 1 else rng.randrange(20, 1500)
        number = rng.randrange(3, 40)
        way = f"{verb} {_counted(sample, noun)}"
        if batch:
            way += f" on day {batch + 1}"
        told.append(f"{_duration(pace * sample)} to {way}")
        asked.append(way.replace(_counted(sample, noun), _counted(number, noun)))
        total += pace * number
    text = (
        f"A machine needs {'; '.join(told)}. How long does it need at the same pace to"
        f" {_joined(asked)}{', one job after the other' if level > 1 else ''}? Minutes and"
        f" seconds stay below 60, hours may be any number. {NUMBERS}"
    )
    answer = _hours_minutes_seconds(total, "X Y Z")
    return Problem(text, '"X": <hours>, "Y": <minutes>, "Z": <seconds>', answer)


def next_time(rng: random.Random, level: int) -> Problem:
    """The next day on which things that return every few days fall together."""
    count = min((level + 1) // 2, len(ROUTINES))
    periods, routines = rng.sample(PERIODS, count), rng.sample(ROUTINES, count)
    together = lcm(*periods)
    turn = rng.randrange(max(1, min(12 * level, MOST_DAYS // together)))
    form, written = rng.choice(NUMERIC_FORMS)
    first = _date_of(rng, 1960, 2020)
    today = first + timedelta(turn * together + rng.randrange(together))
    told = [f"{r} every {p} days" for r, p in zip(routines, periods)]
    which = ("it", "both", "all of these")[min(count - 1, 2)]
    happens = "was done" if count == 1 else "were done"
    told[0] = told[0][0].upper() + told[0][1:]
    text = (
        f"{_joined(told)}. On {first:{written}} {which} {happens}. Today is"
        f" {today:{written}}. What is the date of the first day after today on which"
        f" {which} will be done again{' together' if count > 1 else ''}? Dates are"
        f" {form}."
    )
    answer = {"answer": f"{first + timedelta((turn + 1) * together):{written}}"}
    return Problem(text, f'"answer": "{form}"', answer)


def clock_time(rng: random.Random, level: int) -> Problem:
    """The clock after, or before, one thing after the other."""
    unit = 60 if level < 3 else 1
    parts = [unit * rng.randrange(600 // unit, 36_000 // unit) for _ in range(level)]
    told = [
        f"{'a break of' if step % 2 else 'work for'} {_duration(part)}"
        for step, part in enumerate(parts)
    ]
    start, (name,) = _time(rng, level), _names(rng, 1)
    if rng.random() < 0.6:
        text = f"{name} begins at {_either_clock(rng, start)}."
        asked, moment = "When is all of this over", start + sum(parts)
    else:
        text = f"{name} has to be ready at {_either_clock(rng, start)}."
        asked, moment = f"When does {name} have to begin", start - sum(parts)
    text += (
        f" The plan, without any gap: {', then '.join(told)}. {asked}?"
        f" {HALVES} {DAY_SAID}"
    )
    days, second = divmod(moment, DAY)
    answer = _day_and_time(days, f"{_clock(second)[:5]}:{second % 60:02}")
    return Problem(text, '"day": "same_day/+x/-x", "time": "HH:MM:SS"', answer)


# -------------------------------------------------------------------------- schedule


class Calendar(NamedTuple):
    """A day's frame, a meeting, and the window in which everybody has time for it."""

    start: int  # in minutes, as are the others
    end: int
    length: int
    raster: int
    kept: range

    def busy(self, rng: random.Random, count: int) -> list[tuple[int, int]]:
        """Return spans outside of the kept window that do not touch each other."""
        spans: list[tuple[int, int]] = []
        for start in sorted(
            rng.sample(range(self.start, self.end, self.raster), count)
        ):
            end = min(start + self.raster * rng.randrange(1, 5), self.end)
            is_apart = not spans or spans[-1][1] < start
            if is_apart and (end <= self.kept.start or start >= self.kept.stop):
                spans.append((start, end))
        return spans

    def free(self, busy: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the spans between busy ones."""
        edges = [self.start, *(edge for span in busy for edge in span), self.end]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2]) if a < b]

    def count(self, busy: list[tuple[int, int]]) -> int:
        """Count the starts of a meeting that meets none of the busy spans."""
        starts = range(self.start, self.end - self.length + 1, self.raster)
        return sum(
            all(start + self.length <= a or b <= start for a, b in busy)
            for start in starts
        )

    @property
    def rules(self) -> str:
        when = "the hour or the half hour"
        if self.raster == 15:
            when = "the hour or 15, 30 or 45 minutes after it"
        return (
            f" They want to meet for {self.length} minutes without a break, starting on"
            f" {when}. They may begin at the very time at which somebody becomes free, and"
            " end at the very time at which somebody stops being free. Times are on the"
            f" 24-hour clock. At how many times can they begin? {NUMBERS}"
        )


def _calendar(rng: random.Random, level: int) -> Calendar:
    raster = 30 if level < 3 else 15
    length = raster * rng.randrange(1, 3 if level == 1 else 5)
    start, end = 60 * rng.randrange(7, 10), 60 * rng.randrange(16, 20)
    kept_for = length + raster * rng.randrange(5)
    first = rng.randrange(start, end - kept_for + 1, raster)
    return Calendar(start, end, length, raster, range(first, first + kept_for))


def _told_spans(spans: list[tuple[int, int]]) -> str:
    return _joined([f"{_clock(60 * a)} to {_clock(60 * b)}" for a, b in spans])


def common_times(rng: random.Random, level: int) -> Problem:
    """The starts of a meeting when all have time, by the spans in which they have."""
    calendar, told, busy = _calendar(rng, level), [], []
    for name in _names(rng, min(level + 1, MOST_NAMES)):
        spans = calendar.busy(rng, 1 + min(level // 2, 4))
        busy += spans
        told.append(f"{name} has time from {_told_spans(calendar.free(spans))}")
    text = f"{'; '.join(told)}.{calendar.rules}"
    return Problem(text, '"answer": <number>', {"answer": calendar.count(busy)})


def busy_calendars(rng: random.Random, level: int) -> Problem:
    """The starts of a meeting when none is taken; some can move what they have."""
    calendar, told, busy = _calendar(rng, level), [], []
    names = _names(rng, min(level + 1, MOST_NAMES))
    for place, name in enumerate(names):
        spans = calendar.busy(rng, 2 + min(level // 2, 4))
        if not spans:
            told.append(f"{name} is not taken at all")
        elif level > 1 and place % 3 == 1:
            taken = _told_spans(spans)
            told.append(f"{name} is taken from {taken} but can move all of it")
        else:
            busy += spans
            told.append(f"{name} is taken from {_told_spans(spans)}")
    text = (
        f"{_joined(names)} work from {_clock(60 * calendar.start)} to"
        f" {_clock(60 * calendar.end)} and meet within these hours. {'; '.join(told)}."
        f"{calendar.rules}"
    )
    return Problem(text, '"answer": <number>', {"answer": calendar.count(busy)})


# -------------------------------------------------------------------------- timezone


def _zone(rng: random.Random, level: int) -> int:
    """Return minutes ahead of UTC: full hours first, then halves, then quarters.

    No two zones are a day apart: their clocks would show the same time.
    """
    part = (60, 30, 15)[min(level, 3) - 1]
    return part * rng.randrange(-10 * 60 // part, 13 * 60 // part + 1)


def _zone_name(minutes: int) -> str:
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{_clock(60 * abs(minutes))}"


def calls(rng: random.Random, level: int) -> Problem | None:
    """The clock of the last one in a chain of calls, each at a time of the caller's."""
    names = _names(rng, min(level, MOST_NAMES - 1) + 1)
    zones = [_zone(rng, level) for _ in names]
    start = moment = 60 * rng.randrange(DAY // 60)  # by the clock of the first
    told = [
        f"At {_clock(start)} on the clock of {names[0]}, {names[0]} calls {names[1]}"
    ]
    for place in range(1, len(names) - 1):
        local = (moment + 60 * (zones[place] - zones[0])) % DAY
        wait = 60 * rng.randrange(10, 1430)
        moment += wait
        told.append(
            f"when the clock of {names[place]} next shows {_clock((local + wait) % DAY)},"
            f" {names[place]} calls {names[place + 1]}"
        )
    where = [f"{name} is at {_zone_name(zone)}" for name, zone in zip(names, zones)]
    last = " last" * (level > 1)
    text = (
        f"{_joined(where)}. {'; '.join(told)}. What do the clock and the calendar of"
        f" {names[-1]} show when the{last} call comes?"
        f" {LOCAL_DAY_SAID}"
    )
    days, second = divmod(moment + 60 * (zones[-1] - zones[0]), DAY)
    answer = _day_and_time(days, _clock(second))
    return Problem(text, '"day": "same_day/+x/-x", "time": "HH:MM"', answer)


def landing(rng: random.Random, level: int) -> Problem:
    """The local time of the landing, after flights and stops."""
    here, there = _places(rng, 2)
    zones = _zone(rng, level), _zone(rng, level)
    start = 60 * rng.randrange(DAY // 60)
    parts = [60 * rng.randrange(35, 15 * 60) for _ in range(2 * level - 1)]
    told = [
        f"{'a stop of' if step % 2 else 'a flight of'} {_duration(part)}"
        for step, part in enumerate(parts)
    ]
    text = (
        f"{_names(rng, 1)[0]} takes off in {here} ({_zone_name(zones[0])}) at"
        f" {_clock(start)} local time. The way to {there} ({_zone_name(zones[1])}) is"
        f" {', then '.join(told)}. What is the local time of the arrival in {there}?"
        f" {LOCAL_DAY_SAID}"
    )
    days, second = divmod(start + sum(parts) + 60 * (zones[1] - zones[0]), DAY)
    answer = _day_and_time(days, _clock(second))
    return Problem(text, '"day": "same_day/+x/-x", "time": "HH:MM"', answer)


def time_in_the_air(rng: random.Random, level: int) -> Problem:
    """The time of flights, by the local dates and times of their ends."""
    places = _places(rng, min(level, MOST_NAMES - 1) + 1)
    zones = [_zone(rng, level) for _ in places]
    moment = 60 * rng.randrange(DAY // 60)
    day, told, total = _date_of(rng, 1990, 2040), [], 0

    def local(place: int) -> str:
        days, second = divmod(moment + 60 * zones[place], DAY)
        return f"{_clock(second)} on {_in_words(day + timedelta(days), False)}"

    for place in range(len(places) - 1):
        leaves, flight = local(place), 60 * rng.randrange(45, 16 * 60)
        moment, total = moment + flight, total + flight
        told.append(
            f"{places[place]} at {leaves}, arriving in {places[place + 1]} at"
            f" {local(place + 1)}"
        )
        moment += 60 * rng.randrange(40, 50 * 60)
    where = [f"{place} is at {_zone_name(zone)}" for place, zone in zip(places, zones)]
    (name,) = _names(rng, 1)
    text = (
        f"{_joined(where)}. {name} flies from {'; from '.join(told)}. All"
        " times are local ones, on the 24-hour clock. How long is"
        f" {name} in the air? Hours stay below 24, minutes and seconds below 60. {NUMBERS}"
    )
    days, rest = divmod(total, DAY)
    answer = {"days": days, **_hours_minutes_seconds(rest, "hours minutes seconds")}
    fields = ", ".join(f'"{unit}": <num_{unit}>' for unit in answer)
    return Problem(text, fields, answer)


def widest_gap(rng: random.Random, level: int) -> Problem:
    """How far the zones of two places, or the outermost of more, are apart."""
    places = _places(rng, min(level, MOST_NAMES - 1) + 1)
    zones = [_zone(rng, 1 if level == 1 else 2)]
    told = [f"the clocks in {places[0]} are at {_zone_name(zones[0])}"]
    for place in range(1, len(places)):
        other = rng.randrange(place)
        zone = _zone(rng, level)
        shift = zone - zones[other]
        if level > 1 and shift and rng.random() < 0.5:
            side = "ahead of" if shift > 0 else "behind"
            told.append(
                f"those in {places[place]} are {_duration(60 * abs(shift))} {side} those in"
                f" {places[other]}"
            )
        else:
            told.append(f"those in {places[place]} are at {_zone_name(zone)}")
        zones.append(zone)
    asked = (
        f"By how much do the clocks in {places[0]} and {places[1]} differ"
        if level == 1
        else "How far are the clocks furthest ahead from those furthest behind"
    )
    text = (
        f"In a chain of hotels, {'; '.join(told)}. {asked}? Minutes stay below 60."
        f" {NUMBERS}"
    )
    hours, minutes = divmod(max(zones) - min(zones), 60)
    answer = {"hours": hours, "minutes": minutes}
    return Problem(text, '"hours": <num_hours>, "minutes": <num_mins>', answer)


# ----------------------------------------------------------------------------- trick


def _date_or_not(rng: random.Random) -> tuple[str, date | None]:
    """Return a date and how it is written; two of five times there is no such date."""
    if rng.random() < 0.6:
        day = _date_of(rng, 1890, 2110)
        if rng.random() < 0.3:  # the end of a month, at times a leap day
            day = day.replace(month=rng.choice((2, 2, 4, 6, 9, 11)), day=1)
            day = day.replace(day=monthrange(day.year, day.month)[1])
        return day.isoformat(), day
    year, month = rng.randrange(1890, 2111), rng.choice((2, 2, 2, 4, 6, 9, 11))
    year = rng.choice((1900, 2100)) if month == 2 and rng.random() < 0.3 else year
    return f"{year}-{month:02}-{monthrange(year, month)[1] + 1}", None


def impossible_date(rng: random.Random, level: int) -> Problem:
    """A date some days from another, which may not exist."""
    names = _names(rng, min(level, MOST_NAMES - 1) + 1)
    said, day = _date_or_not(rng)
    told = [f"The ticket of {names[0]} is dated {said}"]
    for before, name in zip(names, names[1:]):
        days = rng.choice((1, -1)) * rng.randrange(2, 20 + 60 * min(level, 20))
        side = "later" if days > 0 else "earlier"
        told.append(
            f"that of {name} is dated {_counted(abs(days), 'day')} {side} than that of"
            f" {before}"
        )
        day = day and day + timedelta(days)
    text = (
        f"{'; '.join(told)}. Which date is on the ticket of {names[-1]}? Dates are"
        f" yyyy-mm-dd. {GREGORIAN} If a date that is given is not in that calendar, the"
        ' answer is "unanswerable".'
    )
    answer = {"answer": day.isoformat() if day else "unanswerable"}
    return Problem(text, '"answer": "yyyy-mm-dd"', answer)


def nested_days(rng: random.Random, level: int) -> Problem:
    """A date some days from today, which is told as a day before or after others."""
    named, offset = rng.choice((("yesterday", -1), ("today", 0), ("tomorrow", 1)))
    for _ in range(level):
        step = rng.choice((1, -1))
        named = f"the day {'after' if step > 0 else 'before'} {named}"
        offset += step
    today, days = (
        _date_of(rng, 1950, 2060),
        rng.randrange(2, 100 + 100 * min(level, 20)),
    )
    is_after = rng.random() < 0.5
    asked = (
        f"is the date {days} days from"
        if is_after
        else f"was the date {days} days before"
    )
    text = (
        f"{named.capitalize()} is {today + timedelta(offset)}. What {asked} today? Dates"
        f" are yyyy-mm-dd. {GREGORIAN}"
    )
    answer = {"answer": str(today + timedelta(days if is_after else -days))}
    return Problem(text, '"answer": "yyyy-mm-dd"', answer)


def possible_weekdays(rng: random.Random, level: int) -> Problem:
    """The weekdays that it can be some hours from an uncertain time."""
    unit = 3600 if level < 3 else 60
    parts = [unit * rng.randrange(3600 // unit, 90_000 // unit) for _ in range(level)]
    told = [
        f"{'waits for' if step % 2 else 'travels for'} {_duration(part)}"
        for step, part in enumerate(parts)
    ]
    half, first = rng.choice((("before noon", 0), ("at noon or later", DAY // 2)))
    weekday, (name,) = rng.randrange(7), _names(rng, 1)
    earliest = first + sum(parts)
    last = earliest + DAY // 2 - 1  # the last second of that half of the day
    days = range(earliest // DAY, last // DAY + 1)
    text = (
        f"On a {WEEKDAYS[weekday]}, {half}, {name} sets out; the exact time is not known."
        f" Without any other break, {name} {', then '.join(told)}, all in one time zone."
        " On which days of the week can this end? Name all that are possible, be it one or"
        " more."
    )
    answer = {"unordered_list": [WEEKDAYS[(weekday + day) % 7] for day in days]}
    return Problem(text, '"unordered_list": ["day1", "day2"]', answer)


def told_calendar(rng: random.Random, level: int) -> Problem:
    """The days between two dates of a calendar that the question makes up."""
    months, odd = rng.randrange(5, 19), rng.randrange(18, 60)
    even = odd - rng.randrange(1, 9) if level > 1 else odd
    leap = rng.randrange(3, 9) if level > 2 else 0
    lengths = [odd if month % 2 else even for month in range(1, months + 1)]

    def days_since_year_0(year: int, month: int, day: int) -> int:
        leap_days = (year + leap - 1) // leap if leap else 0
        return year * sum(lengths) + leap_days + sum(lengths[: month - 1]) + day

    dates = []
    year = rng.randrange(20, 900)
    for later in (0, rng.randrange(1, 3 + 3 * min(level, 50))):
        month = rng.randrange(1, months + 1)
        dates.append((year + later, month, rng.randrange(1, lengths[month - 1] + 1)))
    first, last = (f"day {day} of month {m} of year {y}" for y, m, day in dates)
    (place,) = _places(rng, 1)
    rule = f"{months} months of {odd} days each"
    if level > 1:
        rule = (
            f"{months} months: months 1, 3, 5 and so on have {odd} days, months 2, 4, 6"
        )
        rule += f" and so on have {even}"
    text = f"A year of the {place} calendar has {rule}."
    if leap:
        text += (
            f" In years whose number can be divided by {leap}, one more day follows after"
            " the last day of the last month."
        )
    text += f" How many days after {first} is {last}? {NUMBERS}"
    days = days_since_year_0(*dates[1]) - days_since_year_0(*dates[0])
    return Problem(text, '"answer": <num_days>', {"answer": days})


def age(rng: random.Random, level: int) -> Problem:
    """An age from those of others; in a third of the questions a link is missing."""
    names = _names(rng, min(level, MOST_NAMES))
    missing = rng.randrange(len(names)) if rng.random() < 1 / 3 else None
    born = _date_of(rng, 1850, 1950)
    born = born.replace(day=min(born.day, 28))
    told = [f"{names[0]} was born on {_in_words(born, False)}"]
    if missing == 0:
        told = [f"The birthday of {names[0]} is on {born.day} {MONTHS[born.month - 1]}"]
    for place, (before, name) in enumerate(zip(names, names[1:]), start=1):
        sign, side = rng.choice(((1, "younger"), (-1, "older")))
        years, months = rng.randrange(1, 15), rng.randrange(1, 12)
        born = _plus_months(born, sign * (12 * years + months))
        much = f"exactly {_counted(years, 'year')} and {_counted(months, 'month')} "
        told.append(f"{name} is {'' if place == missing else much}{side} than {before}")
    today = born + timedelta(rng.randrange(400, 36_000))
    text = (
        f"{'. '.join(told)}. How many full years old was {names[-1]} on"
        f" {_in_words(today, False)}? A year is full on the birthday. If what is told does"
        f' not settle it, the answer is "unanswerable". {NUMBERS}'
    )
    years = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    answer = {"answer": years if missing is None else "unanswerable"}
    return Problem(text, '"answer": <num_years>', answer)


KINDS: dict[str, tuple[Callable[[random.Random, int], Problem | None], ...]] = {
    "add_subtract": (dynasties, moved_weekday, moved_date, founded),
    "compare": (in_order, before_or_after, first_or_last, oldest_city),
    "duration": (open_days, full_months, shifts_worked, reigns),
    "multi_op": (average, at_the_same_pace, next_time, clock_time),
    "schedule": (common_times, busy_calendars),
    "timezone": (calls, landing, time_in_the_air, widest_gap),
    "trick": (impossible_date, nested_days, possible_weekdays, told_calendar, age),
}
