"""TCP: the card's examples, bad rows, the hub's loader."""

import logging
from datetime import timedelta

import datasets
import pytest

from lm_eval_tasks.tcp import utils
from tests.conftest import EXAMPLES
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl


def row(answer: str, **changes: object) -> dict:
    """Return a row in the upstream schema, short or long by the look of its answer."""
    short = {"project_start_datetime_gmt": "2020-05-28 09:00"}
    start = short if "GMT" in answer else {"project_start_date": "2012-11-01"}
    return {
        "index": 0,
        "dialogue": ["Ann: Let us begin.", "Bo: The roof takes two days."],
        "question": "When is the roof done?",
        "answer": answer,
        "tasks": {"roof": 2},
        "dependencies": [],
        "agents": ["Ann", "Bo"],
        **start,
        **changes,
    }


def documents(task: str, *rows: dict) -> datasets.Dataset:
    return scorer(task).process_docs(datasets.Dataset.from_list(list(rows)))


def document(answer: str) -> dict:
    return documents("tcp_short" if "GMT" in answer else "tcp_long", row(answer))[0]


def score(response: str, reference: str) -> tuple[float, float]:
    scores = utils.process_results(document(reference), [response])
    assert all(type(value) is float for value in scores.values())
    return scores["accuracy"], scores["accuracy_flexible"]


CARD_EXAMPLE = [  # Source: the metric card's example, word for word.
    ("Some explanation... \\boxed{2012-11-05}", "2012-11-05", 1.0),
    ("Some explanation... \\boxed{2021-01-10}", "2012-11-05", 0.0),
    ("Some explanation... \\boxed{2020-05-28 16:00}", "2020-05-28 16:00 GMT", 1.0),
]


@pytest.mark.parametrize("response, reference, expected", CARD_EXAMPLE)
def test_published_score_is_that_of_the_card(response, reference, expected):
    assert score(response, reference) == (expected, expected)


SHORT, LONG = "2020-05-28 16:00 GMT", "2012-11-05"


FORMATS = [
    (SHORT, "YYYY-MM-DD HH:MM GMT", "%Y-%m-%d %H:%M GMT"),
    (LONG, "YYYY-MM-DD", "%Y-%m-%d"),
]


@pytest.mark.parametrize("reference, answer_format, form", FORMATS)
def test_every_moment_is_read_in_the_form_of_its_references(
    reference, answer_format, form
):
    value = utils.read_reference(reference, answer_format)
    for days in range(0, 40_000, 7):
        moment = value + timedelta(days=days)
        text = f"{moment:{form}}"
        assert utils.read_reference(text, answer_format) == moment
        assert utils.read_answer(text, answer_format) == moment


def test_documents_hold_no_column_whose_keys_differ_from_row_to_row():
    rows = [row(LONG), row(LONG, tasks={"wall": 1}, agent_constraints=None)]
    names = "index dialogue question answer answer_format"
    assert documents("tcp_long", *rows).column_names == names.split()


@pytest.mark.parametrize(
    "task, rows, message",
    [
        ("tcp_long", [], "TCP_long.jsonl: has no rows"),
        ("tcp_long", [row(LONG), row("soon")], "row 1, column 'answer': 'soon' is not"),
        ("tcp_short", [row("2020-13-28 16:00 GMT")], "TCP_short.jsonl, row 0, column 'answer'"),
        ("tcp_short", [row(LONG)], "TCP_short.jsonl, row 0, column 'answer'"),
        ("tcp_long", [row(SHORT)], "TCP_long.jsonl, row 0, column 'answer'"),
        ("tcp_long", [row(LONG, question=None)], "TCP_long.jsonl, row 0, column 'question': None"),
        ("tcp_long", [row(LONG, dialogue=[])], "TCP_long.jsonl, row 0, column 'dialogue': [] is missing, empty"),
    ],
)  # fmt: skip
def test_bad_rows_stop_with_their_place(task, rows, message):
    with pytest.raises(ValueError) as error:
        documents(task, *rows)
    assert message in str(error.value)


def test_another_row_count_is_a_warning_with_both_numbers(caplog):
    utils._log.cache_clear()  # it is said once a run
    with caplog.at_level(logging.WARNING):
        document(LONG)
    assert "1 rows, fingerprint" in caplog.text
    assert "the benchmark has 300 rows" in caplog.text


@pytest.mark.parametrize("task", ["tcp_short", "tcp_long"])
def test_rows_are_the_same_when_the_hub_s_loader_reads_dates_as_moments(task, tmp_path):
    """`datasets` makes timestamps of a column of dates in JSON, such as TCP long's."""
    one = scorer(task)
    path = EXAMPLES / "data" / f"{one.file}.jsonl"
    loaded = datasets.load_dataset(
        "json", data_files={"test": str(path)}, split="test", cache_dir=tmp_path
    )
    if task == "tcp_long":
        assert loaded.features["answer"] == datasets.Value("timestamp[s]")
    rows = datasets.Dataset.from_list([{**row} for row in read_jsonl(path)])
    assert list(one.process_docs(loaded)) == list(one.process_docs(rows))
