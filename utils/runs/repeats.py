"""Which documents are answered, and how often a benchmark has a document."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

from ..core.errors import LineError
from ..core.families import scorer
from .answers import Answer


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


class Answered:
    """The documents of one task that a run has answered, by their digests and ids."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._counts: Counter[bytes] = Counter()  # of answers, by digest
        self._unnamed: set[bytes] = set()  # digests of which an answer has no id
        self._ids: set[int | str] = set()

    def add(self, answer: Answer, digest: bytes) -> None:
        """Note one more answer; LineError where it is a second one to its document.

        An id has one answer. Without ids, a document has as many as the benchmark has
        rows of it: one, where that is not known.
        """
        if answer.doc_id in self._ids:
            raise self._second(answer, digest, 1)
        is_unnamed = answer.doc_id is None or digest in self._unnamed
        if is_unnamed and digest in self._counts:
            most = rows_of(self.task, digest) or 1
            if self._counts[digest] >= most:
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
    def n(self) -> int:
        """How many answers there are."""
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
