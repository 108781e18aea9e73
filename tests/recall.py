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

from utils.core.files import read_jsonl
from utils.integrity.recall import sign_test
from utils.packs.twins import Draw, draw_twins
from utils.stats import CONFIDENCE


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
    dated = [draw for draw in draws if draw.row["twin"] != "names_exchanged"]
    usual = Counter(year(draw.original[1]) for draw in dated)
    chances = []
    for draw in draws:
        label, wrong_labels = draw.row[draw.column], (draw.original[1], draw.mirror)
        scale = 4 if draw.row["twin"] == "years_moved" else 200
        shifts = [year(wrong_label) - year(label) for wrong_label in wrong_labels]
        odds = [NEAR * 2 ** (-abs(shift) / scale) / scale / 4 for shift in shifts]
        if wrong == "later":
            odds = [x * (1.5 if shift > 0 else 0.5) for x, shift in zip(odds, shifts)]
        if wrong == "usual":
            odds = [NEAR * usual[year(x)] / usual.total() for x in wrong_labels]
        if draw.row["twin"] == "names_exchanged":  # one of ten orders, or of four names
            odds = [0.1 if "'ordered" in label else 0.25] * 2
        chances.append(odds)
    return np.array(chances)


def p_values(rng, chances: np.ndarray, share: float, accuracy: float, runs: int):
    """Return the p-values of models that recall a share of the labels, one a run."""
    drawn = rng.random((runs, len(chances)))
    missed = (1 - share) * (1 - accuracy)
    recalled = share + missed * chances[:, 0]
    either = (drawn < recalled + missed * chances[:, 1]).sum(1)
    hits = (drawn < recalled).sum(1)
    return sign_test(hits, either - hits)


def simulate(draws: dict[str, list[Draw]], runs: int) -> None:
    """Print how often models are named on either benchmark, and on each one alone."""
    rng, level = np.random.default_rng(29), 1 - CONFIDENCE
    for case in product(WRONG, ACCURACIES, (0, 0.05), SHARES):
        wrong, accuracy, harder, share = case
        settings = share, accuracy - harder, runs
        of_tasks = [p_values(rng, near(x, wrong), *settings) for x in draws.values()]
        # Holm's method names a model where the least p-value is small enough.
        either = np.mean(np.min(of_tasks, axis=0) * len(of_tasks) < level)
        named = [np.mean(task_p_values < level) for task_p_values in of_tasks]
        print(*case, either, *named, sep="\t")


def twins_of(folder: Path) -> dict[str, list[Draw]]:
    """Return task -> the twins with a mirror image of a benchmark's rows."""
    twins = {}
    for task, file in TASKS.items():
        (path,) = folder.rglob(file)
        draws, _ = draw_twins(task, [*read_jsonl(path)], 29)
        twins[task] = [draw for draw in draws if draw.mirror is not None]
    return twins


if __name__ == "__main__":
    twins = twins_of(Path(sys.argv[1]))
    print({task: len(draws) for task, draws in twins.items()})
    simulate(twins, int((sys.argv[2:] or ["10000"])[0]))
