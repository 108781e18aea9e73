"""Fresh rows: solvers that share no code with the generators find the same labels."""

import json
import re
from calendar import month_name
from collections import Counter
from functools import lru_cache
from itertools import chain, pairwise
from random import Random
from statistics import mean

import pytest

from lm_eval_tasks.fresh.generators import _arithmetic_clocks_and_calendars as clocks
from lm_eval_tasks.fresh.utils import find_generator, generate_row, rows
from tests import fuzz
from tests.solvers.labels import AGREE, check, read
from tests.solvers.tcp import read_project, solve_row
from tests.solvers.third.timexnli import solve as solve_pair
from tests.solvers.third.tot_arithmetic import KINDS, relatives
from tests.solvers.third.tot_semantic import solve as solve_entities
from utils.core.documents import documents_of


SEED, LEVELS = 20261121, range(1, 6)
TURN = 74  # rows of a level until each kind of ToT arithmetic has had its turn
arithmetic, semantic = map(find_generator, ("tot_arithmetic", "tot_semantic"))
short = find_generator("tcp_short")
tcp = short.tcp

TCP_LEVELS = {"tcp_short": range(1, 7), "tcp_long": range(1, 9)}
SEMANTIC_LEVELS = range(1, 9)
SHARED = {  # generator -> levels and rows that several tests look at
    "tot_semantic": (SEMANTIC_LEVELS, 200),
    **{kind: (levels, 20) for kind, levels in TCP_LEVELS.items()},
}
SOLVED = [  # generator, levels, rows
    ("date_arithmetic", range(1, 101), 200),
    ("timexnli", range(1, 31), 400),
    ("tot_arithmetic", LEVELS, 5 * TURN),
    ("tot_arithmetic", range(6, 101, 19), 5 * TURN),
    ("tot_arithmetic", range(1, 101), 200),
    *((name, levels, count) for name, (levels, count) in SHARED.items()),
]


# The last ones are kept, which are those of SHARED: a long fuzz makes many more.
@lru_cache(maxsize=len(SHARED))
def rows_once(name: str, seed: int, count: int, levels: range) -> list[dict]:
    """Return rows, and the same ones for the same request: some take a while to make."""
    return [*rows(name, seed, count, levels)]


def shared_rows(name: str) -> list[dict]:
    """Return the rows of SHARED that the second solver has in the suite."""
    levels, count = SHARED[name]
    return rows_once(name, SEED + 1, count, levels)


@pytest.mark.parametrize("times", fuzz.sizes(1, 100))
@pytest.mark.parametrize(("name", "levels", "count"), SOLVED)
def test_the_second_solver_finds_each_label_and_no_other(name, levels, count, times):
    seed, task = SEED + times + fuzz.DAY, f"fresh_{name}"
    upstream = rows_once(name, seed, times * count, levels)
    checked = check(task, upstream, documents_of(task, upstream))
    assert not [row for row, x in zip(upstream, checked) if x.kind != AGREE]


@pytest.mark.parametrize(
    ("name", "column"), [("date_arithmetic", "question"), ("timexnli", "Premise")]
)
def test_a_level_has_one_step_more_than_the_one_before(name, column):
    steps = re.compile(r"\d+ \w+(?: and \d+ \w+)? (?:before|after|forward|back)\b")
    for row in rows(name, 13, 100, LEVELS):
        # Of pairs, every other distractor is a step that leads nowhere.
        more = row["level"] // 2 - 1 if name == "timexnli" else 0
        assert len(steps.findall(row[column])) == row["level"] + more, row


@pytest.mark.parametrize(
    ("time", "label"),
    [
        *(("At 10:15", "Neutral"), ("After 09:45", "Entailment")),
        # Perhaps at 10:05, but not if all happens on the quarters that clocks show.
        *(("Before 09:45", "Contradiction"), ("Before 10:15", "ambiguous")),
        ("After 23:45", "ambiguous"),
    ],
)
def test_a_label_that_hangs_on_what_clocks_show_is_none(time, label):
    event = "the ferry Upton was scrapped."
    premise = f"All the times named are on the same day. After 10:00, {event}"
    pair = f"Premise: {premise}\nHypothesis: {time}, {event}"
    assert solve_pair(pair).startswith(label)


