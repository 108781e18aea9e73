"""Recall of public rows: named where twins are answered with their originals' labels."""

import json
import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

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


def write(folder: Path, task: str, responses: list[tuple[dict, str]]) -> Path:
    """Write the responses to documents of a task."""
    folder.mkdir(exist_ok=True)
    lines = [{"task": task, "doc": doc, "response": x} for doc, x in responses]
    (folder / f"{task}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def answers(pack: Path, folder: Path, spell, right: bool = True) -> Path:
    """Write answers to public rows of dates, which are right or not, and to twins.

    `spell` returns an answer from the labels of a twin: the right one, that of its
    original and the mirror image.
    """
    twins = manifest_of(pack)["data"][f"{DATES}.jsonl"]["twins"]["originals"]
    for task in (scorer(DATES).base, DATES):
        responses = []
        for doc in documents(task, pack):
            answer = doc["golds"][0] if right else "Jan, 1000"
            if task == DATES:
                _, (original,), (mirror,) = twins[scorer(DATES).utils.digest(doc).hex()]
                answer = spell(doc["golds"][0], original, mirror)
            responses.append((doc, f"Thus, the correct answer is: {answer}"))
        write(folder, task, responses)
    return folder


def spelled(date: str) -> str:
    """Return a month in another spelling than the labels'."""
    months = {"Jan": "January", "Feb": "February", "Aug": "August", "Oct": "October"}
    month, year = date.split(", ")
    return f"{months.get(month, month)} of {year}"


def compare(pack: Path, *arguments: object) -> list[str]:
    return ["compare", *map(str, arguments), "--include_path", str(pack)]


def test_a_model_that_answers_twins_as_the_public_rows_is_named(
    twins, tmp_path, capsys
):
    runs = {
        "parrot": answers(twins, tmp_path / "a", lambda _, x, __: spelled(x)),
        "mirror": answers(twins, tmp_path / "b", lambda _, __, x: spelled(x)),
        "solver": answers(twins, tmp_path / "c", lambda x, _, __: x, right=False),
    }
    command = compare(twins, *(f"{name}={path}" for name, path in runs.items()))
    assert main(command) == 0
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
    assert main([*command, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    counts = [
        (x["recalled"], x["mirror"], x["recalls"]) for x in rows if "recalls" in x
    ]
    assert counts == [(10, 0, True), (0, 10, False), (0, 0, False)]


def test_all_twins_are_compared_with_their_public_rows(twins, tmp_path, capsys):
    for task in TWINS:
        public = scorer(task).base
        golds = (
            (x, scorer(task).utils.gold_response(x)) for x in documents(public, twins)
        )
        write(tmp_path / "run", public, [*golds])
        write(tmp_path / "run", task, [(x, "none") for x in documents(task, twins)])
    assert main(compare(twins, f"A={tmp_path / 'run'}")) == 0
    printed = capsys.readouterr().out
    for task in TWINS:
        (claim,) = re.findall(f"- {task}: (.*)", printed)
        n = len(documents(task, twins))
        gap = rf"Public − twin(?: of A)?: \+100\.0 points \(95 % interval .*, {n} rows\)\."
        assert re.search(gap, claim)
        is_tested = "control" not in task and "tcp" not in task
        assert ("recalls labels" in claim) == is_tested
    assert len(printed.splitlines()) == 2 * len(TWINS) - 1


def test_the_board_says_it_and_ranks_no_twins(twins, tmp_path, capsys):
    parrot = answers(twins, tmp_path / "a", lambda _, x, __: x)
    part = tmp_path / "part"  # of one model in two folders
    part.mkdir()
    (parrot / f"{DATES}.jsonl").rename(part / f"{DATES}.jsonl")
    solver = answers(twins, tmp_path / "b", lambda x, _, __: x)
    runs = [f"A & B={parrot}", f"A & B={part}", f"solver={solver}"]
    outputs = ["--html", f"{tmp_path}/board.html", "--json", f"{tmp_path}/board.json"]
    command = ["leaderboard", *runs, "--include_path", str(twins), *outputs]
    assert main(command) == 0
    assert DATES not in capsys.readouterr().out
    page = (tmp_path / "board.html").read_text()
    claims = re.search(r'<section id="recall".*?</section>', page, re.DOTALL)[0]
    assert claims.count("<li>") == 2
    assert "A &amp; B answers 10 of 10 twins with the public row" in claims
    assert f"{DATES}: no sign that solver recalls labels" in claims
    assert f'<section id="{DATES}"' not in page


@pytest.mark.parametrize("task", TWINS)
def test_the_two_wrong_values_of_a_twin_are_wrong_and_differ(task, twins):
    utils, explain = scorer(task).utils, scorer(task).explain
    of_pack = originals(task, twins)
    for doc in documents(task, twins):
        twin, value = (
            of_pack[utils.digest(doc).hex()],
            explain(doc, utils.gold_response(doc)).value,
        )
        right = encode_value(value)
        if "control" in task:
            assert (twin.recalled, twin.mirror) == (right, None)
        elif twin.mirror:
            assert len({right, twin.recalled, twin.mirror}) == 3
        if task == DATES:  # both are as far away, on either side
            (year, month), *wrong = (
                value,
                *map(json.loads, (twin.recalled, twin.mirror)),
            )
            assert {x[1] for x in wrong} == {month}
            assert wrong[0][0] - year == year - wrong[1][0] != 0
    is_tested = "control" not in task and "tcp" not in task
    assert any(x.mirror for x in of_pack.values()) == is_tested


def test_a_pack_without_twins_makes_no_claim(twins, tmp_path, capsys):
    folder = answers(twins, tmp_path / "a", lambda x, _, __: x)
    (folder / f"{DATES}.jsonl").unlink()
    assert not originals(scorer(DATES).base, twins)
    assert not originals(DATES, EXAMPLES)
    assert main(compare(twins, f"a={folder}", f"b={folder}")) == 0
    assert "recall" not in capsys.readouterr().out
    assert main(compare(twins, f"a={folder}")) == 1
    assert "a: is the only run; name two or more" in capsys.readouterr().err


@pytest.mark.parametrize("recalled", range(12))
def test_the_sign_test_is_exact(recalled):
    n = 11
    tail = sum(math.comb(n, x) for x in range(recalled, n + 1)) / 2**n
    assert sign_test(recalled, n - recalled) == pytest.approx(tail)
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
