"""Fresh rows: solvers that share no code with the generators find the same labels."""

import json
import re
from calendar import month_name
from collections import Counter

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
    steps = re.compile(r"\d+ \w+(?: and \d+ \w+)? (?:before|after|forward|back)\b")
    for row in rows(name, 13, 100, LEVELS):
        # Of pairs, every other distractor is a step that leads nowhere.
        more = row["level"] // 2 - 1 if name == "timexnli" else 0
        assert len(steps.findall(row[column])) == row["level"] + more, row


TIMES = {
    "clock": (r"\d+:\d\d|[AP]M", 0.18),
    "weekday": ("All the days named are in the same week", 0.08),
    "day": ("All the days named are in the same month", 0.10),
    "month": ("All the months named", 0.26),
    "date": (r"\d [A-Z]\w+ \d{4}", 0.16),
    "month of a year": (rf"({'|'.join(month_name[1:])}) \d{{4}}", 0.18),
    "year": (r"\d{4}", 0.04),
}


def test_pairs_are_of_the_public_kinds_labels_and_tenses_at_every_level():
    made = list(rows("timexnli", 17, 2000, LEVELS))
    texts = [f"{row['Premise']} {row['Hypothesis']}" for row in made]
    kinds = Counter(
        next(kind for kind, (sign, _) in TIMES.items() if re.search(sign, text))
        for text in texts
    )
    assert all(abs(kinds[x] / 2000 - y) < 0.03 for x, (_, y) in TIMES.items()), kinds
    labels = Counter(row["Label"] for row in made)
    shares = {"Contradiction": 0.426, "Entailment": 0.342, "Neutral": 0.232}  # in s1
    assert all(abs(labels[x] / 2000 - y) < 0.02 for x, y in shares.items()), labels
    assert 0.45 < sum(" will " in text for text in texts) / 2000 < 0.55
    for text in texts:
        years = [int(x) for x in re.findall(r"\b\d{4}\b", text)]
        assert all((x > 2026) == (" will " in text) for x in years), text


def test_every_real_row_of_date_arithmetic_is_recomputed(shared):
    for row in read_jsonl(shared / "timebench" / "tempreason_l1_timebench.jsonl"):
        assert has_its_label("date_arithmetic", row), row
