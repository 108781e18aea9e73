"""The board: its figures are those of `score`, and its page works, whatever a model says."""

import csv
import json
import re
import shutil
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import write
from tests.conftest import EXAMPLES, PACK as OWN
from tests.logs import sample
from tests.test_tricks import STAMPS, answers, submission
from utils.__main__ import main
from utils.core.families import prompt, scorer
from utils.core.files import read_jsonl
from utils.leaderboard import page


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SIZE = "window-size=1280,900"
MOST_SECONDS = 60  # for the browser to do a thing
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
    texts = [good[n - n % 2]["response"] for n in range(len(good))]
    odd = [row | {"response": text} for row, text in zip(good, texts)]
    for row, text in zip(odd, HOSTILE):
        row["response"] = text
    named = {"good": good, ODD: odd}.items()
    return [f"{x}={write(folder / str(len(x)), *rows)}" for x, rows in named]


@pytest.fixture(scope="module")
def board(runs, tmp_path_factory) -> Path:
    """The folder with the page, CSV and JSON of the two models, and a page in a folder."""
    folder = tmp_path_factory.mktemp("board")
    forms = [f"--{x}={folder / f'board.{x}'}" for x in ("html", "csv", "json")]
    assert main(["leaderboard", *runs, *PACK, *forms]) == 0
    assert main(["leaderboard", *runs, *PACK, "--html", f"{folder}/all/"]) == 0
    return folder


@pytest.fixture
def table(board) -> list[dict]:
    return json.loads((board / "board.json").read_text(encoding="utf-8"))


@pytest.fixture
def text(board) -> str:
    return (board / "board.html").read_text(encoding="utf-8")


