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
import traceback
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import BinaryIO, TypeVar

from ..core.documents import documents
from ..core.errors import Excess, LineError, ToolError, fault_of
from ..core.families import FOLDER, scorer
from ..core.files import Line, read_lines
from .answers import Answer, Source, answers_in, claims_of, read_results, typed_claim
from .figures import Tally
from .judge import References, judge_answer, look_up_document


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
# Task -> why its documents cannot be loaded, None where they are.
LoadFaults = dict[str, str | None]


def each_apart(
    do: Callable[[Work, LoadFaults], dict],
    queue: deque[Work],
    options: Namespace,
    check: type | None = None,
) -> Iterator[tuple[Work, dict]]:
    """Yield each piece of work with what `do` returns of it in a process, as they finish.

    A reply has a `failure` where the work is at fault, an `error` where the machine is. `do`
    may `want` tasks: their documents are loaded in this process, and it is called again.
    """
    load_faults: LoadFaults = {}
    running_work: dict[Connection, tuple[Work, multiprocessing.Process]] = {}
    try:
        while queue or running_work:
            while queue and len(running_work) < options.workers:
                work = queue.popleft()
                reply_reader, writer = _FORK.Pipe(duplex=False)
                run_args = partial(do, work, load_faults), writer, options.most_memory
                process = _FORK.Process(target=_run, args=run_args, daemon=True)
                process.start()
                writer.close()
                running_work[reply_reader] = work, process
            for reply_reader in wait(running_work):
                message = b""
                with suppress(EOFError), reply_reader:
                    message = reply_reader.recv_bytes()
                work, process = running_work.pop(reply_reader)
                process.join()
                reply = json.loads(message) if message else _killed(process, options)
                for task in {*reply.get("want", ())} - load_faults.keys():
                    load_faults[task] = _load(task, options.include_path, check)
                if "want" in reply:
                    queue.appendleft(work)
                else:
                    yield work, reply
    finally:
        for _, process in running_work.values():
            process.kill()
            process.join()


def _load(task: str, include_path: Path, check: type | None) -> str | None:
    """Load the documents of a task, which processes share; return why that cannot be."""
    fault = None
    try:
        documents(task, include_path)
    except ToolError as error:
        fault = str(error)
    if check:
        check.prepare(task, include_path)
    return fault


def _killed(process: multiprocessing.Process, options: Namespace) -> dict[str, str]:
    """Return the reply of a process that gave none."""
    if process.exitcode == -signal.SIGXCPU:
        bound = f"{options.most_seconds} s and {options.most_answer_ms} ms an answer"
        return {
            "failure": f"takes more processor time than {bound}; raise --most_seconds"
        }
    if process.exitcode == _OUT_OF_MEMORY:
        fault = f"takes more than {options.most_memory:,} MiB of memory"
        return {"failure": f"{fault}; raise --most_memory"}
    fix = "see whether memory ran out, and run the command again"
    return {"error": f"its process was killed (status {process.exitcode}); {fix}"}


def _run(job: Callable[[], dict], writer: Connection, most_memory: int) -> None:
    """Do a job in this process, within limits; it ends when its parent is gone."""
    gc.freeze()  # a collection would copy every page that the parent shares
    for ignored_signal in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored_signal, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(OSError, ValueError):  # macOS has neither the file nor the limit
        mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory_bound = mapped_pages * resource.getpagesize() + (most_memory << 20)
        _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bound, hard_limit))
    try:
        reply_json = json.dumps(job())
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except Exception as error:  # what nobody foresaw is a fault of this work alone
        frame = traceback.extract_tb(error.__traceback__)[-1]
        error_file = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}"
        fault = f"cannot be judged ({error!r:.200}; {error_file}, line {frame.lineno})"
        reply_json = json.dumps({"failure": fault})
    writer.send_bytes(reply_json.encode())


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def allow_seconds(seconds: float) -> None:
    """Allow this process so much processor time in all; the kernel ends it beyond."""
    _, hard_limit = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(ValueError):  # a limit from outside is lower
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, hard_limit))


