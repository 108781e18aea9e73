"""Fresh ToT semantic: graphs, roles and orders are of their kinds, levels are levels."""

import random
import re
from collections import Counter
from statistics import mean

import networkx
import pytest

from lm_eval_tasks.fresh.utils import find_generator, generate_row, rows
from tests.solvers.third.tot_semantic import solve


LEVELS = range(1, 6)
made = find_generator("tot_semantic")


def graphs(name: str, edges: int, count: int = 100) -> list[networkx.Graph]:
    drawn = [made.GRAPHS[name](random.Random(seed), edges) for seed in range(count)]
    for pairs in drawn:
        assert len(pairs) == len(set(map(frozenset, pairs)))
        assert all(first != second for first, second in pairs)
    return [networkx.Graph(pairs) for pairs in drawn]


@pytest.mark.parametrize("name", made.GRAPHS)
@pytest.mark.parametrize("edges", [12, 36, 66])
def test_a_graph_has_about_as_many_edges_as_asked(name, edges):
    found = mean(graph.number_of_edges() for graph in graphs(name, edges))
    assert edges * 0.8 < found < edges * 1.2


def hub(name: str) -> float:
    """Return the mean of the largest degree against the mean degree."""
    return mean(
        max(degrees) / mean(degrees)
        for graph in graphs(name, 200)
        for degrees in [[degree for _, degree in graph.degree()]]
    )


def test_hubs_and_leaves_are_those_of_each_growth():
    assert all(networkx.is_connected(graph) for graph in graphs("sfn", 200))
    for graph in graphs("ba", 66):
        assert networkx.is_connected(graph)
        assert graph.number_of_edges() == 2 * (len(graph) - 2)
    even = hub("er")
    assert even < 2.5 and hub("ba") > 1.5 * even and hub("sfn") > 2 * even


def test_stochastic_blocks_have_more_edges_within_than_between():
    within = Counter(
        first % 2 == second % 2
        for graph in graphs("sbm", 66, 300)
        for first, second in graph.edges()
    )
    assert 4.2 < within[True] / within[False] < 5.2  # of about as many pairs


def test_of_a_role_there_is_one_holder_at_a_time():
    for seed in range(50):
        rng = random.Random(seed)
        facts = made.facts_of(rng, made.barabasi_albert(rng, 40), 5)
        held = Counter(
            (fact.role, fact.target, year)
            for fact in facts
            for year in range(fact.start, fact.end)
        )
        assert set(held.values()) == {1}


def test_types_orders_and_graphs_take_turns():
    drawn = list(rows("tot_semantic", 1, 240, range(1, 2)))
    for column, values in (
        ("question_type", made.QUESTION_TYPES),
        ("sorting_type", made.SORTINGS),
        ("graph_gen_algorithm", made.GRAPHS),
    ):
        counts = Counter(row[column] for row in drawn)
        assert counts == {value: len(drawn) / len(values) for value in values}
    counts = Counter(x["label"] for x in drawn if "How many ent" in x["question"])
    assert counts.total() == 30 and max(counts.values()) < 13
    pairs = {(row["question_type"], row["graph_gen_algorithm"]) for row in drawn}
    assert len(pairs) == 8 * 6


def facts_told(row: dict) -> list[dict[str, int]]:
    pattern = r"E\d+ was the R(\d+) of E(\d+) from (\d+) to"
    facts = [map(int, fact) for fact in re.findall(pattern, row["prompt"])]
    return [dict(zip(("relation", "target", "start_time"), fact)) for fact in facts]


def test_facts_are_told_in_the_order_that_the_row_names():
    for row in rows("tot_semantic", 1, 50, LEVELS):
        if row["sorting_type"] != "shuffle":
            columns = row["sorting_type"].split("_and_")
            keys = [[fact[column] for column in columns] for fact in facts_told(row)]
            assert keys == sorted(keys)


def test_a_level_has_a_description_more_and_little_more_text():
    for level in range(3, 9):
        drawn = list(rows("tot_semantic", 14, 8, range(level, level + 1)))
        assert {x["question"].count("Let X") for x in drawn} == {level - 2}
        assert mean(len(facts_told(row)) for row in drawn) < 250


def test_timelines_are_of_several_lengths_at_every_level():
    turn, kinds = made.QUESTION_TYPES.index("timeline"), len(made.QUESTION_TYPES)
    for level in range(1, 9):
        places = range(turn, 12 * kinds, kinds)
        drawn = [generate_row("tot_semantic", 14, level, place) for place in places]
        assert {x["question_type"] for x in drawn} == {"timeline"}
        assert len({x["label"].count(",") for x in drawn}) >= 3


def test_a_description_counts():
    """Without its object, and without its year, it leaves several answers."""
    let = re.compile(
        r"Let (X\d+) be the entity that was the (R\d+) of (\w+) in (\d+)\. "
    )
    for row in rows("tot_semantic", 15, 16, range(3, 8, 2)):
        facts = re.findall(
            r"(E\d+) was the (R\d+) of (E\d+) from (\d+) to (\d+)", row["prompt"]
        )
        told, question = row["prompt"][: -len(row["question"])], row["question"]
        while said := let.match(question):
            name, role, of, year = said.groups()
            rest = question[said.end() :]
            held = [x for x in facts if x[1] == role]
            in_year = [x for x in held if int(x[3]) <= int(year) < int(x[4])]
            [own] = [x[0] for x in in_year if x[2] == of]
            for fit in (in_year, [x for x in held if x[2] == of]):
                questions = {re.sub(rf"\b{name}\b", x[0], rest) for x in fit}
                found = {solve(told + x) for x in questions}
                assert len(found - {"", "none", "ambiguous"}) >= 3, row
            question = re.sub(rf"\b{name}\b", own, rest)
