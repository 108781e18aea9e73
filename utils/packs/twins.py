"""Make a pack of twins: the rows of a pack with other years or names, and other answers.

    temporal-eval twins OUT --include_path PACK --gen-seed N

PACK is an offline pack. Its rows have twins where a transformation changes the answer in a
known way. Rows of which it changes the question alone come as the `twin_control` tasks:
they show what the transformation costs. The manifest names the original of each twin, and
says why other rows have none. OUT is new, empty, or a pack, such as PACK itself.

Example:

    temporal-eval twins output/twins --include_path examples --gen-seed 20261123
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import NamedTuple

from lm_eval_tasks.twin.transformations import TRANSFORMATIONS, Survey, Twin

from ..core.cli import folder_path, output_path, tool_parser, whole_number
from ..core.documents import documents_of
from ..core.errors import ToolError
from ..core.families import all_tasks, configuration, scorer, transformations
from ..core.files import read_jsonl
from ..core.progress import tracked
from . import disputed
from .manifest import Manifest
from .offline import check, make
from .sources import Source


VERSION = "1"  # bumped with every change to the rows of a seed
_TRIES = 20  # so that a twin is no row of the benchmark, nor another's twin


class Draw(NamedTuple):
    """A row of a pack of twins, and the part of the manifest about it."""

    row: dict
    column: str  # of the label
    original: tuple[str, object]  # digest and label of the public row
    mirror: object  # None where the label stays, too

    @property
    def keeps_label(self) -> bool:
        return self.row[self.column] == self.original[1]


def main(arguments: list[str] | None = None) -> int:
    """Make the pack that the command line names; return the exit status."""
    parser = tool_parser("twins", __doc__)
    add = parser.add_argument
    add("folder", type=output_path, metavar="OUT", help="the pack of twins")
    add("--include_path", type=folder_path, required=True, metavar="PACK")
    add("--gen-seed", "--gen_seed", type=whole_number, required=True, metavar="N")
    options = parser.parse_args(arguments)
    public_manifest = Manifest.of(options.include_path.resolve())
    if pack_faults := check(public_manifest.folder):
        raise ToolError(pack_faults[0])
    twin_tasks = [task for task in all_tasks() if transformations(task)]
    sources = [
        _source(task, public_manifest, options.gen_seed)
        for task in twin_tasks
        if scorer(task).base in public_manifest.tasks
    ]
    sources = [source for source in sources if source.twins["originals"]]
    if not sources:
        bases_text = ", ".join(sorted({scorer(task).base for task in twin_tasks}))
        fault = "has no row that can have a twin; make a pack with some of"
        raise ToolError(f"{public_manifest.folder}: {fault} {bases_text}")
    make(options.folder.resolve(), sources, [min(source.tasks) for source in sources])
    return 0


def _source(task: str, public: Manifest, seed: int) -> Source:
    """Return the source of a task's twins, with what the manifest says of them."""
    base_file = public.tasks[scorer(task).base]
    base_rows = read_jsonl(public.folder / "data" / base_file)
    base_entry = public.data[base_file]
    request = {"twin_seed": seed, "twin_version": VERSION}
    request["twin_source"] = base_entry["fingerprint"]
    draws, count_by_reason = draw_twins(task, base_rows, seed)
    is_control_task = configuration(task)["dataset_kwargs"].get("keeps_label", False)
    draws = [draw for draw in draws if draw.keeps_label == is_control_task]
    twin_rows = [draw.row for draw in draws]
    twin_docs = documents_of(task, twin_rows) if twin_rows else []
    twin_digests = [scorer(task).utils.digest(twin_doc).hex() for twin_doc in twin_docs]
    originals = [[*draw.original, draw.mirror] for draw in draws]
    return Source(
        tasks=frozenset({task}),
        upstream=f"twins of {base_entry['upstream']}, seed {seed}",
        load=lambda: twin_rows,
        generated=request,
        twins={
            # Digest of the twin -> digest and label of its original, and the mirror image.
            "originals": dict(zip(twin_digests, originals)),
            "column": draws[0].column if draws else None,
            "rows": len(base_rows),
            "source_fingerprint": base_entry["fingerprint"],
            "without": dict(sorted(count_by_reason.items())),
        },
    )


def draw_twins(task: str, rows: list[dict], seed: int) -> tuple[list[Draw], Counter]:
    """Return the twins of rows of a task's base, and why the other rows have none.

    A twin of which the label changes comes before one of which it stays.
    """
    base_scorer, survey = scorer(scorer(task).base), Survey.of(rows)
    owner_by_question = dict.fromkeys(map(_question, rows), "public")
    draws, count_by_reason = [], Counter()
    rows_and_docs = zip(rows, documents_of(base_scorer.task, rows))
    for row, base_doc in tracked(rows_and_docs, f"twins: {task}", len(rows)):
        row_digest = base_scorer.utils.digest(base_doc).hex()
        row_key, row_draws, refusals = f"{seed}|{row_digest}", [], []
        is_disputed = row_digest[:16] in disputed.DIGESTS[[*disputed.LISTS][-1]]
        for change in [] if is_disputed else transformations(task):
            twin = _draw(change, row, survey, row_key, owner_by_question)
            if isinstance(twin, str):
                refusals.append(twin)
                continue
            original = row_digest, row[twin.column]
            draw = Draw(twin.row | {"twin": change}, twin.column, original, twin.mirror)
            row_draws.append(draw._replace(mirror=None) if draw.keeps_label else draw)
        if row_draws:
            draws.append(min(row_draws, key=lambda draw: draw.keeps_label))
            owner_by_question[_question(draws[-1].row)] = row_key
        else:
            count_by_reason["; ".join(refusals) or "a disputed label"] += 1
    return draws, count_by_reason


def _draw(
    transformation: str, row: dict, survey: Survey, key: str, owners: dict[str, str]
) -> Twin | str:
    """Return a twin that is no public row and no other row's twin, or why there is none."""
    for attempt in range(_TRIES):
        rng = Random(f"{transformation}|{VERSION}|{key}|{attempt}")
        twin = TRANSFORMATIONS[transformation](row, survey, rng)
        if isinstance(twin, str) or owners.get(_question(twin.row), key) == key:
            return twin
    return "no twin that is no other row"


def _question(row: dict) -> str:
    """Return what a row asks as JSON, without its label."""
    asked_columns = row.keys() - {"label", "answer", "index", "twin"}
    return json.dumps({column: row[column] for column in asked_columns}, sort_keys=True)
