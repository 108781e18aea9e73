"""What ends a tool: one line that names the place and the fix."""

from __future__ import annotations

from collections.abc import Iterator


class ToolError(ValueError):
    """What went wrong, in one line that names the place and the fix."""


class FamilyError(ToolError):
    """What a family lacks of its contract: no answer to its tasks can be scored."""


class LineError(ToolError):
    """What is wrong with one line of a file; others may be good."""


# What families raise for an object that is not a document of the task.
NOT_A_DOCUMENT = (
    *(LookupError, TypeError, ValueError, AttributeError),
    *(ArithmeticError, RecursionError),
)


def fault_of_document(error: Exception, doc: object) -> str:
    """Return what NOT_A_DOCUMENT says of a document.

    An attribute that a cell of the document lacks is a fault of the document. Any other
    AttributeError is a fault of the family, and is raised again.
    """
    if isinstance(error, AttributeError):
        if not any(error.obj is cell for cell in _cells(doc)):
            raise error
    return f"has no {error}" if isinstance(error, KeyError) else f"{error!r:.100}"


def _cells(value: object) -> Iterator[object]:
    yield value
    if isinstance(value, dict | list):
        for cell in value.values() if isinstance(value, dict) else value:
            yield from _cells(cell)


def fault_of(error: OSError) -> str:
    """Return what is wrong with a file, and the fix where that is plain."""
    fix = "; check the path" if isinstance(error, FileNotFoundError) else ""
    return f"{error.strerror or error}{fix}"
