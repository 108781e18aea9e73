"""Questions on clocks and calendars: of the types multi_op, schedule, timezone, trick."""

from __future__ import annotations

import random
from calendar import monthrange
from datetime import date, timedelta
from functools import partial
from math import lcm
from typing import NamedTuple

from . import _arithmetic as a


# Divisors of 2,520, so that any of them fall together within seven years.
PERIODS = (5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 35, 36, 40, 42)
TOTALS = 720, 840, 1080, 1260, 1440, 1680, 2160, 2520  # days until many fall together
MOST_DAYS = 7_000  # over which what returns is followed
NUMERIC_FORMS = ("yyyy-mm-dd", "mm/dd/yyyy", "dd-mm-yyyy")
# Minutes ahead of UTC of the zones that are off the full hour.
PART_HOURS = (-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765)


# -------------------------------------------------------------------------- multi_op


def average(rng: random.Random, level: int) -> a.Problem:
    """The mean of durations, which is full seconds."""
    machine_times = level + 1
    least_unit = 60 if level == 1 else 1
    mean_seconds = least_unit * rng.randrange(1800 // least_unit, 14_400 // least_unit)
    deviations = rng.sample(range(-840, 840, least_unit), machine_times)
    # Each takes from the mean what the one before it adds.
    durations = [
        mean_seconds + deviation - previous
        for deviation, previous in zip(deviations, [deviations[-1], *deviations])
    ]
    slots = {"name": a.names(rng, 1)[0], "machine": rng.choice(a.TEXTS["machines"])}
    slots |= {"facts": "; ".join(map(a.duration, durations)), "count": machine_times}
    return a.problem("average", a.hours_minutes_seconds(mean_seconds, "H M S"), **slots)


def at_the_same_pace(rng: random.Random, level: int) -> a.Problem:
    """The time of several jobs, each at the pace of a sample of it."""
    facts, orders, total_seconds = [], [], 0
    jobs = rng.sample(a.TEXTS["jobs"], len(a.TEXTS["jobs"]))
    for job_number in range(level):
        round_number, turn = divmod(job_number, len(jobs))
        noun, verb = jobs[turn]
        sort_word = f" {a.TEXTS['sorts'][round_number]} " if level > len(jobs) else " "
        sample_size = 1 if level == 1 else rng.randrange(2, 8)
        seconds_each = (
            30 * rng.randrange(2, 40) if level == 1 else rng.randrange(60, 1500)
        )
        order_size = rng.randrange(3, 40)
        job_texts = [
            f"{verb} {a.counted(amount, noun).replace(' ', sort_word)}"
            for amount in (sample_size, order_size)
        ]
        facts.append(f"{a.duration(seconds_each * sample_size)} to {job_texts[0]}")
        orders.append(job_texts[1])
        total_seconds += seconds_each * order_size
    jobs = a.joined(orders) + ", one job after the other" * (level > 1)
    answer = a.hours_minutes_seconds(total_seconds, "X Y Z")
    slots = {"facts": "; ".join(facts), "query": jobs, "name": a.names(rng, 1)[0]}
    return a.problem("at_the_same_pace", answer, **slots)


def next_time(rng: random.Random, level: int) -> a.Problem:
    """The next day on which things that return every few days fall together."""
    routine_count, routines = (level + 1) // 2, a.TEXTS["routines"]
    if routine_count <= len(routines):
        periods = rng.sample(PERIODS, routine_count)
    else:  # so many that their multiple would always be the same
        common_multiple = rng.choice(TOTALS)
        divisors = [days for days in range(5, 100) if common_multiple % days == 0]
        periods = rng.choices(divisors, k=routine_count)
        routines = [f"{x} in hall {hall}" for hall in range(1, 8) for x in routines]
    routines, meeting_period = rng.sample(routines, routine_count), lcm(*periods)
    meeting_number = rng.randrange(max(1, min(12 * level, MOST_DAYS // meeting_period)))
    form = rng.choice(NUMERIC_FORMS)
    strftime_form = form.replace("yyyy", "%Y").replace("mm", "%m").replace("dd", "%d")
    first = a.date_of(rng, 1960, 1999)
    today = first + timedelta(
        meeting_number * meeting_period + rng.randrange(meeting_period)
    )
    facts = [
        f"{routine} every {period} days" for routine, period in zip(routines, periods)
    ]
    premise, query = a.TEXTS["falling together"][min(routine_count - 1, 2)]
    facts[0] = facts[0][0].upper() + facts[0][1:]
    slots = {"facts": a.joined(facts), "premise": premise, "query": query, "form": form}
    slots |= {"first": f"{first:{strftime_form}}", "today": f"{today:{strftime_form}}"}
    answer = {
        "answer": f"{first + timedelta((meeting_number + 1) * meeting_period):{strftime_form}}"
    }
    return a.problem("next_time", answer, **slots)


def clock_time(rng: random.Random, level: int) -> a.Problem:
    """The clock after, or before, one thing after the other."""
    unit = 60 if level < 3 else 1
    spans = [unit * rng.randrange(600 // unit, 36_000 // unit) for _ in range(level)]
    start_second, write_clock = a.time(rng, level), a.clock_of_a_style(rng)
    begin_words, query, sign = "begins", "When is it over", 1
    if rng.random() >= 0.6:
        begin_words, query, sign = "has to be over", "When does it have to begin", -1
    slots = {"begins": begin_words, "clock": write_clock(start_second), "query": query}
    slots["facts"] = a.by_turns(spans, "heating for", "cooling for")
    answer = a.day_and_time(start_second + sign * sum(spans))
    return a.problem("clock_time", answer, **slots)


# -------------------------------------------------------------------------- schedule


class Calendar(NamedTuple):
    """A day's frame, a meeting, and the window in which everybody has time for it."""

    start: int  # in minutes, as are the others
    end: int
    length: int
    raster: int
    window: range  # empty where nobody minds whether there is such a window

    def busy(self, rng: random.Random, count: int) -> list[tuple[int, int]]:
        """Return spans outside of the window that do not touch each other."""
        busy_spans: list[tuple[int, int]] = []
        most_steps = 5 if self.window else 16
        start_minutes = rng.sample(range(self.start, self.end, self.raster), count)
        for start in sorted(start_minutes):
            end = min(start + self.raster * rng.randrange(1, most_steps), self.end)
            is_apart = not busy_spans or busy_spans[-1][1] < start
            if is_apart and (end <= self.window.start or start >= self.window.stop):
                busy_spans.append((start, end))
        return busy_spans

    def free(self, busy: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the spans between busy ones."""
        span_edges = [self.start, *(edge for span in busy for edge in span), self.end]
        return [
            (start, end)
            for start, end in zip(span_edges[::2], span_edges[1::2])
            if start < end
        ]

    def starts(self, busy: list[tuple[int, int]]) -> list[int]:
        """Return the starts of a meeting that meets none of the busy spans."""
        return [
            start
            for start in range(self.start, self.end - self.length + 1, self.raster)
            if all(
                start + self.length <= begin or stop <= start for begin, stop in busy
            )
        ]

    def problem(
        self, rng: random.Random, facts: str, busy: list[tuple[int, int]]
    ) -> a.Problem | None:
        """Return a question on the starts; None where there are some and should not be."""
        starts = self.starts(busy)
        if starts and not self.window:
            return None
        allowed_minutes = "the hour or the half hour"
        if self.raster == 15:
            allowed_minutes = "the hour or 15, 30 or 45 minutes after it"
        edge_word = rng.choice(("earliest", "latest"))
        query = f"At how many times can they begin? {a.TEXTS['NUMBERS']}"
        answer, answer_form = len(starts), "<number>"
        if rng.random() < 0.4:
            clocks = [a.clock(60 * start) for start in starts] or ["unanswerable"]
            answer = clocks[0 if edge_word == "earliest" else -1]
            answer_form = '"HH:MM"'
            query = a.TEXTS["meeting edge"].format(edge=edge_word)
        slots = {
            "facts": facts,
            "length": self.length,
            "when": allowed_minutes,
            "query": query,
        }
        return a.problem("meeting", {"answer": answer}, form=answer_form, **slots)


def _calendar(rng: random.Random, level: int) -> Calendar:
    """Return a day; one of six times, no start of the meeting is to be possible."""
    raster = 30 if level < 3 else 15
    length = raster * rng.randrange(1, 3 if level == 1 else 5)
    day_start, end = 60 * rng.randrange(7, 10), 60 * rng.randrange(16, 20)
    if rng.random() < 1 / 6:
        return Calendar(day_start, end, length, raster, range(day_start, day_start))
    window_length = length + raster * rng.randrange(5)
    first = rng.randrange(day_start, end - window_length + 1, raster)
    return Calendar(day_start, end, length, raster, range(first, first + window_length))


def _told_spans(spans: list[tuple[int, int]]) -> str:
    """Return spans of minutes as words: "from 09:00 to 10:30 and from …"."""
    spans = [(a.clock(60 * start), a.clock(60 * end)) for start, end in spans]
    return a.joined([f"from {start} to {end}" for start, end in spans])


MOST_TRIES = 100  # until there is no start


def common_times(rng: random.Random, level: int) -> a.Problem | None:
    """The starts of a meeting when all have time, by the spans in which they have."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    for _ in range(MOST_TRIES):
        taken = [calendar.busy(rng, 1 + min(level // 2, 4)) for _ in names]
        free_spans = [calendar.free(spans) for spans in taken]
        if all(free_spans):
            facts = [
                f"{name} is free {_told_spans(name_spans)}"
                for name, name_spans in zip(names, free_spans)
            ]
            if problem := calendar.problem(rng, f"{'; '.join(facts)}.", sum(taken, [])):
                return problem
    return None


def busy_calendars(rng: random.Random, level: int) -> a.Problem | None:
    """The starts of a meeting when none is taken; some can move what they have."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    opening = (
        f"{a.joined(names)} work from {a.clock(60 * calendar.start)} to"
        f" {a.clock(60 * calendar.end)} and meet within these hours."
    )
    for _ in range(MOST_TRIES):
        facts, all_busy = [], []
        for index, name in enumerate(names):
            spans = calendar.busy(rng, 2 + min(level // 2, 4))
            can_move = level > 1 and index % 3 == 1 and spans
            all_busy += [] if can_move else spans
            busy_text = f"busy {_told_spans(spans)}" if spans else "not busy at all"
            move_text = ", but can move every appointment" * bool(can_move)
            facts.append(f"{name} is {busy_text}{move_text}")
        if problem := calendar.problem(rng, f"{opening} {'; '.join(facts)}.", all_busy):
            return problem
    return None


# -------------------------------------------------------------------------- timezone


def _zone(rng: random.Random, level: int) -> int:
    """Return seconds ahead of UTC: of full hours first, from level 2 on of all zones.

    No two zones are a day apart: their clocks would show the same time.
    """
    if level > 1 and rng.random() < 0.5:
        return 60 * rng.choice(PART_HOURS)
    return 3600 * rng.randrange(-10, 14)


def _flight(rng: random.Random, here: int, there: int) -> int:
    """Return the seconds of a flight between two zones: the further, the longer."""
    apart = abs(here - there)
    return 60 * (rng.randrange(45, 200) + min(apart, a.DAY - apart) // 72)


def _zone_name(seconds: int) -> str:
    return f"UTC{'-' if seconds < 0 else '+'}{a.clock(abs(seconds))}"


def calls(rng: random.Random, level: int) -> a.Problem | None:
    """The clock of the last one in a chain of calls, each at a time of the caller's."""
    names = a.names(rng, level + 1)
    zones = [_zone(rng, level) for _ in names]
    start = call_time = 60 * rng.randrange(a.DAY // 60)  # by the clock of the first
    facts = [f"At {a.clock(start)} on {names[0]}'s clock, {names[0]} calls {names[1]}"]
    for index in range(1, len(names) - 1):
        local_time = (call_time + zones[index] - zones[0]) % a.DAY
        wait_seconds = 60 * rng.randrange(10, 1430)
        call_time += wait_seconds
        name, clock_text = names[index], a.clock((local_time + wait_seconds) % a.DAY)
        call_text = f"{name} calls {names[index + 1]}"
        facts.append(f"when {name}'s clock next shows {clock_text}, {call_text}")
    where = [f"{name} is at {_zone_name(offset)}" for name, offset in zip(names, zones)]
    slots = {"where": a.joined(where), "facts": "; ".join(facts), "name": names[-1]}
    answer = a.day_and_time(call_time + zones[-1] - zones[0], 5)
    return a.problem("calls", answer, last=" last" * (level > 1), **slots)


def landing(rng: random.Random, level: int) -> a.Problem:
    """The local time of the landing, after flights and stops."""
    origin, destination = a.places(rng, 2)
    zones = _zone(rng, level), _zone(rng, level)
    start_second = 60 * rng.randrange(a.DAY // 60)
    durations = [_flight(rng, *zones)]
    for _ in range(level - 1):
        durations += [60 * rng.randrange(35, 600), _flight(rng, 0, 0)]
    answer = a.day_and_time(start_second + sum(durations) + zones[1] - zones[0], 5)
    slots = {"facts": a.by_turns(durations, "a flight of", "a stop of")}
    slots |= {"here": origin, "there": destination}
    slots |= {"from_zone": _zone_name(zones[0]), "to_zone": _zone_name(zones[1])}
    slots |= {"name": a.names(rng, 1)[0], "clock": a.clock(start_second)}
    return a.problem("landing", answer, **slots)


def time_in_the_air(rng: random.Random, level: int) -> a.Problem:
    """The time of flights, by the local dates and times of their ends."""
    places = a.places(rng, level + 1)
    zones = [_zone(rng, level) for _ in places]
    current_second = 60 * rng.randrange(a.DAY // 60)
    day, facts, flight_total = a.date_of(rng, 1990, 2020), [], 0

    def local(place: int) -> str:
        days_later, second = divmod(current_second + zones[place], a.DAY)
        return f"{a.clock(second)} on {a.in_words(day + timedelta(days_later), False)}"

    for place in range(len(places) - 1):
        leaves, flight = local(place), _flight(rng, *zones[place : place + 2])
        current_second, flight_total = current_second + flight, flight_total + flight
        origin, there = places[place : place + 2]
        facts.append(f"{origin} at {leaves}, arriving in {there} at {local(place + 1)}")
        current_second += 60 * rng.randrange(40, 50 * 60)
    where = [f"{city} is at {_zone_name(zone)}" for city, zone in zip(places, zones)]
    slots = {"where": a.joined(where), "facts": "; from ".join(facts)}
    answer = {"days": flight_total // a.DAY}
    answer |= a.hours_minutes_seconds(flight_total % a.DAY, "hours minutes seconds")
    return a.problem("time_in_the_air", answer, name=a.names(rng, 1)[0], **slots)


def widest_gap(rng: random.Random, level: int) -> a.Problem | None:
    """How far the zones of two places, or the outermost of more, are apart."""
    clock_owners = [f"those in {place}" for place in a.places(rng, level + 1)]
    write_zone = lambda offset: f"at {_zone_name(offset)}"  # noqa: E731
    wording = "{} are {}", write_zone, a.duration, "behind", "ahead of"
    draw_zone = partial(_zone, rng, level)
    zones, clauses, at_once = a.draw_facts(rng, level, clock_owners, draw_zone, wording)
    widest, direct_gap = (max(x)[0] - min(x)[0] for x in (zones, at_once))
    if level > 2 and widest == direct_gap and rng.random() < 0.7:
        return None
    query = "greatest time difference between any two of them"
    if level == 1:
        query = "time difference between the two"
    answer = dict(zip(("hours", "minutes"), divmod(widest // 60, 60)))
    clauses = clauses.replace("those", "the clocks", 1)
    return a.problem("widest_gap", answer, facts=clauses, query=query)


# ----------------------------------------------------------------------------- trick


def _date_or_not(rng: random.Random, exists: bool) -> tuple[str, date | None]:
    """Return a date and how it is written; None for a date that does not exist."""
    if exists:
        day = a.date_of(rng, 1890, 1990)
        if rng.random() < 0.6:  # the end of a month, at times a leap day
            day = day.replace(month=rng.randrange(1, 13), day=1)
            day = day.replace(day=monthrange(day.year, day.month)[1])
        return day.isoformat(), day
    year, month = rng.randrange(1890, 1991), rng.choice((2, 2, 2, 4, 6, 9, 11))
    year = 1900 if month == 2 and rng.random() < 0.3 else year
    return f"{year}-{month:02}-{monthrange(year, month)[1] + 1}", None


def impossible_date(rng: random.Random, level: int) -> a.Problem:
    """A date some days from another, which one of five times does not exist.

    From level 2 on one of two dates does not exist, and other letters hang on the second:
    so only the chain of letters says whether that matters.
    """
    exists, longest_step = rng.random() < 0.8, 20 + 60 * min(level, 5)
    dated_letters, facts, asked = [], [], None
    names = iter(a.names(rng, 2 + level + level // 2))
    for steps in (level, level // 2) if level > 1 else (1,):
        date_text, day = _date_or_not(rng, exists if steps == level else not exists)
        earlier_name = next(names)
        dated_letters.append(f"{earlier_name}'s letter is dated {date_text}")
        for _ in range(steps):
            day_offset = rng.choice((1, -1)) * rng.randrange(2, longest_step)
            side_word, name = "later" if day_offset > 0 else "earlier", next(names)
            distance = a.counted(abs(day_offset), "day")
            facts.append(
                f"{name}'s is dated {distance} {side_word} than {earlier_name}'s"
            )
            day, earlier_name = day and day + timedelta(day_offset), name
        asked = asked or (earlier_name, day.isoformat() if day else "unanswerable")
    if level > 1:
        rng.shuffle(dated_letters)
        rng.shuffle(facts)
    slots = {"facts": "; ".join(dated_letters + facts), "name": asked[0]}
    return a.problem("impossible_date", {"answer": asked[1]}, **slots)


def nested_days(rng: random.Random, level: int) -> a.Problem:
    """A date some days from today, which is told as a day before or after others."""
    day_words, offset = rng.choice((("yesterday", -1), ("today", 0), ("tomorrow", 1)))
    for _ in range(level):
        day_step = rng.choice((1, -1))
        day_words = f"the day {'after' if day_step > 0 else 'before'} {day_words}"
        offset += day_step
    today = a.date_of(rng, 1950, 2050)
    day_distance = rng.randrange(2, 100 + 100 * min(level, 10))
    query, direction = f"was the date {day_distance} days before", -1
    if rng.random() < 0.5:
        query, direction = f"is the date {day_distance} days from", 1
    slots = {"named": day_words.capitalize(), "date": today + timedelta(offset)}
    answer = {"answer": str(today + timedelta(direction * day_distance))}
    return a.problem("nested_days", answer, query=query, **slots)


def possible_weekdays(rng: random.Random, level: int) -> a.Problem:
    """The weekdays that it can be some hours from an uncertain time."""
    unit = 3600 if level < 3 else 60
    parts = [unit * rng.randrange(3600 // unit, 90_000 // unit) for _ in range(level)]
    half_day, first = rng.choice((("before noon", 0), ("at noon or later", a.DAY // 2)))
    weekday = rng.randrange(7)
    earliest = first + sum(parts)
    latest = earliest + a.DAY // 2 - 1  # the last second of that half of the day
    day_range = range(earliest // a.DAY, latest // a.DAY + 1)
    answer = {"unordered_list": [a.WEEKDAYS[(weekday + day) % 7] for day in day_range]}
    slots = {"facts": a.by_turns(parts, "sails for", "lies at anchor for")}
    slots |= {"half": half_day, "place": a.places(rng, 1)[0]}
    return a.problem("possible_weekdays", answer, weekday=a.WEEKDAYS[weekday], **slots)


def age(rng: random.Random, level: int) -> a.Problem:
    """An age from those of others; in a third of the questions a link is missing.

    At level 1, the year may be told of somebody else. From level 2 on, some links lead
    elsewhere, and one of them is as vague as the missing one. The facts are told in any
    order, and nobody is unborn or over a hundred.
    """
    people = a.names(rng, level + 1 + level // 2)
    chain, side_people = people[:level], people[level:]
    day = a.date_of(rng, 1880, 1970)
    birthdays = {chain[0]: day.replace(day=min(day.day, 28))}
    is_answerable = rng.random() < 2 / 3
    vague = rng.choice(side_people if is_answerable else chain[1:] or [""])
    facts = [f"{chain[0]} was born on {a.in_words(birthdays[chain[0]], False)}"]
    if level == 1:
        facts = [
            f"The birthday of {chain[0]} is on {day.day} {a.MONTHS[day.month - 1]}"
        ]
        told_person, years = people[not is_answerable], rng.randrange(5, 40)
        facts.append(f"{told_person} turned {years} in {day.year + years}")
    for index, name in enumerate(people[1:] if level > 1 else (), start=1):
        before = chain[index - 1] if index < level else rng.choice([*birthdays])
        year_gap = birthdays[before].year - day.year
        side = rng.choice(("younger", "older"))
        if abs(year_gap) > 25:
            side = "older" if year_gap > 0 else "younger"
        years, months = rng.randrange(1, 15), rng.randrange(1, 12)
        sign = 1 if side == "younger" else -1
        birthdays[name] = a.plus_months(birthdays[before], sign * (12 * years + months))
        much = f"exactly {a.counted(years, 'year')} and {a.counted(months, 'month')} "
        facts.append(f"{name} is {'' if name == vague else much}{side} than {before}")
    rng.shuffle(facts)
    years = [first_birthday.year for first_birthday in birthdays.values()]
    today = a.date_of(rng, max(years) + 1, min(min(years) + 100, 2025))
    day = birthdays[chain[-1]]
    age = today.year - day.year - ((today.month, today.day) < (day.month, day.day))
    answer = {"answer": age if is_answerable else "unanswerable"}
    slots = {"facts": ". ".join(facts), "today": a.in_words(today, False)}
    return a.problem("age", answer, name=chain[-1], **slots)


MULTI_OP = (average, at_the_same_pace, next_time, clock_time)
SCHEDULE = (common_times, busy_calendars)
TIMEZONE = (calls, landing, time_in_the_air, widest_gap)
TRICK = (impossible_date, nested_days, possible_weekdays, age)
