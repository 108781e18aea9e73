"""Intervals, and tests of the difference between two runs over the same documents.

Documents that share a text or a question are not independent: standard errors are those
of a regression on a constant with clustered errors (Cameron and Miller, A Practitioner's
Guide to Cluster-Robust Inference, 2015), corrected for few clusters by G / (G - 1), and
Student's t has G - 1 degrees of freedom for G clusters. Where each document is its own
cluster, they are the ordinary ones.
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
# a dialogue; else the question, which may be asked of the same facts in several orders.
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
    p_value: float  # of "it is 0", two-sided


def cluster(task: str, doc: dict) -> str:
    """Return a name of the cluster of a document: equal for documents that share a text."""
    shared = next((doc[name] for name in _SHARED if doc.get(name)), None)
    if shared is None:
        return scorer(task).utils.digest(doc).hex()
    return hashlib.sha256(json.dumps(shared).encode()).hexdigest()


def mean_interval(values: Sequence[float], clusters: Sequence[Hashable]) -> Interval:
    """Return the mean of one or more values with its interval.

    `clusters` names the cluster of each value. The p-value is of the t test. Where all
    clusters have one and the same value, there is no variance to test against, and it is
    of the exact sign test.
    """
    from statsmodels.regression.linear_model import OLS  # takes a second

    numbers: dict[Hashable, int] = {}
    groups = [numbers.setdefault(name, len(numbers)) for name in clusters]
    mean, least = math.fsum(values) / len(values), _ROUNDING * max(map(abs, values))
    mean = mean if abs(mean) >= least else 0.0
    sign_test = 2.0 ** (1 - len(numbers)) if mean else 1.0
    if len(numbers) == 1:
        return Interval(mean, None, None, None, 1, sign_test)
    options = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
    fitted = OLS(values, [1.0] * len(values)).fit(**options)
    error = float(fitted.bse[0])
    if error <= least:
        return Interval(mean, 0.0, mean, mean, len(numbers), sign_test)
    low, high = fitted.conf_int(1 - CONFIDENCE)[0].tolist()
    p_value = float(fitted.pvalues[0]) if mean else 1.0
    return Interval(mean, error, low, high, len(numbers), p_value)


def paired(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable]
) -> Interval:
    """Return the mean of `a` - `b`, one value each for a document, with its interval."""
    return mean_interval([x - y for x, y in zip(a, b, strict=True)], clusters)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Takes in how many documents `a` alone, and `b` alone, is right. It knows no clusters.
    """
    from statsmodels.stats.contingency_tables import mcnemar

    return float(mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue)


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests corrected by Holm's method, in order."""
    import numpy as np  # statsmodels collects garbage each time, which takes half a second

    found = np.array([*p_values])
    order = found.argsort()
    factors = np.arange(len(found), 0, -1)
    corrected = np.maximum.accumulate(factors * found[order]).clip(max=1)
    return corrected[order.argsort()].tolist()


def smallest_difference(standard_error: float | None, clusters: int) -> float | None:
    """Return the true difference that a test of `paired` finds with a chance of POWER.

    Takes the error and the clusters of the difference that was found: what as many
    documents with as much variance could show. None where the error is 0 or not known.
    """
    from statsmodels.stats.power import TTestPower

    if not standard_error:
        return None
    # The other tail, where the test finds the wrong sign, is left out.
    options = {"alpha": (1 - CONFIDENCE) / 2, "power": POWER, "alternative": "larger"}
    deviations = TTestPower().solve_power(nobs=clusters, **options)
    return float(deviations) * clusters**0.5 * standard_error
