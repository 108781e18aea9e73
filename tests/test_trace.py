"""How far answers travel: the files and functions of the pack that `score` calls."""

import inspect
import json
import sys
from collections import Counter
from pathlib import Path

from tests.answers import here, write
from tests.conftest import ROOT, run_python
from tests.documents import LONG
from utils.__main__ import main
from utils.verdicts import isolate, tables


DOC = LONG | {"dialogue": ["Ann needs a day."]}
ANSWER = {"task": "tcp_long", "doc": DOC, "response": "So it is \\boxed{2012-11-05}"}
# Files and functions, at most: of the call that scores one answer, and of one more answer.
MOST = {"whole": (16, 110), "more": (7, 43)}


def trace(folder: Path, answers: int) -> Counter[tuple[str, str, int]]:
    """Return how often `score` calls each function for answers to so many documents."""
    calls: Counter[tuple[str, str, int]] = Counter()

    def note(frame, event, _) -> None:
        code = frame.f_code
        name = code.co_filename.removeprefix(f"{ROOT}/")
        is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name[0] != "<"
        is_ours = name.startswith(("utils/", "lm_eval_tasks/"))
        if event == "call" and is_function and is_ours:
            calls[name, code.co_name, code.co_firstlineno] += 1

    docs = (DOC | {"question": f"{answers} {number}?"} for number in range(answers))
    path = write(folder / f"{answers}.jsonl", *(ANSWER | {"doc": doc} for doc in docs))
    sys.setprofile(note)
    try:
        assert main(["score", str(path), "--output", str(folder / "out")]) == 0
    finally:
        sys.setprofile(None)
    return calls


def test_an_answer_passes_through_few_files_and_functions(tmp_path):
    # In a new process, for what one keeps is not called again.
    process = run_python("-m", "tests.test_trace", tmp_path, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    for call, functions in json.loads(process.stdout.splitlines()[-1]).items():
        files, (most_files, most) = {file for file, *_ in functions}, MOST[call]
        assert "lm_eval_tasks/tcp/utils.py" in files
        assert len(files) <= most_files and len(functions) <= most, functions


if __name__ == "__main__":
    # In this process, to see what the one of the file does.
    tables.each_apart, isolate.allow_seconds = here, lambda _: None
    whole, *others = (trace(Path(sys.argv[1]), answers) for answers in (1, 2, 3))
    print(json.dumps({"whole": [*whole], "more": [*(others[1] - others[0])]}))
