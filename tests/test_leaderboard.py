"""The board: its figures are those of `score`, and its page works, whatever a model says."""

import csv
import json
import re
import shutil
import socket
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser

import pytest

from lm_eval_tasks.fresh.utils import load
from tests.conftest import EXAMPLES, ROOT
from utils.__main__ import main
from utils.runs.answers import sha256
from utils.core.documents import documents
from utils.core.families import all_tasks, scorer
from utils.core.jsonl import read_jsonl
from utils.leaderboard import board as board_module, browser, page
from utils.leaderboard.board import Estimate
from utils.runs.find import find_runs


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MOST_SECONDS = 60  # for the browser to do a thing
PACK = ["--include_path", str(EXAMPLES)]
HOSTILE = [
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\"></textarea><!--",
    "\u2028\u2029\0\x1b[31m\u202e\ud800 ]]> {{ 7 * 7 }} {% raw %} ${7}",
    "Thus, the correct answer is: <b>B</b>" + "x" * 9000,
]


ODD = "<i>odd</i> | \u202ename\ud800 </script>"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def answers(task: str) -> list[dict]:
    return read_jsonl(EXAMPLES / "responses" / f"{task}.jsonl")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[str]:
    """Two models over all tasks with recorded answers; the second one answers less well."""
    folder = tmp_path_factory.mktemp("runs")
    one, two = [], []
    for path in sorted((EXAMPLES / "responses").glob("*.jsonl")):
        rows = read_jsonl(path)
        one += rows
        two += [
            row | {"response": rows[place - 1]["response"]} if place % 2 else row
            for place, row in enumerate(rows)
        ]
    for number, text in enumerate(HOSTILE):
        two[number] |= {"response": text}
    named = [("good", one), (ODD, two)]
    return [
        f"{name}={write(folder / f'{n}.jsonl', rows)}"
        for n, (name, rows) in enumerate(named)
    ]


@pytest.fixture(scope="module")
def board(runs, tmp_path_factory):
    """The folder with the page, CSV and JSON of the two models."""
    folder = tmp_path_factory.mktemp("board")
    forms = [f"--{x}={folder / f'board.{x}'}" for x in ("html", "csv", "json")]
    assert main(["leaderboard", *runs, *PACK, *forms]) == 0
    return folder


# ----------------------------------------------------------------------------- figures


def test_figures_are_those_of_score_to_the_last_bit(board, runs, capsys):
    shown = {
        (row["model"], row["scope"], row["by"], row["value"]): row
        for row in json.loads((board / "board.json").read_text(encoding="utf-8"))
    }
    capsys.readouterr()
    checked = 0
    for run in runs:
        name, _, path = run.partition("=")
        assert main(["score", path, *PACK, "--format", "json"]) == 0
        for row in json.loads(capsys.readouterr().out):
            mine = shown[name, row["task"], row.get("by"), row.get("value")]
            for metric in ("n", "published", "flexible", "extracted"):
                assert mine[metric] == row.get(metric), (row, metric)
            checked += 1
    assert checked > 100


def test_answers_that_all_score_the_same_have_no_interval(board):
    rows = json.loads((board / "board.json").read_text(encoding="utf-8"))
    seen = Counter()
    for row in rows:
        is_spread = row.get("published_low") is not None
        assert not is_spread or row["published_low"] < row["published_high"]
        if row["by"] is None and row["published"] in (0, 1):
            assert not is_spread
        seen[is_spread] += 1
    assert seen[True] and seen[False]


@pytest.mark.parametrize("wrong", [1, 7])
def test_an_interval_of_a_score_ends_at_0_and_1(tmp_path, wrong):
    path = write(tmp_path / "a", planned(8, wrong=wrong))
    row = ranks(tmp_path, [f"a={path}"])["a"]
    low, high = row["published_low"], row["published_high"]
    assert (high == 1 and low > 0.5) if wrong == 1 else (low == 0 and high < 0.5)
    assert main(["leaderboard", path, "--html", str(tmp_path / "x.html")]) == 0
    text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "±0.2956" in text  # of 8 documents, as without a bound


