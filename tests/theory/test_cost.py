"""The exact prior cost of a mapping, against the slow recursion, for every structure."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture as naive
from support import structure_cases as cases
from support.cost_cases import fewest_splits, on_cells

import hsb
from hsb import theory
from hsb.theory import prior_cost

ln = math.log
quick = settings(deadline=None, derandomize=True, max_examples=200)
CASES = st.one_of(*cases.FAMILIES.values())


@st.composite
def questions(draw, families=CASES):
    """A case, a number of arms and a mapping: often in phases, so that there is something to stop for."""
    case, arms = draw(families), draw(st.integers(1, 4))
    size = case.structure.leaves
    mapping = draw(st.lists(st.integers(0, arms - 1), min_size=size, max_size=size))
    phase = draw(st.sampled_from([1, 2, 4, size]))
    return case, arms, [mapping[k - k % phase] for k in range(size)]


@pytest.mark.nojit
@quick
@given(questions())
def test_it_is_the_prior_of_the_slow_recursion(question):
    case, arms, mapping = question
    slow = -ln(naive.mapping_prior(case.shape, arms, on_cells(case, mapping)))
    assert math.isclose(prior_cost(case.structure, mapping, arms=arms, stop=case.stop), slow, rel_tol=1e-10, abs_tol=1e-10)


@quick
@given(questions())
def test_theorem_2_with_the_splits_that_the_mapping_needs(question):
    """And the sharper line of its proof, before M^(A+1-A Psi) is let go."""
    case, arms, mapping = question
    if case.stop not in (None, 0.5):
        return  # the theorem is for the uniform prior
    A = fewest_splits(case.shape, on_cells(case, mapping))
    psi, options = case.structure.max_group, case.structure.max_groups + 1
    cost = prior_cost(case.structure, mapping, arms=arms)
    sharper = (A * psi + 1) * ln(options) + (A * (psi - 1) + 1) * ln(arms)
    assert cost <= sharper + 1e-9
    assert sharper <= psi * (A + 1) * ln(options * arms) + 1e-9


@quick
@given(questions(st.one_of(*(f for kind, f in cases.FAMILIES.items() if kind is not hsb.OneOf))))
def test_it_is_below_the_bound_for_the_regions_of_the_mapping(question):
    case, arms, mapping = question
    regions = 1 + int(np.count_nonzero(np.diff(mapping)))
    if case.stop in (None, 0.5):
        assert prior_cost(case.structure, mapping, arms=arms) <= (
            theory.prior_bound(case.structure, arms=arms, regions=regions) + 1e-9
        )


TINY = {
    "binary": (hsb.BinaryTree(depth=3), None),
    "binary, stop 0.9": (hsb.BinaryTree(depth=3), 0.9),
    "binary, never stop": (hsb.BinaryTree(depth=2), 0.0),
    "3-ary": (hsb.KaryTree(k=3, depth=2), 0.3),
    "lexicographic": (hsb.Lexicographic(leaves=7), None),
    "3 groups": (hsb.GroupedLexicographic(leaves=7, groups=3), None),
    "5 groups": (hsb.GroupedLexicographic(leaves=6, groups=5), None),
    "fewer leaves than groups": (hsb.GroupedLexicographic(leaves=3, groups=5), None),
    "position": (hsb.PositionSplits(bits=[2, 0, 1]), None),
    "arbitrary": (hsb.ArbitrarySplits(leaves=6), None),
    "hierarchy": (cases.hierarchy(6, seed=5).structure, None),
    "one of": (hsb.OneOf(hsb.Lexicographic(leaves=4), hsb.BinaryTree(depth=3)), None),
    "one of trees": (hsb.OneOf(hsb.BinaryTree(depth=2), hsb.OneOf(hsb.BinaryTree(depth=1))), 0.2),
}


@pytest.mark.parametrize(("structure", "stop"), TINY.values(), ids=TINY)
@pytest.mark.parametrize("arms", [1, 2, 3])
def test_the_priors_of_all_mappings_sum_to_one(structure, stop, arms):
    if arms**structure.leaves > 1000:
        arms = 2
    priors = [math.exp(-prior_cost(structure, g, arms=arms, stop=stop)) for g in product(range(arms), repeat=structure.leaves)]
    assert math.isclose(math.fsum(priors), 1.0, rel_tol=1e-10)


def test_every_structure_is_tried():
    assert {kind.__name__ for kind in cases.FAMILIES} == set(hsb.Structure.kinds)


@pytest.mark.nojit
def test_nothing_underflows():
    tree = hsb.BinaryTree(depth=16)
    N = tree.leaves
    assert math.isclose(prior_cost(tree, np.arange(N) % 2, arms=5), N * ln(5) + (N - 1) * ln(2), rel_tol=1e-12)
    assert math.isclose(prior_cost(tree, np.arange(N) % 2, arms=5, stop=0.0), N * ln(5), rel_tol=1e-12)
    assert 150 * ln(150) < prior_cost(hsb.Lexicographic(leaves=150), np.arange(150), arms=150) < 150 * ln(150) * 2
    assert 1000 < prior_cost(hsb.PositionSplits(bits=[5, 5]), np.arange(1024) % 7, arms=7) < math.inf


def test_a_structure_of_one_leaf_is_exp3():
    for one in (
        hsb.BinaryTree(depth=0),
        hsb.Lexicographic(leaves=1),
        hsb.PositionSplits(bits=[0]),
        hsb.ArbitrarySplits(leaves=1),
    ):
        assert math.isclose(prior_cost(one, [2], arms=3), ln(3))


def test_what_cannot_be_represented_costs_infinity():
    pair = hsb.Hierarchy({"all": {"leaves": [0, 1, 2], "groups": [["a", "b"]]}, "a": {"leaves": [0]}, "b": {"leaves": [1, 2]}})
    assert prior_cost(pair, [0, 0, 1], arms=2) == math.inf
    assert math.isclose(prior_cost(pair, [1, 0, 0], arms=2), ln(8))


def test_one_of_trees_on_other_features():
    """A mapping of feature 0 means nothing to a tree on feature 1, unless it is constant."""
    square = hsb.Box.unit(2)
    first = hsb.BinaryTree(depth=3, space=square, features=[0])
    second = hsb.BinaryTree(depth=2, space=square, features=[1])
    both = hsb.OneOf(second, first)
    halves = [0] * 4 + [1] * 4
    assert math.isclose(prior_cost(both, halves, arms=2), prior_cost(first, halves, arms=2) + ln(3))
    ones = [math.exp(-prior_cost(s, [0] * s.leaves, arms=2)) for s in (first, second)]
    assert math.isclose(math.exp(-prior_cost(both, [0] * 8, arms=2)), (0.5 + sum(ones)) / 3)


def test_a_coarse_member_represents_what_is_constant_on_its_leaves():
    """The bound of `OneOf` holds for every mapping, and one that the coarse member can represent costs far less."""
    pair = hsb.OneOf(hsb.BinaryTree(depth=12), hsb.Lexicographic(leaves=16))
    N = pair.leaves
    bound = theory.prior_bound(pair, arms=2, regions=3)
    fits = np.repeat([0, 1, 0], [N * 3 // 16, N * 2 // 16, N * 11 // 16])
    thirds = np.arange(N) * 3 // N % 2
    assert prior_cost(pair, fits, arms=2) < prior_cost(pair, thirds, arms=2) / 2
    assert prior_cost(pair, thirds, arms=2) < bound


@pytest.mark.parametrize(
    "mapping",
    [[0, 1], [0, 1, 2, 0], [-1, 0, 0, 0], [0.0, 1.0, 0.0, 0.0], [True] * 4, [[0, 1, 0, 1]], [[0], [1, 2]], "0101", None],
)
def test_other_mappings_are_refused(mapping):
    with pytest.raises(hsb.InputError, match="mapping must be the arm"):
        prior_cost(hsb.BinaryTree(depth=2), mapping, arms=2)


def test_other_arguments_are_refused():
    tree = hsb.BinaryTree(depth=1)
    with pytest.raises(hsb.InputError, match="structure is needed"):
        prior_cost("tree", [0, 1], arms=2)  # type: ignore[arg-type]
    with pytest.raises(hsb.InputError, match="arms"):
        prior_cost(tree, [0, 1], arms=0)
    for stop in (1.0, -0.1, math.nan, True):
        with pytest.raises(hsb.InputError, match="stop must be"):
            prior_cost(tree, [0, 1], arms=2, stop=stop)
    with pytest.raises(hsb.InputError, match="uniform prior"):
        prior_cost(hsb.OneOf(tree, hsb.Lexicographic(leaves=2)), [0, 1], arms=2, stop=0.5)


def test_a_comparison_of_too_many_cells_is_refused():
    square = hsb.Box.unit(2)
    pair = hsb.OneOf(*(hsb.BinaryTree(depth=12 - j, space=square, features=[j]) for j in (0, 1)))
    with pytest.raises(hsb.BudgetError, match="points"):
        prior_cost(pair, [0] * 4096, arms=2)
