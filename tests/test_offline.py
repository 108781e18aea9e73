"""Packs for machines without a network: made, moved, interrupted, checked, run."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import datasets
import pytest
from lm_eval.utils import handle_non_serializable, hash_string

from tests.conftest import EXAMPLES, ROOT, run_python, run_tasks
from tests.test_sources import AS_COMMAND_LINE
from utils.packs import offline
from utils.core.families import scorer
from utils.packs.sources import LICENCES, as_in_file


LOCAL = [
    "--allow-partial",
    *(f"--source={family}={EXAMPLES / 'data'}" for family in LICENCES),
]


def make(folder: Path, *arguments: object) -> int:
    return offline.main([str(folder), *map(str, arguments)])


def doc_hashes(output: Path) -> dict[str, list[str]]:
    """Return the `doc_hash`es of each task that a run of the harness wrote."""
    found = {}
    for path in sorted(output.rglob("samples_*.jsonl")):
        name = path.stem.removeprefix("samples_").rpartition("_")[0]
        found[name] = [json.loads(x)["doc_hash"] for x in path.read_text().splitlines()]
    return found


def run_pack(folder: Path, tasks: list[str], cwd: Path) -> dict[str, list[str]]:
    """Run tasks of a pack, with no network and no cache, and return the `doc_hash`es."""
    cwd.mkdir()
    samples = run_tasks(folder, tasks, cwd)
    return {name: [x["doc_hash"] for x in found] for name, found in samples.items()}


def expected_documents(path: Path, task: str) -> datasets.Dataset:
    """Return a task's documents of an upstream file."""
    rows = datasets.load_dataset("json", data_files={"test": str(path)}, split="test")
    return scorer(task).process_docs(rows)


def expected_hashes(documents: datasets.Dataset) -> list[str]:
    """Return the `doc_hash`es that the harness gives to documents."""
    return [
        hash_string(
            json.dumps(
                doc, indent=2, default=handle_non_serializable, ensure_ascii=False
            )
        )
        for doc in documents
    ]


def loader(pack: Path):
    """Return the `load` of a pack."""
    scope = {"__file__": str(pack / "local_data.py"), "__name__": "local_data"}
    exec((pack / "local_data.py").read_text(), scope)
    return scope["load"]


def test_packs_of_the_real_data_run_offline_and_can_be_moved(shared, tmp_path):
    pack = tmp_path / "pack"
    tasks = ["tot_arithmetic", "timebench"]
    sources = [f"--source={family}={shared}" for family in ("tot", "timebench")]
    assert make(pack, "--tasks", ",".join(tasks), *sources) == 0
    manifest = json.loads((pack / "manifest.json").read_text())["data"]
    assert manifest["tot_arithmetic.jsonl"]["rows"] == 1850
    assert manifest["tracie_timebench.jsonl"]["upstream_revision"]
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    shutil.move(pack, moved)
    assert make(moved, "--check") == 0
    for name, entry in manifest.items():
        (path,) = shared.glob(f"{entry['family']}/{name}")
        task = entry["tasks"][0]
        made = scorer(task).process_docs(loader(moved)(name)["test"])
        assert list(made) == list(expected_documents(path, task)), name
    hashes = run_pack(moved, [task], tmp_path / "run")[task]
    assert hashes == expected_hashes(made)


def test_a_pack_of_every_task_has_the_documents_of_the_examples(tmp_path, dummy_run):
    pack = tmp_path / "pack"
    assert make(pack, *LOCAL) == 0
    roots = ["temporal_reasoning", "tot_separate", "timebench_situatedgen"]
    hashes = run_pack(pack, roots, tmp_path / "run")
    expected = doc_hashes(dummy_run)
    assert hashes == {name: expected[name] for name in hashes}
    assert len(hashes) == 22


def test_running_twice_changes_nothing(tmp_path, capsys):
    def content() -> dict[Path, bytes]:
        return {x: x.read_bytes() for x in tmp_path.rglob("*") if x.is_file()}

    assert make(tmp_path, "--tasks", "tcp", *LOCAL) == 0
    first = content()
    assert make(tmp_path, "--tasks", "tcp", *LOCAL) == 0
    assert content() == first
    assert capsys.readouterr().err.count("8 rows, of 300, there already") == 2


