"""From a recorded answer to a verdict: what it scores and why, as a row of a table.

Beside it stands what one answer to all documents scores, the best of those that were tried.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from contextlib import suppress
from decimal import Decimal
from itertools import chain, combinations
from pathlib import Path

import numpy as np

from ..core.documents import documents
from ..core.errors import NOT_A_DOCUMENT, LineError, ToolError
from ..core.families import Verdict, explain, not_a_document, scorer
from .answers import Answer, document_text, sha256


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = ("no_instruction", "cut_off")
# Fields of documents by which scores are broken down; the question has `format`.
BREAKDOWNS = "question_type type format level graph_gen_algorithm sorting_type".split()
# The JSON object that a question asks for. Bounded, so that no question takes quadratic
# time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")
_LONGEST = 1_000  # characters of a text in a table
_DIGITS = 16  # of a digest that is in a table to be compared


def document_of(answer: Answer, include_path: Path) -> dict:
    """Return the document of an answer.

    One that the line only names is looked up in the tasks at `include_path`: LineError
    where it is not there, ToolError where there are no documents.
    """
    if answer.doc is not None:
        return answer.doc
    task, doc_id = answer.task, answer.doc_id
    docs = documents(task, include_path)
    if not isinstance(doc_id, int) or not 0 <= doc_id < len(docs):
        doc_count_text = f"{len(docs)} documents"
        fault = f"{task} has no document {doc_id!r:.80} at {include_path} ({doc_count_text})"
    elif sha256(document_text(docs[doc_id])).startswith(answer.doc_hash or ""):
        return docs[doc_id]
    else:
        fault = f"answers another version of document {doc_id} of {task} than the one"
        fault += f" at {include_path}"
    raise LineError(f"{fault}; name the tasks that it was made with by --include_path")


def judge_answer(answer: Answer, doc: dict, file: str, system: str | None) -> dict:
    """Return the row of a table for an answer to a document.

    `file` is the name of the answer's file, `system` the system instruction of the run.
    LineError where the document is not one of the task.
    """
    family = scorer(answer.task).utils
    try:
        verdict = explain(answer.task, doc, answer.response)
        doc_digest, gold_response = family.digest(doc).hex(), family.gold_response(doc)
        cluster_digest = sha256(family.cluster(doc))[:_DIGITS]
    except ToolError as error:
        raise LineError(str(error)) from None
    except NOT_A_DOCUMENT as error:
        raise LineError(str(not_a_document(answer.task, doc, error))) from None
    return {
        "task": answer.task,
        "doc_id": answer.doc_id,
        "digest": doc_digest,
        "cluster": cluster_digest,
        "sample": answer.sample,
        "filter": answer.filter,
        **_verdict_columns(answer, doc, verdict, gold_response),
        "length": len(answer.response),
        "response": sha256(answer.response)[:_DIGITS],
        "excerpt": shorten(answer.response),
        **_breakdowns(doc),
        "file": file,
        "line": answer.number,
        "has_system": _contains(answer.prompt, system),
    }


def _verdict_columns(answer: Answer, doc: dict, verdict: Verdict, gold: str) -> dict:
    """Return what a row has of a verdict, and of how much it says of the model."""
    task_scorer = scorer(answer.task)
    explanation, invalid_reason = "empty response", None
    if answer.response.strip():
        explanation = task_scorer.utils.REASONS[verdict.reason]
    if answer.finish_reason == "length" or verdict.reason == "cut_off":
        invalid_reason = "cut_off"
    if _contains(answer.prompt, doc.get("instruction")) is False:
        invalid_reason = "no_instruction"
    # Of several answers, the harness scores the one that its filter leaves.
    filtered_responses = answer.line.get("filtered_resps")
    is_scored = filtered_responses in ([answer.response], [[answer.response]])
    logged_line = answer.line if is_scored else {}
    logged_scores = {
        task_scorer.metric(column): cell for column, cell in logged_line.items()
    }
    return {
        "scores": {
            metric: verdict.scores.get(metric) for metric in task_scorer.metrics
        },
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


def _breakdowns(doc: dict) -> dict[str, str | None]:
    """Return what a document has of BREAKDOWNS."""
    question, answer_format = doc.get("question"), None
    if isinstance(question, str) and (template_match := _TEMPLATE.search(question)):
        answer_format = " ".join(template_match["fields"].split())
    doc_cells = {"format": answer_format, **doc}
    return {field: shorten(doc_cells.get(field)) for field in BREAKDOWNS}


# --------------------------------------------------------------- values in a table


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
    with suppress(ValueError):  # of a text, JSON has quotation marks
        decoded_value = json.loads(value_json)
        return decoded_value if isinstance(decoded_value, str) else value_json
    return value_json  # JSON that was cut


# --------------------------------------------- one answer to all documents

# Gold answers that are scored: the most frequent, or those with the best words.
_TRIED = 3
_ARTICLES = ("a", "an", "the")  # which SQuAD's F1 does not count
# All of a document that its published score depends on, but options.
_REFERENCE = ("answer", "answer_format", "golds", "label", "letters")


class References:
    """The references of a task's documents, and how many documents have each."""

    def __init__(self, task: str) -> None:
        self.task = scorer(task)
        self.counts: Counter[str] = Counter()
        self.docs: dict[str, dict] = {}  # reference -> one of the documents

    def add(self, doc: dict) -> None:
        """Count one more document."""
        reference_json = json.dumps([doc.get(field) for field in _REFERENCE])
        self.counts[reference_json] += 1
        self.docs.setdefault(reference_json, doc)

    def constants(self) -> dict[str, float]:
        """Return the sum of the published scores of one answer to all documents, by answer.

        Tried are, where there is a choice, each label and each set of options; else each
        gold answer and, where F1 counts words, sets of words. The best of them are
        returned. {} where there is no published score.
        """
        if not (self.docs and self.task.headline):
            return {}
        headline_metric, reference_counts = self.task.headline[0], self.counts.values()
        score_sums = {}
        for constant_answer in sorted(self._best_answers()):
            scores = (
                self.task.process_results(doc, [constant_answer])[headline_metric]
                for doc in self.docs.values()
            )
            weighted_scores = (
                count * score for count, score in zip(reference_counts, scores)
            )
            score_sums[constant_answer] = sum(weighted_scores)
        return score_sums

    def _best_answers(self) -> list[str]:
        """Return the answers that are tried: choices, best golds, or the most frequent."""
        gold_response_of, docs = self.task.utils.gold_response, [*self.docs.values()]
        doc_with_most_options = max(docs, key=lambda doc: len(doc.get("options", ())))
        if answer_choices := random_choices(self.task.task, doc_with_most_options):
            return answer_choices
        if "f1_score" in self.task.metrics:
            reference_counts = [*self.counts.values()]
            words_of_golds = Words(reference_counts, [doc["golds"] for doc in docs])
            gold_changes = ({"golds": [gold]} for gold in words_of_golds.best_texts())
            return [gold_response_of(docs[0] | change) for change in gold_changes]
        gold_counts: Counter[str] = Counter()
        for reference_json, doc in self.docs.items():
            gold_counts[gold_response_of(doc)] += self.counts[reference_json]
        return [frequent_gold for frequent_gold, _ in gold_counts.most_common(_TRIED)]


