"""The statistics are those of statsmodels and scipy, and hold where these give no number."""

import warnings

import datasets
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

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
DOCUMENT = st.tuples(SCORE, SCORE, st.integers(0, 12))
DOCUMENTS = st.lists(DOCUMENT, min_size=1, max_size=60)


def by_hand(values: list[float], clusters: list) -> tuple[float, float]:
    """Return the mean, and its error from the sums of clusters about it."""
    mean, groups = np.mean(values), {*clusters}
    sums = [sum(x - mean for x, y in zip(values, clusters) if y == g) for g in groups]
    correction = len(groups) / (len(groups) - 1)
    return mean, np.sqrt(correction * np.square(sums).sum()) / len(values)


@settings(max_examples=20)
@given(DOCUMENTS.filter(lambda x: len({name for *_, name in x}) > 1))
def test_the_error_is_clustered_and_corrected_for_few_clusters(documents):
    a, b, clusters = zip(*documents)
    found = paired(a, b, clusters)
    mean, error = by_hand(np.subtract(a, b), clusters)
    assert found.value == pytest.approx(mean, abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-11)
    assert found.clusters == len({*clusters})


SURE = (None, None, None)  # no error, and no bounds


@pytest.mark.parametrize(
    ("differences", "clusters", "expected"),
    [
        pytest.param([1], "x", (1, *SURE, 1, 1), id="one document"),
        pytest.param([1, 0], "xx", (0.5, *SURE, 1, 1), id="one text"),
        pytest.param([1, -1], "xx", (0, *SURE, 1, 1), id="no sides"),
        pytest.param([0, 0, 0], "xyz", (0, 0, 0, 0, 3, 1), id="the same run"),
        # The sign test: 2 of 2 ** 3 ways have all signs equal.
        pytest.param([1] * 3, "xyz", (1, 0, 1, 1, 3, 0.25), id="all differ"),
        pytest.param([1] * 3, "xxy", (1, 0, 1, 1, 2, 0.5), id="in two texts"),
    ],
)
def test_without_variance_to_test_against_there_is_still_a_number(
    differences, clusters, expected
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean_interval(differences, clusters) == expected


def test_rounding_of_scores_is_no_variance():
    found = paired([0.3, 0.4, 0.8] * 9, [0.2, 0.3, 0.7] * 9, range(27))
    assert (found.standard_error, found.low) == (0, found.high)
    assert found.p_value == 2**-26


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (3, 0), (12, 11), (1, 400)])
def test_mcnemar_is_the_binomial_test(only_a, only_b):
    n = only_a + only_b
    expected = binomtest(only_a, n, 0.5).pvalue if n else 1
    assert mcnemar_exact(only_a, only_b) == pytest.approx(expected)


@pytest.mark.parametrize("p_values", [[], [0.01, 0.04, 0.03, 0.005, 1, 0.5, 0.04, 0]])
def test_holm_is_that_of_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1] if p_values else []
    assert holm(p_values) == pytest.approx([*expected])


@pytest.mark.parametrize("n", [2, 3, 10, 300, 46480])
def test_the_smallest_difference_is_that_of_the_two_sided_t_test(n):
    deviations = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    found = smallest_difference(n**-0.5, n)
    assert found == pytest.approx(deviations, rel=1e-4)
    assert smallest_difference(None, n) is smallest_difference(0.0, n) is None


SEMANTIC, PLAIN = "tot_semantic", "timebench_date_arithmetic"
MCTACO, TRACIE = "timebench_mctaco", "timebench_tracie"


@pytest.mark.parametrize(
    ("task", "doc", "changes", "share"),
    [
        # The same question of the same facts in another order, and another question.
        (SEMANTIC, {"question": "Q", "prompt": "x y"}, {"prompt": "y x"}, True),
        (SEMANTIC, {"question": "Q", "prompt": "x y"}, {"question": "R"}, False),
        (MCTACO, {"context": "C", "question": "Q"}, {"question": "R"}, True),
        (MCTACO, {"context": "C", "question": "Q"}, {"context": "D"}, False),
        (TRACIE, {"premise": "P", "label": "x"}, {"label": "y"}, True),
        # Dialogues of TCP end in the same questions.
        ("tcp_long", {"dialogue": ["D"], "question": "Q"}, {"dialogue": ["E"]}, False),
        (PLAIN, {"question": "Q", "context": ""}, {"question": "R"}, False),
    ],
)
def test_documents_that_share_a_text_or_a_question_are_a_cluster(
    task, doc, changes, share
):
    assert (cluster(task, doc) == cluster(task, doc | changes)) is share


@pytest.mark.parametrize(
    ("task", "documents", "clusters"),
    [  # counted in the files' own columns
        ("timebench_tempreason_l2", 500, 208),
        ("timebench_menatqa_scope", 500, 380),
        ("timebench_durationqa", 687, 293),
        ("timebench_tracie", 500, 253),
        ("timebench_timedial", 500, 500),
        ("timebench_situatedgen", 115, 115),
        ("tot_arithmetic", 1850, 1848),
    ],
)
def test_the_clusters_of_the_benchmark_are_its_texts(task, documents, clusters, shared):
    (path,) = shared.glob(f"*/{scorer(task).file}.jsonl")
    rows = datasets.Dataset.from_list(read_jsonl(path))
    names = [cluster(task, doc) for doc in scorer(task).process_docs(rows)]
    assert (len(names), len({*names})) == (documents, clusters)
