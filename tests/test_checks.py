"""What of a run is checked: documents, prompts and responses, each by itself."""

import json
import time
from collections import Counter
from decimal import Decimal
from itertools import product
from types import SimpleNamespace

import pytest

from lm_eval_tasks.fresh.utils import Request, load
from tests.answers import write
from tests.conftest import EXAMPLES, PACK
from utils.core.cli import quoted
from utils.core.documents import documents
from utils.core.errors import ToolError
from utils.core.task_scorers import configuration, prompt, scorer
from utils.integrity import run_checks as checks
from utils.integrity.run_checks import Check, frame_of, render_messages, text_of
from utils.packs.random_sample import Drawn
from utils.verdicts import judge_answer
from utils.verdicts.judge_answer import encode_value, value_text
from utils.verdicts.read_answers import (
    Answer,
    claims_of,
    read_results,
    sha256,
    typed_claim,
)


TASK = "tot_arithmetic"
TEMPLATE = {"chat_template": "{{ messages }}"}


def outcome(
    task=TASK,
    docs=None,
    logged="{}",
    line=None,
    pack=EXAMPLES,
    has_ids=True,
    is_first=lambda _: True,
    figures=None,
    **results,
):
    """Return what a check leaves of a run, whose prompts are `logged` of the task's.

    `figures` are cells of those of its tally.
    """
    docs = documents(task, EXAMPLES) if docs is None else docs
    results = {"versions": {task: 1}, "n-shot": {task: 0}} | results
    check, utils = Check(results, task, "none", pack), scorer(task).utils
    for n, doc in enumerate(docs):
        text = logged(n, prompt(task, doc)) if callable(logged) else logged
        text = text and text.replace("{}", prompt(task, doc))
        cells = {"arguments": {"gen_args_0": {"arg_0": text, "arg_1": {}}}}
        cells |= line(n) if callable(line) else line or {}
        doc_id = n if has_ids else None
        answer = Answer("", cells, task, doc_id, prompt=text, is_first=is_first(n))
        check.add(answer, doc)
    cells = {"values": dict, "counts": {"changed": 0}, "answers": len(docs)}
    counted = {"answered": len(docs), "digests": Counter()}
    counted["fingerprint"] = utils.fingerprint(map(utils.digest, docs))
    all_figures = SimpleNamespace(**cells | (figures or {}))
    return check.outcome(SimpleNamespace(**counted, all=all_figures))


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
    (TASK, EXAMPLES, lambda docs: [dict([*doc.items()][::-1]) for doc in docs], "verified: all 38 documents"),
    (TASK, EXAMPLES, lambda docs: docs[3:], "verified: 35 of 38 documents of examples"),
    (TASK, EXAMPLES, lambda docs: [docs[0] | CHANGED], "not ranked: 1 of 1 are not"),
    (TASK, EXAMPLES, lambda docs: docs[:1] * 2, "not ranked: 1 of 2 are not those of"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "pack", "change", "says"), DOCUMENTS)
def test_documents_go_by_the_pack_or_else_by_the_fingerprint(
    monkeypatch, task, pack, change, says
):
    docs, utils = documents(task, EXAMPLES), scorer(task).utils
    if task != "tcp_long":
        entry = len(docs), utils.fingerprint(map(utils.digest, docs))
        patched_scorer = scorer(task)._replace(upstream=entry)
        monkeypatch.setattr(checks, "scorer", lambda _: patched_scorer)
    check = outcome(task, change(docs), pack=pack)["documents"]
    assert told(check).startswith(says)
    assert check["whole"] == says.startswith("verified: all")


@pytest.mark.parametrize("seed", [0, 7])
def test_documents_that_a_seed_drew_are_a_part_even_if_all_are_in_the_pack(
    monkeypatch, seed
):
    monkeypatch.setattr(checks, "recognise", lambda _, seed, *__: Drawn(seed, 38, True))
    check = outcome(configs={TASK: {"metadata": {"sample_seed": seed}}})["documents"]
    said = f"verified: a random sample of seed {seed}, 38 of 38 rows"
    assert (told(check), check["whole"]) == (said, False)


