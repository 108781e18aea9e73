"""From the name of a task to its scorer, by what the YAML files of the pack say.

Tools import no family by name, so that a new task needs no change in them. The harness is
not imported, which takes seconds, and no task is built, which would load its data set.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import lm_eval_tasks

from .errors import DocumentError, FamilyError, ToolError
from .family_contract import (
    SEE,
    Columns,
    Family,
    Metric,
    Verdict,
    check_family,
    check_names,
    check_verdict,
    column_fault,
    headline_of,
    read_metrics,
)


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent


class TaskFile(NamedTuple):
    """A task or a group: what its file and those that it includes say."""

    path: Path
    config: dict  # a function is the path of its module, a full stop and its name
    base: str  # the task whose YAML file this one includes; "" for none


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
    loader: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_constructor("!function", lambda _, node: str(path.parent / node.value))
    own_config = yaml.load(path.read_text("utf-8"), loader)  # noqa: S506
    includes = own_config.pop("include", [])
    base_task = ""
    included_config: dict = {}
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


class Scorer(NamedTuple):
    """What scores the responses to one task."""

    task: str
    base: str  # the task whose YAML file this one's includes; "" for none
    family: str  # name of the folder that holds `utils`
    version: float
    prompt_version: str  # the first one that has the prompts and documents of `version`
    config: dict  # what the YAML file says, includes resolved
    file: str  # upstream's name of the file with the rows, without its suffix
    # Row count and fingerprint of the benchmark's file; None where they are unknown.
    upstream: tuple[int | None, str | None]
    metrics: dict[str, Metric]  # in the order of the YAML
    headline: dict[str, str]  # "published" and "flexible" -> metric; {} for none
    utils: Family
    process_docs: Callable  # dataset of upstream rows -> dataset of documents
    process_results: Callable  # (document, [response]) -> scores
    explain: Callable[[dict, str], Verdict]  # what `process_results` takes them from
    # Value and reference of a verdict -> signed error and its unit; None without any.
    signed_error: Callable[[object, object], tuple[float, str]] | None
    columns: Columns  # of documents

    @property
    def licence(self) -> str:
        """The licence of the rows: that of the function that makes them, if it has one."""
        loader_path = self.config.get("custom_dataset")
        module_globals = function(loader_path).__globals__ if loader_path else {}
        return module_globals.get("LICENCE", self.utils.LICENCE)

    def metric(self, logged: str) -> str | None:
        """Return this version's name of a metric in a log; None where it has none."""
        for name, metric in self.metrics.items():
            if logged in (name, metric.formerly):
                return name
        return None

    def has_prompts_of(self, version: str) -> bool:
        """Tell whether runs of a version of the task had the prompts and documents of this.

        A version rises with every change, its `prompt_version` with those of prompts or
        documents alone: versions from that one on differ in no answer.
        """
        bounds = map(_version_key, (self.prompt_version, str(self.version)))
        first_key, current_key = bounds
        return version.isascii() and first_key <= _version_key(version) <= current_key

    def breakdowns(self, doc: dict) -> dict[str, object]:
        """Return name -> value of all that a document's scores are split by."""
        return {
            name: source(doc) if callable(source) else doc.get(source)
            for name, source in self.utils.BREAKDOWNS.items()
        }

    def error_of(self, verdict: Verdict) -> tuple[float, str] | tuple[None, None]:
        """Return the signed error of a verdict's value, and its unit, where it has one."""
        if self.signed_error is None or verdict.value is None:
            return None, None
        return self.signed_error(verdict.value, verdict.reference)

    def choices(self, doc: dict) -> list[str]:
        """Return every response to choose from; [] for a document without options."""
        return self.utils.choices(doc) if hasattr(self.utils, "choices") else []

    def golds(self, doc: dict) -> dict[str, str]:
        """Return text -> response of each gold of a document."""
        if hasattr(self.utils, "golds"):
            return self.utils.golds(doc)
        gold_response = self.utils.gold_response(doc)
        return {gold_response: gold_response}

    def check_verdict(self, verdict: Verdict) -> None:
        """Raise FamilyError for a verdict that is not as the family declares."""
        check_verdict(self.explain, self.metrics, self.utils.REASONS, verdict)


def _version_key(version: str) -> list[int]:
    """Return a key that sorts 2.10 after 2.9; [] for what is no version."""
    numbers = version.split(".")
    return [*map(int, numbers)] if all(map(str.isdigit, numbers)) else []


