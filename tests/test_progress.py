"""Progress: a terminal sees it soon in a long run, a pipe never; Ctrl-C says what is kept."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import nullcontext
from unittest.mock import Mock

import pytest

from tests.answers import write
from tests.conftest import ROOT
from utils.core import progress as progress_module
from utils.core.progress import NOTHING_KEPT, Meter, metered, progress, tracked


ANSWER = {"task": "tot_arithmetic", "response": '{"answer": "2"} ' + "so " * 500}
DOCUMENT = {"question_type": "trick", "label": "{'answer': '1'}"}
FRAME = r"0 of 1 files, [\d,]+ answers, [\d,]+/s \|[^|]*\| (\d+) %, \d"
# Twice, since the signal may come before the first one counts as shown.
SHOWN = re.compile(rf"{FRAME}[^|]*\r{FRAME}")


@pytest.fixture(scope="module")
def command(tmp_path_factory) -> list[str]:
    """The scoring of a file that takes seconds."""
    lines = [
        json.dumps(ANSWER | {"doc_id": number, "doc": {**DOCUMENT, "question": number}})
        for number in map(str, range(40_000))
    ]
    path = write(tmp_path_factory.mktemp("long") / "answers.jsonl", *lines)
    return [sys.executable, "-m", "utils", "score", str(path)]


def read_until(terminal: int, pattern: re.Pattern, seconds: float) -> str:
    """Return what a terminal shows until a pattern matches or time is over."""
    shown, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not pattern.search(shown):
        try:
            shown += os.read(terminal, 1 << 16).decode(errors="replace")
        except OSError:  # the program has ended
            break
    return shown


def heed_ctrl_c() -> None:
    """Heed the signal of Ctrl-C, which a job in the background was told to ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_terminal_shows_progress_a_pipe_none_and_ctrl_c_says_what_is_kept(command):
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    piped = subprocess.Popen(command, cwd=ROOT, **streams)
    terminal, stderr = pty.openpty()
    fcntl.ioctl(stderr, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    streams = {"stdout": subprocess.DEVNULL, "stderr": stderr}
    process = subprocess.Popen(command, cwd=ROOT, preexec_fn=heed_ctrl_c, **streams)
    os.close(stderr)
    shown = SHOWN.search(read_until(terminal, SHOWN, 60))
    assert int(shown[1]) < 50  # percent: it does not come at the end alone
    piped.terminate()  # by now it would have shown as much
    process.send_signal(signal.SIGINT)
    kept = "verdicts on 0 of 1 files are kept, and the same command goes on"
    ended = re.compile(rf"\r *\rended by SIGINT; {kept}\r\n$")
    assert ended.search(read_until(terminal, ended, 60))
    assert process.wait() == 130
    os.close(terminal)
    assert piped.communicate()[1] == f"ended by SIGTERM; {kept}\n"


def test_what_interrupts_the_work_on_an_item_says_what_is_kept():
    with pytest.raises(KeyboardInterrupt) as raised:
        with tracked(range(3), "items", 3) as items:
            for _ in items:
                raise KeyboardInterrupt(signal.SIGTERM)
    assert raised.value.args == (signal.SIGTERM, NOTHING_KEPT)


def test_what_interrupts_work_within_other_work_says_what_the_inner_one_keeps():
    with pytest.raises(KeyboardInterrupt) as raised:
        with (
            tracked([1], "outer", 1, "the outer"),
            tracked([1], "inner", 1, "the inner"),
        ):
            raise KeyboardInterrupt(signal.SIGTERM)
    assert raised.value.args == (signal.SIGTERM, "the inner")


def test_an_interrupt_that_names_no_signal_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt) as raised, tracked([1], "x", 1, "all of it"):
        raise KeyboardInterrupt
    assert raised.value.args == (signal.SIGINT, "all of it")


@pytest.fixture
def bar(monkeypatch) -> Mock:
    """A bar that is drawn nowhere."""
    bar = Mock(n=0, disable=False)
    bar.update.side_effect = lambda count=1: setattr(bar, "n", bar.n + count)
    patched = lambda title, total, *_, **__: nullcontext(bar)  # noqa: E731
    monkeypatch.setattr(progress_module, "progress", Mock(side_effect=patched))
    return bar


def test_an_item_counts_once_the_work_on_it_is_done(bar):
    with tracked("abc", "items", 3) as items:
        assert [(item, bar.n) for item in items] == [("a", 0), ("b", 1), ("c", 2)]
    assert bar.n == 3


def test_a_bar_of_files_is_of_all_bytes_and_answers(bar):
    meters = [Meter.shared(), Meter.shared()]
    with metered(meters, [3000, 1000], str) as show:
        for done_count, positions in enumerate([(900, 50), (3000, 500)]):
            for meter, position in zip(meters, positions):
                meter.position, meter.answers = position, 1100
            show(done_count)
            assert bar.n == sum(positions)
    assert progress_module.progress.call_args.args[:2] == ("0 of 2 files", 4000)
    [title] = bar.set_description_str.call_args.args
    assert re.fullmatch("1 of 2 files, 2,200 answers, [0-9,]+/s", title)


def draw_bar() -> None:
    with progress("after", 1) as bar:
        bar.update()


def test_a_process_that_is_killed_while_it_draws_stops_no_other():
    with progress("before", 1):  # locks are made with the first bar
        pass
    process_id = os.fork()
    if not process_id:
        with progress("killed", 1) as bar:
            bar.get_lock().acquire()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process_id, 0)
    # Where it waits for ever, the test fails at once.
    drawing = threading.Thread(target=draw_bar, daemon=True)
    drawing.start()
    drawing.join(10)
    assert not drawing.is_alive()
