"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--by NAME,...] [--k K] [--cite]

A PATH is a file of samples that the harness logged (`--log_samples`), of outputs of the
OpenAI Batch API to requests of `temporal-eval export`, or of lines with `task`,
`response`, and `doc` or `doc_id`. With --task, a line may also be a row of the benchmark's
own file with a `response`. Files are JSON Lines, plain or compressed by gzip. A folder
stands for the samples in it, of each model the fullest run of each task, of equal ones the
last, or else for the files in it, which are then one run. NAME is what tables call a run;
several paths of one NAME are one run.

A document may have several answers: the `choices` of a batch, the `resps` of a log with
`repeats`, or lines with a `sample` each. It scores their mean. --k adds pass@k, the
expected best score of K of them, and the majority: the score of the value, or, published,
the text, that most of them have. CSV and JSON have all scores, reasons and breakdowns, as
fractions, with both ends of 95 % intervals, standard errors, degrees of freedom, clusters
and design effects, and a fingerprint of the documents. --cite prints a line for a paper.

DIR gets a table of verdicts for each file: a folder with run.json and a row an answer.
Lines that cannot be scored, and a second answer to a document, are named; the exit status
is then 1. A file whose table is there is not scored again, so that an interrupted job goes
on, and machines may score some files each. The table of a file that was changed since is
made anew. What is in DIR and is no such table, or that of another file, is never replaced.

Example:

    temporal-eval score examples/responses/careful/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import sys
from argparse import Namespace
from functools import partial

from ..core import tables
from ..core.cli import output_path, say, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import scorer
from ..verdicts.judge import BREAKDOWNS
from ..verdicts.runs import Model, answer_options, read_models
from . import eval_results
from .cite import bibliography, citations
from .report import Part, report
from .rows import rows


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    models, failures = read_models(
        options.path, options, output=options.output, has_readings=bool(options.k)
    )
    eval_results.check(models, options.eval_results)
    messages = [message for model in models for message in model.messages]
    messages += [failure.message for failure in failures]
    for model in models:
        messages += (
            f"{model.name}: {options.leave_out} has all documents of {task} that are"
            " answered; score it without --leave_out"
            for task, tally in model.tasks.items()
            if not tally.all.n
        )
    for message in messages:
        say(message)
    parts = [_part(model, options) for model in models]
    if parts := [part for part in parts if part.rows]:
        sys.stdout.write(_text(parts, options))
        if options.eval_results:
            eval_results.write(options.eval_results, parts[0].model, parts[0].rows)
    return 1 if messages else 0


def _text(parts: list[Part], options: Namespace) -> str:
    if options.cite:
        lines = [line for part in parts for line in citations(part.model, part.rows)]
        entries = bibliography([part.model for part in parts])
        return "\n".join([*(f"{line}\n" for line in lines), *entries])
    if options.format == "markdown":
        return report(parts, options.by or [])
    kept_rows = [row for part in parts for row in part.rows]
    if options.by is not None:
        kept_rows = [row for row in kept_rows if row["by"] in (None, *options.by)]
    return tables.render(kept_rows, options.format)


def _part(model: Model, options: Namespace) -> Part:
    """Return the figures of a model, without tasks of which all documents are left out."""
    tasks = model.tasks.items()
    tallies = {(task, model.filter): tally for task, tally in tasks if tally.all.n}
    if options.k and tallies:
        least, name = min(tally.fewest() for tally in tallies.values())
        if options.k > least:
            shortage = f"{name} has only {least} answers in {model.name}"
            raise ToolError(f"--k {options.k}: {shortage}; give at most --k {least}")
    return Part(model, rows(model.name, tallies, options.k))


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("path", nargs="+", metavar="[NAME=]PATH")
    text = "where tables of verdicts are written"
    parser.add_argument("--output", type=output_path, metavar="DIR", help=text)
    text = f"breakdowns to print: {', '.join(BREAKDOWNS)}; default: none in Markdown, all in"
    text += " CSV and JSON; task: the reasons by task"
    parser.add_argument("--by", metavar="NAME,...", help=text)
    text = "print a line for a paper for each benchmark, and BibTeX entries"
    parser.add_argument("--cite", action="store_true", help=text)
    least_one = partial(whole_number, least=1)
    text = "pass@K and the majority"
    parser.add_argument("--k", type=least_one, metavar="K", help=text)
    answer_options(parser)
    text = "published scores, as the hub's results YAML"
    parser.add_argument("--eval_results", type=output_path, metavar="FILE", help=text)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    names = ("task", *BREAKDOWNS)
    if options.by is not None:
        options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by or () if name not in names]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(names)}")
    if options.task:
        scorer(options.task)
    return options
