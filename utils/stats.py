"""Intervals of scores, and the paired test of a difference between two runs.

Documents that share a text, a question or a template are a cluster and not independent.

- **Variance**: CR2, cluster-robust, with the degrees of freedom of Bell and McCaffrey (Bias
  Reduction in Standard Errors for Linear Regression with Multi-Stage Samples, 2002;
  Pustejovsky and Tipton, Small-Sample Methods for Cluster-Robust Variance Estimation, 2018).
- **Additions** at either end of the scale, without which 8 right answers of 8 would have no
  variance: a document for a difference, a cluster of half the average size for a score
  (Agresti and Coull, Approximate Is Better than "Exact", 1998; Bonett and Price, Adjusted
  Wald Confidence Interval for a Difference of Binomial Proportions, 2012).
- **Score**: Wilson's interval (Probable Inference, 1927) for the effective number of
  documents, the number of independent ones that would have this variance.
- **Family of tests**: Holm (A Simple Sequentially Rejective Multiple Test Procedure, 1979).

`python -m tests.coverage` simulates how often intervals hold and the test rejects.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


CONFIDENCE, POWER = 0.95, 0.8
# Degrees of freedom below which the power of a test cannot be foretold from its variance.
LEAST_FREEDOM = 30
_LEAST_FEWER = 10
SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)  # the ends of their scales


class Spread(NamedTuple):
    """The mean of clusters with the additions, and how sure it is; or arrays of samples."""

    mean: float
    error: float  # standard error, by CR2
    freedom: float  # degrees of freedom of Student's t
    weight: float  # of all clusters, where that of the clusters without additions is 1
    effective: float  # independent documents that would have the variance
    quantile: float  # how many standard errors an interval reaches to either side
    p_value: float  # of Student's t test of "the mean is 0", two-sided


class Estimate(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float
    error: float  # standard error, with the additions
    freedom: float
    clusters: int
    design_effect: float  # the error divided by that of independent documents
    p_value: float | None = None  # of "the difference is 0", two-sided


def linearised(tasks: Sequence[Sequence[float]], by_size: bool) -> list[float]:
    """Return a value for each document, of which the plain mean is the benchmark's score.

    Takes the scores by task, and whether documents count alike, not tasks. The values spread
    as the scores about the mean of their own task, weighted as the task is.
    """
    if len(tasks) == 1:
        return [*tasks[0]]
    documents = sum(map(len, tasks))
    means = [math.fsum(scores) / len(scores) for scores in tasks]
    weights = [
        len(scores) / documents if by_size else 1 / len(tasks) for scores in tasks
    ]
    mean = math.fsum(map(math.prod, zip(weights, means)))
    return [
        mean + weight * documents / len(scores) * (score - task_mean)
        for scores, task_mean, weight in zip(tasks, means, weights)
        for score in scores
    ]


def cluster_totals(
    values: Sequence[float], clusters: Iterable[Hashable]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of documents and the sum of the values of each cluster."""
    numbers: dict[Hashable, int] = {}
    indices = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    return np.bincount(indices), np.bincount(indices, weights=values)


def spread(sizes: np.ndarray, sums: np.ndarray, scale: tuple[float, float]) -> Spread:
    """Return the spread of the mean of SCORES or of DIFFERENCES, by cluster.

    `sums` may have one more axis in front: one row for each sample.
    """
    documents = sizes.sum()
    added = max(documents / len(sizes) / 2, 1) if scale == SCORES else 1
    sizes = np.append(sizes, [added, added])
    additions = np.broadcast_to(np.multiply(scale, added), (*sums.shape[:-1], 2))
    sums = np.concatenate([sums, additions], axis=-1)
    total = sizes.sum()
    shares, mean, weight = sizes / total, sums.sum(-1) / total, total / documents
    squares = (sums - mean[..., None] * sizes) ** 2 / total**2
    error = (squares / (1 - shares)).sum(-1) ** 0.5
    leverages = shares**2 / (1 - shares)
    denominator = (shares**2).sum() + leverages.sum() ** 2 - (leverages**2).sum()
    freedom = max(1.0, float(1 / denominator))
    if scale == SCORES:
        # Where few clusters hold most of the variance, as where few answers are right, the
        # degrees of freedom are fewer, but not for that below ten: as many as clusters of
        # normal totals with the same fourth moment have.
        clusters = 3 * squares.sum(-1) ** 2 / (squares**2).sum(-1)
        freedom = np.minimum(freedom, np.maximum(_LEAST_FEWER, clusters - 1))
    effective = (mean - scale[0]) * (scale[1] - mean) / error**2 / weight
    quantile = stdtrit(freedom, (1 + CONFIDENCE) / 2)
    p_value = 2 * stdtr(freedom, -abs(mean) / error)
    return Spread(mean, error, freedom, weight, effective, quantile, p_value)


def wilson_interval(sizes: np.ndarray, sums: np.ndarray) -> tuple[float, float]:
    """Return Wilson's interval of a score for the effective number of documents."""
    mean_spread = spread(sizes, sums, SCORES)
    mean = np.clip(sums.sum(-1) / sizes.sum(), 0, 1)
    ratio = mean_spread.quantile**2 / mean_spread.effective
    middle = (mean + ratio / 2) / (1 + ratio)
    reach = np.sqrt(mean * (1 - mean) * ratio + ratio**2 / 4) / (1 + ratio)
    return np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)


