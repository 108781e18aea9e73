"""What questions of ToT arithmetic share: how they are drawn, and how facts are told."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from itertools import product
from typing import NamedTuple

from ._wording import DAY, texts


TEXTS = texts("_arithmetic")
SYLLABLES = "ba do ke la mi no pu ra sel tor ush vin wal yor zem".split()


class Problem(NamedTuple):
    """A question without its format, the fields asked for, and the answer."""

    text: str
    fields: str
    answer: dict


def problem(kind: str, answer: dict, **parts: object) -> Problem:
    """Return a problem of a kind, told in the words of the table."""
    kind_patterns = TEXTS[kind]
    problem_text = kind_patterns["text"].format(**TEXTS, **parts)
    return Problem(problem_text, kind_patterns["fields"].format(**parts), answer)


def is_relative(rng: random.Random, level: int) -> bool:
    """Return whether a fact is told by another: never at level 1, mostly from 3 on."""
    return rng.random() < (0, 0.5, 0.8)[min(level, 3) - 1]


Facts = list[tuple[int, str]]  # each a value and whose it is


def draw_facts(
    rng: random.Random, level: int, names: list[str], value: Callable, wording: tuple
) -> tuple[Facts, str, Facts]:
    """Return facts (value, name), their text, and those whose value is told directly.

    `wording` has the pattern of a clause (name, value), the functions that write a value
    and a difference, and the words between a smaller, or a larger value, and the other.
    """
    clause_pattern, write_value, write_difference, *side_words = wording
    facts: Facts = []
    clauses, direct_facts = [], []
    for name in names:
        drawn_value = facts[-1][0] if facts and rng.random() < 0.2 else value()
        peer_value, peer_name = rng.choice(facts) if facts else (drawn_value, "")
        if drawn_value != peer_value and is_relative(rng, level):
            difference_text = write_difference(abs(drawn_value - peer_value))
            side_word = side_words[drawn_value > peer_value]
            value_phrase = f"{difference_text} {side_word} {peer_name}"
        else:
            value_phrase = write_value(drawn_value)
            direct_facts.append((drawn_value, name))
        facts.append((drawn_value, name))
        clauses.append(clause_pattern.format(name, value_phrase))
    return facts, "; ".join(clauses), direct_facts


def first_or_last(
    rng: random.Random, level: int, names: list[str], value: Callable, wording: tuple
) -> tuple[str, list[str], str] | None:
    """Return "first" or "last", who is so, and the facts that tell it.

    From level 3 on, most draws with the same answer by the facts that are told by no other
    are dropped: None. Some are kept, else such an answer would be known to be wrong.
    """
    facts, clauses_text, direct_facts = draw_facts(rng, level, names, value, wording)
    rank_word, min_or_max = rng.choice((("first", min), ("last", max)))
    right_names, right_names_of_direct_facts = (
        [
            name
            for fact_value, name in fact_list
            if fact_value == min_or_max(fact_list)[0]
        ]
        for fact_list in (facts, direct_facts)
    )
    if level > 2 and right_names == right_names_of_direct_facts and rng.random() < 0.7:
        return None
    return rank_word, right_names, clauses_text


def names(rng: random.Random, count: int) -> list[str]:
    """Return names of people; with surnames where there are too many for first names."""
    if count <= len(TEXTS["first names"]):
        return rng.sample(TEXTS["first names"], count)
    full_names = [*map(" ".join, product(TEXTS["first names"], TEXTS["last names"]))]
    return rng.sample(full_names, count)


def places(rng: random.Random, count: int) -> list[str]:
    """Return made names of cities."""
    all_lowercase_names = [*map("".join, product(SYLLABLES, repeat=3))]
    return [*map(str.capitalize, rng.sample(all_lowercase_names, count))]


def time(rng: random.Random, level: int) -> int:
    """Return seconds since midnight: of a full minute first, later of any second."""
    return rng.randrange(DAY) if level > 2 else 60 * rng.randrange(DAY // 60)


def date_of(rng: random.Random, first_year: int, last_year: int) -> date:
    """Return any day from the first of a year to the end of another."""
    first_day = date(first_year, 1, 1)
    return first_day + timedelta(
        rng.randrange((date(last_year + 1, 1, 1) - first_day).days)
    )


def most(level: int, step: int, total: int, least: int) -> int:
    """Return the size of one of `level` spans: it grows until all together are `total`."""
    return max(least, min(step * level, total // level))
