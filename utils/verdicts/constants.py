"""What one answer to all documents of a task scores, the best of those that were tried."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import numpy as np

from ..core.families import scorer
from ..packs.baselines import random_choices


# Gold answers that are scored: the most frequent, or those with the best words.
_TRIED = 3
_ARTICLES = ("a", "an", "the")  # which SQuAD's F1 does not count
# All of a document that its published score depends on, but options.
_REFERENCE = ("answer", "answer_format", "golds", "label", "letters")


class References:
    """The references of a task's documents, and how many documents have each."""

    def __init__(self, task: str) -> None:
        self.task = scorer(task)
        self._references: dict[str, tuple[int, dict]] = {}  # with one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        key = json.dumps([doc.get(name) for name in _REFERENCE])
        number, _ = self._references.get(key, (0, doc))
        self._references[key] = (number + 1, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer and, where F1 counts words, sets of words. The best of them are
        returned. {} where there is no published score.
        """
        if not (self._references and self.task.headline):
            return {}
        numbers, docs = zip(*self._references.values())
        most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        answers = random_choices(self.task.task, most_options)
        if not answers and "f1_score" in self.task.metrics:
            words = Words(
                [(number, doc["golds"]) for number, doc in zip(numbers, docs)]
            )
            response = self.task.utils.gold_response
            answers = [response(docs[0] | {"golds": [x]}) for x in words.best()]
        elif not answers:
            golds: Counter[str] = Counter()
            for number, doc in zip(numbers, docs):
                golds[self.task.utils.gold_response(doc)] += number
            answers = [gold for gold, _ in golds.most_common(_TRIED)]
        scores = self.task.process_results
        metric = self.task.headline[0]
        return {
            answer: sum(x * scores(y, [answer])[metric] for x, y in zip(numbers, docs))
            for answer in sorted(answers)
        }


class Words:
    """The words of gold answers, which F1 counts. Takes a number and golds by document."""

    def __init__(self, golds: list[tuple[int, list[str]]]) -> None:
        self.texts = [text for _, texts in golds for text in texts]
        bags = [Counter(_words(text)) for text in self.texts]
        self.numbers = np.array([number for number, _ in golds])
        self.starts = np.cumsum([0, *(len(texts) for _, texts in golds)])[:-1]
        self.sizes = np.array([bag.total() for bag in bags])
        places = defaultdict(list)
        for place, bag in enumerate(bags):
            for word, count in bag.items():
                places[word].append((place, count))
        # Word -> the texts that have it, and how often.
        self.places = {word: np.array(x).T for word, x in places.items()}

    def best(self) -> list[str]:
        """Return the golds with the highest sums of F1, and a set of words with a higher.

        Words are added to the best gold and removed, one at a time, as the sum grows.
        """
        golds = sorted({*self.texts}, key=lambda x: (-self.value(_words(x)), x))[
            :_TRIED
        ]
        words, value, longer = _words(golds[0]), -1.0, [*self.places]
        while (best := self.value(words)) > value:
            value, best_words = best, words
            shorter = [words[:x] + words[x + 1 :] for x in range(len(words))]
            words = max([*shorter, *([*words, x] for x in longer)], key=self.value)
        return [*golds, " ".join(best_words)]

    def value(self, words: list[str]) -> float:
        """Return the sum of the F1 of words with the golds, of each document the best."""
        same = np.zeros(len(self.sizes))
        for word, count in Counter(words).items():
            places, counts = self.places[word]
            same[places] += np.minimum(counts, count)
        shares = same / np.maximum(len(words) + self.sizes, 1)
        return float(np.maximum.reduceat(shares, self.starts) @ self.numbers)


def _words(text: str) -> list[str]:
    return [x for x in re.findall(r"\w+", text.casefold()) if x not in _ARTICLES]
