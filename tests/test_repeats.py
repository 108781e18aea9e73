"""How often the files of the benchmarks have a row, and which rows: counted again."""

from collections import Counter

from utils.core.documents import documents_of
from utils.core.files import read_jsonl
from utils.core.task_scorers import all_tasks, scorer
from utils.verdicts.tally import count_copies


def test_rows_are_as_many_as_in_the_files(shared):
    counted = 0
    for task in all_tasks():
        found = [*shared.glob(f"t*/{scorer(task).file}.jsonl")]
        family, (rows, fingerprint) = scorer(task).utils, scorer(task).upstream
        digests = [
            family.digest(doc)
            for path in found
            for doc in documents_of(task, read_jsonl(path))
        ]
        if fingerprint is None:
            assert count_copies(task, "any") is None
        elif digests:
            assert (len(digests), family.fingerprint(digests)) == (rows, fingerprint)
        for digest, n in Counter(digests).items():
            assert count_copies(task, digest.hex()) == n, (task, digest.hex())
        counted += bool(digests)
    assert counted == 20