def test_csv_and_json_hold_the_same_rows(board):
    rows = json.loads((board / "board.json").read_text(encoding="utf-8"))
    with open(board / "board.csv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows):
        for name in ("model", "scope", "n", "published", "flexible_rank"):
            cell = "" if row.get(name) is None else str(row[name])
            assert line[name] == cell.encode("utf-8", "backslashreplace").decode()


def test_groups_are_averaged_as_their_yaml_files_say(board):
    rows = json.loads((board / "board.json").read_text(encoding="utf-8"))
    good = {
        row["scope"]: row for row in rows if (row["model"], row["by"]) == ("good", None)
    }
    tot = [good["tot_arithmetic"], good["tot_semantic"]]
    n = sum(row["n"] for row in tot)
    by_size = sum(row["n"] * row["published"] for row in tot) / n
    assert good["tot"]["published"] == pytest.approx(by_size, abs=1e-12)
    parts = [row for name, row in good.items() if re.match(r"timebench_.*\d?", name)]
    parts = [x for x in parts if x["scope"] not in PARTS and x["flexible"] is not None]
    assert len(parts) == 15
    plain = sum(row["flexible"] for row in parts) / 15
    assert good["timebench"]["flexible"] == pytest.approx(plain, abs=1e-12)


PARTS = {f"timebench_{part}" for part in ("symbolic", "commonsense", "event")}


def ranks(tmp_path, runs: list[str], *options: str) -> dict[str, dict]:
    path = tmp_path / "board.json"
    main(["leaderboard", *runs, *PACK, "--json", str(path), *options])
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {row["model"]: row for row in rows if row["by"] is None}


def test_models_that_cannot_be_told_apart_share_a_rank(tmp_path):
    rows = answers("tot_arithmetic")
    other = [row | {"response": rows[n - 1]["response"]} for n, row in enumerate(rows)]
    two_wrong = other[:2] + rows[2:]
    named = {"a": rows, "b": two_wrong, "c": other}
    runs = [f"{x}={write(tmp_path / x, y)}" for x, y in named.items()]
    found = ranks(tmp_path, runs)
    assert [found[x]["flexible_rank"] for x in "abc"] == [1, 1, 3]


def test_other_documents_are_marked_and_not_ranked(tmp_path):
    rows = answers("tot_arithmetic")
    named = {"a": rows, "b": rows, "c": rows[:-1]}
    runs = [f"{x}={write(tmp_path / x, y)}" for x, y in named.items()]
    found = ranks(tmp_path, runs)
    assert found["c"]["not_ranked"] == "other documents"
    assert found["c"]["published_rank"] is None
    assert found["a"]["published_rank"] == found["b"]["published_rank"] == 1


def planned(days: int, *, wrong: int = 0) -> list[dict]:
    """Return answers to as many made documents of `tcp_long`; the first ones are wrong."""
    form = {"question": "When?", "answer_format": "YYYY-MM-DD"}
    dates = [f"{2000 + n // 28}-01-{n % 28 + 1:02}" for n in range(days)]
    return [
        {
            "task": "tcp_long",
            "doc": form | {"dialogue": f"A: On {date}.", "answer": date},
            "response": "none" if n < wrong else f"\\boxed{{{date}}}",
        }
        for n, date in enumerate(dates)
    ]


def test_as_many_documents_as_the_benchmark_has_count_before_what_most_models_have(
    tmp_path,
):
    rows = {"all": planned(300), "part": planned(10), "same part": planned(10)}
    runs = [f"{name}={write(tmp_path / name, x)}" for name, x in rows.items()]
    found = ranks(tmp_path, runs)
    assert {name: row["not_ranked"] for name, row in found.items()} == {
        "all": None,
        "part": "other documents",
        "same part": "other documents",
    }


@pytest.mark.parametrize("task", ["tot_arithmetic", "tcp_long"])
@pytest.mark.parametrize("ids", [False, True], ids=["without ids", "with ids"])
def test_who_answers_documents_twice_does_not_set_the_standard(tmp_path, task, ids):
    found = documents(task, EXAMPLES)
    rows = [{"task": task, "doc": doc, "response": ""} for doc in found]
    padded = [*rows, *rows[:4], *rows[:2]]
    if ids:
        rows, padded = (
            [row | {"doc_id": n} for n, row in enumerate(x)] for x in (rows, padded)
        )
    named = {"honest": rows, "padded": padded}
    runs = [f"{x}={write(tmp_path / x, y)}" for x, y in named.items()]
    rows = ranks(tmp_path, [*runs, f"again={write(tmp_path / 'again', rows)}"])
    assert rows["honest"]["not_ranked"] is rows["again"]["not_ranked"] is None
    said = "lines refused: 6"
    if ids:
        surplus = "answers beyond the benchmark's rows: 6; " * (task != "tcp_long")
        said = f"{surplus}other documents"
    assert rows["padded"]["not_ranked"] == said
    assert ranks(tmp_path, runs)["honest"]["not_ranked"] is None  # one against one


def test_differences_are_corrected_for_the_number_of_pairs(tmp_path):
    # p is 0.02 for a and b alone: with a third model, thrice that.
    rows = {"a": planned(40), "b": planned(40, wrong=5)}
    runs = [f"{name}={write(tmp_path / name, x)}" for name, x in rows.items()]
    found = ranks(tmp_path, runs)
    assert [found[x]["flexible_rank"] for x in "ab"] == [1, 2]
    rows = planned(40)[::-1]
    for row in rows[:3]:
        row["response"] = "none"
    third = f"c={write(tmp_path / 'c', rows)}"
    found = ranks(tmp_path, [*runs, third])
    assert [found[x]["flexible_rank"] for x in "abc"] == [1, 1, 1]
    main(["leaderboard", *runs, third, *PACK, "--html", str(tmp_path / "x.html")])
    page_text = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert page_text.count('<span class="rank">=1</span>') >= 6


def test_orders_of_one_question_are_one_observation(tmp_path):
    def asked(wrong: int) -> list[dict]:
        form = {"task": "tot_semantic"}
        return [
            form
            | {
                "doc": {"question": f"Q{n // 5}?", "prompt": f"{n}", "label": "E1"},
                "response": "none" if n < wrong else '{"answer": "E1"}',
            }
            for n in range(60)
        ]

    named = {"a": asked(0), "b": asked(5)}  # which is p = 0.02 for 60 observations
    runs = [f"{name}={write(tmp_path / name, x)}" for name, x in named.items()]
    found = ranks(tmp_path, runs)
    assert [found[x]["flexible_rank"] for x in "ab"] == [1, 1]


def test_another_version_and_a_dropped_instruction_are_marked(dummy_run, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    [path] = dummy_run.glob("samples_tot_arithmetic_separate_2*.jsonl")
    results = json.loads(next(dummy_run.glob("results_*.json")).read_text())
    results["versions"]["tot_arithmetic_separate"] = 0.5
    (
        folder / path.name.replace("samples_tot_arithmetic_separate", "results")
    ).with_suffix(".json").write_text(json.dumps(results))
    shutil.copy(path, folder)
    found = ranks(tmp_path, [f"old={folder}", f"new={path}"])
    assert "run as version 0.5, not 1.1" in found["old"]["not_ranked"]
    assert found["new"]["not_ranked"] is None
    rows = [
        row | {"arguments": {"gen_args_0": {"arg_0": "no instruction"}}}
        for row in read_jsonl(path)
    ]
    for row in rows:
        row["prompt_hash"] = scoring_hash("no instruction")
    dropped = folder.parent / path.name
    found = ranks(tmp_path, [f"dropped={write(dropped, rows)}", f"new={path}"])
    assert "prompts without the instruction: 38" in found["dropped"]["not_ranked"]


def scoring_hash(text: str) -> str:
    return sha256(text)


def test_metrics_that_some_documents_lack_do_not_break_the_board(board):
    rows = json.loads((board / "board.json").read_text(encoding="utf-8"))
    [row] = [
        x
        for x in rows
        if (x["scope"], x["model"], x["by"]) == ("tot_arithmetic", ODD, None)
    ]
    assert 0 < row["smape n"] < row["mase n"] < row["n"]
    assert row["smape"] > 1
    text = (board / "board.html").read_text(encoding="utf-8")
    assert re.search(r'data-first="ascending" title="lower is better"><button[^>]*>\s*smape', text)  # fmt: skip


def test_a_log_of_several_filters_is_a_model_for_each(dummy_run, tmp_path):
    [path] = dummy_run.glob("samples_tcp_long_2*.jsonl")
    rows = read_jsonl(path)
    both = rows + [row | {"filter": "strict"} for row in rows]
    found = ranks(tmp_path, [f"a={write(tmp_path / path.name, both)}"])
    assert {name: row["n"] for name, row in found.items()} == {"a": 8, "a (strict)": 8}


@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_refused_line_counts_against_its_model_wherever_it_stands(
    dummy_run, tmp_path, place
):
    [path] = dummy_run.glob("samples_tcp_long_2*.jsonl")
    rows = [row | {"filter": "strict"} for row in read_jsonl(path)]
    (tmp_path / "good").mkdir()
    good = write(tmp_path / "good" / path.name, rows)
    rows[place] |= {"doc_hash": "0" * 64}
    bad = write(tmp_path / path.name, rows)
    found = ranks(tmp_path, [f"a={good}", f"b={bad}"])
    assert found["a"]["not_ranked"] is None
    assert found["b"]["not_ranked"].startswith("lines refused: 1")


def test_a_page_over_a_pipe_is_refused_and_its_tables_are_not(tmp_path):
    text = "".join(json.dumps(row) + "\n" for row in answers("tcp_long"))
    command = [
        *(sys.executable, "-m", "utils", "leaderboard", "a=/dev/stdin", *PACK),
        *("--task", "tcp_long"),
    ]

    def run(*form: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*command, *form], cwd=ROOT, input=text, capture_output=True, text=True
        )

    refused = run("--html", str(tmp_path / "x.html"))
    assert (refused.returncode, refused.stdout) == (1, "")
    [line] = refused.stderr.splitlines()
    assert "can be read only once" in line
    assert run("--json", str(tmp_path / "x.json")).returncode == 0


def test_a_row_that_the_benchmark_has_twice_is_matched_by_its_id(tmp_path):
    doc = {"question": "How many?", "label": "{'answer': '3'}"}
    rows = [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc, "response": answer}
        for n, answer in enumerate(['{"answer": "3"}', '{"answer": "4"}'] * 20)
    ]
    named = {"a": rows, "b": rows[::-1]}
    runs = [f"{x}={write(tmp_path / x, y)}" for x, y in named.items()]
    models = [board_module.read(run, EXAMPLES)[0] for run in find_runs(runs)]
    a, b = (
        {key: (x.doc_id, x.scores) for key, x in model.tasks["tot_arithmetic"].results.items()}
        for model in models
    )  # fmt: skip
    assert len(a) == 40
    assert a == b


