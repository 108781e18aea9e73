"""The judging of files of answers: each in a process of its own, with limits.

What a stranger wrote is read there alone. Such a process is forked from the tool's own,
which has imported and loaded what is needed, and answers in JSON through a pipe. Whatever
becomes of it, the others never notice.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import signal
import threading
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from ..core.documents import documents
from ..core.errors import Excess, LineError, ToolError, fault_of
from ..core.families import scorer
from ..core.files import Line, read_lines
from .answers import (
    LONGEST,
    Answer,
    Source,
    answers_in,
    claims_of,
    read_results,
    sha256,
)
from .figures import Tally
from .judge import References, document_of, judge_answer


# Option -> its default, and what it bounds.
LIMITS = {
    "most_memory": (2_048, "MiB of memory to judge a file, above the tool's own"),
    "most_seconds": (20, "seconds of processor time to judge a file"),
    "most_answer_ms": (5, "milliseconds more for each answer"),
    "most_row_ms": (300, "milliseconds more for each row regenerated from a seed"),
    "most_line": (64, "MiB of a line"),
    "most_unpacked": (4_096, "MiB of a file once it is unpacked"),
    "most_filters": (8, "filters of a task"),
    "most_samples": (64, "answers to a document"),
}
ROWS_NAME = "verdicts_{}.jsonl"  # of the file with the rows of a task
MOST_FAULTS = 5  # that a table names; the others are counted
_OUT_OF_MEMORY = 77  # exit status
_FORK = multiprocessing.get_context("fork")

Work = TypeVar("Work")
# Task -> why what its answers need cannot be prepared, or None: "documents" or "check".
Prepared = dict[tuple[str, str], str | None]


# ------------------------------------------------------------------------- processes


def each_apart(
    do: Callable[[Work, Prepared], dict],
    queue: deque[Work],
    options: Namespace,
    check: type | None = None,
) -> Iterator[tuple[Work, dict]]:
    """Yield each piece of work with what `do` returns of it in a process, as they finish.

    Instead of JSON of its own, `do` may return `want`: (what, task, line) of what this
    process has to prepare before it is called again. A reply has a `failure` where the
    work exceeds a limit, and an `error` where the machine cannot do it.
    """
    prepared: Prepared = {}
    running_work: dict[Connection, tuple[Work, multiprocessing.Process]] = {}
    try:
        while queue or running_work:
            while queue and len(running_work) < options.workers:
                work = queue.popleft()
                work_call = partial(do, work, prepared)
                reply_reader, process = _start(work_call, options.most_memory)
                running_work[reply_reader] = work, process
            for reply_reader in wait(running_work):
                message = b""
                with suppress(EOFError), reply_reader:
                    message = reply_reader.recv_bytes()
                work, process = running_work.pop(reply_reader)
                process.join()
                reply = json.loads(message) if message else _killed(process, options)
                needs = reply.get("want", ())
                if fault := _prepare(needs, prepared, options, check):
                    reply = {"error": fault}
                elif needs:
                    queue.appendleft(work)
                    continue
                yield work, reply
    finally:
        for _, process in running_work.values():
            process.kill()
            process.join()


def _prepare(
    needs: list, prepared: Prepared, options: Namespace, check: type | None
) -> str | None:
    """Prepare what processes are to share; return why that cannot be."""
    for need_kind, task, line_number in needs:
        if (need_kind, task) not in prepared:
            prepare_need = documents if need_kind == "documents" else check.prepare
            prepared[need_kind, task] = None
            try:
                prepare_need(task, options.include_path)
            except ToolError as error:
                prepared[need_kind, task] = str(error)
        if fault := prepared[need_kind, task]:
            return f"line {line_number}: {fault}"
    return None


def _killed(process: multiprocessing.Process, options: Namespace) -> dict[str, str]:
    """Return the reply of a process that gave none."""
    exit_status = process.exitcode
    if exit_status == -signal.SIGXCPU:
        allowance_text = (
            f"{options.most_seconds} s and {options.most_answer_ms} ms an answer"
        )
        fault = f"takes more processor time than {allowance_text}; raise --most_seconds"
        return {"failure": fault}
    if exit_status == _OUT_OF_MEMORY:
        fault = f"takes more than {options.most_memory:,} MiB of memory"
        return {"failure": f"{fault}; raise --most_memory"}
    fix = "see whether memory ran out, and run the command again"
    return {"error": f"its process was killed (status {exit_status}); {fix}"}


def _start(
    job: Callable[[], dict], most_memory: int
) -> tuple[Connection, multiprocessing.Process]:
    """Start a job in a process; return where its reply arrives, and the process."""
    reply_reader, reply_writer = _FORK.Pipe(duplex=False)
    process_arguments = (job, reply_writer, most_memory)
    process = _FORK.Process(target=_run, args=process_arguments, daemon=True)
    process.start()
    reply_writer.close()
    return reply_reader, process


def _run(job: Callable[[], dict], writer: Connection, most_memory: int) -> None:
    """Do a job in this process, within limits; it ends when its parent is gone."""
    gc.freeze()  # a collection would copy every page that the parent shares
    for signal_number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError, ValueError):  # macOS has neither the file nor the limit
        mapped_page_count = int(Path("/proc/self/statm").read_text().split()[0])
        memory_bound = mapped_page_count * resource.getpagesize() + (most_memory << 20)
        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bound, hard_limit))
    try:
        writer.send_bytes(json.dumps(job()).encode())
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def allow_seconds(seconds: float) -> None:
    """Allow this process so much processor time in all; the kernel ends it beyond."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(ValueError):  # a limit from outside is lower
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, hard_limit))


