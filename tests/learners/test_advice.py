"""Never much worse than the ensemble's own advice in the same rounds: in every run, in expectation, and what it does not say."""

import numpy as np
import pytest

import hsb
from hsb.learners.feature_state import MIXTURE

ROUNDS = 3000


def misled(t, advised, rng):
    """The models are right, then always wrong; in the third part losses ignore them."""
    if t < ROUNDS // 3:
        return (np.arange(3) != advised).astype(float)
    if t < 2 * ROUNDS // 3:
        return (np.arange(3) == advised).astype(float)
    return (rng.random(3) < [0.9, 0.5, 0.8]).astype(float)


def turns(t, advised, rng):
    """Every fifty rounds the models turn from right to wrong, or back. Being wrong costs half."""
    right = (np.arange(3) != advised).astype(float)
    return right if t // 50 % 2 else 0.5 * (1.0 - right)


def advice(policy, context):
    """The share of the advice on each arm: the one with the least forecast, or all alike as long as nothing is known."""
    state, key = policy.learner.mixture.state, policy.learner.read(context)[0].key
    state.decide(key, None, 0.5)
    return np.array([state.advised(arm) for arm in range(3)])


def played(seed, world=misled, **settings):
    """What was lost, what the advice lost, and by its estimates; and the policy."""
    rng, policy = np.random.default_rng(seed), hsb.HSB(arms=3, seed=seed, **settings)
    lost = of_advice = estimated = 0.0
    for t in range(ROUNDS):
        context = {"x": float(rng.random()), "y": float(rng.random())}
        share = advice(policy, context)
        decision = policy.decide(context)
        assert decision.memo.advice == share[decision.arm] and share.sum() == pytest.approx(1.0)
        losses = world(t, int(share.argmax()), rng)
        b = policy.learner.baseline.shift
        loss = float(losses[decision.arm])
        lost, of_advice = lost + loss, of_advice + losses @ share
        estimated += b + (loss - b) / decision.propensity * decision.memo.advice
        policy.learn(decision, loss=loss)
    return lost, of_advice, estimated, policy


@pytest.mark.parametrize("settings", [{}, {"floor": 0.1}, {"learning_rate": "confident"}])
def test_no_more_is_lost_than_by_the_advice_and_its_price(settings):
    """In every run by estimates; and in these runs the true excess is below the bound. The advice learns from what is played."""
    for seed in range(2):
        lost, of_advice, estimated, policy = played(seed, **settings)
        result = policy.certificate()
        assert lost - estimated <= result.excess + result.advice_cost / result.rate + 1e-6
        assert result.advice_cost <= MIXTURE * 1.01 and result.advice_total < result.total
        assert lost - of_advice <= policy.regret_bound(ROUNDS, advice=True) < ROUNDS


def test_it_is_no_bound_on_what_the_advice_loses_and_learning_is_not_free():
    """The negative control: with the price of the advice alone, and not what learning costs, it is untrue in some run."""
    lost, of_advice, _, _ = played(0)
    assert of_advice > ROUNDS / 3 and of_advice > lost + ROUNDS / 10
    above = []
    for seed in range(3):
        lost, _, estimated, policy = played(seed, turns)
        result = policy.certificate()
        above.append(lost - estimated - result.advice_cost / result.rate)
        assert above[-1] <= result.excess + 1e-6
    assert max(above) > 0.0


def test_naming_the_advice_costs_next_to_nothing():
    """What a rule pays to be named beside the models, ln 10^6 over the rate, the advice does not."""
    policy = hsb.HSB(arms=3)
    rate = policy.learner.mixture.rates.schedule.phase(99_999).rate
    assert policy.regret_bound(1e5, advice=True) < policy.regret_bound(1e5, regions=1) - 13.8 / rate


def test_a_structure_has_it_too_and_a_policy_without_models_says_that_it_has_none():
    tree = hsb.BinaryTree(depth=6)
    assert hsb.HSB(tree, arms=3).regret_bound(1e5, advice=True) < hsb.HSB(tree, arms=3).regret_bound(1e5, regions=1)
    with pytest.raises(hsb.InputError, match="has no models"):
        hsb.HSB(tree, arms=3, horizon=1000).regret_bound(advice=True)
    with pytest.raises(hsb.InputError, match="regret_bound needs a horizon"):
        hsb.HSB(tree, arms=3).regret_bound(advice=True)


@pytest.mark.parametrize("depth", [1, 4])
def test_a_certificate_of_a_structure_says_it_of_its_advisor(depth):
    """In every run by estimates, and not without what learning costs (the negative control)."""
    above = []
    for seed in range(3):
        rng, policy = np.random.default_rng(seed), hsb.HSB(hsb.BinaryTree(depth=depth), arms=3, seed=seed)
        lost = estimated = 0.0
        for t in range(ROUNDS):
            decision = policy.decide(float(rng.random()))
            (advised,) = policy.learner.mixture.state.advice
            loss = float(turns(t, int(advised), rng)[decision.arm])
            lost, estimated = lost + loss, estimated + loss / decision.propensity * decision.memo.advice
            policy.learn(decision, loss=loss)
        result = policy.certificate()
        assert lost - estimated <= result.excess + result.advice_cost / result.rate + 1e-6
        assert result.advice_cost <= -np.log(0.99) + 1e-9 and result.advice_total < result.total
        assert "a round more than the advice of its models" in str(result)
        above.append(lost - estimated - result.advice_cost / result.rate)
    assert max(above) > 0.0
    assert hsb.HSB(hsb.BinaryTree(depth=depth), arms=3, horizon=1000).certificate().advice_total is None


def test_a_structure_is_never_much_worse_than_its_advisor():
    """Losses against the advisor, by pairs: the expected excess of the default over what its advice lost, below the bound."""
    rng, policy, lost, of_advice = np.random.default_rng(0), hsb.HSB(hsb.BinaryTree(depth=4), arms=3, seed=0), 0.0, 0.0
    for t in range(ROUNDS):
        decision = policy.decide(float(rng.random()))
        (advised,) = policy.learner.mixture.state.advice
        losses = misled(t, int(advised), rng)
        lost, of_advice = lost + losses[decision.arm], of_advice + losses[advised]
        policy.learn(decision, loss=float(losses[decision.arm]))
    assert lost - of_advice <= policy.regret_bound(ROUNDS, advice=True) < ROUNDS
