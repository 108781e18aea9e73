"""The one reader of JSON Lines files for the tools."""

import json
from pathlib import Path


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file.

    Raises OSError where it cannot be read, and ValueError, naming file and line, where a
    line is no JSON object.
    """
    rows = []
    # Not splitlines: a string in JSON may hold other line separators than "\n".
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}; mend the line") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path}, line {number}: is no JSON object; mend the line")
        rows.append(row)
    return rows
