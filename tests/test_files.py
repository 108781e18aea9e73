"""Where outputs go: nothing that is no output is lost, whatever a name stands for."""

import gzip
import hashlib
import multiprocessing
import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES, ROOT
from utils.__main__ import main
from utils.core import files
from utils.core.errors import ToolError
from utils.core.files import is_part, read_jsonl, read_lines, written_whole


def put(path: Path, content: bytes = b"new") -> None:
    with written_whole(path) as file:
        file.write(content)


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if is_part(path.name)]


def test_a_pipe_called_as_what_is_not_finished_is_waited_for_by_nobody(tmp_path):
    os.mkfifo(tmp_path / ".temporal-eval-x.part")
    put(tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == b"new"


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("lines_read", [0, 2, None])
def test_a_file_is_hashed_as_it_is_read_and_to_its_end(tmp_path, compress, lines_read):
    content = compress(b"".join(b"%d\n" % number for number in range(90_000)))
    path = tmp_path / "x"
    path.write_bytes(content)
    with files.HashedFile(path) as file:
        assert [
            *islice(files.read_lines(path, opened=file), lines_read)
        ] or not lines_read
        assert file.digest() == hashlib.sha256(content).hexdigest()


def test_blank_lines_count_in_the_numbers_of_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n{}\n \n{}\n")
    lines = [*read_lines(path)]
    assert [line.number for line in lines] == [2, 4]
    assert lines[1].place == f"{path}, line 4"


def test_blank_lines_have_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BLANK", 3)
    path = tmp_path / "x"
    for blank_count, is_refused in ((3, False), (4, True)):
        path.write_bytes(b"\n" * blank_count + b"{}\n")
        if is_refused:
            with pytest.raises(ToolError, match="more than 3 blank lines; remove them"):
                read_jsonl(path)
        else:
            assert read_jsonl(path) == [{}]


def test_a_line_and_a_file_may_be_as_large_as_their_bounds(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b'{"a": 1}\n{}\n')
    assert len([*read_lines(path, longest=9, most=12)]) == 2
    for bounds, fault in (
        ({"longest": 8}, "line 1: is lo"),
        ({"most": 11}, "holds mo"),
    ):
        with pytest.raises(ToolError, match=fault):
            [*read_lines(path, **bounds)]
    for sizes, fault in (
        ((2**31 + 1, 2**31, 0), "holds more than 2,048 MiB once it is unpacked; split"),
        ((1, 2**31, 10**6 + 1), "has more than 1,000,000 blank lines; remove them"),
    ):
        with pytest.raises(ToolError, match=f"^{path}: {fault}"):
            files._check_sizes(path, *sizes)


def test_a_file_is_read_whole_and_no_link_or_pipe_is(tmp_path):
    path, link, pipe = (tmp_path / name for name in ("x", "link", "pipe"))
    path.write_bytes(b"a" * 2**17)
    link.symlink_to(path)
    os.mkfifo(pipe)
    with files.HashedFile(path) as file:
        assert file.read_whole() == path.read_bytes()
        assert file.digest() == files.sha256_of(path) == files.sha256_of(link)
    with pytest.raises(OSError, match="symbolic links"):
        files.HashedFile(link)
    with pytest.raises(OSError, match="is a pipe or a device, not a file"):
        files.HashedFile(pipe)


def test_only_what_a_tool_has_not_written_is_in_its_way(tmp_path):
    path = tmp_path / "x"
    check = partial(files.check_output, path, "export", r"\{")
    check()
    for content in (b"", b'{"a": 1}'):
        path.write_bytes(content)
        check()
    path.write_bytes("Jérôme".encode("latin-1"))
    with pytest.raises(ToolError, match="/x: is there, and was not made by export; m"):
        check()


def test_what_came_there_while_a_file_was_written_stays(tmp_path):
    path = tmp_path / "x"
    check = partial(files.check_output, path, "export", r"\{")
    with pytest.raises(ToolError, match="is there"), written_whole(path, check) as file:
        file.write(b"{}")
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert not parts(tmp_path)


def test_a_file_in_shared_memory_is_a_file_and_a_device_is_a_stream():
    streams = {"/dev/shm/x": False, "/dev/stdout": True, "/dev/fd/1": True}
    assert {x: files.is_stream(Path(x)) for x in streams} == streams


def test_folders_on_the_way_to_a_file_are_made(tmp_path):
    put(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").read_bytes() == b"new"


def test_what_a_symlink_leads_to_is_written_whether_it_is_there_or_not(tmp_path):
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"old", b"new"):
        put(link, content)
        assert (target.read_bytes(), link.readlink()) == (content, target)


def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_new_files(tmp_path):
    kept, new, other = (tmp_path / name for name in ("kept", "new", "other"))
    kept.touch()
    kept.chmod(0o640)
    other.touch()
    put(kept)
    put(new)
    assert kept.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "disk is full")])
