"""From a recorded answer to a verdict: what it scores and why, as a row of a table.

Beside it stands what one answer to all documents scores, the best of those that were tried.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np

from ..core.contract import CUT_OFF, Verdict
from ..core.documents import documents
from ..core.errors import DocumentError, LineError
from ..core.families import reading, scorer
from .answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = ("no_instruction", "cut_off")
_LONGEST = 1_000  # characters of a text in a table
_DIGITS = 16  # of a digest that is in a table to be compared


def look_up_document(answer: Answer, include_path: Path) -> dict:
    """Return the document that an answer only names, of the tasks at `include_path`.

    LineError where it is not there, ToolError where there are no documents.
    """
    task, doc_id = answer.task, answer.doc_id
    docs = documents(task, include_path)
    fault = f"{task} has no document {doc_id!r:.80}"
    if isinstance(doc_id, int) and 0 <= doc_id < len(docs):
        if sha256(document_text(docs[doc_id])).startswith(answer.doc_hash or ""):
            return docs[doc_id]
        fault = f"answers another version of document {doc_id} of {task} than the one"
    fix = "name the tasks that it was made with by --include_path"
    raise LineError(f"{fault} at {include_path}; {fix}")


def judge_answer(answer: Answer, doc: dict, file: str, system: str | None) -> dict:
    """Return the row of a table for an answer to a document.

    `file` is the name of the answer's file, `system` the system instruction of the run.
    LineError where the document is not one of the task.
    """
    task_scorer = scorer(answer.task)
    utils = task_scorer.utils
    try:
        with reading(answer.task, doc):
            verdict = task_scorer.explain(doc, answer.response)
            doc_digest, gold_response = (
                utils.digest(doc).hex(),
                utils.gold_response(doc),
            )
            cluster_digest = sha256(utils.cluster(doc))[:_DIGITS]
            breakdowns = task_scorer.breakdowns(doc)
            error, error_unit = task_scorer.error_of(verdict)
    except DocumentError as error:
        raise LineError(str(error)) from None
    task_scorer.check_verdict(verdict)
    return {
        "task": answer.task,
        "doc_id": answer.doc_id,
        "digest": doc_digest,
        "cluster": cluster_digest,
        "sample": answer.sample,
        "filter": answer.filter,
        **_verdict_columns(answer, doc, verdict, gold_response),
        "error": error,
        "error_unit": error_unit,
        "length": len(answer.response),
        "response": sha256(answer.response)[:_DIGITS],
        "excerpt": shorten(answer.response),
        **{name: shorten(value) for name, value in breakdowns.items()},
        "file": file,
        "line": answer.number,
        "has_system": _contains(answer.prompt, system),
    }


def _verdict_columns(answer: Answer, doc: dict, verdict: Verdict, gold: str) -> dict:
    """Return what a row has of a verdict, and of how much it says of the model."""
    task_scorer, invalid_reason = scorer(answer.task), None
    if answer.finish_reason == "length" or verdict.reason == CUT_OFF:
        invalid_reason = "cut_off"
    if _contains(answer.prompt, doc.get("instruction")) is False:
        invalid_reason = "no_instruction"
    logged_scores = {}
    # Of several answers, the harness scores the one that its filter leaves.
    if answer.line.get("filtered_resps") in ([answer.response], [[answer.response]]):
        for column, logged_score in answer.line.items():
            logged_scores[task_scorer.metric(column)] = logged_score
    explanation = "empty response"
    if answer.response.strip():
        explanation = task_scorer.utils.REASONS[verdict.reason]
    scores = {metric: verdict.scores.get(metric) for metric in task_scorer.metrics}
    return {
        "scores": scores,
        "reason": verdict.reason,
        "why": explanation,
        "published": shorten(verdict.published, _LONGEST),
        "published_span": verdict.published_span,
        "flexible": shorten(verdict.flexible, _LONGEST),
        "flexible_span": verdict.flexible_span,
        "value": encode_value(verdict.value),
        "reference": encode_value(verdict.reference),
        "gold": shorten(gold, _LONGEST),
        "invalid": invalid_reason,
        "finish_reason": shorten(answer.finish_reason),
        "changed": any(
            logged_scores.get(metric, score) != score
            for metric, score in verdict.scores.items()
        ),
    }


def _contains(prompt: str | None, text: object) -> bool | None:
    """Tell whether a prompt has a text, stripped; None where either is unknown.

    The prompt of a chat API is JSON, with or without escapes beyond ASCII.
    """
    if prompt is None or not isinstance(text, str) or not text.strip():
        return None
    text = text.strip()
    spellings = text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]
    return any(spelling in prompt for spelling in spellings)


def shorten(value: object, longest: int = 200) -> str | None:
    """Return a value as a text; of a longer one, start and end; None for None.

    An object with an explanation has the answer last.
    """
    if value is None:
        return None
    full_text = str(value)
    if len(full_text) <= longest:
        return full_text
    return f"{full_text[: longest // 2]} … {full_text[-longest // 2 :]}"


def encode_value(value: object) -> str | None:
    """Return a value that a rule read as JSON; None where it read none."""
    if value is None:
        return None
    json_options = {"ensure_ascii": False, "sort_keys": True, "default": _plain}
    try:
        value_json = json.dumps(value, allow_nan=False, **json_options)
    except (TypeError, ValueError):  # JSON has no infinity, and texts alone for keys
        value_json = json.dumps(str(value), ensure_ascii=False)
    return shorten(value_json, _LONGEST)


def _plain(value: object) -> str | list[str]:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Decimal) and abs(value.adjusted()) < 20:
        return format(value.normalize(), "f")  # 5.0 is 5
    return str(value)


def value_text(row: dict, column: str = "value") -> str | None:
    """Return a value in a row as a text; for none, what the response has in its place."""
    if (value_json := row[column]) is None:
        return row["flexible"]
    with suppress(ValueError):  # of JSON that was cut
        decoded_value = json.loads(value_json)
        return decoded_value if isinstance(decoded_value, str) else value_json
    return value_json


_TRIED = 3  # of the gold answers, those that seem best
_ARTICLES = {"a", "an", "the"}  # which SQuAD's F1 does not count


@dataclass
class References:
    """The references of a task's documents, and how many documents have each."""

    task: str
    counts: Counter[str] = field(default_factory=Counter)
    docs: dict[str, dict] = field(default_factory=dict)  # by key of the reference

    def add(self, doc: dict) -> None:
        """Count one more document."""
        reference_key = scorer(self.task).utils.reference_key(doc)
        self.counts[reference_key] += 1
        self.docs.setdefault(reference_key, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer. The best of these are returned. {} where there is no published score.
        """
        task_scorer, example_docs = scorer(self.task), [*self.docs.values()]
        if not (example_docs and task_scorer.headline):
            return {}
        choices = max(map(task_scorer.choices, example_docs), key=len)
        score_sums: Counter[str] = Counter()
        for constant_answer in sorted(choices or self._best_golds()):
            for doc, doc_count in zip(example_docs, self.counts.values()):
                scores = task_scorer.process_results(doc, [constant_answer])
                headline_score = scores[task_scorer.headline[0]]
                score_sums[constant_answer] += doc_count * headline_score
        return score_sums

    def _best_golds(self) -> list[str]:
        """Return the few golds of all documents with the most F1, or the most frequent."""
        task_scorer = scorer(self.task)
        gold_counts: Counter[str] = Counter()
        if not any(metric.overlap for metric in task_scorer.metrics.values()):
            for reference_key, doc in self.docs.items():
                gold = task_scorer.utils.gold_response(doc)
                gold_counts[gold] += self.counts[reference_key]
            return [gold for gold, _ in gold_counts.most_common(_TRIED)]
        response_by_gold: dict[str, str] = {}
        for reference_key, doc in self.docs.items():
            golds = task_scorer.golds(doc)
            response_by_gold |= golds
            gold_counts.update(dict.fromkeys(golds, self.counts[reference_key]))
        best_golds_and_f1 = sum_f1(gold_counts).most_common(_TRIED)
        return [response_by_gold[gold] for gold, _ in best_golds_and_f1]


def sum_f1(gold_counts: Counter[str]) -> Counter[str]:
    """Return the sum of each gold's F1 with all golds, by their words, each counted once."""
    golds, f1_sums = sorted(gold_counts), Counter()
    word_sets = [{*re.findall(r"\w+", gold.casefold())} - _ARTICLES for gold in golds]
    set_sizes = np.array([*map(len, word_sets)])
    weights = np.array([gold_counts[gold] for gold in golds])
    gold_indices_by_word = defaultdict(list)
    for gold_index, word_set in enumerate(word_sets):
        for word in word_set:
            gold_indices_by_word[word].append(gold_index)
    for gold, word_set in zip(golds, word_sets):
        shared_counts_by_gold = np.zeros(len(golds))
        for word in word_set:
            shared_counts_by_gold[gold_indices_by_word[word]] += 1
        f1_scores = 2 * shared_counts_by_gold / np.maximum(len(word_set) + set_sizes, 1)
        f1_sums[gold] = f1_scores @ weights
    return f1_sums
