"""The one caller of the families' `explain`, with one text for what is no document."""

from __future__ import annotations

import json

from .errors import NOT_A_DOCUMENT, ToolError, fault_of_document
from .families import Verdict, scorer


def explain(task: str, doc: object, response: object) -> Verdict:
    """Return the verdict of a task's family on a response to a document.

    The document is an object as the harness logs it, or this as JSON. ToolError for what
    is no task, no text, or not a document of the task.
    """
    if not isinstance(task, str):
        raise ToolError(f"'task' is a {type(task).__name__}, not str; give a task")
    explain_response = scorer(task).explain
    if not isinstance(response, str):
        kind = type(response).__name__
        raise ToolError(f"'response' is a {kind}, not str; give the model's answer")
    if isinstance(doc, str):
        try:
            doc = json.loads(doc)
        except (ValueError, RecursionError) as error:
            raise not_a_document(task, doc, error) from None
    if not isinstance(doc, dict):
        kind = type(doc).__name__
        raise ToolError(f"'doc' is a {kind}, not dict; give a document of {task}")
    try:
        return explain_response(doc, response)
    except NOT_A_DOCUMENT as error:
        raise not_a_document(task, doc, error) from None


def digest_of(task: str, doc: dict) -> bytes:
    """Return what tells a document of a task from others; ToolError as of `explain`."""
    try:
        return scorer(task).utils.digest(doc)
    except NOT_A_DOCUMENT as error:
        raise not_a_document(task, doc, error) from None


def not_a_document(task: str, doc: object, error: Exception) -> ToolError:
    """Return what is wrong with a document, by what a family raised."""
    return ToolError(
        f"its document is not one of {task} ({fault_of_document(error, doc)}); give the"
        " 'doc' as the harness logs it, or the task that it is of"
    )
