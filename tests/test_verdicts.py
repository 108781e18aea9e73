"""Tables of verdicts: kept, made again, by several processes, killed, in the way."""

import errno
import gzip
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.answers import GOOD, answers, here, split, write
from tests.conftest import EXAMPLES, ROOT
from tests.logs import sample
from utils.__main__ import main
from utils.core import documents as core_documents
from utils.core.documents import documents
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.verdicts import judge_file, runs_by_model, stored_tables
from utils.verdicts.find_answer_files import find_answer_files
from utils.verdicts.judge_file import Judging


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of the tables in a folder, but for what is hidden."""
    paths = sorted(folder.glob("[!.]*/*"))
    return {f"{path.relative_to(folder)}": path.read_bytes() for path in paths}


def times(folder: Path) -> dict[str, int]:
    """Return when each table in a folder was made."""
    heads = folder.glob("*/run.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in heads}


def test_any_number_of_processes_writes_and_prints_the_same(tmp_path, call_score):
    lines = answers(300)
    lines[200] = lines[3]  # a second answer, a file behind the first
    lines[250] = {"response": "of no task"}
    path = write(tmp_path / "whole.jsonl", *lines)
    folder = split(tmp_path / "parts", lines, 100)
    outcomes = []
    for workers in (1, 3):
        output = tmp_path / str(workers)
        options = ["--output", output, "--workers", workers]
        _, printed, messages = call_score(f"one={path}", folder, *options)
        assert "line 201: is a second answer to document " in messages
        assert "part-00200.jsonl, line 1: is a second answer to document " in messages
        assert messages.count("does not name its task") == 2
        assert messages.count("\n") == 4
        assert not [*output.glob(".*")]
        outcomes.append((printed, messages, contents(output)))
    assert outcomes[0] == outcomes[1]
    whole, parts = (
        sum(len(read_jsonl(path)) for path in output.glob(f"{name}/verdicts_*"))
        for name in ("whole", "part-*")
    )
    assert whole == 298 == parts - 1


def test_a_signal_ends_all_and_what_is_finished_is_kept(tmp_path, call_score):
    small = write(tmp_path / "small.jsonl", *answers(40))
    large = write(tmp_path / "large.jsonl", *answers(9_000))
    output = tmp_path / "out"
    options = ["--include_path", EXAMPLES, "--output", output, "--workers", "2"]
    command = [sys.executable, "-m", "utils", "score", small, large, *options]
    popen_args = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen(command, cwd=ROOT, **popen_args)
    while not (output / "small" / "run.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)  # as `timeout` and a batch system do
    _, messages = process.communicate(timeout=60)
    kept = "verdicts on 1 of 2 files are kept, and the same command goes on"
    assert (process.returncode, messages) == (143, f"ended by SIGTERM; {kept}\n")
    with pytest.raises(ProcessLookupError):  # of the group nobody is left
        for _ in range(500):
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    assert call_score(small, "--output", tmp_path / "here")[0] == 0
    assert contents(output) == contents(tmp_path / "here")


def test_an_interruption_between_two_tables_says_what_is_kept(
    tmp_path, call_score, monkeypatch
):
    def put_and_interrupt(*arguments):
        put(*arguments)
        raise KeyboardInterrupt(signal.SIGTERM)

    put = stored_tables._put
    monkeypatch.setattr(stored_tables, "_put", put_and_interrupt)
    paths = [write(tmp_path / f"{name}.jsonl", GOOD) for name in "ab"]
    output = tmp_path / "out"
    status, _, messages = call_score(*paths, "--output", output)
    kept = "verdicts on 1 of 2 files are kept, and the same command goes on"
    assert (status, messages) == (143, f"ended by SIGTERM; {kept}\n")
    assert [path.name for path in output.iterdir()] in (["a"], ["b"])


def test_a_run_killed_and_started_again_gives_the_same_bytes(tmp_path, call_score):
    source = split(tmp_path / "model", answers(600), 100)
    whole, output = tmp_path / "whole", tmp_path / "out"
    started_at = time.monotonic()
    expected = call_score(source, "--output", whole)
    seconds = time.monotonic() - started_at
    command = ["score", source, "--include_path", EXAMPLES, "--output", output]
    arguments = [*map(str, command), "--workers", "2"]
    draw = random.Random(20)
    context = multiprocessing.get_context("fork")  # a new one would spend it on imports
    for _ in range(10):
        process = context.Process(target=main, args=(arguments,))
        process.start()
        time.sleep(draw.uniform(0, 0.5 * seconds))
        process.kill()
        process.join()
        for name, content in contents(output).items():
            assert content == (whole / name).read_bytes()
    assert call_score(source, "--output", output)[:2] == expected[:2]
    assert contents(output) == contents(whole)
    assert not [*output.glob(".*")]  # nor is there anything of those that were killed


LARGE = [GOOD | {"doc_id": n, "response": "x" * 2**19} for n in range(4)]
SAMPLES = [GOOD | {"sample": n} for n in range(4)]
LONG = {"response": f"Thus, the correct answer is: {'y' * 1_900}"}
WIDE = [GOOD | LONG | {"sample": n % 64, "doc_id": n // 64} for n in range(512)]
EXCESSES = {
    "--most_line=1": ([{"x": "y" * 2**20}], "line 1: is longer than 1 MiB"),
    "--most_unpacked=1": (LARGE, "holds more than 1 MiB"),
    "--most_samples=3": (SAMPLES, "has more than 3 answers to a document"),
    "--most_documents=3": (LARGE, "answers more than 3 documents of tcp_long"),
    "--most_table=1": (WIDE, "its verdicts take more than 1 MiB"),
}


@pytest.mark.parametrize("option", EXCESSES)
def test_what_exceeds_a_limit_is_named_with_the_option(tmp_path, call_score, option):
    lines, expected = EXCESSES[option]
    path, good = write(tmp_path / "x.jsonl", *lines), write(tmp_path / "y.jsonl", GOOD)
    path.write_bytes(gzip.compress(path.read_bytes()))
    for _ in range(2):  # it is kept, too
        status, printed, messages = call_score(path, good, option)
        assert (status, messages.count("\n"), "## y" in printed) == (1, 1, True)
        assert expected in messages
        # What stands before the end of a file that is too large counts.
        assert ("## x" in printed) == (option == "--most_unpacked=1")


def test_a_file_that_is_too_large_is_not_opened(tmp_path, call_score, monkeypatch):
    large, good = tmp_path / "large.jsonl", write(tmp_path / "y.jsonl", *answers(1))
    large.touch()
    os.truncate(large, 3 * 2**20)
    monkeypatch.setattr(judge_file, "run_apart", here)
    monkeypatch.setattr(stored_tables, "run_apart", here)
    opened, sha256_of = [], judge_file.sha256_of
    patched = lambda path: opened.append(path) or sha256_of(path)  # noqa: E731
    monkeypatch.setattr(judge_file, "sha256_of", patched)
    monkeypatch.setattr(judge_file, "allow_seconds", lambda _: None)
    status, printed, message = call_score(large, good, "--most_unpacked", 2)
    assert message == f"{large}: has 3 MiB, more than 2 MiB; raise --most_unpacked\n"
    assert (status, "## y" in printed, large in opened) == (1, True, False)


NO_ROOM = [  # where it shows, and what there is too little of
    ((Judging, "_judge"), errno.ENOSPC),
    ((Judging, "_judge"), errno.EDQUOT),
    ((Judging, "_judge"), errno.ENFILE),
    ((stored_tables, "_write_head"), errno.ENOSPC),
]


@pytest.mark.parametrize(("place", "code"), NO_ROOM)
def test_no_space_ends_the_command_and_is_no_fault_of_a_file(
    tmp_path, call_score, monkeypatch, place, code
):
    def fill_disk(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(*place, fill_disk)
    path, cache = write(tmp_path / "x.jsonl", GOOD), tmp_path / "cache"
    fault = f"{os.strerror(code)}; make room, or name another folder by --cache"
    expected = f"{cache}: {fault}\n"
    assert call_score(path, "--cache", cache) == (1, "", expected)
    assert not [*cache.iterdir()]


def test_only_answers_add_to_the_time(tmp_path, call_score, monkeypatch):
    seconds = []
    monkeypatch.setattr(judge_file, "allow_seconds", seconds.append)
    monkeypatch.setattr(judge_file, "run_apart", here)
    call_score(write(tmp_path / "x.jsonl", *answers(2), *[{}, GOOD | {"doc": 1}] * 99))
    assert seconds == pytest.approx([20, 20.005, 20.01])


def test_rows_that_one_file_names_by_number_are_loaded_for_all(
    tmp_path, call_score, monkeypatch
):
    log, load = tmp_path / "loads.txt", core_documents.load

    def note_and_load(names: list[str], *arguments: Any) -> tuple:
        with log.open("a") as file:  # of all processes
            file.write(f"{names} ")
        return load(names, *arguments)

    documents.cache_clear()
    monkeypatch.setattr(core_documents, "load", note_and_load)
    for number in range(6):
        row = {"task": "tcp_long", "doc_id": number, "response": "none"}
        write(tmp_path / "runs" / f"odd{number}.jsonl", row)
    options = ["--include_path", EXAMPLES, "--workers", 1]
    assert call_score(tmp_path / "runs", *options)[0] == 0
    # By the process of the first file, and once for those that follow.
    assert log.read_text() == "['tcp_long'] " * 2


def test_an_argument_has_so_much_processor_time_in_all(tmp_path, call, monkeypatch):
    monkeypatch.setattr("time.process_time", lambda: 2.0)  # that each file takes
    folders = [split(tmp_path / name, answers(3), 1) for name in "ab"]
    command = (*folders, "--most_argument_seconds", 3)
    status, rows, messages = call(*command)
    fault = "its argument has taken 3 s of processor time; run again, which goes on"
    assert status == 1
    assert [line.split(", or raise")[0] for line in messages.splitlines()] == [
        f"{folder}/part-00002.jsonl: {fault}" for folder in folders
    ]
    assert sum(row["n"] for row in rows if not row["by"]) == 4
    status, rows, messages = call(*command)
    assert (status, messages) == (0, "")
    assert sum(row["n"] for row in rows if not row["by"]) == 6


def test_a_kept_failure_names_no_other_place(tmp_path, call):
    for name in "ab":
        log = tmp_path / name / "samples_tcp_long_2026-01-01T00-00-00.jsonl"
        write(log, GOOD)
        write(tmp_path / name / "results_2026-01-01T00-00-00.json", "[")
        status, _, message = call(tmp_path / name)
        fault = "results_2026-01-01T00-00-00.json: is not a results file"
        assert (status, message.startswith(f"{log}: {fault}")) == (1, True), message


def test_samples_are_of_the_task_that_their_name_says(tmp_path, call):
    doc = documents("tcp_long", EXAMPLES)[0]
    path = write(tmp_path / NAME.format("tcp_long", 1), sample(0, doc, "", "x"))
    _, [row, *_], _ = call(path, "--task", "tcp_short")
    assert row["task"] == "tcp_long"


def test_a_table_is_of_the_task_that_was_given(tmp_path, call):
    path = write(tmp_path / "x.jsonl", {"doc_id": 0, "response": "\\boxed{2024-04-12}"})
    for task in ("tcp_short", "tcp_long"):
        _, rows, _ = call(path, "--task", task)
        assert {row["task"] for row in rows if not row["by"]} == {task}


PART, NAMED = "part-00000", "named"
ALL = {PART, "part-00004", NAMED}


def edit(folder: Path, _: object) -> None:
    """Change the last "e" of a file, whose size and time stay."""
    path = folder / f"{PART}.jsonl"
    times, (start, _, end) = path.stat(), path.read_bytes().rpartition(b"e")
    path.write_bytes(start + b"a" + end)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def new_libraries(_: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the libraries be of other versions, in a process that has read them already."""
    patch.setattr(stored_tables.metadata, "version", lambda name: f"new {name}")
    uncached_rules = stored_tables._rules.__wrapped__
    patch.setattr(stored_tables, "_rules", uncached_rules)


