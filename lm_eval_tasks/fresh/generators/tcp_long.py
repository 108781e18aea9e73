"""Projects of days with absences, in the schema of TCP long.

The level adds tasks and kinds of constraint: days away on level 1, holidays from 2 on, rests
after days in a row from 3, days off between tasks from 4, and days of the week from 5.
"""

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from . import _tcp as tcp


VERSION = tcp.VERSION
HIGHEST = 8  # at 9, five rows a second
BOUNDS = tcp.BOUNDS | dict.fromkeys(("days_away", "holidays", "weekdays"), (0, 10))
TEXTS = tcp.TEXTS["long"]


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level.

    Of ten people so many have `days_away`, `holidays` and `weekdays` off.
    """
    return tcp.ladder(level) | {
        "days_away": 10,
        "holidays": 5 * (level > 1),
        "weekdays": 4 * (level > 4),
    }


BENCHMARK = ladder(5) | tcp.BENCHMARK


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a row of TCP long; None where its end may be argued."""
    tasks = tcp.draw_tasks(rng, knobs["steps"], longest=6)
    names = rng.sample(tcp.TEXTS["names"], knobs["people"])
    start_day = date(2024, 1, 1) + timedelta(days=rng.randrange(365 * 4))
    day_count = 4 * sum(tasks.durations) + 30
    project_days = [start_day + timedelta(day_index) for day_index in range(day_count)]
    absence_horizon = max(8, 2 * sum(tasks.durations) // len(names))  # of most work
    plans = [_draw_plan(rng, knobs, start_day, absence_horizon) for _ in names]
    calendars = ([*enumerate(map(plan.kind_of, project_days))] for plan in plans)
    workers = [tcp.draw_person(rng, knobs, calendar, 6) for calendar in calendars]
    end_and_project = tcp.settled(tasks._replace(people=workers), index, knobs)
    if end_and_project is None:
        return None
    days_to_end, project = end_and_project
    plans = [
        plan if worker.pauses() else Plan([], None, None)
        for plan, worker in zip(plans, project.people)
    ]
    own_sentences = [
        [*_tell_plan(rng, plan, start_day.year), *tcp.tell_rests(rng, "day", worker)]
        for plan, worker in zip(plans, project.people)
    ]
    common_sentences = list(tcp.tell_tasks(rng, "day", tasks))
    common_sentences.append(rng.choice(TEXTS["start"]).format(day=tcp.day(start_day)))
    asides = tcp.draw_asides(rng, "long", knobs)
    return tcp.columns(
        rng, "long", names, project, own_sentences, common_sentences, asides
    ) | {
        "answer": f"{project_days[days_to_end - 1]}",
        "project_start_date": f"{start_day}",
        "agent_constraints": {
            name: worker.constraints() for name, worker in zip(names, project.people)
        },
        "agent_unavailable_dates": {
            name: [f"{day}" for day in project_days if plan.kind_of(day)]
            for name, plan in zip(names, plans)
        },
    }


class Plan(NamedTuple):
    """When somebody is away."""

    days: list[date]  # single days, sorted
    holiday: tuple[date, date] | None  # first and last day
    weekday: int | None  # never worked; 0: Monday

    def kind_of(self, day: date) -> int:
        """Return whether somebody works on a day: WORK (0) or PAUSE."""
        if day in self.days or day.weekday() == self.weekday:
            return tcp.PAUSE
        holiday_start, holiday_end = self.holiday or (date.max, date.min)
        return tcp.PAUSE if holiday_start <= day <= holiday_end else tcp.WORK


def _draw_plan(
    rng: random.Random, knobs: dict[str, int], start: date, span: int
) -> Plan:
    """Return when somebody is away within a span of days from the start."""
    day_off_offsets = sorted(rng.sample(range(span), rng.randrange(1, 4)))
    single_days_off, holiday, weekday_off = [], None, None
    if tcp.is_one_of(rng, knobs["days_away"]):
        single_days_off = [
            start + timedelta(day_off_offset) for day_off_offset in day_off_offsets
        ]
    if tcp.is_one_of(rng, knobs["holidays"]):
        holiday_start = start + timedelta(days=rng.randrange(span))
        holiday = holiday_start, holiday_start + timedelta(days=rng.randrange(1, 5))
    if tcp.is_one_of(rng, knobs["weekdays"]):
        holiday_start_and_end_weekdays = {*map(date.weekday, holiday or ())}
        weekday_off = rng.choice(sorted({*range(7)} - holiday_start_and_end_weekdays))
    plan_without_single_days = Plan([], holiday, weekday_off)
    single_days_off = [
        day_off
        for day_off in single_days_off
        if not any(
            plan_without_single_days.kind_of(day_off + timedelta(days_from_day_off))
            for days_from_day_off in (-1, 0, 1)
        )
    ]
    return Plan(single_days_off, holiday, weekday_off)


def _tell_plan(rng: random.Random, plan: Plan, year: int) -> Iterator[str]:
    """Yield a sentence for each kind of absence in somebody's plan."""
    if plan.days:
        days_text = tcp.words.joined([tcp.day(day, year) for day in plan.days])
        yield rng.choice(TEXTS["away"]).format(days=days_text)
    if plan.holiday:
        holiday_start_text, holiday_end_text = (
            tcp.day(day, year) for day in plan.holiday
        )
        yield rng.choice(TEXTS["holiday"]).format(
            first=holiday_start_text, last=holiday_end_text
        )
    if plan.weekday is not None:
        weekday_name = tcp.words.WEEKDAYS[plan.weekday]
        yield rng.choice(TEXTS["weekday"]).format(weekday=weekday_name)
