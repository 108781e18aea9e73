"""The tasks in other tools: the same prompts, documents and verdicts.

Each tool is in an environment of its own, where its tests run with `-m TOOL`.
"""

import asyncio
import json
import shutil
from datetime import datetime, timedelta
from functools import cache
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from lm_eval_tasks.fresh.utils import find_generator
from tests.answers import recorded, write
from tests.conftest import EXAMPLES, TASKS
from utils import reward
from utils.adapters import eval_results, fresh_documents, metrics
from utils.adapters.rewards import messages
from utils.core.documents import documents
from utils.core.task_scorers import configuration, leaf_tasks, prompt, scorer
from utils.stats import estimate_score


pytestmark = pytest.mark.usefixtures("judged_here")


FRESH = leaf_tasks("fresh")
MODELS = sorted(path.name for path in (EXAMPLES / "responses").iterdir())
ANSWERED = sorted(x.stem for x in (EXAMPLES / "responses" / "careful").iterdir())


@cache
def scored(task: str) -> list[tuple[dict, str, dict]]:
    """Return (document, response, scores) of the three models' answers to a task."""
    score, pairs = scorer(task).process_results, (recorded(task, x) for x in MODELS)
    return [(doc, text, score(doc, [text])) for doc, text in chain(*pairs)]


def test_the_hub_s_results_say_how_they_were_made(dummy_run, call_score, tmp_path):
    path, folder = tmp_path / "results.yaml", tmp_path / "run"
    others = {"timebench_mctaco", "timebench_tracie"}  # which the hub has no place for
    tasks = {x for x in TASKS if not x.startswith("timebench")} | others
    folder.mkdir()
    for name in (*(f"samples_{x}_20*" for x in tasks), "results_*"):
        shutil.copy(*dummy_run.glob(name), folder)
    status, _, lines = call_score(folder, "--eval_results", path)
    entries = {x["dataset"]["task_id"]: x for x in yaml.safe_load(path.read_text())}
    assert (status, {*entries}) == (0, tasks - others)
    assert all(task in lines for task in others)
    entry = entries["tcp_long"]
    assert (entry["dataset"]["id"], entry["value"]) == ("Beanbagdzf/TCP", 0)
    assert datetime.fromisoformat(entry["date"]).utcoffset() == timedelta(0)
    for part in ("accuracy by the metric card", "0-shot", "max_gen_toks 4096", "(8)"):
        assert part in entry["notes"]
    [path_of_results] = folder.glob("results_*")
    results = json.loads(path_of_results.read_text(encoding="utf-8"))
    results["n-shot"]["tot_arithmetic"] = 4
    path_of_results.write_text(json.dumps(results), encoding="utf-8")
    call_score(folder, "--eval_results", path)
    notes = {
        x["dataset"]["task_id"]: x["notes"] for x in yaml.safe_load(path.read_text())
    }
    assert [name for name in notes if "4-shot" in notes[name]] == ["tot_arithmetic"]
    doc = recorded("tcp_long")[0][0] | {"level": 1}
    fresh = {"task": "fresh_tcp_long", "response": "", "doc": doc}
    answers = write(tmp_path / "fresh.jsonl", fresh)
    status, _, said = call_score(answers, "--eval_results", path)
    assert (status, yaml.safe_load(path.read_text())) == (0, [])
    assert "lacks fresh_tcp_long" in said
    status, _, said = call_score("a=setup.cfg", "b=setup.cfg", "--eval_results", path)
    assert (status, "is of one model, but there are 2 runs" in said) == (1, True)


NOTES = """\
accuracy by the metric card's rule; accuracy_flexible 0.1235; version {} of \
lm-eval-temporal-tasks; rows: all (2); filter keep; 4-shot; max_gen_toks 99"""


