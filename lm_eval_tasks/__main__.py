"""Print the folder that `lm_eval --include_path` takes: `python -m lm_eval_tasks`."""

from pathlib import Path


print(Path(__file__).parent)
