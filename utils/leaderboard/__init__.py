"""Make a board of models: a page to read and to publish, and its tables as data.

    temporal-eval leaderboard RUN [RUN ...] --html FILE [--csv FILE] [--json FILE]

A RUN is the output folder of one model or of several, or a file of answers; NAME=RUN names
it. Every answer is scored again, so that all models stand under the same rules. The page
says why a model has no rank, and what it is made of. Lines that cannot be scored are named
and left out; the exit status is then 1.

Example:

    temporal-eval leaderboard examples/responses/plain examples/responses/hasty \\
        --include_path examples --html board.html
"""

from __future__ import annotations

import sys
from argparse import Namespace

from ..core import tables as text_tables
from ..core.cli import output_path, say, tool_parser
from ..core.documents import pack_files
from ..core.errors import ToolError
from ..core.files import check_outputs, is_stream, written_whole
from ..runs.find import Run, find_runs
from ..runs.models import answer_options, read_models


_OUTPUTS = ("html", "csv", "json")
_SHOWN = ("scope", "model", "n", "published", "flexible", "extracted", "not_ranked")


def main(arguments: list[str] | None = None) -> int:
    """Write the files; return the exit status."""
    options = _options(arguments)
    from . import board, browser, page

    runs = find_runs(options.run, options.task)
    _check_files(runs, options)
    found, said = read_models(runs, options, board.result)
    for line in said:
        say(line)
    if not found:
        raise ToolError("no answer could be scored; nothing was written")
    tables = board.tables(found)
    rows = [*board.rows(tables)]
    contents = {}
    if path := options.html:
        documents = browser.collect(found, options.include_path)
        contents[path] = page.render(found, tables, documents, options.leave_out)
    for form in _OUTPUTS[1:]:
        if path := getattr(options, form):
            text = text_tables.render(rows, form)
            contents[path] = text.encode("utf-8", "backslashreplace")
    for path, content in contents.items():
        with written_whole(path) as file:
            file.write(content)
    scopes = board.outermost([table.scope for table in tables])
    those = [row for row in rows if row["by"] is None and row["scope"] in scopes]
    cells = [{column: row[column] for column in _SHOWN} for row in those]
    sys.stdout.write(f"{text_tables.render(cells, 'markdown')}\n")
    for path in contents:
        say(f"{path.absolute()} is written")
    return 1 if said else 0


def _check_files(runs: list[Run], options: Namespace) -> None:
    """Raise ToolError for an output that is an input, and for what the page, which reads
    answers twice, cannot read so.
    """
    outputs = {f"--{name}": getattr(options, name) for name in _OUTPUTS}
    paths = [path for run in runs for path in run.paths()]
    check_outputs(outputs, [*paths, *pack_files(options.include_path)])
    for path in filter(is_stream, paths if options.html else ()):
        raise ToolError(
            f"{path}: can be read only once, and the page reads it twice; save it to a file"
        )


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("leaderboard", __doc__)
    parser.add_argument("run", nargs="+", metavar="RUN")
    for name in _OUTPUTS:
        parser.add_argument(f"--{name}", type=output_path, metavar="FILE")
    answer_options(parser)
    options = parser.parse_args(arguments)
    if not (options.html or options.csv or options.json):
        parser.error("give --html, --csv or --json")
    return options
