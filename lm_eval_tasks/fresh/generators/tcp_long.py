"""Projects of days with absences, in the schema of TCP long.

The level adds tasks, people, and kinds of constraint: days away on level 1, holidays from 2
on, rests after days in a row from 3, days off between tasks from 4, and days of the week
from 5.
"""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from . import _tcp as tcp


VERSION = tcp.VERSION
HIGHEST = tcp.HIGHEST
ladder = tcp.ladder
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of TCP long; None where its end may be argued."""
    names, durations, needs = tcp.draw_tasks(rng, knobs["steps"], longest=6)
    people = rng.sample(tcp.NAMES, knobs["people"])
    start = date(2024, 1, 1) + timedelta(days=rng.randrange(365 * 4))
    days = [start + timedelta(days=n) for n in range(4 * sum(durations) + 30)]
    span = max(8, 2 * sum(durations) // len(people))  # in which most of the work falls
    plans = [_draw_plan(rng, level, start, span) for _ in people]
    project = tcp.Project(durations, needs, [plan.person(days) for plan in plans])
    end = tcp.certain_end(project)
    if end is None:
        return None
    told = [list(_tell_plan(rng, plan, start.year)) for plan in plans]
    common = list(tcp.tell_tasks(rng, "day", names, durations, needs))
    common += [_tell_start(rng, start)]
    common += tcp.tell_asides(rng, "day", knobs["distractors"])
    return {
        "dialogue": tcp.dialogue(rng, people, told, common),
        "question": _question(rng, people, names, plans),
        "answer": f"{days[end - 1]}",
        "tasks": dict(zip(names, durations)),
        "dependencies": tcp.dependencies(names, needs),
        "agents": people,
        "project_start_date": f"{start}",
        "agent_constraints": {
            name: tcp.constraints(plan.rests) for name, plan in zip(people, plans)
        },
        "agent_unavailable_dates": {
            name: [f"{day}" for day in days if plan.is_away(day)]
            for name, plan in zip(people, plans)
        },
    }


# -------------------------------------------------------------------------- drawing


class Plan(NamedTuple):
    """When somebody is away, and how they rest."""

    days: list[date]  # single days, sorted
    holiday: tuple[date, date] | None  # first and last day
    weekday: int | None  # never worked; 0: Monday
    rests: dict[str, int]

    def is_away(self, day: date) -> bool:
        """Return whether somebody does not work on a day."""
        first, last = self.holiday or (date.max, date.min)
        return day in self.days or first <= day <= last or day.weekday() == self.weekday

    def person(self, days: list[date]) -> tcp.Person:
        """Return somebody's days, counted from the first one on."""
        calendar = [tcp.PAUSE if self.is_away(day) else tcp.WORK for day in days]
        return tcp.Person(calendar, *self.rests.values())


def _draw_plan(rng: random.Random, level: int, start: date, span: int) -> Plan:
    away = sorted(rng.sample(range(span), rng.randrange(1, 4)))
    days = [start + timedelta(days=n) for n in away]
    holiday = weekday = None
    if level >= 2 and rng.random() < 0.5:
        first = start + timedelta(days=rng.randrange(span))
        holiday = first, first + timedelta(days=rng.randrange(1, 5))
        days = [day for day in days if not holiday[0] <= day <= holiday[1]]
    if level >= 5 and rng.random() < 0.4:
        weekday = rng.randrange(7)
    return Plan(days, holiday, weekday, tcp.draw_rests(rng, level, range(2, 6)))


# -------------------------------------------------------------------------- telling


def _tell_plan(rng: random.Random, plan: Plan, year: int) -> Iterator[str]:
    if plan.days:
        away = tcp.listed([tcp.day(day, year) for day in plan.days])
        yield rng.choice((f"I can't work on {away}.", f"I'm not available on {away}."))
    if plan.holiday:
        first, last = (tcp.day(day, year) for day in plan.holiday)
        yield rng.choice(
            (
                f"I'm on holiday from {first} to {last}, both days included.",
                f"My holiday begins on {first}, and {last} is its last day.",
            )
        )
    if plan.weekday is not None:
        weekday = WEEKDAYS[plan.weekday]
        yield rng.choice(
            (f"I never work on {weekday}s.", f"Every {weekday} is a day off for me.")
        )
    yield from tcp.tell_rests(rng, "day", plan.rests)


def _tell_start(rng: random.Random, start: date) -> str:
    return rng.choice(
        (
            f"The first day on which we can work is {tcp.day(start)}.",
            f"Work can begin on {tcp.day(start)}, and no earlier.",
        )
    )


def _question(
    rng: random.Random, people: list[str], names: list[str], plans: list[Plan]
) -> str:
    """Return the rules that decide the answer, and the question."""
    rules = [
        *tcp.tell_rules(people, names),
        "Work that is cut off by an absence or a rest is resumed by that person as soon as"
        " possible, with nothing lost.",
        "Work is done in full days, and on any day of the week unless somebody says that"
        " they are away on it.",
        "A task that waits for others can begin on the day after the last of them is done.",
    ]
    rules += tcp.tell_pauses(
        "day", [plan.rests for plan in plans], "waiting or absences"
    )
    ask = rng.choice(
        (
            "If all goes well, what is the earliest possible date of the last day of work?",
            "On what date can the last of the tasks be finished at the earliest?",
            "What is the earliest date on which all of the tasks can be done?",
        )
    )
    return " ".join([*rules, ask])
