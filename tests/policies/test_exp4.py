"""EXP4: equal to its slow twin on every kind of advice, in bulk as one by one, in hard rounds, and under its bound."""

import functools
import math
from typing import Any

import numpy as np
import pytest
from naive.experts import Array, one_hot
from naive.experts import Exp4 as Naive
from support.exp4_cases import ARMS, KINDS, TREE, contexts, made, off, some_arms, state
from support.refusals import refused

import hsb
from hsb.policies.exp4 import Exp4
from hsb.policy import tables
from hsb.policy.learner import LoggedRows
from hsb.structures.mappings import Mappings, mappings

EXACT = 1e-11


def advice(policy: Exp4, context: Any) -> Array:
    """What the twin is told: a distribution for each expert."""
    if isinstance(policy.experts, Mappings):
        return one_hot(policy.experts.table[:, TREE.leaf_of(context)].tolist(), 3)
    given = context if isinstance(policy.experts, int) else [expert(context) for expert in policy.experts]
    return np.array([one_hot([ARMS.index(a)], 3)[0] if isinstance(a, str) else np.asarray(a, dtype=float) for a in given])


def gap(policy: Exp4, kind: str, rounds: int, masking: float, twin: Naive, *, told: float = 1.0) -> float:
    """Largest difference in p while both learn the same rounds, as from the log of a policy that explores."""
    rng = np.random.default_rng(rounds)
    worst = 0.0
    for t, context in enumerate(contexts(kind, rounds, rng)):
        available = some_arms(rng, 3, masking)
        labels = None if available is None else [ARMS[m] for m in available]
        p, given = policy.probabilities(context, available=labels), advice(policy, context)
        worst = max(worst, off(p, twin.probabilities(given, available)))
        arm = int(rng.choice(range(3) if available is None else available))
        propensity, loss = float(rng.uniform(0.05, 1.0)), float(rng.choice([0.0, 1.0, rng.random(), 1e-9]))
        if t == rounds // 2:
            propensity, loss = 1e-3, 1.0  # a step of 400
        policy.learn(hsb.Decision(context=context, arm=ARMS[arm], propensity=propensity, available=labels), loss=told * loss)
        twin.learn(given, arm, 0.4 * loss / propensity, available)
    return max(worst, off(policy.weights, twin.weights))


def twin_of(policy: Exp4) -> Naive:
    return Naive(policy.prior)


@pytest.mark.nojit
@pytest.mark.parametrize("masking", [0.0, 0.6])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_slow_twin(kind, masking):
    policy = made(kind)
    assert gap(policy, kind, 60, masking, twin_of(policy)) < EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_with_any_prior(kind):
    count = len(made(kind).weights)
    prior = np.random.default_rng(1).random(count) ** 20 + 1e-30
    policy = made(kind, prior=prior)
    assert policy.prior.sum() == pytest.approx(1.0) and np.allclose(policy.weights, prior / prior.sum(), rtol=1e-13)
    assert gap(policy, kind, 80, 0.3, Naive(prior)) < EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_noticed(kind):
    """Negative control: another prior, a loss changed by a millionth, sleep ignored."""
    policy = made(kind)
    skewed = policy.prior * np.linspace(1, 1.001, len(policy.prior))
    assert gap(made(kind), kind, 60, 0.3, Naive(skewed)) > 1e-5
    assert gap(made(kind), kind, 60, 0.3, twin_of(policy), told=1 - 1e-6) > 1e-8

    class NobodySleeps(Naive):
        def learn(self, advice: Array, arm: int, x: float, available: Any = None) -> None:
            super().learn(advice, arm, x)

    assert gap(made(kind), kind, 60, 0.6, NobodySleeps(policy.prior)) > 1e-3


def test_constant_experts_are_exp3_also_with_sleep():
    one = Exp4([lambda _, m=m: m for m in range(4)], arms=4, learning_rate=0.3)
    other = hsb.Exp3(arms=4, learning_rate=0.3)
    rng = np.random.default_rng(0)
    for _ in range(300):
        available = some_arms(rng, 4, 0.5) or range(4)
        assert (
            np.abs(one.probabilities(None, available=available) - other.probabilities(None, available=available)).max() < 1e-12
        )
        decision = hsb.Decision(context=None, arm=int(rng.choice(available)), propensity=0.4, available=available)
        loss = float(rng.random())
        one.learn(decision, loss=loss)
        other.learn(decision, loss=loss)


