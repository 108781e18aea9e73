"""What ends a tool: one line that names the place and the fix."""


class ToolError(ValueError):
    """What went wrong, in one line that names the place and the fix."""


class LineError(ToolError):
    """What is wrong with one line of a file; others may be good."""


# What families raise for an object that is not a document of the task.
NOT_A_DOCUMENT = (
    *(LookupError, TypeError, ValueError, AttributeError),
    *(ArithmeticError, RecursionError),
)


def fault_of(error: OSError) -> str:
    """Return what is wrong with a file, and the fix where that is plain."""
    fix = "; check the path" if isinstance(error, FileNotFoundError) else ""
    return f"{error.strerror or error}{fix}"


class Refusals:
    """Keeps why lines were refused: of the first by name, of the rest a count."""

    MOST_NAMED = 10

    def __init__(self) -> None:
        self._named: list[str] = []
        self.count, self._last = 0, ""

    def add(self, message: str) -> None:
        """Note why one more was refused; each of its several answers may say it."""
        if message == self._last:
            return
        self._last = message
        self.count += 1
        if self.count <= self.MOST_NAMED:
            self._named.append(message)

    def messages(self, where: object) -> tuple[str, ...]:
        """Return what is said of them; `where` names the file or run of the lines."""
        rest = self.count - len(self._named)
        more = "line was" if rest == 1 else "lines were"
        return (*self._named, *([f"{where}: {rest} more {more} refused"] * (rest > 0)))
