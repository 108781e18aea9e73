"""Check the labels of benchmarks, or find the highest score that their prompts allow.

    temporal-eval audit FOLDER [--jsonl FILE]
    temporal-eval audit FOLDER --ceiling [--jsonl FILE]

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names (`TCP_short.jsonl`, `tot_arithmetic.jsonl`, `tempreason_l1_timebench.jsonl`, ...) or
those of a pack of fresh problems (`fresh_tcp_short.jsonl`, ...).

Without --ceiling, the answer to each question is found anew, day by day or by search, by
solvers that share no code with the scorers. Columns: rows that a solver reads
("recomputed", as a share rounded down), those whose label is the only answer ("agree"),
those whose label is none ("disagree"), and those that can be read in several ways, of
which the label is one ("two_readings"). In TCP everybody can do every task, whoever says
that they will. FILE gets a line for each row that does not agree, with the reckoning.

With --ceiling, each task is answered by a responder that knows the labels and obeys each
prompt in form and kind. Its mean scores are the ceilings; the rows that cap the published
one are counted by reason, and listed in FILE. "to the letter" keeps to the punctuation of
a prompt's template even where that is not JSON.

Example:

    temporal-eval audit examples/data
    temporal-eval audit examples/data --ceiling
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from utils.core import tables
from utils.core.cli import output_path, tool_parser
from utils.core.documents import benchmark_files, documents_of
from utils.core.errors import ToolError
from utils.core.files import check_outputs, written_whole
from utils.core.jsonl import read_jsonl
from .solvers import ceiling, labels


def main(arguments: list[str] | None = None) -> int:
    """Print the table, and write the lines; return the exit status."""
    options = _options(arguments)
    inputs = [path for path, _ in benchmark_files(options.folder)]
    check_outputs({"--jsonl": options.jsonl}, inputs)
    rows, lines = (_ceilings if options.ceiling else _labels)(options.folder)
    if options.jsonl:
        with written_whole(options.jsonl) as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    sys.stdout.write(tables.render(rows, options.format))
    return 0


def _labels(folder: Path) -> tuple[list[dict], list[dict]]:
    """Return the table and the lines of what solvers make of the files of a folder."""
    rows, lines = [], []
    for path, tasks in benchmark_files(folder):
        if task := next((task for task in tasks if task in labels.SOLVERS), None):
            upstream = read_jsonl(path)
            found = labels.check(task, upstream, documents_of(task, upstream))
            rows += labels.table(path.stem, found)
            lines += labels.lines(path.stem, found)
    if not rows:
        raise ToolError(
            f"{folder}: has no file that a solver reads; name another folder"
        )
    return rows, lines


def _ceilings(folder: Path) -> tuple[list[dict], list[dict]]:
    """Return the table and the lines of the ceilings of all tasks of a folder's files."""
    rows, lines = [], []
    for path, tasks in benchmark_files(folder):
        upstream = read_jsonl(path)
        for task in tasks:
            found = ceiling.find(task, documents_of(task, upstream))
            rows += ceiling.table(task, found)
            lines += ceiling.lines(task, path.stem, found)
    return rows, lines


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("audit", __doc__)
    parser.add_argument("folder", type=Path, help="holds rows of the benchmarks")
    parser.add_argument(
        "--ceiling",
        action="store_true",
        help="find the scores of a responder that knows every label and obeys each prompt",
    )
    parser.add_argument(
        "--jsonl",
        type=output_path,
        metavar="FILE",
        help="where the rows behind it are written",
    )
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    return parser.parse_args(arguments)
