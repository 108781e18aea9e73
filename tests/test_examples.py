"""The recorded responses get exactly the scores that are written beside them."""

import json

import pytest

from tests.conftest import EXAMPLES


RESPONSES = [
    (path.stem, number, json.loads(line))
    for path in sorted((EXAMPLES / "responses").glob("*.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
]


@pytest.mark.parametrize(
    "name, recorded",
    [
        pytest.param(name, recorded, id=f"{name}:{number}")
        for name, number, recorded in RESPONSES
    ],
)
def test_recorded_response_scores_as_written(offline_tasks, name, recorded):
    task = offline_tasks[name]
    doc = task.test_docs()[recorded["doc_id"]]
    scores = task.process_results(doc, [recorded["response"]])
    expected = {key: recorded[key] for key in scores if key in recorded}
    assert {key: round(scores[key], 4) for key in expected} == expected, recorded["why"]
    assert {"score_flexible", "acc_flexible", "extracted"} & set(expected)


@pytest.mark.parametrize("name", sorted({name for name, _, _ in RESPONSES}))
def test_every_offline_document_has_a_recorded_response(offline_tasks, name):
    answered = {recorded["doc_id"] for other, _, recorded in RESPONSES if other == name}
    assert answered == set(range(len(offline_tasks[name].test_docs())))
