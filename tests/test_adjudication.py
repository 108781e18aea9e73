"""Real answers: the scorer and the second reader part by known rules alone."""

import json
from collections import Counter

import pytest

from lm_eval_tasks.tot import utils as tot
from tests.conftest import EXAMPLES, ROOT
from utils.adjudicate import GAINED, REFUSED, adjudicate, main
from utils.errors import ToolError
from utils.second_reader import reads_as_right


@pytest.fixture(scope="module")
def answers(shared) -> list[dict]:
    paths = sorted((shared / "responses").glob("*.jsonl"))
    assert len(paths) == 4
    texts = (path.read_text(encoding="utf-8") for path in paths)
    return [json.loads(line) for text in texts for line in text.splitlines()]


def test_the_scorer_refuses_what_can_be_read_as_right_by_three_rules_alone(answers):
    verdicts = Counter(
        adjudicate(row, tot.explain_arithmetic(row, row["response"])) for row in answers
    )
    del verdicts[None]
    assert {kind for verdict, kind in verdicts if verdict == REFUSED} == {
        "a hedge (`+1/same_day`)",
        "a sign and an era (`-348 BC`)",
        "seconds where hours and minutes are asked (`01:10:37`)",
    }
    assert {verdict for verdict, _ in verdicts} == {GAINED, REFUSED}


def test_what_the_scorer_finds_right_the_second_reader_does_too(answers):
    alone = [
        row["label"]
        for row in answers
        if tot.process_results_arithmetic(row, [row["response"]])["acc_flexible"]
        and not reads_as_right(row)
    ]
    # The second reader does not know that "previous_day" is -1.
    assert alone == ["{'day': '-1', 'time': '22:55'}"]


def test_two_files_of_one_name_are_told_apart_or_refused(tmp_path):
    row = {
        "question": 'How many days? Use JSON = {"explanation": <why>, "answer": <days>}',
        "label": '{"answer": "5"}',
        "response": '{"answer": 5}',
    }
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.jsonl").write_text(json.dumps(row))
    paths = [str(tmp_path / folder / "model.jsonl") for folder in ("a", "b")]
    with pytest.raises(ToolError, match="a second run is called 'model'"):
        main(paths)


def test_nothing_to_show_is_said_and_an_error(tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(ToolError, match="empty.jsonl: has no answers; give a file"):
        main([str(empty)])
    recorded = EXAMPLES / "responses" / "tot_arithmetic.jsonl"
    command = [str(recorded), "--include_path", str(EXAMPLES), "--show"]
    with pytest.raises(ToolError, match="^--show nope: no answer is of such a kind"):
        main([*command, "nope"])
    assert main([*command, GAINED]) == 0


def test_the_table_of_the_results_is_what_the_tool_prints(shared, capsys):
    main([str(path) for path in sorted((shared / "responses").glob("*.jsonl"))])
    rows = capsys.readouterr().out.splitlines()[2:]
    results = (ROOT / "lm_eval_tasks" / "tot" / "RESULTS.md").read_text(
        encoding="utf-8"
    )
    assert len(rows) > 8
    assert all(row in results for row in rows)
