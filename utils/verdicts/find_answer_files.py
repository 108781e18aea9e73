"""The files of answers that a command line names; none of them is opened here."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections import defaultdict
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..core.cli import named_path
from ..core.errors import fault_of
from ..core.files import SUFFIXES
from ..core.task_scorers import all_tasks


SAMPLES_NAME = re.compile(
    r"samples_(?:.*::)?(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)"
    r"\.jsonl(\.gz)?"
)


MOST_FAILURES = 20  # of a folder that are listed
MOST_DEPTH = 20  # of folders below an argument: runs stand one or two below it


class AnswerFile(NamedTuple):
    """A file of answers."""

    path: Path
    place: Path  # the folder of a run, or the file: one place holds one model
    task: str | None  # of lines that do not name theirs
    label: str  # the NAME of NAME=PATH, or ""
    default_name: str  # of a model that neither an argument nor its files name
    time: str | None = None  # when samples were logged, as their name says
    results_path: Path | None = None  # what the harness wrote beside them, if any
    argument: str = ""  # of the command line


class Failure(NamedTuple):
    """A file or a folder that cannot be read, and why."""

    path: Path
    label: str  # what it calls itself, where it says so
    reason: str

    @property
    def message(self) -> str:
        """What a user is told of it."""
        return f"{named_path(self.path)}: {self.reason}"


def find_answer_files(
    arguments: list[str],
    task: str | None = None,
    most_runs: int | None = None,
    most_files: int | None = None,
) -> tuple[list[AnswerFile], list[Failure]]:
    """Return the files that `PATH` or `NAME=PATH` arguments name, and what is no run.

    A folder stands for the samples of the pack's tasks in it and below it, or else for the
    files of answers in it; a file is a run of its own. An argument without either, and what
    it has beyond `most_runs` runs or `most_files` files, is a failure of that argument alone.
    """
    sources: dict[tuple[str, str], AnswerFile] = {}
    failures = []
    for argument in arguments:
        label, path_text = _split_argument(argument)
        if fault := _fault_of_argument(argument, label, path_text):
            failures.append(Failure(Path(argument), label, fault))
            continue
        # A link stands for what it leads to.
        is_link = os.path.islink(path_text)
        target = Path(os.path.realpath(path_text) if is_link else path_text)
        answer_files, faults = _files_of(target)
        if most_files and len(answer_files) > most_files:
            faults |= _excess(target, len(answer_files), "files", most_files)
        found = [
            _source_of(path, target, label, task)._replace(argument=argument)
            for path in answer_files[:most_files]
        ]
        runs, faults_of_results = _runs_of(found)
        faults |= faults_of_results
        if most_runs and len(runs) > most_runs:
            faults |= _excess(target, len(runs), "runs", most_runs)
        for source in chain(*runs[:most_runs]):
            sources.setdefault((label, os.path.realpath(source.path)), source)
        failures += _failures(faults, label)
    return [*sources.values()], failures


def name_as_given(failures: list[Failure], arguments: list[str]) -> list[Failure]:
    """Return failures of which those of a whole argument that is a link name the link.

    What it leads to stands neither on the command line nor in a submission.
    """
    link_by_target = {}
    for argument in arguments:
        _, path_text = _split_argument(argument)
        if os.path.islink(path_text):
            link_by_target[Path(os.path.realpath(path_text))] = Path(path_text)
    return [x._replace(path=link_by_target.get(x.path, x.path)) for x in failures]


def _runs_of(
    sources: list[AnswerFile],
) -> tuple[list[list[AnswerFile]], dict[Path, str]]:
    """Return sources by the place of their run, and results that keep one from being read."""
    runs: dict[Path, list[AnswerFile]] = defaultdict(list)
    faults = {}
    for source in sources:
        results_path = source.results_path
        if results_path and (fault := _fault_of_kind(results_path)):
            faults[results_path] = fault
        else:
            runs[source.place].append(source)
    return [*runs.values()], faults


def _excess(target: Path, count: int, things: str, most: int) -> dict[Path, str]:
    """Return why not all files or runs of an argument are read."""
    fault = f"has {count:,} {things}: those after the first {most:,} are not read"
    return {target: f"{fault}; raise --most_{things}"}


def _failures(faults: dict[Path, str], label: str) -> list[Failure]:
    """Return the failures of an argument, of a folder and in all but so many."""
    paths_by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in faults:
        paths_by_folder[path.parent].append(path)
    failures = []
    for paths in paths_by_folder.values():
        listed = paths[:MOST_FAILURES]
        failures += [Failure(path, label, faults[path]) for path in listed]
        if hidden_count := len(paths) - len(listed):
            reason = f"{failures[-1].reason}; and {hidden_count:,} more in its folder"
            failures[-1] = failures[-1]._replace(reason=reason)
    return failures[: MOST_FAILURES**2]


def _split_argument(argument: str) -> tuple[str, str]:
    """Return the NAME of a `PATH` or `NAME=PATH` argument, "" for none, and the path.

    What is there under the whole argument is the path, even a link to nothing: no file name
    can give another's answers a name.
    """
    before_first, _, after_first = argument.partition("=")
    before_last, _, after_last = argument.rpartition("=")
    splits = [("", argument), (before_first, after_first), (before_last, after_last)]
    existing = (split for split in splits if split[1] and os.path.lexists(split[1]))
    return next(existing, splits[-1])


def _fault_of_argument(argument: str, label: str, path_text: str) -> str | None:
    """Return why an argument stands for nothing, or for two things; None for one.

    A NAME in a folder that is there may be the path of a submission that was there.
    """
    if not path_text:
        return "names no file or folder; give PATH"
    if os.path.isdir(folder := os.path.dirname(label)):
        return f"is not there, and a NAME does not begin like the folder {folder}/"
    before, equals, after = argument.partition("=")
    is_plainly_a_path = before.startswith((".", "/"))
    if path_text != argument or is_plainly_a_path or not equals:
        return None
    if after and os.path.lexists(after):
        return f"is there, and so is {after}; write ./{argument} or another NAME"
    return None


def _source_of(path: Path, target: Path, label: str, task: str | None) -> AnswerFile:
    """Return the source that a file of an argument is, with its results if it has some."""
    name_match = SAMPLES_NAME.fullmatch(path.name)
    # What is named itself is a run of its own: beside it may stand files of others.
    run_place = path.parent if name_match and path != target else target
    named_after = path.parent if name_match else target
    place_name = os.path.basename(os.path.abspath(named_after))
    default_name = place_name.removesuffix(".gz").removesuffix(".jsonl")
    source = AnswerFile(path, run_place, task, label, default_name)
    if name_match:
        source = source._replace(time=name_match["time"])
        results_path = path.parent / f"results_{source.time}.json"
        if os.path.lexists(results_path):
            source = source._replace(results_path=results_path)
        if task is None or name_match["task"] in all_tasks():
            source = source._replace(task=name_match["task"])
    return source


def _files_of(target: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the files of answers that a path stands for, and what is no run in it."""
    if not os.path.isdir(target):
        return [target], {}
    files, faults = _samples_below(target)
    if not files:
        for path in _answer_files_in(target):
            if fault := _fault_of_kind(path):
                faults[path] = fault
            else:
                files.append(path)
    if not (files or faults):
        fix = "run with --log_samples, or name files"
        faults[target] = f"has no samples of the pack's tasks; {fix}"
    return files, faults


