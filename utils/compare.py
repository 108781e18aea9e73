"""Compare runs of models document by document: which is better, and how sure is that?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--detail]

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
from .core.families import Group, benchmarks, scorer, title_of
from .core.text_tables import FORMATS, escaped, natural, p_text, percent, points, render
from .integrity.recall import recall, recall_sentence
from .score.health import faults
from .score.rows import RULES, headline_scores
from .verdicts.options import answer_options
from .verdicts.runs import Model, read_models
from .verdicts.tally import Document, Tally, rows_remark


_MOST_NAMED = 10  # documents that an error names; the rest is counted
# What an Estimate has, in its order.
_COLUMNS = "difference low high error freedom clusters design_effect p".split()
_LEGEND = """\
- Scores: published is by the benchmark's own rule (its metric card), flexible is the same for \
the value in any form. An answer that is partly right may earn a part of the point.
- Difference: the first-named run minus the second-named one, in percentage points.
- 95 % interval: the likely range of the true difference, by this comparison alone. It is not \
adjusted, so it may exclude 0 where no difference is shown.
- p: a run is called better where p, adjusted for all tests (Holm's method), is below 0.05. So \
the chance that at least one of the {} sentences calls a run better than an equally good one is \
at most 5 %.
- Cluster: documents that share a text, a question or a template. They tell less than as many \
independent ones.
"""

# Of each run: task -> documents that all runs answered, in one order for all of them.
Matches = list[dict[str, list[Document]]]


def match(models: list[Model]) -> tuple[Matches, list[str]]:
    """Return the scored documents that all runs answered, and in words what a run lacks."""
    run_copies_by_digest: dict[tuple, list] = defaultdict(lambda: [[] for _ in models])
    for run_number, model in enumerate(models):
        for (task, digest, _), document in model.documents():
            run_copies_by_digest[task, digest][run_number].append(document)
    matches, lack_messages = [{} for _ in models], []
    for task, keys in groupby(sorted(run_copies_by_digest), key=itemgetter(0)):
        aligned_docs = [
            copies for key in keys for copies in _align(run_copies_by_digest[key])
        ]
        aligned_docs.sort(
            key=lambda copies: natural(json.dumps(_row(copies)["doc_id"]))
        )
        answered_by_all = [copies for copies in aligned_docs if all(copies)]
        if answered_by_all and scorer(task).headline:
            for documents_by_task, documents in zip(matches, zip(*answered_by_all)):
                documents_by_task[task] = [*documents]
        all_doc_names = [_name(_row(copies)) for copies in aligned_docs]
        document_count = len({*all_doc_names})
        for model, documents in zip(models, zip(*aligned_docs)):
            named_docs = zip(all_doc_names, documents)
            lacked_names = [*dict.fromkeys(name for name, doc in named_docs if not doc)]
            if lacked_names:
                more_text = ", ..." if len(lacked_names) > _MOST_NAMED else ""
                lack = f"no answer to {len(lacked_names)} of {document_count} documents"
                names_text = f"{', '.join(lacked_names[:_MOST_NAMED])}{more_text}"
                lack_messages.append(f"{task}: {model.name} has {lack}: {names_text}")
    return matches, lack_messages


def _align(copies_of_runs: list[list[Document]]) -> list[tuple[Document | None, ...]]:
    """Return the copies of a document that are compared, None for those a run lacks.

    They go by their ids. Without ids in all runs they go by their scores, where each run
    has as many; else nobody can say which one lacks, and a choice would tilt the
    comparison.
    """
    has_ids = all(doc.row["doc_id"] is not None for doc in chain(*copies_of_runs))
    copy_counts = {*map(len, copies_of_runs)}
    if has_ids and max(copy_counts) > 1:
        run_docs_by_id = [
            {json.dumps(doc.row["doc_id"]): doc for doc in copies}
            for copies in copies_of_runs
        ]
        ids = sorted({*chain(*run_docs_by_id)})
        return [tuple(docs.get(doc_id) for docs in run_docs_by_id) for doc_id in ids]
    for copies in copies_of_runs:
        copies.sort(key=lambda document: [*document.means().values()])
    aligned_copies = [*zip_longest(*copies_of_runs)]
    if len(copy_counts) > 1:
        del aligned_copies[: min(copy_counts)]
    return aligned_copies


def _row(copies: tuple[Document | None, ...]) -> dict:
    """Return the row of the first run that answered a document."""
    return next(filter(None, copies)).row


def _name(row: dict) -> str:
    """Return how messages name the document of a row: by id, and start of its digest."""
    digest_text = f"({row['digest'][:12]})"
    return (
        digest_text if row["doc_id"] is None else f"{row['doc_id']!r:.60} {digest_text}"
    )


def _scopes(
    documents_by_task: dict[str, list[Document]], tallies: dict[str, Tally]
) -> list[Group]:
    """Return the benchmarks that tasks belong to, with titles that say what is compared."""
    scopes = []
    for benchmark in benchmarks([*documents_by_task]):
        title = title_of(benchmark.name)
        tasks = tuple(filter(documents_by_task.get, benchmark.tasks))
        if len(tasks) < len(benchmark.tasks):
            title = f"{len(tasks)} of {len(benchmark.tasks)} tasks of {title}"
            title = f"{tasks[0]}, {title}" if len(tasks) == 1 else title
        document_count = sum(len(documents_by_task[task]) for task in tasks)
        if remark := rows_remark([tallies[task] for task in tasks], document_count):
            title += f" ({remark})"
        scopes.append(benchmark._replace(name=title, tasks=tasks))
    return scopes


def compare(matches: Matches, run_names: list[str], scopes: list[Group]) -> list[dict]:
    """Return a row for each two runs, scope and score; all rows are tested together.

    A difference is that of run a minus run b.
    """
    rows, index_pairs = [], combinations(range(len(run_names)), 2)
    pairs_scopes_rules = [*product(index_pairs, scopes, RULES)]
    for index_pair, scope, rule in pairs_scopes_rules:
        (scores_a, clusters), (scores_b, _) = (
            headline_scores(scope, matches[run_index], rule) for run_index in index_pair
        )
        cluster_sizes, score_sums_a = stats.cluster_totals(scores_a, clusters)
        _, score_sums_b = stats.cluster_totals(scores_b, clusters)
        row = {
            **{"run_a": run_names[index_pair[0]], "run_b": run_names[index_pair[1]]},
            **{"scope": scope.name, "score": rule, "n": len(scores_a)},
            **{"a": math.fsum(scores_a) / len(scores_a)},
            **{"b": math.fsum(scores_b) / len(scores_b)},
        }
        row |= zip(_COLUMNS, stats.estimate_difference(scores_b, scores_a, clusters))
        row["detectable"] = stats.detectable_difference(
            cluster_sizes, score_sums_a, score_sums_b, len(pairs_scopes_rules)
        )
        rows.append(row)
    for row, adjusted_p in zip(rows, stats.holm(row["p"] for row in rows)):
        higher_run_name = row["run_a"] if row["difference"] > 0 else row["run_b"]
        row["p_holm"], row["tests"] = adjusted_p, len(pairs_scopes_rules)
        row["better"] = higher_run_name if adjusted_p < 1 - stats.CONFIDENCE else None
    return rows


def sentence(row: dict) -> str:
    """Return what a row of `compare` claims; the run with the higher score comes first."""
    run_letters, sign = ("ab", 1) if row["difference"] >= 0 else ("ba", -1)
    leader, follower = (escaped(row[f"run_{letter}"]) for letter in run_letters)
    scores_text = " % against ".join(percent(row[letter]) for letter in run_letters)
    low, high = sorted(sign * row[end_column] for end_column in ("low", "high"))
    difference_text = (
        f"{scores_text} %, a difference of {points(sign * row['difference'])} points (95 %"
        f" interval {points(low)} to {points(high)} by itself; p {p_text(row['p_holm'])}"
        f" adjusted for {row['tests']} tests)."
    )
    scope_name = escaped(row["scope"])
    if row["better"]:
        return f"{leader} is better than {follower} on {scope_name}: {difference_text}"
    power_sentence = (
        f"With so few clusters ({row['clusters']:,}) it cannot be said how large a"
        " difference such a test would detect"
    )
    if least_difference := row["detectable"]:
        power_sentence = (
            f"A true difference of {percent(least_difference)} points, either way, would be"
            " detected in 4 of 5 such tests, a smaller one less often"
        )
    return (
        f"{leader} and {follower} are not shown to differ on {scope_name}: observed"
        f" {difference_text} {power_sentence}."
    )


def report(rows: list[dict]) -> str:
    """Return the rows of `compare` in sentences, two for each two runs and scope."""
    lines, get_scope_and_sizes = [], itemgetter("scope", "n", "clusters")
    for run_names, pair_rows in groupby(rows, key=itemgetter("run_a", "run_b")):
        lines += ["a: {}, b: {}".format(*map(escaped, run_names)), ""]
        for scope_and_sizes, scope_rows in groupby(pair_rows, key=get_scope_and_sizes):
            lines.append("{}: {:,} documents in {:,} clusters".format(*scope_and_sizes))
            lines += [f"- {row['score']} score: {sentence(row)}" for row in scope_rows]
            lines.append("")
    for paragraph in _LEGEND.format(len(rows)).splitlines():
        lines.append(textwrap.fill(paragraph, 94, subsequent_indent="  "))
    return "\n".join([*lines, ""])


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
    matches, lack_messages = match(models)
    for lack_message in lack_messages:
        say(lack_message)
    if lack_messages and not options.common:
        fix = "run all on the same documents, or compare common ones with --common"
        raise ToolError(f"runs over different documents: {fix}")
    if not matches[0]:
        run_names_text = ", ".join(model.name for model in models)
        raise ToolError(f"{run_names_text}: have no scored document in common")
    for model in models:
        for fault in faults(model):
            say(f"Fault in the run {model.name}: {fault}")
        for task, tally in sorted(model.tasks.items()):
            if tally.left_out:
                left_out_text = f"are left out ({options.leave_out})"
                say(f"{task}: {tally.left_out} answers of {model.name} {left_out_text}")
    sys.stdout.write(_text(options, matches, models, recall_rows))
    return 0


def _text(
    options: Namespace, matches: Matches, models: list[Model], recall_rows: list[dict]
) -> str:
    """Return the comparisons in the format that the options ask for."""
    scopes = [Group(task, (task,)) for task in matches[0]]
    if not options.detail:
        scopes = _scopes(matches[0], models[0].tasks)
    rows = compare(matches, [model.name for model in models], scopes)
    if options.format != "markdown":
        return render(rows + recall_rows, options.format)
    recall_claims = [recall_sentence(row, escaped(row["run"])) for row in recall_rows]
    sections = [report(rows)] if rows else []
    return "\n".join([*sections, *(f"- {claim}\n" for claim in recall_claims)])


def _options(arguments: list[str] | None) -> Namespace:
    """Return the command line."""
    parser = tool_parser("compare", __doc__)
    add = parser.add_argument
    add("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    add("--common", action="store_true", help="leave out what one of the runs lacks")
    add("--detail", action="store_true", help="compare single tasks, not benchmarks")
    answer_options(parser)
    add("--format", choices=FORMATS, default="markdown")
    return parser.parse_args(arguments)
