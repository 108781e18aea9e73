"""Many files of answers: side by side, interrupted, compressed, as Parquet."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.conftest import EXAMPLES, ROOT
from tests.jobs import double_or_die, fail
from tests.shards import answers, contents, split, write
from utils import score
from utils.score import shards
from utils.core.jsonl import SUFFIXES, parse, read_lines
from utils.score.pool import in_order


def written_at(folder: Path) -> dict[str, tuple[int, int]]:
    """Return what tells a file from one that was written over it."""
    found = {x.name: x.stat() for x in folder.iterdir() if x.is_file()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()}


# --------------------------------------------------------------------- interrupted


def start(source: Path, output: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [*(sys.executable, "-m", "utils", "score", source, "--workers", "2")]
        + ["--output", output],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(process: subprocess.Popen, output: Path, count: int) -> None:
    """Wait until so many outputs are finished."""
    while len(list(output.glob(".finished/*.json"))) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


def workers(process: subprocess.Popen) -> list[int]:
    """Return the processes that a process has started, with those that they have."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(x) for x in children.read_text().split()]


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs Linux's list of processes"
)


@needs_proc
def test_an_interrupted_job_goes_on_where_it_stopped(tmp_path, call_score):
    source = split(tmp_path / "model", answers(600), 3)
    assert len(contents(source)) == 200
    expected = call_score(source, "--output", tmp_path / "whole")
    assert expected[::2] == (0, "")

    output = tmp_path / "out"
    process = start(source, output)
    wait_for(process, output, 20)
    children = workers(process)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while any(map(is_running, children)):  # no worker stays behind
        assert time.monotonic() < deadline
        time.sleep(0.01)
    finished = {path.stem for path in output.glob(".finished/*.json")}
    assert 20 <= len(finished) < 200
    before = written_at(output)

    status, printed, said = call_score(source, "--output", output, "--workers", "2")
    assert (status, printed) == expected[:2]
    assert said == f"{output}: {len(finished)} of 200 outputs were finished; kept\n"
    after = written_at(output)
    assert {name: after[name] for name in finished} == {x: before[x] for x in finished}
    left = {x: y for x, y in contents(output).items() if not x.endswith(".part")}
    assert left == contents(tmp_path / "whole")


@needs_proc
def test_a_killed_worker_costs_nothing(tmp_path, call_score):
    source = split(tmp_path / "model", answers(600), 3)
    expected = call_score(source, "--output", tmp_path / "whole")
    process = start(source, tmp_path / "out")
    wait_for(process, tmp_path / "out", 10)
    for child in workers(process):
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(child, signal.SIGKILL)
            break
    printed, said = process.communicate()
    assert (process.returncode, printed) == expected[:2]
    # A worker may have been killed between the end of its work and the news of it.
    assert re.fullmatch(r"(.*/out: [12] of 200 outputs were finished; kept\n)?", said)
    left = contents(tmp_path / "out").items()
    whole = contents(tmp_path / "whole")
    assert {x: y for x, y in left if not x.endswith(".part")} == whole


@pytest.mark.parametrize(
    ("sent", "status", "line"),
    [
        (signal.SIGINT, 130, "\ninterrupted\n"),
        (signal.SIGTERM, 143, "ended by SIGTERM\n"),
        (signal.SIGHUP, 129, "ended by SIGHUP\n"),
    ],
)
def test_a_signal_to_the_group_ends_the_workers_and_leaves_no_part(
    tmp_path, sent, status, line
):
    source = split(tmp_path / "model", answers(20_000), 5_000)
    process = start(source, tmp_path / "out")
    while not list((tmp_path / "out").glob(".*.part")):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, sent)  # as a terminal and a batch system do
    _, said = process.communicate(timeout=20)
    assert process.returncode == status
    # Python's own process behind `multiprocessing` dies of SIGHUP, and says so.
    assert said == line or (sent == signal.SIGHUP and line in said)
    assert not list((tmp_path / "out").glob(".*.part"))


