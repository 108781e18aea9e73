"""What ends a tool: one line that names the place and the fix."""

import errno


class ToolError(ValueError):
    """What went wrong, in one line that names the place and the fix."""


class FamilyError(ToolError):
    """What a family lacks of its contract: no answer to its tasks can be scored."""


class DocumentError(ToolError):
    """Why an object is not a document of a task."""


class LineError(ToolError):
    """What is wrong with one line of a file; others may be good."""


class Excess(Exception):
    """What of a file exceeds a limit: nothing of the file counts."""


# What is wrong with the machine, not with the file: no other file could be written either.
MACHINE_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


def json_fault(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text that is to be JSON.

    What Python says of a long number, or of depth, is advice for who called the parser.
    """
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return (
        "has a number of too many digits" if type(error) is ValueError else f"{error}"
    )


def fault_of(error: OSError) -> str:
    """Return what is wrong with a file, and the fix where that is plain."""
    is_of_path = isinstance(error, FileNotFoundError | IsADirectoryError)
    fix = "; check the path" if is_of_path else ""
    return f"{error.strerror or error}{fix}"