def estimate_score(values: Sequence[float], clusters: Sequence[Hashable]) -> Estimate:
    """Return the mean of scores from 0 to 1, with Wilson's interval."""
    return _estimate(values, clusters, SCORES)


def estimate_difference(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable]
) -> Estimate:
    """Return the mean of `b` - `a`, paired by document, with its interval and p-value.

    The interval holds 0 where p is above 0.05; it ends at -1 and 1.
    """
    differences = [score_b - score_a for score_a, score_b in zip(a, b, strict=True)]
    return _estimate(differences, clusters, DIFFERENCES)


def _estimate(
    values: Sequence[float], clusters: Sequence[Hashable], scale: tuple[float, float]
) -> Estimate:
    sizes, sums = cluster_totals(values, clusters)
    clustered = spread(sizes, sums, scale)
    naive = spread(np.ones(len(values)), np.asarray(values, dtype=float), scale)
    if scale == SCORES:
        (low, high), p_value = wilson_interval(sizes, sums), None
    else:
        reach = clustered.quantile * clustered.error
        low, high = max(-1, clustered.mean - reach), min(1, clustered.mean + reach)
        p_value = float(clustered.p_value)
    mean, error = math.fsum(values) / len(values), float(clustered.error)
    freedom, effect = float(clustered.freedom), error / float(naive.error)
    return Estimate(
        mean, float(low), float(high), error, freedom, len(sizes), effect, p_value
    )


def estimate_median(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[float, float, float]:
    """Return the median and the ends of its interval.

    The ends are order statistics (Woodruff, Confidence Intervals for Medians and Other
    Position Measures, 1952), for the effective number of documents.
    """
    median = float(np.median(values))
    ranks = [(value < median) + (value == median) / 2 for value in values]
    below = estimate_score(ranks, clusters)  # the share of documents
    quantile = stdtrit(below.freedom, (1 + CONFIDENCE) / 2)
    reach = quantile * below.design_effect / 2 / len(values) ** 0.5
    shares = np.clip([0.5 - reach, 0.5 + reach], 0, 1)
    low, high = np.quantile(values, shares, method="inverted_cdf")
    return median, float(low), float(high)


def combine(
    estimates: Sequence[Estimate], weights: Sequence[float]
) -> tuple[float, float, float]:
    """Return the weighted sum of independent figures, and the ends of its interval.

    The interval follows from those of the parts, not from their variances, which are 0
    where all answers are right (Zou and Donner, Construction of Confidence Limits about
    Effect Measures, 2008).
    """
    values = [weight * estimate.value for estimate, weight in zip(estimates, weights)]
    total, below, above = math.fsum(values), [], []
    for value, estimate, weight in zip(values, estimates, weights):
        low, high = sorted((weight * estimate.low, weight * estimate.high))
        below.append(value - low)
        above.append(high - value)
    return total, total - math.hypot(*below), total + math.hypot(*above)


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests adjusted by Holm's method, in order."""
    p_array = np.array([*p_values])
    ascending = p_array.argsort()
    factors = np.arange(len(p_array), 0, -1)
    adjusted = np.maximum.accumulate(factors * p_array[ascending]).clip(max=1)
    return adjusted[ascending.argsort()].tolist()


def detectable_difference(
    sizes: np.ndarray, a: np.ndarray, b: np.ndarray, tests: int
) -> float | None:
    """Return how far two runs must be apart to be shown to differ, whichever is better.

    Takes the size of each cluster and the sums of the scores of both runs. It is the least
    difference in tenths of a point with a chance of POWER, at the first level of Holm's
    method for so many tests; None where the clusters are too few to foretell it.
    """
    documents, paired = sizes.sum(), spread(sizes, b - a, DIFFERENCES)
    if paired.freedom < LEAST_FREEDOM:
        return None
    level = (1 - CONFIDENCE) / 2 / tests
    errors = stdtrit(paired.freedom, 1 - level) + stdtrit(paired.freedom, POWER)
    # Both scores move from their middle, as far as the scale goes.
    steps, middle = np.arange(1, 1001) / 1000, (a.sum() + b.sum()) / 2 / documents
    upper = np.clip(middle + steps / 2, steps, 1)
    lower = upper - steps
    # The variance changes as that of a share does, and is at least that of runs of which
    # one has all that is right in the other, and a document more. Documents that begin to
    # differ share clusters less than right answers do: inside the scale, their number lies,
    # on the log scale, halfway between that of all documents and the effective number.
    smoothed_means = [(sums.sum() + 1) / (documents + 2) for sums in (a, b)]
    variances = [mean - mean**2 for mean in smoothed_means]
    ratio = (upper * (1 - upper) + lower * (1 - lower)) / sum(variances)
    effective = min(spread(sizes, sums, SCORES).effective for sums in (a, b))
    is_inside = (lower > 0) & (upper < 1)
    differing = np.where(is_inside, math.sqrt(documents * effective), effective)
    least_variance = (steps * (1 - steps) + 1 / documents) / differing
    variance = np.maximum((paired.error * paired.weight) ** 2 * ratio, least_variance)
    is_detected = steps >= errors * np.sqrt(variance)
    return float(steps[is_detected.argmax()]) if is_detected.any() else None
