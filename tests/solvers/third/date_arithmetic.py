"""Solve a prompt of Date Arithmetic: `solve(text)` returns a month such as "Nov, 1283".

Months are counted from year 0 on. Raises ValueError where the text has no first month.
"""

from __future__ import annotations

import re


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MONTH = re.compile(r"([A-Z][a-z]{2}), (\d+)")
STEP = re.compile(
    r"(?:(\d+) years?)?(?: and )?(?:(\d+) months?)? (after|before|forward|back)\b"
)


def solve(text: str) -> str:
    question = text.split("\n")[0]
    start = MONTH.search(question)
    if not start:
        raise ValueError(question)
    at = int(start[2]) * 12 + MONTHS.index(start[1])
    for years, months, way in STEP.findall(question):
        span = int(years or 0) * 12 + int(months or 0)
        at += span if way in ("after", "forward") else -span
    return f"{MONTHS[at % 12]}, {at // 12}"
