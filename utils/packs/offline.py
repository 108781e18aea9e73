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

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from pathlib import Path

from ..core.cli import output_path, say, tool_parser
from ..core.documents import quiet_harness
from ..core.errors import ToolError
from .pack import COMMAND, check, make
from .sources import index, sources


def main(arguments: list[str] | None = None) -> int:
    """Make or check the pack that the command line names; return the exit status."""
    options = _parser().parse_args(arguments)
    folder = options.folder.resolve()
    with quiet_harness():
        if options.check:
            return _check(folder)
        names, entries = options.tasks.split(",") if options.tasks else [], index()
        families = {source.family for source in sources(entries, [])}
        given = _given(options.source, sorted(families))
        found = sources(entries, names)
        manifest = make(folder, found, given, options.allow_partial)
    say_command(folder, names or [min(manifest.tasks)])
    return 0


def say_command(folder: Path, tasks: list[str]) -> None:
    """Say that a pack is made, and how to run it."""
    say(f"{folder} is complete. Run it:")
    say(COMMAND.format(folder=shlex.quote(str(folder)), task=",".join(tasks)))


def _check(folder: Path) -> int:
    manifest, faults = check(folder)
    for fault in faults:
        say(fault)
    if not faults:
        say(f"{folder}: all {len(manifest.files)} files are as they were made")
    return bool(faults)


def _parser() -> ArgumentParser:
    parser = tool_parser("offline", __doc__)
    add = parser.add_argument
    add("folder", type=output_path, metavar="DIR", help="the pack")
    add("--tasks", metavar="NAME,...", help="tasks and groups; default: all")
    add(
        "--source",
        action="append",
        default=[],
        metavar="FAMILY=FOLDER",
        help="local files for the tasks of a folder of lm_eval_tasks",
    )
    add(
        "--allow-partial",
        action="store_true",
        help="take files with fewer or more rows than the benchmark's",
    )
    add("--check", action="store_true", help="compare with the manifest")
    return parser


def _given(given: list[str], families: list[str]) -> dict[str, Path]:
    """Return family -> folder with its files; ToolError for invalid values."""
    folders = {}
    for text in given:
        family, _, name = text.partition("=")
        if family not in families or not name or not Path(name).is_dir():
            raise ToolError(
                f"--source {text}: give one of {', '.join(families)}, '=', and a folder"
            )
        folders[family] = Path(name)
    return folders
