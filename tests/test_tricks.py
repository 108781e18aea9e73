"""Whatever a submission does, it is told or left out, and no honest one pays for it."""

import gzip
import html
import json
import os
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.answers import write
from tests.conftest import EXAMPLES, ROOT
from tests.logs import sample
from utils.__main__ import main
from utils.core.documents import documents, load
from utils.core.files import read_jsonl
from utils.core.task_scorers import configuration, prompt, scorer
from utils.figures.score_rows import RULES


pytestmark = pytest.mark.usefixtures("judged_here")

TASKS = ["tcp_long", "tcp_short"]
STAMPS = ["2026-01-01T00-00-00", "2026-01-02T00-00-00"]
LONG = {"long": "A, B, C, " * 13_333 + "end", "key": "A, B, C, " * 29 + "end"}
TRICKS = read_jsonl(ROOT / "tests" / "tricks.jsonl")


def answers(task: str, model: str = "careful") -> list[dict]:
    """Return the hand-made answers of a model to a task."""
    return read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")


def filled(template: object, **cells: object) -> object:
    """Return JSON with cells in its texts; other braces stay."""
    text = json.dumps(template)
    for name, cell in cells.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", json.dumps(str(cell))[1:-1])
    return json.loads(text)


@cache
def build_task(task: str) -> Any:
    """Return a task of the examples as the harness builds it."""
    return load([task], EXAMPLES)[1]["tasks"][task]


def lines(task: str, model: str, edit: dict) -> list[dict]:
    """Return the samples of an imagined model, as the harness logs them, with an edit."""
    count, samples = edit.get("keep", 8 * edit.get("repeat", 1)), []
    rows = [*zip(documents(task, EXAMPLES), answers(task, model), answers(task))]
    for number, (row, answered, careful) in enumerate((rows * 3)[:count]):
        cells = {} if number % 8 < edit.get("from", 0) else edit
        gold, answer = scorer(task).utils.gold_response(row), row.get("answer")
        doc = row | filled(cells.get("doc", {}), answer=answer)
        shown_doc = doc if cells.get("own_prompt") else row
        asked = prompt(task, shown_doc)
        if "shots" in cells:
            asked = build_task(task).fewshot_context(shown_doc, cells["shots"])
        texts = {"gold": gold, "pad": "x" * 3000, "json": json.dumps(asked), **LONG}
        texts |= {"prompt": asked, "blanks": " " * (sum(map(ord, gold)) % 50)}
        asked = filled(cells.get("prompt", "{prompt}"), **texts)
        response = cells.get("response", answered["response"])
        response = filled(response, careful=careful["response"], answer=answer)
        line = sample(number, doc, asked, response)
        settings = configuration(task)["generation_kwargs"]
        settings = settings | filled(cells.get("asked_with", {}), answer=gold)
        line["arguments"]["gen_args_0"]["arg_1"] = settings
        line["arguments"] |= filled(cells.get("asked_too", {}), answer=gold)
        samples.append(line | filled(cells.get("set", {}), answer=answer))
    return samples


def submission(folder: Path, model: str, edit: dict, number: int = 0) -> None:
    """Write the samples and the results of a run of the harness."""
    tasks, stamp = edit.get("tasks", TASKS), STAMPS[number]
    for task in tasks:
        path = folder / f"samples_{task}_{stamp}.jsonl"
        samples = lines(task, model, edit)
        if second := edit.get("append_filter"):
            samples += [x | {"filter": "b"} for x in lines(task, model, second)]
        write(path, *samples, *edit.get("append", []))
    settings = configuration(tasks[0])["generation_kwargs"]
    by_task = {"n-shot": 0, "versions": scorer(tasks[0]).version}
    by_task |= {"configs": {"generation_kwargs": settings}} | edit.get("by_task", {})
    results = {key: dict.fromkeys(tasks, claim) for key, claim in by_task.items()}
    name = filled(edit.get("name", f"org/{folder.name}"), pad="x" * 10**5)
    results |= {"model_name": name, "date": 1_700_000_000, "lm_eval_version": "0.4.13"}
    results |= {"config": {"limit": None}, "chat_template": None}
    if not edit.get("no_results"):
        results |= filled(edit.get("results", {}), **LONG)
        write(folder / f"results_{stamp}.json", results)


@pytest.fixture
def board(tmp_path, capsys):
    """Make a board of two honest models and what a function puts into a folder.

    What the function returns are further arguments.
    """

    def board(put) -> tuple[dict[str, dict], str, str]:
        folder, pack = tmp_path / "runs", ["--include_path", str(EXAMPLES)]
        for model in ("careful", "hasty"):
            submission(folder / model, model, {})
        arguments = [str(folder), *(put(folder) or [])]
        path, page = tmp_path / "board.json", tmp_path / "board.html"
        outputs = ["--json", str(path), "--html", str(page)]
        main(["leaderboard", *arguments, *pack, *outputs])
        rows = [row for row in json.loads(path.read_text()) if row["scope"] == "tcp"]
        rows_by_model = {row["model"]: row for row in rows}
        assert len(rows_by_model) == len(rows)  # a name is one row's
        return rows_by_model, capsys.readouterr().err, html.unescape(page.read_text())

    return board


