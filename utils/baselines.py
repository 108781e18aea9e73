"""Print what answers without any reasoning score, as Markdown tables.

    python -m utils.baselines FOLDER

FOLDER holds `tot/` and `timebench/` with the rows of the benchmarks, as JSONL. The
responders are: an empty answer; the most frequent label, in the form that is asked for;
and a set of options (or a label of an NLI task) drawn at random, all being as likely:
its score is the expected one, so that no seed plays a part.
"""

import argparse
import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from statistics import mean

import datasets

from lm_eval_tasks.timebench import utils as timebench
from lm_eval_tasks.tot import utils as tot
from utils.jsonl import read_jsonl


def mean_scores(utils, documents: list[dict], responses: list[str]) -> dict[str, float]:
    """Return the mean of each score of the responses, one or several a document."""
    scores = [
        utils.process_results(document, [response])
        for document in documents
        for response in responses
    ]
    return {name: mean(one[name] for one in scores) for name in scores[0]}


def tot_gold(document: dict) -> str:
    """Return the label of a document as a JSON answer."""
    return json.dumps(tot.read_reference(document))


def timebench_gold(document: dict) -> str:
    """Return the gold of a document in the form that its prompt asks for."""
    gold = document.get("label") or document.get("statement")
    if document["kind"] == "options":
        gold = ", ".join(document["letters"])
    return f"{timebench.MARKER} {gold or document['golds'][0]}"


def random_choices(document: dict) -> list[str]:
    """Return every answer to choose from: option sets, labels, else none."""
    if document["kind"] not in ("options", "nli"):
        return []
    letters = timebench.LETTERS[: len(document["options"])]
    sizes = range(1, len(letters) + 1) if document["kind"] == "options" else [1]
    sets = [chosen for size in sizes for chosen in combinations(letters, size)]
    return [f"{timebench.MARKER} {', '.join(chosen)}" for chosen in sets]


def table(utils, gold, choices, paths: list[Path], scores: list[str]) -> list[str]:
    """Return a Markdown table: files down, responders across, `scores` in each cell."""
    lines = ["| file | empty | most frequent label | random |", "|---|--:|--:|--:|"]
    for path in paths:
        documents = list(
            utils.process_docs(datasets.Dataset.from_list(read_jsonl(path)))
        )
        frequent, times = Counter(map(gold, documents)).most_common(1)[0]
        label = frequent.removeprefix(timebench.MARKER).strip()
        cells = [
            mean_scores(utils, documents, [""]),
            mean_scores(utils, documents, [frequent]),
        ]
        if choices(documents[0]):
            each = [mean_scores(utils, [x], choices(x)) for x in documents]
            cells.append({name: mean(one[name] for one in each) for name in scores})
        empty, most, *drawn = (
            " / ".join(f"{means[score]:.3f}" for score in scores) for means in cells
        )
        most = f"`{label}` ({times} of {len(documents)}): {most}"
        lines.append(f"| `{path.stem}` | {empty} | {most} | {''.join(drawn)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of both families; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.baselines", description=__doc__.split("\n")[0]
    )
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
        for utils, gold, choices, paths, scores in (
            (tot, tot_gold, lambda _: [], tot_files, ["acc", "acc_flexible"]),
            (
                *(timebench, timebench_gold, random_choices, timebench_files),
                ["score", "score_flexible"],
            ),
        ):
            if paths:
                print(f"Cells: {' / '.join(scores)}\n")
                print(*table(utils, gold, choices, paths, scores), "", sep="\n")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
