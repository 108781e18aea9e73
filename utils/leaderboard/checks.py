"""What of a run is checked: its documents, its prompts, its responses.

Nothing that a submission says of itself is believed where it can be made anew, and no
submission is compared with what others have.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from ..core.documents import documents, documents_of, quiet_harness
from ..core.errors import ToolError
from ..core.families import FOLDER, configuration, scorer
from ..core.private import load_yaml
from ..harness.run import PromptTaker
from ..packs.sources import index, is_generated
from ..runs.find import Run, told_by_pack
from ..runs.scoring import Scored
from ..runs.tally import Tally
from .settings import Settings, within


MOST_FRAME = 2_000  # characters of a chat template around one prompt
MOST_QUIET = 300  # of them in one place that may be blanks and roles without a mark
MOST_MADE = 20_000  # rows made anew from a seed
MOST_KEPT = 20_000  # prompts, which runs share: to make one takes a millisecond
VERIFIED, UNKNOWN, FALSE = "verified", "not verified", "not ranked"
SEVERITY = (VERIFIED, UNKNOWN, FALSE)
# What chat templates put around messages, and tells a model nothing.
_OF_TEMPLATES = re.compile(
    r"<\|?(im_(start|end)|(begin|end)_of_text|(start|end)_header_id|eot_id|endoftext"
    r"|(start|end)_of_turn|bos|eos|s|user|assistant|system|model|end|think)\|?>"
    r"|\[/?INST\]|\b(user|assistant|system|model)\b"
)
# Words around a prompt that a template has by another name.
_BY_NAME = "user assistant system model s bos begin_of_text startoftext".split()
_BY_NAME += ["begin", "of", "sentence"]


class Documents(NamedTuple):
    """Whether the documents of a run are the benchmark's."""

    status: str  # one of SEVERITY
    told: str
    whole: bool = False  # all of them, and of the seed that the task has by itself


Rows = Counter[bytes]  # of what documents are compared with: digests of their texts


def _text_of(doc: dict) -> str:
    """Return what is equal for documents that are equal in all fields."""
    return json.dumps(doc, sort_keys=True)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:16]


def _rows(docs: list[dict]) -> Rows:
    return Counter(_hash(_text_of(doc)) for doc in docs)


@cache
def _at(task: str, include_path: Path) -> Rows | None:
    """Return the rows that a pack has of a task; None without any."""
    if include_path == FOLDER:
        return None
    try:
        return _rows(documents(task, include_path))
    except ToolError:
        return None


@cache
def _rows_of_seed(task: str, metadata: str) -> Rows:
    config = load_yaml(index()[task].yaml_path)
    told = config["metadata"] | json.loads(metadata)
    with quiet_harness():
        rows = config["custom_dataset"](**config["dataset_kwargs"], **told)
        return _rows(documents_of(task, [*rows[config["test_split"]]]))


def messages_of(prompt: str) -> list[dict] | None:
    """Return the messages of a chat, each with role and content; None of a text.

    What JSON leaves open, as blanks and a key twice, would say more than the messages.
    """
    with suppress(ValueError, RecursionError):
        found = json.loads(prompt)
        plain = {json.dumps(found), json.dumps(found, ensure_ascii=False)}
        is_list = isinstance(found, list) and prompt in plain
        if is_list and all(isinstance(x, dict) for x in found):
            of_next = ("type", "text")  # which lm-eval 0.5 adds to each
            return [
                dict(x for x in one.items() if x != of_next) for one in found
            ] or None
    return None


@cache
def _built(task: str, fields: tuple[str, ...]):
    """Return a task as the harness builds it, without its data.

    The harness takes a field for a template where documents lack it.
    """
    import datasets
    from lm_eval.tasks import TaskManager

    one = {"test": datasets.Dataset.from_list([dict.fromkeys(fields, "")])}
    config = load_yaml(index()[task].yaml_path)
    config |= {"custom_dataset": lambda **_: one, "process_docs": None}
    with quiet_harness():
        manager = TaskManager(include_path=str(FOLDER), include_defaults=False)
        return manager.load([config])["tasks"][task]


@lru_cache(MOST_KEPT)
def _rendered(task: str, text: str, is_chat: bool, *told: object) -> str | None:
    """Return a prompt as the harness makes it, messages as JSON; None if it cannot."""
    few_shot, system_instruction, is_multiturn = told
    doc = json.loads(text)
    try:
        made = _built(task, tuple(sorted(doc))).fewshot_context(
            doc,
            num_fewshot=few_shot or 0,
            system_instruction=system_instruction,
            apply_chat_template=is_chat,
            fewshot_as_multiturn=is_chat and is_multiturn,
            chat_template=PromptTaker().apply_chat_template if is_chat else None,
        )
        return made[0] if is_chat else made
    except Exception:  # what a submission may have the harness raise
        return None


