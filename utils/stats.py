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
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


CONFIDENCE, POWER = 0.95, 0.8
# Degrees of freedom below which the power of a test cannot be foretold from its variance.
LEAST_FREEDOM = 30
_LEAST_FEWER = 10
_UNIT, _SIGNED = (0.0, 1.0), (-1.0, 1.0)  # the scales of scores and of differences


class Spread(NamedTuple):
    """The mean of clusters with the additions, and how sure it is; or arrays of samples."""

    mean: float
    error: float  # standard error, by CR2
    freedom: float  # degrees of freedom of Student's t
    weight: float  # of all clusters, where that of the clusters without additions is 1
    alike: float  # clusters of normal totals that would have the fourth moment of these


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


def quantile(freedom: float) -> float:
    """Return how many standard errors an interval reaches to either side."""
    return stdtrit(freedom, (1 + CONFIDENCE) / 2)


def linearised(parts: Sequence[Sequence[float]], by_size: bool) -> list[float]:
    """Return a value for each document, of which the plain mean is the benchmark's score.

    Takes the scores by task, and whether documents count alike, not tasks. The values spread
    as the scores about the mean of their own task, weighted as the task is.
    """
    if len(parts) == 1:
        return [*parts[0]]
    documents = sum(map(len, parts))
    means = [math.fsum(part) / len(part) for part in parts]
    weights = [len(part) / documents if by_size else 1 / len(parts) for part in parts]
    mean = math.fsum(map(math.prod, zip(weights, means)))
    return [
        mean + weight * documents / len(part) * (score - part_mean)
        for part, part_mean, weight in zip(parts, means, weights)
        for score in part
    ]


def cluster_totals(
    values: Sequence[float], clusters: Iterable[Hashable]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of documents and the sum of the values of each cluster."""
    names: dict[Hashable, int] = {}
    groups = [names.setdefault(name, len(names)) for name in clusters]
    return np.bincount(groups), np.bincount(groups, weights=values)


def spread(
    sizes: np.ndarray, sums: np.ndarray, ends: tuple[float, float], added: float
) -> Spread:
    """Return the spread of the mean of clusters, with `added` documents at both `ends`.

    `sums` may have one more axis in front: one row for each sample.
    """
    documents = sizes.sum()
    sizes = np.append(sizes, [added, added])
    additions = np.broadcast_to(np.multiply(ends, added), (*sums.shape[:-1], 2))
    sums = np.concatenate([sums, additions], axis=-1)
    total = sizes.sum()
    shares = sizes / total
    mean = sums.sum(-1) / total
    squares = (sums - mean[..., None] * sizes) ** 2 / total**2
    variance = (squares / (1 - shares)).sum(-1)
    products = shares**2 / (1 - shares)
    denominator = (shares**2).sum() + products.sum() ** 2 - (products**2).sum()
    freedom = max(1.0, float(1 / denominator))
    equal_clusters = 3 * squares.sum(-1) ** 2 / (squares**2).sum(-1)
    return Spread(mean, variance**0.5, freedom, total / documents, equal_clusters)


def score_spread(sizes: np.ndarray, sums: np.ndarray) -> Spread:
    """Return the spread of a score.

    Where few clusters hold most of the variance, as where few answers are right, the
    degrees of freedom are fewer, but not for that below ten.
    """
    scores = spread(sizes, sums, _UNIT, max(sizes.sum() / len(sizes) / 2, 1))
    most_freedom = np.maximum(_LEAST_FEWER, scores.alike - 1)
    return scores._replace(freedom=np.minimum(scores.freedom, most_freedom))


def difference_spread(sizes: np.ndarray, sums: np.ndarray) -> Spread:
    """Return the spread of a mean difference."""
    return spread(sizes, sums, _SIGNED, 1)


def effective_documents(scores: Spread) -> float:
    """Return how many independent documents would have the variance of the scores."""
    return scores.mean * (1 - scores.mean) / scores.error**2 / scores.weight


def wilson_interval(sizes: np.ndarray, sums: np.ndarray) -> tuple[float, float]:
    """Return Wilson's interval of a score for the effective number of documents."""
    scores = score_spread(sizes, sums)
    mean = np.clip(sums.sum(-1) / sizes.sum(), 0, 1)
    ratio = quantile(scores.freedom) ** 2 / effective_documents(scores)
    middle = (mean + ratio / 2) / (1 + ratio)
    reach = np.sqrt(mean * (1 - mean) * ratio + ratio**2 / 4) / (1 + ratio)
    return np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)


def p_value(differences: Spread) -> float:
    """Return the p-value of Student's t test of "the mean is 0", two-sided."""
    return 2 * stdtr(differences.freedom, -abs(differences.mean) / differences.error)


