"""Judging a file of answers: from its lines to the files of a table."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lm_eval_tasks import version

from ..core.documents import quiet_harness
from ..core.errors import LineError, ToolError
from ..core.families import bare, scorer
from ..core.files import sha256_of
from ..core.jsonl import MOST_BYTES, Line, read_lines
from .answers import Answer, answers_in, task_of, within
from .constants import References
from .figures import Tally
from .find import Source
from .isolate import Budget, Limits
from .judge import row, score
from .table import HEAD, SCHEMA, installed, key_from, verdicts_name


MOST_FAULTS = 5  # that a table names; the others are counted
_LONGEST_CLAIM, _MOST_TASKS = 200, 1_000  # characters, tasks
_MOST_CLAIM = 10**15  # of a number
_ROUND = 64  # answers after which a budget grows


class Order(NamedTuple):
    """What is to be judged, and how."""

    source: Source
    part: Path  # the folder for the files of the table
    include_path: Path
    leave_out: str | None
    check: Callable | None  # of prompts and documents, see `runs`
    limits: Limits
    options: dict  # what the key depends on


class Wanted(Exception):
    """The tool's own process has to prepare a task first."""


class Excess(ToolError):
    """What of a file exceeds a limit."""


def write_table(order: Order, ready: set[tuple[str, str]]) -> dict:
    """Judge a file and write its table; return what became of it, in JSON.

    `ready` are the tasks whose documents are loaded and whose checks are prepared. Keys:
    `want` and `task`, what has to be made ready first; `error`, why the machine cannot; or
    none: then run.json says all.
    """
    try:
        with quiet_harness():
            return _write(order, ready)
    except Wanted as wanted:
        return dict(zip(("want", "task", "line"), wanted.args))
    except OSError as error:
        path = error.filename or order.source.path
        return {"error": error.strerror or str(error), "path": str(path)}
    except ToolError as error:
        write_failure(order, str(error))
    except MemoryError:
        raise
    except Exception as error:  # what nobody foresaw is a fault of this file alone
        write_failure(order, f"cannot be judged ({error!r:.200})")
    return {}


def write_failure(order: Order, reason: str) -> None:
    """Leave the head of a table without verdicts."""
    source = order.source
    reason = reason.removeprefix(str(source.path)).removeprefix(":").lstrip(" ")
    paths = filter(None, (source.path, source.results_path))
    sources = [_source(path, sha256_of(path)) for path in paths if path.is_file()]
    _write_head(order, sources, {}, failure=reason)


def _write(order: Order, ready: set[tuple[str, str]]) -> dict:
    source, sources = order.source, []
    results = {}
    if path := source.results_path:
        results, digest = read_results(path)
        sources.append(_source(path, digest))
    judging = _Judging(order, ready, results)
    digest, end = hashlib.sha256(), None
    bounds = (order.limits.line << 20, order.limits.unpacked << 20)
    with judging.files:
        try:
            for line in read_lines(source.path, *bounds, digest):
                judging.judge(line)
        except Excess:
            raise
        except ToolError as error:
            end = str(error).removeprefix(str(source.path)).removeprefix(": ")
            digest = None if source.path.is_file() else digest  # it is cut short
    if not judging.tasks:
        fault = "has no answers that can be scored; give a file with some"
        end = end or (None if judging.refused else fault)
    of_file = digest.hexdigest() if digest else sha256_of(source.path)
    sources.insert(0, _source(source.path, of_file))
    faults = {"count": judging.refused, "lines": judging.faults}
    faults["tasks"] = [[*key, n] for key, n in judging.refused_of.items()]
    told = {"refused": faults, "end": end, "tasks": [*judging.entries()]}
    told["model"] = results.get("model_name") or judging.served
    _write_head(order, sources, results, **told)
    return {}


def _source(path: Path, digest: str) -> dict:
    return {"file": path.name, "size": path.stat().st_size, "sha256": digest}


def _write_head(order: Order, sources: list[dict], results: dict, **told) -> None:
    source = order.source
    model = told.pop("model", None)
    head = {
        "schema": SCHEMA,
        "key": key_from([x["sha256"] for x in sources], source, order.options),
        "pack": version(),
        "harness": installed("lm-eval"),
        "source": os.path.realpath(source.path),
        "sources": sources,
        "model": model[:_LONGEST_CLAIM] if isinstance(model, str) and model else None,
        "task": source.task,
        "time": source.time,
        "claims": claims(results),
        "refused": {"count": 0, "lines": [], "tasks": []},
        "end": None,
        "failure": None,
        "tasks": [],
    }
    text = json.dumps(head | told, indent=1)
    (order.part / HEAD).write_text(text, encoding="utf-8")


