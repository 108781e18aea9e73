"""`temporal-eval score`: any task, any log, and why; the score is the harness's."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import datasets
import pandas
import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import GOOD, split, write
from tests.conftest import EXAMPLES
from tests.logs import RecordedModel, SameModel, run, sample
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.family_contract import ERROR, NUMBER, Metric
from utils.core.files import read_jsonl
from utils.core.task_scorers import configuration, scorer
from utils.core.text_layout import Layout
from utils.packs import disputed
from utils.score import _notes, _number_form
from utils.verdicts import tally as figures
from utils.verdicts.judge_answer import judge_answer, shorten
from utils.verdicts.page_excerpts import cut, shown_prompt, shown_response
from utils.verdicts.read_answers import (
    Answer,
    custom_id,
    messages_of,
    read_answers,
    sha256,
)


pytestmark = pytest.mark.usefixtures("judged_here")


RECORDED = [x.stem for x in sorted((EXAMPLES / "responses/careful").glob("*.jsonl"))]
# A task of each rule.
KINDS = """tcp_short tcp_long tot_arithmetic tot_semantic timebench_date_arithmetic
    timebench_mctaco timebench_situatedgen timebench_timeqa_implicit timebench_tracie""".split()
HEADLINES = ("published", "flexible", "extracted")


@pytest.fixture(scope="module")
def recorded_run(tmp_path_factory) -> Path:
    """The output folder of a run over every task that has recorded answers."""
    return run(RecordedModel(), RECORDED, tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def tables(recorded_run, tmp_path_factory) -> Path:
    """The folder with the tables of that run."""
    folder = tmp_path_factory.mktemp("tables")
    assert main(["score", str(recorded_run), "--output", str(folder)]) == 0
    return folder


def overall(rows: list[dict]) -> dict[str, dict]:
    """Return task -> the row of all documents."""
    return {x["task"]: x for x in rows if x["by"] is None and "tasks" not in x}


def verdicts(folder: Path) -> list[dict]:
    """Return the rows of the tables in a folder, in the order of their names."""
    paths = sorted(folder.glob("*/verdicts_*"))
    return [row for path in paths for row in read_jsonl(path)]


def samples(folder: Path, task: str) -> Path:
    (path,) = folder.glob(f"samples_{task}_20*.jsonl")
    return path


def test_scores_of_a_log_are_the_harness_s_to_the_last_bit(recorded_run, tables, call):
    status, rows, said = call(recorded_run, "--output", tables)
    [results] = map(json.loads, map(Path.read_text, recorded_run.glob("results_*")))
    assert (status, said, {*overall(rows)}) == (0, "", {*RECORDED})
    for task, row in overall(rows).items():
        names = dict(zip(scorer(task).headline.values(), HEADLINES))
        for metric in (x["metric"] for x in configuration(task)["metric_list"]):
            expected = results["results"][task].get(f"{metric},none")
            assert row.get(names.get(metric, metric)) == expected
        assert (row["changed"], row["no_instruction"]) == (0, 0)
        assert row["extracted"] > 0


@pytest.mark.parametrize("name", "acc accuracy acc_flexible accuracy_flexible".split())
def test_a_log_that_gives_other_scores_is_counted_whatever_it_calls_them(
    recorded_run, tmp_path, call, name
):
    path, current_name = (
        samples(recorded_run, "tcp_long"),
        scorer("tcp_long").metric(name),
    )
    first, *others = read_jsonl(path)
    right = first[current_name]
    for line in (first, *others):  # as `--predict_only` writes them, but for one
        del line[current_name]
    for changed in (0, 1):
        logged = first | {name: 1 - right if changed else right}
        status, (row, *_), _ = call(write(tmp_path / path.name, logged, *others))
        assert (status, row["changed"]) == (0, changed)
        assert row["published"] == call(path)[1][0]["published"]


def test_a_row_says_what_each_rule_read_where_and_why(recorded_run, tables):
    columns = set()
    for path in recorded_run.glob("samples_*.jsonl"):
        (file,) = (tables / path.name.removesuffix(".jsonl")).glob("verdicts_*")
        for line, row in zip(read_jsonl(path), read_jsonl(file), strict=True):
            task = scorer(row["task"])
            [[response]] = line["resps"]
            verdict = task.explain(line["doc"], response)
            scores = dict.fromkeys(task.metrics) | verdict.scores
            assert (row["scores"], row["reason"]) == (scores, verdict.reason)
            assert row["published"] == shorten(verdict.published, 1_000)
            reason = task.utils.REASONS[row["reason"]]
            assert row["why"] == (reason if response.strip() else "empty response")
            if span := row["flexible_span"]:
                assert response[slice(*span)] == verdict.flexible
            assert (row["value"] is None) == (verdict.value is None)
            assert row["digest"] == task.utils.digest(line["doc"]).hex()
            assert (row["doc_id"], row["length"]) == (line["doc_id"], len(response))
            assert row["reference"] and row["gold"]
            columns.add((task.family, tuple(row)))
    assert len(columns) == len({family for family, _ in columns})


def test_pandas_and_datasets_read_a_table_as_it_stands(tables, tmp_path):
    for task in KINDS:
        (path,) = tables.glob(f"*/verdicts_{task}.jsonl")
        frame = pandas.read_json(path, lines=True)
        table = datasets.Dataset.from_json(str(path), cache_dir=tmp_path / "cache")
        assert len(frame) == len(table) == len(read_jsonl(path))
        assert list(frame.columns) == table.column_names
        if headline := scorer(task).headline:
            scores = [row["scores"][headline["flexible"]] for row in table]
            assert [*frame["scores"].str[headline["flexible"]]] == pytest.approx(scores)


@pytest.mark.parametrize("kind", ["named", "whole", "rows", "batch"])
def test_each_kind_of_line_is_scored_alike(recorded_run, tables, tmp_path, call, kind):
    lines = []
    for task in KINDS:
        docs = documents(task, EXAMPLES)
        upstream = read_jsonl(EXAMPLES / "data" / f"{scorer(task).file}.jsonl")
        for answer in read_jsonl(EXAMPLES / f"responses/careful/{task}.jsonl"):
            number, response = answer["doc_id"], answer["response"]
            plain = {"task": task, "response": response}
            body = {"choices": [{"message": {"content": response}}]}
            name = custom_id(task, number, docs[number])
            line_by_kind = {
                "named": plain | {"doc_id": number},
                "whole": plain | {"doc": docs[number], "doc_id": number},
                "rows": upstream[number] | plain,
                "batch": {"custom_id": name, "response": {"body": body}},
            }
            lines.append(line_by_kind[kind])
    path = write(tmp_path / "x.jsonl", *lines)
    columns = ("task", "doc_id", *HEADLINES, "fingerprint", "rows", "n")
    expected = overall(call(recorded_run, "--output", tables, "--by", "")[1])
    status, rows, said = call(path, "--output", tmp_path / "out", "--by", "")
    assert (status, said, len(overall(rows))) == (0, "", len(KINDS))
    for task, row in overall(rows).items():
        assert [row.get(x) for x in columns] == [expected[task].get(x) for x in columns]
    assert len(verdicts(tmp_path / "out")) == len(lines)


CHAT = {"num_fewshot": 2, "apply_chat_template": True, "fewshot_as_multiturn": True}
PROMPTS = [("api", CHAT, False), ("without_system", CHAT, True), ("text", {}, False)]


@pytest.mark.parametrize(("kind", "options", "lost"), PROMPTS)
def test_prompts_that_lost_their_instruction_are_invalid(
    tmp_path, call_score, kind, options, lost
):
    folder = run(SameModel(kind), ["tot_semantic_separate"], tmp_path, **options)
    status, printed, said = call_score(folder, "--output", tmp_path / "out")
    assert (status, said) == (0, "")
    assert printed.startswith("**Fault** in the run " if lost else "Percent ")
    expected = "no_instruction" if lost else None
    assert {row["invalid"] for row in verdicts(tmp_path / "out")} == {expected}
    for option in (["--format", "csv"], ["--cite"]):  # which have no room for faults
        status, printed, said = call_score(folder, *option)
        assert (status, "Fault" in printed) == (0, False)
        assert said.startswith("Fault in the run ") == lost


@pytest.mark.parametrize(
    ("prompt", "invalid"),
    [
        ('Où? Réponse en "JSON".', None),
        (json.dumps([{"role": "user", "content": 'Où? Réponse en "JSON".'}]), None),
        ('[{"role": "user", "content": "Où? Réponse en \\"JSON\\"."}]', None),
        ('Où? Reponse en "JSON".', "no_instruction"),
    ],
)
def test_an_instruction_is_found_however_json_spells_it(
    tmp_path, call, prompt, invalid
):
    doc = documents("tot_semantic_separate", EXAMPLES)[0]
    line = sample(0, doc | {"instruction": 'Réponse en "JSON".'}, prompt, "E1")
    path = tmp_path / "samples_tot_semantic_separate_2026-01-01T00-00-00.jsonl"
    call(write(path, line), "--output", tmp_path / "out")
    assert [row["invalid"] for row in verdicts(tmp_path / "out")] == [invalid]


def test_an_answer_without_its_instruction_that_is_cut_off_lost_its_instruction(
    tmp_path, call
):
    doc = documents("tot_semantic_separate", EXAMPLES)[0]
    line = sample(0, doc | {"instruction": "Answer in JSON."}, "Where?", "E1")
    path = tmp_path / "samples_tot_semantic_separate_2026-01-01T00-00-00.jsonl"
    write(path, line | {"finish_reason": "length"})
    _, rows, _ = call(path, "--output", tmp_path / "out")
    assert [row["invalid"] for row in verdicts(tmp_path / "out")] == ["no_instruction"]
    assert (rows[0]["no_instruction"], rows[0]["cut_off"]) == (1, 0)


def test_each_filter_is_scored_and_one_that_leaves_no_string_is_named(
    recorded_run, tmp_path, call
):
    path = samples(recorded_run, "tcp_long")
    lines = read_jsonl(path)
    changes = {"filter": "first"}, {"filter": "no text", "filtered_resps": [[1, "b"]]}
    others = [line | change for change in changes for line in lines]
    status, rows, said = call(write(tmp_path / path.name, *lines, *others), "--by", "")
    expected = call(path, "--by", "")[1][0]["published"]
    published = {row["filter"]: row["published"] for row in rows}
    assert (status, published) == (1, {None: expected, "first": expected})
    assert said.count("is a list, not a string; use a filter that leaves str") == 5
    assert said.endswith(": 3 more lines were refused\n")


def test_breakdowns_are_of_one_filter_each(recorded_run, tmp_path, call_score):
    path = samples(recorded_run, "tot_arithmetic")
    lines = read_jsonl(path)[:3]
    others = [line | {"filter": "b"} for line in lines]
    path = write(tmp_path / path.name, *lines, *others)
    _, printed, _ = call_score(path, "--by", "question_type")
    titles = re.findall(r"(?m)^tot_arithmetic.* by question_type; ", printed)
    assert titles == [f"tot_arithmetic {x}by question_type; " for x in ("", "b ")]


def test_unknown_breakdowns_are_all_named(tmp_path, call_score):
    status, _, said = call_score(tmp_path / "x.jsonl", "--by", "odd,level,bad")
    assert status == 2
    assert "argument --by: bad, odd: choose from task, " in said


TEXT = f"\\boxed{{{documents('tcp_long', EXAMPLES)[0]['answer']}}}"
CHOICES = [
    ({"message": {"content": TEXT}}, "right"),
    ({"message": {"content": None}, "finish_reason": "length"}, "no_answer"),
    ({"message": {"content": None, "refusal": "No."}}, "no_answer"),
    ({"text": "\\boxed{2020-01-01}"}, "other_value"),
]


def test_a_batch_output_without_an_answer_is_an_empty_response(tmp_path, call):
    docs, lines = documents("tcp_long", EXAMPLES), []
    for n, (choice, _) in enumerate(CHOICES):
        output = {"response": {"body": {"choices": [choice]}}}
        lines.append({"custom_id": custom_id("tcp_long", n, docs[n])} | output)
    path = write(tmp_path / "output.jsonl", *lines)
    status, (row,), said = call(path, "--output", tmp_path / "out")
    figures = {"n": 4, "published": 0.25, "cut_off": 1, "cut_off_unknown": 3}
    assert (status, row | figures) == (0, row)
    assert "1 of 4 answers (25.0 %) were cut off" in said
    assert "2 of 4 answers (50.0 %) are blank" in said
    rows = verdicts(tmp_path / "out")
    assert [row["reason"] for row in rows] == [reason for _, reason in CHOICES]
    assert [row["why"] for row in rows][1:3] == ["empty response"] * 2


OTHER = documents("tot_semantic", EXAMPLES)[0] | {"label": "E0"}
SIZE, NOT = "as many as the benchmark's", "not the benchmark's"
FEWER = "fewer than the benchmark's 16"
# What of the 16 rows is answered, and what is said where they are of a known fingerprint
# and where they are of none.
ROWS = {
    "all": (lambda docs: docs[::-1], "the benchmark's", SIZE),
    "fewer": (lambda docs: docs[1:], FEWER, FEWER),
    "more": (lambda docs: [*docs, OTHER], NOT, NOT),
    "others": (lambda docs: [OTHER, *docs[1:]], NOT, SIZE),
    "one many times": (lambda docs: docs[:1] * 16, NOT, f"{SIZE}, 1 different"),
    "one twice": (lambda docs: docs[:1] * 2, NOT, FEWER),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", ROWS)
def test_the_rows_of_the_benchmark_are_told_from_others(
    tmp_path, call, monkeypatch, kind, known
):
    task, (choose, *expected) = scorer("tot_semantic"), ROWS[kind]
    docs = documents("tot_semantic", EXAMPLES)
    fingerprint = task.utils.fingerprint(map(task.utils.digest, docs))
    entry = (len(docs), fingerprint if known else None)
    monkeypatch.setattr(figures, "scorer", lambda _: task._replace(upstream=entry))
    line = {"task": "tot_semantic", "response": ""}
    lines = [line | {"doc": doc, "doc_id": n} for n, doc in enumerate(choose(docs))]
    status, (row,), _ = call(write(tmp_path / "x.jsonl", *lines), "--by", "")
    assert (status, row["n"], row["rows"]) == (0, len(lines), expected[not known])


@pytest.mark.parametrize("ids", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_an_answer_is_a_second_one_whichever_has_an_id_and_in_whichever_file(
    tmp_path, call, ids
):
    answer = GOOD | {"doc": documents("tcp_long", EXAMPLES)[3]}
    lines = [answer | {"doc_id": 3 if x else None} for x in ids]
    whole = write(tmp_path / "whole.jsonl", *lines)
    for path in (whole, split(tmp_path / "parts", lines, 1)):
        status, rows, said = call(path)
        assert (status, rows[0]["n"]) == (1, 1)
        assert "is a second answer to document " in said


def test_a_benchmark_s_own_repeats_are_answered_as_often_as_it_has_them(
    tmp_path, call, monkeypatch
):
    task, doc = "tot_arithmetic", documents("tot_arithmetic", EXAMPLES)[0]
    start = scorer(task).utils.digest(doc).hex()[:12]
    monkeypatch.setattr(figures, "_REPEATED", {scorer(task).file: {start: 3}})
    answer = {"task": task, "doc": doc, "response": ""}
    path = write(tmp_path / "x.jsonl", *[answer] * 4)
    status, (row,), said = call(path, "--by", "")
    assert (status, row["n"]) == (1, 3)
    assert said.startswith(f"{path}, line 4: is answer 4 to document {start} of {task}")
    assert "; keep 3, or number them" in said


@pytest.mark.parametrize("listed", [1, 2])
def test_answers_to_disputed_rows_are_left_out(tmp_path, call, monkeypatch, listed):
    digest, docs = scorer("tcp_long").utils.digest, documents("tcp_long", EXAMPLES)
    digests = {digest(doc).hex()[:16] for doc in docs[:listed]}
    monkeypatch.setitem(disputed.DIGESTS, "disputed-1", digests)
    path = write(tmp_path / "x.jsonl", GOOD, GOOD | {"doc_id": 1})
    _, (row, *_), _ = call(path, "--leave_out", "disputed-1")
    assert (row["n"], row["left_out"]) == (2 - listed, f"{listed} (disputed-1)")
    assert (row["published"] is None) == (listed == 2)
    # Constant answers are tried on those that are not left out, too.
    assert row["constant"] == (1.0 if listed == 1 else None)
    _, (row, *_), _ = call(path)
    assert (row["n"], row["constant"]) == (2, 0.5)


def test_a_file_that_is_no_page_is_refused_before_answers_are_read(
    tmp_path, call_score
):
    page, path = tmp_path / "page.html", write(tmp_path / "x.jsonl", GOOD)
    page.write_text("mine")
    status, printed, said = call_score(path, "--html", page)
    assert (status, printed, said.count("\n")) == (1, "", 1)
    assert page.read_text() == "mine"


def test_a_task_of_which_all_answers_are_left_out_is_no_part_of_its_benchmark(
    tmp_path, call, monkeypatch
):
    digest, [doc] = scorer("tcp_long").utils.digest, documents("tcp_long", EXAMPLES)[:1]
    monkeypatch.setitem(disputed.DIGESTS, "disputed-1", {digest(doc).hex()[:16]})
    path = write(tmp_path / "x.jsonl", GOOD, GOOD | {"task": "tcp_short"})
    options = ("--leave_out", "disputed-1", "--by", "", "--k", 1)
    status, rows, _ = call(path, *options)
    assert (status, [row["task"] for row in rows]) == (0, ["tcp_short", "tcp_long"])
    assert [row["n"] for row in rows] == [1, 0]


def test_notes_beside_the_scores_count_what_they_name():
    cells = {"filter": None, "rows": "as many as the benchmark's", "n": 1}
    rows = [
        cells | {"task": "tcp_short", "changed": 2, "left_out": "1 (d)"},
        cells | {"task": "tcp_long", "changed": 3, "left_out": "4 (d)"},
    ]
    made = {"task": "fresh_timexnli", "filter": "b", "rows": "made from a seed"}
    rows.append(cells | made | {"changed": 0, "left_out": None})
    refused = Counter(tcp_short=34, tcp_long=1200)
    model = SimpleNamespace(refused=refused, claims=lambda _: {"version": None})
    assert [*_notes(model, rows, False, Layout())] == [
        "Refused lines, not in these figures: 1,234.\n",
        "Answers to which the harness's log gives other scores: tcp_short 2, tcp_long 3.\n",
        "Left out: tcp_short 1 (d), tcp_long 4 (d).\n",
        "The rows are made from a seed: fresh_timexnli b.\n",
    ]


NUMBER_FORMS = [
    (Metric(), 0.5, "50.0"),
    (Metric(top=4), 2.5, "2.5"),
    (Metric(NUMBER), 1234.56, "1235"),
    (Metric(ERROR), 1234.56, "+1235"),
]


@pytest.mark.parametrize(("metric", "value", "text"), NUMBER_FORMS)
def test_a_metric_is_shown_by_its_kind(metric, value, text):
    assert _number_form(metric)(value) == text


def test_rows_made_from_a_seed_are_scored_by_level(tmp_path, call):
    task = "fresh_date_arithmetic"
    docs = scorer(task).process_docs(load(task[6:], 7, 10, "1-2")["test"])
    lines = [{"task": task, "doc": doc, "response": "no"} for doc in docs]
    status, (row, *parts), said = call(write(tmp_path / "x.jsonl", *lines))
    assert (status, said, row["n"], row["rows"]) == (0, "", 10, "made from a seed")
    levels = {part["value"]: part["n"] for part in parts if part["by"] == "level"}
    assert sum(levels.values()) == 10 and {*levels} <= {"1", "2"}


@pytest.mark.parametrize("name", ["doc_hash", "prompt_hash", "target_hash"])
def test_a_line_whose_hash_does_not_recompute_is_named_the_others_scored(
    recorded_run, tmp_path, call, name
):
    source, what = samples(recorded_run, "tot_arithmetic"), name.removesuffix("_hash")
    first, second, *others = read_jsonl(source)
    del second[name]
    cells = {"prompt": first["arguments"]["gen_args_0"], "doc": first["doc"]}
    cell = {"prompt": "arg_0", "doc": "question", "target": "target"}[what]
    cells.get(what, first)[cell] += "!"
    path = write(tmp_path / source.name, first, second, *others)
    status, rows, said = call(path)
    assert (status, rows[0]["n"]) == (1, len(others))
    edited, lacking = said.splitlines()
    assert edited.startswith(f"{path}, line 1: {name} does not recompute: the {what} ")
    assert lacking.startswith(f"{path}, line 2: has no {what} or no {name}; take the")


DOC = {"answer": "2020-01-01", "answer_format": "YYYY-MM-DD"}
LONG_DOC = DOC | {"dialogue": ["A: Hi."], "question": "When?"}
OUTPUT = {"custom_id": custom_id("tcp_long", 7, {})}
SAMPLE = {"filtered_resps": ["a"], "doc": DOC, "doc_id": 0, "task": "tcp_long"}
# What a line is, and what is said of it when it is not the first of its file.
LINES = {
    "cut off": ('{"task": "tcp_long", "resp', "; fix the line"),
    "not UTF-8": (b'{"a": "\xe9"}\n', "is not UTF-8; save the file as UTF-8"),
    "deep": ("[" * 100_000, "is nested too deeply; fix the line"),
    "start of another hash": (GOOD | {"doc_hash": "-"}, "answers another version of document 0 of tcp_long"),
    "foreign": ({"prompt": "a", "completion": "b"}, "has no 'response', 'filtered_resps'"),
    "no task": ({"response": "a"}, "does not name its task; name the file samples_"),
    "task of another pack": (GOOD | {"task": "gsm8k"}, "task 'gsm8k' is unknown; "),
    "task of many lines": (GOOD | {"task": "a\nb\x1b[2J"}, "task 'a\\nb\\x1b[2J' is unk"),
    "id out of range": (GOOD | {"doc_id": 10**9}, "has no document 1000000000 at"),
    "id that is a truth value": (GOOD | {"doc_id": True}, "'doc_id' is a bool, not int | str | None; fix"),
    "id that is a list": (GOOD | {"doc_id": []}, "'doc_id' is a list, not int | str | None; fix"),
    "other version": (GOOD | {"doc_id": 1, "doc_hash": "0" * 64}, "answers another version of document 1"),
    "empty document": (GOOD | {"doc": {}, "doc_id": 1}, "its document is not one of tcp_long (has no 'answer"),
    "document without a digest": (GOOD | {"doc": DOC, "doc_id": 2}, "its document is not one of tcp_long (has no 'dialogue'); give the 'doc' as the"),
    "document with an odd column": ({"task": "timebench_timeqa_explicit", "doc": {"context": "a", "question": 5, "golds": ["b"]}, "response": ""}, "('question' is 5, not a str)"),
    "level that is a text": ({"task": "fresh_tcp_long", "doc": LONG_DOC | {"level": "1"}, "response": ""}, "('level' is '1', not a int)"),
    "level that is a truth value": ({"task": "fresh_tcp_long", "doc": LONG_DOC | {"level": True}, "response": ""}, "('level' is True, not a int)"),
    "document of another task": ({"task": "tcp_short", "doc": LONG_DOC, "response": ""}, "its document is scored by within_1d, within_7d, as one of another task than tcp_short"),
    "row of another task": ({"task": "tot_arithmetic", "response": "", "question": "?"}, "and is not a row of tot_arithmetic itself (column 'question_type': None is missing"),
    "sample without hashes": (SAMPLE, "has no doc or no doc_hash; take the log as the"),
    "sample without prompt": (SAMPLE | {"doc_hash": sha256(json.dumps(DOC, indent=2)), "prompt_hash": ""}, "has no prompt or no prompt_hash; take"),
    "odd custom_id": ({"custom_id": "tcp_long:0:"}, "custom_id 'tcp_long:0:' is not TASK:"),
    "resps beside response": (GOOD | {"resps": ["a"]}, "has 'resps' beside 'response'; keep one"),
    "null among texts": (SAMPLE | {"resps": [["a", None]], "filtered_resps": [["a", None]]}, "response 2 of 2 is a NoneType, not a string; use"),
    "row and wrong task": ({"task": "tcp_short", "response": "", "index": 0, "dialogue": ["a"], "answer": "2024-04-12"}, "or name another --task"),
    "batch without a body": (OUTPUT | {"response": []}, "has no answer but []; send"),
    "batch with an error": (OUTPUT | {"error": {"code": "batch_expired"}}, 'has no answer but {"code": "batch_expired"}; send'),
    "batch with an error and a status": (OUTPUT | {"error": "expired", "response": {"status_code": 400}}, 'has no answer but "expired"; send'),
    "batch with a status": (OUTPUT | {"response": {"status_code": 400, "body": {}}}, 'has no answer but {"status_code": 400, "body":'),
    "request of a batch": (OUTPUT | {"body": {"messages": []}}, "is a request; give the output of the batch instead"),
    "batch of another version": (OUTPUT | {"response": {"body": {"choices": [{"text": "one"}]}}}, "answers another version of document 7 of tcp_long"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LINES)
def test_a_line_that_cannot_be_scored_is_named_the_others_scored(tmp_path, call, kind):
    line, expected = LINES[kind]
    path = write(tmp_path / "answers.jsonl", GOOD, line, "", GOOD | {"doc_id": 5})
    status, rows, said = call(path, "--output", tmp_path / "out")
    assert (status, rows[0]["n"], said.count("\n")) == (1, 2, 1)
    assert said.startswith(f"{path}, line 2: ") and said.count(f"{path}") == 1
    assert expected in said
    assert [row["doc_id"] for row in verdicts(tmp_path / "out")] == [0, 5]


def test_a_file_of_faulty_lines_alone_has_no_figures_and_its_failure_is_kept(
    tmp_path, call_score
):
    line, expected = LINES["foreign"]
    path = write(tmp_path / "answers.jsonl", line)
    for _ in range(2):
        for form in ("json", "markdown"):
            options = ("--output", tmp_path / "out", "--format", form)
            status, printed, said = call_score(path, *options)
            assert (status, printed, said.count("\n")) == (1, "", 1)
            assert expected in said


GOOD_LINES = [json.dumps(GOOD | {"doc_id": n}).encode() + b"\n" for n in range(8)]
ZIPPED = gzip.compress(b"".join(GOOD_LINES))
# What a file is, and what is said of it.
FILES = {
    "empty": (b"", ": has no answers that can be scored; give"),
    "CSV": (b"doc_id,response\n", ", line 1: is not JSON Lines; write a"),
    "Parquet": (b"PAR1\x15\x04\xff\xfe\n", ", line 1: is not UTF-8; save the file"),
    "half a gzip file": (ZIPPED[:9], ": after line 0: the gzip data is cut off or"),
}


@pytest.mark.parametrize("kind", FILES)
def test_what_is_not_a_file_of_answers_gets_one_line(tmp_path, call, kind):
    path = write(tmp_path / "x.jsonl", FILES[kind][0])
    good = write(tmp_path / "good.jsonl", GOOD)
    status, rows, said = call(path, good, "--output", tmp_path / "out")
    assert (status, said.count("\n"), [row["run"] for row in rows]) == (1, 1, ["good"])
    assert said.startswith(f"{path}{FILES[kind][1]}")
    assert not [*(tmp_path / "out" / "x").glob("verdicts_*")]


def test_what_came_before_damage_is_scored(tmp_path, call):
    last = json.dumps(GOOD | {"doc_id": 9}).encode() + b"\n"
    path = write(tmp_path / "x.jsonl.gz", gzip.compress(last) + ZIPPED[:-12])
    for _ in range(2):  # it is never finished
        status, rows, said = call(path, "--output", tmp_path / "out")
        assert (status, rows[0]["task"]) == (1, "tcp_long")
        assert said.endswith("gzip data is cut off or damaged; get the file again\n")


def test_what_is_wrong_with_lines_and_with_the_end_of_a_file_is_told(tmp_path, call):
    faulty = b"".join(
        json.dumps(GOOD | {"response": 1}).encode() + b"\n" for _ in "abcdef"
    )
    path = write(tmp_path / "x.jsonl.gz", gzip.compress(faulty) + ZIPPED[:-12])
    status, _, said = call(path)
    *lines, more, end = said.splitlines()
    assert (status, len(lines), more) == (1, 5, f"{path}: 1 more line was refused")
    assert end.startswith(f"{path}: after line ") and "damaged" in end


def test_the_example_of_a_reason_is_the_first_of_the_first_file(tmp_path, call_score):
    wrong = GOOD | {"response": "\\boxed{1999-01-01}"}
    write(tmp_path / "run" / "a.jsonl", wrong | {"doc_id": 5}, wrong | {"doc_id": 3})
    write(tmp_path / "run" / "b.jsonl", wrong | {"doc_id": 1})
    _, printed, _ = call_score(tmp_path / "run")
    assert re.findall("as in document (.) of", printed) == ["5"]


def test_the_first_model_that_a_batch_names_served_it(tmp_path, call):
    docs, lines = documents("tcp_long", EXAMPLES), []
    for number, model in enumerate((None, "m-1", "m-2")):
        body = {"model": model, "choices": [{"text": "a"}]}
        name = custom_id("tcp_long", number, docs[number])
        lines.append({"custom_id": name, "response": {"body": body}})
    _, [row, *_], _ = call(write(tmp_path / "x.jsonl", *lines))
    assert row["run"] == "m-1"
    lines[1]["response"]["body"]["model"] = 5  # which is no name
    for count, name in ((2, "x"), (3, "m-2")):
        _, [row, *_], _ = call(write(tmp_path / "x.jsonl", *lines[:count]))
        assert row["run"] == name


def test_refused_lines_are_counted_with_the_filter_that_they_are_of(
    tmp_path, call_score
):
    doc = documents("tcp_long", EXAMPLES)[0]
    lines = [sample(0, doc, "", "x", filter=name) for name in "fg"]
    lines += [lines[1] | {"doc_hash": ""}] * 2
    path = write(tmp_path / "samples_tcp_long_2026-01-01T00-00-00.jsonl", *lines)
    _, printed, _ = call_score(path)
    of_f, of_g = printed.split("\n## ")[1:]
    assert "Refused lines" not in of_f
    assert "Refused lines, not in these figures: 2." in of_g


def test_an_id_is_of_one_document(tmp_path, call):
    docs = documents("tcp_long", EXAMPLES)
    lines = [
        GOOD | {"doc": doc, "doc_id": "a", "sample": number}
        for number, doc in enumerate(docs[:2])
    ]
    status, [row, *_], said = call(write(tmp_path / "x.jsonl", *lines))
    assert (status, row["n"]) == (1, 1)
    assert "line 2: is a second answer to document 'a' of tcp_long; keep 1, or" in said


SAME_RESPONSES = {  # responses through a second filter -> whether they are those of the first
    "the same": ([["a"], ["b"]], True),
    "others of the first document": ([["c"], ["b"]], False),
    "exchanged": ([["b"], ["a"]], False),
}


@pytest.mark.parametrize("kind", SAME_RESPONSES)
def test_filters_of_a_task_have_the_same_responses(tmp_path, call, kind):
    docs, (responses, is_same) = documents("tcp_long", EXAMPLES), SAME_RESPONSES[kind]
    lines = [
        sample(n, docs[n], "", "x", filter=name, resps=[response])
        for name, of_filter in (("f", [["a"], ["b"]]), ("g", responses))
        for n, response in enumerate(of_filter)
    ]
    name = "samples_tcp_long_2026-01-01T00-00-00.jsonl"
    status, _, said = call(write(tmp_path / name, *lines))
    assert ("the filters of tcp_long have different 'resps'" in said) != is_same
    assert status == (not is_same)


def test_the_first_refused_lines_are_named_and_all_are_counted(tmp_path, call_score):
    path = write(tmp_path / "x.jsonl", *[GOOD] * 2, *[GOOD | {"response": 1}] * 500)
    for _ in range(2):  # the second time, the output is finished
        status, printed, said = call_score(path, "--output", tmp_path / "out")
        assert (status, said.count("\n")) == (1, 6)
        assert said.endswith(f"\n{path}: 496 more lines were refused\n")
        assert "is a second answer to document 0" in said
        assert "\nRefused lines, not in these figures: 501.\n" in printed


def test_documents_that_cannot_be_loaded_are_said_once(tmp_path, call):
    path = write(tmp_path / "x.jsonl", *[GOOD] * 50)
    status, rows, said = call(path, "--include_path", tmp_path)
    assert (status, rows, said.count("\n")) == (1, [], 1)
    fault = f"{tmp_path}: has no task or group 'tcp_long'; name another"
    assert said.startswith(f"{path}: line 1: {fault}")


EXAMPLE = """
- other_value, as in document 0 of tot_arithmetic: a value, but not the reference's
    published: {'answer': 1}
    flexible: {"answer": "1 AD"}
    label: {"answer": "263 BC"}

