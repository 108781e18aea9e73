"""The manifest of a pack: what is in its folder, and from where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolError
from ..core.files import is_part, sha256_of, written_whole


FORMAT = "lm-eval-temporal-tasks pack, version 2"
FILE, LOCK = "manifest.json", ".temporal-eval.lock"
# What a manifest says of a file of rows.
ENTRY = {
    *("family", "fingerprint", "generated", "given_as", "rows", "tasks", "upstream"),
    *("upstream_licence", "upstream_revision"),
}


@dataclass
class Manifest:
    """What a pack is, and the folder that holds it."""

    folder: Path
    data: dict[str, dict]  # file in `data/` -> what is in it (see ENTRY)
    # Name of a file -> SHA-256, None before it is written for the first time.
    files: dict[str, str | None]
    complete: bool = False

    @classmethod
    def of(cls, folder: Path) -> Manifest:
        """Return the manifest in a folder, an empty one where nothing is in it.

        ToolError for a damaged one, for a folder with other files and no manifest, and for
        a symlink below the folder, which no read or write may leave.
        """
        if link := next(filter(Path.is_symlink, folder.rglob("*")), None):
            raise ToolError(f"{link}: is a symlink, not of a pack; delete it")
        path = folder / FILE
        if path.is_file():
            try:
                content = json.loads(path.read_bytes())
                _check(content)
                names = ("data", "files", "complete")
                return cls(folder, *(content[name] for name in names))
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
                fault = "is not the manifest of a pack that this version made"
                fix = "make a new pack in another folder"
                raise ToolError(f"{path}: {fault}; {fix}") from None
        manifest = cls(folder, {}, {})
        for name in manifest.strangers():
            fault = f"is not a pack and holds {name}; name a new or an empty folder"
            raise ToolError(f"{folder}: {fault}")
        return manifest

    @property
    def tasks(self) -> dict[str, str]:
        """Task -> file in `data/`."""
        return {task: file for file in self.data for task in self.data[file]["tasks"]}

    def save(self) -> None:
        """Write the manifest."""
        content = {"complete": self.complete, "data": self.data, "files": self.files}
        content["format"] = FORMAT
        text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
        with written_whole(self.folder / FILE) as file:
            file.write(f"{text}\n".encode())

    def begin(self, names: Iterable[str]) -> None:
        """Name the files that will be written, and save: a killed run finds its own again."""
        written = (name for name in self.files if self.files[name])
        in_folder = (name for name in self.files if (self.folder / name).exists())
        present = {*written, *in_folder}
        self.files = {name: self.files.get(name) for name in {*names, *present}}
        self.complete = False
        self.save()

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        """Write a file of the pack: whole, or not at all."""
        digest = hashlib.sha256()
        with written_whole(self.folder / name) as file:
            for line in lines:
                digest.update(line)
                file.write(line)
        self.files[name] = digest.hexdigest()

    def has(self, name: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        path = self.folder / name
        return path.is_file() and sha256_of(path) == self.files[name]

    def strangers(self) -> list[str]:
        """Return the names of the files in the folder that are not of the pack."""
        paths = (path for path in self.folder.rglob("*") if not path.is_dir())
        names = {path.relative_to(self.folder).as_posix() for path in paths}
        names -= {*self.files, FILE, LOCK}
        return sorted(name for name in names if not is_part(name))


def _check(content: dict) -> None:
    """Raise an error for another format, and for names of files elsewhere."""
    names, data = content["files"].keys(), content["data"]
    is_sound = (
        content["format"] == FORMAT
        and {f"data/{file}" for file in data} <= names
        and all(entry.keys() - {"twins"} == ENTRY for entry in data.values())
        and not any({"", ".", ".."} & {*name.split("/")} for name in names)
    )
    if not is_sound:
        raise ValueError
