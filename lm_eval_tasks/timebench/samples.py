"""Few-shot examples of TimeBench, written for this pack; none is one of its rows.

`fewshot/<name>.jsonl` holds documents, each with a worked answer. The harness calls
what a YAML file names without arguments: `samples.mctaco()` reads `mctaco.jsonl`.
"""

import json
from collections.abc import Callable
from pathlib import Path


FOLDER = Path(__file__).parent / "fewshot"


def __getattr__(name: str) -> Callable[[], list[dict]]:
    """Return what reads the file of this name; AttributeError where there is none."""
    path = FOLDER / f"{name}.jsonl"
    if not path.is_file():
        raise AttributeError(f"{path} is missing; name a file of that folder")

    def read() -> list[dict]:
        with path.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    return read
