"""What the generators of TCP short and long share: the rules, the search, the dialogue.

A project has tasks of so many units (hours or days), some of which need others, and people,
each of whom can do every task. The rules are those behind the benchmark's labels: all
assignments of tasks to people and all orders are tried, each task as soon as possible, and
the earliest end of the whole counts. A project is kept only where its end does not hang on
how one reads a pause, nor on whether somebody may wait on purpose (`certain_end`).
"""

import random
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple


VERSION = "2"
HIGHEST = 8

WORK, PAUSE, OFF = range(3)  # can be worked; a meal or a day away; outside of the hours


class Person(NamedTuple):
    """When somebody can work; all times in units."""

    calendar: list[int]  # WORK, PAUSE or OFF for each unit from the project's start on
    most_in_row: int = 0  # units of work in a row before a rest; 0: no limit
    rest: int = 0  # units of that rest
    between: int = 0  # units off between two tasks


class Project(NamedTuple):
    """Tasks by their numbers; a task needs only tasks with lower numbers."""

    durations: list[int]
    needs: list[list[int]]
    people: list[Person]


# ---------------------------------------------------------------------------- rules

# How to read a pause. RULES is what the label follows: whatever is not worked ends a row
# of units, and time off counts by the clock. MILD asks for less than any reading: each
# task starts a new row, and one idle unit ends one, whatever rest was due. STRICT asks for
# more than any: only time off that would be worked otherwise is time off, a short wait
# ends no row, and two kinds of time off add up; the end of the working day ends a row.
MILD, RULES, STRICT = "mild", "rules", "strict"


class State(NamedTuple):
    """Where somebody stands at the end of a task."""

    time: int = 0
    row: int = 0  # units worked in a row
    rest: int = 0  # units of rest that are due
    between: int = 0  # units until the next task may start


def work(
    person: Person, reading: str, state: State, ready: int, duration: int
) -> tuple[int, State] | None:
    """Do a task as soon as possible, from `ready` on: its start, and the state after it.

    None where it is not done within the calendar. By a MILD reading no rest is longer than
    a unit: who may wait on purpose waits one unit before the row is full.
    """
    time, row, rest, between = state
    due = min(1, person.rest) if reading == MILD else person.rest
    start, idle = None, 0
    for time in range(time, len(person.calendar)):
        kind = person.calendar[time]
        must_wait = start is None and (between or time < ready)
        if kind != WORK or rest or must_wait:
            row, rest, between, idle = _pause(
                reading, kind, due, row, rest, between, idle
            )
            continue
        start, idle = time if start is None else start, 0
        duration -= 1
        row += 1
        if row == person.most_in_row:
            row, rest = 0, due
        if not duration:
            row, rest = (0, 0) if reading == MILD else (row, rest)
            return start, State(time + 1, row, rest, person.between)
    return None


def _pause(
    reading: str, kind: int, due: int, row: int, rest: int, between: int, idle: int
) -> tuple[int, int, int, int]:
    """Return row, rest, time between tasks and idle units after a unit without work."""
    if reading != STRICT:
        return 0, max(0, rest - 1), max(0, between - 1), 0
    if kind == OFF:
        return 0, 0, between, 0
    if kind == PAUSE:
        return row, rest, between, idle
    row = 0 if idle + 1 >= due else row
    if rest:
        return row, rest - 1, between, idle + 1
    return row, 0, max(0, between - 1), idle + 1


# --------------------------------------------------------------------------- search

MOST_STEPS = 3_000  # of one search; a project that needs more is not kept


class OutOfSteps(Exception):
    """A search took too long to be worth its row."""


