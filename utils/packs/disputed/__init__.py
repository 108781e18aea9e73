"""Versioned lists of rows whose label is wrong, or one answer of several.

A list is `N.json` in this folder and is called `disputed-N`; once published it does not
change. Each row has upstream's file and number (from 0 on), the start of its document's
digest, and kind and reason of the dispute, which the RESULTS.md of the families argue.
"""

from __future__ import annotations

import json
from pathlib import Path


_PATHS = sorted(Path(__file__).parent.glob("*.json"), key=lambda path: int(path.stem))
# Name -> rows, the oldest list first; and their documents' digests, 16 digits of each.
LISTS: dict[str, list[dict]] = {
    f"disputed-{path.stem}": json.loads(path.read_bytes())["rows"] for path in _PATHS
}
DIGESTS = {name: {row["digest"] for row in rows} for name, rows in LISTS.items()}
