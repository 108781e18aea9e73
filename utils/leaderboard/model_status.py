"""The models on a board: what was checked of them, how they stand, and what is remarked."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from statistics import fmean
from typing import NamedTuple

from ..core import task_scorers
from ..core.cli import quoted
from ..core.format_tables import counted
from ..core.task_scorers import Group, scorer, title_of
from ..integrity.run_checks import FALSE, SEVERITY, UNKNOWN, VERIFIED
from ..verdicts.judge_answer import shorten
from ..verdicts.read_answers import sha256
from ..verdicts.runs_by_model import Model
from ..verdicts.tally import Document


# Equal answers are remarked from so many documents on, and above this mean length.
SHARED, LONG = 20, 40
_MOST_NAMES = 3  # of other models in a remark
_MOST_REMARKS, _LONGEST = 20, 500  # of a model, and characters of one
_LONGEST_PATH = 300  # characters, on a card
# Labels of a card that files of one run need not share.
_OF_A_FILE = ("Model", "Date", "Limit")
ASPECTS = ("documents", "prompts", "responses")  # of a run that are checked


class Standing(NamedTuple):
    """How a model stands in a benchmark."""

    tasks: tuple[str, ...]  # of the benchmark that it answered
    status: str  # one of SEVERITY
    reasons: list[str]  # of a status that is not VERIFIED
    marks: list[str]  # why it is not ranked with those that ran it as it is
    together: tuple  # equal for models that are ranked together
    documents: str  # one of SEVERITY: whether its documents are the benchmark's


class Entrant:
    """A model on the board, with what the page shows of it."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.remarks = model, model.name, [*model.remarks]
        self.id = sha256(model.name)[:20]
        self.is_named = model.is_named  # by the operator, not by its files
        # Digest and length of each response, by task, digest and number of the copy.
        self.answers: dict[tuple, tuple[str, int]] = {}
        self.documents_by_task: dict[str, list[Document]] = defaultdict(list)
        for doc_key, document in sorted(model.documents(), key=itemgetter(0)):
            last_answer = document.answers[-1]
            self.answers[doc_key] = last_answer.response, last_answer.length
            self.documents_by_task[doc_key[0]].append(document)
        self.task_checks: dict[str, dict] = {}  # task -> what was checked
        for _, task_entry in model.entries:
            earlier_check = self.task_checks.get(task := task_entry["task"])
            self.task_checks[task] = _joined(earlier_check, task_entry["check"], task)
        self.standings: dict[str, Standing] = {}  # by benchmark
        self.in_mean: list[Group] = []  # public ones, of which it answered all tasks
        # As the head of `board_contents` describes them.
        self.figures: dict[str, dict] = {}
        # Of these the rows of the mean and of the benchmarks in which it stands. Others may
        # have the name of a benchmark, too: that of a lone task is the task's.
        self.benchmark_rows: dict[str, dict] = {}
        self.cite: list[str] = []

    @property
    def status(self) -> str:
        """The worst status that it has in a benchmark."""
        statuses = [standing.status for standing in self.standings.values()]
        return max(statuses or [UNKNOWN], key=SEVERITY.index)

    def card(self) -> dict[str, str]:
        """Return its run card: label -> value, first as results claim, then as checked."""
        task_values_by_label: dict[str, list[tuple]] = defaultdict(list)
        for task, task_check in self.task_checks.items():
            task_card = task_check["card"] | task_check["checked"]
            prompts_check = task_check["prompts"]
            frame_label = (
                f"Around each prompt ({prompts_check['frame_size']:,} characters)"
            )
            task_card[frame_label] = prompts_check["frame"]
            for label in filter(task_card.get, task_card):
                task_values_by_label[label].append((task_card[label], task))
        value_by_label = {
            label: "; ".join(_by_task(task_values_by_label[label], self.task_checks))
            for label in task_values_by_label
        }
        named_by = (
            "the maker of the board" if self.is_named else "its files or its path"
        )
        value_by_label["Named by"] = named_by
        value_by_label["File"] = f"{shorten(self.model.source.place, _LONGEST_PATH)}"
        value_by_label["Remarks"] = "; ".join(self.remarks) or "none"
        return value_by_label | {"Cite": " ".join(self.cite)}

    def answered(self, benchmark: Group) -> tuple[str, ...]:
        """Return by which of a benchmark's tasks it stands, in their order."""
        return tuple(task for task in benchmark.tasks if task in self.tasks_to_show)

    @cached_property
    def tasks_to_show(self) -> set[str]:
        """The scored tasks that it stands by: not those of twins, unless it has no others.

        So no run of twins alone makes twins a benchmark of those that have others.
        """
        scored_tasks = {
            task for task in self.documents_by_task if scorer(task).headline
        }
        twins = {task for task in scored_tasks if task_scorers.transformations(task)}
        return scored_tasks - twins or twins


