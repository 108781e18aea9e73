"""Make a pack of fresh problems: an offline pack whose rows come from a seed.

    temporal-eval generate DIR --gen-seed N [--gen-rows N] [--gen-levels FIRST-LAST]
        [--tasks NAME,...]

The same seed, rows and levels give the same pack on every machine. For a leaderboard,
choose the seed after the models were released, run the pack, and publish it with its
seed and fingerprints, which are in its manifest. DIR is new, empty, or a pack, which
then has these rows beside its own.

Example:

    temporal-eval generate fresh-pack --gen-seed 20261121 --gen-rows 50
"""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from pathlib import Path

from lm_eval_tasks.fresh.utils import find_generator, read_request, rows

from ..core.cli import output_path, tool_parser, whole_number
from ..core.documents import quiet_harness
from ..core.errors import ToolError
from ..core.families import Scorer, configuration, leaf_tasks, scorer
from .folder import Folder
from .pack import COMMAND, make
from .sources import Rows


class GeneratedSource:
    """The rows of one fresh task, as packs want the sources of their rows."""

    family, licence, revision = "fresh", "MIT", None
    given_as = "generated"
    known = (None, None)

    def __init__(self, task: Scorer, seed: int, count: int, levels: range):
        self.tasks, self.file = {task.task}, f"{task.file}.jsonl"
        self._generator = configuration(task.task)["dataset_kwargs"]["generator"]
        self._seed, self._count, self._levels = seed, count, levels
        self.generated = {
            "gen_seed": seed,
            "gen_rows": count,
            "gen_levels": f"{levels[0]}-{levels[-1]}",
            "gen_version": find_generator(self._generator).VERSION,
        }

    @property
    def url(self) -> str:
        """What the manifest and messages call the source."""
        made = ", ".join(f"{key} {value}" for key, value in self.generated.items())
        return f"generator {self._generator}: {made}"

    def rows(self, folder: Path | None) -> Rows:
        """Return the rows; ToolError where the seed does not have so many."""
        try:
            made = rows(self._generator, self._seed, self._count, self._levels)
        except ValueError as error:
            raise ToolError(str(error)) from None
        return Rows(self.url, made, [f"row {number}" for number in range(len(made))])


def main(arguments: list[str] | None = None) -> int:
    """Make the pack that the command line names; return the exit status."""
    options = _options(arguments)
    names = [task for name in options.tasks.split(",") for task in leaf_tasks(name)]
    try:
        request = read_request(options.gen_seed, options.gen_rows, options.gen_levels)
    except ValueError as error:
        raise ToolError(str(error)) from None
    for name in names:
        if "generator" not in (configuration(name).get("dataset_kwargs") or {}):
            raise ToolError(
                f"{name}: is not a fresh task; name some of {', '.join(leaf_tasks('fresh'))}"
            )
    found = [GeneratedSource(scorer(name), *request) for name in dict.fromkeys(names)]
    folder = Folder(options.folder)
    with quiet_harness():
        manifest = make(folder, found, {})
    fresh = set(leaf_tasks("fresh"))
    made = sorted(fresh & manifest.tasks.keys())
    tasks = "fresh" if len(made) == len(fresh) else ",".join(made)
    command = COMMAND.format(folder=shlex.quote(str(folder.path)), task=tasks)
    sys.stderr.write(f"{folder.path} is complete. Run it:\n{command}\n")
    return 0


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("generate", __doc__)
    parser.add_argument("folder", type=output_path, metavar="DIR", help="the pack")
    parser.add_argument(
        "--gen-seed",
        "--gen_seed",
        type=whole_number,
        required=True,
        help="a non-negative integer",
    )
    parser.add_argument(
        "--gen-rows",
        "--gen_rows",
        type=whole_number,
        default=100,
        help="of each task, in equal shares of the levels; default: %(default)s",
    )
    parser.add_argument(
        "--gen-levels", "--gen_levels", default="1-5", help="default: %(default)s"
    )
    parser.add_argument(
        "--tasks", default="fresh", metavar="NAME,...", help="default: all fresh tasks"
    )
    return parser.parse_args(arguments)
