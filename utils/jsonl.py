"""The one reader of JSON Lines files, plain or gzipped, for the tools."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from .errors import ToolError


_GZIP = b"\x1f\x8b"


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file.

    Raises OSError where it cannot be read, and ToolError, naming file and line, where a
    line is not a JSON object.
    """
    return [row for _, row in numbered_rows(path)]


def read_numbered(path: Path) -> dict[int, dict]:
    """Return line -> object of a JSON Lines file; errors as of `read_jsonl`."""
    return dict(numbered_rows(path))


def numbered_rows(path: Path) -> Iterator[tuple[int, dict]]:
    """Yield the number and the object of each line that is not blank, one at a time.

    Errors as of `read_jsonl`; they come when the line is reached.
    """
    number = 0
    try:
        with _open(path) as file:
            # A binary file has lines that end with "\n" alone: a string in JSON may hold
            # other line separators.
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _row(line, f"{path}, line {number}", number == 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ToolError(
            f"{path}, after line {number}: the gzip data is cut off or damaged; get the"
            " file again"
        ) from None


def _open(path: Path):
    with open(path, "rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path) if is_gzip else open(path, "rb")


def _row(line: bytes, place: str, is_first: bool) -> dict:
    try:
        row = json.loads(line.decode("utf-8-sig" if is_first else "utf-8"))
    except UnicodeDecodeError:
        raise ToolError(f"{place}: is not UTF-8; save the file as UTF-8") from None
    except RecursionError:
        raise ToolError(f"{place}: is nested too deeply; fix the line") from None
    except ValueError as error:
        raise ToolError(f"{place}: {_fault(line, is_first, error)}") from None
    if not isinstance(row, dict):
        raise ToolError(f"{place}: is not a JSON object; fix the line")
    return row


def _fault(line: bytes, is_first: bool, error: ValueError) -> str:
    """Return what is wrong with a line that is not JSON, and the fix."""
    start = line.lstrip()[:1]
    if is_first and start == b"<":
        return "is HTML or XML instead of JSON; download the file again"
    if is_first and line.startswith(b"version https://git-lfs"):
        return "is a pointer of Git LFS instead of JSON; run `git lfs pull` there"
    if not is_first and start == b"{" and not line.endswith(b"\n"):
        return "the last line is cut off, as in half a download; get the file again"
    return f"{error}; fix the line"
