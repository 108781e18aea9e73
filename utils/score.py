"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--by NAME,...]

A PATH is a file of samples that the harness logged (`--log_samples`), of outputs of the
OpenAI Batch API to requests of `temporal-eval export`, or of lines with `task`,
`response`, and `doc` or `doc_id`; JSON Lines, plain or gzipped. With --task, a line may
also be a row of the benchmark's own file with a `response`. A folder stands for the
samples in it: of each model the last run of each task. NAME is what tables call it.

Printed are the mean scores by task, and by question type, answer format and the like.
"rows" says whether the documents are those of the benchmark, by their fingerprint;
"changed" how many answers the log gives other scores. Answers that say nothing about
their model are counted: the prompt lacked the format instruction ("no_instruction"), or
the token limit ended the response ("cut_off").

--leave_out names a list of rows with a wrong label, or one of several answers; answers
to them are scored, but do not count ("left_out" says how many).

DIR gets a file for each file, with each line and its `verdict`: the scores, a word for
the reason, the answer that each rule extracted and where in the response it stands (from
character to character), its value and the reference's. Lines that cannot be scored, such
as edited ones, are named and left out; the exit status is then 1.

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
from functools import partial
from pathlib import Path
from typing import BinaryIO

from . import tables
from .answers import read_answers
from .cli import leave_out_option, say, tool_parser
from .errors import LineError, ToolError
from .families import FOLDER, scorer
from .files import written_whole
from .runs import File, Run, find_runs
from .scoring import BREAKDOWNS, INVALID, Figures, Scored, Tally, score, verdict_line


class Refused:
    """Says which lines of a file were refused: the first by name, the rest by number."""

    MOST_NAMED = 10

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0

    def add(self, message: str) -> None:
        """Say why one more was refused."""
        self.count += 1
        if self.count <= self.MOST_NAMED:
            say(message)

    def close(self) -> None:
        """Say how many were not named."""
        if (rest := self.count - self.MOST_NAMED) > 0:
            say(f"{self.path}: {rest} more lines were refused")


def score_file(
    path: Path,
    task: str | None,
    include_path: Path,
    output: Path | None,
    refused: Refused,
    leave_out: str | None = None,
) -> dict[tuple[str, str | None], Tally]:
    """Return the tallies of a file by task, and by filter of the harness.

    Lines go to `output`, where there is one, as they are read. Raises OSError and
    ToolError, leaving no output, where nothing in the file can be scored.
    """
    tallies: dict[tuple[str, str | None], Tally] = {}
    with _writer(output) as file:
        try:
            for answer in read_answers(path, task):
                try:
                    scored = score(answer, include_path)
                    line = _written(scored) if file else b""
                    key = answer.task, answer.filter
                    tally = tallies.get(key) or Tally(answer.task, leave_out)
                    tally.add(scored)
                except LineError as error:
                    refused.add(str(error))
                    continue
                tallies[key] = tally
                if file:
                    file.write(line)
        except ToolError as error:
            if not tallies:
                raise
            refused.add(str(error))  # what came before it stands
        if not tallies:
            found = "answers that can be scored" if refused.count else "answers"
            raise ToolError(f"{path}: has no {found}; give a file with some")
    return tallies


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


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def _written(scored: Scored) -> bytes:
    """Return the line with the verdict on an answer; LineError for a nested one."""
    line = verdict_line(scored)
    try:
        return _ENCODER.encode(line).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which has no UTF-8
        return json.dumps(line).encode() + b"\n"
    except RecursionError:
        place = scored.answer.place
        raise LineError(f"{place}: is nested too deeply; fix the line") from None


# ------------------------------------------------------------------------- tables


def table(run: str, task: str, filter_name: str | None, tally: Tally) -> Iterator[dict]:
    """Yield the rows of a run and task: all documents, then each part of them."""
    place = {"run": run, "task": task}
    place["filter"] = filter_name if filter_name != "none" else None
    parts = sorted(
        tally.parts.items(), key=lambda x: (x[0][0], tables.natural(x[0][1]))
    )
    for (name, value), figures in [((None, None), tally.all), *parts]:
        yield {
            **place,
            "by": name,
            "value": value,
            "n": figures.n,
            **_scores(task, figures),
            "changed": figures.changed,
            **{word: figures.invalid[word] for word in INVALID},
            "left_out": None if name else _left_out(tally),
            "rows": None if name else tally.rows_are(),
            "fingerprint": None if name else tally.fingerprint,
        }


def _left_out(tally: Tally) -> str | None:
    """Return how many answers a list leaves out, with its name; None without a list."""
    return f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None


