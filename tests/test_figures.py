"""What `score` prints: faults first, figures with their ends, lines to cite; recomputed."""

import json
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from tests import recompute
from tests.answers import write
from tests.conftest import EXAMPLES
from tests.logs import RecordedModel, run
from tests.test_tricks import submission
from utils import stats
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.files import read_jsonl
from utils.core.task_scorers import benchmarks, configuration, scorer
from utils.figures import cite, health
from utils.figures.score_rows import rows_of_run
from utils.packs.random_sample import Drawn
from utils.verdicts.constant_answers import References, sum_f1
from utils.verdicts.judge_answer import judge_answer
from utils.verdicts.read_answers import Answer, custom_id, sha256
from utils.verdicts.tally import (
    MOST_OF_ALL_PARTS,
    MOST_PARTS,
    OTHER_PARTS,
    Counted,
    Document,
    Figures,
    Tally,
    _traits,
)


pytestmark = pytest.mark.usefixtures("judged_here")


TASK = "tot_arithmetic"
PACK = ("--include_path", str(EXAMPLES))


@pytest.fixture(scope="module")
def healthy(tmp_path_factory) -> Path:
    """The output folder of a run."""
    return run(RecordedModel(), [TASK], tmp_path_factory.mktemp("healthy"))


@pytest.fixture
def changed(healthy, tmp_path):
    """A function that returns the folder of the run with other results."""

    def changed(changes: dict[str, object]) -> Path:
        (path,) = healthy.rglob("results_*.json")
        results = json.loads(path.read_text())
        for name, value in changes.items():
            *outer, last = name.replace("TASK", TASK).split(".")
            cells = results
            for key in outer:
                cells = cells.setdefault(key, {})
            cells[last] = value
        write(tmp_path / path.name, results)
        for samples in healthy.rglob("samples_*.jsonl"):
            shutil.copy(samples, tmp_path)
        return tmp_path

    return changed


def lines(response: str, **more: object) -> list[dict]:
    docs = documents(TASK, EXAMPLES)[:9]
    right = [{"response": scorer(TASK).utils.gold_response(doc)} for doc in docs]
    answers = [*right[:7], *[{"response": response} | more] * 2]
    return [
        {"task": TASK, "doc_id": n, "doc": doc, "finish_reason": "stop"} | answer
        for n, (doc, answer) in enumerate(zip(docs, answers))
    ]


def assert_fault(called: tuple, expected: str | None, start: str) -> None:
    """Check that faults alone stand above the legend of the first table, or that none does."""
    assert called[0] == 0
    text = " ".join(f"\n{called[1]}".partition("\nPercent [95 % ")[0].split())
    assert text.count("**Fault**") == (expected is not None)
    assert text.startswith(start if expected else "") and (expected or "") in text
    assert expected or not text


ANSWERS = [
    ('{"answer": "1', "length", "cut off by the token limit; run again"),
    ("<think>First,", "stop", "end before an answer, as within their reasoning; run"),
    (" \n", "stop", "are blank"),
    ('{"answer": "1"}', "stop", None),
]


@pytest.mark.parametrize(("response", "finish_reason", "expected"), ANSWERS)
def test_a_fault_of_answers_stands_in_the_first_lines(
    call_score, tmp_path, response, finish_reason, expected
):
    path = write(tmp_path / "x.jsonl", *lines(response, finish_reason=finish_reason))
    # Whether the model of a plain file had a chat template, nobody knows.
    start = "**Fault** in the run x-it: 2 of 9 answers (22.2 %)"
    assert_fault(call_score(f"x-it={path}"), expected, start)


@pytest.mark.parametrize(("blank", "is_told"), [(1, False), (2, True)])
def test_a_fault_of_single_answers_is_told_from_one_in_a_hundred_on(
    call_score, tmp_path, blank, is_told
):
    doc = documents(TASK, EXAMPLES)[0]
    answer = {"task": TASK, "doc_id": 0, "doc": doc, "finish_reason": "stop"}
    responses = [scorer(TASK).utils.gold_response(doc)] * (199 - blank) + [""] * blank
    path = write(
        tmp_path / "x.jsonl",
        *(
            answer | {"response": response, "sample": number}
            for number, response in enumerate(responses)
        ),
    )
    arguments = f"x={path}", "--most_samples", "500"
    expected = f"{blank} of 199 answers (1.0 %) are blank" if is_told else None
    assert_fault(call_score(*arguments), expected, "**Fault** in the run x: ")


