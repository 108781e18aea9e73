"""The board: its figures are those of `score`, and its page works, whatever a model says."""

import csv
import json
import re
import shutil
import socket
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import write
from tests.conftest import EXAMPLES
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import groups, scorer
from utils.core.jsonl import read_jsonl
from utils.leaderboard import browser, page
from utils.runs.answers import document_text, sha256
from utils.stats import linearised


CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MOST_SECONDS = 60  # for the browser to do a thing
PACK = ["--include_path", str(EXAMPLES)]
STAMP = "2026-01-01T00-00-00"
HOSTILE = [
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\"></textarea><!--",
    "\u2028\u2029\0\x1b[31m\u202e\ud800 ]]> {{ 7 * 7 }} {% raw %} ${7}",
    "Thus, the correct answer is: <b>B</b>" + "x" * 9000,
]
OTHER = "other documents"
ODD = "<i>odd</i> | \u202ename\ud800 </script>"


def answers(task: str) -> list[dict]:
    return read_jsonl(EXAMPLES / "responses" / "careful" / f"{task}.jsonl")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[str]:
    """Two models over all tasks; every other answer of the second is the one before."""
    folder = tmp_path_factory.mktemp("runs")
    paths = sorted((EXAMPLES / "responses" / "careful").glob("*.jsonl"))
    good = [row for path in paths for row in read_jsonl(path)]
    odd = [
        row | {"response": good[n - n % 2]["response"]} for n, row in enumerate(good)
    ]
    for row, text in zip(odd, HOSTILE):
        row["response"] = text
    named = {"good": good, ODD: odd}.items()
    return [f"{x}={write(folder / str(len(x)), *rows)}" for x, rows in named]


@pytest.fixture(scope="module")
def board(runs, tmp_path_factory) -> Path:
    """The folder with the page, CSV and JSON of the two models."""
    folder = tmp_path_factory.mktemp("board")
    forms = [f"--{x}={folder / f'board.{x}'}" for x in ("html", "csv", "json")]
    assert main(["leaderboard", *runs, *PACK, *forms]) == 0
    return folder


@pytest.fixture
def table(board) -> list[dict]:
    return json.loads((board / "board.json").read_text(encoding="utf-8"))


@pytest.fixture
def text(board) -> str:
    return (board / "board.html").read_text(encoding="utf-8")


