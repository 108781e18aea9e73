"""Fresh rows: the frame that makes them, the tasks over them, and packs of them."""

import json
import logging
import pickle
import random
import re
from functools import partial
from pathlib import Path
from statistics import mean

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from lm_eval_tasks.fresh.generators._arithmetic_spans_and_order import before_or_after
from lm_eval_tasks.fresh.generators._wording import ordinal
from lm_eval_tasks.fresh.scores import HEADLINES, _common
from lm_eval_tasks.fresh.utils import (
    NAMES,
    check_knobs,
    find_generator,
    generate_row,
    load,
    read_levels,
    read_request,
    rows,
    rows_with_bar,
)
from tests import golden
from tests.conftest import EXAMPLES, PACK
from tests.solvers import baselines, obedient
from tests.solvers.shortcuts import SHORTCUTS
from tests.test_offline import content, manifest_of
from utils.__main__ import main
from utils.core.documents import Rows, documents, load as load_tasks
from utils.core.task_scorers import configuration, leaf_tasks, prompt, scorer
from utils.verdicts.constant_answers import References


FRESH = leaf_tasks("fresh")


def generator_of(task: str) -> str:
    return configuration(task)["dataset_kwargs"]["generator"]


def perfect(task: str, document: dict) -> str:
    """Return the answer of one who knows it and does what the prompt says."""
    ways = obedient.responses(scorer(task).family, document, prompt(task, document))
    return ways[obedient.AS_ASKED][0]


@pytest.mark.parametrize("side", ["before", "after"])
def test_who_is_asked_strictly_of_a_moment_is_not_in_its_own_answer(side):
    """Of 3,000 problems, some ask for the day of one of the people."""
    people_of_the_day = []
    for seed in range(3_000):
        problem = before_or_after(random.Random(seed), 1)
        if found := re.search(rf"strictly {side} ([^?]+)\?", problem.text):
            names = re.findall(rf"(\w+) on {re.escape(found[1])}", problem.text)
            people_of_the_day += names
            assert not {*names} & {*problem.answer["unordered_list"]}
    assert len(people_of_the_day) > 1


