"""The highest scores of responses that obey their prompts, and the rows that cap them."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import NamedTuple

from tests.solvers import obedient
from utils.core.task_scorers import Scorer, prompt, scorer


class Answered(NamedTuple):
    """What the best obedient response to one document scores."""

    row: int  # from 0 on, as the harness counts documents
    way: str
    published: float
    flexible: float | None  # None where the task has no flexible score
    reason: str | None  # why it falls short of the full published score


def find(task: str, documents: list[dict]) -> list[Answered]:
    """Return what obedient responses to the documents of a task score at best.

    Documents with the same prompt have the same response: of the labels of all of them
    the one that scores best in the sum.
    """
    groups: dict[str, list[tuple[int, dict]]] = {}
    for number, doc in enumerate(documents):
        groups.setdefault(prompt(task, doc), []).append((number, doc))
    task_scorer = scorer(task)
    return sorted(
        answered
        for rendered_prompt, group in groups.items()
        for answered in _answered(task_scorer, rendered_prompt, group)
    )


def _answered(
    task: Scorer, rendered_prompt: str, group: list[tuple[int, dict]]
) -> Iterator[Answered]:
    """Yield the scores of documents that have one prompt."""
    group_responses = [
        obedient.responses(task.family, doc, rendered_prompt) for _, doc in group
    ]
    for way in group_responses[0]:
        own = [responses[way] for responses in group_responses]
        tried = dict.fromkeys(response for responses in own for response in responses)
        best = max(
            tried, key=lambda x: fsum(_scores(task, doc, x)[0] for _, doc in group)
        )
        for (number, doc), responses in zip(group, own):
            scores, reason = _scores(task, doc, best), None
            if scores[0] < 1:
                reason = obedient.SAME_PROMPT
                if max(_scores(task, doc, x)[0] for x in responses) < 1:
                    reason = obedient.why_short(task.family, doc, best)
            yield Answered(number, way, *scores, reason)


def _scores(task: Scorer, doc: dict, response: str) -> tuple[float, float | None]:
    """Return the published and the flexible score; where neither is, the first metric."""
    scores = task.process_results(doc, [response])
    published, flexible = task.headline.values() or (next(iter(task.metrics)), None)
    return scores[published], scores.get(flexible)


def means(answered: list[Answered]) -> dict[str, dict[str, float | None]]:
    """Return for each way to answer a task its ceilings, the means of the scores."""
    return {
        way: {
            "published": _mean([x.published for x in answered if x.way == way]),
            "flexible": _mean([x.flexible for x in answered if x.way == way]),
        }
        for way in dict.fromkeys(x.way for x in answered)
    }


def _mean(scores: list[float | None]) -> float | None:
    return None if None in scores else round(fsum(scores) / len(scores), 6)


def table(task: str, answered: list[Answered]) -> Iterator[dict]:
    """Yield for each way to answer a task its ceilings, and what caps the published one."""
    for way, scores in means(answered).items():
        own = [x for x in answered if x.way == way]
        reasons = sorted({x.reason for x in own if x.reason})
        place = {"task": task, "answers": way}
        yield place | {"n": len(own), **scores, **_capped(own, reasons)}
        for reason in reasons:
            blank = {"n": None, "published": None, "flexible": None}
            yield place | blank | _capped(own, [reason]) | {"reason": reason}


def _capped(answered: list[Answered], reasons: list[str]) -> dict:
    """Return how many rows fall short for one of the reasons, and what that costs."""
    short = [x for x in answered if x.reason in reasons]
    lost = fsum(1 - x.published for x in short) / len(answered)
    return {"capped": len(short), "cost": lost, "reason": None}


def lines(task: str, file: str, answered: list[Answered]) -> Iterator[dict]:
    """Yield a line for each row that caps the published score of a task."""
    for row in answered:
        if row.reason:
            yield {"task": task, "file": file, **row._asdict()}
