"""Recorded answers: the only reader of sample logs, batch outputs and answer files.

Three kinds of lines are read, in JSON Lines files that may be gzipped:

- a sample that the harness logged (`--log_samples`, `--predict_only`), whose file is
  called `samples_TASK_TIME.jsonl`;
- an output of the OpenAI Batch API, whose `custom_id` is one of `export`;
- an object with `task`, `response`, and `doc` (a document as the harness logs it) or
  `doc_id`. With a task given for the file, a line without both is itself the document.

What a tool adds to a line (`verdict`) is not read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .errors import ToolError
from .families import scorer
from .jsonl import numbered_rows


SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.jsonl(\.gz)?"
)
_HASH_LENGTH = 16  # characters of a document's hash in a custom_id
_CUSTOM_ID = re.compile(
    rf"(?P<task>[^:]+):(?P<doc_id>[0-9]{{1,9}}):(?P<hash>[0-9a-f]{{{_HASH_LENGTH}}})"
)


class Answer(NamedTuple):
    """One recorded answer, whatever the file it was read from."""

    place: str  # "FILE, line N", for messages
    line: dict  # as it stands in the file
    task: str
    doc_id: int | str | None
    doc: dict | None  # None where the line only names it
    doc_hash: str | None  # or the start of it, as in a custom_id
    response: (
        str | None
    )  # None where the line has none, for which `fault` is the reason
    prompt: str | None  # as it was sent, where the line tells
    hit_limit: bool  # whether the line says that the token limit ended the response
    fault: str | None  # why the line cannot be taken for what it says it is
    is_chat: bool | None = None  # whether it answers messages, where the line tells


def read_answers(path: Path, task: str | None = None) -> Iterator[Answer]:
    """Yield the answers in a file, one at a time.

    `task` is the task of lines that do not name theirs. Raises OSError and ToolError as
    `numbered_rows` does, and ToolError for a line of no known kind or of a task that the
    pack does not have. What can be wrong with one line alone is its `fault`.
    """
    name = SAMPLES_NAME.fullmatch(path.name)
    task_of_file = name["task"] if name else task
    for number, line in numbered_rows(path):
        place = f"{path}, line {number}"
        if "filtered_resps" in line:
            answer = _sample(line, place, line.get("task", task_of_file))
        elif "custom_id" in line:
            answer = _batch_output(line, place)
        elif "response" in line:
            answer = _plain(line, place, line.get("task", task_of_file))
        else:
            raise ToolError(
                f"{place}: has no 'response', 'filtered_resps' or 'custom_id'; give"
                " samples of the harness, batch outputs, or lines with a 'response'"
            )
        _check_task(answer)
        yield answer


def _check_task(answer: Answer) -> None:
    if not isinstance(answer.task, str):
        raise ToolError(
            f"{answer.place}: does not name its task; name the file"
            " samples_TASK_TIME.jsonl as the harness does, add a 'task' to the line, or"
            " use --task"
        )
    try:
        scorer(answer.task)
    except ToolError as error:
        raise ToolError(f"{answer.place}: {error}") from None


def _sample(line: dict, place: str, task: str | None) -> Answer:
    """Return the answer in a sample of the harness."""
    responses, prompt = line["filtered_resps"], _prompt(line.get("arguments"))
    is_list = isinstance(responses, list) and responses
    response = responses[0] if is_list else responses
    fault = _hash_fault(line, prompt)
    if not isinstance(response, str):
        fault = (
            f"its filtered response is a {type(response).__name__}, not a string; use a"
            " filter that leaves one response, such as take_first"
        )
    return Answer(
        place=place,
        line=line,
        task=task,
        doc_id=line.get("doc_id"),
        doc=line.get("doc"),
        doc_hash=line.get("doc_hash"),
        response=None if fault else response,
        prompt=prompt,
        hit_limit=False,
        fault=fault,
    )


def _prompt(arguments: object) -> str | None:
    """Return the prompt in the arguments of a sample: text, or messages as JSON."""
    try:
        first = arguments["gen_args_0"]["arg_0"]
    except (TypeError, KeyError, IndexError):
        return None
    # Chat APIs are given a named tuple with one string, which JSON makes a list.
    return first[0] if isinstance(first, list) and first else first


def _hash_fault(line: dict, prompt: str | None) -> str | None:
    """Return which hash of a sample does not recompute, None where all do."""
    hashed = {
        "doc_hash": document_text(line.get("doc")),
        "prompt_hash": prompt,
        "target_hash": line.get("target"),
    }
    for name, text in hashed.items():
        if name in line and (not isinstance(text, str) or line[name] != sha256(text)):
            what = name.removesuffix("_hash")
            return (
                f"{name} does not recompute: the {what} is not the one that was run;"
                " take the log as the harness wrote it"
            )
    return None


def document_text(doc: object) -> str:
    """Return the text of a document that the harness hashes."""
    return json.dumps(doc, indent=2, ensure_ascii=False)


def sha256(text: str) -> str:
    """Return the hexadecimal SHA-256 of a text, as the harness computes its hashes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def custom_id(task: str, doc_id: int, doc: dict) -> str:
    """Return the name that a request of `export` has: task, document id and hash."""
    return f"{task}:{doc_id}:{sha256(document_text(doc))[:_HASH_LENGTH]}"


def _batch_output(line: dict, place: str) -> Answer:
    """Return the answer in an output of the Batch API."""
    name = _CUSTOM_ID.fullmatch(str(line["custom_id"]))
    if name is None:
        raise ToolError(
            f"{place}: custom_id {line['custom_id']!r:.80} is not TASK:DOC_ID:HASH; use"
            " requests made by `temporal-eval export`"
        )
    choice, fault = _choice(line)
    return Answer(
        place=place,
        line=line,
        task=name["task"],
        doc_id=int(name["doc_id"]),
        doc=None,
        doc_hash=name["hash"],
        response=None if fault else _content(choice) or "",
        prompt=None,
        hit_limit=choice.get("finish_reason") == "length",
        fault=fault,
        is_chat=None if fault else "message" in choice,
    )


def _choice(line: dict) -> tuple[dict, str | None]:
    """Return the first choice of a batch output, or {} and why there is none."""
    response = line.get("response") or {}
    try:
        choice = response["body"]["choices"][0]
        if isinstance(_content(choice), str | None):
            return choice, None
    except (TypeError, KeyError, IndexError, AttributeError):
        pass
    what = json.dumps(line.get("error") or response)[:200]
    return {}, f"has no answer but {what}; send the request again"


def _content(choice: dict) -> object:
    """Return what a choice answers to messages, or to a text; None for nothing."""
    if "message" in choice:
        return (choice["message"] or {}).get("content")
    return choice["text"]


def _plain(line: dict, place: str, task: str | None) -> Answer:
    """Return the answer in a line with a response of its own."""
    response, fault = line["response"], None
    doc = line.get("doc")
    if doc is None and "doc_id" not in line:
        doc = {name: cell for name, cell in line.items() if name != "response"}
    if not isinstance(response, str):
        fault = f"'response' is a {type(response).__name__}, not a string; fix the line"
    return Answer(
        place=place,
        line=line,
        task=task,
        doc_id=line.get("doc_id"),
        doc=doc,
        doc_hash=None,
        response=None if fault else response,
        prompt=None,
        hit_limit=line.get("finish_reason") == "length",
        fault=fault,
    )
