"""A task of the pack as a taskset of verifiers, with the flexible score as its reward.

    vf-eval temporal_eval_verifiers --env.taskset.pack-task fresh_timexnli

Fresh problems have no end; other tasks, and fresh packs, have the rows at `include_path`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

from lm_eval_tasks.fresh import utils as fresh

from ..core.documents import documents
from ..core.families import FOLDER, configuration, scorer
from ..core.reward import messages, render, reward


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
        explain = scorer(self.data.pack_task).explain
        return explain(self.data.doc, trace.last_reply).scores


class TemporalTaskset(vf.Taskset[TemporalTask, TemporalConfig]):
    """The problems of one task."""

    def __init__(self, config: TemporalConfig) -> None:
        super().__init__(config)
        told = configuration(scorer(config.pack_task).task).get("dataset_kwargs", {})
        self.generator = None if config.include_path else told.get("generator")
        self.INFINITE = self.generator is not None

    def load(self) -> Iterator[TemporalTask]:
        """Yield the problems; ToolError or ValueError names what cannot be loaded."""
        for said, document in self._fresh() if self.INFINITE else self._rows():
            data = TemporalData(
                prompt=said["user"],
                system_prompt=said.get("system"),
                pack_task=self.config.pack_task,
                doc=document,
            )
            yield TemporalTask(data, self.config.task)

    def _rows(self) -> Iterator[tuple[dict[str, str], dict]]:
        """Yield the messages and the document of each row, by their roles."""
        name, folder = self.config.pack_task, self.config.include_path or FOLDER
        for document in documents(name, folder):
            yield {x["role"]: x["content"] for x in messages(name, document)}, document

    def _fresh(self) -> Iterator[tuple[dict[str, str], dict]]:
        """Yield the same of the generator, without end."""
        config, levels = self.config, fresh.read_levels(self.config.levels)
        knobs, many = {self.generator: config.knobs}, 10**12
        fresh.check_knobs(knobs)
        fresh.check_request(self.generator, config.seed, many, levels, None)
        for row in fresh.rows(self.generator, config.seed, many, levels, knobs):
            question, document = render(config.pack_task, row)
            yield {"user": question}, document
