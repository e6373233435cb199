"""`digest` and `choose`: one fingerprint for one state, however it was reached; and decisions that change nothing."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.policies import CANNOT_WIDEN, CONTEXTS, LOSSES, POLICIES, ROUNDS, each_policy, first, halves, play, state

import hsb


def loaded(policy: hsb.Policy, folder: Path) -> hsb.Policy:
    policy.save(folder / "policy.hsb")
    asked = policy.settings()
    return hsb.load(folder / "policy.hsb", **({"experts": [first, halves]} if asked.get("functions") else {}))


@each_policy
def test_equal_states_have_one_digest(name: str, tmp_path: Path) -> None:
    one, table = POLICIES[name](), POLICIES[name]()
    play(one)
    run = hsb.simulate(table, CONTEXTS, LOSSES)
    assert len(run) == ROUNDS
    values = {"table": table, "copy": one.copy(seed=3), "copy.copy": copy.copy(one), "deepcopy": copy.deepcopy(one)}
    values |= {"pickle": pickle.loads(pickle.dumps(one)), "file": loaded(one, tmp_path), "one": one}
    digest = one.digest()
    assert len(digest) == 64
    assert {which: policy.digest() == digest for which, policy in values.items()} == dict.fromkeys(values, True)
    for policy in values.values():  # scratch is no part of it
        policy.probabilities(0.71)
        policy.decide(0.1)
        assert policy.digest() == digest
        policy.learn(hsb.Decision(context=0.3, arm=1, propensity=0.5), loss=1.0)
    assert len({policy.digest() for policy in values.values()}) == 1
    assert one.digest() != digest


@each_policy
def test_other_states_have_others(name: str) -> None:
    policy = POLICIES[name]()
    seen = {policy.digest()}
    policy.learn(policy.decide(0.3), loss=0.5)
    seen.add(policy.digest())
    policy.remove_arm(1)
    seen.add(policy.digest())
    policy.add_arm(1)
    assert len(seen) == 3 and policy.digest() in seen
    if name not in CANNOT_WIDEN and not name.startswith("Exp4"):
        policy.add_arm("another")
        assert policy.digest() not in seen


def test_settings_are_part_of_it() -> None:
    results = [hsb.Exp3(arms=2, learning_rate=rate, floor=floor) for rate in (0.1, 0.2) for floor in (0.0, 0.1)]
    results += [hsb.Exp3(arms=["a", "b"], learning_rate=0.1), hsb.Exp3(arms=2, learning_rate=0.1, loss_range=(0, 2))]
    results.append(hsb.Exp3(arms=2, learning_rate=0.1, loss_range="auto"))
    assert len({policy.digest() for policy in results}) == len(results)


@each_policy
def test_choose_is_decide_without_a_trace(name: str) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 50))
    for k, u in enumerate(np.random.default_rng(3).random(40).tolist()):
        available = [[0, 2], None][k % 2]
        before = state(policy)
        chosen = policy.choose(float(CONTEXTS[k]), u=u, available=available)
        assert state(policy) == before
        decision = policy.decide(float(CONTEXTS[k]), u=u, available=available)
        assert (decision.arm, decision.propensity) == chosen


@each_policy
def test_choose_between_a_decision_and_its_feedback(name: str) -> None:
    one, other = POLICIES[name](), POLICIES[name]()
    for k in range(40):
        context, decisions = float(CONTEXTS[k]), [policy.decide(float(CONTEXTS[k])) for policy in (one, other)]
        other.choose(context, u=0.3)
        other.choose(0.9, u=0.1, available=[1])
        for policy, decision in zip((one, other), decisions, strict=True):
            policy.learn(decision, loss=float(LOSSES[k, decision.arm]))
    assert one.digest() == other.digest()


@pytest.mark.parametrize("u", [1.0, -0.1, "x", None, True])
def test_choose_needs_a_number_below_one(u: object) -> None:
    with pytest.raises(hsb.InputError, match=r"u must be in \[0, 1\)"):
        hsb.Uniform(arms=2).choose(None, u=u)  # type: ignore[arg-type]
