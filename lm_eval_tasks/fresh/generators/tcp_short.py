"""Projects of hours across time zones, in the schema of TCP short.

The level adds tasks, people, and kinds of constraint: meals from level 2 on, rests after
hours in a row from 3, time off between tasks, and zones off the full hour, from 4, and
shifts over midnight from 5.
"""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from . import _tcp as tcp


VERSION = tcp.VERSION
HIGHEST, BOUNDS = 6, tcp.BOUNDS  # at 7, five rows a second
ladder = tcp.ladder

TEXTS = tcp.TEXTS["short"]


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of TCP short; None where its end may be argued."""
    tasks = tcp.draw_tasks(rng, knobs["steps"], longest=7)
    people = rng.sample(tcp.TEXTS["names"], knobs["people"])
    shifts = [draw_shift(rng, level) for _ in people]
    speaker = rng.randrange(len(people))
    hour = (shifts[speaker].hours[0] + rng.randrange(6)) % 24  # while they work
    start = datetime(2024, 1, 1, hour) + timedelta(days=rng.randrange(365 * 4))
    hours = 8 * sum(tasks.durations) + 96
    workers = [
        tcp.Person(
            shift.calendar(start.hour, hours), *tcp.draw_rests(rng, level, range(2, 5))
        )
        for shift in shifts
    ]
    project = tcp.Project(tasks.durations, tasks.needs, workers)
    is_hard = index % 10 < knobs["misleading"]
    found = tcp.settled(project, is_hard, knobs["binding"])
    if found is None:
        return None
    end, workers = found
    shifts = [
        shift
        if tcp.PAUSE in dict(worker.calendar).values()
        else shift._replace(meal=None)
        for shift, worker in zip(shifts, workers)
    ]
    told = [
        [*_tell_shift(rng, shift), *tcp.tell_rests(rng, "hour", worker)]
        for shift, worker in zip(shifts, workers)
    ]
    told[speaker].append(_tell_start(rng, start, shifts[speaker].ahead))
    common = list(tcp.tell_tasks(rng, "hour", tasks))
    common += tcp.tell_asides(rng, "hour", knobs["distractors"])
    return {
        "dialogue": tcp.dialogue(rng, people, told, common),
        "question": tcp.question(rng, "short", people, len(tasks.names), workers),
        "answer": f"{start + timedelta(hours=end):%Y-%m-%d %H:%M} GMT",
        "tasks": dict(zip(tasks.names, tasks.durations)),
        "dependencies": tasks.pairs(),
        "agents": people,
        "project_start_datetime_gmt": f"{start:%Y-%m-%d %H:%M}",
        "agent_constraints_gmt": {
            name: {
                "working_hours": shift.hours,
                "lunch_break": shift.meal,
                **worker.constraints(),
            }
            for name, shift, worker in zip(people, shifts, workers)
        },
    }


# -------------------------------------------------------------------------- drawing


class Shift(NamedTuple):
    """Somebody's day, in full hours GMT, where 0 is midnight and a span may hold it."""

    city: str
    ahead: int  # minutes ahead of GMT
    hours: list[int]
    meal: list[int] | None

    def calendar(self, first: int, hours: int) -> list[tuple[int, int]]:
        """Return somebody's hours, counted from the first one of the project on."""
        day = [tcp.OFF] * 24
        for kind, span in ((tcp.WORK, self.hours), (tcp.PAUSE, self.meal)):
            if span:
                begins, ends = span
                for hour in range(begins, ends if ends > begins else ends + 24):
                    day[hour % 24] = kind
        found = [(hour, day[(first + hour) % 24]) for hour in range(hours)]
        return [
            (hour, kind)
            for hour, kind in found
            if kind != tcp.OFF or day[(first + hour - 3) % 24] != tcp.OFF
        ]


def draw_shift(rng: random.Random, level: int) -> Shift:
    """Return somebody's day: by day, and at night as well from level 5 on."""
    part = level > 3 and rng.random() >= 0.6
    # Minutes ahead of GMT of cities that never change their clocks.
    cities = TEXTS["part hours" if part else "full hours"]
    city = rng.choice(sorted(cities))
    begins, length = rng.randrange(24), 6 + rng.randrange(4)
    local = (begins * 60 + cities[city]) % 1440
    by_day, over_midnight = 390 <= local <= 630, begins + length > 24
    if not by_day and (level < 5 or local < 1020) or over_midnight and level < 5:
        return draw_shift(rng, level)
    meal = None
    if level >= 2 and rng.random() < 0.6:
        eats = begins + 2 + rng.randrange(length - 4)
        meal = [eats % 24, (eats + 1) % 24]
    return Shift(city, cities[city], [begins, (begins + length) % 24], meal)


# -------------------------------------------------------------------------- telling


def _zone(ahead: int) -> str:
    """Return such as "GMT", "GMT-3" and "GMT+5:30"."""
    hours, minutes = divmod(abs(ahead), 60)
    sign = "-" if ahead < 0 else "+"
    return f"GMT{sign}{hours}{f':{minutes}' if minutes else ''}" if ahead else "GMT"


def _span(span: list[int], ahead: int) -> str:
    """Return two full hours GMT on the clock of somebody's zone."""
    clocks = [(hour * 60 + ahead) % 1440 for hour in span]
    first, last = [f"{clock // 60:02}:{clock % 60:02}" for clock in clocks]
    return f"from {first} to {last} my time"


def _tell_shift(rng: random.Random, shift: Shift) -> Iterator[str]:
    zone, hours = _zone(shift.ahead), _span(shift.hours, shift.ahead)
    told = {"city": shift.city, "zone": zone, "hours": hours}
    yield rng.choice(TEXTS["shift"]).format(**told)
    if shift.meal:
        yield rng.choice(TEXTS["meal"]).format(hours=_span(shift.meal, shift.ahead))


def _tell_start(rng: random.Random, start: datetime, ahead: int) -> str:
    local = start + timedelta(minutes=ahead)
    clock = f"{local:%H:%M}"
    return rng.choice(TEXTS["start"]).format(day=tcp.day(local), clock=clock)
