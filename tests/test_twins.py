"""Twins of public rows: each has the answer that its label says, and no other row's."""

import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest

from lm_eval_tasks.fresh.utils import rows as fresh_rows
from lm_eval_tasks.twin.transformations import (
    PLACES,
    STEADY,
    TRANSFORMATIONS,
    Survey,
    Twin,
    minutes_of,
)
from tests.conftest import EXAMPLES, PACK, run_tasks
from tests.solvers.labels import AGREE, UNREAD
from tests.test_offline import content, manifest_of
from tests.twins import solve_twins
from utils.__main__ import main
from utils.core.documents import documents, load
from utils.core.errors import ToolError
from utils.core.families import all_tasks, scorer, transformations
from utils.core.jsonl import read_jsonl
from utils.packs.twins import draw_twins


TWINS = [task for task in all_tasks() if transformations(task)]
REAL = {  # file, and the fewest twins of its rows
    "twin_tot_arithmetic": ("tot/tot_arithmetic.jsonl", 550),
    "twin_timebench_date_arithmetic": ("timebench/tempreason_l1_timebench.jsonl", 500),
}


def asked(row: dict) -> str:
    """Return what a row asks, without its label."""
    return json.dumps({x: row[x] for x in row if x not in ("label", "answer", "twin")})


@pytest.mark.parametrize("task", REAL)
def test_twins_of_real_rows_are_solved_anew_and_are_no_public_rows(task, shared):
    file, fewest = REAL[task]
    rows = read_jsonl(shared / file)
    draws, reasons = draw_twins(task, rows, 29)
    assert sum(not x.keeps_label for x in draws) >= fewest
    assert len(draws) + reasons.total() == len(rows)
    kinds = Counter(solve_twins(task, draws))
    assert kinds[AGREE] > 0.99 * len(draws)
    assert {*kinds} <= {AGREE, UNREAD}
    assert not {asked(x.row) for x in draws} & {*map(asked, rows)}


# Generated rows, and the solvers of them, which read the prompts alone: at least 300 twins.
MADE = {"twin_tot_semantic": 320, "twin_tcp_long": 400, "twin_tcp_short": 440}


@pytest.mark.parametrize("task", MADE)
def test_twins_of_generated_rows_are_solved_anew(task):
    base = scorer(task).base
    generated = fresh_rows(base, 29, MADE[task], range(1, 3))
    rows = [{x: row[x] for x in row if x != "level"} for row in generated]
    draws, _ = draw_twins(task, rows, 29)
    assert len(draws) >= 300
    assert {*solve_twins(task, draws, f"fresh_{base}")} == {AGREE}


def test_twins_of_rows_in_other_words_are_solved_anew():
    lines = read_jsonl(Path(__file__).with_name("twins.jsonl"))
    twins = Counter()
    for task in ("twin_tot_semantic", "twin_tcp_long", "twin_tcp_short"):
        rows = [x["row"] for x in lines if x["task"] == task]
        draws, _ = draw_twins(task, rows, 29)
        twins[task] = len(draws)
        assert not draws or {*solve_twins(task, draws)} == {AGREE}
    # Most of the rows of TCP are traps: a shift of 28 years would change their sense.
    assert twins == {"twin_tot_semantic": 13, "twin_tcp_long": 3, "twin_tcp_short": 1}


def test_replaced_names_are_absent_and_keep_their_order():
    rows = [*fresh_rows("tot_semantic", 3, 40, range(1, 5))]
    draws, _ = draw_twins("twin_tot_semantic", rows, 29)
    originals = {row["index"] * 10 + row["level"]: row for row in rows}
    for draw in draws:
        original = originals[draw.row["index"] * 10 + draw.row["level"]]
        pairs = dict(zip(names(original["prompt"]), names(draw.row["prompt"])))
        changed = [(old, new) for old, new in pairs.items() if old != new]
        assert not {new for _, new in changed} & {*names(original["prompt"])}
        for order in (str, lambda name: int(name[1:])):
            of_letter = sorted(
                (x for x in changed if x[0][0] == "E"), key=lambda x: order(x[0])
            )
            assert of_letter == sorted(of_letter, key=lambda x: order(x[1]))
        assert {len(old) - len(new) for old, new in changed} <= {0}


def names(text: str) -> list[str]:
    """Return the names in a text, in their order."""
    words = text.replace(".", " ").replace("?", " ").split()
    return [x for x in words if x[0] in "ER" and x[1:].isdecimal()]


