"""Graded errors: how far off an answer is, beside whether it is right."""

import json
from statistics import fmean

import pytest

from lm_eval_tasks.tot import utils as tot
from tests import documents
from utils.core.families import scorer
from utils.core.files import read_jsonl


DAYS = 'Format: {"explanation": <steps>, "answer": <num_days>}.'
MONTHS = 'Format: {"explanation": <steps>, "answer": <num_months>}.'
YEAR = 'Format: {"answer": "mm/dd/yyyy"} for a date, {"answer": "yyyy"} for a year.'
ERA = 'Format: {"answer": <year> <era>}, era being BC or AD.'
DATE = 'Format: {"date": "mm/dd/yyyy"}.'
CLOCK = 'Format: {"day": "same_day/+x/-x", "time": "HH:MM:SS"}.'
SLOTS = 'How many possibilities are there? Format: {"answer":<number>}.'


@pytest.mark.parametrize(
    "question, label, answer, smape",
    [
        (DAYS, {"answer": "1307"}, {"answer": 1207}, 100 * 100 / 2514),
        (DAYS, {"answer": 500}, {"answer": "510 days"}, 100 * 10 / 1010),
        (DAYS, {"answer": 500}, {"age": -500}, 100),
        (MONTHS, {"answer": "15"}, {"answer": 12.5}, 100 * 2.5 / 27.5),
        (SLOTS, {"answer": 0}, {"answer": 3}, 100),
        (SLOTS, {"answer": 0}, {"answer": 0}, 0),
        ("", {"H": 1, "M": 0, "S": 0}, {"H": 1, "M": 1, "S": 0}, 100 * 60 / 7260),
        # Each part asked counts for itself, so this is wrong, but it is not off.
        ("", {"H": 5, "M": 43, "S": 12}, {"H": 5, "M": 42, "S": 72}, 0),
        ("", {"days": 1, "hours": 0}, {"days": 0, "hours": 25}, 100 / 49),
        # 82,800 and 90,000 seconds from the midnight that starts the first day.
        (CLOCK, {"day": "+1", "time": "01:00:00"}, {"day": "same_day", "time": "11 PM"}, 100 * 7200 / 172_800),
        (CLOCK, {"day": "-1", "time": "23:00:00"}, {"day": "0", "time": "01:00:00"}, 100),
        (CLOCK, {"day": "+-26", "time": "18:00:00"}, {"day": "-26", "time": "18:00:00"}, 0),
        # What cannot be read, or has not all that is asked.
        (DAYS, {"answer": 500}, "I cannot say.", 100),
        (DAYS, {"answer": 500}, {"answer": "499 or 500"}, 100),
        (DAYS, {"answer": 500}, {"answer": "1e999"}, 100),
        (DAYS, {"answer": 500}, {"answer": "9" * 16}, 100),
        ("", {"H": 1, "M": 0, "S": 0}, {"H": 1, "M": 0}, 100),
        ("", {"H": 1, "M": 0, "S": 0}, {"H": "1e999", "M": "-1e999", "S": 0}, 100),
        # A point in time is in proportion to nothing.
        (DATE, {"date": "01/10/2010"}, {"date": "01/10/2010"}, None),
        (YEAR, {"answer": "2007"}, {"answer": 5}, None),
        (ERA, {"answer": "352 BC"}, {"answer": "352 BC"}, None),
        (CLOCK, {"answer": "Thursday"}, {"answer": 5}, None),
        (CLOCK, {"unordered_list": ["London"]}, {"answer": 5}, None),
        (CLOCK, {"years": 3, "days": 4}, {"years": 3, "days": 4}, None),
    ],
)  # fmt: skip
def test_error_of_numbers_and_durations(question, label, answer, smape):
    response = answer if isinstance(answer, str) else json.dumps(answer)
    doc = {"question": question, "label": str(label)}
    scores = tot.explain_arithmetic(doc, response).scores
    assert all(type(value) is float for value in scores.values())
    assert scores.get("smape") == (smape and pytest.approx(smape, abs=0))


def test_entities_and_counts_of_semantic_rows_have_no_error():
    names = ("accuracy", "accuracy_flexible", "extracted")
    assert scorer("tot_semantic").metrics == names
    doc = {"question": "In which year?", "label": "1985"}
    assert tuple(tot.explain_semantic(doc, '{"answer": 1986}').scores) == names


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


# ----------------------------------------------------------------------------- TCP

SHORT, LONG = "2020-05-28 16:00 GMT", "2012-11-05"


@pytest.mark.parametrize(
    "reference, answer, near, nearby",
    [
        (SHORT, "2020-05-28 16:00 GMT", 1, 1),
        (SHORT, "2020-05-28 18:00+02:00", 1, 1),
        (SHORT, "2020-05-28 17:00 GMT", 1, 1),
        (SHORT, "2020-05-28 17:01 GMT", 0, 1),
        (SHORT, "2020-05-28 14:59 GMT", 0, 1),
        (SHORT, "2020-05-27 16:00", 0, 1),
        (SHORT, "2020-05-29 16:01", 0, 0),
        (LONG, "2012-11-05", 1, 1),
        (LONG, "November 4, 2012", 1, 1),
        (LONG, "November 3, 2012", 0, 1),
        (LONG, "2012-11-12", 0, 1),
        (LONG, "2012-11-13", 0, 0),
        (LONG, "2013-11-05 17:00", 0, 0),
        # What cannot be read is not near.
        (SHORT, "2020-05-28", 0, 0),  # a time is missing
        (LONG, "05/11/2012", 0, 0),  # reads two ways
        (LONG, "soon", 0, 0),
        (LONG, "<think>\\boxed{2012-11-05}</think>", 0, 0),
    ],
)
def test_answers_are_near_before_and_behind_the_reference(
    reference, answer, near, nearby
):
    task, doc = next(x for x in documents.DOCUMENTS if reference in x[1].values())
    response = f"So: \\boxed{{{answer}}}."
    scores = scorer(task).explain(doc, response).scores
    assert all(type(value) is float for value in scores.values())
    assert tuple(scores) == scorer(task).metrics
    assert [*scores.values()][3:] == [near, nearby]
