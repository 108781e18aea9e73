"""Files that `score` writes: by several processes, interrupted, finished, in the way."""

import gzip
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.answers import GOOD, answers, contents, split, write
from tests.conftest import EXAMPLES, ROOT
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.jsonl import read_jsonl
from utils.runs.answers import custom_id
from utils.score import command, files


COMMAND = [sys.executable, "-m", "utils", "score"]
OLDER = {"verdict": {}}  # of an output that the tool made before


def written_at(folder: Path) -> dict[str, tuple[int, int]]:
    """Return what tells a file from one that was written over it."""
    found = {x.name: x.stat() for x in folder.iterdir() if x.is_file()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()}


# ----------------------------------------------------------------- what lines become


@pytest.fixture
def scored_line(tmp_path, call_score):
    """Return the second line of the output of a file whose second line it is."""

    def scored(line: dict | bytes) -> bytes:
        path = write(tmp_path / "x.jsonl", GOOD | {"doc_id": 1}, line)
        assert call_score(path, "--output", tmp_path / "out")[0] == 0
        return (tmp_path / "out" / "x.jsonl").read_bytes().split(b"\n")[1]

    return scored


@pytest.fixture
def forked(monkeypatch):
    """Have workers forked, for new processes spend their time on imports."""
    monkeypatch.setattr(files, "_METHOD", "fork")


SPLICED = {
    "blanks": b'  {"response" : "a",  "doc_id":0, "task":"tcp_long" } \r\n',
    "escapes": b'{"task": "tcp_long", "response": "\\u00e9\\ud800\\/", "doc_id": 0}\n',
    "line separator": '{"task": "tcp_long", "response": "\u2028", "doc_id": 0}'.encode(),
    "huge number": b'{"n": 1e400, "task": "tcp_long", "response": "", "doc_id": 0}\n',
    "two keys": b'{"a": 1, "a": 2, "task": "tcp_long", "response": "", "doc_id": 0}\n',
}


@pytest.mark.parametrize("kind", SPLICED)
def test_a_line_stays_as_it_is_before_its_verdict(scored_line, kind):
    given = SPLICED[kind].strip()[:-1].rstrip()
    found = scored_line(SPLICED[kind])
    assert found.startswith(given + b', "verdict": {"version": ')
    read = json.loads(found)
    assert read.pop("verdict")["scores"]
    assert read == json.loads(SPLICED[kind])


@pytest.mark.parametrize("kind", ["verdict", "task"])
def test_no_key_comes_twice(scored_line, kind):
    line = GOOD | {"verdict": {"reason": "old"}}
    if kind == "task":
        doc = documents("tcp_long", EXAMPLES)[0]
        body = {"choices": [{"text": GOOD["response"]}]}
        line = {"task": "tot_semantic", "response": {"body": body}}
        line["custom_id"] = custom_id("tcp_long", 0, doc)
    found = scored_line(line)
    pairs = json.loads(found, object_pairs_hook=list)
    assert sorted(name for name, _ in pairs) == sorted({*line, "verdict"})
    assert dict(pairs)["task"] == "tcp_long"
    assert dict(dict(pairs)["verdict"])["reason"] == "other_value"


def test_a_line_without_a_task_is_told_it_and_a_mark_at_the_start_goes(
    tmp_path, call_score
):
    line = {x: GOOD[x] for x in ("doc_id", "response")}
    path = write(tmp_path / "x.jsonl", b"\xef\xbb\xbf", line)
    status, _, said = call_score(
        path, "--task", "tcp_long", "--output", tmp_path / "out"
    )
    assert (status, said) == (0, "")
    (scored,) = read_jsonl(tmp_path / "out" / "x.jsonl")
    assert list(scored) == ["doc_id", "response", "task", "verdict"]
    assert (tmp_path / "out" / "x.jsonl").read_bytes().startswith(b'{"doc_id"')


def test_lines_are_the_same_however_they_are_packed(tmp_path, call_score):
    plain = write(tmp_path / "model.jsonl", *answers(50))
    packed = write(
        tmp_path / "in" / "model.jsonl.gz", gzip.compress(plain.read_bytes())
    )
    first = call_score(plain, "--output", tmp_path / "out")
    assert call_score(packed, "--output", tmp_path / "out") == first
    text = gzip.decompress((tmp_path / "out" / packed.name).read_bytes())
    assert text == (tmp_path / "out" / plain.name).read_bytes()
    assert call_score(tmp_path / "out" / packed.name)[1] == first[1]  # it is read again


# ------------------------------------------------------------- processes, and kills


