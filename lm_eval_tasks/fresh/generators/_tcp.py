"""What the generators of TCP short and long share: the rules, the search, the dialogue.

A project has tasks of so many units (hours or days), some of which need others, and people,
each of whom can do every task. The rules are those behind the benchmark's labels: all
assignments of tasks to people and all orders are tried, each task as soon as possible, and
the earliest end of the whole counts. A project is kept only where its end does not hang on
how one reads a pause, nor on whether somebody may wait on purpose (`certain_end`).
"""

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import date
from itertools import accumulate, groupby, islice
from operator import itemgetter
from typing import NamedTuple

from . import _wording as words


VERSION = "5"
BOUNDS = {"steps": (1, 12), "people": (1, 26), "binding": (0, 3), "pause": (1, 9)}
# Those of ten rows, or of ten people.
BOUNDS |= dict.fromkeys(("misleading", "rests", "breaks"), (0, 10))

UNITS = {"short": "hour", "long": "day"}
WORK, PAUSE, OFF = range(3)  # can be worked; a meal or a day away; outside of the hours


class Person(NamedTuple):
    """When somebody can work; all times in units."""

    # Units from the project's start on, and WORK, PAUSE or OFF for each. Of many OFF
    # running, the first three are enough: no rest takes longer.
    calendar: list[tuple[int, int]]
    most_in_row: int = 0  # units of work in a row before a rest; 0: no limit
    pause: int = 0  # units of that rest
    between: int = 0  # units off between two tasks

    def pauses(self) -> bool:
        """Return whether somebody has meals or days away."""
        return any(unit_kind == PAUSE for _, unit_kind in self.calendar)

    def constraints(self) -> dict[str, int | None]:
        """Return most units in a row, and units of rests, by the benchmark's columns."""
        column_names = ("max_consecutive", "break_after", "break_between")
        return {
            column_name: unit_count or None
            for column_name, unit_count in zip(column_names, self[1:])
        }


class Project(NamedTuple):
    """What is to be done, by whom; a task needs only tasks before it, by their numbers."""

    durations: list[int]
    needs: list[list[int]]
    people: list[Person] = []
    names: list[str] = []

    def pairs(self) -> list[list[str]]:
        """Return pairs of tasks, the earlier one first, as the benchmark has them."""
        return [
            [self.names[needed_number], later_name]
            for later_name, needed_numbers in zip(self.names, self.needs)
            for needed_number in needed_numbers
        ]


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
    pause: int = 0  # units of rest that are due
    between: int = 0  # units until the next task may start


def work(
    person: Person, reading: str, state: State, ready: int, duration: int
) -> tuple[int, State] | None:
    """Do a task as soon as possible, from `ready` on: its start, and the state after it.

    None where it is not done within the calendar. By a MILD reading no rest is longer than
    a unit: who may wait on purpose waits one unit before the row is full.
    """
    unit_number, units_in_row, rest_left, gap_left = state
    full_rest = min(1, person.pause) if reading == MILD else person.pause
    start_unit, idle_units, units_left = None, 0, duration
    place = bisect_left(person.calendar, (unit_number,))
    for unit_number, unit_kind in islice(person.calendar, place, None):
        may_not_start = start_unit is None and (gap_left or unit_number < ready)
        if unit_kind != WORK or rest_left or may_not_start:
            if reading == STRICT:
                units_in_row, rest_left, gap_left, idle_units = _pause(
                    unit_kind, full_rest, units_in_row, rest_left, gap_left, idle_units
                )
            else:
                units_in_row = 0
                rest_left, gap_left = max(0, rest_left - 1), max(0, gap_left - 1)
            continue
        start_unit, idle_units = unit_number if start_unit is None else start_unit, 0
        units_left -= 1
        units_in_row += 1
        if units_in_row == person.most_in_row:
            units_in_row, rest_left = 0, full_rest
        if not units_left:
            if reading == MILD:
                units_in_row = rest_left = 0
            return start_unit, State(
                unit_number + 1, units_in_row, rest_left, person.between
            )
    return None


