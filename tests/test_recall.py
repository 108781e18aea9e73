"""Recall of public rows: named where twins are answered with their originals' labels."""

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

from tests.answers import write
from tests.conftest import EXAMPLES
from tests.formats import schema
from tests.recall import HABITS, pairs_of, simulate
from tests.test_offline import manifest_of
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.task_scorers import all_tasks, scorer, transformations
from utils.integrity import recall
from utils.integrity.recall import (
    Hits,
    Original,
    count_hits,
    least_share,
    originals,
    recall_sentence,
    sign_test,
)
from utils.stats import CONFIDENCE, POWER, estimate_difference
from utils.verdicts.judge_answer import encode_value
from utils.verdicts.tally import Document


pytestmark = pytest.mark.usefixtures("judged_here")


DATES = "twin_timebench_date_arithmetic"
TWINS = [task for task in all_tasks() if transformations(task)]
ROWS = 20  # of dates, of which each has a partner
MARKER = "Thus, the correct answer is:"
MONTHS = {"Jan": "January", "Feb": "February", "Aug": "August", "Oct": "October"}


@pytest.fixture(scope="module")
def paired(tmp_path_factory) -> Path:
    """A pack of ROWS rows of dates and their twins, which are all one of a pair."""
    folder = tmp_path_factory.mktemp("paired")
    rows = []
    for place in range(ROWS):
        year = 1130 + 10 * (place // 2) + 400 * (place % 2)
        question = (
            f"What is the time 1 month before {['Sep', 'Nov'][place % 2]}, {year}"
        )
        answer = f"{['Aug', 'Oct'][place % 2]}, {year}"
        rows.append({"question": question, "answer": [answer], "context": ""})
    write(folder / "rows" / "tempreason_l1_timebench.jsonl", *rows)
    source = ["--allow-partial", f"--source=timebench={folder / 'rows'}"]
    base = scorer(DATES).base
    assert main(["offline", str(folder / "pack"), "--tasks", base, *source]) == 0
    pack = ["--include_path", str(folder / "pack")]
    assert main(["twins", str(folder / "pack"), *pack, "--gen-seed", "7"]) == 0
    return folder / "pack"


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
        _, *wrong = records[scorer(DATES).utils.digest(twin).hex()][:3]
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
    paired, tmp_path, capsys
):
    kinds = {"parrot": "original", "mirror": "mirror", "solver": "label"}
    runs = [
        f"{name}={answers(paired, tmp_path / name, kind, name == 'solver' and 'No.')}"
        for name, kind in kinds.items()
    ]
    assert compare(paired, *runs) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for claim in (
        "parrot answers 20 of 20 paired twins with the public row's answer, and 0 with its"
        " mirror image (10 of 10 pairs against 0; p = 0.00098): it"
        " recalls public rows.",
        "no sign that mirror recalls labels: it answers 0 of 20 paired twins with the public"
        " row's answer, and 20 with its mirror image (0 of 10 pairs against 10)",
        "no sign that solver recalls labels: it answers 0 of 20 paired twins with the public"
        " row's answer, and 0 with its mirror image (0 of 10 pairs against 0); a model that"
        " recalls 35.3 % of the labels or more would be named in 4 of 5 such tests.",
    ):
        assert f"{DATES}: {claim}" in printed
    gaps = re.findall(r"Public − twin: (\S+) points", printed)
    assert gaps == ["+100.0", "+100.0", "-100.0"]
    assert compare(paired, *runs, "--format", "json") == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), schema("compare"))
    # The rows without twins make no claim.
    for run in runs:
        Path(run.partition("=")[2], f"{DATES}.jsonl").unlink()
    assert compare(paired, *runs) == 0
    assert "recall" not in capsys.readouterr().out
    assert compare(paired, runs[0]) == 1
    assert "parrot: is the only run; name two or more" in capsys.readouterr().err


def test_no_other_run_changes_what_is_said_of_a_run(paired, tmp_path, capsys):
    folders = [answers(paired, tmp_path / name, "original") for name in "abcdef"]
    claims = []
    for runs in (folders[:2], folders):
        assert compare(paired, *runs, "--format", "json") == 0
        rows = json.loads(capsys.readouterr().out)
        claims.append([row for row in rows if row.get("run") in ("a", "b")])
    assert claims[0] == claims[1]
    assert [row["tests"] for row in claims[0]] == [1, 1]