def test_jobs_whose_worker_is_killed_are_done_again_and_given_up_the_second_time(
    tmp_path,
):
    once, always = tmp_path / "once", tmp_path / "always"
    once.touch()
    always.touch()
    jobs = [(number, None, False) for number in range(8)]
    jobs[2], jobs[5] = (2, once, False), (5, always, True)
    assert [*in_order(double_or_die, jobs, 2)] == [0, 2, 4, 6, 8, None, 12, 14]


def test_a_bug_in_a_worker_is_raised(tmp_path):
    with pytest.raises(ZeroDivisionError):
        list(in_order(fail, range(4), 2))


def test_a_file_that_nobody_can_score_is_named_the_others_are_kept(
    tmp_path, call_score, monkeypatch
):
    def in_order(function, jobs, workers):
        return (None if i == 1 else function(job) for i, job in enumerate(jobs))

    monkeypatch.setattr(score, "in_order", in_order)
    source = split(tmp_path / "model", answers(24), 8)
    status, printed, said = call_score(source, "--output", tmp_path / "out")
    assert status == 1
    assert said.startswith(f"{source / 'part-00008.jsonl'}: the process that scored it")
    assert said.count("\n") == 1
    assert len(contents(tmp_path / "out")) == 2
    assert sum(len(x.splitlines()) for x in contents(tmp_path / "out").values()) == 16


# ---------------------------------------------------------------- finished or not

PART, NAMED = "part-00000.jsonl", "named.jsonl"
ALL = {PART, "part-00004.jsonl", NAMED}


def edit(path: Path) -> None:
    """Change the last "e" of a file, whose size and time stay."""
    found, text = path.stat(), path.read_bytes()
    start, _, end = text.rpartition(b"e")
    path.write_bytes(start + b"a" + end)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def figures(text: str):
    return lambda source, output, _: (output / ".finished" / f"{PART}.json").write_text(
        text
    )


def patched(name: str):
    return lambda source, output, patch: patch.setattr(shards, name, lambda *_: "new")


@pytest.mark.parametrize(
    "change",
    [{"task": "tcp_short"}, {"leave_out": "disputed-1"}],
    ids=str,
)
def test_an_output_is_made_of_all_that_is_asked_of_it(tmp_path, change):
    source = split(tmp_path / "model", answers(8), 8) / PART
    shard = shards.Shard(source, "tcp_long", EXAMPLES, output=tmp_path / "out" / PART)
    shards.score_shard(shard)
    assert shards.score_shard(shard).was_finished
    assert not shards.score_shard(shard._replace(**change)).was_finished


def test_a_file_that_grows_while_it_is_read_is_not_finished(
    tmp_path, call_score, monkeypatch
):
    source = split(tmp_path / "model", answers(8), 8) / PART
    read = shards.read_answers

    def grown(path, task):
        yield from read(path, task)
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n")

    with monkeypatch.context() as patch:
        patch.setattr(shards, "read_answers", grown)
        call_score(source, "--output", tmp_path / "out")
    assert "finished; kept" not in call_score(source, "--output", tmp_path / "out")[2]
    assert "finished; kept" in call_score(source, "--output", tmp_path / "out")[2]