def test_a_seed_names_its_rows_for_ever():
    assert golden.digests() == json.loads(golden.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_row_depends_on_seed_level_index_and_knobs_alone(name):
    request = read_request(name, 3, 6, "1-3", gen_knobs={"timexnli": {"gap": 1}})
    few = [request.row(place) for place in (5, 4, 3, 2, 1, 0)][::-1]
    assert few == list(rows(*request))
    assert [row["level"] for row in few] == [1, 2, 3, 1, 2, 3]  # by turns
    more = list(rows(name, 3, 8, range(1, 5), request.knobs))
    assert all(row in more for row in few)
    plain = [generate_row(name, 3, level, 0) for level in (1, 2, 3)]
    assert (plain == few[:3]) == (name != "timexnli")
    problems = [{**row, "index": 0} for row in (*few, *rows(name, 4, 6, range(1, 4)))]
    assert len({*map(json.dumps, problems)}) == 12
    for place in (6, -1, 2.0, "2", None, True):
        with pytest.raises(ValueError, match=f"{name}: has no row .*, but 0 to 5"):
            request.row(place)


NO_LEVELS = ["", "0-3", "a", "1-", None, True, [1, 2], "1-99999", "١-٣", 1.5, "5-1"]
BAD_METADATA = [
    ({"gen_seed": -1}, "gen_seed -1 is not an integer of at least 0"),
    ({"gen_seed": "7"}, "gen_seed '7' is not an integer of at least 0"),
    ({"gen_rows": 0}, "gen_rows 0 is not an integer of at least 1"),
    ({"gen_rows": 4}, "gen_rows 4 is less than one row for each of 5 levels"),
    *(({"gen_levels": x}, "is not such as 3 or '1-5'") for x in NO_LEVELS),
    ({"gen_version": "1"}, r"leave .* the release of that version \(0.3 has 1\)"),
    ({"gen_levels": "999", "gen_rows": 1}, "its highest level is 100, not 999"),
    ({"gen_knobs": [1]}, "gen_knobs .* is not such as"),
    ({"gen_knobs": {"timexnli": 3}}, "gen_knobs .* is not such as"),
    ({"gen_knobs": {"tcp": {}}}, "there is no generator 'tcp'; name some of date_"),
    ({"gen_knobs": {"tot_semantic": "benchmark"}}, "has no setting 'benchmark'; give"),
    ({"gen_knobs": {"tcp_long": "hard"}}, "tcp_long has no setting 'hard'; give"),
    ({"gen_knobs": {"tcp_long": {"step": 3}}}, "no knob 'step'; it has steps, people"),
    *(
        ({"gen_knobs": {"tcp_long": {"steps": x}}}, "is not an integer of 1 to 12")
        for x in ("3", True, 0, 13)
    ),
]


@pytest.mark.parametrize(("changes", "fault"), BAD_METADATA)
def test_metadata_that_cannot_be_meant_is_refused(changes, fault):
    assert read_levels(3) == read_levels("3") == read_levels("3-3") == range(3, 4)
    metadata = {"gen_seed": 1, "gen_rows": 10, "gen_levels": "1-5"} | changes
    with pytest.raises(ValueError, match=fault):
        load("date_arithmetic", **metadata, version=1.0, pretrained="a/model")


def test_a_level_without_a_sound_draw_says_so(monkeypatch):
    monkeypatch.setattr(find_generator("date_arithmetic"), "row", lambda *_: None)
    with pytest.raises(ValueError, match="level 2 in 5000 draws of seed 1, row 3; ch"):
        generate_row("date_arithmetic", 1, 2, 3)


LONG = "x" * 99
CUT_METADATA = [  # the part of a long value that its message shows, and the value
    (r"gen_levels '(x{39}) is not such as", {"gen_levels": LONG}),
    (r"gen_seed '(x{39}) is not an integer", {"gen_seed": LONG}),
    (r"gen_version '(x{39}): the generator", {"gen_version": LONG}),
    (r"no generator '(x{39}); name", {"gen_knobs": {LONG: {}}}),
    (r"no knob '(x{39}); it has", {"gen_knobs": {"tcp_long": {LONG: 1}}}),
    (r"no setting '(x{39});", {"gen_knobs": {"tcp_long": LONG}}),
    (r"steps '(x{39}) is not", {"gen_knobs": {"tcp_long": {"steps": LONG}}}),
]


@pytest.mark.parametrize(("shown", "changes"), CUT_METADATA)
def test_a_long_value_is_cut_in_the_message_about_it(shown, changes):
    metadata = {"gen_seed": 1, "gen_rows": 10, "gen_levels": "1-5"} | changes
    with pytest.raises(ValueError, match=shown):
        read_request("date_arithmetic", **metadata)
    request = read_request("date_arithmetic", 1, 10, 1)
    with pytest.raises(ValueError, match=r"has no row '(x{19}), but 0 to 9"):
        request.row(LONG)


def test_a_load_says_its_knobs_and_version_also_where_none_are_given(
    caplog, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["lm_eval", "--cache_requests", "refresh"])
    with caplog.at_level(logging.INFO, logger="lm_eval"):
        loaded = load("date_arithmetic", gen_seed=1, gen_rows=1, gen_levels=2)
    assert loaded["test"].info.config_name == "fresh_date_arithmetic"
    version = find_generator("date_arithmetic").VERSION
    assert caplog.text.rstrip().endswith(f"gen_knobs {{}}, gen_version {version}")


def test_levels_go_up_to_the_highest_and_numbers_are_no_truth_values():
    request = partial(read_request, "date_arithmetic")
    highest = find_generator("date_arithmetic").HIGHEST
    assert request(0, 1, highest).levels == range(highest, highest + 1)
    with pytest.raises(ValueError, match=f"is {highest}, not {highest + 2}; change"):
        request(0, 9, f"{highest}-{highest + 2}")
    for seed, count in ((True, 1), (1, True)):
        with pytest.raises(ValueError, match="True is not an integer of at least"):
            request(seed, count, 1)


def test_knobs_change_the_rows_of_their_generator_alone():
    ladder, same, more = (
        [x["question"].lower() for x in rows("date_arithmetic", 1, 3, range(2, 3), y)]
        for y in ({}, {"timexnli": {"steps": 5}}, {"date_arithmetic": {"steps": 5}})
    )
    assert same == ladder
    assert [question.count("go ") for question in more] == [5, 5, 5]


@pytest.mark.parametrize("name", NAMES)
def test_a_knob_has_each_value_within_its_bounds(name):
    bounds = find_generator(name).BOUNDS
    assert bounds.keys() <= find_generator(name).ladder(1).keys()
    for knob, (least, greatest) in bounds.items():
        for value in (least, greatest):
            check_knobs({name: {knob: value}})
        for value in (least - 1, greatest + 1):
            with pytest.raises(ValueError, match=f"of {least} to {greatest}"):
                check_knobs({name: {knob: value}})


def test_a_knob_without_bounds_of_its_own_is_0_to_100():
    for value in (0, 100):
        check_knobs({"tcp_long": {"distractors": value}})
    for value in (-1, 101):
        with pytest.raises(ValueError, match=f"distractors {value} .* of 0 to 100"):
            check_knobs({"tcp_long": {"distractors": value}})


def test_one_row_of_each_level_is_enough():
    made = load("date_arithmetic", gen_seed=1, gen_rows=5, gen_levels="1-5")["test"]
    assert [row["level"] for row in made] == [1, 2, 3, 4, 5]


def test_each_level_up_to_ten_has_a_score():
    task = scorer("fresh_date_arithmetic")
    made = load("date_arithmetic", gen_seed=1, gen_rows=2, gen_levels="10-11")["test"]
    for doc in task.process_docs(made):
        gold = task.utils.gold_response(doc)
        scores = task.process_results(doc, [gold])
        assert ("score_flexible_level_10" in scores) == (doc["level"] == 10)


ORDINALS = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 21: "21st"}
ORDINALS |= {101: "101st", 111: "111th", 113: "113th", 122: "122nd"}


