"""Test of Time: the card's examples, the split, bad rows, and all of it on real data.

What the flexible rule says of an answer is in `tests/cases/tot`.
"""

import logging
from collections import Counter

import datasets
import pytest

from lm_eval_tasks.tot import utils
from tests import card_rules
from tests.corpus import echoes, read_jsonl
from tests.responders import perfect_response, read_label
from utils.core.families import scorer


METRICS = ("accuracy", "accuracy_flexible", "extracted")
ARITHMETIC = 'Add it up. Format your answer as a JSON = {"explanation": <steps>, ...}.'


def arithmetic(label: object, question: str = ARITHMETIC) -> dict:
    return {"question": question, "question_type": "trick", "label": str(label)}


def semantic(label: str) -> dict:
    return {
        "question": "Which entity?",
        "graph_gen_algorithm": "ba",
        "question_type": "timeline",
        "sorting_type": "start",
        "prompt": "E1 was the R1 of E2.\n\nReturn a JSON.\n\nWhich entity?",
        "label": label,
    }


def task_of(row: dict) -> str:
    return "tot_semantic" if "prompt" in row else "tot_arithmetic"


def documents(*rows: dict, suffix: str = "") -> datasets.Dataset:
    process_docs = scorer(task_of(rows[0]) + suffix).process_docs
    return process_docs(datasets.Dataset.from_list(list(rows)))


def score(response: str, row: dict) -> tuple[float, float, float]:
    process_results = scorer(task_of(row)).process_results
    scores = process_results(documents(row)[0], [response])
    assert all(type(value) is float for value in scores.values())
    return tuple(scores[name] for name in METRICS)


@pytest.mark.parametrize(
    "response, row, expected",
    [  # Source: the metric card's examples, word for word.
        ('{"explanation": "Some explanation...", "unordered_list": ["London"]}', arithmetic({"unordered_list": ["London"]}), True),
        (' "Response without opening curly brackets...", "answer": "2005-04-07"}', arithmetic({"answer": "2005-04-07"}), False),
        ('{"explanation": "Some explanation...", "answer": 1}', semantic("0"), False),
        ('{"explanation": "Some explanation...", "answer": "1985"}', semantic("1985"), True),
    ],
)  # fmt: skip
def test_published_score_is_that_of_the_card(response, row, expected):
    assert score(response, row)[0] == expected


@pytest.mark.parametrize(
    "rows, message",
    [
        ([semantic("1") | {"label": " "}], "row 0, column 'label': ' ' is missing, empty or not text; fix the row"),
        ([arithmetic({"answer": 5}), arithmetic("{'answer':")], "row 1, column 'label': \"{'answer':\" is not a dict in JSON or Python"),
        ([arithmetic([5])], "row 0, column 'label': '[5]' is not a dict in JSON or Python"),
        # What no answer can equal, be it the same one.
        *(([arithmetic(x)], "row 0, column 'label': ") for x in ({}, {"answer": " "}, {"answer": None}, "{'answer': 1e999}", {"answer": True}, {"explanation": 5})),
        ([arithmetic({"answer": 5}, None)], "row 0, column 'question': None is missing, empty or not text"),
    ],
)  # fmt: skip
def test_bad_rows_stop_with_their_place(rows, message):
    with pytest.raises(ValueError) as error:
        documents(*rows)
    assert message in str(error.value)


def test_messages_name_the_configuration():
    rows = datasets.Dataset.from_list([])
    rows.info.config_name = "tot_semantic"
    with pytest.raises(ValueError, match="^ToT/tot_semantic: there are no rows"):
        utils.process_docs_semantic(rows)


def test_another_row_count_is_a_warning_with_both_numbers(caplog):
    with caplog.at_level(logging.WARNING):
        documents(semantic("1"))
    assert "1 rows, fingerprint" in caplog.text
    assert "the benchmark has 2800 rows or 46480 rows" in caplog.text


def test_a_prompt_without_its_question_is_completed():
    row = semantic("1") | {"prompt": "E1 was the R1 of E2.\n\nReturn a JSON.\n"}
    assert documents(row)[0]["prompt"].endswith("Return a JSON.\n\nWhich entity?")


SPLITS = [  # prompt, the prompt without its instruction, the instruction
    ("E1 is R1.\n\nReturn JSON. No more.\n\nWho?", "E1 is R1.\n\nWho?", "Return JSON. No more."),
    ("E1 is R1.\n\nWho?\n\nReturn JSON.", "E1 is R1.\n\nWho?", "Return JSON."),
    ("Return JSON.\n\nE1 is R1.\n\nWho?", "E1 is R1.\n\nWho?", "Return JSON."),
    ("E1 is R1. Return JSON. Who?", "E1 is R1.\n\nWho?", "Return JSON."),
    ("E1.\n\nReturn JSON.\n\nThe answer field is text.\n\nWho?", "E1.\n\nWho?", "Return JSON.\n\nThe answer field is text."),
]  # fmt: skip


