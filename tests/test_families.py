"""What tools know of tasks stands in the YAML files, as the harness reads it."""

import json
import pickle
from unittest.mock import Mock

import pytest

from lm_eval_tasks.tcp import utils as tcp
from tests.conftest import EXAMPLES, TASKS
from utils.__main__ import main
from utils.adapters.rewards import reward
from utils.adapters.score_batch import score_batch
from utils.core.documents import document, documents_of, load
from utils.core.errors import FamilyError, ToolError
from utils.core.family_contract import Family, Verdict
from utils.core.files import Line
from utils.core.task_scorers import configuration, groups, leaf_tasks, prompt, scorer
from utils.verdicts.judge_file import Judging


@pytest.mark.parametrize("task", TASKS)
def test_scores_and_prompts_are_those_of_a_run(task, offline_tasks):
    one, built = scorer(task), offline_tasks[task]
    assert pickle.loads(pickle.dumps(one.explain)) is one.explain
    for doc in built.eval_docs:
        description = built.resolve_field(doc, built.config.description) or ""
        assert prompt(task, doc) == f"{description}{built.doc_to_text(doc)}"
        for response in ("", "Thus, the correct answer is: A", '{"answer": 1}'):
            verdict = one.explain(doc, response)
            assert verdict.scores == built.process_results(doc, [response])
            assert {*verdict._fields} == {*Verdict.__annotations__}
            assert verdict.reason in one.utils.REASONS


CONTRACT = [*Family.__annotations__, "explain", "process_docs_long", "process_results"]


@pytest.mark.parametrize("name", CONTRACT)
def test_what_a_family_lacks_is_one_line(name, monkeypatch, call_score, request):
    monkeypatch.delattr(tcp, name)
    scorer.cache_clear()
    request.addfinalizer(scorer.cache_clear)
    status, _, lines = call_score(EXAMPLES / "responses" / "careful" / "tcp_long.jsonl")
    fault = f"tcp/utils.py: has no {name}; see 'Add a task' in CONTRIBUTING.md\n"
    assert (status, lines.count("\n"), lines.endswith(fault)) == (1, 1, True)
    with pytest.raises(ToolError, match=fault.strip()):
        load(["tcp"], EXAMPLES)  # where the harness ends in a traceback


