"""The one reader and writer of lines of JSON, for the tools.

They stand in JSON Lines files, plain or compressed by gzip or zstd, or in Parquet: there,
a column `line` holds JSON texts, or else each column holds the values of a key, and a null
is a key that the line does not have. A file is read by what is in it, and written as its
name says. Of a Parquet file, some rows are in memory at a time.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from .errors import LineError, ToolError
from .files import written_whole


SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
# What is not plain, by its first bytes.
_KINDS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PAR1": "Parquet"}
_BUFFER = 1 << 16
_COLUMN = "line"
# Of lines that are megabytes long, a few; of others, as many as make packing worth it.
_MOST_ROWS, _MOST_BYTES = 1000, 8_000_000


class Line(NamedTuple):
    """A line that is not blank, as it stands in a file."""

    place: str  # "FILE, line N", for messages
    number: int
    text: bytes
    is_first: bool


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file.

    Raises OSError where it cannot be read, and ToolError, naming file and line, where a
    line is not a JSON object.
    """
    return [row for _, row in numbered_rows(path)]


def numbered_rows(path: Path) -> Iterator[tuple[int, dict]]:
    """Yield the number and the object of each line that is not blank, one at a time.

    Errors as of `read_jsonl`; they come when the line is reached.
    """
    for line in read_lines(path):
        yield line.number, parse(line)


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines that are not blank, one at a time, for `parse`.

    Raises OSError where the file cannot be read, ToolError where compressed data is
    damaged.
    """
    # Opened once, for a pipe can be read but once.
    with open(path, "rb") as file:
        yield from lines_in(file, path)


def lines_in(file: io.BufferedReader, path: Path) -> Iterator[Line]:
    """Yield the lines in an open file, which messages call `path`; see `read_lines`."""
    number, is_first, kind = 0, True, None
    try:
        kind = _kind(file)
        for number, text in enumerate(_texts(file, kind), 1):
            if text.strip():
                yield Line(f"{path}, line {number}", number, text, is_first)
                is_first = False
    except (EOFError, zlib.error, OSError) as error:
        if kind is None or getattr(error, "errno", None) is not None:
            raise
        raise ToolError(
            f"{path}, after line {number}: the {kind} data is cut off or damaged; get the"
            " file again"
        ) from None
    except _NotLines as error:
        raise ToolError(f"{path}, after line {number}: {error}") from None


class _NotLines(Exception):
    """Why the rows of a Parquet file are not lines, and the fix."""


def _kind(file: io.BufferedReader) -> str | None:
    start = file.peek(4)
    return next((_KINDS[x] for x in _KINDS if start.startswith(x)), None)


def _texts(file: BinaryIO, kind: str | None) -> Iterable[bytes]:
    """Return the lines of a file; OSError without a number, or EOFError, for damage.

    A binary file has lines that end with "\\n" alone: a string in JSON may hold other line
    separators.
    """
    if kind == "gzip":
        return gzip.open(file)
    if kind == "zstd":
        import pyarrow  # takes a while; it comes with datasets

        stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
        return io.BufferedReader(stream, _BUFFER)
    return _parquet_texts(file) if kind == "Parquet" else file


def _parquet_texts(file: BinaryIO) -> Iterator[bytes]:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    if not file.seekable():
        raise _NotLines("Parquet cannot be read from a pipe; name the file")
    try:
        parquet = ParquetFile(file)
        columns = [_COLUMN] if _COLUMN in parquet.schema_arrow.names else None
        for batch in parquet.iter_batches(_MOST_ROWS, columns=columns):
            for row in batch.to_pylist():
                yield row[_COLUMN].encode() if columns and row[_COLUMN] else _json(row)
    except ArrowException:
        raise EOFError from None


def _json(row: dict) -> bytes:
    present = {name: cell for name, cell in row.items() if cell is not None}
    try:
        return json.dumps(present).encode() if present else b""
    except TypeError as error:
        raise _NotLines(f"{error}; give a column '{_COLUMN}' of JSON texts") from None


class Lines(Protocol):
    """A file to write lines to."""

    def write(self, line: bytes) -> object:
        """Write a line, which ends with a line feed."""


@contextmanager
def written_lines(path: Path) -> Iterator[Lines]:
    """Give a file to write lines to, packed as its name says; see `written_whole`.

    Of the same lines, the same bytes are written.
    """
    with written_whole(path) as file:
        if path.suffix == ".gz":
            # Without a name and a time.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped:
                yield zipped
        elif path.suffix == ".zst":
            import pyarrow

            # A copy, for it is closed with the stream.
            with open(os.dup(file.fileno()), "wb") as copy:
                sink = pyarrow.PythonFile(copy, "w")
                with pyarrow.CompressedOutputStream(sink, "zstd") as zipped:
                    yield zipped
        elif path.suffix == ".parquet":
            with _ParquetLines(file) as lines:
                yield lines
        else:
            yield file


class _ParquetLines:
    """Writes lines as texts in a column of a Parquet file, some at a time."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        self._schema = pyarrow.schema({_COLUMN: pyarrow.string()})
        self._writer = ParquetWriter(file, self._schema, compression="zstd")
        self._lines: list[bytes] = []
        self._size = 0

    def __enter__(self) -> _ParquetLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def write(self, line: bytes) -> None:
        self._lines.append(line.rstrip(b"\n"))
        self._size += len(line)
        if len(self._lines) == _MOST_ROWS or self._size > _MOST_BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow

        if self._lines:
            texts = pyarrow.array(self._lines, pyarrow.string())
            self._writer.write_table(pyarrow.table([texts], self._schema))
        self._lines, self._size = [], 0


def parse(line: Line) -> dict:
    """Return the object in a line; LineError where there is none."""
    try:
        row = json.loads(line.text.decode("utf-8-sig" if line.is_first else "utf-8"))
    except UnicodeDecodeError:
        fault = "is not UTF-8; save the file as UTF-8"
    except RecursionError:
        fault = "is nested too deeply; fix the line"
    except ValueError as error:
        fault = _fault(line, error)
    else:
        if isinstance(row, dict):
            return row
        fault = "is not a JSON object; fix the line"
    raise LineError(f"{line.place}: {fault}") from None


def _fault(line: Line, error: ValueError) -> str:
    """Return what is wrong with a line that is not JSON, and the fix."""
    text = line.text.strip()
    if line.is_first and text.startswith(b"<"):
        return "is HTML or XML instead of JSON; download the file again"
    if line.is_first and text.startswith(b"version https://git-lfs"):
        return "is a pointer of Git LFS instead of JSON; run `git lfs pull` there"
    if line.is_first and text in (b"{", b"["):
        return (
            f"{error}: JSON over several lines; write each object in a line of its own"
        )
    if not line.is_first and text.startswith(b"{") and not line.text.endswith(b"\n"):
        return "the last line is cut off, as in half a download; get the file again"
    return f"{error}; fix the line"
