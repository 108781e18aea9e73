"""Break one line after the other, and see whether the tests that guard it notice.

    python -m tests.mutants [FILE ...]

Each mutant of the table is made in a copy of the checkout, where its tests run; FILE are
parts of names of files whose mutants are tried. Printed are the mutants that survive. Exit
status 1: one survives that the table does not allow to, or what it says does not hold: an
old text that is not in its file once, or tests that fail without a mutant. It takes some
minutes and is run by hand; test_mutants.py holds the table to the files.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT


class Mutant(NamedTuple):
    """A change that some test must notice."""

    file: str
    old: str  # stands in the file once
    new: str
    tests: str  # as pytest takes them
    survives: str = ""  # why none needs to notice it


TCP, TOT, TIMEBENCH = (
    f"lm_eval_tasks/{family}/utils.py" for family in ("tcp", "tot", "timebench")
)
CARD = "tests/test_published.py"
SCORE, FILES = "tests/test_score.py", "tests/test_score_files.py"

MUTANTS = (
    # ------------------------------------------------------------- published rules
    Mutant(  # the first box counts
        TCP,
        'response.find("\\\\boxed{", response.find("\\\\")) + 7',
        'response.rfind("\\\\boxed{") + 7',
        f"{CARD} -k tcp",
    ),
    Mutant(  # TCP short is compared without GMT
        TCP,
        'answer.replace("GMT", "").strip() == reference',
        "answer.strip() == reference",
        f"{CARD} -k tcp",
    ),
    Mutant(  # TCP long is not
        TCP,
        " or answer_format != SHORT_FORMAT:",
        ":",
        f"{CARD} -k tcp",
    ),
    Mutant(  # more digits than Python reads are no exception
        TOT,
        "int(digits) if len(digits) < 1000 else float(digits)",
        "int(digits)",
        "tests/test_hostile.py -k 99999",
    ),
    Mutant(  # the card's field of ToT semantic
        TOT,
        'published := published.get("answer")',
        'published := published.get("label")',
        f"{CARD} -k tot",
    ),
    Mutant(  # the last marker counts
        TIMEBENCH,
        "marker = response.rfind(MARKER)",
        "marker = response.find(MARKER)",
        f"{CARD} -k timebench",
    ),
    Mutant(  # an answer ends before its punctuation
        TIMEBENCH,
        'answer = line.strip().rstrip(".!?").strip()',
        'answer = line.strip().rstrip(".").strip()',
        f"{CARD} -k timebench",
    ),
    Mutant(  # letters may stand before "&"
        TIMEBENCH,
        r"\b([A-D])(?:\.|,|\s|&|$)",
        r"\b([A-D])(?:\.|,|\s|$)",
        f"{CARD} -k timebench",
    ),
    Mutant(  # F1 is not recall
        TIMEBENCH,
        "2 * shared / (answered + wanted) if shared",
        "shared / wanted if shared",
        f"{CARD} -k timebench",
    ),
    Mutant(  # a date with a day is no month
        TIMEBENCH,
        "return (first.year, first.month) if is_month else first",
        "return (first.year, first.month)",
        f"{CARD} -k timebench",
    ),
    Mutant(  # two labels are none
        TIMEBENCH,
        "named.pop() if len(named) == 1 else None",
        "named.pop() if named else None",
        f"{CARD} -k timebench",
    ),
    Mutant(  # keywords may stand in either order of the sentences
        TIMEBENCH,
        "((in_first, in_second), (in_second, in_first))",
        "((in_first, in_second),)",
        "tests/test_timebench.py tests/test_cases.py -k 'generation or keyword'",
    ),
    # -------------------------------------------------------------------- statistics
    Mutant(
        "utils/stats.py",
        "sign_test = 2.0 ** (1 - len(numbers))",
        "sign_test = 2.0 ** -len(numbers)",
        "tests/test_paired.py",
    ),
    Mutant(  # a text that is empty is shared by nobody
        "utils/stats.py",
        "for name in _SHARED if doc.get(name)",
        "for name in _SHARED if name in doc",
        "tests/test_paired.py",
    ),
    Mutant(  # Holm, not Bonferroni
        "utils/stats.py",
        "factors = np.arange(len(found), 0, -1)",
        "factors = np.full(len(found), len(found))",
        "tests/test_paired.py",
    ),
    Mutant(
        "utils/compare.py",
        'holm(max(row["p"], row["mcnemar"] or 0) for',
        'holm(row["p"] for',
        "tests/test_compare.py",
    ),
    Mutant(  # of errors, less is better
        "utils/compare.py",
        "if metric.higher_is_better is False:",
        "if metric.higher_is_better is None:",
        "tests/test_compare.py",
    ),
    Mutant(  # who has more of the documents does not set the standard
        "utils/leaderboard/board.py",
        "            those == known,\n",
        "",
        "tests/test_leaderboard.py -k 'not browser'",
    ),
    Mutant(
        "utils/leaderboard/board.py",
        'if lacking := sum(tally.all.invalid["no_instruction"] for',
        "if lacking := sum(0 for",
        "tests/test_leaderboard.py -k instruction",
    ),
    # ------------------------------------------------------------------ scoring files
    Mutant(  # no key comes twice
        "utils/score/files.py",
        'if "verdict" in given or given.get("task", task) != task:',
        'if given.get("task", task) != task:',
        FILES,
    ),
    Mutant(
        "utils/score/files.py",
        ".removeprefix(codecs.BOM_UTF8)",
        "",
        FILES,
    ),
    Mutant(  # an output that was changed is made anew
        "utils/score/files.py",
        ' and known["output"] == _digest(job.output)',
        "",
        FILES,
    ),
    Mutant(  # an absent field of Arrow is no null
        "utils/score/batch.py",
        "for name, x in value.items() if x is not None}",
        "for name, x in value.items()}",
        "tests/test_batch.py",
    ),
    # ------------------------------------------------------------------------- answers
    Mutant(  # chat prompts are JSON
        "utils/runs/scoring.py",
        "forms = (text, *(json.dumps(text, ensure_ascii=x)[1:-1] for x in (False, True)))",
        "forms = (text,)",
        SCORE,
    ),
    Mutant(
        "utils/runs/scoring.py",
        "        if self.answered.surplus:\n",
        "        if False:\n",
        SCORE,
    ),
    Mutant(
        "utils/runs/repeats.py",
        "if answer.doc_id in self._ids:",
        "if False:",
        SCORE,
    ),
    Mutant(
        "utils/runs/answers.py",
        "elif line[name] != sha256(text):",
        "elif not line[name]:",
        SCORE,
    ),
    Mutant(
        "utils/runs/answers.py",
        'hit_limit = choice.get("finish_reason") == "length"',
        "hit_limit = False",
        SCORE,
    ),
    # ---------------------------------------------------------------------------- core
    Mutant(
        "utils/core/files.py",
        "os.fchmod(file.fileno(), mode)",
        "pass",
        "tests/test_files.py",
    ),
    Mutant(
        "utils/core/jsonl.py",
        '"utf-8-sig" if line.is_first else "utf-8"',
        '"utf-8"',
        "tests/test_files.py tests/test_score_files.py",
    ),
    Mutant(  # of the same lines, the same bytes
        "utils/core/jsonl.py",
        "fileobj=file, mtime=0)",
        "fileobj=file, mtime=None)",
        "tests/test_score_files.py tests/test_files.py",
    ),
    Mutant(  # the assistant's last message is the answer
        "utils/core/reward.py",
        'said[-1].get("content")',
        'said[0].get("content")',
        "tests/test_reward.py",
    ),
    Mutant(
        "utils/core/compute.py",
        "is_mean = task is None if return_average is None else return_average",
        "is_mean = task is None",
        "tests/test_compute.py",
    ),
    # --------------------------------------------------------------- packs and replay
    Mutant(
        "utils/packs/manifest.py",
        "return digest.hexdigest() == self.files[name]",
        "return True",
        "tests/test_offline.py -k 'check or run'",
    ),
    Mutant(
        "utils/packs/local_data.py",
        "if found != expected:",
        "if False:",
        "tests/test_offline.py -k 'unseen or changed'",
    ),
    Mutant(
        "utils/packs/local_data.py",
        "if is_complete is not True:",
        "if False:",
        "tests/test_offline.py -k unfinished",
    ),
    Mutant(  # True is not 1
        "utils/harness/replay.py",
        "asked.get(key) if type(doc_id) is int else None",
        "asked.get(key)",
        "tests/test_replay.py -k one_to_its_document",
    ),
    Mutant(  # a row that is there twice takes two answers
        "utils/harness/replay.py",
        "while len(ids) > 1 and",
        "while len(ids) > 2 and",
        "tests/test_replay.py -k there_twice",
    ),
)


def faults() -> list[str]:
    """Return which old texts do not stand in their file once."""
    return [
        f"{x.file}: has {x.old!r} {count} times; write the mutant anew"
        for x in MUTANTS
        if (count := (ROOT / x.file).read_text(encoding="utf-8").count(x.old)) != 1
    ]


def fails(tests: str, copy: Path) -> bool:
    """Tell whether tests fail in a copy; RuntimeError where they cannot be run."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *_words(tests)]
    changes = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)}
    done = subprocess.run(
        command, cwd=copy, env=os.environ | changes, capture_output=True, text=True
    )
    if done.returncode in (4, 5):  # no such file, or no such test
        raise RuntimeError(f"{tests}: runs no test; name others\n{done.stdout[-500:]}")
    return done.returncode != 0


def _words(tests: str) -> list[str]:
    files, _, chosen = tests.partition(" -k ")
    return [*files.split(), *(["-k", chosen.strip("'")] if chosen else [])]


def main(files: list[str]) -> int:
    """Try the mutants of the files; return the exit status."""
    wrong = faults()
    chosen = [x for x in MUTANTS if not files or any(name in x.file for name in files)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        left = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=left)
        for tests in dict.fromkeys(x.tests for x in chosen):
            if fails(tests, copy):
                wrong.append(f"{tests}: fails without a mutant; mend it first")
        survivors = [] if wrong else [x for x in chosen if survives(x, copy)]
    for one in survivors:
        why = one.survives or "no test notices"
        sys.stdout.write(f"{one.file}: {one.old!r} -> {one.new!r} survives: {why}\n")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(f"{len(survivors)} of {len(chosen)} mutants survive\n")
    return bool(wrong or any(not one.survives for one in survivors))


def survives(one: Mutant, copy: Path) -> bool:
    """Tell whether the tests of a mutant pass with it."""
    path = copy / one.file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(one.old, one.new), encoding="utf-8")
    try:
        return not fails(one.tests, copy)
    finally:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