@pytest.mark.parametrize("level", [2, 5, 20])
def test_every_sentence_on_the_way_to_an_event_matters(level):
    for row in rows("timexnli", 19, 12, range(level, level + 1)):
        sentences = row["Premise"].removesuffix(".").split(". ")
        sentences = [x for x in sentences if not x.startswith("All the")]
        assert len(sentences) == 2 * level
        changes = 0
        for place in range(len(sentences)):
            premise = ". ".join(sentences[:place] + sentences[place + 1 :])
            pair = f"Premise: {premise}.\nHypothesis: {row['Hypothesis']}"
            solution = read(solve_pair, pair)
            changes += not solution or solution.answers != (row["Label"],)
        assert changes == level + 1


TIMES = {  # kind: how its texts are known, and its share of the public pairs
    "clock": (r"\d+:\d\d|[AP]M", 0.18),
    "weekday": ("All the days named are in the same week", 0.08),
    "day": ("All the days named are in the same month", 0.10),
    "month": ("All the months named", 0.26),
    "date": (r"\d [A-Z]\w+ \d{4}", 0.16),
    "month of a year": (rf"({'|'.join(month_name[1:])}) \d{{4}}", 0.18),
    "year": (r"\d{4}", 0.04),
}


def test_pairs_are_of_the_public_kinds_labels_and_tenses_at_every_level():
    drawn = list(rows("timexnli", 17, 1000, LEVELS))
    texts = [f"{row['Premise']} {row['Hypothesis']}" for row in drawn]
    kinds = Counter(
        next(kind for kind, (sign, _) in TIMES.items() if re.search(sign, text))
        for text in texts
    )
    assert all(abs(kinds[x] / 1000 - y) < 0.03 for x, (_, y) in TIMES.items()), kinds
    labels = Counter(row["Label"] for row in drawn)
    shares = {"Contradiction": 0.426, "Entailment": 0.342, "Neutral": 0.232}  # in s1
    assert all(abs(labels[x] / 1000 - y) < 0.02 for x, y in shares.items()), labels
    assert 0.45 < sum(" will " in text for text in texts) / 1000 < 0.55
    for text in texts:
        years = [int(x) for x in re.findall(r"\b\d{4}\b", text)]
        assert all((x > 2026) == (" will " in text) for x in years), text


def test_graphs_have_the_edges_hubs_and_blocks_of_their_kind():
    hubs = {}
    for name, draw in semantic.GRAPHS.items():
        drawn = [draw(Random(seed), 200) for seed in range(100)]
        pairs, degrees = [*chain(*drawn)], [Counter(chain(*x)).values() for x in drawn]
        assert all(first != second for first, second in pairs)
        assert all(len(x) == len({*map(frozenset, x)}) for x in drawn)
        assert 160 < len(pairs) / len(drawn) < 240
        hubs[name] = mean(max(x) / mean(x) for x in degrees)
        if name == "sbm":  # of about as many pairs within blocks as between them
            assert 0.8 < mean(first % 2 == second % 2 for first, second in pairs) < 0.84
        if name == "sfn":  # each edge but some joins a new node
            assert 0.6 < sum(map(len, degrees)) / len(pairs) < 0.8
    even = hubs["er"]
    assert even < 2.5 and hubs["ba"] > 1.5 * even and hubs["sfn"] > 2 * even


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


def test_facts_stand_in_the_order_that_a_row_names_and_roles_have_one_holder():
    for row in rows("tot_semantic", 1, 50, LEVELS):
        facts, terms = [*FACT.finditer(row["prompt"])], []
        if row["sorting_type"] != "shuffle":
            columns = row["sorting_type"].split("_and_")
            keys = [[int(fact[column]) for column in columns] for fact in facts]
            assert keys == sorted(keys)
        for _, *role, start, end in map(re.Match.groups, facts):
            terms += [(*role, year) for year in range(int(start), int(end))]
        assert len(terms) == len({*terms})


def test_a_level_has_a_description_more_and_timelines_of_several_lengths():
    turns = range(semantic.QUESTION_TYPES.index("timeline"), 24 * 8, 8)
    for level in SEMANTIC_LEVELS:
        drawn = [row for row in shared_rows("tot_semantic") if row["level"] == level]
        assert {x["question"].count("Let X") for x in drawn} == {max(0, level - 2)}
        assert mean(len(FACT.findall(row["prompt"])) for row in drawn) < 250
        timelines = [generate_row("tot_semantic", 14, level, x) for x in turns]
        assert {x["question_type"] for x in timelines} == {"timeline"}
        assert len({x["label"].count(",") for x in timelines}) >= 3


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
                answers = {solve_entities(lead + text) for text in named}
                assert len(answers - {"", "none", "ambiguous"}) >= 3, row
            question = re.sub(rf"\b{variable}\b", holder, question)