def _pause(
    kind: int, due: int, row: int, pause: int, between: int, idle: int
) -> tuple[int, int, int, int]:
    """Return row, rest, time between tasks and idle units after a unit without work, by
    a STRICT reading; the parameters are those before it, and `due` the rest after a row.
    """
    if kind == OFF:
        return 0, 0, between, 0
    if kind == PAUSE:
        return row, pause, between, idle
    row_after_idle = 0 if idle + 1 >= due else row
    if pause:
        return row_after_idle, pause - 1, between, idle + 1
    return row_after_idle, 0, max(0, between - 1), idle + 1


# --------------------------------------------------------------------------- search

MOST_STEPS = 1_000  # of one search; a project that needs more is not kept
FEW_STEPS = 100  # until something better than the ends of the simple orders is found


class OutOfSteps(Exception):
    """A search took too long to be worth its row."""


class Bounds:
    """Ends that nothing can undercut, whatever the reading."""

    def __init__(self, project: Project):
        """List the tasks that need each task, and count the units each person can work."""
        self._project = project
        self._chains: dict[tuple[int, int], int] = {}
        self.followers = [
            [
                follower_number
                for follower_number, needed_numbers in enumerate(project.needs)
                if task_number in needed_numbers
            ]
            for task_number in range(len(project.durations))
        ]
        self.never = max(person.calendar[-1][0] for person in project.people) + 2
        self._worked = [  # by each unit, how many before it can be worked
            [
                0,
                *accumulate(
                    kind_by_unit.get(unit_number) == WORK
                    for unit_number in range(self.never)
                ),
            ]
            for kind_by_unit in [dict(person.calendar) for person in project.people]
        ]

    def chain(self, task: int, time: int) -> int:
        """Return a lower bound of the end of a task from `time` on and all that need it."""
        memo_key = task, time
        if memo_key not in self._chains:
            starts_and_states = [
                work(person, MILD, State(time), 0, self._project.durations[task])
                for person in self._project.people
            ]
            possible_ends = [state.time for _, state in filter(None, starts_and_states)]
            earliest_end = min(possible_ends, default=self.never)
            follower_ends = [
                self.chain(follower_number, earliest_end)
                for follower_number in self.followers[task]
            ]
            self._chains[memo_key] = max([earliest_end, *follower_ends])
        return self._chains[memo_key]

    def units(self, states: list[State], end: int) -> int:
        """Return how many units can be worked before `end`."""
        return sum(
            work_units_before[end] - work_units_before[min(state.time, end)]
            for work_units_before, state in zip(self._worked, states)
        )


