"""Writing files so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import ToolError


# A file is written under such a name first. One that a kill left is in nobody's way.
_PREFIX, _SUFFIX = ".temporal-eval-", ".part"


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which is under its name whole or not at all.

    It replaces what is there, once the `with` block ends without an exception, and has
    the mode of what it replaces. Folders on the way are made. Where the name is a symlink,
    all this is done to what it leads to. What is not a regular file, such as a pipe or
    /dev/stdout, is written into instead. Raises OSError, with the name of `path`, where it
    cannot be written.
    """
    check_writable(path)
    if is_stream(path):
        with os.fdopen(_open_stream(path), "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else _default_mode()
    part = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=_PREFIX, suffix=_SUFFIX, delete=False
        ) as file:
            part = file.name
            with suppress(PermissionError):  # some file systems have no modes
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException as error:  # Ctrl-C, too
        if part:
            with suppress(OSError):
                os.unlink(part)
        # A full disk has no name, and nobody knows the name of a part.
        if isinstance(error, OSError) and error.filename in (None, part):
            error.filename, error.filename2 = str(path), None
        raise


def _default_mode() -> int:
    """Return the mode that the process gives new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _open_stream(path: Path) -> int:
    """Return a descriptor to write into what must not be replaced.

    What stdout or stderr is, a file included, is written through them: /dev/stdout would
    open it anew, from its start.
    """
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                stream.flush()
                return os.dup(descriptor)
    return os.open(path, os.O_WRONLY)


def check_writable(path: Path) -> None:
    """Raise OSError, with the name of `path`, where no file of it can be written."""
    written, fault = path, None
    if path.is_dir():
        fault = errno.EISDIR
    elif not _stat(path):  # a folder on the way to it is
        parents = Path(os.path.realpath(path)).parents
        written = next(x for x in parents if os.path.lexists(x))
        fault = None if written.is_dir() else errno.ENOTDIR
    if not (fault or os.access(written, os.W_OK)):
        fault = errno.EACCES
    if fault:
        raise OSError(fault, os.strerror(fault), str(path))


def _stat(path: Path) -> os.stat_result | None:
    """Return what is known of a file, None where there is none; OSError for the rest."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):  # also a symlink to nothing
        return None


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path]) -> None:
    """Raise ToolError for an output that is an input, or another output, too.

    `outputs` has the option that each is named by; None is an option not given. Raises
    OSError for one that cannot be written.
    """
    read, taken = identities(inputs), {}
    for option, path in outputs.items():
        if path is not None:
            check_writable(path)
        if path is None or is_stream(path):
            continue
        if identities([path]) & read:
            raise ToolError(
                f"{path}: is one of the files to read; name another {option}"
            )
        other = taken.setdefault(os.path.realpath(path), option)
        if other != option:
            raise ToolError(f"{path}: is named by {other}, too; name another {option}")


def identities(paths: Iterable[Path]) -> set[tuple[int, int]]:
    """Return what tells regular files from others, whatever they are called."""
    found = (_stat(path) for path in paths)
    return {(x.st_dev, x.st_ino) for x in found if x and stat.S_ISREG(x.st_mode)}


def is_stream(path: Path) -> bool:
    """Tell whether a file can be read or written but once, and in this process alone."""
    is_device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")
    return is_device or (path.exists() and not path.is_file())


def is_part(name: str) -> bool:
    """Tell whether a name is one under which a file is written first."""
    last = name.rpartition("/")[2]
    return last.startswith(_PREFIX) and last.endswith(_SUFFIX)
