"""`temporal-eval compare`: the figures are right, the documents the same, no surprise."""

import io
import json
import os
import random
import re
from argparse import Namespace
from pathlib import Path

import pytest

from tests.answers import write
from tests.conftest import EXAMPLES
from utils import compare as comparing
from utils.__main__ import main
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer
from utils.core.text_layout import Layout
from utils.verdicts import tally as figures


pytestmark = pytest.mark.usefixtures("judged_here")


TASK = "tot_arithmetic"
PACK = ("--include_path", EXAMPLES)
RIGHT, WRONG, NONE = '{"answer": "1"}', '{"answer": "2"}', "no\nidea"
LETTERS = str.maketrans("0123456789", "abcdefghij")
FLEXIBLE = '{"answer": "1."}'  # which only the flexible rule takes for 1


def doc(number: int) -> dict:
    """Return a document of ToT arithmetic, of a template of its own; its answer is 1."""
    question = f"How many are {str(number).translate(LETTERS)} and one?"
    return {"question": question, "question_type": "trick", "label": "{'answer': '1'}"}


def lines(*responses: str, **more: object) -> list[dict]:
    return [
        {"task": TASK, "doc_id": n, "doc": doc(n), "response": response} | more
        for n, response in enumerate(responses)
    ]


def recorded(task: str, model: str = "careful") -> list[dict]:
    return read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")


@pytest.fixture
def compare(tmp_path, capsys):
    """A function that compares runs, as lines or paths; returns what the tool wrote."""

    def compare(*runs: list[dict] | Path, options: tuple = (), status: int = 0):
        arguments = []
        for name, run in zip("abcd", runs):
            is_path = isinstance(run, Path)
            path = run if is_path else write(tmp_path / f"{name}.jsonl", *run)
            arguments.append(f"{name}={path}")
        assert main(["compare", *arguments, *map(str, options)]) == status
        return capsys.readouterr()

    return compare


@pytest.fixture
def rows(compare):
    """A function that compares runs and returns the rows, of JSON without NaN."""

    def rows(*runs: list[dict] | Path, options: tuple = ()) -> list[dict]:
        text = compare(*runs, options=(*options, "--format", "json")).out
        return json.loads(text, parse_constant=pytest.fail)

    return rows


@pytest.fixture
def repeated(monkeypatch) -> dict:
    """A document that the benchmark holds four times."""
    known = {scorer(TASK).utils.digest(doc(1)).hex(): 4}
    monkeypatch.setattr(figures, "count_copies", lambda _, x: known.get(x, 1))
    return doc(1)


def test_holm_takes_all_pairs_benchmarks_and_both_scores(rows):
    from statsmodels.stats.multitest import multipletests  # takes a second

    draw, runs = random.Random(3), []
    for skill in (0.2, 0.5, 0.7):
        said = [RIGHT if draw.random() < skill else NONE for _ in range(70)]
        runs.append(lines(*said[:40]) + lines(*said[40:], task=f"{TASK}_separate"))
    for option in ((), ("--detail",)):
        family = rows(*runs, options=option)
        assert {row["tests"] for row in family} == {len(family)} == {3 * 2 * 2}
        expected = multipletests([row["p"] for row in family], method="holm")[1]
        assert [row["p_holm"] for row in family] == pytest.approx([*expected])
        for row in family:
            better = row["run_b"] if row["b"] > row["a"] else row["run_a"]
            assert row["better"] == (better if row["p_holm"] < 0.05 else None)


SCOPES = [
    ("tcp_short tcp_long", "TCP (16 rows instead of 600)"),
    ("tot_semantic", "tot_semantic, 1 of 2 tasks of Test of Time (16 rows instead of 2,800)"),
    ("timebench_mctaco timebench_tracie", "2 of 15 tasks of TimeBench (18 rows instead of 1,351)"),
]  # fmt: skip


@pytest.mark.parametrize(("tasks", "scope"), SCOPES)
def test_a_benchmark_with_tasks_missing_is_named_so(rows, tasks, scope):
    run = [line for task in tasks.split() for line in recorded(task)]
    published, flexible = rows(run, run, options=PACK)
    assert published["scope"] == flexible["scope"] == scope
    assert (published["difference"], published["better"]) == (0, None)


