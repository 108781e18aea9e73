"""Twins of rows in a file, each beside its original: `python -m tests.twins TASK FILE`.

TASK is one of twins, such as twin_tcp_short; FILE has rows in the benchmark's schema, one a
line. A solver that reads a twin has to agree with its label.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tests.solvers.labels import AGREE, SOLVERS, UNREAD, check
from utils.core.cli import quiet_harness
from utils.core.documents import documents_of
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.packs.twins import Draw, draw_twins


SEED = 29


def solve_twins(task: str, draws: list[Draw], solver: str | None = None) -> list[str]:
    """Return what the solver of a task, or of the base, says of the label of each twin.

    That is "wrong label" where it accepts the original's label or the mirror image.
    """
    rows, base = [x.row for x in draws], scorer(task).base
    solver, kinds = solver or base, []
    for draw, checked in zip(draws, check(solver, rows, documents_of(base, rows))):
        answers = checked.solution.answers if checked.solution else ()
        wrong = [] if draw.keeps_label else [draw.original[1], draw.mirror]
        texts = [x[0] if isinstance(x, list) else x for x in wrong if x is not None]
        read = SOLVERS[solver].read
        is_wrong = {*map(repr, map(read, answers))} & {*map(repr, map(read, texts))}
        kinds.append("wrong label" if is_wrong else checked.kind)
    return kinds


def main(task: str, path: Path) -> None:
    """Print the twins of a file's rows, and how many there are of each kind."""
    rows = read_jsonl(path)
    with quiet_harness():
        draws, reasons = draw_twins(task, rows, SEED)
        kinds = solve_twins(task, draws) if draws else []
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