# What happens between two calls, and which files are then scored again.
CHANGES = {
    "nothing": (lambda *_: None, set()),
    "a new time": (lambda source, *_: (source / PART).touch(), set()),
    "other answers": (lambda source, *_: edit(source / PART), {PART}),
    "an edited output": (lambda _, output, patch: edit(output / PART), {PART}),
    "no output": (lambda _, output, patch: (output / PART).unlink(), {PART}),
    "other code": (patched("_code_digest"), ALL),
    "other documents": (patched("_documents_digest"), {NAMED}),
    "half of the figures": (figures('{"made_of": {'), {PART}),
    "other figures": (figures("[]"), {PART}),
    "no figures": (figures("{}"), {PART}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_finished_output_stands_while_nothing_that_it_was_made_of_changes(
    tmp_path, call_score, monkeypatch, change
):
    source = split(tmp_path / "model", answers(8, first_id=100), 4)
    plain = {"task": "tcp_long", "response": '{"answer": "False"}'}
    write(source / NAMED, [plain | {"doc_id": i} for i in (5, 6, 7, 9999)])
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


def test_machines_that_score_a_file_each_leave_but_the_table(tmp_path, call_score):
    source = split(tmp_path / "model", answers(12), 4)
    for path in sorted(source.iterdir()):
        assert call_score(path, "--output", tmp_path / "out")[0] == 0
    before = written_at(tmp_path / "out")
    status, printed, _ = call_score(source, "--output", tmp_path / "out")
    assert written_at(tmp_path / "out") == before
    assert (status, printed) == call_score(source)[:2]


def test_a_second_answer_is_found_in_another_file_as_in_the_same(tmp_path, call_score):
    lines = answers(12)
    lines[9] = lines[9] | {
        "task": lines[2]["task"],
        "doc": lines[2]["doc"],
        "doc_id": 2,
    }
    whole = write(tmp_path / "model.jsonl", lines)
    source = split(tmp_path / "model", lines, 4)
    _, expected, said = call_score(whole, "--output", tmp_path / "one")
    assert f"{whole}, line 10: is a second answer to document 2 of " in said
    for count in ("1", "2"):
        status, printed, said = call_score(
            source, "--output", tmp_path / "out", "--workers", count
        )
        assert (status, printed) == (1, expected)
        place = f"{source / 'part-00008.jsonl'}, line 2"
        assert said.startswith(f"{place}: is a second answer to document 2 of ")
        joined = b"".join(
            text for _, text in sorted(contents(tmp_path / "out").items())
        )
        assert joined == (tmp_path / "one" / whole.name).read_bytes()


# ------------------------------------------------------------------- kinds of files


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lines_are_the_same_however_they_are_packed(tmp_path, call_score, suffix):
    plain = write(tmp_path / "model.jsonl", answers(50))
    packed = write(tmp_path / "in" / f"model{suffix}", answers(50))
    first = call_score(plain, "--output", tmp_path / "plain")
    second = call_score(packed, "--output", tmp_path / "packed")
    assert first == second
    assert first[0] == 0
    lines = [
        [line.text.rstrip(b"\n") for line in read_lines(tmp_path / kind / path.name)]
        for kind, path in (("plain", plain), ("packed", packed))
    ]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 50
    assert (
        call_score(tmp_path / "packed" / packed.name)[:2] == first[:2]
    )  # it is read again


def test_a_parquet_file_may_have_a_column_for_each_key(tmp_path, call_score):
    lines = [line for line in answers(50) if line["task"] == "tcp_long"]
    lines[0]["finish_reason"] = "length"  # which the others do not have
    plain = write(tmp_path / "model.jsonl", lines)
    path = tmp_path / "in" / "model.parquet"
    path.parent.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(lines), path)
    assert [parse(line) for line in read_lines(path)] == lines
    assert call_score(path) == call_score(plain)


def test_a_cell_that_json_does_not_have_is_named(tmp_path, call_score):
    path = tmp_path / "x.parquet"
    rows = [{"task": "tcp_long", "response": b"text"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    status, _, said = call_score(path)
    assert status == 1
    assert said.startswith(f"{path}, after line 0: Object of type bytes is not JSON")
    assert said.endswith("give a column 'line' of JSON texts\n")


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".jsonl.zst", ".parquet"])
@pytest.mark.parametrize("left", [0.02, 0.5, 0.999])
def test_half_a_file_is_said_to_be_cut_off(tmp_path, call_score, suffix, left):
    path = write(tmp_path / f"x{suffix}", answers(2000))
    content = path.read_bytes()
    path.write_bytes(content[: int(left * len(content))])
    status, _, said = call_score(path)
    assert status == 1
    assert said.endswith(" data is cut off or damaged; get the file again\n")


def test_parquet_from_a_pipe_is_refused(tmp_path):
    path = write(tmp_path / "x.parquet", answers(2))
    done = subprocess.run(
        f"cat '{path}' | '{sys.executable}' -m utils score /dev/stdin",
        cwd=ROOT,
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.endswith("cannot be read from a pipe; name the file\n")


@pytest.mark.parametrize("number", ["0", "-1", "two", ""])
def test_a_number_of_workers_that_is_none_is_named(tmp_path, call_score, number):
    status, _, said = call_score(tmp_path, f"--workers={number}")
    assert (status, said.count("\n")) == (2, 1)
    assert "is not a whole number of at least 1" in said