def _joined(earlier: dict | None, task_check: dict, task: str) -> dict:
    """Return what was checked of the answers to a task in several files: the worst."""
    if earlier is None:
        return task_check
    both, joined = (earlier, task_check), dict(earlier)
    for aspect in ASPECTS:
        checks = [check[aspect] for check in both]
        joined[aspect] = max(checks, key=lambda check: SEVERITY.index(check["status"]))
    joined["documents"] = joined["documents"] | {"whole": False}
    if joined["documents"]["status"] == VERIFIED:
        joined["documents"]["text"] = "documents in several files"
    if joined["prompts"]["status"] == VERIFIED and (fault := _difference(*both)):
        joined["prompts"] = joined["prompts"] | {"status": UNKNOWN, "text": fault}
    for version in filter(None, (check["version"] for check in both)):
        if not scorer(task).has_prompts_of(version):
            joined["version"] = version
    joined["marks"] = [*dict.fromkeys(earlier["marks"] + task_check["marks"])]
    return joined


def _difference(first: dict, second: dict) -> str | None:
    """Return how two files of one run were not run alike, as far as it shows."""
    if first["prompts"]["frame_digest"] != second["prompts"]["frame_digest"]:
        return "what stands around the prompts differs between files"
    labels = [label for label in first["card"] if label not in _OF_A_FILE]
    unlike = [
        label for label in labels if first["card"][label] != second["card"][label]
    ]
    if unlike or first["settings"] != second["settings"]:
        named = ", ".join(unlike or ["as logged"]).lower()
        return f"the settings differ between files ({named})"
    return None


def _by_task(remarks: list[tuple[str, str]], tasks: Collection) -> Iterator[str]:
    """Yield each remark of (remark, task) once, with its tasks unless it has all."""
    tasks_by_remark: dict[str, list[str]] = defaultdict(list)
    for remark, task in remarks:
        tasks_by_remark[remark].append(task)
    for remark, remark_tasks in tasks_by_remark.items():
        tasks_text = ", ".join(remark_tasks)
        if len(remark_tasks) > 2:
            tasks_text = f"{len(remark_tasks)} tasks"
        yield remark if len(remark_tasks) == len(tasks) else f"{remark} ({tasks_text})"


def standing(entrant: Entrant, benchmark: Group) -> Standing:
    """Return how a model stands in a benchmark: as in its worst task, and why."""
    tasks = entrant.answered(benchmark)
    statuses = [*chain(*(_statuses(entrant, task) for task in tasks))]
    if refused_count := sum(entrant.model.refused[task] for task in tasks):
        refusal_text = f"{counted(refused_count, 'line')} refused"
        statuses += [(FALSE, refusal_text, task) for task in tasks]
    worst_status = max(map(itemgetter(0), statuses), key=SEVERITY.index)
    reasons_and_tasks = [
        (reason, task)
        for task_status, reason, task in statuses
        if task_status == worst_status and task_status != VERIFIED
    ]
    marks_and_tasks, ranking_key = [], [worst_status]
    for task in tasks:
        task_check, tally = entrant.task_checks[task], entrant.model.tasks[task]
        few_shot_and_filter = task_check["few_shot"], task_check["filter"]
        addition = task_check["prompts"]["addition"]
        ranking_key.append((task, tally.fingerprint, *few_shot_and_filter, addition))
        marks_and_tasks += [(mark, task) for mark in _marks(task_check)]
    marks = [*_by_task(marks_and_tasks, tasks)]
    if len(tasks) < len(benchmark.tasks):
        marks.append(f"{len(tasks)} of {len(benchmark.tasks)} tasks")
    reasons = [*_by_task(reasons_and_tasks, tasks)]
    document_statuses = [
        entrant.task_checks[task]["documents"]["status"] for task in tasks
    ]
    documents_status = max(document_statuses, key=SEVERITY.index)
    together = tuple(ranking_key)
    return Standing(tasks, worst_status, reasons, marks, together, documents_status)


