"""What the tools print, write and show is what was recorded of them."""

from pathlib import Path

import pytest

from tests.printed import FOLDER, SESSIONS, record


pytestmark = pytest.mark.usefixtures("judged_here")


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_prints_writes_and_shows_what_is_recorded(
    name, tmp_path, monkeypatch, kept_tables
):
    monkeypatch.chdir(tmp_path)
    recorded = Path(FOLDER, f"{name}.txt").read_text(encoding="utf-8")
    command = f"python -m tests.printed {name}"
    assert record(name, tmp_path) == recorded, f"if that is meant: {command}"


def test_a_record_has_its_session():
    assert {path.stem for path in FOLDER.iterdir()} == {*SESSIONS}
