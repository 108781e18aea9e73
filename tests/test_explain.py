"""`explain` says what both rules read, and the scores are what it says."""

import pytest

from tests.corpus import FAMILIES, cases
from tests.documents import KINDS
from utils.core.families import scorer


@pytest.fixture(scope="module", params=FAMILIES)
def explained(request) -> list[tuple]:
    """(case, verdict) of every case of a family."""
    return [
        (case, scorer(case.task).explain(case.doc, case.response))
        for case in cases(request.param)
    ]


def test_scores_are_those_of_the_explanation(explained):
    for case, verdict in explained:
        found = scorer(case.task).process_results(case.doc, [case.response])
        assert found == verdict.scores, case.place
        assert list(found) == list(verdict.scores), case.place


def test_spans_show_what_was_read_where_it_stands(explained):
    for case, verdict in explained:
        for text, span in (
            (verdict.published, verdict.published_span),
            (verdict.flexible, verdict.flexible_span),
        ):
            assert (text is None) == (span is None), case.place
            if span:
                assert 0 <= span[0] <= span[1] <= len(case.response), case.place
        if verdict.flexible_span:
            start, end = verdict.flexible_span
            assert case.response[start:end] == verdict.flexible, case.place


def test_an_answer_was_extracted_where_one_is_shown(explained):
    for case, verdict in explained:
        extracted = verdict.scores["extracted"] == 1
        assert extracted == (verdict.published is not None), case.place


# reason -> what the scores may be, published and flexible
REASONS = {
    "right": lambda published, flexible: published == flexible == 1,
    "flexible_only": lambda published, flexible: published < flexible == 1,
    "superseded": lambda published, flexible: published == 1 > flexible,
    "partly_right": lambda published, flexible: published < 1 and 0 < flexible < 1,
    "other_value": lambda published, flexible: published < 1 and flexible == 0,
    "unreadable": lambda published, flexible: flexible == 0,
    "no_answer": lambda published, flexible: flexible == 0,
    "cut_off": lambda published, flexible: flexible == 0,
}


def test_the_reason_fits_the_scores(explained):
    for case, verdict in explained:
        assert verdict.reason in scorer(case.task).utils.REASONS, case.place
        if names := scorer(case.task).headline:
            scores = [verdict.scores[name] for name in names]
            assert REASONS[verdict.reason](*scores), (case.place, verdict)


def test_no_answer_means_that_the_flexible_rule_shows_none(explained):
    for case, verdict in explained:
        if verdict.reason == "no_answer":
            assert verdict.flexible is None, case.place
        if verdict.reason in ("no_answer", "cut_off", "unreadable"):
            assert verdict.value is None, case.place


def test_every_reason_has_a_case(explained):
    utils = scorer(explained[0][0].task).utils
    assert {verdict.reason for _, verdict in explained} == set(utils.REASONS)


def test_families_explain_themselves_in_the_same_words():
    tasks = ("tcp_long", "tot_arithmetic", "timebench_mctaco")
    words = [list(scorer(task).utils.REASONS) for task in tasks]
    assert all(set(some) <= set(REASONS) for some in words)
    assert all(some == [x for x in REASONS if x in some] for some in words)
    assert set().union(*words) == set(REASONS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("results", [[["a", "b"]], [None], [5], [b"x"], [{}]])
def test_a_response_that_is_not_one_string_is_an_error_that_names_the_filter(
    kind, results
):
    task, doc = KINDS[kind]
    with pytest.raises(ValueError, match="take_first"):
        scorer(task).process_results(doc, results)
