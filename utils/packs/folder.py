"""The folder that a pack is in: what the tool reads and writes there, and nothing else.

No symlink below it is followed, so that neither a read nor a write leaves it.
"""

import fcntl
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.files import written_whole
from .errors import PackError, local_error


class Folder:
    """A folder, and the files in it by their names: relative, with slashes."""

    def __init__(self, path: Path):
        self.path = Path(os.path.realpath(path))

    def create(self) -> None:
        """Make the folder, unless it is there; PackError where it cannot be."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise PackError(f"{self.path}: is not a folder; name another one") from None
        except OSError as error:
            raise local_error(error, self.path) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other makers out; PackError where there is one.

        The lock is the system's, on the folder itself: it leaves no file, and it dies
        with its process.
        """
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise local_error(error, self.path) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise PackError(
                f"{self.path}: another run is making this pack; wait for its end"
            ) from None
        except OSError as error:  # some network file systems have no such locks
            sys.stderr.write(
                f"{self.path}: cannot be locked ({error.strerror}); let no other run"
                " make this pack meanwhile\n"
            )
        try:
            yield
        finally:
            os.close(descriptor)

    def read(self, name: str, limit: int | None = None) -> bytes | None:
        """Return the content of a file, None where there is none.

        Raises PackError for what is no regular file, cannot be read, or has more than
        `limit` bytes.
        """
        path = self._file(name)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                content = file.read() if limit is None else file.read(limit + 1)
        except OSError as error:
            raise local_error(error, path) from error
        if limit is not None and len(content) > limit:
            raise PackError(f"{path}: has more than {limit} bytes; name another folder")
        return content

    def sha256(self, name: str) -> str | None:
        """Return the SHA-256 of a file, None where there is none; errors as of `read`."""
        path = self._file(name)
        if path is None:
            return None
        digest = hashlib.sha256()
        try:
            with path.open("rb") as file:
                while part := file.read(1 << 16):
                    digest.update(part)
        except OSError as error:
            raise local_error(error, path) from error
        return digest.hexdigest()

    def has(self, name: str) -> bool:
        """Tell whether there is a file of a name; PackError for something else."""
        return self._file(name) is not None

    def write(self, name: str, content: bytes) -> None:
        """Write a file so that it is under its name whole or not at all.

        Raises PackError where it cannot be written, or a symlink is on the way.
        """
        self._file(name)
        path = self.path / name
        try:
            with written_whole(path) as file:
                file.write(content)
        except OSError as error:
            raise local_error(error, path) from error

    def names(self) -> Iterator[str]:
        """Yield the name of each thing in the folder that is not a folder."""
        for place, folders, files in os.walk(self.path):
            links = [x for x in folders if os.path.islink(os.path.join(place, x))]
            for name in sorted(links + files):
                yield Path(place, name).relative_to(self.path).as_posix()

    def _file(self, name: str) -> Path | None:
        """Return the path of a regular file, None where nothing has that name."""
        path = self.path
        parts = name.split("/")
        for number, part in enumerate(parts, 1):
            path = path / part
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:
                return None
            except OSError as error:
                raise local_error(error, path) from error
            if stat.S_ISLNK(mode):
                raise PackError(f"{path}: is a symlink, not of a pack; delete it")
            is_last = number == len(parts)
            if not (stat.S_ISREG if is_last else stat.S_ISDIR)(mode):
                wanted = "file" if is_last else "folder"
                raise PackError(f"{path}: is not a {wanted}; rename or delete it")
        return path