def data_of(text: str) -> dict:
    (found,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


@pytest.fixture
def make(tmp_path):
    """A function that makes a board in a form, of name -> answers; returns its text."""

    def make(form: str, named: dict, *options: str, status: int = 0) -> str:
        runs = [
            f"{x}={write(tmp_path / x, *rows) if isinstance(rows, list) else rows}"
            for x, rows in named.items()
        ]
        path = tmp_path / f"board.{form}"
        command = ["leaderboard", *runs, *PACK, f"--{form}", str(path), *options]
        assert main(command) == status
        return path.read_text(encoding="utf-8") if path.exists() else ""

    return make


@pytest.fixture
def ranks(make):
    """A function that makes a board of name -> answers; returns the models' first rows."""

    def ranks(*named: object, **more: int) -> dict[str, dict]:
        rows = json.loads(make("json", *named, **more))
        return {row["model"]: row for row in reversed(rows) if row["by"] is None}

    return ranks


# --------------------------------------------------------------------------- figures


def test_figures_are_those_of_score_to_the_last_bit(table, runs, capsys):
    places = ("model", "scope", "by", "value")
    shown = {tuple(row[x] for x in places): row for row in table}
    checked = 0
    for run in runs:
        name, _, path = run.partition("=/")
        capsys.readouterr()
        assert main(["score", f"/{path}", *PACK, "--format", "json"]) == 0
        for row in json.loads(capsys.readouterr().out):
            mine = shown[name, row["task"], row.get("by"), row.get("value")]
            for metric in ("n", "published", "flexible", "extracted"):
                same = row.get(metric)
                if "tasks" in row and same is not None:  # means differ in the last bit
                    same = pytest.approx(same, abs=1e-12)
                assert mine[metric] == same, (row, metric)
            checked += 1
    assert checked > 100


def test_csv_and_json_hold_the_same_rows_and_no_cell_is_a_formula(board, table):
    with open(board / "board.csv", encoding="utf-8", newline="") as file:
        lines = [*csv.DictReader(file)]
    for line, row in zip(lines, table, strict=True):
        for name in ("scope", "n", "published", "flexible_rank"):
            assert line[name] == ("" if row.get(name) is None else str(row[name]))
    odd = ODD.replace("\r", "\\r").encode("utf-8", "backslashreplace").decode()
    assert {line["model"] for line in lines} == {"good", f"'{odd}"}


FORMS = {
    "tcp_long": "\\boxed{{{}}}",
    "timebench_date_arithmetic": "Thus, the correct answer is: {}",
}


def planned(n: int, *, wrong: int = 0, task: str = "tcp_long") -> list[dict]:
    """Return answers to as many made documents of a task; the first ones are wrong."""
    rows = []
    for place in range(n):
        gold = f"{2000 + place // 28}-01-{place % 28 + 1:02}"
        doc = {"question": "When?", "answer_format": "YYYY-MM-DD", "answer": gold}
        doc["dialogue"] = f"A: On {gold}."
        if task != "tcp_long":
            gold = f"Jan, {2000 + place}"
            question = f"What is the time {place} years after?"
            doc = {"question": question, "golds": [gold]}
        said = "none" if place < wrong else FORMS[task].format(gold)
        rows.append({"task": task, "doc": doc, "response": said})
    return rows


def test_ranks_are_ranges_and_nobody_is_ranked_alone(make, ranks):
    rows = {"a": planned(40), "b": planned(40, wrong=5), "c": planned(40, wrong=30)}
    found = {name: row["flexible_rank"] for name, row in ranks(rows, *BARE).items()}
    assert found == {"a": "1-2", "b": "1-2", "c": "3-3"}
    # The pairs of three models, under two rules, in one benchmark.
    said = "for 3 models and 6 tests"
    assert said in make("html", rows, *BARE)
    alone = ranks({"a": planned(40)}, *BARE)
    assert alone["a"]["flexible_rank"] is None


def longer(rows: list[dict], by: int = 60) -> list[dict]:
    """Return answers that are longer by so many characters."""
    return [row | {"response": f"{'so ' * (by // 3)}{row['response']}"} for row in rows]


@pytest.mark.parametrize(
    ("rows", "copy", "says"),
    [
        (longer(planned(40)), 40, "all 40 answers to shared documents are those of"),
        (longer(planned(40)), 20, "all 20 answers to shared documents are those of"),
        (longer(planned(40)), 19, None),  # too few
        (planned(40), 40, None),  # too short: `none` and `\\boxed{...}`
    ],
)
def test_equal_answers_are_remarked_and_cost_no_rank(ranks, rows, copy, says):
    named = {"a": rows, "copy": rows[:copy], "b": longer(planned(40, wrong=5))}
    named["near copy"] = [*rows[:-1], rows[-1] | {"response": "x" * 90}]
    found = ranks(named, *BARE)
    remark = says or "answers to shared documents are those of"
    for name, other in (("a", "copy"), ("copy", "a")):
        assert (f"{remark} {other}" in found[name]["remarks"]) == bool(says)
    assert "shared" not in found["b"]["remarks"]
    whole = [name for name in named if len(named[name]) == 40]
    assert {found[name]["rank_of"] for name in whole} == {len(whole)}
    assert {found[name]["flexible_rank"] for name in whole} == {f"1-{len(whole)}"}


BARE = ("--include_path", str(OWN))  # without rows to compare documents with


def test_models_stand_by_their_first_ranks_not_by_their_mean_score(make):
    wrong = {"a": (60, 100), "b": (10, 90), "c": (0, 150)}
    named = {
        name: planned(200, wrong=x)
        + planned(200, wrong=y, task="timebench_date_arithmetic")
        for name, (x, y) in wrong.items()
    }
    rows = json.loads(make("json", named, *BARE))
    shown = [x["model"] for x in rows if x["scope"] == "tcp_long" and not x["by"]]
    assert shown == ["b", "c", "a"]
    assert {x["status"] for x in rows} == {"not verified"}
    assert "there are no rows to compare them with" in rows[0]["remarks"]


@pytest.mark.parametrize(("share", "found"), [(5, {"1-2"}), (1, {"1-1", "2-2"})])
def test_orders_of_one_question_are_one_observation(ranks, share, found):
    docs = [{"question": f"Q{n // share}?", "prompt": f"{n}"} for n in range(100)]
    row = {"task": "tot_semantic", "response": '{"answer": "E1"}'}
    good = [row | {"doc": doc | {"label": "E1"}} for doc in docs]
    wrong = [row | {"response": "none"} for row in good[:10]]
    rows = ranks({"a": good, "b": wrong + good[10:]}, *BARE).values()
    assert {row["flexible_rank"] for row in rows} == found


def test_each_of_two_filters_is_a_model_with_its_refused_lines(ranks, tmp_path):
    submission(tmp_path / "a", "careful", {"tasks": ["tcp_long"]})
    path = tmp_path / "a" / f"samples_tcp_long_{STAMPS[0]}.jsonl"
    rows = read_jsonl(path)
    strict = [row | {"filter": "strict"} for row in rows]
    strict[3] |= {"doc_hash": "0" * 64}
    write(path, *rows, *strict)
    plain, strict = map(ranks({"a": path.parent}, status=1).get, ("a", "a (strict)"))
    assert (plain["n"], plain["status"], strict["n"]) == (8, "verified", 7)
    assert "1 line refused" in strict["remarks"]


def test_copies_of_a_row_are_matched_whatever_their_order(ranks, make):
    doc = {"question": "How many?", "label": "{'answer': '3'}"}
    rows = [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc, "response": answer}
        for n, answer in enumerate(['{"answer": "3"}', '{"answer": "4"}'] * 20)
    ]
    found = ranks({"a": rows, "b": rows[::-1]}, *BARE)
    figures = [(x["n"], x["published"], x["flexible"]) for x in found.values()]
    assert figures == [(40, 0.5, 0.5)] * 2
    documents = data_of(make("html", {"a": rows}))["documents"]
    assert len({document["key"] for document in documents}) == 40


