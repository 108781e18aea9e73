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
import textwrap
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

from ..core import tables
from ..core.cli import output_path, say, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import benchmarks, scorer
from ..core.tables import escaped, percent, points, render
from ..verdicts.judge import BREAKDOWNS, shorten, value_text
from ..verdicts.runs import Model, answer_options, read_models
from . import cite, eval_results
from .health import faults, silent_ends
from .rows import RULES, rows, with_interval


_WIDTH = 100
_FREQUENT = (
    0.05  # share of the answers to a family from which on a reason has an example
)
_LEGEND = """\
Percent [likely range: 95 % interval]. published: score by the benchmark's own rule (its metric \
card); flexible: the same for the value in any form; format cost: flexible - published; constant: \
published score of the best answer that is the same for every document; cut off: answers seen to \
end too early. More: utils/README.md, "How to read the figures"
"""
_LEGEND_OF_TIMES = """\
within: of all documents; where no date was read, it is a miss. median error: the middle error \
of the dates that were read, from early to late [likely range: 95 % interval].
"""

Run = tuple[Model, list[dict]]  # with its rows, as of `rows`


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    models, failures = read_models(
        options.path, options, output=options.output, has_rows=bool(options.k)
    )
    if options.eval_results and len(models) > 1:
        fault = f"is of one model, but there are {len(models)} runs; name one"
        raise ToolError(f"--eval_results {options.eval_results}: {fault}")
    messages = [message for model in models for message in model.messages]
    messages += [failure.message for failure in failures]
    messages += [
        f"{model.name}: {options.leave_out} has all documents of {task} that are"
        " answered; score it without --leave_out"
        for model in models
        for task, tally in model.tasks.items()
        if not tally.all.n
    ]
    for message in messages:
        say(message)
    runs: list[Run] = []
    for model in models:
        tallies = {task: tally for task, tally in model.tasks.items() if tally.all.n}
        if not tallies:
            continue
        if options.k:
            least, document = min(tally.fewest() for tally in tallies.values())
            if options.k > least:
                shortage = f"{document} has only {least} answers in {model.name}"
                raise ToolError(
                    f"--k {options.k}: {shortage}; give at most --k {least}"
                )
        runs.append((model, rows(model.name, tallies, model.filter, options.k)))
    if runs:
        sys.stdout.write(_text(runs, options))
        if options.eval_results:
            eval_results.write(options.eval_results, *runs[0])
    return 1 if messages else 0


def _text(runs: list[Run], options: Namespace) -> str:
    if options.cite:
        lines = [f"{line}\n" for run in runs for line in cite.citations(*run)]
        return "\n".join([*lines, *cite.bibliography([model for model, _ in runs])])
    if options.format == "markdown":
        return _report(runs, options.by or [])
    kept_rows = [row for _, run_rows in runs for row in run_rows]
    if options.by is not None:
        kept_rows = [row for row in kept_rows if row["by"] in (None, *options.by)]
    return render(kept_rows, options.format)


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    add = parser.add_argument
    add("path", nargs="+", metavar="[NAME=]PATH")
    text = "where tables of verdicts are written"
    add("--output", type=output_path, metavar="DIR", help=text)
    text = f"breakdowns to print: {', '.join(BREAKDOWNS)}; default: none in Markdown, all in"
    text += " CSV and JSON; task: the reasons by task"
    add("--by", metavar="NAME,...", help=text)
    text = "print a line for a paper for each benchmark, and BibTeX entries"
    add("--cite", action="store_true", help=text)
    least_one = partial(whole_number, least=1)
    add("--k", type=least_one, metavar="K", help="pass@K and the majority")
    answer_options(parser)
    text = "published scores, as the hub's results YAML"
    add("--eval_results", type=output_path, metavar="FILE", help=text)
    add("--format", choices=tables.FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    names = ("task", *BREAKDOWNS)
    if options.by is not None:
        options.by = [name for name in options.by.split(",") if name]
    if unknown := [name for name in options.by or () if name not in names]:
        parser.error(f"--by {unknown[0]}: choose from {', '.join(names)}")
    if options.task:
        scorer(options.task)
    return options


# ------------------------------------------------------------------------- report


def _report(runs: list[Run], breakdowns: list[str]) -> str:
    """Return faults, the tables of runs as Markdown, and the breakdowns."""
    sections = [
        _wrapped(f"**Fault** in the run {escaped(model.name)}: {fault}")
        for model, _ in runs
        for fault in faults(model)
    ]
    parts: dict[tuple, list[dict]] = defaultdict(list)
    for model, run_rows in runs:
        whole_rows = [row for row in run_rows if row["by"] is None]
        sections += _sections(model, whole_rows, "task" in breakdowns)
        for row in (row for row in run_rows if row["by"] in breakdowns):
            parts[row["task"], row["filter"], row["by"]].append(row)
    if ends := silent_ends([model for model, _ in runs]):
        sections.append(_wrapped(ends))
    return "\n".join([*sections, *map(_breakdown, parts.values()), _wrapped(_LEGEND)])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False) + "\n"


