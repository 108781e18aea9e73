"""Damaged rows stop a run when its documents load, in one line, or can be scored.

A row of the hand-made data, the second of two, is damaged in one cell: by another value in
its place, or by a piece more, less or other within it, at brackets and quotation marks
first.
"""

import time
from math import isfinite
from pathlib import Path
from random import Random

import pytest

from tests.conftest import EXAMPLES, configuration
from tests.corpus import FAMILIES
from utils.core.documents import Rows, quiet_harness
from utils.core.families import Scorer, all_tasks, scorer
from utils.core.jsonl import read_jsonl


CELLS = [  # values in the place of a cell
    *(None, "", " ", "\n", "x", "the", "0", "[]", "{}", "\x00", "\ud7ff", "NaN", 0, -1, 1.5),
    *(True, float("nan"), 10**18, [], [None], [""], ["x"], [0], [["x"]], {}, {"x": None}),
    *(["x"] * 1_000, "x" * 10_000, "9" * 5_000, b"2012-11-05", (1, 2), object(), {1: 2}),
    *("{'answer': ''}", "{'answer': None}", "{'answer': []}", "{'answer': {'a': 1}}", "{1: 2}"),
    *("{{'answer': 1}}", "{'answer': nan}", "{'a'}", '{"answer": 1e999}', '{"explanation": 1}'),
    *('{"answer": 1, "answer": 2}', "{'answer': b'x'}", "{'answer': 1j}", "{'answer': ...}"),
    *("\ud800", "x" * 10**6, "[" + "1," * 10**6 + "1]", "[" * 5_000, "-" * 9_000 + "1"),
    *("{'answer': " + "9" * 5_000 + "}", "{'answer': 'a' 'b'}", "__import__('os')", "1_000"),
    *("2012-11-05\n", "2012\u201111\u201105", "2012-W45-1", "20121105", "2012-13-05", "2012-11-05"),
    *("2020-05-28 24:00 GMT", "2020-05-28T16:00 GMT", "2020-05-28 16:00 GMT", "0000-00-00"),
    *("Aug, 1987", "Aug", "1987", "Sometember, 1987", "Neutral", "unanswerable", ["no"] * 4),
    *(["yes"], ["yes", "no", "maybe", "no"], ["no", "yes", "yes", "no", "no"], [1, 0, 0, 1]),
]  # fmt: skip
MARKS = "{}[]()\"'\\,:;.-+/ "
PIECES = [  # within one
    *("", "", "", *MARKS, *"\n\x00019aNé\u2028\u0661\uff11", "{{", "}}", "[1]", "None", "NaN"),
    *("1e999", "9" * 400, "{[1]: 2}", "(1,)", "b'x'", "1j", "...", "[" * 300, "{'a':" * 200),
    *("\\ud800", "'explanation': 5, ", "f'{x}'", "**{}", "'a' 'b'", "007", ",,", "lambda: 0"),
]  # fmt: skip
RESPONSES = [
    *("", " ", "A", "{}", '{"answer": ""}', '{"answer": []}', "\\boxed{}", '{"answer": 1}'),
    *("\\boxed{2012-11-05}", "\\boxed{2020-05-28 16:00 GMT}", "{'answer': 'x'}"),
    *('{"day": "+1", "time": "01:10"}', '{"unordered_list": ["x"]}'),
    *("Thus, the correct answer is:", "Thus, the correct answer is: A, B. x C"),
    *("Thus, the correct answer is: Aug, 1987", "Final answer: B. Neutral"),
    "Thus, the correct answer is: The moon is up. The sun is not.",
]  # fmt: skip
EMPTY = RESPONSES[:2]
LONGEST_MESSAGE = 400
SECONDS = 2.0  # of processor time, for a row of any content and all responses


def schemas(family: str) -> list[tuple[Scorer, list[dict]]]:
    """Return each function that makes documents of a family, with rows that it takes."""
    found = {}
    for task in all_tasks():
        one = scorer(task)
        if one.family == family:
            found[one.process_docs.__name__] = one
    return [(one, read_jsonl(data_file(one.task))) for one in found.values()]


