"""The offline pack in `examples/`, and its recorded responses with the scores they get."""

import re
from itertools import product

import pytest

from tests.conftest import EXAMPLES
from tests.corpus import echoes, headlines, read_jsonl
from tests.examples import files
from utils.core.task_scorers import prompt, scorer


RECORDED = {
    (path.parent.name, path.stem): read_jsonl(path)
    for path in sorted((EXAMPLES / "responses").glob("*/*.jsonl"))
}
MODELS, TASKS = ("careful", "hasty", "plain"), sorted({task for _, task in RECORDED})


def test_the_examples_are_what_the_tool_makes_of_their_data(tmp_path):
    for name, content in files(tmp_path).items():
        stale = f"{name} is stale: run python -m tests.examples"
        assert (EXAMPLES / name).read_bytes() == content, stale


@pytest.mark.parametrize(("model", "name"), [*product(MODELS, TASKS)])
def test_every_document_has_a_recorded_response_with_its_scores(
    offline_tasks, model, name
):
    documents, lines = offline_tasks[name].test_docs(), RECORDED[model, name]
    assert [line["doc_id"] for line in lines] == list(range(len(documents)))
    assert {line["task"] for line in lines} == {name}
    for line in lines:
        document, response = documents[line["doc_id"]], line["response"]
        # One of the models writes neither JSON nor boxes.
        assert model != "plain" or not re.search(r"[{]|\\boxed", response)
        scores = offline_tasks[name].process_results(document, [response])
        scores = {x: round(score, 4) for x, score in scores.items() if x in line}
        assert scores == {x: line[x] for x in scores}, line["why"]
        assert {*scorer(name).headline.values(), "extracted"} & {*scores}


@pytest.mark.parametrize("name", [name for name in TASKS if scorer(name).headline])
def test_who_only_repeats_the_prompt_has_no_answer(offline_tasks, name):
    for document in offline_tasks[name].test_docs():
        for echo in echoes(prompt(name, document)):
            assert headlines(name, document, echo)["flexible"] == 0, echo