def _scores(task: str, figures: Figures) -> dict[str, float | None]:
    """Return the mean scores, the two headline ones by their common names.

    Beside a metric that not every document has stands how many have it.
    """
    means: dict[str, float | None] = {}
    for metric, mean in figures.means().items():
        means[metric] = mean
        if figures.counts[metric] < figures.n:
            means[f"{metric} n"] = figures.counts[metric]
    published, flexible = scorer(task).headline or (None, None)
    return {
        "published": means.pop(published, None),
        "flexible": means.pop(flexible, None),
        "extracted": means.pop("extracted"),
        **means,
    }


def markdown(rows: list[dict]) -> str:
    """Return the rows as one table by task, and one for each task and breakdown."""
    counts = ("changed", *INVALID)
    rows = [row | {name: row[name] or None for name in counts} for row in rows]
    parts = {}
    for row in rows:
        task = " ".join(filter(None, (row["task"], row["filter"])))
        parts.setdefault((task, row["by"]) if row["by"] else None, []).append(row)
    overall = tables.render(parts.pop(None), "markdown")
    return "\n".join((overall, *(_breakdown(*part) for part in parts.items())))


def _breakdown(part: tuple[str, str], rows: list[dict]) -> str:
    """Return the table of a breakdown: values down; metrics, or runs, across."""
    task, by = part
    rows = sorted(rows, key=lambda row: tables.natural(row["value"]))
    title = f"{tables.escaped(task)} by {by}"
    if len({row["run"] for row in rows}) == 1:
        hidden = ("run", "task", "filter", "by", "value")
        lines = [
            {by: row["value"], **{x: row[x] for x in row if x not in hidden}}
            for row in rows
        ]
    else:
        title += "; published / flexible / extracted"
        lines = _across(by, rows)
    return f"{title}\n\n{tables.render(lines, 'markdown')}"


def _across(by: str, rows: list[dict]) -> list[dict]:
    """Return a line for each value, with the scores of each run in a cell."""
    lines: dict[str, dict] = {}
    for row in rows:
        line = lines.setdefault(row["value"], {by: row["value"], "n": row["n"]})
        if line["n"] != row["n"]:  # as a rule, the runs answer the same documents
            line["n"] = "differs"
        scores = (row["published"], row["flexible"], row["extracted"])
        # The blank, which no table shows, keeps a run called "n" apart.
        name = f"{row['run']} "
        line[name] = " / ".join(tables.number(x) for x in scores if x is not None)
    return [*lines.values()]


# ------------------------------------------------------------------- command line


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.path, options.task)
    outputs = _outputs(runs, options.output)
    rows, is_good = [], True
    for run in runs:
        for file in run.files:
            found, is_whole = _scored(file, run, outputs, options)
            rows += found
            is_good = is_good and is_whole
    chosen = [row for row in rows if row["by"] in (None, *options.by)]
    if chosen:
        is_markdown = options.format == "markdown"
        write = markdown if is_markdown else partial(tables.render, form=options.format)
        sys.stdout.write(write(chosen))
    return 0 if is_good else 1


def _scored(
    file: File, run: Run, outputs: dict[Path, Path], options: Namespace
) -> tuple[list[dict], bool]:
    """Return the rows of a file, and whether all of its lines were scored."""
    refused, path = Refused(file.path), file.path
    rows: list[dict] = []
    try:
        output = outputs.get(path)
        found = score_file(
            *(path, run.task, options.include_path, output, refused),
            leave_out=options.leave_out,
        )
        for (task, filter_name), tally in found.items():
            if tally.all.n:
                rows += table(run.name, task, filter_name, tally)
            else:
                refused.add(
                    f"{path}: {tally.leave_out} has all documents of {task} that are"
                    " answered; score it without --leave_out"
                )
    except ToolError as error:
        refused.add(str(error))
    except OSError as error:
        refused.add(f"{error.filename or path}: {error.strerror or error}")
    refused.close()
    return rows, not refused.count


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("path", nargs="+", metavar="[NAME=]PATH")
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
    leave_out_option(parser)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by if name not in BREAKDOWNS]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(BREAKDOWNS)}")
    if options.task:
        scorer(options.task)
    return options


def _outputs(runs: list[Run], folder: Path | None) -> dict[Path, Path]:
    """Return where the lines of each file go; ToolError where that is another's place."""
    if folder is None:
        return {}
    paths = [file.path for run in runs for file in run.files]
    outputs: dict[Path, Path] = {}
    for path in paths:
        output = folder / path.name
        if output.exists() and any(x.exists() and output.samefile(x) for x in paths):
            raise ToolError(f"{output}: is one of the files to score; name another DIR")
        if output in outputs.values():
            raise ToolError(
                f"{path}: another file of this name is to be scored; name an --output for"
                " each"
            )
        outputs[path] = output
    return outputs
