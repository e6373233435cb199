"""Rates and bounds: the closed forms of Examples 1 to 6, the corrected Corollary 1, and what they promise."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture as naive

import hsb
from hsb import theory

ln = math.log
quick = settings(deadline=None, derandomize=True, max_examples=60)
ARMS = st.integers(1, 40)
REGIONS = st.integers(1, 12)
HORIZON = st.integers(1, 10**9)

# name: (structure, A of Theorem 2 written out for M arms and R regions)
EXAMPLES = {
    "1, arbitrary splitting": (hsb.ArbitrarySplits(leaves=7), lambda M, R: 2 * M * ln(2**6 * M)),
    "2, binary tree": (hsb.BinaryTree(depth=10), lambda M, R: 2 * ((R - 1) * 10 + 1) * ln(2 * M)),
    "2, as deep as it goes": (hsb.BinaryTree(depth=52), lambda M, R: 2 * ((R - 1) * 52 + 1) * ln(2 * M)),
    "2, two features": (
        hsb.BinaryTree(depth=7, space=hsb.Box([18, 0], [90, 1])),
        lambda M, R: 2 * ((R - 1) * 7 + 1) * ln(2 * M),
    ),
    "3, K-ary tree": (hsb.KaryTree(k=5, depth=4), lambda M, R: 5 * ((R - 1) * 4 + 1) * ln(2 * M)),
    "4, lexicographic": (hsb.Lexicographic(leaves=64), lambda M, R: 2 * R * ln(64 * M)),
    "5, three groups": (
        hsb.GroupedLexicographic(leaves=16, groups=3),
        lambda M, R: 3 * (math.ceil((R - 1) / 2) + 1) * ln((math.comb(15, 2) + 1) * M),
    ),
    "5, five groups": (
        hsb.GroupedLexicographic(leaves=9, groups=5),
        lambda M, R: 5 * (math.ceil((R - 1) / 4) + 1) * ln((math.comb(8, 4) + 1) * M),
    ),
    "5, two groups are Example 4": (hsb.GroupedLexicographic(leaves=64, groups=2), lambda M, R: 2 * R * ln(64 * M)),
    "6, position splitting": (hsb.PositionSplits(bits=[1] * 6), lambda M, R: 2 * ((R - 1) * 6 + 1) * ln(7 * M)),
    "6, uneven": (hsb.PositionSplits(bits=[3, 0, 2]), lambda M, R: 2 * ((R - 1) * 5 + 1) * ln(3 * M)),
}
each_example = pytest.mark.parametrize(("structure", "closed"), EXAMPLES.values(), ids=EXAMPLES)


@pytest.mark.nojit
@each_example
@quick
@given(arms=ARMS, regions=REGIONS, horizon=HORIZON)
def test_the_closed_forms_of_the_examples(structure, closed, arms, regions, horizon):
    A = closed(arms, regions)
    assert math.isclose(theory.prior_bound(structure, arms=arms, regions=regions), A, rel_tol=1e-12)
    rate = theory.learning_rate(structure, arms=arms, horizon=horizon, regions=regions)
    assert math.isclose(rate, math.sqrt(2 * A / (arms * horizon)), rel_tol=1e-12)
    bound = theory.regret_bound(structure, arms=arms, horizon=horizon, regions=regions)
    assert math.isclose(bound, math.sqrt(2 * A * arms * horizon), rel_tol=1e-12)


@each_example
@quick
@given(arms=ARMS.filter(lambda m: m > 1), regions=REGIONS, horizon=HORIZON)
def test_the_bound_is_what_the_rate_gives(structure, closed, arms, regions, horizon):
    """A/rate + M T rate / 2 at Corollary 1's rate is sqrt(2 A M T); the printed sqrt(A M T / 2) is half of it."""
    A = theory.prior_bound(structure, arms=arms, regions=regions)
    rate = theory.learning_rate(structure, arms=arms, horizon=horizon, regions=regions)
    bound = theory.regret_bound(structure, arms=arms, horizon=horizon, regions=regions)

    def two_terms(eta: float) -> float:
        return A / eta + arms * horizon * eta / 2

    assert math.isclose(bound, two_terms(rate), rel_tol=1e-12)
    assert math.isclose(math.sqrt(A * arms * horizon / 2), bound / 2, rel_tol=1e-12)
    assert all(two_terms(rate * factor) > bound for factor in (0.5, 0.9, 1.1, 2.0))  # no other rate does better


