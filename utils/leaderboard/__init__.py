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

import os
import re
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from ..core import format_tables
from ..core.cli import named_path, output_path, say, tool_parser
from ..core.files import check_output, written_whole
from ..figures.score_rows import RULES
from ..integrity.run_checks import Check
from ..verdicts.cli_options import answer_options
from ..verdicts.find_answer_files import Failure
from ..verdicts.runs_by_model import Model, read_models
from ..verdicts.stored_tables import Table
from . import page
from .board_contents import board_data, board_rows, status_in
from .model_status import Entrant


_MOST_NAMED, _MOST_LISTED = 3, 20  # files of a model that are left out
# Option -> how the file begins that the tool writes there.
_BEGINNINGS = {
    "html": re.escape(page.FIRST_LINE),
    "csv": "model,status,remarks,scope,",
    "json": r'\[\n *\{\n *"model": .*\n *"status": .*\n *"remarks": .*\n *"scope": ',
}


def main(arguments: list[str] | None = None) -> int:
    """Write the files; return the exit status."""
    options = _options(arguments)
    for option, beginning_pattern in _BEGINNINGS.items():
        check_output(getattr(options, option), "leaderboard", beginning_pattern)
    models, read_failures = read_models(options.run, options, Check)
    models, failures = _read_whole(models, read_failures)
    messages = [message for model in models for message in model.messages]
    messages += [
        f"{named_path(failure.path)}: left out: {failure.reason}"
        for failure in failures
    ]
    for message in [*messages, *_hints(models)]:
        say(message)
    if not models:
        return 1
    failures += _files_left_out(models)
    data = board_data([*map(Entrant, models)], failures, options)
    _write(data, options)
    _print_standing(data, options)
    return 1 if messages else 0


def page_option(parser: ArgumentParser) -> None:
    """Add the option that names a page."""
    page_help = "a file, or a folder with a slash at its end"
    parser.add_argument("--html", type=_page, metavar="PAGE", help=page_help)


def check_page(page_and_kind: tuple[Path, bool]) -> None:
    """Raise ToolError where a file that is no page stands in the place of one."""
    check_output(page_and_kind[0], "leaderboard", _BEGINNINGS["html"])


def write_page(
    models: list[Model],
    failures: list[Failure],
    options: Namespace,
    warnings: list[str],
) -> None:
    """Write the page of models that were read with `Check`, and warnings on top of it.

    `options` are those of `page_option` and `answer_options`.
    """
    html, is_folder = options.html
    outputs = {"html": html, "is_folder": is_folder, "csv": None, "json": None}
    page_options = Namespace(**vars(options) | outputs)
    models, failures = _read_whole(models, failures)
    if models:
        data = board_data([*map(Entrant, models)], failures, page_options)
        data["about"]["warnings"] = warnings
        _write(data, page_options)
        say(f"{html.absolute()} is written")


def _read_whole(
    models: list[Model], failures: list[Failure]
) -> tuple[list[Model], list[Failure]]:
    """Return the models that can stand on a board, and failures with the others."""
    whole_models = [model for model in models if not _fault(model)]
    other_failures = [
        Failure(model.source.place, model.name, fault)
        for model in models
        if (fault := _fault(model))
    ]
    return whole_models, other_failures + failures


def _fault(model: Model) -> str | None:
    """Return why a model is left out: a file that is not read to its end, or no answer."""
    for table in model.tables:
        reason = table.head["end"] or (not model.tasks and _refused_line(table))
        if reason and table.source.path == model.source.place:
            return reason
        if reason:
            return f"{table.source.path.name}: {reason}"
    return None


def _files_left_out(models: list[Model]) -> Iterator[Failure]:
    """Yield the files beside others of a model of which no line can be scored."""
    for model in models:
        failures = [
            Failure(table.source.path, model.name, fault)
            for table in model.tables
            if not table.head["tasks"] and (fault := _refused_line(table))
        ]
        for failure in failures[:_MOST_NAMED]:
            model.remarks.append(f"{failure.path.name} is left out: {failure.reason}")
        if len(failures) > _MOST_NAMED:
            hidden_count = len(failures) - _MOST_NAMED
            files_are = "file is" if hidden_count == 1 else "files are"
            model.remarks.append(f"{hidden_count:,} more {files_are} left out")
        yield from failures[:_MOST_LISTED]


