"""Twins of rows in a file, each beside its original: `python -m tests.twins TASK FILE`.

TASK is one of twins, such as twin_tcp_short; FILE has rows in the benchmark's schema, one a
line. Each twin is solved anew where a solver reads it: "agree" is what is wanted.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tests.solvers.labels import AGREE, TWO_READINGS, UNREAD, check
from utils.core.documents import documents_of, quiet_harness
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.packs.twins import Draw, draw_twins


SEED = 29


def solved(task: str, draws: list[Draw]) -> list[str]:
    """Return what solvers say of the label of each twin."""
    rows, base = [x.row for x in draws], scorer(task).base
    return [x.kind for x in check(base, rows, documents_of(base, rows))]


def wrong_labels_that_are_right(task: str, draws: list[Draw]) -> list[Draw]:
    """Return twins of which a solver accepts the original's label or the mirror image."""
    found = []
    for place in ("original", "mirror"):
        labels = [x.original[1] if place == "original" else x.mirror for x in draws]
        others = [
            x._replace(row=x.row | {x.column: label})
            for x, label in zip(draws, labels)
            if label is not None and not x.keeps_label
        ]
        kinds = solved(task, others) if others else []
        found += [x for x, kind in zip(others, kinds) if kind in (AGREE, TWO_READINGS)]
    return found


def main(task: str, path: Path) -> None:
    """Print the twins of a file's rows, and how many there are of each kind."""
    rows = read_jsonl(path)
    with quiet_harness():
        draws, reasons = draw_twins(task, rows, SEED)
        kinds = solved(task, draws) if draws else []
        base = scorer(scorer(task).base)
        digests = [base.utils.digest(x).hex() for x in documents_of(base.task, rows)]
    originals = dict(zip(digests, rows))
    for draw, kind in zip(draws, kinds):
        original = json.dumps(originals[draw.original[0]], ensure_ascii=False)
        twin = json.dumps(draw.row, ensure_ascii=False)
        print(f"{kind}\n  {original}\n  {twin}\n  mirror image: {draw.mirror}\n")
    print(f"twins: {dict(Counter(kinds))}; without: {dict(reasons)}")
    if {*kinds} - {AGREE, UNREAD}:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
