"""Labels found anew, ceilings, and the rows that lists of disputed ones leave out."""

import json

import pytest

from tests import audit
from tests.answers import write
from tests.conftest import PACK, ROOT
from tests.solvers import ceiling
from tests.solvers.baselines import benchmark_files
from tests.solvers.timexnli_public import solve as solve_pair
from utils.__main__ import main
from utils.core import tables
from utils.core.documents import documents_of
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.packs import disputed


LIST = "disputed-1"


@pytest.fixture(scope="module")
def checked(shared) -> tuple[list[dict], list[dict]]:
    """What solvers make of the real rows: a table, and the rows that do not agree."""
    return audit.check_labels(shared)


@pytest.fixture(scope="module")
def ceilings(shared) -> tuple[list[dict], list[dict], dict]:
    """What the obedient responder scores on the real rows, and the rows behind it."""
    return audit.find_ceilings(shared)


def cells(table: str) -> set[tuple[str, ...]]:
    """Return what stands in the rows of Markdown tables, however wide columns are."""
    lines = (line for line in table.splitlines() if line.startswith("|"))
    return {tuple(filter(None, map(str.strip, line.split("|")))) for line in lines}


TOLD = {
    row
    for family in ("tot", "timebench")
    for row in cells((PACK / family / "RESULTS.md").read_text(encoding="utf-8"))
}


def test_labels_of_the_results_are_what_the_solvers_find(checked):
    assert sum(row["rows"] for row in checked[0] if not row["question_type"]) == 3850
    for row in checked[0]:
        assert tuple(str(x) for x in row.values() if x is not None) in TOLD


def test_rows_that_do_not_agree_are_those_of_the_list(checked):
    kinds = {"wrong_label": "disagree", "two_readings": "two_readings"}
    listed = {
        (row["file"], row["row"], kinds[row["kind"]])
        for row in disputed.LISTS[LIST]
        if row["kind"] in kinds
    }
    # How long it was from a month to another is counted one way throughout.
    lines = (x for x in checked[1] if x["file"] != "timexnli_cs2_timebench")
    assert {(x["file"], x["row"], x["kind"]) for x in lines} == listed


def test_a_wrong_label_is_found_with_its_reckoning(tmp_path, capsys):
    question = "What is the time 2 month after Nov, 1999"
    rows = [{"question": question, "answer": [x]} for x in ("Jan, 2000", "Jan, 1999")]
    write(tmp_path / "tempreason_l1_timebench.jsonl", *rows)
    audit.main([str(tmp_path), "--rows", str(tmp_path / "rows")])
    row = ("tempreason_l1_timebench", "2", "2", "100%", "1", "1", "0")
    assert row in cells(capsys.readouterr().out)
    (line,) = read_jsonl(tmp_path / "rows")
    assert (line["row"], line["answers"]) == (1, ["Jan, 2000"])
    assert line["reckoning"] == f"{question} Jan, 2000"


ENTAILED, NEUTRAL, NOT = "Entailment", "Neutral", "Contradiction"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "found"),
    [
        ("In Sep, he left.", "Before October, he left.", {ENTAILED}),
        ("He left after 20:00.", "He left after 8 PM.", {ENTAILED}),
        ("At 12 AM, he left.", "Before 1 AM, he left.", {ENTAILED}),
        ("On 9th Jul 1987, he left.", "After 9th July 1987, he left.", {NOT}),
        ("He left before 1950.", "He left before 1949.", {NEUTRAL}),
        # points in time, or days
        ("After 23rd, he left.", "Before 24th, he left.", {NEUTRAL, NOT}),
        # a week begins on Sunday, or on Monday
        ("On Monday, he left.", "After Sunday, he left.", {ENTAILED, NOT}),
        # between them lie seven hours, and no other way to count
        ("It lasted from 9 PM to 04:00.", "It lasted for 7 hours.", {ENTAILED}),
        ("It began in 1934 and ended in 1937.", "It lasted for 5 years.", {NOT}),
        # both ends count, or one
        ("It began in May and ended in July.", "It lasted for 3 months.", {ENTAILED, NOT}),
        # a month has 28 to 31 days
        ("He will leave in 1 month.", "He will leave before 32 days.", {ENTAILED}),
        ("He will leave in 1 month.", "He will leave before 30 days.", {ENTAILED, NOT}),
        ("He will leave in 2 days.", "He will leave after 47 hours.", {ENTAILED}),
        # not read
        ("In Sep, he left.", "In Sep, she left.", set()),
        ("He left.", "He left before 8 PM.", set()),
    ],
)  # fmt: skip
def test_pairs_of_times_have_these_labels(premise, hypothesis, found):
    solution = solve_pair(premise, hypothesis)
    assert set(solution.answers if solution else ()) == found


