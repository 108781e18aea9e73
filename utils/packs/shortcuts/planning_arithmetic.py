"""Shortcuts of planning, which read the rows' columns, and of arithmetic."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple


WIDTH = 30  # schedules that the search for the end without a constraint keeps


# ------------------------------------------------------------------------- planning


class Agent(NamedTuple):
    """Units of work in a row, of rest, between tasks, and the units that are free."""

    most: int
    rest: int
    between: int
    free: list[bool]

    def work(self, state: tuple, ready: int, length: int) -> tuple | None:
        """Return (end, row, rest, break) of a task that is begun as soon as possible."""
        first, row, rest, between = state
        left = length
        for unit in range(first, len(self.free)):
            begun = left < length or not between and unit >= ready
            if not (self.free[unit] and begun) or rest:
                row, rest, between = 0, max(0, rest - 1), max(0, between - 1)
                continue
            row, left = row + 1, left - 1
            if row == self.most:
                row, rest = 0, self.rest
            if not left:
                return unit + 1, row, rest, self.between
        return None


class Project:
    """A row of planning, maybe without one kind of constraint."""

    def __init__(self, row: dict, without: str = ""):
        self.hourly = "project_start_datetime_gmt" in row
        begins = row[
            "project_start_datetime_gmt" if self.hourly else "project_start_date"
        ]
        self.start, self.unit = datetime.fromisoformat(begins), timedelta(hours=1)
        self.unit *= 1 if self.hourly else 24
        self.lengths = {x: n for x, n in row["tasks"].items() if n}
        self.needs = {x: set() for x in self.lengths}
        for before, after in row["dependencies"]:
            self.needs[after].add(before)
        self.agents = [self._agent(row, name, without) for name in row["agents"]]

    def _agent(self, row: dict, name: str, without: str) -> Agent:
        told = row["agent_constraints_gmt" if self.hourly else "agent_constraints"]
        told = {x: y or 0 for x, y in told[name].items() if x not in without.split()}
        away = (row.get("agent_unavailable_dates") or {}).get(name) or []
        away = {} if "absences" in without else {*away}
        begins, ends = told.get("working_hours") or (0, 24)
        meal = (told.get("lunch_break") or [None])[0]
        units = range(24 * (sum(self.lengths.values()) + 4) if self.hourly else 200)
        moments = [self.start + self.unit * n for n in units]
        free = [
            (x.hour - begins) % 24 < ((ends - begins) % 24 or 24)
            and x.hour != meal
            and f"{x:%Y-%m-%d}" not in away
            for x in moments
        ]
        rests = ("max_consecutive", "break_after", "break_between")
        return Agent(*(told.get(x, 0) for x in rests), free)

    def steps(self, ends: dict, states: tuple) -> list[tuple]:
        """Return each next step: (end, ready, task, agent, state)."""
        found = []
        for task in self.lengths.keys() - ends.keys():
            if self.needs[task] <= ends.keys():
                ready = max((ends[x] for x in self.needs[task]), default=0)
                for who, agent in enumerate(self.agents):
                    if state := agent.work(states[who], ready, self.lengths[task]):
                        found.append((state[0], ready, task, who, state))
        return found

    def end(self, width: int, key: Callable) -> int | None:
        """Return the end of the best of the schedules that are built step by step."""
        kept = [({}, ((0, 0, 0, 0),) * len(self.agents))]
        for _ in self.lengths:
            grown = {}
            for ends, states in kept:
                for end, ready, task, who, state in self.steps(ends, states):
                    after = ends | {task: end}
                    then = (*states[:who], state, *states[who + 1 :])
                    rank = (key(self, after, task, ready), end, task, who)
                    name = (frozenset(after.items()), then)
                    grown.setdefault(name, (rank, after, then))
            best = heapq.nsmallest(width, grown.values(), key=lambda x: x[0])
            kept = [x[1:] for x in best]
        return min((max(ends.values()) for ends, _ in kept), default=None)

    def tail(self, task: str) -> int:
        """Return the units of the longest chain that a task begins."""
        after = [self.tail(x) for x in self.needs if task in self.needs[x]]
        return self.lengths[task] + max(after, default=0)

    def response(self, end: int | None) -> str | None:
        """Return the answer that an end gives."""
        if end is None:
            return None
        moment = self.start + self.unit * (end - (not self.hourly))
        said = f"{moment:%Y-%m-%d %H:%M} GMT" if self.hourly else f"{moment:%Y-%m-%d}"
        return f"\\boxed{{{said}}}"


# What is done next is what has the least of these: (project, ends, task, ready) -> it.
RANKS: list[Callable[[Project, str], int]] = [
    lambda project, task: [*project.lengths].index(task),
    lambda project, task: project.lengths[task],
    lambda project, task: project.tail(task),
    lambda project, task: len(project.needs[task]),
    lambda project, task: sum(task in x for x in project.needs.values()),
]
ORDERS: list[Callable[[Project, dict, str, int], object]] = [
    lambda project, ends, task, ready: ready,
    *(lambda one, _, task, __, rank=rank: rank(one, task) for rank in RANKS),
    *(lambda one, _, task, __, rank=rank: -rank(one, task) for rank in RANKS),
]


def greedy(prompts: list[str], rows: list[dict]) -> list[str | None]:
    """Return the earliest end of eleven orders, each task by whoever ends it first."""
    projects = [Project(row) for row in rows]
    ends = [[one.end(1, order) for order in ORDERS] for one in projects]
    best = [min(filter(None, each), default=None) for each in ends]
    return [one.response(end) for one, end in zip(projects, best)]


def ignoring(prompts: list[str], rows: list[dict], *, without: str) -> list[str | None]:
    """Return the end where nobody minds a kind of constraint that somebody has."""
    return [_without(Project(row), Project(row, without)) for row in rows]


def _without(whole: Project, part: Project) -> str | None:
    if part.agents == whole.agents:
        return None
    return part.response(part.end(WIDTH, lambda _, ends, *__: sum(ends.values())))


# ----------------------------------------------------------------------- arithmetic


def at_once(prompts: list[str], rows: list[dict]) -> list[str | None]:
    """Return what follows of guests, cities and zones that are told by no other."""
    return [_at_once(row["question"].split("JSON =")[0]) for row in rows]


def _at_once(question: str) -> str | None:
    edge = min if re.search("(arrived|founded) first", question) else max
    found: list[tuple] = []
    if "at an inn" in question:
        clock = r"[:;] ([\w ]+) at (\d+):(\d\d(?::\d\d)?)( [AP]M)?"
        for name, hour, rest, half in re.findall(clock, question):
            hours = int(hour) % (12 if half else 24) + 12 * (half == " PM")
            found.append(((hours, rest), name))
    for name, year, era in re.findall(r"(\w+) was founded in (\d+) (AD|BC)", question):
        found.append((int(year) * (1 if era == "AD" else -1), name))
    chosen = [name for value, name in found if value == edge(found)[0]]
    if "at an inn" in question:
        return json.dumps({"unordered_list": chosen})
    if found:
        return json.dumps({"answer": chosen[0] if len(chosen) == 1 else "equal"})
    if "a chain of hotels" in question:
        zones = re.findall(r" at UTC([+-]\d\d):(\d\d)", question)
        minutes = [int(x) * 60 + int(x[0] + y) for x, y in zones]
        gap = max(minutes) - min(minutes)
        return json.dumps({"hours": gap // 60, "minutes": gap % 60})
    return None


# A vague link to an age; a ticket of the 29th or later.
CUES = r" is (younger|older) than .* full years old|^The ticket of .* is dated [-0-9]{8}(29|3.)"


def by_cues(prompts: list[str], rows: list[dict]) -> list[str | None]:
    """Return "unanswerable" for questions that look so."""
    found = [re.search(CUES, row["question"]) for row in rows]
    return [json.dumps({"answer": "unanswerable"}) if x else None for x in found]


PLANNING = {
    "best of 11 greedy orders": greedy,
    "without rests": partial(ignoring, without="max_consecutive"),
    "without breaks": partial(ignoring, without="break_between"),
}
SHORTCUTS = {
    "fresh_tcp_short": PLANNING
    | {"without meals": partial(ignoring, without="lunch_break")},
    "fresh_tcp_long": PLANNING
    | {"without absences": partial(ignoring, without="absences")},
    "fresh_tot_arithmetic": {
        "only what is told by no other fact": at_once,
        "give-away cues": by_cues,
    },
}
