"""Ray writes the lines and prints the tables that one process does."""

import importlib.util
import json
import os

import pytest

from tests.conftest import ROOT
from tests.shards import answers, split, write
from utils.jsonl import read_lines


pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(
        not importlib.util.find_spec("ray"), reason="Ray is not installed"
    ),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """Two workers on this machine, which find the pack where it is."""
    import ray

    environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init(num_cpus=2, runtime_env=environment, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def source(tmp_path):
    """A run of shards, packed in every way, with lines that are hard to keep whole."""
    lines = answers(120)
    for number, text in enumerate("\u2028\u0085\u2029Å…", 40):
        lines[number] = lines[number] | {"note": text}
    folder = split(tmp_path / "model", lines[:80], 20)
    plain = [json.dumps(line, ensure_ascii=False).encode() for line in lines[40:60]]
    (folder / "part-00040.jsonl").write_bytes(b"\n".join([*plain, b"\xff", b"{}", b""]))
    write(folder / "part-00080.jsonl.gz", lines[80:90])
    write(folder / "part-00090.jsonl.zst", lines[90:100])
    write(folder / "part-00100.parquet", lines[100:])
    (folder / "part-00200.jsonl").write_text("{}\n")
    return folder


def lines_in(folder) -> list[bytes]:
    paths = sorted(
        path for path in folder.rglob("*.*") if ".finished" not in path.parts
    )
    return sorted(x.text.rstrip(b"\n") for path in paths for x in read_lines(path))


def test_ray_gives_what_one_process_gives(tmp_path, source, call_score):
    expected = call_score(source, "--output", tmp_path / "one")
    found = call_score(source, "--engine", "ray", "--output", tmp_path / "ray")
    assert found == expected
    assert (found[0], found[2].count("\n")) == (1, 3)
    lines = lines_in(tmp_path / "one")
    assert len(lines) == 120
    assert lines_in(tmp_path / "ray" / "model") == lines
    again = call_score(tmp_path / "ray" / "model")  # what Ray wrote is read as any run
    assert again[:2] == (0, expected[1])


def test_an_output_of_ray_is_not_written_over(tmp_path, source, call_score):
    (tmp_path / "out" / "model").mkdir(parents=True)
    status, printed, said = call_score(
        source, "--engine=ray", "--output", tmp_path / "out"
    )
    assert (status, printed, said.count("\n")) == (1, "", 1)
    assert f"{tmp_path / 'out' / 'model'} already exists" in said


def test_a_second_answer_in_another_file_does_not_count(tmp_path, call_score):
    source = split(tmp_path / "model", answers(8), 4)
    write(source / "part-00010.jsonl", answers(1))
    status, printed, said = call_score(
        source, "--engine=ray", "--output", tmp_path / "out"
    )
    assert (status, printed) == (1, call_score(source)[1])
    assert said.startswith(
        f"{source / 'part-00010.jsonl'}: answers documents that files"
    )


def test_a_url_is_read(tmp_path, source, call_score):
    url = f"model=file://{source}"
    output = f"file://{tmp_path}/out"
    status, printed, _ = call_score(url, "--engine=ray", "--output", output)
    assert (status, printed) == (1, call_score(source)[1])
    assert os.listdir(tmp_path / "out" / "model")
