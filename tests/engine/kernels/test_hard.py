"""Millions of rounds, and rounds made to hurt: still finite, still the exact algorithm, still learning.

The oracle is told the sum of rate * loss / propensity for each leaf and arm, over all rounds.
"""

import functools

import numpy as np
import numpy.typing as npt
import pytest
from naive import mixture as naive
from support.hard_cases import ARMS, CLOSE, Oracle, agree, check, told
from support.structure_cases import Array, Case, arbitrary, binary, each_example, lexicographic, one_of, position

import hsb

HARD = {
    "dense": binary(3),
    "compressed": binary(3, compressed=True),
    "dense, stop 0.9": binary(3, 0.9),
    "lexicographic": lexicographic(4),
    "position": position([1, 1]),
    "arbitrary": arbitrary(4),
    "one of": one_of(),
}
each_hard = pytest.mark.parametrize("case", HARD.values(), ids=HARD)


def play(case: Case, policy: hsb.HSB, oracle: Oracle, leaves: npt.NDArray[np.int64], losses: Array) -> hsb.Run:
    run = hsb.simulate(policy, np.array(case.middles)[leaves], losses)
    assert run.propensities.min() > 1e-12  # an arm that is less probable is not played in a million rounds
    oracle.learn(leaves, run.arms, (policy.learner.mixture.rates.learning_rate or 0.0) * run.losses / run.propensities)
    return run


