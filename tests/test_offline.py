"""Packs for machines without a network: made, moved, interrupted, checked, run."""

import json
import os
import re
import shlex
import shutil
import signal
from pathlib import Path
from unittest.mock import Mock

import datasets
import huggingface_hub
import pytest
from filelock import FileLock

from tests.conftest import EXAMPLES, ROOT
from tests.examples import SOURCES
from utils.__main__ import main
from utils.core.documents import documents, documents_of, load
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer
from utils.packs import offline
from utils.packs.task_rows import Source, checked_lines, find_sources


pytestmark = pytest.mark.usefixtures("judged_here")


LOCAL = ["--allow-partial", *SOURCES]
TCP = ("--tasks", "tcp_short", *LOCAL)
ROWS = (EXAMPLES / "data" / "TCP_short.jsonl").read_text().splitlines(keepends=True)


def make(folder: Path, *arguments: object) -> int:
    return main(["offline", str(folder), *map(str, arguments)])


def content(folder: Path) -> dict[Path, bytes | str]:
    """Return path -> content, or target of a symlink, of all in a folder."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return {x: os.readlink(x) if x.is_symlink() else x.read_bytes() for x in paths}


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text())


def load_rows(pack: Path):
    """Return the rows that the `load` of a pack reads."""
    scope = {"__file__": str(pack / "local_data.py"), "__name__": "local_data"}
    exec((pack / "local_data.py").read_text(), scope)
    return scope["load"]("TCP_short.jsonl")["test"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A pack of TCP short; not to be changed."""
    folder = tmp_path_factory.mktemp("finished") / "pack"
    assert make(folder, *TCP) == 0
    return folder


@pytest.fixture
def pack(finished, tmp_path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "pack"))


def the_line(capsys) -> str:
    """Return the last line that was said."""
    return capsys.readouterr().err.strip().split("\n")[-1]


def test_packs_of_the_real_data_run_offline_and_can_be_moved(shared, tmp_path):
    made, moved = tmp_path / "pack", tmp_path / "elsewhere" / "moved"
    sources = [f"--source={family}={shared}" for family in ("tot", "timebench")]
    assert make(made, "--tasks", "tot_arithmetic,timebench_tracie", *sources) == 0
    moved.parent.mkdir()
    shutil.move(made, moved)
    assert make(moved, "--check") == 0
    found = manifest_of(moved)["data"]
    assert found["tot_arithmetic.jsonl"]["rows"] == 1850
    assert len(found["tracie_timebench.jsonl"]["upstream_revision"]) == 40
    rows = read_jsonl(shared / "timebench" / "tracie_timebench.jsonl")
    task = "timebench_tracie"
    assert [*documents(task, moved)] == documents_of(task, rows)


def test_a_pack_of_every_task_has_documents_and_worked_examples(tmp_path):
    assert make(tmp_path / "pack", *LOCAL) == 0
    names = ["temporal_reasoning", "tot_separate"]
    made, own = (load(names, x)[1]["tasks"] for x in (tmp_path / "pack", EXAMPLES))
    assert len(made) == 21
    for task in made:
        assert list(made[task].eval_docs) == list(own[task].eval_docs)
        assert list(made[task].fewshot_docs()) == list(own[task].fewshot_docs())


def test_a_second_run_changes_nothing_or_adds_the_tasks_that_it_names(pack, capsys):
    before = content(pack)
    assert make(pack, *TCP) == 0
    assert content(pack) == before
    assert "8 rows, of 300, there already" in capsys.readouterr().err
    assert len(documents("tcp_short", pack)) == 8
    assert make(pack, "--tasks", "tcp_long", *LOCAL) == 0
    assert the_line(capsys).endswith(" --tasks tcp_long")
    assert {f"tcp{x}.yaml" for x in ("", "_long", "_short")} <= {*os.listdir(pack)}
    assert len(documents("tcp_long", pack)) == 8  # though the pack was read before
    assert make(pack, "--check") == 0


def test_other_rows_of_a_source_replace_those_there(pack, tmp_path):
    text = "\ufeff" + "".join(ROWS[:5]).replace("\n", "\r\n")
    assert make_of(text, tmp_path, pack, "--allow-partial") == 0
    assert manifest_of(pack)["data"]["TCP_short.jsonl"]["rows"] == 5
    assert (pack / "data" / "TCP_short.jsonl").read_text() == "".join(ROWS[:5])
    assert make(pack, "--check") == 0


