"""Verdict files: what each score says of an answer in a shape that models produce.

`tests/cases/<family>/documents.jsonl` has one document a line: `id`, `task` and `doc`
(the fields that scoring reads). `tests/cases/<family>/<kind of trouble>.jsonl` has one
case a line: the `id` of its document, the sentence of the `rule` that decides it (a word
or two), `response`, `published` (`accuracy`, or TimeBench's `score`), `flexible`, other
metrics by their names where they matter, and `why`.
"""

import re

import pytest

from tests.conftest import PACK
from tests.corpus import FAMILIES, cases, documents, headlines


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.place)
        for family in FAMILIES
        for case in cases(family)
    ],
)
def test_verdict(case):
    found = headlines(case.task, case.doc, case.response)
    found = {name: round(found[name], 4) for name in case.expected}
    assert found == case.expected, case.why


@pytest.mark.parametrize("family", FAMILIES)
def test_every_document_has_a_case_and_no_two_are_the_same(family):
    found = list(documents(family).values())
    used = [(case.task, case.doc) for case in cases(family)]
    assert all(one in used for one in found)
    assert all(found.index(one) == place for place, one in enumerate(found))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_case_says_a_verdict_of_its_own(family):
    found = [(case.task, str(case.doc), case.response) for case in cases(family)]
    assert len(found) == len(set(found))
    assert all(case.expected and case.why and case.rule for case in cases(family))


def test_the_answer_statement_is_read_by_the_same_code_in_each_family():
    block = re.compile(r"# -+ the answer statement .*?(?=\n# --)", re.DOTALL)
    found = {
        block.search((PACK / name / "utils.py").read_text())[0] for name in FAMILIES
    }
    assert len(found) == 1
