"""The tasks of the pack in inspect: `inspect eval temporal_eval/tot_arithmetic --model …`.

An entry point of the installed package registers them (an editable install has none that
inspect finds by this name). `-T include_path=PACK` takes the rows of an offline pack.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from ..core import families
from ..core.documents import documents
from ..runs.answers import sha256
from . import metrics


def _sample(name: str, number: int, document: dict) -> Sample:
    """Return a document as inspect's sample; its cluster is that of our own tools."""
    system, user = families.prompt_parts(name, document)
    said = [ChatMessageSystem(content=system.strip())] if system.strip() else []
    cluster = sha256(families.scorer(name).utils.cluster(document))
    return Sample(
        id=number,
        input=[*said, ChatMessageUser(content=user)],
        target=families.rendered(name, "doc_to_target", document),
        metadata={"doc": document, "cluster": cluster[:16]},
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
        samples = [_sample(name, *x) for x in enumerate(documents(name, folder))]
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
