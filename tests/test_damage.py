"""Damaged rows stop a run when its documents load, in one line, or can be scored.

A row of the hand-made data is damaged in one cell: by another value in its place, or by a
character more, less or other in a text, brackets and quotation marks first.
"""

import logging
from itertools import count
from pathlib import Path
from random import Random

import datasets
import pytest

from tests.conftest import EXAMPLES, configuration
from tests.corpus import FAMILIES, HEADLINES, read_jsonl
from utils.families import Scorer, all_tasks, scorer


CELLS = [
    *(None, "", " ", "\n", "x", "the", "0", "[]", "{}", "''", "\x00", "\ud7ff", "NaN"),
    *(0, -1, 1.5, True, float("nan"), 10**18, [], [None], [""], ["x"], [0], [[]], [["x"]]),
    *({}, {"x": None}, {"x": "y"}, [{"x": 1}], ["x"] * 1_000, "x" * 10_000, "9" * 5_000),
    *("{'answer': ''}", "{'answer': None}", "{'answer': []}", "{'answer': {}}", "{1: 2}"),
    *("{'answer': {'a': 1}}", "{{'answer': 1}}", "{[1]: 2}", "{'answer': nan}", "{'a'}"),
    *('{"answer": NaN}', '{"answer": Infinity}', '{"answer": 1e999}', '{"explanation": "x"}'),
    *('{"answer": 1, "answer": 2}', "{'answer': b'x'}", "{'answer': 1j}", "{'answer': ...}"),
    *("[" * 5_000, "{'answer': " + "[" * 5_000, "-" * 5_000 + "1", "(" * 200, "1_000"),
    *('{"answer": [' + "1," * 50_000 + "1]}", "{'answer': 'a' 'b'}", "__import__('os')"),
    *("2012-13-05", "2012-11-05", "2012-11-05 16:00", "2012-11-05 16:00 GMT", "05/11/2012"),
    *("2020-05-28 25:00 GMT", "2020-05-28 16:00 PST", "0000-00-00", "Aug, 1987", "Aug"),
    *("1987", "Sometember, 1987", "Neutral", "entailment", "unanswerable", ["no"] * 4),
    *(["yes"], ["yes", "no", "maybe", "no"], ["no", "yes", "yes", "no", "no"], [1, 0, 0, 1]),
]  # fmt: skip
MARKS = "{}[]()\"'\\,:;.-+/ \n\x00019aNé\u2028"
RESPONSES = [
    *("", " ", "A", "{}", "[]", "{\"answer\": \"\"}", "{\"answer\": []}", "\\boxed{}"),
    *("\\boxed{2012-11-05}", "\\boxed{2020-05-28 16:00 GMT}", '{"answer": 1}'),
    *("{'answer': 'x'}", '{"day": "+1", "time": "01:10"}', '{"unordered_list": ["x"]}'),
    *("Thus, the correct answer is:", "Thus, the correct answer is: A, B. x C"),
    *("Thus, the correct answer is: Aug, 1987", "Thus, the correct answer is: the"),
    *("Thus, the correct answer is: unanswerable", "Final answer: B. Neutral"),
    "Thus, the correct answer is: The moon is up. The sun is not.",
]  # fmt: skip
EMPTY = RESPONSES[:2]
LONGEST_MESSAGE = 400


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


def damaged(random: Random, row: dict) -> dict:
    """Return the row with one cell lost, replaced, or changed within."""
    column = random.choice(list(row))
    cell, others = row[column], {key: row[key] for key in row if key != column}
    match random.choice(["lost", "replaced", "replaced", *["changed"] * 5]):
        case "lost":
            return others
        case "replaced":
            values = [*CELLS, *others.values()]
            return others | {column: random.choice(values)}
        case _:
            return others | {column: changed(random, cell)}


def changed(random: Random, cell: object) -> object:
    """Return a cell with a change at one place within."""
    if isinstance(cell, str) and cell:
        # Brackets are few among the letters: half of the changes are made at one.
        places = [i for i, mark in enumerate(cell) if mark in MARKS]
        if not places or random.random() < 0.5:
            places = range(len(cell))
        place = random.choice(places)
        new = random.choice(["", "", random.choice(MARKS), cell[place] * 2])
        return cell[:place] + new + cell[place + 1 :]
    if isinstance(cell, list) and cell:
        place = random.randrange(len(cell))
        new = random.choice([[], [cell[place]] * 2, [changed(random, cell[place])]])
        return [*cell[:place], *new, *cell[place + 1 :]]
    if isinstance(cell, bool | int | float):
        return random.choice([-cell, cell + 1, str(cell), None])
    return random.choice(CELLS)


def load(one: Scorer, row: dict) -> list[dict]:
    """Return the documents of a row; none where no data set can hold the row."""
    try:
        rows = datasets.Dataset.from_list([row])
    except Exception:  # of pyarrow, before our code
        return []
    try:
        return list(one.process_docs(rows))
    except ValueError as error:
        message = str(error)
    except Exception as error:
        raise AssertionError((one.task, str(row)[:500])) from error
    assert "\n" not in message and len(message) < LONGEST_MESSAGE, message
    assert any(f"'{column}'" in message for column in columns(one)), message
    assert "row 0" in message or "missing" in message, message
    return []


def columns(one: Scorer) -> list[str]:
    """Return the columns of an undamaged row."""
    return list(read_jsonl(data_file(one.task))[0])


def check_damaged_rows(family: str, rows_to_damage: int) -> None:
    random = Random(family)
    known = schemas(family)
    accepted = 0
    for _ in range(rows_to_damage):
        one, rows = random.choice(known)
        row = damaged(random, random.choice(rows))
        for doc in load(one, row):
            accepted += 1
            check_scores(one, doc, row)
    assert rows_to_damage / 20 < accepted < rows_to_damage * 0.9


def check_scores(one: Scorer, doc: dict, row: dict) -> None:
    """Every response to a document can be scored, and an empty one scores nothing."""
    for response in RESPONSES:
        try:
            scores = one.process_results(doc, [response])
        except Exception as error:
            raise AssertionError((one.task, response, str(row)[:500])) from error
        assert all(type(x) is float and 0 <= x <= 1 for x in scores.values()), scores
        if response in EMPTY:
            names = [name for names in HEADLINES.values() for name in names]
            assert not any(scores.get(name) for name in names), (one.task, row)


@pytest.fixture(autouse=True)
def without_hashing(monkeypatch) -> None:
    """Give data sets names instead of hashes, which take most of the time."""
    names = map(str, count())
    target = "datasets.arrow_dataset.generate_fingerprint"
    monkeypatch.setattr(target, lambda _: next(names))
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_damaged_row_stops_in_one_line_or_can_be_scored(family):
    check_damaged_rows(family, 2_000)


@pytest.mark.fuzz
@pytest.mark.parametrize("family", FAMILIES)
def test_many_damaged_rows(family):
    check_damaged_rows(family, 100_000)
