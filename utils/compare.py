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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from .packs import disputed
from .core import tables
from .runs.answers import document_text, sha256
from .runs.options import answer_options
from .core.cli import printable, say, tool_parser
from .core.errors import Refusals, ToolError
from .core.families import FOLDER, scorer
from .stats import cluster, holm, mcnemar_exact, paired, smallest_difference
from .runs.repeats import Answered, surplus_of
from .runs.find import Run, find_runs
from .runs.scoring import INVALID, Scored, digest_of, jsonable, score


_MOST_NAMED = 10  # lines or documents that an error names; the rest is counted
_LONGEST_SHOWN, _LONGEST_CELL = 200, 50  # characters of an answer; in Markdown
HEADLINE, ALL = "headline", "all"  # choices of metrics beside their names


class Refused(ToolError):
    """What cannot be compared: a line for each fault."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class Result(NamedTuple):
    """What one run scored on one document, and why."""

    doc_id: int | str | None
    doc_hash: str
    digest: bytes  # of what prompt and scores depend on: documents are matched by it
    cluster: str
    scores: dict[str, float]
    reason: str
    published: str | None  # the answer that the published rule extracted
    flexible: str | None  # what the flexible rule read, or could not read
    reference: str
    invalid: str | None

    @property
    def name(self) -> str:
        """The document as messages name it: id, and start of the harness's hash."""
        doc_id = "" if self.doc_id is None else f"{self.doc_id!r:.60} "
        return f"{doc_id}({self.doc_hash[:12]})"


class Metric(NamedTuple):
    """A metric of a task, and the family of tests that it is corrected with."""

    name: str
    family: str
    higher_is_better: bool | None  # None: neither is

    def pairs(self, documents: Iterable[Sequence[Result]], a: int, b: int) -> list:
        """Return the results of two runs on the documents that have the metric in both."""
        pairs = ((found[a], found[b]) for found in documents)
        return [pair for pair in pairs if all(self.name in x.scores for x in pair)]


# ------------------------------------------------------------------------ reading


def read_results(run: Run, include_path: Path = FOLDER) -> dict[str, list[Result]]:
    """Return task -> results of a run.

    Raises Refused, which names each line that cannot be scored, and each second answer to
    a document.
    """
    results: dict[str, list[Result]] = {}
    answered: dict[str, Answered] = {}
    faults = Refusals()
    for answer in run.answers():
        try:
            scored = score(answer, include_path)
            result = _result(scored)
            if answer.task not in answered:
                answered[answer.task] = Answered(answer.task)
            answered[answer.task].add(answer, result.digest)
        except ToolError as error:
            faults.add(str(error))
            continue
        results.setdefault(answer.task, []).append(result)
    if faults.count:
        raise Refused(*faults.messages(run.name))
    if not results:
        raise ToolError(f"{run.name}: has no answers; name files with some")
    return results


def _result(scored: Scored) -> Result:
    answer, doc, verdict = scored.answer, scored.doc, scored.verdict
    flexible = verdict.flexible if verdict.value is None else verdict.value
    return Result(
        doc_id=answer.doc_id,
        doc_hash=sha256(document_text(doc)),
        digest=digest_of(scored),
        cluster=cluster(answer.task, doc),
        scores=verdict.scores,
        reason=verdict.reason,
        published=_shown(verdict.published),
        flexible=_shown(flexible),
        reference=_shown(verdict.reference),
        invalid=scored.invalid,
    )


def _shown(value: object) -> str | None:
    """Return a value as tables show it."""
    if not isinstance(value, str | None):
        value = json.dumps(jsonable(value), ensure_ascii=False)
    return value and _cut(value, _LONGEST_SHOWN)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."


# ----------------------------------------------------------------------- matching


def match(
    runs: dict[str, dict[str, list[Result]]], common: bool = False
) -> tuple[dict[str, list[tuple[Result, ...]]], list[str]]:
    """Return task -> the results of all runs on each document, and what was left out.

    `runs` are name -> task -> results. With `common`, a task or a document that a run
    lacks is left out, which the returned messages say; without, they are Refused. Raises
    ToolError where nothing is in common.
    """
    matched, left_out = {}, []
    for task in sorted(set().union(*runs.values())):
        copies = [_copies(results.get(task, [])) for results in runs.values()]
        documents, unpaired = [], []
        for digest in set().union(*copies):
            pairs, rests = _told_apart([found.get(digest, []) for found in copies])
            documents += [(digest, pair) for pair in pairs]
            unpaired.append(rests)
        documents.sort(key=lambda x: (min(map(_place, x[1])), x[0], repr(x[1])))
        if documents:
            matched[task] = [results for _, results in documents]
        left_out += _lacking(task, [*runs], unpaired, len(documents))
    if left_out and not common:
        fix = "run all on the same documents, or compare the common ones with --common"
        raise Refused(*left_out, f"runs over different documents: {fix}")
    if not matched:
        raise ToolError(f"{', '.join(runs)}: have no document in common")
    return matched, left_out


