"""Solve a prompt of TCP: `solve(text)` returns the earliest end, as the prompt wants it.

All schedules are tried, slot by slot (an hour, or a day), with a set of states in place
of a tree. A state has for each person the task and the work left of it, the slots of
work in a row, and the slots off that are still owed; and the tasks done. Anybody may
wait before a task; within one, who can work does. Only states that another one is no
worse than, whatever follows, are dropped.
"""

from __future__ import annotations

import re
from calendar import isleap
from datetime import date, datetime, timedelta
from itertools import product
from operator import le


MONTHS = (
    "January February March April May June July August September October November "
    "December"
).split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
HOUR = timedelta(hours=1)
TASK = r"[Tt]he ([a-z][a-z -]*?)"
WORK = (
    rf"^{TASK} takes (\d+) (?:hour|day)s?, no matter",
    rf"^{TASK} is (\d+) (?:hour|day)s? of work for any of us",
    rf"^For {TASK} we need (\d+) (?:hour|day)s?\.",
)
WORK_LAST = rf"^(\d+) (?:hour|day)s? of work will go into {TASK}\."
BEFORE = rf"^{TASK} has to be done before {TASK} begins\."
AFTER = (
    rf"^{TASK} can't begin before {TASK} is done\.",
    rf"^Nobody can begin {TASK} until {TASK} is done\.",
)
ONLY = rf"^Only when {TASK} is done can {TASK} begin\."
START = (
    r"^Work can begin on (.+?), and no earlier",
    r"^The project starts on (.+?)\.",
    r"^No work can be done before (.+?)\.",
)
ROW = (
    r"^After (\d+) (?:hour|day)s? of work in a row I need (\d+) (?:hour|day)s? off",
    r"^I work (\d+) (?:hour|day)s? in a row at the most, then I take (\d+)",
)
BREAK = (
    r"^Between two of my tasks I take (\d+)",
    r"^Whenever I have finished a task, I need (\d+)",
)
MEAL = (
    r"^I don't work from (\d\d:\d\d) to (\d\d:\d\d) my time",
    r"^My meal break is from (\d\d:\d\d) to (\d\d:\d\d) my time",
)
HOURS = r"\b(?:I work|My working hours are) from (\d\d:\d\d) to (\d\d:\d\d) my time"
ZONE = r"(?:is on|That is|my clock shows) GMT(?:([+-])(\d+)(?::(\d\d))?)?"
HOLIDAY = (
    r"^I'm on holiday from (.+?) to (.+?), both days included",
    r"^My holiday begins on (.+?), and (.+?) is its last day",
)
AWAY = (r"^I can't work on (.+)\.$", r"^I'm not available on (.+)\.$")
WEEKLY = (r"^Every (\w+day) is a day off for me", r"^I never work on (\w+day)s")


class Person:
    """What somebody said of when they work."""

    def __init__(self):
        self.zone = timedelta(0)
        self.hours = None
        self.meals, self.away, self.weekly = [], set(), set()
        self.rows, self.pause = [], 0

    def can(self, at) -> bool:
        """Return whether the slot that begins at a time is one of work."""
        if not isinstance(at, datetime):
            return at not in self.away and at.weekday() not in self.weekly
        local = at + self.zone
        begin = local.hour * 60 + local.minute
        return _within(begin, *self.hours) and not any(
            _within((begin + k) % 1440, *meal, width=1)
            for meal in self.meals
            for k in (0, 59)
        )


def _within(begin: int, first: int, end: int, width: int = 60) -> bool:
    return (begin - first) % 1440 + width <= (end - first) % 1440


