"""Figures of the rows of tables, and the documents that are answered."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean

from ..core.contract import CUT_OFF, EXTRACTED
from ..core.errors import LineError
from ..core.families import scorer
from ..packs import disputed
from ..packs.sample import Drawn


_DIGITS = 12  # of a digest that the table below has
_OTHER_ROWS = "not the benchmark's"
# File -> start of a digest -> how often it has the row, if more than once; the files are
# in the revisions whose fingerprints the families know.
_REPEATED = json.loads(Path(__file__).with_name("repeated.json").read_bytes())


def count_copies(task: str, digest: str) -> int | None:
    """Return how many rows a benchmark has of a document's digest, None if unknown."""
    if scorer(task).upstream[1] is None:
        return None
    return _REPEATED.get(scorer(task).file, {}).get(digest[:_DIGITS], 1)


@dataclass(slots=True, eq=False)
class Document:
    """A document, and what its answers score."""

    digest: str
    cluster: str
    rows: list[dict] = field(default_factory=list)  # of its answers, where wanted
    table: object = None  # which has the last of them
    samples: list[str | None] = field(default_factory=list)  # numbers of its answers
    scores: list[dict[str, float]] = field(default_factory=list)  # of each answer
    errors: list[float] = field(default_factory=list)  # signed, of answers with a value
    unit: str = ""  # of the errors

    @property
    def row(self) -> dict:
        """The row of the last answer."""
        return self.rows[-1]

    def add(self, row: dict) -> None:
        """Add what one more answer scores."""
        score_items = row["scores"].items()
        scores = {metric: score for metric, score in score_items if score is not None}
        self.scores.append(scores)
        self.samples.append(row["sample"])
        if row["error"] is not None:
            self.errors.append(row["error"])
            self.unit = row["error_unit"]

    def means(self) -> dict[str, float]:
        """Return metric -> mean score of the answers; which apply, the document decides."""
        if len(self.scores) == 1:  # as a rule; the mean takes half of a reading
            return self.scores[0]
        return {
            metric: sum(answer_scores[metric] for answer_scores in self.scores)
            / len(self.scores)
            for metric in self.scores[0]
        }


@dataclass(eq=False)
class Figures:
    """Counts and scores of some documents of one task."""

    task: str
    documents: list[Document] = field(default_factory=list)
    n: int = 0  # documents
    answers: int = 0  # to them
    reasons: Counter[str] = field(default_factory=Counter)  # the family's, by answer
    # Of the reasons, how many answers have nothing that the published rule extracts.
    unextracted: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)  # of answers with a trait

    def values(self) -> dict[str, list[float]]:
        """Return the scores of the documents that a metric applies to, in the YAML's order."""
        means_of_documents = [document.means() for document in self.documents]
        scores_by_metric = {
            metric: [means[metric] for means in means_of_documents if metric in means]
            for metric in scorer(self.task).metrics
        }
        return {metric: scores for metric, scores in scores_by_metric.items() if scores}