@pytest.mark.parametrize("number", ORDINALS)
def test_an_ordinal_ends_as_it_is_spoken(number):
    assert ordinal(number) == ORDINALS[number]


def test_the_benchmark_s_own_setting_is_that_of_all_levels():
    check_knobs({"tcp_long": "benchmark", "timexnli": {"steps": 3}})
    for name in ("tcp_short", "tcp_long"):
        assert (
            find_generator(name).BENCHMARK.keys()
            == find_generator(name).ladder(1).keys()
        )
        for row in rows(name, 1, 4, range(1, 5), {name: "benchmark"}):
            assert len(row["tasks"]) == 3 and len(row["agents"]) == 2
        without = {"distractors", "lookalikes", "misleading", "binding"}
        knobs = find_generator(name).BENCHMARK
        assert {knob for knob in knobs if not knobs[knob]} == without
    pairs = rows("timexnli", 1, 3, range(5, 6), {"timexnli": "benchmark"})
    assert all(row["Premise"].count(".") <= 2 for row in pairs)


@pytest.mark.parametrize("task", FRESH)
def test_a_perfect_answer_scores_one_and_that_to_another_row_less(task):
    # Of ToT arithmetic, each kind has its turn within 74 rows of a level.
    count = 370 if "tot_arithmetic" in task else 10
    dataset = load(generator_of(task), 0, count, "1-5")["test"]
    fresh_documents = list(scorer(task).process_docs(dataset))
    answers = [perfect(task, document) for document in fresh_documents]
    score = scorer(task).process_results
    for place, (document, answer) in enumerate(zip(fresh_documents, answers)):
        level = f"score_flexible_level_{document['level']}"
        names = ("score", "score_flexible", "extracted", level)
        assert score(document, [answer]) == dict.fromkeys(names, 1.0)
        others = [x for x in answers if x != answer]
        other = others[place % len(others)]
        assert score(document, [other])["score_flexible"] < 1, document


@pytest.mark.parametrize("task", FRESH)
def test_scores_are_those_of_the_rule_by_common_names(task):
    fresh, base = scorer(task), scorer(scorer(task).base)
    [document] = fresh.process_docs(load(generator_of(task), 1, 1, "1")["test"])
    document = {**document, "level": 12}  # which has no metric of its own
    for response in (perfect(task, document), "No idea."):
        verdict, expected = (x.explain(document, response) for x in (fresh, base))
        assert verdict.scores == fresh.process_results(document, [response])
        published, flexible = (expected.scores[name] for name in base.headline.values())
        scores = {"score": published, "score_flexible": flexible}
        assert verdict.scores == scores | {"extracted": expected.scores["extracted"]}
        assert verdict._replace(scores=None) == expected._replace(scores=None)
        assert pickle.loads(pickle.dumps(verdict)) == verdict


@pytest.mark.parametrize("names", HEADLINES)
def test_a_level_has_the_flexible_score_and_not_the_published_one(names):
    of_the_rule = dict(zip(names, (0.0, 1.0))) | {"extracted": 1.0}
    common = {"score": 0.0, "score_flexible": 1.0, "extracted": 1.0}
    for level, own in ((10, {"score_flexible_level_10": 1.0}), (11, {})):
        assert _common({"level": level}, of_the_rule) == common | own


