"""Figures of the rows of tables, and the documents that are answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable
from datetime import datetime
from math import comb, fsum
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ..core.errors import LineError
from ..core.families import scorer
from ..packs import disputed
from .judge import BREAKDOWNS


_DIGITS = 12  # of a digest that the table below has
_OTHER_ROWS = "not the benchmark's"

# What a rule read in an answer, None for nothing, and what that scores.
Reading = tuple[Hashable, float]

# File -> start of a digest -> how often it has the row, if more than once; the files are
# in the revisions whose fingerprints the families know.
_REPEATED = json.loads(Path(__file__).with_name("repeated.json").read_bytes())


def rows_of(task: str, digest: str) -> int | None:
    """Return how many rows a task's benchmark has of a document of its own.

    The document goes by the family's digest. None where the rows are not known.
    """
    if scorer(task).upstream[1] is None:
        return None
    return _REPEATED.get(scorer(task).file, {}).get(digest[:_DIGITS], 1)


class Made(NamedTuple):
    """The seed that rows were generated from, their number and fingerprint."""

    seed: int
    rows: int
    fingerprint: str | None


class Document:
    """A document, and what its answers score."""

    __slots__ = "cluster digest errors readings row scores table unit".split()

    def __init__(self, row: dict) -> None:
        self.digest: str = row["digest"]
        self.cluster: str = row["cluster"]
        self.row: dict | None = None  # of the last answer, where rows are wanted
        self.table: object = None  # which has it
        self.scores: list[dict[str, float]] = []  # of each answer
        self.readings: list[tuple[Reading, ...]] = []  # of each answer, for `together`
        self.errors: list[float] = []  # signed, of each answer with a value in time
        self.unit = "hours"  # of these errors, or days

    def add(self, row: dict) -> None:
        """Add what one more answer scores."""
        cells = row["scores"].items()
        scores = {metric: score for metric, score in cells if score is not None}
        self.scores.append(scores)
        if row["value"] and any(name.startswith("within_") for name in scores):
            self._add_error(*map(json.loads, (row["value"], row["reference"])))

    def _add_error(self, value: str, reference: str) -> None:
        lateness = datetime.fromisoformat(value) - datetime.fromisoformat(reference)
        self.unit, seconds = ("hours", 3600) if ":" in reference else ("days", 86400)
        self.errors.append(lateness.total_seconds() / seconds)

    def means(self) -> dict[str, float]:
        """Return metric -> mean score of the answers that have it."""
        if len(self.scores) == 1:
            return self.scores[0]
        by_metric: dict[str, list[float]] = {}
        for answer_scores in self.scores:
            for metric, score in answer_scores.items():
                by_metric.setdefault(metric, []).append(score)
        return {name: sum(scores) / len(scores) for name, scores in by_metric.items()}


class Figures:
    """Counts and scores of some documents of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.documents: list[Document] = []
        self.answers = 0
        self.reasons: Counter[str] = Counter()  # of the family's, by answer
        self.unextracted: Counter[str] = Counter()  # of them, by the published rule
        self.invalid: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()  # see `score/health.py`
        self.untold = 0  # answers of which nothing says whether they were cut off
        self.changed = 0  # answers to which the harness's log gives other scores

    def add(self, document: Document, row: dict) -> None:
        """Count one more answer, which is the document's last."""
        if len(document.scores) == 1:
            self.documents.append(document)
        self.answers += 1
        self.reasons[row["reason"]] += 1
        if row["scores"].get("extracted") == 0:
            self.unextracted[row["reason"]] += 1
        self.invalid.update({row["invalid"]} - {None})
        is_cut_off = row["finish_reason"] == "length"
        self.faults["cut_off"] += is_cut_off
        self.faults["unended"] += row["reason"] == "cut_off" and not is_cut_off
        self.faults["blank"] += not row["excerpt"].strip()
        lacks_system = row["has_system"] is False or row["invalid"] == "no_instruction"
        self.faults["no_system"] += lacks_system
        self.faults["silent"] += not row["finish_reason"]  # why it ended
        self.untold += not (row["invalid"] or row["finish_reason"])
        self.changed += row["changed"]

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.documents)

    def values(self) -> dict[str, list[float]]:
        """Return metric -> the scores of the documents that it applies to, if any.

        Metrics stand in the order of the task's YAML file.
        """
        means = [document.means() for document in self.documents]
        values = {
            metric: [doc_means[metric] for doc_means in means if metric in doc_means]
            for metric in scorer(self.task).metrics
        }
        return {metric: scores for metric, scores in values.items() if scores}

    def sums(self) -> dict[str, list]:
        """Return cluster -> number of documents, and metric -> sum and number of scores."""
        sums: dict[str, list] = {}
        for document in self.documents:
            cluster_sums = sums.setdefault(document.cluster, [0, {}])
            cluster_sums[0] += 1
            for metric, score in document.means().items():
                total, count = cluster_sums[1].get(metric, (0.0, 0))
                cluster_sums[1][metric] = (total + score, count + 1)
        return sums


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    `repeats` lines may answer a document. Answers to the documents of the list
    `leave_out`, see `disputed`, are counted and left out.
    """

    def __init__(
        self,
        task: str,
        *,
        repeats: int = 1,
        made: Made | None = None,
        leave_out: str | None = None,
        has_rows: bool = False,
        has_readings: bool = False,
    ) -> None:
        self.task, self.repeats, self.leave_out = task, repeats, leave_out
        self.made, self.has_rows, self.has_readings = made, has_rows, has_readings
        self.left_out = 0
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        self.constants: Counter[str] = Counter()  # as of `References`
        self.examples: dict[str, dict] = {}  # reason -> the first row that has it
        self.digests: Counter[str] = Counter()  # how many documents have each
        self._documents: dict[Hashable, Document] = {}  # by id, or digest and copy
        self._samples: set[tuple[Document, str]] = set()  # of several answers
        self._unnamed: set[str] = set()  # digests of which an answer has no id

    def add(self, row: dict) -> Document | None:
        """Count one more answer; return its document, or None if that is left out.

        Raises LineError for a second answer to a document, unless several are numbered.
        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        document = self._document(row)
        document.add(row)
        if self.leave_out and disputed.is_in(self.leave_out, row["digest"]):
            self.left_out += len(document.scores) == 1
            return None
        self.examples.setdefault(row["reason"], row)
        if self.has_rows:
            document.row = row
        if self.has_readings:
            document.readings.append(readings(row))
        self.all.add(document, row)
        for name in BREAKDOWNS:
            if (value := row[name]) is not None:
                figures = self.parts.setdefault((name, value), Figures(self.task))
                figures.add(document, row)
        return document

    def constant(self) -> tuple[float | None, str | None]:
        """Return the best published score of one answer to all documents, and the answer.

        (None, None) where there is no published score.
        """
        if not self.constants:
            return None, None
        best_answer = max(self.constants, key=self.constants.get)
        return self.constants[best_answer] / self.all.n, best_answer

    def _document(self, row: dict) -> Document:
        """Return the document of an answer, a new one or an earlier one."""
        digest, doc_id = row["digest"], row["doc_id"]
        limit, keys = rows_of(self.task, digest) or 1, [doc_id]
        if doc_id is None:
            keys = [(digest, copy) for copy in range(limit)]
        for key in keys:
            if not (document := self._documents.get(key)):
                has_unnamed = doc_id is None or digest in self._unnamed
                if has_unnamed and self.digests.get(digest, 0) >= limit:
                    break
                document = self._documents[key] = Document(row)
                self.digests[digest] += 1
            if document.digest == digest and self._takes(document, row["sample"]):
                if doc_id is None:
                    self._unnamed.add(digest)
                return document
        raise self._second(row, len(keys))

    def _takes(self, document: Document, sample: str | None) -> bool:
        """Tell whether a document takes an answer of this number, None for without."""
        if sample is None:
            return len(document.scores) < self.repeats
        old_size = len(self._samples)
        self._samples.add((document, sample))
        return len(self._samples) > old_size

    def _second(self, row: dict, limit: int) -> LineError:
        ordinal, fix = "a second answer", "; keep one, or number them by 'sample'"
        if limit > 1:
            ordinal = f"answer {limit + 1}"
            fix = f", of which the benchmark has {limit} rows; keep {limit}"
        key = (row["digest"], 0) if row["doc_id"] is None else row["doc_id"]
        return LineError(f"is {ordinal} to {self._name(key)}{fix}")

    def _name(self, key: Hashable) -> str:
        """Return how messages name a document: by its id, or its digest."""
        is_unnamed = isinstance(key, tuple)
        name = key[0][:_DIGITS] if is_unnamed else f"{key!r:.80}"
        return f"document {name} of {self.task}"

    def fewest(self) -> tuple[int, str]:
        """Return the fewest answers that a document has for `together`, and its name."""
        counts = {key: len(doc.readings) for key, doc in self._documents.items()}
        counts = {key: count for key, count in counts.items() if count}
        key = min(counts, key=counts.get)
        return counts[key], self._name(key)

    @property
    def answered(self) -> int:
        """How many documents are answered, those that are left out included."""
        return len(self._documents)

    @property
    def surplus(self) -> int:
        """How many documents are beyond the benchmark's rows of them, if these are known."""
        surplus = 0
        for digest, count in self.digests.items():
            if count > 1:
                surplus += max(0, count - (rows_of(self.task, digest) or count))
        return surplus

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        digests = map(bytes.fromhex, self.digests.elements())
        return scorer(self.task).utils.fingerprint(digests)

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        A fingerprint is one of all rows, those that are left out included.
        """
        rows, fingerprint = scorer(self.task).upstream
        answered, different = self.answered, len(self.digests)
        if rows is None:
            return self._rows_made()
        if self.surplus or answered > rows:
            return _OTHER_ROWS
        if answered < rows:
            return f"fewer than the benchmark's {rows}"
        if fingerprint is None:
            repeats = f", {different} different" if different < answered else ""
            return f"as many as the benchmark's{repeats}"
        is_same = self.fingerprint == fingerprint
        return "the benchmark's" if is_same else _OTHER_ROWS

    def _rows_made(self) -> str:
        if self.made is None:  # rows do not tell their seed, nor how many it made
            return "made from a seed"
        seed, rows, fingerprint = self.made
        if self.answered == len(self.digests) < rows:
            return f"made from seed {seed}, {self.answered} of its {rows}"
        if self.answered == rows and fingerprint in (None, self.fingerprint):
            return f"made from seed {seed}, all {rows}"
        return f"not the {rows} of seed {seed}"


def rows_remark(tallies: list[Tally], n: int) -> str | None:
    """Return in words how `n` documents of tasks differ from the benchmark's rows, if so."""
    row_counts = [scorer(tally.task).upstream[0] for tally in tallies]
    if None in row_counts:
        return None
    if n != sum(row_counts):
        return f"{n:,} rows instead of {sum(row_counts):,}"
    is_other = any(tally.rows_are() == _OTHER_ROWS for tally in tallies)
    return "other rows than the benchmark's" if is_other else None


