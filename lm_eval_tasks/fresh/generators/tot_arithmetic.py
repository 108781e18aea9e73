"""Questions about dates, clocks and calendars, in the schema of ToT arithmetic.

Each of the seven types has a few kinds of question, and as many rows as in the benchmark.
A kind is a function that draws the facts, computes the answer from them and says both.
The level is the number of steps (or of spans, people, zones …); with it come longer spans,
ends of months, the line between BC and AD, zones off the full hour and precise times;
from level 3 on most facts are told by others. What decides an answer is said in the
question: which calendar, whether ends count, what a full month is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from . import (
    _arithmetic_clocks_and_calendars as clocks,
    _arithmetic_spans_and_order as spans,
)
from ._arithmetic import Problem


VERSION = "5"
HIGHEST = 100
BOUNDS = {"steps": (1, HIGHEST)}
Kind = Callable[[random.Random, int], Problem | None]
# Type -> its rows in the benchmark, of 37 each, and its kinds of question.
KINDS: dict[str, tuple[int, tuple[Kind, ...]]] = {
    "add_subtract": (7, spans.ADD_SUBTRACT),
    "compare": (7, spans.COMPARE),
    "duration": (4, spans.DURATION),
    "multi_op": (7, clocks.MULTI_OP),
    "schedule": (5, clocks.SCHEDULE),
    "timezone": (2, clocks.TIMEZONE),
    "trick": (5, clocks.TRICK),
}
# The types in their turns, each as evenly as can be.
TURNS = [
    name
    for _, name in sorted(
        ((2 * place + 1) / share, name)
        for name, (share, _) in KINDS.items()
        for place in range(share)
    )
]


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level."""
    return {"steps": level}


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a row of the type whose turn it is, or None where the draw is not sound."""
    round_number, turn_index = divmod(index, len(TURNS))
    type_name = TURNS[turn_index]
    type_turn_count, kind_functions = KINDS[type_name]
    index_in_type = round_number * type_turn_count + TURNS[:turn_index].count(type_name)
    problem = kind_functions[index_in_type % len(kind_functions)](rng, knobs["steps"])
    if problem is None:
        return None
    return {
        "question": (
            f"{problem.text} Answer with a JSON object of this form: JSON ="
            f' {{"explanation": "<your step by step solution>", {problem.fields}}}'
        ),
        "question_type": type_name,
        "label": json.dumps(problem.answer),
    }
