"""`score_batch` gives what `score` gives, whatever kind of batch an engine hands over."""

import json

import numpy
import pandas
import pyarrow
import pytest

from tests.conftest import EXAMPLES, ROOT
from utils import score_batch
from utils.core.documents import documents
from utils.core.families import scorer
from utils.core.jsonl import read_jsonl


ADDED = (
    *("scores", "published", "flexible", "extracted", "reason"),
    *("published_answer", "flexible_answer", "error"),
)


def recorded() -> dict[str, list]:
    """Return a batch of the recorded answers to all tasks; a document is JSON."""
    rows = [
        (path.stem, documents(path.stem, EXAMPLES)[line["doc_id"]], line["response"])
        for path in sorted((EXAMPLES / "responses").glob("*.jsonl"))
        for line in read_jsonl(path)
    ]
    return {
        "id": [*range(len(rows))],
        "task": [task for task, _, _ in rows],
        "doc": [json.dumps(doc) for _, doc, _ in rows],
        "response": [response for _, _, response in rows],
    }


GOOD = recorded()
# Good rows first: engines take the type of a column from the first batch that they see.
BATCH = {name: cells * 2 for name, cells in GOOD.items()}
BATCH["id"] = [*range(len(BATCH["task"]))]
BATCH["doc"][-1] = "{"
BATCH["task"][-2] = "tcp_lnog"


def arrays(batch: dict[str, list]) -> dict[str, numpy.ndarray]:
    made = {name: numpy.array(cells, object) for name, cells in batch.items()}
    return made | {"id": numpy.array(batch["id"])}


# A kind of batch: how it is made of lists, and lists of it.
KINDS = {
    dict: (dict, dict),
    numpy.ndarray: (arrays, lambda x: {name: [*x[name]] for name in x}),
    pandas.DataFrame: (
        lambda x: pandas.DataFrame(x, index=[f"row {n}" for n in x["id"]]),
        lambda x: x.astype(object).where(x.notna(), None).to_dict("list"),
    ),
    pyarrow.Table: (pyarrow.table, lambda x: x.to_pydict()),
}


