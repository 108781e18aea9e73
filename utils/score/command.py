"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--by NAME,...]

A PATH is a file of samples that the harness logged (`--log_samples`), of outputs of the
OpenAI Batch API to requests of `temporal-eval export`, or of lines with `task`,
`response`, and `doc` or `doc_id`. With --task, a line may also be a row of the benchmark's
own file with a `response`. Files are JSON Lines, plain or compressed by gzip. A folder
stands for the samples in it, of each model the last run of each task, or else for the
files in it, which are then one run. NAME is what tables call a run.

Printed are the mean scores by task, and by question type, answer format and the like.
"rows" says whether the documents are those of the benchmark, by their fingerprint, or all
that a seed made; "changed" how many answers the log gives other scores. Answers that say
nothing about their model are counted: the prompt lacked the format instruction
("no_instruction"), or the token limit ended the response ("cut_off"). --leave_out names a
list of rows with a wrong label, or one of several answers, which do not count.

DIR gets a file for each file, with each line and its `verdict`: scores, reason, the answer
that each rule extracted and where it stands, its value and the reference's. Lines that
cannot be scored, and a second answer to a document, are named; the exit status is then 1.
An output is written whole or not at all. A file whose output is finished is not scored
again, so that an interrupted job goes on, and machines may score some files each. A file in
DIR that is not such an output is never replaced.

Example:

    temporal-eval score examples/responses/careful/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..core import tables
from ..core.cli import output_path, say, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import scorer
from ..core.files import check_outputs
from ..runs.answers import task_of
from ..runs.find import Run, find_runs
from ..runs.models import answer_options
from ..runs.scoring import BREAKDOWNS, INVALID, Scored
from ..runs.tally import Figures, Tally
from .files import Job, may_replace, score_file, workers


Tallies = dict[tuple[str, str | None], Tally]  # by task, and by filter of the harness


def table(run: str, task: str, filter_name: str | None, tally: Tally) -> Iterator[dict]:
    """Yield the rows of a run and task: all documents, then each part of them."""
    place = {"run": run, "task": task}
    place["filter"] = filter_name if filter_name != "none" else None
    parts = sorted(
        tally.parts.items(), key=lambda x: (x[0][0], tables.natural(x[0][1]))
    )
    left_out = f"{tally.left_out} ({tally.leave_out})" if tally.leave_out else None
    for (name, value), figures in [((None, None), tally.all), *parts]:
        yield {
            **place,
            "by": name,
            "value": value,
            "n": figures.n,
            **scores(task, figures),
            "changed": figures.changed,
            **{word: figures.invalid[word] for word in INVALID},
            "left_out": None if name else left_out,
            "rows": None if name else tally.rows_are(),
            "fingerprint": None if name else tally.fingerprint,
        }


def scores(task: str, figures: Figures) -> dict[str, float | None]:
    """Return the mean scores, the headline by its common names, and counts of others."""
    means: dict[str, float | None] = {}
    for metric, mean in figures.means().items():
        means[metric] = mean
        if figures.counts[metric] < figures.n:
            means[f"{metric} n"] = figures.counts[metric]
    published, flexible = scorer(task).headline or (None, None)
    return {
        "published": means.pop(published, None),
        "flexible": means.pop(flexible, None),
        "extracted": means.pop("extracted", None),  # where nothing counts
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
    task, by = part
    rows = sorted(rows, key=lambda row: tables.natural(row["value"]))
    title = f"{tables.escaped(task)} by {by}"
    if len({row["run"] for row in rows}) == 1:
        hidden = {"run", "task", "filter", "by", "value"}
        lines = [
            {by: x["value"]} | {y: x[y] for y in x if y not in hidden} for x in rows
        ]
    else:
        title += "; published / flexible / extracted"
        lines = _across(by, rows)
    return f"{title}\n\n{tables.render(lines, 'markdown')}"


def _across(by: str, rows: list[dict]) -> list[dict]:
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


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.path, options.task)
    outputs = _outputs(runs, options.output)
    rows, is_good, kept = [], True, 0
    with workers(options.workers) as work:
        for run in runs:
            tallies: Tallies = {}
            count = partial(_count, tallies, options.leave_out)
            for path in (file.path for file in run.files):
                task, output = task_of(path, run.task), outputs.get(path)
                job = Job(path, task, options.include_path, output)
                try:
                    messages, was_finished = score_file(job, work, count)
                    kept += was_finished
                except OSError as error:
                    fault = error.strerror or error
                    messages = (f"{error.filename or path}: {fault}",)
                for message in messages:
                    is_good = False
                    say(message)
            for (task, filter_name), tally in tallies.items():
                tally.made = run.made(task, options.include_path)
                rows += table(run.name, task, filter_name, tally)
    if kept:
        say(f"{options.output}: {kept} of {len(outputs)} outputs were finished; kept")
    for row in (row for row in rows if not row["n"]):
        is_good = False
        say(
            f"{row['run']}: {options.leave_out} has all documents of {row['task']} that are"
            " answered; score it without --leave_out"
        )
    if rows := [row for row in rows if row["n"] and row["by"] in (None, *options.by)]:
        is_markdown = options.format == "markdown"
        text = markdown(rows) if is_markdown else tables.render(rows, options.format)
        sys.stdout.write(text)
    return 0 if is_good else 1


def _count(tallies: Tallies, leave_out: str | None, scored: Scored) -> None:
    """Add an answer to the tallies of its run; LineError where it is a second one."""
    key = scored.answer.task, scored.answer.filter
    if key not in tallies:
        tallies[key] = Tally(scored.answer.task, leave_out)
    tallies[key].add(scored)


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("path", nargs="+", metavar="[NAME=]PATH")
    told = {"metavar": "DIR", "help": "where scored lines are written"}
    parser.add_argument("--output", type=output_path, **told)
    parser.add_argument(
        "--by",
        default=",".join(BREAKDOWNS),
        metavar="NAME,...",
        help="breakdowns to print; default: %(default)s; '' for none",
    )
    answer_options(parser)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    parser.add_argument(
        "--workers",
        type=partial(whole_number, least=1),
        default=1,
        metavar="N",
        help="processes that score the lines of a file; default: %(default)s",
    )
    options = parser.parse_args(arguments)
    options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by if name not in BREAKDOWNS]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(BREAKDOWNS)}")
    if options.task:
        scorer(options.task)
    return options


def _outputs(runs: list[Run], folder: Path | None) -> dict[Path, Path]:
    """Return where the lines of each file go; ToolError where that is another's place."""
    paths = [file.path for run in runs for file in run.files] if folder else []
    outputs = {path: folder / path.name for path in paths}
    check_outputs({f"--output for {path}": outputs[path] for path in paths}, paths)
    for output in outputs.values():
        if not may_replace(output):
            raise ToolError(
                f"{output}: is there, and was not made by score; move it elsewhere, or"
                " name another DIR"
            )
    return outputs
