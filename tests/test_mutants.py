"""The table of mutants is one of the files as they are."""

from tests import mutants


def test_every_mutant_can_be_made():
    assert not [*mutants.faults(mutants.MUTANTS)]
