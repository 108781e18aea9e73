"""From the name of a task to its scorer, by what the YAML files of the pack say.

Tools ask here and import no family by name, so that a new task needs no change in them.
The files are those of the installed `lm_eval_tasks`, read without building tasks of the
harness, which would load datasets.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import yaml

import lm_eval_tasks

from .errors import ToolError


if TYPE_CHECKING:
    from jinja2 import Template


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent


class Scorer(NamedTuple):
    """What scores the responses to one task."""

    task: str
    base: str | None  # the task whose YAML file this one's includes
    family: str  # name of the folder that holds `utils`
    version: float
    file: str  # upstream's name of the file with the rows, without its suffix
    metrics: tuple[str, ...]  # in the order of the YAML
    higher_is_better: dict[str, bool | None]  # by metric; None: neither is
    aggregations: dict[str, Callable]  # of the metrics that have another than the mean
    utils: ModuleType
    process_docs: Callable  # dataset of upstream rows -> dataset of documents
    process_results: Callable  # (document, [response]) -> scores

    @property
    def explain(self) -> Callable:
        """The function (document, response) -> Verdict behind `process_results`."""
        suffix = self.process_results.__name__.removeprefix("process_results")
        return getattr(self.utils, f"explain{suffix}")

    @property
    def headline(self) -> tuple[str, str] | None:
        """The published metric and the flexible one beside it; None where neither is."""
        flexible = next((x for x in self.metrics if x.endswith("_flexible")), None)
        return (flexible.removesuffix("_flexible"), flexible) if flexible else None

    @property
    def known(self) -> tuple[int | None, str | None]:
        """Row count and fingerprint of the benchmark's file, as far as they are known."""
        name = self.file.removesuffix("_timebench")
        return self.utils.FILES.get(name, (None, None))


@cache
def scorer(task: str) -> Scorer:
    """Return the scorer of a task; ToolError names near matches of an unknown one."""
    config = _tasks().get(task)
    if config is None:
        what = "a group" if task in _groups() else "unknown"
        raise ToolError(f"task '{task}' is {what}; {_suggestion(task)}")
    process_results = _function(config["process_results"])
    utils = importlib.import_module(process_results.__module__)
    return Scorer(
        task=task,
        base=config.get("base"),
        family=utils.__name__.split(".")[-2],
        version=config["metadata"]["version"],
        file=_file(config),
        metrics=tuple(metric["metric"] for metric in config["metric_list"]),
        higher_is_better={
            metric["metric"]: metric["higher_is_better"]
            for metric in config["metric_list"]
        },
        aggregations={
            metric["metric"]: _function(metric["aggregation"])
            for metric in config["metric_list"]
            if metric["aggregation"] != "mean"
        },
        utils=utils,
        process_docs=_function(config["process_docs"]),
        process_results=process_results,
    )


class Group(NamedTuple):
    """Tasks that are averaged."""

    name: str
    tasks: tuple[str, ...]  # of the groups in it, too
    by_size: bool  # whether documents count alike, not tasks
    version: float


def groups() -> list[Group]:
    """Return the groups that average a published score and a flexible one, by name."""
    found = []
    for config in _configurations():
        metrics = config.get("aggregate_metric_list") or []
        if any(metric["metric"].endswith("_flexible") for metric in metrics):
            tasks = tuple(leaf_tasks(config["group"]))
            by_size = all(metric["weight_by_size"] for metric in metrics)
            version = config["metadata"]["version"]
            found.append(Group(config["group"], tasks, by_size, version))
    return sorted(found)


def _file(config: dict) -> str:
    kwargs = config.get("dataset_kwargs") or {}
    if "generator" in kwargs:  # of rows made from a seed
        return config["task"]
    files = kwargs.get("data_files") or {"test": kwargs.get("data_file")}
    return Path(files["test"] or config["dataset_name"]).stem


def leaf_tasks(name: str) -> list[str]:
    """Return the tasks of a group and of the groups in it, or `[name]` for a task.

    Raises ToolError, with near matches, where neither has the name.
    """
    if name in _tasks():
        return [name]
    if name not in _groups():
        raise ToolError(f"task or group '{name}' is unknown; {_suggestion(name)}")
    leaves = (leaf for member in _groups()[name] for leaf in leaf_tasks(member))
    return list(dict.fromkeys(leaves))


def all_tasks() -> list[str]:
    """Return the names of all tasks of the pack, sorted."""
    return sorted(_tasks())


def _suggestion(name: str) -> str:
    if name in _groups():
        return f"its tasks are {', '.join(leaf_tasks(name))}"
    if near := difflib.get_close_matches(name, [*_tasks(), *_groups()]):
        return f"did you mean {' or '.join(near)}?"
    return f"the groups are {', '.join(sorted(_groups()))}"


def configuration(task: str) -> dict:
    """Return what the YAML file of a task says, includes resolved."""
    return _tasks()[task]


def prompt(task: str, doc: dict) -> str:
    """Return what a document of a task asks, with its description, without few-shot."""
    texts = []
    for part in ("description", "doc_to_text"):
        told = configuration(task).get(part, "")
        if isinstance(told, tuple):
            texts.append(_function(told)(doc))
        else:
            texts.append(doc[told] if told in doc else _template(told).render(**doc))
    return "".join(texts)


@cache
def _template(text: str) -> Template:
    """Return a template of the harness, which compiles it anew for each document."""
    from lm_eval.utils import env  # takes a second

    return env.from_string(text)


@cache
def _tasks() -> dict[str, dict]:
    """Return the configuration of each task, includes resolved."""
    return {c["task"]: c for c in _configurations() if isinstance(c.get("task"), str)}


@cache
def _groups() -> dict[str, list[str]]:
    """Return the members of each group."""
    return {c["group"]: c["task"] for c in _configurations() if "group" in c}


@cache
def _configurations() -> list[dict]:
    return [_read(path) for path in sorted(FOLDER.glob("**/*.yaml"))]


def _read(path: Path) -> dict:
    """Return what a YAML file says, over what it includes.

    A function is the path of its module and its name: `!function utils.explain` in
    `tcp/` becomes `(…/tcp/utils.py, explain)`, whichever file includes that one.
    """

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """Reads the tag of the harness for functions beside the file."""

    def function(loader: Loader, node: yaml.ScalarNode) -> tuple[Path, str]:
        module, _, name = loader.construct_scalar(node).rpartition(".")
        return path.parent / f"{module}.py", name

    Loader.add_constructor("!function", function)
    config = yaml.load(path.read_text(encoding="utf-8"), Loader)
    includes = config.pop("include", [])
    merged: dict = {}
    for include in [includes] if isinstance(includes, str) else includes:
        merged |= _read(path.parent / include)
    if "task" in merged:
        config["base"] = merged["task"]
    return merged | config


def _function(reference: tuple[Path, str]) -> Callable:
    """Return the function of a module in the package."""
    path, name = reference
    parts = path.resolve().relative_to(FOLDER).with_suffix("").parts
    module = importlib.import_module(".".join((lm_eval_tasks.__name__, *parts)))
    return getattr(module, name)
