"""From recorded answers to verdicts, and from verdicts to the figures of a run.

What an answer scores, and why, comes from the family's `explain` alone.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..packs import disputed
from .answers import Answer, document_text, sha256
from ..core.documents import documents, fault
from ..core.errors import NOT_A_DOCUMENT, LineError
from ..core.families import FOLDER, scorer
from .repeats import Answered


if TYPE_CHECKING:
    from .find import Made


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = {
    "no_instruction": "the prompt lacks the format instruction: the chat template dropped"
    " the system message",
    "cut_off": "the token limit ended the response",
}
# Fields of documents by which scores are broken down; the answer format comes from the
# prompt, see `answer_format`.
BREAKDOWNS = (
    *("question_type", "type", "format", "level"),
    *("graph_gen_algorithm", "sorting_type"),
)
# Bounded, so that no question takes quadratic time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")


class Scored(NamedTuple):
    """An answer with the family's verdict on it."""

    answer: Answer
    doc: dict
    verdict: tuple  # the `Verdict` of the family
    invalid: str | None  # one of INVALID


def score(answer: Answer, include_path: Path = FOLDER) -> Scored:
    """Return the verdict on an answer.

    A document that the line only names is looked up in the tasks at `include_path`.
    Raises LineError for a line that cannot be scored, ToolError where there are no
    documents to look it up in.
    """
    if answer.fault:
        raise LineError(f"{answer.place}: {answer.fault}")
    doc = answer.doc
    if doc is None:
        doc = _looked_up(answer, include_path)
    elif why := fault(answer.task, doc):
        raise _not_a_document(answer, why)
    try:
        verdict = scorer(answer.task).explain(doc, answer.response)
    except NOT_A_DOCUMENT as error:
        raise _not_a_document(answer, f"{error!r:.100}") from None
    return Scored(answer, doc, verdict, _invalid(answer, doc, verdict.reason))


def _not_a_document(answer: Answer, why: str) -> LineError:
    return LineError(
        f"{answer.place}: its document is not one of {answer.task} ({why}); give"
        " a 'doc' as the harness logs it, or a 'doc_id'"
    )


def digest_of(scored: Scored) -> bytes:
    """Return the family's digest of the document; LineError where it has none."""
    try:
        return scorer(scored.answer.task).utils.digest(scored.doc)
    except NOT_A_DOCUMENT as error:
        raise _not_a_document(scored.answer, f"{error!r:.100}") from None


def _looked_up(answer: Answer, include_path: Path) -> dict:
    """Return the document that an answer names; LineError where it is another."""
    found = documents(answer.task, include_path)
    if not isinstance(answer.doc_id, int) or not 0 <= answer.doc_id < len(found):
        raise LineError(
            f"{answer.place}: {answer.task} has no document {answer.doc_id!r:.80} at"
            f" {include_path} ({len(found)} documents); name the tasks that it was made"
            " with by --include_path"
        )
    doc = found[answer.doc_id]
    doc_hash = answer.doc_hash
    if doc_hash and not sha256(document_text(doc)).startswith(doc_hash):
        raise LineError(
            f"{answer.place}: answers another version of document {answer.doc_id} of"
            f" {answer.task} than the one at {include_path}; name the tasks that it was"
            " made with by --include_path"
        )
    return doc


def _invalid(answer: Answer, doc: dict, reason: str) -> str | None:
    """Return the word of INVALID for an answer, None where it is valid."""
    instruction = doc.get("instruction")
    if isinstance(instruction, str) and answer.prompt is not None:
        # The prompt of a chat API is JSON, with or without escapes beyond ASCII.
        text = instruction.strip()
        forms = (text, *(json.dumps(text, ensure_ascii=x)[1:-1] for x in (False, True)))
        if not any(form in answer.prompt for form in forms):
            return "no_instruction"
    return "cut_off" if answer.hit_limit or reason == "cut_off" else None


def verdict_line(scored: Scored) -> dict:
    """Return the line of an answer with `task` and `verdict`: scores and why."""
    verdict, task = scored.verdict, scorer(scored.answer.task)
    return {
        **scored.answer.line,
        "task": task.task,
        "verdict": {
            "version": task.version,
            "scores": verdict.scores,
            "reason": verdict.reason,
            "why": task.utils.REASONS[verdict.reason],
            "published": verdict.published,
            "published_span": verdict.published_span,
            "flexible": verdict.flexible,
            "flexible_span": verdict.flexible_span,
            "value": jsonable(verdict.value),
            "reference": jsonable(verdict.reference),
            "invalid": scored.invalid,
        },
    }


