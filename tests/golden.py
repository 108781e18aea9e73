"""Whether a seed still names the rows that it did: `python -m tests.golden [--write]`.

Runs on any Python without anything installed, so that every one that is at hand can show
that it makes the same rows. `golden.json` has a digest for each generator; a change of its
rows bumps the generator's VERSION, and then the digest.
"""

import hashlib
import json
import sys
from pathlib import Path

from lm_eval_tasks.fresh.utils import NAMES, rows


FILE = Path(__file__).with_name("golden.json")
SEED, LEVELS = 20261121, range(1, 6)
ROWS = {"tot_arithmetic": 370, "tot_semantic": 80, "tcp_long": 10, "tcp_short": 10}


def digests() -> dict[str, str]:
    """Return generator -> digest of the rows of a seed."""
    seed_rows = {x: [*rows(x, SEED, ROWS.get(x, 200), LEVELS)] for x in NAMES}
    texts = {x: json.dumps(seed_rows[x], sort_keys=True) for x in NAMES}
    return {x: hashlib.sha256(texts[x].encode()).hexdigest()[:16] for x in NAMES}


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(digests(), indent=2) + "\n", encoding="utf-8")
    are_same = digests() == json.loads(FILE.read_text(encoding="utf-8"))
    print(f"Python {sys.version.split()[0]}: rows are the same: {are_same}")
    sys.exit(not are_same)
