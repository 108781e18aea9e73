"""Make a pack of twins: the rows of a pack with other years or names, and other answers.

    temporal-eval twins OUT --include_path PACK --gen-seed N

PACK is an offline pack. Its rows have twins where a transformation changes the answer in a
known way. Rows of which it changes the question alone come as the `twin_control` tasks:
they show what the transformation costs. Twins of rows with a year in their labels come in
pairs as far as can be: both have the same right year, and the label of either public row is
the mirror image of the other's. The manifest names the original and the partner of each
twin, and says why other rows have none. OUT is new, empty, or a pack, such as PACK itself.

Example:

    temporal-eval twins output/twins --include_path examples --gen-seed 20261123
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations
from random import Random
from typing import NamedTuple

import networkx

from lm_eval_tasks.twin.transformations import (
    TRANSFORMATIONS,
    Moves,
    Survey,
    Twin,
    choose,
)

from ..core.cli import folder_path, output_path, tool_parser, whole_number
from ..core.documents import documents_of
from ..core.errors import ToolError
from ..core.files import read_jsonl
from ..core.progress import tracked
from ..core.task_scorers import all_tasks, configuration, scorer, transformations
from . import disputed
from .manifest import Manifest
from .offline import check, make
from .task_rows import Source


VERSION = "2"  # bumped with every change to the rows of a seed
_TRIES = 20  # so that a twin is no row of the benchmark, nor another's twin


class Draw(NamedTuple):
    """A row of a pack of twins, and the part of the manifest about it."""

    row: dict
    column: str  # of the label
    original: tuple[str, object]  # digest and label of the public row
    mirror: object = (
        None  # of a pair: the label as far on the other side of the right one
    )
    partner: int | None = None  # of a pair: the place of the other's draw

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
    own_draws = [draw for draw in draws if draw.keeps_label == is_control_task]
    twin_rows = [draw.row for draw in own_draws]
    twin_docs = documents_of(task, twin_rows) if twin_rows else []
    twin_digests = [scorer(task).utils.digest(twin_doc).hex() for twin_doc in twin_docs]
    digest_by_question = {
        _question(draw.row): digest for draw, digest in zip(own_draws, twin_digests)
    }
    originals = []
    for draw in own_draws:
        partner_digest = None
        if draw.partner is not None:
            partner_digest = digest_by_question[_question(draws[draw.partner].row)]
        originals.append([*draw.original, draw.mirror, partner_digest])
    return Source(
        tasks=frozenset({task}),
        upstream=f"twins of {base_entry['upstream']}, seed {seed}",
        load=lambda: twin_rows,
        generated=request,
        twins={
            # Digest of the twin -> digest and label of its original; of a pair, the mirror
            # image and the digest of the partner.
            "originals": dict(zip(twin_digests, originals)),
            "column": own_draws[0].column if own_draws else None,
            "rows": len(base_rows),
            "source_fingerprint": base_entry["fingerprint"],
            "without": dict(sorted(count_by_reason.items())),
        },
    )


def draw_twins(task: str, rows: list[dict], seed: int) -> tuple[list[Draw], Counter]:
    """Return the twins of rows of a task's base, and why the other rows have none.

    A twin of which the label changes comes before one of which it stays.
    """
    utils, survey = scorer(scorer(task).base).utils, Survey.of(rows)
    docs = documents_of(scorer(task).base, rows)
    digests = [utils.digest(doc).hex() for doc in docs]
    owner_by_question = dict.fromkeys(map(_question, rows), "public")
    draw_by_number = _draw_pairs(task, rows, digests, survey, owner_by_question, seed)
    count_by_reason: Counter[str] = Counter()
    numbered_rows = enumerate(zip(rows, digests))
    with tracked(numbered_rows, f"twins: {task}", len(rows)) as tracked_rows:
        for number, (row, digest) in tracked_rows:
            if number in draw_by_number:
                continue
            draw = _draw(task, row, digest, survey, owner_by_question, seed)
            if isinstance(draw, str):
                count_by_reason[draw] += 1
            else:
                draw_by_number[number] = draw
                owner_by_question[_question(draw.row)] = digest
    numbers = sorted(draw_by_number)
    places = {number: place for place, number in enumerate(numbers)}
    draws = [draw_by_number[number] for number in numbers]
    draws = [
        draw if draw.partner is None else draw._replace(partner=places[draw.partner])
        for draw in draws
    ]
    return draws, count_by_reason


def _is_disputed(digest: str) -> bool:
    return digest[:16] in disputed.DIGESTS[[*disputed.LISTS][-1]]


def _draw_pairs(
    task: str,
    rows: list[dict],
    digests: list[str],
    survey: Survey,
    owners: dict[str, str],
    seed: int,
) -> dict[int, Draw]:
    """Return number of a row -> draw of those that are pairs; partners are numbers here."""
    movable_by_number = {
        number: movable
        for number, (row, digest) in enumerate(zip(rows, digests))
        if not _is_disputed(digest)
        if (movable := _movable(task, row, digest, survey, seed))
    }
    draw_by_number = {}
    for first, second, shift in _pairs(movable_by_number, owners, seed):
        for number, partner, own_shift in (
            (first, second, shift),
            (second, first, -shift),
        ):
            movable = movable_by_number[number]
            twin = movable.moves.twin(own_shift)
            draw_by_number[number] = Draw(
                row=twin.row | {"twin": movable.change},
                column=twin.column,
                original=(digests[number], rows[number][twin.column]),
                mirror=movable.moves.mirror(own_shift),
                partner=partner,
            )
    return draw_by_number


class _Movable(NamedTuple):
    """A row that can move as one of a pair."""

    change: str  # name of the transformation
    year: int  # of the label
    moves: Moves


def _movable(
    task: str, row: dict, digest: str, survey: Survey, seed: int
) -> _Movable | None:
    """Return by what transformation, and how far, a row can move as one of a pair."""
    for change in transformations(task):
        rng = _chance(change, f"{seed}|{digest}", 0)
        outcome = TRANSFORMATIONS[change](row, survey, rng)
        if isinstance(outcome, Moves):
            if outcome.year is None:
                return None
            return _Movable(change, outcome.year, outcome)
        if (
            isinstance(outcome, Twin)
            and outcome.row[outcome.column] != row[outcome.column]
        ):
            return None  # which comes first
    return None


def _chance(transformation: str, key: str, attempt: int) -> Random:
    return Random(f"{transformation}|{VERSION}|{key}|{attempt}")


def _pairs(
    movable_by_number: dict[int, _Movable], owners: dict[str, str], seed: int
) -> list[tuple[int, int, int]]:
    """Return the numbers of rows that become pairs, and by how many years the first moves.

    They are as many as can be, and among such pairings one with many usual shifts. Neither
    twin is a public row, or the twin of another row.
    """
    numbers_by_kind: dict[tuple, list[int]] = defaultdict(list)
    for number, movable in movable_by_number.items():
        numbers_by_kind[movable.moves.kind].append(number)
    pairs = []
    for kind, numbers in sorted(numbers_by_kind.items(), key=repr):
        Random(f"pairs|{VERSION}|{seed}|{kind}").shuffle(numbers)
        graph = networkx.Graph()
        for first, second in combinations(numbers, 2):
            one, other = movable_by_number[first], movable_by_number[second]
            if (other.year - one.year) % 2:
                continue  # no year is in the middle
            shift = _shift_to_middle(one, other)
            if _fits(one, shift) and _fits(other, -shift):
                usual_count = (shift in one.moves.usual) + (-shift in other.moves.usual)
                graph.add_edge(first, second, weight=1 + usual_count)
        matching = networkx.max_weight_matching(graph, maxcardinality=True)
        for first, second in sorted(map(sorted, matching)):
            one, other = movable_by_number[first], movable_by_number[second]
            shift = _shift_to_middle(one, other)
            questions = [
                _question(one.moves.twin(shift).row),
                _question(other.moves.twin(-shift).row),
            ]
            if owners.keys().isdisjoint(questions) and questions[0] != questions[1]:
                owners |= dict.fromkeys(questions, "a pair")
                pairs.append((first, second, shift))
    return pairs


def _fits(movable: _Movable, shift: int) -> bool:
    """Tell whether a row can move so as one of a pair.

    A model may repeat a year of the question, or subtract where it has to add. So the twin
    names neither wrong year, and the public label is not as far on the other side of a named
    year as the right one is.
    """
    right_year, mirror_year = movable.year + shift, movable.year + 2 * shift
    named_years = {year + shift for year in movable.moves.story_years}
    likely_years = named_years | {2 * year - right_year for year in named_years}
    return (
        shift in movable.moves.shifts
        and movable.year not in likely_years
        and mirror_year not in named_years
    )


def _shift_to_middle(movable: _Movable, other: _Movable) -> int:
    """Return by how many years a row moves to the year between its own and another's."""
    return (other.year - movable.year) // 2