# ----------------------------------------------------------------------------- fresh

FRESH = "fresh_date_arithmetic"


def fresh(folder: Path, seed: int, rows: int, right: int = 0, **told: object) -> Path:
    """Write the log of a run over rows of a seed; `told` is what its results say."""
    made = load("date_arithmetic", seed, rows, "1-2")["test"]
    lines = []
    for n, doc in enumerate(scorer(FRESH).process_docs(made)):
        asked = prompt(FRESH, doc)
        said = f"Thus, the correct answer is: {doc['golds'][0] if n < right else 'no'}"
        lines.append(sample(n, doc, asked, said))
    write(folder / f"samples_{FRESH}_{STAMPS[0]}.jsonl", *lines)
    told = {"gen_seed": seed, "gen_rows": rows, "gen_levels": "1-2"} | told
    results = {"model_name": folder.name, "configs": {FRESH: {"metadata": told}}}
    results |= {"n-shot": {FRESH: 0}, "versions": {FRESH: scorer(FRESH).version}}
    write(folder / f"results_{STAMPS[0]}.json", results)
    return folder


UNKNOWN = "not verified", "cannot be regenerated"
CLAIMS = [  # what results say of rows of seed 1, the status, and the remark
    ({}, "verified", "all 20 documents of seed 1"),
    ({"gen_fingerprint": "0" * 16}, "verified", "20 documents of seed 1"),
    ({"gen_rows": 10**9}, "verified", "20 of 1,000,000,000 documents"),
    ({"gen_seed": 2}, "not ranked", "are not those of seed 2"),
    *(({name: 1}, *UNKNOWN) for name in ("gen_version", "gen_rows", "gen_odd")),
    ({"gen_rows": "9" * 400}, *UNKNOWN),
    ({"gen_levels": [1]}, *UNKNOWN),
    ({"gen_knobs": {"date_arithmetic": 1}}, *UNKNOWN),
    ({"gen_seed": None}, *UNKNOWN),
]


def test_fresh_rows_are_regenerated_from_their_seed(ranks, tmp_path):
    claims = {f"{claim}"[:60]: claim for claim, *_ in CLAIMS}
    runs = {
        x: fresh(tmp_path / str(n), 1, 20, **claims[x]) for n, x in enumerate(claims)
    }
    rows = ranks(runs, *BARE)
    assert len(rows) == len(CLAIMS)
    for row, (claim, status, remark) in zip(map(rows.get, claims), CLAIMS):
        assert (row["status"], remark in row["remarks"]) == (status, True), claim


def test_public_and_fresh_folders_of_one_name_are_one_row_with_both(ranks, tmp_path):
    fresh(tmp_path / "fresh", 1, 20)
    submission(tmp_path / "public", "careful", {"tasks": ["tcp_long"]})
    runs = [f"a={tmp_path / folder}" for folder in ("fresh", "public")]
    ...


# -------------------------------------------------------------------------- the tool