# ------------------------------------------- several answers to a document


def readings(row: dict) -> tuple[Reading, ...]:
    """Return what the published and the flexible rule read; () for tasks without both.

    The published rule compares texts; the flexible one values, without case.
    """
    value = row["value"]
    if value is not None:
        # Without quotation marks, for a number may be read as one or as a text.
        value = value.replace('"', "").casefold()
    headline = scorer(row["task"]).headline or ()
    values = zip((row["published"], value), headline)
    return tuple((text, row["scores"][metric]) for text, metric in values)


def pass_at(k: int, scores: Iterable[float]) -> float:
    """Return the expected best score of k answers that are drawn from these.

    Of answers that are right or wrong it is the unbiased 1 - C(n - c, k) / C(n, k) for c
    right ones of n (Chen et al., Evaluating Large Language Models Trained on Code, 2021).
    """
    sorted_scores = sorted(scores)
    weighted = (comb(rank, k - 1) * score for rank, score in enumerate(sorted_scores))
    return fsum(weighted) / comb(len(sorted_scores), k)


def majority(answers: Iterable[Reading]) -> float:
    """Return the score of the value that most answers have; of tied ones, the mean.

    Answers in which nothing was read have no vote; where no answer has one, it is 0.
    """
    votes: dict[Hashable, list[float]] = {}
    for value, score in answers:
        if value is not None:
            votes.setdefault(value, []).append(score)
    highest = max(map(len, votes.values()), default=0)
    winners = [mean(scores) for scores in votes.values() if len(scores) == highest]
    return mean(winners or [0.0])


def together(
    documents: list[list[tuple[Reading, ...]]], k: int
) -> dict[str, list[float]]:
    """Return pass@k and majority of documents with their answers, by measure and rule."""
    values = {}
    for place, rule in enumerate(("published", "flexible")):
        answers = [[answer[place] for answer in document] for document in documents]
        scores = [[score for _, score in doc_answers] for doc_answers in answers]
        passes = [pass_at(k, doc_scores) for doc_scores in scores]
        values[f"pass@{k}_{rule}"] = passes
        values[f"majority_{rule}"] = [*map(majority, answers)]
    return values
