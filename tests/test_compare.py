"""`temporal-eval compare`: the figures are right, the documents the same, no surprise."""

import csv
import io
import json
import random

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel
from statsmodels.stats.multitest import multipletests

from tests.conftest import EXAMPLES
from utils import compare as tool
from utils.__main__ import main as front_door
from utils.core.documents import documents_of
from utils.core.families import scorer
from utils.runs import repeats
from utils.runs.answers import read_answers
from utils.runs.scoring import score


PACK = ("--include_path", EXAMPLES)
STAMP = "2026-11-21T10-00-00.000000"
RIGHT, WRONG, NONE = '{"answer": "1"}', '{"answer": "2"}', "no idea"
FLEXIBLE = '{"answer": "1."}'  # which only the flexible rule takes for 1


def doc(number: int, question: str | None = None) -> dict:
    """Return a document of ToT arithmetic whose answer is 1."""
    question = question or f"How many are {number} without {number - 1}?"
    return {"question": question, "question_type": "trick", "label": "{'answer': '1'}"}


def lines(responses: list[str], **more: object) -> list[dict]:
    """Return one answer a document, as plain lines."""
    return [
        {"task": "tot_arithmetic", "doc_id": n, "doc": doc(n), "response": response}
        | more
        for n, response in enumerate(responses)
    ]


@pytest.fixture
def write(tmp_path):
    """A function that writes lines to a file of a run and returns its path."""

    def write(name: str, answers: list[dict]) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("".join(f"{json.dumps(x)}\n" for x in answers))
        return str(path)

    return write


@pytest.fixture
def repeated(monkeypatch):
    """A function that has the benchmark hold a document of ToT arithmetic several times."""

    def repeated(document: dict, times: int) -> None:
        known = scorer("tot_arithmetic").utils.digest(document)
        rows = {known: times}
        monkeypatch.setattr(repeats, "rows_of", lambda _, x: rows.get(x, 1))

    return repeated


@pytest.fixture
def compare(capsys):
    """A function that runs the tool and returns what it prints."""

    def compare(*arguments: object, status: int = 0) -> str:
        assert front_door(["compare", *map(str, arguments)]) == status
        compare.said = capsys.readouterr()
        return compare.said.err if status else compare.said.out

    return compare


