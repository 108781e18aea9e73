"""The scores of the pack as rewards, in the signature that TRL's trainers call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import ToolError


if TYPE_CHECKING:
    from .families import Scorer


class Reward:
    """A reward function of one task: completions and their documents in, floats out.

    It can be pickled, and raises for no completion, whatever it is.
    """

    def __init__(self, task: str, metric: str | None = None):
        one = _scorer(task)
        default = one.headline[1] if one.headline else one.metrics[0]
        rewards = [name for name, is_so in one.higher_is_better.items() if is_so]
        if metric not in (None, *rewards):
            raise ToolError(
                f"{task} has no metric '{metric}' to maximise; choose from"
                f" {', '.join(rewards)}"
            )
        self.task, self.metric = task, metric or default
        self.__name__ = f"{self.task}_{self.metric}"  # what trainers log it as

    def __call__(
        self,
        completions: Sequence[str | list[dict]],
        doc: Sequence[str | dict],
        **columns: object,
    ) -> list[float]:
        """Return the score of each completion, by the metric of this function.

        A completion is a text, or a list of messages whose last one is the answer. `doc`
        is the column of the data set with the documents that were asked: objects as the
        harness logs them, or these as JSON. Other columns play no part. Raises ValueError
        for lists of unequal length.
        """
        explain = _scorer(self.task).explain
        return [
            float(explain(_document(document), _text(completion)).scores[self.metric])
            for document, completion in zip(doc, completions, strict=True)
        ]


def reward(task: str, metric: str | None = None) -> Reward:
    """Return the reward function of a task, by its flexible score or another metric.

    Raises ValueError for a task or a metric that the pack does not have.
    """
    return Reward(task, metric)


def training_set(task: str, include_path: str | None = None):
    """Return a `datasets.Dataset` of a task for `reward`: `prompt` and `doc`.

    A prompt is a list with the user's message (and the system's, for `_separate` tasks);
    `doc` is the document as JSON. `include_path` is an offline or a fresh pack; without
    one, the rows come by the task's own configuration. Raises ValueError where they
    cannot be loaded.
    """
    import datasets

    from .documents import tasks
    from .families import FOLDER

    one = tasks([task], Path(include_path) if include_path else FOLDER)[task]
    return datasets.Dataset.from_list(
        [
            {"prompt": _messages(one, document), "doc": json.dumps(document)}
            for document in one.eval_docs
        ]
    )


def _scorer(task: str) -> Scorer:
    from .families import scorer  # not before it is asked for: it imports PyYAML

    return scorer(task)


def _messages(task, document: dict) -> list[dict]:
    system = task.resolve_field(document, task.config.description) or ""
    user = {"role": "user", "content": task.doc_to_text(document)}
    said = {"role": "system", "content": system.strip()}
    return [said, user] if system.strip() else [user]


def _document(document: str | dict) -> dict:
    return json.loads(document) if isinstance(document, str) else document


def _text(completion: object) -> str:
    """Return the text of a completion, or that of its last message; "" without one."""
    if isinstance(completion, list) and completion:
        last = completion[-1]
        completion = last.get("content") if isinstance(last, dict) else None
    if isinstance(completion, list):  # of parts, as of models that see images, too
        texts = [x.get("text") for x in completion if isinstance(x, dict)]
        completion = "".join(text for text in texts if isinstance(text, str))
    return completion if isinstance(completion, str) else ""
