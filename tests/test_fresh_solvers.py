"""Fresh rows: solvers that share no code with the generators find the same labels."""

import re
from calendar import month_name
from collections import Counter
from itertools import pairwise
from statistics import mean

import pytest

from lm_eval_tasks.fresh.utils import rows
from tests.solvers.labels import AGREE, check, read
from tests.solvers.third.timexnli import read_premise, solve as solve_pair
from tests.solvers.third.tot_semantic import solve as solve_entities
from utils.core.documents import documents_of


LEVELS = range(1, 6)
TURN = 74  # rows of a level until each kind of ToT arithmetic has had its turn


def unsolved_rows(task: str, upstream: list[dict]) -> list[dict]:
    """Return rows of which the solver does not find the label, or not it alone."""
    checked = check(task, upstream, documents_of(task, upstream))
    return [row for row, x in zip(upstream, checked, strict=True) if x.kind != AGREE]


SOLVED = [  # generator, levels, rows
    ("date_arithmetic", range(1, 101), 200),
    ("timexnli", range(1, 31), 400),
    ("tot_semantic", range(1, 9), 200),
    ("tot_arithmetic", LEVELS, 5 * TURN),
    ("tot_arithmetic", range(6, 101, 19), 5 * TURN),
    ("tot_arithmetic", range(1, 101), 200),
    ("tcp_short", range(1, 7), 20),
    ("tcp_long", range(1, 9), 20),
]


@pytest.mark.parametrize("times", [1, pytest.param(100, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize(("name", "levels", "count"), SOLVED)
def test_the_second_solver_finds_each_label_and_no_other(name, levels, count, times):
    upstream = [*rows(name, 20261121 + times, times * count, levels)]
    assert not unsolved_rows(f"fresh_{name}", upstream)


@pytest.mark.parametrize(
    ("time", "label"),
    [
        ("At 10:15", "Neutral"),
        ("After 09:45", "Entailment"),
        ("Before 09:45", "Contradiction"),
        # Perhaps at 10:05, but not if all happens on the quarters that clocks show.
        ("Before 10:15", "ambiguous"),
        ("After 23:45", "ambiguous"),
    ],
)
def test_a_label_that_hangs_on_what_clocks_show_is_none(time, label):
    premise = "Premise: All the times named are on the same day. After 10:00, {}"
    pair = f"{premise}\nHypothesis: {time}, {{}}"
    assert solve_pair(pair.replace("{}", "the ferry Upton was scrapped.")).startswith(
        label
    )


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


def test_events_on_the_way_are_not_bound_by_the_week_of_the_days_that_are_named():
    sizes = {"minute": 1440, "weekday": 7, "monthday": 31, "yearmonth": 12}
    cycles = []
    for row in rows("timexnli", 19, 60, range(20, 21)):
        times = read_premise(row["Premise"])[1].values()
        (unit,), places = {unit for unit, _ in times}, [place for _, place in times]
        if unit in sizes:
            cycles.append((max(places) - min(places)) / sizes[unit])
    assert len(cycles) > 20 and min(cycles) > 1


# Facts without which a question has another answer, beside one a description. Those of
# timelines and counts hang on how many terms there are.
FACTS_OF_QUESTION = {
    "timeline": None,
    "number_of_events_in_time_interval": None,
    "before_after": 2,
    "event_at_the_time_of_another_event": 2,
}


def facts_that_matter(row: dict) -> int:
    """Return without how many facts, each left out alone, the label is another one."""
    facts = re.findall(r"E\d+ was the .+\n", row["prompt"])
    prompts = (row["prompt"].replace(fact, "", 1) for fact in facts)
    return sum(solve_entities(prompt) != row["label"] for prompt in prompts)


@pytest.mark.parametrize("level", [3, 8])
def test_each_description_is_one_more_fact_that_matters(level):
    for row in rows("tot_semantic", 31, 8, range(level, level + 1)):
        if own := FACTS_OF_QUESTION.get(row["question_type"], 1):
            assert facts_that_matter(row) == own + level - 2, row


@pytest.mark.fuzz
def test_a_level_of_semantic_has_a_fact_that_matters_more():
    means = [
        mean(map(facts_that_matter, rows("tot_semantic", 31, 400, range(x, x + 1))))
        for x in range(3, 9)
    ]
    assert all(few + 0.8 < many for few, many in pairwise(means)), means
    assert means[-1] - means[0] >= 5, means


@pytest.mark.parametrize(
    ("name", "column"), [("date_arithmetic", "question"), ("timexnli", "Premise")]
)
def test_a_level_has_one_step_more_than_the_one_before(name, column):
    steps = re.compile(r"\d+ \w+(?: and \d+ \w+)? (?:before|after|forward|back)\b")
    for row in rows(name, 13, 100, LEVELS):
        # Of pairs, every other distractor is a step that leads nowhere.
        more = row["level"] // 2 - 1 if name == "timexnli" else 0
        assert len(steps.findall(row[column])) == row["level"] + more, row


TIMES = {
    "clock": (r"\d+:\d\d|[AP]M", 0.18),
    "weekday": ("All the days named are in the same week", 0.08),
    "day": ("All the days named are in the same month", 0.10),
    "month": ("All the months named", 0.26),
    "date": (r"\d [A-Z]\w+ \d{4}", 0.16),
    "month of a year": (rf"({'|'.join(month_name[1:])}) \d{{4}}", 0.18),
    "year": (r"\d{4}", 0.04),
}


def test_pairs_are_of_the_public_kinds_labels_and_tenses_at_every_level():
    drawn = list(rows("timexnli", 17, 2000, LEVELS))
    texts = [f"{row['Premise']} {row['Hypothesis']}" for row in drawn]
    kinds = Counter(
        next(kind for kind, (sign, _) in TIMES.items() if re.search(sign, text))
        for text in texts
    )
    assert all(abs(kinds[x] / 2000 - y) < 0.03 for x, (_, y) in TIMES.items()), kinds
    labels = Counter(row["Label"] for row in drawn)
    shares = {"Contradiction": 0.426, "Entailment": 0.342, "Neutral": 0.232}  # in s1
    assert all(abs(labels[x] / 2000 - y) < 0.02 for x, y in shares.items()), labels
    assert 0.45 < sum(" will " in text for text in texts) / 2000 < 0.55
    for text in texts:
        years = [int(x) for x in re.findall(r"\b\d{4}\b", text)]
        assert all((x > 2026) == (" will " in text) for x in years), text
