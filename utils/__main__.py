"""The front door: `temporal-eval TOOL …`, or `python -m utils TOOL …` in the checkout."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys

from lm_eval_tasks import version

from .cli import Parser, say
from .errors import ToolError


# Each tool is a module with `main(arguments) -> exit status`, imported when it is asked for.
TOOLS = {
    "score": "score recorded answers to any task, and say why",
    "export": "write the prompts of tasks as requests of the OpenAI Batch API",
    "replay": "score recorded answers through the harness, as a live run does",
    "compare": "tell whether one model is better than another, document by document",
    "leaderboard": "make a board of models: a page to publish, CSV and JSON",
    "offline": "make a pack of tasks that runs without a network, or check one",
    "generate": "make a pack of fresh problems from a seed",
    "baselines": "print what answers without any reasoning score",
    "audit": "check the labels of benchmarks, or what their prompts allow to score",
    "scales": "print the table that scales the errors of ToT arithmetic",
    "adjudicate": "compare the verdicts on ToT arithmetic with a second reader's",
    "bench": "measure how many answers a second are scored",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the tool that the first argument names; return the exit status.

    0: done; 1: what the tool reports or an error, in one line on stderr; 2: a command line
    that cannot be read; 130: Ctrl-C.
    """
    # What a name of a file or model has in it can be shown anywhere.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has had enough
        _finish_output()
        return 1
    except ToolError as error:
        say(str(error))
        return 1
    except OSError as error:
        _finish_output()
        place = f"{error.filename}: " if error.filename is not None else ""
        say(f"{place}{error.strerror or error}")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return 130


def _run(arguments: list[str]) -> int:
    parser = _parser()
    try:
        if not arguments:
            parser.error(f"name a tool: {', '.join(TOOLS)}")
        options = parser.parse_args(arguments)
        tool = importlib.import_module(f".{options.tool}", __package__)
        return tool.main(options.arguments)
    except SystemExit as end:  # how argparse ends `--help` and what it cannot read
        return end.code


def _finish_output() -> None:
    """Write what is left to write; where that cannot be, leave it.

    Otherwise Python tries again at its end, and complains.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, TOOLS))
    tools = "\n".join(f"  {name:<{width}}  {what}" for name, what in TOOLS.items())
    parser = Parser(
        prog="temporal-eval",
        description=f"Tools around the temporal-reasoning tasks:\n\n{tools}\n\n"
        "`temporal-eval TOOL --help` says more of one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version())
    parser.add_argument("tool", choices=TOOLS, metavar="TOOL", help="one of these")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what it takes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