def test_every_fresh_task_has_its_public_twin():
    names = [name for name in all_tasks() if name.startswith("fresh_")]
    assert {name: scorer(name).base for name in names} == {
        "fresh_date_arithmetic": "timebench_date_arithmetic",
        "fresh_tcp_long": "tcp_long",
        "fresh_tcp_short": "tcp_short",
        "fresh_timexnli": "timebench_timexnli_s1",
        "fresh_tot_arithmetic": "tot_arithmetic",
        "fresh_tot_semantic": "tot_semantic",
    }


def test_the_terminal_shows_a_short_table_and_where_the_page_is(tmp_path, capsys):
    path = write(tmp_path / "a", answers("tcp_long") + answers("tcp_short"))
    html = tmp_path / "board.html"
    assert main(["leaderboard", f"a={path}", *PACK, "--html", str(html)]) == 0
    printed = capsys.readouterr()
    assert printed.err == f"{html} is written\n"
    assert printed.out == (
        "| scope | model |   n | published | flexible | extracted |\n"
        "| ----- | ----- | --: | --------: | -------: | --------: |\n"
        "| tcp   | a     |  16 |    0.8750 |   1.0000 |    1.0000 |\n\n"
    )


def test_public_and_fresh_are_set_side_by_side(tmp_path):
    fresh = load("date_arithmetic", 1, 20, "1-2")["test"]
    documents = list(scorer("fresh_date_arithmetic").process_docs(fresh))
    rows = [
        {
            "task": "fresh_date_arithmetic",
            "doc": document,
            "response": f"Thus, the correct answer is: {document['golds'][0]}",
        }
        for document in documents
    ]
    path = write(tmp_path / "a", answers("timebench_date_arithmetic") + rows)
    html = tmp_path / "board.html"
    assert main(["leaderboard", f"a={path}", *PACK, "--html", str(html)]) == 0
    text = html.read_text(encoding="utf-8")
    assert "Public and fresh" in text and "made from a seed" in text


