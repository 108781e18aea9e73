"""Fresh questions of ToT arithmetic: their kinds, forms, levels and second solver."""

import json
import re
from collections import Counter
from random import Random

import pytest

from lm_eval_tasks.fresh.utils import find_generator, rows
from tests.solvers.third.tot_arithmetic import KINDS
from tests.solvers.tot_arithmetic_public import solve


NAME, SEED, LEVELS = "tot_arithmetic", 20261121, range(1, 6)
TURN = 74  # rows of a level until each kind has had its turn


def test_each_type_and_each_kind_has_its_turn():
    forms = set()
    for row in rows(NAME, 1, TURN, range(1, 2)):
        kind = next(kind for words, kind in KINDS if words in row["question"])
        forms.add((kind, *json.loads(row["label"])))
    # Times when all are free and when nobody is busy are of one form.
    kinds = sum(len(x) for _, x in find_generator(NAME).KINDS.values())
    assert len(forms) == kinds - 1


def test_types_are_as_frequent_as_in_the_benchmark_at_every_level():
    for level in (1, 5):
        turns = [x["question_type"] for x in rows(NAME, 1, 37, range(level, level + 1))]
        shares = {name: x for name, (x, _) in find_generator(NAME).KINDS.items()}
        assert Counter(turns) == shares


def test_some_meetings_are_impossible_and_some_vague_links_do_not_matter():
    made = list(rows(NAME, SEED, 10 * TURN, range(4, 5)))
    meetings = [x for x in made if x["question_type"] == "schedule"]
    labels = Counter(json.loads(x["label"])["answer"] for x in meetings)
    assert 0.1 < (labels[0] + labels["unanswerable"]) / len(meetings) < 0.25
    ages = [x for x in made if "full years old" in x["question"]]
    assert all(re.search("is (younger|older) than", x["question"]) for x in ages)
    unanswerable = sum("unanswerable" in x["label"] for x in ages)
    assert 0.15 < unanswerable / len(ages) < 0.55


def test_a_birthday_and_a_year_settle_an_age_or_not_in_the_same_words():
    made = rows(NAME, SEED, 20 * TURN, range(1, 2))
    ages = [x for x in made if "The birthday of" in x["question"]]
    words = [re.sub(r"[A-Z]\w+|\d+", "", x["question"]) for x in ages]
    told = {
        ("unansw" in x["label"], *sorted(y.split(". "))) for x, y in zip(ages, words)
    }
    assert len(told) == 2 and len({x[1:] for x in told}) == 1


def test_an_answer_is_of_the_kind_that_the_prompt_shows():
    for row in rows(NAME, SEED, 5 * TURN, LEVELS):
        for key, value in json.loads(row["label"]).items():
            shown = re.search(rf'"{key}": (.)', row["question"].split("JSON = ")[1])[1]
            is_said_to_be_text = f'the answer is "{value}"' in row["question"]
            kind = {"<": int, "[": list, '"': str}[shown]
            assert isinstance(value, kind) or is_said_to_be_text, row


def test_runs_differ_dynasties_are_past_and_any_end_of_a_month_is_drawn():
    generator = find_generator(NAME)
    ends = set()
    for rng in map(Random, range(300)):
        text = generator.clocks.average(rng, 1).text
        first, second = re.search(r": (.+?); (.+?)\.", text).groups()
        assert first != second
        for era in re.findall(r"\d+ AD", str(generator.spans.dynasties(rng, 30))):
            assert int(era[:-3]) <= 2000
        text = generator.clocks.impossible_date(rng, 1).text
        ends |= {*re.findall(r"is dated \d+-(\d\d)-31", text)}
    assert {"01", "03", "05", "07", "08", "10", "12"} <= ends


KIM_AND_LEE = (
    "Kim and Lee work from 9am to 5pm. Kim's calendar is booked from 9 to noon."
    " Lee's calendar is booked from noon to 4:30."
)
BY_HAND = [
    # 2000 is a leap year, 1900 is not
    ("The current date is 28 February, 2000, what is 2 days from now?", "03/01/2000"),
    ("The current date is 28 February, 1900, what is 2 days from now?", "03/02/1900"),
    ("A reign started in 2 BC and took 3 years. Its end?", "2 AD"),
    ("A reign ended in 2 AD after all of 3 years. Its start?", "2 BC"),
    # in numbers alone, day and month may be either way round
    ("A fair was set for 03-04-2011, then postponed by 1 day. When is it?", "03/05/2011 04/04/2011"),
    ("If it is Monday, which day is it 24 hours from now?", "Tuesday"),
    ("If it is Monday, which day is it 25 hours from now?", "unanswerable"),
    ("A fair was on 2023-02-29 and another 3 days before it. When?", "unanswerable"),
    (KIM_AND_LEE, "1"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answers"), BY_HAND)
def test_answers_found_by_hand(question, answers):
    found = (str(*answer.values()) for answer in solve(question).answers)
    assert " ".join(found) == answers
