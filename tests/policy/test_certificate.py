"""Certificates are true in every run that the library can make, for every mapping there is; and some runs use up all that they allow.

A small tree, all mappings of its leaves, and for each the sum of (loss - estimate) against its own price: ln(1/beta) and the head's at the
present rate, and the run's excess. No expectation and no tolerance but rounding.
"""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import hsb
from hsb import theory
from hsb.learners.rates import Rates

TREE = hsb.BinaryTree(depth=2)
LEAVES = 4
ROUNDS = 700

Maker = Callable[[int], hsb.HSB]
POLICIES: dict[str, Maker] = {
    "default": lambda seed: hsb.HSB(TREE, arms=3, seed=seed),
    "horizon": lambda seed: hsb.HSB(TREE, arms=3, horizon=ROUNDS, seed=seed),
    "large rate": lambda seed: hsb.HSB(TREE, arms=3, learning_rate=0.7, seed=seed),
    "drift": lambda seed: hsb.HSB(TREE, arms=3, learning_rate=0.1, drift=0.01, seed=seed),
    "falling": lambda seed: hsb.HSB(TREE, arms=3, drift=None, seed=seed),
    "falling, drift": lambda seed: hsb.HSB(TREE, arms=3, drift=0.003, seed=seed),
    "rate, advised": lambda seed: hsb.HSB(TREE, arms=3, learning_rate=0.1, drift="auto", seed=seed),
    "floor": lambda seed: hsb.HSB(TREE, arms=3, floor=0.2, seed=seed),
    "implicit": lambda seed: hsb.HSB(TREE, arms=3, implicit=True, seed=seed),
}


class Told(NamedTuple):
    """One round that was learned, in the order of learning."""

    leaf: int
    arm: int
    loss: float
    estimate: float
    available: tuple[int, ...]
    arms: int  # how many there were


