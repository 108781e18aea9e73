"""Compare runs of models document by document: which is better, and how sure is that?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--detail] [--show TASK]

A RUN is the output folder of a model, a sample log, or a file of answers; NAME=RUN names
it. All answers are scored by this version of the pack. For each two runs and each benchmark
a sentence on the published score and one on the flexible score says which run is better,
or which difference such a test would detect. Where a run has answers to twins, a line says
whether the model recalls public rows; for that one run is enough.

Runs over different documents are refused; `--common` compares those that all have. Rows
that a benchmark repeats are paired by `doc_id`; without it in all runs, they count where
each run has as many answers to them.

Example:

    temporal-eval compare examples/responses/careful examples/responses/hasty \\
        --include_path examples
"""

from __future__ import annotations

import json
import math
import sys
import textwrap
from argparse import Namespace
from collections import defaultdict
from itertools import chain, combinations, groupby, product, zip_longest
from operator import itemgetter

from . import stats
from .core.cli import say, tool_parser
from .core.errors import ToolError
from .core.families import Group, alone, benchmarks, configuration, scorer
from .core.tables import FORMATS, escaped, natural, p_text, percent, points, render
from .score.health import faults
from .score.rows import RULES
from .verdicts.figures import Document, Tally, rows_remark
from .verdicts.judge import shorten, value_text
from .verdicts.recall import recall, recall_sentence
from .verdicts.runs import Model, answer_options, read_models


_MOST_NAMED = 10  # documents that an error names; the rest is counted
_LONGEST_CELL = 50  # characters of an answer in Markdown
# What an Estimate has, in its order.
_COLUMNS = "difference low high error freedom clusters design_effect p".split()
_LEGEND = """\
- Scores: published is by the benchmark's own rule (its metric card), flexible is the same for \
the value in any form. An answer that is partly right may earn a part of the point.
- Difference: the first-named run minus the second-named one, in percentage points; in \
tables a - b.
- 95 % interval: the likely range of the true difference, by this comparison alone. It is not \
adjusted, so it may exclude 0 where no difference is shown.
- p: a run is called better where p, adjusted for all tests (Holm's method), is below 0.05. So \
the chance that at least one of the {} sentences calls a run better than an equally good one is \
at most 5 %.{}
- Cluster: documents that share a text, a question or a template. They tell less than as many \
independent ones.
"""
_OF_TABLES = " For the {} lines of the tables, adjusted apart, it is again at most 5 %."

Sides = tuple[Document, ...]  # of each run, those that are compared
Matched = dict[str, list[Sides]]  # by task


def match(models: list[Model]) -> tuple[Matched, list[str]]:
    """Return task -> the documents that all runs answered, and in words what a run lacks."""
    copies_by_digest: dict[tuple, list] = defaultdict(lambda: [[] for _ in models])
    for run_number, model in enumerate(models):
        for (task, digest, _), document in model.documents():
            copies_by_digest[task, digest][run_number].append(document)
    sides_by_task: dict[str, list] = defaultdict(list)
    for task, digest in sorted(copies_by_digest):
        sides_by_task[task] += _align(copies_by_digest[task, digest])
    matched, lack_messages = {}, []
    for task, task_sides in sides_by_task.items():
        task_sides.sort(key=lambda sides: min(map(_place, filter(None, sides))))
        if complete_sides := [sides for sides in task_sides if all(sides)]:
            matched[task] = complete_sides
        document_names = [_name(next(filter(None, sides))) for sides in task_sides]
        for run_number, model in enumerate(models):
            named_sides = zip(document_names, task_sides)
            gap_names = [
                document_name
                for document_name, sides in named_sides
                if not sides[run_number]
            ]
            if gap_names := [*dict.fromkeys(gap_names)]:
                document_count = len({*document_names})
                fault = f"no answer to {len(gap_names)} of {document_count} documents"
                gap_names[_MOST_NAMED:] = ["..."] * (len(gap_names) > _MOST_NAMED)
                lack_messages.append(
                    f"{task}: {model.name} has {fault}: {', '.join(gap_names)}"
                )
    return matched, lack_messages