def jsonable(value: object) -> object:
    """Return a value that the rules read in a form that JSON has."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, dict):
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [jsonable(cell) for cell in value]
    return str(value)


def breakdowns(doc: dict) -> dict[str, str]:
    """Return by what a document's scores are broken down: name -> its value."""
    cells = {"format": answer_format(doc), **doc}
    return {
        name: str(cells[name]) for name in BREAKDOWNS if cells.get(name) is not None
    }


def answer_format(doc: dict) -> str | None:
    """Return the JSON fields that a prompt of ToT arithmetic asks for; None elsewhere."""
    question = doc.get("question")
    return _fields(question) if isinstance(question, str) else None


@lru_cache(maxsize=1024)
def _fields(question: str) -> str | None:
    found = _TEMPLATE.search(question)
    return " ".join(found["fields"].split()) if found else None


# Whether `sum`, by which the harness takes means, carries what rounding loses: so it
# does from Python 3.12 on.
_SUM_IS_COMPENSATED = sum([1.0, 1e100, 1.0, -1e100]) == 2.0


class Sum:
    """The sum of floats one at a time, to the last bit what `sum` makes of them all.

    Merged sums, of several files, are the sum but for rounding.
    """

    __slots__ = ("_lost", "_sum")

    def __init__(self) -> None:
        self._sum = self._lost = 0.0

    def add(self, value: float) -> None:
        """Add one more (Neumaier's algorithm, as in Python 3.12)."""
        total = self._sum + value
        if _SUM_IS_COMPENSATED:
            larger, smaller = self._sum, value
            if abs(larger) < abs(smaller):
                larger, smaller = smaller, larger
            self._lost += (larger - total) + smaller
        self._sum = total

    def merge(self, other: Sum) -> None:
        """Add the sum of values that come after those of this one."""
        self.add(other._sum)
        self._lost += other._lost

    def state(self) -> list[float]:
        """Return what `from_state` takes, in JSON."""
        return [self._sum, self._lost]

    @classmethod
    def from_state(cls, state: list[float]) -> Sum:
        """Return the sum whose state it is."""
        total = cls()
        total._sum, total._lost = map(float, state)
        return total

    def __float__(self) -> float:
        return self._sum + self._lost


