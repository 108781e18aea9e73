"""Labels against the answers that the solvers find."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.solvers import Solution, tcp, timexnli_public, tot_arithmetic_public
from tests.solvers.third import (
    date_arithmetic,
    tcp as tcp_text,
    timexnli,
    tot_arithmetic,
    tot_semantic,
)
from utils.core.families import leaf_tasks, prompt, scorer


AGREE, DISAGREE, TWO_READINGS, UNREAD = "agree", "disagree", "two_readings", "unread"


class Checked(NamedTuple):
    """What came of one row."""

    row: int  # from 0 on, as the harness counts documents
    type: str | None
    kind: str
    label: str
    solution: Solution | None


class Solver(NamedTuple):
    """How the rows of a task are solved, and their labels read."""

    solve: Callable[[dict, dict], Solution | None]  # (upstream row, document)
    label: Callable[[dict], str]  # document -> its label
    read: Callable = lambda value: value  # label or answer -> what is compared


def check(task: str, rows: list[dict], documents: list[dict]) -> list[Checked]:
    """Return what a solver makes of each row of a task's file.

    `documents` are those of the rows.
    """
    return [
        _checked(task, number, row, doc)
        for number, (row, doc) in enumerate(zip(rows, documents, strict=True))
    ]


def _checked(task: str, number: int, row: dict, doc: dict) -> Checked:
    solver = SOLVERS[task]
    label = solver.label(doc)
    solution = solver.solve(row, doc)
    kind = UNREAD
    if solution and solution.answers:
        is_one = solver.read(label) in map(solver.read, solution.answers)
        kind = DISAGREE if not is_one else AGREE
        kind = TWO_READINGS if is_one and len(solution.answers) > 1 else kind
    # Of ToT; TimeBench's types are not the solvers'.
    name = doc.get("question_type") if scorer(task).family == "tot" else None
    return Checked(number, name, kind, label, solution)


# ------------------------------------------------------------------- what is compared


def _fields(value: object) -> dict:
    """Return the fields of a label of ToT arithmetic, or of an answer to it.

    The kinds of values and the order of sets do not count: forms are the scorers' affair.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = ast.literal_eval(value)
    fields = {}
    for key, cell in value.items():
        if isinstance(cell, list):
            fields[key] = sorted(cell) if key == "unordered_list" else cell
        else:
            is_whole = isinstance(cell, float) and cell.is_integer()
            fields[key] = str(int(cell) if is_whole else cell)
    return fields


def read(solve: Callable[[str], object], text: str) -> Solution | None:
    """Return what a solver that reads a prompt finds; None where it cannot read it."""
    try:
        answer = solve(text)
        return Solution((answer,), f"{text.splitlines()[0]} {answer}")
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _fresh_pair(row: dict, doc: dict) -> Solution | None:
    pair = f"Premise: {doc['premise']}\nHypothesis: {doc['hypothesis']}"
    return read(timexnli.solve, pair)


def _fresh_plan(row: dict, doc: dict) -> Solution | None:
    return read(tcp_text.solve, prompt("fresh_tcp_short", doc))


def _gold(doc: dict) -> str:
    return doc["golds"][0]


def _label(doc: dict) -> str:
    return doc["label"]


_KINDS = (
    (
        Solver(lambda row, doc: read(date_arithmetic.solve, doc["question"]), _gold),
        ("timebench_date_arithmetic", "fresh_date_arithmetic"),
    ),
    (
        Solver(
            lambda row, doc: timexnli_public.solve(doc["premise"], doc["hypothesis"]),
            _label,
        ),
        tuple(f"timebench_timexnli_s{n}" for n in (1, 2, 3)),
    ),
    (Solver(_fresh_pair, _label), ("fresh_timexnli",)),
    (
        Solver(
            lambda row, doc: tot_arithmetic_public.solve(doc["question"]),
            _label,
            _fields,
        ),
        ("tot_arithmetic",),
    ),
    (
        Solver(
            lambda row, doc: read(tot_arithmetic.solve, doc["question"]),
            _label,
            _fields,
        ),
        ("fresh_tot_arithmetic",),
    ),
    (
        Solver(
            lambda row, doc: read(tot_semantic.solve, doc["prompt"]),
            _label,
            lambda text: text.replace(" ", ""),
        ),
        ("tot_semantic", "tot_semantic_large", "fresh_tot_semantic"),
    ),
    (
        Solver(lambda row, doc: tcp.solve_row(row), lambda doc: doc["answer"]),
        leaf_tasks("tcp"),
    ),
    (
        Solver(_fresh_plan, lambda doc: doc["answer"]),
        ("fresh_tcp_short", "fresh_tcp_long"),
    ),
)
SOLVERS = {task: solver for solver, tasks in _KINDS for task in tasks}


# ------------------------------------------------------------------------- what is told


def table(file: str, found: list[Checked]) -> Iterator[dict]:
    """Yield the counts of a file, and of each type of question in it."""
    is_read = any(one.kind != UNREAD for one in found)
    types = sorted({one.type for one in found if is_read and one.type is not None})
    for name in (None, *types):
        those = [one for one in found if name in (None, one.type)]
        counts = {
            kind: sum(one.kind == kind for one in those)
            for kind in (AGREE, DISAGREE, TWO_READINGS, UNREAD)
        }
        recomputed = len(those) - counts.pop(UNREAD)
        yield {
            "file": file,
            "question_type": name,
            "rows": len(those),
            "recomputed": recomputed,
            "share": f"{100 * recomputed // len(those)}%",
            **counts,
        }


def lines(file: str, found: list[Checked]) -> Iterator[dict]:
    """Yield a line for each row that was recomputed and does not agree."""
    for one in found:
        if one.kind in (DISAGREE, TWO_READINGS):
            yield {
                "file": file,
                "row": one.row,
                "question_type": one.type,
                "kind": one.kind,
                "label": one.label,
                "answers": list(one.solution.answers),
                "reckoning": one.solution.reckoning,
            }
