"""CSB-FTPL: the slow twin's decisions, unbiased weights, regret within its bound."""

import math
from typing import Any

import numpy as np
import pytest
from naive import leaders as naive
from support.leader_cases import (
    PLANE,
    TREE,
    bad_rounds,
    bad_shapes,
    goes_on,
    pure_decisions,
    refused,
    same_one_by_one,
    stationary,
    table,
)

import hsb
from hsb.policies.best_fixed import BestFixed
from hsb.policies.csb_ftpl import CsbFtpl
from hsb.theory.leaders import log_mappings, noise_cost

FOUR = hsb.BinaryTree(depth=2)
SETTINGS: dict[str, dict[str, Any]] = {
    "horizon": {"horizon": 500},
    "noise": {"noise": 3.0, "resamples": 9},
    "anytime": {},
    "regions": {"horizon": 500, "regions": 3},
    "regions, anytime": {"regions": 4},
}
each_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def trained(structure: Any = TREE, arms: Any = ("a", "b", "c"), rounds: int = 60, **settings: Any) -> CsbFtpl:
    policy = CsbFtpl(structure, arms=arms, **{"seed": 0, **settings})
    contexts, losses, _ = table(rounds, len(policy.arms), seed=3)
    hsb.simulate(policy, contexts, losses)
    return policy


@pytest.mark.nojit
@pytest.mark.parametrize("most", [None, 1, 2])
def test_the_slow_twin_decides_alike(most: int | None) -> None:
    policy, twin = CsbFtpl(FOUR, arms=3, noise=2.0, resamples=20, regions=most), naive.CsbFtpl(4, 3, most)
    contexts, losses, masks = table(60, 3)
    rng = np.random.default_rng(1)
    with np.errstate(over="ignore"):  # words wrap around; without compilation NumPy says so
        for t, u in enumerate(rng.random(60)):
            available = None if t % 2 else np.flatnonzero(masks[t]).tolist()
            decision = policy.decide(contexts[t], available=available, u=u)
            leaf = int(contexts[t] * 4)
            assert (decision.arm, decision.propensity) == twin.decide(leaf, available, 2.0, 20, u)
            loss = float(losses[t, decision.arm])
            policy.learn(decision, loss=loss)
            twin.learn(leaf, decision.arm, loss, decision.propensity)
    assert (policy.totals == twin.totals).all() and policy.totals.max() > 1


def decisions(policy: CsbFtpl, context: float, rounds: int, available: Any = None) -> tuple[Any, Any]:
    results = [policy.decide(context, available=available) for _ in range(rounds)]
    return np.array([policy.arms.index(d.arm) for d in results]), np.array([1 / d.propensity for d in results])


@pytest.mark.parametrize("available", [None, ["a", "c"]])
def test_frequencies_are_the_probabilities(available: Any) -> None:
    """20,000 decisions, within 4.5 standard errors."""
    policy = trained(noise=4.0)
    p = policy.probabilities(0.3, available=available)
    counts = np.bincount(decisions(policy, 0.3, 20_000, available)[0], minlength=3) / 20_000
    assert (np.abs(counts - p) <= 4.5 * np.sqrt(p * (1 - p) / 20_000)).all()
    assert (p > 0).sum() == (3 if available is None else 2)
    assert available is None or p[1] == 0


def test_with_regions_probabilities_are_counted() -> None:
    """Two counts, one of 1000 draws and one of 4000, differ by at most 4.5 standard errors; and it always counts the same draws."""
    policy = trained(regions=2, noise=4.0)
    p = policy.probabilities(0.3)
    counts = np.bincount(decisions(policy, 0.3, 4000)[0], minlength=3) / 4000
    assert (np.abs(counts - p) <= 4.5 * np.sqrt(p * (1 - p) * (1 / 4000 + 1 / 1000)) + 1e-3).all()
    assert (policy.copy().probabilities(0.3) == p).all() and (p * 1000 == np.round(p * 1000)).all()
    whole = trained(regions=8, noise=4.0)  # as many as leaves: each by itself, exactly
    assert (whole.probabilities(0.3) == trained(noise=4.0).probabilities(0.3)).all()


