"""The tasks of the pack in inspect: `inspect eval temporal_eval/tot_arithmetic --model …`.

An entry point of the installed package registers them (an editable install has none that
inspect finds by this name). `-T include_path=PACK` takes the rows of an offline pack.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import (
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import TaskState, generate

from ..core import task_scorers
from ..core.documents import documents
from ..stats import estimate_score
from ..verdicts.read_answers import sha256
from . import metrics


CLUSTERED = stderr(cluster="cluster")


def _sample(name: str, number: int, document: dict) -> Sample:
    """Return a document as inspect's sample; its cluster is that of our own tools."""
    system, user = task_scorers.prompt_parts(name, document)
    messages = [ChatMessageSystem(content=system.strip())] if system.strip() else []
    cluster = sha256(task_scorers.scorer(name).utils.cluster(document))
    breakdowns = task_scorers.scorer(name).breakdowns(document).values()
    types = (str(value) for value in breakdowns if value is not None)
    return Sample(
        id=number,
        input=[*messages, ChatMessageUser(content=user)],
        target=task_scorers.rendered(name, "doc_to_target", document),
        metadata={"doc": document, "cluster": cluster[:16], "type": next(types, None)},
    )


@metric
def interval() -> Metric:
    """Return the ends of the 95 % interval of a score, as `temporal-eval score` does."""

    def ends(scores: list[SampleScore]) -> dict[str, float]:
        score_values = [float(sample_score.score.value) for sample_score in scores]
        clusters = [sample_score.sample_metadata["cluster"] for sample_score in scores]
        estimate = estimate_score(score_values, clusters)
        return {"low": estimate.low, "high": estimate.high}

    return ends


@metric
def by_type() -> Metric:
    """Return mean, clustered standard error and interval of each question type."""
    mean_of, interval_of = mean(), interval()

    def figures(scores: list[SampleScore]) -> dict[str, float]:
        type_names = dict.fromkeys(sample.sample_metadata["type"] for sample in scores)
        figure_by_type_and_name = {}
        for type_name in filter(None, type_names):
            type_scores = [
                sample_score
                for sample_score in scores
                if sample_score.sample_metadata["type"] == type_name
            ]
            figure_by_type_and_name[type_name] = mean_of(type_scores)
            figure_by_type_and_name[f"{type_name} stderr"] = CLUSTERED(type_scores)
            for end_name, end_value in interval_of(type_scores).items():
                figure_by_type_and_name[f"{type_name} {end_name}"] = end_value
        return figure_by_type_and_name

    return figures


@scorer(metrics={"*": [mean(), CLUSTERED, interval(), by_type()]}, name="temporal_eval")
def verdict(name: str) -> Scorer:
    """Score by the task's rules: the flexible score, the published one, `extracted`.

    `answer` is the text that the flexible rule extracted, `explanation` the reason.
    """
    rules = task_scorers.scorer(name)

    async def score(state: TaskState, target: Target) -> Score:
        task_verdict = rules.explain(state.metadata["doc"], state.output.completion)
        scores = {metric: task_verdict.scores[metric] for metric in metrics(name)}
        reason = f"{task_verdict.reason}: {rules.utils.REASONS[task_verdict.reason]}"
        return Score(value=scores, answer=task_verdict.flexible, explanation=reason)

    return score


def _register(name: str) -> None:
    """Give this module a function that makes the task for inspect, under its name."""

    def make(include_path: str | None = None) -> Task:
        pack_folder = Path(include_path) if include_path else task_scorers.FOLDER
        generation_settings = task_scorers.configuration(name)["generation_kwargs"]
        numbered_docs = enumerate(documents(name, pack_folder))
        samples = [_sample(name, doc_id, doc) for doc_id, doc in numbered_docs]
        return Task(
            dataset=MemoryDataset(samples, name=name),
            solver=generate(),
            scorer=verdict(name),
            config=GenerateConfig(
                temperature=generation_settings["temperature"],
                max_tokens=generation_settings["max_gen_toks"],
            ),
            version=str(task_scorers.scorer(name).version),
        )

    make.__name__ = make.__qualname__ = name
    globals()[name] = task(name=name)(make)


for _name in task_scorers.all_tasks():
    _register(_name)
