"""Score recorded answers through the harness, as a live run does.

    temporal-eval replay RESPONSES [RESPONSES ...] [--output_path DIR] [options of lm_eval]

RESPONSES are outputs of the OpenAI Batch API to requests of `temporal-eval export`,
samples that the harness logged (a file, or the folder of a run), or lines with `task`,
`doc_id` or `doc`, and `response`; JSON Lines, plain or compressed by gzip. The harness's
tables are printed. DIR gets results and samples as of a live run, but for time stamps, the
model's name and arguments, and `finish_reason` where an answer tells why it ended. Give the
options of the run or of the export; samples keep the prompts that were logged.

Each document needs one answer: a missing one is an error, or, with `--missing score-zero`,
an empty response. All failed requests of a batch are named.

Example:

    temporal-eval replay examples/responses/careful/tcp_long.jsonl --tasks tcp_long \\
        --include_path examples --output_path output
"""

from __future__ import annotations

import re
import sys
import tempfile
from argparse import Namespace
from collections import defaultdict
from pathlib import Path

from lm_eval.api.instance import Instance
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.api_models import JsonChatStr
from lm_eval.utils import make_table, sanitize_model_name

from ..core.cli import output_path, printable, say, tool_parser
from ..core.errors import DocumentError, ToolError
from ..core.files import check_writable, written_whole
from ..core.task_scorers import bare, leaf_tasks, reading, scorer
from ..verdicts.find_answer_files import find_answer_files
from ..verdicts.read_answers import (
    Answer,
    document_text,
    read_answers,
    read_results,
    sha256,
)
from .export_requests import PromptTaker, add_options, evaluate, task_names


_HALF = re.compile("[\ud800-\udfff]")  # of a character: a lone surrogate


