"""Which decisions were learned: each once, however late."""

import numpy as np
import pytest

import hsb
from hsb.policy.ledger import Ledger


def learned(policy, *numbers):
    """Make ten decisions and learn some of them."""
    decisions = [policy.decide(None) for _ in range(10)]
    for k in numbers:
        policy.learn(decisions[k], loss=0.5)
    return decisions


def test_each_decision_counts_once_in_any_order():
    policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
    decisions = learned(policy, 7, 0, 3)
    for k in (0, 3, 7):
        with pytest.raises(hsb.InputError, match="was learned already"):
            policy.learn(decisions[k], loss=0.5)
    for k in (1, 2, 4, 5, 6, 8, 9):
        policy.learn(decisions[k], loss=0.5)
    assert policy.rounds == 10


def test_its_bits_come_back():
    policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
    learned(policy, 1, 4)
    ledger = policy.ledger
    again = Ledger.unpacked(ledger.issued, ledger.packed(), ledger.lineage, {})
    assert again.packed() == ledger.packed()
    assert np.unpackbits(np.frombuffer(ledger.packed(), dtype=np.uint8)).sum() >= 2


@pytest.mark.parametrize(("issued", "bits"), [(100, b""), (2**70, b"\0")])
def test_what_no_ledger_packs_is_refused(issued, bits):
    with pytest.raises(hsb.FileError):
        Ledger.unpacked(issued, bits, "a lineage", {})


def test_a_copy_numbers_its_own_decisions_and_learns_those_of_before():
    policy = hsb.Exp3(arms=2, learning_rate=0.1, seed=0)
    before = policy.decide(None)
    copy = policy.copy()
    assert policy.decide(None).id != copy.decide(None).id
    copy.learn(before, loss=0.5)
    policy.learn(before, loss=0.5)
    assert policy.rounds == copy.rounds == 1
