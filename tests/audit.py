"""Check the labels of benchmarks, or find the highest score that their prompts allow.

    python -m tests.audit FOLDER [--rows FILE]
    python -m tests.audit FOLDER --ceiling [--rows FILE]

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names (`TCP_short.jsonl`, `tot_arithmetic.jsonl`, `tempreason_l1_timebench.jsonl`, ...) or
those of a pack of fresh problems (`fresh_tcp_short.jsonl`, ...).

Without --ceiling, the answer to each question is found anew, day by day or by search, by
solvers that share no code with the scorers. Columns: rows that a solver reads
("recomputed", as a share rounded down), those whose label is the only answer ("agree"),
those whose label is none ("disagree"), and those that can be read in several ways, of
which the label is one ("two_readings"). In TCP everybody can do every task, whoever says
that they will. --rows lists each row that does not agree, with the reckoning.

With --ceiling, each task is answered by a responder that knows the labels and obeys each
prompt in form and kind. Its mean scores are the ceilings. The rows that cap the published
one are counted by reason, and listed by --rows. "to the letter" keeps to the punctuation of
a prompt's template even where that is not JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.solvers import ceiling, labels
from tests.solvers.baselines import benchmark_files
from utils.core import format_tables
from utils.core.documents import documents_of
from utils.core.errors import ToolError
from utils.core.files import read_jsonl


def check_labels(folder: Path) -> tuple[list[dict], list[dict]]:
    """Return a table, and the rows that do not agree, of what solvers make of files."""
    table, rows = [], []
    for path, tasks in benchmark_files(folder):
        if task := next((task for task in tasks if task in labels.SOLVERS), None):
            upstream = read_jsonl(path)
            checked = labels.check(task, upstream, documents_of(task, upstream))
            table += labels.table(path.stem, checked)
            rows += labels.lines(path.stem, checked)
    if not table:
        raise ToolError(f"{folder}: has no file that a solver reads; name another")
    return table, rows


def find_ceilings(folder: Path) -> tuple[list[dict], list[dict]]:
    """Return a table of the ceilings, and the rows that cap a score."""
    table, rows = [], []
    for path, tasks in benchmark_files(folder):
        upstream = read_jsonl(path)
        for task in tasks:
            answered = ceiling.find(task, documents_of(task, upstream))
            table += ceiling.table(task, answered)
            rows += ceiling.lines(task, path.stem, answered)
    return table, rows


def main(arguments: list[str] | None = None) -> None:
    """Print the table, and write what is asked for."""
    options = _options(arguments)
    audit = find_ceilings if options.ceiling else check_labels
    table, rows = audit(options.folder)
    if options.rows:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        options.rows.write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(format_tables.render(table, "markdown"))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.audit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("folder", type=Path, help="holds rows of the benchmarks")
    add("--ceiling", action="store_true", help="find ceilings instead of labels")
    add("--rows", type=Path, metavar="FILE", help="for the rows behind the table")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(str(error))
