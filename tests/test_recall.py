"""Recall of public rows: named where twins are answered with their originals' labels."""

import json
import math
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.answers import write
from tests.conftest import EXAMPLES
from tests.recall import TASKS, WRONG, near, p_values, twins_of
from tests.test_offline import manifest_of
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import all_tasks, scorer, transformations
from utils.integrity.recall import least_share, originals, sign_test
from utils.stats import CONFIDENCE, POWER
from utils.verdicts.judge_answer import encode_value


DATES = "twin_timebench_date_arithmetic"
TWINS = [task for task in all_tasks() if transformations(task)]
TESTED = [task for task in TWINS if "control" not in task and "tcp" not in task]
MARKER = "Thus, the correct answer is:"
MONTHS = {"Jan": "January", "Feb": "February", "Aug": "August", "Oct": "October"}


def answer_all(task: str, pack: Path, folder: Path, respond: Callable) -> None:
    """Write answers to all documents of a task, by a function."""
    docs = documents(task, pack)
    lines = ({"task": task, "doc": doc, "response": respond(doc)} for doc in docs)
    write(folder / f"{task}.jsonl", *lines)


def answers(pack: Path, folder: Path, kind: str, public: str | None = None) -> Path:
    """Write answers to public rows of dates and to their twins; return their folder.

    Twins are answered with the `label`, that of their `original` or its `mirror` image, in
    another spelling; public rows with their labels, or as `public` says.
    """
    records = manifest_of(pack)["data"][f"{DATES}.jsonl"]["twins"]["originals"]

    def respond(twin: dict) -> str:
        _, *wrong = records[scorer(DATES).utils.digest(twin).hex()]
        labels = dict(zip(("original", "mirror"), wrong), label=twin["golds"])
        month, year = labels[kind][0].split(", ")
        return f"{MARKER} {MONTHS.get(month, month)} of {year}"

    answer_all(DATES, pack, folder, respond)
    base, label = scorer(DATES).base, scorer(DATES).utils.gold_response
    answer_all(base, pack, folder, lambda doc: public or label(doc))
    return folder


def compare(pack: Path, *arguments: object) -> int:
    return main(["compare", *map(str, arguments), "--include_path", str(pack)])


def test_a_model_that_answers_twins_as_the_public_rows_is_named(
    twins, tmp_path, capsys
):
    kinds = {"parrot": "original", "mirror": "mirror", "solver": "label"}
    runs = [
        f"{name}={answers(twins, tmp_path / name, kind, name == 'solver' and 'No.')}"
        for name, kind in kinds.items()
    ]
    assert compare(twins, *runs) == 0
    claims = [x for x in capsys.readouterr().out.splitlines() if f"- {DATES}: " in x]
    assert [x.partition(". Public")[0] for x in claims] == [
        f"- {DATES}: parrot answers 10 of 10 twins with the public row's answer, and 0 with"
        " its mirror image (adjusted p = 0.0029): it recalls public rows",
        f"- {DATES}: no sign that mirror recalls labels (0 against 10 of 10 twins); a model"
        " that recalls 91.7 % of the labels or more would be named in 4 of 5 such tests",
        f"- {DATES}: no sign that solver recalls labels (0 against 0 of 10 twins); a model"
        " that recalls 67.4 % of the labels or more would be named in 4 of 5 such tests",
    ]
    gaps = [x.partition(" twin: ")[2].split(" ")[0] for x in claims]
    assert gaps == ["+100.0", "+100.0", "-100.0"]
    # The rows without twins make no claim.
    for run in runs:
        Path(run.partition("=")[2], f"{DATES}.jsonl").unlink()
    assert compare(twins, *runs) == 0
    assert "recall" not in capsys.readouterr().out
    assert compare(twins, runs[0]) == 1
    assert "parrot: is the only run; name two or more" in capsys.readouterr().err