HALF = [NONE] * 20 + [RIGHT] * 20
OPEN = "not shown"
SHOWN_BY = (
    "4 of 5 such tests: tot_arithmetic, published {0}; tot_arithmetic, flexible {0}."
)
# What a second run answers; b, a minus b with its interval, p and the better run; and what is
# said of the difference that would be shown.
TABLES = {
    "better": ([RIGHT] * 40, "100.0", "-50.0 [-64.8, -30.4]", "≤ 0.0001", "b", None),
    "nearly": (
        [NONE] * 14 + [RIGHT] * 26,
        *("65.0", "-15.0 [-27.3, -1.3]", "0.064", OPEN, SHOWN_BY.format("22.6")),
    ),
    "one": ([RIGHT], "100.0", "-100.0 [-100.0, +100.0]", "1", OPEN, "so few clusters (1) of tot_arithmetic it"),
    "equal": (HALF[::-1], "50.0", "0.0 [-31.5, +31.5]", "1", OPEN, SHOWN_BY.format("46.3")),
}  # fmt: skip
EXCLUDES_0 = (
    "its interval excludes 0, but p = 0.032 becomes 0.064 when it is adjusted for 2"
)


@pytest.mark.parametrize("case", TABLES)
def test_a_table_says_which_run_is_better(compare, case):
    b, score_b, difference, p_value, better, power = TABLES[case]
    n = len(b)
    printed = compare(lines(*HALF[:n]), lines(*b)).out
    title, _, head, _, *both = printed.splitlines()[:6]
    cells = [[x.strip() for x in line.split("|")[1:-1]] for line in (head, *both)]
    score_a = "50.0" if n > 1 else "0.0"
    figures = [score_a, score_b, difference, p_value, better]
    assert title == "## a (a) and b (b)"
    assert cells == [
        ["benchmark", "score", "a", "b", "a - b [95 % interval]", "p", "better"],
        ["tot_arithmetic", "published", *figures],
        ["", "flexible", *figures],
    ]
    prose = [line for line in printed.splitlines() if not line.startswith("|")]
    said = " ".join(" ".join(prose).split())
    rows_text = f" of Test of Time ({n} rows instead of 1,850), {n} documents in {n} cl"
    assert said.count(" rows instead of ") == 1 and rows_text in said
    assert power in said if power else "such test" not in said
    assert (EXCLUDES_0 in said) == (case == "nearly")
    assert max(map(len, prose)) <= 94


def test_a_test_is_the_same_whichever_run_is_named_first(rows):
    """Also near the end of the scale, where one run has no room to be better."""
    runs = lines(*[RIGHT] * 38, NONE, NONE), lines(*[RIGHT] * 36, *[NONE] * 4)
    (there, *_), (back, *_) = rows(*runs), rows(*runs[::-1])
    assert there["detectable"] == back["detectable"] > 0.1
    assert (there["low"], there["high"]) == (-back["high"], -back["low"])
    assert there["a"] - there["b"] == pytest.approx(there["difference"])
    assert (there["p_holm"], there["better"]) == (back["p_holm"], back["better"])


def test_the_order_of_lines_changes_nothing(compare):
    runs = lines(*[RIGHT, WRONG, NONE] * 9), lines(*[FLEXIBLE, NONE, RIGHT] * 9)
    printed = set()
    for seed in range(3):
        for run in runs:
            random.Random(seed).shuffle(run)
        printed.add(compare(*runs, options=("--detail",)).out)
    assert len(printed) == 1


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_copies_of_a_document_are_compared_one_to_one(rows, repeated, ids):
    """TimeBench has 100 documents twice in MenatQA."""
    more = {"doc": repeated} if ids else {"doc": repeated, "doc_id": None}
    a = lines(RIGHT, WRONG, NONE, RIGHT, **more)
    b = lines(WRONG, RIGHT, NONE, RIGHT, **more)
    random.Random(2).shuffle(b)
    row = rows(a, b)[0]
    assert (row["n"], row["clusters"], row["difference"]) == (4, 1, 0)
    # Which copy is which is known by the ids alone; else those of equal scores are paired.
    assert (row["design_effect"] < 1) is ids


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
def test_the_name_of_a_run_is_escaped(tmp_path, capsys, form):
    odd = "\x1b[31m|\ud800\r\n\u202e<b>`" + "x" * 500_000
    path = write(tmp_path / "x.jsonl", *lines(RIGHT, NONE))
    options = ("--detail", "--format", form)
    assert main(["compare", f"{odd}={path}", f"b={path}", *options]) == 0
    text = capsys.readouterr().out
    text.encode("utf-8")
    assert len(text) < 20_000
    assert form != "markdown" or text.replace("\n", "").isprintable()


