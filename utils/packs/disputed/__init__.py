"""Versioned lists of rows whose label is wrong, or one answer of several.

A list is `N.json` in this folder and is called `disputed-N`; once published it does not
change. Each row has upstream's file and number (from 0 on), the start of the digest of its
document, by which it is known, and kind and reason of the dispute. How a list came about
is in the RESULTS.md of the families.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path


_PATHS = sorted(Path(__file__).parent.glob("*.json"), key=lambda path: int(path.stem))
# Name -> rows, the oldest list first.
LISTS: dict[str, list[dict]] = {
    f"disputed-{path.stem}": json.loads(path.read_bytes())["rows"] for path in _PATHS
}


@cache
def digests(name: str | None) -> frozenset[str]:
    """Return the digests of a list; none of no list."""
    return frozenset(row["digest"] for row in LISTS.get(name, ()))


def is_in(name: str | None, digest: str) -> bool:
    """Tell whether a list has the document of a digest, in hexadecimal digits."""
    return digest[:16] in digests(name)