class Bounds:
    """Ends that nothing can undercut, whatever the reading."""

    def __init__(self, project: Project):
        self._project = project
        self._chains: dict[tuple[int, int], int] = {}
        self._followers = [
            [other for other, needs in enumerate(project.needs) if task in needs]
            for task in range(len(project.durations))
        ]
        self._never = len(project.people[0].calendar) + 1
        self._worked = [_counts(person.calendar) for person in project.people]

    def chain(self, task: int, time: int) -> int:
        """Return an end of a task that starts from `time` on and all that need it."""
        key = task, time
        if key not in self._chains:
            duration = self._project.durations[task]
            done = [
                work(person, MILD, State(time), 0, duration)
                for person in self._project.people
            ]
            end = min((x[1].time for x in done if x), default=self._never)
            ends = [self.chain(other, end) for other in self._followers[task]]
            self._chains[key] = max([end, *ends])
        return self._chains[key]

    def units(self, states: list[State], end: int) -> int:
        """Return how many units can be worked before `end`."""
        return sum(
            counts[end] - counts[min(state.time, end)]
            for counts, state in zip(self._worked, states)
        )


def _counts(calendar: list[int]) -> list[int]:
    """Return for each unit how many before it can be worked."""
    counts = [0]
    for kind in calendar:
        counts.append(counts[-1] + (kind == WORK))
    return counts


class Search:
    """All assignments and orders of a project's tasks, by the starts of the tasks.

    A schedule is built in the order of its starts (of its numbers, where two are equal), so
    that each is met once; a branch that cannot end before `best` is left.
    """

    def __init__(self, project: Project, reading: str, bounds: Bounds):
        self._project, self._reading, self._bounds = project, reading, bounds
        self._done: dict[tuple, tuple[int, State] | None] = {}

    def earliest(self, least: int, best: int) -> int:
        """Return the earliest end if it is less than `best`, else `best`.

        `least` is known to be a lower bound. Raises OutOfSteps.
        """
        self._least, self._best, self._steps = least, best, 0
        self._place({}, [State()] * len(self._project.people), (0, -1))
        return self._best

    def _place(
        self, ends: dict[int, int], states: list[State], last: tuple[int, int]
    ) -> None:
        """Place one more task after those with `ends`, each way that may be better."""
        durations = self._project.durations
        if len(ends) == len(durations):
            self._best = max(ends.values())
            return
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise OutOfSteps
        for end, task, who, start, state in sorted(self._choices(ends, states, last)):
            if self._best <= self._least:
                return
            after = ends | {task: end}
            then = [*states[:who], state, *states[who + 1 :]]
            if self._may_be_better(after, then, start):
                self._place(after, then, (start, task))

    def _choices(
        self, ends: dict[int, int], states: list[State], last: tuple[int, int]
    ) -> Iterator[tuple]:
        for task, needs in enumerate(self._project.needs):
            if task in ends or any(other not in ends for other in needs):
                continue
            ready = max((ends[other] for other in needs), default=0)
            for who, state in enumerate(states):
                done = self._work(who, state, ready, self._project.durations[task])
                if done and (done[0], task) > last:
                    yield done[1].time, task, who, done[0], done[1]

    def _work(self, who: int, state: State, ready: int, duration: int) -> tuple | None:
        key = who, state, max(ready, state.time), duration
        if key not in self._done:
            person = self._project.people[who]
            self._done[key] = work(person, self._reading, state, ready, duration)
        return self._done[key]

    def _may_be_better(
        self, ends: dict[int, int], states: list[State], start: int
    ) -> bool:
        """Return whether what is left, which starts from `start` on, may end in time."""
        if max(ends.values()) >= self._best:
            return False
        left = 0
        for task, needs in enumerate(self._project.needs):
            if task in ends:
                continue
            left += self._project.durations[task]
            ready = max([start, *(ends.get(other, 0) for other in needs)])
            if self._bounds.chain(task, ready) >= self._best:
                return False
        return self._bounds.units(states, self._best - 1) >= left


def certain_end(project: Project) -> int | None:
    """Return the units from start to earliest end; None where that may be argued.

    What MILD allows contains, and what STRICT allows is contained in, whatever another
    reading allows, with or without waiting on purpose; MILD itself gains nothing from
    waiting. So where both end alike, every reading does.
    """
    bounds = Bounds(project)
    never = len(project.people[0].calendar) + 1
    least = max(bounds.chain(task, 0) for task in range(len(project.durations)))
    try:
        end = Search(project, MILD, bounds).earliest(least, never)
        if end == never:
            return None
        for reading in (RULES, STRICT):
            if Search(project, reading, bounds).earliest(end, end + 1) > end:
                return None
    except OutOfSteps:
        return None
    return end


