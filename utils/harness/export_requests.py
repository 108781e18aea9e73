"""Write every prompt of tasks as a request of the OpenAI Batch API.

    temporal-eval export TASKS --model NAME [--output FILE] [options of lm_eval]

The `body` of each request is what `lm_eval` with the same options sends to a server. With
--apply_chat_template these are chat messages, for /v1/chat/completions (`--model
local-chat-completions`); the instruction of a `_separate` task is then the system message.
Without, they are texts for /v1/completions (`--model local-completions` with
`tokenizer_backend=None`). --openai writes the bodies of `openai-chat-completions` and
`openai-completions` instead. `replay` scores the answers. Where some requests failed,
--only-missing OUTPUT writes those that have no answer in the output of the batch.

Example:

    temporal-eval export tcp,tot_arithmetic_separate --include_path examples \\
        --apply_chat_template --model NAME --output requests.jsonl
"""

from __future__ import annotations

import json
import logging
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.evaluator import simple_evaluate
from lm_eval.models.api_models import TemplateAPI

from ..core.cli import include_path_option, output_path, tool_parser, whole_number
from ..core.documents import load
from ..core.errors import ToolError
from ..core.files import check_output, written_whole
from ..core.harness_private import MergeDictAction
from ..core.progress import tracked
from ..core.task_scorers import bare, leaf_tasks
from ..verdicts.read_answers import custom_id, read_answers


# How a file of requests begins.
_BEGINNING = r'\{"custom_id": ".*", "method": "POST", "url": ".*", "body": \{'
# What the results tell of a configuration, defaults included.
_CONFIG = (
    *("num_fewshot", "apply_chat_template", "fewshot_as_multiturn", "limit"),
    *("system_instruction", "gen_kwargs", "model_args", "batch_size", "device"),
)