def _copies(results: list[Result]) -> dict[bytes, list[Result]]:
    """Return digest -> the results on that document, whatever the order of all.

    A benchmark may have a document several times. Its copies stand in the order of their
    ids, and where there are none, of what was scored.
    """
    copies: dict[bytes, list[Result]] = {}
    for result in sorted(results, key=lambda x: (_place(x), repr(x))):
        copies.setdefault(result.digest, []).append(result)
    return copies


def _told_apart(
    runs: list[list[Result]],
) -> tuple[list[tuple[Result, ...]], list[list[Result]]]:
    """Return which copies of a document are compared, and of each run those that are not.

    `runs` are the copies in each. They go by the ids that all runs have; the others are
    compared in order, where each run has as many. Where one has fewer, it is not known
    which, and a choice by place or score would tilt the comparison: none is compared.
    """
    ids = [{json.dumps(x.doc_id): x for x in copies} for copies in runs]
    named = set.intersection(*map(set, ids)) - {"null"}
    pairs = [tuple(by_id[x] for by_id in ids) for x in sorted(named)]
    rests = [
        [x for x in copies if json.dumps(x.doc_id) not in named] for copies in runs
    ]
    if len({*map(len, rests)}) > 1:
        return pairs, rests
    if any(x.doc_id is None for rest in rests for x in rest):
        rests = [sorted(x, key=lambda x: repr(x._replace(doc_id=None))) for x in rests]
    return [*pairs, *zip(*rests, strict=True)], [[] for _ in runs]


def _place(result: Result) -> tuple:
    """Return by what results are sorted."""
    if isinstance(result.doc_id, int):
        return 0, result.doc_id, ""
    return 1, 0, json.dumps(result.doc_id) + result.doc_hash


def _lacking(
    task: str, names: list[str], unpaired: list[list[list[Result]]], compared: int
) -> list[str]:
    """Return what each run lacks, in words.

    `unpaired` are, for each document, the results of each run that are not compared;
    `compared` is how many are.
    """
    total = compared + sum(max(map(len, rests)) for rests in unpaired)
    messages = []
    for place, name in enumerate(names):
        missing, fewer = [], []
        for rests in unpaired:
            most = max(rests, key=len)
            if len(rests[place]) < len(most):
                (fewer if rests[place] else missing).extend(most)
        for results, lacks, why in (
            (missing, "no answer", ""),
            (fewer, "fewer answers than others", ", and no 'doc_id' tells which"),
        ):
            results.sort(key=_place)
            found = list(dict.fromkeys(result.name for result in results))
            named = ", ".join(found[:_MOST_NAMED])
            more = ", ..." if len(found) > _MOST_NAMED else ""
            if results:
                messages.append(
                    f"{task}: {name} has {lacks} to {len(results)} of {total}"
                    f" documents{why}: {named}{more}"
                )
    return messages


def without(
    matched: dict[str, list[tuple[Result, ...]]], leave_out: str | None
) -> tuple[dict[str, list[tuple[Result, ...]]], dict[str, int]]:
    """Return what `match` found without the rows of a list, and task -> their number.

    A task of which nothing is left goes; ToolError where none stays.
    """
    kept = {
        task: [x for x in documents if not disputed.is_in(leave_out, x[0].digest)]
        for task, documents in matched.items()
    }
    counts = {task: len(matched[task]) - len(kept[task]) for task in matched}
    if not any(kept.values()):
        raise ToolError(
            f"{leave_out}: has all documents that are answered; compare without --leave_out"
        )
    return {task: documents for task, documents in kept.items() if documents}, counts


# ---------------------------------------------------------------------- comparing


def metrics_of(task: str, chosen: list[str]) -> list[Metric]:
    """Return the metrics of a task that were chosen.

    A choice is the name of a metric or of a family, HEADLINE (the published metric, the
    flexible one and `extracted`; where a task has no such pair, all), or ALL. Metrics
    that are not aggregated by their mean are left out.
    """
    headline = scorer(task).headline
    families = dict(zip(headline or (), ("published", "flexible")))
    found = []
    for name in scorer(task).metrics:
        if name in scorer(task).aggregations:  # what is compared are means
            continue
        family = families.get(name, name)
        is_headline = not headline or name in (*headline, "extracted")
        if {name, family, ALL} & {*chosen} or (HEADLINE in chosen and is_headline):
            found.append(Metric(name, family, scorer(task).higher_is_better[name]))
    return found


