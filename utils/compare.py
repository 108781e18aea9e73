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
from itertools import combinations, groupby, product, zip_longest
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
    copies: dict[tuple, list] = defaultdict(lambda: [[] for _ in models])
    for run, model in enumerate(models):
        for (task, digest, _), document in model.documents():
            copies[task, digest][run].append(document)
    aligned: dict[str, list] = defaultdict(list)
    for task, digest in sorted(copies):
        aligned[task] += _align(copies[task, digest])
    matched, lacking = {}, []
    for task, documents in aligned.items():
        documents.sort(key=lambda sides: min(map(_place, filter(None, sides))))
        if complete := [sides for sides in documents if all(sides)]:
            matched[task] = complete
        names = [_name(next(filter(None, sides))) for sides in documents]
        for run, model in enumerate(models):
            pairs = zip(names, documents)
            gaps = [*dict.fromkeys(name for name, sides in pairs if not sides[run])]
            if gaps:
                fault = f"no answer to {len(gaps)} of {len({*names})} documents"
                gaps[_MOST_NAMED:] = ["..."] * (len(gaps) > _MOST_NAMED)
                lacking.append(f"{task}: {model.name} has {fault}: {', '.join(gaps)}")
    return matched, lacking


def _align(runs: list[list[Document]]) -> list[tuple[Document | None, ...]]:
    """Return the copies of a document that are compared, None for those a run lacks.

    They go by their ids. Without ids in all runs they go by what was scored, where each
    run has as many; else nobody can say which one lacks, and a choice would tilt the
    comparison.
    """
    is_named = all(doc.row["doc_id"] is not None for run in runs for doc in run)
    if is_named and max(map(len, runs)) > 1:
        by_id = [{json.dumps(doc.row["doc_id"]): doc for doc in run} for run in runs]
        ids = sorted(set().union(*by_id))
        return [tuple(documents.get(doc_id) for documents in by_id) for doc_id in ids]
    aligned = [*zip_longest(*(sorted(run, key=_outcome) for run in runs))]
    sizes = {*map(len, runs)}
    return aligned if len(sizes) == 1 else aligned[min(sizes) :]


def _outcome(document: Document) -> str:
    row = document.row
    return repr([document.means(), row["reason"], row["published"], row["value"]])


def _place(document: Document) -> tuple:
    return natural(json.dumps(document.row["doc_id"])), document.digest


def _name(document: Document) -> str:
    """Return how messages name a document: by id, and start of its digest."""
    doc_id, digest = document.row["doc_id"], f"({document.digest[:12]})"
    return digest if doc_id is None else f"{doc_id!r:.60} {digest}"


def _scopes(matched: Matched, tasks: dict[str, Tally]) -> list[Group]:
    """Return the benchmarks that tasks belong to, with titles that say what is compared."""
    scopes = []
    for group in benchmarks([*matched]):
        title = configuration(group.name)["metadata"].get("title", group.name)
        run_tasks = tuple(task for task in group.tasks if task in matched)
        if len(run_tasks) < len(group.tasks):
            title = f"{len(run_tasks)} of {len(group.tasks)} tasks of {title}"
            title = f"{run_tasks[0]}, {title}" if len(run_tasks) == 1 else title
        n = sum(len(matched[task]) for task in run_tasks)
        if remark := rows_remark([tasks[task] for task in run_tasks], n):
            title += f" ({remark})"
        scopes.append(group._replace(name=title, tasks=run_tasks))
    return scopes


