"""What the READMEs show of the functions is so, and their links lead somewhere."""

import ast
import importlib
import re

import pytest

from tests.conftest import ROOT
from utils.core.families import all_tasks, scorer


TOOLS = (ROOT / "utils" / "README.md").read_text(encoding="utf-8")
FOLDERS = ("lm_eval_tasks", "utils", "examples", "tests")
READMES = [*ROOT.glob("*.md"), *(x for y in FOLDERS for x in (ROOT / y).rglob("*.md"))]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TOOLS, re.MULTILINE | re.DOTALL)
# Trainers and engines run in test_reward.py and test_batch.py.
SHOWN = [x for x in BLOCKS if not re.search("import (trl|datasets|ray)|from trl", x)]
# `expression  # value`, or the value as a comment on the next line.
SHOWN_VALUE = re.compile(r"(?m)^(\S.*?)(?:\s{2,}|\n)# (['{(].*?[)}']?)(?:, where .*)?$")
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


def test_the_reward_table_has_every_function_that_explains():
    tasks = [scorer(x) for x in all_tasks() if not x.startswith("fresh_")]
    functions = {(task.family, task.explain.__name__) for task in tasks}
    assert {row[:2] for row in ROWS} == functions


@pytest.mark.parametrize(("family", "name", "fields"), ROWS)
def test_a_document_needs_the_fields_that_the_readme_lists(family, name, fields):
    explain = getattr(importlib.import_module(f"lm_eval_tasks.{family}.utils"), name)
    document = ast.literal_eval(fields)
    assert explain(document, "").reason == "no_answer"
    for field in document:
        incomplete = {key: document[key] for key in document if key != field}
        with pytest.raises(KeyError):
            explain(incomplete, "Thus, the correct answer is: B")


def test_the_readme_is_one_page():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("|")]
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    "readme", READMES, ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_links_of_a_readme_lead_somewhere(readme):
    links = re.findall(
        r"\]\((?!https?:)([^)\s]*)\)", readme.read_text(encoding="utf-8")
    )
    for path, _, anchor in (link.partition("#") for link in links):
        target = readme.parent / path if path else readme
        assert target.exists(), path
        if anchor:
            titles = re.findall(r"(?m)^#+ (.*)$", target.read_text(encoding="utf-8"))
            words = (re.sub(r"[^\w\- ]", "", title).strip().lower() for title in titles)
            assert anchor in [title.replace(" ", "-") for title in words]