LIMIT = "configs.TASK.generation_kwargs.max_gen_toks"
SETTINGS = {
    "none": ({}, None),
    "token limit": ({LIMIT: 16}, "tot_arithmetic 16, not "),
    "limit": ({"config.limit": 10.0}, "--limit 10, so only the first documents"),
    "limit of a share": ({"config.limit": 0.1}, "--limit 0.1, so only the first"),
    "system": ({"system_instruction": "Be brief."}, "without the system instruction"),
    "instruct": ({"model_name": "org/M-7B-Instruct"}, "no chat template was applied"),
    "it": ({"model_name": "org/gemma-2-9b-it"}, "no chat template was applied"),
    "version": ({"versions.TASK": "1.0"}, "tot_arithmetic 1.0, not "),
    "template": ({"model_name": "M-Instruct", "chat_template": "{{ messages }}"}, None),
    "template of an API": ({"model_name": "M-Instruct", "chat_template": ""}, None),
    "base": ({"model_name": "org/Exit-7B"}, None),
    "version with the same prompts": ({"versions.TASK": "2.0"}, None),
    "larger token limit": ({LIMIT: 10**6}, None),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_fault_of_settings_stands_in_the_first_lines(call_score, changed, setting):
    changes, expected = SETTINGS[setting]
    assert_fault(call_score(changed(changes)), expected, "**Fault** in ")


def test_several_answers_have_a_table_of_their_own(call_score, tmp_path):
    answers = [line | {"sample": n} for n in range(2) for line in lines("?")]
    _, text, _ = call_score(write(tmp_path / "x.jsonl", *answers), "--k", 2)
    measures = (
        f"{x} {y}" for y in ("published", "flexible") for x in ("pass@2", "majority")
    )
    table = re.search(rf"answers +[|] {' +[|] '.join(measures)}[^-]+-[^\n]+\n.*", text)
    assert len(re.findall(r"[\d.]+ \[[\d.]+, [\d.]+\]", table[0])) == 4


def test_a_line_to_cite_says_how_the_score_came_about(call_score, changed):
    folder = changed({"chat_template": "{{ messages }}", "model_name": "org/model"})
    _, text, _ = call_score(folder, "--cite")
    limit = configuration(TASK)["generation_kwargs"]["max_gen_toks"]
    assert re.fullmatch(
        r"org/model on Test of Time \(tot_arithmetic; 38 rows instead of 1,850\):"
        r" published score \(metric card's rule\) [\d.]+ \[[\d.]+, [\d.]+\];"
        r" flexible score \(value in any form\) [\d.]+ \[[\d.]+, [\d.]+\] \(percent"
        r" \[95 % interval, Wilson's with cluster-robust effective sample size \(CR2,"
        r" Bell-McCaffrey\)\]\)\. 38 documents in \d+ clusters \(of one text or"
        rf" template\); task version {scorer(TASK).version}; fingerprint of the rows [0-9a-f]{{12}};"
        rf" few-shot examples 0; chat template yes; token limit {limit}; lm-eval [\d.a-z]+;"
        r" answers seen to be cut off: unknown; lm-eval-temporal-tasks .+\.",
        text.splitlines()[0],
    )
    entries = re.findall(r"^@\w+\{(\w+)", text, re.MULTILINE)
    assert entries == ["fatemi2024test", "lm_eval_temporal_tasks"]


def test_a_line_to_cite_counts_answers_seen_to_be_cut_off_beside_unknown_ones(
    call_score, tmp_path
):
    rows = lines("?", finish_reason="length")
    del rows[0]["finish_reason"]
    _, text, _ = call_score(write(tmp_path / "x.jsonl", *rows), "--cite")
    assert "; answers seen to be cut off: 22.2 %; " in text.splitlines()[0]


RUN_VERSIONS = [  # what results say, and what a line to cite says of it
    (scorer(TASK).version, ""),
    ("1.0", ", run with version 1.0"),
    (None, ", run with version unknown"),
]


@pytest.mark.parametrize(("run_version", "expected"), RUN_VERSIONS)
def test_a_line_to_cite_says_which_version_was_run(
    call_score, changed, run_version, expected
):
    versions = {} if run_version is None else {TASK: run_version}
    _, text, _ = call_score(changed({"versions": versions}), "--cite")
    task_version = scorer(TASK).version
    assert (
        f"; task version {task_version}{expected}; fingerprint" in text.splitlines()[0]
    )


def test_a_citation_holds_no_code_of_a_terminal(changed, call_score):
    claims = {"model_name": "a\x1b[31m\u202e\0", "lm_eval_version": "\x1b[2J"}
    _, text, _ = call_score(changed(claims), "--cite")
    assert text.startswith(r"a\x1b[31m\u202e\x00 on ")
    assert r"; lm-eval \x1b[2J;" in text


@pytest.mark.parametrize(
    ("run_version", "excuse"),
    [(scorer(TASK).version, ""), ("1.0", ", as it is of version 1.0")],
)
def test_scores_that_differ_from_the_log_are_excused_by_its_version_alone(
    call_score, changed, run_version, excuse
):
    folder = changed({"versions.TASK": run_version})
    (path,) = folder.glob("samples_*.jsonl")
    samples = read_jsonl(path)
    write(path, samples[0] | {"accuracy": 1 - samples[0]["accuracy"]}, *samples[1:])
    _, text, _ = call_score(folder)
    note = f"Answers to which the harness's log gives other scores{excuse}: "
    assert note in " ".join(text.split())


def test_scores_are_excused_by_the_version_of_their_own_task(call_score, tmp_path):
    in_tcp = {"tasks": ["tcp_long"], "by_task": {"versions": "1.0"}}
    submission(tmp_path / "a", "plain", in_tcp)
    submission(tmp_path / "a", "plain", {"tasks": [TASK]}, 1)
    (path,) = (tmp_path / "a").glob(f"samples_{TASK}_*.jsonl")
    first, *others = read_jsonl(path)
    write(path, first | {"accuracy": 0.5}, *others)
    _, text, _ = call_score(tmp_path / "a")
    note = "Answers to which the harness's log gives other scores: "
    assert note in " ".join(text.split())


def test_the_entries_of_all_runs_are_printed(call_score):
    folder = EXAMPLES / "responses" / "careful"
    runs = [f"{name}={folder / name}.jsonl" for name in ("tcp_long", TASK)]
    for arguments in (runs, runs[::-1]):
        _, text, _ = call_score(*arguments, "--cite")
        entries = re.findall(r"^@\w+\{(\w+)", text, re.MULTILINE)
        assert {*entries} >= {"ding2025tcp", "fatemi2024test"}


def test_a_run_of_several_tasks_has_a_line_for_each_benchmark(call_score):
    tasks = ("tcp_long", "timebench_tracie", "tot_semantic")
    paths = [EXAMPLES / "responses" / "careful" / f"{task}.jsonl" for task in tasks]
    _, text, _ = call_score(*(f"careful={path}" for path in paths), "--cite")
    lines = [x.partition(" (")[0] for x in text.splitlines() if x.startswith("careful")]
    titles = ("TCP", "TimeBench", "Test of Time")
    assert lines == [f"careful on {title}" for title in titles]
    assert text.count("@misc{") == 3


@pytest.fixture
def agreeing(capsys, tmp_path):
    """A function that returns how many figures of runs agree with recomputed ones.

    All are read from one call of each tool over all runs, which leave tables in one cache.
    """

    def agreeing(runs: dict[str, Path], *options: str, k: int | None = None) -> int:
        cache, printed, read = tmp_path / "cache", [], []
        arguments = [f"{name}={path}" for name, path in runs.items()]
        arguments += [*options, "--cache", str(cache), "--format", "json"]
        tools = [["score", *(["--k", str(k)] if k else [])]]
        if len(runs) > 1:
            tools += [["compare"], ["compare", "--detail"]]
        for tool in tools:
            assert main([*tool, *arguments]) == 0
            printed.append(json.loads(capsys.readouterr().out))
        heads = {x: json.loads((x / "run.json").read_text()) for x in cache.iterdir()}
        for path in (str(path.resolve()) for path in runs.values()):
            folders = [x for x in heads if heads[x]["source"].startswith(path)]
            assert folders
            read.append(recompute.read_run(folders))
        return recompute.recompute(read, *printed, k=k)

    return agreeing


@pytest.mark.usefixtures("kept_tables")
def test_figures_of_the_examples_are_those_of_statsmodels(agreeing):
    """Of two runs over all tasks; clusters, fractions and breakdowns."""
    runs = {x: EXAMPLES / "responses" / x for x in ("careful", "hasty")}
    assert agreeing(runs, *PACK) > 4000


def test_figures_of_real_answers_are_those_of_statsmodels(agreeing, shared):
    paths = sorted((shared / "responses").glob("tot_arithmetic*.jsonl"))[:2]
    assert agreeing(dict(zip("ab", paths)), "--task", TASK) > 1000


def test_pass_at_k_has_the_interval_of_statsmodels(agreeing, tmp_path):
    answers = [x | {"sample": n} for n in range(3) for x in lines("?")]
    answers += [x | {"sample": 3, "response": "?"} for x in lines("?")]
    assert agreeing({"x": write(tmp_path / "x.jsonl", *answers)}, k=2) > 40


@pytest.mark.usefixtures("kept_tables")
def test_the_mean_over_benchmarks_combines_their_intervals(tmp_path):
    """By the method of variance estimates recovery, from the board's own rows."""
    path, run = tmp_path / "board.json", str(EXAMPLES / "responses" / "careful")
    assert main(["leaderboard", run, *PACK, "--json", str(path)]) == 0
    rows = {row["scope"]: row for row in json.loads(path.read_text()) if not row["by"]}
    parts = [rows[name] for name in ("tcp", "tot", "timebench")]
    for rule in ("published", "flexible"):
        mean = sum(part[rule] for part in parts) / 3
        assert rows["mean"][rule] == pytest.approx(mean, abs=1e-7)
        for end, sign in (("low", -1), ("high", 1)):
            reach = sum((x[rule] - x[f"{rule}_{end}"]) ** 2 for x in parts) ** 0.5 / 3
            expected = pytest.approx(mean + sign * reach, abs=1e-7)
            assert rows["mean"][f"{rule}_{end}"] == expected


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        ("timebench_tempreason_l2", "Academy of Sciences", 0.32),
        ("timebench_durationqa", "A, B, C, D", 0.63),
        ("tot_arithmetic", "", 0.052),
    ],
)
def test_no_gold_answer_is_a_better_constant(task, answer, expected):
    docs, family, references = documents(task, EXAMPLES), scorer(task), References(task)
    for doc in docs:
        references.add(doc)
    sums = references.constants()
    best = max(sums, key=sums.get)
    assert answer in best and sums[best] / len(docs) >= expected
    for response in {family.utils.gold_response(doc) for doc in docs}:
        verdicts = [family.process_results(doc, [response]) for doc in docs]
        assert (
            sum(x[family.headline["published"]] for x in verdicts) <= sums[best] + 1e-9
        )


