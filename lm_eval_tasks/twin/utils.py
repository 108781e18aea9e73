"""Twins of public rows: the same words and steps, and another answer.

Their rows are made from those of a benchmark, which this package does not hold. So they
come in a pack; there, the tasks read its files instead of calling `load`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn


def load(data_file: str, **_: object) -> NoReturn:
    """Raise ValueError, which says how to make the pack with the rows."""
    fault = f"{Path(data_file).stem}: its rows are in no pack at --include_path"
    command = "temporal-eval twins OUT --include_path PACK --gen-seed N"
    raise ValueError(f"{fault}; make one with `{command}`")
