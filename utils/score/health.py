"""What makes the figures of a run worthless, each in a sentence with the fix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..core.families import configuration, scorer
from ..core.tables import escaped, percent
from ..verdicts.runs import Model


LEAST = 0.01  # share of the answers from which on a fault of single answers is told
_TUNED = re.compile(r"(?:^|[-_ /.])(?:instruct|chat|it)(?![a-z])", re.IGNORECASE)
# Faults of answers, and what to do.
_OF_ANSWERS = {
    "length": "were cut off by the token limit; run again with a larger max_gen_toks",
    "unended": "end before an answer, as within their reasoning; run again with a larger max_gen_toks",
    "blank": "are blank; see what the model's server returned, and run again",
    "no_system": "have a prompt without the system instruction; the chat template dropped"
    " it, so put it into the prompt (run tasks without _separate)",
}


def faults(model: Model) -> Iterator[str]:
    """Yield a sentence for each fault; none for a healthy run."""
    count_by_fault, answer_count = _count(model)
    for fault, claim_and_fix in _OF_ANSWERS.items():
        if count_by_fault[fault] and count_by_fault[fault] >= LEAST * answer_count:
            share_text = percent(count_by_fault[fault] / answer_count)
            answers_text = f"{count_by_fault[fault]:,} of {answer_count:,} answers"
            yield f"{answers_text} ({share_text} %) {claim_and_fix}."
    limit_texts, version_texts, run_claims = [], [], model.claims()
    for task in model.tasks:
        task_claims = model.claims(task)
        run_limit = task_claims.get("max_gen_toks")
        run_version = task_claims.get("version")
        task_limit = configuration(task)["generation_kwargs"]["max_gen_toks"]
        if run_limit is not None and run_limit < task_limit:
            limit_texts.append(f"{task} {run_limit:,}, not {task_limit:,}")
        if not scorer(task).asks_as(run_version):
            version_texts.append(f"{task} {run_version}, not {scorer(task).version}")
    if limit_texts:
        fix = "run again without a max_gen_toks of your own"
        yield f"the token limit is below the task's ({_listed(limit_texts)}); {fix}."
    if (document_limit := run_claims.get("limit")) is not None:
        fault = f"the run has --limit {document_limit:g}, so only some documents"
        yield f"{fault}; run again without it."
    model_name = run_claims.get("model_name") or model.name
    if run_claims.get("chat_template") is False and _TUNED.search(model_name):
        yield (
            "the model's name says that it is tuned for chats, but no chat template was"
            " applied; run again with --apply_chat_template."
        )
    if version_texts:
        fix = "run again with this pack, or score it with the pack that ran it"
        yield f"the tasks were run in another version ({_listed(version_texts)}); {fix}."


def silent_ends(models: list[Model]) -> str:
    """Return a sentence on the runs of which no answer says why it ended; "" for none."""
    run_names, unended_count, silent_count = [], 0, 0
    for model in models:
        count_by_fault, answer_count = _count(model)
        if count_by_fault["silent"] == answer_count:
            run_names.append(escaped(model.name))
            unended_count += count_by_fault["unended"]
            silent_count += answer_count
    if not silent_count:
        return ""
    runs_text = ", ".join(run_names) if len(run_names) < 4 else f"{len(run_names)} runs"
    return (
        f"No answer of {runs_text} says why it ended: {unended_count:,} of {silent_count:,} end"
        " before an answer, and more may have been cut off. Answers through `temporal-eval export`"
        " and `replay` say it."
    )


def _count(model: Model) -> tuple[Counter[str], int]:
    """Return how many answers of a model have each fault, and how many there are."""
    figures = [tally.all for tally in model.tasks.values()]
    count_by_fault = sum(
        (figures_of_task.counts for figures_of_task in figures), Counter()
    )
    return count_by_fault, sum(figures_of_task.answers for figures_of_task in figures)


def _listed(texts: list[str]) -> str:
    """Return the first three texts, and how many more tasks there are."""
    more_text = f" and {len(texts) - 3} more tasks" if len(texts) > 3 else ""
    return f"{'; '.join(texts[:3])}{more_text}"
