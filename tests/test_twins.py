"""Twins of public rows: each has the answer that its label says, and no other row's."""

import json
import logging
import random
import re
import shutil
from calendar import isleap
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo, available_timezones

import pytest

from lm_eval_tasks.fresh.utils import rows as fresh_rows
from lm_eval_tasks.twin import transformations as module
from lm_eval_tasks.twin.transformations import TRANSFORMATIONS, Moves, Survey, Twin
from tests import fuzz
from tests.conftest import EXAMPLES
from tests.recall import twins_of_file
from tests.solvers.labels import AGREE, SOLVERS, UNREAD, check
from tests.test_offline import content, manifest_of
from utils.__main__ import main
from utils.core.documents import documents, documents_of, load
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import all_tasks, scorer, transformations
from utils.packs import twins as twins_module
from utils.packs.twins import VERSION, Draw, _Movable, draw_twins


pytestmark = pytest.mark.usefixtures("judged_here")


CASES = json.loads(Path(__file__).with_name("twins.json").read_text("utf-8"))
TWINS = [task for task in all_tasks() if transformations(task)]
REAL = {  # file, and the fewest twins of its rows
    "twin_tot_arithmetic": ("tot/tot_arithmetic.jsonl", 550),
    "twin_timebench_date_arithmetic": ("timebench/tempreason_l1_timebench.jsonl", 500),
}
# The fewest twins of them that are one of a pair.
PAIRED = {"twin_tot_arithmetic": 300, "twin_timebench_date_arithmetic": 360}
# How many generated rows have 50 twins; their solvers read the prompts alone.
GENERATED = {"twin_tot_semantic": 55, "twin_tcp_long": 80, "twin_tcp_short": 80}


def solve_twins(task: str, draws: list[Draw], solver: str | None = None) -> list[str]:
    """Return what the solver of a task, or of the base, says of the label of each twin.

    That is "wrong label" where it accepts the original's label or the mirror image.
    """
    rows, base = [draw.row for draw in draws], scorer(task).base
    solver, kinds = solver or base, []
    for draw, checked in zip(draws, check(solver, rows, documents_of(base, rows))):
        answers = checked.solution.answers if checked.solution else ()
        wrong = [] if draw.keeps_label else [draw.original[1], draw.mirror]
        texts = [x[0] if isinstance(x, list) else x for x in wrong if x is not None]
        read = SOLVERS[solver].read
        is_wrong = {*map(repr, map(read, answers))} & {*map(repr, map(read, texts))}
        kinds.append("wrong label" if is_wrong else checked.kind)
    return kinds


@pytest.mark.parametrize("task", REAL)
def test_solvers_agree_with_twins_of_real_rows_and_none_is_a_public_row(task, shared):
    file, fewest = REAL[task]
    rows = read_jsonl(shared / file)
    draws, reasons = twins_of_file(task, shared / file)
    assert sum(not x.keeps_label for x in draws) >= fewest
    assert len(draws) + reasons.total() == len(rows)
    kinds = Counter(solve_twins(task, draws))
    assert kinds[AGREE] > 0.99 * len(draws) and {*kinds} <= {AGREE, UNREAD}
    twins = [{x: draw.row[x] for x in rows[0]} for draw in draws]
    for row in (*rows, *twins):
        row["label" if "label" in row else "answer"] = None
    assert not [row for row in twins if row in rows]


@pytest.mark.parametrize(("task", "fewest"), PAIRED.items())
def test_twins_of_real_rows_are_pairs_with_one_right_year(task, fewest, shared):
    draws, _ = twins_of_file(task, shared / REAL[task][0])
    paired = [draw for draw in draws if draw.partner is not None]
    assert len(paired) >= fewest
    for draw in paired:
        partner = draws[draw.partner]
        assert draws[partner.partner] is draw
        years = [
            years_of(json.dumps(label))
            for label in (draw.original[1], draw.row[draw.column], draw.mirror)
        ]
        [public, right, mirror] = [{*found} for found in years]
        [right_year] = right
        assert {2 * right_year} == {public.copy().pop() + mirror.copy().pop()}
        assert mirror == {*years_of(json.dumps(partner.original[1]))}
        assert draw.row["twin"] == partner.row["twin"]
        named = years_of(draw.row["question"].partition("Return")[0])
        assert not (public | mirror) & {*named}
        # Who subtracts where one has to add does not give the public label.
        assert not public & {2 * year - right_year for year in named}
    alone = [draw for draw in draws if draw.partner is None]
    assert {draw.mirror for draw in alone} == {None}


