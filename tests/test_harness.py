"""The pack as the harness sees it: every task builds, runs, and is listed."""

import importlib
import json
from functools import partial
from math import fsum

import pytest

from tests.conftest import EXAMPLES, GROUPS, PACK, TASKS
from utils.core.files import read_jsonl
from utils.core.task_scorers import configuration


GREEDY = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 4096}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_its_own_decoding_prompts_and_good_examples(offline_tasks, name):
    assert configuration(name)["output_type"] == "generate_until"  # for `lm_eval ls`
    task = offline_tasks[name]
    assert task.config.generation_kwargs == GREEDY and float(task.VERSION) >= 1
    assert task.config.num_fewshot is None  # else the harness ignores the user's
    samples = list(task.fewshot_docs())
    assert len(samples) >= 3 and len(task.test_docs()) >= 8
    for doc in task.test_docs():
        for number in (0, 3):
            prompt = task.fewshot_context(doc, num_fewshot=number)
            assert prompt and prompt == prompt.rstrip()
    for sample in samples[:3]:
        assert task.doc_to_text(sample, task.fewshot_cfg.doc_to_text) in prompt
    for sample in samples:
        target = task.doc_to_target(sample, task.fewshot_cfg.doc_to_target)
        scores = task.process_results({**task.test_docs()[0]}, [target])
        assert scores["extracted"] == 1.0


@pytest.mark.parametrize("family", ["tcp", "timebench", "tot"])
def test_worked_examples_are_those_of_the_file_that_bears_their_name(family):
    folder = PACK / family
    reads = vars(importlib.import_module(f"lm_eval_tasks.{family}.samples"))
    names = [name for name in reads if isinstance(reads[name], partial)]
    assert len(names) == len([*folder.rglob("*fewshot*/*"), *folder.glob("fewshot_*")])
    for name in names:
        [path] = [
            *folder.glob(f"fewshot/{name}.jsonl"),
            *folder.glob(f"*_{name}.jsonl"),
        ]
        assert reads[name]() == read_jsonl(path)


def test_offline_pack_has_every_name_of_the_pack():
    stems = [path.stem for path in EXAMPLES.glob("*.yaml")]
    assert sorted(stems) == sorted([*TASKS, *GROUPS])


@pytest.mark.parametrize("name", TASKS)
def test_a_run_writes_samples_and_the_means_of_their_scores(dummy_run, name):
    samples = read_jsonl(*dummy_run.glob(f"samples_{name}_20*.jsonl"))
    assert len(samples) >= 8
    assert {sample["extracted"] for sample in samples} == {0.0}
    results = json.loads(next(dummy_run.glob("results_*.json")).read_text())
    for metric in samples[0]["metrics"]:
        scores = [sample[metric] for sample in samples if metric in sample]
        mean = pytest.approx(fsum(scores) / len(scores))
        assert results["results"][name][f"{metric},none"] == mean
    assert set(results["groups"]) == set(GROUPS)


def test_a_run_says_once_of_each_data_file_which_rows_it_has(dummy_run):
    log = (dummy_run.parent.parent / "log").read_text(encoding="utf-8").splitlines()
    said = [line.partition("] ")[2] for line in log if "fingerprint" in line]
    names = [x.stem.removesuffix("_timebench") for x in (EXAMPLES / "data").iterdir()]
    assert len(said) == len({*said}) == len(names)
    assert all(any(name in line for line in said) for name in names)
