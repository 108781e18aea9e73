"""Prompts go out as the harness sends them, and recorded answers come back through it."""

import argparse
import json
import os
import re
import shlex
import signal
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.tasks import TaskManager

from lm_eval_tasks.tcp.utils import digest
from tests.conftest import EXAMPLES, GROUPS, MEMBERS, ROOT, TASKS, run_python
from tests.corpus import read_jsonl
from utils.harness import export, replay
from utils.__main__ import main
from utils.runs.answers import custom_id
from utils.core.errors import ToolError
from utils.core.families import scorer
from utils.harness.run import add_options
from utils.harness.replay import Recorded, Replay


LIVE_TASKS = "tcp,tot_arithmetic_separate,timebench_timexnli_s1"
PACK_OPTIONS = ["--include_path", str(EXAMPLES)]
LIVE_OPTIONS = [*PACK_OPTIONS, "--apply_chat_template", "--num_fewshot", "1"]


def response(name: str) -> str:
    """Return the recorded response to the document that a custom_id names."""
    task, doc_id, _ = name.split(":")
    path = EXAMPLES / "responses" / f"{task.removesuffix('_separate')}.jsonl"
    return read_jsonl(path)[int(doc_id)]["response"]


def completion(request: dict) -> dict:
    """Return what a server answers to a request of an export."""
    text = response(request["custom_id"])
    choice = {"index": 0, "finish_reason": "stop"}
    if "messages" in request["body"]:
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = text
    return {"object": "completion", "model": "served", "choices": [choice]}


def batch_output(request: dict) -> dict:
    """Return the line of the Batch API that answers a request of an export."""
    return {
        "id": f"batch_req_{request['custom_id']}",
        "custom_id": request["custom_id"],
        "response": {"status_code": 200, "body": completion(request)},
        "error": None,
    }


