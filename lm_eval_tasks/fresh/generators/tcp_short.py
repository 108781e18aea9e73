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
HIGHEST = tcp.HIGHEST
ladder = tcp.ladder

# Minutes ahead of GMT of cities that never change their clocks, by the full hour and not.
FULL_HOURS = {
    "Accra": 0, "Dakar": 0, "Lagos": 60, "Tunis": 60, "Johannesburg": 120,
    "Nairobi": 180, "Riyadh": 180, "Dubai": 240, "Baku": 240, "Karachi": 300,
    "Tashkent": 300, "Dhaka": 360, "Bangkok": 420, "Hanoi": 420, "Singapore": 480,
    "Manila": 480, "Tokyo": 540, "Seoul": 540, "Brisbane": 600, "Buenos Aires": -180,
    "Montevideo": -180, "La Paz": -240, "Caracas": -240, "Lima": -300, "Bogota": -300,
    "Costa Rica": -360, "Phoenix": -420, "Honolulu": -600,
}  # fmt: skip
PART_HOURS = {
    "Tehran": 210, "Kabul": 270, "Mumbai": 330, "Chennai": 330, "Colombo": 330,
    "Kathmandu": 345, "Yangon": 390, "Darwin": 570, "Taiohae": -570,
}  # fmt: skip


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of TCP short; None where its end may be argued."""
    names, durations, needs = tcp.draw_tasks(rng, knobs["steps"], longest=7)
    people = rng.sample(tcp.NAMES, knobs["people"])
    shifts = [draw_shift(rng, level) for _ in people]
    speaker = rng.randrange(len(people))
    start = datetime(2024, 1, 1) + timedelta(hours=rng.randrange(24 * 365 * 4))
    hours = 24 * (sum(durations) + 4)
    project = tcp.Project(
        durations, needs, [shift.person(start.hour, hours) for shift in shifts]
    )
    end = tcp.certain_end(project)
    if end is None:
        return None
    told = [list(_tell_shift(rng, shift)) for shift in shifts]
    told[speaker].append(_tell_start(rng, start, shifts[speaker].ahead))
    common = list(tcp.tell_tasks(rng, "hour", names, durations, needs))
    common += tcp.tell_asides(rng, "hour", knobs["distractors"])
    return {
        "dialogue": tcp.dialogue(rng, people, told, common),
        "question": _question(rng, people, names, shifts),
        "answer": f"{start + timedelta(hours=end):%Y-%m-%d %H:%M} GMT",
        "tasks": dict(zip(names, durations)),
        "dependencies": tcp.dependencies(names, needs),
        "agents": people,
        "project_start_datetime_gmt": f"{start:%Y-%m-%d %H:%M}",
        "agent_constraints_gmt": {
            name: shift.constraints() for name, shift in zip(people, shifts)
        },
    }


# -------------------------------------------------------------------------- drawing


class Shift(NamedTuple):
    """Somebody's day, in full hours GMT, where 0 is midnight and a span may hold it."""

    city: str
    ahead: int  # minutes ahead of GMT
    hours: list[int]
    meal: list[int] | None
    rests: dict[str, int]

    def constraints(self) -> dict:
        """Return the cell of the column `agent_constraints_gmt`."""
        return {
            "working_hours": self.hours,
            "lunch_break": self.meal,
            **tcp.constraints(self.rests),
        }

    def person(self, first: int, hours: int) -> tcp.Person:
        """Return somebody's hours, counted from the first one of the project on."""
        day = [tcp.OFF] * 24
        for kind, span in ((tcp.WORK, self.hours), (tcp.PAUSE, self.meal)):
            if span:
                begins, ends = span
                for hour in range(begins, ends if ends > begins else ends + 24):
                    day[hour % 24] = kind
        calendar = [day[(first + hour) % 24] for hour in range(hours)]
        return tcp.Person(calendar, *self.rests.values())


def draw_shift(rng: random.Random, level: int) -> Shift:
    """Return somebody's day: by day, and at night as well from level 5 on."""
    cities = FULL_HOURS if level < 4 or rng.random() < 0.6 else PART_HOURS
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
    hours = [begins, (begins + length) % 24]
    rests = tcp.draw_rests(rng, level, range(2, 5))
    return Shift(city, cities[city], hours, meal, rests)


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
    yield rng.choice(
        (
            f"I'm in {shift.city}, so my clock shows {zone}, and I work {hours}.",
            f"{shift.city}, where I am, is on {zone}. My working hours are {hours}.",
            f"I work {hours}. That is {zone}, since I live in {shift.city}.",
        )
    )
    if shift.meal:
        meal = _span(shift.meal, shift.ahead)
        yield rng.choice(
            (
                f"I don't work {meal}, because that is when I eat.",
                f"My meal break is {meal}.",
            )
        )
    yield from tcp.tell_rests(rng, "hour", shift.rests)


def _tell_start(rng: random.Random, start: datetime, ahead: int) -> str:
    local = start + timedelta(minutes=ahead)
    day = tcp.day(local)
    return rng.choice(
        (
            f"The project starts on {day} at {local:%H:%M} my time.",
            f"Work can begin on {day} at {local:%H:%M} my time, and no earlier.",
        )
    )


def _question(
    rng: random.Random, people: list[str], names: list[str], shifts: list[Shift]
) -> str:
    """Return the rules that decide the answer, and the question."""
    rules = [
        *tcp.tell_rules(people, names),
        "Work that is cut off by a meal, a rest or the end of somebody's working hours is"
        " resumed by that person as soon as possible, with nothing lost.",
        "Everybody works on all days of the week, always in full hours that begin on the"
        " hour in GMT.",
        "A task that waits for others can begin as soon as they are done: if the last of"
        " them ends at 14:00, it can begin at 14:00.",
    ]
    rules += tcp.tell_pauses(
        "hour",
        [shift.rests for shift in shifts],
        "waiting, meals or the time between two working days",
    )
    ask = rng.choice(
        (
            "At what time, in GMT, can the whole project be finished at the earliest?",
            "What is the earliest time, in GMT, at which all of the tasks can be done?",
            "How early can the last task be completed? Give the date and time in GMT.",
        )
    )
    return " ".join([*rules, ask])