@cache
def scorer(task: str) -> Scorer:
    """Return the scorer of a task; ToolError names near matches of an unknown one."""
    if (tasks := leaf_tasks(task)) != [task]:
        raise ToolError(f"task '{task}' is a group; its tasks are {', '.join(tasks)}")
    yaml_path, config, base_task = task_files()[task]
    required_keys = ("process_docs", "process_results", "metric_list", "metadata")
    check_names(yaml_path, "names", required_keys, config)
    metadata = config["metadata"]
    check_names(
        f"{yaml_path}: metadata", "names", ("version", "prompt_version"), metadata
    )
    process_docs = function(config["process_docs"])
    results_setting = config["process_results"]
    utils = check_family(sys.modules[process_docs.__module__])
    explain = function(results_setting.replace(".process_results", ".explain"))
    scoring_module = sys.modules[explain.__module__]
    metrics = read_metrics(scoring_module, yaml_path, config["metric_list"])
    file_stem = task if is_generated(task) else _upstream_stem(yaml_path, config)
    files_key = file_stem if file_stem in utils.FILES else file_stem.rpartition("_")[0]
    return Scorer(
        task=task,
        base=base_task,
        family=utils.__name__.split(".")[-2],
        version=metadata["version"],
        prompt_version=str(metadata["prompt_version"]),
        config=config,
        file=file_stem,
        upstream=utils.FILES.get(files_key, (None, None)),
        metrics=metrics,
        headline=headline_of(metrics, yaml_path),
        utils=utils,
        process_docs=process_docs,
        process_results=function(results_setting),
        explain=explain,
        signed_error=getattr(scoring_module, "signed_error", None),
        columns=_columns(utils, explain, base_task),
    )


def _upstream_stem(yaml_path: Path, config: dict) -> str:
    """Return upstream's name of the file with a task's rows, without its suffix."""
    dataset_kwargs = config.get("dataset_kwargs", {})
    data_files = dataset_kwargs.get("data_files", {})
    names = dataset_kwargs.get("data_file"), data_files.get("test")
    if not (name := next(filter(None, (*names, config.get("dataset_name"))), None)):
        fault = "names no file of rows: data_file, data_files or dataset_name"
        raise FamilyError(f"{yaml_path}: {fault}; {SEE}")
    return Path(name).stem


def _columns(utils: Family, explain: Callable, base_task: str) -> Columns:
    """Return the columns of documents.

    Those of a task that another file scores are its base's, and COLUMNS of that file.
    """
    if base_task and explain.__module__ != utils.__name__:
        own_columns = getattr(sys.modules[explain.__module__], "COLUMNS", {})
        return scorer(base_task).columns | own_columns
    check_names(
        f"{utils.__file__}: DOCUMENTS", "has", [explain.__name__], utils.DOCUMENTS
    )
    return utils.DOCUMENTS[explain.__name__]


def breakdown_names() -> list[str]:
    """Return the names of all that any family's scores are split by."""
    families = {scorer(task).family: scorer(task).utils for task in all_tasks()}
    return [
        *dict.fromkeys(name for utils in families.values() for name in utils.BREAKDOWNS)
    ]


def function(setting: str) -> Callable:
    """Return a function that `configuration` names, of the module in the package."""
    module_path, _, function_name = setting.rpartition(".")
    if not Path(f"{module_path}.py").is_file():
        raise FamilyError(f"{module_path}.py: is missing; {SEE}")
    path_parts = Path(module_path).relative_to(FOLDER).parts
    module = importlib.import_module(".".join((lm_eval_tasks.__name__, *path_parts)))
    if not hasattr(module, function_name):
        raise FamilyError(f"{module.__file__}: has no {function_name}; {SEE}")
    return getattr(module, function_name)


@contextmanager
def reading(task: str, doc: dict) -> Iterator[None]:
    """Turn what a family raises for a document into DocumentError, or FamilyError.

    A document is at fault where it is not as DOCUMENTS says, and where the family raises
    ValueError. All else is a fault of the family.
    """
    columns = scorer(task).columns
    # One that is missing may not be needed.
    own_columns = {column: columns[column] for column in columns if column in doc}
    try:
        if column_fault(own_columns, doc):
            raise ValueError
        yield
    except (FamilyError, MemoryError):
        raise
    except Exception as error:
        fault = column_fault(columns, doc)
        if not fault and not isinstance(error, ValueError | RecursionError):
            frames = traceback.extract_tb(error.__traceback__)
            # The family's own line, though it may call what families share.
            own_file = scorer(task).utils.__file__
            own_frames = [x for x in frames if x.filename == own_file]
            frame = (own_frames or frames)[-1]
            place = f"{frame.filename}, line {frame.lineno}"
            raise FamilyError(
                f"{place}: {error!r:.200} of a document of {task}"
            ) from error
        # Of a family that raises without a word, the name of the error.
        fault = fault or f"{str(error) or repr(error):.100}"
        raise DocumentError(
            f"its document is not one of {task} ({fault}); give the"
            " 'doc' as the harness logs it, or the task that it is of"
        ) from None


class Group(NamedTuple):
    """Tasks that are averaged."""

    name: str
    tasks: tuple[str, ...]  # of the groups in it, too
    by_size: bool = True  # whether documents count alike, not tasks


def groups() -> Iterator[Group]:
    """Yield the groups that average the scores of their tasks, sorted by name.

    That of all benchmarks is none of them: their tasks have different scores.
    """
    for name, (_, config, _) in sorted(task_files().items()):
        metric_list = config.get("aggregate_metric_list")
        if metric_list and not config["metadata"].get("of_benchmarks"):
            is_by_size = all(entry["weight_by_size"] for entry in metric_list)
            yield Group(name, tuple(leaf_tasks(name)), is_by_size)


def benchmark_tasks() -> set[str]:
    """Return the tasks of the groups whose YAML says that they are of benchmarks."""
    return {
        task
        for name, file in task_files().items()
        if file.config["metadata"].get("of_benchmarks")
        for task in leaf_tasks(name)
    }


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

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(source)
