"""Questions on clocks and calendars: of the types multi_op, schedule, timezone, trick."""

from __future__ import annotations

import random
from calendar import monthrange
from datetime import date, timedelta
from functools import partial
from math import lcm
from typing import NamedTuple

from . import _arithmetic as a, _wording as words


# Divisors of 2,520, so that any of them fall together within seven years.
PERIODS = (5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 35, 36, 40, 42)
TOTALS = 720, 840, 1080, 1260, 1440, 1680, 2160, 2520  # days until many fall together
HALLS = [f" in hall {number}" for number in range(1, 8)]
MOST_DAYS = 7_000  # over which what returns is followed
NUMERIC_FORMS = ("yyyy-mm-dd", "mm/dd/yyyy", "dd-mm-yyyy")
# Minutes ahead of UTC of the zones that are off the full hour.
PART_HOURS = (-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765)


# -------------------------------------------------------------------------- multi_op


def average(rng: random.Random, level: int) -> a.Problem:
    """The mean of durations, in full seconds: what one has more, the next one has less."""
    duration_count = level + 1
    unit_seconds = 60 if level == 1 else 1
    mean_seconds = unit_seconds * rng.randrange(
        1800 // unit_seconds, 14_400 // unit_seconds
    )
    seconds_added_by_each = rng.sample(range(-840, 840, unit_seconds), duration_count)
    # Each takes from the mean what the one before it adds.
    durations = [
        mean_seconds + seconds_added - seconds_taken
        for seconds_added, seconds_taken in zip(
            seconds_added_by_each, [seconds_added_by_each[-1], *seconds_added_by_each]
        )
    ]
    text_slots = {
        "name": a.names(rng, 1)[0],
        "machine": rng.choice(a.TEXTS["machines"]),
    }
    text_slots |= {"facts": "; ".join(map(words.duration, durations))}
    answer = words.hours_minutes_seconds(mean_seconds, "H M S")
    return a.problem("average", answer, count=duration_count, **text_slots)


def at_the_same_pace(rng: random.Random, level: int) -> a.Problem:
    """The time of several jobs, each at the pace of a sample of it."""
    pace_facts, job_texts, total_seconds = [], [], 0
    nouns_and_verbs = rng.sample(a.TEXTS["jobs"], len(a.TEXTS["jobs"]))
    for job_number in range(level):
        noun, verb = nouns_and_verbs[job_number % len(nouns_and_verbs)]
        noun_adjective = ""  # none where each noun comes once
        if level > len(nouns_and_verbs):
            noun_adjective = f"{a.TEXTS['sorts'][job_number // len(nouns_and_verbs)]} "
        sample_size = 1 if level == 1 else rng.randrange(2, 8)
        seconds_per_piece = (
            30 * rng.randrange(2, 40) if level == 1 else rng.randrange(60, 1500)
        )
        job_size = rng.randrange(3, 40)
        sample_text, job_text = [
            f"{verb} {words.counted(piece_count, noun).replace(' ', f' {noun_adjective}')}"
            for piece_count in (sample_size, job_size)
        ]
        sample_seconds = seconds_per_piece * sample_size
        pace_facts.append(f"{words.duration(sample_seconds)} to {sample_text}")
        job_texts.append(job_text)
        total_seconds += seconds_per_piece * job_size
    text_slots = {"facts": "; ".join(pace_facts), "name": a.names(rng, 1)[0]}
    asked_jobs_text = words.joined(job_texts) + ", one job after the other" * (
        level > 1
    )
    answer = words.hours_minutes_seconds(total_seconds, "X Y Z")
    return a.problem("at_the_same_pace", answer, query=asked_jobs_text, **text_slots)