class Figures:
    """Counts and sums over the answers to some documents of one task."""

    def __init__(self, task: str) -> None:
        self.n = 0
        # Of the documents that a metric applies to; values where it is not their mean.
        self.counts: Counter[str] = Counter()
        self._scorer = scorer(task)
        self._sums: dict[str, Sum] = {}
        self._values: dict[str, list[float]] = {}
        self.reasons: Counter[str] = Counter()
        self.invalid: Counter[str] = Counter()
        self.changed = 0  # answers to which the harness's log gives other scores

    def add(self, scored: Scored) -> None:
        """Count one more answer."""
        self.n += 1
        scores, line = scored.verdict.scores, scored.answer.line
        logged = line if "filtered_resps" in line else {}
        for metric, value in scores.items():
            self.counts[metric] += 1
            if metric in self._scorer.aggregations:
                self._values.setdefault(metric, []).append(value)
                continue
            if metric not in self._sums:
                self._sums[metric] = Sum()
            self._sums[metric].add(value)
        self.reasons[scored.verdict.reason] += 1
        if scored.invalid:
            self.invalid[scored.invalid] += 1
        if any(logged.get(metric, value) != value for metric, value in scores.items()):
            self.changed += 1

    def merge(self, other: Figures) -> None:
        """Count the answers, too, that another has counted."""
        self.n += other.n
        self.counts += other.counts
        for metric, total in other._sums.items():
            self._sums.setdefault(metric, Sum()).merge(total)
        for metric, values in other._values.items():
            self._values.setdefault(metric, []).extend(values)
        self.reasons += other.reasons
        self.invalid += other.invalid
        self.changed += other.changed

    def state(self) -> dict:
        """Return what `from_state` takes, in JSON."""
        return {
            "n": self.n,
            "counts": self.counts,
            "sums": {metric: total.state() for metric, total in self._sums.items()},
            "values": self._values,
            "reasons": self.reasons,
            "invalid": self.invalid,
            "changed": self.changed,
        }

    @classmethod
    def from_state(cls, task: str, state: dict) -> Figures:
        """Return the figures whose state it is."""
        figures = cls(task)
        figures.n, figures.changed = state["n"], state["changed"]
        figures.counts.update(state["counts"])
        figures._sums = {x: Sum.from_state(y) for x, y in state["sums"].items()}
        figures._values = {metric: [*x] for metric, x in state["values"].items()}
        figures.reasons.update(state["reasons"])
        figures.invalid.update(state["invalid"])
        return figures

    def means(self) -> dict[str, float]:
        """Return metric -> mean, or what the task's YAML file aggregates by, in its order.

        A metric is aggregated over the documents that it applies to, if any.
        """
        found = {x: float(sum_) / self.counts[x] for x, sum_ in self._sums.items()}
        for metric, values in self._values.items():
            found[metric] = self._scorer.aggregations[metric](values)
        return {
            metric: found[metric] for metric in self._scorer.metrics if metric in found
        }


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    It keeps a digest and an id for each document, and nothing else of an answer. Answers
    to the documents of the list `leave_out`, see `disputed`, are counted and left out.
    `before` is the tally of the files that come before: what they answer is not answered
    again.
    """

    def __init__(
        self, task: str, leave_out: str | None = None, before: Tally | None = None
    ) -> None:
        self.task, self.leave_out = task, leave_out
        self.left_out = 0
        self.answered = Answered(task, before.answered if before else None)
        # What fresh rows were made from, where it is known.
        self.made: Made | None = None
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->

    def add(self, scored: Scored) -> bool:
        """Count one more answer; return False for one that is left out.

        Raises LineError for a second one to the same document, see `Answered`.
        """
        digest = digest_of(scored)
        self.answered.add(scored.answer, scored.doc, digest)
        if disputed.is_in(self.leave_out, digest):
            self.left_out += 1
            return False
        self.all.add(scored)
        for part in breakdowns(scored.doc).items():
            if part not in self.parts:
                self.parts[part] = Figures(self.task)
            self.parts[part].add(scored)
        return True

    def overlaps(self, other: Tally) -> bool:
        """Tell whether both have counted an answer to the same document."""
        return self.answered.overlaps(other.answered)

    def merge(self, other: Tally) -> None:
        """Count the answers, too, that another has counted; none to the same document."""
        self.left_out += other.left_out
        self.all.merge(other.all)
        for part, figures in other.parts.items():
            self.parts.setdefault(part, Figures(self.task)).merge(figures)
        self.answered.merge(other.answered)

    def state(self) -> dict:
        """Return what `from_state` takes, in JSON."""
        return {
            "task": self.task,
            "leave_out": self.leave_out,
            "left_out": self.left_out,
            "all": self.all.state(),
            "parts": [[*part, x.state()] for part, x in self.parts.items()],
            "answered": self.answered.state(),
        }

    @classmethod
    def from_state(cls, state: dict) -> Tally:
        """Return the tally whose state it is."""
        tally = cls(state["task"], state["leave_out"])
        tally.left_out = state["left_out"]
        tally.all = Figures.from_state(tally.task, state["all"])
        for name, value, figures in state["parts"]:
            tally.parts[name, value] = Figures.from_state(tally.task, figures)
        tally.answered = Answered.from_state(tally.task, state["answered"])
        return tally

    def __reduce__(self) -> tuple:
        """Go to another process by the state: a scorer's modules cannot."""
        return Tally.from_state, (self.state(),)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return self.answered.fingerprint

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        Of a part it cannot be told: a fingerprint is one of all rows, those that are left
        out included. But rows that the benchmark does not repeat are not its own.
        """
        rows, fingerprint = scorer(self.task).known
        found, different = self.answered.n, self.answered.different
        if rows is None:
            return self._rows_made()
        if self.answered.surplus:
            return "not the benchmark's"
        if found == rows and self.fingerprint == fingerprint:
            return "the benchmark's"
        if found == rows and fingerprint is None:
            repeats = f", {different} different" if different < found else ""
            return f"as many as the benchmark's{repeats}"
        if found < rows:
            return f"fewer than the benchmark's {rows}"
        return "not the benchmark's"

    def _rows_made(self) -> str:
        if self.made is None:  # rows do not tell their seed, nor how many it made
            return "made from a seed"
        seed, rows, fingerprint = self.made
        found = self.answered.n
        if found < rows and found == self.answered.different:
            return f"made from seed {seed}, {found} of its {rows}"
        if found == rows and fingerprint in (None, self.fingerprint):
            return f"made from seed {seed}, all {rows}"
        return f"not the {rows} of seed {seed}"