def test_any_number_of_processes_writes_and_prints_the_same(
    tmp_path, call_score, forked
):
    lines = answers(300)
    lines[200] = lines[200] | {"doc": lines[3]["doc"], "task": lines[3]["task"]}
    lines[200].pop("doc_id")  # a second answer, some chunks behind the first
    lines[250] = {"response": "of no task"}
    path = write(tmp_path / "model.jsonl", *lines)
    folder = split(tmp_path / "model", lines, 100)
    found = []
    for count in (1, 2):
        output = tmp_path / str(count)
        options = ("--output", output, "--workers", count)
        _, printed, said = call_score(f"one={path}", folder, *options)
        assert "line 201: is a second answer to document " in said
        assert "part-00200.jsonl, line 1: is a second answer to document " in said
        assert said.count("does not name its task") == said.count("\n") / 2 == 2
        found.append((printed, said, contents(output)))
    assert found[0] == found[1]
    parts = [found[0][2][f"part-{n:05}.jsonl"] for n in (0, 100, 200)]
    assert b"".join(parts) == found[0][2]["model.jsonl"]
    assert b"".join(parts).count(b"\n") == 299


def test_a_long_run_in_a_terminal_shows_how_far_it_is(
    tmp_path, call_score, monkeypatch
):
    path = write(tmp_path / "x.jsonl", *answers(20))
    for seconds in (10, 0):
        monkeypatch.setattr(command, "_PATIENCE", seconds)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        status, _, said = call_score(path)
        assert (status, " answers [00:0" in said) == (0, not seconds)