def test_other_rows_of_a_source_replace_those_there(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(EXAMPLES / "data", source)
    arguments = ("--tasks", "tcp_short", f"--source=tcp={source}", "--allow-partial")
    assert make(tmp_path / "pack", *arguments) == 0
    file = source / "TCP_short.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:5]))
    assert make(tmp_path / "pack", *arguments) == 0
    manifest = json.loads((tmp_path / "pack" / "manifest.json").read_text())
    assert manifest["data"]["TCP_short.jsonl"]["rows"] == 5
    assert make(tmp_path / "pack", "--check") == 0


def test_check_knows_an_unfinished_pack_and_a_false_manifest(tmp_path, capsys):
    assert make(tmp_path, "--tasks", "tcp_short", *LOCAL) == 0
    file = tmp_path / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest["data"]["TCP_short.jsonl"] |= {"rows": 3, "fingerprint": "0"}
    file.write_text(json.dumps(manifest))
    assert make(tmp_path, "--check") == 1
    said = capsys.readouterr().err
    assert "has rows 8, the manifest 3" in said
    assert "the manifest 0" in said
    file.write_text(json.dumps(manifest | {"complete": False}))
    assert make(tmp_path, "--check") == 1
    assert "is not complete" in capsys.readouterr().err


def test_a_second_run_adds_tasks(tmp_path):
    assert make(tmp_path, "--tasks", "tcp_short", *LOCAL) == 0
    assert not (tmp_path / "tcp.yaml").exists()
    assert make(tmp_path, "--tasks", "tcp_long", *LOCAL) == 0
    assert (tmp_path / "tcp_short.yaml").exists()
    assert (tmp_path / "tcp.yaml").exists()
    assert make(tmp_path, "--check") == 0


def test_a_second_run_names_the_command_of_its_own_tasks(tmp_path, capsys):
    for tasks in ("tcp_short", "tot_arithmetic,tcp_long", "tcp"):
        assert make(tmp_path, "--tasks", tasks, *LOCAL) == 0
        command = capsys.readouterr().err.splitlines()[-1]
        assert command.endswith(f" --tasks {tasks}")
    assert make(tmp_path, "--tasks", "tcp,tcp_long", *LOCAL) == 0
    command = capsys.readouterr().err.splitlines()[-1]
    assert command.endswith(" --tasks tcp_long,tcp_short")  # each once


def test_check_names_what_differs(tmp_path, capsys):
    assert make(tmp_path, "--tasks", "tcp", *LOCAL) == 0
    data = tmp_path / "data" / "TCP_short.jsonl"
    content = bytearray(data.read_bytes())
    content[100] ^= 1
    data.write_bytes(content)
    (tmp_path / "local_data.py").unlink()
    (tmp_path / "more.yaml").write_text("task: more\n")
    (tmp_path / "data" / "more.jsonl").write_text("")
    assert make(tmp_path, "--check") == 1
    lines = capsys.readouterr().err.split("\n")
    for line in (
        "data/TCP_short.jsonl: has another SHA-256",
        "local_data.py: is missing",
        "more.yaml: is not in the manifest",
        "data/more.jsonl: is not in the manifest",
    ):
        assert any(found.startswith(f"{tmp_path}/{line}") for found in lines)


def test_a_killed_run_leaves_whole_files_and_goes_on(capsys, tmp_path):
    command = [sys.executable, "-m", "utils", "offline", str(tmp_path), *LOCAL]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    while len(list(tmp_path.glob("data/*.jsonl"))) < 3 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    there = list(tmp_path.glob("data/*.jsonl"))
    assert 3 <= len(there)
    for path in there:
        assert path.read_bytes() == (EXAMPLES / "data" / path.name).read_bytes()
    assert make(tmp_path, *LOCAL) == 0
    assert capsys.readouterr().err.count("there already") >= 2
    assert make(tmp_path, "--check") == 0


@pytest.mark.parametrize("place", [".", "data"])
def test_what_a_kill_leaves_is_named_and_in_nobody_s_way(capsys, tmp_path, place):
    (tmp_path / place).mkdir(exist_ok=True)
    part = tmp_path / place / ".temporal-eval-0123456789abcdef.part"
    part.write_text("half a fi")
    for arguments in (("--tasks", "tcp_short", *LOCAL), ("--check",)):
        assert make(tmp_path, *arguments) == 0
        said = f"{part}: is left of a run that was killed; it can be deleted"
        assert said in capsys.readouterr().err
    assert part.read_text() == "half a fi"


def test_the_examples_are_what_the_tool_makes_of_their_data(tmp_path):
    for name in ("lm_eval_tasks", "utils", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in (tmp_path / "examples").glob("*.*"):
        path.unlink()
    (tmp_path / "examples" / "data").rename(tmp_path / "data")
    (tmp_path / "examples" / "responses").rename(tmp_path / "responses")
    done = run_python(
        *("-m", "utils", "offline", "examples", "--link", "--allow-partial"),
        *(f"--source={family}=data" for family in LICENCES),
        cwd=tmp_path,
        PYTHONPATH=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "responses").rename(tmp_path / "examples" / "responses")
    for path in [x for x in EXAMPLES.rglob("*") if x.suffix != ".pyc" and x.is_file()]:
        made = tmp_path / "examples" / path.relative_to(EXAMPLES)
        assert made.read_bytes() == path.read_bytes(), (
            f"{path} is stale: temporal-eval offline examples --link --allow-partial"
            " --source tcp=examples/data --source tot=examples/data"
            " --source timebench=examples/data"
        )


def test_examples_that_left_their_checkout_say_so_in_one_line(capsys, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(EXAMPLES, copy)
    said = f"{copy}: belongs to a checkout, and {tmp_path / 'lm_eval_tasks'}"
    assert make(copy, "--check") == 1
    assert capsys.readouterr().err.strip().startswith(f"{said} is not there; put")
    readme = (copy / "README.md").read_text().splitlines()
    (words,) = [shlex.split(line) for line in readme if line.startswith("    ")]
    done = run_python("-c", AS_COMMAND_LINE, words[4], words[-1], cwd=copy)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().split("\n")[-1].startswith(said)
    (tmp_path / "lm_eval_tasks").symlink_to(ROOT / "lm_eval_tasks")
    assert make(copy, "--check") == 0


def test_a_run_over_a_changed_byte_is_one_line_that_names_the_file(tmp_path):
    pack = tmp_path / "pack"
    assert make(pack, *LOCAL) == 0
    path = pack / "data" / "TCP_long.jsonl"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    done = run_python("-c", AS_COMMAND_LINE, pack, "tcp", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith(f"{path}: has SHA-256 ")
    assert last.endswith("or make it again with `temporal-eval offline`")


def test_no_data_file_can_be_changed_unseen(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    load = loader(tmp_path)
    files = list((tmp_path / "data").iterdir())
    assert len(files) == 21
    for path in files:
        content = path.read_bytes()
        assert load(path.name)["test"].info.config_name == path.stem
        for changed in (content[:-1], content + b"\n", b"", content.swapcase()):
            path.write_bytes(changed)
            with pytest.raises(ValueError, match=f"{path}: has SHA-256"):
                load(path.name)
        path.unlink()
        with pytest.raises(ValueError, match=f"{path}: is missing, or not a file"):
            load(path.name)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 1}', "[" * 100_000])
def test_a_damaged_manifest_stops_a_run_in_one_line(tmp_path, content):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "manifest.json").write_text(content)
    said = "manifest.json: is damaged, or does not name data/TCP_"
    with pytest.raises(ValueError, match=said) as error:
        loader(tmp_path)("TCP_long.jsonl")
    assert "\n" not in str(error.value)


def test_an_unfinished_pack_or_a_pipe_in_place_of_data_stops_a_run(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "data" / "TCP_long.jsonl"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError, match=f"{path}: is missing, or not a file"):
        loader(tmp_path)(path.name)
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"complete": False}))
    with pytest.raises(ValueError, match="says that the pack is not complete"):
        loader(tmp_path)("TCP_short.jsonl")


