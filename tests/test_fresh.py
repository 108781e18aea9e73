"""Fresh rows: the frame that makes them, the tasks over them, and packs of them."""

import json
import logging
from itertools import islice

import pytest

from lm_eval_tasks.fresh.utils import (
    GENERATORS,
    find_generator,
    load,
    read_levels,
    rows,
    rows_of_level,
)
from tests import golden
from tests.conftest import PACK, run_python
from utils.__main__ import main
from utils.core.families import all_tasks, configuration, leaf_tasks, scorer


FRESH = leaf_tasks("fresh")
NAMES = sorted(path.stem for path in GENERATORS.glob("*.py"))
LEVELS = range(1, 6)


def test_a_seed_names_its_rows_for_ever():
    assert golden.digests() == json.loads(golden.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("task", FRESH)
def test_a_fresh_task_has_the_version_of_the_rules_that_score_it(task):
    own = scorer(task)
    real = [
        other.version
        for other in map(scorer, set(all_tasks()) - set(FRESH))
        if other.process_docs is own.process_docs
        and other.process_results is own.process_results
    ]
    assert {own.version} == {*real}


@pytest.mark.parametrize("name", NAMES)
def test_a_row_depends_on_seed_level_and_place_alone(name):
    few, many = rows(name, 3, 6, range(1, 4)), rows(name, 3, 20, range(1, 5))
    of_level = {level: list(rows_of_level(name, 3, level, 2)) for level in range(1, 4)}
    assert few == [row for rows in of_level.values() for row in rows]
    assert all(row in many for row in few)
    assert rows(name, 4, 6, range(1, 4)) != few


@pytest.mark.parametrize("name", NAMES)
def test_no_two_rows_of_a_seed_are_alike(name):
    own = ({**row, "index": 0} for row in rows(name, 5, 100, LEVELS))
    texts = [json.dumps(row, sort_keys=True) for row in own]
    assert len(set(texts)) == 100


def test_levels_have_equal_shares_and_the_first_ones_what_is_over():
    made = rows("date_arithmetic", 1, 13, LEVELS)
    assert [row["level"] for row in made] == [1] * 3 + [2] * 3 + [3] * 3 + [4, 4, 5, 5]


@pytest.mark.parametrize(
    ("said", "levels"),
    [("1-5", LEVELS), ("3", range(3, 4)), (3, range(3, 4)), ("8-8", range(8, 9))],
)
def test_levels_are_read(said, levels):
    assert read_levels(said) == levels


@pytest.mark.parametrize(
    "said",
    ["", "0-3", "5-1", "a", "1-", "-1", None, True, [1, 2], "1-9999", "١-٣", 1.5],
)
def test_other_levels_are_refused(said):
    with pytest.raises(ValueError, match="is not such as 3 or '1-5'"):
        read_levels(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gen_seed": -1}, "gen_seed -1 is not an integer of at least 0"),
        ({"gen_seed": "7"}, "gen_seed '7' is not an integer of at least 0"),
        ({"gen_seed": True}, "gen_seed True is not"),
        ({"gen_rows": 0}, "gen_rows 0 is not an integer of at least 1"),
        ({"gen_rows": 4}, "gen_rows 4 is less than one row for each of 5 levels"),
        ({"gen_levels": "5-1"}, "gen_levels '5-1' is not such as"),
    ],
)
def test_metadata_that_cannot_be_meant_is_refused(changed, said):
    metadata = {"gen_seed": 1, "gen_rows": 10, "gen_levels": "1-5"} | changed
    with pytest.raises(ValueError, match=said):
        load("date_arithmetic", **metadata, version=1.0, pretrained="a/model")


def test_a_level_without_enough_rows_says_so(monkeypatch):
    made = find_generator("date_arithmetic")
    monkeypatch.setattr(made, "row", lambda rng, level, index: {"question": "same"})
    with pytest.raises(ValueError, match="level 1 of seed 1 has no 2 different rows"):
        list(islice(rows_of_level("date_arithmetic", 1, 1, 2), 2))


def test_every_generator_has_a_task():
    made = {configuration(task)["dataset_kwargs"]["generator"] for task in FRESH}
    assert made == set(NAMES)


