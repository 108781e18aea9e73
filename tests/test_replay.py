"""Prompts go out as the harness sends them, and recorded answers come back through it."""

import json
import logging
import re
import threading
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from lm_eval import simple_evaluate

from tests.answers import write
from tests.conftest import EXAMPLES, ROOT
from tests.warm_python import run_module
from utils.__main__ import main
from utils.core.documents import documents, load
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.harness import export_requests
from utils.harness.replay import _misfit, join, read
from utils.verdicts.read_answers import Answer


pytestmark = pytest.mark.usefixtures("judged_here")


# A group, a task with an instruction of its own, and two kinds of answers.
LIVE_TASKS = "tcp,tot_arithmetic_separate,timebench_timexnli_s1,timebench_situatedgen"
PACK = ["--include_path", str(EXAMPLES)]
LIMIT = ["--limit", "9"]
LIVE = [
    *(*PACK, *LIMIT, "--apply_chat_template", "--num_fewshot", "1"),
    *("--fewshot_as_multiturn", "false", "--system_instruction", "Be brief."),
    *("--gen_kwargs", "max_gen_toks=999,top_p=0.5"),
]


def batch_output(request: dict) -> dict:
    """Return the line of the Batch API that answers a request of an export, as recorded."""
    task, doc_id, _ = request["custom_id"].replace("_separate:", ":").split(":")
    lines = read_jsonl(EXAMPLES / "responses" / "careful" / f"{task}.jsonl")
    text = lines[int(doc_id)]["response"]
    is_chat = "messages" in request["body"]
    answer = {"message": {"content": text}} if is_chat else {"text": text}
    choice = {"index": 0, "finish_reason": "stop", **answer}
    body = {"object": "completion", "model": "served", "choices": [choice]}
    response = {"status_code": 200, "body": body}
    return {"custom_id": request["custom_id"], "response": response, "error": None}


def exported(path: Path, *arguments: str) -> list[dict]:
    """Return the requests that `export` writes to a file."""
    assert main(["export", *arguments, "--output", str(path)]) == 0
    return read_jsonl(path)


def asked(requests: list[dict]) -> list[tuple[str, bytes]]:
    """Return what the requests of an export would send: paths and bodies."""
    return [(x["url"], json.dumps(x["body"]).encode()) for x in requests]


