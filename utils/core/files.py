"""Writing files so that a kill at any moment leaves the old one or the new one."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import platform
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
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
    if (descriptor := _stream(path)) is not None:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{_here()}{secrets.token_hex(8)}{_SUFFIX}")
    try:
        with os.fdopen(_opened(part, target), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, target)  # before the lock on it ends
    except BaseException as error:  # Ctrl-C, too
        with suppress(OSError):
            part.unlink()
        # A full disk has no name, and nobody knows the name of a part.
        if isinstance(error, OSError) and str(error.filename or part) == str(part):
            error.filename = str(path)
        raise


def check_writable(path: Path) -> None:
    """Raise OSError, with the name of `path`, where no file of it can be written."""
    found = _stat(path)
    if found and stat.S_ISDIR(found.st_mode):
        fault = errno.EISDIR
    elif found and not os.access(path, os.W_OK):  # which could be replaced all the same
        fault = errno.EACCES
    elif found and not stat.S_ISREG(found.st_mode):
        return
    else:
        target = Path(os.path.realpath(path))
        folder = next(x for x in target.parents if os.path.lexists(x))
        fault = 0 if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES
        fault = fault if folder.is_dir() else errno.ENOTDIR
    if fault:
        raise OSError(fault, os.strerror(fault), str(path))


def _stat(path: Path) -> os.stat_result | None:
    """Return what is known of a file, None where there is none; OSError for the rest."""
    try:
        return path.stat()
    except FileNotFoundError:  # also a symlink to nothing
        return None
    except NotADirectoryError:  # a file is on the way, which is said of the way
        return None


def _stream(path: Path) -> int | None:
    """Return a descriptor to write into what must not be replaced; None for a file.

    What stdout or stderr is, a file included, is written through them: a name such as
    /dev/stdout opens it anew, from its start, and what is printed goes on elsewhere.
    """
    if (found := _stat(path)) is None:
        return None
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(OSError, AttributeError):  # closed, or None
            if os.path.samestat(os.fstat(descriptor), found):
                stream.flush()
                return os.dup(descriptor)
    return None if stat.S_ISREG(found.st_mode) else os.open(path, os.O_WRONLY)


def _opened(part: Path, target: Path) -> int:
    """Return the descriptor of a new part, as readable as what it is to replace."""
    # Not mkstemp: nobody but the maker could read its files.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    old = _stat(target)
    descriptor = os.open(part, flags, stat.S_IMODE(old.st_mode) if old else 0o666)
    with suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    if not os.fstat(descriptor).st_nlink:  # taken for a leftover before it was locked
        os.close(descriptor)
        return _opened(part, target)
    if old:
        with suppress(OSError):  # of another owner; some file systems have no modes
            os.chown(part, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.chmod(part, stat.S_IMODE(old.st_mode))  # past the umask
    return descriptor


# -------------------------------------------------------------- what a kill leaves


@cache
def _here() -> str:
    """Return how the names of parts begin that this system writes, until it restarts."""
    try:
        system = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        system = platform.node()
    return f"{_PREFIX}{hashlib.sha256(system.encode()).hexdigest()[:8]}-"


def remove_leftovers(folder: Path) -> None:
    """Remove the parts in a folder that killed processes of this system have left.

    Who writes a part has a lock on it, which dies with the process. The locks of other
    machines are not seen on every shared disk: their parts stay.
    """
    for part in folder.glob(f"{_here()}*{_SUFFIX}"):
        with suppress(OSError), open(part, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


# ------------------------------------------------------------- outputs and inputs


def check_outputs(outputs: Mapping[str, Path | None], inputs: Iterable[Path]) -> None:
    """Raise ToolError for an output that is an input, or another output, too.

    `outputs` has the option that each is named by; None is an option not given. Raises
    OSError for one that cannot be written.
    """
    read, taken = identities(inputs), {}
    for option, path in outputs.items():
        if path is None:
            continue
        check_writable(path)
        if is_stream(path):
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
    """Tell whether a file can be read but once, and in this process alone."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file())


def is_part(name: str) -> bool:
    """Tell whether a name is one under which a file is written first."""
    last = name.rpartition("/")[2]
    return last.startswith(_PREFIX) and last.endswith(_SUFFIX)
