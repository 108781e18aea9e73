"""Several answers to a document: which they are, and what they score together."""

import json
import re
from collections import Counter
from inspect import signature
from itertools import combinations
from pathlib import Path

import pytest
from lm_eval import simple_evaluate

from tests.answers import write
from tests.conftest import EXAMPLES
from tests.logs import RecordedModel, run
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl
from utils.verdicts.answers import custom_id


TASK = "tcp_long"
DOCS = documents(TASK, EXAMPLES)
RIGHT = [f"\\boxed{{{doc['answer']}}}" for doc in DOCS]


def numbered() -> list[dict]:
    """Return three answers to document 0 and one to document 1; two of them are right."""
    texts = [(0, RIGHT[0]), (0, "?"), (0, "??"), (1, RIGHT[1])]
    return [
        {"task": TASK, "doc_id": doc_id, "response": text, "sample": n}
        for n, (doc_id, text) in enumerate(texts)
    ]


def batch() -> list[dict]:
    made = []
    for n, texts in ((0, [RIGHT[0], None, "??"]), (1, [RIGHT[1]])):
        choices = [{"message": {"content": x}, "finish_reason": "stop"} for x in texts]
        name = custom_id(TASK, n, DOCS[n])
        made.append({"custom_id": name, "response": {"body": {"choices": choices}}})
    return made


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> Path:
    """The samples of a run with repeats, of which the harness scores the first."""
    folder = run(RecordedModel(), [TASK], tmp_path_factory.mktemp("log"), limit=2)
    (path,) = folder.glob("samples_*")
    lines = read_jsonl(path)
    lines[0] |= {"resps": [[RIGHT[0], "?", "??"]], "filtered_resps": [RIGHT[0]]}
    lines[1] |= {"resps": [[RIGHT[1]]], "filtered_resps": [RIGHT[1]]}
    return write(path, *lines)


@pytest.mark.parametrize("kind", ["sample", "choices", "resps", "repeats"])
def test_a_document_scores_the_mean_of_its_answers_and_a_copy_is_refused(
    tmp_path, call, logged, kind
):
    path = tmp_path / logged.name
    made = {"choices": batch, "resps": lambda: read_jsonl(logged)}
    lines = made.get(kind, numbered)()
    if kind == "repeats":
        lines = [{x: y for x, y in line.items() if x != "sample"} for line in lines]
        results = {"configs": {TASK: {"repeats": 3}}}
        name = path.name.replace(f"samples_{TASK}", "results").removesuffix("l")
        write(tmp_path / name, results)
    write(path, *lines)
    for _ in range(2):  # the second time, from the table
        status, rows, said = call(path, "--output", tmp_path / "tables")
        assert (status, said) == (0, "")
        assert (rows[0]["n"], rows[0]["answers"]) == (2, 4)
        assert rows[0]["published"] == (1 / 3 + 1) / 2
    again = write(tmp_path / logged.name, *lines, lines[0])
    status, rows, said = call(again)
    assert (status, rows[0]["answers"]) == (1, 4)
    assert "is a second answer to document 0 of tcp_long; keep 1" in said


def expected(rows: list[list[tuple[str | None, float]]], k: int) -> tuple[float, float]:
    """Return pass@k and majority by going through all draws of k answers."""
    passes, votes = [], []
    for answers in rows:
        draws = [max(x for _, x in draw) for draw in combinations(answers, k)]
        passes.append(sum(draws) / len(draws))
        counts = Counter(value for value, _ in answers if value is not None)
        top = [value for value in counts if counts[value] == max(counts.values())]
        scores = dict(answers)
        votes.append(sum(scores[value] for value in top) / len(top) if top else 0)
    return sum(passes) / len(rows), sum(votes) / len(rows)


