"""Proved of arms that come with each request (docs/proofs.md, 8b): groups are arms, and the loss of a group is that of its representative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hsb
from hsb.engine.kernels.words.state import DRIFT
from hsb.explain.pieces import log_shares
from hsb.features import Request
from hsb.learners.feature_state import CONSTANT
from hsb.theory.schedule import BaselineShift

KINDS = ["x", "y"]  # of arms; arms of another kind are the first group
ROUNDS = 2600  # the rate falls once, after 2048


def open_policy(**settings: Any) -> hsb.HSB:
    return hsb.HSB(**{"arms": hsb.Open(group="kind", groups=KINDS), "seed": 0} | settings)


def request(rng: np.random.Generator, arms: int, kinds: Any = ("x", "y", "z")) -> Request:
    """Arms of the kinds, in turn; each with a number that means nothing."""
    features = {f"a{k}": {"kind": kinds[k % len(kinds)], "size": float(rng.normal())} for k in range(arms)}
    return Request({"side": bool(rng.random() < 0.5), "place": float(rng.random())}, features)


def learned(rounds: int, level: float, seed: int = 0, arms: int = 7, **settings: Any) -> tuple[hsb.HSB, np.random.Generator]:
    """A policy that lost about `level` in each of some rounds."""
    rng, policy = np.random.default_rng(seed), open_policy(**settings)
    for _ in range(rounds):
        policy.learn(policy.decide(request(rng, arms)), loss=float(rng.random() < level))
    return policy, rng


def representatives(policy: hsb.HSB, asked: Request) -> list[str]:
    """The representative of each group; the learner chooses them before anything is drawn."""
    view = policy.learner.read(asked)[0]
    view.represent(None)
    return [view.names[k] for k in view.best]


def of_groups(policy: hsb.HSB, asked: Request) -> np.ndarray:
    """The probabilities of the groups, before anything is uniform."""
    view, p = policy.learner.read(asked)[0], np.empty(3)
    policy.learner.inner.mixture.state.fill(view.key, view.represent(None), p)
    return p


def draws(policy: hsb.HSB, asked: Request) -> dict[str, float]:
    """For each arm with any probability, a number u that draws it; also for groups of a probability of 10^-7."""
    p, share, uniform = of_groups(policy, asked), policy.learner.group_share, policy.floor
    middles = share + (1.0 - share) * (np.cumsum(p) - 0.5 * p)
    candidates = np.concatenate([np.linspace(0.0, 1.0, 1000, endpoint=False), uniform + (1.0 - uniform) * middles])
    found: dict[str, float] = {}
    for u in candidates[candidates < 1.0].tolist():
        found.setdefault(policy.choose(asked, u=u)[0], u)
    return found


def estimates(policy: hsb.HSB, asked: Request, u: float, losses: dict[str, float]) -> tuple[str, np.ndarray]:
    """The arm that u draws, and the estimate of each group's loss that the mixture learned.

    A group's weight is multiplied by e^-x, with x the rate times the estimate; then a round with a loss shares some weight.
    """
    after, state = policy.copy(), policy.learner.inner.mixture.state
    decision = after.decide(asked, u=u)
    after.learn(decision, loss=losses[decision.arm])

    def shares(of: hsb.HSB) -> np.ndarray:
        single = of.learner.inner.mixture.state.members[CONSTANT + 1]
        return np.exp(log_shares(single, single.kind.blocks(single))[0])

    before, now, shared = shares(policy), shares(after), state.laid.F[DRIFT]
    if now.tolist() != before.tolist():
        now = (now - shared / 3) / (1.0 - shared)
    moved = np.log(before / now)
    return decision.arm, (moved - np.median(moved)) / policy.learner.inner.mixture.rates.rate


# -- estimates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("floor", "level", "rounds"), [(0.0, 0.5, 40), (0.3, 0.5, 40), (1.0, 0.5, 10), (0.0, 0.9, 600), (0.2, 0.9, 600)]
)
def test_the_estimate_of_a_group_is_unbiased_whoever_is_drawn(floor: float, level: float, rounds: int) -> None:
    """By enumeration of all arms: with a floor also those that represent nobody, and with a shift (losses near 1) the loss less the shift."""
    policy, rng = learned(rounds, level, floor=floor)
    shift = policy.learner.inner.baseline.shift
    assert (shift > 0.0) == (level == 0.9)
    asked = request(rng, 7)
    best, p = representatives(policy, asked), dict(zip(asked.arms, policy.probabilities(asked), strict=True))
    losses = {arm: float(rng.random()) * min(1.0, 20.0 * p[arm] or 1.0) for arm in asked.arms}  # e^-x must not vanish
    drawn = draws(policy, asked)
    assert set(drawn) == (set(asked.arms) if floor else set(best))
    mean = np.zeros(3)
    for arm, u in drawn.items():
        played, estimate = estimates(policy, asked, u, losses)
        assert played == arm
        if arm in best:
            group = best.index(arm)
            assert estimate[group] == pytest.approx((losses[arm] - shift) / p[arm], rel=1e-5, abs=1e-6)
            assert np.delete(estimate, group) == pytest.approx(0.0, abs=1e-6)
        else:
            assert estimate == pytest.approx(0.0, abs=1e-6)
        mean += p[arm] * estimate
    assert mean == pytest.approx([losses[arm] - shift for arm in best], rel=1e-5, abs=1e-6)


def test_an_arm_that_represents_nobody_counted_for_its_group_would_bias_the_estimate() -> None:
    """The negative control: divided by its own propensity, or by that of all arms of its group."""
    policy, rng = learned(40, 0.5, floor=0.3)
    asked = request(rng, 9)
    best = representatives(policy, asked)
    losses = {arm: float(arm not in best) for arm in asked.arms}  # representatives are the best of their groups
    p = dict(zip(asked.arms, policy.probabilities(asked), strict=True))
    for group, arm in enumerate(best):
        of_group = [arm for arm in asked.arms if policy.learner.arms.group_of(arm, asked.arms[arm]) == group]
        whole = sum(p[arm] for arm in of_group)
        assert losses[arm] == 0.0 and len(of_group) == 3
        assert sum(p[arm] * losses[arm] / p[arm] for arm in of_group) == 2.0
        assert sum(p[arm] * losses[arm] / whole for arm in of_group) > 0.05


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("arms", [3, 60])
def test_a_representative_is_played_often_enough_for_the_shift(floor: float, arms: int) -> None:
    """At least rate * shift, so no exponent is above 1. A share that is uniform over 60 arms would not do (the control)."""
    policy, rng = learned(600, 0.95, arms=arms, floor=floor)
    inner = policy.learner.inner
    needed = inner.baseline.shift * inner.mixture.rates.rate
    assert needed > 0.0 and inner.uniform_share == pytest.approx(3 * needed)
    for _ in range(20):
        asked = request(rng, arms)
        p = dict(zip(asked.arms, policy.probabilities(asked), strict=True))
        assert min(p[arm] for arm in representatives(policy, asked)) >= needed * (1.0 - 1e-9)
        assert sum(p.values()) == pytest.approx(1.0)
    if arms == 60:
        assert inner.uniform_share / arms < needed


def cost_of_a_round(rng: np.random.Generator, step: float, b: float, floor: float) -> float:
    """The expectation of l - b + ln(Z) / rate, by enumeration: one to three groups, more arms, losses and weights at random or extreme."""
    groups, rate = 3, step / 3
    arms = groups + int(rng.integers(0, 30))
    p = 0.999 * rng.dirichlet(np.full(groups, rng.choice([0.05, 1.0]))) + 0.001 / groups
    losses = [rng.random(arms), (rng.random(arms) < rng.random()).astype(float), np.ones(arms)][int(rng.integers(3))]
    if rng.random() < 0.5:
        losses[:groups] = rng.random() * losses[:groups]
    share = min(1.0, step * b / (1.0 - floor))
    played = np.full(arms, floor / arms)
    played[:groups] += (1.0 - floor) * ((1.0 - share) * p + share / groups)
    x = np.zeros(arms)
    x[:groups] = rate * (losses[:groups] - b) / played[:groups]
    assert x.min() >= -1.0 - 1e-9
    Z = np.ones(arms)
    Z[:groups] = 1.0 + p * np.expm1(-x[:groups])
    return float(played @ (losses - b + np.log(Z) / rate))


@pytest.mark.parametrize("floor", [0.0, 0.05, 0.5])
def test_no_round_costs_more_than_the_bound_charges(floor: float) -> None:
    """Both uniform shares add up. Half of what is charged would not do (the control)."""
    rng, largest = np.random.default_rng(0), 0.0
    shift = BaselineShift(0.5, 0.05, 256, beside=True)
    for _ in range(4000):
        step = float(10.0 ** rng.uniform(-3.0, 0.0))
        b = min(0.5, 0.05 / step) * float(rng.choice([0.0, 0.5, 1.0]))
        cost, charged = cost_of_a_round(rng, step, b, floor), floor + shift.round_cost(step, floor)
        assert cost <= charged + 1e-9
        largest = max(largest, cost / charged)
    assert largest > 0.5
    bounds = [open_policy(floor=each).regret_bound(1e6) for each in (floor, 0.0)]
    assert bounds[0] >= min(bounds[1] + floor * 1e6, 1e6)


# -- every run -----------------------------------------------------------------------------------------------------------


def losses_of(world: str, t: int, asked: Request, p: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """Against the likeliest arm; a rule on the context that names kinds, mostly lost; or one on the kind that features of arms hide."""
    names = list(asked.arms)
    if world == "contrary":
        return {arm: float(arm == names[int(p.argmax())]) for arm in names}
    best = ("x" if asked.context["side"] else "y") if world == "rule" else ("x" if t < ROUNDS // 2 else "y")
    return {arm: float(rng.random() < (0.75 if asked.arms[arm]["kind"] == best else 0.97)) for arm in names}


@pytest.mark.parametrize("floor", [0.0, 0.1])
@pytest.mark.parametrize("world", ["contrary", "rule", "turn"])
def test_every_group_and_every_rule_on_a_flag_obeys_the_inequality_in_every_run(world: str, floor: float) -> None:
    """(2), by estimates: groups sleep in some rounds, and these do not count for rules that name them."""
    policy, rng = open_policy(floor=floor), np.random.default_rng(1)
    rules = [(first, second) for first in range(3) for second in range(3)]  # the group without the flag, and with it
    sums, lost, of_rules, worst = np.zeros(len(rules)), 0.0, np.zeros(len(rules)), np.zeros(len(rules))
    for t in range(ROUNDS):
        kinds = ("x", "y", "z")[: 3 if t % 4 else 2]
        asked = request(rng, 8, kinds)
        view = policy.learner.read(asked)[0]
        view.represent(None)
        best, names = view.best.tolist(), view.names
        losses = losses_of(world, t, asked, policy.probabilities(asked), rng)
        decision = policy.decide(asked)
        b, loss = policy.learner.inner.baseline.shift, losses[decision.arm]
        for k, rule in enumerate(rules):
            named = best[rule[asked.context["side"]]]
            if named < len(names):
                estimate = (loss - b) / decision.propensity if names[named] == decision.arm else 0.0
                sums[k] += (loss - b) - estimate
                of_rules[k] += losses[names[named]]
                worst[k] += loss
        lost += loss
        policy.learn(decision, loss=loss)
    certificate = policy.certificate()
    assert sums.max() <= certificate.excess + certificate.cost / certificate.rate + 1e-6
    assert sums.max() > 0.0, "the test needs a rule that is better than what was played"
    bound = policy.regret_bound(ROUNDS)
    assert (worst - of_rules).max() <= bound


def test_regret_is_below_the_bound_where_the_models_are_misled_and_theirs_is_not() -> None:
    """The control is the models' advice alone: in these rounds it loses more than the bound allows.

    Whatever the models say is wrong: the advised arm loses, whichever it is, and the others do not.
    """
    rounds, policy = 6000, open_policy()
    lost, advised, fixed = 0.0, 0.0, np.zeros(3)
    for t in range(rounds):
        asked = Request({}, {f"{kind}{t}": {"kind": kind} for kind in ("z", "x", "y")})
        view = policy.learner.read(asked)[0]
        view.represent(None)
        advice = int(view.key[0])
        losses = [float(group == advice) for group in range(3)]
        decision = policy.decide(asked)
        loss = losses[view.groups[list(asked.arms).index(decision.arm)]]
        lost, advised, fixed = lost + loss, advised + losses[advice], fixed + losses
        policy.learn(decision, loss=loss)
    bound = policy.regret_bound(rounds)
    assert lost - fixed.min() <= bound < rounds
    assert advised - fixed.min() > bound, "the control"