def _sections(model: Model, rows: list[dict], by_task: bool) -> Iterator[str]:
    """Yield what is printed of a run; `rows` are those of benchmarks and whole tasks."""
    yield f"## {escaped(model.name)}\n"
    yield render([*map(_line, rows)], "markdown", percent)
    if lines := [*filter(None, map(_several, rows))]:
        yield render(lines, "markdown", percent)
    if lines := [*filter(None, map(_times, rows))]:
        yield f"{render(lines, 'markdown', percent)}\n{_wrapped(_LEGEND_OF_TIMES)}"
    if notes := "".join(_notes(model, rows)):
        yield notes
    yield render([*_reasons(model, rows, by_task)], "markdown", percent)
    if examples := "".join(_examples(model)):
        yield examples


def _name(row: dict) -> str:
    tasks_scored, _, tasks_of_benchmark = row.get("tasks", "").partition(" of ")
    remark = f"({tasks_scored} of {tasks_of_benchmark} tasks)"
    parts = (
        row["task"],
        remark if tasks_scored != tasks_of_benchmark else None,
        row["filter"],
    )
    return " ".join(filter(None, parts))


def _line(row: dict) -> dict:
    cells = {"task": _name(row)} | {rule: with_interval(row, rule) for rule in RULES}
    cells["format cost"] = with_interval(row, "format_cost", points)
    cells |= {name: row[name] for name in ("extracted", "constant")}
    is_unknown = row["cut_off_unknown"] and not row["cut_off"]
    cells["cut off"] = "unknown" if is_unknown else row["cut_off"] / row["answers"]
    return cells | {"n": row["n"]}


def _several(row: dict) -> dict | None:
    """Return how many answers there are, and what `--k` asks for."""
    if row["answers"] == row["n"]:
        return None
    cells = {"task": _name(row), "answers": row["answers"]}
    columns = [column for column in row if column.endswith("_published")]
    measures = [column.removesuffix("_published") for column in columns]
    for name in (f"{measure}_{rule}" for measure in measures for rule in RULES):
        cells[name.replace("_", " ")] = with_interval(row, name)
    return cells


def _times(row: dict) -> dict | None:
    """Return how near values in time are, and the median error of those that were read."""
    names = [
        name for name in row if name.startswith("within_") and f"{name}_low" in row
    ]
    cells = {name.replace("_", " "): with_interval(row, name) for name in names}
    for unit in ("hours", "days"):
        if (name := f"median_error_{unit}") in row:
            cells[f"median error, {unit}"] = with_interval(row, name, _lateness)
            cells["date read"] = row["error_read"]
    return {"task": _name(row), **cells} if cells else None


def _lateness(error: float) -> str:
    return f"{abs(error):.4g} {'late' if error > 0 else 'early'}" if error else "exact"


