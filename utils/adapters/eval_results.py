"""The published scores of a run in the form in which the hub shows results of a model.

Source of the form: `EvalResultEntry` of `huggingface_hub`, for `.eval_results/*.yaml`.
"""

from __future__ import annotations

from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import yaml

from ..core.cli import say
from ..core.files import check_output, written_whole
from ..core.task_scorers import configuration, scorer
from ..verdicts.runs_by_model import Model


BEGINNING = (
    r"\[\]|- dataset:\n +id: "  # of each file of this form, as `write` writes it
)


def write(path: Path, model: Model, rows: list[dict]) -> None:
    """Write an entry for each task of a run whose rows are on the hub; name the others.

    `rows` are those that `score` prints. No revision is said, for none is known.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entries, tasks_off_hub, run_date = [], [], model.claims().get("date")
    if run_date is not None:
        run_datetime = datetime.fromtimestamp(run_date, timezone.utc)
        run_date = run_datetime.isoformat(timespec="seconds")
    for row in (row for row in rows if row["by"] is None and "tasks" not in row):
        task_config = configuration(row["task"])
        if "custom_dataset" in task_config:
            tasks_off_hub.append(row["task"])
        elif row["published"] is not None:
            entry = EvalResultEntry(
                dataset_id=task_config["dataset_path"],
                task_id=row["task"],
                value=row["published"],
                date=run_date,
                notes=_notes(model.claims(row["task"]), row),
            )
            entries.append(entry)
    plain_entries = eval_result_entries_to_yaml(entries)
    check = partial(check_output, path, "score", BEGINNING)
    with written_whole(path, check) as file:
        file.write(yaml.safe_dump(plain_entries, sort_keys=False, width=1000).encode())
    if tasks_off_hub:
        tasks_text = ", ".join(tasks_off_hub)
        say(f"{path}: lacks {tasks_text}, whose rows no data set of the hub has")


def _notes(claims: dict, row: dict) -> str:
    """Return the rule, and what else a score must be read with, as far as it is known."""
    headline = scorer(row["task"]).headline
    notes = [
        f"{headline['published']} by the metric card's rule",
        f"{headline['flexible']} {row['flexible']:.4f}",
        f"version {scorer(row['task']).version} of lm-eval-temporal-tasks",
        f"rows: {row['rows']} ({row['n']})",
    ]
    if row["filter"]:
        notes.append(f"filter {row['filter']}")
    if claims:
        notes.append(f"{claims['n_shot']}-shot; max_gen_toks {claims['max_gen_toks']}")
    return "; ".join(notes)
