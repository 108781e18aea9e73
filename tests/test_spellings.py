"""Answers as chat and reasoning models spell them get the flexible score they should."""

import pytest

from tests.corpus import FAMILIES, headlines, spellings


LEAST = 0.90  # of the answers get their score; what is left is refused, never credited


@pytest.fixture(scope="module", params=FAMILIES)
def spelled(request, shared) -> list[tuple[dict, dict]]:
    """The answers of a family, each with its document."""
    path = shared / "spellings" / f"{request.param}.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return spellings(request.param, shared)


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