def _statuses(entrant: Entrant, task: str) -> Iterator[tuple[str, str, str]]:
    """Yield the statuses of a task of a model, each with its reason and the task."""
    task_check, tally = entrant.task_checks[task], entrant.model.tasks[task]
    for aspect in ASPECTS:
        yield task_check[aspect]["status"], task_check[aspect]["text"], task
    run_version = task_check["version"]
    if run_version is not None and not scorer(task).has_prompts_of(run_version):
        yield FALSE, f"run as version {run_version}, not {scorer(task).version}", task
    if uninstructed_count := tally.all.counts["no_instruction"]:
        yield (
            FALSE,
            f"{counted(uninstructed_count, 'prompt')} without the instruction",
            task,
        )
    if tally.surplus:
        yield (
            FALSE,
            f"{counted(tally.surplus, 'answer')} beyond the benchmark's rows",
            task,
        )


def _marks(task_check: dict) -> Iterator[str]:
    """Yield how a task was run otherwise than it is by itself, by what was checked."""
    documents_check = task_check["documents"]
    if documents_check["status"] == VERIFIED and not documents_check["whole"]:
        yield documents_check["text"]
    if task_check["few_shot"]:
        yield f"{task_check['few_shot']}-shot"
    if task_check["filter"] != "none":
        yield f"filter {quoted(task_check['filter'][:40])}"


def standing_in(benchmark: Group, entrants: list[Entrant]) -> list[Entrant]:
    """Return the models that stand in a benchmark, in their order."""
    return [entrant for entrant in entrants if benchmark.name in entrant.standings]


def fullest(benchmark: Group, entrants: list[Entrant]) -> Entrant:
    """Return the model, of those that stand in a benchmark, that shows most of it.

    That is one with the benchmark's documents, however it was asked, which ran it as it is if
    one did, else with those documents that have most answers of all models. Rows that are
    made from a seed have no end: beyond as many as the tasks have, they count for nothing.
    Of documents that nobody could compare, it is those of most models. Who is not ranked
    describes what nobody else ran.
    """
    name = benchmark.name
    alike = Counter(entrant.standings[name].together for entrant in entrants)
    most_rows = sum(map(_row_limit, benchmark.tasks))

    def fullness(entrant: Entrant) -> tuple[bool, int, bool, float, int, int, int]:
        benchmark_standing = entrant.standings[name]
        is_verified = benchmark_standing.documents == VERIFIED
        model_count = alike[benchmark_standing.together]
        document_count = entrant.benchmark_rows[name]["n"]
        return (
            benchmark_standing.status != FALSE,
            -SEVERITY.index(benchmark_standing.documents),
            is_verified and not benchmark_standing.marks,
            model_count * min(document_count, most_rows) if is_verified else 0,
            -SEVERITY.index(benchmark_standing.status),
            model_count,
            document_count,
        )

    return max(entrants, key=fullness)


def _row_limit(task: str) -> float:
    """Return how many rows a task has that makes them from a seed; others have an end."""
    is_generated = task_scorers.is_generated(task)
    metadata = task_scorers.configuration(task)["metadata"]
    return metadata.get("gen_rows", math.inf) if is_generated else math.inf


def describing(benchmark: Group, entrants: list[Entrant]) -> list[Entrant]:
    """Return the models that tell which parts a benchmark has, the fullest one first.

    They are those with its documents. Documents of others could have any part, so where
    nobody's are the benchmark's, it is the fullest one alone.
    """
    name = benchmark.name
    first = fullest(benchmark, entrants)
    if first.standings[name].documents != VERIFIED:
        return [first]
    others = [
        entrant
        for entrant in entrants
        if entrant is not first
        and entrant.standings[name].documents == VERIFIED
        and entrant.standings[name].status != FALSE
    ]
    return [first, *others]


def add_remarks(entrants: list[Entrant]) -> None:
    """Add what is remarked of models, the reasons of their status first."""
    lookalikes, copies = _find_lookalikes(entrants), _find_copies(entrants)
    for entrant in entrants:
        reasons = [
            f"{title_of(benchmark_name).replace('_', ' ')}: {'; '.join(standing.reasons)}"
            for benchmark_name, standing in entrant.standings.items()
            if standing.reasons and standing.status == entrant.status
        ]
        marks = [*chain(*(standing.marks for standing in entrant.standings.values()))]
        marks_and_tasks = [
            (mark, task)
            for task, task_check in entrant.task_checks.items()
            for mark in task_check["marks"]
        ]
        marks += _by_task(marks_and_tasks, entrant.task_checks)
        remarks_of_others = []
        if others := lookalikes[entrant]:
            remarks_of_others.append(f"the name looks like {_names_of(others)}")
        remarks_of_others += _odd_letters(entrant.model.given_name)
        for answer_count, others in copies[entrant].items():
            answers_text = f"all {answer_count:,} answers to shared documents"
            remarks_of_others.append(f"{answers_text} are those of {_names_of(others)}")
        remarks = [*reasons, *marks, *entrant.remarks, *remarks_of_others]
        entrant.remarks = [
            f"{remark:.{_LONGEST}}" for remark in remarks[:_MOST_REMARKS]
        ]


