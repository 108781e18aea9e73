"""What tasks read: the rows of a source, from upstream or from local files."""

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from pathlib import Path
from typing import NamedTuple

import datasets
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

import lm_eval_tasks
from lm_eval_tasks.timebench import sources as timebench

from ..core.families import Scorer, all_tasks, leaf_tasks, scorer
from ..core.jsonl import numbered_rows
from .errors import PackError, local_error, upstream_error
from .local_data import dataset_of


TASKS = Path(lm_eval_tasks.__file__).resolve().parent

LICENCES = {
    "tcp": "see https://huggingface.co/datasets/Beanbagdzf/TCP",
    "tot": "CC BY 4.0",
    "timebench": "MIT",
}


def index() -> dict:
    """Return the harness's index of the tasks and groups: name -> entry."""
    return TaskManager(include_path=str(TASKS), include_defaults=False).task_index


class Rows(NamedTuple):
    """Rows, where they are, and what messages call each: line or row."""

    place: str
    rows: list[dict]
    names: list[str]


class Source:
    """The rows that one or several tasks read, and where these come from."""

    given_as = "upstream"
    generated: dict | None = None  # the `gen_` metadata of rows made from a seed

    def __init__(self, task: Scorer, config: dict):
        kwargs = config.get("dataset_kwargs") or {}
        self.family = task.family
        self.file = f"{task.file}.jsonl"  # with upstream's name, where it has one
        self.known = task.known
        self.tasks: set[str] = set()
        self._config = config
        self._upstream_file = kwargs.get("data_file") or (
            kwargs.get("data_files", {}).get(config["test_split"])
        )

    @property
    def is_generated(self) -> bool:
        """Tell whether the tasks make their rows from a seed."""
        return "generator" in (self._config.get("dataset_kwargs") or {})

    @property
    def licence(self) -> str:
        """The licence of the rows."""
        return LICENCES[self.family]

    @property
    def _is_timebench(self) -> bool:
        return self._upstream_file in timebench.FILES

    @property
    def url(self) -> str:
        """What the manifest and messages call the source."""
        if self._is_timebench:
            return f"{timebench.SUBSET}/{self._upstream_file}"
        path, name = self._config["dataset_path"], self._config.get("dataset_name")
        return "/".join(filter(None, (path, name, self._upstream_file)))

    @property
    def revision(self) -> str | None:
        """The commit upstream, None where none is known."""
        if self._is_timebench:
            return timebench.COMMIT
        return (self._config.get("dataset_kwargs") or {}).get("revision")

    def rows(self, folder: Path | None) -> Rows:
        """Return the rows, from a file of that name in a folder or from upstream.

        Raises PackError in one line for whatever is in the way.
        """
        return read_rows(self.find(folder)) if folder else self._upstream()

    def _upstream(self) -> Rows:
        kwargs = self._config.get("dataset_kwargs") or {}
        try:
            if self._is_timebench:
                splits = timebench.load(**kwargs)
            else:
                name = self._config.get("dataset_name")
                path = self._config["dataset_path"]
                splits = datasets.load_dataset(path, name, **kwargs)
            rows = as_in_file(splits[self._config["test_split"]])
        except Exception as error:  # datasets and the hub raise all kinds
            if self._is_timebench:  # whose errors name the place and the fix
                said = str(error).replace(timebench.USE_A_PACK, "or use --source")
                raise PackError(said) from error
            raise upstream_error(error, self.url) from error
        return Rows(self.url, rows, [f"row {number}" for number in range(len(rows))])

    def find(self, folder: Path) -> Path:
        """Return the file of that name below a folder; PackError for none or several."""
        found = sorted(
            Path(place, self.file)
            for place, _, files in os.walk(folder)
            if self.file in files
        )
        if not found:
            raise PackError(f"{folder}: holds no file {self.file}; put it there")
        if len(found) > 1:
            raise PackError(
                f"{found[0]}: {found[1]} has the same name; name a folder with only one"
            )
        if not found[0].is_file():
            raise PackError(f"{found[0]}: is not a file; put the file in its place")
        return found[0]


def read_rows(path: Path) -> Rows:
    """Return the rows of a JSON Lines file; PackError in one line for any fault."""
    try:
        lines = [*numbered_rows(path)]
    except ValueError as error:
        raise PackError(str(error)) from error
    except OSError as error:
        raise local_error(error, path) from error
    numbers = [f"line {number}" for number, _ in lines]
    return Rows(str(path), [row for _, row in lines], numbers)


