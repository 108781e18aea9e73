"""Shortcuts of planning, which read the rows' columns, and of arithmetic."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import product
from typing import NamedTuple


# Of rows of hours, and of those of days: their start, and what people ask for.
COLUMNS = {
    True: ("project_start_datetime_gmt", "agent_constraints_gmt"),
    False: ("project_start_date", "agent_constraints"),
}
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
        self.unit = timedelta(hours=1 if self.hourly else 24)
        begins, limits = COLUMNS[self.hourly]
        self.start = datetime.fromisoformat(row[begins])
        self.lengths = {x: n for x, n in row["tasks"].items() if n}
        self.needs = {x: set() for x in self.lengths}
        for before, after in row["dependencies"]:
            self.needs[after].add(before)
        away = "absences" not in without and row.get("agent_unavailable_dates") or {}
        self.agents = [
            self._agent({**row[limits][name], without: 0}, away.get(name) or ())
            for name in row["agents"]
        ]

    def _agent(self, told: dict, away: Collection[str]) -> Agent:
        begins, ends = told.get("working_hours") or (0, 24)
        meal, *_ = told.get("lunch_break") or [None]
        units = 24 * (sum(self.lengths.values()) + 4) if self.hourly else 200
        moments = [self.start + self.unit * n for n in range(units)]
        free = [
            (x.hour - begins) % 24 < ((ends - begins) % 24 or 24)
            and x.hour != meal
            and f"{x:%Y-%m-%d}" not in away
            for x in moments
        ]
        rests = ("max_consecutive", "break_after", "break_between")
        return Agent(*(told.get(x) or 0 for x in rests), free)

    def steps(self, ends: dict, states: tuple) -> Iterator[tuple]:
        """Yield each next step: task, agent, when it can begin, and the state after it."""
        for task in self.lengths.keys() - ends.keys():
            if self.needs[task] <= ends.keys():
                ready = max((ends[x] for x in self.needs[task]), default=0)
                for who, agent in enumerate(self.agents):
                    if state := agent.work(states[who], ready, self.lengths[task]):
                        yield task, who, ready, state

    def end(self, width: int, key: Callable) -> int | None:
        """Return the end of the best of the schedules that are built step by step."""
        kept = [({}, ((0, 0, 0, 0),) * len(self.agents))]
        for _ in self.lengths:
            grown = {}
            for ends, states in kept:
                for task, who, ready, state in self.steps(ends, states):
                    after = ends | {task: state[0]}
                    then = (*states[:who], state, *states[who + 1 :])
                    rank = (key(after, task, ready), state[0], task, who)
                    name = (frozenset(after.items()), then)
                    grown.setdefault(name, (rank, after, then))
            best = heapq.nsmallest(width, grown.values(), key=lambda x: x[0])
            kept = [x[1:] for x in best]
        return min((max(ends.values()) for ends, _ in kept), default=None)

    def orders(self) -> list[Callable]:
        """Return what is least of the task that is done next, by simple orders."""
        ranks = [
            [*self.lengths].index,
            self.lengths.get,
            self.tail,
            lambda task: len(self.needs[task]),
            lambda task: sum(task in x for x in self.needs.values()),
        ]
        signed = product(ranks, (1, -1))
        by_rank = [lambda _, x, __, f=f, sign=sign: sign * f(x) for f, sign in signed]
        return [lambda _, __, ready: ready, *by_rank]

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


def greedy(row: dict) -> str | None:
    """Return the earliest end of eleven orders, each task by whoever ends it first."""
    project = Project(row)
    ends = filter(None, (project.end(1, order) for order in project.orders()))
    return project.response(min(ends, default=None))


def ignoring(row: dict, *, without: str) -> str | None:
    """Return the end where nobody minds a kind of constraint that somebody has."""
    project = Project(row, without)
    if project.agents == Project(row).agents:
        return None
    return project.response(project.end(WIDTH, lambda ends, *_: sum(ends.values())))


# ----------------------------------------------------------------------- arithmetic


def at_once(row: dict) -> str | None:
    """Return what follows of guests, cities and zones that are told by no other."""
    question = row["question"].split("JSON =")[0]
    if "a chain of hotels" in question:
        zones = re.findall(r" at UTC([+-]\d\d):(\d\d)", question)
        minutes = [int(x) * 60 + int(x[0] + y) for x, y in zones]
        gap = max(minutes) - min(minutes)
        return json.dumps({"hours": gap // 60, "minutes": gap % 60})
    guests = re.findall(GUEST, question) if "at an inn" in question else []
    hours = [int(x[1]) % (12 if x[3] else 24) + 12 * (x[3] == " PM") for x in guests]
    cities = re.findall(r"(\w+) was founded in (\d+) (AD|BC)", question)
    years = [int(year) * (1 if era == "AD" else -1) for _, year, era in cities]
    found = [((hour, x[2]), x[0]) for hour, x in zip(hours, guests)]
    found += [(year, x[0]) for year, x in zip(years, cities)]
    if not found:
        return None
    edge = min if re.search("(arrived|founded) first", question) else max
    chosen = [name for value, name in found if value == edge(found)[0]]
    if guests:
        return json.dumps({"unordered_list": chosen})
    return json.dumps({"answer": chosen[0] if len(chosen) == 1 else "equal"})


GUEST = r"[:;] ([\w ]+) at (\d+):(\d\d(?::\d\d)?)( [AP]M)?"
# A vague link to an age; a letter of the 29th or later.
CUES = r" (is (younger|older) than|turned) .* full years old|'s letter is dated [-0-9]{8}(29|3.)"


def by_cues(row: dict) -> str | None:
    """Return "unanswerable" for questions that look so."""
    found = re.search(CUES, row["question"])
    return json.dumps({"answer": "unanswerable"}) if found else None


PLANNING = {
    "best of 11 greedy orders": greedy,
    "without rests": partial(ignoring, without="max_consecutive"),
    "without breaks": partial(ignoring, without="break_between"),
}
MEALS = {"without meals": partial(ignoring, without="lunch_break")}
ABSENCES = {"without absences": partial(ignoring, without="absences")}
OF_A_ROW = {
    "fresh_tcp_short": PLANNING | MEALS,
    "fresh_tcp_long": PLANNING | ABSENCES,
    "fresh_tot_arithmetic": {
        "only what is told by no other fact": at_once,
        "give-away cues": by_cues,
    },
}
