"""The models on a board: what was checked of them, how they stand, and what is remarked."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, permutations
from operator import itemgetter
from statistics import fmean
from typing import NamedTuple

from ..core.families import Group, configuration, scorer
from ..verdicts.answers import sha256
from ..verdicts.checks import FALSE, SEVERITY, UNKNOWN, VERIFIED
from ..verdicts.figures import Document
from ..verdicts.runs import Model


SHARED, LONG = 20, 40  # documents and mean length from which equal answers are remarked
ASPECTS = ("documents", "prompts", "responses")  # of a run that are checked


class Standing(NamedTuple):
    """How a model stands in a benchmark."""

    status: str  # one of SEVERITY
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together


class Entrant:
    """A model on the board, with what the page shows of it."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.remarks = model, model.name, [*model.remarks]
        self.id = sha256(model.name)[:10]
        # By task, digest and number of the copy; in the same order for each model.
        self.documents = dict(sorted(model.documents(), key=itemgetter(0)))
        self.documents_by_task: dict[str, list[Document]] = defaultdict(list)
        for (task, *_), document in self.documents.items():
            self.documents_by_task[task].append(document)
        self.outcomes: dict[str, dict] = {}  # task -> what was checked
        for _, task_entry in model.entries():
            earlier_outcome = self.outcomes.get(task := task_entry["task"])
            self.outcomes[task] = _joined(earlier_outcome, task_entry["check"])
        self.standings: dict[str, Standing] = {}  # by benchmark
        self.reasons: list[str] = []  # of its status
        self.figures: dict[str, dict] = {}  # as the head of `data` describes them
        self.cite: list[str] = []

    @property
    def status(self) -> str:
        """The worst status that it has in a benchmark."""
        statuses = [standing.status for standing in self.standings.values()]
        return max(statuses or [UNKNOWN], key=SEVERITY.index)

    @property
    def frames(self) -> dict[str, str]:
        """What stands around the prompts -> the tasks where it does."""
        tasks_by_frame: dict[str, list[str]] = defaultdict(list)
        for task, outcome in self.outcomes.items():
            tasks_by_frame[outcome["prompts"]["frame"]].append(task)
        return {
            frame: ", ".join(tasks) for frame, tasks in tasks_by_frame.items() if frame
        }

    def card(self, name: str) -> dict[str, str]:
        """Return its run card, as claimed ("card") or as "checked".

        Of each cell it has the most frequent value, and the number of the others.
        """
        cards, merged_card = [outcome[name] for outcome in self.outcomes.values()], {}
        for cell_label in cards[0]:
            top_value_counts = Counter(card[cell_label] for card in cards).most_common(
                2
            )
            merged_card[cell_label], count_of_top_value = top_value_counts[0]
            if len(top_value_counts) > 1:
                merged_card[cell_label] += (
                    f" ({len(cards) - count_of_top_value} tasks: {top_value_counts[1][0]}, …)"
                )
        return merged_card

    def answered(self, benchmark: Group) -> tuple[str, ...]:
        """Return which of a benchmark's tasks it has, in their order."""
        return tuple(task for task in benchmark.tasks if task in self.model.tasks)


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
        frame_fault = "what stands around the prompts differs between files"
        joined["prompts"] = joined["prompts"] | {"status": UNKNOWN, "text": frame_fault}
    joined["marks"] = [*dict.fromkeys(earlier["marks"] + outcome["marks"])]
    return joined


def title(name: str) -> str:
    """Return what the YAML file of a benchmark calls it."""
    return configuration(name)["metadata"].get("title", name.replace("_", " "))


def _by_task(remarks: Iterable[tuple], tasks: Collection) -> Iterator[str]:
    """Yield each remark of (remark, task) once, with its tasks unless it has all."""
    tasks_by_remark: dict[str, list[str]] = defaultdict(list)
    for remark, task in remarks:
        tasks_by_remark[remark].append(task)
    for remark, task_names in tasks_by_remark.items():
        tasks_text = (
            ", ".join(task_names) if len(task_names) < 3 else f"{len(task_names)} tasks"
        )
        yield remark if len(task_names) == len(tasks) else f"{remark} ({tasks_text})"


