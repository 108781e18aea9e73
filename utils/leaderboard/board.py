"""What each model scores in each benchmark and task, how surely, and its range of ranks.

Models are ranked together that answered the same documents of the same tasks with as many
few-shot examples and through the same filter. Their ranks are ranges: of the models from
which one cannot be told apart.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from ..core.families import Group, benchmarks, configuration, leaf_tasks, scorer
from ..runs.answers import sha256
from ..runs.models import Model
from ..runs.scoring import INVALID, Scored
from ..runs.tally import Tally
from ..stats import CONFIDENCE, difference, holm, linearised, score_interval
from .checks import FALSE, UNKNOWN, VERIFIED, Check


RULES = ("published", "flexible")
PUBLIC = "temporal_reasoning"  # the group of the benchmarks that the mean is over
MOST_OF_A_NAME = 200  # characters
SAME = 0.95  # share of equal answers from which on two runs count once
# Why the published rule gives less than the flexible one, by what it read.
CAUSES = {
    "nothing": "the published rule finds no answer",
    "form": "it reads the answer, but not its form",
    "elsewhere": "it reads another part of the response",
}


class Result(NamedTuple):
    """What one answer scored, without its text."""

    scores: tuple[float, float] | None  # published and flexible; None where neither is
    reason: str
    cluster: str
    place: int  # how many answers of the run stand before it
    kind: str  # of question
    level: int | None  # of a fresh document
    cause: str | None  # one of CAUSES, where the flexible score is higher
    text: str  # digest of the response: its letters and digits
    check: Check  # which has seen the answer


def result(scored: Scored, place: int, check: Check) -> Result:
    """Return what a board keeps of an answer."""
    task, verdict = scored.answer.task, scored.verdict
    headline = scorer(task).headline
    scores = headline and tuple(verdict.scores[x] for x in headline)
    text = "".join(filter(str.isalnum, scored.answer.response.casefold()))
    return Result(
        scores,
        verdict.reason,
        sys.intern(sha256(scorer(task).utils.cluster(scored.doc))),
        place,
        sys.intern(str(scored.doc.get("question_type", ""))),
        level if type(level := scored.doc.get("level")) is int else None,
        _cause(verdict) if scores and scores[1] > scores[0] else None,
        sha256(text)[:16],
        check,
    )


def _cause(verdict) -> str:
    published, flexible = verdict.published_span, verdict.flexible_span
    if verdict.published is None or not published:
        return "nothing"
    is_apart = flexible and (flexible[0] >= published[1] or flexible[1] <= published[0])
    return "elsewhere" if is_apart else "form"


class Standing(NamedTuple):
    """How a model stands in a benchmark."""

    status: str  # VERIFIED, UNKNOWN or FALSE
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together


class Entrant(NamedTuple):
    """A model on the board."""

    model: Model
    place: str  # its file or folder
    remarks: list[str]
    standings: dict[str, Standing]  # by benchmark

    @property
    def checks(self) -> dict[str, Check]:
        """What was checked of its tasks."""
        return {task: self.results(task)[0].check for task in self.model.tasks}

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name[:MOST_OF_A_NAME]

    def tally(self, task: str) -> Tally:
        """Return the figures of a task."""
        return self.model.tasks[task].tally

    def results(self, task: str) -> list[Result]:
        """Return what is kept of its answers to a task, in the same order for each model."""
        found = sorted(self.model.tasks[task].results.items())
        return [result for _, copies in found for result in copies]

    def answered(self, benchmark: Group) -> tuple[str, ...]:
        """Return which of a benchmark's tasks it has, in their order."""
        return tuple(task for task in benchmark.tasks if task in self.model.tasks)


def benchmarks_of(entrants: list[Entrant]) -> list[Group]:
    """Return the benchmarks of some models, the public ones first."""
    tasks = {task for one in entrants for task in one.model.tasks}
    found = benchmarks([task for task in tasks if scorer(task).headline])
    return sorted(found, key=lambda x: (not is_public(x), x.name))


