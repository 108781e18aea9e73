"""Print a digest of the scores of a sample of cases and of all recorded responses.

    python -m tests.digest [--at 1987-06-05]

The digest is the same on every machine, in every locale and time zone, with every hash
seed and, with `--at`, on any day: test_determinism.py runs it so.
"""

import argparse
import hashlib
import json
import sys
from contextlib import nullcontext

from freezegun import freeze_time

from tests.conftest import EXAMPLES
from tests.corpus import FAMILIES, cases, read_jsonl, score
from utils.core.documents import load
from utils.core.families import all_tasks, scorer


STEP = 25  # every 25th case


def scored() -> list[dict[str, float]]:
    """Return the scores of the sample and of every recorded response."""
    sample = [case for family in FAMILIES for case in cases(family)[::STEP]]
    found = [score(case.task, case.doc, case.response) for case in sample]
    paths = sorted((EXAMPLES / "responses" / "careful").glob("*.jsonl"))
    made = load([path.stem for path in paths], EXAMPLES)[1]["tasks"]
    for path in paths:
        docs = list(made[path.stem].eval_docs)
        for line in read_jsonl(path):
            found.append(score(path.stem, docs[line["doc_id"]], line["response"]))
    return found


def digest() -> str:
    """Return the digest of all scores."""
    scores = json.dumps(scored(), sort_keys=True)
    return hashlib.sha256(scores.encode()).hexdigest()


def empty_caches() -> None:
    """Forget what the families have read: the day may have been a part of it."""
    for module in {scorer(task).process_docs.__module__ for task in all_tasks()}:
        for value in vars(sys.modules[module]).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def main() -> None:
    """Print the digest."""
    parser = argparse.ArgumentParser(prog="python -m tests.digest")
    parser.add_argument("--at", metavar="DATE", help="pretend that it is this day")
    at = parser.parse_args().at
    with freeze_time(at) if at else nullcontext():
        sys.stdout.write(f"{digest()}\n")


if __name__ == "__main__":
    main()