def test_the_hub_s_entries_are_of_whole_tasks_and_name_what_a_score_depends_on(
    tmp_path, capsys
):
    path = tmp_path / "results.yaml"
    claims = {"tcp_long": {"n_shot": 4, "max_gen_toks": 99}}
    model = SimpleNamespace(claims=lambda task=None: claims.get(task, {"date": 59.9}))
    row = {"task": "tcp_long", "by": None, "filter": "keep", "rows": "all", "n": 2}
    row |= {"answers": 4, "published": 0.0, "flexible": 0.123456}
    part, benchmark = row | {"by": "level"}, row | {"tasks": "1 of 2", "task": "tcp"}
    fresh = [row | {"task": f"fresh_tcp_{x}"} for x in ("short", "long")]
    unscored = row | {"task": "tcp_short", "published": None}
    eval_results.write(path, model, [benchmark, unscored, row, part, *fresh])
    [entry] = yaml.safe_load(path.read_text())
    assert entry == {
        "dataset": {"id": "Beanbagdzf/TCP", "task_id": "tcp_long"},
        **{"value": 0.0, "date": "1970-01-01T00:00:59+00:00"},
        "notes": NOTES.format(scorer("tcp_long").version),
    }
    [notes] = [x for x in path.read_text().splitlines() if "notes:" in x]
    assert notes.endswith("; max_gen_toks 99'")  # in one line
    lacks = (
        "lacks fresh_tcp_short, fresh_tcp_long, whose rows no data set of the hub has"
    )
    assert capsys.readouterr().err == f"{path}: {lacks}\n"
    model.claims = lambda task=None: {}
    for rows in ([row | {"filter": None}], fresh, [row]):  # each replaces what is there
        eval_results.write(path, model, rows)
        entries = yaml.safe_load(path.read_text())
        assert len(entries) == (rows != fresh)
        for entry in entries:
            assert "date" not in entry and "-shot" not in entry["notes"]
            assert ("filter" in entry["notes"]) == (rows == [row])


def test_fresh_documents_have_no_end_and_are_of_their_levels_and_knobs():
    made = fresh_documents("fresh_timexnli", 3, range(1, 3), {})
    docs = [*islice(made, 110)]
    assert [doc["level"] for doc in docs] == [1, 2] * 55
    longer = next(fresh_documents("fresh_timexnli", 3, range(1, 2), {"steps": 9}))
    assert longer["premise"].count(".") > docs[0]["premise"].count(".")
    for seed, level, knobs, fault in (
        (3, 1, {"stairs": 3}, "timexnli has no knob 'stairs'; it has steps, "),
        (3, 5000, {}, "its highest level is [0-9]+, not 5000"),
        (-1, 1, {}, "gen_seed -1 is not an integer of at least 0"),
    ):
        with pytest.raises(ValueError, match=fault):
            fresh_documents("fresh_timexnli", seed, range(1, level + 1), knobs)


def test_a_task_without_headline_scores_has_all_its_metrics():
    assert metrics("tcp_long") == ("accuracy_flexible", "accuracy", "extracted")
    names = ("bleu", "rouge_l", "keywords", "extracted")
    assert metrics("timebench_situatedgen") == names


def test_a_log_of_the_next_harness_scores_as_today_s(dummy_run, call_score, tmp_path):
    results, printed = tmp_path / "results.yaml", []
    for is_next in (False, True):
        folder = tmp_path / f"{is_next}"
        folder.mkdir()
        for pattern in ("results_*", "*_tcp_long_*", "*_semantic_20*"):
            [path] = dummy_run.glob(pattern)
            text, name = path.read_text(encoding="utf-8"), path.name
            if is_next:
                text = text.replace('"tcp_long":', '"tcp::tcp_long":')
                text = text.replace('_resps": ["lol"]', '_resps": [["lol"]]')
                name = name.replace("_tcp_long", "_tcp::tcp_long")
            (folder / name).write_text(text, encoding="utf-8")
        called = call_score(folder, "--format", "csv", "--eval_results", results)
        printed.append((called, results.read_text()))
    assert printed[0] == printed[1]
    assert printed[0][0][0] == 0 and "tcp_long" in printed[0][1]


@pytest.fixture
def gym():
    import reasoning_gym

    import utils.adapters.reasoning_gym as adapter

    assert {*FRESH} <= {*reasoning_gym.factory.DATASETS}
    return reasoning_gym if adapter else None


