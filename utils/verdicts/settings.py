"""What the results of a run claim of a task, typed; nobody can check most of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone

from ..core.families import scorer
from .figures import Tally


MOST = 100  # few-shot examples
LONGEST = 200  # characters of a claim
ROUNDING = 1e-6  # of scores in results


def within(value: object, *keys: str) -> dict:
    """Return the object that stands in nested objects; {} where something else does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


class Settings:
    """What results claim of a task; None for what they do not say, or not rightly."""

    def __init__(self, results: dict, task: str) -> None:
        self.task = task
        self.results = results if task in within(results, "versions") else {}
        self.config = within(self.results, "config")
        self.of_task = within(self.results, "configs", task)
        metadata = within(results, "configs", task, "metadata")
        self.made = {x: metadata[x] for x in sorted(metadata) if x.startswith("gen_")}
        version = within(results, "versions").get(task)
        self.version = None if version is None else f"{version!s:.20}"
        shots = within(self.results, "n-shot").get(task)
        is_number = type(shots) is int and 0 <= shots <= MOST
        self.few_shot = shots if is_number else None
        texts = map(self.results.get, ("chat_template", "system_instruction"))
        template, system = (x if isinstance(x, str) else None for x in texts)
        # A template may be "": one that the results do not show.
        self.chat_template, self.system_instruction = template, system or None
        self.is_multiturn = self.results.get("fewshot_as_multiturn") is True

    def card(self) -> dict[str, str]:
        """Return what a run card says of them, as claimed: label -> text."""
        results, template = self.results, self.chat_template
        nothing, date = "none" if results else None, None
        with suppress(TypeError, ValueError, OverflowError, OSError):
            date = datetime.fromtimestamp(results.get("date"), timezone.utc)
        arguments = self.config.get("model_args")
        if isinstance(arguments, dict):
            arguments = ",".join(f"{x}={y}" for x, y in arguments.items())
        revision = re.search(r"\brevision=([^,]*)", f"{arguments}")
        generation = within(self.of_task, "generation_kwargs")
        generation = ", ".join(f"{x} {y}" for x, y in generation.items())
        cells = {
            "Model": results.get("model_name"),
            "Model arguments": arguments or nothing,
            "Revision": revision and revision[1],
            "Date": date and f"{date:%Y-%m-%d}",
            "Harness": results.get("lm_eval_version"),
            "Task version": self.version,
            "Few-shot examples": self.few_shot,
            "Chat template": nothing if template is None else template or "of an API",
            "System instruction": self.system_instruction or nothing,
            "Generation": generation or None,
            "Limit": self.config.get("limit") or nothing,
        }
        return {
            x: "unknown" if y is None else f"{y!s:.{LONGEST}}" for x, y in cells.items()
        }

    def marks(self, tally: Tally) -> Iterator[str]:
        """Yield what is not as the task has it by itself, or not as it is claimed."""
        if text := self.system_instruction:
            yield f"system instruction, {len(text):,} characters"
        task, values = scorer(self.task), tally.all.values()
        is_same = self.version == str(task.version)
        for name, claim in within(self.results, "results", self.task).items():
            metric = task.metric(name.partition(",")[0])
            # Flexible scores are compared where they are of the same version.
            if metric in values and (is_same or "flexible" not in metric):
                mean = sum(values[metric]) / len(values[metric])
                if not (_is_number(claim) and abs(claim - mean) <= ROUNDING):
                    yield f"claims {metric} {claim!s:.8} instead of {mean:.4f}"
                    break
        if tally.all.changed and is_same:
            count = f"{tally.all.changed:,} of {tally.all.answers:,}"
            yield f"{count} logged scores are not those made again"


def _is_number(value: object) -> bool:
    # A whole number of 400 digits has no difference to a mean.
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e9)
