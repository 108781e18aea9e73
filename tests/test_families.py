"""What tools know of tasks stands in the YAML files, as the harness reads it."""

import json
import linecache
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from jinja2 import UndefinedError

from lm_eval_tasks.tcp import utils as tcp
from tests.conftest import EXAMPLES, TASKS
from tests.test_tricks import submission
from utils.__main__ import main
from utils.adapters import explain
from utils.adapters.rewards import reward
from utils.adapters.score_batch import score_batch
from utils.core.documents import document, documents, documents_of, load
from utils.core.errors import DocumentError, FamilyError, ToolError
from utils.core.family_contract import (
    Family,
    Metric,
    Verdict,
    check_verdict,
    column_fault,
    read_metrics,
)
from utils.core.files import Line
from utils.core.task_scorers import (
    benchmarks,
    breakdown_names,
    configuration,
    groups,
    leaf_tasks,
    prompt,
    scorer,
    title_of,
)
from utils.verdicts.judge_file import Judging


pytestmark = pytest.mark.usefixtures("judged_here")


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


def test_a_prompt_without_one_of_its_columns_is_none_with_a_gap():
    for doc, column in (({}, "premise"), ({"premise": "?"}, "hypothesis")):
        with pytest.raises(UndefinedError, match=f"'{column}' is undefined"):
            prompt("timebench_timexnli_s1", doc)


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
        load(["tot", "tcp"], EXAMPLES)  # where the harness ends in a traceback


@pytest.fixture
def fresh_scorers():
    """Scorers that are made anew, of what a test has changed, and again after it."""
    scorer.cache_clear()
    yield
    scorer.cache_clear()


SETTINGS = ["process_docs", "process_results", "metric_list", "metadata"]


@pytest.mark.usefixtures("fresh_scorers")
@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_yaml_file_lacks_is_named_with_the_file(setting, monkeypatch):
    monkeypatch.delitem(configuration("tcp_long"), setting)
    with pytest.raises(FamilyError, match=f"tcp_long.yaml: names no {setting}; see "):
        scorer("tcp_long")


@pytest.mark.usefixtures("fresh_scorers")
def test_a_task_without_a_file_of_rows_or_of_code_is_told(monkeypatch):
    monkeypatch.delitem(configuration("tcp_short"), "dataset_kwargs")
    with pytest.raises(
        FamilyError, match="tcp_short.yaml: names no file of rows: data"
    ):
        scorer("tcp_short")
    setting = configuration("tcp_long")["process_results"]
    away = setting.replace("utils.", "away.")
    monkeypatch.setitem(configuration("tcp_long"), "process_results", away)
    with pytest.raises(
        FamilyError, match=r"tcp/away\.py: is missing; see 'Add a task'"
    ):
        scorer("tcp_long")


# METRICS and BOARD_COLUMNS of a family, the metrics that a YAML file lists, what is said.
METRIC_FAULTS = [
    ({"a": {}}, ["a"], "x.yaml: metric_list: has no extracted; see "),
    ({}, ["a", "extracted"], "f.py: METRICS: has no a, extracted; see "),
    (
        {"a": {"kind": "odd"}},
        ["a"],
        "f.py: METRICS['a'] has another kind than share, n",
    ),
    (
        {"a": {"b": 1, "c": 2}},
        ["a"],
        "f.py: METRICS['a'] has b, c; its fields are kind,",
    ),
]


@pytest.mark.parametrize(("declared", "listed", "fault"), METRIC_FAULTS)
def test_metrics_that_are_not_as_declared_are_named(declared, listed, fault):
    if "extracted" not in fault:
        declared, listed = declared | {"extracted": {}}, [*listed, "extracted"]
    module = SimpleNamespace(__file__="f.py", METRICS=declared)
    entries = [{"metric": name, "higher_is_better": True} for name in listed]
    with pytest.raises(FamilyError) as raised:
        read_metrics(module, Path("x.yaml"), entries)
    assert str(raised.value).startswith(fault)


METRICS = {
    "score": Metric(),
    "bleu": Metric(top=100),
    "hours": Metric(kind="error"),
    "smape": Metric(optional=True),
}
SCORES = {"score": 1, "bleu": 100, "hours": -5}
SCORE_FAULTS = [  # scores beside SCORES, and what is said of them
    ({"score": -0.12345678}, "returns -0.123457 as 'score', which METRICS calls a share of 1,"),
    ({"bleu": 100.5}, "returns 100.5 as 'bleu', which METRICS calls a share of 100, as it"),
    ({"smape": 2}, "returns 2 as 'smape', which METRICS calls a share of 1, as it has no"),
    ({"b": 1, "c": 1, "a": 1}, "returns a, b, c, which the YAML does not name; see 'Add "),
]  # fmt: skip


def check_scores(scores: dict, reason: str = "right") -> None:
    verdict = SimpleNamespace(scores=scores, reason=reason)
    check_verdict(check_scores, METRICS, {"right": ""}, verdict)


def test_scores_that_are_not_as_declared_are_named_with_the_function():
    for scores in (SCORES, SCORES | {"score": 0, "bleu": 0, "smape": 1}):
        check_scores(scores)
    for scores, fault in SCORE_FAULTS:
        with pytest.raises(FamilyError) as raised:
            check_scores(SCORES | scores)
        assert f"{__file__}: check_scores {fault}" in str(raised.value)
    with pytest.raises(FamilyError, match="returns no 'bleu', which the YAML names"):
        check_scores({"score": 1, "hours": 0})
    with pytest.raises(FamilyError, match="the reason 'odd', which REASONS lacks"):
        check_scores(SCORES, "odd")


