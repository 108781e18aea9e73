"""From the name of a task to its scorer, by what the YAML files of the pack say.

Tools ask here and import no family by name, so that a new task needs no change in them.
No task is built, which would load its data set.
"""

from __future__ import annotations

import difflib
import importlib
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol

import lm_eval_tasks

from .errors import NOT_A_DOCUMENT, FamilyError, ToolError, fault_of_document


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent
# Published score and flexible one: a task's headline is the first pair that it has.
HEADLINES = (("score", "score_flexible"), ("accuracy", "accuracy_flexible"))
# What versions before 2.0 call a metric, and what it is called since.
RENAMED = {"acc": "accuracy", "acc_flexible": "accuracy_flexible", "f1": "f1_score"}
_SEE = "see 'Add a task' in CONTRIBUTING.md"
# Versions that have one another's prompts and documents: their runs differ in no answer.
SAME_PROMPTS = {"1.1", "2.0", "2.1", "2.2"}


class TaskFile(NamedTuple):
    """A task or a group: what its file and those that it includes say."""

    path: Path
    config: dict  # a function is the path of its module, a full stop and its name
    included: tuple[Path, ...]  # by the file itself


@cache
def task_files() -> dict[str, TaskFile]:
    """Return the tasks and groups of the pack by name."""
    files = map(_read, sorted(FOLDER.rglob("*.yaml")))
    return {file.config.get("group") or file.config["task"]: file for file in files}


@cache
def _read(path: Path) -> TaskFile:
    import yaml  # when the first task is asked for

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """Of functions by their file, which stands beside this one."""

    Loader.add_constructor(
        "!function", lambda loader, node: str(path.parent / node.value)
    )
    own_config = yaml.load(path.read_text("utf-8"), Loader)  # noqa: S506
    names = own_config.pop("include", [])
    names = [names] if isinstance(names, str) else names
    included = tuple((path.parent / name).resolve() for name in names)
    config: dict = {}
    for included_path in included:
        config |= _read(included_path).config
    return TaskFile(path, config | own_config, included)


class Verdict(Protocol):
    """What a family's `explain` makes of a response: a NamedTuple of these fields.

    Spans are positions in the response; None stands for what was not found.
    """

    scores: dict[str, float]  # in the order of the YAML
    reason: str  # one of the family's REASONS
    published: str | None  # the answer that the metric card's rule extracts
    published_span: tuple[int, int] | None
    flexible: str | None  # the answer that the response commits to, as it stands there
    flexible_span: tuple[int, int] | None
    value: object  # what the flexible answer was read as
    reference: object  # the value of the reference, read the same way


@dataclass(frozen=True)
class Family:
    """What tools use of a family, by its names in the family's `utils.py`.

    Beside these, the file has `process_docs_KIND`, `process_results_KIND` and
    `explain_KIND` for each kind of task; the YAML files name the first two.
    """

    FILES: dict[str, tuple]  # upstream's name of a file -> rows, fingerprint or None
    LICENCE: str  # of the rows, as upstream states it
    REASONS: dict[str, str]  # the word of a verdict -> what it means
    digest: Callable[[dict], bytes]  # document -> digest of what prompt and score need
    cluster: Callable[[dict], str]  # document -> what it shares with others
    fingerprint: Callable[[Iterable[bytes]], str]  # digests in any order -> one digest
    gold_response: Callable[[dict], str]  # document -> its reference, as prompts ask


class Scorer(NamedTuple):
    """What scores the responses to one task."""

    task: str
    base: str | None  # the task whose YAML file this one's includes
    family: str  # name of the folder that holds `utils`
    version: float
    file: str  # upstream's name of the file with the rows, without its suffix
    metrics: tuple[str, ...]  # in the order of the YAML
    higher_is_better: dict[str, bool]  # by metric
    utils: Family
    process_docs: Callable  # dataset of upstream rows -> dataset of documents
    process_results: Callable  # (document, [response]) -> scores
    explain: Callable[[dict, str], Verdict]  # what `process_results` takes them from

    @property
    def headline(self) -> tuple[str, str] | None:
        """The published metric and the flexible one beside it; None where neither is."""
        complete_pairs = (pair for pair in HEADLINES if {*pair} <= {*self.metrics})
        return next(complete_pairs, None)

    @property
    def licence(self) -> str:
        """The licence of the rows: where a function makes them, that of its module."""
        loader = configuration(self.task).get("custom_dataset")
        module = sys.modules[function(loader).__module__] if loader else None
        return getattr(module, "LICENCE", self.utils.LICENCE)

    @property
    def upstream(self) -> tuple[int | None, str | None]:
        """Row count and fingerprint of the benchmark's file; None where they are unknown."""
        # A family may leave out a last part that the names of all its files share.
        files, shared_name = self.utils.FILES, self.file.rpartition("_")[0]
        return files.get(self.file) or files.get(shared_name, (None, None))

    def asks_as(self, version: str | None) -> bool:
        """Tell whether a run of a version, None if unknown, had this one's prompts."""
        ours = str(self.version)
        return version in (None, ours) or {version, ours} <= SAME_PROMPTS

    def metric(self, logged: str) -> str | None:
        """Return this version's name of a metric in a log; None where it has none."""
        name = RENAMED.get(logged, logged)
        return name if name in self.metrics else None


