"""Scores of several answers to a document together: pass@k, and the majority's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from statistics import mean

from ..core.task_scorers import scorer
from .tally import Document


# What a rule read in an answer, None for nothing, and what that scores.
ScoredValue = tuple[Hashable, float]


def together(documents: list[Document], k: int) -> dict[str, list[float]]:
    """Return pass@k and majority of documents with their rows, by measure and rule."""
    scores: dict[str, list[float]] = {}
    for rule in ("published", "flexible"):
        readings = [[read_answer(row, rule) for row in doc.rows] for doc in documents]
        scores[f"pass@{k}_{rule}"] = [pass_at(k, answers) for answers in readings]
        scores[f"majority_{rule}"] = [majority(answers) for answers in readings]
    return scores


def read_answer(row: dict, rule: str) -> ScoredValue:
    """Return what a rule, "published" or "flexible", reads in an answer, and its score.

    The published rule compares texts; the flexible one values, without case, and without
    quotation marks, for a number may be read as one or as a text.
    """
    answer_value = row["published"]
    if rule == "flexible":
        answer_value = row["value"] and row["value"].replace('"', "").casefold()
    return answer_value, row["scores"][scorer(row["task"]).headline[rule]]


def pass_at(k: int, answers: list[ScoredValue]) -> float:
    """Return the expected best score of k answers that are drawn from these.

    Of answers that are right or wrong it is the unbiased 1 - C(n - c, k) / C(n, k) for c
    right ones of n (Chen et al., Evaluating Large Language Models Trained on Code, 2021).
    """
    ascending = sorted(score for _, score in answers)
    weighted = (math.comb(rank, k - 1) * score for rank, score in enumerate(ascending))
    return math.fsum(weighted) / math.comb(len(ascending), k)


def majority(answers: Iterable[ScoredValue]) -> float:
    """Return the score of the value that most answers have; of tied ones, the mean.

    Answers in which nothing was read have no vote; where no answer has one, it is 0.
    """
    scores_by_value = defaultdict(list)
    for voted_value, score in answers:
        if voted_value is not None:
            scores_by_value[voted_value].append(score)
    by_votes = sorted(scores_by_value.values(), key=len) or [[0.0]]
    tied_scores = [scores for scores in by_votes if len(scores) == len(by_votes[-1])]
    return mean(map(mean, tied_scores))
