"""Twins of public rows: each has the answer that its label says, and no other row's."""

import json
import logging
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_tasks.fresh.utils import rows as fresh_rows
from lm_eval_tasks.twin.transformations import TRANSFORMATIONS, Survey, Twin
from tests.conftest import EXAMPLES, PACK, run_tasks
from tests.solvers.labels import AGREE, UNREAD
from tests.test_offline import content, manifest_of
from tests.twins import solved, wrong_labels_that_are_right
from utils.__main__ import main
from utils.core.documents import documents, documents_of, load
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
    twins = [x for x in draws if not x.keeps_label]
    assert len(twins) >= fewest
    assert len(draws) + reasons.total() == len(rows)
    assert {*solved(task, draws)} <= {AGREE, UNREAD}
    assert solved(task, draws).count(AGREE) > 0.99 * len(draws)
    assert not wrong_labels_that_are_right(task, draws)
    assert not {asked(x.row) for x in draws} & {*map(asked, rows)}


MADE = {  # generator, and the fewest twins of 440 rows
    "twin_tot_semantic": ("tot_semantic", 430),
    "twin_tcp_long": ("tcp_long", 300),
    "twin_tcp_short": ("tcp_short", 396),  # in GMT: all rows have clocks of other zones
}


def in_gmt(row: dict) -> dict:
    """Return a row of TCP short whose dialogue has clocks in GMT alone."""
    start, agents = row["project_start_datetime_gmt"], row["agent_constraints_gmt"]
    hours = [
        "{}: I work from {:02}:00 to {:02}:00 GMT.".format(name, *x["working_hours"])
        for name, x in agents.items()
    ]
    dialogue = [f"{min(agents)}: We start on {start} GMT.", *hours]
    return row | {"dialogue": dialogue, "question": "When, in GMT, is all done?"}


@pytest.mark.parametrize("task", MADE)
def test_twins_of_made_rows_are_solved_anew(task):
    generator, fewest = MADE[task]
    made = fresh_rows(generator, 29, 440, range(1, 3))
    rows = [{x: row[x] for x in row if x != "level"} for row in made]
    if task == "twin_tcp_short":
        _, reasons = draw_twins(task, rows, 29)
        assert reasons == {"a clock that may not be in GMT": len(rows)}
        rows = [in_gmt(row) for row in rows]
    draws, _ = draw_twins(task, rows, 29)
    assert len(draws) >= fewest
    assert {*solved(task, draws)} == {AGREE}
    assert not wrong_labels_that_are_right(task, draws)


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
        f"{START} at 9:00 EST.", f"{START}, Berlin time.", f"{START}. In New York I work"
        " 09:00 to 17:00, my time.", f"{START}. I am in Sao Paulo, 10 to 18 local time.",
        f"{START}. I sit in Moscow, 16:00 to 23:00.", f"{START}. London here.",
        f"{START}. It is winter time, GMT+1.", f"{START}. I am at GMT+5 since May.",
        f"{START}. I am two hours ahead of GMT.", f"{START}, 9 to 5.", f"{START}, BRT.",
        f"{START}. The clocks go forward.", f"{START}. I work 9:00 to 12:00, 8:00 GMT.",
        f"{START} at 08:00 GMT -5.", f"{START}, 5 pm.",
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


@pytest.mark.parametrize("hours", ["nine to five, in Boston", "9/17 in Rome", "9-17h"])
def test_hours_that_a_dialogue_does_not_state_in_gmt_have_no_twin(hours):
    columns = {"project_start_datetime_gmt": "2024-03-04 08:00"}
    columns["agent_constraints_gmt"] = {"B": {"working_hours": [13, 21]}}
    start = f"{START}, 08:00 GMT."
    twin = moved_project(dialogue=[start, "B: I work 13:00 to 21:00 GMT."], **columns)
    assert isinstance(twin, Twin)
    other = moved_project(dialogue=[start, f"B: I work {hours}."], **columns)
    assert "not be in GMT" in other


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


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """A pack of twins of the rows of `examples/`."""
    folder = tmp_path_factory.mktemp("twins") / "pack"
    command = ["twins", str(folder), "--include_path", str(EXAMPLES)]
    assert main([*command, "--gen-seed", "7"]) == 0
    return folder


