"""Projects of days with absences, in the schema of TCP long.

The level adds tasks and kinds of constraint: days away on level 1, holidays from 2 on, rests
after days in a row from 3, days off between tasks from 4, and days of the week from 5.
"""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from . import _tcp as tcp
from ._arithmetic import Knobs


VERSION = tcp.VERSION
HIGHEST = 8  # at 9, five rows a second
BOUNDS = tcp.BOUNDS | dict.fromkeys(("days_away", "holidays", "weekdays"), (0, 10))
TEXTS = tcp.TEXTS["long"]


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level.

    Of ten people so many have `days_away`, `holidays` and `weekdays` off.
    """
    own = {"days_away": 10, "holidays": 5 * (level > 1), "weekdays": 4 * (level > 4)}
    return tcp.ladder(level) | own


BENCHMARK = ladder(5) | tcp.BENCHMARK


def row(rng: random.Random, level: int, index: int, knobs: Knobs) -> dict | None:
    """Return a row of TCP long; None where its end may be argued."""
    tasks = tcp.draw_tasks(rng, knobs["steps"], longest=6)
    people = rng.sample(tcp.TEXTS["names"], knobs["people"])
    start = date(2024, 1, 1) + timedelta(days=rng.randrange(365 * 4))
    days = [start + timedelta(days=n) for n in range(4 * sum(tasks.durations) + 30)]
    # Most of the work falls into this span.
    span = max(8, 2 * sum(tasks.durations) // len(people))
    plans = [_draw_plan(rng, knobs, start, span) for _ in people]
    calendars = ([*enumerate(map(plan.kind_of, days))] for plan in plans)
    workers = [tcp.draw_person(rng, knobs, calendar, 6) for calendar in calendars]
    outcome = tcp.settled(tasks._replace(people=workers), index, knobs)
    if outcome is None:
        return None
    end, project = outcome
    free = Plan([], None, None)
    plans = [x if worker.pauses() else free for x, worker in zip(plans, project.people)]
    sentences = [
        [*_tell_plan(rng, plan, start.year), *tcp.tell_rests(rng, "day", worker)]
        for plan, worker in zip(plans, project.people)
    ]
    common = list(tcp.tell_tasks(rng, "day", tasks))
    common.append(rng.choice(TEXTS["start"]).format(day=tcp.day(start)))
    asides = tcp.draw_asides(rng, "long", knobs)
    shown = tcp.columns(rng, "long", people, project, sentences, common, asides)
    return shown | {
        "answer": f"{days[end - 1]}",
        "project_start_date": f"{start}",
        "agent_constraints": {
            name: worker.constraints() for name, worker in zip(people, project.people)
        },
        "agent_unavailable_dates": {
            name: [f"{day}" for day in days if plan.kind_of(day)]
            for name, plan in zip(people, plans)
        },
    }


class Plan(NamedTuple):
    """When somebody is away."""

    days: list[date]  # single days, sorted
    holiday: tuple[date, date] | None  # first and last day
    weekday: int | None  # never worked; 0: Monday

    def kind_of(self, day: date) -> int:
        """Return whether somebody works on a day: WORK (0) or PAUSE."""
        first, last = self.holiday or (date.max, date.min)
        is_away = day in self.days or day.weekday() == self.weekday
        return tcp.PAUSE if is_away or first <= day <= last else tcp.WORK


def _draw_plan(rng: random.Random, knobs: Knobs, start: date, span: int) -> Plan:
    away = sorted(rng.sample(range(span), rng.randrange(1, 4)))
    days, holiday, weekday = [], None, None
    if tcp.is_one_of(rng, knobs["days_away"]):
        days = [start + timedelta(n) for n in away]
    if tcp.is_one_of(rng, knobs["holidays"]):
        first = start + timedelta(days=rng.randrange(span))
        holiday = first, first + timedelta(days=rng.randrange(1, 5))
    if tcp.is_one_of(rng, knobs["weekdays"]):
        edges = [day.weekday() for day in holiday or ()]
        weekday = rng.choice([day for day in range(7) if day not in edges])
    off = Plan([], holiday, weekday).kind_of
    days = [x for x in days if not any(off(x + timedelta(n)) for n in (-1, 0, 1))]
    return Plan(days, holiday, weekday)


def _tell_plan(rng: random.Random, plan: Plan, year: int) -> Iterator[str]:
    if plan.days:
        away = tcp.words.joined([tcp.day(day, year) for day in plan.days])
        yield rng.choice(TEXTS["away"]).format(days=away)
    if plan.holiday:
        first, last = (tcp.day(day, year) for day in plan.holiday)
        yield rng.choice(TEXTS["holiday"]).format(first=first, last=last)
    if plan.weekday is not None:
        weekday = tcp.words.WEEKDAYS[plan.weekday]
        yield rng.choice(TEXTS["weekday"]).format(weekday=weekday)