def compare(
    matched: dict[str, list[tuple[Result, ...]]], names: list[str], chosen: list[str]
) -> list[dict]:
    """Return the comparisons: one row for each pair of runs, task and metric.

    `matched` is what `match` returns, `names` are those of the runs.
    """
    rows, families = [], []
    for a, b in combinations(range(len(names)), 2):
        for task, documents in matched.items():
            for metric in metrics_of(task, chosen):
                if not (pairs := metric.pairs(documents, a, b)):
                    continue
                place = {"task": task, "metric": metric.name}
                runs = {"run_a": names[a], "run_b": names[b]}
                rows.append(place | runs | _compared(pairs, metric))
                families.append(metric.family)
    for family in dict.fromkeys(families):
        those = [row for row, other in zip(rows, families) if other == family]
        corrected = holm(max(row["p"], row["mcnemar"] or 0) for row in those)
        for row, p_value in zip(those, corrected):
            row |= {"holm": p_value, "tests": len(those)}
    return rows


def _compared(pairs: list[tuple[Result, Result]], metric: Metric) -> dict:
    """Return the figures of two runs over the same documents in one metric."""
    scores_a, scores_b = ([x.scores[metric.name] for x in run] for run in zip(*pairs))
    found = paired(scores_a, scores_b, [a.cluster for a, _ in pairs])
    only_a = sum(a > b for a, b in zip(scores_a, scores_b))
    only_b = sum(b > a for a, b in zip(scores_a, scores_b))
    if metric.higher_is_better is False:
        only_a, only_b = only_b, only_a
    has_direction = metric.higher_is_better is not None
    is_binary = metric.higher_is_better and {*scores_a, *scores_b} <= {0, 1}
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
        "mcnemar": mcnemar_exact(only_a, only_b) if is_binary else None,
        "detectable": smallest_difference(found.standard_error, found.clusters),
        "a_better": only_a if has_direction else None,
        "b_better": only_b if has_direction else None,
    }


def changed(
    matched: dict[str, list[tuple[Result, ...]]],
    names: list[str],
    chosen: list[str],
    task: str,
) -> list[dict]:
    """Return the documents of a task on which two runs score differently, and why."""
    return [
        {
            "metric": metric.name,
            "run_a": names[a],
            "run_b": names[b],
            "doc_id": one.doc_id,
            "doc_hash": one.doc_hash,
            "a": one.scores[metric.name],
            "b": other.scores[metric.name],
            "a_reason": one.reason,
            "b_reason": other.reason,
            "a_answer": _answer(one, metric),
            "b_answer": _answer(other, metric),
            "reference": one.reference,
        }
        for a, b in combinations(range(len(names)), 2)
        for metric in metrics_of(task, chosen)
        for one, other in metric.pairs(matched[task], a, b)
        if one.scores[metric.name] != other.scores[metric.name]
    ]


def _answer(result: Result, metric: Metric) -> str | None:
    """Return the answer that a metric is about; errors are those of the flexible one."""
    is_flexible = metric.family == "flexible" or not metric.higher_is_better
    return result.flexible if is_flexible else result.published


# ----------------------------------------------------------------------- printing


def markdown(rows: list[dict]) -> str:
    """Return the rows of `compare` as one table for each pair of runs, and a caption."""
    tests: dict[int, list[str]] = {}
    for row in rows:
        tests.setdefault(row["tests"], []).append(row["metric"])
    counts = "; ".join(
        f"{n} of {', '.join(dict.fromkeys(metrics))}" for n, metrics in tests.items()
    )
    return (
        _by_pair(rows, _cells)
        + "\na - b: mean difference, with the 95% interval of paired documents, clustered"
        " where `clusters` is shown; p: its t test; McNemar: exact; Holm: the larger of"
        f" both p-values, corrected for the tests of all tasks and pairs ({counts});"
        " detectable: with a power of 80% at the 5% level.\n"
    )


def _by_pair(rows: list[dict], cells: Callable[[dict], dict]) -> str:
    pairs: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        shown = {
            name: printable(cell) if isinstance(cell, str) else cell
            for name, cell in cells(row).items()
        }
        pairs.setdefault((row["run_a"], row["run_b"]), []).append(shown)
    return "\n".join(
        f"a: {tables.escaped(printable(a))}, b: {tables.escaped(printable(b))}\n\n"
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
        "p": _p_value(row["p"]),
        "McNemar": _p_value(row["mcnemar"]),
        "Holm": _p_value(row["holm"]),
        "detectable": "over 1" if is_share and (detectable or 0) > 1 else detectable,
        "better": None if is_signed else f"a {row['a_better']}, b {row['b_better']}",
    }


