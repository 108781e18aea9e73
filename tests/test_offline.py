"""Packs for machines without a network: made, moved, interrupted, checked."""

import errno
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import datasets
import pytest
from lm_eval.tasks._yaml_loader import load_yaml
from lm_eval.utils import handle_non_serializable, hash_string

from tests.conftest import EXAMPLES, PACK, ROOT, run_tasks
from utils import offline


LOCAL = [f"--source={family}={EXAMPLES / 'data'}" for family in offline.LICENCES]


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


def expected_hashes(path: Path, family: str) -> list[str]:
    """Return the `doc_hash`es of the documents of an upstream file."""
    utils = __import__(f"lm_eval_tasks.{family}.utils", fromlist=["utils"])
    rows = datasets.load_dataset("json", data_files={"test": str(path)}, split="test")
    return [
        hash_string(
            json.dumps(
                doc, indent=2, default=handle_non_serializable, ensure_ascii=False
            )
        )
        for doc in utils.process_docs(rows)
    ]


def test_packs_of_the_real_data_run_offline_and_can_be_moved(shared, tmp_path):
    pack = tmp_path / "pack"
    tasks = ["tot_arithmetic", "timebench"]
    sources = [f"--source={family}={shared}" for family in ("tot", "timebench")]
    assert make(pack, "--tasks", ",".join(tasks), *sources) == 0
    manifest = json.loads((pack / "manifest.json").read_text())["data"]
    assert manifest["tot_arithmetic.jsonl"]["rows"] == 1850
    assert manifest["tracie_timebench.jsonl"]["upstream_revision"]
    hashes = run_pack(pack, tasks, tmp_path / "one")
    assert len(hashes) == 16
    for name, entry in manifest.items():
        (path,) = shared.glob(f"{entry['family']}/{name}")
        assert hashes[entry["tasks"][0]] == expected_hashes(path, entry["family"])
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    shutil.move(pack, moved)
    assert make(moved, "--check") == 0
    assert run_pack(moved, ["tot_arithmetic"], tmp_path / "two") == {
        "tot_arithmetic": hashes["tot_arithmetic"]
    }


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
    assert capsys.readouterr().err.count("8 rows, there already") == 2


def test_other_rows_of_a_source_replace_those_there(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(EXAMPLES / "data", source)
    arguments = ("--tasks", "tcp_short", f"--source=tcp={source}")
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
        "data/TCP_short.jsonl: has SHA-256",
        "local_data.py: is missing",
        "more.yaml: is not in the manifest",
        "data/more.jsonl: is not in the manifest",
    ):
        assert any(found.startswith(f"{tmp_path}/{line}") for found in lines)


def test_a_killed_run_leaves_whole_files_and_goes_on(tmp_path):
    command = [sys.executable, "-m", "utils.offline", str(tmp_path), *LOCAL]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    while len(list(tmp_path.glob("data/*.jsonl"))) < 3 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.wait()
    there = list(tmp_path.glob("data/*.jsonl"))
    assert 3 <= len(there)
    for path in there:
        assert path.read_bytes() == (EXAMPLES / "data" / path.name).read_bytes()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.count("there already") >= 2
    assert make(tmp_path, "--check") == 0
    assert not list(tmp_path.rglob("*.part"))


def test_the_examples_are_what_the_tool_makes_of_their_data(tmp_path):
    for name in ("lm_eval_tasks", "utils", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for path in (tmp_path / "examples").glob("*.*"):
        if path.name not in ("local_data.py",):
            path.unlink()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "utils.offline", "examples", "--link"),
            *(f"--source={family}=examples/data" for family in offline.LICENCES),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    for path in [x for x in EXAMPLES.rglob("*") if x.suffix != ".pyc" and x.is_file()]:
        made = tmp_path / "examples" / path.relative_to(EXAMPLES)
        assert made.read_bytes() == path.read_bytes(), (
            f"{path} is stale: python -m utils.offline examples --link"
            " --source tcp=examples/data --source tot=examples/data"
            " --source timebench=examples/data"
        )


class Gated(FileNotFoundError):
    """Stands for what `datasets` raises of a gated or missing dataset."""


@pytest.mark.parametrize(
    "error, said",
    [
        (ConnectionError("Couldn't reach 'x' on the Hub"), "with a network"),
        (Gated("Dataset 'x' is a gated dataset on the Hub"), "accept the terms"),
        (FileNotFoundError("Dataset 'x' doesn't exist on the Hub"), "your access"),
        (RuntimeError("Revision 'y' doesn't exist\nmore"), "mend the revision"),
        (PermissionError(13, "Permission denied", "cache"), "make it readable"),
        (RuntimeError("what nobody thought of"), "--traceback shows more"),
    ],
)
def test_an_error_of_loading_is_one_line(monkeypatch, capsys, tmp_path, error, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    assert make(tmp_path, "--tasks", "tcp_short") == 1
    (line,) = capsys.readouterr().err.split("\n", 1)[1].strip().split("\n")
    assert line.startswith("Beanbagdzf/TCP/TCP_short.jsonl: ")
    assert said in line


def test_a_full_disk_leaves_nothing_half_written(monkeypatch, capsys, tmp_path):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert make(tmp_path, "--tasks", "tcp_short", *LOCAL) == 1
    assert "free space on the disk and run again" in capsys.readouterr().err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "content, said",
    [
        (None, "holds no file TCP_short.jsonl; put it there"),
        ("{", "line 1: Expecting property name"),
        ('{"index": 0}\n', "column 'dialogue', 'question', 'answer' is missing"),
        ("", "TCP_short.jsonl: has no rows"),
    ],
)
def test_bad_files_stop_with_their_place(capsys, tmp_path, content, said):
    folder = tmp_path / "source"
    folder.mkdir()
    if content is not None:
        (folder / "TCP_short.jsonl").write_text(content)
    assert (
        make(tmp_path / "pack", "--tasks", "tcp_short", f"--source=tcp={folder}") == 1
    )
    assert said in capsys.readouterr().err.strip().split("\n")[-1]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--tasks", "tcp_medium"], "tcp_medium: no such task or group"),
        (["--source", "tpc=."], "--source tpc=.: give one of tcp, tot, timebench"),
        (["--source", "tcp=nowhere"], "--source tcp=nowhere: give one of"),
        (["--check"], "holds no manifest.json; make the pack first"),
    ],
)
def test_wrong_arguments_are_one_line(capsys, tmp_path, arguments, said):
    assert make(tmp_path, *arguments) == 1
    assert said in capsys.readouterr().err


def test_a_traceback_is_shown_when_asked(tmp_path):
    with pytest.raises(offline.PackError):
        make(tmp_path, "--check", "--traceback")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Say nothing."""


def test_timebench_loads_from_urls_by_its_own_configuration(tmp_path):
    # The real URLs cannot be reached here: a server on this machine stands for theirs.
    config = load_yaml(PACK / "timebench" / "timebench_tracie.yaml")
    url = config["dataset_kwargs"]["data_files"]["test"]
    handler = partial(Quiet, directory=str(EXAMPLES / "data"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        local = f"http://127.0.0.1:{server.server_port}/{url.rpartition('/')[2]}"
        rows = datasets.load_dataset(
            config["dataset_path"],
            data_files={"test": local},
            cache_dir=str(tmp_path),
        )[config["test_split"]]
        server.shutdown()
    assert len(config["process_docs"](rows)) == 8