class Search:
    """All assignments and orders of a project's tasks, by the starts of the tasks.

    A schedule is built in the order of its starts (of its numbers, where two are equal), so
    that each is met once; a branch that cannot end before `best` is left.
    """

    def __init__(self, project: Project, reading: str, bounds: Bounds):
        self._project, self._reading, self._bounds = project, reading, bounds
        self._done: dict[tuple, tuple[int, State] | None] = {}
        self._after: dict[tuple, list] = {}  # what can follow simple orders so far

    def earliest(self, least: int, best: int, few: int = MOST_STEPS) -> int:
        """Return the earliest end if it is less than `best`, else `best`.

        `least` is known to be a lower bound. Raises OutOfSteps, after `few` steps where
        nothing better is found.
        """
        self._least, self._best, self._given = least, best, best
        self._steps, self._few = 0, few
        self._place({}, [State()] * len(self._project.people), (0, -1))
        return self._best

    def _place(
        self, ends: dict[int, int], states: list[State], last: tuple[int, int]
    ) -> None:
        """Place one more task after those with `ends`, each way that may be better."""
        if len(ends) == len(self._project.durations):
            self._best = max(ends.values())
            return
        self._steps += 1
        if self._steps > (MOST_STEPS if self._best < self._given else self._few):
            raise OutOfSteps
        for task_end, task_number, person_number, task_start, new_state in sorted(
            self._choices(ends, states, last)
        ):
            if self._best <= self._least or task_end >= self._best:
                return
            ends_with_task = ends | {task_number: task_end}
            states_after_task = [
                *states[:person_number],
                new_state,
                *states[person_number + 1 :],
            ]
            if self._may_be_better(ends_with_task, states_after_task, task_start):
                last_placed = task_start, task_number
                self._place(ends_with_task, states_after_task, last_placed)

    def simple(self, least: int) -> int:
        """Return the best end of simple orders, each task by whoever ends it first."""
        durations, needs = self._project.durations, self._project.needs
        followers = self._bounds.followers
        chain_lengths = [*durations]  # the longest chain that a task begins
        for task_number in reversed(range(len(durations))):
            follower_chain_lengths = [
                chain_lengths[follower_number]
                for follower_number in followers[task_number]
            ]
            chain_lengths[task_number] += max(follower_chain_lengths, default=0)
        priority_lists = [durations, chain_lengths, [*range(len(needs))]]
        priority_lists += [[*map(len, needs)], [*map(len, followers)]]
        priority_lists += [
            [-priority for priority in priorities] for priorities in priority_lists
        ]
        sort_keys = [*map(_by_task, priority_lists)]
        sort_keys += [itemgetter(0), itemgetter(3)]  # the first end, the first start
        best_end = self._bounds.never
        for sort_key in sort_keys:
            if best_end > least:
                best_end = min(best_end, self._in_order(sort_key))
        return best_end

    def _in_order(self, order: Callable[[tuple], int]) -> int:
        """Return the project's end where the first choice by an order is placed next."""
        task_ends: dict[int, int] = {}
        states = [State()] * len(self._project.people)
        placed: tuple[int, ...] = ()
        while len(task_ends) < len(self._project.durations):
            if placed not in self._after:
                self._after[placed] = [*self._choices(task_ends, states, (-1, -1))]
            best_choice = min(
                self._after[placed], key=lambda x: (order(x), *x), default=None
            )
            if best_choice is None:
                return self._bounds.never
            task_end, task_number, person_number, _, states[person_number] = best_choice
            task_ends[task_number] = task_end
            placed = *placed, task_number, person_number
        return max(task_ends.values())

    def _choices(
        self, ends: dict[int, int], states: list[State], last: tuple[int, int]
    ) -> Iterator[tuple]:
        """Yield (end, task, person, start, state) of each task that can come next."""
        for task_number, needed_numbers in enumerate(self._project.needs):
            if task_number in ends or not ends.keys() >= {*needed_numbers}:
                continue
            ready_unit = max(
                (ends[needed_number] for needed_number in needed_numbers), default=0
            )
            for person_number, state in enumerate(states):
                both_ready_unit = max(ready_unit, state.time)
                duration = self._project.durations[task_number]
                memo_key = person_number, state, both_ready_unit, duration
                if memo_key not in self._done:
                    person = self._project.people[person_number]
                    self._done[memo_key] = work(
                        person, self._reading, state, both_ready_unit, duration
                    )
                if (started := self._done[memo_key]) is None:
                    continue
                start, new_state = started
                if (start, task_number) > last:
                    yield new_state.time, task_number, person_number, start, new_state

    def _may_be_better(
        self, ends: dict[int, int], states: list[State], start: int
    ) -> bool:
        """Return whether what is left, which starts from `start` on, may end in time."""
        durations, needs = self._project.durations, self._project.needs
        open_task_numbers = [
            task_number for task_number in range(len(needs)) if task_number not in ends
        ]
        units_left = sum(durations[task_number] for task_number in open_task_numbers)
        if self._bounds.units(states, self._best - 1) < units_left:
            return False
        for task_number in open_task_numbers:
            needed_ends = [
                ends.get(needed_number, 0) for needed_number in needs[task_number]
            ]
            ready_unit = max([start, *needed_ends])
            if self._bounds.chain(task_number, ready_unit) >= self._best:
                return False
        return max(ends.values()) < self._best


