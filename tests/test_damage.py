"""Damaged rows stop a run when its documents load, in one line, or can be scored.

A row of the hand-made data, the second of two, is damaged in one cell.
"""

import time
from math import isfinite
from random import Random

import pytest

from tests import fuzz
from tests.conftest import EXAMPLES, TASKS
from tests.corpus import FAMILIES
from utils.core.cli import quiet_harness
from utils.core.documents import Rows
from utils.core.files import read_jsonl
from utils.core.task_scorers import Scorer, scorer


CELLS = [  # values in the place of a cell
    *(None, "", " ", "\n", "x", "the", "0", "[]", "{}", "\x00", "\ud7ff", "NaN", 0, -1, 1.5),
    *(True, float("nan"), 10**18, [], [None], [""], ["x"], [0], [["x"]], {}, {"x": None}),
    *(["x"] * 1_000, "9" * 5_000, b"2012-11-05", object(), "\ud800", "x" * 10**5, "[" * 5_000),
    *("[" + "1," * 10**5 + "1]", "{'answer': " + "9" * 5_000 + "}", "{'answer': {'a': 1}}"),
    *("{'answer': ''}", "{'answer': None}", "{'answer': []}", "{1: 2}", "{'answer': nan}"),
    *('{"answer": 1e999}', '{"explanation": 1}', '{"answer": 1, "answer": 2}', "{'a'}"),
    *("{'answer': 1j}", "{'answer': ...}", "__import__('os')", "1_000", "2012-13-05", "20121105"),
    *("2012-11-05", "2012\u201111\u201105", "2020-05-28 24:00 GMT", "2020-05-28 16:00 GMT"),
    *("Aug, 1987", "Aug", "1987", "Neutral", "unanswerable", ["no"] * 4, ["yes"], [1, 0, 0, 1]),
]  # fmt: skip
MARKS = "{}[]()\"'\\,:;.-+/ "
PIECES = [  # within one
    *("", "", "", *MARKS, *"\n\x00019aNé\u2028\u0661\uff11", "{{", "}}", "[1]", "None", "NaN"),
    *("1e999", "9" * 400, "{[1]: 2}", "(1,)", "b'x'", "1j", "...", "[" * 300, "{'a':" * 200),
    *("\\ud800", "'explanation': 5, ", "f'{x}'", "**{}", "'a' 'b'", "007", ",,", "lambda: 0"),
]  # fmt: skip
MARKER = "Thus, the correct answer is:"
RESPONSES = [
    *(" ", "A", "{}", '{"answer": ""}', '{"answer": []}', "\\boxed{}", '{"answer": 1}'),
    *("\\boxed{2012-11-05}", "\\boxed{2020-05-28 16:00 GMT}", '{"unordered_list": ["x"]}'),
    *(MARKER, f"{MARKER} A, B. x C", f"{MARKER} Aug, 1987", "Final answer: B. Neutral"),
]  # fmt: skip
SECONDS = 20  # of processor time for a row and all responses: 200 KB take 2 at most


def schemas(family: str) -> list[tuple[Scorer, list[dict]]]:
    """Return each function that makes documents of a family, with rows that it takes."""
    scorers = (one for one in map(scorer, TASKS) if one.family == family)
    known = {one.process_docs: one for one in scorers}.values()
    return [(one, read_jsonl(EXAMPLES / "data" / f"{one.file}.jsonl")) for one in known]


def damaged(random: Random, cell: object) -> object:
    """Return what a cell becomes: another value, or the same with pieces less or more."""
    if not cell or not isinstance(cell, str | list) or random.random() < 0.3:
        return random.choice(CELLS)
    if isinstance(cell, list):
        place = random.randrange(len(cell))
        new = random.choice([[], [cell[place]] * 2, [damaged(random, cell[place])]])
        return [*cell[:place], *new, *cell[place + 1 :]]
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        # Brackets are few among the letters: half of the changes are made at one.
        marks = [place for place, mark in enumerate(cell) if mark in MARKS]
        start = random.choice([*marks, len(cell)])
        start = random.choice([start, random.randrange(len(cell) + 1)])
        end = start + random.choice([0, 0, 1, 1, 2, 5])
        cell = f"{cell[:start]}{random.choice(PIECES)}{cell[end:]}"
    return cell


def score_all(one: Scorer, doc: dict) -> None:
    """Every response to a document can be scored, and an empty one scores nothing."""
    for response in ("", *RESPONSES):
        for name, score in one.process_results(doc, [response]).items():
            is_error = not one.metrics[name].higher_is_better
            assert type(score) is float and isfinite(score), (name, score)
            assert is_error or 0 <= score <= bool(response), (name, score)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", fuzz.sizes(150, 100_000))
def test_a_damaged_row_stops_in_one_line_or_can_be_scored(family, number):
    random, known, accepted = fuzz.random_of(family), schemas(family), 0
    for _ in range(number):
        one, sound = random.choice(known)
        first, second = random.choices(sound, k=2)
        column = random.choice(list(second))
        cell = damaged(random, second[column])
        start = time.process_time()
        try:
            with quiet_harness():
                docs = list(one.process_docs(Rows([first, second | {column: cell}])))
            for doc in docs[1:]:
                score_all(one, doc)
                accepted += 1
        except ValueError as error:
            fault = str(error)
            assert "\n" not in fault and len(fault) < 400, fault
            assert "row 1" in fault and any(repr(x) in fault for x in second), fault
        except Exception as error:
            raise AssertionError((one.task, column, str(cell)[:500])) from error
        assert time.process_time() - start < SECONDS, (one.task, column, str(cell)[:99])
    assert number / 20 < accepted < number * 0.95


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_column_is_named(family):
    for one, sound in schemas(family):
        faults = []
        for column in sound[0]:
            names = sound[0].keys() - {column}
            try:
                one.process_docs(Rows([{x: row[x] for x in names} for row in sound]))
            except ValueError as error:
                faults.append(f"'{column}'" in str(error) and "missing" in str(error))
        assert faults and all(faults)
