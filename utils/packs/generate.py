"""Make a pack of fresh problems: an offline pack whose rows come from a seed.

    temporal-eval generate DIR --gen-seed N [--gen-rows N] [--gen-levels FIRST-LAST]
        [--gen-knobs JSON] [--tasks NAME,...]

The same seed, rows, levels and knobs give the same pack on every machine and with every
version that has the same `gen_version`; rows of version 1 need release 0.3. For a
leaderboard, choose the seed after the models were released, run the pack, and publish it
with its seed and fingerprints, which are in its manifest. DIR is new, empty, or a pack,
which then has these rows beside its own. Nothing is written before all rows are made.

Example:

    temporal-eval generate fresh-pack --gen-seed 20261121 --gen-rows 50
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError

from ..core.cli import output_path, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import (
    all_tasks,
    configuration,
    function,
    is_generated,
    leaf_tasks,
    task_files,
)
from .offline import make, say_command
from .sources import Source


def main(arguments: list[str] | None = None) -> int:
    """Make the pack that the command line names; return the exit status."""
    parser = tool_parser("generate", __doc__)
    parser.add_argument("folder", type=output_path, metavar="DIR", help="the pack")
    add, default_help = parser.add_argument, "default: %(default)s"
    seed_option = {"type": whole_number, "required": True, "help": "a whole number"}
    rows_help = f"of each task, in equal shares of the levels; {default_help}"
    add("--gen-seed", "--gen_seed", **seed_option)
    add("--gen-rows", "--gen_rows", type=whole_number, default=100, help=rows_help)
    add("--gen-levels", "--gen_levels", default="1-5", help=default_help)
    knobs_help = "knobs that are not the level's, such as "
    knobs_help += """'{"timexnli": {"steps": 3}}'"""
    json_option = {"type": _json, "default": {}, "metavar": "JSON", "help": knobs_help}
    add("--gen-knobs", "--gen_knobs", **json_option)
    add("--tasks", metavar="NAME,...", help="default: all whose rows come from a seed")
    request = vars(parser.parse_args(arguments))
    pack_folder, tasks_text = request.pop("folder").resolve(), request.pop("tasks")
    fresh_tasks = [task for task in all_tasks() if is_generated(task)]
    names = tasks_text.split(",") if tasks_text else fresh_tasks
    tasks = dict.fromkeys(task for name in names for task in leaf_tasks(name))
    if other_tasks := [task for task in tasks if task not in fresh_tasks]:
        fix = f"name some of {', '.join(fresh_tasks)}"
        raise ToolError(f"{other_tasks[0]}: is not a fresh task; {fix}")
    manifest = make(pack_folder, [_source(task, request) for task in tasks])
    fresh_in_pack = {*fresh_tasks} & manifest.tasks.keys()
    groups = [group for group in task_files() if {*leaf_tasks(group)} == fresh_in_pack]
    say_command(pack_folder, groups[:1] or sorted(fresh_in_pack))
    return 0


def _json(text: str) -> object:
    """Return what a JSON text says; ArgumentTypeError for other texts."""
    try:
        return json.loads(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r:.80} is not JSON") from None


def _source(task: str, request: dict) -> Source:
    """Return the rows of a task from a seed; ToolError where there are none such."""
    config = configuration(task)
    generator = config["dataset_kwargs"]["generator"]
    settings = sorted((config["metadata"] | request).items())
    generated = {name: value for name, value in settings if name.startswith("gen_")}
    module = sys.modules[function(config["custom_dataset"]).__module__]
    try:
        rows = module.rows_with_bar(module.read_request(generator, **generated))
    except ValueError as error:
        raise ToolError(str(error)) from None
    settings_text = ", ".join(f"{name} {value}" for name, value in generated.items())
    upstream = f"generator {generator}: {settings_text}"
    return Source(frozenset({task}), upstream, lambda: rows, generated=generated)