def test_what_ends_writing_leaves_the_old_file_and_no_part(tmp_path, error):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught, written_whole(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert not parts(tmp_path)
    if isinstance(error, OSError):
        assert caught.value.filename == str(path)


WRITE_AND_DIE = """
import os, signal
from pathlib import Path
from utils.core.files import written_whole
with written_whole(Path({!r})) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed_by_the_next_and_no_other(tmp_path):
    script = WRITE_AND_DIE.format(str(tmp_path / "x"))
    subprocess.run([sys.executable, "-c", script], cwd=ROOT)
    assert len(parts(tmp_path)) == 1
    with written_whole(tmp_path / "y"):  # which is being written
        (own,) = parts(tmp_path)
        put(tmp_path / "x")
        assert parts(tmp_path) == [own]
    assert sorted(x.name for x in tmp_path.iterdir()) == ["x", "y"]


IN_THE_WAY = {"folder": "Is a directory", "file/x": "Not a directory"}
IN_THE_WAY |= {
    "file": "Permission denied",
    "pipe": "is a pipe or a device; name a file",
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_what_is_in_the_way_is_named_and_stays(tmp_path, monkeypatch, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    file = tmp_path / "file"
    put(file, b"old")
    # As for anybody but root, who may write all.
    monkeypatch.setattr(files.os, "access", lambda name, _: Path(name) != file)
    with pytest.raises(OSError, match=IN_THE_WAY[name]) as caught:
        put(tmp_path / name)
    assert caught.value.filename == str(tmp_path / name)
    assert file.read_bytes() == b"old"


ANSWERS = "responses/careful/tcp_long.jsonl"
LEADERBOARD = f"leaderboard {{0}}/{ANSWERS} --task tcp_long --csv"
OVER = {
    "tcp_long.yaml": LEADERBOARD,
    "tcp_short.yaml": f"{LEADERBOARD} {{0}}/board --html",
    "data/TCP_long.jsonl": "export tcp --model m --output",
    ANSWERS: f"score {{0}}/{ANSWERS} --eval_results",
}


@pytest.mark.parametrize("name", OVER)
def test_tools_write_over_nothing_of_the_pack(tmp_path, capsys, name):
    pack = tmp_path / "pack"
    shutil.copytree(EXAMPLES, pack)
    arguments = [*OVER[name].format(pack).split(), str(pack / name)]
    assert main([*arguments, "--include_path", str(pack)]) == 1
    assert f"{pack / name}: is there, and was not made by" in capsys.readouterr().err
    assert (pack / name).read_bytes() == (EXAMPLES / name).read_bytes()


LINES = b'{"a": "x\xe2\x80\xa8y\\n"}\n\n{"a": 2}'
ZIPPED = gzip.compress(LINES, mtime=0)
BAD = [
    (b"<html>", ", line 1: is not JSON Lines; write a JSON obj"),
    (b'{\n"a": 1}', ".*; write a JSON object in each line"),
    (b'{"a": 1}\n{"a\n', ", line 2: .*; fix the line"),
    (b'{"a": 1}\n{"a" 1}', ", line 2: Expecting ':' delimiter"),
    (b' {"a" 1}\n', ", line 1: Expecting ':' delimiter"),
    (b'{"a": ' + b"1" * 5000 + b"}", ", line 1: has a number of too many digits; fix"),
    (b'{"a": 1}\n{"a', ", line 2: is cut off, as by half a download; get"),
    (b'{"a": 1}\n[1]\n', ", line 2: is not a JSON object; fix the line"),
    (b'{"a": 1}\n"\xff"\n', ", line 2: is not UTF-8; save the file as"),
    (b'{"a": 1}\n' + b"[" * 10**6, ", line 2: is nested too deeply"),
    (ZIPPED[:-9], ", after line .: the gzip data is cut off or damaged"),
]


@pytest.mark.parametrize("content", [LINES, ZIPPED, b"\xef\xbb\xbf" + LINES])
def test_lines_are_read_as_they_were_written(tmp_path, content):
    put(tmp_path / "x", content)
    assert read_jsonl(tmp_path / "x") == [{"a": "x\u2028y\n"}, {"a": 2}]


@pytest.mark.parametrize(("content", "fault"), BAD)
def test_a_bad_file_is_one_error_of_its_place_and_fix(tmp_path, content, fault):
    put(tmp_path / "x", content)
    with pytest.raises(ToolError, match=f"/x{fault}"):
        read_jsonl(tmp_path / "x")


def test_a_digest_waits_for_no_pipe(tmp_path):
    path, pipe = tmp_path / "x", tmp_path / "pipe"
    path.write_bytes(b"a" * 2**17)
    os.mkfifo(pipe)
    process = multiprocessing.get_context("fork").Process(
        target=files.sha256_of, args=(pipe,), daemon=True
    )
    process.start()
    process.join(20)
    assert process.exitcode == 0
    assert files.sha256_of(path) == hashlib.sha256(b"a" * 2**17).hexdigest()