@pytest.mark.parametrize("most", [3, 1000])
def test_weights_are_unbiased_up_to_the_limit(most: int) -> None:
    """E[J; arm] = 1 - (1-p)^L within 4.5 standard errors of 40,000 decisions; counting one draw more would be far off."""
    policy = trained(noise=4.0, resamples=most)
    p, n = policy.probabilities(0.3), 40_000
    arms, counts = decisions(policy, 0.3, n)
    assert counts.max() <= most and (counts == np.round(counts)).all()
    for m in range(3):
        weights = counts * (arms == m)
        error = weights.std() / math.sqrt(n)
        needed = 1 - (1 - p[m]) ** most
        assert abs(weights.mean() - needed) < 4.5 * error
        assert abs(((counts + 1) * (arms == m)).mean() - needed) > 4.5 * error  # negative control
    assert counts.mean() <= 3 + 4.5 * counts.std() / math.sqrt(n)  # about M redraws, whatever the limit


# -- learning ------------------------------------------------------------------------------------------------------------


@each_setting
def test_it_learns(settings: dict[str, Any]) -> None:
    """The best mapping loses 0.2, uniform play 0.53."""
    contexts, losses = stationary(20_000)
    horizon = {"horizon": 20_000} if "horizon" in settings else {}
    policy = CsbFtpl(TREE, arms=3, seed=0, **(settings | horizon))
    run = hsb.simulate(policy, contexts, losses)
    assert run.losses[-5000:].mean() < 0.33
    assert policy.mapping.tolist() == [0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("settings", [{"horizon": 40_000}, {"horizon": 40_000, "regions": 2}, {}, {"regions": 2}])
def test_regret_is_within_its_bound(settings: dict[str, Any]) -> None:
    """Against the best mapping in hindsight, where the arms of the two halves change places after 40% of the rounds, and where nothing
    changes; there uniform play breaks the bound.
    """
    n = 40_000
    x = np.random.default_rng(0).random(n)
    for share in (0.4, 1.0):
        bad = (x < 0.5) ^ (np.arange(n) < share * n)
        losses = np.column_stack([bad, ~bad]).astype(float)
        policy = CsbFtpl(hsb.BinaryTree(depth=1), arms=2, seed=0, **settings)
        least = n * BestFixed.of(policy.structure, x, losses).average_loss
        assert least == pytest.approx(0.4 * n if share < 1 else 0)
        assert hsb.simulate(policy, x, losses).losses.sum() - least < policy.regret_bound(n)
    assert hsb.simulate(hsb.Uniform(arms=2, seed=0), x, losses).losses.sum() > policy.regret_bound(n)


def test_the_cost_of_the_noise() -> None:
    """B bounds the largest perturbed mapping, exactly so over all mappings: 20,000 draws, 4.5 standard errors."""
    rng = np.random.default_rng(0)
    for leaves, arms, most in [(1, 2, None), (3, 3, None), (4, 2, 2), (5, 3, 1), (5, 2, 3)]:
        z = rng.laplace(size=(20_000, leaves, arms))
        sums = np.array([z[:, np.arange(leaves), g].sum(axis=1) for g in naive.mappings(leaves, arms, most)]).max(axis=0)
        cost, error = noise_cost(leaves=leaves, arms=arms, regions=most), 4.5 * sums.std() / math.sqrt(20_000)
        assert sums.mean() < cost + error
        if most is None:
            assert abs(sums.mean() - cost) < error
        count = len(list(naive.mappings(leaves, arms, most)))
        assert log_mappings(leaves=leaves, arms=arms, regions=most) == pytest.approx(math.log(count), rel=1e-12)
    assert noise_cost(leaves=10**6, arms=3, regions=3) < 0.02 * noise_cost(leaves=10**6, arms=3)


def test_defaults_come_from_the_horizon() -> None:
    policy = CsbFtpl(TREE, arms=3, horizon=10_000)
    cost = 8 * 1.125  # eight leaves; the largest of three Laplace numbers is 9/8 on average
    assert policy.noise == pytest.approx(math.sqrt(2 * 3 * 10_000 / cost)) and policy.learner.noise.redraws(1) == 174
    best = 2 * math.sqrt(2 * cost * 3 * 10_000) + 30_000 / (math.e * 174)
    assert policy.regret_bound() == pytest.approx(best)
    assert policy.regret_bound() < min(CsbFtpl(TREE, arms=3, noise=policy.noise * f).regret_bound(10_000) for f in (0.8, 1.2))
    assert CsbFtpl(TREE, arms=3, noise=policy.noise).learner.noise.redraws(1) == 174  # the horizon that this noise is best for
    assert CsbFtpl(TREE, arms=3).regret_bound(10_000) == pytest.approx(
        4 * math.sqrt(cost * 30_000) + 2 * math.sqrt(30_000) / math.e
    )


# -- like every policy -----------------------------------------------------------------------------------------------------


@each_setting
@pytest.mark.parametrize("masked", [False, True])
def test_a_table_is_its_rounds(settings: dict[str, Any], masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    same_one_by_one(CsbFtpl(PLANE, arms=["a", "b", "c"], seed=0, **settings), masked=masked, monkeypatch=monkeypatch)


@each_setting
def test_decisions_are_pure_and_files_go_on(settings: dict[str, Any], tmp_path: Any) -> None:
    pure_decisions(trained(**settings), 0.3)
    goes_on(trained(**settings), tmp_path)
    goes_on(trained(hsb.Lexicographic(leaves=5), 4, **settings), tmp_path)
    goes_on(trained(6, 1, **settings), tmp_path)  # one arm, equal cells


def test_late_feedback_is_the_same_sum() -> None:
    policy = CsbFtpl(TREE, arms=2, noise=2.0, seed=0)
    asked = [policy.decide(0.3) for _ in range(20)]
    for decision in reversed(asked):
        policy.learn(decision, loss=1.0)
    for m in range(2):
        assert policy.totals[2, m] == sum(round(1 / d.propensity) for d in asked if d.arm == m)
    refused(lambda: policy.learn(asked[0], loss=1.0), "already")


def test_arms_that_come_and_go() -> None:
    policy = trained(horizon=500)
    old, totals, noise = policy.mapping, policy.totals.copy(), policy.noise
    policy.add_arm("d")
    assert (policy.totals[:, :3] == totals).all() and (policy.totals[:, 3] == totals.min(axis=1)).all()
    assert (policy.mapping == old).all() and policy.noise != noise  # a tie with the best: the older arm; the noise of four arms
    p = policy.probabilities(0.3)
    assert p[3] == pytest.approx(p.max())
    policy.remove_arm("a")
    assert policy.probabilities(0.3)[0] == 0 and "a" not in {policy.decide(0.3).arm for _ in range(50)}
    regions = trained(regions=2, noise=1.0)
    before, best = regions.totals.copy(), regions.mapping
    regions.add_arm("d")
    assert (regions.totals[:, 3] == before[np.arange(8), best]).all()  # alone it stands where the best mapping stands


def test_tiny_propensities_stay_finite() -> None:
    policy = trained(noise=1.0)
    for _ in range(3):
        policy.learn(hsb.Decision(context=0.3, arm="a", propensity=5e-324), loss=1.0)
    assert np.isfinite(policy.totals).all() and policy.probabilities(0.3)[0] == 0
    assert policy.decide(0.3).arm != "a" and policy.decide(0.3, available=["a"]).arm == "a"
    assert trained(noise=1e-100).decide(0.3).propensity == 1.0  # next to no noise: the leader, always
    assert trained(noise=1e100).probabilities(0.3) == pytest.approx([1 / 3] * 3)
    assert trained(horizon=1.7e308, rounds=5).probabilities(0.3) == pytest.approx([1 / 3] * 3)
    assert trained(noise=1.0, resamples=10**30).decide(0.3).propensity > 0


def test_bad_input() -> None:
    bad_rounds(trained(noise=1.0))
    bad_shapes(lambda structure, arms=2: CsbFtpl(structure, arms=arms))
    refused(lambda: CsbFtpl(TREE, arms=2, horizon=10, noise=1.0), "not both")
    refused(lambda: CsbFtpl(TREE, arms=2, horizon=0), "at least 1", "0")
    for noise in (0, -1.0, np.nan, np.inf, True, "1"):
        refused(lambda noise=noise: CsbFtpl(TREE, arms=2, noise=noise), "positive number", repr(noise))
    refused(lambda: CsbFtpl(TREE, arms=2, regions=0), "regions", "at least 1")
    refused(lambda: CsbFtpl(TREE, arms=2, resamples=1.5), "resamples", "1.5")
    refused(lambda: CsbFtpl(hsb.BinaryTree(depth=20), arms=2, regions=1000), "1000 regions", "fewer regions")
    refused(lambda: CsbFtpl(TREE, arms=2).regret_bound(), "Use regret_bound(horizon)")