def _align(runs: list[list[Document]]) -> list[tuple[Document | None, ...]]:
    """Return the copies of a document that are compared, None for those a run lacks.

    They go by their ids. Without ids in all runs they go by what was scored, where each
    run has as many; else nobody can say which one lacks, and a choice would tilt the
    comparison.
    """
    has_ids = all(doc.row["doc_id"] is not None for run in runs for doc in run)
    if has_ids and max(map(len, runs)) > 1:
        doc_by_id_of_runs = [
            {json.dumps(doc.row["doc_id"]): doc for doc in run} for run in runs
        ]
        json_ids = sorted(set().union(*doc_by_id_of_runs))
        return [
            tuple(doc_by_id.get(json_id) for doc_by_id in doc_by_id_of_runs)
            for json_id in json_ids
        ]
    aligned_copies = [*zip_longest(*(sorted(run, key=_outcome) for run in runs))]
    copy_counts = {*map(len, runs)}
    return (
        aligned_copies if len(copy_counts) == 1 else aligned_copies[min(copy_counts) :]
    )


def _outcome(document: Document) -> str:
    """Return scores, reason and what was read, as a text to sort copies by."""
    row = document.row
    return repr([document.means(), row["reason"], row["published"], row["value"]])


def _place(document: Document) -> tuple:
    return natural(json.dumps(document.row["doc_id"])), document.digest


def _name(document: Document) -> str:
    """Return how messages name a document: by id, and start of its digest."""
    doc_id, digest_text = document.row["doc_id"], f"({document.digest[:12]})"
    return digest_text if doc_id is None else f"{doc_id!r:.60} {digest_text}"


def _scopes(matched: Matched, tasks: dict[str, Tally]) -> list[Group]:
    """Return the benchmarks that tasks belong to, with titles that say what is compared."""
    scopes = []
    for benchmark in benchmarks([*matched]):
        title = configuration(benchmark.name)["metadata"].get("title", benchmark.name)
        matched_tasks = tuple(task for task in benchmark.tasks if task in matched)
        if len(matched_tasks) < len(benchmark.tasks):
            title = f"{len(matched_tasks)} of {len(benchmark.tasks)} tasks of {title}"
            title = f"{matched_tasks[0]}, {title}" if len(matched_tasks) == 1 else title
        document_count = sum(len(matched[task]) for task in matched_tasks)
        tallies = [tasks[task] for task in matched_tasks]
        if row_remark := rows_remark(tallies, document_count):
            title += f" ({row_remark})"
        scopes.append(benchmark._replace(name=title, tasks=matched_tasks))
    return scopes


def compare(matched: Matched, names: list[str], scopes: list[Group]) -> list[dict]:
    """Return a row for each two runs, scope and score; all rows are tested together.

    A difference is that of run a minus run b.
    """
    rows, run_pairs = [], [*combinations(range(len(names)), 2)]
    test_count = len(run_pairs) * len(scopes) * len(RULES)
    cases = product(run_pairs, scopes, enumerate(RULES))
    for run_pair, scope, (rule_number, rule_name) in cases:
        sides_by_task = [matched[task] for task in scope.tasks]
        scores_a, scores_b = (
            _linear_scores(sides_by_task, run_number, rule_number, scope.by_size)
            for run_number in run_pair
        )
        clusters = [sides[0].cluster for sides in chain(*sides_by_task)]
        cluster_sizes, score_sums_a = stats.cluster_totals(scores_a, clusters)
        _, score_sums_b = stats.cluster_totals(scores_b, clusters)
        row = {"run_a": names[run_pair[0]], "run_b": names[run_pair[1]]}
        row |= {"scope": scope.name, "score": rule_name, "n": len(scores_a)}
        row |= {"a": math.fsum(scores_a) / len(scores_a)}
        row |= {"b": math.fsum(scores_b) / len(scores_b)}
        row |= zip(_COLUMNS, stats.estimate_difference(scores_b, scores_a, clusters))
        row["detectable"] = stats.detectable_difference(
            cluster_sizes, score_sums_a, score_sums_b, test_count
        )
        rows.append(row)
    for row, adjusted_p in zip(rows, stats.holm(row["p"] for row in rows)):
        higher_run = row["run_a"] if row["difference"] > 0 else row["run_b"]
        row["p_holm"], row["tests"] = adjusted_p, test_count
        row["better"] = higher_run if adjusted_p < 1 - stats.CONFIDENCE else None
    return rows