@contextmanager
def served(requests: list[dict]) -> Iterator[tuple[str, Counter]]:
    """Give the URL of an API that answers an export's requests, and (path, body) it got."""
    bodies = [batch_output(request)["response"]["body"] for request in requests]
    answers, sent = dict(zip(asked(requests), bodies)), Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent[self.path, body] += 1
            answer = answers.get((self.path, body))
            self.send_response(200 if answer else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answer or {}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{requests[0]['url']}", sent
        server.shutdown()


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> SimpleNamespace:
    """What `export` writes of tasks, what `lm_eval` sends of them, and its output."""
    folder = tmp_path_factory.mktemp("live")
    requests = exported(folder / "requests", LIVE_TASKS, *LIVE, "--model", "served")
    with served(requests) as (url, sent):
        done = run_module(
            *("tests.harness_cli", "--model", "local-chat-completions"),
            *("--model_args", f"model=served,base_url={url},max_retries=1"),
            *("--tasks", LIVE_TASKS, *LIVE),
            *("--output_path", folder / "output", "--log_samples"),
            cwd=ROOT,
            HF_HOME=str(folder / "cache"),
        )
    assert done.returncode == 0, done.stderr
    (output,) = (folder / "output").iterdir()
    return SimpleNamespace(requests=requests, sent=sent, output=output)


def test_export_is_byte_for_byte_what_a_live_run_sends(live):
    assert live.sent == Counter(asked(live.requests))
    assert len(live.requests) == 8 + 8 + 9 + 9 + 8


def files(folder: Path) -> dict[str, Path]:
    """Return name without time and group -> path, of what a run left in a folder."""
    names = r"(?<=samples_)\w+::|_\d{4}-\d\d-.*"
    return {re.sub(names, "", x.name): x for x in folder.iterdir()}


MAY_DIFFER = ["date", "total_evaluation_time_seconds", "model_source", "model_name"]
MAY_DIFFER += ["model_name_sanitized", "model", "model_args", "base_url", "max_retries"]


def comparable(path: Path) -> dict:
    """Return results without what may differ between those of a live run and a replay."""
    text = path.read_text(encoding="utf-8")
    # Functions of the tasks are logged with their address in memory.
    results = json.loads(re.sub(r"(<function [\w.<>]+) at 0x[0-9a-f]+>", r"\1>", text))
    metadata = [config["metadata"] for config in results["configs"].values()]
    for section in (results, results["config"], *metadata):
        for name in MAY_DIFFER:
            section.pop(name, None)
    return results


def test_replay_of_batch_outputs_is_the_live_run(live, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)  # whose commit the results name
    lines = list(map(batch_output, reversed(live.requests)))
    parts = [write(tmp_path / f"{n}.jsonl", *lines[n::2]) for n in (0, 1)]
    arguments = [*map(str, parts), "--tasks", LIVE_TASKS, *LIVE]
    arguments += ["--model", "again/x", "--output_path", str(tmp_path / "output")]
    assert main(["replay", *arguments]) == 0
    ones, others = files(live.output), files(tmp_path / "output" / "again__x")
    assert len(ones) == 1 + 5 and ones.keys() == others.keys()
    assert comparable(ones.pop("results")) == comparable(others.pop("results"))
    for name in ones:
        told = b', "finish_reason": "stop"}\n'
        assert others[name].read_bytes().count(told) in (8, 9)
        replayed = others[name].read_bytes().replace(told, b"}\n")
        assert ones[name].read_bytes() == replayed, name
    table = capsys.readouterr().out
    assert "|tot_arithmetic_separate" in table and "|Groups|" in table


def test_replay_of_a_log_keeps_prompts_that_other_options_made(live, tmp_path):
    arguments = [str(live.output), *PACK, *LIMIT, "--output_path", str(tmp_path)]
    assert main(["replay", *arguments]) == 0
    ones, others = files(live.output), files(tmp_path / "served")
    for name in ones.keys() - {"results"}:
        assert ones[name].read_bytes() == others[name].read_bytes()


def test_a_name_on_the_command_line_comes_before_that_of_the_results(live, tmp_path):
    arguments = [f"mine={live.output}", *PACK, *LIMIT, "--output_path", str(tmp_path)]
    assert main(["replay", *arguments]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_truth_value_is_read_in_any_case(tmp_path):
    options = ["tcp_long", *PACK, "--model", "any", "--num_fewshot", "1"]
    options += ["--apply_chat_template", "--fewshot_as_multiturn"]
    turns, one_message, *others = (
        exported(tmp_path / text, *options, text)
        for text in ("true", "false", "True", "TRUE", "yes", "1")
    )
    assert turns != one_message
    assert others == [turns] * 4


SENT = {
    "local-completions": [],
    "openai-completions": ["--openai"],
    "openai-chat-completions": ["--openai", "--apply_chat_template"],
}


@pytest.mark.parametrize("model", SENT)
def test_export_sends_what_the_harness_s_model_sends(model, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    arguments = ["tcp_long", *PACK, "--model", "gpt-5-x", *SENT[model]]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    with served(requests) as (url, sent):
        args = {"model": "gpt-5-x", "base_url": url, "tokenizer_backend": None}
        simple_evaluate(
            *(model, args | {"max_retries": 1}, ["tcp_long"]),
            task_manager=load(["tcp_long"], EXAMPLES)[0],
            bootstrap_iters=0,
            apply_chat_template="chat" in model,
        )
    assert sent == Counter(asked(requests))


def test_answers_by_document_alone_are_joined_in_any_order_and_copies_take_one_each():
    docs = documents("tcp_long", EXAMPLES)
    docs = [*docs, docs[0]]  # a row that is there twice
    requests = {("tcp_long", n): SimpleNamespace(doc=doc) for n, doc in enumerate(docs)}
    answers = [Answer(f"line {n}", {}, "tcp_long", doc=x) for n, x in enumerate(docs)]
    joined = join(requests, answers[::-1])
    assert [joined[key].doc for key in requests] == docs
    with pytest.raises(ValueError, match="0: is a second answer to .*, after line 8"):
        join(requests, [*answers[::-1], answers[0]])


def test_failed_requests_are_all_named_and_written_again(tmp_path, capsys):
    arguments = ["tcp_long", *PACK, "--model", "m", "--apply_chat_template"]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    lines = [*map(batch_output, requests)]
    for n in (1, 4):
        lines[n] |= {"response": None, "error": {"code": "expired"}}
    path = write(tmp_path / "output.jsonl", *lines[:-1])
    options = [str(path), *PACK, "--apply_chat_template", "--tasks", "tcp_long"]
    for more, status in ([], 1), (["--missing", "score-zero"], 0):
        capsys.readouterr()
        assert main(["replay", *options, *more]) == status
        printed = capsys.readouterr()
        fault = 'has no answer but {"code": "expired"}; send the'
        assert all(f"{path}, line {n}: {fault}" in printed.err for n in (2, 5))
        assert "tcp_long: 3 documents have no answer" in printed.err
    assert "3 documents have no answer; scored as empty\n" in printed.err
    assert re.search(r"extracted +\|↑ +\| *0\.625", printed.out)  # of 5 of 8
    assert printed.out.startswith("model: served\n")  # the model is that of the answers
    again = exported(tmp_path / "again.jsonl", *arguments, "--only-missing", str(path))
    assert again == [requests[n] for n in (1, 4, 7)]


@pytest.fixture
def three_requests(monkeypatch) -> list[SimpleNamespace]:
    """What a run asks that `export` is told of, without the harness."""
    asked = [
        SimpleNamespace(doc_id=n, doc=doc, task_name="tcp::tcp_long", args=("?", {}))
        for n, doc in enumerate(documents("tcp_long", EXAMPLES)[:3])
    ]
    patched = Mock(
        side_effect=lambda taker, *_, **__: vars(taker).update(requests=asked)
    )
    monkeypatch.setattr(export_requests, "evaluate", patched)
    return asked


@pytest.mark.usefixtures("three_requests")
def test_what_any_of_several_outputs_answers_is_not_written_again(tmp_path):
    arguments = ["tcp_long,tcp_long", "--model", "m"]
    requests = exported(tmp_path / "requests.jsonl", *arguments)
    assert [x["custom_id"][:11] for x in requests] == [
        f"tcp_long:{n}:" for n in range(3)
    ]
    outputs = [
        str(write(tmp_path / f"{n}.jsonl", batch_output(requests[n]))) for n in (0, 2)
    ]
    again = tmp_path / "again.jsonl"
    assert exported(again, *arguments, "--only-missing", *outputs) == requests[1:2]


@pytest.mark.usefixtures("three_requests")
def test_what_is_in_the_way_of_an_export_is_said_before_the_work(tmp_path):
    path = write(tmp_path / "mine", "mine")
    assert main(["export", "tcp_long", "--model", "m", "--output", str(path)]) == 1
    assert not export_requests.evaluate.called


def read_as(*paths: object, **options: object) -> tuple[str, list[Answer]]:
    """Return the model and the answers that `replay` takes from files."""
    unset = dict.fromkeys(("tasks", "model", "output_path"))
    options = {**unset, "apply_chat_template": False, **options}
    return read(Namespace(responses=[*map(str, paths)], **options))


def test_the_model_is_the_one_that_is_named_first_and_of_several_files_none(tmp_path):
    served = [
        TEXT | {"response": {"body": TEXT["response"]["body"] | {"model": name}}}
        for name in ("first", "second")
    ]
    one, other = (write(tmp_path / f"{x}.jsonl", *served) for x in ("one", "other"))
    plain = write(tmp_path / "plain.jsonl", PLAIN)
    assert read_as(one)[0] == read_as(one, other)[0] == "first"
    assert read_as(plain)[0] == "plain"
    assert read_as(one, plain)[0] == "replay"
    assert read_as(f"mine={one}")[0] == "mine"
    assert read_as(f"mine={one}", model="given")[0] == "given"


def test_lines_without_a_task_are_of_the_only_one(tmp_path):
    path = write(
        tmp_path / "x.jsonl", {"doc_id": 0, "response": "x", "arguments": {"a": 1}}
    )
    _, [answer] = read_as(path, tasks=["tcp_long"])
    assert (answer.task, answer.line) == ("tcp_long", {})  # no log, and no prompt of it
    for tasks in (None, ["tcp"], ["tcp_long", "tcp_short"]):
        with pytest.raises(ToolError, match="x.jsonl, line 1: "):
            read_as(path, tasks=tasks)


def test_an_argument_without_answers_ends_a_replay(tmp_path):
    plain, empty = write(tmp_path / "x.jsonl", PLAIN), write(tmp_path / "empty.jsonl")
    with pytest.raises(FileNotFoundError):
        read_as(plain, tmp_path / "away.jsonl")
    with pytest.raises(ToolError, match="mine=: names no file or folder; give PATH"):
        read_as(plain, "mine=")
    with pytest.raises(
        ToolError, match="empty.jsonl: has no answers; name another file"
    ):
        read_as(empty, write(tmp_path / "void.jsonl"))
    assert len(read_as(empty, plain)[1]) == 1


@pytest.mark.parametrize("field", ["response", "prompt"])
def test_half_a_character_is_in_the_way_of_a_log_alone(field):
    half = Answer("x", {}, "tcp_long", **{field: "\ud83d"})
    options = Namespace(apply_chat_template=False, output_path=None)
    assert _misfit(half, options) is None
    options.output_path = Path("output")
    assert "holds half a character" in _misfit(half, options)


def test_what_families_warn_of_is_heard_in_an_export(tmp_path):
    exported(tmp_path / "requests.jsonl", "tcp_long", *PACK, *ONE, "--model", "m")
    family_logger = logging.getLogger("lm_eval.tasks.tcp")
    assert family_logger.getEffectiveLevel() == logging.WARNING


def test_export_replaces_requests_and_nothing_else(tmp_path, capsys):
    path = tmp_path / "requests.jsonl"
    arguments = ["tcp_long", *PACK, "--model", "m"]
    assert exported(path, *arguments) == exported(path, *arguments)
    for line in (PLAIN, OUTPUT, {"body": "mine"}):
        write(path, line)
        assert main(["export", *arguments, "--output", str(path)]) == 1
        said = f"{path}: is there, and was not made by export; move it elsewhere"
        assert capsys.readouterr().err.splitlines()[-1].startswith(said)
        assert read_jsonl(path) == [line]


OUTPUT, TEXT = (
    {"custom_id": f"tcp_long:0:{0:016}", "response": {"body": {"choices": [choice]}}}
    for choice in ({"message": {"content": "x"}}, {"text": "x"})
)
PLAIN = {"task": "tcp_long", "doc_id": 0, "response": "x"}
ONE = ["--limit", "1"]
RECORDED = read_jsonl(EXAMPLES / "responses" / "careful" / "tcp_long.jsonl")
OTHER = {"dialogue": ["?"], "question": "?", "answer": "?"}
TASK, OUT = ["--tasks", "tcp_long"], ["--output_path", "output"]
NOT_ASKED = "line 4: answers document {} of {}, or a version of it, that is not asked; "


def altered(**cells: object) -> list[dict]:
    """Return the recorded answers, one of them with other cells."""
    return [*RECORDED[:3], RECORDED[3] | cells, *RECORDED[4:]]


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (altered(doc_hash="0" * 16), TASK, NOT_ASKED.format(3, "tcp_long")),
        (altered(doc=OTHER), TASK, NOT_ASKED.format(3, "tcp_long")),
        (altered(doc=documents("tcp_long", EXAMPLES)[4]), TASK, NOT_ASKED.format(3, "tcp_long")),
        (altered(doc_id=8), TASK, NOT_ASKED.format(8, "tcp_long")),
        (altered(doc_id=None, doc=OTHER), TASK, NOT_ASKED.format(None, "tcp_long")),
        (altered(task="tcp_short"), TASK, NOT_ASKED.format(3, "tcp_short")),
        (altered(doc_id=1), TASK, "line 4: is a second answer to document 1 of tcp_long, after answers.jsonl, line 2; keep one"),
        (RECORDED[1:], TASK, "tcp_long: 1 documents have no answer, the first of them document 0; give "),
        (RECORDED[2:], TASK, "tcp_long: 2 documents have no answer, the first of them document 0; give "),
        ([OUTPUT], [], "line 1: answers chat messages; add --apply_chat_template"),
        ([TEXT], ["--apply_chat_template"], "line 1: answers a text; leave out --apply_"),
        ([PLAIN | {"response": 1}], [], "line 1: 'response' is a int, not"),
        ([PLAIN | {"doc": {}}], [], "line 1: its document is not one of tcp_long"),
        ([PLAIN | {"response": "half \ud83d"}], OUT, "line 1: holds half a character (a lone surrogate), which the harness cannot"),
        ([PLAIN], ["--include_path", "away"], "'away' is not a folder; name another"),
        ([PLAIN], ["--fewshot_as_multiturn"], "`apply_chat_template` must be set"),
        ([PLAIN], ["--model", "."], "--model .: is not a folder's name; change it"),
        ([PLAIN], ["--model", ".."], "--model ..: is not a folder's name; change it"),
        ([PLAIN], ["--num_fewshot", "4", *ONE], "--num_fewshot 4: number of fewshot samples requested exceeds the 3"),
        ([PLAIN], [*ONE, *OUT, "--model", "x" * 300], "output: the harness cannot write its files to"),
        ([PLAIN], ["--limit", "0"], "argument --limit: '0' is not a number above 0"),
        ([PLAIN], ["--tasks", ","], "argument --tasks: ',' names no task, or one twice"),
    ],
)  # fmt: skip
def test_replay_ends_in_one_line(lines, options, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "answers.jsonl", *lines)
    assert main(["replay", "answers.jsonl", *PACK, *options]) in (1, 2)
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not [*tmp_path.rglob("results_*"), *tmp_path.rglob("samples_*")]


def test_a_place_that_cannot_be_written_is_said_before_the_work(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["replay", "no.jsonl", "--output_path", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.endswith("/results.json: Not a directory\n")