def test_sets_of_options_are_tried_that_only_the_longest_list_has():
    """Documents with fewer options do not keep the answer to most from being found."""
    references = References("timebench_mctaco")
    for number, (options, letters) in enumerate(
        [("ab", "A"), ("abcd", "D"), ("abcd", "D")]
    ):
        doc = {"question": f"{number}?", "context": "C"}
        references.add(doc | {"options": [*options], "letters": [letters]})
    sums = references.constants()
    assert "D" in max(sums, key=sums.get)


def test_all_options_together_are_tried_as_a_constant_answer():
    references = References("timebench_mctaco")
    doc = {"question": "How long?", "context": "C", "options": ["a", "b"]}
    references.add(doc | {"letters": ["A", "B"]})
    assert max(references.constants().values()) == 1


@pytest.mark.parametrize("task", ["tcp_long", "timebench_menatqa_scope"])
def test_a_gold_of_many_documents_is_tried_whatever_its_place(task):
    references = References(task)
    for number, month in enumerate((1, 2, 3, 4, 12, 12)):
        doc = {"question": f"{number}?", "dialogue": ["A: hi"], "context": "C"}
        doc |= {"answer": f"2020-{month:02}-01", "answer_format": "YYYY-MM-DD"}
        references.add(doc | {"golds": [f"word{month:02}"]})
    assert max(references.constants().values()) == 2


