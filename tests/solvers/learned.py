"""What a learner that cannot reason gets right: `python -m tests.solvers.learned [ROWS]`.

Gradient boosting sees simple numbers of a text, of ROWS rows (1,000) of one seed and level,
and answers those of another seed. A line a task and level; the exit status is 1 where it is
right more often than BOUNDS say: then something in the text gives answers away.
"""

import re
import sys
from calendar import day_name, month_name
from datetime import datetime, timedelta
from operator import itemgetter

import numpy
from sklearn.ensemble import (
    HistGradientBoostingClassifier as Classifier,
    HistGradientBoostingRegressor as Regressor,
)

from lm_eval_tasks.fresh.utils import rows
from tests.solvers.shortcuts import prepositions


BOUNDS = {"tcp_short": 0.28, "tcp_long": 0.28, "timexnli": 0.57}
SEEDS = 20261124, 20261125  # of the rows to learn from, and of those to answer
LEVELS = range(3, 6)
WORDS = {
    "tcp": "off holiday available every never row between meal eat begin done".split(),
    "nli": "before after Before After in on at hour day week month year".split(),
}


def planning_numbers(row: dict) -> list[float]:
    """Return counts of words and tasks, the work, its parts, and what else is counted."""
    text = " ".join(row["dialogue"])
    work = sorted(row["tasks"].values())
    others = sorted(map(int, re.findall(r"\b(\d+) (?:hour|day)s? off", text)))[:4]
    days = sorted(int(x) for x in re.findall(r"\b(\d+) [A-Z]\w+", text))
    start = datetime.fromisoformat(
        row.get("project_start_datetime_gmt") or row["project_start_date"]
    )
    gaps = [(day - start.day) % 31 for day in days]
    return [
        *(text.count(word) for word in WORDS["tcp"]),
        *(len(work), sum(work), len(row["dependencies"]), start.weekday(), start.hour),
        *(work + [0] * 12)[:12],
        *(others + [0] * 4)[:4],
        *(len(gaps), sum(gap < sum(work) / 2 for gap in gaps)),
        *(sorted(gaps) + [99] * 8)[:8],
    ]


def units(row: dict) -> int:
    """Return the hours or days from a project's start to its end."""
    if "project_start_date" in row:
        start, end = row["project_start_date"], row["answer"]
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).days
    start = datetime.fromisoformat(row["project_start_datetime_gmt"])
    end = datetime.fromisoformat(row["answer"].removesuffix(" GMT"))
    return (end - start) // timedelta(hours=1)


def _places(pattern: str, text: str, names: list[str]) -> list[int]:
    """Return the places of the names that a pattern finds in a text, in its order."""
    return [names.index(x) for x in re.findall(pattern, text) if x in names]


def _minutes(text: str) -> list[int]:
    """Return the clocks of a text as minutes of the day."""
    clocks = re.findall(r"\b(\d+):(\d\d)(?: ([AP])M)?", text)
    return [
        (int(hour) % 12 + 12 * (half == "P") if half else int(hour)) * 60 + int(minute)
        for hour, minute, half in clocks
    ]


def pair_numbers(row: dict) -> list[float]:
    """Return counts of words, numbers in their order, where times are, and prepositions."""
    texts = row["Premise"], row["Hypothesis"]
    cells: list[float] = []
    for text, number_count in zip(texts, (12, 3)):
        numbers = [int(x) for x in re.findall(r"\d+", text)]
        # Where in its year, week or day the hypothesis' time is, and those of the premise.
        cells += [
            *(numbers + [-1] * number_count)[:number_count],
            *[*_places(r"\b[A-Z]\w+", text, list(month_name)), -1, -1][:2],
            *[*_places(r"\w+day\b", text, list(day_name)), -1, -1][:2],
            *[*_minutes(text), -1, -1][:2],
        ]
        cells += [text.count(word) for word in WORDS["nli"]]
        cells += [sum(numbers), len(text)]
    kinds = "before after in on at".split()
    return cells + [kinds.index(x) for x in prepositions(row)[0].split()]


def share_right(name: str, level: int, count: int) -> float:
    """Return the share of another seed's rows that the learner answers."""
    model, numbers, label = Regressor, planning_numbers, units
    options = {"random_state": 0, "loss": "absolute_error"}
    if name == "timexnli":
        model, numbers, label = Classifier, pair_numbers, itemgetter("Label")
        options = {"random_state": 0}
    learned, other = (
        [*rows(name, seed, count, range(level, level + 1))] for seed in SEEDS
    )
    learner = model(**options).fit([*map(numbers, learned)], [*map(label, learned)])
    answers = learner.predict([*map(numbers, other)])
    answers = answers if name == "timexnli" else numpy.rint(answers)
    return float(numpy.mean(answers == numpy.array([*map(label, other)])))


def main(count: int) -> int:
    """Print the shares, of so many rows a level and seed; return 1 above a bound."""
    is_over = False
    for name, bound in BOUNDS.items():
        for level in LEVELS:
            share = share_right(name, level, count)
            is_over |= share > bound
            print(f"{name}, level {level}: {share:.2f}, at most {bound}", flush=True)
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1000))
