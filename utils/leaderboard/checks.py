"""What of a run is checked: its documents, its prompts, its settings, its own scores.

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
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..core.documents import documents, documents_of, quiet_harness
from ..core.errors import ToolError
from ..core.families import FOLDER, configuration, scorer
from ..core.private import load_yaml
from ..harness.run import PromptTaker
from ..packs.sources import index, is_generated
from ..runs.find import Run
from ..runs.scoring import Scored
from ..runs.tally import Tally


MOST_FRAME = 2_000  # characters of a chat template around one prompt
MOST_MADE = 20_000  # rows made anew from a seed
MOST_SHOTS = 100
_LIMIT = "max_gen_toks"
ROUNDING = 1e-6  # of scores in results
VERIFIED, UNKNOWN, FALSE = "verified", "not verified", "not ranked"


# What chat templates put around messages, and tells a model nothing.
_OF_TEMPLATES = re.compile(
    r"<\|?(im_(start|end)|(begin|end)_of_text|(start|end)_header_id|eot_id|endoftext"
    r"|(start|end)_of_turn|bos|eos|s|user|assistant|system|model|end|think)\|?>"
    r"|\[/?INST\]|\b(user|assistant|system|model)\b"
)


# A setting of the model that has it reason, or cuts what it reasoned.
_THINKING = re.compile(r"enable_thinking|think_end_token|reasoning_effort")


def _dict(value: object, *keys: str) -> dict:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


# ------------------------------------------------------------------------- documents


class Documents(NamedTuple):
    """Whether the documents of a run are the benchmark's."""

    status: str  # VERIFIED, UNKNOWN or FALSE
    told: str
    whole: bool = False  # all of them, and of the seed that the task has by itself


# Of the rows that documents are compared with: digests, and texts, for digests know
# nothing of what a family adds to a row.
Rows = tuple[Counter[bytes], set[bytes]]


def _rows(task: str, docs: list[dict]) -> Rows:
    return Counter(map(scorer(task).utils.digest, docs)), {*map(_text_of, docs)}


def _text_of(doc: dict) -> bytes:
    """Return what is equal for documents that are equal in all fields."""
    return _hash(json.dumps(doc, sort_keys=True))


def check_documents(tally: Tally, check: Check, include_path: Path) -> Documents:
    """Compare documents with the rows at a path, a known fingerprint, or rows made anew."""
    task, n = tally.task, tally.answered
    rows, fingerprint = scorer(task).known
    if (found := _at(task, include_path)) is not None:
        return _compared(tally, check, found, f"of {include_path.name}/")
    if is_generated(task):
        return _made_anew(tally, check)
    # What a system message says is no part of a fingerprint.
    if fingerprint is None or configuration(task).get("description"):
        return Documents(UNKNOWN, "there are no rows to compare them with")
    if n == rows and tally.fingerprint == fingerprint:
        return Documents(VERIFIED, f"all {n:,} are the benchmark's", True)
    if n < rows:
        return Documents(UNKNOWN, f"{n:,} of {rows:,}: a part has no known fingerprint")
    what = f"{n:,} with fingerprint {tally.fingerprint}"
    return Documents(FALSE, f"not the benchmark's {rows:,} with {fingerprint}: {what}")


@cache
def _at(task: str, include_path: Path) -> Rows | None:
    """Return the rows that a pack has of a task; None without any."""
    if include_path == FOLDER:
        return None
    try:
        return _rows(task, documents(task, include_path))
    except ToolError:
        return None


def _compared(tally: Tally, check: Check, rows: Rows, of: str) -> Documents:
    digests, texts = rows
    n, most = tally.answered, digests.total()
    if strange := max((tally.digests - digests).total(), len(check.texts - texts)):
        return Documents(FALSE, f"{strange:,} of {n:,} are not those {of}")
    share = "all" if n == most else f"{n:,} of {most:,}"
    return Documents(VERIFIED, f"{share} are those {of}", n == most)


