"""Section III's mixture of all M^N mappings: with the complexity prior it is HSB, with equal weights S-EXP3."""

import copy
import functools
import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from naive import mixture as naive
from support.exp4_cases import off, some_arms, state
from support.mapping_cases import anywhere, teach
from support.refusals import refused
from support.structure_cases import EXAMPLES, STOPS, Case, as_hierarchy, binary, kary, line, one_of, over, position

import hsb
from hsb import theory
from hsb.policies.mixture_of_mappings import MixtureOfMappings

EXACT = 1e-12
ARMS = 2
TREE = hsb.BinaryTree(depth=3)


def pair() -> Case:
    """Trees of two depths: the coarser one's cells are unions of the finer one's."""
    shape = naive.one_of(over(naive.binary_tree(2), line(4), line(8)), naive.binary_tree(3))
    return Case(hsb.OneOf(hsb.BinaryTree(depth=2), hsb.BinaryTree(depth=3)), shape, line(8))


def blunt() -> Case:
    """Two leaves that no node tells apart: mappings that do have prior weight 0."""
    nodes: dict[Any, list[Any]] = {"all": [("left", "right")], "left": [], "right": [("c", "d")], "c": [], "d": []}
    regions = {"all": {0, 1, 2, 3}, "left": {0, 1}, "right": {2, 3}, "c": {2}, "d": {3}}
    shape = naive.Hierarchy("all", {i: frozenset(r) for i, r in regions.items()}, nodes, 4)
    return Case(as_hierarchy(shape), shape, line(4))


SMALL = {name: case for name, case in EXAMPLES.items() if ARMS**case.shape.leaves <= 1 << 8} | {
    "one of two depths": pair(),
    "leaves that stay together": blunt(),
    "one leaf": binary(0),
    "position, 1 and 2 bits": position([1, 2]),
}
each_small = pytest.mark.parametrize("case", SMALL.values(), ids=SMALL)


@pytest.mark.nojit
@pytest.mark.parametrize("masking", [0.0, 0.5])
@each_small
def test_the_complexity_prior_is_hsb(case, masking):
    rounds = anywhere(case.structure, 40)
    slow = MixtureOfMappings(case.structure, arms=ARMS, prior="complexity", learning_rate=0.3, stop=case.stop)
    assert teach(slow, case.policy(ARMS, learning_rate=0.3), rounds, masking=masking) < EXACT


@pytest.mark.parametrize("stop", STOPS)
def test_with_any_stop_prior_and_three_arms(stop):
    for case in (binary(2, stop), kary(3, 1, stop), binary(2, stop, features=2)):
        slow = MixtureOfMappings(case.structure, arms=3, prior="complexity", learning_rate=0.7, stop=stop)
        assert teach(slow, case.policy(3, learning_rate=0.7), anywhere(case.structure, 120), masking=0.3) < EXACT


@each_small
def test_equal_weights_are_s_exp3(case):
    rounds = anywhere(case.structure, 60)
    slow = MixtureOfMappings(case.structure, arms=ARMS, learning_rate=0.3)
    fast = hsb.SExp3(case.structure, arms=ARMS, learning_rate=0.3)
    assert teach(slow, fast, rounds, masking=0.3) < EXACT


@pytest.mark.parametrize("structure", [4, hsb.Cells(4)], ids=["a number", "cells"])
def test_cells_without_a_structure(structure):
    slow, fast = (result(structure, arms=3, learning_rate=0.3, seed=1) for result in (MixtureOfMappings, hsb.SExp3))
    rounds = anywhere(slow.structure, 60) if structure == 4 else np.arange(60) % 4
    assert teach(slow, fast, rounds) < EXACT


@pytest.mark.parametrize("name", ["binary", "lexicographic", "arbitrary"])
def test_it_equals_the_naive_mixture(name):
    case = EXAMPLES[name]
    policy, oracle = (
        MixtureOfMappings(case.structure, arms=2, prior="complexity", learning_rate=0.3),
        naive.Mixture(case.shape, 2),
    )
    assert policy.mappings.table.tolist() == oracle.mappings.tolist()
    assert np.abs(policy.weights - oracle.beta).max() < 1e-14
    rng = np.random.default_rng(0)
    for _ in range(60):
        leaf, arm, x = int(rng.integers(case.shape.leaves)), int(rng.integers(2)), float(rng.random())
        available = some_arms(rng, 2, 0.3)
        if available is None or arm in available:
            context = case.context(leaf, rng)
            assert off(policy.probabilities(context, available=available), oracle.probabilities(leaf, available)) < EXACT
            policy.learn(hsb.Decision(context=context, arm=arm, propensity=0.3, available=available), loss=x)
            oracle.learn(leaf, arm, x, available)