def test_a_run_says_its_rows_and_scores_by_level(caplog):
    assert sorted(map(generator_of, FRESH)) == NAMES
    metadata = {"gen_seed": 2, "gen_rows": 6, "gen_levels": "2-4", "gen_version": "5"}
    settings = {"include_defaults": False, "metadata": metadata}
    manager = TaskManager(include_path=str(PACK), **settings)
    with caplog.at_level(logging.INFO, logger="lm_eval"):
        run = simple_evaluate(
            "dummy", tasks=["fresh"], task_manager=manager, bootstrap_iters=0
        )
    for task in FRESH:
        assert metadata.items() <= run["configs"][task]["metadata"].items()
        levels = re.findall(r"'score_flexible_level_(\d+),", str(run["results"][task]))
        assert levels == ["2", "3", "4"]
        assert f"{scorer(task).version}" == run["versions"]["fresh"]  # as of the group
        assert f"{task}: 6 rows, gen_seed 2, gen_rows 6, gen_levels 2-4" in caplog.text
    means = {x: run["results"]["fresh"][f"{x},none"] for x in ("score", "extracted")}
    assert means == {"score": 0.0, "extracted": 0.0}
    assert len(re.findall(r"6 rows, fingerprint \w{16}", caplog.text)) == len(FRESH)
    assert not re.search("not be comparable|No aggregation function", caplog.text)


SEED = 12345678901234567890123
REQUEST = ["--gen-seed", str(SEED), "--gen-rows", "4", "--gen-levels", "1-4"]


@pytest.fixture(scope="module")
def fresh_pack(tmp_path_factory):
    """A pack of a benchmark's rows and of fresh ones."""
    folder = str(tmp_path_factory.mktemp("fresh") / "pack")
    source = [f"--source=tcp={EXAMPLES / 'data'}", "--allow-partial"]
    assert main(["offline", folder, "--tasks", "tcp_long", *source]) == 0
    assert main(["generate", folder, *REQUEST]) == 0
    return Path(folder)


def test_a_pack_of_a_seed_has_its_rows_and_the_documents_of_a_run(fresh_pack):
    assert len(documents("tcp_long", fresh_pack)) == 8
    tasks = load_tasks(["fresh"], fresh_pack)[1]["tasks"]
    assert sorted(tasks) == sorted(FRESH)
    for task in FRESH:
        lines = (fresh_pack / "data" / f"{task}.jsonl").read_text().splitlines()
        seed_rows = [*rows(generator_of(task), SEED, 4, range(1, 5))]
        assert [json.loads(line) for line in lines] == seed_rows
        seed_documents = list(scorer(task).process_docs(Rows(seed_rows)))
        assert list(tasks[task].eval_docs) == seed_documents
        answer = perfect(task, seed_documents[3])
        scores = tasks[task].process_results(seed_documents[3], [answer])
        assert scores["score"] == scores["score_flexible_level_4"] == 1.0
        (references := References(task)).add(seed_documents[3])
        gold = scorer(task).utils.gold_response(seed_documents[3])
        assert references.constants()[gold] == 1


def test_a_pack_that_is_made_again_is_the_same_and_sound(fresh_pack, capsys):
    before = content(fresh_pack)
    assert main(["generate", str(fresh_pack), *REQUEST]) == 0
    assert capsys.readouterr().err.endswith(" --tasks fresh\n")
    assert content(fresh_pack) == before
    assert main(["offline", str(fresh_pack), "--check"]) == 0


def test_a_pack_names_its_seed_and_takes_no_other(fresh_pack, monkeypatch):
    request = {"gen_seed": SEED, "gen_rows": 4, "gen_levels": "1-4", "gen_knobs": {}}
    request["gen_version"] = "5"
    entries = manifest_of(fresh_pack)["data"]
    for task in FRESH:
        assert entries[f"{task}.jsonl"]["generated"] == request
        assert entries[f"{task}.jsonl"]["given_as"] == "generated"
    task = load_tasks(FRESH[:1], fresh_pack)[1]["tasks"][FRESH[0]]
    load_pack = partial(task.config.custom_dataset, f"{FRESH[0]}.jsonl")
    assert len(load_pack(gen_seed=SEED, pretrained="a/model")["test"]) == 4
    with pytest.raises(ValueError, match="--metadata gen_seed changes nothing in a"):
        load_pack(gen_seed=8)
    monkeypatch.setattr("sys.argv", ["/usr/bin/lm_eval", "--cache_requests=true"])
    for load_fresh in (load_pack, partial(load, "timexnli", 1, 10, "1")):
        with pytest.raises(ValueError, match="the cache tells no seed from another"):
            load_fresh()


