"""What worker processes are given to do in tests, some of which do not survive it."""

import os
import signal
from pathlib import Path


def double_or_die(job: tuple[int, Path | None, bool]) -> int:
    """Return twice a number; be killed where there is a file, once or each time."""
    number, path, is_always = job
    if path and path.exists():
        if not is_always:
            path.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def fail(job: int) -> int:
    """Return a number but for 1, which is a bug."""
    if job == 1:
        raise ZeroDivisionError
    return job