def test_four_real_answers_of_each_document_score_as_computed_anew(
    shared, tmp_path, call
):
    files = sorted(shared.glob("responses/*.jsonl"))
    answers_of = [read_jsonl(path)[:300] for path in files]
    lines = [x | {"sample": n} for n, of in enumerate(answers_of) for x in of]
    path = write(tmp_path / "x.jsonl", *lines)
    status, [row, *_], said = call(path, "--task", "tot_arithmetic", "--k", 2)
    assert (status, said, row["n"], row["answers"]) == (0, "", 300, 1200)
    documents_of: dict[str, list] = {"published": [], "flexible": []}
    for answers in zip(*answers_of, strict=True):
        assert len({(x["question"], x["label"]) for x in answers}) == 1
        told = [scorer("tot_arithmetic").explain(x, x["response"]) for x in answers]
        read = [(x.published, x.scores["accuracy"]) for x in told]
        documents_of["published"].append(read)
        values = [x.value and json.dumps(x.value, default=hash) for x in told]
        read = [(x, y.scores["accuracy_flexible"]) for x, y in zip(values, told)]
        documents_of["flexible"].append(read)
    for rule, rows in documents_of.items():
        mean = sum(score for answers in rows for _, score in answers) / 1200
        passes, votes = expected(rows, 2)
        found = row[rule], row[f"pass@2_{rule}"], row[f"majority_{rule}"]
        assert found == pytest.approx((mean, passes, votes), abs=1e-12)


class ThreeModels(RecordedModel):
    """Answers each time as the next of the three recorded models."""

    def __init__(self) -> None:
        super().__init__()
        self.times = Counter()

    def answer(self, task: str, doc_id: int) -> str:
        self.times[task, doc_id] += 1
        model = ("careful", "plain", "hasty")[(self.times[task, doc_id] - 1) % 3]
        lines = read_jsonl(EXAMPLES / "responses" / model / f"{task}.jsonl")
        return {line["doc_id"]: line["response"] for line in lines}[doc_id]


@pytest.mark.skipif(
    "repeats" not in signature(simple_evaluate).parameters,
    reason="this release of lm-eval has no --repeats",
)
def test_the_mean_of_repeats_is_the_harness_s(tmp_path, call):
    tasks = [TASK, "tot_arithmetic", "timebench_durationqa"]
    folder = run(ThreeModels(), tasks, tmp_path, repeats=3)
    [results] = map(json.loads, map(Path.read_text, folder.glob("results_*.json")))
    status, rows, said = call(folder)
    assert (status, said) == (0, "")
    for task in tasks:
        [row] = [row for row in rows if row["task"] == task and not row["by"]]
        assert row["answers"] == 3 * row["n"]
        logged = [results["results"][task][f"{x},none"] for x in scorer(task).headline]
        assert [row["published"], row["flexible"]] == pytest.approx(logged)
        assert 0 < row["flexible"] < 1


def test_ties_score_the_mean_and_k_is_at_most_the_answers(tmp_path, call):
    path = write(tmp_path / "x.jsonl", *numbered()[:3])
    _, [row], _ = call(path, "--k", 3)  # of which two read nothing
    assert (row["pass@3_flexible"], row["majority_flexible"]) == (1, 1)
    other = numbered()[0] | {"sample": "b", "response": "\\boxed{2001-01-01}"}
    _, [row], _ = call(write(path, *numbered()[:3], other), "--k", 1)
    assert (row["pass@1_published"], row["majority_published"]) == (1 / 4, 1 / 2)
    status, rows, said = call(path, "--k", 5)
    assert (status, rows) == (1, [])
    few = f"document 0 of {TASK} has only 4 answers in x"
    assert said == f"--k 5: {few}; give at most --k 4\n"


def test_the_report_of_several_answers_has_intervals_and_fits_a_wide_terminal(
    tmp_path, capsys
):
    lines = [x | {"task": "timebench_menatqa_counterfactual"} for x in numbered()[:3]]
    path = write(tmp_path / "x.jsonl", *lines)
    here = ["--include_path", str(EXAMPLES)]
    assert main(["score", str(path), *here, "--k", "2"]) == 0
    printed = capsys.readouterr().out
    columns = "pass@2 published +[|] pass@2 flexible +[|] majority published +[|]"
    table = printed[re.search(columns, printed).start() :]
    assert len(re.findall(r"[\d.]+ \[[\d.]+, [\d.]+\]", table)) == 4
    assert max(map(len, printed.splitlines())) <= 140
