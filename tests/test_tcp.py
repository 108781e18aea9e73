"""TCP: the card's examples, the flexible rule, bad rows."""

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
    start = (
        {"project_start_datetime_gmt": "2020-05-28 09:00"}
        if "GMT" in answer
        else {"project_start_date": "2012-11-01"}
    )
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


# Source: the metric card's example, word for word.
CARD_EXAMPLE = [
    ("Some explanation... \\boxed{2012-11-05}", "2012-11-05", 1.0),
    ("Some explanation... \\boxed{2021-01-10}", "2012-11-05", 0.0),
    ("Some explanation... \\boxed{2020-05-28 16:00}", "2020-05-28 16:00 GMT", 1.0),
]


@pytest.mark.parametrize("response, reference, expected", CARD_EXAMPLE)
def test_published_score_is_that_of_the_card(response, reference, expected):
    assert score(response, reference) == (expected, expected)


def test_mean_of_the_card_example_is_two_thirds():
    scores = [score(*case[:2])[0] for case in CARD_EXAMPLE]
    assert sum(scores) / len(scores) == 0.6666666666666666


SHORT, LONG = "2020-05-28 16:00 GMT", "2012-11-05"


@pytest.mark.parametrize(
    "answer, reference, error",
    [
        ("2012-11-08", LONG, 3.0),
        ("2012-11-04", LONG, -1.0),
        ("2012-11-05 17:00", LONG, 0.0),
        ("2020-05-28 14:30", SHORT, -1.5),
        ("2020-05-29 16:00", SHORT, 24.0),
        ("2020-05-28", SHORT, None),
        ("soon", LONG, None),
    ],
)
def test_errors_say_how_late_an_answer_is_and_are_absent_where_none_is_read(
    answer, reference, error
):
    scores = utils.process_results(document(reference), [f"\\boxed{{{answer}}} 1"])
    unit = "hours" if reference == SHORT else "days"
    expected = {} if error is None else {f"{unit}_off": error, f"{unit}_off_absolute": abs(error)}  # fmt: skip
    assert {name: scores[name] for name in scores if "off" in name} == expected


DATES = [("2012-11-05", "YYYY-MM-DD"), ("2020-05-28 16:00 GMT", "YYYY-MM-DD HH:MM GMT")]


@pytest.mark.parametrize("reference, answer_format", DATES)
def test_every_moment_is_read_in_the_form_of_its_references(reference, answer_format):
    value = utils.read_reference(reference, answer_format)
    for days in range(0, 40_000, 7):
        moment = value + timedelta(days=days)
        text = (
            str(moment)
            if answer_format == "YYYY-MM-DD"
            else f"{moment:%Y-%m-%d %H:%M} GMT"
        )
        assert utils.read_reference(text, answer_format) == moment
        assert utils.read_answer(text, answer_format) == moment


def test_documents_hold_no_column_whose_keys_differ_from_row_to_row():
    rows = [row(LONG), row(LONG, tasks={"wall": 1}, agent_constraints=None)]
    assert documents("tcp_long", *rows).column_names == [
        "index",
        "dialogue",
        "question",
        "answer",
        "answer_format",
    ]


@pytest.mark.parametrize(
    "task, rows, message",
    [
        ("tcp_long", [], "TCP_long.jsonl: has no rows"),
        ("tcp_long", [{"question": "?"}], "TCP_long.jsonl: column 'index', 'dialogue'"),
        ("tcp_long", [row(LONG), row("soon")], "row 1, column 'answer': 'soon' is not"),
        ("tcp_short", [row("2020-13-28 16:00 GMT")], "TCP_short.jsonl, row 0, column 'answer'"),
        ("tcp_short", [row(LONG)], "TCP_short.jsonl, row 0, column 'answer'"),
        ("tcp_long", [row(SHORT)], "TCP_long.jsonl, row 0, column 'answer'"),
        ("tcp_long", [row(LONG, question=None)], "TCP_long.jsonl, row 0, column 'question': None"),
        ("tcp_long", [row(LONG, dialogue=[])], "TCP_long.jsonl, row 0, column 'dialogue': is empty"),
    ],
)  # fmt: skip
def test_bad_rows_stop_with_their_place(task, rows, message):
    with pytest.raises(ValueError) as error:
        documents(task, *rows)
    assert message in str(error.value)


def test_another_row_count_is_a_warning_with_both_numbers(caplog):
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