class Replay(PromptTaker):
    """Gives each document the answer that was recorded."""

    def __init__(self, answers: list[Answer], missing: str) -> None:
        """Take the answers, and what a missing one is: an "error", or not."""
        super().__init__()
        self.answers, self.missing = answers, missing

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return the answers to the requests, with the prompts that a log has of them.

        ToolError for answers and requests without a counterpart, or with two.
        """
        keys = [(bare(request.task_name), request.doc_id) for request in requests]
        self.joined = join(dict(zip(keys, requests)), self.answers)
        missing_ids_by_task = defaultdict(list)
        for (task, doc_id), request in zip(keys, requests):
            if (task, doc_id) not in self.joined:
                missing_ids_by_task[task].append(doc_id)
            elif logged_arguments := self.joined[task, doc_id].line:
                prompt, *gen_settings = logged_arguments["gen_args_0"].values()
                prompt = JsonChatStr(*prompt) if isinstance(prompt, list) else prompt
                request.arguments = (prompt, *gen_settings)
        for task, missing_ids in missing_ids_by_task.items():
            fault = f"{task}: {len(missing_ids)} documents have no answer"
            if self.missing == "error":
                raise ToolError(
                    f"{fault}, the first of them document {missing_ids[0]}; give the rest"
                    " (`export --only-missing` writes its requests), the run's --limit, or"
                    " --missing score-zero"
                )
            say(f"{fault}; scored as empty")
        return [self.joined[key].response if key in self.joined else "" for key in keys]


def join(requests: dict[tuple, Instance], answers: list[Answer]) -> dict[tuple, Answer]:
    """Return the one answer to each request that has one; keys are task and document id.

    An answer without an id is joined by its document. ToolError for an answer to a document
    that is not asked, or to another version of it, and for a second one.
    """
    keys_by_digest = defaultdict(list)  # a row may be there twice
    for key, request in requests.items():
        digest = scorer(key[0]).utils.digest(request.doc)
        keys_by_digest[key[0], digest].append(key)
    answer_by_key: dict[tuple, Answer] = {}
    for answer in answers:
        doc_name = f"document {answer.doc_id!r} of {answer.task}"
        fit_keys = [key for key in [(answer.task, answer.doc_id)] if key in requests]
        if answer.doc is not None:
            try:
                with reading(answer.task, answer.doc):
                    digest = scorer(answer.task).utils.digest(answer.doc)
            except DocumentError as error:
                raise ToolError(f"{answer.place}: {error}") from None
            equal_keys = keys_by_digest[answer.task, digest]
            fit_keys = [key for key in equal_keys if answer.doc_id in (None, key[1])]
        if answer.doc_hash:
            hashes = {key: sha256(document_text(requests[key].doc)) for key in fit_keys}
            fit_keys = [
                key for key in fit_keys if hashes[key].startswith(answer.doc_hash)
            ]
        free_keys = [key for key in fit_keys if key not in answer_by_key]
        if not fit_keys:
            raise ToolError(
                f"{answer.place}: answers {doc_name}, or a version of it, that is not asked;"
                " use the --tasks, --include_path and --limit of the run, or drop the line"
            )
        if not free_keys:
            first_place = answer_by_key[fit_keys[0]].place
            fault = f"is a second answer to {doc_name}, after {first_place}; keep one"
            raise ToolError(f"{answer.place}: {fault}")
        answer_by_key[free_keys[0]] = answer
    return answer_by_key


def read(options: Namespace) -> tuple[str, list[Answer]]:
    """Return the name of the model and the answers in the files; ToolError for others."""
    leaf_names = [leaf for name in options.tasks or [] for leaf in leaf_tasks(name)]
    only_task = leaf_names[0] if len(leaf_names) == 1 else None
    sources, failures = find_answer_files(options.responses, only_task)
    for failure in failures:
        raise ToolError(failure.message)
    answers, model_names = [], set()
    for source in sources:
        run_results: dict = {}
        if source.results_path:
            run_results, _ = read_results(source.results_path)
        model_name = source.label or run_results.get("model_name")
        for answer in read_answers(source.path, source.task):
            model_name = model_name or answer.model
            if answer.doc_id is not None and answer.fault:  # of one request of a batch
                say(f"{answer.place}: {answer.fault}")
            elif fault := answer.fault or _misfit(answer, options):
                raise ToolError(f"{answer.place}: {fault}")
            else:
                logged_sample = answer.line if isinstance(answer.prompt, str) else {}
                arguments = logged_sample.get("arguments") or {}
                answers.append(answer._replace(line=arguments))
        model_names.add(f"{model_name or source.default_name}")
    if not answers:
        raise ToolError(f"{options.responses[0]}: has no answers; name another file")
    default_model_name = "replay" if len(model_names) > 1 else model_names.pop()
    return options.model or default_model_name, answers


def _misfit(answer: Answer, options: Namespace) -> str | None:
    """Return why a run with these options cannot take an answer."""
    if answer.is_chat not in (None, options.apply_chat_template):
        kind_and_fix = "chat messages; add" if answer.is_chat else "a text; leave out"
        return f"answers {kind_and_fix} --apply_chat_template"
    if options.output_path and _HALF.search(f"{answer.response}{answer.prompt}"):
        return (
            "holds half a character (a lone surrogate), which the harness cannot log;"
            " replace it, or leave out --output_path"
        )
    return None


def save(tracker: EvaluationTracker, results: dict, replay: Replay, output: Path):
    """Write results and samples where `lm_eval --output_path` does, each file whole."""
    samples_by_task = results.pop("samples")
    with tempfile.TemporaryDirectory() as temporary_folder:
        tracker.output_path = temporary_folder
        tracker.save_results_aggregated(results=results, samples=samples_by_task)
        for task, samples in samples_by_task.items():
            for sample in samples:
                answer = replay.joined.get((bare(task), sample["doc_id"]))
                if answer and answer.finish_reason:
                    sample["finish_reason"] = answer.finish_reason
            tracker.save_results_samples(task_name=task, samples=samples)
        # First the samples, last the results.
        log_paths = sorted(Path(temporary_folder).rglob("*.json*"), reverse=True)
        # The tracker passes over a file that it cannot write, or only by half.
        line_counts = [path.read_bytes().count(b"\n") for path in log_paths[:-1]]
        if sum(line_counts) != sum(map(len, samples_by_task.values())):
            raise ToolError(
                f"{output}: the harness cannot write its files to {temporary_folder} first;"
                " make room there, or give a shorter --model"
            )
        for path in log_paths:
            with written_whole(output / path.relative_to(temporary_folder)) as file:
                file.write(path.read_bytes())


def main(arguments: list[str] | None = None) -> int:
    """Print the harness's tables of the answers; return the exit status."""
    parser = tool_parser("replay", __doc__)
    add = parser.add_argument
    add("responses", nargs="+", metavar="RESPONSES", help="a file, or a run's folder")
    help_text = "default: those of the lines; a single one is of lines without a task"
    add("--tasks", type=task_names, metavar="NAME,...", help=help_text)
    add("--model", metavar="NAME", help="the name in the results (default: the run's)")
    add("--output_path", type=output_path, metavar="DIR", help="gets all files")
    add("--missing", choices=("error", "score-zero"), default="error")
    add_options(parser)
    options = parser.parse_args(arguments)
    if options.output_path:  # said before the work
        check_writable(options.output_path / "results.json")
    options.model, answers = read(options)
    if sanitize_model_name(options.model) in ("", ".", ".."):
        raise ToolError(f"--model {options.model}: is not a folder's name; change it")
    tasks = options.tasks or list(dict.fromkeys(answer.task for answer in answers))
    replay, tracker = Replay(answers, options.missing), EvaluationTracker()
    results = evaluate(replay, tasks, options, evaluation_tracker=tracker)
    sys.stdout.write(f"model: {printable(options.model)}\n")
    for table_name in ("results", "groups"):
        if table_name in results:
            sys.stdout.write(f"{make_table(results, table_name)}\n")
    if options.output_path:
        save(tracker, results, replay, options.output_path)
    return 0
