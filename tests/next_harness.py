"""Print the scores of the recorded answers of `careful`, by the harness that is installed.

    python tests/next_harness.py > TABLE

Two harnesses that print the same table run the pack alike: prompts by their digests, too.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager


EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class RecordedModel(DummyLM):
    """Answers as recorded for the task and the document; "" where nothing is."""

    def generate_until(self, requests, disable_tqdm: bool = False) -> list[str]:
        return [self.answer(x.task_name.split("::")[-1], x.doc_id) for x in requests]

    @staticmethod
    def answer(task: str, doc_id: int) -> str:
        path = EXAMPLES / "responses" / "careful" / f"{task}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = (x for x in map(json.loads, lines) if x["doc_id"] == doc_id)
        return next((x["response"] for x in found), "")


def table(task: str, manager: TaskManager) -> Iterator[str]:
    """Yield a line for each score of a run of a task or a group, and for its prompts."""
    run = simple_evaluate(
        RecordedModel(), tasks=[task], task_manager=manager, bootstrap_iters=0
    )
    for name, scores in run["results"].items():
        for metric, score in scores.items():
            if isinstance(score, float):
                yield f"{task} {name.split('::')[-1]} {metric} {score:.6f}"
    for name, samples in run["samples"].items():
        hashes = "".join(sorted(x["prompt_hash"] + x["doc_hash"] for x in samples))
        digest = hashlib.sha256(hashes.encode()).hexdigest()[:16]
        yield f"{task} {name.split('::')[-1]} prompts {len(samples)} {digest}"


if __name__ == "__main__":
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    names = [path.stem for path in EXAMPLES.glob("*.yaml")]
    print(*sorted(line for x in names for line in table(x, manager)), sep="\n")
