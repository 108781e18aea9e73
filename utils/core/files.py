"""Writing files so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import ToolError


# A file is written under such a name first, and locked as long.
_PREFIX, _SUFFIX = ".temporal-eval-", ".part"


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which stands under its name whole or not at all.

    It replaces the file there, and what a symlink there leads to. What is not a regular
    file, such as a pipe, is written into. Raises OSError, with the name of `path`.
    """
    check_writable(path)
    if is_stream(path):
        with os.fdopen(_open_stream(path), "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    part_path = None
    try:
        part_path, descriptor = open_part(target.parent)
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                with suppress(PermissionError):  # some file systems have no modes
                    shutil.copymode(target, part_path)
            yield file
            file.flush()
            os.fsync(file.fileno())
            part_path.replace(target)
    except BaseException as error:  # Ctrl-C, too
        if part_path:
            part_path.unlink(missing_ok=True)
        # A full disk has no name, and nobody knows the name of a part.
        if isinstance(error, OSError) and error.filename in (None, str(part_path)):
            error.filename, error.filename2 = str(path), None
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left in a folder: nobody has it locked."""
    for part in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            descriptor = os.open(part, os.O_RDONLY)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(part) if part.is_dir() else part.unlink()
            os.close(descriptor)


def open_part(folder: Path, *, is_folder: bool = False) -> tuple[Path, int]:
    """Make a file or folder for what is not finished; return its path and descriptor.

    It stays locked until the descriptor is closed, or no process has it.
    """
    remove_leftovers(folder)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        if is_folder:
            part.mkdir()
        open_flags = os.O_RDONLY if is_folder else os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with suppress(FileNotFoundError):  # another run took it for a leftover
            descriptor = os.open(part, open_flags, 0o666)
            with suppress(OSError):  # of file systems without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if part.exists():
                return part, descriptor
            os.close(descriptor)


def _open_stream(path: Path) -> int:
    """Return a descriptor to write into a stream: that of stdout or stderr, if it is it."""
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                stream.flush()
                return os.dup(descriptor)
    return os.open(path, os.O_WRONLY)


def check_writable(path: Path) -> None:
    """Raise OSError, with the name of `path`, where no file of it can be written."""
    target, fault = path if path.exists() else Path(os.path.realpath(path)), None
    nearest = next(path for path in (target, *target.parents) if os.path.lexists(path))
    if nearest.is_dir() == (nearest == target):
        fault = errno.EISDIR if nearest == target else errno.ENOTDIR
    elif not os.access(nearest, os.W_OK):
        fault = errno.EACCES
    if fault:
        raise OSError(fault, os.strerror(fault), str(path))


def check_outputs(outputs: Mapping[str, Path | None], inputs: list[Path]) -> None:
    """Raise ToolError for an output that is an input, or another output, too.

    `outputs` has the path of each option; OSError for one that cannot be written.
    """
    option_by_path: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        if is_stream(path):
            continue
        if path.exists() and any(x.is_file() and path.samefile(x) for x in inputs):
            fault = "is one of the files to read"
            raise ToolError(f"{path}: {fault}; name another {option}")
        owner = option_by_path.setdefault(os.path.realpath(path), option)
        if owner != option:
            raise ToolError(f"{path}: is named by {owner}, too; name another {option}")


def check_maker(path: Path, tool: str, beginning: str) -> None:
    """Raise ToolError for a file that `tool` would replace and has not written.

    All that it writes begins with the pattern `beginning`.
    """
    if path.is_file() and not is_stream(path) and path.stat().st_size:
        with path.open(encoding="utf-8", errors="replace") as file:
            if not re.match(beginning, file.read(1 << 16)):
                fix = "move it elsewhere, or name another output"
                raise ToolError(f"{path}: is there, and was not made by {tool}; {fix}")


def is_stream(path: Path) -> bool:
    """Tell whether a file can be read or written but once, and in this process alone."""
    is_device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")
    return is_device or (path.exists() and not path.is_file())


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file; OSError where it cannot be read."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 16):
            digest.update(chunk)
    return digest.hexdigest()


def is_part(name: str) -> bool:
    """Tell whether a name is one under which a file is written first."""
    file_name = name.rpartition("/")[2]
    return file_name.startswith(_PREFIX) and file_name.endswith(_SUFFIX)
