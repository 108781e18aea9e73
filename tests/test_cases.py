"""Verdict files: what each score says of an answer in a shape that models produce.

`tests/cases/<family>/documents.jsonl` has one document a line: `id`, `task` and `doc`
(the fields that scoring reads). `tests/cases/<family>/<kind of trouble>.jsonl` has one
case a line: the `id` of its document, the sentence of the `rule` that decides it (a word
or two), `response`, `published` (`accuracy`, or TimeBench's `score`), `flexible`, other
metrics by their names where they matter (null: the answer has none), and `why`.
"""

import pytest

from tests.corpus import (
    FAMILIES,
    cases,
    documents,
    headlines,
    score,
    scores_of,
    spellings,
)


CASES = [case for family in FAMILIES for case in cases(family)]
LEAST_SHARE = 0.90  # of spelled answers get their score; the others are refused


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_verdict(case):
    scores = score(case.task, case.doc, case.response)
    assert all(type(x) is float for x in scores.values())
    assert scores_of(case, scores) == case.expected, case.why


def test_every_document_has_a_case_and_every_case_a_verdict_of_its_own():
    pairs = [pair for family in FAMILIES for pair in documents(family).values()]
    used = [(case.task, case.doc) for case in CASES]
    assert all(pair in used for pair in pairs)
    assert len({*map(str, pairs)}) == len(pairs)
    assert len({str(case[1:4]) for case in CASES}) == len(CASES)
    assert all(case.expected and case.why and case.rule for case in CASES)


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_as_models_spell_them_get_their_score_and_none_gets_more(
    family, shared
):
    answers, right = spellings(family, shared), 0
    for answer, document in answers:
        scores = headlines(answer["task"], document, answer["response"])
        score = round(scores.get("flexible", scores.get("keywords")), 4)
        assert score <= answer["flexible"], answer
        right += score == answer["flexible"]
    assert right / len(answers) >= LEAST_SHARE
