"""How often intervals hold the truth, the test errs, and it shows what it is said to.

    TEMPORAL_EVAL_SHARED=DATA python -m tests.coverage [REPETITIONS]

DATA has the benchmarks' files. Each bound that is printed is checked; the exit status is 1
where one does not hold. An answer is right where a normal variable is below a quantile. The
variables of a cluster correlate by RHO; of what is left, runs and repeated answers share
SHARED by document. This is what two models with a tetrachoric correlation of .82 do at a
RHO of .4; runs that share nothing are tested, too.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path

import datasets
import numpy as np
from scipy.special import ndtri

from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer
from utils.stats import (
    DIFFERENCES,
    detectable_difference,
    holm,
    spread,
    wilson_interval,
)


SHARED, LEVEL = 0.7, 0.05
NUMBERS, RHOS = (20, 100, 300, 1850), (0, 0.4, 0.8)
ACCURACIES = (0.02, 0.3, 0.5, 0.85, 0.95)
# Sizes of clusters: equal, falling by .7, and those of real ToT arithmetic.
KINDS = ("1", "5", "10", "falling", "tot")
# Clusters, their size, two accuracies, and the least power.
POWERS = ((20, 5, 0.85, 0.95, 0.70), (20, 5, 0.5, 0.6, 0.48), (30, 10, 0.5, 0.6, 0.93))
MODELS = 6  # of a family of tests: 15 pairs


@cache
def _tot() -> np.ndarray:
    """Return the clusters of the documents of ToT arithmetic, in a fixed random order."""
    path = Path(os.environ["TEMPORAL_EVAL_SHARED"]) / "tot/tot_arithmetic.jsonl"
    family = scorer("tot_arithmetic")
    docs = family.process_docs(datasets.Dataset.from_list(read_jsonl(path)))
    clusters = [family.utils.cluster(doc) for doc in docs]
    numbers = np.unique(clusters, return_inverse=True)[1]
    return np.random.default_rng(0).permutation(numbers)


def cluster_sizes(kind: str, n: int) -> np.ndarray:
    """Return the sizes of the clusters of `n` documents."""
    if kind == "tot":
        return np.unique(_tot()[:n], return_counts=True)[1]
    if kind == "falling":  # twelve: of 100 documents 30, 21, 15, …
        sizes = 0.7 ** np.arange(12)
        sizes = np.maximum(1, (n * sizes / sizes.sum()).round()).astype(int)
        sizes[0] += n - sizes.sum()
        return sizes
    return np.full(n // int(kind), int(kind))


class Documents:
    """Samples of the same documents, which runs answer."""

    def __init__(self, sizes: np.ndarray, rho: float, samples: int, seed: int) -> None:
        self.sizes, self.rho = sizes, rho
        self.rng = np.random.default_rng(seed)
        self._groups = np.repeat(np.arange(len(sizes)), sizes)
        self._starts = np.append(0, sizes.cumsum()[:-1])
        self._clusters = self.rng.standard_normal((samples, len(sizes)))
        self._documents = self.rng.standard_normal((samples, sizes.sum()))

    def answer(
        self, accuracy: float, answers: int = 1, shares: bool = True
    ) -> np.ndarray:
        """Return the sums of a run's scores by cluster, a row for each sample.

        Where it `shares` nothing with other runs, clusters are hard for it alone.
        """
        clusters, own = self._clusters, self._documents
        if not shares:
            clusters, own = (self.rng.standard_normal(x.shape) for x in (clusters, own))
        common = self.rho**0.5 * clusters[:, self._groups]
        common = common + ((1 - self.rho) * SHARED) ** 0.5 * own
        scores = np.zeros(own.shape)
        for _ in range(answers):
            noise = self.rng.standard_normal(own.shape)
            noise *= ((1 - self.rho) * (1 - SHARED)) ** 0.5
            scores += common + noise < ndtri(accuracy)
        return np.add.reduceat(scores / answers, self._starts, axis=1)


def cells(numbers: tuple[int, ...] = NUMBERS) -> Iterator[tuple]:
    """Yield the kind of clusters, documents and correlation of each cell."""
    for kind, n, rho in product(KINDS, numbers, RHOS):
        if kind != "1" or not rho:
            yield kind, n, rho


def covered(documents: Documents, accuracy: float, answers: int) -> float:
    """Return the share of intervals of scores that hold the true score."""
    low, high = wilson_interval(documents.sizes, documents.answer(accuracy, answers))
    return float(((low <= accuracy) & (accuracy <= high)).mean())


def rejected(
    documents: Documents,
    a: float,
    b: float,
    answers: int = 1,
    shares: bool = True,
    level: float = LEVEL,
) -> float:
    """Return how often runs of these accuracies are shown to differ."""
    sums = [documents.answer(x, answers, shares) for x in (a, b)]
    paired = spread(documents.sizes, sums[1] - sums[0], DIFFERENCES)
    return float((paired.p_value < level).mean())


def family_errors(documents: Documents, accuracy: float, shares: bool) -> float:
    """Return how often any two of equally good models are shown to differ."""
    runs = [documents.answer(accuracy, shares=shares) for _ in range(MODELS)]
    p_values = [
        spread(documents.sizes, b - a, DIFFERENCES).p_value
        for a, b in combinations(runs, 2)
    ]
    least = [min(holm(p_values_of_sample)) for p_values_of_sample in zip(*p_values)]
    return float(np.mean(np.array(least) < LEVEL))


def detected(build: Callable[..., Documents], accuracy: float) -> list[float]:
    """Return the power at the median of the detectable differences, if most have one.

    The runs are so far apart, with the accuracy in the middle where the scale allows it.
    """
    documents = build(200)
    runs = [documents.answer(accuracy) for _ in range(2)]
    found = [detectable_difference(documents.sizes, *x, 1) for x in zip(*runs)]
    steps = [step for step in found if step is not None]
    if len(steps) <= 100:
        return []
    upper = np.clip(accuracy + np.median(steps) / 2, np.median(steps), 1)
    return [rejected(build(), upper - np.median(steps), upper)]


def check(name: str, figures: list[float], low: float, high: float) -> bool:
    """Print the figures' ends and mean; return whether they are within bounds."""
    ends = min(figures), max(figures)
    is_within = low <= ends[0] and ends[1] <= high
    fault = "" if is_within else f"  NOT within {low:.3f} to {high:.3f}"
    mean = f"mean {np.mean(figures):.3f} of {len(figures)}{fault}"
    print(f"{name:44} {ends[0]:.3f} to {ends[1]:.3f}, {mean}", flush=True)
    return is_within