def test_documents_without_ids_count_as_often_as_the_pack_has_them(monkeypatch):
    docs, rows = documents(TASK, EXAMPLES), checks.pack_rows(TASK, EXAMPLES)
    rows_with_copy = rows + Counter([*rows][:1])
    monkeypatch.setattr(checks, "pack_rows", lambda *_: rows_with_copy)
    check = outcome(docs=[*docs, docs[0]], has_ids=False)["documents"]
    assert told(check) == "verified: all 39 documents of examples/"


def test_other_documents_than_the_benchmark_s_are_told_by_both_fingerprints(
    monkeypatch,
):
    docs, utils = documents(TASK, EXAMPLES), scorer(TASK).utils
    own, other = (
        utils.fingerprint(map(utils.digest, x)) for x in (docs, docs[:3] * 13)
    )
    patched_scorer = scorer(TASK)._replace(upstream=(len(docs), own))
    monkeypatch.setattr(checks, "scorer", lambda _: patched_scorer)
    reason = f"not the benchmark's 38 with {own}: 39 with fingerprint {other}"
    assert outcome(docs=docs[:3] * 13, pack=PACK)["documents"]["text"] == reason


FRESH = "fresh_date_arithmetic"
OWN = {x: configuration(FRESH)["metadata"][x] for x in ("gen_seed", "gen_rows")}
FIVE = {"gen_seed": 1, "gen_rows": 5}
MADE = [  # of which seed rows are, what results say of it beside; what the check says
    (FIVE, FIVE, "verified: all 5 documents of seed 1 (5 rows, levels 1-5)"),
    (FIVE, FIVE | {"gen_rows": 6}, "verified: 5 of 6 documents of seed 1 (6 rows, l"),
    (FIVE, {"gen_seed": 1}, "not verified: no results say the seed of their rows"),
    (FIVE, {"gen_rows": 5}, "not verified: no results say the seed of their rows"),
    (FIVE, FIVE | {f"gen_{'x' * 400}": 1}, "not verified: cannot be regenerated: "),
    (OWN, OWN, "verified: all 100 documents of seed "),
]


@pytest.mark.parametrize(("made", "claimed", "says"), MADE)
def test_made_documents_go_by_the_seed_that_results_say(made, claimed, says):
    rows = load(FRESH.removeprefix("fresh_"), gen_levels="1-5", **made)["test"]
    docs = [*scorer(FRESH).process_docs(rows)]
    left = outcome(FRESH, docs, configs={FRESH: {"metadata": claimed}})
    said = told(left["documents"])
    assert said.startswith(says) and len(said) < 250
    # All rows of the task's own seed are all of it; which seed it was is a remark.
    assert left["documents"]["whole"] == (claimed is OWN)
    assert left["marks"] == [left["documents"]["text"]] * (claimed is OWN)


DIFFERS = "not verified: what stands around the prompts differs between documents"
UNTIL = {"arguments": {"gen_args_0": {"arg_0": "", "arg_1": {"until": ["gold"]}}}}
ANOTHER = "not verified: a system instruction of {} characters makes another prompt"
TURNED = {"arguments": {"gen_args_0": {"arg_1": {}, "arg_0": ""}}}


def chat(suffix: str):
    return lambda _, text: json.dumps([{"role": "user", "content": text + suffix}])


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
    (chat(""), {}, {}, "verified: all as rendered"),
    (chat(" B."), {}, {}, "not verified: 38 of 38 prompts are not the task's"),
    ("{}", {}, lambda n: TURNED if n == 3 else {}, "verified: all as rendered"),
    ("When?", {"n-shot": {}}, {}, "not verified: 38 of 38 prompts are not the task's"),
    # Results of another task say nothing of this one.
    ("{}", {"versions": {}, "system_instruction": "Hi."}, {}, "not verified: settings"),
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


def test_a_text_within_a_longer_one_is_looked_for_outside_of_it():
    assert frame_of("<abc-c>", ["c", "abc"]) == ("<", 1, "-", 0, ">")


def test_prompts_differ_from_the_task_s_by_instruction_and_by_a_long_frame():
    def addition(system: str, frame: str) -> str:
        results = TEMPLATE | {"system_instruction": system}
        check = outcome(logged=f"{system}{frame}{{}}", **results)
        return check["prompts"]["addition"]

    long, other = "x" * 2001, "y" * 2001
    pairs = [("Hi.", long), ("Hi.", other), ("Ho.", long), ("", long), ("Hi.", "")]
    assert len({addition(*pair) for pair in pairs}) == len(pairs)
    assert addition("Hi.", "<u>") == addition("Hi.", "") == sha256("Hi.")
    assert addition("", "<u>") == ""