def test_runs_over_different_documents_are_refused_by_name(compare):
    a, b = lines(*[RIGHT] * 5), lines(*[WRONG] * 5)
    b[3]["doc"] = doc(30)
    *said, fix = compare(a, b[1:], status=1).err.splitlines()
    assert [re.sub(r" \(\w{12}\)", "", line) for line in said] == [
        "tot_arithmetic: a has no answer to 1 of 6 documents: 3",
        "tot_arithmetic: b has no answer to 2 of 6 documents: 0, 3",
    ]
    assert "--common" in fix
    common = compare(a, b[1:], options=("--common", "--format", "json"))
    assert [row["n"] for row in json.loads(common.out)] == [3] * 2
    assert common.err.splitlines() == said
    (said, _) = compare(lines(*[RIGHT] * 90), a[:2], status=1).err.splitlines()
    assert "b has no answer to 88 of 90 documents: 2 (" in said
    assert said.count("(") == 10 and len(said) < 500


def test_copies_that_a_run_lacks_are_one_document_of_an_error(compare, repeated):
    a = [line | {"doc_id": None} for line in lines(RIGHT, WRONG, NONE)]
    a[1]["doc"] = a[2]["doc"] = repeated
    digest = scorer(TASK).utils.digest(repeated).hex()[:12]
    said = compare(a, a[:1], status=1).err
    assert said.startswith(f"{TASK}: b has no answer to 1 of 2 documents: ({digest})\n")


def test_documents_are_paired_by_their_text_whatever_their_ids_and_named_in_short(
    compare, rows
):
    a, b = lines(RIGHT, NONE), lines(RIGHT, RIGHT)
    for line in b:
        line["doc_id"] = "x" * 500 + f"{line['doc_id']}"
    row = rows(a, b)[0]
    assert (row["n"], row["a"], row["b"]) == (2, 0.5, 1)
    said = compare(a[:1], b, status=1).err
    assert f"a has no answer to 1 of 2 documents: '{'x' * 59} (" in said


def test_a_part_of_a_benchmark_has_its_number_of_tasks_in_its_title(compare):
    run = recorded("timebench_mctaco") + recorded("timebench_tracie")
    assert "| TimeBench (2 tasks) |" in compare(run, run, options=PACK).out


def test_large_counts_of_a_report_have_commas_and_each_scope_one_line():
    row = {
        "scope": "S",
        "n": 2800,
        "clusters": 1200,
        "score": "flexible",
        "better": "a",
    }
    row |= dict.fromkeys(("a", "b", "low", "high", "difference", "p_holm"), 0.5)
    rows = [row | {"run_a": "a", "run_b": name} for name in "bc"]
    text = comparing.report(rows, {"S": "T"}, Layout.of(io.StringIO()))
    assert text.count("- S, 2,800 documents in 1,200 clusters.\n") == 1


def test_a_claim_of_recall_names_the_run_that_it_is_of(monkeypatch):
    claim = lambda row, name: f"{name} recalls {row['task']}."  # noqa: E731
    monkeypatch.setattr(comparing, "recall_sentence", claim)
    models = [Namespace(name=name, tasks={}) for name in "ab"]
    claims = [{"run": name, "task": name.upper()} for name in "ab"]
    for detail in (False, True):
        options = Namespace(detail=detail, format="markdown", show=2)
        text = comparing._text(options, [{}, {}], models, claims)
        assert text.split("\n\n") == ["- a recalls A.", "- b recalls B.\n"]


def test_each_two_of_three_runs_have_their_documents_shown(compare):
    runs = (
        lines(RIGHT, WRONG, RIGHT),
        lines(WRONG, RIGHT, RIGHT),
        lines(RIGHT, *[NONE] * 2),
    )
    shown = compare(*runs, options=("--show", 9)).out.partition("## Right by one")[2]
    sections = shown.split("## Right by one")
    figures = [
        (*re.findall(r"(\w) \([ab]\)", section), *re.findall(r"(\d+) \|", section))
        for section in sections
    ]
    assert figures == [
        *(("a", "b", "1", "1"), ("a", "c", "1", "0"), ("b", "c", "2", "1")),
    ]