def _linear_scores(
    sides_by_task: list[list[Sides]], run_number: int, rule_number: int, by_size: bool
) -> list[float]:
    """Return `linearised` scores of a run by a rule of RULES, both by their numbers."""
    scores_by_task = [
        [_score(sides[run_number], rule_number) for sides in task_sides]
        for task_sides in sides_by_task
    ]
    return stats.linearised(scores_by_task, by_size)


def _score(document: Document, rule_number: int) -> float:
    return document.means()[scorer(document.row["task"]).headline[rule_number]]


def changed(matched: Matched, names: list[str], task: str) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    rows, run_pairs = [], combinations(range(len(names)), 2)
    cases = product(run_pairs, enumerate(RULES))
    for (run_number_a, run_number_b), (rule_number, rule_name) in cases:
        answer_of_row = value_text if rule_number else itemgetter("published")
        for sides in matched[task]:
            document_a, document_b = sides[run_number_a], sides[run_number_b]
            score_a = _score(document_a, rule_number)
            score_b = _score(document_b, rule_number)
            if score_a == score_b:
                continue
            row_a, row_b = document_a.row, document_b.row
            row = {"score": rule_name}
            row |= {"run_a": names[run_number_a], "run_b": names[run_number_b]}
            row |= {"doc_id": row_a["doc_id"], "digest": document_a.digest}
            row |= {"a": score_a, "b": score_b}
            row |= {"a_reason": row_a["reason"], "b_reason": row_b["reason"]}
            row |= {"a_answer": shorten(answer_of_row(row_a))}
            row |= {"b_answer": shorten(answer_of_row(row_b))}
            rows.append(row | {"reference": shorten(value_text(row_a, "reference"))})
    return rows


def sentence(row: dict) -> str:
    """Return what a row of `compare` claims; the run with the higher score comes first."""
    letters, sign = ("ab", 1) if row["difference"] >= 0 else ("ba", -1)
    leader, follower = (escaped(row[f"run_{letter}"]) for letter in letters)
    scores_text = " % against ".join(percent(row[letter]) for letter in letters)
    low, high = sorted(sign * row[end_name] for end_name in ("low", "high"))
    comparison = (
        f"{scores_text} %, a difference of {points(sign * row['difference'])} points (95 %"
        f" interval {points(low)} to {points(high)} by itself; p {p_text(row['p_holm'])}"
        f" adjusted for {row['tests']} tests)."
    )
    scope_name = escaped(row["scope"])
    if row["better"]:
        return f"{leader} is better than {follower} on {scope_name}: {comparison}"
    power_sentence = (
        f"With so few clusters ({row['clusters']:,}) it cannot be said how large a"
        " difference such a test would detect"
    )
    if least_difference := row["detectable"]:
        power_sentence = (
            f"A true difference of {percent(least_difference)} points, either way, would be"
            " detected in 4 of 5 such tests, a smaller one less often"
        )
    tie_clause = f"{leader} and {follower} are not shown to differ on {scope_name}"
    return f"{tie_clause}: observed {comparison} {power_sentence}."


def report(rows: list[dict], details: list[dict]) -> str:
    """Return the rows of `compare` in sentences, and those of tasks in a table a pair."""
    lines = []
    for runs_text, pair_rows in groupby(rows, key=_runs):
        lines += [runs_text, ""]
        figures_of_scope = itemgetter("scope", "n", "clusters")
        for scope_figures, scope_rows in groupby(pair_rows, key=figures_of_scope):
            lines.append("{}: {:,} documents in {:,} clusters".format(*scope_figures))
            lines += [f"- {row['score']} score: {sentence(row)}" for row in scope_rows]
            lines.append("")
        if table_rows := [_cells(row) for row in details if _runs(row) == runs_text]:
            lines.append(render(table_rows, "markdown"))
    legend = _LEGEND.format(len(rows), _OF_TABLES.format(len(details)) * bool(details))
    for legend_line in legend.splitlines():
        lines.append(textwrap.fill(legend_line, 94, subsequent_indent="  "))
    return "\n".join([*lines, ""])


def _runs(row: dict) -> str:
    """Return which runs the letters a and b of a row stand for."""
    return "a: {}, b: {}".format(*(escaped(row[f"run_{letter}"]) for letter in "ab"))


