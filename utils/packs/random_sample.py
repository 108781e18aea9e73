"""Draw a random part of the rows of tasks, and say what it will tell before it is run.

    temporal-eval sample TASKS (--documents N | --half_width P | --difference P)
        [--seed S] [--include_path FOLDER] --output FILE

`--limit` of the harness takes the first rows, and files are sorted by type. This tool
draws at random: from benchmarks in proportion to their rows, from tasks likewise, or
equally where the benchmark is the plain mean of its tasks, and from types and levels in
proportion. `--half_width` and `--difference`, in percentage points, ask for as many rows
of each benchmark as give that precision.

The same seed gives the same rows on every machine, and a larger part contains a smaller
one: a run is extended with the same seed, and --use_cache keeps what was answered.

Example:

    temporal-eval sample tot_arithmetic --documents 20 --include_path examples \
        --output samples.json
"""

from __future__ import annotations

import json
import random
import shlex
from argparse import ArgumentTypeError, Namespace
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from .. import stats
from ..core.cli import include_path_option, output_path, tool_parser, whole_number
from ..core.documents import documents
from ..core.errors import ToolError
from ..core.files import check_output, written_whole
from ..core.format_tables import render
from ..core.task_scorers import (
    FOLDER,
    Group,
    benchmarks,
    is_generated,
    leaf_tasks,
    scorer,
    title_of,
)


SEED_KEY = "sample_seed"  # of a run's metadata: the seed of its rows
DEFAULT_SEED = 0
_OUTPUT_BEGINS = r'\{(?:"\w+": \[[0-9, ]*\](?:, |\}))+\s*\Z'  # what this tool writes


_PRECISIONS = {
    "--half_width": "half the width of the 95 %% interval of a score of 50 %%",
    "--difference": "a difference of two models that 4 of 5 tests show",
}


def main(arguments: list[str] | None = None) -> int:
    """Draw the rows that the command line asks for; return the exit status."""
    parser = tool_parser("sample", __doc__)
    add, positive_number = parser.add_argument, partial(whole_number, least=1)
    add("tasks", metavar="TASK,...", help="tasks and groups")
    size_options = parser.add_mutually_exclusive_group(required=True).add_argument
    documents_help = "rows of all tasks together"
    size_options("--documents", metavar="N", type=positive_number, help=documents_help)
    for option, help_text in _PRECISIONS.items():
        size_options(option, metavar="POINTS", type=_points, help=help_text)
    seed_help = "of the draw; default: %(default)s"
    add("--seed", metavar="S", type=whole_number, default=DEFAULT_SEED, help=seed_help)
    include_path_option(parser)
    add("--output", metavar="FILE", type=output_path, required=True)
    options = parser.parse_args(arguments)
    check_output(options.output, "temporal-eval sample", _OUTPUT_BEGINS)
    names = options.tasks.split(",")
    tasks = sorted({task for name in names for task in leaf_tasks(name)})
    draws = [
        Draw(benchmark, tasks, options.seed, options.include_path)
        for benchmark in benchmarks(tasks)
    ]
    if options.documents:
        sizes = _share_out(options.documents, draws, options.seed)
    elif options.half_width:
        sizes = [draw.fewest(draw.half_width, options.half_width) for draw in draws]
    else:
        sizes = [draw.fewest(draw.difference, options.difference) for draw in draws]
    rows_by_task: dict[str, list[int]] = {}
    for draw, size in zip(draws, sizes):
        rows_by_task |= draw.rows_by_task(size)
    with written_whole(options.output) as file:
        file.write(json.dumps(rows_by_task).encode() + b"\n")
    print(render([*map(Draw.report, draws, sizes)], "markdown"))
    print(_command_line(rows_by_task, options))
    return 0


def _points(argument: str) -> float:
    """Return the share that a number of percentage points is; ArgumentTypeError for none."""
    try:
        share = float(argument) / 100
    except ValueError:
        share = 0.0
    if 0 < share < 1:
        return share
    fault = "is not a number of percentage points between 0 and 100"
    raise ArgumentTypeError(f"{argument!r:.80} {fault}")