def test_a_frame_is_shown_up_to_2000_characters_and_known_whole():
    check = outcome(logged="{}" + "x" * 2999, **TEMPLATE)["prompts"]
    frame = "{user}" + "x" * 2999
    assert (check["frame"], check["frame_size"]) == (frame[:2000], 2999)
    assert check["frame_digest"] == sha256(frame)


def test_filtered_responses_that_are_not_the_first_are_counted():
    check = outcome(is_first=lambda n: n > 1)["responses"]
    said = "not verified: 2 filtered responses are not the first response"
    assert told(check) == said
    assert told(outcome(is_first=lambda _: None)["responses"]) == "verified: as logged"


def test_the_fewest_and_the_most_answers_to_a_document_are_said():
    check = Check({}, TASK, "x" * 999, EXAMPLES)
    for doc_id, doc in enumerate(documents(TASK, EXAMPLES)[:3]):
        for _ in range(doc_id + 1):
            check.add(Answer("", {}, TASK, doc_id), doc)
    figures = SimpleNamespace(values=dict, counts={"changed": 0}, answers=6)
    checked = check.outcome(SimpleNamespace(answered=3, all=figures))["checked"]
    mean_text = "scored by their mean (the harness scores the first)"
    assert checked["Answers a document"] == f"1 to 3, {mean_text}"
    assert checked["Filter"] == "x" * 200


def test_a_system_instruction_is_a_remark_by_its_length():
    instruction = "Hi. " * 300
    check = outcome(logged=f"{instruction}{{}}", system_instruction=instruction)
    assert check["marks"] == ["system instruction, 1,200 characters"]
    assert outcome(system_instruction="")["marks"] == []


def test_settings_that_results_do_not_claim_are_named_up_to_three():
    long_name = "b" * 99
    settings = dict.fromkeys(("d", "c", long_name, "a"), 1) | {"until": []}
    line = {"arguments": {"gen_args_0": {"arg_0": "", "arg_1": settings}}}
    claimed = {TASK: {"generation_kwargs": {"until": [], "top_p": 1}}}
    [mark] = outcome(line=line, configs=claimed)["marks"]
    names = f"'a', {quoted(long_name[:50])}, 'c'"
    assert mark == f"asked with settings that results do not claim: {names}"
    claimed[TASK]["generation_kwargs"] = {long_name: 2}
    check = outcome(line=line, configs=claimed)["prompts"]
    said = f"the logged {long_name[:50]} is not the one that results claim"
    assert told(check) == f"not verified: {said}"


CLAIMED = [  # version, scores that results claim; the mark of the first that is another one
    ("same", {"accuracy,none": 0.123456789, "extracted,none": 1}, "accuracy 0.123456"),
    ("same", {"accuracy,none": 0.5000009, "accuracy_flexible,none": 0.50001}, "accuracy_flexible 0.50001"),
    ("same", {"accuracy,none": None}, "accuracy None"),
    ("1.0", {"accuracy_flexible,none": 1, "extracted,none": 0.5}, None),
    ("1.0", {"accuracy_flexible,none": 1, "extracted,none": 1}, "extracted 1"),
    ("1.0", {"accuracy,none": 1}, "accuracy 1"),
    ("same", {"accuracy_stderr,none": 0.1, "smape,none": 3, "alias": TASK}, None),
]  # fmt: skip


@pytest.mark.parametrize(("version", "claims", "claimed"), CLAIMED)
def test_scores_are_those_that_results_claim_where_the_version_can_differ_in_none(
    version, claims, claimed
):
    """In another version, only what the published rule gives is compared."""
    is_same = version == "same"
    names = ("accuracy", "accuracy_flexible", "extracted")
    figures = {"values": lambda: {name: [0.0, 1.0] for name in names}, "answers": 1234}
    figures["counts"] = {"changed": 1200}
    versions = {TASK: scorer(TASK).version if is_same else version}
    results = {"versions": versions, "results": {TASK: claims}}
    changed = "1,200 of 1,234 logged scores are not those made again"
    expected = [f"claims {claimed} instead of 0.5000"] if claimed else []
    expected += [changed] if is_same else []
    assert outcome(figures=figures, **results)["marks"] == expected


