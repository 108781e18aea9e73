"""Break one line after the other, and see whether the tests that guard it notice.

    python -m tests.mutants [WORD ...]

`mutants.jsonl` has one mutant a line: the `rule` that it breaks, its `file` (a pattern may
match several), the `old` text, which stands once in each, and the `new` one, the `tests` that
have to notice, as pytest takes them, and, where none needs to, `survives`, which says why.
Those of the flexible rule name the `sentence` that they take out: `tests.ablation` counts what
it does. WORDs choose those whose file or rule has one. A mutant that `tests/test_cases.py`
guards is loaded beside the family and tried on its cases; others, and those that no case
tells, are made in a copy of the checkout.

Printed are the mutants that survive. Exit status 1: one survives without a reason, an old
text is not found, or tests fail without a mutant. It is run by hand and takes some minutes,
those that cases guard (`python -m tests.mutants lm_eval_tasks`) half a minute.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.conftest import PACK, ROOT
from tests.corpus import FAMILIES, cases, scores_of
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


class Mutant(NamedTuple):
    """A change that some test has to notice."""

    rule: str
    file: str
    old: str
    new: str
    tests: str
    survives: str = ""
    sentence: str = ""

    def files(self, root: Path) -> list[Path]:
        """Return the files of a checkout that it changes."""
        return sorted(root.glob(self.file))


MUTANTS = [Mutant(**row) for row in read_jsonl(Path(__file__).with_suffix(".jsonl"))]


def faults(mutants: list[Mutant]) -> Iterator[str]:
    """Yield which mutants have an old text that is not there once, or are no code."""
    for mutant in mutants:
        texts = [path.read_text(encoding="utf-8") for path in mutant.files(ROOT)]
        fault = None
        if {text.count(mutant.old) for text in texts} != {1}:
            fault = f"{mutant.old!r} does not stand once in each of its files"
        elif mutant.file.endswith(".py"):
            try:
                for text in texts:
                    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")
            except SyntaxError as error:
                fault = f"{mutant.new!r} is no code there ({error})"
        if fault:
            yield f"{mutant.file}: {fault}: write the mutant of '{mutant.rule}' anew"


def families_with(mutants: list[Mutant]) -> dict[str, ModuleType]:
    """Return the modules of the families that mutants change, so changed; of none all."""
    with tempfile.TemporaryDirectory() as folder:
        pack = Path(folder, PACK.name)
        shutil.copytree(PACK, pack, ignore=shutil.ignore_patterns("__pycache__"))
        changed_paths = set()
        for mutant in mutants:
            for path in mutant.files(pack.parent):
                text = path.read_text(encoding="utf-8")
                path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
                changed_paths.add(path)
        paths = {family: pack / family / "utils.py" for family in FAMILIES}
        return {
            family: _load(f"{family}_changed", path)
            for family, path in paths.items()
            if not mutants or {path, pack / "answer.py"} & changed_paths
        }


def _load(name: str, path: Path) -> ModuleType:
    """Return a module of a file; a module of this name is replaced."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_told_by_a_case(mutant: Mutant) -> bool:
    """Tell whether a case that guards a mutant of a family has other scores with it."""
    if not mutant.tests.startswith("tests/test_cases.py"):
        return False
    for family, module in families_with([mutant]).items():
        for case in cases(family):
            explain = getattr(module, scorer(case.task).explain.__name__)
            try:
                scores = explain(case.doc, case.response).scores
            except Exception:  # noqa: BLE001, a verdict that fails is told as well
                return True
            if scores_of(case, scores) != case.expected:
                return True
    return False


def status(tests: str, copy: Path) -> int:
    """Return the exit status of tests in a copy: 0 passed, 1 failed, more: none ran."""
    options = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *options, *shlex.split(tests)]
    # A stale copy of a module would hide a mutant of the same size and second.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)}
    return subprocess.run(
        command, cwd=copy, env=environment, stdout=subprocess.DEVNULL
    ).returncode


def survives(mutant: Mutant, copy: Path) -> bool:
    """Tell whether the tests of a mutant pass with it."""
    texts = {path: path.read_text(encoding="utf-8") for path in mutant.files(copy)}
    for path, text in texts.items():
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return status(mutant.tests, copy) == 0
    finally:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")


def in_copies(function: Callable, subjects: list) -> Iterator:
    """Yield what a function returns of each, on a copy for each processor."""
    worker = threading.local()

    def copy_checkout() -> None:
        ignored = shutil.ignore_patterns(".*", "__pycache__")
        worker.copy = Path(folder, str(threading.get_ident()))
        shutil.copytree(ROOT, worker.copy, ignore=ignored)

    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(os.cpu_count(), initializer=copy_checkout) as pool:
            yield from pool.map(lambda x: function(x, worker.copy), subjects)


def main(words: list[str]) -> int:
    """Try the mutants; return the exit status."""
    chosen = [
        x for x in MUTANTS if not words or any(y in x.file + x.rule for y in words)
    ]
    errors = list(faults(chosen))
    left = [] if errors else [x for x in chosen if not is_told_by_a_case(x)]
    guards = list(dict.fromkeys(x.tests for x in left))
    for tests, number in zip(guards, in_copies(status, guards)):
        if number:
            errors.append(f"{tests}: exit status {number} without a mutant")
    survivors = []
    for mutant, is_alive in zip(left, in_copies(survives, [] if errors else left)):
        if is_alive:
            survivors.append(mutant)
            why = mutant.survives or "nobody knows why"
            print(f"{mutant.file}: {mutant.rule}: survives: {why}", flush=True)
    print(*errors, f"{len(survivors)} of {len(chosen)} mutants survive", sep="\n")
    return bool(errors or any(not x.survives for x in survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
