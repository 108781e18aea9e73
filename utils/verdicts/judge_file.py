"""The judging of a file of answers, in a process of its own: what a stranger wrote is read there.

It refuses lines, judges answers, counts them once, and writes rows and documents of a table.
"""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import (
    MACHINE_FAULTS,
    Excess,
    FamilyError,
    LineError,
    ToolError,
    fault_of,
)
from ..core.files import HashedFile, Line, read_lines, sha256_of
from ..core.limited_processes import Ended, allow_seconds, run_apart
from ..core.progress import Meter
from ..core.task_scorers import scorer
from .constant_answers import References
from .find_answer_files import AnswerFile
from .judge_answer import judge_answer, look_up_document
from .page_excerpts import shown_prompt, shown_response
from .read_answers import Answer, answers_in, claims_of, read_results, typed_claim
from .tally import Tally


# Option -> its default, and what it bounds.
LIMITS = {
    "most_memory": (2_048, "MiB of memory to judge a file, above the tool's own"),
    "most_seconds": (20, "seconds of processor time to judge a file"),
    "most_answer_ms": (5, "milliseconds more for each answer"),
    "most_row_ms": (300, "milliseconds more for each row regenerated from a seed"),
    "most_line": (16, "MiB of a line"),
    "most_unpacked": (4_096, "MiB of a file once it is unpacked"),
    "most_filters": (8, "filters of a task"),
    "most_samples": (64, "answers to a document"),
    "most_documents": (100_000, "documents of a task"),
    "most_table": (
        256,
        "MiB of the rows of a table, and of the texts that a page shows",
    ),
}
ROWS_NAME = "verdicts_{}.jsonl"  # of the file with the rows of a task
DOCUMENTS_NAME = "documents_{}.jsonl"  # of the one with its documents
# Of those with what a page shows: a line a row, and a line a document's digest.
RESPONSES_NAME, PROMPTS_NAME = "responses_{}.jsonl", "prompts_{}.jsonl"
_MOST_REFUSED = 1_000  # tasks and filters of which refused lines are counted apart
MOST_FAULTS = 5  # that a table names; the others are counted


def judge_apart(
    judgings: Iterable[Judging], options: Namespace, poll: Callable[[], None]
) -> Generator[tuple[Judging, dict]]:
    """Yield each judging with its reply, as of `Judging.reply`, as they finish.

    `poll` is called some times a second.
    """
    limits = options.workers, options.most_memory
    for judging, reply in run_apart(Judging.reply, judgings, *limits, poll):
        yield judging, _fault(reply, options) if isinstance(reply, Ended) else reply


def _fault(ended: Ended, options: Namespace) -> dict[str, str]:
    """Return the reply for a process that gave none."""
    if ended.kind == "time":
        bound = f"{options.most_seconds} s and {options.most_answer_ms} ms an answer"
        fault = f"takes more processor time than {bound}; raise --most_seconds"
    elif ended.kind == "memory":
        fault = f"takes more than {options.most_memory:,} MiB of memory"
        fault = f"{fault}; raise --most_memory"
    elif ended.kind == "fault":
        fault = f"cannot be judged ({ended.detail})"
    else:
        fix = "see whether memory ran out, and run the command again"
        killed = f"its process was killed (status {ended.detail})"
        return {"error": f"{killed}; {fix}"}
    return {"failure": fault}


def digests_of(source: AnswerFile) -> list[str | None]:
    """Return the SHA-256 of a source's file and of its results, if it has some."""
    paths = (source.path, source.results_path)
    return [None if path is None else sha256_of(path) for path in paths]


