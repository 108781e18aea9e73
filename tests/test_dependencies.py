"""What is imported is declared in setup.cfg, for those who install that part alone."""

import ast
import re
import sys
from configparser import ConfigParser
from importlib import metadata

import pytest

from tests.conftest import ROOT


PROVIDERS = metadata.packages_distributions()
OWN = {"lm_eval_tasks", "temporal_eval", "tests", "utils"}
# Extras that users of a folder's code have; those of adapters name what they adapt to.
EXTRAS = {
    "lm_eval_tasks": (),
    "utils": ("tools", "reasoning-gym", "inspect", "verifiers"),
    "tests": (
        "tools",
        "reasoning-gym",
        "inspect",
        "verifiers",
        "torch",
        "ray",
        "test",
    ),
}


def imported(folder: str) -> set[str]:
    """Return the top-level packages that a folder imports, but for Python's and its own."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - OWN


def distribution(package: str) -> str:
    """Return the normalised name of what installs a package; its own if it is not there."""
    (name,) = {*PROVIDERS.get(package, [package])}
    return normalised(name)


def normalised(requirement: str) -> str:
    """Return the name in a requirement, as package indexes compare names."""
    return re.sub("[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


@pytest.mark.parametrize("folder", EXTRAS)
def test_what_a_folder_imports_is_declared(folder):
    config = ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg")
    requirements = config["options"]["install_requires"].split()
    for extra in EXTRAS[folder]:
        requirements += config["options.extras_require"][extra].split()
    declared = {normalised(x) for x in requirements if not x.startswith("%")}
    assert {distribution(package) for package in imported(folder)} <= declared
