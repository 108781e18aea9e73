"""Files of recorded answers, for the tools that read them."""

import json
from itertools import cycle, islice
from pathlib import Path

from tests.conftest import EXAMPLES
from utils.core.documents import documents
from utils.core.files import read_jsonl


TASKS = ["tcp_long", "tot_arithmetic", "timebench_menatqa_scope"]
GOOD = {"task": "tcp_long", "doc_id": 0, "response": "\\boxed{2020-01-01}"}


def recorded(task: str, model: str = "careful") -> list[tuple[dict, str]]:
    """Return the documents of a task of the examples, each with a model's response."""
    lines = read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")
    docs = documents(task, EXAMPLES)
    return [(docs[line["doc_id"]], line["response"]) for line in lines]


def answers(count: int, first_id: int = 0) -> list[dict]:
    """Return lines with recorded answers to several tasks; each has an id of its own."""
    rows = cycle((task, *pair) for task in TASKS for pair in recorded(task))
    return [
        {"task": task, "doc": doc, "doc_id": doc_id, "response": response}
        for doc_id, (task, doc, response) in enumerate(islice(rows, count), first_id)
    ]


def write(path: Path, *lines: dict | str | bytes) -> Path:
    """Write lines to a file: objects, texts without their ends, or bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for line in lines:
            text = json.dumps(line) if isinstance(line, dict) else line
            file.write(text if isinstance(text, bytes) else text.encode() + b"\n")
    return path


def split(folder: Path, lines: list[dict], size: int) -> Path:
    """Write lines to files of so many; return their folder."""
    for start in range(0, len(lines), size):
        write(folder / f"part-{start:05}.jsonl", *lines[start : start + size])
    return folder