# Question and label of ToT arithmetic, and those of the twin; or why there is none.
MOVED = [
    ("On 2005-03-01 I was 1971 days old. How many days is that on 2005-03-04?", "1974",
     "On 2009-03-01 I was 1971 days old. How many days is that on 2009-03-04?", "1974"),
    ("It opened in May 2006. In what year was it 3 years old?", "2009",
     "It opened in May 2010. In what year was it 3 years old?", "2013"),
    ("The fair of 3 June, 2007 comes back in 2000 days. When?", "2012-11-23",
     "The fair of 3 June, 2011 comes back in 2000 days. When?", "2016-11-23"),
    ("It is 02-29-2008. What was it the day before? Eg: 01-01-2008.", "02/28/2008",
     "It is 02-29-2012. What was it the day before? Eg: 01-01-2008.", "02/28/2012"),
    ("It is 2009-03-01. Add a day. Give JSON such as 2008-01-01.", "2009-03-02",
     "It is 2013-03-01. Add a day. Give JSON such as 2008-01-01.", "2013-03-02"),
    ("It got walls in 870 AD, and 12 years later a gate. When?", "882 AD",
     "It got walls in 874 AD, and 12 years later a gate. When?", "886 AD"),
    ("On Friday, 6 May 2005, it closed for a year. When did it open?", "2006-05-06",
     "On Friday, 6 May 1977, it closed for a year. When did it open?", "1978-05-06"),
    ("It is 2006-03-01. Give the year two years on.", "2008", "another number", None),
    ("The hall for 2013 opened in May 2006. And when did it shut?", "May 2007",
     "another number", None),
    ("It was 12 BC, and 20 years later?", "9 AD", "a year BC", None),
    ("It was 3 May 1899. What was it a year later?", "3 May 1900", "no room", None),
    ("It was noon. What was it 12 hours later?", "midnight", "no year", None),
]  # fmt: skip


@pytest.mark.parametrize(("question", "label", "twin", "answer"), MOVED)
def test_years_move_where_the_text_says_that_they_are_years(
    question, label, twin, answer
):
    row = {"question": question, "label": f"{{'answer': '{label}'}}"}
    years = {*range(1, 2100)}
    if answer:  # the rows of the file leave room for this twin alone
        years = {int(x) for x in re.findall(r"\d+", f"{twin} {answer}")}
        years |= {2 * new - old for new in years for old in years_of(label)}
    survey = Survey(*[dict.fromkeys([(None, False), (None, True)], years)] * 2, set())
    found = TRANSFORMATIONS["years_moved"](row, survey, random.Random(1))
    if answer is None:
        assert twin in found
    else:
        assert found.row == {"question": twin, "label": f"{{'answer': '{answer}'}}"}


def years_of(text: str) -> list[int]:
    return [int(x) for x in re.findall(r"\d{3,4}", text)]


def test_a_twin_is_no_public_row_and_no_other_row_s_twin():
    # Rows of each century but one: that is the only place for twins.
    rows = [
        {"question": f"What is the time 1 year before Sep, {x}50", "context": ""}
        | {"answer": [f"Sep, {x}49"]}
        for x in range(10, 20)
        if x != 14
    ]
    draws, reasons = draw_twins("twin_timebench_date_arithmetic", rows, 29)
    assert [x.row["answer"] for x in draws] == [["Sep, 1449"]]
    assert reasons == {"no twin that is no other row": 8}


def project(**columns: object) -> dict:
    """Return a row of TCP long that differs from a plain one in some columns."""
    row = {"dialogue": ["A: We start on Monday, 4 March 2024."], "question": "When?"}
    row |= {"index": 7, "answer": "2024-03-06", "project_start_date": "2024-03-04"}
    return row | columns