def test_errors_are_noticed():
    """Negative control: another prior, another structure, a loss changed by a millionth."""
    rounds = anywhere(TREE, 60)
    fast = functools.partial(hsb.HSB, TREE, arms=2, learning_rate=0.3)
    slow = functools.partial(MixtureOfMappings, TREE, arms=2, learning_rate=0.3)
    assert teach(slow(prior="complexity"), fast(), rounds) < EXACT
    assert teach(slow(prior="complexity", stop=0.5001), fast(), rounds) > 1e-6
    assert teach(slow(), fast(), rounds) > 1e-2
    assert teach(slow(prior="complexity"), fast(), rounds, told=1 - 1e-6) > 1e-8
    intervals = hsb.HSB(hsb.Lexicographic(leaves=8), arms=2, learning_rate=0.3)
    assert teach(slow(prior="complexity"), intervals, rounds) > 1e-3


def test_prior_weights_are_those_of_the_theory():
    policy = MixtureOfMappings(hsb.Lexicographic(leaves=4), arms=3, prior="complexity", learning_rate=1.0)
    costs = [theory.prior_cost(policy.structure, g, arms=3) for g in itertools.product(range(3), repeat=4)]
    assert np.allclose(policy.weights, np.exp(-np.array(costs)), rtol=1e-13)
    assert policy.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert len(MixtureOfMappings(blunt().structure, arms=2, prior="complexity").mappings) == 8  # of 16


def test_rates_and_bounds_are_those_of_the_fast_ones():
    for horizon, rate in ((1000, None), (None, 0.1), (None, None)):
        settings: dict[str, Any] = {"arms": 2, "horizon": horizon, "learning_rate": rate}
        complexity = MixtureOfMappings(TREE, prior="complexity", regions=3, **settings)
        fast = hsb.HSB(TREE, regions=3, drift=None, **settings)
        uniform, cells = MixtureOfMappings(TREE, **settings), hsb.SExp3(TREE, **settings)
        assert (complexity.learning_rate, uniform.learning_rate) == (
            fast.learner.mixture.rates.learning_rate,
            cells.learner.mixture.rates.learning_rate,
        )
        assert (complexity.regret_bound(500), uniform.regret_bound(500)) == (fast.regret_bound(500), cells.regret_bound(500))
    falling = MixtureOfMappings(TREE, arms=2, prior="complexity")
    assert teach(falling, hsb.HSB(TREE, arms=2, drift=None), anywhere(TREE, 60)) < EXACT


@pytest.mark.parametrize("prior", ["uniform", "complexity"])
@pytest.mark.parametrize("world", ["stationary", "adversarial"])
def test_regret_stays_under_the_bound(world, prior):
    """Mean of 10 seeds, with three standard errors to spare, against the best mapping of two regions."""
    rounds, rng = 20_000, np.random.default_rng(4)
    contexts = rng.random(rounds)
    good = (contexts > 0.5)[:, None] == np.arange(2)
    losses = (rng.random((rounds, 2)) < np.where(good, 0.2, 0.6)).astype(float)
    if world == "adversarial":  # the wrong arm everywhere, for a while
        wrong = (np.arange(rounds) < rounds * 0.3)[:, None]
        losses = np.where(good ^ wrong, 0.0, 1.0)
    leaf = (contexts * 4).astype(int)
    best = sum(min(losses[leaf == k, m].sum() for m in range(2)) for k in range(4))
    bound = MixtureOfMappings(hsb.BinaryTree(depth=2), arms=2, horizon=rounds, prior=prior).regret_bound()
    noise = 3 * math.sqrt(rounds / 40)

    def regret(**rate: float) -> float:
        policies = [MixtureOfMappings(hsb.BinaryTree(depth=2), arms=2, prior=prior, seed=seed, **rate) for seed in range(10)]
        return float(np.mean([hsb.simulate(policy, contexts, losses).losses.sum() for policy in policies])) - best

    assert regret(horizon=rounds) < bound + noise
    assert regret(learning_rate=1e-7) > bound + noise  # negative control: one that does not learn


