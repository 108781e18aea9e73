"""The one reader of JSON Lines, plain or compressed by gzip, whatever a file is called.

Lines end with "\\n" alone: a string in JSON may hold other line separators.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .errors import LineError, ToolError


SUFFIXES = (".jsonl", ".jsonl.gz")
MOST_BYTES = 2**26  # of a line once it is unpacked, and of a file that is read at once
_GZIP = b"\x1f\x8b"
# What is converted first: how files of it begin, and the command.
_FOREIGN = {
    b"\x28\xb5\x2f\xfd": "zstd, not JSON Lines; unpack it with `zstd -d {}`",
    b"PAR1": "Parquet, not JSON Lines; convert it with `pandas.read_parquet('{}')"
    ".to_json('ROWS.jsonl', orient='records', lines=True)`",
}


class Line(NamedTuple):
    """A line that is not blank, as it stands in a file."""

    place: str  # "FILE, line N", for messages
    number: int
    text: bytes


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file; errors as of `read_lines` and `parse`."""
    return [parse(line) for line in read_lines(path)]


def read_lines(
    path: Path, longest: int = MOST_BYTES, most: float = math.inf
) -> Iterator[Line]:
    """Yield the lines that are not blank, one at a time, for `parse`.

    Raises OSError where the file cannot be read, ToolError where it is not JSON Lines,
    compressed data is damaged, a line has more than `longest` bytes or all of them more
    than `most`.
    """
    number, size = 0, 0
    with open(path, "rb") as file:  # once, for a pipe can be read but once
        first_bytes = file.peek(4)
        for magic, fault in _FOREIGN.items():
            if first_bytes.startswith(magic):
                raise ToolError(f"{path}: is {fault.format(path)}")
        unpacked = gzip.open(file) if first_bytes.startswith(_GZIP) else file
        try:
            lines = iter(lambda: unpacked.readline(longest + 1), b"")
            for number, line_bytes in enumerate(lines, 1):
                size += len(line_bytes)
                if len(line_bytes) > longest:
                    fault = f"is longer than {longest / 2**20:g} MiB"
                    fix = "write each object in its own line"
                    raise ToolError(f"{path}, line {number}: {fault}; {fix}")
                if size > most:
                    fault = f"holds more than {most / 2**20:,g} MiB once it is unpacked"
                    raise ToolError(f"{path}: {fault}; split the file")
                if line_bytes.strip():
                    yield Line(f"{path}, line {number}", number, line_bytes)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            fault = "the gzip data is cut off or damaged; get the file again"
            raise ToolError(f"{path}, after line {number}: {fault}") from None


def parse(line: Line) -> dict:
    """Return the object in a line; LineError where there is none."""
    fault = "is not a JSON object; fix the line"
    try:
        row = json.loads(line.text.decode("utf-8-sig"))
        if isinstance(row, dict):
            return row
    except UnicodeDecodeError:
        fault = "is not UTF-8; save the file as UTF-8"
    except RecursionError:
        fault = "is nested too deeply; fix the line"
    except ValueError as error:
        fault = f"{error}; fix the line"
        if not re.match(rb"\s*\{.", line.text):
            fault = "is not JSON Lines; write a JSON object in each line"
    raise LineError(f"{line.place}: {fault}") from None