@pytest.mark.parametrize("times", fuzz.sizes(1, 200))
@pytest.mark.parametrize("task", GENERATED)
def test_solvers_agree_with_twins_of_generated_rows(task, times):
    base = scorer(task).base
    rows = [*fresh_rows(base, 29 + fuzz.DAY, times * GENERATED[task], range(1, 3))]
    for row in rows:
        del row["level"]
    draws, _ = draw_twins(task, rows, 29)
    assert len(draws) >= times * 50
    assert {*solve_twins(task, draws, f"fresh_{base}")} == {AGREE}


# Most of the rows of TCP are traps: a shift of 28 years would change their sense.
@pytest.mark.parametrize(
    ("task", "twins"),
    [("twin_tot_semantic", 11), ("twin_tcp_long", 3), ("twin_tcp_short", 1)],
)
def test_solvers_agree_with_twins_of_rows_in_other_words(task, twins):
    rows = [row for name, row in CASES["rows in other words"] if name == task]
    draws, _ = draw_twins(task, rows, 29)
    assert solve_twins(task, draws) == [AGREE] * twins


def test_replaced_names_are_absent_and_keep_their_order():
    rows = [*fresh_rows("tot_semantic", 3, 40, range(1, 5))]
    originals = {(row["index"], row["level"]): names(row["prompt"]) for row in rows}
    for draw in draw_twins("twin_tot_semantic", rows, 29)[0]:
        old = originals[draw.row["index"], draw.row["level"]]
        pairs = dict(zip(old, names(draw.row["prompt"])))
        assert not {y for x, y in pairs.items() if x != y} & {*old}
        assert max(int(x[1:]) for x in pairs.values()) < 150  # of at most 118 at first
        assert all(len(x) == len(y) for x, y in pairs.items())
        for order in (str, lambda name: int(name[1:])):
            replaced = [pairs[x] for x in sorted(pairs, key=order) if x[0] == "E"]
            assert replaced == sorted(replaced, key=order)


def test_names_whose_order_the_alphabet_says_are_not_exchanged():
    text = "Zoe and Adam are tied; ties go by the {}. Who comes first?"
    names_of_labels = Survey({}, {}, {"Zoe", "Adam"})
    exchange = TRANSFORMATIONS["names_exchanged"]
    for word, has_twin in (("alphabet", False), ("coin", True)):
        row = {"question": text.format(word), "label": "{'answer': 'Adam'}"}
        twin = exchange(row, names_of_labels, random.Random(1))
        assert isinstance(twin, Twin) == has_twin, twin


def exchanged(question: str, label: str, names_of_labels: str) -> Twin | str:
    survey = Survey({}, {}, {*names_of_labels.split()})
    row = {"question": question, "label": label}
    return TRANSFORMATIONS["names_exchanged"](row, survey, random.Random(1))


def test_names_of_labels_are_no_weekdays_and_no_words_of_a_verdict():
    labels = ["Adam", "swimming", "Monday", "equal", "unanswerable", None, 7]
    rows = [{"question": "Who?", "label": f"{{'a': {label!r}}}"} for label in labels]
    assert Survey.of(rows).names == {"Adam", "swimming"}