@dataclass(eq=False)
class Judging:
    """The judging of a file of answers, line by line, in a process of its own."""

    source: AnswerFile
    folder: Path  # for the rows of its table
    options: Namespace  # LIMITS, `include_path` and `leave_out`
    check: Any  # class of what a board checks, as `run_checks.Check`; None for nothing
    meter: Meter = field(default_factory=Meter.shared)  # of lines and answers
    seconds: float = 0  # of processor time that it may take
    results: dict = field(default_factory=dict)
    model: str | None = None
    files: dict[str, BinaryIO] = field(default_factory=dict)  # of its table, by name
    row_counts: Counter[str] = field(default_factory=Counter)  # by task
    row_bytes: int = 0  # of rows and documents that are written
    text_bytes: int = 0
    prompted: set[tuple[str, str]] = field(default_factory=set)  # task and digest
    # By task and filter: figures, references and checks of what counts, refused lines.
    counted: dict[tuple, tuple[Tally, References, Any]] = field(default_factory=dict)
    refused: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)  # of the first of them
    looked_up: set[str] = field(default_factory=set)  # tasks of which it has the rows
    # Task -> filter -> sum of the hashes of all responses.
    hash_sums: dict[str, Counter] = field(default_factory=dict)

    def reply(self) -> dict:
        """Judge the file and write the rows of its table; return what its head says.

        Beside that it says as `looked_up` of which tasks it had to have the rows. A
        `failure` where the file is at fault, and an `error` where the machine is.
        """
        self._allow(self.options.most_seconds)
        try:
            return self._judge_file()
        finally:
            self.meter.milliseconds = int(time.process_time() * 1000)

    def _allow(self, more_seconds: float) -> None:
        """Allow this process so much more processor time."""
        self.seconds += more_seconds
        self.meter.milliseconds = int(self.seconds * 1000)
        allow_seconds(self.seconds)

    def _judge_file(self) -> dict:
        """Return the reply, as `reply` says it."""
        try:
            results_digest = None
            if self.source.results_path:
                self.results, results_digest = read_results(self.source.results_path)
            self.model = self.results.get("model_name")
            try:
                # Of what is judged, whatever stands there before and after.
                with HashedFile(self.source.path) as file:
                    end_fault = self._judge_lines(file)
                    source_digests = [file.digest(), results_digest]
                self._write_documents()
            finally:
                for table_file in self.files.values():
                    table_file.close()
        except OSError as error:
            fault = f"{error.filename or self.source.path}: {fault_of(error)}"
            is_of_machine = error.errno in MACHINE_FAULTS
            if is_of_machine:
                fault = fault_of(error)
            return {"error": self._without_path(fault), "is_of_machine": is_of_machine}
        except (ToolError, Excess) as error:
            return {"failure": self._without_path(f"{error}")}
        refused_line_counts = [(*key, count) for key, count in self.refused.items()]
        return {
            "sha256": source_digests,
            "model": self.model and typed_claim(self.model, str),
            "refused": {"lines": self.faults, "tasks": refused_line_counts},
            "end": end_fault,
            "tasks": self._task_entries(),
            "looked_up": sorted(self.looked_up),
        }

    def _task_entries(self) -> list[dict]:
        """Return what a head says of each task through each filter."""
        return [
            {
                "task": task,
                "filter": filter_name,
                "documents": tally.answered,
                "claims": self.results and claims_of(self.results, task),
                "left_out": tally.left_out,
                "examples": tally.examples,
                "constants": references.constants(),
                "check": check and check.outcome(tally),
            }
            for (task, filter_name), (tally, references, check) in self.counted.items()
        ]

    def _without_path(self, fault: str) -> str:
        """Return a fault without the path of the file that it begins with.

        It may be kept for other files that are the same, so it names no folder.
        """
        if results_path := self.source.results_path:
            fault = fault.replace(f"{results_path}", results_path.name)
        return fault.removeprefix(f"{self.source.path}").lstrip(":, ")

    def _judge_lines(self, file: HashedFile) -> str | None:
        """Judge the lines of the file; return why it is not read to its end, if so."""
        size_limits = self.options.most_line << 20, self.options.most_unpacked << 20
        try:
            for line in read_lines(self.source.path, *size_limits, self.meter, file):
                self._judge_line(line)
        except FamilyError:  # of which nothing counts: no line is at fault
            raise
        except ToolError as error:
            return self._without_path(f"{error}")
        if not (self.counted or self.refused):
            return "has no answers that can be scored; give a file with some"
        for task, hash_sum_by_filter in self.hash_sums.items():
            if len({*hash_sum_by_filter.values()}) > 1:
                fix = "take the log as the harness wrote it"
                return f"the filters of {task} have different 'resps'; {fix}"
        return None

    def _judge_line(self, line: Line) -> None:
        """Judge the answers in a line; note why one does not count."""
        options, answers = self.options, answers_in(line, self.source.task)
        task, filter_name, record = answers[0].task, answers[0].filter, answers[0].line
        if "filtered_resps" in record:
            responses_json = json.dumps([record.get("doc_id"), record.get("resps")])
            hash_sum_by_filter = self.hash_sums.setdefault(task, Counter())
            hash_sum_by_filter[filter_name] += hash(responses_json)
        try:
            for answer in answers:
                self._judge(answer)
                self.meter.answers += 1
                more_ms = options.most_answer_ms
                if self.check and scorer(task).upstream[0] is None:
                    more_ms += options.most_row_ms  # its row is regenerated
                self._allow(more_ms / 1000)
        except LineError as error:
            key = task, filter_name
            # Names of filters of refused lines are bounded as those of others.
            if key not in self.refused and len(self.refused) >= _MOST_REFUSED:
                key = task, None
            self.refused[key] += 1
            if len(self.faults) < MOST_FAULTS:
                self.faults.append((line.number, f"{error}"))

    def _judge(self, answer: Answer) -> None:
        """Judge an answer and write its row; LineError where it does not count."""
        if answer.fault:
            raise LineError(answer.fault)
        if (doc := answer.doc) is None:
            self.looked_up.add(answer.task)
            try:
                doc = look_up_document(answer, self.options.include_path)
            except LineError:
                raise
            except ToolError as error:  # there are no documents
                raise OSError(f"line {answer.number}: {error}") from None
        system = self.results.get("system_instruction")
        row = judge_answer(answer, doc, self.source.path.name, system)
        self._count(answer, doc, row)
        self.row_counts[answer.task] += 1
        self._write(ROWS_NAME.format(answer.task), row)
        if self.check:
            self._write_texts(answer, doc, row)
        self.model = self.model or answer.model

    def _write_texts(self, answer: Answer, doc: dict, row: dict) -> None:
        """Write what a page shows of a row's response, and of the prompt if it is new."""
        task = answer.task
        response = {"response": shown_response(answer, row)}
        self._write_text(RESPONSES_NAME.format(task), response)
        if (task, row["digest"]) not in self.prompted:
            self.prompted.add((task, row["digest"]))
            prompt = {"digest": row["digest"], "prompt": shown_prompt(answer, doc)}
            prompt["is_logged"] = answer.prompt is not None
            self._write_text(PROMPTS_NAME.format(task), prompt)

    def _write_text(self, name: str, text: dict) -> None:
        """Write a line with a text; one without it once texts take too much room."""
        line = _json_line(text)
        if self.text_bytes + len(line) > self.options.most_table << 20:
            line = _json_line({})
        self.text_bytes += len(line)
        self._file(name).write(line)

    def _write(self, name: str, value: dict) -> None:
        """Write a line of JSON to a file of the table; Excess where it grows too large."""
        line = _json_line(value)
        self.row_bytes += len(line)
        if self.row_bytes > self.options.most_table << 20:
            fault = f"its verdicts take more than {self.options.most_table:,} MiB"
            raise Excess(f"{fault}; raise --most_table")
        self._file(name).write(line)

    def _file(self, name: str) -> BinaryIO:
        """Return a file of the table, open to be written."""
        if name not in self.files:
            self.files[name] = (self.folder / name).open("wb")
        return self.files[name]

    def _count(self, answer: Answer, doc: dict, row: dict) -> None:
        """Count an answer and its row.

        Errors as of `Tally.add`; Excess for many answers, filters or documents.
        """
        options, task, filter_name = self.options, answer.task, answer.filter
        if (task, filter_name) not in self.counted:
            filter_count = sum(counted_task == task for counted_task, _ in self.counted)
            if filter_count == options.most_filters:
                fault = f"has answers through more than {filter_count} filters"
                raise Excess(f"{answer.place}: {fault}; raise --most_filters")
            claims = self.results and claims_of(self.results, task)
            tally = Tally(task, claims.get("repeats") or 1, options.leave_out)
            check_args = self.results, task, filter_name or "none", options.include_path
            check = self.check and self.check(*check_args)
            if check:
                self.looked_up.add(task)
            self.counted[task, filter_name] = tally, References(task), check
        tally, references, check = self.counted[task, filter_name]
        document = tally.add(row, self.row_counts[task])
        if tally.answered > options.most_documents:
            fault = f"answers more than {options.most_documents:,} documents of {task}"
            raise Excess(f"{answer.place}: {fault}; raise --most_documents")
        answer_count = len(document.answers)
        if answer_count > options.most_samples:
            fault = f"has more than {options.most_samples} answers to a document"
            raise Excess(f"{answer.place}: {fault}; raise --most_samples")
        if answer_count == 1 and not document.is_left_out:
            references.add(doc)
        if check:
            check.add(answer, doc)

    def _write_documents(self) -> None:
        """Write a line for each document, with what its answers add to the figures."""
        for (task, filter_name), (tally, *_) in self.counted.items():
            tally.join_small_parts()
            for document in tally.documents:
                fields = {"filter": filter_name, **document.to_json()}
                self._write(DOCUMENTS_NAME.format(task), fields)


def _json_line(value: object) -> bytes:
    """Return a line of JSON; half a surrogate pair, which has no UTF-8, is escaped."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    return line.encode("utf-8", "backslashreplace")