def test_models_over_two_seeds_are_told_apart_by_them(tmp_path):
    task, named = "fresh_date_arithmetic", {"a": 1, "b": 1, "c": 2}
    for name, seed in named.items():
        rows = load("date_arithmetic", seed, 10, "1-2")["test"]
        docs = scorer(task).process_docs(rows)
        (tmp_path / name).mkdir()
        path = tmp_path / name / f"samples_{task}_2026-01-01T00-00-00.jsonl"
        lines = [{"task": task, "doc": doc, "response": ""} for doc in docs]
        write(path, lines[: 4 if name == "b" else 10])
        metadata = {"gen_seed": seed, "gen_rows": 10}
        write(
            tmp_path / name / "results_2026-01-01T00-00-00.json",
            [{"configs": {task: {"metadata": metadata}}}],
        )
    found = ranks(tmp_path, [f"{name}={tmp_path / name}" for name in named])
    assert {name: (row["rows"], row["not_ranked"]) for name, row in found.items()} == {
        "a": ("made from seed 1, all 10", "other documents: of seed 1, not 2"),
        "b": ("made from seed 1, 4 of its 10", "other documents: of seed 1, not 2"),
        "c": ("made from seed 2, all 10", None),
    }


def test_disputed_rows_can_be_left_out_and_the_page_says_so(shared, tmp_path):
    paths = sorted((shared / "responses").glob("*.jsonl"))[:2]
    html, table = tmp_path / "board.html", tmp_path / "board.json"
    options = ["--task", "tot_arithmetic", "--leave_out", "disputed-1"]
    files = ["--html", str(html), "--json", str(table)]
    assert main(["leaderboard", *map(str, paths), *options, *files]) == 0
    rows = [x for x in json.loads(table.read_text()) if x["by"] is None]
    assert [(row["n"], row["left_out"]) for row in rows] == [(986, 30)] * 2
    assert "without 60 to the disputed rows of the list disputed-1" in html.read_text()


