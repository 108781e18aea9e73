"""From the name of a task to its scorer, by what the YAML files of the pack say.

Tools import no family by name, so that a new task needs no change in them. The harness is
not imported, which takes seconds, and no task is built, which would load its data set.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

import lm_eval_tasks

from .errors import FamilyError, ToolError


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent
# Published score and flexible one: a task's headline is the first pair that it has.
HEADLINES = (("score", "score_flexible"), ("accuracy", "accuracy_flexible"))
# What versions before 2.0 call a metric, and what it is called since.
RENAMED = {"acc": "accuracy", "acc_flexible": "accuracy_flexible", "f1": "f1_score"}
# Versions that have one another's prompts and documents: their runs differ in no answer.
SAME_PROMPTS = {"1.1", "2.0", "2.1", "2.2", "2.3"}
_SEE = "see 'Add a task' in CONTRIBUTING.md"


class TaskFile(NamedTuple):
    """A task or a group: what its file and those that it includes say."""

    path: Path
    config: dict  # a function is the path of its module, a full stop and its name
    base: str | None  # the task whose YAML file this one includes


@cache
def task_files() -> dict[str, TaskFile]:
    """Return name -> TaskFile of all tasks and groups of the pack."""
    parsed = map(_read, sorted(FOLDER.rglob("*.yaml")))
    return {file.config.get("group") or file.config["task"]: file for file in parsed}


@cache
def _read(path: Path) -> TaskFile:
    """Read a YAML file of the pack, with the YAML files that it includes."""
    import yaml  # when the first task is asked for

    # Functions stand in files beside this one.
    loader = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_constructor("!function", lambda _, node: str(path.parent / node.value))
    own_config = yaml.load(path.read_text("utf-8"), loader)  # noqa: S506
    includes = own_config.pop("include", [])
    base_task, included_config = None, {}
    for include in [includes] if isinstance(includes, str) else includes:
        included_path = (path.parent / include).resolve()
        included_config |= _read(included_path).config
        if include.endswith(".yaml"):
            base_task = included_path.stem
    return TaskFile(path, included_config | own_config, base_task)


def configuration(name: str) -> dict:
    """Return what the YAML file of a task or group says, includes resolved."""
    return task_files()[name].config


def title_of(name: str) -> str:
    """Return what the YAML file of a benchmark calls it, else its name."""
    return configuration(name)["metadata"].get("title", name)


def all_tasks() -> list[str]:
    """Return the names of all tasks of the pack, sorted."""
    return sorted(name for name in task_files() if "group" not in configuration(name))


def leaf_tasks(name: str) -> list[str]:
    """Return the tasks in a group, or `[name]` for a task; ToolError for an unknown name."""
    by_name = task_files()
    if name not in by_name:
        fix = f"the groups are {', '.join(sorted(by_name.keys() - {*all_tasks()}))}"
        if near_names := difflib.get_close_matches(name, by_name):
            fix = f"did you mean {' or '.join(near_names)}?"
        raise ToolError(f"task '{name}' is unknown; {fix}")
    members = by_name[name].config["task"]
    if isinstance(members, str):  # its own name
        return [name]
    return [*dict.fromkeys(task for member in members for task in leaf_tasks(member))]


def is_generated(task: str) -> bool:
    """Tell whether a task makes its rows from a seed alone, without public rows."""
    return "generator" in configuration(task).get("dataset_kwargs", {})


def transformations(task: str) -> list[str]:
    """Return the names of a task's transformations of public rows to twins, if any."""
    return configuration(task).get("dataset_kwargs", {}).get("transformations", [])


def bare(name: str) -> str:
    """Return the name of a task that lm-eval 0.5 calls GROUP::TASK in runs of a group."""
    return name.rpartition("::")[2]


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


class Family(Protocol):
    """What tools use of a family, by its names in the family's `utils.py`.

    Beside these, the file has `process_docs_KIND`, `process_results_KIND` and
    `explain_KIND` for each kind of task; the YAML files name the first two.
    """

    # Upstream's name of a file, or what is before its last "_" -> rows, fingerprint or None.
    FILES: dict[str, tuple]
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
    prompt_versions: set[str]  # whose runs had the prompts and documents of this one
    config: dict  # what the YAML file says, includes resolved
    file: str  # upstream's name of the file with the rows, without its suffix
    # Row count and fingerprint of the benchmark's file; None where they are unknown.
    upstream: tuple[int | None, str | None]
    metrics: tuple[str, ...]  # in the order of the YAML
    higher_is_better: dict[str, bool]  # by metric
    headline: tuple[str, str] | None  # published metric and flexible one
    utils: Family
    process_docs: Callable  # dataset of upstream rows -> dataset of documents
    process_results: Callable  # (document, [response]) -> scores
    explain: Callable[[dict, str], Verdict]  # what `process_results` takes them from

    @property
    def licence(self) -> str:
        """The licence of the rows: that of the function that makes them, if it has one."""
        loader_path = self.config.get("custom_dataset")
        module_globals = function(loader_path).__globals__ if loader_path else {}
        return module_globals.get("LICENCE", self.utils.LICENCE)

    def metric(self, logged: str) -> str | None:
        """Return this version's name of a metric in a log; None where it has none."""
        current_name = RENAMED.get(logged, logged)
        return current_name if current_name in self.metrics else None


