"""From verdicts to the figures of a run, and which documents it answered."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from functools import cache
from pathlib import Path

from ..core.errors import LineError
from ..core.families import scorer
from ..packs import disputed
from .answers import Answer
from .find import Made
from .scoring import Scored, breakdowns


_DIGITS = 12  # of a digest that the table below has


@cache
def _repeated() -> dict[str, dict[str, int]]:
    """Return file -> start of a digest -> how often it has the row, if more than once.

    The files are in the revisions whose fingerprints the families know.
    """
    path = Path(__file__).with_name("repeated.json")
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(task: str, digest: bytes) -> int | None:
    """Return how many rows a task's benchmark has of a document of its own.

    The document goes by the family's `digest`. None where the rows are not known.
    """
    if scorer(task).known[1] is None:
        return None
    return _repeated().get(scorer(task).file, {}).get(digest.hex()[:_DIGITS], 1)


class Figures:
    """Counts and scores of the answers to some documents of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.n = 0
        self.invalid: Counter[str] = Counter()
        self.changed = 0  # answers to which the harness's log gives other scores
        # By metric, of the documents that have it.
        self._values: dict[str, array[float]] = {}

    def add(self, scored: Scored) -> None:
        """Count one more answer."""
        self.n += 1
        for metric, value in scored.verdict.scores.items():
            self._values.setdefault(metric, array("d")).append(value)
        if scored.invalid:
            self.invalid[scored.invalid] += 1
        self.changed += scored.is_changed

    @property
    def counts(self) -> dict[str, int]:
        """How many documents each metric applies to."""
        return {metric: len(x) for metric, x in self._values.items()}

    def means(self) -> dict[str, float]:
        """Return metric -> mean over the documents that it applies to, if any.

        They stand in the order of the task's YAML file, and are the harness's to the last
        bit: it, too, divides what `sum` gives.
        """
        metrics = (x for x in scorer(self.task).metrics if x in self._values)
        return {x: sum(self._values[x]) / len(self._values[x]) for x in metrics}


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    Answers to the documents of the list `leave_out`, see `disputed`, are counted and left
    out.
    """

    def __init__(self, task: str, leave_out: str | None = None) -> None:
        self.task, self.leave_out = task, leave_out
        self.left_out = 0
        self.made: Made | None = None  # what fresh rows were made from, where known
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        self._counts: Counter[bytes] = Counter()  # of answers, by digest
        self._unnamed: set[bytes] = set()  # digests of which an answer has no id
        self._ids: set[int | str] = set()

    def add(self, scored: Scored) -> bool:
        """Count one more answer; return False for one that is left out.

        Raises LineError for a second one to its document. An id has one answer. Without
        ids, a document has as many as the benchmark has rows of it: one, where that is
        not known.
        """
        self._note(scored.answer, scored.digest)
        if disputed.is_in(self.leave_out, scored.digest):
            self.left_out += 1
            return False
        self.all.add(scored)
        for part in breakdowns(scored.doc).items():
            self.parts.setdefault(part, Figures(self.task)).add(scored)
        return True

    def _note(self, answer: Answer, digest: bytes) -> None:
        if answer.doc_id in self._ids:
            raise self._second(answer, digest, 1)
        is_unnamed = answer.doc_id is None or digest in self._unnamed
        most = rows_of(self.task, digest) or 1
        if is_unnamed and self._counts.get(digest, 0) >= most:
            raise self._second(answer, digest, most)
        self._counts[digest] += 1
        if answer.doc_id is None:
            self._unnamed.add(digest)
        else:
            self._ids.add(answer.doc_id)

    def _second(self, answer: Answer, digest: bytes, most: int) -> LineError:
        doc_id = answer.doc_id
        name = digest.hex()[:_DIGITS] if doc_id is None else f"{doc_id!r:.80}"
        again, keep = "a second answer", "; keep one"
        if most > 1:
            again = f"answer {most + 1}"
            keep = f", of which the benchmark has {most} rows; keep {most}"
        where = f"document {name} of {self.task}"
        return LineError(f"{answer.place}: is {again} to {where}{keep}")

    @property
    def answered(self) -> int:
        """How many answers there are, those that are left out included."""
        return self._counts.total()

    @property
    def different(self) -> int:
        """How many different documents they are to."""
        return len(self._counts)

    @property
    def surplus(self) -> int:
        """How many answers are beyond the rows of their documents, if these are known."""
        repeated = ((x, n) for x, n in self._counts.items() if n > 1)
        return sum(max(0, n - (rows_of(self.task, x) or n)) for x, n in repeated)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return scorer(self.task).utils.fingerprint(self._counts.elements())

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        A fingerprint is one of all rows, those that are left out included.
        """
        rows, fingerprint = scorer(self.task).known
        found, different = self.answered, self.different
        if rows is None:
            return self._rows_made()
        if self.surplus or found > rows:
            return "not the benchmark's"
        if found < rows:
            return f"fewer than the benchmark's {rows}"
        if fingerprint is None:
            repeats = f", {different} different" if different < found else ""
            return f"as many as the benchmark's{repeats}"
        is_same = self.fingerprint == fingerprint
        return "the benchmark's" if is_same else "not the benchmark's"

    def _rows_made(self) -> str:
        if self.made is None:  # rows do not tell their seed, nor how many it made
            return "made from a seed"
        seed, rows, fingerprint = self.made
        if self.answered == self.different < rows:
            return f"made from seed {seed}, {self.answered} of its {rows}"
        if self.answered == rows and fingerprint in (None, self.fingerprint):
            return f"made from seed {seed}, all {rows}"
        return f"not the {rows} of seed {seed}"
