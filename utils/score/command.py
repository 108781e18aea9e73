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
the text, that most of them have. CSV and JSON have all figures, scores as fractions with
both ends of 95 % intervals, and a fingerprint of the documents.

DIR gets a table of verdicts for each file: a folder with run.json and a row an answer.
Lines that cannot be scored, and a second answer to a document, are named; the exit status
is then 1. A file whose table is there is not scored again, unless it was changed since: an
interrupted job goes on, and machines may score some files each. What is in DIR and is no
such table, or that of another file, is never replaced.

Example:

    temporal-eval score examples/responses/careful/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import sys
import textwrap
from argparse import ArgumentTypeError, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import product

from ..core.cli import output_path, say, tool_parser, whole_number
from ..core.errors import ToolError
from ..core.families import benchmarks, scorer
from ..core.tables import FORMATS, escaped, percent, points, render
from ..verdicts.judge import BREAKDOWNS, shorten, value_text
from ..verdicts.runs import Model, answer_options, read_models
from . import eval_results
from .cite import bibliography, citations
from .health import faults, silent_ends
from .rows import RULES, rows, with_interval


_WIDTH = 100
_FREQUENT = (
    0.05  # the share of a family's answers from which on a reason has an example
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

Run = tuple[Model, list[dict]]  # with the figures that `rows` returns


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    if options.eval_results:
        eval_results.check_place(options)
    models, failures = read_models(
        options.path, options, output=options.output, has_rows=bool(options.k)
    )
    if options.eval_results and len(models) > 1:
        fault = f"is of one model, but there are {len(models)} runs; name one"
        raise ToolError(f"--eval_results {options.eval_results}: {fault}")
    messages = [message for model in models for message in model.messages]
    messages += [failure.message for failure in failures]
    for model in models:
        for task in (task for task, tally in model.tasks.items() if not tally.all.n):
            fault = f"has all documents of {task} that are answered"
            fix = "score it without --leave_out"
            messages.append(f"{model.name}: {options.leave_out} {fault}; {fix}")
    for message in messages:
        say(message)
    runs: list[Run] = []
    for model in models:
        tallies = {task: tally for task, tally in model.tasks.items() if tally.all.n}
        if tallies:
            runs.append((model, rows(model.name, tallies, model.filter, options.k)))
    if runs:
        sys.stdout.write(_text(runs, options))
        if options.eval_results:
            eval_results.write(options.eval_results, *runs[0])
    return 1 if messages else 0


def _text(runs: list[Run], options: Namespace) -> str:
    if options.cite:
        lines = [f"{line}\n" for run in runs for line in citations(*run)]
        return "\n".join([*lines, *bibliography([model for model, _ in runs])])
    if options.format == "markdown":
        return _report(runs, options.by or [], options.k)
    all_rows = [row for _, run_rows in runs for row in run_rows]
    if options.by is not None:
        all_rows = [row for row in all_rows if row["by"] in (None, *options.by)]
    return render(all_rows, options.format)


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("score", __doc__)
    add = parser.add_argument
    add("path", nargs="+", metavar="[NAME=]PATH")
    help_text = "where tables of verdicts are written"
    add("--output", type=output_path, metavar="DIR", help=help_text)
    help_text = f"breakdowns to print: {', '.join(BREAKDOWNS)}; default: none in Markdown, all in"
    help_text += " CSV and JSON; task: the reasons by task"
    add("--by", type=_breakdowns, metavar="NAME,...", help=help_text)
    help_text = "print a line for a paper for each benchmark, and BibTeX entries"
    add("--cite", action="store_true", help=help_text)
    least_one = partial(whole_number, least=1)
    add("--k", type=least_one, metavar="K", help="pass@K and the majority")
    answer_options(parser)
    help_text = "published scores, as the hub's results YAML"
    add("--eval_results", type=output_path, metavar="FILE", help=help_text)
    add("--format", choices=FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    if options.task:
        scorer(options.task)  # ToolError for an unknown one
    return options


def _breakdowns(text: str) -> list[str]:
    breakdowns, choices = [*filter(None, text.split(","))], ("task", *BREAKDOWNS)
    for breakdown in breakdowns:
        if breakdown not in choices:
            raise ArgumentTypeError(f"{breakdown}: choose from {', '.join(choices)}")
    return breakdowns


# ------------------------------------------------------------------------- report


def _report(runs: list[Run], breakdowns: list[str], k: int | None) -> str:
    """Return faults, the tables of runs as Markdown, and the breakdowns."""
    sections = [
        _wrapped(f"**Fault** in the run {escaped(model.name)}: {fault}")
        for model, _ in runs
        for fault in faults(model)
    ]
    part_rows: dict[tuple, list[dict]] = defaultdict(list)
    for model, run_rows in runs:
        whole_rows = [row for row in run_rows if row["by"] is None]
        sections += [f"## {escaped(model.name)}\n", *_tables(whole_rows, k)]
        sections.append("".join(_notes(model, whole_rows)))
        reasons = [*_reasons(model, whole_rows, "task" in breakdowns)]
        sections += [render(reasons, "markdown", percent), "".join(_examples(model))]
        for row in (row for row in run_rows if row["by"] in breakdowns):
            part_rows[row["task"], row["filter"], row["by"]].append(row)
    if ends := silent_ends([model for model, _ in runs]):
        sections.append(_wrapped(ends))
    sections += [*map(_breakdown, part_rows.values()), _wrapped(_LEGEND)]
    return "\n".join(filter(None, sections))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False) + "\n"


def _tables(rows: list[dict], k: int | None) -> Iterator[str]:
    """Yield the scores, those of several answers together, and errors of times."""
    lines, lines_of_several, lines_of_times = [], [], []
    for row in rows:
        place = {"task": _name(row)}
        columns = {rule: with_interval(row, rule) for rule in RULES}
        columns["format cost"] = with_interval(row, "format_cost", points)
        columns |= {column: row[column] for column in ("extracted", "constant")}
        is_unknown = row["cut_off_unknown"] and not row["cut_off"]
        share = row["cut_off"] / row["answers"]
        columns["cut off"] = "unknown" if is_unknown else share
        lines.append(place | columns | {"n": row["n"]})
        if row["answers"] > row["n"]:
            columns = {"answers": row["answers"]}
            for measure, rule in product((f"pass@{k}", "majority"), RULES):
                columns[f"{measure} {rule}"] = with_interval(row, f"{measure}_{rule}")
            lines_of_several.append(place | columns)
        columns = {}
        for column in (column for column in row if column.startswith("within_")):
            if f"{column}_low" in row:
                columns[column.replace("_", " ")] = with_interval(row, column)
        for unit in ("hours", "days"):
            if (column := f"median_error_{unit}") in row:
                columns[f"median error, {unit}"] = with_interval(row, column, _lateness)
                columns["date read"] = row["error_read"]
        if columns:
            lines_of_times.append(place | columns)
    for table in (lines, lines_of_several, lines_of_times):
        if table:
            yield render(table, "markdown", percent)
    if lines_of_times:
        yield _wrapped(_LEGEND_OF_TIMES)


def _name(row: dict) -> str:
    tasks, _, tasks_of_benchmark = row.get("tasks", "").partition(" of ")
    remark = f"({tasks} of {tasks_of_benchmark} tasks)" * (tasks != tasks_of_benchmark)
    return " ".join(filter(None, (row["task"], remark, row["filter"])))


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
        label = _name(row)
        remark, _, size = row["rows"].partition(" the benchmark's ")
        if size:
            size = f"{label} {row['n']} of {size}"
            notes["Fewer documents than the benchmark's"].append(size)
        elif remark not in ("the benchmark's", "as many as the benchmark's"):
            notes[f"The rows are {remark}"].append(label)
        if row["changed"]:
            note = "Answers to which the harness's log gives other scores"
            notes[note].append(f"{label} {row['changed']}")
        if row["left_out"]:
            notes["Left out"].append(f"{label} {row['left_out']}")
    for note, labels in notes.items():
        yield _wrapped(f"{note}: {', '.join(labels)}.")


def _reasons(model: Model, rows: list[dict], by_task: bool) -> Iterator[dict]:
    """Yield how many answers have each reason, by benchmark or by task."""
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for task in (row["task"] for row in rows if "tasks" not in row):
        label = task if by_task else benchmarks([task])[0].name
        label = " ".join(filter(None, (label, model.filter)))
        reasons, unextracted = counts.setdefault(label, (Counter(), Counter()))
        reasons.update(model.tasks[task].all.reasons)
        unextracted.update(model.tasks[task].all.unextracted)
    for label, (reasons, unextracted) in counts.items():
        for reason, count in reasons.most_common():
            line = {"answers to": label, "reason": reason, "answers": count}
            line |= {"%": count / reasons.total()}
            yield line | {"no answer by the published rule": unextracted[reason]}
            label = ""


def _examples(model: Model) -> Iterator[str]:
    """Yield an answer for each reason that is frequent in a family, with what is read.

    It is one to the task that has most such answers.
    """
    counts_by_family: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for task, tally in model.tasks.items():
        for reason, count in tally.all.reasons.items():
            counts_by_family[scorer(task).family][reason, task] = count
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
    excerpts = {"published": row["published"], "flexible": value_text(row)}
    excerpts["label"] = row["gold"]
    if row["flexible"] is None:
        excerpts["response"] = row["excerpt"]
    doc_id = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    claim = f"- {reason}, as in document {escaped(str(doc_id))} of {task}: "
    claim += scorer(task).utils.REASONS[reason]
    lines = [textwrap.fill(claim, _WIDTH, subsequent_indent="  ")]
    for source, excerpt in excerpts.items():
        text = "nothing" if excerpt is None else shorten(excerpt, _WIDTH - 30)
        lines.append(f"    {source}: {escaped(text)}")
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
