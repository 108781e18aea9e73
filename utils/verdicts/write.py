"""Judging a file of answers: from its lines to the files of a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..core.documents import quiet_harness
from ..core.errors import LineError, ToolError
from ..core.families import scorer
from ..core.jsonl import Line, read_lines
from .answers import Answer, answers_in, sha256, task_of, within
from .claims import LONGEST, claims_of, read_results
from .constants import References
from .figures import Tally
from .find import Source
from .isolate import Budget, Limits
from .judge import row, score
from .table import verdicts_name, write_head


MOST_FAULTS = 5  # that a table names; the others are counted
_ROUND = 64  # answers after which a budget grows


class Order(NamedTuple):
    """What is to be judged, and how."""

    source: Source
    part: Path  # the folder for the files of the table
    key: str | None  # of what the table depends on
    include_path: Path
    leave_out: str | None
    check: type | None  # what else is checked, such as `checks.Check`
    limits: Limits


class Wanted(Exception):
    """What the tool's own process has to prepare first: (what, task, line) of each."""


class Excess(Exception):
    """What of a file exceeds a limit."""


def write_table(order: Order, ready: set[tuple[str, str]]) -> dict:
    """Judge a file and write its table; return what became of it, in JSON.

    `ready` has what is prepared, and of which task: "documents" or "check". Keys:
    `want`, what has to be prepared first; `error`, why the machine cannot; or none: then
    run.json says all.
    """
    try:
        with quiet_harness():
            head = _Judging(order, ready).head()
    except Wanted as wanted:
        return {"want": [*wanted.args]}
    except OSError as error:
        path = error.filename or order.source.path
        return {"error": error.strerror or str(error), "path": str(path)}
    except MemoryError:
        raise
    except (ToolError, Excess) as error:
        head = {"failure": _fault(order.source, error)}
    except Exception as error:  # what nobody foresaw is a fault of this file alone
        head = {"failure": f"cannot be judged ({error!r:.200})"}
    write_head(order.part, order.source, order.key, **head)
    return {}


def _fault(source: Source, error: Exception) -> str:
    """Return what an error says, without the path of the file."""
    return str(error).removeprefix(str(source.path)).removeprefix(": ")


class _Part(NamedTuple):
    """The answers to one task through one filter."""

    tally: Tally
    references: References
    check: object


