"""Tables as Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re


FORMATS = ("markdown", "csv", "json")


def number(value: float) -> str:
    """Return a score as every table and page shows it."""
    return f"{value:.4f}"


def render(rows: list[dict], form: str) -> str:
    """Return rows (column -> cell; columns in the order they come up) as a table.

    `form` is one of FORMATS. Markdown rounds floats and leaves out empty columns.
    """
    if form == "json":
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()
    columns = [c for c in columns if any(row.get(c) is not None for row in rows)]
    numeric = {c for c in columns if all(_is_number(row.get(c)) for row in rows)}
    lines = [columns, ["--:" if c in numeric else "---" for c in columns]]
    lines += [[_cell(row.get(column)) for column in columns] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _is_number(cell: object) -> bool:
    return cell is None or isinstance(cell, int | float)


def _cell(cell: object) -> str:
    if cell is None:
        return ""
    return number(cell) if isinstance(cell, float) else escaped(str(cell))


def escaped(text: str) -> str:
    """Return a text as Markdown shows it: names of models and files are data."""
    return " ".join(re.sub(r"[\\|<`]", r"\\\g<0>", text).split())