def certain_end(
    project: Project, is_hard: bool = False, is_bound: bool = False
) -> int | None:
    """Return the units from start to earliest end; None where that may be argued.

    None, too, where one of the simple orders leads to it and `is_hard` is asked for, and
    where it does not hang on what the tasks need and `is_bound` is.

    What MILD allows contains, and what STRICT allows is contained in, whatever another
    reading allows, with or without waiting on purpose; MILD itself gains nothing from
    waiting. So where both end alike, every reading does.
    """
    bounds = Bounds(project)
    search = Search(project, RULES, bounds)
    least_end = max(
        bounds.chain(task_number, 0) for task_number in range(len(project.durations))
    )
    end_to_beat = search.simple(least_end) if is_hard else bounds.never
    try:
        end = search.earliest(
            least_end, end_to_beat, FEW_STEPS if is_hard else MOST_STEPS
        )
        if end == end_to_beat or is_bound and not _hangs_on_needs(project, end):
            return None
        if Search(project, STRICT, bounds).earliest(end, end + 1) > end:
            return None
        if Search(project, MILD, bounds).earliest(least_end, end) < end:
            return None
    except OutOfSteps:
        return None
    return end


def _by_task(priorities: list[int]) -> Callable[[tuple], int]:
    """Return the key that sorts choices by a number of their tasks."""
    return lambda choice: priorities[choice[1]]


def settled(project: Project, index: int, knobs: dict[str, int]) -> tuple | None:
    """Return a project's certain end, and the project without what does not bind.

    Where constraints are to bind, no kind of them (rests, breaks, meals or absences) stays
    without which the end is the same. None where fewer kinds than `binding` stay.
    """
    relaxed_projects = list(_relaxed(project)) if knobs["binding"] else []
    if len(relaxed_projects) < knobs["binding"]:
        return None
    end = certain_end(project, index % 10 < knobs["misleading"], knobs["binding"] > 0)
    if not end:
        return None
    try:
        same_end_projects = [
            relaxed_project
            for relaxed_project in relaxed_projects
            if not _ends_before(relaxed_project, end)
        ]
    except OutOfSteps:
        return None
    for relaxed_project in same_end_projects:
        if end_and_project := settled(relaxed_project, index, knobs):
            return end_and_project
    return None if same_end_projects else (end, project)


def _ends_before(project: Project, end: int) -> bool:
    """Return whether a project can end before `end`."""
    return Search(project, RULES, Bounds(project)).earliest(end - 1, end) < end


def _hangs_on_needs(project: Project, end: int) -> bool:
    """Return whether a simple order would end earlier if no task needed another."""
    unordered_project = project._replace(needs=[[] for _ in project.needs])
    search = Search(unordered_project, RULES, Bounds(unordered_project))
    return search.simple(end - 1) < end


def _relaxed(project: Project) -> Iterator[Project]:
    """Yield the project without each kind of constraint that it has."""
    for drop_constraint in (
        lambda worker: worker._replace(between=0),
        lambda worker: worker._replace(most_in_row=0, pause=0),
        lambda x: x._replace(
            calendar=[
                (unit_number, WORK if unit_kind == PAUSE else unit_kind)
                for unit_number, unit_kind in x.calendar
            ]
        ),
    ):
        relaxed_people = [drop_constraint(person) for person in project.people]
        if relaxed_people != project.people:
            yield project._replace(people=relaxed_people)


