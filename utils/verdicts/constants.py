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
        self._references: dict[str, tuple[int, dict]] = {}  # with one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        key = json.dumps([doc.get(name) for name in _REFERENCE])
        count, _ = self._references.get(key, (0, doc))
        self._references[key] = (count + 1, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer and, where F1 counts words, sets of words. The best of them are
        returned. {} where there is no published score.
        """
        if not (self._references and self.task.headline):
            return {}
        counts, docs = zip(*self._references.values())
        most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        answers = random_choices(self.task.task, most_options)
        if not answers and "f1_score" in self.task.metrics:
            words = Words([(count, doc["golds"]) for count, doc in zip(counts, docs)])
            gold_response = self.task.utils.gold_response
            gold_docs = [docs[0] | {"golds": [gold]} for gold in words.best()]
            answers = [*map(gold_response, gold_docs)]
        elif not answers:
            golds: Counter[str] = Counter()
            for count, doc in zip(counts, docs):
                golds[self.task.utils.gold_response(doc)] += count
            answers = [gold for gold, _ in golds.most_common(_TRIED)]
        process_results = self.task.process_results
        metric = self.task.headline[0]
        sums = {}
        for answer in sorted(answers):
            scores = (process_results(doc, [answer])[metric] for doc in docs)
            sums[answer] = sum(count * score for count, score in zip(counts, scores))
        return sums


class Words:
    """The words of gold answers, which F1 counts. Takes a number and golds by document."""

    def __init__(self, golds: list[tuple[int, list[str]]]) -> None:
        self.texts = [text for _, doc_golds in golds for text in doc_golds]
        word_counts = [Counter(_words(text)) for text in self.texts]
        self.numbers = np.array([count for count, _ in golds])
        self.starts = np.cumsum([0, *(len(doc_golds) for _, doc_golds in golds)])[:-1]
        self.sizes = np.array([words.total() for words in word_counts])
        places = defaultdict(list)
        for place, words in enumerate(word_counts):
            for word, count in words.items():
                places[word].append((place, count))
        # Word -> the texts that have it, and how often.
        self.places = {word: np.array(pairs).T for word, pairs in places.items()}

    def best(self) -> list[str]:
        """Return the golds with the highest sums of F1, and a set of words with a higher.

        Words are added to the best gold and removed, one at a time, as the sum grows.
        """
        golds = sorted(
            {*self.texts}, key=lambda text: (-self.value(_words(text)), text)
        )
        golds = golds[:_TRIED]
        words, best_sum = _words(golds[0]), -1.0
        while (new_sum := self.value(words)) > best_sum:
            best_sum, best_words = new_sum, words
            shorter = [
                words[:place] + words[place + 1 :] for place in range(len(words))
            ]
            longer = [[*words, word] for word in self.places]
            words = max([*shorter, *longer], key=self.value)
        return [*golds, " ".join(best_words)]

    def value(self, words: list[str]) -> float:
        """Return the sum of the F1 of words with the golds, of each document the best."""
        shared = np.zeros(len(self.sizes))
        for word, count in Counter(words).items():
            places, counts = self.places[word]
            shared[places] += np.minimum(counts, count)
        f1_scores = shared / np.maximum(len(words) + self.sizes, 1)
        return float(np.maximum.reduceat(f1_scores, self.starts) @ self.numbers)


def _words(text: str) -> list[str]:
    words = re.findall(r"\w+", text.casefold())
    return [word for word in words if word not in _ARTICLES]


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
