"""Print a digest of the scores of a sample of cases and of all recorded responses.

    python -m tests.digest [DATE]

The digest is the same on every machine, in every locale and time zone, with every hash
seed and, where DATE pretends that it is another one, on any day.
"""

import hashlib
import json
import sys
from contextlib import nullcontext

from freezegun import freeze_time

from tests.conftest import EXAMPLES
from tests.corpus import FAMILIES, cases, read_jsonl, score
from utils.core.documents import documents
from utils.core.task_scorers import all_tasks, scorer


def digest(*day: str) -> str:
    """Return the digest of the scores of the sample and of every recorded response."""
    answers = [case[1:4] for family in FAMILIES for case in cases(family)[::25]]
    for path in sorted((EXAMPLES / "responses" / "careful").glob("*.jsonl")):
        examples = documents(path.stem, EXAMPLES)
        for line in read_jsonl(path):
            answers.append((path.stem, examples[line["doc_id"]], line["response"]))
    empty_caches()
    # To pretend a day takes a second: all modules are searched for the clock.
    with freeze_time(*day) if day else nullcontext():
        scores = [score(*answer) for answer in answers]
    return hashlib.sha256(json.dumps(scores, sort_keys=True).encode()).hexdigest()


def empty_caches() -> None:
    """Forget what the families have read: the day may have been a part of it."""
    for module in {scorer(task).process_docs.__module__ for task in all_tasks()}:
        for function in vars(sys.modules[module]).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


if __name__ == "__main__":
    print(digest(*sys.argv[1:]))