# ------------------------------------------------------------------- the page as a file


class Outline(HTMLParser):
    """What elements a page has, and what they point to."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def test_the_page_holds_all_it_needs_and_what_a_model_says_stays_text(board):
    text = (board / "board.html").read_text(encoding="utf-8")
    outline = Outline(text)
    scripts = [attrs for tag, attrs in outline.elements if tag == "script"]
    assert len(scripts) == 2  # data and code
    assert not any("src" in attrs or "href" in attrs for attrs in scripts)
    for tag, attrs in outline.elements:
        assert tag not in ("img", "iframe", "object", "link", "textarea", "i", "b"), (
            attrs
        )
        assert not any(name.startswith("on") for name in attrs)
        assert attrs.get("href", "#").startswith("#")
    policy = next(x["content"] for _, x in outline.elements if "http-equiv" in x)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "&lt;i&gt;odd&lt;/i&gt;" in text
    assert not re.search(r"[\0\x1b\ud800]", text)


def test_names_that_cannot_be_seen_are_shown_by_escapes(tmp_path, capsys):
    path = write(tmp_path / "x.jsonl", answers("tcp_long"))
    runs = [f"{name}={path}" for name in ("\x01\x02", "\udcff\udcfe", "\u200b")]
    html = tmp_path / "x.html"
    assert main(["leaderboard", *runs, *PACK, "--html", str(html)]) == 0
    shown = {"\\x01\\x02", "\\udcff\\udcfe", "\\u200b"}
    printed = capsys.readouterr().out.splitlines()[2:5]
    assert {line.split("|")[2].strip(" `") for line in printed} == shown
    text = html.read_text(encoding="utf-8")
    [data] = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert {*json.loads(data)["models"]} == shown
    assert all(f"<bdi>{name}</bdi>" in text for name in shown)
    assert "\ufffd" not in text and "\u200b" not in text


def test_texts_are_cut_around_what_was_extracted():
    text = "a" * 5000 + "HERE" + "b" * 5000
    found = browser.pieces(text, [(5000, 5004), None], 100)
    assert [1, "HERE"] in found
    kept = sum(len(x[1]) for x in found if isinstance(x, list))
    left_out = sum(x for x in found if isinstance(x, int))
    assert kept + left_out == len(text) and kept <= 104
    assert browser.pieces("short", [(0, 5), (0, 5)], 100) == [[3, "short"]]


def test_the_page_stays_below_its_bound_and_says_what_it_leaves_out(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(browser, "MOST_ANSWERS", 12)
    path = write(tmp_path / "a", answers("tot_arithmetic"))
    html = tmp_path / "board.html"
    assert main(["leaderboard", f"a={path}", *PACK, "--html", str(html)]) == 0
    text = html.read_text(encoding="utf-8")
    assert "12 of 38 documents are on this page" in text
    [data] = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    reasons = {x["reason"] for y in json.loads(data)["documents"] for x in y["answers"]}
    assert {"right", "flexible_only"} <= reasons


def test_a_page_that_is_too_large_is_not_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page, "MOST_BYTES", 1_000)
    path = write(tmp_path / "a", answers("tcp_long"))
    html = tmp_path / "board.html"
    assert main(["leaderboard", f"a={path}", *PACK, "--html", str(html)]) == 1
    assert "name fewer runs, or write --csv or --json" in capsys.readouterr().err
    assert not html.exists()


def test_documents_stand_in_the_order_of_their_ids(board):
    text = (board / "board.html").read_text(encoding="utf-8")
    [data] = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    shown = [(one["task"], one["id"]) for one in json.loads(data)["documents"]]
    assert shown == sorted(shown)
    assert len(shown) == 211


@pytest.mark.parametrize(
    ("bounds", "ticks"),
    [
        ([0.12, 0.97], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ([0.31, 0.42], [0.3, 0.4, 0.5]),
        ([1.0], [0.9, 1.0]),
        ([0.0], [0.0, 0.1]),
        ([], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_an_axis_begins_and_ends_at_a_tick(bounds, ticks):
    axis = page.axis([Estimate(x, None, None) for x in bounds], 100)
    assert axis.ticks() == ticks
    assert (axis.at(ticks[0]), axis.at(ticks[-1])) == (0, 100)


def test_labels_of_a_plot_stand_apart():
    places = page._spread([10, 11, 12, 250, 251], 260)
    assert all(b - a >= 16 for a, b in zip(places, places[1:]))


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "give --html, --csv or --json"),
        (["--csv", "x.csv", "nowhere"], 1, "nowhere: No such file or directory"),
        (["--csv", "x.csv", "a=bad.jsonl"], 1, "bad.jsonl, line 1: "),
        (["--csv", "x.csv", "a=good.jsonl", "a=good.jsonl"], 1, "called 'a'"),
        (["--html", "folder", "a=good.jsonl"], 1, "folder"),
    ],
)
def test_what_cannot_be_made_ends_in_one_line(
    tmp_path, monkeypatch, capsys, arguments, status, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    write(tmp_path / "good.jsonl", answers("tcp_long"))
    (tmp_path / "bad.jsonl").write_text("<html>")
    given = arguments or ["good.jsonl"]
    assert main(["leaderboard", *given, *PACK]) == status
    [line] = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "x.csv").exists()


def test_lines_that_cannot_be_scored_are_named_and_their_model_is_not_ranked(
    tmp_path, capsys
):
    rows = answers("tcp_long")
    bad = write(tmp_path / "bad", [*rows, rows[0]])
    found = ranks(tmp_path, [f"good={write(tmp_path / 'good', rows)}", f"bad={bad}"])
    assert found["bad"]["not_ranked"] == "lines refused: 1"
    assert "line 9: is a second answer to document 0" in capsys.readouterr().err


@pytest.mark.parametrize("reason", ["empty", "refused"])
def test_a_run_without_an_answer_that_counts_is_named(tmp_path, capsys, reason):
    good = write(tmp_path / "good", answers("tcp_long"))
    lines = [{"task": "tcp_long", "doc_id": 0, "response": None}] * (reason != "empty")
    none = write(tmp_path / "none", lines)
    command = [f"a={good}", f"b={none}", *PACK, "--csv", str(tmp_path / "x.csv")]
    assert main(["leaderboard", *command, "--task", "tcp_long"]) == 1
    *_, said, written = capsys.readouterr().err.splitlines()
    assert said == "b: has no answer that counts; it is not on the board"
    assert written.endswith("x.csv is written")


# --------------------------------------------------------------------- in a real browser

# In one step: an element that is found may be replaced before it is asked for its text.
SHOWN = "return document.querySelector('#document h3').textContent"
FOUND = "return parseInt(document.getElementById('count').textContent)"
FOCUS = "return document.activeElement.id || document.activeElement.className"
BACKGROUND = "return getComputedStyle(document.body).backgroundColor"
OVERFLOW = "return document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def driver():
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in (
        "headless=new",
        "no-sandbox",
        "disable-dev-shm-usage",
        "disable-gpu",
    ):
        options.add_argument(f"--{option}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    patience = socket.getdefaulttimeout()
    socket.setdefaulttimeout(MOST_SECONDS)  # of the start, and of each command
    try:
        made = webdriver.Chrome(options=options, service=Service(DRIVER))
    finally:
        socket.setdefaulttimeout(patience)
    made.set_page_load_timeout(MOST_SECONDS)
    made.set_script_timeout(MOST_SECONDS)
    yield made
    made.quit()


def look(driver, path, width=1400, theme="light", place=""):
    """Open a page as on a screen of a width and theme, at a place in it."""
    media = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get("about:blank")
    driver.get(f"file://{path}{place}")


def found(driver) -> int:
    return driver.execute_script(FOUND)


def wait_for(driver, script: str, value) -> None:
    """Wait until a script says a value: a link takes effect after the click returns."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, MOST_SECONDS).until(
        lambda x: x.execute_script(script) == value
    )


