"""Write every prompt of tasks as a request of the OpenAI Batch API.

    temporal-eval export TASKS --model NAME [--output FILE] [options of lm_eval]

Each line is one request: its `body` is what `lm_eval` with the same options sends to a
server, its `custom_id` names task, document and hash. With --apply_chat_template these
are chat messages, for /v1/chat/completions (`--model local-chat-completions`); the
instruction of a `_separate` task is then the system message. Without, they are texts for
/v1/completions (`--model local-completions` with `tokenizer_backend=None`). --openai
writes the bodies of `openai-chat-completions` and `openai-completions` instead. `replay`
scores the answers. Where some requests failed, --only-missing OUTPUT writes those that have
no answer in the output of the batch.

Example:

    temporal-eval export tcp,tot_arithmetic_separate --include_path examples \\
        --apply_chat_template --model NAME --output requests.jsonl
"""

from __future__ import annotations

import copy
import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from lm_eval.models.openai_completions import (
    LocalChatCompletion,
    LocalCompletionsAPI,
    OpenAIChatCompletion,
    OpenAICompletionsAPI,
)

from ..core.cli import output_path, tool_parser
from ..core.families import bare, pack_files
from ..core.files import check_maker, check_outputs, written_whole
from ..verdicts.answers import custom_id, read_answers
from .run import PromptTaker, add_options, evaluate, task_names


# (chat, OpenAI's own) -> the harness's model whose requests are written
_MODELS = {
    (True, False): LocalChatCompletion,
    (True, True): OpenAIChatCompletion,
    (False, False): LocalCompletionsAPI,
    (False, True): OpenAICompletionsAPI,
}
# How a file of requests begins.
_BEGINNING = r'\{"custom_id": ".*", "method": "POST", "url": ".*", "body": \{'


def lines(names: list[str], options: Namespace) -> Iterator[dict]:
    """Yield the request to each document of the tasks, in the order of a run.

    Documents that are answered in `options.only_missing` are left out; errors as of `evaluate`.
    """
    taker = PromptTaker()
    evaluate(taker, names, options)
    model = _MODELS[options.apply_chat_template, options.openai]
    api = model(model=options.model, base_url="", tokenizer_backend=None)
    path = "chat/completions" if options.apply_chat_template else "completions"
    answers = (answer for file in options.only_missing for answer in read_answers(file))
    answered = {answer.line.get("custom_id") for answer in answers if not answer.fault}
    for request in taker.requests:
        prompt, gen_kwargs = request.args
        name = custom_id(bare(request.task_name), request.doc_id, request.doc)
        if name in answered:
            continue
        body = api._create_payload(  # as the model's `model_call` makes it
            api.create_message([prompt]),
            generate=True,
            gen_kwargs=copy.deepcopy(gen_kwargs),  # which it empties
            seed=api._seed,
            eos=api.eos_string,
        )
        cells = {"custom_id": name, "method": "POST", "url": f"/v1/{path}"}
        yield cells | {"body": body}


def main(arguments: list[str] | None = None) -> int:
    """Write the requests of the tasks; return the exit status."""
    parser = tool_parser("export", __doc__)
    add = parser.add_argument
    add("tasks", type=task_names, metavar="TASKS", help="names, separated by commas")
    add("--model", required=True, metavar="NAME", help="for the server")
    add("--openai", action="store_true", help="bodies for OpenAI's own models")
    add("--output", type=output_path, metavar="FILE", help="default: stdout")
    missing_option = {"type": Path, "metavar": "OUTPUT", "nargs": "+", "default": []}
    missing_help = "outputs of a batch; write what has no answer there"
    add("--only-missing", **missing_option, help=missing_help)
    add_options(parser)
    options = parser.parse_args(arguments)
    inputs = [*pack_files(options.include_path), *options.only_missing]
    check_outputs({"--output": options.output}, inputs)
    request_lines = (json.dumps(line) + "\n" for line in lines(options.tasks, options))
    if options.output is None:
        sys.stdout.writelines(request_lines)
        return 0
    check_maker(options.output, "export", _BEGINNING)
    with written_whole(options.output) as file:
        file.writelines(line.encode() for line in request_lines)
    return 0
