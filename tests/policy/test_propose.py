"""`propose` and `learn_proposed`: what a journal keeps of a decision is enough to learn it as the policy's own."""

import json

import numpy as np
import pytest

import hsb
from hsb.policy.learner import Memo
from hsb.types import Floats

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
    results, kept = [], []
    for t, u in enumerate(us):
        given = context(name, t)
        decision, proposed = one.decide(given, u=u), other.propose(given, u=u)
        assert (decision.arm, decision.propensity) == (proposed.arm, proposed.propensity)
        results.append(decision)
        memo = proposed.memo
        cells = None if memo.cells is None else [int(cell) for cell in memo.cells]
        kept.append(json.dumps([given, proposed.arm, proposed.propensity, memo.rounds, memo.arms, memo.advice, cells]))
        if t >= delay:
            reward = float(results[t - delay].arm == "abc"[t % 3]) * (t % 4 == 0)
            one.learn(results[t - delay], reward=reward)
            given, arm, propensity, *memo = json.loads(kept[t - delay])
            update = hsb.Decision(context=given, arm=arm, propensity=propensity, available=["a", "b", "c"])
            update.memo = Memo(*memo)
            other.learn_proposed(update, reward=reward)
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
        result = policy.propose(None, u=u, available=["a", "b"], mixed=lambda p: 0.8 * p + [0.0, 0.2, 0.0])
        counts[result.arm] += 1
        assert result.propensity == pytest.approx({"a": 0.4, "b": 0.6}[result.arm])
    assert counts == {"a": 400, "b": 600, "c": 0}
    for wrong in (lambda p: p[:2], lambda p: 0.5 * p, lambda p: p - 1.0, lambda p: p * np.nan):
        with pytest.raises(hsb.InputError, match="mixed must"):
            policy.propose(None, u=0.5, mixed=wrong)
    with pytest.raises(hsb.InputError, match="u must"):
        policy.propose(None, u=1.0)


def test_one_object_counts_once() -> None:
    policy = KINDS["tree"]()
    result = policy.propose(0.5, u=0.5)
    policy.learn_proposed(result, reward=1.0)
    with pytest.raises(hsb.InputError, match="learned already"):
        policy.learn_proposed(result, reward=1.0)


def test_numbered_decisions_are_for_learn() -> None:
    policy, other = KINDS["tree"](), KINDS["tree"]()
    for decision in (policy.decide(0.5), other.decide(0.5)):
        with pytest.raises(hsb.InputError, match="without a number"):
            policy.learn_proposed(decision, reward=1.0)
    assert policy.rounds == 0


def same(one: hsb.Decision | None, other: hsb.Decision | None) -> bool:
    if one is None or other is None:
        return one is other
    fields = ("context", "arm", "propensity", "available", "id")
    cells, others = one.memo.cells, other.memo.cells
    return (
        all(getattr(one, name) == getattr(other, name) for name in fields)
        and one.memo[:3] == other.memo[:3]
        and (cells is others if cells is None else list(cells) == list(others))
    )


def alone(policy: hsb.Policy, given: object, u: float) -> hsb.Decision | None:
    try:
        return policy.propose(given, u=u)
    except hsb.InputError:
        return None


@pytest.mark.parametrize("name", [*KINDS, "floor", "removed", "numbers"])
def test_many_as_one_by_one(name: str) -> None:
    """Bit for bit, from the first round on, with what is new and what is refused among them; and what was learned stays as it was."""
    kinds = {
        "floor": lambda: hsb.HSB(arms=["a", "b", "c"], floor=0.1, seed=0),
        "removed": KINDS["features"],
        "numbers": KINDS["features"],
    }
    policy = (KINDS | kinds)[name]()
    named = name in ("features", "floor", "removed")
    rng, met = np.random.default_rng(5), 0
    for t in range(60):
        rows = [context("features" if named else name, int(k)) for k in rng.integers(0, 100, 7)]
        if named:
            rows += [{"x": None}, {"x": 0.2, f"new{t}": t}, {"x": [1]}, {"kind": "never seen"}, {}]
        elif name != "exp3":
            rows += ["none", None]
        us, before = rng.random(len(rows)), policy.digest()
        many = policy.propose_many(rows, u=us)
        assert policy.digest() == before
        expected = [alone(policy, given, float(u)) for given, u in zip(rows, us, strict=True)]
        assert all(same(*pair) for pair in zip(many, expected, strict=True))
        met += many.count(None)
        for each in many[:5]:
            assert each is not None
            policy.learn_proposed(each, reward=float(each.arm == "abc"[t % 3]) * 0.9)
        if name == "removed" and t == 30:
            policy.remove_arm("b")
    assert met > 0 or name == "exp3"
    assert policy.propose_many([], u=[]) == []
    for wrong in ([0.5], [0.5, 1.0], [0.5, -0.1], [0.5, np.nan]):
        with pytest.raises(hsb.InputError, match="u must be 2 numbers"):
            policy.propose_many([0.5, 0.5], u=wrong)
    for wrong in (5, None, "ab", {"x": 1}, np.zeros((2, 3))):
        with pytest.raises(hsb.InputError, match="contexts must be a list with an entry for each row"):
            policy.propose_many(wrong, u=[0.5, 0.5])


def floored(p: Floats) -> Floats:
    """A share for every arm, and half of it all for the first."""
    q = 0.5 * (0.96 * p + 0.04 / p.shape[-1])
    q[..., 0] += 0.5
    return q


@pytest.mark.parametrize("name", [*KINDS, "floor", "removed", "numbers"])
def test_many_as_one_by_one_from_a_mixture(name: str) -> None:
    """The same where what is drawn from is another distribution than the policy's own; at the ends of sums too."""
    policy = (
        KINDS
        | {"floor": lambda: hsb.HSB(arms=["a", "b", "c"], floor=0.1, seed=0)}
        | dict.fromkeys(("removed", "numbers"), KINDS["features"])
    )[name]()
    named, rng = name in ("features", "floor", "removed"), np.random.default_rng(7)
    for t in range(40):
        rows = [context("features" if named else name, int(k)) for k in rng.integers(0, 100, 7)]
        rows += [{"x": [1]}, {"kind": "never seen"}] if named else []
        us = rng.random(len(rows))
        us[:3] = 0.0, 1.0 - 2.0**-53, 0.5
        many = policy.propose_many(rows, u=us, mixed=floored)
        for given, u, result in zip(rows, us, many, strict=True):
            try:
                expected = policy.propose(given, u=float(u), mixed=floored)
            except hsb.InputError:
                assert result is None
                continue
            assert result is not None and same(result, expected)
        for each in many[:4]:
            assert each is not None
            policy.learn_proposed(each, reward=float(each.arm == "abc"[t % 3]) * 0.9)
        if name == "removed" and t == 20:
            policy.remove_arm("b")
    assert policy.propose_many(rows, u=us, mixed=lambda p: 2.0 * p) == [None] * len(rows)
    assert policy.propose_many([], u=[], mixed=floored) == []


def test_a_number_of_its_own() -> None:
    """The control: with another u many decisions are others."""
    policy = KINDS["features"]()
    rows = [context("features", t) for t in range(100)]
    us = np.random.default_rng(6).random(100)
    one, other = policy.propose_many(rows, u=us), policy.propose_many(rows, u=us[::-1].copy())
    assert sum(not same(*pair) for pair in zip(one, other, strict=True)) > 30
