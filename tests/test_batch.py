"""`score_batch` gives what `score` gives, whatever kind of batch an engine hands over."""

import json
from datetime import datetime

import numpy
import pandas
import pyarrow
import pytest

from tests.answers import recorded
from tests.conftest import EXAMPLES, ROOT
from utils import score_batch
from utils.adapters import score_batch as module
from utils.core.task_scorers import scorer


COLUMNS = ["task", "doc", "response"]
ADDED = ["scores", "published", "flexible", "extracted", "reason"]
ADDED += ["published_answer", "flexible_answer", "error"]
ANSWERED = sorted(x.stem for x in (EXAMPLES / "responses" / "careful").iterdir())
FIRST_TASK = "tcp_long"
[(DOC, RESPONSE), *_] = recorded(FIRST_TASK)


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, dict, str]]:
    """The recorded answers of all tasks, with their tasks and documents."""
    return [(task, *pair) for task in ANSWERED for pair in recorded(task)]


@pytest.fixture
def batch(rows) -> dict[str, list]:
    """Rows twice, with faults in the last two.

    Good rows are first: engines take the type of a column from the first batch they see.
    """
    tasks, docs, responses = map(list, zip(*(rows * 2)))
    docs = [*map(json.dumps, docs)]
    docs[-1], tasks[-2] = "{", "tcp_lnog"
    ids = [*range(len(tasks))]
    return {"id": ids, "task": tasks, "doc": docs, "response": responses}


# A kind of batch: how it is made of lists, and lists of it.
KINDS = {
    dict: (dict, dict),
    numpy.ndarray: (
        lambda x: {name: numpy.array(x[name], object) for name in x},
        lambda x: {name: [*x[name]] for name in x},
    ),
    pandas.DataFrame: (
        lambda x: pandas.DataFrame(x, index=[f"row {n}" for n in x["id"]]),
        lambda x: x.astype(object).where(x.notna(), None).to_dict("list"),
    ),
    pyarrow.Table: (pyarrow.table, lambda x: x.to_pydict()),
}


