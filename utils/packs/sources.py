"""What tasks read: rows from upstream, from local files or from a seed, as a stream."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import datasets
import huggingface_hub
import pyarrow
from lm_eval.tasks import TaskManager

from ..core.errors import ToolError
from ..core.families import FOLDER as TASKS, all_tasks, leaf_tasks, scorer
from ..core.jsonl import numbered_rows
from ..core.private import load_yaml
from .local_data import SOME_ROWS, dataset_of


class Source(NamedTuple):
    """The rows that one or several tasks read, and where these come from."""

    file: str  # with upstream's name, where it has one
    family: str  # the folder of the tasks' YAML files
    tasks: frozenset[str]
    known: tuple[int | None, str | None]  # rows and fingerprint of the benchmark's file
    licence: str
    upstream: str  # what the manifest and messages call the source
    revision: str | None
    load: Callable[[], Iterable[dict]]  # ToolError for whatever is in the way
    generated: dict | None = None  # the metadata of rows made from a seed


def index() -> dict:
    """Return the harness's index of the tasks and groups: name -> entry."""
    return TaskManager(include_path=str(TASKS), include_defaults=False).task_index


def is_generated(config: dict) -> bool:
    """Tell whether a task makes its rows from a seed."""
    return "generator" in (config.get("dataset_kwargs") or {})


def sources(entries: dict, names: list[str]) -> list[Source]:
    """Return the sources of tasks and groups, tasks with the same rows together.

    No name stands for all tasks that read files. Raises ToolError for a name that does
    not exist, and for a task that makes its rows itself.
    """
    tasks = [task for name in names for task in leaf_tasks(name)] or all_tasks()
    found: dict[str, Source] = {}
    for task in tasks:
        config = load_yaml(entries[task].yaml_path)
        if not is_generated(config):
            source = _source(entries, task, config)
            same = found.get(source.file, source)
            found[source.file] = same._replace(tasks=same.tasks | {task})
        elif names:
            raise ToolError(f"{task}: makes its rows itself; leave it out of the pack")
    return list(found.values())


def _source(entries: dict, task: str, config: dict) -> Source:
    """Return the source of a task's rows: of the hub, or what a function gives, whose
    module says where its files are, and of which commit.
    """
    kwargs, split = config.get("dataset_kwargs") or {}, config["test_split"]
    if "custom_dataset" in config:
        load = config["custom_dataset"]
        module = load.__globals__
        url, revision = f"{module['SUBSET']}/{kwargs['data_file']}", module["COMMIT"]
    else:
        path, name = config["dataset_path"], config.get("dataset_name")
        file = kwargs.get("data_files", {}).get(split)
        url = "/".join(filter(None, (path, name, file)))
        module, revision = {}, kwargs.get("revision")
        load = partial(_of_hub, path, name, file)

    def rows() -> Iterable[dict]:
        try:
            return load(**kwargs)[split]
        except Exception as error:  # datasets and the hub raise all kinds
            if module:  # whose errors name the place and the fix
                said = str(error).replace(module["USE_A_PACK"], "or use --source")
                raise ToolError(said) from error
            said = str(error).strip().split("\n")[0] or type(error).__name__
            raise ToolError(
                f"{url}: {said}; check the network, the disk and your access (`hf auth"
                " login`), or give the files with --source"
            ) from error

    return Source(
        file=f"{scorer(task).file}.jsonl",
        family=entries[task].yaml_path.parent.name,
        tasks=frozenset({task}),
        known=scorer(task).known,
        licence=config["metadata"]["licence"],
        upstream=url,
        revision=revision,
        load=rows,
    )


def _of_hub(path: str, name: str | None, file: str | None, **kwargs: object) -> dict:
    """Return split -> rows of a data set of the hub, or of a file in it, as it is.

    A table would give each dict the keys of all, and make other things of dates.
    """
    if file is None:
        return datasets.load_dataset(path, name, **kwargs)
    told = {"repo_type": "dataset", "revision": kwargs.get("revision")}
    found = Path(huggingface_hub.hf_hub_download(path, file, **told))
    return dict.fromkeys(kwargs["data_files"], (row for _, row in numbered_rows(found)))


