"""How often the files of the benchmarks have a row: counted again."""

from collections import Counter

from utils.core.documents import documents_of
from utils.core.families import all_tasks, scorer
from utils.core.jsonl import read_jsonl
from utils.runs.repeats import rows_of


def test_rows_are_as_many_as_in_the_files(shared):
    counted = 0
    for task in all_tasks():
        found = [*shared.glob(f"t*/{scorer(task).file}.jsonl")]
        digests = [
            scorer(task).utils.digest(doc)
            for path in found
            for doc in documents_of(task, read_jsonl(path))
        ]
        if scorer(task).known[1] is None:
            assert rows_of(task, b"any") is None
        for digest, n in Counter(digests).items():
            assert rows_of(task, digest) == n, (task, digest.hex())
        counted += bool(digests)
    assert counted == 20
