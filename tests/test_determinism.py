"""Verdicts are the same on any machine, in any place, at any time."""

import pytest

from tests.conftest import ROOT, run_python
from tests.digest import digest


@pytest.fixture(scope="module")
def digest_here_and_now() -> str:
    return digest()


@pytest.mark.parametrize(
    ("zone", "language", "seed", "day"),
    [
        # A machine and a day at once, for each process takes seconds to start.
        ("Pacific/Auckland", "de_DE.UTF-8", "1", "1987-06-05"),
        ("America/Los_Angeles", "C", "3", "2099-12-31 23:59:59"),
    ],
)
def test_verdicts_do_not_depend_on_where_and_when(
    digest_here_and_now, zone, language, seed, day
):
    place = {"TZ": zone, "LANG": language, "LC_ALL": language, "PYTHONHASHSEED": seed}
    done = run_python("-m", "tests.digest", "--at", day, cwd=ROOT, **place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [digest_here_and_now] * 2
