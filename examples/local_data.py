"""Rows of the offline pack, from the JSON Lines files beside this module."""

import json
from pathlib import Path

import datasets


def load(data_file: str, **_metadata: object) -> datasets.DatasetDict:
    """Return the rows of a file in `data/`, whatever the working directory is.

    Raises ValueError, naming file and line, where a line is no JSON object.
    """
    path = Path(__file__).parent / "data" / data_file
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line:
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}; mend the line") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path}, line {number}: is no JSON object; mend the line")
        rows.append(row)
    dataset = datasets.Dataset.from_list(rows)
    dataset.info.config_name = path.stem
    return datasets.DatasetDict(test=dataset)
