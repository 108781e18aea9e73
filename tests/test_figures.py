"""What `score` prints: faults first, figures with their ends, lines to cite; recomputed."""

import json
import re
from pathlib import Path

import pytest

from tests.answers import write
from tests.conftest import EXAMPLES
from tests.logs import RecordedModel, run
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import configuration, scorer
from utils.verdicts.constants import References


TASK = "tot_arithmetic"
PACK = ("--include_path", str(EXAMPLES))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory) -> Path:
    """The output folder of a run."""
    return run(RecordedModel(), [TASK], tmp_path_factory.mktemp("healthy"))


@pytest.fixture
def printed(capsys):
    """A function that calls `score` and returns what it prints."""

    def printed(*arguments: object) -> str:
        capsys.readouterr()
        assert main(["score", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return printed


@pytest.fixture
def changed(healthy, tmp_path):
    """A function that returns the folder of the run with other results."""

    def changed(**changes: object) -> Path:
        (path,) = healthy.rglob("results_*.json")
        results = json.loads(path.read_text())
        for name, value in changes.items():
            *outer, last = name.split("__")
            place = results
            for key in outer:
                place = place.setdefault(TASK if key == "task" else key, {})
            place[TASK if last == "task" else last] = value
        write(tmp_path / path.name, results)
        for samples in healthy.rglob("samples_*.jsonl"):
            (tmp_path / samples.name).write_bytes(samples.read_bytes())
        return tmp_path

    return changed


def lines(response: str, **more: object) -> list[dict]:
    docs = documents(TASK, EXAMPLES)[:9]
    right = [{"response": scorer(TASK).utils.gold_response(doc)} for doc in docs]
    answers = [*right[:7], *[{"response": response, **more}] * 2]
    return [
        {"task": TASK, "doc_id": n, "doc": doc, "finish_reason": "stop"} | answer
        for n, (doc, answer) in enumerate(zip(docs, answers))
    ]


def test_a_healthy_run_has_no_fault(healthy, printed, tmp_path):
    assert printed(healthy, *PACK).startswith("## ")
    path = write(tmp_path / "x.jsonl", *lines('{"answer": "1"}'))
    assert printed(path).startswith("## ")


@pytest.mark.parametrize(
    ("response", "more", "expected"),
    [
        ('{"answer": "1', {"finish_reason": "length"}, "cut off by the token limit"),
        ("<think>First,", {}, "end before an answer, as within their reasoning"),
        (" \n", {}, "are blank"),
    ],
)
def test_a_fault_of_answers_stands_in_the_first_lines(
    printed, tmp_path, response, more, expected
):
    path = write(tmp_path / "x.jsonl", *lines(response, **more))
    text, _, _ = printed(f"x={path}").partition("## x")
    assert text.startswith("**Fault** in the run x: 2 of 9 answers (22.2 %)")
    assert expected in " ".join(text.split()) and text.count("**Fault**") == 1
    assert "run again" in " ".join(text.split())


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"configs__task__generation_kwargs__max_gen_toks": 16},
            "tot_arithmetic 16, not ",
        ),
        ({"config__limit": 10.0}, "--limit 10, so only some documents"),
        (
            {"system_instruction": "Be brief."},
            "a prompt without the system instruction",
        ),
        ({"model_name": "org/M-7B-Instruct"}, "no chat template was applied"),
        ({"model_name": "org/gemma-2-9b-it"}, "no chat template was applied"),
        ({"versions__task": "1.0"}, "tot_arithmetic 1.0, not "),
    ],
    ids=["token limit", "limit", "system", "instruct", "it", "version"],
)
def test_a_fault_of_settings_stands_in_the_first_lines(
    printed, changed, changes, expected
):
    text, _, _ = printed(changed(**changes), *PACK).partition("\n## ")
    text = " ".join(text.split())
    assert text.startswith("**Fault** in ") and text.count("**Fault**") == 1
    assert expected in text


@pytest.mark.parametrize(
    "changes",
    [
        {"model_name": "org/M-7B-Instruct", "chat_template": "{{ messages }}"},
        {"model_name": "org/Exit-7B"},
        {"versions__task": "2.0"},  # with the same prompts
        {"configs__task__generation_kwargs__max_gen_toks": 10**6},
    ],
    ids=["template", "base", "version", "token limit"],
)
def test_settings_without_a_fault_have_none(printed, changed, changes):
    assert printed(changed(**changes), *PACK).startswith("## ")


def test_a_line_to_cite_says_how_the_score_came_about(printed, changed):
    folder = changed(chat_template="{{ messages }}", model_name="org/model")
    text = printed(folder, *PACK, "--cite")
    line, *_ = text.splitlines()
    limit = configuration(TASK)["generation_kwargs"]["max_gen_toks"]
    version = scorer(TASK).version
    assert re.fullmatch(
        r"org/model on Test of Time \(tot_arithmetic; 38 rows instead of 1,850\):"
        r" published score \(metric card's rule\) [\d.]+ \[[\d.]+, [\d.]+\];"
        r" flexible score \(value in any form\) [\d.]+ \[[\d.]+, [\d.]+\] \(percent"
        r" \[95 % interval, Wilson's with cluster-robust effective sample size \(CR2,"
        r" Bell-McCaffrey\)\]\)\. 38 documents in \d+ clusters \(of one text or"
        rf" template\); task version {version}; fingerprint of the rows [0-9a-f]{{12}};"
        rf" few-shot examples 0; chat template yes; token limit {limit}; lm-eval [\d.a-z]+;"
        r" answers seen to be cut off: unknown; lm-eval-temporal-tasks .+\.",
        line,
    )
    assert re.findall(r"^@\w+\{(\w+)", text, re.MULTILINE) == [
        "fatemi2024test",
        "lm_eval_temporal_tasks",
    ]


