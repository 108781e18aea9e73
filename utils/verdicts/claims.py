"""What the results of the harness claim of a run; nobody can check most of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from ..core.errors import ToolError
from ..core.families import bare, scorer
from ..core.jsonl import MOST_BYTES
from .answers import within
from .figures import Tally


LONGEST, MOST = 200, 10**15  # characters, and a number
ROUNDING = 1e-6  # of scores in results
# Keys of results that have to be of a type, where they are there.
_TYPES = dict.fromkeys(("versions", "configs", "n-shot", "results", "config"), dict)
_TYPES |= dict.fromkeys(("model_name", "chat_template", "system_instruction"), str)


def read_results(path: Path) -> dict:
    """Return what a results file says; ToolError where it is not one."""
    fault, fix = "is not a results file", "copy it again, or delete it"
    try:
        is_small = path.stat().st_size <= MOST_BYTES
        results = json.loads(path.read_bytes() if is_small else b"")
        results = {key: _by_task(value) for key, value in results.items()}
    except (ValueError, RecursionError, AttributeError):
        raise ToolError(f"{path}: {fault}; {fix}") from None
    for key, expected in _TYPES.items():
        if not isinstance(value := results.get(key), expected | None):
            kind = type(value).__name__
            raise ToolError(f"{path}: {fault} ('{key}' is of type {kind}); {fix}")
    return results


def _by_task(value: object) -> object:
    """Return a value with tasks by their names outside of groups."""
    if isinstance(value, dict):
        return {bare(name): value_of_task for name, value_of_task in value.items()}
    return value


def claims_of(results: dict, task: str) -> dict:
    """Return what results claim of a task and its run: short, of these types, else None.

    {} where they do not name the task.
    """
    version, config = (within(results, key, task) for key in ("versions", "configs"))
    if version is config is None:
        return {}
    metadata = within(config, "metadata")
    seed, rows = (_whole(within(metadata, key)) for key in ("gen_seed", "gen_rows"))
    generated = {"seed": seed, "rows": rows}
    generated["fingerprint"] = _text(within(metadata, "gen_fingerprint"))
    return {
        "model_name": _text(results.get("model_name")),
        "lm_eval_version": _text(results.get("lm_eval_version")),
        "date": _number(results.get("date")),
        "limit": _number(within(results, "config", "limit")),
        "chat_template": results.get("chat_template") is not None,
        "version": None if version is None else f"{version!s:.20}",
        "n_shot": _whole(within(results, "n-shot", task)),
        "max_gen_toks": _whole(within(config, "generation_kwargs", "max_gen_toks")),
        "repeats": _whole(within(config, "repeats")),
        "made": None if None in (seed, rows) else generated,
    }


def _text(value: object) -> str | None:
    return value[:LONGEST] if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if type(value) is int and abs(value) < MOST else None


def _number(value: object) -> float | None:
    is_number = type(value) in (int, float) and abs(value) < MOST
    return value if is_number else None


def card(results: dict, task: str) -> dict[str, str]:
    """Return what a run card says of the claims of results: label -> text."""
    claims, date = claims_of(results, task), None
    absent = "none" if claims else None
    with suppress(TypeError, ValueError, OverflowError, OSError):
        date = datetime.fromtimestamp(claims.get("date"), timezone.utc)
    arguments = within(results, "config", "model_args")
    if isinstance(arguments, dict):
        arguments = ",".join(f"{name}={value}" for name, value in arguments.items())
    revision = re.search(r"\brevision=([^,]*)", f"{arguments}")
    generation = within(results, "configs", task, "generation_kwargs")
    if isinstance(generation, dict):
        generation = ", ".join(f"{name} {value}" for name, value in generation.items())
    template = results.get("chat_template")
    cells = {
        "Model": claims.get("model_name"),
        "Model arguments": arguments or absent,
        "Revision": revision and revision[1],
        "Date": date and f"{date:%Y-%m-%d}",
        "Harness": claims.get("lm_eval_version"),
        "Task version": claims.get("version"),
        "Few-shot examples": claims.get("n_shot"),
        # One that the results do not show is "".
        "Chat template": absent if template is None else template or "of an API",
        "System instruction": results.get("system_instruction") or absent,
        "Generation": generation or None,
        "Limit": claims.get("limit") or absent,
    }
    return {
        label: "unknown" if cell is None else f"{cell!s:.{LONGEST}}"
        for label, cell in cells.items()
    }


def marks(results: dict, task: str, tally: Tally) -> Iterator[str]:
    """Yield what is not as the task has it by itself, or not as results claim it."""
    claims, scores = claims_of(results, task), tally.all.values()
    if instruction := results.get("system_instruction"):
        yield f"system instruction, {len(instruction):,} characters"
    is_same = claims.get("version") == str(scorer(task).version)
    for name, claim in (within(results, "results", task) or {}).items():
        metric = scorer(task).metric(name.partition(",")[0])
        # Flexible scores are compared where they are of the same version.
        if metric in scores and (is_same or "flexible" not in metric):
            mean = sum(scores[metric]) / len(scores[metric])
            claimed_mean = _number(claim)
            if claimed_mean is None or abs(claimed_mean - mean) > ROUNDING:
                yield f"claims {metric} {claim!s:.8} instead of {mean:.4f}"
                break
    if is_same and (changed := tally.all.counts["changed"]):
        share = f"{changed:,} of {tally.all.answers:,}"
        yield f"{share} logged scores are not those made again"
