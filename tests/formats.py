"""The schemas and the page of the formats that tools write: `python -m tests.formats`."""

import json
from importlib.resources import files as files_of

from tests.conftest import ROOT
from utils.core.output_columns import FORMATS, json_schema, markdown_table


FOLDER = ROOT / "utils"
HEAD = """\
# Formats

Every column that the tools write, with its meaning and unit. A share is from 0 to 1, and a difference of shares from -1 to 1. In names, words in
capitals stand for one of several: `METRIC` for a metric of the task, `RULE` for published or flexible,
`FIGURE` for one of the figures and `END` for `_low` or `_high`, `REASON` for a word of the family's
REASONS, `BREAKDOWN` for a name of its BREAKDOWNS, `UNIT` for a unit of time, `K` for a number of answers. A
column that does not apply to a row is missing or null; in CSV it is empty. JSON Schemas are in
[schemas](schemas). Page, schemas and the tests of real output are made from `utils/core/output_columns.py`.
"""


def files() -> dict[str, str]:
    """Return path below `utils` -> what it holds."""
    contents = {
        f"schemas/{name}.json": json.dumps(json_schema(form), indent=1) + "\n"
        for name, form in FORMATS.items()
    }
    sections = map(markdown_table, FORMATS.values())
    return contents | {"FORMATS.md": "\n".join([HEAD, *sections])}


def schema(name: str) -> dict:
    """Return a schema as it is shipped."""
    text = files_of("utils").joinpath("schemas", f"{name}.json").read_text("utf-8")
    return json.loads(text)


if __name__ == "__main__":
    (FOLDER / "schemas").mkdir(exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
