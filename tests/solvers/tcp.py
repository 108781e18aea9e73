"""Solves TCP by a search over time: what everybody does in one unit after the other.

`solve_row` reads the columns of a row of the benchmark's schema. It returns every answer
that some reading of the rules gives, where everybody may also wait on purpose; one answer
is a certain one.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from graphlib import TopologicalSorter
from itertools import product
from typing import NamedTuple

from tests.solvers import Solution


DAY = 1440  # minutes


class Agent(NamedTuple):
    """What somebody can do; all times in units of the problem."""

    name: str
    days: str  # for each unit: w(ork), p(ause: a meal, an absence), o(ut of hours)
    most: int = 0  # units of work in a row before a rest; 0 for no limit
    rest: int = 0
    between: int = 0  # units off between two tasks


class Problem(NamedTuple):
    """Tasks to be done by agents, any task by any of them."""

    start: datetime
    minutes: int  # of a unit
    tasks: list[str]
    lengths: list[int]  # of the tasks, in units
    before: list[set[int]]  # for each task, those that it waits for
    agents: list[Agent]


# ------------------------------------------------------------------------- readings


class Reading(NamedTuple):
    rows_end_with_tasks: bool  # a row of units does not go on in the next task
    only_work_time_is_rest: bool  # meals, absences and short waits are none


LOOSE, SAID, STRICT = Reading(True, False), Reading(False, False), Reading(False, True)


class State(NamedTuple):
    """What somebody is in the middle of."""

    task: int | None = None
    row: int = 0  # units worked in a row
    rest: int = 0  # units of rest still due
    between: int = 0  # units before another task may begin
    waited: int = 0  # units not worked though they could be, running


def after_work(
    agent: Agent, reading: Reading, state: State, task: int, is_last: bool
) -> State:
    """Return the state after a unit of work on a task, its last one or not."""
    begins_row = reading.rows_end_with_tasks and state.task is None
    row, rest = 1 if begins_row else state.row + 1, 0
    if row == agent.most:
        row, rest = 0, agent.rest
    if not is_last:
        return State(task, row, rest)
    if reading.rows_end_with_tasks:
        row, rest = 0, 0
    return State(None, row, rest, agent.between)


def after_pause(agent: Agent, reading: Reading, state: State, kind: str) -> State:
    """Return the state after a unit without work."""
    task, row, rest, between, waited = state
    if not reading.only_work_time_is_rest:
        return State(task, 0, max(0, rest - 1), max(0, between - 1))
    if kind == "o":
        return State(task, 0, 0, between)
    if kind == "p":
        return state
    waited = min(waited + 1, agent.rest)
    row = 0 if waited >= agent.rest else row
    if rest:
        return State(task, row, rest - 1, between, waited)
    return State(task, row, 0, max(0, between - 1), waited)


# --------------------------------------------------------------------------- search


Unit = tuple  # for each of the agents, the task they work on, or None


class Search:
    """Whether a problem can be over by a certain unit."""

    def __init__(self, problem: Problem, reading: Reading):
        self.problem, self.reading = problem, reading
        self.horizon = len(problem.agents[0].days)
        self.alone: dict[tuple[int, int, int], int] = {}
        self.order = list(
            TopologicalSorter(dict(enumerate(problem.before))).static_order()
        )

    def earliest(self, least: int = 0) -> list[Unit] | None:
        """Return a plan with the earliest end; None where the calendar is too short.

        `least` is known to be a lower bound. A first plan is made better and better until
        no better one is left; what failed to end in time need not be tried again for less.
        """
        left = tuple(self.problem.lengths)
        idle = (State(),) * len(self.problem.agents)
        least = max(least, self.bound(0, left, idle))
        self.end, self.failed, best = self.horizon, set(), None
        while self.end >= least:
            plan = self.plan(0, left, idle)
            if plan is None:
                break
            best, self.end = plan, len(plan) - 1
        return best

    def plan(
        self, now: int, left: tuple[int, ...], states: tuple[State, ...]
    ) -> list[Unit] | None:
        """Return who works on what from `now` to an end by `self.end`; None for no way."""
        forced = []  # units in which nobody has a choice
        while any(left):
            if now == self.end:
                return None
            options = [
                self.options(who, now, left, state) for who, state in enumerate(states)
            ]
            if any(len(choices) > 1 for choices in options):
                break
            forced.append(tuple(choices[0] for choices in options))
            left, states = self.step(now, left, states, forced[-1])
            now += 1
        else:
            return forced
        key = now, left, states
        if key not in self.failed and self.bound(now, left, states) <= self.end:
            for tasks in product(*options):
                busy = [task for task in tasks if task is not None]
                if len(busy) == len(set(busy)):
                    rest = self.plan(now + 1, *self.step(now, left, states, tasks))
                    if rest is not None:
                        return [*forced, tasks, *rest]
        self.failed.add(key)
        return None

    def options(
        self, who: int, now: int, left: tuple[int, ...], state: State
    ) -> list[int | None]:
        """Return the tasks that somebody can work on now; None for none of them.

        Who is at a task may pause on purpose where that saves a rest of several units; a
        rest of one unit is no longer than such a pause.
        """
        agent = self.problem.agents[who]
        if agent.days[now] != "w" or state.rest:
            return [None]
        if state.task is not None:
            return [state.task, None] if agent.rest > 1 else [state.task]
        if state.between:
            return [None]
        ready = [
            task
            for task, others in enumerate(self.problem.before)
            if left[task] == self.problem.lengths[task]
            and not any(left[other] for other in others)
        ]
        return [*ready, None]

    def step(self, now, left, states, tasks) -> tuple[tuple[int, ...], tuple]:
        """Return what is left and the states after a unit, in which `tasks` are done."""
        remaining, after = list(left), []
        for agent, state, task in zip(self.problem.agents, states, tasks):
            if task is None:
                after.append(after_pause(agent, self.reading, state, agent.days[now]))
            else:
                remaining[task] -= 1
                is_last = not remaining[task]
                after.append(after_work(agent, self.reading, state, task, is_last))
        return tuple(remaining), tuple(after)

    # Lower bounds: what each task needs if its people were free for it alone.

    def bound(self, now: int, left: tuple[int, ...], states: tuple[State, ...]) -> int:
        """Return an end that nothing can undercut."""
        free, ends = [now] * len(states), {}
        for who, state in enumerate(states):
            if state.task is not None:
                free[who] = self.end_alone(who, now, left[state.task])
                ends[state.task] = free[who]
        for task in self.order:
            if left[task] and task not in ends:
                ready = max(
                    (ends.get(x, now) for x in self.problem.before[task]), default=now
                )
                ends[task] = min(
                    self.end_alone(who, max(ready, free[who]), left[task])
                    for who in range(len(states))
                )
        return max(ends.values(), default=now)

    def end_alone(self, who: int, now: int, units: int) -> int:
        """Return when somebody has done `units` from `now` on, rested and undisturbed.

        All ways to work and to pause are tried; a pause of one unit ends a row.
        """
        key = who, now, units
        if key not in self.alone:
            agent = self.problem.agents[who]
            ways = {(units, 0, False)}  # units left, units in a row, whether to rest
            while now < self.horizon and all(left for left, _, _ in ways):
                paused = {(left, 0, False) for left, _, _ in ways}
                if agent.days[now] == "w":
                    paused |= {
                        (left - 1, row + 1, row + 1 == agent.most)
                        for left, row, rests in ways
                        if not rests
                    }
                ways, now = paused, now + 1
            is_done = any(not left for left, _, _ in ways)
            self.alone[key] = now if is_done else self.horizon + 1
        return self.alone[key]


# -------------------------------------------------------------------------- answers


def answer(problem: Problem) -> Solution:
    """Return the answers of all readings, in the form of the benchmark's labels.

    The reckoning is a plan by the reading SAID. What STRICT allows SAID allows, and what
    that allows LOOSE allows: so each search knows that it cannot undercut the one before.
    """
    plans = []
    for reading in (LOOSE, SAID, STRICT):
        least = len(plans[-1]) if plans else 0
        plan = Search(problem, reading).earliest(least)
        if plan is None:
            break
        plans.append(plan)
    found = dict.fromkeys(label(problem, len(plan)) for plan in plans)
    return Solution(tuple(found), _told(problem, plans[:2][-1]) if plans else "")


def label(problem: Problem, end: int) -> str:
    """Return the answer where the work ends after so many units."""
    is_long = problem.minutes == DAY
    moment = problem.start + timedelta(minutes=problem.minutes) * (end - is_long)
    return f"{moment:%Y-%m-%d}" if is_long else f"{moment:%Y-%m-%d %H:%M} GMT"


def _told(problem: Problem, plan: list[Unit]) -> str:
    """Return a plan in one line, such as "Ana: outline until 2025-06-05; …"."""
    last = {
        task: (unit + 1, who)
        for unit, tasks in enumerate(plan)
        for who, task in enumerate(tasks)
        if task is not None
    }
    return "; ".join(
        f"{problem.agents[who].name}: {problem.tasks[task]} until {label(problem, end)}"
        for task, (end, who) in sorted(last.items(), key=lambda item: item[1])
    )


# ----------------------------------------------------------------------------- rows

BREAKS = ("max_consecutive", "break_after", "break_between")


def _enough(work: int, minutes: int) -> int:
    """Return how many units surely hold all the work."""
    return (work + 4) * DAY // minutes if minutes < DAY else 5 * work + 60


def _before(tasks: list[str], pairs: list) -> list[set[int]]:
    """Return for each task the numbers of those that come before it."""
    number = {task: n for n, task in enumerate(tasks)}
    return [{number[x] for x, y in pairs if y == task} for task in tasks]


def solve_row(row: dict) -> Solution | None:
    """Return the possible answers to a row of the benchmark, by its columns.

    None where a column is missing or cannot be read, such as a task of a quarter hour.
    """
    try:
        problem = read_row(row)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return answer(problem)


def read_row(row: dict) -> Problem:
    """Return the problem in a row's columns.

    Units are hours or days from the start on; half an hour, where a length or a break
    is so fine. Raises KeyError, TypeError, ValueError or AttributeError for other columns.
    """
    is_short = bool(row.get("project_start_datetime_gmt"))
    start = datetime.fromisoformat(
        row["project_start_datetime_gmt" if is_short else "project_start_date"]
    )
    column = "agent_constraints_gmt" if is_short else "agent_constraints"
    rules = {name: (row.get(column) or {}).get(name) or {} for name in row["agents"]}
    absences = row.get("agent_unavailable_dates") or {}
    tasks = {name: units for name, units in row["tasks"].items() if units is not None}
    parts = _parts(tasks, rules, (1, 2) if is_short else (1,))
    lengths = [int(units * parts) for units in tasks.values()]
    minutes = (60 if is_short else DAY) // parts
    units = _enough(sum(lengths), minutes)
    moments = [start + timedelta(minutes=minutes) * n for n in range(units)]
    agents = [
        _row_agent(name, rule, _dates(absences.get(name) or []), moments, parts)
        for name, rule in rules.items()
    ]
    before = _before(list(tasks), row.get("dependencies") or [])
    return Problem(start, minutes, list(tasks), lengths, before, agents)


def _parts(tasks: dict, rules: dict, grains: tuple[int, ...]) -> int:
    """Return into how many parts to divide an hour or a day; ValueError for no way."""
    counts = [rule.get(key) or 0 for rule in rules.values() for key in BREAKS]
    for parts in grains:
        if all(float(x * parts).is_integer() for x in (*tasks.values(), *counts)):
            return parts
    raise ValueError("a length or a break is too fine")


def _row_agent(
    name: str, rule: dict, away: set[date], moments: list[datetime], parts: int
) -> Agent:
    """Return an agent of a row, whose units are so many parts of an hour or a day."""
    minutes = (moments[1] - moments[0]) // timedelta(minutes=1)
    days = "".join(_kind(moment, minutes, rule, away) for moment in moments)
    return Agent(name, days, *(int((rule.get(key) or 0) * parts) for key in BREAKS))


def _kind(moment: datetime, minutes: int, rule: dict, away: set[date]) -> str:
    """Return whether a unit can be worked: it lies in the hours, and in no break."""
    if moment.date() in away:
        return "p"
    if minutes >= DAY:
        return "w"
    first = moment.hour * 60 + moment.minute
    ends = (first, first + minutes - 1)
    hours, meal = rule.get("working_hours"), rule.get("lunch_break")
    if hours and not all(_holds(hours, minute % DAY) for minute in ends):
        return "o"
    return "p" if meal and any(_holds(meal, minute % DAY) for minute in ends) else "w"


def _holds(span: list, minute: int) -> bool:
    """Return whether a span of hours, which may hold midnight, has a minute."""
    first, last = (int(hour * 60) for hour in span)
    return (minute - first) % DAY < ((last - first) % DAY or DAY)


def _dates(said: list | str) -> set[date]:
    """Return the dates of a list of dates, or of a text with dates and ranges of them."""
    text = said if isinstance(said, str) else ", ".join(said)
    days = set()
    for first, last in re.findall(
        r"(\d{4}-\d\d-\d\d)(?: (?:to|until|-) (\d{4}-\d\d-\d\d))?", text
    ):
        day, end = date.fromisoformat(first), date.fromisoformat(last or first)
        days |= {day + timedelta(days=n) for n in range((end - day).days + 1)}
    return days