def test_names_are_exchanged_as_whole_words_of_one_kind():
    names_of_labels = "Ann Ben Zoe swimming"
    text = "Ann was in Annaba, Ben and Zoe in Benin. Who left it?"
    twin = exchanged(text, "{'ordered_list': ['Zoe']}", names_of_labels)
    assert "Annaba" in twin.row["question"] and "Benin" in twin.row["question"]
    assert twin.row["label"] in [f"{{'ordered_list': ['{x}']}}" for x in ("Ann", "Ben")]
    nobody = exchanged(text, "{'unordered_list': []}", names_of_labels)
    assert nobody.row["label"] == "{'unordered_list': []}"
    alone = exchanged("Ann went swimming. Who?", "{'a': 'Ann'}", names_of_labels)
    assert alone == "no names to exchange"


def replaced(prompt: str, question: str, label: str, years=(1970, 1985), **cells):
    row = {"prompt": prompt, "question": question, "label": label} | cells
    survey = Survey({(None, False): {*years}}, {}, set())
    return TRANSFORMATIONS["names_replaced"](row, survey, random.Random(1))


def test_facts_move_as_far_as_the_years_of_the_file_and_of_the_label_have_room():
    facts, question = "E31 was R1 of E30 (1970-1985).", "Who was it in 1980?"
    moves = replaced(facts, question, "E31", question_type="first")
    assert (moves.shifts, moves.kind) == ([0], ("first",))
    assert replaced(facts, question, "1985") == module.NO_ROOM
    shorter = facts.replace("1985", "1983")
    assert replaced(shorter, question, "1984").shifts == [1]


def test_a_row_whose_names_cannot_be_replaced_alike_everywhere_has_no_twin():
    crowd = " ".join(f"E{number}" for number in range(1, 10))
    assert replaced(f"{crowd} met.", "Who met?", "E1") == "too few absent names"
    question = "Who was R1 of E30 in 1972?"
    prompt = f"E31 was R1 of E30 (1970-1979).\nGive JSON and say: {question}"
    assert "among the sentences on JSON" in replaced(prompt, question, "E31")


def test_a_name_is_replaced_by_one_of_three_that_are_near_and_in_no_text():
    drawn = {
        module._replacements({name}, {name, "E31"}, random.Random(seed))[name]
        for seed in range(50)
        for name in ("E2", "E30")
    }
    assert drawn == {"E1", "E3", "E4"} | {"E28", "E29", "E32"}


def names(prompt: str) -> list[str]:
    """Return the names in the facts of a prompt, in their order."""
    facts = [line for line in prompt.split("\n") if re.search(r"\d{4}\.$", line)]
    return re.findall(r"\b[ER]\d+", " ".join(facts))


@pytest.mark.parametrize(("text", "label", "twin", "answer"), CASES["years"])
def test_years_move_where_the_text_says_that_they_are_years(text, label, twin, answer):
    row = {"question": text, "label": f"{{'answer': '{label}'}}"}
    years = {*range(1, 2100)}
    if answer:  # the rows of the file leave room for this twin alone
        years = {*years_of(f"{twin} {answer}")}
        years |= {2 * new - old for new in years for old in years_of(label)}
    survey = Survey(*[dict.fromkeys([(None, False), (None, True)], years)] * 2, set())
    moves = TRANSFORMATIONS["years_moved"](row, survey, random.Random(1))
    if answer is None:
        assert twin in moves
    else:
        expected = {"question": twin, "label": f"{{'answer': '{answer}'}}"}
        assert expected in [moves.twin(shift).row for shift in moves.usual]


ANY_YEAR = {*range(1, 2100)}
ROOM = Survey(*[dict.fromkeys([(None, False), (None, True)], ANY_YEAR)] * 2, set())


def moved_years(question: str, label: str, survey: Survey = ROOM, **cells) -> Moves:
    row = {"question": question, "label": f"{{'answer': '{label}'}}"} | cells
    return TRANSFORMATIONS["years_moved"](row, survey, random.Random(1))


def test_years_of_all_rows_and_those_between_are_room_for_a_label_and_its_mirror():
    rows = [
        {"question": f"It is 3 May {year}. And later?", "label": f"{{'a': '{label}'}}"}
        for year, label in ((2000, "4 May 2001"), (2012, "4 May 2020"))
    ]
    survey = Survey.of(rows)
    assert survey.years == {(None, False): {*range(2000, 2013)}}
    assert survey.answers == {(None, False): {*range(2000, 2021)}}
    assert moved_years("It is 3 May 2004. And later?", "4 May 2008", survey).shifts == [
        *(-4, 4)  # the mirror image would be in 2024 where the year moves by 8
    ]