@cache
def scorer(task: str) -> Scorer:
    """Return the scorer of a task; ToolError names near matches of an unknown one."""
    if task not in all_tasks():
        fault = "a group" if task in task_files() else "unknown"
        raise ToolError(f"task '{task}' is {fault}; {_suggestion(task)}")
    config, yaml_path = configuration(task), task_files()[task].path
    required_keys = ("process_docs", "process_results", "metric_list", "metadata")
    if missing := [key for key in required_keys if key not in config]:
        raise FamilyError(f"{yaml_path}: names no {', '.join(missing)}; {_SEE}")
    process_docs, process_results = (function(config[key]) for key in required_keys[:2])
    module = importlib.import_module(process_results.__module__)
    explain_name = process_results.__name__.replace("process_results", "explain")
    entries = config["metric_list"]
    higher_is_better = {entry["metric"]: entry["higher_is_better"] for entry in entries}
    return Scorer(
        task=task,
        base=_base(task),
        family=process_docs.__module__.split(".")[-2],
        version=config["metadata"]["version"],
        file=_file(config),
        metrics=tuple(higher_is_better),
        higher_is_better=higher_is_better,
        utils=load_family(process_docs.__module__),
        process_docs=process_docs,
        process_results=process_results,
        explain=_attribute(module, explain_name),
    )


@cache
def load_family(module: str) -> Family:
    """Return the family that a module is; ToolError names what the module lacks."""
    code = importlib.import_module(module)
    names = [field.name for field in fields(Family)]
    if missing := [name for name in names if not hasattr(code, name)]:
        raise FamilyError(f"{code.__file__}: has no {', '.join(missing)}; {_SEE}")
    return Family(*(getattr(code, name) for name in names))


def explain(task: str, doc: object, response: object) -> Verdict:
    """Return the verdict of a task's family on a response to a document.

    The document is an object as the harness logs it, or this as JSON. ToolError for what
    is no task, no text, or not a document of the task.
    """
    if not isinstance(task, str):
        raise ToolError(f"'task' is a {type(task).__name__}, not str; give a task")
    explain_response = scorer(task).explain
    if not isinstance(response, str):
        kind = type(response).__name__
        raise ToolError(f"'response' is a {kind}, not str; give the model's answer")
    if isinstance(doc, str):
        try:
            doc = json.loads(doc)
        except (ValueError, RecursionError) as error:
            raise not_a_document(task, doc, error) from None
    if not isinstance(doc, dict):
        kind = type(doc).__name__
        raise ToolError(f"'doc' is a {kind}, not dict; give a document of {task}")
    try:
        return explain_response(doc, response)
    except NOT_A_DOCUMENT as error:
        raise not_a_document(task, doc, error) from None


def digest_of(task: str, doc: dict) -> bytes:
    """Return what tells a document of a task from others; ToolError as of `explain`."""
    try:
        return scorer(task).utils.digest(doc)
    except NOT_A_DOCUMENT as error:
        raise not_a_document(task, doc, error) from None


def not_a_document(task: str, doc: object, error: Exception) -> ToolError:
    """Return what is wrong with a document, by what a family raised."""
    return ToolError(
        f"its document is not one of {task} ({fault_of_document(error, doc)}); give the"
        " 'doc' as the harness logs it, or the task that it is of"
    )


class Group(NamedTuple):
    """Tasks that are averaged."""

    name: str
    tasks: tuple[str, ...]  # of the groups in it, too
    by_size: bool  # whether documents count alike, not tasks
    version: float


def groups() -> list[Group]:
    """Return the groups that average a published score and a flexible one, by name."""
    found_groups = []
    for name in _group_names():
        config = configuration(name)
        entries = config.get("aggregate_metric_list", [])
        if any({*pair} <= {entry["metric"] for entry in entries} for pair in HEADLINES):
            by_size = all(entry["weight_by_size"] for entry in entries)
            version = config["metadata"]["version"]
            found_groups.append(Group(name, tuple(leaf_tasks(name)), by_size, version))
    return found_groups


