"""Ways past a problem, by task and name: what they score shows what levels are worth.

A shortcut takes the rows of a task and a level, and returns a response to each, or None
where it knows no way. Those of TCP read the rows' columns, the others their texts.
"""

import calendar
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import product

from dateutil import parser

from lm_eval_tasks.fresh.generators import tot_semantic as roles
from tests.solvers import tcp


WIDTH = 30  # schedules that the search for the end without a kind keeps
FEWEST = 24  # rows to learn from, so that all labels are in each half
GUEST = r"[:;] ([\w ]+) at (\d+:\d\d(?::\d\d)?(?: [AP]M)?)"
CITY = r"(\w+) was founded in (\d+) (AD|BC)"
# A vague link to an age; a letter of the 29th or later.
CUES = r" (is (younger|older) than|turned) .* full years old|'s letter is dated [-0-9]{8}(29|3.)"
_MONTH = f"(?:{'|'.join(calendar.month_name[1:])})"
_TIME = re.compile(
    rf"\b((?i:in|on|at|before|after)) (the \d\w+|\d[\w: ]*|{_MONTH}[ \d]*|\w+day)\b"
)
_STEP = re.compile(r"(\d+) (\w+?)s?(?= (?:and \d+ \w+ )?(before|after|back|forward)\b)")
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30.44}
_LEFT_OPEN = datetime(2001, 1, 15, 12)  # by a time: a Monday, in the middle of a month
_FACT = re.compile(r"E(\d+) was the R(\d+) of E(\d+) from (\d+) to (\d+)")
_FORM = "Thus, the correct answer is: {}"
ONE, CANNOT = '{"answer": "1"}', '{"answer": "unanswerable"}'


class TooFewRows(Exception):
    """A shortcut is learned, and there are too few rows to learn it from."""


def greedy(row: dict) -> str:
    """Return the earliest end of eleven orders, each task by whoever ends it first."""
    project = tcp.read_project(row)
    lengths, pairs = project.lengths, project.dependencies
    chains = dict(lengths)
    for task in reversed(lengths):  # those that need it come after it
        dependents = (dependent for needed, dependent in pairs if needed == task)
        chains[task] += max((chains[dependent] for dependent in dependents), default=0)
    needed, dependent = map(Counter, zip(*pairs)) if pairs else (Counter(), Counter())
    places = {task: place for place, task in enumerate(lengths)}
    ranks = [places, lengths, chains, needed, dependent]
    signed = product(ranks, (1, -1))
    orders = [lambda _, x, __, by=by, sign=sign: sign * by[x] for by, sign in signed]
    orders.append(lambda _, __, ready: ready)
    ends = (tcp.earliest_end(project, 1, order) for order in orders)
    return f"\\boxed{{{project.label(min(ends))}}}"


def longest_chain(row: dict) -> str:
    """Return the end where nobody is ever busy: that of the longest chain of tasks.

    It is part of the reasoning rather than a way past it: right where people do not bind.
    """
    project = tcp.read_project(row)
    ends: dict[str, int] = {}
    for task in project.lengths:  # those that need it come after it
        needed_ends = (
            ends[x] for x, dependent in project.dependencies if dependent == task
        )
        ready = max(needed_ends, default=0)
        free = ready, 0, 0, 0
        ends[task] = min(
            tcp.work(agent, free, ready, project.lengths[task])[0]
            for agent in project.agents
        )
    return f"\\boxed{{{project.label(max(ends.values()))}}}"


def ignoring(row: dict, constraint: str) -> str | None:
    """Return the end where nobody minds a kind of constraint that somebody has."""
    project = tcp.read_project(row, constraint)
    if constraint != "dependencies" and project == tcp.read_project(row):
        return None
    return f"\\boxed{{{project.label(tcp.earliest_end(project, WIDTH, tcp.total))}}}"


def at_once(row: dict) -> str | None:
    """Return what follows of guests, cities and zones that are told by no other."""
    question = row["question"].split("JSON =")[0]
    if "a chain of hotels" in question:
        zones = re.findall(r" at UTC([+-])(\d\d):(\d\d)", question)
        offsets = [60 * int(sign + h) + int(sign + m) for sign, h, m in zones]
        hours, minutes = divmod(max(offsets) - min(offsets), 60)
        return json.dumps({"hours": hours, "minutes": minutes})
    guests = re.findall(GUEST, question) if "at an inn" in question else []
    facts = [(parser.parse(clock), name) for name, clock in guests]
    for name, year, era in re.findall(CITY, question):
        facts.append((int(year) * (1 if era == "AD" else -1), name))
    if not facts:
        return None
    extreme = min if re.search("(arrived|founded) first", question) else max
    names = [name for value, name in facts if value == extreme(facts)[0]]
    answer = names[0] if len(names) == 1 else "equal"
    return json.dumps({"unordered_list": names} if guests else {"answer": answer})


def _steps(text: str) -> Iterator[tuple[int, str]]:
    for count, unit, side in _STEP.findall(text):
        yield int(count) * (1 if side in ("after", "forward") else -1), unit


def sum_spans(row: dict) -> str:
    """Add up all spans onto the one time of the premise, whatever they belong to."""
    time = _TIME.findall(row["Hypothesis"])[0][1].removeprefix("the ")
    premise_time = _TIME.findall(row["Premise"])[-1][1].removeprefix("the ")
    moment = parser.parse(premise_time, default=_LEFT_OPEN)
    claim = parser.parse(time, default=_LEFT_OPEN)
    for count, unit in _steps(row["Premise"]):
        moment += timedelta(count * _DAYS.get(unit, 365.25))
    kinds = {_MONTH: "%Y%m", ".*(:| [AP]M)": "%H%M", r"\d{4}$": "%Y", "": "%Y%m%d"}
    finest = next(form for kind, form in kinds.items() if re.match(kind, time))
    difference = int(f"{moment:{finest}}") - int(f"{claim:{finest}}")
    premise_side, side = prepositions(row)[0].split()
    difference *= 1 if side == "after" else -1
    if premise_side == side:
        return _FORM.format("Entailment" if difference >= 0 else "Neutral")
    likely = "Neutral" if premise_side in ("before", "after") else "Entailment"
    return _FORM.format(likely if difference > 0 else "Contradiction")


