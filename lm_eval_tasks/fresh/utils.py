"""Rows of the benchmarks made from a seed: the same on every machine, whatever the size.

A generator is a file in `generators/` with `VERSION`, which is bumped with every change to
its rows; `HIGHEST`, the last level, at which ten rows take less than two seconds;

    ladder(level: int) -> dict[str, int]

the knobs of a level of difficulty from 1 on, such as steps, which `gen_knobs` overrides
(0 to 100, or what `BOUNDS` says of a knob); where the benchmark has one setting,
`BENCHMARK`, all knobs as they are there, which `gen_knobs` has by the name "benchmark";

    row(rng: random.Random, level: int, index: int, knobs: dict[str, int]) -> dict | None

an upstream row of the benchmark (its columns, the answer among them), or None where the
draw gave no problem with one certain answer. It draws from `rng` alone. `index` counts the
rows of a level, so that a generator can give each kind of question its turn, whatever the
level. What generators share is in files that begin with an underscore.
"""

from __future__ import annotations

import importlib
import json
import logging
import random
import re
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple


if TYPE_CHECKING:
    import datasets

LICENCE = "MIT"  # of the rows
eval_logger = logging.getLogger("lm_eval.tasks.fresh")

GENERATORS = Path(__file__).resolve().parent / "generators"
NAMES = sorted(path.stem for path in GENERATORS.glob("[a-z]*.py"))
MOST_DRAWS = 5000  # for one row
BENCHMARK = "benchmark"
Knobs = dict[str, int] | str  # of a generator: those that differ, or a name
_LEVELS = re.compile(r"(?P<first>[1-9]\d{0,3})(-(?P<last>[1-9]\d{0,3}))?", re.ASCII)


@cache
def find_generator(name: str) -> ModuleType:
    """Return a generator's module, of a package that is found by its path: the harness
    loads this file by its own.
    """
    package_name = f"fresh_generators_{zlib.crc32(bytes(GENERATORS)):08x}"
    if package_name not in sys.modules:
        sys.modules[package_name] = ModuleType(package_name)
        sys.modules[package_name].__path__ = [str(GENERATORS)]
    return importlib.import_module(f"{package_name}.{name}")


def generate_row(
    name: str, seed: int, level: int, index: int, knobs: Knobs | None = None
) -> dict:
    """Return row `index` of a level; ValueError where no draw gives a problem."""
    generator = find_generator(name)
    overriding_knobs = generator.BENCHMARK if knobs == BENCHMARK else knobs or {}
    row_knobs = generator.ladder(level) | overriding_knobs
    seed_text = (
        f"{name}|{generator.VERSION}|{seed}|{level}|{index}|{sorted(row_knobs.items())}"
    )
    rng = random.Random(seed_text)
    for _ in range(MOST_DRAWS):
        if row := generator.row(rng, level, index, row_knobs):
            return {"level": level, "index": index, **row}
    raise ValueError(
        f"fresh {name}: no problem of level {level} in {MOST_DRAWS} draws of seed {seed},"
        f" row {index}; change gen_knobs"
    )


class Request(NamedTuple):
    """Which rows of a generator a task has, of each level in its turn."""

    generator: str
    seed: int
    row_count: int
    levels: range
    knobs: dict[str, Knobs] | None = None  # by generator

    def row(self, place: object) -> dict:
        """Return the row of a place, from 0 on: the `doc_id` of its document.

        Raises ValueError where the request has none such, and as of `generate_row`.
        """
        if type(place) is not int or not 0 <= place < self.row_count:
            raise ValueError(
                f"fresh {self.generator}: has no row {place!r:.20}, but 0 to"
                f" {self.row_count - 1}"
            )
        level = self.levels[place % len(self.levels)]
        generator_knobs = (self.knobs or {}).get(self.generator)
        return generate_row(
            self.generator, self.seed, level, place // len(self.levels), generator_knobs
        )


def rows(
    generator: str,
    seed: int,
    row_count: int,
    levels: range,
    knobs: dict[str, Knobs] | None = None,
) -> Iterator[dict]:
    """Yield all rows of a `Request`, whose fields are the arguments."""
    request = Request(generator, seed, row_count, levels, knobs)
    return map(request.row, range(row_count))


def rows_with_bar(request: Request) -> list[dict]:
    """Return all rows, with a bar on a terminal where they take seconds."""
    from tqdm import tqdm

    title, look = f"fresh_{request.generator}", {"unit": "row", "leave": False}
    bar = tqdm(rows(*request), title, request.row_count, delay=1, disable=None, **look)
    return [*bar]


def read_request(
    generator: str,
    gen_seed: Any,
    gen_rows: Any,
    gen_levels: object,
    gen_version: object = None,
    gen_knobs: Any = None,
) -> Request:
    """Return the request that a task's metadata makes; ValueError for others."""
    knobs_by_generator = {} if gen_knobs is None else gen_knobs
    levels = read_levels(gen_levels)
    check_knobs(knobs_by_generator)
    check_request(generator, gen_seed, gen_rows, levels, gen_version)
    return Request(generator, gen_seed, gen_rows, levels, knobs_by_generator)