class Draw:
    """A benchmark's rows in the order in which a seed draws them."""

    def __init__(
        self, benchmark: Group, tasks: list[str], seed: int, include_path: Path
    ) -> None:
        """Draw the rows of those `tasks` that are in the benchmark."""
        self.benchmark, self.include_path = benchmark, include_path
        self.tasks = [task for task in benchmark.tasks if task in tasks]
        orders = {
            task: [(task, row) for row in draw_rows(task, seed, include_path)]
            for task in self.tasks
        }
        # Tasks that count alike in the score give as many rows each.
        weigh = len if benchmark.by_size else _one
        self.rows = interleave(orders, weigh, f"{seed} {benchmark.name}")

    def rows_by_task(self, size: int) -> dict[str, list[int]]:
        """Return task -> rising numbers of its rows among the first `size` of the draw.

        With falling numbers, the harness logs a row under the number of another one.
        """
        drawn_rows: dict[str, list[int]] = {task: [] for task in self.tasks}
        for task, row in self.rows[:size]:
            drawn_rows[task].append(row)
        return {task: sorted(rows) for task, rows in drawn_rows.items() if rows}

    def half_width(self, size: int) -> float:
        """Return half the width that is expected of the interval of a score of 50 %."""
        rows_by_task = self.rows_by_task(size)
        row_counts = [*map(len, rows_by_task.values())]
        drawn_share = min(
            len(rows) / self._row_counts[task] for task, rows in rows_by_task.items()
        )
        weights = self._weights(rows_by_task)
        return stats.expected_half_width(row_counts, weights, drawn_share)

    def difference(self, size: int) -> float:
        """Return the difference of two models that 4 of 5 tests are expected to show."""
        rows_by_task = self.rows_by_task(size)
        cluster_sizes = []
        for task, rows in rows_by_task.items():
            clusters = _clusters(task, self.include_path)
            cluster_sizes.append([*Counter(clusters[row] for row in rows).values()])
        return stats.expected_difference(cluster_sizes, self._weights(rows_by_task))

    @cached_property
    def _row_counts(self) -> Counter[str]:
        """How many rows each task has in all."""
        return Counter(task for task, _ in self.rows)

    def _weights(self, rows_by_task: dict[str, list[int]]) -> list[float]:
        """Return the weights of tasks in the benchmark's score."""
        by_size = self.benchmark.by_size
        weights = [self._row_counts[task] if by_size else 1 for task in rows_by_task]
        return [weight / sum(weights) for weight in weights]

    @property
    def name(self) -> str:
        """What messages call the drawn tasks."""
        if len(self.tasks) == 1:
            return self.tasks[0]
        title, task_count = title_of(self.benchmark.name), len(self.benchmark.tasks)
        if len(self.tasks) == task_count:
            return title
        return f"{title} ({len(self.tasks)} of {task_count} tasks)"

    def fewest(self, precision: Callable[[int], float], wanted: float) -> int:
        """Return how many rows reach a precision; ToolError where all of them do not."""
        row_count = len(self.rows)
        if (best := precision(row_count)) > wanted:
            limit = (
                f"all {row_count:,} rows of {self.name} give {100 * best:.1f} points"
            )
            raise ToolError(
                f"{100 * wanted:g} points are too few: {limit}; ask for more"
            )
        # Precision grows with the rows, but for a step here and there.
        return (
            bisect_left(range(1, row_count), -wanted, key=lambda n: -precision(n)) + 1
        )

    def report(self, size: int) -> dict[str, object]:
        """Return what the first `size` rows will tell, as the row of a table."""
        cells: dict[str, object] = {"benchmark": self.name}
        cells["rows"] = f"{size:,} of {len(self.rows):,}"
        if size > 1:
            cells["95 % interval at 50 %"] = f"± {100 * self.half_width(size):.1f}"
            shown_difference = f"{100 * self.difference(size):.1f}"
            cells["difference shown in 4 of 5 tests"] = shown_difference
        return cells


@cache
def draw_rows(task: str, seed: int, include_path: Path = FOLDER) -> tuple[int, ...]:
    """Return the numbers of a task's rows in the order in which a seed draws them.

    Any beginning of it has each type and level in proportion, as far as whole rows go.
    """
    parts = [
        tuple(scorer(task).breakdowns(doc).values())
        for doc in documents(task, include_path)
    ]
    return tuple(_draw(range(len(parts)), parts, f"{seed} {task}"))


