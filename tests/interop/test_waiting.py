"""Decisions that wait for their feedback: the oldest of equal ones first, a bounded number, copies on their own."""

import copy
import pickle

from support.refusals import refused

import hsb
from hsb.interop.waiting import Waiting


def make_decision(p: float, arm: str = "a", context: float = 0.1) -> hsb.Decision:
    return hsb.Decision(context=context, arm=arm, propensity=p)


def propensities(waiting: Waiting, *keys: tuple) -> list[float]:
    return [decision.propensity for _, decision in waiting.find(keys, logged="propensity=")]


def test_the_oldest_alike_comes_first_and_each_once():
    waiting = Waiting(10)
    for p in (0.1, 0.2, 0.3):
        waiting.add([make_decision(p), make_decision(p / 10, "b")])
    assert propensities(waiting, (0.1, "a"), (0.1, "b"), (0.1, "a"), (0.1, "a")) == [0.1, 0.01, 0.2, 0.3]
    message = refused(
        lambda: propensities(waiting, *[(0.1, "a")] * 4), ["Row 3: no decision", "'a'", "0.1", "waiting=", "propensity="]
    )
    assert "last 10" in message
    assert len(waiting) == 6  # looking changes nothing
    waiting.drop([waiting.find([(0.1, "a")], logged="")[0][0]])
    assert propensities(waiting, (0.1, "a")) == [0.2]


def test_memory_is_bounded_but_a_call_stays_together():
    waiting = Waiting(3)
    for p in range(1, 1001):
        waiting.add([make_decision(p / 1000, context=p)])
    assert len(waiting) == len(waiting._numbers) == 3
    assert propensities(waiting, (998, "a")) == [0.998]
    refused(lambda: propensities(waiting, (997, "a")), ["No decision waits", "last 3"])
    waiting.add([make_decision(0.5, context=k) for k in range(5)])
    assert len(waiting) == 5
    waiting.add([make_decision(0.5, context=9)])
    assert len(waiting) == 3
    refused(lambda: propensities(waiting, (tuple(range(1000)), "a")), ["context (0, 1, 2, ", "...: it was not made here"])
    refused(lambda: Waiting(0), ["waiting", "0"])


def test_a_copy_waits_for_itself():
    waiting = Waiting(3)
    waiting.add([make_decision(0.5)])
    for twin in (copy.deepcopy(waiting), pickle.loads(pickle.dumps(waiting))):
        twin.drop([twin.find([(0.1, "a")], logged="")[0][0]])
        assert len(twin) == 0
    assert len(waiting) == 1
