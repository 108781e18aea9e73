"""Runs of models: which files a run is made of, and what the harness says of it.

A run is the output folder of one model (`<output_path>/<model>`), or a file of answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .answers import SAMPLES_NAME, Answer, read_answers
from .errors import ToolError
from .families import all_tasks


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

    def version(self, task: str) -> str | None:
        """Return the version of a task that was run, None where no file tells."""
        for file in self.files:
            if (version := (file.results.get("versions") or {}).get(task)) is not None:
                return str(version)
        return None


def find_runs(arguments: list[str], task: str | None = None) -> list[Run]:
    """Return the runs that `PATH` or `NAME=PATH` arguments name, one or more each.

    A folder stands for each folder with samples of the pack's tasks in it or below it; of
    a task that was run several times, the last run counts. A file is a run of its own.
    Raises ToolError for a path with nothing to read, and for two runs of one name.
    """
    runs: list[Run] = []
    for argument in arguments:
        label, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            label, path = "", argument
        runs += _runs_at(Path(path), label, task)
    names = [run.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise ToolError(
                f"two runs are called '{name}'; name them by NAME=PATH arguments"
            )
    return runs


def _runs_at(path: Path, label: str, task: str | None) -> list[Run]:
    if not path.is_dir():
        file = File(path, _results(path))
        name = label or _model(file.results) or path.stem.removesuffix(".jsonl")
        return [Run(name, (file,), task)]
    folders: dict[Path, dict[str, Path]] = {}
    for file in sorted(path.rglob("samples_*"), key=_time):
        match = SAMPLES_NAME.fullmatch(file.name)
        if match and match["task"] in all_tasks():
            folders.setdefault(file.parent, {})[match["task"]] = file
    if not folders:
        raise ToolError(
            f"{path}: has no samples of the pack's tasks; run with --log_samples, or name"
            " files"
        )
    if label and len(folders) > 1:
        raise ToolError(
            f"{label}={path}: holds the samples of {len(folders)} models; name one folder"
        )
    return [
        Run(label or _model(files[0].results) or folder.name, files, task)
        for folder, files in (
            # The last run first: it tells the version of a task that ran before, too.
            (
                folder,
                tuple(
                    File(x, _results(x))
                    for x in sorted(last.values(), key=_time, reverse=True)
                ),
            )
            for folder, last in sorted(folders.items())
        )
    ]


def _time(path: Path) -> str:
    match = SAMPLES_NAME.fullmatch(path.name)
    return match["time"] if match else ""


def _results(path: Path) -> dict:
    """Return the results that the harness wrote with a file of samples."""
    match = SAMPLES_NAME.fullmatch(path.name)
    found = path.parent / f"results_{match['time']}.json" if match else None
    if not found or not found.is_file():
        return {}
    try:
        results = json.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"{found}: is not JSON ({error}); copy it again, or delete it"
        ) from None
    if not isinstance(results, dict):
        raise ToolError(f"{found}: is not a results file; copy it again, or delete it")
    return results


def _model(results: dict) -> str | None:
    name = results.get("model_name")
    return name if isinstance(name, str) and name else None
