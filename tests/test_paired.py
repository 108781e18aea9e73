"""The statistics are those of statsmodels, of textbooks and of simulations."""

import datasets
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import t

from tests import coverage, recompute
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer
from utils.stats import (
    MODEL_CORRELATION,
    Estimate,
    detectable_difference,
    estimate_difference,
    estimate_mean,
    estimate_median,
    estimate_score,
    estimate_whole_score,
    expected_difference,
    expected_half_width,
    mean_of_independent,
)


COLUMNS = "difference low high error freedom clusters design_effect p".split()
SCORE = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
DOCUMENT = st.tuples(SCORE, SCORE, st.integers(0, 12))
DOCUMENTS = st.lists(DOCUMENT, min_size=1, max_size=60)


@settings(max_examples=25)
@given(DOCUMENTS)
def test_a_difference_has_the_error_and_freedom_of_regression(documents):
    a, b, clusters = zip(*documents)
    paired, back = (estimate_difference(*x, clusters) for x in ((a, b), (b, a)))
    expected = recompute.difference(np.subtract(b, a), clusters)
    del expected["whole_error"]
    figures = dict(zip(COLUMNS, paired))
    assert figures.pop("clusters") == len({*clusters})
    assert figures == pytest.approx(expected, abs=1e-9)
    assert (paired.low > 0 or paired.high < 0) == (paired.p_value < 0.05)
    assert back[:3] == pytest.approx((-paired.value, -paired.high, -paired.low))


@settings(max_examples=25)
@given(DOCUMENTS)
def test_the_interval_of_a_score_holds_it_and_is_within_bounds(documents):
    scores, _, clusters = zip(*documents)
    estimate, mean = estimate_score(scores, clusters), np.mean(scores)
    assert 0 <= estimate.low <= mean + 1e-9 and mean - 1e-9 <= estimate.high <= 1
    assert estimate.high - estimate.low > 0.01
    assert estimate_score(scores, range(len(scores))).design_effect == 1


def test_a_mean_of_numbers_has_the_interval_of_regression_by_clusters():
    import statsmodels.api as sm

    values, clusters = [3, 5, 4, 10, -2, 7, 8], "aaabbcd"
    sizes, cluster_means = (3, 2, 1, 1), (4, 4, 7, 8)
    regression = sm.WLS(cluster_means, np.ones(4), weights=sizes).fit(cov_type="HC2")
    freedom = recompute.bell_mccaffrey(sizes)
    interval = t.interval(0.95, freedom, 5, regression.bse[0])
    assert estimate_mean(values, clusters) == pytest.approx((5, *interval))
    assert estimate_mean([1, 2, 6], "aaa") == (3, None, None)


def test_the_half_width_that_is_expected_is_that_of_a_score_of_50_percent():
    scores = [0.0, 1.0] * 200
    for share in (0, 0.25, 0.9):
        estimate = estimate_whole_score(scores, share)
        expected = expected_half_width([400], [1], share)
        assert expected == pytest.approx((estimate.high - estimate.low) / 2, rel=0.01)
    # Tasks that count alike: a small one leaves the score as unsure as if both were small.
    effective, quantile = 1 / (0.25 / 100 + 0.25 / 300), t.ppf(0.975, 399)
    expected = quantile / 2 / (effective + quantile**2) ** 0.5
    assert expected_half_width([100, 300], [0.5, 0.5], 0) == pytest.approx(expected)
    assert expected_half_width([9], [1], 1) == 0
    assert 0.4 < expected_half_width([1], [1], 0.1) < 0.5


def test_the_difference_that_is_expected_of_tasks_is_that_of_their_weighted_mean():
    clusters = 40, 20  # of one document each
    freedom = sum(clusters) - 2
    variance = 0.25 / 40 + 0.25 / 20
    needed = t.ppf(0.975, freedom) + t.ppf(0.8, freedom)
    squared = needed**2 * (1 - MODEL_CORRELATION) / 2 * variance
    expected = (squared / (1 + squared)) ** 0.5
    found = expected_difference([[1] * n for n in clusters], [0.5, 0.5])
    assert found == pytest.approx(expected)
    assert found < expected_difference([[2] * 20, [2] * 10], [0.5, 0.5])
    assert 0.9 < expected_difference([[1]], [1]) < 1