def choose(driver, name: str, text: str) -> None:
    """Choose from a list by its words, as from the keyboard."""
    driver.find_element("id", f"filter-{name}").send_keys(text)


def four_real_runs(shared, folder):
    paths = sorted((shared / "responses").glob("*.jsonl"))
    html = folder / "four.html"
    runs = [f"{path.stem.split('_', 2)[2]}={path}" for path in paths]
    task = ["--task", "tot_arithmetic"]
    assert main(["leaderboard", *runs, *task, "--html", str(html)]) == 0
    return html


@pytest.fixture(scope="module", params=["hand-made", "real"])
def opened(request, tmp_path_factory):
    if request.param == "hand-made":
        return request.getfixturevalue("board") / "board.html"
    return four_real_runs(
        request.getfixturevalue("shared"), tmp_path_factory.mktemp("four")
    )


def test_filters_search_and_links_find_documents(driver, opened):
    from selenium.webdriver.common.keys import Keys

    look(driver, opened)
    everything = found(driver)
    choose(driver, "reason", "flexible only")
    gained = found(driver)
    assert 0 < gained < everything
    choose(driver, "published", "right")
    query = driver.find_element("id", "query")
    driver.find_element("css selector", "#filters [type=reset]").click()
    wait_for(driver, FOUND, everything)
    query.send_keys("no such words anywhere")
    assert found(driver) == 0
    query.send_keys(Keys.CONTROL, "a")
    query.send_keys("json")
    assert 0 < found(driver) <= everything
    first = driver.find_element("css selector", "#list a")
    name = first.find_element("class name", "name").text
    first.click()
    wait_for(driver, FOCUS, "document")
    assert driver.execute_script(SHOWN) == name
    assert driver.find_elements("css selector", "#document pre mark")
    assert driver.execute_script("return location.hash").startswith("#document-")


