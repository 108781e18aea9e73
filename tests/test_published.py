"""The published scores equal an independent reading of the cards' rules.

`tests/solvers/card_rules.py` and the answers here were made from the design's text alone.
What a rule turns on is varied at random, with white space of every kind around every part.
The text does not settle years of two digits and weekdays, which dateutil completes from the
clock (here they are wrong), nor NLI answers with two labels: these are left out.
"""

import json
from calendar import month_name
from random import Random

import pytest

from tests import fuzz
from tests.corpus import FAMILIES, cases, headlines
from tests.documents import LONG, MARKER, SHORT
from tests.solvers import card_rules
from tests.solvers.obedient import read_label
from utils.core.task_scorers import scorer


Generated = tuple[str, dict, str]  # task, document, response
LEADS = ["", "So.\n\n", "Thus, ", "thus, the correct answer is: A "]
MARKERS = [
    *([MARKER] * 12 + [MARKER.lower(), MARKER.upper(), f"**{MARKER}**", MARKER[:-1]]),
    *(f"{MARKER} {MARKER}", f"{MARKER}\n{MARKER.title()}"),
]
MORE_LINES = ["", "", "", "", "\n", "\nMore of it.", "\n\nSo B, 1642.", "\n.", "Done!"]
# What `str.strip` takes for white space, and one character that it does not.
BLANKS = [
    *(" ", " ", " ", "\t", "\xa0", "\n", "\n", "\r\n", "\n\n", "\r", "\v", "\f"),
    *("\x1c", "\x85", "\u2003", "\u2028", "\u3000", "\u200b"),
]
MARKS = [".", "!", "?", ".", "!", "?", " ", "\n", ",", ";"]
CASES = [str, str, str.lower, str.upper, str.title]


def several(random: Random, pieces: list[str], greatest_count: int) -> str:
    """Return none, one or more of the pieces, few of them more often than many."""
    return "".join(random.choices(pieces, k=random.randrange(greatest_count + 1)))


def blanks(random: Random) -> str:
    return random.choice(["", "", "", " ", several(random, BLANKS, 3)])


def around_the_marker(random: Random, answers: list[str]) -> str:
    """Return a response with none, one or two markers and what may stand around them."""
    parts = [random.choice(LEADS)]
    for answer in answers[: random.choice([0, 1, 1, 1, 1, 1, 1, 2])]:
        forms = [*([answer] * 12), "", f"**{answer}**", f"({answer})"]
        ends = ["", "", ".", several(random, MARKS, 4)]
        for choices in (MARKERS, forms, ends, MORE_LINES):
            parts += blanks(random), random.choice(choices)
    return "".join([*parts, blanks(random)])


NAMES = ["Cardiff City", "the Grand Orrery", "St. Olga's College", "Q.I. (Lund)", "A Inn"]  # fmt: skip
REPLACED = [(" ", "  "), (" ", " the "), ("'", ""), (".", ""), (" ", "-")]
REFUSALS = [*(["{}"] * 18), "unanswerable: {}", "{} (not UNANSWERABLE)"]


def qa(random: Random) -> Generated:
    golds = random.sample(NAMES + ["unanswerable"], random.choice([1, 1, 2, 3]))
    words = [word for name in NAMES for word in name.split()]
    answers = []
    for _ in range(2):
        name = random.choice([*golds, *golds, *NAMES, "Un-answerable"])
        if random.random() < 0.4:
            name = " ".join(random.sample(words, random.randrange(1, 5)) + [name])
        name = random.choice(REFUSALS).format(name)
        for old, new in REPLACED:
            name = name.replace(old, new) if random.random() < 0.1 else name
        answers.append(random.choice(CASES)(name))
    response = around_the_marker(random, answers)
    return "timebench_timeqa_explicit", {"golds": golds}, response


DATE_FORMS = [
    *("{short}, {year}", "{short} {year}", "{long} {year}", "{long}, {year}"),
    *("{short}. {year}", "{short}., {year}", "{short}-{year}", "{short}/{year}"),
    *("{number}/{year}", "{number:02}/{year}", "{year}-{number:02}", "{year}.{number}"),
    *("{number:02}-{year}", "{year} {long}", "{year}, {short}", "{long} of {year}"),
    *("{day} {long} {year}", "{long} {day}, {year}", "{year}-{number:02}-{day:02}"),
    *("{day:02}/{number:02}/{year}", "{number:02}/{day:02}/{year}", "{short}{year}"),
    *("{long} {day}st, {year}", "{day}th of {long}, {year}", "the {long} {year}"),
    *("{year}{number:02}{day:02}", "{long}", "{year}", "{day} {long}", "In {long} {year}"),
    *("{short}, {year} AD", "{short}, {year} BC", "{day}.{number}.{year}"),
    *("{short} - {short} {year}", "{long} {year} or {year}", "{number} {year}"),
]  # fmt: skip
CLOCKS = [
    *([""] * 12), " 10:30", " 00:00", " 10:30 PM", " 10pm", " 12 AM", " 0:00:01", "T00:00",
    *(" 00:00:00.5", " UTC", " GMT", " 00:00Z", " 00:00 UTC", " 00:00+02:00", " EST", " CET"),
]  # fmt: skip


