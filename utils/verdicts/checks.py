"""What of a run is checked: its documents, its prompts, its responses.

Nothing that a submission says of itself is believed where it can be made again, and no
submission is compared with what others have. What a check leaves is small and plain JSON:
`outcome` says what the board shows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache, lru_cache
from pathlib import Path

from lm_eval_tasks.fresh.utils import read_request

from ..core.documents import documents, documents_of
from ..core.errors import ToolError
from ..core.families import (
    FOLDER,
    configuration,
    is_generated,
    prompt_parts,
    scorer,
    task_files,
)
from ..core.private import load_yaml
from .answers import LONGEST, Answer, claims_of, typed_claim, within
from .figures import Tally


MOST_FRAME = 2_000  # characters around the messages of one prompt
MOST_KEPT = 20_000  # prompts, which runs share
MOST_SHOTS = 100
ROUNDING = 1e-6  # of scores in results
VERIFIED, UNKNOWN, FALSE = "verified", "not verified", "not ranked"
SEVERITY = (VERIFIED, UNKNOWN, FALSE)

# Texts around and between messages, and the places of these: what a chat template adds.
Frame = tuple[str | int, ...]
Messages = tuple[tuple[str, str], ...]  # role and content of each
Rows = Counter[bytes]  # of what documents are compared with: digests of their texts


def text_of(doc: dict) -> str:
    """Return the document as canonical JSON."""
    return json.dumps(doc, sort_keys=True)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


@cache
def pack_rows(task: str, include_path: Path) -> Rows | None:
    """Return the documents that a pack has of a task; None without any."""
    if include_path == FOLDER:
        return None
    try:
        return Counter(_hash(text_of(doc)) for doc in documents(task, include_path))
    except ToolError:
        return None


def messages_of(prompt: str) -> list[dict] | None:
    """Return the messages of a chat, each with role and content; None of a text.

    What JSON leaves open, as blanks and a key twice, would say more than the messages.
    """
    with suppress(ValueError, RecursionError):
        messages = json.loads(prompt)
        spellings = {json.dumps(messages), json.dumps(messages, ensure_ascii=False)}
        is_list = isinstance(messages, list) and prompt in spellings
        if is_list and all(isinstance(message, dict) for message in messages):
            for message in messages:
                if message.get("type") == "text":  # which lm-eval 0.5 adds to each
                    del message["type"]
            return messages or None
    return None


@lru_cache(MOST_KEPT)
def render_messages(
    task: str, text: str, few_shot: int, system: str | None, is_multiturn: bool
) -> Messages | None:
    """Return the messages that a task makes of a document, given as JSON; None for none.

    A prompt that is no chat is the contents of the messages, joined. The harness makes
    few-shot examples; without them its way takes a hundred times as long.
    """
    doc = json.loads(text)
    try:
        if not few_shot:
            description, question = prompt_parts(task, doc)
            instruction = "\n\n".join(filter(None, (system, description)))
            system_message = [("system", instruction)] if instruction else []
            return *system_message, ("user", question)
        prompt = _task_of_harness(task, tuple(sorted(doc))).fewshot_context(
            doc,
            num_fewshot=few_shot,
            system_instruction=system,
            apply_chat_template=True,
            fewshot_as_multiturn=is_multiturn,
            chat_template=lambda messages, **_: json.dumps(messages),
        )
        return tuple((entry["role"], entry["content"]) for entry in messages_of(prompt))
    except Exception:  # what a submission's document may raise
        return None


@lru_cache(64)
def _task_of_harness(task: str, fields: tuple[str, ...]):
    """Return a task as the harness builds it, without its data.

    The harness takes a field for a template where documents lack it.
    """
    import datasets
    from lm_eval.tasks import TaskManager

    rows = {"test": datasets.Dataset.from_list([dict.fromkeys(fields, "")])}
    config = load_yaml(task_files()[task].path)
    config |= {"custom_dataset": lambda **_: rows, "process_docs": None}
    manager = TaskManager(include_path=str(FOLDER), include_defaults=False)
    return manager.load([config])["tasks"][task]


def frame_of(prompt: str, texts: Sequence[str]) -> Frame | None:
    """Return what stands around texts in a prompt, in any order and without overlap.

    None where one of them is not in it, or where more stands around them than may.
    """
    if len(prompt) > sum(map(len, texts)) + 4 * MOST_FRAME:
        return None
    frame: list[str | int] = [prompt]
    longest_first = sorted(enumerate(texts), key=lambda entry: -len(entry[1]))
    for number, text in longest_first:
        for place, part in enumerate(frame):
            if isinstance(part, str) and text in part:
                start = part.index(text)
                end = start + len(text)
                frame[place : place + 1] = part[:start], number, part[end:]
                break
        else:
            return None
    return tuple(frame)


class Check:
    """What the answers of a run to one task show, one after the other.

    `results` is what the harness wrote beside the samples, {} without.
    """

    def __init__(
        self, results: dict, task: str, filter_name: str, include_path: Path
    ) -> None:
        self.task, self.claims = task, claims_of(results, task)
        self.results = results if self.claims else {}
        few_shot = self.claims.get("n_shot")
        self.few_shot = few_shot if few_shot in range(MOST_SHOTS + 1) else None
        self.filter, self.include_path = filter_name, include_path
        self.rows = pack_rows(task, include_path)
        self.answers: Counter[tuple[object, bytes]] = Counter()  # by id and document
        # Of lines, which may hold several answers.
        self.lines = self.contradicted = self.unlogged = self.strange = 0
        self.line: dict = {}  # the last one
        # Around the messages, as they are and stripped: None for a prompt of other ones.
        self.frames: set[tuple[Frame | None, Frame | None]] = set()
        self.roles: tuple[str, ...] = ()  # of the messages, to show the frame
        self.settings: set[str] = set()  # of generation

    @classmethod
    def prepare(cls, task: str, include_path: Path) -> None:
        """Render what runs share, once: the prompts of a pack, without examples."""
        if pack_rows(task, include_path) is not None:
            for doc in documents(task, include_path)[:MOST_KEPT]:
                render_messages(task, text_of(doc), 0, None, False)

    def add(self, answer: Answer, doc: dict) -> None:
        """Look at one more answer."""
        doc_text = text_of(doc)
        self.answers[answer.doc_id, _hash(doc_text)] += 1
        if answer.line is self.line:
            return
        self.line = answer.line
        self.lines += 1
        self.contradicted += answer.is_first is False
        if answer.prompt is None:
            self.unlogged += 1
            return
        frames = self._frames(answer.prompt, doc_text)
        self.frames.add(frames)
        self.strange += frames == (None, None)
        request = within(self.line, "arguments", "gen_args_0") or {}
        self.settings.add(json.dumps(request | {"arg_0": None}, sort_keys=True))

    def _frames(self, prompt: str, doc_text: str) -> tuple[Frame | None, Frame | None]:
        """Return what stands around the task's messages, as they are and stripped."""
        logged_messages = messages_of(prompt)
        is_chat = bool(logged_messages) or self.results.get("chat_template") is not None
        settings = self.few_shot or 0, self.results.get("system_instruction") or None
        is_multiturn = is_chat and self.results.get("fewshot_as_multiturn") is True
        messages = render_messages(self.task, doc_text, *settings, is_multiturn)
        # A second request of the line could hold anything.
        if not messages or len(self.line["arguments"]) != 1:
            return None, None
        self.roles, contents = zip(*messages)
        if logged_messages:
            chat = [{"role": role, "content": text} for role, text in messages]
            return ((), ()) if chat == logged_messages else (None, None)
        texts = contents if is_chat else ("".join(contents),)
        stripped_texts = [text.strip() for text in texts]
        return frame_of(prompt, texts), frame_of(prompt, stripped_texts)

    def _check_prompts(self) -> tuple[str, str, str]:
        """Return status, reason and the frame around the prompts."""
        frame = None
        for frames in map(set, zip(*self.frames)):
            if frame is None and len(frames) == 1:
                [frame] = frames
        frame_size = sum(len(part) for part in frame or () if isinstance(part, str))
        text, frame_parts = "all as rendered", []
        if frame_size:
            text += f", in a frame of {frame_size:,} characters"
            for part in frame:
                is_text = isinstance(part, str)
                frame_parts.append(part if is_text else f"{{{self.roles[part]}}}")
        fault = self._fault_of_prompts(frame, frame_size)
        status = UNKNOWN if fault else VERIFIED
        return status, fault or text, "".join(frame_parts)

    def _fault_of_prompts(self, frame: Frame | None, size: int) -> str | None:
        """Return why prompts in a constant frame of a size are not verified, if so."""
        surroundings = f"{size:,} characters stand around each prompt"
        if self.unlogged:
            return "the prompts are not in the files"
        if self.strange:
            return f"{self.strange:,} of {self.lines:,} prompts are not the task's"
        if self.few_shot is None:
            return "settings unknown: no results say them"
        if len(self.settings) > 1:
            return "the generation settings differ between documents"
        if frame is None:
            return "what stands around the prompts differs between documents"
        if size and not self.results.get("chat_template"):
            return f"{surroundings}, and no chat template is recorded"
        if size > MOST_FRAME:
            return f"{surroundings}, more than {MOST_FRAME:,}"
        return None

    def outcome(self, tally: Tally) -> dict:
        """Return what the checks show, for the board: plain JSON.

        Documents are `whole` if they are all rows, and of the seed that the task has.
        """
        documents = zip(("status", "text", "whole"), self._check_documents(tally))
        prompts = zip(("status", "text", "frame"), self._check_prompts())
        documents, prompts = dict(documents), dict(prompts)
        responses = {"status": VERIFIED, "text": "as logged"}
        if self.contradicted:
            fault = "filtered responses are not the first response"
            responses = {"status": UNKNOWN, "text": f"{self.contradicted:,} {fault}"}
        answer_counts = sorted({*self.answers.values()}) or [1]
        extremes = dict.fromkeys((answer_counts[0], answer_counts[-1]))
        answers_text = " to ".join(map(str, extremes))
        if answer_counts[-1] > 1:
            answers_text += ", scored by their mean (the harness scores the first)"
        return {
            "documents": documents,
            "prompts": prompts,
            "responses": responses,
            "version": self.claims.get("version"),
            "few_shot": self.few_shot,
            "filter": self.filter,
            "marks": [*self._marks(tally)],
            "card": self._card(),
            "checked": {
                "Filter": f"{self.filter:.200}",
                "Answers a document": answers_text,
                "Documents": documents["text"],
                "Prompts": prompts["text"],
            },
        }

    def _check_documents(self, tally: Tally) -> tuple[str, str, bool]:
        """Compare documents with rows at a path, with rows of a seed, or a fingerprint.

        Return status, reason, and whether they are all rows of the task.
        """
        answered, (known_rows, fingerprint) = tally.answered, scorer(self.task).upstream
        if self.rows is not None:
            name = f"{self.include_path.name}/"
            return self._compare(answered, self.rows, name, self.rows.total())
        if is_generated(self.task):
            return self._compare_generated(answered)
        # What a system message says is no part of a fingerprint.
        if fingerprint is None or configuration(self.task).get("description"):
            return UNKNOWN, "there are no rows to compare them with", False
        if answered == known_rows and tally.fingerprint == fingerprint:
            return VERIFIED, f"all {answered:,} are the benchmark's", True
        if answered < known_rows:
            text = f"{answered:,} of {known_rows:,}: a part has no known fingerprint"
            return UNKNOWN, text, False
        text = f"not the benchmark's {known_rows:,} with {fingerprint}:"
        text += f" {answered:,} with fingerprint {tally.fingerprint}"
        return FALSE, text, False

    def _compare(
        self, n: int, rows: Rows, name: str, total: int
    ) -> tuple[str, str, bool]:
        """Compare n documents with rows, which may be a part of `total`."""
        document_hashes = Counter(doc_hash for _, doc_hash in self.answers)
        if foreign_count := (document_hashes - rows).total():
            return FALSE, f"{foreign_count:,} of {n:,} are not those of {name}", False
        share = f"all {n:,}" if n == total else f"{n:,} of {total:,}"
        return VERIFIED, f"{share} documents of {name}", n == total

    def _compare_generated(self, n: int) -> tuple[str, str, bool]:
        """Compare n documents with those rows of the results' seed that they answer."""
        config = configuration(self.task)
        metadata = within(self.results, "configs", self.task, "metadata")
        own_request, request_claim = _request(config["metadata"]), _request(metadata)
        if not {"gen_seed", "gen_rows"} <= request_claim.keys():
            return UNKNOWN, "no results say the seed of their rows", False
        try:
            generator = config["dataset_kwargs"]["generator"]
            request = read_request(generator, **own_request | request_claim)
            rows = [request.row(doc_id) for doc_id, _ in self.answers]
            docs = documents_of(self.task, rows)
        except (ValueError, TypeError) as error:
            return UNKNOWN, f"cannot be regenerated: {error!s:.200}", False
        row_hashes = Counter(_hash(text_of(doc)) for doc in docs)
        name, total = (
            f"seed {request_claim['gen_seed']!s:.20}",
            request_claim["gen_rows"],
        )
        status, text, is_whole = self._compare(n, row_hashes, name, total)
        is_own = own_request | request_claim == own_request
        return status, text, is_whole and is_own

    def _card(self) -> dict[str, str]:
        """Return what a run card says of the claims of results: label -> text."""
        claims, results, date = self.claims, self.results, None
        absent = "none" if claims else None
        with suppress(TypeError, ValueError, OverflowError, OSError):
            date = datetime.fromtimestamp(claims.get("date"), timezone.utc).date()
        arguments = within(results, "config", "model_args")
        revision_match = re.search(r"\brevision\W+([^,']*)", f"{arguments}")
        template = results.get("chat_template")
        cells = {
            "Model": claims.get("model_name"),
            "Model arguments": arguments or absent,
            "Revision": revision_match and revision_match[1],
            "Date": date,
            "Harness": claims.get("lm_eval_version"),
            "Task version": claims.get("version"),
            "Few-shot examples": claims.get("n_shot"),
            # One that the results do not show is "".
            "Chat template": absent if template is None else template or "of an API",
            "System instruction": results.get("system_instruction") or absent,
            "Generation": within(results, "configs", self.task, "generation_kwargs"),
            "Limit": claims.get("limit") or absent,
        }
        for label, cell in cells.items():
            if isinstance(cell, dict):
                cell = ", ".join(f"{name} {setting}" for name, setting in cell.items())
            cells[label] = "unknown" if cell is None else f"{cell!s:.{LONGEST}}"
        return cells

    def _marks(self, tally: Tally) -> Iterator[str]:
        """Yield what is not as the task has it by itself, or not as results claim it."""
        task_scorer, scores = scorer(self.task), tally.all.values()
        if instruction := self.results.get("system_instruction"):
            yield f"system instruction, {len(instruction):,} characters"
        is_same_version = self.claims.get("version") == str(task_scorer.version)
        for name, claim in (within(self.results, "results", self.task) or {}).items():
            metric = task_scorer.metric(name.partition(",")[0])
            # Flexible scores are compared where they are of the same version.
            if metric in scores and (is_same_version or "flexible" not in metric):
                mean = sum(scores[metric]) / len(scores[metric])
                claimed_mean = typed_claim(claim, float)
                if claimed_mean is None or abs(claimed_mean - mean) > ROUNDING:
                    yield f"claims {metric} {claim!s:.8} instead of {mean:.4f}"
                    break
        if is_same_version and (changed_count := tally.all.counts["changed"]):
            share = f"{changed_count:,} of {tally.all.answers:,}"
            yield f"{share} logged scores are not those made again"


def _request(metadata: object) -> dict:
    """Return what metadata of a task say of its rows' generation."""
    cells = metadata if isinstance(metadata, dict) else {}
    names = [name for name in cells if name.startswith("gen_")]
    return {name: cells[name] for name in names if name != "gen_fingerprint"}
