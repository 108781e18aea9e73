"""The files of answers that arguments of a tool name. None is opened here.

What is in a file of a stranger is read by `judge`, in a process with limits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ToolError
from ..core.families import all_tasks
from ..core.jsonl import SUFFIXES
from .answers import SAMPLES_NAME


class Source(NamedTuple):
    """A file of answers."""

    path: Path
    place: Path  # the folder of a run, or the file: one place holds one model
    task: str | None  # of lines that do not name theirs
    label: str = ""  # the NAME of NAME=PATH

    @property
    def time(self) -> str | None:
        """When the samples were logged, as their name says; None for other files."""
        match = SAMPLES_NAME.fullmatch(self.path.name)
        return match["time"] if match else None

    @property
    def results_path(self) -> Path | None:
        """The results that the harness wrote beside the samples, if any."""
        path = self.path.parent / f"results_{self.time}.json"
        return path if self.time and os.path.lexists(path) else None

    @property
    def default_name(self) -> str:
        """What a model is called that neither an argument nor its files name."""
        if self.place != self.path or self.time:
            return self.path.parent.resolve().name
        return self.path.name.removesuffix(".gz").removesuffix(".jsonl")


class Failure(NamedTuple):
    """What cannot be read, and why."""

    path: Path
    label: str  # what it calls itself, where it says so
    reason: str

    @property
    def message(self) -> str:
        """What a user is told of it."""
        return located(self.path, self.reason)


def located(path: Path, fault: str) -> str:
    """Return a fault after the path that it is of; it may begin with ", line N:"."""
    return f"{path}{'' if fault.startswith(',') else ': '}{fault}"


def find_sources(
    arguments: list[str], task: str | None = None
) -> tuple[list[Source], list[Failure]]:
    """Return the files that `PATH` or `NAME=PATH` arguments name, and what is no run.

    A folder stands for the samples of the pack's tasks in it and below it, or else for the
    files of answers in it. ToolError for an argument without either.
    """
    sources: dict[tuple[str, Path], Source] = {}
    failures: list[Failure] = []
    for argument in arguments:
        (label, path), old_failures = split_name(argument), len(failures)
        if not path.is_dir():
            is_sample = SAMPLES_NAME.fullmatch(path.name)
            files = [(path, path.parent if is_sample else path)]
        else:
            files = [(file, file.parent) for file in _samples(path, label, failures)]
            files = files or [(file, path) for file in _parts(path)]
            if not files and len(failures) == old_failures:
                fix = "run with --log_samples, or name files"
                raise ToolError(f"{path}: has no samples of the pack's tasks; {fix}")
        for file, place in files:
            source = Source(file, place, task, label)
            sources.setdefault((label, file.absolute()), source)
    return [*sources.values()], failures


def split_name(argument: str) -> tuple[str, Path]:
    """Return the name, or "", and the path of `PATH` or `NAME=PATH`; ToolError without.

    Both may have an equals sign in them: it is split at the last one before a path that
    is there, else at the first one.
    """
    pieces = argument.split("=")
    splits = [("=".join(pieces[:n]), "=".join(pieces[n:])) for n in range(len(pieces))]
    existing = [split for split in splits if split[1] and Path(split[1]).exists()]
    if splits[0] not in existing:
        splits = existing[-1:] or splits[1:2] or splits
    name, path = splits[0]
    if not path:
        raise ToolError(f"'{argument}': names no file or folder; give PATH")
    return name, Path(path)


def _samples(folder: Path, label: str, failures: list[Failure]) -> Iterator[Path]:
    """Yield the samples of the pack's tasks in and below a folder.

    Links are not followed. Folders of results without samples are noted.
    """
    for place, folders, files in os.walk(folder):
        folders.sort()
        names = sorted([*files, *folders])
        matches = ((SAMPLES_NAME.fullmatch(name), name) for name in names)
        tasks = {name: match["task"] for match, name in matches if match}
        samples = [name for name in tasks if tasks[name] in all_tasks()]
        for path in (Path(place, name) for name in samples):
            if fault := odd_kind(path):
                failures.append(Failure(path, label, fault))
            else:
                yield path
        for name in (name for name in folders if name not in samples):
            if Path(place, name).is_symlink():
                reason = "is a link to a folder"
                failures.append(Failure(Path(place, name), label, reason))
        if not tasks and any(re.match(r"results_.*\.json$", name) for name in files):
            reason = "has results without samples; run with --log_samples"
            failures.append(Failure(Path(place), label, reason))


def odd_kind(path: Path) -> str | None:
    """Return what stands at a path of a submission instead of a file; None for a file."""
    if path.is_symlink():
        return "is a link; copy the file there"
    if path.is_dir():
        return "is a folder"
    return None if path.is_file() else "is a pipe or a device, not a file"


def _parts(folder: Path) -> list[Path]:
    """Return the files of answers in a folder that are no samples."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.name.endswith(SUFFIXES) and path.is_file()
        if not path.name.startswith(".") and not SAMPLES_NAME.fullmatch(path.name)
    ]