# Facts without which a question has another answer, beside one a description.
FACTS_OF_QUESTION = {"before_after": 2, "event_at_the_time_of_another_event": 2}
# These hang on how many terms there are.
TERMS = "timeline", "number_of_events_in_time_interval"


def facts_that_matter(row: dict) -> int:
    """Return without how many facts, each left out alone, the label is another one."""
    facts = re.findall(r"E\d+ was the .+\n", row["prompt"])
    prompts = (row["prompt"].replace(fact, "", 1) for fact in facts)
    return sum(solve_entities(prompt) != row["label"] for prompt in prompts)


@pytest.mark.parametrize("level", [3, 8])
def test_each_description_is_one_more_fact_that_matters(level):
    for row in rows("tot_semantic", 31, 8, range(level, level + 1)):
        if row["question_type"] not in TERMS:
            own = FACTS_OF_QUESTION.get(row["question_type"], 1)
            assert facts_that_matter(row) == own + level - 2, row


@pytest.mark.fuzz
@pytest.mark.skipif(fuzz.DAY, reason="a part of its rows has no means to compare")
def test_a_level_of_semantic_has_a_fact_that_matters_more():
    means = [
        mean(map(facts_that_matter, rows("tot_semantic", 31, 400, range(x, x + 1))))
        for x in range(3, 9)
    ]
    assert all(few + 0.8 < many for few, many in pairwise(means)), means
    assert means[-1] - means[0] >= 5, means


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
    # One in 1,500 is asked on a day near the birthday.
    for rng in map(Random, range(4000)):
        problem = clocks.age(rng, 1)
        assert relatives(problem.text) == problem.answer


REST_KEYS = ("max_consecutive", "break_after", "break_between")


@pytest.mark.parametrize("kind", TCP_LEVELS)
def test_the_label_is_the_earliest_end_of_all_schedules(kind):
    for row in shared_rows(kind):
        assert solve_row(row).answers == (row["answer"],), row


@pytest.mark.parametrize("kind", TCP_LEVELS)
def test_each_kind_of_constraint_that_a_row_states_changes_its_end(kind):
    constraints = ("dependencies", "absences", "lunch_break", *REST_KEYS[::2])
    # Levels 1 and 2 may state what does not matter; those above 5 take longer.
    for row in (row for row in shared_rows(kind) if row["level"] in (3, 4, 5)):
        project = read_project(row)
        for constraint in constraints:
            if read_project(row, constraint) != project:
                assert solve_row(row, constraint).answers != (row["answer"],)


DECOY = re.compile(
    "former|old (job|contract)|used to|ears ago|brother|flatmate|cousin|next door"
    "|another team|last (time|project)"
)
OWN = re.compile(r"\b(I|I'm|my|My|me)\b")
VALUE = re.compile(r"\d\d:\d\d|\d+ (?:hours|days)|[A-Z]\w+day")
LENGTH = re.compile(r"the ([\w ]+) (?:took|takes) (\d+)", re.I)


@pytest.mark.parametrize("kind", TCP_LEVELS)
def test_a_digression_has_no_value_of_its_speaker_and_no_length_of_its_task(kind):
    # Whether an end is hard to find is no matter here, and takes most of a row's time.
    digressing = {"distractors": 12, "lookalikes": 12, "misleading": 0, "binding": 0}
    own_values = []
    for row in rows(kind, SEED, 30, range(4, 6), {kind: digressing}):
        decoys = []
        for person in row["agents"]:
            lines = [x for x in row["dialogue"] if x.startswith(f"{person}: ")]
            sentences = re.split(r"(?<=\.) |: ", " ".join(lines))
            asides = [x for x in sentences if DECOY.search(x)]
            own = [x for x in sentences if OWN.search(x) and x not in asides]
            values = VALUE.findall(LENGTH.sub("", " ".join(asides)))
            own_values += VALUE.findall(" ".join(own))
            assert not {*values} & {*VALUE.findall(" ".join(own))}, row
            decoys += asides
        lengths = LENGTH.findall(" ".join(decoys))
        assert len(decoys) == 12 and len(lengths) == 2
        assert all(row["tasks"][task] != int(length) for task, length in lengths)
    assert len(own_values) > 30


