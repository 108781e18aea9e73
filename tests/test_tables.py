"""Tables read well in a terminal and in Markdown, and hold any text."""

import csv
import io
import json

import pytest

from utils.core.cli import printable
from utils.core.format_tables import (
    escaped,
    natural,
    p_text,
    percent,
    points,
    render,
    whole,
)
from utils.core.text_layout import Layout


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
    assert sorted(["a12345", "a2345"], key=natural) == ["a2345", "a12345"]
    assert natural("9" * 5000)  # more digits than Python reads as a number


def test_a_column_of_numbers_and_words_is_aligned_as_numbers_are():
    table = "| `a\\|b` |\n|-------:|\n|      5 |\n|      - |\n"
    assert render([{"a|b": 5}, {"a|b": "-"}], "markdown") == table


@pytest.mark.parametrize("form", ["markdown", "terminal"])
def test_a_table_of_nothing_is_a_blank_line(form):
    assert render([], form) == render([{"a": None}], form) == "\n"


FIGURES = [  # what is shown of a share, a difference of shares or a p-value
    (percent, 0.12345, "12.3"),
    (whole, 0.126, "13"),
    (points, 0.0123, "+1.2"),
    (points, -0.0123, "-1.2"),
    (points, 0.0004, "0.0"),
    (points, -0.0004, "0.0"),
    (p_text, 0.0456, "= 0.046"),
    (p_text, 0.0001, "= 0.0001"),
    (p_text, 0.00009, "< 0.0001"),
]


@pytest.mark.parametrize(("show", "value", "text"), FIGURES)
def test_figures_are_rounded_as_far_as_they_are_read(show, value, text):
    assert show(value) == text


def test_prose_in_markdown_has_marks_and_lines_without_broken_words():
    layout = Layout()
    assert layout.fault("Fault in a.") == "**Fault** in a."
    assert layout.data("a\nb|") == "`a b\\|`"
    assert layout.table([{"a": 0.5}], percent).endswith("\n| 50.0 |\n")
    first, *rest = layout.paragraph("so-called " * 30, indent="  ").splitlines()
    assert first.startswith("so-called") and len(first) <= 94
    assert all(line.startswith("  so-called") for line in rest)
    assert all(line.endswith("-called") for line in (first, *rest))
    assert Layout(is_terminal=True).data("a\n b") == "a b"
    assert escaped(0.0, percent) == "0.0"


def test_an_empty_no_color_is_none(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setenv("TERM", "xterm")
    for value, has_colours in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", value)
        assert Layout.of(stream).has_colours == has_colours


NAMES = {  # as Markdown shows them
    **{name: name for name in ("Llama-3.1-8B", "tot_arithmetic", "pass@2", "")},
    **{
        x: f"`{x}`"
        for x in ('"age": <num_days>', "[x](javascript:1)", "*bold*", "_it_")
    },
    **{x: f"`{x}`" for x in ("~~a~~", "&lt;", "a<b", "[x]: y", "[x][y]", "a_", "a>b")},
    **{x: x for x in ("[1, 2]", "a@b", "a # 1", "C#", "x: y", "(a)", "wwwa")},
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


def test_numbers_are_no_formulas_and_fillers_hide_none():
    row = {"a": -1, "b": "-1", "c": "a\x7f\x9f", "d": None, "e": "a\t+1"}
    assert render([row], "csv") == "a,b,c,d,e\n-1,'-1,a\\x7f\\x9f,,a\t'+1\n"
    for filler in "\u115f\u1160\u2800\u3164\uffa0\u0301\u200b":
        assert render([{"a": f"{filler}=1"}], "csv") == f"a\n'{filler}=1\n"


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


def test_every_letter_that_nobody_sees_is_escaped():
    unseen = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180d\u2800\u3164\ufe00\uffa0"
    for letter in f"{unseen}\U000e0100\U000e01ef":
        assert printable(f"a{letter}") == f"a{ascii(letter)[1:-1]}"
