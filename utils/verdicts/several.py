"""What several answers to a document score together: pass@k, and the majority."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import comb, fsum
from statistics import mean

from ..core.families import scorer


# What a rule read in an answer, None for nothing, and what that scores.
Reading = tuple[Hashable, float]


def readings(row: dict) -> tuple[Reading, ...]:
    """Return what the published and the flexible rule read; () for tasks without both.

    The published rule compares texts; the flexible one values, without case.
    """
    value = row["value"]
    if value is not None:
        # Without quotation marks, for a number may be read as one or as a text.
        value = value.replace('"', "").casefold()
    headline = scorer(row["task"]).headline or ()
    values = zip((row["published"], value), headline)
    return tuple((text, row["scores"][metric]) for text, metric in values)


def pass_at(k: int, scores: Iterable[float]) -> float:
    """Return the expected best score of k answers that are drawn from these.

    Of answers that are right or wrong it is the unbiased 1 - C(n - c, k) / C(n, k) for c
    right ones of n (Chen et al., Evaluating Large Language Models Trained on Code, 2021).
    """
    sorted_scores = sorted(scores)
    weighted = (comb(rank, k - 1) * score for rank, score in enumerate(sorted_scores))
    return fsum(weighted) / comb(len(sorted_scores), k)


def majority(answers: Iterable[Reading]) -> float:
    """Return the score of the value that most answers have; of tied ones, the mean.

    Answers in which nothing was read have no vote; where no answer has one, it is 0.
    """
    votes: dict[Hashable, list[float]] = {}
    for value, score in answers:
        if value is not None:
            votes.setdefault(value, []).append(score)
    highest = max(map(len, votes.values()), default=0)
    winners = [mean(scores) for scores in votes.values() if len(scores) == highest]
    return mean(winners or [0.0])


def together(
    documents: list[list[tuple[Reading, ...]]], k: int
) -> dict[str, list[float]]:
    """Return pass@k and majority of documents with their answers, by measure and rule."""
    values = {}
    for place, rule in enumerate(("published", "flexible")):
        answers = [[answer[place] for answer in document] for document in documents]
        scores = [[score for _, score in doc_answers] for doc_answers in answers]
        passes = [pass_at(k, doc_scores) for doc_scores in scores]
        values[f"pass@{k}_{rule}"] = passes
        values[f"majority_{rule}"] = [*map(majority, answers)]
    return values