@functools.cache
def noise(rounds: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.random(rounds), rng.random((rounds, ARMS))


def world(name: str, leaves: int, rounds: int) -> tuple[npt.NDArray[np.int64], Array]:
    """Leaves and losses of so many rounds."""
    where, uniform = noise(rounds)
    leaf = (where * leaves).astype(np.int64)
    best = (leaf * ARMS // leaves)[:, None] == np.arange(ARMS)
    losses = {
        "usual": (uniform < np.where(best, 0.2, 0.6)).astype(float),
        "one arm always wrong": np.where(np.arange(ARMS) == 1, 1.0, uniform * 0.5),
        "every loss is 1": np.ones((rounds, ARMS)),
        "tiny losses": 1e-12 * uniform,
        "mostly nothing": np.where(uniform < 0.001, 1.0, 0.0) * ~best,
    }
    return leaf, losses[name]


@pytest.mark.parametrize("name", ["usual", "one arm always wrong", "every loss is 1", "tiny losses", "mostly nothing"])
@pytest.mark.parametrize("rate", [0.002, 0.1, 10.0])
@each_hard
def test_hard_worlds(case: Case, name: str, rate: float) -> None:
    policy, oracle = case.policy(ARMS, learning_rate=rate, seed=0), Oracle(case)
    play(case, policy, oracle, *world(name, case.shape.leaves, 100_000))
    check(case, policy, oracle)


def test_ten_million_rounds() -> None:
    """Ten worlds, one after the other, a million rounds each."""
    case = binary(3)
    policy, oracle = case.policy(ARMS, learning_rate=0.01, seed=0), Oracle(case)
    names = ["usual", "one arm always wrong", "tiny losses", "every loss is 1", "mostly nothing"]
    for name in names * 2:
        leaves, losses = world(name, 8, 1_000_000)
        run = play(case, policy, oracle, leaves, losses)
        check(case, policy, oracle)
        if name in ("usual", "one arm always wrong"):  # it learned again what the world before had made it forget
            assert run.losses[-100_000:].mean() < 0.31
    assert policy.rounds == 10_000_000


@each_hard
def test_a_switch_after_a_million_rounds(case: Case) -> None:
    """The first arm was right all the time; then it is the second. The policy turns in the same rounds as the exact algorithm."""
    leaves, _ = world("usual", case.shape.leaves, 1_000_000)
    policy, oracle = case.policy(ARMS, learning_rate=0.05, seed=0), Oracle(case)
    play(case, policy, oracle, leaves, np.tile([0.0, 1.0, 1.0], (len(leaves), 1)))
    check(case, policy, oracle)
    assert all(policy.probabilities(context)[0] > 0.99 for context in case.middles)
    mind = np.zeros(case.shape.leaves, dtype=int)
    for _ in range(40):
        play(case, policy, oracle, leaves[:25_000], np.tile([1.0, 0.0, 1.0], (25_000, 1)))
        p = np.array([policy.probabilities(context) for context in case.middles])
        q = naive.final_probabilities(case.shape, oracle.penalties)
        assert np.abs(p - q).max() < CLOSE
        mind = p.argmax(axis=1)
        if (mind == 1).all():
            break
    assert (mind == 1).mean() >= 0.5
    check(case, policy, oracle)


@each_hard
def test_only_bad_arms_are_available(case: Case) -> None:
    """After a million rounds, and after 1e6 is held against each of them: among themselves they are as the oracle says."""
    leaves, _ = world("usual", case.shape.leaves, 1_000_000)
    policy, oracle = case.policy(ARMS, learning_rate=1.0, seed=0), Oracle(case)
    rng = np.random.default_rng(0)
    play(case, policy, oracle, leaves, np.tile([0.0, 0.9, 1.0], (len(leaves), 1)))
    for leaf in range(case.shape.leaves):
        for arm in (1, 2):
            told(policy, oracle, case, leaf, arm, 1e6 + float(rng.random()) - oracle.penalties[leaf, arm])
    check(case, policy, oracle)
    for t in range(50 * case.shape.leaves):
        leaf = t % case.shape.leaves
        decision = policy.decide(case.middles[leaf], available=[1, 2])
        if t % 10 == 0:
            agree(policy.probabilities(case.middles[leaf], available=[1, 2]), oracle.probabilities(leaf, [1, 2]), CLOSE)
        loss = float(decision.arm == 1)
        policy.learn(decision, loss=loss)
        oracle.learn_masked(leaf, int(decision.arm), loss / decision.propensity, [1, 2])
    check(case, policy, oracle)
    assert all(policy.probabilities(context, available=[1, 2])[2] > 0.8 for context in case.middles)
    assert all(policy.probabilities(context)[0] > 1 - 1e-12 for context in case.middles)


@each_example
@pytest.mark.parametrize("step", [100.0, 1000.0])
def test_nothing_is_lost(case: Case, step: float) -> None:
    """Log-weights go to -1e5, one arm after the other, and come back as the others follow; in fast steps and in huge ones.

    The tolerance: 1e5 is known to 1e5 * 2^-53 = 1e-11, and up to 3000 such errors add up.
    """
    policy, oracle = case.policy(ARMS, learning_rate=1.0), Oracle(case)
    rng = np.random.default_rng(0)
    leaves = [0, case.shape.leaves - 1]
    for leaf in leaves:  # something to remember
        for arm in range(ARMS):
            told(policy, oracle, case, leaf, arm, float(rng.random()))
    remembered = [policy.probabilities(case.middles[leaf]) for leaf in leaves]
    for arm in range(ARMS):
        for n in range(round(1e5 / step)):
            for leaf in leaves:
                told(policy, oracle, case, leaf, arm, step)
            if n == 7:
                check(case, policy, oracle)
        check(case, policy, oracle)
    for leaf, p in zip(leaves, remembered, strict=True):
        assert np.abs(policy.probabilities(case.middles[leaf]) - p).max() < CLOSE


@each_example
@pytest.mark.parametrize(("propensity", "tolerance"), [(1e-3, 1e-9), (1e-6, 1e-7), (1e-9, 1e-4), (1e-12, 0.1)])
def test_tiny_propensities(case: Case, propensity: float, tolerance: float) -> None:
    """Steps of 1 / propensity and ordinary ones in turn. A logarithm of 1e12 is known to 1e-4 only: the tolerance grows with them."""
    policy, oracle = case.policy(ARMS, learning_rate=1.0), Oracle(case)
    rng = np.random.default_rng(0)
    for _ in range(100):
        leaf, arm = int(rng.integers(case.shape.leaves)), int(rng.integers(ARMS))
        told(policy, oracle, case, leaf, arm, rng.random() / propensity)
        told(policy, oracle, case, leaf, (arm + 1) % ARMS, rng.random())
    check(case, policy, oracle, tolerance)


@pytest.mark.nojit
@each_example
@pytest.mark.parametrize("tiny", [1e-6, 1e-9, 1e-12, 1e-300])
def test_propensities_of_almost_nothing(case: Case, tiny: float) -> None:
    """Finite and adding to 1, masked or not, and what comes later is still learned."""
    policy = case.policy(ARMS, learning_rate=10.0)
    rng = np.random.default_rng(0)
    for t in range(20):
        leaf, arm = int(rng.integers(case.shape.leaves)), int(rng.integers(ARMS))
        available = None if t % 2 else sorted({arm, (arm + 1) % ARMS})
        propensity = float(rng.choice([tiny, tiny * 1.7, 1.0]))
        policy.learn(hsb.Decision(context=case.middles[leaf], arm=arm, propensity=propensity, available=available), loss=1.0)
        for context in case.middles[:: max(1, len(case.middles) // 3)]:
            for given in (None, [0, 1], [2]):
                p = policy.probabilities(context, available=given)
                assert np.isfinite(p).all() and abs(p.sum() - 1) < 1e-12
                assert 0.0 < policy.decide(context, available=given, u=float(rng.random())).propensity <= 1.0
    for _ in range(20):
        for arm in (0, 1):
            for context in case.middles[:2]:
                policy.learn(hsb.Decision(context=context, arm=arm, propensity=tiny), loss=1.0)
    assert all(policy.probabilities(context)[2] > 1 - 1e-12 for context in case.middles[:2])
