"""`explain` says what both rules read, and the scores are what it says."""

import pytest

from tests.corpus import FAMILIES, cases
from tests.documents import KINDS
from utils.core.task_scorers import scorer


@pytest.fixture(scope="module", params=FAMILIES)
def explained(request) -> list[tuple]:
    """(case, verdict) of every case of a family."""
    return [
        (case, scorer(case.task).explain(case.doc, case.response))
        for case in cases(request.param)
    ]


# reason -> what the scores may be, published and flexible; a family may have others
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


def test_scores_reason_and_spans_are_those_of_the_explanation(explained):
    words = list(scorer(explained[0][0].task).utils.REASONS)
    known_words = [word for word in words if word in REASONS]
    assert known_words == [word for word in REASONS if word in words]  # in one order
    assert {verdict.reason for _, verdict in explained} == {*words}
    for case, verdict in explained:
        scores = scorer(case.task).process_results(case.doc, [case.response])
        assert [*scores.items()] == [*verdict.scores.items()], case.place
        assert (scores["extracted"] == 1) == (verdict.published is not None), case.place
        names = scorer(case.task).headline
        if names and verdict.reason in REASONS:
            headlines = [scores[name] for name in names.values()]
            assert REASONS[verdict.reason](*headlines), case.place
        assert case.reason in ("", verdict.reason), case.place
        if verdict.reason in ("no_answer", "cut_off", "unreadable"):
            assert verdict.value is None, case.place
        assert verdict.reason != "no_answer" or verdict.flexible is None, case.place
        for extracted, span in (verdict[2:4], verdict[4:6]):
            assert (extracted is None) == (span is None), case.place
            if span:
                assert 0 <= span[0] <= span[1] <= len(case.response), case.place
        if span := verdict.flexible_span:
            assert case.response[slice(*span)] == verdict.flexible, case.place


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_that_is_not_one_string_is_an_error_that_names_the_filter(kind):
    task, doc = KINDS[kind]
    for response in (["a", "b"], None, 5, b"x", {}):
        with pytest.raises(ValueError, match="take_first"):
            scorer(task).process_results(doc, [response])
