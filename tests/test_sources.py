"""TimeBench's files from their URLs: the benchmark's rows, or one line that says why not.

The real URLs cannot be reached here: a server on this machine stands for theirs.
"""

import http.server
import json
import threading
import time

import datasets
import pytest
import yaml
from lm_eval.tasks import TaskManager

from lm_eval_tasks.timebench import sources
from tests.conftest import CONFIGURATIONS, EXAMPLES, PACK
from utils.core.task_scorers import scorer


FILE = "TRACIE/tracie_timebench.jsonl"
GOOD = (EXAMPLES / "data" / "tracie_timebench.jsonl").read_bytes()
LINES = GOOD.splitlines(keepends=True)


def test_each_task_names_a_file_of_the_repository():
    kwargs = [config.get("dataset_kwargs", {}) for config in CONFIGURATIONS]
    named = {one["data_file"] for one in kwargs if "data_file" in one}
    assert named == sources.FILES.keys()
    assert sum(rows for rows, _ in sources.FILES.values()) == 7553


@pytest.mark.parametrize("name", sources.FILES)
def test_known_digests_are_those_of_the_real_files(shared, name):
    path = shared / "timebench" / name.rpartition("/")[2]
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = datasets.Dataset.from_list([json.loads(line) for line in lines if line])
    assert (len(rows), sources.digest(rows)) == sources.FILES[name]


def test_a_data_set_of_the_same_columns_takes_the_place_of_the_urls(
    tmp_path, offline_tasks
):
    (tmp_path / "rows.jsonl").write_bytes(GOOD)
    config = {
        "include": str(PACK / "timebench" / "timebench_tracie.yaml"),
        "custom_dataset": None,
        "dataset_path": str(tmp_path),  # in place of OWNER/NAME on the hub
        "dataset_name": "tracie",
        "dataset_kwargs": {"cache_dir": str(tmp_path / "cache")},
    }
    (tmp_path / "timebench_tracie.yaml").write_text(yaml.safe_dump(config))
    files = [{"split": "test", "path": "rows.jsonl"}]
    card = yaml.safe_dump({"configs": [{"config_name": "tracie", "data_files": files}]})
    (tmp_path / "README.md").write_text(f"---\n{card}---\n")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    built = manager.load(["timebench_tracie"])["tasks"]["timebench_tracie"]
    assert [*built.test_docs()] == [*offline_tasks["timebench_tracie"].test_docs()]


