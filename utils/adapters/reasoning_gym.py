"""The fresh tasks as procedural datasets of reasoning-gym.

Importing this module registers each under its name:

    import reasoning_gym, temporal_eval.adapters.reasoning_gym
    data = reasoning_gym.create_dataset("fresh_timexnli", seed=42, size=100, max_level=3)
    data.score_answer("Entailment", data[0])
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reasoning_gym.coaching import BaseCurriculum, RangeAttributeDefinition
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import register_dataset

from lm_eval_tasks.fresh import utils as fresh

from ..core.task_scorers import configuration, leaf_tasks, prompt, rendered
from . import fresh_documents
from .rewards import reward


@dataclass
class FreshConfig:
    """Which problems: `size` of them, of each level from the lowest to the highest in turn.

    `knobs` are those of the task's generator that are not the level's, by their names.
    """

    min_level: int = 1
    max_level: int = 5
    knobs: dict[str, int] = field(default_factory=dict)
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        """Raise AssertionError, as the configurations of reasoning-gym do."""
        assert 1 <= self.min_level <= self.max_level, (
            f"min_level {self.min_level} and max_level {self.max_level}: levels rise from 1"
        )
        assert self.size > 0, f"size {self.size} is not positive"


class FreshDataset(ProceduralDataset):
    """The problems of one fresh task; `task` is set by the class of each.

    Making one raises ValueError for a level, a knob or a seed that its generator lacks.
    """

    task: str

    def __init__(self, config: FreshConfig):
        super().__init__(config=config, seed=config.seed, size=config.size)
        levels = range(config.min_level, config.max_level + 1)
        self._fresh = fresh_documents(self.task, self.seed, levels, config.knobs)
        self._made: list[dict] = []  # a row depends on those before it of its level

    def __getitem__(self, idx: int) -> dict:
        """Return a problem; IndexError beyond `size`, as of a list."""
        row_number = range(self.size)[idx]
        while len(self._made) <= row_number:
            self._made.append(next(self._fresh))
        document = self._made[row_number]
        target = rendered(self.task, "doc_to_target", document)
        return {
            "question": prompt(self.task, document),
            "answer": target[0] if isinstance(target, list) else target,
            "metadata": {
                "source_dataset": self.task,
                "source_index": row_number,
                "doc": document,
                "difficulty": {"level": document["level"]},
            },
        }

    def score_answer(self, answer: str | None, entry: dict) -> float:
        """Return the flexible score of an answer, or of the response that holds it."""
        return reward(self.task)([answer or ""], [entry["metadata"]["doc"]])[0]


class FreshCurriculum(BaseCurriculum):
    """Levels of difficulty, up to the highest that the task's generator makes."""

    task: str

    def __init__(self):
        super().__init__(type(self).__name__, FreshConfig)
        generator_name = configuration(self.task)["dataset_kwargs"]["generator"]
        levels = range(1, fresh.find_generator(generator_name).HIGHEST + 1)
        self._define_attributes(
            RangeAttributeDefinition(
                name="level",
                levels=[*levels],
                description="Depth of the problem",
                lower_field_name="min_level",
                upper_field_name="max_level",
            )
        )


for _task in leaf_tasks("fresh"):
    _dataset, _curriculum = (
        type(f"{base.__name__}_{_task}", (base,), {"task": _task})
        for base in (FreshDataset, FreshCurriculum)
    )
    register_dataset(_task, _dataset, FreshConfig, _curriculum)
