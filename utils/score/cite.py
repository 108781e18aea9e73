"""What a paper says of a score: a line for each benchmark, and BibTeX entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lm_eval_tasks import VERSION

from ..core.families import FOLDER, benchmarks, configuration, scorer
from ..core.tables import percent
from ..verdicts.answers import sha256
from ..verdicts.figures import rows_remark
from ..verdicts.runs import Model
from .rows import with_interval


_METHOD = "Wilson's with cluster-robust effective sample size (CR2, Bell-McCaffrey)"
_ENTRY = re.compile(r"```bibtex\n(.*?)```", re.DOTALL)
_PACK = """\
@software{lm_eval_temporal_tasks,
    title={lm-eval-temporal-tasks: TCP, Test of Time and TimeBench for the LM Evaluation Harness},
    author={{The maintainers of lm-eval-temporal-tasks}},
    version={VERSION}
}
"""


def citations(model: Model, rows: list[dict]) -> Iterator[str]:
    """Yield a line for each benchmark of a model, of which `rows` are the figures."""
    row_by_name = {row["task"]: row for row in rows if row["by"] is None}
    whole_rows = [row for row in row_by_name.values() if "tasks" not in row]
    scored = [row["task"] for row in whole_rows if row["published"] is not None]
    for group in benchmarks(scored):
        tasks = [task for task in group.tasks if task in scored]
        row = row_by_name[group.name if len(tasks) > 1 else tasks[0]]
        title = configuration(group.name)["metadata"].get("title", group.name)
        remarks = [", ".join(tasks)] if len(tasks) < len(group.tasks) else []
        if remark := rows_remark([model.tasks[task] for task in tasks], row["n"]):
            remarks.append(remark)
        if remarks:
            title += f" ({'; '.join(remarks)})"
        cut_off = f"{percent(row['cut_off'] / row['answers'])} %"
        if row["cut_off_unknown"] and not row["cut_off"]:
            cut_off = "unknown"
        yield (
            f"{row['run']} on {title}: published score (metric card's rule)"
            f" {with_interval(row, 'published')}; flexible score (value in any form)"
            f" {with_interval(row, 'flexible')} (percent [95 % interval, {_METHOD}])."
            f" {row['n']:,} documents in {row['clusters']:,} clusters (of one text or"
            f" template); {_settings(model, tasks)}; answers seen to be cut off:"
            f" {cut_off}; {VERSION}."
        )


def _settings(model: Model, tasks: list[str]) -> str:
    """Return how the tasks were run, as far as the files say, else that it is unknown."""
    claims, run = [model.claims(task) for task in tasks], model.claims()
    pack_version = _join([scorer(task).version for task in tasks])
    run_version = _join([claim.get("version") for claim in claims])
    foreign = f", run with version {run_version}" if run_version != pack_version else ""
    fingerprints = [model.tasks[task].fingerprint for task in tasks]
    fingerprint = fingerprints[0] if len(tasks) == 1 else sha256(" ".join(fingerprints))
    chat_template = {True: "yes", False: "no"}.get(run.get("chat_template"), "unknown")
    return (
        f"task version {pack_version}{foreign}; fingerprint of the rows"
        f" {fingerprint[:12]}; few-shot examples"
        f" {_join([claim.get('n_shot') for claim in claims])}; chat template {chat_template};"
        f" token limit {_join([claim.get('max_gen_toks') for claim in claims])};"
        f" lm-eval {run.get('lm_eval_version') or 'unknown'}"
    )


def _join(values: list) -> str:
    texts = ("unknown" if value is None else str(value) for value in values)
    return "/".join(dict.fromkeys(texts))


def bibliography(models: list[Model]) -> Iterator[str]:
    """Yield the BibTeX entries of the benchmarks of models, and of the pack."""
    tasks = {task for model in models for task in model.tasks}
    for family in sorted({scorer(task).family for task in tasks}):
        readme = (FOLDER / family / "README.md").read_text(encoding="utf-8")
        yield from _ENTRY.findall(readme)
    yield _PACK.replace("VERSION", VERSION.removeprefix("lm-eval-temporal-tasks "))
