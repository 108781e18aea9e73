"""How each model stands in each benchmark: its answers, status, scores and copies."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from ..core.families import Group, configuration, scorer
from ..runs.answers import sha256
from ..runs.models import Model
from ..runs.scoring import Scored
from ..runs.several import given
from ..runs.tally import Tally
from ..stats import Estimate, combine, estimate_score, linearised
from .checks import FALSE, SEVERITY, VERIFIED, Check


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
    read: str  # digest of the value that was read, and of both scores
    check: Check  # which has seen the answer


def result(scored: Scored, place: int, check: Check) -> Result:
    """Return what a board keeps of an answer."""
    task, verdict = scored.answer.task, scored.verdict
    headline = scorer(task).headline
    scores = headline and tuple(verdict.scores[x] for x in headline)
    text = "".join(filter(str.isalnum, scored.answer.response.casefold()))
    read = (given(scored)[1:], scores) if scores else text
    return Result(
        scores,
        verdict.reason,
        sys.intern(sha256(scorer(task).utils.cluster(scored.doc))),
        place,
        sys.intern(str(scored.doc.get("question_type", ""))),
        level if type(level := scored.doc.get("level")) is int else None,
        _cause(verdict) if scores and scores[1] > scores[0] else None,
        sha256(text)[:16],
        sha256(f"{read}")[:16],
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

    status: str  # one of SEVERITY
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together


class Entrant(NamedTuple):
    """A model on the board."""

    model: Model
    name: str
    place: str  # its file or folder
    remarks: list[str]
    standings: dict[str, Standing]  # by benchmark

    @property
    def checks(self) -> dict[str, Check]:
        """What was checked of its tasks."""
        return {task: self.results(task)[0].check for task in self.model.tasks}

    @property
    def status(self) -> str:
        """The worst status that it has in a benchmark."""
        told = [x.status for x in self.standings.values()] or SEVERITY[1:2]
        return max(told, key=SEVERITY.index)

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
    tasks, checks = one.answered(benchmark), one.checks
    said, marks, ran = [], [], []
    for task in tasks:
        check, shots = checks[task], checks[task].settings.few_shot
        said += [(status, what, task) for status, what in _said(one, task, check)]
        is_part = check.documents.status == VERIFIED and not check.documents.whole
        told = [(is_part, f"{one.tally(task).answered:,} documents")]
        told += [(shots, f"{shots}-shot")]
        told += [(check.filter != "none", f"filter {check.filter:.40}")]
        marks += [(what, task) for is_so, what in told if is_so]
        ran.append((task, one.tally(task).fingerprint, shots, check.filter))
    if refused := sum(one.model.refused[task] for task in tasks):
        lines = f"{refused:,} line{'s' * (refused > 1)} refused"
        said += [(FALSE, lines, task) for task in tasks]
    status = max((x for x, *_ in said), key=SEVERITY.index)
    reasons = [(what, task) for x, what, task in said if x == status != VERIFIED]
    marks = [*by_task(marks, tasks)]
    if len(tasks) < len(benchmark.tasks):
        marks.append(f"{len(tasks)} of {len(benchmark.tasks)} tasks")
    return Standing(status, [*by_task(reasons, tasks)], marks, (status, *ran))


def _said(one: Entrant, task: str, check: Check) -> Iterator[tuple[str, str]]:
    """Yield what there is to say of a task of a model: status and reason."""
    run, tally = one.model.run, one.tally(task)
    yield check.documents[:2]
    yield check.prompts()
    if not scorer(task).asks_as(version := run.version(task)):
        yield FALSE, f"run as version {version:.20}, not {scorer(task).version}"
    if lacking := tally.all.invalid["no_instruction"]:
        yield FALSE, f"{lacking:,} prompts without the instruction"
    if surplus := tally.surplus:
        yield FALSE, f"{surplus:,} answers beyond the benchmark's rows"
    if contradicted := check.found["contradicted"]:
        yield FALSE, f"{contradicted:,} filtered responses are not those of the model"


Score = Callable[[Result], float]
Values = tuple[list[float], list[str]]  # by document, and the clusters of these
RULES: dict[str, Score] = {
    "published": lambda x: x.scores[0],
    "flexible": lambda x: x.scores[1],
}


def values(
    one: Entrant, those: list[Group], of: Score, level: int | None = None
) -> Values:
    """Return a value and the cluster of each document, in the same order for each model.

    The plain mean of the values is the score in a benchmark, or the mean of those in
    several; where a `level` is given, on documents of it alone.
    """
    parts, clusters = [], []
    for group in those:
        tasks = [one.results(task) for task in one.answered(group)]
        tasks = [[x for x in y if level in (None, x.level)] for y in tasks]
        parts.append(linearised([[*map(of, x)] for x in tasks], group.by_size))
        clusters += [x.cluster for results in tasks for x in results]
    return linearised(parts, by_size=False), clusters


def estimate(one: Entrant, those: list[Group], *of: object) -> Estimate:
    """Return the mean over benchmarks of the means of `values`, with its interval."""
    parts = [estimate_score(*values(one, [group], *of)) for group in those]
    return combine(parts, [1 / len(parts)] * len(parts))


def copies(entrants: list[Entrant]) -> Iterator[tuple[Entrant, Entrant, str]]:
    """Yield the pairs of models that count once, and what there is to say of them.

    Nearly all of their answers are equal, or in other words all values that were read in
    them, and all verdicts on these.
    """
    found = [
        {key: (x.text, x.read) for key, x in one.model.results()} for one in entrants
    ]
    for (a, x), (b, y) in combinations(zip(entrants, found), 2):
        both = x.keys() & y.keys()
        texts, reads = (sum(x[k][n] == y[k][n] for k in both) for n in (0, 1))
        if both and texts >= SAME * len(both):
            yield a, b, f"{texts:,} of {len(both):,} answers are those of"
        elif x.keys() == y.keys() == both and reads == len(both):
            yield a, b, f"all {reads:,} answers are read as those of"
