"""Verdicts are the same on any machine, in any place, at any time."""

import pytest

from tests.conftest import ROOT, run_python
from tests.digest import digest


@pytest.fixture(scope="module")
def digest_here_and_now() -> str:
    return digest()


@pytest.mark.parametrize(
    "environment, day",
    [
        # A machine and a day at once, for each process takes seconds to start.
        (
            {
                "TZ": "Pacific/Auckland",
                "LANG": "de_DE.UTF-8",
                "LC_ALL": "C",
                "PYTHONHASHSEED": "1",
            },
            "1987-06-05",
        ),
        (
            {"TZ": "America/Los_Angeles", "PYTHONHASHSEED": "3"},
            "2099-12-31 23:59:59",
        ),
    ],
)
def test_verdicts_do_not_depend_on_where_and_when(
    digest_here_and_now, tmp_path, environment, day
):
    done = run_python(
        *("-m", "tests.digest", "--at", day),
        cwd=ROOT,
        **environment,
        HF_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    today, that_day = done.stdout.split()
    assert today == digest_here_and_now
    assert that_day == digest_here_and_now
