"""Measure what a verdict costs, against reading and writing its line as JSON.

    python -m tests.cost [KIND ...]

A kind is one function that scores. Printed are the highest figures: a verdict on 4 KB in
times of `json.loads` and `json.dumps` of its line, and growth from 4 KB to 100 KB to 4 MB
of hostile text. Exit status 1: a bound was passed three times. Time is the processor's,
the least of some rounds; what a family keeps is forgotten before each.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.digest import empty_caches
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl


# Times the JSON. How fast JSON is beside regular expressions depends on the machine: code
# with a bound of 5 on one measures 5.8 on another. So the bound is 5 * 5.8 / 5, and a tenth.
MOST = {"tot_arithmetic": 8, "generation": 15}
MOST_OF_OTHERS = 6.4
SMALL, LARGE, HUGE = 4_000, 100_000, 4_000_000
MOST_LARGE, MOST_HUGE = 30, 60  # times the size before
TRIES = 3  # what passes a bound each time is over it
TRIED_HUGE = 2  # of the hostile texts, those that take longest at LARGE
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


def seconds(function: Callable[[], object], rounds: int = 15) -> float:
    """Return the least processor time of a call."""
    spent = []
    for _ in range(rounds):
        empty_caches()
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return min(spent)


def json_seconds(doc: dict, response: str) -> float:
    line = json.dumps({"doc": doc, "response": response})
    return seconds(lambda: json.dumps(json.loads(line)))


def ratios(kind: dict) -> dict[str, float]:
    """Return form -> what a verdict on 4 KB costs, in times of its line's JSON."""
    doc, found = kind["doc"], {}
    score = scorer(kind["task"]).process_results
    for form, value in [*((x, kind["right"]) for x in FORMS), ("ASKED", kind["wrong"])]:
        end = form.replace("ASKED", kind["asked"]).replace("VALUE", value)
        text = f"{(PROSE * 60)[: SMALL - len(end)]}\n{end}"
        found[end] = seconds(lambda: score(doc, [text])) / json_seconds(doc, text)
    return found


def growths(kind: dict) -> tuple[dict[str, float], dict[str, float]]:
    """Return hostile text -> growth to LARGE, and of the slowest ones that to HUGE.

    Both sizes are timed in turn, and the least quotient counts: a machine that is busy for
    a moment does not look like growth.
    """
    doc, score = kind["doc"], scorer(kind["task"]).process_results
    start = kind["asked"].partition("VALUE")[0]
    least = json_seconds(doc, "x" * SMALL)  # what costs less is not looked at

    def growth(unit: str, small: int, large: int, rounds: int) -> float:
        texts = [start + unit * (size // len(unit)) for size in (small, large)]
        found = []
        for _ in range(rounds):
            one, other = (seconds(lambda: score(doc, [x]), 1) for x in texts)
            found.append(other / max(least, one))
        spent[unit] = other
        return min(found)

    spent: dict[str, float] = {}
    large = {unit: growth(unit, SMALL, LARGE, 3) for unit in HOSTILE}
    slowest = sorted(spent, key=spent.get)[-TRIED_HUGE:]
    return large, {unit: growth(unit, LARGE, HUGE, 1) for unit in slowest}


def passed(kind: str) -> dict[str, str]:
    """Return what passes a bound, with the figures; print the highest ones."""
    large, huge = growths(KINDS[kind])
    bounds = (MOST.get(kind, MOST_OF_OTHERS), MOST_LARGE, MOST_HUGE)
    found, told, faults = (ratios(KINDS[kind]), large, huge), [], {}
    for figures, most in zip(found, bounds):
        told.append(f"{max(figures.values()):.1f} (at most {most})")
        for name, figure in figures.items():
            if figure > most:
                faults[name] = f"{kind}: {name!r}: {figure:.1f}, at most {most}\n"
    sys.stdout.write(f"{kind:<15} {', '.join(told)}\n")
    return faults


def main(kinds: list[str]) -> int:
    """Measure the kinds, again where one passes a bound; return the exit status."""
    found = {kind: passed(kind) for kind in kinds or KINDS}
    for _ in range(TRIES - 1):
        again = {kind: passed(kind) for kind, faults in found.items() if faults}
        found = {x: {y: again[x][y] for y in again[x] if y in found[x]} for x in again}
    lines = [line for faults in found.values() for line in faults.values()]
    sys.stdout.writelines(lines)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
