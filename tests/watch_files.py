"""Run a tool, and end it where its own process opens a file of answers.

    python -m tests.watch_files WORD TOOL ARGUMENTS

Files of answers have WORD in their paths; processes that the tool starts may open them.
"""

import os
import sys

from utils.__main__ import main


def run(word: str, arguments: list[str]) -> int:
    """Return the exit status of a tool that opens no such file itself."""
    tool = os.getpid()

    def watch(event: str, details: tuple) -> None:
        if event == "open" and os.getpid() == tool and word in str(details[0]):
            sys.exit(f"opened {details[0]}")

    sys.addaudithook(watch)
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
