"""Modules of a checkout, run in processes that have imported the libraries before.

Most of a command's second is the import of libraries. Here a server imports them once, and
forks a process for each command, which imports all that is ours anew.
"""

import os
import runpy
import sys
from multiprocessing import forkserver, get_context
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from unittest.mock import patch


LIBRARIES = ["datasets", "hypothesis", "lm_eval.evaluator", "pytest", "scipy.stats"]
OURS = {"lm_eval_tasks", "tests", "utils"}
_SERVER = get_context("forkserver")


def run_module(
    name: str, *arguments: object, cwd: Path, **environment: str
) -> CompletedProcess:
    """Run `python -m NAME ARGUMENTS` in `cwd`, with no network; return what it wrote."""
    words = [*map(str, arguments)]
    _SERVER.set_forkserver_preload(LIBRARIES)
    with patch.dict(os.environ, HF_HUB_OFFLINE="1"):  # which the hub's library reads
        forkserver.ensure_running()
    with TemporaryDirectory() as folder:
        outputs = [Path(folder, "stdout"), Path(folder, "stderr")]
        job = name, words, cwd, environment, outputs
        process = _SERVER.Process(target=_run, args=job)
        process.start()
        process.join()
        texts = [path.read_text("utf-8") for path in outputs]
    return CompletedProcess([name, *words], process.exitcode, *texts)


def _run(
    name: str,
    arguments: list[str],
    cwd: Path,
    environment: dict[str, str],
    outputs: list[Path],
) -> None:
    """Run a module in this process, which is forked for it."""
    for stream, path in zip((sys.stdout, sys.stderr), outputs):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    os.chdir(cwd)
    os.environ.update(environment)
    sys.argv = [name, *arguments]
    sys.path.insert(0, str(cwd))
    for imported in [*sys.modules]:
        if imported.partition(".")[0] in OURS:  # those of the checkout that is tested
            del sys.modules[imported]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
