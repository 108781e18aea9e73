"""The submissions of a board: which files each is made of, and which cannot be read.

A submission is read by its own files alone: what is wrong with one costs no other.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ToolError
from ..core.families import all_tasks
from ..core.jsonl import read_lines
from ..runs.answers import SAMPLES_NAME
from ..runs.find import File, Run, find_runs


class LeftOut(NamedTuple):
    """What is not on the board."""

    place: str  # the file or folder
    reason: str
    model: str = ""  # what it calls itself, where it says so


class Submission(NamedTuple):
    """A run, and what is to be said of its files."""

    run: Run
    place: str
    remarks: tuple[str, ...] = ()


def find_submissions(
    arguments: list[str], task: str | None
) -> tuple[list[Submission], list[LeftOut]]:
    """Return the submissions that `PATH` or `NAME=PATH` arguments hold, and what of them
    cannot be read.

    A folder stands for each folder with samples of the pack's tasks in it or below it.
    `task` is that of lines that do not name theirs.
    """
    found: list[Submission] = []
    left_out: list[LeftOut] = []
    samples: dict[tuple[str, Path], list[Path]] = defaultdict(list)
    for argument in arguments:
        label, path = _named(argument)
        those = (
            [path] if SAMPLES_NAME.fullmatch(path.name) else _samples(path, left_out)
        )
        for sample in those:
            samples[label, sample.parent].append(sample)
        if not those:
            _add(found, left_out, label, path, task)
    for (label, folder), paths in samples.items():
        _add_samples(found, left_out, label, folder, sorted(paths))
    return [*_named_apart(found)], left_out


def _named(argument: str) -> tuple[str, Path]:
    """Return name and path of an argument, split at the last "=" before a path."""
    parts = argument.split("=")
    for n in range(len(parts)):
        if (path := Path("=".join(parts[n:]))).exists():
            return "=".join(parts[:n]), path
    return "", Path(argument)


def _samples(folder: Path, left_out: list[LeftOut]) -> list[Path]:
    """Return the samples of the pack's tasks in and below a folder; links are not
    followed to other folders.
    """
    found = []
    for place, folders, files in os.walk(folder):
        here = [Path(place, name) for name in sorted([*folders, *files])]
        named = [(path, SAMPLES_NAME.fullmatch(path.name)) for path in here]
        those = [path for path, name in named if name and name["task"] in all_tasks()]
        found += those
        for path in here:
            if path.is_symlink() and path.is_dir() and path not in those:
                left_out.append(LeftOut(str(path), "is a link to a folder"))
        if not those and any(re.match(r"results_.*\.json$", name) for name in files):
            why = "has results without samples; run with --log_samples"
            left_out.append(LeftOut(place, why))
    return found


def _add(
    found: list[Submission],
    left_out: list[LeftOut],
    label: str,
    path: Path,
    task: str | None,
) -> None:
    """Add the submission of an argument that holds no samples: files of answers."""
    try:
        if not path.is_dir() and (fault := _fault(path)):
            raise ToolError(fault)
        runs = find_runs([str(path)], task)
        for file in (file for run in runs for file in run.files):
            if fault := _fault(file.path):
                raise ToolError(f"{file.path.name} {fault}")
    except (ToolError, OSError) as error:
        left_out.append(LeftOut(str(path), told(error, path)))
    else:
        names = (label or run.name for run in runs)
        runs = (run._replace(name=name) for run, name in zip(runs, names))
        found += [Submission(run, str(path)) for run in runs]


def _add_samples(
    found: list[Submission],
    left_out: list[LeftOut],
    label: str,
    folder: Path,
    paths: list[Path],
) -> None:
    """Add the submission that a folder of samples is.

    Of a task that was run several times the run with the most lines counts, of these the
    last: one with --limit takes the place of no whole one.
    """
    runs: dict[str, list[tuple[int, str, File]]] = defaultdict(list)
    remarks, names = [], []
    for path in paths:
        name = SAMPLES_NAME.fullmatch(path.name)
        try:
            if fault := _fault(path):
                raise ToolError(fault)
            (run,) = find_runs([str(path)])
            lines = sum(1 for _ in read_lines(path))
        except (ToolError, OSError) as error:
            left_out.append(LeftOut(str(path), told(error, path), label))
            continue
        names.append(run.name)
        runs[name["task"]].append((lines, name["time"], run.files[0]))
        if folder.resolve() != path.resolve().parent:
            remarks.append(f"{path.name} is a link to {path.resolve()}")
    for task, of in runs.items():
        of.sort(key=lambda run: run[:2], reverse=True)
        if len(of) > 1:
            remarks.append(f"{len(of)} runs of {task}: that of {of[0][1]} is shown")
    if len({*names}) > 1:
        remarks.append(
            f"its results name several models: {', '.join(sorted({*names})):.200}"
        )
    if runs:
        run = Run(label or names[-1], tuple(of[0][2] for of in runs.values()), None)
        found.append(Submission(run, str(folder), tuple(remarks)))


def _fault(path: Path) -> str | None:
    """Return why a path is not a file that can be read to its end."""
    if path.is_symlink() and not path.exists():
        return "is a link to nothing"
    if not path.exists():
        return "does not exist"
    if path.is_dir():
        return "is a folder, not a file"
    return None if path.is_file() else "is a pipe or a device, not a file"


def told(error: Exception, path: Path) -> str:
    """Return what an error says of a submission, without its path."""
    said = getattr(error, "strerror", None) or str(error)
    return said.removeprefix(f"{path}").lstrip(":, ")


def _named_apart(found: list[Submission]) -> Iterator[Submission]:
    """Yield the submissions, each under another name, with remarks on its name."""
    names: dict[str, list[Submission]] = defaultdict(list)
    looks: dict[str, set[str]] = defaultdict(set)
    for one in found:
        names[one.run.name].append(one)
        looks[_look(one.run.name)].add(one.run.name)
    for one in found:
        name, remarks = one.run.name, [*one.remarks]
        if len(names[name]) > 1:
            remarks.append(f"{len(names[name])} submissions give the name {name:.150}")
            one = one._replace(run=one.run._replace(name=f"{name:.150} ({one.place})"))
        if others := looks[_look(name)] - {name}:
            remarks.append(f"the name looks like {', '.join(sorted(others)):.200}")
        if odd := {x for x in name if not x.isascii()}:
            said = (unicodedata.name(x, ascii(x)).lower() for x in sorted(odd))
            remarks.append(f"the name holds {', '.join(said):.200}")
        yield one._replace(remarks=tuple(remarks))


def _look(name: str) -> str:
    """Return what names that look alike have in common."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = plain.translate(str.maketrans("01|", "oll")).replace("i", "l")
    return "".join(x for x in plain if x.isascii() and x.isalnum())
