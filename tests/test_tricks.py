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
from utils.__main__ import main
from utils.core.documents import documents, load
from utils.core.families import configuration, scorer
from utils.core.jsonl import read_jsonl
from utils.score.rows import RULES
from utils.verdicts.answers import document_text, sha256


TASKS = ["tcp_long", "tcp_short"]
STAMPS = ["2026-01-01T00-00-00", "2026-01-02T00-00-00"]
TRICKS = read_jsonl(ROOT / "tests" / "tricks.jsonl")
# Keys of results that hold a value for each task, and what stands around the value.
BY_TASK = {
    "n-shot": lambda value: value,
    "versions": lambda value: value,
    "results": lambda value: {"accuracy,none": value},
    "configs": lambda value: {"generation_kwargs": value},
}


def answers(task: str, model: str = "careful") -> list[dict]:
    """Return the hand-made answers of a model to a task."""
    return read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")


def filled(text: str, **cells: object) -> str:
    """Return a text with cells in it; other braces stay."""
    for name, value in cells.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def changed(value: object, answer: str) -> object:
    """Return a value with the answer in its texts."""
    if isinstance(value, dict):
        return {name: changed(x, answer) for name, x in value.items()}
    if isinstance(value, list):
        return [changed(x, answer) for x in value]
    return filled(value, answer=answer) if isinstance(value, str) else value


@cache
def built(task: str):
    """Return a task as the harness builds it."""
    return load([task], EXAMPLES)[1]["tasks"][task]


def lines(task: str, model: str, edit: dict) -> list[dict]:
    """Return the samples of an imagined model, as the harness logs them, with an edit."""
    said = [[x["response"] for x in answers(task, y)] for y in (model, "careful")]
    found = []
    docs = documents(task, EXAMPLES)
    for n in range(edit.get("keep", len(docs) * edit.get("repeat", 1))):
        doc, at = docs[n % len(docs)], n % len(docs)
        own = {} if at < edit.get("from", 0) else edit
        gold = scorer(task).utils.gold_response(doc)
        cells = changed(own.get("doc", {}), doc.get("answer"))
        seen = doc | cells if own.get("own_prompt") else doc
        asked = built(task).fewshot_context(seen, num_fewshot=own.get("shots", 0))
        told = {"gold": gold, "pad": "x" * 3000, "json": json.dumps(asked)}
        told["blanks"] = " " * (sum(map(ord, gold)) % 50)
        asked = filled(own.get("prompt", "{prompt}"), prompt=asked, **told)
        given = {"careful": said[1][at], "answer": doc.get("answer")}
        response = filled(own.get("response", said[0][at]), **given)
        doc = doc | cells
        line = {"doc_id": n, "doc": doc, "target": "", "filter": "none"}
        settings = configuration(task)["generation_kwargs"]
        settings = settings | changed(own.get("asked_with", {}), gold)
        line |= {"arguments": {"gen_args_0": {"arg_0": asked, "arg_1": settings}}}
        line["arguments"] |= changed(own.get("asked_too", {}), gold)
        line |= {"resps": [[response]], "filtered_resps": [response]}
        line |= {"doc_hash": sha256(document_text(doc)), "prompt_hash": sha256(asked)}
        line |= {"target_hash": sha256("")}
        found.append(line | changed(own.get("set", {}), doc.get("answer")))
    return found


def submission(folder: Path, model: str, edit: dict, number: int = 0) -> None:
    """Write the samples and the results of a run of the harness."""
    tasks, stamp = edit.get("tasks", TASKS), STAMPS[number]
    for task in tasks:
        path = folder / f"samples_{task}_{stamp}.jsonl"
        write(path, *lines(task, model, edit))
        if second := edit.get("append_filter"):
            both = lines(task, model, edit), lines(task, model, second)
            write(path, *both[0], *(line | {"filter": "b"} for line in both[1]))
        if more := edit.get("append"):
            path.write_text(path.read_text() + more)
    told = {
        "model_name": filled(edit.get("name", f"org/{folder.name}"), pad="x" * 10**5),
        "date": 1_700_000_000,
    }
    told |= {"lm_eval_version": "0.4.13", "config": {"limit": None}}
    told |= {"chat_template": None}
    given = {"n-shot": 0, "task": {}, **edit.get("results", {})}
    told |= {"versions": {task: scorer(task).version for task in tasks}}
    own = {task: configuration(task)["generation_kwargs"] for task in tasks}
    told["configs"] = {task: {"generation_kwargs": own[task]} for task in tasks}
    of_task = given.pop("task")
    for task in tasks:
        told["configs"][task] |= of_task
    for key, value in given.items():
        if key == "configs" and isinstance(value, dict):
            value = own[tasks[0]] | value
        is_odd = key == "configs" and not isinstance(value, dict)
        by_task = BY_TASK.get(key) if not is_odd else None
        told[key] = {task: by_task(value) for task in tasks} if by_task else value
    if not edit.get("no_results"):
        write(folder / f"results_{stamp}.json", told)


