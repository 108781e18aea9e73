"""Print what answers without any reasoning score, as Markdown tables.

    temporal-eval baselines FOLDER

FOLDER, or folders in it, have the rows of the benchmarks as JSON Lines, under upstream's
names (`TCP_short.jsonl`, `tot_arithmetic.jsonl`, `tracie_timebench.jsonl`, …). The
responders are: an empty answer; the most frequent label, in the form that is asked for;
and a set of options (or a label of an NLI task) drawn at random, all being as likely:
its score is the expected one, so that no seed plays a part.

Example:

    temporal-eval baselines examples/data
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

from ..core.cli import tool_parser
from ..core.documents import benchmark_files, quiet_harness
from ..core.errors import ToolError
from ..core.families import Scorer, scorer
from ..core.jsonl import read_jsonl


def mean_scores(
    task: Scorer, documents: list[dict], responses: list[str]
) -> dict[str, float]:
    """Return the mean headline scores of the responses, one or several a document."""
    scores = [
        task.process_results(document, [response])
        for document in documents
        for response in responses
    ]
    return {name: mean(one[name] for one in scores) for name in task.headline}


def tcp_gold(document: dict) -> str:
    """Return the reference of a document in a box."""
    return f"\\boxed{{{document['answer']}}}"


def tot_gold(document: dict) -> str:
    """Return the label of a document as a JSON answer."""
    if "prompt" in document:
        return json.dumps({"answer": document["label"]})
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


GOLDS = {"tcp": tcp_gold, "tot": tot_gold, "timebench": timebench_gold}


def row(path: Path, task: Scorer) -> str:
    """Return a file's row of a table: a cell for each responder."""
    documents = list(task.process_docs(datasets.Dataset.from_list(read_jsonl(path))))
    frequent, times = Counter(map(GOLDS[task.family], documents)).most_common(1)[0]
    label = frequent.removeprefix(MARKER).strip()
    cells = [
        mean_scores(task, documents, [""]),
        mean_scores(task, documents, [frequent]),
    ]
    if random_choices(documents[0]):
        each = [mean_scores(task, [x], random_choices(x)) for x in documents]
        cells.append({name: mean(x[name] for x in each) for name in task.headline})
    empty, most, *drawn = (
        " / ".join(f"{means[score]:.3f}" for score in task.headline) for means in cells
    )
    most = f"`{label}` ({times} of {len(documents)}): {most}"
    return f"| `{path.stem}` | {empty} | {most} | {''.join(drawn)} |"


def files(folder: Path) -> dict[str, list[tuple[Path, Scorer]]]:
    """Return the files in and below a folder that tasks read, by family."""
    found: dict[str, list] = {family: [] for family in GOLDS}
    for path, tasks in benchmark_files(folder):
        scorers = map(scorer, tasks)
        if task := next((x for x in scorers if x.headline and x.family in GOLDS), None):
            found[task.family].append((path, task))
    if not any(found.values()):
        raise ToolError(f"{folder}: has files, but of no task with a baseline")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each family; return the exit status."""
    parser = tool_parser("baselines", __doc__)
    parser.add_argument("folder", type=Path, help="holds rows of the benchmarks")
    for found in files(parser.parse_args(arguments).folder).values():
        if not found:
            continue
        lines = [
            f"Cells: {' / '.join(found[0][1].headline)}\n",
            "| file | empty | most frequent label | random |",
            "|---|--:|--:|--:|",
        ]
        try:
            with quiet_harness():
                lines += [row(path, task) for path, task in found]
        except ValueError as error:
            raise ToolError(str(error)) from error
        sys.stdout.write("\n".join([*lines, "", ""]))
    return 0