def test_every_mapping_is_s_exp3():
    one = Exp4(mappings(TREE, arms=3, regions=4), arms=3, learning_rate=0.5)
    other = hsb.SExp3(TREE, arms=3, learning_rate=0.5)
    assert len(one.weights) == 3**4
    rng = np.random.default_rng(0)
    for context in rng.random(200):
        assert np.abs(one.probabilities(context) - other.probabilities(context)).max() < 1e-12
        decision = hsb.Decision(context=context, arm=int(rng.integers(3)), propensity=float(rng.uniform(0.1, 1)))
        one.learn(decision, loss=1.0)
        other.learn(decision, loss=1.0)


# -- rates, bounds ---------------------------------------------------------------------------------------------------


def test_rates_and_bounds():
    policy = Exp4(50, arms=3, horizon=100_000)
    assert policy.learning_rate == hsb.theory.exp4_rate(arms=3, horizon=100_000, experts=50)
    assert policy.regret_bound() == pytest.approx(hsb.theory.exp4_bound(arms=3, horizon=100_000, experts=50))
    assert policy.regret_bound(50_000) == pytest.approx(policy.regret_bound() * 0.75)
    prior = [1, 2, 5]
    weighed = Exp4(3, arms=4, horizon=1000, prior=prior)
    assert weighed.learning_rate == pytest.approx(hsb.theory.mixture_rate(math.log(8), arms=4, horizon=1000))
    assert weighed.regret_bound() == pytest.approx(math.sqrt(2 * math.log(8) * 4 * 1000))
    assert Exp4(3, arms=4, learning_rate=0.1).regret_bound(100) == pytest.approx(math.log(3) / 0.1 + 4 * 100 * 0.1 / 2)
    falling = hsb.theory.schedule.Falling(math.log(3), arms=4)
    assert Exp4(3, arms=4).regret_bound(100) == falling.bound(math.log(3), arms=4, horizon=100)
    assert Exp4(1, arms=4, horizon=100).learning_rate > 0  # one expert: nothing to learn, and no harm
    refused(lambda: Exp4(3, arms=4, learning_rate=0.1).regret_bound(), ["the number of rounds", "regret_bound(horizon)"])


