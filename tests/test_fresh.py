"""Fresh rows: the frame that makes them, the tasks over them, and packs of them."""

import json
import logging
import pickle
import re
from statistics import mean

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_tasks.fresh.utils import (
    NAMES,
    check_knobs,
    find_generator,
    generate_row,
    load,
    read_levels,
    read_request,
    rows,
)
from tests import golden
from tests.conftest import EXAMPLES, PACK, TASKS
from tests.solvers import baselines
from tests.solvers.shortcuts import SHORTCUTS
from tests.test_offline import content, manifest_of
from utils.__main__ import main
from utils.core.documents import Rows, documents, load as load_tasks
from utils.core.families import configuration, leaf_tasks, scorer
from utils.core.private import task_index
from utils.verdicts.constants import References


FRESH = leaf_tasks("fresh")
LEVELS = range(1, 6)


def one_generator(task: str) -> str:
    return configuration(task)["dataset_kwargs"]["generator"]


def perfect(task: str, document: dict) -> str:
    """Return the answer of one who knows it and does what the prompt says."""
    return scorer(task).utils.gold_response(document)


def test_a_seed_names_its_rows_for_ever():
    assert golden.digests() == json.loads(golden.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_depends_on_seed_level_index_and_knobs_alone(name):
    few = list(rows(name, 3, 6, range(1, 4)))
    more = list(rows(name, 3, 8, range(1, 5)))
    alone = [generate_row(name, 3, x["level"], x["index"]) for x in reversed(few)]
    assert few == alone[::-1]
    assert all(row in more for row in few)
    problems = [{**row, "index": 0} for row in (*few, *rows(name, 4, 6, range(1, 4)))]
    assert len({json.dumps(problem) for problem in problems}) == 12


def test_a_request_regenerates_each_of_its_rows_and_no_other():
    request = read_request("timexnli", 7, 5, "2-3", "3", {"timexnli": {"gap": 1}})
    regenerated = [request.row(place) for place in (4, 3, 2, 1, 0)]
    assert regenerated[::-1] == list(rows(*request))
    assert [(x["level"], x["index"]) for x in regenerated[:2]] == [(2, 2), (3, 1)]
    assert regenerated[-1] != generate_row("timexnli", 7, 2, 0)
    for place in (5, -1, 2.0, "2", None, True):
        with pytest.raises(ValueError, match="timexnli: has no row .*, but 0 to 4"):
            request.row(place)


def test_levels_take_turns_so_that_the_first_rows_are_of_all():
    made = rows("date_arithmetic", 1, 7, read_levels("1-5"))
    assert [row["level"] for row in made] == [1, 2, 3, 4, 5, 1, 2]
    assert read_levels(3) == read_levels("3") == read_levels("3-3") == range(3, 4)


NO_LEVELS = ["", "0-3", "a", "1-", None, True, [1, 2], "1-99999", "١-٣", 1.5]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"gen_seed": -1}, "gen_seed -1 is not an integer of at least 0"),
        ({"gen_seed": "7"}, "gen_seed '7' is not an integer of at least 0"),
        ({"gen_rows": 0}, "gen_rows 0 is not an integer of at least 1"),
        ({"gen_rows": 4}, "gen_rows 4 is less than one row for each of 5 levels"),
        ({"gen_levels": "5-1"}, "gen_levels '5-1' is not such as"),
        *(({"gen_levels": x}, "is not such as 3 or '1-5'") for x in NO_LEVELS),
        ({"gen_version": "1"}, r"leave .* the release of that version \(0.3 has 1\)"),
        ({"gen_levels": "999", "gen_rows": 1}, "its highest level is 100, not 999"),
        ({"gen_knobs": [1]}, "gen_knobs .* is not such as"),
        ({"gen_knobs": {"timexnli": 3}}, "gen_knobs .* is not such as"),
        ({"gen_knobs": {"tcp": {}}}, "there is no generator 'tcp'; name some of date_"),
        ({"gen_knobs": {"tcp_long": "hard"}}, "tcp_long has no setting 'hard'; give"),
        (
            {"gen_knobs": {"tot_semantic": "benchmark"}},
            "tot_semantic has no setting 'benchmark'; give numbers of knobs",
        ),
        (
            {"gen_knobs": {"tcp_long": {"step": 3}}},
            "no knob 'step'; it has steps, people",
        ),
        *(
            ({"gen_knobs": {"tcp_long": {"steps": x}}}, "is not an integer of 1 to 12")
            for x in ("3", True, 0, 13)
        ),
    ],
)
def test_metadata_that_cannot_be_meant_is_refused(changed, said):
    metadata = {"gen_seed": 1, "gen_rows": 10, "gen_levels": "1-5"} | changed
    with pytest.raises(ValueError, match=said):
        load("date_arithmetic", **metadata, version=1.0, pretrained="a/model")