def data_of(text: str) -> dict:
    (data,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(data)


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
    """A function that makes a board of name -> answers; returns the rows of the models."""

    def ranks(*named: object, **more: int) -> dict[str, dict]:
        rows = json.loads(make("json", *named, **more))
        return {row["model"]: row for row in rows if row["by"] is None}

    return ranks


@pytest.fixture
def page_of(make):
    return lambda rows, **more: make("html", {"a": rows}, **more)


def test_figures_are_those_of_score_to_the_last_bit(table, runs, capsys):
    places = ("model", "scope", "by", "value")
    shown = {tuple(row[x] for x in places): row for row in table}
    checked = 0
    for run in runs:
        name, _, path = run.partition("=")
        capsys.readouterr()
        assert main(["score", path, *PACK, "--format", "json"]) == 0
        for row in json.loads(capsys.readouterr().out):
            mine = shown[name, row["task"], row.get("by"), row.get("value")]
            for metric in ("n", "published", "flexible", "extracted"):
                assert mine[metric] == row.get(metric), (row, metric)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize("wrong", [0, 1, 8])
def test_an_interval_of_a_score_ends_at_0_and_1(ranks, wrong):
    row = ranks({"a": planned(8, wrong=wrong)})["a"]
    low, high = row["published_low"], row["published_high"]
    assert 0 <= low <= row["published"] <= high <= 1
    assert 0.25 < high - low < 0.6


def test_csv_and_json_hold_the_same_rows(board, table):
    with open(board / "board.csv", encoding="utf-8", newline="") as file:
        lines = [*csv.DictReader(file)]
    for line, row in zip(lines, table, strict=True):
        for name in ("model", "scope", "n", "published", "flexible_rank"):
            cell = "" if row.get(name) is None else str(row[name])
            assert line[name] == cell.encode("utf-8", "backslashreplace").decode()


def test_groups_are_averaged_as_their_yaml_files_say(table):
    good = {x["scope"]: x for x in table if (x["model"], x["by"]) == ("good", None)}
    tasks = {group.name: group.tasks for group in groups()}
    tot, timebench = ([good[x] for x in tasks[y]] for y in ("tot", "timebench"))
    by_size = sum(x["n"] * x["published"] for x in tot) / sum(x["n"] for x in tot)
    assert good["tot"]["published"] == pytest.approx(by_size, abs=1e-12)
    plain = sum(x["flexible"] for x in timebench) / 15
    assert good["timebench"]["flexible"] == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize(("by_size", "weights"), [(1, [1 / 3, 2 / 3]), (0, [0.5, 0.5])])
def test_the_error_of_a_group_is_that_of_its_weighted_tasks(by_size, weights):
    parts = [[1, 0], [1, 1, 1, 0]]
    found = linearised(parts, by_size)
    assert np.mean(found) == pytest.approx(np.dot(weights, [0.5, 0.75]))
    variances = [w**2 * np.var(x) / len(x) for w, x in zip(weights, parts)]
    assert np.var(found) / len(found) == pytest.approx(sum(variances))


def planned(days: int, *, wrong: int = 0) -> list[dict]:
    """Return answers to as many made documents of `tcp_long`; the first ones are wrong."""
    form = {"question": "When?", "answer_format": "YYYY-MM-DD"}
    dates = [f"{2000 + n // 28}-01-{n % 28 + 1:02}" for n in range(days)]
    docs = [form | {"dialogue": f"A: On {date}.", "answer": date} for date in dates]
    said = ["none"] * wrong + [f"\\boxed{{{date}}}" for date in dates[wrong:]]
    return [{"task": "tcp_long", "doc": x, "response": y} for x, y in zip(docs, said)]


def test_models_are_ranked_on_the_documents_that_most_have_or_the_benchmark_has(ranks):
    rows = answers("tot_arithmetic")
    found = ranks({"a": rows, "b": rows, "c": rows[:-1]})
    assert [found[x]["not_ranked"] for x in "abc"] == [None, None, OTHER]
    assert [found[x]["published_rank"] for x in "abc"] == [1, 1, None]
    found = ranks({"a": planned(300), "b": planned(10), "c": planned(10)})
    assert [found[x]["not_ranked"] for x in "abc"] == [None, OTHER, OTHER]


REFUSED = "lines refused: 6"
SURPLUS = f"answers beyond the benchmark's rows: 6; {OTHER}"


@pytest.mark.parametrize(
    ("task", "ids", "said"),
    [  # of one that answers once, and of two that answer more
        ("tot_arithmetic", False, [None, REFUSED, REFUSED]),
        ("tot_arithmetic", True, [None, SURPLUS, SURPLUS]),
        ("tcp_long", False, [None, REFUSED, REFUSED]),
        # whose rows are not known one by one: which is right, nobody can tell
        ("tcp_long", True, [OTHER, None, None]),
    ],
)
def test_who_answers_documents_twice_does_not_set_the_standard(ranks, task, ids, said):
    rows = [{"task": task, "doc": x, "response": ""} for x in documents(task, EXAMPLES)]
    once, more = (
        [row | {"doc_id": n} if ids else row for n, row in enumerate(x)]
        for x in (rows, [*rows, *rows[:4], *rows[:2]])
    )
    found = ranks({"a": once, "b": more, "c": more}, status=0 if ids else 1)
    assert [found[x]["not_ranked"] for x in "abc"] == said


def test_differences_are_corrected_for_the_number_of_pairs(ranks, make):
    # p is 0.04 for a and b alone: with a third model, thrice that.
    rows = {"a": planned(40), "b": planned(40, wrong=6)}
    assert [row["flexible_rank"] for row in ranks(rows).values()] == [1, 2]
    rows["c"] = planned(37) + planned(40, wrong=40)[37:]
    assert [row["flexible_rank"] for row in ranks(rows).values()] == [1, 1, 1]
    assert make("html", rows).count('<span class="rank">=1</span>') >= 6


def test_orders_of_one_question_are_one_observation(ranks):
    row = {"task": "tot_semantic", "response": '{"answer": "E1"}'}
    docs = [{"question": f"Q{n // 5}?", "prompt": f"{n}"} for n in range(60)]
    good = [row | {"doc": doc | {"label": "E1"}} for doc in docs]
    # Which is p = 0.02 for 60 observations.
    wrong = [row | {"response": "none"} for row in good[:5]]
    found = ranks({"a": good, "b": wrong + good[5:]})
    assert [row["flexible_rank"] for row in found.values()] == [1, 1]


def logged(task: str, prompt: str | None = None, name: str = "none") -> list[dict]:
    """Return answers as the harness logs them, to the documents of the examples."""
    rows = []
    for n, doc in enumerate(documents(task, EXAMPLES)):
        asked = prompt or f"{doc.get('instruction', '')}{doc['question']}"
        row = {"doc_id": n, "doc": doc, "filter": name, "filtered_resps": ["I see."]}
        row |= {"resps": [["I see."]], "doc_hash": sha256(document_text(doc))}
        row |= {"arguments": {"gen_args_0": {"arg_0": asked}}, "target": ""}
        row |= {"prompt_hash": sha256(asked), "target_hash": sha256("")}
        rows.append(row)
    return rows


def samples(folder: Path, task: str, rows: list[dict], results: dict) -> str:
    """Write a folder as the harness does; return its name."""
    write(folder / f"samples_{task}_{STAMP}.jsonl", *rows)
    write(folder / f"results_{STAMP}.json", results)
    return str(folder)


SEPARATE = "tot_arithmetic_separate"
OURS = scorer(SEPARATE).version


@pytest.mark.parametrize(
    ("version", "prompt", "said"),
    [
        (1.0, None, f"run as version 1.0, not {OURS}"),
        (1.1, None, None),
        (2.0, None, None),
        (OURS, "no instruction", "prompts without the instruction: "),
    ],
)
def test_other_prompts_and_a_dropped_instruction_are_marked(
    ranks, tmp_path, version, prompt, said
):
    rows, versions = logged(SEPARATE, prompt), {"versions": {SEPARATE: version}}
    found = ranks({"a": samples(tmp_path / "logs", SEPARATE, rows, versions)})
    lacking = f"{said}{len(rows)}" if prompt else said
    assert found["a"]["not_ranked"] == lacking


def test_metrics_that_some_documents_lack_do_not_break_the_board(table, text):
    row = next(x for x in table if (x["scope"], x["model"]) == ("tot_arithmetic", ODD))
    assert row["by"] is None
    assert 0 < row["smape n"] < row["n"] and row["smape"] > 1
    button = r'data-first="ascending" title="lower is better"><button[^>]*>\s*smape'
    assert re.search(button, text)


@pytest.mark.parametrize("place", [0, 3, 7])
def test_each_of_two_filters_is_a_model_with_its_refused_lines(ranks, tmp_path, place):
    rows, strict = logged("tcp_long"), logged("tcp_long", name="strict")
    strict[place] |= {"doc_hash": "0" * 64}
    path = write(tmp_path / f"samples_tcp_long_{STAMP}.jsonl", *rows, *strict)
    found = ranks({"a": path}, status=1)
    assert {name: row["n"] for name, row in found.items()} == {"a": 8, "a (strict)": 7}
    assert found["a (strict)"]["not_ranked"].startswith("lines refused: 1")
    assert found["a"]["not_ranked"] is None


def test_copies_of_a_row_are_matched_whatever_their_order(ranks, page_of):
    doc = {"question": "How many?", "label": "{'answer': '3'}"}
    rows = [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc, "response": answer}
        for n, answer in enumerate(['{"answer": "3"}', '{"answer": "4"}'] * 20)
    ]
    found = ranks({"a": rows, "b": rows[::-1]})
    figures = [(x["n"], x["published"], x["flexible"]) for x in found.values()]
    assert figures == [(40, 0.5, 0.5)] * 2
    assert len(data_of(page_of(rows))["documents"]) == 40