def test_the_tests_of_a_model_are_corrected_together(monkeypatch):
    """By Holm's method; a task that is not tested counts for nothing."""
    p_values = {"first": [0.03, None, 0.04], "second": [0.04]}

    def rows_of(name: str, _: Path) -> Iterator[dict]:
        for p_value in p_values[name]:
            row: dict = {"run": name, "pairs": 9, "mirror": 0}
            yield row if p_value is None else row | {"p": p_value}

    monkeypatch.setattr(recall, "_rows_of", rows_of)
    rows = recall.recall([*p_values], EXAMPLES)
    cells = [(x.get("p_holm"), x.get("tests"), x.get("recalls")) for x in rows]
    expected = [(0.06, 2, False), (None, None, None), (0.06, 2, False), (0.04, 1, True)]
    assert cells == expected


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
        assert "it recalls" not in claim


def test_the_board_says_it_and_ranks_no_twins(paired, tmp_path, capsys):
    parrot = answers(paired, tmp_path / "a", "original") / f"{DATES}.jsonl"
    (tmp_path / "part").mkdir()  # of one model in two folders
    parrot.rename(tmp_path / "part" / parrot.name)
    solver, page_path = (
        answers(paired, tmp_path / "b", "label"),
        tmp_path / "board.html",
    )
    runs = [f"A & B={tmp_path}/{x}" for x in ("a", "part")] + [f"solver={solver}"]
    outputs = ["--html", str(page_path), "--include_path", str(paired)]
    assert main(["leaderboard", *runs, *outputs]) == 0
    assert DATES not in capsys.readouterr().out
    page = page_path.read_text()
    claims = re.search(r'<section id="recall".*?</section>', page, re.DOTALL)[0]
    assert claims.count("<li>") == 2
    assert (
        "&#39;A_&amp;_B&#39; answers 20 of 20 paired twins with the public row"
        in claims
    )
    assert f"{DATES}: no sign that &#39;solver&#39; recalls labels" in claims
    assert f'<section id="{DATES}"' not in page


def test_the_two_wrong_values_of_a_paired_twin_are_wrong_and_differ(paired):
    utils, of_pack = scorer(DATES).utils, originals(DATES, paired)
    assert len(of_pack) == ROWS
    for doc in documents(DATES, paired):
        digest = utils.digest(doc).hex()
        twin = of_pack[digest]
        assert of_pack[twin.partner].partner == digest
        right = encode_value(scorer(DATES).explain(doc, utils.gold_response(doc)).value)
        dates = map(json.loads, (twin.recalled, right, twin.mirror))
        (later, year, earlier), months = zip(*dates)
        assert len({*months}) == 1 and later - year == year - earlier != 0
    assert not originals(scorer(DATES).base, paired)
    assert not originals(DATES, EXAMPLES)


@pytest.mark.parametrize("task", TWINS)
def test_controls_and_twins_without_a_partner_have_no_mirror_image(task, twins):
    utils, of_pack = scorer(task).utils, originals(task, twins)
    for doc in documents(task, twins):
        twin = of_pack[utils.digest(doc).hex()]
        assert bool(twin.mirror) == bool(twin.partner)
        if "control" in task:
            right = scorer(task).explain(doc, utils.gold_response(doc)).value
            assert (twin.recalled, twin.mirror) == (encode_value(right), None)


@pytest.mark.parametrize(("tests", "said"), [(1, "p = 0.01)"), (2, "adjusted for 2")])
def test_a_p_value_is_adjusted_for_several_tests(tests, said):
    row = {"scope": "twins", "recalled": 9, "pairs": 10, "mirror": 0, "pairs_for": 9}
    row |= {"pairs_against": 0, "p": 0.01, "p_holm": 0.01, "tests": tests}
    sentence = recall_sentence(row | {"recalls": True, "least_share": None}, "m")
    assert said in sentence
    assert ("adjusted" in sentence) == (tests > 1)


def test_the_sign_test_is_exact():
    for recalled in range(12):
        tail = sum(math.comb(11, n) for n in range(recalled, 12)) / 2**11
        assert sign_test(recalled, 11 - recalled) == pytest.approx(tail)
    assert sign_test(0, 0) == 1


@pytest.mark.parametrize("case", [(153, 2, 1), (318, 30, 10), (40, 0, 3)])
def test_the_share_that_is_found_has_the_power_that_it_says(case):
    pairs, mirror, tests = case
    share, power, rng = least_share(*case), [], np.random.default_rng(1)
    for recalled in (share, 0.8 * share):
        mirror_chance = (1 - recalled) * mirror / (2 * pairs)
        chances = [recalled + mirror_chance, mirror_chance]
        chances.append(1 - sum(chances))
        signs = rng.choice([1, -1, 0], (4000, pairs, 2), p=chances).sum(2)
        named = sign_test((signs > 0).sum(1), (signs < 0).sum(1)) * tests
        power.append(np.mean(named < 1 - CONFIDENCE))
    assert abs(power[0] - POWER) < 0.03
    assert power[1] < POWER - 0.05


