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
BAD_OPTIONS = [b"a day"] * 4, ["a day"], [*"abcde"], ["a day", " ", "no", "B"]
EACH_KEYWORD = "not 0 or 1 for each keyword"
BAD_CELLS = [
    ("tcp_long", "answer", "soon", NO_MOMENT),
    ("tcp_long", "answer", "2020-05-28 16:00 GMT", NO_MOMENT),
    ("tcp_short", "answer", "2020-13-28 16:00 GMT", f"{NO_MOMENT} HH:MM GMT"),
    ("tcp_short", "answer", "2012-11-05", f"{NO_MOMENT} HH:MM GMT"),
    *((task, "question", None, MISSING) for task in ("tcp_long", "tot_arithmetic")),
    *(("tcp_long", "dialogue", x, MISSING) for x in ([], [" "], ["Hi.", 5])),
    ("tcp_short", "answer", "2020-05-28 16:00", f"{NO_MOMENT} HH:MM GMT"),
    ("tot_semantic", "label", " ", MISSING),
    ("tot_arithmetic_separate", "question", "What is it.", "has no sentence on JSON"),
    ("tot_arithmetic", "label", "{'explanation': 5}", NOT_ITSELF),
    *(("tot_arithmetic", "label", x, NO_DICT) for x in ("{'answer':", "[5]", "{}")),
    *(("tot_arithmetic", "label", x, NOT_ITSELF) for x in NO_EQUALS),
    ("timebench_timeqa_explicit", "answer", ["the"], "not an answer with a word"),
    ("timebench_timeqa_explicit", "answer", ["\\text{}"], "not an answer with a word"),
    ("timebench_timeqa_explicit", "question", None, "not a text"),
    ("timebench_date_arithmetic", "answer", ["Aug"], "not a month and a year"),
    ("timebench_timexnli_s1", "Label", "Maybe", "not in ['Entailment', 'Neutral'"),
    ("timebench_tracie", "Label", "Neutral", "not in ['Entailment', 'Contradiction'"),
    ("timebench_mctaco", "labels", ["no"] * 4, f"not {EACH_OPTION}"),
    ("timebench_mctaco", "labels", ["yes"], f"not {EACH_OPTION}"),
    *(("timebench_mctaco", "options", x, "not 2 to 4 texts") for x in BAD_OPTIONS),
    *(
        ("timebench_situatedgen", "keywords_pos", x, EACH_KEYWORD)
        for x in ([0], [2] * 5, [True] * 5)
    ),
]


@pytest.mark.parametrize(("task", "column", "cell", "fault"), BAD_CELLS)
def test_a_bad_row_stops_with_its_place(task, column, cell, fault):
    with pytest.raises(ValueError) as error:
        documents(task, upstream_row(task), upstream_row(task, **{column: cell}))
    assert f"row 1, column '{column}': {cell!r:.80} " in str(error.value)
    assert fault in str(error.value)


