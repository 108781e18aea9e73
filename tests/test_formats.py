"""What tools write is as its schema says, and every column is described."""

import json

import jsonschema
import pytest

from tests.conftest import EXAMPLES
from tests.formats import FOLDER, files, schema
from utils.__main__ import main


pytestmark = pytest.mark.usefixtures("judged_here")


RUNS = [str(EXAMPLES / "responses" / name) for name in ("careful", "plain")]
PACK = ["--include_path", str(EXAMPLES)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The tables of an example model."""
    folder = tmp_path_factory.mktemp("tables") / "out"
    assert main(["score", RUNS[0], *PACK, "--output", str(folder)]) == 0
    return folder


COMMANDS = {
    "score": [["score", *RUNS, *PACK, "--format", "json", "--k", "1"]],
    "compare": [
        ["compare", *RUNS, *PACK, "--format", "json"],
        ["compare", *RUNS, *PACK, "--format", "json", "--detail"],
    ],
}


@pytest.mark.usefixtures("kept_tables")
@pytest.mark.parametrize(
    ("name", "command"),
    [(name, command) for name, commands in COMMANDS.items() for command in commands],
)
def test_printed_json_is_as_its_schema_says(name, command, capsys):
    capsys.readouterr()
    main(command)
    rows = json.loads(capsys.readouterr().out)
    assert rows
    jsonschema.validate(rows, schema(name))
    # A column that nobody described is found.
    rows[0]["a_new_column"] = 1
    with pytest.raises(jsonschema.ValidationError, match="a_new_column"):
        jsonschema.validate(rows, schema(name))


@pytest.mark.usefixtures("kept_tables")
def test_the_json_of_a_board_is_as_its_schema_says(tmp_path):
    path = tmp_path / "board.json"
    assert main(["leaderboard", *RUNS, *PACK, "--json", str(path)]) == 0
    jsonschema.validate(json.loads(path.read_text("utf-8")), schema("leaderboard"))


def test_tables_are_as_their_schemas_say(tables):
    for path in tables.glob("*/run.json"):
        jsonschema.validate(json.loads(path.read_text("utf-8")), schema("run"))
    validator = jsonschema.Draft202012Validator(schema("verdicts"))
    for path in tables.glob("*/verdicts_*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            validator.validate(json.loads(line))


def test_schemas_and_page_are_made_from_the_formats():
    for name, text in files().items():
        assert (FOLDER / name).read_text("utf-8") == text, "run python -m tests.formats"