def test_golds_share_words_without_case_articles_and_punctuation():
    golds = Counter({"The Cat": 2, "a cat.": 1, "black cat": 1, "dog": 3})
    assert sum_f1(golds) == pytest.approx(
        {"The Cat": 3 + 2 / 3, "a cat.": 3 + 2 / 3, "black cat": 3, "dog": 3}
    )


def test_ids_that_collide_as_numbers_take_no_more_time():
    doc, task = documents("tcp_long", EXAMPLES)[0], "tcp_long"
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)

    def seconds_for(step: int) -> float:
        tally, started_at = Tally(task), time.process_time()
        for number in range(30_000):
            tally.add(row | {"doc_id": number * step}, number)
        assert tally.answered == 30_000
        return time.process_time() - started_at

    assert seconds_for(2**61 - 1) < 5 * seconds_for(1)


def test_the_smallest_parts_of_a_breakdown_are_together():
    doc, task = documents("tcp_long", EXAMPLES)[0], "tcp_long"
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)
    tally = Tally(task)
    levels = [f"{level}" for level in range(MOST_PARTS + 30)]
    for number, level in enumerate([*levels, *levels[:20]]):
        tally.add(row | {"doc_id": number, "level": level}, number)
    sizes = {value: part.n for (_, value), part in tally.parts.items()}
    assert len(sizes) == MOST_PARTS + 1
    assert sizes[OTHER_PARTS] == 30
    assert all(sizes[level] == 2 for level in levels[:20])
    assert sum(sizes.values()) == len(levels) + 20
    # So they are in a table, and figures of it are the same.
    tally.join_small_parts()
    assert {document.parts["level"] for document in tally.documents} == {*sizes}
    del tally.parts
    assert {value: part.n for (_, value), part in tally.parts.items()} == sizes


