"""Print how many rows of a pack of fresh problems the third solvers agree with.

    python -m tests.solvers.third PACK [--first N]

A line a task: rows, agreements, then the first disagreements, N of them, with what the
solver found and the label.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path

from utils import render


MODULES = {"tcp_short": "tcp", "tcp_long": "tcp"}


def label(row: dict):
    """Return the label of a row, in the form that the solver of its task answers in."""
    if "Label" in row:
        return row["Label"]
    if "question_type" not in row:
        answer = row["answer"]
        return answer[0] if isinstance(answer, list) else answer
    if not row["label"].startswith("{"):
        return row["label"]
    found = json.loads(row["label"])
    if "unordered_list" in found:
        found["unordered_list"] = sorted(found["unordered_list"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pack", type=Path)
    parser.add_argument("--first", type=int, default=3)
    given = parser.parse_args()
    for path in sorted(given.pack.glob("data/fresh_*.jsonl")):
        name = path.stem.removeprefix("fresh_")
        solver = importlib.import_module(f"{__package__}.{MODULES.get(name, name)}")
        rows = [json.loads(x) for x in path.read_text("utf-8").splitlines()]
        misses = []
        for row in rows:
            prompt, _ = render(path.stem, row)
            try:
                found = solver.solve(prompt)
            except (ValueError, KeyError, AttributeError, TypeError) as error:
                found = f"{type(error).__name__}: {error}"
            if found != label(row):
                misses.append((row["level"], row["index"], found, label(row)))
        print(
            f"{path.stem}: {len(rows) - len(misses)} of {len(rows)} agree", flush=True
        )
        for level, index, found, said in misses[: given.first]:
            print(f"  level {level}, row {index}: found {found}, the label is {said}")


if __name__ == "__main__":
    main()
