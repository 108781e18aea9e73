"""A family that is as unlike ours as can be, added as CONTRIBUTING says, through every tool.

It is put into a copy of the pack; each figure that is printed is computed again, here, from
the numbers that the answers were made of.
"""

import json
import re
import shutil
from collections import Counter
from itertools import combinations
from math import comb, sqrt
from pathlib import Path
from statistics import fmean, median, stdev

import pytest
from scipy.stats import t

from tests import recompute
from tests.conftest import PACK, ROOT, run_python
from tests.warm_python import run_module


TOY = Path(__file__).parent / "toy" / "journeys"
TASKS = ("journeys_walks", "journeys_rides")
# Rows of a task: (story, number, what its cluster is named by).
WALKS = [(f"Walk {i}, uphill.", 10 * (1 + i % 7), f"Walk {i}") for i in range(40)]
RIDES = [(f"Ride {i // 2}, part {i}.", 20 + 20 * (i % 3), i // 2) for i in range(12)]
ROWS = dict(zip(TASKS, (WALKS, RIDES)))


def exact(place: int, gold: int) -> tuple[str, float | None, bool]:
    """Return an answer, the number in it, and whether the published rule says right."""
    is_wrong = place % 5 == 0
    value = gold + 10 * is_wrong
    return f"It takes a while. = {value}", value, not is_wrong


def loose(place: int, gold: int) -> tuple[str, float | None, bool]:
    if place % 4 == 0:
        return "I cannot tell...", None, False
    return f"about {gold * 1.04:.1f}", round(gold * 1.04, 1), False


def lost(place: int, gold: int) -> tuple[str, float | None, bool]:
    return f"= {3 * gold}", 3 * gold, False


MODELS = {"exact": exact, "loose": loose, "lost": lost}


class Answers:
    """What a model answers to the rows of a task, scored by hand."""

    def __init__(self, model: str, task: str) -> None:
        self.golds = [gold for _, gold, _ in ROWS[task]]
        self.clusters = [cluster for *_, cluster in ROWS[task]]
        answers = [MODELS[model](*x) for x in enumerate(self.golds)]
        self.texts, self.values, rights = map(list, zip(*answers))
        pairs = [*zip(self.values, self.golds)]
        self.errors = [(value or 0) - gold for value, gold in pairs]
        self.read_errors = [value - gold for value, gold in pairs if value is not None]
        self.scores = {
            "published": [*map(float, rights)],
            "flexible": [
                float(abs(x) <= g / 20) for x, g in zip(self.errors, self.golds)
            ],
            "extracted": [float("=" in text) for text in self.texts],
            "within_half": [
                float(abs(x) * 2 <= g) for x, g in zip(self.errors, self.golds)
            ],
            "minutes_late": self.errors,
            "ratio": [(value or 0) / gold for value, gold in pairs],
        }
        self.scores["format_cost"] = [
            b - a for a, b in zip(self.scores["published"], self.scores["flexible"])
        ]


ANSWERS = {model: {task: Answers(model, task) for task in TASKS} for model in MODELS}


@pytest.fixture(scope="session")
def checkout(tmp_path_factory) -> Path:
    """A checkout with the family, its offline pack, and the runs of three models."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(PACK, folder / "lm_eval_tasks")
    shutil.copytree(TOY, folder / "lm_eval_tasks" / TOY.name)
    for name in ("utils", "tests", "examples", "setup.cfg"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "data").mkdir()
    for task, rows in ROWS.items():
        kind = task.removeprefix("journeys_")
        lines = [{"story": x, "number": y, "transport": kind[:-1]} for x, y, _ in rows]
        write(folder / "data" / f"{kind}.jsonl", lines)
    for model, tasks in ANSWERS.items():
        for task, answers in tasks.items():
            (folder / model).mkdir(exist_ok=True)
            write(folder / model / f"{task}.jsonl", lines_of(task, answers.texts))
    source = ("--source", f"journeys={folder / 'data'}")
    tool(folder, "offline", "pack", "--tasks", "journeys", *source)
    tool(folder, "offline", "pack", "--check")
    return folder


def write(path: Path, lines: list[dict]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def lines_of(task: str, texts: list[str], **cells: str) -> list[dict]:
    """Return lines of answers to the documents of a task, in their order."""
    names = [{"task": task, "doc_id": number, **cells} for number in range(len(texts))]
    return [name | {"response": text} for name, text in zip(names, texts)]


def tool(folder: Path, *arguments: object) -> str:
    """Run a tool in the checkout; return what it printed."""
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    done = run_module("utils", *arguments, cwd=folder, **cache)
    assert done.returncode == 0, done.stderr
    return done.stdout


def score(folder: Path, *arguments: object) -> str:
    return tool(folder, "score", *arguments, "--include_path", "pack")


def interval_of_mean(values: list[float], clusters: list) -> tuple[float, float]:
    """Return Student's interval of a mean of numbers, of clusters of equal size."""
    values_by_cluster = {cluster: [] for cluster in clusters}
    for value, cluster in zip(values, clusters):
        values_by_cluster[cluster].append(value)
    means = [*map(fmean, values_by_cluster.values())]
    reach = t.ppf(0.975, len(means) - 1) * stdev(means) / sqrt(len(means))
    return fmean(means) - reach, fmean(means) + reach


def expected_cells(answers: Answers) -> dict[str, float]:
    """Return the cells of a row of `score`, by hand."""
    cells = {"n": len(answers.golds), "answers": len(answers.golds)}
    cells["clusters"] = len({*answers.clusters})
    for column, scores in answers.scores.items():
        cells[column] = fmean(scores)
        if column in ("minutes_late", "ratio"):
            ends = interval_of_mean(scores, answers.clusters)
        elif column == "format_cost":
            difference = recompute.difference(scores, answers.clusters)
            ends = difference["low"], difference["high"]
        else:
            interval = recompute.score_interval(scores, answers.clusters)
            ends = interval["low"], interval["high"]
        cells |= zip((f"{column}_low", f"{column}_high"), ends)
    cells["constant"] = max(Counter(answers.golds).values()) / len(answers.golds)
    cells["median_error_minutes"] = median(answers.read_errors)
    cells["error_read"] = len(answers.read_errors) / len(answers.golds)
    return cells


@pytest.mark.parametrize("model", MODELS)
def test_figures_of_score_are_those_computed_by_hand(checkout, model):
    rows = json.loads(score(checkout, model, "--format", "json"))
    of_group, *of_tasks = [row for row in rows if not row["by"]]
    for row in of_tasks:
        expected = expected_cells(ANSWERS[model][row["task"]])
        assert {column: row[column] for column in expected} == pytest.approx(expected)
    assert [row["task"] for row in of_tasks] == [*TASKS]
    assert of_group["task"] == "journeys"
    for column in ("published", "flexible", "extracted", "constant"):
        weighted = [row[column] * row["n"] for row in of_tasks]
        assert of_group[column] == pytest.approx(sum(weighted) / 52)
    parts = Counter(
        (x["task"], x["by"], x["value"], x["n"]) for x in rows if x["by"] == "distance"
    )
    for task, answers in ANSWERS[model].items():
        sizes = Counter("far" if gold > 30 else "near" for gold in answers.golds)
        assert all(parts[task, "distance", value, n] for value, n in sizes.items())


def test_csv_has_the_figures_and_markdown_those_of_errors(checkout):
    csv_rows = score(checkout, "lost", "--format", "csv").splitlines()
    [walks] = [x for x in csv_rows if x.startswith("lost,journeys_walks,,,,")]
    assert str(fmean(ANSWERS["lost"]["journeys_walks"].errors)) in walks.split(",")
    printed = score(checkout, "lost", "--detail", "--by", "transport,distance,task")
    answers = ANSWERS["lost"]["journeys_walks"]
    low, high = interval_of_mean(answers.errors, answers.clusters)
    late = f"{fmean(answers.errors):+.4g} [{low:+.4g}, {high:+.4g}]"
    assert "minutes late (minutes)" in printed and late in printed
    assert "median error minutes" in printed and "value read" in printed
    assert "journeys_walks by distance; published" in printed
    assert "ratio" not in printed  # which is not `shown`
    assert re.search(r"\| walk +\| +40 \|", printed)


def test_lines_for_a_paper_name_the_family_and_its_entry(checkout):
    printed = score(checkout, "exact", "--cite")
    assert "exact on Journeys: published score" in printed
    assert "@misc{journeys," in printed
    answers = ANSWERS["exact"].values()
    mean = sum(sum(x.scores["published"]) for x in answers) / 52
    assert f"rule) {100 * mean:.1f} [" in printed


def test_several_answers_have_pass_at_k_and_a_majority(checkout):
    task, models = "journeys_walks", ("exact", "exact", "loose")
    path = checkout / "several.jsonl"
    lines = [
        line
        for number, model in enumerate(models)
        for line in lines_of(task, ANSWERS[model][task].texts, sample=str(number))
    ]
    write(path, lines)
    [row] = [
        row
        for row in json.loads(score(checkout, path, "--k", "2", "--format", "json"))
        if not row["by"]
    ]
    scores = [ANSWERS[model][task].scores for model in models]
    for rule in ("published", "flexible"):
        by_document = [*zip(*(x[rule] for x in scores))]
        passes = [fmean(map(max, combinations(x, 2))) for x in by_document]
        wrong = [x.count(0) for x in by_document]
        assert passes == pytest.approx([1 - comb(x, 2) / comb(3, 2) for x in wrong])
        assert row[f"pass@2_{rule}"] == pytest.approx(fmean(passes))
        # Two of three answers are equal.
        assert row[f"majority_{rule}"] == pytest.approx(fmean(scores[0][rule]))
    means = [fmean(x) for x in zip(*(x["minutes_late"] for x in scores))]
    assert row["minutes_late"] == pytest.approx(fmean(means))


def test_comparisons_are_those_computed_by_hand(checkout):
    arguments = ("exact", "loose", "--include_path", "pack", "--format", "json")
    rows = json.loads(tool(checkout, "compare", *arguments))
    assert [row["score"] for row in rows] == ["published", "flexible"]
    clusters = [f"{x} {c}" for x in TASKS for c in ANSWERS["exact"][x].clusters]
    p_values = []
    for row in rows:
        first, second = (
            [value for task in TASKS for value in spread(model, task, row["score"])]
            for model in ("exact", "loose")
        )
        expected = recompute.difference(
            [a - b for a, b in zip(first, second)], clusters
        )
        p_values.append(expected.pop("p"))
        del expected["whole_error"]
        assert {column: row[column] for column in expected} == pytest.approx(expected)
        assert row["p"] == pytest.approx(p_values[-1])
    assert rows[0]["p_holm"] == pytest.approx(min(1, 2 * p_values[0]))
    assert rows[0]["better"] == "exact"


def spread(model: str, task: str, rule: str) -> list[float]:
    """Return values of documents whose mean is that of both tasks by their sizes."""
    of_task = ANSWERS[model][task].scores[rule]
    of_both = [fmean(ANSWERS[model][x].scores[rule]) for x in TASKS]
    mean = fmean(of_both, [len(ROWS[x]) for x in TASKS])
    return [mean + score - fmean(of_task) for score in of_task]


def test_ranks_are_those_computed_by_hand(checkout):
    files = ("--html", "board.html", "--csv", "board.csv", "--json", "board.json")
    tool(checkout, "leaderboard", *MODELS, "--include_path", "pack", *files)
    rows = json.loads((checkout / "board.json").read_text())
    by_model = {x["model"]: x for x in rows if x["scope"] == "journeys"}
    clusters = [f"{x} {c}" for x in TASKS for c in ANSWERS["exact"][x].clusters]
    tests = []
    for rule in ("published", "flexible"):
        values = {x: [v for y in TASKS for v in spread(x, y, rule)] for x in MODELS}
        for a, b in combinations(MODELS, 2):
            differences = [x - y for x, y in zip(values[a], values[b])]
            tests.append((recompute.difference(differences, clusters), rule, a, b))
    tests.sort(key=lambda test: test[0]["p"])
    ranks = {
        (rule, model): [1, 3] for rule in ("published", "flexible") for model in MODELS
    }
    for place, (cells, rule, a, b) in enumerate(tests):
        if cells["p"] * (len(tests) - place) >= 0.05:
            break
        better, worse = (a, b) if cells["difference"] > 0 else (b, a)
        ranks[rule, better][1] -= 1
        ranks[rule, worse][0] += 1
    for (rule, model), (first, last) in ranks.items():
        assert by_model[model][f"{rule}_rank"] == f"{first}-{last}", (rule, model)
    assert by_model["exact"]["published_rank"] == "1-1"
    page = (checkout / "board.html").read_text()
    assert "Journeys" in page and "by transport" in page


def test_answers_to_exported_prompts_are_replayed(checkout):
    asked = tool(
        checkout, "export", "journeys", "--model", "m", "--include_path", "pack"
    )
    requests = [*map(json.loads, asked.splitlines())]
    prompt = "How many minutes does it take by walk? End with = NUMBER."
    prompts = [request["body"]["prompt"] for request in requests]
    assert len(prompts) == 52 and f"{WALKS[3][0]} {prompt}" in prompts
    files = [checkout / "exact" / f"{task}.jsonl" for task in TASKS]
    (checkout / "answers.jsonl").write_text("".join(map(Path.read_text, files)))
    tool(
        checkout, "replay", "answers.jsonl", "--include_path", "pack", "--model", "m",
        "--tasks", "journeys", "--output_path", "replayed",
    )  # fmt: skip
    [path] = (checkout / "replayed").rglob("results_*.json")
    results = json.loads(path.read_text())["results"]
    for task in TASKS:
        scores = ANSWERS["exact"][task].scores
        assert results[task]["equal,none"] == fmean(scores["published"])
        assert results[task]["minutes_late,none"] == fmean(scores["minutes_late"])
    [row, *_] = json.loads(score(checkout, path.parent, "--format", "json"))
    assert row["changed"] == 0  # the harness's log gives the same scores


BATCH = """
import json, sys
from utils.adapters.score_batch import score_batch
from utils.adapters.rewards import reward
batch = json.loads(sys.argv[1])
scored = score_batch(batch)
rewards = [
    reward(task)([response], [doc])[0]
    for task, doc, response in zip(batch["task"], batch["doc"], batch["response"])
]
print(json.dumps([scored, rewards]))
"""


def test_batches_and_rewards_are_scored_by_the_family(checkout):
    task = "journeys_rides"
    answers = ANSWERS["loose"][task]
    docs = [{"story": x, "number": float(y), "transport": "ride"} for x, y, _ in RIDES]
    batch = {"task": [task] * 12, "doc": docs, "response": answers.texts}
    done = run_python("-c", BATCH, json.dumps(batch), cwd=checkout)
    assert done.returncode == 0, done.stderr
    scored, rewards = json.loads(done.stdout)
    assert rewards == scored["flexible"] == answers.scores["flexible"]
    assert scored["published"] == answers.scores["published"]
    late = [json.loads(x)["minutes_late"] for x in scored["scores"]]
    assert late == pytest.approx(answers.errors)


LEFT_OUT = """\
step 4: examples/data/rides.jsonl has fewer than 8 rows
step 4: examples has no journeys_rides.yaml: run python -m tests.examples
step 4: examples/responses/careful has no journeys_rides.jsonl
step 4: examples/responses/hasty has no journeys_rides.jsonl
step 4: examples/responses/plain has no journeys_rides.jsonl
step 4: examples/data/walks.jsonl has fewer than 8 rows
step 4: examples has no journeys_walks.yaml: run python -m tests.examples
step 4: examples/responses/careful has no journeys_walks.jsonl
step 4: examples/responses/hasty has no journeys_walks.jsonl
step 4: examples/responses/plain has no journeys_walks.jsonl
step 3: setup.cfg: packages lacks lm_eval_tasks.journeys
step 4: tests/cases has no folder journeys with cases
step 5: the table in lm_eval_tasks/README.md lacks journeys_rides
step 5: the table in lm_eval_tasks/README.md lacks journeys_walks
"""


def conformance(folder: Path) -> str:
    """Return what the family lacks, by the test that our own families pass."""
    done = run_module("tests.conformance", "journeys", "pack", cwd=folder)
    assert done.stdout, done.stderr
    return done.stdout


def test_the_family_keeps_the_steps_but_those_that_are_about_files_beside_it(checkout):
    assert conformance(checkout) == LEFT_OUT


# In a file of the family: a text, what stands for it, and the line that names the step.
# What cannot be loaded stands alone; the other faults of a checkout are all told.
YAML = "_default_journeys_yaml"
BROKEN = [
    [("utils.py", '"transport": "transport",', '"kind": "kind",', "has no transport")],
    [("utils.py", '"story": str, "tr', '"stroy": str, "tr', "_rides has no 'stroy'")],
    [
        (
            "utils.py",
            'gold = doc["number"]',
            'gold = doc["nubmer"]',
            "KeyError('nubmer')",
        )
    ],
    [("utils.py", '"ratio": (value', '"other": (value', "no 'ratio', which the YAML")],
    [("utils.py", '"ratio": {"kind": "number"}', '"ratio": {}', "calls a share of 1")],
    [("utils.py", '    "extracted": {},\n', "", "has no extracted; see 'Add a task'")],
    [
        (
            "utils.py",
            '    "extracted": {},\n',
            '    "extracted": {"higher_is_better": True},\n',
            "['extracted'] has higher_is_better; its fields are kind, role",
        )
    ],
    [
        (
            "utils.py",
            '    "extracted": {},\n',
            '    "extracted": {"unit": "km"},\n',
            "['extracted'] is a share, which has no unit; give it a kind",
        )
    ],
    [
        (
            "utils.py",
            '{"role": "flexible"}',
            "{}",
            "role published or flexible, and none",
        )
    ],
    [("utils.py", '"cut_off": "no', '"cut": "no', "REASONS: has no cut_off; see")],
    [(YAML, "  prompt_version: 1.0\n", "", "names no prompt_version")],
    [
        ("utils.py", 'return str(doc["number"])', 'return ""', "is equal for"),
        ("utils.py", "    if gold <= 0:", "    if gold < 0:", "ZeroDivisionError"),
    ],
    [
        (
            "utils.py",
            'f"= {doc',
            'f"= 1{doc',
            "gold_response of document 0 of journeys",
        ),
        (
            "utils.py",
            '"distance": lambda',
            '"x": "odd",\n    "y": lambda',
            "'odd', which",
        ),
        (
            "samples.py",
            "(1, 2, 3)",
            "(1, 2)",
            "step 1: journeys_walks has fewer than 3",
        ),
        (YAML, "version: 1.0\n  p", "version: 1.1\n  p", "line for version 1.1"),
        (
            "README.md",
            "bibtex",
            "tex",
            "step 5: lm_eval_tasks/journeys/README.md has no",
        ),
    ],
]


@pytest.mark.parametrize("edits", BROKEN, ids=lambda edits: edits[0][-1])
def test_a_step_that_is_left_out_is_a_line_that_names_it(checkout, tmp_path, edits):
    folder = shutil.copytree(checkout, tmp_path / "checkout", symlinks=True)
    for name, old, new, _ in edits:
        for part in ("lm_eval_tasks", "pack/lm_eval_tasks"):
            path = folder / part / "journeys" / name
            if path.exists():  # a page is not in packs
                text = path.read_text()
                assert text.count(old) == 1
                path.write_text(text.replace(old, new))
    lines = conformance(folder).splitlines()
    for *_, line in edits:
        told = [text for text in lines if line in text]
        assert told
        assert all(text.startswith(("step ", "'Change a rule': ")) for text in told)
