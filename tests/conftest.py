"""What tests share: the checkout, the shared data, runs of the harness."""

import gc
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests.browser import CHROMIUM, DRIVER, MOST_SECONDS
from tests.warm_python import run_module
from utils.__main__ import main
from utils.core import limited_processes
from utils.core.documents import load
from utils.core.task_scorers import task_files
from utils.verdicts import judge_file, stored_tables


ROOT = Path(__file__).parent.parent
PACK, EXAMPLES = ROOT / "lm_eval_tasks", ROOT / "examples"

# Hundreds of megabytes of libraries, which stay, are not searched for garbage so often.
gc.set_threshold(100_000, 50, 100)

# How long an example takes says how busy the machine is; test_hostile.py bounds time.
settings.register_profile(
    "no deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("no deadline")

# The fresh tasks make their rows, and twins come in a pack: these have tests of their own.
CONFIGURATIONS = [
    file.config
    for file in task_files().values()
    if file.path.parent.name not in ("fresh", "twin")
]
GROUPS = {config["group"]: config for config in CONFIGURATIONS if "group" in config}
TASKS = [config["task"] for config in CONFIGURATIONS if "group" not in config]
TEST_NUMBERS = count()
# A task without examples yet fails its own tests alone.
OFFLINE = {path.stem for path in EXAMPLES.glob("*.yaml")}


def run_python(
    *arguments: object, cwd: Path, **environment: str
) -> subprocess.CompletedProcess:
    """Run Python in `cwd`, with no network and no cache; return what it wrote."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cwd / "cache")}
    command = [sys.executable, *map(str, arguments)]
    streams = {"capture_output": True, "text": True}
    return subprocess.run(
        command, cwd=cwd, env=os.environ | offline | environment, **streams
    )


@pytest.fixture(autouse=True, scope="session")
def caches(tmp_path_factory) -> Path:
    """Keep the tables of tests out of the user's caches; return the folder of theirs."""
    folder = tmp_path_factory.mktemp("caches")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.fixture(autouse=True)
def apart(caches, monkeypatch) -> None:
    """Keep the tables of each test apart, and undo what the harness does to its logger."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches / f"test-{next(TEST_NUMBERS)}"))
    logging.getLogger("lm_eval").propagate = True
    for logger in map(logging.getLogger, ("lm_eval", "lm_eval.tasks")):
        if logger.level:  # each change empties the caches of all loggers
            logger.setLevel(logging.NOTSET)


@pytest.fixture
def kept_tables(apart, caches, monkeypatch) -> None:
    """Judge answers once for all tests that ask for this: they are about what is printed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))


def run_here(do: Callable, pieces: Iterable, *_: object) -> Iterator[tuple]:
    """Do work in this process, in the place of `run_apart`; replies come through JSON."""
    return ((work, json.loads(json.dumps(do(work)))) for work in pieces)


@pytest.fixture(scope="module")
def judged_here() -> Iterator[None]:
    """Judge answers in this process, without limits: what is made of verdicts is tested.

    A process for each file takes five times as long as the file. Tests of processes and of
    their limits ask for `judged_apart`, or are in modules that do not ask for this.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (judge_file, stored_tables):
            patch.setattr(module, "run_apart", run_here)
        patch.setattr(judge_file, "allow_seconds", lambda seconds: None)
        # This process has had the time of all tests before.
        no_time = SimpleNamespace(process_time=lambda: 0.0)
        patch.setattr(judge_file, "time", no_time)
        yield


@pytest.fixture
def judged_apart(monkeypatch) -> None:
    """Judge each file in a process of its own again, where a module asks for `judged_here`."""
    for module in (judge_file, stored_tables):
        monkeypatch.setattr(module, "run_apart", limited_processes.run_apart)
    monkeypatch.setattr(judge_file, "allow_seconds", limited_processes.allow_seconds)
    monkeypatch.setattr(judge_file, "time", time)


@pytest.fixture(scope="session")
def offline_tasks() -> dict:
    """The tasks of the offline pack, as the harness builds them."""
    return load([task for task in TASKS if task in OFFLINE], EXAMPLES)[1]["tasks"]


@pytest.fixture(scope="session")
def dummy_run(tmp_path_factory) -> Path:
    """The output folder of one run of everything, from another working directory."""
    # The workers of xdist share the parent of their folders.
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    folder = tmp_path_factory.getbasetemp() / (
        "../dummy_run" if is_worker else "dummy_run"
    )
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            made = folder.with_name(f"{folder.name}-{os.getpid()}")
            made.mkdir()
            # The harness refuses a task that two of the named groups hold.
            members = {name for config in GROUPS.values() for name in config["task"]}
            done = run_module(
                *("tests.harness_cli", "--model", "dummy", "--include_path", EXAMPLES),
                *("--tasks", ",".join({*GROUPS, *TASKS} & OFFLINE - members)),
                *("--log_samples", "--output_path", "output"),
                cwd=made,
            )
            assert done.returncode == 0, done.stderr
            (made / "log").write_text(done.stderr, encoding="utf-8")
            made.rename(folder)  # a run that failed leaves nothing to take for one
    (output,) = (folder / "output").iterdir()
    return output


@pytest.fixture(scope="session")
def twins(tmp_path_factory) -> Path:
    """A pack of the rows of `examples/` and their twins."""
    folder = tmp_path_factory.mktemp("twins")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    pack = ["--include_path", str(folder)]
    assert main(["twins", str(folder), *pack, "--gen-seed", "7"]) == 0
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data and real answers; tests that need it skip without."""
    folder = Path(os.environ.get("TEMPORAL_EVAL_SHARED") or "/nowhere")
    if not folder.is_dir():
        pytest.skip("TEMPORAL_EVAL_SHARED names no folder with the shared data")
    return folder


@pytest.fixture
def call_score(capsys):
    """Call `score`; return its exit status, what it printed and said."""

    def called(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["score", "--include_path", str(EXAMPLES), *map(str, arguments)])
        return status, *capsys.readouterr()

    return called


@pytest.fixture
def call(call_score):
    """Call `score`; return its exit status, the rows of its tables, and what it said."""

    def called(*arguments: object) -> tuple[int, list[dict], str]:
        status, printed, said = call_score("--format", "json", *arguments)
        return status, json.loads(printed or "[]"), said

    return called


@pytest.fixture(scope="module")
def driver():
    """A real browser, which shows pages from disk and keeps its logs."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{option}")
    options.add_argument("--window-size=1280,900")
    logs = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    socket.setdefaulttimeout(MOST_SECONDS)  # of the start, and of each command
    with webdriver.Chrome(options, webdriver.ChromeService(DRIVER)) as driver:
        socket.setdefaulttimeout(None)
        yield driver


@pytest.fixture
def find(driver):
    """A function that returns the elements of a page that a selector names."""
    return lambda selector: driver.find_elements("css selector", selector)
