"""`temporal-eval score`: any task, any log, and why; the score is the harness's."""

import gzip
import json
from itertools import product
from pathlib import Path

import datasets
import pandas
import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import GOOD, write
from tests.conftest import EXAMPLES
from tests.logs import RecordedModel, SameModel, run
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import RENAMED, configuration, scorer
from utils.core.jsonl import read_jsonl
from utils.packs import disputed
from utils.verdicts import figures
from utils.verdicts.answers import custom_id, sha256
from utils.verdicts.judge import shorten


RECORDED = [x.stem for x in sorted((EXAMPLES / "responses/careful").glob("*.jsonl"))]
# A task of each rule.
KINDS = (
    "tcp_short tcp_long tot_arithmetic tot_semantic timebench_date_arithmetic".split()
)
KINDS += [
    f"timebench_{x}" for x in ("mctaco", "situatedgen", "timeqa_implicit", "tracie")
]
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
    return [
        row for path in sorted(folder.glob("*/verdicts_*")) for row in read_jsonl(path)
    ]


def samples(folder: Path, task: str) -> Path:
    (path,) = folder.glob(f"samples_{task}_20*.jsonl")
    return path


def test_scores_of_a_log_are_the_harness_s_to_the_last_bit(recorded_run, tables, call):
    status, rows, said = call(recorded_run, "--output", tables)
    assert (status, said) == (0, "")
    (path,) = recorded_run.glob("results_*.json")
    results = json.loads(path.read_text())["results"]
    assert set(overall(rows)) == set(RECORDED)
    for task, row in overall(rows).items():
        names = dict(zip(scorer(task).headline or (), HEADLINES))
        for metric in (x["metric"] for x in configuration(task)["metric_list"]):
            expected = results[task].get(f"{metric},none")
            assert row.get(names.get(metric, metric)) == expected
        assert (row["changed"], row["no_instruction"]) == (0, 0)
        assert row["extracted"] > 0


@pytest.mark.parametrize("names", [*RENAMED.items()][:2], ids=str)
def test_a_log_that_gives_other_scores_is_counted_whatever_it_calls_them(
    recorded_run, tmp_path, call, names
):
    path = samples(recorded_run, "tcp_long")
    lines = read_jsonl(path)
    right = next(lines[3][name] for name in names if name in lines[3])
    # As `--predict_only` writes them, but for one.
    bare = [{x: y for x, y in line.items() if x not in names} for line in lines]
    published = call(path)[1][0]["published"]
    for logged, changed in product(names, (0, 1)):
        line = bare[3] | {logged: 1 - right if changed else right}
        path = write(tmp_path / path.name, *bare[:3], line, *bare[4:])
        status, (row, *_), _ = call(path)
        assert (status, row["changed"], row["published"]) == (0, changed, published)


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
            columns.add(tuple(row))
    assert len(columns) == 1


def test_pandas_and_datasets_read_a_table_as_it_stands(tables, tmp_path):
    for task in KINDS:
        (path,) = tables.glob(f"*/verdicts_{task}.jsonl")
        frame = pandas.read_json(path, lines=True)
        found = datasets.load_dataset(
            "json", data_files=str(path), split="train", cache_dir=tmp_path / "cache"
        )
        assert len(frame) == len(found) == len(read_jsonl(path))
        assert list(frame.columns) == found.column_names
        if headline := scorer(task).headline:
            scores = [row["scores"][headline[1]] for row in found]
            assert [*frame["scores"].str[headline[1]]] == pytest.approx(scores)


@pytest.fixture(scope="module")
def kinds(recorded_run, tmp_path_factory) -> dict[str, Path]:
    """A file, or folder, of each kind of line, with recorded answers to some tasks."""
    lines: dict[str, list] = {"named": [], "whole": [], "rows": [], "batch": []}
    for task in KINDS:
        path, docs = (
            EXAMPLES / f"responses/careful/{task}.jsonl",
            documents(task, EXAMPLES),
        )
        upstream = read_jsonl(EXAMPLES / "data" / f"{scorer(task).file}.jsonl")
        for one in read_jsonl(path):
            number, response = one["doc_id"], one["response"]
            plain = {"task": task, "response": response}
            body = {"choices": [{"message": {"content": response}}]}
            name = custom_id(task, number, docs[number])
            lines["named"].append(plain | {"doc_id": number})
            lines["whole"].append(plain | {"doc": docs[number], "doc_id": number})
            lines["rows"].append(upstream[number] | plain)
            lines["batch"].append({"custom_id": name, "response": {"body": body}})
    folder = tmp_path_factory.mktemp("kinds")
    made = {x: write(folder / f"{x}.jsonl", *those) for x, those in lines.items()}
    return {"log": recorded_run, **made}


