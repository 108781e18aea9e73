"""Fresh dates and NLI: two solvers that share no code agree, and levels are levels."""

import json
import re

import pytest

from lm_eval_tasks.fresh.utils import rows
from tests.solvers import date_arithmetic, timexnli
from utils.core.jsonl import read_jsonl


LEVELS = range(1, 6)


def gold(row: dict) -> str:
    return row["Label"] if "Label" in row else row["answer"][0]


def second_solver(row: dict):
    if "Label" in row:
        return timexnli.solve(row["Premise"], row["Hypothesis"])
    return date_arithmetic.solve(row["question"])


@pytest.mark.parametrize("name", ["date_arithmetic", "timexnli"])
def test_the_second_solver_finds_each_label_and_no_other(name):
    for row in rows(name, 11, 200, LEVELS):
        assert second_solver(row).answers == (gold(row),), row


@pytest.mark.fuzz
@pytest.mark.parametrize("name", ["date_arithmetic", "timexnli"])
def test_the_second_solver_finds_the_labels_of_100_000_rows(name):
    made = rows(name, 20261121, 100_000, LEVELS)
    assert all(second_solver(row).answers == (gold(row),) for row in made)
    own = {json.dumps({**row, "index": 0}) for row in made}
    other = rows(name, 20261122, 100_000, LEVELS)
    shared = own & {json.dumps({**row, "index": 0}) for row in other}
    assert len(shared) < 0.01 * len(made)


@pytest.mark.parametrize(
    ("name", "column"), [("date_arithmetic", "question"), ("timexnli", "Premise")]
)
def test_a_level_has_one_step_more_than_the_one_before(name, column):
    steps = re.compile(r"\d+ (?:year|month|week|day)s?(?: and \d+ months?)?\b(?! \d)")
    for row in rows(name, 13, 100, LEVELS):
        found = len(steps.findall(row[column])) + (name == "timexnli")
        assert found == row["level"], row


def test_every_real_row_of_date_arithmetic_is_recomputed(shared):
    path = shared / "timebench" / "tempreason_l1_timebench.jsonl"
    for row in read_jsonl(path):
        assert date_arithmetic.solve(row["question"]).answers == (row["answer"][0],), (
            row
        )
