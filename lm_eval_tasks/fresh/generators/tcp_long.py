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
HIGHEST, BOUNDS = 8, tcp.BOUNDS  # at 9, six rows a second
ladder = tcp.ladder
TEXTS = tcp.TEXTS["long"]


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of TCP long; None where its end may be argued."""
    tasks = tcp.draw_tasks(rng, knobs["steps"], longest=6)
    people = rng.sample(tcp.TEXTS["names"], knobs["people"])
    start = date(2024, 1, 1) + timedelta(days=rng.randrange(365 * 4))
    days = [start + timedelta(days=n) for n in range(4 * sum(tasks.durations) + 30)]
    span = max(
        8, 2 * sum(tasks.durations) // len(people)
    )  # in which most of the work falls
    plans = [_draw_plan(rng, level, start, span) for _ in people]
    workers = [
        tcp.Person(
            [
                (n, tcp.PAUSE if plan.is_away(day) else tcp.WORK)
                for n, day in enumerate(days)
            ],
            *tcp.draw_rests(rng, level, range(2, 6)),
        )
        for plan in plans
    ]
    project = tcp.Project(tasks.durations, tasks.needs, workers)
    is_hard = index % 10 < knobs["misleading"]
    found = tcp.settled(project, is_hard, knobs["binding"])
    if found is None:
        return None
    end, workers = found
    plans = [
        plan if tcp.PAUSE in dict(worker.calendar).values() else Plan([], None, None)
        for plan, worker in zip(plans, workers)
    ]
    told = [
        [*_tell_plan(rng, plan, start.year), *tcp.tell_rests(rng, "day", worker)]
        for plan, worker in zip(plans, workers)
    ]
    common = list(tcp.tell_tasks(rng, "day", tasks))
    common.append(rng.choice(TEXTS["start"]).format(day=tcp.day(start)))
    common += tcp.tell_asides(rng, "day", knobs["distractors"])
    return {
        "dialogue": tcp.dialogue(rng, people, told, common),
        "question": tcp.question(rng, "long", people, len(tasks.names), workers),
        "answer": f"{days[end - 1]}",
        "tasks": dict(zip(tasks.names, tasks.durations)),
        "dependencies": tasks.pairs(),
        "agents": people,
        "project_start_date": f"{start}",
        "agent_constraints": {
            name: worker.constraints() for name, worker in zip(people, workers)
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

    def is_away(self, day: date) -> bool:
        """Return whether somebody does not work on a day."""
        first, last = self.holiday or (date.max, date.min)
        return day in self.days or first <= day <= last or day.weekday() == self.weekday


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
    return Plan(days, holiday, weekday)


# -------------------------------------------------------------------------- telling


def _tell_plan(rng: random.Random, plan: Plan, year: int) -> Iterator[str]:
    if plan.days:
        away = tcp.words.joined([tcp.day(day, year) for day in plan.days])
        yield rng.choice(TEXTS["away"]).format(days=away)
    if plan.holiday:
        first, last = (tcp.day(day, year) for day in plan.holiday)
        yield rng.choice(TEXTS["holiday"]).format(first=first, last=last)
    if plan.weekday is not None:
        yield rng.choice(TEXTS["weekday"]).format(
            weekday=tcp.words.WEEKDAYS[plan.weekday]
        )
