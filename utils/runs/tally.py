"""From verdicts to the figures of a run, and which documents it answered."""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Hashable
from pathlib import Path

from ..core.errors import LineError
from ..core.families import scorer
from ..packs import disputed
from ..packs.baselines import random_choices
from .answers import Answer, sha256
from .find import Run
from .scoring import Scored, breakdowns
from .several import Given


_DIGITS = 12  # of a digest that the table below has
# All of a document that its published score depends on, but options.
_REFERENCE = ("answer", "answer_format", "golds", "label", "letters")


# File -> start of a digest -> how often it has the row, if more than once; the files are
# in the revisions whose fingerprints the families know.
_REPEATED = json.loads(Path(__file__).with_name("repeated.json").read_bytes())


def rows_of(task: str, digest: bytes) -> int | None:
    """Return how many rows a task's benchmark has of a document of its own.

    The document goes by the family's `digest`. None where the rows are not known.
    """
    if scorer(task).known[1] is None:
        return None
    return _REPEATED.get(scorer(task).file, {}).get(digest.hex()[:_DIGITS], 1)


class Document:
    """A document, and what its answers score."""

    __slots__ = ("cluster", "digest", "given", "scores", "sums")

    def __init__(self, digest: bytes) -> None:
        self.digest = digest
        self.cluster = b""  # start of a digest: what documents that share it have alike
        self.scores: list[dict[str, float]] = []  # of each answer
        self.given: list[tuple[Given, ...]] = []  # of each answer, for `together`
        self.sums: dict[str, tuple[float, int]] = {}  # metric -> of so many scores

    def add(self, scores: dict[str, float]) -> None:
        """Add what one more answer scores."""
        self.scores.append(scores)
        if len(self.scores) == 2:
            self.sums = {metric: (score, 1) for metric, score in self.scores[0].items()}
        for metric, score in scores.items() if self.sums else ():
            total, count = self.sums.get(metric, (0.0, 0))
            self.sums[metric] = total + score, count + 1

    def means(self) -> dict[str, float]:
        """Return metric -> mean score of the answers that have it."""
        if len(self.scores) == 1:
            return self.scores[0]
        return {metric: total / count for metric, (total, count) in self.sums.items()}


class Figures:
    """Counts and scores of some documents of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.documents: list[Document] = []
        self.answers = 0
        self.reasons: Counter[str] = Counter()  # of the family's, by answer
        self.unextracted: Counter[str] = Counter()  # of them, by the published rule
        self.invalid: Counter[str] = Counter()
        self.untold = 0  # answers of which nothing says whether they were cut off
        self.changed = 0  # answers to which the harness's log gives other scores

    def add(self, document: Document, scored: Scored) -> None:
        """Count one more answer, which is the document's last."""
        if len(document.scores) == 1:
            self.documents.append(document)
        self.answers += 1
        self.reasons[scored.verdict.reason] += 1
        if scored.verdict.scores.get("extracted") == 0:
            self.unextracted[scored.verdict.reason] += 1
        self.invalid.update({scored.invalid} - {None})
        self.untold += not (scored.invalid or scored.answer.finish_reason)
        self.changed += scored.is_changed

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.documents)

    def values(self) -> dict[str, list[float]]:
        """Return metric -> the scores of the documents that it applies to, if any.

        Metrics stand in the order of the task's YAML file.
        """
        means = [document.means() for document in self.documents]
        metrics = scorer(self.task).metrics
        found = {name: [x[name] for x in means if name in x] for name in metrics}
        return {name: values for name, values in found.items() if values}


# By task and references, which the runs of a board share.
_BEST: dict[tuple, tuple[float, str]] = {}


