"""What every policy must do, whatever its kind: found by itself through `Policy.kinds`."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.policies import (
    AVAILABLE,
    CANNOT_WIDEN,
    CONTEXTS,
    LOSSES,
    POLICIES,
    ROUNDS,
    each_policy,
    first,
    halves,
    play,
    state,
)

import hsb

ESTIMATED = {"CsbFtpl", "CsbFtpl, regions"}  # their propensity is 1/J, an estimate by design


def test_no_policy_is_forgotten() -> None:
    """A new one fails here until it has an example."""
    assert {name.split(",")[0] for name in POLICIES} == {
        name for name, kind in hsb.Policy.kinds.items() if kind.__module__.startswith("hsb.")
    }


def certified(policy: hsb.Policy) -> list[float]:
    """What a certificate is made of, where there is one."""
    return policy.learner.mixture.state.sums.tolist() if hasattr(policy, "certificate") else []


@each_policy
@pytest.mark.parametrize("masks", [False, True])
def test_a_table_gives_what_its_rounds_give(name: str, masks: bool) -> None:
    one, other = POLICIES[name](), POLICIES[name]()
    run = hsb.simulate(one, CONTEXTS, LOSSES, available=AVAILABLE if masks else None)
    done = play(other, masks=masks)
    assert run.arms.tolist() == [arm for arm, _ in done]
    if not np.isnan(run.propensities).any():
        assert run.propensities.tolist() == [probability for _, probability in done]
    assert state(one)["random"] == state(other)["random"]
    for x in np.linspace(0, 1, 17):  # the arrays themselves may differ in scratch
        assert np.array_equal(one.probabilities(x), other.probabilities(x))
    assert np.array_equal(certified(one), certified(other))


@each_policy
def test_probabilities_are_a_distribution_that_the_propensity_comes_from(name: str) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 60), masks=True)
    for available in (None, [0, 2], [1]):
        for x in (0.0, 0.31, 1.0):
            p = policy.probabilities(x, available=available)
            assert p.shape == (3,) and (p >= 0).all() and p.sum() == pytest.approx(1.0, abs=1e-9)
            assert available is None or p[available].sum() == pytest.approx(1.0, abs=1e-9)
            decision = policy.decide(x, available=available)
            assert available is None or decision.arm in available
            if name not in ESTIMATED:
                assert decision.propensity == pytest.approx(p[decision.arm], rel=1e-7)


@each_policy
def test_deciding_and_asking_change_nothing(name: str) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 30))
    twin = policy.copy()
    p = policy.probabilities(0.4)
    first_time = policy.decide(0.4, u=0.3)
    policy.decide(0.9, available=[1, 2])
    again = policy.decide(0.4, u=0.3)
    assert (first_time.arm, first_time.propensity) == (again.arm, again.propensity)  # pure in state, context and u
    assert np.array_equal(policy.probabilities(0.4), p)
    rest = [(policy.decide(float(x), u=0.5), twin.decide(float(x), u=0.5)) for x in CONTEXTS[:5]]
    assert all(one.arm == other.arm and one.propensity == other.propensity for one, other in rest)


@each_policy
def test_frequencies_are_the_probabilities(name: str) -> None:
    """2000 decisions; a frequency's standard error is at most 0.011."""
    policy = POLICIES[name]()
    play(policy, slice(0, 60))
    p = policy.probabilities(0.4)
    rng = np.random.default_rng(3)
    counts = np.bincount([policy.decide(0.4, u=float(u)).arm for u in rng.random(2000)], minlength=3) / 2000
    assert np.abs(counts - p).max() < 0.05


@each_policy
def test_files_copies_and_pickles_go_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 50), masks=True)
    policy.save(tmp_path / "policy.hsb")
    given = {"experts": [first, halves]} if name == "Exp4" else {}
    twins = [hsb.load(tmp_path / "policy.hsb", **given), policy.copy(), pickle.loads(pickle.dumps(policy))]
    expected = play(policy, slice(50, None))
    for twin in twins:
        assert play(twin, slice(50, None)) == expected
        assert state(twin)["arrays"] == state(policy)["arrays"]
        assert repr(twin) == repr(policy)


@each_policy
def test_arms_come_and_go(name: str) -> None:
    policy = POLICIES[name]()
    play(policy, slice(0, 40))
    policy.remove_arm(1)
    assert policy.probabilities(0.3)[1] == 0.0
    policy.add_arm(1)
    if name in CANNOT_WIDEN:
        with pytest.raises(hsb.InputError, match="cannot add an arm after construction"):
            policy.add_arm("late")
        return
    if name == "Exp4":
        return  # its experts speak of three arms
    policy.add_arm("late")
    assert policy.probabilities(0.3).shape == (4,)
    run = hsb.simulate(policy, CONTEXTS, np.column_stack([LOSSES, np.zeros(ROUNDS)]))
    if name not in {"Uniform", "BestFixed", "EpochGreedy"}:
        assert run.losses[-40:].mean() < LOSSES.mean() + 0.1
    assert policy.rounds == 40 + ROUNDS


@each_policy
def test_late_and_logged_feedback(name: str) -> None:
    policy = POLICIES[name]()
    decisions = [policy.decide(float(x)) for x in CONTEXTS[:10]]
    for decision in reversed(decisions):
        policy.learn(decision, reward=1.0)
    with pytest.raises(hsb.InputError, match="learned already"):
        policy.learn(decisions[3], reward=1.0)
    policy.learn(hsb.Decision(context=0.2, arm=2, propensity=0.25), loss=0.5)
    assert policy.rounds == 11


@each_policy
@pytest.mark.parametrize("loss", [2.0, -0.1, math.nan, "1", None])
def test_a_bad_loss_changes_nothing(name: str, loss: Any) -> None:
    policy = POLICIES[name]()
    decision = policy.decide(0.3)
    before = state(policy)
    with pytest.raises(hsb.InputError):
        policy.learn(decision, loss=loss)
    assert state(policy) == before
    policy.learn(decision, loss=1.0)


@each_policy
def test_it_says_what_is_proved_of_it(name: str) -> None:
    policy = POLICIES[name]()
    answer = policy.guarantee
    assert answer.lower().startswith("none") or (
        "feedback comes" in answer and "expectation" in answer.replace("On average", "expectation")
    )
    assert policy.regret_bound(1000) > 0
    assert policy.nbytes >= 0
    assert type(policy).__name__ in repr(policy)


@each_policy
def test_losses_on_another_scale(name: str) -> None:
    """Rewards in [10, 30] teach what losses in [0, 1] teach."""
    if name == "BestFixed":
        return
    plain = POLICIES[name]()
    scaled = type(plain).from_settings(
        plain.settings() | ({"experts": [first, halves]} if name == "Exp4" else {}),
        {"arms": 3, "loss_range": (10.0, 30.0), "seed": 1},
    )
    one = hsb.simulate(plain, CONTEXTS, LOSSES)
    other = hsb.simulate(scaled, CONTEXTS, rewards=30.0 - 20.0 * LOSSES)
    assert np.array_equal(one.arms, other.arms)
    assert np.allclose(10.0 + 20.0 * one.losses, other.losses)
