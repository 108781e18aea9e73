"""Solves TCP by the columns of a row, as the labels of the benchmark were computed.

Every assignment of tasks to people and every order is tried, each task as soon as possible,
and the earliest end of the whole counts. Times are in units of the row: hours, or days.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from itertools import product
from operator import itemgetter
from typing import NamedTuple

from tests.solvers import Solution


ALL = 10**9  # schedules: none is left out
UNITS = 500  # in which every project ends
RESTS = ("max_consecutive", "break_after", "break_between")


class Agent(NamedTuple):
    """When somebody can work."""

    is_free: list[bool]  # for each unit from the start on
    max_consecutive: int  # units of work in a row before a rest; 0 for no limit
    break_after: int  # units of that rest
    break_between: int  # units off between two tasks


class Project(NamedTuple):
    """The columns of a row; any agent can do any task."""

    start: datetime
    is_hourly: bool
    lengths: dict[str, int]  # by task
    dependencies: list[list[str]]  # pairs of tasks, the earlier one first
    agents: list[Agent]

    def label(self, end: int) -> str:
        """Return the answer where the work ends after so many units."""
        if self.is_hourly:
            return f"{self.start + timedelta(hours=end):%Y-%m-%d %H:%M} GMT"
        return f"{self.start + timedelta(days=end - 1):%Y-%m-%d}"


def read_project(row: dict, without: str = "") -> Project:
    """Return the project in a row's columns, where nobody minds one kind of constraint."""
    is_hourly = bool(row.get("project_start_datetime_gmt"))
    column = "project_start_datetime_gmt" if is_hourly else "project_start_date"
    start = datetime.fromisoformat(row[column])
    all_limits = row.get("agent_constraints_gmt" if is_hourly else "agent_constraints")
    all_absences = row.get("agent_unavailable_dates") or {}
    agents = []
    for name in row["agents"]:
        limits = {
            "absences": all_absences.get(name),
            **((all_limits or {}).get(name) or {}),
        }
        limits[without] = None
        is_free = (
            _free_hours(start.hour, limits) if is_hourly else _free_days(start, limits)
        )
        agents.append(Agent(is_free, *(limits.get(rest) or 0 for rest in RESTS)))
    # The harness fills up columns of other rows' tasks with None.
    lengths = {task: length for task, length in row["tasks"].items() if length}
    dependencies = [] if without == "dependencies" else row.get("dependencies") or []
    return Project(start, is_hourly, lengths, dependencies, agents)


def _free_days(start: datetime, limits: dict) -> list[bool]:
    absences = limits["absences"] or []
    texts = [absences] if isinstance(absences, str) else absences
    days = re.findall(r"\d{4}-\d\d-\d\d", " ".join(texts))
    away = {*map(date.fromisoformat, days)}
    return [start.date() + timedelta(number) not in away for number in range(UNITS)]


def _free_hours(first: int, limits: dict) -> list[bool]:
    """Return whether somebody works in each hour from one of the day on."""
    first_hour, last_hour = limits["working_hours"]
    meal_hour, *_ = limits.get("lunch_break") or [None]
    length = (last_hour - first_hour) % 24 or 24
    works_at = [(hour - first_hour) % 24 < length for hour in range(24)]
    hours = (hour % 24 for hour in range(first, first + UNITS))
    return [works_at[hour] and hour != meal_hour for hour in hours]


def work(agent: Agent, state: tuple, ready: int, left: int) -> tuple:
    """Return (end, streak, rest left, break) of a task that is begun as soon as possible."""
    unit, streak, rest_left, cooldown = state
    has_begun = False
    while left:
        has_begun = has_begun or not cooldown and unit >= ready
        if rest_left or not (has_begun and agent.is_free[unit]):
            streak, rest_left, cooldown = 0, max(0, rest_left - 1), max(0, cooldown - 1)
        else:
            streak, left = streak + 1, left - 1
            if streak == agent.max_consecutive:
                streak, rest_left = 0, agent.break_after
        unit += 1
    return unit, streak, rest_left, agent.break_between


def earliest_end(project: Project, width: int, order: Callable) -> int:
    """Return the earliest end of the schedules that are the best ones task by task.

    `order` ranks a schedule by the ends of its tasks, the last task and when that was
    ready; the best `width` schedules are continued.
    """
    schedules = [({}, ((0, 0, 0, 0),) * len(project.agents))]
    lengths = project.lengths
    needs: dict[str, set] = {task: set() for task in lengths}
    for needed, dependent in project.dependencies:
        if dependent in needs:
            needs[dependent].add(needed)
    for _ in needs:
        candidates = {}
        for (ends, states), task in product(schedules, needs):
            if task in ends or not needs[task] <= ends.keys():
                continue
            ready = max((ends[needed] for needed in needs[task]), default=0)
            for number, agent in enumerate(project.agents):
                state = work(agent, states[number], ready, lengths[task])
                new_ends = ends | {task: state[0]}
                new_states = (*states[:number], state, *states[number + 1 :])
                rank = order(new_ends, task, ready), state[0], task, number
                key = frozenset(new_ends.items()), new_states
                candidates[key] = rank, new_ends, new_states
        best = heapq.nsmallest(width, candidates.values(), key=itemgetter(0))
        schedules = [(ends, states) for _, ends, states in best]
    return min(max(ends.values()) for ends, _ in schedules)


def total(ends: dict, *_: object) -> int:
    """Rank a schedule by the sum of the ends of its tasks."""
    return sum(ends.values())


def solve_row(row: dict, without: str = "") -> Solution | None:
    """Return the answer to a row as of `read_project`; None where it cannot be read."""
    try:
        project = read_project(row, without)
        label = project.label(earliest_end(project, ALL, total))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None
    return Solution((label,), f"the earliest end of all schedules: {label}")