@pytest.mark.parametrize("task", FRESH)
def test_a_perfect_answer_scores_one_and_that_to_another_row_less(task):
    """The proof over 20 seeds is marked `fuzz`."""
    assert_perfect(task, seeds=[1], count=10)


@pytest.mark.fuzz
@pytest.mark.parametrize("task", FRESH)
def test_perfect_answers_score_one_on_many_rows(task):
    assert_perfect(task, seeds=range(20), count=250)


def assert_perfect(task: str, seeds, count: int) -> None:
    one = scorer(task)
    published, flexible = one.headline
    for seed in seeds:
        dataset = load(one_generator(task), seed, count, "1-5")["test"]
        documents = list(one.process_docs(dataset))
        for place, document in enumerate(documents):
            scores = one.process_results(document, [perfect(document)])
            assert scores[published] == scores[flexible] == 1.0, (seed, document)
            others = [x for x in documents if perfect(x) != perfect(document)]
            other = others[place % len(others)]
            scores = one.process_results(document, [perfect(other)])
            assert scores[flexible] < 1, (seed, document, perfect(other))


def one_generator(task: str) -> str:
    return configuration(task)["dataset_kwargs"]["generator"]


def perfect(document: dict) -> str:
    """Return the answer of one who knows it and does what the prompt says."""
    marker = "Thus, the correct answer is:"
    if "golds" in document:
        return f"{marker} {document['golds'][0]}"
    if "premise" in document:
        return f"{marker} {document['label']}"
    if "answer_format" in document:
        return f"\\boxed{{{document['answer']}}}"
    if "prompt" in document:
        return json.dumps({"explanation": "as told", "answer": document["label"]})
    return json.dumps({"explanation": "as told", **json.loads(document["label"])})


RUN = """
import json, logging, sys
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from lm_eval.utils import setup_logging
setup_logging("INFO")
results = []
for metadata in json.loads(sys.argv[2]):
    manager = TaskManager(include_path=sys.argv[1], include_defaults=False, metadata=metadata)
    run = simple_evaluate("dummy", tasks=sys.argv[3].split(","), task_manager=manager,
                          bootstrap_iters=0, cache_requests=True)
    results.append({name: run[name] for name in ("results", "configs", "samples")})
with open("results.json", "w") as file:
    json.dump(results, file, default=str)
"""


@pytest.fixture(scope="module")
def two_seeds(tmp_path_factory):
    """Runs of two seeds in one process with a cache of requests, and their log."""
    folder = tmp_path_factory.mktemp("two_seeds")
    metadata = [
        {"gen_seed": seed, "gen_rows": 6, "gen_levels": "2-4"} for seed in (1, 2)
    ]
    done = run_python(
        *("-c", RUN, PACK, json.dumps(metadata), "fresh"),
        cwd=folder,
        LM_HARNESS_CACHE_PATH=str(folder / "requests"),
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text()), done.stderr


def test_a_cache_of_requests_gives_each_seed_its_own_prompts(two_seeds):
    for run in two_seeds[0]:
        for task in FRESH:
            for sample in run["samples"][task]:
                [prompt, _] = sample["arguments"][0]
                question = sample["doc"].get("question") or sample["doc"]["premise"]
                assert question.strip() in prompt


def test_seed_size_levels_version_and_fingerprint_are_in_the_results(two_seeds):
    fingerprints = set()
    for seed, run in zip((1, 2), two_seeds[0]):
        for task in FRESH:
            metadata = run["configs"][task]["metadata"]
            said = {key: metadata[key] for key in metadata if key.startswith("gen_")}
            fingerprints.add(said.pop("gen_fingerprint"))
            version = find_generator(one_generator(task)).VERSION
            assert said == {
                "gen_seed": seed,
                "gen_rows": 6,
                "gen_levels": "2-4",
                "gen_version": version,
            }
    assert len(fingerprints) == 2 * len(FRESH)


