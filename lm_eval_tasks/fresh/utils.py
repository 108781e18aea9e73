"""Rows of the benchmarks made from a seed: the same on every machine, whatever the size.

A generator is a file in `generators/` with `VERSION`, which is bumped with every change to
its rows; `HIGHEST`, the last level before all take clearly more than a second for ten rows;

    ladder(level: int) -> dict[str, int]

the knobs of a level of difficulty from 1 on, such as steps, which `gen_knobs` overrides
(0 to 100, or what `BOUNDS` says of a knob);

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
from itertools import count, cycle, islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn


if TYPE_CHECKING:
    import datasets

eval_logger = logging.getLogger("lm_eval.tasks.fresh")

GENERATORS = Path(__file__).resolve().parent / "generators"
NAMES = sorted(path.stem for path in GENERATORS.glob("[a-z]*.py"))
MOST_DRAWS = 5000  # for one row
_LEVELS = re.compile(r"(?P<first>[1-9]\d{0,3})(-(?P<last>[1-9]\d{0,3}))?", re.ASCII)


@cache
def find_generator(name: str) -> ModuleType:
    """Return a generator, of a package that is found by its path: the harness loads this
    file by its own.
    """
    package = f"fresh_generators_{zlib.crc32(bytes(GENERATORS)):08x}"
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(GENERATORS)]
    return importlib.import_module(f"{package}.{name}")


def rows_of_level(
    name: str, seed: int, level: int, knobs: dict[str, int] | None = None
) -> Iterator[dict]:
    """Yield the rows of a level, no two alike, without end.

    `knobs` are those that are not the ladder's. Raises ValueError where the level has no
    more different rows.
    """
    made, seen = find_generator(name), set()
    knobs = made.ladder(level) | (knobs or {})
    for index in count():
        key = f"{name}|{made.VERSION}|{seed}|{level}|{index}|{sorted(knobs.items())}"
        rng = random.Random(key)
        for _ in range(MOST_DRAWS):
            row = made.row(rng, level, index, knobs)
            text = row and json.dumps(row, sort_keys=True)
            if row and text not in seen:
                break
        else:
            raise ValueError(
                f"fresh {name}: level {level} of seed {seed} has only {index} different"
                " rows; ask for fewer with gen_rows, or change gen_knobs"
            )
        seen.add(text)
        yield {"level": level, "index": index, **row}


def rows(
    name: str,
    seed: int,
    count: int,
    levels: range,
    knobs: dict[str, dict[str, int]] | None = None,
) -> Iterator[dict]:
    """Yield `count` rows, of each level in its turn.

    `knobs` are those of each generator. Raises ValueError as of `rows_of_level`.
    """
    own = (knobs or {}).get(name)
    turns = cycle([rows_of_level(name, seed, level, own) for level in levels])
    return map(next, islice(turns, count))


def read_levels(said: object) -> range:
    """Return the levels of `gen_levels`: "1-5", "3" or 3; ValueError for others."""
    if match := _LEVELS.fullmatch(str(said)):
        first = int(match["first"])
        if levels := range(first, int(match["last"] or first) + 1):
            return levels
    raise ValueError(f"gen_levels {said!r:.40} is not such as 3 or '1-5'; correct it")


def check_knobs(said: object) -> None:
    """Raise ValueError for other `gen_knobs` than {generator: {knob: number}}."""
    if not isinstance(said, dict) or {*map(type, said.values())} - {dict}:
        example = '{"timexnli": {"steps": 3}}'
        raise ValueError(f"gen_knobs {said!r:.40} is not such as {example}; correct it")
    for name, knobs in said.items():
        if name not in NAMES:
            raise ValueError(
                f"gen_knobs: there is no generator {name!r:.40}; name some of"
                f" {', '.join(NAMES)}"
            )
        made = find_generator(name)
        known, bounds = made.ladder(1), getattr(made, "BOUNDS", {})
        for knob, value in knobs.items():
            if knob not in known:
                raise ValueError(
                    f"gen_knobs: {name} has no knob {knob!r:.40}; it has"
                    f" {', '.join(known)}"
                )
            least, most = bounds.get(knob, (0, 100))
            if type(value) is not int or not least <= value <= most:
                raise ValueError(
                    f"gen_knobs: {name}: {knob} {value!r:.40} is not an integer of {least}"
                    f" to {most}; correct it"
                )


def check_request(
    generator: str, seed: object, count: object, levels: range, version: object
) -> None:
    """Raise ValueError for what a generator cannot make, before anything is made."""
    for key, value, least in (("gen_seed", seed, 0), ("gen_rows", count, 1)):
        if type(value) is not int or value < least:
            raise ValueError(
                f"{key} {value!r:.40} is not an integer of at least {least}; correct it"
            )
    if count < len(levels):
        raise ValueError(
            f"gen_rows {count} is less than one row for each of {len(levels)} levels;"
            " ask for more rows or fewer levels"
        )
    made = find_generator(generator)
    if levels[-1] > made.HIGHEST:
        raise ValueError(
            f"fresh {generator}: its highest level is {made.HIGHEST}, not {levels[-1]};"
            " change gen_levels"
        )
    if version not in (None, made.VERSION):
        raise ValueError(
            f"gen_version {version!r:.40}: the generator {generator} has version"
            f" {made.VERSION}, and its rows are others; leave gen_version out, or take"
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
    changes. A run of `lm_eval` ends with one line for invalid metadata, for those of
    another version of the generator, and with a cache of requests; elsewhere, that line
    is a ValueError.
    """
    import datasets
    from tqdm import tqdm

    knobs = {} if gen_knobs is None else gen_knobs
    try:
        levels = read_levels(gen_levels)
        check_knobs(knobs)
        check_request(generator, gen_seed, gen_rows, levels, gen_version)
        _check_cache(sys.argv)
        made = rows(generator, gen_seed, gen_rows, levels, knobs)
        told = {"total": gen_rows, "delay": 2, "unit": "row", "leave": False}
        shown = tqdm(made, f"fresh_{generator}", **told)  # where it takes seconds
        test = datasets.Dataset.from_list(list(shown))
    except ValueError as error:
        _stop(error)
    eval_logger.info(
        f"fresh_{generator}: {gen_rows} rows, gen_seed {gen_seed}, gen_rows {gen_rows},"
        f" gen_levels {gen_levels}, gen_knobs {json.dumps(knobs)}, gen_version"
        f" {find_generator(generator).VERSION}"
    )
    test.info.config_name = f"fresh_{generator}"
    return datasets.DatasetDict(test=test)


def _check_cache(command_line: list[str]) -> None:
    """Raise ValueError for `--cache_requests true`, which keeps prompts by their task."""
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
