"""Solvers that read a rendered prompt and find its answer by brute force.

They share no code with the generators of fresh problems or with the scorers: where one
agrees with a label, two independent ways led there.
"""

from __future__ import annotations

from typing import NamedTuple


class Solution(NamedTuple):
    """What a solver found."""

    answers: tuple  # every answer that is possible, in the form of the label
    reckoning: str  # the way to it, in one line
