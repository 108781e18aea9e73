"""Compare runs of models document by document: is one better, and can these data tell?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--show TASK]

A RUN is `PATH` or `NAME=PATH` of an output folder of the harness, a sample log, or a file
of answers as `temporal-eval score` takes them. All answers are scored by this version of
the pack, whichever version ran. For each task, metric and pair of runs, the first of the
pair being a, the table has

    a, b         the mean scores over n documents
    a - b        the difference with its 95% interval, from paired documents; where
                 `clusters` is shown, documents that share a text or a question count as
                 clusters in it
    p            of the t test behind that interval
    McNemar      the exact test of 0/1 scores, which knows no clusters
    Holm         the larger of both, corrected for the number of tests: of a metric, over
                 all tasks and pairs, published metrics being one family, flexible another
    detectable   the smallest difference that so many documents, varying as these do, show
                 with a chance of 80% at the 5% level; empty where nothing varies
    better       documents on which a, and b, scores better, errors being better where they
                 are lower; empty for signed errors, which are so in neither direction

A metric that not every document has is compared on those that have it in both runs.

`--show TASK` prints these last documents instead. Runs over different documents are
refused, and so are lines that cannot be scored; `--common` leaves out the documents and
tasks that one of the runs lacks, `--leave_out` those with a disputed label ("left_out").
Rows that a benchmark repeats are paired by `doc_id`; without it in all runs, they count
where each run has as many answers to them.

Example:

    temporal-eval compare a=examples/responses/tcp_long.jsonl \\
        b=examples/responses/tcp_long.jsonl --task tcp_long --include_path examples
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
from pathlib import Path
from typing import NamedTuple

from .core import tables
from .core.cli import say, tool_parser
from .core.errors import Refusals, ToolError
from .core.families import scorer
from .runs.answers import document_text, sha256
from .runs.find import Run, find_runs
from .runs.options import answer_options
from .runs.scoring import INVALID, Scored, Tally, jsonable, score
from .stats import cluster, holm, mcnemar_exact, paired, smallest_difference


HEADLINE, ALL = "headline", "all"  # choices of metrics beside their names
_MOST_NAMED = 10  # documents that an error names; the rest is counted
_LONGEST_SHOWN, _LONGEST_CELL = 200, 50  # characters of an answer; in Markdown
_CAPTION = """
a - b: mean difference, with the 95% interval of paired documents, clustered where \
`clusters` is shown; p: its t test; McNemar: exact; Holm: the larger of both p-values, \
corrected for the tests of all tasks and pairs ({}); detectable: with a power of 80% at \
the 5% level.
"""


class Refused(Exception):
    """What cannot be compared: an argument, one line, for each fault."""


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


class Answers(NamedTuple):
    """What one run answered in one task."""

    tally: Tally
    results: list[Result]


Document = tuple[Result, ...]  # what each run scored on it
Matched = dict[str, list[Document]]  # by task


class Metric(NamedTuple):
    """A metric of a task, and the family of tests that it is corrected with."""

    name: str
    family: str
    higher_is_better: bool | None  # None: neither is

    def pairs(self, documents: Sequence[Document], a: int, b: int) -> list[Document]:
        """Return the results of two runs on the documents that have the metric in both."""
        pairs = ((found[a], found[b]) for found in documents)
        return [pair for pair in pairs if all(self.name in x.scores for x in pair)]


# ----------------------------------------------------------- reading and matching


def read_results(
    run: Run, include_path: Path, leave_out: str | None = None
) -> dict[str, Answers]:
    """Return task -> answers of a run, without those to a list of rows.

    Raises Refused, which names each line that cannot be scored, and each second answer to
    a document; ToolError where there is no answer.
    """
    found: dict[str, Answers] = {}
    faults = Refusals()
    for answer in run.answers():
        try:
            scored = score(answer, include_path)
            if answer.task not in found:
                found[answer.task] = Answers(Tally(answer.task, leave_out), [])
            if found[answer.task].tally.add(scored):
                found[answer.task].results.append(_result(scored))
        except ToolError as error:
            faults.add(str(error))
    if faults.count:
        raise Refused(*faults.messages(run.name))
    if not any(answers.results for answers in found.values()):
        raise ToolError(f"{run.name}: has no answers that count; name files with some")
    return found


def _result(scored: Scored) -> Result:
    answer, doc, verdict = scored.answer, scored.doc, scored.verdict
    flexible = verdict.flexible if verdict.value is None else verdict.value
    return Result(
        answer.doc_id,
        sha256(document_text(doc)),
        scored.digest,
        cluster(answer.task, doc),
        verdict.scores,
        verdict.reason,
        *map(_shown, (verdict.published, flexible, verdict.reference)),
    )


def _shown(value: object) -> str | None:
    """Return a value as tables show it."""
    if not isinstance(value, str | None):
        value = json.dumps(jsonable(value), ensure_ascii=False)
    return value and _cut(value, _LONGEST_SHOWN)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."


def match(
    runs: dict[str, dict[str, Answers]], common: bool = False
) -> tuple[Matched, list[str]]:
    """Return task -> the results of all runs on each document, and what was left out.

    `runs` are name -> task -> answers. With `common`, a task or a document that a run
    lacks is left out, which the returned messages say; without, they are Refused. Raises
    ToolError where nothing is in common.
    """
    matched, left_out = {}, []
    for task in sorted(set().union(*runs.values())):
        copies: dict[bytes, list[list[Result]]] = defaultdict(
            lambda: [[] for _ in runs]
        )
        for place, run in enumerate(runs.values()):
            for result in run[task].results if task in run else ():
                copies[result.digest][place].append(result)
        documents, unpaired = [], []
        for digest in sorted(copies):
            keyed = _told_apart(copies[digest])
            for key in sorted(set().union(*keyed)):
                found = [of_run.get(key) for of_run in keyed]
                (documents if all(found) else unpaired).append(tuple(found))
        if documents:
            matched[task] = sorted(documents, key=lambda pair: min(map(_place, pair)))
        left_out += _lacking(task, [*runs], documents, unpaired)
    if left_out and not common:
        fix = "run all on the same documents, or compare the common ones with --common"
        raise Refused(*left_out, f"runs over different documents: {fix}")
    if not matched:
        raise ToolError(f"{', '.join(runs)}: have no document in common")
    return matched, left_out


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
    if isinstance(result.doc_id, int):
        return 0, result.doc_id, ""
    return 1, 0, json.dumps(result.doc_id) + result.doc_hash


def _lacking(
    task: str, names: list[str], paired: list[Document], unpaired: list[Document]
) -> Iterator[str]:
    """Yield what each run lacks, in words; where a run lacks one, it has None."""
    total = {_name(next(filter(None, found))) for found in (*paired, *unpaired)}
    for place, name in enumerate(names):
        short = [next(filter(None, x)) for x in unpaired if not x[place]]
        lacking = [*dict.fromkeys(map(_name, sorted(short, key=_place)))]
        if lacking:
            known = {found[place].digest for found in unpaired if found[place]}
            has_some = any(result.digest in known for result in short)
            what = "another number of answers" if has_some else "no answer"
            named = ", ".join(lacking[:_MOST_NAMED])
            more = ", ..." if len(lacking) > _MOST_NAMED else ""
            count = f"{len(lacking)} of {len(total)} documents"
            yield f"{task}: {name} has {what} to {count}: {named}{more}"


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


def compare(matched: Matched, names: list[str], chosen: Sequence[str]) -> list[dict]:
    """Return the comparisons: one row for each pair of runs, task and metric.

    `matched` is what `match` returns, `names` are those of the runs.
    """
    rows, families = [], defaultdict(list)
    for a, b in combinations(range(len(names)), 2):
        for task, documents in matched.items():
            for metric in metrics_of(task, chosen):
                if pairs := metric.pairs(documents, a, b):
                    place = {"task": task, "metric": metric.name}
                    place |= {"run_a": names[a], "run_b": names[b]}
                    rows.append(place | _compared(pairs, metric))
                    families[metric.family].append(rows[-1])
    for those in families.values():
        corrected = holm(max(row["p"], row["mcnemar"] or 0) for row in those)
        for row, p_value in zip(those, corrected):
            row |= {"holm": p_value, "tests": len(those)}
    return rows


def _compared(pairs: list[Document], metric: Metric) -> dict:
    """Return the figures of two runs over the same documents in one metric."""
    scores_a, scores_b = ([x.scores[metric.name] for x in run] for run in zip(*pairs))
    found = paired(scores_a, scores_b, [a.cluster for a, _ in pairs])
    better = [sum(map(gt, scores_a, scores_b)), sum(map(lt, scores_a, scores_b))]
    if metric.higher_is_better is False:
        better.reverse()
    is_binary = metric.higher_is_better and {*scores_a, *scores_b} <= {0, 1}
    has_direction = metric.higher_is_better is not None
    return {
        "n": len(pairs),
        "clusters": found.clusters,
        "a": math.fsum(scores_a) / len(pairs),
        "b": math.fsum(scores_b) / len(pairs),
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


def changed(
    documents: list[Document], names: list[str], metrics: list[Metric]
) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    rows = []
    for a, b in combinations(range(len(names)), 2):
        for metric in metrics:
            # Errors are those of the flexible answer.
            is_flexible = metric.family == "flexible" or not metric.higher_is_better
            answer = "flexible" if is_flexible else "published"
            for one, other in metric.pairs(documents, a, b):
                if one.scores[metric.name] == other.scores[metric.name]:
                    continue
                row = {"metric": metric.name, "run_a": names[a], "run_b": names[b]}
                row |= {"doc_id": one.doc_id, "doc_hash": one.doc_hash}
                sides = {"a": one, "b": other}.items()
                row |= {side: x.scores[metric.name] for side, x in sides}
                row |= {f"{side}_reason": x.reason for side, x in sides}
                row |= {f"{side}_answer": getattr(x, answer) for side, x in sides}
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
    detectable, is_signed = row["detectable"], row["a_better"] is None
    is_share = scorer(row["task"]).higher_is_better[row["metric"]]
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
        "detectable": "over 1" if is_share and (detectable or 0) > 1 else detectable,
        "better": None if is_signed else f"a {row['a_better']}, b {row['b_better']}",
    }


def _cells_of_changed(row: dict) -> dict:
    doc = row["doc_hash"][:12] if row["doc_id"] is None else row["doc_id"]
    cells = {"metric": row["metric"], "document": doc} | row
    for name in ("run_a", "run_b", "doc_id", "doc_hash"):
        del cells[name]
    for name in ("document", "a_answer", "b_answer", "reference"):
        if isinstance(cells[name], str):
            cells[name] = _cut(cells[name], _LONGEST_CELL)
    return cells


def notes(runs: list[Run], answers: dict[str, dict[str, Answers]]) -> Iterator[str]:
    """Yield what a reader has to know of runs: other versions, repeats, invalid answers."""
    for task in sorted(set().union(*answers.values())):
        ours = str(scorer(task).version)
        versions = {run.name: run.version(task) for run in runs}
        if {*versions.values()} - {None, ours}:
            said = ", ".join(f"{name} {x or 'unknown'}" for name, x in versions.items())
            yield (
                f"{task}: was run in other versions ({said}); all answers are scored by"
                f" {ours}, but prompts may differ"
            )
        for name, run in answers.items():
            if task not in run:
                continue
            tally = run[task].tally
            if surplus := tally.answered.surplus:
                yield (
                    f"{task}: {surplus} of {tally.answered.n} answers of {name} are to"
                    " repeats, under other ids, which the benchmark does not have"
                )
            for kind, why in INVALID.items():
                if count := tally.all.invalid[kind]:
                    yield f"{task}: {count} of {tally.all.n} answers of {name} are invalid: {why}"


# ------------------------------------------------------------------- command line


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.run, options.task)
    if len(runs) < 2:
        raise ToolError(f"{runs[0].name}: is the only run; name two or more to compare")
    try:
        answers = {
            run.name: read_results(run, options.include_path, options.leave_out)
            for run in runs
        }
        matched, said = match(answers, options.common)
    except Refused as error:
        for line in error.args:
            say(line)
        return 1
    _check_choices(options.metrics, options.show, matched)
    left_out = {}
    if options.leave_out:
        for task in matched:
            n = max(run[task].tally.left_out for run in answers.values())
            left_out[task] = f"{n} ({options.leave_out})"
            said.append(f"{task}: left out: {left_out[task]}")
    for line in (*said, *notes(runs, answers)):
        say(line)
    _write(options, matched, [*answers], left_out)
    return 0


def _write(
    options: Namespace, matched: Matched, names: list[str], left_out: dict[str, str]
) -> None:
    if options.show:
        metrics = metrics_of(options.show, options.metrics)
        rows = changed(matched[options.show], names, metrics)
        text = markdown(rows, _cells_of_changed) or "no document changed sides\n"
    else:
        rows = compare(matched, names, options.metrics)
        for row in rows if left_out else ():
            row["left_out"] = left_out[row["task"]]
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
    known = [HEADLINE, ALL, *(x for y in metrics for x in (y.family, y.name))]
    for name in chosen:
        if name not in known:
            choices = ", ".join(dict.fromkeys(known))
            raise ToolError(f"--metrics {name}: choose from {choices}")
    if show and show not in matched:
        raise ToolError(f"--show {show}: was not run; choose from {', '.join(matched)}")


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("compare", __doc__)
    add = parser.add_argument
    add("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    choices = (
        f"names of metrics, published, flexible, {ALL}, or {HEADLINE}, the default"
    )
    add("--metrics", type=lambda x: x.split(","), default=[HEADLINE], help=choices)
    add("--common", action="store_true", help="leave out what one of the runs lacks")
    add("--show", metavar="TASK", help="print the documents that changed sides instead")
    answer_options(parser)
    add("--format", choices=tables.FORMATS, default="markdown")
    return parser.parse_args(arguments)