def test_all_documents_are_shown_in_turn_and_long_texts_in_part(tmp_path, capsys):
    long = f'{{"answer": "{"8" * 99}"}}'
    runs = {"n" * 99: lines(*[RIGHT] * 3, long), "b": lines(*[WRONG] * 4)}
    command = ["compare", "--show", "9"]
    for name, run in runs.items():
        run[3]["doc"] |= {"question_type": "rare", "label": long}
        command.append(f"{name}={write(tmp_path / name[0], *run)}")
    assert main(command) == 0
    shown = capsys.readouterr().out.partition("## Right by one")[2]
    assert re.findall(r"(?m)^- document (\d)", shown) == ["0", "3", "1", "2"]
    _, _, listed = shown.partition("- document 0")
    for letter, most in (("n", 20), ("8", 60)):
        assert letter * 20 in listed and letter * (most + 1) not in listed


@pytest.mark.parametrize(("lacking", "has_more"), [(10, False), (11, True)])
def test_an_error_says_whether_it_names_all_documents(compare, lacking, has_more):
    run = lines(*[RIGHT] * (lacking + 1))
    (said, _) = compare(run, run[:1], status=1).err.splitlines()
    assert f"no answer to {lacking} of" in said
    assert said.endswith(", ...") == has_more


def test_question_types_with_as_many_documents_stand_by_name(compare):
    a, b = lines(RIGHT, RIGHT), lines(WRONG, WRONG)
    for line, question_type in zip((*a, *b), "zaza"):
        line["doc"] = line["doc"] | {"question_type": question_type}
    printed = compare(a, b, options=("--show", 2)).out
    assert re.findall(r"(?m)^\| tot_arithmetic (\w) ", printed) == ["a", "z"]


@pytest.mark.parametrize("ids", [(False, False), (False, True), (True, True)], ids=str)
def test_which_copy_has_no_partner_is_told_by_ids_alone(compare, rows, repeated, ids):
    """Else the worse ones would be compared, or the first ones."""
    a, b = lines(RIGHT, WRONG, RIGHT, NONE), lines(WRONG, RIGHT, RIGHT, NONE)[1:]
    for answers, has_ids in zip((a, b), ids):
        for answer in answers:
            answer["doc"] = doc(2) if answer["doc_id"] == 3 else repeated
            answer["doc_id"] = answer["doc_id"] if has_ids else None
    said = compare(a, b, status=1).err
    row = rows(a, b, options=("--common",))[0]
    assert said.startswith(f"{TASK}: b has no answer to ")
    figures = (3, 1 / 3, 2 / 3) if all(ids) else (1, 0, 0)
    assert (row["n"], row["a"], row["b"]) == figures


def test_a_task_that_one_run_lacks_is_named(compare, rows):
    a, b = lines(RIGHT), recorded("tcp_long")
    said = compare(a, b, options=(*PACK, "--common"), status=1).err
    assert "tcp_long: a has no answer to 8 of 8" in said
    assert said.endswith("\na, b: have no scored document in common\n")
    scopes = {row["scope"] for row in rows(a + b, b, options=(*PACK, "--common"))}
    assert scopes == {"tcp_long, 1 of 2 tasks of TCP (8 rows instead of 300)"}


COMMANDS = [
    ("compare x=a.jsonl", 1, "x: is the only run"),
    ("compare a.jsonl b.jsonl --show 0", 2, "--show"),
    ("compare a.jsonl nowhere.jsonl", 1, "directory; check the path"),
    ("compare a.jsonl b=c.jsonl", 1, "c.jsonl, line 2: is a second answer to docu"),
    ("leaderboard a.jsonl", 2, "give --html, --csv or --json"),
    ("leaderboard --csv x.csv a=bad.jsonl", 1, "bad.jsonl: left out: line 1: "),
    ("leaderboard --csv folder a.jsonl", 1, "folder"),
    ("leaderboard --csv a.jsonl a.jsonl", 1, "a.jsonl"),
    ("leaderboard --html x.html a=pipe", 1, "pipe: left out: is a pipe or a device"),
]