def without_nan(batch: dict[str, list]) -> dict[str, list]:
    return {n: [None if x != x else x for x in cells] for n, cells in batch.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_keeps_its_type_columns_and_order_and_gets_the_verdicts(
    kind, rows, batch
):
    make, lists = KINDS[kind]
    given = make(batch)
    scored = score_batch(given)
    found = without_nan(lists(scored))
    assert (type(scored), [*found]) == (type(given), [*batch, *ADDED])
    assert lists(given) == batch == {name: found[name] for name in batch}
    assert kind is not pandas.DataFrame or [*scored.index] == [*given.index]
    for n, (task, doc, response) in enumerate(rows):
        verdict = scorer(task).explain(doc, response)
        headline = scorer(task).headline.values() or ("", "")
        assert [found[name][n] for name in ADDED] == [
            json.dumps(verdict.scores),
            *(verdict.scores.get(name) for name in (*headline, "extracted")),
            *(verdict.reason, verdict.published, verdict.flexible, None),
        ]


DATE_TASK, DATE_DOC = "timebench_date_arithmetic", {"question": "When is it?"}
BAD = [
    (
        DATE_TASK,
        DATE_DOC | {"golds": ["next year"]},
        RESPONSE,
        "its document is not one",
    ),
    (None, DOC, RESPONSE, "task 'None' is unknown; the groups are"),
    ("tcp_lnog", DOC, RESPONSE, "task 'tcp_lnog' is unknown; did you mean tcp_long"),
    (FIRST_TASK, None, RESPONSE, "'doc' is a NoneType, "),
    (FIRST_TASK, "[" * 100_000, RESPONSE, "recursion"),
    (FIRST_TASK, DOC | {"answer": None}, RESPONSE, "(has no 'answer')"),
    (FIRST_TASK, {}, RESPONSE, f"its document is not one of {FIRST_TASK} (has no '"),
    (FIRST_TASK, {name: 1 for name in DOC}, RESPONSE, "its document is not one of"),
    (FIRST_TASK, DOC, b"bytes", "'response' is a bytes; "),
]


def test_bad_rows_say_why_and_leave_the_others():
    *columns, faults = zip(*BAD, (FIRST_TASK, DOC, RESPONSE, None))
    scored = score_batch(dict(zip(COLUMNS, map(list, columns))))
    *errors, no_error = scored["error"]
    assert all(fault in error for fault, error in zip(faults, errors))
    assert (no_error, scored["reason"][-1] is None) == (None, False)
    assert {cell for name in ADDED[:-1] for cell in scored[name][:-1]} == {None}


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_without_a_column_is_refused(kind, batch):
    del batch["doc"]
    with pytest.raises(ValueError, match="has no column 'doc'; give 'task', 'doc'"):
        score_batch(KINDS[kind][0](batch))


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_is_scored_again_has_the_new_verdicts_alone(kind, batch):
    make, lists = KINDS[kind]
    few = {name: cells[-3:] for name, cells in batch.items()}
    old = few | dict.fromkeys(ADDED, ["old"] * 3)
    again = without_nan(lists(score_batch(make(old))))
    assert again == score_batch(few)
    assert [*lists(score_batch(score_batch(make(few))))] == [*few, *ADDED]


def test_columns_of_unequal_length_are_refused(batch):
    with pytest.raises(ValueError, match="shorter"):
        score_batch(batch | {"response": batch["response"][1:]})


def test_texts_and_lists_of_texts_may_stand_in_one_frame():
    responses = [RESPONSE, numpy.array([RESPONSE, ""], object), [RESPONSE]]
    frame = pandas.DataFrame(
        {"task": FIRST_TASK, "doc": json.dumps(DOC), "response": responses}
    )
    lone, several, single = score_batch(frame)["reason"]
    assert (several, single) == ([lone, "no_answer"], [lone])


def test_a_table_without_rows_has_the_types_of_others():
    for response_type in (pyarrow.string(), pyarrow.list_(pyarrow.string())):
        types = dict(zip(COLUMNS, (pyarrow.string(), pyarrow.string(), response_type)))
        empty = pyarrow.schema(types).empty_table()
        assert score_batch(empty).schema.field("reason").type == response_type
    types = score_batch(pandas.DataFrame({name: [] for name in COLUMNS})).dtypes
    assert [str(types[name]) for name in ("extracted", "error")] == [
        "float64",
        "string",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_responses_gets_a_list_in_each_cell(kind, batch):
    make, lists = KINDS[kind]
    few = {name: cells[-3:] for name, cells in batch.items()}
    lone = score_batch(few)
    several = few | {"response": [[x, "", x] for x in few["response"]]}
    scored = lists(score_batch(make(several)))
    for name in ADDED:
        assert [[x[0], x[2]] for x in scored[name]] == [[x, x] for x in lone[name]]
    assert "no_answer" in scored["reason"][0]


def test_documents_may_be_objects_in_which_arrow_adds_nulls(rows):
    rows = [row for row in rows if isinstance(row[1].get("question"), str)]
    rows = [row for row in rows if not isinstance(row[1].get("dialogue"), list)]
    table = pyarrow.table(dict(zip(COLUMNS, map(list, zip(*rows)))))
    assert None in table.to_pylist()[0]["doc"].values()
    expected = [json.dumps(scorer(task).explain(*row).scores) for task, *row in rows]
    for batch in (table, table.to_pandas()):  # whose lists are arrays of NumPy
        assert [str(x) for x in score_batch(batch)["scores"]] == expected


TIMES = [  # what Arrow makes of a text that is a date or a time, and the text
    (datetime(2021, 5, 3), "2021-05-03"),
    (datetime(2021, 5, 3, 14, 30), "2021-05-03 14:30"),
    ({"a": [datetime(2021, 5, 3, 0, 5)], "b": None}, {"a": ["2021-05-03 00:05"]}),
]


@pytest.mark.parametrize(("value", "text"), TIMES)
def test_times_that_arrow_read_are_the_texts_that_they_were(value, text):
    assert module._from_arrow(value) == text


UNREAD = [  # a document and a response, and what is said of them
    ("{", "a", "'doc' cannot be read (JSONDecodeError("),
    ([1], "a", "'doc' is a list, 'response' is a str"),
    (DOC, 5, "'doc' is a dict, 'response' is a int"),
]


@pytest.mark.parametrize(("doc", "response", "fault"), UNREAD)
def test_what_is_no_document_or_no_response_is_said_with_the_fix(doc, response, fault):
    batch = {"task": [FIRST_TASK], "doc": [doc], "response": [response]}
    [error] = score_batch(batch)["error"]
    assert error.startswith(fault)
    assert error.endswith("; give a dict and a str, as the harness logs them")


def test_half_a_surrogate_pair_does_not_break_a_table():
    [doc, _], *_ = recorded("tot_semantic")
    rows = {"task": ["tot_semantic"], "response": ['{"answer": "\\ud800"}']}
    scored = score_batch(pyarrow.table(rows | {"doc": [json.dumps(doc)]}))
    assert scored["published_answer"].to_pylist() == ["\\ud800"]


@pytest.mark.parametrize("form", [None, "arrow"])
def test_datasets_maps_it_over_two_processes(form, batch):
    from datasets import Dataset

    data = Dataset.from_dict(batch).with_format(form)
    sizes = {"batch_size": 5, "writer_batch_size": 5, "num_proc": 2}
    scored = data.map(score_batch, batched=True, **sizes)
    assert scored.with_format(None).to_dict() == score_batch(batch)


@pytest.mark.ray
@pytest.mark.parametrize("form", ["numpy", "pandas", "pyarrow"])
def test_ray_maps_it_over_two_processes(form, batch):
    import ray

    env = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init(num_cpus=2, runtime_env=env, ignore_reinit_error=True)
    data = ray.data.from_arrow(pyarrow.table(batch)).repartition(2)
    scored = data.map_batches(score_batch, batch_format=form, batch_size=5)
    rows = sorted(scored.take_all(), key=lambda row: row["id"])
    found = {name: [row[name] for row in rows] for name in rows[0]}
    assert without_nan(found) == score_batch(batch)
