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

import argparse
import re
import sys
import tempfile
from argparse import Namespace
from collections import Counter, defaultdict, deque
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
from .run import PromptTaker, add_options, evaluate, task_names


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
        self.joined = join(requests, self.answers)  # by task and document id
        keys = [_key(request) for request in requests]
        missing = [key for key in keys if key not in self.joined]
        self.missing = Counter(task for task, _ in missing)
        if missing and not self.score_missing:
            task, first_id = missing[0]
            raise ToolError(
                f"{task}: {self.missing[task]} documents have no answer, the first of them"
                f" document {first_id}; give the rest (`export --only-missing` writes its"
                " requests), the run's --limit, or --missing score-zero"
            )
        pairs = zip(requests, map(self.joined.get, keys))
        return [self._answer(request, answer) for request, answer in pairs]

    def _answer(self, request: Instance, answer: Answer | None) -> str:
        if answer and answer.line:
            # What the model was given, as the harness holds it before it logs it.
            prompt, *others = answer.line["arguments"]["gen_args_0"].values()
            prompt = JsonChatStr(*prompt) if isinstance(prompt, list) else prompt
            self.other_prompts += prompt != request.args[0]
            request.arguments = (prompt, *others)
        return answer.response if answer else ""


def join(requests: list[Instance], answers: list[Answer]) -> dict[tuple, Answer]:
    """Return (task, document id) -> the one answer, of documents that have one.

    An answer without an id is joined by its document. ToolError for an answer to a document
    that is not asked or to another version of it, and for a second one.
    """
    docs = {_key(request): request.doc for request in requests}
    ids_of: dict[tuple, deque[int]] = defaultdict(deque)  # a row may be there twice
    for (task, doc_id), doc in docs.items():
        ids_of[task, scorer(task).utils.digest(doc)].append(doc_id)
    joined: dict[tuple, Answer] = {}
    for answer in answers:
        doc_id, digest = answer.doc_id, None
        if answer.doc is not None:
            try:
                digest = scorer(answer.task).utils.digest(answer.doc)
            except NOT_A_DOCUMENT as error:
                fault = not_a_document(answer.task, answer.doc, error)
                raise ToolError(f"{answer.place}: {fault}") from None
        if doc_id is None and (ids := ids_of.get((answer.task, digest))):
            while len(ids) > 1 and (answer.task, ids[0]) in joined:
                ids.popleft()
            doc_id = ids[0]
        key = answer.task, doc_id
        # True is not 1.
        doc = docs.get(key) if type(doc_id) is int else None
        if fault := _fault(answer, digest, doc, joined.get(key)):
            raise ToolError(f"{answer.place}: {fault}")
        joined[key] = answer
    return joined


def _key(request: Instance) -> tuple[str, int]:
    """Return the task and the document id of a request."""
    return bare(request.task_name), request.doc_id


def _fault(
    answer: Answer, digest: bytes | None, doc: dict | None, other: Answer | None
) -> str | None:
    """Return why an answer is not the one to a document; `other` came before it."""
    where = f"document {answer.doc_id!r} of {answer.task}"
    if doc is None:
        return (
            f"answers {where}, which is not asked; use the --tasks, the --include_path and"
            " the --limit it was made with, or leave the line out"
        )
    is_same = sha256(document_text(doc)).startswith(answer.doc_hash or "")
    if not is_same or digest not in (None, scorer(answer.task).utils.digest(doc)):
        return (
            f"answers another version of {where} than the one that is asked; use the"
            " --include_path it was made with"
        )
    return other and f"is a second answer to {where}, after {other.place}; keep one"


def read(options: Namespace) -> tuple[str, list[Answer]]:
    """Return the name of the model and the answers in the files; ToolError for others."""
    leaves = [leaf for name in options.tasks or [] for leaf in leaf_tasks(name)]
    task = leaves[0] if len(leaves) == 1 else None
    answers, names = [], {}
    sources = [source for path in options.responses for source in _sources(path, task)]
    pairs = (
        (source, answer)
        for source in sources
        for answer in read_answers(source.path, source.task)
    )
    for source, answer in pairs:
        names[source] = names.get(source) or _claimed(source) or answer.model
        if fault := _unfit(answer, options):
            raise ToolError(f"{answer.place}: {fault}")
        if answer.fault:  # of a failed request, which a line of a batch names
            say(f"{answer.place}: {answer.fault}")
            continue
        # What is needed: its prompt, and the document where the line has no hash of it.
        line = answer.line if isinstance(answer.prompt, str) else {}
        line = {name: line[name] for name in line.keys() & {"arguments"}}
        doc = None if answer.doc_hash else answer.doc
        answers.append(answer._replace(line=line, doc=doc))
    if not answers:
        raise ToolError(f"{options.responses[0]}: has no answers; name another file")
    models = {f"{name or source.default_name}" for source, name in names.items()}
    return options.model or (models.pop() if len(models) == 1 else "replay"), answers