def random_choices(task: str, document: dict) -> list[str]:
    """Return every answer to choose from: sets of options, labels, else none."""
    options = document.get("options", [])
    gold_changes = [{"label": option} for option in options]
    if "letters" in document:
        option_letters = "ABCD"[: len(options)]
        set_sizes = range(1, len(option_letters) + 1)
        letter_sets = chain(*(combinations(option_letters, size) for size in set_sizes))
        gold_changes = [{"letters": letter_set} for letter_set in letter_sets]
    gold_response_of = scorer(task).utils.gold_response
    return [gold_response_of(document | gold_change) for gold_change in gold_changes]


class Words:
    """The words of golds, which F1 counts: of documents, so many of which have the golds."""

    def __init__(self, counts: list[int], golds: list[list[str]]) -> None:
        """Take the golds of each document, and how many documents have the same."""
        self.counts, self.texts = np.array(counts), [*chain(*golds)]
        # Of each document, the place of its first text.
        self.starts = np.cumsum([0, *map(len, golds)])[:-1]
        self.sizes = np.array([len(_words(gold_text)) for gold_text in self.texts])
        word_places = defaultdict(list)
        for text_number, gold_text in enumerate(self.texts):
            for word, count_in_text in Counter(_words(gold_text)).items():
                word_places[word].append((text_number, count_in_text))
        # Word -> the texts that have it, and how often.
        self.places = {word: np.array(pairs).T for word, pairs in word_places.items()}

    def best_texts(self) -> list[str]:
        """Return the golds with the highest sums of F1, and a set of words with a higher.

        Words are added to the best gold and removed, one at a time, as the sum grows.
        """
        ranked_golds = [(-self.sum_f1(_words(gold)), gold) for gold in {*self.texts}]
        best_golds = [gold for _, gold in sorted(ranked_golds)[:_TRIED]]
        words, best_f1_sum = _words(best_golds[0]), -1.0
        while (f1_sum := self.sum_f1(words)) > best_f1_sum:
            best_f1_sum, best_words = f1_sum, words
            shorter_sets = [
                words[:word_number] + words[word_number + 1 :]
                for word_number in range(len(words))
            ]
            longer_sets = [[*words, word] for word in self.places]
            words = max([*shorter_sets, *longer_sets], key=self.sum_f1)
        return [*best_golds, " ".join(best_words)]

    def sum_f1(self, words: list[str]) -> float:
        """Return the sum of the F1 of words with the golds, of each document the best."""
        shared_counts = np.zeros(len(self.texts))
        for word, occurrence_count in Counter(words).items():
            text_numbers, counts_in_texts = self.places[word]
            shared_counts[text_numbers] += np.minimum(counts_in_texts, occurrence_count)
        half_f1_scores = shared_counts / np.maximum(len(words) + self.sizes, 1)
        return float(np.maximum.reduceat(half_f1_scores, self.starts) @ self.counts)


def _words(text: str) -> list[str]:
    """Return the words of a text in its order, without articles."""
    all_words = re.findall(r"\w+", text.casefold())
    return [word for word in all_words if word not in _ARTICLES]