def _minute(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def _day(text: str, near: date | None = None) -> date:
    number, month, *year = text.split()
    one = (int(number), MONTHS.index(month) + 1)
    if year or near is None:
        return date(int(year[0]), one[1], one[0])
    years = range(near.year - 1, near.year + 2)
    days = [date(x, one[1], one[0]) for x in years if one != (29, 2) or isleap(x)]
    return min(days, key=lambda x: abs((x - near).days - 30))


def _first(patterns, text: str):
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        if found := re.search(pattern, text):
            return found.groups()
    return None


def read(text: str) -> tuple:
    """Return the people, the work of each task, what must precede it, and the start."""
    dialogue = text.split("\n\n")[1]
    said = [
        (name, sentence)
        for name, line in re.findall(r"^(\w+): (.+)$", dialogue, re.M)
        for sentence in re.split(r"(?<=[.?]) (?=[A-Z0-9])", line)
    ]
    names = re.search(r"^(.+?) can each do", text, re.M)[1]
    people = {x: Person() for x in re.split(r", | and ", names)}
    work: dict = {}
    needs: dict = {}
    start, later = None, []
    for name, sentence in said:
        if found := _first(START, sentence):
            start = (name, found[0])
        elif _first((*HOLIDAY, *AWAY), sentence):
            later.append((people[name], sentence))
        elif not _project(sentence, work, needs):
            _habit(people[name], sentence)  # or what has nothing to do with the project
    first = _begin(people, *start)
    for one, sentence in later:
        _absent(one, sentence, first)
    if len(work) != int(re.search(r"any of the (\d+) tasks", text)[1]):
        raise ValueError(f"not all tasks have a length: {work}")
    return list(people.values()), work, needs, first


def _project(sentence: str, work: dict, needs: dict) -> bool:
    if found := _first(WORK, sentence):
        work[found[0]] = int(found[1])
    elif found := _first(WORK_LAST, sentence):
        work[found[1]] = int(found[0])
    elif found := _first((BEFORE, ONLY), sentence):
        needs.setdefault(found[1], set()).add(found[0])
    elif found := _first(AFTER, sentence):
        needs.setdefault(found[0], set()).add(found[1])
    return bool(found)


def _habit(one: Person, sentence: str) -> None:
    if found := _first(ROW, sentence):
        one.rows.append((int(found[0]), int(found[1])))
    elif found := _first(BREAK, sentence):
        one.pause = max(one.pause, int(found[0]))
    elif found := _first(WEEKLY, sentence):
        one.weekly.add(WEEKDAYS.index(found[0]))
    elif found := _first(MEAL, sentence):
        one.meals.append(tuple(map(_minute, found)))
    else:
        _hours(one, sentence)


def _hours(one: Person, sentence: str) -> None:
    zone, hours = _first(ZONE, sentence), _first(HOURS, sentence)
    if zone:
        shift = timedelta(hours=int(zone[1] or 0), minutes=int(zone[2] or 0))
        one.zone = -shift if zone[0] == "-" else shift
    if hours:
        one.hours = tuple(map(_minute, hours))


def _begin(people: dict, name: str, when: str):
    if found := re.fullmatch(r"(.+) at (\d\d:\d\d) my time", when):
        at = datetime.combine(_day(found[1]), datetime.min.time())
        return at + timedelta(minutes=_minute(found[2])) - people[name].zone
    return _day(when)


def _absent(one: Person, sentence: str, first: date) -> None:
    if found := _first(HOLIDAY, sentence):
        at, last = (_day(x, first) for x in found)
        while at <= last:
            one.away.add(at)
            at += timedelta(days=1)
    else:
        listed = _first(AWAY, sentence)[0]
        one.away |= {_day(x, first) for x in re.split(r", | and ", listed)}


def solve(text: str) -> str:
    people, work, needs, at = read(text)
    tasks = sorted(work)
    before = [sum(1 << tasks.index(x) for x in needs.get(t, ())) for t in tasks]
    everything = (1 << len(tasks)) - 1
    hourly = isinstance(at, datetime)
    states = {(0, 0, tuple((-1, 0, (0,) * len(p.rows), 0) for p in people))}
    for _ in range(24 * 60):
        can = [p.can(at) for p in people]
        following = set()
        for done, begun, each in states:
            following |= _slot(people, can, done, begun, each, before, work, tasks)
        at += HOUR if hourly else timedelta(days=1)
        if any(done == everything for done, _, _ in following):
            if hourly:
                return at.strftime("%Y-%m-%d %H:%M GMT")
            return str(at - timedelta(days=1))
        states = _best(following, people)
    raise ValueError("no end in sight")


def _slot(people, can, done, begun, each, before, work, tasks) -> set:
    """Return the states after a slot: each who can works on or begins, or waits."""
    choices = []
    for person, able, (task, left, rows, owed) in zip(people, can, each, strict=True):
        able = able and not owed
        if task >= 0:
            choices.append([(task, left) if able else None])
            continue
        ready = [
            (t, work[tasks[t]])
            for t in range(len(tasks))
            if able and not begun >> t & 1 and before[t] & done == before[t]
        ]
        choices.append([*ready, None])
    found = set()
    for chosen in product(*choices):
        new = [x[0] for x, old in zip(chosen, each, strict=True) if x and old[0] < 0]
        if len(set(new)) < len(new):
            continue
        after, ended = [], done
        for person, act, old in zip(people, chosen, each, strict=True):
            state = _worked(person, act, old) if act else _idle(person, old)
            if act and state[0] < 0:
                ended |= 1 << act[0]
            after.append(state)
        found.add((ended, begun | sum(1 << x for x in new), tuple(after)))
    return found


def _worked(person, act, old) -> tuple:
    task, left = act
    rows = tuple(x + 1 for x in old[2])
    owed = max(
        (off for x, (most, off) in zip(rows, person.rows) if x >= most), default=0
    )
    if left > 1:
        return task, left - 1, rows, owed
    return -1, 0, rows, max(owed, person.pause)


def _idle(person, old) -> tuple:
    task, left, _, owed = old
    return task, left, (0,) * len(person.rows), max(owed - 1, 0)


def _best(states: set, people: list) -> set:
    """Drop states that cannot end before another one.

    Less work or time off is left to those without a limit in a row, and nothing else
    differs: who has such a limit may gain by having worked more, so theirs are equal.
    """
    loose = [not p.rows for p in people]
    groups: dict = {}
    for state in states:
        done, begun, each = state
        fixed = tuple(x[0] if y else x for x, y in zip(each, loose, strict=True))
        left = tuple(
            n for x, y in zip(each, loose, strict=True) if y for n in (x[1], x[3])
        )
        groups.setdefault((done, begun, fixed), []).append((left, state))
    kept = set()
    for members in groups.values():
        front: list = []
        for left, state in sorted(members, key=lambda x: x[0]):
            if not any(all(map(le, one, left)) for one in front):
                front.append(left)
                kept.add(state)
    return kept
