"""`temporal-eval compare`: the figures are right, the documents the same, no surprise."""

import json
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel
from statsmodels.stats.multitest import multipletests

from tests.answers import write
from tests.conftest import EXAMPLES
from utils.__main__ import main
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.runs import tally
from utils.runs.answers import read_answers
from utils.runs.scoring import score


TASK = "tot_arithmetic"
PACK = ("--include_path", EXAMPLES)
RIGHT, WRONG, NONE = '{"answer": "1"}', '{"answer": "2"}', "no\nidea"
FLEXIBLE = '{"answer": "1."}'  # which only the flexible rule takes for 1


def doc(number: int) -> dict:
    """Return a document of ToT arithmetic whose answer is 1."""
    question = f"How many are {number} without {number - 1}?"
    return {"question": question, "question_type": "trick", "label": "{'answer': '1'}"}


def lines(*responses: str, **more: object) -> list[dict]:
    return [
        {"task": TASK, "doc_id": n, "doc": doc(n), "response": response} | more
        for n, response in enumerate(responses)
    ]


def recorded(task: str) -> list[dict]:
    return read_jsonl(EXAMPLES / "responses" / "careful" / f"{task}.jsonl")


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


PUBLISHED = ("--metrics", "published")


@pytest.fixture
def repeated(monkeypatch) -> dict:
    """A document that the benchmark holds four times."""
    known = {scorer(TASK).utils.digest(doc(1)): 4}
    monkeypatch.setattr(tally, "rows_of", lambda _, x: known.get(x, 1))
    return doc(1)


def test_figures_of_real_answers_are_those_of_the_ordinary_tests(shared, rows):
    """Models on ToT arithmetic, of which each document is a cluster of its own."""
    paths = sorted((shared / "responses").glob("*.jsonl"))[:2]
    scores = [
        {x.digest: x.verdict.scores for x in map(score, read_answers(path, TASK))}
        for path in paths
    ]
    found = rows(*paths, options=("--task", TASK))
    assert len(found) == 3
    for row in found:
        a, b = ([run[key][row["metric"]] for key in sorted(run)] for run in scores)
        test, differences = ttest_rel(a, b), np.subtract(a, b)
        assert row["n"] == row["clusters"] == len(a) == 1016
        assert (row["a"], row["b"]) == pytest.approx((np.mean(a), np.mean(b)))
        assert row["difference"] == pytest.approx(np.mean(differences))
        assert (row["low"], row["high"]) == pytest.approx(test.confidence_interval())
        assert row["p"] == pytest.approx(test.pvalue)
        better = (int(np.sum(differences > 0)), int(np.sum(differences < 0)))
        assert (row["a_better"], row["b_better"]) == better
        exact = binomtest(better[0], sum(better)).pvalue
        assert row["mcnemar"] == pytest.approx(exact)
        assert 2.7 < row["detectable"] / row["standard_error"] < 2.9


def test_holm_takes_all_tasks_and_pairs_of_a_metric(rows):
    draw, runs = random.Random(3), []
    for skill in (0.2, 0.5, 0.7):
        said = [RIGHT if draw.random() < skill else NONE for _ in range(70)]
        runs.append(lines(*said[:40]) + lines(*said[40:], task=f"{TASK}_separate"))
    found = rows(*runs)
    for metric in (*scorer(TASK).headline, "extracted"):
        those = [row for row in found if row["metric"] == metric]
        assert {row["tests"] for row in those} == {len(those)} == {6}
        larger = [max(row["p"], row["mcnemar"]) for row in those]
        expected = multipletests(larger, method="holm")[1]
        assert [row["holm"] for row in those] == pytest.approx([*expected])
    published = [row for row in found if row["metric"] == scorer(TASK).headline[0]]
    assert rows(*runs, options=PUBLISHED) == published


