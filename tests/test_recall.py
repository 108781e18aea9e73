"""Recall of public rows: named where twins are answered with their originals' labels."""

import json
import math
import re
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
from utils.stats import CONFIDENCE, POWER
from utils.verdicts.judge import encode_value
from utils.verdicts.recall import least_share, originals, sign_test


DATES = "twin_timebench_date_arithmetic"
TWINS = [task for task in all_tasks() if transformations(task)]
MONTHS = {"Jan": "January", "Feb": "February", "Aug": "August", "Oct": "October"}


def answers(pack: Path, folder: Path, kind: str, public: str | None = None) -> Path:
    """Write answers to public rows of dates and to their twins; return their folder.

    Twins are answered with the `label`, that of their `original` or its `mirror` image, in
    another spelling; public rows with their labels, or with `public`.
    """
    records = manifest_of(pack)["data"][f"{DATES}.jsonl"]["twins"]["originals"]
    for task in (scorer(DATES).base, DATES):
        lines = []
        for doc in documents(task, pack):
            answer = public or doc["golds"][0]
            if task == DATES:
                _, *wrong = records[scorer(DATES).utils.digest(doc).hex()]
                labels = dict(zip(("original", "mirror"), wrong), label=doc["golds"])
                month, year = labels[kind][0].split(", ")
                answer = f"{MONTHS.get(month, month)} of {year}"
            response = f"Thus, the correct answer is: {answer}"
            lines.append({"task": task, "doc": doc, "response": response})
        write(folder / f"{task}.jsonl", *lines)
    return folder


def compare(pack: Path, *arguments: object) -> list[str]:
    return ["compare", *map(str, arguments), "--include_path", str(pack)]


def test_a_model_that_answers_twins_as_the_public_rows_is_named(
    twins, tmp_path, capsys
):
    kinds = {"parrot": "original", "mirror": "mirror", "solver": "label"}
    runs = [
        f"{name}={answers(twins, tmp_path / name, kind, name == 'solver' and 'Jan, 1000')}"
        for name, kind in kinds.items()
    ]
    assert main(compare(twins, *runs)) == 0
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
    assert main(compare(twins, *runs)) == 0
    assert "recall" not in capsys.readouterr().out
    assert main(compare(twins, runs[0])) == 1
    assert "parrot: is the only run; name two or more" in capsys.readouterr().err


def test_all_twins_are_compared_with_their_public_rows(twins, tmp_path, capsys):
    for task in TWINS:
        base, gold_response = scorer(task).base, scorer(task).utils.gold_response
        for name, respond in ((base, gold_response), (task, lambda _: "none")):
            lines = (
                {"task": name, "doc": doc, "response": respond(doc)}
                for doc in documents(name, twins)
            )
            write(tmp_path / f"{name}.jsonl", *lines)
    assert main(compare(twins, f"A={tmp_path}")) == 0
    printed = capsys.readouterr().out
    for task in TWINS:
        (claim,) = re.findall(f"- {task}: (.*)", printed)
        n = len(documents(task, twins))
        gap = rf"Public − twin(?: of A)?: \+100\.0 points \(95 % interval .*, {n} rows\)\."
        assert re.search(gap, claim)
        is_tested = "control" not in task and "tcp" not in task
        assert ("recalls labels" in claim) == is_tested


def test_the_board_says_it_and_ranks_no_twins(twins, tmp_path, capsys):
    parrot, part = answers(twins, tmp_path / "a", "original"), tmp_path / "part"
    part.mkdir()  # of one model in two folders
    (parrot / f"{DATES}.jsonl").rename(part / f"{DATES}.jsonl")
    solver = answers(twins, tmp_path / "b", "label")
    runs = [f"A & B={parrot}", f"A & B={part}", f"solver={solver}"]
    command = ["leaderboard", *runs, "--include_path", str(twins)]
    assert main([*command, "--html", f"{tmp_path}/board.html"]) == 0
    assert DATES not in capsys.readouterr().out
    page = (tmp_path / "board.html").read_text()
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
            dates = map(json.loads, (right, twin.recalled, twin.mirror))
            years, months = zip(*dates)
            assert len({*months}) == 1
            assert years[1] - years[0] == years[0] - years[2] != 0
    is_tested = "control" not in task and "tcp" not in task
    assert any(twin.mirror for twin in of_pack.values()) == is_tested
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
    share, rng = least_share(twins, mirror, tests), np.random.default_rng(1)

    def power(share: float) -> float:
        either = (1 - share) * mirror / twins
        chances = [share + either, either, 1 - share - 2 * either]
        drawn = rng.multinomial(twins, chances, 4000)[:, :2]
        return np.mean(sign_test(*drawn.T) * tests < 1 - CONFIDENCE)

    assert abs(power(share) - POWER) < 0.03
    assert power(0.8 * share) < POWER - 0.05


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