def _cells(row: dict) -> dict:
    """Return a row of `compare` as a table shows it: column -> cell."""
    return {
        "task": row["scope"],
        **{column: row[column] for column in ("score", "n", "clusters")},
        **{letter: f"{percent(row[letter])} %" for letter in "ab"},
        "a - b": points(row["difference"]),
        "95 % interval": f"{points(row['low'])} to {points(row['high'])}",
        "adjusted p": p_text(row["p_holm"]).removeprefix("= "),
        "better": row["better"],
    }


def report_changed(rows: list[dict]) -> str:
    """Return the rows of `changed` as a table for each two runs."""
    tables = []
    for runs_text, pair_rows in groupby(rows, key=_runs):
        table_rows = []
        for row in pair_rows:
            document_label = (
                row["digest"][:12] if row["doc_id"] is None else str(row["doc_id"])
            )
            table_row = {
                "score": row["score"],
                "document": shorten(document_label, _LONGEST_CELL),
            }
            for column in ("a", "b", "a_reason", "b_reason"):
                table_row[column] = row[column]
            for column in ("a_answer", "b_answer", "reference"):
                table_row[column] = shorten(row[column], _LONGEST_CELL)
            table_rows.append(table_row)
        tables.append(f"{runs_text}\n\n{render(table_rows, 'markdown')}")
    return "\n".join(tables) or "no document changed sides\n"


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    models, failures = read_models(options.run, options, has_rows=True)
    messages = [message for model in models for message in model.messages]
    messages += [failure.message for failure in failures]
    for message in messages:
        say(message)
    if messages:
        return 1
    recall_rows = recall(models, options.include_path)
    if len(models) < 2 and not recall_rows:
        fix = "name two or more to compare, or one with answers to twins"
        raise ToolError(f"{models[0].name}: is the only run; {fix}")
    matched, lack_messages = match(models)
    for lack_message in lack_messages:
        say(lack_message)
    if lack_messages and not options.common:
        fix = "run all on the same documents, or compare common ones with --common"
        raise ToolError(f"runs over different documents: {fix}")
    matched = {task: sides for task, sides in matched.items() if scorer(task).headline}
    if not matched:
        run_names_text = ", ".join(model.name for model in models)
        raise ToolError(f"{run_names_text}: have no scored document in common")
    for model in models:
        for fault in faults(model):
            say(f"Fault in the run {model.name}: {fault}")
        for task, tally in sorted(model.tasks.items()):
            if left_out_count := tally.left_out:
                left_out_remark = (
                    f"answers of {model.name} are left out ({options.leave_out})"
                )
                say(f"{task}: {left_out_count} {left_out_remark}")
    # Half a surrogate pair has no UTF-8, but an escape, which is the same in JSON.
    output_text = _text(options, matched, models, recall_rows)
    sys.stdout.write(output_text.encode("utf-8", "backslashreplace").decode())
    return 0


def _text(
    options: Namespace, matched: Matched, models: list[Model], recall_rows: list[dict]
) -> str:
    """Return what the options ask for, in the format that they ask for."""
    run_names = [model.name for model in models]
    is_markdown = options.format == "markdown"
    if task := options.show:
        if task not in matched:
            task_names_text = ", ".join(matched)
            raise ToolError(
                f"--show {task}: was not run; choose from {task_names_text}"
            )
        rows = changed(matched, run_names, task)
        return report_changed(rows) if is_markdown else render(rows, options.format)
    rows = compare(matched, run_names, _scopes(matched, models[0].tasks))
    detail_rows = []
    if options.detail:
        detail_rows = compare(matched, run_names, [*map(alone, matched)])
    if not is_markdown:
        return render(rows + detail_rows + recall_rows, options.format)
    recall_claims = [recall_sentence(row, escaped(row["run"])) for row in recall_rows]
    sections = [report(rows, detail_rows)] if rows else []
    return "\n".join([*sections, *(f"- {claim}\n" for claim in recall_claims)])


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("compare", __doc__)
    add = parser.add_argument
    add("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    add("--common", action="store_true", help="leave out what one of the runs lacks")
    add("--detail", action="store_true", help="print a table of the tasks, too")
    add("--show", metavar="TASK", help="print the documents that changed sides instead")
    answer_options(parser)
    add("--format", choices=FORMATS, default="markdown")
    return parser.parse_args(arguments)
