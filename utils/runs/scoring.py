"""From recorded answers to verdicts, and from verdicts to the figures of a run.

What an answer scores, and why, comes from the family's `explain` alone.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..core.documents import documents
from ..core.errors import NOT_A_DOCUMENT, LineError
from ..core.families import FOLDER, Verdict, scorer
from ..packs import disputed
from .answers import Answer, document_text, sha256
from .repeats import Answered


if TYPE_CHECKING:
    from .find import Made


# Why an answer cannot tell what its model is able to do. Its scores stand, as in the
# harness; a board shows how many there are.
INVALID = {
    "no_instruction": "the prompt lacks the format instruction: the chat template dropped"
    " the system message",
    "cut_off": "the token limit ended the response",
}
# Fields of documents by which scores are broken down; the answer format comes from the
# prompt, see `answer_format`.
BREAKDOWNS = "question_type type format level graph_gen_algorithm sorting_type".split()
# Bounded, so that no question takes quadratic time.
_TEMPLATE = re.compile(r"""\{["']explanation["'][^,]{0,500},(?P<fields>.{0,500}?)\}""")


class Scored(NamedTuple):
    """An answer with the family's verdict on it."""

    answer: Answer
    doc: dict
    verdict: Verdict
    invalid: str | None  # one of INVALID
    digest: bytes  # of the document, by the family
    is_changed: bool  # whether the harness's log gives other scores


def score(answer: Answer, include_path: Path = FOLDER) -> Scored:
    """Return the verdict on an answer.

    A document that the line only names is looked up in the tasks at `include_path`.
    Raises LineError for a line that cannot be scored, ToolError where there are no
    documents to look it up in.
    """
    if answer.fault:
        raise LineError(f"{answer.place}: {answer.fault}")
    doc, explain = document_of(answer, include_path), scorer(answer.task).explain
    try:
        verdict = explain(doc, answer.response)
        return scored_as(answer, doc, verdict, _invalid(answer, doc, verdict.reason))
    except KeyError as error:
        why = f"has no {error}"
    except NOT_A_DOCUMENT as error:
        why = repr(error)
    raise LineError(
        f"{answer.place}: its document is not one of {answer.task} ({why:.100}); give the"
        " 'doc' as the harness logs it"
    )


def scored_as(
    answer: Answer, doc: dict, verdict: Verdict, invalid: str | None
) -> Scored:
    """Return an answer with a verdict on it; NOT_A_DOCUMENT without a digest."""
    logged = answer.line if "filtered_resps" in answer.line else {}
    task, scores = scorer(answer.task), verdict.scores
    is_changed = any(
        scores.get(task.metric(name), value) != value for name, value in logged.items()
    )
    return Scored(answer, doc, verdict, invalid, task.utils.digest(doc), is_changed)


def document_of(answer: Answer, include_path: Path) -> dict:
    """Return the document of an answer; errors as of `score` where it is only named."""
    if answer.doc is not None:
        return answer.doc
    found = documents(answer.task, include_path)
    if not isinstance(answer.doc_id, int) or not 0 <= answer.doc_id < len(found):
        fault = (
            f"{answer.task} has no document {answer.doc_id!r:.80} at {include_path}"
            f" ({len(found)} documents)"
        )
    else:
        doc = found[answer.doc_id]
        doc_hash = answer.doc_hash or ""
        if not doc_hash or sha256(document_text(doc)).startswith(doc_hash):
            return doc
        fault = (
            f"answers another version of document {answer.doc_id} of {answer.task} than"
            f" the one at {include_path}"
        )
    raise LineError(
        f"{answer.place}: {fault}; name the tasks that it was made with by --include_path"
    )


def _invalid(answer: Answer, doc: dict, reason: str) -> str | None:
    instruction = doc.get("instruction")
    if isinstance(instruction, str) and answer.prompt is not None:
        # The prompt of a chat API is JSON, with or without escapes beyond ASCII.
        text = instruction.strip()
        forms = (text, *(json.dumps(text, ensure_ascii=x)[1:-1] for x in (False, True)))
        if not any(form in answer.prompt for form in forms):
            return "no_instruction"
    return "cut_off" if answer.hit_limit or reason == "cut_off" else None


def verdict_line(scored: Scored) -> dict:
    """Return the line of an answer with `task` and `verdict`: scores and why."""
    answer, verdict, task = scored.answer, scored.verdict, scorer(scored.answer.task)
    told = {
        "version": task.version,
        **jsonable(verdict._asdict()),
        "why": task.utils.REASONS[verdict.reason],
        "invalid": scored.invalid,
    }
    return {**answer.line, "task": answer.task, "verdict": told}


def jsonable(value: object) -> object:
    """Return a value that the rules read in a form that JSON has."""
    if isinstance(value, dict):
        return {str(key): jsonable(cell) for key, cell in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [jsonable(cell) for cell in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | None) else str(value)


def breakdowns(doc: dict) -> dict[str, str]:
    """Return by what a document's scores are broken down: name -> its value."""
    cells = {"format": answer_format(doc), **doc}
    return {x: str(cells[x]) for x in BREAKDOWNS if cells.get(x) is not None}


def answer_format(doc: dict) -> str | None:
    """Return the fields of the JSON object that a question asks for; None without one."""
    question = doc.get("question")
    found = _TEMPLATE.search(question) if isinstance(question, str) else None
    return " ".join(found["fields"].split()) if found else None


class Figures:
    """Counts and scores of the answers to some documents of one task."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.n = 0
        self.invalid: Counter[str] = Counter()
        self.changed = 0  # answers to which the harness's log gives other scores
        # By metric, of the documents that have it.
        self._values: dict[str, array[float]] = {}

    def add(self, scored: Scored) -> None:
        """Count one more answer."""
        self.n += 1
        for metric, value in scored.verdict.scores.items():
            self._values.setdefault(metric, array("d")).append(value)
        if scored.invalid:
            self.invalid[scored.invalid] += 1
        self.changed += scored.is_changed

    @property
    def counts(self) -> Counter[str]:
        """How many documents each metric applies to."""
        return Counter({metric: len(x) for metric, x in self._values.items()})

    def means(self) -> dict[str, float]:
        """Return metric -> mean over the documents that it applies to, if any.

        They stand in the order of the task's YAML file, and are the harness's to the last
        bit: it, too, divides what `sum` gives.
        """
        metrics = (x for x in scorer(self.task).metrics if x in self._values)
        return {x: sum(self._values[x]) / len(self._values[x]) for x in metrics}


class Tally:
    """The figures of one task in a run: of all its documents, and broken down.

    Answers to the documents of the list `leave_out`, see `disputed`, are counted and left
    out.
    """

    def __init__(self, task: str, leave_out: str | None = None) -> None:
        self.task, self.leave_out = task, leave_out
        self.left_out = 0
        self.answered = Answered(task)
        self.made: Made | None = None  # what fresh rows were made from, where known
        self.all = Figures(task)
        self.parts: dict[tuple[str, str], Figures] = {}  # (breakdown, value) ->

    def add(self, scored: Scored) -> bool:
        """Count one more answer; return False for one that is left out.

        Raises LineError for a second one to the same document, see `Answered`.
        """
        self.answered.add(scored.answer, scored.digest)
        if disputed.is_in(self.leave_out, scored.digest):
            self.left_out += 1
            return False
        self.all.add(scored)
        for part in breakdowns(scored.doc).items():
            if part not in self.parts:
                self.parts[part] = Figures(self.task)
            self.parts[part].add(scored)
        return True

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the documents, as the families log it."""
        return self.answered.fingerprint

    def rows_are(self) -> str:
        """Return in words whether the documents are the rows of the benchmark.

        A fingerprint is one of all rows, those that are left out included.
        """
        rows, fingerprint = scorer(self.task).known
        found, different = self.answered.n, self.answered.different
        if rows is None:
            return self._rows_made()
        if self.answered.surplus or found > rows:
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
        found = self.answered.n
        if found < rows and found == self.answered.different:
            return f"made from seed {seed}, {found} of its {rows}"
        if found == rows and fingerprint in (None, self.fingerprint):
            return f"made from seed {seed}, all {rows}"
        return f"not the {rows} of seed {seed}"