# -------------------------------------------------------------------------- drawing


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level that both kinds have.

    `steps` are tasks; of `misleading` rows in ten no simple order is right; from 1 on,
    `binding` kinds of constraint are told at least, and the end hangs on each, and on what
    the tasks need. Of ten people so many have `rests`, of up to `pause` units, and `breaks`
    between tasks. So many `distractors` are said, of which `lookalikes` sound like
    constraints.
    """
    return {
        "steps": (level + 7) // 2,
        "people": 2,
        "distractors": level,
        "lookalikes": level // 2,
        "misleading": 10 * (level > 2),
        "binding": int(level > 2),
        "rests": 6 * (level > 2),
        "pause": 1 + (level > 4),
        "breaks": 6 * (level > 3),
    }


# Three tasks, two people, every kind of constraint.
BENCHMARK = ladder(5) | {"steps": 3, "misleading": 0, "binding": 0}
BENCHMARK |= {"distractors": 0, "lookalikes": 0}


TEXTS = words.texts("_tcp")


def draw_tasks(rng: random.Random, count: int, longest: int) -> Project:
    """Return so many tasks, each with some of the earlier ones as its needs."""
    names_to_choose = rng.choice(TEXTS["tasks"])
    chosen_names = [
        names_to_choose[name_index]
        for name_index in sorted(rng.sample(range(len(names_to_choose)), count))
    ]
    durations = [1 + rng.randrange(longest) for _ in chosen_names]
    need_counts = (
        min(task_number, rng.choice((0, 1, 1, 1, 2, 2))) for task_number in range(count)
    )
    needs = [
        sorted(rng.sample(range(task_number), need_count))
        for task_number, need_count in enumerate(need_counts)
    ]
    return Project(durations, needs, names=chosen_names)


def is_one_of(rng: random.Random, tenths: int) -> bool:
    """Return True in so many of ten draws."""
    return rng.random() < tenths / 10


def draw_person(
    rng: random.Random, knobs: dict[str, int], calendar: list, longest: int
) -> Person:
    """Return somebody who may rest after so many units in a row, and between tasks."""
    most_in_row = pause_units = gap_units = 0
    if is_one_of(rng, knobs["rests"]):
        most_in_row = rng.randrange(2, longest)
        pause_units = rng.choice((1, 1, knobs["pause"]))
    if is_one_of(rng, knobs["breaks"]):
        gap_units = rng.choice((1, 1, 2))
    return Person(calendar, most_in_row, pause_units, gap_units)


# --------------------------------------------------------------------------- telling


def day(moment: date, year: int | None = None) -> str:
    """Return such as "5 June 2025", and without its year where that is `year`."""
    return words.in_words(moment, False).removesuffix(f" {year}")


def tell_tasks(rng: random.Random, unit: str, tasks: Project) -> Iterator[str]:
    """Yield a sentence for each duration and each need."""
    for task_name, duration in zip(tasks.names, tasks.durations):
        duration_text = words.counted(duration, unit)
        yield rng.choice(TEXTS["length"]).format(task=task_name, units=duration_text)
    for earlier_name, later_name in tasks.pairs():
        yield rng.choice(TEXTS["order"]).format(before=earlier_name, after=later_name)


def tell_rests(rng: random.Random, unit: str, person: Person) -> Iterator[str]:
    """Yield a sentence of somebody for each kind of rest that they need."""
    row_text, rest_text, gap_text = (
        words.counted(unit_count, unit) for unit_count in person[1:]
    )
    if person.most_in_row:
        yield rng.choice(TEXTS["row"]).format(row=row_text, pause=rest_text)
    if person.between:
        yield rng.choice(TEXTS["between"]).format(pause=gap_text)


# Numbers in what is said beside the matter: from, and below.
ASIDE_NUMBERS = {"few": (4, 10), "many": (11, 60), "pages": (20, 500), "length": (2, 8)}
ASIDE_NUMBERS |= {"row": (2, 6), "pause": (2, 6), "hour": (5, 10), "later": (13, 19)}
# What looks like a constraint, as the constraint itself has it.
LOOKALIKES: tuple[str, ...] = (
    "{task}: {length}",
    "{weekday}",
    "{hour:02}:00",
    "{later}:00",
)
LOOKALIKES += ("{row} {unit}s", "{pause} {unit}s")
Asides = list[tuple[str, str]]  # where in a dialogue people digress so, and the pattern


def draw_asides(rng: random.Random, kind: str, knobs: dict[str, int]) -> Asides:
    """Return patterns of sentences that do not concern the project."""
    patterns_by_place = TEXTS["asides"]
    lookalike_asides = [
        ("any", pattern)
        for pattern in patterns_by_place["lookalike"] + TEXTS[kind]["lookalike"]
    ]
    plain_asides = [
        (dialogue_place, pattern)
        for dialogue_place in ("first", "last", "any")
        for pattern in patterns_by_place[dialogue_place]
    ]
    lookalike_count = min(
        knobs["lookalikes"], knobs["distractors"], len(lookalike_asides)
    )
    plain_count = min(knobs["distractors"] - lookalike_count, len(plain_asides))
    return rng.sample(lookalike_asides, lookalike_count) + rng.sample(
        plain_asides, plain_count
    )


def _fill_aside(
    rng: random.Random, unit: str, tasks: Project, constraints: str, pattern: str
) -> str:
    """Return an aside. Its length of a task is not that task's, and none of its hours,
    rests and weekdays is in the speaker's `constraints`.
    """
    task_name, true_duration = rng.choice([*zip(tasks.names, tasks.durations)])
    slot_values: dict[str, int | str] = {
        slot_name: rng.randrange(*number_range)
        for slot_name, number_range in ASIDE_NUMBERS.items()
    }
    slot_values |= {
        "unit": unit,
        "weekday": rng.choice(words.WEEKDAYS),
        "task": task_name,
    }
    forbidden_text = f"{constraints} {task_name}: {true_duration}"
    if any(
        lookalike_format.format(**slot_values) in forbidden_text
        for lookalike_format in LOOKALIKES
    ):
        return _fill_aside(rng, unit, tasks, constraints, pattern)
    return pattern.format(**slot_values)


def columns(
    rng: random.Random,
    kind: str,
    people: list[str],
    project: Project,
    own: list,
    common: list,
    asides: Asides,
) -> dict:
    """Return the columns that both kinds have.

    `own` sentences are said by each of the people, `common` ones by any. The question has
    the rules of rests where somebody needs one.
    """
    turns = _draw_turns(rng, people, own, common)
    kind_texts, unit = TEXTS[kind], UNITS[kind]
    _digress(rng, turns, asides, unit, project, dict(zip(people, own)))
    text_slots = {"people": words.joined(people), "count": len(project.names)}
    text_slots |= {"unit": unit, "Unit": unit.title(), "others": kind_texts["others"]}
    question_parts = [TEXTS["rules"], kind_texts["rules"]]
    if any(worker.most_in_row for worker in project.people):
        question_parts.append(TEXTS["rows rule"])
    if any(worker.most_in_row or worker.between for worker in project.people):
        question_parts.append(TEXTS["time off rule"])
    question_parts.append(rng.choice(kind_texts["ask"]))
    return {
        "dialogue": [
            f"{speaker}: {' '.join(turn_sentences)}"
            for speaker, turn_sentences in turns
        ],
        "question": " ".join(question_parts).format(**text_slots),
        "tasks": dict(zip(project.names, project.durations)),
        "dependencies": project.pairs(),
        "agents": people,
    }


def _draw_turns(
    rng: random.Random, people: list[str], own: list, common: list
) -> list[tuple[str, list[str]]]:
    """Return turns (speaker, sentences) in an order that is drawn, none by who just spoke."""
    speakers_and_sentences = [
        (speaker, sentence)
        for speaker, own_sentences in zip(people, own)
        for sentence in own_sentences
    ]
    speakers_and_sentences += [(rng.choice(people), sentence) for sentence in common]
    rng.shuffle(speakers_and_sentences)
    return [
        (speaker, [sentence for _, sentence in pairs_of_speaker])
        for speaker, pairs_of_speaker in groupby(speakers_and_sentences, lambda x: x[0])
    ]


def _digress(
    rng: random.Random,
    turns: list[tuple[str, list[str]]],
    asides: Asides,
    unit: str,
    tasks: Project,
    constraints: dict[str, list[str]],
) -> None:
    """Put asides where people digress: first, last, or at the end of a turn."""
    for dialogue_place, pattern in sorted(asides):
        speaker = rng.choice(turns)[0]
        aside = _fill_aside(rng, unit, tasks, " ".join(constraints[speaker]), pattern)
        turns_of_speaker = [
            turn_sentences
            for turn_speaker, turn_sentences in turns
            if turn_speaker == speaker
        ]
        if dialogue_place == "first":
            turns_of_speaker[0].insert(0, aside)
        elif dialogue_place == "last":
            turns_of_speaker[-1].append(aside)
        else:
            rng.choice(turns_of_speaker).append(aside)