def simulate(times: int) -> Iterator[bool]:
    """Print all simulations; yield whether the bounds hold."""
    scores, errors, powers = [], [], []
    for seed, (kind, n, rho) in enumerate(cells()):
        sizes = cluster_sizes(kind, n)

        def build(samples: int = times) -> Documents:
            return Documents(sizes, rho, samples, seed)

        documents, name = build(), f"{kind:7} {n:4} rho {rho:.1f}"
        for answers in (1, 5):
            shares = [covered(documents, x, answers) for x in ACCURACIES]
            yield check(f"{name} answers {answers} covered", shares, 0.9, 1)
            scores += shares
            cases = [*product(ACCURACIES, (True, False))]
            shares = [rejected(documents, x, x, answers, y) for x, y in cases]
            yield check(f"{name} answers {answers} type I", shares, 0, 0.07)
            errors += shares
        if shares := [power for x in ACCURACIES for power in detected(build, x)]:
            yield check(f"{name} power at detectable", shares, 0.72, 0.95)
            powers += shares
    yield check("all: mean coverage", [float(np.mean(scores))], 0.94, 0.975)
    yield check("all: type I", errors, 0, 0.07)
    yield check("all: power at detectable", powers, 0.72, 0.95)
    for clusters, size, a, b, least in POWERS:
        documents = Documents(np.full(clusters, size), 0.4, times, 0)
        name = f"power, {clusters} clusters of {size}, {a} to {b}"
        yield check(name, [rejected(documents, a, b)], least, 1)
    for kind, n, rho in (x for x in cells(NUMBERS[1:3]) if x[2] != RHOS[2]):
        documents = Documents(cluster_sizes(kind, n), rho, times, 0)
        cases = product(ACCURACIES[1:4], (True, False))
        shares = [family_errors(documents, *case) for case in cases]
        yield check(f"{kind:7} {n:4} rho {rho:.1f} family", shares, 0, LEVEL)


if __name__ == "__main__":
    sys.exit(not all([*simulate(int([*sys.argv, 2000][1]))]))