# -- as a policy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [{"learning_rate": 0.3}, {"horizon": 100}, {}, {"learning_rate": 30.0}])
@pytest.mark.parametrize(
    "case", [EXAMPLES["binary"], EXAMPLES["3 groups, cells"], EXAMPLES["position"]], ids=["line", "cells", "square"]
)
def test_simulate_files_and_copies_bit_for_bit(case, rate, tmp_path):
    def made() -> MixtureOfMappings:
        return MixtureOfMappings(case.structure, arms=["a", "b"], prior="complexity", loss_range=(-1, 1), seed=3, **rate)

    contexts, rng = anywhere(case.structure, 80), np.random.default_rng(0)
    losses, masks = rng.uniform(-1, 1, (80, 2)), rng.random((80, 2)) < 0.7
    masks[~masks.any(axis=1)] = True
    one, other = made(), made()
    run = hsb.simulate(one, contexts, losses, available=masks)
    for t in range(80):
        decision = other.decide(contexts[t], available=[arm for m, arm in enumerate("ab") if masks[t, m]])
        other.learn(decision, loss=losses[t, "ab".index(decision.arm)])
        assert (run.arms[t], run.propensities[t]) == (decision.arm, decision.propensity)
    assert state(one)["arrays"] == state(other)["arrays"]
    one.save(tmp_path / "policy")
    twins = [hsb.load(tmp_path / "policy"), one.copy(), copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    expected = hsb.simulate(one, contexts, losses)
    for twin in twins:
        assert repr(twin) == repr(one).replace("rounds=160", "rounds=80")
        assert np.array_equal(hsb.simulate(twin, contexts, losses).propensities, expected.propensities)
        assert state(twin)["arrays"] == state(one)["arrays"]


@pytest.mark.parametrize("rate", [0.05, 30.0])
def test_a_hundred_thousand_rounds(rate):
    """S-EXP3 in logarithms, told the sums of all rounds."""
    rounds, rng = 100_000, np.random.default_rng(0)
    contexts = rng.random(rounds)
    leaf = (contexts * 4).astype(int)
    losses = np.where((leaf % 3)[:, None] == np.arange(3), 0.0, 1.0)
    policy = MixtureOfMappings(4, arms=3, learning_rate=rate, seed=0)
    run = hsb.simulate(policy, contexts, losses)
    penalties = np.zeros((4, 3))
    np.add.at(penalties, (leaf, run.arms), rate * run.losses / run.propensities)
    result = np.array([policy.probabilities((k + 0.5) / 4) for k in range(4)])
    assert np.abs(result - naive.s_exp3(penalties)).max() < 1e-7
    assert np.isfinite(policy.learner.logs).all()


def test_the_number_of_mappings_is_bounded():
    uniform = functools.partial(MixtureOfMappings, arms=2)
    assert len(uniform(20).mappings) == 1 << 20
    refused(lambda: uniform(21), ["2^21", "1,048,576", "hsb.SExp3"], hsb.BudgetError)
    refused(lambda: uniform(hsb.BinaryTree(depth=52)), ["2^4503599627370496", "hsb.SExp3"], hsb.BudgetError)
    refused(
        lambda: uniform(hsb.BinaryTree(depth=5), prior="complexity"),
        ["32 leaves", "2^32", "65,536", "hsb.HSB"],
        hsb.BudgetError,
    )
    assert len(MixtureOfMappings(1, arms=1000).mappings) == 1000
    assert len(MixtureOfMappings(hsb.BinaryTree(depth=10), arms=1).mappings) == 1


SETTINGS: dict[str, tuple[Any, list[str]]] = {
    "prior": (lambda: MixtureOfMappings(TREE, arms=2, prior="flat"), ["'uniform' or 'complexity'", "'flat'"]),
    "prior, numbers": (lambda: MixtureOfMappings(TREE, arms=2, prior=[1, 2]), ["'uniform' or 'complexity'", "[1, 2]"]),
    "regions": (lambda: MixtureOfMappings(TREE, arms=2, regions=2), ["prior='complexity'", "Leave them out"]),
    "stop": (lambda: MixtureOfMappings(TREE, arms=2, stop=0.5), ["prior='complexity'"]),
    "no structure": (lambda: MixtureOfMappings(8, arms=2, prior="complexity"), ["needs a structure", "8"]),
    "nothing": (lambda: MixtureOfMappings(None, arms=2), ["structure", "None"]),
    "no regions": (lambda: MixtureOfMappings(TREE, arms=2, prior="complexity", regions=0), ["regions", "0"]),
    "stop of 1": (lambda: MixtureOfMappings(TREE, arms=2, prior="complexity", stop=1.0), ["stop must be in [0, 1)"]),
    "no arms": (lambda: MixtureOfMappings(TREE, arms=0), ["arms", "0"]),
    "both rates": (lambda: MixtureOfMappings(TREE, arms=2, horizon=10, learning_rate=0.1), ["not both"]),
    "cells across cells": (
        lambda: MixtureOfMappings(one_of().structure, arms=2, prior="complexity"),
        ["together, not 1", "unions of the finest"],
    ),
}


@pytest.mark.parametrize(("call", "fragments"), SETTINGS.values(), ids=SETTINGS)
def test_wrong_settings(call, fragments):
    refused(call, fragments)


def test_wrong_contexts_and_new_arms_change_nothing():
    policy = MixtureOfMappings(TREE, arms=2, learning_rate=0.3, seed=0)
    policy.learn(policy.decide(0.2), loss=1.0)
    before = state(policy)
    refused(lambda: policy.decide(1.5), ["feature 0 is 1.5", "[0.0, 1.0]"])
    refused(lambda: policy.learn(hsb.Decision(context=np.nan, arm=0, propensity=0.5), loss=1.0), ["NaN"])
    refused(lambda: hsb.simulate(policy, [0.1, 2.0], np.ones((2, 2))), ["2.0"])
    refused(lambda: policy.add_arm("new"), ["MixtureOfMappings cannot add an arm after construction", "Make a new policy"])
    assert state(policy) == before


def test_it_says_what_it_is():
    policy = MixtureOfMappings(TREE, arms=2, learning_rate=0.3)
    assert (
        repr(policy)
        == "MixtureOfMappings(structure=BinaryTree(depth=3), prior='uniform', learning_rate=0.3, arms=[0, 1], rounds=0)"
    )
    assert policy.nbytes == 2 * 256 * 8 + 8