def compare(matched: Matched, names: list[str], scopes: list[Group]) -> list[dict]:
    """Return a row for each two runs, scope and score; all rows are tested together.

    A difference is that of run a minus run b.
    """
    rows, run_pairs = [], [*combinations(range(len(names)), 2)]
    tests = len(run_pairs) * len(scopes) * len(RULES)
    for run_pair, scope, (rule, score) in product(run_pairs, scopes, enumerate(RULES)):
        documents = [matched[task] for task in scope.tasks]
        a, b = (_linear_scores(documents, run, rule, scope.by_size) for run in run_pair)
        clusters = [sides[0].cluster for task in documents for sides in task]
        sizes, sums_a = stats.cluster_totals(a, clusters)
        _, sums_b = stats.cluster_totals(b, clusters)
        row = {f"run_{side}": names[run] for side, run in zip("ab", run_pair)}
        row |= {"scope": scope.name, "score": score, "n": len(a)}
        row |= {"a": math.fsum(a) / len(a), "b": math.fsum(b) / len(b)}
        row |= zip(_COLUMNS, stats.estimate_difference(b, a, clusters))
        row["detectable"] = stats.detectable_difference(sizes, sums_a, sums_b, tests)
        rows.append(row)
    for row, p_value in zip(rows, stats.holm(row["p"] for row in rows)):
        better = row["run_a"] if row["difference"] > 0 else row["run_b"]
        row["p_holm"], row["tests"] = p_value, tests
        row["better"] = better if p_value < 1 - stats.CONFIDENCE else None
    return rows


def _linear_scores(
    documents: list[list[Sides]], run: int, rule: int, by_size: bool
) -> list[float]:
    """Return `linearised` scores of a run, which is a number, by a rule of RULES."""
    scores = [[_score(sides[run], rule) for sides in task] for task in documents]
    return stats.linearised(scores, by_size)


def _score(document: Document, rule: int) -> float:
    return document.means()[scorer(document.row["task"]).headline[rule]]


def changed(matched: Matched, names: list[str], task: str) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    rows, run_pairs = [], combinations(range(len(names)), 2)
    for (run_a, run_b), (rule, score) in product(run_pairs, enumerate(RULES)):
        read_answer = value_text if rule else itemgetter("published")
        for a, b in ((sides[run_a], sides[run_b]) for sides in matched[task]):
            if _score(a, rule) == _score(b, rule):
                continue
            row = {"score": score, "run_a": names[run_a], "run_b": names[run_b]}
            row |= {"doc_id": a.row["doc_id"], "digest": a.digest}
            row |= {"a": _score(a, rule), "b": _score(b, rule)}
            row |= {"a_reason": a.row["reason"], "b_reason": b.row["reason"]}
            row |= {"a_answer": shorten(read_answer(a.row))}
            row |= {"b_answer": shorten(read_answer(b.row))}
            rows.append(row | {"reference": shorten(value_text(a.row, "reference"))})
    return rows


def sentence(row: dict) -> str:
    """Return what a row of `compare` claims; the run with the higher score comes first."""
    sides, sign = ("ab", 1) if row["difference"] >= 0 else ("ba", -1)
    leader, other = (escaped(row[f"run_{side}"]) for side in sides)
    scores = " % against ".join(percent(row[side]) for side in sides)
    low, high = sorted(sign * row[end] for end in ("low", "high"))
    comparison = (
        f"{scores} %, a difference of {points(sign * row['difference'])} points (95 %"
        f" interval {points(low)} to {points(high)} by itself; p {p_text(row['p_holm'])}"
        f" adjusted for {row['tests']} tests)."
    )
    scope = escaped(row["scope"])
    if row["better"]:
        return f"{leader} is better than {other} on {scope}: {comparison}"
    power = (
        f"With so few clusters ({row['clusters']:,}) it cannot be said how large a"
        " difference such a test would detect"
    )
    if detectable := row["detectable"]:
        power = (
            f"A true difference of {percent(detectable)} points, either way, would be detected in"
            " 4 of 5 such tests, a smaller one less often"
        )
    claim = f"{leader} and {other} are not shown to differ on {scope}"
    return f"{claim}: observed {comparison} {power}."


def report(rows: list[dict], details: list[dict]) -> str:
    """Return the rows of `compare` in sentences, and those of tasks in a table a pair."""
    lines = []
    for run_names, pair_rows in groupby(rows, key=_runs):
        lines += [run_names, ""]
        scope_of = itemgetter("scope", "n", "clusters")
        for scope, scope_rows in groupby(pair_rows, key=scope_of):
            lines.append("{}: {:,} documents in {:,} clusters".format(*scope))
            lines += [f"- {row['score']} score: {sentence(row)}" for row in scope_rows]
            lines.append("")
        if detail_lines := [_cells(row) for row in details if _runs(row) == run_names]:
            lines.append(render(detail_lines, "markdown"))
    legend = _LEGEND.format(len(rows), _OF_TABLES.format(len(details)) * bool(details))
    for line in legend.splitlines():
        lines.append(textwrap.fill(line, 94, subsequent_indent="  "))
    return "\n".join([*lines, ""])


