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
- **Mean of numbers** that are no scores: Student's interval, without additions.
- **Family of tests**: Holm (A Simple Sequentially Rejective Multiple Test Procedure, 1979).

`python -m tests.coverage` simulates how often intervals hold and the test rejects.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


CONFIDENCE, POWER = 0.95, 0.8
LEAST_FREEDOM = 30  # below it, the power of a test cannot be foretold from its variance
_LEAST_FEWER = 10
# What is expected of two models before they answer: how far their differences correlate
# within a cluster, and their scores by document. Means over the 15 pairs of six models that
# answered ToT arithmetic; see METHODS.md.
DIFFERENCE_CORRELATION, MODEL_CORRELATION = 0.13, 0.38
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
    design_effect: float  # the variance divided by that of independent documents
    p_value: float = math.nan  # of "the difference is 0", two-sided; nan for a score


def linearised(
    tasks: Sequence[Sequence[float]], weights: Sequence[float]
) -> list[float]:
    """Return a value for each document, of which the plain mean is the benchmark's score.

    Takes the scores by task, and how much each task counts. The values of documents spread
    as the scores about the mean of their own task, weighted as the task is.
    """
    if len(tasks) == 1:
        return [*tasks[0]]
    n_docs = sum(map(len, tasks))
    task_means = [math.fsum(scores) / len(scores) for scores in tasks]
    shares = [weight / sum(weights) for weight in weights]
    benchmark_mean = math.fsum(map(math.prod, zip(shares, task_means)))
    return [
        benchmark_mean + share * n_docs / len(scores) * (score - task_mean)
        for scores, task_mean, share in zip(tasks, task_means, shares)
        for score in scores
    ]


