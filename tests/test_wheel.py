"""What is installed: every file of the packages, under a version that can be asked for."""

import json
import subprocess
import sys
from configparser import ConfigParser

from tests.conftest import ROOT, run_python


# What `setuptools` would put into a wheel, without building one.
LIST_FILES = """
import json
from setuptools import Distribution

distribution = Distribution({"script_name": "setup.py"})
distribution.parse_config_files()
command = distribution.get_command_obj("build_py")
command.build_lib = "."
command.ensure_finalized()
print(json.dumps(command.get_outputs(include_bytecode=False)))
"""
PACKAGES = {"lm_eval_tasks": "lm_eval_tasks", "utils": "temporal_eval"}


def test_a_wheel_has_every_file_of_the_packages():
    done = subprocess.run(
        [sys.executable, "-c", LIST_FILES], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    packed = {str(path).removeprefix("./") for path in json.loads(done.stdout)}
    expected = {
        f"{installed}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, installed in PACKAGES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"__pycache__", ".ruff_cache"} & {*path.parts}
        and path.name != "ruff.toml"  # for who changes the code
    }
    expected.add("temporal_eval_verifiers.py")  # where verifiers looks for a taskset
    # One that is missing: see `packages` and `package_data` in setup.cfg.
    assert packed == expected


def test_the_pack_tells_its_folder_and_its_version(tmp_path):
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    name, number = (config["metadata"][key] for key in ("name", "version"))
    path = {"PYTHONPATH": str(ROOT)}
    shown = run_python("-m", "lm_eval_tasks", cwd=tmp_path, **path).stdout
    assert shown == f"{ROOT / 'lm_eval_tasks'}\n"
    shown = run_python("-m", "lm_eval_tasks", "--version", cwd=tmp_path, **path).stdout
    assert shown == f"{name} {number} (checkout)\n"
