"""Recorded answers: sample logs, batch outputs and answer files.

Three kinds of lines are read:

- a sample that the harness logged (`--log_samples`, `--predict_only`), whose file is
  called `samples_TASK_TIME.jsonl`;
- an output of the OpenAI Batch API, whose `custom_id` is one of `export`;
- an object with `task`, `response`, and `doc` (a document as the harness logs it) or
  `doc_id`. A line without both is itself a row of the benchmark's file.

A document may have several answers: in one line (`resps`, `filtered_resps`, `choices`), in
lines that number them (`sample`), or in as many lines as the results of the run have
`repeats`. What a tool adds to a line (`verdict`) is not read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import NamedTuple

from ..core.documents import document
from ..core.errors import FamilyError, ToolError, json_fault
from ..core.files import HashedFile, Line, parse, read_lines
from ..core.task_scorers import all_tasks, bare, scorer
from ..packs.random_sample import SEED_KEY


LONGEST, _MOST_NUMBER = 200, 10**15  # of claims in results: characters, and a number
# Keys of results that have to be of a type, where they are there.
_OBJECTS = ("versions", "configs", "n-shot", "results", "config")
_TEXTS = ("model_name", "chat_template", "system_instruction")
_TYPES = dict.fromkeys(_OBJECTS, dict | None) | dict.fromkeys(_TEXTS, str | None)
_HASH_LENGTH = 16  # characters of a document's hash in a custom_id
_CUSTOM_ID = re.compile(
    rf"(?P<task>[^:]+):(?P<doc_id>[0-9]{{1,9}}):(?P<hash>[0-9a-f]{{{_HASH_LENGTH}}})"
)


class Answer(NamedTuple):
    """One recorded answer, whatever the file it was read from."""

    place: str  # "FILE, line N", for messages
    line: dict  # as it stands in the file
    task: str
    doc_id: int | str | None = None
    doc: dict | None = None  # None where the line only names it
    doc_hash: str | None = None  # or the start of it, as in a custom_id
    response: str = ""  # also where `fault` says why there is none
    prompt: str | None = None  # as it was sent, where the line tells
    finish_reason: str | None = None  # why it ended, where the line tells: "length"
    fault: str | None = None  # why the line, or the request, has no answer
    sample: str | None = None  # which of several answers to its document
    filter: str | None = None  # of the harness, which logs a line for each, but `none`
    is_chat: bool | None = None  # whether it answers messages, where the line tells
    number: int = 0  # of the line
    is_first: bool | None = None  # whether a filter left the first response, or all
    model: str | None = None  # that served it, where the line tells


def read_answers(path: Path, task: str | None = None) -> Iterator[Answer]:
    """Yield the answers in a file, whose lines are of a task; errors of `read_lines`."""
    return (answer for line in read_lines(path) for answer in answers_in(line, task))


def answers_in(line: Line, task: str | None) -> list[Answer]:
    """Return the answers in a line of a file whose lines are of a task; mostly one.

    What is wrong with a line is its `fault`.
    """
    record: dict = {}
    try:
        record = parse(line)
        fields = _fields(record, task)
    except FamilyError:
        raise
    except (ValueError, RecursionError) as error:
        fault = str(error).removeprefix(f"{line.place}: ")
        if isinstance(error, RecursionError):
            fault = "is nested too deeply; fix the line"
        task = record.get("task", task)
        fields = {"fault": fault, "task": task if task in all_tasks() else ""}
    filter_name = record.get("filter") if "filtered_resps" in record else None
    if isinstance(filter_name, str) and filter_name != "none":
        if len(filter_name) > LONGEST:
            fields["fault"] = f"'filter' has more than {LONGEST} characters; shorten it"
        fields["filter"] = filter_name[:LONGEST]
    line_answer = Answer(line.place, record, number=line.number, **fields)
    responses, finish_reasons = line_answer.response, line_answer.finish_reason
    if not isinstance(responses, list):
        return [line_answer]
    sample_prefix = "" if line_answer.sample is None else f"{line_answer.sample}."
    if not isinstance(finish_reasons, list):
        finish_reasons = [finish_reasons] * len(responses)
    return [
        line_answer._replace(
            response=response, finish_reason=ending, sample=f"{sample_prefix}{number}"
        )
        for number, (response, ending) in enumerate(zip(responses, finish_reasons))
    ]


def _fields(record: dict, task: str | None) -> dict:
    """Return the fields of the Answer in a line, of which some may be lists.

    ValueError, with a message for the line's `fault`, where it is no answer to a task.
    """
    if (reader_field := next(filter(record.__contains__, _READERS), None)) is None:
        raise ValueError(
            "has no 'response', 'filtered_resps' or 'custom_id'; give samples of the"
            " harness, batch outputs, or lines with a 'response'"
        )
    task, fields = record.get("task", task), {}
    if reader_field == "custom_id":
        if not (id_match := _CUSTOM_ID.fullmatch(str(record["custom_id"]))):
            raise ValueError(
                f"custom_id {record['custom_id']!r:.80} is not TASK:DOC_ID:HASH; use"
                " requests made by `temporal-eval export`"
            )
        task = id_match["task"]
        fields = {"doc_id": int(id_match["doc_id"]), "doc_hash": id_match["hash"]}
    if not isinstance(task, str) or len(task) > 200:
        raise ValueError(
            "does not name its task; name the file samples_TASK_TIME.jsonl as the harness"
            " does, add a 'task' to the line, or use --task"
        )
    scorer(task)
    fields |= _cells(record, sample=int | str | None, finish_reason=str | None)
    if fields["sample"] is not None:
        fields["sample"] = f"{fields['sample']!s:.200}"
    return {"task": task} | fields | _READERS[reader_field](record, task)


def _sample(record: dict, _: str) -> dict:
    """Return the fields of a sample of the harness; ValueError where a hash is wrong."""
    answer_fields = _responses(record) | _cells(record, doc=dict, doc_id=int | str)
    _cells(record, filter=str | None)
    # Chat APIs are given a named tuple with one string, which JSON makes a list.
    prompt = _lone(within(record, "arguments", "gen_args_0", "arg_0"))
    doc_text, fix = document_text(record["doc"]), "take the log as the harness wrote it"
    hashed_texts = {"doc": doc_text, "prompt": prompt, "target": record.get("target")}
    for hashed_field, text in hashed_texts.items():
        if not isinstance(text, str) or f"{hashed_field}_hash" not in record:
            raise ValueError(f"has no {hashed_field} or no {hashed_field}_hash; {fix}")
        hashed_spellings = text, f"JsonChatStr(prompt={text!r})"  # as lm-eval 0.5 does
        if record[f"{hashed_field}_hash"] not in map(sha256, hashed_spellings):
            fault = f"_hash does not recompute: the {hashed_field} is not the one"
            raise ValueError(f"{hashed_field}{fault} that was run; {fix}")
    return answer_fields | {"doc_hash": record["doc_hash"], "prompt": prompt}


def _responses(record: dict) -> dict:
    """Return what a filter left (all, if the first of several), and whether the first."""
    # lm-eval 0.5 has a list of texts where 0.4 has one.
    responses = _lone(_lone(record["filtered_resps"]))
    all_resps = _lone(record.get("resps"))
    all_resps = all_resps if isinstance(all_resps, list) else [all_resps]
    is_first, is_several = responses in (*all_resps[:1], all_resps), len(all_resps) > 1
    if is_several and is_first:
        responses = all_resps
    if not (is_several and responses and isinstance(responses, list)):
        responses = [responses]
    for response_number, response in enumerate(responses, 1):
        if not isinstance(response, str):
            fault = f"filtered response {response_number} of {len(responses)} is a"
            fix = "use a filter that leaves strings, such as take_first"
            raise ValueError(f"{fault} {type(response).__name__}, not a string; {fix}")
    return {"response": responses if is_several else responses[0], "is_first": is_first}


def _batch_output(record: dict, _: str) -> dict:
    """Return the fields of an output of a batch, with a fault where it has no answer."""
    if "body" in record and "response" not in record:
        raise ValueError("is a request; give the output of the batch instead")
    with suppress(TypeError, LookupError, AttributeError):
        response_body = record["response"]["body"]
        choices = response_body["choices"]
        is_chat = "message" in choices[0]
        responses = [
            choice["message"].get("content") if is_chat else choice["text"]
            for choice in choices
        ]
        finish_reasons = [choice.get("finish_reason") for choice in choices]
        if all(isinstance(response, str | None) for response in responses):
            return {
                # A refusal, or reasoning that took all the tokens, has no content.
                "response": _lone([response or "" for response in responses]),
                "finish_reason": _lone(finish_reasons),
                "is_chat": is_chat,
                "model": typed_claim(response_body.get("model"), str),
            }
    error_text = json.dumps(record.get("error") or record.get("response"))
    return {"fault": f"has no answer but {error_text:.200}; send the request again"}


def _response_line(record: dict, task: str) -> dict:
    """Return the fields of a line that has a response, and a document or its id."""
    if "resps" in record:
        fix = "keep one; number several texts by 'sample', each in its line"
        raise ValueError(f"has 'resps' beside 'response'; {fix}")
    fields = _cells(record, response=str, doc=dict | None, doc_id=int | str | None)
    fields |= _cells(record, doc_hash=str | None)
    if fields["doc"] is None and fields["doc_id"] is None:
        try:
            fields["doc"] = document(task, record)
        except ValueError as error:
            fault = f"has no 'doc' or 'doc_id', and is not a row of {task} itself"
            raise ValueError(f"{fault} ({error}); or name another --task") from None
    return fields


# The field by which a kind of line is known -> its reader.
_READERS = {
    "filtered_resps": _sample,
    "custom_id": _batch_output,
    "response": _response_line,
}


def _cells(record: dict, **types: type | UnionType) -> dict:
    """Return the cells of a line that are to be of types; ToolError for other types."""
    for column, cell_type in types.items():
        cell = record.get(column)
        if not isinstance(cell, cell_type) or isinstance(cell, bool):  # which is an int
            type_name = getattr(cell_type, "__name__", cell_type)
            fault = f"'{column}' is a {type(cell).__name__}, not {type_name}"
            raise ToolError(f"{fault}; fix it")
    return {column: record.get(column) for column in types}


def _lone(value: object) -> object:
    """Return the element of a list that has one; any other value as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def within(value: object, *keys: str) -> object:
    """Return what stands in nested objects; None where something else does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def document_text(doc: object) -> str:
    """Return the text of a document that the harness hashes."""
    return json.dumps(doc, indent=2, ensure_ascii=False)


def sha256(text: str) -> str:
    """Return the hexadecimal SHA-256 of a text, as the harness computes its hashes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def custom_id(task: str, doc_id: int, doc: dict) -> str:
    """Return the name that a request of `export` has: task, document id and hash."""
    return f"{task}:{doc_id}:{sha256(document_text(doc))[:_HASH_LENGTH]}"


