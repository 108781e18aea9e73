"""What tasks read: rows from upstream, from local files or from a seed, as a stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import datasets
import huggingface_hub
import pyarrow

from ..core.errors import ToolError
from ..core.families import (
    all_tasks,
    configuration,
    function,
    is_generated,
    leaf_tasks,
    scorer,
    task_files,
    transformations,
)
from ..core.jsonl import parse, read_lines
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
    generated: dict | None  # the metadata of rows made from a seed

    @classmethod
    def of(cls, task: str, *fields: object) -> Source:
        """Return the source of a task; `fields` are the last four."""
        file, family = f"{scorer(task).file}.jsonl", task_files()[task].path.parent.name
        size, licence = scorer(task).upstream, scorer(task).licence
        return cls(file, family, frozenset({task}), size, licence, *fields)


def sources(names: list[str]) -> list[Source]:
    """Return the sources of tasks and groups, else of all tasks that read files.

    ToolError for an unknown name, and for a task that makes its rows itself.
    """
    by_file: dict[str, Source] = {}
    for task in [task for name in names for task in leaf_tasks(name)] or all_tasks():
        if not is_generated(task) and not transformations(task):
            source = _source(task)
            file_source = by_file.get(source.file, source)
            tasks = file_source.tasks | {task}
            by_file[source.file] = file_source._replace(tasks=tasks)
        elif names:
            raise ToolError(f"{task}: makes its rows itself; leave it out of the pack")
    return list(by_file.values())


def _source(task: str) -> Source:
    """Return the source of a task's rows: of the hub, or what a function gives."""
    config = configuration(task)
    kwargs, split = config.get("dataset_kwargs") or {}, config["test_split"]
    if "custom_dataset" in config:
        load = function(config["custom_dataset"])
        module = load.__globals__  # says where its files are, and of which commit
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
                fault = str(error).replace(module["USE_A_PACK"], "or use --source")
                raise ToolError(fault) from error
            fault = str(error).strip().split("\n")[0] or type(error).__name__
            raise ToolError(
                f"{url}: {fault}; check the network, the disk and your access (`hf auth"
                " login`), or give the files with --source"
            ) from error

    return Source.of(task, url, revision, rows, None)


def _of_hub(path: str, name: str | None, file: str | None, **kwargs: object) -> dict:
    """Return split -> rows of a data set of the hub, or of a file in it."""
    if file is None:
        return datasets.load_dataset(path, name, **kwargs)
    # As it is: a table gives each dict the keys of all, and makes other things of dates.
    repository = {"repo_type": "dataset", "revision": kwargs.get("revision")}
    local_path = Path(huggingface_hub.hf_hub_download(path, file, **repository))
    return dict.fromkeys(kwargs["data_files"], map(parse, read_lines(local_path)))


def checked(
    source: Source, path: Path | None, count: int | None
) -> Iterator[tuple[dict, bytes]]:
    """Yield rows, each with the digest of its document, of a file or the source itself.

    ToolError for a row that its tasks cannot score, for none, and for not `count` rows.
    """
    if path:
        rows = ((f"line {line.number}", parse(line)) for line in read_lines(path))
    else:
        rows = ((f"row {number}", row) for number, row in enumerate(source.load()))
    place, schema, total = str(path or source.upstream), pyarrow.schema([]), 0
    scorers = [scorer(task) for task in sorted(source.tasks, reverse=True)]
    while batch := list(islice(rows, SOME_ROWS)):
        try:
            dataset = dataset_of((row for _, row in batch), "part")
            joined_schema = _joined(schema, dataset)
        except Exception as error:  # pyarrow raises all kinds
            raise _misfit(place, batch, schema, error) from error
        schema, dataset.info.config_name = joined_schema, Path(source.file).stem
        for task in scorers:
            try:
                documents = task.process_docs(dataset)
            except Exception as error:
                raise _placed(place, batch, str(error) or repr(error)) from error
        yield from zip((row for _, row in batch), map(task.utils.digest, documents))
        total += len(batch)
    if not total:
        raise ToolError(f"{place}: there are no rows; give a file with some")
    if count not in (None, total):
        fault = f"has {total} rows, the benchmark's file {count}"
        raise ToolError(f"{place}: {fault}; give the whole file, or --allow-partial")


def _misfit(
    place: str, batch: list[tuple[str, dict]], schema: pyarrow.Schema, error: Exception
) -> ToolError:
    """Return which row has a cell of another type than those above it."""
    for name, row in batch:
        try:
            schema = _joined(schema, dataset_of([row], "row"))
        except Exception as row_error:
            error = row_error
            break
    text = f"{' '.join(str(error).split()):.200}"
    fault = f"a cell is not of the type of those above it, or too large ({text})"
    return ToolError(f"{place}, {name}: {fault}; fix the row")


def _placed(place: str, batch: list[tuple[str, dict]], fault: str) -> ToolError:
    """Return what a family says of a row, with the row's own file and name."""
    # Before any quote: what is in a file can look like a place, too.
    match = re.match(r"[^'\"]*?, row (\d{1,9})\b(.*)", fault, re.S)
    if match and int(match[1]) < len(batch):
        place, fault = f"{place}, {batch[int(match[1])][0]}", match[2]
    else:
        fault = f": {fault}"
    return ToolError(f"{place}{fault}".replace("\n", " "))


def _joined(schema: pyarrow.Schema, dataset: datasets.Dataset) -> pyarrow.Schema:
    schemas = [schema, dataset.features.arrow_schema]
    return pyarrow.unify_schemas(schemas, promote_options="permissive")