BAD_REQUESTS = [
    (8, [], "has the rows of another request (generator "),
    (SEED, ["--gen-rows", "3"], "gen_rows 3 is less than one row"),
    (SEED, ["--tasks", "tcp_long"], "tcp_long: is not a fresh task"),
    (SEED, ["--tasks", "fresh_tcp"], "is unknown; did you"),
    (-1, [], "'-1' is not a whole number"),
]


@pytest.mark.parametrize(("seed", "more", "fault"), BAD_REQUESTS)
def test_a_pack_that_cannot_be_made_says_why(fresh_pack, capsys, seed, more, fault):
    before = content(fresh_pack)
    request = ["--gen-rows", "5", "--gen-seed", str(seed), *more]
    assert main(["generate", str(fresh_pack), *request])
    assert fault in capsys.readouterr().err.splitlines()[-1]
    assert content(fresh_pack) == before


def test_shortcuts_stand_beside_the_best_constant_answer_by_level(fresh_pack, capsys):
    baselines.main(str(fresh_pack))
    lines = capsys.readouterr().out.splitlines()
    cell = r"(\d\.\d\d \(\d\.\d\d\)|needs 24 rows)?"
    for task, name in ((x, y) for x, shortcuts in SHORTCUTS.items() for y in shortcuts):
        line = re.compile(re.escape(f"| `{task}` | {name} |") + rf"( {cell} \|){{4}}")
        assert any(map(line.fullmatch, lines)), name
    assert f"| `fresh_timexnli` | words |{' needs 24 rows |' * 4}" in lines


BOUNDS = {  # task: rows, and what the mean score of each shortcut stays below
    "fresh_tcp_long": (10, {"best of 11 greedy orders": 0.25}),
    "fresh_tcp_short": (10, {"best of 11 greedy orders": 0.25}),
    "fresh_tot_arithmetic": (740, {"only what is told by no other fact": 0.27}),
    "fresh_timexnli": (
        1200,
        {
            "all spans onto the one time": 0.62,
            "the two prepositions": 0.58,
            "where the hypothesis' time is": 0.55,
        },
    ),
    "fresh_tot_semantic": (240, {"the last description": 0.30, "no description": 0.30}),
}


@pytest.mark.parametrize("task", BOUNDS)
def test_shortcuts_are_of_no_use_from_level_3_on(task):
    count, bounds = BOUNDS[task]
    fresh_rows = list(rows(generator_of(task), 17, count, range(3, 5)))
    fresh_documents = list(scorer(task).process_docs(Rows(fresh_rows)))
    for shortcut, bound in bounds.items():
        scores = [
            scorer(task).process_results(document, [answer])["score"]
            for document, answer in zip(
                fresh_documents, SHORTCUTS[task][shortcut](fresh_rows)
            )
            if answer
        ]
        assert len(scores) >= 10 and mean(scores) < bound, shortcut


@pytest.mark.parametrize("name", ["tcp_short", "tcp_long"])
def test_no_row_from_level_3_on_is_solved_by_a_simple_order(name):
    generator = find_generator(name)
    for level in range(3, generator.HIGHEST + 1):
        assert generator.ladder(level)["misleading"] == 10
    level_rows = list(rows(name, 17, 15, range(5, 6)))
    fresh_documents = scorer(f"fresh_{name}").process_docs(Rows(level_rows))
    orders = SHORTCUTS[f"fresh_{name}"]["best of 11 greedy orders"]
    scores = [
        scorer(f"fresh_{name}").process_results(document, [answer])["score"]
        for document, answer in zip(fresh_documents, orders(level_rows))
    ]
    assert mean(scores) <= 0.15


def test_a_bar_of_rows_is_on_a_terminal_alone_and_not_at_once(monkeypatch):
    forms = []

    def bar(items, *_, **form):
        forms.append(form)
        return items

    monkeypatch.setattr("tqdm.tqdm", bar)
    request = read_request("date_arithmetic", gen_seed=7, gen_rows=5, gen_levels="1-5")
    assert len(rows_with_bar(request)) == 5
    [form] = forms
    assert (form["disable"], form["delay"]) == (None, 1)