def test_the_median_has_the_interval_of_order_statistics():
    values = [*range(400)]
    median, low, high = estimate_median(values, values)
    # Of 400 in order, 95 % of samples have the true median between these (binomial).
    assert (median, low, high) == pytest.approx((199.5, 180, 219), abs=1)
    median, low, high = estimate_median(values * 4, values * 4)
    assert (median, low, high) == pytest.approx((199.5, 180, 219), abs=1)
    assert estimate_median([0.0] * 90 + [999.0] * 10, range(100)) == (0, 0, 0)


def test_a_part_without_variance_adds_its_interval_to_the_mean():
    """Three benchmarks, of which one has no right answer; 2,000 times."""
    chances, n, rng, held = (0.01, 0.25, 0.3), 20, np.random.default_rng(7), 0
    for _ in range(2000):
        parts = [estimate_score(rng.random(n) < x, range(n)) for x in chances]
        _, low, high = mean_of_independent(parts)
        held += low <= np.mean(chances) <= high
    assert 0.94 < held / 2000 < 0.985
    lone = Estimate(0.5, 0.4, 0.7, 0.1, 12, 40, 1.5)
    assert mean_of_independent([lone]) == pytest.approx(lone[:3])
    ends = 0.5 - 0.1 / 2**0.5, 0.5 + 0.2 / 2**0.5
    assert mean_of_independent([lone, lone]) == pytest.approx((0.5, *ends))


@pytest.mark.parametrize("kind", coverage.KINDS)
def test_intervals_hold_the_truth_and_equal_models_are_not_told_apart(shared, kind):
    """Drawn 400 times, where tests/coverage.py draws thousands; so with three errors."""
    times, error = 400, 3 * (0.05 * 0.95 / 400) ** 0.5
    rho = 0.4 if kind != "1" else 0
    documents = coverage.Documents(coverage.cluster_sizes(kind, 300), rho, times, 1)
    for accuracy in (0.02, 0.5, 0.85):
        assert coverage.covered(documents, accuracy, 1) >= 0.95 - error
        assert coverage.rejected(documents, accuracy, accuracy) <= 0.05 + error


@pytest.mark.parametrize(("clusters", "size", "a", "b", "least"), coverage.POWERS)
def test_the_test_has_its_power(clusters, size, a, b, least):
    documents = coverage.Documents(np.full(clusters, size), 0.4, 1000, 1)
    assert coverage.rejected(documents, a, b) >= least


@pytest.mark.parametrize(("tests", "accuracy"), [(1, 0.5), (12, 0.5), (1, 0.9)])
def test_a_detectable_difference_is_shown_four_times_in_five(tests, accuracy):
    """Of 400 documents in 100 clusters; as often at the end of the scale."""
    sizes = np.full(100, 4)
    runs = coverage.Documents(sizes, 0.4, 40, 2)
    pairs = zip(*(runs.answer(accuracy) for _ in range(2)))
    step = np.median([detectable_difference(sizes, *pair, tests) for pair in pairs])
    documents = coverage.Documents(sizes, 0.4, 600, 3)
    ends = accuracy - step / 2, accuracy + step / 2
    assert 0.72 < coverage.rejected(documents, *ends, level=0.05 / tests) < 0.92