def test_the_page_can_be_used_by_keyboard_alone(driver, opened):
    from selenium.webdriver import ActionChains, Keys

    def press(*keys: str) -> str:
        """Press keys; return the name of what has the focus then."""
        ActionChains(driver, duration=0).send_keys(*keys).perform()
        return driver.execute_script(FOCUS)

    look(driver, opened)
    reached: list[str] = []
    while "filter-changed" not in reached and len(reached) < 300:
        reached.append(press(Keys.TAB))
        if reached[-1] == "theme":
            before = driver.execute_script(BACKGROUND)
            press(Keys.ENTER)
            assert driver.execute_script(BACKGROUND) != before
    assert {"theme", "sort", "query", "filter-reason", "filter-changed"} <= {*reached}
    press(Keys.TAB, Keys.TAB)  # beyond "Clear", into the list
    name = driver.switch_to.active_element.find_element("class name", "name").text
    press(Keys.ENTER)
    # The first document is shown from the start, so its name would be no sign.
    wait_for(driver, FOCUS, "document")
    assert driver.execute_script(SHOWN) == name


@pytest.mark.parametrize("width", [400, 800, 1400])
def test_the_page_fits_its_screen_in_light_and_dark(driver, opened, width):
    grounds = set()
    for theme in ("light", "dark"):
        look(driver, opened, width, theme, "#document-0")
        assert driver.execute_script(OVERFLOW) <= 0
        grounds.add(driver.execute_script(BACKGROUND))
    assert len(grounds) == 2