FRESH = "fresh_date_arithmetic"


def fresh(seed: int, rows: int) -> list[dict]:
    """Return the documents of a fresh task over rows of a seed."""
    made = load("date_arithmetic", seed, rows, "1-2")["test"]
    return [*scorer(FRESH).process_docs(made)]


def test_public_and_fresh_are_set_side_by_side(page_of):
    rows = [{"task": FRESH, "doc": doc, "response": "none"} for doc in fresh(1, 20)]
    text = page_of(answers("timebench_date_arithmetic") + rows)
    assert "Public and fresh" in text and "made from a seed" in text
    assert '<th scope="colgroup" colspan="1" class="family"><span>Fresh</span>' in text


def test_models_over_two_seeds_are_told_apart_by_them(ranks, tmp_path):
    named = {}
    for name, seed, n in (("a", 1, 10), ("b", 1, 4), ("c", 2, 10)):
        lines = [{"task": FRESH, "doc": doc, "response": ""} for doc in fresh(seed, 10)]
        results = {"configs": {FRESH: {"metadata": {"gen_seed": seed, "gen_rows": 10}}}}
        named[name] = samples(tmp_path / "logs" / name, FRESH, lines[:n], results)
    found = ranks(named)
    assert {x: y["rows"] for x, y in found.items()} == {
        "a": "made from seed 1, all 10",
        "b": "made from seed 1, 4 of its 10",
        "c": "made from seed 2, all 10",
    }
    assert [x["not_ranked"] for x in found.values()].count(OTHER) == 2


