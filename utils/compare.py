"""Compare runs of models document by document: which is better, and how sure is that?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--detail] [--show TASK]

A RUN is the output folder of a model, a sample log, or a file of answers; NAME=RUN names
it. All answers are scored by this version of the pack. For each two runs and each benchmark
a sentence on the published score and one on the flexible score says which run is better,
or which difference the test has 80 % power to detect.

Where a run has answers to twins, a line says whether the model recalls public rows; for that
one run is enough.

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
from collections.abc import Iterator
from itertools import combinations, groupby, product
from typing import NamedTuple

from .core.cli import say, tool_parser
from .core.errors import ToolError
from .core.families import Group, alone, benchmarks, configuration, scorer
from .core.tables import (
    FORMATS,
    escaped,
    natural,
    p_text,
    percent,
    points,
    render,
)
from .stats import (
    CONFIDENCE,
    cluster_totals,
    detectable_differences,
    estimate_difference,
    holm,
    linearised,
)
from .verdicts.figures import Document
from .verdicts.judge import INVALID, shown, value_text
from .verdicts.recall import recall, recall_sentence
from .verdicts.runs import Model, answer_options, read_models


RULES = ("published", "flexible")
_MOST_NAMED = 10  # documents that an error names; the rest is counted
_LONGEST_CELL = 50  # characters of an answer in Markdown
_CAPTION = """\
The published score is the metric card's. The flexible score counts the value that a response
commits to, in any form. Differences are in percentage points. A 95 % interval is of one
comparison alone. p is adjusted for {} (Holm): if no two runs differ, the
chance that any is called better is at most 5 %. A run is called better where its adjusted p is
below 0.05, so an interval may exclude 0 where no difference is shown. Power holds for
these tests, and if scores spread as here. Documents that share a text, a question or a template
are one cluster.
"""


class Result(NamedTuple):
    """What one run scored on one document, and why; answers as they are shown."""

    doc_id: int | str | None
    digest: str  # of what prompt and score depend on: documents are matched by it
    cluster: str
    scores: tuple[float, ...]  # as RULES; none where the task has no such scores
    reason: str
    published: str | None
    flexible: str | None
    reference: str


Sides = tuple[Result, ...]  # what each run scored on a document
Matched = dict[str, list[Sides]]  # by task


# ----------------------------------------------------------- reading and matching


def _result(document: Document) -> Result:
    row, scores = document.row, document.means()
    values = (value_text(row), value_text(row, "reference"))
    return Result(
        row["doc_id"],
        row["digest"],
        row["cluster"],
        tuple(scores[name] for name in scorer(row["task"]).headline or ()),
        row["reason"],
        *map(shown, (row["published"], *values)),
    )


def _results(model: Model) -> dict[str, dict[str, list[Result]]]:
    """Return task -> digest -> what a model scored on each document that has it."""
    results: dict[str, dict[str, list[Result]]] = {}
    for (task, digest, _), document in model.documents():
        of_task = results.setdefault(task, {})
        of_task.setdefault(digest, []).append(_result(document))
    return results


def match(models: list[Model]) -> tuple[Matched, list[str]]:
    """Return task -> the results of all runs on each document that all have.

    Also returns, in words, which tasks and documents a run lacks.
    """
    matched, lacking = {}, []
    results = [_results(model) for model in models]
    for task in sorted({task for of_model in results for task in of_model}):
        runs = [of_model.get(task, {}) for of_model in results]
        found = []
        for digest in sorted(set().union(*runs)):
            found += _side_by_side([results.get(digest, []) for results in runs])
        if documents := [pair for pair in found if all(pair)]:
            matched[task] = sorted(documents, key=lambda pair: min(map(_place, pair)))
        lacking += _lacking(task, models, found)
    return matched, lacking


def _side_by_side(copies: list[list[Result]]) -> list[tuple[Result | None, ...]]:
    """Return the answers of the runs to one document, those that are compared together.

    A benchmark may have a document several times: such copies go by their ids. Without
    ids in all runs they go by what was scored, where each run has as many; else it is not
    known which one lacks, and a choice would tilt the comparison.
    """
    is_named = all(x.doc_id is not None for results in copies for x in results)
    if is_named and max(map(len, copies)) > 1:
        keyed = [{(json.dumps(x.doc_id),): x for x in results} for results in copies]
    else:
        ordered = (
            sorted(x, key=lambda x: repr(x._replace(doc_id=None))) for x in copies
        )
        keyed = [{(len(x), n): y for n, y in enumerate(x)} for x in ordered]
    keys = sorted(set().union(*keyed))
    return [tuple(of_run.get(key) for of_run in keyed) for key in keys]


def _place(result: Result) -> tuple:
    """Return by what results are sorted."""
    return natural(json.dumps(result.doc_id)), result.digest


def _lacking(task: str, models: list[Model], found: list[tuple]) -> Iterator[str]:
    """Yield what each run lacks, in words; where a run lacks one, it has None."""
    total = {_name(next(filter(None, pair))) for pair in found}
    unpaired = [pair for pair in found if not all(pair)]
    for place, model in enumerate(models):
        short = [next(filter(None, x)) for x in unpaired if not x[place]]
        if lacking := [*dict.fromkeys(map(_name, sorted(short, key=_place)))]:
            known = {pair[place].digest for pair in unpaired if pair[place]}
            has_some = any(result.digest in known for result in short)
            what = "another number of answers" if has_some else "no answer"
            more = ", ..." * (len(lacking) > _MOST_NAMED)
            what += f" to {len(lacking)} of {len(total)} documents"
            named = ", ".join(lacking[:_MOST_NAMED])
            yield f"{task}: {model.name} has {what}: {named}{more}"


def _name(result: Result) -> str:
    """Return how messages name a document: by id, and start of its digest."""
    doc_id = "" if result.doc_id is None else f"{result.doc_id!r:.60} "
    return f"{doc_id}({result.digest[:12]})"


# ---------------------------------------------------------------------- comparing


def _scopes(tasks: list[str]) -> list[Group]:
    """Return the benchmarks that tasks belong to, with these tasks of them and titles."""
    found = []
    for group in benchmarks(tasks):
        title = configuration(group.name)["metadata"].get("title", group.name)
        run = tuple(task for task in group.tasks if task in tasks)
        if len(run) < len(group.tasks):
            title += f" ({len(run)} of {len(group.tasks)} tasks"
            title += f": {run[0]})" if len(run) == 1 else ")"
        found.append(group._replace(name=title, tasks=run))
    return found


def compare(matched: Matched, names: list[str], scopes: list[Group]) -> list[dict]:
    """Return a row for each two runs, scope and score; all rows are tested together.

    `matched` is what `match` returns, `names` are those of the runs.
    """
    rows = []
    pairs = [*combinations(range(len(names)), 2)]
    tests = len(pairs) * len(scopes) * len(RULES)
    for runs, scope, (rule, score) in product(pairs, scopes, enumerate(RULES)):
        documents = [matched[task] for task in scope.tasks]
        a, b = (
            linearised(
                [[results[run].scores[rule] for results in task] for task in documents],
                scope.by_size,
            )
            for run in runs
        )
        clusters = [x[0].cluster for task in documents for x in task]
        row = {f"run_{side}": names[run] for side, run in zip("ab", runs)}
        row |= {"scope": scope.name, "score": score, "n": len(a)}
        row |= {"a": math.fsum(a) / len(a), "b": math.fsum(b) / len(b)}
        paired = estimate_difference(a, b, clusters)
        row |= {"difference": paired.value, "low": paired.low, "high": paired.high}
        row |= {"error": paired.error, "freedom": paired.freedom}
        row |= {"clusters": paired.clusters, "design_effect": paired.design_effect}
        (sizes, of_a), (_, of_b) = (cluster_totals(x, clusters) for x in (a, b))
        ends = detectable_differences(sizes, of_a, of_b, tests)
        row |= zip(("detectable_down", "detectable_up"), ends)
        rows.append(row | {"p": paired.p_value})
    for row, p_value in zip(rows, holm(row["p"] for row in rows)):
        better = row["run_a"] if row["difference"] < 0 else row["run_b"]
        row["p_holm"], row["tests"] = p_value, tests
        row["better"] = better if p_value < 1 - CONFIDENCE else None
    return rows


def changed(matched: Matched, names: list[str], task: str) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    rows = []
    pairs = combinations(range(len(names)), 2)
    places = product(pairs, enumerate(RULES), matched[task])
    for (a, b), (rule, score), found in places:
        sides = {"a": found[a], "b": found[b]}
        if found[a].scores[rule] != found[b].scores[rule]:
            row = {"score": score, "run_a": names[a], "run_b": names[b]}
            row |= {"doc_id": found[a].doc_id, "digest": found[a].digest}
            row |= {side: x.scores[rule] for side, x in sides.items()}
            row |= {f"{side}_reason": x.reason for side, x in sides.items()}
            row |= {f"{side}_answer": getattr(x, score) for side, x in sides.items()}
            rows.append(row | {"reference": found[a].reference})
    return rows


# ----------------------------------------------------------------------- printing


def sentence(row: dict) -> str:
    """Return what a row of `compare` claims; the difference is that of the better run."""
    names = {side: escaped(row[f"run_{side}"]) for side in "ab"}
    first, other = "ab" if row["difference"] < 0 else "ba"
    sign = -1 if first == "a" else 1
    low, high = sorted((sign * row["low"], sign * row["high"]))
    interval = f"95 % interval {points(low)} to {points(high)}"
    means = f"{percent(row[first])} % against {percent(row[other])} %"
    where, p_value = escaped(row["scope"]), f"adjusted p {p_text(row['p_holm'])}"
    difference = points(sign * row["difference"])
    if row["better"]:
        return (
            f"{names[first]} is better than {names[other]} on {where}: {difference}"
            f" points, {means} ({interval}, {p_value})."
        )
    observed = f"observed {difference} for {names[first]}, {means}"
    return (
        f"not shown to differ on {where}; {observed} ({interval}, {p_value})."
        f" {_power(row, first)}."
    )


def _power(row: dict, side: str) -> str:
    """Return which differences in favour of a side and against it would be detected."""
    ends = row["detectable_up"], row["detectable_down"]  # of b
    signed = zip((1, -1), ends if side == "b" else reversed(ends))
    steps = [points(sign * end) for sign, end in signed if end is not None]
    if not steps:
        return "Too few clusters to tell which difference would be detected"
    whose = escaped(row[f"run_{side}"])
    return f"80 % power to detect {' or '.join(steps)} for {whose}, if scores spread as here"


def report(rows: list[dict], details: list[dict]) -> str:
    """Return the rows of `compare` in sentences, and those of tasks in a table a pair."""
    lines = []
    for runs, of_pair in groupby(rows, key=_runs):
        lines += [runs, ""]
        for what, found in groupby(of_pair, key=_documents):
            lines.append(what)
            lines += [f"- {row['score']} score: {sentence(row)}" for row in found]
            lines.append("")
        if cells := [_cells(row) for row in details if _runs(row) == runs]:
            lines.append(render(cells, "markdown"))
    tests = f"{len(rows)} tests in sentences"
    tests += f", and {len(details)} in tables" if details else ""
    caption = textwrap.fill(_CAPTION.format(tests), 94, break_on_hyphens=False)
    return "\n".join([*lines, f"{caption}\n"])


def _runs(row: dict) -> str:
    return "a: {}, b: {}".format(*(escaped(row[f"run_{x}"]) for x in "ab"))


def _documents(row: dict) -> str:
    scope, n, clusters = escaped(row["scope"]), row["n"], row["clusters"]
    return f"{scope}: {n:,} documents in {clusters:,} clusters"


def _cells(row: dict) -> dict:
    """Return what a reader of a table wants of a row of `compare`."""
    return {
        "task": row["scope"],
        "score": row["score"],
        "n": row["n"],
        "clusters": row["clusters"],
        "a": f"{percent(row['a'])} %",
        "b": f"{percent(row['b'])} %",
        "b - a": points(row["difference"]),
        "95 % interval": f"{points(row['low'])} to {points(row['high'])}",
        "p": p_text(row["p_holm"]).removeprefix("= "),
        "better": row["better"],
    }


def _cells_of_changed(row: dict) -> dict:
    doc = row["digest"][:12] if row["doc_id"] is None else row["doc_id"]
    cells = {"score": row["score"], "document": str(doc)} | row
    for name in ("run_a", "run_b", "doc_id", "digest"):
        del cells[name]
    for name in ("document", "a_answer", "b_answer", "reference"):
        cells[name] = shown(cells[name], _LONGEST_CELL)
    return cells


def report_changed(rows: list[dict]) -> str:
    """Return the rows of `changed` as a table for each two runs."""
    told = [
        f"{runs}\n\n{render([*map(_cells_of_changed, of_pair)], 'markdown')}"
        for runs, of_pair in groupby(rows, key=_runs)
    ]
    return "\n".join(told) or "no document changed sides\n"


def notes(models: list[Model], leave_out: str | None) -> Iterator[str]:
    """Yield what a reader has to know of runs: other versions, repeats, invalid answers."""
    for task in sorted({task for model in models for task in model.tasks}):
        versions = {x.name: x.claims(task).get("version") for x in models}
        if not all(map(scorer(task).asks_as, versions.values())):
            said = ", ".join(f"{name} {x or 'unknown'}" for name, x in versions.items())
            yield (
                f"{task}: was run in other versions ({said}); all answers are scored by"
                f" {scorer(task).version}, but prompts may differ"
            )
        for model in (model for model in models if task in model.tasks):
            tally = model.tasks[task]
            if n := tally.left_out:
                yield f"{task}: {n} answers of {model.name} are left out ({leave_out})"
            if surplus := tally.surplus:
                yield (
                    f"{task}: {surplus} of {tally.answered} answers of {model.name} are"
                    " to repeats, under other ids, which the benchmark does not have"
                )
    for model in models:
        figures = [tally.all for tally in model.tasks.values()]
        for kind, why in INVALID.items():
            if n := sum(x.invalid[kind] for x in figures):
                answers = f"{n} of {sum(x.answers for x in figures)} answers"
                score = "are scored like all others, but say little of the model"
                yield f"{model.name}: {answers} {score}: {why}"


# ------------------------------------------------------------------- command line


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    models, failures = read_models(options.run, options, has_rows=True)
    refused = [line for model in models for line in model.messages]
    refused += [failure.message for failure in failures]
    names = [model.name for model in models]
    if not refused:
        recalled = recall(models, options.include_path)
        if len(models) < 2 and not recalled:
            fix = "name two or more to compare, or one with answers to twins"
            raise ToolError(f"{names[0]}: is the only run; {fix}")
        matched, lacking = match(models)
        if lacking and not options.common:
            fix = "run all on the same documents, or compare common ones with --common"
            refused = [*lacking, f"runs over different documents: {fix}"]
    for line in refused:
        say(line)
    if refused:
        return 1
    matched = {task: x for task, x in matched.items() if scorer(task).headline}
    if not matched:
        raise ToolError(f"{', '.join(names)}: have no scored document in common")
    for line in (*lacking, *notes(models, options.leave_out)):
        say(line)
    text = _shown(options, matched, names, recalled)
    # Half a surrogate pair has no UTF-8, but an escape, which is the same in JSON.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())
    return 0


def _shown(
    options: Namespace, matched: Matched, names: list[str], recalled: list[dict]
) -> str:
    """Return what the options ask for, in the format that they ask for."""
    if options.show and options.show not in matched:
        known = ", ".join(matched)
        raise ToolError(f"--show {options.show}: was not run; choose from {known}")
    if options.show:
        rows = changed(matched, names, options.show)
        if options.format == "markdown":
            return report_changed(rows)
        return render(rows, options.format)
    rows, details = compare(matched, names, _scopes([*matched])), []
    if options.detail:
        details = compare(matched, names, [*map(alone, matched)])
    if options.format == "markdown":
        claims = [recall_sentence(row, escaped(row["run"])) for row in recalled]
        parts = [report(rows, details)] if rows else []
        return "\n".join([*parts, *(f"- {claim}\n" for claim in claims)])
    return render(rows + details + recalled, options.format)


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