def test_the_command_that_is_printed_runs_as_it_stands(capsys, tmp_path):
    pack = tmp_path / "my model's" / "model"
    assert make(pack, "--tasks", "tcp_short", *LOCAL) == 0
    printed = shlex.split(capsys.readouterr().err.strip().split("\n")[-1])
    named = shlex.split(json.loads((pack / "manifest.json").read_text())["command"])
    assert f"    {shlex.join(named)}\n" in (pack / "README.md").read_text()
    assert printed == [str(pack) if word == "." else word for word in named]
    assert named[:5] == ["lm_eval", "--model", "dummy", "--include_path", "."]
    assert len(run_tasks(Path(named[4]), [named[-1]], pack)["tcp_short"]) == 8


def test_moments_that_a_table_makes_of_texts_are_texts_again():
    rows = [
        {
            "start": "2024-03-01 00:00",
            "end": "2024-04-12",
            "away": {"A": ["2024-03-02"]},
        },
        {"start": "2024-03-01 09:30", "end": "2024-04-13", "away": {"B": None}},
    ]
    read = [
        {
            "start": datetime.fromisoformat(row["start"]),
            "end": datetime.fromisoformat(row["end"]),
            "away": {
                name: days and [datetime.fromisoformat(day) for day in days]
                for name, days in ({"A": None, "B": None} | row["away"]).items()
            },
        }
        for row in rows
    ]
    assert as_in_file(read) == [rows[0], rows[1] | {"away": {}}]