def find(file: str, folder: Path) -> Path:
    """Return the file of a name below a folder; ToolError for none or several."""
    found = sorted(
        Path(place, file) for place, _, files in os.walk(folder) if file in files
    )
    if not found:
        raise ToolError(f"{folder}: holds no file {file}; put it there")
    if found[1:]:
        raise ToolError(f"{found[1]}: is a second {file}; name a folder with one")
    return found[0]


class Rows:
    """Rows on their way into a pack, each of which its tasks can score.

    Once they were iterated over, `count` and `fingerprint` are theirs.
    """

    def __init__(
        self,
        place: str,
        rows: Iterable[tuple[str, dict]],
        file: str,
        tasks: Iterable[str],
    ):
        """Take what messages call the rows as a whole, and each with its name there."""
        self.place, self.count, self._rows = place, 0, rows
        self._file, self._scorers = file, [scorer(task) for task in sorted(tasks)]
        self._digests: list[bytes] = []
        self._schema = pyarrow.schema([])

    @classmethod
    def of_file(cls, path: Path, file: str, tasks: Iterable[str]) -> Rows:
        """Return the rows of a JSON Lines file, whose name upstream is `file`."""
        rows = ((f"line {number}", row) for number, row in numbered_rows(path))
        return cls(str(path), rows, file, tasks)

    @classmethod
    def of(cls, source: Source, tasks: Iterable[str]) -> Rows:
        """Return the rows of a source itself."""
        rows = ((f"row {number}", row) for number, row in enumerate(source.load()))
        return cls(source.upstream, rows, source.file, tasks)

    def __iter__(self) -> Iterator[dict]:
        """Yield the rows; ToolError names the one that is wrong."""
        rows = iter(self._rows)
        while part := list(islice(rows, SOME_ROWS)):
            self._take(part)
            yield from (row for _, row in part)
        if not self.count:
            raise ToolError(f"{self.place}: there are no rows; give a file with some")

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the family reckons it."""
        return self._scorers[0].utils.fingerprint(self._digests)

    def _take(self, part: list[tuple[str, dict]]) -> None:
        try:
            dataset = dataset_of((row for _, row in part), "part")
            self._schema = _joined(self._schema, dataset)
        except Exception as error:  # pyarrow raises all kinds
            raise self._misfit(part, error) from error
        dataset.info.config_name = Path(self._file).stem
        for task in reversed(self._scorers):
            try:
                documents = task.process_docs(dataset)
            except Exception as error:
                raise self._placed(part, str(error) or type(error).__name__) from error
        self._digests += map(task.utils.digest, documents)
        self.count += len(part)

    def _misfit(self, part: list[tuple[str, dict]], error: Exception) -> ToolError:
        """Return which row has a cell of another type than those above it."""
        schema, (name, _) = self._schema, part[0]
        for name, row in part:
            try:
                schema = _joined(schema, dataset_of([row], "row"))
            except Exception as its_own:
                error = its_own
                break
        said = " ".join(str(error).split())[:200]
        return ToolError(
            f"{self.place}, {name}: a cell is not of the type of those above it, or too"
            f" large ({said}); fix the row"
        )

    def _placed(self, part: list[tuple[str, dict]], said: str) -> ToolError:
        """Return what a family says of a row, with the row's own file and name."""
        # Before any quote: what is in a file can look like a place, too.
        found = re.match(r"[^'\"]*?, row (?P<row>\d{1,9})\b(?P<rest>.*)", said, re.S)
        if found and int(found["row"]) < len(part):
            said = f"{self.place}, {part[int(found['row'])][0]}{found['rest']}"
        else:
            said = f"{self.place}: {said}"
        return ToolError(" ".join(said.split("\n")))


def _joined(schema: pyarrow.Schema, dataset: datasets.Dataset) -> pyarrow.Schema:
    schemas = [schema, dataset.features.arrow_schema]
    return pyarrow.unify_schemas(schemas, promote_options="permissive")
