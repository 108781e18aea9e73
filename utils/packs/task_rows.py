"""What tasks read: rows from upstream, from local files or from a seed, as a stream."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import huggingface_hub
import pyarrow

from ..core.documents import documents_of
from ..core.errors import ToolError
from ..core.files import parse, read_lines
from ..core.task_scorers import (
    all_tasks,
    function,
    is_generated,
    leaf_tasks,
    scorer,
    task_files,
    transformations,
)


class Source(NamedTuple):
    """The rows that one or several tasks read from one file, and where these come from."""

    tasks: frozenset[str]
    upstream: str  # what the manifest and messages call the source
    load: Callable[[], Iterable[dict]]  # ToolError for whatever is in the way
    revision: str | None = None
    generated: dict | None = None  # the metadata of rows made from a seed
    twins: dict = {}  # what the manifest says of twins
    path: Path | None = None  # of a file that has the rows, in place of `load`

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
            source = source._replace(tasks=source.tasks | {task})
            source_by_file[scorer(task).file] = source
        elif names:
            raise ToolError(f"{task}: makes its rows itself; leave it out of the pack")
    return list(source_by_file.values())


def _source(task: str) -> Source:
    """Return the source of a task's rows: of the hub, or what a function gives."""
    config = scorer(task).config
    kwargs, split_name = config.get("dataset_kwargs") or {}, config["test_split"]
    if "custom_dataset" in config:
        load_splits = function(config["custom_dataset"])
        module = sys.modules[load_splits.__module__]
        origin, revision = f"{module.SUBSET}/{kwargs['data_file']}", module.COMMIT
    else:
        hub_file = kwargs.get("data_files", {}).get(split_name)
        hub_parts = config["dataset_path"], config.get("dataset_name"), hub_file
        origin, revision = "/".join(filter(None, hub_parts)), kwargs.get("revision")
        load_splits, module = partial(_load_from_hub, *hub_parts), None

    def load_rows() -> Iterable[dict]:
        try:
            return load_splits(**kwargs)[split_name]
        except Exception as error:  # datasets and the hub raise all kinds
            if module:  # whose errors name the place and the fix
                error_text = str(error).replace(module.USE_A_PACK, "or use --source")
            else:
                fault = str(error).strip().split("\n")[0] or type(error).__name__
                error_text = (
                    f"{origin}: {fault}; check the network, the disk and your access"
                    " (`hf auth login`), or give the files with --source"
                )
            raise ToolError(error_text) from error

    return Source(frozenset({task}), origin, load_rows, revision)


def _load_from_hub(
    repository: str, subset: str | None, file: str | None, **kwargs: Any
) -> dict:
    """Return split -> rows of a data set of the hub, or of a file in it."""
    if file is None:
        return datasets.load_dataset(repository, subset, **kwargs)
    # As it is: a table gives each dict the keys of all, and makes other things of dates.
    local_path = huggingface_hub.hf_hub_download(
        repository, file, repo_type="dataset", revision=kwargs.get("revision")
    )
    return dict.fromkeys(kwargs["data_files"], map(parse, read_lines(Path(local_path))))


def checked_lines(
    source: Source, expected_count: int | None, digests: list[bytes]
) -> Iterator[bytes]:
    """Yield the rows of a source as JSON Lines; add their documents' digests.

    ToolError for a row that its tasks cannot score, for none, and for another count.
    """
    origin, schema_so_far = source.path or source.upstream, pyarrow.schema([])
    if source.path:
        placed_rows = ((line.place, parse(line)) for line in read_lines(source.path))
    else:
        numbered = enumerate(source.load())
        placed_rows = ((f"{origin}, row {number}", row) for number, row in numbered)
    for row_place, row in placed_rows:
        try:
            schemas = [schema_so_far, pyarrow.Table.from_pylist([row]).schema]
            schema_so_far = pyarrow.unify_schemas(schemas, promote_options="permissive")
            for task in sorted(source.tasks, reverse=True):
                [document] = documents_of(task, [row])
        except Exception as error:  # families and pyarrow raise all kinds
            error_text = " ".join(str(error).split())
            _, row_mention, fault = error_text.partition(", row 0")
            if not row_mention:
                fault = ": a cell is not of the type of those above it, or too large"
                fault += f" ({error_text:.200}); fix the row"
            raise ToolError(f"{row_place}{fault}") from error
        digests.append(scorer(task).utils.digest(document))
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"
    if not digests:
        raise ToolError(f"{origin}: there are no rows; give a file with some")
    if expected_count not in (None, len(digests)):
        fault = f"has {len(digests)} rows, the benchmark's file {expected_count}"
        raise ToolError(f"{origin}: {fault}; give the whole file, or --allow-partial")
