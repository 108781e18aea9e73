"""The documents of a task, as a run of the harness sees them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace

from .cli import quiet_harness
from .errors import FamilyError, ToolError
from .family_contract import SEE, column_fault
from .task_scorers import FOLDER, leaf_tasks, reading, scorer


def load(
    names: list[str], include_path: Path = FOLDER, metadata: dict | None = None
) -> tuple:
    """Return the harness's TaskManager of a pack's folder, and the TaskDict that it loads.

    `metadata` is added to each task's. ToolError for tasks that it lacks or cannot load.
    """
    from lm_eval.tasks import TaskManager  # takes a second

    with quiet_harness():
        manager = TaskManager(
            include_path=str(include_path), include_defaults=False, metadata=metadata
        )
        if missing_names := [name for name in names if name not in manager.all_tasks]:
            raise ToolError(
                f"{include_path}: has no task or group '{missing_names[0]}'; name another"
                " folder with --include_path, or another task"
            )
        for leaf in (leaf for name in names for leaf in leaf_tasks(name)):
            scorer(leaf)  # FamilyError, where the harness would end in a traceback
        try:
            return manager, manager.load(names)
        except (OSError, ValueError) as error:
            error_line = str(error).strip().split("\n")[0]
            raise ToolError(
                f"{', '.join(names)}: cannot be loaded ({error_line}); check the network, or"
                " give an offline pack with --include_path"
            ) from error


@cache
def documents(task: str, include_path: Path = FOLDER) -> tuple[dict, ...]:
    """Return the documents of a task, by their ids; ToolError as of `load`."""
    loaded_task = load([task], include_path)[1]["tasks"][task]
    # Made when it was built; `eval_docs`, which lm-eval 0.5 has alone, makes them again.
    docs = tuple(getattr(loaded_task, "task_docs", None) or loaded_task.eval_docs)
    check_documents(task, docs)
    return docs


def check_documents(task: str, docs: tuple[dict, ...]) -> None:
    """Raise FamilyError where a family does not score its gold response as it declares.

    The first document stands for all.
    """
    task_scorer = scorer(task)
    for doc in docs[:1]:
        if fault := column_fault(task_scorer.columns, doc):
            place = f"{task_scorer.utils.__file__}: DOCUMENTS"
            raise FamilyError(f"{place}: a document of {task} {fault}; {SEE}")
        with reading(task, doc):
            gold_response = task_scorer.utils.gold_response(doc)
            task_scorer.check_verdict(task_scorer.explain(doc, gold_response))
            task_scorer.breakdowns(doc)


def document(task: str, row: dict) -> dict:
    """Return the document that a task makes of a row of its file; ValueError for none."""
    try:
        return documents_of(task, [row])[0]
    except ToolError as error:  # it is one row of many: its number here says nothing
        raise ValueError(str(error).rpartition("row 0, ")[2]) from None


def documents_of(task: str, rows: list[dict]) -> list[dict]:
    """Return the documents that a task makes of rows; ToolError names a row without one."""
    try:
        with quiet_harness():
            return list(scorer(task).process_docs(Rows(rows, scorer(task).file)))
    except ValueError as error:
        raise ToolError(str(error)) from None


class Rows(list):
    """Rows as `process_docs` takes them, without a Dataset: one takes milliseconds."""

    def __init__(self, rows: list[dict], name: str | None = None) -> None:
        super().__init__(rows)
        self.column_names = list(rows[0]) if rows else []
        self.info = SimpleNamespace(config_name=name)

    from_list = classmethod(lambda cls, rows: cls(rows))