def _refused_line(table: Table) -> str | None:
    """Return the first refused line of a file, and why it was refused."""
    refusals = table.head["refused"]["lines"]
    return f"line {refusals[0][0]}: {refusals[0][1]}" if refusals else None


def _hints(models: list[Model]) -> Iterator[str]:
    """Yield how to join models of which results claim one name, without a shared task."""
    models_by_claim: dict[str, list[Model]] = defaultdict(list)
    for model in models:
        claim = model.tables[0].head["model"]
        if claim and not model.source.label:
            models_by_claim[claim].append(model)
    for claim, claimants in models_by_claim.items():
        task_counts = Counter(chain(*(model.tasks for model in claimants)))
        if len(claimants) > 1 and task_counts.total() == len(task_counts):
            args = " ".join(
                shlex.quote(f"{claim}={model.source.place}") for model in claimants
            )
            yield f"{claim}: {len(claimants)} rows claim this name; {args} makes one of them"


def _write(data: dict, options: Namespace) -> None:
    """Write the files that are asked for."""
    content_by_path = page.files(data, options) if options.html else {}
    for table_format in ("csv", "json"):
        if table_path := getattr(options, table_format):
            table_text = format_tables.render(
                [*board_rows(data["models"])], table_format
            )
            content_by_path[table_path] = table_text.encode("utf-8", "backslashreplace")
    beginnings = {
        getattr(options, option): _BEGINNINGS[option] for option in _BEGINNINGS
    }
    for path, content in content_by_path.items():
        # Beside the page stand files of documents.
        beginning_pattern = beginnings.get(path, re.escape(page.SCRIPT_LINE))
        check = partial(check_output, path, "leaderboard", beginning_pattern)
        with written_whole(path, check) as file:
            file.write(content)


def _print_standing(data: dict, options: Namespace) -> None:
    """Print who stands where, and say what is written."""
    terminal_rows = []
    for benchmark in data["benchmarks"]:
        for entrant in benchmark["models"]:
            row = entrant.benchmark_rows[benchmark["name"]]
            terminal_row = {"benchmark": benchmark["name"], "model": entrant.name}
            status = status_in(entrant, benchmark["name"])
            terminal_row |= {"status": status, "n": row["n"]}
            for score_rule in RULES:
                terminal_row[score_rule] = row[score_rule]
                terminal_row[f"{score_rule} rank"] = row[f"{score_rule}_rank"] or "–"
            terminal_rows.append(terminal_row)
    terminal_table = format_tables.render(
        terminal_rows, "markdown", format_tables.percent
    )
    sys.stdout.write(f"{terminal_table}\n")
    for path in filter(None, (options.html, options.csv, options.json)):
        say(f"{path.absolute()} is written")


def _page(text: str) -> tuple[Path, bool]:
    """Return the path of the page, and whether it has documents in files beside it."""
    is_folder = text.endswith("/") or output_path(text).is_dir()
    return Path(text, "index.html") if is_folder else Path(text), is_folder


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("leaderboard", __doc__)
    parser.add_argument("run", nargs="+", metavar="RUN")
    page_option(parser)
    for table_option in ("--csv", "--json"):
        parser.add_argument(table_option, type=output_path, metavar="FILE")
    answer_options(parser)
    options = parser.parse_args(arguments)
    options.html, options.is_folder = options.html or (None, False)
    output_paths = [path for path in (options.html, options.csv, options.json) if path]
    if not output_paths:
        parser.error("give --html, --csv or --json")
    if len({*map(os.path.realpath, output_paths)}) < len(output_paths):
        parser.error("two of --html, --csv and --json name one file; name others")
    return options
