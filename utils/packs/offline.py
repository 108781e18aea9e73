"""Make a pack of tasks that runs on a machine without a network, or check one.

    temporal-eval offline DIR [--tasks NAME,...] [--source FAMILY=FOLDER ...]
    temporal-eval offline DIR --check

A pack is a folder with the task files and their data; it can be moved anywhere. The rows
come by the tasks' own configuration, or, with `--source`, from files in a local folder
that bear the names of the upstream ones. DIR is new, empty, or a pack: nothing else in it
is touched. A run that was interrupted goes on where it stopped.

Example, of a pack over the hand-made rows, which needs no network itself:

    temporal-eval offline output/pack --tasks tcp_long --source tcp=examples/data \\
        --allow-partial
    temporal-eval offline output/pack --check
"""

from __future__ import annotations

from pathlib import Path

from ..core.cli import output_path, say, tool_parser
from ..core.errors import ToolError
from .pack import check, make, say_command
from .sources import sources


def main(arguments: list[str] | None = None) -> int:
    """Make or check the pack that the command line names; return the exit status."""
    parser = tool_parser("offline", __doc__)
    add, switch = parser.add_argument, {"action": "store_true"}
    add("folder", type=output_path, metavar="DIR", help="the pack")
    add("--tasks", metavar="NAME,...", help="tasks and groups; default: all")
    source_option = {"action": "append", "default": [], "metavar": "FAMILY=FOLDER"}
    add("--source", **source_option, help="local files of a family's benchmark")
    partial_help = "take files with fewer or more rows than the benchmark's"
    add("--allow-partial", **switch, help=partial_help)
    add("--check", **switch, help="compare with the manifest")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    names = options.tasks.split(",") if options.tasks else []
    if options.check:
        faults = check(folder)
        for message in faults or [f"{folder}: all files are as they were made"]:
            say(message)
        return bool(faults)
    folders, families = {}, sorted({source.family for source in sources([])})
    for argument in options.source:
        family, _, name = argument.partition("=")
        if family not in families or not name or not Path(name).is_dir():
            fix = f"give one of {', '.join(families)}, '=', and a folder"
            raise ToolError(f"--source {argument}: {fix}")
        folders[family] = Path(name)
    manifest = make(folder, sources(names), folders, options.allow_partial)
    say_command(folder, names or [min(manifest.tasks)])
    return 0
