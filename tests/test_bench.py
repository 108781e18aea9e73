"""`temporal-eval bench`: every kind can be timed, and what is missing is named."""

import sys

import pytest

from utils import bench
from utils.__main__ import main
from utils.bench import KINDS, LENGTHS, peak, response, scorers


FOUND = scorers([])


@pytest.mark.parametrize("name", FOUND)
def test_every_kind_can_be_timed_and_its_answers_are_right(name):
    timed = pytest.importorskip("utils.speed").timed
    run, count = timed(FOUND[name], name, LENGTHS["0.5 KB"], block=True)
    assert run(1) > 0
    assert count == 200
    kind = KINDS[name]
    if name != "timebench_generation":
        text = response(kind, 7, 500, right=True, block=True)
        scores = FOUND[name].process_results(kind.document(7), [text])
        assert scores[FOUND[name].headline[1]] == 1.0


def test_scoring_takes_no_more_memory_than_a_few_copies_of_the_answer():
    for name in ("tcp", "tot_arithmetic", "timebench_qa"):
        assert peak(FOUND[name], KINDS[name]) < 10 * LENGTHS["400 KB"]


def test_a_missing_pyperf_is_named(monkeypatch, capsys):
    for slow in ("_costs", "_growths"):
        monkeypatch.setattr(bench, slow, lambda *_: {"figure": 1})
    monkeypatch.setitem(sys.modules, "pyperf", None)
    assert main(["bench", "tcp"]) == 1
    printed = capsys.readouterr()
    assert "| tcp    |" in printed.out
    assert printed.err == (
        "bench: pyperf is not installed; install the extra `tools`, or use --check\n"
    )
