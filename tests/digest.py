"""Print a digest of all scores on the verdict corpus and the recorded responses.

    python -m tests.digest [--at 1987-06-05]

The digest is the same on every machine, in every locale and time zone, with every hash
seed and, as a second line says with `--at`, on any day: test_determinism.py runs it so.
"""

import argparse
import hashlib
import json
import sys

from freezegun import freeze_time
from lm_eval.tasks import TaskManager

from tests.conftest import EXAMPLES
from tests.corpus import FAMILIES, cases, read_jsonl, score
from utils.bench import empty_caches
from utils.core.families import all_tasks, scorer


def scored() -> list[dict[str, float]]:
    """Return the scores of every case and every recorded response."""
    corpus = [case for family in FAMILIES for case in cases(family)]
    found = [score(case.task, case.doc, case.response) for case in corpus]
    paths = sorted((EXAMPLES / "responses").glob("*.jsonl"))
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    tasks = manager.load([path.stem for path in paths])["tasks"]
    for path in paths:
        docs = tasks[path.stem].test_docs()
        for recorded in read_jsonl(path):
            doc, response = docs[recorded["doc_id"]], recorded["response"]
            found.append(tasks[path.stem].process_results(doc, [response]))
    return found


def digest() -> str:
    """Return the digest of all scores."""
    scores = json.dumps(scored(), sort_keys=True)
    return hashlib.sha256(scores.encode()).hexdigest()


def main() -> None:
    """Print the digest."""
    parser = argparse.ArgumentParser(prog="python -m tests.digest")
    parser.add_argument("--at", metavar="DATE", help="pretend that it is this day")
    at = parser.parse_args().at
    sys.stdout.write(f"{digest()}\n")
    if at:
        for task in all_tasks():
            empty_caches(scorer(task))
        with freeze_time(at):
            sys.stdout.write(f"{digest()}\n")


if __name__ == "__main__":
    main()
