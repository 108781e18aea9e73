"""What the command lines of the tools share."""

from __future__ import annotations

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that says what it cannot read in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """End the program with status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def tool_parser(tool: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of a tool; `description`, with its examples, is its help."""
    return Parser(
        prog=f"temporal-eval {tool}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