def date(random: Random) -> Generated:
    gold_number = random.randint(1, 12)
    gold_year = random.choice([*range(1000, 2040), 987, 105])
    answers = []
    for _ in range(2):
        number = random.choice([*([gold_number] * 4), random.randint(1, 12)])
        year = gold_year + random.choice([*([0] * 12), -1, 1, 100])
        month, day = month_name[number], random.choice([1, 2, 9, 13, 28, 30, 31])
        short = month[: random.choice([3, 4]) if month == "September" else 3]
        form = random.choice(DATE_FORMS) + random.choice(CLOCKS)
        text = form.format(short=short, long=month, number=number, year=year, day=day)
        answers.append(random.choice(CASES)(text))
    document = {"golds": [f"{month_name[gold_number][:3]}, {gold_year}"]}
    return "timebench_date_arithmetic", document, around_the_marker(random, answers)


OPTIONS = ["two hours", "A few minutes", "plan B", "D.C. time"]
LETTER_FORMS = [
    *(["{x}"] * 6 + ["{x}.", "({x})", "{x})", "{x}. {t}", "{x}: {t}", "{t}", "[{x}"]),
    *("option {x}", "{x}-", "*{x}*", "{x}\t", "{x}&", "{x} {x}", "'{x}'", "{x}1"),
]
SEPARATORS = [", ", ", ", ",", " and ", " & ", "&", "; ", " ", "/", "", " && ", "\n"]


def options(random: Random) -> Generated:
    count = random.choice([4, 4, 4, 3])
    gold = sorted(random.sample("ABCD"[:count], random.randrange(1, count + 1)))
    answers = []
    for _ in range(2):
        others = random.sample("ABCDEabc", random.randrange(1, 4))
        form = random.choice(LETTER_FORMS)
        parts = [
            form.format(x=letter, t=OPTIONS["ABCDE".index(letter.upper()) % 4])
            for letter in random.choice([gold, others])
        ]
        answers.append(random.choice(SEPARATORS).join(parts))
    document = {"options": OPTIONS[:count], "letters": gold}
    return "timebench_mctaco", document, around_the_marker(random, answers)


LABELS = ["Entailment", "Neutral", "Contradiction"]
LABEL_FORMS = [
    *("{x}", "{x}.", "({x})", "{x})", "{x}:", "{x},", "{x} ", "option {x}", "{x}, so"),
    *("{w}", "{w}", "{x}. {w}", "{x}: {w}", "({x}) {w}", "{w} ({x})", "not {w}"),
    *("The relation is {w}.", "non-{w}", "{w}s", "un{w}", "{w}-like", "{y}. {w}"),
    *("it entails it", "contradictory", "no answer", "D", "Neutral"),
]


def nli(random: Random) -> Generated:
    task = random.choice(["timebench_tracie", "timebench_timexnli_s1"])
    labels = LABELS[::2] if task == "timebench_tracie" else LABELS
    letters = "ABC"[: len(labels)]
    x, y = random.choice(letters + "ABCD"), random.choice(letters)
    word = random.choice(CASES)(random.choice(labels))
    answers = [random.choice(LABEL_FORMS).format(x=x, w=word, y=y) for _ in range(2)]
    document = {"options": labels, "label": random.choice(labels)}
    return task, document, around_the_marker(random, answers)


BOXES = [*(["\\boxed{"] * 6), "\\boxed {", "boxed{", "\\\\boxed{", "\\Boxed{"]
BEFORE_MOMENTS = [*([""] * 8), "\\text{", "GMT ", "**", "{"]
AFTER_MOMENTS = [*([""] * 5), " GMT", "GMT", "}", ".", " gmt", "\\ ", " GMT GMT"]
BOX_ENDS = [*(["}"] * 6), "", "}}", " } so"]


def tcp(random: Random) -> Generated:
    task, document = random.choice([("tcp_short", SHORT), ("tcp_long", LONG)])
    moment = document["answer"].removesuffix(" GMT")
    moments = [*[moment] * 3, document["answer"], moment[:-1], "", "x{y}"]
    pieces = ["Day 5. "]
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        for choices in (BOXES, BEFORE_MOMENTS, moments, AFTER_MOMENTS, BOX_ENDS):
            pieces += random.choice(choices), blanks(random)
        pieces += " then ", blanks(random)
    return task, document, "".join(pieces)