def standing(entrant: Entrant, benchmark: Group) -> Standing:
    """Return how a model stands in its tasks of a benchmark: by (status, reason, task)."""
    tasks, statuses, task_marks, task_settings = entrant.answered(benchmark), [], [], []
    for task in tasks:
        outcome = entrant.outcomes[task]
        documents_check, shot_count = outcome["documents"], outcome["few_shot"]
        statuses += [(*status, task) for status in _statuses(entrant, task)]
        if documents_check["status"] == VERIFIED and not documents_check["whole"]:
            task_marks.append((documents_check["text"], task))
        if shot_count:
            task_marks.append((f"{shot_count}-shot", task))
        if outcome["filter"] != "none":
            task_marks.append((f"filter {outcome['filter']:.40}", task))
        fingerprint = entrant.model.tasks[task].fingerprint
        task_settings.append((task, fingerprint, shot_count, outcome["filter"]))
    if refused_count := sum(entrant.model.refused[task] for task in tasks):
        refusal_text = f"{refused_count:,} line{'s' * (refused_count > 1)} refused"
        statuses += [(FALSE, refusal_text, task) for task in tasks]
    worst_status = max((status for status, *_ in statuses), key=SEVERITY.index)
    reasons = [
        (reason, task) for status, reason, task in statuses if status == worst_status
    ]
    reasons = reasons if worst_status != VERIFIED else []
    marks = [*_by_task(task_marks, tasks)]
    if len(tasks) < len(benchmark.tasks):
        marks.append(f"{len(tasks)} of {len(benchmark.tasks)} tasks")
    return Standing(
        worst_status, [*_by_task(reasons, tasks)], marks, (worst_status, *task_settings)
    )


def _statuses(entrant: Entrant, task: str) -> Iterator[tuple[str, str]]:
    """Yield the statuses of a task of a model, each with its reason."""
    outcome, task_tally = entrant.outcomes[task], entrant.model.tasks[task]
    for aspect in ASPECTS:
        yield outcome[aspect]["status"], outcome[aspect]["text"]
    if not scorer(task).asks_as(run_version := outcome["version"]):
        yield FALSE, f"run as version {run_version}, not {scorer(task).version}"
    if uninstructed_count := task_tally.all.counts["no_instruction"]:
        yield FALSE, f"{uninstructed_count:,} prompts without the instruction"
    if surplus_count := task_tally.surplus:
        yield FALSE, f"{surplus_count:,} answers beyond the benchmark's rows"


def add_remarks(entrants: list[Entrant]) -> None:
    """Add what is remarked of models, the reasons of their status first."""
    look_by_name = {entrant.name: _look(entrant.name) for entrant in entrants}
    for entrant in entrants:
        name, entrant_look = entrant.name, look_by_name[entrant.name]
        lookalike_names = [
            compared_name
            for compared_name in look_by_name
            if look_by_name[compared_name] == entrant_look and compared_name != name
        ]
        if lookalike_names:
            lookalikes_text = ", ".join(lookalike_names)
            entrant.remarks.append(f"the name looks like {lookalikes_text:.200}")
        if odd_letters := sorted({letter for letter in name if not letter.isascii()}):
            letter_names = [
                unicodedata.name(letter, ascii(letter)) for letter in odd_letters
            ]
            letters_text = ", ".join(letter_names).lower()
            entrant.remarks.append(f"the name holds {letters_text:.200}")
    for *entrant_pair, remark in _copies(entrants):
        for entrant, other_of_pair in permutations(entrant_pair):
            # A copy that is not ranked costs nobody a remark.
            if other_of_pair.status != FALSE or entrant.status == FALSE:
                entrant.remarks.append(f"{remark} {other_of_pair.name}")
    for entrant in entrants:
        standing_items, outcomes = entrant.standings.items(), entrant.outcomes.items()
        entrant.reasons = [
            f"{title(benchmark_name)}: {'; '.join(standing.reasons)}"
            for benchmark_name, standing in standing_items
            if standing.reasons and standing.status == entrant.status
        ]
        marks = [mark for _, standing in standing_items for mark in standing.marks]
        marks_and_tasks = [
            (mark, task) for task, outcome in outcomes for mark in outcome["marks"]
        ]
        marks += _by_task(marks_and_tasks, entrant.outcomes)
        entrant.remarks = [*entrant.reasons, *marks, *entrant.remarks]


def _copies(entrants: list[Entrant]) -> Iterator[tuple[Entrant, Entrant, str]]:
    """Yield, with a remark, models whose shared answers are equal, many and long."""
    for pair in combinations(entrants, 2):
        first_documents, second_documents = (entrant.documents for entrant in pair)
        shared_keys = first_documents.keys() & second_documents.keys()
        row_pairs = [
            (first_documents[document_key].row, second_documents[document_key].row)
            for document_key in shared_keys
        ]
        has_same_answers = len(row_pairs) >= SHARED and all(
            (row_1["response"], row_1["length"]) == (row_2["response"], row_2["length"])
            for row_1, row_2 in row_pairs
        )
        if has_same_answers and fmean(row["length"] for row, _ in row_pairs) > LONG:
            remark = f"all {len(row_pairs):,} answers to shared documents are those of"
            yield *pair, remark


def _look(name: str) -> str:
    """Return what names that look alike have in common."""
    folded_name = unicodedata.normalize("NFKD", name).casefold()
    folded_name = folded_name.translate(str.maketrans("01|i", "olll"))
    return "".join(
        letter for letter in folded_name if letter.isascii() and letter.isalnum()
    )