def cluster_totals(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of documents and the sum of the values of each cluster."""
    index_by_cluster = dict(zip(dict.fromkeys(clusters), count()))
    cluster_indices = [index_by_cluster[cluster] for cluster in clusters]
    return np.bincount(cluster_indices), np.bincount(cluster_indices, weights=values)


def spread(sizes: np.ndarray, sums: np.ndarray, scale: tuple[float, float]) -> Spread:
    """Return the spread of the mean of SCORES or of DIFFERENCES, by cluster.

    `sums` may have one more axis in front: one row for each sample.
    """
    document_count = sizes.sum()
    added_size = max(document_count / len(sizes) / 2, 1) if scale == SCORES else 1
    sizes = np.append(sizes, [added_size, added_size])
    added_sums = np.broadcast_to(np.multiply(scale, added_size), (*sums.shape[:-1], 2))
    sums = np.concatenate([sums, added_sums], axis=-1)
    total_size = sizes.sum()
    shares, mean = sizes / total_size, sums.sum(-1) / total_size
    size_ratio = total_size / document_count
    variances = (sums - mean[..., None] * sizes) ** 2 / total_size**2
    error = (variances / (1 - shares)).sum(-1) ** 0.5
    freedom = _freedom(shares)
    if scale == SCORES:
        # Where few clusters hold most of the variance, as where few answers are right, the
        # degrees of freedom are fewer, but not for that below ten: as many as clusters of
        # normal totals with the same fourth moment have.
        effective_clusters = 3 * variances.sum(-1) ** 2 / (variances**2).sum(-1)
        freedom = np.minimum(freedom, np.maximum(_LEAST_FEWER, effective_clusters - 1))
    effective_count = (mean - scale[0]) * (scale[1] - mean) / error**2 / size_ratio
    quantile = stdtrit(freedom, (1 + CONFIDENCE) / 2)
    p_value = 2 * stdtr(freedom, -abs(mean) / error)
    return Spread(mean, error, freedom, size_ratio, effective_count, quantile, p_value)


def _freedom(shares: np.ndarray) -> float:
    """Return the degrees of freedom of Bell and McCaffrey, by clusters' shares of all."""
    cr2_terms = shares**2 / (1 - shares)
    denominator = (shares**2).sum() + cr2_terms.sum() ** 2 - (cr2_terms**2).sum()
    return max(1.0, float(1 / denominator))


def wilson_interval(
    sizes: np.ndarray, sums: np.ndarray, drawn_share: float = 0.0
) -> tuple[float, float]:
    """Return Wilson's interval of a score for the effective number of documents.

    Of a whole, `drawn_share` of which was drawn at random, less is unknown by that share
    (the finite population correction of Cochran, Sampling Techniques, 1977).
    """
    return _wilson_ends(sizes, sums, spread(sizes, sums, SCORES), drawn_share)


def _wilson_ends(
    sizes: np.ndarray, sums: np.ndarray, clustered: Spread, drawn_share: float = 0.0
) -> tuple[float, float]:
    """Return the interval of `wilson_interval` from the spread of the same clusters."""
    mean = np.clip(sums.sum(-1) / sizes.sum(), 0, 1)
    z2_by_n = clustered.quantile**2 / clustered.effective * (1 - drawn_share)
    middle = (mean + z2_by_n / 2) / (1 + z2_by_n)
    half_width = np.sqrt(mean * (1 - mean) * z2_by_n + z2_by_n**2 / 4) / (1 + z2_by_n)
    return np.maximum(middle - half_width, 0), np.minimum(middle + half_width, 1)


def estimate_score(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    scale: tuple[float, float] = SCORES,
) -> Estimate:
    """Return the mean of scores with Wilson's interval, or of DIFFERENCES with Student's."""
    sizes, cluster_sums = cluster_totals(values, clusters)
    clustered = spread(sizes, cluster_sums, scale)
    independent = clustered  # the same where each document is a cluster
    if len(sizes) < len(values):
        each_alone = np.ones(len(values))
        independent = spread(each_alone, np.asarray(values, dtype=float), scale)
    if scale == SCORES:
        low, high = _wilson_ends(sizes, cluster_sums, clustered)
        p_value = math.nan
    else:
        half_width = clustered.quantile * clustered.error
        ends = clustered.mean - half_width, clustered.mean + half_width
        (low, high), p_value = np.clip(ends, *scale), clustered.p_value
    mean, error = math.fsum(values) / len(values), clustered.error
    design_effect = (error / independent.error) ** 2
    precision_fields = error, clustered.freedom, len(sizes), design_effect
    return Estimate(mean, low, high, *precision_fields, p_value)


def estimate_whole_score(values: Sequence[float], drawn_share: float) -> Estimate:
    """Return the mean of scores of documents that were drawn at random from a whole.

    Takes the share of the whole that was drawn. Wilson's interval is that of the score of
    the whole. Documents are drawn one by one: clusters make its error no larger.
    """
    each_alone = np.ones(len(values))
    scores = np.asarray(values, dtype=float)
    independent = spread(each_alone, scores, SCORES)
    low, high = _wilson_ends(each_alone, scores, independent, drawn_share)
    error = independent.error * math.sqrt(1 - drawn_share)
    mean = math.fsum(values) / len(values)
    return Estimate(mean, low, high, error, independent.freedom, len(values), 1.0)


def estimate_difference(
    first_scores: Sequence[float],
    second_scores: Sequence[float],
    clusters: Sequence[Hashable],
) -> Estimate:
    """Return the mean of second minus first scores of documents, with interval and p-value.

    The interval holds 0 where p is above 0.05; it ends at -1 and 1.
    """
    score_pairs = zip(first_scores, second_scores, strict=True)
    return estimate_score([b - a for a, b in score_pairs], clusters, DIFFERENCES)


def estimate_mean(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[float, float | None, float | None]:
    """Return the mean of numbers without a scale, and the ends of its interval.

    It is Student's, by CR2, without additions; a single cluster has none.
    """
    sizes, sums = cluster_totals(values, clusters)
    mean = math.fsum(values) / len(values)
    if len(sizes) == 1:
        return mean, None, None
    shares = sizes / sizes.sum()
    variances = ((sums - mean * sizes) / sizes.sum()) ** 2
    half_width = (variances / (1 - shares)).sum() ** 0.5
    half_width *= stdtrit(_freedom(shares), (1 + CONFIDENCE) / 2)
    return mean, float(mean - half_width), float(mean + half_width)


def estimate_median(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[float, float, float]:
    """Return the median and the ends of its interval.

    The ends are order statistics (Woodruff, Confidence Intervals for Medians and Other
    Position Measures, 1952), for the effective number of documents.
    """
    median = float(np.median(values))
    is_below_median = [(value < median) + (value == median) / 2 for value in values]
    share_below = estimate_score(is_below_median, clusters)
    quantile = stdtrit(share_below.freedom, (1 + CONFIDENCE) / 2)
    # The error of a share of one half.
    share_error = math.sqrt(share_below.design_effect / len(values)) / 2
    share_half_width = quantile * share_error
    end_shares = np.clip([0.5 - share_half_width, 0.5 + share_half_width], 0, 1)
    low, high = np.quantile(values, end_shares, method="inverted_cdf")
    return median, float(low), float(high)


def mean_of_independent(estimates: Sequence[Estimate]) -> tuple[float, float, float]:
    """Return the mean of independent figures, and the ends of its interval.

    The interval follows from those of the parts, not from their variances, which are 0
    where all answers are right (Zou and Donner, Construction of Confidence Limits about
    Effect Measures, 2008).
    """
    figures_and_ends = np.array([estimate[:3] for estimate in estimates])
    values, lows, highs = figures_and_ends.T * (1 / len(estimates))
    mean = math.fsum(values)
    return mean, mean - math.dist(values, lows), mean + math.dist(values, highs)


def holm(p_values: Iterable[float]) -> list[float]:
    """Return the p-values of a family of tests adjusted by Holm's method, in order."""
    p_array = np.array([*p_values])
    rising_order = p_array.argsort()
    factors = np.arange(len(p_array), 0, -1)
    rising_p = np.maximum.accumulate(factors * p_array[rising_order]).clip(max=1)
    return rising_p[rising_order.argsort()].tolist()


def detectable_difference(
    sizes: np.ndarray, first_sums: np.ndarray, second_sums: np.ndarray, test_count: int
) -> float | None:
    """Return how far two runs must be apart to be shown to differ, whichever is better.

    Takes the size of each cluster and the sums of the scores of both runs. It is the least
    difference in tenths of a point with a chance of POWER, at the first level of Holm's
    method for so many tests; None where the clusters are too few to foretell it.
    """
    document_count = sizes.sum()
    paired_spread = spread(sizes, second_sums - first_sums, DIFFERENCES)
    if paired_spread.freedom < LEAST_FREEDOM:
        return None
    test_level = (1 - CONFIDENCE) / 2 / test_count
    needed_errors = stdtrit(paired_spread.freedom, [1 - test_level, POWER]).sum()
    # Both scores move from their middle, as far as the scale goes.
    gaps = np.arange(1, 1001) / 1000
    middle_score = (first_sums.sum() + second_sums.sum()) / 2 / document_count
    upper_scores = np.clip(middle_score + gaps / 2, gaps, 1)
    lower_scores = upper_scores - gaps
    # The variance changes as that of a share does, and is at least that of runs of which
    # one has all that is right in the other, and a document more. Documents that begin to
    # differ share clusters less than right answers do: inside the scale, their number lies,
    # on the log scale, halfway between that of all documents and the effective number.
    run_sums = (first_sums, second_sums)
    smoothed_means = [(sums.sum() + 1) / (document_count + 2) for sums in run_sums]
    variance_ratios = (
        upper_scores * (1 - upper_scores) + lower_scores * (1 - lower_scores)
    ) / sum(mean - mean**2 for mean in smoothed_means)
    effective_count = min(spread(sizes, sums, SCORES).effective for sums in run_sums)
    is_inside = (lower_scores > 0) & (upper_scores < 1)
    middle_count = math.sqrt(document_count * effective_count)
    differing_counts = np.where(is_inside, middle_count, effective_count)
    least_variances = (gaps * (1 - gaps) + 1 / document_count) / differing_counts
    paired_variance = (paired_spread.error * paired_spread.weight) ** 2
    variances = np.maximum(paired_variance * variance_ratios, least_variances)
    is_detected = gaps >= needed_errors * np.sqrt(variances)
    return float(gaps[is_detected.argmax()]) if is_detected.any() else None


def expected_half_width(
    documents: Sequence[int], weights: Sequence[float], drawn_share: float
) -> float:
    """Return half the width that is expected of the interval of a whole's score of 50 %.

    Takes how many documents of each task are drawn, the weights of tasks in the score, and
    the share that is drawn, as `estimate_whole_score` does.
    """
    variance = sum(weight**2 / n for weight, n in zip(weights, documents))
    effective_count = 1 / variance / (1 - drawn_share) if drawn_share < 1 else math.inf
    quantile = stdtrit(max(sum(documents) - 1, 1), (1 + CONFIDENCE) / 2)
    return quantile / 2 / math.sqrt(effective_count + quantile**2)


def expected_difference(
    tasks: Sequence[Sequence[int]], weights: Sequence[float]
) -> float:
    """Return the difference of two models about 50 % that a test shows by POWER.

    Takes the sizes of the clusters of each task, and the weights of tasks in the score.
    """
    variance, cluster_count = 0.0, 0
    for cluster_sizes, weight in zip(tasks, weights):
        sizes = np.array(cluster_sizes)
        design_sum = (sizes * (1 + (sizes - 1) * DIFFERENCE_CORRELATION)).sum()
        variance += weight**2 * design_sum / sizes.sum() ** 2
        cluster_count += len(sizes)
    freedom = max(cluster_count - len(tasks), 1)
    needed_errors = stdtrit(freedom, [(1 + CONFIDENCE) / 2, POWER]).sum()
    # Where the scores are d apart, the variance is (1 - d * d) / 2 of what does not correlate.
    squared = needed_errors**2 * (1 - MODEL_CORRELATION) / 2 * variance
    return math.sqrt(squared / (1 + squared))
