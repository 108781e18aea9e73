"""How far one more answer travels: the files and functions of the pack that it calls."""

import sys
from collections import Counter
from pathlib import Path

from tests.answers import here, write
from tests.conftest import ROOT
from utils.__main__ import main
from utils.verdicts import isolate, tables


DOC = {
    "dialogue": ["Ann needs a day."],
    "question": "When does it end?",
    "answer": "2012-11-05",
    "answer_format": "YYYY-MM-DD",
}
ANSWER = {"task": "tcp_long", "doc": DOC, "response": "So it is \\boxed{2012-11-05}"}


def trace(arguments: list[str]) -> Counter[tuple[str, str]]:
    """Return how often a tool calls each function of the pack: file and name -> count."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame, event, _) -> None:
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_name
        if event == "call" and not name.startswith("<"):
            if any(path.is_relative_to(ROOT / x) for x in ("utils", "lm_eval_tasks")):
                calls[str(path.relative_to(ROOT)), name] += 1

    sys.setprofile(note)
    try:
        assert main(arguments) == 0
    finally:
        sys.setprofile(None)
    return calls


def test_one_more_answer_passes_through_few_files_and_functions(tmp_path, monkeypatch):
    # In this process, to see what the one of the file does.
    monkeypatch.setattr(tables, "each_apart", here)
    monkeypatch.setattr(isolate, "allow_seconds", lambda _: None)  # of it
    calls = []
    for call, count in enumerate((1, 1, 2)):  # the first fills the caches
        docs = (DOC | {"question": f"{call} {n}?"} for n in range(count))
        path = write(tmp_path / "x.jsonl", *(ANSWER | {"doc": doc} for doc in docs))
        calls.append(trace(["score", str(path), "--output", str(tmp_path / "out")]))
    more = [
        function for function in calls[2] if calls[2][function] > calls[1][function]
    ]
    files = {file for file, _ in more}
    assert "lm_eval_tasks/tcp/utils.py" in files
    assert len(files) <= 16 and len(more) <= 110, sorted(more)
    print(len(files), len(more), len({x for x, _ in calls[2]}), len(calls[2]))
