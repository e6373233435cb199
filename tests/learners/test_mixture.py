"""A mixture over a structure: what its arms and its confidence cost, and what a file may hold."""

import math

import numpy as np
import pytest

import hsb
from hsb.learners.mixture import Mixture
from hsb.learners.priors import CellsPrior
from hsb.learners.rates import Rates
from hsb.structures.leaves import Leaves

PRIOR = CellsPrior(Leaves(4))


def mixture_of(arms=3, implicit=False):
    rates = Rates.begin(PRIOR, arms, horizon=None, learning_rate=0.2)
    return Mixture(PRIOR.fresh(arms), rates, implicit=implicit, born=arms)


def learn(mixture, rounds=1):
    for t in range(rounds):
        mixture.learn(np.array([t % 4]), None, t % mixture.arms, 0.5, 0.5, None)
    return mixture


def test_an_arm_that_was_added_costs_the_arms_there_were_then_too():
    mixture = learn(mixture_of()).with_arm(PRIOR).with_arm(PRIOR)
    assert mixture.arm_costs() == pytest.approx([math.log(5)] * 3 + [math.log(5) + math.log(3), math.log(5) + math.log(4)])
    assert mixture_of().with_arm(PRIOR).arm_costs() == pytest.approx([math.log(4)] * 4)  # nothing was learned before


def test_implicit_exploration_adds_half_the_rate_to_every_propensity():
    for implicit, gamma in ((False, 0.0), (True, 0.1)):
        mixture, p = mixture_of(2, implicit), np.empty(2)
        mixture.learn(np.array([1]), None, 0, 1.0, 0.4, None)
        mixture.state.fill(np.array([1]), None, p)
        assert p[0] / p[1] == pytest.approx(math.exp(-0.2 / (0.4 + gamma)), rel=1e-12)


def test_confidence_costs_a_union_over_rates_and_sets_of_arms():
    assert mixture_of().confidence_cost(None, "HSB") == 0.0
    assert mixture_of(implicit=True).confidence_cost(0.05, "HSB") == pytest.approx(math.log(2 / 0.05))
    assert learn(mixture_of(implicit=True)).with_arm(PRIOR).confidence_cost(0.05, "HSB") == pytest.approx(math.log(6 / 0.05))
    with pytest.raises(hsb.InputError, match=r"delta must be a probability in \(0, 1\), e.g. 0.05; given 1.5"):
        mixture_of(implicit=True).confidence_cost(1.5, "HSB")
    with pytest.raises(hsb.InputError, match=r"Make the policy with HSB\(..., implicit=True\)"):
        mixture_of().confidence_cost(0.05, "HSB")


def test_a_copy_learns_alone():
    mixture = learn(mixture_of(), 5)
    digest = mixture.state.digest()
    learn(mixture.copy(), 3)
    assert mixture.state.digest() == digest and mixture.state.learned_rounds == 5


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [(0, -1.0, "sums of losses"), (3, 4.0, "arms, rates and late rounds"), (4, 0.0, "arms, rates"), (5, np.inf, "arms, rates")],
)
def test_counts_that_no_rounds_lead_to_are_refused(at, value, message):
    arrays = {name: array.copy() for name, array in learn(mixture_of(), 5).to_arrays().items()}
    again = mixture_of().from_arrays(arrays, PRIOR, 5)
    assert again.state.sums.tolist() == learn(mixture_of(), 5).state.sums.tolist() and again.state.learned_rounds == 5
    arrays["counted"][at] = value
    with pytest.raises(ValueError, match=message):
        mixture_of().from_arrays(arrays, PRIOR, 5)
