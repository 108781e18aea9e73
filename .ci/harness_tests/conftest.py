"""Local rows in place of the hub's and of URLs, for the harness's own tests of the tasks.

`TEMPORAL_ROWS` names the folder of JSON Lines files under the benchmarks' names. They are
repeated up to the ten rows that the harness's tests want.
"""

import os
import tempfile
from itertools import cycle, islice
from pathlib import Path

import datasets


FOLDER = Path(os.environ["TEMPORAL_ROWS"])
_LOAD = datasets.load_dataset


def load_dataset(
    path: str, name: str | None = None, data_files: dict | None = None
) -> datasets.DatasetDict:
    """Return the rows of the local file that stands for a file of a benchmark."""
    stem = Path(data_files["test"]).stem if data_files else name
    lines = (FOLDER / f"{stem}.jsonl").read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{stem}.jsonl"
        repeated = islice(cycle(lines), max(10, len(lines)))
        file.write_text("\n".join(repeated), encoding="utf-8")
        files = {"test": str(file)}
        return _LOAD(
            "json", name, data_files=files, cache_dir=folder, keep_in_memory=True
        )


datasets.load_dataset = load_dataset
