"""Scoring on a cluster: what `shards` does with a file, by Ray Data.

Ray finds the files and hands them out, on shared disks or in object storage; each is in
the memory of a worker as a whole. Files stay bytes until a worker reads them: Ray would
look for one schema in all documents, and its `read_text` ends a line at characters that a
JSON string may hold (U+2028, U+0085). What comes of a file is rows of two columns: `line`,
a line with its verdict, and `file`, in the first row, the figures and what was refused.

The pack must be installed on all machines, in the same version.
"""

from __future__ import annotations

import io
import json
import logging
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .answers import read_answers
from .errors import Refusals, ToolError
from .shards import Result, Shard, score_answers


if TYPE_CHECKING:
    import pyarrow
    from ray.data import DataContext


def score_files(paths: list[str], shard: Shard, folder: str) -> dict[str, Result]:
    """Score files and write Parquet files to a folder that is not there yet.

    Returns path -> what came of the file. `shard` says what to do with each; `paths` and
    `folder` are absolute paths or URLs that Ray knows. Raises ToolError where Ray cannot
    do it.
    """
    try:
        import ray
        from ray.data import DataContext, SaveMode
        from ray.exceptions import RayError
    except ImportError:
        raise ToolError(
            "--engine ray: Ray is not installed; install the extra `ray`"
        ) from None
    if not ray.is_initialized():
        ray.init(logging_level="error", log_to_driver=False)
    _quiet(DataContext.get_current())
    score = partial(_score_batch, like=shard)
    try:
        files = ray.data.read_binary_files(paths, include_paths=True)
        scored = files.map_batches(score, batch_size=1, batch_format="pyarrow")
        scored.write_parquet(folder, mode=SaveMode.ERROR)
        written = ray.data.read_parquet(folder).select_columns(["file"])
        found = [
            text
            for batch in written.iter_batches(batch_format="pyarrow")
            for text in batch["file"].drop_null().to_pylist()
        ]
    except (RayError, OSError, ValueError) as error:
        raise ToolError(f"Ray: {_first_line(error)}") from error
    return {x["path"]: Result.from_state(x) for x in map(json.loads, found)}


def _quiet(context: DataContext) -> None:
    """Have Ray say no more than what goes wrong."""
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or repr(error)).split("\n")[0]


def _score_batch(batch: pyarrow.Table, like: Shard) -> pyarrow.Table:
    """Return the rows that come of some files, given as `path` and `bytes`."""
    import pyarrow

    lines, files = [], []
    for row in batch.to_pylist():
        shard = like._replace(path=Path(row["path"]))
        refused, sink = Refusals(), _Sink()
        file = io.BufferedReader(io.BytesIO(row["bytes"]))
        try:
            answers = read_answers(shard.path, shard.task, file)
            tallies, _ = score_answers(answers, shard, refused, sink)
        except ToolError as error:
            refused.add(str(error))
            tallies = {}
        result = Result(tallies, refused.messages(shard.path))
        texts = sink.lines or [None]  # a file without a line says why
        lines += texts
        files += [json.dumps({"path": row["path"], **result.state()})]
        files += [None] * (len(texts) - 1)
    # The lines of a file may be more than the 2 GB that a column of strings holds.
    schema = pyarrow.schema({"line": pyarrow.large_string(), "file": pyarrow.string()})
    return pyarrow.table([lines, files], schema=schema)


class _Sink:
    """Keeps the lines of a file."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: bytes) -> None:
        self.lines.append(line.decode().rstrip("\n"))


def folder_name(run: str) -> str:
    """Return the name of a folder for a run; what a run is called is data."""
    return re.sub(r"[^\w.-]", "_", run).lstrip(".") or "_"
