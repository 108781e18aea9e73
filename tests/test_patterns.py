"""The patterns of the flexible rule find what their tables say, and nothing else."""

import importlib.util

import pytest

from lm_eval_tasks import answer
from tests.conftest import PACK
from tests.corpus import FAMILIES


def load(path):
    """Return a module of the pack by its path, as the harness loads it."""
    spec = importlib.util.spec_from_file_location("patterns_" + path.parent.name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def patterns():
    """Yield (place, pattern) of all patterns with a table, in the order of their files."""
    for path in (PACK / "answer.py", *(PACK / x / "utils.py" for x in FAMILIES)):
        for name, value in vars(load(path)).items():
            candidates = value if isinstance(value, tuple) else (value,)
            for number, pattern in enumerate(candidates):
                if hasattr(pattern, "meaning"):
                    yield f"{path.parent.name}.{name}[{number}]", pattern


PATTERNS = dict(patterns())


def read(pattern, text: str) -> str | None:
    """Return what a pattern finds in a text first, or what it leaves of the text."""
    if pattern.replacement is not None:
        return pattern.remove_from(text)
    match = pattern.regex.search(text)
    if match is None:
        return None
    names = [*pattern.regex.groupindex]
    return match[names[0]] if len(names) == 1 else match[0]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_reads_and_refuses_what_its_table_says(name):
    pattern = PATTERNS[name]
    assert pattern.meaning and pattern.reads
    assert {text: read(pattern, text) for text in pattern.reads} == pattern.reads
    assert [text for text in pattern.refuses if pattern.regex.search(text)] == []


NUMBERS = {  # a text, and its numbers
    "1,307 days": {"1307"},
    "in 007": {"7"},
    "1, 2 and 1.50": {"1", "2", "1.50"},
    "12:30": {"12", "30"},
    "1 February, or 3 March": {"1", "2", "3"},
}


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_is_one_in_any_spelling(text):
    assert answer.numbers(text) == NUMBERS[text]
