"""Scores of many answers at once, for engines that spread batches over processes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, time
from typing import Any, TypeVar

from ..core.errors import FamilyError, ToolError
from ..core.task_scorers import scorer
from . import explain


Batch = TypeVar("Batch")

# The columns that are added, with their types as pandas and pyarrow call them.
_COLUMNS = {
    "scores": "string",
    **dict.fromkeys(("published", "flexible", "extracted"), "float64"),
    **dict.fromkeys(("reason", "published_answer", "flexible_answer"), "string"),
    "error": "string",
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
    input_columns = (_cells(batch, column) for column in ("task", "doc", "response"))
    output_rows = [_row(*inputs) for inputs in zip(*input_columns, strict=True)]
    new_columns = {column: [row[column] for row in output_rows] for column in _COLUMNS}
    return _extended(batch, new_columns)


def _row(task: object, doc: object, response: object) -> dict:
    """Return the added cells of a row; of a list of answers, lists."""
    response = _from_arrow(response)
    if not isinstance(response, list):
        return _scored(task, doc, response)
    answer_rows = [_scored(task, doc, answer) for answer in response]
    return {column: [row[column] for row in answer_rows] for column in _COLUMNS}


def _scored(task: object, doc: object, response: object) -> dict:
    """Return the added cells of one answer: `error` alone where it cannot be scored."""
    added_cells = dict.fromkeys(_COLUMNS)
    try:
        verdict = explain(task, _from_arrow(doc), response)
    except FamilyError:
        raise
    except ToolError as error:
        return added_cells | {"error": _text(str(error))}
    for rule, metric in scorer(task).headline.items():
        added_cells[rule] = verdict.scores.get(metric)
    added_cells["extracted"] = verdict.scores.get("extracted")
    added_cells |= {"scores": json.dumps(verdict.scores), "reason": verdict.reason}
    added_cells["published_answer"] = _text(verdict.published)
    return added_cells | {"flexible_answer": _text(verdict.flexible)}


def _text(text: str | None) -> str | None:
    """Return a text without half surrogate pairs, which Arrow cannot hold."""
    return text and text.encode("utf-8", "backslashreplace").decode()


def _from_arrow(value: object) -> object:
    """Turn what Arrow or NumPy made of a value of JSON back into it, without its nulls."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, datetime):  # as Arrow reads texts that are dates
        is_date = value.time() == time()
        return value.date().isoformat() if is_date else value.isoformat(" ", "minutes")
    if isinstance(value, dict):
        return {
            key: _from_arrow(cell) for key, cell in value.items() if cell is not None
        }
    return [_from_arrow(cell) for cell in value] if isinstance(value, list) else value


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _cells(batch: Any, name: str) -> Iterable:
    """Return the cells of a column; ValueError where the batch lacks it."""
    try:
        column = batch[name]
    except KeyError:
        fix = "give 'task', 'doc' and 'response'"
        raise ValueError(f"the batch has no column '{name}'; {fix}") from None
    return column.to_pylist() if _library(column) == "pyarrow" else column


def _extended(batch: Any, added: dict[str, list]) -> Any:
    """Return a batch with more columns, which replace those of the same names.

    Where the library has types, a column of nulls alone has its type, too.
    """
    has_list_cells = any(isinstance(cell, list) for cell in added["reason"])
    if _library(batch) == "pandas":
        import pandas

        if not has_list_cells:
            added = {name: pandas.array(added[name], _COLUMNS[name]) for name in added}
        return batch.assign(**added)
    if _library(batch) != "pyarrow":
        return {**batch, **added}
    import pyarrow

    has_list_cells = pyarrow.types.is_nested(batch["response"].type)
    table = batch.drop_columns([name for name in added if name in batch.column_names])
    for name, column_cells in added.items():
        arrow_type = pyarrow.type_for_alias(_COLUMNS[name])
        arrow_type = pyarrow.list_(arrow_type) if has_list_cells else arrow_type
        table = table.append_column(name, pyarrow.array(column_cells, arrow_type))
    return table
