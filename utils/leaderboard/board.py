"""How each model stands in each benchmark: its answers, status, scores and remarks."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from ..core.families import Group, configuration, scorer
from ..stats import combine, estimate_score, linearised
from ..verdicts.checks import FALSE, SEVERITY, UNKNOWN, VERIFIED
from ..verdicts.figures import Document, Tally
from ..verdicts.runs import Model


# Of a page, and of the scripts with its documents: by these, a file is ours.
FIRST_LINES = {
    "html": "<!doctype html><!-- temporal-eval leaderboard -->",
    "js": "// temporal-eval leaderboard",
}
SHARED, LONG = 20, 40  # documents and mean length from which equal answers are remarked
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
    kind: str  # of question
    level: int | None  # of a fresh document
    cause: str | None  # one of CAUSES, where the flexible score is higher
    response: str  # digest
    length: int  # characters of the response


def result(document: Document) -> Result:
    """Return what a board keeps of a document, of whose answers the last is shown."""
    row, means = document.row, document.means()
    headline, level = scorer(row["task"]).headline, row["level"] or ""
    scores = headline and tuple(means[name] for name in headline)
    return Result(
        scores,
        row["reason"],
        row["cluster"],
        row["question_type"] or "",
        int(level) if level.isdecimal() else None,
        _cause(row) if scores and scores[1] > scores[0] else None,
        row["response"],
        row["length"],
    )


def _cause(row: dict) -> str:
    published, flexible = row["published_span"], row["flexible_span"]
    if row["published"] is None or not published:
        return "nothing"
    is_apart = flexible and (flexible[0] >= published[1] or flexible[1] <= published[0])
    return "elsewhere" if is_apart else "form"


class Standing(NamedTuple):
    """How a model stands in a benchmark."""

    status: str  # one of SEVERITY
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together


Key = tuple[str, str, int]  # task, digest of a document, and number of the copy


class Entrant(NamedTuple):
    """A model on the board."""

    model: Model
    remarks: list[str]
    outcomes: dict[str, dict]  # what was checked of its tasks
    results_by_key: dict[Key, Result]  # in the same order for each model
    standings: dict[str, Standing]  # by benchmark

    @classmethod
    def of(cls, model: Model) -> Entrant:
        """Return a model as it is before it is compared with others."""
        results = {key: result(document) for key, document in model.documents()}
        outcomes: dict[str, dict] = {}
        for _, entry in model.entries():
            earlier = outcomes.get(task := entry["task"])
            outcomes[task] = _joined(earlier, entry["check"])
        return cls(model, [*model.remarks], outcomes, dict(sorted(results.items())), {})

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def status(self) -> str:
        """The worst status that it has in a benchmark."""
        statuses = [standing.status for standing in self.standings.values()]
        return max(statuses or [UNKNOWN], key=SEVERITY.index)

    def tally(self, task: str) -> Tally:
        """Return the figures of a task."""
        return self.model.tasks[task]

    def results(self, task: str) -> list[Result]:
        """Return what is kept of its answers to a task, in the same order for each model."""
        return [answer for key, answer in self.results_by_key.items() if key[0] == task]

    def answered(self, benchmark: Group) -> tuple[str, ...]:
        """Return which of a benchmark's tasks it has, in their order."""
        return tuple(task for task in benchmark.tasks if task in self.model.tasks)


def _joined(entry: dict | None, other: dict) -> dict:
    """Return what was checked of the answers to a task in several files: the worst."""
    if entry is None:
        return other
    joined = dict(entry)
    for aspect in ("documents", "prompts", "responses"):
        joined[aspect] = max(entry[aspect], other[aspect], key=_severity)
    joined["documents"] = joined["documents"] | {"whole": False}
    if entry["prompts"]["frame"] != other["prompts"]["frame"]:
        reason = "what stands around the prompts differs between files"
        if joined["prompts"]["status"] == VERIFIED:
            joined["prompts"] = joined["prompts"] | {"status": UNKNOWN, "text": reason}
    joined["marks"] = [*dict.fromkeys(entry["marks"] + other["marks"])]
    return joined


def _severity(outcome: dict) -> int:
    return SEVERITY.index(outcome["status"])


def title(name: str) -> str:
    """Return what the YAML file of a benchmark calls it."""
    return configuration(name)["metadata"].get("title", name.replace("_", " "))


def by_task(pairs: Iterable, tasks: tuple[str, ...]) -> Iterator[str]:
    """Yield each remark of (remark, task) pairs once, with its tasks unless it has all."""
    tasks_of: dict[str, list[str]] = defaultdict(list)
    for remark, task in pairs:
        tasks_of[remark].append(task)
    for remark, names in tasks_of.items():
        listing = ", ".join(names) if len(names) < 3 else f"{len(names)} tasks"
        yield remark if len(names) == len(tasks) else f"{remark} ({listing})"