def test_ceilings_of_the_wheel_are_those_of_the_real_rows(ceilings):
    known = json.loads((ROOT / "utils" / "ceilings.json").read_text())
    assert {name: known[name] for name in ceilings[2]} == ceilings[2]


def test_ceilings_of_the_results_are_what_the_tool_prints(ceilings):
    is_capped = {(x["task"], x["answers"]) for x in ceilings[0] if x["capped"]}
    capped = [x for x in ceilings[0] if (x["task"], x["answers"]) in is_capped]
    rows = [x for x in capped if not x["task"].endswith("_separate")]
    printed = tables.render(rows, "markdown").splitlines()[2:]
    assert len(printed) == 22
    assert cells("\n".join(printed)) <= TOLD


def test_a_text_without_the_label_caps_what_can_be_quoted_from_it(tmp_path):
    row = {"question": "Whose was it?", "context": "It was Ann Bee's, then Cy's."}
    rows = [
        row | {"question": f"{n}. Whose?", "answer": [x], "fact_context": "Dee had it."}
        for n, x in enumerate(("Ann Bee's", "Lady Ann", "Dee", "Cy's"))
    ]
    write(tmp_path / "tempreason_l2_timebench.jsonl", *rows)
    ((path, tasks),) = benchmark_files(tmp_path)
    found = {
        task: [x.published for x in ceiling.find(task, documents_of(task, rows))]
        for task in tasks
    }
    assert found["timebench_tempreason_l2"] == [1, pytest.approx(2 / 3), 0, 1]
    assert found["timebench_tempreason_l2_facts"] == [0, 0, 1, 0]


def test_a_list_has_the_rows_that_it_names(shared):
    files: dict[str, list[int]] = {}
    for row in disputed.LISTS[LIST]:
        files.setdefault(row["file"], []).append(row["row"])
    found = {path.stem: (path, tasks) for path, tasks in benchmark_files(shared)}
    for file, rows in files.items():
        path, tasks = found[file]
        for task in tasks:
            docs = documents_of(task, read_jsonl(path))
            digests = [scorer(task).utils.digest(doc).hex() for doc in docs]
            assert rows == [n for n, x in enumerate(digests) if disputed.is_in(LIST, x)]


def test_a_published_list_does_not_change():
    known = {f"{x['file']} {x['row']} {x['digest']}" for x in disputed.LISTS[LIST]}
    assert (len(known), [*disputed.LISTS]) == (61, [LIST])
    assert all(row["kind"] and row["reason"] for row in disputed.LISTS[LIST])


def test_compare_and_the_board_leave_out_the_rows_of_a_list_and_say_so(
    tmp_path, monkeypatch, capsys
):
    docs = [{"question": f"{n} days?", "label": "{'answer': 3}"} for n in range(3)]
    lines = [
        {"task": "tot_arithmetic", "doc": doc, "response": f'{{"answer": {n}}}'}
        for n, doc in enumerate(docs, 3)
    ]
    write(tmp_path / "answers", *lines)
    left_out = scorer("tot_arithmetic").utils.digest(docs[1]).hex()[:16]
    monkeypatch.setattr(disputed, "digests", lambda name: {left_out} if name else set())
    runs = [f"{name}={tmp_path / 'answers'}" for name in "ab"]
    page, table = tmp_path / "page", tmp_path / "table"
    options = [*runs, "--leave_out", LIST]
    assert main(["compare", *options, "--format", "json"]) == 0
    found = capsys.readouterr()
    (row, *_) = json.loads(found.out)
    assert (row["n"], row["a"]) == (2, 0.5)
    assert f"1 answers of a are left out ({LIST})" in found.err
    files = [f"--html={page}", f"--json={table}"]
    assert main(["leaderboard", *options, *files]) == 0
    found = [x for x in json.loads(table.read_text()) if x["by"] is None]
    assert {x["n"] for x in found} == {2}
    assert f"without 2 to disputed rows ({LIST})" in page.read_text()