class _Judging:
    """The judging of one file, line by line."""

    def __init__(
        self, order: Order, ready: set[tuple[str, str]], results: dict
    ) -> None:
        self.order, self.ready, self.results = order, ready, results
        self.task = task_of(order.source.path, order.source.task)
        self.budget = Budget(order.limits.seconds)
        self.files = ExitStack()
        self.outputs: dict[str, BinaryIO] = {}
        self.tasks: dict[tuple[str, str | None], Tally] = {}
        self.references: dict[tuple[str, str | None], References] = {}
        self.checks: dict[tuple[str, str | None], object] = {}
        self.refused, self.faults, self.answers = 0, [], 0
        self.refused_of: Counter[tuple[str, str | None]] = Counter()
        self.served: object = None  # the model that answers a batch

    def judge(self, line: Line) -> None:
        """Judge the answers in a line; note why one does not count."""
        limits = self.order.limits
        for number, answer in enumerate(answers_in(line, self.task)):
            if number == limits.samples:
                fault = f"line {line.number}: has more than {limits.samples} answers"
                raise Excess(f", {fault}; raise --most_samples")
            try:
                self._judge(answer)
            except LineError as error:
                self._refuse(answer, str(error))
                if answer.fault:
                    break

    def _refuse(self, answer: Answer, fault: str) -> None:
        fault = fault.removeprefix(f"{answer.place}: ")
        if self.faults and self.faults[-1] == [answer.number, fault]:
            return
        self.refused += 1
        self.refused_of[answer.task, answer.filter] += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append([answer.number, fault])

    def _judge(self, answer: Answer) -> None:
        order, key = self.order, (answer.task, answer.filter)
        if not answer.fault:
            self._want(answer)
        scored = score(answer, order.include_path)
        if self.answers % _ROUND == 0:  # a refused line has no time of its own
            self.budget.add(_ROUND * order.limits.answer_ms / 1000)
        self.answers += 1
        entry = row(scored, order.source.path.name)
        entry["has_system"] = _has_system(answer.prompt, self.results)
        if key not in self.tasks:
            self._start(key)
        try:
            document = self.tasks[key].add(entry)
        except LineError as error:
            raise LineError(f"{answer.place}: {error}") from None
        if document and len(document.scores) > order.limits.samples:
            fault = f"has more than {order.limits.samples} answers to a document"
            raise Excess(f"{fault}; raise --most_samples")
        if document and len(document.scores) == 1:  # None: it is left out
            self.references[key].add(scored.doc)
        if order.check:
            if scorer(answer.task).known[0] is None:  # its row is regenerated
                self.budget.add(order.limits.row_ms / 1000)
            self.checks[key].add(scored)
        self._write(entry)
        body = within(answer.line, "response", "body")
        self.served = self.served or within(body, "model")

    def _want(self, answer: Answer) -> None:
        """Raise Wanted for what the tool's own process has not made ready."""
        wanted = [("documents", answer.doc is None), ("check", bool(self.order.check))]
        for what, is_wanted in wanted:
            if is_wanted and (what, answer.task) not in self.ready:
                raise Wanted(what, answer.task, answer.number)

    def _start(self, key: tuple[str, str | None]) -> None:
        task, filter_name = key
        of_task = {other for name, other in self.tasks if name == task}
        if len(of_task) == self.order.limits.filters:
            fault = f"has answers through more than {self.order.limits.filters} filters"
            raise Excess(f"{fault}; raise --most_filters")
        repeats = claims_of(self.results, task)["repeats"] or 1
        leave_out = self.order.leave_out
        self.tasks[key] = Tally(task, repeats=repeats, leave_out=leave_out)
        self.references[key] = References(task)
        if check := self.order.check:
            include_path = self.order.include_path
            filter_name = filter_name or "none"
            self.checks[key] = check(self.results, task, filter_name, include_path)

    def _write(self, entry: dict) -> None:
        if not (file := self.outputs.get(entry["task"])):
            path = self.order.part / verdicts_name(entry["task"])
            file = self.files.enter_context(path.open("wb"))
            self.outputs[entry["task"]] = file
        text = json.dumps(entry, ensure_ascii=False)
        # Half a surrogate pair, which has no UTF-8, becomes the escape of JSON.
        file.write(text.encode("utf-8", "backslashreplace") + b"\n")

    def entries(self) -> Iterator[dict]:
        """Yield what the head says of each task and filter."""
        for key, tally in self.tasks.items():
            check = self.checks.get(key)
            figures = tally.all
            yield {
                **dict(zip(("task", "filter"), key)),
                "version": scorer(tally.task).version,
                "rows": figures.answers,
                "documents": tally.answered,
                "fingerprint": tally.fingerprint,
                "constants": self.references[key].constants(),
                "sums": figures.sums(),
                "reasons": dict(figures.reasons),
                "unextracted": dict(figures.unextracted),
                "invalid": dict(figures.invalid),
                "untold": figures.untold,
                "changed": figures.changed,
                "check": check.outcome(tally) if check else None,
            }


