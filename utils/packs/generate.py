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

from argparse import Namespace

from ..core.cli import output_path, tool_parser, whole_number
from ..core.documents import quiet_harness
from ..core.errors import ToolError
from ..core.families import all_tasks, leaf_tasks, scorer
from ..core.private import load_yaml
from .offline import say_command
from .pack import make
from .sources import Source, index, is_generated


def main(arguments: list[str] | None = None) -> int:
    """Make the pack that the command line names; return the exit status."""
    options = _options(arguments)
    entries, request = index(), {"gen_seed": options.gen_seed}
    request |= {"gen_rows": options.gen_rows, "gen_levels": options.gen_levels}
    configs = {task: load_yaml(entries[task].yaml_path) for task in all_tasks()}
    fresh = [task for task in configs if is_generated(configs[task])]
    names = options.tasks.split(",") if options.tasks else fresh
    tasks = [task for name in names for task in leaf_tasks(name)]
    if strange := [task for task in tasks if task not in fresh]:
        raise ToolError(
            f"{strange[0]}: is not a fresh task; name some of {', '.join(fresh)}"
        )
    folder = options.folder.resolve()
    with quiet_harness():
        found = [_source(entries, x, configs[x], request) for x in dict.fromkeys(tasks)]
        manifest = make(folder, found)
    made = {*fresh} & manifest.tasks.keys()
    whole = [name for name in entries if {*leaf_tasks(name)} == made]  # or a group
    say_command(folder, whole[:1] or sorted(made))
    return 0


def _source(entries: dict, task: str, config: dict, request: dict) -> Source:
    """Return the rows of a task from a seed; ToolError where there are none such."""
    kwargs, metadata = config["dataset_kwargs"], config["metadata"] | request
    try:
        rows = config["custom_dataset"](**kwargs, **metadata)[config["test_split"]]
    except ValueError as error:
        raise ToolError(str(error)) from None
    made = {key: metadata[key] for key in sorted(metadata) if key.startswith("gen_")}
    said = ", ".join(f"{key} {value}" for key, value in made.items())
    return Source(
        file=f"{scorer(task).file}.jsonl",
        family=entries[task].yaml_path.parent.name,
        tasks=frozenset({task}),
        known=(None, None),
        licence=metadata["licence"],
        upstream=f"generator {kwargs['generator']}: {said}",
        revision=None,
        load=lambda: rows,
        generated=made,
    )


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("generate", __doc__)
    parser.add_argument("folder", type=output_path, metavar="DIR", help="the pack")
    number, of = {"type": whole_number}, "of each task, in equal shares of the levels"
    add, default = parser.add_argument, "default: %(default)s"
    add("--gen-seed", "--gen_seed", **number, required=True, help="a whole number")
    add("--gen-rows", "--gen_rows", **number, default=100, help=f"{of}; {default}")
    add("--gen-levels", "--gen_levels", default="1-5", help=default)
    add("--tasks", metavar="NAME,...", help="default: all whose rows come from a seed")
    return parser.parse_args(arguments)
