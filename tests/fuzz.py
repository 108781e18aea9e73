"""How much of the long fuzz a run has: all of it (`-m fuzz`), or the part of a day.

With the environment variable FUZZ_DAY, such as 20261124, a run has a thirtieth, of other texts
and rows than on other days. The same day gives the same ones again.
"""

import os
from random import Random

import pytest


DAY = int(os.environ.get("FUZZ_DAY", 0))
PART = 30


def sizes(short: int, long: int) -> list:
    """Return the sizes of a test as parameters: the suite's, and the long fuzz's."""
    size = long // PART if DAY else long
    return [short, pytest.param(size, marks=pytest.mark.fuzz)]


def random_of(name: str) -> Random:
    """Return the source of a test's texts, another one each day."""
    return Random(f"{name}, day {DAY}")