def _p_value(value: float | None) -> str | None:
    return None if value is None else f"{value:.2g}"


def markdown_of_changed(rows: list[dict]) -> str:
    """Return the rows of `changed` as one table for each pair of runs."""
    return _by_pair(rows, _cells_of_changed) or "no document changed sides\n"


def _cells_of_changed(row: dict) -> dict:
    hidden = ("run_a", "run_b", "doc_id", "doc_hash")
    doc = row["doc_hash"][:12] if row["doc_id"] is None else row["doc_id"]
    cells = {name: cell for name, cell in row.items() if name not in hidden}
    for name in ("a_answer", "b_answer", "reference"):
        cells[name] = cells[name] and _cut(cells[name], _LONGEST_CELL)
    doc = _cut(doc, _LONGEST_CELL) if isinstance(doc, str) else doc
    return {"metric": cells.pop("metric"), "document": doc} | cells


def notes(
    runs: list[Run], matched: dict[str, list[tuple[Result, ...]]]
) -> Iterator[str]:
    """Yield what a reader has to know of runs: other versions, repeats, invalid answers."""
    for task, documents in matched.items():
        versions = {run.name: run.version(task) for run in runs}
        known = {version for version in versions.values() if version is not None}
        ours = str(scorer(task).version)
        if known - {ours}:
            said = ", ".join(f"{name} {x or 'unknown'}" for name, x in versions.items())
            yield (
                f"{task}: was run in other versions ({said}); all answers are scored by"
                f" {ours}, but prompts may differ"
            )
        if surplus := surplus_of(task, Counter(x[0].digest for x in documents)):
            yield (
                f"{task}: {surplus} of {len(documents)} documents are repeats, under other"
                " ids, which the benchmark does not have"
            )
        for place, run in enumerate(runs):
            invalid = Counter(found[place].invalid for found in documents)
            for kind, count in sorted(invalid.items(), key=str):
                if kind is not None:
                    yield (
                        f"{task}: {count} of {len(documents)} answers of {run.name} are"
                        f" invalid: {INVALID[kind]}"
                    )


def main(arguments: list[str] | None = None) -> int:
    """Print the comparisons of the runs; return the exit status."""
    options = _options(arguments)
    runs = find_runs(options.run, options.task)
    if len(runs) < 2:
        raise ToolError(f"{runs[0].name}: is the only run; name two or more to compare")
    try:
        results = {run.name: read_results(run, options.include_path) for run in runs}
        matched, left_out = match(results, options.common)
    except Refused as error:
        for line in error.lines:
            say(line)
        return 1
    matched, counts = without(matched, options.leave_out)
    _check_choices(options.metrics, options.show, matched)
    if name := options.leave_out:
        left_out += [f"{x}: left out: {n} ({name})" for x, n in counts.items()]
    for line in (*left_out, *notes(runs, matched)):
        say(line)
    names = [run.name for run in runs]
    if options.show:
        rows = changed(matched, names, options.metrics, options.show)
        as_markdown = markdown_of_changed
    else:
        rows, as_markdown = compare(matched, names, options.metrics), markdown
        for row in rows if options.leave_out else ():
            row["left_out"] = f"{counts[row['task']]} ({options.leave_out})"
    is_markdown = options.format == "markdown"
    text = as_markdown(rows) if is_markdown else tables.render(rows, options.format)
    # Half a surrogate pair has no UTF-8, but an escape, which is the same in JSON.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode())
    return 0


def _check_choices(chosen: list[str], show: str | None, matched: dict) -> None:
    """Raise ToolError for a metric or a task that no run has."""
    found = [metric for task in matched for metric in metrics_of(task, [ALL])]
    known = [
        HEADLINE,
        ALL,
        *(x for metric in found for x in (metric.family, metric.name)),
    ]
    for name in chosen:
        if name not in known:
            choices = ", ".join(dict.fromkeys(known))
            raise ToolError(f"--metrics {name}: choose from {choices}")
    if show and show not in matched:
        raise ToolError(f"--show {show}: was not run; choose from {', '.join(matched)}")


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("compare", __doc__)
    parser.add_argument("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    parser.add_argument(
        "--metrics",
        type=lambda text: text.split(","),
        default=[HEADLINE],
        metavar="NAME,...",
        help=f"names of metrics, published, flexible, {ALL}; default: {HEADLINE}, which is"
        " published, flexible and extracted",
    )
    parser.add_argument(
        "--common",
        action="store_true",
        help="leave out tasks and documents that one of the runs lacks",
    )
    parser.add_argument(
        "--show", metavar="TASK", help="print the documents that changed sides instead"
    )
    answer_options(parser)
    parser.add_argument("--format", choices=tables.FORMATS, default="markdown")
    return parser.parse_args(arguments)