def _names_of(entrants: list[Entrant]) -> str:
    """Return the names of models as a remark on another model shows them."""
    names = [quoted(entrant.name) for entrant in entrants[:_MOST_NAMES]]
    if hidden_count := len(entrants) - len(names):
        names.append(f"{hidden_count:,} more")
    return ", ".join(names)


def _odd_letters(name: str) -> Iterator[str]:
    """Yield which letters of a name are not of ASCII, if some are."""
    if odd_letters := sorted({char for char in name if not char.isascii()}):
        letter_names = (unicodedata.name(char, ascii(char)) for char in odd_letters)
        yield f"the name holds {', '.join(letter_names).lower():.200}"


def _find_lookalikes(entrants: list[Entrant]) -> dict[Entrant, list[Entrant]]:
    """Return the other models that each one's name looks like, by the names as given.

    That runs give the very same name is a remark of their own.
    """
    entrants_by_look: dict[str, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        entrants_by_look[_look(entrant.model.given_name)].append(entrant)
    return {
        entrant: [
            other
            for other in entrants_of_look
            if other.model.given_name != entrant.model.given_name
        ]
        for entrants_of_look in entrants_by_look.values()
        for entrant in entrants_of_look
    }


def _find_copies(entrants: list[Entrant]) -> dict[Entrant, dict[int, list[Entrant]]]:
    """Return for each model the others with the same answers, if many and long.

    They are listed by the number of shared documents.
    """
    positions = {entrant: position for position, entrant in enumerate(entrants)}
    # Models with the same answers have the same number: of many copies, one is compared.
    numbers: dict[frozenset, int] = {}
    number_of = {
        entrant: numbers.setdefault(frozenset(entrant.answers.items()), len(numbers))
        for entrant in entrants
    }
    count_by_numbers: dict[tuple[int, int], int] = {}
    candidates = _find_candidates(entrants)
    copies: dict[Entrant, dict[int, list[Entrant]]] = {}
    for entrant in entrants:
        copies[entrant] = defaultdict(list)
        for other in sorted(candidates[entrant], key=lambda x: positions[x]):
            pair = number_of[entrant], number_of[other]
            if pair not in count_by_numbers:
                count_by_numbers[pair] = _count_copied(entrant, other)
            # A copy that is not ranked costs nobody a remark.
            is_remarked = other.status != FALSE or entrant.status == FALSE
            if is_remarked and count_by_numbers[pair]:
                copies[entrant][count_by_numbers[pair]].append(other)
    return copies


def _find_candidates(entrants: list[Entrant]) -> dict[Entrant, set[Entrant]]:
    """Return for each model the others that may have the same answers.

    Where one model answered all documents of another, the other's longest answer is in both.
    """
    entrants_by_longest: dict[tuple, list[Entrant]] = defaultdict(list)
    for entrant in entrants:
        for longest in sorted(entrant.answers.items(), key=_length_of)[-1:]:
            if _length_of(longest) > LONG:
                entrants_by_longest[longest].append(entrant)
    candidates: dict[Entrant, set[Entrant]] = defaultdict(set)
    for entrant in entrants:
        for longest in entrant.answers.items() & entrants_by_longest.keys():
            for other in entrants_by_longest[longest]:
                if other is not entrant:
                    candidates[entrant].add(other)
                    candidates[other].add(entrant)
    return candidates


def _length_of(answer: tuple[tuple, tuple[str, int]]) -> int:
    """Return the characters of an answer, of an item of `Entrant.answers`."""
    _, (_, length) = answer
    return length


def _count_copied(entrant: Entrant, other: Entrant) -> int:
    """Return how many documents two models share; 0 unless their answers are copies."""
    shared_keys = entrant.answers.keys() & other.answers.keys()
    equal_answers = entrant.answers.items() & other.answers.items()
    if SHARED <= len(shared_keys) == len(equal_answers):
        if fmean(length for _, (_, length) in equal_answers) > LONG:
            return len(shared_keys)
    return 0


@cache
def _look(name: str) -> str:
    """Return what names that look alike have in common."""
    folded_name = unicodedata.normalize("NFKD", name).casefold()
    folded_name = folded_name.translate(str.maketrans("01|i", "olll"))
    return "".join(char for char in folded_name if char.isascii() and char.isalnum())
