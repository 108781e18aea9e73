"""Answers as chat and reasoning models spell them get the flexible score they should."""

import datasets
import pytest

from tests.corpus import FAMILIES, headlines, read_jsonl
from utils.core.families import scorer


LEAST = 0.90  # of the answers get their score; what is left is refused, never credited


@pytest.fixture(scope="module", params=FAMILIES)
def spelled(request, shared) -> list[tuple[dict, dict]]:
    """The answers of a family, each with its document."""
    path = shared / "spellings" / f"{request.param}.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    answers = read_jsonl(path)
    if request.param == "tcp":
        return [(answer, tcp_document(answer)) for answer in answers]
    folder, found = shared / request.param, {}
    for answer in answers:
        key = answer["task"], answer["file"]
        if key not in found:
            rows = datasets.Dataset.from_list(read_jsonl(folder / answer["file"]))
            found[key] = list(scorer(answer["task"]).process_docs(rows))
    documents = [found[answer["task"], answer["file"]] for answer in answers]
    return [
        (answer, rows[answer["row"]])
        for answer, rows in zip(answers, documents, strict=True)
    ]


def tcp_document(answer: dict) -> dict:
    short = answer["task"] == "tcp_short"
    answer_format = "YYYY-MM-DD HH:MM GMT" if short else "YYYY-MM-DD"
    return {"answer": answer["answer"], "answer_format": answer_format}


def test_spellings_get_their_score_and_none_gets_more(spelled):
    right, refused, credited = 0, [], []
    for answer, doc in spelled:
        scores = headlines(answer["task"], doc, answer["response"])
        found = scores.get("flexible", scores.get("keywords"))
        difference = round(found, 4) - answer["flexible"]
        right += difference == 0
        if difference:
            said = answer["task"], answer["spelling"], answer["response"][-120:]
            (credited if difference > 0 else refused).append(said)
    assert not credited, credited
    assert right / len(spelled) >= LEAST, (right, len(spelled), refused)
