"""From verdicts to the figures of a run, and which documents it answered."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Hashable
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
    """Counts and scores of some documents of a tally, each by the mean of its answers."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self.documents = array("L")  # their numbers in the tally
        self.answers = 0
        self.reasons: Counter[str] = Counter()  # of the family's, by answer
        self.invalid: Counter[str] = Counter()
        self.untold = 0  # answers of which nothing says whether they were cut off
        self.changed = 0  # answers to which the harness's log gives other scores

    def add(self, number: int, scored: Scored, is_first: bool) -> None:
        """Count one more answer, to the document of a number."""
        if is_first:
            self.documents.append(number)
        self.answers += 1
        self.reasons[scored.verdict.reason] += 1
        if scored.invalid:
            self.invalid[scored.invalid] += 1
        elif not scored.answer.finish_reason:
            self.untold += 1
        self.changed += scored.is_changed

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.documents)

    def values(self) -> dict[str, list[float]]:
        """Return metric -> the score of each document that it applies to, if any.

        Metrics stand in the order of the task's YAML file.
        """
        found: dict[str, list[float]] = {}
        for metric in scorer(self._tally.task).metrics:
            means = (self._tally.mean(metric, number) for number in self.documents)
            if values := [mean for mean in means if mean is not None]:
                found[metric] = values
        return found


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    Answers to the documents of the list `leave_out`, see `disputed`, are counted and left
    out. `repeats` lines may answer a document.
    """

    def __init__(
        self, task: str, leave_out: str | None = None, repeats: int = 1
    ) -> None:
        self.task, self.leave_out, self.repeats = task, leave_out, repeats
        self.left_out = 0
        self.made: Made | None = None  # what fresh rows were made from, where known
        self.all = Figures(self)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        # By metric, of the answers to each document: the sum of scores, and their count.
        self._sums: dict[str, tuple[array[float], array[int]]] = {}
        self._answers = array("L")  # how many there are to each document
        self._digests: list[bytes] = []  # of each document
        self._counts: Counter[bytes] = Counter()  # of documents, by digest
        self._unnamed: set[bytes] = set()  # digests of which an answer has no id
        self._numbers: dict[Hashable, int] = {}  # of documents, by id or copy
        self._samples: set[tuple[int, Hashable]] = set()  # of several answers

    def add(self, scored: Scored) -> int | None:
        """Count one more answer; return the number of its document, None if left out.

        Raises LineError for a second answer to a document, unless several are numbered.
        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        number = self._number(scored.answer, scored.digest)
        self._answers[number] += 1
        is_first = self._answers[number] == 1
        if disputed.is_in(self.leave_out, scored.digest):
            self.left_out += is_first
            return None
        for metric, value in scored.verdict.scores.items():
            sums, counts = self._sums.setdefault(metric, (array("d"), array("L")))
            lacking = [0] * (number + 1 - len(sums))
            sums.extend(lacking)
            counts.extend(lacking)
            sums[number] += value
            counts[number] += 1
        self.all.add(number, scored, is_first)
        for part in breakdowns(scored.doc).items():
            figures = self.parts.setdefault(part, Figures(self))
            figures.add(number, scored, is_first)
        return number

    def mean(self, metric: str, number: int) -> float | None:
        """Return the mean score of the answers to a document; None where it has none."""
        sums, counts = self._sums.get(metric, ((), ()))
        if number >= len(sums) or not counts[number]:
            return None
        return sums[number] / counts[number]

    def means(self, number: int) -> dict[str, float]:
        """Return metric -> the mean score of the answers to a document, if it has some."""
        found = {metric: self.mean(metric, number) for metric in self._sums}
        return {metric: mean for metric, mean in found.items() if mean is not None}

    def _number(self, answer: Answer, digest: bytes) -> int:
        """Return the number of the document of an answer, a new one or an earlier one."""
        most, keys = rows_of(self.task, digest) or 1, [answer.doc_id]
        is_unnamed = answer.doc_id is None
        if is_unnamed:
            keys = [(digest, copy) for copy in range(most)]
        for key in keys:
            number = self._numbers.get(key)
            if number is None:
                has_unnamed = is_unnamed or digest in self._unnamed
                if has_unnamed and self._counts.get(digest, 0) >= most:
                    break
                number = self._numbers[key] = len(self._digests)
                self._digests.append(digest)
                self._counts[digest] += 1
                self._answers.append(0)
            if self._digests[number] == digest and self._is_free(number, answer.sample):
                if is_unnamed:
                    self._unnamed.add(digest)
                return number
        raise self._second(answer, digest, len(keys))

    def _is_free(self, number: int, sample: Hashable) -> bool:
        """Tell whether a document lacks an answer of a number, and take the number."""
        if sample is None:
            return self._answers[number] < self.repeats
        is_free = (number, sample) not in self._samples
        self._samples.add((number, sample))
        return is_free

    def _second(self, answer: Answer, digest: bytes, most: int) -> LineError:
        doc_id = answer.doc_id
        name = digest.hex()[:_DIGITS] if doc_id is None else f"{doc_id!r:.80}"
        again, fix = "a second answer", "; keep one, or number them by 'sample'"
        if most > 1:
            again = f"answer {most + 1}"
            fix = f", of which the benchmark has {most} rows; keep {most}"
        where = f"document {name} of {self.task}"
        return LineError(f"{answer.place}: is {again} to {where}{fix}")

    @property
    def answered(self) -> int:
        """How many documents are answered, those that are left out included."""
        return len(self._digests)

    @property
    def different(self) -> int:
        """How many of them are different."""
        return len(self._counts)

    @property
    def surplus(self) -> int:
        """How many documents are beyond the benchmark's rows of them, if these are known."""
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
