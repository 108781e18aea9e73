"""Labels found anew, ceilings, and the rows that lists of disputed ones leave out."""

import json
import re

from tests import audit
from tests.answers import write
from tests.conftest import PACK
from tests.solvers.baselines import benchmark_files
from utils.__main__ import main
from utils.core import format_tables
from utils.core.documents import documents_of
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer
from utils.packs import disputed


LIST = "disputed-1"


def cells(table: str) -> set[tuple[str, ...]]:
    """Return what stands in the rows of Markdown tables, however wide columns are."""
    lines = (line for line in table.splitlines() if line.startswith("|"))
    return {tuple(filter(None, map(str.strip, line.split("|")))) for line in lines}


RESULTS = [PACK / family / "RESULTS.md" for family in ("tot", "timebench")]
PUBLISHED = {row for path in RESULTS for row in cells(path.read_text(encoding="utf-8"))}


def test_the_results_and_the_list_have_what_solvers_find_of_the_real_labels(shared):
    table, lines = audit.check_labels(shared)
    assert sum(row["rows"] for row in table if not row["question_type"]) == 3850
    for row in table:
        assert tuple(str(x) for x in row.values() if x is not None) in PUBLISHED
    kinds = {"wrong_label": "disagree", "two_readings": "two_readings"}
    listed = {(x["file"], x["row"], kinds.get(x["kind"])) for x in disputed.LISTS[LIST]}
    # How long it was from a month to another is counted one way throughout.
    lines = [x for x in lines if x["file"] != "timexnli_cs2_timebench"]
    differing = {(x["file"], x["row"], x["kind"]) for x in lines}
    assert differing == {row for row in listed if row[2]}


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


def test_the_results_have_the_ceilings_of_the_real_rows(shared):
    table, _ = audit.find_ceilings(shared)
    is_capped = {(x["task"], x["answers"]) for x in table if x["capped"]}
    capped = [x for x in table if (x["task"], x["answers"]) in is_capped]
    rows = [x for x in capped if not x["task"].endswith("_separate")]
    printed = format_tables.render(rows, "markdown").splitlines()[2:]
    assert len(printed) == 22
    assert cells("\n".join(printed)) <= PUBLISHED


def test_a_list_has_the_rows_that_it_names_and_does_not_change(shared):
    rows, files = disputed.LISTS[LIST], {}
    assert len({(x["file"], x["row"], x["digest"]) for x in rows}) == 61
    assert [*disputed.LISTS] == [LIST] and all(x["kind"] and x["reason"] for x in rows)
    for row in rows:
        files.setdefault(row["file"], []).append(row["row"])
    for path, tasks in benchmark_files(shared):
        for task in tasks if path.stem in files else ():
            documents = documents_of(task, read_jsonl(path))
            digests = [scorer(task).utils.digest(doc).hex()[:16] for doc in documents]
            listed = [n for n, x in enumerate(digests) if x in disputed.DIGESTS[LIST]]
            assert listed == files[path.stem]


def test_compare_and_the_board_leave_out_the_rows_of_a_list_and_say_so(
    tmp_path, monkeypatch, capsys
):
    lines = [
        {"task": "tot_arithmetic", "response": f'{{"answer": {n}}}'}
        | {"doc": {"question": f"{n} days?", "label": "{'answer': 3}"}}
        for n in (3, 4, 5)
    ]
    doc = {"dialogue": ["A: Now."], "question": "When?", "answer": "2020-01-01"}
    doc["answer_format"] = "YYYY-MM-DD"
    lines.append({"task": "tcp_long", "doc": doc, "response": ""})
    short_doc = {
        "answer": "2020-01-01 10:00 GMT",
        "answer_format": "YYYY-MM-DD HH:MM GMT",
    }
    lines.append(lines[3] | {"task": "tcp_short", "doc": doc | short_doc})
    path = write(tmp_path / "answers", *lines)
    left_out = {
        scorer(line["task"]).utils.digest(line["doc"]).hex()[:16]
        for line in lines[1::2]
    }
    monkeypatch.setitem(disputed.DIGESTS, LIST, left_out)
    page, table = tmp_path / "page", tmp_path / "table"
    options = [f"a={path}", f"b={path}", "--leave_out", LIST]
    assert main(["compare", *options, "--format", "json"]) == 0
    printed = capsys.readouterr()
    (*_, row) = json.loads(printed.out)
    assert (row["n"], row["a"]) == (2, 0.5)
    left = rf"(?m)^(\w+): 1 answers of (.) are left out \({LIST}\)$"
    tasks = ("tcp_long", "tot_arithmetic")
    assert re.findall(left, printed.err) == [(x, name) for name in "ab" for x in tasks]
    assert main(["leaderboard", *options, f"--html={page}", f"--json={table}"]) == 0
    rows = [x for x in json.loads(table.read_text()) if x["by"] is None]
    sizes = {(x["scope"], x["n"]) for x in rows}
    assert sizes >= {
        ("tot_arithmetic", 2),
        ("tcp_long", 0),
    }  # the latter without scores
    assert "1 of 2 tasks" in rows[0]["remarks"]
    assert f"without 4 to disputed rows ({LIST})" in page.read_text()
    # What one model has left out, and another has not, is a column of both.
    other_doc = {"question": "And then?"}
    others = [line | {"doc": line["doc"] | other_doc} for line in lines[2:]]
    both = [f"a={path}", f"b={write(tmp_path / 'other', *others)}"]
    assert main(["leaderboard", *both, "--leave_out", LIST, f"--html={page}"]) == 0
    options[:2] = [str(write(tmp_path / "none left", lines[1]))]
    assert main(["leaderboard", *options, f"--html={page}"]) == 1
    assert "the runs have no scored document; name others" in capsys.readouterr().err
