"""Months reached by steps of years and months, in the schema of Date Arithmetic.

A question of level N has N steps, forward and back, of up to 11 years each, as long as the
public set's, and starts in its years.
"""

from __future__ import annotations

import random
from itertools import accumulate

from ._wording import counted


VERSION = "5"
HIGHEST = 100
BOUNDS = {"steps": (1, 100)}
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
FIRST_YEAR, LAST_YEAR = 1000, 2999  # that a question may pass through
LAST_START = 2019
LONGEST_STEP = 11 * 12 - 1  # months


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level."""
    return {"steps": level}


BENCHMARK = ladder(1)


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a question and its month, by months since the year 0.

    None where a step leaves the years.
    """
    start_month = rng.randrange(FIRST_YEAR * 12, (LAST_START + 1) * 12)
    step_sizes = [rng.randint(1, LONGEST_STEP) for _ in range(knobs["steps"])]
    signed_steps = [step_size * rng.choice((1, -1)) for step_size in step_sizes]
    months_reached = [*accumulate(signed_steps, initial=start_month)]
    years_reached = {month // 12 for month in months_reached}
    if min(years_reached) < FIRST_YEAR or max(years_reached) > LAST_YEAR:
        return None
    return {
        "question": _question(start_month, signed_steps),
        "answer": [_month(months_reached[-1])],
        "context": "",
    }


def _question(start: int, steps: list[int]) -> str:
    """Return the question on a start and steps, all in months."""
    if len(steps) == 1:
        side_word = "after" if steps[0] > 0 else "before"
        return f"Which month is {_span(steps[0])} {side_word} {_month(start)}?"
    moves = [f"Go {_span(step)} {'forward' if step > 0 else 'back'}." for step in steps]
    moves[-1] = f"Then go{moves[-1].removeprefix('Go')}"
    return f"Start in {_month(start)}. {' '.join(moves)} Which month is it?"


def _month(months: int) -> str:
    return f"{MONTHS[months % 12]}, {months // 12}"


def _span(months: int) -> str:
    """Return months as years and months in words."""
    years, months_left = divmod(abs(months), 12)
    amounts_and_units = [(years, "year"), (months_left, "month")]
    return " and ".join(
        counted(amount, unit) for amount, unit in amounts_and_units if amount
    )