def _sources(path: str, task: str | None) -> list[Source]:
    """Return the files of one run, of each task the last; ToolError for several runs."""
    sources, failures = find_sources([path], task)
    for failure in failures:
        raise ToolError(failure.message)
    if (count := len({source.place for source in sources})) > 1:
        fault = f"holds the runs of {count} models; name one folder"
        raise ToolError(f"{path}: {fault}")
    sources.sort(key=lambda source: source.time or "")
    latest: dict[object, Source] = {}
    for source in sources:
        latest[source.task if source.time else source.path] = source
    return [*latest.values()]


def _claimed(source: Source) -> object:
    """Return what an argument or the results of a file call its model."""
    path = source.results_path
    return source.label or (path and read_results(path).get("model_name"))


_HALF = re.compile("[\ud800-\udfff]")  # of a character: a lone surrogate


def _unfit(answer: Answer, options: Namespace) -> str | None:
    """Return why a run cannot take an answer."""
    if answer.fault:
        return answer.fault if answer.doc_id is None else None
    if answer.is_chat and not options.apply_chat_template:
        return "answers chat messages; add --apply_chat_template"
    if answer.is_chat is False and options.apply_chat_template:
        return "answers a text; leave out --apply_chat_template"
    if options.log_samples and _HALF.search(f"{answer.response}{answer.prompt}"):
        return (
            "holds half a character (a lone surrogate), which the harness cannot log;"
            " replace it, or use --no-log_samples"
        )
    return None


def save(
    tracker: EvaluationTracker, results: dict, samples: dict, output: Path
) -> None:
    """Write results and samples where `lm_eval --output_path` does, each file whole."""
    with tempfile.TemporaryDirectory() as temporary_folder:
        tracker.output_path = temporary_folder
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, task_samples in samples.items():
            tracker.save_results_samples(task_name=task, samples=task_samples)
        files = sorted(filter(Path.is_file, Path(temporary_folder).rglob("*")))
        log_paths = [path for path in files if path.suffix == ".jsonl"]
        # The tracker passes over a file that it cannot write, or only by half.
        count = sum(path.read_bytes().count(b"\n") for path in log_paths)
        if (len(files), count) != (1 + len(samples), sum(map(len, samples.values()))):
            fault = f"the harness cannot write its files to {temporary_folder} first"
            fix = "make room there, or give a shorter --model"
            raise ToolError(f"{output}: {fault}; {fix}")
        for path in sorted(files, key=lambda path: path not in log_paths):
            with written_whole(output / path.relative_to(temporary_folder)) as file:
                file.write(path.read_bytes())


def main(arguments: list[str] | None = None) -> int:
    """Print the harness's tables of the answers; return the exit status."""
    options = _options(arguments)
    if options.output_path:  # said before the work
        check_writable(options.output_path / "results.json")
    else:
        options.log_samples = False
    options.model, answers = read(options)
    if sanitize_model_name(options.model) in ("", ".", ".."):
        fault = "is not the name of a folder; change it"
        raise ToolError(f"--model {options.model}: {fault}")
    names = options.tasks or list(dict.fromkeys(answer.task for answer in answers))
    replay = Replay(answers, options.missing == "score-zero")
    tracker = EvaluationTracker()
    results = evaluate(replay, names, options, tracker, options.log_samples)
    samples = results.pop("samples", {})
    # What the harness's tables do not show.
    for task, count in replay.missing.items():
        say(f"{task}: {count} documents have no answer; scored as empty")
    if replay.other_prompts:
        say(
            f"{replay.other_prompts} answers were given to other prompts than these"
            " options make (few-shot, chat template); the samples keep the logged ones"
        )
    sys.stdout.write(
        f"{options.model}, gen_kwargs: ({options.gen_kwargs or {}}), limit:"
        f" {options.limit}, num_fewshot: {options.num_fewshot}\n"
    )
    for column in ("results", "groups"):
        if column in results:
            sys.stdout.write(f"{make_table(results, column)}\n")
    for task, task_samples in samples.items():
        for sample in task_samples:
            answer = replay.joined.get((bare(task), sample["doc_id"]))
            if answer and answer.finish_reason:
                sample["finish_reason"] = answer.finish_reason
    if options.output_path:
        save(tracker, results, samples, options.output_path)
    return 0


def _options(arguments: list[str] | None) -> Namespace:
    parser = tool_parser("replay", __doc__)
    add = parser.add_argument
    add("responses", nargs="+", metavar="RESPONSES", help="a file, or a run's folder")
    tasks_help = "separated by commas; one is for lines without a task;"
    tasks_help += " default: the lines'"
    add("--tasks", type=task_names, help=tasks_help)
    add("--model", metavar="NAME", help="the name in the results (default: the run's)")
    output_help = "for results and samples"
    add("--output_path", type=output_path, metavar="DIR", help=output_help)
    switch = {"action": argparse.BooleanOptionalAction, "default": True}
    add("--log_samples", **switch, help="write samples to DIR, too (default: yes)")
    add("--missing", choices=("error", "score-zero"), default="error")
    add_options(parser)
    return parser.parse_args(arguments)