def test_the_terminal_shows_a_short_table(make, capsys):
    make("html", {"a": answers("tcp_long") + answers("tcp_short")})
    head, _, row = capsys.readouterr().out.strip().splitlines()
    columns = "benchmark model status n published published rank flexible flexible rank"
    assert re.findall(r"\w+", head) == columns.split()
    assert re.findall(r"[\w.]+", row) == "tcp a not verified 16 87.5 100.0".split()


def test_what_cannot_be_scored_is_named_and_its_model_is_not_ranked(ranks, capsys):
    rows = answers("tcp_long")
    none = [{"task": "tcp_long", "doc_id": 0, "response": None}]
    named = {"good": rows, "bad": [*rows, rows[0], rows[1]], "none": none, "empty": []}
    found = ranks(named, "--task", "tcp_long", status=1)
    assert {name: row["status"] for name, row in found.items()} == {
        "good": "not verified",
        "bad": "not ranked",
    }
    assert "2 lines refused" in found["bad"]["remarks"]
    said = capsys.readouterr().err
    assert "line 9: is a second answer to document 0" in said
    assert "none: left out: line 1: 'response' is a NoneType" in said
    assert "empty: left out: has no answers that can be scored" in said


MINE = {  # files of a user with words of ours
    "html": "<!doctype html><!-- my notes on temporal-eval leaderboard -->\n",
    "csv": "model,status,remarks,mine\n",
    "json": '[\n  {\n    "model": "mine"}]\n',
}


@pytest.mark.parametrize("form", MINE)
def test_only_what_the_tool_made_is_replaced(make, tmp_path, form, capsys):
    rows = {"a": answers("tcp_long")}
    make(form, rows)
    make(form, rows)
    for mine in (MINE[form], "mine", "[]", "\n"):
        (tmp_path / f"board.{form}").write_text(mine)
        assert make(form, rows, status=1) == mine
        assert "was not made by leaderboard" in capsys.readouterr().err


# -------------------------------------------------------------------------- the page