@each_example
def test_regions_default_to_the_number_of_arms(structure, closed):
    for arms in (1, 2, 5):
        same = {"arms": arms, "horizon": 1000}
        assert theory.learning_rate(structure, **same) == theory.learning_rate(structure, **same, regions=arms)
        assert theory.regret_bound(structure, **same) == theory.regret_bound(structure, **same, regions=arms)


@each_example
def test_a_policy_uses_these_rates(structure, closed):
    policy = hsb.HSB(structure, arms=3, horizon=5000)
    assert policy.learner.mixture.rates.learning_rate == theory.learning_rate(structure, arms=3, horizon=5000)
    policy = hsb.HSB(structure, arms=["a", "b"], horizon=5000, regions=4)
    assert policy.learner.mixture.rates.learning_rate == theory.learning_rate(structure, arms=2, horizon=5000, regions=4)
    assert hsb.HSB(structure, arms=2, learning_rate=0.02).learner.mixture.rates.learning_rate == 0.02
    assert hsb.HSB(structure, arms=2).learner.mixture.rates.learning_rate is None


@pytest.mark.parametrize("regions", [None, 5])
@pytest.mark.parametrize("structure", [hsb.BinaryTree(depth=0), hsb.Lexicographic(leaves=1)])
def test_without_a_horizon_the_rate_falls_with_the_rounds(structure, regions):
    """About sqrt(A / (M t)) in round t, counted by the feedback that has come, for all losses so far: the log odds of two arms show it."""
    policy = hsb.HSB(structure, arms=2, regions=regions, drift=None, seed=0)
    A = theory.prior_bound(structure, arms=2, regions=2 if regions is None else regions)
    for t in range(1, 30):
        policy.decide(0.4)  # deciding is no round
        policy.learn(hsb.Decision(context=0.4, arm=0, propensity=0.5), loss=0.5)
        p = policy.probabilities(0.4)
        end = 1 << t.bit_length()  # of the phase that comes next
        assert policy.learner.mixture.rates.rate == pytest.approx(math.sqrt(A / (2 * end / math.sqrt(2))))
        assert math.isclose(ln(p[1] / p[0]), policy.learner.mixture.rates.rate * t, rel_tol=1e-9)
    assert policy.regret_bound(10_000) < 10_000


def test_the_constants_grow_as_they_should():
    tree = hsb.BinaryTree(depth=10)
    cost = [theory.prior_bound(tree, arms=3, regions=r) for r in range(1, 6)]
    assert np.allclose(np.diff(cost), 2 * 10 * ln(6))
    assert cost[0] == 2 * ln(6)
    bounds = [theory.regret_bound(tree, arms=3, horizon=t) for t in (10**4, 10**6)]
    assert math.isclose(bounds[1] / bounds[0], 10)


SMALL = {
    "arbitrary": (hsb.ArbitrarySplits(leaves=4), naive.arbitrary_splits(4)),
    "binary": (hsb.BinaryTree(depth=3), naive.binary_tree(3)),
    "3-ary": (hsb.KaryTree(k=3, depth=2), naive.kary_tree(3, 2)),
    "lexicographic": (hsb.Lexicographic(leaves=7), naive.lexicographic(7)),
    "3-group": (hsb.GroupedLexicographic(leaves=7, groups=3), naive.grouped_lexicographic(7, 3)),
    "4-group": (hsb.GroupedLexicographic(leaves=7, groups=4), naive.grouped_lexicographic(7, 4)),
    "position": (hsb.PositionSplits(bits=[2, 1]), naive.position_splits([2, 1])),
    "one of": (
        hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8)),
        naive.one_of(naive.binary_tree(3), naive.lexicographic(8)),
    ),
}


@pytest.mark.parametrize(("structure", "shape"), SMALL.values(), ids=SMALL)
@settings(deadline=None, derandomize=True, max_examples=40)
@given(data=st.data())
def test_theorem_2_holds_for_the_exact_prior(structure, shape, data):
    """ln(1/beta) of any mapping is at most `prior_bound` for as many regions as it has phases of one arm."""
    arms = data.draw(st.integers(2, 4))
    mapping = data.draw(st.lists(st.integers(0, arms - 1), min_size=shape.leaves, max_size=shape.leaves))
    regions = 1 + sum(a != b for a, b in pairwise(mapping))
    exact = -ln(naive.mapping_prior(shape, arms, mapping))
    assert exact <= theory.prior_bound(structure, arms=arms, regions=regions) + 1e-9