class Server(http.server.BaseHTTPRequestHandler):
    """Answers with `status` and `content`."""

    status, length, delay, content = 200, None, 0.0, GOOD

    def do_HEAD(self) -> None:
        time.sleep(self.delay)
        self.send_response(self.status)
        self.send_header("Content-Length", str(self.length or len(self.content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(self.content)

    do_GET = do_HEAD

    def log_message(self, *_) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server of the examples' TRACIE, and an empty cache."""

    handler = type("Handler", (Server,), {})
    rows = datasets.Dataset.from_list([json.loads(line) for line in LINES])
    monkeypatch.setitem(sources.FILES, FILE, (len(rows), sources.digest(rows)))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    downloads = str(tmp_path / "downloads")
    monkeypatch.setattr(datasets.config, "DOWNLOADED_DATASETS_PATH", downloads)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        monkeypatch.setattr(sources, "SUBSET", f"http://127.0.0.1:{server.server_port}")
        yield handler
        server.shutdown()


def test_rows_of_a_url_are_documents_and_tell_their_file(server):
    rows = sources.load(FILE, version=1.1, pretrained="some/model")["test"]
    assert rows.info.config_name == "tracie_timebench"
    assert len(scorer("timebench_tracie").process_docs(rows)) == 8


def test_a_bad_copy_in_the_cache_is_fetched_again_and_a_good_one_is_not(server, caplog):
    server.content = b"<html>Log in</html>"
    with pytest.raises(ValueError, match="is an HTML page"):
        sources.load(FILE)
    assert f"{FILE}: not the file of the commit; fetching it again" in caplog.text
    server.content = GOOD
    assert len(sources.load(FILE)["test"]) == 8
    server.content = b""
    assert len(sources.load(FILE)["test"]) == 8


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
OTHERS = [
    (b"<!DOCTYPE html>\n<html></html>\n", "is an HTML page"),
    (b"\n <html></html>\n", "is an HTML page"),
    (LFS, "is a pointer of Git LFS"),
    (b'{"message": "rate limit"}\n', "such as an error message: \"{'message': "),
    (b"", "is empty"),
    (b"".join(LINES[:4]), "is only part of the file: 4 of 8 rows"),
    (GOOD[:-20], "is not JSON Lines, or only half a file"),
    (GOOD.replace(b"Contradiction", b"Entailment", 1), "has 8 rows of digest"),
    (b"".join(LINES[::-1]), "has 8 rows of digest"),
]
BROKEN = [
    ({"status": 404}, "the server answers 404 Not Found; check the commit"),
    ({"status": 503}, "the server answers 503 Service Unavailable"),
    ({"length": len(GOOD) + 1}, "broke off"),
    ({"delay": 1.0}, "broke off or took over 0.1 s"),
]


@pytest.mark.parametrize(
    ("behaviour", "said"), [*(({"content": x}, said) for x, said in OTHERS), *BROKEN]
)
def test_a_url_that_does_not_give_the_known_file_is_one_line(
    server, monkeypatch, behaviour, said
):
    monkeypatch.setattr(sources, "TIME_LIMIT", 0.1 if "delay" in behaviour else 10)
    for name, value in behaviour.items():
        setattr(server, name, value)
    has_content = "content" in behaviour
    with pytest.raises(ValueError if has_content else ConnectionError) as error:
        sources.load(FILE)
    line = str(error.value)
    assert line.startswith(f"{sources.SUBSET}/{FILE}: ") and "\n" not in line
    assert said in line and (has_content or "or run an offline pack" in line)


LOCAL = [(OSError, 28, "No space left on device"), (PermissionError, 13, "Not yours")]


@pytest.mark.parametrize(("kind", "number", "reason"), LOCAL)
def test_a_cache_that_cannot_be_written_is_not_blamed_on_the_url(
    server, monkeypatch, kind, number, reason
):
    def full(*_, **__):
        raise kind(number, reason)

    def full_within(*_, **__):
        raise RuntimeError("while parsing") from kind(number, reason)

    said = f"{reason}; free space or set HF_.*, for the download of {sources.SUBSET}/"
    for load_dataset in (full, full_within):
        monkeypatch.setattr(datasets, "load_dataset", load_dataset)
        with pytest.raises(OSError, match=said):
            sources.load(FILE)


LONG = "x" * 200


@pytest.mark.parametrize("error", [OSError(LONG), ConnectionResetError(104, LONG)])
def test_an_error_of_the_transfer_begins_with_its_name(server, error):
    line = str(sources._transfer_error(f"{sources.SUBSET}/{FILE}", error))
    assert f"broke off or took over 60 s ({type(error).__name__} " in line
    assert "x" * 50 in line and "x" * 100 not in line


def test_a_server_that_is_away_is_said_so_by_the_reason_alone(monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    url = "http://127.0.0.1:9/x"
    assert "(<urlopen" not in sources._unreachable(url, OSError())
    assert "cannot be reached ([Errno" in sources._unreachable(url, OSError())
    assert "is not JSON Lines" in sources._difference(url, None, 8, "0")


def test_other_rows_are_said_with_both_digests(server):
    server.content = b"".join(LINES[::-1])
    known = sources.FILES[FILE][1]
    other = rf"has 8 rows of digest (?!{known})\w{{16}}, not 8 of {known};"
    with pytest.raises(ValueError, match=other):
        sources.load(FILE)