@pytest.mark.parametrize(("command", "status", "expected"), COMMANDS)
def test_a_command_that_cannot_be_done_ends_in_one_line(
    tmp_path, monkeypatch, capsys, command, status, expected
):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        write(tmp_path / f"{name}.jsonl", *lines(RIGHT))
    write(tmp_path / "bad.jsonl", "<html>")
    write(tmp_path / "c.jsonl", *lines(RIGHT) * 2)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    assert main(command.split()) == status
    said = capsys.readouterr().err
    assert expected in said and said.count("\n") == 1
    assert not [*tmp_path.glob("x.*")]


def test_answers_are_counted_and_so_are_the_tests(compare):
    a = [x | {"sample": n} for n in range(2) for x in lines(NONE, RIGHT)]
    a[0]["finish_reason"] = "length"
    for run in (a, b := [x | {"task": f"{TASK}_separate"} for x in a]):
        run += [x | {"sample": 7} for x in run[:2]]
    printed = compare(a + b, a + b, options=("--detail",))
    # Two tasks of two benchmarks, each with three answers to two documents.
    assert "a: 4 of 12 answers (33.3 %) were cut off by the token limit" in printed.err
    assert "at least one of the 4 rows calls" in " ".join(printed.out.split())


def test_documents_that_one_run_has_right_are_shown_by_question_type(compare):
    """By the flexible rule; what both have right, or neither, is left out."""
    a, b = (
        lines(RIGHT, WRONG, FLEXIBLE, NONE, RIGHT),
        lines(WRONG, RIGHT, RIGHT, WRONG, NONE),
    )
    for line in (a[1], b[1]):
        line["doc"] = line["doc"] | {"question_type": "odd|\x1b[31m"}
    a[1]["response"] = '{"answer": "\x1b[2J|2"}'
    printed = compare(a, b, options=("--show", 2)).out
    _, _, shown = printed.partition(
        "## Right by one, wrong by the other: a (a), b (b)\n"
    )
    table, documents = shown.strip().split("\n\n")[:2]
    cells = [[x.strip() for x in line.split(" | ")] for line in table.splitlines()]
    assert cells[2:] == [
        ["| tot_arithmetic trick", "2", "0 |"],
        [r"| `tot_arithmetic odd\|\x1b[31m`", "0", "1 |"],
    ]
    first, right, wrong, second, *others = documents.splitlines()
    assert first.startswith("- document 0 (")
    assert right.startswith("  - a: right, ")
    assert wrong.startswith("  - b: other_value, ")
    assert second.startswith("- document 1 (") and len(others) == 2
    assert others[0].startswith("  - b: right, ")
    assert printed.replace("\n", "").isprintable()
    equal = compare(a, a, options=("--show", 2)).out
    assert "There is no such document, by the flexible rule." in equal


def test_an_answer_that_is_partly_right_is_shown_as_no_right_one(tmp_path, capsys):
    doc = {"question": "How long?", "context": "C", "options": ["a", "b"]}
    doc |= {"letters": ["A", "B"]}
    for name, letters in (("part", "A"), ("none", "C"), ("right", "A, B")):
        line = {"task": "timebench_mctaco", "doc": doc}
        line["response"] = f"Thus, the correct answer is: {letters}"
        write(tmp_path / name, line)
    for names, is_shown in ((("part", "none"), False), (("right", "part"), True)):
        capsys.readouterr()
        main(["compare", *(f"{n}={tmp_path / n}" for n in names), "--show", "2"])
        printed = capsys.readouterr().out
        assert ("There is no such document" in printed) == (not is_shown)


def test_a_terminal_gets_its_width_and_no_marks(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    stream = io.StringIO()
    assert Layout.of(stream).heading("a") == "## a"
    stream.isatty = lambda: True
    layout = Layout.of(stream)
    assert layout.heading("a") == "\x1b[1ma\x1b[0m"
    assert layout.fault("Fault in a").startswith("\x1b[1m\x1b[31mFault\x1b[0m in")
    assert max(map(len, layout.paragraph("word " * 40).splitlines())) <= 50
    assert layout.data("`x\x1b[2J|`") == r"`x\x1b[2J|`"
    assert "|" not in layout.table([{"a": 1}])
    for variable, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as context:
            context.setenv(variable, value)
            assert Layout.of(stream).heading("a") == "a"