def test_rows_of_several_parts_may_differ_in_what_they_leave_out(tmp_path):
    tasks = [{f"task {x % 50}": x, f"part {x // 1000}": x} for x in range(1, 2101)]
    rows = [json.loads(ROWS[0]) | {"tasks": tasks_of_row} for tasks_of_row in tasks]
    rows[1500] |= {"tasks": {"task": 1.5}, "more": ["a"]}
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    assert make_of(text, tmp_path, tmp_path / "pack", "--allow-partial") == 0
    made = load_rows(tmp_path / "pack")
    assert len(made) == 2100 and made[1500]["tasks"]["task"] == 1.5


def test_the_command_that_is_printed_is_one_for_a_shell(capsys, tmp_path):
    pack = tmp_path / "my model's" / "model"
    assert make(pack, *TCP) == 0
    printed = shlex.split(the_line(capsys))
    assert printed[3:] == ["--include_path", str(pack), "--tasks", "tcp_short"]
    readme = (pack / "README.md").read_text()
    assert "\n    lm_eval --model dummy --include_path . --tasks tcp_short\n" in readme


@pytest.mark.parametrize("times", [0, 1, 3, 9])
def test_a_killed_run_leaves_whole_files_and_goes_on(monkeypatch, tmp_path, times):
    left, replace = [times], os.replace

    def interrupted(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        replace(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        patch.setattr(os, "unlink", lambda *_, **__: None)  # as after a SIGKILL
        assert make(tmp_path, *TCP) == 128 + signal.SIGINT
    assert list(tmp_path.rglob("*.part"))
    for path in tmp_path.glob("data/*.jsonl"):
        assert path.read_bytes() == (EXAMPLES / "data" / path.name).read_bytes()
    if times:
        assert make(tmp_path, "--check") == 1
    assert make(tmp_path, *TCP) == 0
    assert make(tmp_path, "--check") == 0


def test_a_second_maker_is_told_at_once(capsys, pack):
    with FileLock(pack / ".temporal-eval.lock"):
        assert make(pack, *TCP) == 1
    assert the_line(capsys).startswith(f"{pack}: another run is making this pack; wait")


def test_only_files_of_the_manifest_are_replaced(capsys, pack):
    for name in ("tcp.yaml", "notes.md"):
        (pack / name).write_text("mine")
    before = content(pack)
    assert make(pack, "--tasks", "tcp", *LOCAL) == 1
    assert the_line(capsys).startswith(f"{pack}/tcp.yaml: is not of the pack and in")
    assert content(pack) == before
    (pack / "tcp.yaml").unlink()
    assert make(pack, "--tasks", "tcp", *LOCAL) == 0
    assert (pack / "notes.md").read_text() == "mine"


def test_check_names_what_differs(pack, capsys):
    data = pack / "data" / "TCP_short.jsonl"
    data.write_bytes(data.read_bytes().swapcase())
    (pack / "local_data.py").unlink()
    (pack / "more.yaml").write_text("task: more\n")
    (pack / "more.py").write_text("")
    (pack / "data" / "more.jsonl").write_text("")
    assert make(pack, "--check") == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.removeprefix(f"{pack}/").split(";")[0] for line in lines] == [
        "data/TCP_short.jsonl: is missing, or not as it was made",
        "local_data.py: is missing, or not as it was made",
        "data/more.jsonl: is not in the manifest",
        "more.py: is not in the manifest",
        "more.yaml: is not in the manifest",
    ]


MANIFEST, FILES = manifest_of(EXAMPLES), manifest_of(EXAMPLES)["files"]
UNREAD = ["", "null", "[]", "{}", '{"files": 1}', "[" * 200_000]
DAMAGED = [
    *({"format": "another"}, {"files": []}, {"files": {}}, {"data": {"x.jsonl": {}}}),
    *({"files": FILES | {x: "0"}} for x in ("../x", "/etc/passwd")),
]
MANIFESTS = UNREAD + [json.dumps(MANIFEST | cells) for cells in DAMAGED]
OWN, LINKED = ["tcp.yaml", "data/x.part", ".git/config"], ["README.md", "data"]
REFUSED = [  # name, what is in the one file there or None for a symlink, message
    *(("manifest.json", x, "pack/manifest.json: is not the man") for x in MANIFESTS),
    *((x, "mine", f"pack: is not a pack and holds {x}; name a new") for x in OWN),
    *((x, None, f"pack/{x}: is a symlink, not of a pack; delete") for x in LINKED),
]


@pytest.mark.parametrize("arguments", [TCP, ("--check",)])
@pytest.mark.parametrize(("name", "text", "said"), REFUSED)
def test_what_is_no_sound_pack_is_refused_and_left_alone(
    capsys, pack, name, text, said, arguments
):
    if text is None:
        (pack / name).rename(pack.parent / "outside")
        (pack / name).symlink_to(pack.parent / "outside")
    else:
        shutil.rmtree(pack)
        (pack / name).parent.mkdir(parents=True)
        (pack / name).write_text(text)
    before = content(pack.parent)
    assert make(pack, *arguments) == 1
    assert said in the_line(capsys)
    assert content(pack.parent) == before


@pytest.mark.parametrize("text", UNREAD)
def test_a_damaged_manifest_ends_a_run_in_one_line(pack, text):
    (pack / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match="manifest.json: is damaged, or does not name"):
        load_rows(pack)


@pytest.mark.parametrize("change", [lambda x: x[:-1], lambda x: b"", bytes.swapcase])
def test_no_data_file_can_be_changed_unseen(pack, change):
    path = pack / "data" / "TCP_short.jsonl"
    assert load_rows(pack).info.config_name == "TCP_short"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=f"{path}: has SHA-256.*it again with"):
        load_rows(pack)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ValueError, match=f"{path}: is missing, or not a file"):
        load_rows(pack)