def test_theorem_2_is_not_vacuous():
    """Negative control: half of the bound is too little for some mapping."""
    structure, shape = SMALL["binary"]
    exact = -ln(naive.mapping_prior(shape, 3, [0, 1, 0, 1, 0, 1, 0, 1]))
    assert exact > theory.prior_bound(structure, arms=3, regions=2) / 2


@pytest.mark.parametrize("arms", [2, 3])
def test_a_small_run_stays_below_the_bound(arms):
    """Regret against the best constant arm in each half, 20 seeds: below the bound on average, above a 50th of it."""
    T, tree = 2000, hsb.BinaryTree(depth=4)
    regrets = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        contexts = rng.random(T)
        best = np.where(contexts < 0.5, 0, 1)
        losses = (rng.random((T, arms)) < np.where(np.arange(arms) == best[:, None], 0.2, 0.7)).astype(float)
        run = hsb.simulate(hsb.HSB(tree, arms=arms, horizon=T, regions=2, seed=seed), contexts, losses)
        halves = [losses[best == b].sum(axis=0).min() for b in (0, 1)]
        regrets.append(run.losses.sum() - sum(halves))
    bound = theory.regret_bound(tree, arms=arms, horizon=T, regions=2)
    assert bound / 50 < np.mean(regrets) < bound


@pytest.mark.nojit
@each_example
@quick
@given(arms=ARMS, regions=REGIONS, horizon=HORIZON, rate=st.floats(1e-4, 1.0))
def test_the_printed_examples(structure, closed, arms, regions, horizon, rate):
    """The first line is Theorem 2; the last is no smaller, or refused."""
    rest = {"arms": arms, "regions": regions, "horizon": horizon, "learning_rate": rate}
    first = theory.example_bound(structure, **rest)
    assert math.isclose(first, theory.hierarchy_bound(structure, **rest), rel_tol=1e-12)
    if arms == 1 and isinstance(structure, hsb.ArbitrarySplits):
        with pytest.raises(hsb.InputError, match="simplified"):
            theory.example_bound(structure, **rest, simplified=True)
    else:
        assert theory.example_bound(structure, **rest, simplified=True) >= first * (1 - 1e-12)


@pytest.mark.nojit
def test_the_examples_refuse_what_the_paper_does_not_cover():
    rest = {"arms": 2, "horizon": 100, "learning_rate": 0.1}
    with pytest.raises(hsb.InputError, match="six structures"):
        theory.example_bound(hsb.OneOf(hsb.BinaryTree(depth=1)), **rest)
    with pytest.raises(hsb.InputError, match="as many leaves as groups"):
        theory.example_bound(hsb.GroupedLexicographic(leaves=2, groups=3), **rest)
    for one in (hsb.BinaryTree(depth=0), hsb.PositionSplits(bits=[0])):
        with pytest.raises(hsb.InputError, match="2 leaves"):
            theory.example_bound(one, **rest, simplified=True)


@pytest.mark.nojit
@quick
@given(cost=st.floats(0.01, 1e4), arms=ARMS, horizon=HORIZON)
def test_theorem_1_at_its_best_rate(cost, arms, horizon):
    rate = theory.mixture_rate(cost, arms=arms, horizon=horizon)
    bound = theory.mixture_bound(cost, learning_rate=rate, arms=arms, horizon=horizon)
    assert math.isclose(bound, math.sqrt(2 * cost * arms * horizon), rel_tol=1e-12)
    for factor in (0.5, 2.0):
        assert theory.mixture_bound(cost, learning_rate=rate * factor, arms=arms, horizon=horizon) > bound


@pytest.mark.nojit
@quick
@given(arms=ARMS, leaves=st.integers(1, 12), horizon=HORIZON)
def test_the_baselines_are_equal_weights(arms, leaves, horizon):
    """S-EXP3 is a tree that never stops above its leaves; EXP3 is one leaf."""
    same = {"arms": arms, "horizon": horizon}
    never = theory.prior_cost(hsb.BinaryTree(depth=3), [0] * 8, arms=arms, stop=0.0)
    assert math.isclose(theory.s_exp3_rate(**same, leaves=8), theory.mixture_rate(never, **same), rel_tol=1e-12)
    assert math.isclose(theory.s_exp3_bound(**same, leaves=leaves), math.sqrt(2 * leaves * arms * horizon * ln(arms)))
    assert theory.exp3_rate(**same) == theory.s_exp3_rate(**same, leaves=1)
    assert theory.exp3_bound(**same) == theory.s_exp3_bound(**same, leaves=1)
    assert math.isclose(theory.exp4_bound(**same, experts=arms**leaves), theory.s_exp3_bound(**same, leaves=leaves))
    assert math.isclose(theory.exp4_rate(**same, experts=arms**leaves), theory.s_exp3_rate(**same, leaves=leaves))