CARD = [  # what results say, and what a run card does
    ({"chat_template": None}, "Chat template", "none"),
    ({"chat_template": ""}, "Chat template", "of an API"),
    ({"chat_template": "{{ m }}"}, "Chat template", "{{ m }}"),
    ({"date": 1_700_000_000}, "Date", "2023-11-14"),
    ({"date": "now"}, "Date", "unknown"),
    ({"config": {"limit": 8.0}}, "Limit", "8.0"),
    ({"config": {"model_args": "x" * 999}}, "Model arguments", "x" * 200),
    ({"config": {}}, "Limit", "none"),
    ({"versions": {}, "chat_template": "{{ m }}"}, "Chat template", "unknown"),
    ({"versions": {}}, "Limit", "unknown"),
]


@pytest.mark.parametrize(("results", "label", "cell"), CARD)
def test_a_run_card_says_what_results_claim_wherever_it_is_read(
    monkeypatch, results, label, cell
):
    """The date is that of Greenwich, whatever the zone of the machine."""
    with monkeypatch.context() as context:
        context.setenv("TZ", "UTC-9")
        time.tzset()
        assert outcome(**results)["card"][label] == cell
    time.tzset()


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


ENCODED = [
    (None, None),
    ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
    (frozenset("gfedcba"), '["a", "b", "c", "d", "e", "f", "g"]'),
    (Decimal("5.0"), '"5"'),
    (Decimal("1E+3"), '"1000"'),
    (Decimal("1E-30"), '"1E-30"'),
    (Decimal("1E+30"), '"1E+30"'),
    ("x" * 999, f'"{"x" * 499} … {"x" * 499}"'),
]


@pytest.mark.parametrize(("value", "expected"), ENCODED)
def test_equal_values_of_a_table_are_spelled_alike(value, expected):
    assert encode_value(value) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (None, "May?"),
        ('"May 5"', "May 5"),
        ('["May"]', '["May"]'),
        ('["a … z"', '["a … z"'),  # JSON that was cut
    ],
)
def test_a_value_is_shown_as_its_text_or_what_stands_in_its_place(cell, expected):
    row = {"value": cell, "reference": cell, "flexible": "May?", "published": "?"}
    assert value_text(row) == value_text(row, "reference") == expected


CLAIMS = [  # what results say, the type that is asked for, and what counts
    (5, int, 5),
    (5, float, 5),
    (0.5, float, 0.5),
    (0.5, int, None),
    (True, int, None),
    (True, float, None),
    ("5", int, None),
    (10**15 - 1, int, 10**15 - 1),
    (10**15, int, None),
    (-(10**15), int, None),
    (float("nan"), float, None),
    ("x" * 201, str, "x" * 200),
    (5, str, None),
]


@pytest.mark.parametrize(("value", "kind", "expected"), CLAIMS)
def test_a_claim_is_of_its_type_and_short(value, kind, expected):
    assert typed_claim(value, kind) == expected


def test_results_claim_what_they_say_of_a_task_or_of_its_run():
    run = {
        "model_name": "m",
        "date": 1.5,
        "config": {"limit": 0.1},
        "chat_template": "",
    }
    assert claims_of(run, TASK) == {}
    for known in ({"versions": {TASK: "1." * 20}}, {"configs": {TASK: {"repeats": 2}}}):
        claims = claims_of(run | known, TASK)
        told = ("model_name", "date", "limit", "chat_template", "version", "repeats")
        version = "1." * 10 if "versions" in known else None
        repeats = None if version else 2
        assert [claims[x] for x in told] == ["m", 1.5, 0.1, True, version, repeats]
        assert claims_of(run | known, "tcp_long") == {}


@pytest.mark.parametrize("key", ["chat_template", "system_instruction", "versions"])
def test_results_with_a_cell_of_another_type_are_named_with_it(tmp_path, key):
    path = write(tmp_path / "results.json", {key: 1})
    with pytest.raises(ToolError, match=rf"is not a results file \('{key}' is a int, "):
        read_results(path)


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


def test_equal_knobs_are_one_difficulty_in_any_order():
    knobs = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    one, other = (Request("x", 7, 9, range(1, 4), {"x": each}) for each in knobs)
    expected = 'levels 1-3, knobs {"a": 1, "b": 2}'
    assert checks._describe_difficulty(one) == expected
    assert checks._describe_difficulty(other) == expected
