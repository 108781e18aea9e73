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
    duration_count = level + 1
    unit_seconds = 60 if level == 1 else 1
    mean_seconds = unit_seconds * rng.randrange(
        1800 // unit_seconds, 14_400 // unit_seconds
    )
    deviations = rng.sample(range(-840, 840, unit_seconds), duration_count)
    # Each takes from the mean what the one before it adds.
    durations = [
        mean_seconds + deviation - previous_deviation
        for deviation, previous_deviation in zip(
            deviations, [deviations[-1], *deviations]
        )
    ]
    text_slots = {
        "name": a.names(rng, 1)[0],
        "machine": rng.choice(a.TEXTS["machines"]),
    }
    text_slots |= {
        "facts": "; ".join(map(a.duration, durations)),
        "count": duration_count,
    }
    return a.problem(
        "average", a.hours_minutes_seconds(mean_seconds, "H M S"), **text_slots
    )


def at_the_same_pace(rng: random.Random, level: int) -> a.Problem:
    """The time of several jobs, each at the pace of a sample of it."""
    facts, order_texts, total_seconds = [], [], 0
    jobs = rng.sample(a.TEXTS["jobs"], len(a.TEXTS["jobs"]))
    for job_number in range(level):
        round_number, job_index = divmod(job_number, len(jobs))
        noun, verb = jobs[job_index]
        sort_word = f" {a.TEXTS['sorts'][round_number]} " if level > len(jobs) else " "
        sample_size = 1 if level == 1 else rng.randrange(2, 8)
        seconds_each = (
            30 * rng.randrange(2, 40) if level == 1 else rng.randrange(60, 1500)
        )
        order_size = rng.randrange(3, 40)
        sample_and_order = [
            f"{verb} {a.counted(amount, noun).replace(' ', sort_word)}"
            for amount in (sample_size, order_size)
        ]
        facts.append(
            f"{a.duration(seconds_each * sample_size)} to {sample_and_order[0]}"
        )
        order_texts.append(sample_and_order[1])
        total_seconds += seconds_each * order_size
    query_text = a.joined(order_texts) + ", one job after the other" * (level > 1)
    answer = a.hours_minutes_seconds(total_seconds, "X Y Z")
    text_slots = {
        "facts": "; ".join(facts),
        "query": query_text,
        "name": a.names(rng, 1)[0],
    }
    return a.problem("at_the_same_pace", answer, **text_slots)