def _made_anew(tally: Tally, check: Check) -> Documents:
    """Compare with the rows of the seed that the results tell."""
    task, files = tally.task, check.run.files
    metadata = (_dict(x.results, "configs", task, "metadata") for x in files)
    told = next(filter(None, metadata), {})
    told = {x: told[x] for x in sorted(told) if x.startswith("gen_")}
    if not {"gen_seed", "gen_rows"} <= told.keys():
        return Documents(UNKNOWN, "the seed of their rows is not told")
    if type(told["gen_rows"]) is int and told["gen_rows"] > MOST_MADE:
        return Documents(UNKNOWN, f"more than {MOST_MADE:,} rows of a seed")
    told.pop("gen_fingerprint", None)
    try:
        rows = _rows_of_seed(task, json.dumps(told))
    except ValueError as error:
        return Documents(UNKNOWN, f"cannot be made anew: {error}")
    by_itself = configuration(task)["metadata"]
    is_own = all(by_itself.get(key) == value for key, value in told.items())
    found = _compared(tally, check, rows, f"of seed {told['gen_seed']}")
    return found._replace(whole=found.whole and is_own)


@cache
def _rows_of_seed(task: str, metadata: str) -> Rows:
    config = load_yaml(index()[task].yaml_path)
    told = config["metadata"] | json.loads(metadata)
    with quiet_harness():
        rows = config["custom_dataset"](**config["dataset_kwargs"], **told)
        return _rows(task, documents_of(task, [*rows[config["test_split"]]]))


# --------------------------------------------------------------------------- prompts


# Of tasks and fields of their documents: tasks as the harness builds them.
_BUILT: dict[tuple, object] = {}
# Of prompts that are made anew: what tells them apart. Runs share them.
_RENDERED: dict[tuple, bytes] = {}


def _built(task: str, doc: dict):
    """Return a task as the harness builds it, over one document and without its data."""
    import datasets
    from lm_eval.tasks import TaskManager

    one = {"test": datasets.Dataset.from_list([doc])}
    config = load_yaml(index()[task].yaml_path)
    config |= {"custom_dataset": lambda **_: one, "process_docs": None}
    with quiet_harness():
        manager = TaskManager(include_path=str(FOLDER), include_defaults=False)
        return manager.load([config])["tasks"][task]


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