def test_published_metrics_of_any_name_are_one_family(rows):
    named = "tcp_long", "tot_semantic", "timebench_mctaco", "timebench_situatedgen"
    run = [line for task in named for line in recorded(task)]
    found = rows(run, run, options=PACK)
    tasks = {row["task"] for row in found}
    pairs = [pair for task in tasks if (pair := scorer(task).headline)]
    assert len(pairs) == len(tasks) - 1  # SituatedGen has neither
    for row in found:
        is_headline = any(row["metric"] in pair for pair in pairs)
        if is_headline or row["metric"] == "extracted":
            assert row["tests"] == len(pairs if is_headline else tasks)


def test_answers_that_share_a_question_are_clustered(rows):
    """ToT semantic has each in five orders."""
    runs = []
    for right in ((0, 1, 2, 3, 5, 10), (6, 4)):
        said = ("E1" if n in right else "?" for n in range(15))
        runs.append(lines(*said, task="tot_semantic"))
        for n, row in enumerate(runs[-1]):
            row["doc"] = {"question": f"Q{n // 5}?", "prompt": f"{n}", "label": "E1"}
    random.Random(5).shuffle(runs[0])
    (row,) = rows(*runs, options=("--metrics", "flexible"))
    assert (row["n"], row["clusters"]) == (15, 3)
    # Clusters of one size are three values.
    test = ttest_rel([0.8, 0.2, 0.2], [0.2, 0.2, 0])
    assert row["p"] == pytest.approx(test.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(test.confidence_interval())


def test_errors_are_better_where_they_are_lower(rows):
    form = {"answer_format": "YYYY-MM-DD", "dialogue": ["D"], "question": "When?"}
    line = {"task": "tcp_long", "doc": form | {"answer": "2024-05-01"}}
    a, b = ([line | {"response": rf"\boxed{{2024-05-0{day}}}"}] for day in (2, 1))
    found = {row["metric"]: row for row in rows(a, b, options=("--metrics", "all"))}
    row = found["days_off_absolute"]
    assert (row["a_better"], row["b_better"], row["mcnemar"]) == (0, 1, None)
    row = found["days_off"]
    assert (row["a"], row["a_better"], row["b_better"]) == (1, None, None)


def test_swapped_runs_give_the_mirror_image(rows):
    a, b = lines(*[RIGHT, RIGHT, FLEXIBLE, NONE] * 5), lines(*[RIGHT, NONE, WRONG] * 6)
    swapped = {"a": "b", "b": "a", "a_better": "b_better", "b_better": "a_better"}
    turned = {"difference": "difference", "low": "high", "high": "low"}
    for there, back in zip(rows(a[:18], b), rows(b, a[:18]), strict=True):
        mirrored = back | {one: back[other] for one, other in swapped.items()}
        mirrored |= {one: -back[other] for one, other in turned.items()}
        assert there == pytest.approx(mirrored)


@pytest.mark.parametrize("show", [(), ("--show", TASK)])
def test_the_order_of_lines_changes_nothing(compare, show):
    runs = lines(*[RIGHT, WRONG, NONE] * 9), lines(*[FLEXIBLE, NONE, RIGHT, WRONG] * 7)
    del runs[1][27:]
    seen = set()
    for seed in range(3):
        for run in runs:
            random.Random(seed).shuffle(run)
        seen.add(compare(*runs, options=show).out)
    assert len(seen) == 1


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_copies_of_a_document_are_compared_one_to_one(rows, repeated, ids):
    """TimeBench has 100 documents twice in MenatQA."""
    more = {"doc": repeated} if ids else {"doc": repeated, "doc_id": None}
    a = lines(RIGHT, WRONG, NONE, RIGHT, **more)
    b = lines(WRONG, RIGHT, NONE, RIGHT, **more)
    random.Random(2).shuffle(b)
    (row,) = rows(a, b, options=PUBLISHED)
    assert (row["n"], row["clusters"], row["difference"]) == (4, 1, 0)
    # Which copy is which is known by the ids alone.
    assert (row["a_better"], row["b_better"]) == ((1, 1) if ids else (0, 0))


def test_the_table_has_one_line_a_task_and_metric(compare):
    runs = lines(RIGHT, RIGHT, FLEXIBLE, NONE), lines(RIGHT, WRONG, WRONG, WRONG)
    head, _, _, _, *found, _, caption = compare(*runs).out.splitlines()
    assert head == "a: a, b: b"
    cells = [[cell.strip("` ") for cell in line.split("|")] for line in found]
    assert [x[2] for x in cells] == [*scorer(TASK).headline, "extracted"]
    interval = "-0.4187 to +1.4187"
    assert cells[1][3:9] == ["4", "0.7500", "0.2500", "+0.5000", interval, "0.18"]
    assert cells[1][-2] == "a 2, b 0"
    assert caption.count("1 of ") == 3 and "1 of extracted)" in caption


def test_show_lists_the_documents_that_changed_sides(rows, compare):
    runs = lines(RIGHT, RIGHT, FLEXIBLE, NONE), lines(RIGHT, WRONG, WRONG, RIGHT)
    show = ("--show", TASK)
    found = rows(*runs, options=(*show, "--metrics", "flexible"))
    assert [[*row.values()][3:4] + [*row.values()][5:] for row in found] == [
        [1, 1, 0, "right", "other_value", RIGHT, WRONG, RIGHT],
        [2, 1, 0, "flexible_only", "other_value", RIGHT, WRONG, RIGHT],
        [3, 0, 1, "no_answer", "right", None, RIGHT, RIGHT],
    ]
    assert len(compare(*runs, options=show).out.splitlines()) == 4 + 2 + 3 + 1
    same = compare(runs[0], runs[0], options=show).out
    assert same == "no document changed sides\n"


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
@pytest.mark.parametrize("show", [(), ("--show", TASK)])
def test_what_models_and_files_hold_is_escaped(compare, form, show):
    odd = "\x1b[31m|\ud800\r\n\u202e<b>`" + "x" * 500_000
    a = lines(json.dumps({"answer": odd}), NONE)
    for n, answer in enumerate(a):
        answer["doc_id"] = f"{odd[:20]}{n}"
        answer["doc"] = answer["doc"] | {"question_type": odd}
    b = [answer | {"response": RIGHT} for answer in a]
    text = compare(a, b, options=(*show, "--format", form)).out
    text.encode("utf-8")
    assert len(text) < 20_000
    if form == "markdown":
        assert all(x.isprintable() or x == "\n" for x in text)
        tables = [x.replace("\\|", "") for x in text.splitlines() if x.startswith("|")]
        assert len({line.count("|") for line in tables}) == 1


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
    assert [row["n"] for row in json.loads(common.out)] == [3] * 3
    assert common.err.splitlines() == said
    (said, _) = compare(lines(*[RIGHT] * 90), a[:2], status=1).err.splitlines()
    assert "b has no answer to 88 of 90 documents: 2 (" in said
    assert said.count("(") == 10 and len(said) < 500


@pytest.mark.parametrize("ids", [(False, False), (False, True), (True, True)], ids=str)
def test_which_copy_has_no_partner_is_told_by_ids_alone(compare, rows, repeated, ids):
    """Else the worse ones would be compared, or the first ones."""
    a, b = lines(RIGHT, WRONG, RIGHT, NONE), lines(WRONG, RIGHT, RIGHT, NONE)[1:]
    for answers, has_ids in zip((a, b), ids):
        for answer in answers:
            answer["doc"] = doc(2) if answer["doc_id"] == 3 else repeated
            answer["doc_id"] = answer["doc_id"] if has_ids else None
    said = compare(a, b, status=1).err
    (row,) = rows(a, b, options=("--common", *PUBLISHED))
    lacks = "b has no answer" if all(ids) else "a has another number of answers"
    assert said.startswith(f"{TASK}: {lacks} to ")
    figures = (3, 1 / 3, 2 / 3) if all(ids) else (1, 0, 0)
    assert (row["n"], row["a"], row["b"]) == figures


def test_a_task_that_one_run_lacks_is_named(compare, rows):
    a, b = lines(RIGHT), recorded("tcp_long")
    said = compare(a, b, options=PACK, status=1).err
    assert "tcp_long: a has no answer to 8 of 8" in said
    said = compare(a, b, options=(*PACK, "--common"), status=1).err
    assert said == "a, b: have no document in common\n"
    found = rows(a + b, b, options=(*PACK, "--common"))
    assert {row["task"] for row in found} == {"tcp_long"}


def test_lines_that_cannot_be_scored_are_named_and_the_many_counted(compare):
    a, b = lines(*[RIGHT] * 4), lines(*[RIGHT] * 4)
    b[2]["doc_id"] = 3
    (said,) = compare(a, b, options=("--common",), status=1).err.splitlines()
    assert "b.jsonl, line 4: is a second answer to document 3" in said
    *said, more, none = compare(a, lines(*[None] * 25), status=1).err.splitlines()
    assert len(said) == 10 and more == "b: 15 more lines were refused"
    assert none == "b: has no answer that counts; name another run"


@pytest.mark.parametrize(
    ("command", "status", "expected"),
    [
        ("compare a.jsonl", 1, "is the only run"),
        ("compare a.jsonl b.jsonl --metrics x", 1, "choose from headline, all, pub"),
        ("compare a.jsonl b.jsonl --show tcp_long", 1, "choose from tot_arithmetic"),
        ("compare a.jsonl a.jsonl", 1, "called 'a'"),
        ("compare a.jsonl nowhere.jsonl", 1, "nowhere.jsonl: No such file"),
        ("leaderboard a.jsonl", 2, "give --html, --csv or --json"),
        ("leaderboard --csv x.csv a=bad.jsonl", 1, "bad.jsonl, line 1: "),
        ("leaderboard --html folder a.jsonl", 1, "folder"),
        ("leaderboard --csv a.jsonl a.jsonl", 1, "a.jsonl"),
        ("leaderboard --html x.html a=pipe", 1, "can be read only once"),
    ],
)
def test_a_command_that_cannot_be_done_ends_in_one_line(
    tmp_path, monkeypatch, capsys, command, status, expected
):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        write(tmp_path / f"{name}.jsonl", *lines(RIGHT))
    write(tmp_path / "bad.jsonl", "<html>")
    Path("folder").mkdir()
    os.mkfifo("pipe")
    assert main(command.split()) == status
    said = capsys.readouterr().err
    assert expected in said and said.count("\n") == 1
    assert not [*tmp_path.glob("x.*")]


@pytest.mark.parametrize(("version", "is_said"), [("1.0", True), ("1.1", False)])
def test_versions_with_other_prompts_are_said(compare, tmp_path, version, is_said):
    ours, stamp = str(scorer(TASK).version), "2026-01-01T10-00-00"
    for run, last in {"old": version, "new": ours}.items():
        write(tmp_path / run / f"samples_{TASK}_{stamp}.jsonl", *lines(RIGHT, NONE))
        results = {"versions": {TASK: last}, "model_name": run}
        write(tmp_path / run / f"results_{stamp}.json", results)
    said = compare(tmp_path / "old", tmp_path / "new").err
    told = f"{TASK}: was run in other versions (a {version}, b {ours}); all"
    assert said.startswith(told) if is_said else not said


def test_repeats_and_answers_that_say_nothing_are_counted(compare):
    a = lines(*[NONE] * 3, finish_reason="length")
    a[2]["doc"] = a[0]["doc"]
    b = [answer | {"response": RIGHT, "finish_reason": "stop"} for answer in a]
    one, invalid, two = compare(a, b).err.splitlines()
    for name, said in {"a": one, "b": two}.items():
        start = f"{TASK}: 1 of 3 answers of {name} are to repeats, under other ids, "
        assert said.startswith(start)
    assert invalid.startswith(
        f"{TASK}: 3 of 3 answers of a are invalid: the token limit"
    )
