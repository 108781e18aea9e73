"""Where outputs go: nothing that is no output is lost, whatever a name stands for."""

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT
from utils.core import files
from utils.__main__ import main
from utils.core.files import check_outputs, is_part, remove_leftovers, written_whole


PACK = ("--include_path", str(EXAMPLES))


def put(path: Path, content: bytes = b"new") -> None:
    with written_whole(path) as file:
        file.write(content)


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if is_part(path.name)]


# -------------------------------------------------------- what a name may stand for


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(
        target=lambda: found.append(pipe.read_bytes()), daemon=True
    )
    reader.start()
    put(pipe)
    reader.join(timeout=20)
    assert found == [b"new"]
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]


def test_a_device_is_written_into(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.open("wb").close()
    except OSError:
        pytest.skip("only root makes devices")
    put(device)
    assert device.is_char_device()
    assert [*tmp_path.iterdir()] == [device]


@pytest.mark.parametrize("is_there", [True, False])
def test_what_a_symlink_leads_to_is_written(tmp_path, is_there):
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    if is_there:
        put(target, b"old")
    link.symlink_to(target)
    put(link)
    assert target.read_bytes() == b"new"
    assert link.readlink() == target
    assert not parts(tmp_path)


def test_a_symlink_to_itself_is_one_error_of_its_name(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(OSError, match="link") as caught:
        put(link)
    assert caught.value.filename == str(link)
    assert link.is_symlink()


def test_what_stdout_is_goes_on_where_it_stands(tmp_path):
    # As /dev/stdout is made: a symlink to what this process has open.
    link, output = tmp_path / "stdout", tmp_path / "out"
    link.symlink_to("/proc/self/fd/1")
    script = (
        "import sys; from pathlib import Path; from utils.core.files import written_whole\n"
        "print('first')\n"
        "with written_whole(Path(sys.argv[1])) as file: file.write(b'new\\n')\n"
        "print('last')"
    )
    command = [sys.executable, "-c", script, link]
    with output.open("wb") as file:
        subprocess.run(command, cwd=ROOT, stdout=file, check=True)
    assert output.read_text() == "first\nnew\nlast\n"
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"first\nnew\nlast\n"
    assert sorted(tmp_path.iterdir()) == [output, link]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(mode)
    with written_whole(path) as file:
        (part,) = parts(tmp_path)
        assert stat.S_IMODE(part.stat().st_mode) == mode
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    if os.geteuid() == 0:  # who may write all
        monkeypatch.setattr(files.os, "access", lambda name, _: Path(name) != path)
    path.chmod(0o400)
    with pytest.raises(PermissionError) as caught:
        put(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"


# -------------------------------------------------------------- what a kill leaves


def test_parts_that_nobody_writes_any_more_are_removed(tmp_path):
    with written_whole(tmp_path / "x") as file:
        (living,) = parts(tmp_path)
        left = living.with_name(f"{living.name[:-15]}0123456789.part")
        left.touch()
        elsewhere = tmp_path / ".temporal-eval-0123456789abcdef.part"
        elsewhere.touch()  # of another machine, whose locks may not be seen
        remove_leftovers(tmp_path)
        assert sorted(parts(tmp_path)) == sorted([living, elsewhere])
        file.write(b"new")
    assert (tmp_path / "x").read_bytes() == b"new"
    assert parts(tmp_path) == [elsewhere]


def test_a_part_that_is_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    lock, taken = files.fcntl.flock, []

    def late(*arguments):
        if not taken:  # as though another process looked between making and locking
            taken.extend(parts(tmp_path))
            taken[0].unlink()
        lock(*arguments)

    monkeypatch.setattr(files.fcntl, "flock", late)
    put(tmp_path / "x")
    assert taken
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


# ------------------------------------------------------------- outputs and inputs


@pytest.fixture
def answers(tmp_path) -> Path:
    return shutil.copy(EXAMPLES / "responses" / "tcp_long.jsonl", tmp_path / "a.jsonl")


def samples(folder: Path, source: Path) -> Path:
    """Return the results in a folder with samples, as the harness writes them."""
    time = "2026-01-01T00-00-00.000000"
    shutil.copy(source, folder / f"samples_tcp_long_{time}.jsonl")
    results = folder / f"results_{time}.json"
    results.write_text(json.dumps({"model_name": "m"}))
    return results


@pytest.mark.parametrize("option", ["--html", "--csv", "--json"])
@pytest.mark.parametrize("name", ["a.jsonl", "link", "hard link", "results", "data"])
def test_a_board_is_not_written_over_what_it_is_made_of(
    tmp_path, capsys, answers, option, name
):
    pack, run = tmp_path / "pack", answers
    shutil.copytree(EXAMPLES, pack)
    output = tmp_path / name
    if name == "link":
        output.symlink_to(answers)
    elif name == "hard link":
        output.hardlink_to(answers)
    elif name == "results":
        output = samples(tmp_path, answers)
        run = next(tmp_path.glob("samples_*"))
    elif name == "data":
        output = pack / "data" / "TCP_long.jsonl"
    before = output.read_bytes()
    command = [run, "--task", "tcp_long", "--include_path", pack, option, output]
    assert main(["leaderboard", *map(str, command)]) == 1
    fault = "is one of the files to read; name another"
    assert capsys.readouterr() == ("", f"{output}: {fault} {option}\n")
    assert output.read_bytes() == before


def test_requests_are_not_written_over_the_pack(tmp_path, capsys):
    pack = tmp_path / "pack"
    shutil.copytree(EXAMPLES, pack)
    for name in ("data/TCP_long.jsonl", "tcp_long.yaml", "manifest.json"):
        before = (pack / name).read_bytes()
        command = ["tcp", "--model", "m", "--include_path", str(pack)]
        assert main(["export", *command, "--output", str(pack / name)]) == 1
        said = f"{pack / name}: is one of the files to read; name another --output\n"
        assert capsys.readouterr() == ("", said)
        assert (pack / name).read_bytes() == before


def test_an_audit_is_not_written_over_its_rows(tmp_path, capsys):
    path = shutil.copy(EXAMPLES / "data" / "tot_arithmetic.jsonl", tmp_path)
    before = Path(path).read_bytes()
    assert main(["audit", str(tmp_path), "--jsonl", str(path)]) == 1
    said = f"{path}: is one of the files to read; name another --jsonl\n"
    assert capsys.readouterr() == ("", said)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("other", ["z.html", "./z.html", "link/z.html"])
def test_two_outputs_do_not_share_a_name(tmp_path, monkeypatch, capsys, answers, other):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to(".")
    command = ["a.jsonl", "--task", "tcp_long", *PACK, "--html", "z.html"]
    assert main(["leaderboard", *command, "--csv", other]) == 1
    said = f"{Path(other)}: is named by --html, too; name another --csv\n"
    assert capsys.readouterr() == ("", said)
    assert not Path("z.html").exists()


def test_two_outputs_may_share_what_is_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_outputs({"--a": tmp_path / "pipe", "--b": tmp_path / "pipe"}, [])


@pytest.mark.parametrize(
    "command",
    [
        ["score", "a.jsonl", "--output"],
        ["export", "tcp", "--model", "m", "--output"],
        ["audit", ".", "--jsonl"],
        ["replay", "a.jsonl", "--output_path"],
        *(
            ["leaderboard", "a.jsonl", option]
            for option in ("--html", "--csv", "--json")
        ),
    ],
    ids=lambda command: f"{command[0]} {command[-1]}",
)
def test_an_empty_name_of_an_output_is_one_line(command, capsys):
    assert main([*command, ""]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"argument {command[-1]}: is empty; name a file or folder" in printed.err
    assert printed.err.count("\n") == 1


def test_an_empty_name_of_a_pack_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "", "--gen-seed", "1"]) == 2
    assert "argument DIR: is empty; name a file or folder" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
