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
        if not path.is_file():
            manifest = cls(folder, {}, {})
            if strangers := manifest.strangers():
                fault = f"is not a pack and holds {strangers[0]}"
                raise ToolError(f"{folder}: {fault}; name a new or an empty folder")
            return manifest
        try:
            content = json.loads(path.read_bytes())
            names, data = content["files"].keys(), content["data"]
            is_sound = (
                content["format"] == FORMAT
                and {f"data/{file}" for file in data} <= names
                and all(entry.keys() - {"twins"} == ENTRY for entry in data.values())
                and not any({"", ".", ".."} & {*name.split("/")} for name in names)
            )
            if is_sound:
                return cls(folder, data, content["files"], content["complete"])
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            pass
        fault = "is not the manifest of a pack that this version made"
        raise ToolError(f"{path}: {fault}; make a new pack in another folder")

    @property
    def tasks(self) -> dict[str, str]:
        """Task -> file in `data/`."""
        return {task: file for file in self.data for task in self.data[file]["tasks"]}

    def save(self) -> None:
        """Write the manifest."""
        content = {"complete": self.complete, "data": self.data, "files": self.files}
        content["format"] = FORMAT
        json_text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
        with written_whole(self.folder / FILE) as file:
            file.write(f"{json_text}\n".encode())

    def begin(self, file_names: set[str]) -> None:
        """Name the files that will be written, and save: a killed run finds its own again.

        ToolError for a file of the user that is in the way.
        """
        for name in file_names.intersection(self.strangers()):
            fault = "is not of the pack and in its way; move it elsewhere"
            raise ToolError(f"{self.folder / name}: {fault}")
        for name in self.files:
            if self.files[name] or (self.folder / name).exists():
                file_names = file_names | {name}
        self.files = {name: self.files.get(name) for name in file_names}
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