def bare(name: str) -> str:
    """Return the name of a task that lm-eval 0.5 calls GROUP::TASK in runs of a group."""
    return name.rpartition("::")[2]


def alone(task: str) -> Group:
    """Return a task as a benchmark of its own."""
    return Group(task, (task,), True, scorer(task).version)


def benchmarks(tasks: list[str]) -> list[Group]:
    """Return the largest groups that tasks are in; a task of none stands for itself."""
    shared = [group for group in groups() if {*group.tasks} & {*tasks}]
    largest = [
        group
        for group in shared
        if not any({*group.tasks} < {*other.tasks} for other in shared)
    ]
    grouped = {task for group in largest for task in group.tasks}
    return largest + [alone(task) for task in tasks if task not in grouped]


def leaf_tasks(name: str) -> list[str]:
    """Return the tasks in a group, or `[name]` for a task; ToolError for an unknown name."""
    if name not in task_files():
        raise ToolError(f"task or group '{name}' is unknown; {_suggestion(name)}")
    members = configuration(name)["task"]
    if isinstance(members, str):  # its own name
        return [name]
    leaves = (leaf for member in members for leaf in leaf_tasks(member))
    return [*dict.fromkeys(leaves)]


def all_tasks() -> list[str]:
    """Return the names of all tasks of the pack, sorted."""
    return sorted(task_files().keys() - _group_names())


def configuration(name: str) -> dict:
    """Return what the YAML file of a task or group says, includes resolved."""
    return task_files()[name].config


def pack_files(include_path: Path) -> list[Path]:
    """Return what is read at a path: task files, code, a pack's data and manifest."""
    suffixes = (".py", "yaml", "manifest.json")
    files = (path for path in include_path.rglob("*") if path.name.endswith(suffixes))
    return [*files, *(include_path / "data").glob("*")]  # which may be a symlink


def is_generated(task: str) -> bool:
    """Tell whether a task makes its rows from a seed."""
    return "generator" in configuration(task).get("dataset_kwargs", {})


def transformations(task: str) -> list[str]:
    """Return the names of those that make twins of public rows; none of other tasks."""
    return configuration(task).get("dataset_kwargs", {}).get("transformations", [])


def prompt(task: str, doc: dict) -> str:
    """Return what a document of a task asks, with its description, without few-shot."""
    return "".join(prompt_parts(task, doc))


def prompt_parts(task: str, doc: dict) -> tuple[str, str]:
    """Return the description, which is the system message of a chat, and the rest."""
    return rendered(task, "description", doc), rendered(task, "doc_to_text", doc)


def rendered(task: str, key: str, doc: dict):
    """Return what the YAML file says by a key, such as `doc_to_target`, of a document."""
    setting = configuration(task).get(key, "")
    if Path(setting).is_relative_to(FOLDER):
        return function(setting)(doc)
    return doc[setting] if setting in doc else _template(setting).render(**doc)


@cache
def _template(text: str):
    import jinja2  # with the settings of the harness, which compiles for each document

    settings = {"undefined": jinja2.StrictUndefined, "keep_trailing_newline": True}
    return jinja2.Environment(**settings).from_string(text)


def _suggestion(name: str) -> str:
    if name in task_files():
        return f"its tasks are {', '.join(leaf_tasks(name))}"
    if near_matches := difflib.get_close_matches(name, task_files()):
        return f"did you mean {' or '.join(near_matches)}?"
    return f"the groups are {', '.join(_group_names())}"


def _group_names() -> list[str]:
    return sorted(name for name, file in task_files().items() if "group" in file.config)


def _base(task: str) -> str | None:
    """Return the task whose YAML file that of a task includes, which has its name."""
    included = task_files()[task].included
    return next((path.stem for path in included if path.suffix == ".yaml"), None)


def _file(config: dict) -> str:
    kwargs = config.get("dataset_kwargs", {})
    if "generator" in kwargs:  # of rows made from a seed
        return config["task"]
    data_files = kwargs.get("data_files") or {"test": kwargs.get("data_file")}
    return Path(data_files["test"] or config["dataset_name"]).stem


def function(path: str) -> Callable:
    """Return a function that `configuration` names, of the module in the package."""
    path, _, function_name = path.rpartition(".")
    parts = Path(path).relative_to(FOLDER).parts
    if not Path(f"{path}.py").is_file():
        raise FamilyError(f"{path}.py: is missing; {_SEE}")
    module = importlib.import_module(".".join((lm_eval_tasks.__name__, *parts)))
    return _attribute(module, function_name)


def _attribute(module: ModuleType, name: str) -> Callable:
    if not hasattr(module, name):
        raise FamilyError(f"{module.__file__}: has no {name}; {_SEE}")
    return getattr(module, name)
