"""The options of the tools that read answers."""

from __future__ import annotations

from argparse import ArgumentParser
from functools import partial

from ..core.cli import include_path_option, output_path, whole_number
from ..packs import disputed
from .judge_file import LIMITS


# As LIMITS, of an argument.
_RUN_LIMITS = {
    "most_runs": (100, "models that one argument stands for, of each filter one"),
    "most_files": (1_000, "files that one argument stands for"),
    "most_argument_documents": (
        500_000,
        "documents, of all tasks and models, that one argument stands for",
    ),
    "most_argument_seconds": (
        1_800,
        "seconds of processor time to judge the files that one argument stands for",
    ),
}


def answer_options(parser: ArgumentParser) -> None:
    """Add the options of the tools that read answers."""
    add, positive_number = parser.add_argument, partial(whole_number, least=1)
    add("--task", help="the task of lines that do not name theirs")
    include_path_option(parser)
    disputed_help = f"a list of disputed rows to leave out: {', '.join(disputed.LISTS)}"
    add("--leave_out", choices=disputed.LISTS, metavar="LIST", help=disputed_help)
    cache_help = "where tables of verdicts are kept; default: beside your other caches"
    add("--cache", metavar="DIR", type=output_path, help=cache_help)
    workers_help = "files that are judged at a time; default: %(default)s"
    add("--workers", metavar="N", type=positive_number, default=1, help=workers_help)
    group = parser.add_argument_group("limits: what exceeds one is left out")
    for option, (default, meaning) in (LIMITS | _RUN_LIMITS).items():
        group.add_argument(
            f"--{option}",
            metavar="N",
            type=positive_number,
            default=default,
            help=f"{meaning}; default: %(default)s",
        )
