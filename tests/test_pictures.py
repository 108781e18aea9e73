"""Pictures of a page: scores by level, where points go, pairs of models, references."""

import json
import re
from collections import Counter, defaultdict
from xml.etree import ElementTree

import pytest

from lm_eval_tasks.fresh.utils import load
from tests.answers import write
from tests.browser import FOCUS, FOUND, look
from tests.conftest import EXAMPLES
from tests.pictures import FOLDER, STRUCTURE, Outline, board
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.task_scorers import Group, all_tasks, scorer
from utils.integrity.run_checks import FALSE, UNKNOWN, VERIFIED
from utils.leaderboard import pictures
from utils.leaderboard.model_status import Standing


pytestmark = pytest.mark.usefixtures("judged_here")


SVG = "{http://www.w3.org/2000/svg}"
LEVELS = ("1", "2", "10")
HOSTILE = "b </script><b>bold</b> \u202e"
# Right answers of 12 to each level, by model.
RIGHT = {"a": (12, 9, 3), HOSTILE: (6, 6, 6)}
TASK = "tot_arithmetic"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A board of two models on 36 documents with levels, of which each knows some answers."""
    folder = tmp_path_factory.mktemp("levels")
    rows = documents(TASK, EXAMPLES)[:36]
    for model, counts in RIGHT.items():
        lines = []
        for number, row in enumerate(rows):
            place, level = divmod(number, len(LEVELS))
            document = row | {"level": LEVELS[level]}
            response = scorer(TASK).utils.gold_response(document)
            if place >= counts[level]:
                response = "No idea." if place % 2 else '{"answer": "odd"}'
            lines.append({"task": TASK, "doc": document, "response": response})
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"{len(model)}.jsonl").write_text(text)
    runs = [f"{model}={folder / f'{len(model)}.jsonl'}" for model in RIGHT]
    html = folder / "board.html"
    assert main(["leaderboard", *runs, "--html", str(html)]) == 0
    return html


@pytest.fixture(scope="module")
def page_of_two_tasks(tmp_path_factory):
    """The text of the page of a model on two tasks with levels, of which one has a third."""
    folder, lines = tmp_path_factory.mktemp("tasks"), []
    # Task -> by level how many documents, and how many of them are right.
    counts = {
        "fresh_date_arithmetic": {1: (8, 4), 2: (8, 4), 3: (8, 0)},
        "fresh_timexnli": {1: (4, 4), 2: (4, 0)},
    }
    for task, by_level in counts.items():
        make_docs = scorer(task).process_docs
        for level, (total, right) in by_level.items():
            made = {"gen_seed": 1, "gen_rows": total, "gen_levels": f"{level}"}
            docs = make_docs(load(task.removeprefix("fresh_"), **made)["test"])
            for number, doc in enumerate(docs):
                gold = scorer(task).utils.gold_response(doc)
                response = gold if number < right else "none"
                lines.append({"task": task, "doc": doc, "response": response})
    write(folder / "a.jsonl", *lines)
    html = folder / "board.html"
    assert main(["leaderboard", f"a={folder / 'a.jsonl'}", "--html", str(html)]) == 0
    return html.read_text(encoding="utf-8")


@pytest.fixture
def data(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def figures(scores: dict[str, float], task: str = TASK) -> dict:
    """Return figures of a model with a flexible score by level."""
    row = {
        "by": "level",
        "task": task,
        "n": 9,
        "published_low": 0.1,
        "published_high": 1.0,
    }
    row |= {"flexible_low": 0.0, "flexible_high": 1.0}
    return {
        f"{task}|level|{level}": row | {"value": level, "published": x, "flexible": x}
        for level, x in scores.items()
    }


class Stub:
    """A model with figures by level; `rivals` are those that it is ranked with."""

    def __init__(
        self,
        name: str,
        scores: dict[str, float],
        status: str = UNKNOWN,
        rivals: str = "",
    ) -> None:
        self.name = name
        self.benchmark_rows = {TASK: {"n": 9 * len(scores), "by": None}}
        self.figures = figures(scores) | self.benchmark_rows
        self.standings = {TASK: Standing((TASK,), status, [], [], (rivals,), status)}


ONE_TASK = Group(TASK, (TASK,))


def test_levels_are_in_natural_order_and_scores_at_their_height():
    entrants = [Stub("x", {"10": 0.5, "2": 1.0, "1": 0.0}), Stub("y", {"2": 0.5})]
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    assert [*panel.levels] == ["1", "2", "10"]
    (line,) = panel.lines  # a model with one level has no line
    middle = (pictures.TOP + pictures.BOTTOM) / 2
    heights = [point.y for point in line.points["flexible"]]
    assert heights == [pictures.BOTTOM, pictures.TOP, middle]


OTHERS = [  # status and rivals of runs with other levels than two of the task's
    [(UNKNOWN, "alone")],
    [(UNKNOWN, "alone"), (UNKNOWN, "alone, too")],
    [(FALSE, "crowd")] * 5,
]


@pytest.mark.parametrize("others", OTHERS)
def test_levels_are_those_of_the_model_that_shows_most_of_the_benchmark(others):
    honest = [Stub(name, {"1": 0.9, "2": 0.4}, VERIFIED, "honest") for name in "ab"]
    many_levels = {f"{level}": 1.0 for level in range(1, 100)}
    entrants = [Stub("x", many_levels, *other) for other in others] + honest
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    assert [*panel.levels] == ["1", "2"]
    assert all(len(line.points["published"]) == 2 for line in panel.lines)
    assert len(panel.lines) == len(entrants)


MEANS = [  # the tasks that models answered, and how they stand; the tasks of the mean
    ([("abc", UNKNOWN), ("ab", VERIFIED)], "ab"),
    ([("abc", VERIFIED), ("ab", VERIFIED), ("ab", VERIFIED)], "ab"),
    ([("ab", VERIFIED), ("abc", VERIFIED)], "abc"),
    ([("ab", FALSE), ("ab", FALSE), ("bc", VERIFIED)], "bc"),
]


@pytest.mark.parametrize(("models", "expected"), MEANS)
def test_a_mean_by_level_is_of_the_tasks_that_most_models_answered(models, expected):
    """Who answered a task more, or is not verified, takes no line from the others."""
    entrants = []
    for tasks, status in models:
        entrants.append(Stub("x", {"1": 0.5}))
        entrants[-1].standings = {TASK: Standing((*tasks,), status, [], [], (), status)}
    assert pictures._tasks_of_mean(ONE_TASK, entrants, [*"abc"]) == (*expected,)


def test_pictures_show_the_first_models_with_levels_whoever_stands_above():
    """And the first of the others, as far as there are colours."""
    above = [Stub(f"x{n}", {"1": 1.0}) for n in range(9)]
    entrants = [
        *above,
        Stub("a", {"1": 0.9, "2": 0.4}),
        Stub("b", {"1": 0.9, "2": 0.4}),
    ]
    shown = pictures.pictured(entrants, [ONE_TASK])
    assert [x.name for x in shown] == [*(f"x{n}" for n in range(6)), "a", "b"]
    ((panel,),) = pictures.level_panels(shown, [ONE_TASK])
    assert [line.entrant.name for line in panel.lines] == ["a", "b"]


def test_a_run_with_fewer_levels_takes_none_from_the_others():
    levels = {"1": 0.9, "2": 0.4, "3": 0.2}
    few = [Stub("x", {"1": 1.0, "2": 1.0}, VERIFIED, "crowd") for _ in range(4)]
    entrants = [Stub("a", levels, VERIFIED, "honest"), *few]
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    assert [*panel.levels] == [*levels]


def test_names_at_the_ends_of_lines_do_not_lie_on_each_other():
    entrants = [Stub(f"{n}", {"1": 0.5, "2": 0.02}) for n in range(pictures.MOST_LINES)]
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    ys = sorted(line.label_y["published"] for line in panel.lines)
    assert all(high - low >= 13.9 for low, high in zip(ys, ys[1:]))
    assert ys[-1] <= pictures.BOTTOM


def test_a_level_whose_scores_are_left_out_is_no_point():
    left_out = {"published": None, "flexible": None}
    entrants = [Stub(name, {"1": 0.9, "2": 0.4, "3": 0.2}) for name in "xy"]
    entrants[0].figures[f"{TASK}|level|3"] |= left_out
    for level in "23":
        entrants[1].figures[f"{TASK}|level|{level}"] |= left_out
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    assert [*panel.levels] == ["1", "2"]
    assert [line.entrant.name for line in panel.lines] == ["x"]


def test_tasks_that_no_model_answered_together_have_no_mean():
    tasks = (TASK, "tot_semantic")
    entrants = [Stub(task, {}) for task in tasks]
    for entrant in entrants:
        entrant.figures = figures({"1": 0.9, "2": 0.4}, entrant.name)
        standing = Standing((entrant.name,), VERIFIED, [], [], (), VERIFIED)
        entrant.standings = {"tot": standing}
        entrant.benchmark_rows = {"tot": {"n": 18, "by": None}}
    (panels,) = pictures.level_panels(entrants, [Group("tot", tasks)])
    assert [(panel.name, panel.tasks) for panel in panels] == [(x, 1) for x in tasks]


def test_names_at_the_ends_of_lines_are_in_the_order_of_the_ends():
    ends = {"low": 0.1, "high": 0.9, "middle": 0.5}
    entrants = [Stub(name, {"1": 0.5, "2": end}) for name, end in ends.items()]
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    lines = sorted(panel.lines, key=lambda line: line.label_y["flexible"])
    assert [line.entrant.name for line in lines] == ["high", "middle", "low"]
    assert all(x.label_y["flexible"] == x.points["flexible"][-1].y for x in lines)


def test_pairs_are_of_the_first_twelve_models_and_name_parts_as_text(monkeypatch):
    counts = {(TASK, "question_type", "a\u202e"): [1, 0, 2, 0.5, 0.0]}
    difference = lambda *_: {"counts": dict(counts)}  # noqa: E731
    monkeypatch.setattr(pictures, "_common_documents", lambda *_: [[], []])
    monkeypatch.setattr(pictures, "_difference", difference)
    places = {Stub(f"{number}", {}): number for number in (*range(20, 9, -1), 1, 5)}
    found = pictures.pairs(places, ONE_TASK)
    assert found["models"] == [*range(20, 9, -1), 1]
    assert len(found["pairs"]) == 12 * 11 / 2 and "20-1" in found["pairs"]
    assert found["parts"] == [[TASK, "question_type", "a\\u202e"]]
    assert found["pairs"]["20-1"]["flexible"]["parts"] == [[0, 1, 0, 2, 0.5, 0.0]]


def test_the_level_at_which_a_model_is_first_below_a_half_is_said():
    scores = {
        "up": {"1": 0.5, "2": 0.9},
        "down": {"1": 0.9, "2": 0.49, "10": 0.6, "11": 0.3},
    }
    entrants = [Stub(name, scores[name]) for name in scores]
    ((panel,),) = pictures.level_panels(entrants, [ONE_TASK])
    falls = {
        line.entrant.name: row and row["value"] for line, row in panel.falls("flexible")
    }
    assert falls == {"up": None, "down": "2"}


def test_a_mean_by_level_is_of_tasks_at_the_levels_that_all_have(page_of_two_tasks):
    """Not of documents: one task has twice as many as the other."""
    panel = page_of_two_tasks.partition("Mean of 2 tasks</figcaption>")[2]
    panel = panel.partition("</figure>")[0]
    assert re.findall(r'<th scope="col" class="num">(.*?)<', panel) == [
        "level 1",
        "level 2",
    ]
    figures = re.findall(r"<title>a, level (\d): ([\d.]+) % (\w+),.*?(\d+) rows", panel)
    assert figures == [
        *(("1", "75.0", rule, "12") for rule in ("published",)),
        *(("2", "25.0", rule, "12") for rule in ("published",)),
        *(("1", "75.0", rule, "12") for rule in ("flexible",)),
        *(("2", "25.0", rule, "12") for rule in ("flexible",)),
    ]


def test_pairs_count_the_documents_of_which_one_model_has_the_higher_score(data):
    pairs = data["pairs"]["tot"]
    names = data["models"]
    answers = {name: {} for name in names}
    parts = {}
    for document in data["documents"]:
        parts[document["key"]] = document["parts"]["question_type"]
        for answer in document["answers"]:
            answers[names[answer["model"]]][document["key"]] = answer["scores"]
    for place, rule in enumerate(("published", "flexible")):
        scores_by_part = defaultdict(list)
        for key, part in parts.items():
            scores = [answers[name][key][place] for name in names]
            scores_by_part[part].append(scores)
            scores_by_part[""].append(scores)  # the whole task
        expected = {}
        for part, scores in scores_by_part.items():
            wins = [sum(a > b for a, b in scores), sum(a < b for a, b in scores)]
            means = [sum(side) / len(scores) for side in zip(*scores)]
            expected[part] = pytest.approx([*wins, len(scores), *means], abs=1e-4)
        pair = pairs["pairs"]["0-1"][rule]
        found = {pairs["parts"][part][2]: counts for part, *counts in pair["parts"]}
        assert found == expected
        assert pair["documents"] == 36
        first, second = (
            sum(x[place] for x in answers[name].values()) for name in names
        )
        value, low, high = pair["difference"]
        assert value == pytest.approx((first - second) / 36)
        assert low < value < high


def test_bars_count_each_answer_once_by_its_reason(page, data):
    text = page.read_text(encoding="utf-8")
    counts = Counter(
        (answer["model"], answer["reason"])
        for document in data["documents"]
        for answer in document["answers"]
    )
    assert sum(counts.values()) == 72
    for (model, reason), count in counts.items():
        link = f'data-task="tot" data-model="{model}" data-reason="{reason}"'
        assert f"{count} answers, {reason.replace('_', ' ')}" in text
        assert link in text


def test_names_in_pictures_are_escaped(page):
    text = page.read_text(encoding="utf-8")
    assert "<b>bold" not in text
    assert "\u202e" not in text


# What the file of references holds -> the types of its cells.
FIELDS = {
    **{"tasks": list, "rows": int, "rule": str, "kind": str, "name": str},
    **{"score": float, "source": str, "setting": str},
}


def test_references_are_of_whole_benchmarks_with_their_sources():
    path = pictures.__file__.replace("pictures.py", "references.json")
    for reference in json.loads(open(path, encoding="utf-8").read()):
        assert {key: type(cell) for key, cell in reference.items()} == FIELDS
        assert 0 < reference["score"] <= 1
        assert reference["rule"] in ("published", "flexible")
        assert reference["kind"] in ("ceiling", "paper")
        assert reference["source"]
        assert {*reference["tasks"]} <= {*all_tasks()}
        row_counts = [scorer(task).upstream[0] for task in reference["tasks"]]
        assert sum(row_counts) == reference["rows"]


def test_references_are_shown_for_the_very_rows_alone():
    class Tasks:
        tasks = (TASK,)

    known = pictures.references(Tasks, (TASK,), 1_850)
    assert {reference["kind"] for reference in known} == {"ceiling", "paper"}
    assert pictures.references(Tasks, (TASK,), 36) == []
    assert pictures.references(Tasks, (TASK, "tot_semantic"), 1_850) == []


# Elements of SVG have no `click`.
CLICK = """
arguments[0].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))
"""
# The two models of a pair change places.
TURN = """
const form = document.getElementById("pair");
const [first, second] = [form.first.value, form.second.value];
form.first.value = second;
form.second.value = first;
form.second.dispatchEvent(new Event("input", { bubbles: true }));
"""


def test_parts_of_pictures_lead_to_the_documents_that_they_count(driver, find, page):
    driver.get_log("browser")
    look(driver, page)
    driver.execute_script("filters.text.value = 'what was looked for before'")
    link = find('[data-reason="other_value"], [data-reason="unreadable"]')[0]
    count = int(link.get_attribute("aria-label").rpartition(": ")[2].split()[0])
    driver.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))",
        link,
    )
    assert driver.execute_script(FOUND) == count
    side = find("#pair-figure .side0")[0]
    whole_count = int(side.text.split()[-3])
    side = find("#pair-figure .side0")[1]  # of a question type
    count = int(side.text.split()[-3])  # of how many
    assert count <= whole_count
    driver.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))",
        side,
    )
    assert driver.execute_script(FOUND) == count
    assert driver.execute_script(FOCUS) == "document"
    find("#wins")[0].click()
    assert driver.execute_script(FOUND) == 36
    assert driver.get_log("browser") == []


def test_a_pair_is_picked_and_the_switch_shows_the_other_score(driver, find, page):
    look(driver, page)
    caption = find("#pair-figure figcaption")[0].text
    driver.execute_script(TURN)
    turned = find("#pair-figure figcaption")[0].text
    assert caption != turned
    for text in (caption, turned):
        low, high = map(float, re.search(r"interval (\S+) to (\S+)\)", text).groups())
        assert low < high
        includes_zero = low <= 0 <= high
        assert ("The interval includes 0" in text) == includes_zero
    assert ("+" in caption.partition("points")[0]) != (
        "+" in turned.partition("points")[0]
    )
    shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
    assert driver.execute_script(shown, ".panel .by-published") == "none"
    find("#rule-published")[0].click()
    assert driver.execute_script(shown, ".panel .by-published") != "none"
    assert driver.execute_script(shown, ".panel .by-flexible") == "none"
    find("figure.panel .save")[0].click()  # a file is made, and nothing fails
    assert driver.get_log("browser") == []


BLOCKS = """
const names = [["t", "type", "few"], ["t", "type", "many"], ["t", null, ""]];
const parts = [[0, 1, 0, 9, 1, 0.5], [1, 1, 0, 10, 1, 0.9], [2, 2, 0, 19, 1, 0.7]];
const blocks = blocksOfPair(partsOfPair({ parts }, false), names);
return blocks.map(([title, those]) => [title, those.map((part) => names[part.place][2])]);
"""


def test_types_of_fewer_than_ten_rows_stand_apart(driver, page):
    look(driver, page)
    assert driver.execute_script(BLOCKS) == [
        ["by task", [""]],
        ["by question type", ["many"]],
        ["of fewer than 10 rows", ["few"]],
    ]


READ = """
const texts = (bits) => RULES.map((rule, n) => readText({ read: [null, null], response: [[bits, "x"]] }, n));
return [texts(0), texts(1), texts(2), texts(3)];
"""


def test_a_statement_without_a_value_is_told_from_none(driver, page):
    look(driver, page)
    without, with_statement = "nothing", "no value of the kind asked for"
    assert driver.execute_script(READ) == [
        [without, without],
        [with_statement, without],
        [without, with_statement],
        [with_statement, with_statement],
    ]


WHY = "athe end is missing; cut off"
WORDS = [  # expressions of the page, and their values
    ("signed(0.0123)", "+1.2"),
    ("signed(0)", "0.0"),
    ("signed(-0.5)", "-50.0"),
    ("shorten('abcd', 4)", "abcd"),
    ("shorten('abcde', 4)", "abc…"),
    ("[0, 0.5, 1].map(signOf)", ["✗", "0.50", "✓"]),
    ("cellValue(make('td', { textContent: '−1.5 (−2.0 to 1.0)' }))", -1.5),
    ("cellValue(make('td', { textContent: '–' }))", None),
    ("cellValue(cell)", 0.125),
    ("showPieces([]).textContent", "(empty)"),
    (
        "showPieces([[0, 'a'], 1234, [3, 'b']]).textContent",
        "a [… 1,234 characters …] b",
    ),
    ("showAnswer(cut_off, { task: 't' }).querySelector('h3').textContent", WHY),
    ("partName(['x_a_b', 'type', 'v_w'], 'x')", "a b, v w"),
    ("partName(['x_a_b', null, ''], 'x')", "a b"),
    ("partName(['y_a', 'type', 'v_w'], 'y')", "v w"),
    ("partName(['y_a', null, ''], 'y')", "a"),
    ("(setWins({ better: 0, worse: 0, value: 'v' }), wins_text())", "a above a, v ✕"),
    ("(setWins({ better: 0, worse: 0, value: '' }), wins_text())", "a above a ✕"),
    ("preview(documents[0])", "… one"),
    ("preview(documents[2])", "Read this"),
    ("listItem(documents[1]).textContent", "t 2 2/3  1/3… other"),
    ("listItem(documents[0]).textContent", "t … one"),
]
WORDS_PAGE = """
data.models[0] = "a";
data.tasks.x = ["x_a_b", "x_c"];
data.tasks.y = ["y_a"];
data.reasons.t = { none: "the end is missing" };
const cut_off = { model: 0, reason: "none", invalid: "cut_off", scores: [0, 0], read: [null, null], response: [] };
starts.clear();
const scores = [[1, 0.5], [1, 1], [0.5, 0]];
const cell = make("td", { textContent: "12.5+" });
cell.dataset.v = "0.125";
const wins_text = () => byId("wins").textContent;
const answers = scores.map((both) => ({ scores: both }));
documents = [
  { task: "t", prompt: [[0, "Read this: one"]], answers: [{ scores: [null, null] }] },
  { task: "t", id: 2, prompt: [[0, "Read this: other"]], answers },
  { task: "u", prompt: [[0, "Read this"]], answers },
];
"""


def test_a_page_puts_figures_names_and_texts_in_words(driver, page):
    look(driver, page)
    expressions = ", ".join(expression for expression, _ in WORDS)
    found = driver.execute_script(f"{WORDS_PAGE} return [{expressions}];")
    assert found == [value for _, value in WORDS]


ASKED = [  # what is asked for, and whether the document is found
    ({}, True),
    ({"model": "0", "reason": "right"}, True),
    ({"model": "0", "reason": "other_value"}, False),
    ({"model": "1", "reason": "other_value"}, True),
    ({"reason": "unreadable"}, False),
    ({"model": "2"}, False),
    ({"differ": "0"}, False),
    ({"differ": "1"}, True),
    ({"text": " some PROMPT "}, True),
    ({"text": "ref"}, True),
    ({"text": "t 7"}, True),
    ({"text": "said"}, True),
    ({"text": "else"}, False),
    ({"task": "t"}, True),
    ({"task": "u"}, False),
]
FITS = """
const one = { model: 0, reason: "right", scores: [1, 0], response: [[0, "He SAID"]] };
const other = { model: 1, reason: "other_value", scores: [1, 1], response: [] };
const doc = { task: "t", id: 7, prompt: [[0, "Some Prompt"]], reference: "REF", answers: [one, other] };
const all = { text: "", task: "", model: "", reason: "", differ: "" };
return arguments[0].map((asked) => fits({ ...doc }, { ...all, ...asked }));
"""


def test_a_document_is_found_by_one_answer_that_has_all_that_is_asked(driver, page):
    look(driver, page)
    found = driver.execute_script(FITS, [asked for asked, _ in ASKED])
    assert found == [is_found for _, is_found in ASKED]


WON = [  # of which part, by which score, and whose; whether it is a document of it
    ({"by": "type", "value": "v", "rule": 1, "better": 1, "worse": 0}, True),
    ({"by": "type", "value": "w", "rule": 1, "better": 1, "worse": 0}, False),
    ({"by": None, "value": "", "rule": 1, "better": 1, "worse": 0}, True),
    ({"by": None, "value": "", "rule": 1, "better": 0, "worse": 1}, False),
    ({"by": None, "value": "", "rule": 0, "better": 1, "worse": 0}, False),
    ({"by": None, "value": "", "rule": 1, "better": 1, "worse": 2}, False),
    ({"task": "u", "by": None, "rule": 1, "better": 1, "worse": 0}, False),
]
IS_WIN = """
const answers = [{ model: 0, scores: [1, 0] }, { model: 1, scores: [1, 1] }];
const doc = { task: "t", parts: { type: "v" }, answers };
return arguments[0].map((won) => { wins = { task: "t", ...won }; return isWin(doc); });
"""


def test_a_bar_leads_to_documents_of_its_part_that_its_model_is_better_at(driver, page):
    look(driver, page)
    found = driver.execute_script(IS_WIN, [won for won, _ in WON])
    assert found == [is_win for _, is_win in WON]


SORTED = """
const cell = (text) => make("tr", { className: "row" }, make("td", { textContent: text }));
const header = make("th");
header.dataset.sort = arguments[0];
const why = make("tr", {}, make("td", { textContent: "why" }));
const rows = [cell("1.0"), why, cell("–"), cell("−2.0"), cell("10.0")];
const body = make("tbody", {}, ...rows);
make("table", {}, make("thead", {}, make("tr", {}, header)), body);
return [1, 2].map(() => {
  sort(header, 0);
  return [header.ariaSort, [...body.rows].map((row) => row.textContent).join(" ")];
});
"""


def test_a_column_is_sorted_by_numbers_and_what_has_none_is_last(driver, page):
    look(driver, page)
    down = ["descending", "10.0 1.0 why −2.0 –"]
    up = ["ascending", "−2.0 1.0 why 10.0 –"]
    assert driver.execute_script(SORTED, "") == [down, up]
    assert driver.execute_script(SORTED, "up") == [up, down]


PARTS = """
const names = [["t", "type", "few"], ["t", "type", "many"], ["t", null, ""]];
const parts = [[0, 1, 0, 9, 1, 0.5], [1, 1, 0, 10, 1, 0.9], [2, 1, 2, 19, 1, 0.7]];
data.tasks.t = ["t"];
const turned = partsOfPair({ parts }, true);
const said = (those) => mostDifferent(blocksOfPair(those, names), names, "t").textContent;
return [
  turned.map((part) => [part.place, part.counts, part.means]),
  ...[turned, turned.slice(0, 1), turned.slice(2)].map(said),
];
"""


def test_the_part_in_which_two_models_differ_most_is_said_of_enough_rows(driver, page):
    look(driver, page)
    parts, *said = driver.execute_script(PARTS)
    assert parts == [
        [2, [2, 1], [0.7, 1]],
        [1, [0, 1], [0.9, 1]],
        [0, [0, 1], [0.5, 1]],
    ]
    order = "Bars are shares of the rows, in the order of the scores’ difference."
    most = "Of at least 10 rows, the {} in which they differ most is {} % of {} rows. "
    types = most.format("question type", "many: 90.0 against 100.0", 10)
    tasks = most.format("task", "t: 70.0 against 100.0", 19)
    assert said == [types + order, tasks + order, order]


def test_a_pair_s_picture_names_each_side_and_counts_in_words(driver, find, page, data):
    look(driver, page)
    for turn in (1, -1):
        value, *_ = data["pairs"]["tot"]["pairs"]["0-1"]["flexible"]["difference"]
        caption = find("#pair-figure figcaption")[0].text
        assert f"flexible: {100 * turn * value:+.1f} points (95 % interval" in caption
        names = data["models"][::turn]
        heads = [x.text for x in find("#pair-figure .head")]
        assert heads == [f"{name} higher" for name in names]
        for side, name in enumerate(names):
            link = find(f"#pair-figure .side{side}")[0]
            title = link.find_element("css selector", "title")
            count = link.find_elements("css selector", "text")[0].text
            said = f"{name} has the higher score of {count} documents in "
            assert title.get_attribute("textContent").startswith(said)
        driver.execute_script(TURN)


SURE = """
const pair = data.pairs.tot.pairs["0-1"].flexible;
pair.difference = [-0.5, -0.7, -0.2];
showPair();
"""
EMPTY = """
const figure = byId("pair-figure");
data.pairs.tot.pairs["0-1"].flexible.parts = [[0, 0, 0, 36, 0.5, 0.5]];
showPair();
const texts = [figure.textContent];
delete data.pairs.tot.pairs["0-1"];
showPair();
return [...texts, figure.textContent];
"""


def test_a_pair_says_whether_a_difference_is_shown_and_when_there_is_nothing(
    driver, find, page
):
    look(driver, page)
    driver.execute_script(SURE)
    ends = "-50.0 points (95 % interval -70.0 to -20.0)"
    for said in (ends, "+50.0 points (95 % interval +20.0 to +70.0)"):
        caption = find("#pair-figure figcaption")[0].text
        assert f"flexible: {said} on 36 documents. The interval is not adj" in caption
        driver.execute_script(TURN)
    equal, nothing = driver.execute_script(EMPTY)
    assert equal.endswith("They have the same score of every document.")
    assert nothing == "These two have no common documents."


BARS_OF_ONE = """
byId("find").value = "BOLD";
showModels();
const parts = [...barsPicture(document.querySelector(".bars")).querySelectorAll("svg.part")];
return [...new Set(parts.map((part) => part.getAttribute("y")))];
"""


def test_a_saved_picture_has_the_models_that_are_found_alone(driver, page):
    look(driver, page)
    assert driver.execute_script(BARS_OF_ONE) == ["0"]


SHOWN_ANSWERS = """
filters.model.value = "1";
search();
const names = () => all("#document .answer h3 bdi").map((one) => one.textContent);
const first = names()[0];
found[0].answers[0].prompt = "another";
showDocument(found[3]);
search();
const kept = shown === found[3];
showDocument(found[0]);
const marked = all("#document .answer").map((one) => one.textContent.includes("; to another prompt"));
return [first, kept, marked, document.getElementById("document").textContent];
"""


def test_the_answer_that_is_asked_for_is_first_and_another_prompt_is_told(
    driver, page, data
):
    look(driver, page)
    first, is_kept, marked, text = driver.execute_script(SHOWN_ANSWERS)
    assert first == data["models"][1]
    assert is_kept
    assert "question type: " in text
    assert marked == [False, True]
    assert "The answers that are marked had another prompt." in text
    assert driver.get_log("browser") == []


SAVED = """
const done = arguments[arguments.length - 1];
URL.createObjectURL = (file) => { file.text().then(done); return "#"; };
document.querySelector(arguments[0]).click();
"""


def test_where_points_go_is_saved_as_one_picture(driver, find, page):
    look(driver, page)
    [bars] = find(".bars")[:1]
    picture = ElementTree.fromstring(driver.execute_async_script(SAVED, ".bars .save"))
    [_, _, width, _] = map(float, picture.get("viewBox").split())
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    names = [x.text for x in bars.find_elements("css selector", ".row.bar .model")]
    cut_names = [x if len(x) <= 28 else f"{x[:27]}…" for x in map(str.strip, names)]
    assert {*cut_names} <= {*texts}
    assert "right" in texts  # the legend
    parts = [x for x in picture.iter(f"{SVG}svg") if x is not picture]
    assert len(parts) == len(bars.find_elements("css selector", ".part"))
    # Those of each model are as long together, in colours of their own.
    lengths = defaultdict(float)
    for part in parts:
        lengths[part.get("y")] += float(part.get("width"))
        assert float(part.get("x")) + float(part.get("width")) < width
    assert [*lengths.values()] == pytest.approx([600] * len(names), abs=0.1)
    assert len({part.find(f".//{SVG}rect").get("fill") for part in parts}) > 2
    assert find(".bars > svg") == []  # what was made for its styles is gone
    assert driver.get_log("browser") == []


@pytest.mark.parametrize("width", [400, 1280])
def test_pictures_are_no_wider_than_the_page(driver, page, width):
    driver.set_window_size(width, 900)
    look(driver, page)
    script = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert driver.execute_script(script) <= 0
    driver.set_window_size(1280, 900)


@pytest.mark.usefixtures("kept_tables")
def test_the_pictures_in_the_readme_show_the_page_as_it_is(tmp_path):
    text = board(tmp_path).read_text(encoding="utf-8")
    known = json.loads(STRUCTURE.read_text(encoding="utf-8"))
    assert Outline(text).parts == known, "run python -m tests.pictures"
    for picture in FOLDER.glob("*.png"):
        assert picture.stat().st_size <= 200_000


@pytest.mark.usefixtures("kept_tables")
def test_score_writes_the_page_of_one_run_with_its_faults_on_top(tmp_path, capsys):
    page = tmp_path / "run.html"
    run, pack = str(EXAMPLES / "responses" / "hasty"), ["--include_path", str(EXAMPLES)]
    assert main(["score", run, *pack, "--html", str(page)]) == 0
    assert f"{page} is written" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    top = text[text.index("<header>") : text.index("<h1>")]
    assert re.search(
        r"hasty: \d+ of \d+ answers \([\d.]+ %\) end before an answer", top
    )
    assert "Where points go" in text
    assert 'id="pairs"' not in text
    page.write_text("a page of somebody else")
    assert main(["score", run, *pack, "--html", str(page)]) == 1
    assert "was not made by leaderboard" in capsys.readouterr().err