class PromptTaker(LM):
    """Is given the prompts of a model behind an API: texts, or messages as JSON."""

    tokenizer_name = ""  # a part of the names of caches
    tokenizer_backend = None  # so that the template leaves messages
    apply_chat_template = TemplateAPI.apply_chat_template
    loglikelihood = loglikelihood_rolling = None  # no task of the pack asks for them

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Keep the requests; return an empty response to each."""
        self.requests = requests
        return [""] * len(requests)


def add_options(parser: ArgumentParser) -> None:
    """Add the options that say which prompts a run has, as `lm_eval` spells them."""
    add = parser.add_argument
    include_path_option(parser)
    add("--num_fewshot", type=whole_number, metavar="N", help="worked examples")
    add("--apply_chat_template", action="store_true", help="chat messages, not text")
    help_text = "worked examples as turns of a chat (default: true in chat messages)"
    add(
        "--fewshot_as_multiturn",
        nargs="?",
        const=True,
        metavar="BOOL",
        type=lambda text: text.lower() in ("true", "1", "yes"),
        help=help_text,
    )
    add("--system_instruction", metavar="TEXT", help="begins the system message")
    help_text = "over the tasks' own, such as max_gen_toks=32768"
    kwargs_settings = {"nargs": "+", "action": MergeDictAction, "metavar": "KEY=VALUE"}
    add("--gen_kwargs", **kwargs_settings, help=help_text)
    help_text = "the first N documents of each task, or a share of them below 1"
    add("--limit", type=_limit, metavar="N", help=help_text)


def task_names(argument: str) -> list[str]:
    """Return the tasks and groups in an option, each once; ArgumentTypeError for none."""
    names = list(dict.fromkeys(filter(None, argument.split(","))))
    try:
        leaf_names = [task for name in names for task in leaf_tasks(name)]
    except ToolError as error:
        raise ArgumentTypeError(str(error)) from None
    if not leaf_names or len(leaf_names) > len({*leaf_names}):
        raise ArgumentTypeError(f"{argument!r:.80} names no task, or one twice")
    return names


def _limit(argument: str) -> float:
    """Return the number or share in `--limit`; ArgumentTypeError for none."""
    with suppress(ValueError):
        if 0 < (document_limit := float(argument)) < float("inf"):
            return document_limit
    raise ArgumentTypeError(f"{argument!r:.80} is not a number above 0")


def evaluate(lm: LM, names: list[str], options: Namespace, **settings: object) -> dict:
    """Return the results of a run as `lm_eval` starts it.

    `options` are those of `add_options` and the model's name; `settings` go to
    `simple_evaluate`. ToolError where tasks cannot be loaded, or options do not fit.
    """
    cli_options = {option: vars(options).get(option) for option in _CONFIG}
    cli_options["model_args"] = {"model": options.model}
    try:
        run_config = EvaluatorConfig.from_cli(Namespace(**cli_options))
    except ValueError as error:
        raise ToolError(str(error)) from None
    # It warns of rows of other files.
    logging.getLogger("lm_eval.tasks").setLevel(logging.WARNING)
    try:
        manager, task_dict = load(names, options.include_path, run_config.metadata)
        manager.load = lambda _: task_dict  # it would load all rows again
        settings |= {option: getattr(run_config, option) for option in _CONFIG}
        return simple_evaluate(lm, tasks=names, task_manager=manager, **settings)
    except AssertionError as error:
        if not options.num_fewshot:
            raise
        fault = str(error).removeprefix("Error: ")  # by the sampler
        raise ToolError(f"--num_fewshot {options.num_fewshot}: {fault}") from None


def request_lines(requests: Iterable[Instance], options: Namespace) -> Iterator[dict]:
    """Yield the lines of requests; without those that `options.only_missing` answers."""
    api_kind, is_chat = ("local", "openai")[options.openai], options.apply_chat_template
    model_class = get_model(f"{api_kind}{'-chat' * is_chat}-completions")
    api_model = model_class(model=options.model, base_url="", tokenizer_backend=None)
    answered_ids = {
        answer.line.get("custom_id")
        for batch_output in options.only_missing
        for answer in read_answers(batch_output)
        if not answer.fault
    }
    for request in requests:
        prompt, gen_kwargs = request.args
        request_id = custom_id(bare(request.task_name), request.doc_id, request.doc)
        if request_id not in answered_ids:
            yield {
                "custom_id": request_id,
                "method": "POST",
                "url": f"/v1/{'chat/' * is_chat}completions",
                "body": api_model._create_payload(  # as the model's `model_call` makes it
                    api_model.create_message([prompt]),
                    generate=True,
                    gen_kwargs=gen_kwargs,
                    seed=api_model._seed,
                    eos=api_model.eos_string,
                ),
            }


def main(arguments: list[str] | None = None) -> int:
    """Write the requests of the tasks; return the exit status."""
    parser = tool_parser("export", __doc__)
    add = parser.add_argument
    add("tasks", type=task_names, metavar="TASKS", help="names, separated by commas")
    add("--model", required=True, metavar="NAME", help="for the server")
    add("--openai", action="store_true", help="bodies for OpenAI's own models")
    add("--output", type=output_path, metavar="FILE", help="default: stdout")
    help_text = "outputs of a batch; write what has no answer there"
    add(
        "--only-missing",
        type=Path,
        metavar="OUTPUT",
        nargs="+",
        default=[],
        help=help_text,
    )
    add_options(parser)
    options = parser.parse_args(arguments)
    check = partial(check_output, options.output, "export", _BEGINNING)
    check()
    stdout = nullcontext(sys.stdout.buffer)
    whole_file = written_whole(options.output, check) if options.output else stdout
    prompt_taker = PromptTaker()
    evaluate(prompt_taker, options.tasks, options, log_samples=False)
    requests = prompt_taker.requests
    bar = tracked(requests, "requests", len(requests))
    with whole_file as output_file, bar as tracked_requests:
        for request_line in request_lines(tracked_requests, options):
            output_file.write(f"{json.dumps(request_line)}\n".encode())
    return 0