def test_all_twins_are_compared_with_their_public_rows(twins, tmp_path, capsys):
    for task in TWINS:
        answer_all(scorer(task).base, twins, tmp_path, scorer(task).utils.gold_response)
        answer_all(task, twins, tmp_path, lambda _: "none")
    assert compare(twins, f"A={tmp_path}") == 0
    printed = capsys.readouterr().out
    for task in TWINS:
        (claim,) = re.findall(f"- {task}: (.*)", printed)
        n = len(documents(task, twins))
        gap = rf"Public − twin(?: of A)?: \+100\.0 points \(95 % interval .*, {n} rows\)\."
        assert re.search(gap, claim)
        assert ("recalls labels" in claim) == (task in TESTED)


def test_the_board_says_it_and_ranks_no_twins(twins, tmp_path, capsys):
    parrot = answers(twins, tmp_path / "a", "original") / f"{DATES}.jsonl"
    (tmp_path / "part").mkdir()  # of one model in two folders
    parrot.rename(tmp_path / "part" / parrot.name)
    solver, page_path = answers(twins, tmp_path / "b", "label"), tmp_path / "board.html"
    runs = [f"A & B={tmp_path}/{x}" for x in ("a", "part")] + [f"solver={solver}"]
    outputs = ["--html", str(page_path), "--include_path", str(twins)]
    assert main(["leaderboard", *runs, *outputs]) == 0
    assert DATES not in capsys.readouterr().out
    page = page_path.read_text()
    claims = re.search(r'<section id="recall".*?</section>', page, re.DOTALL)[0]
    assert claims.count("<li>") == 2
    assert "A &amp; B answers 10 of 10 twins with the public row" in claims
    assert f"{DATES}: no sign that solver recalls labels" in claims
    assert f'<section id="{DATES}"' not in page


@pytest.mark.parametrize("task", TWINS)
def test_the_two_wrong_values_of_a_twin_are_wrong_and_differ(task, twins):
    utils, of_pack = scorer(task).utils, originals(task, twins)
    for doc in documents(task, twins):
        twin = of_pack[utils.digest(doc).hex()]
        right = encode_value(scorer(task).explain(doc, utils.gold_response(doc)).value)
        if "control" in task:
            assert (twin.recalled, twin.mirror) == (right, None)
        elif twin.mirror:
            assert len({right, twin.recalled, twin.mirror}) == 3
        if task == DATES:  # both are as far away, on either side
            dates = map(json.loads, (twin.recalled, right, twin.mirror))
            (later, year, earlier), months = zip(*dates)
            assert len({*months}) == 1 and later - year == year - earlier != 0
    assert any(twin.mirror for twin in of_pack.values()) == (task in TESTED)
    assert not originals(scorer(task).base, twins)
    assert not originals(task, EXAMPLES)


def test_the_sign_test_is_exact():
    for recalled in range(12):
        tail = sum(math.comb(11, n) for n in range(recalled, 12)) / 2**11
        assert sign_test(recalled, 11 - recalled) == pytest.approx(tail)
    assert sign_test(0, 0) == 1


@pytest.mark.parametrize("case", [(345, 2, 1), (636, 30, 10), (60, 0, 3)])
def test_the_share_that_is_found_has_the_power_that_it_says(case):
    twins, mirror, tests = case
    share, power, rng = least_share(*case), [], np.random.default_rng(1)
    for recalled in (share, 0.8 * share):
        either = (1 - recalled) * mirror / twins
        chances = [recalled + either, either, 1 - recalled - 2 * either]
        drawn = rng.multinomial(twins, chances, 4000)[:, :2]
        power.append(np.mean(sign_test(*drawn.T) * tests < 1 - CONFIDENCE))
    assert abs(power[0] - POWER) < 0.03
    assert power[1] < POWER - 0.05


def test_simulated_models_are_named_if_they_recall(shared):
    draws, rng = twins_of(shared), np.random.default_rng(29)
    for task, wrong in product(TASKS, WRONG):
        chances = near(draws[task], wrong)
        named = [
            np.mean(p_values(rng, chances, share, 0.25, 1000) < 1 - CONFIDENCE)
            for share in (0, 0.05, 0.1)
        ]
        assert named[0] <= 0.05, (task, wrong)
        assert named[1] >= 0.8
        assert named[2] >= 0.99