def as_in_file(rows: Iterable[dict]) -> list[dict]:
    """Return rows as their file has them, where a table has changed their cells.

    A table gives every dict the keys of all, and makes moments of texts such as dates;
    those of a column have clocks where one of them has.
    """
    rows = list(rows)
    clocks = {
        column
        for row in rows
        for column, cell in row.items()
        if any(moment.time() != time() for moment in _moments(cell))
    }
    return [
        {column: _cell_in_file(cell, column in clocks) for column, cell in row.items()}
        for row in rows
    ]


def _moments(cell: object) -> Iterator[datetime]:
    if isinstance(cell, datetime):
        yield cell
    elif isinstance(cell, dict | list):
        for part in cell.values() if isinstance(cell, dict) else cell:
            yield from _moments(part)


def _cell_in_file(cell: object, has_clock: bool) -> object:
    if isinstance(cell, dict):
        parts = {x: _cell_in_file(y, has_clock) for x, y in cell.items()}
        return {key: value for key, value in parts.items() if value is not None}
    if isinstance(cell, list):
        return [_cell_in_file(part, has_clock) for part in cell]
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%d %H:%M}" if has_clock else f"{cell:%Y-%m-%d}"
    return cell


def sources(entries: dict, names: list[str]) -> list[Source]:
    """Return the sources of tasks and groups, tasks with the same rows together.

    No name stands for all tasks that read files. Raises PackError for a name that does
    not exist, and for a task that makes its rows itself.
    """
    try:
        tasks = [task for name in names for task in leaf_tasks(name)] or all_tasks()
    except ValueError as error:
        raise PackError(str(error)) from None
    found: dict[str, Source] = {}
    for task in tasks:
        source = Source(scorer(task), load_yaml(entries[task].yaml_path))
        if not source.is_generated:
            found.setdefault(source.file, source).tasks.add(task)
        elif names:
            raise PackError(f"{task}: makes its rows itself; leave it out of the pack")
    return list(found.values())


def fingerprint(tasks: Iterable[str], rows: Rows, file: str) -> str:
    """Return the fingerprint of rows that each of the tasks can score.

    Raises PackError, naming the row that is wrong, where one cannot, and for a task that
    does not exist.
    """
    first, *others = sorted(tasks)
    for task in others:  # one after the other: each has documents of its own
        documents(task, rows, file)
    made = documents(first, rows, file)
    utils = scorer(first).utils
    return utils.fingerprint(map(utils.digest, made))


def documents(task: str, rows: Rows, file: str) -> datasets.Dataset:
    """Return a task's documents of rows; PackError names the row that is wrong."""
    if not rows.rows:
        raise PackError(f"{rows.place}: there are no rows; give a file with some")
    try:
        process_docs = scorer(task).process_docs
    except ValueError as error:
        raise PackError(f"{rows.place}: {error}") from error
    try:
        dataset = dataset_of(rows.rows)
    except Exception as error:  # pyarrow raises all kinds
        raise _misfit(rows, error) from error
    dataset.info.config_name = Path(file).stem
    try:
        return process_docs(dataset)
    except Exception as error:
        raise _placed(rows, str(error) or type(error).__name__) from error


def _misfit(rows: Rows, error: Exception) -> PackError:
    """Return which cell is of another type than those above it."""
    counts = range(1, len(rows.rows) + 1)
    count = bisect_left(counts, True, key=lambda x: not _is_table(rows.rows[:x])) + 1
    name, row = rows.names[count - 1], rows.rows[count - 1]
    for column, cell in row.items():
        if not _is_table([{column: x.get(column)} for x in rows.rows[:count]]):
            return PackError(
                f"{rows.place}, {name}, column {_cut(column)}: {_cut(cell)} is not of"
                " the type of those above it, or too large; fix the row"
            )
    said = str(error).split("\n")[0]
    return PackError(f"{rows.place}, {name}: {said}; fix the row")


def _is_table(rows: list[dict]) -> bool:
    try:
        dataset_of(rows)
    except Exception:  # pyarrow raises all kinds
        return False
    return True


def _cut(cell: object) -> str:
    try:
        return repr(cell)[:80]
    except (RecursionError, ValueError):  # nested too deeply, a number too long
        return type(cell).__name__


def _placed(rows: Rows, said: str) -> PackError:
    """Return what a family says of a row, with the row's own file and line."""
    # Before any quote: what is in a file can look like a place, too.
    found = re.match(
        r"[^'\"]*?, row (?P<row>[0-9]{1,9})\b(?P<rest>.*)", said, re.DOTALL
    )
    if found and int(found["row"]) < len(rows.names):
        said = f"{rows.place}, {rows.names[int(found['row'])]}{found['rest']}"
    else:
        said = f"{rows.place}: {said}"
    return PackError(" ".join(said.split("\n")))