def test_a_moved_year_is_usually_as_many_decades_from_the_label_as_before():
    moves = moved_years("It opened in May 2008. What year was it 3 then?", "2011")
    decades = [(2011 + shift) // 10 - (2008 + shift) // 10 for shift in moves.usual]
    assert {*decades} == {1} and {*moves.usual} < {*moves.shifts}


def test_rows_of_unlike_kind_and_labels_of_several_years_are_no_pair():
    dated, asks_year = "It opened in May 2004. And then?", "May 2004 was it. What year?"
    survey = Survey(
        *[dict.fromkeys([(None, False), ("a", False)], ANY_YEAR)] * 2, set()
    )
    moves = [
        moved_years(dated, "May 2008", survey),
        moved_years(dated, "May 2008", survey, question_type="a"),
        moved_years(asks_year, "2008", survey),
    ]
    assert len({each.kind for each in moves}) == 3
    assert {each.year for each in moves} == {2008}
    assert moved_years(dated, "May 2008, May 2009").year is None


@pytest.mark.parametrize(
    ("year", "label", "shifts", "unusual"),
    [
        (1100, 1200, [-100, 100, 200, 300, 400], []),
        (1919, 1819, [-400, -300, -200, -100, 100], [100]),
    ],
)
def test_centuries_move_within_1000_to_2019(year, label, shifts, unusual):
    move = TRANSFORMATIONS["centuries_moved"]
    question = f"What is the time 100 year from Jan, {year}"
    row = {"question": question, "answer": [f"Jan, {label}"], "context": ""}
    moves = move(row, ROOM, random.Random(1))
    assert moves.shifts == shifts
    assert moves.usual == [shift for shift in shifts if shift not in unusual]
    row["question"] += f", not from Feb, {year}"
    assert move(row, ROOM, random.Random(1)) == module.NO_ROOM
    of_two_digits = {
        "question": "What is 2 month after May, 49",
        "answer": ["July, 49"],
    }
    assert move(of_two_digits, ROOM, random.Random(1)) == module.NO_ROOM


def test_each_option_is_chosen():
    rng = random.Random(1)
    assert {module.choose(rng, "abc") for _ in range(50)} == {*"abc"}


def years_of(text: str) -> list[int]:
    return [int(x) for x in re.findall(r"\d{3,4}", text)]


def test_a_twin_is_neither_a_public_row_nor_the_twin_of_another():
    question = "What is the time 1 year before Sep, {}50"
    centuries = [10, 11, 12, 13, 15, 16, 17, 18, 19]  # one has room for a twin
    rows = [
        {"question": question.format(x), "context": "", "answer": [f"Sep, {x}49"]}
        for x in centuries
    ]
    draws, reasons = draw_twins("twin_timebench_date_arithmetic", rows, 29)
    assert [x.row["answer"] for x in draws] == [["Sep, 1449"]]
    assert reasons == {"no twin that is no other row": 8}


def test_twins_stand_in_the_order_of_their_rows_and_disputed_labels_have_none(
    monkeypatch,
):
    rows = [  # of which the first and the last can be a pair
        {"question": f"What is the time {years} year before Sep, {label + years}"}
        | {"context": "", "answer": [f"Sep, {label}"]}
        for years, label in ((10, 1150), (10, 1180), (20, 1550))
    ]
    task = "twin_timebench_date_arithmetic"
    draws, _ = draw_twins(task, rows, 29)
    assert [draw.original[1] for draw in draws] == [row["answer"] for row in rows]
    assert [draw.partner for draw in draws] == [2, None, 0]
    disputed = {"old": set(), "new": {draws[2].original[0][:16]}}
    monkeypatch.setattr(twins_module.disputed, "LISTS", dict.fromkeys(disputed))
    monkeypatch.setattr(twins_module.disputed, "DIGESTS", disputed)
    draws, reasons = draw_twins(task, rows, 29)
    assert [draw.partner for draw in draws] == [None, None]
    assert reasons == {"a disputed label": 1}


def test_a_twin_with_another_label_comes_first_and_all_reasons_for_none_are_named():
    text = "Ann came on 3 May {}, and Ben two days later. Who came {}?"
    cells = [(2004, "first", "'Ann'"), (2012, "last", "'Ben'")]
    rows = [
        {"question": text.format(year, word), "label": f"{{'answer': {name}}}"}
        for year, word, name in cells
    ]
    rows.append({"question": "How many are 3 and 4?", "label": "{'answer': 7}"})
    rows = [row | {"question_type": "x"} for row in rows]
    draws, reasons = draw_twins("twin_tot_arithmetic", rows, 29)
    assert [draw.row["twin"] for draw in draws] == ["names_exchanged"] * 2
    assert reasons == {"no names to exchange; no year": 1}


def test_a_row_s_number_does_not_make_it_another_one():
    def rows_of(*years: int) -> list[dict]:
        texts = [json.dumps(project()).replace("2024", f"{year}") for year in years]
        rows = [json.loads(text) for text in texts]
        return [row | {"index": number} for number, row in enumerate(rows)]

    draws, reasons = draw_twins("twin_tcp_long", rows_of(1996, 2024, 2052), 29)
    assert [draw.row["answer"][:4] for draw in draws] == ["1968", "2080"]
    assert reasons == {"no twin that is no other row": 1}
    for seed in range(5):
        draws, _ = draw_twins("twin_tcp_long", rows_of(1901, 1957), seed)
        assert [draw.row["answer"][:4] for draw in draws] == ["1929", "1985"]


FITS = [  # year that a question names, and whether a row of 2000 can move by 4 years
    (1990, True),
    (1996, False),  # the twin would name the public label,
    (2004, False),  # or the label of the partner,
    (1998, False),  # or have the public label where one subtracts instead of adding
]


@pytest.mark.parametrize(("named", "fits"), FITS)
def test_a_wrong_label_is_no_year_that_a_model_would_say_anyway(named, fits):
    moves = SimpleNamespace(story_years=[named], shifts=[4])
    assert twins_module._fits(_Movable("x", 2000, moves), 4) == fits
    assert not twins_module._fits(_Movable("x", 2000, moves), 8)


def test_neither_of_a_pair_names_the_year_of_the_other_s_label():
    columns, text = {"context": ""}, "What is the time {} year after Sep, {}"
    rows = [
        {"question": text.format(10, 1190), "answer": ["Sep, 1200"]} | columns,
        {"question": text.format(200, 1400), "answer": ["Sep, 1600"]} | columns,
    ]
    for ordered in (rows, rows[::-1]):
        draws, _ = draw_twins("twin_timebench_date_arithmetic", ordered, 29)
        assert {draw.partner for draw in draws} == {None}


PAIRS = [  # by row: its year, its shifts, the usual ones of them; the pairs
    ("as many", [(0, [4], []), (8, [-4, 8], [8]), (24, [-8, 4], [-8]), (32, [-4], [])]),
    ("first and third", [(0, [4, 8], [8]), (8, [-4], []), (16, [-8], [])]),
    ("first and third", [(0, [4, 8], []), (8, [-4], []), (16, [-8], [-8])]),
    ("first and second", [(0, [4, 8], [4]), (8, [-4], []), (16, [-8], [])]),
    ("first and second", [(0, [4, 8], []), (8, [-4], [-4]), (16, [-8], [])]),
    ("none", [(0, [4], []), (9, [-4], [])]),
]
NUMBERS = {"as many": [(0, 1), (2, 3)], "first and third": [(0, 2)], "none": []}
NUMBERS["first and second"] = [(0, 1)]


@pytest.mark.parametrize(("expected", "rows"), PAIRS)
def test_pairs_are_as_many_as_can_be_and_then_of_usual_shifts(expected, rows):
    def movable(number: int, year: int, shifts: list, usual: list) -> _Movable:
        def twin(shift: int) -> Twin:
            return Twin({"question": f"{number} by {shift}"}, "label")

        moves = SimpleNamespace(kind=(), story_years=[], shifts=shifts, usual=usual)
        moves.twin = twin
        return _Movable("x", year, moves)

    by_number = {number: movable(number, *cells) for number, cells in enumerate(rows)}
    pairs = twins_module._pairs(by_number, {}, 29)
    assert sorted(pair[:2] for pair in pairs) == NUMBERS[expected]
    for first, second, shift in pairs:
        assert rows[first][0] + shift == rows[second][0] - shift
        public = {twins_module._question(by_number[second].moves.twin(-shift).row): "x"}
        assert (first, second, shift) not in twins_module._pairs(by_number, public, 29)


def project(**columns: object) -> dict:
    """Return a row of TCP long that differs from a plain one in some columns."""
    row = {"dialogue": ["A: We start on Monday, 4 March 2024."], "question": "When?"}
    row |= {"index": 7, "answer": "2024-03-06", "project_start_date": "2024-03-04"}
    return row | columns


def moved_project(**columns: object) -> Twin | str:
    move = TRANSFORMATIONS["projects_moved"]
    return move(project(**columns), Survey({}, {}, set()), random.Random(1))


@pytest.mark.parametrize(("text", "expected"), CASES["projects"])
def test_projects_move_by_28_years_unless_that_would_change_them(text, expected):
    end = expected if expected[:2] == "20" else "2024-03-06"
    twin = moved_project(dialogue=[text], answer=end, question="As in 2024-01-31?")
    if end == expected:
        assert abs(int(twin.row["answer"][:4]) - int(end[:4])) == 28
    else:
        assert expected in twin


@pytest.mark.parametrize(("ann", "bob", "has_twin"), CASES["hours"])
def test_hours_move_where_the_dialogue_states_their_offset_from_gmt(ann, bob, has_twin):
    year = "2010" if "2010" in ann else "2024"
    columns = {"project_start_datetime_gmt": f"{year}-03-04 00:00"}
    columns |= {"project_start_date": f"{year}-03-04", "answer": f"{year}-03-05 03:00"}
    columns["agent_constraints_gmt"] = {"B": {"working_hours": [13, 21]}}
    twin = moved_project(dialogue=[*ann.split(" | "), f"B: {bob}"], **columns)
    assert isinstance(twin, Twin) if has_twin else re.search("clock|room", twin)


PROJECTS = [  # its year, what is other in its row; the twin's year, or why it has none
    (2024, {"question": "When? We stop at 17:00."}, "clock that may not be in GMT"),
    (2024, {"answer": "2026-01-02"}, "another number"),
    (2024, {"question": "When, if not on 2020-01-31?"}, "another number"),
    (2024, {"dialogue": ["A: We start on 3 May."]}, "a dialogue without the year"),
    (1901, {}, 1929),
    (2099, {}, 2071),
    *((year, {}, module.NO_ROOM) for year in (1900, 2100)),
]


@pytest.mark.parametrize(("year", "change", "expected"), PROJECTS)
def test_a_project_moves_within_1901_to_2099_if_all_its_years_do(
    year, change, expected
):
    row = json.loads(json.dumps(project()).replace("2024", f"{year}"))
    twin = moved_project(**row | change)
    if isinstance(expected, str):
        assert expected in twin
    else:
        assert twin.row["answer"] == f"{expected}-03-06"


HOURS = [  # of work as numbers and as texts, and whether they are the same
    ((13.5, 21.5), "13:30 to 21:30", True),
    ((13.5, 21.5), "13:00 to 21:30", False),
    ((16, 24), "16:00 to 00:00", True),
    ((16, 0), "16:00 to 24:00", True),
]


@pytest.mark.parametrize(("numbers", "text", "has_twin"), HOURS)
def test_working_hours_are_needed_to_the_minute(numbers, text, has_twin):
    columns = {"project_start_datetime_gmt": "2024-03-04 01:00"}
    columns |= {"project_start_date": "2024-03-04", "answer": "2024-03-05 03:00"}
    columns["agent_constraints_gmt"] = {"B": {"working_hours": numbers}}
    start = "A: We start on 4 March 2024, 01:00 GMT."
    twin = moved_project(dialogue=[start, f"B: I work {text} GMT."], **columns)
    assert isinstance(twin, Twin) == has_twin


def test_clocks_of_places_with_offsets_are_the_same_28_years_later():
    zones = {key.rpartition("/")[2]: key for key in available_timezones()}
    for key, cities in CASES["cities of zones"].items():
        zones |= dict.fromkeys(cities.split(), key)
    weeks = [datetime(module.STEADY, 1, 1, 12, tzinfo=timezone.utc)]
    while weeks[-1].year < 2037:
        weeks.append(weeks[-1] + timedelta(7))
    later = [x.replace(year=x.year + 28) for x in weeks]
    for offsets, pattern in module.PLACES:
        minutes = {timedelta(minutes=module.minutes_of(x)) for x in offsets}
        for name in re.findall(r"[A-Z][A-Za-z ]+", pattern.pattern):
            zone = ZoneInfo(zones[name.replace(" ", "_")])
            clocks, others = (
                [x.astimezone(zone).utcoffset() for x in y] for y in (weeks, later)
            )
            assert clocks == others, name
            assert {*clocks} == minutes, name


def test_all_dates_of_a_project_move_alike():
    away = {"agent_unavailable_dates": {"Ann": ["2024-03-05"], "Bo": "2024-03-07"}}
    away |= {"tasks": {"draft": 4}, "agent_constraints_gmt": None}
    twin = moved_project(**away)
    year = twin.row["answer"][:4]
    assert abs(int(year) - 2024) == 28
    assert twin.row == json.loads(json.dumps(project(**away)).replace("2024", year))
    of_1826 = json.loads(json.dumps(project()).replace("2024", "1826"))
    assert "no room" in moved_project(**of_1826)


@pytest.mark.parametrize(("facts", "question"), CASES["facts without a twin"])
def test_facts_with_a_number_of_unsure_sense_have_no_twin(facts, question):
    def replaced(facts: str, question: str) -> Twin | str:
        row = {"prompt": facts, "question": question, "label": "E32"}
        survey = Survey({(None, False): {1900, 2000}}, {}, set())
        return TRANSFORMATIONS["names_replaced"](row, survey, random.Random(1))

    assert "a name or a year" in replaced(facts, question)
    plain = "E31 acted as R1 for E30 (1970-1979).\nE32 acted as R1 for E30 (1979-1985)."
    moves = replaced(plain, "Who acted as R1 for E30 in 1982?")
    twin = moves.twin(moves.usual[0])
    assert not {"E30", "1982"} & {*re.findall(r"\w+", twin.row["question"])}


def digests(task: str, folder: Path) -> set[str]:
    return {scorer(task).utils.digest(doc).hex() for doc in documents(task, folder)}


def test_the_manifest_says_whose_twins_there_are_and_why_others_have_none(twins):
    public = {x: y for y in manifest_of(EXAMPLES)["data"].values() for x in y["tasks"]}
    entries = manifest_of(twins)["data"]
    for task in TWINS:
        entry, base = entries[f"{task}.jsonl"], scorer(task).base
        record, fingerprint = entry["twins"], public[base]["fingerprint"]
        request = {"twin_seed": 7, "twin_version": VERSION, "twin_source": fingerprint}
        assert entry["generated"] == request
        assert entry["upstream"] == f"twins of {public[base]['upstream']}, seed 7"
        assert record["rows"] == public[base]["rows"]
        assert record["source_fingerprint"] == fingerprint
        assert {x for x, *_ in record["originals"].values()} <= digests(base, EXAMPLES)
        assert record["originals"].keys() == digests(task, twins)
        with_twins = [documents(x, twins) for x in TWINS if scorer(x).base == base]
        own_twins = sum(map(len, with_twins))
        assert own_twins + sum(record["without"].values()) == record["rows"]


def test_a_seed_has_one_pack(twins, tmp_path, capsys):
    before, again = content(twins), [str(twins), "--include_path", str(twins)]
    assert main(["twins", *again, "--gen-seed", "7"]) == 0
    assert content(twins) == before
    other = [str(tmp_path / "other"), *again[1:], "--gen-seed", "8"]
    assert main(["twins", *other]) == 0
    name = "data/twin_tot_semantic.jsonl"
    assert (twins / name).read_bytes() != (tmp_path / "other" / name).read_bytes()
    assert main(["twins", *again, "--gen-seed", "8"]) == 1
    assert "has the rows of another request" in capsys.readouterr().err
    assert main(["offline", str(twins), "--check"]) == 0


def test_twins_stand_beside_the_public_rows_without_a_warning(twins, caplog):
    caplog.set_level(logging.WARNING, "lm_eval")
    loaded = load([*TWINS, "tcp_long"], twins)[1]["tasks"]
    assert not caplog.records
    prompts = [
        loaded[x].doc_to_text(loaded[x].test_docs()[0]).splitlines()
        for x in ("tcp_long", "twin_tcp_long")
    ]
    assert prompts[0][0] == prompts[1][0] and prompts[0] != prompts[1]


@pytest.mark.parametrize("task", TWINS)
def test_a_twin_s_label_in_the_form_that_is_asked_for_scores_one(twins, task):
    own = scorer(task)
    for doc in documents(task, twins):
        scores = own.process_results(doc, [own.utils.gold_response(doc)])
        assert all(scores[name] == 1 for name in own.headline.values())


def test_without_public_rows_there_are_no_twins(tmp_path, capsys):
    with pytest.raises(ToolError, match="temporal-eval twins OUT --include_path PACK"):
        load(["twin_tcp_long"])
    pack, empty, out = (tmp_path / name for name in ("pack", "empty", "out"))
    empty.mkdir()
    source = ["--allow-partial", f"--source=timebench={EXAMPLES / 'data'}"]
    assert main(["offline", f"{pack}", "--tasks", "timebench_mctaco", *source]) == 0
    damaged = tmp_path / "damaged"
    shutil.copytree(pack, damaged)
    (damaged / "data" / "mctaco_f2_timebench.jsonl").write_text("{}\n")
    has_none = (
        "has no row that can have a twin; make a pack with some of tcp_long, tcp_"
    )
    faults = {empty: "is not a complete pack", pack: has_none}
    faults[damaged] = "mctaco_f2_timebench.jsonl: is missing, or not as it was made"
    for public, fault in faults.items():
        command = ["twins", f"{out}", "--include_path", f"{public}", "--gen-seed", "7"]
        assert main(command) == 1
        assert fault in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("texts", [("on Monday", "5 May"), ("2012-05-05", "Saturday")])
def test_a_year_moves_by_28_where_a_weekday_is_named_be_it_in_the_label(texts):
    shifts = module._shifts_of_days(*texts, [2012])
    assert shifts and all(shift % 28 == 0 for shift in shifts)


def test_a_year_of_an_era_moves_over_leap_years_unless_a_day_is_named():
    assert 4 in module._shifts_of_days("It fell in 1896 AD.", "1897 AD", [1896])
    assert 4 not in module._shifts_of_days("It fell on 3 May 1896 AD.", "", [1896])


@pytest.mark.parametrize(("years", "is_far"), [([1899], True), ([1950], False)])
def test_a_year_moves_where_its_neighbours_are_leap_years_alike(years, is_far):
    """A span of days may reach into the year before or after: 1900 is no leap year."""
    shifts = module._shifts_of_days("on 5 May 1899 for ten days", "3 May", years)
    assert all(shift % 4 == 0 for shift in shifts)
    neighbours = range(years[0] - 1, years[0] + 2)
    for shift in range(-40, 41, 4):
        alike = all(isleap(year) == isleap(year + shift) for year in neighbours)
        assert (shift in shifts) == (alike and shift != 0)
    assert (4 not in shifts) == is_far