def assert_honest(rows: list[dict]) -> None:
    """Two honest models stand in their order, as if there were no other submission."""
    assert [row["status"] for row in rows] == ["verified"] * 2
    assert all((row["remarks"] or "").isascii() for row in rows)
    for rule in RULES:
        ranks = [int(row[f"{rule}_rank"].partition("-")[0]) for row in rows]
        assert ranks == sorted(ranks)


def play(folder: Path, edit: dict) -> list[str]:
    """Write the submissions of a trick, in folders whose names begin with this one's.

    Return the arguments that it is given by, beside the folder of all.
    """
    for copy in range(edit.get("copies", 1)):
        place = folder.with_name(f"{folder.name}-{copy}")
        if other := edit.get("link"):
            place.mkdir()
            for path in folder.with_name(other).iterdir():
                (place / path.name).symlink_to(path)
        elif not edit.get("no_samples"):
            submission(place, "plain", edit)
        if "later" in edit:
            submission(place, "plain", {"tasks": ["tcp_long"]} | edit["later"], 1)
        for name, size in edit.get("sizes", {}).items():  # of files full of zeros
            place.mkdir(exist_ok=True)
            (place / name).touch()
            os.truncate(place / name, size)
    for link, target in edit.get("links", {}).items():
        (folder.parent / link).symlink_to(target)
    empty_folder = folder.parent.with_name("empty")
    empty_folder.mkdir(exist_ok=True)
    return filled(edit.get("arguments", []), empty=empty_folder)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[list[dict], dict[str, list[str]]]:
    """The rows of a board of the two honest models, and what its page says of them."""
    folder = tmp_path_factory.mktemp("alone")
    for model in ("careful", "hasty"):
        submission(folder / "runs" / model, model, {})
    path, page = folder / "board.json", folder / "board.html"
    outputs = ["--json", str(path), "--html", str(page)]
    pack = ["--include_path", str(EXAMPLES)]
    main(["leaderboard", str(folder / "runs"), *pack, *outputs])
    rows = [row for row in json.loads(path.read_text()) if row["scope"] == "tcp"]
    return rows, said_of_honest(html.unescape(page.read_text()))


def said_of_honest(page: str) -> dict[str, list[str]]:
    """Return model -> the rows of tables that a page has of it, with what pictures are called.

    Cells of reasons that the model lacks stand there for others.
    """
    rows_by_model: dict[str, list[str]] = {"org/careful": [], "org/hasty": []}
    for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL):
        titles = re.findall(r'(?:title|aria-label)="([^"]*)"', row)
        if model := next((x for x in titles if x in rows_by_model), None):
            words = re.sub(r"<[^>]*>", " ", row).split()
            said = [*titles, *(word for word in words if word != "0.0")]
            rows_by_model[model].append(" ".join(said))
    return rows_by_model


def without_names(row: dict) -> dict:
    """Return a row without what names of others may change in it."""
    return {column: row[column] for column in row if column not in ("model", "remarks")}


# Tricks that are verified may be ranked with the honest ones; the others change no figure.
APART = [edit for edit in TRICKS if edit.get("status") != "verified"]
GROUPS = [APART[n::2] for n in range(2)]
RANKED = [edit for edit in TRICKS if edit not in APART]
GROUPS += [RANKED[n::4] for n in range(4)]


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_tricks_are_told_and_cost_no_other(number, board, alone, monkeypatch):
    edits = {f"trick{n}": edit for n, edit in enumerate(GROUPS[number])}

    def put(folder: Path) -> list[str]:
        monkeypatch.chdir(folder)
        return [
            arg for name, edit in edits.items() for arg in play(folder / name, edit)
        ]

    rows, messages, page = board(put)
    honest = [
        next(rows.pop(model) for model in [*rows] if model.endswith(names))
        for names in (("org/careful", "runs/careful)"), "org/hasty")
    ]
    assert_honest(honest)
    if GROUPS[number][0] in APART:
        rows_alone, said_alone = alone
        assert [*map(without_names, honest)] == [*map(without_names, rows_alone)]
        assert said_of_honest(page) == said_alone
        assert all(len(said) > 2 for said in said_alone.values())
    for name, edit in edits.items():
        model = filled(edit.get("name", f"org/{name}-"), pad="x" * 99)[:99]
        tricks = [rows[x] for x in rows if x.startswith((model, f"{name}-"))]
        assert bool(tricks) == ("status" in edit), edit
        for row in tricks:
            assert row["status"] == edit["status"], edit
            assert edit.get("says", "") in (row["remarks"] or ""), edit
            assert row["published"] == edit.get("published", row["published"]), edit
        assert edit.get("left_out", "") in messages, edit
        assert edit.get("card", "") in page, edit