ARITHMETIC_LABELS = [
    *("{'answer': '1307'}", "{'answer': 1307}", '{"answer": 1}', '{"H": 1.0, "M": 2}'),
    *("{'unordered_list': ['a', 'b']}", "{'unordered_list': []}", "{'answer': '9 AD'}"),
    *("{'day': '+1', 'time': '01:10'}", "{'answer': 'it\\'s'}"),
    '{"answer": "caf\\u00e9"}',
]
SEMANTIC_LABELS = ["E76", "1985", "2", "E59,E57"]
OTHER_VALUES = [
    *('"1307"', "1307", "1307.0", "1", "1.0", "true", "null", "2", "2.0", "NaN", "01"),
    *('["b", "a"]', '["a"]', '"+1"', "792 AD", '"caf\\u00e9"', '"cafe"', "-0", "1e0"),
    *('{"a": {"b": 1}}', '"1985"', '["E59", "E57"]', '"E59, E57"', '"a\\nb"', '"a\nb"'),
]


def objects(random: Random, right: dict) -> str:
    """Return prose with objects in it, some of them right, some of them not JSON."""
    pieces = []
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        fields = [
            f'"{key}": {text if random.random() < 0.8 else random.choice(OTHER_VALUES)}'
            for key, text in zip(right, map(json.dumps, right.values()))
            if random.random() < 0.95
        ]
        if random.random() < 0.5:
            fields.insert(random.randrange(len(fields) + 1), '"explanation": "s{t}"')
        if random.random() < 0.1:
            fields.append(f'"more": {random.choice(OTHER_VALUES)}')
        if random.random() < 0.1 and fields:
            fields.append(random.choice(fields))
        space, join = (several(random, [" ", "\t", "\n", "\r\n"], 2) for _ in range(2))
        text = f"{{{space}{f',{join}'.join(fields)}{space}}}"
        if random.random() < 0.25:
            text = random.choice(damaged(random, text))
        before = random.choice(["", "", "so ", "{x} ", "x^{2} ", "{}", "{ "])
        pieces += before, blanks(random), text, several(random, MARKS, 2)
    return "".join(pieces)


def damaged(random: Random, text: str) -> list[str]:
    """Return an object's text as it is not JSON, and with white space or an object more."""
    replaced = [("'", '"'), (",", f",{blanks(random)}"), ('":', f'":{blanks(random)}')]
    replaced += [('"', "'"), (": ", ":\n"), ("s{t}", "s\n{t}")]
    frames = [f"{{{blanks(random)}{text[1:]}", f"[{text}]", f'{{"answer": {text}}}']
    frames += [f"{{{text}}}", f"{text}//", text.upper(), text[:-1] + ",}"]
    return [text[:-1], text[1:], *frames, *(text.replace(*pair) for pair in replaced)]


def arithmetic(random: Random) -> Generated:
    document = {"question": "?", "label": random.choice(ARITHMETIC_LABELS)}
    return "tot_arithmetic", document, objects(random, read_label(document["label"]))


def semantic(random: Random) -> Generated:
    label = random.choice(SEMANTIC_LABELS)
    right = {"answer": int(label) if label == "1985" else label}
    document = {"question": "?", "prompt": "?", "label": label}
    return "tot_semantic", document, objects(random, right)


@pytest.mark.parametrize("n", fuzz.sizes(1_000, 200_000))
@pytest.mark.parametrize("kind", [qa, date, options, nli, tcp, arithmetic, semantic])
def test_published_scores_are_those_of_the_card_on_generated_answers(kind, n):
    random, right, answered = fuzz.random_of(kind.__name__), 0, 0
    for _ in range(n):
        task, document, response = kind(random)
        expected = getattr(card_rules, kind.__name__)(response, document)
        scores = headlines(task, document, response)
        right, answered = right + (expected[0] == 1), answered + expected[1]
        assert (scores["published"], scores["extracted"]) == expected, document
    # The answers are neither all right nor all wrong, or they would prove little.
    assert n / 20 < right < n * 0.8
    assert answered > n / 2


@pytest.mark.parametrize("family", FAMILIES)
def test_published_scores_in_the_corpus_are_those_of_the_card(family):
    for case in cases(family):
        if "published" in case.expected and "two digits" not in case.why:
            kind = scorer(case.task).explain.__name__.removeprefix("explain").strip("_")
            published, _ = getattr(card_rules, kind or family)(case.response, case.doc)
            assert round(published, 4) == case.expected["published"], case.place
