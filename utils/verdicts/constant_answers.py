"""What one answer to all documents scores: the best of those that are tried."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from ..core.task_scorers import scorer


_TRIED = 3  # of the gold answers, those that seem best
_ARTICLES = {"a", "an", "the"}  # which SQuAD's F1 does not count


@dataclass
class References:
    """The references of a task's documents, and how many documents have each."""

    task: str
    counts: Counter[str] = field(default_factory=Counter)
    docs: dict[str, dict] = field(default_factory=dict)  # by key of the reference

    def add(self, doc: dict) -> None:
        """Count one more document."""
        reference_key = scorer(self.task).utils.reference_key(doc)
        self.counts[reference_key] += 1
        self.docs.setdefault(reference_key, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer. The best of these are returned. {} where there is no published score.
        """
        task_scorer, example_docs = scorer(self.task), [*self.docs.values()]
        if not (example_docs and task_scorer.headline):
            return {}
        choices = max(map(task_scorer.choices, example_docs), key=len)
        score_sums: dict[str, float] = defaultdict(float)
        for constant_answer in sorted(choices or self._best_golds()):
            for doc, doc_count in zip(example_docs, self.counts.values()):
                scores = task_scorer.process_results(doc, [constant_answer])
                headline_score = scores[task_scorer.headline["published"]]
                score_sums[constant_answer] += doc_count * headline_score
        return score_sums

    def _best_golds(self) -> list[str]:
        """Return the few golds of all documents with the most F1, or the most frequent."""
        task_scorer = scorer(self.task)
        gold_counts: Counter[str] = Counter()
        if not any(metric.overlap for metric in task_scorer.metrics.values()):
            for reference_key, doc in self.docs.items():
                gold = task_scorer.utils.gold_response(doc)
                gold_counts[gold] += self.counts[reference_key]
            return [gold for gold, _ in gold_counts.most_common(_TRIED)]
        response_by_gold: dict[str, str] = {}
        for reference_key, doc in self.docs.items():
            golds = task_scorer.golds(doc)
            response_by_gold |= golds
            gold_counts.update(dict.fromkeys(golds, self.counts[reference_key]))
        best_golds_and_f1 = sum_f1(gold_counts).most_common(_TRIED)
        return [response_by_gold[gold] for gold, _ in best_golds_and_f1]


def sum_f1(gold_counts: Counter[str]) -> Counter[str]:
    """Return the sum of each gold's F1 with all golds, by their words, each counted once."""
    golds = sorted(gold_counts)
    f1_sums: Counter[str] = Counter()
    word_sets = [{*re.findall(r"\w+", gold.casefold())} - _ARTICLES for gold in golds]
    set_sizes = np.array([*map(len, word_sets)])
    weights = np.array([gold_counts[gold] for gold in golds])
    gold_indices_by_word = defaultdict(list)
    for gold_index, word_set in enumerate(word_sets):
        for word in word_set:
            gold_indices_by_word[word].append(gold_index)
    for gold, word_set in zip(golds, word_sets):
        shared_counts_by_gold = np.zeros(len(golds))
        for word in word_set:
            shared_counts_by_gold[gold_indices_by_word[word]] += 1
        f1_scores = 2 * shared_counts_by_gold / np.maximum(len(word_set) + set_sizes, 1)
        f1_sums[gold] = f1_scores @ weights
    return f1_sums
