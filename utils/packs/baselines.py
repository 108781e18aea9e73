"""Print what answers without any reasoning score, as Markdown tables.

    temporal-eval baselines FOLDER

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names. The responders are: an empty answer; the most frequent label, in the form that is
asked for; and a set of options (or a label) drawn at random, all being as likely: its
score is the expected one, so that no seed plays a part. Fresh problems have a column for
each level, and for each shortcut its flexible score beside that of the most frequent
label of that level: both over the rows for which the shortcut knows an answer. A cell is
empty where it knows none.

Example:

    temporal-eval baselines examples/data
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import chain, combinations, groupby, repeat
from operator import itemgetter
from pathlib import Path
from statistics import mean

from ..core.cli import folder_path, tool_parser
from ..core.documents import benchmark_files, documents_of
from ..core.families import Scorer, is_generated, scorer
from ..core.jsonl import read_jsonl


def random_choices(task: str, document: dict) -> list[str]:
    """Return every answer to choose from: sets of options, labels, else none."""
    options = document.get("options", [])
    golds = [{"label": option} for option in options]
    if "letters" in document:
        letters = "ABCD"[: len(options)]
        sizes = range(1, len(letters) + 1)
        letter_sets = chain(*(combinations(letters, size) for size in sizes))
        golds = [{"letters": letter_set} for letter_set in letter_sets]
    gold_response = scorer(task).utils.gold_response
    return [gold_response(document | gold) for gold in golds]


def row(path: Path, task: Scorer) -> str:
    """Return a file's row of a table: a cell for each responder."""
    documents = documents_of(task.task, read_jsonl(path))
    frequent, count = _most_frequent(task, documents)
    empty_cell = _cell(task, documents, repeat([""]))
    frequent_cell = _cell(task, documents, repeat([frequent]))
    choices = (random_choices(task.task, document) for document in documents)
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
        for name in task.headline
    )
    return " / ".join(f"{score:.3f}" for score in means)


def by_level(path: Path, task: Scorer) -> list[str]:
    """Return a table's rows for a file of fresh rows: a line for each shortcut."""
    from .shortcuts import (
        SHORTCUTS,
        TooFewRows,
    )  # takes a second, and so does `sources`

    rows = sorted(read_jsonl(path), key=itemgetter("level"))
    levels = {level: [*group] for level, group in groupby(rows, itemgetter("level"))}
    cells: dict[str, list[str]] = {}
    for rows in levels.values():
        documents = documents_of(task.task, rows)
        for name, shortcut in SHORTCUTS.get(task.task, {}).items():
            try:
                cell = _shortcut_cell(task, documents, shortcut(rows))
            except TooFewRows as error:
                cell = str(error)
            cells.setdefault(name, []).append(cell)
    header = f"| task | shortcut | {' | '.join(f'level {level}' for level in levels)} |"
    divider = f"|---|---|{'--:|' * len(levels)}"
    lines = [
        f"| `{task.task}` | {name} | {' | '.join(cells[name])} |" for name in cells
    ]
    return [header, divider, *lines]


def _shortcut_cell(
    task: Scorer, documents: list[dict], responses: list[str | None]
) -> str:
    """Return the score of a shortcut, and that of the most frequent label, if any."""
    pairs = [pair for pair in zip(documents, responses, strict=True) if pair[1]]
    if not pairs:
        return ""
    frequent_answer, _ = _most_frequent(task, [doc for doc, _ in pairs])
    score, metric = task.process_results, task.headline[1]
    shortcut = mean(score(doc, [answer])[metric] for doc, answer in pairs)
    frequent = mean(score(doc, [frequent_answer])[metric] for doc, _ in pairs)
    return f"{shortcut:.2f} ({frequent:.2f})"


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each family; return the exit status."""

    parser = tool_parser("baselines", __doc__)
    parser.add_argument("folder", type=folder_path, help="holds rows of the benchmarks")
    folder, tables = parser.parse_args(arguments).folder, {}
    for path, tasks in benchmark_files(folder):
        task = next((task for task in map(scorer, tasks) if task.headline), None)
        if task and is_generated(task.task):
            sys.stdout.write("\n".join([*by_level(path, task), "", ""]))
        elif task:
            tables.setdefault(task.family, []).append((path, task))
    for rows in tables.values():
        lines = [
            f"Cells: {' / '.join(rows[0][1].headline)}\n",
            "| file | empty | most frequent label | random |",
            "|---|--:|--:|--:|",
            *(row(path, task) for path, task in rows),
        ]
        sys.stdout.write("\n".join([*lines, "", ""]))
    return 0
