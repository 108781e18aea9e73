"""How each model stands in each benchmark: its answers, status, remarks and ranks."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, combinations
from operator import itemgetter
from statistics import fmean
from typing import NamedTuple

from ..core.families import Group, configuration, scorer
from ..score.rows import RULES
from ..stats import (
    CONFIDENCE,
    Estimate,
    estimate_difference,
    estimate_score,
    holm,
    linearised,
)
from ..verdicts.answers import sha256
from ..verdicts.checks import FALSE, SEVERITY, UNKNOWN, VERIFIED
from ..verdicts.figures import Document
from ..verdicts.runs import Model


SHARED, LONG = 20, 40  # documents and mean length from which equal answers are remarked
# Why the published rule gives less than the flexible one, by what it read.
CAUSES = {
    "nothing": "the published rule finds no answer",
    "form": "it reads the answer, but not its form",
    "elsewhere": "it reads another part of the response",
}
ASPECTS = ("documents", "prompts", "responses")  # of a run that are checked
Score = Callable[[Document], float]
Parts = list[list[Document]]  # the documents of each task, or of each type of question


class Standing(NamedTuple):
    """How a model stands in a benchmark."""

    status: str  # one of SEVERITY
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together


class Entrant:
    """A model on the board."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.remarks = model, model.name, [*model.remarks]
        # By task, digest and number of the copy; in the same order for each model.
        self.documents = dict(sorted(model.documents(), key=itemgetter(0)))
        self.documents_by_task: dict[str, list[Document]] = defaultdict(list)
        for (task, *_), document in self.documents.items():
            self.documents_by_task[task].append(document)
        self.outcomes: dict[str, dict] = {}  # task -> what was checked
        for _, entry in model.entries():
            earlier = self.outcomes.get(task := entry["task"])
            self.outcomes[task] = _joined(earlier, entry["check"])
        self.standings: dict[str, Standing] = {}  # by benchmark
        self.figures: dict[str, dict] = {}  # as the head of `data` describes them

    @property
    def status(self) -> str:
        """The worst status that it has in a benchmark."""
        statuses = [standing.status for standing in self.standings.values()]
        return max(statuses or [UNKNOWN], key=SEVERITY.index)

    def answered(self, benchmark: Group) -> tuple[str, ...]:
        """Return which of a benchmark's tasks it has, in their order."""
        return tuple(task for task in benchmark.tasks if task in self.model.tasks)

    def parts(self, benchmark: Group) -> Parts:
        """Return its documents of each of these tasks."""
        return [self.documents_by_task[task] for task in self.answered(benchmark)]


def _joined(earlier: dict | None, outcome: dict) -> dict:
    """Return what was checked of the answers to a task in several files: the worst."""
    if earlier is None:
        return outcome
    joined = dict(earlier)
    for aspect in ASPECTS:
        checks = (earlier[aspect], outcome[aspect])
        joined[aspect] = max(checks, key=lambda check: SEVERITY.index(check["status"]))
    joined["documents"] = joined["documents"] | {"whole": False}
    has_one_frame = earlier["prompts"]["frame"] == outcome["prompts"]["frame"]
    if joined["prompts"]["status"] == VERIFIED and not has_one_frame:
        reason = "what stands around the prompts differs between files"
        joined["prompts"] = joined["prompts"] | {"status": UNKNOWN, "text": reason}
    joined["marks"] = [*dict.fromkeys(earlier["marks"] + outcome["marks"])]
    return joined


# -------------------------------------------------------------------------- standings


def title(name: str) -> str:
    """Return what the YAML file of a benchmark calls it."""
    return configuration(name)["metadata"].get("title", name.replace("_", " "))


def by_task(remarks: Iterable[tuple], tasks: tuple[str, ...]) -> Iterator[str]:
    """Yield each remark of (remark, task) once, with its tasks unless it has all."""
    tasks_of: dict[str, list[str]] = defaultdict(list)
    for remark, task in remarks:
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
        if few_shot:
            marks.append((f"{few_shot}-shot", task))
        if outcome["filter"] != "none":
            marks.append((f"filter {outcome['filter']:.40}", task))
        fingerprint = entrant.model.tasks[task].fingerprint
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
    outcome, tally = entrant.outcomes[task], entrant.model.tasks[task]
    for aspect in ASPECTS:
        yield outcome[aspect]["status"], outcome[aspect]["text"]
    if not scorer(task).asks_as(version := outcome["version"]):
        yield FALSE, f"run as version {version}, not {scorer(task).version}"
    if missing := tally.all.counts["no_instruction"]:
        yield FALSE, f"{missing:,} prompts without the instruction"
    if surplus := tally.surplus:
        yield FALSE, f"{surplus:,} answers beyond the benchmark's rows"


