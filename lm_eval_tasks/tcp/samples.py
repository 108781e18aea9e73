"""Few-shot examples of TCP, written for this pack; none is a row of the benchmark."""

import json
from functools import partial
from pathlib import Path


def read(name: str) -> list[dict]:
    """Return the documents of a file of examples."""
    examples_path = Path(__file__).with_name(f"fewshot_{name}.jsonl")
    return [json.loads(line) for line in examples_path.read_text("utf-8").splitlines()]


short = partial(read, "short")
long = partial(read, "long")
