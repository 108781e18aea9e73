"""Intervals, and tests of the difference between two runs over the same documents.

Documents that ask about one text, or the same question, are not independent: standard
errors are clustered by it. They are those of a regression on a constant whose errors are
clustered (Cameron and Miller, A Practitioner's Guide to Cluster-Robust Inference, 2015),
with the correction for few clusters, G / (G - 1), and Student's t with G - 1 degrees of
freedom for G clusters. Where each document is its own cluster, they are the ordinary ones.

Functions take scores, or errors of any size. Sums are exact, so the order of documents changes
nothing, and neither does the order of two runs but for the sign.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from .core.families import scorer


CONFIDENCE, POWER = 0.95, 0.8
# What documents share, by their first field of these that has content: a text, a premise,
# a dialogue; else the question, which ToT semantic asks of the same facts in five orders.
_SHARED = ("context", "premise", "dialogue", "question", "statement")
# What is smaller, beside the largest value, comes from the rounding of scores such as F1.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """A mean with its confidence interval, which may reach beyond 0 and 1.

    With one cluster alone, nothing is known about the error: it and the bounds are None.
    """

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    clusters: int


class Difference(NamedTuple):
    """The mean difference of two runs, first minus second, with its interval."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None
    clusters: int
    p_value: float  # of "there is no difference", two-sided


def cluster(task: str, doc: dict) -> str:
    """Return a name of the cluster of a document: equal for documents that share a text."""
    shared = next((doc[name] for name in _SHARED if doc.get(name)), None)
    if shared is None:
        return scorer(task).utils.digest(doc).hex()
    return hashlib.sha256(json.dumps(shared).encode()).hexdigest()


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the mean of one or more values with its interval.

    `clusters` names the cluster of each value.
    """
    from scipy.stats import t

    n, least = len(values), _ROUNDING * max(map(abs, values))
    mean = _plain(math.fsum(values) / n, least)
    groups: dict[Hashable, list[float]] = {}
    for value, name in zip(values, clusters, strict=True):
        groups.setdefault(name, []).append(value - mean)
    if len(groups) == 1:
        return Interval(mean, None, None, None, 1)
    squares = math.fsum(math.fsum(group) ** 2 for group in groups.values())
    correction = len(groups) / (len(groups) - 1)
    error = _plain(math.sqrt(correction * squares) / n, least)
    reach = float(t.ppf((1 + confidence) / 2, len(groups) - 1)) * error
    return Interval(mean, error, mean - reach, mean + reach, len(groups))


def _plain(value: float, least: float) -> float:
    return 0.0 if abs(value) < least else value


def paired(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable],
    confidence: float = CONFIDENCE,
) -> Difference:
    """Return the mean of `a` - `b`, one value each for a document, and whether it is 0.

    The p-value is of the t test. Where all clusters show one and the same difference,
    there is no variance to test against, and it is of the exact sign test.
    """
    from scipy.stats import t

    differences = [x - y for x, y in zip(a, b, strict=True)]
    found = mean_interval(differences, clusters, confidence)
    if found.value == 0:
        p_value = 1.0
    elif not found.standard_error:
        p_value = 2.0 ** (1 - found.clusters)
    else:
        statistic = abs(found.value) / found.standard_error
        p_value = float(2 * t.sf(statistic, found.clusters - 1))
    return Difference(*found, p_value)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Takes in how many documents `a` alone, and `b` alone, is right. It knows no clusters.
    """
    from scipy.stats import binomtest

    n = only_a + only_b
    return float(binomtest(only_a, n).pvalue) if n else 1.0


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests corrected by Holm's method, in order."""
    p_values = list(p_values)
    corrected, largest = list(p_values), 0.0
    for rank, place in enumerate(
        sorted(range(len(p_values)), key=p_values.__getitem__)
    ):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        corrected[place] = min(largest, 1.0)
    return corrected


def smallest_difference(
    standard_error: float | None,
    clusters: int,
    power: float = POWER,
    confidence: float = CONFIDENCE,
) -> float | None:
    """Return the true difference that a test of `paired` finds with a chance of `power`.

    Takes the error and the clusters of the difference that was found: what as many
    documents with as much variance could show. None where the error is 0 or not known.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    if not standard_error:
        return None
    freedom = clusters - 1
    critical = t.ppf((1 + confidence) / 2, freedom)

    def excess(shift: float) -> float:
        # The other tail, where the test finds the wrong sign, is left out.
        return float(nct.sf(critical, freedom, shift)) - power

    shift = brentq(excess, 0, 2 * critical + 4)
    return shift * standard_error
