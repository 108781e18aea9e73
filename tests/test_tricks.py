"""Whatever a submission does, it is told or left out, and no honest one pays for it."""

import gzip
import html
import json
import os
from functools import cache
from pathlib import Path

import pytest

from tests.answers import write
from tests.conftest import EXAMPLES, ROOT
from tests.logs import sample
from utils.__main__ import main
from utils.core.documents import documents, load
from utils.core.families import configuration, scorer
from utils.core.files import read_jsonl
from utils.score.rows import RULES


TASKS = ["tcp_long", "tcp_short"]
STAMPS = ["2026-01-01T00-00-00", "2026-01-02T00-00-00"]
TRICKS = read_jsonl(ROOT / "tests" / "tricks.jsonl")


def answers(task: str, model: str = "careful") -> list[dict]:
    """Return the hand-made answers of a model to a task."""
    return read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")


def filled(template: object, **cells: object) -> object:
    """Return JSON with cells in its texts; other braces stay."""
    text = json.dumps(template)
    for name, cell in cells.items():
        text = text.replace(f"{{{name}}}", json.dumps(str(cell))[1:-1])
    return json.loads(text)


@cache
def built(task: str):
    """Return a task as the harness builds it."""
    return load([task], EXAMPLES)[1]["tasks"][task]


def lines(task: str, model: str, edit: dict) -> list[dict]:
    """Return the samples of an imagined model, as the harness logs them, with an edit."""
    docs, samples = documents(task, EXAMPLES), []
    for number in range(edit.get("keep", len(docs) * edit.get("repeat", 1))):
        place = number % len(docs)
        row, cells = docs[place], {} if place < edit.get("from", 0) else edit
        gold, answer = scorer(task).utils.gold_response(row), row.get("answer")
        doc = row | filled(cells.get("doc", {}), answer=answer)
        shown_doc = doc if cells.get("own_prompt") else row
        prompt = built(task).fewshot_context(shown_doc, cells.get("shots", 0))
        blanks = " " * (sum(map(ord, gold)) % 50)
        texts = {"gold": gold, "pad": "x" * 3000, "json": json.dumps(prompt)}
        texts |= {"prompt": prompt, "blanks": blanks}
        prompt = filled(cells.get("prompt", "{prompt}"), **texts)
        careful = answers(task)[place]["response"]
        response = cells.get("response", answers(task, model)[place]["response"])
        response = filled(response, careful=careful, answer=answer)
        line = sample(number, doc, prompt, response)
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
            others = lines(task, model, second)
            samples += [line | {"filter": "b"} for line in others]
        write(path, *samples, *edit.get("append", []))
    if edit.get("no_results"):
        return
    settings = configuration(tasks[0])["generation_kwargs"]
    by_task = {"n-shot": 0, "versions": scorer(tasks[0]).version}
    by_task |= {"configs": {"generation_kwargs": settings}} | edit.get("by_task", {})
    results = {key: dict.fromkeys(tasks, claim) for key, claim in by_task.items()}
    name = filled(edit.get("name", f"org/{folder.name}"), pad="x" * 10**5)
    results |= {"model_name": name, "date": 1_700_000_000, "lm_eval_version": "0.4.13"}
    results |= {"config": {"limit": None}, "chat_template": None}
    write(folder / f"results_{stamp}.json", results | edit.get("results", {}))


@pytest.fixture
def board(tmp_path, capsys):
    """Make a board of two honest models and what a function puts into a folder."""

    def board(put) -> tuple[dict[str, dict], str, str]:
        folder, pack = tmp_path / "runs", ["--include_path", str(EXAMPLES)]
        for model in ("careful", "hasty"):
            submission(folder / model, model, {})
        put(folder)
        path, page = tmp_path / "board.json", tmp_path / "board.html"
        outputs = ["--json", str(path), "--html", str(page)]
        main(["leaderboard", str(folder), *pack, *outputs])
        rows = [row for row in json.loads(path.read_text()) if row["scope"] == "tcp"]
        rows_by_model = {row["model"]: row for row in rows}
        return rows_by_model, capsys.readouterr().err, html.unescape(page.read_text())

    return board


def assert_honest(rows: list[dict]) -> None:
    """Two honest models stand in their order, as if there were no other submission."""
    assert [row["status"] for row in rows] == ["verified"] * 2
    for rule in RULES:
        ranks = [int(row[f"{rule}_rank"].partition("-")[0]) for row in rows]
        assert ranks == sorted(ranks)


def play(folder: Path, edit: dict) -> None:
    """Write the submissions of a trick, in folders whose names begin with this one's."""
    for copy in range(edit.get("copies", 1)):
        place = folder.with_name(f"{folder.name}-{copy}")
        if other := edit.get("link"):
            place.mkdir()
            for path in folder.with_name(other).iterdir():
                (place / path.name).symlink_to(path)
        else:
            submission(place, "plain", edit)
        if "later" in edit:
            submission(place, "plain", {"tasks": ["tcp_long"]} | edit["later"], 1)


