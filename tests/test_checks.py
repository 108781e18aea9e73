"""What of a run is checked: documents, prompts and responses, each by itself."""

import json
from collections import Counter
from decimal import Decimal
from itertools import product
from types import SimpleNamespace

import pytest

from tests.conftest import EXAMPLES, PACK
from utils.core.documents import documents
from utils.core.task_scorers import prompt, scorer
from utils.integrity import run_checks as checks
from utils.integrity.run_checks import Check, frame_of, render_messages, text_of
from utils.verdicts import judge_answer
from utils.verdicts.judge_answer import encode_value
from utils.verdicts.read_answers import Answer


TASK = "tot_arithmetic"
TEMPLATE = {"chat_template": "{{ messages }}"}


def outcome(
    task=TASK, docs=None, logged="{}", line=None, pack=EXAMPLES, has_ids=True, **results
):
    """Return what a check leaves of a run, whose prompts are `logged` of the task's."""
    docs = documents(task, EXAMPLES) if docs is None else docs
    results = {"versions": {task: 1}, "n-shot": {task: 0}} | results
    check, utils = Check(results, task, "none", pack), scorer(task).utils
    for n, doc in enumerate(docs):
        text = logged(n, prompt(task, doc)) if callable(logged) else logged
        text = text and text.replace("{}", prompt(task, doc))
        cells = {"arguments": {"gen_args_0": {"arg_0": text, "arg_1": {}}}}
        cells |= line(n) if callable(line) else line or {}
        doc_id = n if has_ids else None
        check.add(Answer("", cells, task, doc_id, prompt=text, is_first=True), doc)
    figures = SimpleNamespace(values=dict, counts={"changed": 0}, answers=len(docs))
    fingerprint = utils.fingerprint(map(utils.digest, docs))
    tally = SimpleNamespace(answered=len(docs), fingerprint=fingerprint, all=figures)
    return check.outcome(tally)


def told(part: dict) -> str:
    return f"{part['status']}: {part['text']}"


CHANGED = {"question": "When?"}
SEPARATE = f"{TASK}_separate"
DOCUMENTS = [  # task, pack, what of its documents is answered; what the check says
    (TASK, PACK, lambda docs: docs, "verified: all 38 are the benchmark's"),
    (TASK, PACK, lambda docs: docs[1:], "not verified: 37 of 38: a part has no known"),
    (TASK, PACK, lambda docs: [*docs[1:], docs[0] | CHANGED], "not ranked: not the be"),
    (TASK, PACK, lambda docs: [*docs, docs[0]], "not ranked: not the benchmark's 38"),
    # The system message, which holds the instruction, has no part in a fingerprint.
    (SEPARATE, PACK, lambda docs: docs, "not verified: there are no rows to compare"),
    ("tcp_long", PACK, lambda docs: docs, "not verified: there are no rows to compare"),
    (TASK, EXAMPLES, lambda docs: docs, "verified: all 38 documents of examples/"),
    (TASK, EXAMPLES, lambda docs: docs[3:], "verified: 35 of 38 documents of examples"),
    (TASK, EXAMPLES, lambda docs: [docs[0] | CHANGED], "not ranked: 1 of 1 are not"),
    (TASK, EXAMPLES, lambda docs: docs[:1] * 2, "not ranked: 1 of 2 are not those of"),
]


@pytest.mark.parametrize(("task", "pack", "change", "says"), DOCUMENTS)
def test_documents_go_by_the_pack_or_else_by_the_fingerprint(
    monkeypatch, task, pack, change, says
):
    docs, utils = documents(task, EXAMPLES), scorer(task).utils
    if task != "tcp_long":
        entry = len(docs), utils.fingerprint(map(utils.digest, docs))
        patched_scorer = scorer(task)._replace(upstream=entry)
        monkeypatch.setattr(checks, "scorer", lambda _: patched_scorer)
    assert told(outcome(task, change(docs), pack=pack)["documents"]).startswith(says)


def test_documents_without_ids_count_as_often_as_the_pack_has_them(monkeypatch):
    docs, rows = documents(TASK, EXAMPLES), checks.pack_rows(TASK, EXAMPLES)
    rows_with_copy = rows + Counter([*rows][:1])
    monkeypatch.setattr(checks, "pack_rows", lambda *_: rows_with_copy)
    check = outcome(docs=[*docs, docs[0]], has_ids=False)["documents"]
    assert told(check) == "verified: all 39 documents of examples/"


