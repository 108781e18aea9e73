"""Figures of the rows of tables, and the documents that are answered."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable
from datetime import datetime
from pathlib import Path
from statistics import mean

from ..core.errors import LineError
from ..core.families import scorer
from ..packs import disputed
from .judge import BREAKDOWNS


_DIGITS = 12  # of a digest that the table below has
_OTHER_ROWS = "not the benchmark's"
# File -> start of a digest -> how often it has the row, if more than once; the files are
# in the revisions whose fingerprints the families know.
_REPEATED = json.loads(Path(__file__).with_name("repeated.json").read_bytes())


def count_copies(task: str, digest: str) -> int | None:
    """Return how many rows a task's benchmark has of a document, None if that is unknown.

    The document goes by the family's digest.
    """
    if scorer(task).upstream[1] is None:
        return None
    return _REPEATED.get(scorer(task).file, {}).get(digest[:_DIGITS], 1)


class Document:
    """A document, and what its answers score."""

    __slots__ = "cluster digest errors rows samples scores table unit".split()

    def __init__(self, row: dict) -> None:
        self.digest: str = row["digest"]
        self.cluster: str = row["cluster"]
        self.rows: list[dict] = []  # of its answers, where rows are wanted
        self.table: object = None  # which has the last of them
        self.samples: list[str | None] = []  # of its answers, their numbers
        self.scores: list[dict[str, float]] = []  # of each answer
        self.errors: list[float] = []  # signed, of each answer with a value in time
        self.unit = "hours"  # of these errors, or days

    @property
    def row(self) -> dict:
        """The row of the last answer."""
        return self.rows[-1]

    def takes(self, sample: str | None, repeats: int) -> bool:
        """Tell whether a document takes one more answer: without a number, or a new one."""
        if sample is None:
            return len(self.scores) < repeats
        return sample not in self.samples

    def add(self, row: dict) -> None:
        """Add what one more answer scores."""
        score_items = row["scores"].items()
        scores = {metric: score for metric, score in score_items if score is not None}
        self.scores.append(scores)
        self.samples.append(row["sample"])
        if row["value"] and any(metric.startswith("within_") for metric in scores):
            time_texts = json.loads(row["value"]), json.loads(row["reference"])
            answer_time, gold_time = map(datetime.fromisoformat, time_texts)
            self.unit, unit_seconds = (
                ("hours", 3600) if ":" in time_texts[1] else ("days", 86400)
            )
            self.errors.append((answer_time - gold_time).total_seconds() / unit_seconds)

    def means(self) -> dict[str, float]:
        """Return metric -> mean score of the answers; which apply, the document decides."""
        if len(self.scores) == 1:  # as a rule; the mean takes half of a reading
            return self.scores[0]
        return {
            metric: sum(answer_scores[metric] for answer_scores in self.scores)
            / len(self.scores)
            for metric in self.scores[0]
        }


class Figures:
    """Counts and scores of some documents of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.documents: list[Document] = []
        self.n = self.answers = 0  # of documents, and of answers to them
        self.reasons: Counter[str] = Counter()  # of the family's, by answer
        self.unextracted: Counter[str] = Counter()  # of them, by the published rule
        self.counts: Counter[str] = Counter()  # of answers that `add` names

    def add(self, document: Document, row: dict) -> None:
        """Count one more answer, which is the document's last."""
        if len(document.scores) == 1:
            self.documents.append(document)
            self.n += 1
        self.answers += 1
        verdict_reason, invalid_reason = row["reason"], row["invalid"]
        finish_reason = row["finish_reason"]
        self.reasons[verdict_reason] += 1
        self.unextracted[verdict_reason] += row["scores"].get("extracted") == 0
        applies_by_mark = {
            "changed": row["changed"],  # the harness's log gives other scores
            "no_instruction": invalid_reason == "no_instruction",
            "cut_off": invalid_reason == "cut_off",
            "cut_off_unknown": not (invalid_reason or finish_reason),
            # Faults, of which an answer may have several; see `score/health.py`.
            "length": finish_reason == "length",
            "unended": verdict_reason == "cut_off" and finish_reason != "length",
            "blank": not row["excerpt"].strip(),
            "no_system": row["has_system"] is False
            or invalid_reason == "no_instruction",
            "silent": not finish_reason,  # nothing says why it ended
        }
        self.counts.update(mark for mark, applies in applies_by_mark.items() if applies)

    def values(self) -> dict[str, list[float]]:
        """Return metric -> the scores of the documents that it applies to, if any.

        Metrics stand in the order of the task's YAML file.
        """
        means_of_documents = [document.means() for document in self.documents]
        scores_by_metric = {
            metric: [means[metric] for means in means_of_documents if metric in means]
            for metric in scorer(self.task).metrics
        }
        return {metric: scores for metric, scores in scores_by_metric.items() if scores}


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    `repeats` lines may answer a document. `made` has `seed`, `rows` and `fingerprint` of
    generated rows. Answers to the documents of the list `leave_out`, see `disputed`, are
    counted and left out. `has_rows`: documents keep the rows of their answers.
    """

    def __init__(
        self,
        task: str,
        *,
        repeats: int = 1,
        made: dict | None = None,
        leave_out: str | None = None,
        has_rows: bool = False,
    ) -> None:
        self.task, self.repeats, self.made = task, repeats, made
        self.leave_out, self.has_rows = leave_out, has_rows
        # Documents: with an answer, of these in the list, and beyond the benchmark's rows.
        self.answered = self.left_out = self.surplus = 0
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->
        self.constants: Counter[str] = Counter()  # as of `References`
        self.examples: dict[str, dict] = {}  # reason -> the first row that has it
        self.digests: Counter[str] = Counter()  # how many documents have each
        self._documents: dict[Hashable, Document] = {}  # by id, or digest and copy
        self._unnamed: set[str] = set()  # digests of which an answer has no id

    def add(self, row: dict) -> Document | None:
        """Count one more answer; return its document, or None if that is left out.

        Raises LineError for a second answer to a document, unless several are numbered.
        """
        document = self._document(row)
        document.add(row)
        if self.leave_out and disputed.is_in(self.leave_out, row["digest"]):
            self.left_out += len(document.scores) == 1
            return None
        self.examples.setdefault(row["reason"], row)
        if self.has_rows:
            document.rows.append(row)
        self.all.add(document, row)
        for part_key in ((breakdown, row[breakdown]) for breakdown in BREAKDOWNS):
            if part_key[1] is not None:
                self.parts.setdefault(part_key, Figures(self.task)).add(document, row)
        return document

    def _document(self, row: dict) -> Document:
        """Return the document that a row answers, a new one or an earlier one.

        An id has one document. Without ids, there are as many as the benchmark has rows
        of it: one, where that is not known.
        """
        digest, doc_id = row["digest"], row["doc_id"]
        copy_count, doc_keys = count_copies(self.task, digest), [doc_id]
        if doc_id is None:
            self._unnamed.add(digest)
            doc_keys = [(digest, copy_number) for copy_number in range(copy_count or 1)]
        has_all = digest in self._unnamed and self.digests[digest] >= (copy_count or 1)
        for doc_key in doc_keys:
            document = self._documents.get(doc_key)
            if document is None and not has_all:
                self._documents[doc_key] = Document(row)
                self.answered += 1
                self.digests[digest] += 1
                self.surplus += (
                    copy_count is not None and self.digests[digest] > copy_count
                )
                return self._documents[doc_key]
            is_same_document = document is not None and document.digest == digest
            if is_same_document and document.takes(row["sample"], self.repeats):
                return document
        ordinal_text = (
            f"answer {len(doc_keys) + 1}" if len(doc_keys) > 1 else "a second answer"
        )
        fix = f"keep {len(doc_keys)}, or number them by 'sample'"
        raise LineError(f"is {ordinal_text} to {self._name(row)}; {fix}")

    def _name(self, row: dict) -> str:
        """Return how messages name a document: by its id, or its digest."""
        doc_id = row["doc_id"]
        id_or_digest = row["digest"][:_DIGITS] if doc_id is None else f"{doc_id!r:.80}"
        return f"document {id_or_digest} of {self.task}"

    def fewest(self) -> tuple[int, str]:
        """Return the fewest answers that a document has, and its name; for `has_rows`."""
        fewest_rows = min((document.rows for document in self.all.documents), key=len)
        return len(fewest_rows), self._name(fewest_rows[0])

    def constant(self) -> tuple[float | None, str | None]:
        """Return the best published score of one answer to all documents, and the answer.

        (None, None) where there is no published score.
        """
        if not self.constants:
            return None, None
        best_answer = max(self.constants, key=self.constants.get)
        return self.constants[best_answer] / self.all.n, best_answer

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        digest_bytes = map(bytes.fromhex, self.digests.elements())
        return scorer(self.task).utils.fingerprint(digest_bytes)

    def describe_rows(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        A fingerprint is one of all rows, those that are left out included.
        """
        benchmark_row_count, fingerprint = scorer(self.task).upstream
        if benchmark_row_count is None:
            return self._describe_generated_rows()
        doc_count, digest_count = self.answered, len(self.digests)
        if self.surplus or doc_count > benchmark_row_count:
            return _OTHER_ROWS
        if doc_count < benchmark_row_count:
            return f"fewer than the benchmark's {benchmark_row_count}"
        if fingerprint is None:
            distinct_text = (
                f", {digest_count} different" if digest_count < doc_count else ""
            )
            return f"as many as the benchmark's{distinct_text}"
        return "the benchmark's" if self.fingerprint == fingerprint else _OTHER_ROWS

    def _describe_generated_rows(self) -> str:
        """Return in words whether the documents are those that a seed makes."""
        if self.made is None:  # rows do not tell their seed, nor how many it made
            return "made from a seed"
        seed, seed_row_count = self.made["seed"], self.made["rows"]
        if self.answered == len(self.digests) < seed_row_count:
            return f"made from seed {seed}, {self.answered} of its {seed_row_count}"
        has_right_fingerprint = self.made["fingerprint"] in (None, self.fingerprint)
        if self.answered == seed_row_count and has_right_fingerprint:
            return f"made from seed {seed}, all {seed_row_count}"
        return f"not the {seed_row_count} of seed {seed}"


