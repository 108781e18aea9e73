"""Compare runs of models document by document: is one better, and can these data tell?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--show TASK]

A RUN is the output folder of a model, a sample log, or a file of answers; NAME=RUN names
it. All answers are scored by this version of the pack. A row of the table compares two
runs, a and b, in a task and metric over the n documents that have it in both, and a line
below says what the columns are. `better` counts the documents on which one is better.

Runs over different documents are refused; `--common` compares those that all have. Rows
that a benchmark repeats are paired by `doc_id`; without it in all runs, they count where
each run has as many answers to them.

Example:

    temporal-eval compare examples/responses/plain examples/responses/hasty \\
        --include_path examples
"""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from operator import gt, lt
from typing import NamedTuple

from .core import tables
from .core.cli import say, tool_parser
from .core.errors import ToolError
from .core.families import scorer
from .runs.answers import document_text, sha256
from .runs.find import find_runs
from .runs.models import Model, answer_options, read_models, shown
from .runs.scoring import INVALID, Scored
from .stats import cluster, holm, mcnemar_exact, paired, smallest_difference


HEADLINE, ALL = "headline", "all"  # choices of metrics beside their names
_MOST_NAMED = 10  # documents that an error names; the rest is counted
_LONGEST_CELL = 50  # characters of an answer in Markdown
_CAPTION = """
a - b: mean difference, with the 95% interval of paired documents, clustered where \
`clusters` is shown; p: its t test; McNemar: exact; Holm: the larger of both p-values, \
corrected for the tests of all tasks and pairs ({}); detectable: with a power of 80% at \
the 5% level.
"""


class Result(NamedTuple):
    """What one run scored on one document, and why; answers as they are shown."""

    doc_id: int | str | None
    doc_hash: str
    digest: bytes  # of what prompt and scores depend on: documents are matched by it
    cluster: str
    scores: dict[str, float]
    reason: str
    published: str | None
    flexible: str | None
    reference: str


Document = tuple[Result, ...]  # what each run, or each of two, scored on it
Matched = dict[str, list[Document]]  # by task


class Metric(NamedTuple):
    """A metric of a task, and the family of tests that it is corrected with."""

    name: str
    family: str
    higher_is_better: bool | None  # None: neither is


# ----------------------------------------------------------- reading and matching


def _result(scored: Scored, place: int) -> Result:
    answer, doc, verdict = scored.answer, scored.doc, scored.verdict
    flexible = verdict.flexible if verdict.value is None else verdict.value
    return Result(
        answer.doc_id,
        sha256(document_text(doc)),
        scored.digest,
        cluster(answer.task, doc),
        verdict.scores,
        verdict.reason,
        *map(shown, (verdict.published, flexible, verdict.reference)),
    )


def match(models: list[Model]) -> tuple[Matched, list[str]]:
    """Return task -> the results of all runs on each document that all have.

    Also returns, in words, which tasks and documents a run lacks.
    """
    matched, lacking = {}, []
    for task in sorted({task for model in models for task in model.tasks}):
        runs = [x.tasks[task].results if task in x.tasks else {} for x in models]
        documents, unpaired = [], []
        for digest in sorted(set().union(*runs)):
            keyed = _told_apart([results.get(digest, []) for results in runs])
            for key in sorted(set().union(*keyed)):
                found = [of_run.get(key) for of_run in keyed]
                (documents if all(found) else unpaired).append(tuple(found))
        if documents:
            matched[task] = sorted(documents, key=lambda pair: min(map(_place, pair)))
        lacking += _lacking(task, models, documents, unpaired)
    return matched, lacking


def _told_apart(copies: list[list[Result]]) -> list[dict[tuple, Result]]:
    """Return, for each run, a key of each of its answers to one document.

    Equal keys are compared. A benchmark may have a document several times: such copies go
    by their ids. Without ids in all runs they go by what was scored, where each run has
    as many; else it is not known which one lacks, and a choice would tilt the comparison.
    """
    is_named = all(x.doc_id is not None for results in copies for x in results)
    if is_named and max(map(len, copies)) > 1:
        return [{(json.dumps(x.doc_id),): x for x in results} for results in copies]
    ordered = [sorted(x, key=lambda x: repr(x._replace(doc_id=None))) for x in copies]
    return [{(len(x), n): y for n, y in enumerate(x)} for x in ordered]


def _place(result: Result) -> tuple:
    """Return by what results are sorted."""
    return tables.natural(json.dumps(result.doc_id)), result.doc_hash


def _lacking(
    task: str, models: list[Model], paired: list[Document], unpaired: list[Document]
) -> Iterator[str]:
    """Yield what each run lacks, in words; where a run lacks one, it has None."""
    total = {_name(next(filter(None, found))) for found in (*paired, *unpaired)}
    for place, model in enumerate(models):
        short = [next(filter(None, x)) for x in unpaired if not x[place]]
        lacking = [*dict.fromkeys(map(_name, sorted(short, key=_place)))]
        if lacking:
            known = {found[place].digest for found in unpaired if found[place]}
            has_some = any(result.digest in known for result in short)
            what = "another number of answers" if has_some else "no answer"
            more = ", ..." * (len(lacking) > _MOST_NAMED)
            yield (
                f"{task}: {model.name} has {what} to {len(lacking)} of {len(total)}"
                f" documents: {', '.join(lacking[:_MOST_NAMED])}{more}"
            )


