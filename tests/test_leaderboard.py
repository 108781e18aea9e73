"""The board: its figures are those of `score`, and its page works, whatever a model says."""

import csv
import gzip
import html
import json
import re
from argparse import Namespace
from collections import Counter
from html.parser import HTMLParser
from itertools import permutations, product
from pathlib import Path

import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import write
from tests.browser import FOCUS, FOUND, NAMES, SHOWN, documents_of_page, look, wait_for
from tests.conftest import EXAMPLES, PACK as OWN, ROOT
from tests.logs import sample
from tests.test_tricks import STAMPS, answers, submission
from tests.warm_python import run_module
from utils import leaderboard, stats
from utils.__main__ import main
from utils.core import task_scorers
from utils.core.cli import quoted
from utils.core.documents import documents
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import all_tasks, benchmarks, prompt, scorer
from utils.figures.score_rows import RULES
from utils.integrity.run_checks import FALSE, UNKNOWN, VERIFIED
from utils.leaderboard import (
    board_contents,
    model_status,
    page,
    pictures,
    shown_documents,
)
from utils.verdicts.find_answer_files import Failure
from utils.verdicts.judge_answer import INVALID
from utils.verdicts.page_excerpts import LONGEST_RESPONSE


pytestmark = pytest.mark.usefixtures("judged_here")


PACK = ["--include_path", str(EXAMPLES)]
HOSTILE = [
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\"></textarea><!--",
    "\u2028\u2029\0\x1b[31m\u202e\ud800 ]]> {{ 7 * 7 }} {% raw %} ${7}",
    "Thus, the correct answer is: <b>B</b>" + "x" * 9000,
]
ODD = "=<i>odd</i> | \u202ename\ud800 </script>\r, twenty-nine or more"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[str]:
    """Two models over all tasks; every other answer of the second is the one before."""
    folder = tmp_path_factory.mktemp("runs")
    paths = sorted((EXAMPLES / "responses" / "careful").glob("*.jsonl"))
    good = [row for path in paths for row in read_jsonl(path)]
    responses = [good[n - n % 2]["response"] for n in range(len(good))]
    responses[: len(HOSTILE)] = HOSTILE
    odd = [row | {"response": text} for row, text in zip(good, responses)]
    paths = write(folder / "good", *good), write(folder / "odd", *odd)
    return [f"good={paths[0]}", f"{ODD}={paths[1]}"]


@pytest.fixture(scope="module")
def board(runs, tmp_path_factory) -> Path:
    """The folder with the page, CSV and JSON of the two models, and a page in a folder."""
    folder = tmp_path_factory.mktemp("board")
    forms = [f"--{form}={folder / f'board.{form}'}" for form in ("html", "csv", "json")]
    assert main(["leaderboard", *runs, *PACK, *forms]) == 0
    assert main(["leaderboard", *runs, *PACK, "--html", f"{folder}/all/"]) == 0
    return folder


@pytest.fixture
def text(board) -> str:
    return (board / "board.html").read_text(encoding="utf-8")


@pytest.fixture
def make(tmp_path):
    """A function that makes a board in a form, of name -> answers; returns its text."""

    def make(form: str, runs: dict, *options: str, status: int = 0) -> str:
        path = tmp_path / f"board.{form}"
        command = ["leaderboard", *PACK, f"--{form}={path}"]
        for name, rows in runs.items():
            place = write(tmp_path / name, *rows) if isinstance(rows, list) else rows
            command.append(f"{name}={place}")
        assert main([*command, *options]) == status
        return path.read_text(encoding="utf-8") if path.exists() else ""

    return make


def by_model(text: str) -> dict[str, dict]:
    """Return the first row of each model of a board as JSON."""
    return {row["model"]: row for row in reversed(json.loads(text)) if not row["by"]}


def test_json_and_csv_hold_the_figures_of_score_and_no_formula(board, runs, capsys):
    table = json.loads((board / "board.json").read_text(encoding="utf-8"))
    labels = ("model", "scope", "by", "value")
    row_by_labels = {tuple(row[label] for label in labels): row for row in table}
    for run in runs:
        name, _, path = run.partition("=/")
        name = name.replace("\ud800", r"\ud800")  # half a letter
        capsys.readouterr()
        assert main(["score", f"/{path}", *PACK, "--format", "json"]) == 0
        for row in json.loads(capsys.readouterr().out):
            found = row_by_labels.pop((name, row["task"], row["by"], row["value"]))
            for column in row.keys() - {"run", "task", "filter"}:
                assert found[column] == row[column], (row, column)
    assert {scope for _, scope, *_ in row_by_labels} == {"mean"}
    with open(board / "board.csv", encoding="utf-8", newline="") as file:
        lines = [*csv.DictReader(file)]
    for line, row in zip(lines, table, strict=True):
        for name in ("scope", "n", "published", "flexible_rank"):
            assert line[name] == ("" if row.get(name) is None else str(row[name]))
    # No cell is a formula.
    odd = ODD.replace("\r", "\\r").encode("utf-8", "backslashreplace").decode()
    assert {line["model"] for line in lines} == {"good", f"'{odd}"}


BARE = ("--include_path", str(OWN))  # without rows to compare documents with


def planned(
    n: int, *, wrong: int = 0, task: str = "tcp_long", prefix: str = ""
) -> list[dict]:
    """Return answers to as many made documents of a task; the first ones are wrong."""
    rows = []
    for place in range(n):
        date = f"{2000 + place // 28}-01-{place % 28 + 1:02}"
        doc = {"question": f"What is the time {place} years after?", "answer": date}
        doc |= {"answer_format": "YYYY-MM-DD", "dialogue": [f"A: On {date}."]}
        doc["golds"] = [f"Jan, {2000 + place}"]
        gold_response = scorer(task).utils.gold_response(doc)
        response = prefix + ("none" if place < wrong else gold_response)
        rows.append({"task": task, "doc": doc, "response": response})
    return rows


def test_ranks_are_ranges_and_nobody_is_ranked_alone(make):
    runs = {"a": planned(40), "b": planned(40, wrong=5), "c": planned(40, wrong=30)}
    runs["alone"] = planned(39)
    rows = by_model(make("json", runs, *BARE))
    assert [rows[x]["flexible_rank"] for x in runs] == ["1-2", "1-2", "3-3", None]
    # The pairs of three models, under two rules, in one benchmark.
    assert "at most 6 tests of 3 models" in make("html", runs, *BARE)


LONG = "so " * 20
COPIES = [  # what equal answers begin with, how many there are, and if they are remarked
    *((LONG, 40, True), (LONG, 20, True)),
    *((LONG, 19, False), ("", 40, False)),  # too few, too short
]


@pytest.mark.parametrize(("prefix", "shared", "is_remarked"), COPIES)
def test_equal_answers_are_remarked_and_cost_no_rank(make, prefix, shared, is_remarked):
    rows = planned(40, prefix=prefix)
    rows[0] |= {"response": LONG + rows[0]["response"]}  # one long answer is not enough
    runs = {"a": rows, "copy": rows[:shared], "b": planned(40, wrong=5, prefix=LONG)}
    runs["near copy"] = [*rows[:-1], rows[-1] | {"response": "x" * 90}]
    found = by_model(make("json", runs, *BARE))
    for name, other in (("a", "copy"), ("copy", "a")):
        remark = f"all {shared} answers to shared documents are those of '{other}'"
        assert (remark in found[name]["remarks"]) == is_remarked
    assert "shared" not in found["b"]["remarks"]
    whole = [name for name in runs if len(runs[name]) == 40]
    assert {found[name]["rank_of"] for name in whole} == {len(whole)}
    assert {found[name]["flexible_rank"] for name in whole} == {f"1-{len(whole)}"}


def test_models_are_tested_against_those_that_they_are_ranked_with_alone(
    make, monkeypatch
):
    tests, compared, estimate = [], [], stats.estimate_difference
    honest = {
        "a": planned(30, prefix=LONG),
        "b": planned(30, wrong=7, prefix="b" + LONG),
    }
    others = {f"x{n}": planned(31 + n % 2, wrong=31) for n in range(20)}
    test = lambda *pair: tests.append(pair) or estimate(*pair)  # noqa: E731
    monkeypatch.setattr(stats, "estimate_difference", test)
    compare = lambda *pair: compared.append(pair) or 0  # noqa: E731
    monkeypatch.setattr(model_status, "_count_copied", compare)
    alone, beside = (
        by_model(make("json", x, *BARE)) for x in (honest, honest | others)
    )
    assert {name: beside[name] for name in honest} == alone
    assert alone["a"]["published_rank"] == "1-1"
    # The honest pair on both boards, and the pairs of ten in two groups.
    assert len(tests) == (2 * 1 + 2 * 45) * len(RULES)
    assert not compared


def test_many_copies_are_compared_once(make, monkeypatch):
    compared, count_copied = [], model_status._count_copied
    compare = lambda *pair: compared.append(pair) or count_copied(*pair)  # noqa: E731
    monkeypatch.setattr(model_status, "_count_copied", compare)
    runs = {f"x{number}": planned(30, prefix=LONG) for number in range(12)}
    rows = by_model(make("json", runs, *BARE))
    expected = (
        "all 30 answers to shared documents are those of 'x1', 'x2', 'x3', 8 more"
    )
    assert expected in rows["x0"]["remarks"]
    assert [*rows] == sorted(runs, reverse=True)  # from the last on
    assert len(compared) == 1


def test_models_stand_by_their_first_ranks_not_by_their_mean_score(make):
    runs, timebench = {}, "timebench_date_arithmetic"
    for name, in_tcp, in_timebench in (("a", 40, 0), ("b", 0, 150), ("c", 0, 150)):
        runs[name] = planned(200, wrong=in_tcp)
        runs[name] += planned(200, wrong=in_timebench, task=timebench)
    rows = json.loads(make("json", runs, *BARE))
    rows = [row for row in rows if row["scope"] == "tcp_long" and not row["by"]]
    assert [row["model"] for row in rows] == ["b", "c", "a"]
    assert {row["status"] for row in rows} == {"not verified"}
    assert "there are no rows to compare them with" in rows[0]["remarks"]


