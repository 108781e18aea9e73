"""Print the folder that `lm_eval --include_path` takes: `python -m lm_eval_tasks`.

`--version` prints the pack's version instead; those of the tasks, on which scores depend,
stand in the results of every run.
"""

import argparse
from pathlib import Path

from . import VERSION


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m lm_eval_tasks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=VERSION)
    parser.parse_args()
    print(Path(__file__).parent)
