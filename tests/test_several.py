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
from tests.logs import RecordedModel, run, sample
from utils.core.documents import documents
from utils.core.files import read_jsonl
from utils.core.task_scorers import prompt, scorer
from utils.verdicts.pass_at_k import majority, read_answer
from utils.verdicts.read_answers import custom_id


pytestmark = pytest.mark.usefixtures("judged_here")


TASK = "tcp_long"
DOCS = documents(TASK, EXAMPLES)
RIGHT = [f"\\boxed{{{doc['answer']}}}" for doc in DOCS]
# Three answers to document 0 and one to document 1; two of them are right.
RESPONSES = [(0, RIGHT[0]), (0, "?"), (0, "??"), (1, RIGHT[1])]
NUMBERED = [
    {"task": TASK, "doc_id": doc_id, "response": response, "sample": number}
    for number, (doc_id, response) in enumerate(RESPONSES)
]


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
def test_a_document_scores_the_mean_and_a_copy_is_refused(tmp_path, call, logged, kind):
    path, lines = tmp_path / logged.name, NUMBERED
    if kind == "choices":  # of the batch API; one has no content
        lines = []
        for doc_id, texts in ((0, [RIGHT[0], None, "??"]), (1, [RIGHT[1]])):
            body = {"choices": [{"message": {"content": text}} for text in texts]}
            name = custom_id(TASK, doc_id, DOCS[doc_id])
            lines.append({"custom_id": name, "response": {"body": body}})
    elif kind == "resps":
        lines = read_jsonl(logged)
    elif kind == "repeats":
        lines = [{**line, "sample": None} for line in lines]
        name = path.name.replace(f"samples_{TASK}", "results").removesuffix("l")
        write(tmp_path / name, {"configs": {TASK: {"repeats": 3}}})
    write(path, *lines)
    for _ in range(2):  # the second time, from the table
        status, [row, *_], messages = call(path, "--output", tmp_path / "tables")
        assert (status, row["n"], row["answers"]) == (0, 2, 4)
        assert ("are blank" in messages) == (kind == "choices")
        assert row["published"] == (1 / 3 + 1) / 2
    status, [row, *_], messages = call(write(path, *lines, lines[0]))
    assert (status, row["answers"]) == (1, 4)
    assert "is a second answer to document 0 of tcp_long; keep 1" in messages


def expected(rows: list[list[tuple[str | None, float]]], k: int) -> tuple[float, float]:
    """Return pass@k and majority by going through all draws of k answers."""
    passes, votes = [], []
    for answers in rows:
        draws = [max(score for _, score in draw) for draw in combinations(answers, k)]
        passes.append(sum(draws) / len(draws))
        counts = Counter(value for value, _ in answers if value is not None)
        top = [value for value in counts if counts[value] == max(counts.values())]
        votes.append(sum(dict(answers)[value] for value in top) / max(len(top), 1))
    return sum(passes) / len(rows), sum(votes) / len(rows)


def test_four_real_answers_score_as_computed_anew(shared, tmp_path, call):
    task = scorer("tot_arithmetic")
    runs = [read_jsonl(path)[:300] for path in sorted(shared.glob("responses/*.jsonl"))]
    lines = [line | {"sample": n} for n, answers in enumerate(runs) for line in answers]
    path = write(tmp_path / "x.jsonl", *lines)
    status, [row, *_], messages = call(path, "--task", task.task, "--k", 2)
    assert (status, row["n"], row["answers"]) == (0, 300, 1200)
    assert re.fullmatch(r"Fault in the run x: 132 of 1,200 answers .*\n", messages)
    readings: dict[str, list] = {"published": [], "flexible": []}
    for answers in zip(*runs, strict=True):
        verdicts = [task.explain(line, line["response"]) for line in answers]
        texts = [(x.published, x.scores["accuracy"]) for x in verdicts]
        readings["published"].append(texts)
        values = [x.value and json.dumps(x.value, default=hash) for x in verdicts]
        scores = [x.scores["accuracy_flexible"] for x in verdicts]
        readings["flexible"].append([*zip(values, scores)])
    for rule, rows in readings.items():
        mean = sum(score for answers in rows for _, score in answers) / 1200
        figures = row[rule], row[f"pass@2_{rule}"], row[f"majority_{rule}"]
        assert figures == pytest.approx((mean, *expected(rows, 2)), abs=1e-12)