@pytest.mark.parametrize("prompt, rest, told", SPLITS)
def test_a_semantic_prompt_is_split_wherever_its_instruction_stands(prompt, rest, told):
    assert utils.split_instruction(prompt, "Who?") == (rest, told)


def test_a_prompt_that_cannot_be_split_stops_the_separate_task():
    with pytest.raises(
        ValueError, match="column 'question': 'What is it.' has no sent"
    ):
        documents(arithmetic({"answer": 5}, "What is it?"), suffix="_separate")


# ------------------------------------------------------------------ on the real data


@pytest.fixture(scope="module")
def arithmetic_rows(shared) -> datasets.Dataset:
    path = shared / "tot" / "tot_arithmetic.jsonl"
    return datasets.Dataset.from_list(read_jsonl(path))


@pytest.fixture(scope="module", params=["Llama-3_1", "Llama-3_3", "Phi-4", "Qwen2_5"])
def answered_rows(shared, request) -> list[dict]:
    (path,) = (shared / "responses").glob(f"tot_arithmetic_{request.param}*.jsonl")
    return read_jsonl(path)


def test_all_1850_rows_load(arithmetic_rows, caplog):
    assert len(utils.process_docs_arithmetic(arithmetic_rows)) == 1850
    assert not caplog.records


NUMBERS = [(True, 1350, 1560), (False, 1595, 1850)]


@pytest.mark.parametrize("literal, published, found", NUMBERS)
def test_perfect_responder_is_always_right(arithmetic_rows, literal, published, found):
    totals = Counter()
    for doc in utils.process_docs_arithmetic(arithmetic_rows):
        response = perfect_response(doc, literal)
        totals.update(utils.process_results_arithmetic(doc, [response]))
    scores = dict(zip(METRICS, (published, 1850, found), strict=True))
    assert totals == scores | {"smape": 0}


def test_perfect_answer_to_another_question_of_the_format_is_wrong(arithmetic_rows):
    by_format: dict[str, list[dict]] = {}
    for doc in utils.process_docs_arithmetic_separate(arithmetic_rows):
        parts = f"{doc['question_wo_instruct']} {doc['instruction']}"
        assert parts.split() == doc["question"].split()
        instruction = " ".join(doc["instruction"].split())
        by_format.setdefault(instruction, []).append(doc)
    assert len(by_format) == 40
    for docs in by_format.values():
        for doc, other in zip(docs, docs[1:] + docs[:1], strict=True):
            response = perfect_response({**doc, "label": other["label"]}, False)
            scores = utils.process_results_arithmetic(doc, [response])
            assert scores["accuracy_flexible"] == same_value(doc, other)


def same_value(doc: dict, other: dict) -> bool:
    """Tell whether two labels say the same, lists without order where they have none."""
    values, others = (read_label(x["label"]) for x in (doc, other))
    if "unordered_list" in values:
        return sorted(values["unordered_list"]) == sorted(others["unordered_list"])
    return values == others


@pytest.mark.parametrize(
    "form",
    ["So the answer is {}.", "**Answer: {}**", "Hence $\\boxed{{{}}}$", "Let me see.\n\nFinal answer: {}", "<answer>{}</answer>", "{}"],
)  # fmt: skip
def test_a_value_outside_of_an_object_is_right_or_wrong(arithmetic_rows, form):
    by_key: dict[str, list[tuple[dict, object]]] = {}
    for doc in utils.process_docs_arithmetic(arithmetic_rows):
        ((key, value), *others) = read_label(doc["label"]).items()
        if not others and value != []:  # of which nothing would be said
            by_key.setdefault(key, []).append((doc, value))
    totals = Counter()
    for answered in by_key.values():
        for (doc, value), (other, wrong) in zip(answered, answered[1:] + answered[:1]):
            for said in [value] if same_value(doc, other) else [value, wrong]:
                text = ", ".join(said) if isinstance(said, list) else str(said)
                scores = utils.process_results_arithmetic(doc, [form.format(text)])
                totals[said == value, scores["accuracy_flexible"]] += 1
    assert totals.keys() == {(True, 1.0), (False, 0.0)}
    assert totals[True, 1.0] == 1382


def test_who_only_repeats_the_prompt_has_no_answer(arithmetic_rows):
    for doc in arithmetic_rows:
        for echo in echoes(doc["question"]):
            scores = utils.process_results_arithmetic(doc, [echo])
            assert scores["accuracy_flexible"] == 0, echo[-200:]


def test_scores_and_split_of_real_answers_are_as_published(answered_rows):
    for row in answered_rows:
        scores = utils.process_results_arithmetic(row, [row["response"]])
        expected = card_rules.tot_arithmetic(row["response"], row)
        assert (scores["accuracy"], scores["extracted"]) == expected, row
        assert scores["accuracy_flexible"] >= scores["accuracy"], row
        asked, told = utils.split_instruction(row["question"], row["question"])
        assert asked.split() == row["question_wo_instruct"].split()
        assert told.split() == row["instruction"].split()