def _draw(rows: Sequence[int], parts: Sequence[tuple], seed: str) -> list[int]:
    """Return rows in a random order that has parts, and parts of these, in proportion.

    `parts` holds, by the number of a row, the parts that it is in, the largest first.
    """
    if not rows or not parts[rows[0]]:
        return shuffled([*rows], seed)
    rows_by_part: dict[object, list[int]] = defaultdict(list)
    for row in rows:
        rows_by_part[parts[row][0]].append(row)
    inner_parts = [row_parts[1:] for row_parts in parts]
    drawn_rows = {
        part: _draw(part_rows, inner_parts, f"{seed} {part}")
        for part, part_rows in rows_by_part.items()
    }
    return interleave(drawn_rows, len, seed)


class Drawn(NamedTuple):
    """What is known of documents whose run says that a seed drew them."""

    seed: int
    rows: int  # of the task in all
    is_verified: bool  # drawn again; the rows may not be at hand

    def describe(self, n: int) -> str:
        """Return in words what `n` documents are."""
        text = f"a random sample of seed {self.seed}, {n:,} of {self.rows:,} rows"
        return text if self.is_verified else f"{text}, not drawn again"


def recognise(
    task: str, seed: int, digests: Counter[str], include_path: Path
) -> Drawn | None:
    """Return what documents with these digests are a random part of; None for others.

    Rows at `include_path` are drawn again. Those of publishers are not loaded for it.
    """
    document_count = digests.total()
    if include_path == FOLDER and not is_generated(task):
        row_count = scorer(task).upstream[0]
        if row_count is None or document_count >= row_count:
            return None
        return Drawn(seed, row_count, False)
    try:
        docs, digest = documents(task, include_path), scorer(task).utils.digest
    except ToolError:  # there is nothing to draw from
        return None
    drawn_rows = draw_rows(task, seed, include_path)[:document_count]
    drawn_digests = Counter(digest(docs[row]).hex() for row in drawn_rows)
    is_part = document_count < len(docs) and digests == drawn_digests
    return Drawn(seed, len(docs), True) if is_part else None


Part = TypeVar("Part")
Item = TypeVar("Item")


def interleave(
    sequences: Mapping[Part, Sequence[Item]],
    weigh: Callable[[Sequence[Item]], int],
    seed: str,
) -> list[Item]:
    """Return the items of named sequences in one order that keeps each one's own.

    The k-th item of a sequence stands at (k - u) / weight, u random: any beginning has
    items of all sequences in proportion to the weights, as long as a sequence lasts.
    """
    placed_items = []
    for name, items in sequences.items():
        offset = random.Random(f"{seed} {name}").random()
        weight = weigh(items)
        for position, item in enumerate(items, 1):
            placed_items.append(
                ((position - offset) / weight, str(name), position, item)
            )
    return [item for *_, item in sorted(placed_items, key=lambda placed: placed[:3])]


def shuffled(rows: list[int], seed: str) -> list[int]:
    """Return rows in a random order, the same on every machine and version of Python."""
    random_numbers = random.Random(seed)  # of which `random` alone is promised to stay
    return sorted(rows, key=lambda _: random_numbers.random())


def _one(_: Sequence) -> int:
    return 1


def _share_out(size: int, draws: list[Draw], seed: int) -> list[int]:
    """Return how many of `size` rows each draw gives, in proportion to its rows."""
    rows_by_benchmark = {draw.benchmark.name: draw.rows for draw in draws}
    names = {name: [name] * len(rows) for name, rows in rows_by_benchmark.items()}
    row_count = sum(map(len, names.values()))
    if size > row_count:
        raise ToolError(
            f"--documents {size}: there are {row_count:,} rows; ask for fewer"
        )
    drawn_names = Counter(interleave(names, len, f"{seed}")[:size])
    return [drawn_names[draw.benchmark.name] for draw in draws]


@cache
def _clusters(task: str, include_path: Path) -> list[str]:
    """Return the clusters of a task's documents, in their order."""
    return [*map(scorer(task).utils.cluster, documents(task, include_path))]


def _command_line(rows_by_task: dict[str, list[int]], options: Namespace) -> str:
    """Return how the harness runs the rows; the metadata say the seed in its results."""
    # The harness runs all rows of a task that the file does not name.
    words = ["lm_eval --model … --tasks", ",".join(rows_by_task)]
    words += ["--include_path", shlex.quote(f"{options.include_path}")]
    words += ["--samples", shlex.quote(f"{options.output}")]
    words += ["--metadata", shlex.quote(json.dumps({SEED_KEY: options.seed}))]
    return " ".join([*words, "--output_path output --log_samples"])