# --------------------------------------------------------------------- files of answers


class Order(NamedTuple):
    """A file of answers to judge, and how."""

    source: Source
    folder: Path  # for the rows of its table
    options: Namespace  # LIMITS, `include_path` and `leave_out`
    check: type | None  # what else is checked, such as `checks.Check`


def judge_file(order: Order, prepared: Prepared) -> dict:
    """Judge a file and write the rows of its table; return what the head of it says.

    Or a reply as of `each_apart`.
    """
    source = order.source
    try:
        return _Judging(order, prepared).reply()
    except MemoryError:
        raise
    except OSError as error:
        failed_path = error.filename or source.path
        return {"error": _without_path(source, f"{failed_path}: {fault_of(error)}")}
    except (ToolError, Excess) as error:
        return {"failure": _without_path(source, str(error))}
    except Exception as error:  # what nobody foresaw is a fault of this file alone
        return {"failure": f"cannot be judged ({error!r:.200})"}


def _without_path(source: Source, fault: str) -> str:
    """Return a fault without the path of the file that it begins with."""
    return fault.removeprefix(str(source.path)).lstrip(":, ")


class _TaskAnswers(NamedTuple):
    """The answers of a file to one task through one filter."""

    claims: dict  # of the results
    tally: Tally
    references: References
    check: object