@pytest.mark.parametrize("kind", ["named", "whole", "rows", "batch"])
def test_each_kind_of_line_is_scored_alike(kinds, tables, tmp_path, call, kind):
    columns = ("task", "doc_id", *HEADLINES, "fingerprint", "rows", "n")
    _, logged, _ = call(kinds["log"], "--output", tables, "--by", "")
    status, rows, said = call(kinds[kind], "--output", tmp_path, "--by", "")
    assert (status, said, len(overall(rows))) == (0, "", len(KINDS))
    for row in overall(rows).values():
        expected = overall(logged)[row["task"]]
        assert [row.get(x) for x in columns] == [expected.get(x) for x in columns]
    scored = [row["digest"] for row in verdicts(tmp_path)]
    assert len(scored) == sum(row["n"] for row in overall(rows).values())


CHAT = {"num_fewshot": 2, "apply_chat_template": True, "fewshot_as_multiturn": True}


PROMPTS = [("api", CHAT, 0), ("without_system", CHAT, 1), ("text", {}, 0)]


@pytest.mark.parametrize("kind, options, lost", PROMPTS)
def test_prompts_that_lost_their_instruction_are_invalid(
    tmp_path, call, call_score, kind, options, lost
):
    task = "tot_semantic_separate"
    folder = run(SameModel(kind), [task], tmp_path, **options)
    path = samples(folder, task)
    prompt = read_jsonl(path)[0]["arguments"]["gen_args_0"]["arg_0"]
    assert isinstance(prompt, list if kind == "api" else str)
    status, (row, *_), said = call(folder, "--output", tmp_path / "out")
    assert (status, said) == (0, "")
    assert row["no_instruction"] == lost * row["n"]
    expected = "no_instruction" if lost else None
    first = "**Fault** in the run " if lost else "## "
    assert call_score(folder)[1].startswith(first)
    assert {row["invalid"] for row in verdicts(tmp_path / "out")} == {expected}


def test_each_filter_is_scored_and_one_that_leaves_no_string_is_named(
    recorded_run, tmp_path, call
):
    path = samples(recorded_run, "tcp_long")
    lines = read_jsonl(path)
    first = [line | {"filter": "first"} for line in lines]
    none = {"filter": "none of them", "filtered_resps": [[1, "b"]]}
    others = [line | none for line in lines]
    found = write(tmp_path / path.name, *lines, *first, *others)
    status, rows, said = call(found, "--by", "")
    expected = call(path, "--by", "")[1][0]["published"]
    published = {row["filter"]: row["published"] for row in rows}
    assert (status, published) == (1, {None: expected, "first": expected})
    assert said.count("is a list, not a string; use a filter that leaves str") == 5
    assert said.endswith(": 3 more lines were refused\n")


REFUSED = [
    'line 5: has no answer but {"code": "batch_expired"}; send the request again',
    'line 6: has no answer but {"status_code": 400, "body": {"error": {"message"',
    "line 7: is a request; give the output of the batch instead",
    "line 8: answers another version of document 7 of tcp_long than the one at",
]