def test_a_table_has_few_parts_whatever_a_file_makes_up(tmp_path, call_score):
    doc = documents("tot_arithmetic", EXAMPLES)[0]
    lines = [
        {"task": "tot_arithmetic", "doc_id": number, "response": ""}
        | {"doc": doc | {"question": f"{number}?", "question_type": f"type {number}"}}
        for number in range(MOST_PARTS + 9)
    ]
    path = write(tmp_path / "x.jsonl", *lines)
    call_score(path, "--output", tmp_path / "out")
    [table] = (tmp_path / "out").glob("*/documents_*.jsonl")
    types = {row["parts"]["question_type"] for row in read_jsonl(table)}
    assert len(types) == MOST_PARTS + 1


def test_all_breakdowns_of_a_task_have_so_many_parts():
    task = "tot_semantic"
    doc = documents(task, EXAMPLES)[0]
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)
    tally = Tally(task)
    columns = ("question_type", "graph_gen_algorithm", "sorting_type")
    for number in range(MOST_PARTS - 2):
        odd_values = {column: f"{column} {number}" for column in columns}
        tally.add(row | odd_values | {"doc_id": number}, number)
    kept_parts = [part for part in tally.parts if part[1] != OTHER_PARTS]
    assert len(kept_parts) == MOST_OF_ALL_PARTS
    assert sum(part.n for part in tally.parts.values()) == 3 * (MOST_PARTS - 2)


def answered(table: str, *samples: str, error: float | None = None) -> Document:
    """Return a document of a table with numbered answers, of which the last has an error."""
    answers = [
        Counted(sample, {}, "right", True, [], None, None, "", 9, row, 10 + row)
        for row, sample in enumerate(samples)
    ]
    answers[-1] = answers[-1]._replace(error=error, error_unit=error and "days")
    return Document("d", "cluster", 0, {}, answers, table=table)


def test_of_answers_in_another_file_those_that_are_new_count():
    tally, rows = Tally("tcp_long"), [{"row": 0}, {"row": 1}, {"row": 2}]
    assert [*tally.join(answered("A", "0", "1"), rows)] == []
    refused = [*tally.join(answered("B", "1", "0", "2"), rows)]
    fault = "is a second answer to document 0 of tcp_long; keep 1, or number them by"
    assert [(line, said.startswith(fault)) for line, said in refused] == [
        (10, True),
        (11, True),
    ]
    [document] = tally.documents
    assert [answer.sample for answer in document.answers] == ["0", "1", "2"]
    assert ([*document.rows], document.row, document.table) == (rows, rows[2], "B")