@pytest.fixture(scope="module")
def real_pairs(shared):
    return pairs_of(shared)


@pytest.mark.parametrize("habit", HABITS)
def test_no_habit_looks_like_recall(real_pairs, habit):
    rng = np.random.default_rng(29)
    for pairs in real_pairs.values():
        for accuracy in (0.0, 0.3, 0.7):
            public, mirror, named = simulate(rng, pairs, habit, accuracy, 0, 400)
            assert named <= 0.07  # of 400 runs; 0.04 of 4,000
            # Habits that err by the question may hit mirror images more often.
            assert public <= 1.1 * mirror + 0.5


def test_models_that_recall_are_named(real_pairs):
    rng = np.random.default_rng(29)
    for pairs in real_pairs.values():
        for accuracy in (0.3, 0.6):
            assert simulate(rng, pairs, "near by", accuracy, 0.05, 400)[2] >= 0.9
            assert simulate(rng, pairs, "near by", accuracy, 0.1, 400)[2] >= 0.99


def test_pairs_count_by_the_side_that_they_speak_for():
    twins = {
        name: Original("public", f"{name}+", f"{name}-", partner)
        for name, partner in zip("abcdefgh", "badcfehg")
    }
    values = {"a": "a+", "b": None, "c": "c+", "d": "d-", "e": "e-", "f": "e+"}
    values["g"] = "g+"  # its partner has no answer
    hits = count_hits(values, twins)
    assert hits == Hits(pairs=3, recalled=2, mirror=2, pairs_for=1, pairs_against=1)


def test_twins_of_an_older_pack_have_no_verdict(paired, tmp_path, capsys):
    pack = shutil.copytree(paired, tmp_path / "pack")
    path = pack / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    for entry in manifest["data"].values():
        if "twins" in entry:
            for original in entry["twins"]["originals"].values():
                del original[3:]
    path.write_text(json.dumps(manifest), "utf-8")
    run = answers(pack, tmp_path / "run", "original")
    assert compare(pack, f"parrot={run}") == 0
    printed = capsys.readouterr().out
    assert "not in pairs (twin_version 1)" in printed
    assert "it recalls" not in printed
    assert "Public − twin" in printed


def test_the_gap_is_that_of_flexible_scores_of_public_rows_that_were_answered():
    published, flexible = map(scorer(DATES).headline.get, ("published", "flexible"))

    def doc(digest: str, score: float, cluster: str = "") -> SimpleNamespace:
        means = {published: 0.0, flexible: score}
        return SimpleNamespace(digest=digest, cluster=cluster, means=lambda: means)

    documents_answered = [doc(f"p{n}", 1.0, f"c{n // 2}") for n in range(6)]
    figures = SimpleNamespace(documents=documents_answered)
    tasks = {scorer(DATES).base: SimpleNamespace(all=figures)}
    twins = [
        (doc(f"t{n}", n % 3 == 0), Original(f"p{n}", "", None, None)) for n in range(8)
    ]
    gap = recall._gap(SimpleNamespace(tasks=tasks), DATES, twins)
    expected = estimate_difference([1, 0, 0] * 2, [1] * 6, [0, 0, 1, 1, 2, 2])
    figures = {"value": expected.value, "low": expected.low, "high": expected.high}
    assert gap == {"rows": 6} | figures
    assert recall._gap(SimpleNamespace(tasks={}), DATES, twins) == {}


def test_tasks_of_twins_are_in_order_and_an_answer_without_a_value_counts(monkeypatch):
    pair = {"a": Original("p", "1", "2", "b"), "b": Original("q", "3", "4", "a")}
    control = {"a": Original("p", "1", None, None)}

    def originals_of(task: str, _: Path) -> dict[str, Original]:
        return control if "control" in task else pair

    monkeypatch.setattr(recall, "originals", originals_of)
    docs = [Document(x, "", None, {}, rows=[{"value": None}]) for x in "abc"]
    tally = SimpleNamespace(all=SimpleNamespace(documents=docs))
    names = ("twin_tot_arithmetic", "twin_control_tot_arithmetic", DATES, "tcp_long")
    model = SimpleNamespace(name="m", tasks=dict.fromkeys(names, tally))
    rows = recall.recall([model], EXAMPLES)
    assert [row["scope"] for row in rows] == sorted([DATES, "twin_tot_arithmetic"])
    assert [(row["pairs"], row["tests"]) for row in rows] == [(1, 2)] * 2
    assert not any("unpaired" in row for row in rows)