def rows_remark(tallies: list[Tally], n: int) -> str | None:
    """Return in words how `n` documents of tasks differ from the benchmark's rows, if so."""
    benchmark_row_counts = [scorer(tally.task).upstream[0] for tally in tallies]
    if None in benchmark_row_counts:
        return None
    if n != sum(benchmark_row_counts):
        return f"{n:,} rows instead of {sum(benchmark_row_counts):,}"
    has_other_rows = any(tally.describe_rows() == _OTHER_ROWS for tally in tallies)
    return "other rows than the benchmark's" if has_other_rows else None


# ------------------------------------------- several answers to a document

# What a rule read in an answer, None for nothing, and what that scores.
Reading = tuple[Hashable, float]


def together(documents: list[Document], k: int) -> dict[str, list[float]]:
    """Return pass@k and majority of documents with their rows, by measure and rule."""
    scores: dict[str, list[float]] = {}
    for rule_number, rule in enumerate(("published", "flexible")):
        all_readings = [
            [read_answer(row, rule_number) for row in document.rows]
            for document in documents
        ]
        scores[f"pass@{k}_{rule}"] = [pass_at(k, readings) for readings in all_readings]
        scores[f"majority_{rule}"] = [majority(readings) for readings in all_readings]
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
    sorted_scores = sorted(score for _, score in answers)
    weighted_scores = (
        math.comb(rank, k - 1) * score for rank, score in enumerate(sorted_scores)
    )
    return math.fsum(weighted_scores) / math.comb(len(sorted_scores), k)


def majority(answers: Iterable[Reading]) -> float:
    """Return the score of the value that most answers have; of tied ones, the mean.

    Answers in which nothing was read have no vote; where no answer has one, it is 0.
    """
    scores_by_value: dict[Hashable, list[float]] = {}
    for voted_value, score in answers:
        if voted_value is not None:
            scores_by_value.setdefault(voted_value, []).append(score)
    most_vote_count = max(map(len, scores_by_value.values()), default=0)
    winning_score_lists = [
        scores for scores in scores_by_value.values() if len(scores) == most_vote_count
    ]
    return mean(map(mean, winning_score_lists or [[0.0]]))
