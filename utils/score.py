"""Score recorded answers to ToT arithmetic and print a Markdown table by format.

    temporal-eval score FILE.jsonl [FILE.jsonl ...]

Each line of a file is a row of the benchmark (`question`, `question_type`, `label`)
with a model's `response`. The table has one line for each answer format.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from .families import scorer
from .jsonl import read_jsonl


SCORES = ("acc", "acc_flexible", "extracted", "extracted_flexible")


def answer_format(row: dict) -> str:
    """Return the fields that the prompt of a row asks for, without the explanation."""
    template = re.search(r"""\{["']explanation["'][^,]*,(.*?)\}""", row["question"])
    return f"{row['question_type']}: {' '.join(template[1].split())}"


def score_file(path: Path) -> dict[str, Counter]:
    """Return the sums of the scores, and `n`, of a file by answer format.

    Raises ValueError, naming file and row, where one is no such row.
    """
    explain = scorer("tot_arithmetic").explain
    totals: dict[str, Counter] = {}
    for number, row in enumerate(read_jsonl(path), 1):
        try:
            verdict = explain(row, row["response"])
            found = {"extracted_flexible": verdict.flexible is not None}
            scores = verdict.scores | found
            name = answer_format(row)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}, row {number}: {error!r}; give a row of ToT arithmetic with"
                " its 'response'"
            ) from None
        totals.setdefault(name, Counter()).update(scores, n=1)
    return totals


def table(files: dict[str, dict[str, Counter]]) -> list[str]:
    """Return the lines of a Markdown table: formats down, files across, mean scores."""
    rows = [["format", "n", *files], ["---", "--:", *["--:"] * len(files)]]
    for name in sorted({name for totals in files.values() for name in totals}):
        rows.append([f"`{name}`", *_cells([x.get(name) for x in files.values()])])
    everything = [sum(totals.values(), Counter()) for totals in files.values()]
    rows.append(["**all**", *_cells(everything)])
    return [f"| {' | '.join(row)} |" for row in rows]


def _cells(columns: list[Counter | None]) -> list[str]:
    """Return the count of rows and one cell for each file."""
    return [
        " ".join(sorted({f"{sums['n']:.0f}" for sums in columns if sums})),
        *(
            " / ".join(f"{sums[score] / sums['n']:.3f}" for score in SCORES)
            if sums
            else ""
            for sums in columns
        ),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the table of the files; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="temporal-eval score", description=__doc__.split("\n")[0]
    )
    parser.add_argument("file", nargs="+", type=Path, help="recorded answers, as JSONL")
    try:
        paths = parser.parse_args(arguments).file
        files = {path.stem: score_file(path) for path in paths}
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Cells: {' / '.join(SCORES)}\n", *table(files), sep="\n")
    return 0
