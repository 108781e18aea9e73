"""`temporal-eval`: what it says of itself runs as written, and every end is one line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from utils.__main__ import TOOLS, main
from utils.core.errors import ToolError


# ------------------------------------------------------------ the examples of the tools


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A copy of what a user has who cloned the repository, and the installed command."""
    for name in ("lm_eval_tasks", "utils", "examples"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    command = tmp_path / "bin" / "temporal-eval"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m utils "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell(script: str, folder: Path) -> str:
    """Return what a script prints, run in a checkout without a network."""
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env=os.environ | {"PATH": path, "HF_HUB_OFFLINE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def examples(text: str) -> list[str]:
    """Return the indented blocks below lines that begin with "Example" and end with ":"."""
    return re.findall(r"^Examples?\b[^\n]*:\n\n((?:    .*\n|\n)+)", text, re.MULTILINE)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_help_of_a_tool_has_an_example_that_runs_as_written(tool, checkout):
    found = examples(shell(f"temporal-eval {tool} --help", checkout))
    assert found, f"the docstring of {tool} has no lines indented below 'Example:'"
    for example in found:
        assert f"temporal-eval {tool} " in example
        shell(example, checkout)


# ----------------------------------------------------------------- how it ends


def one_line(capsys) -> str:
    """Return the line that was written to stderr, where nothing else was written."""
    written = capsys.readouterr()
    assert written.out == ""
    (line,) = written.err.strip().splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "temporal-eval: name a tool: score, "),
        (["scor"], "temporal-eval: argument TOOL: invalid choice: 'scor'"),
        (["--quiet"], "temporal-eval: "),
        (["score"], "temporal-eval score: the following arguments are required: "),
        (
            ["score", "x", "--loud"],
            "temporal-eval score: unrecognized arguments: --loud",
        ),
        (
            ["offline"],
            "temporal-eval offline: the following arguments are required: ",
        ),
    ],
)
def test_a_command_line_that_cannot_be_read_is_one_line_and_status_2(
    arguments, said, capsys
):
    assert main(arguments) == 2
    line = one_line(capsys)
    assert line.startswith(said)
    assert line.endswith("--help")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["baselines", "nowhere"], "nowhere: has no file of a benchmark"),
        (["adjudicate", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["bench", "tpc"], "kind 'tpc' is unknown"),
    ],
)
def test_what_a_tool_cannot_do_is_one_line_and_status_1(
    arguments, said, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert one_line(capsys).startswith(said)


@pytest.mark.parametrize(
    ("ended_by", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            ToolError("a.jsonl, line 3: is empty; fix it"),
            1,
            "a.jsonl, line 3: is empty",
        ),
        (
            PermissionError(13, "Permission denied", "b.html"),
            1,
            "b.html: Permission de",
        ),
        (OSError("the device is gone"), 1, "the device is gone"),
    ],
)
def test_what_ends_a_tool_is_one_line(ended_by, status, said, capsys, monkeypatch):
    def run(arguments):
        raise ended_by

    tool = ModuleType("utils.ends")
    tool.main = run
    monkeypatch.setitem(sys.modules, "utils.ends", tool)
    monkeypatch.setitem(TOOLS, "ends", "ends")
    assert main(["ends"]) == status
    assert one_line(capsys).startswith(said)


def test_help_and_version_are_told_with_status_0(capsys):
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(re.search(rf"^  {name} +{what}$", told, re.M) for name, what in TOOLS.items())  # fmt: skip
    assert main(["--version"]) == 0
    version = re.search(r"^version = (.*)$", (ROOT / "setup.cfg").read_text(), re.M)[1]
    assert capsys.readouterr().out == f"lm-eval-temporal-tasks {version} (checkout)\n"


@pytest.fixture
def score(tmp_path) -> list[str]:
    """The command line that scores one answer."""
    doc = {"question": "How many days?", "label": "{'answer': '3'}"}
    answer = {"task": "tot_arithmetic", "doc": doc, "response": '{"answer": 3}'}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(answer) + "\n")
    return [sys.executable, "-m", "utils", "score", str(path)]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_had_enough_gets_no_complaint(score, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    for command in (score, [*score[:-2], "--help"], [*score[:-1], "--help"]):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=writer,
            stderr=subprocess.PIPE,
        )
        assert done.stderr == b""
        # Help that cannot be written at once is nothing to argparse.
        assert done.returncode == 1 or (unbuffered and "--help" in command)
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line(score):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(score, cwd=ROOT, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, b"No space left on device\n")


SCORE = "score $EX/responses/tcp_long.jsonl --task tcp_long --output out"
PACK = "offline out --tasks tcp_long --source tcp=$EX/data --allow-partial"


@pytest.mark.parametrize(
    ("command", "closed", "made"),
    [
        (SCORE, ">&-", 2),
        (SCORE, "<&- >&- 2>&-", 2),
        (PACK, "2>&-", 5),
        ("export tcp --model m --output out", ">&-", 1),
        ("export tcp --model m --output out", "2>&-", 1),
    ],
)
def test_work_is_done_where_streams_are_closed(command, closed, made, tmp_path):
    if not command.startswith("offline"):
        command += " --include_path $EX"
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m utils {command} {closed}"],
        cwd=tmp_path,
        env=os.environ | {"EX": str(ROOT / "examples"), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    out = tmp_path / "out"
    assert len([*out.iterdir()] if out.is_dir() else [out.read_bytes()]) >= made
