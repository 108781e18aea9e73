"""Answers a second of each kind, timed by pyperf; `bench` runs it and reads the result.

Each benchmark runs in processes of its own. Time is processor time, which other programs
on the machine change less than the clock.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import pyperf

from .bench import KINDS, LENGTHS, empty_caches, response, scorers
from .families import Scorer


def timed(
    one: Scorer, name: str, length: int, block: bool
) -> tuple[Callable[[int], float], int]:
    """Return a function that scores answers some times over, and how many they are."""
    kind = KINDS[name]
    numbers = range(max(2, min(200, 200_000 // length)))
    cases = [
        (kind.document(x), [response(kind, x, length, right=True, block=block)])
        for x in numbers
    ]

    def run(loops: int) -> float:
        spent = 0.0
        for _ in range(loops):
            empty_caches(one)  # each document is new
            start = time.process_time()
            for doc, results in cases:
                one.process_results(doc, results)
            spent += time.process_time() - start
        return spent

    return run, len(cases)


def title(name: str, size: str, block: bool) -> str:
    """Return what a benchmark is called."""
    return f"{name}, {size}{', reasoning' if block else ''}"


def main() -> None:
    """Run the benchmarks of the kinds that the command line names."""

    def same_kinds(command: list[str], options: argparse.Namespace) -> None:
        command.extend(options.kind)

    runner = pyperf.Runner(
        values=3,
        processes=3,
        min_time=0.05,
        program_args=("-m", __spec__.name),
        add_cmdline_args=same_kinds,
    )
    runner.argparser.add_argument("kind", nargs="*")
    options = runner.parse_args()
    for name, one in scorers(options.kind).items():
        for block in (False, True):
            for size, length in LENGTHS.items():
                run, count = timed(one, name, length, block)
                runner.bench_time_func(title(name, size, block), run, inner_loops=count)


if __name__ == "__main__":
    sys.exit(main())