def read_results(path: Path) -> tuple[dict, str]:
    """Return what a results file says, with tasks by their bare names, and its SHA-256.

    Both are of one reading. ToolError where it is not one.
    """
    with HashedFile(path) as file:
        content, digest = file.read_whole(), file.digest()
    try:
        results = json.loads(content)
        if not isinstance(results, dict):
            raise ToolError("is not a JSON object")
        for key, section in results.items():
            if isinstance(section, dict):
                results[key] = {bare(task): claim for task, claim in section.items()}
        _cells(results, **_TYPES)
    except (ValueError, RecursionError) as error:
        fault, fix = json_fault(error), "copy it again, or delete it"
        raise ToolError(f"{path}: is not a results file ({fault}); {fix}") from None
    return results, digest


def claims_of(results: dict, task: str) -> dict:
    """Return what results claim of a task and its run: short, of these types, else None.

    {} where they do not name the task. Nobody can check most of it.
    """
    version, config = (within(results, key, task) for key in ("versions", "configs"))
    if version is config is None:
        return {}
    max_tokens = within(config, "generation_kwargs", "max_gen_toks")
    return {
        "model_name": typed_claim(results.get("model_name"), str),
        "lm_eval_version": typed_claim(results.get("lm_eval_version"), str),
        "date": typed_claim(results.get("date"), float),
        "limit": typed_claim(within(results, "config", "limit"), float),
        "chat_template": results.get("chat_template") is not None,
        "version": None if version is None else f"{version!s:.20}",
        "n_shot": typed_claim(within(results, "n-shot", task), int),
        "max_gen_toks": typed_claim(max_tokens, int),
        "repeats": typed_claim(within(config, "repeats"), int),
        "sample_seed": typed_claim(within(config, "metadata", SEED_KEY), int),
    }


def typed_claim(value: object, kind: type) -> object:
    """Return a value of a type, a text cut, None for other types and huge numbers."""
    if kind is str:
        return value[:LONGEST] if isinstance(value, str) else None
    if isinstance(value, int | float) and type(value) in (int, kind):
        return value if abs(value) < _MOST_NUMBER else None
    return None


def messages_of(prompt: str) -> list[dict] | None:
    """Return the messages of a chat, each with role and content; None of a text.

    What JSON leaves open, as blanks and a key twice, would say more than the messages.
    """
    with suppress(ValueError, RecursionError):
        messages = json.loads(prompt)
        spellings = {json.dumps(messages), json.dumps(messages, ensure_ascii=False)}
        is_canonical_list = isinstance(messages, list) and prompt in spellings
        if is_canonical_list and all(isinstance(message, dict) for message in messages):
            for message in messages:
                if message.get("type") == "text":  # which lm-eval 0.5 adds to each
                    del message["type"]
            return messages or None
    return None