def test_the_falling_rate():
    """At any time the weights are those of the present rate for all rounds so far."""
    policy, given = Exp4(4, arms=2), []
    for t in range(1, 30):
        given.append([0, 1, t % 2, (t // 3) % 2])
        policy.learn(hsb.Decision(context=given[-1], arm=t % 2, propensity=0.7), loss=1.0)
        twin = Naive([0.25] * 4)
        for s, advice in enumerate(given, start=1):
            twin.learn(one_hot(advice, 2), s % 2, policy.rate / 0.7)
        assert off(policy.weights, twin.weights) < EXACT
        assert policy.rate == pytest.approx(math.sqrt(math.log(4) * math.sqrt(2) / (2 * (1 << t.bit_length()))))


@functools.cache
def problem(name: str, rounds: int) -> tuple[Any, Array]:
    """Advice of 8 experts and losses of 3 arms, fixed in advance."""
    rng = np.random.default_rng(5)
    given = rng.integers(3, size=(rounds, 8))
    if name == "stationary":
        return given, (rng.random((rounds, 3)) < np.where(given[:, [3]] == np.arange(3), 0.2, 0.6)).astype(float)
    leader = np.where(
        np.arange(rounds) < rounds * 0.4, 1, 6
    )  # one expert is right, then another: the first looks best until late
    return given, np.where(given[np.arange(rounds), leader][:, None] == np.arange(3), 0.0, 1.0)


@pytest.mark.parametrize("name", ["stationary", "adversarial"])
def test_regret_stays_under_the_bound(name):
    """Mean of 10 seeds; a mean of T losses has a standard error below sqrt(T / 4 / 10), and three of them are allowed."""
    rounds = 20_000
    given, losses = problem(name, rounds)
    best = min(losses[np.arange(rounds), given[:, k]].sum() for k in range(8))
    noise = 3 * math.sqrt(rounds / 40)

    def regret(**settings: Any) -> float:
        made = [Exp4(8, arms=3, seed=seed, **settings) for seed in range(10)]
        return float(np.mean([hsb.simulate(policy, given, losses).losses.sum() for policy in made])) - best

    bound = Exp4(8, arms=3, horizon=rounds).regret_bound()
    assert regret(horizon=rounds) < bound + noise
    assert regret(learning_rate=1e-7) > bound + noise  # negative control: one that does not learn


# -- in bulk as one by one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masks", [None, "masks", "removed"])
@pytest.mark.parametrize("rate", [{}, {"learning_rate": None}, {"learning_rate": 30.0}], ids=["constant", "falling", "huge"])
@pytest.mark.parametrize("kind", KINDS)
def test_simulate_is_decide_and_learn_bit_for_bit(kind, rate, masks):
    rng = np.random.default_rng(3)
    rounds = 120
    table, losses = contexts(kind, rounds, rng), rng.uniform(-1, 3, (rounds, 3))
    available = rng.random((rounds, 3)) < 0.6
    available[~available.any(axis=1)] = True
    one, other = made(kind, loss_range=(-1, 3), **rate), made(kind, loss_range=(-1, 3), **rate)
    if masks == "removed":
        one.remove_arm("b")
        other.remove_arm("b")
    run = hsb.simulate(one, table, losses, available=available if masks == "masks" else None)
    for t in range(rounds):
        there = [arm for m, arm in enumerate(ARMS) if available[t, m]] if masks == "masks" else None
        decision = other.decide(table[t], available=there, u=other.rng.random())
        other.learn(decision, loss=losses[t, ARMS.index(decision.arm)])
        assert (run.arms[t], run.propensities[t]) == (decision.arm, decision.propensity)
    assert state(one)["arrays"] == state(other)["arrays"]
    assert (one.weights > 0).all() or rate == {"learning_rate": 30.0}


def test_late_feedback_of_functions_uses_their_advice_for_its_context():
    policy, twin = made("functions"), made("functions")
    decisions = [policy.decide(x) for x in (0.1, 0.9, 0.6)]
    for decision in decisions:
        twin.learn(hsb.Decision(context=decision.context, arm=decision.arm, propensity=decision.propensity), loss=1.0)
    for decision in reversed(decisions):
        policy.learn(decision, loss=1.0)
    assert np.allclose(policy.weights, twin.weights, rtol=1e-13)


# -- hard rounds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("world", ["every loss is 1", "one expert is right", "the worst comes back"])
def test_a_hundred_thousand_rounds(world, rate):
    """Weights fall by factors of exp(-1e6); logarithms of the sums of all rounds tell what they must be."""
    rounds, rng = 100_000, np.random.default_rng(0)
    given = rng.integers(3, size=(rounds, 12))
    right = np.full(rounds, 2)
    if world == "the worst comes back":
        right = np.where(np.arange(rounds) < 30_000, 2, 7)
        given[:30_000, 7] = (given[:30_000, 2] + 1) % 3  # always wrong, until it alone is right
    losses = np.where(given[np.arange(rounds), right][:, None] == np.arange(3), 0.0, 1.0)
    if world == "every loss is 1":
        losses[:] = 1.0
    policy = Exp4(12, arms=3, learning_rate=rate, seed=1)
    run = hsb.simulate(policy, given, losses)
    steps = rate * run.losses / run.propensities
    penalties = np.array([math.fsum(steps[given[:, k] == run.arms]) for k in range(12)])
    logs = penalties.min() - penalties
    expected = np.exp(logs) / np.exp(logs).sum()
    assert np.isfinite(policy.learner.logs).all() and np.isfinite(policy.learner.scaled).all()
    # Sums up to 1e7 in steps that round to 2^-53 of them, at random: 1e7 * 1e-16 * sqrt(1e5) = 3e-7.
    assert np.abs(policy.weights - expected).max() < 1e-6
    assert np.allclose(policy.learner.logs - policy.learner.logs.max(), logs, rtol=1e-9, atol=1e-6)


def test_a_weight_that_fell_below_every_number_comes_back():
    policy = Exp4(2, arms=2, learning_rate=0.5)
    lowest = 0.0
    for t in range(5000):  # expert 1 is wrong 2000 times in a row, then right 3000 times
        policy.learn(hsb.Decision(context=[0, 1], arm=int(t < 2000), propensity=0.5), loss=1.0)
        lowest = min(lowest, policy.learner.logs[1] - policy.learner.logs[0])
        assert policy.weights[1] == pytest.approx(
            1 / (1 + math.exp(min(min(t + 1, 2000) - max(t - 1999, 0), 700))), rel=1e-9, abs=1e-300
        )
    assert lowest == -2000.0 and policy.weights[1] == 1.0


def test_sleep_over_many_hard_rounds():
    rng = np.random.default_rng(2)
    policy, twin = Exp4(6, arms=4, learning_rate=20.0, seed=0), Naive(np.full(6, 1 / 6))
    for t in range(3000):
        given = rng.integers(4, size=6)
        available = some_arms(rng, 4, 0.7)
        p = policy.probabilities(given, available=available)
        q = twin.probabilities(one_hot(given, 4), available)
        assert abs(p.sum() - 1) < 1e-12 and np.abs(p - q).max() < 1e-7
        arm = int(np.argmax(p)) if t % 3 else int(rng.choice(available or range(4)))
        propensity = max(float(p[arm]), 1e-12)
        policy.learn(hsb.Decision(context=given, arm=arm, propensity=propensity, available=available), loss=1.0)
        twin.learn(one_hot(given, 4), arm, min(20.0 / propensity, 1e15), available)
    assert np.isfinite(policy.learner.logs).all()


def test_experts_of_next_to_no_weight_are_heard_when_all_others_sleep():
    policy = Exp4(4, arms=3, learning_rate=1.0)
    for _ in range(10):
        policy.learn(hsb.Decision(context=[0, 1, 2, 2], arm=1, propensity=0.001), loss=1.0)
        policy.learn(hsb.Decision(context=[0, 2, 1, 2], arm=1, propensity=0.0011), loss=1.0)
    assert policy.weights[1] == policy.weights[2] == 0.0  # exp(-10000) and exp(-9091)
    assert policy.probabilities([0, 1, 2, 0], available=[1, 2]).tolist() == [0.0, 0.0, 1.0]
    for _ in range(2):
        policy.learn(hsb.Decision(context=[0, 1, 2, 0], arm=2, propensity=0.0022, available=[1, 2]), loss=1.0)
    p = policy.probabilities([0, 1, 2, 0], available=[1, 2])
    assert p[1] == pytest.approx(1 / (1 + math.exp(10_000 - 10_000 / 1.1 - 2 / 0.0022)), rel=1e-9)
    assert (policy.probabilities([0, 1, 2, 0])[[1, 2]] == 0.0).all()


def test_where_all_experts_sleep_the_available_arms_are_equal_and_nothing_is_learned():
    policy = made("arms")
    before = state(policy)["arrays"]
    context = ["a"] * 5
    assert policy.probabilities(context, available=["b", "c"]).tolist() == [0.0, 0.5, 0.5]
    policy.learn(policy.decide(context, available=["b", "c"]), loss=1.0)
    assert state(policy)["arrays"] == before and policy.rounds == 1


@pytest.mark.parametrize("propensity", [1.0, 1e-12, 5e-324])
def test_steps_of_any_size(propensity):
    policy = Exp4(3, arms=2, learning_rate=1e300)
    for _ in range(3):
        policy.learn(hsb.Decision(context=[0, 0, 1], arm=0, propensity=propensity), loss=1.0)
    assert policy.weights.tolist() == [0.0, 0.0, 1.0]
    assert policy.probabilities([0, 1, 0], available=[1]).tolist() == [0.0, 1.0]
    assert np.isfinite(policy.learner.logs).all()


def test_a_row_of_a_checked_table_is_advice_and_not_a_context():
    """Functions are asked once, when the table is checked; round by round, as a floor or a log of one's own has it, gives the same."""
    contexts = np.random.default_rng(0).random(50)
    policy = Exp4([lambda x: 0, lambda x: int(np.ravel(x)[0] > 0.5)], arms=2, learning_rate=0.3, seed=0)
    points, _ = tables.check(policy, contexts)
    for t, context in enumerate(contexts):
        p = np.empty(2)
        policy.learner.fill(policy.learner.read_row(points[t]), None, p)
        assert p.tolist() == policy.probabilities(float(context)).tolist()
    assert len({tuple(row) for row in np.asarray(points).tolist()}) == 2  # else it would say nothing
    arms, losses = np.random.default_rng(1).integers(2, size=50), np.random.default_rng(2).random(50)
    rows = LoggedRows(points, np.ones((1, 2), dtype=np.uint8), np.zeros(50, dtype=np.int64), arms, losses)
    logged, told = policy.copy(), policy.copy()
    tables.learn_rows(logged, rows, np.full(50, 0.5), 1.0 - losses)
    for context, arm, loss in zip(contexts, arms, losses, strict=True):
        told.learn(hsb.Decision(context=float(context), arm=int(arm), propensity=0.5), loss=float(loss))
    assert logged.weights.tolist() == told.weights.tolist() != policy.weights.tolist()
