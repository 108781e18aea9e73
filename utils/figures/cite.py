"""What a paper says of a score: a line for each benchmark, and BibTeX entries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lm_eval_tasks import VERSION

from ..core.cli import printable
from ..core.format_tables import percent
from ..core.task_scorers import FOLDER, benchmarks, scorer, title_of
from ..verdicts.read_answers import sha256
from ..verdicts.runs_by_model import Model
from ..verdicts.tally import rows_remark
from .score_rows import with_interval


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
    scored_rows = [
        row for row in rows if not row["by"] and row["published"] is not None
    ]
    row_by_name = {row["task"]: row for row in scored_rows}
    scored_tasks = [row["task"] for row in scored_rows if "tasks" not in row]
    for benchmark in benchmarks(scored_tasks):
        tasks = [task for task in benchmark.tasks if task in scored_tasks]
        row = row_by_name[benchmark.name if len(tasks) > 1 else tasks[0]]
        title_remarks = [rows_remark([model.tasks[task] for task in tasks], row["n"])]
        if len(tasks) < len(benchmark.tasks):
            title_remarks.insert(0, ", ".join(tasks))
        title = title_of(benchmark.name)
        if remarks_text := "; ".join(filter(None, title_remarks)):
            title += f" ({remarks_text})"
        cut_off_share_text = f"{percent(row['cut_off'] / row['answers'])} %"
        if row["cut_off_unknown"] and not row["cut_off"]:
            cut_off_share_text = "unknown"
        yield printable(  # names and versions are what files claim
            f"{row['run']} on {title}: published score (metric card's rule)"
            f" {with_interval(row, 'published')}; flexible score (value in any form)"
            f" {with_interval(row, 'flexible')} (percent [95 % interval, {_METHOD}])."
            f" {row['n']:,} documents in {row['clusters']:,} clusters (of one text"
            f" or template); {_settings(model, tasks)}; answers seen to be cut off:"
            f" {cut_off_share_text}; {VERSION}."
        )


def _settings(model: Model, tasks: list[str]) -> str:
    """Return how the tasks were run, as far as the files say, else that it is unknown."""
    claims_of_tasks, run_claims = [model.claims(task) for task in tasks], model.claims()
    version_text = _join([scorer(task).version for task in tasks])
    run_version_text = _join([claims.get("version") for claims in claims_of_tasks])
    if run_version_text != version_text:
        version_text += f", run with version {run_version_text}"
    fingerprints = [model.tasks[task].fingerprint for task in tasks]
    joint_fingerprint = sha256(" ".join(fingerprints)) if tasks[1:] else fingerprints[0]
    template_texts: dict[object, str] = {True: "yes", False: "no"}
    has_template_text = template_texts.get(run_claims.get("chat_template"))
    return (
        f"task version {version_text}; fingerprint of the rows {joint_fingerprint[:12]}; few-shot"
        f" examples {_join([claims.get('n_shot') for claims in claims_of_tasks])}; chat template"
        f" {has_template_text or 'unknown'}; token limit"
        f" {_join([claims.get('max_gen_toks') for claims in claims_of_tasks])};"
        f" lm-eval {run_claims.get('lm_eval_version') or 'unknown'}"
    )


def _join(values: list) -> str:
    """Return the different values as a text, with "/" between them."""
    all_texts = ("unknown" if value is None else str(value) for value in values)
    return "/".join(dict.fromkeys(all_texts))


def bibliography(models: list[Model]) -> Iterator[str]:
    """Yield the BibTeX entries of the benchmarks of models, and of the pack."""
    all_tasks = {task for model in models for task in model.tasks}
    for family in sorted({scorer(task).family for task in all_tasks}):
        readme_text = (FOLDER / family / "README.md").read_text(encoding="utf-8")
        yield from _ENTRY.findall(readme_text)
    yield _PACK.replace("VERSION", VERSION.removeprefix("lm-eval-temporal-tasks "))