def without_nan(batch: dict[str, list]) -> dict[str, list]:
    return {n: [None if x != x else x for x in cells] for n, cells in batch.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_keeps_its_type_columns_and_order_and_gets_the_verdicts(kind):
    make, lists = KINDS[kind]
    given = make(BATCH)
    scored = score_batch(given)
    assert type(scored) is type(given)
    found = without_nan(lists(scored))
    assert list(found) == [*BATCH, *ADDED]
    assert {name: found[name] for name in BATCH} == BATCH
    assert lists(given) == BATCH  # which is not changed
    if kind is pandas.DataFrame:
        assert [*scored.index] == [*given.index]
    for n, (task, doc, response) in enumerate(
        zip(GOOD["task"], map(json.loads, GOOD["doc"]), GOOD["response"], strict=True)
    ):
        verdict = scorer(task).explain(doc, response)
        published, flexible = scorer(task).headline or ("", "")
        assert [found[name][n] for name in ADDED] == [
            json.dumps(verdict.scores),
            verdict.scores.get(published),
            verdict.scores.get(flexible),
            verdict.scores["extracted"],
            verdict.reason,
            verdict.published,
            verdict.flexible,
            None,
        ]


DOC = json.loads(GOOD["doc"][0])
TASK, RESPONSE = GOOD["task"][0], GOOD["response"][0]
BAD = [
    (None, DOC, RESPONSE, "'task' is a NoneType, not str"),
    ("tcp_lnog", DOC, RESPONSE, "task 'tcp_lnog' is unknown; did you mean tcp_long"),
    (TASK, None, RESPONSE, "'doc' is a NoneType, not dict"),
    (TASK, "[]", RESPONSE, "'doc' is a list, not dict"),
    (TASK, "[" * 100_000, RESPONSE, "recursion"),
    (TASK, DOC | {"answer": None}, RESPONSE, "(has no 'answer')"),
    (TASK, {}, RESPONSE, f"its document is not one of {TASK} (has no '"),
    (TASK, {name: 1 for name in DOC}, RESPONSE, "its document is not one of"),
    (TASK, DOC, None, "'response' is a NoneType, not str"),
    (TASK, DOC, b"bytes", "'response' is a bytes, not str"),
]


@pytest.mark.parametrize("task, doc, response, expected", BAD)
def test_a_bad_row_says_why_and_leaves_the_others(task, doc, response, expected):
    columns = ((task, TASK), (doc, DOC), (response, RESPONSE))
    scored = score_batch(dict(zip(("task", "doc", "response"), columns)))
    assert expected in scored["error"][0]
    assert {scored[name][0] for name in ADDED if name != "error"} == {None}
    assert (scored["error"][1], scored["reason"][1] is None) == (None, False)


@pytest.mark.parametrize("name", ["task", "doc", "response"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_without_a_column_is_refused(kind, name):
    batch = KINDS[kind][0]({x: BATCH[x] for x in BATCH if x != name})
    with pytest.raises(ValueError, match=f"has no column '{name}'; give 'task', 'doc'"):
        score_batch(batch)


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_responses_gets_a_list_in_each_cell(kind):
    make, lists = KINDS[kind]
    few = {name: BATCH[name][-3:] for name in BATCH}
    lone = score_batch(few)
    several = few | {"response": [[x, "", x] for x in few["response"]]}
    scored = score_batch(make(several))
    for name in ADDED:
        for one, cells in zip(lone[name], lists(scored)[name], strict=True):
            assert [cells[0], cells[2]] == [one, one]
    assert "no_answer" in lists(scored)["reason"][0]


def test_documents_may_be_objects_in_which_arrow_adds_nulls():
    docs = [json.loads(x) for x in GOOD["doc"]]
    rows = [n for n, doc in enumerate(docs) if isinstance(doc.get("question"), str)]
    rows = [n for n in rows if not isinstance(docs[n].get("dialogue"), list)]
    table = pyarrow.table(
        {name: [GOOD[name][n] for n in rows] for name in ("task", "response")}
        | {"doc": [docs[n] for n in rows]}
    )
    assert None in table.to_pylist()[0]["doc"].values()
    expected = score_batch(GOOD)
    for batch in (table, table.to_pandas()):  # whose lists are arrays of NumPy
        scored = score_batch(batch)["scores"]
        scored = scored.to_pylist() if batch is table else scored.tolist()
        assert scored == [expected["scores"][n] for n in rows]


def test_half_a_surrogate_pair_does_not_break_a_table():
    doc = documents("tot_semantic", EXAMPLES)[0]
    rows = {"task": ["tot_semantic"], "response": ['{"answer": "\\ud800"}']}
    scored = score_batch(pyarrow.table(rows | {"doc": [json.dumps(doc)]}))
    assert scored["published_answer"].to_pylist() == ["\\ud800"]


@pytest.mark.parametrize("form", [None, "arrow"])
def test_datasets_maps_it_over_two_processes(form):
    from datasets import Dataset

    scored = Dataset.from_dict(BATCH).with_format(form).map(
        score_batch, batched=True, batch_size=5, writer_batch_size=5, num_proc=2
    )  # fmt: skip
    assert scored.with_format(None).to_dict() == score_batch(BATCH)


@pytest.mark.ray
@pytest.mark.parametrize("form", ["numpy", "pandas", "pyarrow"])
def test_ray_maps_it_over_two_processes(form):
    import ray

    ray.init(num_cpus=2, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
             ignore_reinit_error=True)  # fmt: skip
    data = ray.data.from_arrow(pyarrow.table(BATCH)).repartition(2)
    scored = data.map_batches(score_batch, batch_format=form, batch_size=5)
    rows = sorted(scored.take_all(), key=lambda row: row["id"])
    found = {name: [row[name] for row in rows] for name in rows[0]}
    assert without_nan(found) == score_batch(BATCH)
