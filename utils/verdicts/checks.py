"""What of a run is checked: its documents, its prompts, its responses.

Nothing that a submission says of itself is believed where it can be made again, and no
submission is compared with what others have. What a check leaves is small and plain JSON:
`outcome` says what the board shows.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import suppress
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
from .answers import Answer, within
from .claims import card, claims_of, marks
from .figures import Tally


MOST_FRAME = 2_000  # characters around the messages of one prompt
MOST_KEPT = 20_000  # prompts, which runs share
MOST_SHOTS = 100
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
            extra_entry = ("type", "text")  # which lm-eval 0.5 adds to each
            return [
                dict(entry for entry in message.items() if entry != extra_entry)
                for message in messages
            ] or None
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
        if few_shot:
            return _with_examples(task, doc, few_shot, system, is_multiturn)
        description, question = prompt_parts(task, doc)
        instruction = "\n\n".join(filter(None, (system, description)))
        return *([("system", instruction)] if instruction else ()), ("user", question)
    except Exception:  # what a submission's document may raise
        return None


def _with_examples(
    task: str, doc: dict, few_shot: int, system: str | None, is_multiturn: bool
) -> Messages:
    prompt = _built(task, tuple(sorted(doc))).fewshot_context(
        doc,
        num_fewshot=few_shot,
        system_instruction=system,
        apply_chat_template=True,
        fewshot_as_multiturn=is_multiturn,
        chat_template=lambda messages, **_: json.dumps(messages),
    )
    return tuple((entry["role"], entry["content"]) for entry in messages_of(prompt))


@lru_cache(64)
def _built(task: str, fields: tuple[str, ...]):
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


def frame_of(prompt: str, texts: list[str]) -> Frame | None:
    """Return what stands around texts in a prompt, in any order and without overlap.

    None where one of them is not in it, or where more stands around them than may.
    """
    if len(prompt) > sum(map(len, texts)) + 4 * MOST_FRAME:
        return None
    spans: list[tuple[int, int, int]] = []
    for number in sorted(range(len(texts)), key=lambda place: -len(texts[place])):
        length = len(texts[number])
        start = prompt.find(texts[number])
        while start >= 0 and (
            ends := [end for a, end, _ in spans if a < start + length and start < end]
        ):
            start = prompt.find(texts[number], max(ends))
        if start < 0:
            return None
        spans.append((start, start + length, number))
    frame, end_of_last = [], 0
    for start, end, number in sorted(spans):
        frame += [prompt[end_of_last:start], number]
        end_of_last = end
    return *frame, prompt[end_of_last:]


class Check:
    """What the answers of a run to one task show, one after the other.

    `results` is what the harness wrote beside the samples, {} without.
    """

    def __init__(
        self, results: dict, task: str, filter_name: str, include_path: Path
    ) -> None:
        self.task, self.claims = task, claims_of(results, task)
        self.results = results if self.claims else {}
        self.few_shot = self.claims.get("n_shot")
        if self.few_shot not in range(MOST_SHOTS + 1):
            self.few_shot = None
        self.filter, self.include_path = filter_name, include_path
        self.rows = pack_rows(task, include_path)
        self.answers: Counter[tuple[object, bytes]] = Counter()  # by id and document
        self.found: Counter[str] = Counter()  # of lines, which may hold several answers
        # Around the messages, as they are and stripped: None for a prompt of other
        # messages; two of each are enough.
        self.frames: tuple[set[Frame | None], ...] = set(), set()
        self.settings: set[str] = set()  # of generation; two are enough
        self.roles: tuple[str, ...] = ()  # of the messages, to show the frame
        self.line: dict = {}  # the last one

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
        self.found["lines"] += 1
        self.found["contradicted"] += answer.is_first is False
        if answer.prompt is None:
            self.found["unlogged"] += 1
        else:
            self._add_prompt(answer.prompt, doc_text)

    def _add_prompt(self, prompt: str, text: str) -> None:
        """Keep what stands around the messages of the task in a prompt."""
        chat, template = messages_of(prompt), self.results.get("chat_template")
        is_chat = bool(chat) or template is not None
        settings = self.few_shot or 0, self.results.get("system_instruction") or None
        is_multiturn = is_chat and self.results.get("fewshot_as_multiturn") is True
        expected = render_messages(self.task, text, *settings, is_multiturn)
        frames: list[Frame | None] = [None, None]
        # A second request of the line could hold anything.
        if expected and len(self.line["arguments"]) == 1:
            self.roles, contents = zip(*expected)
            if chat:
                messages = [dict(zip(("role", "content"), pair)) for pair in expected]
                frames = [(), ()] if chat == messages else frames
            else:
                expected_texts = contents if is_chat else ("".join(contents),)
                stripped = [text.strip() for text in expected_texts]
                frames = [frame_of(prompt, expected_texts), frame_of(prompt, stripped)]
        self.found["strange"] += frames == [None, None]
        request = within(self.line, "arguments", "gen_args_0") or {}
        generation = json.dumps(request | {"arg_0": None}, sort_keys=True)
        distinct_values = *self.frames, self.settings
        for distinct, value in zip(distinct_values, (*frames, generation)):
            if len(distinct) < 2:
                distinct.add(value)

    def prompts(self) -> dict[str, str]:
        """Return whether the prompts are the task's, why, and the frame around them."""
        known_frames = [frames for frames in self.frames if None not in frames]
        frame = next((min(frames) for frames in known_frames if len(frames) == 1), None)
        size = sum(len(text) for text in frame or () if isinstance(text, str))
        strange, lines = self.found["strange"], self.found["lines"]
        surroundings = f"{size:,} characters stand around each prompt"
        faults = (
            (self.found["unlogged"], "the prompts are not in the files"),
            (strange, f"{strange:,} of {lines:,} prompts are not the task's"),
            (self.few_shot is None, "settings unknown: no results say them"),
            (
                len(self.settings) > 1,
                "the generation settings differ between documents",
            ),
            (
                frame is None and any(self.frames),
                "what stands around the prompts differs between documents",
            ),
            (
                size and not self.results.get("chat_template"),
                f"{surroundings}, and no chat template is recorded",
            ),
            (size > MOST_FRAME, f"{surroundings}, more than {MOST_FRAME:,}"),
        )
        fault = next((message for is_so, message in faults if is_so), None)
        message = (
            f"all as rendered{f', in a frame of {size:,} characters' * bool(size)}"
        )
        status = UNKNOWN if fault else VERIFIED
        return {"status": status, "text": fault or message, "frame": self._shown(frame)}

    def _shown(self, frame: Frame | None) -> str:
        """Return a frame with the roles of messages in their places; "" for none."""
        if not any(isinstance(part, str) and part for part in frame or ()):
            return ""
        return "".join(
            part if isinstance(part, str) else f"{{{self.roles[part]}}}"
            for part in frame
        )

    def responses(self) -> dict[str, str]:
        """Return whether each line was scored by the responses that it logs."""
        if contradicted := self.found["contradicted"]:
            text = f"{contradicted:,} filtered responses are not the first response"
            return {"status": UNKNOWN, "text": text}
        return {"status": VERIFIED, "text": "as logged"}

    def outcome(self, tally: Tally) -> dict:
        """Return what the checks show, for the board: plain JSON."""
        documents, prompts = self._documents(tally), self.prompts()
        counts = sorted({*self.answers.values()}) or [1]
        repeats = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        if counts[-1] > 1:
            repeats += ", scored by their mean (the harness scores the first)"
        return {
            "documents": documents,
            "prompts": prompts,
            "responses": self.responses(),
            "version": self.claims.get("version"),
            "few_shot": self.few_shot,
            "filter": self.filter,
            "marks": [*marks(self.results, self.task, tally)],
            "card": card(self.results, self.task),
            "checked": {
                "Filter": f"{self.filter:.200}",
                "Answers a document": repeats,
                "Documents": documents["text"],
                "Prompts": prompts["text"],
            },
        }

    def _documents(self, tally: Tally) -> dict:
        """Compare documents with rows at a path, with rows of a seed, or a fingerprint."""
        task, answered = self.task, tally.answered
        if self.rows is not None:
            name = f"{self.include_path.name}/"
            return self._compared(answered, self.rows, name, self.rows.total())
        if is_generated(task):
            return self._regenerated(answered)
        rows, fingerprint = scorer(task).upstream
        # What a system message says is no part of a fingerprint.
        if fingerprint is None or configuration(task).get("description"):
            return _documents(UNKNOWN, "there are no rows to compare them with")
        if answered == rows and tally.fingerprint == fingerprint:
            return _documents(VERIFIED, f"all {answered:,} are the benchmark's", True)
        if answered < rows:
            text = f"{answered:,} of {rows:,}: a part has no known fingerprint"
            return _documents(UNKNOWN, text)
        text = f"not the benchmark's {rows:,} with {fingerprint}:"
        text += f" {answered:,} with fingerprint {tally.fingerprint}"
        return _documents(FALSE, text)

    def _compared(self, n: int, rows: Rows, name: str, total: int) -> dict:
        """Compare documents with rows, which may be a part of `total`."""
        if strange := (Counter(text for _, text in self.answers) - rows).total():
            return _documents(FALSE, f"{strange:,} of {n:,} are not those of {name}")
        share = f"all {n:,}" if n == total else f"{n:,} of {total:,}"
        return _documents(VERIFIED, f"{share} documents of {name}", n == total)

    def _regenerated(self, n: int) -> dict:
        """Compare with those rows of the seed in the results that were answered."""
        claimed = _request(within(self.results, "configs", self.task, "metadata"))
        if not {"gen_seed", "gen_rows"} <= claimed.keys():
            return _documents(UNKNOWN, "no results say the seed of their rows")
        config = configuration(self.task)
        generator, own_request = (
            config["dataset_kwargs"]["generator"],
            _request(config["metadata"]),
        )
        try:
            request = read_request(generator, **own_request | claimed)
            rows = [request.row(doc_id) for doc_id, _ in self.answers]
            docs = documents_of(self.task, rows)
        except (ValueError, TypeError) as error:
            return _documents(UNKNOWN, f"cannot be regenerated: {error!s:.200}")
        digests, seed = (
            Counter(_hash(text_of(doc)) for doc in docs),
            claimed["gen_seed"],
        )
        documents = self._compared(
            n, digests, f"seed {seed!s:.20}", claimed["gen_rows"]
        )
        is_own = own_request | claimed == own_request
        return documents | {"whole": documents["whole"] and is_own}


def _request(metadata: object) -> dict:
    """Return what metadata of a task say of its rows' generation."""
    cells = metadata.items() if isinstance(metadata, dict) else ()
    request = {name: cell for name, cell in cells if name.startswith("gen_")}
    return {name: request[name] for name in request if name != "gen_fingerprint"}


def _documents(status: str, text: str, whole: bool = False) -> dict:
    """Return an outcome; `whole`: all rows, and of the seed that the task has."""
    return {"status": status, "text": text, "whole": whole}
