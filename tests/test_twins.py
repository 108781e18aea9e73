"""Twins of public rows: each has the answer that its label says, and no other row's."""

import json
import logging
import random
import re
from calendar import isleap
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest

from lm_eval_tasks.fresh.utils import rows as fresh_rows
from lm_eval_tasks.twin import transformations as module
from lm_eval_tasks.twin.transformations import TRANSFORMATIONS, Survey, Twin
from tests import fuzz
from tests.conftest import EXAMPLES
from tests.solvers.labels import AGREE, SOLVERS, UNREAD, check
from tests.test_offline import content, manifest_of
from utils.__main__ import main
from utils.core.documents import documents, documents_of, load
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import all_tasks, scorer, transformations
from utils.packs.twins import VERSION, Draw, draw_twins


CASES = json.loads(Path(__file__).with_name("twins.json").read_text("utf-8"))
TWINS = [task for task in all_tasks() if transformations(task)]
REAL = {  # file, and the fewest twins of its rows
    "twin_tot_arithmetic": ("tot/tot_arithmetic.jsonl", 550),
    "twin_timebench_date_arithmetic": ("timebench/tempreason_l1_timebench.jsonl", 500),
}
# The fewest twins of them that are one of a pair.
PAIRED = {"twin_tot_arithmetic": 300, "twin_timebench_date_arithmetic": 360}
# How many generated rows have 100 twins; their solvers read the prompts alone.
GENERATED = {"twin_tot_semantic": 110, "twin_tcp_long": 160, "twin_tcp_short": 160}


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
    draws, reasons = draw_twins(task, rows, 29)
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
    draws, _ = draw_twins(task, read_jsonl(shared / REAL[task][0]), 29)
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


@pytest.mark.parametrize("times", fuzz.sizes(1, 100))
@pytest.mark.parametrize("task", GENERATED)
def test_solvers_agree_with_twins_of_generated_rows(task, times):
    base = scorer(task).base
    rows = [*fresh_rows(base, 29 + fuzz.DAY, times * GENERATED[task], range(1, 3))]
    for row in rows:
        del row["level"]
    draws, _ = draw_twins(task, rows, 29)
    assert len(draws) >= times * 100
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


@pytest.mark.parametrize(("hours", "has_twin"), [("13:30", True), ("13:00", False)])
def test_working_hours_are_needed_to_the_minute(hours, has_twin):
    columns = {"project_start_datetime_gmt": "2024-03-04 00:00"}
    columns |= {"project_start_date": "2024-03-04", "answer": "2024-03-05 03:00"}
    columns["agent_constraints_gmt"] = {"B": {"working_hours": [13.5, 21.5]}}
    dialogue = [
        "A: We start on 4 March 2024, 00:00 GMT.",
        f"B: I work {hours} to 21:30 GMT.",
    ]
    twin = moved_project(dialogue=dialogue, **columns)
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
    for public, fault in ((empty, "is not a complete pack"), (pack, "has no row that")):
        command = ["twins", f"{out}", "--include_path", f"{public}", "--gen-seed", "7"]
        assert main(command) == 1
        assert fault in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("texts", [("on Monday", "5 May"), ("2012-05-05", "Saturday")])
def test_a_year_moves_by_28_where_a_weekday_is_named_be_it_in_the_label(texts):
    shifts = module._shifts_of_days(*texts, [2012])
    assert shifts and all(shift % 28 == 0 for shift in shifts)


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
