"""The published scores of a run in the form in which the hub shows results of a model.

Source of the form: `EvalResultEntry` of `huggingface_hub`, for `.eval_results/*.yaml`.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import yaml

from ..core.cli import say
from ..core.errors import ToolError
from ..core.families import configuration, scorer
from ..core.files import written_whole
from ..verdicts.runs import Model


def check(models: list[Model], path: Path | None) -> None:
    """Raise ToolError for a file of several runs: it is one model's."""
    if path and len(models) > 1:
        raise ToolError(
            f"--eval_results {path}: is of one model, but there are {len(models)} runs;"
            " name one"
        )


def write(path: Path, model: Model, rows: list[dict]) -> None:
    """Write an entry for each task of a run whose rows are on the hub; name the others.

    `rows` are those that `score` prints. No revision is said, for none is known.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entries, left_out = [], []
    for row in rows:
        if row["by"] or "tasks" in row or row["published"] is None:
            continue
        config = configuration(row["task"])
        if "custom_dataset" in config:
            left_out.append(row["task"])
            continue
        claims = model.claims(row["task"])
        date = model.claims().get("date")
        date = date and datetime.fromtimestamp(date, timezone.utc)
        entry = EvalResultEntry(
            dataset_id=config["dataset_path"],
            task_id=row["task"],
            value=row["published"],
            date=date.isoformat(timespec="seconds") if date else None,
            notes=_notes(claims, row),
        )
        entries.append(entry)
    text = yaml.safe_dump(
        eval_result_entries_to_yaml(entries), sort_keys=False, width=1000
    )
    with written_whole(path) as file:
        file.write(text.encode())
    if left_out:
        names = ", ".join(left_out)
        say(f"{path}: lacks {names}, whose rows no data set of the hub has")


def _notes(claims: dict, row: dict) -> str:
    """Return the rule, and what else a score must be read with, as far as it is known."""
    task = row["task"]
    published, flexible = scorer(task).headline
    notes = [
        f"{published} by the metric card's rule",
        f"{flexible} {row['flexible']:.4f}",
        f"version {scorer(task).version} of lm-eval-temporal-tasks",
        f"rows: {row['rows']} ({row['n']})",
    ]
    if row["filter"]:
        notes.append(f"filter {row['filter']}")
    if claims:
        notes.append(f"{claims['n_shot']}-shot")
        notes.append(f"max_gen_toks {claims['max_gen_toks']}")
    return "; ".join(notes)