class _Judging:
    """The judging of one file, line by line."""

    def __init__(self, order: Order, prepared: Prepared) -> None:
        self.order, self.prepared = order, prepared
        self.seconds: float = order.options.most_seconds
        allow_seconds(self.seconds)
        results_path = order.source.results_path
        self.results = read_results(results_path) if results_path else {}
        self.model = self.results.get("model_name")
        self.wanted: dict[tuple[str, str], int] = {}  # what, task -> first line
        self.files: dict[str, BinaryIO] = {}
        # By task and filter: what counts, refused lines, sums of digests of responses.
        self.answers: dict[tuple[str, str | None], _TaskAnswers] = {}
        self.refused: Counter[tuple[str, str | None]] = Counter()
        self.digest_sums: Counter[tuple[str, str | None]] = Counter()
        self.faults: list[tuple[int, str]] = []  # the first refused lines

    def reply(self) -> dict:
        """Judge the file; return its head, `end` a fault at its end, or what is wanted."""
        source, options, end = self.order.source, self.order.options, None
        byte_bounds = options.most_line << 20, options.most_unpacked << 20
        try:
            for line in read_lines(source.path, *byte_bounds):
                self._judge_line(line)
        except ToolError as error:  # why it is not read to its end
            end = _without_path(source, str(error))
        finally:
            for rows_file in self.files.values():
                rows_file.close()
        if self.wanted:
            return {"want": [(*need, number) for need, number in self.wanted.items()]}
        if not self.answers and not self.refused:
            end = end or "has no answers that can be scored; give a file with some"
        for task in {task for task, _ in self.digest_sums}:
            sums = {self.digest_sums[key] for key in self.digest_sums if key[0] == task}
            if len(sums) > 1:
                fault = f"the filters of {task} have different 'resps'"
                end = end or f"{fault}; take the log as the harness wrote it"
        refused = [(*key, refused_count) for key, refused_count in self.refused.items()]
        return {
            "model": self.model[:LONGEST] if isinstance(self.model, str) else None,
            "refused": {"lines": self.faults, "tasks": refused},
            "end": end,
            "tasks": [
                {
                    "task": task,
                    "filter": filter_name,
                    "documents": answers.tally.answered,
                    "claims": answers.claims,
                    "constants": answers.references.constants(),
                    "check": answers.check and answers.check.outcome(answers.tally),
                }
                for (task, filter_name), answers in self.answers.items()
            ],
        }

    def _judge_line(self, line: Line) -> None:
        """Judge the answers in a line; note why one does not count."""
        answers = answers_in(line, self.order.source.task)
        task_and_filter, record = (answers[0].task, answers[0].filter), answers[0].line
        if "filtered_resps" in record:
            responses_json = json.dumps([record.get("doc_id"), record.get("resps")])
            self.digest_sums[task_and_filter] += int(sha256(responses_json), 16)
        try:
            for answer in answers:
                self._judge(answer)
        except LineError as error:
            self.refused[task_and_filter] += 1
            if len(self.faults) < MOST_FAULTS:
                fault = str(error).removeprefix(f"{line.place}: ")
                self.faults.append((line.number, fault))

    def _judge(self, answer: Answer) -> None:
        """Judge an answer and write its row; LineError where it does not count."""
        options, task = self.order.options, answer.task
        if answer.fault:
            raise LineError(answer.fault)
        need_flags = {"documents": answer.doc is None, "check": self.order.check}
        for need in (need for need in need_flags if need_flags[need]):
            if (need, task) not in self.prepared:
                self.wanted.setdefault((need, task), answer.number)
        if not self.wanted:
            doc = document_of(answer, options.include_path)
            system = self.results.get("system_instruction")
            table_row = judge_answer(answer, doc, self.order.source.path.name, system)
        added_milliseconds = options.most_answer_ms  # which a refused line has not
        if self.order.check and scorer(task).upstream[0] is None:
            added_milliseconds += options.most_row_ms  # its row is regenerated
        self.seconds += added_milliseconds / 1000
        allow_seconds(self.seconds)
        if self.wanted:  # read on, for what else is wanted
            return
        self._count(answer, doc, table_row)
        if task not in self.files:
            rows_path = self.order.folder / ROWS_NAME.format(task)
            self.files[task] = rows_path.open("wb")
        row_line = json.dumps(table_row, ensure_ascii=False) + "\n"
        # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
        self.files[task].write(row_line.encode("utf-8", "backslashreplace"))
        self.model = self.model or answer.model

    def _count(self, answer: Answer, doc: dict, table_row: dict) -> None:
        """Count an answer and its row; errors as of `Tally.add`, Excess for many."""
        options, task = self.order.options, answer.task
        task_and_filter = task, answer.filter
        if task_and_filter not in self.answers:
            filter_names = [
                name for counted_task, name in self.answers if counted_task == task
            ]
            if len(filter_names) == options.most_filters:
                fault = f"has answers through more than {options.most_filters} filters"
                raise Excess(f"{answer.place}: {fault}; raise --most_filters")
            claims = claims_of(self.results, task) if self.results else {}
            repeat_count, leave_out = claims.get("repeats") or 1, options.leave_out
            tally = Tally(task, repeats=repeat_count, leave_out=leave_out)
            settings = self.results, task, answer.filter or "none", options.include_path
            check = self.order.check and self.order.check(*settings)
            self.answers[task_and_filter] = _TaskAnswers(
                claims, tally, References(task), check
            )
        _, tally, references, check = self.answers[task_and_filter]
        document = tally.add(table_row)
        document_answer_count = len(document.scores) if document else 0  # left out: 0
        if document_answer_count > options.most_samples:
            fault = f"has more than {options.most_samples} answers to a document"
            raise Excess(f"{answer.place}: {fault}; raise --most_samples")
        if document_answer_count == 1:
            references.add(doc)
        if check:
            check.add(answer, doc)