START = "A: We start on 4 March 2024"
UNMOVABLE = {  # reason: what is said in a dialogue, of which a shift would change the sense
    "not be in GMT": (
        f"{START} at 9:00 EST.", f"{START}. In New York I work 09:00 to 17:00, my time.",
        f"{START}. I am in Sao Paulo, 10 to 18 local time.", f"{START}. London here.",
        f"{START}. I sit in Moscow, 16:00 to 23:00.", f"{START}. I am at GMT+5 since May.",
        f"{START}. It is winter time, GMT+1.", f"{START}, 9 to 5.", f"{START}, 5 pm.",
        f"{START}. I work 9:00 to 12:00, 8:00 GMT.", f"{START} at 08:00 GMT -5.",
    ),
    "whose clocks may change": (
        f"{START}, Berlin time.", f"{START}. I am two hours ahead of GMT.",
        f"{START}, BRT.", f"{START}. The clocks go forward.",
    ),
    "movable feast": (f"{START}. Easter is off.",),
    "goes by today": ("A: Today is 4 March 2024.",),
    "without the year": (
        "A: We start on March 4th.", "A: We start on Monday, 4 March.",
        "A: We start on March 4th, after a rest since 3 May 2023.",
    ),
    "another number": (
        "A: 4 March 2024, for 2500 people.", "A: We start on 4/3/24.", "A: On 20240304.",
        f"{START}. It came in 2000 sacks.", f"{START}. I stay until 2100.",
        f"{START}. Park in 2010 Main Street.", f"{START}, or March 4, '24.",
        f"{START}. The year is twenty twenty-four.", f"{START}. In May 2000 loaves went.",
        "A: On the fourth of March, two thousand and twenty-four.", f"{START}-2025.",
        f"{START}. On 3 May 2000 flyers came.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reason"), [(x, reason) for reason in UNMOVABLE for x in UNMOVABLE[reason]]
)
def test_projects_that_28_years_would_change_have_no_twin(text, reason):
    assert reason in moved_project(dialogue=[text], question="As in 2024-01-31?")


START_9 = f"{START} at 09:00 my time"  # in Tokyo: 00:00 GMT
TOKYO = "Tokyo, where I am, is on GMT+9"


@pytest.mark.parametrize(
    ("ann", "bob", "has_twin"),
    [
        (f"{START}, 00:00 GMT.", "I work 13:00 to 21:00 GMT.", True),
        (f"{START_9}. {TOKYO}.", "New York, GMT-4. I work 09:00 to 17:00 my time.", True),
        (f"{START_9}. {TOKYO}.", "I live in Berlin (GMT+2), so 15:00-23:00 local.", True),
        (f"{START}, 00:00 GMT. {TOKYO}.", "I'm in Accra on GMT. I work 13:00-21:00.", True),
        (f"{START}, 00:00 GMT.", "Berlin (GMT+2), so 15:00-23:00 local.", True),
        (f"{START}, 00:00 GMT. | C: Opening is at 9:00.", "Accra, GMT. 13:00-21:00.", False),
        (f"{START}, 00:00 GMT.", "I work nine to five, in Boston.", False),
        (f"{START}, 00:00 GMT.", "I work 9/17 in Rome.", False),
        (f"{START}, 00:00 GMT.", "I work 9-17h.", False),
        # Bob's hours are not those of the only zone that is stated for sure.
        (f"{START_9}. {TOKYO}.", "I work 09:00 to 17:00 in New York.", False),
        (f"{START_9}. {TOKYO}.", "New York. I work 09:00 to 17:00, GMT-4.", False),
        (f"{START_9}. {TOKYO}.", "New York, GMT-5. I work 09:00 to 17:00.", False),
        (f"{START_9}. {TOKYO}.", "New York, GMT-4. I work 09:00 to 17:00 EDT.", False),
        (f"{START_9}. {TOKYO}.", "Moscow, GMT+3. I work 16:00 to 00:00.", False),
        (f"{START_9}. {TOKYO}.", "Paris, not Rome, GMT+2; later Oslo, GMT+1. 15:00-23:00", False),
        (f"{START_9}. {TOKYO}.", "Lima or Boston, GMT-5. I work 08:00 to 16:00.", False),
        (f"{START_9}. {TOKYO}.", "Boston, GMT -4. I work 09:00 to 17:00.", False),
        (f"{START_9}. {TOKYO}.".replace("2024", "2010"), "Accra, GMT, 13:00-21:00.", False),
    ],
)  # fmt: skip
def test_hours_move_where_the_dialogue_states_their_offset_from_gmt(ann, bob, has_twin):
    year = "2010" if "2010" in ann else "2024"
    columns = {"project_start_datetime_gmt": f"{year}-03-04 00:00"}
    columns |= {"agents": ["A", "B"], "answer": f"{year}-03-05 03:00 GMT"}
    columns["project_start_date"] = f"{year}-03-04"
    columns["agent_constraints_gmt"] = {"B": {"working_hours": [13, 21]}}
    twin = moved_project(dialogue=[*ann.split(" | "), f"B: {bob}"], **columns)
    assert isinstance(twin, Twin) == has_twin
    if not has_twin:
        assert "clock" in twin or "room" in twin