def test_a_run_of_several_tasks_has_a_line_for_each_benchmark(printed):
    tasks = ("tcp_long", "timebench_tracie", "tot_semantic")
    paths = [EXAMPLES / "responses" / "careful" / f"{task}.jsonl" for task in tasks]
    text = printed(*(f"careful={path}" for path in paths), *PACK, "--cite")
    lines = [x.partition(" (")[0] for x in text.splitlines() if x.startswith("careful")]
    titles = ("TCP", "TimeBench", "Test of Time")
    assert lines == [f"careful on {title}" for title in titles]
    assert text.count("@misc{") == 3


@pytest.fixture
def agreeing(capsys, tmp_path):
    """A function that returns how many figures of runs agree with recomputed ones.

    All are read from one call of each tool over all runs, which leave tables in one cache.
    """
    from tests import recompute  # takes seconds

    def agreeing(runs: dict[str, Path], *options: str, k: int | None = None) -> int:
        arguments = [f"{name}={path}" for name, path in runs.items()]
        cache, printed = tmp_path / "cache", []
        options = [*options, "--cache", str(cache), "--format", "json"]
        counts = ["--k", str(k)] if k else []
        for tool in (["score", *counts], ["compare", "--detail"]):
            if len(runs) > 1 or tool[0] == "score":
                assert main([*tool, *arguments, *options]) == 0
                printed.append(json.loads(capsys.readouterr().out))
        tables = {
            folder: json.loads((folder / "run.json").read_text())["source"]
            for folder in cache.iterdir()
        }
        folders = [
            [
                folder
                for folder, source in tables.items()
                if source.startswith(str(path.resolve()))
            ]
            for path in runs.values()
        ]
        assert all(folders)
        read = [*map(recompute.read_run, folders)]
        return recompute.recompute(read, *printed, *[[]] * (len(runs) == 1), k=k)

    return agreeing


def test_figures_of_the_examples_are_those_of_statsmodels(agreeing):
    """Of two runs over all tasks; clusters, fractions and breakdowns."""
    runs = {x: EXAMPLES / "responses" / x for x in ("careful", "hasty")}
    assert agreeing(runs, *PACK) > 4000


def test_figures_of_real_answers_are_those_of_statsmodels(agreeing, shared):
    paths = sorted((shared / "responses").glob("tot_arithmetic*.jsonl"))[:2]
    assert agreeing(dict(zip("ab", paths)), "--task", TASK) > 1000


def test_pass_at_k_has_the_interval_of_statsmodels(agreeing, tmp_path):
    path = write(
        tmp_path / "x.jsonl",
        *[x | {"sample": n} for n in range(3) for x in lines("?")],
        *[x | {"sample": 3, "response": "?"} for x in lines("?")],
    )
    assert agreeing({"x": path}, k=2) > 40


def test_the_mean_over_benchmarks_combines_their_intervals(tmp_path):
    """By the method of variance estimates recovery, from the board's own rows."""
    path = tmp_path / "board.json"
    run = str(EXAMPLES / "responses" / "careful")
    assert main(["leaderboard", run, *PACK, "--json", str(path)]) == 0
    rows = {row["scope"]: row for row in json.loads(path.read_text()) if not row["by"]}
    parts = [rows[name] for name in ("tcp", "tot", "timebench")]
    for rule in ("published", "flexible"):
        mean = sum(part[rule] for part in parts) / 3
        low, high = (
            sum((x[rule] - x[f"{rule}_{end}"]) ** 2 for x in parts) ** 0.5 / 3
            for end in ("low", "high")
        )
        cells = [rows["mean"][name] for name in (rule, f"{rule}_low", f"{rule}_high")]
        assert cells == pytest.approx((mean, mean - low, mean + high), abs=1e-7)


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        # The words of many golds are the best gold, or a better set of words.
        ("timebench_tempreason_l2", "academy of minister", 0.32),
        ("timebench_durationqa", "A, B, C, D", 0.63),
        ("tot_arithmetic", "", 0.052),
    ],
)
def test_no_gold_answer_is_a_better_constant(task, answer, expected):
    docs, one = documents(task, EXAMPLES), scorer(task)
    references = References(task)
    for doc in docs:
        references.add(doc)
    sums = references.constants()
    best = max(sums, key=sums.get)
    assert answer in best and sums[best] / len(docs) >= expected
    for response in {one.utils.gold_response(doc) for doc in docs}:
        scores = [one.process_results(x, [response])[one.headline[0]] for x in docs]
        assert sum(scores) <= sums[best] + 1e-9


def test_figures_that_differ_are_noticed():
    from tests import recompute

    with pytest.raises(AssertionError, match="flexible"):
        recompute.check([{"flexible": 0.5}], [{"flexible": 0.5000002}])
