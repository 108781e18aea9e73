"""Tasks of the checkout that this pack belongs to."""

import sys
from pathlib import Path

from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml


FOLDER = Path(__file__).resolve().parent


class Task(ConfigurableTask):
    """A task of the checkout, over the rows of the pack.

    A class, since an `include` of a file that is gone hides the task from the harness,
    which then only says that it was not found.
    """

    def __init__(self, config: dict):
        """Build the task whose file, from this folder, is `config["checkout_file"]`.

        Where that is gone, a run of `lm_eval` ends with one line that says so; elsewhere,
        that line is a FileNotFoundError.
        """
        own = {key: value for key, value in config.items() if key != "class"}
        path = (FOLDER / own.pop("checkout_file")).resolve()
        if not path.is_file():
            _stop(
                f"{FOLDER}: belongs to a checkout, and {path} is not there; put the pack"
                " back, or make one to carry with `temporal-eval offline`"
            )
        whole = load_yaml(path)
        metadata = whole.get("metadata", {}) | own.pop("metadata", {})
        super().__init__(config=whole | own | {"metadata": metadata})


def _stop(message: str) -> None:
    """End a run of the harness's command line with one line; elsewhere, raise."""
    program = Path(*sys.argv[:1])
    if program.stem in ("lm_eval", "lm-eval") or program.match("lm_eval/__main__.py"):
        raise SystemExit(message)
    raise FileNotFoundError(message)
