"""Tables of verdicts: kept, made again, by several processes, killed, in the way."""

import errno
import gzip
import hashlib
import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.answers import GOOD, answers, split, write
from tests.conftest import EXAMPLES, ROOT
from tests.logs import sample
from utils.__main__ import main
from utils.core import documents as core_documents
from utils.core.documents import documents
from utils.core.errors import ToolError
from utils.core.files import Line, read_jsonl
from utils.core.limited_processes import Ended
from utils.verdicts import (
    find_answer_files as find_files,
    judge_file,
    runs_by_model,
    stored_tables,
)
from utils.verdicts.find_answer_files import find_answer_files
from utils.verdicts.judge_file import LIMITS, Judging
from utils.verdicts.read_answers import Answer
from utils.verdicts.tally import Document, Tally


pytestmark = pytest.mark.usefixtures("judged_here")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of the tables in a folder, but for what is hidden."""
    paths = sorted(folder.glob("[!.]*/*"))
    return {f"{path.relative_to(folder)}": path.read_bytes() for path in paths}


def times(folder: Path) -> dict[str, int]:
    """Return when each table in a folder was made."""
    heads = folder.glob("*/run.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in heads}


@pytest.mark.usefixtures("judged_apart")
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


@pytest.mark.usefixtures("judged_apart")
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


@pytest.mark.usefixtures("judged_apart")
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


@pytest.mark.usefixtures("judged_apart")
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
FILTERED = [
    sample(0, documents("tcp_long", EXAMPLES)[0], "", "x", filter=name, task="tcp_long")
    for name in "fg"
]
EXCESSES = {
    "--most_line=1": ([{"x": "y" * 2**20}], "line 1: is longer than 1 MiB"),
    "--most_unpacked=1": (LARGE, "holds more than 1 MiB"),
    "--most_samples=3": (SAMPLES, "has more than 3 answers to a document"),
    "--most_documents=3": (LARGE, "answers more than 3 documents of tcp_long"),
    "--most_filters=1": (FILTERED, "line 2: has answers through more than 1 filters"),
    "--most_table=1": (WIDE, "its verdicts take more than 1 MiB"),
}


REACHED = {
    "--most_samples=4": SAMPLES,
    "--most_documents=4": [line | {"response": ""} for line in LARGE],
    "--most_filters=2": FILTERED,
}


@pytest.mark.usefixtures("judged_apart")
@pytest.mark.parametrize("option", REACHED)
def test_what_just_reaches_a_limit_counts(tmp_path, call, option):
    lines = REACHED[option]
    status, rows, messages = call(write(tmp_path / "x.jsonl", *lines), option)
    counts = [row["answers"] for row in rows if not row["by"]]
    assert (status, sum(counts), "more than" in messages) == (0, len(lines), False)


ENDS = {  # how a process ended that judged a file -> what is said of the file
    (
        "time",
        "",
    ): "more processor time than 20 s and 5 ms an answer; raise --most_seconds",
    ("memory", ""): "takes more than 2,048 MiB of memory; raise --most_memory",
    ("fault", "KeyError in x.py, line 3"): "be judged (KeyError in x.py, line 3)",
    ("killed", "9"): "was killed (status 9); see whether memory ran out, and run",
}


@pytest.mark.parametrize("ended", ENDS)
def test_a_file_whose_process_ends_without_a_reply_is_told_why(ended):
    options = Namespace(**{name: default for name, (default, _) in LIMITS.items()})
    reply = judge_file._fault(Ended(*ended), options)
    # The next run may not be killed: no table is made of it.
    [(kind, fault)] = reply.items()
    assert kind == ("error" if ended[0] == "killed" else "failure")
    assert ENDS[ended] in fault


def test_texts_of_a_page_that_have_no_room_are_left_out_alone(tmp_path):
    judging = Judging(None, tmp_path, Namespace(most_table=1), None)
    texts = [{"response": letter * 600_000} for letter in "ab"] + [{"response": "c"}]
    for text in texts:
        judging._write_text("responses_tcp_long.jsonl", text)
    judging.files["responses_tcp_long.jsonl"].close()
    table = stored_tables.Table(tmp_path, {}, None)
    shown = table.responses_at("tcp_long", range(3))
    assert shown == {0: texts[0]["response"], 1: None, 2: "c"}


def test_a_page_has_a_prompt_for_each_task_of_a_document(tmp_path):
    judging = Judging(None, tmp_path, Namespace(most_table=1), None)
    row = {"digest": "d", "published_span": None, "flexible_span": None}
    for task, prompt in (("tcp_long", "When?"), ("tcp_short", None)):
        for _ in range(2):
            answer = Answer("", {}, task, response="x", prompt=prompt)
            judging._write_texts(answer, {}, row)
    for file in judging.files.values():
        file.close()
    table = stored_tables.Table(tmp_path, {}, None)
    shown = [table.prompts(task)["d"] for task in ("tcp_long", "tcp_short")]
    assert [prompt["is_logged"] for prompt in shown] == [True, False]
    assert shown[0]["prompt"] == [[0, "When?"]]
    for task in ("tcp_long", "tcp_short"):
        assert len(read_jsonl(tmp_path / f"prompts_{task}.jsonl")) == 1


def test_half_a_surrogate_pair_is_kept_in_a_table():
    text = {"response": "Où \ud800?"}
    line = judge_file._json_line(text)
    assert (json.loads(line), "Où" in line.decode()) == (text, True)


def test_results_that_go_away_while_a_file_is_judged_are_named(tmp_path):
    write(tmp_path / "results_2026-01-01T00-00-00.json", {})
    write(tmp_path / NAME.format("tcp_long", 1), GOOD)
    [source], _ = find_answer_files([str(tmp_path)])
    source.results_path.unlink()
    reply = Judging(source, tmp_path, Namespace(most_seconds=1), None).reply()
    fault = f"{source.results_path.name}: No such file or directory; check the path"
    assert reply == {"error": fault, "is_of_machine": False}


@pytest.mark.usefixtures("judged_apart")
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
    opened, sha256_of = [], judge_file.sha256_of
    patched = lambda path: opened.append(path) or sha256_of(path)  # noqa: E731
    monkeypatch.setattr(judge_file, "sha256_of", patched)
    status, printed, message = call_score(large, good, "--most_unpacked", 2)
    assert message == f"{large}: has 3 MiB, more than 2 MiB; raise --most_unpacked\n"
    assert (status, "## y" in printed, large in opened) == (1, True, False)


SIZES = [  # of a file and of its results, in MiB, and which is said to be too large
    ((2, 1), None),
    ((2 + 2**-20, 1), "has 2 MiB, more than 2 MiB; raise --most_unpacked"),
    ((2, 1.6), "results.json has 2 MiB, more than 1 MiB; raise --most_line"),
]


@pytest.mark.parametrize(("sizes", "expected"), SIZES)
def test_a_file_and_its_results_have_limits_of_their_own(tmp_path, sizes, expected):
    paths = [tmp_path / "x.jsonl", tmp_path / "results.json"]
    for path, size in zip(paths, sizes):
        path.touch()
        os.truncate(path, int(size * 2**20))
    source = find_files.AnswerFile(paths[0], *[None] * 5, results_path=paths[1])
    options = Namespace(most_unpacked=2, most_line=1)
    assert stored_tables._fault_of_size(source, options) == expected


@pytest.mark.parametrize(("written", "is_sparse"), [(2**19, False), (2**16, True)])
def test_a_large_file_is_full_of_holes_below_a_thousandth(tmp_path, written, is_sparse):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"x" * written)
    os.truncate(path, 300 * 2**20)
    options, source = (
        Namespace(most_unpacked=300),
        find_files.AnswerFile(path, *[None] * 5),
    )
    fault = "has 300 MiB, nearly all holes; copy it again" if is_sparse else None
    assert stored_tables._fault_of_size(source, options) == fault


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
    call_score(write(tmp_path / "x.jsonl", *answers(2), *[{}, GOOD | {"doc": 1}] * 99))
    assert seconds == pytest.approx([20, 20.005, 20.01])


@pytest.mark.parametrize(
    ("task", "check", "expected"),
    [
        ("tcp_long", Mock(), 0.005),
        ("fresh_tcp_long", Mock(), 0.305),  # whose row is made again
        ("fresh_tcp_long", None, 0.005),
    ],
)
def test_a_row_that_is_made_again_has_more_time(monkeypatch, task, check, expected):
    monkeypatch.setattr(Judging, "_judge", Mock())
    options = Namespace(most_answer_ms=5, most_row_ms=300)
    source = find_files.AnswerFile(Path("x.jsonl"), *[None] * 4)
    judging = Judging(source, Path(), options, check)
    text = json.dumps({"task": task, "doc_id": 0, "response": "x"}).encode()
    judging._judge_line(Line("x.jsonl, line 1", 1, text))
    assert judging.seconds == pytest.approx(expected)


@pytest.mark.usefixtures("judged_apart")
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


@pytest.mark.usefixtures("judged_apart")
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
    _, _, said = call(path.rename(tmp_path / NAME.format("gsm8k", 1)))
    assert "line 1: task 'gsm8k' is unknown; " in said


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
    for name in (".git/x", ".x.swp", NAME.format("tcp_long", 1)):
        write(place / name, "a")
    (place / "loop").symlink_to(place)
    assert rules(include_path) == digests[-1]
    assert (walked := stored_tables._walk(place)) == sorted(walked)


def test_a_table_is_of_all_that_a_verdict_depends_on(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_tables, "_rules", lambda path: path.name)
    monkeypatch.chdir(tmp_path)
    limits = {name: default for name, (default, _) in LIMITS.items()}
    options = Namespace(**limits, leave_out=None, include_path=tmp_path / "pack")
    source = find_files.AnswerFile(tmp_path / "x.jsonl", *[None] * 4, "")
    args = {"source": source, "digests": ["a", None], "options": options, "check": None}
    changes = [
        {},
        {"digests": ["b", None]},
        {"digests": ["a", "b"]},
        {"check": Judging},
    ]
    for change in ({"path": tmp_path / "y.jsonl"}, {"task": "tcp_long"}):
        changes.append({"source": source._replace(**change)})
    for name in limits:
        changes.append({"options": Namespace(**vars(options) | {name: 7})})
    for change in ({"leave_out": "a"}, {"include_path": tmp_path / "other" / "pack"}):
        changes.append({"options": Namespace(**vars(options) | change)})
    keys = [stored_tables._key(**args | change) for change in changes]
    assert len({*keys}) == len(keys)
    here_too = Namespace(**vars(options) | {"include_path": Path("pack")})
    elsewhere = source._replace(path=Path("elsewhere", "x.jsonl"))
    for same in ({"options": here_too}, {"source": elsewhere}):
        assert stored_tables._key(**args | same) == keys[0]


def test_a_table_is_kept_where_it_is_asked_for(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    path = write(tmp_path / "x.jsonl.gz", gzip.compress(json.dumps(GOOD).encode()))
    call(path)
    assert len([*(tmp_path / "home/.cache/temporal-eval").glob("*/run.json")]) == 1
    call(path, "--output", tmp_path / "out", "--cache", tmp_path / "cache")
    assert [place.name for place in (tmp_path / "out").iterdir()] == ["x"]
    assert {x.name for x in tmp_path.iterdir()} == {"x.jsonl.gz", "home", "out"}


def test_runs_are_in_the_order_of_their_arguments_whatever_is_kept(tmp_path, scored):
    paths = [write(tmp_path / f"{name}.jsonl", GOOD) for name in "abc"]
    scored(paths[1])
    assert [name for name, *_ in scored(*paths)] == ["a", "b", "c"]


def test_a_table_has_as_many_rows_as_its_file_has_lines(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" * 50_000)
    described = stored_tables._describe(path)
    assert (described["rows"], described["bytes"]) == (50_000, 150_000)


def test_lines_of_a_table_are_found_by_their_numbers(tmp_path):
    for kind, key in (("verdicts", "n"), ("responses", "response")):
        write(tmp_path / f"{kind}_tcp_long.jsonl", *({key: n} for n in range(4)))
    prompts = [{"digest": letter, "prompt": [], "is_logged": True} for letter in "ab"]
    write(tmp_path / "prompts_tcp_long.jsonl", prompts[0], {}, prompts[1])
    table = stored_tables.Table(tmp_path, {}, None)
    assert table.rows_at("tcp_long", {1, 3}) == {1: {"n": 1}, 3: {"n": 3}}
    assert table.responses_at("tcp_long", {2}) == {2: 2}
    assert table.prompts("tcp_long") == dict(zip("ab", prompts))


def test_files_of_a_table_without_a_head_are_replaced_and_others_named(tmp_path):
    for kind in ("verdicts", "documents", "responses", "prompts"):
        write(tmp_path / f"{kind}_tcp_long.jsonl", {})
    for head in ("{", "[]", "[" * 100_000, b"\xff", {"schema": "another"}):
        write(tmp_path / "run.json", head)
        stored_tables._check_files(tmp_path)
        assert stored_tables.read_table(tmp_path, None, "key") is None
    write(tmp_path / "run.json", {"schema": stored_tables.SCHEMA, "files": {"old": {}}})
    write(tmp_path / "old", "")
    stored_tables._check_files(tmp_path)
    for name in ("b", "a", "c"):
        write(tmp_path / name, "")
    with pytest.raises(ToolError, match="holds a, which is of no table"):
        stored_tables._check_files(tmp_path)


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


def test_results_that_change_while_they_are_read_leave_out_their_file(
    tmp_path, call_score, monkeypatch
):
    path, reply = write(tmp_path / NAME.format("tcp_long", 1), GOOD), Judging.reply
    results = write(tmp_path / "results_2026-01-01T00-00-00.json", {})

    def change(*arguments: object) -> dict:
        write(results, {"model_name": "another"})
        return reply(*arguments)

    monkeypatch.setattr(Judging, "reply", change)
    fault = "has changed while it was read; run again"
    assert call_score(tmp_path)[::2] == (1, f"{path}: {fault}\n")


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


def test_a_table_is_of_one_file_and_replaced_by_that_file_alone(
    tmp_path, call_score, monkeypatch
):
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
    write(a, GOOD | {"response": "???"})
    monkeypatch.chdir(tmp_path)
    assert call_score("a/x.jsonl", *to)[0] == 0  # the same file


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
    paths = [write(tmp_path / f"{name}.jsonl", GOOD) for name in "ab"]
    (gone, there), _ = find_answer_files([*map(str, paths)])
    gone.path.unlink()
    digests, faults = stored_tables._hash_apart([gone, there])["hashed"]
    assert faults == ["No such file or directory; check the path", None]
    assert digests == [None, [hashlib.sha256(paths[1].read_bytes()).hexdigest(), None]]


def test_an_argument_that_stands_for_two_things_is_left_out(
    tmp_path, call_score, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "honest.jsonl", GOOD)
    write(tmp_path / "gpt=honest.jsonl", GOOD)
    status, printed, said = call_score("gpt=honest.jsonl")
    assert (status, printed) == (1, "")
    assert "is there, and so is honest.jsonl; write ./gpt=honest.jsonl" in said
    for plain in ("./gpt=honest.jsonl", tmp_path / "gpt=honest.jsonl"):
        status, printed, _ = call_score(plain)
        assert (status, "## gpt=honest" in printed) == (0, True)
    # What is there from the first "=" on is the path, and a link to nothing is there.
    [source], _ = find_answer_files(["A=gpt=honest.jsonl"])
    assert (source.label, source.path.name) == ("A", "gpt=honest.jsonl")
    os.symlink("nowhere", "B=honest.jsonl")
    assert find_files._split_argument("B=honest.jsonl") == ("", "B=honest.jsonl")
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
    for name, count in (("a", 3), ("b", 2), ("c", 2), ("d", 1)):
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
    assert said == f"{tmp_path / 'many' / 'c'}: {fault}; {fix}\n"


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


def test_a_link_is_called_as_what_it_leads_to_and_read_once(tmp_path, call):
    path = write(tmp_path / "honest.jsonl", GOOD)
    (tmp_path / "better").symlink_to(path)
    (tmp_path / "folder").symlink_to(tmp_path)
    paths = (tmp_path / "better", path, tmp_path / "folder" / "honest.jsonl")
    status, [row], said = call(*paths, "--by", "")
    assert (status, row["run"], row["n"], said) == (0, "honest", 1, said)


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


def test_a_long_name_and_a_long_place_are_shown_in_part():
    source = Mock(place=f"{'p' * 100}{'q' * 300}")
    models = [Mock(is_named=False, remarks=[], source=source) for _ in range(2)]
    for model in models:
        model.name = "n" * 200
    runs_by_model._make_names_unique(models)
    name = f"{'n' * 150} ({'p' * 100} … {'q' * 100})"
    assert [model.name for model in models] == [name, f"{name} (2)"]


def test_who_claims_the_operator_s_name_is_told_how_many_give_it():
    operator = Mock(is_named=True, remarks=[], source=Mock(place="o"))
    claimant = Mock(is_named=False, remarks=[], source=Mock(place="p"))
    operator.name = claimant.name = "M"
    runs_by_model._make_names_unique([operator, claimant])
    assert [model.name for model in (operator, claimant)] == ["M", "M (p)"]
    assert operator.remarks == []
    assert claimant.remarks == ["2 runs give the name 'M'"]


def table(
    *tasks: str | tuple,
    day: int = 0,
    place: str = "p",
    label="",
    model=None,
    n: int = 2,
) -> stored_tables.Table:
    """Return a table of tasks, or of tasks and filters, each with `n` documents."""
    entries = [
        {"task": task, "filter": name, "documents": n, "claims": {}}
        for task, name in (x if isinstance(x, tuple) else (x, None) for x in tasks)
    ]
    name = NAME.format("-".join(entry["task"] for entry in entries), day)
    source = find_files.AnswerFile(Path(place, name), Path(place), None, label, place)
    source = source._replace(time=f"2026-0{day}" if day else None)
    return stored_tables.Table(Path(), {"tasks": entries, "model": model}, source)


def test_the_fullest_run_counts_and_a_remark_says_which_it_is():
    both = (("tcp_long", None), ("tcp_long", "f"))
    first, fuller, last = (
        table(*both, day=day, n=n) for day, n in ((1, 2), (2, 3), (3, 2))
    )
    other = table("tcp_short", day=4)
    empty = [table(day=day) for day in (1, 2)]
    files = [table("tcp_long"), table("tcp_long", place="q")]
    chosen, remarks = runs_by_model._choose_fullest(
        [first, fuller, last, other, *empty, *files]
    )
    assert chosen == [fuller, other, *empty, *files]
    assert remarks == ["3 runs of tcp_long: that of 2026-02 is shown"]
    for pair in ([first, last], [last, first]):
        assert runs_by_model._choose_fullest(pair)[0] == [last]
    whole, filters = table("tcp_long", day=1, n=3), table(*both, day=2, n=2)
    assert runs_by_model._choose_fullest([whole, filters])[0] == [filters]


MODELS = {  # tables -> names of the models, their filters, and how a remark begins
    "one filter": ([table(("a", "f"))], [("p", "f")], []),
    "filters in the order of their names": (
        [table(("a", "z"), ("a", "b")), table("a", day=1)],
        [("p", None), ("p (b)", "b"), ("p (z)", "z")],
        [],
    ),
    "the first claim is the name": (
        [table("a", model=" m2"), table("b", model="a1"), table("c")],
        [("m2", None)],
        ["its results name several models: '_m2', 'a1'"],
    ),
    "no claim": ([table("a"), table("b", model="m")], [("m", None)], []),
    "a label": (
        [table("a", label="x", model="m"), table("b", model="n")],
        [("x", None)],
        [],
    ),
    "no name": ([table("a", place=" ")], [("unnamed", None)], []),
    "a long name": ([table("a", model="m" * 999)], [("m" * 200, None)], []),
    "no answers": ([table()], [("p", None)], []),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_run_is_a_model_for_each_filter_called_as_its_first_claim(kind):
    tables, expected, remarks = MODELS[kind]
    models = runs_by_model._models_of(tables)
    assert [(model.name, model.filter) for model in models] == expected
    for model in models:
        starts = [said[: len(start)] for said, start in zip(model.remarks, remarks)]
        assert (len(model.remarks), starts) == (len(remarks), remarks)
        assert {entry["filter"] for _, entry in model.entries} <= {model.filter}


def test_several_claimed_names_are_told_shortly():
    tables = [table(name, model=name * 150) for name in "ba"]
    [model] = runs_by_model._models_of(tables)
    [remark] = model.remarks
    prefix = "its results name several models: "
    assert remark.startswith(f"{prefix}'{'a' * 9}") and len(remark) == len(prefix) + 200


def test_claims_are_of_the_first_results_that_make_some():
    [model] = runs_by_model._models_of([table("a"), table("b"), table("c")])
    for (_, entry), claims in zip(model.entries, ({}, {"date": 2}, {"date": 3})):
        entry["claims"] = claims
    claims = [model.claims(task) for task in (None, "a", "b", "c", "d")]
    assert claims == [{"date": 2}, {}, {"date": 2}, {"date": 3}, {}]


def test_documents_of_a_model_are_told_apart_and_those_left_out_are_none():
    [model] = runs_by_model._models_of([table("a")])
    answer = [Mock(reason="right", is_extracted=True, traits=[])]
    for task, digests in (("tcp_long", "aab"), ("tcp_short", "ac")):
        docs = {n: Document(x, "", n, {}, answer) for n, x in enumerate(digests)}
        docs[2] = Document("d", "", 2, {}, answer, is_left_out=True)
        model.tasks[task] = Tally(task, _documents=docs)
    assert [key for key, _ in model.documents()] == [
        ("tcp_long", "a", 0),
        ("tcp_long", "a", 1),
        ("tcp_short", "a", 0),
        ("tcp_short", "c", 0),
    ]


def test_a_document_has_the_row_of_its_last_answer():
    tables = [Mock(folder=Path(name)) for name in "ab"]
    for place in tables:
        place.rows_at = lambda task, rows, name=place.folder.name: {
            row: {"row": f"{name} {task} {row}"} for row in rows
        }
    documents_with_tasks = [
        ("t", Document("", "", 0, {}, [Mock(row=3), Mock(row=7)], table=tables[1])),
        ("u", Document("", "", 0, {}, [Mock(row=2)], table=tables[1])),
        ("t", Document("", "", 1, {}, [Mock(row=1)], table=tables[0])),
    ]
    runs_by_model.add_rows(documents_with_tasks)
    rows = [document.row["row"] for _, document in documents_with_tasks]
    assert rows == ["b t 7", "b u 2", "a t 1"]


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


def test_samples_are_known_by_their_names(tmp_path):
    times = ["2026-01-01T00-00-00", "2026-01-02T00-00-00.123456"]
    for name in ("samples_tcp_long_{}.jsonl.gz", "samples_tcp::tcp_long_{}.jsonl"):
        for time_text in times:
            (tmp_path / name.format(time_text)).touch()
    sources, failures = find_answer_files([str(tmp_path)])
    known = [(source.task, source.time) for source in sources]
    assert (known, failures) == (
        [("tcp_long", time_text) for time_text in times] * 2,
        [],
    )


def test_results_without_samples_are_told_beside_runs_that_have_some(tmp_path):
    for name, task in (("a", "tcp_long"), ("b", None), ("c", "gsm8k")):
        write(tmp_path / name / "results_2026-01-01T00-00-00.json", {})
        if task:
            write(tmp_path / name / NAME.format(task, 1), GOOD)
    sources, failures = find_answer_files([str(tmp_path)])
    assert [source.place for source in sources] == [tmp_path / "a"]
    reason = "has results without samples; run with --log_samples"
    assert failures == [(tmp_path / "b", "", reason)]


def test_results_that_are_no_file_are_named_and_leave_out_their_run_alone(tmp_path):
    for name in "ab":
        write(tmp_path / name / NAME.format("tcp_long", 1), GOOD)
    path = tmp_path / "a" / "results_2026-01-01T00-00-00.json"
    path.symlink_to("nowhere")
    sources, failures = find_answer_files([f"x={tmp_path}"])
    assert [source.place for source in sources] == [tmp_path / "b"]
    assert failures == [(path, "x", "is a link; copy there what it leads to")]


def test_runs_and_files_of_a_folder_are_in_the_order_of_their_names(tmp_path):
    for name in "bca":
        write(tmp_path / "runs" / name / NAME.format("tcp_long", 1), GOOD)
        write(tmp_path / "files" / f"{name}.jsonl", GOOD)
    for name in (".hidden.jsonl", "notes.txt", NAME.format("gsm8k", 1)):
        write(tmp_path / "files" / name, GOOD)
    (tmp_path / "files" / "d.jsonl").mkdir()
    (runs, files), faults = zip(
        *(find_answer_files([str(tmp_path / name)]) for name in ("runs", "files"))
    )
    assert [source.place.name for source in runs] == [*"abc"]
    assert [source.path.name for source in files] == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert faults == ([], [])


def test_the_failures_of_a_folder_and_of_an_argument_that_are_named_are_few(tmp_path):
    for count, name in ((20, "a"), (23, "b")):
        for number in range(count):
            write(tmp_path / name / NAME.format("tcp_long", 1), GOOD)
            link = (
                tmp_path / name / f"samples_tcp_long_2027-01-01T00-00-{number:02}.jsonl"
            )
            link.symlink_to("nowhere")
    _, failures = find_answer_files([str(tmp_path)])
    *others, last = [failure.reason for failure in failures]
    assert {*others} == {"is a link; copy there what it leads to"}
    assert (len(others), last) == (39, f"{others[0]}; and 3 more in its folder")
    faults = {Path(f"{number}", "x"): "is a link" for number in range(500)}
    assert len(find_files._failures(faults, "")) == 400


@pytest.mark.parametrize("name", [NAME.format("tcp_long", 1), "x.jsonl"])
def test_a_run_here_is_called_as_the_folder(tmp_path, monkeypatch, name):
    monkeypatch.chdir(write(tmp_path / "org" / name, GOOD).parent)
    [source], _ = find_answer_files(["."])
    assert source.default_name == "org"


def test_a_link_in_a_folder_of_answers_is_left_out_alone(tmp_path):
    path = write(tmp_path / "runs" / "a.jsonl", GOOD)
    link = path.with_name("b.jsonl")
    link.symlink_to(write(tmp_path / "elsewhere.jsonl", GOOD))
    sources, failures = find_answer_files([str(path.parent)])
    assert [source.path for source in sources] == [path]
    assert [(failure.path, failure.reason[:9]) for failure in failures] == [
        (link, "is a link")
    ]
    path.unlink()
    assert find_answer_files([str(path.parent)]) == ([], failures)


@pytest.mark.parametrize(("depth", "is_found"), [(20, True), (21, False)])
def test_samples_are_found_so_many_folders_deep(tmp_path, depth, is_found):
    name = "samples_tcp_long_2026-01-01T00-00-00.jsonl"
    path = write(tmp_path.joinpath("runs", *"d" * depth, name), GOOD)
    sources, failures = find_answer_files([str(tmp_path / "runs")])
    assert [source.path for source in sources] == [path] * is_found
    assert ["more than 20 deep" in failure.reason for failure in failures] == (
        [] if is_found else [True]
    )
