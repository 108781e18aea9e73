"""The code and the documents about it are as they say."""

import ast
import re
import shlex
import subprocess
import sys
from types import ModuleType

import pytest

from tests.conftest import ROOT
from utils.packs import baselines
from utils.__main__ import main


FOLDERS = ["lm_eval_tasks", "examples", "utils", "tests"]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(path for name in FOLDERS for path in sorted(ROOT.glob(f"{name}/**/*.md"))),
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


MODULES = [
    path
    for folder in ("lm_eval_tasks", "utils", "examples")
    for path in sorted((ROOT / folder).glob("**/*.py"))
]
MOST_LINES, MOST_BRANCHES = 40, 12


def branches(function: ast.FunctionDef) -> int:
    """Return in how many places a function may go one way or another.

    Ruff's C901 counts statements; these are also the conditions within expressions.
    """
    count = 0
    for node in ast.walk(function):
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += len(node.ifs)
        else:
            count += isinstance(
                node,
                ast.If
                | ast.IfExp
                | ast.For
                | ast.While
                | ast.ExceptHandler
                | ast.match_case,
            )
    return count


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_can_be_read_in_one_look(path):
    if path.name == "fewshot.py":
        return  # whose functions are tables of worked examples
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno + 1 <= MOST_LINES, node.name
            assert branches(node) <= MOST_BRANCHES, node.name


# What reads as translated: say "is not a string; fix the row".
ODD_WORDING = re.compile(
    r"""
    \b mend (s|ed|ing)? \b
    | \b (is|are) \s no \s (text|strings?|list|dict|number|integer|date|object|JSON) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_messages_and_docstrings_are_in_the_field_s_english(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not ODD_WORDING.search(node.value), (node.lineno, node.value)


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def printed(capsys, tool: ModuleType, *arguments: object) -> list[str]:
    """Return the rows of the tables that a tool prints."""
    assert tool.main([*map(str, arguments)]) == 0
    printed = capsys.readouterr().out
    return [line for line in printed.splitlines() if re.match(r"\| [`*]", line)]


def test_tables_of_real_answers_are_what_the_command_above_them_prints(
    shared, monkeypatch, capsys
):
    results = (ROOT / "lm_eval_tasks" / "tot" / "RESULTS.md").read_text()
    command = re.search(r"    (temporal-eval score(?:.*\\\n)+.*\n)", results)[1]
    monkeypatch.chdir(shared / "responses")
    assert main(shlex.split(command.replace("\\\n", ""))[1:]) == 0
    tables = capsys.readouterr().out
    assert tables.count("\n") == 31
    assert tables in results


def test_tables_of_baselines_are_what_the_tool_prints(shared, capsys):
    rows = printed(capsys, baselines, shared)
    documents = "".join(path.read_text() for path in DOCUMENTS)
    assert len(rows) == 16
    assert all(row in documents for row in rows)
