"""The tasks of the pack in inspect: `inspect eval temporal_eval/tot_arithmetic --model …`.

An entry point of the installed package registers them (an editable install has none that
inspect finds by this name). `-T include_path=PACK` takes the rows of an offline pack.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from ..core import families
from ..core.documents import documents
from ..core.reward import messages
from . import metrics


ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser}


def _sample(name: str, number: int, document: dict) -> Sample:
    """Return a document as inspect's sample; its cluster is that of our own tools."""
    said: list[ChatMessage] = [
        ROLES[message["role"]](content=message["content"])
        for message in messages(name, document)
    ]
    target = families.rendered(name, "doc_to_target", document)
    cluster = families.scorer(name).utils.cluster(document)
    return Sample(
        id=number,
        input=said,
        target=[str(x) for x in target] if isinstance(target, list) else str(target),
        metadata={
            "doc": document,
            "cluster": hashlib.sha256(cluster.encode()).hexdigest()[:16],
        },
    )


@scorer(metrics={"*": [mean(), stderr(cluster="cluster")]}, name="temporal_eval")
def verdict(name: str) -> Scorer:
    """Score by the task's rules: the flexible score, the published one, `extracted`.

    `answer` is the text that the flexible rule extracted, `explanation` the reason.
    """
    one = families.scorer(name)

    async def score(state: TaskState, target: Target) -> Score:
        found = one.explain(state.metadata["doc"], state.output.completion)
        value = {metric: found.scores[metric] for metric in metrics(name)}
        reason = f"{found.reason}: {one.utils.REASONS[found.reason]}"
        return Score(value=value, answer=found.flexible, explanation=reason)

    return score


def _register(name: str) -> None:
    def make(include_path: str | None = None) -> Task:
        folder = Path(include_path) if include_path else families.FOLDER
        settings = families.configuration(name)["generation_kwargs"]
        pairs = enumerate(documents(name, folder))
        samples = [_sample(name, *pair) for pair in pairs]
        return Task(
            dataset=MemoryDataset(samples, name=name),
            solver=generate(),
            scorer=verdict(name),
            config=GenerateConfig(
                temperature=settings["temperature"],
                max_tokens=settings["max_gen_toks"],
            ),
            version=str(families.scorer(name).version),
        )

    make.__name__ = make.__qualname__ = name
    globals()[name] = task(name=name)(make)


for _name in families.all_tasks():
    _register(_name)
