"""Fresh rows: solvers that share no code with the generators find the same labels."""

import json
import re

import pytest

from lm_eval_tasks.fresh.utils import rows
from tests.solvers import date_arithmetic, timexnli, tot_arithmetic, tot_semantic
from utils.core.jsonl import read_jsonl


LEVELS = range(1, 6)
TURN = 74  # rows of a level until each kind of ToT arithmetic has had its turn
TYPES = {name: question_type for name, question_type, *_ in tot_arithmetic.FAMILIES}


def has_its_label(name: str, row: dict) -> bool:
    """Return whether the label is the only answer that a second solver finds."""
    match name:
        case "date_arithmetic":
            solution, label = date_arithmetic.solve(row["question"]), row["answer"][0]
        case "timexnli":
            solution = timexnli.solve(row["Premise"], row["Hypothesis"])
            label = row["Label"]
        case "tot_semantic":
            solution, label = tot_semantic.solve(row["prompt"]), row["label"]
        case "tot_arithmetic":
            kind = tot_arithmetic.family(row["question"])
            assert TYPES[kind] == row["question_type"], row
            solution = tot_arithmetic.solve(row["question"])
            label = json.loads(row["label"])
    return solution.answers == (label,)


@pytest.mark.parametrize(
    ("name", "levels", "count"),
    [
        ("date_arithmetic", LEVELS, 200),
        ("timexnli", LEVELS, 200),
        ("tot_semantic", LEVELS, 150),
        ("tot_arithmetic", LEVELS, 5 * TURN),
        ("tot_arithmetic", range(6, 16), 370),
        ("tot_arithmetic", range(60, 61), TURN),
    ],
)
def test_the_second_solver_finds_each_label_and_no_other(name, levels, count):
    for row in rows(name, 11, count, levels):
        assert has_its_label(name, row), row


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "name", ["date_arithmetic", "timexnli", "tot_semantic", "tot_arithmetic"]
)
def test_the_second_solver_finds_the_labels_of_100_000_rows(name):
    made = list(rows(name, 20261121, 100_000, LEVELS))
    assert all(has_its_label(name, row) for row in made)
    own = {json.dumps({**row, "index": 0}) for row in made}
    other = rows(name, 20261122, 100_000, LEVELS)
    assert len(own & {json.dumps({**row, "index": 0}) for row in other}) < 1000


@pytest.mark.parametrize(
    ("name", "column"), [("date_arithmetic", "question"), ("timexnli", "Premise")]
)
def test_a_level_has_one_step_more_than_the_one_before(name, column):
    steps = re.compile(r"\d+ (?:year|month|week|day)s?(?: and \d+ months?)?\b(?! \d)")
    for row in rows(name, 13, 100, LEVELS):
        found = len(steps.findall(row[column])) + (name == "timexnli")
        assert found == row["level"], row


def test_every_real_row_of_date_arithmetic_is_recomputed(shared):
    for row in read_jsonl(shared / "timebench" / "tempreason_l1_timebench.jsonl"):
        assert has_its_label("date_arithmetic", row), row
