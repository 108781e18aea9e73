"""From the name of a task to its scorer, by what the YAML files of the pack say.

Tools import no family by name, so that a new task needs no change in them. The harness is
not imported, which takes seconds, and no task is built, which would load its data set.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Protocol

import lm_eval_tasks

from .errors import FamilyError, ToolError


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent
SHARE, NUMBER, ERROR = KINDS = ("share", "number", "error")  # of metrics
PUBLISHED, FLEXIBLE, EXTRACTED = ROLES = ("published", "flexible", "extracted")
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


class Metric(NamedTuple):
    """What a metric is: what its entry in a family's METRICS says, by these names."""

    kind: str = SHARE  # from 0 to `top`; NUMBER: any; ERROR: signed, in a unit
    role: str | None = None  # PUBLISHED or FLEXIBLE score of a document, or EXTRACTED
    top: float = 1  # of a SHARE
    unit: str = ""  # of an ERROR
    is_optional: bool = False  # whether only some documents have it
    is_shown: bool = (
        False  # whether the tables of `score` show it; CSV and JSON have all
    )
    is_overlap: bool = (
        False  # whether an answer that shares words with a gold has a part
    )
    formerly: str | None = None  # what logs before version 2.0 call it
    higher_is_better: bool = True  # as the YAML says


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
    `explain_KIND` for each kind of task; the YAML files name the first two. Where `explain`
    is, METRICS is, too: it names each metric of the YAML, and has the fields of `Metric`
    that differ from its defaults. A family may also have some of these:

    - `signed_error(value, reference)`, beside `explain`: how far the value of an answer is
      from the reference, and the unit; `score` shows its median;
    - `choices(document)`: every response to choose from, where a document has options;
    - `golds(document)`: text -> response of each gold, for metrics that are overlaps.
    """

    # Upstream's name of a file, or what is before its last "_" -> rows, fingerprint or None.
    FILES: dict[str, tuple]
    LICENCE: str  # of the rows, as upstream states it
    REASONS: dict[str, str]  # the word of a verdict -> what it means
    # What scores are split by -> column of documents, or a function of one.
    BREAKDOWNS: dict[str, str | Callable[[dict], object]]
    BOARD_COLUMNS: list[str]  # the breakdowns that have columns on a board
    # Document -> key of its reference: equal for those that equal answers are right for.
    reference_key: Callable[[dict], str]
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
    prompt_version: str  # the first one that has the prompts and documents of `version`
    config: dict  # what the YAML file says, includes resolved
    file: str  # upstream's name of the file with the rows, without its suffix
    # Row count and fingerprint of the benchmark's file; None where they are unknown.
    upstream: tuple[int | None, str | None]
    metrics: dict[str, Metric]  # in the order of the YAML
    headline: tuple[str, str] | None  # published metric and flexible one
    utils: Family
    process_docs: Callable  # dataset of upstream rows -> dataset of documents
    process_results: Callable  # (document, [response]) -> scores
    explain: Callable[[dict, str], Verdict]  # what `process_results` takes them from
    # Value and reference of a verdict -> signed error and its unit; None without any.
    signed_error: Callable[[object, object], tuple[float, str]] | None

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

    def choices(self, doc: dict) -> list[str]:
        """Return every response to choose from; [] for a document without options."""
        return self.utils.choices(doc) if hasattr(self.utils, "choices") else []

    def golds(self, doc: dict) -> dict[str, str]:
        """Return text -> response of each gold of a document."""
        if hasattr(self.utils, "golds"):
            return self.utils.golds(doc)
        return dict.fromkeys(
            [self.utils.gold_response(doc)], self.utils.gold_response(doc)
        )

    def check_scores(self, scores: dict[str, float]) -> None:
        """Raise FamilyError for scores that are not as METRICS and the YAML say."""
        place = (
            f"{sys.modules[self.explain.__module__].__file__}: {self.explain.__name__}"
        )
        for name, score in scores.items():
            if not (metric := self.metrics.get(name)):
                fault = (
                    f"returns a metric '{name}', which the YAML of {self.task} lacks"
                )
                raise FamilyError(f"{place} {fault}; {_SEE}")
            if metric.kind == SHARE and not 0 <= score <= metric.top:
                fault = f"returns {score:g} as '{name}', no share of {metric.top:g}"
                raise FamilyError(f"{place} {fault}; say its kind in METRICS; {_SEE}")
        for name in self.metrics.keys() - scores.keys():
            if not self.metrics[name].is_optional:
                fault = f"returns no '{name}', which the YAML of {self.task} names"
                raise FamilyError(f"{place} {fault}; {_SEE}")


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
    _check_names(yaml_path, "names", required_keys, config)
    metadata = config["metadata"]
    _check_names(yaml_path, "names", ("version", "prompt_version"), metadata)
    process_docs = function(config["process_docs"])
    results_setting = config["process_results"]
    utils = sys.modules[process_docs.__module__]
    _check_names(utils.__file__, "has", Family.__annotations__, vars(utils))
    explain = function(results_setting.replace(".process_results", ".explain"))
    scoring_module = sys.modules[explain.__module__]
    metrics = _metrics(scoring_module, yaml_path, config["metric_list"])
    dataset_kwargs = config.get("dataset_kwargs", {})
    upstream_name = dataset_kwargs.get("data_file") or config.get("dataset_name")
    upstream_name = dataset_kwargs.get("data_files", {}).get("test", upstream_name)
    file_stem = task if "generator" in dataset_kwargs else Path(upstream_name).stem
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
        headline=_headline(metrics, yaml_path),
        utils=utils,
        process_docs=process_docs,
        process_results=function(results_setting),
        explain=explain,
        signed_error=getattr(scoring_module, "signed_error", None),
    )


def _check_names(
    place: object, verb: str, needed: Iterable[str], names: Container[str]
) -> None:
    """Raise FamilyError for a file that lacks some of the names that it needs."""
    if missing_names := [name for name in needed if name not in names]:
        raise FamilyError(f"{place}: {verb} no {', '.join(missing_names)}; {_SEE}")


def _metrics(module: ModuleType, yaml_path: Path, entries: list) -> dict[str, Metric]:
    """Return the metrics that a YAML file lists; FamilyError where METRICS lacks one."""
    _check_names(module.__file__, "has", ["METRICS"], vars(module))
    metrics = {}
    for entry in entries:
        name, rises = entry["metric"], entry["higher_is_better"]
        if name not in module.METRICS:
            fault = f"METRICS has no '{name}', which {yaml_path.name} names"
            raise FamilyError(f"{module.__file__}: {fault}; {_SEE}")
        fields = module.METRICS[name]
        if unknown_fields := fields.keys() - {*Metric._fields}:
            fault = f"METRICS['{name}'] has {', '.join(sorted(unknown_fields))}"
            fix = f"its fields are {', '.join(Metric._fields)}"
            raise FamilyError(f"{module.__file__}: {fault}; {fix}")
        metrics[name] = Metric(**fields, higher_is_better=rises)
    return metrics


def _headline(metrics: dict[str, Metric], yaml_path: Path) -> tuple[str, str] | None:
    """Return the published metric and the flexible one; FamilyError for one alone."""
    name_by_role = {metric.role: name for name, metric in metrics.items()}
    headline = tuple(name_by_role.get(role) for role in (PUBLISHED, FLEXIBLE))
    if EXTRACTED not in name_by_role or headline.count(None) == 1:
        fault = "its metrics have not the roles published, flexible and extracted"
        raise FamilyError(f"{yaml_path}: {fault}; {_SEE}")
    return None if None in headline else headline


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

    jinja_options = {"undefined": jinja2.StrictUndefined, "keep_trailing_newline": True}
    return jinja2.Environment(**jinja_options).from_string(source)
