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

from . import _clocks as clocks, _spans as spans
from ._arithmetic import Problem


VERSION = "2"
HIGHEST = 100
Kind = Callable[[random.Random, int], Problem | None]
# Type -> its rows in the benchmark, of 37 each, and its kinds of question.
KINDS: dict[str, tuple[int, tuple[Kind, ...]]] = {
    "add_subtract": (
        7,
        (spans.dynasties, spans.moved_weekday, spans.moved_date, spans.founded),
    ),
    "compare": (
        7,
        (spans.in_order, spans.before_or_after, spans.first_or_last, spans.oldest_city),
    ),
    "duration": (
        4,
        (spans.open_days, spans.full_months, spans.shifts_worked, spans.reigns),
    ),
    "multi_op": (
        7,
        (clocks.average, clocks.at_the_same_pace, clocks.next_time, clocks.clock_time),
    ),
    "schedule": (5, (clocks.common_times, clocks.busy_calendars)),
    "timezone": (
        2,
        (clocks.calls, clocks.landing, clocks.time_in_the_air, clocks.widest_gap),
    ),
    "trick": (
        5,
        (
            *(clocks.impossible_date, clocks.nested_days, clocks.possible_weekdays),
            *(clocks.told_calendar, clocks.age),
        ),
    ),
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


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a row of the type whose turn it is, or None where the draw is not sound."""
    rounds, place = divmod(index, len(TURNS))
    name = TURNS[place]
    share, kinds = KINDS[name]
    turn = rounds * share + TURNS[:place].count(name)
    problem = kinds[turn % len(kinds)](rng, max(1, knobs["steps"]))
    if problem is None:
        return None
    return {
        "question": (
            f"{problem.text} Answer with a JSON object of this form: JSON ="
            f' {{"explanation": "<your step by step solution>", {problem.fields}}}'
        ),
        "question_type": name,
        "label": json.dumps(problem.answer),
    }