CITIES = {  # those that are no names of zones
    "Europe/Berlin": "Barcelona Geneva Milan Munich",
    "Africa/Johannesburg": "Cape_Town",
    "Asia/Dubai": "Abu_Dhabi",
    "Asia/Qatar": "Doha",
    "Asia/Kolkata": "Bangalore Chennai Delhi Hyderabad Mumbai Pune",
    "Asia/Ho_Chi_Minh": "Hanoi",
    "Asia/Shanghai": "Beijing",
    "Asia/Tokyo": "Osaka",
    "Pacific/Auckland": "Wellington",
    "Pacific/Marquesas": "Taiohae",
    "America/Los_Angeles": "San_Diego San_Francisco Seattle",
    "America/Chicago": "Austin Dallas Houston",
    "America/New_York": "Atlanta Boston Miami Philadelphia",
}


def test_clocks_of_places_with_offsets_are_the_same_28_years_later():
    zones = {key.rpartition("/")[2]: key for key in available_timezones()}
    zones |= {city: key for key, cities in CITIES.items() for city in cities.split()}
    weeks = [datetime(STEADY, 1, 1, 12, tzinfo=timezone.utc)]
    while weeks[-1].year < 2037:
        weeks.append(weeks[-1] + timedelta(7))
    later = [x.replace(year=x.year + 28) for x in weeks]
    for offsets, names in PLACES:
        for name in re.findall(r"[A-Z][A-Za-z ]+", names.pattern):
            zone = ZoneInfo(zones[name.replace(" ", "_")])
            clocks, others = ([x.astimezone(zone) for x in y] for y in (weeks, later))
            minutes = [x.utcoffset() / timedelta(minutes=1) for x in clocks]
            assert {*minutes} == {*map(minutes_of, offsets)}, name
            assert minutes == [x.utcoffset() / timedelta(minutes=1) for x in others]


def moved_project(**columns: object) -> Twin | str:
    move = TRANSFORMATIONS["projects_moved"]
    return move(project(**columns), Survey({}, {}, set()), random.Random(1))


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (f"{START}, 08:00 GMT. I work 08:00 to 16:00 GMT, 3 hours more.", "2024-03-06"),
        (f"{START}. I am away 7 to 9 March and March 14-15.", "2024-03-06"),
        (f"{START}. It takes 300 days.", "2025-01-02"),  # past New Year
    ],
)
def test_projects_with_dates_and_clocks_in_gmt_have_a_twin(text, end):
    year = int(moved_project(dialogue=[text], answer=end).row["answer"][:4])
    assert abs(year - int(end[:4])) == 28


def test_all_dates_of_a_project_move_alike():
    away = {"agent_unavailable_dates": {"Ann": ["2024-03-05"], "Bo": "2024-03-07"}}
    twin = moved_project(**away)
    year = twin.row["answer"][:4]
    assert abs(int(year) - 2024) == 28
    expected = json.dumps(project(**away)).replace("2024", year)
    assert twin.row == json.loads(expected)
    assert twin.mirror is None
    of_1826 = json.loads(json.dumps(project()).replace("2024", "1826"))
    assert "no room" in moved_project(**of_1826)


FACTS = "E31 acted as R1 for E30 (1970-1979).\nE32 acted as R1 for E30 (1979-1985)."


@pytest.mark.parametrize(
    ("facts", "question"),
    [
        (FACTS.replace("-19", "-"), "Who acted as R1 for E30 in 1982?"),
        (FACTS, "Who acted as R1 for E30 in '82?"),
        (FACTS, "How many acted as R1 for E30 in the 1970s?"),
        (FACTS, "Who acted as R1 for E30 in the eighties, from 1982 on?"),
        (FACTS, "Who acted as R1 for e30 in 1982?"),
        (f"Room 2010 has the list.\n{FACTS}", "Who acted as R1 for E30 in 1982?"),
        (f"It is on form 1999.\n{FACTS}", "Who acted as R1 for E30 in 1982?"),
        (FACTS, "How many acted as R1 for E30 in 1970s?"),
        (FACTS, "Who acted as R1 for E30 in 1980's?"),
        (FACTS, "Whom had E30 as R1 in its first leap year after 1979?"),
    ],
)
def test_facts_with_a_number_of_unsure_sense_have_no_twin(facts, question):
    def replaced(facts: str, question: str) -> Twin | str:
        row = {"prompt": facts, "question": question, "label": "E32"}
        survey = Survey({(None, False): {1900, 2000}}, {}, set())
        return TRANSFORMATIONS["names_replaced"](row, survey, random.Random(1))

    assert "a name or a year" in replaced(facts, question)
    twin = replaced(FACTS, "Who acted as R1 for E30 in 1982?")
    assert not {"E30", "1982"} & {*re.findall(r"\w+", twin.row["question"])}


