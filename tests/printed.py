"""What the tools print, write and show, whole: `python -m tests.printed [NAME ...]`.

`printed.jsonl` has a session a line: its `name`, the `files` and `runs` of the harness that are
in its folder, and the `commands` that are typed there. These are the tools', and two of our
own: `show` prints what files say, and `answer` writes answers to a task of a pack, each
EVERY-th wrong. `printed/NAME.txt` is the record of a session, which a test holds again and
compares. Where another record is meant, this command writes it, and its difference is what
a reviewer reads.
"""

import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path

from tests.answers import write
from tests.conftest import EXAMPLES, ROOT
from tests.test_tricks import submission
from utils.__main__ import main
from utils.core.documents import documents
from utils.core.files import read_jsonl
from utils.core.task_scorers import scorer


FOLDER = ROOT / "tests" / "printed"
SESSIONS = {row["name"]: row for row in read_jsonl(FOLDER.with_suffix(".jsonl"))}
# What differs between machines, releases or edits of the code -> what stands in its place.
VOLATILE = {
    r"sha256-[\w+/]+=": "sha256-HASH",
    r"(?m)^.*it/s\]\n": "",  # a bar of the harness
    r"\bMade\n[^\n]*": "Made\nTODAY",
    r"\b\d+\.\d{7,}(e-\d+)?\b": lambda number: f"{float(number[0]):.4g}",
    r"\b[0-9a-f]{16,64}\b": "HEX",
    rf"\b{re.escape(metadata.version('lm-eval-temporal-tasks'))}( \(checkout\))?": "VERSION",
}
# A text of JSON of which the start and the end are enough.
LONG_TEXT = re.compile(
    r'"((?:[^"\\]|\\.){80})(?:[^"\\]|\\.){200,}((?:[^"\\]|\\.){80})"'
)
# Attributes of a page that say nothing to a reader.
UNREAD = "aria-hidden class id role scope style tabindex type viewbox".split()


class PageText(HTMLParser):
    """The texts, attributes and data of a page, in their order, without its style and code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.hidden = ""  # the element whose text is not shown
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        if tag in ("script", "style"):
            self.hidden = dict(attributes).get("type") or tag
        shown = [f"{name}={value}" for name, value in attributes if name not in UNREAD]
        if shown and not self.hidden:
            self.lines.append(" ".join(shown))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.hidden = ""

    def handle_data(self, data: str) -> None:
        if self.hidden == "application/json":
            self.lines += json_lines(json.loads(data))
        elif not self.hidden and (text := " ".join(data.split())):
            self.lines.append(text)


def json_lines(value: dict | list) -> list[str]:
    """Return JSON with each entry on a line, without its nulls."""
    if isinstance(value, dict):
        return [
            f"{name}: {line}"
            for name, part in value.items()
            for line in (
                json_lines(part) if isinstance(part, list) else [text_of(part)]
            )
        ]
    return [text_of(part) for part in value]


def text_of(part: object) -> str:
    """Return JSON without nulls; of a long text, such as a prompt, its start and its end."""
    if isinstance(part, dict):
        part = {name: part[name] for name in part if part[name] is not None}
    text = json.dumps(part, ensure_ascii=False)
    return LONG_TEXT.sub(r'"\1 … \2"', text)


def contents(path: Path) -> str:
    """Return what a file that a tool wrote says, an entry a line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return "\n".join(PageText(text).lines)
    if path.suffix == ".json":
        return "\n".join(json_lines(json.loads(text)))
    return text.rstrip("\n")


def lay_out(session: dict) -> None:
    """Write the files of a session to the working directory."""
    for name, rows in session.get("files", {}).items():
        write(Path(name), *rows)
    for name, edits in session.get("runs", {}).items():
        for number, edit in enumerate(edits):
            submission(Path(name), edit.pop("model", "plain"), edit, number)


def answer(pack: str, task: str, every: str, path: str) -> list[str]:
    """Write answers to the documents of a task of a pack, each `every`-th wrong.

    Return what it prints: nothing.
    """
    lines = []
    for place, doc in enumerate(documents(task, Path(pack))):
        is_wrong = place % int(every) == 0
        response = "no idea" if is_wrong else scorer(task).utils.gold_response(doc)
        lines.append({"task": task, "doc": doc, "response": response})
    write(Path(path), *lines)
    return []


def show(*names: str) -> Iterator[str]:
    """Yield the files that patterns match, each below its path."""
    for path in sorted(path for name in names for path in Path().glob(name)):
        yield f"== {path}"
        yield contents(path)


def run_tool(*arguments: str) -> Iterator[str]:
    """Yield what a tool prints and says, rows of JSON by line, and its exit status."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(printed), redirect_stderr(printed):
        status = main([*arguments])
    text = printed.buffer.getvalue().decode().rstrip("\n")
    yield from json_lines(json.loads(text)) if text.startswith("[\n") else [text]
    if status:
        yield f"(exit status {status})"


OWN_COMMANDS = {"answer": answer, "show": show}


def play(session: dict, folder: Path) -> Iterator[str]:
    """Yield the lines of the record of a session that is held in a new folder."""
    os.chdir(folder)
    lay_out(deepcopy(session))
    for command in session["commands"]:
        yield f"$ {command}"
        words = shlex.split(command.replace("EXAMPLES", str(EXAMPLES)))
        if own_command := OWN_COMMANDS.get(words[0]):
            yield from own_command(*words[1:])
        else:
            yield from run_tool(*words)


def record(name: str, folder: Path) -> str:
    """Return the record of a session."""
    text = "\n".join(play(SESSIONS[name], folder)) + "\n"
    text = text.replace(str(folder), "FOLDER").replace(str(EXAMPLES), "EXAMPLES")
    for pattern, instead in VOLATILE.items():
        text = re.sub(pattern, instead, text)
    return text


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SESSIONS:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = f"{folder}/caches"
            text = record(name, Path(folder))
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
