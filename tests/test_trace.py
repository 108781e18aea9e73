"""How far answers travel: the files and functions of the pack that `score` calls."""

import inspect
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.answers import here, write
from tests.conftest import ROOT, run_python
from utils.__main__ import main
from utils.verdicts import isolate, tables


DOC = {
    "dialogue": ["Ann needs a day."],
    "question": "When does it end?",
    "answer": "2012-11-05",
    "answer_format": "YYYY-MM-DD",
}
ANSWER = {"task": "tcp_long", "doc": DOC, "response": "So it is \\boxed{2012-11-05}"}
# Files and functions, at most: of the call that scores one answer, and of one more answer.
MOST = {"whole": (16, 139), "more": (8, 49)}


def trace(folder: Path, answers: int) -> Counter[tuple[str, str, int]]:
    """Return how often `score` calls each function for answers to so many documents."""
    calls: Counter[tuple[str, str, int]] = Counter()

    def note(frame, event, _) -> None:
        code = frame.f_code
        path, is_function = Path(code.co_filename), code.co_flags & inspect.CO_OPTIMIZED
        is_named = is_function and not code.co_name.startswith("<")
        if event == "call" and is_named:
            if any(path.is_relative_to(ROOT / x) for x in ("utils", "lm_eval_tasks")):
                name = str(path.relative_to(ROOT))
                calls[name, code.co_name, code.co_firstlineno] += 1

    docs = (DOC | {"question": f"{answers} {number}?"} for number in range(answers))
    path = write(folder / f"{answers}.jsonl", *(ANSWER | {"doc": doc} for doc in docs))
    sys.setprofile(note)
    try:
        assert main(["score", str(path), "--output", str(folder / "out")]) == 0
    finally:
        sys.setprofile(None)
    return calls


@pytest.fixture(scope="module")
def calls(tmp_path_factory) -> dict[str, list[list]]:
    """What is called in a new process, for what one keeps is not called again."""
    folder = tmp_path_factory.mktemp("trace")
    process = run_python("-m", "tests.test_trace", folder, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.parametrize("call", MOST)
def test_an_answer_passes_through_few_files_and_functions(calls, call):
    files = {file for file, *_ in calls[call]}
    assert "lm_eval_tasks/tcp/utils.py" in files
    counts = len(files), len(calls[call])
    print(call, *counts)
    assert all(count <= most for count, most in zip(counts, MOST[call])), calls[call]


if __name__ == "__main__":
    # In this process, to see what the one of the file does.
    tables.each_apart, isolate.allow_seconds = here, lambda _: None
    whole, *others = (trace(Path(sys.argv[1]), answers) for answers in (1, 2, 3))
    more = [
        function for function in others[1] if others[1][function] > others[0][function]
    ]
    print(json.dumps({"whole": [*whole], "more": more}))
