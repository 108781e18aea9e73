"""What the harness has no public way to: every private import of it stands here."""

# How `lm_eval` reads `--gen_kwargs`: merged over several uses, values typed.
from lm_eval._cli.utils import MergeDictAction as MergeDictAction

# Task files with their includes and functions: `TaskManager` gives only its index.
from lm_eval.tasks._yaml_loader import load_yaml as load_yaml


def task_index(manager) -> dict:
    """Return name -> entry of a TaskManager's index, public before lm-eval 0.5."""
    is_public = hasattr(manager, "task_index")
    return manager.task_index if is_public else manager._task_index
