"""What tests share: the checkout, the shared data, runs of the harness."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from filelock import FileLock
from hypothesis import settings

from utils.__main__ import main


ROOT = Path(__file__).parent.parent
PACK, EXAMPLES = ROOT / "lm_eval_tasks", ROOT / "examples"

# How long an example takes says how busy the machine is; test_hostile.py bounds time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads the harness's tag for functions as their names."""


Loader.add_constructor("!function", lambda loader, node: node.value)


def configuration(path: Path) -> dict:
    """Return what a YAML file of the pack says, over what it includes."""
    config = yaml.load(path.read_text(encoding="utf-8"), Loader)
    includes = config.pop("include", [])
    merged = {}
    for include in [includes] if isinstance(includes, str) else includes:
        merged |= configuration(path.parent / include)
    return merged | config


# The fresh tasks make their rows themselves; test_fresh.py has them.
CONFIGURATIONS = [
    configuration(path)
    for path in sorted(PACK.glob("**/*.yaml"))
    if path.parent.name != "fresh"
]
GROUPS = {config["group"]: config for config in CONFIGURATIONS if "group" in config}
TASKS = [config["task"] for config in CONFIGURATIONS if "group" not in config]
MEMBERS = {name for config in GROUPS.values() for name in config["task"]}


def run_python(
    *arguments: object, cwd: Path, **environment: str
) -> subprocess.CompletedProcess:
    """Run Python in `cwd`, with no network and no cache; return what it wrote."""
    changes = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cwd / "cache")} | environment
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | changes,
        capture_output=True,
        text=True,
    )


def run_lm_eval(*arguments: object, cwd: Path) -> subprocess.CompletedProcess:
    """Run the command line of the harness in `cwd`, with no network and no cache."""
    return run_python("-m", "lm_eval", *arguments, cwd=cwd)


# What the command line does, without the index of the harness's own 13,000 tasks.
RUN = """
import json, sys
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from lm_eval.utils import handle_non_serializable
folder, *tasks = sys.argv[1:]
manager = TaskManager(include_path=folder, include_defaults=False)
run = simple_evaluate("dummy", tasks=tasks, task_manager=manager, bootstrap_iters=0)
with open("samples.json", "w", encoding="utf-8") as file:
    json.dump(run["samples"], file, default=handle_non_serializable)
"""


def run_tasks(folder: Path, tasks: list[str], cwd: Path) -> dict[str, list[dict]]:
    """Run tasks of a folder in `cwd`, with no network and no cache.

    Returns task -> samples, from another process, which knows nothing of the checkout.
    """
    done = run_python("-c", RUN, folder, *tasks, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads((cwd / "samples.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def lm_eval_logs_reach_caplog() -> None:
    """Undo what a run of the harness in this process does to its logger."""
    logging.getLogger("lm_eval").propagate = True


@pytest.fixture(scope="session")
def offline_tasks() -> dict:
    from lm_eval.tasks import TaskManager  # a second, which the verdicts do not need

    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    return manager.load(TASKS)["tasks"]


@pytest.fixture(scope="session")
def dummy_run(tmp_path_factory) -> Path:
    """The output folder of one run of everything, from another working directory."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which all workers share
    folder /= "dummy_run"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            made = folder.with_name(f"{folder.name}-{os.getpid()}")
            run_everything(made)
            made.rename(folder)  # a run that failed leaves nothing to take for one
    (output,) = (folder / "output").iterdir()
    return output


def run_everything(folder: Path) -> None:
    """Run every task and group of the offline pack with the dummy model."""
    folder.mkdir()
    done = run_lm_eval(
        *("--model", "dummy", "--include_path", EXAMPLES, "--log_samples"),
        # The harness refuses a task that two of the named groups hold.
        *("--tasks", ",".join({*GROUPS, *TASKS} - MEMBERS), "--output_path", "output"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    (folder / "log").write_text(done.stderr, encoding="utf-8")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data and real answers; tests that need it skip without."""
    folder = os.environ.get("TEMPORAL_EVAL_SHARED", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TEMPORAL_EVAL_SHARED names no folder with the shared data")
    return Path(folder)


@pytest.fixture
def call_score(capsys):
    """Call `score`; return its exit status, what it printed and said."""

    def called(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["score", "--include_path", str(EXAMPLES), *map(str, arguments)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return called


def pytest_terminal_summary(terminalreporter) -> None:
    """Show the files of TimeBench that were loaded, with their row counts."""
    reports = terminalreporter.stats.get("passed", [])
    properties = [pair for report in reports for pair in report.user_properties]
    rows = dict(pair for name, pair in properties if name == "rows of TimeBench")
    if rows:
        terminalreporter.section("TimeBench")
        for name, count in sorted(rows.items()):
            terminalreporter.write_line(f"{count:>5} rows  {name}_timebench.jsonl")
        terminalreporter.write_line(f"{sum(rows.values()):>5} rows in all")
