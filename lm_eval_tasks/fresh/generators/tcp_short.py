"""Projects of hours across time zones, in the schema of TCP short.

The level adds tasks and kinds of constraint: meals from level 2 on, rests after hours in
a row from 3, time off between tasks and zones off the hour from 4, night shifts from 5.
"""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from . import _tcp as tcp


VERSION = tcp.VERSION
HIGHEST = 6  # at 7, six rows a second
BOUNDS = tcp.BOUNDS | {"meals": (0, 10), "part_hours": (0, 10), "nights": (0, 1)}
TEXTS = tcp.TEXTS["short"]


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level.

    Of ten people so many have `meals`, and zones of `part_hours`; some work at night.
    """
    return tcp.ladder(level) | {
        "meals": 6 * (level > 1),
        "part_hours": 4 * (level > 3),
        "nights": int(level > 4),
    }


BENCHMARK = ladder(5) | tcp.BENCHMARK


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a row of TCP short; None where its end may be argued."""
    tasks = tcp.draw_tasks(rng, knobs["steps"], longest=7)
    names = rng.sample(tcp.TEXTS["names"], knobs["people"])
    shifts = [draw_shift(rng, knobs) for _ in names]
    start_teller_index = rng.randrange(len(names))
    # While who tells the start works.
    gmt_start_hour = (shifts[start_teller_index].hours[0] + rng.randrange(6)) % 24
    gmt_start = datetime(2024, 1, 1, gmt_start_hour) + timedelta(rng.randrange(365 * 4))
    calendar_length = 8 * sum(tasks.durations) + 96
    calendars = (shift.calendar(gmt_start_hour, calendar_length) for shift in shifts)
    workers = [tcp.draw_person(rng, knobs, calendar, 5) for calendar in calendars]
    end_and_project = tcp.settled(tasks._replace(people=workers), index, knobs)
    if end_and_project is None:
        return None
    hours_to_end, project = end_and_project
    for person_index, worker in enumerate(project.people):
        if not worker.pauses():
            shifts[person_index] = shifts[person_index]._replace(meal=None)
    own_sentences = [
        [*_tell_shift(rng, shift), *tcp.tell_rests(rng, "hour", worker)]
        for shift, worker in zip(shifts, project.people)
    ]
    local_start = gmt_start + timedelta(minutes=shifts[start_teller_index].ahead)
    start_slots = {"day": tcp.day(local_start), "clock": f"{local_start:%H:%M}"}
    start_sentence = rng.choice(TEXTS["start"]).format(**start_slots)
    own_sentences[start_teller_index].append(start_sentence)
    common_sentences = list(tcp.tell_tasks(rng, "hour", tasks))
    asides = tcp.draw_asides(rng, "short", knobs)
    return tcp.columns(
        rng, "short", names, project, own_sentences, common_sentences, asides
    ) | {
        "answer": f"{gmt_start + timedelta(hours=hours_to_end):%Y-%m-%d %H:%M} GMT",
        "project_start_datetime_gmt": f"{gmt_start:%Y-%m-%d %H:%M}",
        "agent_constraints_gmt": {
            name: {"working_hours": shift.hours, "lunch_break": shift.meal}
            | worker.constraints()
            for name, shift, worker in zip(names, shifts, project.people)
        },
    }


class Shift(NamedTuple):
    """Somebody's day, in full hours GMT, where 0 is midnight and a span may hold it."""

    city: str
    ahead: int  # minutes ahead of GMT
    hours: list[int]
    meal: list[int] | None

    def calendar(self, first: int, hours: int) -> list[tuple[int, int]]:
        """Return somebody's hours (number, kind), from the project's first one on."""
        kinds_by_hour_of_day = [tcp.OFF] * 24
        for span_kind, hour_span in ((tcp.WORK, self.hours), (tcp.PAUSE, self.meal)):
            span_start, span_end = hour_span or (0, 0)
            for hours_into_span in range((span_end - span_start) % 24):
                kinds_by_hour_of_day[(span_start + hours_into_span) % 24] = span_kind
        is_needed_by_hour_of_day = [
            kind != tcp.OFF or kinds_by_hour_of_day[hour_of_day - 3] != tcp.OFF
            for hour_of_day, kind in enumerate(kinds_by_hour_of_day)
        ]
        project_hours = []
        for hour_number in range(hours):
            hour_of_day = (first + hour_number) % 24
            if is_needed_by_hour_of_day[hour_of_day]:
                project_hours.append((hour_number, kinds_by_hour_of_day[hour_of_day]))
        return project_hours


def draw_shift(rng: random.Random, knobs: dict[str, int]) -> Shift:
    """Return somebody's day; where there are `nights`, it may begin in the evening."""
    has_part_hour = tcp.is_one_of(rng, knobs["part_hours"])
    # Cities that never change their clocks.
    minutes_ahead_by_city = TEXTS["part hours" if has_part_hour else "full hours"]
    city = rng.choice(sorted(minutes_ahead_by_city))
    gmt_start_hour, hour_count = rng.randrange(24), 6 + rng.randrange(4)
    local_start_in_minutes = (gmt_start_hour * 60 + minutes_ahead_by_city[city]) % 1440
    starts_in_the_morning = 390 <= local_start_in_minutes <= 630
    starts_in_the_evening = local_start_in_minutes >= 1020
    passes_gmt_midnight = gmt_start_hour + hour_count > 24
    is_allowed = starts_in_the_morning and not passes_gmt_midnight
    if knobs["nights"]:
        is_allowed = starts_in_the_morning or starts_in_the_evening
    if not is_allowed:
        return draw_shift(rng, knobs)
    working_span = [gmt_start_hour, (gmt_start_hour + hour_count) % 24]
    meal_span = None
    if tcp.is_one_of(rng, knobs["meals"]):
        meal_hour = gmt_start_hour + 2 + rng.randrange(hour_count - 4)
        meal_span = [meal_hour % 24, (meal_hour + 1) % 24]
    return Shift(city, minutes_ahead_by_city[city], working_span, meal_span)


def _zone(ahead: int) -> str:
    """Return such as "GMT", "GMT-3" and "GMT+5:30"."""
    hours, minutes = divmod(abs(ahead), 60)
    sign = "-" if ahead < 0 else "+"
    return f"GMT{sign}{hours}{f':{minutes}' if minutes else ''}" if ahead else "GMT"


def _span(span: list[int], ahead: int) -> str:
    """Return two full hours GMT on the clock of somebody's zone."""
    start_clock, end_clock = [
        tcp.words.clock(60 * (gmt_hour * 60 + ahead) % tcp.words.DAY)
        for gmt_hour in span
    ]
    return f"from {start_clock} to {end_clock} my time"


def _tell_shift(rng: random.Random, shift: Shift) -> Iterator[str]:
    """Yield sentences on somebody's city and hours, and on the meal."""
    place_slots = {"city": shift.city, "zone": _zone(shift.ahead)}
    working_hours_text = _span(shift.hours, shift.ahead)
    yield rng.choice(TEXTS["shift"]).format(hours=working_hours_text, **place_slots)
    if shift.meal:
        yield rng.choice(TEXTS["meal"]).format(hours=_span(shift.meal, shift.ahead))