def test_the_manifest_says_whose_twins_there_are_and_why_others_have_none(pack):
    public = manifest_of(EXAMPLES)["data"]
    for file, entry in manifest_of(pack)["data"].items():
        (task,) = entry["tasks"]
        base = scorer(task).base
        of_base = next(x for x in public.values() if base in x["tasks"])
        record = entry["twins"]
        assert entry["generated"] == {
            **{"twin_seed": 7, "twin_version": "1"},
            "twin_source": of_base["fingerprint"],
        }
        assert record["rows"] == of_base["rows"]
        assert record["source_fingerprint"] == of_base["fingerprint"]
        digests = {x.hex() for x in digests_of(base, EXAMPLES)}
        assert {x for x, _, _ in record["originals"].values()} <= digests
        assert {*record["originals"]} == {x.hex() for x in digests_of(task, pack)}
        assert len(read_jsonl(pack / "data" / file)) == len(record["originals"])
        tasks = [x for x in TWINS if scorer(x).base == base]
        with_twins = sum(len(documents(x, pack)) for x in tasks)
        assert with_twins + sum(record["without"].values()) == record["rows"]


def digests_of(task: str, folder: Path) -> list[bytes]:
    return [scorer(task).utils.digest(doc) for doc in documents(task, folder)]


def test_a_pack_is_the_seed_s_and_goes_on(pack, tmp_path, capsys):
    before, again = content(pack), [str(pack), "--include_path", str(EXAMPLES)]
    assert main(["twins", *again, "--gen-seed", "7"]) == 0
    assert content(pack) == before
    other = [str(tmp_path / "other"), *again[1:], "--gen-seed", "8"]
    assert main(["twins", *other]) == 0
    name = "twin_tot_semantic.jsonl"
    rows = [read_jsonl(x / "data" / name) for x in (pack, tmp_path / "other")]
    assert rows[0] != rows[1]
    assert main(["twins", *again, "--gen-seed", "8"]) == 1
    assert "has the rows of another request" in capsys.readouterr().err
    assert main(["offline", str(pack), "--check"]) == 0


def test_twins_stand_beside_the_public_rows_in_one_pack(tmp_path):
    source = f"--source=tcp={EXAMPLES / 'data'}"
    offline = [str(tmp_path), "--tasks", "tcp_long", "--allow-partial", source]
    assert main(["offline", *offline]) == 0
    place = [str(tmp_path), "--include_path", str(tmp_path)]
    assert main(["twins", *place, "--gen-seed", "7"]) == 0
    samples = run_tasks(tmp_path, ["tcp_long", "twin_tcp_long"], tmp_path)
    prompts = [x[0]["arguments"][0][0].splitlines()[0] for x in samples.values()]
    assert prompts[0] == prompts[1]


def test_twins_are_no_benchmark_s_rows_and_no_warning(pack, caplog):
    caplog.set_level(logging.WARNING, "lm_eval")
    for task in TWINS:
        assert documents_of(task, [*read_jsonl(pack / "data" / f"{task}.jsonl")])
    load(TWINS, pack)
    assert not caplog.records


@pytest.mark.parametrize("task", TWINS)
def test_a_twin_s_label_in_the_form_that_is_asked_for_scores_one(pack, task):
    for doc in documents(task, pack):
        response = scorer(task).utils.gold_response(doc)
        scores = scorer(task).process_results(doc, [response])
        assert all(scores[name] == 1 for name in scorer(task).headline)


def test_without_a_pack_a_run_says_how_to_make_one():
    with pytest.raises(ToolError, match="temporal-eval twins OUT --include_path PACK"):
        load(["twin_tcp_long"])


@pytest.mark.parametrize(
    ("tasks", "said"),
    [("timebench_mctaco", "has no row that can have a twin"), (None, "make the pack")],
)
def test_a_pack_without_rows_to_change_is_refused(tasks, said, tmp_path, capsys):
    if tasks:
        source = f"--source=timebench={EXAMPLES / 'data'}"
        arguments = [str(tmp_path), "--tasks", tasks, "--allow-partial", source]
        assert main(["offline", *arguments]) == 0
    out = tmp_path / "out"
    command = ["twins", str(out), "--include_path", str(tmp_path), "--gen-seed", "7"]
    assert main(command) == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
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
    rows = {
        task: read_jsonl(EXAMPLES / "data" / f"{scorer(scorer(task).base).file}.jsonl")
        for task in TWINS
    }
    lines = [
        json.dumps([x, rows[task]]) for task in TWINS for x in transformations(task)
    ]
    path = PACK / "twin" / "transformations.py"
    digests = set()
    for seed, version in enumerate(("", *(f"3.{n}" for n in range(10, 20)))):
        command = [shutil.which(f"python{version}") or "", "-c", ELSEWHERE, str(path)]
        if version and not command[0]:
            continue
        command[0] = command[0] if version else sys.executable
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        told = {"input": "\n".join(lines), "capture_output": True, "text": True}
        done = subprocess.run(command, env=environment, **told)
        if done.returncode == 127:  # the shim of a version that is not here
            continue
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1
