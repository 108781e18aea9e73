"""Fresh dates and NLI: two solvers that share no code agree, and levels are levels."""

import json
import re

import pytest

from lm_eval_tasks.fresh.utils import rows
from tests.solvers import date_arithmetic, timexnli
from utils.core.jsonl import read_jsonl


LEVELS = range(1, 6)
MONTH = r"[A-Z][a-z]{2}, \d+"


def gold(row: dict) -> str:
    return row["Label"] if "Label" in row else row["answer"][0]


def second_solver(row: dict):
    if "Label" in row:
        return timexnli.solve(row["Premise"], row["Hypothesis"])
    return date_arithmetic.solve(row["question"])


def first_named(row: dict) -> str:
    """Answer without reasoning: the first month, the first date against the other."""
    if "Label" not in row:
        return re.search(MONTH, row["question"])[0]
    how = re.search(r"\b(on|before|after) (the day|\d)", row["Premise"])[1]
    day = re.search(r"\d+ \w+ \d{4}", row["Premise"])[0]
    premise = f"The event {how} {day}."
    hypothesis = (
        "The event " + re.search(r"(on|before|after) \d.*", row["Hypothesis"])[0]
    )
    return timexnli.solve(premise, hypothesis).answers[0]


def one_step(row: dict) -> str | None:
    """Answer by the first step of the way alone."""
    if "Label" in row:
        sentences = re.findall(r"[^.]+\.", row["Premise"])
        row = row | {"Premise": " ".join(sentences[:3])}
        solution = timexnli.solve(row["Premise"], row["Hypothesis"])
        return solution.answers[0] if solution else "Neutral"
    step = re.search(r"(?:Then go|Go) [^.]+\.", row["question"])
    if not step:
        return second_solver(row).answers[0]
    start = re.match(rf"Start in {MONTH}\.", row["question"])[0]
    return date_arithmetic.solve(f"{start} {step[0]} Which month is it?").answers[0]


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


@pytest.mark.parametrize("name", ["date_arithmetic", "timexnli"])
@pytest.mark.parametrize("answer", [first_named, one_step])
def test_what_does_not_go_the_whole_way_falls_with_the_level(name, answer):
    made = rows(name, 12, 1500, LEVELS)
    right = {level: 0 for level in LEVELS}
    for row in made:
        right[row["level"]] += answer(row) == gold(row)
    assert right[1] >= right[2] >= right[3] - 15
    assert right[3] + 15 >= right[5]
    if (name, answer) != ("date_arithmetic", first_named):
        assert right[1] == 300 > 1.5 * right[5]


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