def test_a_cache_of_requests_is_refused(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/lm_eval", "--cache_requests=true"])
    with pytest.raises(ValueError, match="the cache tells no seed from another"):
        load("date_arithmetic", 1, 10, "1-5")


def test_a_level_without_a_sound_draw_says_so(monkeypatch):
    monkeypatch.setattr(find_generator("date_arithmetic"), "row", lambda *_: None)
    with pytest.raises(
        ValueError, match="no problem of level 1 in 5000 draws of seed 1"
    ):
        generate_row("date_arithmetic", 1, 1, 0)


def test_knobs_change_the_rows_of_their_generator_and_are_no_others_where_they_are_so():
    levels = range(2, 3)
    ladder = list(rows("date_arithmetic", 1, 3, levels))
    same = rows("date_arithmetic", 1, 3, levels, {"date_arithmetic": {"steps": 2}})
    more = rows("date_arithmetic", 1, 3, levels, {"date_arithmetic": {"steps": 5}})
    other = rows("date_arithmetic", 1, 3, levels, {"timexnli": {"steps": 5}})
    assert list(same) == list(other) == ladder
    assert [row["question"].lower().count("go ") for row in more] == [5, 5, 5]


def test_the_benchmark_s_own_setting_is_that_of_all_levels():
    for name in ("tcp_short", "tcp_long"):
        generator = find_generator(name)
        assert generator.BENCHMARK.keys() == generator.ladder(1).keys()
        for row in rows(name, 1, 4, range(1, 5), {name: "benchmark"}):
            assert len(row["tasks"]) == 3 and len(row["agents"]) == 2
    check_knobs({"tcp_long": "benchmark", "timexnli": {"steps": 3}})
    one = rows("timexnli", 1, 3, range(5, 6), {"timexnli": "benchmark"})
    assert all(row["Premise"].count(".") <= 2 for row in one)


def test_files_are_read_as_the_harness_reads_them():
    manager = TaskManager(include_path=str(PACK), include_defaults=False)
    found = {name: entry.cfg for name, entry in task_index(manager).items()}
    assert found == {name: configuration(name) for name in found}


def test_every_generator_has_a_task_that_says_its_version():
    assert sorted(map(one_generator, FRESH)) == NAMES
    for task in FRESH:
        made = find_generator(one_generator(task))
        assert configuration(task)["metadata"]["gen_version"] == made.VERSION
        assert scorer(task).version == 2.2  # of prompts and rule, as of the group


@pytest.mark.parametrize(
    ("seeds", "count"), [(1, 0), pytest.param(20, 250, marks=pytest.mark.fuzz)]
)
@pytest.mark.parametrize("task", FRESH)
def test_a_perfect_answer_scores_one_and_that_to_another_row_less(task, seeds, count):
    # Of ToT arithmetic, each kind has its turn within 74 rows of a level.
    count = count or (370 if "tot_arithmetic" in task else 10)
    one = scorer(task)
    for seed in range(seeds):
        dataset = load(one_generator(task), seed, count, "1-5")["test"]
        made = list(one.process_docs(dataset))
        answers = [perfect(task, document) for document in made]
        for place, (document, answer) in enumerate(zip(made, answers)):
            level = f"score_flexible_level_{document['level']}"
            names = ("score", "score_flexible", "extracted", level)
            assert one.process_results(document, [answer]) == dict.fromkeys(names, 1.0)
            others = [x for x in answers if x != answer]
            other = others[place % len(others)]
            scores = one.process_results(document, [other])
            assert scores["score_flexible"] < 1, (seed, document, other)


@pytest.mark.parametrize("task", FRESH)
def test_scores_are_those_of_the_rule_by_common_names(task):
    one, base = scorer(task), scorer(scorer(task).base)
    [document] = one.process_docs(load(one_generator(task), 1, 1, "1")["test"])
    document = {**document, "level": 12}
    for response in (perfect(task, document), "No idea."):
        verdict, expected = (x.explain(document, response) for x in (one, base))
        published, flexible = (expected.scores[name] for name in base.headline)
        assert verdict.scores == one.process_results(document, [response])
        # Level 12 has no metric of its own.
        scores = {"score": published, "score_flexible": flexible}
        assert verdict.scores == scores | {"extracted": expected.scores["extracted"]}
        assert verdict._replace(scores=None) == expected._replace(scores=None)
        assert pickle.loads(pickle.dumps(verdict)) == verdict


def test_the_families_warn_of_rows_that_do_not_say_that_they_are_fresh(caplog):
    made = load("date_arithmetic", 1, 10, "1-5")["test"]
    process_docs = scorer("fresh_date_arithmetic").process_docs
    process_docs(made)
    assert not caplog.text
    process_docs(made.remove_columns("level"))
    assert "not be comparable" in caplog.text


def test_a_run_says_its_rows_and_scores_by_level(caplog):
    metadata = {"gen_seed": 2, "gen_rows": 6, "gen_levels": "2-4", "gen_version": "3"}
    told = {"include_defaults": False, "metadata": metadata}
    manager = TaskManager(include_path=str(PACK), **told)
    with caplog.at_level(logging.INFO, logger="lm_eval"):
        run = simple_evaluate(
            "dummy", tasks=["fresh"], task_manager=manager, bootstrap_iters=0
        )
    for task in FRESH:
        found = run["configs"][task]["metadata"]
        assert metadata == {key: found[key] for key in metadata}
        levels = re.findall(r"'score_flexible_level_(\d+),", str(run["results"][task]))
        assert levels == ["2", "3", "4"]
        assert f"{task}: 6 rows, gen_seed 2, gen_rows 6, gen_levels 2-4" in caplog.text
    for metric in ("score,none", "score_flexible,none", "extracted,none"):
        assert run["results"]["fresh"][metric] == 0.0
    assert len(re.findall(r"6 rows, fingerprint \w{16}", caplog.text)) == len(FRESH)
    assert "not be comparable" not in caplog.text
    assert "No aggregation function" not in caplog.text


REQUEST = ["--gen-seed", "7", "--gen-rows", "4", "--gen-levels", "1-4"]


@pytest.fixture(scope="module")
def fresh_pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh") / "pack"
    assert main(["generate", str(folder), *REQUEST]) == 0
    return folder


def test_a_pack_of_a_seed_has_the_documents_of_the_seed(fresh_pack):
    found = load_tasks(["fresh"], fresh_pack)[1]["tasks"]
    assert sorted(found) == sorted(FRESH)
    for task in FRESH:
        made = load(one_generator(task), 7, 4, "1-4")["test"]
        assert list(found[task].eval_docs) == list(scorer(task).process_docs(made))
        document = found[task].eval_docs[3]
        scores = found[task].process_results(document, [perfect(task, document)])
        assert scores["score"] == scores["score_flexible_level_4"] == 1.0
        (references := References(task)).add(document)
        assert max(references.constants().values()) == 1
        assert references.constants()[perfect(task, document)] == 1


def test_a_row_of_a_pack_has_nothing_of_its_neighbours(fresh_pack):
    for task in FRESH:
        lines = (fresh_pack / "data" / f"{task}.jsonl").read_text().splitlines()
        for place, line in enumerate(lines):
            row = generate_row(one_generator(task), 7, place % 4 + 1, place // 4)
            assert json.loads(line) == row


def test_a_pack_that_is_made_again_is_the_same_and_sound(fresh_pack, capsys):
    before = content(fresh_pack)
    assert main(["generate", str(fresh_pack), *REQUEST]) == 0
    assert capsys.readouterr().err.endswith(" --tasks fresh\n")
    assert content(fresh_pack) == before
    assert main(["offline", str(fresh_pack), "--check"]) == 0


def test_a_pack_names_its_seed_and_takes_no_other(fresh_pack):
    told = {"gen_seed": 7, "gen_rows": 4, "gen_levels": "1-4", "gen_version": "3"}
    told["gen_knobs"] = {}
    for entry in manifest_of(fresh_pack)["data"].values():
        assert entry["generated"] == told
        assert entry["given_as"] == "generated"
    load_pack = load_tasks([FRESH[0]], fresh_pack)[1]["tasks"][
        FRESH[0]
    ].config.custom_dataset
    file = f"{FRESH[0]}.jsonl"
    assert len(load_pack(file, gen_seed=7, pretrained="a/model")["test"]) == 4
    with pytest.raises(ValueError, match="--metadata gen_seed changes nothing in a"):
        load_pack(file, gen_seed=8)


def test_shortcuts_stand_beside_the_best_constant_answer_by_level(fresh_pack, capsys):
    baselines.main(str(fresh_pack))
    lines = capsys.readouterr().out.splitlines()
    assert "| task | shortcut | level 1 | level 2 | level 3 | level 4 |" in lines
    cell = r"(\d\.\d\d \(\d\.\d\d\)|needs 24 rows)?"
    for task, shortcuts in SHORTCUTS.items():
        for name in shortcuts:
            told = re.escape(f"| `{task}` | {name} |") + rf"( {cell} \|){{4}}"
            assert [x for x in lines if re.fullmatch(told, x)], name
    learned = "| `fresh_timexnli` | words | " + "needs 24 rows | " * 4
    assert learned.strip() in lines


@pytest.mark.parametrize(
    ("task", "shortcut", "count", "bound"),
    [
        ("fresh_tcp_long", "best of 11 greedy orders", 10, 0.25),
        ("fresh_tcp_short", "best of 11 greedy orders", 10, 0.25),
        ("fresh_tot_arithmetic", "only what is told by no other fact", 740, 0.27),
        ("fresh_timexnli", "all spans onto the one time", 400, 0.62),
        ("fresh_timexnli", "the two prepositions", 400, 0.62),
        ("fresh_tot_semantic", "the last description", 80, 0.30),
        ("fresh_tot_semantic", "no description", 80, 0.30),
    ],
)
def test_a_shortcut_is_of_no_use_from_level_3_on(task, shortcut, count, bound):
    made = list(rows(one_generator(task), 17, count, range(3, 5)))
    documents = scorer(task).process_docs(Rows(made))
    said = SHORTCUTS[task][shortcut](made)
    pairs = [(document, x) for document, x in zip(documents, said) if x]
    found = [scorer(task).process_results(x, [y])["score"] for x, y in pairs]
    assert len(found) >= 10 and mean(found) < bound


def test_rows_of_a_benchmark_and_of_a_seed_of_any_length_stand_in_one_pack(tmp_path):
    seed, pack = "12345678901234567890123", str(tmp_path / "pack")
    source = [f"--source=tcp={EXAMPLES / 'data'}", "--allow-partial"]
    assert main(["offline", pack, "--tasks", "tcp_long", *source]) == 0
    request = ["--gen-rows", "5", "--gen-seed", seed]
    assert main(["generate", pack, "--tasks", "fresh_tcp_long", *request]) == 0
    entry = manifest_of(tmp_path / "pack")["data"]["fresh_tcp_long.jsonl"]
    assert entry["generated"]["gen_seed"] == int(seed)
    assert len(documents("tcp_long", tmp_path / "pack")) == 8
    assert len(documents("fresh_tcp_long", tmp_path / "pack")) == 5


@pytest.mark.parametrize(
    ("seed", "arguments", "said"),
    [
        ("8", [], "has the rows of another request (generator "),
        ("7", ["--gen-rows", "3"], "gen_rows 3 is less than one row"),
        ("7", ["--tasks", "tcp_long"], "tcp_long: is not a fresh task"),
        ("7", ["--tasks", "fresh_tcp"], "is unknown; did you"),
        ("-1", [], "'-1' is not a whole number"),
    ],
)
def test_a_pack_that_cannot_be_made_says_why(fresh_pack, capsys, seed, arguments, said):
    before = content(fresh_pack)
    rows = ["--gen-rows", "5"]
    assert main(["generate", str(fresh_pack), *rows, "--gen-seed", seed, *arguments])
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert content(fresh_pack) == before


@pytest.mark.parametrize("task", TASKS)
def test_the_gold_in_the_form_that_is_asked_for_scores_one(offline_tasks, task):
    if scorer(task).headline:
        for document in offline_tasks[task].test_docs():
            response = scorer(task).utils.gold_response(document)
            scores = scorer(task).process_results(document, [response])
            assert all(scores[name] == 1 for name in scorer(task).headline), document
