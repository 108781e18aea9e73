"""Tables as Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable

import tabulate

from .cli import printable


FORMATS = ("markdown", "csv", "json")
_SURROGATES = re.compile(r"[\ud800-\udfff]")  # halves of a letter without the other
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters by name, and blank
_MARKUP = re.compile(  # a lone [1, 2] is no link; sites link addresses and mentions
    r"[\\`*<>&|~]|\][\[(:]|\b_|_\b|://|(?i:www\.)|(?<!\w)@|@[^ ]*\.|#\d"
)


def percent(value: float) -> str:
    """Return a share as tables show it that are read at a glance."""
    return f"{100 * value:.1f}"


def whole(value: float) -> str:
    """Return a share in whole percent, where there is little room."""
    return f"{100 * value:.0f}"


def counted(count: int, thing: str) -> str:
    """Return how many things there are: "1 answer", "1,200 answers"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def points(share: float) -> str:
    """Return a difference of shares in percentage points."""
    points_text = f"{100 * share:+.1f}"
    return points_text if float(points_text) else "0.0"


def p_text(value: float) -> str:
    """Return a p-value with what it is: equal, or less."""
    return "< 0.0001" if value < 0.0001 else f"= {value:.2g}"


def natural(text: str) -> list[str | int]:
    """Return a key that sorts 10 after 2; texts and numbers take turns in it."""
    pieces = re.split("([0-9]{1,9})", text)
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)]


def render(rows: list[dict], form: str, number: Callable = "{:.4f}".format) -> str:
    """Return rows (column -> cell; columns in the order they come up) as a table.

    `form` is one of FORMATS, or "terminal". Markdown and a terminal show floats by `number`
    and leave out empty columns, which are as wide as their cells.
    """
    if form == "json":
        return _json(rows)
    columns = dict.fromkeys(column for row in rows for column in row)
    if form == "csv":
        csv_file = io.StringIO()
        writer = csv.DictWriter(csv_file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({column: _csv_cell(cell) for column, cell in row.items()})
        return csv_file.getvalue()
    alignments = {}
    for column in columns:
        column_cells = [row[column] for row in rows if row.get(column) is not None]
        if column_cells:
            is_numeric = any(isinstance(cell, int | float) for cell in column_cells)
            alignments[column] = "right" if is_numeric else "left"
    show, table_form = escaped, "pipe"
    if form == "terminal":
        show, table_form = _plain, "simple"
    if not alignments:
        return "\n"
    cells = [[show(row.get(column), number) for column in alignments] for row in rows]
    # Headers of its own would be wider than their cells. Without, a rule is above the rows.
    table_text = tabulate.tabulate(
        [[show(column) for column in alignments], *cells],
        tablefmt=table_form,
        disable_numparse=True,
        colalign=alignments.values(),
    )
    rule, header, *lines = table_text.splitlines()
    if form == "terminal":
        lines.pop()  # a rule below
    return "".join(f"{line}\n" for line in (header, rule, *lines))


def _json(rows: list[dict]) -> str:
    """Return rows as JSON that strict readers take: half a letter is its escape, as a text."""
    json_text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    return _SURROGATES.sub(lambda match: "\\" + ascii(match[0])[1:-1], json_text)


def _csv_cell(cell: object) -> object:
    """Return a cell that no spreadsheet runs as a formula, in one line where it can be.

    Some separate cells by semicolons or tabs, too, or read a line of a cell as one of the
    table.
    """
    if not isinstance(cell, str):
        return cell
    quoted_cell = "".join(map(_without_formula, re.split("([;\t\n])", cell)))
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], quoted_cell)


def _without_formula(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would run it."""
    first_letter = next(filter(_is_visible, text), "")
    is_formula = unicodedata.normalize("NFKC", first_letter) in ("=", "+", "-", "@")
    return f"'{text}" if is_formula else text


def _is_visible(letter: str) -> bool:
    is_filler = letter.isspace() or letter in _FILLERS or not letter.isprintable()
    return not is_filler and not unicodedata.category(letter).startswith("M")


def _plain(cell: object, number: Callable[[float], str] = str) -> str:
    """Return a cell in one line, with escapes for what would steer a terminal."""
    if cell is None or isinstance(cell, float):
        return "" if cell is None else number(cell)
    return printable(" ".join(str(cell).split()))


def escaped(cell: object, number: Callable[[float], str] = str) -> str:
    """Return a cell as Markdown shows it as it is: one with markup becomes code.

    Names of models and files are data. A terminal shows code as it is, too; what
    would steer a terminal, or cannot be seen, is escaped.
    """
    cell_line = _plain(cell, number)
    if cell is None or isinstance(cell, float):
        return cell_line
    if not _MARKUP.search(cell_line):
        return cell_line
    fence = "`" * (1 + max(map(len, re.findall("`+", cell_line)), default=0))
    padding = " " if cell_line.startswith("`") or cell_line.endswith("`") else ""
    return f"{fence}{padding}{cell_line}{padding}{fence}".replace("|", "\\|")
