"""What the command lines of the tools share."""

from __future__ import annotations

import logging
import re
import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from .task_scorers import FOLDER


_LONGEST_QUOTED = 200  # characters of a name in a sentence: an honest one is whole
# Letters that nobody sees, though Unicode counts them among those that print.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """End the program with status 2, in one line without the usage."""
        self.exit(2, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def tool_parser(tool: str, description: str) -> ArgumentParser:
    """Return the parser of a tool; `description`, with its examples, is its help."""
    program = f"temporal-eval {tool}".strip()
    help_layout = RawDescriptionHelpFormatter
    # What a shell makes of `*` may look like the beginning of an option.
    return _Parser(
        prog=program,
        description=description,
        formatter_class=help_layout,
        allow_abbrev=False,
    )


def include_path_option(parser: ArgumentParser) -> None:
    """Add --include_path, the folder of the tasks whose documents were answered."""
    parser.add_argument(
        "--include_path",
        type=folder_path,
        default=FOLDER,
        metavar="FOLDER",
        help="the tasks whose documents a doc_id is of; default: the pack's own",
    )


def say(message: str) -> None:
    """Write one line to stderr; file names, tasks and the like in it are data."""
    sys.stderr.write(f"{printable(message)}\n")


@contextmanager
def quiet_harness() -> Iterator[None]:
    """Leave out what harness and families log below errors: tools say their own."""
    logger = logging.getLogger("lm_eval")
    log_level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(log_level)


def printable(text: str) -> str:
    """Return a text with escapes for what would steer a terminal, or that nobody sees.

    What is not UTF-8 is escaped, too.
    """
    seen_text = _UNSEEN.sub(lambda unseen: ascii(unseen[0])[1:-1], text)
    return "".join(
        char if char.isprintable() else ascii(char)[1:-1] for char in seen_text
    )


def named_path(path: Path) -> str:
    """Return a path as messages begin with it: in quotes where it could be read as words."""
    return shlex.quote(f"{path}")


def quoted(name: str) -> str:
    """Return a name as a sentence shows it: short, in quotes, and of one word.

    Blanks and quotes become "_" and letters beyond ASCII escapes, so that no name goes on
    as a sentence, or changes the order of the letters around it.
    """
    one_word = re.sub(r"""[\s'"`]""", "_", name)
    word = one_word.encode("ascii", "backslashreplace").decode()
    if len(word) > _LONGEST_QUOTED:
        half = _LONGEST_QUOTED // 2
        word = f"{word[:half]}...{word[3 - half :]}"
    return f"'{printable(word)}'"


def folder_path(argument: str) -> Path:
    """Return the path of a folder that is there; ArgumentTypeError for none."""
    if Path(argument).is_dir():
        return Path(argument)
    raise ArgumentTypeError(f"{argument!r:.200} is not a folder; name another")


def output_path(argument: str) -> Path:
    """Return the path of an output; ArgumentTypeError where a shell variable is not set."""
    if argument:
        return Path(argument)
    raise ArgumentTypeError("is empty; name a file or folder")


def whole_number(argument: str, *, least: int = 0) -> int:
    """Return the whole number that an option gives; ArgumentTypeError below `least`."""
    if argument.isascii() and argument.isdecimal() and int(argument) >= least:
        return int(argument)
    raise ArgumentTypeError(f"{argument!r:.80} is not a whole number from {least} on")