@pytest.fixture
def board(tmp_path, capsys):
    """Make a board of two honest models and what a function puts into a folder."""

    def board(put) -> tuple[dict[str, dict], str, str]:
        for model in ("careful", "hasty"):
            submission(tmp_path / "runs" / model, model, {})
        put(tmp_path / "runs")
        path = tmp_path / "board.json"
        folder, pack = str(tmp_path / "runs"), ["--include_path", str(EXAMPLES)]
        page = tmp_path / "board.html"
        main(["leaderboard", folder, *pack, "--json", str(path), "--html", str(page)])
        rows = [x for x in json.loads(path.read_text()) if x["scope"] == "tcp"]
        said = capsys.readouterr().err
        return (
            {row["model"]: row for row in rows},
            said,
            html.unescape(page.read_text()),
        )

    return board


def is_honest(row: dict) -> bool:
    """Whether a row stands as if there were no other submission."""
    return row["status"] == "verified" and row["published_rank"] is not None


def by_rank(row: dict) -> list[int]:
    """Return by what models of a benchmark stand in their order."""
    return [int(row[f"{rule}_rank"].partition("-")[0]) for rule in RULES]


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

    rows, said, page = board(put)
    names = ("org/careful", "runs/careful)", "org/hasty")
    honest = [row for name, row in rows.items() if name.endswith(names)]
    assert len(honest) == 2 and all(map(is_honest, honest))
    assert [*map(honest.index, sorted(honest, key=by_rank))] == [0, 1]
    for name, edit in edits.items():
        model = filled(edit.get("name", f"org/{name}-"), pad="x" * 99)[:99]
        others = [row for row in rows.values() if row not in honest]
        tricks = [x for x in others if x["model"].startswith((model, f"{name}-"))]
        assert bool(tricks) == ("status" in edit), edit
        for row in tricks:
            assert row["status"] == edit["status"], edit
            assert edit.get("says", "") in (row["remarks"] or ""), edit
            assert row["published"] == edit.get("published", row["published"]), edit
        assert edit.get("left_out", "") in said, edit
        assert edit.get("card", "") in page, edit


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
}  # fmt: skip
RESULTS = [  # what stands in the place of results
    *(lambda x, y=y: x.write_text(y) for y in ("[1]", "[" * 10**5, "{", "\x00")),
    *(os.mkfifo, os.mkdir, lambda x: x.symlink_to("/dev/zero")),
]


def test_bad_submissions_are_left_out_alone(board):
    def put(folder: Path) -> None:
        for name, (spoil, _) in BAD.items():
            (folder / name).mkdir()
            spoil(folder / name / f"samples_tcp_long_{STAMPS[0]}.jsonl")
        for number, spoil in enumerate(RESULTS):
            submission(folder / f"bad{number}", "plain", {"no_results": True})
            spoil(folder / f"bad{number}" / f"results_{STAMPS[0]}.json")

    rows, said, _ = board(put)
    assert {*rows} == {"org/careful", "org/hasty"} and all(
        map(is_honest, rows.values())
    )
    left_out = [line for line in said.splitlines() if "left out" in line]
    for name, (_, why) in BAD.items():
        assert any(f"/{name}" in line and why in line for line in left_out), name
    for number in range(len(RESULTS)):
        texts = "is not a results file", "is a pipe", "is a folder", "is a link"
        of_folder = [line for line in left_out if f"/bad{number}/" in line]
        assert any(text in line for line in of_folder for text in texts), number


def test_files_and_folders_that_do_not_count_are_named(board):
    name = f"samples_tcp_long_{STAMPS[0]}.jsonl"

    def put(folder: Path) -> None:
        submission(folder / "bad", "plain", {})
        odd = [line | {"filter": {"a": [1]}} for line in lines("tcp_long", "plain", {})]
        write(folder / "bad" / name, *odd)
        (folder / "link").symlink_to("careful")
        write(folder / "alone" / f"results_{STAMPS[0]}.json", {})
        for place, task in (("a", "tcp_long"), ("b", "tot_arithmetic")):
            submission(folder / place, "plain", {"tasks": [task], "name": "org/one"})

    rows, said, page = board(put)
    assert f"{name} is left out: line 1: " in rows["org/bad"]["remarks"]
    assert f"bad/{name}" in page
    assert "link: left out: is a link" in said and "results without samples" in said
    # Two rows that claim one name and share no task can be joined.
    assert "org/one: two rows claim this name; 'org/one=" in said
    assert "two rows claim this name; 'org/careful" not in said
