"""Reading the lines of files, and writing whole files.

JSON Lines are plain or compressed by gzip, whatever a file is called. A kill at any moment
leaves the old file or the new one.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import hashlib
import io
import json
import math
import os
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .errors import LineError, ToolError, json_fault


if TYPE_CHECKING:
    from .progress import Meter


SUFFIXES = (".jsonl", ".jsonl.gz")
MOST_BYTES = 2**26  # of a line once it is unpacked
MOST_BLANK = 1_000_000  # lines of a file
# Files are written in a folder of such a name first, which is locked as long.
_PREFIX, _SUFFIX = ".temporal-eval-", ".part"


class Line(NamedTuple):
    """A line that is not blank, as it stands in a file."""

    place: str  # "FILE, line N", for messages
    number: int
    text: bytes


def read_jsonl(path: Path) -> list[dict]:
    """Return the objects in a JSON Lines file; errors as of `read_lines` and `parse`."""
    return [parse(line) for line in read_lines(path)]


class HashedFile(io.FileIO):
    """A regular file that is hashed as it is read: `digest` is of what its reader saw.

    It is opened without following a link and without waiting: OSError where something else
    stands under its name by now.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb", opener=_open_regular)
        self._hasher = hashlib.sha256()

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._hasher.update(memoryview(buffer)[:count])
        return count

    def read_whole(self) -> bytes:
        """Return what is in the file, as far as it was when this is called."""
        reader = io.BufferedReader(self)
        with _detached(reader):
            return reader.read(os.fstat(self.fileno()).st_size)

    def digest(self) -> str:
        """Read on to the end, as far as it was when this is called; return the SHA-256."""
        bytes_left = os.fstat(self.fileno()).st_size - self.tell()
        chunk = bytearray(1 << 16)
        while bytes_left > 0 and (count := self.readinto(chunk)):
            bytes_left -= count
        return self._hasher.hexdigest()


def read_lines(
    path: Path,
    longest: int = MOST_BYTES,
    most: float = math.inf,
    meter: Meter | None = None,
    opened: io.FileIO | None = None,
) -> Iterator[Line]:
    """Yield the lines that are not blank, one at a time, for `parse`.

    Raises OSError where the file cannot be read, ToolError where it is of another format,
    damaged, a line has more than `longest` bytes or all of them more than `most`. `meter` says
    how far the file is read, unpacked or not. `opened` is the file, where it is open already;
    it stays open.
    """
    line_number = byte_count = blank_count = 0
    # Once, for a pipe can be read but once.
    raw_file = opened or io.FileIO(path, "rb")
    file = io.BufferedReader(raw_file)
    with closing(file) if opened is None else _detached(file):
        unpacked_file = gzip.open(file) if file.peek(2)[:2] == b"\x1f\x8b" else file
        try:
            byte_lines = iter(lambda: unpacked_file.readline(longest + 1), b"")
            for line_number, line_bytes in enumerate(byte_lines, 1):
                byte_count += len(line_bytes)
                is_blank = not line_bytes.strip()
                blank_count += is_blank
                place = f"{path}, line {line_number}"
                if len(line_bytes) > longest:
                    fault = f"{place}: is longer than {longest / 2**20:g} MiB"
                    raise ToolError(f"{fault}; write each object in its own line")
                _check_sizes(path, byte_count, most, blank_count)
                if meter:
                    meter.position = file.tell()
                if not is_blank:
                    yield Line(place, line_number, line_bytes)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            fault = "the gzip data is cut off or damaged; get the file again"
            raise ToolError(f"{path}, after line {line_number}: {fault}") from None


def _check_sizes(path: Path, byte_count: int, most: float, blank_count: int) -> None:
    """Raise ToolError for a file that is too large, or has too many blank lines."""
    if byte_count > most:
        fault = f"holds more than {most / 2**20:,g} MiB once it is unpacked"
        raise ToolError(f"{path}: {fault}; split the file")
    if blank_count > MOST_BLANK:
        fault = f"has more than {MOST_BLANK:,} blank lines; remove them"
        raise ToolError(f"{path}: {fault}")


@contextmanager
def _detached(file: io.BufferedReader[Any]) -> Iterator[None]:
    """Leave the file below a reader open at the end."""
    try:
        yield
    finally:
        file.detach()


def parse(line: Line) -> dict:
    """Return the object in a line; LineError where there is none."""
    fault = "is not a JSON object; fix the line"
    try:
        json_value = json.loads(line.text.decode("utf-8-sig"))
        if isinstance(json_value, dict):
            return json_value
    except UnicodeDecodeError:
        fault = "is not UTF-8; save the file as UTF-8 JSON Lines"
    except RecursionError as error:
        fault = f"{json_fault(error)}; fix the line"
    except ValueError as error:
        fault = f"{json_fault(error)}; fix the line"
        if not re.match(rb"\s*\{.", line.text):
            fault = "is not JSON Lines; write a JSON object in each line"
        elif not line.text.endswith((b"\n", b"}")):
            fault = "is cut off, as by half a download; get the file again"
    raise LineError(f"{line.place}: {fault}") from None