def _name(result: Result) -> str:
    """Return how messages name a document: by id, and start of the harness's hash."""
    doc_id = "" if result.doc_id is None else f"{result.doc_id!r:.60} "
    return f"{doc_id}({result.doc_hash[:12]})"


# ---------------------------------------------------------------------- comparing


def metrics_of(task: str, chosen: Sequence[str]) -> list[Metric]:
    """Return the metrics of a task that were chosen.

    A choice is the name of a metric or of a family, HEADLINE (the published metric, the
    flexible one and `extracted`; where a task has no such pair, all), or ALL.
    """
    headline = scorer(task).headline
    families = dict(zip(headline or (), ("published", "flexible")))
    found = []
    for name, higher_is_better in scorer(task).higher_is_better.items():
        family = families.get(name, name)
        is_headline = not headline or name in (*headline, "extracted")
        if {name, family, ALL} & {*chosen} or (HEADLINE in chosen and is_headline):
            found.append(Metric(name, family, higher_is_better))
    return found


def pairs(
    matched: Matched, names: list[str], chosen: Sequence[str]
) -> Iterator[tuple[dict, Metric, list[Document]]]:
    """Yield each pair of runs, task and metric: as cells, the metric, the documents.

    `matched` is what `match` returns, `names` are those of the runs. Documents are those
    that have the metric in both runs.
    """
    for a, b in combinations(range(len(names)), 2):
        for task, documents in matched.items():
            of_both = [(found[a], found[b]) for found in documents]
            for metric in metrics_of(task, chosen):
                those = [x for x in of_both if all(metric.name in y.scores for y in x)]
                place = {"task": task, "metric": metric.name}
                place |= {"run_a": names[a], "run_b": names[b]}
                if those:
                    yield place, metric, those


def compare(matched: Matched, names: list[str], chosen: Sequence[str]) -> list[dict]:
    """Return the comparisons: one row for each of `pairs`."""
    rows, families = [], defaultdict(list)
    for place, metric, documents in pairs(matched, names, chosen):
        rows.append(place | _compared(documents, metric))
        families[metric.family].append(rows[-1])
    for those in families.values():
        corrected = holm(max(row["p"], row["mcnemar"] or 0) for row in those)
        for row, p_value in zip(those, corrected):
            row |= {"holm": p_value, "tests": len(those)}
    return rows


def _compared(documents: list[Document], metric: Metric) -> dict:
    """Return the figures of two runs over the same documents in one metric."""
    a, b = ([x.scores[metric.name] for x in run] for run in zip(*documents))
    found = paired(a, b, [one.cluster for one, _ in documents])
    better = [sum(map(gt, a, b)), sum(map(lt, a, b))]
    if metric.higher_is_better is False:
        better.reverse()
    is_binary = metric.higher_is_better and {*a, *b} <= {0, 1}
    has_direction = metric.higher_is_better is not None
    return {
        "n": len(documents),
        "clusters": found.clusters,
        "a": math.fsum(a) / len(documents),
        "b": math.fsum(b) / len(documents),
        "difference": found.value,
        "standard_error": found.standard_error,
        "low": found.low,
        "high": found.high,
        "p": found.p_value,
        "mcnemar": mcnemar_exact(*better) if is_binary else None,
        "detectable": smallest_difference(found.standard_error, found.clusters),
        "a_better": better[0] if has_direction else None,
        "b_better": better[1] if has_direction else None,
    }


def changed(matched: Matched, names: list[str], chosen: Sequence[str]) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    rows = []
    for place, metric, documents in pairs(matched, names, chosen):
        # Errors are those of the flexible answer.
        is_flexible = metric.family == "flexible" or not metric.higher_is_better
        answer = "flexible" if is_flexible else "published"
        del place["task"]
        for one, other in documents:
            sides = {"a": one, "b": other}.items()
            row = place | {"doc_id": one.doc_id, "doc_hash": one.doc_hash}
            row |= {side: x.scores[metric.name] for side, x in sides}
            row |= {f"{side}_reason": x.reason for side, x in sides}
            row |= {f"{side}_answer": getattr(x, answer) for side, x in sides}
            if row["a"] != row["b"]:
                rows.append(row | {"reference": one.reference})
    return rows


# ----------------------------------------------------------------------- printing


def markdown(rows: list[dict], cells: Callable[[dict], dict]) -> str:
    """Return one table for each pair of runs; `cells` makes a row what readers want."""
    pairs: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        pairs.setdefault((row["run_a"], row["run_b"]), []).append(cells(row))
    return "\n".join(
        f"a: {tables.escaped(a)}, b: {tables.escaped(b)}\n\n"
        + tables.render(those, "markdown")
        for (a, b), those in pairs.items()
    )