def test_a_few_rows_stand_below_many(make):
    """Not even by a perfect score, or by ranks among runs of the same few rows."""
    honest = recorded_runs(("tot_arithmetic",))
    runs = {name: honest["careful"][:2] for name in ("few", "few again")}
    runs |= {"half": honest["hasty"][: len(honest["hasty"]) // 2]}
    runs |= {"whole": honest["hasty"]}
    rows = by_model(make("json", runs))
    assert [*rows] == ["few again", "few", "half", "whole"]  # from the last on
    assert rows["few"]["flexible"] > rows["half"]["flexible"] > 0
    assert rows["few"]["rank_of"] == 2


def test_a_status_and_a_group_of_ranks_are_of_a_benchmark(make, tmp_path):
    """A run that is not ranked in one of them, and stands first, is verified in others."""
    runs = {"a": tmp_path / "a", "b": tmp_path / "b"}
    for name, claimed_seed in (("a", 2), ("b", 1)):
        submission(runs[name], "plain", {"tasks": ["tcp_long", "tcp_short"]})
        for path in fresh(tmp_path / "fresh", gen_seed=claimed_seed).iterdir():
            path.rename(runs[name] / path.name.replace(STAMPS[0], STAMPS[1]))
    rows = [row for row in json.loads(make("json", runs)) if not row["by"]]
    status_by_place = {(row["model"], row["scope"]): row["status"] for row in rows}
    for scope in ("tcp", "tcp_long"):
        assert status_by_place["a", scope] == status_by_place["b", scope] == "verified"
    assert status_by_place["a", "fresh"] == "not ranked"
    assert status_by_place["b", "fresh"] == "verified"
    groups = {
        row["rank_group"].partition(" #")[0] for row in rows if row.get("rank_of")
    }
    assert groups == {"verified"}
    page = make("html", runs)
    assert '<span class="tag">not ranked in Fresh</span>' in re.sub(r"\s+<", "<", page)


def test_a_mean_has_the_worst_status_of_its_benchmarks(make, tmp_path):
    submission(tmp_path / "a", "plain", {"tasks": ["tcp_long", "tcp_short"]})
    in_tot = {"tasks": ["tot_arithmetic", "tot_semantic"], "prompt": "Say hi."}
    submission(tmp_path / "a", "plain", in_tot | {"name": "org/a"}, 1)
    text = make("json", {"a": tmp_path / "a"})
    rows = [row for row in json.loads(text) if not row["by"]]
    status_by_scope = {row["scope"]: row["status"] for row in rows}
    assert status_by_scope["tcp"] == "verified"
    assert status_by_scope["tot"] != "verified"
    assert status_by_scope["mean"] == status_by_scope["tot"]


def test_a_benchmark_outside_of_the_mean_changes_no_status_of_it(make, tmp_path):
    """Fresh rows are no public benchmark; theirs are not those that results claim."""
    tasks = ["tcp_long", "tcp_short", "tot_arithmetic", "tot_semantic"]
    submission(tmp_path / "a", "plain", {"tasks": tasks})
    for path in fresh(tmp_path / "fresh", gen_seed=2).iterdir():
        path.rename(tmp_path / "a" / path.name.replace(STAMPS[0], STAMPS[1]))
    rows = [x for x in json.loads(make("json", {"a": tmp_path / "a"})) if not x["by"]]
    status_by_scope = {row["scope"]: row["status"] for row in rows}
    assert status_by_scope["fresh"] == "not ranked"
    assert status_by_scope["mean"] == status_by_scope["tot"] != "not ranked"


def test_runs_of_other_numbers_of_examples_are_not_ranked_together(make, tmp_path):
    for name, shot_count in (("a", 3), ("b", 5), ("c", 5)):
        edit = {"tasks": ["tcp_long"], "by_task": {"n-shot": shot_count}}
        submission(tmp_path / name, "plain", edit)
    rows = by_model(make("json", {name: tmp_path / name for name in "abc"}))
    assert {row["status"] for row in rows.values()} == {"not verified"}
    assert [rows[name].get("rank_of") for name in "abc"] == [None, 2, 2]


def recorded_runs(tasks: tuple[str, ...]) -> dict[str, list[dict]]:
    """Return model -> its recorded answers to tasks of the examples."""
    folders = sorted((EXAMPLES / "responses").iterdir())
    return {
        folder.name: [
            row for task in tasks for row in read_jsonl(folder / f"{task}.jsonl")
        ]
        for folder in folders
    }


def test_what_others_answer_changes_no_mean_and_no_order(make):
    """Not even an answer to a benchmark that nobody else has."""
    in_tcp = ("tcp_short", "tcp_long")
    honest = recorded_runs((*in_tcp, "tot_arithmetic", "tot_semantic"))
    honest["in one"] = recorded_runs(in_tcp)["hasty"]
    honest["in parts"] = recorded_runs(("tcp_short", "tot_arithmetic"))["hasty"]
    others = {"another": recorded_runs(("timebench_tracie",))["plain"][:1]}
    others["three"] = honest["plain"][:1] + others["another"] + honest["plain"][-1:]
    alone, beside = (
        [row for row in json.loads(make("json", runs)) if row["model"] in honest]
        for runs in (honest, others | honest)
    )
    assert alone == [row | {"remarks": row["remarks"]} for row in beside]
    means = [row for row in alone if row["scope"] == "mean"]
    assert [row["model"] for row in means] == ["careful", "hasty", "plain"]
    assert {(row["tasks"], row["rank_of"]) for row in means} == {("tcp, tot", 3)}


TWINS = "twin_tot_arithmetic"


def twins_of(rows, words=""):
    """Return answers to public rows as answers to twins, with words in front."""
    docs = documents("tot_arithmetic", EXAMPLES)
    return [
        {"task": TWINS, "doc": docs[x["doc_id"]], "response": words + x["response"]}
        for x in rows
    ]


def test_who_answered_twins_alone_stands_whatever_others_answer(make):
    recorded = recorded_runs(("tot_arithmetic",))
    honest = {"a": twins_of(recorded["hasty"]), "b": twins_of(recorded["careful"])}
    others = {"public": recorded_runs(("tcp_short",))["plain"][:1]}
    alone, beside = (
        [row for row in json.loads(make("json", runs)) if row["model"] in honest]
        for runs in (honest, others | honest)
    )
    assert alone == beside
    assert [row["model"] for row in alone if not row["by"]] == ["b", "a"]


def test_a_run_of_twins_alone_changes_nothing_of_those_that_answered_more(make):
    recorded = recorded_runs(("tot_arithmetic",))
    honest = {name: [*rows, *twins_of(rows)] for name, rows in recorded.items()}
    others = {
        "twins": twins_of(recorded["hasty"], "So: "),
        "more twins": twins_of(recorded["careful"], "So: "),
    }
    alone, beside = (
        [row for row in json.loads(make("json", runs)) if row["model"] in honest]
        for runs in (honest, honest | others)
    )
    assert alone == beside
    page_text = make("html", honest | others)
    _, _, rest = page_text.partition(f'<section id="{TWINS}"')
    section, _, _ = rest.partition("</section>")
    assert "more twins" in section
    assert not any(f'title="{model}"' in section for model in honest)


def test_a_mean_counts_the_documents_and_answers_of_all_its_benchmarks(make):
    rows = recorded_runs(("tcp_long", "tcp_short", "tot_arithmetic", "tot_semantic"))
    again = [row | {"sample": number} for row in rows["hasty"] for number in range(2)]
    board = json.loads(make("json", {"a": again}))
    figures = {row["scope"]: row for row in board if not row["by"]}
    for column in ("n", "answers", *INVALID):
        counts = [figures[benchmark][column] for benchmark in ("tcp", "tot")]
        assert figures["mean"][column] == sum(counts)
    assert figures["mean"]["answers"] == 2 * figures["mean"]["n"] > 0
    for column in ("extracted", *RULES):
        shares = [figures[benchmark][column] for benchmark in ("tcp", "tot")]
        assert figures["mean"][column] == pytest.approx(sum(shares) / 2)
        assert shares[0] != shares[1]
    for rule in RULES:
        low, high = (figures["mean"][f"{rule}_{end}"] for end in ("low", "high"))
        assert low < figures["mean"][rule] < high


def reference(name: str, score: float, source: str, setting: str = "", rows: int = 38):
    """Return what somebody scored on the recorded rows of ToT arithmetic."""
    texts = {"name": name, "kind": "paper", "source": source, "setting": setting}
    return texts | {"tasks": ["tot_arithmetic"], "rows": rows, "score": score}


def test_a_table_of_scores_shows_references_with_their_sources(make, monkeypatch):
    """So does the page of a single benchmark, which has no other use for the table."""
    runs = {"a": recorded_runs(("tot_arithmetic",))["hasty"]}
    table = '<table class="scores filtered">'
    assert table not in make("html", runs)
    rows = [("X", 0.95432, "S", "as asked"), ("Y", 0.6, "S"), ("Z", 0.5, "T")]
    known = [reference(*row) for row in rows] + [reference("W", 0.4, "U", rows=39)]
    monkeypatch.setattr(pictures, "_REFERENCES", known)
    text = make("html", runs)
    shown = text.partition(table)[2].partition("</section>")[0]
    pattern = 'title="([^"]*)">([W-Z]) <small>paper</small></th><td class="num">([^<]*)'
    assert re.findall(pattern, shown) == [
        *(("S; as asked", "X", "95.4"), ("S", "Y", "60.0"), ("T", "Z", "50.0")),
    ]
    assert "what papers report on these rows (S, T). They are not ranked." in shown
    limits = re.findall(r'class="limit" x1="([\d.]+)%"', shown)
    assert limits[1:] == ["95.4", "60.0", "50.0"]


def test_a_summary_names_the_benchmarks_of_a_mean_as_a_sentence_does(text):
    titles = "TCP, TimeBench and Test of Time"
    assert f"Averaged over {titles}, the model" in summary_of(text)


def test_one_model_is_spoken_of_in_the_singular(make):
    text = make("html", {"a": planned(30)}, *BARE)
    assert "right: 1 model on TCP." in text
    assert "<dd>1 run, 30 answers, each scored again</dd>" in text
    assert "<span>all names: by the maker of the board</span>" in text
    assert 'class="named"' not in text
    assert "There are not two models to rank." in text
    several = make("html", {"a": planned(30), "b": planned(29)}, *BARE)
    assert "right: 2 models on TCP." in several and "<dd>2 runs, 59 answers" in several


@pytest.mark.parametrize(("wrong", "is_below"), [(29, False), (30, True)])
def test_a_model_as_good_as_the_constant_answer_is_not_below_it(make, wrong, is_below):
    text = make("html", {"a": planned(30, wrong=wrong)}, *BARE)
    assert (">below the constant answer</span>" in text) == is_below


def test_cells_of_fewer_than_twenty_rows_are_set_apart_and_shades_end_with_nine(make):
    docs = [
        {
            "question": f"How many are {'x' * number} and one?",
            "question_type": "many" if number < 20 else "fewer",
            "label": "{'answer': '1'}",
        }
        for number in range(39)
    ]
    line = {"task": "tot_arithmetic", "response": '{"answer": "1"}'}
    text = make("html", {"a": [line | {"doc": doc} for doc in docs]}, *BARE)
    table = text.partition('<table class="heat filtered">')[2].partition("</table>")[0]
    assert re.findall(r'title="(\w+)">\w+<br>(\d+)', table) == [
        *(("fewer", "19"), ("many", "20")),
    ]
    classes = re.findall(r'<td class="([^"]*)" data-v="1.0">', table)
    assert classes == ["few h9", "h9"]


def test_a_page_gives_the_whole_reason_why_a_file_is_left_out(make, tmp_path, capsys):
    for letter in "bc":
        write(tmp_path / "m" / f"{letter * 200}.jsonl", REFUSED)
    text = make("html", {"a": planned(3), "m": tmp_path / "m"}, *BARE, status=1)
    listed = text[text.index('<section id="left-out"') :].partition("</section>")[0]
    [reason] = re.findall(r'<td class="why">([^<]*)</td>', listed)
    assert f": left out: {html.unescape(reason)}\n" in capsys.readouterr().err
    assert len(reason) > 200
    assert '<a href="#left-out">1 left out</a>' in text


def test_a_page_in_a_folder_says_where_all_documents_are(board, text):
    folder_text = (board / "all" / "index.html").read_text(encoding="utf-8")
    count = f"all {len(documents_of_page(text)):,}"
    assert f"{count}, in files beside this page; long texts" in folder_text
    assert f"{count} are in this page; long texts" in text


def test_the_top_table_has_a_column_for_each_benchmark(make):
    """Whatever others answered, none is without."""
    runs = {}
    for task in ("tcp_long", "tcp_short", "tot_arithmetic"):
        row = recorded_runs((task,))["plain"][0]
        doc = documents(task, EXAMPLES)[row["doc_id"]]
        runs[task] = [{"task": f"twin_{task}", "doc": doc, "response": row["response"]}]
    runs["separate"] = [runs["tot_arithmetic"][0] | {"task": "tot_arithmetic_separate"}]
    runs["control"] = [runs["tot_arithmetic"][0] | {"task": f"twin_control_{task}"}]
    runs["public"] = recorded_runs(("tcp_long",))["plain"][:1]
    text = make("html", runs)
    head, _, _ = text.partition("</thead>")
    titles = re.findall(r'scope="colgroup"[^>]*>([^<]*)', head)
    assert len(titles) == 1 + len(runs)  # with that of ranks
    assert TWINS.replace("_", " ") in titles
    for number in range(len(runs)):
        assert f"body:has(#pick{number}:checked) .c{number}" in text


def test_documents_of_a_page_stand_in_the_order_of_their_numbers(make):
    text = make(
        "html", {"a": [row | {"doc_id": n} for n, row in enumerate(planned(12))]}, *BARE
    )
    assert [document["id"] for document in documents_of_page(text)] == [*range(12)]


@pytest.mark.parametrize(("length", "is_cut"), [(28, False), (29, True)])
def test_a_name_of_twenty_eight_letters_is_shown_whole(length, is_cut):
    [shown] = page._shown_names(["n" * length])
    assert ("…" in shown) == is_cut
    assert len(shown) == 28


ALIKE = [  # names, and what a page shows of them
    (["x", "z", "z"], ["x", "z (#2)", "z (#3)"]),
    (["x (#2)", "x", "x"], ["x (#2) (#1)", "x (#2)", "x (#3)"]),
    (["constant answer", "x"], ["constant answer (#1)", "x"]),  # as the tool's row is
    (["x (#12)"], ["x (#12) (#1)"]),  # which there may be, on another board
    (
        ["y" * 30 + "a" + "y" * 30, "y" * 30 + "b" + "y" * 30],
        ["yyyyyyyyyyyy…yyyyyyyyyy (#1)", "yyyyyyyyyyyy…yyyyyyyyyy (#2)"],
    ),
]


@pytest.mark.parametrize(("names", "expected"), ALIKE)
def test_no_two_models_of_a_page_look_alike(names, expected):
    shown = page._shown_names(names)
    assert shown == expected
    assert len({*shown}) == len(names)
    labels = page._shown_names(names, page.LONGEST_LABEL)
    assert len({*labels}) == len(names)
    assert max(map(len, labels)) <= page.LONGEST_LABEL


def test_a_page_calls_each_model_by_one_name_everywhere(make):
    """By one that no other has, even where only the middles of long names differ."""
    task, runs = "fresh_date_arithmetic", {}
    rows = load("date_arithmetic", gen_seed=1, gen_rows=40, gen_levels="1-3")["test"]
    docs = scorer(task).process_docs(rows)
    for number in range(2):
        responses = map(scorer(task).utils.gold_response, docs)
        name = f"careful-{'x' * 30}{number}{'x' * 30}-instruct"
        runs[name] = [
            {"task": task, "doc": doc, "response": response}
            for doc, response in zip(docs, responses)
        ]
    text = make("html", runs, *BARE)
    assert "Score by level" in text
    shown_names = re.findall(r">([^<>{]*\bcare[^<>{]*…[^<>{]*)<", text)
    shown_names += re.findall(r'"(care[^"]*)"', text.partition('id="data">')[2])
    assert len(shown_names) > 20
    assert [name for name in shown_names if not re.search(r" \(#[12]\)", name)] == []


def test_a_name_is_compared_with_those_that_others_give(tmp_path):
    """Not with what becomes of a name that several runs give."""
    for name in ("org/careful", "org/careful", "org/Careful"):
        place = tmp_path / "runs" / f"{len([*tmp_path.glob('runs/*')])}"
        submission(place, "plain", {"name": name, "tasks": ["tcp_long"]})
    path = tmp_path / "board.json"
    command = ["leaderboard", f"{tmp_path}/runs", *PACK, "--json", str(path)]
    assert main(command) == 0
    rows = by_model(path.read_text(encoding="utf-8"))
    assert "the name looks like 'org/careful_(" in rows.pop("org/Careful")["remarks"]
    for row in rows.values():
        assert "2 runs give the name 'org/careful'" in row["remarks"]
        assert "the name looks like 'org/Careful'" in row["remarks"]


def test_copies_that_are_not_ranked_are_remarked_of_each_other(make):
    other_doc = planned(30, prefix=LONG)
    runs = {"a": other_doc, "b": other_doc, "c": planned(30, wrong=3, prefix=LONG)}
    rows = by_model(make("json", runs))  # beside a pack with other documents
    assert {row["status"] for row in rows.values()} == {"not ranked"}
    shared = "all 30 answers to shared documents are those of"
    assert f"{shared} 'b'" in rows["a"]["remarks"]
    assert f"{shared} 'a'" in rows["b"]["remarks"]
    assert shared not in rows["c"]["remarks"]


REMARKS = [  # the tasks of a remark, those of a run, and what is said
    (["a"], ["a"], "x"),
    (["a"], ["a", "b", "c"], "x (a)"),
    (["a", "b"], ["a", "b", "c"], "x (a, b)"),
    (["a", "b", "c"], ["a", "b", "c", "d"], "x (3 tasks)"),
    (["a", "b"], ["a", "b"], "x"),
]


@pytest.mark.parametrize(("tasks", "all_tasks", "said"), REMARKS)
def test_a_remark_names_its_tasks_unless_it_has_all_or_many(tasks, all_tasks, said):
    remarks = [("x", task) for task in tasks]
    assert [*model_status._by_task(remarks, all_tasks)] == [said]


TCP = Namespace(name="tcp", tasks=("tcp_long", "tcp_short"))


def checked(**changes: object) -> dict:
    """Return what was checked of a task that was run as it is, but for changes."""
    check = {
        aspect: {"status": VERIFIED, "text": "all"} for aspect in model_status.ASPECTS
    }
    check["documents"]["whole"] = True
    check["prompts"] |= {"addition": "", "frame_digest": "f"}
    card = {"Model": "a", "Date": "a", "Limit": "a", "Generation": "a", "Harness": "a"}
    check |= {"version": None, "few_shot": 0, "filter": "none", "marks": []}
    check |= {"card": card, "settings": "s"}
    for key, change in changes.items():
        check[key] = check[key] | change if isinstance(change, dict) else change
    return check


UNLIKE = [  # what the second of two files has otherwise, and what is said of it
    ({"card": {"Model": "b", "Date": "b", "Limit": "b"}}, None),
    ({"card": {"Generation": "b"}}, "the settings differ between files (generation)"),
    (
        {"card": {"Generation": "b", "Harness": "b"}, "settings": "t"},
        "the settings differ between files (generation, harness)",
    ),
    ({"settings": "t"}, "the settings differ between files (as logged)"),
    (
        {"prompts": {"frame_digest": "g"}, "settings": "t"},
        "what stands around the prompts differs between files",
    ),
]


@pytest.mark.parametrize(("second", "said"), UNLIKE)
def test_two_files_of_a_run_are_alike_but_for_their_model_date_and_limit(second, said):
    pair = checked(), checked(**second)
    joined = model_status._joined(*pair, "tcp_long")["prompts"]
    assert joined["status"] == (UNKNOWN if said else VERIFIED)
    assert joined["text"] == (said or "all")


@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_files_the_worse_is_what_was_checked_of_their_task(is_first):
    fault = {"status": UNKNOWN, "text": "unknown"}
    worse = checked(prompts=fault, responses=fault, version="0.1", marks=["x", "y"])
    worse |= {"settings": "t"}
    better = checked(version=str(scorer("tcp_long").version), marks=["x"])
    pair = (worse, better) if is_first else (better, worse)
    joined = model_status._joined(*pair, "tcp_long")
    for aspect in ("prompts", "responses"):
        assert fault.items() <= joined[aspect].items()
    documents_check = {"status": VERIFIED, "text": "documents in several files"}
    assert joined["documents"] == documents_check | {"whole": False}
    assert (joined["version"], joined["marks"]) == ("0.1", ["x", "y"])
    foreign = checked(documents={"status": FALSE, "text": "other rows"})
    joined = model_status._joined(checked(), foreign, "tcp_long")
    assert joined["documents"]["text"] == "other rows"


def standing_of(
    first: dict,
    refused: dict,
    first_tally: dict | None = None,
    group: Namespace = TCP,
) -> model_status.Standing:
    """Return how a model stands in TCP, by what was checked of its first task."""
    tally = {"fingerprint": "f", "surplus": 0}
    counts = Namespace(all=Namespace(counts=Counter(), answers=9))
    tallies = [Namespace(**vars(counts) | tally | (first_tally or {}))]
    tallies += [Namespace(**vars(counts) | tally)]
    entrant = Namespace(
        answered=lambda _: TCP.tasks,
        model=Namespace(refused=Counter(refused), tasks=dict(zip(TCP.tasks, tallies))),
        task_checks=dict(zip(TCP.tasks, (checked(**first), checked()))),
    )
    return model_status.standing(entrant, group)


UNSURE = {"documents": {"status": UNKNOWN, "text": "unsure"}}
COUNTS = Namespace(counts=Counter(no_instruction=1_200), answers=5_000)
OLD = f"run as version 0.1, not {scorer('tcp_long').version} (tcp_long)"
STANDINGS = [  # checks and tally of the first of two tasks, lines refused, and the reasons
    ({}, {}, {}, VERIFIED, []),
    (UNSURE, {}, {}, UNKNOWN, ["unsure (tcp_long)"]),
    (UNSURE | {"version": "0.1"}, {}, {}, FALSE, [OLD]),
    ({}, {}, {"tcp_short": 1}, FALSE, ["1 line refused"]),
    ({}, {}, {"tcp_long": 1_200, "tcp_short": 1}, FALSE, ["1,201 lines refused"]),
    (
        *({}, {"surplus": 1_200}, {}, FALSE),
        ["1,200 answers beyond the benchmark's rows (tcp_long)"],
    ),
    (
        *({}, {"all": COUNTS}, {}, FALSE),
        ["1,200 prompts without the instruction (tcp_long)"],
    ),
]


@pytest.mark.parametrize(("first", "tally", "refused", "status", "reasons"), STANDINGS)
def test_a_model_stands_as_in_its_worst_task_for_these_reasons(
    first, tally, refused, status, reasons
):
    standing = standing_of(first, refused, tally)
    assert (standing.status, standing.reasons) == (status, reasons)
    assert standing.documents == (UNKNOWN if "documents" in first else VERIFIED)


def test_one_answer_beyond_the_rows_is_enough_not_to_be_ranked():
    standing = standing_of({}, {}, {"surplus": 1})
    reasons = ["1 answer beyond the benchmark's rows (tcp_long)"]
    assert (standing.status, standing.reasons) == (FALSE, reasons)


def test_marks_say_how_a_task_was_run_otherwise_than_by_itself():
    first = {"documents": {"whole": False, "text": "5 of 8"}}
    first |= {"few_shot": 3, "filter": "f" * 50}
    marks = ["5 of 8", "3-shot", f"filter '{'f' * 40}'"]
    assert standing_of(first, {}).marks == [f"{mark} (tcp_long)" for mark in marks]
    wider = Namespace(tasks=(*TCP.tasks, "x"))
    assert standing_of(first, {}, group=wider).marks[2:] == [
        f"{marks[2]} (tcp_long)",
        "2 of 3 tasks",
    ]
    unsure = {"documents": UNSURE["documents"] | {"whole": False}}
    assert standing_of(unsure, {}).marks == []


def test_who_is_ranked_together_had_one_task_status_and_way_of_asking():
    alike = [{"marks": ["x"]}, {"documents": {"whole": False}}, {"settings": "t"}]
    unlike = [{"few_shot": 3}, {"filter": "f"}, {"prompts": {"addition": "x"}}, UNSURE]
    whole = standing_of({}, {}).together
    assert {standing_of(first, {}).together for first in alike} == {whole}
    others = [standing_of(first, {}).together for first in unlike]
    others.append(standing_of({}, {}, {"fingerprint": "g"}).together)
    assert len({whole, *others}) == 6


class Called:
    """A model of a name, with answers of a length to documents of these numbers."""

    def __init__(
        self, name: str, numbers: range = range(0), length: int = 90, **said: object
    ) -> None:
        self.name, self.status = name, VERIFIED
        self.model = Namespace(name=name, given_name=name)
        self.answers = {("a", f"{n}", 0): (f"{n}", length + n) for n in numbers}
        self.__dict__ |= said


@pytest.mark.parametrize(
    ("count", "said"), [(3, "'a', 'b', 'c'"), (4, "'a', 'b', 'c', 1 more")]
)
def test_of_other_models_a_remark_names_three(count, said):
    assert model_status._names_of([*map(Called, "abcd"[:count])]) == said
    many = [*map(Called, "abc" * 500)]
    assert model_status._names_of(many).endswith(", 1,497 more")


ODD_LETTERS = [
    ("org/a", []),
    (
        "\u00e9a\u0430\u00e9",
        ["latin small letter e with acute, cyrillic small letter a"],
    ),
    ("\x85", ["'\\x85'"]),
]


@pytest.mark.parametrize(("name", "said"), ODD_LETTERS)
def test_each_letter_of_a_name_beyond_ascii_is_told_once(name, said):
    expected = [f"the name holds {names}" for names in said]
    assert [*model_status._odd_letters(name)] == expected
    many = "".join(map(chr, range(0x430, 0x450)))
    [remark] = model_status._odd_letters(many)
    assert len(remark) == len("the name holds ") + 200


LOOKS = [  # names, and whether they look alike
    *(("org/Care-fu1", "org/careful", True), ("GPT-O|", "gpt_0i", True)),
    *(("\uff27P\u00cf", "gpl", True), ("Stra\u00dfe", "strasse", True)),
    *(("model-4", "model-7", False), ("a", "a", False)),
]


@pytest.mark.parametrize(("first", "second", "is_alike"), LOOKS)
def test_names_look_alike_in_spite_of_letter_forms_and_signs(first, second, is_alike):
    one, other = Called(first), Called(second)
    found = model_status._find_lookalikes([one, other])
    assert found == {one: [other] * is_alike, other: [one] * is_alike}


def test_copies_are_listed_in_the_order_of_models_by_how_many_answers_they_share():
    models = [Called(name, range(30), 45) for name in "cab"]
    part = Called("part", range(20), 45)
    found = model_status._find_copies([*models, part])
    assert found[part] == {20: models}
    for model in models:
        others = [other for other in models if other is not model]
        assert found[model] == {30: others, 20: [part]}


def test_a_copy_that_is_not_ranked_is_remarked_of_itself_alone():
    ranked, copy = Called("a", range(30)), Called("b", range(30), status=FALSE)
    found = model_status._find_copies([ranked, copy])
    assert (found[ranked], found[copy]) == ({}, {30: [ranked]})


def test_answers_are_copies_by_their_mean_length():
    """The longest one of each is beyond the bound in any case."""
    for length, expected in ((20, {}), (40, {20: 1})):
        pair = [Called(name, range(20), length) for name in "ab"]
        for model in pair:
            model.answers["a", "19", 0] = ("19", 99)
        found = model_status._find_copies(pair)[pair[0]]
        assert {count: len(others) for count, others in found.items()} == expected


def test_models_of_equal_ranks_stand_by_their_score(make):
    runs = {"a": planned(40, wrong=3), "b": planned(40, wrong=1), "c": planned(40)}
    rows = [row for row in json.loads(make("json", runs, *BARE)) if not row["by"]]
    assert [row["flexible_rank"] for row in rows if row["scope"] == "tcp"] == [
        "1-3"
    ] * 3
    assert [row["model"] for row in rows if row["scope"] == "tcp"] == ["c", "b", "a"]


def test_the_page_says_how_many_tests_the_largest_ranking_has(make):
    three = {name: planned(40, wrong=n) for n, name in enumerate("abc")}
    two = {name: planned(30, wrong=n) for n, name in enumerate("xy")}
    for runs in (three | two, two | three):
        assert "at most 6 tests of 3 models" in make("html", runs, *BARE)


def test_a_document_stands_where_the_first_reason_of_a_model_puts_it():
    """The rare reason of one model is shown as early as the frequent one of another."""

    class Answers:
        def __init__(self, reason: str) -> None:
            self.answers = [Namespace(reason=reason)]

    keys = [("tcp_long", f"{number}", 0) for number in range(9)]
    frequent = Namespace(documents=lambda: [(key, Answers("right")) for key in keys])
    rare = Namespace(
        documents=lambda: [
            (key, Answers("right" if key != keys[8] else "cut_off")) for key in keys
        ]
    )
    for models in ([frequent, rare], [rare, frequent]):
        assert shown_documents.rank_keys(models)[:2] == [keys[0], keys[8]]


class Model:
    """A model with answers to documents, of each by key the reasons of its answers."""

    def __init__(self, reasons: dict[tuple, list[str]]) -> None:
        self.reasons = reasons

    def documents(self) -> list[tuple]:
        return [
            (key, Namespace(answers=[Namespace(reason=x) for x in reasons]))
            for key, reasons in self.reasons.items()
        ]


RANKED = [  # reasons by task and digest of a document; the order in which they are shown
    ({"t b": ["right"], "t a": ["right"], "t c": ["none"]}, "t a, t c, t b"),
    ({"t a": ["right"], "s d": ["right"], "s c": ["right"]}, "s c, t a, s d"),
    ({"t a": ["none", "right"], "t b": ["right"], "t c": ["none"]}, "t a, t c, t b"),
]


@pytest.mark.parametrize(("reasons", "expected"), RANKED)
def test_documents_are_ranked_by_task_and_last_reason_in_the_order_of_digests(
    reasons, expected
):
    model = Model({(*key.split(), 0): x for key, x in reasons.items()})
    keys = shown_documents.rank_keys([model])
    assert ", ".join(f"{task} {digest}" for task, digest, _ in keys) == expected


@pytest.mark.parametrize(("limit", "counts"), [(6, [3, 3]), (7, [3, 3]), (9, [4, 4])])
def test_answers_that_are_shown_keep_within_their_number_in_all(limit, counts):
    models = [Model({("t", f"{n}", 0): ["right"] for n in range(4)}) for _ in range(2)]
    keys = shown_documents.rank_keys(models)
    chosen = shown_documents.choose_keys(models, keys, limit)
    assert [*map(len, chosen)] == counts
    assert all(one == {*keys[: len(one)]} for one in chosen)


SHORT, FRAMED, OTHER = [[0, "When?"]], [[0, "<s>"], 90], [[0, "How?"]]
PROMPTS = [  # what answers were asked, if it is the task's; what is shown; who is marked
    ([(FRAMED, True), (SHORT, True)], SHORT, []),
    ([(OTHER, True), ([[0, "W"], [0, "?"]], True)], [[0, "W"], [0, "?"]], []),
    ([(OTHER, False), ([[0, "Who?"]], False)], OTHER, [1]),
    ([(OTHER, False), ([], False), (FRAMED, True), (SHORT, True)], SHORT, [0]),
]


@pytest.mark.parametrize(("asked", "expected", "marked"), PROMPTS)
def test_the_shortest_prompt_of_the_task_is_shown_and_the_others_marked(
    asked, expected, marked
):
    entry: dict = {"answers": [{} for _ in asked]}
    prompts = [shown_documents.Prompt(*one) for one in asked]
    shown_documents._add_prompt(entry, prompts, [7] * len(asked))
    assert (entry["prompt"], entry["id"]) == (expected, 7)
    assert [n for n, one in enumerate(entry["answers"]) if "prompt" in one] == marked


def test_a_document_of_a_page_names_its_parts_and_its_copies_apart():
    row = {"doc_id": 0, "reference": '"x"', "question_type": "a\u202e", "type": "0"}
    row |= {"level": None}
    key = "timebench_timedial", "0123456789abcdef", 2
    entry = shown_documents._document_entry(key, row)
    assert entry["key"] == "timebench_timedial-0123456789ab-2"
    assert entry["parts"] == {"question_type": "a\\u202e", "type": "0"}
    assert (entry["id"], entry["reference"]) == (0, "x")
    assert shown_documents._document_entry((*key[:2], 0), row)["key"][-2:] == "ab"


def test_a_run_whose_results_claim_several_names_has_the_first(make, tmp_path):
    for number, name in enumerate(("org/first", "org/a-second")):
        edit = {"name": name, "tasks": [("tcp_long", "tot_arithmetic")[number]]}
        submission(tmp_path / "run", "careful", edit, number)
    command = ["leaderboard", f"{tmp_path / 'run'}", *PACK, "--json"]
    assert main([*command, f"{tmp_path / 'board.json'}"]) == 0
    [name] = by_model((tmp_path / "board.json").read_text("utf-8"))
    assert name == "org/first"


VALUES = [
    ('{"answer": "3"}', "3"),
    ('{"H": "3", "M": "20"}', "H 3, M 20"),
    ('["a", ["b", 5]]', "a, b, 5"),
    ("plain {", "plain {"),
    ("{plain", "{plain"),
    ('"x"', "x"),
    ('{"a": null, "b": true}', "a null, b true"),
    ("[" * 99_999, f"{'[' * 100} … {'[' * 100}"),
    (f'["{"x" * 999}"]', f"{'x' * 100} … {'x' * 100}"),
    (None, None),
]


@pytest.mark.parametrize(("encoded", "shown"), VALUES)
def test_a_value_is_shown_with_the_names_of_its_fields_if_there_are_several(
    encoded, shown
):
    assert shown_documents.plain(encoded) == shown


PAGER = ("#back", "#next")
VISIBLE = """
const rows = (table) => all(".row", document.querySelector(table)).filter((row) => !row.hidden);
return ["#ranking", ".scores"].map((table) => rows(table).length);
"""


def test_sections_show_the_first_fifteen_models_and_those_that_are_pinned(
    driver, find, make, tmp_path
):
    runs = {f"Model {number}": planned(3) for number in range(16)}
    runs["Model 0"] += planned(1, task="timebench_date_arithmetic")
    make("html", runs, *BARE)
    look(driver, tmp_path / "board.html")
    pick = "document.querySelector('[name=show][value={}]').click()"
    assert find("[name=show][value=all]")[0].is_displayed()
    assert driver.execute_script(VISIBLE) == [16, 15]
    for mode, count in (("pinned", 0), ("all", 16), ("top", 15)):
        driver.execute_script(pick.format(mode))
        assert driver.execute_script(VISIBLE) == [16, count]
    last_pin = find("#ranking .pin")[-1]
    last_pin.click()
    assert last_pin.text == "★" and last_pin.get_attribute("aria-pressed") == "true"
    assert driver.execute_script(VISIBLE) == [16, 16]
    driver.execute_script(pick.format("pinned"))
    assert driver.execute_script(VISIBLE) == [16, 1]
    last_pin.click()
    assert last_pin.text == "☆"
    assert driver.execute_script(VISIBLE) == [16, 0]
    find("#find")[0].send_keys(" MODEL 0 ")
    assert driver.execute_script(VISIBLE) == [1, 1]
    assert find("#shown")[0].text == "1 found"


def test_a_page_of_fifteen_models_has_no_choice_of_them(make):
    text = make("html", {f"{n}": planned(1) for n in range(15)}, *BARE)
    assert '<fieldset hidden><legend class="sr">Models in' in text


CARDS = """
const row = document.querySelector("#ranking .row");
const why = row.nextElementSibling;
row.querySelector(".open").checked = true;
byId("find").value = arguments[0];
showModels();
return [why.matches(".why"), row.hidden, why.hidden, row.querySelector(".open").checked];
"""


def test_what_stands_below_a_model_goes_with_it(driver, make, tmp_path):
    make(
        "html",
        {"a": planned(3), "b": planned(3, task="timebench_date_arithmetic")},
        *BARE,
    )
    look(driver, tmp_path / "board.html")
    assert driver.execute_script(CARDS, "nobody") == [True, True, True, False]
    assert driver.execute_script(CARDS, "") == [True, False, False, True]
    assert driver.execute_script("return byId('shown').textContent") == ""


def test_a_link_to_a_document_opens_its_page_of_the_list(driver, find, make, tmp_path):
    make("html", {"a": planned(51)}, *BARE)
    page = tmp_path / "board.html"
    first, *_, last = (x["key"] for x in documents_of_page(page.read_text("utf-8")))
    look(driver, page, f"#{last}")
    wait_for(driver, FOCUS, "document")
    shown = lambda: [len(find("#list a")), *(find(x)[0].is_enabled() for x in PAGER)]  # noqa: E731
    assert shown() == [1, True, False]
    assert find("#list [aria-current]")
    find("#back")[0].click()
    assert shown() == [50, False, True]
    find("#next")[0].click()
    assert shown() == [1, True, False]
    find("[name=text]")[0].send_keys("30 years")
    assert find("#count")[0].text == "1 of 51 found"
    driver.execute_script("location.hash = arguments[0]", first)
    wait_for(driver, FOUND, 51)  # another document is found without the filters


@pytest.mark.parametrize(("count", "has_next"), [(50, False), (51, True)])
def test_the_list_of_documents_ends_with_its_last_page(
    driver, make, tmp_path, count, has_next
):
    make("html", {"a": planned(count)}, *BARE)
    look(driver, tmp_path / "board.html")
    script = "return document.getElementById('next').disabled"
    assert driver.execute_script(script) == (not has_next)


def test_a_model_with_a_mark_stands_behind_those_without(make, tmp_path):
    submission(tmp_path / "better", "careful", {"tasks": ["tcp_long"]})
    submission(tmp_path / "worse", "hasty", {})
    runs = {name: tmp_path / name for name in ("better", "worse")}
    rows = by_model(make("json", runs))
    assert {row["status"] for row in rows.values()} == {"verified"}
    assert [*rows][::-1] == ["worse", "better"]  # better, in one task of two


CLAIMED = [  # the version of a run, a metric that its results claim, and whether it is told
    *((None, metric, True) for metric in ("accuracy", "within_1d")),
    *(("2.0", metric, True) for metric in ("accuracy", "extracted")),
    *(("2.0", metric, False) for metric in ("accuracy_flexible", "within_1d")),
]


@pytest.mark.parametrize(("version", "metric", "is_told"), CLAIMED)
def test_claims_of_another_version_are_compared_where_the_rule_is_published(
    make, tmp_path, version, metric, is_told
):
    edit = {"tasks": ["tcp_long"], "by_task": {"results": {f"{metric},none": 0.123}}}
    if version:
        edit["by_task"]["versions"] = version
    submission(tmp_path / "m", "careful", edit)
    remarks = by_model(make("json", {"m": tmp_path / "m"}))["m"]["remarks"]
    assert (f"claims {metric} 0.123 instead of" in remarks) == is_told


@pytest.mark.parametrize(
    ("frames", "status"),
    [
        (("<s>{prompt}", "<s>{prompt}"), "verified"),
        (("<s>{prompt}", "[{prompt}"), "not verified"),
    ],
)
def test_prompts_of_several_files_have_one_frame(make, tmp_path, frames, status):
    for name, frame, kept in zip("ab", frames, (slice(0, 4), slice(4, 8))):
        edit = {
            "tasks": ["tcp_long"],
            "prompt": frame,
            "results": {"chat_template": "x"},
        }
        submission(tmp_path / name, "careful", edit)
        path = tmp_path / name / f"samples_tcp_long_{STAMPS[0]}.jsonl"
        write(path, *read_jsonl(path)[kept])
    rows = by_model(make("json", {"m": tmp_path / "a"}, f"m={tmp_path / 'b'}"))
    assert rows["m"]["status"] == status
    fault = "what stands around the prompts differs between files"
    assert (fault in rows["m"]["remarks"]) == (status == "not verified")


def test_a_page_shows_each_answer_of_a_task_from_its_own_file(make, tmp_path):
    rows = planned(4)
    for number, row in enumerate(rows):
        row["response"] += f" (answer {number})"
    paths = [tmp_path / "m" / f"{name}.jsonl" for name in "ab"]
    write(paths[0], *rows[:2])
    write(paths[1], *rows[2:])
    shown = documents_of_page(make("html", {"m": tmp_path / "m"}, *BARE))
    texts = [
        "".join(piece[1] for piece in document["answers"][0]["response"])
        for document in shown
    ]
    assert sorted(texts) == sorted(row["response"] for row in rows)


SECOND_FILE = [  # how the second file of a run differs, and what is remarked of it
    ({}, None),
    ({"results": {"date": 1_800_000_000}}, None),
    ({"asked_with": {"seed": 5}}, "settings differ between files (as logged)"),
    ({"results": {"config": {"model_args": "b"}}}, "between files (model arguments)"),
    ({"by_task": {"configs": {"generation_kwargs": {}}}}, "between files (generation)"),
    ({"by_task": {"versions": "0.1"}}, "run as version 0.1"),
]


@pytest.mark.parametrize(("second", "remark"), SECOND_FILE)
def test_files_of_one_task_are_run_alike_or_not_verified(
    make, tmp_path, second, remark
):
    for name, edit, kept in zip("ab", ({}, second), (slice(0, 4), slice(4, 8))):
        submission(tmp_path / name, "careful", {"tasks": ["tcp_long"]} | edit)
        path = tmp_path / name / f"samples_tcp_long_{STAMPS[0]}.jsonl"
        write(path, *read_jsonl(path)[kept])
    rows = by_model(make("json", {"m": tmp_path / "a"}, f"m={tmp_path / 'b'}"))
    assert (rows["m"]["status"] == "verified") == (remark is None)
    assert (remark or "") in rows["m"]["remarks"]


def test_what_only_a_second_file_shows_is_remarked(make, tmp_path):
    edits = {"a": {"keep": 4}, "b": {"from": 4, "set": {"accuracy": 0.5}}}
    for name, edit in edits.items():
        submission(tmp_path / name, "careful", {"tasks": ["tcp_long"]} | edit)
    path = tmp_path / "b" / f"samples_tcp_long_{STAMPS[0]}.jsonl"
    write(path, *read_jsonl(path)[4:])
    rows = by_model(make("json", {"m": tmp_path / "a"}, f"m={tmp_path / 'b'}"))
    assert "4 of 4 logged scores are not those made again" in rows["m"]["remarks"]


def test_documents_of_several_files_are_not_compared_with_all_of_one(make, tmp_path):
    edits = {"whole": {}, "again": {"keep": 3, "set": {"sample": 1}}}
    for name, edit in edits.items():
        submission(tmp_path / name, "careful", {"tasks": ["tcp_long"]} | edit)
    runs = {"once": tmp_path / "whole", "twice": tmp_path / "whole"}
    rows = by_model(make("json", runs, f"twice={tmp_path / 'again'}"))
    assert [rows[name]["status"] for name in runs] == ["verified"] * 2
    marked = ["documents in several files" in rows[name]["remarks"] for name in runs]
    assert marked == [False, True]


@pytest.mark.parametrize(("share", "found"), [(5, {"1-2"}), (1, {"1-1", "2-2"})])
def test_orders_of_one_question_are_one_observation(make, share, found):
    docs = [{"question": f"Q{n // share}?", "prompt": f"{n}"} for n in range(100)]
    row = {"task": "tot_semantic", "response": '{"answer": "E1"}'}
    good = [row | {"doc": doc | {"label": "E1"}} for doc in docs]
    wrong = [row | {"response": "none"} for row in good[:10]]
    rows = by_model(make("json", {"a": good, "b": wrong + good[10:]}, *BARE)).values()
    assert {row["flexible_rank"] for row in rows} == found


def test_each_of_two_filters_is_a_model_with_its_refused_lines(make, tmp_path):
    submission(tmp_path / "a", "careful", {"tasks": ["tcp_long"]})
    path = tmp_path / "a" / f"samples_tcp_long_{STAMPS[0]}.jsonl"
    rows = read_jsonl(path)
    strict = [row | {"filter": "strict"} for row in rows]
    strict[3] |= {"doc_hash": "0" * 64}
    write(path, *rows, *strict)
    found = by_model(make("json", {"a": path.parent}, status=1))
    statuses = {name: (row["status"], row["n"]) for name, row in found.items()}
    assert statuses == {"a": ("verified", 8), "a (strict)": ("not ranked", 7)}
    assert "1 line refused" in found["a (strict)"]["remarks"]


def test_copies_of_a_row_are_matched_whatever_their_order(make):
    doc = {"question": "How many?", "label": "{'answer': '3'}"}
    rows = [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc, "response": answer}
        for n, answer in enumerate(['{"answer": "3"}', '{"answer": "4"}'] * 20)
    ]
    found = by_model(make("json", {"a": rows, "b": rows[::-1]}, *BARE))
    figures = [(x["n"], x["published"], x["flexible"]) for x in found.values()]
    assert figures == [(40, 0.5, 0.5)] * 2
    documents = documents_of_page(make("html", {"a": rows}))
    assert len({document["key"] for document in documents}) == 40


FRESH = "fresh_date_arithmetic"


def fresh(
    folder: Path, rows: dict | None = None, right: int = 0, **claims: object
) -> Path:
    """Write the log of a run over 20 rows of seed 1, and results with claims on these.

    The first answers are right.
    """
    made_rows = {"gen_seed": 1, "gen_rows": 20, "gen_levels": "1-5"} | (rows or {})
    docs = [*scorer(FRESH).process_docs(load("date_arithmetic", **made_rows)["test"])]
    golds = [scorer(FRESH).utils.gold_response(doc) for doc in docs[:right]]
    responses = golds + ["no"] * (len(docs) - right)
    lines = [
        sample(n, doc, prompt(FRESH, doc), response)
        for n, (doc, response) in enumerate(zip(docs, responses))
    ]
    write(folder / f"samples_{FRESH}_{STAMPS[0]}.jsonl", *lines)
    claims = made_rows | claims
    results = {"model_name": folder.name, "configs": {FRESH: {"metadata": claims}}}
    results |= {"n-shot": {FRESH: 0}, "versions": {FRESH: scorer(FRESH).version}}
    write(folder / f"results_{STAMPS[0]}.json", results)
    return folder


NO_CLAIMS = [  # of rows that can be regenerated
    *({name: 1} for name in ("gen_version", "gen_rows", "gen_odd")),
    *({"gen_rows": "9" * 400}, {"gen_levels": [1]}, {"gen_seed": None}),
    {"gen_knobs": {"date_arithmetic": 1}},
]
CLAIMS = [  # what results say of rows of seed 1, the status, and the remark
    ({}, "verified", "all 20 documents of seed 1 (20 rows, levels 1-5)"),
    ({"gen_fingerprint": "0" * 16}, "verified", "20 documents of seed 1"),
    ({"gen_rows": 10**9}, "verified", "20 of 1,000,000,000 documents"),
    ({"gen_seed": 2}, "not ranked", "document 0 is not that of seed 2"),
    *((claims, "not verified", "cannot be regenerated") for claims in NO_CLAIMS),
]
EASY = {"date_arithmetic": {"steps": 1}}
ROWS = [  # which rows they are, as results say; the status, and the remark
    (
        {"gen_seed": 20261121, "gen_rows": 100},
        "verified",
        "all 100 documents of seed 20261121 (100 rows, levels 1-5)",
    ),
    ({"gen_levels": "1-2"}, "not verified", "levels 1-2); the task has levels 1-5"),
    (
        {"gen_knobs": EASY},
        "not verified",
        '(20 rows, levels 1-5, knobs {"steps": 1}); the task has levels 1-5',
    ),
]


def test_fresh_rows_are_regenerated_from_their_seed(make, tmp_path):
    cases = [({}, *case) for case in CLAIMS] + [(case[0], *case) for case in ROWS]
    runs = {
        f"{number}": fresh(tmp_path / f"{number}", rows, **claims)
        for number, (rows, claims, *_) in enumerate(cases)
    }
    board_rows = by_model(make("json", runs, *BARE))
    for row, (_, claims, status, remark) in zip(map(board_rows.get, runs), cases):
        assert (row["status"], remark in row["remarks"]) == (status, True), claims


def test_runs_with_one_system_instruction_are_ranked_together(make, tmp_path):
    runs = {}
    instructions = {"own": "", "a": "Be brief.", "b": "Be brief.", "c": "Think."}
    for name, text in instructions.items():
        edit = {"prompt": f"{text}{{prompt}}", "results": {"system_instruction": text}}
        submission(tmp_path / name, "careful", edit)
        runs[name] = tmp_path / name
    rows = by_model(make("json", runs))
    assert [rows[name]["rank_of"] for name in runs] == [None, 2, 2, None]
    assert rows["a"]["rank_group"] == rows["b"]["rank_group"]


def test_public_and_fresh_folders_of_one_name_are_one_model_with_both(make, tmp_path):
    submission(tmp_path / "public", "careful", {"tasks": ["tcp_long"]})
    public = f"a={tmp_path / 'public'}"
    rows = json.loads(make("json", {"a": fresh(tmp_path / "fresh")}, public))
    assert {row["model"] for row in rows} == {"a"}
    scopes = [*dict.fromkeys(row["scope"] for row in rows)]
    assert scopes[:2] == ["tcp", "fresh"] and FRESH in scopes


def test_the_terminal_shows_a_short_table(make, capsys):
    make("csv", {"a": answers("tcp_long") + answers("tcp_short")})
    head, _, row = capsys.readouterr().out.strip().splitlines()
    columns = "benchmark model status n published published rank flexible flexible rank"
    assert re.findall(r"\w+", head) == columns.split()
    assert re.findall(r"[\w.]+", row) == "tcp a not verified 16 87.5 100.0".split()


MINE = {  # files of a user with words of ours
    "html": "<!doctype html><!-- my notes on temporal-eval leaderboard -->\n",
    "csv": "model,status,remarks,mine\n",
    "json": '[\n  {\n    "model": "mine"}]\n',
}


@pytest.mark.parametrize("form", MINE)
def test_only_what_the_tool_made_is_replaced(make, tmp_path, form, capsys):
    runs = {"a": answers("tcp_long")}
    assert make(form, runs) and make(form, runs)
    for mine in (MINE[form], "mine", "[]", "\n"):
        (tmp_path / f"board.{form}").write_text(mine)
        assert make(form, runs, status=1) == mine
        assert "was not made by leaderboard" in capsys.readouterr().err


def test_a_mark_tells_which_names_the_maker_of_the_board_gave(make, tmp_path):
    submission(tmp_path / "runs" / "x", "careful", {"name": "claimed"})
    runs = {"given": answers("tcp_long")}
    text = make("html", runs, str(tmp_path / "runs"))
    assert '<bdi>given</bdi><abbr class="named"' in text
    assert "<bdi>claimed</bdi><abbr" not in text and "<bdi>claimed</bdi>" in text
    assert (
        text.count("its files or its path")
        == text.count("the maker of the board</dd>")
        == 1
    )


@pytest.mark.parametrize("form", MINE)
def test_what_appears_while_a_board_is_made_is_not_replaced(
    make, tmp_path, form, capsys, monkeypatch
):
    output, board_data = tmp_path / f"board.{form}", leaderboard.board_data

    def make_late_file(*arguments: object) -> dict:
        write(output, MINE[form])
        return board_data(*arguments)

    monkeypatch.setattr(leaderboard, "board_data", make_late_file)
    make(form, {"a": answers("tcp_long")}, status=1)
    assert "is there, and was not made by leaderboard" in capsys.readouterr().err
    assert output.read_text() == f"{MINE[form]}\n"


def test_the_page_holds_all_it_needs_and_what_a_model_says_stays_text(text):
    elements: list[tuple[str, dict]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: elements.append((tag, dict(attrs)))
    parser.feed(text)
    tags = [tag for tag, _ in elements]
    assert tags.count("script") == 2  # data and code
    assert not {"img", "iframe", "object", "link", "textarea"} & {*tags}
    for _, attrs in elements:
        assert not any(name == "src" or name.startswith("on") for name in attrs)
        is_own = attrs.get("href") in ("board.csv", "board.json")  # written beside it
        assert is_own or attrs.get("href", "#").startswith("#")
    (policy,) = re.findall('Content-Security-Policy" content="(.*?)"', text)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert not re.search(r"[\0\x1b\u202e\ud800]", text)
    assert "\\u202ename\\ud800" in text
    assert "<bdi>=&lt;i&gt;odd&lt;/i&gt;" in text and "…" in text


def test_a_folder_holds_all_documents_in_scripts_that_are_ascii(board, text):
    documents = {}
    for path in (board / "all" / "documents").iterdir():
        script = path.read_bytes().decode("ascii")
        assert "<" not in script
        _, _, call = script.partition("\naddDocuments(")
        documents |= {row["key"]: row for row in json.loads(call.removesuffix(");\n"))}
    assert documents == {row["key"]: row for row in documents_of_page(text)}


def test_long_texts_lose_what_was_not_read_and_values_are_shown_as_values(text):
    documents = documents_of_page(text)
    assert all(document["prompt"] for document in documents)
    entries = [entry for document in documents for entry in document["answers"]]
    (pieces,) = [x["response"] for x in entries if int in map(type, x["response"])]
    shown = sum(len(piece[1]) for piece in pieces if isinstance(piece, list))
    assert shown + sum(x for x in pieces if isinstance(x, int)) == len(HOSTILE[3])
    assert 1_000 < shown <= LONGEST_RESPONSE
    right = next(entry for entry in entries if entry["reason"] == "right")
    assert any(bits == 3 for bits, _ in right["response"])
    assert "baking, weeding, rowing, drumming" in {x["read"][1] for x in entries}


def test_empty_texts_are_shown_as_they_are(make, tmp_path):
    line = sample("odd", planned(1)[0]["doc"], "", "")
    write(tmp_path / "run" / f"samples_tcp_long_{STAMPS[0]}.jsonl", line)
    (document,) = documents_of_page(make("html", {"a": tmp_path / "run"}, *BARE))
    assert document["prompt"] == document["answers"][0]["response"] == []


def test_a_page_has_bounds_and_says_what_it_leaves_out(make, monkeypatch):
    runs = {"a": answers("tot_arithmetic")}
    monkeypatch.setattr(shown_documents, "MOST_ANSWERS", 12)
    text = make("html", runs)
    assert "12 of 38: some of each model, task and reason" in text
    reasons = {x["answers"][0]["reason"] for x in documents_of_page(text)}
    assert {"right", "flexible_only"} <= reasons
    most_bytes = len(text.encode()) - 1
    monkeypatch.setattr(page, "MOST_BYTES", most_bytes)
    with_fewer = make("html", runs)
    assert len(with_fewer.encode()) <= most_bytes
    assert 8 < len(documents_of_page(with_fewer)) < 12
    size_of_documents = len(json.dumps(documents_of_page(text), separators=(",", ":")))
    monkeypatch.setattr(page, "MOST_BYTES", most_bytes - size_of_documents + 500)
    without_documents = make("html", runs)
    assert documents_of_page(without_documents) == []
    assert "0 of 38, as the tables take the page" in without_documents
    assert "<dt>Named by</dt>" in without_documents
    monkeypatch.setattr(page, "MOST_BYTES", len(without_documents.encode()) - 1)
    without_cards = make("html", runs)
    assert "Run cards of 1 model would make this page too large" in without_cards
    assert "<dt>Named by</dt>" not in without_cards
    assert "make this page too large; CSV" not in without_cards
    assert documents_of_page(without_cards) == []
    # It is written in any case.
    monkeypatch.setattr(page, "MOST_BYTES", 1_000)
    monkeypatch.setattr(page, "_FEWER_MODELS", (1,))
    least = make("html", runs | {"b": planned(2)})
    assert "1 more model would make this page too large" in least
    assert "2 runs, 40 answers, each scored again" in least


def test_a_page_counts_what_it_holds_and_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(page, "_size_of_card", lambda entrant: entrant.size)
    monkeypatch.setattr(
        page,
        "_render",
        lambda n, **shown: shown.update(n=n) or json.dumps(shown, default=str),
    )
    keys = [(("tcp_long", "d", number), None) for number in range(4)]
    models = [Namespace(id=f"{n}", name=f"{n}", size=n) for n in range(3)]
    for number, model in enumerate(models):
        model.model = Namespace(documents=lambda n=number: keys[: n + 2])
    board = {
        "models": models,
        "left_out": ["x", "y", "z"],
        "benchmarks": ["tcp", "tot"],
    }
    names = {"models": [*"abc"], "labels": [*"ABC"]}
    shown = [
        shown_documents.ShownDocument("[1]", 2),
        shown_documents.ShownDocument("[2]", 3),
    ]
    documents = {"tcp_long": shown, "tcp_short": []}
    options = Namespace(html=Path("x"), csv=None, json=None, is_folder=False)

    def content(is_folder: bool, **bounds: int) -> dict:
        options.is_folder = is_folder
        text = page._page_content(board, names, options, documents, **bounds).decode()
        first_line, _, rest = text.partition("\n")
        assert first_line == page.FIRST_LINE
        return json.loads(rest)

    whole = content(False)
    counts = {"total": 4, "total_answers": 9, "held_answers": 5, "hidden_count": 0}
    counts |= {"held_counts": {"tcp_long": 2, "tcp_short": 0}, "n": 3}
    assert {key: whole[key] for key in counts} == counts
    assert whole["held"].endswith('"documents":[[1],[2]]}')
    assert content(True)["held"].endswith('"documents":[]}')
    assert whole["names"] == {"0": "a", "1": "b", "2": "c"}
    assert whole["labels"] == {"0": "A", "1": "B", "2": "C"}
    assert (whole["with_card"], whole["left_out"]) == ([*"012"], [*"xyz"])
    part = content(False, most_of_a_card=1, most_models=2)
    assert (part["hidden_count"], part["left_out"]) == (1, ["x", "y"])
    assert (part["with_card"], len(part["models"])) == (["0", "1"], 2)
    assert content(False, most_of_a_card=1)["with_card"] == ["0", "1"]


SIZES = [  # of a page with all, without documents and cards, of 500 and of 50 models
    ((90, 0, 0, 0), [(True, None)]),
    ((200, 90, 0, 0), [(True, None), (False, None)]),
    ((200, 150, 90, 0), [(True, None), (False, None), (False, 500)]),
    ((200, 150, 120, 90), [(True, None), (False, None), (False, 500), (False, 50)]),
]


@pytest.mark.parametrize(("sizes", "expected"), SIZES)
def test_a_page_has_as_many_models_as_there_is_room_for(monkeypatch, sizes, expected):
    made = []

    def page_of(documents, most_of_a_card=None, most_models=None) -> bytes:
        has_documents = any(documents.values())
        if most_of_a_card != 1:  # what cards may take is shared out after that
            made.append((has_documents, most_models))
        return bytes(sizes[expected.index((has_documents, most_models))])

    monkeypatch.setattr(page, "MOST_BYTES", 100)
    monkeypatch.setattr(page, "share_out", lambda *_: 1)
    content = page._fit(page_of, [], {"tcp_long": [1]}, is_folder=True)
    assert len(content) == sizes[len(expected) - 1]
    assert made == expected


def test_large_run_cards_leave_out_no_other_s(make, monkeypatch, tmp_path):
    runs = {"small": answers("tcp_long")}
    for place in range(8):
        frame = f"{place}" + "&" * 1_900
        submission(tmp_path / f"large{place}", "plain", {"prompt": frame + "{prompt}"})
        runs[f"large{place}"] = tmp_path / f"large{place}"
    text = make("html", runs)
    cards = text.count("<dt>Named by</dt>")
    size_of_documents = len(json.dumps(documents_of_page(text), separators=(",", ":")))
    most_bytes = len(text.encode()) - size_of_documents - 60_000
    monkeypatch.setattr(page, "MOST_BYTES", most_bytes)
    smaller = make("html", runs)
    assert len(smaller.encode()) <= most_bytes
    assert (cards, smaller.count("<dt>Named by</dt>")) == (9, 1)
    assert "Run cards of 8 models would make this page too large" in smaller
    card = re.search(
        r'<tr class="row" data-m="[^"]*">.*?title="small".*?</dl>', smaller, re.S
    )
    assert "<dt>File</dt>" in card[0]
    # A card takes no more than what is shared out for it.
    _, _, card_html = card[0].partition("<dl>")
    texts = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", card_html)
    entrant = Namespace(
        card=lambda: {html.unescape(a): html.unescape(b) for a, b in texts}
    )
    assert len(card_html.encode()) <= page._size_of_card(entrant)


@pytest.mark.parametrize(
    ("needs", "room", "most"),
    [([5, 5], 20, 5), ([9, 9, 2], 10, 4), ([8, 1, 1], 6, 4), ([3], 1, 1), ([], 5, 0)],
)
def test_who_needs_less_than_an_equal_share_leaves_the_rest_to_others(
    needs, room, most
):
    assert shown_documents.share_out(needs, room) == most
    assert sum(min(need, most) for need in needs) <= max(room, sum(needs) * (most == 5))


@pytest.mark.parametrize("bound", [{"MOST_ANSWERS": 30}, {"MOST_OF_DOCUMENTS": 60_000}])
def test_no_model_takes_the_room_of_another_on_a_page(make, monkeypatch, bound):
    for name, value in bound.items():
        monkeypatch.setattr(shown_documents, name, value)
    honest = {"a": planned(40), "b": planned(40, wrong=10)}
    others = {
        f"x{n}": planned(41, prefix=f"{n}" + "\U0001f600" * 400) for n in range(3)
    }
    shown = {}
    for runs in (honest, honest | others):
        text = make("html", runs, *BARE)
        names = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
        shown[len(runs)] = Counter(
            names["models"][answer["model"]]
            for document in documents_of_page(text)
            for answer in document["answers"]
        )
    alone, beside = shown.values()
    assert all(beside[name] >= 2 * alone[name] // 5 for name in honest)
    assert all(beside[name] < 41 for name in others)
    assert len({*alone.values()}) == 1


def test_long_answers_of_others_take_no_answer_of_a_model_from_a_page(
    make, monkeypatch
):
    """Prompts take of the room of all who answer them; the page says what is not there."""
    honest = {name: planned(40) for name in "abc"}
    longer = {f"x{n}": planned(40, prefix=f"{n}" + "so " * 700) for n in range(6)}
    shown = documents_of_page(make("html", {"a": honest["a"]}))
    room = 5 * sum(len(json.dumps(document)) for document in shown)
    monkeypatch.setattr(shown_documents, "MOST_OF_DOCUMENTS", room)
    text = make("html", honest | longer)
    shown = documents_of_page(text)
    assert sum(len(json.dumps(x, separators=(",", ":"))) for x in shown) <= room
    names = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    counts = Counter(
        names["models"][answer["model"]] for x in shown for answer in x["answers"]
    )
    assert [counts[name] for name in honest] == [40, 40, 40]
    assert counts.total() < 360
    assert f"all 40 are in this page, with {counts.total()} of 360 answers" in text


def test_a_benchmark_is_described_by_the_model_that_answered_most_of_it(make):
    """And each model is measured by the constant answer to its own documents."""
    runs = {"honest": planned(30, wrong=15), "first": planned(1)}
    text = make("html", runs, *BARE)
    section = text[text.index('<section id="tcp"') :]
    assert section.partition('<p class="note">')[2].startswith("30 rows")
    row = re.search(r'<th scope="row" class="model">constant answer</th>.*', text)[0]
    assert ">3.3<" in row
    assert ">below the constant answer" not in text


def test_a_benchmark_is_described_by_a_model_of_the_best_status(make, tmp_path):
    edit = {"tasks": ["tcp_long"]}
    submission(tmp_path / "few", "careful", edit | {"keep": 3})
    foreign = {"doc": {"question": "It is {answer}. When?"}}
    submission(tmp_path / "many", "careful", edit | foreign)
    runs = {name: tmp_path / name for name in ("few", "many")}
    text = make("html", runs)
    section = text[text.index('<section id="tcp"') :]
    assert section.partition('<p class="note">')[2].startswith("3 rows")


def test_a_benchmark_is_described_by_most_documents_where_none_are_verified(make):
    runs: dict[str, list[dict]] = {"few": [], "many": []}
    for task in ("tcp_short", "tcp_long"):
        docs = documents(task, EXAMPLES)
        runs["many"] += [{"task": task, "doc": x, "response": "none"} for x in docs]
        for doc in docs[:3]:
            gold = scorer(task).utils.gold_response(doc)
            runs["few"].append({"task": task, "doc": doc, "response": gold})
    text = make("html", runs, *BARE)
    section = text[text.index('<section id="tcp"') :]
    assert section.partition('<p class="note">')[2].startswith("16 rows")


def test_a_summary_of_fresh_rows_is_of_those_that_most_models_answered(make, tmp_path):
    runs = {}
    for number in range(5):
        name, seed = (f"honest{number}", 7) if number < 3 else (f"other{number}", 20)
        runs[name] = fresh(tmp_path / name, {"gen_seed": seed}, right=seed)
    summary = summary_of(make("html", runs))
    assert "honest" in summary and "other" not in summary


def test_a_crowd_that_is_ranked_by_itself_is_not_spoken_of(make, tmp_path):
    """As runs through a filter of their own are, of whole benchmarks."""
    runs = {}
    for number in range(6):
        name = f"odd{number}" if number < 4 else f"honest{number}"
        edit: dict = {"tasks": ["tcp_long", "tcp_short"]}
        edit |= {"response": "none", "set": {"filter": "f"}} if number < 4 else {}
        submission(tmp_path / name, "careful", edit)
        runs[name] = tmp_path / name
    rows = by_model(make("json", runs))
    assert {row["rank_of"] for row in rows.values()} == {2, 4}
    summary = summary_of(make("html", runs))
    assert "the model honest4 scores highest with 87.5 %" in summary


@pytest.fixture
def crowded(make, tmp_path) -> str:
    """A page of two honest models, and of more that took a part and were right.

    Four answered one row of TCP, four the rows of a seed of their own, and one invented rows.
    """
    runs = {}
    for name in ("careful", "hasty"):
        submission(tmp_path / name, name, {"tasks": ["tcp_long"]})
        runs[name] = tmp_path / name
    for number in range(4):
        one_row = {"tasks": ["tcp_long"], "keep": 1, "response": "\\boxed{{answer}}"}
        submission(tmp_path / f"one{number}", "careful", one_row)
        runs[f"one{number}"] = tmp_path / f"one{number}"
        runs[f"fresh{number}"] = fresh(tmp_path / f"fresh{number}", {"gen_seed": 5})
    question = "It is {answer}. When?"
    invented = {"doc": {"question": question}, "response": "It is {answer}."}
    submission(tmp_path / "invented", "careful", invented | {"tasks": ["tcp_long"]})
    runs["invented"] = tmp_path / "invented"
    return make("html", runs)


def test_a_crowd_that_answers_a_part_describes_no_benchmark(crowded):
    section = crowded[crowded.index('<section id="tcp"') :]
    assert section.partition('<p class="note">')[2].startswith("8 rows")
    [row] = re.findall(r'<th scope="row" class="model">constant answer</th>.*', crowded)
    assert ">100.0<" not in row


def test_a_summary_is_of_models_that_are_ranked_together_in_a_public_benchmark(crowded):
    summary = summary_of(crowded)
    assert "In TCP, the model careful scores highest" in summary
    assert not re.search("one[0-9]|fresh[0-9]|invented", summary)


OF_SOME = r" of the \d+ models ranked together as [a-z ]+,| of theirs"


def summary_of(text: str) -> str:
    """Return the words of the summary on top of a page, but for those on whom it is of."""
    summary = text[text.index("<b>In short.</b>") :].partition("</p>")[0]
    return re.sub(OF_SOME, "", re.sub("<[^>]*>", "", summary))


def test_runs_of_one_benchmark_do_not_outvote_those_of_all(make):
    """As each model counts for the widest scope in which it is ranked."""
    tcp, tot = ("tcp_short", "tcp_long"), ("tot_arithmetic", "tot_semantic")
    everything, in_tcp = recorded_runs(tcp + tot), recorded_runs(tcp)
    others = {f"x{number}": in_tcp["hasty"] for number in range(len(everything) + 1)}
    of_all = "Averaged over TCP and Test of Time, the model careful scores highest"
    few = dict([*others.items()][:-1])
    assert of_all in summary_of(make("html", everything | few))
    assert "In TCP, the model careful" in summary_of(make("html", everything | others))


def test_runs_of_more_benchmarks_do_not_outvote_those_of_fewer(make):
    """Three models have a mean over two benchmarks, and two over three."""
    tcp, tot = ("tcp_short", "tcp_long"), ("tot_arithmetic", "tot_semantic")
    [timebench] = [x for x in benchmarks([*all_tasks()]) if x.name == "timebench"]
    runs = recorded_runs(tcp + tot)
    wider = recorded_runs(tcp + tot + timebench.tasks)["hasty"]
    summary = summary_of(make("html", runs | {"x": wider, "y": wider}))
    over = "Averaged over TCP and Test of Time, the model careful scores highest"
    assert over in summary


def test_verified_answers_to_a_few_rows_describe_nothing_that_others_ran_whole(
    make, tmp_path
):
    """Not even of runs whose prompts nobody can verify."""
    tasks = ("tcp_short", "tcp_long", "tot_arithmetic", "tot_semantic")
    honest = recorded_runs(tasks)
    few = {}
    for name in ("few", "few2"):
        submission(tmp_path / name, "hasty", {"keep": 3, "tasks": tasks})
        few[name] = tmp_path / name
    assert by_model(make("json", few))["few"]["status"] == "verified"
    alone, beside = (make("html", runs) for runs in (honest, honest | few))
    assert summary_of(beside) == summary_of(alone)
    for pattern in (r"constant answer</th>.*", r'scope="colgroup"[^>]*>[^<]+'):
        assert re.findall(pattern, beside) == re.findall(pattern, alone) != []


def test_a_crowd_with_a_row_of_each_task_takes_no_summary_from_runs_of_more(
    make, tmp_path
):
    tasks = ("tcp_short", "tcp_long", "tot_arithmetic", "tot_semantic")
    runs = {}
    for name, model in (("a", "careful"), ("b", "hasty")):
        submission(tmp_path / name, model, {"keep": 5, "tasks": tasks})
        runs[name] = tmp_path / name
    alone = summary_of(make("html", runs))
    for number in range(3):
        submission(tmp_path / f"x{number}", "plain", {"keep": 1, "tasks": tasks})
        runs[f"x{number}"] = tmp_path / f"x{number}"
    text = make("html", runs)
    assert summary_of(text) == alone
    assert "scores highest of the 2 models ranked together as verified, with" in text
    assert "Averaged over TCP and Test of Time, the model a scores highest" in alone


def test_rows_from_a_seed_beyond_the_task_s_count_for_nothing_in_what_describes():
    task = "fresh_date_arithmetic"
    [group] = benchmarks([task])
    most = task_scorers.configuration(task)["metadata"]["gen_rows"]

    def entrant(rows: int, together: str) -> Namespace:
        standing = Namespace(
            documents=VERIFIED, status=VERIFIED, marks=[], together=together
        )
        figures = {group.name: {"n": rows}}
        return Namespace(standings={group.name: standing}, benchmark_rows=figures)

    lone, *two = entrant(9 * most, "a"), entrant(most, "b"), entrant(most, "b")
    tasks = Namespace(name=group.name, tasks=(task,))
    assert model_status.fullest(tasks, [lone, *two]) is two[0]


def stood(n: int, together: str = "a", **changes: object) -> Namespace:
    """Return a model with n documents of TCP, which stands there as it is, but for changes."""
    standing = {"documents": VERIFIED, "status": VERIFIED, "marks": []} | changes
    return Namespace(
        standings={"tcp": Namespace(together=together, **standing)},
        benchmark_rows={"tcp": {"n": n}},
    )


NOT_COMPARED = {"documents": UNKNOWN, "status": UNKNOWN}
FULLER = {  # models of which the first shows most of a benchmark
    "ranked": [stood(3, **NOT_COMPARED), stood(9, status=FALSE)],
    "of documents that may be its": [
        stood(3, status=FALSE, documents=UNKNOWN),
        stood(9, status=FALSE, documents=FALSE),
    ],
    "with its documents": [stood(3), stood(9, **NOT_COMPARED)],
    "as it is": [stood(3, status=UNKNOWN), stood(9, marks=["5-shot"])],
    "with most answers": [stood(5), stood(9, "b"), stood(5)],
    "of the best status": [stood(6), *(stood(3, "b", status=UNKNOWN) for _ in "ab")],
    "of most models": [stood(3, **NOT_COMPARED) for _ in "ab"]
    + [stood(9, "b", **NOT_COMPARED)],
    "with most documents": [
        stood(4, marks=["1 of 2 tasks"], **NOT_COMPARED),
        stood(3, "b", **NOT_COMPARED),
    ],
}


@pytest.mark.parametrize("why", FULLER)
def test_of_models_of_a_benchmark_the_fullest_one_is(why):
    for entrants in permutations(FULLER[why]):
        fullest = model_status.fullest(TCP, [*entrants])
        assert fullest.__dict__ == FULLER[why][0].__dict__


def test_all_ranked_models_with_its_documents_tell_which_parts_a_benchmark_has():
    full, few = stood(9, status=UNKNOWN), stood(3, status=UNKNOWN)
    others = [stood(9, status=FALSE), stood(9, "b", **NOT_COMPARED)]
    assert model_status.describing(TCP, [few, *others, full]) == [full, few]
    assert model_status.describing(TCP, others) == others[1:]


def placed(*cells: tuple) -> Namespace:
    """Return a model with marks, documents, scores and ranks in TCP and Test of Time."""
    entrant = Namespace(standings={}, benchmark_rows={})
    for name, (marks, n, published, flexible, *ranks) in zip(("tcp", "tot"), cells):
        row = {"n": n, "published": published, "flexible": flexible}
        row |= {f"{rule}_rank": rank for rule, rank in zip(RULES, ranks)}
        entrant.benchmark_rows[name] = row | {"rank_of": len(ranks)}
        entrant.standings[name] = Namespace(marks=marks)
    return entrant


LAST = ([], 9, 0.5, 0.5, "3-3", "3-3")
ORDERS = {  # what a model stands before another by: the two
    "ranks are numbers": (placed(([], 9, 0.5, 0.5, "2-9", "9-9")),)
    + (placed(([], 9, 0.5, 0.5, "10-12", "10-12")),),
    "ranks, without a mark": (placed(([], 3, 0.5, 0.5, "1-1", "1-1")), placed(LAST)),
    "documents, with a mark": (placed((["x"], 9, 0.5, 0.5, "2-2", "2-2")),)
    + (placed((["x"], 3, 0.5, 0.5, "1-1", "1-1")),),
    "no mark anywhere": (placed(LAST, LAST),)
    + (placed(([], 99, 1, 1, "1-1", "1-1"), (["x"], 99, 1, 1, "1-1", "1-1")),),
    "both benchmarks": (placed(LAST, LAST), placed(([], 9, 1, 1, "1-1", "1-1"))),
    "both benchmarks, unranked": (placed(([], 9, 0.2, 0.2), ([], 9, 0.2, 0.2)),)
    + (placed(([], 9, 0.9, 0.9)),),
    "ranks in both": (placed(LAST, LAST),)
    + (placed(([], 9, 1, 1), ([], 9, 1, 1, "1-1", "1-1")),),
    "the sum of ranks": (placed(LAST, ([], 9, 0.5, 0.5, "1-1", "1-1")),)
    + (placed(([], 9, 0.5, 0.5, "2-2", "2-2"), LAST),),
    "the published rank": (placed(([], 9, 0.5, 0.5, "1-1", "2-2")),)
    + (placed(([], 9, 0.5, 0.5, "2-2", "1-1")),),
    "ranks before scores": (placed(([], 9, 0.1, 0.1, "1-2", "1-2")),)
    + (placed(([], 9, 0.9, 0.9, "2-2", "2-2")),),
    "the published score": (placed(([], 9, 0.6, 0.6, "1-2", "1-2")),)
    + (placed(([], 9, 0.5, 0.9, "1-2", "1-2")),),
    "the flexible score": (placed(([], 9, 0.6, 0.9, "1-2", "1-2")),)
    + (placed(([], 9, 0.6, 0.8, "1-2", "1-2")),),
}


@pytest.mark.parametrize("why", ORDERS)
def test_a_model_stands_before_another_by(why):
    groups = [TCP, Namespace(name="tot")]
    first, second = (
        board_contents._order(entrant, VERIFIED, groups) for entrant in ORDERS[why]
    )
    assert first < second


def averaged(n: tuple, tot: dict | None = None, **tcp: object) -> Namespace:
    """Return a model with a mean over TCP and Test of Time, and n documents of these."""
    tot_group = Namespace(name="tot", tasks=("tot_semantic",))
    entrant = Namespace(in_mean=[TCP, tot_group], standings={})
    entrant.benchmark_rows = {name: {"n": k} for name, k in zip(("tcp", "tot"), n)}
    for name, changes in (("tcp", tcp), ("tot", tot or {})):
        standing = {"documents": VERIFIED, "status": VERIFIED, "marks": [], "tasks": ()}
        standing |= {"together": ("x",)}
        entrant.standings[name] = Namespace(**standing | changes)
    return entrant


ALL, PART = (10, 10), (2, 2)
OF_WEIGHT = {  # what a summary chooses models by: those chosen, and others
    "documents of the benchmarks": ([averaged(PART, marks=["5-shot"])],)
    + ([averaged(ALL, NOT_COMPARED)] * 5,),
    "benchmarks as they are": ([averaged(PART)],)
    + ([averaged(ALL, marks=["5-shot"])] * 5,),
    "the smallest share": ([averaged((8, 8))], [averaged((10, 2))] * 5),
    "models, where others' documents are any number": (
        [averaged(PART, NOT_COMPARED)] * 2,
    )
    + ([averaged(ALL, NOT_COMPARED)],),
    "models": ([averaged(ALL, status=UNKNOWN)] * 3, [averaged(ALL)] * 2),
    "status": ([averaged(ALL)] * 2, [averaged(ALL, status=UNKNOWN)] * 2),
}


@pytest.mark.parametrize("why", OF_WEIGHT)
def test_a_summary_of_means_is_of_the_models_with_most(why):
    row_counts = {"tcp": 10, "tot": 10}
    chosen, others = (
        board_contents._weight_of_mean(row_counts, rivals) for rivals in OF_WEIGHT[why]
    )
    assert chosen > others


def constants_of(text: str, model: str) -> list[list[str]]:
    """Return where a page has the constant answer, in each picture of a model's scores."""
    rows = re.findall(r'<tr class="row".*?</tr>', text, re.DOTALL)
    own_rows = [row for row in rows if f'title="{model}"' in row]
    places = [re.findall(r'class="limit" x1="([\d.]+)', row) for row in own_rows]
    return [places_in_row for places_in_row in places if places_in_row]


@pytest.mark.parametrize(("copies", "is_described_by_others"), [(1, False), (4, True)])
def test_what_a_page_says_of_a_part_is_of_these_rows_alone(
    make, copies, is_described_by_others
):
    """Whoever answered it and a row more; a benchmark is described by most answers."""
    honest = recorded_runs(("tot_arithmetic",))
    more = recorded_runs(("tot_semantic",))["hasty"][:1]
    others = {f"x{n}": honest["hasty"][:30] + more for n in range(copies)}
    alone, beside = (make("html", runs) for runs in (honest, honest | others))
    for model in honest:
        assert constants_of(beside, model) == constants_of(alone, model) != []
    columns = re.compile(r'data-sort title="([^"]+)"')
    assert {*columns.findall(alone)} <= {*columns.findall(beside)}
    assert "add_subtract" in columns.findall(alone)
    section = beside[beside.index('<section id="tot"') :]
    note = section.partition('<p class="note">')[2]
    assert note.startswith("31 rows" if is_described_by_others else "38 rows")


def test_a_larger_picture_has_the_constant_answer_to_a_model_s_own_rows(make):
    """Where a page has several benchmarks; most others answered a part of one of them."""
    honest = recorded_runs(("tot_arithmetic", "tcp_long"))
    others = {f"x{n}": honest["hasty"][:30] for n in range(4)}
    alone, beside = (make("html", runs) for runs in (honest, honest | others))
    for model in honest:
        assert constants_of(beside, model) == constants_of(alone, model)
        assert len(constants_of(alone, model)) >= 2


def test_models_of_a_benchmark_stand_by_their_status_in_it(make, tmp_path):
    """Not by that in others, nor below who answered a part."""
    submission(tmp_path / "a", "careful", {})
    write(tmp_path / "a2" / "x.jsonl", *answers("tot_arithmetic"))
    runs = {"a": tmp_path / "a", "part": tmp_path / "part"}
    submission(tmp_path / "part", "plain", {"tasks": ["tcp_long"]})
    text = make("html", runs, f"a={tmp_path / 'a2'}")
    rows = by_model(make("json", runs, f"a={tmp_path / 'a2'}"))
    assert [rows[name]["status"] for name in runs] == ["verified", "verified"]
    assert ">not verified in Test of Time<" in text
    section = text[text.index('<section id="tcp"') :]
    shown = re.findall(r'class="model" title="(a|part)"', section)
    assert shown[0] == "a"


@pytest.mark.parametrize(
    ("metadata", "most"), [({"gen_rows": 9}, 9), ({}, float("inf"))]
)
def test_a_generated_task_that_says_no_number_of_rows_has_no_bound(
    monkeypatch, metadata, most
):
    config = {"dataset_kwargs": {"generator": "x"}, "metadata": metadata}
    monkeypatch.setattr(model_status.task_scorers, "configuration", lambda _: config)
    assert model_status._row_limit("fresh_x") == most


def test_of_rows_that_nobody_can_compare_most_models_describe_a_benchmark(make):
    """Not who answered a row of each of its tasks."""
    runs = {name: planned(9, wrong=4) for name in "ab"}
    runs["x"] = [
        {"task": task, "doc": documents(task, EXAMPLES)[0], "response": "no"}
        for task in ("tcp_long", "tcp_short")
    ]
    text = make("html", runs, *BARE)
    section = text[text.index('<section id="tcp"') :]
    assert section.partition('<p class="note">')[2].startswith("9 rows")


def test_a_summary_is_of_the_mean_that_most_have_whatever_is_verified(make, tmp_path):
    tasks = ("tcp_short", "tcp_long", "tot_arithmetic", "tot_semantic")
    runs = recorded_runs(tasks)
    alone = summary_of(make("html", runs))
    others = []
    for name, task in product("xy", tasks):
        rows = {"keep": len(documents(task, EXAMPLES)), "tasks": [task]}
        submission(tmp_path / name / task, "hasty", rows)
        others.append(f"{name}={tmp_path / name / task}")
    rows = json.loads(make("json", runs, *others))
    [mean] = [x for x in rows if x["model"] == "x" and x["scope"] == "mean"]
    assert mean["status"] == "verified"
    # The two others have the mean, too, and are not spoken of.
    text = make("html", runs, *others)
    assert summary_of(text) == alone
    assert "highest of the 3 models ranked together as not verified, with" in text


def test_a_summary_says_nothing_of_benchmarks_that_its_models_lack(make):
    in_tcp, in_tot = recorded_runs(("tcp_long",)), recorded_runs(("tot_semantic",))
    runs = in_tcp | {f"x{number}": in_tot["hasty"][:3] for number in range(2)}
    assert "Test of Time cannot tell" not in summary_of(make("html", runs))
    assert "cannot tell" in summary_of(
        make("html", {"a": in_tot["hasty"]} | {"b": in_tot["hasty"]})
    )


SENTENCE = "0'). Withdrawn by us (see"


def test_a_name_goes_on_as_no_sentence(make):
    rows = planned(40, prefix=LONG)
    runs = {"a": rows, "b": planned(40, wrong=39), SENTENCE: rows}
    text = make("html", runs, *BARE)
    summary = text[text.index("<b>In short.</b>") :].partition("</p>")[0]
    words_of_name = re.findall("[^<>]*Withdrawn[^<>]*", summary)
    assert words_of_name
    for words in words_of_name:
        assert f'<b class="called"><bdi>{words}</bdi></b>' in summary
    remarks = by_model(make("json", runs, *BARE))["a"]["remarks"]
    assert remarks.endswith("are those of '0_)._Withdrawn_by_us_(see'")


QUOTED = [
    ("org/careful", "'org/careful'"),
    ("a b\tc\u2028d", "'a_b_c_d'"),
    ("'a' \"b\" `c`", "'_a___b___c_'"),
    ("cаre", "'c\\u0430re'"),
    ("x" * 200, f"'{'x' * 200}'"),
    ("x" * 100 + "y" * 101, f"'{'x' * 100}...{'y' * 97}'"),
    ("é" * 99, "'" + r"\xe9" * 25 + "...9" + r"\xe9" * 24 + "'"),  # as it is shown
]


@pytest.mark.parametrize(("name", "expected"), QUOTED)
def test_a_name_in_a_sentence_is_one_short_word_in_quotes(name, expected):
    assert quoted(name) == expected


class Remarked:
    """A model without answers, of which its files say much."""

    name, status, answers, task_checks, standings = "a", "verified", {}, {}, {}
    model = Namespace(given_name="a")

    def __init__(self) -> None:
        self.remarks = [f"{number}{'x' * 999}" for number in range(29)]


def test_a_model_has_twenty_remarks_of_five_hundred_characters():
    entrant = Remarked()
    model_status.add_remarks([entrant])
    assert [*map(len, entrant.remarks)] == [500] * 20
    assert entrant.remarks[-1].startswith("19x")


def test_remarks_are_of_the_worst_status_then_of_marks_files_and_others():
    standings = {
        "tcp": Namespace(status=FALSE, reasons=["r1", "r2"], marks=["m1"]),
        "tot": Namespace(status=UNKNOWN, reasons=["r3"], marks=["m2"]),
        TWINS: Namespace(status=FALSE, reasons=["r4"], marks=[]),
    }
    task_checks = {task: {"marks": ["x", task]} for task in TCP.tasks}
    said = {"status": FALSE, "standings": standings, "task_checks": task_checks}
    entrants = [
        Called("o\u00e9", range(40), **said, remarks=["of a file"]),
        Called("oe", range(30), standings={}, task_checks={}, remarks=[]),
    ]
    # This tells it from another of its name.
    entrants[0].name = entrants[0].model.name = "o\u00e9 (\u00fc)"
    model_status.add_remarks(entrants)
    marks = ["m1", "m2", "x", "tcp_long (tcp_long)", "tcp_short (tcp_short)"]
    assert entrants[0].remarks == [
        *("TCP: r1; r2", "twin tot arithmetic: r4", *marks, "of a file"),
        "the name looks like 'oe'",
        "the name holds latin small letter e with acute",
        "all 30 answers to shared documents are those of 'oe'",
    ]
    assert entrants[1].remarks == ["the name looks like 'o\\xe9_(\\xfc)'"]


def test_a_run_card_has_each_value_once_with_its_tasks_and_no_empty_one():
    entries = []
    for task, size, frame in zip(TCP.tasks, (5_000, 0), ("x{user}", "")):
        check = checked(prompts={"frame": frame, "frame_size": size})
        checks = {"Filter": "none", "Prompts": f"{task} is asked", "Answers": ""}
        entries.append((None, {"task": task, "check": check | {"checked": checks}}))
    source = Namespace(place=Path("/" + "m" * 400))
    model = {"name": "a", "is_named": False, "remarks": [], "entries": entries}
    entrant = model_status.Entrant(
        Namespace(**model, source=source, documents=lambda: iter(()))
    )
    entrant.cite = ["One.", "Two."]
    card = entrant.card()
    asked = "tcp_long is asked (tcp_long); tcp_short is asked (tcp_short)"
    assert (card["Filter"], card["Prompts"], card["Generation"]) == ("none", asked, "a")
    assert card["Around each prompt (5,000 characters)"] == "x{user} (tcp_long)"
    assert not {"Answers", "Around each prompt (0 characters)"} & {*card}
    assert (card["Remarks"], card["Cite"]) == ("none", "One. Two.")
    assert card["Named by"] == "its files or its path" and len(card["File"]) < 310
    entrant.is_named, entrant.remarks = True, ["x", "y"]
    card = entrant.card()
    assert (card["Named by"], card["Remarks"]) == ("the maker of the board", "x; y")


def test_a_model_has_its_documents_in_the_order_of_all_and_its_last_answers():
    def answered(*responses: str) -> Namespace:
        return Namespace(
            answers=[Namespace(response=x, length=len(x)) for x in responses]
        )

    keys = [("tcp_short", "d", 0), ("tcp_long", "d", 1), ("tcp_long", "d", 0)]
    documents = [*zip(keys, (answered("a", "last"), answered("b"), answered("c")))]
    model = {"name": "a", "remarks": [], "is_named": True, "entries": []}
    entrant = model_status.Entrant(Namespace(**model, documents=lambda: documents))
    assert entrant.answers[keys[0]] == ("last", 4)
    in_order = [documents[2][1], documents[1][1]]
    assert entrant.documents_by_task["tcp_long"] == in_order
    assert entrant.answered(Namespace(tasks=("tcp_short", "tot_x", "tcp_long"))) == (
        *("tcp_short", "tcp_long"),
    )
    assert entrant.status == UNKNOWN
    for status in (VERIFIED, FALSE, UNKNOWN):
        entrant.standings[status] = Namespace(status=status)
    assert entrant.status == FALSE


def test_a_remark_of_some_models_is_no_shared_one():
    said = [["x", "y", "z"], ["z", "x"], ["x", "z", "y"]]
    entrants = [Namespace(remarks=remarks) for remarks in said]
    assert board_contents._shared_remarks(entrants) == ["x", "z"]
    assert board_contents._shared_remarks(entrants[:1]) == said[0]


def test_what_twins_tell_is_said_of_a_name_in_quotes_by_rows_of_twins_alone(
    monkeypatch,
):
    keys = [(task, "d", 0) for task in ("tot_arithmetic", TWINS)]
    model = Namespace(documents=lambda: [(key, key[0]) for key in keys])
    with_rows: list = []
    monkeypatch.setattr(board_contents, "add_rows", with_rows.extend)
    monkeypatch.setattr(board_contents, "recall", lambda *_: [{"run": "a b", "n": 1}])
    sentence = lambda row, name: f"{name} {row['n']}"  # noqa: E731
    monkeypatch.setattr(board_contents, "recall_sentence", sentence)
    assert [*board_contents._recall_sentences([model], EXAMPLES)] == ["'a_b' 1"]
    assert with_rows == [(TWINS, TWINS)]


def test_in_a_mean_benchmarks_count_alike_whatever_their_size(monkeypatch):
    scores = {"tcp": ([1.0, 0.0], ["a", "b"]), "tot": ([1.0, 1.0, 1.0, 0.0], [*"bcde"])}
    headline = lambda group, *_: scores[group.name]  # noqa: E731
    monkeypatch.setattr(board_contents, "headline_scores", headline)
    entrant = averaged(ALL)
    entrant.documents_by_task, entrant.model = {}, Namespace(tasks={})
    values, clusters = board_contents._values(entrant, entrant.in_mean, RULES[0])
    assert sum(values) / len(values) == pytest.approx((0.5 + 0.75) / 2)
    assert clusters == [*"abbcde"]


def test_a_model_has_the_status_of_a_scope_in_it():
    statuses = {"tcp": VERIFIED, "tot": UNKNOWN, "fresh": FALSE}
    standings = {
        name: Namespace(status=status, tasks=(f"{name}_long", f"{name}_short"))
        for name, status in statuses.items()
    }
    in_mean = [Namespace(name=name) for name in ("tcp", "tot")]
    entrant = Namespace(standings=standings, in_mean=in_mean, status=FALSE)
    expected = {f"{name}_short": status for name, status in statuses.items()}
    expected |= statuses | {"mean": UNKNOWN, TWINS: FALSE}
    for scope, status in expected.items():
        assert board_contents.status_in(entrant, scope) == status


def test_long_places_take_no_honest_model_from_the_page(make, tmp_path):
    """Names end in being places, and a page escapes them: `"` takes six letters."""
    for number in range(8):
        folders = [*['"' * 200] * 3, f"{number}{'x' * 200}"]
        place = tmp_path.joinpath("odd", *folders)
        submission(place, "careful", {"tasks": ["tcp_long"], "name": "org/a"})
    submission(tmp_path / "a", "careful", {"tasks": ["tcp_long"]})
    runs = {"a": tmp_path / "a", "": tmp_path / "odd"}
    rows = by_model(make("json", runs))
    assert len(rows) == 9 and max(map(len, rows)) < 400
    page = make("html", runs)
    assert page.count("<dt>Model</dt>") == 9
    assert len(page) < 9 * 60_000


def test_answers_without_a_filter_are_not_told_from_the_first_response(make):
    rows = by_model(make("json", {"a": answers("tcp_long")}))
    assert "prompts are not in the files" in rows["a"]["remarks"]
    assert "first response" not in rows["a"]["remarks"]


def test_the_page_lists_more_files_that_are_left_out_than_a_remark_names(
    make, tmp_path
):
    write(tmp_path / "m" / "good.jsonl", *planned(3))
    for number in range(6):
        write(tmp_path / "m" / f"bad{number}.jsonl", {"task": "tcp_long"})
    text = make("html", {"m": tmp_path / "m", "a": planned(3)}, *BARE, status=1)
    listed = text[text.index('<section id="left-out"') :].partition("</section>")[0]
    assert len(re.findall('<th scope="row" title="[^"]*bad[0-9]', listed)) == 6


def test_a_page_links_the_very_files_that_are_beside_it(make, tmp_path):
    text = make("html", {"a": planned(3)}, *BARE, f"--csv={tmp_path / '50%#2.csv'}")
    assert '<a href="50%25%232.csv">CSV</a>' in text


FORGED = "careful: left out: answers are copied; remove it"


def test_a_name_of_a_file_is_no_message(make, tmp_path, capsys):
    (tmp_path / FORGED).mkdir()
    write(tmp_path / "m" / f"{FORGED}.jsonl", *planned(3), {"task": "tcp_long"})
    runs = {"x": tmp_path / FORGED, "a": tmp_path / "m"}
    make("json", runs, *BARE, status=1)
    messages = capsys.readouterr().err
    assert f"'{tmp_path / FORGED}': left out: has no samples" in messages
    assert f"'{tmp_path / 'm' / FORGED}.jsonl', line 4: " in messages


CUT, REFUSED = gzip.compress(b"{}\n")[:9], b'{"task": "tcp_long"}\n'
FAULTS = [  # the files of a model, what names it, and what the message begins with
    ({"a.jsonl": None, "b.jsonl.gz": CUT}, ".", ": left out: b.jsonl.gz: after line 0"),
    ({"b.jsonl.gz": CUT}, "b.jsonl.gz", "/b.jsonl.gz: left out: after line 0: "),
    ({"b.jsonl": REFUSED, "c.jsonl": REFUSED}, ".", ": left out: b.jsonl: line 1: "),
    ({"b.jsonl": REFUSED}, "b.jsonl", "/b.jsonl: left out: line 1: "),
]


@pytest.mark.parametrize(("files", "named", "expected"), FAULTS)
def test_what_is_left_out_for_one_file_names_it_once(
    make, tmp_path, capsys, files, named, expected
):
    for name, content in files.items():
        rows = planned(3) if content is None else [content]
        write(tmp_path / "m" / name, *rows)
    make("json", {"m": tmp_path / "m" / named, "a": planned(3)}, *BARE, status=1)
    assert f"{tmp_path / 'm'}{expected}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("count", "more"), [(3, []), (4, ["1 more file is"]), (50, ["47 more files are"])]
)
def test_files_that_are_left_out_are_named_in_part(make, tmp_path, count, more):
    write(tmp_path / "m" / "good.jsonl", *planned(3))
    for number in range(count):
        write(tmp_path / "m" / f"{'n' * 100}{number}.jsonl", {"task": "tcp_long"})
    text = make("json", {"m": tmp_path / "m"}, *BARE, status=1)
    remarks = json.loads(text)[0]["remarks"]
    assert re.findall("([0-9]+ more [a-z ]*) left out", remarks) == more
    assert remarks.count("is left out: line 1") == 3
    assert len(remarks) < 3_000
    # What it says does not keep the next board from replacing it.
    assert make("json", {"a": planned(3)}, *BARE)


def file_of(
    path: str, end: str | None = None, refused: tuple = (), tasks: tuple = ()
) -> Namespace:
    """Return a file of answers, with how it ends and its refused lines."""
    head = {"end": end, "refused": {"lines": refused}, "tasks": tasks}
    return Namespace(head=head, source=Namespace(path=Path(path)))


def of_files(*tables: Namespace, place: str = "m", tasks: tuple = ()) -> Namespace:
    """Return a model of files in a place."""
    source = Namespace(place=Path(place), label=None)
    model = {"name": "a", "tables": tables, "source": source, "tasks": tasks}
    return Namespace(**model, remarks=[])


REFUSED_LINES = ((4, "x"), (9, "y"))
WHOLE = of_files(
    file_of("m/a", None, REFUSED_LINES, ("tcp_long",)), tasks=("tcp_long",)
)
FAULTY = [  # models, and why they are left out
    (of_files(file_of("m/a", "is cut", REFUSED_LINES)), "a: is cut"),
    (of_files(file_of("m/a", None, REFUSED_LINES)), "a: line 4: x"),
    (of_files(file_of("m/a"), file_of("m/b", "is cut"), tasks=("t",)), "b: is cut"),
    (of_files(file_of("m/a", "is cut"), place="m/a"), "is cut"),
]


@pytest.mark.parametrize(("model", "reason"), FAULTY)
def test_models_that_are_left_out_stand_before_files(model, reason):
    of_file = Failure(Path("m/z"), "z", "has no answer")
    models, failures = leaderboard._read_whole([model, WHOLE], [of_file])
    assert models == [WHOLE]
    assert failures == [Failure(model.source.place, "a", reason), of_file]


def test_a_page_of_few_runs_has_its_warnings_and_what_is_left_out(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    boards, of_file = [], Failure(Path("m/z"), "z", "has no answer")
    made = lambda models, failures, _: {"about": {}, "got": (models, failures)}  # noqa: E731
    monkeypatch.setattr(leaderboard, "Entrant", lambda model: model)
    monkeypatch.setattr(leaderboard, "board_data", made)
    monkeypatch.setattr(leaderboard, "_write", lambda *pair: boards.append(pair))
    options = Namespace(html=(Path("x.html"), False), output=None)
    for models in ([FAULTY[0][0]], [WHOLE, FAULTY[0][0]]):
        leaderboard.write_page(models, [of_file], options, ["one", "two"])
    [(board, page_options)] = boards
    left_out = Failure(Path("m"), "a", FAULTY[0][1])
    assert board["got"] == ([WHOLE], [left_out, of_file])
    assert board["about"]["warnings"] == ["one", "two"]
    assert (page_options.html, page_options.csv) == (Path("x.html"), None)
    assert capsys.readouterr().err == f"{tmp_path / 'x.html'} is written\n"


def test_a_page_of_few_runs_replaces_a_page_alone(tmp_path):
    path = tmp_path / "x.html"
    leaderboard.check_page((path, False))
    path.write_text(f"{page.FIRST_LINE}\n<html>")
    leaderboard.check_page((path, False))
    path.write_text("model,status,remarks,scope,\n")
    with pytest.raises(ToolError, match="was not made by leaderboard"):
        leaderboard.check_page((path, False))


def test_of_the_files_of_a_model_those_without_any_answer_are_left_out():
    bad = [file_of(f"m/{number}", None, REFUSED_LINES) for number in range(30)]
    model = of_files(*WHOLE.tables, *bad, tasks=("tcp_long",))
    left_out = [*leaderboard._files_left_out([model])]
    assert [failure.path for failure in left_out] == [Path(f"m/{n}") for n in range(20)]
    remarks = [f"{number} is left out: line 4: x" for number in range(3)]
    assert model.remarks == [*remarks, "27 more files are left out"]


def claimant(claim: str | None, place: str, *tasks: str, label: str | None = None):
    """Return a model of which the results claim a name."""
    source = Namespace(place=Path(place), label=label)
    return Namespace(
        tables=[Namespace(head={"model": claim})], source=source, tasks=tasks
    )


CLAIMANTS = [claimant("a", "/x y", "1", "2"), claimant("a", "/b", "3")]
HINT = "a: 2 rows claim this name; 'a=/x y' a=/b makes one of them"
HINTS = [  # models beside these, and how to join them
    ([], [HINT]),
    ([claimant("b", "/c", "1"), claimant(None, "/d", "1")], [HINT]),
    ([claimant("a", "/c", "1", label="a")], [HINT]),
    (
        [claimant("a", "/c", "4")],
        [HINT.replace("2 rows", "3 rows").replace("/b", "/b a=/c")],
    ),
    ([claimant("a", "/c", "3")], []),
]


@pytest.mark.parametrize(("others", "hints"), HINTS)
def test_all_rows_of_one_claimed_name_are_joined_if_they_share_no_task(others, hints):
    assert [*leaderboard._hints([*CLAIMANTS, *others])] == hints


def test_the_terminal_says_of_each_benchmark_who_stands_how_in_it(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = {}
    for name, ranks in (("tcp", ("1-1", "1-2")), ("tot", (None, None))):
        rows[name] = {"n": 8, "answers": 16, "published": 0.5, "flexible": 0.75}
        rows[name] |= {f"{rule}_rank": rank for rule, rank in zip(RULES, ranks)}
    standings = {
        name: Namespace(status=status, tasks=())
        for name, status in (("tcp", VERIFIED), ("tot", UNKNOWN))
    }
    entrant = Namespace(name="a", status=UNKNOWN, in_mean=[], standings=standings)
    entrant.benchmark_rows = rows
    board = {"benchmarks": [{"name": name, "models": [entrant]} for name in rows]}
    paths = [Path(f"board.{form}") for form in ("html", "csv", "json")]
    leaderboard._print_standing(
        board, Namespace(**dict(zip(("html", "csv", "json"), paths)))
    )
    printed = capsys.readouterr()
    cells = [re.split(r" *\| *", line)[1:-1] for line in printed.out.split("\n")]
    assert [*map(" ".join, cells[2:4])] == [
        "tcp a verified 8 50.0 1-1 75.0 1-2",
        "tot a not verified 8 50.0 – 75.0 –",
    ]
    assert printed.err.splitlines() == [
        f"{tmp_path / path} is written" for path in paths
    ]


def test_a_page_in_a_folder_is_its_index(tmp_path):
    inside, file = tmp_path / "index.html", tmp_path / "new"
    assert leaderboard._page(f"{tmp_path}") == leaderboard._page(f"{tmp_path}/")
    assert leaderboard._page(f"{tmp_path}") == (inside, True)
    assert leaderboard._page(f"{file}/") == (file / "index.html", True)
    assert leaderboard._page(f"{file}") == (file, False)


SAME_OUTPUTS = [
    (("--csv", "a", "--json", "a"), True),
    (("--html", "b", "--csv", "a"), True),
    (("--html", "./a", "--json", "a"), True),
    (("--html", "a/", "--json", "a/index.html"), True),
    (("--html", "a", "--csv", "c", "--json", "d"), False),
]


@pytest.mark.parametrize(("outputs", "are_the_same"), SAME_OUTPUTS)
def test_outputs_of_a_board_are_different_files(
    outputs, are_the_same, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("b").symlink_to("a")
    command = ["run", *outputs, *PACK]
    if are_the_same:
        with pytest.raises(SystemExit, match="2"):
            leaderboard._options(command)
        message = "two of --html, --csv and --json name one file; name others"
        assert message in capsys.readouterr().err
    else:
        assert leaderboard._options(command).csv == Path("c")


def test_a_board_of_no_run_is_not_made_and_one_of_no_document_is_an_error(tmp_path):
    output = tmp_path / "board.json"
    assert main(["leaderboard", f"{tmp_path / 'x'}", "--json", f"{output}", *PACK]) == 1
    assert not output.exists()
    with pytest.raises(ToolError, match="name others, or no --leave_out"):
        board_contents.board_data([Namespace(tasks_to_show=set())], [], Namespace())


def test_a_page_says_of_which_tasks_a_pack_has_other_rows(monkeypatch):
    upstream = {
        "tcp_long": (8, None),
        "tcp_short": (8, "0" * 16),
        "tot_arithmetic": (None, None),
        "tot_semantic": (2_800, "0" * 16),
        "timebench_tracie": (1_000, None),
    }
    known = lambda task: Namespace(upstream=upstream[task], utils=scorer(task).utils)  # noqa: E731
    monkeypatch.setattr(board_contents, "scorer", known)
    counts = {task: len(documents(task, EXAMPLES)) for task in upstream}
    assert [*board_contents._differences({*upstream}, EXAMPLES)] == [
        ("tcp_short", "other rows"),
        ("timebench_tracie", f"{counts['timebench_tracie']} of 1,000 rows"),
        ("tot_semantic", f"{counts['tot_semantic']} of 2,800 rows"),
    ]


def test_a_summary_of_means_is_by_shares_of_the_rows_that_anybody_answered():
    entrants = []
    for group, n, count in (("a", (8, 4), 2), ("b", (4, 8), 3), ("c", (16, 8), 1)):
        for _ in range(count):
            entrant = averaged(n)
            ranks = {"rank_of": count if count > 1 else None, "rank_group": group}
            entrant.benchmark_rows["mean"] = ranks
            entrants.append(entrant)
    groups = entrants[0].in_mean
    assert board_contents._summarised("mean", groups, entrants) == entrants[:2]


def tallied(*counts: tuple[int, int]) -> Namespace:
    """Return a model with numbers of answers, and of left out ones, to tasks."""
    tallies = {
        task: Namespace(
            task=task, all=Namespace(answers=answers), answered=1, left_out=left_out
        )
        for task, (answers, left_out) in zip(TCP.tasks, counts)
    }
    return Namespace(model=Namespace(tasks=tallies))


def test_a_page_counts_answers_and_left_out_rows_of_all_models_and_tasks(monkeypatch):
    monkeypatch.setattr(
        board_contents, "_differences", lambda tasks, _: zip(tasks, "xx")
    )
    entrants = [tallied((8, 1), (16, 2)), tallied((3, 4))]
    for folder, pack in ((EXAMPLES, "examples"), (task_scorers.FOLDER, None)):
        options = Namespace(include_path=folder, leave_out="list")
        about = board_contents._about(entrants, options)
        assert (about["answers"], about["left_out_rows"]) == (27, 7)
        assert (about["pack"], about["leave_out"]) == (pack, "list")
        assert {*about["partial"]} == {*TCP.tasks}


def test_a_row_of_a_table_says_the_model_its_status_in_the_scope_and_remarks():
    figures = {"tcp": {"run": "r", "task": "tcp", "filter": "f", "n": 8}}
    figures |= {"tot_semantic|format|x": {"task": "tot_semantic", "by": "format"}}
    standings = {
        "tcp": Namespace(status=VERIFIED, tasks=()),
        "tot": Namespace(status=UNKNOWN, tasks=("tot_semantic",)),
    }
    said = {"standings": standings, "in_mean": [], "figures": figures}
    entrants = [
        Called("a", **said, remarks=["x", "y"]),
        Called("b", **said, remarks=[]),
    ]
    first, second, third, _ = board_contents.board_rows(entrants)
    row = {"model": "a", "status": VERIFIED, "remarks": "x; y", "scope": "tcp", "n": 8}
    assert (first, [*first]) == (row, [*row])
    row |= {"status": UNKNOWN, "scope": "tot_semantic", "by": "format"}
    row.pop("n")
    assert second == row
    assert (third["model"], third["remarks"]) == ("b", None)


def test_a_summary_of_a_benchmark_is_of_all_that_are_ranked_with_the_fullest_model():
    few, full = [stood(3) for _ in "abc"], [stood(9, "b", status=UNKNOWN) for _ in "ab"]
    for group, entrants in (("x", few), ("y", full)):
        for entrant in entrants:
            ranks = {"rank_of": len(entrants), "rank_group": group}
            entrant.benchmark_rows["tcp"] |= ranks
    alone = stood(99, "c")
    alone.benchmark_rows["tcp"] |= {"rank_of": None, "rank_group": None}
    elsewhere = Namespace(benchmark_rows={}, standings={})
    entrants = [alone, *few, elsewhere, *full]
    found = board_contents._summarised("tcp", [Namespace(name="tot"), TCP], entrants)
    assert found == full
    assert board_contents._summarised("tcp", [TCP], [alone, elsewhere]) == []


def test_ranks_are_counted_from_the_tests_of_each_score(monkeypatch):
    """By the published score a is best, by the flexible one b is, by a little."""
    zero, one, clusters = [0.0] * 40, [1.0] * 40, [f"{n}" for n in range(40)]
    little = [0.2, 0.1] * 20
    scores = {"published": [one, zero, zero], "flexible": [zero, little, zero]}
    of = lambda number, _, rule: (scores[rule][number], clusters)  # noqa: E731
    monkeypatch.setattr(board_contents, "_values", of)
    rows: list[dict] = [{}, {}, {}]
    assert board_contents._rank([0, 1, 2], rows, []) == 6
    ranks = {rule: [row[f"{rule}_rank"] for row in rows] for rule in RULES}
    assert ranks["published"] == ["1-1", "2-3", "2-3"]
    assert ranks["flexible"] == ["2-3", "1-1", "2-3"]
    monkeypatch.setattr(stats, "holm", lambda _: [0.0499, 0.0501])
    board_contents._rank([0, 1], rows[:2], [])
    assert [[row[f"{rule}_rank"] for row in rows[:2]] for rule in RULES] == [
        ["1-1", "2-2"],
        ["1-2", "1-2"],
    ]


def test_a_mean_is_ranked_over_its_benchmarks_among_models_ranked_in_each(monkeypatch):
    compared, groups = [], averaged(ALL).in_mean
    tot = {"status": UNKNOWN}
    entrants = [
        averaged(ALL, tot),
        averaged(ALL, tot),
        averaged(ALL, {"status": FALSE}),
    ]
    entrants.append(averaged(ALL, tot, together=("y",)))
    entrants.append(averaged(ALL, {"status": FALSE}, together=("y",)))
    for entrant in entrants:
        entrant.benchmark_rows["mean"] = {"n": 20}
    record = lambda rivals, _, ranked_in: compared.append((rivals, ranked_in)) or 9  # noqa: E731
    monkeypatch.setattr(board_contents, "_rank", record)
    counts = board_contents._add_ranks(entrants, groups)
    assert counts == {"ranked": 3, "tests": 9}
    pair = entrants[:2]
    assert compared == [
        (entrants[:3], [TCP]),
        ([*pair, entrants[3]], groups[1:]),
        (pair, groups),
        (entrants[3:], [TCP]),
    ]
    rows = entrants[0].benchmark_rows
    assert [rows[x]["rank_of"] for x in ("tcp", "tot", "mean")] == [3, 3, 2]
    statuses = [
        rows[x]["rank_group"].partition(" #")[0] for x in ("tcp", "tot", "mean")
    ]
    assert statuses == [VERIFIED, UNKNOWN, UNKNOWN]
    assert (
        len({entrant.benchmark_rows["tcp"]["rank_group"] for entrant in entrants}) == 2
    )
    assert "rank_of" not in entrants[2].benchmark_rows["mean"]
    assert board_contents._add_ranks(pair[:1], groups) == {"ranked": 0, "tests": 0}


def test_figures_are_those_of_the_mean_of_whole_benchmarks_then_of_each(monkeypatch):
    tot = Namespace(name="tot", tasks=("tot_arithmetic", "tot_semantic"))
    tasks = {"tcp": TCP.tasks, "tot": tot.tasks[:1]}
    rows = [{"task": "tcp", "n": 16}, {"task": "tcp_long", "n": 8}]
    rows += [{"task": "tot_arithmetic", "n": 38}]
    rows += [rows[2] | {"by": "format", "value": "x", "n": 3}]
    rows = [{"by": None, "value": None} | row for row in rows]
    cite = lambda model, cited: (row["run"] for row in cited[:1])  # noqa: E731
    monkeypatch.setattr(board_contents, "rows_of_run", lambda *_: rows)
    monkeypatch.setattr(board_contents, "citations", cite)
    monkeypatch.setattr(board_contents, "_mean_row", lambda *_: {"n": 54})
    of_task = {"tcp": 16, "tot": 38, "tcp_long": 8, "tot_arithmetic": 38}
    of_task |= {"tot_arithmetic|format|x": 3}
    for answered, mean in ((tasks, []), (tasks | {"tot": tot.tasks}, ["mean"])):
        entrant = Called("a b", tasks=None)
        entrant.model.tasks = {}
        entrant.standings = {name: Namespace(tasks=answered[name]) for name in tasks}
        entrant.answered = lambda group: answered[group.name]  # noqa: B023
        board_contents._add_figures(entrant, [TCP, tot])
        figures = {key: row["n"] for key, row in entrant.figures.items()}
        assert [*figures][: len(mean) + 2] == [*entrant.benchmark_rows]
        assert [*figures.items()] == [*((x, 54) for x in mean), *of_task.items()]
        assert entrant.cite == ["'a_b'"]
        assert entrant.figures["tcp"]["rank_of"] is None


def test_a_benchmark_is_said_with_its_title_its_models_and_what_these_answered(
    monkeypatch,
):
    tot = next(x for x in benchmarks(["tot_semantic"]) if x.name == "tot")
    row = {"n": 8, "clusters": 5, "constant": 0.1, "rank_of": None, "published": 0.5}
    entrants = []
    for status in (FALSE, None, VERIFIED, UNKNOWN):
        entrant = Called(f"{status}", benchmark_rows={"tot": row | {"flexible": 0.5}})
        in_tot = {
            "status": status,
            "documents": VERIFIED,
            "marks": [],
            "together": status,
        }
        entrant.standings = {"tot": Namespace(**in_tot)} if status else {}
        entrant.status = FALSE
        entrant.answered = lambda group: group.tasks[1:]
        entrants.append(entrant)
    said_of = lambda name: {"metadata": {"version": f"of {name}"}}  # noqa: E731
    monkeypatch.setattr(board_contents, "configuration", said_of)
    for name in ("_columns", "references", "reason_bars", "pairs"):
        monkeypatch.setattr(board_contents, name, lambda *arguments: arguments)
    said = board_contents._benchmark(tot, entrants)
    assert (said["title"], said["tasks"], said["of"]) == (
        *("Test of Time", ("tot_semantic",), 2),
    )
    assert (said["rows"], said["clusters"], said["constant"]) == (8, 5, 0.1)
    assert said["version"] == "of tot"
    assert said["references"] == (tot, ("tot_semantic",), 8)
    assert said["models"] == [entrants[2], entrants[3], entrants[0]]
    places = {entrants[2]: 2, entrants[3]: 3, entrants[0]: 0}
    assert said["reasons"] == said["pairs"] == (places, tot)


SUMMARIES = [  # models by scope, benchmarks that are public, and of which scope it is
    ({"mean": "ab", "tcp": "abc", "tot": "cd"}, True, "mean"),
    ({"mean": "a", "tcp": "ab", "tot": "c"}, True, "mean"),
    ({"mean": "a", "tcp": "abc", "tot": "d"}, True, "tcp"),
    ({"tcp": "a", "tot": "bc"}, True, "tot"),
    ({"tcp": "", "tot": ""}, True, "tcp"),
    ({"tcp": "a", "fresh": "abcd"}, True, "tcp"),
    ({"fresh": "ab"}, False, "fresh"),
]


@pytest.mark.parametrize(("models", "has_public", "expected"), SUMMARIES)
def test_a_summary_is_of_the_scope_that_is_the_widest_of_most_models(
    monkeypatch, models, has_public, expected
):
    standing = Namespace(status=UNKNOWN, tasks=())
    said = {"benchmark_rows": models, "standings": dict.fromkeys(models, standing)}
    said |= {"in_mean": [Namespace(name="tcp")], "status": FALSE}
    named = {name: Called(name, **said) for name in "abcd"}
    summarised = {scope: [named[x] for x in names] for scope, names in models.items()}
    monkeypatch.setattr(
        board_contents, "_summarised", lambda scope, *_: summarised[scope]
    )
    public = [Namespace(name="tcp"), Namespace(name="tot")] if has_public else []
    others = [Namespace(name="fresh")]
    summary = board_contents._summary(public, others, [*named.values()])
    assert summary["overall"] == expected
    assert summary["summarised"] == summarised[expected]
    status = UNKNOWN if summarised[expected] else None
    assert summary["summarised_status"] == status


def described(figures: dict[str, int], *tasks: str) -> Namespace:
    """Return a model with numbers of documents by TASK|BREAKDOWN|VALUE."""
    rows = {}
    for key, n in figures.items():
        task, by, value = (*key.split("|"), None, None)[:3]
        rows[key] = {"task": task, "by": by, "value": value, "n": n}
    return Namespace(figures=rows, answered=lambda _: tasks)


def test_scores_are_split_by_tasks_and_by_parts_that_any_model_tells_of():
    [tot] = [group for group in benchmarks(["tot_semantic"]) if group.name == "tot"]
    first = {"tot_arithmetic": 9, "tot_arithmetic|question_type|a 10": 5}
    first |= {"tot_arithmetic|question_type|a 2": 4, "tot_arithmetic|format|x": 9}
    other = {"tot_arithmetic": 3, "tot_arithmetic|question_type|b_c": 3}
    other |= {"tot_semantic": 7, "tot_semantic|question_type|a 2": 7}
    models = described(first, "tot_arithmetic"), described(other, *tot.tasks)
    columns = {
        heading: [(x["label"], x["n"], x["is_detail"]) for x in parts]
        for heading, parts in board_contents._columns(tot, models).items()
    }
    by_type = [("a 2", 4, False), ("a 10", 5, False), ("b_c", 3, False)]
    assert columns == {
        "Tasks": [("arithmetic", 9, False), ("semantic", 7, False)],
        "arithmetic by question type": by_type,
        "semantic by question type": [("a 2", 7, False)],
        "arithmetic by format": [("x", 9, True)],
    }
    alone = board_contents._columns(tot, models[:1])
    assert [*alone] == ["By question type", "By format"]
    timebench = next(x for x in benchmarks(["timebench_tracie"]) if len(x.tasks) > 9)
    tasks = timebench.tasks[:2] + timebench.tasks[-2:]
    model = described(dict.fromkeys(tasks, 1), *tasks)
    columns = board_contents._columns(timebench, [model])
    labels = {
        heading: [x["label"] for x in parts] for heading, parts in columns.items()
    }
    assert [*labels] == ["symbolic", "event"]
    assert labels["symbolic"] == ["timexnli s1", "timexnli s2"]


def test_a_script_knows_the_shape_and_the_short_label_of_each_model(monkeypatch):
    models = [Called("a"), Called("n" * 17), Called("c")]
    benchmark = {"name": "tcp", "tasks": TCP.tasks, "pairs": [1]}
    board = {"models": models, "pictured": [models[2], models[0]]}
    board["benchmarks"] = [benchmark, benchmark | {"name": "x", "tasks": ("x",)}]
    monkeypatch.setattr(page, "collect", lambda *_: {"tcp_long": []})
    monkeypatch.setattr(page, "_fit", lambda page_of, *_: page_of.args[1])
    options = Namespace(html=Path("board.html"), is_folder=False)
    data = page.files(board, options)[options.html]
    assert data["shapes"] == [1, None, 0]
    assert data["labels"] == ["a", f"{'n' * 8}…{'n' * 7}", "c"]
    assert data["models"] == ["a", "n" * 17, "c"]
    assert data["tasks"] == {"tcp": TCP.tasks, "x": ("x",)}
    assert data["reasons"] == {"tcp_long": scorer("tcp_long").utils.REASONS}


def test_a_page_links_figures_in_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outputs = {"html": Path("a/board.html"), "csv": Path("b/x y.csv"), "json": None}
    assert page._data_links(Namespace(**outputs)) == {"CSV": "../b/x%20y.csv"}
    outputs |= {"csv": None, "json": tmp_path / "a" / "x.json"}
    assert page._data_links(Namespace(**outputs)) == {"JSON": "x.json"}


def test_a_folder_has_as_many_files_as_the_documents_of_a_task_fill(
    make, monkeypatch, tmp_path
):
    monkeypatch.setattr(page, "MOST_OF_A_FILE", 3)
    runs = [f"a={write(tmp_path / 'a', *planned(7))}", "--html", f"{tmp_path}/all/"]
    assert main(["leaderboard", *runs, *BARE]) == 0
    counts = {}
    for path in (tmp_path / "all" / "documents").iterdir():
        call = path.read_text().partition("\naddDocuments(")[2]
        counts[f"documents/{path.name}"] = len(json.loads(call.removesuffix(");\n")))
    names = [f"documents/tcp_long-{number}.js" for number in range(3)]
    assert [counts.pop(name) for name in names] == [3, 3, 1]
    data = (
        (tmp_path / "all" / "index.html").read_text("utf-8").partition('id="data">')[2]
    )
    assert not counts
    assert json.loads(data.partition("</script>")[0])["files"] == {"tcp_long": names}


def test_a_page_says_once_what_is_remarked_of_every_model_alone(make):
    rows = planned(30, prefix=LONG)
    text = make("html", {"a": rows, "b": rows, "c": planned(30, wrong=9)}, *BARE)
    [shared] = re.findall("Said of every model: (.*?)</dd>", text)
    assert "1 of 2 tasks" in shared
    assert "are those of" not in shared
    assert text.count("are those of &#39;b&#39;") == 2  # in the row, and on the card


def test_a_page_counts_a_document_of_two_models_once(make):
    text = make("html", {"a": planned(5), "b": planned(6)}, *BARE)
    assert "all 6 are in this page" in text


def test_a_page_counts_the_answers_of_all_models(make):
    [doc] = documents("tcp_long", EXAMPLES)[:1]
    several = sample(0, doc, prompt("tcp_long", doc), "no")
    several |= {"resps": [["no", "so", "lo"]], "filtered_resps": ["no", "so", "lo"]}
    text = make("html", {"a": [several | {"task": "tcp_long"}], "b": planned(5)}, *BARE)
    assert "2 runs, 8 answers, each scored again" in text


def test_answers_whose_documents_have_other_metrics_share_those_that_both_have(
    make, tmp_path
):
    """A digest knows no level, and a metric of fresh rows does."""
    docs = scorer(FRESH).process_docs(load("date_arithmetic", 1, 2, "1-2")["test"])
    doc = dict(docs[0])
    for number in (1, 2):
        line = {"task": FRESH, "doc": doc | {"level": number}, "response": "x"}
        write(tmp_path / "m" / f"{number}.jsonl", line | {"sample": number})
    rows = by_model(make("json", {"m": tmp_path / "m", "a": planned(3)}, *BARE))
    assert {*rows} == {"m", "a"}


def test_a_page_shows_the_id_that_most_answers_have_and_no_long_one(make):
    rows = planned(3)
    runs = {
        "0first": [
            row | {"doc_id": f"{number} see elsewhere " * 99}
            for number, row in enumerate(rows)
        ]
    }
    for name in "ab":
        runs[name] = [row | {"doc_id": number} for number, row in enumerate(rows)]
    shown = documents_of_page(make("html", runs, *BARE))
    assert [document["id"] for document in shown] == [0, 1, 2]
    shown = documents_of_page(make("html", {"0first": runs["0first"]}, *BARE))
    assert all(len(document["id"]) <= 100 for document in shown)


def test_a_page_shows_the_prompt_of_most_answers_and_marks_the_others(make, tmp_path):
    docs = planned(1)
    prompts = {"0forger": "The key is here.", "a": "When?", "b": "When?"}
    for name, text in prompts.items():
        line = sample(0, docs[0]["doc"], text, docs[0]["response"])
        write(tmp_path / name / f"samples_tcp_long_{STAMPS[0]}.jsonl", line)
    (document,) = documents_of_page(
        make("html", {name: tmp_path / name for name in prompts}, *BARE)
    )
    assert "".join(piece[1] for piece in document["prompt"]) == "When?"
    marked = [answer["model"] for answer in document["answers"] if "prompt" in answer]
    assert len(marked) == 1


def test_a_page_shows_the_prompt_of_the_task_whatever_a_crowd_was_asked(make, tmp_path):
    row = planned(1)[0]
    for name in ("crowd", "crowd2", "crowd3"):
        line = sample(0, row["doc"], "When?", row["response"]) | {"doc_id": 9}
        write(tmp_path / name / f"samples_tcp_long_{STAMPS[0]}.jsonl", line)
    crowd = {name: tmp_path / name for name in ("crowd", "crowd2", "crowd3")}
    honest = {"a": [row | {"doc_id": 0}]}
    (alone,), (beside,) = (
        documents_of_page(make("html", runs, *BARE))
        for runs in (honest, honest | crowd)
    )
    assert [beside[key] for key in ("prompt", "id")] == [
        alone[key] for key in ("prompt", "id")
    ]
    marks = {answer["model"]: "prompt" in answer for answer in beside["answers"]}
    assert marks == {0: False, 1: True, 2: True, 3: True}


@pytest.mark.parametrize("tool", ["leaderboard", "score", "compare"])
def test_a_process_with_limits_alone_opens_files_of_answers(tmp_path, tool):
    for name in ("a-run", "b-run"):
        submission(tmp_path / name, "careful", {})
    runs = [tmp_path / "a-run", tmp_path / "b-run"]
    command = [tool, *runs, *PACK, "--cache", tmp_path / "cache"]
    command += ["--html", tmp_path / "all/"] if tool == "leaderboard" else []
    done = run_module("tests.watch_files", "-run", *command, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_texts_beyond_the_bound_of_a_table_are_left_out_and_counted(make):
    (line,) = answers("tcp_long")[:1]
    long = "so it is, and so it is not; " * 150
    lines = [line | {"sample": n, "response": f"{n} {long}"} for n in range(450)]
    arguments = ("--most_table=1", "--most_samples=450")
    kept = documents_of_page(make("html", {"a": lines[:2]}, *arguments))
    left_out = documents_of_page(make("html", {"a": lines}, *arguments))
    assert any(isinstance(piece, list) for piece in kept[0]["answers"][0]["response"])
    assert left_out[0]["answers"][0]["response"] == [len(lines[-1]["response"])]
    assert left_out[0]["prompt"] == kept[0]["prompt"]


@pytest.mark.parametrize("name", ["board.html", "all/index.html"])
def test_filters_search_and_links_find_documents(driver, find, board, text, name):
    documents = documents_of_page(text)
    key = next(
        x["key"] for x in documents if (x["task"], x["id"]) == ("tot_arithmetic", 0)
    )
    look(driver, board / name, f"#{key}")
    wait_for(driver, FOCUS, "document")
    assert driver.execute_script(SHOWN).strip() == "tot_arithmetic 0"
    everything = driver.execute_script(FOUND)
    find("[name=reason]")[0].send_keys("flexible only")
    assert 0 < driver.execute_script(FOUND) < everything
    shown = driver.execute_script(SHOWN).strip()
    assert shown in [x.text for x in find("#list a b")]  # the pane follows the filters
    find("[name=text]")[0].send_keys("no such words anywhere")
    wait_for(driver, FOUND, 0)
    find("[name=text]")[0].send_keys(*["\b"] * 22, "json")
    assert 0 < driver.execute_script(FOUND) < everything
    assert find("#document mark.flexible")


def test_nothing_runs_fails_or_leaves_the_page(driver, board, text):
    driver.get_log("browser")
    driver.get_log("performance")
    look(driver, board / "board.html")
    for document in documents_of_page(text)[:40]:
        driver.execute_script("location.hash = arguments[0]", document["key"])
    assert driver.title == "Temporal reasoning: leaderboard"
    assert driver.get_log("browser") == []
    urls = re.findall(r'"url":"([a-z]+:[^"]*)"', str(driver.get_log("performance")))
    assert all(url.startswith(("file:", "about:", "data:")) for url in urls), urls


# Sections out of sight are laid out when they come near, at a time of the browser's.
LAY_OUT = """for (const section of document.querySelectorAll("section"))
    section.style.contentVisibility = "visible";"""


def test_without_script_all_tables_stand_and_no_control_is_dead(driver, find, board):
    look(driver, board / "board.html", script=False)
    driver.execute_script(LAY_OUT)
    controls = [x for x in find("input, select, button") if x.is_displayed()]
    # The boxes that open run cards, by style alone.
    # What works without a script: run cards, and columns that are folded.
    assert {x.get_attribute("class") for x in controls} == {"open", "with-details"}
    path = "ancestor::tr/following-sibling::tr[@class='card'][1]"
    for box in find("#ranking .open"):
        card = box.find_element("xpath", path)
        assert not card.is_displayed()
        box.click()
        assert card.is_displayed()


def test_models_are_found_pinned_and_sorted(driver, find, board):
    look(driver, board / "board.html")
    names = driver.execute_script(NAMES)
    for _ in range(2):
        find("#ranking th[data-sort] .sort")[0].click()
    assert driver.execute_script(NAMES) == names[::-1]
    find("#find")[0].send_keys("good")
    assert len(driver.execute_script(NAMES)) == 1
    find("#find")[0].send_keys(*["\b"] * 4)
    find("#ranking .pin")[0].click()
    find("#find")[0].send_keys("nobody")
    assert len(driver.execute_script(NAMES)) == 1  # the pinned one
