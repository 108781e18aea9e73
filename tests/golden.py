"""Whether a seed still names the rows that it did: `python -m tests.golden [--write]`.

Runs on any Python without anything installed, so that every one that is at hand can show
that it makes the same rows. `golden.json` has a digest for each generator and for each
transformation that makes twins; a change of rows bumps its VERSION, and then the digest.
"""

import hashlib
import json
import sys
from pathlib import Path
from random import Random

from lm_eval_tasks.fresh.utils import NAMES, rows
from lm_eval_tasks.twin.transformations import TRANSFORMATIONS, Moves, Survey


FILE = Path(__file__).with_name("golden.json")
EXAMPLES = Path(__file__).parent.parent / "examples" / "data"
SEED, LEVELS = 20261121, range(1, 6)
ROWS = {"tot_arithmetic": 370, "tot_semantic": 80, "tcp_long": 10, "tcp_short": 10}
TWINS = {
    "names_exchanged": "tot_arithmetic",
    "years_moved": "tot_arithmetic",
    "names_replaced": "tot_semantic",
    "centuries_moved": "tempreason_l1_timebench",
    "projects_moved": "TCP_long",
}


def twins(name: str) -> list:
    """Return what a transformation makes of the example rows of a file."""
    lines = (EXAMPLES / f"{TWINS[name]}.jsonl").read_text("utf-8").splitlines()
    public = [*map(json.loads, lines)]
    survey, transform = Survey.of(public), TRANSFORMATIONS[name]
    outcomes = [
        transform(row, survey, Random(f"{SEED}|{n}")) for n, row in enumerate(public)
    ]
    return [
        [outcome.year, outcome.usual, *map(outcome.twin, outcome.shifts)]
        if isinstance(outcome, Moves)
        else outcome
        for outcome in outcomes
    ]


def digests() -> dict[str, str]:
    """Return generator or transformation -> digest of the rows of a seed."""
    seed_rows = {x: [*rows(x, SEED, ROWS.get(x, 200), LEVELS)] for x in NAMES}
    seed_rows |= {name: twins(name) for name in TRANSFORMATIONS}
    texts = {x: json.dumps(y, sort_keys=True) for x, y in seed_rows.items()}
    return {x: hashlib.sha256(y.encode()).hexdigest()[:16] for x, y in texts.items()}


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(digests(), indent=2) + "\n", encoding="utf-8")
    are_same = digests() == json.loads(FILE.read_text(encoding="utf-8"))
    print(f"Python {sys.version.split()[0]}: rows are the same: {are_same}")
    sys.exit(not are_same)
