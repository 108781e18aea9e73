"""Fresh ToT: kinds, graphs, roles and orders take turns, levels are levels."""

import json
import re
from collections import Counter
from itertools import chain
from random import Random
from statistics import mean

from lm_eval_tasks.fresh.utils import find_generator, generate_row, rows
from tests.solvers.third.tot_arithmetic import KINDS
from tests.solvers.third.tot_semantic import solve


SEED, LEVELS = 20261121, range(1, 6)
arithmetic, semantic = map(find_generator, ("tot_arithmetic", "tot_semantic"))


# -------------------------------------------------------------------------- semantic


def graphs(name: str, edges: int, count: int = 100) -> list[list[tuple[int, int]]]:
    """Return the pairs of graphs of a kind: no loop, and no pair twice."""
    drawn = [semantic.GRAPHS[name](Random(seed), edges) for seed in range(count)]
    for pairs in drawn:
        assert len(pairs) == len({*map(frozenset, pairs)})
        assert all(first != second for first, second in pairs)
    return drawn


def hub_share(name: str) -> float:
    """Return the mean of the largest degree against the mean degree."""
    degrees = [Counter(chain(*pairs)).values() for pairs in graphs(name, 200)]
    return mean(max(own) / mean(own) for own in degrees)


def test_graphs_have_the_edges_hubs_and_blocks_of_their_kind():
    for name in semantic.GRAPHS:
        for edges in (12, 36, 66):
            assert edges * 0.8 < mean(map(len, graphs(name, edges))) < edges * 1.2
    joined = mean(len({*chain(*pairs)}) / len(pairs) for pairs in graphs("sfn", 200))
    assert 0.6 < joined < 0.8  # each edge but some joins a new node
    even = hub_share("er")
    assert even < 2.5 and hub_share("ba") > 1.5 * even and hub_share("sfn") > 2 * even
    pairs = [*chain(*graphs("sbm", 66, 300))]
    within = sum(first % 2 == second % 2 for first, second in pairs)
    assert 4.2 < within / (len(pairs) - within) < 5.2  # of about as many pairs


def test_of_a_role_there_is_one_holder_at_a_time():
    for rng in map(Random, range(50)):
        facts = semantic.facts_of(rng, semantic.barabasi_albert(rng, 40), 5)
        years = [(x[1:3], year) for x in facts for year in range(x.start, x.end)]
        assert len(years) == len({*years})


def test_types_orders_and_graphs_take_turns():
    drawn = list(rows("tot_semantic", 1, 240, range(1, 2)))
    for column, kinds in (
        ("question_type", semantic.QUESTION_TYPES),
        ("sorting_type", semantic.SORTINGS),
        ("graph_gen_algorithm", semantic.GRAPHS),
    ):
        counts = Counter(row[column] for row in drawn)
        assert counts == dict.fromkeys(kinds, len(drawn) / len(kinds))
    pairs = {(row["question_type"], row["graph_gen_algorithm"]) for row in drawn}
    assert len(pairs) == 8 * 6
    counts = Counter(x["label"] for x in drawn if "How many ent" in x["question"])
    assert counts.total() == 30 and max(counts.values()) < 13


FACT = re.compile(
    r"(?P<holder>E\d+) was the R(?P<relation>\d+) of E(?P<target>\d+)"
    r" from (?P<start_time>\d+) to (?P<end>\d+)"
)


def test_facts_are_told_in_the_order_that_the_row_names():
    for row in rows("tot_semantic", 1, 50, LEVELS):
        if row["sorting_type"] != "shuffle":
            columns = row["sorting_type"].split("_and_")
            facts = FACT.finditer(row["prompt"])
            keys = [[int(fact[column]) for column in columns] for fact in facts]
            assert keys == sorted(keys)


def test_a_level_has_a_description_more_and_little_more_text():
    for level in range(3, 9):
        drawn = list(rows("tot_semantic", 14, 8, range(level, level + 1)))
        assert {x["question"].count("Let X") for x in drawn} == {level - 2}
        assert mean(len(FACT.findall(row["prompt"])) for row in drawn) < 250