def _runs(row: dict) -> str:
    return "a: {}, b: {}".format(*(escaped(row[f"run_{side}"]) for side in "ab"))


def _cells(row: dict) -> dict:
    return {
        "task": row["scope"],
        **{column: row[column] for column in ("score", "n", "clusters")},
        **{side: f"{percent(row[side])} %" for side in "ab"},
        "a - b": points(row["difference"]),
        "95 % interval": f"{points(row['low'])} to {points(row['high'])}",
        "adjusted p": p_text(row["p_holm"]).removeprefix("= "),
        "better": row["better"],
    }


def report_changed(rows: list[dict]) -> str:
    """Return the rows of `changed` as a table for each two runs."""
    tables = []
    for run_names, pair_rows in groupby(rows, key=_runs):
        lines = []
        for row in pair_rows:
            doc_id = row["digest"][:12] if row["doc_id"] is None else str(row["doc_id"])
            line = {"score": row["score"], "document": shorten(doc_id, _LONGEST_CELL)}
            for column in ("a", "b", "a_reason", "b_reason"):
                line[column] = row[column]
            for column in ("a_answer", "b_answer", "reference"):
                line[column] = shorten(row[column], _LONGEST_CELL)
            lines.append(line)
        tables.append(f"{run_names}\n\n{render(lines, 'markdown')}")
    return "\n".join(tables) or "no document changed sides\n"


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    models, failures = read_models(options.run, options, has_rows=True)
    messages = [line for model in models for line in model.messages]
    messages += [failure.message for failure in failures]
    for message in messages:
        say(message)
    if messages:
        return 1
    recall_rows = recall(models, options.include_path)
    if len(models) < 2 and not recall_rows:
        fix = "name two or more to compare, or one with answers to twins"
        raise ToolError(f"{models[0].name}: is the only run; {fix}")
    matched, lacking = match(models)
    for line in lacking:
        say(line)
    if lacking and not options.common:
        fix = "run all on the same documents, or compare common ones with --common"
        raise ToolError(f"runs over different documents: {fix}")
    matched = {task: sides for task, sides in matched.items() if scorer(task).headline}
    if not matched:
        names = ", ".join(model.name for model in models)
        raise ToolError(f"{names}: have no scored document in common")
    for model in models:
        for fault in faults(model):
            say(f"Fault in the run {model.name}: {fault}")
        for task, tally in sorted(model.tasks.items()):
            if left_out := tally.left_out:
                remark = f"answers of {model.name} are left out ({options.leave_out})"
                say(f"{task}: {left_out} {remark}")
    # Half a surrogate pair has no UTF-8, but an escape, which is the same in JSON.
    output = _text(options, matched, models, recall_rows)
    sys.stdout.write(output.encode("utf-8", "backslashreplace").decode())
    return 0


def _text(
    options: Namespace, matched: Matched, models: list[Model], recall_rows: list[dict]
) -> str:
    """Return what the options ask for, in the format that they ask for."""
    names, is_markdown = [x.name for x in models], options.format == "markdown"
    if task := options.show:
        if task not in matched:
            tasks = ", ".join(matched)
            raise ToolError(f"--show {task}: was not run; choose from {tasks}")
        rows = changed(matched, names, task)
        return report_changed(rows) if is_markdown else render(rows, options.format)
    rows, details = compare(matched, names, _scopes(matched, models[0].tasks)), []
    if options.detail:
        details = compare(matched, names, [*map(alone, matched)])
    if not is_markdown:
        return render(rows + details + recall_rows, options.format)
    claims = [recall_sentence(row, escaped(row["run"])) for row in recall_rows]
    sections = [report(rows, details)] if rows else []
    return "\n".join([*sections, *(f"- {claim}\n" for claim in claims)])


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
