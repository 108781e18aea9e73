"""Verdicts are the same on any machine, in any place, at any time."""

import pytest

from tests.conftest import ROOT, run_python


def digest(*arguments: str, **environment: str) -> str:
    """Return what `tests.digest` prints."""
    done = run_python("-m", "tests.digest", *arguments, cwd=ROOT, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def digest_here_and_now(tmp_path_factory) -> str:
    return digest(HF_HOME=str(tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize(
    "environment, arguments",
    [
        ({"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "1"}, []),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C", "PYTHONHASHSEED": "2"}, []),
        ({"TZ": "America/Los_Angeles"}, ["--at", "1987-06-05"]),
        ({"PYTHONHASHSEED": "3"}, ["--at", "2099-12-31 23:59:59"]),
    ],
)
def test_verdicts_do_not_depend_on_where_and_when(
    digest_here_and_now, tmp_path, environment, arguments
):
    elsewhere = digest(*arguments, HF_HOME=str(tmp_path), **environment)
    assert elsewhere == digest_here_and_now
