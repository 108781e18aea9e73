"""Questions on who held which role when, in the schema of ToT semantic.

A random graph gives the pairs of entities, every edge becomes a fact "E1 was the R2 of E3
from 1984 to 1990", and a question of one of the eight types is asked of the facts. Of a
role of an entity there is one holder at a time, and roles change hands at the turn of a
year, so that no answer hangs on whether ends are inclusive. A level has more facts than
the one below, and from level 3 on the entity asked about is itself described by a role,
at every second level by one more.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import NamedTuple


VERSION = "2"
HIGHEST = 8
QUESTION_TYPES = (
    "before_after",
    "event_at_time_t",
    "event_at_what_time",
    "event_at_the_time_of_another_event",
    "first_last",
    "number_of_events_in_time_interval",
    "relation_duration",
    "timeline",
)
INTRODUCTION = (
    "The following facts are all that is known. Roles change hands only at the turn of a"
    ' year: "from 1984 to 1990" means from the first day of 1984 until the first day of'
    " 1990, so that the role was held in every year from 1984 to 1989, and not in 1990."
)
INSTRUCTION = (
    'Reply with JSON that has two fields, "explanation" with your reasoning first, then'
    ' "answer" with the bare result: the name of an entity such as "E5", several names in'
    ' order as "E5,E17,E2", or a whole number such as 12.'
)


class Fact(NamedTuple):
    """An entity held a role of another one from a year until the start of a later one."""

    holder: int
    role: int
    of: int
    start: int
    end: int


# ------------------------------------------------------------------------------ graphs


def erdos_renyi(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return each pair of some nodes with one and the same chance."""
    nodes = 3 + edges // 2
    pairs = list(combinations(range(nodes), 2))
    return [pair for pair in pairs if rng.random() < edges / len(pairs)]


