"""A task of the pack as a taskset of verifiers, with the flexible score as its reward.

    vf-eval temporal_eval_verifiers --env.taskset.pack_task fresh_timexnli

Fresh problems have no end; other tasks, and fresh packs, have the rows at `include_path`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

from lm_eval_tasks.fresh import utils as fresh

from ..core.documents import documents_of, load
from ..core.families import FOLDER, configuration, scorer
from ..core.reward import messages


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
    """Scores the last reply by the rules of the task."""

    def _scores(self, trace: vf.Trace) -> dict[str, float]:
        data = self.data
        return scorer(data.pack_task).explain(data.doc, trace.last_reply).scores

    @vf.reward
    async def flexible(self, trace: vf.Trace) -> float:
        return self._scores(trace)[scorer(self.data.pack_task).headline[1]]

    @vf.metric
    async def published(self, trace: vf.Trace) -> float:
        return self._scores(trace)[scorer(self.data.pack_task).headline[0]]

    @vf.metric
    async def extracted(self, trace: vf.Trace) -> float:
        return self._scores(trace)["extracted"]


class TemporalTaskset(vf.Taskset[TemporalTask, TemporalConfig]):
    """The problems of one task."""

    def __init__(self, config: TemporalConfig) -> None:
        super().__init__(config)
        told = configuration(scorer(config.pack_task).task)["dataset_kwargs"]
        self.generator = None if config.include_path else told.get("generator")
        self.INFINITE = self.generator is not None

    def load(self) -> Iterator[TemporalTask]:
        """Yield the problems; ToolError or ValueError names what cannot be loaded."""
        config, name = self.config, self.config.pack_task
        one = load([name], config.include_path or FOLDER)[1]["tasks"][name]
        documents = self._fresh() if self.generator else one.eval_docs
        for document in documents:
            said = {x["role"]: x["content"] for x in messages(one, document)}
            data = TemporalData(
                prompt=said["user"],
                system_prompt=said.get("system"),
                pack_task=name,
                doc=document,
            )
            yield TemporalTask(data, config.task)

    def _fresh(self) -> Iterator[dict]:
        """Yield documents of the generator, without end."""
        config, levels = self.config, fresh.read_levels(self.config.levels)
        knobs, many = {self.generator: config.knobs}, 10**12
        fresh.check_knobs(knobs)
        fresh.check_request(self.generator, config.seed, many, levels, None)
        for row in fresh.rows(self.generator, config.seed, many, levels, knobs):
            yield from documents_of(config.pack_task, [row])
