"""Tables read well in a terminal and in Markdown, and hold any text."""

import csv
import io
import json

import pytest

from utils.core.tables import escaped, natural, render


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
    rows = list(csv.DictReader(io.StringIO(render(ROWS, "csv"))))
    assert [row["name"] for row in rows] == ["a|b", "<b>"]
    assert rows[0]["score"] == "0.5"
    assert rows[1]["more"] == "x\ny"


def test_numbers_in_names_sort_as_numbers():
    names = ["b", "a10", "a2", "a", "2"]
    assert sorted(names, key=natural) == ["2", "a", "a2", "a10", "b"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Llama-3.1-8B", "Llama-3.1-8B"),
        ("tot_arithmetic", "tot_arithmetic"),
        ('"age": <num_days>', '`"age": <num_days>`'),
        ("[x](javascript:1)", "`[x](javascript:1)`"),
        ("*bold*", "`*bold*`"),
        ("_it_", "`_it_`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("a\\", "`a\\`"),
        ("\x1b[2Ja\x00\u202e b\n", r"`\x1b[2Ja\x00\u202e b`"),
        ("\x01\udcff\u200b", r"`\x01\udcff\u200b`"),
        ("", ""),
    ],
)
def test_names_are_data(text, expected):
    assert escaped(text) == expected


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        (" =1+1", "' =1+1"),
        ("\t@x", "'\t@x"),
        ("\u200b\ufe0f\u3164\u2800-1", "'\u200b\ufe0f\u3164\u2800-1"),
        ("\r+1", "'\\r+1"),
        (" a=1", " a=1"),
        ("a\0b\x1b[31m", r"a\x00b\x1b[31m"),
    ],
)
def test_csv_has_no_formula_and_nothing_that_steers_a_terminal(cell, shown):
    (row,) = csv.DictReader(io.StringIO(render([{"name": cell}], "csv")))
    assert row["name"] == shown
