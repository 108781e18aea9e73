"""The tasks of the pack in other tools: the same prompts, documents and verdicts."""

from __future__ import annotations

from collections.abc import Iterator

from lm_eval_tasks.fresh import utils as fresh

from ..core.documents import document
from ..core.families import configuration, scorer


def metrics(task: str) -> tuple[str, ...]:
    """Return the metrics that each document of a task has, the flexible score first."""
    one = scorer(task)
    return (*one.headline[::-1], "extracted") if one.headline else one.metrics


def fresh_documents(
    task: str, seed: int, levels: range, knobs: dict[str, int]
) -> Iterator[dict]:
    """Return the documents of a fresh task, of each level in its turn, without end.

    Raises ValueError for a level, a knob or a seed that its generator lacks.
    """
    name = configuration(task)["dataset_kwargs"]["generator"]
    most, of_all = 10**12, {name: knobs}
    fresh.check_knobs(of_all)
    fresh.check_request(name, seed, most, levels, None)
    return (document(task, x) for x in fresh.rows(name, seed, most, levels, of_all))
