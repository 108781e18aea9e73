"""`temporal-eval`: what it says of itself runs as written, and every end is one line."""

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.conftest import ROOT
from utils import compare
from utils.__main__ import TOOLS, _quieten_libraries, main
from utils.core.errors import ToolError


pytestmark = pytest.mark.usefixtures("judged_here")


# The indented blocks below lines that begin with "Example" and end with ":".
EXAMPLES = re.compile(r"^Examples?\b[^\n]*:\n\n((?:    .*\n|\n)+)", re.MULTILINE)


@pytest.mark.usefixtures("kept_tables")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_example_in_a_tool_s_help_runs_as_written(
    tool, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("lm_eval_tasks", "examples"):
        shutil.copytree(ROOT / name, name, ignore=shutil.ignore_patterns("__pycache__"))
    assert main([tool, "--help"]) == 0
    examples = "\n".join(EXAMPLES.findall(capsys.readouterr().out)).replace("\\\n", "")
    commands = [shlex.split(line, comments=True) for line in examples.splitlines()]
    tools = [words[1:] for words in commands if words[:1] == ["temporal-eval"]]
    assert tool in [words[0] for words in tools]
    for words in tools:
        assert main(words) == 0, capsys.readouterr().err


UNREAD = [
    ("scor", "argument TOOL: invalid choice: 'scor'"),
    ("score x --loud", "unrecognized arguments: --loud"),
    ("score x --workers 1e3", "argument --workers: '1e3' is not a whole number"),
    (
        "generate --gen-seed 1 x --gen-knobs '{\"timexnli\": {steps: 3}}'",
        "steps: 3}}' is not JSON",
    ),
    ("score x --k 0", "argument --k: '0' is not a whole number from 1 on"),
    ("score x --k ٣", "argument --k: '٣' is not a whole number from 1 on"),
    (
        "export tcp,tcp_long --model m",
        "argument TASKS: 'tcp,tcp_long' names no task, or one twice",
    ),
    ("export tcp --model m --limit inf", "--limit: 'inf' is not a number above 0"),
    ("score x --work 1", "unrecognized arguments: --work 1"),
    (
        "score x --include_path no/such/folder/of/tasks",
        "'no/such/folder/of/tasks' is not a folder; name another",
    ),
    ("score x --workers 0", "'0' is not a whole number from 1 on"),
    ("score x --k 0", "argument --k: "),
    ("offline", "the following arguments are required: "),
    ("twins x --gen-seed 1", "arguments are required: --include_path"),
    ("leaderboard a.jsonl --html ''", "argument --html: is empty; name a file"),
    ("leaderboard a.jsonl --csv z --json x/../z", "two of --html, --csv and --js"),
    ("generate --gen-seed 1 ''", "is empty; name a file or folder"),
]


@pytest.mark.parametrize(("command", "said"), UNREAD)
def test_an_unreadable_command_line_is_one_line_and_status_2(command, said, capsys):
    assert main(shlex.split(command)) == 2
    printed, line = capsys.readouterr()
    program, _, message = line.partition(": ")
    assert (printed, line.count("\n"), said in message) == ("", 1, True)
    assert message.endswith(f"; see {program} --help\n")


ENDS = [
    (KeyboardInterrupt(), 130, "ended by SIGINT"),
    (ToolError("a.jsonl, line 3: is empty\x1b; fix it"), 1, r"a.jsonl, line 3: is empty\x1b;"),
    (KeyboardInterrupt(signal.SIGTERM, "a is kept"), 143, "ended by SIGTERM; a is kept\n"),
    (MemoryError(), 1, "memory ran out; name fewer files at a time\n"),
    (PermissionError(13, "Permission denied", "b.html"), 1, "b.html: Permission denied\n"),
    (FileNotFoundError(2, "No such file", "b"), 1, "b: No such file; check the path\n"),
    (IsADirectoryError(21, "Is a directory", "b"), 1, "b: Is a directory; check the path\n"),
    (OSError("the device is gone"), 1, "the device is gone"),
    (ModuleNotFoundError(name="scipy"), 1, "scipy is not installed; run pip install "),
]  # fmt: skip


@pytest.mark.parametrize(("ended_by", "status", "said"), ENDS)
def test_what_ends_a_tool_is_one_line(ended_by, status, said, capsys, monkeypatch):
    monkeypatch.setattr(compare, "main", Mock(side_effect=ended_by))
    assert main(["compare"]) == status
    printed, line = capsys.readouterr()
    assert (printed, line.count("\n"), line.startswith(said)) == ("", 1, True)


def test_without_a_tool_all_tools_are_printed_with_status_2(capsys):
    assert main([]) == 2
    printed, said = capsys.readouterr()
    assert printed == ""
    for name, (_, text) in TOOLS.items():
        assert re.search(rf"^  {name} +{text}$", said, re.MULTILINE)


def test_help_and_version_have_status_0(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for name, (_, text) in TOOLS.items():
        assert re.search(rf"^  {name} +{text}$", printed, re.MULTILINE)
    assert main(["--version"]) == 0
    version = re.search(r"^version = (.*)$", (ROOT / "setup.cfg").read_text(), re.M)[1]
    assert capsys.readouterr().out == f"lm-eval-temporal-tasks {version} (checkout)\n"


def test_any_stream_will_do_and_shows_what_it_has_no_letters_for(monkeypatch):
    monkeypatch.setattr(compare, "main", lambda _: print("modèle") or 0)
    notebook, narrow = io.StringIO(), io.TextIOWrapper(io.BytesIO(), "ascii")
    for stream in (notebook, narrow):
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["compare"]) == 0
    assert notebook.getvalue() == "modèle\n"
    assert narrow.buffer.getvalue() == b"mod\\xe8le\n"


def test_a_terminal_that_has_gone_changes_no_status(monkeypatch):
    monkeypatch.setattr(compare, "main", Mock(side_effect=KeyboardInterrupt))
    gone = Mock(write=Mock(side_effect=OSError(5, "Input/output error")))
    monkeypatch.setattr(sys, "stderr", gone)
    assert main(["compare"]) == 130


def test_a_signal_that_is_ignored_stays_ignored():
    handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` has it
    try:
        assert main(["--version"]) == 0
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, handler)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_bars_of_others_are_as_ours_but_for_what_the_user_has_set(
    is_terminal, monkeypatch
):
    user_settings = {"HF_HUB_VERBOSITY": "info", "TQDM_DELAY": "9"}
    monkeypatch.setattr(os, "environ", {**user_settings})
    monkeypatch.setattr(sys, "stderr", Mock(isatty=lambda: is_terminal))
    monkeypatch.setattr(sys, "stdout", Mock(isatty=lambda: not is_terminal))
    _quieten_libraries()
    ours = {"TQDM_LEAVE": "0"} if is_terminal else {"TQDM_DISABLE": "1"}
    assert os.environ == user_settings | ours


TOOL = [sys.executable, "-m", "utils"]
SCORE = [*TOOL, "score", "examples/responses/careful/tcp_long.jsonl"]
SCORE += ["--include_path", "examples"]


@pytest.mark.usefixtures("kept_tables")
def test_a_reader_that_has_had_enough_gets_no_complaint():
    reader, writer = os.pipe()
    os.close(reader)
    env = os.environ | {"PYTHONUNBUFFERED": ""}  # what is said waits for the end
    options = {"cwd": ROOT, "env": env, "stderr": subprocess.PIPE}
    for command in (SCORE, [*TOOL, "--help"]):
        done = subprocess.run(command, stdout=writer, **options)
        assert (done.returncode, done.stderr) == (1, b"")
    os.close(writer)


@pytest.mark.usefixtures("kept_tables")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(SCORE, cwd=ROOT, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, b"No space left on device\n")


WAITING = """
import sys, time, utils.compare
from pathlib import Path
from utils.__main__ import main
from utils.core.files import written_whole
def wait(arguments):
    with written_whole(Path(arguments[0])):
        try:
            print("waiting", flush=True)
            time.sleep(60)
        finally:
            print("cleaning up", flush=True)
            time.sleep(0.5)
            print("done")
utils.compare.main = wait
sys.exit(main(["compare", sys.argv[1]]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_in_one_line_and_leaves_no_part(tmp_path, name):
    number = signal.Signals[name]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path / "out")],
        cwd=ROOT,
        # As outside of `nohup`, whatever the tests run under.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in ("waiting\n", "cleaning up\n"):  # the second signal is one too many
        assert process.stdout.readline() == line
        process.send_signal(number)
    assert process.communicate(timeout=60) == ("done\n", f"ended by {name}\n")
    assert process.returncode == 128 + number
    assert not [*tmp_path.iterdir()]
