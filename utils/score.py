"""Score recorded answers to any task of the pack, and say why each got its scores.

    temporal-eval score [NAME=]PATH ... [--output DIR] [--detail] [--by NAME,...] [--k K]
        [--cite] [--html PAGE]

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
the text, that most of them have. CSV and JSON have all figures, as fractions.

Lines that cannot be scored, and a second answer to a document, are named; the exit status
is then 1. DIR gets a table of verdicts for each file: a folder with run.json and a row an
answer. A file whose table is there is not scored again, unless it was changed since. What
is in DIR and is no such table, or that of another file, is never replaced. PAGE gets the
page of `leaderboard` for the runs, with what makes their figures worthless on top.

Example:

    temporal-eval score examples/responses/careful/tcp_long.jsonl --task tcp_long \\
        --include_path examples
"""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from . import leaderboard
from .adapters import eval_results
from .core.cli import output_path, say, tool_parser, whole_number
from .core.errors import ToolError
from .core.family_contract import ERROR, RIGHT, SHARE, Metric
from .core.files import check_output
from .core.format_tables import FORMATS, percent, points, render, whole
from .core.task_scorers import benchmarks, breakdown_names, scorer
from .core.text_layout import Layout
from .figures.cite import bibliography, citations
from .figures.health import faults, silent_ends
from .figures.score_rows import RULES, rows_of_run, with_interval
from .integrity.run_checks import Check
from .verdicts.cli_options import answer_options
from .verdicts.find_answer_files import Failure
from .verdicts.judge_answer import shorten, value_text
from .verdicts.runs_by_model import Model, read_models
from .verdicts.tally import Tally


_REASONS = "task"  # with --by, what breaks down the reasons alone
_FREQUENT = 0.05  # share of the answers from which on a reason has an example
_LEGEND = """\
Percent [95 % interval, the likely range]. published: score by the benchmark's own rule (its metric \
card); flexible: the same for the value in any form; n: documents.
"""
_LEGEND_OF_DETAILS = """\
format cost: flexible - published; extracted: answers in which the published rule finds one; \
constant: published score of the best answer that is the same for every document; cut off: answers \
seen to end too early. More: utils/README.md, "How to read the figures"
"""

