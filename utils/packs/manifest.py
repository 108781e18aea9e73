"""The manifest of a pack: what is in it, and from where. It is read as hostile input."""

import hashlib
import json
import re
from typing import NamedTuple

from ..core.files import is_part
from .errors import PackError
from .folder import Folder


FORMAT = "lm-eval-temporal-tasks pack, version 1"
FILE = "manifest.json"
MAX_BYTES = 10_000_000
MAX_SHOWN = 80


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_name(value: object) -> bool:
    """Tell whether a value names a file in the folder and nothing outside it."""
    return (
        _is_text(value)
        and len(value) <= 1000
        and "\\" not in value
        and not {"", ".", ".."} & set(value.split("/"))
        and value != FILE
        and not is_part(value)
    )


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value))


def _is_file_name(value: object) -> bool:
    return _is_name(value) and "/" not in value


def _is_entry(value: object) -> bool:
    # Packs that were made before there were generated rows do not speak of them.
    return isinstance(value, dict) and not _wrong_keys(
        {"generated": None, **value}, ENTRY
    )


def _is_generation(value: object) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(_is_text(key) and key.startswith("gen_") for key in value)
        and all(_is_text(item) or type(item) is int for item in value.values())
    )


def _wrong_keys(value: dict, checks: dict) -> list[str]:
    """Return the keys that are missing, unknown, or whose values are wrong."""
    wrong = [key for key in checks if key not in value or not checks[key](value[key])]
    return wrong + [key for key in value if key not in checks]


def _dict_of(is_key, is_value):
    def check(value: object) -> bool:
        return isinstance(value, dict) and all(
            is_key(key) and is_value(item) for key, item in value.items()
        )

    return check


# What a manifest says of a file of rows.
ENTRY = {
    "family": _is_text,
    "fingerprint": _is_text,
    "generated": _is_generation,
    "given_as": lambda value: value in ("generated", "local file", "upstream"),
    "rows": lambda value: type(value) is int,
    "tasks": lambda value: (
        isinstance(value, list) and bool(value) and all(map(_is_text, value))
    ),
    "upstream": _is_text,
    "upstream_licence": _is_text,
    "upstream_revision": lambda value: value is None or _is_text(value),
}
MANIFEST = {
    "command": _is_text,
    "complete": lambda value: isinstance(value, bool),
    "data": _dict_of(_is_file_name, _is_entry),
    "files": _dict_of(_is_name, _is_digest),
    "format": lambda value: value == FORMAT,
    "linked_to": lambda value: value is None or _is_text(value),
}


class Manifest(NamedTuple):
    """What a pack is, and the folder that holds it."""

    folder: Folder
    content: dict

    @classmethod
    def of(cls, folder: Folder) -> "Manifest | None":
        """Return the manifest in a folder, None where there is none.

        Raises PackError, in one line, for one that is damaged or of another format.
        """
        content = folder.read(FILE, MAX_BYTES)
        if content is None:
            return None
        try:
            said = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise _damaged(folder, f"is not JSON ({error})") from None
        if not isinstance(said, dict):
            raise _damaged(folder, "is not a JSON object")
        if wrong := _wrong_keys(said, MANIFEST):
            raise _damaged(folder, f"{repr(wrong[0])[:MAX_SHOWN]} is wrong or missing")
        stray = [name for name in said["data"] if f"data/{name}" not in said["files"]]
        if stray:
            raise _damaged(folder, f"data/{stray[0]}: has no SHA-256")
        return cls(folder, said)

    @classmethod
    def new(cls, folder: Folder) -> "Manifest":
        """Return the manifest of a pack that is begun in an empty folder."""
        empty = {"command": "", "complete": False, "data": {}, "files": {}}
        return cls(folder, {**empty, "format": FORMAT, "linked_to": None})

    @property
    def data(self) -> dict[str, dict]:
        """File in `data/` -> what is in it (see ENTRY)."""
        return self.content["data"]

    @property
    def files(self) -> dict[str, str]:
        """Name of a file in the folder -> SHA-256; the manifest is not among them."""
        return self.content["files"]

    @property
    def tasks(self) -> dict[str, str]:
        """Task -> file in `data/`."""
        return {task: file for file in self.data for task in self.data[file]["tasks"]}

    def save(self) -> None:
        """Write the manifest."""
        text = json.dumps(self.content, indent=2, sort_keys=True, ensure_ascii=False)
        self.folder.write(FILE, f"{text}\n".encode())

    def add(self, name: str, content: bytes) -> None:
        """Write a file of the pack.

        The manifest says so first: a file that it does not name is never replaced, and
        a run that is killed here finds its own file again.
        """
        if self.has(name) and self.files[name] == sha256(content):
            return
        self.files[name] = sha256(content)
        self.save()
        self.folder.write(name, content)

    def has(self, name: str) -> bool:
        """Tell whether a file is there as the manifest says."""
        if name not in self.files:
            return False
        return self.folder.sha256(name) == self.files[name]


def sha256(content: bytes) -> str:
    """Return the SHA-256 of a content, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _damaged(folder: Folder, what: str) -> PackError:
    return PackError(
        f"{folder.path / FILE}: {what}; it is not the manifest of a pack that this"
        " version made: make a new pack in another folder"
    )