## format
"""


def test_a_report_says_what_is_scored_and_why(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    line = {"task": "tot_arithmetic", "doc": doc, "response": '{"answer": 1}'}
    lines = [line | {"doc_id": n} for n in range(2)]
    runs = {"n": lines[:1], "format": lines[:1], "c": lines}
    paths = [write(Path(f"{y}.jsonl"), *runs[x]) for x, y in zip(runs, "xyz")]
    names = [f"{name}={path}" for name, path in zip(runs, paths)]
    assert main(["score", *names, "--by", "format"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Percent [95 % ") and EXAMPLE in printed
    assert (
        printed.index("## n\n") < printed.index("## format\n") < printed.index("## c\n")
    )
    assert "benchmark's: tot 1 of 1850.\n" in printed
    prose = [line for line in printed.splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= 100
    _, _, breakdown = printed.partition("tot_arithmetic by format; ")
    title, _, *table = breakdown.splitlines()[:5]
    head, rule, row = ([x.strip() for x in line.split("|")[1:-1]] for line in table)
    assert title == "published / flexible / extracted"
    assert head == ["format", "n", "n", "format", "c"]
    scores = [f"0.0 [0.0, {x}] / 0.0 [0.0, {x}] / 100.0" for x in (96.5, 96.5, 95.3)]
    assert row[1:] == ["differs", *scores]
    assert len({*map(len, table)}) == 1


def test_a_long_text_is_shown_by_its_start_and_its_end():
    assert shorten("a" * 200) == "a" * 200
    assert shorten(f"{'s' * 200}{'e' * 200}") == f"{'s' * 100} … {'e' * 100}"


CUTS = [  # a text, spans in it, how long it may be; its pieces
    ("abcdefghij", [None, None], 10, [[0, "abcdefghij"]]),
    (
        "abcdefghij",
        [(2, 4), (3, 6)],
        10,
        [[0, "ab"], [1, "c"], [3, "d"], [2, "ef"], [0, "ghij"]],
    ),
    ("abcdefghij", [], 9, [[0, "abcd"], 2, [0, "ghij"]]),
    (
        "abcdefghijklmnopqrstuvwx",
        [None, (6, 18)],
        12,
        [[0, "ab"], 2, [0, "ef"], [2, "gh"], 8, [2, "qr"], [0, "st"], 2, [0, "wx"]],
    ),
]


@pytest.mark.parametrize(("text", "spans", "longest", "expected"), CUTS)
def test_a_long_text_of_a_page_keeps_what_is_around_answers(
    text, spans, longest, expected
):
    assert cut(text, spans, longest) == expected


def test_a_page_marks_the_answer_of_each_rule():
    row = {"published_span": [0, 1], "flexible_span": [2, 3]}
    answer = Answer("", {}, "tcp_long", response="abc")
    assert shown_response(answer, row) == [[1, "a"], [0, "b"], [2, "c"]]


CHAT_PROMPT = json.dumps(
    [{"role": "system", "content": "Hi."}, {"role": "user", "content": "When?"}]
)
SHOWN_PROMPTS = [  # a prompt as it was sent, and how a page shows it
    (CHAT_PROMPT, [[0, "[system]\nHi.\n\n[user]\nWhen?"]]),
    ("x" * 4_000, [[0, "x" * 4_000]]),
    ("x" * 4_001, [[0, "x" * 2_000], 1, [0, "x" * 2_000]]),
    (None, [[0, '{\n  "question": "Où?"\n}']]),  # the task cannot render the document
]


@pytest.mark.parametrize(("sent", "expected"), SHOWN_PROMPTS)
def test_a_page_shows_a_prompt_message_by_message_and_cuts_a_long_one(sent, expected):
    answer = Answer("", {}, "tot_semantic", prompt=sent)
    assert shown_prompt(answer, {"question": "Où?"}) == expected


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ('[{"content": "Où?"}]', [{"content": "Où?"}]),
        ('[{"content": "O\\u00f9?"}]', [{"content": "Où?"}]),
        ('[{"type": "text", "content": "a"}]', [{"content": "a"}]),
        ('[{"type": "image", "content": "a"}]', [{"type": "image", "content": "a"}]),
        ('[{"content":  "two blanks"}]', None),
        ('[{"content": "a"}, "b"]', None),
        ('{"content": "a"}', None),
        ("[]", None),
        ("When?", None),
    ],
)
def test_a_prompt_is_a_chat_if_it_is_spelled_as_one(sent, expected):
    assert messages_of(sent) == expected


SERVED = {"model": "m-1", "choices": [{"message": {"content": "a"}}]}
ENDED = [
    {"message": {"content": text}, "finish_reason": reason}
    for text, reason in (("a", "stop"), (None, "length"))
]
ANSWERS = [  # what a line has beside its task and document; fields of its answers
    ({"response": "a", "filter": "f"}, "filter", [None]),
    ({"response": "a", "sample": 0}, "sample", ["0"]),
    ({"response": "a", "sample": "s" * 201}, "sample", ["s" * 200]),
    ({"response": "a", "finish_reason": "length"}, "finish_reason", ["length"]),
    ({"response": "a", "task": "tcp_short"}, "task", ["tcp_short"]),
    ({"response": 1, "task": "tcp_short"}, "task", ["tcp_short"]),  # a faulty line
    ({"response": 1, "task": "none of ours"}, "task", [""]),
    ({"response": 1}, "fault", ["'response' is a int, not str; fix it"]),
    (OUTPUT | {"response": {"body": SERVED}}, "model", ["m-1"]),
    (OUTPUT | {"response": {"body": SERVED}, "body": {}}, "response", ["a"]),
    (OUTPUT | {"response": {"body": SERVED}}, "is_chat", [True]),
    (OUTPUT | {"response": {"body": {"choices": [{"text": "a"}]}}}, "is_chat", [False]),
    (OUTPUT | {"response": {"body": {"choices": ENDED}}}, "sample", ["0", "1"]),
    (OUTPUT | {"response": {"body": {"choices": ENDED}}}, "response", ["a", ""]),
    (
        OUTPUT | {"response": {"body": {"choices": ENDED}}},
        "finish_reason",
        ["stop", "length"],
    ),
    (
        OUTPUT | {"response": {"body": {"choices": ENDED}}, "sample": "s"},
        "sample",
        ["s.0", "s.1"],
    ),
    (OUTPUT | {"response": {"body": SERVED}}, "task", ["tcp_long"]),
]


@pytest.mark.parametrize(("line", "field", "expected"), ANSWERS)
def test_an_answer_has_what_its_line_says(tmp_path, line, field, expected):
    task = "tcp_short" if "custom_id" in line else "tcp_long"
    path = write(tmp_path / "x.jsonl", {"doc_id": 0} | line)
    assert [getattr(x, field) for x in read_answers(path, task)] == expected


def test_a_filter_has_the_first_response_or_all_or_another(tmp_path):
    doc = documents("tcp_long", EXAMPLES)[0]
    cases = {"a": True, "b": False, ("a", "b"): True, ("b", "a"): False}
    for left, expected in cases.items():
        left = [*left] if isinstance(left, tuple) else left
        line = sample(0, doc, "", "") | {
            "resps": [["a", "b"]],
            "filtered_resps": [left],
        }
        answers = read_answers(write(tmp_path / "x.jsonl", line), "tcp_long")
        assert {answer.is_first for answer in answers} == {expected}
    line |= {"filter": "f" * 200}
    answers = [*read_answers(write(tmp_path / "x.jsonl", line), "tcp_long")]
    assert {(x.filter, x.fault) for x in answers} == {("f" * 200, None)}


def judged(response: str, **fields: object) -> dict:
    """Return the row of an answer to a document of TCP long."""
    doc = documents("tcp_long", EXAMPLES)[0]
    line = {"filtered_resps": [[response]], "acc": 1 - ("boxed" in response)}
    answer = Answer(
        "", line, "tcp_long", doc=doc, response=response, number=7, **fields
    )
    return judge_answer(answer, doc, "x.jsonl", fields.get("prompt") and "Be brief.")


def test_a_row_has_the_response_as_it_is_and_what_is_known_of_its_prompt():
    blank, other = judged(" \n"), judged(" ", prompt="Be brief. When?")
    assert (blank["why"], blank["length"], blank["line"]) == ("empty response", 2, 7)
    assert blank["response"] == sha256(" \n")[:16] != other["response"]
    assert (blank["has_system"], other["has_system"]) == (None, True)
    assert judged("x", prompt="When?")["has_system"] is False
    right = judged(TEXT, finish_reason="f" * 201)
    assert right["finish_reason"] == f"{'f' * 100} … {'f' * 100}"
    # As lm-eval 0.5 logs it, and with one score of several that is another.
    assert (right["changed"], blank["changed"]) == (True, True)
    long_text = judged(f"Thus, the correct answer is: {'y' * 1_100}")["flexible"]
    assert long_text == f"{'y' * 500} … {'y' * 500}"


def test_parts_with_numbers_are_in_their_order(tmp_path, call_score):
    rows = documents("tot_arithmetic", EXAMPLES)
    lines = [
        {
            "task": "tot_arithmetic",
            "doc": row | {"question_type": f"part-{number}"},
            "response": "none",
        }
        for row, number in zip(rows, (10, 2))
    ]
    path = write(tmp_path / "x.jsonl", *lines)
    _, report, _ = call_score(f"x={path}", "--by", "question_type")
    assert 0 < report.index("part-2") < report.index("part-10")
    assert re.search(r"part-2 .*\] / 0\.0 \|", report)  # extracted: none


def test_a_summary_has_80_columns_and_details_have_each_task(call_score):
    arguments = (EXAMPLES / "responses" / "plain", "--include_path", EXAMPLES)
    (_, summary, _), (_, details, _) = (
        call_score(*arguments, *option) for option in ((), ("--detail",))
    )
    assert max(map(len, summary.splitlines())) <= 94  # of prose
    tables = [line for line in summary.splitlines() if line.startswith("|")]
    assert max(map(len, tables)) <= 80
    assert "| timebench (15 of 15 tasks) | 54.9 [47, 62] | 78.9 [73, 84] |" in summary
    assert "| tcp_short" not in summary and "| tcp_short" in details
    # A median of 0 says no more than the scores do.
    assert "within 24h" in details and "median error" not in details
    head, _, below = summary.partition("**Below** the best constant answer")
    assert "tcp (2 of 2 tasks) 0.0 against 12.5" in below
    assert "timebench (15 of 15" not in below.partition("\n\n")[0]


def tcp_lines(count: int, wrong: int) -> list[dict]:
    """Return answers to as many documents of TCP long, of which the first ones are wrong."""
    lines = []
    for number in range(count):
        doc = {"answer": f"2020-01-{number + 1:02}", "answer_format": "YYYY-MM-DD"}
        doc |= {"dialogue": [f"A: {number}."], "question": "When?"}
        gold = "2021-01-01" if number < wrong else doc["answer"]
        lines.append({"task": "tcp_long", "doc": doc, "response": f"\\boxed{{{gold}}}"})
    return lines


@pytest.mark.parametrize(("count", "is_shown"), [(20, True), (21, False)])
def test_a_reason_of_one_answer_in_twenty_has_an_example(
    tmp_path, call_score, count, is_shown
):
    path = write(tmp_path / "x.jsonl", *tcp_lines(count, wrong=1))
    _, printed, _ = call_score(path)
    assert ("- other_value, as in document" in printed) == is_shown


def test_rows_that_are_lacking_are_summed_over_the_tasks_of_a_benchmark(call_score):
    folder = EXAMPLES / "responses" / "careful"
    _, printed, _ = call_score(folder / "tcp_long.jsonl", folder / "tcp_short.jsonl")
    [heading_of_first, heading_of_second] = re.findall("(?m)^## (.*)$", printed)
    assert (heading_of_first, heading_of_second) == ("tcp_long", "tcp_short")
    paths = (f"x={folder / name}.jsonl" for name in ("tcp_long", "tcp_short"))
    _, printed, _ = call_score(*paths)
    assert "Fewer documents than the benchmark's: tcp 16 of 600." in printed


def test_documents_that_are_lacking_are_counted_whatever_their_answers(
    tmp_path, call_score
):
    answers = [GOOD | {"doc_id": n % 3, "sample": n // 3} for n in range(12)]
    _, printed, _ = call_score(write(tmp_path / "x.jsonl", *answers))
    assert "Fewer documents than the benchmark's: tcp 3 of 300." in printed


@pytest.mark.parametrize(
    ("endings", "shown"),
    [
        (["stop"] * 3, "0.0"),
        ([None] * 3, "unknown"),
        (["stop", "length", None], "33.3"),
    ],
)
def test_who_was_cut_off_is_unknown_where_no_file_tells(
    tmp_path, call_score, endings, shown
):
    docs, lines = documents("tcp_long", EXAMPLES), []
    for number, ending in enumerate(endings):
        choice = {"message": {"content": "\\boxed{1}"}, "finish_reason": ending}
        output = {"response": {"body": {"choices": [choice]}}}
        name = custom_id("tcp_long", number, docs[number])
        lines.append({"custom_id": name} | output)
    _, printed, _ = call_score(write(tmp_path / "x.jsonl", *lines), "--detail")
    header, row = re.findall(r"(?m)^\| (?:task|tcp_long) .*$", printed)[:2]
    cells = dict(zip(*(line.strip("| ").split("|") for line in (header, row))))
    assert {name.strip(): cell.strip() for name, cell in cells.items()}[
        "cut off"
    ] == shown


def test_who_was_cut_off_is_a_share_of_the_answers_not_of_documents(
    tmp_path, call_score
):
    lines = [GOOD | {"sample": n, "finish_reason": "stop"} for n in range(2)]
    lines[0]["finish_reason"] = "length"
    _, printed, _ = call_score(write(tmp_path / "x.jsonl", *lines), "--detail")
    assert re.search(r"(?m)^\| tcp_long .*\| +50\.0 \| +1 \|$", printed)
    assert re.search(r"(?m)^\| tcp_long +\| +2 \|$", printed)  # answers


def test_tasks_weigh_as_many_documents_as_they_have_however_many_answers(
    tmp_path, call
):
    lines = [GOOD | {"sample": n} for n in range(3)]
    lines.append({"task": "tcp_short", "doc_id": 0, "response": "?"})
    _, rows, _ = call(write(tmp_path / "x.jsonl", *lines), "--by", "")
    extracted = {row["task"]: row["extracted"] for row in rows}
    assert extracted == {"tcp": 0.5, "tcp_short": 0, "tcp_long": 1}


@pytest.mark.parametrize(("wrong", "is_below"), [(0, False), (10, False), (11, True)])
def test_a_score_is_below_the_constant_answer_or_equal_to_it(
    tmp_path, call_score, wrong, is_below
):
    """Ten of twenty documents have one label: the constant answer scores 50 %."""
    lines = tcp_lines(20, wrong=0)
    for number, line in enumerate(lines):
        if number < 10:
            line["doc"]["answer"] = "2019-05-05"
        line["response"] = f"\\boxed{{{line['doc']['answer']}}}"
        if number < wrong:
            line["response"] = "\\boxed{2021-01-01}"
    _, printed, _ = call_score(write(tmp_path / "x.jsonl", *lines), "--detail")
    assert re.search(r"\| +50\.0 \|", printed)  # the constant answer
    assert ("the best constant answer, which is the same" in printed) == is_below


def test_a_constant_answers_each_document_once_however_many_answers_it_has(
    tmp_path, call
):
    lines = [
        line | {"sample": number}
        for line in tcp_lines(8, wrong=8)
        for number in range(4)
    ]
    _, [row, *_], _ = call(write(tmp_path / "x.jsonl", *lines))
    assert (row["n"], row["answers"], row["constant"]) == (8, 32, 1 / 8)


@pytest.mark.parametrize("size", [4, 1])
def test_a_constant_answers_the_documents_of_all_files_of_a_run(tmp_path, call, size):
    lines = tcp_lines(4, wrong=0)
    for line in lines:
        line["doc"]["answer"] = "2019-05-05"
    _, [row, *_], _ = call(split(tmp_path / "run", lines, size))
    assert (row["n"], row["constant"]) == (4, 1)


def test_who_ends_in_reasoning_is_cut_off_and_not_unknown(tmp_path, call):
    [line] = tcp_lines(1, wrong=0)
    path = write(tmp_path / "x.jsonl", line | {"response": "<think>so"})
    _, rows, _ = call(path)
    row = overall(rows)["tcp_long"]
    assert (row["cut_off"], row["cut_off_unknown"]) == (1, 0)


@pytest.mark.parametrize("doc_id", [-1, 8, 10**30])
def test_a_number_that_no_document_has_is_refused(tmp_path, call_score, doc_id):
    line = {"task": "tcp_long", "doc_id": doc_id, "response": "x"}
    status, printed, said = call_score(write(tmp_path / "x.jsonl", line))
    assert (status, printed) == (1, "")
    assert f"no document {doc_id}" in said


def test_values_that_were_read_are_a_share_of_the_answers(tmp_path, call):
    first, second = tcp_lines(1, wrong=0), tcp_lines(1, wrong=1)
    lines = [first[0] | {"sample": 0}, second[0] | {"sample": 1}]
    _, rows, _ = call(write(tmp_path / "x.jsonl", *lines))
    assert overall(rows)["tcp_long"]["error_read"] == 1