def next_time(rng: random.Random, level: int) -> a.Problem:
    """The next day on which routines that return every few days all meet."""
    routine_count, routines = (level + 1) // 2, a.TEXTS["routines"]
    if routine_count <= len(routines):
        periods = rng.sample(PERIODS, routine_count)
    else:  # so many that their multiple would always be the same
        common_multiple = rng.choice(TOTALS)
        divisors = [factor for factor in range(5, 100) if common_multiple % factor == 0]
        periods = rng.choices(divisors, k=routine_count)
        routines = [routine + hall_text for hall_text in HALLS for routine in routines]
    routines, meeting_period = rng.sample(routines, routine_count), lcm(*periods)
    past_period_count = rng.randrange(
        max(1, min(12 * level, MOST_DAYS // meeting_period))
    )
    date_form = rng.choice(NUMERIC_FORMS)
    strftime_form = (
        date_form.replace("yyyy", "%Y").replace("mm", "%m").replace("dd", "%d")
    )
    first_meeting_day = a.date_of(rng, 1960, 1999)
    last_meeting_day = first_meeting_day + timedelta(past_period_count * meeting_period)
    today = last_meeting_day + timedelta(rng.randrange(meeting_period))
    next_meeting_day = last_meeting_day + timedelta(meeting_period)
    routine_facts = [
        f"{routine} every {period} days" for routine, period in zip(routines, periods)
    ]
    routine_facts[0] = routine_facts[0][0].upper() + routine_facts[0][1:]
    premise_text, query_text = a.TEXTS["falling together"][min(routine_count - 1, 2)]
    return a.problem(
        "next_time",
        {"answer": f"{next_meeting_day:{strftime_form}}"},
        facts=words.joined(routine_facts),
        premise=premise_text,
        query=query_text,
        form=date_form,
        first=f"{first_meeting_day:{strftime_form}}",
        today=f"{today:{strftime_form}}",
    )


def clock_time(rng: random.Random, level: int) -> a.Problem:
    """The clock when heating and cooling in turns is over, or when it has to begin."""
    unit_seconds = 60 if level < 3 else 1
    durations = [
        unit_seconds * rng.randrange(600 // unit_seconds, 36_000 // unit_seconds)
        for _ in range(level)
    ]
    stated_second, write_clock = a.time(rng, level), words.clock_of_a_style(rng)
    stated_verb, query_text, direction = "begins", "When is it over", 1
    if rng.random() >= 0.6:
        stated_verb, direction = "has to be over", -1
        query_text = "When does it have to begin"
    answer = words.day_and_time(stated_second + direction * sum(durations))
    text_slots = {"begins": stated_verb, "clock": write_clock(stated_second)}
    text_slots |= {"facts": words.by_turns(durations, "heating for", "cooling for")}
    return a.problem("clock_time", answer, query=query_text, **text_slots)


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
        most_span_steps = 4 if self.window else 15
        span_starts = rng.sample(range(self.start, self.end, self.raster), count)
        for span_start in sorted(span_starts):
            span_end = min(
                span_start + self.raster * rng.randint(1, most_span_steps), self.end
            )
            is_apart = not busy_spans or busy_spans[-1][1] < span_start
            if is_apart and (
                span_end <= self.window.start or span_start >= self.window.stop
            ):
                busy_spans.append((span_start, span_end))
        return busy_spans

    def free(self, busy: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the spans between busy ones."""
        free_starts = [self.start, *(busy_end for _, busy_end in busy)]
        free_ends = [*(busy_start for busy_start, _ in busy), self.end]
        return [
            (free_start, free_end)
            for free_start, free_end in zip(free_starts, free_ends)
            if free_start < free_end
        ]

    def starts(self, busy: list[tuple[int, int]]) -> list[int]:
        """Return the starts of a meeting that meets none of the busy spans."""
        return [
            meeting_start
            for meeting_start in range(
                self.start, self.end - self.length + 1, self.raster
            )
            if all(
                meeting_start + self.length <= busy_start or busy_end <= meeting_start
                for busy_start, busy_end in busy
            )
        ]

    def problem(
        self, rng: random.Random, facts: str, busy: list[tuple[int, int]]
    ) -> a.Problem | None:
        """Return a question on the starts; None where there are some and should not be."""
        meeting_starts = self.starts(busy)
        if meeting_starts and not self.window:
            return None
        raster_text = "the hour or the half hour"
        if self.raster == 15:
            raster_text = "the hour or 15, 30 or 45 minutes after it"
        edge_word = rng.choice(("earliest", "latest"))
        query_text = f"At how many times can they begin? {a.TEXTS['NUMBERS']}"
        answer_value: int | str = len(meeting_starts)
        answer_form = "<number>"
        if rng.random() < 0.4:
            query_text = a.TEXTS["meeting edge"].format(edge=edge_word)
            answer_value, answer_form = "unanswerable", '"HH:MM"'
            if meeting_starts:
                min_or_max = min if edge_word == "earliest" else max
                answer_value = words.clock(60 * min_or_max(meeting_starts))
        text_slots = {"facts": facts, "length": self.length, "when": raster_text}
        text_slots |= {"query": query_text, "form": answer_form}
        return a.problem("meeting", {"answer": answer_value}, **text_slots)


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
    return words.joined(
        [
            f"from {words.clock(60 * start)} to {words.clock(60 * end)}"
            for start, end in spans
        ]
    )


MOST_TRIES = 100  # until there is no start


def common_times(rng: random.Random, level: int) -> a.Problem | None:
    """How many starts a meeting can have, or the first or last, by when each is free."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    for _ in range(MOST_TRIES):
        busy_of_each = [calendar.busy(rng, 1 + min(level // 2, 4)) for _ in names]
        free_of_each = [calendar.free(busy_of_one) for busy_of_one in busy_of_each]
        if all(free_of_each):
            free_texts = [
                f"{name} is free {_told_spans(free_of_one)}"
                for name, free_of_one in zip(names, free_of_each)
            ]
            if problem := calendar.problem(
                rng, f"{'; '.join(free_texts)}.", sum(busy_of_each, [])
            ):
                return problem
    return None


def busy_calendars(rng: random.Random, level: int) -> a.Problem | None:
    """How many starts a meeting can have, or the first or last, by when each is busy."""
    calendar, names = _calendar(rng, level), a.names(rng, level + 1)
    hours_sentence = (
        f"{words.joined(names)} work from {words.clock(60 * calendar.start)} to"
        f" {words.clock(60 * calendar.end)} and meet within these hours."
    )
    for _ in range(MOST_TRIES):
        busy_texts, fixed_spans = [], []
        for person_index, name in enumerate(names):
            busy_of_one = calendar.busy(rng, 2 + min(level // 2, 4))
            busy_text = f"{name} is not busy at all"
            if busy_of_one:
                busy_text = f"{name} is busy {_told_spans(busy_of_one)}"
            if busy_of_one and level > 1 and person_index % 3 == 1:
                busy_text += ", but can move every appointment"
            else:
                fixed_spans += busy_of_one
            busy_texts.append(busy_text)
        if problem := calendar.problem(
            rng, f"{hours_sentence} {'; '.join(busy_texts)}.", fixed_spans
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
    gap_seconds = abs(here - there)
    return 60 * (
        rng.randrange(45, 200) + min(gap_seconds, words.DAY - gap_seconds) // 72
    )


def _zone_name(seconds: int) -> str:
    return f"UTC{'-' if seconds < 0 else '+'}{words.clock(abs(seconds))}"


def calls(rng: random.Random, level: int) -> a.Problem | None:
    """The clock of the last one in a chain of calls, each at a time of the caller's."""
    names = a.names(rng, level + 1)
    zone_offsets = [_zone(rng, level) for _ in names]
    first_local_time = 60 * rng.randrange(words.DAY // 60)
    call_texts = [
        f"At {words.clock(first_local_time)} on {names[0]}'s clock, {names[0]} calls {names[1]}"
    ]
    utc_call_time = first_local_time - zone_offsets[0]
    for caller_index in range(1, len(names) - 1):
        utc_call_time += 60 * rng.randrange(10, 1430)
        clock_text = words.clock(
            (utc_call_time + zone_offsets[caller_index]) % words.DAY
        )
        caller, callee = names[caller_index : caller_index + 2]
        call_texts.append(
            f"when {caller}'s clock next shows {clock_text}, {caller} calls {callee}"
        )
    zone_texts = [
        f"{name} is at {_zone_name(zone_offset)}"
        for name, zone_offset in zip(names, zone_offsets)
    ]
    return a.problem(
        "calls",
        words.day_and_time(utc_call_time + zone_offsets[-1], 5),
        last=" last" * (level > 1),
        where=words.joined(zone_texts),
        facts="; ".join(call_texts),
        name=names[-1],
    )


def landing(rng: random.Random, level: int) -> a.Problem:
    """The local time of the landing, after flights and stops."""
    origin, destination = a.places(rng, 2)
    origin_offset, destination_offset = _zone(rng, level), _zone(rng, level)
    local_departure_second = 60 * rng.randrange(words.DAY // 60)
    durations = [_flight(rng, origin_offset, destination_offset)]
    for _ in range(level - 1):
        durations += [60 * rng.randrange(35, 600), _flight(rng, 0, 0)]
    utc_landing_time = local_departure_second - origin_offset + sum(durations)
    answer = words.day_and_time(utc_landing_time + destination_offset, 5)
    text_slots = {"facts": words.by_turns(durations, "a flight of", "a stop of")}
    text_slots |= {"here": origin, "from_zone": _zone_name(origin_offset)}
    text_slots |= {"there": destination, "to_zone": _zone_name(destination_offset)}
    text_slots |= {
        "name": a.names(rng, 1)[0],
        "clock": words.clock(local_departure_second),
    }
    return a.problem("landing", answer, **text_slots)


def time_in_the_air(rng: random.Random, level: int) -> a.Problem:
    """The time of flights, by the local dates and times of their ends."""
    cities = a.places(rng, level + 1)
    zone_offsets = [_zone(rng, level) for _ in cities]
    utc_time = 60 * rng.randrange(words.DAY // 60)  # since midnight of the start day
    start_day, flight_texts, seconds_in_the_air = a.date_of(rng, 1990, 2020), [], 0

    def write_city_and_time(city_index: int) -> str:
        """Return a city and the local time and date there at `utc_time`."""
        days_later, second_of_day = divmod(
            utc_time + zone_offsets[city_index], words.DAY
        )
        local_date = start_day + timedelta(days_later)
        time_and_date = (
            f"{words.clock(second_of_day)} on {words.in_words(local_date, False)}"
        )
        return f"{cities[city_index]} at {time_and_date}"

    for origin_index in range(len(cities) - 1):
        departure_text = write_city_and_time(origin_index)
        flight_seconds = _flight(rng, *zone_offsets[origin_index : origin_index + 2])
        utc_time += flight_seconds
        seconds_in_the_air += flight_seconds
        arrival_text = write_city_and_time(origin_index + 1)
        flight_texts.append(f"{departure_text}, arriving in {arrival_text}")
        utc_time += 60 * rng.randrange(40, 50 * 60)
    zone_texts = [
        f"{city} is at {_zone_name(zone_offset)}"
        for city, zone_offset in zip(cities, zone_offsets)
    ]
    text_slots = {
        "where": words.joined(zone_texts),
        "facts": "; from ".join(flight_texts),
    }
    answer = {"days": seconds_in_the_air // words.DAY}
    answer |= words.hours_minutes_seconds(
        seconds_in_the_air % words.DAY, "hours minutes seconds"
    )
    return a.problem("time_in_the_air", answer, name=a.names(rng, 1)[0], **text_slots)


def widest_gap(rng: random.Random, level: int) -> a.Problem | None:
    """How far the zones of two places, or the outermost of more, are apart."""
    city_phrases = [f"those in {city}" for city in a.places(rng, level + 1)]
    write_zone = lambda zone_offset: f"at {_zone_name(zone_offset)}"  # noqa: E731
    wording = "{} are {}", write_zone, words.duration, "behind", "ahead of"
    draw_zone = partial(_zone, rng, level)
    zone_facts, zones_text, direct_zone_facts = a.draw_facts(
        rng, level, city_phrases, draw_zone, wording
    )
    true_gap, direct_facts_gap = (
        max(fact_list)[0] - min(fact_list)[0]
        for fact_list in (zone_facts, direct_zone_facts)
    )
    if level > 2 and true_gap == direct_facts_gap and rng.random() < 0.7:
        return None
    query_text = "greatest time difference between any two of them"
    if level == 1:
        query_text = "time difference between the two"
    return a.problem(
        "widest_gap",
        dict(zip(("hours", "minutes"), divmod(true_gap // 60, 60))),
        facts=zones_text.replace("those", "the clocks", 1),
        query=query_text,
    )


# ----------------------------------------------------------------------------- trick


def _date_or_not(rng: random.Random, exists: bool) -> tuple[str, date | None]:
    """Return how a date is written, and the date: None for one that does not exist."""
    if exists:
        real_date = a.date_of(rng, 1890, 1990)
        if rng.random() < 0.6:  # the end of a month, at times a leap day
            year, month = real_date.year, rng.randrange(1, 13)
            real_date = date(year, month, monthrange(year, month)[1])
        return real_date.isoformat(), real_date
    year, month = rng.randrange(1890, 1991), rng.choice((2, 2, 2, 4, 6, 9, 11))
    year = 1900 if month == 2 and rng.random() < 0.3 else year
    return f"{year}-{month:02}-{monthrange(year, month)[1] + 1}", None


def impossible_date(rng: random.Random, level: int) -> a.Problem:
    """The date of the last letter of a chain; in one of five, the first date is impossible.

    From level 2 on one of two dates does not exist, and other letters hang on the second:
    so only the chain of letters says whether that matters.
    """
    asked_date_exists, longest_step = rng.random() < 0.8, 19 + 60 * min(level, 5)
    date_facts, step_facts, ends_of_chains = [], [], []
    name_iterator = iter(a.names(rng, 2 + level + level // 2))
    for step_count in (level, level // 2) if level > 1 else (1,):
        date_text, letter_date = _date_or_not(
            rng, asked_date_exists if step_count == level else not asked_date_exists
        )
        name = next(name_iterator)
        date_facts.append(f"{name}'s letter is dated {date_text}")
        for _ in range(step_count):
            previous_name, name = name, next(name_iterator)
            day_offset = rng.choice((1, -1)) * rng.randint(2, longest_step)
            distance_text = words.counted(abs(day_offset), "day")
            side_word = "later" if day_offset > 0 else "earlier"
            step_facts.append(
                f"{name}'s is dated {distance_text} {side_word} than {previous_name}'s"
            )
            letter_date = letter_date and letter_date + timedelta(day_offset)
        ends_of_chains.append((name, letter_date))
    if level > 1:
        rng.shuffle(date_facts)
        rng.shuffle(step_facts)
    asked_name, asked_date = ends_of_chains[0]
    return a.problem(
        "impossible_date",
        {"answer": f"{asked_date}" if asked_date else "unanswerable"},
        facts="; ".join(date_facts + step_facts),
        name=asked_name,
    )


def nested_days(rng: random.Random, level: int) -> a.Problem:
    """A date some days from today, which is told as a day before or after others."""
    named_day_text, days_to_named_day = rng.choice(
        (("yesterday", -1), ("today", 0), ("tomorrow", 1))
    )
    for _ in range(level):
        side_word, direction = rng.choice((("after", 1), ("before", -1)))
        named_day_text = f"the day {side_word} {named_day_text}"
        days_to_named_day += direction
    today = a.date_of(rng, 1950, 2050)
    days_to_asked_day = rng.randrange(2, 100 + 100 * min(level, 10))
    query_text = f"is the date {days_to_asked_day} days from"
    if rng.random() >= 0.5:
        query_text = f"was the date {days_to_asked_day} days before"
        days_to_asked_day = -days_to_asked_day
    return a.problem(
        "nested_days",
        {"answer": f"{today + timedelta(days_to_asked_day)}"},
        query=query_text,
        named=named_day_text.capitalize(),
        date=today + timedelta(days_to_named_day),
    )


def possible_weekdays(rng: random.Random, level: int) -> a.Problem:
    """The weekdays that it can be at the end of a journey from an uncertain time on."""
    unit_seconds = 3600 if level < 3 else 60
    leg_seconds = [
        unit_seconds * rng.randrange(3600 // unit_seconds, 90_000 // unit_seconds)
        for _ in range(level)
    ]
    half_day_text, earliest_start = rng.choice(
        (("before noon", 0), ("at noon or later", words.DAY // 2))
    )
    start_weekday = rng.randrange(7)
    earliest_end = earliest_start + sum(leg_seconds)
    latest_end = earliest_end + words.DAY // 2 - 1  # the last second of that half
    end_weekdays = [
        words.WEEKDAYS[(start_weekday + days_later) % 7]
        for days_later in range(earliest_end // words.DAY, latest_end // words.DAY + 1)
    ]
    return a.problem(
        "possible_weekdays",
        {"unordered_list": end_weekdays},
        weekday=words.WEEKDAYS[start_weekday],
        facts=words.by_turns(leg_seconds, "sails for", "lies at anchor for"),
        half=half_day_text,
        place=a.places(rng, 1)[0],
    )


def _full_years(birthday: date, today: date) -> int:
    """Return how old somebody is today."""
    is_before_birthday = (today.month, today.day) < (birthday.month, birthday.day)
    return today.year - birthday.year - is_before_birthday


def age(rng: random.Random, level: int) -> a.Problem:
    """The age of the last in a chain of differences; in a third of them, one is vague.

    At level 1, the year may be told of somebody else. From level 2 on, some links lead
    elsewhere, and one of them is as vague as the missing one. The facts are told in any
    order, and nobody is unborn or over a hundred.
    """
    names = a.names(rng, level + 1 + level // 2)
    chain_names, side_names = names[:level], names[level:]
    birth = a.date_of(rng, 1880, 1970)
    first_birth = birth.replace(day=min(birth.day, 28))  # which every month has
    is_answerable = rng.random() < 2 / 3
    vague_name = rng.choice(side_names if is_answerable else chain_names[1:] or [""])
    birth_by_name = {names[0]: first_birth}
    facts = [f"{names[0]} was born on {words.in_words(first_birth, False)}"]
    if level == 1:
        birthday_text = f"{first_birth.day} {words.MONTHS[first_birth.month - 1]}"
        facts = [f"The birthday of {names[0]} is on {birthday_text}"]
        told_name, told_age = names[not is_answerable], rng.randrange(5, 40)
        facts.append(f"{told_name} turned {told_age} in {first_birth.year + told_age}")
    for index, name in enumerate(names[1:] if level > 1 else (), start=1):
        peer_name = names[index - 1] if index < level else rng.choice([*birth_by_name])
        peer_years_later = birth_by_name[peer_name].year - first_birth.year
        side_word = rng.choice(("younger", "older"))
        if abs(peer_years_later) > 25:
            side_word = "older" if peer_years_later > 0 else "younger"
        years, months = rng.randrange(1, 15), rng.randrange(1, 12)
        months_later = (12 * years + months) * (1 if side_word == "younger" else -1)
        birth_by_name[name] = words.plus_months(birth_by_name[peer_name], months_later)
        gap_text = f"exactly {words.years(years)} and {words.counted(months, 'month')} "
        if name == vague_name:
            gap_text = ""
        facts.append(f"{name} is {gap_text}{side_word} than {peer_name}")
    rng.shuffle(facts)
    birth_years = sorted(birth.year for birth in birth_by_name.values())
    today = a.date_of(rng, birth_years[-1] + 1, min(birth_years[0] + 100, 2025))
    asked_age = _full_years(birth_by_name[chain_names[-1]], today)
    answer = {"answer": asked_age if is_answerable else "unanswerable"}
    text_slots = {"facts": ". ".join(facts), "today": words.in_words(today, False)}
    return a.problem("age", answer, name=chain_names[-1], **text_slots)


MULTI_OP = (average, at_the_same_pace, next_time, clock_time)
SCHEDULE = (common_times, busy_calendars)
TIMEZONE = (calls, landing, time_in_the_air, widest_gap)
TRICK = (impossible_date, nested_days, possible_weekdays, age)