def _cells(row: dict) -> dict:
    """Return what a reader of a table wants of a row of `compare`."""
    interval = None
    if row["low"] is not None:
        interval = f"{row['low']:+.4f} to {row['high']:+.4f}"
    is_signed = row["a_better"] is None
    return {
        "task": row["task"],
        "metric": row["metric"],
        "n": row["n"],
        "left_out": row.get("left_out"),
        "clusters": row["clusters"] if row["clusters"] < row["n"] else None,
        "a": row["a"],
        "b": row["b"],
        "a - b": f"{row['difference']:+.4f}",
        "95% interval": interval,
        "p": f"{row['p']:.2g}",
        "McNemar": None if row["mcnemar"] is None else f"{row['mcnemar']:.2g}",
        "Holm": f"{row['holm']:.2g}",
        "detectable": row["detectable"],
        "better": None if is_signed else f"a {row['a_better']}, b {row['b_better']}",
    }


def _cells_of_changed(row: dict) -> dict:
    doc = row["doc_hash"][:12] if row["doc_id"] is None else row["doc_id"]
    cells = {"metric": row["metric"], "document": str(doc)} | row
    for name in ("document", "a_answer", "b_answer", "reference"):
        cells[name] = shown(cells[name], _LONGEST_CELL)
    hidden = ("run_a", "run_b", "doc_id", "doc_hash")
    return {name: cell for name, cell in cells.items() if name not in hidden}


def notes(models: list[Model]) -> Iterator[str]:
    """Yield what a reader has to know of runs: other versions, repeats, invalid answers."""
    for task in sorted({task for model in models for task in model.tasks}):
        versions = {model.name: model.run.version(task) for model in models}
        if not all(map(scorer(task).asks_as, versions.values())):
            said = ", ".join(f"{name} {x or 'unknown'}" for name, x in versions.items())
            yield (
                f"{task}: was run in other versions ({said}); all answers are scored by"
                f" {scorer(task).version}, but prompts may differ"
            )
        for model in (model for model in models if task in model.tasks):
            tally = model.tasks[task].tally
            if surplus := tally.surplus:
                yield (
                    f"{task}: {surplus} of {tally.answered} answers of {model.name} are"
                    " to repeats, under other ids, which the benchmark does not have"
                )
            for kind, why in INVALID.items():
                if n := tally.all.invalid[kind]:
                    of = f"{n} of {tally.all.n} answers of {model.name}"
                    yield f"{task}: {of} are invalid: {why}"


# ------------------------------------------------------------------- command line


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.run, options.task)
    models, refused = read_models(runs, options, _result)
    names = [model.name for model in models]
    if not refused:
        if len(models) < 2:
            raise ToolError(f"{names[0]}: is the only run; name two or more to compare")
        matched, lacking = match(models)
        if lacking and not options.common:
            fix = "run all on the same documents, or compare common ones with --common"
            refused = [*lacking, f"runs over different documents: {fix}"]
    for line in refused:
        say(line)
    if refused:
        return 1
    if not matched:
        raise ToolError(f"{', '.join(names)}: have no document in common")
    _check_choices(options.metrics, options.show, matched)
    for line in (*lacking, *notes(models)):
        say(line)
    _write(options, matched, models)
    return 0


def _write(options: Namespace, matched: Matched, models: list[Model]) -> None:
    names = [model.name for model in models]
    if options.show:
        matched = {options.show: matched[options.show]}
        rows = changed(matched, names, options.metrics)
        text = markdown(rows, _cells_of_changed) or "no document changed sides\n"
    else:
        rows = compare(matched, names, options.metrics)
        for row in rows if options.leave_out else ():
            n = max(model.tasks[row["task"]].tally.left_out for model in models)
            row["left_out"] = f"{n} ({options.leave_out})"
        tests = {row["metric"]: row["tests"] for row in rows}
        counts = ", ".join(f"{n} of {metric}" for metric, n in tests.items())
        text = markdown(rows, _cells) + _CAPTION.format(counts)
    if options.format != "markdown":
        text = tables.render(rows, options.format)
    # Half a surrogate pair has no UTF-8, but an escape, which is the same in JSON.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())


def _check_choices(chosen: list[str], show: str | None, matched: Matched) -> None:
    """Raise ToolError for a metric or a task that no run has."""
    metrics = [metric for task in matched for metric in metrics_of(task, [ALL])]
    names = (name for metric in metrics for name in (metric.family, metric.name))
    known = dict.fromkeys([HEADLINE, ALL, *names])
    for name in chosen:
        if name not in known:
            raise ToolError(f"--metrics {name}: choose from {', '.join(known)}")
    if show and show not in matched:
        raise ToolError(f"--show {show}: was not run; choose from {', '.join(matched)}")


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("compare", __doc__)
    add = parser.add_argument
    add("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    choices = f"names, published, flexible, {ALL}, or {HEADLINE}, the default"
    add("--metrics", type=lambda x: x.split(","), default=[HEADLINE], help=choices)
    add("--common", action="store_true", help="leave out what one of the runs lacks")
    add("--show", metavar="TASK", help="print the documents that changed sides instead")
    answer_options(parser)
    add("--format", choices=tables.FORMATS, default="markdown")
    return parser.parse_args(arguments)
