"""Tables read well in a terminal and in Markdown, and hold any text."""

import csv
import io
import json

import pytest

from utils.core.cli import printable
from utils.core.format_tables import escaped, natural, render


ROWS = [
    {"name": "a|b", "n": 10, "score": 0.5, "none": None},
    {"name": "<b>", "n": 9, "score": None, "none": None, "more": "x\ny"},
]
MARKDOWN = r"""
| name   |  n |  score | more |
|:-------|---:|-------:|:-----|
| `a\|b` | 10 | 0.5000 |      |
| `<b>`  |  9 |        | x y  |
"""


def test_markdown_is_aligned_and_without_empty_columns():
    assert render(ROWS, "markdown") == MARKDOWN.lstrip()


def test_csv_and_json_hold_what_is_in_the_rows():
    assert json.loads(render(ROWS, "json")) == ROWS
    csv_text = 'name,n,score,none,more\na|b,10,0.5,,\n<b>,9,,,"x\ny"\n'
    assert render(ROWS, "csv") == csv_text


def test_numbers_in_names_sort_as_numbers():
    names = ["b", "a10", "a2", "a", "2"]
    assert sorted(names, key=natural) == ["2", "a", "a2", "a10", "b"]


NAMES = {  # as Markdown shows them
    **{name: name for name in ("Llama-3.1-8B", "tot_arithmetic", "pass@2", "")},
    **{
        x: f"`{x}`"
        for x in ('"age": <num_days>', "[x](javascript:1)", "*bold*", "_it_")
    },
    **{x: f"`{x}`" for x in ("ftp://a", "WWW.a.org", "a@b.org", "@root", "a #12")},
    **{"a`b": "``a`b``", "`": "`` ` ``", "a\\": "`a\\`"},
    **{"`a": "`` `a ``", "a`": "`` a` ``"},
    "\x1b[2Ja\x00\u202e b\n": r"`\x1b[2Ja\x00\u202e b`",
    "\x01\udcff\u200b": r"`\x01\udcff\u200b`",
}
CELLS = {  # as CSV has them: no formula, and nothing that steers a terminal
    **{"=1+1": "'=1+1", "\uff1d1+1": "'\uff1d1+1", " =1+1": "' =1+1", "\t@x": "\t'@x"},
    **{
        "a;=1+1": "a;'=1+1",
        "a; @b;c=1;": "a;' @b;c=1;",
        "a\n=1;b": "a\n'=1;b",
    },  # cells are split there, too
    "\u200b\ufe0f\u3164\u2800-1": "'\u200b\ufe0f\u3164\u2800-1",
    **{
        "\r+1": "'\\r+1",
        " a=1": " a=1",
        "日本-x": "日本-x",
        "a\0b\x1b[31m": r"a\x00b\x1b[31m",
    },
}


def test_json_has_half_a_letter_as_its_escape():
    json_text = render([{"a\udfff": "x\ud800 é \U0001f600"}], "json")
    json_text.encode()  # strict readers take it
    assert json.loads(json_text) == [{r"a\udfff": "x\\ud800 é \U0001f600"}]


def test_names_are_data():
    assert {name: escaped(name) for name in NAMES} == NAMES
    table = io.StringIO(render([{"name": cell} for cell in CELLS], "csv"))
    assert [row["name"] for row in csv.DictReader(table)] == [*CELLS.values()]


SHOWN = {  # a text, and how it is shown
    "caf\u00e9 \u6a21": "caf\u00e9 \u6a21",
    "a\x1b[31m\n": "a\\x1b[31m\\n",
    "a\u200b\u202e": "a\\u200b\\u202e",
    "care\u3164ful\ufe0f\u034f": "care\\u3164ful\\ufe0f\\u034f",
    "\ud800": "\\ud800",
}


@pytest.mark.parametrize("text", SHOWN)
def test_what_nobody_sees_is_escaped(text):
    assert printable(text) == SHOWN[text]
