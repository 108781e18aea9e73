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


def test_three_models_answer_the_same_tasks_one_without_boxes_and_json():
    models = ("careful", "hasty", "plain")
    assert {*RECORDED} == {(model, task) for model in models for task in TASKS}
    plain = [x["response"] for task in TASKS for x in RECORDED["plain", task]]
    assert not [x for x in plain if "{" in x or "\\boxed" in x]


@pytest.mark.parametrize(("model", "name"), RECORDED)
def test_every_document_has_a_recorded_response_with_its_scores(
    offline_tasks, model, name
):
    documents, lines = offline_tasks[name].test_docs(), RECORDED[model, name]
    assert [line["doc_id"] for line in lines] == list(range(len(documents)))
    assert {line["task"] for line in lines} == {name}
    for line in lines:
        document = documents[line["doc_id"]]
        scores = offline_tasks[name].process_results(document, [line["response"]])
        scores = {x: round(score, 4) for x, score in scores.items() if x in line}
        assert scores == {x: line[x] for x in scores}, line["why"]
        assert {*(scorer(name).headline or ()), "extracted"} & {*scores}


@pytest.mark.parametrize("name", [name for name in TASKS if scorer(name).headline])
def test_who_only_repeats_the_prompt_has_no_answer(offline_tasks, name):
    for document in offline_tasks[name].test_docs():
        for echo in echoes(prompt(name, document)):
            assert headlines(name, document, echo)["flexible"] == 0, echo
