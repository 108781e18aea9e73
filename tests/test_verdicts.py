"""Tables of verdicts: kept, made again, by several processes, killed, in the way."""

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest

from tests.answers import GOOD, answers, here, split, write
from tests.conftest import EXAMPLES, ROOT
from utils.__main__ import main
from utils.core.jsonl import read_jsonl
from utils.verdicts import isolate, tables
from utils.verdicts.isolate import LIMITS, each_apart, judge_file
from utils.verdicts.runs import find_sources


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of the tables in a folder, but for what is hidden."""
    files = (x for x in sorted(folder.rglob("*")) if x.is_file())
    names = {f"{path.relative_to(folder)}": path for path in files}
    return {x: y.read_bytes() for x, y in names.items() if not x.startswith(".")}


def made_at(folder: Path) -> dict[str, int]:
    """Return what tells a table from one that was made in its place."""
    return {path.parent.name: path.stat().st_ino for path in folder.glob("*/run.json")}


def head(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


# ------------------------------------------------------------------ processes and kills


def test_any_number_of_processes_writes_and_prints_the_same(tmp_path, call_score):
    lines = answers(300)
    lines[200] = lines[3]  # a second answer, a file behind the first
    lines[250] = {"response": "of no task"}
    path = write(tmp_path / "whole.jsonl", *lines)
    folder = split(tmp_path / "parts", lines, 100)
    outcomes = []
    for count in (1, 3):
        output = tmp_path / str(count)
        _, printed, said = call_score(
            f"one={path}", folder, "--output", output, "--workers", count
        )
        assert "line 201: is a second answer to document " in said
        assert "part-00200.jsonl, line 1: is a second answer to document " in said
        assert said.count("does not name its task") == said.count("\n") / 2 == 2
        outcomes.append((printed, said, contents(output)))
    assert outcomes[0] == outcomes[1]
    rows = [read_jsonl(x) for x in sorted((tmp_path / "1").glob("part-*/verdicts_*"))]
    whole = [read_jsonl(x) for x in (tmp_path / "1" / "whole").glob("verdicts_*")]
    assert sum(map(len, whole)) == 298 == sum(map(len, rows)) - 1


def test_any_number_of_files_needs_few_descriptors(tmp_path, call_score):
    source = split(tmp_path / "model", answers(40), 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(os.listdir("/dev/fd")) + 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        assert call_score(source, "--workers", 2)[::2] == (0, "")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def wait(condition) -> None:
    """Wait until something is so."""
    for _ in range(3_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it is never so")


def test_a_signal_to_the_group_ends_all_and_what_is_finished_is_kept(
    tmp_path, call_score
):
    small = write(tmp_path / "small.jsonl", *answers(40))
    large = write(tmp_path / "large.jsonl", *answers(9_000))
    output = tmp_path / "out"
    options = ["--include_path", EXAMPLES, "--output", output, "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "utils", "score", small, large, *options],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait((output / "small" / "run.json").exists)
    os.killpg(process.pid, signal.SIGTERM)  # as `timeout` and a batch system do
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, "ended by SIGTERM\n")
    with pytest.raises(ProcessLookupError):  # of the group nobody is left
        for _ in range(500):
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    assert call_score(small, "--output", tmp_path / "here")[0] == 0
    assert contents(output) == contents(tmp_path / "here")


def test_a_run_killed_at_ten_moments_and_started_again_gives_the_same_bytes(
    tmp_path, call_score
):
    source = split(tmp_path / "model", answers(600), 100)
    command = ["score", str(source), "--include_path", str(EXAMPLES), "--workers", "2"]
    whole, output = tmp_path / "whole", tmp_path / "out"
    started_at = time.monotonic()
    expected = call_score(source, "--output", whole)
    seconds = time.monotonic() - started_at
    draw = random.Random(20)
    for _ in range(10):
        # Forked, for a new process would spend its time on imports.
        context = multiprocessing.get_context("fork")
        arguments = ([*command, "--output", str(output)],)
        process = context.Process(target=main, args=arguments)
        process.start()
        time.sleep(draw.uniform(0, 0.5 * seconds))
        process.kill()
        process.join()
        for name, content in contents(output).items():
            assert content == (whole / name).read_bytes()
    status, printed, _ = call_score(source, "--output", output)
    assert (status, printed) == expected[:2]
    assert contents(output) == contents(whole)
    assert not [*output.glob(".*")]  # nor is there anything of those that were killed


def double(job: object) -> object:
    """Do what a job asks for, in a process of its own."""
    if job == "memory":
        return len(bytearray(100 << 20))
    while job == "time":
        pass
    if job == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if job == "fault":
        raise ZeroDivisionError
    return {"doubled": [job, job]}


def test_what_one_process_takes_or_does_the_others_never_notice(capfd, monkeypatch):
    def within_budget(job: object, _: object) -> object:
        isolate.allow_seconds(0)
        return double(job)

    defaults = {option: default for option, (default, _) in LIMITS.items()}
    options = Namespace(**defaults | {"most_memory": 50, "workers": 2})
    jobs = isolate.deque(["memory", 1, "time", 2, "kill", 3, "fault", 4])
    replies = dict(each_apart(within_budget, jobs, options))
    for number in range(1, 5):
        assert replies[number] == {"doubled": [number, number]}
    assert "50 MiB" in replies["memory"]["failure"]
    assert "processor time" in replies["time"]["failure"]
    assert "was killed" in replies["kill"]["error"]
    assert "was killed" in replies["fault"]["error"]


LARGE = [GOOD | {"doc_id": n, "response": "x" * 2**19} for n in range(4)]
SAMPLES = [GOOD | {"sample": n} for n in range(4)]
EXCESSES = {
    "line": (["--most_line=1"], [{"x": "y" * 2**20}], "line 1: is longer than 1 MiB"),
    "unpacked": (["--most_unpacked=1"], LARGE, "holds more than 1 MiB"),
    "samples": (["--most_samples=3"], SAMPLES, "has more than 3 answers to a document"),
}


@pytest.mark.parametrize("limit", EXCESSES)
def test_what_exceeds_a_limit_is_named_with_the_option(tmp_path, call_score, limit):
    options, lines, expected = EXCESSES[limit]
    path = write(tmp_path / "x.jsonl", *lines)
    good = write(tmp_path / "good.jsonl", GOOD)
    for _ in range(2):  # it is kept, too
        status, printed, said = call_score(path, good, *options)
        assert (status, said.count("\n")) == (1, 1)
        assert expected in said
        assert "## good" in printed


def test_only_answers_add_to_the_time(tmp_path, call_score, monkeypatch):
    seconds = []
    monkeypatch.setattr(isolate, "allow_seconds", seconds.append)
    monkeypatch.setattr(tables, "each_apart", here)
    call_score(write(tmp_path / "x.jsonl", *answers(2), *[{}, GOOD | {"doc": 1}] * 99))
    assert seconds == pytest.approx([20, 20.005, 20.01])


# ------------------------------------------------------------------------ kept or not

PART, NAMED = "part-00000", "named"
ALL = {PART, "part-00004", NAMED}


def edit(path: Path) -> None:
    """Change the last "e" of a file, whose size and time stay."""
    stat, text = path.stat(), path.read_bytes()
    start, _, end = text.rpartition(b"e")
    path.write_bytes(start + b"a" + end)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def patched(_: Path, __: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tables, "_rules", lambda *_: "new")


def other_dateutil(_: Path, __: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tables.metadata, "version", lambda name: f"new {name}")
    tables._rules.cache_clear()


# What happens between two calls, and which files are then judged again.
CHANGES = {
    "nothing": (lambda *_: None, set()),
    "a new time": (lambda source, *_: (source / f"{PART}.jsonl").touch(), set()),
    "other answers": (lambda source, *_: edit(source / f"{PART}.jsonl"), {PART}),
    "no head": (lambda _, output, __: (output / PART / "run.json").unlink(), {PART}),
    "other code": (patched, ALL),
    "another dateutil": (other_dateutil, ALL),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_stands_while_nothing_that_it_was_made_of_changes(
    tmp_path, call_score, monkeypatch, change
):
    source = split(tmp_path / "model", answers(8, first_id=100), 4)
    plain = {"task": "tcp_long", "response": '{"answer": "False"}'}
    write(source / f"{NAMED}.jsonl", *(plain | {"doc_id": i} for i in (5, 6, 7, 9999)))
    output = tmp_path / "out"
    first = call_score(source, "--output", output)
    assert first[0] == 1
    assert "has no document 9999" in first[2]
    before = made_at(output)
    do, expected = CHANGES[change]
    do(source, output, monkeypatch)
    if change == "no head":  # then it is no table
        assert "is not a table of score" in call_score(source, "--output", output)[2]
        return
    again = call_score(source, "--output", output)
    after = made_at(output)
    assert {name for name in after if after[name] != before[name]} == expected
    assert again[2] == first[2]
    assert again == call_score(source, "--output", tmp_path / "again")
    assert contents(output) == contents(tmp_path / "again")


def test_what_is_kept_is_read_by_all_tools_and_from_a_folder_that_is_named(
    tmp_path, call_score, monkeypatch
):
    paths = [write(tmp_path / f"{x}.jsonl", *answers(6)) for x in "ab"]
    first = call_score(*paths, "--output", tmp_path / "out")
    monkeypatch.setattr(
        tables, "open_part", lambda *_, **__: pytest.fail("is judged again")
    )
    cache = ["--cache", str(tmp_path / "out")]
    assert call_score(*paths, *cache) == first
    named = ["--include_path", str(EXAMPLES), *map(str, paths)]
    assert main(["compare", *named, *cache]) == 0


def test_the_code_of_a_table_is_that_of_its_pack_too(tmp_path):
    digests = []
    for name, text in (
        ("tcp.yaml", "a"),
        ("data/tcp.jsonl", "a"),
        ("data/tcp.jsonl", "b"),
    ):
        write(tmp_path / name, text)
        tables._rules.cache_clear()
        digests.append(tables._rules(tmp_path))
    assert len({*digests, tables._rules(EXAMPLES)}) == 4


def test_jobs_that_score_a_file_each_leave_but_the_figures(tmp_path, call_score):
    lines = answers(12)
    lines[9] = lines[2]
    source = split(tmp_path / "model", lines, 4)
    for path in sorted(source.iterdir()):
        assert call_score(path, "--output", tmp_path / "out")[0] == 0
    before = made_at(tmp_path / "out")
    _, printed, said = call_score(source, "--output", tmp_path / "out")
    assert made_at(tmp_path / "out") == before
    assert printed == call_score(source)[1]
    path = source / "part-00008.jsonl"
    assert said.startswith(f"{path}, line 2: is a second answer to")
    assert said.count("\n") == 1


# ------------------------------------------------------------------------- in the way

# What stands where a table should be, and what is said of it.
IN_THE_WAY = {
    "a file of mine": ("out/x", "mine", "is there, and is not a table of score"),
    "a folder": ("out/x/x", "mine", "is there, and is not a table of score; move it"),
    "a head of mine": ("out/x/run.json", "{}", "is there, and is not a table of score"),
}


@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_what_stands_where_a_table_should_be_is_never_replaced(
    tmp_path, call_score, kind
):
    place, content, expected = IN_THE_WAY[kind]
    path = write(tmp_path / "x.jsonl", GOOD)
    mine = write(tmp_path / place, content)
    status, printed, said = call_score(path, "--output", tmp_path / "out")
    assert (status, printed, said.count("\n")) == (1, "", 1)
    assert said.startswith(f"{tmp_path / 'out' / 'x'}: {expected}")
    assert mine.read_text() == f"{content}\n"


def test_a_table_is_of_one_file_and_replaced_by_that_file_alone(tmp_path, call_score):
    a, b = (write(tmp_path / x / "x.jsonl", GOOD) for x in "ab")
    to = ("--output", tmp_path / "out")
    status, _, said = call_score(f"a={a}", f"b={b}", *to)
    fault = f"is of {a} and of {b}; name another --output"
    assert (status, said) == (1, f"{tmp_path / 'out' / 'x'}: {fault}\n")
    assert [call_score(path, *to)[0] for path in (a, b)] == [0, 0]  # the same lines
    write(b, GOOD | {"response": "?"})
    status, _, said = call_score(b, *to)
    fault = f"was made of {a}; name another --output for {b}, or delete it"
    assert (status, said) == (1, f"{tmp_path / 'out' / 'x'}: {fault}\n")
    write(a, GOOD | {"response": "??"})
    assert call_score(a, *to)[0] == 0
    (row,) = read_jsonl(tmp_path / "out" / "x" / "verdicts_tcp_long.jsonl")
    assert row["excerpt"] == "??"


def test_a_file_that_cannot_be_opened_is_named_the_others_scored(tmp_path, call_score):
    good = write(tmp_path / "good.jsonl", GOOD)
    status, printed, said = call_score(tmp_path / "gone.jsonl", good)
    assert (status, printed.startswith("## good\n")) == (1, True)
    fault = "No such file or directory; check the path"
    assert said == f"{tmp_path / 'gone.jsonl'}: {fault}\n"


def test_a_pipe_is_no_file_of_answers(tmp_path, call_score):
    os.mkfifo(tmp_path / "x")
    status, printed, said = call_score(tmp_path / "x")
    assert (status, printed, said.count("\n")) == (1, "", 1)
    assert said.startswith(f"{tmp_path / 'x'}: is a pipe or a device, not a file")


def test_a_file_that_changes_while_it_is_judged_has_no_table(
    tmp_path, call_score, monkeypatch
):
    path = write(tmp_path / "x.jsonl", GOOD)

    def change(*arguments: object, **named: object) -> dict:
        write(path, GOOD, {"response": "more"})
        return judge_file(*arguments, **named)

    monkeypatch.setattr(tables, "judge_file", change)
    status, _, said = call_score(path)
    assert (status, said) == (1, f"{path}: has changed while it was read; run again\n")


@pytest.mark.parametrize("number", ["0", "two"])
def test_a_number_of_workers_that_is_none_is_named(tmp_path, call_score, number):
    status, _, said = call_score(tmp_path, f"--workers={number}")
    assert (status, said.count("\n")) == (2, 1)
    assert "is not a whole number of at least 1" in said


def test_runs_that_never_say_why_answers_end_are_named_once(tmp_path, call_score):
    silent = [write(tmp_path / f"{x}.jsonl", GOOD) for x in "ab"]
    told = write(tmp_path / "c.jsonl", GOOD | {"finish_reason": "stop"})
    printed = " ".join(call_score(*silent, told)[1].split())
    said = "No answer of a, b says why it ended: 0 of 2 end before an answer"
    assert printed.count(said) == printed.count("why it ended") == 1
    assert "says why it ended" not in call_score(told)[1]
    page = tmp_path / "page.html"
    board = ["--include_path", str(EXAMPLES), "--html", str(page)]
    assert main(["leaderboard", *map(str, silent), *board]) == 0
    assert page.read_text().count("says why it ended: 0 of 2 end before") == 1


# ------------------------------------------------------------------ models and names

NAME = "samples_{}_2026-01-0{}T00-00-00.123456.jsonl"
RESULTS = "results_2026-01-0{}T00-00-00.123456.json"
RUNS = ["a tcp_long 1", "a tcp_long 2", "a tcp_short 1", "b tcp_long 3", "b gsm8k 3"]


@pytest.fixture
def outputs(tmp_path) -> Path:
    """The output folder of two models, of which one was run twice."""
    for model, task, day in map(str.split, RUNS):
        line = GOOD | {"task": "tcp_long" if task == "gsm8k" else task}
        path = tmp_path / model / NAME.format(task, day)
        write(path, line, *[line | {"doc_id": 1}] * (day == "1"))
    results = {"model_name": "org/b", "versions": {"tcp_long": 1.1}}
    write(tmp_path / "b" / RESULTS.format(3), results)
    return tmp_path


@pytest.fixture
def scored(call_score):
    """A function that scores; returns name of a run -> its tasks with their n."""

    def scored(*arguments: object, status: int = 0) -> tuple[dict, str]:
        found, text, said = call_score(*arguments, "--format", "json", "--by", "")
        assert found == status
        rows: dict[str, dict] = {}
        for row in json.loads(text or "[]"):
            if "tasks" not in row:
                rows.setdefault(row["run"], {})[row["task"]] = row["n"]
        return rows, said

    return scored


def test_the_fullest_run_of_each_task_of_a_folder_counts(outputs, scored):
    whole = {"a": {"tcp_short": 2, "tcp_long": 2}, "org/b": {"tcp_long": 1}}
    assert scored(outputs)[0] == whole
    assert scored(f"B={outputs / 'b'}")[0] == {"B": {"tcp_long": 1}}
    paths = [outputs / "a" / NAME.format(task, 1) for task in ("tcp_long", "tcp_short")]
    assert scored(*paths)[0] == {"a": {"tcp_long": 2, "tcp_short": 2}}


def test_one_name_on_several_paths_is_one_model(outputs, tmp_path, scored):
    short = write(tmp_path / "c" / "short.jsonl", GOOD | {"task": "tcp_short"})
    joined, _ = scored(f"M={outputs / 'b'}", f"M={short}")
    assert joined == {"M": {"tcp_short": 1, "tcp_long": 1}}


def test_runs_of_one_name_are_told_apart_by_their_places(tmp_path, scored):
    paths = [write(tmp_path / x / "m.jsonl", GOOD) for x in "ab"]
    assert [*scored(*paths)[0]] == [f"m ({path})" for path in paths]


BATCH = [{"response": None}, {"response": {"body": {"model": "org/served"}}}]


def test_a_run_is_called_as_its_argument_its_model_or_its_file(tmp_path, scored):
    path = write(tmp_path / "x=1.jsonl.gz", GOOD)
    assert [*scored(path)[0]] == ["x=1"]
    other_path = write(tmp_path / "y.jsonl", GOOD)
    for argument, name in ((f"A={path}", "A"), (f"seed=1={other_path}", "seed=1")):
        assert [*scored(argument)[0]] == [name]


UNCLEAR = [
    (["A="], "'A=': names no file or folder; give PATH"),
    (["empty"], "empty: has no samples of the pack's tasks; run with --log_samples"),
]


@pytest.mark.parametrize("arguments, expected", UNCLEAR)
def test_what_names_no_run_is_named(
    tmp_path, monkeypatch, call_score, arguments, expected
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    status, _, said = call_score(*arguments)
    assert (status, said) == (
        1,
        f"{expected}, or name files\n" * (said[:1] == "e") or said,
    )
    assert expected in said


NO_RESULTS = ["", "{", "[]", '"x"', "\xff", "[" * 100_000]
NO_RESULTS += ['{"model_name": 5}', '{"versions": []}', '{"configs": 3}']


@pytest.mark.parametrize("text", NO_RESULTS)
def test_results_that_cannot_be_read_are_named(outputs, scored, text):
    path = outputs / "b" / RESULTS.format(3)
    path.write_text(text, encoding="latin-1")
    rows, said = scored(outputs, status=1)
    assert [*rows] == ["a"]
    assert f"{path.name}: is not a results file" in said
    assert "; copy it again, or delete it" in said


def test_odd_results_claim_nothing(outputs, scored):
    results = {"versions": {"tcp_long": []}, "config": {"limit": 10**400}, "date": "x"}
    write(outputs / "b" / RESULTS.format(3), results)
    found, _ = scored(outputs / "b", "--output", outputs / "out")
    assert found == {"b": {"tcp_long": 1}}
    (entry,) = head(outputs / "out" / NAME.format("tcp_long", 3)[:-6])["tasks"]
    claims = entry["claims"]
    assert (claims["version"], claims["limit"], claims["date"]) == ("[]", None, None)


def test_a_folder_of_links_is_named(outputs, call_score):
    for path in (outputs / "a").iterdir():
        (outputs / "link").mkdir(exist_ok=True)
        (outputs / "link" / path.name).symlink_to(path)
    status, printed, said = call_score(outputs / "link")
    assert (status, printed) == (1, "")
    assert (
        said.count("is a link; copy there what it leads to\n") == said.count("\n") == 3
    )


def test_files_are_found_but_not_opened(tmp_path):
    path = tmp_path / "a" / NAME.format("tcp_long", 1)
    path.parent.mkdir()
    path.touch(mode=0)
    sources, failures = find_sources([str(tmp_path)])
    assert ([source.path for source in sources], failures) == ([path], [])
