"""A floor under every available arm, in every policy: propensities exact, in single rounds, tables and replays; and what it costs."""

import copy
import pickle

import numpy as np
import pytest

import hsb

TREE = hsb.BinaryTree(depth=3)
POLICIES = {
    "HSB": lambda **common: hsb.HSB(TREE, **common),
    "HSB, constant": lambda **common: hsb.HSB(TREE, learning_rate=0.3, **common),
    "HSB, intervals": lambda **common: hsb.HSB(hsb.Lexicographic(leaves=5), learning_rate=0.3, **common),
    "Exp3": hsb.Exp3,
    "SExp3": lambda **common: hsb.SExp3(8, **common),
    "Exp4": lambda **common: hsb.Exp4([lambda x: 0, lambda x: int(np.ravel(x)[0] > 0.5)], **common),
    "MixtureOfMappings": lambda **common: hsb.MixtureOfMappings(2, **common),
    "CsbFtpl": lambda **common: hsb.CsbFtpl(4, **common),
    "EpochGreedy": lambda **common: hsb.EpochGreedy(4, **common),
    "BestFixed": lambda **common: hsb.BestFixed(4, mapping=[0, 1, 2, 0], **common),
    "TreeThompson": lambda **common: hsb.TreeThompson(TREE, **common),
    "LinUCB": lambda **common: hsb.LinUCB(hsb.Box.unit(1), **common),
    "Uniform": hsb.Uniform,
}


class Own(hsb.Policy, listed=False):
    """Always the first arm."""

    def distribution(self, context):
        return np.arange(len(self.arms)) == 0

    def update(self, context, index, loss, propensity):
        return


POLICIES["own"] = Own
each = pytest.mark.parametrize("name", POLICIES)


def sample(rounds: int = 400):
    rng = np.random.default_rng(0)
    contexts = rng.random(rounds)
    return contexts, (rng.random((rounds, 3)) < np.where(np.arange(3) == (contexts * 3).astype(int)[:, None], 0.2, 0.8)).astype(
        float
    )


@each
@pytest.mark.parametrize("masked", [False, True])
def test_no_available_arm_is_below_it(name: str, masked: bool) -> None:
    policy = POLICIES[name](arms=3, floor=0.3, seed=0)
    contexts, losses = sample(150)
    for t, context in enumerate(contexts):
        available = [[0, 1], [1, 2], [0, 1, 2]][t % 3] if masked else None
        p = policy.probabilities(context, available=available)
        n = len(available) if available else 3
        assert p.sum() == pytest.approx(1.0) and np.count_nonzero(p) == n
        assert p[p > 0].min() >= 0.3 / n - 1e-12
        decision = policy.decide(context, available=available)
        if name != "CsbFtpl":  # whose propensities are estimates
            assert decision.propensity == pytest.approx(p[decision.arm])
        policy.learn(decision, loss=losses[t, decision.arm])


@each
def test_a_decision_is_drawn_with_its_probability(name: str) -> None:
    """Over a grid of u the share of each arm is its probability; the tolerance is the grid's."""
    policy = POLICIES[name](arms=3, floor=0.25, seed=0)
    contexts, losses = sample(60)
    hsb.simulate(policy, contexts, losses)
    n = 2000
    arms = np.array([policy.decide(0.4, u=(k + 0.5) / n).arm for k in range(n)])
    p = policy.probabilities(0.4)
    if name != "CsbFtpl":
        np.testing.assert_allclose(
            np.bincount(arms, minlength=3) / n, p, atol=0.01 if name == "TreeThompson" else 3 / n
        )  # sampled
    assert np.bincount(arms, minlength=3).min() >= n * 0.25 / 3 - 3


@each
def test_a_table_gives_what_its_rounds_give(name: str) -> None:
    contexts, losses = sample()
    one, other = (POLICIES[name](arms=3, floor=0.1, seed=3) for _ in range(2))
    run = hsb.simulate(one, contexts, losses)
    for t, context in enumerate(contexts):
        decision = other.decide(float(context))
        assert (decision.arm, decision.propensity) == (run.arms[t], run.propensities[t]), t
        other.learn(decision, loss=losses[t, decision.arm])
    assert run.propensities.min() >= 0.1 / 3 - 1e-12


