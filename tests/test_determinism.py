"""Verdicts are the same on any machine, in any place, at any time."""

from tests.conftest import ROOT, run_python
from tests.digest import digest


def test_verdicts_do_not_depend_on_where_and_when():
    # Another machine and another day at once, for each digest takes seconds.
    place = {"TZ": "Pacific/Auckland", "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"}
    day = "1987-06-05 23:59:59"
    there = run_python(
        *("-m", "tests.digest", day), cwd=ROOT, **place, PYTHONHASHSEED="1"
    )
    assert there.returncode == 0, there.stderr
    assert there.stdout.split() == [digest()]
