"""Labels against the answers that the solvers find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.solvers import Solution, tcp, timexnli_public, tot_arithmetic_public
from tests.solvers.obedient import read_label
from tests.solvers.third import (
    date_arithmetic,
    tcp as tcp_text,
    timexnli,
    tot_arithmetic,
    tot_semantic,
)
from utils.core.task_scorers import leaf_tasks, prompt, scorer


AGREE, DISAGREE, TWO_READINGS, UNREAD = "agree", "disagree", "two_readings", "unread"


class Checked(NamedTuple):
    """What came of one row."""

    row: int  # from 0 on, as the harness counts documents
    question_type: str | None
    kind: str
    label: str
    solution: Solution | None


class Solver(NamedTuple):
    """How the rows of a task are solved, and labels and answers compared."""

    solve: Callable[[dict, dict], Solution | None]  # (upstream row, document)
    read: Callable = lambda value: value  # label or answer -> what is compared


def check(task: str, rows: list[dict], documents: list[dict]) -> list[Checked]:
    """Return what a solver makes of each row of a task's file, and its document."""
    pairs = enumerate(zip(rows, documents, strict=True))
    return [_checked(task, number, *pair) for number, pair in pairs]


def _checked(task: str, number: int, row: dict, doc: dict) -> Checked:
    solver = SOLVERS[task]
    label = doc.get("answer") or doc.get("label") or doc["golds"][0]
    solution, kind = solver.solve(row, doc), UNREAD
    if solution and solution.answers:
        is_one = solver.read(label) in map(solver.read, solution.answers)
        kind = DISAGREE if not is_one else AGREE
        kind = TWO_READINGS if is_one and len(solution.answers) > 1 else kind
    # Of ToT; TimeBench's types are not the solvers'.
    name = doc.get("question_type") if scorer(task).family == "tot" else None
    return Checked(number, name, kind, label, solution)


# ----------------------------------------------------------------------- the solvers


def read(solve: Callable[[str], object], text: str) -> Solution | None:
    """Return what a solver that reads a prompt finds; None where it cannot read it."""
    try:
        answer = solve(text)
        return Solution((answer,), f"{text.splitlines()[0]} {answer}")
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _fields(value: str | dict) -> dict:
    """Return the fields of a label of ToT arithmetic, or of an answer to it.

    The kinds of values and the order of sets do not count: forms are the scorers' affair.
    """
    fields = {}
    for key, cell in (read_label(value) if isinstance(value, str) else value).items():
        if isinstance(cell, list):
            fields[key] = sorted(cell) if key == "unordered_list" else cell
        else:
            is_whole = isinstance(cell, float) and cell.is_integer()
            fields[key] = str(int(cell) if is_whole else cell)
    return fields


def _pair(row: dict, doc: dict) -> Solution | None:
    pair = f"Premise: {doc['premise']}\nHypothesis: {doc['hypothesis']}"
    return read(timexnli.solve, pair)


_MONTH = Solver(lambda row, doc: read(date_arithmetic.solve, doc["question"]))
_ENTITY = Solver(
    lambda row, doc: read(tot_semantic.solve, doc["prompt"]),
    lambda text: text.replace(" ", ""),
)
_PLAN = Solver(lambda row, doc: read(tcp_text.solve, prompt("fresh_tcp_short", doc)))
_PUBLIC_PAIR = Solver(
    lambda row, doc: timexnli_public.solve(doc["premise"], doc["hypothesis"])
)
SOLVERS = {
    "timebench_date_arithmetic": _MONTH,
    "fresh_date_arithmetic": _MONTH,
    **{f"timebench_timexnli_s{n}": _PUBLIC_PAIR for n in (1, 2, 3)},
    "fresh_timexnli": Solver(_pair),
    "tot_arithmetic": Solver(
        lambda row, doc: tot_arithmetic_public.solve(doc["question"]), _fields
    ),
    "fresh_tot_arithmetic": Solver(
        lambda row, doc: read(tot_arithmetic.solve, doc["question"]), _fields
    ),
    "tot_semantic": _ENTITY,
    "tot_semantic_large": _ENTITY,
    "fresh_tot_semantic": _ENTITY,
    **dict.fromkeys(leaf_tasks("tcp"), Solver(lambda row, doc: tcp.solve_row(row))),
    "fresh_tcp_short": _PLAN,
    "fresh_tcp_long": _PLAN,
}


# ------------------------------------------------------------------------ the tables


def table(file: str, rows: list[Checked]) -> Iterator[dict]:
    """Yield the counts of a file, and of each type of question in it."""
    is_read = any(row.kind != UNREAD for row in rows)
    types = {row.question_type for row in rows if is_read} - {None}
    for name in (None, *sorted(types)):
        kinds = [row.kind for row in rows if name in (None, row.question_type)]
        recomputed = len(kinds) - kinds.count(UNREAD)
        yield {
            "file": file,
            "question_type": name,
            "rows": len(kinds),
            "recomputed": recomputed,
            "share": f"{100 * recomputed // len(kinds)}%",
            **{kind: kinds.count(kind) for kind in (AGREE, DISAGREE, TWO_READINGS)},
        }


def lines(file: str, rows: list[Checked]) -> Iterator[dict]:
    """Yield a line for each row that was recomputed and does not agree."""
    for row in rows:
        if row.kind in (DISAGREE, TWO_READINGS):
            fields = {"file": file, **row._asdict(), **row.solution._asdict()}
            yield {key: fields[key] for key in fields if key != "solution"}