# ---------------------------------------------------------------- results of the harness


def read_results(path: Path) -> tuple[dict, str]:
    """Return what a results file says, tasks by their names outside of groups, and its
    SHA-256; ToolError where it is not one.
    """
    text = path.read_bytes() if path.stat().st_size <= MOST_BYTES else b""
    try:
        results = json.loads(text)
    except (ValueError, RecursionError):
        results = None
    if not isinstance(results, dict):
        fault = "is not a results file; copy it again, or delete it"
        raise ToolError(f"{path}: {fault}")
    results = {key: _by_task(value) for key, value in results.items()}
    return results, hashlib.sha256(text).hexdigest()


def _by_task(value: object) -> object:
    if isinstance(value, dict):
        return {bare(name): of_task for name, of_task in value.items()}
    return value


def claims(results: dict) -> dict:
    """Return what results say of a run, each value of its type and short, else None."""
    template, config = results.get("chat_template"), within(results, "config")
    system = results.get("system_instruction")
    by_task = [within(results, key) for key in ("versions", "configs", "n-shot")]
    tasks = {task for told in by_task if isinstance(told, dict) for task in told}
    return {
        "model_name": _text(results.get("model_name")),
        "lm_eval_version": _text(results.get("lm_eval_version")),
        "date": _number(results.get("date")),
        "limit": _number(within(config, "limit")),
        "chat_template": template is not None if results else None,
        "system_instruction": len(system) if isinstance(system, str) else 0,
        "tasks": {
            task: claims_of(results, task)
            for task in sorted(tasks)[:_MOST_TASKS]
            if len(task) <= _LONGEST_CLAIM
        },
    }


def claims_of(results: dict, task: str) -> dict:
    """Return what results say of a task, as `claims` does."""
    told = within(results, "versions", task)
    metadata = within(results, "configs", task, "metadata")
    made = {name: within(metadata, f"gen_{name}") for name in ("seed", "rows")}
    made["fingerprint"] = _text(within(metadata, "gen_fingerprint"))
    is_made = type(made["seed"]) is type(made["rows"]) is int
    generation = within(results, "configs", task, "generation_kwargs")
    return {
        "version": None if told is None else str(told)[:20],
        "n_shot": _whole(within(results, "n-shot", task)),
        "max_gen_toks": _whole(within(generation, "max_gen_toks")),
        "repeats": _whole(within(results, "configs", task, "repeats")),
        "made": made if is_made and abs(made["seed"]) < _MOST_CLAIM else None,
    }


def _has_system(prompt: str | None, results: dict) -> bool | None:
    """Tell whether a prompt holds the system instruction of a run; None if unknown.

    A prompt may be a list of messages, as JSON.
    """
    system = results.get("system_instruction")
    if not (prompt and isinstance(system, str) and system.strip()):
        return None
    forms = [json.dumps(system.strip(), ensure_ascii=x)[1:-1] for x in (True, False)]
    return any(form in prompt for form in (system.strip(), *forms))


def _text(value: object) -> str | None:
    return value[:_LONGEST_CLAIM] if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < _MOST_CLAIM else None


def _number(value: object) -> float | None:
    is_number = type(value) in (int, float) and abs(value) < _MOST_CLAIM
    return value if is_number else None
