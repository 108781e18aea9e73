"""Print what answers without any reasoning score, as Markdown tables.

    python -m tests.solvers.baselines FOLDER

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names. The responders are: an empty answer; the most frequent label, in the form that is
asked for; and a set of options (or a label) drawn at random, all being as likely: its
score is the expected one, so that no seed plays a part. Fresh problems have a column for
each level, and for each shortcut its flexible score beside that of the most frequent
label of that level: both over the rows for which the shortcut knows an answer. A cell is
empty where it knows none.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from statistics import mean

from tests.solvers.shortcuts import SHORTCUTS, TooFewRows
from utils.core.documents import documents_of
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import Scorer, all_tasks, is_generated, scorer


def benchmark_files(folder: Path) -> list[tuple[Path, list[str]]]:
    """Return a folder's files under upstream's names, with their tasks; ToolError for none."""
    tasks: dict[str, list[str]] = {}
    for task in all_tasks():
        tasks.setdefault(f"{scorer(task).file}.jsonl", []).append(task)
    paths = sorted(path for path in folder.rglob("*.jsonl") if path.name in tasks)
    if not paths:
        fault = (
            f"has no file of a benchmark under upstream's name, such as {min(tasks)}"
        )
        raise ToolError(f"{folder}: {fault}; name another folder")
    return [(path, tasks[path.name]) for path in paths]


def row(path: Path, task: Scorer) -> str:
    """Return a file's row of a table: a cell for each responder."""
    documents = documents_of(task.task, read_jsonl(path))
    frequent, count = _most_frequent(task, documents)
    empty_cell = _cell(task, documents, repeat([""]))
    frequent_cell = _cell(task, documents, repeat([frequent]))
    choices = map(task.choices, documents)
    random_cell = _cell(task, documents, choices)
    label = task.explain(documents[0], frequent).flexible
    most_frequent = f"`{label}` ({count} of {len(documents)}): {frequent_cell}"
    return f"| `{path.stem}` | {empty_cell} | {most_frequent} | {random_cell} |"


def _most_frequent(task: Scorer, documents: list[dict]) -> tuple[str, int]:
    golds = Counter(map(task.utils.gold_response, documents))
    return golds.most_common(1)[0]


def _cell(task: Scorer, documents: list[dict], responses: Iterable[list[str]]) -> str:
    """Return the mean headline scores of the responses to each document, if any."""
    scores = [
        [task.process_results(document, [response]) for response in doc_responses]
        for document, doc_responses in zip(documents, responses)
    ]
    if not all(scores):
        return ""
    means = (
        mean(mean(answer[name] for answer in doc_scores) for doc_scores in scores)
        for name in task.headline.values()
    )
    return " / ".join(f"{score:.3f}" for score in means)


def by_level(path: Path, task: Scorer) -> list[str]:
    """Return a table's rows for a file of fresh rows: a line for each shortcut."""
    rows = sorted(read_jsonl(path), key=itemgetter("level"))
    levels = {level: [*group] for level, group in groupby(rows, itemgetter("level"))}
    lines = [
        f"| task | shortcut | {' | '.join(f'level {level}' for level in levels)} |",
        f"|---|---|{'--:|' * len(levels)}",
    ]
    for name, shortcut in SHORTCUTS.get(task.task, {}).items():
        cells = []
        for level_rows in levels.values():
            try:
                responses = shortcut(level_rows)
            except TooFewRows as error:
                cells.append(str(error))
            else:
                documents = documents_of(task.task, level_rows)
                cells.append(_shortcut_cell(task, documents, responses))
        lines.append(f"| `{task.task}` | {name} | {' | '.join(cells)} |")
    return lines


def _shortcut_cell(
    task: Scorer, documents: list[dict], responses: list[str | None]
) -> str:
    """Return the score of a shortcut, and that of the most frequent label, if any."""
    pairs = [pair for pair in zip(documents, responses, strict=True) if pair[1]]
    if not pairs:
        return ""
    frequent_answer, _ = _most_frequent(task, [doc for doc, _ in pairs])
    score, metric = task.process_results, task.headline["flexible"]
    shortcut = mean(score(doc, [answer])[metric] for doc, answer in pairs)
    frequent = mean(score(doc, [frequent_answer])[metric] for doc, _ in pairs)
    return f"{shortcut:.2f} ({frequent:.2f})"


def main(folder: str) -> None:
    """Print a table for each family, and for each file of fresh rows."""
    tables: dict[str, list[str]] = {}
    for path, names in benchmark_files(Path(folder)):
        task = next((task for task in map(scorer, names) if task.headline), None)
        if task and is_generated(task.task):
            tables[task.task] = by_level(path, task)
        elif task:
            header = [
                f"Cells: {' / '.join(task.headline.values())}\n",
                "| file | empty | most frequent label | random |",
                "|---|--:|--:|--:|",
            ]
            tables.setdefault(task.family, header).append(row(path, task))
    for lines in tables.values():
        sys.stdout.write("\n".join([*lines, "", ""]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except ToolError as error:
        sys.exit(str(error))