@pytest.mark.reasoning_gym
@pytest.mark.parametrize("task", FRESH)
def test_a_fresh_dataset_is_what_reasoning_gym_documents(gym, task):
    data = gym.create_dataset(task, seed=7, size=6, max_level=3)
    longer = gym.create_dataset(task, seed=7, size=9, max_level=3)
    items = list(data)
    assert items == list(data) == [longer[place] for place in range(len(data))]
    assert items != list(gym.create_dataset(task, seed=8, size=6, max_level=3))
    for place in (6, -7):
        with pytest.raises(IndexError):
            data[place]
    for place, item in enumerate(items):
        told = item["metadata"]
        assert (told["source_dataset"], told["source_index"]) == (task, place)
        assert told["difficulty"] == {"level": place % 3 + 1}
        assert item["question"] == prompt(task, told["doc"])
        item = json.loads(json.dumps(item))
        assert data.score_answer(item["answer"], item) == 1
        assert data.score_answer(None, item) == data.score_answer("lol", item) == 0
        score = gym.get_score_answer_fn(told["source_dataset"])
        assert score(item["answer"], item) == 1
    base = scorer(task).base
    for doc, response, scores in scored(base):  # are scored as we do
        score = data.score_answer(response, {"metadata": {"doc": doc | {"level": 1}}})
        assert score == scores[reward(base).metric]


@pytest.mark.reasoning_gym
def test_a_config_that_makes_no_problem_is_refused(gym):
    for config, error, fault in [
        ({"min_level": 0}, AssertionError, "min_level 0 and max_level 5"),
        ({"min_level": 3, "max_level": 2}, AssertionError, "levels rise"),
        ({"size": 0}, AssertionError, "size 0 is not positive"),
        ({"max_level": 5000}, ValueError, "its highest level is"),
        ({"knobs": {"stairs": 3}}, ValueError, "timexnli has no knob 'stairs'"),
    ]:
        with pytest.raises(error, match=fault):
            gym.create_dataset("fresh_timexnli", **config)


@pytest.mark.reasoning_gym
@pytest.mark.parametrize("task", FRESH)
def test_a_curriculum_climbs_the_levels(gym, task):
    curriculum = gym.factory.create_curriculum(task)
    assert curriculum.generate_configuration({"seed": 1}).max_level == 1
    while curriculum.increment_attr_level("level"):
        config = curriculum.generate_configuration({"seed": 1, "size": 1})
    generator = find_generator(configuration(task)["dataset_kwargs"]["generator"])
    assert config.max_level == generator.HIGHEST
    assert len(gym.create_dataset(task, **vars(config))) == 1


@cache
def inspected(task: str, model: str, epochs: int = 1):
    """Return inspect's log of a task that a recorded model answers."""
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    pairs = recorded(task, model)
    answers = {messages(task, doc)[-1]["content"]: text for doc, text in pairs}

    def answer(asked, tools, choice, config) -> ModelOutput:
        assert config.temperature == 0
        assert config.max_tokens > 1000
        output = ModelOutput.from_content("recorded", answers[asked[-1].text])
        output.usage = ModelUsage()  # else inspect downloads a tokenizer to count
        return output

    [log] = inspect_ai.eval(
        f"temporal_eval/{task}",  # by the entry point of the installed package
        task_args={"include_path": str(EXAMPLES)},
        model=get_model("mockllm/model", custom_outputs=answer, memoize=False),
        epochs=epochs,
        display="none",
    )
    assert log.status == "success", log.error
    return log


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where inspect leaves its logs


@pytest.mark.inspect
@pytest.mark.parametrize("task", ANSWERED)
def test_inspect_scores_recorded_answers_as_we_do(here, task):
    one, docs = scorer(task), documents(task, EXAMPLES)
    for sample in inspected(task, "plain").samples:
        doc, response = docs[sample.id], sample.output.completion
        asked = [{"role": x.role, "content": x.text} for x in sample.input]
        assert asked == messages(task, doc)
        verdict, score = one.explain(doc, response), sample.scores["temporal_eval"]
        assert (*score.value,) == metrics(task)
        assert score.value == {name: verdict.scores[name] for name in score.value}
        assert score.answer == verdict.flexible
        assert score.explanation.startswith(f"{verdict.reason}: ")


