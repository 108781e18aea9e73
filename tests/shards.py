"""Recorded answers in many files."""

import json
from pathlib import Path

from tests.conftest import EXAMPLES
from utils.core.documents import documents
from utils.core.jsonl import read_jsonl, written_lines


TASKS = ["tcp_long", "tot_arithmetic", "timebench_menatqa_scope"]


def answers(count: int, first_id: int = 0) -> list[dict]:
    """Return lines with recorded answers to several tasks; each has an id of its own."""
    recorded = [
        {"task": task, "doc": documents(task, EXAMPLES)[line["doc_id"]], **line}
        for task in TASKS
        for line in read_jsonl(EXAMPLES / "responses" / f"{task}.jsonl")
    ]
    return [
        recorded[i % len(recorded)] | {"doc_id": first_id + i} for i in range(count)
    ]


def write(path: Path, lines: list[dict]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with written_lines(path) as file:
        for line in lines:
            file.write(json.dumps(line).encode() + b"\n")
    return path


def split(folder: Path, lines: list[dict], size: int) -> Path:
    """Write lines to files of so many; return their folder."""
    for start in range(0, len(lines), size):
        write(folder / f"part-{start:05}.jsonl", lines[start : start + size])
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {x.name: x.read_bytes() for x in folder.iterdir() if x.is_file()}
