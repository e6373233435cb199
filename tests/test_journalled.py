"""`propose` and `learn_proposed`: what a journal keeps of a decision is enough to learn it as the policy's own."""

import json

import numpy as np
import pytest

import hsb

KINDS = {
    "features": lambda: hsb.HSB(arms=["a", "b", "c"], seed=0),
    "tree": lambda: hsb.HSB(hsb.BinaryTree(depth=3), arms=["a", "b", "c"], seed=0),
    "exp3": lambda: hsb.Exp3(arms=["a", "b", "c"], seed=0),
    "thompson": lambda: hsb.TreeThompson(hsb.BinaryTree(depth=2), arms=["a", "b", "c"], seed=0),
}


def context(name: str, t: int) -> object:
    return {"x": t % 7 / 7, "kind": "uvw"[t % 3]} if name == "features" else t % 7 / 7


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("delay", [0, 5, 40])
def test_as_if_decided(name: str, delay: int) -> None:
    """The same digest as decide and learn, though what was proposed travels as JSON; feedback is late, losses are near 1."""
    one, other = KINDS[name](), KINDS[name]()
    us = np.random.default_rng(3).random(600)
    made, kept = [], []
    for t, u in enumerate(us):
        given = context(name, t)
        decision, proposed = one.decide(given, u=u), other.propose(given, u=u)
        assert (decision.arm, decision.propensity) == (proposed.arm, proposed.propensity)
        made.append(decision)
        seen = None if proposed.seen is None else [int(cell) for cell in proposed.seen]
        kept.append(json.dumps([given, proposed.arm, proposed.propensity, proposed.rounds, proposed.advised, seen]))
        if t >= delay:
            reward = float(made[t - delay].arm == "abc"[t % 3]) * (t % 4 == 0)
            one.learn(made[t - delay], reward=reward)
            given, arm, propensity, rounds, advised, seen = json.loads(kept[t - delay])
            lesson = hsb.Decision(context=given, arm=arm, propensity=propensity, available=["a", "b", "c"])
            lesson.rounds, lesson.advised, lesson.seen = rounds, advised, seen
            other.learn_proposed(lesson, reward=reward)
    assert one.digest() == other.digest()
    assert other.ledger.issued == 0


def test_it_matters() -> None:
    """The control: learned as if from elsewhere, the states differ."""
    one, other = KINDS["features"](), KINDS["features"]()
    for t, u in enumerate(np.random.default_rng(3).random(400)):
        for policy, learn in ((one, one.learn_proposed), (other, other.learn)):
            learn(policy.propose(context("features", t), u=u), reward=0.0)
    assert one.digest() != other.digest()


def test_mixed() -> None:
    policy = KINDS["exp3"]()
    counts = dict.fromkeys("abc", 0)
    for u in (np.arange(1000) + 0.5) / 1000:
        found = policy.propose(None, u=u, available=["a", "b"], mixed=lambda p: 0.8 * p + [0.0, 0.2, 0.0])
        counts[found.arm] += 1
        assert found.propensity == pytest.approx({"a": 0.4, "b": 0.6}[found.arm])
    assert counts == {"a": 400, "b": 600, "c": 0}
    for wrong in (lambda p: p[:2], lambda p: 0.5 * p, lambda p: p - 1.0, lambda p: p * np.nan):
        with pytest.raises(hsb.InputError, match="mixed must"):
            policy.propose(None, u=0.5, mixed=wrong)
    with pytest.raises(hsb.InputError, match="u must"):
        policy.propose(None, u=1.0)


def test_one_object_counts_once() -> None:
    policy = KINDS["tree"]()
    found = policy.propose(0.5, u=0.5)
    policy.learn_proposed(found, reward=1.0)
    with pytest.raises(hsb.InputError, match="learned from already"):
        policy.learn_proposed(found, reward=1.0)


def test_numbered_decisions_are_for_learn() -> None:
    policy, other = KINDS["tree"](), KINDS["tree"]()
    for decision in (policy.decide(0.5), other.decide(0.5)):
        with pytest.raises(hsb.InputError, match="without a number"):
            policy.learn_proposed(decision, reward=1.0)
    assert policy.rounds == 0
