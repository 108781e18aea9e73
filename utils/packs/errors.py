"""Errors of packs: what went wrong, in one line that names the place and the fix."""

from ..core.errors import ToolError


NO_NETWORK = "run on a machine with a network, or give the files with --source"
NO_ACCESS = "check the network, its name and your access, or use --source"
FREE_SPACE = "free space on the disk and run again: it goes on where it stopped"
# What to do about an error, by words in its type or message: on this machine, …
LOCAL_FIXES = {
    "no space left": FREE_SPACE,
    "quota": FREE_SPACE,
    "read-only": "name a folder that can be written",
    "permission": "make it readable and writable",
}
# … and of a source upstream, whose cache is on this machine.
UPSTREAM_FIXES = LOCAL_FIXES | {
    "gated": "accept the terms on its page and log in with `hf auth login`",
    "revision": "correct the revision in the task's YAML file",
    "offline": NO_NETWORK,
    "connection": NO_NETWORK,
    "resolve": NO_NETWORK,
    "timeout": NO_NETWORK,
    "timed out": NO_NETWORK,
    "notfound": NO_ACCESS,
    "doesn't exist": NO_ACCESS,
}


class PackError(ToolError):
    """What went wrong, in one line that names the place and the fix."""


def local_error(error: OSError, place: object) -> PackError:
    """Return an error of reading or writing a file as one line."""
    return _one_line(error, place, LOCAL_FIXES, "see that it is there and can be used")


def upstream_error(error: Exception, place: object) -> PackError:
    """Return an error of loading a source from upstream as one line."""
    return _one_line(error, place, UPSTREAM_FIXES, "--traceback shows more")


def _one_line(
    error: Exception, place: object, fixes: dict[str, str], otherwise: str
) -> PackError:
    said = getattr(error, "strerror", None) or str(error).strip().split("\n")[0]
    words = f"{type(error).__name__} {error}".casefold()
    fix = next((fix for word, fix in fixes.items() if word in words), otherwise)
    return PackError(f"{place}: {said or type(error).__name__}; {fix}")
