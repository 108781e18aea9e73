"""Few-shot examples of TCP, written for this pack; none is a row of the benchmark."""

import json
from pathlib import Path


def _read(name: str) -> list[dict]:
    file = Path(__file__).with_name(f"fewshot_{name}.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def short() -> list[dict]:
    """Return the documents of TCP short."""
    return _read("short")


def long() -> list[dict]:
    """Return the documents of TCP long."""
    return _read("long")
