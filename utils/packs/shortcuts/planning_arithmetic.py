"""Shortcuts of planning, which read the rows' columns, and of arithmetic."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import product

from dateutil import parser


WIDTH = 30  # schedules that the search for the end without a constraint keeps
UNITS = 500  # hours or days in which every project ends
RESTS = ("max_consecutive", "break_after", "break_between")
KINDS = {"rests": RESTS[0], "breaks": RESTS[2], "meals": "lunch_break"}
GUEST = r"[:;] ([\w ]+) at (\d+:\d\d(?::\d\d)?(?: [AP]M)?)"
CITY = r"(\w+) was founded in (\d+) (AD|BC)"
# A vague link to an age; a letter of the 29th or later.
CUES = r" (is (younger|older) than|turned) .* full years old|'s letter is dated [-0-9]{8}(29|3.)"


def read(row: dict, without: str = "") -> tuple[list[str], dict, list[tuple]]:
    """Return the answer to each end, tasks, and of agents free units and RESTS."""
    tasks = {x: n for x, n in row["tasks"].items() if n}  # None: other rows' tasks
    hourly = "agent_constraints_gmt" in row
    start = row["project_start_datetime_gmt" if hourly else "project_start_date"]
    unit, form = timedelta(hours=1 if hourly else 24), "%Y-%m-%d"
    form, back = (f"{form} %H:%M GMT", 0 * unit) if hourly else (form, unit)
    moments = [datetime.fromisoformat(start) + unit * n for n in range(UNITS)]
    limits = row["agent_constraints_gmt" if hourly else "agent_constraints"]
    agents, away = [], row.get("agent_unavailable_dates", {})
    for name in row["agents"]:
        told = {**limits[name], "absences": away.get(name)}
        told[KINDS.get(without, without)] = None
        begins, ends = told.get("working_hours") or (0, 24)
        meal, *_ = told.get("lunch_break") or [None]
        free = [
            (x.hour - begins) % 24 < ((ends - begins) % 24 or 24)
            and x.hour != meal
            and x.isoformat()[:10] not in (told["absences"] or ())
            for x in moments
        ]
        agents.append((free, *(told[x] or 0 for x in RESTS)))
    return [f"\\boxed{{{x - back:{form}}}}" for x in moments], tasks, agents


def work(agent: tuple, state: tuple, ready: int, left: int) -> tuple:
    """Return (end, row, rest, break) of a task that is begun as soon as possible."""
    (free, most, due, pause), (unit, row, rest, between) = agent, state
    begun = False
    while left:
        begun = begun or not between and unit >= ready
        if rest or not (begun and free[unit]):
            row, rest, between = 0, max(0, rest - 1), max(0, between - 1)
        else:
            row, left = row + 1, left - 1
            row, rest = (0, due) if row == most else (row, rest)
        unit += 1
    return unit, row, rest, pause


def end(tasks: dict, pairs: list, agents: list, width: int, order: Callable) -> int:
    """Return the earliest end of the schedules that are the best ones task by task."""
    kept = [({}, ((0, 0, 0, 0),) * len(agents))]
    needs = {x: {y for y, z in pairs if z == x} for x in tasks}
    for _ in needs:
        grown = {}
        for (ends, states), task in product(kept, needs.keys()):
            if task in ends or not needs[task] <= ends.keys():
                continue
            ready = max((ends[x] for x in needs[task]), default=0)
            for who, agent in enumerate(agents):
                state = work(agent, states[who], ready, tasks[task])
                after = ends | {task: state[0]}
                then = (*states[:who], state, *states[who + 1 :])
                rank = order(after, task, ready), state[0], task, who
                grown[frozenset(after.items()), then] = rank, after, then
        best = heapq.nsmallest(width, grown.values(), key=lambda x: x[0])
        kept = [x[1:] for x in best]
    return min(max(ends.values()) for ends, _ in kept)


def greedy(row: dict) -> str:
    """Return the earliest end of eleven orders, each task by whoever ends it first."""
    (answers, tasks, agents), pairs = read(row), row["dependencies"]
    tails = dict(tasks)
    for task in reversed(tasks):  # those that need it come after it
        tails[task] += max((tails[y] for x, y in pairs if x == task), default=0)
    counts = [{x: sum(pair[n] == x for pair in pairs) for x in tasks} for n in (0, 1)]
    ranks = [{x: n for n, x in enumerate(tasks)}, tasks, tails, *counts]
    signed = product(ranks, (1, -1))
    orders = [lambda _, x, __, of=of, sign=sign: sign * of[x] for of, sign in signed]
    orders.append(lambda _, __, ready: ready)
    return answers[min(end(tasks, pairs, agents, 1, order) for order in orders)]


def ignoring(row: dict, *, without: str) -> str | None:
    """Return the end where nobody minds a kind of constraint that somebody has."""
    (answers, tasks, agents), order = (
        read(row, without),
        lambda ends, *_: sum(ends.values()),
    )
    if agents == read(row)[2]:
        return None
    return answers[end(tasks, row["dependencies"], agents, WIDTH, order)]


def at_once(row: dict) -> str | None:
    """Return what follows of guests, cities and zones that are told by no other."""
    question = row["question"].split("JSON =")[0]
    if "a chain of hotels" in question:
        zones = re.findall(r" at UTC([+-])(\d\d):(\d\d)", question)
        minutes = [60 * int(sign + x) + int(sign + y) for sign, x, y in zones]
        hours, left = divmod(max(minutes) - min(minutes), 60)
        return json.dumps({"hours": hours, "minutes": left})
    guests = re.findall(GUEST, question) if "at an inn" in question else []
    found = [(parser.parse(clock), name) for name, clock in guests]
    for name, year, era in re.findall(CITY, question):
        found.append((int(year) * (1 if era == "AD" else -1), name))
    if not found:
        return None
    edge = min if re.search("(arrived|founded) first", question) else max
    chosen = [name for value, name in found if value == edge(found)[0]]
    one = chosen[0] if len(chosen) == 1 else "equal"
    return json.dumps({"unordered_list": chosen} if guests else {"answer": one})


OF_A_ROW = {
    f"fresh_tcp_{length}": {
        "best of 11 greedy orders": greedy,
        **{
            f"without {x}": partial(ignoring, without=x)
            for x in ("rests", "breaks", kind)
        },
    }
    for length, kind in (("short", "meals"), ("long", "absences"))
}
OF_A_ROW["fresh_tot_arithmetic"] = {
    "only what is told by no other fact": at_once,
    "give-away cues": lambda row: (
        re.search(CUES, row["question"]) and '{"answer": "unanswerable"}'
    ),
}
