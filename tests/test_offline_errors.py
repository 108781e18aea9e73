"""Packs touch nothing that is not their own, and every error is one line with the fix."""

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import datasets
import pytest

from tests.conftest import EXAMPLES, ROOT
from tests.test_offline import LOCAL, make
from utils.packs import offline
from utils.packs.errors import PackError
from utils.packs.manifest import FORMAT


TCP = ("--tasks", "tcp_short", *LOCAL)


def content(folder: Path) -> dict[Path, bytes | str]:
    """Return path -> content, or target of a symlink, of all in a folder."""
    return {
        path: os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


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
    """Return the error, which is one line."""
    *progress, line = capsys.readouterr().err.strip().split("\n")
    assert all(said.startswith("[") for said in progress if said)
    return line


# ------------------------------------------------------------------- what is not its own


@pytest.mark.parametrize(
    "name", ["README.md", "notes.txt", "tcp.yaml", "data/x.part", ".git/config"]
)
def test_a_folder_with_files_of_the_user_is_refused(capsys, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    before = content(tmp_path)
    assert make(tmp_path, *TCP) == 1
    line = the_line(capsys)
    assert line.startswith(f"{tmp_path}: is not a pack and holds {name}; name a new or")
    assert content(tmp_path) == before


def test_a_checkout_is_refused(capsys, monkeypatch, tmp_path):
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert make(Path("."), *TCP) == 1
    assert f"{tmp_path}: is not a pack and holds README.md" in the_line(capsys)


def test_only_files_of_the_manifest_are_replaced(capsys, pack):
    (pack / "tcp.yaml").write_text("group: mine\n")
    (pack / "notes.md.part").write_text("mine")
    before = content(pack)
    assert make(pack, "--tasks", "tcp", *LOCAL) == 1
    assert the_line(capsys).startswith(
        f"{pack}/tcp.yaml: is not of the pack and in its"
    )
    assert content(pack) == before
    (pack / "tcp.yaml").unlink()
    assert make(pack, "--tasks", "tcp", *LOCAL) == 0
    assert (pack / "notes.md.part").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["README.md", "data", "local_data.py", "lm_eval_tasks/tcp"]
)
def test_symlinks_in_a_pack_are_not_followed(capsys, pack, tmp_path, name):
    outside = tmp_path / "outside"
    (pack / name).rename(outside)
    (pack / name).symlink_to(outside)
    before = content(tmp_path)
    for arguments in (TCP, ("--tasks", "tcp", *LOCAL), ("--check",)):
        assert make(pack, *arguments) == 1
        assert f"{pack / name}: is a symlink, not of a pack" in capsys.readouterr().err
        assert content(tmp_path) == before


@pytest.mark.parametrize("name", ["data", "lm_eval_tasks", "manifest.json"])
def test_symlinks_in_an_empty_folder_are_not_followed(capsys, tmp_path, name):
    outside, pack = tmp_path / "outside", tmp_path / "pack"
    outside.mkdir()
    pack.mkdir()
    (pack / name).symlink_to(outside)
    assert make(pack, *TCP) == 1
    assert f"{name}" in the_line(capsys)
    assert not list(outside.iterdir())


def test_the_folder_itself_may_be_a_symlink(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert make(tmp_path / "link", *TCP) == 0
    assert (tmp_path / "real" / "tcp_short.yaml").is_file()


def test_a_second_maker_is_told_at_once(capsys, pack):
    descriptor = os.open(pack, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert make(pack, *TCP) == 1
    assert the_line(capsys).startswith(f"{pack}: another run is making this pack; wait")
    os.close(descriptor)
    assert make(pack, *TCP) == 0


def test_a_file_system_without_locks_is_said(capsys, monkeypatch, pack):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert make(pack, *TCP) == 0
    assert (
        "cannot be locked (No locks available); let no other" in capsys.readouterr().err
    )


def test_a_full_disk_leaves_nothing_half_written(monkeypatch, capsys, tmp_path):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert make(tmp_path, *TCP) == 1
    assert "No space left on device; free space on the disk and run" in the_line(capsys)
    assert not content(tmp_path)


def test_a_fault_of_the_target_is_not_blamed_on_the_source(monkeypatch, capsys, pack):
    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    assert make(pack, "--tasks", "tcp", *LOCAL) == 1
    line = the_line(capsys)
    assert line.startswith(f"{pack}/manifest.json: Permission denied; make it readable")
    assert not list(pack.rglob("*.part"))


def test_files_of_a_pack_are_as_readable_as_others(pack, tmp_path):
    (tmp_path / "other").write_text("")
    mode = (tmp_path / "other").stat().st_mode
    assert {path.stat().st_mode for path in pack.rglob("*") if path.is_file()} == {mode}


@pytest.mark.parametrize("times", [0, 1, 3, 12, 30])
def test_ctrl_c_is_one_line_and_nothing_is_half_done(
    monkeypatch, capsys, tmp_path, times
):
    left, replace = [times], os.replace

    def interrupted(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        replace(*arguments)

    monkeypatch.setattr(os, "replace", interrupted)
    assert make(tmp_path, *TCP) == 130
    assert the_line(capsys) == "interrupted; run it again: it goes on where it stopped"
    assert not list(tmp_path.rglob("*.part"))
    monkeypatch.setattr(os, "replace", replace)
    assert make(tmp_path, *TCP) == 0


# Sends the signal when the tool, as it starts, imports the harness: at no time of a clock,
# which a busy machine shifts.
INTERRUPTED_START = """
import os, signal, sys


class Interrupt:
    def find_spec(self, name, *_):
        if name == "lm_eval":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupt())
from utils.packs.offline import main

sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_while_it_starts_is_one_line_too(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_START, str(tmp_path / "pack"), *TCP],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert (
        process.communicate()[1].strip().split("\n")[-1].startswith("interrupted; run")
    )
    assert process.returncode in (130, -signal.SIGINT)  # a shell sees 130 of both


# --------------------------------------------------------------------------- manifests


def damaged(change) -> str:
    manifest = json.loads((EXAMPLES / "manifest.json").read_text())
    change(manifest)
    return json.dumps(manifest)


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "\ud800",
        "[" * 200_000,
        '{"a":' * 200_000,
        '{"command": "x"}',
        '{"rows": ' + "1" * 5000 + "}",
        damaged(lambda said: said.update(format="another")),
        damaged(lambda said: said.pop("format")),
        damaged(lambda said: said.update(more=1)),
        damaged(lambda said: said.update(complete="yes")),
        damaged(lambda said: said.update(files=[])),
        damaged(lambda said: said.update(command="a\nb")),
        damaged(lambda said: said["files"].clear()),
        damaged(lambda said: said["files"].update({"README.md": None})),
        damaged(lambda said: said["data"].update({"x.jsonl": {}})),
        damaged(lambda said: said["data"]["TCP_long.jsonl"].update(rows=True)),
        damaged(lambda said: said["data"]["TCP_long.jsonl"].update(tasks=[])),
        damaged(lambda said: said["data"]["TCP_long.jsonl"].update(tasks="tcp")),
        *(
            damaged(lambda said, name=name: said["files"].update({name: DIGEST}))
            for name in (
                *("../x", "/etc/passwd", "a/../../x", "a//b", "a\\b", "", ".", "./a"),
                *("a/", "a\nb", "manifest.json", ".temporal-eval-0.part", "x" * 2000),
                *("\0", "data/\ud800"),
            )
        ),
    ],
)
@pytest.mark.parametrize("arguments", [("--check",), TCP])
def test_a_damaged_manifest_is_one_line(capsys, tmp_path, text, arguments):
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    before = content(tmp_path)
    assert make(tmp_path, *arguments) == 1
    line = the_line(capsys)
    assert line.startswith(f"{tmp_path / 'manifest.json'}: ")
    assert line.endswith("make a new pack in another folder")
    assert len(line) < 400
    assert content(tmp_path) == before


def test_a_huge_manifest_is_not_read(capsys, tmp_path):
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(10**12)
    assert make(tmp_path, "--check") == 1
    assert "has more than 10000000 bytes" in the_line(capsys)


def test_a_manifest_that_is_no_file_is_one_line(capsys, tmp_path):
    os.mkfifo(tmp_path / "manifest.json")
    assert make(tmp_path, "--check") == 1
    assert "manifest.json: is not a file; rename or delete it" in the_line(capsys)


def test_a_pack_of_another_version_is_refused(capsys, pack):
    manifest = json.loads((pack / "manifest.json").read_text())
    assert manifest["format"] == FORMAT
    manifest["data"]["TCP_short.jsonl"]["tasks"] = ["tcp_of_old"]
    (pack / "manifest.json").write_text(json.dumps(manifest))
    assert make(pack, *TCP) == 1
    assert "this version has no task tcp_of_old; make a new pack" in the_line(capsys)
    assert make(pack, "--check") == 1
    assert "task 'tcp_of_old' is unknown" in the_line(capsys)


# ----------------------------------------------------------------------------- sources


def write(folder: Path, text: str | bytes, name: str = "TCP_short.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    return folder / name


ROWS = (EXAMPLES / "data" / "TCP_short.jsonl").read_text().splitlines(keepends=True)


def row(**cells) -> str:
    return json.dumps(json.loads(ROWS[0]) | cells) + "\n"


@pytest.mark.parametrize(
    "text, said",
    [
        ("{", "line 1: Expecting property name"),
        ("", "there are no rows; give a file with some"),
        ('{"index": 0}\n', "'dialogue', 'question', 'answer' is missing"),
        ("\n\n" + ROWS[0] + "\n[]\n", "line 5: is not a JSON object; fix the line"),
        (ROWS[0] + "\n" + row(answer="soon"), "line 3, column 'answer'"),
        (
            ROWS[0] + row(answer=7),
            "line 2, column 'answer': 7 is not of the type of those above",
        ),
        (ROWS[0] + row(dialogue="Hi"), "line 2, column 'dialogue': 'Hi' is not of"),
        (
            row(index=None) + ROWS[0] + row(index="x"),
            "line 3, column 'index': 'x' is not",
        ),
        (
            row(tasks={"a": 1}) + row(tasks={"b": 1}) + row(tasks={"b": "x"}),
            "line 3, col",
        ),
        (json.dumps({"', row 7000000": 0}), "'dialogue', 'question', 'answer' is mis"),
        (row(index=2**70), "column 'index': 1180591620717411303424 is not of the"),
        (ROWS[0] + ROWS[1][:-50], "line 2: the last line is cut off, as in half a"),
        ("<html>\n</html>", "line 1: is HTML or XML instead of JSON; download"),
        ("version https://git-lfs.github.com/spec/v1\n", "line 1: is a pointer of Git"),
        ("[" * 100_000, "line 1: is nested too deeply; fix the line"),
        (b"\xff\xfe{}", "line 1: is not UTF-8; save the file as UTF-8"),
        (ROWS[0].encode() + b'{"a": "\xe9"}\n', "line 2: is not UTF-8"),
        ("".join(ROWS[:5]), "has 5 rows, the benchmark's file 300, as after half a"),
        (ROWS[0] * 301, "has 301 rows, the benchmark's file 300; give the whole"),
    ],
)
def test_a_faulty_file_is_named_with_line_and_column(capsys, tmp_path, text, said):
    path = write(tmp_path / "source", text)
    source = f"--source=tcp={tmp_path / 'source'}"
    assert make(tmp_path / "pack", "--tasks", "tcp_short", source) == 1
    line = the_line(capsys).removeprefix("[1/1] TCP_short.jsonl: ")
    assert line.startswith(str(path))
    assert said in line
    assert "; " in line


def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path):
    text = "\ufeff" + "".join(ROWS).replace("\n", "\r\n")
    write(tmp_path / "source", text)
    source = f"--source=tcp={tmp_path / 'source'}"
    arguments = ("--tasks", "tcp_short", source, "--allow-partial")
    assert make(tmp_path / "pack", *arguments) == 0
    made = tmp_path / "pack" / "data" / "TCP_short.jsonl"
    assert made.read_text() == "".join(ROWS)


def test_a_partial_pack_is_not_finished_unasked(capsys, pack):
    assert make(pack, "--tasks", "tcp_short") == 1
    assert "has 8 rows, the benchmark's file 300" in the_line(capsys)
    assert make(pack, "--tasks", "tcp_short", "--allow-partial") == 0


def test_two_files_of_one_name_are_refused(capsys, tmp_path):
    for name in ("a", "b"):
        write(tmp_path / "source" / name, "".join(ROWS))
    source = f"--source=tcp={tmp_path / 'source'}"
    assert make(tmp_path / "pack", "--tasks", "tcp_short", source) == 1
    line = the_line(capsys)
    assert f"{tmp_path}/source/b/TCP_short.jsonl has the same name" in line


def test_a_source_without_the_file_or_with_a_pipe_is_refused(capsys, tmp_path):
    arguments = ("--tasks", "tcp_short", f"--source=tcp={tmp_path / 'source'}")
    (tmp_path / "source").mkdir()
    assert make(tmp_path / "pack", *arguments) == 1
    assert "holds no file TCP_short.jsonl; put it there" in the_line(capsys)
    os.mkfifo(tmp_path / "source" / "TCP_short.jsonl")
    assert make(tmp_path / "pack", *arguments) == 1
    assert "is not a file; put the file in its place" in the_line(capsys)


@pytest.mark.parametrize("source", [".", "..", "../pack"])
def test_a_source_that_is_or_holds_the_pack_is_refused(
    capsys, monkeypatch, pack, source
):
    monkeypatch.chdir(pack)
    assert make(pack, "--tasks", "tcp_short", f"--source=tcp={source}") == 1
    assert f"is or holds the pack {pack}; name a folder without it" in the_line(capsys)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (
            ["--tasks", "tcp_medium"],
            "task or group 'tcp_medium' is unknown; the groups are",
        ),
        (["--tasks", ""], "--tasks '': has an empty name; name tasks"),
        (["--tasks", "tcp,,tot"], "has an empty name"),
        (["--source", "tpc=."], "--source tpc=.: give one of tcp, tot, timebench"),
        (["--source", "tcp=nowhere"], "--source tcp=nowhere: give one of"),
        (["--source", "tcp="], "--source tcp=: give one of"),
        (["--source", "tcp"], "--source tcp: give one of"),
        ([*LOCAL, "--source", "tcp=."], "--source tcp=.: tcp is given twice; name"),
        (["--check"], "holds no manifest.json; make the pack first"),
    ],
)
def test_wrong_arguments_are_one_line(capsys, tmp_path, arguments, said):
    folder = tmp_path / "pack"
    assert make(folder, *arguments) == 1
    assert said in the_line(capsys)
    assert not folder.exists()


def test_an_error_stands_below_what_was_said_before(capsys, tmp_path):
    (tmp_path / "empty").mkdir()
    assert make(tmp_path / "pack", "--check") == 1
    assert capsys.readouterr().err.count("\n") == 1
    source = f"--source=tcp={tmp_path / 'empty'}"
    assert make(tmp_path / "pack", "--tasks", "tcp_short", source) == 1
    progress, said = capsys.readouterr().err.splitlines()
    assert progress == "[1/1] TCP_short.jsonl: "
    assert said.startswith(str(tmp_path / "empty"))


def test_a_name_that_is_a_file_is_one_line(capsys, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert make(tmp_path / "file", *TCP) == 1
    assert f"{tmp_path / 'file'}: is not a folder; name another one" in the_line(capsys)
    assert make(tmp_path / "file" / "below", *TCP) == 1
    assert f"{tmp_path / 'file' / 'below'}: Not a directory" in the_line(capsys)


class Gated(FileNotFoundError):
    """Stands for what `datasets` raises of a gated or missing dataset."""


@pytest.mark.parametrize(
    "error, said",
    [
        (ConnectionError("Couldn't reach 'x' on the Hub"), "with a network"),
        (Gated("Dataset 'x' is a gated dataset on the Hub"), "accept the terms"),
        (FileNotFoundError("Dataset 'x' doesn't exist on the Hub"), "your access"),
        (RuntimeError("Revision 'y' doesn't exist\nmore"), "correct the revision"),
        (PermissionError(13, "Permission denied", "cache"), "make it readable"),
        (RuntimeError("what nobody thought of"), "--traceback shows more"),
    ],
)
def test_an_error_of_loading_is_one_line(monkeypatch, capsys, tmp_path, error, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    assert make(tmp_path, "--tasks", "tcp_short") == 1
    line = the_line(capsys)
    assert line.startswith("Beanbagdzf/TCP/TCP_short.jsonl: ")
    assert said in line


def test_only_rows_from_upstream_or_known_ones_have_a_revision(
    monkeypatch, pack, tmp_path, shared
):
    def entry(folder: Path) -> dict:
        manifest = json.loads((folder / "manifest.json").read_text())
        return manifest["data"]["tracie_timebench.jsonl"]

    tasks = ("--tasks", "timebench_tracie")
    assert make(tmp_path / "local", *tasks, *LOCAL) == 0
    assert entry(tmp_path / "local")["upstream_revision"] is None
    assert make(tmp_path / "known", *tasks, f"--source=timebench={shared}") == 0
    assert len(entry(tmp_path / "known")["upstream_revision"]) == 40
    path = shared / "timebench" / "tracie_timebench.jsonl"
    text = path.read_text().replace("Contradiction", "Entailment", 1)
    write(tmp_path / "source", text, path.name)
    changed = tmp_path / "changed"
    assert make(changed, *tasks, f"--source=timebench={tmp_path / 'source'}") == 0
    assert entry(changed)["upstream_revision"] is None


def test_without_a_network_the_tool_points_to_local_files(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    assert make(tmp_path, "--tasks", "timebench_tracie") == 1
    line = the_line(capsys)
    assert line.startswith("https://raw.githubusercontent.com/zchuz/TimeBench/")
    assert line.endswith("is set; unset it, or use --source")


def test_a_traceback_is_shown_when_asked(tmp_path):
    with pytest.raises(PackError):
        offline.main([str(tmp_path), "--check", "--traceback"])
