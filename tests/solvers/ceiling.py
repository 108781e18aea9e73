"""The highest scores of responses that obey their prompts, and the rows that cap them."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import NamedTuple

from utils.core.families import Scorer, prompt, scorer
from . import obedient


class Answered(NamedTuple):
    """What the best obedient response to one document scores."""

    row: int  # from 0 on, as the harness counts documents
    way: str
    published: float
    flexible: float | None
    reason: str | None  # why it falls short of the full published score


def find(task: str, documents: list[dict]) -> list[Answered]:
    """Return what obedient responses to the documents of a task score at best.

    Documents with the same prompt have the same response: of the labels of all of them
    the one that scores best in the sum.
    """
    task_scorer = scorer(task)
    groups: dict[str, list[int]] = {}
    for number, doc in enumerate(documents):
        groups.setdefault(prompt(task, doc), []).append(number)
    found = [
        answered
        for asked, numbers in groups.items()
        for answered in _answered(
            task_scorer, asked, [(number, documents[number]) for number in numbers]
        )
    ]
    return sorted(found)


def _answered(
    task: Scorer, asked: str, group: list[tuple[int, dict]]
) -> Iterator[Answered]:
    """Yield the scores of documents that have one prompt."""
    known = [obedient.responses(task.family, doc, asked) for _, doc in group]
    for way in known[0]:
        own = [responses[way] for responses in known]
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
    published, flexible = task.headline or (task.metrics[0], None)
    return scores[published], scores.get(flexible)


def table(task: str, found: list[Answered]) -> Iterator[dict]:
    """Yield for each way to answer a task its ceilings, and what caps the published one."""
    for way in dict.fromkeys(one.way for one in found):
        those = [one for one in found if one.way == way]
        flexible = [one.flexible for one in those if one.flexible is not None]
        reasons = sorted({one.reason for one in those if one.reason})
        place = {"task": task, "answers": way}
        yield place | {
            "n": len(those),
            "published": fsum(one.published for one in those) / len(those),
            "flexible": fsum(flexible) / len(flexible) if flexible else None,
            **_capped(those, reasons),
        }
        for reason in reasons:
            yield (
                place
                | {"n": None, "published": None, "flexible": None}
                | _capped(those, [reason])
                | {"reason": reason}
            )


def _capped(found: list[Answered], reasons: list[str]) -> dict:
    """Return how many rows fall short for one of the reasons, and what that costs."""
    short = [one for one in found if one.reason in reasons]
    lost = fsum(1 - one.published for one in short) / len(found)
    return {"capped": len(short), "cost": lost, "reason": None}


def lines(task: str, file: str, found: list[Answered]) -> Iterator[dict]:
    """Yield a line for each row that caps the published score of a task."""
    for one in found:
        if one.reason:
            yield {"task": task, "file": file, **one._asdict()}