DIFFERS = "not verified: what stands around the prompts differs between documents"
UNTIL = {"arguments": {"gen_args_0": {"arg_0": "", "arg_1": {"until": ["gold"]}}}}
ANOTHER = "not verified: a system instruction of {} characters makes another prompt"
CASES = [  # prompts, what results say beside the usual, the line; what the check says
    ("{}", {}, {}, "verified: all as rendered"),
    ("<u>{}</u>", TEMPLATE, {}, "verified: all as rendered, in a frame of 7 characters"),
    ("<u>{}</u>", {}, {}, "not verified: 7 characters stand around each prompt, and no"),
    ("{}" + "x" * 2000, TEMPLATE, {}, "verified: "),
    ("{}" + "x" * 2001, TEMPLATE, {}, "not verified: 2,001 characters stand around"),
    (lambda n, _: "{}" + " " * (n == 3), TEMPLATE, {}, DIFFERS),
    (lambda n, _: "<u>" * (n != 3) + "{}", TEMPLATE, {}, DIFFERS),
    ("Hi.{}", TEMPLATE | {"system_instruction": "Hi.\n"}, {}, ANOTHER.format(4)),
    ("When?", {}, {}, "not verified: 38 of 38 prompts are not the task's"),
    ("{}", {}, {"arguments": {"a": 1, "b": 2}}, "not verified: 38 of 38 prompts are"),
    (None, {}, {}, "not verified: the prompts are not in the files"),
    ("{}", {}, lambda n: UNTIL if n == 3 else {}, "not verified: the generation set"),
    ("{}", {"n-shot": {}}, {}, "not verified: settings unknown"),
    ("{}", {"n-shot": {TASK: 1}}, {}, "not verified: prompts with few-shot examples"),
    ("{}", {"system_instruction": "Hi."}, {}, "not verified: 38 of 38 prompts are not"),
    ("Hi.{}", {"system_instruction": "Hi."}, {}, ANOTHER.format(3)),
    ("{}", {"system_instruction": ""}, {}, "verified: all as rendered"),
]  # fmt: skip


@pytest.mark.parametrize(("logged", "results", "line", "says"), CASES)
def test_prompts_are_the_task_s_in_one_frame(logged, results, line, says):
    prompts = outcome(logged=logged, line=line, **results)["prompts"]
    assert told(prompts).startswith(says)


@pytest.mark.parametrize(
    ("texts", "frame"),
    [
        (["a", "bc"], ("<", 0, "-", 1, ">")),
        (["bc", "a"], ("<", 1, "-", 0, ">")),
        (["a", "a"], None),
        (["bc", "c"], None),  # without overlap
        (["-b", "c"], ("<a", 0, "", 1, ">")),
        (["d"], None),
        (["", "a"], ("<", 1, "-bc>")),  # an empty text stands anywhere
    ],
)
def test_a_frame_is_what_stands_around_texts(texts, frame):
    assert frame_of("<a-bc>", texts) == frame


@pytest.mark.parametrize("task", ["tcp_long", "tot_semantic_separate"])
def test_messages_are_those_of_the_harness(task, offline_tasks):
    for doc, system in product(documents(task, EXAMPLES)[:2], (None, "S.")):
        messages = render_messages(task, text_of(doc), system)
        text = offline_tasks[task].fewshot_context(doc, 0, system_instruction=system)
        assert "".join(content for _, content in messages) == text


def test_values_of_a_table_are_plain_json():
    for value in (float("inf"), {"H": float("nan")}, {(1, 2): 3}, {"é": {Decimal(5)}}):
        encoded = encode_value(value)
        assert json.loads(encoded, parse_constant=pytest.fail) is not None


TEXTS = [  # a text, and whether a prompt that quotes two lines has it
    ("Answer in JSON.", True),
    ("  Answer in JSON.\n", True),  # as a task may write it
    ("Answer in XML.", False),
    ("\n", None),
    (None, None),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_an_instruction_is_looked_for_without_blanks_around_it(text, expected):
    assert judge_answer._contains("Q: When?\nAnswer in JSON.", text) == expected
