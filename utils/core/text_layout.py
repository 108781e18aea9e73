"""How reports are laid out: in the width and colours of a terminal, or as Markdown.

The three codes of a terminal that are needed here are fewer than what a library such as
`rich` would have to be told so that it changes no figure, name or line of a report.
"""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable
from typing import NamedTuple, TextIO

from .cli import printable
from .format_tables import escaped, render


_MARKDOWN_WIDTH = 94  # of prose in files and pipes, wherever they are read
_BOLD, _RED, _RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"


class Layout(NamedTuple):
    """The layout of a report."""

    width: int = _MARKDOWN_WIDTH  # of prose, in characters
    is_terminal: bool = False
    has_colours: bool = False

    @classmethod
    def of(cls, stream: TextIO) -> Layout:
        """Return the layout for a stream; `NO_COLOR` and a dumb terminal have no colours."""
        if not stream.isatty():
            return cls()
        is_dumb = os.environ.get("TERM") == "dumb"
        has_colours = not os.environ.get("NO_COLOR") and not is_dumb
        return cls(shutil.get_terminal_size().columns, True, has_colours)

    def data(self, value: object) -> str:
        """Return a name or another value as it is: nothing in it steers the terminal."""
        if self.is_terminal:
            return printable(" ".join(str(value).split()))
        return escaped(value)

    def heading(self, text: str) -> str:
        """Return the line of a heading."""
        return self._coded(text, _BOLD) if self.is_terminal else f"## {text}"

    def fault(self, text: str) -> str:
        """Return a paragraph on what is wrong, of which the first word says so."""
        first_word, _, rest = text.partition(" ")
        if not self.is_terminal:
            return self.paragraph(f"**{first_word}** {rest}")
        _, _, rest = self.paragraph(text).partition(" ")
        return f"{self._coded(first_word, _BOLD + _RED)} {rest}"

    def paragraph(self, text: str, indent: str = "") -> str:
        """Return a text in lines of the width, those after the first indented."""
        return textwrap.fill(
            text, self.width, subsequent_indent=indent, break_on_hyphens=False
        )

    def table(self, rows: list[dict], number: Callable[[float], str] = str) -> str:
        """Return rows as a table; on a terminal without the marks of Markdown."""
        return render(rows, "terminal" if self.is_terminal else "markdown", number)

    def _coded(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self.has_colours else text