# ------------------------------------------------------------------------------ packs


def test_the_manifest_says_whose_twins_there_are_and_why_others_have_none(twins):
    public = {x: y for y in manifest_of(EXAMPLES)["data"].values() for x in y["tasks"]}
    entries = manifest_of(twins)["data"]
    for task in TWINS:
        entry, base = entries[f"{task}.jsonl"], scorer(task).base
        record, fingerprint = entry["twins"], public[base]["fingerprint"]
        request = {"twin_seed": 7, "twin_version": "1", "twin_source": fingerprint}
        assert entry["generated"] == request
        assert record["rows"] == public[base]["rows"]
        assert record["source_fingerprint"] == fingerprint
        assert {x for x, _, _ in record["originals"].values()} <= digests(
            base, EXAMPLES
        )
        assert record["originals"].keys() == digests(task, twins)
        same_base = [x for x in TWINS if scorer(x).base == base]
        with_twins = sum(len(documents(x, twins)) for x in same_base)
        assert with_twins + sum(record["without"].values()) == record["rows"]


def digests(task: str, folder: Path) -> set[str]:
    return {scorer(task).utils.digest(doc).hex() for doc in documents(task, folder)}


def test_a_pack_is_the_seed_s_and_goes_on(twins, tmp_path, capsys):
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


def test_twins_stand_beside_the_public_rows_in_one_pack(twins, tmp_path):
    samples = run_tasks(twins, ["tcp_long", "twin_tcp_long"], tmp_path)
    prompts = [x[0]["arguments"][0][0].splitlines()[0] for x in samples.values()]
    assert prompts[0] == prompts[1]


def test_twins_are_no_benchmark_s_rows_and_no_warning(twins, caplog):
    caplog.set_level(logging.WARNING, "lm_eval")
    load(TWINS, twins)
    assert not caplog.records


@pytest.mark.parametrize("task", TWINS)
def test_a_twin_s_label_in_the_form_that_is_asked_for_scores_one(twins, task):
    for doc in documents(task, twins):
        response = scorer(task).utils.gold_response(doc)
        scores = scorer(task).process_results(doc, [response])
        assert all(scores[name] == 1 for name in scorer(task).headline)


def test_without_a_pack_a_run_says_how_to_make_one():
    with pytest.raises(ToolError, match="temporal-eval twins OUT --include_path PACK"):
        load(["twin_tcp_long"])


@pytest.mark.parametrize(
    ("tasks", "message"),
    [("timebench_mctaco", "has no row that can have a twin"), (None, "make the pack")],
)
def test_a_pack_without_rows_to_change_is_refused(tasks, message, tmp_path, capsys):
    if tasks:
        source = f"--source=timebench={EXAMPLES / 'data'}"
        arguments = [str(tmp_path), "--tasks", tasks, "--allow-partial", source]
        assert main(["offline", *arguments]) == 0
    out = tmp_path / "out"
    command = ["twins", str(out), "--include_path", str(tmp_path), "--gen-seed", "7"]
    assert main(command) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not out.exists()


ELSEWHERE = """
import hashlib, importlib.util, json, sys
from random import Random
spec = importlib.util.spec_from_file_location("transformations", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["transformations"] = module
spec.loader.exec_module(module)
digest = hashlib.sha256()
for line in sys.stdin:
    name, rows = json.loads(line)
    survey = module.Survey.of(rows)
    for place, row in enumerate(rows):
        twin = module.TRANSFORMATIONS[name](row, survey, Random(f"7|{place}"))
        digest.update(json.dumps(twin).encode())
print(digest.hexdigest())
"""


def test_a_seed_gives_the_same_twins_in_every_version_of_python():
    data = {
        x: EXAMPLES / "data" / f"{scorer(scorer(x).base).file}.jsonl" for x in TWINS
    }
    pairs = [(name, read_jsonl(data[x])) for x in TWINS for name in transformations(x)]
    lines = "\n".join(map(json.dumps, pairs))
    outputs = set()
    for seed, version in enumerate(("", *(f"3.{n}" for n in range(10, 20)))):
        python = shutil.which(f"python{version}") if version else sys.executable
        if not python:
            continue
        process = subprocess.run(
            [python, "-c", ELSEWHERE, str(PACK / "twin" / "transformations.py")],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            input=lines,
            capture_output=True,
            text=True,
        )
        if process.returncode != 127:  # the shim of a version that is not here
            assert process.returncode == 0, process.stderr
            outputs.add(process.stdout)
    assert len(outputs) == 1
