"""Dates shifted by years and months, in the schema of TimeBench's Date Arithmetic."""

import random


VERSION = "1"
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def row(rng: random.Random, level: int, index: int) -> dict | None:
    """Return a question whose shift grows with the level."""
    start, shift = rng.randrange(1300 * 12, 2100 * 12), rng.randrange(1, 24 * level)
    sign = rng.choice((1, -1))
    year, month = divmod(start + sign * shift, 12)
    first_year, first_month = divmod(start, 12)
    side = "after" if sign > 0 else "before"
    said = f"{shift // 12} year and {shift % 12} month {side}"
    return {
        "question": f"What is the time {said} {_MONTHS[first_month]}, {first_year}",
        "answer": [f"{_MONTHS[month]}, {year}"],
        "context": "",
    }
