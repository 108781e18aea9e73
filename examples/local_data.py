"""Rows of the offline pack, from the JSON Lines files beside this module."""

import hashlib
import json
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import datasets
import pyarrow
from datasets.table import InMemoryTable


FOLDER = Path(__file__).resolve().parent
SOME_ROWS = 1000
FIX = "copy the pack again, or make it again with `temporal-eval offline`"


def load(data_file: str, **metadata: object) -> datasets.DatasetDict:
    """Return the rows of a file in `data/`, whatever the working directory is.

    The harness adds the task's metadata. Raises ValueError for a file that is not the one
    in the manifest, and for metadata that ask for rows of another seed.
    """
    data_path, manifest_path = FOLDER / "data" / data_file, FOLDER / "manifest.json"
    try:
        manifest = json.loads(manifest_path.read_bytes())
        is_complete, entry = manifest["complete"], manifest["data"][data_file]
        expected, request = manifest["files"][f"data/{data_file}"], entry["generated"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        fault = f"is damaged, or does not name data/{data_file}"
        raise ValueError(f"{manifest_path}: {fault}; {FIX}") from None
    if is_complete is not True:
        raise ValueError(f"{manifest_path}: says that the pack is not complete; {FIX}")
    _check_request(request or {}, metadata)
    if not data_path.is_file():  # a pipe would keep the run waiting
        raise ValueError(f"{data_path}: is missing, or not a file; {FIX}")
    try:
        digest = sha256_of(data_path)
        if digest != expected:
            fault = f"has SHA-256 {digest}, but the manifest says {expected}"
            raise ValueError(f"{data_path}: {fault}; {FIX}")
        with data_path.open("rb") as file:
            dataset = dataset_of(map(json.loads, file), digest)
    except OSError as error:
        raise ValueError(f"{data_path}: {error.strerror}; {FIX}") from None
    dataset.info.config_name = data_path.stem
    return datasets.DatasetDict(test=dataset)


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file; OSError where it cannot be read."""
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 16):
            hasher.update(chunk)
    return hasher.hexdigest()


def dataset_of(rows: Iterable[dict], digest: str) -> datasets.Dataset:
    """Return rows as a dataset, of which SOME_ROWS are in memory as objects at a time.

    `digest` tells them from others: `datasets` would pickle them all to find one. Cells of
    several types in a column raise ValueError or an error of pyarrow.
    """
    rows, tables = iter(rows), []
    while row_batch := list(islice(rows, SOME_ROWS)):
        columns = dict.fromkeys(column for row in row_batch for column in row)
        tables.append(
            pyarrow.table(
                {column: [row.get(column) for row in row_batch] for column in columns}
            )
        )
    # Tables of one schema are joined without a copy, others with one.
    is_one_schema = all(table.schema == tables[0].schema for table in tables)
    promote_mode = "none" if is_one_schema else "permissive"
    joined_table = pyarrow.concat_tables(tables, promote_options=promote_mode)
    return datasets.Dataset(InMemoryTable(joined_table), fingerprint=digest[:16])


def _check_request(request: dict, metadata: dict) -> None:
    """Raise ValueError where `--metadata` asks for other rows than those made of a seed."""
    for setting_name, setting_value in request.items():
        if metadata.get(setting_name, setting_value) != setting_value:
            raise ValueError(
                f"--metadata {setting_name} changes nothing in a pack, whose rows are made"
                f" ({setting_name} {setting_value}); leave it out, or make a pack with"
                " `temporal-eval generate`"
            )
    if request and "--cache_requests true" in " ".join(sys.argv).replace("=", " "):
        fault = "--cache_requests true: the cache tells no seed from another"
        raise ValueError(f"{fault}; leave it out, or give `refresh`")