# ----------------------------------------------------------------------------- scores


def score(rule: str, document: Document) -> float:
    """Return what the answers to a document score by a rule, on average."""
    metric = scorer(document.row["task"]).headline[RULES.index(rule)]
    return document.means()[metric]


def loss(cause: str, document: Document) -> float:
    """Return what a cause takes from the published score of a document."""
    cost = score("flexible", document) - score("published", document)
    return cost if cost > 0 and _cause(document.row) == cause else 0.0


def _cause(row: dict) -> str:
    published, flexible = row["published_span"], row["flexible_span"]
    if row["published"] is None or not published:
        return "nothing"
    is_apart = flexible and (flexible[0] >= published[1] or flexible[1] <= published[0])
    return "elsewhere" if is_apart else "form"


def _values(parts: Parts, by_size: bool, score: Score) -> tuple[list, list]:
    """Return a value for each document, of which the mean is the score, and its cluster."""
    values = linearised([[*map(score, documents)] for documents in parts], by_size)
    return values, [document.cluster for documents in parts for document in documents]


def estimate(parts: Parts, by_size: bool, score: Score) -> Estimate:
    """Return the mean score of parts, or of all their documents, with its interval."""
    return estimate_score(*_values(parts, by_size, score))


# ------------------------------------------------------------------------------ ranks


def add_ranks(entrants: list[Entrant], scopes: dict[str, list[Group]]) -> dict:
    """Add ranks to figures, by each benchmark or mean over several.

    A rank is the range of the models that tests, paired by document and corrected by Holm's
    method, do not tell apart. Return how many models and tests the correction is for.
    """
    tests = []  # the ranges of two models, and how far the first is above the second
    ranges_by_figures = []
    for key, members in _together(entrants, scopes).items():
        for rule in RULES:
            benchmarks, score_by_rule = scopes[key[0]], partial(score, rule)
            values = [_scope_values(x, benchmarks, score_by_rule) for x in members]
            ranges = [[1, len(members)] for _ in members]
            ranges_by_figures.append((key, members, rule, ranges))
            for first, second in combinations(range(len(members)), 2):
                difference = estimate_difference(values[second][0], *values[first])
                tests.append((ranges[first], ranges[second], difference))
    p_values = holm(difference.p_value for *_, difference in tests)
    for (first, second, difference), p_value in zip(tests, p_values):
        if p_value < 1 - CONFIDENCE:
            better, worse = (first, second) if difference.value > 0 else (second, first)
            better[1] -= 1
            worse[0] += 1
    for key, members, rule, ranges in ranges_by_figures:
        rank_group = f"{members[0].status} #{sha256(str(key))[:6]}"
        for entrant, (first, last) in zip(members, ranges):
            cells = {"rank_of": len(members), "rank_group": rank_group}
            cells[f"{rule}_rank"] = f"{first}-{last}"
            entrant.figures[key[0]].update(cells)
    ranked = {entrant for _, members, *_ in ranges_by_figures for entrant in members}
    return {"ranked": len(ranked), "tests": len(tests)}


def _together(
    entrants: list[Entrant], scopes: dict[str, list[Group]]
) -> dict[tuple, list[Entrant]]:
    """Return the models that are ranked together: whose `Standing.together` are equal."""
    members: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        for name in (name for name in scopes if name in entrant.figures):
            standings = [entrant.standings[group.name] for group in scopes[name]]
            if FALSE not in (standing.status for standing in standings):
                key = (name, *(standing.together for standing in standings))
                members[key].append(entrant)
    # Nobody is ranked alone.
    return {key: entrants for key, entrants in members.items() if len(entrants) > 1}


def _scope_values(
    entrant: Entrant, benchmarks: list[Group], score: Score
) -> tuple[list, list]:
    """Return values and clusters of the documents of all benchmarks."""
    terms = [_values(entrant.parts(x), x.by_size, score) for x in benchmarks]
    values, clusters = zip(*terms)
    return linearised(values, by_size=False), [*chain(*clusters)]


# ---------------------------------------------------------------------------- remarks


def copies(entrants: list[Entrant]) -> Iterator[tuple[Entrant, Entrant, str]]:
    """Yield, with a remark, models whose shared answers are equal, many and long."""
    for pair in combinations(entrants, 2):
        first, second = (entrant.documents for entrant in pair)
        keys = first.keys() & second.keys()
        rows = [(first[key].row, second[key].row) for key in keys]
        is_same = len(rows) >= SHARED and all(
            (a["response"], a["length"]) == (b["response"], b["length"])
            for a, b in rows
        )
        if is_same and fmean(row["length"] for row, _ in rows) > LONG:
            yield *pair, f"all {len(rows):,} answers to shared documents are those of"


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
