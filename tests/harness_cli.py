"""The command line of the harness, without its index of its own 13,000 tasks."""

from functools import partial

import lm_eval.tasks
from lm_eval.__main__ import cli_evaluate


if __name__ == "__main__":
    lm_eval.tasks.TaskManager = partial(
        lm_eval.tasks.TaskManager, include_defaults=False
    )
    cli_evaluate()