def is_public(benchmark: Group) -> bool:
    """Whether the mean over benchmarks counts it."""
    return {*benchmark.tasks} <= {*leaf_tasks(PUBLIC)}


def title(name: str) -> str:
    """Return what the YAML file of a benchmark calls it."""
    return configuration(name)["metadata"].get("title", name.replace("_", " "))


def by_task(said: Iterable[tuple[str, str]], tasks: tuple[str, ...]) -> Iterator[str]:
    """Yield what is said of tasks, each once: takes (what, task). What is said of all of
    the tasks names none.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for what, task in said:
        found[what].append(task)
    for what, of in found.items():
        names = ", ".join(of) if len(of) < 3 else f"{len(of)} tasks"
        yield what if len(of) == len(tasks) else f"{what} ({names})"


def standing(one: Entrant, benchmark: Group) -> Standing:
    """Return how a model stands in a benchmark, of which it has a task."""
    tasks = one.answered(benchmark)
    said, marks, ran = [], [], []
    for task in tasks:
        check, tally = one.results(task)[0].check, one.tally(task)
        documents = check.documents
        told = [(documents.status, documents.told), check.prompts()]
        told += [(FALSE, fault) for fault in _faults(one, task)]
        said += [(status, what, task) for status, what in told if status != VERIFIED]
        if documents.status == VERIFIED and not documents.whole:
            marks.append((f"{tally.answered:,} documents", task))
        if check.few_shot:
            marks.append((f"{check.few_shot}-shot", task))
        if check.filter != "none":
            marks.append((f"filter {check.filter:.40}", task))
        ran.append((task, tally.fingerprint, check.few_shot, check.filter))
    if refused := sum(one.model.refused[task] for task in tasks):
        lines = f"{refused:,} line{'s' * (refused > 1)} refused"
        said += [(FALSE, lines, task) for task in tasks]
    status = next((x for x in (FALSE, UNKNOWN) if x in {y for y, *_ in said}), VERIFIED)
    reasons = [(what, task) for x, what, task in said if x == status]
    marks = [*by_task(marks, tasks)]
    if len(tasks) < len(benchmark.tasks):
        marks.append(f"{len(tasks)} of {len(benchmark.tasks)} tasks")
    return Standing(status, [*by_task(reasons, tasks)], marks, (status, *ran))


def _faults(one: Entrant, task: str) -> Iterator[str]:
    """Yield why a task of a model is not ranked, but for its documents and prompts."""
    run, tally = one.model.run, one.tally(task)
    if not scorer(task).asks_as(version := run.version(task)):
        yield f"run as version {version:.20}, not {scorer(task).version}"
    if lacking := tally.all.invalid["no_instruction"]:
        yield f"{lacking:,} prompts without the instruction"
    if surplus := tally.surplus:
        yield f"{surplus:,} answers beyond the benchmark's rows"
    if contradicted := one.results(task)[0].check.contradicted:
        yield f"{contradicted:,} filtered responses are not those of the model"


# --------------------------------------------------------------------------- scores


Values = tuple[list[float], list[str]]  # by document, and the clusters of these


def values(
    one: Entrant, those: list[Group], rule: str, level: int | None = None
) -> Values:
    """Return a value and the cluster of each document, in the same order for each model.

    The plain mean of the values is the score in a benchmark, or the mean of those in
    several; where a `level` is given, on documents of it alone.
    """
    parts, clusters = [], []
    for group in those:
        tasks = []
        for task in one.answered(group):
            results = [x for x in one.results(task) if level in (None, x.level)]
            tasks.append([x.scores[RULES.index(rule)] for x in results])
            clusters += [x.cluster for x in results]
        parts.append(linearised(tasks, group.by_size))
    return linearised(parts, by_size=False), clusters


def shares(one: Entrant, those: list[Group]) -> dict[str, float]:
    """Return what share of the mean of benchmarks each task of a model has."""
    found = {}
    for group in those:
        sizes = {x: one.tally(x).all.n for x in one.answered(group)}
        sizes = sizes if group.by_size else dict.fromkeys(sizes, 1)
        total = sum(sizes.values()) * len(those)
        found |= {task: size / total for task, size in sizes.items()}
    return found


def estimate(found: Values) -> dict:
    """Return a score with the ends of its interval, and room for its rank."""
    low, high = score_interval(*found)
    value = math.fsum(found[0]) / len(found[0])
    return {"value": value, "low": low, "high": high, "rank": None}


def lost(one: Entrant, benchmark: Group) -> dict[str, float]:
    """Return what the published score lacks beside the flexible one, by cause."""
    found = dict.fromkeys(CAUSES, 0.0)
    for task, share in shares(one, [benchmark]).items():
        results = one.results(task)
        for x in results:
            if x.cause:
                found[x.cause] += share * (x.scores[1] - x.scores[0]) / len(results)
    return found


# ---------------------------------------------------------------------------- ranks


def equal_answers(entrants: list[Entrant]) -> list[tuple[int, int, int, int]]:
    """Return the pairs of models of which nearly all answers are equal: their places, the
    number of equal answers, and of the documents that both answered.
    """
    texts = [{key: x.text for key, x in one.model.results()} for one in entrants]
    pairs = []
    for a, b in combinations(range(len(entrants)), 2):
        same = len(texts[a].items() & texts[b].items())
        both = len(texts[a].keys() & texts[b].keys())
        if both and same >= SAME * both:
            pairs.append((a, b, same, both))
    return pairs


def units(n: int, pairs: list[tuple[int, int, int, int]]) -> list[int]:
    """Return the unit of each of n models: those with equal answers are one."""
    unit = [*range(n)]
    for a, b, *_ in pairs:
        unit = [unit[a] if x == unit[b] else x for x in unit]
    return unit


Contest = dict[int, Values]  # of those that are ranked together, by their places


def rank(contests: list[Contest], unit: list[int]) -> Iterator[dict[int, list[int]]]:
    """Yield the first and the last rank of each member of each contest.

    Differences are paired by document; the p-values of all pairs of all contests are
    corrected by Holm's method. Models with equal answers count once, and nobody is ranked
    alone.
    """
    those = [{unit[x]: values for x, values in y.items()} for y in contests]
    pairs = [(n, *x) for n, found in enumerate(those) for x in combinations(found, 2)]
    tests = [difference(those[n][b][0], *those[n][a]) for n, a, b in pairs]
    p_values = holm(x.p_value for x in tests) if tests else []
    better, worse = Counter(), Counter()
    for (n, a, b), test, p_value in zip(pairs, tests, p_values):
        if p_value < 1 - CONFIDENCE:
            winner, loser = (a, b) if test.value > 0 else (b, a)
            better[n, loser] += 1
            worse[n, winner] += 1
    for n, contest in enumerate(contests):
        of = len(those[n])
        members = contest if of > 1 else ()
        yield {x: [1 + better[n, unit[x]], of - worse[n, unit[x]]] for x in members}


def rows(data: dict) -> Iterator[dict]:
    """Yield the figures of a board's data as rows, for CSV and JSON; see `data.py`."""
    for model in data["models"]:
        place = {"model": model["name"], "status": model["status"]}
        place["remarks"] = "; ".join(model["remarks"]) or None
        for scope, cells in model["scopes"].items():
            known = {x: cells[x] for x in ("n", "extracted", *INVALID)}
            for rule in RULES:
                told = cells[rule] or dict.fromkeys(("value", "low", "high", "rank"))
                ends = told["rank"] and "-".join(map(str, told["rank"]))
                known |= {rule: told["value"], f"{rule}_rank": ends}
                known |= {f"{rule}_{x}": told[x] for x in ("low", "high")}
            for metric, (mean, n) in cells["others"].items():
                known |= {metric: mean, f"{metric} n": n}
            yield place | {"scope": scope, "by": None, "value": None} | known
        for cells in model["parts"].values():
            if cells["by"]:
                names = ("by", "value", "n", *RULES, "extracted")
                yield place | {"scope": cells["task"]} | {x: cells[x] for x in names}
