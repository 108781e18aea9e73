"""The code and the documents about it are as they say."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.solvers import baselines
from utils.__main__ import main


pytestmark = pytest.mark.usefixtures("judged_here")


FOLDERS = ["lm_eval_tasks", "examples", "utils", "tests"]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(path for name in FOLDERS for path in sorted(ROOT.glob(f"{name}/**/*.md"))),
]


MODULES = [
    path
    for folder in ("lm_eval_tasks", "utils", "examples")
    for path in sorted((ROOT / folder).glob("**/*.py"))
]
TOOLS = [path for path in MODULES if path.is_relative_to(ROOT / "utils")]
MOST_LINES_OF_A_FUNCTION = 40


# What reads as translated: say "is not a string; fix the row".
ODD_WORDING = re.compile(
    r"\bmend(s|ed|ing)?\b|\b(is|are) no (text|strings?|list|dict|number|object|JSON)\b",
    re.IGNORECASE,
)
TASK = re.compile(r"(tcp|tot|timebench)(_\w+)?")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_are_short_words_plain_and_tools_name_no_task(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MOST_LINES_OF_A_FUNCTION, node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not ODD_WORDING.search(node.value), (node.lineno, node.value)
            # `compute` has the metric cards' own names.
            if path in TOOLS and path.name != "metric_card_compute.py":
                assert not TASK.fullmatch(node.value), (node.lineno, node.value)


def test_tables_of_real_answers_are_what_the_command_above_them_prints(
    shared, monkeypatch, capsys
):
    results = (ROOT / "lm_eval_tasks" / "tot" / "RESULTS.md").read_text()
    command = re.search(r"    (temporal-eval score(?:.*\\\n)+.*\n)", results)[1]
    monkeypatch.chdir(shared / "responses")
    assert main(shlex.split(command.replace("\\\n", ""))[1:]) == 0
    tables = capsys.readouterr().out.replace("## ", "#### ")
    assert tables.count("\n") == 168
    assert tables in results


def test_tables_of_baselines_are_what_the_command_prints(shared, capsys):
    baselines.main(str(shared))
    rows = re.findall(r"^\| [`*].*", capsys.readouterr().out, re.MULTILINE)
    documents = "".join(map(Path.read_text, DOCUMENTS))
    assert len(rows) == 16
    assert all(row in documents for row in rows)