def _notes(model: Model, rows: list[dict]) -> Iterator[str]:
    """Yield what has to be known beside the scores."""
    if refused := sum(model.refused.values()):
        yield f"Not in these figures: {refused:,} {'line' if refused == 1 else 'lines'} refused.\n"
    if any(table.head["end"] for table in model.tables):
        yield "A file could not be read to its end.\n"
    notes: dict[str, list[str]] = defaultdict(list)
    for row in (row for row in rows if "rows" in row):
        name, (remark, _, size) = _name(row), row["rows"].partition(" the benchmark's ")
        if size:
            notes["Fewer documents than the benchmark's"].append(
                f"{name} {row['n']} of {size}"
            )
        elif remark not in ("the benchmark's", "as many as the benchmark's"):
            notes[f"The rows are {remark}"].append(name)
        if row["changed"]:
            note = "Answers to which the harness's log gives other scores"
            notes[note].append(f"{name} {row['changed']}")
        if row["left_out"]:
            notes["Left out"].append(f"{name} {row['left_out']}")
    for note, names in notes.items():
        yield _wrapped(f"{note}: {', '.join(names)}.")


def _reasons(model: Model, rows: list[dict], by_task: bool) -> Iterator[dict]:
    """Yield how many answers have each reason, by benchmark or by task."""
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for task in (row["task"] for row in rows if "tasks" not in row):
        name = task if by_task else benchmarks([task])[0].name
        name = " ".join(filter(None, (name, model.filter)))
        reasons, unextracted = counts.setdefault(name, (Counter(), Counter()))
        reasons.update(model.tasks[task].all.reasons)
        unextracted.update(model.tasks[task].all.unextracted)
    for name, (reasons, unextracted) in counts.items():
        for reason, count in reasons.most_common():
            cells = {"answers to": name, "reason": reason, "answers": count}
            cells |= {"%": count / reasons.total()}
            yield cells | {"no answer by the published rule": unextracted[reason]}
            name = ""


def _examples(model: Model) -> Iterator[str]:
    """Yield an answer for each reason that is frequent in a family, with what is read.

    It is one to the task that has most such answers.
    """
    counts_by_family: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for task, tally in model.tasks.items():
        for reason, count in tally.all.reasons.items():
            counts_by_family[scorer(task).family][reason, task] += count
    for counts in counts_by_family.values():
        totals, tasks = Counter(), {}  # by reason, in the order of their numbers
        for (reason, task), count in counts.most_common():
            totals[reason] += count
            tasks.setdefault(reason, task)
        for reason, task in tasks.items():
            if reason != "right" and totals[reason] >= _FREQUENT * counts.total():
                yield _example(model.tasks[task].examples[reason])


def _example(row: dict) -> str:
    reason, task = row["reason"], row["task"]
    cells = {"published": row["published"], "flexible": value_text(row)}
    cells["label"] = row["gold"]
    if row["flexible"] is None:
        cells["response"] = row["excerpt"]
    doc_id = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    claim = f"- {reason}, as in document {escaped(str(doc_id))} of {task}: "
    claim += scorer(task).utils.REASONS[reason]
    lines = [textwrap.fill(claim, _WIDTH, subsequent_indent="  ")]
    for name, cell in cells.items():
        shown_cell = "nothing" if cell is None else escaped(shorten(cell, _WIDTH - 30))
        lines.append(f"    {name}: {shown_cell}")
    return "\n".join([*lines, ""])


def _breakdown(rows: list[dict]) -> str:
    """Return a table of the parts of a task, with a column for each run."""
    breakdown, table_rows = rows[0]["by"], {}
    for row in rows:
        cells = {breakdown: row["value"], "n": row["n"]}
        table_row = table_rows.setdefault(row["value"], cells)
        if table_row["n"] != row["n"]:  # as a rule, the runs answer the same documents
            table_row["n"] = "differs"
        scores = [with_interval(row, rule) for rule in RULES]
        scores.append(None if row["extracted"] is None else percent(row["extracted"]))
        # The blank, which no table shows, keeps a run called "n" apart.
        table_row[f"{row['run']} "] = " / ".join(filter(None, scores))
    title = (
        f"{escaped(_name(rows[0]))} by {breakdown}; published / flexible / extracted"
    )
    return f"{title}\n\n{render([*table_rows.values()], 'markdown')}"
