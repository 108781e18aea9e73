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


_SCORES = {
    "published": "published score (metric card's rule)",
    "flexible": "flexible score (value in any form)",
}
_METHOD = "Wilson's with cluster-robust effective sample size (CR2, Bell-McCaffrey)"
_DIGITS = 12  # of a fingerprint
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
    tasks = [task for task, tally in model.tasks.items() if tally.all.n]
    tasks = [task for task in tasks if scorer(task).headline]
    for group in benchmarks(tasks):
        run_tasks = [task for task in group.tasks if task in tasks]
        row = row_by_name[group.name if len(run_tasks) > 1 else run_tasks[0]]
        title = configuration(group.name)["metadata"].get("title", group.name)
        remarks = [", ".join(run_tasks)] if len(run_tasks) < len(group.tasks) else []
        remarks.append(rows_remark([model.tasks[task] for task in run_tasks], row["n"]))
        remark = "; ".join(filter(None, remarks))
        scores = "; ".join(
            f"{label} {with_interval(row, rule)}" for rule, label in _SCORES.items()
        )
        yield (
            f"{row['run']} on {title}{remark and f' ({remark})'}: {scores} (percent [95 %"
            f" interval, {_METHOD}]). {row['n']:,} documents in {row['clusters']:,} clusters"
            f" (of one text or template); {'; '.join(_settings(model, run_tasks))}; answers"
            f" seen to be cut off: {_cut_off(row)}; {VERSION}."
        )


def _cut_off(row: dict) -> str:
    if row["cut_off_unknown"] and not row["cut_off"]:
        return "unknown"
    return f"{percent(row['cut_off'] / row['answers'])} %"


def _settings(model: Model, tasks: list[str]) -> Iterator[str]:
    """Yield how the tasks were run, as far as the files say, else that it is unknown."""
    claims, run = [model.claims(task) for task in tasks], model.claims()
    pack_version = _values([scorer(task).version for task in tasks])
    run_version = _values([claim.get("version") for claim in claims])
    foreign = f", run with version {run_version}" if run_version != pack_version else ""
    yield f"task version {pack_version}{foreign}"
    fingerprints = [model.tasks[task].fingerprint for task in tasks]
    fingerprint = fingerprints[0] if len(tasks) == 1 else sha256(" ".join(fingerprints))
    yield f"fingerprint of the rows {fingerprint[:_DIGITS]}"
    yield f"few-shot examples {_values([claim.get('n_shot') for claim in claims])}"
    template = {True: "yes", False: "no"}.get(run.get("chat_template"), "unknown")
    yield f"chat template {template}"
    yield f"token limit {_values([claim.get('max_gen_toks') for claim in claims])}"
    yield f"lm-eval {run.get('lm_eval_version') or 'unknown'}"


def _values(values: list) -> str:
    texts = ("unknown" if value is None else str(value) for value in values)
    return "/".join(dict.fromkeys(texts))


def bibliography(models: list[Model]) -> Iterator[str]:
    """Yield the BibTeX entries of the benchmarks of models, and of the pack."""
    tasks = {task for model in models for task in model.tasks}
    for family in sorted({scorer(task).family for task in tasks}):
        readme = (FOLDER / family / "README.md").read_text(encoding="utf-8")
        yield from _ENTRY.findall(readme)
    yield _PACK.replace("VERSION", VERSION.removeprefix("lm-eval-temporal-tasks "))
