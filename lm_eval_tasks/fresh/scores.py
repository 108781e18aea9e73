"""Scores of the fresh tasks: those of each benchmark's rule, by names that all share.

`score` and `score_flexible` are the published and the flexible headline score of the
family, `score_flexible_level_N` is the flexible one of a document of level N.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType


TASKS = Path(__file__).resolve().parent.parent
# The published and the flexible headline score, as families name them.
HEADLINES = (("score", "score_flexible"), ("accuracy", "accuracy_flexible"))
MOST_LEVELS = 10  # so many levels have a metric of their own in the YAML
# What the tools know of the metrics (`Family` in utils/core/family_contract.py).
METRICS = {
    "score": {"role": "published"},
    "score_flexible": {"role": "flexible"},
    **{
        f"score_flexible_level_{level}": {"optional": True}
        for level in range(1, MOST_LEVELS + 1)
    },
    "extracted": {},
}
COLUMNS = {"level": int}  # that documents have beside those of the family


@cache
def _family(name: str) -> ModuleType:
    """Return the module of a family: by its path where the harness loads this file so."""
    if __name__ == "lm_eval_tasks.fresh.scores":
        return importlib.import_module(f"lm_eval_tasks.{name}.utils")
    utils_path = TASKS / name / "utils.py"
    module_spec = importlib.util.spec_from_file_location(
        f"fresh_family_{name}", utils_path
    )
    assert module_spec is not None and module_spec.loader is not None  # of a .py file
    family_module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = family_module  # so that its verdicts can be pickled
    module_spec.loader.exec_module(family_module)
    return family_module


def _common(doc: dict, scores: dict[str, float]) -> dict[str, float]:
    """Return the scores of a family's rule by the names that the fresh tasks share."""
    published_key, flexible_key = next(
        headline_keys
        for headline_keys in HEADLINES
        if {*headline_keys} <= scores.keys()
    )
    common_scores = {
        "score": scores[published_key],
        "score_flexible": scores[flexible_key],
        "extracted": scores["extracted"],
    }
    if doc["level"] <= MOST_LEVELS:
        common_scores[f"score_flexible_level_{doc['level']}"] = scores[flexible_key]
    return common_scores


def _functions(kind: str, family: str, suffix: str) -> dict[str, Callable]:
    """Return `explain_KIND` and `process_results_KIND`, which call a family's functions."""

    def explain(doc: dict, response: str) -> tuple:
        family_verdict = getattr(_family(family), f"explain{suffix}")(doc, response)
        return family_verdict._replace(scores=_common(doc, family_verdict.scores))

    def process_results(doc: dict, results: list[str]) -> dict[str, float]:
        family_process_results = getattr(_family(family), f"process_results{suffix}")
        return _common(doc, family_process_results(doc, results))

    both_functions = explain, process_results
    for function in both_functions:  # under its public name it can be pickled
        function.__name__ = function.__qualname__ = f"{function.__name__}_{kind}"
    return {function.__name__: function for function in both_functions}


# Kind, as the YAML files name it; family; what the names of its functions end in.
KINDS = (
    ("tcp", "tcp", ""),
    ("arithmetic", "tot", "_arithmetic"),
    ("semantic", "tot", "_semantic"),
    ("date", "timebench", "_date"),
    ("nli", "timebench", "_nli"),
)
for _kind in KINDS:
    globals().update(_functions(*_kind))
