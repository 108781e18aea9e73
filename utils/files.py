"""Writing files so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


# A file is written under such a name first. One that a kill left is in nobody's way.
_PREFIX, _SUFFIX = ".temporal-eval-", ".part"


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which is under its name whole or not at all.

    It replaces what is there, once the `with` block ends without an exception. Folders on
    the way are made. Raises OSError, with the name of `path`, where it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():  # said before the work, and of this name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    part = path.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    # Not mkstemp: nobody but the maker could read its files.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(part, flags, 0o666)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException as error:  # Ctrl-C, too
        with suppress(OSError):
            part.unlink()
        # A full disk has no name, and nobody knows the name of a part.
        if isinstance(error, OSError) and str(error.filename or part) == str(part):
            error.filename = str(path)
        raise


def is_stream(path: Path) -> bool:
    """Tell whether a file can be read but once, and in this process alone."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file())


def is_part(name: str) -> bool:
    """Tell whether a name is one under which a file is written first."""
    last = name.rpartition("/")[2]
    return last.startswith(_PREFIX) and last.endswith(_SUFFIX)