def test_a_pack_of_another_version_or_unfinished_is_refused(capsys, pack):
    path = pack / "manifest.json"
    text = path.read_text()
    path.write_text(text.replace('"tcp_short"', '"tcp_of_old"'))
    assert make(pack, *TCP) == 1
    assert "this version has no task tcp_of_old; make a new pack" in the_line(capsys)
    path.write_text(text.replace('"complete": true', '"complete": false'))
    assert make(pack, "--check") == 1
    assert "is not a complete pack" in the_line(capsys)
    with pytest.raises(ValueError, match="says that the pack is not complete"):
        load_rows(pack)


def make_of(text: str, folder: Path, pack: Path, *options: str) -> int:
    """Make a pack of TCP short whose rows are those of a text."""
    (folder / "source").mkdir()
    (folder / "source" / "TCP_short.jsonl").write_bytes(text.encode())
    source = f"--source=tcp={folder / 'source'}"
    return make(pack, "--tasks", "tcp_short", source, *options)


def row(**cells) -> str:
    return json.dumps(json.loads(ROWS[0]) | cells) + "\n"


def test_rows_of_ones_own_are_of_no_revision_of_the_publisher(capsys, tmp_path):
    """Not even as many as the benchmark has."""
    task, name = "timebench_tracie", "tracie_timebench.jsonl"
    (tmp_path / "source").mkdir()
    row_text = (EXAMPLES / "data" / name).read_text().splitlines()[0] + "\n"
    row_count, known = scorer(task).upstream
    (tmp_path / "source" / name).write_text(row_text * row_count)
    source = f"--source=timebench={tmp_path / 'source'}"
    assert make(tmp_path / "pack", "--tasks", task, source) == 0
    entry = manifest_of(tmp_path / "pack")["data"][name]
    assert (entry["rows"], entry["given_as"]) == (row_count, "local file")
    assert entry["upstream_revision"] is None
    said = f"{row_count} rows, of fingerprint {entry['fingerprint']}, not {known}\n"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, said",
    [
        ("{", "line 1: is not JSON Lines; write a"),
        ("", "there are no rows; give a file with some"),
        ("\n\n" + ROWS[0] + "\n[]\n", "line 5: is not a JSON object; fix the line"),
        (ROWS[0] + "\n" + row(answer="soon"), "line 3, column 'answer'"),
        (ROWS[0] * 1999 + row(answer="soon"), "line 2000, column 'answer'"),
        (ROWS[0] + row(answer=7), "line 2: a cell is not of the type of those"),
        (row(index=None) + ROWS[0] + row(index="x"), "line 3: a cell is not"),
        (row(tasks={"a": 1}) + row(tasks={"b": 1}) + row(tasks={"b": "x"}), "line 3: "),
        (json.dumps({"', row 7000000": 0}), "line 1, column 'dialogue': None is mis"),
        ("[" * 100_000, "line 1: is nested too deeply; fix the line"),
        ("".join(ROWS[:5]), "has 5 rows, the benchmark's file 300; give the whole"),
    ],
)
def test_a_faulty_file_is_named_with_its_line(capsys, tmp_path, text, said):
    assert make_of(text, tmp_path, tmp_path / "pack") == 1
    line = the_line(capsys)
    assert line.startswith(str(tmp_path / "source" / "TCP_short.jsonl"))
    assert said in line and "; " in line
    assert not list((tmp_path / "pack").rglob("*.jsonl"))


