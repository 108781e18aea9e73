"""What answers score: counted once by document, where they are judged, and added up."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import LineError
from ..core.family_contract import CUT_OFF, EXTRACTED
from ..core.task_scorers import scorer
from ..packs import disputed
from ..packs.random_sample import Drawn


_DIGITS = 12  # of a digest that the table below has
MOST_PARTS = 50  # of a breakdown that are told apart; no task of ours has more
MOST_OF_ALL_PARTS = 100  # of all breakdowns of a task together
OTHER_PARTS = "all others"
_OTHER_ROWS = "not the benchmark's"
# File -> start of a digest -> how often it has the row, if more than once; the files are
# in the revisions whose fingerprints the families know.
_REPEATED = json.loads(Path(__file__).with_name("repeated.json").read_bytes())


def count_copies(task: str, digest: str) -> int | None:
    """Return how many rows a benchmark has of a document's digest, None if unknown."""
    if scorer(task).upstream[1] is None:
        return None
    return _REPEATED.get(scorer(task).file, {}).get(digest[:_DIGITS], 1)


class Counted(NamedTuple):
    """What one answer adds to the figures."""

    sample: str | None  # its number among the answers to the document
    scores: dict[str, float]  # by metric, of those that apply to the document
    reason: str  # the family's
    is_extracted: bool  # whether the published rule found an answer
    traits: list[str]  # those of `_traits`
    error: float | None  # signed, of an answer with a value
    error_unit: str | None
    response: str  # the start of its digest
    length: int  # characters
    row: int  # its number among the rows of the task in the table
    line: int  # of the source


@dataclass(slots=True, eq=False)
class Document:
    """A document, and what its answers score."""

    digest: str
    cluster: str
    doc_id: object
    parts: dict[str, str]  # breakdown -> the part that it is in
    answers: list[Counted] = field(default_factory=list)
    is_left_out: bool = False
    rows: Sequence[dict] = ()  # of the answers, where wanted
    table: Any = None  # the `tables.Table` that has the last of them

    @property
    def row(self) -> dict:
        """The row of the last answer."""
        return self.rows[-1]

    @property
    def errors(self) -> list[float]:
        """The signed errors of the answers with a value."""
        return [answer.error for answer in self.answers if answer.error is not None]

    @property
    def unit(self) -> str:
        """The unit of the errors."""
        units = (answer.error_unit for answer in self.answers)
        return next(filter(None, units), "")

    def means(self) -> dict[str, float]:
        """Return metric -> mean score of the answers; which apply, the document decides."""
        first_scores = self.answers[0].scores
        if len(self.answers) == 1:  # as a rule; the mean takes half of a reading
            return first_scores
        # Answers in several files may be to documents that differ in what none is read by.
        return {
            metric: sum(answer.scores[metric] for answer in self.answers)
            / len(self.answers)
            for metric in first_scores
            if all(metric in answer.scores for answer in self.answers)
        }

    def to_json(self) -> dict:
        """Return what a table keeps of it, for `from_json`."""
        fields = {"digest": self.digest, "cluster": self.cluster, "doc_id": self.doc_id}
        fields |= {"parts": self.parts, "is_left_out": self.is_left_out}
        return fields | {"answers": self.answers}

    @classmethod
    def from_json(cls, fields: dict, shared: dict) -> Document:
        """Return the document of what a table keeps of it.

        `shared` keeps one of many equal objects, which halves what documents weigh.
        """
        answers = []
        for sample, scores, reason, is_extracted, traits, *rest in fields["answers"]:
            scores = shared.setdefault((*scores.items(),), scores)
            traits = shared.setdefault((*traits,), traits)
            reason = shared.setdefault(reason, reason)
            answers.append(Counted(sample, scores, reason, is_extracted, traits, *rest))
        parts = shared.setdefault((*fields["parts"].items(), None), fields["parts"])
        cluster = shared.setdefault(fields["cluster"], fields["cluster"])
        return cls(
            fields["digest"],
            cluster,
            fields["doc_id"],
            parts,
            answers,
            fields["is_left_out"],
        )