class ThreeModels(RecordedModel):
    """Answers each time as the next of the three recorded models."""

    times: Counter[tuple[str, int]] = Counter()

    def answer(self, task: str, doc_id: int) -> str:
        model = ("careful", "plain", "hasty")[self.times[task, doc_id] % 3]
        self.times[task, doc_id] += 1
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
    status, rows, messages = call(folder)
    assert status == 0  # and of the hasty model's answers some are cut off
    assert re.fullmatch(r"Fault in the run \S+: 11 of 162 answers .*\n", messages)
    for task in tasks:
        [row] = [row for row in rows if row["task"] == task and not row["by"]]
        logged = [
            results["results"][task][f"{x},none"]
            for x in scorer(task).headline.values()
        ]
        assert [row["published"], row["flexible"]] == pytest.approx(logged)
        assert row["answers"] == 3 * row["n"] and 0 < row["flexible"] < 1


def test_what_a_filter_leaves_of_several_answers_is_the_answer(tmp_path, call):
    """Not the others that the log has beside it."""
    doc = documents("tcp_long", EXAMPLES)[0]
    gold = scorer("tcp_long").utils.gold_response(doc)
    line = sample(0, doc, prompt("tcp_long", doc), "no")
    for left, expected in (("no", (3, 1 / 3)), (gold, (1, 1.0))):
        line |= {"resps": [["no", gold, "none"]], "filtered_resps": [left]}
        path = tmp_path / "samples_tcp_long_2026-01-01T00-00-00.jsonl"
        _, [row, *_], _ = call(write(path, line))
        assert (row["answers"], row["published"]) == pytest.approx(expected)


def test_a_value_in_two_forms_has_two_votes(tmp_path, call):
    """5 and 5.0 are one value, which a majority of three has against 7."""
    doc = {"question": "How many?", "label": "{'answer': '5'}"}
    lines = [
        {"task": "tot_arithmetic", "doc": doc, "response": f'{{"answer": {text}}}'}
        | {"sample": text}
        for text in ("7", "5", "5.0")
    ]
    _, [row, *_], _ = call(write(tmp_path / "x.jsonl", *lines), "--k", 3)
    assert row["majority_flexible"] == 1


def test_ties_score_the_mean_and_k_is_at_most_the_answers(tmp_path, call):
    path = write(tmp_path / "x.jsonl", *NUMBERED[:3])
    _, [row], _ = call(path, "--k", 3)  # of which two read nothing
    assert (row["pass@3_flexible"], row["majority_flexible"]) == (1, 1)
    assert row["pass@3_flexible_low"] < 1 == row["pass@3_flexible_high"]
    other = NUMBERED[0] | {"sample": "b", "response": "\\boxed{2001-01-01}"}
    _, [row], _ = call(write(path, *NUMBERED[:3], other), "--k", 1)
    assert (row["pass@1_published"], row["majority_published"]) == (1 / 4, 1 / 2)
    qa = {"task": "timebench_menatqa_scope", "doc_id": 0}  # without case
    gold = documents(qa["task"], EXAMPLES)[0]["golds"][0]
    lines = [
        qa | {"sample": n, "response": f"The answer is {text}."}
        for n, text in enumerate((gold, gold.upper(), "Nobody"))
    ]
    _, [row, *_], _ = call(write(tmp_path / "qa.jsonl", *lines), "--k", 1)
    assert row["majority_flexible"] == 1
    shortage = f"document 0 of {TASK} has only 4 answers in x"
    message = f"--k 5: {shortage}; give at most --k 4\n"
    assert call(path, "--k", 5) == (1, [], message)


def test_a_rule_reads_texts_as_they_are_and_values_without_case_and_quotes():
    scores = dict(zip(scorer(TASK).headline.values(), (0.25, 0.5, 0)))
    row = {"task": TASK, "published": '"May"', "value": '"May"', "scores": scores}
    assert read_answer(row, "published") == ('"May"', 0.25)
    assert read_answer(row, "flexible") == ("may", 0.5)
    assert read_answer(row | {"value": None}, "flexible") == (None, 0.5)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], 0),
        ([(None, 1), (None, 1)], 0),  # which have no vote
        ([("", 1), (None, 0), (None, 0)], 1),
        ([("a", 1), ("a", 0.5), ("b", 0), ("b", 0), ("c", 1)], 0.375),
        ([("a", 1), ("b", 0), ("b", 0)], 0),
    ],
)
def test_the_value_of_most_answers_scores(answers, expected):
    assert majority(answers) == expected
