"""How often the test of recall names models that recall public rows, and others.

    python -m tests.recall FOLDER [RUNS]

FOLDER holds the benchmarks' files. Models answer the pairs of twins of their rows. One that
recalls nothing is right with its accuracy; else its answer is a date of which the year alone
is wrong, by a habit of HABITS. One that recalls answers a share of the twins with the public
label, and of its wrong answers the habit makes one in ten; others are other dates. A line has habit, accuracy, share, hits of public labels and of mirror images a run,
and the percent of runs in which the model is named.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from json import dumps
from pathlib import Path
from typing import NamedTuple

import numpy as np

from utils.core.files import read_jsonl
from utils.integrity.recall import sign_test
from utils.packs.twins import Draw, draw_twins
from utils.stats import CONFIDENCE


TASKS = {
    "twin_tot_arithmetic": "tot_arithmetic.jsonl",
    "twin_timebench_date_arithmetic": "tempreason_l1_timebench.jsonl",
}
NEAR, NO_YEAR = 0.1, -1
SHARES, ACCURACIES = (0.05, 0.1), (0.0, 0.3, 0.6, 0.7)


class Pairs(NamedTuple):
    """Years of pairs of twins, as arrays with a row a pair and a column a twin."""

    right: np.ndarray
    public: np.ndarray
    mirror: np.ndarray
    named: np.ndarray  # of the question, one of them
    length: np.ndarray  # of the question, in characters
    labels: np.ndarray  # of all public rows, flat

    @classmethod
    def of(cls, draws: list[Draw]) -> "Pairs":
        pairs = [
            (draw, draws[draw.partner])
            for place, draw in enumerate(draws)
            if draw.partner is not None and place < draw.partner
        ]

        def column(value: Callable[[Draw], int]) -> np.ndarray:
            return np.array([[value(draw) for draw in pair] for pair in pairs])

        public = column(lambda draw: year(draw.original[1]))
        return cls(
            right=column(lambda draw: year(draw.row[draw.column])),
            public=public,
            mirror=column(lambda draw: year(draw.mirror)),
            named=column(lambda draw: year(draw.row["question"])),
            length=column(lambda draw: len(draw.row["question"])),
            labels=public.ravel(),
        )


def year(text: object) -> int:
    """Return the largest number of a label that is a date, or of a question."""
    return max(map(int, re.findall(r"\b\d{3,4}\b", dumps(text))), default=0)


Habit = Callable[[np.random.Generator, Pairs, tuple], np.ndarray]
# Which year a wrong answer has: by chance, the pairs, and the shape of what to return.
HABITS: dict[str, Habit] = {
    "constant 2012": lambda rng, pairs, shape: np.full(shape, 2012),
    "constant 2017": lambda rng, pairs, shape: np.full(shape, 2017),
    "around 2012": lambda rng, pairs, shape: np.round(rng.normal(2012, 6, shape)),
    "as frequent as among labels": lambda rng, pairs, shape: rng.choice(
        pairs.labels, shape
    ),
    "toward 2010": lambda rng, pairs, shape: (
        pairs.right
        + np.sign(2010 - pairs.right) * rng.choice([4, 8, 12, 16, 20], shape)
    ),
    "late": lambda rng, pairs, shape: (
        pairs.right + rng.choice([4, 8, 12, 16, 20], shape)
    ),
    "early": lambda rng, pairs, shape: (
        pairs.right - rng.choice([4, 8, 12, 16, 20], shape)
    ),
    "the decade": lambda rng, pairs, shape: np.broadcast_to(
        pairs.right // 10 * 10, shape
    ),
    "shrunk to 2000": lambda rng, pairs, shape: np.round(
        pairs.right + (2000 - pairs.right) * rng.uniform(0, 0.5, shape)
    ),
    "near by": lambda rng, pairs, shape: (
        pairs.right + np.round(rng.normal(0, 8, shape))
    ),
    # Made to break it: they go by what differs within a pair.
    "a year of the question": lambda rng, pairs, shape: np.broadcast_to(
        pairs.named, shape
    ),
    "near a year of the question": lambda rng, pairs, shape: (
        pairs.named + rng.choice([-4, -1, 1, 4], shape)
    ),
    "subtracted in place of added": lambda rng, pairs, shape: np.broadcast_to(
        2 * pairs.named - pairs.right, shape
    ),
    "late where questions are long": lambda rng, pairs, shape: (
        pairs.right
        + np.where(pairs.length > np.median(pairs.length), 1, -1)
        * rng.choice([4, 8, 12], shape)
    ),
    "a label that was seen before": lambda rng, pairs, shape: np.broadcast_to(
        np.roll(pairs.public, 1, axis=0), shape
    ),
}


def simulate(
    rng: np.random.Generator,
    pairs: Pairs,
    habit: str,
    accuracy: float,
    share: float,
    runs: int,
) -> tuple[float, float, float]:
    """Return the mean hits of public labels and mirror images, and how often it is named."""
    shape = (runs, *pairs.right.shape)
    answers = HABITS[habit](rng, pairs, shape)
    if share:
        answers = np.where(rng.random(shape) < NEAR, answers, NO_YEAR)
    answers = np.where(rng.random(shape) < accuracy, pairs.right, answers)
    answers = np.where(rng.random(shape) < share, pairs.public, answers)
    public_hits, mirror_hits = answers == pairs.public, answers == pairs.mirror
    balance = public_hits.sum(2) - mirror_hits.sum(2)
    p_values = sign_test((balance > 0).sum(1), (balance < 0).sum(1))
    hits = (found.sum((1, 2)).mean() for found in (public_hits, mirror_hits))
    return *hits, np.mean(p_values < 1 - CONFIDENCE)


@cache
def twins_of_file(task: str, path: Path) -> tuple[list[Draw], Counter[str]]:
    """Return the twins of a file's rows, and why others have none."""
    return draw_twins(task, read_jsonl(path), 29)


def pairs_of(folder: Path) -> dict[str, Pairs]:
    """Return task -> the pairs of twins of a benchmark's rows."""
    pairs = {}
    for task, file in TASKS.items():
        (path,) = folder.rglob(file)
        pairs[task] = Pairs.of(twins_of_file(task, path)[0])
    return pairs


def main(folder: Path, runs: int) -> None:
    rng = np.random.default_rng(29)
    for task, pairs in pairs_of(folder).items():
        print(f"{task}: {len(pairs.right)} pairs")
        for habit, accuracy, share in product(HABITS, ACCURACIES, (0, *SHARES)):
            public, mirror, named = simulate(rng, pairs, habit, accuracy, share, runs)
            figures = f"{public:.1f}\t{mirror:.1f}\t{100 * named:.1f}"
            print(habit, accuracy, share, figures, sep="\t", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int((sys.argv[2:] or ["4000"])[0]))