def write(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def exported(path: Path, *arguments: str) -> list[dict]:
    """Return the requests that `export` writes to a file."""
    assert main(["export", *arguments, "--output", str(path)]) == 0
    return read_jsonl(path)


class Server(ThreadingHTTPServer):
    """An API on loopback that answers the requests of an export, and those alone."""

    def __init__(self, requests: list[dict]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {
            (request["url"], json.dumps(request["body"]).encode()): completion(request)
            for request in requests
        }
        self.sent = []  # (path, body in bytes)

    def __enter__(self) -> "Server":
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        super().__exit__()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sent.append((self.path, body))
        answer = self.server.answers.get((self.path, body))
        self.send_response(200 if answer else 404)
        self.end_headers()
        self.wfile.write(json.dumps(answer or {}).encode())

    def log_message(self, *_: object) -> None:
        pass


# The harness's command line, without the index of its own 13,000 tasks.
LM_EVAL = """
import functools, lm_eval.tasks
from lm_eval.tasks import TaskManager
lm_eval.tasks.TaskManager = functools.partial(TaskManager, include_defaults=False)
from lm_eval.__main__ import cli_evaluate
cli_evaluate()
"""


class Live(NamedTuple):
    requests: list[dict]  # of `export`
    sent: list  # [path, body as text], to the server by the run of `lm_eval`
    output: Path  # of that run


@pytest.fixture(scope="session")
def live(tmp_path_factory) -> Live:
    """A run of `lm_eval` that a server answers, and the export of the same tasks."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which all workers share
    folder /= "live_run"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            run_live(folder)
    (output,) = (folder / "output").iterdir()
    sent = json.loads((folder / "sent.json").read_text())
    return Live(read_jsonl(folder / "requests.jsonl"), sent, output)


def run_live(folder: Path) -> None:
    folder.mkdir()
    requests = exported(
        folder / "requests.jsonl", LIVE_TASKS, *LIVE_OPTIONS, "--model", "served"
    )
    with Server(requests) as server:
        url = server.url("/v1/chat/completions")
        done = run_python(
            *("-c", LM_EVAL, "run", "--model", "local-chat-completions"),
            *("--model_args", f"model=served,base_url={url},max_retries=1"),
            *("--tasks", LIVE_TASKS, *LIVE_OPTIONS),
            *("--output_path", folder / "output", "--log_samples"),
            cwd=ROOT,
            HF_HOME=str(folder / "cache"),
        )
    assert done.returncode == 0, done.stderr
    sent = [(path, body.decode()) for path, body in server.sent]
    (folder / "sent.json").write_text(json.dumps(sent))


def test_export_is_byte_for_byte_what_a_live_run_sends(live):
    exported = Counter((x["url"], json.dumps(x["body"])) for x in live.requests)
    assert Counter(map(tuple, live.sent)) == exported
    assert len(live.requests) == 8 + 8 + 38 + 10


def files(folder: Path) -> dict[str, Path]:
    """Return name without time -> path, of what a run left in a folder."""
    return {re.sub(r"_\d{4}-\d\d-.*", "", x.name): x for x in folder.iterdir()}


# What may differ between the results of a live run and of a replay.
TIMES = {"date", "total_evaluation_time_seconds"}
MODEL = {"model_source", "model_name", "model_name_sanitized"}
CONFIG = {"model", "model_args"}  # of results["config"]


def comparable(path: Path, model_args: set[str]) -> dict:
    """Return results without what may differ; `model_args` are names of such."""
    text = path.read_text(encoding="utf-8")
    # Functions of the tasks are logged with their address in memory.
    results = json.loads(re.sub(r"(<function \w+) at 0x[0-9a-f]+>", r"\1>", text))
    for name in TIMES | MODEL:
        del results[name]
    for name in CONFIG:
        del results["config"][name]
    for config in results["configs"].values():
        for name in model_args:  # which the harness adds to the metadata of each task
            config["metadata"].pop(name, None)
    return results


def assert_same_run(one: Path, other: Path) -> None:
    """Compare two runs: results but for the above, samples byte for byte."""
    ones, others = files(one), files(other)
    assert ones.keys() == others.keys()
    model_args = {"model", "base_url", "max_retries"}
    results = comparable(ones.pop("results"), model_args)
    assert results == comparable(others.pop("results"), model_args)
    assert results["task_hashes"]
    for name in ones:
        assert ones[name].read_bytes() == others[name].read_bytes(), name


def test_replay_of_batch_outputs_is_the_live_run(live, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)  # whose commit the results name
    outputs = list(map(batch_output, reversed(live.requests)))
    parts = [
        write(tmp_path / "1.jsonl", outputs[:20]),
        write(tmp_path / "2.jsonl", outputs[20:]),
    ]
    arguments = [*map(str, parts), "--tasks", LIVE_TASKS, *LIVE_OPTIONS]
    arguments += ["--model", "again/x", "--output_path", str(tmp_path / "output")]
    assert main(["replay", *arguments]) == 0
    assert_same_run(live.output, tmp_path / "output" / "again__x")
    table = capsys.readouterr().out
    assert "|tot_arithmetic_separate" in table and "|Groups|" in table


def test_replay_of_a_log_keeps_prompts_that_other_options_made(live, tmp_path, capsys):
    arguments = [str(live.output), *PACK_OPTIONS, "--output_path", str(tmp_path)]
    assert main(["replay", *arguments]) == 0
    ones, others = files(live.output), files(tmp_path / "served")
    del ones["results"], others["results"]
    for name in ones:
        assert ones[name].read_bytes() == others[name].read_bytes()
    assert "64 answers were given to other prompts" in capsys.readouterr().err


def test_replay_of_a_log_of_everything_is_that_log(dummy_run, tmp_path, monkeypatch):
    monkeypatch.chdir(dummy_run.parent.parent)
    tasks = ",".join({*GROUPS, *TASKS} - MEMBERS)
    arguments = ["--tasks", tasks, *PACK_OPTIONS, "--output_path", str(tmp_path)]
    assert main(["replay", str(dummy_run), "--model", "x", *arguments]) == 0
    assert_same_run(dummy_run, tmp_path / "x")


def test_recorded_answers_get_their_scores_and_a_standard_error(tmp_path):
    path = EXAMPLES / "responses" / "timebench_menatqa_order.jsonl"
    arguments = ["--tasks", path.stem, *PACK_OPTIONS, "--output_path", str(tmp_path)]
    assert main(["replay", str(path), *arguments, "--no-log_samples"]) == 0
    ((_, found),) = files(tmp_path / path.stem).items()
    results = json.loads(found.read_text())["results"][path.stem]
    for metric in ("score", "score_flexible", "extracted"):
        scores = [line[metric] for line in read_jsonl(path)]
        mean = sum(scores) / len(scores)
        variance = sum((x - mean) ** 2 for x in scores) / (len(scores) - 1)
        assert results[f"{metric},none"] == pytest.approx(mean, abs=1e-4)
        stderr = (variance / len(scores)) ** 0.5
        assert results[f"{metric}_stderr,none"] == pytest.approx(stderr, abs=1e-4)


@pytest.mark.parametrize(
    ("model", "options", "run"),
    [
        (
            "local-completions",
            ["--num_fewshot", "2", "--limit", "0.25"],
            {"num_fewshot": 2, "limit": 0.25},
        ),
        ("openai-completions", ["--openai"], {}),
        (
            "local-chat-completions",
            [
                *("--apply_chat_template", "--num_fewshot", "3"),
                *(
                    "--fewshot_as_multiturn",
                    "false",
                    "--system_instruction",
                    "Be brief.",
                ),
                *("--gen_kwargs", "max_gen_toks=9,top_p=0.5", "--limit", "3"),
            ],
            {
                "num_fewshot": 3,
                "fewshot_as_multiturn": False,
                "system_instruction": "Be brief.",
                "gen_kwargs": {"max_gen_toks": 9, "top_p": 0.5},
                "limit": 3,
            },
        ),
        ("openai-chat-completions", ["--openai", "--apply_chat_template"], {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_export_sends_what_the_model_of_the_harness_sends(
    model, options, run, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    arguments = ["tcp_long", *PACK_OPTIONS, "--model", "gpt-5-x", *options]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    is_chat = "--apply_chat_template" in options
    with Server(requests) as server:
        url = server.url("/v1/chat/completions" if is_chat else "/v1/completions")
        simple_evaluate(
            model=model,
            model_args={
                "model": "gpt-5-x",
                "base_url": url,
                "tokenizer_backend": None,
                "max_retries": 1,
            },
            tasks=["tcp_long"],
            task_manager=TaskManager(
                include_path=str(EXAMPLES), include_defaults=False
            ),
            bootstrap_iters=0,
            apply_chat_template=is_chat,
            **run,
        )
    assert Counter(server.sent) == Counter(list(server.answers))


def test_separate_task_gives_its_instruction_as_system_message(live, offline_tasks):
    docs = offline_tasks["tot_arithmetic_separate"].test_docs()
    separate = [x for x in live.requests if "_separate" in x["custom_id"]]
    for doc_id, (request, doc) in enumerate(zip(separate, docs, strict=True)):
        task = "tot_arithmetic_separate"
        assert request["custom_id"] == custom_id(task, doc_id, doc)
        system, *_, question = request["body"]["messages"]
        assert system["role"] == "system"
        assert system["content"].strip() == doc["instruction"].strip()
        assert question == {"role": "user", "content": doc["question_wo_instruct"]}
        assert request["body"]["max_tokens"] == 4096
        assert request["body"]["temperature"] == 0.0


def test_export_to_stdout_is_requests_alone(tmp_path, capsys):
    arguments = ["timebench_symbolic", *PACK_OPTIONS, "--model", "M", "--limit", "1"]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    capsys.readouterr()
    assert main(["export", *arguments]) == 0
    assert list(map(json.loads, capsys.readouterr().out.splitlines())) == requests
    assert len(requests) == 4


KILLED = """
import os, signal, sys
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from utils.harness import export, replay
from utils.__main__ import main
main(sys.argv[1:])
"""


def test_kill_while_export_writes_leaves_what_was_there(tmp_path):
    output = tmp_path / "requests.jsonl"
    output.write_text("the old requests")
    arguments = ["tcp_long", *PACK_OPTIONS, "--model", "M", "--output", str(output)]
    done = run_python(
        "-c", KILLED, "export", *arguments, cwd=tmp_path, PYTHONPATH=str(ROOT)
    )
    assert done.returncode == -signal.SIGKILL
    assert output.read_text() == "the old requests"


# Joining answers with documents


@pytest.fixture(scope="session")
def tcp_requests() -> list:
    """The requests that the harness makes of a task, as it hands them to a model."""
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    task = manager.load(["tcp_long"])["tasks"]["tcp_long"]
    task.build_all_requests()
    return task.instances


def answers_to(requests: list) -> list[Recorded]:
    return [
        Recorded(
            place=f"file, line {line}",
            task="tcp_long",
            doc_id=request.doc_id,
            doc_hash=custom_id("", 0, request.doc).split(":")[2],
            digest=None,
            response=f"answer {request.doc_id}",
            arguments=None,
        )
        for line, request in enumerate(requests, 1)
    ]


def changed(index: int, **cells: object):
    return lambda found: [
        answer._replace(**cells) if place == index else answer
        for place, answer in enumerate(found)
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            changed(3, doc_hash="0" * 16),
            "file, line 4: answers another version of document 3 of tcp_long than the one"
            " that is asked; use the --include_path it was made with",
        ),
        (
            changed(3, doc_hash=None, digest=b"another"),
            "file, line 4: answers another version of document 3 of tcp_long than the one"
            " that is asked; use the --include_path it was made with",
        ),
        (
            changed(3, doc_id=8),
            "file, line 4: document 8 is not one of the 8 of tcp_long that are asked; use"
            " the --include_path and the --limit it was made with",
        ),
        (changed(1, doc_id=True), "file, line 2: document True is not one of the 8"),
        (changed(1, doc_id="1"), "file, line 2: document '1' is not one of the 8"),
        (
            changed(1, doc_id=None, doc_hash=None, digest=b"another"),
            "file, line 2: its document is not one of the 8 of tcp_long that are asked",
        ),
        (
            changed(2, task="tcp_short"),
            "file, line 3: answers document 2 of tcp_short, which is not asked; add the"
            " task to --tasks, or leave the line out",
        ),
        (
            lambda found: [*found, found[1]._replace(place="file, line 9")],
            "file, line 9: is a second answer to document 1 of tcp_long, after file, line"
            " 2; keep one",
        ),
        (
            lambda found: found[:2] + found[4:],
            "tcp_long: 2 of 8 documents have no answer, the first of them document 2; give"
            " the rest, or --missing score-zero",
        ),
        (
            lambda found: found[:6],
            "tcp_long: 2 of 8 documents have no answer, the first of them document 6; give"
            " the rest, --limit 6 if no more were asked, or --missing score-zero",
        ),
    ],
)
def test_answers_that_are_not_one_to_each_document_end_the_run(
    tcp_requests, change, said
):
    with pytest.raises(ToolError) as error:
        Replay(change(answers_to(tcp_requests))).generate_until(tcp_requests)
    assert str(error.value).startswith(said)


def test_answers_are_joined_in_any_order_and_by_document_alone(
    tcp_requests, offline_tasks
):
    found = [
        answer._replace(doc_id=None, doc_hash=None, digest=digest(request.doc))
        for answer, request in zip(answers_to(tcp_requests), tcp_requests, strict=True)
    ]
    responses = Replay(found[::-1]).generate_until(tcp_requests)
    assert responses == [f"answer {number}" for number in range(8)]


def test_a_document_that_is_there_twice_takes_two_answers(tcp_requests):
    doc = tcp_requests[0].doc
    twins = [
        Instance("generate_until", doc, ("",), 0, ("tcp_long", x, 1)) for x in (0, 1)
    ]
    found = [
        answer._replace(doc_id=None, doc_hash=None, digest=digest(doc))
        for answer in answers_to(tcp_requests[:2])
    ]
    assert Replay(found).generate_until(twins) == ["answer 0", "answer 1"]
    with pytest.raises(ToolError, match="is a second answer to document 0"):
        Replay([*found, found[0]]).generate_until(twins)


def test_answers_to_texts_are_replayed_as_texts(tmp_path, capsys):
    arguments = ["tcp_short", *PACK_OPTIONS, "--model", "M"]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    outputs = write(tmp_path / "outputs.jsonl", list(map(batch_output, requests)))
    arguments = [*PACK_OPTIONS, "--output_path", str(tmp_path / "output")]
    assert main(["replay", str(outputs), *arguments]) == 0
    (samples,) = (tmp_path / "output" / "outputs").glob("samples_*")
    for sample, request in zip(read_jsonl(samples), requests, strict=True):
        assert sample["arguments"]["gen_args_0"]["arg_0"] == request["body"]["prompt"]
        assert sample["resps"] == [[response(request["custom_id"])]]


def test_missing_answers_are_scored_as_empty_and_counted(tmp_path, capsys):
    path = EXAMPLES / "responses" / "tcp_long.jsonl"
    part = write(tmp_path / "part.jsonl", read_jsonl(path)[::2])
    arguments = ["replay", str(part), "--tasks", "tcp_long", *PACK_OPTIONS]
    assert main([*arguments, "--missing", "score-zero"]) == 0
    shown = capsys.readouterr()
    assert "tcp_long: 4 documents have no answer; scored as empty\n" in shown.err
    assert re.search(r"extracted +\|↑ +\| *0\.5", shown.out)


def test_an_empty_response_scores_zero_everywhere(offline_tasks):
    for name in TASKS:
        task = offline_tasks[name]
        names = [x for x, is_score in scorer(name).higher_is_better.items() if is_score]
        for doc in task.test_docs():
            scores = task.process_results(doc, [""])
            assert not any(scores[name] for name in names), name


def test_limit_takes_the_first_documents(tmp_path):
    path = EXAMPLES / "responses" / "tcp_long.jsonl"
    part = write(tmp_path / "part.jsonl", read_jsonl(path)[:3])
    arguments = ["replay", str(part), "--tasks", "tcp_long", *PACK_OPTIONS]
    output = ["--limit", "3", "--output_path", str(tmp_path / "run.json")]
    assert main([*arguments, *output]) == 0
    (results,) = tmp_path.glob("run_20*.json")
    (samples,) = tmp_path.glob("samples_tcp_long_20*.jsonl")
    assert json.loads(results.read_text())["config"]["limit"] == 3
    assert len(read_jsonl(samples)) == 3


# What ends a tool in one line

OUTPUT = {
    "custom_id": f"tcp_long:0:{'0' * 16}",
    "response": {"body": {"choices": [{"message": {"content": "x"}}]}},
}
PLAIN = {"task": "tcp_long", "doc_id": 0, "response": "x"}


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        (OUTPUT, [], "line 1: answers chat messages; add --apply_chat_template"),
        (
            {**OUTPUT, "response": {"body": {"choices": [{"text": "x"}]}}},
            ["--apply_chat_template"],
            "line 1: answers a text; leave out --apply_chat_template",
        ),
        (
            {**OUTPUT, "response": None, "error": {"code": "batch_expired"}},
            [],
            'line 1: has no answer but {"code": "batch_expired"}; send the request again',
        ),
        (
            {**OUTPUT, "custom_id": f"tcp_long:{'9' * 5000}:{'0' * 16}"},
            [],
            "is not TASK:DOC_ID:HASH; use requests made by `temporal-eval export`",
        ),
        ({**OUTPUT, "custom_id": "tcp_long:0:"}, [], "is not TASK:DOC_ID:HASH"),
        ({**PLAIN, "task": "gsm8k"}, [], "line 1: task 'gsm8k' is unknown"),
        (
            {**PLAIN, "doc": []},
            [],
            "line 1: 'doc' is a list, not an object; fix the line",
        ),
        (
            {**PLAIN, "doc": {}},
            [],
            "line 1: its document has no 'dialogue', as those of",
        ),
        (
            {**PLAIN, "response": "half \ud83d"},
            ["--output_path", "output"],
            "line 1: holds half a character (a lone surrogate), which the harness cannot"
            " log; replace it, or use --no-log_samples",
        ),
        (PLAIN, ["--tasks", ","], "no task is named"),
        (
            PLAIN,
            ["--tasks", "tcp,tcp_long"],
            "task 'tcp_long' is named twice, by 'tcp'",
        ),
        (PLAIN, ["--tasks", "tcp_log"], "task or group 'tcp_log' is unknown; did you"),
        (PLAIN, ["--include_path", "away"], "away: has no task or group 'tcp_long'"),
        (PLAIN, ["--fewshot_as_multiturn"], "`apply_chat_template` must be set"),
        (
            PLAIN,
            ["--model", ".."],
            "--model ..: is not the name of a folder; change it",
        ),
        (
            PLAIN,
            ["--num_fewshot", "4", "--limit", "1"],
            "--num_fewshot 4: number of fewshot samples requested exceeds the 3",
        ),
        (
            PLAIN,
            ["--limit", "1", "--output_path", "output", "--model", "x" * 300],
            "output: the harness cannot write its files to",
        ),
        (
            PLAIN,
            ["--limit", "1", "--output_path", "answers.jsonl"],
            "answers.jsonl/results.json: Not a directory",
        ),
    ],
)
def test_replay_ends_in_one_line(line, options, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "answers.jsonl", [line])
    assert main(["replay", "answers.jsonl", *PACK_OPTIONS, *options]) == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not list(tmp_path.rglob("results_*"))
    assert not list(tmp_path.rglob("samples_*"))


def test_a_place_that_cannot_be_written_is_said_before_the_work(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(replay, "read", lambda _: pytest.fail("it was begun"))
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "x", tmp_path / "file/x.json"):
        assert main(["replay", "x.jsonl", "--output_path", str(place)]) == 1
        (said,) = capsys.readouterr().err.splitlines()
        assert said.startswith(f"{tmp_path / 'file'}")
        assert said.endswith(": Not a directory")


def test_outside_of_a_repository_git_is_not_heard(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["export", "tcp_long", *PACK_OPTIONS, "--model", "M"]) == 0
    assert "git" not in capfd.readouterr().err


@pytest.mark.parametrize("said", ["true", "1", "YES", "False", "0", "no"])
def test_truth_is_told_as_to_the_harness(said, capsys):
    parser = argparse.ArgumentParser()
    add_options(parser)
    found = parser.parse_args(["--fewshot_as_multiturn", said]).fewshot_as_multiturn
    assert found is (said in ("true", "1", "YES"))


def test_export_ends_in_one_line_where_nothing_can_be_written(tmp_path, capsys):
    arguments = ["tcp_long", *PACK_OPTIONS, "--model", "M", "--output", str(tmp_path)]
    assert main(["export", *arguments]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize("tool", [export, replay])
def test_example_of_the_help_runs_as_written(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(EXAMPLES)
    example = tool.__doc__.partition("Example:")[2].replace("\\\n", " ")
    program, *arguments = shlex.split(example)
    assert program == "temporal-eval"
    assert main(arguments) == 0
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("tool", ["export", "replay"])
@pytest.mark.parametrize(
    "options",
    [
        *(["--limit", "0"], ["--limit", "nan"], ["--num_fewshot", "-1"]),
        ["--fewshot_as_multiturn", "maybe"],
        *(["--gen_kwargs", f"temperature={x}"] for x in ("hot", "-1", "inf", "True")),
        *(["--gen_kwargs", f"max_gen_toks={x}"] for x in ("-5", "0", "8.5", "many")),
        ["--gen_kwargs", '{"temperature": null}'],
    ],
)
def test_options_out_of_range_are_refused(tool, options, capsys):
    assert main([tool, "x", "--model", "M", *options]) == 2
    assert f"argument {options[0]}: " in capsys.readouterr().err
