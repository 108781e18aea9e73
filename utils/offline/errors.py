"""Errors of packs: what went wrong, in one line that names the place and the fix."""

NO_NETWORK = "run on a machine with a network, or give the files with --source"
NO_ACCESS = "check the network, its name and your access, or use --source"
# What to do about an error, by words in its type or message.
FIXES = {
    "no space left": "free space on the disk and run again: it goes on where it stopped",
    "disk quota": "free space on the disk and run again: it goes on where it stopped",
    "read-only": "give a folder that can be written",
    "gated": "accept the terms on its page and log in with `hf auth login`",
    "revision": "correct the revision in the task's YAML file",
    "offline": NO_NETWORK,
    "connection": NO_NETWORK,
    "resolve": NO_NETWORK,
    "timeout": NO_NETWORK,
    "timed out": NO_NETWORK,
    "permission": "make it readable and writable",
    "filenotfounderror": NO_ACCESS,
    "notfound": NO_ACCESS,
    "doesn't exist": NO_ACCESS,
}


class PackError(Exception):
    """What went wrong, in one line that names the place and the fix."""


def explain(error: Exception, place: object) -> PackError:
    """Return an error of loading or writing at a place as one line."""
    said = getattr(error, "strerror", None) or str(error).strip().split("\n")[0]
    said = said or type(error).__name__
    # Rows and TimeBench's sources: they name the place and the fix themselves.
    if type(error) in (ValueError, ConnectionError) and "; " in said:
        return PackError(said)
    words = f"{type(error).__name__} {error}".casefold()
    fixes = (fix for word, fix in FIXES.items() if word in words)
    return PackError(f"{place}: {said}; {next(fixes, '--traceback shows more')}")