def losses_of(kind: str, p: np.ndarray, leaf: int, t: int, rng: np.random.Generator) -> np.ndarray:
    """Of every arm: against the policy, in its favour for a while, or at random."""
    if kind == "contrary":
        return (np.arange(len(p)) == p.argmax()).astype(float)
    if kind == "switching":
        return (np.arange(len(p)) != (leaf + t // 200) % len(p)).astype(float)
    return rng.random(len(p))


def run(policy: hsb.HSB, how: str, world: str, seed: int) -> list[Told]:
    """Let it play, its feedback as `how` says: at once, late, out of order, some arms not available, arms that come and go, logs of another."""
    rng = np.random.default_rng([seed, len(how), len(world)])
    told: list[Told] = []
    waiting: list[tuple[hsb.Decision, int, np.ndarray, tuple[int, ...]]] = []

    def learn(decision: hsb.Decision, leaf: int, losses: np.ndarray, available: tuple[int, ...]) -> None:
        gamma = rates_of(policy).rate / 2 if policy.learner.mixture.implicit else 0.0
        loss = float(losses[decision.arm])
        policy.learn(decision, loss=loss)
        told.append(Told(leaf, decision.arm, loss, loss / (decision.propensity + gamma), available, len(losses)))

    for t in range(ROUNDS):
        if how == "arms" and t in (150, 400):
            policy.add_arm(len(policy.arms))
        if how == "arms" and t == 300:
            policy.remove_arm(0)
        if how == "arms" and t == 500:
            policy.add_arm(0)
        M, leaf = len(policy.arms), int(rng.integers(LEAVES))
        context = (leaf + float(rng.random())) / LEAVES
        available = tuple(policy.active_arms)
        if how == "masked" and rng.random() < 0.6:
            available = tuple(sorted(rng.permutation(M)[: rng.integers(1, M + 1)].tolist()))
        mask = None if len(available) == M else available
        p = policy.probabilities(context, available=mask)
        losses = losses_of(world, p, leaf, t, rng)
        if how == "logged":  # by somebody else, who explores
            q = np.array([0.1, 0.2, 0.7]) if t % 3 else np.array([0.4, 0.3, 0.3])
            arm = int(rng.choice(3, p=q))
            decision = hsb.Decision(context=context, arm=arm, propensity=float(q[arm]))
        else:
            decision = policy.decide(context, available=mask)
        waiting.append((decision, leaf, losses, available))
        if how == "late":
            if len(waiting) > 60:
                learn(*waiting.pop(0))
        elif how == "out of order":
            while waiting and rng.random() < len(waiting) / 150:
                learn(*waiting.pop(int(rng.integers(len(waiting)))))
        elif how == "batches":
            if len(waiting) == 175:
                while waiting:
                    learn(*waiting.pop(0))
        else:
            learn(*waiting.pop())
    return told


def rates_of(policy: hsb.Policy) -> Rates:
    """At which it learns."""
    return policy.learner.mixture.rates  # type: ignore[attr-defined]


def mapping_of(policy: hsb.HSB) -> Any:
    """The mapping that a certificate is about."""
    return policy.learner.prior.mapping(policy.learner.mixture, policy.arms)  # type: ignore[union-attr]


def prices(policy: hsb.HSB, born: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every mapping, and its ln(1/beta); an arm that came later costs ln of how many there were, in every part that has it."""
    M = len(policy.arms)
    values = np.array([-math.log(M) - (math.log(m) if m >= born else 0.0) for m in range(M)])
    for mapping in product(range(M), repeat=LEAVES):
        yield mapping, -TREE.log_prior(np.array(mapping), values, None)


def left_of(told: list[Told], mapping: tuple[int, ...]) -> float:
    """The sum of (loss - estimate) over the rounds in which the mapping is awake. Before its arm was there, it has arm 0."""
    total = 0.0
    for row in told:
        arm = mapping[row.leaf] if mapping[row.leaf] < row.arms else 0
        if arm in row.available:
            total += row.loss - (row.estimate if row.arm == arm else 0.0)
    return total


def margins(policy: hsb.HSB, told: list[Told], born: int = 3, *, price: float = 1.0, excess: float = 1.0) -> list[float]:
    """For every mapping, what is allowed less what was found; with less than the whole price or excess as a control."""
    lost, more, _ = policy.learner.mixture.state.sums
    assert lost == pytest.approx(sum(row.loss for row in told))
    head = rates_of(policy).schedule.head_cost
    return [
        min((price * (cost + head)) / rates_of(policy).rate + excess * more, lost) - left_of(told, mapping)
        for mapping, cost in prices(policy, born)
    ]


RUNS = ("at once", "late", "out of order", "batches", "masked", "arms", "logged")
WORLDS = ("contrary", "switching", "random")


@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize("kind", POLICIES)
def test_it_is_true_in_every_run_for_every_mapping(how: str, kind: str) -> None:
    """63 kinds of runs, three worlds each, 81 mappings, or 625 where arms come later: 30,000 pairs."""
    for seed, world in enumerate(WORLDS):
        policy = POLICIES[kind](seed)
        told = run(policy, how, world, seed)
        assert min(margins(policy, told)) > -1e-6
        result = policy.certificate()
        assert result.total <= result.lost
        assert result.masked == (how in ("masked", "arms"))
        shown = tuple(mapping_of(policy).arm_at((leaf + 0.5) / LEAVES) for leaf in range(LEAVES))
        assert result.cost == pytest.approx(dict(prices(policy, 3))[shown] + rates_of(policy).schedule.head_cost)
        assert left_of(told, shown) <= result.total + 1e-6


@pytest.mark.parametrize("how", RUNS)
def test_all_that_it_allows_is_needed(how: str) -> None:
    """Negative control: with half of the price some run breaks it, and with half of the excess."""
    worst = {"price": math.inf, "excess": math.inf}
    for kind in ("large rate", "horizon", "default"):
        for seed, world in enumerate(WORLDS):
            policy = POLICIES[kind](seed)
            told = run(policy, how, world, seed)
            for what in worst:
                worst[what] = min(worst[what], *margins(policy, told, **{what: 0.5}))
    assert max(worst.values()) < 0.0


def test_the_old_right_hand_side_is_broken_by_late_feedback() -> None:
    """Negative control: rate loss^2 / (2 propensity) in place of loss + ln(Z)/rate is no bound where feedback is late."""
    n = 400
    policy = hsb.Exp3(arms=2, horizon=n, seed=0)
    decisions = [policy.decide(None) for _ in range(n)]
    for decision in decisions:
        policy.learn(decision, loss=float(decision.arm == 0))
    lost = sum(decision.arm == 0 for decision in decisions)  # arm 1 loses nothing
    second = sum(rates_of(policy).rate * (decision.arm == 0) / (2 * decision.propensity) for decision in decisions)
    assert math.log(2) / rates_of(policy).rate + second < 0.5 * lost
    assert policy.certificate().total == lost  # all that can be said, and true


def test_without_the_price_of_a_later_arm_it_is_untrue() -> None:
    """Negative control: an arm that comes late, when another has long been given up, and is the best from then on."""
    worst = math.inf
    for seed in range(6):
        policy = hsb.HSB(hsb.BinaryTree(depth=0), arms=2, learning_rate=0.3, seed=seed)
        excess_of_new = []
        for t in range(400):
            if t == 200:
                policy.add_arm(2)
            decision = policy.decide(0.5)
            loss = float(decision.arm != (2 if t >= 200 else 1))
            policy.learn(decision, loss=loss)
            estimate = loss / decision.propensity if decision.arm == (2 if t >= 200 else 1) else 0.0
            excess_of_new.append(loss - estimate)
        _, more, _ = policy.learner.mixture.state.sums
        worst = min(worst, math.log(3) / rates_of(policy).rate + more - sum(excess_of_new))
        assert sum(excess_of_new) <= (math.log(3) + math.log(2)) / rates_of(policy).rate + more + 1e-9
        assert policy.certificate().cost == pytest.approx(math.log(6))
    assert worst < 0.0


def test_a_referees_counterexample_holds_now() -> None:
    """An arm added under a known horizon: arm 0 is good for long, then arm 1. The rate never rises, and falls by flattening."""
    rounds, half = 100_000, 30_000
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=3, horizon=rounds, seed=0)
    first = np.ones((half, 3))
    first[:, 0] = 0.0
    before = rates_of(policy).rate
    one = hsb.simulate(policy, np.random.default_rng(0).random(half), first)
    policy.add_arm("new")
    assert rates_of(policy).rate <= before
    second = np.ones((rounds - half, 4))
    second[:, 1] = 0.0
    two = hsb.simulate(policy, np.random.default_rng(1).random(rounds - half), second)
    lost = one.losses.sum() + two.losses.sum()
    estimate = (one.losses / one.propensities)[one.arms == 1].sum()
    assert lost - estimate <= policy.certificate().total + 1e-6


def test_a_rate_from_a_horizon_never_rises_and_the_bound_is_of_the_rate_there_is(tmp_path) -> None:
    """With ten arms more the best rate would be higher: what was learned at the lower one stays, and so does the rate, in files too."""
    policy = hsb.HSB(hsb.BinaryTree(depth=3), arms=2, horizon=10_000, seed=0)
    before = rates_of(policy).rate
    policy.learn(policy.decide(0.3), loss=1.0)
    for arm in range(2, 12):
        policy.add_arm(arm)
    best = hsb.HSB(hsb.BinaryTree(depth=3), arms=12, horizon=10_000)
    assert rates_of(best).rate > before == rates_of(policy).rate == rates_of(policy).learning_rate
    later = math.log(11)  # the last arm came when there were eleven
    cost = theory.worst_cost(policy.structure, arms=12, regions=12, dearer=later)
    assert cost == pytest.approx(8 * (math.log(12) + later) + 7 * math.log(2))  # eight leaves, all of them such parts
    assert policy.regret_bound() == pytest.approx(cost / before + 12 * 10_000 * before / 2)
    single = hsb.Exp3(arms=2, horizon=10_000, seed=0)
    single.learn(single.decide(None), loss=1.0)
    single.add_arm(2)
    assert single.regret_bound() == pytest.approx(math.log(6) / rates_of(single).rate + 3 * 10_000 * rates_of(single).rate / 2)
    policy.save(tmp_path / "policy.hsb")
    for twin in (policy.copy(), hsb.load(tmp_path / "policy.hsb")):
        assert (rates_of(twin).rate, rates_of(twin).learning_rate, twin.regret_bound()) == (
            before,
            before,
            policy.regret_bound(),
        )


# -- with a probability ----------------------------------------------------------------------------------------------


def true_margin(policy: hsb.HSB, world: str, seed: int, delta: float) -> float:
    """Over all mappings, the least of what is allowed less the true regret."""
    rng = np.random.default_rng([seed, 5])
    lost, of_mapping = 0.0, np.zeros((LEAVES, 2))
    for t in range(1500):
        leaf = int(rng.integers(LEAVES))
        context = (leaf + float(rng.random())) / LEAVES
        losses = losses_of(world, policy.probabilities(context), leaf, t, rng)
        decision = policy.decide(context)
        lost += losses[decision.arm]
        of_mapping[leaf] += losses
        policy.learn(decision, loss=float(losses[decision.arm]))
    result = policy.certificate(delta)
    assert result.delta == delta and result.total <= result.lost
    shown = tuple(mapping_of(policy).arm_at((leaf + 0.5) / LEAVES) for leaf in range(LEAVES))
    costs = dict(prices(policy, 2))
    return min(
        result.total
        + 2.0 * (cost - costs[shown]) / rates_of(policy).rate
        - (lost - sum(of_mapping[leaf, m] for leaf, m in enumerate(mapping)))
        for mapping, cost in costs.items()
    )


@pytest.mark.parametrize("world", WORLDS)
def test_the_true_regret_is_below_it_with_its_probability(world: str) -> None:
    """40 runs a world at delta = 0.05: two failures would be expected at most, and none is seen; that it can fail is below."""
    makers = (
        lambda seed: hsb.HSB(TREE, arms=2, implicit=True, seed=seed),
        lambda seed: hsb.HSB(TREE, arms=2, learning_rate=0.05, implicit=True, seed=seed),
    )
    assert min(true_margin(make(seed), world, seed, 0.05) for make in makers for seed in range(20)) > 0.0


def test_the_other_certificate_is_not_about_the_true_regret() -> None:
    """Negative control: without implicit exploration, in a world against the policy, the true regret is above it now and then."""
    broken = 0
    for seed in range(40):
        policy = hsb.Exp3(arms=2, learning_rate=0.6, seed=seed)
        lost, of_arm = 0.0, np.zeros(2)
        for _ in range(300):
            losses = (np.arange(2) == policy.probabilities(None).argmax()).astype(float)
            decision = policy.decide(None)
            lost += losses[decision.arm]
            of_arm += losses
            policy.learn(decision, loss=float(losses[decision.arm]))
        _, more, _ = policy.learner.mixture.state.sums
        broken += lost - of_arm.min() > math.log(2) / rates_of(policy).rate + more
    assert broken >= 1


def test_it_needs_a_policy_made_for_it() -> None:
    policy = hsb.HSB(TREE, arms=2)
    with pytest.raises(hsb.InputError, match="implicit=True"):
        policy.certificate(delta=0.05)
    for delta in (0.0, 1.0, "x", True):
        with pytest.raises(hsb.InputError, match="delta must be"):
            hsb.HSB(TREE, arms=2, implicit=True).certificate(delta)
    with pytest.raises(hsb.InputError, match="implicit must be True or False"):
        hsb.HSB(TREE, arms=2, implicit=1)


# -- the words -------------------------------------------------------------------------------------------------------


def test_it_says_no_more_than_is_proved() -> None:
    assert str(hsb.HSB(TREE, arms=2).certificate()) == "No update has been learned yet, so there is nothing to certify."
    policy = hsb.HSB(TREE, arms=2, implicit=True, seed=0)
    run(policy, "masked", "random", 0)
    plain, sure = str(policy.certificate()), str(policy.certificate(0.05))
    assert "estimated from the same rounds" in plain and "not available" in plain and "best" not in plain
    assert "with probability at least 0.95" in sure and "estimated" not in sure
    single = hsb.Exp3(arms=2, seed=0)
    single.learn(single.decide(None), loss=1.0)
    assert "any single arm" in str(single.certificate())


def test_one_by_one_and_in_tables_it_is_the_same() -> None:
    rng = np.random.default_rng(2)
    contexts, losses = rng.random(3000), rng.random((3000, 3)).round(1)
    for settings in ({}, {"learning_rate": 0.1}):
        one, other = (hsb.HSB(hsb.BinaryTree(depth=5), arms=3, seed=1, **settings) for _ in range(2))
        hsb.simulate(one, contexts, losses)
        for context, row in zip(contexts, losses, strict=True):
            decision = other.decide(context)
            other.learn(decision, loss=float(row[decision.arm]))
        assert one.certificate() == other.certificate()
