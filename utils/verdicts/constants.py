"""What one answer to all documents of a task scores, the best of those that were tried."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from itertools import chain, combinations

import numpy as np

from ..core.families import scorer


# Gold answers that are scored: the most frequent, or those with the best words.
_TRIED = 3
_ARTICLES = ("a", "an", "the")  # which SQuAD's F1 does not count
# All of a document that its published score depends on, but options.
_REFERENCE = ("answer", "answer_format", "golds", "label", "letters")


class References:
    """The references of a task's documents, and how many documents have each."""

    def __init__(self, task: str) -> None:
        self.task = scorer(task)
        self.counts: Counter[str] = Counter()
        self.docs: dict[str, dict] = {}  # reference -> one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        reference = json.dumps([doc.get(name) for name in _REFERENCE])
        self.counts[reference] += 1
        self.docs.setdefault(reference, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer and, where F1 counts words, sets of words. The best of them are
        returned. {} where there is no published score.
        """
        if not (self.docs and self.task.headline):
            return {}
        metric, counts = self.task.headline[0], self.counts.values()
        sums = {}
        for answer in sorted(self._best_answers()):
            scores = (
                self.task.process_results(doc, [answer])[metric]
                for doc in self.docs.values()
            )
            sums[answer] = sum(count * score for count, score in zip(counts, scores))
        return sums

    def _best_answers(self) -> list[str]:
        gold_response, docs = self.task.utils.gold_response, [*self.docs.values()]
        most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        if choices := random_choices(self.task.task, most_options):
            return choices
        if "f1_score" in self.task.metrics:
            counts = [*self.counts.values()]
            texts = Words(counts, [doc["golds"] for doc in docs]).best_texts()
            return [gold_response(docs[0] | {"golds": [text]}) for text in texts]
        golds: Counter[str] = Counter()
        for reference, doc in self.docs.items():
            golds[gold_response(doc)] += self.counts[reference]
        return [gold for gold, _ in golds.most_common(_TRIED)]


def random_choices(task: str, document: dict) -> list[str]:
    """Return every answer to choose from: sets of options, labels, else none."""
    options = document.get("options", [])
    golds = [{"label": option} for option in options]
    if "letters" in document:
        letters = "ABCD"[: len(options)]
        sizes = range(1, len(letters) + 1)
        letter_sets = chain(*(combinations(letters, size) for size in sizes))
        golds = [{"letters": letter_set} for letter_set in letter_sets]
    gold_response = scorer(task).utils.gold_response
    return [gold_response(document | gold) for gold in golds]


class Words:
    """The words of golds, which F1 counts: of documents, so many of which have the golds."""

    def __init__(self, counts: list[int], golds: list[list[str]]) -> None:
        self.counts, self.texts = np.array(counts), [*chain(*golds)]
        self.starts = np.cumsum([0, *map(len, golds)])[
            :-1
        ]  # of documents, in the texts
        self.sizes = np.array([len(_words(text)) for text in self.texts])
        places = defaultdict(list)
        for place, text in enumerate(self.texts):
            for word, count in Counter(_words(text)).items():
                places[word].append((place, count))
        # Word -> the texts that have it, and how often.
        self.places = {word: np.array(pairs).T for word, pairs in places.items()}

    def best_texts(self) -> list[str]:
        """Return the golds with the highest sums of F1, and a set of words with a higher.

        Words are added to the best gold and removed, one at a time, as the sum grows.
        """
        ranked = [(-self.sum_f1(_words(text)), text) for text in {*self.texts}]
        golds = [text for _, text in sorted(ranked)[:_TRIED]]
        words, best_sum = _words(golds[0]), -1.0
        while (new_sum := self.sum_f1(words)) > best_sum:
            best_sum, best_words = new_sum, words
            shorter = [words[:n] + words[n + 1 :] for n in range(len(words))]
            longer = [[*words, word] for word in self.places]
            words = max([*shorter, *longer], key=self.sum_f1)
        return [*golds, " ".join(best_words)]

    def sum_f1(self, words: list[str]) -> float:
        """Return the sum of the F1 of words with the golds, of each document the best."""
        shared = np.zeros(len(self.texts))
        for word, count in Counter(words).items():
            places, counts = self.places[word]
            shared[places] += np.minimum(counts, count)
        f1_scores = shared / np.maximum(len(words) + self.sizes, 1)
        return float(np.maximum.reduceat(f1_scores, self.starts) @ self.counts)


def _words(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return [word for word in words if word not in _ARTICLES]
