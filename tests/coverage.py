"""How often intervals hold the truth, and how often the test calls equal models unequal.

    python -m tests.coverage FOLDER [REPETITIONS]

FOLDER holds the benchmarks' files. Answers are drawn for clusters of real documents: those
of one are right with a chance of their own, so that their correlation is RHO, as large as
that of recorded answers to ToT arithmetic (0.28 to 0.51).
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import datasets
import numpy as np

from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.stats import difference, score_interval


RHO = 0.4
ALONE, TEMPLATES, CONTEXTS = "none", "tot_arithmetic", "timebench_mctaco"
SIZES, MEANS, DISAGREEMENTS = (50, 300, 1850), (0.05, 0.5, 0.97), (0.02, 0.1, 0.3)
_OTHERS = ("timebench_tempreason_l2", "timebench_durationqa", "timebench_tracie")


@cache
def _clusters(task: str, folder: Path) -> np.ndarray:
    (path,) = folder.glob(f"*/{scorer(task).file}.jsonl")
    rows = datasets.Dataset.from_list(read_jsonl(path))
    found = [scorer(task).utils.cluster(doc) for doc in scorer(task).process_docs(rows)]
    return np.unique(found, return_inverse=True)[1]


def clusters(kind: str, n: int, folder: Path, rng: np.random.Generator) -> np.ndarray:
    """Return the clusters of `n` documents, drawn from the real ones of a kind."""
    if kind == ALONE:
        return np.arange(n)
    parts = [_clusters(x, folder) for x in (kind, *_OTHERS * (kind == CONTEXTS))]
    names = np.concatenate([10_000 * k + part for k, part in enumerate(parts)])
    return np.unique(rng.permutation(names)[:n], return_inverse=True)[1]


def drawn(chance: float, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores of 0 or 1, correlated by RHO within clusters."""
    shape = (1 - RHO) / RHO
    chances = rng.beta(chance * shape, (1 - chance) * shape, groups.max() + 1)
    is_alone = groups.max() + 1 == len(groups)
    return 1.0 * (rng.random(len(groups)) < (chance if is_alone else chances[groups]))


def covered(kind: str, n: int, mean: float, folder: Path, times: int) -> float:
    """Return the share of intervals of scores that hold the true mean."""
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(times):
        groups = clusters(kind, n, folder, rng)
        low, high = score_interval(drawn(mean, groups, rng), groups)
        held += low <= mean <= high
    return held / times


def rejected(kind: str, n: int, share: float, folder: Path, times: int) -> float:
    """Return how often equally good models, unlike in a share of answers, are unequal."""
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(times):
        groups = clusters(kind, n, folder, rng)
        differs, sides = drawn(share, groups, rng), drawn(0.5, groups, rng)
        found += (
            difference(differs * sides, differs * (1 - sides), groups).p_value < 0.05
        )
    return found / times


def table(folder: Path, times: int) -> Iterator[str]:
    """Yield the lines of both simulations."""
    for name, simulate, values in (
        ("covered, p =", covered, MEANS),
        ("rejected, unlike =", rejected, DISAGREEMENTS),
    ):
        yield f"{name} {values}"
        for kind in (ALONE, TEMPLATES, CONTEXTS):
            for n in SIZES:
                found = [simulate(kind, n, x, folder, times) for x in values]
                yield f"{kind:18} {n:5} " + " ".join(f"{x:.3f}" for x in found)


if __name__ == "__main__":
    for line in table(Path(sys.argv[1]), int([*sys.argv, 2000][2])):
        print(line, flush=True)