@pytest.mark.nojit
@pytest.mark.parametrize("features", [1, 2, 3])
def test_the_policy_bound_is_theorem_4(features):
    """At most the printed quantisation term for Section V's cells, which vanishes as they shrink; nothing on numbered cells."""
    same = {"arms": 3, "horizon": 1000}
    for depth in range(0, 31, 5):
        tree = hsb.BinaryTree(depth=depth, space=hsb.Box.unit(features))
        regret, bound = theory.regret_bound(tree, **same), theory.policy_bound(tree, **same, lipschitz=2.0)
        assert regret < bound <= regret + 1000 * theory.quantisation_gap(tree.leaves, features, 2.0) + 1e-9
        assert theory.policy_bound(tree, **same, lipschitz=0.0) == regret
    cells = hsb.Lexicographic(leaves=6, space=hsb.Cells(6))
    assert theory.policy_bound(cells, **same, lipschitz=2.0) == theory.regret_bound(cells, **same)


@pytest.mark.nojit
def test_the_policy_bound_uses_the_cells_that_there_are():
    square = hsb.Box.unit(2)

    def diagonal(structure: hsb.Structure) -> float:
        same = {"arms": 2, "horizon": 1}
        return theory.policy_bound(structure, **same, lipschitz=1.0) - theory.regret_bound(structure, **same)

    narrow = hsb.BinaryTree(depth=3, space=square, features=[1])
    assert math.isclose(diagonal(narrow), math.hypot(1, 1 / 8))
    assert math.isclose(diagonal(hsb.PositionSplits(bits=[2, 1])), math.hypot(1 / 4, 1 / 2))
    assert math.isclose(diagonal(hsb.Lexicographic(leaves=8, space=square)), math.hypot(1 / 4, 1 / 2))
    assert math.isclose(diagonal(hsb.OneOf(narrow, hsb.BinaryTree(depth=4, space=square))), math.hypot(1, 1 / 8))
    assert math.isclose(diagonal(hsb.Hierarchy({"all": {"leaves": [0, 1]}}, space=hsb.Box.unit())), 1.0)


@pytest.mark.nojit
def test_the_exact_cost_of_a_run_is_far_below_the_closed_form():
    """Section VI-A's best policy on 1024 leaves: less than half of Theorem 2's cost."""
    tree = hsb.BinaryTree(depth=10)
    mapping = [2] * 512 + [0] * 428 + [1] * 84
    assert theory.prior_cost(tree, mapping, arms=3) < theory.prior_bound(tree, arms=3, regions=3) / 2


@pytest.mark.nojit
@pytest.mark.parametrize("rate", [0, -1.0, math.nan, math.inf, True, "0.1"])
def test_rates_that_are_none_are_refused(rate):
    with pytest.raises(hsb.InputError, match="learning_rate must be"):
        theory.hierarchy_bound(hsb.BinaryTree(depth=3), arms=2, horizon=10, learning_rate=rate)


@pytest.mark.nojit
def test_negative_costs_and_slopes_are_refused():
    with pytest.raises(hsb.InputError, match="prior_cost must be"):
        theory.mixture_bound(-1.0, learning_rate=0.1, arms=2, horizon=10)
    with pytest.raises(hsb.InputError, match="lipschitz must be"):
        theory.quantisation_gap(4, 1, -1.0)
    with pytest.raises(hsb.InputError, match="lipschitz must be"):
        theory.policy_bound(hsb.BinaryTree(depth=3), arms=2, horizon=10, lipschitz=math.nan)


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", [{"arms": 0}, {"regions": 0}, {"arms": -3}])
def test_counts_below_one_are_refused(wrong):
    with pytest.raises(hsb.InputError, match="at least 1"):
        theory.prior_bound(hsb.BinaryTree(depth=3), **({"arms": 2, "regions": 2} | wrong))


@pytest.mark.nojit
@pytest.mark.parametrize("horizon", [0, 0.5, -1, math.nan, math.inf])
@pytest.mark.parametrize("function", [theory.learning_rate, theory.regret_bound])
def test_a_horizon_below_one_round_is_refused(function, horizon):
    with pytest.raises(hsb.InputError, match=r"horizon .* at least 1; given"):
        function(hsb.BinaryTree(depth=3), arms=2, horizon=horizon)