def test_errors_are_of_answers_with_a_value_and_the_unit_is_theirs():
    document = answered("A", "0", "1", error=2.0)
    assert (document.errors, document.unit) == ([2.0], "days")
    document.answers[0] = document.answers[0]._replace(error=0.0)
    assert document.errors == [0.0, 2.0]
    assert (answered("A", "0").errors, answered("A", "0").unit) == ([], "")


def test_a_score_is_the_mean_of_answers_that_all_have_it_and_reasons_count_answers():
    document = answered("A", "0", "1", "2")
    cells = ({"a": 1, "b": 1}, True), ({"a": 0, "b": 0}, False), ({"a": 0}, False)
    document.answers = [
        answer._replace(scores=scores, is_extracted=is_extracted, traits=["silent"])
        for answer, (scores, is_extracted) in zip(document.answers, cells)
    ]
    assert document.means() == {"a": 1 / 3}
    figures = Figures("tcp_long", [document])
    assert (figures.n, figures.answers) == (1, 3)
    assert (figures.reasons, figures.unextracted) == ({"right": 3}, {"right": 2})
    assert figures.counts == {"silent": 3}


def test_the_document_with_the_fewest_answers_is_named():
    tally = Tally("tcp_long")
    for number, samples in enumerate(("012", "0", "01")):
        document = answered("A", *samples)
        document.digest, document.doc_id = f"{number}" * 64, None if number else "a"
        assert [*tally.join(document, [])] == []
    assert tally.fewest() == (1, f"document {'1' * 12} of tcp_long")


PLAIN_ROW = dict.fromkeys(("invalid", "finish_reason", "changed", "has_system"))
PLAIN_ROW |= {"reason": "right", "excerpt": "x"}
TRAITS = [  # cells of a row, and what is counted of the answer
    ({"finish_reason": "stop"}, []),
    ({}, ["cut_off_unknown", "silent"]),
    ({"finish_reason": "length", "invalid": "cut_off"}, ["cut_off", "length"]),
    (
        {"finish_reason": "length", "invalid": "cut_off", "reason": "cut_off"},
        ["cut_off", "length"],
    ),
    (
        {"finish_reason": "stop", "invalid": "cut_off", "reason": "cut_off"},
        ["cut_off", "unended"],
    ),
    ({"invalid": "cut_off", "reason": "cut_off"}, ["cut_off", "unended", "silent"]),
    ({"finish_reason": "stop", "excerpt": " \n"}, ["blank"]),
    ({"finish_reason": "stop", "has_system": False}, ["no_system"]),
    ({"finish_reason": "stop", "has_system": True}, []),
    (
        {"finish_reason": "stop", "invalid": "no_instruction"},
        ["no_instruction", "no_system"],
    ),
    ({"finish_reason": "stop", "changed": True}, ["changed"]),
]


@pytest.mark.parametrize(("cells", "expected"), TRAITS)
def test_what_is_amiss_with_an_answer_is_counted_by_its_kind(cells, expected):
    assert _traits(PLAIN_ROW | cells) == expected


@pytest.mark.parametrize(("silent", "is_told"), [(1, False), (2, True)])
def test_a_run_is_silent_on_ends_where_no_answer_tells(
    call_score, tmp_path, silent, is_told
):
    tasks = ("tcp_long", "tcp_short")
    for number, task in enumerate(tasks):
        doc = documents(task, EXAMPLES)[0]
        line = {"task": task, "doc_id": 0, "response": "x"}
        if number >= silent:
            choice = {"message": {"content": "x"}, "finish_reason": "stop"}
            name = custom_id(task, 0, doc)
            line = {"custom_id": name, "response": {"body": {"choices": [choice]}}}
        write(tmp_path / f"{task}.jsonl", line)
    _, printed, _ = call_score(*(f"m={tmp_path / task}.jsonl" for task in tasks))
    assert ("says why it ended" in printed) == is_told