def _samples_below(target: Path) -> tuple[list[Path], dict[Path, str]]:
    """Return the samples of the pack's tasks in a folder and below it, and what is none."""
    sample_files, faults = [], {}

    def note_fault(error: OSError) -> None:
        faults[Path(error.filename)] = fault_of(error)

    # Links are not followed.
    for parent, folder_names, file_names in os.walk(target, onerror=note_fault):
        folder_names.sort()
        depth = len(Path(parent).relative_to(target).parts)
        if folder_names and depth == MOST_DEPTH:
            fault = f"has folders more than {MOST_DEPTH} deep; move them up"
            faults[Path(parent)] = fault
            folder_names.clear()
        entry_names = sorted([*file_names, *folder_names])
        matches = [*filter(None, map(SAMPLES_NAME.fullmatch, entry_names))]
        parent_sample_paths = [
            Path(parent, match[0]) for match in matches if match["task"] in all_tasks()
        ]
        links = filter(os.path.islink, (Path(parent, name) for name in folder_names))
        for path in (*parent_sample_paths, *links):
            if fault_of_path := _fault_of_kind(path):
                faults[path] = fault_of_path
            else:
                sample_files.append(path)
        if not matches and fnmatch.filter(file_names, "results_*.json"):
            faults[Path(parent)] = "has results without samples; run with --log_samples"
    return sample_files, faults


def _answer_files_in(folder: Path) -> list[Path]:
    """Return the paths in a folder that are called as files of answers are."""
    with suppress(OSError):  # of a folder that cannot be read, which is a fault already
        return [
            folder / name
            for name in sorted(os.listdir(folder))
            if name.endswith(SUFFIXES) and not name.startswith(".")
            if not SAMPLES_NAME.fullmatch(name) and not os.path.isdir(folder / name)
        ]
    return []


def _fault_of_kind(path: Path) -> str | None:
    """Return why a path of a submission is not read; None for a file."""
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return fault_of(error)
    if stat.S_ISLNK(mode):
        return "is a link; copy there what it leads to"
    if stat.S_ISDIR(mode):
        return "is a folder"
    return None if stat.S_ISREG(mode) else "is a pipe or a device, not a file"
