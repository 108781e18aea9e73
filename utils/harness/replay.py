"""Score recorded answers through the harness, as a live run does.

    temporal-eval replay RESPONSES [RESPONSES ...] [--output_path DIR] [options of lm_eval]

RESPONSES are outputs of the OpenAI Batch API to requests of `temporal-eval export`,
samples that the harness logged (a file, or the folder of a run), or lines with `task`,
`doc_id` or `doc`, and `response`; JSON Lines, plain or compressed by gzip. Printed are
the harness's tables; DIR gets its results and samples, which differ from those of a live
run in time stamps, model name and model arguments alone, and in `finish_reason`, which a
sample has where the answer tells why it ended. Give the options that the run or the export
was given; what a log says of its prompts is kept.

Each document that is asked needs one answer: a missing one is an error, or, with
`--missing score-zero`, an empty response. A failed request of a batch has no answer: all of
them are named. Answers to the first N documents want `--limit N`.

Example:

    temporal-eval replay examples/responses/careful/tcp_long.jsonl --tasks tcp_long \\
        --include_path examples --output_path output
"""

from __future__ import annotations

import re
import sys
import tempfile
from argparse import Namespace
from collections import Counter, defaultdict
from pathlib import Path

from lm_eval.api.instance import Instance
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.api_models import JsonChatStr
from lm_eval.utils import make_table, sanitize_model_name

from ..core.cli import output_path, say, tool_parser
from ..core.errors import NOT_A_DOCUMENT, ToolError
from ..core.families import bare, leaf_tasks, not_a_document, scorer
from ..core.files import check_writable, written_whole
from ..verdicts.answers import (
    Answer,
    Source,
    document_text,
    read_answers,
    read_results,
    sha256,
)
from ..verdicts.runs import find_sources
from .export import PromptTaker, add_options, evaluate, task_names


_HALF = re.compile("[\ud800-\udfff]")  # of a character: a lone surrogate