class Figures:
    """Counts and scores of some documents of one task."""

    def __init__(self, task: str, documents: list[Document]) -> None:
        self.task, self.documents = task, documents
        self.n = len(documents)
        self.answers = 0  # to them
        self.reasons: Counter[str] = Counter()  # the family's, by answer
        # Of the reasons, how many answers have nothing that the published rule extracts.
        self.unextracted: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()  # of answers with a trait
        for answer in (answer for document in documents for answer in document.answers):
            self.answers += 1
            self.reasons[answer.reason] += 1
            self.unextracted[answer.reason] += not answer.is_extracted
            self.counts.update(answer.traits)

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
    """The answers to one task in a run, by document, and their figures.

    An answer is added once, where it is judged; what is known of its document leaves that
    process as one line, and the tallies of a run's files are joined. `repeats` lines may
    answer a document. Documents of the list `leave_out`, see `disputed`, are in no figure.
    """

    task: str
    repeats: int = 1
    leave_out: str | None = None
    surplus: int = 0  # documents beyond the benchmark's rows
    drawn: Drawn | None = None  # of which whole the documents are a random part
    constants: Counter[str] = field(default_factory=Counter)  # as of `References`
    # Reason -> the first row that has it; digest -> how many documents have it.
    examples: dict[str, dict] = field(default_factory=dict)
    digests: Counter[str] = field(default_factory=Counter)
    # By id, or by digest and number of the copy.
    _documents: dict[Hashable, Document] = field(default_factory=dict)

    @property
    def documents(self) -> list[Document]:
        """All that are answered, those that are left out included."""
        return [*self._documents.values()]

    @property
    def answered(self) -> int:
        """How many documents have an answer."""
        return len(self._documents)

    @property
    def left_out(self) -> int:
        """How many of them are left out."""
        return sum(document.is_left_out for document in self._documents.values())

    @cached_property
    def all(self) -> Figures:
        """The figures of all documents that count; asked for when all are in."""
        counted = [document for document in self.documents if not document.is_left_out]
        return Figures(self.task, counted)

    @cached_property
    def parts(self) -> dict[tuple[str, str], Figures]:
        """The figures of parts, by breakdown and value; of the smallest ones together."""
        kept_parts = self._kept_parts()
        documents_by_part: dict[tuple[str, str], list[Document]] = defaultdict(list)
        for document in self.all.documents:
            for part in _with_others_joined(document.parts, kept_parts).items():
                documents_by_part[part].append(document)
        return {
            part: Figures(self.task, documents)
            for part, documents in documents_by_part.items()
        }

    def _kept_parts(self) -> set[tuple[str, str]]:
        """Return the parts with figures of their own: of each breakdown the largest ones."""
        sizes = Counter(
            part for document in self.all.documents for part in document.parts.items()
        )
        kept_counts: Counter[str] = Counter()
        kept_parts: set[tuple[str, str]] = set()
        for breakdown, value in sorted(sizes, key=lambda part: (-sizes[part], part)):
            if value == OTHER_PARTS:  # those of the files' tables
                continue
            kept_counts[breakdown] += 1
            has_room = len(kept_parts) < MOST_OF_ALL_PARTS
            if has_room and kept_counts[breakdown] <= MOST_PARTS:
                kept_parts.add((breakdown, value))
        return kept_parts

    def join_small_parts(self) -> None:
        """Join the parts without figures of their own, in all documents.

        So a table has few values, however many a file makes up.
        """
        kept_parts = self._kept_parts()
        for document in self.documents:
            document.parts = _with_others_joined(document.parts, kept_parts)

    def add(self, row: dict, number: int) -> Document:
        """Add an answer by its row, which has a number in the table; return its document.

        Raises LineError for a second answer to a document, unless several are numbered.
        """
        document = self._find_document(row["digest"], row["doc_id"], row["sample"])
        if not document.answers:
            breakdowns = scorer(self.task).utils.BREAKDOWNS
            values = {name: row[name] for name in breakdowns}
            document.parts = {k: v for k, v in values.items() if v is not None}
            document.cluster = row["cluster"]
        if not document.is_left_out:
            self.examples.setdefault(row["reason"], row)
        scores = row["scores"].items()
        document.answers.append(
            Counted(
                sample=row["sample"],
                scores={name: score for name, score in scores if score is not None},
                reason=row["reason"],
                is_extracted=row["scores"].get(EXTRACTED) != 0,
                traits=_traits(row),
                error=row["error"],
                error_unit=row["error_unit"],
                response=row["response"],
                length=row["length"],
                row=number,
                line=row["line"],
            )
        )
        return document

    def join(self, document: Document, rows: list[dict]) -> Iterator[tuple[int, str]]:
        """Add a document of another file; yield line and fault of second answers.

        `rows` are all of the file's, or none where they are not wanted.
        """
        digest, doc_id = document.digest, document.doc_id
        for answer in document.answers:
            try:
                found = self._find_document(digest, doc_id, answer.sample)
            except LineError as error:
                yield answer.line, str(error)
                continue
            if not found.answers:
                found.cluster, found.parts = document.cluster, document.parts
            found.answers.append(answer)
            found.table = document.table
            if rows:
                found.rows = [*found.rows, rows[answer.row]]

    def _find_document(
        self, digest: str, doc_id: object, sample: str | None
    ) -> Document:
        """Return the document that an answer is to, a new one or an earlier one.

        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        benchmark_count = count_copies(self.task, digest)
        copy_keys = [(digest, copy) for copy in range(benchmark_count or 1)]
        keys_to_try = copy_keys if doc_id is None else [json.dumps(doc_id)]
        has_answer_without_id = doc_id is None or copy_keys[0] in self._documents
        no_copy_left = has_answer_without_id and self.digests[digest] >= len(copy_keys)
        for key in keys_to_try:
            if document := self._documents.get(key):
                samples = [answer.sample for answer in document.answers]
                is_new_answer = sample not in samples
                if sample is None:
                    is_new_answer = len(samples) < self.repeats
                if document.digest == digest and is_new_answer:
                    return document
            elif not no_copy_left:
                self.digests[digest] += 1
                self.surplus += self.digests[digest] > (benchmark_count or math.inf)
                is_left_out = digest[:16] in disputed.DIGESTS.get(
                    self.leave_out or "", ()
                )
                document = Document(digest, "", doc_id, {}, is_left_out=is_left_out)
                self._documents[key] = document
                return document
        allowance = len(keys_to_try)
        nth_answer = "a second answer" if allowance == 1 else f"answer {allowance + 1}"
        fix = f"keep {allowance}, or number them by 'sample'"
        name = _name(self.task, digest, doc_id)
        raise LineError(f"is {nth_answer} to {name}; {fix}")

    def fewest(self) -> tuple[int, str]:
        """Return the fewest answers that a document has, and its name."""
        document = min(self.all.documents, key=lambda document: len(document.answers))
        name = _name(self.task, document.digest, document.doc_id)
        return len(document.answers), name

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
    benchmark_row_count = 0
    for tally in tallies:
        row_count, _ = scorer(tally.task).upstream
        if row_count is None:
            return None
        benchmark_row_count += row_count
    if n != benchmark_row_count:
        return f"{n:,} rows instead of {benchmark_row_count:,}"
    if _OTHER_ROWS in (tally.describe_rows() for tally in tallies):
        return "other rows than the benchmark's"
    return None


def _with_others_joined(
    parts: dict[str, str], kept_parts: set[tuple[str, str]]
) -> dict[str, str]:
    """Return the parts of a document, those that are not kept as OTHER_PARTS."""
    return {
        breakdown: value if (breakdown, value) in kept_parts else OTHER_PARTS
        for breakdown, value in parts.items()
    }


def _traits(row: dict) -> list[str]:
    """Return what is to be counted of an answer beside scores and reason."""
    invalid_reason, finish_reason = row["invalid"], row["finish_reason"]
    trait_flags = {
        "changed": row["changed"],  # the harness's log gives other scores
        "no_instruction": invalid_reason == "no_instruction",
        "cut_off": invalid_reason == "cut_off",
        "cut_off_unknown": not (invalid_reason or finish_reason),
        # Faults, of which an answer may have several; see `score/health.py`.
        "length": finish_reason == "length",
        "unended": row["reason"] == CUT_OFF and finish_reason != "length",
        "blank": not row["excerpt"].strip(),
        "no_system": row["has_system"] is False or invalid_reason == "no_instruction",
        "silent": not finish_reason,  # nothing says why it ended
    }
    return [trait for trait, is_there in trait_flags.items() if is_there]


def _name(task: str, digest: str, doc_id: object) -> str:
    """Return how messages name a document: by its id, or its digest."""
    id_or_digest = digest[:_DIGITS] if doc_id is None else f"{doc_id!r:.80}"
    return f"document {id_or_digest} of {task}"