def test_a_line_to_cite_counts_answers_that_were_cut_off(call_score, tmp_path):
    docs, lines = documents("tcp_long", EXAMPLES)[:2], []
    for number, doc in enumerate(docs):
        choices = [
            {"message": {"content": "\\boxed{1}"}, "finish_reason": ending}
            for ending in ("length", "stop", "stop", "stop")
        ]
        name = custom_id("tcp_long", number, doc)
        lines.append({"custom_id": name, "response": {"body": {"choices": choices}}})
    _, printed, _ = call_score(write(tmp_path / "x.jsonl", *lines), "--cite")
    assert "25.0 %" in printed


TUNED = {
    **dict.fromkeys(
        ["Qwen2.5-7B-Instruct", "gemma-2-9b-it", "org/chat-7b", "a.it"], True
    ),
    **dict.fromkeys(["org/italian-7b", "instructions-7b", "bit-7b", "chatter"], False),
}


@pytest.mark.parametrize("name", TUNED)
def test_a_name_says_that_a_model_is_tuned_for_chats(name):
    assert bool(health._TUNED.search(name)) == TUNED[name]


def test_the_interval_of_a_median_counts_ties_by_half():
    values = [-3, -1, 0, 0, 0, 0, 2, 5, 9, 0, 1, 4]
    clusters = [0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]
    median, low, high = stats.estimate_median(values, clusters)
    shares = [(np.sign(median - value) + 1) / 2 for value in values]
    figures = recompute.score_interval(shares, clusters)
    quantile = t.ppf(0.975, figures["freedom"])
    reach = quantile * figures["design_effect"] ** 0.5 / 2 / len(values) ** 0.5
    ends = np.clip([0.5 - reach, 0.5 + reach], 0, 1)
    assert [low, high] == [*np.quantile(values, ends, method="inverted_cdf")]


def model_of(
    claims: dict[str, dict], name: str = "m", **counts: int
) -> SimpleNamespace:
    """Return a model by what results claim of each of its tasks, of 2,000 answers each."""
    figures = SimpleNamespace(answers=2000, counts=Counter(counts))
    tallies = {
        task: SimpleNamespace(
            task=task, all=figures, drawn=None, fingerprint=f"{place}"
        )
        for place, task in enumerate(claims)
    }
    first = next(iter(claims.values()))

    def claims_of_task(task: str | None = None) -> dict:
        return claims.get(task, first)

    return SimpleNamespace(name=name, tasks=tallies, claims=claims_of_task)


def test_a_token_limit_is_compared_with_that_of_its_own_task():
    limits = {"tcp_long": 4096, "tot_arithmetic": 1024, "tcp_short": 10**6}
    claims = {task: {"max_gen_toks": limit} for task, limit in limits.items()}
    [fault] = health.faults(model_of(claims))
    limit_text = "the token limit is below the task's (tot_arithmetic 1,024, not 4,096)"
    assert fault == f"{limit_text}; run again without a max_gen_toks of your own."


def test_a_fault_of_many_tasks_names_the_first_ones():
    [timebench] = benchmarks(["timebench_tracie"])
    claim = {"max_gen_toks": 16, "version": "1.0"}
    faults = [*health.faults(model_of(dict.fromkeys(timebench.tasks, claim)))]
    lists = [re.search(r"\((.*)\); ", fault)[1] for fault in faults]
    assert len(lists) == 2
    for task_list in lists:
        assert task_list.startswith(f"{timebench.tasks[0]} 1")
        assert task_list.endswith(" [...]") and 80 < len(task_list) <= 120


@pytest.mark.parametrize(("claimed", "is_told"), [(None, True), ("org/base", False)])
def test_where_results_name_no_model_its_run_says_whether_it_is_tuned(claimed, is_told):
    claims = {TASK: {"chat_template": False, "model_name": claimed}}
    faults = " ".join(health.faults(model_of(claims, "m-it")))
    assert ("tuned for chats" in faults) == is_told


def test_runs_that_are_silent_on_ends_are_named_and_their_answers_added_up():
    unended_by_name = {"a": 1700, "c*": 34, "b": 0, "d": 0}
    models = [
        model_of({TASK: {}}, name, silent=2000, unended=unended)
        for name, unended in unended_by_name.items()
    ]
    start = (
        "No answer of 'a', `'c*'`, 'b' says why it ended: 1,734 of 6,000 end before "
    )
    assert health.silent_ends(models[:3]).startswith(start)
    assert health.silent_ends(models).startswith(
        "No answer of 4 runs says why it ended"
    )