def test_nothing_runs_fails_or_leaves_the_page(driver, opened):
    driver.get_log("browser")
    driver.get_log("performance")
    look(driver, opened)
    for place in range(0, min(found(driver), 40)):
        driver.execute_script(f"location.hash = 'document-{place}'")
    assert driver.title == "Temporal reasoning: leaderboard"
    assert driver.get_log("browser") == []
    urls = re.findall(r'"url":"([a-z]+:[^"]*)"', str(driver.get_log("performance")))
    assert all(url.startswith(("file:", "about:", "data:")) for url in urls), urls


def test_the_overview_leads_to_the_table_of_a_task(driver, board):
    look(driver, board / "board.html")
    driver.find_element("css selector", ".matrix a[href='#score-tot']").click()
    wait_for(driver, FOCUS, "scope")
    assert driver.find_element("id", "score-tot").is_displayed()
    assert not driver.find_element("id", "score-tcp").is_displayed()


def test_a_table_is_sorted_by_the_column_that_is_clicked(driver, board):
    look(driver, board / "board.html", place="#score-tot_arithmetic")
    table = driver.find_element("css selector", "#score-tot_arithmetic table.sortable")

    def names():
        return [x.text for x in table.find_elements("css selector", "tbody th")]

    before = names()
    button = table.find_element("css selector", "thead .sort[aria-label*='odel']")
    button.click()
    button.click()
    assert sorted(names()) == sorted(before) and len(before) == 2
    header = button.find_element("xpath", "..")
    assert header.get_attribute("aria-sort") == "descending"
    assert names() == sorted(before, reverse=True)