def barabasi_albert(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return pairs that join each new node with two, the likelier the more they have."""
    pairs = [(0, 2), (1, 2)]
    ends = [0, 2, 1, 2]  # each node as often as it has edges
    for node in range(3, 2 + edges // 2):
        first = rng.choice(ends)
        second = rng.choice([end for end in ends if end != first])
        pairs += [(first, node), (second, node)]
        ends += [first, node, second, node]
    return pairs


def scale_free(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return pairs of which each joins a node by its edges to a new or another one."""
    pairs, ends, nodes = [(0, 1)], [0, 1], 2
    while len(pairs) < edges:
        first = rng.choice(ends)
        if rng.random() < 0.6:
            second, nodes = nodes, nodes + 1
        else:
            second = rng.choice(ends)
        pair = (min(first, second), max(first, second))
        if first != second and pair not in pairs:
            pairs.append(pair)
            ends += pair
        elif second == nodes - 1 and second not in ends:
            nodes -= 1
    return pairs


def stochastic_block(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return pairs of nodes in two blocks, five times as likely within one."""
    nodes = 4 + edges // 2
    pairs = list(combinations(range(nodes), 2))
    weights = [5 if first % 2 == second % 2 else 1 for first, second in pairs]
    scale = edges / sum(weights)
    return [
        pair for pair, weight in zip(pairs, weights) if rng.random() < weight * scale
    ]


def star(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return pairs of one node with every other."""
    return [(0, node) for node in range(1, edges + 1)]


def complete(rng: random.Random, edges: int) -> list[tuple[int, int]]:
    """Return every pair of as many nodes as give about so many."""
    nodes = next(n for n in range(3, edges + 3) if n * (n + 1) // 2 > edges)
    return list(combinations(range(nodes), 2))


GRAPHS = {
    "er": erdos_renyi,
    "ba": barabasi_albert,
    "sfn": scale_free,
    "sbm": stochastic_block,
    "star": star,
    "complete": complete,
}


# ------------------------------------------------------------------------------- facts


def edges_of_level(level: int) -> int:
    """Return about how many pairs of entities a level has."""
    return 6 + 6 * level


def facts_of(
    rng: random.Random, pairs: list[tuple[int, int]], level: int
) -> list[Fact]:
    """Return facts over the pairs: of each role one holder at a time."""
    nodes = sorted({node for pair in pairs for node in pair})
    names = dict(zip(nodes, rng.sample(range(1, 100 + len(nodes)), len(nodes))))
    holders: dict[tuple[int, int], list[int]] = {}
    for pair in pairs:
        ends = [names[node] for node in pair]
        rng.shuffle(ends)
        # Some pairs hold roles of each other.
        for holder, of in (ends, ends[::-1])[: 1 + (rng.random() < 0.3)]:
            role = rng.randint(1, 2 + level // 2)
            holders.setdefault((role, of), []).append(holder)
    facts = []
    for (role, of), those in sorted(holders.items()):
        rng.shuffle(those)
        year = rng.randint(1900, 1990)
        for holder in those:
            end = year + rng.randint(1, 9)
            facts.append(Fact(holder, role, of, year, end))
            year = end + rng.choice((0, 0, 0, 1, 2))
    return facts


SORTINGS = {
    "relation_and_start_time": lambda fact: (fact.role, fact.start, fact.of),
    "start_time_and_relation": lambda fact: (fact.start, fact.role, fact.of),
    "start_time_and_target": lambda fact: (fact.start, fact.of, fact.role),
    "target_and_start_time": lambda fact: (fact.of, fact.start, fact.role),
    "shuffle": None,
}


# --------------------------------------------------------------------------- questions


class Asked(NamedTuple):
    """A question about a role of an entity, that entity being called by a name."""

    text: str  # with {of} in the place of the entity
    of: int
    answer: str


def _terms(facts: list[Fact], role: int, of: int) -> list[Fact]:
    """Return the terms of a role, from the first to the last."""
    return sorted(
        (fact for fact in facts if (fact.role, fact.of) == (role, of)),
        key=lambda fact: fact.start,
    )


def _in_year(facts: list[Fact], role: int, of: int, year: int) -> Fact | None:
    terms = _terms(facts, role, of)
    return next((fact for fact in terms if fact.start <= year < fact.end), None)


def _before_after(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked | None:
    terms = _terms(facts, fact.role, fact.of)
    word, step = rng.choice((("before", -1), ("after", 1)))
    place = terms.index(fact) + step
    if not 0 <= place < len(terms):
        return None
    text = f"Which entity was the R{fact.role} of {{of}} right {word} E{fact.holder}?"
    return Asked(text, fact.of, f"E{terms[place].holder}")


def _at_time(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked:
    year = rng.randrange(fact.start, fact.end)
    text = f"Which entity was the R{fact.role} of {{of}} in {year}?"
    return Asked(text, fact.of, f"E{fact.holder}")


def _what_time(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked:
    end, year = rng.choice((("first", fact.start), ("last", fact.end - 1)))
    text = f"Which was the {end} year in which E{fact.holder} was the R{fact.role} of {{of}}?"
    return Asked(text, fact.of, str(year))


def _at_another(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked | None:
    others = [x for x in facts if fact.start <= x.start < fact.end and x != fact]
    if not others:
        return None
    other = rng.choice(others)
    text = (
        f"Which entity was the R{fact.role} of {{of}} in the year in which"
        f" E{other.holder} became the R{other.role} of E{other.of}?"
    )
    return Asked(text, fact.of, f"E{fact.holder}")


def _first_last(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked | None:
    terms = _terms(facts, fact.role, fact.of)
    if len(terms) < 2:
        return None
    word, place = rng.choice((("first", 0), ("last", -1)))
    text = f"Which entity was the {word} to be the R{fact.role} of {{of}}?"
    return Asked(text, fact.of, f"E{terms[place].holder}")


def _number(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked | None:
    terms = _terms(facts, fact.role, fact.of)
    if len(terms) < 2:
        return None
    first = rng.randint(terms[0].start - 3, terms[-1].start)
    last = rng.randint(first + 1, terms[-1].start + 5)
    count = sum(first <= term.start <= last for term in terms)
    text = (
        f"How many entities became the R{fact.role} of {{of}} in the years from {first} to"
        f" {last}, both included?"
    )
    return Asked(text, fact.of, str(count))


def _duration(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked:
    text = f"For how many years was E{fact.holder} the R{fact.role} of {{of}}?"
    return Asked(text, fact.of, str(fact.end - fact.start))


def _timeline(rng: random.Random, facts: list[Fact], fact: Fact) -> Asked | None:
    terms = _terms(facts, fact.role, fact.of)
    if len(terms) < 2:
        return None
    text = (
        f"Which entities were the R{fact.role} of {{of}}, in the order in which they"
        " became it?"
    )
    return Asked(text, fact.of, ",".join(f"E{term.holder}" for term in terms))


ASK = dict(
    zip(
        QUESTION_TYPES,
        (
            *(_before_after, _at_time, _what_time, _at_another),
            *(_first_last, _number, _duration, _timeline),
        ),
    )
)


def _described(
    rng: random.Random, facts: list[Fact], entity: int, hops: int
) -> list[str] | None:
    """Return sentences that lead to an entity, calling it X1, X2 …; None without a way.

    Each says who held a role in a year: of a named entity, then of the one before.
    """
    way: list[Fact] = []
    for _ in range(hops):
        used = {entity, *(x.of for x in way)}
        steps = [x for x in facts if x.holder == entity and x.of not in used]
        if not steps:
            return None
        way.append(rng.choice(steps))
        entity = way[-1].of
    sentences, of = [], f"E{entity}"
    for number, fact in enumerate(reversed(way), 1):
        year = rng.randrange(fact.start, fact.end)
        sentences.append(
            f"Let X{number} be the entity that was the R{fact.role} of {of} in {year}."
        )
        of = f"X{number}"
    return sentences


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level."""
    return {"descriptions": (level - 1) // 2}


def row(
    rng: random.Random, level: int, index: int, knobs: dict[str, int]
) -> dict | None:
    """Return a prompt, its question and its label; types, orders and graphs take turns.

    None where the facts do not have what the question needs.
    """
    kind = QUESTION_TYPES[index % len(QUESTION_TYPES)]
    sorting = tuple(SORTINGS)[index % len(SORTINGS)]
    graph = tuple(GRAPHS)[(index + index // 24) % len(GRAPHS)]
    facts = facts_of(rng, GRAPHS[graph](rng, edges_of_level(level)), level)
    if not facts:
        return None
    asked = ASK[kind](rng, facts, rng.choice(facts))
    hops = (level - 1) // 2
    way = _described(rng, facts, asked.of, hops) if asked else None
    if way is None:
        return None
    question = " ".join(
        [*way, asked.text.format(of=f"X{hops}" if hops else f"E{asked.of}")]
    )
    if key := SORTINGS[sorting]:
        facts.sort(key=key)
    else:
        rng.shuffle(facts)
    told = "\n".join(
        f"E{x.holder} was the R{x.role} of E{x.of} from {x.start} to {x.end}."
        for x in facts
    )
    return {
        "question": question,
        "graph_gen_algorithm": graph,
        "question_type": kind,
        "sorting_type": sorting,
        "prompt": f"{INTRODUCTION}\n\n{told}\n\n{INSTRUCTION}\n\n{question}",
        "label": asked.answer,
    }
