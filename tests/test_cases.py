"""Verdict files: what each score says of an answer in a shape that models produce.

`tests/cases/<family>/<kind of trouble>.jsonl`, one case a line: `task`, `doc` (the
fields that scoring needs), `response`, `published` (`acc`, or TimeBench's `score`),
`flexible` and `why`.
"""

import importlib
import json

import pytest

from tests.conftest import ROOT


CASES = [
    pytest.param(path.parent.name, case, id=f"{path.parent.name}/{path.stem}:{number}")
    for path in sorted((ROOT / "tests" / "cases").glob("*/*.jsonl"))
    for number, case in enumerate(
        map(json.loads, path.read_text(encoding="utf-8").splitlines()), 1
    )
]


@pytest.mark.parametrize("family, case", CASES)
def test_verdict(family, case):
    utils = importlib.import_module(f"lm_eval_tasks.{family}.utils")
    scores = utils.process_results(case["doc"], [case["response"]])
    published = scores.get("acc", scores.get("score"))
    flexible = scores.get("acc_flexible", scores.get("score_flexible"))
    verdict = round(published, 4), round(flexible, 4)
    assert verdict == (case["published"], case["flexible"]), case["why"]