def endless(path: Path) -> int:
    """Make a file of answers whose end never comes; return what holds it open."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    os.write(pipe, f"{json.dumps(GOOD)}\n".encode() * 800)  # as many as it can hold
    return pipe


def wait_for_part(folder: Path) -> None:
    """Wait until an output is being written."""
    for _ in range(6_000):
        if any(x.stat().st_size for x in folder.glob(".*.part")):
            return
        time.sleep(0.01)
    raise AssertionError("nothing is written")


def test_a_killed_worker_ends_the_run_in_a_line_and_leaves_no_part(
    tmp_path, call_score
):
    path = tmp_path / "model.jsonl"
    pipe = endless(path)
    others = multiprocessing.active_children()

    def kill() -> None:
        wait_for_part(tmp_path / "out")
        workers = (x for x in multiprocessing.active_children() if x not in others)
        next(workers).kill()
        time.sleep(0.5)  # the pool sees it, which a read that waits does not
        os.close(pipe)

    thread = threading.Thread(target=kill)
    (tmp_path / "out").mkdir()
    thread.start()
    called = call_score(path, "--output", tmp_path / "out", "--workers", "2")
    thread.join()
    assert called[:2] == (1, "")
    assert called[2].startswith("a worker process was killed; see whether memory ran")
    assert called[2].count("\n") == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_new_processes_score_and_a_signal_to_the_group_ends_them(tmp_path, call_score):
    small = write(tmp_path / "small.jsonl", *answers(200))
    path = tmp_path / "endless.jsonl"
    pipe = endless(path)
    output = write(tmp_path / "out" / path.name, OLDER)
    options = ("--include_path", EXAMPLES, "--output", output.parent, "--workers", "2")
    process = subprocess.Popen(
        [*COMMAND, small, path, *options],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (output.parent / small.name).exists():
        assert process.poll() is None
        time.sleep(0.01)
    wait_for_part(output.parent)
    os.killpg(process.pid, signal.SIGTERM)  # as `timeout` and a batch system do
    _, said = process.communicate(timeout=60)
    os.close(pipe)
    told, end = said.splitlines()
    assert (process.returncode, end) == (143, "ended by SIGTERM")
    again = f" answers were scored; run the command again, which keeps what is finished in {output.parent}"
    assert told.endswith(again)
    assert int(told.removesuffix(again)) > 200
    assert read_jsonl(output) == [OLDER]
    with pytest.raises(ProcessLookupError):  # of the group nobody is left
        for _ in range(500):
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    assert call_score(small, "--output", tmp_path / "here")[0] == 0
    found, expected = contents(output.parent), contents(tmp_path / "here")
    assert found == expected | {output.name: output.read_bytes()}


def test_a_run_killed_at_ten_moments_and_started_again_gives_the_same_bytes(
    tmp_path, call_score
):
    source = split(tmp_path / "model", answers(600), 100)
    command = ["score", str(source), "--include_path", str(EXAMPLES), "--output"]
    whole, output = tmp_path / "whole", tmp_path / "out"
    started_at = time.monotonic()
    expected = call_score(source, "--output", whole)
    seconds = time.monotonic() - started_at
    draw = random.Random(20)
    for _ in range(10):
        # Forked, for a new process would spend its time on imports.
        context = multiprocessing.get_context("fork")
        process = context.Process(target=main, args=([*command, str(output)],))
        process.start()
        time.sleep(draw.uniform(0, 0.5 * seconds))
        process.kill()
        process.join()
        for path in output.glob("part-*"):
            assert path.read_bytes() == (whole / path.name).read_bytes()
    status, printed, _ = call_score(source, "--output", output)
    assert (status, printed) == expected[:2]
    assert contents(output) == contents(whole)


# ---------------------------------------------------------------- finished or not

PART, NAMED = "part-00000.jsonl", "named.jsonl"
ALL = {PART, "part-00004.jsonl", NAMED}


def edit(path: Path) -> None:
    """Change the last "e" of a file, whose size and time stay."""
    found, text = path.stat(), path.read_bytes()
    start, _, end = text.rpartition(b"e")
    path.write_bytes(start + b"a" + end)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def noted(text: str):
    return lambda source, output, _: (output / ".finished" / f"{PART}.json").write_text(
        text
    )


def patched(name: str, of: object = files):
    return lambda source, output, patch: patch.setattr(of, name, lambda *_: "new")


# What happens between two calls, and which files are then scored again.
CHANGES = {
    "nothing": (lambda *_: None, set()),
    "a new time": (lambda source, *_: (source / PART).touch(), set()),
    "other answers": (lambda source, *_: edit(source / PART), {PART}),
    "an edited output": (lambda _, output, patch: edit(output / PART), {PART}),
    "no output": (lambda _, output, patch: (output / PART).unlink(), {PART}),
    "other code": (patched("_code"), ALL),
    "another dateutil": (patched("version"), ALL),
    "another Python": (patched("python_version_tuple", files.platform), ALL),
    "half a note": (noted('{"made_of": {'), {PART}),
    "another note": (noted("[]"), {PART}),
    "an empty note": (noted("{}"), {PART}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_finished_output_stands_while_nothing_that_it_was_made_of_changes(
    tmp_path, call_score, monkeypatch, change
):
    source = split(tmp_path / "model", answers(8, first_id=100), 4)
    plain = {"task": "tcp_long", "response": '{"answer": "False"}'}
    write(source / NAMED, *(plain | {"doc_id": i} for i in (5, 6, 7, 9999)))
    output = tmp_path / "out"
    first = call_score(source, "--output", output)
    assert first[0] == 1
    assert "has no document 9999" in first[2]
    before = written_at(output)
    do, expected = CHANGES[change]
    do(source, output, monkeypatch)

    status, printed, said = call_score(source, "--output", output)
    after = written_at(output)
    assert {name for name in after if after[name] != before.get(name)} == expected
    kept = f"{output}: {3 - len(expected)} of 3 outputs were finished; kept\n"
    assert said == first[2] + kept * (expected != ALL)
    again = call_score(source, "--output", tmp_path / "again")
    assert again == (status, printed, first[2])
    assert contents(output) == contents(tmp_path / "again")


def test_the_code_of_an_output_is_that_of_its_pack_too(tmp_path):
    found = []
    for name, text in (
        ("tcp.yaml", "a"),
        ("data/tcp.jsonl", "a"),
        ("data/tcp.jsonl", "b"),
    ):
        write(tmp_path / name, text)
        files._code.cache_clear()
        found.append(files._code(tmp_path))
    assert len({*found, files._code(EXAMPLES)}) == 4


def test_an_option_that_changes_lines_makes_another_output(tmp_path, call_score):
    line = {"doc_id": 0, "response": "\\boxed{2020-01-01}"}
    path = write(tmp_path / "x.jsonl", line)
    for task, kept in (("tcp_long", 0), ("tcp_long", 1), ("tcp_short", 0)):
        _, _, said = call_score(path, "--task", task, "--output", tmp_path / "out")
        assert said.count("1 of 1 outputs were finished; kept") == kept


def test_jobs_that_score_a_file_each_leave_but_the_table(tmp_path, call_score):
    lines = answers(12)
    lines[9] = lines[2]
    source = split(tmp_path / "model", lines, 4)
    for path in sorted(source.iterdir()):
        assert call_score(path, "--output", tmp_path / "out")[0] == 0
    before = written_at(tmp_path / "out")
    _, printed, said = call_score(source, "--output", tmp_path / "out")
    assert written_at(tmp_path / "out") == before
    assert printed == call_score(source)[1]
    repeated, kept = said.splitlines()
    again = tmp_path / "out" / "part-00008.jsonl"
    assert repeated.startswith(f"{again}, line 2: is a second answer to")
    assert kept.endswith(": 3 of 3 outputs were finished; kept")


# ------------------------------------------------------------------- in the way

# What stands where an output should be, and what is said of it.
IN_THE_WAY = {
    "a file of mine": ("out/x.jsonl", "mine", "is there, and was not made by score; "),
    "answers": ("out/x.jsonl", GOOD, "is there, and was not made by score; move it"),
    "Parquet": ("out/x.jsonl", b"PAR1", "is there, and was not made by score; move it"),
    "a folder": ("out/x.jsonl/x", "mine", "Is a directory"),
    "a file for the folder": ("out", "mine", "Not a directory"),
}


@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_what_stands_where_an_output_should_be_is_never_replaced(
    tmp_path, call_score, kind
):
    place, content, expected = IN_THE_WAY[kind]
    path = write(tmp_path / "x.jsonl", GOOD)
    mine = write(tmp_path / place, content)
    before = mine.read_bytes()
    status, printed, said = call_score(path, "--output", tmp_path / "out")
    assert (status, printed, said.count("\n")) == (1, "", 1)
    assert said.startswith(f"{tmp_path / 'out' / 'x.jsonl'}: {expected}")
    assert mine.read_bytes() == before


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_an_output_that_is_not_finished_is_replaced(tmp_path, call_score, name):
    pack = gzip.compress if name.endswith("gz") else bytes
    path = write(tmp_path / name, pack(json.dumps(GOOD).encode()))
    output = write(tmp_path / "out" / name, pack(json.dumps(OLDER).encode()))
    assert call_score(path, "--output", output.parent)[::2] == (0, "")
    (line,) = read_jsonl(output)
    assert line["verdict"]["reason"]


def test_an_output_is_no_input_and_of_one_file(tmp_path, call_score):
    a, b = (write(tmp_path / x / "x.jsonl", GOOD) for x in "ab")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for folder, fault in (
        ("a", f"is one of the files to read; name another --output for {a}"),
        ("link", f"is one of the files to read; name another --output for {a}"),
        ("out", f"is named by --output for {a}, too; name another --output for {b}"),
    ):
        output = tmp_path / folder
        status, _, said = call_score(f"a={a}", f"b={b}", "--output", output)
        assert (status, said) == (1, f"{output / 'x.jsonl'}: {fault}\n")
    assert read_jsonl(a) == [GOOD]


def test_a_file_that_cannot_be_opened_is_named_the_others_scored(tmp_path, call_score):
    good = write(tmp_path / "good.jsonl", GOOD)
    for options in ((), ("--output", tmp_path / "out")):
        status, printed, said = call_score(tmp_path / "gone.jsonl", good, *options)
        assert (status, printed.startswith("## good\n")) == (1, True)
        fault = "No such file or directory; check the path"
        assert said == f"{tmp_path / 'gone.jsonl'}: {fault}\n"
    assert [*contents(tmp_path / "out")] == ["good.jsonl"]


def test_an_output_of_another_file_is_replaced_by_that_file_alone(tmp_path, call_score):
    a, b = (write(tmp_path / x / "x.jsonl", GOOD) for x in "ab")
    to = ("--output", tmp_path / "out")
    assert [call_score(path, *to)[0] for path in (a, b)] == [0, 0]  # the same lines
    write(b, GOOD | {"response": "?"})
    status, _, said = call_score(b, *to)
    fault = f"was made of {a}; name another --output for {b}, or delete it"
    assert (status, said) == (1, f"{tmp_path / 'out' / 'x.jsonl'}: {fault}\n")
    write(a, GOOD | {"response": "??"})
    assert call_score(a, *to)[0] == 0
    assert read_jsonl(tmp_path / "out" / "x.jsonl")[0]["response"] == "??"


@pytest.mark.parametrize("number", ["0", "two"])
def test_a_number_of_workers_that_is_none_is_named(tmp_path, call_score, number):
    status, _, said = call_score(tmp_path, f"--workers={number}")
    assert (status, said.count("\n")) == (2, 1)
    assert "is not a whole number of at least 1" in said


def test_a_pipe_is_read_and_never_finished(tmp_path, call_score):
    path, content = write(tmp_path / "x.jsonl", *answers(100)), []
    os.mkfifo(tmp_path / "fifo")
    for source in (path, tmp_path / "fifo", tmp_path / "fifo"):
        writer = threading.Thread(
            target=(tmp_path / "fifo").write_bytes, args=(path.read_bytes(),)
        )
        if source != path:
            writer.start()
        assert call_score(source, "--output", tmp_path / "out")[::2] == (0, "")
        if source != path:
            writer.join()
        content.append((tmp_path / "out" / source.name).read_bytes())
    assert content == [content[0]] * 3