def next_time(rng: random.Random, level: int) -> a.Problem:
    """The next day on which things that return every few days fall together."""
    routine_count, routines = (level + 1) // 2, a.TEXTS["routines"]
    if routine_count <= len(routines):
        periods = rng.sample(PERIODS, routine_count)
    else:  # so many that their multiple would always be the same
        common_multiple = rng.choice(TOTALS)
        divisors = [factor for factor in range(5, 100) if common_multiple % factor == 0]
        periods = rng.choices(divisors, k=routine_count)
        routines = [
            f"{routine} in hall {hall}" for hall in range(1, 8) for routine in routines
        ]
    routines, meeting_period = rng.sample(routines, routine_count), lcm(*periods)
    meeting_number = rng.randrange(max(1, min(12 * level, MOST_DAYS // meeting_period)))
    form = rng.choice(NUMERIC_FORMS)
    strftime_form = form.replace("yyyy", "%Y").replace("mm", "%m").replace("dd", "%d")
    first_meeting_day = a.date_of(rng, 1960, 1999)
    today = first_meeting_day + timedelta(
        meeting_number * meeting_period + rng.randrange(meeting_period)
    )
    facts = [
        f"{routine} every {period} days" for routine, period in zip(routines, periods)
    ]
    premise, query = a.TEXTS["falling together"][min(routine_count - 1, 2)]
    facts[0] = facts[0][0].upper() + facts[0][1:]
    text_slots = {
        "facts": a.joined(facts),
        "premise": premise,
        "query": query,
        "form": form,
    }
    text_slots |= {
        "first": f"{first_meeting_day:{strftime_form}}",
        "today": f"{today:{strftime_form}}",
    }
    next_day = first_meeting_day + timedelta((meeting_number + 1) * meeting_period)
    answer = {"answer": f"{next_day:{strftime_form}}"}
    return a.problem("next_time", answer, **text_slots)


def clock_time(rng: random.Random, level: int) -> a.Problem:
    """The clock after, or before, one thing after the other."""
    unit_seconds = 60 if level < 3 else 1
    durations = [
        unit_seconds * rng.randrange(600 // unit_seconds, 36_000 // unit_seconds)
        for _ in range(level)
    ]
    stated_second, write_clock = a.time(rng, level), a.clock_of_a_style(rng)
    begin_words, query, sign = "begins", "When is it over", 1
    if rng.random() >= 0.6:
        begin_words, query, sign = "has to be over", "When does it have to begin", -1
    text_slots = {
        "begins": begin_words,
        "clock": write_clock(stated_second),
        "query": query,
    }
    text_slots["facts"] = a.by_turns(durations, "heating for", "cooling for")
    answer = a.day_and_time(stated_second + sign * sum(durations))
    return a.problem("clock_time", answer, **text_slots)


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
        raster_step_limit = 5 if self.window else 16
        start_minutes = rng.sample(range(self.start, self.end, self.raster), count)
        for span_start in sorted(start_minutes):
            span_end = min(
                span_start + self.raster * rng.randrange(1, raster_step_limit), self.end
            )
            is_apart = not busy_spans or busy_spans[-1][1] < span_start
            if is_apart and (
                span_end <= self.window.start or span_start >= self.window.stop
            ):
                busy_spans.append((span_start, span_end))
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
                start + self.length <= busy_start or busy_end <= start
                for busy_start, busy_end in busy
            )
        ]

    def problem(
        self, rng: random.Random, facts: str, busy: list[tuple[int, int]]
    ) -> a.Problem | None:
        """Return a question on the starts; None where there are some and should not be."""
        starts = self.starts(busy)
        if starts and not self.window:
            return None
        raster_text = "the hour or the half hour"
        if self.raster == 15:
            raster_text = "the hour or 15, 30 or 45 minutes after it"
        edge_word = rng.choice(("earliest", "latest"))
        query = f"At how many times can they begin? {a.TEXTS['NUMBERS']}"
        answer, answer_form = len(starts), "<number>"
        if rng.random() < 0.4:
            start_clocks = [a.clock(60 * start) for start in starts] or ["unanswerable"]
            answer = start_clocks[0 if edge_word == "earliest" else -1]
            answer_form = '"HH:MM"'
            query = a.TEXTS["meeting edge"].format(edge=edge_word)
        text_slots = {
            "facts": facts,
            "length": self.length,
            "when": raster_text,
            "query": query,
        }
        return a.problem("meeting", {"answer": answer}, form=answer_form, **text_slots)


def _calendar(rng: random.Random, level: int) -> Calendar:
    """Return a day; one of six times, no start of the meeting is to be possible."""
    raster = 30 if level < 3 else 15
    meeting_length = raster * rng.randrange(1, 3 if level == 1 else 5)
    day_start, day_end = 60 * rng.randrange(7, 10), 60 * rng.randrange(16, 20)
    if rng.random() < 1 / 6:
        return Calendar(
            day_start, day_end, meeting_length, raster, range(day_start, day_start)
        )
    window_length = meeting_length + raster * rng.randrange(5)
    window_start = rng.randrange(day_start, day_end - window_length + 1, raster)
    return Calendar(
        day_start,
        day_end,
        meeting_length,
        raster,
        range(window_start, window_start + window_length),
    )


def _told_spans(spans: list[tuple[int, int]]) -> str:
    """Return spans of minutes as words: "from 09:00 to 10:30 and from …"."""
    clock_pairs = [(a.clock(60 * start), a.clock(60 * end)) for start, end in spans]
    return a.joined(
        [f"from {start_clock} to {end_clock}" for start_clock, end_clock in clock_pairs]
    )


MOST_TRIES = 100  # until there is no start


def common_times(rng: random.Random, level: int) -> a.Problem | None:
    """The starts of a meeting when all have time, by the spans in which they have."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    for _ in range(MOST_TRIES):
        busy_by_person = [calendar.busy(rng, 1 + min(level // 2, 4)) for _ in names]
        free_by_person = [calendar.free(busy_spans) for busy_spans in busy_by_person]
        if all(free_by_person):
            facts = [
                f"{name} is free {_told_spans(free_spans)}"
                for name, free_spans in zip(names, free_by_person)
            ]
            if problem := calendar.problem(
                rng, f"{'; '.join(facts)}.", sum(busy_by_person, [])
            ):
                return problem
    return None


def busy_calendars(rng: random.Random, level: int) -> a.Problem | None:
    """The starts of a meeting when none is taken; some can move what they have."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    hours_sentence = (
        f"{a.joined(names)} work from {a.clock(60 * calendar.start)} to"
        f" {a.clock(60 * calendar.end)} and meet within these hours."
    )
    for _ in range(MOST_TRIES):
        facts, fixed_spans = [], []
        for person_index, name in enumerate(names):
            person_spans = calendar.busy(rng, 2 + min(level // 2, 4))
            can_move = level > 1 and person_index % 3 == 1 and person_spans
            fixed_spans += [] if can_move else person_spans
            busy_text = (
                f"busy {_told_spans(person_spans)}"
                if person_spans
                else "not busy at all"
            )
            move_text = ", but can move every appointment" * bool(can_move)
            facts.append(f"{name} is {busy_text}{move_text}")
        if problem := calendar.problem(
            rng, f"{hours_sentence} {'; '.join(facts)}.", fixed_spans
        ):
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
    zone_gap = abs(here - there)
    return 60 * (rng.randrange(45, 200) + min(zone_gap, a.DAY - zone_gap) // 72)


def _zone_name(seconds: int) -> str:
    return f"UTC{'-' if seconds < 0 else '+'}{a.clock(abs(seconds))}"


def calls(rng: random.Random, level: int) -> a.Problem | None:
    """The clock of the last one in a chain of calls, each at a time of the caller's."""
    names = a.names(rng, level + 1)
    offsets = [_zone(rng, level) for _ in names]
    first_call_time = call_time = 60 * rng.randrange(
        a.DAY // 60
    )  # by the clock of the first
    facts = [
        f"At {a.clock(first_call_time)} on {names[0]}'s clock, {names[0]} calls {names[1]}"
    ]
    for caller_index in range(1, len(names) - 1):
        caller_time = (call_time + offsets[caller_index] - offsets[0]) % a.DAY
        wait_seconds = 60 * rng.randrange(10, 1430)
        call_time += wait_seconds
        name = names[caller_index]
        clock_text = a.clock((caller_time + wait_seconds) % a.DAY)
        call_text = f"{name} calls {names[caller_index + 1]}"
        facts.append(f"when {name}'s clock next shows {clock_text}, {call_text}")
    zone_texts = [
        f"{name} is at {_zone_name(offset)}" for name, offset in zip(names, offsets)
    ]
    text_slots = {
        "where": a.joined(zone_texts),
        "facts": "; ".join(facts),
        "name": names[-1],
    }
    answer = a.day_and_time(call_time + offsets[-1] - offsets[0], 5)
    return a.problem("calls", answer, last=" last" * (level > 1), **text_slots)


def landing(rng: random.Random, level: int) -> a.Problem:
    """The local time of the landing, after flights and stops."""
    origin, destination = a.places(rng, 2)
    offsets = _zone(rng, level), _zone(rng, level)
    departure_second = 60 * rng.randrange(a.DAY // 60)
    durations = [_flight(rng, *offsets)]
    for _ in range(level - 1):
        durations += [60 * rng.randrange(35, 600), _flight(rng, 0, 0)]
    answer = a.day_and_time(
        departure_second + sum(durations) + offsets[1] - offsets[0], 5
    )
    text_slots = {"facts": a.by_turns(durations, "a flight of", "a stop of")}
    text_slots |= {"here": origin, "there": destination}
    text_slots |= {
        "from_zone": _zone_name(offsets[0]),
        "to_zone": _zone_name(offsets[1]),
    }
    text_slots |= {"name": a.names(rng, 1)[0], "clock": a.clock(departure_second)}
    return a.problem("landing", answer, **text_slots)


def time_in_the_air(rng: random.Random, level: int) -> a.Problem:
    """The time of flights, by the local dates and times of their ends."""
    places = a.places(rng, level + 1)
    offsets = [_zone(rng, level) for _ in places]
    current_second = 60 * rng.randrange(a.DAY // 60)
    start_day, facts, flight_total = a.date_of(rng, 1990, 2020), [], 0

    def local(place_index: int) -> str:
        days_later, second_of_day = divmod(current_second + offsets[place_index], a.DAY)
        local_day = start_day + timedelta(days_later)
        return f"{a.clock(second_of_day)} on {a.in_words(local_day, False)}"

    for place_index in range(len(places) - 1):
        departure_text = local(place_index)
        flight_seconds = _flight(rng, *offsets[place_index : place_index + 2])
        current_second += flight_seconds
        flight_total += flight_seconds
        origin, destination = places[place_index : place_index + 2]
        arrival_text = f"{destination} at {local(place_index + 1)}"
        facts.append(f"{origin} at {departure_text}, arriving in {arrival_text}")
        current_second += 60 * rng.randrange(40, 50 * 60)
    zone_texts = [
        f"{city} is at {_zone_name(offset)}" for city, offset in zip(places, offsets)
    ]
    text_slots = {"where": a.joined(zone_texts), "facts": "; from ".join(facts)}
    answer = {"days": flight_total // a.DAY}
    answer |= a.hours_minutes_seconds(flight_total % a.DAY, "hours minutes seconds")
    return a.problem("time_in_the_air", answer, name=a.names(rng, 1)[0], **text_slots)


def widest_gap(rng: random.Random, level: int) -> a.Problem | None:
    """How far the zones of two places, or the outermost of more, are apart."""
    clock_owners = [f"those in {place}" for place in a.places(rng, level + 1)]
    write_zone = lambda offset: f"at {_zone_name(offset)}"  # noqa: E731
    wording = "{} are {}", write_zone, a.duration, "behind", "ahead of"
    draw_zone = partial(_zone, rng, level)
    zone_facts, clauses_text, direct_zone_facts = a.draw_facts(
        rng, level, clock_owners, draw_zone, wording
    )
    true_gap, direct_gap = (
        max(fact_list)[0] - min(fact_list)[0]
        for fact_list in (zone_facts, direct_zone_facts)
    )
    if level > 2 and true_gap == direct_gap and rng.random() < 0.7:
        return None
    query = "greatest time difference between any two of them"
    if level == 1:
        query = "time difference between the two"
    answer = dict(zip(("hours", "minutes"), divmod(true_gap // 60, 60)))
    clauses_text = clauses_text.replace("those", "the clocks", 1)
    return a.problem("widest_gap", answer, facts=clauses_text, query=query)


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
    asked_date_exists, longest_step = rng.random() < 0.8, 20 + 60 * min(level, 5)
    dated_letters, facts, name_and_answer = [], [], None
    names = iter(a.names(rng, 2 + level + level // 2))
    for step_count in (level, level // 2) if level > 1 else (1,):
        date_text, chain_date = _date_or_not(
            rng, asked_date_exists if step_count == level else not asked_date_exists
        )
        previous_name = next(names)
        dated_letters.append(f"{previous_name}'s letter is dated {date_text}")
        for _ in range(step_count):
            day_offset = rng.choice((1, -1)) * rng.randrange(2, longest_step)
            side_word, name = "later" if day_offset > 0 else "earlier", next(names)
            distance_text = a.counted(abs(day_offset), "day")
            facts.append(
                f"{name}'s is dated {distance_text} {side_word} than {previous_name}'s"
            )
            chain_date = chain_date and chain_date + timedelta(day_offset)
            previous_name = name
        name_and_answer = name_and_answer or (
            previous_name,
            chain_date.isoformat() if chain_date else "unanswerable",
        )
    if level > 1:
        rng.shuffle(dated_letters)
        rng.shuffle(facts)
    text_slots = {"facts": "; ".join(dated_letters + facts), "name": name_and_answer[0]}
    return a.problem("impossible_date", {"answer": name_and_answer[1]}, **text_slots)


def nested_days(rng: random.Random, level: int) -> a.Problem:
    """A date some days from today, which is told as a day before or after others."""
    day_words, named_day_offset = rng.choice(
        (("yesterday", -1), ("today", 0), ("tomorrow", 1))
    )
    for _ in range(level):
        day_step = rng.choice((1, -1))
        day_words = f"the day {'after' if day_step > 0 else 'before'} {day_words}"
        named_day_offset += day_step
    today = a.date_of(rng, 1950, 2050)
    day_distance = rng.randrange(2, 100 + 100 * min(level, 10))
    query, direction = f"was the date {day_distance} days before", -1
    if rng.random() < 0.5:
        query, direction = f"is the date {day_distance} days from", 1
    text_slots = {
        "named": day_words.capitalize(),
        "date": today + timedelta(named_day_offset),
    }
    answer = {"answer": str(today + timedelta(direction * day_distance))}
    return a.problem("nested_days", answer, query=query, **text_slots)


def possible_weekdays(rng: random.Random, level: int) -> a.Problem:
    """The weekdays that it can be some hours from an uncertain time."""
    unit_seconds = 3600 if level < 3 else 60
    part_durations = [
        unit_seconds * rng.randrange(3600 // unit_seconds, 90_000 // unit_seconds)
        for _ in range(level)
    ]
    half_day_text, earliest_start = rng.choice(
        (("before noon", 0), ("at noon or later", a.DAY // 2))
    )
    start_weekday = rng.randrange(7)
    earliest_end = earliest_start + sum(part_durations)
    latest_end = (
        earliest_end + a.DAY // 2 - 1
    )  # the last second of that half of the day
    day_range = range(earliest_end // a.DAY, latest_end // a.DAY + 1)
    answer = {
        "unordered_list": [
            a.WEEKDAYS[(start_weekday + day_number) % 7] for day_number in day_range
        ]
    }
    text_slots = {
        "facts": a.by_turns(part_durations, "sails for", "lies at anchor for")
    }
    text_slots |= {"half": half_day_text, "place": a.places(rng, 1)[0]}
    return a.problem(
        "possible_weekdays", answer, weekday=a.WEEKDAYS[start_weekday], **text_slots
    )


def _full_years(birthday: date, today: date) -> int:
    """Return how old somebody is today."""
    is_before_birthday = (today.month, today.day) < (birthday.month, birthday.day)
    return today.year - birthday.year - is_before_birthday


def age(rng: random.Random, level: int) -> a.Problem:
    """An age from those of others; in a third of the questions a link is missing.

    At level 1, the year may be told of somebody else. From level 2 on, some links lead
    elsewhere, and one of them is as vague as the missing one. The facts are told in any
    order, and nobody is unborn or over a hundred.
    """
    people = a.names(rng, level + 1 + level // 2)
    chain, side_people = people[:level], people[level:]
    birth_date = a.date_of(rng, 1880, 1970)
    birthdays = {chain[0]: birth_date.replace(day=min(birth_date.day, 28))}
    is_answerable = rng.random() < 2 / 3
    vague_person = rng.choice(side_people if is_answerable else chain[1:] or [""])
    facts = [f"{chain[0]} was born on {a.in_words(birthdays[chain[0]], False)}"]
    if level == 1:
        facts = [
            f"The birthday of {chain[0]} is on {birth_date.day} {a.MONTHS[birth_date.month - 1]}"
        ]
        aged_person, told_age = people[not is_answerable], rng.randrange(5, 40)
        facts.append(f"{aged_person} turned {told_age} in {birth_date.year + told_age}")
    for index, name in enumerate(people[1:] if level > 1 else (), start=1):
        peer = chain[index - 1] if index < level else rng.choice([*birthdays])
        year_gap = birthdays[peer].year - birth_date.year
        side_word = rng.choice(("younger", "older"))
        if abs(year_gap) > 25:
            side_word = "older" if year_gap > 0 else "younger"
        years, months = rng.randrange(1, 15), rng.randrange(1, 12)
        sign = 1 if side_word == "younger" else -1
        birthdays[name] = a.plus_months(birthdays[peer], sign * (12 * years + months))
        gap = f"exactly {a.counted(years, 'year')} and {a.counted(months, 'month')} "
        facts.append(
            f"{name} is {'' if name == vague_person else gap}{side_word} than {peer}"
        )
    rng.shuffle(facts)
    birth_years = [birthday.year for birthday in birthdays.values()]
    today = a.date_of(rng, max(birth_years) + 1, min(min(birth_years) + 100, 2025))
    full_years = _full_years(birthdays[chain[-1]], today)
    answer = {"answer": full_years if is_answerable else "unanswerable"}
    text_slots = {"facts": ". ".join(facts), "today": a.in_words(today, False)}
    return a.problem("age", answer, name=chain[-1], **text_slots)


MULTI_OP = (average, at_the_same_pace, next_time, clock_time)
SCHEDULE = (common_times, busy_calendars)
TIMEZONE = (calls, landing, time_in_the_air, widest_gap)
TRICK = (impossible_date, nested_days, possible_weekdays, age)
