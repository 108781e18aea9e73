"""Whether a seed still names the rows that it did: `python -m tests.golden`.

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
SEED, ROWS, LEVELS = 20261121, 50, range(1, 6)


def digests():
    """Return generator -> digest of the rows of a seed."""
    found = {}
    for name in NAMES:
        text = json.dumps(list(rows(name, SEED, ROWS, LEVELS)), sort_keys=True)
        found[name] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found


if __name__ == "__main__":
    same = digests() == json.loads(FILE.read_text(encoding="utf-8"))
    print(
        f"{sys.implementation.name} {sys.version.split()[0]}: rows are the same: {same}"
    )
    sys.exit(not same)