@dataclass(eq=False)
class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    `repeats` lines may answer a document. Answers to the documents of the list `leave_out`,
    see `disputed`, are counted and left out. `has_rows`: documents keep their answers' rows.
    """

    task: str
    repeats: int = 1
    leave_out: str | None = None
    has_rows: bool = False
    # Documents: with an answer, of these in the list, and beyond the benchmark's rows.
    answered: int = 0
    left_out: int = 0
    surplus: int = 0
    drawn: Drawn | None = None  # of which whole the documents are a random part
    constants: Counter[str] = field(default_factory=Counter)  # as of `References`
    # Reason -> the first row that has it; digest -> how many documents have it.
    examples: dict[str, dict] = field(default_factory=dict)
    digests: Counter[str] = field(default_factory=Counter)
    # By id, or by digest and number of the copy.
    _documents: dict[Hashable, Document] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.all = Figures(self.task)
        self.parts = defaultdict(partial(Figures, self.task))  # by (breakdown, value)

    def add(self, row: dict) -> Document | None:
        """Count one more answer; return its document, or None if that is left out.

        Raises LineError for a second answer to a document, unless several are numbered.
        """
        document = self._find_document(row)
        document.add(row)
        is_new_document = len(document.scores) == 1
        if row["digest"][:16] in disputed.DIGESTS.get(self.leave_out, ()):
            self.left_out += is_new_document
            return None
        verdict_reason, invalid_reason = row["reason"], row["invalid"]
        finish_reason = row["finish_reason"]
        trait_flags = {
            "changed": row["changed"],  # the harness's log gives other scores
            "no_instruction": invalid_reason == "no_instruction",
            "cut_off": invalid_reason == "cut_off",
            "cut_off_unknown": not (invalid_reason or finish_reason),
            # Faults, of which an answer may have several; see `score/health.py`.
            "length": finish_reason == "length",
            "unended": verdict_reason == CUT_OFF and finish_reason != "length",
            "blank": not row["excerpt"].strip(),
            "no_system": row["has_system"] is False
            or invalid_reason == "no_instruction",
            "silent": not finish_reason,  # nothing says why it ended
        }
        traits = [trait for trait, is_there in trait_flags.items() if is_there]
        for figures in (self.all, *self._parts_of(row)):
            if is_new_document:
                figures.documents.append(document)
                figures.n += 1
            figures.answers += 1
            figures.reasons[verdict_reason] += 1
            figures.unextracted[verdict_reason] += row["scores"].get(EXTRACTED) == 0
            figures.counts.update(traits)
        self.examples.setdefault(verdict_reason, row)
        if self.has_rows:
            document.rows.append(row)
        return document

    def _parts_of(self, row: dict) -> Iterator[Figures]:
        """Yield the figures of the parts that an answer's document is in."""
        for breakdown in scorer(self.task).utils.BREAKDOWNS:
            if row[breakdown] is not None:
                yield self.parts[breakdown, row[breakdown]]

    def _find_document(self, row: dict) -> Document:
        """Return the document that a row answers, a new one or an earlier one.

        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        digest, doc_id, sample = row["digest"], row["doc_id"], row["sample"]
        benchmark_count = count_copies(self.task, digest)
        copy_keys = [(digest, copy) for copy in range(benchmark_count or 1)]
        keys_to_try = copy_keys if doc_id is None else [json.dumps(doc_id)]
        has_answer_without_id = doc_id is None or copy_keys[0] in self._documents
        no_copy_left = has_answer_without_id and self.digests[digest] >= len(copy_keys)
        for key in keys_to_try:
            if document := self._documents.get(key):
                is_new_answer = sample not in document.samples
                if sample is None:
                    is_new_answer = len(document.scores) < self.repeats
                if document.digest == digest and is_new_answer:
                    return document
            elif not no_copy_left:
                self.answered += 1
                self.digests[digest] += 1
                self.surplus += self.digests[digest] > (benchmark_count or math.inf)
                self._documents[key] = Document(digest, row["cluster"])
                return self._documents[key]
        allowance = len(keys_to_try)
        nth_answer = "a second answer" if allowance == 1 else f"answer {allowance + 1}"
        fix = f"keep {allowance}, or number them by 'sample'"
        raise LineError(f"is {nth_answer} to {self._name(row)}; {fix}")

    def _name(self, row: dict) -> str:
        """Return how messages name a document: by its id, or its digest."""
        doc_id = row["doc_id"]
        id_or_digest = row["digest"][:_DIGITS] if doc_id is None else f"{doc_id!r:.80}"
        return f"document {id_or_digest} of {self.task}"

    def fewest(self) -> tuple[int, str]:
        """Return the fewest answers that a document has, and its name; for `has_rows`."""
        least_answered = min(self.all.documents, key=lambda doc: len(doc.rows))
        return len(least_answered.rows), self._name(least_answered.rows[0])

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        document_digests = map(bytes.fromhex, self.digests.elements())
        return scorer(self.task).utils.fingerprint(document_digests)

    @property
    def drawn_share(self) -> float | None:
        """The share of the task's rows that was drawn at random; None of other runs."""
        return self.drawn and self.answered / self.drawn.rows

    def describe_rows(self) -> str:
        """Return in words whether the documents are the benchmark's, or those of a seed.

        A fingerprint is one of all rows, those that are left out included.
        """
        if self.drawn:
            return self.drawn.describe(self.answered)
        benchmark_row_count, known_fingerprint = scorer(self.task).upstream
        if benchmark_row_count is None:
            return "made from a seed"
        if self.surplus or self.answered > benchmark_row_count:
            return _OTHER_ROWS
        if self.answered < benchmark_row_count:
            return f"fewer than the benchmark's {benchmark_row_count}"
        if known_fingerprint is not None:
            is_equal = self.fingerprint == known_fingerprint
            return "the benchmark's" if is_equal else _OTHER_ROWS
        if len(self.digests) < self.answered:
            return f"as many as the benchmark's, {len(self.digests)} different"
        return "as many as the benchmark's"


