"""The submissions of a board: which files each is made of, and which cannot be read.

A submission is read by its own files alone: what is wrong with one costs no other.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ToolError
from ..core.families import all_tasks
from ..core.files import is_stream
from ..core.jsonl import read_lines
from ..runs.answers import SAMPLES_NAME, task_of
from ..runs.find import Run, find_runs, split_name


class LeftOut(NamedTuple):
    """What is not on the board."""

    place: str  # the file or folder
    reason: str
    model: str = ""  # what it calls itself, where it says so

    @classmethod
    def of(cls, path: Path, error: Exception, model: str) -> LeftOut:
        """Return what an error says of a path."""
        said = getattr(error, "strerror", None) or str(error)
        return cls(str(path), said.removeprefix(f"{path}").lstrip(":, "), model)


class Submission(NamedTuple):
    """A run, and what is to be said of its files."""

    run: Run
    place: Path  # the file or folder
    remarks: tuple[str, ...]


def find_submissions(
    arguments: list[str], task: str | None
) -> tuple[list[Submission], list[LeftOut]]:
    """Return the submissions that `PATH` or `NAME=PATH` arguments hold, and what of them
    cannot be read.

    A folder stands for each folder with samples of the pack's tasks in it or below it.
    `task` is that of lines that do not name theirs.
    """
    left_out: list[LeftOut] = []
    places: dict[tuple[str, Path], list[Path]] = defaultdict(list)
    for argument in arguments:
        label, path = split_name(argument)
        is_sample = SAMPLES_NAME.fullmatch(path.name)
        samples = [path] if is_sample else _samples(path, left_out)
        for sample in samples:
            places[label, sample.parent].append(sample)
        if not samples:
            places[label, path].append(path)
    found = [_submission(x, y, task, left_out) for (x, _), y in places.items()]
    return [*_named_apart([*filter(None, found)])], left_out


def _samples(folder: Path, left_out: list[LeftOut]) -> list[Path]:
    """Return the samples of the pack's tasks in and below a folder; links are not
    followed to other folders.
    """
    found = []
    for place, folders, files in os.walk(folder):
        here = [Path(place, name) for name in sorted([*folders, *files])]
        those = [path for path in here if task_of(path, None) in all_tasks()]
        found += those
        links = [x for x in here if x.is_symlink() and x.is_dir() and x not in those]
        left_out += [LeftOut(str(path), "is a link to a folder") for path in links]
        if not those and any(re.match(r"results_.*\.json$", name) for name in files):
            why = "has results without samples; run with --log_samples"
            left_out.append(LeftOut(place, why))
    return found


def _submission(
    label: str, paths: list[Path], task: str | None, left_out: list[LeftOut]
) -> Submission | None:
    """Return the submission that samples in a folder are, or one path without samples.

    Of a task that was run several times the run with the most lines counts, of these the
    last: one with --limit takes the place of no whole one.
    """
    runs: dict[str | None, list[tuple[int, str, Run]]] = defaultdict(list)
    remarks = []
    for path in sorted(paths):
        try:
            (run,) = find_runs([str(path)], task)
            lines = sum(_lines(file.path) for file in run.files)
        except (ToolError, OSError) as error:
            left_out.append(LeftOut.of(path, error, label))
            continue
        name = SAMPLES_NAME.fullmatch(path.name) or {"task": None, "time": ""}
        runs[name["task"]].append((lines, name["time"], run))
        if name["task"] and path.parent.resolve() != path.resolve().parent:
            remarks.append(f"{path.name} is a link to {path.resolve()}")
    for of_task, of in runs.items():
        of.sort(key=lambda run: run[:2], reverse=True)
        if len(of) > 1:
            remarks.append(f"{len(of)} runs of {of_task}: that of {of[0][1]} is shown")
    names = sorted({run.name for of in runs.values() for *_, run in of})
    if not names:
        return None
    if len(names) > 1:
        remarks.append(f"its results name several models: {', '.join(names):.200}")
    files = tuple(file for of in runs.values() for file in of[0][2].files)
    place = paths[0] if None in runs else paths[0].parent
    return Submission(Run(label or names[-1], files, task), place, tuple(remarks))


def _lines(path: Path) -> int:
    """Return how many lines a file has; ToolError for one without an end."""
    if is_stream(path):
        raise ToolError(f"{path}: is a pipe or a device, not a file")
    return sum(1 for _ in read_lines(path))


def _named_apart(found: list[Submission]) -> Iterator[Submission]:
    """Yield the submissions, each under another name, with remarks on its name."""
    found = [x._replace(run=x.run._replace(name=f"{x.run.name:.200}")) for x in found]
    names = Counter(one.run.name for one in found)
    for one in found:
        name, remarks = one.run.name, [*one.remarks]
        if names[name] > 1:
            remarks.append(f"{names[name]} submissions give the name {name:.150}")
            one = one._replace(run=one.run._replace(name=f"{name:.150} ({one.place})"))
        yield one._replace(remarks=tuple(remarks))