def _around(prompt: str, texts: list[str]) -> tuple[str, ...] | None:
    """Return what stands around texts in a prompt; None where one is not in it, in turn."""
    found, at = [], 0
    for text in (text.strip() for text in texts):
        place = prompt.find(text, at)
        if place < 0:
            return None
        found.append(prompt[at:place])
        at = place + len(text)
    return *found, prompt[at:]


def _lone(value: object) -> object:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class Check:
    """What the answers of a run to one task show, one after the other."""

    documents: Documents  # once all answers are read

    def __init__(self, run: Run, task: str, filter_name: str) -> None:
        self.settings, self.task = Settings(run, task), task
        self.filter = filter_name
        self.found: Counter[str] = Counter()  # of lines, which may hold several answers
        self.repeats = 1  # answers to a document, at the most
        self.fewest: int | None = None  # where some documents have fewer
        self.samples: set[object] = set()  # what numbers the answers to a document
        self.line: dict = {}  # the last one
        self.frames: set[tuple[str, ...]] = set()  # around prompts; two are enough
        self.texts: set[tuple[object, bytes]] = set()  # of documents, by their ids
        self.made: dict = {}  # what the rows they are compared with were made from

    def add(self, scored: Scored) -> None:
        """Look at one more answer."""
        line, text = scored.answer.line, _text_of(scored.doc)
        self.texts.add((scored.answer.doc_id, _hash(text)))
        self.samples.add(scored.answer.sample)
        if line is self.line:
            return
        self.line = line
        self.found.update(["answers", self._prompt(scored.answer.prompt, text)])
        if self.settings.results and isinstance(asked := line.get("arguments"), dict):
            first = within(asked, "gen_args_0").get("arg_0")
            told = {"arg_0": first, "arg_1": self.settings.generation}
            self.found["otherwise"] += asked != {"gen_args_0": told}
        if "filtered_resps" in line and self.filter == "none":
            given, left = _lone(line.get("resps")), line["filtered_resps"]
            given = given if isinstance(given, list) else [given]
            # By itself the harness takes the first response.
            self.found["contradicted"] += _lone(left) not in (*given[:1], given)
            self.repeats = max(self.repeats, len(given))

    def _prompt(self, prompt: str | None, text: str) -> str:
        """Return how a prompt stands to what the task makes of the text of a document."""
        if prompt is None:
            return "untold"
        told, messages = self.settings, messages_of(prompt)
        is_chat = messages is not None or told.chat_template is not None
        asked = (told.few_shot, told.system_instruction, told.is_multiturn)
        if (rendered := _rendered(self.task, text, is_chat, *asked)) is None:
            return "strange"
        expected = messages_of(rendered) if is_chat else None
        if prompt == rendered or (messages and messages == expected):
            return "equal"
        texts = [x["content"] for x in expected] if expected else [rendered]
        frame = None if messages else _around(prompt, texts)
        if frame and len(self.frames) < 2:
            self.frames.add(frame)
        return "framed" if frame else "strange"

    def prompts(self) -> tuple[str, str]:
        """Return whether the prompts are the task's, and what is to be said of them."""
        size = max((sum(map(len, frame)) for frame in self.frames), default=0)
        of = f", and {size:,} characters of template" if size else ""
        return next(self._faults(size), (VERIFIED, f"all as made anew{of}"))

    def _faults(self, size: int) -> Iterator[tuple[str, str]]:
        found, frames, told = self.found, self.frames, self.settings
        if n := found["strange"]:
            yield FALSE, f"{n:,} of {found['answers']:,} prompts are not the task's"
        if found["untold"]:
            yield UNKNOWN, "the prompts are not in the files"
        if len(frames) > 1 or (frames and found["equal"]):
            yield FALSE, "prompts have text of their own beside the task's"
        if frames and not told.chat_template:
            yield FALSE, f"prompts have {size:,} characters that no setting explains"
        if size > MOST_FRAME:
            yield FALSE, f"the chat template adds {size:,} characters"
        if told.few_shot is None:
            yield UNKNOWN, "settings unknown: there are no results beside the samples"
        if frames and not self._is_of_template():
            yield UNKNOWN, "the chat template in the results did not make the prompts"

    def _is_of_template(self) -> bool:
        """Tell whether the words around the prompts are in the template of the results.

        It is read, not run: a template may take as long as it likes.
        """
        words, date = re.compile(r"[^\W_]+(?:_[^\W_]+)*"), self.settings.date
        around = " ".join(" ".join(frame) for frame in self.frames)
        given = f"{self.settings.chat_template} {f'{date:%d %b %B %Y}' if date else ''}"
        found, known = ({*words.findall(x.casefold())} for x in (around, given))
        return bool(found) and found <= known.union(_BY_NAME)

    def marks(self) -> list[str]:
        """Return what is not as the task has it by itself, in few words."""
        said = [*self.settings.marks(self.made, self.repeats)]
        for frame in sorted(self.frames):
            if text := " ".join(_OF_TEMPLATES.sub(" ", " ".join(frame)).split()):
                size = f"{len(text):,} characters"
                said.append(f"the chat template says “{text:.60}”, {size}")
            elif (longest := max(map(len, frame))) > MOST_QUIET:
                said.append(f"the chat template adds {longest:,} blanks and roles")
        if self.fewest:
            said.append(f"some documents have {self.fewest} of these answers")
        if len(self.samples) > self.repeats:
            said.append("answers were picked from several samples")
        if n := self.found["otherwise"]:
            what = "answers asked with settings that the results do not tell"
            said.append(f"{n:,} {what}")
        return said

    def card(self) -> dict[str, str]:
        """Return the run card of the task: label -> value."""
        cells = self.settings.card() | {
            "Filter": self.filter,
            "Answers a document": self.repeats,
            "Documents": self.documents.told,
            "Prompts": self.prompts()[1],
        }
        return {x: "unknown" if y is None else f"{y!s:.200}" for x, y in cells.items()}

    def compare(self, tally: Tally, include_path: Path) -> Documents:
        """Compare documents with rows at a path, a fingerprint, or rows made anew."""
        task, n = tally.task, tally.answered
        counts = {len(document.scores) for document in tally.all.documents}
        self.repeats = max(self.repeats, *counts, 1)
        self.fewest = min(counts) if len(counts) > 1 else None
        if (found := _at(task, include_path)) is not None:
            self.made = told_by_pack(task, include_path) or {}
            return self._compared(tally, found, f"of {include_path.name}/")
        if is_generated(task):
            return self._made_anew(tally)
        rows, fingerprint = scorer(task).known
        # What a system message says is no part of a fingerprint.
        if fingerprint is None or configuration(task).get("description"):
            return Documents(UNKNOWN, "there are no rows to compare them with")
        if n == rows and tally.fingerprint == fingerprint:
            return Documents(VERIFIED, f"all {n:,} are the benchmark's", True)
        if n < rows:
            return Documents(
                UNKNOWN, f"{n:,} of {rows:,}: a part has no known fingerprint"
            )
        what = f"{n:,} with fingerprint {tally.fingerprint}"
        return Documents(
            FALSE, f"not the benchmark's {rows:,} with {fingerprint}: {what}"
        )

    def _compared(self, tally: Tally, rows: Rows, of: str) -> Documents:
        n, most = tally.answered, rows.total()
        if strange := (Counter(text for _, text in self.texts) - rows).total():
            return Documents(FALSE, f"{strange:,} of {n:,} are not those {of}")
        share = "all" if n == most else f"{n:,} of {most:,}"
        return Documents(VERIFIED, f"{share} are those {of}", n == most)

    def _made_anew(self, tally: Tally) -> Documents:
        """Compare with the rows of the seed that the results tell."""
        told = {x: y for x, y in self.settings.made.items() if x != "gen_fingerprint"}
        if not {"gen_seed", "gen_rows"} <= told.keys():
            return Documents(UNKNOWN, "the seed of their rows is not told")
        if type(told["gen_rows"]) is int and told["gen_rows"] > MOST_MADE:
            return Documents(UNKNOWN, f"more than {MOST_MADE:,} rows of a seed")
        try:
            rows = _rows_of_seed(tally.task, json.dumps(told))
        except ValueError as error:
            return Documents(UNKNOWN, f"cannot be made anew: {error}")
        own = configuration(tally.task)["metadata"]
        found = self._compared(tally, rows, f"of seed {told['gen_seed']}")
        if found.whole:
            self.made = {"gen_fingerprint": tally.fingerprint}
        is_own = all(own.get(key) == value for key, value in told.items())
        return found._replace(whole=found.whole and is_own)
