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

from ...core.errors import ToolError


_FOLDER, _PREFIX = Path(__file__).parent, "disputed-"


def names() -> list[str]:
    """Return the names of the lists, oldest first."""
    numbers = sorted(int(path.stem) for path in _FOLDER.glob("*.json"))
    return [f"{_PREFIX}{number}" for number in numbers]


@cache
def read(name: str) -> list[dict]:
    """Return the rows of a list; ToolError for an unknown name."""
    if name not in names():
        raise ToolError(f"list '{name}' is unknown; choose from {', '.join(names())}")
    path = _FOLDER / f"{name.removeprefix(_PREFIX)}.json"
    return json.loads(path.read_text(encoding="utf-8"))["rows"]


@cache
def digests(name: str | None) -> frozenset[str]:
    """Return the digests of a list; none of no list."""
    return frozenset(row["digest"] for row in read(name)) if name else frozenset()


def is_in(name: str | None, digest: bytes) -> bool:
    """Tell whether a list has the document of a digest, as the families make them."""
    return digest.hex()[:16] in digests(name)
