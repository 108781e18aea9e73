"""Rows of the benchmarks become documents, or stop with their place."""

import logging
import re

import datasets
import pytest
from lm_eval.tasks import TaskManager

from lm_eval_tasks.tot.utils import split_instruction
from tests.conftest import EXAMPLES, TASKS
from tests.digest import empty_caches
from utils.core import documents as core_documents
from utils.core.documents import Rows, check_documents
from utils.core.errors import FamilyError, ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


def upstream_row(task: str, **changes: object) -> dict:
    """Return the first example row of a task's file, with other cells."""
    path = EXAMPLES / "data" / f"{scorer(task).file}.jsonl"
    return read_jsonl(path)[0] | changes


def documents(task: str, *rows: dict, file: str | None = None) -> list[dict]:
    return list(scorer(task).process_docs(Rows([*rows], file)))


MISSING, NOT_ITSELF = "missing, empty or not text", "not right as an answer to itself"
NO_DICT, NO_MOMENT = "not a dict in JSON or Python", "not in the form YYYY-MM-DD"
NO_EQUALS = [f"{{'answer': {x}}}" for x in ("' '", None, "1e999", True)]
EACH_OPTION = '"yes" or "no" for each option, and once "yes"'
BAD_CELLS = [
    ("tcp_long", "answer", "soon", NO_MOMENT),
    ("tcp_long", "answer", "2020-05-28 16:00 GMT", NO_MOMENT),
    ("tcp_short", "answer", "2020-13-28 16:00 GMT", f"{NO_MOMENT} HH:MM GMT"),
    ("tcp_short", "answer", "2012-11-05", f"{NO_MOMENT} HH:MM GMT"),
    *((task, "question", None, MISSING) for task in ("tcp_long", "tot_arithmetic")),
    ("tcp_long", "dialogue", [], MISSING),
    ("tot_semantic", "label", " ", MISSING),
    ("tot_arithmetic_separate", "question", "What is it.", "has no sentence on JSON"),
    ("tot_arithmetic", "label", "{'explanation': 5}", NOT_ITSELF),
    *(("tot_arithmetic", "label", x, NO_DICT) for x in ("{'answer':", "[5]", "{}")),
    *(("tot_arithmetic", "label", x, NOT_ITSELF) for x in NO_EQUALS),
    ("timebench_timeqa_explicit", "answer", ["the"], "not an answer with a word"),
    ("timebench_timeqa_explicit", "question", None, "not a text"),
    ("timebench_date_arithmetic", "answer", ["Aug"], "not a month and a year"),
    ("timebench_timexnli_s1", "Label", "Maybe", "not in ['Entailment', 'Neutral'"),
    ("timebench_tracie", "Label", "Neutral", "not in ['Entailment', 'Contradiction'"),
    ("timebench_mctaco", "labels", ["no"] * 4, f"not {EACH_OPTION}"),
    ("timebench_mctaco", "labels", ["yes"], f"not {EACH_OPTION}"),
    ("timebench_mctaco", "options", [b"a day"] * 4, "not 2 to 4 texts"),
    ("timebench_situatedgen", "keywords_pos", [0], "not 0 or 1 for each keyword"),
]


@pytest.mark.parametrize(("task", "column", "cell", "fault"), BAD_CELLS)
def test_a_bad_row_stops_with_its_place(task, column, cell, fault):
    with pytest.raises(ValueError) as error:
        documents(task, upstream_row(task), upstream_row(task, **{column: cell}))
    assert f"row 1, column '{column}': {cell!r:.80} " in str(error.value)
    assert fault in str(error.value)


FILES = [  # task, upstream's name, fault of an empty file, warning about another one
    ("tcp_long", None, "TCP_long.jsonl: has no rows", "has 300 rows"),
    ("tot_semantic", "tot_semantic", "ToT/tot_semantic: there are no rows", "has 2800 rows or 46480 rows"),
    ("timebench_tracie", "tracie_timebench", "TimeBench (tracie): there are no rows", "has 500 rows, 1cb0aef5df7beaf8"),
    ("timebench_date_arithmetic", None, "TimeBench (rows): there are no rows", "has other files"),
]  # fmt: skip


@pytest.mark.parametrize("task", ["tot_arithmetic", "tcp_long", "timebench_mctaco"])
def test_a_single_row_without_a_document_has_a_fault_and_no_number(task):
    with pytest.raises(ValueError, match=r"^column '\w+': None is "):
        core_documents.document(task, {})


@pytest.mark.parametrize("file_of_task", FILES)
def test_no_rows_are_an_error_and_other_rows_are_a_warning(caplog, file_of_task):
    task, file, fault, warning = file_of_task
    with pytest.raises(ValueError, match=f"^{re.escape(fault)}"):
        documents(task, file=file)
    empty_caches()  # a family logs a line once a run
    with caplog.at_level(logging.WARNING):
        documents(task, upstream_row(task), file=file)
    assert "1 rows, fingerprint" in caplog.text
    assert f"; the benchmark {warning}: scores may not be comparable" in caplog.text


