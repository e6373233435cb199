"""Losses near 1: the mixture takes a shift off them, plays a small share uniformly for it, and says so."""

import numpy as np
import pytest

import hsb
from hsb.learners.baseline import FROM, MOST
from hsb.policy.floor import share_of

ARMS = ["a", "b", "c"]


def clicked(rounds: int, chance: float, *, seed: int = 0) -> tuple[hsb.HSB, list[hsb.Decision]]:
    """A policy after so many visitors of whom a share clicks, and a decision that it made in each sixteenth round and has not learned."""
    rng, policy, late = np.random.default_rng(seed), hsb.HSB(arms=ARMS, seed=seed), []
    for t in range(rounds):
        decision = policy.decide({"country": "FRDE"[2 * int(rng.integers(2)) :][:2]})
        if t % 16 == 15:
            late.append(decision)
        else:
            policy.learn(decision, reward=int(rng.random() < chance))
    return policy, late


def shift(policy: hsb.HSB) -> float:
    return policy.learner.baseline.shift


def lost(policy: hsb.HSB) -> float:
    return float(policy.learner.mixture.state.sums[0]) / policy.rounds


@pytest.mark.parametrize("chance", [0.02, 0.2, 0.4])
def test_the_shift_is_of_the_average_loss_as_far_as_uniform_play_allows(chance: float) -> None:
    policy, _ = clicked(2 * FROM, chance)
    step = len(ARMS) * policy.learner.mixture.rates.rate
    assert 0.0 < shift(policy) <= 1.0
    assert share_of(policy) == pytest.approx(step * shift(policy)) and share_of(policy) <= MOST + 1e-15
    wanted = 2.0 * lost(policy) - 1.0
    assert shift(policy) <= wanted + 0.1  # rounds since it was set
    assert shift(policy) == pytest.approx(min(wanted, MOST / step), abs=0.1)
    assert policy.probabilities({"country": "FR"}).min() >= share_of(policy) / len(ARMS) - 1e-15


def test_losses_of_no_great_size_are_learned_as_they_are() -> None:
    policy, _ = clicked(2 * FROM, 0.7)
    assert shift(policy) == share_of(policy) == 0.0 and not policy.certificate().shifted
    assert policy.probabilities({"country": "FR"}).min() < MOST / len(ARMS) / 2


def test_before_there_is_an_average_nothing_is_taken_off() -> None:
    policy, _ = clicked(FROM // 2, 0.1)
    assert shift(policy) == 0.0


def test_late_decisions_of_before_and_logged_ones_are_learned_without() -> None:
    """The same lesson as a decision of the log, which was not drawn with the share that a shift needs."""
    policy, late = clicked(2 * FROM, 0.1)
    assert shift(policy) > 0.0

    def after(decision: hsb.Decision) -> np.ndarray:
        twin = policy.copy()
        twin.learn(decision, reward=0)
        members = twin.learner.mixture.state.members[2:]  # single arms and rules: the head knows what was advised
        return np.concatenate([F for F, _ in members])

    def logged(decision: hsb.Decision) -> hsb.Decision:
        return hsb.Decision(context=decision.context, arm=decision.arm, propensity=decision.propensity)

    first, last = late[0], policy.decide({"country": "FR"})
    assert np.array_equal(after(first), after(logged(first)))
    assert not np.array_equal(after(last), after(logged(last)))  # negative control: one of now is learned with it
    assert shift(policy) > 0.0


def test_a_file_and_a_copy_lean_alike(tmp_path) -> None:
    policy, late = clicked(2 * FROM, 0.1)
    policy.save(tmp_path / "p.hsb")
    for twin in (hsb.load(tmp_path / "p.hsb"), policy.copy()):
        assert (shift(twin), share_of(twin)) == (shift(policy), share_of(policy)) and twin.certificate() == policy.certificate()
        twin.learn(late[0], reward=0)
        twin.learn(twin.decide({"country": "DE"}), reward=1)
        assert shift(twin) == shift(policy)
    text = str(policy.certificate())
    assert policy.certificate().shifted and text


def test_a_floor_above_the_share_stays() -> None:
    policy = hsb.HSB(arms=ARMS, floor=0.2, seed=0)
    for _ in range(FROM + 1):
        policy.learn(policy.decide({"x": 1.0}), reward=0)
    assert shift(policy) > 0.0 and share_of(policy) == 0.2
    assert policy.probabilities({"x": 1.0}).min() >= 0.2 / 3 - 1e-15


def test_implicit_exploration_does_without() -> None:
    policy = hsb.HSB(arms=ARMS, implicit=True, seed=0)
    for _ in range(FROM + 1):
        policy.learn(policy.decide({"x": 1.0}), reward=0)
    assert shift(policy) == 0.0