ODD_FILTER = {"set": {"filter": {"a": [1]}}}
BAD = {  # what stands in the place of samples -> why it is left out
    "holes": (lambda x: (x.touch(), os.truncate(x, 2**29)), "nearly all holes"),
    "many links": (
        lambda x: [
            x.with_name(f"{x.stem}.{n:06}.jsonl").symlink_to("nowhere") for n in range(99)
        ],
        "and 79 more in its folder",
    ),
    "garbage": (lambda x: x.write_bytes(b"\x00\xff garbage\n"), "is not UTF-8"),
    "empty": (lambda x: x.write_bytes(b""), "has no answer"),
    "gzip": (lambda x: x.write_bytes(gzip.compress(bytes(range(256)))[:99]), "cut off"),
    "bomb": (lambda x: x.write_bytes(gzip.compress(bytes(2**24 + 1), 1)), "16 MiB"),
    "long": (lambda x: (x.touch(), os.truncate(x, 10**8)), "is longer than 16 MiB"),
    "nested": (lambda x: x.write_text("[" * 10**5 + "\n"), "too deeply"),
    "folder": (lambda x: x.mkdir(), "is a folder"),
    "pipe": (lambda x: os.mkfifo(x), "is a pipe or a device"),
    "link": (lambda x: x.symlink_to("nowhere"), "is a link"),
    "device": (lambda x: x.symlink_to("/dev/zero"), "is a link"),
    "linked": (lambda x: (x.parent.rmdir(), x.parent.symlink_to("hasty")), "is a link"),
    "flat": (lambda x: x.with_name("a.jsonl").symlink_to(x.parents[1] / "hasty"), "is a link"),
    "deep": (lambda x: os.makedirs(x.parent / "/".join("d" * 30)), "more than 20 deep"),
    "alone": (lambda x: write(x.with_name(f"results_{STAMPS[0]}.json"), {}), "without samples"),
    "filter": (lambda x: write(x, *lines("tcp_long", "plain", ODD_FILTER)), "'filter' is a dict"),
    # In the place of results.
    "results0": (lambda x: x.write_text("[1]"), "is not a results file (is not a JSON object)"),
    "results1": (lambda x: x.write_text("[" * 10**5), "is not a results file (is nested too"),
    "results2": (lambda x: x.write_text("{"), "is not a results file"),
    "results3": (lambda x: x.write_text("\x00"), "is not a results file"),
    "results4": (os.mkfifo, "is a pipe"),
    "results5": (os.mkdir, "is a folder"),
    "results6": (lambda x: x.symlink_to("/dev/zero"), "is a link"),
    "results7": (lambda x: x.write_text(f"[{'9' * 5000}]"), "file (has a number of too many digits); "),
}  # fmt: skip


@pytest.mark.usefixtures("judged_apart")
def test_bad_submissions_are_left_out_alone(board):
    def put(folder: Path) -> None:
        for name, (spoil, _) in BAD.items():
            (folder / name).mkdir()
            bad_file = f"samples_tcp_long_{STAMPS[0]}.jsonl"
            if name.startswith("results"):
                submission(folder / name, "plain", {"no_results": True})
                bad_file = f"results_{STAMPS[0]}.json"
            spoil(folder / name / bad_file)

    rows, messages, _ = board(put)
    assert {*rows} == {"org/careful", "org/hasty"}
    assert_honest([rows["org/careful"], rows["org/hasty"]])
    left_out = [line for line in messages.splitlines() if "left out" in line]
    for name, (_, reason) in BAD.items():
        assert any(f"/{name}" in line and reason in line for line in left_out), name


def test_two_rows_that_claim_one_name_and_share_no_task_can_be_joined(board):
    def put(folder: Path) -> None:
        for place, task in (("a", "tcp_long"), ("b", "tot_arithmetic")):
            submission(folder / place, "plain", {"tasks": [task], "name": "org/one"})

    _, messages, _ = board(put)
    assert "org/one: 2 rows claim this name; org/one=/" in messages
    assert "2 rows claim this name; org/careful" not in messages


def test_rows_that_claim_one_name_and_answer_one_task_are_not_joined(board):
    def put(folder: Path) -> None:
        for place in "ab":
            submission(folder / place, "plain", {"name": "org/one"})

    rows, messages, _ = board(put)
    assert "rows claim this name" not in messages
    assert len([name for name in rows if name.startswith("org/one (")]) == 2


def test_what_a_board_says_to_type_is_safe_in_a_shell(board):
    def put(folder: Path) -> None:
        for place, task in (("a", "tcp_long"), ("b", "tot_arithmetic")):
            edit = {"tasks": [task], "name": "m'$(touch x)'"}
            submission(folder / place, "plain", edit)

    _, messages, _ = board(put)
    [hint] = [line for line in messages.splitlines() if "rows claim this name" in line]
    words = shlex.split(hint.partition("name; ")[2])
    assert [word.partition("=")[0] for word in words[:2]] == ["m'$(touch x)'"] * 2