def read_levels(value: object) -> range:
    """Return the levels of `gen_levels`: "1-5", "3" or 3; ValueError for others."""
    if levels_match := _LEVELS.fullmatch(str(value)):
        first_level = int(levels_match["first"])
        if levels := range(first_level, int(levels_match["last"] or first_level) + 1):
            return levels
    raise ValueError(f"gen_levels {value!r:.40} is not such as 3 or '1-5'; correct it")


def check_knobs(value: object) -> None:
    """Raise ValueError for other `gen_knobs` than {generator: {knob: number}}, or
    {generator: "benchmark"}.
    """
    if not isinstance(value, dict) or {*map(type, value.values())} - {dict, str}:
        raise ValueError(
            f"gen_knobs {value!r:.40} is not such as"
            ' {"timexnli": {"steps": 3}, "tcp_long": "benchmark"}; correct it'
        )
    for generator_name, generator_knobs in value.items():
        if generator_name not in NAMES:
            raise ValueError(
                f"gen_knobs: there is no generator {generator_name!r:.40}; name some of"
                f" {', '.join(NAMES)}"
            )
        if isinstance(generator_knobs, dict):
            _check_values(generator_name, generator_knobs)
        elif generator_knobs != BENCHMARK or not hasattr(
            find_generator(generator_name), "BENCHMARK"
        ):
            raise ValueError(
                f"gen_knobs: {generator_name} has no setting {generator_knobs!r:.40};"
                ' give numbers of knobs, or "benchmark" to a generator that has it'
            )


def _check_values(name: str, knobs: dict) -> None:
    """Raise ValueError for a knob that a generator has not, or not with its value."""
    generator_module = find_generator(name)
    level_1_knobs = generator_module.ladder(1)
    bounds_by_knob = getattr(generator_module, "BOUNDS", {})
    for knob_name, knob_value in knobs.items():
        if knob_name not in level_1_knobs:
            raise ValueError(
                f"gen_knobs: {name} has no knob {knob_name!r:.40}; it has {', '.join(level_1_knobs)}"
            )
        least, greatest = bounds_by_knob.get(knob_name, (0, 100))
        if type(knob_value) is not int or not least <= knob_value <= greatest:
            raise ValueError(
                f"gen_knobs: {name}: {knob_name} {knob_value!r:.40} is not an integer of {least}"
                f" to {greatest}; correct it"
            )


def check_request(
    generator: str, seed: Any, count: Any, levels: range, version: object
) -> None:
    """Raise ValueError for what a generator cannot make, before anything is made."""
    for metadata_key, metadata_value, least_value in (
        ("gen_seed", seed, 0),
        ("gen_rows", count, 1),
    ):
        if type(metadata_value) is not int or metadata_value < least_value:
            raise ValueError(
                f"{metadata_key} {metadata_value!r:.40} is not an integer of at least"
                f" {least_value}; correct it"
            )
    if count < len(levels):
        raise ValueError(
            f"gen_rows {count} is less than one row for each of {len(levels)} levels;"
            " ask for more rows or fewer levels"
        )
    generator_module = find_generator(generator)
    if levels[-1] > generator_module.HIGHEST:
        raise ValueError(
            f"fresh {generator}: its highest level is {generator_module.HIGHEST}, not"
            f" {levels[-1]}; change gen_levels"
        )
    if version not in (None, generator_module.VERSION):
        raise ValueError(
            f"gen_version {version!r:.40}: the generator {generator} has version"
            f" {generator_module.VERSION}, and its rows are others; leave gen_version out, or take"
            " the release of that version (0.3 has 1)"
        )


def load(
    generator: str,
    gen_seed: int,
    gen_rows: int,
    gen_levels: object,
    gen_version: str | None = None,
    gen_knobs: dict | None = None,
    **_metadata: object,
) -> datasets.DatasetDict:
    """Return fresh rows as the harness wants them: what `custom_dataset` names.

    `generator` is the name of one; the rest is metadata of the task, which `--metadata`
    changes. Raises ValueError for invalid metadata, for those of another version of the
    generator, and with a cache of requests.
    """
    import datasets

    request = read_request(
        generator, gen_seed, gen_rows, gen_levels, gen_version, gen_knobs
    )
    _check_cache(sys.argv)
    test_dataset = datasets.Dataset.from_list(rows_with_bar(request))
    eval_logger.info(
        f"fresh_{generator}: {gen_rows} rows, gen_seed {gen_seed}, gen_rows {gen_rows},"
        f" gen_levels {gen_levels}, gen_knobs {json.dumps(request.knobs)}, gen_version"
        f" {find_generator(generator).VERSION}"
    )
    test_dataset.info.config_name = f"fresh_{generator}"
    return datasets.DatasetDict(test=test_dataset)


def _check_cache(command_line: list[str]) -> None:
    """Raise ValueError for `--cache_requests true`, which keeps prompts by their task."""
    if "--cache_requests true" in " ".join(command_line).replace("=", " "):
        raise ValueError(
            "--cache_requests true: the cache tells no seed from another; leave it out,"
            " or give `refresh`"
        )
