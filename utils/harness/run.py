"""Runs of the harness in this process, with the options of its command line."""

from __future__ import annotations

import argparse
import logging
from argparse import ArgumentParser, Namespace
from contextlib import suppress

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.evaluator import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.api_models import TemplateAPI

from ..core.cli import include_path_option, whole_number
from ..core.documents import load
from ..core.errors import ToolError
from ..core.families import leaf_tasks
from ..core.private import MergeDictAction


# Our options that are options of a run of the harness, too.
_OPTIONS = (
    *("num_fewshot", "apply_chat_template", "fewshot_as_multiturn"),
    *("system_instruction", "gen_kwargs", "limit"),
)
# What the results tell of a configuration, defaults included.
_CONFIG = (*_OPTIONS, "model_args", "batch_size", "device")


class PromptTaker(LM):
    """Is given the prompts of a model behind an API: texts, or messages as JSON."""

    tokenizer_name = ""  # a part of the names of caches
    tokenizer_backend = None  # so that the template leaves messages
    apply_chat_template = TemplateAPI.apply_chat_template

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Keep the requests; return an empty response to each."""
        self.requests = requests
        return [""] * len(requests)

    def loglikelihood(self, requests: list) -> list:
        """Raise NotImplementedError: the tasks of the pack ask for text alone."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def add_options(parser: ArgumentParser) -> None:
    """Add the options that say which prompts a run has, as `lm_eval` spells them."""
    add = parser.add_argument
    include_path_option(parser)
    add("--num_fewshot", type=whole_number, metavar="N", help="worked examples")
    add("--apply_chat_template", action="store_true", help="chat messages, not text")
    turns_help = "worked examples as turns of a chat (default: true in chat messages)"
    boolean_option = {"nargs": "?", "const": True, "metavar": "BOOL"}
    boolean_option["type"] = lambda text: text.lower() in ("true", "1", "yes")
    add("--fewshot_as_multiturn", **boolean_option, help=turns_help)
    add("--system_instruction", metavar="TEXT", help="begins the system message")
    gen_kwargs_help = "over the tasks' own, such as max_gen_toks=32768"
    merged_option = {"nargs": "+", "action": MergeDictAction, "metavar": "KEY=VALUE"}
    add("--gen_kwargs", **merged_option, help=gen_kwargs_help)
    limit_help = "the first N documents of each task, or a share of them below 1"
    add("--limit", type=_limit, metavar="N", help=limit_help)


def task_names(text: str) -> list[str]:
    """Return the tasks and groups in an option, each once; ArgumentTypeError for none."""
    names = list(dict.fromkeys(name for name in text.split(",") if name))
    try:
        leaves = [task for name in names for task in leaf_tasks(name)]
    except ToolError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not leaves or len(leaves) > len({*leaves}):
        raise argparse.ArgumentTypeError(f"{text!r:.80} names no task, or one twice")
    return names


def _limit(text: str) -> float:
    with suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number
    raise argparse.ArgumentTypeError(f"{text!r:.80} is not a number above 0")


def evaluate(
    lm: LM,
    names: list[str],
    options: Namespace,
    tracker: EvaluationTracker | None = None,
    log_samples: bool = False,
) -> dict:
    """Return the results of a run as `lm_eval` starts it.

    `options` are those of `add_options`, and the model's name. ToolError for tasks that
    cannot be loaded and for options that do not fit.
    """
    settings = {name: getattr(options, name) for name in (*_OPTIONS, "include_path")}
    settings |= {"tasks": names, "model_args": {"model": options.model}}
    logger = logging.getLogger("lm_eval.tasks")  # warns of rows of other files
    try:
        config = EvaluatorConfig.from_cli(Namespace(**settings))
    except ValueError as error:
        raise ToolError(str(error)) from None
    logger.setLevel(logging.WARNING)
    try:
        manager, task_dict = load(names, options.include_path, config.metadata)
        manager.load = lambda _: task_dict  # it would load all rows again
        return simple_evaluate(
            model=lm,
            tasks=names,
            task_manager=manager,
            evaluation_tracker=tracker,
            log_samples=log_samples,
            **{name: getattr(config, name) for name in _CONFIG},
        )
    except AssertionError as error:
        if not options.num_fewshot:
            raise
        fault = str(error).removeprefix("Error: ")  # by the sampler
        raise ToolError(f"--num_fewshot {options.num_fewshot}: {fault}") from None
    finally:
        logger.setLevel(logging.NOTSET)
