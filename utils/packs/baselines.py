"""Print what answers without any reasoning score, as Markdown tables.

    temporal-eval baselines FOLDER

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names. The responders are: an empty answer; the most frequent label, in the form that is
asked for; and a set of options (or a label) drawn at random, all being as likely: its
score is the expected one, so that no seed plays a part.

Example:

    temporal-eval baselines examples/data
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import combinations, repeat
from pathlib import Path
from statistics import mean

from jinja2 import Template

from ..core.cli import folder_path, tool_parser
from ..core.documents import benchmark_files, documents_of
from ..core.families import Scorer, configuration, scorer
from ..core.jsonl import read_jsonl


def gold_response(task: str, document: dict) -> str:
    """Return the reference of a document in the form that the prompt asks for.

    That form is `gold_response` in the task's metadata, a Jinja template.
    """
    return _template(task).render(**document)


@cache
def _template(task: str) -> Template:
    return Template(configuration(task)["metadata"]["gold_response"])


def random_choices(task: str, document: dict) -> list[str]:
    """Return every answer to choose from: sets of options, labels, else none."""
    options = document.get("options", [])
    if "letters" in document:
        letters = "ABCD"[: len(options)]
        sizes = range(1, len(letters) + 1)
        golds = [{"letters": x} for size in sizes for x in combinations(letters, size)]
    else:
        golds = [{"label": option} for option in options]
    return [gold_response(task, document | gold) for gold in golds]


def row(path: Path, task: Scorer) -> str:
    """Return a file's row of a table: a cell for each responder."""
    documents = documents_of(task.task, read_jsonl(path))
    golds = Counter(gold_response(task.task, document) for document in documents)
    [(frequent, times)] = golds.most_common(1)
    empty, most = (_cell(task, documents, repeat([x])) for x in ("", frequent))
    choices = (random_choices(task.task, document) for document in documents)
    drawn = _cell(task, documents, choices)
    lead = configuration(task.task)["metadata"]["gold_response"].partition("{{")[0]
    label = frequent.removeprefix(lead) if lead.endswith(" ") else frequent
    most = f"`{label}` ({times} of {len(documents)}): {most}"
    return f"| `{path.stem}` | {empty} | {most} | {drawn} |"


def _cell(task: Scorer, documents: list[dict], responses: Iterable[list[str]]) -> str:
    """Return the mean headline scores of the responses to each document, if any."""
    scores = [
        [task.process_results(document, [response]) for response in each]
        for document, each in zip(documents, responses)
    ]
    if not all(scores):
        return ""
    means = (mean(mean(x[name] for x in of) for of in scores) for name in task.headline)
    return " / ".join(f"{score:.3f}" for score in means)


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each family; return the exit status."""
    parser = tool_parser("baselines", __doc__)
    parser.add_argument("folder", type=folder_path, help="holds rows of the benchmarks")
    folder, tables = parser.parse_args(arguments).folder, {}
    for path, tasks in benchmark_files(folder):
        task = next((x for x in map(scorer, tasks) if x.headline), None)
        if task:
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