# -------------------------------------------------------------------------- drawing


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level: tasks, people, and what is said beside the matter."""
    return {"steps": level + 2, "people": 2 + level // 3, "distractors": level}


MOST_TASKS = 12  # from there on, a level has longer tasks only
MONTHS = (
    "January February March April May June July August September October November"
    " December"
).split()
NAMES = (
    "Ana Ben Chloe Diego Elif Femi Greta Hiro Ines Jonas Kofi Lena Mateo Noor Oscar Petra"
    " Quentin Rosa Samir Tova Umar Vera Wanda Ximena Yusuf Zoe"
).split()
TASKS = (
    (
        *("site survey", "cost estimate", "floor plan", "fire inspection"),
        *("wiring diagram", "window order", "staircase drawing", "roof design"),
        *("permit file", "noise report", "furniture list", "handover booklet"),
    ),
    (
        *("reader survey", "outline", "picture search", "cover design"),
        *("first draft", "fact check", "translation", "index"),
        *("glossary", "page layout", "final proofreading", "press release"),
    ),
    (
        *("data export", "schema review", "server setup", "load test"),
        *("login page", "search function", "payment module", "security audit"),
        *("user manual", "training video", "backup plan", "data import"),
    ),
    (
        *("guest list", "menu", "venue booking", "seating plan"),
        *("invitation text", "music programme", "stage design", "lighting plan"),
        *("welcome speech", "sound check", "photo wall", "cleaning rota"),
    ),
    (
        *("soil sampling", "water analysis", "sensor calibration", "field map"),
        *("plant census", "insect count", "weather record", "drone flight"),
        *("lab report", "statistics chapter", "poster", "funding request"),
    ),
)


def draw_tasks(
    rng: random.Random, count: int, longest: int
) -> tuple[list[str], list[int], list[list[int]]]:
    """Return names and durations of tasks, and for each the earlier ones that it needs."""
    longest += max(0, count - MOST_TASKS)
    count = min(count, MOST_TASKS)
    names = rng.sample(rng.choice(TASKS), count)
    durations = [1 + rng.randrange(longest) for _ in names]
    needs = [
        sorted(rng.sample(range(task), min(task, rng.choice((0, 1, 1, 2)))))
        for task in range(count)
    ]
    return names, durations, needs


def draw_rests(rng: random.Random, level: int, most_in_row: range) -> dict[str, int]:
    """Return whether and how somebody rests after work in a row and between tasks."""
    rests = {"max_consecutive": 0, "break_after": 0, "break_between": 0}
    if level >= 3 and rng.random() < 0.6:
        rests["max_consecutive"] = rng.choice(most_in_row)
        rests["break_after"] = 1 if level < 5 else rng.choice((1, 1, 2))
    if level >= 4 and rng.random() < 0.6:
        rests["break_between"] = rng.choice((1, 1, 2))
    return rests


# --------------------------------------------------------------------------- telling


def of(count: int, unit: str) -> str:
    """Return such as "1 hour" and "3 hours"."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def day(moment: date, year: int | None = None) -> str:
    """Return such as "5 June 2025", and without its year where that is `year`."""
    said = f"{moment.day} {MONTHS[moment.month - 1]}"  # in English whatever the locale
    return said if moment.year == year else f"{said} {moment.year}"


