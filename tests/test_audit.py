"""`temporal-eval audit`: labels found anew, ceilings, and the rows that lists leave out."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, PACK, TASKS
from utils.packs import disputed
from utils.__main__ import main
from tests.audit import ceiling, labels, obedient
from utils.core.documents import benchmark_files, documents_of
from utils.core.families import prompt, scorer
from utils.core.jsonl import read_jsonl
from tests.solvers.timexnli_public import solve as solve_pair


LIST = "disputed-1"


def audited(folder: Path, capsys, *options: object) -> dict[tuple, dict]:
    """Return the rows that the tool prints, by their first two columns."""
    assert main(["audit", str(folder), "--format", "json", *map(str, options)]) == 0
    rows = json.loads(capsys.readouterr().out)
    return {tuple(row.values())[:2]: row for row in rows if not row.get("reason")}


def copied(folder: Path, name: str, rows: list[dict]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text)
    return folder


# ----------------------------------------------------------------------------- labels

# file -> rows that agree, that disagree, that have two readings; all others are not read
PUBLIC = {
    "tempreason_l1_timebench": (500, 0, 0),
    "timexnli_cs1_timebench": (481, 3, 16),
    "timexnli_cs2_timebench": (302, 0, 198),
    "timexnli_cs3_timebench": (499, 0, 1),
    "tot_arithmetic": (1813, 27, 10),
}


def test_all_public_questions_with_a_solver_are_recomputed(shared, capsys):
    found = audited(shared, capsys)
    for file, counts in PUBLIC.items():
        row = found[file, None]
        assert (row["agree"], row["disagree"], row["two_readings"]) == counts
        assert row["recomputed"] == row["rows"] == sum(counts)


def test_rows_that_do_not_agree_are_those_of_the_list(shared, capsys, tmp_path):
    path = tmp_path / "rows.jsonl"
    audited(shared, capsys, "--jsonl", path)
    kinds = {"wrong_label": "disagree", "two_readings": "two_readings"}
    listed = {
        (row["file"], row["row"], kinds[row["kind"]])
        for row in disputed.read(LIST)
        if row["kind"] in kinds
    }
    # How long it was from a month to another is counted one way throughout.
    found = {
        (line["file"], line["row"], line["kind"])
        for line in read_jsonl(path)
        if line["file"] != "timexnli_cs2_timebench"
    }
    assert found == listed


def test_a_wrong_label_is_found_with_its_reckoning(capsys, tmp_path):
    question = "What is the time 2 month after Nov, 1999"
    rows = [{"question": question, "answer": [x]} for x in ("Jan, 2000", "Jan, 1999")]
    folder = copied(tmp_path, "tempreason_l1_timebench", rows)
    found = audited(folder, capsys, "--jsonl", tmp_path / "out")
    row = found["tempreason_l1_timebench", None]
    assert (row["agree"], row["disagree"], row["share"]) == (1, 1, "100%")
    (line,) = read_jsonl(tmp_path / "out")
    assert (line["row"], line["answers"]) == (1, ["Jan, 2000"])
    assert line["reckoning"] == "Nov, 1999 -> Jan, 2000"


def test_the_share_that_is_read_is_rounded_down(capsys, tmp_path):
    row = {
        "question": "What is the time 2 month after Nov, 1999",
        "answer": ["Jan, 2000"],
    }
    rows = [row] * 299 + [{"question": "And then?", "answer": ["Jan, 2000"]}]
    found = audited(copied(tmp_path, "tempreason_l1_timebench", rows), capsys)
    assert found["tempreason_l1_timebench", None]["share"] == "99%"


def test_a_solver_reads_every_fresh_row_and_agrees(capsys, tmp_path):
    command = [
        "generate",
        str(tmp_path / "pack"),
        "--gen-seed",
        "5",
        "--gen-rows",
        "20",
    ]
    assert main(command) == 0
    capsys.readouterr()
    totals = [
        row
        for (_, kind), row in audited(tmp_path / "pack", capsys).items()
        if kind is None
    ]
    assert [row["agree"] for row in totals] == [20] * 6


@pytest.mark.parametrize(
    ("premise", "hypothesis", "labels_found"),
    [
        ("In Sep, he left.", "Before October, he left.", {"Entailment"}),
        ("He left after 20:00.", "He left after 8 PM.", {"Entailment"}),
        ("At 12 AM, he left.", "Before 1 AM, he left.", {"Entailment"}),
        ("On 9th Jul 1987, he left.", "After 9th July 1987, he left.", {"Contradiction"}),
        ("He left before 1950.", "He left before 1949.", {"Neutral"}),
        # points in time, or days
        ("After 23rd, he left.", "Before 24th, he left.", {"Neutral", "Contradiction"}),
        # a week begins on Sunday, or on Monday
        ("On Monday, he left.", "After Sunday, he left.", {"Entailment", "Contradiction"}),
        # between them lie seven hours, and no other way to count
        ("It lasted from 9 PM to 04:00.", "It lasted for 7 hours.", {"Entailment"}),
        ("It began in 1934 and ended in 1937.", "It lasted for 5 years.", {"Contradiction"}),
        ("It began in May and ended in July.", "It lasted for 3 months.", {"Entailment", "Contradiction"}),
        ("It ran from Dec 1900 to Jan 1902.", "It ran for less than 1 year 1 month.", {"Contradiction"}),
        # a month has 28 to 31 days
        ("He will leave in 1 month.", "He will leave before 32 days.", {"Entailment"}),
        ("He will leave in 1 month.", "He will leave before 30 days.", {"Entailment", "Contradiction"}),
        ("He will leave in 2 days.", "He will leave after 47 hours.", {"Entailment"}),
        ("He will leave after 1 year.", "He will leave after 12 months.", {"Entailment"}),
    ],
)  # fmt: skip
def test_pairs_of_times_have_these_labels(premise, hypothesis, labels_found):
    assert set(solve_pair(premise, hypothesis).answers) == labels_found


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("", ""),
        ("In Sep, he left.", "In Sep, she left."),
        ("In Sep, he left.", "After 1999, he left."),
        ("He left.", "He left before 8 PM."),
    ],
)
def test_other_pairs_are_not_read(premise, hypothesis):
    assert solve_pair(premise, hypothesis) is None


# --------------------------------------------------------------------------- ceilings


def ceilings(folder: Path, task: str) -> list[ceiling.Answered]:
    for path, tasks in benchmark_files(folder):
        if task in tasks:
            return ceiling.find(task, documents_of(task, read_jsonl(path)))
    raise AssertionError(task)


def reasons(found: list[ceiling.Answered], way: str) -> Counter:
    return Counter(one.reason for one in found if one.way == way)


def test_who_obeys_every_prompt_of_tot_arithmetic_has_not_all_points(shared):
    found = ceilings(shared, "tot_arithmetic")
    full, key, kind = 1595, 150, 105
    assert reasons(found, obedient.AS_ASKED) == {
        None: full,
        obedient.KEY: key,
        obedient.KIND: kind,
    }
    assert reasons(found, obedient.TO_THE_LETTER)[None] == 1350
    assert all(one.flexible == 1 for one in found)


def test_one_prompt_with_two_labels_has_one_response(shared):
    found = ceilings(shared, "timebench_timeqa_implicit")
    capped = [one.row for one in found if one.reason == obedient.SAME_PROMPT]
    assert len(capped) == 1 and capped[0] in (423, 495)


def test_a_text_without_the_label_caps_what_can_be_quoted_from_it(tmp_path):
    row = {"question": "Whose was it?", "context": "It was Ann Bee's, then Cy's."}
    rows = [row | {"answer": [x]} for x in ("Ann Bee's", "Lady Ann", "Dee", "Cy's")]
    rows = [x | {"question": f"{n}. {x['question']}"} for n, x in enumerate(rows)]
    folder = copied(tmp_path, "tempreason_l2_timebench", rows)
    extra = {"fact_context": "Dee had it."}
    copied(tmp_path, "tempreason_l2_timebench", [x | extra for x in rows])
    found = ceilings(folder, "timebench_tempreason_l2")
    assert [one.published for one in found] == [1, pytest.approx(2 / 3), 0, 1]
    with_facts = ceilings(folder, "timebench_tempreason_l2_facts")
    assert [one.published for one in with_facts] == [0, 0, 1, 0]


def test_every_task_of_the_examples_has_a_ceiling(capsys):
    found = audited(EXAMPLES / "data", capsys, "--ceiling")
    assert {scorer(task).family for task, _ in found} == {"tcp", "tot", "timebench"}
    for row in found.values():
        assert row["published"] == pytest.approx(1 - row["cost"])


def test_a_folder_without_a_file_to_read_is_one_line(capsys, tmp_path):
    assert main(["audit", str(tmp_path)]) == 1
    assert "has no file of a benchmark" in capsys.readouterr().err
    folder = copied(tmp_path, "tracie_timebench", read_jsonl(EXAMPLES / "data" / "tracie_timebench.jsonl"))  # fmt: skip
    assert main(["audit", str(folder)]) == 1
    assert "has no file that a solver reads" in capsys.readouterr().err


@pytest.mark.parametrize("family", ["tot", "timebench"])
def test_tables_of_the_results_are_what_the_tool_prints(
    family, shared, capsys, monkeypatch
):
    results = (PACK / family / "RESULTS.md").read_text()
    monkeypatch.chdir(shared)
    assert main(["audit", family]) == 0
    assert capsys.readouterr().out in results
    assert main(["audit", family, "--ceiling"]) == 0
    printed = capsys.readouterr().out.splitlines()
    told = [
        line for line in results.splitlines() if re.match(r"\| \w+ +\| (as|to) ", line)
    ]
    assert told and set(told) <= {*printed}
    is_capped = re.compile(r"\| \w+(?<!_separate) +(\|[^|]*){4}\| +[1-9]")
    assert told == [line for line in printed if is_capped.match(line)]


def test_prompts_are_those_that_a_run_of_the_harness_sees(dummy_run):
    seen = set()
    for path in dummy_run.glob("samples_*"):
        task = path.name.removeprefix("samples_").rpartition("_")[0]
        sample = read_jsonl(path)[0]
        assert prompt(task, sample["doc"]) == sample["arguments"]["gen_args_0"]["arg_0"]
        seen.add(task)
    assert seen == {*TASKS}


# ---------------------------------------------------------------------- disputed rows


def test_a_list_has_the_rows_that_it_names(shared):
    paths = {path.stem: (path, tasks) for path, tasks in benchmark_files(shared)}
    for file, rows in rows_by_file().items():
        path, tasks = paths[file]
        upstream = read_jsonl(path)
        for task in tasks:
            docs = documents_of(task, upstream)
            digests = [scorer(task).utils.digest(doc) for doc in docs]
            listed = [
                n for n, digest in enumerate(digests) if disputed.is_in(LIST, digest)
            ]
            assert listed == [row["row"] for row in rows]


def rows_by_file() -> dict[str, list[dict]]:
    files: dict[str, list[dict]] = {}
    for row in disputed.read(LIST):
        files.setdefault(row["file"], []).append(row)
    return files


def test_a_published_list_does_not_change():
    known = [
        f"{row['file']} {row['row']} {row['digest']}" for row in disputed.read(LIST)
    ]
    assert (len(known), len(set(known)), disputed.names()) == (61, 61, [LIST])
    assert all(row["kind"] and row["reason"] for row in disputed.read(LIST))


@pytest.fixture
def answers(tmp_path, monkeypatch) -> Path:
    """Answers to three rows, of which a list of our own leaves out one."""
    docs = [
        {"question": f"How many days? {n}", "label": "{'answer': 3}"} for n in range(3)
    ]
    lines = [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc, "response": response}
        for n, (doc, response) in enumerate(
            zip(docs, ['{"answer": 3}', '{"answer": 4}', '{"answer": 5}'])
        )
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    left_out = scorer("tot_arithmetic").utils.digest(docs[1]).hex()[:16]
    monkeypatch.setattr(disputed, "digests", lambda name: {left_out} if name else set())
    return path


def test_score_leaves_out_the_rows_of_a_list_and_says_so(answers, capsys):
    command = ["score", str(answers), "--format", "json", "--by", ""]
    for options, n, published, left_out in (
        ([], 3, 1 / 3, None),
        (["--leave_out", LIST], 2, 1 / 2, f"1 ({LIST})"),
    ):
        assert main([*command, *options]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        assert (row["n"], row["published"]) == (n, published)
        assert row["left_out"] == left_out


def test_compare_leaves_out_the_rows_of_a_list_and_says_so(answers, capsys):
    command = ["compare", f"a={answers}", f"b={answers}", "--leave_out", LIST]
    assert main([*command, "--format", "json"]) == 0
    told = capsys.readouterr()
    rows = json.loads(told.out)
    assert {(row["n"], row["a"], row["left_out"]) for row in rows if row["metric"] == "acc"} == {(2, 0.5, f"1 ({LIST})")}  # fmt: skip
    assert f"tot_arithmetic: left out: 1 ({LIST})" in told.err


@pytest.mark.parametrize("tool", ["score", "compare"])
def test_where_nothing_is_left_that_is_said(tool, answers, capsys):
    line = answers.read_text().splitlines()[1]
    answers.write_text(line + "\n")
    runs = [f"a={answers}", f"b={answers}"][: 1 if tool == "score" else 2]
    assert main([tool, *runs, "--leave_out", LIST]) == 1
    assert "without --leave_out" in capsys.readouterr().err


def test_an_unknown_list_is_refused(answers, capsys):
    assert main(["score", str(answers), "--leave_out", "disputed-0"]) == 2
    assert LIST in capsys.readouterr().err


def test_every_solver_is_of_a_task_of_the_pack():
    assert all(scorer(task).task == task for task in labels.SOLVERS)
