"""TCP: the card's examples, the flexible rule, bad rows."""

import logging

import datasets
import pytest

from lm_eval_tasks.tcp import utils
from tests.conftest import EXAMPLES
from utils.__main__ import main
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
    return scores["acc"], scores["acc_flexible"]


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
    "response, reference, published, flexible",
    [
        # The published rule reads the first box, the flexible one the last.
        ("\\boxed{2012-11-05} no, \\boxed{2012-11-06}", LONG, 1, 0),
        ("\\boxed{2012-11-06} no, \\boxed{2012-11-05}", LONG, 0, 1),
        # A box that never closes is not an answer; an empty one neither.
        ("\\boxed{2012-11-05} and \\boxed{2012-11-0", LONG, 1, 1),
        ("\\boxed{2012-11-0", LONG, 0, 0),
        ("\\boxed{}", LONG, 0, 0),
        ("The answer is 2012-11-05.", LONG, 0, 0),
        # LaTeX and Markdown around the value.
        ("$$\\boxed{\\text{2012-11-05}}$$", LONG, 0, 1),
        ("\\boxed{\\mathrm{2020\\text{-}05\\text{-}28}\\ 16{:}00~GMT}", SHORT, 0, 1),
        ("\\boxed{**2012-11-05**}", LONG, 0, 1),
        ("\\boxed {2012-11-05}", LONG, 0, 1),
        # Spellings of the same moment.
        ("\\boxed{November 5, 2012}", LONG, 0, 1),
        ("\\boxed{Monday, 5th of November 2012}", LONG, 0, 1),
        ("\\boxed{Tuesday, 5 November 2012}", LONG, 0, 0),
        ("\\boxed{2012-11-5}", LONG, 0, 1),
        ("\\boxed{2020-05-28 16:00 UTC}", SHORT, 0, 1),
        ("\\boxed{2020-05-28T16:00:00Z}", SHORT, 0, 1),
        ("\\boxed{2020-05-28 18:00+02:00}", SHORT, 0, 1),
        ("\\boxed{28/05/2020 4:00 p.m. GMT}", SHORT, 0, 1),
        ("\\boxed{May 28, 2020, 4 PM (GMT)}", SHORT, 0, 1),
        ("\\boxed{2012\u201111\u201105}", LONG, 0, 1),
        # Another value, or none that is sure.
        ("\\boxed{05/11/2012}", LONG, 0, 0),
        ("\\boxed{2012-05-11}", LONG, 0, 0),
        ("\\boxed{2020-05-28 16:00 PST}", SHORT, 0, 0),
        ("\\boxed{2020-05-28 16:00:30 GMT}", SHORT, 0, 0),
        ("\\boxed{2020-05-28 04:00 GMT}", SHORT, 0, 0),
        ("\\boxed{2020-05-28}", SHORT, 0, 0),
        ("\\boxed{2020-05-28 16:00 or 17:00 GMT}", SHORT, 0, 0),
        ("\\boxed{2012-11-05 or 2012-11-06}", LONG, 0, 0),
        # The reasoning block is not the answer.
        ("<think>\\boxed{2012-11-06}</think>\\boxed{2012-11-05}", LONG, 0, 1),
        ("<think>\\boxed{2012-11-05}", LONG, 1, 0),
        ("\\boxed{2012-11-06}</think>\\boxed{2012-11-05}", LONG, 0, 1),
    ],
)
def test_flexible_score_judges_the_moment_in_the_last_box(
    response, reference, published, flexible
):
    assert score(response, reference) == (published, flexible)


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


def test_a_pack_has_the_dates_of_the_file_and_not_the_loader_s_moments(
    tmp_path, monkeypatch
):
    folder, pack = EXAMPLES / "data", tmp_path / "pack"
    load = datasets.load_dataset
    monkeypatch.setattr(
        datasets,
        "load_dataset",
        lambda path, name, data_files: load(str(folder), data_files=data_files),
    )
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    arguments = ["--tasks", "tcp", "--allow-partial"]
    assert main(["offline", str(pack), *arguments]) == 0
    for name in ("TCP_short.jsonl", "TCP_long.jsonl"):
        for ours, theirs in zip(
            read_jsonl(pack / "data" / name), read_jsonl(folder / name), strict=True
        ):
            for column in ("dialogue", "question", "answer", "tasks"):
                assert ours[column] == theirs[column]
