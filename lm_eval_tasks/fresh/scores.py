"""Scores of the fresh tasks: those of each benchmark's rule, by names that all share.

`score` and `score_flexible` are the published and the flexible headline score of the
family, `score_flexible_level_N` is the flexible one of a document of level N.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType


TASKS = Path(__file__).resolve().parent.parent
# The published and the flexible headline score, as families name them.
HEADLINES = (("score", "score_flexible"), ("accuracy", "accuracy_flexible"))
MOST_LEVELS = 10  # so many levels have a metric of their own in the YAML


@cache
def _family(name: str) -> ModuleType:
    """Return the module of a family: by its path where the harness loads this file so."""
    if __name__ == "lm_eval_tasks.fresh.scores":
        return importlib.import_module(f"lm_eval_tasks.{name}.utils")
    spec = importlib.util.spec_from_file_location(
        f"fresh_family_{name}", TASKS / name / "utils.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that its verdicts can be pickled
    spec.loader.exec_module(module)
    return module


def _common(doc: dict, scores: dict[str, float]) -> dict[str, float]:
    """Return the scores of a family's rule by the names that the fresh tasks share."""
    published, flexible = next(pair for pair in HEADLINES if {*pair} <= scores.keys())
    common = {
        "score": scores[published],
        "score_flexible": scores[flexible],
        "extracted": scores["extracted"],
    }
    if doc["level"] <= MOST_LEVELS:
        common[f"score_flexible_level_{doc['level']}"] = scores[flexible]
    return common


def _explained(doc: dict, verdict: tuple) -> tuple:
    return verdict._replace(scores=_common(doc, verdict.scores))


def explain_tcp(doc: dict, response: str) -> tuple:
    """Return the `Verdict` of TCP with the scores of the fresh tasks."""
    return _explained(doc, _family("tcp").explain(doc, response))


def process_results_tcp(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a document of TCP; errors as of the family."""
    return _common(doc, _family("tcp").process_results(doc, results))


def explain_arithmetic(doc: dict, response: str) -> tuple:
    """Return the `Verdict` of ToT arithmetic with the scores of the fresh tasks."""
    return _explained(doc, _family("tot").explain_arithmetic(doc, response))


def process_results_arithmetic(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a document of ToT arithmetic; errors as of the family."""
    return _common(doc, _family("tot").process_results_arithmetic(doc, results))


def explain_semantic(doc: dict, response: str) -> tuple:
    """Return the `Verdict` of ToT semantic with the scores of the fresh tasks."""
    return _explained(doc, _family("tot").explain_semantic(doc, response))


def process_results_semantic(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a document of ToT semantic; errors as of the family."""
    return _common(doc, _family("tot").process_results_semantic(doc, results))


def explain_date(doc: dict, response: str) -> tuple:
    """Return the `Verdict` of Date Arithmetic with the scores of the fresh tasks."""
    return _explained(doc, _family("timebench").explain_date(doc, response))


def process_results_date(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a document of Date Arithmetic; errors as of the family."""
    return _common(doc, _family("timebench").process_results_date(doc, results))


def explain_nli(doc: dict, response: str) -> tuple:
    """Return the `Verdict` of TimeX-NLI with the scores of the fresh tasks."""
    return _explained(doc, _family("timebench").explain_nli(doc, response))


def process_results_nli(doc: dict, results: list[str]) -> dict[str, float]:
    """Score a response to a document of TimeX-NLI; errors as of the family."""
    return _common(doc, _family("timebench").process_results_nli(doc, results))