def test_a_fault_of_a_family_is_no_fault_of_a_document(monkeypatch, call_score):
    doc = {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"}
    doc |= {"dialogue": ["A: Hi."], "question": "When?"}
    batch = {"task": ["tcp_long"], "doc": [doc | {"answer": 5}], "response": ["x"]}
    assert "its document is not one" in score_batch(batch)["error"][0]
    for error in (AttributeError, KeyError, TypeError, IndexError, ZeroDivisionError):
        monkeypatch.setattr(
            tcp, "extract_published", Mock(side_effect=error("nothing"))
        )
        with pytest.raises(FamilyError, match=r"tcp/utils.py, line [0-9]+: .*nothing"):
            score_batch(batch | {"doc": [doc]})
        with pytest.raises(FamilyError, match="nothing"):
            reward("tcp_long")(["x"], [doc])
    status, _, lines = call_score(EXAMPLES / "responses" / "careful" / "tcp_long.jsonl")
    assert (status, lines.count("\n"), "nothing" in lines) == (1, 1, True)


def test_where_a_family_fails_at_a_later_answer_nothing_is_printed(
    monkeypatch, call_score
):
    judge_line = Judging._judge_line

    def fail_at_the_second(judging: Judging, line: Line) -> None:
        if judging.meter.answers:
            raise FamilyError("tcp/utils.py: nothing")
        judge_line(judging, line)

    monkeypatch.setattr(Judging, "_judge_line", fail_at_the_second)
    status, printed, lines = call_score(
        EXAMPLES / "responses" / "careful" / "tcp_long.jsonl"
    )
    assert (status, printed, "nothing" in lines) == (1, "", True)


HEADLINES = {
    "tcp_long": {"published": "accuracy", "flexible": "accuracy_flexible"},
    "timebench_situatedgen": {},
    "timebench_mctaco": {"published": "score", "flexible": "score_flexible"},
}
NOW = {"acc_flexible": "accuracy_flexible", "f1": "f1_score"}
NOW |= {"extracted": "extracted", "accuracy": None, "x": None}
FILES = {  # task -> upstream's name of its file, rows
    "tcp_long": ("TCP_long", 300),
    "tot_semantic_large": ("tot_semantic_large", 46_480),
    "timebench_tempreason_l2_facts": ("tempreason_l2_timebench", 500),
    "fresh_tot_semantic": ("fresh_tot_semantic", None),
}


def test_a_task_is_known_by_its_metrics_its_file_and_its_base():
    assert {task: scorer(task).headline for task in HEADLINES} == HEADLINES
    task = scorer("timebench_mctaco")
    assert {logged: task.metric(logged) for logged in NOW} == NOW
    assert {x: (scorer(x).file, scorer(x).upstream[0]) for x in FILES} == FILES
    assert scorer("fresh_tcp_short").base == "tcp_short"
    assert scorer("tcp_short").base == ""


def test_groups_are_those_that_average_headlines():
    found = {group.name: group for group in groups()}
    assert "temporal_reasoning" not in found
    assert found["tcp"].tasks == ("tcp_short", "tcp_long") and found["tcp"].by_size
    assert len(found["timebench"].tasks) == 15 and not found["timebench"].by_size
    separate = (f"tot_{x}_separate" for x in ("arithmetic", "semantic"))
    assert leaf_tasks("tot_separate") == [*separate]


NOT_THERE = {
    "task 'tcp' is a group; its tasks are tcp_short, ": lambda: scorer("tcp"),
    "task 'tcp_lnog' is unknown; did you mean tcp_long": lambda: scorer("tcp_lnog"),
    "'zzz' is unknown; the groups are fresh, tcp, ": lambda: leaf_tasks("zzz"),
    "examples: has no task or group": lambda: load(["fresh_tcp_long"], EXAMPLES),
    "TCP_long.jsonl, row 0, column": lambda: documents_of("tcp_long", [{}]),
}


@pytest.mark.parametrize("fault", NOT_THERE)
def test_what_is_not_there_is_one_line_with_the_fix(fault):
    with pytest.raises(ToolError, match=fault) as caught:
        NOT_THERE[fault]()
    assert "\n" not in str(caught.value)


def test_a_row_becomes_the_document_that_a_run_has():
    row = {"index": 1, "dialogue": ["A: Hi."], "question": "When?"}
    row["answer"] = "2012-11-05"
    made = document("tcp_long", row)
    assert made == row | {"answer_format": "YYYY-MM-DD"}
    assert documents_of("tcp_long", [row]) == [made]
    with pytest.raises(ValueError, match="^column 'answer': '5' is not in the form"):
        document("tcp_long", row | {"answer": "5"})


VERSIONS = ["1.1", "2.2", "2.9", "2.10"]
OTHER_VERSIONS = ["1.0", "2.11", "3.0", "0", "2.x", "", "²"]


@pytest.mark.parametrize("version", [*VERSIONS, *OTHER_VERSIONS])
def test_runs_of_versions_with_the_same_prompts_are_those_of_this_one(version):
    task = scorer("tcp_long")._replace(version="2.10", prompt_version="1.1")
    assert task.has_prompts_of(version) == (version in VERSIONS)


def test_a_version_alone_keeps_old_runs_and_a_prompt_version_does_not(
    monkeypatch, dummy_run, tmp_path, request
):
    request.addfinalizer(scorer.cache_clear)
    metadata = configuration("tcp_long")["metadata"]
    statuses = {}
    for key in ("version", "prompt_version"):
        monkeypatch.setitem(metadata, key, 99.5)
        scorer.cache_clear()
        path = tmp_path / f"{key}.json"
        tool = ["leaderboard", str(dummy_run), "--include_path", str(EXAMPLES)]
        main([*tool, "--json", str(path)])
        rows = json.loads(path.read_bytes())
        [statuses[key]] = {row["status"] for row in rows if row["scope"] == "tcp_long"}
    assert statuses == {"version": "verified", "prompt_version": "not ranked"}