def test_a_local_file_is_found_wherever_it_lies_if_it_is_the_only_one(tmp_path):
    [source] = find_sources(["tcp_short"])
    folder, name = tmp_path / "a=b", source.file
    path = folder / "deep" / name
    path.parent.mkdir(parents=True)
    path.write_text(ROWS[0])
    options = [f"timebench={tmp_path}", f"tcp={folder}"]
    assert offline._use_local_files([source], options)[0].path == path
    (folder / name).write_text(ROWS[0])
    faults = {f"tcp={folder}": f"{folder}: has 2 files {name}; name a folder with one"}
    faults["tcp="] = "--source tcp=: give one of tcp, timebench, tot, '=', and a folder"
    for option, fault in faults.items():
        with pytest.raises(ToolError, match=re.escape(fault)):
            offline._use_local_files([source], [option])


def test_a_pack_of_no_named_tasks_says_how_to_run_the_first(capsys, tmp_path):
    sources = offline._use_local_files(
        find_sources(["tcp_short", "tcp_long"]), [f"tcp={EXAMPLES / 'data'}"]
    )
    offline.make(tmp_path / "new" / "pack", sources, [], allow_partial=True)
    *lines, _, command = capsys.readouterr().err.splitlines()
    assert [line[:5] for line in lines] == ["[1/2]", "[2/2]"]
    assert command.endswith(" --tasks tcp_long")
    readme = (tmp_path / "new" / "pack" / "README.md").read_text()
    assert "--include_path . --tasks tcp_long\n" in readme


def test_a_row_of_the_publisher_is_named_by_its_number_and_kept_as_it_is():
    rows = [json.loads(ROWS[0]) | {"note": "é"}, {"answer": "soon"}]
    lines = checked_lines(
        Source(frozenset({"tcp_short"}), "x/y", lambda: rows), None, []
    )
    assert json.loads(line := next(lines)) == rows[0] and "é".encode() in line
    with pytest.raises(ToolError, match="x/y, row 1, column"):
        next(lines)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--tasks", "tcp_medium"], "task 'tcp_medium' is unknown; the"),
        (["--tasks", "fresh"], "makes its rows itself; leave it out of the pack"),
        (["--source", "tpc=."], "--source tpc=.: give one of "),
        (["--tasks", "tcp", "--source", "tcp=tests/cases"], "has no files TCP_short"),
        (["--check"], "is not a complete pack; make it"),
    ],
)
def test_wrong_arguments_are_one_line(monkeypatch, capsys, tmp_path, arguments, said):
    monkeypatch.chdir(ROOT)
    assert make(tmp_path / "pack", *arguments) == 1
    assert said in the_line(capsys)


@pytest.mark.parametrize(
    ("task", "error", "said"),
    [
        ("tcp_long", RuntimeError(), "TCP/TCP_long.jsonl: RuntimeError; check the"),
        ("tot_semantic", OSError("No x\nmore"), "ToT/tot_semantic: No x; check the"),
        ("timebench_tracie", None, "OFFLINE is set; unset it, or use --source"),
    ],
)
def test_an_error_of_loading_is_one_line(
    monkeypatch, capsys, tmp_path, task, error, said
):
    fail = Mock(side_effect=error)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", not error)
    if error:
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
        monkeypatch.setattr(datasets, "load_dataset", fail)
    assert make(tmp_path, "--tasks", task) == 1
    assert said in the_line(capsys)


def test_a_file_of_the_hub_is_taken_as_it_is(monkeypatch, tmp_path):
    path = EXAMPLES / "data" / "TCP_short.jsonl"
    download = Mock(return_value=str(path))
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    pack = tmp_path / "pack"
    assert make(pack, "--tasks", "tcp_short", "--allow-partial") == 0
    names, options = ("Beanbagdzf/TCP", path.name), {"repo_type": "dataset"}
    download.assert_called_once_with(*names, **options, revision=None)
    assert (pack / "data" / path.name).read_bytes() == path.read_bytes()
    assert manifest_of(pack)["data"][path.name]["given_as"] == "upstream"
    before = content(pack)
    (pack / "data" / path.name).write_bytes(path.read_bytes()[:-20])
    assert make(pack, "--tasks", "tcp_short", "--allow-partial") == 0
    assert content(pack) == before


def test_rows_of_a_user_stay_so_where_the_pack_is_made_again(tmp_path):
    pack, given = tmp_path / "pack", ["--tasks", "tcp_short", "--allow-partial"]
    assert make(pack, *given, "--source", f"tcp={EXAMPLES / 'data'}") == 0
    entry = manifest_of(pack)["data"]["TCP_short.jsonl"]
    assert entry["given_as"] == "local file"
    assert make(pack, *given) == 0
    assert manifest_of(pack)["data"]["TCP_short.jsonl"] == entry
