"""The statistics are those of statsmodels, of a bootstrap, and of simulations."""

from itertools import combinations

import datasets
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest, t
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from tests import coverage
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.runs.answers import read_answers
from utils.runs.scoring import score
from utils.stats import detectable, difference, holm, score_interval, spread


SCORE = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
DOCUMENT = st.tuples(SCORE, SCORE, st.integers(0, 12))
DOCUMENTS = st.lists(DOCUMENT, min_size=1, max_size=60)


def of_statsmodels(a, b, clusters) -> tuple[float, float]:
    """Return mean and clustered error of b - a with one cluster more at either end."""
    names = [*dict.fromkeys(clusters)]
    groups = [*map(names.index, clusters), len(names), len(names) + 1]
    weights = [1] * len(a) + [max(1, len(a) / len(names) / 2)] * 2
    model = WLS([*np.subtract(b, a), -1, 1], np.ones(len(groups)), weights)
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": groups})
    return fitted.params[0], fitted.bse[0]


@settings(max_examples=25)
@given(DOCUMENTS)
def test_a_difference_is_that_of_statsmodels_and_within_bounds(documents):
    a, b, clusters = zip(*documents)
    found, back = difference(a, b, clusters), difference(b, a, clusters)
    mean, error = of_statsmodels(a, b, clusters)
    assert found.spread[:2] == pytest.approx((mean, error), abs=1e-9)
    assert found.value == pytest.approx(np.mean(np.subtract(b, a)), abs=1e-9)
    expected = 2 * t.sf(abs(mean) / error, found.spread.freedom)
    assert found.p_value == pytest.approx(expected, abs=1e-9)
    assert -1 <= found.low < found.high <= 1
    assert (found.low > 0 or found.high < 0) == (found.p_value < 0.05)
    assert back[:3] == pytest.approx((-found.value, -found.high, -found.low))
    low, high = score_interval(a, clusters)
    assert 0 <= low <= np.mean(a) + 1e-9 and np.mean(a) - 1e-9 <= high <= 1
    assert high - low > 0.01


def test_differences_of_real_runs_are_those_of_statsmodels_and_a_bootstrap(shared):
    """Five pairs of models on ToT arithmetic, resampled by template."""
    runs = []
    for path in sorted((shared / "responses").glob("*.jsonl")):
        scored = {x.digest: x for x in map(score, read_answers(path, "tot_arithmetic"))}
        runs.append([scored[digest] for digest in sorted(scored)])
    cluster = scorer("tot_arithmetic").utils.cluster
    names = np.unique([cluster(x.doc) for x in runs[0]], return_inverse=True)[1]
    sizes, rng = np.bincount(names), np.random.default_rng(1)
    for runs_of_pair in [*combinations(runs, 2)][:5]:
        a, b = (
            [x.verdict.scores["accuracy_flexible"] for x in run] for run in runs_of_pair
        )
        found = difference(a, b, names)
        assert found.spread[:2] == pytest.approx(of_statsmodels(a, b, [*names]))
        sums = np.bincount(names, np.subtract(b, a))
        drawn = rng.integers(len(sizes), size=(4000, len(sizes)))
        means = sums[drawn].sum(1) / sizes[drawn].sum(1)
        assert found.spread.clusters == len(sizes) == 195
        assert found.spread.error == pytest.approx(means.std(), rel=0.06)
        expected = np.quantile(means, (0.025, 0.975))
        assert (found.low, found.high) == pytest.approx(expected, abs=0.008)


@pytest.mark.parametrize(
    ("a", "b", "n"),
    [(0, 0, 8), (5, 0, 8), (6, 0, 8), (8, 0, 8), (5, 0, 300), (6, 0, 300), (8, 1, 300)]
    + [(9, 2, 300), (10, 2, 300), (12, 4, 300), (13, 4, 300), (60, 90, 900)],
)
def test_single_documents_are_told_apart_as_by_the_exact_test(a, b, n):
    of_a, of_b = [1] * a + [0] * (n - a), [0] * a + [1] * b + [0] * (n - a - b)
    exact = binomtest(a, a + b).pvalue if a + b else 1
    assert (difference(of_a, of_b, range(n)).p_value < 0.05) == (exact < 0.05)


@pytest.mark.parametrize("right", [0, 1, 150, 285, 300])
def test_a_score_of_single_documents_has_the_interval_of_wilson(right):
    found = score_interval([1] * right + [0] * (300 - right), range(300))
    wilson = proportion_confint(right, 300, method="wilson")
    assert found == pytest.approx(wilson, abs=0.006)


