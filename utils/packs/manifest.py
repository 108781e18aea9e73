"""The manifest of a pack: what is in its folder, and from where."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ToolError
from ..core.files import is_part, written_whole


FORMAT = "lm-eval-temporal-tasks pack, version 2"
FILE, LOCK = "manifest.json", ".temporal-eval.lock"
# What a manifest says of a file of rows.
ENTRY = {
    *("family", "fingerprint", "generated", "given_as", "rows", "tasks", "upstream"),
    *("upstream_licence", "upstream_revision"),
}


class Manifest(NamedTuple):
    """What a pack is, and the folder that holds it."""

    folder: Path
    content: dict

    @classmethod
    def of(cls, folder: Path) -> Manifest | None:
        """Return the manifest in a folder; None where nothing is in the folder.

        Raises ToolError for one that is damaged or of another format, for a folder that
        has other files and no manifest, and for a symlink below the folder: neither a
        read nor a write is to leave it.
        """
        if link := next((x for x in _below(folder) if x.is_symlink()), None):
            raise ToolError(f"{link}: is a symlink, not of a pack; delete it")
        path = folder / FILE
        if path.is_file():
            try:
                content = json.loads(path.read_bytes())
                _check(content)
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
                raise ToolError(
                    f"{path}: is not the manifest of a pack that this version made; make"
                    " a new pack in another folder"
                ) from None
            return cls(folder, content)
        if stranger := next((x for x in _below(folder) if not _is_ours(x)), None):
            name = stranger.relative_to(folder)
            raise ToolError(
                f"{folder}: is not a pack and holds {name}; name a new or an empty folder"
            )
        return None

    @classmethod
    def new(cls, folder: Path) -> Manifest:
        """Return the manifest of a pack that is begun in an empty folder."""
        content = {"complete": False, "data": {}, "files": {}}
        return cls(folder, content | {"format": FORMAT})

    @property
    def data(self) -> dict[str, dict]:
        """File in `data/` -> what is in it (see ENTRY)."""
        return self.content["data"]

    @property
    def files(self) -> dict[str, str | None]:
        """Name of a file -> SHA-256, None while it is written for the first time."""
        return self.content["files"]

    @property
    def tasks(self) -> dict[str, str]:
        """Task -> file in `data/`."""
        return {task: file for file in self.data for task in self.data[file]["tasks"]}

    def save(self) -> None:
        """Write the manifest."""
        text = json.dumps(self.content, indent=2, sort_keys=True, ensure_ascii=False)
        with written_whole(self.folder / FILE) as file:
            file.write(f"{text}\n".encode())

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        """Write a file of the pack: whole, or not at all.

        The manifest names it first, so that a run that is killed here finds its own file
        again: a file that it does not name is never replaced.
        """
        if name not in self.files:
            self.files[name] = None
            self.save()
        digest = hashlib.sha256()
        with written_whole(self.folder / name) as file:
            for line in lines:
                digest.update(line)
                file.write(line)
        self.files[name] = digest.hexdigest()

    def has(self, name: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        path, digest = self.folder / name, hashlib.sha256()
        if not self.files.get(name) or not path.is_file():
            return False
        with path.open("rb") as file:
            while part := file.read(1 << 16):
                digest.update(part)
        return digest.hexdigest() == self.files[name]

    def strangers(self) -> list[Path]:
        """Return the files in the folder that are not of the pack."""
        known = {self.folder / name for name in self.files} | {self.folder / FILE}
        return [x for x in _below(self.folder) if x not in known and not _is_ours(x)]


def _check(content: dict) -> None:
    """Raise an error for what is no manifest of this format, or names files elsewhere."""
    names, data = content["files"].keys(), content["data"]
    is_sound = (
        content["format"] == FORMAT
        and {f"data/{file}" for file in data} <= names
        and all(entry.keys() == ENTRY for entry in data.values())
        and not any({"", ".", ".."} & {*name.split("/")} for name in names)
    )
    if not is_sound:
        raise ValueError


def _below(folder: Path) -> list[Path]:
    """Return what is below a folder and is no folder itself, sorted."""
    found = (
        Path(place, name)
        for place, folders, files in os.walk(folder)
        for name in [*folders, *files]
    )
    return sorted(x for x in found if x.is_symlink() or not x.is_dir())


def _is_ours(path: Path) -> bool:
    return path.name == LOCK or is_part(path.name)