BOARDS = 6  # each has some of the tricks


@pytest.mark.parametrize("number", range(BOARDS))
def test_tricks_are_told_and_cost_no_other(number, board):
    edits = {f"trick{n}": edit for n, edit in enumerate(TRICKS[number::BOARDS])}

    def put(folder: Path) -> None:
        for name, edit in edits.items():
            play(folder / name, edit)

    rows, messages, page = board(put)
    honest = [
        next(row for model, row in rows.items() if model.endswith(names))
        for names in (("org/careful", "runs/careful)"), "org/hasty")
    ]
    assert_honest(honest)
    others = [row for row in rows.values() if row not in honest]
    for name, edit in edits.items():
        model = filled(edit.get("name", f"org/{name}-"), pad="x" * 99)[:99]
        tricks = [x for x in others if x["model"].startswith((model, f"{name}-"))]
        assert bool(tricks) == ("status" in edit), edit
        for row in tricks:
            assert row["status"] == edit["status"], edit
            assert edit.get("says", "") in (row["remarks"] or ""), edit
            assert row["published"] == edit.get("published", row["published"]), edit
        assert edit.get("left_out", "") in messages, edit
        assert edit.get("card", "") in page, edit


ODD_FILTER = {"set": {"filter": {"a": [1]}}}
BAD = {  # what stands in the place of samples -> why it is left out
    "garbage": (lambda x: x.write_bytes(b"\x00\xff garbage\n"), "is not UTF-8"),
    "empty": (lambda x: x.write_bytes(b""), "has no answer"),
    "gzip": (lambda x: x.write_bytes(gzip.compress(bytes(range(256)))[:99]), "cut off"),
    "bomb": (lambda x: x.write_bytes(gzip.compress(bytes(2**26 + 1), 1)), "64 MiB"),
    "long": (lambda x: (x.touch(), os.truncate(x, 10**8)), "is longer than 64 MiB"),
    "nested": (lambda x: x.write_text("[" * 10**5 + "\n"), "too deeply"),
    "folder": (lambda x: x.mkdir(), "is a folder"),
    "pipe": (lambda x: os.mkfifo(x), "is a pipe or a device"),
    "link": (lambda x: x.symlink_to("nowhere"), "is a link"),
    "device": (lambda x: x.symlink_to("/dev/zero"), "is a link"),
    "linked": (lambda x: (x.parent.rmdir(), x.parent.symlink_to("hasty")), "is a link"),
    "alone": (lambda x: write(x.with_name(f"results_{STAMPS[0]}.json"), {}), "without samples"),
    "filter": (lambda x: write(x, *lines("tcp_long", "plain", ODD_FILTER)), "'filter' is a dict"),
}  # fmt: skip
BAD_RESULTS = [  # what stands in the place of results, and why they are left out
    *(
        (lambda x, text=text: x.write_text(text), "is not a results file")
        for text in ("[1]", "[" * 10**5, "{", "\x00")
    ),
    *((os.mkfifo, "is a pipe"), (os.mkdir, "is a folder")),
    (lambda x: x.symlink_to("/dev/zero"), "is a link"),
]


def test_bad_submissions_are_left_out_alone(board):
    def put(folder: Path) -> None:
        for name, (spoil, _) in BAD.items():
            (folder / name).mkdir()
            spoil(folder / name / f"samples_tcp_long_{STAMPS[0]}.jsonl")
        for number, (spoil, _) in enumerate(BAD_RESULTS):
            submission(folder / f"results{number}", "plain", {"no_results": True})
            spoil(folder / f"results{number}" / f"results_{STAMPS[0]}.json")

    rows, messages, _ = board(put)
    assert {*rows} == {"org/careful", "org/hasty"}
    assert_honest([rows["org/careful"], rows["org/hasty"]])
    reasons = {name: reason for name, (_, reason) in BAD.items()}
    reasons |= {f"results{n}": reason for n, (_, reason) in enumerate(BAD_RESULTS)}
    left_out = [line for line in messages.splitlines() if "left out" in line]
    for name, reason in reasons.items():
        lines_of_folder = [line for line in left_out if f"/{name}" in line]
        assert any(reason in line for line in lines_of_folder), name


def test_two_rows_that_claim_one_name_and_share_no_task_can_be_joined(board):
    def put(folder: Path) -> None:
        for place, task in (("a", "tcp_long"), ("b", "tot_arithmetic")):
            submission(folder / place, "plain", {"tasks": [task], "name": "org/one"})

    _, messages, _ = board(put)
    assert "org/one: two rows claim this name; 'org/one=" in messages
    assert "two rows claim this name; 'org/careful" not in messages
