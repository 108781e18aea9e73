"""What ends a tool: one line that names the place and the fix."""


class ToolError(ValueError):
    """What went wrong, in one line that names the place and the fix."""


class LineError(ToolError):
    """What is wrong with one line of a file; others may be good."""
