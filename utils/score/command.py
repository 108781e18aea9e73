"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--by NAME,...] [--k K]

A PATH is a file of samples that the harness logged (`--log_samples`), of outputs of the
OpenAI Batch API to requests of `temporal-eval export`, or of lines with `task`,
`response`, and `doc` or `doc_id`. With --task, a line may also be a row of the benchmark's
own file with a `response`. Files are JSON Lines, plain or compressed by gzip. A folder
stands for the samples in it, of each model the last run of each task, or else for the
files in it, which are then one run. NAME is what tables call a run.

A document may have several answers: the `choices` of a batch, the `resps` of a log with
`repeats`, or lines with a `sample` each. It scores their mean. --k adds pass@k, the
expected best score of K of them, and the majority: the score of the value, or, published,
the text, that most of them have. CSV and JSON have all scores, reasons and breakdowns, as
fractions, and a fingerprint of the documents.

DIR gets a file for each file, with each line and its `verdict`. Lines that cannot be
scored, and a second answer to a document, are named; the exit status is then 1. A file
whose output is finished is not scored again, so that an interrupted job goes on, and
machines may score some files each. One that was changed since is written anew. A file in
DIR that is not such an output, or the output of another file, is never replaced.

Example:

    temporal-eval score examples/responses/careful/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from tqdm import tqdm

from ..core import tables
from ..core.cli import output_path, say, tool_parser, whole_number
from ..core.errors import ToolError, fault_of
from ..core.families import scorer
from ..core.files import check_outputs
from ..core.jsonl import check_made
from ..runs.answers import task_of
from ..runs.find import Run, find_runs
from ..runs.models import answer_options
from ..runs.scoring import BREAKDOWNS, Scored
from ..runs.several import given
from ..runs.tally import Tally
from . import eval_results
from .files import Job, Refused, Work, check_source, score_file, workers
from .report import Part, report
from .rows import Tallies, rows


_PATIENCE = 10  # seconds after which a run in a terminal shows how far it is


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.path, options.task)
    outputs = _outputs(runs, options.output)
    eval_results.check(runs, options.eval_results)
    parts: list[Part] = []
    is_seen = sys.stderr.isatty()
    bar = tqdm(unit=" answers", delay=_PATIENCE, leave=False, disable=not is_seen)
    try:
        with bar, workers(options.workers) as work:
            for run in runs:
                parts.append(_score(run, options, outputs, work, bar))
    except KeyboardInterrupt:
        how = "give --output DIR to keep the files that are finished"
        if options.output:
            how = f"run the command again, which keeps what is finished in {options.output}"
        say(f"{bar.n} answers were scored; {how}")
        raise
    refused = [x for part in parts for x in part.refused]
    if kept := sum(x.was_finished for x in refused):
        say(f"{options.output}: {kept} of {len(outputs)} outputs were finished; kept")
    rows = [row for part in parts for row in part.rows]
    is_good = all(row["n"] for row in rows) and not any(x.messages for x in refused)
    for row in (row for row in rows if not row["n"]):
        say(
            f"{row['run']}: {options.leave_out} has all documents of {row['task']} that are"
            " answered; score it without --leave_out"
        )
    parts = [x._replace(rows=[row for row in x.rows if row["n"]]) for x in parts]
    if parts := [part for part in parts if part.rows]:
        sys.stdout.write(_text(parts, options))
        if options.eval_results:
            eval_results.write(options.eval_results, runs[0], parts[0].rows)
    return 0 if is_good else 1


def _text(parts: list[Part], options: Namespace) -> str:
    if options.format == "markdown":
        return report(parts, options.by or [])
    rows = [row for part in parts for row in part.rows]
    if options.by is not None:
        rows = [row for row in rows if row["by"] in (None, *options.by)]
    return tables.render(rows, options.format)


def _score(
    run: Run, options: Namespace, outputs: dict[Path, Path], work: Work, bar: tqdm
) -> Part:
    """Score the files of a run."""
    tallies: Tallies = {}
    part = Part(run.name, [], tallies, {}, [])

    def count(scored: Scored) -> None:
        key = (task := scored.answer.task), scored.answer.filter
        if key not in tallies:
            tallies[key] = Tally(task, run, options)
        bar.n += bar.disable  # else `update` counts
        bar.update()
        if document := tallies[key].add(scored):
            examples = part.examples.setdefault(task, {})
            examples.setdefault(scored.verdict.reason, scored)
            if options.k:
                document.given.append(given(scored))

    for path in (file.path for file in run.files):
        task, output = task_of(path, run.task), outputs.get(path)
        try:
            job = Job(path, task, options.include_path, output)
            refused = score_file(job, work, count)
        except OSError as error:
            fault = f"{error.filename or path}: {fault_of(error)}"
            refused = Refused((fault,), is_whole=False)
        part.refused.append(refused)
        for message in refused.messages:
            say(message)
    counted = [x for x in tallies.values() if options.k and x.all.n]
    for least, name in sorted(x.fewest() for x in counted)[:1]:
        if options.k > least:
            few = f"{name} has only {least} answers in {run.name}"
            raise ToolError(f"--k {options.k}: {few}; give at most --k {least}")
    return part._replace(rows=rows(run.name, tallies, options.k))


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("path", nargs="+", metavar="[NAME=]PATH")
    told = {"metavar": "DIR", "help": "where scored lines are written"}
    parser.add_argument("--output", type=output_path, **told)
    parser.add_argument(
        "--by",
        metavar="NAME,...",
        help=f"breakdowns to print: {', '.join(BREAKDOWNS)}; default: none in Markdown,"
        " all in CSV and JSON",
    )
    one = partial(whole_number, least=1)
    parser.add_argument("--k", type=one, metavar="K", help="pass@K and the majority")
    answer_options(parser)
    told = {"metavar": "FILE", "help": "published scores, as the hub's results YAML"}
    parser.add_argument("--eval_results", type=output_path, **told)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    parser.add_argument(
        "--workers",
        type=one,
        default=1,
        metavar="N",
        help="processes that score the lines of a file; default: %(default)s",
    )
    options = parser.parse_args(arguments)
    if options.by is not None:
        options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by or () if name not in BREAKDOWNS]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(BREAKDOWNS)}")
    if options.task:
        scorer(options.task)
    return options


def _outputs(runs: list[Run], folder: Path | None) -> dict[Path, Path]:
    """Return where the lines of each file go; ToolError where that is another's place."""
    paths = [file.path for run in runs for file in run.files] if folder else []
    outputs = {path: folder / path.name for path in paths}
    check_outputs({f"--output for {path}": outputs[path] for path in paths}, paths)
    for path, output in outputs.items():
        check_made(output, "score", "verdict")
        check_source(path, output)
    return outputs