def test_timelines_are_of_several_lengths_at_every_level():
    turn, kinds = semantic.QUESTION_TYPES.index("timeline"), 8
    for level in range(1, 9):
        places = range(turn, 12 * kinds, kinds)
        drawn = [generate_row("tot_semantic", 14, level, place) for place in places]
        assert {x["question_type"] for x in drawn} == {"timeline"}
        assert len({x["label"].count(",") for x in drawn}) >= 3


LET = re.compile(r"Let (X\d+) be the entity that was the R(\d+) of E?(\w+) in (\d+)\. ")


def test_a_description_counts():
    """Without its object, and without its year, it leaves several answers."""
    for row in rows("tot_semantic", 15, 16, range(3, 8, 2)):
        question = row["question"]
        facts = [x.groups() for x in FACT.finditer(row["prompt"])]
        lead = row["prompt"].removesuffix(question)
        while let := LET.match(question):
            variable, role, target, year = let.groups()
            question = question[let.end() :]
            of_role = [x for x in facts if x[1] == role]
            in_year = [x for x in of_role if int(x[3]) <= int(year) < int(x[4])]
            of_target = [x for x in of_role if x[2] == target]
            [(holder, *_)] = [x for x in in_year if x[2] == target]
            for fits in (in_year, of_target):
                named = {re.sub(rf"\b{variable}\b", x[0], question) for x in fits}
                answers = {solve(lead + text) for text in named}
                assert len(answers - {"", "none", "ambiguous"}) >= 3, row
            question = re.sub(rf"\b{variable}\b", holder, question)


# ------------------------------------------------------------------------ arithmetic

TURN = 74  # rows of a level until each kind has had its turn


def test_each_type_and_each_kind_has_its_turn_as_often_as_in_the_benchmark():
    forms, shares = set(), arithmetic.KINDS
    for level in (1, 5):
        drawn = list(rows("tot_arithmetic", 1, TURN, range(level, level + 1)))
        counts = Counter(row["question_type"] for row in drawn)
        assert counts == {name: 2 * share for name, (share, _) in shares.items()}
        for row in drawn:
            kind = next(kind for words, kind in KINDS if words in row["question"])
            forms.add((kind, *json.loads(row["label"])))
    # Times when all are free and when nobody is busy are of one form.
    assert len(forms) == sum(len(kinds) for _, kinds in shares.values()) - 1


def test_some_meetings_are_impossible_and_some_vague_links_do_not_matter():
    drawn = list(rows("tot_arithmetic", SEED, 10 * TURN, range(4, 5)))
    meetings = [x for x in drawn if x["question_type"] == "schedule"]
    labels = Counter(json.loads(x["label"])["answer"] for x in meetings)
    assert 0.1 < (labels[0] + labels["unanswerable"]) / len(meetings) < 0.25
    ages = [x for x in drawn if "full years old" in x["question"]]
    assert all(re.search("is (younger|older) than", x["question"]) for x in ages)
    unanswerable = sum("unanswerable" in x["label"] for x in ages)
    assert 0.15 < unanswerable / len(ages) < 0.55


def test_a_birthday_and_a_year_settle_an_age_or_not_in_the_same_words():
    wordings = set()
    for row in rows("tot_arithmetic", SEED, 20 * TURN, range(1, 2)):
        if "The birthday of" in row["question"]:
            words = re.sub(r"[A-Z]\w+|\d+", "", row["question"])
            wordings.add(("unansw" in row["label"], *sorted(words.split(". "))))
    first, second = wordings
    assert first[0] != second[0] and first[1:] == second[1:]


def test_runs_differ_dynasties_are_past_and_any_end_of_a_month_is_drawn():
    ends = set()
    for rng in map(Random, range(300)):
        text = arithmetic.clocks.average(rng, 1).text
        first, second = re.search(r": (.+?); (.+?)\.", text).groups()
        assert first != second
        for era in re.findall(r"\d+ AD", str(arithmetic.spans.dynasties(rng, 30))):
            assert int(era[:-3]) <= 2000
        text = arithmetic.clocks.impossible_date(rng, 1).text
        ends |= {*re.findall(r"is dated \d+-(\d\d)-31", text)}
    assert {"01", "03", "05", "07", "08", "10", "12"} <= ends
