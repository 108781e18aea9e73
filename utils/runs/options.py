"""The options of every tool that scores recorded answers."""

from __future__ import annotations

import argparse

from ..core.cli import include_path_option
from ..packs import disputed


def answer_options(parser: argparse.ArgumentParser) -> None:
    """Add --task, --include_path and --leave_out to the options of a tool."""
    parser.add_argument("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    parser.add_argument(
        "--leave_out",
        choices=disputed.names(),
        metavar="LIST",
        help=f"a list of disputed rows to leave out: {', '.join(disputed.names())}",
    )
