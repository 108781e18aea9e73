"""The pack as the harness sees it: every task builds, runs, and is listed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from lm_eval.tasks import TaskManager


PACK, EXAMPLES = ROOT / "lm_eval_tasks", ROOT / "examples"


def configurations(folder: Path) -> list[dict]:
    """Return what the YAML files of a folder say, without their includes."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("!function", lambda loader, node: node.value)
    paths = sorted(folder.glob("**/*.yaml"))
    return [yaml.load(path.read_text(encoding="utf-8"), loader) for path in paths]


CONFIGURATIONS = configurations(PACK)
GROUPS = {config["group"]: config for config in CONFIGURATIONS if "group" in config}
TASKS = [config["task"] for config in CONFIGURATIONS if "group" not in config]
MEMBERS = {name for config in GROUPS.values() for name in config["task"]}


def run_lm_eval(*arguments: object, cwd: Path) -> subprocess.CompletedProcess:
    """Run the command line of the harness in `cwd`, with no network and no cache."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "lm_eval", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def offline_tasks() -> dict:
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    return manager.load(TASKS)["tasks"]


@pytest.fixture(scope="session")
def dummy_run(tmp_path_factory) -> Path:
    """The output folder of one run of everything, from another working directory."""
    folder = tmp_path_factory.mktemp("run")
    done = run_lm_eval(
        *("--model", "dummy", "--include_path", EXAMPLES, "--log_samples"),
        # The harness refuses a task that two of the named groups hold.
        *("--tasks", ",".join({*GROUPS, *TASKS} - MEMBERS), "--output_path", "output"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    (output,) = (folder / "output").iterdir()
    return output


@pytest.mark.parametrize("name", TASKS)
def test_task_builds_with_its_own_decoding_prompts_and_examples(offline_tasks, name):
    task = offline_tasks[name]
    config = task.config
    assert config.generation_kwargs["until"] == []
    assert config.generation_kwargs["do_sample"] is False
    assert config.generation_kwargs["temperature"] == 0.0
    assert config.generation_kwargs["max_gen_toks"] >= 4096
    assert float(task.VERSION) >= 1
    assert config.num_fewshot is None  # a 0 would make the harness ignore the user's
    assert len(task.test_docs()) >= 8
    samples = config.fewshot_config.samples()
    assert len(samples) >= 3
    for doc in task.test_docs():
        for number in (0, 3):
            prompt = task.fewshot_context(doc, num_fewshot=number)
            assert prompt and prompt == prompt.rstrip()
    assert all(prompt_of(task, sample) in prompt for sample in samples[:3])


def prompt_of(task, doc: dict) -> str:
    return task.doc_to_text(doc, task.fewshot_cfg.doc_to_text)


@pytest.mark.parametrize("name", TASKS)
def test_few_shot_answers_are_in_the_answer_format(offline_tasks, name):
    task = offline_tasks[name]
    for sample in task.config.fewshot_config.samples():
        target = task.doc_to_target(sample, task.fewshot_cfg.doc_to_target)
        scores = task.process_results({**task.test_docs()[0]}, [target])
        assert scores["extracted"] == 1.0


@pytest.mark.parametrize("name", GROUPS)
def test_group_says_how_it_aggregates(name):
    assert GROUPS[name]["metadata"]["version"]
    for metric in GROUPS[name]["aggregate_metric_list"]:
        assert {"metric", "aggregation", "weight_by_size", "filter_list"} == set(metric)


def test_offline_pack_has_every_name_of_the_pack():
    stems = [path.stem for path in EXAMPLES.glob("*.yaml")]
    assert sorted(stems) == sorted([*TASKS, *GROUPS])


def test_run_writes_results_of_every_task_and_group(dummy_run):
    (path,) = dummy_run.glob("results_*.json")
    results = json.loads(path.read_text())
    for name in TASKS:
        metrics = {key for key in results["results"][name] if key.endswith(",none")}
        assert {"acc,none", "acc_flexible,none", "extracted,none"} <= metrics
    assert set(results["groups"]) == set(GROUPS)


@pytest.mark.parametrize("name", TASKS)
def test_run_writes_samples(dummy_run, name):
    (path,) = dummy_run.glob(f"samples_{name}_20*.jsonl")
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(samples) >= 8
    assert {sample["acc"] for sample in samples} == {0.0}


def test_harness_lists_every_task_with_its_output_type(tmp_path):
    done = run_lm_eval("ls", "tasks", "--include_path", PACK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in TASKS:
        (line,) = (x for x in done.stdout.splitlines() if f"|{name} " in x)
        assert "generate_until" in line


def test_installed_pack_tells_its_include_path(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lm_eval_tasks"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert Path(done.stdout.strip()) == PACK