def rows_remark(tallies: list[Tally], n: int) -> str | None:
    """Return in words how `n` documents of tasks differ from the benchmark's rows, if so."""
    if all_drawn := [tally.drawn for tally in tallies if tally.drawn]:
        if (
            len(all_drawn) == len(tallies)
            and len({drawn.seed for drawn in all_drawn}) == 1
        ):
            whole = all_drawn[0]._replace(rows=sum(drawn.rows for drawn in all_drawn))
            is_verified = all(drawn.is_verified for drawn in all_drawn)
            return whole._replace(is_verified=is_verified).describe(n)
    benchmark_row_counts = [scorer(tally.task).upstream[0] for tally in tallies]
    if None in benchmark_row_counts:
        return None
    if n != sum(benchmark_row_counts):
        return f"{n:,} rows instead of {sum(benchmark_row_counts):,}"
    if _OTHER_ROWS in (tally.describe_rows() for tally in tallies):
        return "other rows than the benchmark's"
    return None


# What a rule read in an answer, None for nothing, and what that scores.
Reading = tuple[Hashable, float]


def together(documents: list[Document], k: int) -> dict[str, list[float]]:
    """Return pass@k and majority of documents with their rows, by measure and rule."""
    scores: dict[str, list[float]] = {}
    for place, rule in enumerate(("published", "flexible")):
        readings = [[read_answer(row, place) for row in doc.rows] for doc in documents]
        scores[f"pass@{k}_{rule}"] = [pass_at(k, answers) for answers in readings]
        scores[f"majority_{rule}"] = [majority(answers) for answers in readings]
    return scores


def read_answer(row: dict, place: int) -> Reading:
    """Return what a rule reads in an answer: the published one (0), the flexible one (1).

    The published rule compares texts; the flexible one values, without case, and without
    quotation marks, for a number may be read as one or as a text.
    """
    answer_value = row["published"] if place == 0 else row["value"]
    if place and answer_value is not None:
        answer_value = answer_value.replace('"', "").casefold()
    return answer_value, row["scores"][scorer(row["task"]).headline[place]]


def pass_at(k: int, answers: list[Reading]) -> float:
    """Return the expected best score of k answers that are drawn from these.

    Of answers that are right or wrong it is the unbiased 1 - C(n - c, k) / C(n, k) for c
    right ones of n (Chen et al., Evaluating Large Language Models Trained on Code, 2021).
    """
    ascending = sorted(score for _, score in answers)
    weighted = (math.comb(rank, k - 1) * score for rank, score in enumerate(ascending))
    return math.fsum(weighted) / math.comb(len(ascending), k)


def majority(answers: Iterable[Reading]) -> float:
    """Return the score of the value that most answers have; of tied ones, the mean.

    Answers in which nothing was read have no vote; where no answer has one, it is 0.
    """
    scores_by_value = defaultdict(list)
    for voted_value, score in answers:
        if voted_value is not None:
            scores_by_value[voted_value].append(score)
    by_votes = sorted(scores_by_value.values(), key=len) or [[0.0]]
    tied_scores = [scores for scores in by_votes if len(scores) == len(by_votes[-1])]
    return mean(map(mean, tied_scores))
