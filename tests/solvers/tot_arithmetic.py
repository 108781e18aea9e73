"""Answers to questions of ToT arithmetic, fresh and public ones, read from their text.

A table of families, each the pattern of a kind of question and a function that finds the
answer day by day, year by year or minute by minute. Nothing is shared with the scorers
or with the generator of fresh questions.
"""

from __future__ import annotations

import json
import re
from functools import cache

from tests.solvers import Solution, tot_arithmetic_fresh, tot_arithmetic_public
from tests.solvers.reading import Unreadable, pattern


FAMILIES = tot_arithmetic_fresh.FAMILIES + tot_arithmetic_public.FAMILIES
# Public ones are shorter, and their patterns take long to fail on a long text.
LONGEST_PUBLIC = 2000

# Where a question begins to say how its answer is to be written.
_FORMAT = re.compile(
    r"\s*\b(?:(?:Return|Format|Share) your answer\b|Answer with (?:time and day in json|a"
    r" JSON object of this form)|Report as a json|Report the (?:values|answer)\b"
    r"|Help them by computing)"
)


def solve(question: str) -> Solution | None:
    """Return the answers that a question may have; None where it cannot be read."""
    found = _family(question)
    return found and found[1]


def family(question: str) -> str | None:
    """Return the name of the family that solves a question, or None."""
    found = _family(question)
    return found and found[0]


@cache
def _patterns(with_public: bool) -> list[tuple]:
    families = FAMILIES if with_public else tot_arithmetic_fresh.FAMILIES
    return [(name, pattern(told), solver) for name, _, told, solver in families]


def _family(question: str) -> tuple[str, Solution] | None:
    """Return the family of a question, and what its function finds."""
    text = " ".join(_FORMAT.split(question, maxsplit=1)[0].split())
    for name, told, solver in _patterns(len(text) <= LONGEST_PUBLIC):
        if match := told.fullmatch(text):
            try:
                found = list(solver(match))
            except Unreadable:
                continue
            answers = {json.dumps(answer): answer for answer, _ in found}
            reckoning = "; or ".join(dict.fromkeys(way for _, way in found))
            return name, Solution(tuple(answers.values()), reckoning)
    return None
