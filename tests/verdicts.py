"""Print a digest of all scores on the verdict files and the recorded responses.

    python -m tests.verdicts [--at 1987-06-05]

The digest is the same on every machine, in every locale and time zone, with every hash
seed and, with `--at`, on any day: a test runs it so.
"""

import argparse
import hashlib
import importlib
import json
from contextlib import nullcontext

from freezegun import freeze_time
from lm_eval.tasks import TaskManager

from tests.conftest import ROOT


def scored() -> list:
    """Return the scores of every case and every recorded response."""
    families = {
        name: importlib.import_module(f"lm_eval_tasks.{name}.utils")
        for name in ("tcp", "tot", "timebench")
    }
    found = []
    for path in sorted((ROOT / "tests" / "cases").glob("*/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            utils = families[path.parent.name]
            found.append(utils.process_results(case["doc"], [case["response"]]))
    manager = TaskManager(include_path=str(ROOT / "examples"), include_defaults=False)
    for path in sorted((ROOT / "examples" / "responses").glob("*.jsonl")):
        task = manager.load(path.stem)["tasks"][path.stem]
        documents = task.test_docs()
        for line in path.read_text(encoding="utf-8").splitlines():
            recorded = json.loads(line)
            doc = documents[recorded["doc_id"]]
            found.append(task.process_results(doc, [recorded["response"]]))
    return found


def main() -> None:
    """Print the digest."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts")
    parser.add_argument("--at", metavar="DATE", help="pretend that it is this day")
    at = parser.parse_args().at
    with freeze_time(at) if at else nullcontext():
        scores = json.dumps(scored(), sort_keys=True)
    print(hashlib.sha256(scores.encode()).hexdigest())


if __name__ == "__main__":
    main()
