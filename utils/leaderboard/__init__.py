"""Make a board of models: a page to read and to publish, and its tables as data.

    temporal-eval leaderboard RUN [RUN ...] --html PAGE [--csv FILE] [--json FILE]

A RUN is the output folder of one model or of several, or a file of answers; NAME=RUN names
it. Every answer is scored again, so that all models stand under the same rules. Documents
and prompts are compared with those of the tasks at --include_path; the page says what is
verified, what is not, and why a run is left out. PAGE is a file, which holds some of the
documents, or a folder (with a slash at its end), which holds all. Where a run or a line is
left out, the exit status is 1.

Example:

    temporal-eval leaderboard examples/responses/plain examples/responses/hasty \\
        --include_path examples --html board.html
"""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from ..core import tables as text_tables
from ..core.cli import output_path, say, tool_parser
from ..core.errors import ToolError
from ..core.families import pack_files
from ..core.files import check_maker, check_outputs, written_whole
from ..verdicts.checks import Check
from ..verdicts.runs import Model, answer_options, find_sources, read_models
from ..verdicts.tables import Failure, Table
from .board import FIRST_LINES, RULES, Entrant
from .data import board_data, rows


# How the files of a board begin.
_BEGINNINGS = {form: f"{re.escape(line)}\n" for form, line in FIRST_LINES.items()} | {
    "csv": "model,status,remarks,scope,",
    "json": r'\[\n *\{\n *"model": .*\n *"status": .*\n *"remarks": .*\n *"scope": ',
}


def main(arguments: list[str] | None = None) -> int:
    """Write the files; return the exit status."""
    options = _options(arguments)
    _check_files(options)
    models, failures = read_models(options.run, options, Check, has_rows=True)
    good = [model for model in models if not _fault(model)]
    bad = [model for model in models if model not in good]
    left_out = [Failure(model.place, model.name, _fault(model)) for model in bad]
    left_out += failures
    messages = [message for model in good for message in model.messages]
    messages += [f"{failure.path}: left out: {failure.reason}" for failure in left_out]
    if not good:
        raise ToolError("\n".join(messages))
    for message in [*messages, *_hints(good)]:
        say(message)
    left_out += [*_refused_files(good)]
    entrants = [Entrant.of(model) for model in good]
    _write(entrants, board_data(entrants, left_out, options), options)
    return 1 if messages else 0


def _hints(models: list[Model]) -> Iterator[str]:
    """Yield how to join models that claim one name and share no task."""
    names = {
        model: model.tables[0].head["model"] for model in models if not model.label
    }
    for first, second in combinations(filter(names.get, names), 2):
        name = names[first]
        if name == names[second] and not first.tasks.keys() & second.tasks.keys():
            arguments = f"'{name}={first.place}' '{name}={second.place}'"
            yield f"{name}: two rows claim this name; {arguments} makes one of them"


def _fault(model: Model) -> str | None:
    """Return why a model is left out: a file that is not read to its end, or no answer."""
    reasons = [table.head["end"] for table in model.tables]
    if not model.tasks:
        reasons += map(_refused_line, model.tables)
    return next(filter(None, reasons), None)


def _refused_files(models: list[Model]) -> Iterator[Failure]:
    """Yield the files beside others of a model of which no line can be scored."""
    for model in models:
        for table in model.tables:
            if not table.head["tasks"] and (fault := _refused_line(table)):
                model.remarks.append(f"{table.source.path.name} is left out: {fault}")
                yield Failure(table.source.path, model.name, fault)


def _refused_line(table: Table) -> str | None:
    """Return the first refused line of a file, and why it was refused."""
    lines = table.head["refused"]["lines"]
    return f"line {lines[0][0]}: {lines[0][1]}" if lines else None


def _write(entrants: list[Entrant], data: dict, options: Namespace) -> None:
    """Write the files that are asked for, and print who stands where."""
    from . import browser, page

    contents: dict[Path, bytes] = {}
    form_by_path = {getattr(options, form): form for form in ("html", "csv", "json")}
    if path := options.html:
        models = [entrant.model for entrant in entrants]  # in the order of the board
        documents = browser.collect(models, options)
        scripts = documents.scripts() if options.is_folder else {}
        for files in scripts.values():
            contents |= {path.parent / name: text for name, text in files.items()}
        contents[path] = page.render(data, documents, scripts)
    for form in ("csv", "json"):
        if path := getattr(options, form):
            text = text_tables.render([*rows(data)], form)
            contents[path] = text.encode("utf-8", "backslashreplace")
    for path, content in contents.items():
        check_maker(path, "leaderboard", _BEGINNINGS[form_by_path.get(path, "js")])
        with written_whole(path) as file:
            file.write(content)
    sys.stdout.write(
        f"{text_tables.render([*_lines(data)], 'markdown', text_tables.percent)}\n"
    )
    for path in contents:
        if path.suffix != ".js":
            say(f"{path.absolute()} is written")


def _lines(content: dict) -> Iterator[dict]:
    """Yield what a terminal shows of the models in each benchmark."""
    for name in (benchmark["name"] for benchmark in content["benchmarks"]):
        for model in (model for model in content["models"] if name in model["figures"]):
            row = model["figures"][name]
            cells = {"benchmark": name, "model": model["model"]}
            cells |= {"status": model["status"], "n": row["n"]}
            for rule in RULES:
                cells |= {rule: row[rule], f"{rule} rank": row[f"{rule}_rank"] or "–"}
            yield cells


def _check_files(options: Namespace) -> None:
    """Raise ToolError for an output that is an input, or that this tool has not made."""
    outputs = {f"--{name}": getattr(options, name) for name in ("html", "csv", "json")}
    sources, _ = find_sources(options.run, options.task)
    paths = [path for source in sources for path in (source.path, source.results_path)]
    paths = [path for path in paths if path]
    check_outputs(outputs, [*paths, *pack_files(options.include_path)])
    for option, path in outputs.items():
        if path:
            check_maker(path, "leaderboard", _BEGINNINGS[option.removeprefix("--")])


def _page(text: str) -> str:
    output_path(text)
    return text  # with its slash


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("leaderboard", __doc__)
    parser.add_argument("run", nargs="+", metavar="RUN")
    text = "a file, or a folder with a slash at its end"
    parser.add_argument("--html", type=_page, metavar="PAGE", help=text)
    for name in ("--csv", "--json"):
        parser.add_argument(name, type=output_path, metavar="FILE")
    answer_options(parser)
    options = parser.parse_args(arguments)
    html = options.html
    if not (html or options.csv or options.json):
        parser.error("give --html, --csv or --json")
    options.is_folder = bool(html) and (html.endswith("/") or Path(html).is_dir())
    if html:
        options.html = Path(html, "index.html") if options.is_folder else Path(html)
    return options
