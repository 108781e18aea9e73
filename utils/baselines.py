"""Print what answers without any reasoning score, as Markdown tables.

    temporal-eval baselines FOLDER

FOLDER holds `tot/` and `timebench/` with the rows of the benchmarks, as JSONL. The
responders are: an empty answer; the most frequent label, in the form that is asked for;
and a set of options (or a label of an NLI task) drawn at random, all being as likely:
its score is the expected one, so that no seed plays a part.
"""

import ast
import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean

import datasets

from lm_eval_tasks.timebench.utils import MARKER
from utils.offline.sources import index, sources

from .cli import tool_parser
from .families import Scorer, scorer
from .jsonl import read_jsonl


TIMEBENCH_SCORES = ["score", "score_flexible"]


def mean_scores(
    task: Scorer, documents: list[dict], responses: list[str], names: list[str]
) -> dict[str, float]:
    """Return the means of some scores of the responses, one or several a document."""
    scores = [
        task.process_results(document, [response])
        for document in documents
        for response in responses
    ]
    return {name: mean(one[name] for one in scores) for name in names}


def tot_gold(document: dict) -> str:
    """Return the label of a document as a JSON answer."""
    try:
        return json.dumps(json.loads(document["label"]))
    except ValueError:
        return json.dumps(ast.literal_eval(document["label"]))


def timebench_gold(document: dict) -> str:
    """Return the gold of a document in the form that its prompt asks for."""
    gold = document.get("label") or ", ".join(document.get("letters", []))
    return f"{MARKER} {gold or document['golds'][0]}"


def random_choices(document: dict) -> list[str]:
    """Return every answer to choose from: option sets, labels, else none."""
    letters = "ABCD"[: len(document.get("options", []))]
    sizes = range(1, len(letters) + 1) if "letters" in document else [1]
    sets = [chosen for size in sizes for chosen in combinations(letters, size)]
    return [f"{MARKER} {', '.join(chosen)}" for chosen in sets]


def table(gold, choices, paths: list[Path], scores: list[str]) -> list[str]:
    """Return a Markdown table: files down, responders across, `scores` in each cell."""
    lines = ["| file | empty | most frequent label | random |", "|---|--:|--:|--:|"]
    tasks = {source.file: min(source.tasks) for source in sources(index(), [])}
    for path in paths:
        if path.name not in tasks:
            raise ValueError(f"{path}: no task reads a file of this name; rename it")
        task = scorer(tasks[path.name])
        documents = list(
            task.process_docs(datasets.Dataset.from_list(read_jsonl(path)))
        )
        frequent, times = Counter(map(gold, documents)).most_common(1)[0]
        label = frequent.removeprefix(MARKER).strip()
        cells = [
            mean_scores(task, documents, [""], scores),
            mean_scores(task, documents, [frequent], scores),
        ]
        if choices(documents[0]):
            each = [mean_scores(task, [x], choices(x), scores) for x in documents]
            cells.append({name: mean(one[name] for one in each) for name in scores})
        empty, most, *drawn = (
            " / ".join(f"{means[score]:.3f}" for score in scores) for means in cells
        )
        most = f"`{label}` ({times} of {len(documents)}): {most}"
        lines.append(f"| `{path.stem}` | {empty} | {most} | {''.join(drawn)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of both families; return the exit status."""
    parser = tool_parser("baselines", __doc__)
    parser.add_argument("folder", type=Path, help="holds tot/ and timebench/")
    folder = parser.parse_args(arguments).folder
    tot_files = sorted((folder / "tot").glob("*.jsonl"))
    timebench_files = [
        path
        for path in sorted((folder / "timebench").glob("*.jsonl"))
        if not path.name.startswith("situatedgen")
    ]
    try:
        if not tot_files + timebench_files:
            raise ValueError(f"{folder}: no JSONL file in tot/ or timebench/")
        for gold, choices, paths, scores in (
            (tot_gold, lambda _: [], tot_files, ["acc", "acc_flexible"]),
            (timebench_gold, random_choices, timebench_files, TIMEBENCH_SCORES),
        ):
            if paths:
                print(f"Cells: {' / '.join(scores)}\n")
                print(*table(gold, choices, paths, scores), "", sep="\n")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
