"""The scores of the pack as rewards, in the signature that TRL's trainers call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.documents import document, documents
from ..core.errors import DocumentError, ToolError
from ..core.task_scorers import FOLDER, prompt, prompt_parts, scorer
from . import explain


if TYPE_CHECKING:
    import datasets


class Reward:
    """The reward function of a task, by its flexible score or another metric.

    It can be pickled, and raises for no completion, whatever it is. Making one raises
    ValueError for a task or a metric that the pack does not have.
    """

    def __init__(self, task: str, metric: str | None = None):
        rising_metrics = [
            name
            for name, entry in scorer(task).metrics.items()
            if entry.higher_is_better
        ]
        if metric not in (None, *rising_metrics):
            fix = f"choose from {', '.join(rising_metrics)}"
            raise ToolError(f"{task} has no metric '{metric}' to maximise; {fix}")
        default_metric = scorer(task).headline.get("flexible", rising_metrics[0])
        self.task, self.metric = task, metric or default_metric
        self.__name__ = f"{self.task}_{self.metric}"  # what trainers log it as

    def __call__(
        self,
        completions: Sequence[str | list[dict]],
        doc: Sequence[str | dict],
        **columns: object,
    ) -> list[float]:
        """Return the score of each completion.

        A completion is a text, or a list of messages of which the assistant's last one is
        the answer. `doc` is the column of the data set with the documents that were asked:
        objects as the harness logs them, or these as JSON. Other columns play no part.
        Raises ValueError for lists of unequal length, and for what is not a document of
        the task, naming its place in the list and what it lacks.
        """
        if (completion_count := len(completions)) != len(doc):
            fault = f"there are {completion_count} completions and {len(doc)} documents"
            raise ToolError(f"{self.task}: {fault}; give as many of each")
        samples = enumerate(zip(doc, completions))
        return [self._score(f"doc[{number}]", *sample) for number, sample in samples]

    def _score(self, place: str, document: str | dict, completion: object) -> float:
        try:
            scores = explain(self.task, document, _text(completion)).scores
        except DocumentError as error:
            raise DocumentError(f"{place}: {error}") from None
        return float(scores[self.metric])


reward = Reward  # called as a function


def render(task: str, row: dict) -> tuple[str, dict]:
    """Return the prompt and the document of a row of a task, without few-shot examples.

    The document is what `reward` takes as `doc`. Raises ValueError for a row that the
    task cannot score, naming the column.
    """
    doc = document(task, row)
    return prompt(task, doc), doc


def training_set(task: str, include_path: str | None = None) -> datasets.Dataset:
    """Return a `datasets.Dataset` of a task for `reward`: `prompt` and `doc`.

    A prompt is a list with the user's message (and the system's, for `_separate` tasks);
    `doc` is the document as JSON. `include_path` is an offline or a fresh pack; without
    one, the rows come by the task's own configuration. Raises ValueError where they
    cannot be loaded, and for a group.
    """
    import datasets

    scorer(task)  # raises for a group, of which there is no one prompt
    pack_folder = Path(include_path) if include_path else FOLDER
    docs = documents(task, pack_folder)
    rows = [{"prompt": messages(task, doc), "doc": json.dumps(doc)} for doc in docs]
    return datasets.Dataset.from_list(rows)


def messages(task: str, document: dict) -> list[dict]:
    """Return what a task asks of a chat: the system's message, if any, and the user's."""
    system_text, user_text = prompt_parts(task, document)
    text_by_role = {"system": system_text.strip(), "user": user_text}
    return [
        {"role": role, "content": text} for role, text in text_by_role.items() if text
    ]


def _text(completion: object) -> str:
    """Return the text of a completion, or of the assistant's last message; else ""."""
    if isinstance(completion, list):
        messages = [message for message in completion if isinstance(message, dict)]
        replies = [
            message
            for message in messages
            if message.get("role", "assistant") == "assistant"
        ]
        completion = replies[-1].get("content") if replies else None
    if isinstance(completion, list):  # of parts, as of models that see images, too
        part_texts = [part.get("text") for part in completion if isinstance(part, dict)]
        completion = "".join(text for text in part_texts if isinstance(text, str))
    return completion if isinstance(completion, str) else ""
