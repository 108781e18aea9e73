"""Measure what scoring costs: answers a second, and ratios that hold on any machine.

    temporal-eval bench [KIND ...] [--json | --check]

A kind is one function that scores: `tcp`, `tot_arithmetic`, `timebench_qa` and so on; both
rules run, as in a run of the harness. Printed are

- how many right answers of each length one core scores in a second, as pyperf times
  them, plain and with a reasoning block that is most of the text (some minutes);
- the ratio: how many wrong answers, the slower ones, of 4 KB are scored in the time of
  one `json.loads` of their bytes;
- the most memory that scoring an answer of 400 KB takes;
- how time grows with length, as an exponent (1: linear, 2: quadratic), on plain text and
  on the worst of hostile ones, up to 4 MB;
- what the import of a family takes.

Time is processor time, every document is new, and caches are emptied before each round.
`--check` measures ratios and growth alone, and exits with 1 where a target is missed by
far, also when it is measured again. It takes no times from pyperf: the two sides of a
ratio take turns in one process, to see the same states of a busy machine.

Example, of the first figures:

    temporal-eval bench tcp | head -n 3
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from . import tables
from .cli import tool_parser
from .errors import ToolError
from .families import Scorer, all_tasks, scorer


# Text as models write it: `json.loads` takes as long for it as for recorded answers.
PROSE = (
    '**Step {0}.** Say "part {0}" lasts {0} hours:\n- it begins when the first has ended;'
    '\n- so "part two" follows.\n\n'
)
# Each is repeated up to the wanted length.
HOSTILE = (
    *("{", "}", "[", '"', "'", "\\", " ", "\n", "A. ", "1,", "a: ", "{'a': ", '{"a":'),
    *('"a": [', "\\boxed{", "\\boxed{}", "\\boxed{x", "<think>", "<think></think>"),
    *("Thus, the correct answer is: A ", "answer ", "(1 ", "Answer:\n"),
)
LENGTHS = {"0.5 KB": 500, "4 KB": 4_000, "32 KB": 32_000, "400 KB": 400_000}
LARGEST = 4_000_000
# What `--check` refuses. The caches of a busy machine serve one side of a ratio better
# than the other, so it refuses what is far from the target; quadratic growth is 2.
TOLERATED = 0.7
STEEPEST = 1.4


# ------------------------------------------------------- documents and their answers


class Kind(NamedTuple):
    """Documents and answers made from a number, and what scoring them may cost.

    An answer is right for the document of its number alone. `target` is how many right
    answers of 4 KB are scored in the time of one `json.loads`; wrong ones may take twice
    as long.
    """

    document: Callable[[int], dict]
    answer: Callable[[int], str]
    target: float
    in_json: bool = False


MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
LABELS = ["Entailment", "Neutral", "Contradiction"]


def _moment(number: int) -> str:
    """Return a reference of TCP, short and long in turn."""
    day = f"{1950 + number % 97}-{number % 12 + 1:02}-{number % 28 + 1:02}"
    return day if number % 2 else f"{day} {number % 24:02}:00 GMT"


def _tcp(number: int) -> dict:
    answer = _moment(number)
    long = len(answer) == len("YYYY-MM-DD")
    return {
        "answer": answer,
        "answer_format": "YYYY-MM-DD" if long else "YYYY-MM-DD HH:MM GMT",
    }


def _tot_arithmetic(number: int) -> dict:
    return {
        "question": f"Case {number}: how many days are that? Return your answer as a JSON"
        ' like: JSON = {"explanation": <your step by step solution>, "answer": <days>}',
        "label": f"{{'answer': '{number}'}}",
    }


def _tot_semantic(number: int) -> dict:
    question = f"Which entity was the R{number} of E{number} at the start of 1980?"
    return {"question": question, "prompt": question, "label": f"E{number}"}


def _qa(number: int) -> dict:
    golds = [f"Harbour Office {number}", f"Office {number} of the harbour"]
    return {"question": "Where?", "context": f"He joined {golds[0]}.", "golds": golds}


def _month(number: int) -> str:
    return f"{MONTHS[number % 12]}, {1000 + number}"


def _options(number: int) -> dict:
    options = [
        f"{number} minutes",
        f"{number} days",
        f"a year and {number} days",
        "1 s",
    ]
    return {
        "question": f"How long is way {number}?",
        "context": "They walked.",
        "options": options,
        "letters": ["AC", "B", "BD", "D"][number % 4],
    }


def _nli(number: int) -> dict:
    return {
        "premise": f"On day {number} it rained.",
        "hypothesis": "It was wet.",
        "options": LABELS,
        "label": LABELS[number % 3],
    }


def _situation(number: int) -> dict:
    statement = f"In May {number} ferries sail. In winter the harbour {number} is shut."
    keywords = ["May", "ferries", "winter", "harbour"]
    return {"statement": statement, "keywords": keywords, "keywords_pos": [0, 0, 1, 1]}


def _marked(answer: Callable[[int], str], number: int) -> str:
    return f"Thus, the correct answer is: {answer(number)}"


def _listed(number: int) -> str:
    return ", ".join(_options(number)["letters"])


KINDS = {
    "tcp": Kind(_tcp, lambda number: f"\\boxed{{{_moment(number)}}}", 3.6),
    "tot_arithmetic": Kind(_tot_arithmetic, str, 0.2, in_json=True),
    "tot_semantic": Kind(_tot_semantic, "E{}".format, 0.2, in_json=True),
    "timebench_qa": Kind(_qa, partial(_marked, "Harbour Office {}".format), 0.7),
    "timebench_date": Kind(
        lambda number: {"question": "When?", "golds": [_month(number)]},
        partial(_marked, _month),
        1.4,
    ),
    "timebench_options": Kind(_options, partial(_marked, _listed), 0.6),
    "timebench_nli": Kind(_nli, partial(_marked, lambda n: LABELS[n % 3]), 0.6),
    "timebench_generation": Kind(
        _situation, partial(_marked, lambda n: _situation(n)["statement"]), 0.0
    ),
}


def prose(length: int) -> str:
    """Return text of a length."""
    steps = length // len(PROSE) + 1
    return "".join(PROSE.format(number % 90 + 10) for number in range(steps))[:length]


def response(kind: Kind, number: int, length: int, *, right: bool, block: bool) -> str:
    """Return a response to document `number`; a reasoning block may be most of it."""
    answer = kind.answer(number if right else number + 1)
    start = f"<think>{prose(length)}</think>\n" if block else ""
    text = prose(100 if block else max(length - len(answer), 0))
    if kind.in_json:
        return start + json.dumps({"explanation": text, "answer": answer})
    return f"{start}{text}\n\n{answer}"


def scorers(names: Iterable[str]) -> dict[str, Scorer]:
    """Return a scorer of each kind of the pack; ToolError for names without documents."""
    found = {}
    for one in map(scorer, all_tasks()):
        suffix = one.process_results.__name__.removeprefix("process_results")
        found.setdefault(one.family + suffix, one)
    known = found.keys() & KINDS.keys()
    if unknown := sorted({*(names or found)} - known):
        raise ToolError(
            f"kind '{unknown[0]}' is unknown or has no documents here; the kinds are"
            f" {', '.join(sorted(known))}"
        )
    return {name: found[name] for name in names or found}


# ------------------------------------------------------------------------ measuring


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def empty_caches(one: Scorer) -> None:
    """Forget what a family has read."""
    for value in vars(one.utils).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def cost(
    one: Scorer, kind: Kind, length: int, *, right: bool = True, block: bool = False
) -> dict:
    """Return answers a second and the ratio to `json.loads` of the same bytes."""
    numbers = range(max(2, min(200, 800_000 // length)))
    texts = [response(kind, x, length, right=right, block=block) for x in numbers]
    cases = [(kind.document(x), [text]) for x, text in zip(numbers, texts, strict=True)]
    lines = [json.dumps({"response": text}) for text in texts]

    def score() -> None:
        for doc, results in cases:
            one.process_results(doc, results)

    def load() -> None:
        for line in lines:
            json.loads(line)

    ours, theirs = [], []
    for _ in range(12):  # the least: what else the machine does adds to it
        empty_caches(one)
        ours.append(seconds(score))
        theirs.append(seconds(load))
    spent = min(ours) / len(cases)
    return {
        "answers_a_second": round(1 / spent),
        "ratio": round(min(theirs) / min(ours), 2),
        "ns_a_character": round(spent / len(texts[0]) * 1e9, 3),
    }


def growth(one: Scorer, doc: dict, unit: str, budget: float) -> tuple[float, int]:
    """Return the slope of time over length, both as logarithms, and the last length.

    1 is linear, 2 quadratic. Lengths grow to 4 MB, or until one takes the budget of
    seconds; those that take less than a thousandth say nothing.
    """
    points, length = [], LARGEST // 4**5
    while length <= LARGEST:
        text = unit * (length // len(unit))
        spent = seconds(partial(one.process_results, doc, [text]))
        points.append((math.log(length), math.log(max(spent, 1e-3))))
        if spent > budget:
            break
        length *= 4
    # The last steps are the steepest of a cost that grows faster than its text.
    (x0, y0), (x1, y1) = points[-3:][0], points[-1]
    return (y1 - y0) / max(x1 - x0, 1e-9), min(length, LARGEST)


def import_seconds(one: Scorer) -> dict:
    """Return the least processor time of three imports, each in a new process."""
    code = (
        "import importlib.util, sys, time; start = time.process_time();"
        f" spec = importlib.util.spec_from_file_location('u', {one.utils.__file__!r});"
        " module = sys.modules['u'] = importlib.util.module_from_spec(spec);"
        " spec.loader.exec_module(module);"
        " sys.stdout.write(f'{time.process_time() - start} {\"datasets\" in sys.modules}')"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        .stdout.split()
        for _ in range(3)
    ]  # fmt: skip
    return {
        "seconds": round(min(float(spent) for spent, _ in runs), 4),
        "imports_datasets": runs[0][1] == "True",
    }


# -------------------------------------------------------------- what is said about it


def measure(found: dict[str, Scorer]) -> Iterator[list[dict]]:
    """Yield the tables: imports; ratio and memory; growth; speed."""
    families = {x.family: x for x in found.values()}
    yield [{"family": name, **import_seconds(one)} for name, one in families.items()]
    yield [{"kind": name, **_costs(name, one)} for name, one in found.items()]
    yield [{"kind": name, **_growths(name, one)} for name, one in found.items()]
    yield speeds([*found])


def speeds(names: list[str]) -> list[dict]:
    """Return the answers a second of each kind, as pyperf times them."""
    try:
        import pyperf
    except ImportError:
        raise ToolError(
            "bench: pyperf is not installed; install the extra `tools`, or use --check"
        ) from None
    from .speed import title

    module = f"{__package__}.speed"
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/times.json"
        command = [sys.executable, "-m", module, *names, "--quiet", "-o", file]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times = pyperf.BenchmarkSuite.load(file)
    rows: list[dict] = [{"kind": name} for name in names]
    for row in rows:
        for block in (False, True):
            for size in LENGTHS:
                time = times.get_benchmark(title(row["kind"], size, block)).median()
                row[f"{size}{', reasoning' if block else ''}"] = round(1 / time)
    return rows


def _costs(name: str, one: Scorer) -> dict:
    kind = KINDS[name]
    wrong = cost(one, kind, LENGTHS["4 KB"], right=False)
    return {
        "answers in a json.loads": wrong["ratio"],
        "peak MB": round(peak(one, kind) / 1e6, 2),
    }


def _growths(name: str, one: Scorer) -> dict:
    doc = KINDS[name].document(0)
    slopes = {unit: growth(one, doc, unit, budget=5)[0] for unit in (PROSE, *HOSTILE)}
    worst = max(HOSTILE, key=slopes.get)
    return {
        "growth": round(slopes[PROSE], 2),
        "worst growth": round(slopes[worst], 2),
        "on": repr(worst),
    }


def peak(one: Scorer, kind: Kind) -> int:
    """Return the most bytes that scoring an answer of 400 KB takes beside its text."""
    most = 0
    for block in (False, True):
        text = response(kind, 1, LENGTHS["400 KB"], right=False, block=block)
        doc = kind.document(1)
        empty_caches(one)
        tracemalloc.start()
        try:
            one.process_results(doc, [text])
            most = max(most, tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return most


def missed(found: dict[str, Scorer]) -> Iterator[str]:
    """Give what misses its target, one line each."""
    for one in {x.family: x for x in found.values()}.values():
        if import_seconds(one)["imports_datasets"]:
            yield f"{one.family}: importing its utils.py imports datasets"
    for name, one in found.items():
        for fault in (*_slow(name, one), *_steep(name, one)):
            yield f"{name}: {fault}"


def _slow(name: str, one: Scorer) -> Iterator[str]:
    kind = KINDS[name]
    for right, target in ((True, kind.target), (False, kind.target / 2)):
        measure_once = partial(cost, one, kind, LENGTHS["4 KB"], right=right)
        least = target * TOLERATED
        best = _best(lambda: measure_once()["ratio"], lambda x: x >= least)
        if best < least:
            what = "right" if right else "wrong"
            yield f"{what} answers of 4 KB: {best} of json.loads; the target is {target}"
    in_block = partial(cost, one, kind, LENGTHS["400 KB"], block=True)
    most = 1 / TOLERATED
    spent = -_best(lambda: -in_block()["ns_a_character"], lambda x: x >= -most)
    if spent > most:
        yield f"a reasoning block: {spent} ns a character; the target is 1"


def _steep(name: str, one: Scorer) -> Iterator[str]:
    for unit in (PROSE, *HOSTILE):
        doc = KINDS[name].document(0)
        slope = -_best(
            lambda: -growth(one, doc, unit, 0.1)[0], lambda x: x >= -STEEPEST
        )
        if slope > STEEPEST:
            yield f"{unit[:30]!r} again and again: cost grows as length ** {slope:.2f}"


def _best(measure_once: Callable[[], float], is_good: Callable[[float], bool]) -> float:
    """Return a measurement, the best of three where the first ones are not good."""
    best = -math.inf
    for _ in range(3):
        best = max(best, measure_once())
        if is_good(best):
            break
    return best


def main(arguments: list[str] | None = None) -> int:
    """Write the measurements, or what misses its target; return the exit status."""
    parser = tool_parser("bench", __doc__)
    parser.add_argument("kind", nargs="*", help="all without one")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object a line")
    how.add_argument(
        "--check", action="store_true", help="exit with 1 for missed targets"
    )
    options = parser.parse_args(arguments)
    found = scorers(options.kind)
    if options.check:
        faults = list(missed(found))
        sys.stderr.writelines(f"{fault}\n" for fault in faults)
        return 1 if faults else 0
    for rows in measure(found):
        if options.json:
            sys.stdout.writelines(f"{json.dumps(row)}\n" for row in rows)
        else:
            sys.stdout.write(f"{tables.render(rows, 'markdown')}\n")
        sys.stdout.flush()
    return 0