@pytest.mark.inspect
@pytest.mark.parametrize("task", ["tot_arithmetic", "timebench_tracie"])
def test_figures_are_clustered_by_question_type_and_over_epochs(here, task):
    log = inspected(task, "hasty", epochs=2)
    metric = scorer(task).headline["flexible"]
    docs = documents(task, EXAMPLES)
    clusters = {scorer(task).utils.cluster(doc) for doc in docs}
    assert len(clusters) == len({x.metadata["cluster"] for x in log.samples})
    [logged] = [x.metrics for x in log.results.scores if x.name == metric]
    found = {name.rpartition("/")[2]: x for name, x in logged.items()}
    samples = log.samples[: len(log.samples) // 2]
    types = {doc["question_type"] for doc in docs if "question_type" in doc}
    assert types or task == "timebench_tracie"
    for kind in [None, *types]:
        answers = [x for x in samples if kind in (None, x.metadata["type"])]
        clusters = [x.metadata["cluster"] for x in answers]
        values = [x.scores["temporal_eval"].value[metric] for x in answers]
        expected = estimate_score(values, clusters)[:3]  # value, low, high
        names = ["mean", "interval_low", "interval_high"]
        if kind:
            names = [f"by_type_{kind}{x}" for x in ("", " low", " high")]
        assert [found[x].value for x in names] == pytest.approx(expected)
    assert len(found) == 4 * (1 + len(types))


def taskset(**config: object):
    """Return the taskset that `vf-eval temporal_eval_verifiers` loads."""
    from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

    name = "temporal_eval_verifiers"
    return load_taskset(taskset_config_type(name)(id=name, **config))


def rewarded(task, response: str) -> tuple[float, dict[str, float]]:
    """Return the reward and the metrics that verifiers records for a response."""
    import verifiers.v1 as vf
    from verifiers.v1.trace import AgentInfo, TraceTask

    trace = vf.Trace(
        task=TraceTask(type=type(task).__name__, data=task.data),
        agent=AgentInfo(config=vf.AgentConfig(), name="recorded"),
        root_reply=response,
    )
    asyncio.run(task.score(trace))
    return trace.reward, trace.metrics


@pytest.mark.verifiers
@pytest.mark.parametrize("task", ANSWERED)
def test_verifiers_scores_recorded_answers_as_we_do(task):
    tasks = list(taskset(pack_task=task, include_path=Path(EXAMPLES)))
    for place, (doc, response, scores) in enumerate(scored(task)):
        asked = tasks[place % len(tasks)]
        assert asked.data.doc == doc
        told = {"system": asked.data.system_prompt, "user": asked.data.prompt}
        roles = [{"role": x, "content": y} for x, y in told.items() if y]
        assert roles == messages(task, doc)
        shown = {name: scores[name] for name in metrics(task)}
        assert rewarded(asked, response) == (scores[reward(task).metric], shown)


@pytest.mark.verifiers
@pytest.mark.parametrize("task", FRESH)
def test_fresh_problems_have_no_end_and_are_the_seed_s(task):
    first, again, other = (
        [x.data for x in islice(taskset(pack_task=task, seed=seed, levels="1-2"), 4)]
        for seed in (3, 3, 4)
    )
    assert taskset(pack_task=task).INFINITE
    assert first == again
    assert [x.doc["level"] for x in first] == [1, 2, 1, 2]
    assert other[0].doc != first[0].doc


@pytest.mark.verifiers
def test_a_taskset_without_problems_says_why():
    for config, fault in [
        ({"pack_task": "fresh_timexnly"}, "unknown; did you mean fresh_timexnli"),
        ({"pack_task": "tcp"}, "'tcp' is a group"),
        ({"pack_task": "tcp_long", "include_path": Path("nowhere")}, "nowhere"),
        ({"levels": "5-1"}, "'5-1' is not such as 3 or '1-5'"),
    ]:
        with pytest.raises(ValueError, match=fault):
            next(iter(taskset(**config)))