@dataclass(eq=False)
class Judging:
    """The judging of a file of answers, line by line, in a process of its own."""

    source: Source
    folder: Path  # for the rows of its table
    options: Namespace  # LIMITS, `include_path` and `leave_out`
    check: type | None  # what else is checked, such as `checks.Check`
    load_faults: LoadFaults = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)  # tasks that are not loaded yet
    seconds: float = 0  # of processor time that it may take
    results: dict = field(default_factory=dict)
    model: str | None = None
    row_files: dict[str, BinaryIO] = field(default_factory=dict)  # by task
    # By task and filter: figures, references and checks of what counts, refused lines.
    counted: dict[tuple, tuple[Tally, References, object]] = field(default_factory=dict)
    refused: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)  # of the first of them
    # Task -> filter -> sum of the hashes of all responses.
    hash_sums: dict[str, Counter] = field(default_factory=dict)

    def reply(self, load_faults: LoadFaults) -> dict:
        """Judge the file and write the rows of its table; return what its head says.

        Or a reply as of `each_apart`.
        """
        self.load_faults, self.seconds = load_faults, self.options.most_seconds
        allow_seconds(self.seconds)
        try:
            if self.source.results_path:
                self.results = read_results(self.source.results_path)
            self.model = self.results.get("model_name")
            end_fault = self._judge_lines()
        except OSError as error:
            fault = f"{error.filename or self.source.path}: {fault_of(error)}"
            return {"error": self._without_path(fault)}
        except (ToolError, Excess) as error:
            return {"failure": self._without_path(f"{error}")}
        if self.wanted:
            return {"want": [*self.wanted]}
        task_entries = [
            {
                "task": task,
                "filter": filter_name,
                "documents": tally.answered,
                "claims": self.results and claims_of(self.results, task),
                "constants": references.constants(),
                "check": check and check.outcome(tally),
            }
            for (task, filter_name), (tally, references, check) in self.counted.items()
        ]
        refused_line_counts = [(*key, count) for key, count in self.refused.items()]
        return {
            "model": self.model and typed_claim(self.model, str),
            "refused": {"lines": self.faults, "tasks": refused_line_counts},
            "end": end_fault,
            "tasks": task_entries,
        }

    def _without_path(self, fault: str) -> str:
        """Return a fault without the path of the file that it begins with."""
        return fault.removeprefix(f"{self.source.path}").lstrip(":, ")

    def _judge_lines(self) -> str | None:
        """Judge the lines of the file; return why it is not read to its end, if so."""
        size_limits = self.options.most_line << 20, self.options.most_unpacked << 20
        try:
            for line in read_lines(self.source.path, *size_limits):
                self._judge_line(line)
        except ToolError as error:
            return self._without_path(f"{error}")
        finally:
            for row_file in self.row_files.values():
                row_file.close()
        if not (self.counted or self.refused or self.wanted):
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
                self.seconds += options.most_answer_ms / 1000
                if self.check and scorer(task).upstream[0] is None:
                    self.seconds += options.most_row_ms / 1000  # its row is regenerated
                allow_seconds(self.seconds)
        except LineError as error:
            self.refused[task, filter_name] += 1
            if len(self.faults) < MOST_FAULTS:
                self.faults.append((line.number, f"{error}"))

    def _judge(self, answer: Answer) -> None:
        """Judge an answer and write its row; LineError where it does not count."""
        if answer.fault:
            raise LineError(answer.fault)
        compares_doc = self.check and self.options.include_path != FOLDER
        if answer.task not in self.load_faults and (answer.doc is None or compares_doc):
            self.wanted.add(answer.task)
        if self.wanted:  # read on, for what else is wanted
            return
        if (doc := answer.doc) is None:
            if fault := self.load_faults[answer.task]:
                raise OSError(f"line {answer.number}: {fault}")
            doc = look_up_document(answer, self.options.include_path)
        system = self.results.get("system_instruction")
        row = judge_answer(answer, doc, self.source.path.name, system)
        self._count(answer, doc, row)
        if answer.task not in self.row_files:
            row_file = (self.folder / ROWS_NAME.format(answer.task)).open("wb")
            self.row_files[answer.task] = row_file
        row_line = json.dumps(row, ensure_ascii=False) + "\n"
        # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
        self.row_files[answer.task].write(row_line.encode("utf-8", "backslashreplace"))
        self.model = self.model or answer.model

    def _count(self, answer: Answer, doc: dict, row: dict) -> None:
        """Count an answer and its row; errors as of `Tally.add`, Excess for many."""
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
            self.counted[task, filter_name] = tally, References(task), check
        tally, references, check = self.counted[task, filter_name]
        document = tally.add(row)
        answer_count = len(document.scores) if document else 0  # left out: 0
        if answer_count > options.most_samples:
            fault = f"has more than {options.most_samples} answers to a document"
            raise Excess(f"{answer.place}: {fault}; raise --most_samples")
        if answer_count == 1:
            references.add(doc)
        if check:
            check.add(answer, doc)
