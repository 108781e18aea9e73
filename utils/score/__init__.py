"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--by NAME,...]

A PATH is a file of samples that the harness logged (`--log_samples`), of outputs of the
OpenAI Batch API to requests of `temporal-eval export`, or of lines with `task`,
`response`, and `doc` or `doc_id`. With --task, a line may also be a row of the benchmark's
own file with a `response`. Files are JSON Lines, plain or compressed by gzip or zstd, or
Parquet, with a column for each key or one column `line` of JSON texts. A folder stands for
the samples in it, of each model the last run of each task, or else for the files in it,
which are then one run. NAME is what tables call a run.

Printed are the mean scores by task, and by question type, answer format and the like.
"rows" says whether the documents are those of the benchmark, by their fingerprint, or all
that a seed made, where the results beside a log or the pack at --include_path tell it;
"changed" how many answers the log gives other scores. Answers that say nothing about
their model are counted: the prompt lacked the format instruction ("no_instruction"), or
the token limit ended the response ("cut_off").

--leave_out names a list of rows with a wrong label, or one of several answers; answers
to them are scored, but do not count ("left_out" says how many).

DIR gets a file for each file, with each line and its `verdict`: the scores, a word for
the reason, the answer that each rule extracted and where in the response it stands (from
character to character), its value and the reference's. Lines that cannot be scored, such
as edited ones, are named and left out; the exit status is then 1. An output is written
whole or not at all, and what it was made of is kept in DIR/.finished: a file whose output
is finished is not scored again, so that an interrupted job goes on, and machines may score
some files each, and one of them the folder in the end, for the table. Ray (--engine ray)
writes a folder for each run instead, which an interrupted job leaves unfinished: remove it,
and start again. A file in DIR that is not such an output is never replaced.

Example:

    temporal-eval score examples/responses/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from ..core import tables
from ..core.cli import answer_options, output_path, say, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import scorer
from ..core.files import identities, is_stream, remove_leftovers
from .pool import in_order
from ..runs.find import Run, find_runs
from ..runs.scoring import BREAKDOWNS, INVALID, Figures, Tally
from .shards import Result, Shard, Tallies, may_replace, score_shard


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
    engine = _by_ray if options.engine == "ray" else _by_processes
    rows, is_good = [], True
    with closing(engine(options)) as runs:
        for name, tallies, was_good in runs:
            is_good = is_good and was_good
            for (task, filter_name), tally in tallies.items():
                if tally.all.n:
                    rows += table(name, task, filter_name, tally)
                else:
                    is_good = False
                    say(
                        f"{name}: {tally.leave_out} has all documents of {task} that are"
                        " answered; score it without --leave_out"
                    )
    _show([row for row in rows if row["by"] in (None, *options.by)], options.format)
    return 0 if is_good else 1


# What an engine yields: a run's name, its tallies, and whether all lines were scored.
Scores = Iterator[tuple[str, Tallies, bool]]


def _by_processes(options: Namespace) -> Scores:
    """Score the files one by one, or by several processes."""
    runs = find_runs(options.path, options.task)
    outputs = _outputs(runs, options.output and Path(options.output))
    shards = [
        Shard(
            *(file.path, run.task, options.include_path),
            leave_out=options.leave_out,
            output=outputs.get(file.path),
        )
        for run in runs
        for file in run.files
    ]
    workers = 1 if any(is_stream(x.path) for x in shards) else options.workers
    kept = 0
    with closing(in_order(score_shard, shards, min(workers, len(shards)))) as results:
        pairs = zip(shards, results, strict=True)
        for run in runs:
            tallies: Tallies = {}
            is_good = True
            for shard, result in islice(pairs, len(run.files)):
                found = _joined(tallies, shard, result)
                is_good = _said(found.messages) and is_good
                kept += found.was_finished
            for (task, _), tally in tallies.items():
                tally.made = run.made(task, options.include_path)
            yield run.name, tallies, is_good
    if kept:
        say(f"{options.output}: {kept} of {len(shards)} outputs were finished; kept")


def _by_ray(options: Namespace) -> Scores:
    """Score the files of one run after the other, on a cluster of Ray."""
    for name, paths in _places(options).items():
        folder = f"{options.output}/{folder_name(name)}"
        if "://" not in folder:
            folder = str(Path(folder).resolve())
        shard = Shard(
            Path(), options.task, options.include_path.resolve(), options.leave_out
        )
        found = score_files(paths, shard, folder)
        order = {path: number for number, path in enumerate(paths)}
        tallies: Tallies = {}
        is_good = True
        for path in sorted(found, key=lambda x: (order.get(x, len(order)), x)):
            result = found[path]
            if _is_repeated(tallies, result):
                result = Result({}, (*result.messages, f"{path}: {_REPEATED}"))
            _add(tallies, result)
            is_good = _said(result.messages) and is_good
        yield name, tallies, is_good