class _Judging:
    """The judging of one file, line by line."""

    def __init__(self, order: Order, ready: set[tuple[str, str]]) -> None:
        self.order, self.ready, path = order, ready, order.source.results_path
        self.results = read_results(path) if path else {}
        self.model = self.results.get("model_name")
        self.task = task_of(order.source.path, order.source.task)
        self.budget = Budget(order.limits.seconds)
        self.files = ExitStack()
        self.outputs: dict[str, BinaryIO] = {}
        self.parts: dict[tuple[str, str | None], _Part] = {}
        self.refused: Counter[tuple[str, str | None]] = Counter()
        # All responses to all documents, as a sum of digests, by task and filter.
        self.logged: Counter[tuple[str, str | None]] = Counter()
        self.faults: list[list] = []  # the first: line and fault
        self.answers = 0
        self.wanted: dict[tuple[str, str], int] = {}  # what, task -> first line

    def head(self) -> dict:
        """Judge the file; return what the head of its table says."""
        with self.files:
            end = self._read()
        if self.wanted:
            raise Wanted(*((*key, line) for key, line in self.wanted.items()))
        if not self.parts and not self.refused:
            end = end or "has no answers that can be scored; give a file with some"
        for task in {task for task, _ in self.logged}:
            digest_sums = {self.logged[key] for key in self.logged if key[0] == task}
            if len(digest_sums) > 1:
                fault = f"the filters of {task} have different 'resps'"
                end = end or f"{fault}; take the log as the harness wrote it"
        refused = [[*key, count] for key, count in self.refused.items()]
        return {
            "model": self.model[:LONGEST] if isinstance(self.model, str) else None,
            "refused": {"lines": self.faults, "tasks": refused},
            "end": end,
            "tasks": [*self._entries()],
        }

    def _read(self) -> str | None:
        """Judge the lines; return why the file was not read to its end, if it was not."""
        source, limits = self.order.source, self.order.limits
        bounds = limits.line << 20, limits.unpacked << 20
        try:
            for line in read_lines(source.path, *bounds):
                self._judge_line(line)
        except ToolError as error:
            return _fault(source, error)
        return None

    def _judge_line(self, line: Line) -> None:
        """Judge the answers in a line; note why one does not count."""
        answers, limit = answers_in(line, self.task), self.order.limits.samples
        if len(answers) > limit:
            fault = f"line {line.number}: has more than {limit} answers"
            raise Excess(f", {fault}; raise --most_samples")
        key, cells = (answers[0].task, answers[0].filter), answers[0].line
        if "filtered_resps" in cells:
            text = json.dumps([cells.get("doc_id"), cells.get("resps")])
            self.logged[key] += int(sha256(text), 16)
        try:
            for answer in answers:
                self._judge(answer)
        except LineError as error:
            self.refused[key] += 1
            if len(self.faults) < MOST_FAULTS:
                fault = str(error).removeprefix(f"{line.place}: ")
                self.faults.append([line.number, fault])

    def _judge(self, answer: Answer) -> None:
        order = self.order
        if not answer.fault:
            self._want(answer)
        if self.wanted:  # read on, for what else is wanted
            self._give_time(answer)
            return
        scored = score(answer, order.include_path)
        self._give_time(answer)
        system = self.results.get("system_instruction")
        entry = row(scored, order.source.path.name, system)
        part = self._part(answer.task, answer.filter)
        try:
            document = part.tally.add(entry)
        except LineError as error:
            raise LineError(f"{answer.place}: {error}") from None
        if document and len(document.scores) > order.limits.samples:
            fault = f"has more than {order.limits.samples} answers to a document"
            raise Excess(f"{fault}; raise --most_samples")
        if document and len(document.scores) == 1:  # None: it is left out
            part.references.add(scored.doc)
        if part.check:
            part.check.add(scored)
        self._write(entry)
        self.model = self.model or within(answer.line, "response", "body", "model")

    def _want(self, answer: Answer) -> None:
        """Note what the tool's own process has to prepare for an answer."""
        needs = {"documents": answer.doc is None, "check": bool(self.order.check)}
        for need in (name for name in needs if needs[name]):
            if (need, answer.task) not in self.ready:
                self.wanted.setdefault((need, answer.task), answer.number)

    def _give_time(self, answer: Answer) -> None:
        """Allow the processor time of one more answer; a refused line has none."""
        limits, milliseconds = self.order.limits, 0.0
        if self.answers % _ROUND == 0:
            milliseconds = _ROUND * limits.answer_ms
        if self.order.check and scorer(answer.task).known[0] is None:
            milliseconds += limits.row_ms  # its row is regenerated
        self.answers += 1
        if milliseconds:
            self.budget.add(milliseconds / 1000)

    def _part(self, task: str, filter_name: str | None) -> _Part:
        """Return what is counted of a task through a filter."""
        if part := self.parts.get((task, filter_name)):
            return part
        order = self.order
        if sum(name == task for name, _ in self.parts) == order.limits.filters:
            fault = f"has answers through more than {order.limits.filters} filters"
            raise Excess(f"{fault}; raise --most_filters")
        repeats = claims_of(self.results, task).get("repeats") or 1
        tally = Tally(task, repeats=repeats, leave_out=order.leave_out)
        name, check_type = filter_name or "none", order.check
        settings = self.results, task, name, order.include_path
        check = check_type and check_type(*settings)
        part = self.parts[task, filter_name] = _Part(tally, References(task), check)
        return part

    def _write(self, entry: dict) -> None:
        if not (file := self.outputs.get(entry["task"])):
            path = self.order.part / verdicts_name(entry["task"])
            file = self.files.enter_context(path.open("wb"))
            self.outputs[entry["task"]] = file
        text = json.dumps(entry, ensure_ascii=False)
        # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")

    def _entries(self) -> Iterator[dict]:
        """Yield what the head says of each task and filter."""
        for (task, filter_name), part in self.parts.items():
            yield {
                "task": task,
                "filter": filter_name,
                "documents": part.tally.answered,
                "claims": claims_of(self.results, task),
                "constants": part.references.constants(),
                "check": part.check and part.check.outcome(part.tally),
            }
