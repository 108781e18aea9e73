"""Make a pack of fresh problems: an offline pack whose rows come from a seed.

    temporal-eval generate DIR --gen-seed N [--gen-rows N] [--gen-levels FIRST-LAST]
        [--gen-knobs JSON] [--tasks NAME,...]

The same seed, rows, levels and knobs give the same pack on every machine and with every
version that has the same `gen_version`; rows of version 1 need release 0.3. For a
leaderboard, choose the seed after the models were released, run the pack, and publish it
with its seed and fingerprints, which are in its manifest. DIR is new, empty, or a pack,
which then has these rows beside its own. Nothing is written before all rows are made.

Example:

    temporal-eval generate fresh-pack --gen-seed 20261121 --gen-rows 10
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError

from ..core.cli import output_path, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.progress import tracked
from ..core.task_scorers import (
    all_tasks,
    configuration,
    function,
    is_generated,
    leaf_tasks,
)
from .offline import make
from .task_rows import Source


def main(arguments: list[str] | None = None) -> int:
    """Make the pack that the command line names; return the exit status."""
    parser = tool_parser("generate", __doc__)
    add, default_help = parser.add_argument, "default: %(default)s"
    add("folder", type=output_path, metavar="DIR", help="the pack")
    add("--gen-seed", "--gen_seed", type=whole_number, required=True, metavar="N")
    rows_help = f"of each task, in equal shares of the levels; {default_help}"
    add("--gen-rows", "--gen_rows", type=whole_number, default=100, help=rows_help)
    add("--gen-levels", "--gen_levels", default="1-5", help=default_help)
    knobs_help = """other than the level's, such as '{"timexnli": {"steps": 3}}'"""
    add("--gen-knobs", "--gen_knobs", type=_json, default={}, help=knobs_help)
    add("--tasks", default="fresh", metavar="NAME,...", help=default_help)
    options = parser.parse_args(arguments)
    names_in_option = options.tasks.split(",")
    tasks = sorted({task for name in names_in_option for task in leaf_tasks(name)})
    sources = [_source(task, vars(options)) for task in tasks]
    make(options.folder.resolve(), sources, names_in_option)
    return 0


def _json(text: str) -> object:
    """Return what a JSON text says; ArgumentTypeError for other texts."""
    try:
        return json.loads(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r:.80} is not JSON") from None


def _source(task: str, options: dict) -> Source:
    """Return the source of a task's fresh rows; ToolError where there are none such."""
    if not is_generated(task):
        tasks_text = ", ".join(filter(is_generated, all_tasks()))
        raise ToolError(f"{task}: is not a fresh task; name some of {tasks_text}")
    config = configuration(task)
    generator_name = config["dataset_kwargs"]["generator"]
    settings = sorted((config["metadata"] | options).items())
    request = {name: value for name, value in settings if name.startswith("gen_")}
    module = sys.modules[function(config["custom_dataset"]).__module__]
    try:
        rows_request = module.read_request(generator_name, **request)
        rows = module.rows(*rows_request)
        with tracked(rows, task, rows_request.row_count) as tracked_rows:
            rows = [*tracked_rows]
    except ValueError as error:
        raise ToolError(str(error)) from None
    settings_text = ", ".join(f"{name} {value}" for name, value in request.items())
    origin = f"generator {generator_name}: {settings_text}"
    return Source(frozenset({task}), origin, lambda: rows, generated=request)