def test_scores_come_by_level_and_the_group_is_the_plain_mean(two_seeds):
    for run in two_seeds[0]:
        for task in FRESH:
            found = [
                x for x in run["results"][task] if "_level_" in x and "std" not in x
            ]
            assert found == [f"score_flexible_level_{n},none" for n in (2, 3, 4)]
        for metric in ("score,none", "score_flexible,none", "extracted,none"):
            assert run["results"]["fresh"][metric] == 0.0


def test_rows_that_say_they_are_fresh_are_not_warned_about(two_seeds):
    log = two_seeds[1]
    assert "not be comparable" not in log
    for task in FRESH:
        assert f"{task}: 6 rows, gen_seed 2" in log


def test_the_families_warn_of_rows_that_do_not_say_so(caplog):
    made = load("date_arithmetic", 1, 10, "1-5")["test"].remove_columns("level")
    with caplog.at_level(logging.WARNING, logger="lm_eval"):
        scorer("fresh_date_arithmetic").process_docs(made)
    assert "not be comparable" in caplog.text


@pytest.fixture(scope="module")
def fresh_pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "pack"
    arguments = ["--gen-seed", "7", "--gen-rows", "8", "--gen-levels", "1-8"]
    assert main(["generate", str(folder), *arguments]) == 0
    return folder


def test_a_pack_of_a_seed_has_the_documents_of_the_seed(fresh_pack, tmp_path):
    metadata = json.dumps([{}])
    done = run_python("-c", RUN, fresh_pack, metadata, "fresh", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [run] = json.loads((tmp_path / "results.json").read_text())
    for task in FRESH:
        one, name = scorer(task), one_generator(task)
        documents = one.process_docs(load(name, 7, 8, "1-8")["test"])
        assert [sample["doc"] for sample in run["samples"][task]] == list(documents)
        assert run["configs"][task]["metadata"]["gen_seed"] == 7
        assert run["results"][task]["score_flexible_level_8,none"] == 0.0


def test_the_manifest_names_the_seed_and_the_pack_is_sound(fresh_pack):
    manifest = json.loads((fresh_pack / "manifest.json").read_text())
    for entry in manifest["data"].values():
        assert entry["generated"]["gen_seed"] == 7
        assert entry["given_as"] == "generated"
    assert main(["offline", str(fresh_pack), "--check"]) == 0


def test_making_the_pack_again_changes_nothing(fresh_pack):
    before = {x: x.read_bytes() for x in fresh_pack.rglob("*") if x.is_file()}
    arguments = ["--gen-seed", "7", "--gen-rows", "8", "--gen-levels", "1-8"]
    assert main(["generate", str(fresh_pack), *arguments]) == 0
    assert before == {x: x.read_bytes() for x in fresh_pack.rglob("*") if x.is_file()}


def test_a_seed_of_any_length_is_taken_as_it_is(tmp_path, capsys):
    seed = 12345678901234567890123
    arguments = ["--gen-rows", "5", "--tasks", "fresh_date_arithmetic", "--gen-seed"]
    assert main(["generate", str(tmp_path), *arguments, str(seed)]) == 0
    [entry] = json.loads((tmp_path / "manifest.json").read_text())["data"].values()
    assert entry["generated"]["gen_seed"] == seed
    for wrong in ("-1", "x", "1e3", "9" * 5000):
        assert main(["generate", str(tmp_path), *arguments, wrong]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert "argument --gen-seed" in said and len(said) < 300


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gen-seed", "8"], "has the rows of another request (generator "),
        (["--gen-seed", "7", "--gen-rows", "3"], "gen_rows 3 is less than one row"),
        (["--gen-seed", "7", "--gen-levels", "0"], "gen_levels '0' is not such as"),
        (["--gen-seed", "7", "--tasks", "tcp_long"], "tcp_long: is not a fresh task"),
        (
            ["--gen-seed", "7", "--tasks", "fresh_tcp"],
            "'fresh_tcp' is unknown; did you",
        ),
    ],
)
def test_a_pack_that_cannot_be_made_says_why(fresh_pack, capsys, arguments, said):
    before = {x: x.read_bytes() for x in fresh_pack.rglob("*") if x.is_file()}
    assert main(["generate", str(fresh_pack), *arguments]) == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert before == {x: x.read_bytes() for x in fresh_pack.rglob("*") if x.is_file()}
