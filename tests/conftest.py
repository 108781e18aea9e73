"""What tests share: the checkout, the shared data, runs of the harness."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lm_eval.tasks import TaskManager


ROOT = Path(__file__).parent.parent
PACK, EXAMPLES = ROOT / "lm_eval_tasks", ROOT / "examples"


def configurations(folder: Path) -> list[dict]:
    """Return what the YAML files of a folder say, without their includes."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("!function", lambda loader, node: node.value)
    paths = sorted(folder.glob("**/*.yaml"))
    return [yaml.load(path.read_text(encoding="utf-8"), loader) for path in paths]


CONFIGURATIONS = configurations(PACK)
GROUPS = {config["group"]: config for config in CONFIGURATIONS if "group" in config}
TASKS = [config["task"] for config in CONFIGURATIONS if "group" not in config]
MEMBERS = {name for config in GROUPS.values() for name in config["task"]}


def run_lm_eval(*arguments: object, cwd: Path) -> subprocess.CompletedProcess:
    """Run the command line of the harness in `cwd`, with no network and no cache."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "lm_eval", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def offline_tasks() -> dict:
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    return manager.load(TASKS)["tasks"]


@pytest.fixture(scope="session")
def dummy_run(tmp_path_factory) -> Path:
    """The output folder of one run of everything, from another working directory."""
    folder = tmp_path_factory.mktemp("run")
    done = run_lm_eval(
        *("--model", "dummy", "--include_path", EXAMPLES, "--log_samples"),
        # The harness refuses a task that two of the named groups hold.
        *("--tasks", ",".join({*GROUPS, *TASKS} - MEMBERS), "--output_path", "output"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    (output,) = (folder / "output").iterdir()
    return output


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real data and real answers; tests that need it skip without."""
    folder = os.environ.get("TEMPORAL_EVAL_SHARED", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("TEMPORAL_EVAL_SHARED names no folder with the shared data")
    return Path(folder)


def pytest_terminal_summary(terminalreporter) -> None:
    """Show the files of TimeBench that were loaded, with their row counts."""
    names = (report.nodeid for report in terminalreporter.stats.get("passed", []))
    found = [re.search(r"test_rows_load\[(.+)-([0-9]+)\]", name) for name in names]
    rows = [match.groups() for match in found if match]
    if rows:
        terminalreporter.section("TimeBench")
        for name, count in rows:
            terminalreporter.write_line(f"{count:>5} rows  {name}_timebench.jsonl")
        terminalreporter.write_line(f"{sum(int(x) for _, x in rows):>5} rows in all")
