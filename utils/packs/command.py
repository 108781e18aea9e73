"""The command line of packs."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from ..core.cli import tool_parser
from ..core.documents import quiet_harness
from ..core.families import leaf_tasks
from .offline import __doc__ as description
from .check import check
from .errors import PackError
from .folder import Folder
from .pack import COMMAND, make
from .sources import LICENCES, index, sources


def run(arguments: list[str] | None) -> int:
    """Make or check the pack that the command line names; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        with quiet_harness():
            _say(_checked(options) if options.check else _made(options))
    except PackError as error:
        if options.traceback:
            raise
        _say(str(error))
        return 1
    return 0


def _made(options: argparse.Namespace) -> str:
    """Make a pack; return what to say of it."""
    if not options.folder:
        raise PackError("DIR: is an empty name; name the pack's folder")
    folder = Folder(Path(options.folder))
    names, given = _tasks(options.tasks), _given(options.source, folder)
    found = sources(index(), names)
    manifest = make(folder, found, given, options.link, options.allow_partial)
    path = shlex.quote(str(folder.path))
    leaves = [leaf for name in names for leaf in leaf_tasks(name)]
    # The harness refuses a task that is named twice.
    tasks = names if len(leaves) == len({*leaves}) else sorted({*leaves})
    task = ",".join(tasks) or min(manifest.tasks)
    command = COMMAND.format(folder=path, task=task)
    return f"{folder.path} is complete. Run it:\n{command}"


def _checked(options: argparse.Namespace) -> str:
    """Check a pack; return what to say of it."""
    manifest = check(Folder(Path(options.folder)))
    count = len(manifest.files)
    return f"{manifest.folder.path}: all {count} files are as they were made"


def _say(what: str) -> None:
    sys.stderr.write(f"{what}\n")


def _parser() -> argparse.ArgumentParser:
    parser = tool_parser("offline", description)
    parser.add_argument("folder", metavar="DIR", help="the pack")
    parser.add_argument(
        "--tasks", metavar="NAME,...", help="tasks and groups; default: all"
    )
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="FAMILY=FOLDER",
        help=f"local files for one of {', '.join(LICENCES)}",
    )
    parser.add_argument(
        "--allow-partial",
        action="store_true",
        help="take files with fewer or more rows than the benchmark's",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="use this checkout's task files instead of copying them",
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the manifest"
    )
    parser.add_argument("--traceback", action="store_true", help="show where it failed")
    return parser


def _tasks(said: str | None) -> list[str]:
    """Return the names after `--tasks`, none where it was not given."""
    if said is None:
        return []
    names = [name.strip() for name in said.split(",")]
    if not all(names):
        raise PackError(
            f"--tasks {said!r}: has an empty name; name tasks, or leave it out"
        )
    return names


def _given(sources: list[str], pack: Folder) -> dict[str, Path]:
    """Return family -> folder with its files; PackError for invalid values."""
    given = {}
    for source in sources:
        family, _, name = source.partition("=")
        if family not in LICENCES or not name or not Path(name).is_dir():
            raise PackError(
                f"--source {source}: give one of {', '.join(LICENCES)}, '=', and a folder"
            )
        if family in given:
            raise PackError(
                f"--source {source}: {family} is given twice; name one folder"
            )
        path = Path(os.path.realpath(name))
        if path == pack.path or path in pack.path.parents:
            raise PackError(
                f"--source {source}: is or holds the pack {pack.path}; name a folder"
                " without it"
            )
        given[family] = path
    return given
