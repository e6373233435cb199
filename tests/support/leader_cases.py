"""Checks of all policies that follow a best mapping, each called from that policy's test file."""

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hsb

Array = npt.NDArray[np.float64]
Masks = npt.NDArray[np.bool_]
TREE = hsb.BinaryTree(depth=3)
PLANE = hsb.BinaryTree(depth=4, space=hsb.Box([18, 0], [90, 1]))


def state(policy: hsb.Policy) -> dict[str, Any]:
    """Return a policy's whole state, byte for byte."""
    return {
        "arrays": {name: array.tobytes() for name, array in policy.to_arrays().items()},
        "settings": (
            repr(policy.settings()),
            policy.loss_range,
            repr(policy.arms),
            {repr(arm) for arm in policy.arm_set.removed},
        ),
        "ledger": (policy.ledger.issued, bytes(policy.ledger.bits).rstrip(b"\0")),
        "counters": (policy.rounds, policy.clipped),
        "random": repr(policy.rng.bit_generator.state),
    }


def table(rounds: int, arms: int, features: int = 1, seed: int = 0) -> tuple[Array, Array, Masks]:
    """Return contexts of the unit cube, losses and masks; one arm is available in some rounds, all in others."""
    rng = np.random.default_rng(seed)
    contexts = rng.random((rounds, features)) if features > 1 else rng.random(rounds)
    masks = rng.random((rounds, arms)) < rng.choice([0.0, 0.5, 1.0], size=(rounds, 1))
    masks[np.arange(rounds), rng.integers(arms, size=rounds)] = True
    return contexts, rng.random((rounds, arms)) * rng.integers(0, 2, size=(rounds, arms)), masks


def stationary(rounds: int, seed: int = 0) -> tuple[Array, Array]:
    """Three arms on the unit interval, each best somewhere: the best mapping loses 0.2, uniform play about 0.53."""
    rng = np.random.default_rng(seed)
    x = rng.random(rounds)
    best = np.digitize(x, [0.25, 0.625])
    means = np.where(best[:, None] == np.arange(3), 0.2, 0.7)
    return x, (rng.random((rounds, 3)) < means).astype(float)


def same_one_by_one(policy: hsb.Policy, *, masked: bool, monkeypatch: pytest.MonkeyPatch, rounds: int = 60) -> None:
    """Check that a whole table equals its rounds one by one, bit for bit; over two features, in small chunks."""
    monkeypatch.setattr(sys.modules["hsb.play.tables"], "CHUNK", 16)  # hsb.simulate itself is the function
    twin = policy.copy()
    contexts, losses, masks = table(rounds, len(policy.arms), features=2)
    contexts = contexts * [72, 1] + [18, 0]
    run = hsb.simulate(policy, contexts, losses, available=masks if masked else None)
    for t in range(rounds):
        available = [policy.arms[m] for m in np.flatnonzero(masks[t])] if masked else None
        decision = twin.decide(contexts[t], available=available)
        assert decision.arm == run.arms[t] and decision.propensity == run.propensities[t]
        twin.learn(decision, loss=float(losses[t, policy.arms.index(decision.arm)]))
    a, b = state(policy), state(twin)
    assert {name: a[name] for name in a if name != "ledger"} == {name: b[name] for name in b if name != "ledger"}


def pure_decisions(policy: hsb.Policy, context: Any) -> None:
    """Check that the same call returns the same decision and changes nothing."""
    before = state(policy)
    first = [(d.arm, d.propensity) for d in (policy.decide(context, u=u) for u in (0.0, 0.2, 0.7, float(np.nextafter(1, 0))))]
    p = policy.probabilities(context)
    again = [(d.arm, d.propensity) for d in (policy.decide(context, u=u) for u in (0.0, 0.2, 0.7, float(np.nextafter(1, 0))))]
    assert first == again
    assert (policy.probabilities(context) == p).all() and abs(p.sum() - 1) < 1e-12 and (p >= 0).all()
    assert {name: value for name, value in state(policy).items() if name != "ledger"} == {
        name: value for name, value in before.items() if name != "ledger"
    }


def goes_on(policy: hsb.Policy, folder: Path) -> None:
    """Check that a policy saved and loaded, copied or pickled continues exactly as the original."""
    policy.save(folder / "policy.hsb")
    twins = [hsb.load(folder / "policy.hsb"), policy.copy(), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))]
    contexts, losses, _ = table(50, len(policy.arms), seed=5)
    late = policy.decide(0.3)
    for twin in twins:
        assert type(twin) is type(policy) and repr(twin) == repr(policy)
        twin.decide(0.3)
    run = hsb.simulate(policy, contexts, losses)
    for twin in twins:
        other = hsb.simulate(twin, contexts, losses)
        assert (other.arms == run.arms).all() and (other.propensities == run.propensities).all()
        assert state(twin)["arrays"] == state(policy)["arrays"]
        assert (twin.probabilities(0.7) == policy.probabilities(0.7)).all()
    policy.learn(late, loss=0.5)  # and the copies did not change
    assert all(twin.rounds == policy.rounds - 1 for twin in twins)


def refused(call: Callable[[], Any], *fragments: str) -> None:
    with pytest.raises(hsb.InputError) as caught:
        call()
    message = str(caught.value)
    assert all(fragment in message for fragment in fragments) and message.endswith("."), message


def bad_rounds(policy: hsb.Policy) -> None:
    """Check the rounds that every policy rejects without a change; its first arm is "a", its contexts numbers in [0, 1]."""
    before = state(policy)
    refused(lambda: policy.decide(1.5), "1.5", "[0.0, 1.0]", "clip")
    refused(lambda: policy.decide("x"), "numbers", "'x'")
    refused(lambda: policy.decide(0.3, u=1.0), "u must be in [0, 1)", "1.0")
    refused(lambda: policy.decide(0.3, available=["no"]), "'no'", "The arms are")
    refused(lambda: policy.decide(0.3, available=[]), "at least one arm")
    result = hsb.Decision(context=0.3, arm="a", propensity=0.5)
    refused(lambda: policy.learn(result, loss=1.5), "1.5", "loss_range")
    refused(lambda: policy.learn(result), "exactly one")
    refused(lambda: policy.learn(hsb.Decision(context=0.3, arm="a", propensity=0.0), loss=1.0), "(0, 1]")
    refused(lambda: policy.learn(hsb.Decision(context=7, arm="a", propensity=0.5), loss=1.0), "7.0")
    refused(lambda: hsb.simulate(policy, [0.1, 0.2], np.zeros((2, 1))), "(2, ")
    refused(lambda: hsb.simulate(policy, [0.1, np.nan], np.zeros((2, len(policy.arms)))), "NaN")
    assert state(policy) == before


def bad_shapes(make: Callable[..., Any]) -> None:
    """Check structures, arms and regions that no such policy accepts."""
    refused(lambda: make("tree"), "structure is needed", "'tree'")
    refused(lambda: make(hsb.BinaryTree(depth=40)), "the limit is", "coarser")
    refused(lambda: make(TREE, arms=0), "at least 1")
    refused(lambda: make(hsb.BinaryTree(depth=20), arms=1000), "1,048,576 leaves x 1000 arms", "coarser")
