"""The one reader of JSON Lines files for the tools."""

import json
from pathlib import Path


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file.

    Raises OSError where it cannot be read, and ValueError, naming file and line, where a
    line is not a JSON object.
    """
    return list(read_numbered(path).values())


def read_numbered(path: Path) -> dict[int, dict]:
    """Return line -> object of a JSON Lines file; errors as of `read_jsonl`."""
    rows = {}
    # Not splitlines: a string in JSON may hold other line separators than "\n".
    lines = _text(path).split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except RecursionError:
            raise ValueError(
                f"{path}, line {number}: is nested too deeply; fix the line"
            ) from None
        except ValueError as error:
            fault = _fault(lines, number, error)
            raise ValueError(f"{path}, line {number}: {fault}") from None
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}, line {number}: is not a JSON object; fix the line"
            )
        rows[number] = row
    return rows


def _text(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: is not UTF-8; save the file as UTF-8"
        ) from None


def _fault(lines: list[str], number: int, error: ValueError) -> str:
    """Return what is wrong with a line that is not JSON, and the fix."""
    start = lines[number - 1].lstrip()[:1]
    if number == 1 and start == "<":
        return "is HTML or XML instead of JSON; download the file again"
    if number == 1 and lines[0].startswith("version https://git-lfs"):
        return "is a pointer of Git LFS instead of JSON; run `git lfs pull` there"
    if number == len(lines) > 1 and start == "{":
        return "the last line is cut off, as in half a download; get the file again"
    return f"{error}; fix the line"