# What happens between two calls, and which files are then judged again.
CHANGES = {
    "nothing": (lambda *_: None, set()),
    "a new time": (lambda folder, _: (folder / f"{PART}.jsonl").touch(), set()),
    "other answers": (edit, {PART}),
    "other code": (lambda _, patch: patch.setattr(stored_tables, "_rules", str), ALL),
    "another dateutil": (new_libraries, ALL),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_stands_while_its_sources_do(tmp_path, call_score, monkeypatch, change):
    source = split(tmp_path / "model", answers(8, first_id=100), 4)
    plain = {"task": "tcp_long", "response": '{"answer": "False"}'}
    write(source / f"{NAMED}.jsonl", *(plain | {"doc_id": i} for i in (5, 6, 7, 9999)))
    output, (do, expected) = tmp_path / "out", CHANGES[change]
    status, _, messages = call_score(source, "--output", output)
    assert (status, "has no document 9999" in messages) == (1, True)
    before = times(output)
    do(source, monkeypatch)
    again = call_score(source, "--output", output)
    after = times(output)
    assert {name for name in after if after[name] != before[name]} == expected
    assert again[2] == messages
    assert again == call_score(source, "--output", tmp_path / "again")
    assert contents(output) == contents(tmp_path / "again")
    # One option of a limit more, and all are judged again.
    call_score(source, "--output", output, "--most_line", "15")
    assert not {*times(output).values()} & {*after.values()}


PACK_FILES = [
    "tcp.yaml",
    "_default_yaml",
    "data/x.jsonl",
    "disputed/1.json",
    "a/utils.py",
]


@pytest.mark.parametrize("folder", ["_TOOLS", "FOLDER", None])
def test_a_table_stands_on_every_file_of_its_pack_and_of_the_tools(
    tmp_path, monkeypatch, folder
):
    rules = stored_tables._rules.__wrapped__  # which keeps nothing
    for constant in ("_TOOLS", "FOLDER"):
        (tmp_path / constant).mkdir()
        monkeypatch.setattr(stored_tables, constant, tmp_path / constant)
    include_path = write(tmp_path / "pack" / "b" / "utils.py", "b").parents[1]
    place = tmp_path / folder if folder else include_path
    write(tmp_path / "elsewhere" / "y.jsonl", "a")
    digests = [rules(include_path)]
    for name in PACK_FILES:
        for text in ("a", "b"):
            write(place / name, text)
            digests.append(rules(include_path))
    write(place / "c" / "utils.py", "a")
    digests.append(rules(include_path))
    write(place / "a" / "utils.py", "a")  # two files have changed places
    write(place / "c" / "utils.py", "b")
    digests.append(rules(include_path))
    (place / "c").rename(place / "d")
    digests.append(rules(include_path))
    (place / "linked").symlink_to(tmp_path / "elsewhere")
    digests.append(rules(include_path))
    write(tmp_path / "elsewhere" / "y.jsonl", "b")
    digests.append(rules(include_path))
    assert len({*digests}) == len(digests)
    write(place / "__pycache__" / "x.pyc", "a")
    (place / "loop").symlink_to(place)
    assert rules(include_path) == digests[-1]


def test_all_tools_read_what_jobs_scored(tmp_path, call_score, monkeypatch):
    lines, output = answers(12), tmp_path / "out"
    lines[9] = lines[2]
    source = split(tmp_path / "model", lines, 4)
    for path in sorted(source.iterdir()):
        assert call_score(path, "--output", output)[0] == 0
    expected = call_score(source)
    second_path = source / "part-00008.jsonl"
    assert expected[2].startswith(f"{second_path}, line 2: is a second answer to")
    assert expected[2].count("\n") == 1
    fail = lambda *_, **__: pytest.fail("is judged again")  # noqa: E731
    monkeypatch.setattr(stored_tables, "open_part", fail)
    for option in ("--output", "--cache"):
        assert call_score(source, option, output) == expected
    named = ["--include_path", str(EXAMPLES), f"a={source}", f"b={source}"]
    assert main(["compare", *named, "--cache", str(output)]) == 1  # the same line


def edit_head(place: Path, **changes: object) -> None:
    """Write other values into the run.json of a table; None takes one out."""
    head = json.loads((place / "run.json").read_bytes()) | changes
    kept_items = {name: head[name] for name in head if head[name] is not None}
    (place / "run.json").write_text(json.dumps(kept_items, indent=1))


def edit_file(place: Path, kind: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file of a table."""
    path = place / f"{kind}_tcp_long.jsonl"
    path.write_bytes(change(path.read_bytes()))


def first_line(content: bytes) -> bytes:
    return b"".join(content.splitlines(keepends=True)[:1])


DAMAGES = {
    "cut in a line": lambda x: edit_file(x, "documents", lambda text: text[:99]),
    "documents cut at a line": lambda x: edit_file(x, "documents", first_line),
    "rows cut at a line": lambda x: edit_file(x, "verdicts", first_line),
    "other scores": lambda x: edit_file(
        x, "documents", lambda text: text.replace(b"0.0", b"1.0")
    ),
    "no rows": lambda place: (place / "verdicts_tcp_long.jsonl").unlink(),
    "a head without tasks": lambda place: edit_head(place, tasks=None),
    "a head without files": lambda place: edit_head(place, files=None, digest=None),
    "a head with other counts": lambda place: edit_head(place, refused={}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_table_that_is_not_as_it_was_written_is_made_again(
    tmp_path, call_score, damage
):
    lines = [GOOD, GOOD | {"doc_id": 1}, GOOD | {"doc_id": 2}]
    path, output = write(tmp_path / "x.jsonl", *lines), tmp_path / "out"
    expected = call_score(path, "--output", output)
    before = contents(output)
    DAMAGES[damage](output / "x")
    assert contents(output) != before
    assert call_score(path, "--output", output) == expected
    assert contents(output) == before


def test_a_table_that_is_damaged_while_it_is_read_is_to_be_deleted_whole(tmp_path):
    table = stored_tables.Table(tmp_path, {}, None)
    (tmp_path / "verdicts_tcp_long.jsonl").write_text("{}\n{")
    rows = table.rows("tcp_long")
    assert next(rows) == {}
    with pytest.raises(
        ToolError, match=f", line 2: is damaged; delete {tmp_path}, and"
    ):
        next(rows)


@pytest.mark.parametrize("option", ["--output", "--cache"])
def test_a_table_with_a_file_of_a_user_is_not_replaced(tmp_path, call_score, option):
    path, folder = write(tmp_path / "x.jsonl", GOOD), tmp_path / "out"
    call_score(path, option, folder)
    (place,) = folder.iterdir()
    mine = write(place / "verdicts_mine.jsonl", "my notes")
    assert call_score(path, option, folder)[0] == 0  # nothing is to be replaced
    edit_file(place, "verdicts", first_line)
    edit_file(place, "documents", lambda text: text[:99])
    status, _, message = call_score(path, option, folder)
    fix = "which is of no table; move it elsewhere, or name another folder for tables"
    assert (status, message) == (1, f"{place}: holds verdicts_mine.jsonl, {fix}\n")
    assert mine.read_text() == "my notes\n"


def test_a_file_that_changes_while_it_is_read_is_named(
    tmp_path, call_score, monkeypatch
):
    path, reply = write(tmp_path / "x.jsonl", GOOD), Judging.reply

    def change(*arguments: object) -> dict:
        write(path, GOOD, {"response": "more"})
        return reply(*arguments)

    monkeypatch.setattr(Judging, "reply", change)
    fault = "has changed while it was read; run again"
    assert call_score(path)[::2] == (1, f"{path}: {fault}\n")


@pytest.mark.parametrize("step", ["reply", "_judge_lines"])
def test_a_table_is_of_what_was_judged_whatever_stands_there_before_and_after(
    tmp_path, call_score, monkeypatch, step
):
    path, judge = write(tmp_path / "x.jsonl", GOOD), getattr(Judging, step)
    honest, other = path.read_bytes(), write(tmp_path / "y", GOOD | {"response": "no"})

    def swap(*arguments: Any) -> Any:
        path.write_bytes(other.read_bytes())
        try:
            return judge(*arguments)
        finally:
            path.write_bytes(honest)

    with monkeypatch.context() as patch:
        patch.setattr(Judging, step, swap)
        status, printed, said = call_score(path)
    assert (status, printed) == (1, "")
    assert "has changed while it was read; run again" in said
    _, printed, _ = call_score(path, "--format", "json")
    assert (
        json.loads(printed)[0]["extracted"] == 1
    )  # of the honest one, and not of "no"


@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_any_more_when_it_is_judged_is_not_waited_for(
    tmp_path, call_score, monkeypatch, put
):
    path, reply = write(tmp_path / "x.jsonl", GOOD), Judging.reply

    def change(*arguments: object) -> dict:
        path.unlink()
        put(path)
        return reply(*arguments)

    monkeypatch.setattr(Judging, "reply", change)
    status, printed, said = call_score(path)
    assert (status, printed) == (1, "")
    assert said.startswith(f"{path}: ")


# What stands where a table should be.
IN_THE_WAY = {"x": "a file of mine", "x/x": "a folder of mine", "x/run.json": "{}"}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_what_stands_in_the_way_is_never_replaced(tmp_path, call_score, name):
    path, output = write(tmp_path / "x.jsonl", GOOD), tmp_path / "out"
    mine = write(output / name, IN_THE_WAY[name])
    fault = "is there, and is not a table of score; move it elsewhere, or name another"
    expected = f"{output / 'x'}: {fault} --output\n"
    assert call_score(path, "--output", output) == (1, "", expected)
    assert mine.read_text() == f"{IN_THE_WAY[name]}\n"


def test_a_table_is_of_one_file_and_replaced_by_that_file_alone(tmp_path, call_score):
    a, b = (write(tmp_path / name / "x.jsonl", GOOD) for name in "ab")
    place = tmp_path / "out" / "x"
    to = ("--output", place.parent)
    fault = f"is of {a} and of {b}; name another --output"
    assert call_score(f"a={a}", f"b={b}", *to)[::2] == (1, f"{place}: {fault}\n")
    assert [call_score(path, *to)[0] for path in (a, b)] == [0, 0]  # the same lines
    write(b, GOOD | {"response": "?"})
    fault = f"was made of {a}; name another --output for {b}, or delete it"
    assert call_score(b, *to)[::2] == (1, f"{place}: {fault}\n")
    write(a, GOOD | {"response": "??"})
    assert call_score(a, *to)[0] == 0
    (row,) = read_jsonl(place / "verdicts_tcp_long.jsonl")
    assert row["excerpt"] == "??"


def test_runs_that_never_say_why_answers_end_are_named_once(tmp_path, call_score):
    silent = [write(tmp_path / f"{name}.jsonl", GOOD) for name in "ab"]
    other = write(tmp_path / "c.jsonl", GOOD | {"finish_reason": "stop"})
    printed = " ".join(call_score(*silent, other)[1].split())
    expected = "No answer of 'a', 'b' says why it ended: 0 of 2 end before an answer"
    assert printed.count(expected) == printed.count("why it ended") == 1
    assert "says why it ended" not in call_score(other)[1]
    page = tmp_path / "page.html"
    board = ["--include_path", str(EXAMPLES), "--html", str(page)]
    assert main(["leaderboard", *map(str, silent), *board]) == 0
    assert page.read_text().count("says why it ended: 0 of 2 end before") == 1


NAME = "samples_{}_2026-01-0{}T00-00-00.jsonl"
RUNS = ["a tcp_long 1", "a tcp_long 2", "a tcp_long 4", "a tcp_short 2", "b tcp_long 3"]
RUNS += ["b gsm8k 3"]


@pytest.fixture
def outputs(tmp_path) -> Path:
    """The output folder of two models, of which one was run twice, the fuller run first."""
    for model, task, day in map(str.split, RUNS):
        lines = [GOOD | {"task": task, "doc_id": n} for n in range(1 + (day == "2"))]
        write(tmp_path / model / NAME.format(task, day), *lines)
    results = {"model_name": "org/b", "versions": {"tcp_long": 1.1}}
    write(tmp_path / "b" / "results_2026-01-03T00-00-00.json", results)
    return tmp_path


@pytest.fixture
def scored(call):
    """A function that scores; returns the name of each run, its tasks and their n."""

    def scored(*arguments: object) -> list[tuple[str, str, int]]:
        rows = call(*arguments, "--by", "")[1]
        return [(x["run"], x["task"], x["n"]) for x in rows if "tasks" not in x]

    return scored


def test_the_fullest_run_of_each_task_of_a_folder_counts(outputs, scored):
    of_a = [("a", "tcp_short", 2), ("a", "tcp_long", 2)]
    assert scored(outputs) == [*of_a, ("org/b", "tcp_long", 1)]


def test_a_file_that_is_named_itself_is_a_run_of_its_own(outputs, scored):
    """Beside it may stand a stranger's, as of `submissions/*`; one NAME joins them."""
    paths = [outputs / "a" / NAME.format(task, 2) for task in ("tcp_long", "tcp_short")]
    of_paths = scored(*paths)
    assert [(task, n) for _, task, n in of_paths] == [("tcp_long", 2), ("tcp_short", 2)]
    assert len({run for run, *_ in of_paths}) == 2
    joined = scored(*(f"a={path}" for path in paths))
    assert joined == [("a", "tcp_short", 2), ("a", "tcp_long", 2)]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_of_equally_full_runs_the_newest_counts(tmp_path, call, order):
    for number in order:
        response = GOOD["response"] if number == 2 else "no"
        path = tmp_path / "a" / NAME.format("tcp_long", number)
        write(path, GOOD | {"response": response})
    _, [row, *_], _ = call(tmp_path / "a")
    assert row["extracted"] == 1


def test_one_name_on_several_paths_is_one_model(outputs, tmp_path, scored):
    short = write(tmp_path / "c" / "short.jsonl", GOOD | {"task": "tcp_short"})
    joined = scored(f"M={outputs / 'b'}", f"M={short}")
    assert joined == [("M", "tcp_short", 1), ("M", "tcp_long", 1)]


def test_a_run_is_called_as_its_argument_or_its_file_and_place(tmp_path, scored):
    path = write(tmp_path / "x=1.jsonl.gz", GOOD)
    paths = [write(tmp_path / name / "m.jsonl", GOOD) for name in "ab"]
    arguments = {f"{path}": "x=1", f"A={path}": "A", f"seed=1={paths[0]}": "seed=1"}
    for argument, name in arguments.items():
        assert scored(argument) == [(name, "tcp_long", 1)]
    assert [name for name, *_ in scored(*paths)] == [f"m ({path})" for path in paths]


UNCLEAR = {
    "A=": "A=: names no file or folder; give PATH\n",
    "empty": "empty: has no samples of the pack's tasks; run with --log_samples, or name files\n",
    "gone.jsonl": "gone.jsonl: No such file or directory; check the path\n",
    "pipe": "pipe: is a pipe or a device, not a file; write its lines to a file\n",
}


@pytest.mark.parametrize("argument", UNCLEAR)
def test_what_names_no_run_is_named(tmp_path, monkeypatch, call_score, argument):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good.jsonl", GOOD)
    os.mkdir("empty")
    os.mkfifo("pipe")
    status, printed, messages = call_score(argument, "good.jsonl")
    assert (status, messages) == (1, UNCLEAR[argument])
    assert re.findall("^## .*", printed, re.MULTILINE) == ["## good"]


def test_a_folder_that_cannot_be_read_leaves_the_others(outputs, monkeypatch):
    scandir = os.scandir

    def refuse(path: object) -> object:
        if os.path.basename(path) == "b":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    for argument in (outputs, outputs / "b"):
        sources, failures = find_answer_files([str(argument), str(outputs / "a")])
        assert {source.place for source in sources} == {outputs / "a"}
        assert failures == [(outputs / "b", "", "Permission denied")]


def test_an_argument_has_at_most_so_many_runs(tmp_path, call_score):
    for number in range(4):
        write(tmp_path / "many" / f"{number}" / NAME.format("tcp_long", 1), GOOD)
    other = write(tmp_path / "other.jsonl", GOOD)
    status, printed, messages = call_score(tmp_path / "many", other, "--most_runs", 2)
    assert [line for line in printed.splitlines() if line[:3] == "## "] == [
        "## 0",
        "## 1",
        "## other",
    ]
    expected = "has 4 runs: those after the first 2 are not read; raise --most_runs"
    assert (status, messages) == (1, f"{tmp_path / 'many'}: {expected}\n")


def test_an_argument_has_at_most_so_many_files(tmp_path, call_score):
    for number in range(4):
        write(tmp_path / "many" / f"{number}.jsonl", GOOD | {"sample": number})
    folder = tmp_path / "many"
    status, printed, messages = call_score(
        folder, "--most_files", 3, "--format", "json"
    )
    assert json.loads(printed)[0]["answers"] == 3
    expected = "has 4 files: those after the first 3 are not read; raise --most_files"
    assert (status, messages) == (1, f"{folder}: {expected}\n")


def test_names_end_in_being_unique_whatever_they_are(tmp_path, scored):
    """Also where a place makes of a claimed name what the operator called another run."""
    for number in (1, 2):
        place = tmp_path / "7B" / f"{number}"
        write(place / NAME.format("tcp_long", 1), GOOD)
        results = {"model_name": "Qwen", "versions": {"tcp_long": 1}}
        write(place / "results_2026-01-01T00-00-00.json", results)
    honest = write(tmp_path / "h.jsonl", GOOD)
    label = f"Qwen ({tmp_path / '7B' / '1'})"
    names = [name for name, *_ in scored(f"{label}={honest}", tmp_path / "7B")]
    assert names[0] == label
    assert len({*names}) == 3


def test_a_label_stays_where_another_label_and_its_filter_are_called_so(
    tmp_path, call_score
):
    doc = documents("tcp_long", EXAMPLES)[0]
    lines = [sample(0, doc, "", "x") | {"filter": name} for name in ("tuned", "zzz")]
    other = write(tmp_path / "o" / NAME.format("tcp_long", 1), *lines)
    honest = write(tmp_path / "h.jsonl", GOOD)
    _, printed, _ = call_score(f"Qwen={other}", f"Qwen (tuned)={honest}")
    headings = [line for line in printed.splitlines() if line.startswith("## ")]
    assert headings[-1] == "## Qwen (tuned)"
    assert len({*headings}) == 3


def test_a_file_that_goes_away_before_it_is_hashed_is_named_with_the_fix(tmp_path):
    [source], _ = find_answer_files([str(write(tmp_path / "a.jsonl", GOOD))])
    source.path.unlink()
    _, [fault] = stored_tables._hash_apart([source])["hashed"]
    assert fault == "No such file or directory; check the path"


def test_an_argument_that_stands_for_two_things_is_left_out(
    tmp_path, call_score, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "honest.jsonl", GOOD)
    write(tmp_path / "gpt=honest.jsonl", GOOD)
    status, printed, said = call_score("gpt=honest.jsonl")
    assert (status, printed) == (1, "")
    assert "is there, and so is honest.jsonl; write ./gpt=honest.jsonl" in said
    status, printed, _ = call_score("./gpt=honest.jsonl")
    assert (status, "## gpt=honest" in printed) == (0, True)
    # A submission that was taken away is no NAME, and its rest no path.
    write(tmp_path / "submissions" / "a.jsonl", GOOD)
    status, printed, said = call_score("submissions/gpt=honest.jsonl")
    assert (status, printed) == (1, "")
    assert "a NAME does not begin like the folder submissions/" in said
    assert call_score("org/gpt=honest.jsonl")[0] == 0


def test_a_long_filter_is_a_fault_of_its_line(tmp_path, call_score):
    doc = documents("tcp_long", EXAMPLES)[0]
    line = sample(0, doc, "", "x") | {"filter": "f" * 10_000}
    path = write(tmp_path / NAME.format("tcp_long", 1), line)
    status, printed, said = call_score(path)
    assert (status, printed) == (1, "")
    assert "'filter' has more than 200 characters; shorten it" in said
    assert len(said) < 1_000


def test_filters_count_as_models_of_an_argument(tmp_path, call_score):
    doc = documents("tcp_long", EXAMPLES)[0]
    lines = [sample(0, doc, "", "x") | {"filter": f"f{n}"} for n in range(4)]
    path = write(tmp_path / NAME.format("tcp_long", 1), *lines)
    other = write(tmp_path / "b.jsonl", GOOD)
    status, printed, said = call_score(path, other, "--most_runs", 2)
    headings = [line for line in printed.splitlines() if line.startswith("## ")]
    place = tmp_path.name
    assert headings == [f"## {place} (f0)", f"## {place} (f1)", "## b"]
    assert status == 1
    assert "has more than 2 models, as filters count; raise --most_runs" in said


def test_an_argument_has_at_most_so_many_documents(tmp_path, call_score):
    docs = documents("tcp_long", EXAMPLES)
    for name, count in (("a", 3), ("b", 2), ("c", 2)):
        lines = [sample(number, docs[number], "", "x") for number in range(count)]
        write(tmp_path / "many" / name / NAME.format("tcp_long", 1), *lines)
    other = write(tmp_path / "other.jsonl", *answers(4))
    options = ["--most_argument_documents", 5]
    status, printed, said = call_score(tmp_path / "many", other, *options)
    assert status == 1
    headings = [line for line in printed.splitlines() if line.startswith("## ")]
    assert headings == ["## a", "## b", "## other"]
    fault = "has more than 5 documents with those before it"
    fix = "raise --most_argument_documents"
    assert f"{tmp_path / 'many' / 'c'}: {fault}; {fix}\n" in said


def test_a_claimed_name_has_no_blanks_that_nobody_sees(tmp_path, scored):
    for place, claimed_name in (("a", "org/m"), ("b", " org/m\n"), ("c", "a  b")):
        write(tmp_path / place / NAME.format("tcp_long", 1), GOOD)
        results = {"model_name": claimed_name, "versions": {"tcp_long": 1}}
        write(tmp_path / place / "results_2026-01-01T00-00-00.json", results)
    names = [name for name, *_ in scored(*(tmp_path / x for x in "abc"))]
    assert names == [f"org/m ({tmp_path / x})" for x in "ab"] + ["a b"]
    folders = [tmp_path / "of" / name for name in ("d", "d ", " ")]
    for folder in folders:
        write(folder / NAME.format("tcp_long", 1), GOOD)
    names = [name for name, *_ in scored(*folders)]
    assert names == [f"d ({folders[0]})", f"d ({folders[1]})", "unnamed"]


def test_a_link_is_called_as_what_it_leads_to_and_read_once(tmp_path, scored):
    path = write(tmp_path / "honest.jsonl", GOOD)
    (tmp_path / "better").symlink_to(path)
    assert scored(tmp_path / "better", path) == [("honest", "tcp_long", 1)]


# What operator (before "=") and results call runs -> their names; {0} is the first's place.
NAMES = {
    "results of one name": (["=M", "=M"], ["M ({0})", "M ({1})"]),
    "the operator's name stays": (["M=x", "=M"], ["M", "M ({1})"]),
    "the name of one that has got its place": (
        ["=M", "=M", "=M ({0})"],
        ["M ({0})", "M ({1})", "M ({0}) ({2})"],
    ),
    "what others would get": (
        ["A (a)=", "A=", "=A (a)"],
        ["A (a)", "A", "A (a) ({2})"],
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_is_of_one_run(tmp_path, scored, case):
    runs, names = NAMES[case]
    places, arguments = [tmp_path / f"{number}" for number in range(len(runs))], []
    for place, run in zip(places, runs):
        label, _, claimed_name = run.format(*places).rpartition("=")
        write(place / NAME.format("tcp_long", 1), GOOD)
        results = {"model_name": claimed_name, "versions": {"tcp_long": 1}}
        write(place / "results_2026-01-01T00-00-00.json", results)
        arguments.append(f"{label}={place}" if label else place)
    expected = [name.format(*places) for name in names]
    assert [name for name, *_ in scored(*arguments)] == expected


def test_runs_of_one_name_and_one_place_are_numbered_from_the_second():
    models = [
        Mock(is_named=False, remarks=[], source=Mock(place="p")) for _ in range(3)
    ]
    for model in models:
        model.name = "M"
    runs_by_model._make_names_unique(models)
    assert [model.name for model in models] == ["M (p)", "M (p) (2)", "M (p) (3)"]


@pytest.mark.parametrize("target", ["/dev/zero", "nowhere", "of no samples"])
def test_a_link_that_leads_to_no_run_is_named_itself(tmp_path, call_score, target):
    (tmp_path / "of no samples").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)
    good = write(tmp_path / "good.jsonl", GOOD)
    status, _, messages = call_score(link, good)
    assert status == 1
    assert messages.startswith(f"{link}: ")


def test_links_and_other_tasks_are_not_followed_and_no_file_is_opened(tmp_path):
    path = tmp_path / "a" / NAME.format("tcp_long", 1)
    path.parent.mkdir()
    path.touch(mode=0)
    (path.parent / NAME.format("gsm8k", 1)).touch()
    (path.parent / NAME.format("tcp_short", 1)).symlink_to(path)
    (tmp_path / "b").symlink_to(path.parent)
    sources, failures = find_answer_files([str(tmp_path)])
    assert [source.path for source in sources] == [path]
    reasons = [failure.reason for failure in failures]
    assert reasons == ["is a link; copy there what it leads to"] * 2


def test_a_link_in_a_folder_of_answers_is_left_out_alone(tmp_path):
    path = write(tmp_path / "runs" / "a.jsonl", GOOD)
    link = path.with_name("b.jsonl")
    link.symlink_to(write(tmp_path / "elsewhere.jsonl", GOOD))
    sources, failures = find_answer_files([str(path.parent)])
    assert [source.path for source in sources] == [path]
    assert [(failure.path, failure.reason[:9]) for failure in failures] == [
        (link, "is a link")
    ]


@pytest.mark.parametrize(("depth", "is_found"), [(20, True), (21, False)])
def test_samples_are_found_so_many_folders_deep(tmp_path, depth, is_found):
    name = "samples_tcp_long_2026-01-01T00-00-00.jsonl"
    path = write(tmp_path.joinpath("runs", *"d" * depth, name), GOOD)
    sources, failures = find_answer_files([str(tmp_path / "runs")])
    assert [source.path for source in sources] == [path] * is_found
    assert ["more than 20 deep" in failure.reason for failure in failures] == (
        [] if is_found else [True]
    )
