"""Which files a run is made of, and what tables call it."""

import json
from pathlib import Path

import pytest

from tests.answers import write
from utils.core.errors import ToolError
from utils.runs.find import find_runs


NAME = "samples_{}_2026-01-0{}T00-00-00.123456.jsonl"
RESULTS = "results_2026-01-0{}T00-00-00.123456.json"
RUNS = ["a tcp_long 1", "a tcp_long 2", "a tcp_short 1", "b tcp_long 3", "b gsm8k 3"]


def put(folder: Path, day: int, **results: object) -> None:
    """Write the results of a day, as the harness does."""
    (folder / RESULTS.format(day)).write_text(json.dumps(results))


@pytest.fixture
def outputs(tmp_path):
    """The output folder of two models, of which one was run twice."""
    for model, task, day in map(str.split, RUNS):
        (tmp_path / model).mkdir(exist_ok=True)
        (tmp_path / model / NAME.format(task, day)).touch()
    put(tmp_path / "b", 3, model_name="org/b", versions={"tcp_long": 1.1})
    return tmp_path


def found(*arguments: object) -> dict[str, list[str]]:
    """Return the names of the runs and of their files."""
    return {
        run.name: [file.path.name for file in run.files]
        for run in find_runs([str(x) for x in arguments])
    }


def test_a_folder_has_the_last_run_of_each_task_of_each_model(outputs):
    last = [NAME.format("tcp_long", 2), NAME.format("tcp_short", 1)]
    others = [NAME.format("tcp_long", 3)]
    names = {name: sorted(files) for name, files in found(outputs).items()}
    assert names == {"a": last, "org/b": others}
    assert found(f"B={outputs / 'b'}") == {"B": others}


def test_a_run_tells_the_versions_that_its_last_results_have(outputs):
    a, b = find_runs([str(outputs)])
    assert (a.version("tcp_long"), b.version("tcp_long")) == (None, "1.1")
    assert b.version("tcp_short") is None
    (outputs / "b" / NAME.format("tcp_short", 1)).touch()
    versions = {"tcp_long": 1, "tcp_short": 1.0}
    put(outputs / "b", 1, model_name="org/b", versions=versions)
    [b] = find_runs([str(outputs / "b")])
    assert (b.version("tcp_long"), b.version("tcp_short")) == ("1.1", "1.0")


def test_samples_of_several_tasks_in_a_folder_are_one_run(outputs):
    paths = [outputs / "a" / NAME.format(task, 1) for task in ("tcp_long", "tcp_short")]
    assert found(*paths) == {"a": [path.name for path in paths]}


def test_a_file_is_called_by_its_name_or_the_one_that_it_is_given(tmp_path):
    path = tmp_path / "x=1.jsonl.gz"
    path.touch()
    assert found(path) == {"x=1": [path.name]}
    for name in ("A", "seed=1", "A="):
        assert found(f"{name}={path}") == {name: [path.name]}


BATCH = [{"response": None}, {"response": {"body": {"model": "org/served"}}}]
NAMED = {
    "batch": ([{"custom_id": "x"} | line for line in BATCH], "org/served"),
    "failed": ([{"custom_id": "x"} | BATCH[0]], "x"),
    "answers": (BATCH, "x"),
    "damaged": (["{"], "x"),
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_batch_is_called_by_its_model(tmp_path, kind):
    lines, name = NAMED[kind]
    path = write(tmp_path / "x.jsonl", *lines)
    assert [*found(path)] == [name]
    assert [*found(f"mine={path}")] == ["mine"]


UNCLEAR = [
    (["a/{0}", "a/{1}"], "a/{1}: a second run is called 'a'; name them by NAME=PATH"),
    (["A=a", "A=b"], "a second run is called 'A'"),
    (["A="], "'A=': names no file or folder; give PATH"),
    (["A=."], "holds the samples of 2 models; name one folder"),
    (["empty"], "empty: has no samples of the pack's tasks; run with --log_samples"),
]


@pytest.mark.parametrize("arguments, expected", UNCLEAR)
def test_what_is_not_one_run_is_named(outputs, monkeypatch, arguments, expected):
    monkeypatch.chdir(outputs)
    (outputs / "empty").mkdir()
    names = [NAME.format("tcp_long", day) for day in (1, 2)]
    with pytest.raises(ToolError) as error:
        find_runs([argument.format(*names) for argument in arguments])
    assert expected.format(*names) in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "\xff", "[" * 100_000])
def test_results_that_cannot_be_read_are_named(outputs, text):
    path = outputs / "b" / RESULTS.format(3)
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ToolError) as error:
        find_runs([str(outputs)])
    assert str(error.value).startswith(f"{path}: is not ")


@pytest.mark.parametrize("results", [{"model_name": 5}, {"versions": []}, {}])
def test_results_without_names_and_versions_tell_none(outputs, results):
    put(outputs / "b", 3, **results)
    (run,) = find_runs([str(outputs / "b")])
    assert (run.name, run.version("tcp_long")) == ("b", None)