def test_a_simple_order_goes_by_the_longest_chain_that_each_task_begins():
    free = tcp.Person([(hour, tcp.WORK) for hour in range(20)])
    project = tcp.Project([4, 4, 2, 3, 1], [[], [], [], [2], [0]], [free, free])
    search = tcp.Search(project, tcp.RULES, tcp.Bounds(project))
    assert search.simple(0) == 7  # 8 where chains are those of other tasks


DAY = {"working_hours": [9, 17]}
NOON = DAY | {"lunch_break": [12, 13]}
ROW = {"max_consecutive": 2, "break_after": 1}
ENDS = [
    # (hour of the start, tasks, dependencies, people, the only answer or None)
    (9, [3], [], [DAY], "03 12:00"),
    (9, [3], [], [DAY, DAY], "03 12:00"),  # nobody helps
    (7, [3], [], [DAY], "03 12:00"),
    (9, [9], [], [DAY], "04 10:00"),
    (9, [5], [], [NOON], "03 15:00"),
    (22, [5], [], [{"working_hours": [22, 2]}], "04 23:00"),
    (20, [4], [], [{"working_hours": [20, 0]}], "04 00:00"),
    (1, [3], [], [{"working_hours": [22, 2]}], "04 00:00"),
    (9, [2, 3], [], [DAY, DAY], "03 12:00"),
    (9, [2, 3], [(0, 1)], [DAY, DAY], "03 14:00"),
    (9, [2, 3, 1], [(0, 2), (1, 2)], [DAY, DAY], "03 13:00"),
    # The order decides: the long task first.
    (9, [1, 1, 2], [], [DAY, DAY], "03 11:00"),
    # A task that could be begun at once is better left to who comes later.
    (9, [6], [], [{"working_hours": [9, 11]}, {"working_hours": [12, 20]}], "03 18:00"),
    (9, [5], [], [DAY | ROW], "03 16:00"),
    (9, [2, 2], [], [DAY | {"break_between": 1}], "03 14:00"),
    # What follows hangs on how a rule is read: whether a pause on purpose saves a rest; a
    # meal is a rest; it ends a row; a row goes on in the next task; the night, or the rest
    # after a row, is time off between two tasks.
    (9, [5], [], [DAY | {"max_consecutive": 3, "break_after": 2}], None),
    (9, [5], [], [NOON | {"max_consecutive": 3, "break_after": 1}], None),
    (9, [6], [], [NOON | {"max_consecutive": 4, "break_after": 1}], None),
    (9, [2, 2], [], [DAY | ROW], None),
    (9, [8, 2], [], [DAY | {"break_between": 1}], None),
    (9, [2, 2], [], [DAY | ROW | {"break_between": 1}], None),
]


@pytest.mark.parametrize(("hour", "lengths", "pairs", "people", "answer"), ENDS)
def test_only_an_end_that_no_reading_changes_is_certain(
    hour, lengths, pairs, people, answer
):
    needs = [[x for x, y in pairs if y == task] for task in range(len(lengths))]
    workers = []
    for rules in people:
        shift = short.Shift("", 0, rules["working_hours"], rules.get("lunch_break"))
        rests = (rules.get(key, 0) for key in REST_KEYS)
        workers.append(tcp.Person(shift.calendar(hour, 240), *rests))
    end = tcp.certain_end(tcp.Project(lengths, needs, workers))
    constraints = dict(zip(("Ana", "Ben"), people))
    row = {
        "tasks": {f"task {n}": length for n, length in enumerate(lengths)},
        "dependencies": [[f"task {x}", f"task {y}"] for x, y in pairs],
        "agents": [*constraints],
        "project_start_datetime_gmt": f"2025-03-03 {hour:02}:00",
        "agent_constraints_gmt": constraints,
    }
    if answer is None:
        assert end is None
    else:
        assert solve_row(row).answers == (f"2025-03-{answer} GMT",)
        assert f"{3 + (hour + end) // 24:02} {(hour + end) % 24:02}:00" == answer
