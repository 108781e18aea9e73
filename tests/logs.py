"""Logs of the harness, made by running it, for the tools that read them."""

import json
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager

from tests.conftest import EXAMPLES
from utils.core.files import read_jsonl
from utils.core.task_scorers import bare
from utils.verdicts.read_answers import document_text, sha256


class RecordedModel(DummyLM):
    """Answers as recorded for the task and the document; "" where nothing is."""

    def generate_until(self, requests, disable_tqdm: bool = False) -> list[str]:
        return [self.answer(bare(x.task_name), x.doc_id) for x in requests]

    @staticmethod
    def answer(task: str, doc_id: int) -> str:
        path = EXAMPLES / "responses" / "careful" / f"{task}.jsonl"
        lines = read_jsonl(path) if path.exists() else []
        return {line["doc_id"]: line["response"] for line in lines}.get(doc_id, "")


class SameModel(RecordedModel):
    """Says the same to everything, sent by a chat API ("api"), or by a template ("text").

    The template "without_system" drops the system message, as some do.
    """

    tokenizer_name = "none"

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    @staticmethod
    def answer(task: str, doc_id: int) -> str:
        return '{"explanation": "It is.", "answer": 1}'

    def chat_template(self, chat_template: bool | str = False) -> str:
        return self.kind

    def apply_chat_template(self, chat_history: list[dict], *_, **__) -> str:
        if self.kind == "api":
            return JsonChatStr(json.dumps(chat_history, ensure_ascii=False))
        return "".join(
            f"<|{message['role']}|>\n{message['content'].strip()}<|end|>\n"
            for message in chat_history
            if message["role"] != "system" or self.kind == "text"
        )


def sample(doc_id: int, doc: dict, prompt: str, response: str, **cells) -> dict:
    """Return a sample as the harness logs it; `cells` stand in the place of its own."""
    return {
        **{"doc_id": doc_id, "doc": doc, "target": "", "filter": "none"},
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}},
        **{"resps": [[response]], "filtered_resps": [response]},
        **{"doc_hash": sha256(document_text(doc)), "prompt_hash": sha256(prompt)},
        **{"target_hash": sha256(""), **cells},
    }


def run(model: LM, tasks: list[str], output: Path, **options) -> Path:
    """Run tasks as the command line does; return the folder with what it wrote."""
    tracker = EvaluationTracker(output_path=str(output))
    manager = TaskManager(include_path=str(EXAMPLES), include_defaults=False)
    options |= {"tasks": tasks, "task_manager": manager, "evaluation_tracker": tracker}
    results = simple_evaluate(model, log_samples=True, bootstrap_iters=0, **options)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    (folder,) = output.iterdir()
    return folder
