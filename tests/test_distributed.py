"""Two ranks give what one process gives, document by document."""

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT, run_python
from utils.core.files import read_jsonl


TASKS = [
    *("tcp_long", "tot_arithmetic", "tot_arithmetic_separate"),
    *("timebench_date_arithmetic", "timebench_timedial"),
]
pytestmark = [
    pytest.mark.distributed,
    pytest.mark.skipif(
        not importlib.util.find_spec("accelerate"), reason="accelerate is not installed"
    ),
]


def samples(model: Path, folder: Path, launcher: list[str]) -> dict:
    """Return task -> what a run logs of each document."""
    folder.mkdir()
    done = run_python(
        *("-m", *launcher, "--model", "hf", "--tasks", ",".join(TASKS)),
        *("--model_args", f"pretrained={model},dtype=float32,max_length=2048"),
        *("--include_path", EXAMPLES, "--device", "cpu", "--batch_size", "1"),
        *("--gen_kwargs", "max_gen_toks=8", "--apply_chat_template"),
        *("--output_path", folder, "--log_samples"),
        cwd=folder,
        PYTHONPATH=str(ROOT),
        OMP_NUM_THREADS="1",
        ACCELERATE_USE_CPU="true",
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / "log").write_text(done.stderr, encoding="utf-8")
    logged = {}
    for task in TASKS:
        [path] = folder.rglob(f"samples_{task}_2*.jsonl")
        # Where ranks have unequal shares, the harness asks the last question twice.
        lines = [line | {"resps": None} for line in read_jsonl(path)]
        logged[task] = sorted(lines, key=lambda line: line["doc_id"])
    return logged


def test_two_processes_score_as_one_does(tmp_path):
    model = tmp_path / "model"
    assert run_python("-m", "tests.tiny_model", model, cwd=ROOT).returncode == 0
    ranks = ["torch.distributed.run", "--nproc_per_node", "2", "-m", "tests.one_rank"]
    one = samples(model, tmp_path / "one", ["lm_eval"])
    assert samples(model, tmp_path / "two", ranks) == one
    log = (tmp_path / "two" / "log").read_text(encoding="utf-8")
    assert all(f"Building contexts for {TASKS[0]} on rank {x}" in log for x in (0, 1))
    assert all(len(lines) >= 8 for lines in one.values())
    assert any(line["filtered_resps"][0].strip() for line in one["tot_arithmetic"])
