"""What makes the figures of a run worthless, each in a sentence with the fix."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from ..core.cli import quoted
from ..core.format_tables import escaped, percent
from ..core.task_scorers import scorer
from ..verdicts.runs_by_model import Model


_LEAST_SHARE = 0.01  # of the answers, from which on a fault of single answers is told
_LONGEST_LIST = 120  # characters of the tasks that a sentence names
_TUNED = re.compile(r"(?:^|[-_ /.])(?:instruct|chat|it)(?![a-z])", re.IGNORECASE)
# Faults of answers, by what `Figures` count, and what to do.
_OF_ANSWERS = {
    "length": "were cut off by the token limit; run again with a larger max_gen_toks",
    "unended": "end before an answer, as within their reasoning; run again with a larger max_gen_toks",
    "blank": "are blank; see what the model's server returned, and run again",
    "no_system": "have a prompt without the system instruction; the chat template dropped"
    " it, so put it into the prompt (run tasks without _separate)",
}


def faults(model: Model) -> Iterator[str]:
    """Yield a sentence for each fault; none for a healthy run."""
    tallies = model.tasks.values()
    answer_count = sum(tally.all.answers for tally in tallies)
    for fault_key, claim_and_fix in _OF_ANSWERS.items():
        fault_count = sum(tally.all.counts[fault_key] for tally in tallies)
        if fault_count and fault_count >= _LEAST_SHARE * answer_count:
            share_text = f"({percent(fault_count / answer_count)} %)"
            yield f"{fault_count:,} of {answer_count:,} answers {share_text} {claim_and_fix}."
    limit_texts, version_texts, run_claims = [], [], model.claims()
    for task in model.tasks:
        run_limit = model.claims(task).get("max_gen_toks")
        run_version = model.claims(task).get("version")
        task_limit = scorer(task).config["generation_kwargs"]["max_gen_toks"]
        if run_limit is not None and run_limit < task_limit:
            limit_texts.append(f"{task} {run_limit:,}, not {task_limit:,}")
        if run_version is not None and not scorer(task).has_prompts_of(run_version):
            version_texts.append(f"{task} {run_version}, not {scorer(task).version}")
    if limit_texts:
        fix = "run again without a max_gen_toks of your own"
        tasks_text = textwrap.shorten("; ".join(limit_texts), _LONGEST_LIST)
        yield f"the token limit is below the task's ({tasks_text}); {fix}."
    if (document_limit := run_claims.get("limit")) is not None:
        yield (
            f"the run has --limit {document_limit:g}, so only the first documents; run"
            " again without it, or on a random part (`temporal-eval sample`)."
        )
    model_name = run_claims.get("model_name") or model.name
    if run_claims.get("chat_template") is False and _TUNED.search(model_name):
        yield (
            "the model's name says that it is tuned for chats, but no chat template was"
            " applied; run again with --apply_chat_template."
        )
    if version_texts:
        fix = "run again with this pack, or score it with the pack that ran it"
        tasks_text = textwrap.shorten("; ".join(version_texts), _LONGEST_LIST)
        yield f"the tasks were run in another version ({tasks_text}); {fix}."


def silent_ends(models: list[Model]) -> str:
    """Return a sentence on the runs of which no answer says why it ended; "" for none."""
    run_names, early_end_count, answer_count = [], 0, 0
    for model in models:
        tallies = model.tasks.values()
        if all(tally.all.counts["silent"] == tally.all.answers for tally in tallies):
            run_names.append(escaped(quoted(model.name)))
            early_end_count += sum(tally.all.counts["unended"] for tally in tallies)
            answer_count += sum(tally.all.answers for tally in tallies)
    if not answer_count:
        return ""
    runs_text = ", ".join(run_names) if len(run_names) < 4 else f"{len(run_names)} runs"
    return (
        f"No answer of {runs_text} says why it ended: {early_end_count:,} of {answer_count:,} end"
        " before an answer, and more may have been cut off. Answers through `temporal-eval export`"
        " and `replay` say it."
    )
