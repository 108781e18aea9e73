"""Every family is all that CONTRIBUTING asks of one."""

import pytest

from tests.conformance import faults
from tests.corpus import FAMILIES
from utils.core.task_scorers import all_tasks, scorer


def test_every_family_is_tested():
    assert [*FAMILIES] == sorted({scorer(task).family for task in all_tasks()})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_keeps_each_step_of_contributing(family):
    assert [*faults(family)] == []
