"""Intervals of scores, and one test of the difference between two runs.

Documents that share a text, a question or a template are not independent. The variance is
that of cluster totals (Cameron and Miller, A Practitioner's Guide to Cluster-Robust
Inference, 2015). Two clusters are added to those that were seen, one at either end of the
scale, as Agresti and Coull (1998) add documents to a share and Bonett and Price (2012) to
the difference of two: without them, 8 right answers of 8 would have no variance. Each is
half as large as those that were seen are on average, and at least a document. The degrees
of freedom count clusters, and fewer where a few hold most of the variance.
`tests/coverage.py` simulates how often intervals hold and the test rejects.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


CONFIDENCE, POWER = 0.95, 0.8
_LEAST_FREEDOM = 10  # where nearly all are right, the added clusters have most of it


class Spread(NamedTuple):
    """A mean with the two added clusters in it, and how far it may be off."""

    mean: float
    error: float  # standard error
    freedom: float  # degrees of freedom of Student's t
    clusters: int  # that were seen
    weight: float  # of all clusters, where that of those that were seen is 1

    @property
    def quantile(self) -> float:
        """How many standard errors the interval reaches to either side."""
        return float(stdtrit(self.freedom, (1 + CONFIDENCE) / 2))


class Difference(NamedTuple):
    """A difference of two scores; its interval holds 0 where p is above 0.05."""

    value: float
    low: float
    high: float
    p_value: float  # of "it is 0", two-sided
    spread: Spread


def linearised(parts: Sequence[Sequence[float]], by_size: bool) -> list[float]:
    """Return a value for each document, of which the plain mean is the benchmark's score.

    Takes the scores by task, and whether documents count alike, not tasks. The values
    spread as the scores about the mean of their own task, weighted as the task is; so the
    error of their mean is that of the benchmark's score.
    """
    if len(parts) == 1:
        return [*parts[0]]
    n = sum(map(len, parts))
    means = [math.fsum(part) / len(part) for part in parts]
    weights = [len(part) / n if by_size else 1 / len(parts) for part in parts]
    mean = math.fsum(map(math.prod, zip(weights, means)))
    return [
        mean + weight * n / len(part) * (score - part_mean)
        for part, part_mean, weight in zip(parts, means, weights)
        for score in part
    ]


def spread(
    values: Sequence[float], clusters: Sequence[Hashable], ends: tuple[float, float]
) -> Spread:
    """Return the spread of the mean of values, of which each has the name of its cluster.

    The two added clusters stand at the `ends` of the scale.
    """
    names: dict[Hashable, int] = {}
    groups = [names.setdefault(name, len(names)) for name in clusters]
    size = max(0.5 / len(names), 1 / len(values))
    sizes = np.append(np.bincount(groups) / len(values), [size, size])
    sums = np.bincount(groups, weights=values) / len(values)
    sums = np.append(sums, np.multiply(ends, size))
    weight = sizes.sum()
    mean = sums.sum() / weight
    squares = (sums - mean * sizes) ** 2
    variance = squares.sum() * len(squares) / (len(squares) - 1)
    # So many clusters of normal totals would have the fourth moment of these.
    alike = 3 * squares.sum() ** 2 / (squares**2).sum()
    freedom = min(len(squares) - 1, max(_LEAST_FREEDOM, alike - 1))
    found = map(float, (mean, variance**0.5 / weight, freedom))
    return Spread(*found, len(names), float(weight))


def score_interval(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the interval of the mean of scores from 0 to 1.

    It is Wilson's for as many documents as would, independent, spread as much.
    """
    mean = math.fsum(values) / len(values)
    found = spread(values, clusters, (0, 1))
    n = found.mean * (1 - found.mean) / found.error**2
    n /= found.weight  # without the added clusters
    square = found.quantile**2
    middle = (mean + square / n / 2) / (1 + square / n)
    reach = math.sqrt(max(0, mean * (1 - mean)) * square / n + (square / n / 2) ** 2)
    reach /= 1 + square / n
    return max(0.0, middle - reach), min(1.0, middle + reach)


def difference(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable]
) -> Difference:
    """Return the mean of `b` - `a`, with one value each for a document, tested.

    Student's t test of the spread; the interval ends at -1 and 1.
    """
    values = [y - x for x, y in zip(a, b, strict=True)]
    found = spread(values, clusters, (-1, 1))
    p_value = 2 * stdtr(found.freedom, -abs(found.mean) / found.error)
    reach = found.quantile * found.error
    low, high = max(-1.0, found.mean - reach), min(1.0, found.mean + reach)
    return Difference(math.fsum(values) / len(values), low, high, float(p_value), found)


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests corrected by Holm's method, in order."""
    found = np.array([*p_values])
    order = found.argsort()
    factors = np.arange(len(found), 0, -1)
    corrected = np.maximum.accumulate(factors * found[order]).clip(max=1)
    return corrected[order.argsort()].tolist()


def detectable(found: Spread, tests: int) -> float:
    """Return the true difference that the test shows with a chance of POWER.

    Takes the spread of the difference that was found and the number of tests that Holm's
    method corrects for; documents and models are as these. A difference takes clusters in
    which the runs differ, even where these runs never did.
    """
    level = (1 - CONFIDENCE) / 2 / tests
    errors = stdtrit(found.freedom, 1 - level) + stdtrit(found.freedom, POWER)
    least = errors**2 / found.clusters
    error = found.error * found.weight
    return min(1.0, float(max(errors * error, least / (1 + least))))
