"""A task of the pack as a taskset of verifiers, with the flexible score as its reward.

    vf-eval temporal_eval_verifiers --env.taskset.pack-task fresh_timexnli

Fresh problems have no end; other tasks, and fresh packs, have the rows at `include_path`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import verifiers.v1 as vf

from lm_eval_tasks.fresh.utils import read_levels

from ..core.documents import documents
from ..core.task_scorers import FOLDER, is_generated, prompt_parts, scorer
from . import fresh_documents, metrics
from .rewards import reward


class TemporalConfig(vf.TasksetConfig):
    """Which problems: a task's own rows, those of a pack, or fresh ones without end."""

    pack_task: str = "fresh_timexnli"
    include_path: Path | None = None
    seed: int = 0
    levels: str = "1-5"
    knobs: dict[str, int] = {}


class TemporalData(vf.TaskData):
    """A problem: its messages, and the document that its answers are scored with."""

    pack_task: str
    doc: dict


class TemporalTask(vf.Task[TemporalData]):
    """Scores the last reply by the rules of the task; its metrics have the task's names."""

    @vf.reward
    async def flexible(self, trace: vf.Trace) -> float:
        return reward(self.data.pack_task)([trace.last_reply], [self.data.doc])[0]

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        task, doc = self.data.pack_task, self.data.doc
        scores = scorer(task).explain(doc, trace.last_reply).scores
        return {name: scores[name] for name in metrics(task)}  # it averages over all


class TemporalTaskset(vf.Taskset[TemporalTask, TemporalConfig]):
    """The problems of one task."""

    def __init__(self, config: TemporalConfig) -> None:
        super().__init__(config)
        scorer(config.pack_task)  # raises for a group, of which there is no one prompt
        self.INFINITE = config.include_path is None and is_generated(config.pack_task)

    def load(self) -> Iterator[TemporalTask]:
        """Yield the problems; ToolError or ValueError names what cannot be loaded."""
        task_name = self.config.pack_task
        for document in self._documents():
            system, user = prompt_parts(task_name, document)
            prompt_fields = {"prompt": user, "system_prompt": system.strip() or None}
            task_data = TemporalData(**prompt_fields, pack_task=task_name, doc=document)
            yield TemporalTask(task_data, self.config.task)

    def _documents(self) -> Iterable[dict]:
        config = self.config
        if self.INFINITE:
            levels = read_levels(config.levels)
            return fresh_documents(config.pack_task, config.seed, levels, config.knobs)
        return documents(config.pack_task, config.include_path or FOLDER)