def test_the_page_holds_all_it_needs_and_what_a_model_says_stays_text(text):
    elements: list[tuple[str, dict]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: elements.append((tag, dict(attrs)))
    parser.feed(text)
    scripts = [attrs for tag, attrs in elements if tag == "script"]
    assert len(scripts) == 2  # data and code
    assert not any("src" in attrs or "href" in attrs for attrs in scripts)
    foreign = {"img", "iframe", "object", "link", "textarea"}
    assert not foreign & {tag for tag, _ in elements}
    for _, attrs in elements:
        assert not any(name.startswith("on") for name in attrs)
        assert attrs.get("href", "#").startswith("#")
    (policy,) = (x["content"] for _, x in elements if "http-equiv" in x)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "&lt;i&gt;odd&lt;/i&gt;" in text
    assert not re.search(r"[\0\x1b\u202e\ud800]", text)
    assert "\\u202ename\\ud800" in text
    assert "<bdi>=&lt;i&gt;odd&lt;/i&gt;" in text and "…" in text


def test_a_folder_holds_all_documents_in_scripts_that_are_ascii(board, text):
    inline = {x["key"]: x for x in data_of(text)["documents"]}
    found = {}
    for path in (board / "all" / "documents").iterdir():
        script = path.read_bytes().decode("ascii")
        assert "<" not in script
        _, _, script = script.partition("\naddDocuments(")
        rows = json.loads(script.removesuffix(");\n"))
        found |= {row["key"]: row for row in rows}
    assert found == inline


def test_long_texts_lose_what_was_not_read_and_values_are_shown_as_values(text):
    documents = data_of(text)["documents"]
    assert all(document["prompt"] for document in documents)
    entries = [x for document in documents for x in document["answers"]]
    (long,) = [x["response"] for x in entries if int in map(type, x["response"])]
    shown = sum(len(piece[1]) for piece in long if isinstance(piece, list))
    assert shown + sum(x for x in long if isinstance(x, int)) == len(HOSTILE[3])
    assert 1_000 < shown <= page.LONGEST_RESPONSE
    marked = next(x for x in entries if x["reason"] == "right")
    assert any(bits == 3 for bits, _ in marked["response"])
    assert "baking, weeding, rowing, drumming" in {x["read"][1] for x in entries}


def test_an_empty_prompt_is_shown_as_it_is(make, tmp_path):
    line = sample("odd", planned(1)[0]["doc"], "", "none")
    write(tmp_path / "run" / f"samples_tcp_long_{STAMPS[0]}.jsonl", line)
    (document,) = data_of(make("html", {"a": tmp_path / "run"}, *BARE))["documents"]
    assert document["prompt"] == []


def test_the_page_stays_below_its_bounds_and_says_what_it_leaves_out(
    make, monkeypatch, capsys
):
    rows = answers("tot_arithmetic")
    monkeypatch.setattr(page, "MOST_ANSWERS", 12)
    text = make("html", {"a": rows})
    assert "12 of 38: some of each model, task and reason" in text
    reasons = {x["reason"] for y in data_of(text)["documents"] for x in y["answers"]}
    assert {"right", "flexible_only"} <= reasons
    monkeypatch.setattr(page, "MOST_BYTES", 1_000)
    make("html", {"a": rows}, status=1)
    assert "name fewer runs, or write --csv or --json" in capsys.readouterr().err


def test_a_file_that_changes_while_it_is_read_is_named(make, monkeypatch, capsys):
    collect = page.collect

    def changed(models, options):
        write(models[0].source.place, *answers("tcp_short"))
        return collect(models, options)

    monkeypatch.setattr(page, "collect", changed)
    assert make("html", {"a": answers("tcp_long")}, status=1) == ""
    assert "a: has changed while it was read; run again" in capsys.readouterr().err


# ------------------------------------------------------------------- in a browser

# In one step: an element that is found may be replaced before it is asked for its text.
SHOWN = "return document.querySelector('#document h3').firstChild.textContent"
FOUND = "return parseInt(document.getElementById('count').textContent)"
FOCUS = "return document.activeElement.id || document.activeElement.className"
NAMES = "return [...document.querySelectorAll('#ranking .row:not([hidden])')].map((row) => row.dataset.m)"


@pytest.fixture(scope="module")
def driver():
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in ("headless=new", "no-sandbox", "disable-dev-shm-usage", SIZE):
        options.add_argument(f"--{option}")
    levels = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", levels)
    socket.setdefaulttimeout(MOST_SECONDS)  # of the start, and of each command
    with webdriver.Chrome(options=options, service=Service(DRIVER)) as driver:
        socket.setdefaulttimeout(None)
        yield driver


@pytest.fixture
def find(driver):
    """A function that returns the elements of a page that a selector names."""
    return lambda selector: driver.find_elements("css selector", selector)


def look(driver, page: Path, place: str = "", script: bool = True) -> None:
    """Open a page at a place in it, with scripts or without."""
    command = "Emulation.setScriptExecutionDisabled"
    driver.execute_cdp_cmd(command, {"value": not script})
    driver.get("about:blank")
    driver.get(f"file://{page}{place}")


def wait_for(driver, script: str, value) -> None:
    """Wait until a script says a value: a link takes effect after the click returns."""
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(driver, MOST_SECONDS)
    wait.until(lambda x: x.execute_script(script) == value)


@pytest.mark.parametrize("name", ["board.html", "all/index.html"])
def test_filters_search_and_links_find_documents(driver, find, board, text, name):
    documents = data_of(text)["documents"]
    key = next(x["key"] for x in documents if x["task"] == "tot_arithmetic")
    look(driver, board / name, f"#{key}")
    wait_for(driver, FOCUS, "document")
    assert driver.execute_script(SHOWN).startswith("tot_arithmetic")
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
    for document in data_of(text)["documents"][:40]:
        driver.execute_script("location.hash = arguments[0]", document["key"])
    assert driver.title == "Temporal reasoning: leaderboard"
    assert driver.get_log("browser") == []
    urls = re.findall(r'"url":"([a-z]+:[^"]*)"', str(driver.get_log("performance")))
    assert all(url.startswith(("file:", "about:", "data:")) for url in urls), urls


def test_without_script_all_tables_stand_and_no_control_is_dead(driver, find, board):
    look(driver, board / "board.html", script=False)
    controls = [x for x in find("input, select, button") if x.is_displayed()]
    # The boxes that open run cards, by style alone.
    assert {x.get_attribute("class") for x in controls} == {"open"}
    for box in find("#ranking .open"):
        path = "ancestor::tr/following-sibling::tr[@class='card'][1]"
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
