"""Runs of models: which files a run is made of, and what the harness says of it.

A run is the output folder of one model (`<output_path>/<model>`), or a file of answers. Its
name is that of the model in the harness's results or in the answers of a batch, or else
that of the folder or file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..core.errors import ToolError
from ..core.families import FOLDER, all_tasks, bare, scorer
from ..core.files import is_stream
from ..core.jsonl import MOST_BYTES, SUFFIXES, parse, read_lines
from .answers import SAMPLES_NAME, Answer, read_answers, within


class File(NamedTuple):
    """A file of answers, and the results that the harness wrote beside it."""

    path: Path
    results: dict  # {} where there are none


class Run(NamedTuple):
    """The answers of one model."""

    name: str
    files: tuple[File, ...]
    task: str | None  # of lines that do not name theirs

    def answers(self) -> Iterator[Answer]:
        """Yield the answers in all files; errors as of `read_answers`."""
        for file in self.files:
            yield from read_answers(file.path, self.task)

    def paths(self) -> Iterator[Path]:
        """Yield the files that are read, with the harness's results."""
        for file in self.files:
            yield file.path
            yield from filter(None, [_results_path(file.path)])

    def version(self, task: str) -> str | None:
        """Return the version of a task that was run, None where no file tells."""
        told = (within(file.results, "versions", task) for file in self.files)
        return next((str(version) for version in told if version is not None), None)

    def repeats(self, task: str) -> int:
        """Return how many lines may answer a document: one, where no file tells."""
        told = (within(x.results, "configs", task, "repeats") for x in self.files)
        return next((number for number in told if type(number) is int), 1)

    def made(self, task: str, include_path: Path = FOLDER) -> Made | None:
        """Return what a task's rows were made from; None where no file tells.

        The results of the run tell, or the manifest of the pack at `include_path`.
        """
        if scorer(task).known[0] is not None:
            return None
        told = [within(x.results, "configs", task, "metadata") for x in self.files]
        for one in (*told, told_by_pack(task, include_path)):
            made = Made(*(within(one, f"gen_{name}") for name in Made._fields))
            if type(made.seed) is type(made.rows) is int:
                return made
        return None


class Made(NamedTuple):
    """What rows were made from, and all of them."""

    seed: int
    rows: int
    fingerprint: str | None


@cache
def told_by_pack(task: str, folder: Path) -> dict | None:
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for entry in manifest["data"].values():
            if task in entry["tasks"] and "generated" in entry:
                return entry["generated"] | {"gen_fingerprint": entry["fingerprint"]}
    return None


def find_runs(arguments: list[str], task: str | None = None) -> list[Run]:
    """Return the runs that `PATH` or `NAME=PATH` arguments name, one or more each.

    A folder stands for each folder with samples of the pack's tasks in it or below it; of
    a task that was run several times, the last run counts. A folder without such samples
    is a run whose answers stand in the files in it. A file is a run of its own, but
    samples of several tasks in one folder are one run, as for `MODEL/samples_*`.
    Raises ToolError for a folder with nothing to read, and for two runs of one name.
    """
    runs: dict[str, Run] = {}
    for argument in arguments:
        label, path = split_name(argument)
        for run in _runs_at(path, label, task):
            runs[run.name] = _joined(runs[run.name], run) if run.name in runs else run
    return list(runs.values())


def split_name(argument: str) -> tuple[str, Path]:
    """Return the name, or "", and the path of `PATH` or `NAME=PATH`; ToolError without.

    Both may have an equals sign in them: it is split at the last one before a path that
    is there, else at the first one.
    """
    words = argument.split("=")
    splits = [("=".join(words[:n]), "=".join(words[n:])) for n in range(len(words))]
    there = [x for x in splits if x[1] and Path(x[1]).exists()]
    if splits[0] not in there:
        splits = there[-1:] or splits[1:2] or splits
    name, path = splits[0]
    if not path:
        raise ToolError(f"'{argument}': names no file or folder; give PATH")
    return name, Path(path)


