"""`explain` says what both rules read, and the scores are what it says."""

from datetime import date, datetime

import pytest

from tests.corpus import FAMILIES, cases
from tests.documents import KINDS, LONG, MARKER
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


ONE_KEY = ("tot_arithmetic", {"question": "How many?", "label": "{'answer': 3}"})
TWO_KEYS = ("tot_arithmetic", {"question": "?", "label": "{'hours': 9, 'minutes': 2}"})
# Document, response with what each rule shows in marks: <published>, [flexible].
SHOWN = [
    (("tcp_long", LONG), "2012-11-05! \\boxed{ <[2012-11-05]> }"),
    (("tcp_long", LONG), "\\boxed{<a>} Sorry,\n\\boxed{[b]} Sorry,"),
    (KINDS["qa"], f"Bern\n{MARKER}\n <[Bern]>\n"),
    (KINDS["nli"], "[Neutral]"),
    (ONE_KEY, 'So: <{"answer": "x"}>\nThe answer is [3.]'),
    (ONE_KEY, '<[{"answer": 3}]> is right.'),
    (TWO_KEYS, "{[hours: 9, minutes: 2]"),
    (KINDS["tot_semantic"], '<[{"answer": "E59"}]>'),
]


@pytest.mark.parametrize(("kind", "marked"), SHOWN)
def test_what_each_rule_reads_is_shown_where_it_stands(kind, marked):
    task, doc = kind
    response = marked.translate(dict.fromkeys(map(ord, "<>[]")))
    spans = []
    for start, end, other in (("<", ">", "[]"), ("[", "]", "<>")):
        text = marked.translate(dict.fromkeys(map(ord, other)))
        bounds = text.find(start), text.find(end) - 1
        spans.append(bounds if start in text else None)
    verdict = scorer(task).explain(doc, response)
    assert [verdict.published_span, verdict.flexible_span] == spans
    shown = response[slice(*spans[1])] if spans[1] else None
    assert verdict.flexible == shown


def test_of_a_semantic_object_the_answer_is_shown():
    task, doc = KINDS["tot_semantic"]
    response = '{"explanation": "x", "answer": ["E59", "E57"]}'
    assert scorer(task).explain(doc, response).published == "['E59', 'E57']"


def test_scores_of_several_responses_are_their_mean():
    responses = ["\\boxed{2012-11-05}", "The answer is 2012-11-05.", "", ""]
    scores = scorer("tcp_long").process_results(LONG, responses)
    names = "accuracy", "accuracy_flexible", "extracted"
    assert [scores[name] for name in names] == [0.25, 0.5, 0.25]


def test_an_error_of_a_date_is_how_much_later_it_is_in_days_or_hours():
    error = scorer("tcp_long").utils.signed_error
    assert error(date(2012, 11, 3), date(2012, 11, 5)) == (-2.0, "days")
    noon = datetime(2012, 11, 5, 12)
    assert error(noon.replace(hour=13, minute=30), noon) == (1.5, "hours")


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_that_is_not_one_string_is_an_error_that_names_the_filter(kind):
    task, doc = KINDS[kind]
    for response in (["a", "b"], None, 5, b"x", {}):
        with pytest.raises(ValueError, match="take_first"):
            scorer(task).process_results(doc, [response])