@pytest.fixture
def rows(compare):
    """A function that runs the tool and returns its rows."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    def rows(*arguments: object) -> list[dict]:
        text = compare(*arguments, "--format", "json")
        return json.loads(text, parse_constant=refuse)

    return rows


# ------------------------------------------------------------------------- figures


def test_figures_of_real_answers_are_those_of_the_ordinary_tests(shared, rows):
    """Four models on ToT arithmetic, of which each document is a cluster of its own."""
    paths = sorted((shared / "responses").glob("*.jsonl"))
    found = rows(*paths, "--task", "tot_arithmetic")
    assert len(found) == 6 * 3
    scores = {
        path.stem: {
            scored.digest: scored.verdict.scores
            for scored in map(score, read_answers(path, "tot_arithmetic"))
        }
        for path in paths
    }
    for row in found:
        a, b = (
            [x[row["metric"]] for _, x in sorted(scores[row[run]].items())]
            for run in ("run_a", "run_b")
        )
        test, differences = ttest_rel(a, b), np.subtract(a, b)
        assert row["n"] == row["clusters"] == len(a) == 1016
        assert (row["a"], row["b"]) == pytest.approx((np.mean(a), np.mean(b)))
        assert row["difference"] == pytest.approx(np.mean(differences))
        assert (row["low"], row["high"]) == pytest.approx(test.confidence_interval())
        assert row["p"] == pytest.approx(test.pvalue)
        better = (int(np.sum(differences > 0)), int(np.sum(differences < 0)))
        assert (row["a_better"], row["b_better"]) == better
        exact = binomtest(better[0], sum(better)).pvalue
        assert row["mcnemar"] == pytest.approx(exact)
        assert 2.7 < row["detectable"] / row["standard_error"] < 2.9


def test_holm_takes_all_tasks_and_pairs_of_a_metric(rows, write):
    draw = random.Random(3)
    paths = []
    for name in "abc":
        skill = {"a": 0.2, "b": 0.5, "c": 0.7}[name]
        answers = lines([RIGHT if draw.random() < skill else NONE for _ in range(40)])
        for n in range(30):
            document = {"answer": "2024-05-01", "answer_format": "YYYY-MM-DD"}
            document |= {"dialogue": [str(n)], "question": "When?"}
            right = r"\boxed{2024-05-01}" if draw.random() < skill else "?"
            line = {"task": "tcp_long", "doc_id": n, "doc": document}
            answers.append(line | {"response": right})
        paths.append(write(f"{name}.jsonl", answers))
    found = rows(*paths)
    for metric in (*scorer("tot_arithmetic").headline, "extracted"):
        those = [row for row in found if row["metric"] == metric]
        assert {row["tests"] for row in those} == {len(those)} == {6}
        larger = [max(row["p"], row["mcnemar"]) for row in those]
        expected = multipletests(larger, method="holm")[1]
        assert [row["holm"] for row in those] == pytest.approx(list(expected))
    alone = rows(*paths, "--metrics", "published")
    assert alone == [x for x in found if x["metric"] in scorer("tcp_long").headline[:1]]


def test_published_metrics_of_any_name_are_one_family(rows):
    found = rows(*(f"{x}={EXAMPLES / 'responses'}" for x in "ab"), *PACK)
    tasks = {row["task"] for row in found}
    pairs = [pair for task in tasks if (pair := scorer(task).headline)]
    assert len(pairs) == len(tasks) - 1  # SituatedGen has neither
    for row in found:
        is_headline = any(row["metric"] in pair for pair in pairs)
        if is_headline or row["metric"] == "extracted":
            assert row["tests"] == len(pairs if is_headline else tasks)


def test_answers_that_share_a_question_are_clustered(rows, write):
    """ToT semantic has each in five orders."""
    draw = random.Random(5)
    paths, scores, names = [], [], [n // 5 for n in range(60)]
    for run in "ab":
        chance = [draw.random() for _ in range(12)]
        scores.append([float(draw.random() < chance[name]) for name in names])
        answers = [
            {
                "task": "tot_semantic",
                "doc": {
                    "question": f"Q{name}?",
                    "prompt": f"{n} Q{name}?",
                    "label": "E1",
                },
                "response": '{"answer": "E1"}' if right else "?",
            }
            for n, (name, right) in enumerate(zip(names, scores[-1]))
        ]
        draw.shuffle(answers)
        paths.append(write(f"{run}.jsonl", answers))
    (row,) = rows(*paths, "--metrics", "published")
    assert (row["n"], row["clusters"]) == (60, 12)
    # Clusters of one size are twelve values.
    test = ttest_rel(*np.reshape(scores, (2, 12, 5)).mean(axis=2))
    assert row["p"] == pytest.approx(test.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(test.confidence_interval())


def test_a_run_does_not_differ_from_itself(rows):
    runs = [f"{x}={EXAMPLES / 'responses'}" for x in "ab"]
    found = rows(*runs, *PACK, "--metrics", "all")
    assert len({row["task"] for row in found}) == 20
    for row in found:
        assert (row["difference"], row["low"] or 0, row["high"] or 0) == (0, 0, 0)
        assert (row["p"], row["holm"]) == (1, 1)
        assert row["a_better"] in (0, None) and row["b_better"] in (0, None)
        assert row["mcnemar"] in (1, None)
        assert row["detectable"] is None


def test_swapped_runs_give_the_mirror_image(shared, rows):
    a, b, *_ = sorted((shared / "responses").glob("*.jsonl"))
    there = rows(f"a={a}", f"b={b}", "--task", "tot_arithmetic")
    back = rows(f"b={b}", f"a={a}", "--task", "tot_arithmetic")
    mirrored = [
        row
        | {"run_a": row["run_b"], "run_b": row["run_a"], "a": row["b"], "b": row["a"]}
        | {"a_better": row["b_better"], "b_better": row["a_better"]}
        | {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
        for row in back
    ]
    for row, other in zip(there, mirrored, strict=True):
        assert row == pytest.approx(other)


@pytest.mark.parametrize("show", [[], ["--show", "tot_arithmetic"]])
def test_the_order_of_lines_changes_nothing(shared, compare, write, show):
    runs = {}
    for path in sorted((shared / "responses").glob("*.jsonl"))[:2]:
        runs[path.stem] = [json.loads(x) for x in path.open(encoding="utf-8")][:100]
    seen = set()
    for seed in range(3):
        paths = []
        for name, answers in runs.items():
            random.Random(seed).shuffle(answers)
            paths.append(f"{name}={write(f'{seed}-{name}.jsonl', answers)}")
        seen.add(compare(*paths, "--task", "tot_arithmetic", *show))
    assert len(seen) == 1


@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without ids"])
def test_copies_of_a_document_are_compared_one_to_one(rows, write, repeated, ids):
    """TimeBench has 100 documents twice in MenatQA."""
    repeated(doc(1), 4)
    order = random.Random(2)
    paths = []
    for name, responses in {
        "a": [RIGHT, WRONG, NONE],
        "b": [WRONG, RIGHT, NONE],
    }.items():
        answers = lines(responses) + lines([RIGHT])
        for n, answer in enumerate(answers):
            answer |= {"doc": doc(1), "doc_id": n}
            if not ids:
                del answer["doc_id"]
        order.shuffle(answers)
        paths.append(write(f"{name}.jsonl", answers))
    (row,) = rows(*paths, "--metrics", "published")
    assert (row["n"], row["clusters"], row["difference"]) == (4, 1, 0)
    # Which copy is which is known by the ids alone.
    assert (row["a_better"], row["b_better"]) == ((1, 1) if ids else (0, 0))


@pytest.mark.parametrize("answers", [1, 2, 3])
def test_few_documents_give_numbers_and_no_warning(
    rows, compare, write, answers, recwarn
):
    a, b = (
        write("a.jsonl", lines([RIGHT] * answers)),
        write("b.jsonl", lines([WRONG] * answers)),
    )
    (row,) = rows(a, b, "--metrics", "published")
    assert row["difference"] == 1
    assert row["p"] == row["mcnemar"] == row["holm"] == 0.5 ** (answers - 1)
    assert row["low"] == (None if answers == 1 else 1)
    assert "nan" not in compare(a, b).replace("clusters", "")
    assert not [x for x in recwarn if x.category is RuntimeWarning]


# ------------------------------------------------------------------- what is printed


def test_the_table_has_one_line_a_task_and_metric(compare, write):
    a = write("a.jsonl", lines([RIGHT, RIGHT, FLEXIBLE, NONE]))
    b = write("b.jsonl", lines([RIGHT, WRONG, WRONG, WRONG]))
    head, _, _, _, *found, _, caption = compare(a, b).splitlines()
    assert head == "a: a, b: b"
    assert [line.split("|")[2].strip("` ") for line in found] == [
        *(*scorer("tot_arithmetic").headline, "extracted")
    ]
    assert [cell.strip() for cell in found[1].split("|")[3:9]] == [
        *("4", "0.7500", "0.2500", "+0.5000", "-0.4187 to +1.4187", "0.18")
    ]
    assert found[1].split("|")[-2].strip() == "a 2, b 0"
    assert caption.count("1 of ") == 3 and "1 of extracted)" in caption


def test_csv_and_json_have_all_figures(compare, rows, write):
    a, b = write("a.jsonl", lines([RIGHT, NONE])), write("b.jsonl", lines([WRONG] * 2))
    (first, *_) = csv.DictReader(io.StringIO(compare(a, b, "--format", "csv")))
    assert [*first] == [*rows(a, b)[0]]
    assert float(first["difference"]) == rows(a, b)[0]["difference"] == 0.5


def test_show_lists_the_documents_that_changed_sides(rows, compare, write):
    a = write("a.jsonl", lines([RIGHT, RIGHT, FLEXIBLE, NONE]))
    b = write("b.jsonl", lines([RIGHT, WRONG, WRONG, RIGHT]))
    found = rows(a, b, "--show", "tot_arithmetic", "--metrics", "flexible")
    one, two = ('{"answer": "1"}', '{"answer": "2"}')
    assert [[*row.values()][3:4] + [*row.values()][5:] for row in found] == [
        [1, 1, 0, "right", "other_value", one, two, one],
        [2, 1, 0, "flexible_only", "other_value", one, two, one],
        [3, 0, 1, "no_answer", "right", None, one, one],
    ]
    text = compare(a, b, "--show", "tot_arithmetic")
    assert len(text.splitlines()) == 4 + 2 + 3 + 1
    assert "no document changed sides" in compare(
        f"a={a}", f"b={a}", "--show", "tot_arithmetic"
    )


def test_a_document_without_an_id_is_shown_by_its_hash(rows, compare, write):
    answers = [lines([x]) for x in (RIGHT, WRONG)]
    for (answer,) in answers:
        del answer["doc_id"]
    paths = [write(f"{n}.jsonl", x) for n, x in enumerate(answers)]
    (found,) = rows(*paths, "--show", "tot_arithmetic", "--metrics", "published")
    assert found["doc_hash"][:12] in compare(*paths, "--show", "tot_arithmetic")


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
@pytest.mark.parametrize("show", [[], ["--show", "tot_arithmetic"]])
def test_what_models_and_files_hold_is_escaped(compare, write, form, show):
    odd = "\x1b[31m|\ud800\r\n\u202e<b>`" + "x" * 500_000
    a = lines([json.dumps({"answer": odd}), NONE])
    for n, answer in enumerate(a):
        answer["doc_id"] = f"{odd[:20]}{n}"
        answer["doc"] = answer["doc"] | {"question_type": odd}
    b = [answer | {"response": RIGHT} for answer in a]
    paths = write("a.jsonl", a), f"x|\x1b[1m={write('b.jsonl', b)}"
    text = compare(*paths, *show, "--format", form)
    text.encode("utf-8")
    assert len(text) < 20_000
    if form == "markdown":
        assert all(x.isprintable() or x == "\n" for x in text)
        tables = [x.replace("\\|", "") for x in text.splitlines() if x.startswith("|")]
        assert len({line.count("|") for line in tables}) == 1


# ---------------------------------------------------------------- what cannot be told


def test_runs_over_different_documents_are_refused_by_name(compare, rows, write):
    a, b = lines([RIGHT] * 5), lines([WRONG] * 5)
    b[3]["doc"] = doc(30)
    a, b = write("a.jsonl", a), write("b.jsonl", b[1:])
    said = compare(a, b, status=1).splitlines()
    assert [line.partition(" documents: ")[0] for line in said[:2]] == [
        "tot_arithmetic: a has no answer to 1 of 6",
        "tot_arithmetic: b has no answer to 2 of 6",
    ]
    assert said[0].count("(") == 1 and " 3 (" in said[0]
    assert said[1].count("(") == 2 and " 0 (" in said[1] and " 3 (" in said[1]
    assert len(said) == 3 and "--common" in said[2]
    assert [row["n"] for row in rows(a, b, "--common")] == [3] * 3
    compare(a, b, "--common")
    assert compare.said.err.splitlines() == said[:2]


@pytest.mark.parametrize("ids", [(False, False), (False, True), (True, True)], ids=str)
def test_which_copy_has_no_partner_is_told_by_ids_alone(
    compare, rows, write, repeated, ids
):
    """Else the worse ones would be compared, or the first ones."""
    repeated(doc(1), 3)
    a, b = lines([RIGHT, WRONG, RIGHT, NONE]), lines([WRONG, RIGHT, RIGHT, NONE])[1:]
    for answers, has_ids in zip((a, b), ids):
        for answer in answers:
            answer["doc"] = doc(2 if answer["doc_id"] == 3 else 1)
            answer["doc_id"] = answer["doc_id"] if has_ids else None
    paths = write("a.jsonl", a), write("b.jsonl", b)
    said = compare(*paths, status=1).splitlines()
    (row,) = rows(*paths, "--common", "--metrics", "published")
    if all(ids):
        assert said[0].startswith("tot_arithmetic: b has no answer to 1 of 4 documents")
        assert (row["n"], row["a"], row["b"]) == (3, 1 / 3, 2 / 3)
    else:
        fewer = "tot_arithmetic: b has fewer answers than others to 3 of 4 documents: "
        assert said[0].startswith(fewer)
        assert (row["n"], row["a"], row["b"]) == (1, 0, 0)


def test_the_same_answers_to_some_rows_of_a_benchmark_that_repeats_rows_do_not_differ(
    shared, rows, write
):
    path = shared / "timebench" / "menatqa_scope_timebench.jsonl"
    upstream = [json.loads(x) for x in path.open(encoding="utf-8")]
    task, draw = "timebench_menatqa_scope", random.Random(1)
    every = [
        {"task": task, "doc": document, "response": draw.choice([gold, "no idea"])}
        for document, gold in (
            (x, f"Thus, the correct answer is: {x['golds'][0]}")
            for x in documents_of(task, upstream)
        )
    ]
    part = [answer for n, answer in enumerate(every) if n % 3]
    paths = write("a.jsonl", every), write("b.jsonl", part)
    for row in rows(*paths, "--common"):
        assert (row["difference"], row["p"], row["a_better"]) == (0, 1, 0)
        assert row["n"] > 200
    numbered = [[answer | {"doc_id": n} for n, answer in enumerate(every)]]
    numbered.append([answer for answer in numbered[0] if answer["doc_id"] % 3])
    paths = [write(f"{n}.jsonl", x) for n, x in enumerate(numbered)]
    for row in rows(*paths, "--common"):
        assert (row["n"], row["difference"], row["p"]) == (len(part), 0, 1)


@pytest.mark.parametrize("common", [[], ["--common"]], ids=["all", "common"])
def test_several_answers_to_a_document_without_ids_are_refused(compare, write, common):
    a = [{**answer, "doc_id": None} for answer in lines([RIGHT, WRONG])]
    paths = write("a.jsonl", a), write("b.jsonl", [*a, a[1] | {"response": RIGHT}])
    (said,) = compare(*paths, *common, status=1).splitlines()
    assert "b.jsonl, line 3: is a second answer to document " in said
    assert said.endswith(" of tot_arithmetic; keep one")


def test_a_task_that_one_run_lacks_is_named(compare, rows, write):
    a, everything = write("a.jsonl", lines([RIGHT])), f"b={EXAMPLES / 'responses'}"
    assert "tcp_long: a has no answer to 8 of 8" in compare(
        a, everything, *PACK, status=1
    )
    said = compare(a, everything, *PACK, "--common", status=1)
    assert said == "a, b: have no document in common\n"
    some = f"a={EXAMPLES / 'responses' / 'tcp_long.jsonl'}"
    found = rows(some, everything, *PACK, "--common")
    assert {row["task"] for row in found} == {"tcp_long"}


def test_of_many_missing_documents_some_are_named_and_all_are_counted(compare, write):
    a, b = write("a.jsonl", lines([RIGHT] * 90)), write("b.jsonl", lines([RIGHT] * 2))
    said = compare(a, b, status=1)
    assert "b has no answer to 88 of 90 documents: 2 (" in said
    assert said.count("(") == 10 and len(said) < 500


def test_every_line_that_cannot_be_scored_is_named(compare, write):
    a, b = lines([RIGHT] * 4), lines([RIGHT] * 4)
    b[1]["response"] = 7
    b[2]["doc_id"] = 3
    paths = write("a.jsonl", a), write("b.jsonl", b)
    said = compare(*paths, "--common", status=1).splitlines()
    assert len(said) == 2
    assert "b.jsonl, line 2: " in said[0] and "fix the line" in said[0]
    assert "b.jsonl, line 4: is a second answer to document 3" in said[1]
    paths = paths[0], write("b.jsonl", lines([None] * 25))
    said = compare(*paths, status=1).splitlines()
    assert len(said) == 11 and said[-1] == "b: 15 more lines were refused"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["a"], "is the only run"),
        (
            ["a", "b", "--metrics", "bleu"],
            "choose from headline, all, published, acc",
        ),
        (["a", "b", "--show", "tcp_long"], "was not run; choose from tot_arithmetic"),
        (["a", "a"], "called 'a'"),
        (["a", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
        (["a", "empty"], "has no answers"),
        (["a", "foreign"], "line 1"),
        (["a", "cut"], "line 2"),
    ],
)
def test_a_command_that_cannot_be_done_ends_in_one_line(
    compare, write, tmp_path, arguments, expected
):
    files = {name: lines([RIGHT]) for name in "ab"} | {"empty": []}
    paths = {name: write(f"{name}.jsonl", x) for name, x in files.items()}
    paths |= {name: str(tmp_path / name) for name in ("foreign", "cut")}
    (tmp_path / "foreign").write_bytes(b"\x7fELF\x00\xff\n")
    (tmp_path / "cut").write_text(json.dumps(lines([RIGHT])[0]) + '\n{"task": "tot_a')
    said = compare(*(paths.get(x, x) for x in arguments), status=1)
    assert expected in said and said.count("\n") == 1 and "Traceback" not in said


def test_other_versions_are_said(compare, write, tmp_path):
    ours = str(scorer("tot_arithmetic").version)
    for run, version in {"old": "0.9", "new": ours}.items():
        write(f"{run}/samples_tot_arithmetic_{STAMP}.jsonl", lines([RIGHT, NONE]))
        # Another task of the folder was run before, with this one in another version.
        write(f"{run}/samples_tcp_long_2020-01-01T10-00-00.jsonl", [])
        for stamp, said in {STAMP: version, "2020-01-01T10-00-00": "0.1"}.items():
            results = {"versions": {"tot_arithmetic": said}, "model_name": run}
            (tmp_path / run / f"results_{stamp}.json").write_text(json.dumps(results))
    compare(tmp_path / "new", f"again={tmp_path / 'new'}")
    assert compare.said.err == ""
    compare(tmp_path / "old", tmp_path / "new")
    (said,) = compare.said.err.splitlines()
    assert said.startswith("tot_arithmetic: was run in other versions (")
    assert f"old 0.9, new {ours}" in said


def test_repeats_under_other_ids_are_said(compare, write):
    answers = lines([RIGHT, NONE, RIGHT])
    answers[2]["doc"] = answers[0]["doc"]
    compare(write("a.jsonl", answers), write("b.jsonl", answers))
    assert compare.said.err.splitlines() == [
        f"tot_arithmetic: 1 of 3 answers of {run} are to repeats, under other ids, which"
        " the benchmark does not have"
        for run in "ab"
    ]


def test_answers_that_say_nothing_are_counted(compare, write):
    a = write("a.jsonl", lines([NONE] * 3, finish_reason="length"))
    b = write("b.jsonl", lines([RIGHT] * 3))
    compare(a, b)
    assert compare.said.err == (
        "tot_arithmetic: 3 of 3 answers of a are invalid: the token limit ended the"
        " response\n"
    )


def test_the_example_of_the_help_runs(compare, monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)
    _, _, example = tool.__doc__.partition("temporal-eval compare a=")
    arguments = f"a={example}".replace("\\\n", " ").split()
    assert "| tcp_long | " in compare(*arguments)
