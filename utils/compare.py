"""Compare runs of models document by document: which is better, and how sure is that?

    temporal-eval compare RUN RUN [RUN ...] [--common] [--detail] [--show N]

A RUN is the output folder of a model, a sample log, or a file of answers; NAME=RUN names
it. All answers are scored by this version of the pack. For each two runs and each benchmark
a row on the published score and one on the flexible score says which run is better; below
the table stands which difference such a test would show. Where a run has answers to twins, a line says
whether the model recalls public rows; for that one run is enough. `--show N` prints N
documents that one of two runs has right and the other wrong, by question type.

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
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain, combinations, groupby, islice, product, zip_longest
from operator import itemgetter

from . import stats
from .core.cli import say, tool_parser, whole_number
from .core.errors import ToolError
from .core.format_tables import FORMATS, natural, p_text, percent, points, render
from .core.task_scorers import Group, benchmarks, scorer, title_of
from .core.text_layout import Layout
from .figures.health import faults
from .figures.score_rows import RULES, headline_scores
from .integrity.recall import recall, recall_sentence
from .verdicts.cli_options import answer_options
from .verdicts.judge_answer import shorten, value_text
from .verdicts.runs_by_model import Model, read_models
from .verdicts.tally import Document, Tally, rows_remark


_MOST_NAMED = 10  # documents that an error names; the rest is counted
# What an Estimate has, in its order.
_COLUMNS = "difference low high error freedom clusters design_effect p".split()
_LEGEND = """\
- Scores: published is by the benchmark's own rule (its metric card), flexible is the same for \
the value in any form. An answer that is partly right may earn a part of the point.
- a - b: the difference of the scores, in percentage points.
- 95 % interval: the likely range of the true difference, by this comparison alone. It is not \
adjusted, so it may exclude 0 where no difference is shown.
- p: a run is called better where p, adjusted for all tests (Holm's method), is below 0.05. So \
the chance that at least one of the {} rows calls a run better than an equally good one is \
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
    matches: Matches = [{} for _ in models]
    lack_messages: list[str] = []
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
) -> list[tuple[str, Group]]:
    """Return the benchmarks that tasks belong to, named by what is compared, after titles."""
    titled_scopes = []
    for benchmark in benchmarks([*documents_by_task]):
        name = title = title_of(benchmark.name)
        tasks = tuple(filter(documents_by_task.get, benchmark.tasks))
        if len(tasks) < len(benchmark.tasks):
            name = f"{len(tasks)} of {len(benchmark.tasks)} tasks of {title}"
            name = f"{tasks[0]}, {name}" if len(tasks) == 1 else name
            title = tasks[0] if len(tasks) == 1 else f"{title} ({len(tasks)} tasks)"
        document_count = sum(len(documents_by_task[task]) for task in tasks)
        if remark := rows_remark([tallies[task] for task in tasks], document_count):
            name += f" ({remark})"
        titled_scopes.append((title, benchmark._replace(name=name, tasks=tasks)))
    return titled_scopes


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
        row: dict = {
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


def report(rows: list[dict], titles: dict[str, str], layout: Layout) -> str:
    """Return the rows of `compare` as a table for each two runs, and what it leaves open.

    `titles` are what the table calls the scopes of the rows.
    """
    lines = []
    for run_names, pair in groupby(rows, key=itemgetter("run_a", "run_b")):
        pair_rows = [*pair]
        name_a, name_b = map(layout.data, run_names)
        lines += [layout.heading(f"{name_a} (a) and {name_b} (b)"), ""]
        lines += layout.table(_table_rows(pair_rows, titles)).splitlines()
        remarks = _remarks(pair_rows, titles)
        lines += ["", *(layout.paragraph(f"- {remark}", "  ") for remark in remarks)]
        lines += [""] if remarks else []
    for scope, n, clusters in dict.fromkeys(
        (row["scope"], row["n"], row["clusters"]) for row in rows
    ):
        scope_text = f"{layout.data(scope)}, {n:,} documents in {clusters:,} clusters"
        lines.append(layout.paragraph(f"- {scope_text}.", "  "))
    for paragraph in _LEGEND.format(len(rows)).splitlines():
        lines.append(layout.paragraph(paragraph, "  "))
    return "\n".join([*lines, ""])


def _table_rows(pair_rows: list[dict], titles: dict[str, str]) -> list[dict]:
    """Return the rows of the table of two runs; a title stands in its first row alone."""
    table_rows, last_scope = [], None
    for row in pair_rows:
        ends = f"[{points(row['low'])}, {points(row['high'])}]"
        table_row = {
            "benchmark": "" if row["scope"] == last_scope else titles[row["scope"]],
            "score": row["score"],
            "a": percent(row["a"]),
            "b": percent(row["b"]),
            "a - b [95 % interval]": f"{points(row['difference'])} {ends}",
            "p": p_text(row["p_holm"]).replace("= ", "").replace("<", "≤"),
            "better": row["better"] or "not shown",
        }
        table_rows.append(table_row)
        last_scope = row["scope"]
    return table_rows


def _remarks(pair_rows: list[dict], titles: dict[str, str]) -> list[str]:
    """Return why differences are not shown that look as if, and which would be."""
    open_rows = [row for row in pair_rows if not row["better"]]
    names = {id(row): f"{titles[row['scope']]}, {row['score']}" for row in open_rows}
    remarks = [
        f"{names[id(row)]}: its interval excludes 0, but p = {row['p']:.2g} becomes"
        f" {row['p_holm']:.2g} when it is adjusted for {row['tests']} tests, so that no"
        " difference is shown."
        for row in open_rows
        if not row["low"] <= 0 <= row["high"]
    ]
    detectable_texts = [
        f"{names[id(row)]} {percent(row['detectable'])}"
        for row in open_rows
        if row["detectable"]
    ]
    if detectable_texts:
        remarks.append(
            "A true difference of so many points, either way, would be shown in 4 of 5 such"
            f" tests: {'; '.join(detectable_texts)}."
        )
    for row in open_rows:
        if not row["detectable"]:
            remarks.append(
                f"With so few clusters ({row['clusters']:,}) of {titles[row['scope']]} it"
                " cannot be said which difference such a test would show."
            )
    return [*dict.fromkeys(remarks)]


def disagreements(
    matches: Matches, models: list[Model], most: int, layout: Layout
) -> str:
    """Return, for each two runs, documents that one has right and the other wrong.

    They are right or wrong by the flexible rule. Of each part of a task that has such
    documents there is the count for either run; `most` of them are printed in all.
    """
    sections: list[str] = []
    for index_a, index_b in combinations(range(len(models)), 2):
        pairs_by_part: dict[str, list[tuple[bool, Document, Document]]]
        pairs_by_part = defaultdict(list)
        for task, documents in matches[index_a].items():
            metric = scorer(task).headline["flexible"]
            for pair in zip(documents, matches[index_b][task]):
                score_a, score_b = (document.means()[metric] for document in pair)
                if max(score_a, score_b) == 1 and score_a != score_b:
                    right_first = pair if score_a == 1 else pair[::-1]
                    part = " ".join([task, *_part(task, pair[0])])
                    pairs_by_part[part].append((score_a == 1, *right_first))
        names = [models[index_a].name, models[index_b].name]
        sections += _disagreement_lines(pairs_by_part, names, most, layout)
    return "\n".join([*sections, ""])


def _part(task: str, document: Document) -> list[str]:
    """Return the question type that a document is of, or what its task has instead."""
    columns = scorer(task).utils.BOARD_COLUMNS
    return [document.parts[name] for name in columns if name in document.parts][:1]


def _disagreement_lines(
    pairs_by_part: dict, names: list[str], most: int, layout: Layout
) -> Iterator[str]:
    """Yield the table of counts and the documents of `disagreements` for two runs."""
    name_a, name_b = map(layout.data, names)
    yield layout.heading(
        f"Right by one, wrong by the other: {name_a} (a), {name_b} (b)"
    )
    yield ""
    if not pairs_by_part:
        yield layout.paragraph("There is no such document, by the flexible rule.")
        yield ""
        return
    parts = sorted(pairs_by_part, key=lambda part: (-len(pairs_by_part[part]), part))
    count_rows = []
    for part in parts:
        a_count = sum(is_a_right for is_a_right, *_ in pairs_by_part[part])
        b_count = len(pairs_by_part[part]) - a_count
        count_rows.append({"question type": part, "only a": a_count, "only b": b_count})
    yield layout.table(count_rows)
    # One of each part in turn, so that the most frequent one does not fill the list.
    in_turn = chain(*zip_longest(*(pairs_by_part[part] for part in parts)))
    for is_a_right, right_doc, wrong_doc in islice(filter(None, in_turn), most):
        row, right_name, wrong_name = right_doc.row, *names[:: 1 if is_a_right else -1]
        label = layout.data(shorten(row["gold"], 60))
        document_text = f"- document {layout.data(_name(row))} of {row['task']}"
        yield layout.paragraph(f"{document_text}, label {label}", "  ")
        for name, document in ((right_name, right_doc), (wrong_name, wrong_doc)):
            verdict = "right" if document is right_doc else document.row["reason"]
            value = value_text(document.row)
            answer = document.row["excerpt"] if value is None else value
            answer_text = layout.data(shorten(answer, 60))
            answer_text = f"{layout.data(shorten(name, 40))}: {verdict}, {answer_text}"
            yield layout.paragraph(f"  - {answer_text}", "    ")
    yield ""


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
    titles = {task: task for task in matches[0]}
    if not options.detail:
        titled_scopes = _scopes(matches[0], models[0].tasks)
        titles = {scope.name: title for title, scope in titled_scopes}
        scopes = [scope for _, scope in titled_scopes]
    rows = compare(matches, [model.name for model in models], scopes)
    if options.format != "markdown":
        return render(rows + recall_rows, options.format)
    layout = Layout.of(sys.stdout)
    sections = [report(rows, titles, layout)] if rows else []
    if options.show and rows:
        sections.append(disagreements(matches, models, options.show, layout))
    for row in recall_rows:
        claim = f"- {recall_sentence(row, layout.data(row['run']))}"
        sections.append(layout.paragraph(claim, "  ") if layout.is_terminal else claim)
        sections[-1] += "\n"
    return "\n".join(sections)


def _options(arguments: list[str] | None) -> Namespace:
    """Return the command line."""
    parser = tool_parser("compare", __doc__)
    add = parser.add_argument
    add("run", nargs="+", metavar="RUN", help="PATH or NAME=PATH")
    add("--common", action="store_true", help="leave out what one of the runs lacks")
    add("--detail", action="store_true", help="compare single tasks, not benchmarks")
    show_help = "print N documents that one run has right and the other wrong"
    add("--show", type=partial(whole_number, least=1), metavar="N", help=show_help)
    answer_options(parser)
    add("--format", choices=FORMATS, default="markdown")
    return parser.parse_args(arguments)
