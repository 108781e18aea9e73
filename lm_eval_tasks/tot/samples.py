"""Few-shot examples of ToT, written for this pack; none is a row of the benchmark.

A line of `fewshot/*.jsonl` is a document, in one piece and in two, with its answer.
"""

import json
from pathlib import Path


def _read(name: str) -> list[dict]:
    path = Path(__file__).parent / "fewshot" / f"{name}.jsonl"
    return [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]


def arithmetic() -> list[dict]:
    """Return the documents of ToT arithmetic."""
    return _read("arithmetic")


def semantic() -> list[dict]:
    """Return the documents of ToT semantic."""
    return _read("semantic")