@cache
def scorer(task: str) -> Scorer:
    """Return the scorer of a task; ToolError names near matches of an unknown one."""
    if (tasks := leaf_tasks(task)) != [task]:
        raise ToolError(f"task '{task}' is a group; its tasks are {', '.join(tasks)}")
    yaml_path, config, base_task = task_files()[task]
    required_keys = ("process_docs", "process_results", "metric_list", "metadata")
    if missing := [key for key in required_keys if key not in config]:
        raise FamilyError(f"{yaml_path}: names no {', '.join(missing)}; {_SEE}")
    process_docs = function(config["process_docs"])
    results_setting = config["process_results"]
    utils = sys.modules[process_docs.__module__]
    if missing := [name for name in Family.__annotations__ if not hasattr(utils, name)]:
        raise FamilyError(f"{utils.__file__}: has no {', '.join(missing)}; {_SEE}")
    higher_is_better = {
        entry["metric"]: entry["higher_is_better"] for entry in config["metric_list"]
    }
    metric_pairs = (pair for pair in HEADLINES if {*pair} <= higher_is_better.keys())
    version_set = {str(config["metadata"]["version"])}
    dataset_kwargs = config.get("dataset_kwargs", {})
    upstream_name = dataset_kwargs.get("data_file") or config.get("dataset_name")
    upstream_name = dataset_kwargs.get("data_files", {}).get("test", upstream_name)
    file_stem = task if "generator" in dataset_kwargs else Path(upstream_name).stem
    files_key = file_stem if file_stem in utils.FILES else file_stem.rpartition("_")[0]
    return Scorer(
        task=task,
        base=base_task,
        family=utils.__name__.split(".")[-2],
        version=config["metadata"]["version"],
        prompt_versions=SAME_PROMPTS if version_set <= SAME_PROMPTS else version_set,
        config=config,
        file=file_stem,
        upstream=utils.FILES.get(files_key, (None, None)),
        metrics=tuple(higher_is_better),
        higher_is_better=higher_is_better,
        headline=next(metric_pairs, None),
        utils=utils,
        process_docs=process_docs,
        process_results=function(results_setting),
        explain=function(results_setting.replace(".process_results", ".explain")),
    )


def function(setting: str) -> Callable:
    """Return a function that `configuration` names, of the module in the package."""
    module_path, _, function_name = setting.rpartition(".")
    if not Path(f"{module_path}.py").is_file():
        raise FamilyError(f"{module_path}.py: is missing; {_SEE}")
    path_parts = Path(module_path).relative_to(FOLDER).parts
    module = importlib.import_module(".".join((lm_eval_tasks.__name__, *path_parts)))
    if not hasattr(module, function_name):
        raise FamilyError(f"{module.__file__}: has no {function_name}; {_SEE}")
    return getattr(module, function_name)


def not_a_document(task: object, doc: object, error: Exception) -> ToolError:
    """Return a ToolError that says why a family raised `error` for a document.

    An attribute that a cell of the document lacks is a fault of the document. Any other
    AttributeError is a fault of the family, and is raised again.
    """
    if isinstance(error, AttributeError) and id(error.obj) not in map(id, _cells(doc)):
        raise error
    fault = f"has no {error}" if isinstance(error, KeyError) else f"{error!r:.100}"
    return ToolError(
        f"its document is not one of {task} ({fault}); give the 'doc' as the harness logs"
        " it, or the task that it is of"
    )


def _cells(doc: object) -> Iterator[object]:
    """Yield a document and all that is nested in it."""
    yield doc
    if isinstance(doc, dict | list):
        for nested_value in doc.values() if isinstance(doc, dict) else doc:
            yield from _cells(nested_value)


class Group(NamedTuple):
    """Tasks that are averaged."""

    name: str
    tasks: tuple[str, ...]  # of the groups in it, too
    by_size: bool = True  # whether documents count alike, not tasks


def groups() -> Iterator[Group]:
    """Yield the groups that average a published score and a flexible one, sorted by name."""
    for name, (_, config, _) in sorted(task_files().items()):
        metric_list = config.get("aggregate_metric_list", [])
        metric_names = {entry["metric"] for entry in metric_list}
        if any({*metric_pair} <= metric_names for metric_pair in HEADLINES):
            is_by_size = all(entry["weight_by_size"] for entry in metric_list)
            yield Group(name, tuple(leaf_tasks(name)), is_by_size)


def benchmarks(tasks: list[str]) -> list[Group]:
    """Return the largest groups that tasks are in; a task of none stands for itself."""
    answered_groups = [group for group in groups() if {*group.tasks} & {*tasks}]
    largest_groups = [
        group
        for group in answered_groups
        if not any({*group.tasks} < {*larger.tasks} for larger in answered_groups)
    ]
    grouped_tasks = {task for group in largest_groups for task in group.tasks}
    return largest_groups + [
        Group(task, (task,)) for task in tasks if task not in grouped_tasks
    ]


def prompt(task: str, doc: dict) -> str:
    """Return what a document of a task asks, with its description, without few-shot."""
    return "".join(prompt_parts(task, doc))


def prompt_parts(task: str, doc: dict) -> tuple[str, str]:
    """Return the description, which is the system message of a chat, and the rest."""
    return rendered(task, "description", doc), rendered(task, "doc_to_text", doc)


def rendered(task: str, key: str, doc: dict):
    """Return what the YAML file says by a key, such as `doc_to_target`, of a document."""
    yaml_value = configuration(task).get(key, "")
    if Path(yaml_value).is_relative_to(FOLDER):
        return function(yaml_value)(doc)
    return doc[yaml_value] if yaml_value in doc else _template(yaml_value).render(**doc)


@cache
def _template(source: str):
    """Return a compiled Jinja template of a YAML file."""
    import jinja2  # with the settings of the harness, which compiles for each document

    jinja_options = {"undefined": jinja2.StrictUndefined, "keep_trailing_newline": True}
    return jinja2.Environment(**jinja_options).from_string(source)