@each
def test_it_is_kept_in_files_and_copies(name: str, tmp_path) -> None:
    policy = POLICIES[name](arms=3, floor=0.2, seed=0)
    assert policy.copy().floor == 0.2
    for twin in (policy.copy(), copy.deepcopy(policy)) + (
        () if name in ("own", "Exp4") else (pickle.loads(pickle.dumps(policy)),)
    ):
        np.testing.assert_array_equal(twin.probabilities(0.3), policy.probabilities(0.3))
        assert [twin.decide(0.3, u=u).arm for u in (0.1, 0.5, 0.9)] == [policy.decide(0.3, u=u).arm for u in (0.1, 0.5, 0.9)]
        assert twin.decide(0.3).available is None
    if name == "own":
        return
    policy.save(tmp_path / "policy.hsb")
    again = {"experts": policy.experts} if name == "Exp4" else {}
    twin = hsb.load(tmp_path / "policy.hsb", **again)
    assert twin.floor == 0.2
    np.testing.assert_array_equal(twin.probabilities(0.3), policy.probabilities(0.3))


def test_it_costs_no_more_than_its_share() -> None:
    """20,000 rounds of VI-A: with a floor of 0.05, at most 0.05 (uniform - best) more, plus two standard errors of the two runs."""
    problem = hsb.problems.Stationary()
    lost = {}
    for floor in (0.0, 0.05):
        runs = [problem.play(hsb.HSB(problem.structure(6), arms=3, floor=floor, seed=seed), 20_000, seed) for seed in range(4)]
        lost[floor] = np.array([run.average_loss for run in runs])
    difference = lost[0.05] - lost[0.0]
    assert 0.0 < difference.mean() < 0.05 * 0.35 + 2 * difference.std(ddof=1) / 2


def test_it_is_part_of_every_bound() -> None:
    """Against one that sees the probabilities, uniform play in a third of the rounds breaks the bound without a floor; with it, it holds."""
    rounds, regrets = 3000, []
    plain, floored = (hsb.HSB(TREE, arms=2, learning_rate=0.05, floor=floor) for floor in (0.0, 0.5))
    assert floored.regret_bound(rounds) == pytest.approx(
        plain.regret_bound(rounds) + 0.5 * rounds + 0.05 * rounds  # twice the second term
    )
    for seed in range(3):
        policy = hsb.HSB(TREE, arms=2, learning_rate=0.05, floor=0.5, seed=seed)
        contexts = np.random.default_rng(seed).random(rounds)
        losses = np.column_stack([np.zeros(rounds), np.ones(rounds)])
        regrets.append(hsb.simulate(policy, contexts, losses).losses.sum())
    assert plain.regret_bound(rounds, regions=1) < min(regrets) <= max(regrets) < floored.regret_bound(rounds, regions=1)
    assert hsb.HSB(TREE, arms=2, floor=1.0).regret_bound(1000) == 1000
    for name in ("CsbFtpl", "EpochGreedy"):
        assert (
            POLICIES[name](arms=3).regret_bound(10**6) < 10**6
            and POLICIES[name](arms=3, floor=0.1).regret_bound(10**6) == np.inf
        )


@pytest.mark.parametrize("floor", [-0.1, 1.1, "x", True, None, float("nan")])
def test_a_floor_is_a_share(floor) -> None:
    with pytest.raises(hsb.InputError, match="floor must be in"):
        hsb.HSB(TREE, arms=2, floor=floor)


def test_a_whole_floor_is_uniform_play() -> None:
    policy = hsb.HSB(TREE, arms=4, floor=1.0, seed=0)
    contexts, losses = np.random.default_rng(0).random(200), np.ones((200, 4))
    assert set(hsb.simulate(policy, contexts, losses).propensities) == {0.25}
