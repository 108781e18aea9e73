"""What tasks read: rows from upstream, from local files or from a seed, as a stream."""

from __future__ import annotations

import json
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
from ..core.files import parse, read_lines
from .local_data import SOME_ROWS, dataset_of


class Source(NamedTuple):
    """The rows that one or several tasks read from one file, and where these come from."""

    tasks: frozenset[str]
    upstream: str  # what the manifest and messages call the source
    revision: str | None
    load: Callable[[], Iterable[dict]]  # ToolError for whatever is in the way
    generated: dict | None  # the metadata of rows made from a seed

    @property
    def file(self) -> str:
        """The name of the file in a pack: upstream's, where it has one."""
        return f"{scorer(min(self.tasks)).file}.jsonl"

    @property
    def family(self) -> str:
        """The folder of the tasks' YAML files."""
        return task_files()[min(self.tasks)].path.parent.name


def find_sources(names: list[str]) -> list[Source]:
    """Return the sources of tasks and groups, else of all tasks that read files.

    ToolError for an unknown name, and for a task that makes its rows itself.
    """
    source_by_file: dict[str, Source] = {}
    for task in [task for name in names for task in leaf_tasks(name)] or all_tasks():
        if not is_generated(task) and not transformations(task):
            source = source_by_file.get(scorer(task).file) or _source(task)
            source_by_file[scorer(task).file] = source._replace(
                tasks=source.tasks | {task}
            )
        elif names:
            raise ToolError(f"{task}: makes its rows itself; leave it out of the pack")
    return list(source_by_file.values())


def _source(task: str) -> Source:
    """Return the source of a task's rows: of the hub, or what a function gives."""
    config = configuration(task)
    kwargs, split_name = config.get("dataset_kwargs") or {}, config["test_split"]
    if "custom_dataset" in config:
        load_rows = function(config["custom_dataset"])
        module = load_rows.__globals__  # says where its files are, and of which commit
        revision = module["COMMIT"]
        rows_origin = f"{module['SUBSET']}/{kwargs['data_file']}"
    else:
        dataset_path, subset_name = config["dataset_path"], config.get("dataset_name")
        hub_file = kwargs.get("data_files", {}).get(split_name)
        rows_origin = "/".join(filter(None, (dataset_path, subset_name, hub_file)))
        module, revision = {}, kwargs.get("revision")
        load_rows = partial(_of_hub, dataset_path, subset_name, hub_file)

    def rows() -> Iterable[dict]:
        try:
            return load_rows(**kwargs)[split_name]
        except Exception as error:  # datasets and the hub raise all kinds
            if module:  # whose errors name the place and the fix
                fault = str(error).replace(module["USE_A_PACK"], "or use --source")
                raise ToolError(fault) from error
            fault = str(error).strip().split("\n")[0] or type(error).__name__
            raise ToolError(
                f"{rows_origin}: {fault}; check the network, the disk and your access"
                " (`hf auth login`), or give the files with --source"
            ) from error

    return Source(frozenset({task}), rows_origin, revision, rows, None)


def _of_hub(path: str, name: str | None, file: str | None, **kwargs: object) -> dict:
    """Return split -> rows of a data set of the hub, or of a file in it."""
    if file is None:
        return datasets.load_dataset(path, name, **kwargs)
    # As it is: a table gives each dict the keys of all, and makes other things of dates.
    repository_kwargs = {"repo_type": "dataset", "revision": kwargs.get("revision")}
    local_path = Path(huggingface_hub.hf_hub_download(path, file, **repository_kwargs))
    return dict.fromkeys(kwargs["data_files"], map(parse, read_lines(local_path)))


def checked_lines(
    source: Source, path: Path | None, count: int | None, digests: list[bytes]
) -> Iterator[bytes]:
    """Yield the rows of a file or of the source itself; add their documents' digests.

    ToolError for a row that its tasks cannot score, for none, and for not `count` rows.
    """
    if path:
        named_rows = ((f"line {line.number}", parse(line)) for line in read_lines(path))
    else:
        named_rows = (
            (f"row {row_number}", row) for row_number, row in enumerate(source.load())
        )
    rows_origin, schema = path or source.upstream, pyarrow.schema([])
    while named_batch := list(islice(named_rows, SOME_ROWS)):
        batch_rows = [row for _, row in named_batch]
        try:
            schema, batch_digests = _check(source, batch_rows, schema)
        except Exception as error:  # families and pyarrow raise all kinds
            for row_place, row in named_batch:
                schema = _check_row(source, f"{rows_origin}, {row_place}", row, schema)
            raise ToolError(f"{rows_origin}: {error!s:.200}") from error
        digests += batch_digests
        yield from (
            json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in batch_rows
        )
    if not digests:
        raise ToolError(f"{rows_origin}: there are no rows; give a file with some")
    if count not in (None, len(digests)):
        fault = f"has {len(digests)} rows, the benchmark's file {count}"
        raise ToolError(
            f"{rows_origin}: {fault}; give the whole file, or --allow-partial"
        )


def _check(
    source: Source, rows: list[dict], schema: pyarrow.Schema
) -> tuple[pyarrow.Schema, list[bytes]]:
    """Return the types of rows and of those above them, and the digests of documents."""
    dataset = dataset_of(rows, "part")
    both_schemas = [schema, dataset.features.arrow_schema]
    schema = pyarrow.unify_schemas(both_schemas, promote_options="permissive")
    dataset.info.config_name = Path(source.file).stem
    for task in sorted(source.tasks, reverse=True):
        task_documents = scorer(task).process_docs(dataset)
    return schema, [*map(scorer(task).utils.digest, task_documents)]


def _check_row(
    source: Source, place: str, row: dict, schema: pyarrow.Schema
) -> pyarrow.Schema:
    """Return the types of a row and of those above it; ToolError where it has a fault."""
    try:
        return _check(source, [row], schema)[0]
    except Exception as error:
        error_text = " ".join(str(error).split())
        _, row_mention, fault = error_text.partition(", row 0")
        if not row_mention:
            fault = "a cell is not of the type of those above it, or too large"
            fault = f": {fault} ({error_text:.200}); fix the row"
        raise ToolError(f"{place}{fault}") from error