def listed(names: list[str]) -> str:
    """Return such as "Ana, Ben and Chloe"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def tell_tasks(
    rng: random.Random,
    unit: str,
    names: list[str],
    durations: list[int],
    needs: list[list[int]],
) -> Iterator[str]:
    """Yield a sentence for each duration and each need."""
    for name, duration in zip(names, durations):
        long = of(duration, unit)
        yield rng.choice(
            (
                f"The {name} takes {long}, no matter who does it.",
                f"The {name} is {long} of work for any of us.",
                f"For the {name} we need {long}.",
                f"{long} of work will go into the {name}.",
            )
        )
    for name, others in zip(names, needs):
        for other in others:
            yield rng.choice(
                (
                    f"The {name} can't begin before the {names[other]} is done.",
                    f"The {names[other]} has to be done before the {name} begins.",
                    f"Nobody can begin the {name} until the {names[other]} is done.",
                    f"Only when the {names[other]} is done can the {name} begin.",
                )
            )


def tell_rests(rng: random.Random, unit: str, rests: dict[str, int]) -> Iterator[str]:
    """Yield a sentence of somebody for each kind of rest that they need."""
    if row := rests["max_consecutive"]:
        row, rest = of(row, unit), of(rests["break_after"], unit)
        yield rng.choice(
            (
                f"After {row} of work in a row I need {rest} off.",
                f"I work {row} in a row at the most, then I take {rest} off.",
            )
        )
    if between := rests["break_between"]:
        yield rng.choice(
            (
                f"Between two of my tasks I take {of(between, unit)} off.",
                f"Whenever I have finished a task, I need {of(between, unit)} off before"
                " I begin another one.",
            )
        )


def dialogue(
    rng: random.Random, people: list[str], own: list[list[str]], common: list[str]
) -> list[str]:
    """Return what is said: `own` sentences by each of the people, `common` ones by any.

    The order is drawn; what somebody says twice running becomes one utterance.
    """
    said = [(who, text) for who, texts in zip(people, own) for text in texts]
    said += [(rng.choice(people), text) for text in common]
    rng.shuffle(said)
    lines: list[str] = []
    for who, text in said:
        if lines and lines[-1].startswith(f"{who}: "):
            lines[-1] += f" {text}"
        else:
            lines.append(f"{who}: {text}")
    return lines


def dependencies(names: list[str], needs: list[list[int]]) -> list[list[str]]:
    """Return the pairs of tasks, the earlier one first, as the benchmark has them."""
    return [
        [names[other], name] for name, others in zip(names, needs) for other in others
    ]


def constraints(rests: dict[str, int]) -> dict[str, int | None]:
    """Return the rests as the benchmark's columns have them: None for none."""
    return {name: units or None for name, units in rests.items()}


def tell_asides(rng: random.Random, unit: str, count: int) -> list[str]:
    """Return what is said and has nothing to do with the project."""
    few, hour, pages, late, long = (rng.randrange(2, 10) for _ in range(5))
    asides = (
        f"A project like this once took another team {of(long * 7, unit)}.",
        f"The client has {few} branches now, not that it changes anything for us.",
        f"My train was {late * 4} minutes late this morning.",
        f"My sister gets up at {hour:02}:30 every day; I could never do that.",
        f"Last year's report has {pages * 13} pages, if anyone is curious.",
        "Can everybody hear me? The line is bad today.",
        f"When it is over, I know a place with {few + 3} kinds of cake.",
        f"In my old job I worked from {hour:02}:00 to {hour + 8}:00; luckily that is past.",
    )
    return rng.sample(asides, min(count, len(asides)))


def tell_rules(people: list[str], names: list[str]) -> list[str]:
    """Return who can do what, and how."""
    return [
        f"{listed(people)} can each do any of the {len(names)} tasks, and they can work at"
        " the same time.",
        "A task is done by one person from its beginning to its end: nobody helps or takes"
        " over, and nobody turns to another task before theirs is done.",
    ]


def tell_pauses(unit: str, rests: list[dict[str, int]], others: str) -> list[str]:
    """Return how to count rests, where somebody needs one.

    `others` are times without work that count towards them.
    """
    rules = []
    if any(rest["max_consecutive"] for rest in rests):
        rules.append(
            f"{unit.title()}s of work are in a row if there is no {unit} without work"
            " between them, even if they belong to different tasks."
        )
    if any(rest["max_consecutive"] or rest["break_between"] for rest in rests):
        rules.append(
            f"Time off is time without work on any task, and {unit}s without work for"
            f" another reason, such as {others}, count towards it."
        )
    return rules