def test_documents_of_one_cluster_count_as_one():
    """Six copies of each of 40 answers tell no more than the 40."""
    scores = [0.0] * 11 + [0.5] * 4 + [1.0] * 25
    once = score_interval(scores, range(40))
    found = score_interval(scores * 6, [*range(40)] * 6)
    assert found == pytest.approx(once, abs=0.003)
    assert score_interval(scores * 6, range(240))[0] > once[0] + 0.05


def test_two_clusters_with_most_of_the_variance_have_few_degrees_of_freedom():
    values, groups = [1] * 50 + [0] * 50 + [0, 1] * 49, [0] * 50 + [1] * 50
    assert spread(values, [*groups, *range(2, 100)], (0, 1)).freedom == 10
    assert spread(values, range(198), (0, 1)).freedom == 199


@pytest.mark.parametrize(
    "kind", [coverage.ALONE, coverage.TEMPLATES, coverage.CONTEXTS]
)
def test_intervals_hold_the_truth_and_equal_models_are_not_told_apart(shared, kind):
    """Drawn 200 times, where tests/coverage.py draws thousands; so with three errors."""
    times, error = 200, 3 * (0.05 * 0.95 / 200) ** 0.5
    for n, mean in ((50, 0.97), (300, 0.5), (300, 0.05)):
        held = coverage.covered(kind, n, mean, shared, times)
        assert 0.95 - error <= held <= 1 - (mean == 0.5) * 0.005, (n, mean)
    for n, share in ((50, 0.3), (300, 0.1)):
        assert coverage.rejected(kind, n, share, shared, times) <= 0.05 + error


@pytest.mark.parametrize(("tests", "share"), [(1, 0.4), (12, 0.4)])
def test_the_detectable_difference_is_shown_four_times_in_five(tests, share):
    """Of 400 documents in 100 clusters, in a share of which the runs differ."""
    rng = np.random.default_rng(4)
    groups = np.arange(400) % 100

    def drawn(value: float) -> np.ndarray:
        signs = np.where(rng.random(100) < (1 + value / share) / 2, 1, -1)
        return (signs * (rng.random(100) < share))[groups]

    seen = [detectable(spread(drawn(0), groups, (-1, 1)), tests) for _ in range(50)]
    true, none = np.median(seen), np.zeros(400)
    found = [difference(none, drawn(true), groups).p_value for _ in range(400)]
    assert 0.76 < np.mean(np.multiply(found, tests) < 0.05) < 0.9


@pytest.mark.parametrize("p_values", [[], [0.01, 0.04, 0.03, 0.005, 1, 0.5, 0.04, 0]])
def test_holm_is_that_of_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1] if p_values else []
    assert holm(p_values) == pytest.approx([*expected])


SEMANTIC, PLAIN = "tot_semantic", "timebench_date_arithmetic"
MCTACO, TRACIE = "timebench_mctaco", "timebench_tracie"
ARITHMETIC, DIALOGUE = "tot_arithmetic", "timebench_timedial"
START, MASK = (
    "A: Will you be back before the shop in the old town shuts tonight?",
    "B: <MASK>",
)
SPAN = "was hiking at 10:05 AM for 1 hour. Until when in UTC?"
OTHER_SPAN = "was reading on May 7, 2001 for 2 hours. Until when in PST?"
AGE = "was born on May 7, 2001. How old is she?"


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
        (PLAIN, {"golds": ["x"]}, {"golds": ["y"]}, False),
        # One dialogue with a mask in another place, and another one.
        (
            DIALOGUE,
            {"context": f"{START} <MASK>."},
            {"context": f"{START} 2 {MASK}"},
            True,
        ),
        (DIALOGUE, {"context": f"A: {START} <MASK>."}, {"context": MASK}, False),
        # A template of ToT arithmetic, filled in otherwise, and another one.
        (
            ARITHMETIC,
            {"question": f"Ann {SPAN}"},
            {"question": f"Bob {OTHER_SPAN}"},
            True,
        ),
        (ARITHMETIC, {"question": f"Ann {SPAN}"}, {"question": f"Ann {AGE}"}, False),
    ],
)
def test_documents_that_share_a_text_or_a_question_are_a_cluster(
    task, doc, changes, share
):
    cluster = scorer(task).utils.cluster
    assert (cluster(doc) == cluster(doc | changes)) is share


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
