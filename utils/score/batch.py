"""Scores of many answers at once, for engines that spread batches over processes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar


Batch = TypeVar("Batch")

# The columns that are added, with the types of their cells.
_COLUMNS = {
    "scores": str,
    "published": float,
    "flexible": float,
    "extracted": float,
    "reason": str,
    "published_answer": str,
    "flexible_answer": str,
    "error": str,
}


def score_batch(batch: Batch) -> Batch:
    """Return a batch of answers with columns that say what each scores, and why.

    The batch has the columns `task` (a name), `doc` (a document as the harness logs it,
    or its JSON; a null field counts as absent) and `response` (a text, or a list of
    texts). It is a mapping of lists or NumPy arrays, a pandas DataFrame or a pyarrow
    Table, and so is what is returned, in the same order (a mapping with lists added); a
    batch of `datasets.Dataset.map` becomes a Table, in which a column of nulls has a type.

    Added are: `scores`, all metrics in JSON; `published`, `flexible` and `extracted`, three
    of them; `reason`; `published_answer` and `flexible_answer`, what each rule extracts;
    and `error`, why a row has no scores, null where it has. Where a response is a list,
    so is each of these. Raises ValueError for a batch without one of the columns.
    """
    batch = getattr(batch, "pa_table", batch)  # as `datasets` holds what it maps
    cells = (_cells(batch, name) for name in ("task", "doc", "response"))
    rows = [_row(*row) for row in zip(*cells, strict=True)]
    return _extended(batch, {name: [row[name] for row in rows] for name in _COLUMNS})


def _row(task: object, doc: object, response: object) -> dict:
    response = _plain(response)
    if not isinstance(response, list):
        return _scored(task, doc, response)
    found = [_scored(task, doc, one) for one in response]
    return {name: [one[name] for one in found] for name in _COLUMNS}


def _scored(task: object, doc: object, response: object) -> dict:
    """Return the added cells of one answer, whatever they are made of."""
    from ..core.families import scorer  # not before they are asked for
    from ..runs.answers import Answer
    from ..runs.scoring import score

    try:
        doc = json.loads(doc) if isinstance(doc, str) else doc
        for name, cell, kind in (
            ("task", task, str),
            ("doc", doc, dict),
            ("response", response, str),
        ):
            if not isinstance(cell, kind):
                was = type(cell).__name__
                raise ValueError(f"'{name}' is a {was}, not {kind.__name__}")
        scorer(task)
        answer = Answer("", {}, task, doc=_plain(doc), response=response)
        verdict = score(answer).verdict
    except (ValueError, RecursionError) as error:
        return dict.fromkeys(_COLUMNS) | {"error": _text(str(error).removeprefix(": "))}
    published, flexible = scorer(task).headline or (None, None)
    return {
        "scores": json.dumps(verdict.scores),
        "published": verdict.scores.get(published),
        "flexible": verdict.scores.get(flexible),
        "extracted": verdict.scores["extracted"],
        "reason": verdict.reason,
        "published_answer": _text(verdict.published),
        "flexible_answer": _text(verdict.flexible),
        "error": None,
    }


def _text(text: str | None) -> str | None:
    """Return a text without half surrogate pairs, which Arrow cannot hold."""
    return text and text.encode("utf-8", "backslashreplace").decode()


def _plain(value: object) -> object:
    """Return what Arrow and NumPy made of a value of JSON, without its nulls."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {name: _plain(x) for name, x in value.items() if x is not None}
    return [_plain(x) for x in value] if isinstance(value, list) else value


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _cells(batch: object, name: str) -> Iterable:
    try:
        column = batch[name]
    except KeyError:
        raise ValueError(
            f"the batch has no column '{name}'; give 'task', 'doc' and 'response'"
        ) from None
    return column.to_pylist() if _library(column) == "pyarrow" else column


def _extended(batch: object, added: dict[str, list]) -> object:
    """Return a batch with more columns, which replace those of the same names."""
    if _library(batch) == "pyarrow":
        return _extended_table(batch, added)
    if _library(batch) == "pandas":
        return batch.assign(**{name: _series(name, x) for name, x in added.items()})
    return {**batch, **added}


def _extended_table(table: object, added: dict[str, list]) -> object:
    import pyarrow

    kind = table["response"].type
    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
    table = table.drop_columns([name for name in added if name in table.column_names])
    for name, cells in added.items():
        kind = pyarrow.string() if _COLUMNS[name] is str else pyarrow.float64()
        kind = pyarrow.list_(kind) if is_list else kind
        table = table.append_column(name, pyarrow.array(cells, kind))
    return table


def _series(name: str, cells: list) -> object:
    """Return a column of pandas; one of nulls alone has its type, too."""
    import pandas

    if any(isinstance(cell, list) for cell in cells):
        return cells
    return pandas.array(cells, "string" if _COLUMNS[name] is str else "float64")
