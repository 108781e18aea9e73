"""Graded errors: how far off an answer is, beside whether it is right.

Those of single answers are in `cases/tot/graded.jsonl` and `cases/tcp/graded.jsonl`.
"""

from statistics import fmean

import pytest

from lm_eval_tasks.tot import utils as tot
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


def test_entities_and_counts_of_semantic_rows_have_no_error():
    names = ("accuracy", "accuracy_flexible", "extracted")
    assert tuple(scorer("tot_semantic").metrics) == names
    doc = {"question": "In which year?", "label": "1985"}
    assert tuple(tot.explain_semantic(doc, '{"answer": 1986}').scores) == names


def test_bleu_of_a_sentence_of_three_words_is_of_the_orders_that_it_has():
    doc = {"keywords": ["tides"], "keywords_pos": [0], "statement": "Tides turn daily"}
    response = f"Thus, the correct answer is: {doc['statement']}"
    verdict = scorer("timebench_situatedgen").explain(doc, response)
    assert verdict.scores["bleu"] == 1


# In percent, flexible accuracy and sMAPE: ours, then exact match and sMAPE by the reader of
# the authors of the answers (arXiv 2509.16720), which is not at hand.
REAL = {
    "Llama-3_1-8B-Instruct_zero-shot": ((15.65, 29.15), (14.5, 35.8)),
    "Llama-3_3-70B-Instruct_zero-shot": ((44.19, 10.08), (41.3, 13.5)),
    "Phi-4-mini-instruct_few-shot": ((26.38, 22.02), (26.4, 21.2)),
    "Qwen2_5-7B-Instruct_few-shot": ((31.89, 19.42), (31.0, 20.9)),
}


@pytest.mark.parametrize("model", REAL)
def test_errors_of_real_answers_are_those_of_the_report(shared, model):
    rows = read_jsonl(shared / "responses" / f"tot_arithmetic_{model}.jsonl")
    verdicts = [tot.explain_arithmetic(row, row["response"]) for row in rows]
    right = [verdict.scores["accuracy_flexible"] for verdict in verdicts]
    errors = [x.scores["smape"] for x in verdicts if "smape" in x.scores]
    assert (len(right), len(errors)) == (1016, 604)
    means, (ours, theirs) = (100 * fmean(right), fmean(errors)), REAL[model]
    assert means == pytest.approx(ours, abs=0.006)
    assert means == pytest.approx(theirs, rel=0.3)
