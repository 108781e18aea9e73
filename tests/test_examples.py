"""The offline pack's recorded responses: one a document, with the scores it gets.

They let a run over `examples/` end in figures other than 0 (`RecordedModel` in
test_harness.py). Responses that are there for their verdicts are in `tests/cases`.
"""

import pytest

from tests.conftest import EXAMPLES
from tests.corpus import echoes, headlines, read_jsonl
from utils.families import prompt, scorer


RECORDED = {
    path.stem: read_jsonl(path)
    for path in sorted((EXAMPLES / "responses").glob("*.jsonl"))
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_offline_document_has_one_recorded_response(offline_tasks, name):
    answered = [recorded["doc_id"] for recorded in RECORDED[name]]
    assert answered == list(range(len(offline_tasks[name].test_docs())))
    assert {recorded["task"] for recorded in RECORDED[name]} == {name}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_responses_score_as_written(offline_tasks, name):
    task = offline_tasks[name]
    docs = task.test_docs()
    for recorded in RECORDED[name]:
        doc = docs[recorded["doc_id"]]
        scores = task.process_results(doc, [recorded["response"]])
        expected = {key: recorded[key] for key in scores if key in recorded}
        found = {key: round(scores[key], 4) for key in expected}
        assert found == expected, recorded["why"]
        assert {"score_flexible", "accuracy_flexible", "keywords"} & set(expected)


@pytest.mark.parametrize("name", [name for name in RECORDED if scorer(name).headline])
def test_who_only_repeats_the_prompt_has_no_answer(offline_tasks, name):
    for doc in offline_tasks[name].test_docs():
        for echo in echoes(prompt(name, doc)):
            assert headlines(name, doc, echo)["flexible"] == 0, echo
