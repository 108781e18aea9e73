"""Which documents are answered, and how often a benchmark has a document.

A document has one answer. Some benchmarks have a row several times, and then it has one
for each: harness logs tell such rows apart by their ids.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from .answers import Answer, document_text, sha256
from ..core.errors import LineError
from ..core.families import scorer


# Rows that a benchmark's file repeats, in the revisions whose fingerprints the families
# know: file -> how often -> the starts of their digests. In the other files with a
# fingerprint no two rows are alike; tests/test_repeats.py counts them.
_DIGITS = 12
_REPEATED = {
    "tot_arithmetic": {2: "321335bd7118 c17a57fc1f4f"},
    "menatqa_scope": {
        2: """
    008bd0bacb12 018117b6cc08 093603735676 0cfd6f725b1a 12d49e67ae86 12dec90bdb18
    1fd89fb68ce9 2a5802f16532 2ec8683133a7 33ea4a0ec19c 3453bb9ce236 36e5e3788bc7
    39734d56ed96 3c0b4cec90b9 44a3a8153b97 46ed10e6768c 473bd75c77f7 547891774cd6
    54f8b88271de 6fb6d596efff 738fa17c6808 748ae8366a89 826d7637af34 828065bbf1bf
    88e159597180 9467c1b03e0e 9b38f6678189 a13177efad6b a7f3d6424cff cb6281c975ec
    d12eb0094c54 d2ec9d62bde9 d3b36ccbe679 dac51825d812 e11514823e46 e33d66bcf242
    e3f2a356f134 e858f9bbdb39 e8a6048841c9 f2cb8eb1539e fa6057a9b687 febd91f3e06b
        """,
        3: """
    01773a48ad3c 02312b4090f6 0f49389fc6f5 1002137d0ba4 2369a09756d3 23998d6d0cab
    3cdf0bcbc27b 3d45837e725c 41dc1819afb7 45f97f8a0156 4cd4d8f04e3d 6b063153e1ff
    72defbca4b9e 83d04ad0e043 88f2d2e94488 897f7835a37e 8e37520c2ded 905f588322be
    96f95e28b239 97a9f0406476 9f940b0eef34 a40034d6674c a8d7a2366cf3 cf6d53036134
    d3519aedfbef d9f56c02cba3 e39976043a43 e7a0e7571369 f1e84902792a
        """,
    },
}
_ROWS = {
    file: {start: n for n, starts in of.items() for start in starts.split()}
    for file, of in _REPEATED.items()
}


def rows_of(task: str, digest: bytes) -> int | None:
    """Return how many rows a task's benchmark has of a document of its own.

    The document goes by the family's `digest`. None where the rows are not known.
    """
    if scorer(task).known[1] is None:
        return None
    file = scorer(task).file.removesuffix("_timebench")
    return _ROWS.get(file, {}).get(digest.hex()[:_DIGITS], 1)


def surplus_of(task: str, counts: Counter[bytes]) -> int:
    """Return how many of the documents, counted by digest, the benchmark has no row for."""
    return sum(
        max(0, n - (rows_of(task, digest) or n))
        for digest, n in counts.items()
        if n > 1
    )


class Answered:
    """The documents of one task that a run has answered, by their digests and ids.

    `before` are those of files that come before: what they answer is not answered again.
    """

    def __init__(self, task: str, before: Answered | None = None) -> None:
        self.task = task
        self._before = before
        self._counts: Counter[bytes] = Counter()  # of answers, by digest
        self._unnamed: set[bytes] = set()  # digests of which an answer has no id
        self._ids: set[int | str] = set()

    def add(self, answer: Answer, doc: dict, digest: bytes) -> None:
        """Note one more answer; LineError where it is a second one to its document.

        An id has one answer. Without ids, a document has as many as the benchmark has
        rows of it: one, where that is not known.
        """
        if self._is_known(answer, digest) or (
            self._before and self._before._is_known(answer, digest)
        ):
            self._refuse_second(answer, doc, digest)
        self._counts[digest] += 1
        if answer.doc_id is None:
            self._unnamed.add(digest)
        else:
            self._ids.add(answer.doc_id)

    def _is_known(self, answer: Answer, digest: bytes) -> bool:
        return digest in self._counts or answer.doc_id in self._ids

    def _refuse_second(self, answer: Answer, doc: dict, digest: bytes) -> None:
        others = [self, self._before] if self._before else [self]
        count = 1 + sum(other._counts[digest] for other in others)
        is_unnamed = answer.doc_id is None or any(digest in x._unnamed for x in others)
        most = rows_of(self.task, digest) or 1
        if any(answer.doc_id in x._ids for x in others):
            count, is_unnamed, most = 2, True, 1
        if is_unnamed and count > most:
            raise LineError(f"{answer.place}: {_again(answer, doc, count, most)}")

    def overlaps(self, other: Answered) -> bool:
        """Tell whether an answer of one is a second one to a document of the other."""
        if not self._ids.isdisjoint(other._ids):
            return True
        unnamed = self._unnamed | other._unnamed
        return any(
            self._counts[x] + other._counts[x] > (rows_of(self.task, x) or 1)
            for x in unnamed
            if x in self._counts and x in other._counts
        )

    def merge(self, other: Answered) -> None:
        """Note the answers, too, that another has noted; none is a second one."""
        self._counts += other._counts
        self._unnamed |= other._unnamed
        self._ids |= other._ids

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
        """How many answers there are beyond the rows that the benchmark has of their
        documents, under ids of their own; 0 where these rows are not known.
        """
        return surplus_of(self.task, self._counts)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return scorer(self.task).utils.fingerprint(self._counts.elements())

    def state(self) -> dict:
        """Return what `from_state` takes, in JSON."""
        return {
            "digests": b"".join(self._counts.elements()).hex(),
            "unnamed": b"".join(sorted(self._unnamed)).hex(),
            "ids": sorted(self._ids, key=lambda x: (isinstance(x, str), x)),
        }

    @classmethod
    def from_state(cls, task: str, state: dict) -> Answered:
        """Return what has the state."""
        answered = cls(task)
        answered._counts.update(_digests(state["digests"]))
        answered._unnamed.update(_digests(state["unnamed"]))
        answered._ids.update(state["ids"])
        return answered


def _digests(joined: str) -> Iterator[bytes]:
    size = 2 * hashlib.sha256().digest_size  # as all families have them
    return (bytes.fromhex(joined[i : i + size]) for i in range(0, len(joined), size))


def _again(answer: Answer, doc: dict, count: int, most: int) -> str:
    """Return what is wrong with one answer too many."""
    name = f"{answer.doc_id!r:.80}"
    if answer.doc_id is None:
        name = sha256(document_text(doc))[:12]
    if most > 1:
        rows = f"of which the benchmark has {most} rows; keep {most}"
        return f"is answer {count} to document {name} of {answer.task}, {rows}"
    return f"is a second answer to document {name} of {answer.task}; keep one"
