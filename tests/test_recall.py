"""Recall of public rows: named where twins are answered with their originals' labels."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import EXAMPLES
from tests.recall import TASKS, hits, near, twins_of
from tests.test_offline import manifest_of
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import all_tasks, scorer, transformations
from utils.stats import CONFIDENCE, POWER
from utils.verdicts.judge import value_json
from utils.verdicts.recall import Hits, least_share, originals


DATES = "twin_timebench_date_arithmetic"


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """The rows of dates in `examples/` and their twins, in one pack."""
    folder = tmp_path_factory.mktemp("recall")
    source = f"--source=timebench={EXAMPLES / 'data'}"
    offline = ["--tasks", scorer(DATES).base, "--allow-partial", source]
    assert main(["offline", str(folder), *offline]) == 0
    assert (
        main(["twins", str(folder), "--include_path", str(folder), "--gen-seed", "7"])
        == 0
    )
    return folder


def answers(pack: Path, folder: Path, spell, right: bool = True) -> Path:
    """Write answers to public rows, which are right or not, and to twins.

    `spell` returns an answer from the labels of a twin: the right one, that of its
    original and the mirror image.
    """
    folder.mkdir()
    twins = manifest_of(pack)["data"][f"{DATES}.jsonl"]["twins"]["originals"]
    for task in (scorer(DATES).base, DATES):
        lines = []
        for doc in documents(task, pack):
            answer = doc["golds"][0] if right else "Jan, 1000"
            if task == DATES:
                _, (original,), (mirror,) = twins[scorer(DATES).utils.digest(doc).hex()]
                answer = spell(doc["golds"][0], original, mirror)
            response = f"Thus, the correct answer is: {answer}"
            lines.append(json.dumps({"task": task, "doc": doc, "response": response}))
        (folder / f"{task}.jsonl").write_text("\n".join(lines))
    return folder


def spelled(date: str) -> str:
    """Return a month in another spelling than the labels'."""
    months = {"Jan": "January", "Feb": "February", "Aug": "August", "Oct": "October"}
    month, year = date.split(", ")
    return f"{months.get(month, month)} of {year}"


def compare(pack: Path, *arguments: object) -> list[str]:
    return ["compare", *map(str, arguments), "--include_path", str(pack)]


