"""What ends a tool: one line that names the place and the fix."""


class ToolError(ValueError):
    """What went wrong, in one line that names the place and the fix."""


class FamilyError(ToolError):
    """What a family lacks of its contract: no answer to its tasks can be scored."""


class LineError(ToolError):
    """What is wrong with one line of a file; others may be good."""


class Excess(Exception):
    """What of a file exceeds a limit: nothing of the file counts."""


# What families raise for an object that is not a document of the task.
NOT_A_DOCUMENT = (LookupError, TypeError, ValueError, AttributeError)
NOT_A_DOCUMENT += (ArithmeticError, RecursionError)


def fault_of(error: OSError) -> str:
    """Return what is wrong with a file, and the fix where that is plain."""
    fix = "; check the path" if isinstance(error, FileNotFoundError) else ""
    return f"{error.strerror or error}{fix}"