def _joined(one: Run, other: Run) -> Run:
    """Return samples of several tasks in one folder as one run; ToolError for others."""
    files = one.files + other.files
    names = (SAMPLES_NAME.fullmatch(file.path.name) for file in files)
    tasks = {name["task"] for name in names if name}
    if len(tasks) < len(files) or len({x.path.resolve().parent for x in files}) > 1:
        raise ToolError(
            f"{other.files[0].path}: a second run is called '{one.name}'; name them by"
            " NAME=PATH, or give a folder, of which the last run of each task counts"
        )
    return one._replace(files=files)


def _runs_at(path: Path, label: str, task: str | None) -> list[Run]:
    if not path.is_dir():
        is_sample = SAMPLES_NAME.fullmatch(path.name)
        stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
        name = path.resolve().parent.name if is_sample else stem
        return [_run([path], label, name, task)]
    folders = _folders_of_samples(path)
    if not folders:
        return [_run(_parts(path), label, path.resolve().name, task)]
    if label and len(folders) > 1:
        fault = f"holds the samples of {len(folders)} models; name one folder"
        raise ToolError(f"{label}={path}: {fault}")
    return [
        # The last run first: it tells the version of a task that ran before, too.
        _run(reversed(last.values()), label, folder.resolve().name, task)
        for folder, last in sorted(folders.items())
    ]


def _run(paths: Iterable[Path], label: str, otherwise: str, task: str | None) -> Run:
    files = tuple(File(path, _results(path)) for path in paths)
    told = (files[0].results.get("model_name"), label or _served(files[0].path))
    names = (name for name in told if isinstance(name, str) and name)
    return Run(label or next(names, otherwise), files, task)


def _served(path: Path) -> object:
    """Return the model that the first answer of a batch comes from; None without one.

    What can be read but once, and what cannot be read, is left for those who score it.
    """
    with suppress(OSError, ToolError):
        for line in () if is_stream(path) else read_lines(path):
            row = parse(line)
            if "custom_id" not in row:
                break
            if model := within(row, "response", "body", "model"):
                return model
    return None


def _folders_of_samples(path: Path) -> dict[Path, dict[str, Path]]:
    """Return folder -> task of the pack -> its last samples, at a path and below it.

    The tasks are in the order in which they were run last.
    """
    folders: dict[Path, dict[str, Path]] = {}
    found = [(SAMPLES_NAME.fullmatch(x.name), x) for x in path.rglob("samples_*")]
    times = [(name["time"], str(x), x, name["task"]) for name, x in found if name]
    for _, _, file, task in sorted(times):
        if task in all_tasks():
            last = folders.setdefault(file.parent, {})
            last.pop(task, None)
            last[task] = file
    return folders


def _parts(folder: Path) -> list[Path]:
    paths = (x for x in sorted(folder.iterdir()) if not x.name.startswith("."))
    parts = [x for x in paths if x.name.endswith(SUFFIXES)]
    if parts := [x for x in parts if not SAMPLES_NAME.fullmatch(x.name)]:
        return parts
    raise ToolError(
        f"{folder}: has no samples of the pack's tasks; run with --log_samples, or name files"
    )


def _results(path: Path) -> dict:
    if not (found := _results_path(path)):
        return {}
    with suppress(ValueError, RecursionError):
        is_small = found.stat().st_size <= MOST_BYTES
        results = json.loads(found.read_bytes()) if is_small else None
        if isinstance(results, dict):
            return {key: _by_task(told) for key, told in results.items()}
    raise ToolError(f"{found}: is not a results file; copy it again, or delete it")


def _by_task(told: object) -> object:
    """Return what is told of each task, by its name as it is outside of groups."""
    if isinstance(told, dict):
        return {bare(name): of_task for name, of_task in told.items()}
    return told


def _results_path(path: Path) -> Path | None:
    match = SAMPLES_NAME.fullmatch(path.name)
    found = path.parent / f"results_{match['time']}.json" if match else None
    return found if found and found.is_file() else None