def test_a_model_that_answers_twins_as_the_public_rows_is_named(pack, tmp_path, capsys):
    runs = {
        "parrot": answers(pack, tmp_path / "a", lambda _, x, __: spelled(x)),
        "mirror": answers(pack, tmp_path / "b", lambda _, __, x: spelled(x)),
        "solver": answers(pack, tmp_path / "c", lambda x, _, __: x, right=False),
    }
    command = compare(pack, *(f"{name}={path}" for name, path in runs.items()))
    assert main(command) == 0
    claims = [x for x in capsys.readouterr().out.splitlines() if f"- {DATES}: " in x]
    assert [x.partition(". Public")[0] for x in claims] == [
        f"- {DATES}: parrot answers 10 of 10 twins with the published row's answer, and 0"
        " with its mirror image (adjusted p = 0.0029): it recalls published rows",
        f"- {DATES}: no sign that mirror recalls labels (0 against 10 of 10 twins); 80 %"
        " power from a share of 91.7 % on",
        f"- {DATES}: no sign that solver recalls labels (0 against 0 of 10 twins); 80 %"
        " power from a share of 67.4 % on",
    ]
    gaps = [x.partition(" twin: ")[2].split(" ")[0] for x in claims]
    assert gaps == ["+100.0", "+100.0", "-100.0"]
    assert main([*command, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    counts = [
        (x["recalled"], x["mirror"], x["recalls"]) for x in rows if "recalls" in x
    ]
    assert counts == [(10, 0, True), (0, 10, False), (0, 0, False)]


def test_the_board_says_it_and_ranks_no_twins(pack, tmp_path, capsys):
    parrot = answers(pack, tmp_path / "a", lambda _, x, __: x)
    twins = tmp_path / "twins"  # of one model in two folders
    twins.mkdir()
    (parrot / f"{DATES}.jsonl").rename(twins / f"{DATES}.jsonl")
    solver = answers(pack, tmp_path / "b", lambda x, _, __: x)
    runs = [f"A & B={parrot}", f"A & B={twins}", f"solver={solver}"]
    outputs = ["--html", f"{tmp_path}/board.html", "--json", f"{tmp_path}/board.json"]
    command = ["leaderboard", *runs, "--include_path", str(pack), *outputs]
    assert main(command) == 0
    assert DATES not in capsys.readouterr().out
    page = (tmp_path / "board.html").read_text()
    claims = re.search(r'<section id="recall".*?</section>', page, re.DOTALL)[0]
    assert claims.count("<li>") == 2
    assert "A &amp; B answers 10 of 10 twins with the published row" in claims
    assert f"{DATES}: no sign that solver recalls labels" in claims
    assert f'<section id="{DATES}"' not in page


def test_values_of_original_and_mirror_lie_on_either_side_of_the_label(pack):
    for digest, twin in originals(DATES, pack).items():
        (right,) = (
            scorer(DATES).explain(doc, scorer(DATES).utils.gold_response(doc)).value
            for doc in documents(DATES, pack)
            if scorer(DATES).utils.digest(doc).hex() == digest
        )
        recalled, mirror = (json.loads(x) for x in (twin.recalled, twin.mirror))
        assert {recalled[1], mirror[1]} == {right[1]}
        assert recalled[0] - right[0] == right[0] - mirror[0] != 0


@pytest.mark.parametrize("task", [x for x in all_tasks() if transformations(x)])
def test_the_two_wrong_values_of_a_twin_are_wrong_and_differ(task, tmp_path):
    command = ["twins", str(tmp_path), "--include_path", str(EXAMPLES)]
    assert main([*command, "--gen-seed", "7"]) == 0
    utils, explain = scorer(task).utils, scorer(task).explain
    twins = originals(task, tmp_path)
    for doc in documents(task, tmp_path):
        twin = twins[utils.digest(doc).hex()]
        right = value_json(explain(doc, utils.gold_response(doc)).value)
        if "control" in task:
            assert (twin.recalled, twin.mirror) == (right, None)
        elif twin.mirror:
            assert len({right, twin.recalled, twin.mirror}) == 3
    is_tested = "control" not in task and "tcp" not in task
    assert any(x.mirror for x in twins.values()) == is_tested


def test_a_pack_without_twins_makes_no_claim(pack, tmp_path, capsys):
    folder = answers(pack, tmp_path / "a", lambda x, _, __: x)
    (folder / f"{DATES}.jsonl").unlink()
    assert not originals(scorer(DATES).base, pack)
    assert not originals(DATES, EXAMPLES)
    assert main(compare(pack, f"a={folder}", f"b={folder}")) == 0
    assert "recall" not in capsys.readouterr().out


@pytest.mark.parametrize("recalled", range(12))
def test_the_sign_test_is_exact(recalled):
    n = 11
    tail = sum(math.comb(n, x) for x in range(recalled, n + 1)) / 2**n
    assert Hits(345, recalled, n - recalled).p_value == pytest.approx(tail)
    assert Hits(345, 0, 0).p_value == 1


@pytest.mark.parametrize("case", [(345, 2, 1), (636, 30, 10), (60, 0, 3)])
def test_the_share_that_is_found_has_the_power_that_it_says(case):
    twins, mirror, tests = case
    share, rng = least_share(Hits(twins, 0, mirror), tests), np.random.default_rng(1)

    def power(share: float) -> float:
        either = (1 - share) * mirror / twins
        chances = [share + either, either, 1 - share - 2 * either]
        found = rng.multinomial(twins, chances, 4000)[:, :2]
        named = [
            Hits(twins, *map(int, x)).p_value * tests < 1 - CONFIDENCE for x in found
        ]
        return sum(named) / 4000

    assert abs(power(share) - POWER) < 0.03
    assert power(0.8 * share) < POWER - 0.05


def test_simulated_models_are_named_if_they_recall(shared):
    draws, rng = twins_of(shared), np.random.default_rng(29)
    for task in TASKS:
        for wrong in ("evenly", "later", "usual"):
            chances = near(draws[task], wrong)
            named = {
                share: sum(
                    hits(rng, chances, share, 0.25).p_value < 1 - CONFIDENCE
                    for _ in range(300)
                )
                for share in (0, 0.05, 0.1)
            }
            assert named[0] <= 0.08 * 300, (task, wrong)
            assert named[0.05] >= 0.8 * 300
            assert named[0.1] >= 0.99 * 300
