"""Fresh TCP: the generator and a solver of the columns find the same end."""

import re

import pytest

from lm_eval_tasks.fresh.utils import find_generator, rows
from tests.solvers.tcp import read_project, solve_row


KINDS = ["tcp_short", "tcp_long"]
short = find_generator("tcp_short")
tcp = short.tcp


@pytest.mark.parametrize("kind", KINDS)
def test_the_label_is_the_earliest_end_of_all_schedules(kind):
    for row in rows(kind, 20261121, 25, range(1, 6)):
        assert solve_row(row).answers == (row["answer"],), row


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_constraint_that_a_row_states_changes_its_end(kind):
    constraints = ("dependencies", "absences", "lunch_break", *REST_KEYS[::2])
    for row in rows(kind, 20261121, 10, range(3, 5)):
        project = read_project(row)
        for constraint in constraints:
            if read_project(row, constraint) != project:
                assert solve_row(row, constraint).answers != (row["answer"],)


DECOY = re.compile(
    "former|old (job|contract)|used to|ears ago|brother|flatmate|cousin|next door"
    "|another team|last (time|project)"
)
OWN = re.compile(r"\b(I|I'm|my|My|me)\b")
VALUE = re.compile(r"\d\d:\d\d|\d+ (?:hours|days)|[A-Z]\w+day")
LENGTH = re.compile(r"the ([\w ]+) (?:took|takes) (\d+)", re.I)


@pytest.mark.parametrize("kind", KINDS)
def test_a_digression_has_no_value_of_its_speaker_and_no_length_of_its_task(kind):
    knobs = {kind: {"distractors": 12, "lookalikes": 12}}
    count = 0
    for row in rows(kind, 20261121, 30, range(4, 6), knobs):
        decoys = []
        for person in row["agents"]:
            lines = [x for x in row["dialogue"] if x.startswith(f"{person}: ")]
            sentences = re.split(r"(?<=\.) |: ", " ".join(lines))
            own = [x for x in sentences if OWN.search(x) and not DECOY.search(x)]
            asides = [x for x in sentences if DECOY.search(x)]
            own_values = VALUE.findall(" ".join(own))
            values = VALUE.findall(LENGTH.sub("", " ".join(asides)))
            assert not {*values} & {*own_values}, row
            decoys, count = decoys + asides, count + len(own_values)
        lengths = LENGTH.findall(" ".join(decoys))
        assert len(decoys) == 12 and len(lengths) == 2
        assert all(row["tasks"][task] != int(length) for task, length in lengths)
    assert count > 30


def test_a_simple_order_goes_by_the_longest_chain_that_each_task_begins():
    free = tcp.Person([(hour, tcp.WORK) for hour in range(20)])
    project = tcp.Project([4, 4, 2, 3, 1], [[], [], [], [2], [0]], [free, free])
    search = tcp.Search(project, tcp.RULES, tcp.Bounds(project))
    assert search.simple(0) == 7  # 8 where chains are those of other tasks


DAY = {"working_hours": [9, 17]}
NOON = DAY | {"lunch_break": [12, 13]}
ROW = {"max_consecutive": 2, "break_after": 1}
ENDS = [
    # (hour of the start, tasks, dependencies, people, the only answer or None)
    (9, [3], [], [DAY], "03 12:00"),
    (9, [3], [], [DAY, DAY], "03 12:00"),  # nobody helps
    (7, [3], [], [DAY], "03 12:00"),
    (9, [9], [], [DAY], "04 10:00"),
    (9, [5], [], [NOON], "03 15:00"),
    (22, [5], [], [{"working_hours": [22, 2]}], "04 23:00"),
    (20, [4], [], [{"working_hours": [20, 0]}], "04 00:00"),
    (1, [3], [], [{"working_hours": [22, 2]}], "04 00:00"),
    (9, [2, 3], [], [DAY, DAY], "03 12:00"),
    (9, [2, 3], [(0, 1)], [DAY, DAY], "03 14:00"),
    (9, [2, 3, 1], [(0, 2), (1, 2)], [DAY, DAY], "03 13:00"),
    # The order decides: the long task first.
    (9, [1, 1, 2], [], [DAY, DAY], "03 11:00"),
    # A task that could be begun at once is better left to who comes later.
    (9, [6], [], [{"working_hours": [9, 11]}, {"working_hours": [12, 20]}], "03 18:00"),
    (9, [5], [], [DAY | ROW], "03 16:00"),
    (9, [2, 2], [], [DAY | {"break_between": 1}], "03 14:00"),
    # What follows hangs on how a rule is read: whether a pause on purpose saves a rest; a
    # meal is a rest; it ends a row; a row goes on in the next task; the night, or the rest
    # after a row, is time off between two tasks.
    (9, [5], [], [DAY | {"max_consecutive": 3, "break_after": 2}], None),
    (9, [5], [], [NOON | {"max_consecutive": 3, "break_after": 1}], None),
    (9, [6], [], [NOON | {"max_consecutive": 4, "break_after": 1}], None),
    (9, [2, 2], [], [DAY | ROW], None),
    (9, [8, 2], [], [DAY | {"break_between": 1}], None),
    (9, [2, 2], [], [DAY | ROW | {"break_between": 1}], None),
]


def as_row(hour, lengths, pairs, people) -> dict:
    names = "Ana Ben Chloe".split()[: len(people)]
    return {
        "tasks": {f"task {n}": length for n, length in enumerate(lengths)},
        "dependencies": [[f"task {x}", f"task {y}"] for x, y in pairs],
        "agents": names,
        "project_start_datetime_gmt": f"2025-03-03 {hour:02}:00",
        "agent_constraints_gmt": dict(zip(names, people)),
    }


def end_on_the_structure(hour, lengths, pairs, people) -> int | None:
    needs = [[x for x, y in pairs if y == task] for task in range(len(lengths))]
    workers = []
    for rules in people:
        shift = short.Shift("", 0, rules["working_hours"], rules.get("lunch_break"))
        rests = (rules.get(key, 0) for key in REST_KEYS)
        workers.append(tcp.Person(shift.calendar(hour, 240), *rests))
    return tcp.certain_end(tcp.Project(lengths, needs, workers))


REST_KEYS = ("max_consecutive", "break_after", "break_between")


@pytest.mark.parametrize(("hour", "lengths", "pairs", "people", "answer"), ENDS)
def test_only_an_end_that_no_reading_changes_is_certain(
    hour, lengths, pairs, people, answer
):
    end = end_on_the_structure(hour, lengths, pairs, people)
    if answer is None:
        assert end is None
    else:
        row = as_row(hour, lengths, pairs, people)
        assert solve_row(row).answers == (f"2025-03-{answer} GMT",)
        assert f"{3 + (hour + end) // 24:02} {(hour + end) % 24:02}:00" == answer
