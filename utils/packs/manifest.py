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
        if symlink := next(filter(Path.is_symlink, folder.rglob("*")), None):
            raise ToolError(f"{symlink}: is a symlink, not of a pack; delete it")
        manifest_path = folder / FILE
        if not manifest_path.is_file():
            empty_manifest = cls(folder, {}, {})
            if strange_file_names := empty_manifest.strangers():
                fault = f"is not a pack and holds {strange_file_names[0]}"
                raise ToolError(f"{folder}: {fault}; name a new or an empty folder")
            return empty_manifest
        try:
            content = json.loads(manifest_path.read_bytes())
            file_names, entries = content["files"].keys(), content["data"]
            is_sound = (
                content["format"] == FORMAT
                and {f"data/{data_file}" for data_file in entries} <= file_names
                and all(entry.keys() - {"twins"} == ENTRY for entry in entries.values())
                and not any({"", ".", ".."} & {*file.split("/")} for file in file_names)
            )
            if is_sound:
                return cls(folder, entries, content["files"], content["complete"])
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            pass
        fault = "is not the manifest of a pack that this version made"
        raise ToolError(f"{manifest_path}: {fault}; make a new pack in another folder")

    @property
    def tasks(self) -> dict[str, str]:
        """Task -> file in `data/`."""
        return {task: file for file in self.data for task in self.data[file]["tasks"]}

    def save(self) -> None:
        """Write the manifest."""
        content = {"complete": self.complete, "data": self.data, "files": self.files}
        content["format"] = FORMAT
        json_text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
        with written_whole(self.folder / FILE) as manifest_file:
            manifest_file.write(f"{json_text}\n".encode())

    def begin(self, file_names: set[str]) -> None:
        """Name the files that will be written, and save: a killed run finds its own again.

        ToolError for a file of the user that is in the way.
        """
        for file_name in file_names.intersection(self.strangers()):
            fault = "is not of the pack and in its way; move it elsewhere"
            raise ToolError(f"{self.folder / file_name}: {fault}")
        for file_name in self.files:
            if self.files[file_name] or (self.folder / file_name).exists():
                file_names = file_names | {file_name}
        self.files = {file_name: self.files.get(file_name) for file_name in file_names}
        self.complete = False
        self.save()

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        """Write a file of the pack: whole, or not at all."""
        hasher = hashlib.sha256()
        with written_whole(self.folder / name) as pack_file:
            for line in lines:
                hasher.update(line)
                pack_file.write(line)
        self.files[name] = hasher.hexdigest()

    def has(self, name: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        file_path = self.folder / name
        return file_path.is_file() and sha256_of(file_path) == self.files[name]

    def strangers(self) -> list[str]:
        """Return the names of the files in the folder that are not of the pack."""
        file_paths = (path for path in self.folder.rglob("*") if not path.is_dir())
        stranger_names = {
            path.relative_to(self.folder).as_posix() for path in file_paths
        }
        stranger_names -= {*self.files, FILE, LOCK}
        return sorted(name for name in stranger_names if not is_part(name))
