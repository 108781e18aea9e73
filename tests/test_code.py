"""The code and the documents about it are as they say."""

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT


FOLDERS = ["lm_eval_tasks", "examples", "utils", "tests"]
READMES = [
    ROOT / "README.md",
    *(path for name in FOLDERS for path in sorted(ROOT.glob(f"{name}/**/README.md"))),
]


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_ruff_is_content(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def printed(tool: str, *arguments: object) -> list[str]:
    """Return the rows of the tables that a tool prints."""
    done = subprocess.run(
        [sys.executable, "-m", tool, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if re.match(r"\| [`*]", line)]


def test_table_of_real_answers_is_what_the_tool_prints(shared):
    rows = printed("utils.score", *sorted((shared / "responses").glob("*.jsonl")))
    readme = (ROOT / "lm_eval_tasks" / "tot" / "README.md").read_text()
    assert len(rows) > 20
    assert all(row in readme for row in rows)


def test_tables_of_baselines_are_what_the_tool_prints(shared):
    rows = printed("utils.baselines", shared)
    readmes = "".join(path.read_text() for path in READMES)
    assert len(rows) == 16
    assert all(row in readmes for row in rows)
