"""The code and the documents about it are as they say."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_ruff_is_content(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sorted(ROOT.glob("**/README.md")), ids=str)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_table_of_real_answers_is_what_the_tool_prints(shared):
    answers = sorted((shared / "responses").glob("*.jsonl"))
    done = subprocess.run(
        [sys.executable, "-m", "utils.score", *map(str, answers)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    rows = [line for line in done.stdout.splitlines() if " / " in line][1:]
    assert len(rows) > 20
    readme = (ROOT / "lm_eval_tasks" / "tot" / "README.md").read_text()
    assert all(row in readme for row in rows)
