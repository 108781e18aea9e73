"""The offline pack in `examples/`, and its recorded responses with the scores they get.

They let a run over it end in figures other than 0. Responses that are there for their
verdicts are in `tests/cases`.
"""

import pytest

from tests.conftest import EXAMPLES
from tests.corpus import echoes, headlines, read_jsonl
from tests.examples import files
from utils.core.families import prompt, scorer


RECORDED = {
    (path.parent.name, path.stem): read_jsonl(path)
    for path in sorted((EXAMPLES / "responses").glob("*/*.jsonl"))
}
TASKS = sorted({task for _, task in RECORDED})


def test_the_examples_are_what_the_tool_makes_of_their_data(tmp_path):
    for name, content in files(tmp_path).items():
        stale = f"{name} is stale: run python -m tests.examples"
        assert (EXAMPLES / name).read_bytes() == content, stale


def test_three_models_answer_the_same_tasks():
    assert {*RECORDED} == {
        (model, task) for model in ("careful", "hasty", "plain") for task in TASKS
    }


def test_the_plain_model_writes_neither_boxes_nor_json():
    lines = (x for (model, _), x in RECORDED.items() if model == "plain")
    answers = [recorded["response"] for found in lines for recorded in found]
    assert not [x for x in answers if "{" in x or "\\boxed" in x]


@pytest.mark.parametrize(("model", "name"), RECORDED)
def test_every_offline_document_has_one_recorded_response(offline_tasks, model, name):
    found = RECORDED[model, name]
    answered = [recorded["doc_id"] for recorded in found]
    assert answered == list(range(len(offline_tasks[name].test_docs())))
    assert {recorded["task"] for recorded in found} == {name}


@pytest.mark.parametrize(("model", "name"), RECORDED)
def test_recorded_responses_score_as_written(offline_tasks, model, name):
    task = offline_tasks[name]
    docs = task.test_docs()
    for recorded in RECORDED[model, name]:
        doc = docs[recorded["doc_id"]]
        scores = task.process_results(doc, [recorded["response"]])
        expected = {key: recorded[key] for key in scores if key in recorded}
        found = {key: round(scores[key], 4) for key in expected}
        assert found == expected, recorded["why"]
        assert {*(scorer(name).headline or ()), "extracted"} & {*expected}


@pytest.mark.parametrize("name", [name for name in TASKS if scorer(name).headline])
def test_who_only_repeats_the_prompt_has_no_answer(offline_tasks, name):
    for doc in offline_tasks[name].test_docs():
        for echo in echoes(prompt(name, doc)):
            assert headlines(name, doc, echo)["flexible"] == 0, echo
