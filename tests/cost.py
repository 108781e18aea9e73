"""Measure what a verdict costs, against reading and writing its line as JSON.

    python -m tests.cost [KIND ...]

A kind is one function that scores. Printed are the highest figures: a verdict on 4 KB in
times of its line's JSON, and growth from 4 KB to 100 KB to 2 MB of hostile text. Exit
status 1: a bound was passed three times. Time is the processor's.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.digest import empty_caches
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


# Times the JSON: 5 for most kinds, and a fifth more, as figures of one machine differ.
MOST = {"tot_arithmetic": 8, "generation": 15}
MOST_OF_OTHERS = 6
ROUNDS = 15
SMALL, LARGE, HUGE = 4_000, 100_000, 2_000_000
# Times the size before, where the text grows 25 and 20 times: half as much again, as caches
# of a slow machine take it. Time that grows with the square would be 625 and 400.
MOST_LARGE, MOST_HUGE = 37.5, 30
TRIES = 3  # what passes a bound each time is over it
# kind, task, document, a right value, a wrong one, and the form that is asked for
KINDS = {x["kind"]: x for x in read_jsonl(Path(__file__).with_suffix(".jsonl"))}
FORMS = (  # ASKED: the form that the prompt asks for
    *("ASKED", "ASKED (I counted twice.)", "**Answer: VALUE**"),
    *("So the answer is VALUE.", "\\boxed{VALUE}"),
)
HOSTILE = (
    *("{", "}", "[", '"', "'", "\\", " ", "\n", "A. ", "1,", "a: ", "{'a': ", '{"a":'),
    *("\\boxed{", "\\boxed{}", "<think>", "<think></think>", "A (not B) ", "not "),
    *("Thus, the correct answer is: A ", "The answer is 1. ", "(1 ", "Answer:\n", "**"),
)
PROSE = "**Step 10.** Part 10 lasts 10 hours:\n- it begins when the ninth has ended.\n"


def seconds(function: Callable, *arguments: object) -> float:
    """Return the processor time of a call, with nothing kept."""
    empty_caches()
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def json_seconds(document: dict, response: str) -> float:
    line = json.dumps({"doc": document, "response": response})
    return seconds(lambda: json.dumps(json.loads(line)))


def times_json(score: Callable, document: dict, text: str) -> float:
    """Return what a verdict costs in times of its line's JSON, the median of some rounds.

    Both are timed in turn. A processor that does one of them over and over does it faster,
    JSON more so than verdicts, and its speed may change from one second to the next.
    """
    return median(
        seconds(score, document, [text]) / json_seconds(document, text)
        for _ in range(ROUNDS)
    )


def ratios(kind: dict) -> dict[str, float]:
    """Return form -> what a verdict on 4 KB costs, in times of its line's JSON."""
    document, costs = kind["doc"], {}
    score = scorer(kind["task"]).process_results
    for form, value in [*((x, kind["right"]) for x in FORMS), ("ASKED", kind["wrong"])]:
        end = form.replace("ASKED", kind["asked"]).replace("VALUE", value)
        text = f"{(PROSE * 60)[: SMALL - len(end)]}\n{end}"
        costs[end] = times_json(score, document, text)
    return costs


def growths(kind: dict) -> tuple[dict[str, float], dict[str, float]]:
    """Return hostile text -> growth to LARGE, and of the two slowest that to HUGE.

    Both sizes are timed in turn, and again where the growth is beyond its bound, where the
    least counts: a machine that is busy for a moment does not look like growth.
    """
    document, score = kind["doc"], scorer(kind["task"]).process_results
    start = kind["asked"].partition("VALUE")[0]
    # What costs less than the JSON of a small line is not looked at.
    least = median(json_seconds(document, "x" * SMALL) for _ in range(ROUNDS))
    spent: dict[str, float] = {}

    def growth(unit: str, *sizes: int) -> float:
        texts = [start + unit * (size // len(unit)) for size in sizes]
        few, spent[unit] = (seconds(score, document, [x]) for x in texts)
        return spent[unit] / max(least, few)

    def growth_to_large(unit: str) -> float:
        tried = [growth(unit, SMALL, LARGE)]
        while min(tried) > MOST_LARGE and len(tried) < TRIES:
            tried.append(growth(unit, SMALL, LARGE))
        return min(tried)

    to_large = {unit: growth_to_large(unit) for unit in HOSTILE}
    slowest = sorted(spent, key=spent.get)[-2:]
    return to_large, {unit: growth(unit, LARGE, HUGE) for unit in slowest}


def exceeded(name: str) -> dict[str, str]:
    """Return text -> line of what exceeds a bound; print the highest figures of a kind."""
    bounds = (MOST.get(name, MOST_OF_OTHERS), MOST_LARGE, MOST_HUGE)
    highest, lines = [], {}
    for figures, bound in zip((ratios(KINDS[name]), *growths(KINDS[name])), bounds):
        highest.append(f"{max(figures.values()):.1f} (at most {bound})")
        over = {text: figure for text, figure in figures.items() if figure > bound}
        lines |= {x: f"{name}: {x!r}: {over[x]:.1f}, at most {bound}" for x in over}
    print(f"{name:<15} {', '.join(highest)}", flush=True)
    return lines


def main(names: list[str]) -> int:
    """Measure the kinds, again where one exceeds a bound; return the exit status."""
    over = {}
    for name in names or KINDS:
        lines = exceeded(name)
        for again in (exceeded(name) for _ in range(TRIES - 1) if lines):
            lines = {text: again[text] for text in again if text in lines}
        over |= lines
    print(*over.values(), sep="\n")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
