"""What the READMEs show of the functions is so, and their links lead somewhere."""

import ast
import glob
import re
import shlex
from argparse import ArgumentParser

import pytest

from tests.conftest import ROOT
from utils.__main__ import main
from utils.core.task_scorers import all_tasks, scorer
from utils.verdicts.cli_options import answer_options


pytestmark = pytest.mark.usefixtures("judged_here")


TOOLS = (ROOT / "utils" / "README.md").read_text(encoding="utf-8")
FOLDERS = ("lm_eval_tasks", "utils", "examples", "tests")
READMES = [*ROOT.glob("*.md"), *(x for y in FOLDERS for x in (ROOT / y).rglob("*.md"))]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TOOLS, re.MULTILINE | re.DOTALL)
# Trainers and engines run in test_reward.py and test_batch.py.
SHOWN = [x for x in BLOCKS if not re.search("import (trl|datasets|ray)|from trl", x)]
# `expression  # value`, or the value as a comment on the next line.
SHOWN_VALUE = re.compile(r"(?m)^(\S.*?)(?:\s{2,}|\n)# (['{(].*?[)}']?)(?:, where .*)?$")
RULE_PAGES = ("tcp", "tot", "timebench")
# A line of the table: the function's name and the fields of a document.
ROWS = re.findall(r"\| `(\w+)\.utils\.(\w+)` \| `(\{.*\})` \|", TOOLS)


@pytest.mark.parametrize("block", SHOWN)
def test_the_python_of_the_readme_gives_what_the_comments_say(block):
    scope: dict = {}
    block = block.replace("from temporal_eval ", "from utils ")
    exec(block, scope)
    values = SHOWN_VALUE.findall(block)
    assert len(values) == 3
    for expression, value in values:
        assert eval(expression, scope) == ast.literal_eval(value), expression


def test_the_reward_table_has_every_function_and_the_fields_that_it_needs():
    tasks = [scorer(task) for task in all_tasks() if not task.startswith("fresh_")]
    functions = {(task.family, task.explain.__name__): task.explain for task in tasks}
    assert {row[:2] for row in ROWS} == {*functions}
    for family, name, fields in ROWS:
        explain, document = functions[family, name], ast.literal_eval(fields)
        assert explain(document, "").reason == "no_answer"
        for field in document:
            incomplete = {key: document[key] for key in document if key != field}
            with pytest.raises(KeyError):
                explain(incomplete, "Thus, the correct answer is: B")


def test_the_five_sentences_are_the_same_on_each_page_of_the_rule():
    folder = ROOT / "lm_eval_tasks"
    pages = [folder / "ANSWER.md", *(folder / x / "README.md" for x in RULE_PAGES)]
    quotes = [re.findall(r"(?m)^> .*$", page.read_text("utf-8")) for page in pages]
    assert quotes[0]
    assert all(quote == quotes[0] for quote in quotes)


@pytest.mark.parametrize("path", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_readme_lead_somewhere(path):
    links = re.findall(r"\]\((?!https?:)([^)\s]*)\)", path.read_text(encoding="utf-8"))
    for name, _, anchor in (link.partition("#") for link in links):
        target = path.parent / name if name else path
        assert target.exists(), name
        if anchor:
            titles = re.findall(r"(?m)^#+ (.*)$", target.read_text(encoding="utf-8"))
            words = (re.sub(r"[^\w\- ]", "", title).strip().lower() for title in titles)
            assert anchor in [title.replace(" ", "-") for title in words]


def printed_tables() -> list[tuple[str, str, list[str]]]:
    """Return page, command and lines of each table that a page prints of the examples.

    A command stands in the block before its table, or on the first line of the table's.
    """
    tables = []
    for page in (ROOT / "README.md", ROOT / "utils" / "README.md"):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"(?ms)^```(?:bash)?\n(.*?)^```$|(^\|.*?\n)(?=\n)", text)
        commands = ""
        for code, _ in blocks:
            lines = [line for line in code.splitlines() if line.startswith("|")]
            own = code if code.startswith("$ ") else commands
            joined = own.replace("\\\n", " ")
            found = re.findall(r"temporal-eval (.*examples.*)", joined)
            if lines and found:
                tables.append((page.name, found[-1], lines))
            commands = code
    return tables


@pytest.mark.usefixtures("kept_tables")
@pytest.mark.parametrize(("page", "command", "lines"), printed_tables())
def test_tables_of_the_examples_are_what_the_command_prints(
    page, command, lines, monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(ROOT)
    arguments = []
    for word in shlex.split(command, comments=True):
        paths = sorted(glob.glob(word)) if "*" in word else [word]
        arguments += [path.rstrip("/") for path in paths]
    for place, word in enumerate(arguments):
        if word in ("--html", "--csv", "--json", "--output"):
            arguments[place + 1] = str(tmp_path / arguments[place + 1])
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert [line for line in lines if line not in printed] == [], f"{page}: {command}"


def test_the_limits_of_an_argument_are_those_that_a_readme_says():
    parser = ArgumentParser()
    answer_options(parser)
    options = vars(parser.parse_args([]))
    said = re.findall(r"([\d,]+) \w+ \(`--(most_\w+)`\)", TOOLS)
    assert len(said) == 3
    for number, option in said:
        assert options[option] == int(number.replace(",", ""))
    assert "or half an hour of processor time\n(`--most_argument_seconds`)" in TOOLS
    assert options["most_argument_seconds"] == 30 * 60
