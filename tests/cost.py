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
from utils.core.files import read_jsonl


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


def seconds(function: Callable, *arguments: object, rounds: int = 15) -> float:
    """Return the least processor time of a call."""
    spent = []
    for _ in range(rounds):
        empty_caches()
        start = time.process_time()
        function(*arguments)
        spent.append(time.process_time() - start)
    return min(spent)


def json_seconds(document: dict, response: str) -> float:
    line = json.dumps({"doc": document, "response": response})
    return seconds(lambda: json.dumps(json.loads(line)))


def ratios(kind: dict) -> dict[str, float]:
    """Return form -> what a verdict on 4 KB costs, in times of its line's JSON."""
    document, costs = kind["doc"], {}
    score = scorer(kind["task"]).process_results
    for form, value in [*((x, kind["right"]) for x in FORMS), ("ASKED", kind["wrong"])]:
        end = form.replace("ASKED", kind["asked"]).replace("VALUE", value)
        text = f"{(PROSE * 60)[: SMALL - len(end)]}\n{end}"
        costs[end] = seconds(score, document, [text]) / json_seconds(document, text)
    return costs


def growths(kind: dict) -> tuple[dict[str, float], dict[str, float]]:
    """Return hostile text -> growth to LARGE, and of the slowest ones that to HUGE.

    Both sizes are timed in turn, and the least quotient counts: a machine that is busy for
    a moment does not look like growth.
    """
    document, score = kind["doc"], scorer(kind["task"]).process_results
    start = kind["asked"].partition("VALUE")[0]
    least = json_seconds(document, "x" * SMALL)  # what costs less is not looked at
    spent: dict[str, float] = {}

    def growth(unit: str, sizes: tuple[int, int], rounds: int) -> float:
        texts = [start + unit * (size // len(unit)) for size in sizes]
        quotients = []
        for _ in range(rounds):
            few, many = (seconds(score, document, [x], rounds=1) for x in texts)
            quotients.append(many / max(least, few))
        spent[unit] = many
        return min(quotients)

    to_large = {unit: growth(unit, (SMALL, LARGE), 3) for unit in HOSTILE}
    slowest = sorted(spent, key=spent.get)[-TRIED_HUGE:]
    return to_large, {unit: growth(unit, (LARGE, HUGE), 1) for unit in slowest}


def exceeded(name: str) -> dict[str, str]:
    """Return text -> line of what exceeds a bound; print the highest figures of a kind."""
    bounds = (MOST.get(name, MOST_OF_OTHERS), MOST_LARGE, MOST_HUGE)
    highest, lines = [], {}
    for figures, bound in zip((ratios(KINDS[name]), *growths(KINDS[name])), bounds):
        highest.append(f"{max(figures.values()):.1f} (at most {bound})")
        for text, figure in figures.items():
            if figure > bound:
                lines[text] = f"{name}: {text!r}: {figure:.1f}, at most {bound}"
    print(f"{name:<15} {', '.join(highest)}", flush=True)
    return lines


def main(names: list[str]) -> int:
    """Measure the kinds, again where one exceeds a bound; return the exit status."""
    lines = {name: exceeded(name) for name in names or KINDS}
    for _ in range(TRIES - 1):
        again = {name: exceeded(name) for name in lines if lines[name]}
        lines = {x: {y: again[x][y] for y in again[x] if y in lines[x]} for x in again}
    print(*(line for own in lines.values() for line in own.values()), sep="\n")
    return any(lines.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
