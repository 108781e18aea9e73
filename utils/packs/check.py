"""Whether a pack is as it was made."""

import os
import sys
from collections.abc import Iterator

from ..core.files import is_part
from .errors import PackError
from .folder import Folder
from .manifest import FILE, Manifest
from .sources import fingerprint, read_rows


MAKE_AGAIN = "make the pack again"


def check(folder: Folder) -> Manifest:
    """Return the manifest of a sound pack.

    Raises PackError, a line for each difference, where it is not as it was made.
    """
    manifest = Manifest.of(folder)
    if manifest is None:
        raise PackError(f"{folder.path}: holds no {FILE}; make the pack first")
    if not manifest.content["complete"]:
        raise PackError(f"{folder.path}: is not complete; make it again, it goes on")
    check_files(manifest)
    return manifest


def check_files(manifest: Manifest) -> None:
    """Raise PackError, a line for each file that is not as the manifest says."""
    lines = [*_checkout(manifest), *_named(manifest), *_stray(manifest)]
    if not lines:
        lines = [line for file in manifest.data for line in _rows(manifest, file)]
    if lines:
        raise PackError("\n".join(lines))


def _checkout(manifest: Manifest) -> Iterator[str]:
    folder, linked_to = manifest.folder.path, manifest.content["linked_to"]
    checkout = os.path.normpath(folder / (linked_to or ""))
    if not os.path.isdir(checkout):
        yield (
            f"{folder}: belongs to a checkout, and {checkout} is not there; put the pack"
            " back, or make one to carry without --link"
        )


def _named(manifest: Manifest) -> Iterator[str]:
    for name in sorted(manifest.files):
        path = manifest.folder.path / name
        try:
            if not manifest.folder.has(name):
                yield f"{path}: is missing; {MAKE_AGAIN}"
            elif not manifest.has(name):
                yield f"{path}: has another SHA-256 than the manifest; {MAKE_AGAIN}"
        except PackError as error:
            yield str(error)


def _stray(manifest: Manifest) -> Iterator[str]:
    """Yield a line for what a run would read and is not of the pack.

    What the tool itself left, when it was killed, is only named.
    """
    for name in manifest.folder.names():
        path = manifest.folder.path / name
        if is_part(name):
            said = f"{path}: is left of a run that was killed; it can be deleted"
            sys.stderr.write(f"{said}\n")
        elif name in manifest.files:
            continue
        elif name.endswith((".yaml", ".py")) or name.startswith("data/"):
            yield f"{path}: is not in the manifest; move it elsewhere"


def _rows(manifest: Manifest, file: str) -> Iterator[str]:
    """Yield a line for what the manifest says of rows and is not so."""
    entry, path = manifest.data[file], manifest.folder.path / "data" / file
    try:
        rows = read_rows(path)
        digest = fingerprint(entry["tasks"], rows, file)
    except PackError as error:
        yield str(error)
        return
    found = {"rows": len(rows.rows), "fingerprint": digest}
    for name, value in found.items():
        if value != entry[name]:
            known = entry[name]
            yield f"{path}: has {name} {value}, the manifest {known}; {MAKE_AGAIN}"
