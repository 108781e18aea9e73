"""The code and the documents about it are as they say."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from utils.__main__ import main
from utils.packs import baselines


FOLDERS = ["lm_eval_tasks", "examples", "utils", "tests"]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *(path for name in FOLDERS for path in sorted(ROOT.glob(f"{name}/**/*.md"))),
]


@pytest.mark.parametrize(
    "command", [["check", "--output-format=concise"], ["format", "--check"]]
)
def test_ruff_is_content(command):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "-q", "--no-cache", *FOLDERS],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


# ----------------------------------------------------------------------------- sizes

MODULES = [
    path
    for folder in ("lm_eval_tasks", "utils", "examples")
    for path in sorted((ROOT / folder).glob("**/*.py"))
]
TOOLS = [path for path in MODULES if path.is_relative_to(ROOT / "utils")]
SOLVERS = [*ROOT.glob("tests/solvers/*.py"), ROOT / "tests" / "audit.py"]
ROOMS = 8
MOST_LINES = {"utils": 5_500, "tests": 8_000}  # of Python; solvers and audit aside
MOST_LINES_OF_A_FUNCTION = 40


@pytest.mark.parametrize("folder", MOST_LINES)
def test_the_house_stays_small(folder):
    files = {*(ROOT / folder).rglob("*.py")} - {*SOLVERS}
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    assert lines <= MOST_LINES[folder]


def test_tools_have_at_most_eight_rooms():
    tools = {path.relative_to(ROOT / "utils").parts[0] for path in TOOLS}
    assert len(tools - {"__init__.py", "__main__.py"}) <= ROOMS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_can_be_read_in_one_look(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MOST_LINES_OF_A_FUNCTION, node.name


# ----------------------------------------------------------------------------- words

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
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not ODD_WORDING.search(node.value), (node.lineno, node.value)


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_between_documents_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_tools_name_no_task_and_no_family():
    """But for `compute`, whose table is the metric cards' own names."""
    known = re.compile(r"(tcp|tot|timebench)(_\w+)?")
    for path in TOOLS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            is_named = is_text and known.fullmatch(node.value)
            assert not is_named or path.name == "compute.py", (path, node.value)


# ---------------------------------------------------------- tables of the documents


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
    assert baselines.main([str(shared)]) == 0
    rows = re.findall(r"^\| [`*].*", capsys.readouterr().out, re.MULTILINE)
    documents = "".join(map(Path.read_text, DOCUMENTS))
    assert len(rows) == 16
    assert all(row in documents for row in rows)