class Replay(PromptTaker):
    """Gives each document the answer that was recorded."""

    def __init__(self, answers: list[Answer], score_missing: bool = False) -> None:
        """Take the answers, and whether an empty response stands for a missing one."""
        super().__init__()
        self.answers, self.score_missing = answers, score_missing
        self.other_prompts = 0  # answers to prompts that are not those of this run

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return the answers to the requests, with the prompts that a log has of them.

        ToolError for answers and requests without a counterpart, or with two.
        """
        request_keys = [
            (bare(request.task_name), request.doc_id) for request in requests
        ]
        request_by_key = dict(zip(request_keys, requests))
        self.joined = join(request_by_key, self.answers)  # by task and document id
        missing_keys = [
            request_key
            for request_key in request_keys
            if request_key not in self.joined
        ]
        self.missing = Counter(task for task, _ in missing_keys)
        if missing_keys and not self.score_missing:
            task, first_id = missing_keys[0]
            raise ToolError(
                f"{task}: {self.missing[task]} documents have no answer, the first of them"
                f" document {first_id}; give the rest (`export --only-missing` writes its"
                " requests), the run's --limit, or --missing score-zero"
            )
        for request_key, answer in self.joined.items():
            if answer.line:  # what is logged of the request
                logged_prompt, *gen_settings = answer.line["gen_args_0"].values()
                logged_prompt = (
                    JsonChatStr(*logged_prompt)
                    if isinstance(logged_prompt, list)
                    else logged_prompt
                )
                self.other_prompts += (
                    logged_prompt != request_by_key[request_key].args[0]
                )
                request_by_key[request_key].arguments = (logged_prompt, *gen_settings)
        response_by_key = {
            request_key: answer.response for request_key, answer in self.joined.items()
        }
        return [response_by_key.get(request_key, "") for request_key in request_keys]


Key = tuple[str, int]  # task and document id


def join(requests: dict[Key, Instance], answers: list[Answer]) -> dict[Key, Answer]:
    """Return the one answer to each request that has one, by task and document id.

    An answer without an id is joined by its document. ToolError for an answer to a document
    that is not asked, or to another version of it, and for a second one.
    """
    keys_by_digest = defaultdict(list)  # a row may be there twice
    for key, request in requests.items():
        digest = scorer(key[0]).utils.digest(request.doc)
        keys_by_digest[key[0], digest].append(key)
    answer_by_key: dict[Key, Answer] = {}
    for answer in answers:
        key = answer.task, answer.doc_id
        matches = [key] if key in requests else []
        if answer.doc_hash and matches:
            asked_hash = sha256(document_text(requests[key].doc))
            matches = matches if asked_hash.startswith(answer.doc_hash) else []
        elif answer.doc is not None:
            try:
                digest = scorer(answer.task).utils.digest(answer.doc)
            except NOT_A_DOCUMENT as error:
                fault = not_a_document(answer.task, answer.doc, error)
                raise ToolError(f"{answer.place}: {fault}") from None
            keys_of_digest = keys_by_digest[answer.task, digest]
            matches = [key for key in keys_of_digest if answer.doc_id in (None, key[1])]
        free_keys = [key for key in matches if key not in answer_by_key]
        label = f"document {answer.doc_id!r} of {answer.task}"
        if not matches:
            fault = f"answers {label}, or a version of it, that is not asked; use the"
            fault += " --tasks, --include_path and --limit of the run, or drop the line"
            raise ToolError(f"{answer.place}: {fault}")
        if not free_keys:
            first_place = answer_by_key[matches[0]].place
            fault = f"is a second answer to {label}, after {first_place}"
            raise ToolError(f"{answer.place}: {fault}; keep one")
        answer_by_key[free_keys[0]] = answer
    return answer_by_key


def read(options: Namespace) -> tuple[str, list[Answer]]:
    """Return the name of the model and the answers in the files; ToolError for others."""
    leaf_names = [leaf for name in options.tasks or [] for leaf in leaf_tasks(name)]
    only_task = leaf_names[0] if len(leaf_names) == 1 else None
    sources = [
        source
        for answers_path in options.responses
        for source in _logs(answers_path, only_task)
    ]
    answers, model_names = [], set()
    for source in sources:
        results = read_results(source.results_path) if source.results_path else {}
        model_name = source.label or results.get("model_name")
        for answer in read_answers(source.path, source.task):
            model_name = model_name or answer.model
            if answer.doc_id is not None and answer.fault:  # of one request of a batch
                say(f"{answer.place}: {answer.fault}")
            elif fault := answer.fault or _misfit(answer, options):
                raise ToolError(f"{answer.place}: {fault}")
            else:
                logged_sample = answer.line if isinstance(answer.prompt, str) else {}
                answers.append(answer._replace(line=logged_sample.get("arguments", {})))
        model_names.add(f"{model_name or source.default_name}")
    if not answers:
        raise ToolError(f"{options.responses[0]}: has no answers; name another file")
    common_name = model_names.pop() if len(model_names) == 1 else "replay"
    return options.model or common_name, answers


def _logs(path: str, task: str | None) -> list[Source]:
    """Return the files of answers at a path; of the logs of a task the last."""
    sources, failures = find_sources([path], task)
    for failure in failures:
        raise ToolError(failure.message)
    source_by_log: dict[object, Source] = {}
    for source in sorted(sources, key=lambda source: source.time or ""):
        log_key = (source.place, source.task) if source.time else source.path
        source_by_log[log_key] = source
    return [*source_by_log.values()]


def _misfit(answer: Answer, options: Namespace) -> str | None:
    """Return why a run with these options cannot take an answer."""
    if answer.is_chat not in (None, options.apply_chat_template):
        chat_and_fix = "chat messages; add" if answer.is_chat else "a text; leave out"
        return f"answers {chat_and_fix} --apply_chat_template"
    if options.output_path and _HALF.search(f"{answer.response}{answer.prompt}"):
        fault = (
            "holds half a character (a lone surrogate), which the harness cannot log"
        )
        return f"{fault}; replace it, or leave out --output_path"
    return None


def save(tracker: EvaluationTracker, results: dict, samples: dict, output: Path):
    """Write results and samples where `lm_eval --output_path` does, each file whole."""
    with tempfile.TemporaryDirectory() as temporary_folder:
        tracker.output_path = temporary_folder
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, task_samples in samples.items():
            tracker.save_results_samples(task_name=task, samples=task_samples)
        # First the samples, last the results.
        log_paths = sorted(Path(temporary_folder).rglob("*.json*"), reverse=True)
        # The tracker passes over a file that it cannot write, or only by half.
        line_counts = sorted(path.read_bytes().count(b"\n") for path in log_paths[:-1])
        is_whole = line_counts == sorted(map(len, samples.values()))
        if len(log_paths) != 1 + len(samples) or not is_whole:
            raise ToolError(
                f"{output}: the harness cannot write its files to {temporary_folder} first;"
                " make room there, or give a shorter --model"
            )
        for path in log_paths:
            with written_whole(output / path.relative_to(temporary_folder)) as copy:
                copy.write(path.read_bytes())


def main(arguments: list[str] | None = None) -> int:
    """Print the harness's tables of the answers; return the exit status."""
    options = _options(arguments)
    if options.output_path:  # said before the work
        check_writable(options.output_path / "results.json")
    options.model, answers = read(options)
    if sanitize_model_name(options.model) in ("", ".", ".."):
        fault = "is not the name of a folder; change it"
        raise ToolError(f"--model {options.model}: {fault}")
    run_tasks = options.tasks or list(dict.fromkeys(answer.task for answer in answers))
    replay = Replay(answers, options.missing == "score-zero")
    tracker = EvaluationTracker()
    log_settings = {"log_samples": bool(options.output_path)}
    log_settings |= {"evaluation_tracker": tracker}
    results = evaluate(replay, run_tasks, options, **log_settings)
    samples_by_task = results.pop("samples", {})
    # What the harness's tables do not show.
    for task, missing_count in replay.missing.items():
        say(f"{task}: {missing_count} documents have no answer; scored as empty")
    if replay.other_prompts:
        say(
            f"{replay.other_prompts} answers were given to other prompts than these"
            " options make (few-shot, chat template); the samples keep the logged ones"
        )
    sys.stdout.write(
        f"{options.model}, gen_kwargs: ({options.gen_kwargs or {}}), limit:"
        f" {options.limit}, num_fewshot: {options.num_fewshot}\n"
    )
    for table_name in ("results", "groups"):
        if table_name in results:
            sys.stdout.write(f"{make_table(results, table_name)}\n")
    for task, task_samples in samples_by_task.items():
        for sample in task_samples:
            answer = replay.joined.get((bare(task), sample["doc_id"]))
            if answer and answer.finish_reason:
                sample["finish_reason"] = answer.finish_reason
    if options.output_path:
        save(tracker, results, samples_by_task, options.output_path)
    return 0


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("replay", __doc__)
    add = parser.add_argument
    add("responses", nargs="+", metavar="RESPONSES", help="a file, or a run's folder")
    tasks_help = "separated by commas; one is for lines without a task"
    add("--tasks", type=task_names, help=f"{tasks_help}; default: the lines'")
    add("--model", metavar="NAME", help="the name in the results (default: the run's)")
    output_help = "for results and samples"
    add("--output_path", type=output_path, metavar="DIR", help=output_help)
    add("--missing", choices=("error", "score-zero"), default="error")
    add_options(parser)
    return parser.parse_args(arguments)