Run = tuple[Model, list[dict]]  # with the figures that `rows_of_run` returns


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of the runs; return the exit status."""
    options = _options(arguments)
    if options.eval_results:
        check_output(options.eval_results, "score", eval_results.BEGINNING)
    if options.html:
        leaderboard.check_page(options.html)
    check = Check if options.html else None
    models, failures = read_models(
        options.path, options, check, options.output, has_rows=bool(options.k)
    )
    if options.eval_results and len(models) > 1:
        error_text = f"is of one model, but there are {len(models)} runs; name one"
        raise ToolError(f"--eval_results {options.eval_results}: {error_text}")
    messages = [message for model in models for message in model.messages]
    messages += [failure.message for failure in failures]
    for message in messages:
        say(message)
    runs: list[Run] = [
        (model, rows_of_run(model.name, model.tasks, model.filter, options.k))
        for model in models
        if model.tasks
    ]
    if runs:
        if options.cite or options.format != "markdown":  # which have no room for it
            for warning in _warnings(runs):
                say(f"Fault in the run {warning}")
        sys.stdout.write(_text(runs, options))
        if options.eval_results:
            eval_results.write(options.eval_results, *runs[0])
        if options.html:
            _write_page(runs, failures, options)
    return 1 if messages else 0


def _write_page(runs: list[Run], failures: list[Failure], options: Namespace) -> None:
    """Write the page of the runs, with their faults on top."""
    models = [model for model, _ in runs]
    leaderboard.write_page(models, failures, options, _warnings(runs))


def _warnings(runs: list[Run]) -> list[str]:
    """Return the faults of runs, each behind the name of its run."""
    return [f"{model.name}: {fault}" for model, _ in runs for fault in faults(model)]


def _text(runs: list[Run], options: Namespace) -> str:
    """Return citations, the report, or the rows in the format that the options ask for."""
    if options.cite:
        citation_lines = [f"{line}\n" for run in runs for line in citations(*run)]
        return "\n".join([*citation_lines, *bibliography([model for model, _ in runs])])
    if options.format == "markdown":
        return _report(runs, options, Layout.of(sys.stdout))
    all_rows = [row for _, run_rows in runs for row in run_rows]
    if options.by is not None:
        all_rows = [row for row in all_rows if row["by"] in (None, *options.by)]
    return render(all_rows, options.format)


def _options(arguments: list[str] | None) -> Namespace:
    """Return the command line; ToolError for an unknown task."""
    parser = tool_parser("score", __doc__)
    add = parser.add_argument
    add("path", nargs="+", metavar="[NAME=]PATH")
    add("--output", type=output_path, metavar="DIR", help="for tables of verdicts")
    detail_help = "the scores of each task, and other measures"
    add("--detail", action="store_true", help=detail_help)
    by_help = f"{_REASONS}, or what families split scores by, such as level; default:"
    by_help += " none in Markdown, else all"
    add("--by", type=_breakdowns, metavar="NAME,...", help=by_help)
    add("--cite", action="store_true", help="lines for a paper, and BibTeX entries")
    k_type = partial(whole_number, least=1)
    add("--k", type=k_type, metavar="K", help="pass@K and the majority")
    answer_options(parser)
    leaderboard.page_option(parser)
    add("--eval_results", type=output_path, metavar="FILE", help="results for the hub")
    add("--format", choices=FORMATS, default="markdown")
    options = parser.parse_args(arguments)
    if options.task:
        scorer(options.task)
    return options


def _breakdowns(text: str) -> list[str]:
    """Return the names in `--by`; ArgumentTypeError for an unknown one."""
    breakdowns, known_names = text.split(","), [_REASONS, *breakdown_names()]
    breakdowns = [*filter(None, breakdowns)]
    if unknown_names := {*breakdowns} - {*known_names}:
        fix = f"choose from {', '.join(known_names)}"
        raise ArgumentTypeError(f"{', '.join(sorted(unknown_names))}: {fix}")
    return breakdowns


def _report(runs: list[Run], options: Namespace, layout: Layout) -> str:
    """Return faults, the legend, the tables of runs, and the breakdowns."""
    breakdowns = options.by or []
    sections = [
        layout.fault(f"Fault in the run {layout.data(model.name)}: {fault}") + "\n"
        for model, _ in runs
        for fault in faults(model)
    ]
    sections.append(layout.paragraph(_LEGEND) + "\n")
    if options.detail:
        sections.append(layout.paragraph(_LEGEND_OF_DETAILS) + "\n")
    rows_by_breakdown: dict[tuple, list[dict]] = defaultdict(list)
    for model, run_rows in runs:
        whole_rows = [row for row in run_rows if row["by"] is None]
        sections.append(layout.heading(layout.data(model.name)) + "\n")
        shown_rows = whole_rows
        if not options.detail:
            shown_rows = [row for row in whole_rows if _is_in_summary(row, whole_rows)]
        sections += _tables(shown_rows, options.detail, layout)
        sections.append(_below_constant(shown_rows, layout))
        sections.append("".join(_notes(model, whole_rows, options.detail, layout)))
        sections += _reasons(model, whole_rows, _REASONS in breakdowns, layout)
        for row in (row for row in run_rows if row["by"] in breakdowns):
            rows_by_breakdown[row["task"], row["filter"], row["by"]].append(row)
    if silence_sentence := silent_ends([model for model, _ in runs]):
        sections.append(layout.paragraph(silence_sentence) + "\n")
    sections += [_breakdown(rows, layout) for rows in rows_by_breakdown.values()]
    return "\n".join(filter(None, sections))


def _is_in_summary(row: dict, rows: list[dict]) -> bool:
    """Tell whether a row is of a benchmark, or of the only task of one."""
    benchmark_names = {other["task"] for other in rows if "tasks" in other}
    return "tasks" in row or benchmarks([row["task"]])[0].name not in benchmark_names


def _below_constant(rows: list[dict], layout: Layout) -> str:
    """Return a paragraph on scores below that of one answer to everything; "" for none."""
    low_texts = [
        f"{_name(row)} {percent(row['published'])} against {percent(row['constant'])}"
        for row in rows
        if None not in (row["published"], row["constant"])
        and row["published"] < row["constant"]
    ]
    if not low_texts:
        return ""
    claim = (
        "Below the best constant answer, which is the same for every document, by the"
    )
    return layout.fault(f"{claim} published score: {'; '.join(low_texts)}.") + "\n"


def _tables(rows: list[dict], has_details: bool, layout: Layout) -> Iterator[str]:
    """Yield the scores, those of several answers together, and errors of values."""
    score_rows, repeat_rows, error_rows = [], [], []
    for row in rows:
        task_cell: dict = {"task": _name(row)}
        score_rows.append(task_cell | _score_cells(row, has_details))
        metrics = {} if "tasks" in row else scorer(row["task"]).metrics
        error_cells, repeat_cells = {}, {"answers": row["answers"]}
        for column in (column for column in row if f"{column}_low" in row):
            column_title = column.replace("_", " ")
            if column.startswith(("pass@", "majority_")):
                repeat_cells[column_title] = with_interval(row, column)
            elif column.startswith("median_error_"):
                if not row[column]:  # more than half are right: the scores say it
                    continue
                error_cells[column_title] = with_interval(row, column, "{:+.4g}".format)
            elif column in metrics and metrics[column].shown:
                metric = metrics[column]
                unit = f" ({metric.unit})" if metric.unit else ""
                number = with_interval(row, column, _number_form(metric))
                error_cells[f"{column_title}{unit}"] = number
        if row["answers"] > row["n"]:
            repeat_rows.append(task_cell | repeat_cells)
        if error_cells and has_details:
            error_cells["value read"] = row.get("error_read")
            error_rows.append(task_cell | error_cells)
    for table_rows in filter(None, (score_rows, repeat_rows, error_rows)):
        yield layout.table(table_rows, percent)


def _score_cells(row: dict, has_details: bool) -> dict:
    """Return the cells of the table of scores; without details, at most 80 columns wide."""
    if not has_details:
        scores = {rule: with_interval(row, rule, percent, whole) for rule in RULES}
        return scores | {"n": row["n"]}
    is_cut_off_unknown = row["cut_off_unknown"] and not row["cut_off"]
    cut_off_share = row["cut_off"] / max(1, row["answers"])
    return (
        {score_rule: with_interval(row, score_rule) for score_rule in RULES}
        | {"format cost": with_interval(row, "format_cost", points)}
        | {column: row[column] for column in ("extracted", "constant")}
        | {"cut off": "unknown" if is_cut_off_unknown else cut_off_share}
        | {"n": row["n"]}
    )


def _number_form(metric: Metric) -> Callable[[float], str]:
    """Return how a table shows values of a metric: shares of 1 as percent."""
    if metric.kind == SHARE and metric.top == 1:
        return percent
    return ("{:+.4g}" if metric.kind == ERROR else "{:.4g}").format


def _name(row: dict) -> str:
    """Return what a row is of: a task, or so many tasks of a benchmark, and a filter."""
    task_count_text = f"({row['tasks']} tasks)" if "tasks" in row else None
    return " ".join(filter(None, (row["task"], task_count_text, row["filter"])))


def _notes(
    model: Model, rows: list[dict], has_details: bool, layout: Layout
) -> Iterator[str]:
    """Yield what has to be known beside the scores, by benchmark or task."""
    details_by_note: dict[str, list[str]] = defaultdict(list)
    row_counts: Counter[str] = Counter()
    full_counts: Counter[str] = Counter()
    if refused_count := sum(model.refused.values()):
        details_by_note["Refused lines, not in these figures"] = [f"{refused_count:,}"]
    for row in (row for row in rows if "rows" in row):
        row_name = _name(row)
        if row["rows"].startswith("fewer than"):
            name = row_name if has_details else benchmarks([row["task"]])[0].name
            row_counts[name] += row["n"]
            full_counts[name] += scorer(row["task"]).upstream[0] or 0
        elif row["rows"] not in ("the benchmark's", "as many as the benchmark's"):
            details_by_note[f"The rows are {row['rows']}"].append(row_name)
        if row["changed"]:
            note = "Answers to which the harness's log gives other scores"
            run_version = model.claims(row["task"]).get("version")
            if run_version not in (None, str(scorer(row["task"]).version)):
                note += f", as it is of version {run_version}"
            details_by_note[note].append(f"{row_name} {row['changed']}")
        if row["left_out"]:
            details_by_note["Left out"].append(f"{row_name} {row['left_out']}")
    details_by_note["Fewer documents than the benchmark's"] = [
        f"{name} {row_counts[name]} of {full_counts[name]}" for name in row_counts
    ]
    for note, details in details_by_note.items():
        if details:
            yield layout.paragraph(f"{note}: {', '.join(details)}.") + "\n"


def _reasons(
    model: Model, rows: list[dict], by_task: bool, layout: Layout
) -> list[str]:
    """Return reasons with their answers by benchmark or task, and an example of each."""
    tallies_by_group: dict[str, list[Tally]] = defaultdict(list)
    for task in (row["task"] for row in rows if "tasks" not in row):
        group_name = task if by_task else benchmarks([task])[0].name
        tallies_by_group[group_name].append(model.tasks[task])
    table_rows, examples = [], []
    for group_name, tallies in tallies_by_group.items():
        reason_counts = sum((tally.all.reasons for tally in tallies), Counter())
        unread_counts = sum((tally.all.unextracted for tally in tallies), Counter())
        group_name = " ".join(filter(None, (group_name, model.filter)))
        for reason, answer_count in reason_counts.most_common():
            share = answer_count / reason_counts.total()
            table_row: dict = {"answers to": group_name, "reason": reason}
            table_row |= {"answers": answer_count, "%": share}
            table_row["not extracted"] = unread_counts[reason]
            table_rows.append(table_row)
            group_name = ""
            if reason != RIGHT and share >= _FREQUENT:
                tally = max(tallies, key=lambda tally: tally.all.reasons[reason])
                examples.append(_example(tally.examples[reason], layout))
    return [layout.table(table_rows, percent), "".join(examples)]


def _example(row: dict, layout: Layout) -> str:
    """Return the reason for the scores of an answer, and what was read in it."""
    excerpt_by_name = {"published": row["published"], "flexible": value_text(row)}
    excerpt_by_name["label"] = row["gold"]
    if row["flexible"] is None:
        excerpt_by_name["response"] = row["excerpt"]
    document_name = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    reason_text = f"- {row['reason']}, as in document {layout.data(document_name)} of {row['task']}"
    reason_text += f": {scorer(row['task']).utils.REASONS[row['reason']]}"
    lines = [layout.paragraph(reason_text, "  ")]
    for excerpt_name, excerpt in excerpt_by_name.items():
        excerpt_text = "nothing" if excerpt is None else shorten(excerpt, 60)
        lines.append(f"    {excerpt_name}: {layout.data(excerpt_text)}")
    return "\n".join([*lines, ""])


def _breakdown(rows: list[dict], layout: Layout) -> str:
    """Return a table of the parts of a task, with a column for each run."""
    breakdown = rows[0]["by"]
    table_row_by_value: dict[str, dict] = {}
    for row in rows:
        value_and_n_cells = {breakdown: row["value"], "n": row["n"]}
        table_row = table_row_by_value.setdefault(row["value"], value_and_n_cells)
        if table_row["n"] != row["n"]:  # as a rule, the runs answer the same documents
            table_row["n"] = "differs"
        score_texts = [with_interval(row, score_rule) for score_rule in RULES]
        if row["extracted"] is not None:
            score_texts.append(percent(row["extracted"]))
        # The blank, which no table shows, keeps a run called "n" apart.
        table_row[f"{row['run']} "] = " / ".join(filter(None, score_texts))
    table = layout.table([*table_row_by_value.values()])
    table_title = f"{layout.data(_name(rows[0]))} by {breakdown}"
    return f"{table_title}; published / flexible / extracted\n\n{table}"
