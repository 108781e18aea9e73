"""What the pack's YAML files say, read without the harness, which takes seconds to import."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import lm_eval_tasks


FOLDER = Path(lm_eval_tasks.__file__).resolve().parent


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
