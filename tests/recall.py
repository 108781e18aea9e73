"""How often the test of recall names models that recall public rows, and others.

    python -m tests.recall FOLDER [RUNS]

FOLDER holds the benchmarks' files. Models answer the twins of their rows: with a chance of
SHARE as the public row has it, else right with their accuracy, which on twins is 5 points
less where the table says so. A wrong answer is another name of the row or, one time in ten,
the right date of a year near by: "evenly", on either side alike, "later", three times as
often in a later one, or "usual", in a year that is as frequent among the labels of the rows.
"""

import json
import re
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np

from utils.core.jsonl import read_jsonl
from utils.packs.twins import Draw, draw_twins
from utils.stats import CONFIDENCE
from utils.verdicts.recall import sign_test


EXCHANGED = "names_exchanged"
TASKS = {
    "twin_tot_arithmetic": "tot_arithmetic.jsonl",
    "twin_timebench_date_arithmetic": "tempreason_l1_timebench.jsonl",
}
SHARES, ACCURACIES = (0, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1), (0.3, 0.6, 0.9)
WRONG = ("evenly", "later", "usual")
NEAR = 0.1  # of the wrong answers to questions on dates


def year(label: object) -> int:
    """Return the year of a label that is a date."""
    return max(map(int, re.findall(r"\d+", json.dumps(label))), default=0)


def near(draws: list[Draw], wrong: str) -> np.ndarray:
    """Return how likely wrong answers are the public label, and its mirror image."""
    usual = Counter(year(x.original[1]) for x in draws if x.row["twin"] != EXCHANGED)
    chances = []
    for draw in draws:
        label, wrong_labels = draw.row[draw.column], (draw.original[1], draw.mirror)
        if draw.row["twin"] == EXCHANGED:  # one of ten orders, or of four names
            chances.append([0.1 if "'ordered" in label else 0.25] * 2)
            continue
        if wrong == "usual":
            odds = [usual[year(x)] / usual.total() for x in wrong_labels]
        else:
            scale = 4 if draw.row["twin"] == "years_moved" else 200
            shifts = [year(x) - year(label) for x in wrong_labels]
            odds = [scale**-1 * 2 ** (-abs(x) / scale) / 4 for x in shifts]
            if wrong == "later":
                odds = [x * (1.5 if y > 0 else 0.5) for x, y in zip(odds, shifts)]
        chances.append([NEAR * x for x in odds])
    return np.array(chances)


def p_values(
    rng: np.random.Generator,
    chances: np.ndarray,
    share: float,
    accuracy: float,
    runs: int,
) -> np.ndarray:
    """Return the p-values of models that recall a share of the labels, one a run."""
    drawn = rng.random((runs, len(chances)))
    missed = (1 - share) * (1 - accuracy)
    recalled = share + missed * chances[:, 0]
    either = (drawn < recalled + missed * chances[:, 1]).sum(1)
    hits = (drawn < recalled).sum(1)
    return sign_test(hits, either - hits)


def simulate(draws: dict[str, list[Draw]], runs: int) -> list[dict]:
    """Return how often models are named on either benchmark, and on each one alone."""
    rng, rows, level = np.random.default_rng(29), [], 1 - CONFIDENCE
    for case in product(WRONG, ACCURACIES, (0, 0.05), SHARES):
        wrong, accuracy, harder, share = case
        of_tasks = [
            p_values(rng, near(x, wrong), share, accuracy - harder, runs)
            for x in draws.values()
        ]
        row = dict(zip(("wrong", "accuracy", "harder", "share"), case))
        # Holm's method names a model where the least p-value is small enough.
        row["either"] = np.mean(np.min(of_tasks, axis=0) * len(of_tasks) < level)
        rows.append(row | {x: np.mean(y < level) for x, y in zip(draws, of_tasks)})
    return rows


def twins_of(folder: Path) -> dict[str, list[Draw]]:
    """Return task -> the twins with a mirror image of a benchmark's rows."""
    twins = {}
    for task, file in TASKS.items():
        (path,) = folder.rglob(file)
        draws, _ = draw_twins(task, [*read_jsonl(path)], 29)
        twins[task] = [x for x in draws if x.mirror is not None]
    return twins


if __name__ == "__main__":
    of_files = twins_of(Path(sys.argv[1]))
    print({task: len(x) for task, x in of_files.items()})
    for line in simulate(of_files, int((sys.argv[2:] or ["10000"])[0])):
        print(*line.values(), sep="\t")
