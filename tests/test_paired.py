"""The statistics are those of statsmodels and scipy, and hold where these give no number."""

import math
import random
import warnings

import datasets
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.stats import binomtest, ttest_rel
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from tests.conftest import TASKS
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.stats import (
    cluster,
    holm,
    mcnemar_exact,
    mean_interval,
    paired,
    smallest_difference,
)


SCORE = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
DOCUMENTS = st.lists(
    st.tuples(SCORE, SCORE, st.integers(0, 12)), min_size=2, max_size=60
).filter(lambda documents: len({name for _, _, name in documents}) > 1)


def regression(values: list[float], clusters: list):
    """Return statsmodels' regression on a constant with clustered errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few clusters, and of no variance
        return OLS(np.array(values), np.ones(len(values))).fit(
            cov_type="cluster",
            cov_kwds={"groups": np.array(clusters), "use_correction": True},
            use_t=True,
        )


@given(DOCUMENTS)
def test_a_difference_is_that_of_a_regression_with_clustered_errors(documents):
    a, b, clusters = zip(*documents)
    found = paired(a, b, clusters)
    fitted = regression([x - y for x, y in zip(a, b)], clusters)
    assert found.value == pytest.approx(fitted.params[0], abs=1e-12)
    assert found.standard_error == pytest.approx(fitted.bse[0], abs=1e-9)
    assert (found.low, found.high) == pytest.approx(fitted.conf_int()[0], abs=1e-7)
    assert found.clusters == len({*clusters})
    assume(found.standard_error > 1e-6)  # below, statsmodels divides roundings
    assert found.p_value == pytest.approx(fitted.pvalues[0], abs=1e-6)


@given(DOCUMENTS)
def test_a_mean_is_that_of_a_regression_with_clustered_errors(documents):
    values, _, clusters = zip(*documents)
    found, fitted = mean_interval(values, clusters), regression(values, clusters)
    assert found.value == pytest.approx(fitted.params[0], abs=1e-12)
    assert found.standard_error == pytest.approx(fitted.bse[0], abs=1e-9)
    assert (found.low, found.high) == pytest.approx(fitted.conf_int()[0], abs=1e-7)


def test_documents_that_stand_alone_give_the_ordinary_paired_test():
    a, b = [1, 0, 1, 1, 0.5, 1, 0, 1], [0, 0, 1, 0, 0.25, 1, 1, 0]
    found, ordinary = paired(a, b, range(8)), ttest_rel(a, b)
    assert found.p_value == pytest.approx(ordinary.pvalue)
    interval = ordinary.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_an_error_that_ignores_clusters_is_too_small():
    """As in ToT semantic: 560 questions, each asked in five orders."""
    draw = random.Random(7)
    clusters = [question for question in range(560) for _ in range(5)]
    chance = [draw.random() for _ in range(560)]
    values = [float(draw.random() < chance[question]) for question in clusters]
    clustered = mean_interval(values, clusters).standard_error
    assert clustered > 1.4 * mean_interval(values, range(2800)).standard_error


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_nothing(documents, draw):
    shuffled = documents.copy()
    draw.shuffle(shuffled)
    assert paired(*zip(*documents)) == paired(*zip(*shuffled))


@given(DOCUMENTS)
def test_two_runs_the_other_way_round_give_the_mirror_image(documents):
    a, b, clusters = zip(*documents)
    there, back = paired(a, b, clusters), paired(b, a, clusters)
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)
    assert there.standard_error == back.standard_error
    assert there.p_value == back.p_value


@given(DOCUMENTS)
def test_a_run_does_not_differ_from_itself(documents):
    a, _, clusters = zip(*documents)
    assert paired(a, a, clusters) == (0, 0, 0, 0, len({*clusters}), 1)


@pytest.mark.parametrize(
    ("a", "b", "clusters", "expected"),
    [
        pytest.param([1], [0], "x", (1, None, None, None, 1, 1), id="one document"),
        pytest.param(
            [1, 0], [0, 0], "xx", (0.5, None, None, None, 1, 1), id="one text"
        ),
        # The sign test: 2 of 2 ** 3 ways have all signs equal.
        pytest.param([1] * 3, [0] * 3, "xyz", (1, 0, 1, 1, 3, 0.25), id="all differ"),
        pytest.param([1] * 3, [0] * 3, "xxy", (1, 0, 1, 1, 2, 0.5), id="in two texts"),
        pytest.param([1, 0], [0, 1], "xx", (0, None, None, None, 1, 1), id="no sides"),
    ],
)
def test_without_variance_to_test_against_there_is_still_a_number(
    a, b, clusters, expected
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paired(a, b, clusters) == expected


def test_rounding_of_scores_is_no_variance():
    found = paired([0.3, 0.4, 0.8] * 9, [0.2, 0.3, 0.7] * 9, range(27))
    assert (found.standard_error, found.low) == (0, found.high)
    assert found.p_value == 2**-26


@pytest.mark.parametrize("only_a", range(0, 40, 3))
@pytest.mark.parametrize("only_b", [0, 1, 2, 11, 400])
def test_mcnemar_is_that_of_statsmodels_and_the_binomial_test(only_a, only_b):
    found = mcnemar_exact(only_a, only_b)
    table = [[3, only_a], [only_b, 5]]
    assert found == pytest.approx(mcnemar(table, exact=True).pvalue)
    if only_a + only_b:
        fair = binomtest(only_a, only_a + only_b, 0.5).pvalue
        assert found == pytest.approx(fair)


@pytest.mark.parametrize(
    "p_values",
    [
        [0.04],
        [0.01, 0.04, 0.03, 0.005, 1.0, 0.5, 0.04, 0.0],
        [x**4 for x in np.random.default_rng(13).random(72)],
    ],
    ids=len,
)
def test_holm_is_that_of_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected))


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_corrects_upwards_and_keeps_the_order(p_values):
    corrected = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, corrected))
    pairs = sorted(zip(p_values, corrected))
    assert [q for _, q in pairs] == sorted(corrected)


def test_holm_of_no_test_is_empty():
    assert holm([]) == []


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 100, 300, 560, 1850, 46480])
def test_the_smallest_difference_is_that_of_statsmodels_for_the_t_test(n):
    deviations = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    found = smallest_difference(1 / math.sqrt(n), n)
    assert found == pytest.approx(deviations, rel=1e-4)


@pytest.mark.parametrize("error", [None, 0.0])
def test_what_does_not_vary_tells_no_smallest_difference(error):
    assert smallest_difference(error, 300) is None


def test_a_difference_of_the_smallest_size_is_found_four_times_in_five():
    draw = np.random.default_rng(11)
    documents, error = 40, 1 / math.sqrt(40)
    truth = smallest_difference(error, documents)
    samples = draw.normal(truth, 1, (2000, documents))
    found = [paired(x, [0] * documents, range(documents)) for x in samples.tolist()]
    assert np.mean([x.p_value < 0.05 for x in found]) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("task", "first", "second", "share"),
    [
        # The same question of the same facts in another order, and another question.
        ("tot_semantic", {"question": "Q", "prompt": "x y"}, {"prompt": "y x"}, True),
        ("tot_semantic", {"question": "Q", "prompt": "x y"}, {"question": "R"}, False),
        ("timebench_mctaco", {"context": "It rained.", "question": "Q"}, {}, True),
        (
            "timebench_mctaco",
            {"context": "C", "question": "Q"},
            {"question": "R"},
            True,
        ),
        (
            "timebench_mctaco",
            {"context": "C", "question": "Q"},
            {"context": "D"},
            False,
        ),
        ("timebench_tracie", {"premise": "P", "label": "x"}, {"label": "y"}, True),
        # Dialogues of TCP end in the same questions.
        ("tcp_long", {"dialogue": ["D"], "question": "Q"}, {"dialogue": ["E"]}, False),
        ("timebench_date_arithmetic", {"question": "Q"}, {"question": "R"}, False),
        ("timebench_date_arithmetic", {"question": "Q", "context": ""}, {}, True),
    ],
)
def test_documents_that_share_a_text_or_a_question_are_a_cluster(
    task, first, second, share
):
    assert (cluster(task, first) == cluster(task, first | second)) is share


@pytest.mark.parametrize(
    ("task", "documents", "clusters"),
    [  # counted in the files' own columns
        ("timebench_tempreason_l2", 500, 208),
        ("timebench_tempreason_l2_facts", 500, 208),
        ("timebench_menatqa_scope", 500, 380),
        ("timebench_durationqa", 687, 293),
        ("timebench_tracie", 500, 253),
        ("timebench_timedial", 500, 500),
        ("timebench_date_arithmetic", 500, 500),
        ("timebench_situatedgen", 115, 115),
        ("tot_arithmetic", 1850, 1848),
    ],
)
def test_the_clusters_of_the_benchmark_are_its_texts(task, documents, clusters, shared):
    (path,) = shared.glob(f"*/{scorer(task).file}.jsonl")
    rows = datasets.Dataset.from_list(read_jsonl(path))
    names = [cluster(task, doc) for doc in scorer(task).process_docs(rows)]
    assert (len(names), len({*names})) == (documents, clusters)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_of_the_pack_has_its_clusters(task, offline_tasks):
    documents = list(offline_tasks[task].eval_docs)
    assert 1 < len({cluster(task, doc) for doc in documents}) <= len(documents)