def _places(options: Namespace) -> dict[str, list[str]]:
    """Return the absolute paths, or the URLs, of each run."""
    places: dict[str, list[str]] = {}
    local = [x for x in options.path if "://" not in x]
    for run in find_runs(local, options.task) if local else []:
        places[run.name] = [str(file.path.resolve()) for file in run.files]
    for argument in options.path:
        if "://" in argument:
            label, equals, url = argument.partition("=")
            if "://" in label or not equals:
                label, url = PurePosixPath(argument).name, argument
            places.setdefault(label, []).append(url)
    return places


def _said(messages: tuple[str, ...]) -> bool:
    """Say what there is to say; return whether that was nothing."""
    for message in messages:
        say(message)
    return not messages


def _joined(tallies: Tallies, shard: Shard, result: Result | None) -> Result:
    """Add what came of a file to the tallies of its run; return what came of it.

    A file that answers a document which one before it answers is scored again without
    that answer, as though they were one file.
    """
    if result is None:
        return Result({}, (f"{shard.path}: {_KILLED}",))
    if _is_repeated(tallies, result):
        result = score_shard(shard, tallies)
    _add(tallies, result)
    return result


def _is_repeated(tallies: Tallies, result: Result) -> bool:
    """Tell whether a file answers a document that one before it answers."""
    found = result.tallies
    return any(key in tallies and tallies[key].overlaps(found[key]) for key in found)


def _add(tallies: Tallies, result: Result) -> None:
    for key, tally in result.tallies.items():
        if key in tallies:
            tallies[key].merge(tally)
        else:
            tallies[key] = tally


_REPEATED = (
    "answers documents that files before it answer; its lines are written, but do not"
    " count; keep one answer, or score without --engine ray"
)
_KILLED = (
    "the process that scored it was killed, and again when it was scored alone; see"
    " whether memory ran out, and run the command again"
)


def _show(rows: list[dict], form: str) -> None:
    if rows and form == "markdown":
        sys.stdout.write(markdown(rows))
    elif rows:
        sys.stdout.write(tables.render(rows, form))


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    parser.add_argument("path", nargs="+", metavar="[NAME=]PATH")
    parser.add_argument(
        "--output",
        type=lambda text: output_path(text) and text,  # a URL, too
        metavar="DIR",
        help="where scored lines are written",
    )
    parser.add_argument(
        "--by",
        default=",".join(BREAKDOWNS),
        metavar="NAME,...",
        help="breakdowns to print; default: %(default)s; '' for none",
    )
    answer_options(parser)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    _add_engines(parser)
    options = parser.parse_args(arguments)
    if options.engine == "ray" and not options.output:
        parser.error("--engine ray needs --output")
    if options.engine == "ray" and options.workers:
        parser.error("--workers is of the engine 'processes'; Ray has its own")
    options.workers = options.workers or 1
    options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by if name not in BREAKDOWNS]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(BREAKDOWNS)}")
    if options.task:
        scorer(options.task)
    return options


def _add_engines(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=partial(whole_number, least=1),
        metavar="N",
        help="processes that score files side by side; default: 1",
    )
    parser.add_argument(
        "--engine",
        choices=("processes", "ray"),
        default="processes",
        help="what does the work; ray: the cluster of Ray, also on URLs of object storage;"
        " writes Parquet files to DIR/NAME (default: %(default)s)",
    )


def _outputs(runs: list[Run], folder: Path | None) -> dict[Path, Path]:
    """Return where the lines of each file go; ToolError where that is another's place."""
    if folder is None:
        return {}
    for place in (folder, folder / ".finished"):
        remove_leftovers(place)
    paths = [file.path for run in runs for file in run.files]
    inputs = identities(paths)
    outputs: dict[Path, Path] = {}
    taken: set[Path] = set()
    for path in paths:
        output = folder / path.name
        if identities([output]) & inputs:
            raise ToolError(f"{output}: is one of the files to score; name another DIR")
        if output in taken:
            raise ToolError(
                f"{path}: another file of this name is to be scored; name an --output for"
                " each"
            )
        if not may_replace(output):
            raise ToolError(
                f"{output}: is there, and was not made by score; move it elsewhere, or"
                " name another DIR"
            )
        outputs[path] = output
        taken.add(output)
    return outputs
