"""Few-shot examples of ToT, written for this pack; none is a row of the benchmark."""

import json
from functools import partial
from pathlib import Path


def read(name: str) -> list[dict]:
    """Return the documents of a file, each in one piece and in two, with an answer."""
    examples_path = Path(__file__).parent / "fewshot" / f"{name}.jsonl"
    return [json.loads(line) for line in examples_path.read_text("utf-8").splitlines()]


arithmetic = partial(read, "arithmetic")
semantic = partial(read, "semantic")