class Check:
    """What the answers of a run to one task show, one after the other."""

    documents: Documents  # once all answers are read

    def __init__(self, run: Run, task: str, filter_name: str) -> None:
        self.run, self.task, self.filter = run, task, filter_name
        self._read_settings()
        self.n = self.equal = self.strange = self.untold = self.contradicted = 0
        self.asked_otherwise = 0  # than the results tell
        self.frames: list[tuple[str, ...]] = []  # around prompts that are not equal
        self.repeats = 1
        self.texts: set[bytes] = set()  # of the documents

    def _read_settings(self) -> None:
        """Read how the task was run; what results do not tell, or not rightly, is None."""
        files, task = self.run.files, self.task
        known = (x.results for x in files if task in _dict(x.results, "versions"))
        self.results = told = next(known, {})
        shots = _dict(told, "n-shot").get(task)
        is_number = type(shots) is int and 0 <= shots <= MOST_SHOTS
        self.few_shot = shots if is_number else None
        texts = map(told.get, ("chat_template", "system_instruction"))
        template, system = (x if isinstance(x, str) else None for x in texts)
        # A template may be "": one that the results do not show.
        self.chat_template, self.system_instruction = template, system or None
        self.is_multiturn = told.get("fewshot_as_multiturn") is True

    def add(self, scored: Scored) -> None:
        """Look at one more answer."""
        self.n += 1
        self.texts.add(_text_of(scored.doc))
        line = scored.answer.line
        if self.results and isinstance(asked := line.get("arguments"), dict):
            settings = _dict(asked, "gen_args_0")
            is_alike = settings.get("arg_1") == self._generation()
            is_alike &= len(asked) == 1 and settings.keys() == {"arg_0", "arg_1"}
            self.asked_otherwise += not is_alike
        if "filtered_resps" in line and self.filter == "none":
            given, left = _lone(line.get("resps")), line["filtered_resps"]
            given = given if isinstance(given, list) else [given]
            # By itself the harness takes the first response.
            self.contradicted += _lone(left) not in (*given[:1], given)
            self.repeats = max(self.repeats, len(given))
        self._look_at_prompt(scored)

    def _look_at_prompt(self, scored: Scored) -> None:
        prompt = scored.answer.prompt
        if prompt is None:
            self.untold += 1
            return
        messages = messages_of(prompt)
        is_chat = messages is not None or self.chat_template is not None
        key = (self.task, _text_of(scored.doc), is_chat, self.few_shot)
        key += (self.system_instruction, self.is_multiturn)
        if _RENDERED.get(key) == _hash(prompt):
            self.equal += 1
            return
        if (rendered := self._render(scored.doc, is_chat)) is None:
            self.strange += 1
            return
        expected = messages_of(rendered)
        _RENDERED[key] = _hash(rendered)
        if prompt == rendered or (messages and messages == expected):
            self.equal += 1
            return
        texts = [x["content"] for x in expected] if expected else [rendered]
        found = _around(prompt, texts) if messages is None else None
        self.strange += found is None
        if found and len(self.frames) < 2 and found not in self.frames:
            self.frames.append(found)

    def _render(self, doc: dict, is_chat: bool) -> str | None:
        """Return a prompt as the harness makes it, messages as JSON; None if it cannot."""
        try:
            # The harness takes a field for a template where documents lack it.
            key = (self.task, *sorted(doc))
            if key not in _BUILT:
                _BUILT[key] = _built(self.task, doc)
            made = _BUILT[key].fewshot_context(
                doc,
                num_fewshot=self.few_shot or 0,
                system_instruction=self.system_instruction,
                apply_chat_template=is_chat,
                fewshot_as_multiturn=is_chat and self.is_multiturn,
                chat_template=PromptTaker().apply_chat_template if is_chat else None,
            )
            return made[0] if is_chat else made
        except Exception:  # what a submission may have the harness raise
            return None

    def prompts(self) -> tuple[str, str]:
        """Return whether the prompts are the task's, and what is to be said of them."""
        n = self.n
        frame = max((sum(map(len, frame)) for frame in self.frames), default=0)
        if self.strange:
            return FALSE, f"{self.strange:,} of {n:,} prompts are not the task's"
        if self.untold:
            return UNKNOWN, "the prompts are not in the files"
        if len(self.frames) > 1 or (self.frames and self.equal):
            return FALSE, "prompts have text of their own beside the task's"
        if self.frames and not self.chat_template:
            return FALSE, f"prompts have {frame:,} characters that no setting explains"
        if frame > MOST_FRAME:
            return FALSE, f"the chat template adds {frame:,} characters"
        if self.few_shot is None:
            return UNKNOWN, "settings unknown: there are no results beside the samples"
        of = f", and {frame:,} characters of template" if frame else ""
        return VERIFIED, f"all as made anew{of}"

    def card(self) -> dict[str, str]:
        """Return the run card of the task: label -> value."""
        told, template = self.results, self.chat_template
        given, nothing = self._generation(), "none" if told else None
        arguments = _dict(told, "config").get("model_args")
        if isinstance(arguments, dict):
            arguments = ",".join(f"{x}={y}" for x, y in arguments.items())
        revision = re.search(r"\brevision=([^,]*)", f"{arguments}")
        date = None
        with suppress(TypeError, ValueError, OverflowError, OSError):
            date = f"{datetime.fromtimestamp(told.get('date'), timezone.utc):%Y-%m-%d}"
        cells = {
            "Model": told.get("model_name"),
            "Revision": revision and revision[1],
            "Date": date,
            "Harness": told.get("lm_eval_version"),
            "Task version": _dict(told, "versions").get(self.task),
            "Few-shot examples": self.few_shot,
            "Chat template": nothing if template is None else template or "of an API",
            "System instruction": self.system_instruction or nothing,
            "Generation": ", ".join(f"{x} {y}" for x, y in given.items()) or None,
            "Token limit": given.get(_LIMIT),
            "Filter": self.filter,
            "Limit": _dict(told, "config").get("limit") or nothing,
            "Answers a document": self.repeats,
            "Documents": self.documents.told,
            "Prompts": self.prompts()[1],
        }
        return {x: "unknown" if y is None else f"{y!s:.200}" for x, y in cells.items()}

    def _generation(self) -> dict:
        return _dict(self.results, "configs", self.task, "generation_kwargs")

    def marks(self) -> list[str]:
        """Return what is not as the task has it by itself, in few words."""
        said, own = [], configuration(self.task)["generation_kwargs"]
        given = self._generation() if self.results else own
        for key in sorted({*own, *given})[:MOST_SHOTS]:
            if (value := given.get(key)) != own.get(key):
                mark = f"{value!s:.20} tokens"  # of a limit
                said.append(mark if key == _LIMIT else f"{key:.40} {value!s:.40}")
        if text := self.system_instruction:
            said.append(f"system instruction, {len(text):,} characters")
        for frame in self.frames:
            if text := " ".join(_OF_TEMPLATES.sub(" ", " ".join(frame)).split()):
                size = f"{len(text):,} characters"
                said.append(f"the chat template says “{text:.60}”, {size}")
        if self.repeats > 1:
            said.append(f"{self.repeats} answers a document")
        if n := self.asked_otherwise:
            said.append(
                f"{n:,} answers asked with settings that the results do not tell"
            )
        return said + [*self._changes(given)]

    def _changes(self, given: dict) -> Iterator[str]:
        """Yield what else the results tell of the task and the model, where it counts."""
        told, own = _dict(self.results, "configs", self.task), configuration(self.task)
        for key in ("doc_to_text", "gen_prefix", "filter_list"):
            value = told.get(key) or None
            is_code = isinstance(value, str) and value.startswith("def ")
            if key in told and not is_code and value != own.get(key):
                yield f"{key} {value!s:.40}"
        if told.get("repeats", 1) != 1 and self.repeats == 1:
            yield f"repeats {told['repeats']!s:.40}"
        config = _dict(self.results, "config")
        for key, value in [*_dict(config, "gen_kwargs").items()][:MOST_SHOTS]:
            if given.get(key) != value:
                yield f"gen_kwargs {key:.40} {value!s:.40}"
        if found := _THINKING.search(json.dumps(config.get("model_args"))):
            yield f"model_args {found[0]}"

    def own_scores_differ(self, tally: Tally) -> str | None:
        """Return what to say where the scores in the run's files are not those made anew.

        Flexible ones are compared where they are of the same version of the task.
        """
        task, values = scorer(self.task), tally.all.values()
        is_same = self.run.version(self.task) == str(task.version)
        claims = _dict(self.results, "results", self.task)
        if tally.left_out:
            return None
        for name, claimed in claims.items():
            metric = task.metric(name.partition(",")[0])
            if metric in values and (is_same or "flexible" not in metric):
                mean = sum(values[metric]) / len(values[metric])
                is_number = isinstance(claimed, int | float)
                if not (is_number and abs(claimed - mean) <= ROUNDING):
                    claim = f"{metric} {claimed!s:.8} instead of {mean:.4f}"
                    return f"{self.task}: claims {claim}"
        if tally.all.changed and is_same:
            count = f"{tally.all.changed:,} of {tally.all.answers:,}"
            return f"{self.task}: {count} logged scores are not those made anew"
        return None


def _lone(value: object) -> object:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def messages_of(prompt: str) -> list[dict] | None:
    """Return role and content of the messages of a chat; None of a text."""
    with suppress(ValueError, RecursionError):
        found = json.loads(prompt)
        parts = "role", "content"  # lm-eval 0.5 tells the type of each, too
        if isinstance(found, list) and all(isinstance(x, dict) for x in found):
            return [{key: x.get(key) for key in parts} for x in found] or None
    return None