def data_file(task: str) -> Path:
    """Return the file of the offline pack that has a task's rows."""
    name = configuration(EXAMPLES / f"{task}.yaml")["dataset_kwargs"]["data_file"]
    return EXAMPLES / "data" / name


def damaged(random: Random, row: dict) -> tuple[str, object]:
    """Return a column and what its cell becomes."""
    column = random.choice(list(row))
    if random.random() < 0.3:
        return column, random.choice([*CELLS, *row.values()])
    return column, changed(random, row[column])


def changed(random: Random, cell: object) -> object:
    """Return a cell with a change at some places within."""
    if isinstance(cell, str) and cell:
        for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
            cell = _with_a_piece(random, cell)
        return cell
    if isinstance(cell, list) and cell:
        place = random.randrange(len(cell))
        new = random.choice([[], [cell[place]] * 2, [changed(random, cell[place])]])
        return [*cell[:place], *new, *cell[place + 1 :]]
    if isinstance(cell, bool | int | float):
        return random.choice([-cell, cell + 1, str(cell), None])
    return random.choice(CELLS)


def _with_a_piece(random: Random, text: str) -> str:
    # Brackets are few among the letters: half of the changes are made at one.
    places = [place for place, mark in enumerate(text) if mark in MARKS]
    if not places or random.random() < 0.5:
        places = range(len(text) + 1)
    start = random.choice(places)
    return text[:start] + random.choice(PIECES) + text[start + random.choice([0, 0, 1, 1, 2, 5]) :]  # fmt: skip


def load(one: Scorer, rows: Rows) -> list[dict]:
    """Return the documents of the rows, none where one is refused as it should be."""
    try:
        with quiet_harness():
            return list(one.process_docs(rows))
    except ValueError as error:
        message = str(error)
    assert "\n" not in message and len(message) < LONGEST_MESSAGE, message
    assert any(f"'{column}'" in message for column in rows.column_names), message
    assert "row 1" in message, message
    return []


def check_damaged_rows(family: str, number: int) -> None:
    random = Random(family)
    known = schemas(family)
    accepted = 0
    for _ in range(number):
        one, sound = random.choice(known)
        first, second = random.choice(sound), random.choice(sound)
        column, cell = damaged(random, second)
        rows = Rows([first, second | {column: cell}])
        start = time.process_time()
        try:
            for doc in load(one, rows)[1:]:
                check_scores(one, doc)
                accepted += 1
        except Exception as error:
            raise AssertionError((one.task, column, str(cell)[:500])) from error
        assert time.process_time() - start < SECONDS, (one.task, column, str(cell)[:99])
    assert number / 20 < accepted < number * 0.95


def check_scores(one: Scorer, doc: dict) -> None:
    """Every response to a document can be scored, and an empty one scores nothing."""
    for response in RESPONSES:
        scores = one.process_results(doc, [response])
        assert all(type(x) is float and isfinite(x) for x in scores.values()), scores
        for name, is_score in one.higher_is_better.items():
            assert not is_score or 0 <= scores[name] <= 1, scores
        if response in EMPTY:
            assert not any(scores[name] for name in one.headline or ()), scores


@pytest.mark.parametrize("family", FAMILIES)
def test_a_damaged_row_stops_in_one_line_or_can_be_scored(family):
    check_damaged_rows(family, 1_000)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_column_is_named(family):
    for one, sound in schemas(family):
        for column in sound[0]:
            rows = Rows([{x: row[x] for x in row if x != column} for row in sound])
            try:
                one.process_docs(rows)
            except ValueError as error:
                assert f"'{column}'" in str(error) and "missing" in str(error)


@pytest.mark.fuzz
@pytest.mark.parametrize("family", FAMILIES)
def test_many_damaged_rows(family):
    check_damaged_rows(family, 100_000)
