"""What the README shows of the functions is so."""

import ast
import importlib
import re

import pytest

from tests.conftest import ROOT
from utils.core.families import all_tasks, scorer


README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOLS = (ROOT / "utils" / "README.md").read_text(encoding="utf-8")
READMES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"] + [
    path
    for x in ("lm_eval_tasks", "utils", "examples")
    for path in (ROOT / x).rglob("*.md")
]
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TOOLS, re.MULTILINE | re.DOTALL)
# Trainers and engines run in test_reward.py and test_batch.py.
SHOWN = [x for x in BLOCKS if not re.search("import (trl|datasets|ray)|from trl", x)]
# A line of the table: the function's name and the fields of a document.
ROWS = re.findall(r"\| `(\w+)\.utils\.(\w+)` \| `(\{.*\})` \|", TOOLS)


@pytest.mark.parametrize("block", SHOWN)
def test_the_python_of_the_readme_gives_what_the_comments_say(block):
    scope: dict = {}
    block = block.replace("from temporal_eval ", "from utils ")
    # `expression  # value`, or the value as a comment on the next line.
    shown = re.findall(r"^(\S.*?)(?:\s{2,}|\n)# (['{(].*?[)}']?)(?:, where .*)?$", block, re.MULTILINE)  # fmt: skip
    assert len(shown) == 3
    exec(block, scope)
    for expression, value in shown:
        assert eval(expression, scope) == ast.literal_eval(value), expression


def test_the_reward_table_has_every_function_that_explains():
    explained = {
        (one.family, one.explain.__name__)
        for one in map(scorer, all_tasks())
        if not one.task.startswith("fresh_")  # they have the functions of others
    }
    assert {row[:2] for row in ROWS} == explained


@pytest.mark.parametrize(("family", "name", "fields"), ROWS)
def test_a_document_needs_the_fields_that_the_readme_lists(family, name, fields):
    explain = getattr(importlib.import_module(f"lm_eval_tasks.{family}.utils"), name)
    document = ast.literal_eval(fields)
    assert explain(document, "").reason == "no_answer"
    for field in document:
        with pytest.raises(KeyError):
            others = {x: y for x, y in document.items() if x != field}
            explain(others, "Thus, the correct answer is: B")


def test_the_readme_is_one_page():
    lines = [line for line in README.splitlines() if not line.startswith("|")]
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 100


def test_the_links_of_the_readmes_lead_somewhere():
    for readme in READMES:
        text = readme.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)\s]*)\)", text):
            path, _, anchor = target.partition("#")
            found = readme.parent / path if path else readme
            assert found.exists(), (readme, target)
            if anchor:
                titles = re.findall(
                    r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.M
                )
                slugs = [re.sub(r"[^\w\- ]", "", x).strip().lower().replace(" ", "-") for x in titles]  # fmt: skip
                assert anchor in slugs, (readme, target)
