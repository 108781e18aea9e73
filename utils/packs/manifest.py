"""The manifest of a pack: what is in its folder, and from where."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolError
from ..core.files import is_part, sha256_of, written_whole


FORMAT = "lm-eval-temporal-tasks pack, version 2"
FILE, LOCK = "manifest.json", ".temporal-eval.lock"
# What tools read of a file of rows; of one with twins, "twins", too.
ENTRY = {"fingerprint", "generated", "given_as", "tasks", "upstream"}


@dataclass
class Manifest:
    """What a pack is, and the folder that holds it."""

    folder: Path
    data: dict[str, dict]  # file in `data/` -> what is in it (see `_add_data`)
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
            if strangers := cls(folder, {}, {}).strangers():
                fault = f"is not a pack and holds {strangers[0]}"
                raise ToolError(f"{folder}: {fault}; name a new or an empty folder")
            return cls(folder, {}, {})
        try:
            manifest_content = json.loads(manifest_path.read_bytes())
            data, files = manifest_content["data"], manifest_content["files"]
            if (
                manifest_content["format"] == FORMAT
                and {f"data/{data_file}" for data_file in data} <= files.keys()
                and all(entry.keys() >= ENTRY for entry in data.values())
                and not any({"", ".", ".."} & {*file.split("/")} for file in files)
            ):
                return cls(folder, data, files, manifest_content["complete"])
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
        content = {"format": FORMAT, "complete": self.complete}
        content |= {"data": self.data, "files": self.files}
        json_text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
        with written_whole(self.folder / FILE) as manifest_file:
            manifest_file.write(f"{json_text}\n".encode())

    def begin(self, new_files: set[str]) -> None:
        """Name the files that will be written, and save: a killed run finds its own again.

        ToolError for a file of the user that is in the way.
        """
        for file in new_files.intersection(self.strangers()):
            fault = "is not of the pack and in its way; move it elsewhere"
            raise ToolError(f"{self.folder / file}: {fault}")
        self.files = dict.fromkeys(new_files) | self.files
        self.complete = False
        self.save()

    def write(self, file: str, lines: Iterable[bytes]) -> None:
        """Write a file of the pack: whole, or not at all."""
        with written_whole(self.folder / file) as pack_file:
            pack_file.writelines(lines)
        self.files[file] = sha256_of(self.folder / file)

    def has(self, file: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        path = self.folder / file
        return path.is_file() and sha256_of(path) == self.files[file]

    def strangers(self) -> list[str]:
        """Return the names of the files in the folder that are not of the pack."""
        file_paths = (path for path in self.folder.rglob("*") if not path.is_dir())
        file_names = {path.relative_to(self.folder).as_posix() for path in file_paths}
        file_names -= {*self.files, FILE, LOCK}
        return sorted(name for name in file_names if not is_part(name))