def test_a_line_to_cite_names_tasks_and_what_differs_between_them():
    """Of a benchmark that is answered in part; each in the order of its tasks."""
    tasks = ("timebench_timexnli_s1", "timebench_tracie")
    version = str(scorer(tasks[0]).version)
    run = {"n_shot": 5, "max_gen_toks": 512, "chat_template": False, "version": version}
    other = run | {"n_shot": 0, "max_gen_toks": None, "version": "1.0"}
    model = model_of(dict(zip(tasks[::-1], (other, run))))
    cells = {"run": "m", "by": None, "published": 0.5, "flexible": 0.5, "n": 1234}
    cells |= {"published_low": None, "flexible_low": None, "clusters": 1100}
    cells |= {"answers": 2468, "cut_off": 617, "cut_off_unknown": 1}
    rows = [{"tasks": "2 of 15", "task": "timebench"}, *({"task": x} for x in tasks)]
    [line] = cite.citations(model, [row | cells for row in rows])
    fingerprint = sha256("1 0")[:12]
    for text in (
        f"m on TimeBench ({', '.join(tasks)}; 1,234 rows instead of 1,000): published",
        ". 1,234 documents in 1,100 clusters (of one text or template); task version",
        f"version {version}, run with version {version}/1.0; fingerprint of the rows",
        f"rows {fingerprint}; few-shot examples 5/0; chat template no; token limit 512/",
        "limit 512/unknown; lm-eval unknown; answers seen to be cut off: 25.0 %; lm-eval",
    ):
        assert text in line


def test_figures_of_drawn_documents_have_the_interval_of_the_whole():
    """Shares of documents and pass@k, too: that of the score, where they are equal."""
    task, names = "tcp_long", ("accuracy", "accuracy_flexible", "extracted")
    [doc] = documents(task, EXAMPLES)[:1]
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)
    ends = []
    for drawn in (Drawn(7, 24, True), None):
        tally = Tally(task, drawn=drawn)
        for number in range(18):
            scores = row["scores"] | dict.fromkeys(names, float(number % 3 == 0))
            cells = {"doc_id": number, "scores": scores, "cluster": f"{number}"}
            tally.add(row | cells, number).rows = [row | cells]
        [cells, *_] = rows_of_run("x", {task: tally}, k=1)
        columns = ("published", "extracted", "pass@1_published", "pass@1_flexible")
        of_columns = {(cells[f"{x}_low"], cells[f"{x}_high"]) for x in columns}
        assert len(of_columns) == 1
        ends += of_columns
    (low, high), (low_alone, high_alone) = ends
    assert high - low == pytest.approx((high_alone - low_alone) / 2, rel=0.1)


def test_tasks_of_no_benchmark_are_in_order_of_their_names():
    tasks = ("tot_semantic_large", "timebench_situatedgen")
    rows = rows_of_run("x", {task: Tally(task) for task in tasks})
    assert [row["task"] for row in rows] == sorted(tasks)


def test_parts_are_in_order_of_their_breakdown_and_then_of_their_numbers():
    task = "tot_semantic"
    doc = documents(task, EXAMPLES)[0]
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)
    tally, columns = Tally(task), ("sorting_type", "question_type")
    for number in (10, 2):
        values = {column: f"part {number}" for column in columns}
        values |= {"doc_id": number, "graph_gen_algorithm": None}
        tally.add(row | values, number)
    [_, *parts] = rows_of_run("x", {task: tally})
    assert [(part["by"], part["value"]) for part in parts] == [
        (column, f"part {number}") for column in sorted(columns) for number in (2, 10)
    ]


def test_the_error_of_a_document_is_the_mean_of_those_of_its_answers():
    task = "tcp_long"
    doc = documents(task, EXAMPLES)[0]
    row = judge_answer(Answer("", {}, task, doc=doc, response="?"), doc, "file", None)
    tally = Tally(task)
    for number, error in enumerate((-2.0, 5.0, None)):
        cells = {"doc_id": 0, "sample": f"{number}", "error": error, "error_unit": "d"}
        tally.add(row | cells, number)
    [cells, *_] = rows_of_run("x", {task: tally})
    assert (cells["median_error_d"], cells["error_read"]) == (1.5, 2 / 3)
