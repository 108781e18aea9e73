"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score FILE [FILE ...] [--output DIR] [--by NAME,...]

A FILE has samples that the harness logged (`--log_samples`), outputs of the OpenAI Batch
API to requests of `temporal-eval export`, or lines with `task`, `response`, and `doc` or
`doc_id`; JSON Lines, plain or gzipped. Printed are the mean scores by task, and by
question type, answer format and the like; "rows" says whether the documents are those of
the benchmark, and "invalid" how many answers say nothing about their model: the prompt
lacked its instruction (no_instruction), or the token limit ended the response (cut_off).
DIR gets a file for each FILE, with each line and its `verdict`: the scores, a word for
the reason, the answer that each rule extracted and where it stands, the reference's
value. Lines that cannot be scored, such as edited ones, are named and left out; the exit
status is then 1.

Example:

    temporal-eval score examples/responses/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import gzip
import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from . import tables
from .answers import SAMPLES_NAME, read_answers
from .cli import tool_parser
from .errors import ToolError
from .families import FOLDER, scorer
from .files import written_whole
from .scoring import BREAKDOWNS, Figures, Tally, score, verdict_line


_MOST_NAMED = 10  # lines of a file that are refused by name; the rest is counted


def score_file(
    path: Path, task: str | None, include_path: Path, output: Path | None
) -> tuple[dict[str, Tally], list[str]]:
    """Return the tallies of a file by task, and why lines of it were refused.

    Lines go to `output`, where there is one, as they are read. Raises OSError and
    ToolError, leaving no output, where the file is not one of answers.
    """
    tallies: dict[str, Tally] = {}
    refused = []
    with _writer(output) as file:
        for answer in read_answers(path, task):
            try:
                scored = score(answer, include_path)
                tally = tallies.setdefault(answer.task, Tally(answer.task))
                tally.add(scored)
            except ToolError as error:
                refused.append(str(error))
                continue
            if file:
                line = json.dumps(verdict_line(scored), ensure_ascii=False)
                file.write(line.encode("utf-8", "surrogatepass") + b"\n")
    return tallies, refused


@contextmanager
def _writer(output: Path | None) -> Iterator[BinaryIO | None]:
    """Give a file to write lines to, gzipped where its name says so; None for none."""
    if output is None:
        yield None
        return
    with written_whole(output) as file:
        if output.suffix != ".gz":
            yield file
            return
        # Without a name and a time: the same answers give the same bytes.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped:
            yield zipped


def rows(run: str, tally: Tally) -> Iterator[dict]:
    """Yield the table's rows of a run and task: all documents, then each part."""
    yield _row(run, tally.task, None, None, tally.all) | {"rows": tally.rows_are()}
    for (name, value), figures in sorted(tally.parts.items()):
        yield _row(run, tally.task, name, value, figures)


def _row(
    run: str, task: str, name: str | None, value: str | None, figures: Figures
) -> dict:
    means = figures.means()
    published, flexible = scorer(task).headline or (None, None)
    others = [metric for metric in means if metric not in (published, flexible)]
    others.remove("extracted")
    return {
        "run": run,
        "task": task,
        "by": name,
        "value": value,
        "n": figures.n,
        "published": means.get(published),
        "flexible": means.get(flexible),
        "extracted": means["extracted"],
        "others": ", ".join(f"{x} {tables.number(means[x])}" for x in others) or None,
        "invalid": ", ".join(f"{n} {x}" for x, n in sorted(figures.invalid.items()))
        or None,
    }


def markdown(found: list[dict]) -> str:
    """Return the rows as one table by task, and one for each task and breakdown."""
    columns = ("by", "value")
    overall = [
        {name: cell for name, cell in row.items() if name not in columns}
        for row in found
        if row["by"] is None
    ]
    parts = [tables.render(overall, "markdown")]
    for task, name in dict.fromkeys((x["task"], x["by"]) for x in found if x["by"]):
        those = [x for x in found if (x["task"], x["by"]) == (task, name)]
        parts.append(
            f"{task} by {name}; published / flexible / extracted\n\n{_across(those)}"
        )
    return "\n".join(parts)


def _across(found: list[dict]) -> str:
    """Return a table of one breakdown: values down, runs across."""
    lines: dict[str, dict] = {}
    for row in found:
        scores = (row["published"], row["flexible"], row["extracted"])
        cell = " / ".join(tables.number(x) for x in scores if x is not None)
        line = lines.setdefault(row["value"], {"value": row["value"], "n": row["n"]})
        line[row["run"]] = cell
    return tables.render([lines[value] for value in sorted(lines)], "markdown")


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the files; return the exit status."""
    options = _options(arguments)
    outputs = _outputs(options.file, options.output)
    found, is_good = [], True
    for path, run in zip(options.file, _run_names(options.file)):
        try:
            tallies, refused = score_file(
                path, options.task, options.include_path, outputs[path]
            )
        except ToolError as error:
            tallies, refused = {}, [str(error)]
        except OSError as error:
            tallies, refused = {}, [f"{path}: {error.strerror or error}"]
        is_good = is_good and not refused
        _say_refused(path, refused)
        for tally in tallies.values():
            found += rows(run, tally)
    chosen = [x for x in found if x["by"] is None or x["by"] in options.by]
    if not chosen:
        return 1
    if options.format == "markdown":
        sys.stdout.write(markdown(chosen))
    else:
        sys.stdout.write(tables.render(chosen, options.format))
    return 0 if is_good else 1


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("file", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--task", help="the task of lines that do not name theirs")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="where scored lines are written"
    )
    parser.add_argument(
        "--by",
        default=",".join(BREAKDOWNS),
        metavar="NAME,...",
        help="breakdowns to print; default: %(default)s; '' for none",
    )
    parser.add_argument(
        "--include_path",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help="the tasks whose documents a doc_id is of; default: the pack's own",
    )
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    options.by = options.by.split(",")
    if unknown := {*options.by} - {*BREAKDOWNS, ""}:
        parser.error(f"--by {unknown.pop()}: choose from {', '.join(BREAKDOWNS)}")
    return options


def _outputs(paths: list[Path], folder: Path | None) -> dict[Path, Path | None]:
    """Return where the lines of each file go; ToolError where that is another's place."""
    if folder is None:
        return dict.fromkeys(paths)
    outputs: dict[Path, Path | None] = {}
    for path in paths:
        output = folder / path.name
        if output.exists() and any(x.exists() and output.samefile(x) for x in paths):
            raise ToolError(f"{output}: is one of the files to score; name another DIR")
        if output in outputs.values():
            raise ToolError(
                f"{path}: another file of this name is to be scored; name one --output for"
                " each"
            )
        outputs[path] = output
    return outputs


def _run_names(paths: list[Path]) -> list[str]:
    """Return what tables call each file: the model's folder, else the file's name."""
    names = [
        path.resolve().parent.name if SAMPLES_NAME.fullmatch(path.name) else path.stem
        for path in paths
    ]
    tasks = [(name, path.name.partition("_20")[0]) for name, path in zip(names, paths)]
    return [
        name if tasks.count(task) == 1 else str(path)
        for name, task, path in zip(names, tasks, paths)
    ]


def _say_refused(path: Path, refused: list[str]) -> None:
    for fault in refused[:_MOST_NAMED]:
        sys.stderr.write(f"{fault}\n")
    if len(refused) > _MOST_NAMED:
        more = len(refused) - _MOST_NAMED
        sys.stderr.write(f"{path}: {more} more lines were refused\n")
