"""What is installed: every file of the packages, under a version that can be asked for."""

from configparser import ConfigParser

from setuptools import Distribution

from tests.conftest import ROOT, run_python


def test_a_wheel_has_every_file_of_the_packages(monkeypatch):
    monkeypatch.chdir(ROOT)
    distribution = Distribution({"script_name": "setup.py"})
    distribution.parse_config_files()
    command = distribution.get_command_obj("build_py")
    command.build_lib = "."
    command.ensure_finalized()
    packed = {x.removeprefix("./") for x in command.get_outputs(include_bytecode=False)}
    expected = {
        f"{installed}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, installed in (("lm_eval_tasks",) * 2, ("utils", "temporal_eval"))
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"__pycache__", ".ruff_cache", "ruff.toml"} & {*path.parts}
    }
    # One that is missing: see `packages` and `package_data` in setup.cfg.
    assert packed == expected | {"temporal_eval_verifiers.py"}  # where verifiers looks


def test_the_pack_tells_its_folder_and_its_version(tmp_path):
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    name, number = (config["metadata"][key] for key in ("name", "version"))
    path = {"PYTHONPATH": str(ROOT)}
    shown = run_python("-m", "lm_eval_tasks", cwd=tmp_path, **path).stdout
    assert shown == f"{ROOT / 'lm_eval_tasks'}\n"
    shown = run_python("-m", "lm_eval_tasks", "--version", cwd=tmp_path, **path).stdout
    assert shown == f"{name} {number} (checkout)\n"
