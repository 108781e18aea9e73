"""Print the table by which the errors of ToT arithmetic are scaled (metric `mase`).

    temporal-eval scales FILE

FILE has the rows of the benchmark, as JSONL. The golds of each unit are clustered by
HDBSCAN, a cluster having at least 30 % of them (arXiv 2509.16720). A line says from which
to which gold the cluster goes, the mean absolute deviation of the golds in between from
their mean, and the same of the others. A unit of fewer than 30 rows has no scale. The
lines are those of `SCALES` in `lm_eval_tasks/tot/utils.py`.

Example:

    temporal-eval scales examples/data/tot_arithmetic.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from math import ceil
from pathlib import Path

import numpy

from lm_eval_tasks.tot.utils import Scale, reference_quantity

from .cli import tool_parser
from .errors import ToolError
from .jsonl import read_jsonl


MIN_ROWS = 30  # of a unit
MIN_SHARE = 0.3  # of them in a cluster


def golds_by_unit(rows: Iterable[dict]) -> dict[str, numpy.ndarray]:
    """Return unit -> golds of rows of ToT arithmetic; KeyError, ValueError for others."""
    golds: dict[str, list[float]] = {}
    for row in rows:
        unit, quantity = reference_quantity(row)
        if quantity is not None:
            golds.setdefault(unit, []).append(quantity)
    return {unit: numpy.sort(golds[unit]) for unit in sorted(golds)}


def scale(golds: numpy.ndarray) -> Scale:
    """Return the scale of sorted golds; ValueError where they are not of one cluster."""
    from sklearn.cluster import HDBSCAN  # a second, which the other tools do not need

    size = ceil(MIN_SHARE * len(golds))
    method = HDBSCAN(min_cluster_size=size, allow_single_cluster=True, copy=True)
    clusters = method.fit_predict(golds[:, None])
    lowest, highest = golds[clusters == 0][[0, -1]].tolist()
    is_inside = (golds >= lowest) & (golds <= highest)
    if clusters.max() > 0 or is_inside.all():
        raise ValueError(f"golds like {lowest} are not one cluster and some others")
    inside, outside = _deviation(golds[is_inside]), _deviation(golds[~is_inside])
    return Scale(lowest, highest, inside, outside)


def _deviation(golds: numpy.ndarray) -> float:
    """Return the mean absolute deviation of numbers from their mean."""
    return round(float(abs(golds - golds.mean()).mean()), 4)


def _line(unit: str, golds: numpy.ndarray) -> str:
    if len(golds) < MIN_ROWS:
        return f'    # "{unit}": a scale takes {MIN_ROWS} rows, not {len(golds)}\n'
    return f'    "{unit}": Scale{tuple(scale(golds))},\n'


def main(arguments: list[str] | None = None) -> int:
    """Print the table of a file; return the exit status."""
    parser = tool_parser("scales", __doc__)
    parser.add_argument("file", type=Path, metavar="FILE")
    path = parser.parse_args(arguments).file
    rows = read_jsonl(path)
    try:
        lines = [_line(unit, golds) for unit, golds in golds_by_unit(rows).items()]
    except (KeyError, TypeError, ValueError) as error:
        raise ToolError(
            f"{path}: the rows are not those of ToT arithmetic ({error!r:.100}); give"
            " tot_arithmetic.jsonl"
        ) from None
    if not lines:
        raise ToolError(f"{path}: has no rows with a unit; give tot_arithmetic.jsonl")
    sys.stdout.writelines(lines)
    return 0