def test_the_terminal_shows_a_short_table(page_of, capsys):
    page_of(answers("tcp_long") + answers("tcp_short"))
    head, _, row = capsys.readouterr().out.strip().splitlines()
    assert re.findall(r"\w+", head)[2:] == ["n", "published", "flexible", "extracted"]
    assert re.findall(r"[\w.]+", row) == ["tcp", "a", "16", "0.8750", *["1.0000"] * 2]


def test_what_cannot_be_scored_is_named_and_its_model_is_not_ranked(ranks, capsys):
    rows = answers("tcp_long")
    none = [{"task": "tcp_long", "doc_id": 0, "response": None}]
    named = {"good": rows, "bad": [*rows, rows[0]], "none": none, "empty": []}
    found = ranks(named, "--task", "tcp_long", status=1)
    notes = {name: row["not_ranked"] for name, row in found.items()}
    assert notes == {"good": None, "bad": "lines refused: 1"}
    second, _, *lacking, _ = capsys.readouterr().err.splitlines()
    assert "line 9: is a second answer to document 0" in second
    ends = "has no answer that counts; name another run"
    assert lacking == [f"none: {ends}", f"empty: {ends}"]


def test_the_page_holds_all_it_needs_and_what_a_model_says_stays_text(text):
    elements: list[tuple[str, dict]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: elements.append((tag, dict(attrs)))
    parser.feed(text)
    scripts = [attrs for tag, attrs in elements if tag == "script"]
    assert len(scripts) == 2  # data and code
    assert not any("src" in attrs or "href" in attrs for attrs in scripts)
    foreign = {"img", "iframe", "object", "link", "textarea", "i", "b"}
    assert not foreign & {tag for tag, _ in elements}
    for _, attrs in elements:
        assert not any(name.startswith("on") for name in attrs)
        assert attrs.get("href", "#").startswith("#")
    (policy,) = (x["content"] for _, x in elements if "http-equiv" in x)
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "&lt;i&gt;odd&lt;/i&gt;" in text
    assert not re.search(r"[\0\x1b\u202e\ud800]", text)
    assert "\\u202ename\\ud800" in text


def test_texts_are_cut_around_what_was_extracted():
    text = "a" * 5000 + "HERE" + "b" * 5000
    found = browser.pieces(text, [(5000, 5004), None], 100)
    assert [1, "HERE"] in found
    kept = sum(len(x[1]) for x in found if isinstance(x, list))
    left_out = sum(x for x in found if isinstance(x, int))
    assert kept + left_out == len(text) and kept <= 104
    assert browser.pieces("short", [(0, 5), (0, 5)], 100) == [[3, "short"]]


def test_the_page_stays_below_its_bounds_and_says_what_it_leaves_out(
    page_of, monkeypatch, capsys
):
    rows = answers("tot_arithmetic")
    monkeypatch.setattr(browser, "MOST_ANSWERS", 12)
    text = page_of(rows)
    assert "12 of 38 documents are on this page" in text
    reasons = {x["reason"] for y in data_of(text)["documents"] for x in y["answers"]}
    assert {"right", "flexible_only"} <= reasons
    monkeypatch.setattr(page, "MOST_BYTES", 1_000)
    page_of(rows, status=1)
    assert "name fewer runs, or write --csv or --json" in capsys.readouterr().err


def test_a_file_that_changes_while_it_is_read_is_named(page_of, monkeypatch, capsys):
    collect = browser.collect

    def changed(models, include_path):
        write(models[0].run.files[0].path, *answers("tcp_short"))
        return collect(models, include_path)

    monkeypatch.setattr(browser, "collect", changed)
    assert page_of(answers("tcp_long"), status=1) == ""
    assert "a: has changed while it was read; run again" in capsys.readouterr().err


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
    for option in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{option}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    socket.setdefaulttimeout(MOST_SECONDS)  # of the start, and of each command
    with webdriver.Chrome(options=options, service=Service(DRIVER)) as made:
        socket.setdefaulttimeout(None)
        yield made


def look(driver, folder: Path, place="", width=1400, theme="light"):
    """Open the page of a folder as on a screen of a width and theme, at a place in it."""
    media = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get("about:blank")
    driver.get(f"file://{folder / 'board.html'}{place}")


def wait_for(driver, script: str, value) -> None:
    """Wait until a script says a value: a link takes effect after the click returns."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, MOST_SECONDS).until(
        lambda x: x.execute_script(script) == value
    )


def test_filters_search_and_links_find_documents(driver, board):
    from selenium.webdriver.common.keys import Keys

    look(driver, board)
    everything = driver.execute_script(FOUND)
    driver.find_element("id", "filter-reason").send_keys("flexible only")
    assert 0 < driver.execute_script(FOUND) < everything
    driver.find_element("css selector", "#filters [type=reset]").click()
    wait_for(driver, FOUND, everything)
    query = driver.find_element("id", "query")
    query.send_keys("no such words anywhere")
    assert driver.execute_script(FOUND) == 0
    query.send_keys(Keys.CONTROL, "a")
    query.send_keys("json")
    assert 0 < driver.execute_script(FOUND) < everything
    first = driver.find_element("css selector", "#list a")
    name = first.find_element("class name", "name").text
    first.click()
    wait_for(driver, FOCUS, "document")
    assert driver.execute_script(SHOWN) == name
    assert driver.find_elements("css selector", "#document pre mark")


def test_the_page_fits_its_screen_in_light_and_dark(driver, board):
    grounds = set()
    for width, theme in ((400, "light"), (800, "dark"), (1400, "light")):
        look(driver, board, "#document-0", width, theme)
        assert driver.execute_script(OVERFLOW) <= 0
        grounds.add(driver.execute_script(BACKGROUND))
    assert len(grounds) == 2


def test_nothing_runs_fails_or_leaves_the_page(driver, board):
    driver.get_log("browser")
    driver.get_log("performance")
    look(driver, board)
    for place in range(40):
        driver.execute_script(f"location.hash = 'document-{place}'")
    assert driver.title == "Temporal reasoning: leaderboard"
    assert driver.get_log("browser") == []
    urls = re.findall(r'"url":"([a-z]+:[^"]*)"', str(driver.get_log("performance")))
    assert all(url.startswith(("file:", "about:", "data:")) for url in urls), urls


def test_the_overview_leads_to_a_table_which_a_click_sorts(driver, board):
    look(driver, board)
    driver.find_element("css selector", ".matrix a[href='#score-tot']").click()
    wait_for(driver, FOCUS, "scope")
    assert not driver.find_element("id", "score-tcp").is_displayed()
    table = driver.find_element("css selector", "#score-tot table.sortable")
    header = table.find_element("css selector", "th:has(.sort[aria-label*='odel'])")
    for order in ("ascending", "descending"):
        header.find_element("class name", "sort").click()
        assert header.get_attribute("aria-sort") == order
    names = [x.text for x in table.find_elements("css selector", "tbody th")]
    assert names == sorted(names, reverse=True) and len(names) == 2