def test_documents_have_what_prompts_and_scores_need():
    fields = {"index", "dialogue", "question", "answer", "answer_format"}
    assert {*documents("tcp_long", upstream_row("tcp_long"))[0]} == fields
    for task in ("timebench_timexnli_s2", "timebench_tracie"):
        [document] = documents(task, upstream_row(task, Label="Contradiction"))
        assert document["options"] == ["Entailment", "Contradiction"]
    row = upstream_row("tot_semantic", prompt="Facts.\n\nReturn a JSON.\n")
    (document,) = documents("tot_semantic", row)
    assert document["prompt"] == f"Facts.\n\nReturn a JSON.\n\n{row['question']}"


SPLITS = [  # prompt, the prompt without its instruction, the instruction
    ("E1 is R1.\n\nReturn JSON. No more.\n\nWho?", "E1 is R1.\n\nWho?", "Return JSON. No more."),
    ("E1 is R1.\n\nWho?\n\nReturn JSON.", "E1 is R1.\n\nWho?", "Return JSON."),
    ("Return JSON.\n\nE1 is R1.\n\nWho?", "E1 is R1.\n\nWho?", "Return JSON."),
    ("E1 is R1. Return JSON. Who?", "E1 is R1.\n\nWho?", "Return JSON."),
    ("E1.\n\nReturn JSON.\n\nThe answer field is text.\n\nWho?", "E1.\n\nWho?", "Return JSON.\n\nThe answer field is text."),
]  # fmt: skip


def test_a_prompt_is_split_wherever_its_instruction_stands():
    for prompt, *parts in SPLITS:
        assert [*split_instruction(prompt, "Who?")] == parts


@pytest.mark.parametrize("task", ["tcp_short", "tcp_long"])
def test_rows_are_the_same_when_the_hub_s_loader_reads_dates_as_moments(task, tmp_path):
    path = EXAMPLES / "data" / f"{scorer(task).file}.jsonl"
    options = {"split": "test", "cache_dir": tmp_path}
    loaded = datasets.load_dataset("json", data_files={"test": str(path)}, **options)
    if task == "tcp_long":
        assert loaded.features["answer"] == datasets.Value("timestamp[s]")
    assert [*scorer(task).process_docs(loaded)] == documents(task, *read_jsonl(path))


UNUSED = ("level", "qid", "idx", "type", "question_type")  # by prompts and scores


@pytest.mark.parametrize("task", TASKS)
def test_a_digest_does_not_depend_on_what_prompts_and_scores_do_not(task):
    digest, [doc, *_] = scorer(task).utils.digest, documents(task, upstream_row(task))
    for column in UNUSED:
        assert digest(doc | {column: "other"}) == digest(doc), column


def test_a_family_that_scores_its_gold_response_otherwise_than_declared_is_told(
    monkeypatch,
):
    docs = core_documents.documents("tcp_long", EXAMPLES)
    task_scorer = scorer("tcp_long")
    verdict = task_scorer.explain(docs[0], "")
    check_documents("tcp_long", docs)
    other = verdict._replace(scores={"accuracy": 1.0})
    monkeypatch.setattr(type(task_scorer), "explain", lambda *_: other)
    with pytest.raises(FamilyError, match="returns no 'accuracy_flexible'"):
        check_documents("tcp_long", docs[:1])


def test_a_breakdown_that_fails_is_told_before_any_answer_is_read(monkeypatch):
    docs = core_documents.documents("tcp_long", EXAMPLES)
    monkeypatch.setitem(scorer("tcp_long").utils.BREAKDOWNS, "x", lambda doc: doc["x"])
    with pytest.raises(FamilyError, match="KeyError.'x'. of a document of tcp_long"):
        check_documents("tcp_long", docs)


def test_the_harness_is_as_loud_after_a_load_as_before():
    logger = logging.getLogger("lm_eval")
    logger.setLevel(logging.INFO)
    with pytest.raises(ToolError):
        core_documents.load(["a"], EXAMPLES)
    assert logger.level == logging.INFO


def test_tasks_that_cannot_be_loaded_are_named_with_the_first_line_of_why(monkeypatch):
    def fail(*_: object) -> None:
        raise ConnectionError("\nThe hub is away\nTry again")

    monkeypatch.setattr(TaskManager, "load", fail)
    fault = (
        r"^tcp_long, tcp_short: cannot be loaded \(The hub is away\); check the netw"
    )
    with pytest.raises(ToolError, match=fault):
        core_documents.load(["tcp_long", "tcp_short"], EXAMPLES)
    with pytest.raises(
        ToolError, match="has no task or group 'a'; name another folder"
    ):
        core_documents.load(["tcp_long", "a", "b"], EXAMPLES)