def test_batch_outputs_tell_what_went_wrong(tmp_path, call):
    docs = documents("tcp_long", EXAMPLES)

    def choice(content: object, **more) -> dict:
        message = {"role": "assistant", "content": content}
        return {"response": {"body": {"choices": [{"message": message} | more]}}}

    outputs = [
        choice(f"\\boxed{{{docs[0]['answer']}}}"),
        choice(None, finish_reason="length"),  # all spent on reasoning
        choice(None, message={"content": None, "refusal": "No."}),
        {"response": {"body": {"choices": [{"text": "\\boxed{2020-01-01}"}]}}},
        {"response": None, "error": {"code": "batch_expired"}},
        {"response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
        {"body": {"messages": []}},
        choice("one"),
    ]
    lines = [
        {"custom_id": custom_id("tcp_long", n, docs[n] if n < 7 else {})} | output
        for n, output in enumerate(outputs)
    ]
    path = write(tmp_path / "output.jsonl", *lines)
    status, (row,), said = call(path, "--output", tmp_path / "out")
    names = ("n", "published", "extracted", "cut_off", "cut_off_unknown")
    assert (status, [row[x] for x in names]) == (1, [4, 0.25, 0.5, 1, 3])
    rows = verdicts(tmp_path / "out")
    reasons = [row["reason"] for row in rows]
    assert reasons == ["right", "no_answer", "no_answer", "other_value"]
    assert [row["why"] for row in rows][1:3] == ["empty response"] * 2
    for line, expected in zip(said.splitlines(), REFUSED, strict=True):
        assert line.startswith(f"{path}, {expected}")


def fingerprint(task: str, docs: list[dict]) -> str:
    family = scorer(task).utils
    return family.fingerprint(map(family.digest, docs))


SEMANTIC = "tot_semantic"
OTHER = documents(SEMANTIC, EXAMPLES)[0] | {"label": "E0"}
SIZE, NOT = "as many as the benchmark's", "not the benchmark's"
FEWER = "fewer than the benchmark's {n}"
# What of the rows is answered, and what is said where they are of a known fingerprint
# and where they are of none.
ROWS = {
    "all": (lambda docs: docs[::-1], "the benchmark's", SIZE),
    "fewer": (lambda docs: docs[1:], FEWER, FEWER),
    "more": (lambda docs: [*docs, OTHER], NOT, NOT),
    "others": (lambda docs: [OTHER, *docs[1:]], NOT, SIZE),
    "one many times": (lambda docs: docs[:1] * len(docs), NOT, f"{SIZE}, 1 different"),
    "one twice": (lambda docs: docs[:1] * 2, NOT, FEWER),
}


@pytest.mark.parametrize("kind, known", [*product(ROWS, (True, False))])
def test_the_rows_of_the_benchmark_are_told_from_others(
    tmp_path, call, monkeypatch, kind, known
):
    docs, (answered, *said) = documents(SEMANTIC, EXAMPLES), ROWS[kind]
    entry = (len(docs), fingerprint(SEMANTIC, docs) if known else None)
    monkeypatch.setitem(scorer(SEMANTIC).utils.FILES, scorer(SEMANTIC).file, entry)
    lines = [
        {"task": SEMANTIC, "doc": doc, "doc_id": n, "response": ""}
        for n, doc in enumerate(answered(docs))
    ]
    status, (row,), _ = call(write(tmp_path / "x.jsonl", *lines), "--by", "")
    expected = said[not known].format(n=len(docs))
    assert (status, row["n"], row["rows"]) == (0, len(lines), expected)


@pytest.mark.parametrize("ids", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_an_answer_is_a_second_one_whichever_has_an_id_and_in_whichever_file(
    tmp_path, call, ids
):
    one = GOOD | {"doc": documents("tcp_long", EXAMPLES)[3]}
    lines = [one | {"doc_id": 3 if x else None} for x in ids]
    whole = write(tmp_path / "whole.jsonl", *lines)
    for n, line in enumerate(lines):
        write(tmp_path / "parts" / f"{n}.jsonl", line)
    for path in (whole, tmp_path / "parts"):
        status, rows, said = call(path)
        assert (status, rows[0]["n"]) == (1, 1)
        assert "is a second answer to document " in said


def test_a_benchmark_s_own_repeats_are_answered_as_often_as_it_has_them(
    tmp_path, call, monkeypatch
):
    task, doc = "tot_arithmetic", documents("tot_arithmetic", EXAMPLES)[0]
    start = scorer(task).utils.digest(doc).hex()[:12]
    monkeypatch.setattr(figures, "_REPEATED", {scorer(task).file: {start: 3}})
    line = {"task": task, "doc": doc, "response": ""}
    path = write(tmp_path / "x.jsonl", *[line] * 4)
    status, (row,), said = call(path, "--by", "")
    assert (status, row["n"]) == (1, 3)
    assert said.startswith(f"{path}, line 4: is answer 4 to document {start} of {task}")
    assert "; keep 3, or number them" in said


@pytest.mark.parametrize("listed", [1, 2])
def test_answers_to_disputed_rows_are_left_out(tmp_path, call, monkeypatch, listed):
    docs = documents("tcp_long", EXAMPLES)
    digest = scorer("tcp_long").utils.digest
    listing = {("disputed-1", digest(doc).hex()) for doc in docs[:listed]}
    monkeypatch.setattr(disputed, "is_in", lambda *entry: entry in listing)
    path = write(tmp_path / "x.jsonl", GOOD, GOOD | {"doc_id": 1})
    status, rows, said = call(path, "--leave_out", "disputed-1")
    if listed == 2:
        assert (status, rows) == (1, [])
        assert said.endswith(" that are answered; score it without --leave_out\n")
    else:
        assert (status, rows[0]["n"], said) == (0, 1, "")
        assert rows[0]["left_out"] == "1 (disputed-1)"
    assert call(path)[1][0]["n"] == 2


TASK = "fresh_date_arithmetic"
MADE = [
    (10, 7, "made from seed 7, all 10"),
    (4, 7, "made from seed 7, 4 of its 10"),
    (10, 8, "not the 10 of seed 7"),
    (4, None, "made from a seed"),
]


@pytest.mark.parametrize("kept, made_by, expected", MADE)
@pytest.mark.parametrize("source", ["results", "pack"])
def test_what_a_seed_made_is_told_where_its_size_is_known(
    tmp_path, call, source, kept, made_by, expected
):
    made = {
        seed: [*scorer(TASK).process_docs(load(TASK[6:], seed, 10, "1-2")["test"])]
        for seed in (7, 8)
    }
    digest = fingerprint(TASK, made[7])
    told = {"gen_seed": 7, "gen_rows": 10, "gen_fingerprint": digest}
    told = told if made_by else {"gen_seed": "7", "gen_rows": None}
    lines = [{"task": TASK, "doc": doc, "response": ""} for doc in made[made_by or 7]]
    name = "2026-01-01T00-00-00"
    path = write(tmp_path / f"samples_{TASK}_{name}.jsonl", *lines[:kept])
    if source == "results":
        results = {"configs": {TASK: {"metadata": told}}}
        write(tmp_path / f"results_{name}.json", results)
    else:
        entry = {"tasks": [TASK], "generated": told, "fingerprint": digest}
        write(tmp_path / "manifest.json", {"data": {"x.jsonl": entry}})
    status, found, said = call(path, "--include_path", tmp_path)
    assert (status, said) == (0, "")
    assert (found[0]["n"], found[0]["rows"]) == (kept, expected)
    levels = [(row["value"], row["n"]) for row in found if row["by"] == "level"]
    assert sum(n for _, n in levels) == kept
    assert {value for value, _ in levels} <= {"1", "2"}


@pytest.mark.parametrize("name", ["doc_hash", "prompt_hash", "target_hash"])
def test_a_line_whose_hash_does_not_recompute_is_named_the_others_scored(
    recorded_run, tmp_path, call, name
):
    source = samples(recorded_run, "tot_arithmetic")
    first, second, third, *others = read_jsonl(source)
    del third[name]
    first["arguments"]["gen_args_0"]["arg_0"] += "!" * (name == "prompt_hash")
    first["doc"]["question"] += "!" * (name == "doc_hash")
    first["target"] += "!" * (name == "target_hash")
    path = write(tmp_path / source.name, first, second, third, *others)
    status, rows, said = call(path)
    assert (status, rows[0]["n"]) == (1, 1 + len(others))
    what = name.removesuffix("_hash")
    edited, lacking = said.splitlines()
    assert edited.startswith(f"{path}, line 1: {name} does not recompute: the {what} ")
    assert lacking.startswith(f"{path}, line 3: has no {what} or no {name}; take the")


DOC = {"answer": "2020-01-01", "answer_format": "YYYY-MM-DD"}
SAMPLE = {"filtered_resps": ["a"], "doc": DOC, "doc_id": 0, "task": "tcp_long"}
DEEP = '{"response": "", "task": "tcp_long", "doc_id": 1, "doc": '
DEEP += '{"a": ' * 900 + "1" + "}" * 901
# What a line is, and what is said of it when it is not the first of its file.
LINES = {
    "cut off": ('{"task": "tcp_long", "resp', "; fix the line"),
    "not UTF-8": (b'{"a": "\xe9"}\n', "is not UTF-8; save the file as UTF-8"),
    "deep": ("[" * 100_000, "is nested too deeply; fix the line"),
    "deep document": (DEEP, "its document is not one of tcp_long"),
    "deep sample": (DEEP.replace("response", "filtered_resps"), "; "),
    "huge number": ('{"response": ' + "9" * 5000 + "}", "limit"),
    "foreign": ({"prompt": "a", "completion": "b"}, "has no 'response', 'filtered_resps'"),
    "no task": ({"response": "a"}, "does not name its task; name the file samples_"),
    "task of another pack": (GOOD | {"task": "gsm8k"}, "task 'gsm8k' is unknown; "),
    "task of many lines": (GOOD | {"task": "a\nb\x1b[2J"}, "task 'a\\nb\\x1b[2J' is unk"),
    "task of a megabyte": (GOOD | {"task": "a" * 10**6}, "does not name its task"),
    "id out of range": (GOOD | {"doc_id": 10**9}, "has no document 1000000000 at"),
    "id that is a list": (GOOD | {"doc_id": []}, "'doc_id' is a list, not int | str | None; fix"),
    "other version": (GOOD | {"doc_id": 1, "doc_hash": "0" * 64}, "answers another version of document 1"),
    "empty document": (GOOD | {"doc": {}, "doc_id": 1}, "its document is not one of tcp_long (has no 'answer"),
    "document without a digest": (GOOD | {"doc": DOC, "doc_id": 2}, "its document is not one of tcp_long (has no 'dialogue'); give the 'doc' as the"),
    "row of another task": ({"task": "tot_arithmetic", "response": "", "question": "?"}, "and is not a row of tot_arithmetic itself (column 'question_type': None is missing"),
    "bad row": ({"task": "tot_arithmetic", "response": "", "question": "?", "question_type": "x", "label": "{"}, "itself (column 'label': '{' is not a dict in JSON or Python; fix"),
    "sample without hashes": (SAMPLE, "has no doc or no doc_hash; take the log as the"),
    "sample without prompt": (SAMPLE | {"doc_hash": sha256(json.dumps(DOC, indent=2)), "prompt_hash": ""}, "has no prompt or no prompt_hash; take"),
    "odd custom_id": ({"custom_id": "tcp_long:0:"}, "custom_id 'tcp_long:0:' is not TASK:"),
    "resps beside response": (GOOD | {"resps": ["a"]}, "has 'resps' beside 'response'; keep one"),
    "null among texts": (SAMPLE | {"resps": [["a", None]], "filtered_resps": [["a", None]]}, "response 2 of 2 is a NoneType, not a string; use"),
    "row and wrong task": ({"task": "tcp_short", "response": "", "index": 0, "dialogue": ["a"], "answer": "2024-04-12"}, "or name another --task"),
    "list as custom_id": ({"custom_id": ["a"]}, "custom_id ['a'] is not TASK:DOC_ID:HASH"),
    "batch without a body": ({"custom_id": "tcp_long:0:" + "0" * 16, "response": []}, "has no answer but []; send"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LINES)
def test_a_line_that_cannot_be_scored_is_named_the_others_scored(tmp_path, call, kind):
    line, expected = LINES[kind]
    path = write(tmp_path / "answers.jsonl", GOOD, line, "", GOOD | {"doc_id": 5})
    status, rows, said = call(path, "--output", tmp_path / "out")
    assert (status, rows[0]["n"], said.count("\n")) == (1, 2, 1)
    assert said.startswith(f"{path}, line 2: ")
    assert expected in said
    assert [row["doc_id"] for row in verdicts(tmp_path / "out")] == [0, 5]
    # Nor does a file of such lines alone have figures.
    write(path, line)
    for _ in range(2):  # a failure is kept as well
        status, rows, said = call(path, "--output", tmp_path / "out")
        assert (status, rows, said.count("\n")) == (1, [], 1)
        assert expected in said or "JSON" in said


ROWS_OF_JSON = [json.dumps(GOOD | {"doc_id": n}).encode() + b"\n" for n in range(10)]
ZIPPED = gzip.compress(b"".join(ROWS_OF_JSON[:8]))
# What a file is, and what is said of it.
FILES = {
    "empty": (b"", "{path}: has no answers that can be scored; give"),
    "CSV": (b"doc_id,response\n", "{path}, line 1: is not JSON Lines; write a"),
    "Parquet": (b"PAR1\x15\x04\xff\xfe\n", "{path}: is Parquet, not JSON Lines; convert it"),
    "half a gzip file": (ZIPPED[:9], "{path}: after line 0: the gzip data is cut off or"),
    "log of another pack": (json.dumps(GOOD | {"task": "gsm8k"}).encode(), "{path}, line 1: task 'gsm8k' is unknown"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_what_is_not_a_file_of_answers_gets_one_line(tmp_path, call, kind):
    content, expected = FILES[kind]
    path = write(tmp_path / "x.jsonl", content)
    good = write(tmp_path / "good.jsonl", GOOD)
    status, rows, said = call(path, good, "--output", tmp_path / "out")
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(expected.format(path=path))
    assert [row["run"] for row in rows] == ["good"]
    assert not [*(tmp_path / "out" / "x").glob("verdicts_*")]


def test_what_came_before_damage_is_scored(tmp_path, call):
    path = write(tmp_path / "x.jsonl.gz", gzip.compress(ROWS_OF_JSON[9]) + ZIPPED[:-12])
    for _ in range(2):  # it is never finished
        status, rows, said = call(path, "--output", tmp_path / "out")
        assert (status, rows[0]["n"] >= 1) == (1, True)
        assert said.endswith("gzip data is cut off or damaged; get the file again\n")


def test_the_first_lines_are_named_and_the_rest_is_counted(tmp_path, call):
    path = write(tmp_path / "x.jsonl", GOOD, *[GOOD | {"response": 1}] * 500)
    status, rows, said = call(path)
    *named, last = said.splitlines()
    assert (status, rows[0]["n"], len(named)) == (1, 1, 5)
    assert last == f"{path}: 495 more lines were refused"


def test_documents_that_cannot_be_loaded_are_said_once(tmp_path, call):
    path = write(tmp_path / "x.jsonl", *[GOOD] * 50)
    status, rows, said = call(path, "--include_path", tmp_path)
    assert (status, rows, said.count("\n")) == (1, [], 1)
    fault = f"{tmp_path}: has no task or group 'tcp_long'; name another"
    assert said.startswith(f"{path}: line 1: {fault}")


REPORT = """\
## n

| task           | published       | flexible        | format cost          | extracted | constant | cut off | n |
|:---------------|:----------------|:----------------|:---------------------|----------:|---------:|:--------|--:|
| tot_arithmetic | 0.0 [0.0, 96.5] | 0.0 [0.0, 96.5] | 0.0 [-100.0, +100.0] |     100.0 |    100.0 | unknown | 1 |

Fewer documents than the benchmark's: tot_arithmetic 1 of 1850.

| answers to | reason      | answers |     % | no answer by the published rule |
|:-----------|:------------|--------:|------:|--------------------------------:|
| tot        | other_value |       1 | 100.0 |                               0 |

- other_value, as in document 0 of tot_arithmetic: a value, but not the reference's
    published: {'answer': 1}
    flexible: {"answer": "1 AD"}
    label: {"answer": "263 BC"}

## format
"""
LEGEND = 'end\ntoo early. More: utils/README.md, "How to read the figures"\n'


def test_a_report_says_what_is_scored_and_why(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    one = {"task": "tot_arithmetic", "doc": doc, "response": '{"answer": 1}'}
    lines = [one | {"doc_id": n} for n in range(2)]
    runs = {"n": lines[:1], "format": lines[:1], "c": lines}
    paths = [write(Path(f"{y}.jsonl"), *runs[x]) for x, y in zip(runs, "xyz")]
    names = [f"{name}={path}" for name, path in zip(runs, paths)]
    assert main(["score", *names, "--by", "format"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(REPORT) and printed.endswith(LEGEND)
    _, _, breakdown = printed.partition("tot_arithmetic by format; ")
    prose = [line for line in printed.splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= 100
    title, _, head, rule, row, *_ = breakdown.splitlines()
    cells = [[cell.strip() for cell in x.split("|")[1:-1]] for x in (head, row)]
    assert title == "published / flexible / extracted"
    assert cells[0] == ["format", "n", "n", "format", "c"]
    assert cells[1][1:] == [
        "differs",
        *[f"0.0 [0.0, {x}] / 0.0 [0.0, {x}] / 100.0" for x in (96.5, 96.5, 95.3)],
    ]
    assert len({*map(len, (head, rule, row))}) == 1


def test_a_table_says_how_many_lines_it_lacks(recorded_run, tmp_path, call_score):
    line, *_ = read_jsonl(samples(recorded_run, "tcp_long"))
    path = write(tmp_path / "x.jsonl", *[line | {"task": "tcp_long"}] * 3)
    for _ in range(2):  # the second time, the output is finished
        status, printed, said = call_score(path, "--output", tmp_path / "out")
        assert status == 1
        assert "\nNot in these figures: 2 lines refused.\n" in printed
        assert said.count("is a second answer to document 0") == 2
