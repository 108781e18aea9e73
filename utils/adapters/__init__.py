"""The tasks of the pack in other tools: the same prompts, documents and verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lm_eval_tasks.fresh import utils as fresh

from ..core.documents import document
from ..core.errors import DocumentError
from ..core.family_contract import EXTRACTED, FLEXIBLE, PUBLISHED, Verdict
from ..core.task_scorers import configuration, reading, scorer


def explain(task: object, doc: object, response: object) -> Verdict:
    """Return the verdict of a task's family on a response to a document.

    The document is an object as the harness logs it, or this as JSON. ToolError for what
    is no task, no text, or not a document of the task.
    """
    explain_response = scorer(f"{task}").explain
    fix = "give a dict and a str, as the harness logs them"
    try:
        doc = json.loads(doc) if isinstance(doc, str) else doc
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"'doc' cannot be read ({error!r:.100}); {fix}") from None
    if not (isinstance(doc, dict) and isinstance(response, str)):
        types_text = f"'doc' is a {type(doc).__name__}, 'response' is a"
        raise DocumentError(f"{types_text} {type(response).__name__}; {fix}")
    with reading(f"{task}", doc):
        return explain_response(doc, response)


def metrics(task: str) -> tuple[str, ...]:
    """Return the metrics that each document of a task has, the flexible score first."""
    headline = scorer(task).headline
    if not headline:
        return tuple(scorer(task).metrics)
    return headline[FLEXIBLE], headline[PUBLISHED], EXTRACTED


def fresh_documents(
    task: str, seed: int, levels: range, knobs: dict[str, int]
) -> Iterator[dict]:
    """Return the documents of a fresh task, of each level in its turn, without end.

    Raises ValueError for a level, a knob or a seed that its generator lacks.
    """
    generator_name = configuration(task)["dataset_kwargs"]["generator"]
    row_limit = 10**12
    knobs_by_generator: dict[str, fresh.Knobs] = {generator_name: knobs}
    fresh.check_knobs(knobs_by_generator)
    fresh.check_request(generator_name, seed, row_limit, levels, None)
    rows = fresh.rows(generator_name, seed, row_limit, levels, knobs_by_generator)
    return (document(task, row) for row in rows)
