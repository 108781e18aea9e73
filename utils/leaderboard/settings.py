"""How a run says that a task was run, and what of that is not as the task has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone

from ..core.families import configuration, scorer
from ..runs.find import Run
from ..runs.tally import Tally


MOST = 100  # few-shot examples, and settings that are said
ROUNDING = 1e-6  # of scores in results
# Settings of a task beside its generation that change what a model is asked.
_OF_TASK = ("doc_to_text", "gen_prefix", "filter_list", "repeats")
# A setting of the model that has it reason, or cuts what it reasoned.
_THINKING = re.compile(r"enable_thinking|think_end_token|reasoning_effort")


def within(value: object, *keys: str) -> dict:
    """Return the object that stands in nested objects; {} where something else does."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


class Settings:
    """What results tell of a task; None for what they do not tell, or not rightly."""

    def __init__(self, run: Run, task: str) -> None:
        self.run, self.task = run, task
        known = (x.results for x in run.files if task in within(x.results, "versions"))
        self.results = told = next(known, {})
        self.config, self.own = within(told, "config"), configuration(task)
        self.of_task = within(told, "configs", task)
        self.generation = within(self.of_task, "generation_kwargs")
        self.made = self._made()
        shots = within(told, "n-shot").get(task)
        is_number = type(shots) is int and 0 <= shots <= MOST
        self.few_shot = shots if is_number else None
        texts = map(told.get, ("chat_template", "system_instruction"))
        template, system = (x if isinstance(x, str) else None for x in texts)
        # A template may be "": one that the results do not show.
        self.chat_template, self.system_instruction = template, system or None
        self.is_multiturn = told.get("fewshot_as_multiturn") is True

    def _made(self) -> dict:
        """Return what the results say that rows were made from."""
        files = (x.results for x in self.run.files)
        found = (within(x, "configs", self.task, "metadata") for x in files)
        told = next(filter(None, found), {})
        return {key: told[key] for key in sorted(told) if key.startswith("gen_")}

    @property
    def date(self) -> datetime | None:
        """When the run began."""
        with suppress(TypeError, ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(self.results.get("date"), timezone.utc)
        return None

    def card(self) -> dict[str, object]:
        """Return what a run card says of them: label -> value, None if unknown."""
        told, nothing = self.results, "none" if self.results else None
        arguments, template = self.config.get("model_args"), self.chat_template
        if isinstance(arguments, dict):
            arguments = ",".join(f"{x}={y}" for x, y in arguments.items())
        revision = re.search(r"\brevision=([^,]*)", f"{arguments}")
        generation = ", ".join(f"{x} {y}" for x, y in self.generation.items())
        return {
            "Model": told.get("model_name"),
            "Revision": revision and revision[1],
            "Date": self.date and f"{self.date:%Y-%m-%d}",
            "Harness": told.get("lm_eval_version"),
            "Task version": within(told, "versions").get(self.task),
            "Few-shot examples": self.few_shot,
            "Chat template": nothing if template is None else template or "of an API",
            "System instruction": self.system_instruction or nothing,
            "Generation": generation or None,
            "Token limit": self.generation.get("max_gen_toks"),
            "Limit": self.config.get("limit") or nothing,
        }

    def marks(self, made: dict, repeats: int) -> Iterator[str]:
        """Yield what is not as the task has it by itself, in few words.

        `made` is what its rows were made from, `repeats` how many answers documents have.
        """
        own, given = self.own["generation_kwargs"], self.generation
        of_task = {x: self.of_task[x] or None for x in _OF_TASK if x in self.of_task}
        if str(of_task.get("doc_to_text")).startswith("def "):
            del of_task["doc_to_text"]  # of code, results have the text
        compared = [
            (dict.fromkeys(own) | given if self.results else {}, own),
            (of_task, {**self.own, "repeats": repeats}),
            (within(self.config, "gen_kwargs"), given),
            ({x: self.made[x] for x in made.keys() & self.made.keys()}, made),
        ]
        for told, expected in compared:
            for key in [*sorted(told)][:MOST]:
                if told[key] != expected.get(key):
                    yield f"{key:.40} {told[key]!s:.40}"
        if repeats > 1:
            yield f"{repeats} answers a document"
        if text := self.system_instruction:
            yield f"system instruction, {len(text):,} characters"
        if found := _THINKING.search(json.dumps(self.config.get("model_args"))):
            yield f"model_args {found[0]}"

    def own_scores_differ(self, tally: Tally) -> str | None:
        """Return what to say where the scores in the run's files are not those made anew.

        Flexible ones are compared where they are of the same version of the task.
        """
        task, values = scorer(self.task), tally.all.values()
        is_same = self.run.version(self.task) == str(task.version)
        if tally.left_out:
            return None
        for name, claimed in within(self.results, "results", self.task).items():
            metric = task.metric(name.partition(",")[0])
            if metric in values and (is_same or "flexible" not in metric):
                mean = sum(values[metric]) / len(values[metric])
                is_number = isinstance(claimed, int | float)
                if not (is_number and abs(claimed - mean) <= ROUNDING):
                    claim = f"{metric} {claimed!s:.8} instead of {mean:.4f}"
                    return f"{self.task}: claims {claim}"
        if tally.all.changed and is_same:
            count = f"{tally.all.changed:,} of {tally.all.answers:,}"
            return f"{self.task}: {count} logged scores are not those made anew"
        return None