def standing(entrant: Entrant, benchmark: Group) -> Standing:
    """Return how a model stands in a benchmark, of which it has a task."""
    tasks, statuses, marks, task_runs = entrant.answered(benchmark), [], [], []
    for task in tasks:
        outcome = entrant.outcomes[task]
        documents, few_shot = outcome["documents"], outcome["few_shot"]
        statuses += [(*status, task) for status in _statuses(entrant, task)]
        if documents["status"] == VERIFIED and not documents["whole"]:
            marks.append((documents["text"], task))
        marks += [(f"{few_shot}-shot", task)] * bool(few_shot)
        if outcome["filter"] != "none":
            marks.append((f"filter {outcome['filter']:.40}", task))
        fingerprint = entrant.tally(task).fingerprint
        task_runs.append((task, fingerprint, few_shot, outcome["filter"]))
    if refused := sum(entrant.model.refused[task] for task in tasks):
        refusal = f"{refused:,} line{'s' * (refused > 1)} refused"
        statuses += [(FALSE, refusal, task) for task in tasks]
    worst = max((status for status, *_ in statuses), key=SEVERITY.index)
    reasons = [(text, task) for status, text, task in statuses if status == worst]
    reasons = reasons if worst != VERIFIED else []
    marks = [*by_task(marks, tasks)]
    if len(tasks) < len(benchmark.tasks):
        marks.append(f"{len(tasks)} of {len(benchmark.tasks)} tasks")
    return Standing(worst, [*by_task(reasons, tasks)], marks, (worst, *task_runs))


def _statuses(entrant: Entrant, task: str) -> Iterator[tuple[str, str]]:
    """Yield the statuses of a task of a model, each with its reason."""
    outcome, tally = entrant.outcomes[task], entrant.tally(task)
    for aspect in ("documents", "prompts", "responses"):
        yield outcome[aspect]["status"], outcome[aspect]["text"]
    if not scorer(task).asks_as(version := outcome["version"]):
        yield FALSE, f"run as version {version}, not {scorer(task).version}"
    if missing := tally.all.counts["no_instruction"]:
        yield FALSE, f"{missing:,} prompts without the instruction"
    if surplus := tally.surplus:
        yield FALSE, f"{surplus:,} answers beyond the benchmark's rows"


Score = Callable[[Result], float]
Values = tuple[list[float], list[str]]  # by document, and the clusters of these
RULES: dict[str, Score] = {
    "published": lambda x: x.scores[0],
    "flexible": lambda x: x.scores[1],
}


def values(
    entrant: Entrant, groups: list[Group], score: Score, level: int | None = None
) -> Values:
    """Return a value and the cluster of each document, in the same order for each model.

    The plain mean of the values is the mean score over the groups, of one level if given.
    """
    group_values, clusters = [], []
    for group in groups:
        scores = []
        for task in entrant.answered(group):
            answers = entrant.results(task)
            if level is not None:
                answers = [answer for answer in answers if answer.level == level]
            scores.append([*map(score, answers)])
            clusters += [answer.cluster for answer in answers]
        group_values.append(linearised(scores, group.by_size))
    return linearised(group_values, by_size=False), clusters


def estimate(
    entrant: Entrant, groups: list[Group], *score: object
) -> tuple[float, float, float]:
    """Return the mean over benchmarks of the means of `values`, with the ends of its interval."""
    estimates = [estimate_score(*values(entrant, [group], *score)) for group in groups]
    return combine(estimates, [1 / len(estimates)] * len(estimates))


def copies(entrants: list[Entrant]) -> Iterator[tuple[Entrant, Entrant, str]]:
    """Yield, with a remark, models whose shared answers are equal, many and long."""
    for pair in combinations(entrants, 2):
        first, second = (entrant.results_by_key for entrant in pair)
        shared = [(first[key], second[key]) for key in first.keys() & second.keys()]
        is_same = len(shared) >= SHARED and all(
            (a.response, a.length) == (b.response, b.length) for a, b in shared
        )
        if is_same and fmean(answer.length for answer, _ in shared) > LONG:
            yield *pair, f"all {len(shared):,} answers to shared documents are those of"


def name_remarks(entrants: list[Entrant]) -> Iterator[tuple[Entrant, str]]:
    """Yield the models whose names look like another's or hold odd letters."""
    looks = {entrant.name: _look(entrant.name) for entrant in entrants}
    for entrant in entrants:
        name = entrant.name
        lookalikes = [other for other in looks if looks[other] == looks[name]]
        lookalikes.remove(name)
        if lookalikes:
            yield entrant, f"the name looks like {', '.join(lookalikes):.200}"
        if odd_letters := sorted({letter for letter in name if not letter.isascii()}):
            names = [unicodedata.name(letter, ascii(letter)) for letter in odd_letters]
            yield entrant, f"the name holds {', '.join(names).lower():.200}"


def _look(name: str) -> str:
    """Return what names that look alike have in common."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    folded = folded.translate(str.maketrans("01|i", "olll"))
    return "".join(letter for letter in folded if letter.isascii() and letter.isalnum())
