"""Make a pack of tasks that runs on a machine without a network, or check one.

    temporal-eval offline DIR [--tasks NAME,...] [--source FAMILY=FOLDER ...]
    temporal-eval offline DIR --check

A pack is a folder with the task files, the data as JSON Lines, a manifest and a README
with the command to run; it can be moved anywhere. The rows come by the tasks' own
configuration, or, with `--source`, from files in a local folder that bear the names of
the upstream ones. DIR is new, empty, or a pack: nothing else in it is touched. A run
that was interrupted goes on where it stopped.

Example, of a pack over the hand-made rows, which needs no network itself:

    temporal-eval offline output/pack --tasks tcp_long --source tcp=examples/data \\
        --allow-partial
    temporal-eval offline output/pack --check
"""

import sys


def main(arguments: list[str] | None = None) -> int:
    """Make or check a pack; return the exit status: 0, 1 for an error, 130 for Ctrl-C.

    Another signal that the front door raises is its own to tell.
    """
    try:
        # A second's import, in which Ctrl-C is to be one line as well.
        from .command import run

        return run(arguments)
    except KeyboardInterrupt as error:
        if type(error) is not KeyboardInterrupt:
            raise
        sys.stderr.write("\ninterrupted; run it again: it goes on where it stopped\n")
        return 130
