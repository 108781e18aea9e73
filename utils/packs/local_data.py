"""Rows of the offline pack, from the JSON Lines files beside this module."""

import hashlib
import io
import json
import re
import sys
from itertools import islice
from pathlib import Path

import datasets
import pyarrow
from datasets.table import InMemoryTable


FOLDER = Path(__file__).resolve().parent
FIX = "copy the pack again, or make it again with `temporal-eval offline`"


def load(data_file: str, **metadata: object) -> datasets.DatasetDict:
    """Return the rows of a file in `data/`, whatever the working directory is.

    The harness adds the task's metadata. Raises ValueError for a file that is not the one
    in the manifest, and for metadata that ask for rows of another seed.
    """
    data_path, manifest_path = FOLDER / "data" / data_file, FOLDER / "manifest.json"
    try:
        manifest = json.loads(manifest_path.read_bytes())
        is_complete = manifest["complete"]
        seed_metadata = manifest["data"][data_file]["generated"] or {}
        digest_in_manifest = manifest["files"][f"data/{data_file}"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            f"{manifest_path}: is damaged, or does not name data/{data_file}; {FIX}"
        ) from None
    if is_complete is not True:
        raise ValueError(f"{manifest_path}: says that the pack is not complete; {FIX}")
    _check_request(seed_metadata, metadata)
    if not data_path.is_file():  # a pipe would keep the run waiting
        raise ValueError(f"{data_path}: is missing, or not a file; {FIX}")
    data_bytes = data_path.read_bytes()
    data_digest = hashlib.sha256(data_bytes).hexdigest()
    if data_digest != digest_in_manifest:
        fault = f"has SHA-256 {data_digest}, but the manifest says {digest_in_manifest}"
        raise ValueError(f"{data_path}: {fault}; {FIX}")
    tables, lines = [], io.BytesIO(data_bytes)
    # Only so many rows are in memory as objects at a time.
    while rows := [json.loads(line) for line in islice(lines, 1000)]:
        columns = dict.fromkeys(column for row in rows for column in row)
        tables.append(pyarrow.Table.from_pylist([columns | row for row in rows]))
    row_table = _joined(tables)
    # `datasets` would pickle all rows to find a fingerprint of its own.
    dataset = datasets.Dataset(InMemoryTable(row_table), fingerprint=data_digest[:16])
    dataset.info.config_name = data_path.stem
    return datasets.DatasetDict(test=dataset)


def _joined(tables: list[pyarrow.Table]) -> pyarrow.Table:
    """Return tables as one, whose columns and fields are those of all.

    Rows of a table with others are made again: pyarrow 20 casts no fields in another order.
    """
    schemas = [table.schema for table in tables]
    schema = pyarrow.unify_schemas(schemas, promote_options="permissive")
    return pyarrow.concat_tables(
        table
        if table.schema == schema
        else pyarrow.Table.from_pylist(table.to_pylist(), schema=schema)
        for table in tables
    )


def _check_request(seed_metadata: dict, metadata: dict) -> None:
    """Raise ValueError where `--metadata` asks for other rows than those made of a seed."""
    for setting_name, setting_value in seed_metadata.items():
        if metadata.get(setting_name, setting_value) != setting_value:
            raise ValueError(
                f"--metadata {setting_name} changes nothing in a pack, whose rows are made"
                f" ({setting_name} {setting_value}); leave it out, or make a pack with"
                " `temporal-eval generate`"
            )
    if seed_metadata and re.search("--cache_requests[ =]true", " ".join(sys.argv)):
        raise ValueError(
            "--cache_requests true: the cache tells no seed from another; leave it out, or"
            " give `refresh`"
        )