def test_the_detectable_difference_is_that_of_the_pair_and_within_the_scale():
    sizes, right = np.ones(100), np.ones(100)
    nearly = np.append(np.zeros(10), right[10:])
    step = detectable_difference(sizes, right, nearly, 1)
    assert step == detectable_difference(sizes, nearly, right, 1)
    assert 0.05 < detectable_difference(sizes, right, right, 1) < step < 0.2
    # Inside the scale, 200 documents that are alike by fives are fewer than 200, and more
    # than 40: a difference of 40 documents would have to be twice as large.
    single = np.ones(200), np.repeat([0.0, 1.0], 100), np.repeat([0.0, 1.0], 100)
    alike = np.full(40, 5), np.repeat([0.0, 5.0], 20), np.repeat([0.0, 5.0], 20)
    least, inside = (detectable_difference(*runs, 1) for runs in (single, alike))
    assert 2 * least < inside < 3 * least
    # As many documents count as in that run of which right answers are more alike.
    clumped, scattered = np.repeat([5.0, 0], [1, 39]), np.repeat([1.0, 0], [5, 35])
    for pair in ((clumped, scattered), (scattered, clumped)):
        assert 0.12 < detectable_difference(np.full(40, 5), *pair, 1) < 0.2
    few = np.full(20, 5), np.full(20, 2.0), np.full(20, 2.0)
    assert detectable_difference(*few, 1) is None
    pairs = {n: (np.ones(n), np.arange(n) % 2, np.arange(n) % 2) for n in (28, 30)}
    steps = [detectable_difference(*pair, 1) for pair in pairs.values()]
    assert steps[0] is None and 0.2 < steps[1] < 0.3


START = "A: Will you be back before the shop in the old town shuts tonight?"
SPAN = "was hiking at 10:05 AM for 1 hour. Until when in UTC?"
OTHER_SPAN = "was reading on May 7, 2001 for 2 hours. Until when in PST?"
# A document, what changes in it, and whether both are one cluster.
CLUSTERS = [
    # The same question of the same facts in another order, and another question.
    ("tot_semantic", {"question": "Q", "prompt": "x y"}, {"prompt": "y x"}, True),
    ("tot_semantic", {"question": "Q", "prompt": "x y"}, {"question": "R"}, False),
    ("timebench_mctaco", {"context": "C", "question": "Q"}, {"question": "R"}, True),
    ("timebench_mctaco", {"context": "C", "question": "Q"}, {"context": "D"}, False),
    ("timebench_tracie", {"premise": "P", "label": "x"}, {"label": "y"}, True),
    # Dialogues of TCP end in the same questions.
    ("tcp_long", {"dialogue": ["D"], "question": "Q"}, {"dialogue": ["E"]}, False),
    ("tcp_long", {"dialogue": ["D", "E"]}, {"dialogue": ["D", "F"]}, False),
    ("timebench_date_arithmetic", {"question": "Q", "context": ""}, {"question": "R"}, False),
    ("timebench_date_arithmetic", {"golds": ["x"]}, {"golds": ["y"]}, False),
    # One dialogue with a mask in another place, and another one.
    ("timebench_timedial", {"context": f"{START} <MASK>."}, {"context": f"{START} 2 B: <MASK>"}, True),
    ("timebench_timedial", {"context": f"A: {START} <MASK>."}, {"context": "B: <MASK>"}, False),
    # A template of ToT arithmetic, filled in otherwise, and another one.
    ("tot_arithmetic", {"question": f"Ann {SPAN}"}, {"question": f"Bob {OTHER_SPAN}"}, True),
    ("tot_arithmetic", {"question": f"Ann {SPAN}"}, {"question": "Ann was born on May 7, 2001. How old is she?"}, False),
]  # fmt: skip


@pytest.mark.parametrize(("task", "doc", "changes", "is_shared"), CLUSTERS)
def test_documents_that_share_a_text_or_a_question_are_a_cluster(
    task, doc, changes, is_shared
):
    cluster = scorer(task).utils.cluster
    assert (cluster(doc) == cluster(doc | changes)) is is_shared


@pytest.mark.parametrize(
    ("task", "documents", "clusters"),
    [  # counted in the files' own columns
        ("timebench_tempreason_l2", 500, 208),
        ("timebench_menatqa_scope", 500, 380),
        ("timebench_durationqa", 687, 293),
        ("timebench_tracie", 500, 253),
        ("timebench_timedial", 500, 405),
        ("timebench_situatedgen", 115, 115),
        ("tot_arithmetic", 1850, 279),
    ],
)
def test_the_clusters_of_the_benchmark_are_its_texts(task, documents, clusters, shared):
    (path,) = shared.glob(f"*/{scorer(task).file}.jsonl")
    rows = datasets.Dataset.from_list(read_jsonl(path))
    names = [scorer(task).utils.cluster(doc) for doc in scorer(task).process_docs(rows)]
    assert (len(names), len({*names})) == (documents, clusters)
