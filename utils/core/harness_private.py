"""What the harness has no public way to: every private import of it stands here."""

# How `lm_eval` reads `--gen_kwargs`: merged over several uses, values typed.
from lm_eval._cli.utils import MergeDictAction as MergeDictAction

# Task files with their includes and functions: `TaskManager` gives only its index.
from lm_eval.tasks._yaml_loader import load_yaml as load_yaml