def _draw(
    task: str, row: dict, digest: str, survey: Survey, owners: dict[str, str], seed: int
) -> Draw | str:
    """Return a draw of a row that is no one of a pair, or why it has none."""
    if _is_disputed(digest):
        return "a disputed label"
    draws, refusals = [], []
    for change in transformations(task):
        twin = _new_twin(change, row, f"{seed}|{digest}", survey, owners)
        if isinstance(twin, str):
            refusals.append(twin)
        else:
            twin_row = twin.row | {"twin": change}
            draws.append(Draw(twin_row, twin.column, (digest, row[twin.column])))
    return min(draws, key=lambda draw: draw.keeps_label, default="; ".join(refusals))


def _new_twin(
    change: str, row: dict, key: str, survey: Survey, owners: dict[str, str]
) -> Twin | str:
    """Return a twin that is no public row and no other row's twin, or why there is none."""
    for attempt in range(_TRIES):
        rng = _chance(change, key, attempt)
        twin = TRANSFORMATIONS[change](row, survey, rng)
        if isinstance(twin, Moves):
            twin = twin.twin(choose(rng, twin.usual))
        if isinstance(twin, str) or _question(twin.row) not in owners:
            return twin
    return "no twin that is no other row"


def _question(row: dict) -> str:
    """Return what a row asks as JSON, without its label."""
    asked_columns = row.keys() - {"label", "answer", "index", "twin"}
    return json.dumps({column: row[column] for column in asked_columns}, sort_keys=True)