FILES = [  # task, upstream's name, fault of an empty file, warning about another one
    ("tcp_long", None, "TCP_long.jsonl: has no rows", "has 300 rows"),
    ("tcp_short", None, "TCP_short.jsonl: has no rows", "has 300 rows"),
    ("tot_arithmetic", None, "ToT: there are no rows", "has 1850 rows, fingerprint 6bdf6382cd8bd76a"),
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


@pytest.mark.parametrize("column", ["level", "twin"])
@pytest.mark.parametrize("task", ["tcp_long", "tot_arithmetic", "timebench_tracie"])
def test_rows_made_from_a_seed_are_counted_without_a_warning(task, column, caplog):
    empty_caches()
    with caplog.at_level(logging.INFO):
        [document] = documents(task, upstream_row(task, **{column: "x"}))
    [record] = (x for x in caplog.records if x.name.startswith("lm_eval.tasks."))
    assert record.levelname == "INFO" and "benchmark" not in record.message
    assert (column in document) is (column == "level")


OTHER_ROWS = [  # task, upstream's name, the benchmark's file, how many rows it has here
    ("tcp_long", None, "TCP_long", "1 rows", 2),
    ("tot_arithmetic", None, "tot_arithmetic", "1 rows, fingerprint 0", 1),
    ("timebench_tracie", "tracie_timebench", "tracie", "1 rows, 0", 1),
]


@pytest.mark.parametrize(("task", "file", "stem", "known", "count"), OTHER_ROWS)
def test_as_many_rows_or_more_are_other_rows_where_a_fingerprint_or_their_number_says_so(
    task, file, stem, known, count, caplog, monkeypatch
):
    empty_caches()
    monkeypatch.setitem(scorer(task).utils.FILES, stem, (1, "0"))
    documents(task, *[upstream_row(task)] * count, file=file)
    assert f"{count} rows, fingerprint" in caplog.text
    assert f"; the benchmark has {known}" in caplog.text


def test_rows_of_the_benchmark_are_known_by_their_fingerprint_under_any_name(
    caplog, monkeypatch
):
    task, utils = "timebench_tracie", scorer("timebench_tracie").utils
    row = upstream_row(task)
    checksum = utils.fingerprint(map(utils.digest, documents(task, row)))
    monkeypatch.setitem(utils.FILES, "tracie", (1, checksum))
    caplog.clear()
    empty_caches()
    documents(task, row)
    assert "scores may not be comparable" not in caplog.text


def test_cells_lose_the_blanks_around_them_and_paragraphs_are_lines():
    options = [" a day ", "a week", "no", "B"]
    row = upstream_row("timebench_mctaco", options=options, context=["One.", "Two."])
    [document] = documents("timebench_mctaco", row | {"idx": 7, "other": 8})
    assert document["options"] == ["a day", "a week", "no", "B"]
    assert (document["context"], document["idx"]) == ("One.\nTwo.", 7)
    assert "other" not in document
    row = upstream_row("tcp_long", answer=" 2012-11-05\n")
    assert documents("tcp_long", row)[0]["answer"] == "2012-11-05"


def test_a_fault_says_whether_a_column_is_missing():
    row = upstream_row("timebench_mctaco")
    with pytest.raises(ValueError, match="is not a text; fix the row$"):
        documents("timebench_mctaco", row | {"context": None})
    del row["context"]
    with pytest.raises(ValueError, match="is not a text; the column is missing$"):
        documents("timebench_mctaco", row)


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


@pytest.mark.parametrize("task", TASKS)
def test_a_digest_depends_on_all_that_scores_do_and_on_no_order(task):
    utils, [doc, *_] = scorer(task).utils, documents(task, upstream_row(task))
    for column in utils.DOCUMENTS[scorer(task).explain.__name__]:
        assert utils.digest(doc | {column: "other"}) != utils.digest(doc), column
    assert utils.digest(dict(reversed(doc.items()))) == utils.digest(doc)
    assert utils.fingerprint([b"a", b"b"]) == utils.fingerprint([b"b", b"a"])


def test_a_digest_of_a_separate_task_is_that_of_its_whole_prompt_but_for_other_parts():
    digest, row = scorer("tot_arithmetic").utils.digest, upstream_row("tot_arithmetic")
    [whole], [parts] = (
        documents(task, row) for task in ("tot_arithmetic", "tot_arithmetic_separate")
    )
    assert digest(parts) == digest(whole) != digest(parts | {"instruction": "Say so."})


def test_responses_to_choose_from_and_references_are_as_the_prompt_asks():
    utils = scorer("timebench_mctaco").utils
    options = {"options": ["a day", "a week", "no"], "letters": ["A", "C"]}
    labels = {"options": ["Entailment", "Contradiction"], "label": "Contradiction"}
    names = {"golds": ["Bern", "Basel"]}
    golds = [*map(utils.gold_response, (options, labels, names))]
    answers = "A, C", "Contradiction", "Bern"
    assert golds == [f"{utils.MARKER} {answer}" for answer in answers]
    sets = ["A", "B", "C", "A, B", "A, C", "B, C", "A, B, C"]
    assert utils.choices(options) == [f"{utils.MARKER} {letters}" for letters in sets]
    words = [f"{utils.MARKER} {label}" for label in labels["options"]]
    assert (utils.choices(labels), utils.choices(names)) == (words, [])
    assert [*utils.golds(names)] == ["Bern", "Basel"]
    keys = [utils.reference_key(options | {"letters": x}) for x in (["A"], ["A", "C"])]
    keys += [utils.reference_key(labels | {"label": x}) for x in labels["options"]]
    assert len({*keys}) == 4


def test_a_format_is_what_a_question_asks_for_beside_the_explanation():
    asked_format = scorer("tot_arithmetic").utils.asked_format
    question = "Who? Reply with {'explanation': <steps>,  'answer':   <name>}."
    assert asked_format({"question": question}) == "'answer': <name>"
    assert asked_format({"question": "Who?"}) is asked_format({}) is None


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
