"""Rows of the benchmarks made from a seed: the same on every machine, whatever the size.

A generator is a file in `generators/` with `VERSION`, which is bumped with every change to
its rows, and

    row(rng: random.Random, level: int, index: int) -> dict | None

an upstream row of the benchmark (its columns, the answer among them) of a level of
difficulty from 1 on, or None where the draw gave no problem with one certain answer. It
draws from `rng` alone. `index` counts the rows of a level, so that a generator can give
each kind of question its turn.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import random
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn


if TYPE_CHECKING:
    import datasets

eval_logger = logging.getLogger("lm_eval.tasks.fresh")

GENERATORS = Path(__file__).resolve().parent / "generators"
MOST_DRAWS = 1000  # for one row
MOST_LEVELS = 1000
_LEVELS = re.compile(r"(?P<first>[1-9]\d{0,3})(-(?P<last>[1-9]\d{0,3}))?", re.ASCII)


@cache
def find_generator(name: str) -> ModuleType:
    """Return a generator; by its path, since the harness loads this file by its own."""
    path = GENERATORS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"fresh_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_levels(said: object) -> range:
    """Return the levels of `gen_levels`: "1-5", "3" or 3; ValueError for others."""
    match = _LEVELS.fullmatch(str(said))
    if match and not isinstance(said, bool):
        first = int(match["first"])
        levels = range(first, int(match["last"] or first) + 1)
        if 0 < len(levels) <= MOST_LEVELS:
            return levels
    raise ValueError(f"gen_levels {said!r:.40} is not such as 3 or '1-5'; correct it")


def rows_of_level(name: str, seed: int, level: int, count: int) -> Iterator[dict]:
    """Yield the first rows of a level, no two alike; row n is the same for every count.

    Raises ValueError where the level has fewer different rows than asked for.
    """
    made = find_generator(name)
    seen = set()
    for index in range(count):
        key = f"{name}|{made.VERSION}|{seed}|{level}|{index}"
        rng = random.Random(key)
        for _ in range(MOST_DRAWS):
            row = made.row(rng, level, index)
            text = row and json.dumps(row, sort_keys=True)
            if row and text not in seen:
                break
        else:
            raise ValueError(
                f"fresh {name}: level {level} of seed {seed} has no {count} different rows"
                f" ({index} were found); ask for fewer with gen_rows"
            )
        seen.add(text)
        yield {"level": level, "index": index, **row}


def rows(name: str, seed: int, count: int, levels: range) -> list[dict]:
    """Return `count` rows in equal shares of the levels; the first ones have one more.

    Raises ValueError as of `rows_of_level`.
    """
    share, more = divmod(count, len(levels))
    return [
        row
        for place, level in enumerate(levels)
        for row in rows_of_level(name, seed, level, share + (place < more))
    ]


def read_request(
    gen_seed: object, gen_rows: object, gen_levels: object
) -> tuple[int, int, range]:
    """Return seed, count and levels as `rows` takes them.

    Raises ValueError for invalid values, and where a level would have no row.
    """
    for key, value, least in (("gen_seed", gen_seed, 0), ("gen_rows", gen_rows, 1)):
        if type(value) is not int or value < least:
            raise ValueError(
                f"{key} {value!r:.40} is not an integer of at least {least}; correct it"
            )
    levels = read_levels(gen_levels)
    if gen_rows < len(levels):
        raise ValueError(
            f"gen_rows {gen_rows} is less than one row for each of {len(levels)} levels;"
            " ask for more rows or fewer levels"
        )
    return gen_seed, gen_rows, levels


def load(
    generator: str,
    gen_seed: int,
    gen_rows: int,
    gen_levels: object,
    gen_version: str | None = None,
    **_metadata: object,
) -> datasets.DatasetDict:
    """Return fresh rows as the harness wants them: what `custom_dataset` names.

    `generator` is the name of one; the rest is metadata of the task, which `--metadata`
    changes. A run of `lm_eval` ends with one line for invalid metadata, for those of
    another version of the generator, and with a cache of requests; elsewhere, that line
    is a ValueError.
    """
    import datasets

    version = find_generator(generator).VERSION
    try:
        if gen_version not in (None, version):
            raise ValueError(
                f"gen_version {gen_version!r:.40}: the generator {generator} has version"
                f" {version}, and its rows are others; leave gen_version out"
            )
        _check_cache(sys.argv)
        made = rows(generator, *read_request(gen_seed, gen_rows, gen_levels))
    except ValueError as error:
        _stop(error)
    eval_logger.info(
        f"fresh_{generator}: {len(made)} rows, gen_seed {gen_seed}, gen_rows {gen_rows},"
        f" gen_levels {gen_levels}, gen_version {version}"
    )
    test = datasets.Dataset.from_list(made)
    test.info.config_name = f"fresh_{generator}"
    return datasets.DatasetDict(test=test)


def _check_cache(command_line: list[str]) -> None:
    """Raise ValueError for `--cache_requests true`.

    The harness keeps prompts by the name of their task: those of one seed would be scored
    against the answers of another.
    """
    if "--cache_requests true" in " ".join(command_line).replace("=", " "):
        raise ValueError(
            "--cache_requests true: the cache tells no seed from another; leave it out,"
            " or give `refresh`"
        )


def _stop(error: ValueError) -> NoReturn:
    """End a run of the harness's command line with one line; elsewhere, raise."""
    program = Path(*sys.argv[:1])
    if program.stem in ("lm_eval", "lm-eval") or program.match("lm_eval/__main__.py"):
        raise SystemExit(str(error)) from error
    raise error