class Trivial:
    """The references of a task's documents, and how many documents have each."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._references: dict[str, tuple[int, dict]] = {}  # with one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        key = json.dumps([doc.get(name) for name in _REFERENCE])
        number, _ = self._references.get(key, (0, doc))
        self._references[key] = (number + 1, doc)

    def best(self) -> tuple[float | None, str | None]:
        """Return the best published score of one answer to all documents, and the answer.

        The answers are the most frequent right one and, where there is a choice, each
        label and each set of options. (None, None) where there is no published score.
        """
        one = scorer(self.task)
        if not (self._references and one.headline):
            return None, None
        numbers, docs = zip(*self._references.values())
        place = (self.task, *zip(self._references, numbers))
        if place in _BEST:
            return _BEST[place]
        most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        answers = random_choices(self.task, most_options)
        answers.append(one.utils.gold_response(docs[numbers.index(max(numbers))]))
        found = dict.fromkeys(sorted(answers), 0.0)
        for answer in found:
            for number, doc in zip(numbers, docs):
                scores = one.process_results(doc, [answer])
                found[answer] += number * scores[one.headline[0]]
        best = max(found, key=found.get)
        _BEST[place] = found[best] / sum(numbers), best
        return _BEST[place]


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    `options` are those of `answer_options`. Answers to the documents of the list
    `leave_out`, see `disputed`, are counted and left out.
    """

    def __init__(self, task: str, run: Run, options: Namespace) -> None:
        self.task, self.leave_out = task, options.leave_out
        self.left_out = 0
        self.repeats = run.repeats(task)  # lines that may answer a document
        self.made = run.made(task, options.include_path)
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        self.trivial = Trivial(task)
        self.digests: Counter[bytes] = Counter()  # how many documents have each
        self._documents: dict[Hashable, Document] = {}  # by id, or digest and copy
        self._samples: set[tuple[Document, Hashable]] = set()  # of several answers
        self._unnamed: set[bytes] = set()  # digests of which an answer has no id

    def add(self, scored: Scored) -> Document | None:
        """Count one more answer; return its document, or None if that is left out.

        Raises LineError for a second answer to a document, unless several are numbered.
        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        document = self._document(scored.answer, scored.digest)
        document.add(scored.verdict.scores)
        is_first = len(document.scores) == 1
        if disputed.is_in(self.leave_out, scored.digest):
            self.left_out += is_first
            return None
        if is_first:
            name = scorer(self.task).utils.cluster(scored.doc)
            document.cluster = bytes.fromhex(sha256(name)[:_DIGITS])
            self.trivial.add(scored.doc)
        self.all.add(document, scored)
        for part in breakdowns(scored.doc).items():
            self.parts.setdefault(part, Figures(self.task)).add(document, scored)
        return document

    def _document(self, answer: Answer, digest: bytes) -> Document:
        """Return the document of an answer, a new one or an earlier one."""
        most, keys = rows_of(self.task, digest) or 1, [answer.doc_id]
        if answer.doc_id is None:
            keys = [(digest, copy) for copy in range(most)]
        for key in keys:
            if not (document := self._documents.get(key)):
                has_unnamed = answer.doc_id is None or digest in self._unnamed
                if has_unnamed and self.digests.get(digest, 0) >= most:
                    break
                document = self._documents[key] = Document(digest)
                self.digests[digest] += 1
            if document.digest == digest and self._takes(document, answer.sample):
                if answer.doc_id is None:
                    self._unnamed.add(digest)
                return document
        raise self._second(answer, digest, len(keys))

    def _takes(self, document: Document, sample: Hashable) -> bool:
        """Tell whether a document takes an answer of this number, None for without."""
        if sample is None:
            return len(document.scores) < self.repeats
        before = len(self._samples)
        self._samples.add((document, sample))
        return len(self._samples) > before

    def _second(self, answer: Answer, digest: bytes, most: int) -> LineError:
        again, fix = "a second answer", "; keep one, or number them by 'sample'"
        if most > 1:
            again = f"answer {most + 1}"
            fix = f", of which the benchmark has {most} rows; keep {most}"
        key = (digest, 0) if answer.doc_id is None else answer.doc_id
        return LineError(f"{answer.place}: is {again} to {self._name(key)}{fix}")

    def _name(self, key: Hashable) -> str:
        """Return how messages name a document: by its id, or its digest."""
        is_unnamed = isinstance(key, tuple)
        name = key[0].hex()[:_DIGITS] if is_unnamed else f"{key!r:.80}"
        return f"document {name} of {self.task}"

    def fewest(self) -> tuple[int, str]:
        """Return the fewest answers that a document has for `together`, and its name."""
        numbers = {x: len(y.given) for x, y in self._documents.items() if y.given}
        key = min(numbers, key=numbers.get)
        return numbers[key], self._name(key)

    @property
    def answered(self) -> int:
        """How many documents are answered, those that are left out included."""
        return len(self._documents)

    @property
    def surplus(self) -> int:
        """How many documents are beyond the benchmark's rows of them, if these are known."""
        repeated = ((x, n) for x, n in self.digests.items() if n > 1)
        return sum(max(0, n - (rows_of(self.task, x) or n)) for x, n in repeated)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return scorer(self.task).utils.fingerprint(self.digests.elements())

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        A fingerprint is one of all rows, those that are left out included.
        """
        rows, fingerprint = scorer(self.task).known
        found, different = self.answered, len(self.digests)
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
        if self.answered == len(self.digests) < rows:
            return f"made from seed {seed}, {self.answered} of its {rows}"
        if self.answered == rows and fingerprint in (None, self.fingerprint):
            return f"made from seed {seed}, all {rows}"
        return f"not the {rows} of seed {seed}"
