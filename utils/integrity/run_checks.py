"""What of a run is checked: its documents, its prompts, its responses.

Nothing that a submission says of itself is believed where it can be made again, and no
submission is compared with what others have. What a check leaves is small, plain JSON.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache, lru_cache
from pathlib import Path

from lm_eval_tasks.fresh.utils import Request, read_request

from ..core.cli import quoted
from ..core.documents import documents, documents_of
from ..core.errors import ToolError
from ..core.family_contract import EXTRACTED, PUBLISHED
from ..core.task_scorers import (
    FOLDER,
    configuration,
    is_generated,
    prompt_parts,
    scorer,
)
from ..packs.random_sample import recognise
from ..verdicts.read_answers import (
    LONGEST,
    Answer,
    claims_of,
    messages_of,
    sha256,
    typed_claim,
    within,
)
from ..verdicts.tally import Tally


MOST_FRAME = 2_000  # characters around the messages of one prompt, and of settings
MOST_KEPT = 20_000  # prompts, which runs share
ROUNDING = 1e-6  # of scores in results
VERIFIED, UNKNOWN, FALSE = "verified", "not verified", "not ranked"
SEVERITY = (VERIFIED, UNKNOWN, FALSE)

# Texts around and between messages, and the places of these: what a chat template adds.
Frame = tuple[str | int, ...]
Messages = tuple[tuple[str, str], ...]  # role and content of each
DocumentHashes = Counter[
    bytes
]  # of what documents are compared with: digests of their texts


def text_of(doc: dict) -> str:
    """Return the document as canonical JSON."""
    return json.dumps(doc, sort_keys=True)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


@cache
def pack_rows(task: str, include_path: Path) -> DocumentHashes | None:
    """Return the documents that a pack has of a task; None without any."""
    if include_path == FOLDER:
        return None
    try:
        return Counter(_hash(text_of(doc)) for doc in documents(task, include_path))
    except ToolError:
        return None


@lru_cache(MOST_KEPT)
def render_messages(task: str, doc_json: str, system: str | None) -> Messages | None:
    """Return the messages that a task makes of a document, given as JSON; None for none.

    A prompt that is no chat is the contents of the messages, joined.
    """
    try:
        description, question_text = prompt_parts(task, json.loads(doc_json))
        system_text = "\n\n".join(filter(None, (system, description)))
    except Exception:  # what a submission's document may raise
        return None
    system_messages = [("system", system_text)] if system_text else []
    return *system_messages, ("user", question_text)


def frame_of(prompt: str, texts: Sequence[str]) -> Frame | None:
    """Return what stands around texts in a prompt, in any order and without overlap.

    None where one of them is not in it, or where more stands around them than may.
    """
    if len(prompt) > sum(map(len, texts)) + 4 * MOST_FRAME:
        return None
    frame: list[str | int] = [prompt]
    # A text without a character stands anywhere.
    numbered_texts = [(number, text) for number, text in enumerate(texts) if text]
    for text_number, text in sorted(numbered_texts, key=lambda entry: -len(entry[1])):
        for piece_index, piece in enumerate(frame):
            if isinstance(piece, str) and text in piece:
                before, _, behind = piece.partition(text)
                frame[piece_index : piece_index + 1] = before, text_number, behind
                break
        else:
            return None
    return tuple(frame)


class Check:
    """What the answers of a run to one task show; `results` are {} where there are none."""

    def __init__(
        self, results: dict, task: str, filter_name: str, include_path: Path
    ) -> None:
        self.task, self.claims = task, claims_of(results, task)
        self.results = results if self.claims else {}
        self.few_shot: int | None = self.claims.get("n_shot")  # how many examples
        self.filter, self.include_path = filter_name, include_path
        self.answers: Counter[tuple[str, bytes]] = (
            Counter()
        )  # by id, as JSON, and document
        # Of lines, which may hold several answers.
        self.contradicted = self.unlogged = 0
        self.line: dict = {}  # the last one
        # Around the messages, as they are and stripped: None for a prompt of other ones.
        self.frames: Counter[tuple[Frame | None, Frame | None]] = Counter()
        self.roles: tuple[str, ...] = ()  # of the messages, to show the frame
        self.settings: set[str] = set()  # of generation

    @classmethod
    def prepare(cls, task: str, include_path: Path) -> None:
        """Render what runs share, once: the prompts of a pack."""
        if pack_rows(task, include_path) is not None:
            for doc in documents(task, include_path)[:MOST_KEPT]:
                render_messages(task, text_of(doc), None)

    def add(self, answer: Answer, doc: dict) -> None:
        """Look at one more answer."""
        doc_json = text_of(doc)
        self.answers[json.dumps(answer.doc_id), _hash(doc_json)] += 1
        if answer.line is self.line:
            return
        self.line = answer.line
        self.contradicted += answer.is_first is False
        self.unlogged += answer.prompt is None
        if answer.prompt is not None and not self.few_shot:
            self.frames[self._find_frames(answer.prompt, doc_json)] += 1
            logged = within(self.line, "arguments", "gen_args_0")
            settings = logged | {"arg_0": None} if isinstance(logged, dict) else {}
            self.settings.add(json.dumps(settings, sort_keys=True))

    def _find_frames(
        self, prompt: str, doc_json: str
    ) -> tuple[Frame | None, Frame | None]:
        """Return what stands around the task's messages, as they are and stripped."""
        system_instruction = self.results.get("system_instruction") or None
        messages = render_messages(self.task, doc_json, system_instruction)
        # A second request of the line could hold anything.
        if not messages or len(self.line["arguments"]) != 1:
            return None, None
        self.roles, message_texts = zip(*messages)
        if logged_messages := messages_of(prompt):
            rendered_chat = [{"role": role, "content": text} for role, text in messages]
            return ((), ()) if rendered_chat == logged_messages else (None, None)
        if self.results.get("chat_template") is None:
            message_texts = ("".join(message_texts),)
        stripped_texts = [text.strip() for text in message_texts]
        return frame_of(prompt, message_texts), frame_of(prompt, stripped_texts)

    def _check_prompts(self) -> dict[str, str | int]:
        """Return the status of the prompts, its reason, and the frame around them."""
        frame, status, reason = None, VERIFIED, "all as rendered"
        for distinct_frames in map(set, zip(*self.frames)):
            if frame is None and len(distinct_frames) == 1:
                [frame] = distinct_frames
        pieces = list(frame or ())  # texts, and between them the places of messages
        pieces[1::2] = [f"{{{self.roles[role_index]}}}" for role_index in pieces[1::2]]
        frame_size = len("".join(pieces[::2]))
        if frame_size:
            reason += f", in a frame of {frame_size:,} characters"
        if fault := self._fault_of_prompts(frame, frame_size):
            status, reason = UNKNOWN, fault
        frame_text = "".join(pieces) if frame_size else ""
        addition = self.results.get("system_instruction") or ""
        if frame_size > MOST_FRAME:
            addition += frame_text
        return {
            "status": status,
            "text": reason,
            "frame": f"{frame_text:.{MOST_FRAME}}",
            "frame_digest": sha256(frame_text),
            "frame_size": frame_size,  # without the places of messages
            # Equal for runs whose prompts differ from the task's in the same way.
            "addition": addition and sha256(addition),
        }

    def _fault_of_prompts(self, frame: Frame | None, size: int) -> str | None:
        """Return why prompts in a constant frame of a size are not verified, if so."""
        size_text = f"{size:,} characters stand around each prompt"
        if self.unlogged:
            return "the prompts are not in the files"
        if self.few_shot:
            return "prompts with few-shot examples are not checked"
        if strange_count := self.frames[None, None]:
            return f"{strange_count:,} of {self.frames.total():,} prompts are not the task's"
        if self.few_shot is None:
            return "settings unknown: no results say them"
        if system_instruction := self.results.get("system_instruction"):
            size_of_system = f"{len(system_instruction):,} characters"
            return f"a system instruction of {size_of_system} makes another prompt"
        if len(self.settings) > 1:
            return "the generation settings differ between documents"
        if fault := self._fault_of_settings():
            return fault
        if frame is None:
            return "what stands around the prompts differs between documents"
        if size and not self.results.get("chat_template"):
            return f"{size_text}, and no chat template is recorded"
        if size > MOST_FRAME:
            return f"{size_text}, more than {MOST_FRAME:,}: they make another prompt"
        return None

    def _fault_of_settings(self) -> str | None:
        """Return what is wrong with the logged settings, by what results claim and by size."""
        claimed, logged = self._settings_as_claimed_and_logged()
        for name in sorted(claimed.keys() & logged.keys()):
            if claimed[name] != logged[name]:
                return f"the logged {name:.50} is not the one that results claim"
        size = max(map(len, self.settings), default=0)
        if size > MOST_FRAME:
            fault = f"the generation settings have {size:,} characters"
            return f"{fault}, more than {MOST_FRAME:,}: they make another prompt"
        return None

    def _settings_as_claimed_and_logged(self) -> tuple[dict, dict]:
        """Return the generation settings that results claim, and those of a logged line."""
        claimed = within(self.results, "configs", self.task, "generation_kwargs")
        logged = within(json.loads(next(iter(self.settings), "{}")), "arg_1")
        if isinstance(claimed, dict) and isinstance(logged, dict):
            return claimed, logged
        return {}, {}

    def outcome(self, tally: Tally) -> dict:
        """Return what the checks show, for the board: plain JSON.

        Documents are `whole` if they are all rows, and of the seed that the task has.
        """
        status, reason, is_whole = self._check_documents(tally)
        documents_check = {"status": status, "text": reason, "whole": is_whole}
        prompts_check = self._check_prompts()
        responses_check = {"status": VERIFIED, "text": "as logged"}
        if not_first_count := self.contradicted:
            responses_are = "response is" if not_first_count == 1 else "responses are"
            fault = (
                f"{not_first_count:,} filtered {responses_are} not the first response"
            )
            responses_check = {"status": UNKNOWN, "text": fault}
        answer_counts = self.answers.values() or [1]
        extreme_counts = sorted({min(answer_counts), max(answer_counts)})
        answers_text = " to ".join(map(str, extreme_counts))
        if extreme_counts[-1] > 1:
            answers_text += ", scored by their mean (the harness scores the first)"
        return {
            "documents": documents_check,
            "prompts": prompts_check,
            "responses": responses_check,
            "version": self.claims.get("version"),
            "few_shot": self.few_shot,
            "filter": self.filter,
            "settings": sha256(json.dumps(sorted(self.settings))),  # as logged
            "marks": [*self._marks(tally, documents_check)],
            "card": self._card(),
            "checked": {
                "Filter": f"{self.filter:.200}",
                "Answers a document": answers_text,
                "Documents": documents_check["text"],
                "Prompts": prompts_check["text"],
            },
        }

    def _check_documents(self, tally: Tally) -> tuple[str, str, bool]:
        """Return status, reason, and whether the documents are all rows of the task."""
        row_count, known_fingerprint = scorer(self.task).upstream
        doc_count = tally.answered
        if (rows := pack_rows(self.task, self.include_path)) is not None:
            pack_name = f"{self.include_path.name}/"
            outcome = self._compare(doc_count, rows, pack_name, rows.total())
            seed = self.claims.get("sample_seed")
            if outcome[0] == VERIFIED and seed is not None:
                if drawn := recognise(
                    self.task, seed, tally.digests, self.include_path
                ):
                    return VERIFIED, drawn.describe(doc_count), False
            return outcome
        if is_generated(self.task):
            return self._compare_generated(doc_count)
        # What a system message says is no part of a fingerprint.
        has_system_text = bool(configuration(self.task).get("description"))
        if row_count is None or known_fingerprint is None or has_system_text:
            return UNKNOWN, "there are no rows to compare them with", False
        if doc_count == row_count and tally.fingerprint == known_fingerprint:
            return VERIFIED, f"all {doc_count:,} are the benchmark's", True
        if doc_count < row_count:
            reason = f"{doc_count:,} of {row_count:,}: a part has no known fingerprint"
            return UNKNOWN, reason, False
        reason = f"not the benchmark's {row_count:,} with {known_fingerprint}:"
        reason += f" {doc_count:,} with fingerprint {tally.fingerprint}"
        return FALSE, reason, False

    def _compare(
        self, n: int, rows: DocumentHashes, name: str, total: int
    ) -> tuple[str, str, bool]:
        """Compare n documents with rows, which may be a part of `total`."""
        answered_hashes = Counter(doc_hash for _, doc_hash in self.answers)
        if foreign_count := (answered_hashes - rows).total():
            return FALSE, f"{foreign_count:,} of {n:,} are not those of {name}", False
        return VERIFIED, _share_text(n, total, name), n == total

    def _compare_generated(self, n: int) -> tuple[str, str, bool]:
        """Compare n documents with those rows of the results' seed that they answer."""
        task_config = configuration(self.task)
        task_request = _request(task_config)
        claimed_request = _request(within(self.results, "configs", self.task))
        merged_request = task_request | claimed_request
        if not {"gen_seed", "gen_rows"} <= claimed_request.keys():
            return UNKNOWN, "no results say the seed of their rows", False
        try:
            generator_name = task_config["dataset_kwargs"]["generator"]
            parsed_request = read_request(generator_name, **merged_request)
            own_request = read_request(generator_name, **task_request)
            difficulty = _describe_difficulty(parsed_request)
            rows_name = f"seed {parsed_request.seed} ({parsed_request.row_count:,} rows, {difficulty})"
            for doc_id, doc_hash in self.answers:
                row = parsed_request.row(json.loads(doc_id))
                [doc] = documents_of(self.task, [row])
                if _hash(text_of(doc)) != doc_hash:  # no more rows are worth their time
                    return (
                        FALSE,
                        f"document {doc_id:.20} is not that of {rows_name}",
                        False,
                    )
        except (ValueError, TypeError) as error:
            return UNKNOWN, f"cannot be regenerated: {error!s:.200}", False
        reason = _share_text(n, parsed_request.row_count, rows_name)
        own_difficulty = _describe_difficulty(own_request)
        if difficulty != own_difficulty:
            return UNKNOWN, f"{reason}; the task has {own_difficulty}", False
        has_all = n == parsed_request.row_count
        return VERIFIED, reason, has_all and parsed_request == own_request

    def _card(self) -> dict[str, str]:
        """Return what a run card says of the claims of results: label -> text."""
        claims, results = self.claims, self.results
        timestamp, run_date = claims.get("date"), None
        none_text = "none" if claims else None
        if isinstance(timestamp, int | float):
            with suppress(ValueError, OverflowError, OSError):
                run_date = datetime.fromtimestamp(timestamp, timezone.utc).date()
        model_arguments = within(results, "config", "model_args")
        template = results.get("chat_template")
        card_cells = {
            "Model": claims.get("model_name"),
            "Model arguments": model_arguments or none_text,
            "Date": run_date,
            "Harness": claims.get("lm_eval_version"),
            "Task version": claims.get("version"),
            "Few-shot examples": claims.get("n_shot"),
            # One that the results do not show is "".
            "Chat template": none_text if template is None else template or "of an API",
            "System instruction": results.get("system_instruction") or none_text,
            "Generation": within(results, "configs", self.task, "generation_kwargs"),
            "Limit": claims.get("limit") or none_text,
        }
        return {label: _card_text(cell) for label, cell in card_cells.items()}

    def _marks(self, tally: Tally, documents_check: dict) -> Iterator[str]:
        """Yield what is not as the task has it by itself, or not as results claim it.

        Rows from a seed are said in any case: there is no end of other ones.
        """
        task_scorer, scores = scorer(self.task), tally.all.values()
        if is_generated(self.task) and documents_check["whole"]:
            yield documents_check["text"]
        if system_instruction := self.results.get("system_instruction"):
            yield f"system instruction, {len(system_instruction):,} characters"
        claimed, logged = self._settings_as_claimed_and_logged()
        if unclaimed_names := sorted(logged.keys() - claimed.keys()):
            names_text = ", ".join(
                quoted(f"{name:.50}") for name in unclaimed_names[:3]
            )
            yield f"asked with settings that results do not claim: {names_text}"
        is_same_version = self.claims.get("version") == str(task_scorer.version)
        claimed_scores = within(self.results, "results", self.task)
        if not isinstance(claimed_scores, dict):
            claimed_scores = {}
        for result_key, claimed_score in claimed_scores.items():
            metric = task_scorer.metric(result_key.partition(",")[0])
            # Only what the published rule gives is the same in another version.
            is_published = metric in (task_scorer.headline.get(PUBLISHED), EXTRACTED)
            if metric in scores and (is_same_version or is_published):
                mean_score = sum(scores[metric]) / len(scores[metric])
                claimed_mean = typed_claim(claimed_score, float)
                is_claimed = isinstance(claimed_mean, int | float) and (
                    abs(claimed_mean - mean_score) <= ROUNDING
                )
                if not is_claimed:
                    yield f"claims {metric} {claimed_score!s:.8} instead of {mean_score:.4f}"
                    break
        if is_same_version and (changed_count := tally.all.counts["changed"]):
            share_text = f"{changed_count:,} of {tally.all.answers:,}"
            yield f"{share_text} logged scores are not those made again"


def _card_text(cell: object) -> str:
    """Return what a run card says in a cell."""
    if isinstance(cell, dict):
        cell = ", ".join(f"{option} {value}" for option, value in cell.items())
    return "unknown" if cell is None else f"{cell!s:.{LONGEST}}"


def _share_text(n: int, total: int, name: str) -> str:
    """Return how many of the documents of something are answered."""
    share_text = f"all {n:,}" if n == total else f"{n:,} of {total:,}"
    return f"{share_text} documents of {name}"


def _describe_difficulty(request: Request) -> str:
    """Return in words which levels and knobs the rows of a fresh task have."""
    levels_text = f"levels {request.levels[0]}-{request.levels[-1]}"
    knobs = (request.knobs or {}).get(request.generator)
    return (
        f"{levels_text}, knobs {json.dumps(knobs, sort_keys=True)}"
        if knobs
        else levels_text
    )


def _request(config: object) -> dict:
    """Return what the metadata of a task's configuration say of its rows' generation."""
    metadata = within(config, "metadata")
    if not isinstance(metadata, dict):
        return {}
    gen_keys = [key for key in metadata if key.startswith("gen_")]
    return {key: metadata[key] for key in gen_keys if key != "gen_fingerprint"}
