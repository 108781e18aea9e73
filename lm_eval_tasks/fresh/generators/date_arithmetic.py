"""Months reached by steps of years and months, in the schema of Date Arithmetic.

A question of level N has N steps, forward and back, of up to 11 years each, as long as the
public set's, and starts in its years.
"""

from __future__ import annotations

import random

from ._arithmetic import Knobs, counted


VERSION = "3"
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


def row(rng: random.Random, level: int, index: int, knobs: Knobs) -> dict | None:
    """Return a question and its month; None where a step leaves the years."""
    start_month = rng.randrange(
        FIRST_YEAR * 12, (LAST_START + 1) * 12
    )  # since the year 0
    step_sizes = [rng.randint(1, LONGEST_STEP) for _ in range(knobs["steps"])]
    month_steps = [step_size * rng.choice((1, -1)) for step_size in step_sizes]
    passed_months = [start_month]
    for month_step in month_steps:
        passed_months.append(passed_months[-1] + month_step)
    if (
        not FIRST_YEAR * 12
        <= min(passed_months)
        <= max(passed_months)
        < (LAST_YEAR + 1) * 12
    ):
        return None
    return {
        "question": _question(start_month, month_steps),
        "answer": [_month(passed_months[-1])],
        "context": "",
    }


def _question(start: int, steps: list[int]) -> str:
    """Return the question on a start and steps, all in months."""
    if len(steps) == 1:
        side_word = "after" if steps[0] > 0 else "before"
        return f"Which month is {_span(steps[0])} {side_word} {_month(start)}?"
    *move_texts, last_move_text = (
        f"{_span(step)} {'forward' if step > 0 else 'back'}." for step in steps
    )
    moves_text = " ".join(
        [*(f"Go {move_text}" for move_text in move_texts), f"Then go {last_move_text}"]
    )
    return f"Start in {_month(start)}. {moves_text} Which month is it?"


def _month(months: int) -> str:
    return f"{MONTHS[months % 12]}, {months // 12}"


def _span(months: int) -> str:
    """Return months as years and months in words."""
    years, months_left = divmod(abs(months), 12)
    amounts_and_units = [(years, "year"), (months_left, "month")]
    return " and ".join(
        counted(amount, unit) for amount, unit in amounts_and_units if amount
    )
