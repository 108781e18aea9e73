"""Questions on who held which role when, in the schema of ToT semantic.

A random graph gives the pairs of entities, every edge becomes a fact "E1 was the R2 of E3
from 1984 to 1990", and a question of one of the eight types is asked of the facts. Of a
role of an entity there is one holder at a time, and roles change hands at the turn of a
year, so that no answer hangs on whether ends are inclusive.

From level 3 on the entity asked about is itself described by a role, at every level by one
more, and the graph is lifted: each of its nodes is six entities, and each of its
edges is one between each of the six and another one of the other node's at each term. So
what leaves out the object or the year of a description fits several entities alike.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

from ._wording import texts


VERSION = "5"
HIGHEST = 8  # at 9, about ten rows a second; the next VERSION may raise it
BOUNDS = {"pairs": (3, 60), "descriptions": (0, 10)}
TEXTS = texts("_semantic")
QUESTION_TYPES = tuple(TEXTS["questions"])
DOUBLES = 6  # entities that a node is, where there are descriptions
# Terms of a role of an entity that has doubles; the most grows with the descriptions.
FEWEST_TERMS, MOST_TERMS = 4, 5
STAGGER = 6  # years that doubles come to a role after one another, at most
TRIES = 100  # questions of the same facts
# Answers that a description leaves without its object, or without its year, at least; and
# those that the last one leaves, but for kinds that rarely have so many.
LEAST, LEAST_OF_LAST = 3, 5
FEWER = {"before_after": 4, "number_of_events_in_time_interval": 4}


Pairs = list[tuple[int, int]]  # of nodes that are joined


class Fact(NamedTuple):
    """An entity held a role of another one from a year until the start of a later one."""

    holder: int
    role: int
    target: int
    start: int
    end: int


# ------------------------------------------------------------------------------ graphs


def drawn(rng: random.Random, edges: int, nodes: int, within: int) -> Pairs:
    """Return random pairs of nodes in two blocks, `within` times as likely within one."""
    all_pairs = list(combinations(range(nodes + edges // 2), 2))
    pair_weights = [
        within if first_node % 2 == second_node % 2 else 1
        for first_node, second_node in all_pairs
    ]
    probability_scale = edges / sum(pair_weights)
    return [
        node_pair
        for node_pair, pair_weight in zip(all_pairs, pair_weights)
        if rng.random() < pair_weight * probability_scale
    ]


def barabasi_albert(rng: random.Random, edges: int) -> Pairs:
    """Return pairs that join each new node with two, likelier those that have more."""
    pairs = [(0, 2), (1, 2)]
    edge_ends = [0, 2, 1, 2]  # each node as often as it has edges
    for new_node in range(3, 2 + edges // 2):
        first_neighbour = rng.choice(edge_ends)
        second_neighbour = rng.choice(
            [end_node for end_node in edge_ends if end_node != first_neighbour]
        )
        pairs += [(first_neighbour, new_node), (second_neighbour, new_node)]
        edge_ends += [first_neighbour, new_node, second_neighbour, new_node]
    return pairs


def scale_free(rng: random.Random, edges: int) -> Pairs:
    """Return pairs of which each joins a node by its edges to a new or another one."""
    pairs, edge_ends, node_count = [(0, 1)], [0, 1], 2
    while len(pairs) < edges:
        first_node = rng.choice(edge_ends)
        if rng.random() < 0.6:
            second_node, node_count = node_count, node_count + 1
        else:
            second_node = rng.choice(edge_ends)
        node_pair = (min(first_node, second_node), max(first_node, second_node))
        if first_node != second_node and node_pair not in pairs:
            pairs.append(node_pair)
            edge_ends += node_pair
        elif second_node == node_count - 1 and second_node not in edge_ends:
            node_count -= 1
    return pairs


def complete(rng: random.Random, edges: int) -> Pairs:
    """Return every pair of as many nodes as have about so many pairs."""
    node_count = 3
    while node_count * (node_count + 1) // 2 <= edges:
        node_count += 1
    return list(combinations(range(node_count), 2))


GRAPHS: dict[str, Callable[[random.Random, int], Pairs]] = {
    "er": partial(drawn, nodes=3, within=1),
    "ba": barabasi_albert,
    "sfn": scale_free,
    "sbm": partial(drawn, nodes=4, within=5),
    "star": lambda _, edges: [(0, node) for node in range(1, edges + 1)],
    "complete": complete,
}


# ------------------------------------------------------------------------------- facts


def _draw_holders(
    rng: random.Random, pairs: Pairs, double_count: int
) -> dict[tuple[int, int], list[int]]:
    """Return the nodes that hold each post: by its role's number and its target node."""
    role_numbers = range(1, 3 + len(pairs) // 12 + (double_count > 1))
    holders_by_post: dict[tuple[int, int], list[int]] = {}
    for node_pair in pairs:
        shuffled_pair = list(node_pair)
        rng.shuffle(shuffled_pair)
        is_mutual = rng.random() < 0.3 / double_count
        holders_and_targets = [shuffled_pair, shuffled_pair[::-1]][: 1 + is_mutual]
        for holder_node, target_node in holders_and_targets:
            possible_roles = [
                role
                for role in role_numbers
                if double_count == 1 or (role, target_node) not in holders_by_post
            ]
            if possible_roles:
                post = (rng.choice(possible_roles), target_node)
                holders_by_post.setdefault(post, []).append(holder_node)
    return holders_by_post


def facts_of(rng: random.Random, pairs: Pairs, descriptions: int) -> list[Fact]:
    """Return facts over pairs of nodes, each an entity or several, its doubles.

    There is one holder of a role at a time. With descriptions, each role of a node is one
    of each of its doubles, at about the same time: its holders are the doubles of the same
    nodes, but others of them at each term.
    """
    double_count = DOUBLES if descriptions else 1
    nodes = sorted({node for node_pair in pairs for node in node_pair})
    entity_count = double_count * len(nodes)
    entities = rng.sample(range(1, 100 + entity_count), entity_count)
    doubles_by_node = {
        node: entities[node_number :: len(nodes)]
        for node_number, node in enumerate(nodes)
    }
    facts = []
    holders_by_post = _draw_holders(rng, pairs, double_count)
    for (role, target_node), holder_nodes in sorted(holders_by_post.items()):
        holder_turns = [
            (holder_node, index_shift)
            for holder_node in holder_nodes
            for index_shift in range(double_count)
        ]
        rng.shuffle(holder_turns)
        first_year = rng.randint(1900, 1960)
        for target_index, target_entity in enumerate(doubles_by_node[target_node]):
            start_year = first_year + rng.randint(0, STAGGER) * (double_count > 1)
            term_count = len(holder_turns)
            if double_count > 1:
                term_count = rng.randint(FEWEST_TERMS, MOST_TERMS + descriptions)
            for holder_node, index_shift in holder_turns[:term_count]:
                end_year = start_year + rng.randint(1, 9)
                holder_index = (target_index + index_shift) % double_count
                holder_entity = doubles_by_node[holder_node][holder_index]
                facts.append(
                    Fact(holder_entity, role, target_entity, start_year, end_year)
                )
                start_year = end_year + rng.choice((0, 0, 0, 1, 2))
    return facts


SORTINGS = {
    "relation_and_start_time": lambda fact: (fact.role, fact.start, fact.target),
    "start_time_and_relation": lambda fact: (fact.start, fact.role, fact.target),
    "start_time_and_target": lambda fact: (fact.start, fact.target, fact.role),
    "target_and_start_time": lambda fact: (fact.target, fact.start, fact.role),
    "shuffle": None,
}


# --------------------------------------------------------------------------- questions

Terms = list[Fact]  # of one role of one entity, from the first to the last
Calendar = dict[int, dict[int | None, Terms]]  # by role and entity
Holders = dict[tuple[int, int | None, int], int]  # by role, entity and year
Step = tuple[Fact, int]  # and a year of it


def _details(rng: random.Random, kind: str, facts: Terms, fact: Fact) -> dict | None:
    """Return what a question on a role says, of a holder or another event; else None."""
    if kind == "number_of_events_in_time_interval":
        return _interval(rng, [term.start for term in facts if term[1:3] == fact[1:3]])
    if kind == "event_at_the_time_of_another_event":
        events_started_meanwhile = [
            event
            for event in facts
            if fact.start <= event.start < fact.end and event != fact
        ]
        if not events_started_meanwhile:
            return None
        event = rng.choice(events_started_meanwhile)
        other_post_slots = {"other_role": event.role, "other_target": event.target}
        return {"who": event.holder, "year": event.start, **other_post_slots}
    side_words = ("before", "after") if kind == "before_after" else ("first", "last")
    return {
        "who": fact.holder,
        "year": rng.randrange(fact.start, fact.end),
        "side": rng.choice(side_words),
    }


def _interval(rng: random.Random, starts: list[int]) -> dict | None:
    """Return an interval of years, in which any number of terms starts, as likely each.

    None where there are so few terms that most intervals would have one start.
    """
    if len(starts) < 4:
        return None
    start_count = rng.randint(0, len(starts))  # in the interval
    first_index = rng.randint(0, len(starts) - start_count)
    end_index = first_index + start_count
    padded_starts = [starts[0] - 4, *starts, starts[-1] + 4]
    first_year = rng.randint(
        padded_starts[first_index] + 1, padded_starts[first_index + 1]
    )
    last_year = rng.randint(padded_starts[end_index], padded_starts[end_index + 1] - 1)
    return {"start": first_year, "end": last_year} if first_year < last_year else None


def answer_of(kind: str, details: dict, terms: Terms) -> str | None:
    """Return the answer from the terms of a role; None where they have none."""
    if kind in ("event_at_time_t", "event_at_the_time_of_another_event"):
        year = details["year"]
        in_year = (term for term in terms if term.start <= year < term.end)
        return next((f"E{term.holder}" for term in in_year), None)
    term_holders = [f"E{term.holder}" for term in terms]
    asks_earlier = details.get("side") in ("first", "before")
    match kind:
        case "timeline":
            return ",".join(term_holders) if len(terms) > 1 else None
        case "first_last":
            return term_holders[0 if asks_earlier else -1] if len(terms) > 1 else None
        case "number_of_events_in_time_interval":
            asked_years = range(details["start"], details["end"] + 1)
            start_count = sum(term.start in asked_years for term in terms)
            return str(start_count) if len(terms) > 1 else None
    if f"E{details['who']}" not in term_holders:
        return None
    term_index = term_holders.index(f"E{details['who']}")
    start_year, end_year = terms[term_index][3:]
    match kind:
        case "before_after":
            return [None, *term_holders, None][
                term_index if asks_earlier else term_index + 2
            ]
        case "relation_duration":
            return str(end_year - start_year)
    return str(start_year if asks_earlier else end_year - 1)


def _who_held(
    holders: Holders, role: int, entities: Iterable[int | None], year: int
) -> set[int | None]:
    """Return who held a role of some entities in a year; None stands for nobody."""
    return {holders.get((role, entity, year)) for entity in entities}


def _way(
    rng: random.Random, held: dict[int, Terms], entity: int, hops: int, counts: Callable
) -> list[Step] | None:
    """Return facts, each with a year of it, that lead to an entity; None without a way.

    Each says who held a role: of a named entity, then of the one before. Each `counts`,
    as a description in front of those that follow.
    """
    steps_to_entity: list[Step] = []
    used_entities = {entity}  # so that no fact is in the way, or in the question, twice
    for _ in range(hops):
        possible_steps = [
            (fact, rng.randrange(fact.start, fact.end))
            for fact in held.get(entity, [])
            if fact.target not in used_entities
        ]
        rng.shuffle(possible_steps)
        step = next(
            (step for step in possible_steps if counts(step, steps_to_entity)), None
        )
        if not step:
            return None
        steps_to_entity.insert(0, step)
        entity = step[0].target
        used_entities.add(entity)
    return steps_to_entity


def _fits(
    calendar: Calendar, holders: Holders, step: Step
) -> Iterator[set[int | None]]:
    """Yield whom a description fits without its year, which are few, and without its object."""
    described_fact, year = step
    terms_by_entity = calendar[described_fact.role]
    yield {term.holder for term in terms_by_entity[described_fact.target]}
    yield _who_held(holders, described_fact.role, terms_by_entity, year) - {None}


def _index(facts: list[Fact]) -> tuple[Calendar, Holders, dict[int, list[Fact]]]:
    """Return facts by role and entity, who held each role when, and what each held."""
    calendar: Calendar = defaultdict(lambda: defaultdict(list))
    holders: Holders = {}
    facts_by_holder: dict[int, list[Fact]] = defaultdict(list)
    for fact in facts:
        calendar[fact.role][fact.target].append(fact)
        facts_by_holder[fact.holder].append(fact)
        for year in range(fact.start, fact.end):
            holders[fact.role, fact.target, year] = fact.holder
    return calendar, holders, facts_by_holder


def _problem(
    rng: random.Random, facts: list[Fact], kind: str, hops: int
) -> tuple[str, str] | None:
    """Return a question and its answer; None where no draw has one.

    Each description counts: without its object, or without its year, it fits entities that
    lead to several answers.
    """
    calendar, holders, facts_by_holder = _index(facts)
    for _ in range(TRIES):
        asked_fact = rng.choice(facts)
        if not (details := _details(rng, kind, facts, asked_fact)):
            continue

        @cache
        def answer_for(entity: int | None) -> str | None:
            terms = calendar[asked_fact.role].get(entity, [])
            return answer_of(kind, details, terms)

        def answers(entities: set, later: list[Step]) -> set[str]:
            for fact, year in later:
                entities = _who_held(holders, fact.role, entities, year)
            found = map(answer_for, entities)
            return {answer for answer in found if answer is not None}

        def counts(step: Step, later: list[Step]) -> bool:
            if step[0].target == details.get("other_target"):
                return False  # no fact is in the question twice
            least_answer_count = LEAST if later else FEWER.get(kind, LEAST_OF_LAST)
            return all(
                len(answers(fitting_entities, later)) >= least_answer_count
                for fitting_entities in _fits(calendar, holders, step)
            )

        description_steps = _way(rng, facts_by_holder, asked_fact.target, hops, counts)
        right_answers = answers({asked_fact.target}, [])
        if right_answers and description_steps is not None:
            question = _tell_question(description_steps, kind, details, asked_fact)
            return question, right_answers.pop()
    return None


def ladder(level: int) -> dict[str, int]:
    """Return the knobs of a level; entities have doubles where there are descriptions."""
    if level < 3:
        return {"pairs": 6 + 6 * level, "descriptions": 0}
    return {"pairs": 3 + level // 3, "descriptions": level - 2}


def row(rng: random.Random, level: int, index: int, knobs: dict) -> dict | None:
    """Return a prompt, its question and its label; types, orders and graphs take turns.

    None where the facts do not have what the question needs, or where a description does
    not count.
    """
    question_type = QUESTION_TYPES[index % len(QUESTION_TYPES)]
    sorting_name = tuple(SORTINGS)[index % len(SORTINGS)]
    graph_name = tuple(GRAPHS)[(index + index // 24) % len(GRAPHS)]
    node_pairs = GRAPHS[graph_name](rng, knobs["pairs"])
    facts = facts_of(rng, node_pairs, knobs["descriptions"])
    if not facts:
        return None
    question_and_answer = _problem(rng, facts, question_type, knobs["descriptions"])
    if not question_and_answer:
        return None
    question, answer = question_and_answer
    if sort_key := SORTINGS[sorting_name]:
        facts.sort(key=sort_key)
    else:
        rng.shuffle(facts)
    facts_text = "\n".join(
        TEXTS["fact"].format(who=fact.holder, **fact._asdict()) for fact in facts
    )
    prompt_parts = [TEXTS["introduction"], facts_text, TEXTS["instruction"], question]
    return {
        "question": question,
        "graph_gen_algorithm": graph_name,
        "question_type": question_type,
        "sorting_type": sorting_name,
        "prompt": "\n\n".join(prompt_parts),
        "label": answer,
    }


def _tell_question(way: list[Step], kind: str, details: dict, fact: Fact) -> str:
    """Return the descriptions of X1, X2 …, each by the one before, and the question."""
    next_target_name = f"E{way[0][0].target if way else fact.target}"
    sentences = []
    for description_number, (described_fact, year) in enumerate(way, 1):
        described_name = f"X{description_number}"
        sentences.append(
            TEXTS["description"].format(
                name=described_name,
                role=described_fact.role,
                target=next_target_name,
                year=year,
            )
        )
        next_target_name = described_name
    question_text = TEXTS["questions"][kind].format(
        role=fact.role, target=next_target_name, **details
    )
    return " ".join([*sentences, question_text])