CELLS = [  # type of a column, a cell, and what is wrong with it
    (int, True, "'x' is True, not a int"),
    (int, 5, None),
    ([str], "abc", "'x' is 'abc', not a list of str"),
    ([str], ["a", 5], "'x' is ['a', 5], not a list of str"),
    ([str], [], None),
    (int, "x" * 99, f"'x' is '{'x' * 59}, not a int"),
]


def test_a_cell_of_another_type_is_shown_with_the_type():
    for cell_type, cell, fault in CELLS:
        assert column_fault({"x": cell_type}, {"x": cell}) == fault
    assert column_fault({"x": int, "y": int}, {"x": 1}) == "has no 'y'"


FRESH_FAULTS = [  # what a fresh document is without or with, and what is said of it
    ({"level": None}, "has no 'level'"),
    ({"level": "1"}, "'level' is '1', not a int"),
    ({"answer": None}, "has no 'answer'"),
]


@pytest.mark.parametrize(("cells", "fault"), FRESH_FAULTS)
def test_a_document_of_a_task_on_another_needs_the_columns_of_both(cells, fault):
    doc = documents("tcp_long", EXAMPLES)[0] | {"level": 1}
    assert explain("fresh_tcp_long", doc, "").scores["score_flexible_level_1"] == 0
    doc = {name: cell for name, cell in (doc | cells).items() if cell is not None}
    with pytest.raises(DocumentError, match=f"not one of fresh_tcp_long .{fault}"):
        explain("fresh_tcp_long", doc, "")


def test_a_fault_of_a_document_is_none_of_the_family_and_its_own_line_is_named(
    monkeypatch,
):
    doc, *_ = documents("tcp_long", EXAMPLES)
    extract_published = tcp.extract_published
    for error, fault in (
        (ValueError("odd"), r"tcp_long \(odd\); give the"),
        (ValueError(), r"tcp_long \(ValueError\(\)\); give the"),
        (RecursionError("too deep"), r"tcp_long \(too deep\); give the"),
    ):
        monkeypatch.setattr(tcp, "extract_published", Mock(side_effect=error))
        with pytest.raises(DocumentError, match=fault):
            explain("tcp_long", doc, "x")
    monkeypatch.setattr(tcp, "extract_published", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        explain("tcp_long", doc, "x")
    monkeypatch.setattr(tcp, "extract_published", extract_published)
    monkeypatch.setattr(tcp, "_BOX_START", 5)
    with pytest.raises(FamilyError) as raised:
        explain("tcp_long", doc, "x")
    path, number = re.match(r"(.*), line (\d+): ", str(raised.value)).groups()
    assert path == tcp.__file__
    assert "response.find(_BOX_START)" in linecache.getline(path, int(number))


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
    assert (scorer("fresh_tcp_long").licence, tcp.LICENCE) == (
        "MIT",
        scorer("tcp_long").licence,
    )
    assert breakdown_names()[:3] == ["question_type", "type", "level"]  # as they come
    assert title_of("tot") != "tot" and title_of("tcp_long") == "tcp_long"


def test_a_family_without_golds_or_choices_has_its_gold_response_and_no_choice():
    doc, one = (
        {"answer": "2012-11-05", "answer_format": "YYYY-MM-DD"},
        scorer("tcp_long"),
    )
    response = one.utils.gold_response(doc)
    assert (one.golds(doc), one.choices(doc)) == ({response: response}, [])


def test_groups_are_those_that_average_headlines():
    found = {group.name: group for group in groups()}
    assert "temporal_reasoning" not in found
    assert found["tcp"].tasks == ("tcp_short", "tcp_long") and found["tcp"].by_size
    assert [*found] == sorted(found)
    assert len(found["timebench"].tasks) == 15 and not found["timebench"].by_size
    separate = (f"tot_{x}_separate" for x in ("arithmetic", "semantic"))
    assert leaf_tasks("tot_separate") == [*separate]


def test_a_benchmark_is_the_largest_group_of_any_answered_task_or_a_task_alone():
    tasks = ["twin_tcp_short", "timebench_tracie", "timebench_situatedgen", "tcp_long"]
    found = {group.name: len(group.tasks) for group in benchmarks(tasks)}
    alone = {"twin_tcp_short": 1, "timebench_situatedgen": 1}
    assert [*found.items()] == [*({"tcp": 2, "timebench": 15} | alone).items()]


NOT_THERE = {
    "task 'tcp' is a group; its tasks are tcp_short, ": lambda: scorer("tcp"),
    "task 'tcp_lnog' is unknown; did you mean tcp_long": lambda: scorer("tcp_lnog"),
    "did you mean tcp_short or twin_tcp_short or f": lambda: scorer("tcp_shrt"),
    "'zzz' is unknown; the groups are fresh, tcp, ": lambda: leaf_tasks("zzz"),
    "examples: has no task or group": lambda: load(["fresh_tcp_long"], EXAMPLES),
    "TimeBench .tracie., row 0, ": lambda: documents_of("timebench_tracie", [{}]),
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
    monkeypatch, tmp_path, request
):
    request.addfinalizer(scorer.cache_clear)
    metadata = configuration("tcp_long")["metadata"]
    statuses, run = {}, tmp_path / "run"
    submission(run, "careful", {"tasks": ["tcp_long"]})
    for key in ("version", "prompt_version"):
        monkeypatch.setitem(metadata, key, 99.5)
        scorer.cache_clear()
        path = tmp_path / f"{key}.json"
        tool = ["leaderboard", str(run), "--include_path", str(EXAMPLES)]
        main([*tool, "--json", str(path)])
        rows = json.loads(path.read_bytes())
        [statuses[key]] = {row["status"] for row in rows if row["scope"] == "tcp_long"}
    assert statuses == {"version": "verified", "prompt_version": "not ranked"}
