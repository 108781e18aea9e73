"""What one answer to everything scores: what a task's score is to be compared with."""

from __future__ import annotations

import json

from ..core.families import scorer
from ..packs.baselines import gold_response, random_choices


# All of a document that its published score depends on; of others, that it has them.
_FIELDS = ("answer", "answer_format", "golds", "label", "letters", "options")
_OTHERS = {"question": "?", "prompt": "?", "level": 1}
# By task and references, which the runs of a board share.
_BEST: dict[tuple, tuple[float, str]] = {}


class Trivial:
    """The references of a task's documents, and how many documents have each."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._references: dict[str, tuple[int, dict]] = {}  # with one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        fields = {name: doc[name] for name in _FIELDS if name in doc}
        key = json.dumps({x: y for x, y in fields.items() if x != "options"})
        number, _ = self._references.get(key, (0, {}))
        fields |= {name: _OTHERS[name] for name in _OTHERS.keys() & doc.keys()}
        self._references[key] = (number + 1, fields)

    def best(self) -> tuple[float | None, str | None]:
        """Return the best published score of one answer to all documents, and the answer.

        The answers are the most frequent right one and, where there is a choice, each
        label and each set of options. (None, None) where there is no published score.
        """
        one = scorer(self.task)
        if not (self._references and one.headline):
            return None, None
        numbers, docs = zip(*self._references.values())
        place = (self.task, *zip(self._references, numbers))
        if place in _BEST:
            return _BEST[place]
        most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        answers = random_choices(self.task, most_options)
        answers.append(gold_response(self.task, docs[numbers.index(max(numbers))]))
        found = dict.fromkeys(sorted(answers), 0.0)
        for answer in found:
            for number, doc in zip(numbers, docs):
                scores = one.process_results(doc, [answer])
                found[answer] += number * scores[one.headline[0]]
        best = max(found, key=found.get)
        _BEST[place] = found[best] / sum(numbers), best
        return _BEST[place]