def estimate_score(values: Sequence[float], clusters: Sequence[Hashable]) -> Estimate:
    """Return the mean of scores from 0 to 1, with Wilson's interval."""
    return _estimate(values, clusters, score_spread, wilson_interval)


def estimate_difference(
    a: Sequence[float], b: Sequence[float], clusters: Sequence[Hashable]
) -> Estimate:
    """Return the mean of `b` - `a`, paired by document, with its interval and p-value.

    The interval holds 0 where p is above 0.05; it ends at -1 and 1.
    """
    values = [score_b - score_a for score_a, score_b in zip(a, b, strict=True)]
    paired = difference_spread(*cluster_totals(values, clusters))
    reach = quantile(paired.freedom) * paired.error
    ends = max(-1.0, paired.mean - reach), min(1.0, paired.mean + reach)
    estimate = _estimate(values, clusters, difference_spread, lambda *_: ends)
    return estimate._replace(p_value=float(p_value(paired)))


def _estimate(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    spread_of: Callable,
    interval_of: Callable,
) -> Estimate:
    totals = cluster_totals(values, clusters)
    unclustered = np.ones(len(values)), np.asarray(values, dtype=float)
    clustered, naive = spread_of(*totals), spread_of(*unclustered)
    low, high = map(float, interval_of(*totals))
    error, freedom = float(clustered.error), float(clustered.freedom)
    effect, mean = error / float(naive.error), math.fsum(values) / len(values)
    return Estimate(mean, low, high, error, freedom, len(totals[0]), effect)


def estimate_median(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[float, float, float]:
    """Return the median and the ends of its interval.

    The ends are order statistics (Woodruff, Confidence Intervals for Medians and Other
    Position Measures, 1952), for the effective number of documents.
    """
    median = float(np.median(values))
    ranks = [(value < median) + (value == median) / 2 for value in values]
    share = estimate_score(ranks, clusters)
    reach = quantile(share.freedom) * share.design_effect / 2 / len(values) ** 0.5
    places = np.clip([0.5 - reach, 0.5 + reach], 0, 1)
    low, high = np.quantile(values, places, method="inverted_cdf")
    return median, float(low), float(high)


def combine(parts: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Return the weighted sum of independent figures.

    Its interval follows from those of the parts, not from their variances, which are 0
    where all answers are right (Zou and Donner, Construction of Confidence Limits about
    Effect Measures, 2008). The degrees of freedom are those of Welch and Satterthwaite.
    """
    value = math.fsum(weight * part.value for part, weight in zip(parts, weights))
    terms = [*zip(parts, weights)]
    intervals = [
        sorted((weight * part.low, weight * part.high)) for part, weight in terms
    ]
    middles = [weight * part.value for part, weight in zip(parts, weights)]
    errors = [abs(weight) * part.error for part, weight in zip(parts, weights)]
    error = math.hypot(*errors)
    fourth_powers = math.fsum(
        error**4 / part.freedom for error, part in zip(errors, parts)
    )
    naive_errors = [error / part.design_effect for error, part in zip(errors, parts)]
    naive = math.hypot(*naive_errors)
    return Estimate(
        value,
        value
        - math.hypot(*(middle - low for middle, (low, _) in zip(middles, intervals))),
        value
        + math.hypot(*(high - middle for middle, (_, high) in zip(middles, intervals))),
        error,
        error**4 / fourth_powers,
        sum(part.clusters for part in parts),
        error / naive,
    )


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests adjusted by Holm's method, in order."""
    values = np.array([*p_values])
    order = values.argsort()
    factors = np.arange(len(values), 0, -1)
    adjusted = np.maximum.accumulate(factors * values[order]).clip(max=1)
    return adjusted[order.argsort()].tolist()


def detectable_difference(
    sizes: np.ndarray, a: np.ndarray, b: np.ndarray, tests: int
) -> float | None:
    """Return how far two runs must be apart to be shown to differ, whichever is better.

    Takes the size of each cluster and the sums of the scores of both runs. It is the least
    difference in tenths of a point with a chance of POWER, at the first level of Holm's
    method for so many tests; None where the clusters are too few to foretell it.
    """
    documents, paired = sizes.sum(), difference_spread(sizes, b - a)
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
    effective = min(effective_documents(score_spread(sizes, sums)) for sums in (a, b))
    is_inside = (lower > 0) & (upper < 1)
    differing = np.where(is_inside, math.sqrt(documents * effective), effective)
    least_variance = (steps * (1 - steps) + 1 / documents) / differing
    variance = np.maximum((paired.error * paired.weight) ** 2 * ratio, least_variance)
    is_detected = steps >= errors * np.sqrt(variance)
    return float(steps[is_detected.argmax()]) if is_detected.any() else None
