"""`temporal-eval score`: any task, any log, and why; the score is the harness's."""

import gzip
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from lm_eval_tasks.fresh.utils import load
from tests.conftest import EXAMPLES, ROOT, TASKS
from tests.logs import RecordedModel, SameModel, run
from utils.score import command as score_module
from utils.packs import offline
from utils.__main__ import main
from utils.runs.answers import custom_id, document_text, sha256
from utils.core.documents import documents
fault=None
from utils.core.families import scorer
from utils.core.jsonl import SUFFIXES, read_jsonl, written_lines
Sum=None


RESPONSES = sorted((EXAMPLES / "responses").glob("*.jsonl"))
RECORDED = [path.stem for path in RESPONSES]
COMMAND = [sys.executable, "-m", "utils", "score"]
HEADLINES = ("published", "flexible", "extracted")


@pytest.fixture(scope="module")
def recorded_run(tmp_path_factory) -> Path:
    """The output folder of a run over every task that has recorded answers."""
    return run(RecordedModel(), RECORDED, tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def call(capsys):
    """Call the tool; return its exit status, the rows of its tables, and stderr."""

    def called(*arguments: object) -> tuple[int, list[dict], str]:
        capsys.readouterr()  # what the harness said
        status = main(["score", "--format", "json", *map(str, arguments)])
        printed = capsys.readouterr()
        return status, json.loads(printed.out or "[]"), printed.err

    return called


def write(path: Path, *lines: dict | str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for line in lines:
            text = json.dumps(line) if isinstance(line, dict) else line
            file.write(text if isinstance(text, bytes) else text.encode() + b"\n")
    return path


def names(folder: Path) -> list[str]:
    """Return the names of the outputs in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def overall(rows: list[dict]) -> dict[str, dict]:
    """Return task -> the row of all documents."""
    return {row["task"]: row for row in rows if row["by"] is None}


def samples(folder: Path, task: str) -> Path:
    (path,) = folder.glob(f"samples_{task}_20*.jsonl")
    return path


# ------------------------------------------------------------ the harness's scores


@pytest.mark.parametrize("answers", ["dummy_run", "recorded_run"])
def test_scores_of_a_log_are_the_harness_s_to_the_last_bit(request, call, answers):
    folder = request.getfixturevalue(answers)
    status, rows, said = call(folder)
    assert (status, said) == (0, "")
    (path,) = folder.glob("results_*.json")
    results = json.loads(path.read_text())["results"]
    assert set(overall(rows)) == set(TASKS if answers == "dummy_run" else RECORDED)
    for task, row in overall(rows).items():
        names = dict(zip(scorer(task).headline or (), HEADLINES))
        for metric in scorer(task).metrics:
            expected = results[task].get(f"{metric},none")
            assert row.get(names.get(metric, metric)) == expected
        assert row["changed"] == 0
    if answers == "recorded_run":
        assert all(row["extracted"] > 0 for row in overall(rows).values())


def test_a_sum_is_the_one_of_the_harness_to_the_last_bit():
    values = [1 / n for n in range(1, 500)] + [1e16, 1.0, -1e16]
    total = Sum()
    for value in values:
        total.add(value)
    assert float(total) == sum(values)


def test_parts_add_up_to_the_whole(recorded_run, call):
    _, rows, _ = call(recorded_run)
    for task, row in overall(rows).items():
        for name in {x["by"] for x in rows if x["task"] == task and x["by"]}:
            parts = [x for x in rows if (x["task"], x["by"]) == (task, name)]
            assert sum(x["n"] for x in parts) <= row["n"]
            if sum(x["n"] for x in parts) == row["n"]:
                mean = sum(x["n"] * x["flexible"] for x in parts) / row["n"]
                assert mean == pytest.approx(row["flexible"])


def test_a_log_that_gives_other_scores_is_counted(dummy_run, tmp_path, call):
    first, *others = read_jsonl(samples(dummy_run, "tcp_long"))
    path = write(
        tmp_path / "samples_tcp_long_2026-01-01T00-00-00.jsonl",
        first | {"acc": 1.0},
        *others,
    )
    status, rows, _ = call(path)
    assert (status, rows[0]["changed"], rows[0]["published"]) == (0, 1, 0.0)


# -------------------------------------------------------------------------- and why


def answer_lines(tmp_path: Path) -> list[Path]:
    """Return a file of each kind of line, with recorded answers to every task."""
    named, whole, rows, batch = [], [], [], []
    for path in RESPONSES:
        task, found = path.stem, documents(path.stem, EXAMPLES)
        upstream = read_jsonl(EXAMPLES / "data" / f"{scorer(task).file}.jsonl")
        for one in read_jsonl(path):
            doc, response = found[one["doc_id"]], one["response"]
            body = {"choices": [{"message": {"content": response}}]}
            plain = {"task": task, "response": response}
            named.append(plain | {"doc_id": one["doc_id"]})
            whole.append(plain | {"doc": doc, "doc_id": one["doc_id"]})
            rows.append(upstream[one["doc_id"]] | plain)
            batch.append(
                {
                    "custom_id": custom_id(task, one["doc_id"], doc),
                    "response": {"status_code": 200, "body": body},
                    "error": None,
                }
            )
    kinds = {"named": named, "whole": whole, "rows": rows, "batch": batch}
    return [write(tmp_path / f"{kind}.jsonl", *x) for kind, x in kinds.items()]


def test_every_kind_of_line_gets_the_scores_of_the_log(recorded_run, tmp_path, call):
    first = ("task", "doc_id", *HEADLINES, "fingerprint", "rows", "n")
    _, logged, _ = call(recorded_run)
    for path in answer_lines(tmp_path):
        status, rows, said = call(path, "--include_path", EXAMPLES)
        assert (status, said) == (0, ""), path
        assert set(overall(rows)) == set(overall(logged))
        for task, row in overall(rows).items():
            expected = overall(logged)[task]
            assert all(row.get(x) == expected.get(x) for x in first), (path, task)


def test_a_line_says_what_each_rule_read_where_and_why(recorded_run, tmp_path, call):
    status, _, _ = call(recorded_run, "--output", tmp_path)
    assert status == 0
    for path in recorded_run.glob("samples_*.jsonl"):
        lines = read_jsonl(tmp_path / path.name)
        for given, line in zip(read_jsonl(path), lines, strict=True):
            verdict = line.pop("verdict")
            task = scorer(line.pop("task"))
            assert line == given
            (response,) = line["filtered_resps"]
            explained = task.explain(line["doc"], response)
            assert verdict["scores"] == explained.scores
            assert verdict["reason"] == explained.reason
            assert verdict["why"] == task.utils.REASONS[explained.reason]
            assert verdict["version"] == task.version
            assert verdict["published"] == explained.published
            if span := verdict["flexible_span"]:
                assert response[slice(*span)] == verdict["flexible"]
            assert (verdict["value"] is None) == (explained.value is None)
            assert verdict["reference"]


@pytest.mark.parametrize("kind", ["log", "gzip", "named", "whole", "rows", "batch"])
def test_scoring_what_it_wrote_changes_nothing(recorded_run, tmp_path, call, kind):
    if kind in ("log", "gzip"):
        path = samples(recorded_run, "timebench_menatqa_scope")
    else:
        (path,) = (x for x in answer_lines(tmp_path / "in") if x.stem == kind)
    if kind == "gzip":
        path = tmp_path / f"{path.name}.gz"
        source = samples(recorded_run, "timebench_menatqa_scope")
        path.write_bytes(gzip.compress(source.read_bytes()))
    tables, contents = [], []
    for name in ("one", "two"):
        output = tmp_path / name
        status, rows, _ = call(path, "--output", output, "--include_path", EXAMPLES)
        assert status == 0
        path = output / path.name
        contents.append(path.read_bytes())
        tables.append([row | {"run": ""} for row in rows])
    assert contents[0] == contents[1] != b""
    assert tables[0] == tables[1]


def test_what_only_an_escape_can_write_is_written_and_read_again(tmp_path, call):
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    for number, response in enumerate(
        ('{"answer": "\ud800"}', '{"answer": NaN}', "\u2028\x00")
    ):
        path = write(
            tmp_path / f"{number}.jsonl",
            {"task": "tot_arithmetic", "doc": doc, "response": response},
        )
        assert call(path, "--output", tmp_path / "out")[0] == 0
        (line,) = (tmp_path / "out" / path.name).read_text().split("\n")[:-1]
        json.loads(line, parse_constant=lambda name: pytest.fail(name))
        assert call(tmp_path / "out" / path.name)[0] == 0


# ------------------------------------------------------------------- kinds of logs


@pytest.mark.parametrize(
    "kind, invalid", [("api", 0), ("text", 0), ("without_system", 1)]
)
def test_prompts_that_lost_their_instruction_are_invalid(tmp_path, call, kind, invalid):
    folder = run(
        SameModel(kind),
        ["tot_separate"],
        tmp_path,
        apply_chat_template=True,
        num_fewshot=2,
        fewshot_as_multiturn=True,
    )
    prompt = read_jsonl(samples(folder, "tot_semantic_separate"))[0]["arguments"]
    assert isinstance(prompt["gen_args_0"]["arg_0"], list if kind == "api" else str)
    status, rows, said = call(folder, "--output", tmp_path / "out")
    assert (status, said) == (0, "")
    for task, row in overall(rows).items():
        assert row["no_instruction"] == invalid * row["n"] > -1
        lines = read_jsonl(samples(tmp_path / "out", task))
        word = "no_instruction" if invalid else None
        assert {line["verdict"]["invalid"] for line in lines} == {word}


def test_a_prompt_with_its_instruction_is_valid_without_a_chat_template(
    dummy_run, call
):
    _, rows, _ = call(*dummy_run.glob("samples_tot_*_separate_*.jsonl"))
    assert len(overall(rows)) == 2
    assert {row["no_instruction"] for row in rows} == {0}


def test_a_log_of_predict_only_has_scores(recorded_run, tmp_path, call):
    folder = run(RecordedModel(), ["tcp_long"], tmp_path, predict_only=True)
    assert "acc" not in read_jsonl(samples(folder, "tcp_long"))[0]
    _, (row, *_), _ = call(folder)
    _, (expected, *_), _ = call(samples(recorded_run, "tcp_long"))
    assert row | {"run": ""} == expected | {"run": ""}


FILTERS = """
repeats: 2
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: most, filter: [{function: majority_vote}, {function: take_first}]}
  - {name: both, filter: [{function: take_first_k, k: 2}]}
"""


def test_each_filter_is_scored_and_one_that_leaves_several_is_named(tmp_path, call):
    pack = tmp_path / "pack"
    pack.mkdir()
    for path in EXAMPLES.iterdir():
        if path.suffix != ".yaml":
            (pack / path.name).symlink_to(path)
    (pack / "local_data.py").unlink()
    (pack / "local_data.py").write_text((EXAMPLES / "local_data.py").read_text())
    (pack / "linked.py").unlink()
    (pack / "linked.py").write_text((EXAMPLES / "linked.py").read_text())
    text = (EXAMPLES / "tcp_long.yaml").read_text()
    (pack / "tcp_long.yaml").write_text(text.replace("../", f"{ROOT}/") + FILTERS)
    folder = run(
        RecordedModel(), ["tcp_long"], tmp_path / "out", pack, predict_only=True
    )
    status, rows, said = call(folder)
    found = {row["filter"]: row["published"] for row in rows}
    assert status == 1
    assert found == {"first": 0.875, "most": 0.875}
    assert said.count("is a list, not a string; use a filter that leaves one") == 8
    assert main(["score", str(folder)]) == 1  # also as Markdown


def test_batch_outputs_tell_what_went_wrong(tmp_path, call):
    doc = documents("tcp_long", EXAMPLES)[0]

    def output(number: int, **response) -> dict:
        doc = documents("tcp_long", EXAMPLES)[number]
        return {
            "custom_id": custom_id("tcp_long", number, doc),
            "error": None,
        } | response

    def choice(content: object, **more) -> dict:
        message = {"role": "assistant", "content": content}
        body = {"choices": [{"message": message, "finish_reason": "stop"} | more]}
        return {"response": {"status_code": 200, "body": body}}

    path = write(
        tmp_path / "output.jsonl",
        output(0, **choice(f"\\boxed{{{doc['answer']}}}")),
        output(1, **choice(None, finish_reason="length")),  # all spent on reasoning
        output(2, **choice(None, message={"content": None, "refusal": "No."})),
        output(3, response={"body": {"choices": [{"text": "\\boxed{2020-01-01}"}]}}),
        output(4, response=None, error={"code": "batch_expired"}),
        output(5, response={"status_code": 400, "body": {"error": {"message": "no"}}}),
        output(6, body={"messages": []}),
        output(7, **choice("one")) | {"custom_id": custom_id("tcp_long", 7, {})},
    )
    status, (row,), said = call(
        path, "--include_path", EXAMPLES, "--output", tmp_path / "out"
    )
    assert status == 1
    assert (row["n"], row["published"], row["extracted"], row["cut_off"]) == (
        4,
        0.25,
        0.5,
        1,
    )
    lines = read_jsonl(tmp_path / "out" / path.name)
    reasons = [line["verdict"]["reason"] for line in lines]
    assert reasons == ["right", "no_answer", "no_answer", "other_value"]
    expired, refused, request, other = said.splitlines()
    assert expired.endswith(
        ', line 5: has no answer but {"code": "batch_expired"}; send the request again'
    )
    assert "line 6: has no answer but" in refused and '"no"' in refused
    assert request.endswith(
        "line 7: is a request; give the output of the batch instead"
    )
    assert "line 8: answers another version of document 7 of tcp_long" in other


# ------------------------------------------------------- the rows of the benchmark


@pytest.fixture(scope="module")
def real_run(tmp_path_factory, shared) -> Path:
    """The output folder of a run over real rows."""
    folder = tmp_path_factory.mktemp("real")
    tasks = [
        "tot_arithmetic",
        "tot_arithmetic_separate",
        "timebench_tempreason_l3_facts",
    ]
    sources = [f"--source={name}={shared / name}" for name in ("tot", "timebench")]
    assert (
        offline.main([str(folder / "pack"), "--tasks", ",".join(tasks), *sources]) == 0
    )
    return run(SameModel("text"), tasks, folder / "out", folder / "pack")


def test_the_rows_of_the_benchmark_are_told_from_others(real_run, tmp_path, call):
    _, rows, _ = call(real_run, "--by", "")
    assert len(rows) == 3
    assert {row["rows"] for row in rows} == {"the benchmark's"}
    path = samples(real_run, "tot_arithmetic")
    first, *others = read_jsonl(path)
    doc = first["doc"] | {"label": '{"answer": 1}'}
    text = json.dumps(doc, indent=2, ensure_ascii=False)
    changed = {"doc": doc, "doc_hash": sha256(text)}
    name, rows_are = path.name, []
    for lines in (others, [first | changed, *others], [*reversed(others), first]):
        status, (row,), _ = call(write(tmp_path / name, *lines), "--by", "")
        rows_are.append((status, row["n"], row["rows"]))
    assert rows_are == [
        (0, 1849, "fewer than the benchmark's 1850"),
        (0, 1850, "not the benchmark's"),
        (0, 1850, "the benchmark's"),
    ]


def test_rows_of_every_file_of_timebench_are_known(shared, tmp_path, call):
    for task in (task for task in TASKS if task.startswith("timebench_")):
        rows = read_jsonl(shared / "timebench" / f"{scorer(task).file}.jsonl")
        path = write(
            tmp_path / f"{task}.jsonl", *(row | {"response": ""} for row in rows)
        )
        status, found, said = call(path, "--task", task, "--by", "")
        assert (status, said, found[0]["rows"]) == (0, "", "the benchmark's")


def test_as_many_rows_as_the_benchmark_has_are_said_to_be_no_more(tmp_path, call):
    found = documents("tcp_long", EXAMPLES)
    lines = [
        GOOD | {"doc": found[i % 8] | {"question": f"When, {i}?"}} for i in range(301)
    ]
    for count, expected in (
        (299, "fewer than the benchmark's 300"),
        (300, "as many as the benchmark's"),
        (301, "not the benchmark's"),
    ):
        numbered = (line | {"doc_id": i} for i, line in enumerate(lines[:count]))
        _, (row,), _ = call(write(tmp_path / "x.jsonl", *numbered))
        assert row["rows"] == expected


@pytest.mark.parametrize("ids", [False, True], ids=["without ids", "with ids"])
@pytest.mark.parametrize(
    "task, expected",
    [
        ("tcp_long", "as many as the benchmark's, 1 different"),
        ("tot_arithmetic", "not the benchmark's"),
    ],
)
def test_one_document_many_times_is_not_the_benchmark(
    tmp_path, call, ids, task, expected
):
    one = {"task": task, "doc": documents(task, EXAMPLES)[0], "response": ""}
    lines = [one | ({"doc_id": n} if ids else {}) for n in range(300)]
    path = write(tmp_path / "x.jsonl", *lines)
    status, rows, said = call(path, "--by", "")
    if ids:
        assert (status, rows[0]["n"], rows[0]["rows"]) == (0, 300, expected)
        return
    assert (status, rows[0]["n"]) == (1, 1)
    first, *_, last = said.splitlines()
    assert first.startswith(f"{path}, line 2: is a second answer to document ")
    assert last == f"{path}: 289 more lines were refused"


def test_answers_that_are_copied_do_not_count_more(shared, tmp_path, call):
    path = min((shared / "responses").glob("*.jsonl"))
    rows = read_jsonl(path)
    twice = write(tmp_path / path.name, *rows, *rows[:500])
    options = ("--task", "tot_arithmetic", "--by", "")
    status, found, said = call(twice, *options)
    assert (status, said.count("is a second answer to document ")) == (1, 10)
    assert found == call(path, *options)[1]


@pytest.mark.parametrize("ids", [(0, 0), (0, 1), (1, 0)], ids=str)
def test_an_answer_is_a_second_one_whichever_has_an_id_and_in_whichever_file(
    tmp_path, call, ids
):
    doc = documents("tcp_long", EXAMPLES)[3]
    lines = [
        {"task": "tcp_long", "doc": doc, "response": ""} | ({"doc_id": 3} if x else {})
        for x in ids
    ]
    whole = write(tmp_path / "whole.jsonl", *lines)
    for n, line in enumerate(lines):
        write(tmp_path / "parts" / f"{n}.jsonl", line)
    for path in (whole, tmp_path / "parts"):
        status, rows, said = call(path)
        assert (status, rows[0]["n"]) == (1, 1)
        assert "is a second answer to document " in said


def test_a_benchmark_s_own_repeats_are_answered_as_often_as_it_has_them(
    shared, tmp_path, call
):
    upstream = read_jsonl(shared / "timebench" / "menatqa_scope_timebench.jsonl")
    rows = [row | {"response": ""} for row in upstream]
    three = next(row for row in rows if rows.count(row) == 3)
    path = write(tmp_path / "x.jsonl", *rows, three)
    options = ("--task", "timebench_menatqa_scope", "--by", "")
    status, (row,), said = call(path, *options)
    assert (status, row["n"], row["rows"]) == (1, 500, "the benchmark's")
    assert said.endswith(
        " of timebench_menatqa_scope, of which the benchmark has 3 rows; keep 3\n"
    )
    assert f"{path}, line 501: is answer 4 to document " in said


def test_rows_made_from_a_seed_are_said_to_be_and_broken_down_by_level(tmp_path, call):
    rows = load("timexnli", gen_seed=1, gen_rows=10, gen_levels="9-10")["test"]
    lines = ({**row, "response": ""} for row in rows)
    path = write(tmp_path / "x.jsonl", *lines)
    status, found, said = call(path, "--task", "fresh_timexnli")
    assert (status, said, found[0]["rows"]) == (0, "", "made from a seed")
    levels = [(row["value"], row["n"]) for row in found if row["by"] == "level"]
    assert levels == [("9", 5), ("10", 5)]


TASK = "fresh_date_arithmetic"


def made_lines(seed: int) -> tuple[list[dict], dict]:
    """Return answers to ten rows of a seed, and what the harness says of these."""
    rows = load("date_arithmetic", seed, 10, "1-2")["test"]
    docs = list(scorer(TASK).process_docs(rows))
    digests = map(scorer(TASK).utils.digest, docs)
    fingerprint = scorer(TASK).utils.fingerprint(digests)
    made = {"gen_seed": seed, "gen_rows": 10, "gen_fingerprint": fingerprint}
    return [{"task": TASK, "doc": doc, "response": ""} for doc in docs], made


@pytest.mark.parametrize(
    "kept, seed, expected",
    [
        (10, 7, "made from seed 7, all 10"),
        (4, 7, "made from seed 7, 4 of its 10"),
        (10, 8, "not the 10 of seed 7"),
        (4, None, "made from a seed"),
    ],
)
@pytest.mark.parametrize("source", ["results", "pack"])
def test_a_part_of_what_a_seed_made_is_told_where_its_size_is_known(
    tmp_path, call, source, kept, seed, expected
):
    answers, made = made_lines(seed or 7)[0], made_lines(7)[1]
    name = f"{TASK}_2026-01-01T00-00-00"
    path = write(tmp_path / f"samples_{name}.jsonl", *answers[:kept])
    options, metadata = [], made if seed else {"gen_seed": "7", "gen_rows": None}
    if source == "results":
        results = {"configs": {TASK: {"metadata": metadata}}}
        write(tmp_path / "results_2026-01-01T00-00-00.json", results)
    else:
        fingerprint = made["gen_fingerprint"]
        entry = {"tasks": [TASK], "generated": metadata, "fingerprint": fingerprint}
        write(tmp_path / "pack" / "manifest.json", {"data": {"x.jsonl": entry}})
        options = ["--include_path", tmp_path / "pack"]
    status, (row, *_), said = call(path, *options)
    assert (status, said, row["n"], row["rows"]) == (0, "", kept, expected)


def test_the_pack_that_generate_makes_tells_its_seed(tmp_path, call):
    pack = tmp_path / "pack"
    made = ["--gen-seed", "7", "--gen-rows", "10", "--gen-levels", "1-2"]
    assert main(["generate", str(pack), *made, "--tasks", TASK]) == 0
    path = write(tmp_path / "x.jsonl", *made_lines(7)[0])
    _, (row, *_), _ = call(path, "--include_path", pack)
    assert row["rows"] == "made from seed 7, all 10"


# ---------------------------------------------------------------- lines not scored


def edited(line: dict, name: str) -> dict:
    """Return a sample in which what a hash is of was edited."""
    line = json.loads(json.dumps(line))
    if name == "prompt_hash":
        line["arguments"]["gen_args_0"]["arg_0"] += "!"
    elif name == "doc_hash":
        line["doc"]["question"] += "!"
    else:
        line["target"] += "!"
    return line


@pytest.mark.parametrize("name", ["doc_hash", "prompt_hash", "target_hash"])
@pytest.mark.parametrize(
    "task", ["tcp_short", "tot_arithmetic", "timebench_timeqa_implicit"]
)
def test_a_line_whose_hash_does_not_recompute_is_named_the_others_scored(
    recorded_run, tmp_path, call, task, name
):
    source = samples(recorded_run, task)
    first, second, third, *others = read_jsonl(source)
    del third[name]
    path = write(tmp_path / source.name, edited(first, name), second, third, *others)
    status, rows, said = call(path, "--output", tmp_path / "out")
    assert (status, rows[0]["n"]) == (1, 1 + len(others))
    what = name.removesuffix("_hash")
    assert said.splitlines() == [
        f"{path}, line 1: {name} does not recompute: the {what} is not the one that was"
        " run; take the log as the harness wrote it",
        f"{path}, line 3: has no {name}; take the log as the harness wrote it",
    ]
    lines = read_jsonl(tmp_path / "out" / path.name)
    assert [x["doc_id"] for x in lines] == [x["doc_id"] for x in (second, *others)]


OLDER = {"verdict": {}}  # of an output that the tool made before
GOOD = {"task": "tcp_long", "doc_id": 0, "response": "\\boxed{2020-01-01}"}
DOC = {"answer": "2020-01-01", "answer_format": "YYYY-MM-DD"}
SAMPLE = {"filtered_resps": ["a"], "doc": DOC, "doc_id": 0, "task": "tcp_long"}
DEEP = (
    '{"response": "", "task": "tcp_long", "doc_id": 1, "doc": '
    + '{"a": ' * 900
    + "1"
    + "}" * 901
)
# What a line is, and what is said of it when it is not the first of its file.
LINES = {
    "cut off": ('{"task": "tcp_long", "resp', "; fix the line"),
    "not JSON": ("{task: 1}", "Expecting property name"),
    "a list": ("[]", "is not a JSON object; fix the line"),
    "not UTF-8": (b'{"a": "\xe9"}\n', "is not UTF-8; save the file as UTF-8"),
    "bytes": (b"\x00\x93\xff\xfe\n", "is not UTF-8"),
    "deep": ("[" * 100_000, "is nested too deeply; fix the line"),
    "deep document": (DEEP, "its document is not one of tcp_long"),
    "deep sample": (DEEP.replace("response", "filtered_resps"), "; "),
    "huge number": ('{"response": ' + "9" * 5000 + "}", "limit"),
    "foreign": ({"prompt": "a", "completion": "b"}, "has no 'response', 'filtered_resps'"),
    "no task": ({"response": "a"}, "does not name its task; name the file samples_"),
    "task of another pack": (GOOD | {"task": "gsm8k"}, "task 'gsm8k' is unknown; "),
    "near task": (GOOD | {"task": "tcp_lnog"}, "did you mean tcp_long"),
    "group": (GOOD | {"task": "tcp"}, "task 'tcp' is a group; its tasks are"),
    "task that is a list": (GOOD | {"task": ["tcp_long"]}, "does not name its task"),
    "task of many lines": (GOOD | {"task": "a\nb\x1b[2J"}, "task 'a\\nb\\x1b[2J' is unk"),
    "task of a megabyte": (GOOD | {"task": "a" * 10**6}, "does not name its task"),
    "no text": (GOOD | {"response": None}, "'response' is a NoneType, not a string; fix"),
    "parts": (GOOD | {"response": ["a"]}, "'response' is a list, not a string"),
    "id out of range": (GOOD | {"doc_id": 10**9}, "has no document 1000000000 at"),
    "negative id": (GOOD | {"doc_id": -1}, "tcp_long has no document -1 at"),
    "id that is a text": (GOOD | {"doc_id": "x"}, "tcp_long has no document 'x' at"),
    "id that is a list": (GOOD | {"doc_id": []}, "'doc_id' is not an integer or a str"),
    "id that is a bool": (GOOD | {"doc_id": True}, "'doc_id' is not an integer or a s"),
    "id that is no number": ('{"task": "tcp_long", "response": "", "doc_id": NaN}', "'doc_id' is not an int"),
    "second answer": (GOOD, "is a second answer to document 0 of tcp_long; keep one"),
    "other version": (GOOD | {"doc_id": 1, "doc_hash": "0" * 64}, "answers another version of document 1"),
    "edited document": (GOOD | {"doc": DOC, "doc_hash": "0" * 64}, "doc_hash does not recompute"),
    "document that is a text": (GOOD | {"doc": "x"}, "'doc' is a str, not an object; fix"),
    "empty document": (GOOD | {"doc": {}, "doc_id": 1}, "its document is not one of tcp_long (has no 'dialogue')"),
    "document without a digest": (GOOD | {"doc": DOC, "doc_id": 2}, "its document is not one of tcp_long (has no 'dialogue')"),
    "document of other types": (GOOD | {"doc": {"answer": 5}, "doc_id": 3}, "its document is not one of tcp_long"),
    "row of another task": ({"task": "tot_arithmetic", "response": "", "question": "?"}, "and is not a row of tot_arithmetic itself (ToT/tot_arithmetic: column"),
    "bad row": ({"task": "tot_arithmetic", "response": "", "question": "?", "question_type": "x", "label": "{"}, "itself (column 'label': '{' is neither JSON nor a Python literal; fix"),
    "sample without hashes": (SAMPLE, "has no doc_hash; take the log as the harness"),
    "sample without prompt": (SAMPLE | {"doc_hash": sha256(json.dumps(DOC, indent=2)), "prompt_hash": ""}, "prompt_hash cannot be checked: the line has no prompt;"),
    "sample without document": (SAMPLE | {"doc": None}, "has no 'doc' and 'doc_id' as the"),
    "sample with odd id": (SAMPLE | {"doc_id": {}}, "has no 'doc' and 'doc_id' as the"),
    "sample with odd filter": (SAMPLE | {"filter": []}, "'filter' is not a string"),
    "odd custom_id": ({"custom_id": "tcp_long:0:"}, "custom_id 'tcp_long:0:' is not TASK:"),
    "list as custom_id": ({"custom_id": ["a"]}, "custom_id ['a'] is not TASK:DOC_ID:HASH"),
    "batch of others": ({"custom_id": "gsm8k:0:" + "0" * 16}, "task 'gsm8k' is unknown"),
    "batch without a body": ({"custom_id": "tcp_long:0:" + "0" * 16, "response": []}, "has no answer but []; send"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LINES)
def test_a_line_that_cannot_be_scored_is_named_the_others_scored(tmp_path, call, kind):
    line, expected = LINES[kind]
    path = write(tmp_path / "answers.jsonl", GOOD, line, "", GOOD | {"doc_id": 5})
    status, rows, said = call(
        path, "--include_path", EXAMPLES, "--output", tmp_path / "out"
    )
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"{path}, line 2: ")
    assert expected in said
    assert rows[0]["n"] == 2
    assert [x["doc_id"] for x in read_jsonl(tmp_path / "out" / path.name)] == [0, 5]


@pytest.mark.parametrize("kind", LINES)
def test_a_file_without_a_good_line_leaves_no_output(tmp_path, call, kind):
    line, expected = LINES[kind]
    if kind == "second answer":
        pytest.skip("the first answer is good")
    output = write(tmp_path / "out" / "answers.jsonl", OLDER)
    path = write(tmp_path / "answers.jsonl", line)
    status, rows, said = call(
        path, "--include_path", EXAMPLES, "--output", tmp_path / "out"
    )
    assert (status, rows) == (1, [])
    assert expected in said
    assert 1 <= said.count("\n") <= 2
    assert read_jsonl(output) == [OLDER]
    assert [x.name for x in output.parent.iterdir()] == [output.name]


def test_the_first_lines_are_named_and_the_rest_is_counted(tmp_path, call):
    path = write(tmp_path / "x.jsonl", GOOD, *[GOOD | {"response": 1}] * 500)
    status, rows, said = call(path, "--include_path", EXAMPLES)
    *named, last = said.splitlines()
    assert (status, rows[0]["n"], len(named)) == (1, 1, 10)
    assert last == f"{path}: 490 more lines were refused"


def test_only_documents_of_one_form_pass_for_each_other():
    first = {task: documents(task, EXAMPLES)[0] for task in TASKS}
    fresh = load("tcp_long", gen_seed=1, gen_rows=1, gen_levels=1)["test"]
    first["fresh_tcp_long"] = scorer("fresh_tcp_long").process_docs(fresh)[0]
    kinds = {task: scorer(task).process_docs for task in first}
    for task, doc in first.items():
        for other in first:
            is_of_form = kinds[task] == kinds[other] and ("level" in doc) == (
                other == "fresh_tcp_long"
            )
            if "fact_context" in doc:  # rows of TempReason hold text and facts
                is_of_form = {"context", "golds"} < first[other].keys()
            assert (fault(task=other, doc=doc) is None) == is_of_form, (task, other)


# A document, what is changed in it, and what is said.
FORGED = [
    ("tcp_long", {"answer": "2020-01-01 10:00 GMT"}, "'answer' is '2020-01-01 10:00 GMT'"),
    ("tcp_long", {"answer_format": "YYYY-MM-DD HH:MM GMT"}, "'answer_format' is 'YYYY-MM-DD HH:MM GMT'"),
    ("tcp_short", {"level": 1}, "has 'level', which others have"),
    ("timebench_menatqa_scope", {"golds": "text"}, "'golds' is 'text'"),
    ("timebench_date_arithmetic", {"golds": ["soon"]}, "'golds' is ['soon']"),
    ("timebench_mctaco", {"letters": ["Z"]}, "'letters' is ['Z']"),
    ("timebench_tracie", {"label": "Neutral"}, "'label' is 'Neutral'"),
    ("timebench_tracie", {"label": []}, "'label' is []"),
    ("tot_arithmetic", {"prompt": "?"}, "has 'prompt', which others have"),
]  # fmt: skip


@pytest.mark.parametrize("task, change, expected", FORGED)
def test_documents_that_no_row_gives_are_refused_by_name(
    tmp_path, call, task, change, expected
):
    doc = documents(task, EXAMPLES)[0]
    one = {"task": task, "response": ""}
    forged, other = one | {"doc": doc | change}, one | {"doc": doc}
    path = write(tmp_path / "x.jsonl", other, forged)
    status, rows, said = call(path)
    assert (status, rows[0]["n"], said.count("\n")) == (1, 1, 1)
    assert said.startswith(
        f"{path}, line 2: its document is not one of {task} ({expected}); give a 'doc'"
    )


ZIPPED = gzip.compress(
    b"".join(json.dumps(GOOD | {"doc_id": i}).encode() + b"\n" for i in range(8))
)
# What a file is, and what is said of it.
FILES = {
    "empty": (b"", "{path}: has no answers; give a file with some"),
    "blank": (b"\n \n", "{path}: has no answers; give a file with some"),
    "page": (b"<!doctype html>\n", "{path}, line 1: is HTML or XML instead of JSON; download"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\n", "{path}, line 1: is a pointer"),
    "results": (b'{\n  "results": {}\n}\n', "line 1: Expecting property name enclosed in double quotes: line 2 column 1 (char 2): JSON over several lines; write each object in a"),
    "binary": (b"PAR1\x15\x04\xff\xfe\n" * 50, "{path}, after line 0: the Parquet data is cut off or damaged; get the file again"),
    "UTF-16": ("\ufeff{}".encode("utf-16"), "{path}, line 1: is not UTF-8"),
    "half a gzip file": (ZIPPED[:9], "{path}, after line 0: the gzip data is cut off or"),
    "damaged gzip file": (ZIPPED[:20] + b"\xff" * 9 + ZIPPED[29:], "{path}, line 1: is not UTF-8"),
    "log of another pack": (json.dumps(GOOD | {"task": "gsm8k"}).encode() * 1, "{path}, line 1: task 'gsm8k' is unknown"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_what_is_not_a_file_of_answers_gets_one_line(tmp_path, call, kind):
    content, expected = FILES[kind]
    path = write(tmp_path / "x.jsonl", content)
    good = write(tmp_path / "good.jsonl", GOOD)
    status, rows, said = call(
        path, good, "--include_path", EXAMPLES, "--output", tmp_path / "out"
    )
    assert (status, said.count("\n")) == (1, 1)
    assert expected.format(path=path) in said
    assert [row["run"] for row in rows] == ["good"]
    assert names(tmp_path / "out") == ["good.jsonl"]


def test_what_came_before_damage_is_scored(tmp_path, call):
    first = gzip.compress(json.dumps(GOOD).encode() + b"\n")
    path = write(tmp_path / "x.jsonl.gz", first + ZIPPED[:-12])
    status, rows, said = call(path, "--include_path", EXAMPLES)
    assert (status, rows[0]["n"] >= 1) == (1, True)
    assert said.endswith("the gzip data is cut off or damaged; get the file again\n")
    status, rows, said = call(
        write(tmp_path / "y.jsonl", GOOD, b'{"task": "tcp_'), "--include_path", EXAMPLES
    )
    assert (status, rows[0]["n"]) == (1, 1)
    assert (
        said
        == f"{tmp_path / 'y.jsonl'}, line 2: the last line is cut off, as in half a download; get the file again\n"
    )


def test_a_line_of_megabytes_is_scored(tmp_path, call):
    response = '{"explanation": "' + "so {it} goes \\n" * 200_000 + '", "answer": 1}'
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    path = write(
        tmp_path / "x.jsonl",
        {"task": "tot_arithmetic", "doc": doc, "response": response},
    )
    started = time.process_time()
    assert call(path)[0] == 0
    assert time.process_time() - started < 5


def test_documents_that_cannot_be_loaded_are_said_once(tmp_path, call):
    path = write(tmp_path / "x.jsonl", *(GOOD | {"doc_id": i} for i in range(50)))
    status, rows, said = call(path, "--include_path", tmp_path)
    assert (status, rows) == (1, [])
    assert (
        said
        == f"{tmp_path}: has no task or group 'tcp_long'; name another folder with --include_path, or another task\n"
    )


# ------------------------------------------------------------------------- outputs


def test_output_is_never_input(tmp_path, call):
    path = write(tmp_path / "x.jsonl", GOOD)
    (tmp_path / "link").symlink_to(tmp_path)
    for folder in (tmp_path, tmp_path / "link"):
        status, _, said = call(path, "--include_path", EXAMPLES, "--output", folder)
        assert status == 1
        assert (
            said
            == f"{folder / 'x.jsonl'}: is one of the files to score; name another DIR\n"
        )
    assert read_jsonl(path) == [GOOD]


@pytest.mark.parametrize(
    "content", [b"precious\n", b'{"response": "precious"}\n', b"PAR1\xff", b"\x1f\x8b"]
)
def test_a_file_that_the_tool_did_not_make_is_never_replaced(tmp_path, call, content):
    path = write(tmp_path / "x.jsonl", GOOD)
    output = write(tmp_path / "out" / "x.jsonl", content)
    command = (path, "--include_path", EXAMPLES, "--output", output.parent)
    status, rows, said = call(*command)
    assert (status, rows, said) == (
        1,
        [],
        f"{output}: is there, and was not made by score; move it elsewhere, or name"
        " another DIR\n",
    )
    assert output.read_bytes() == content
    assert names(output.parent) == ["x.jsonl"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_output_that_is_not_finished_or_was_edited_is_replaced(
    tmp_path, call, suffix
):
    path = tmp_path / f"x{suffix}"
    with written_lines(path) as file:
        file.write(json.dumps(GOOD).encode() + b"\n")
    output = tmp_path / "out" / path.name
    command = (path, "--include_path", EXAMPLES, "--output", output.parent)
    assert call(*command)[::2] == (0, "")
    expected = output.read_bytes()
    output.write_bytes(expected[:9])
    assert call(*command)[::2] == (0, "")
    assert output.read_bytes() == expected
    # A kill between the two, or a version that did not note what it made.
    (output.parent / ".finished" / f"{path.name}.json").unlink()
    assert call(*command)[::2] == (0, "")
    assert output.read_bytes() == expected


def test_two_files_do_not_share_an_output(tmp_path, call):
    paths = [write(tmp_path / name / "x.jsonl", GOOD) for name in "ab"]
    named = [f"{path.parent.name}={path}" for path in paths]
    status, _, said = call(
        *named, "--include_path", EXAMPLES, "--output", tmp_path / "out"
    )
    assert status == 1
    assert (
        said
        == f"{paths[1]}: another file of this name is to be scored; name an --output for each\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path, call):
    folder = tmp_path / "out"
    folder.mkdir(mode=0o500)
    status, _, said = call(
        write(tmp_path / "x.jsonl", GOOD),
        "--include_path",
        EXAMPLES,
        "--output",
        folder,
    )
    assert (status, said) == (1, f"{folder / 'x.jsonl'}: Permission denied\n")


def test_a_file_where_a_folder_should_be_is_named(tmp_path, call):
    path = write(tmp_path / "x.jsonl", GOOD)
    output = write(tmp_path / "out", "mine")
    for folder in (output, output / "in it"):
        status, _, said = call(path, "--include_path", EXAMPLES, "--output", folder)
        assert (status, said.count("\n")) == (1, 1)
        assert said.startswith(str(output))
    assert output.read_text() == "mine\n"


def test_a_folder_where_a_file_should_be_is_named(tmp_path, call):
    (tmp_path / "out" / "x.jsonl").mkdir(parents=True)
    status, _, said = call(
        write(tmp_path / "x.jsonl", GOOD),
        "--include_path",
        EXAMPLES,
        "--output",
        tmp_path / "out",
    )
    assert (status, said) == (1, f"{tmp_path / 'out' / 'x.jsonl'}: Is a directory\n")


def test_a_full_disk_leaves_what_was_there(tmp_path):
    lines = [GOOD | {"doc_id": number} for number in range(8)]
    path = write(tmp_path / "x.jsonl", *lines)
    output = write(tmp_path / "out" / "x.jsonl", OLDER)
    done = subprocess.run(
        [*COMMAND, str(path), "--include_path", "examples", "--output", output.parent],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)),
        env=os.environ | {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{output}: File too large\n"
    assert [x.name for x in output.parent.iterdir()] == ["x.jsonl"]
    assert read_jsonl(output) == [OLDER]


def test_runs_stand_beside_each_other(tmp_path, capsys):
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    one = {"task": "tot_arithmetic", "doc": doc, "response": '{"answer": 1}'}
    lines = [one | {"doc_id": n} for n in range(2)]
    paths = [write(tmp_path / f"{x}.jsonl", *lines[:x]) for x in (1, 1, 2)]
    names = [f"{name}={path}" for name, path in zip(("n", "format", "c"), paths)]
    assert main(["score", *names, "--by", "format"]) == 0
    *_, title, _, head, rule, row = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in x.split("|")[1:-1]] for x in (head, row)]
    assert title == "tot_arithmetic by format; published / flexible / extracted"
    assert cells[0] == ["format", "n", "n", "format", "c"]
    assert cells[1][1:] == ["differs", *["0.0000 / 0.0000 / 1.0000"] * 3]
    assert len({*map(len, (head, rule, row))}) == 1


def test_the_example_of_the_help_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    example = score_module.__doc__.split("Example:")[1].replace("\\\n", "")
    assert main(shlex.split(example)[1:]) == 0
    assert "| tcp_long | tcp_long |   8 |" in capsys.readouterr().out


# ------------------------------------------------------------ many, and interrupted


def many(path: Path, source: Path, count: int) -> Path:
    """Write a log with answers to `count` documents, which are like those of another."""
    lines = read_jsonl(source)
    with path.open("w") as file:
        for number in range(count):
            line = lines[number % len(lines)]
            doc = line["doc"] | {"question": f"{number}: {line['doc']['question']}"}
            doc_hash = sha256(document_text(doc))
            changed = {"doc_id": number, "doc": doc, "doc_hash": doc_hash}
            file.write(json.dumps(line | changed) + "\n")
    return path


def peak(path: Path, output: Path, call) -> int:
    """Return the most bytes that were in use while a file was scored."""
    tracemalloc.start()
    try:
        assert call(path, "--output", output)[0] == 0
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_by_an_id_and_a_digest_for_each_answer(
    recorded_run, tmp_path, call
):
    source = samples(recorded_run, "tcp_short")
    few, more = (
        many(
            tmp_path / f"samples_tcp_short_2026-01-0{day}T00-00-00.jsonl", source, count
        )
        for day, count in ((1, 200), (2, 800))
    )
    assert call(more)[0] == 0  # fills the caches
    growth = peak(more, tmp_path / "out", call) - peak(few, tmp_path / "out", call)
    # 65 bytes of a digest, 28 of a number, 24 of the error whose median is taken, and
    # their places in a list, a set and a dictionary that grow.
    assert growth < 600 * 450
    assert more.stat().st_size > 800 * 1000


@pytest.fixture
def slow(tmp_path, recorded_run) -> list[str]:
    """The command line that scores a log of some seconds over an older output."""
    source = samples(recorded_run, "tot_arithmetic")
    name = "samples_tot_arithmetic_2026-01-01T00-00-00.jsonl"
    write(tmp_path / "out" / name, OLDER)
    path = many(tmp_path / name, source, 8_000)
    return [*COMMAND, str(path), "--output", str(tmp_path / "out")]


ENDS = {
    signal.SIGKILL: (-9, ""),
    signal.SIGINT: (130, "\ninterrupted\n"),
    signal.SIGTERM: (143, "ended by SIGTERM\n"),  # of Slurm, and `timeout`
    signal.SIGHUP: (129, "ended by SIGHUP\n"),
}


@pytest.mark.parametrize("sent", ENDS)
def test_an_output_is_there_whole_or_not_at_all(tmp_path, slow, call, sent):
    with subprocess.Popen(slow, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while not any(x.stat().st_size for x in (tmp_path / "out").glob(".*.part")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(sent)
        _, said = process.communicate()
    assert (process.returncode, said) == ENDS[sent]
    (output,) = (tmp_path / "out").glob("samples_*")
    assert read_jsonl(output) == [OLDER]
    left = [x for x in (tmp_path / "out").iterdir() if x != output]
    assert len(left) == (sent == signal.SIGKILL)
    other = write(tmp_path / "x.jsonl", GOOD)
    command = (other, "--include_path", EXAMPLES, "--output", output.parent)
    assert call(*command)[::2] == (0, "")
    assert names(output.parent) == [output.name, other.name]  # no part is left


def test_a_reader_that_has_had_enough_is_no_error(dummy_run):
    path = samples(dummy_run, "tot_arithmetic")
    command = f"'{sys.executable}' -m utils score '{path}' | head -1"
    done = subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, text=True)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_pipe_is_read(dummy_run):
    source = samples(dummy_run, "tcp_long")
    done = subprocess.run(
        [*COMMAND, "/dev/stdin", "--task", "tcp_long", "--format", "csv"],
        cwd=ROOT,
        stdin=source.open("rb"),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run,task,filter,by,value,n,published,flexible,")
