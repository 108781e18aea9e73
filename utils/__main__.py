"""The front door: `temporal-eval TOOL …`, or `python -m utils TOOL …` in the checkout."""

from __future__ import annotations

import argparse
import importlib
import io
import logging
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from lm_eval_tasks import VERSION

from .core.cli import say, tool_parser
from .core.errors import ToolError, fault_of


# Each tool is a module with `main(arguments) -> exit status`, imported when it is asked for.
TOOLS = {
    "score": ("score", "score recorded answers to any task, and say why"),
    "compare": ("compare", "tell whether one model is better than another"),
    "leaderboard": ("leaderboard", "make a board of models: a page, CSV and JSON"),
    "export": (
        "harness.export_requests",
        "write prompts as requests of the OpenAI Batch API",
    ),
    "replay": ("harness.replay", "score recorded answers through the harness"),
    "offline": ("packs.offline", "make or check a pack that runs without a network"),
    "sample": (
        "packs.random_sample",
        "draw a random part of the rows, and say its precision",
    ),
    "generate": ("packs.generate", "make a pack of fresh problems from a seed"),
    "twins": ("packs.twins", "make a pack of public rows with other answers"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the tool that the first argument names; return the exit status.

    0: done; 1: what the tool reports or an error, in one line on stderr; 2: a command line
    that cannot be read; 128 + N: ended by signal N, such as Ctrl-C (130).
    """
    # What a name of a file or model has in it can be shown anywhere.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a notebook has streams of its own
            stream.reconfigure(errors="backslashreplace")
    _quieten_libraries()
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) == signal.SIG_DFL:  # `nohup` has SIGHUP ignored
            signal.signal(signum, _interrupt)
    try:
        exit_status = _run(arguments)
        sys.stdout.flush()
        return exit_status
    except ModuleNotFoundError as error:
        install_command = "pip install 'lm-eval-temporal-tasks[tools]'"
        say(f"{error.name} is not installed; run {install_command}")
    except (ToolError, MemoryError) as error:
        say(f"{error}" or "memory ran out; name fewer files at a time")
    except OSError as error:
        # What is left is written, or else dropped: Python would complain at its end.
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `head` has had enough
            file_prefix = f"{error.filename}: " if error.filename else ""
            say(f"{file_prefix}{fault_of(error)}")
    except KeyboardInterrupt as error:
        signum, *details = error.args or [signal.SIGINT]
        with suppress(OSError):  # the terminal may be what has gone
            say("; ".join([f"ended by {signal.Signals(signum).name}", *details]))
        return 128 + signum
    return 1


def _quieten_libraries() -> None:
    """Leave out what harness, hub and families log below errors: tools say their own.

    Bars of progress of others are as ours are (`core.progress`).
    """
    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    settings = {"HF_HUB_VERBOSITY": "error"}
    if sys.stderr.isatty():
        settings |= {"TQDM_DELAY": "1", "TQDM_LEAVE": "0"}
    else:
        settings |= {"TQDM_DISABLE": "1"}
    for name, value in settings.items():
        os.environ.setdefault(name, value)


def _interrupt(signum: int, _: FrameType | None) -> None:
    """End the program as Ctrl-C does, so that tools clean up, which no signal ends."""
    signal.signal(signum, signal.SIG_IGN)
    raise KeyboardInterrupt(signum)


def _run(arguments: list[str] | None) -> int:
    """Read the command line and run the tool that it names; return the exit status."""
    tool_lines = [f"  {tool_name:<11}  {TOOLS[tool_name][1]}" for tool_name in TOOLS]
    help_heading = "Tools around the temporal-reasoning tasks:\n"
    parser = tool_parser("", "\n".join([help_heading, *tool_lines]))
    parser.epilog = "`temporal-eval TOOL --help` says more of one."
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("tool", choices=TOOLS, metavar="TOOL", help="one of these")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what it takes")
    try:
        if not (sys.argv[1:] if arguments is None else arguments):
            sys.stderr.write(parser.format_help())
            return 2
        options = parser.parse_args(arguments)
        tool_module = importlib.import_module(f".{TOOLS[options.tool][0]}", __package__)
        return tool_module.main(options.arguments)
    except SystemExit as end:  # how argparse ends `--help` and what it cannot read
        return int(end.code or 0)


if __name__ == "__main__":
    sys.exit(main())