def prepositions(row: dict) -> list[str]:
    """Return how the premise and the hypothesis place its event, as one feature."""
    preposition, time = _TIME.findall(row["Hypothesis"])[0]
    event = re.sub(rf"{preposition} {time}(, )?|\.", "", row["Hypothesis"])
    event = event.strip().lower()
    sentences = row["Premise"].lower().split(". ")
    clause = next(sentence for sentence in sentences if event in sentence)
    sides = re.findall(r"\b(in|on|at|before|after)\b", clause.replace(event, ""))
    return [f"{sides[0]} {preposition.lower()}"]


def hypothesis_place(row: dict) -> list[str]:
    """Return the side and the time of the hypothesis, and with the premise's side."""
    side, time = _TIME.findall(row["Hypothesis"])[0]
    [sides] = prepositions(row)
    return [f"{side} {time}".lower(), f"{sides} {time}", sides]


def learned(rows: list[dict], by: Callable[[dict], list[str]]) -> list[str]:
    """Return what a logistic regression learns of one half of the rows for the other."""
    if len(rows) < FEWEST:
        raise TooFewRows(f"needs {FEWEST} rows")
    # Here, since each process of the tests would carry the library.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    features = CountVectorizer(analyzer=by, binary=True).fit_transform(rows)
    model, labels = LogisticRegression(max_iter=1000), [row["Label"] for row in rows]
    predictions = cross_val_predict(model, features, labels, cv=2)
    return [_FORM.format(label) for label in predictions]


def months(row: dict, steps: int | None = None, slip: int = 0) -> str:
    """Take the first steps alone, or be wrong by a month."""
    [(month, year)] = re.findall(r"([A-Z][a-z]{2}), (\d+)", row["question"])
    place = 12 * int(year) + parser.parse(month).month - 1 + slip
    sentences = row["question"].split(". ")[1:][:steps]
    for count, unit in _steps(". ".join(sentences) or row["question"]):
        place += count * (12 if unit == "year" else 1)
    return _FORM.format(f"{datetime(1, place % 12 + 1, 1):%b}, {place // 12}")


def first_fit(row: dict, is_described: bool) -> str:
    """Take the last description alone, or none, and the first entity with an answer."""
    kind = row["question_type"]
    facts = [roles.Fact(*map(int, numbers)) for numbers in _FACT.findall(row["prompt"])]
    form = re.sub(r"{(\w+)}", r"(?P<\1>\\w+)", roles.TEXTS["questions"][kind][:-1])
    details = re.search(form, row["question"]).groupdict()
    numbers = {key: int(text) for key, text in details.items() if text.isdigit()}
    details |= numbers
    other_fact = tuple(map(details.get, ("who", "other_role", "other_target")))
    details |= {"year": fact.start for fact in facts if fact[:3] == other_fact}
    entities = [fact.target for fact in facts]
    descriptions = re.findall(r"R(\d+) of \w+ in (\d+)\.", row["question"])
    for role, year in (map(int, text) for text in descriptions[-1:] * is_described):
        facts_then = [fact for fact in facts if fact.start <= year < fact.end]
        entities = [fact.holder for fact in facts_then if fact[1] == role]
    facts.sort(key=lambda fact: fact.start)
    posts = ((details["role"], entity) for entity in entities)
    terms = ([fact for fact in facts if fact[1:3] == post] for post in posts)
    answers = (roles.answer_of(kind, details, term) for term in terms)
    return json.dumps({"answer": next(filter(None, answers), "")})


def each(answer: Callable, **options: object) -> Callable:
    """Return the shortcut that answers row by row."""
    return lambda rows: [answer(row, **options) for row in rows]


PLANNING = {
    "best of 11 greedy orders": each(greedy),
    "the longest chain of tasks": each(longest_chain),
    "without dependencies": each(ignoring, constraint="dependencies"),
    "without rests": each(ignoring, constraint="max_consecutive"),
    "without breaks": each(ignoring, constraint="break_between"),
}
SHORTCUTS = {
    "fresh_tcp_short": PLANNING
    | {"without meals": each(ignoring, constraint="lunch_break")},
    "fresh_tcp_long": PLANNING
    | {"without absences": each(ignoring, constraint="absences")},
    "fresh_tot_arithmetic": {
        "only what is told by no other fact": each(at_once),
        "give-away cues": each(lambda x: re.search(CUES, x["question"]) and CANNOT),
    },
    "fresh_timexnli": {
        "all spans onto the one time": each(sum_spans),
        "the two prepositions": partial(learned, by=prepositions),
        "where the hypothesis' time is": partial(learned, by=hypothesis_place),
        "words": partial(
            learned, by=lambda x: f"{x['Premise']} {x['Hypothesis']}".split()
        ),
    },
    "fresh_date_arithmetic": {
        "one step": each(months, steps=1),
        "a month too many": each(months, slip=1),
    },
    "fresh_tot_semantic": {
        "the last description": each(first_fit, is_described=True),
        "no description": each(first_fit, is_described=False),
        "1 for counts": each(lambda x: ONE * ("How many" in x["question"])),
    },
}