@contextmanager
def written_whole(
    path: Path, check: Callable[[], None] | None = None
) -> Iterator[BinaryIO]:
    """Give a file to write to, which stands under its name whole or not at all.

    It replaces what a symlink there leads to. `check` is called right before, and raises if
    what is there by then is not to be replaced. Raises OSError, with the name of `path`.
    """
    check_writable(path)
    target_path = Path(os.path.realpath(path))
    try:
        with open_part(target_path.parent) as part_folder:
            part_path = part_folder / "file"
            with part_path.open("wb") as file:
                # A new one has no mode to keep, and some file systems have no modes.
                with suppress(FileNotFoundError, PermissionError):
                    shutil.copymode(target_path, part_path)
                yield file
                file.flush()
                os.fsync(file.fileno())
            if check:
                check()
            part_path.replace(target_path)
    except OSError as error:
        # A full disk has no name, and nobody knows the name of a part.
        if error.filename is None or is_part(f"{error.filename}"):
            error.filename, error.filename2 = str(path), None
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left in a folder: nobody has it locked."""
    for leftover in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            # What is called so and is no folder is not ours.
            descriptor = os.open(leftover, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(leftover)
            os.close(descriptor)


@contextmanager
def open_part(folder: Path) -> Iterator[Path]:
    """Give a new folder in `folder` for what is not finished, and remove it at the end.

    It stays locked meanwhile, or until no process has it.
    """
    remove_leftovers(folder)
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        part_folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, folder))
        with suppress(FileNotFoundError):  # before the lock, it looks like a leftover
            descriptor = os.open(part_folder, os.O_RDONLY)
            with suppress(OSError):  # of file systems without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if part_folder.exists():
                break
            os.close(descriptor)
    try:
        yield part_folder
    finally:
        shutil.rmtree(part_folder, ignore_errors=True)
        os.close(descriptor)


def check_writable(path: Path) -> None:
    """Raise OSError, with the name of `path`, where no file of it can be written."""
    target_path, error_code = Path(os.path.realpath(path)), None
    existing_path = next(filter(os.path.lexists, (target_path, *target_path.parents)))
    if existing_path.is_dir() == (existing_path == target_path):
        error_code = errno.EISDIR if existing_path == target_path else errno.ENOTDIR
    elif not os.access(existing_path, os.W_OK):
        error_code = errno.EACCES
    if error_code:
        raise OSError(error_code, os.strerror(error_code), str(path))
    if is_stream(path):
        raise OSError(errno.EINVAL, "is a pipe or a device; name a file", str(path))


def check_output(path: Path | None, tool: str, beginning: str) -> None:
    """Raise ToolError for a file that `tool` would replace and has not written.

    All that it writes begins with the pattern `beginning`. OSError for a file that cannot
    be written; None stands for no output.
    """
    if path:
        check_writable(path)
    if path and path.exists():
        with path.open(encoding="utf-8", errors="replace") as file:
            old_beginning = file.read(1 << 16)
        if old_beginning and not re.match(beginning, old_beginning):
            fix = "move it elsewhere, or name another output"
            raise ToolError(f"{path}: is there, and was not made by {tool}; {fix}")


def is_stream(path: Path) -> bool:
    """Tell whether a file can be read or written but once, and in this process alone."""
    is_device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")
    return is_device or (path.exists() and not path.is_file())


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file; OSError where it cannot be read.

    It ends in any case: a pipe is not waited for, and what a file grows by is not read.
    """
    hasher = hashlib.sha256()
    with open(path, "rb", opener=_open_at_once) as file:
        bytes_left = os.fstat(file.fileno()).st_size
        while chunk_bytes := file.read(min(bytes_left, 1 << 16)):
            bytes_left -= len(chunk_bytes)
            hasher.update(chunk_bytes)
    return hasher.hexdigest()


def _open_at_once(path: str, flags: int) -> int:
    """Open a file as `open` does, but a pipe without waiting for who writes to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _open_regular(path: str, flags: int) -> int:
    """Open a regular file; OSError for a link, a pipe or a device."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is a pipe or a device, not a file", str(path))
    return descriptor


def is_part(name: str) -> bool:
    """Tell whether a path is one of what is not finished, which `open_part` gives."""
    return f"/{_PREFIX}" in f"/{name}"
