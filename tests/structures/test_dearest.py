"""The dearest mapping of few regions: `theory.worst_cost` against every mapping there is, and what the policies' bounds make of it."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture as naive
from support import structure_cases as cases

import hsb
from hsb import theory
from hsb.theory import prior_bound, prior_cost, worst_cost

ln = math.log
pytestmark = pytest.mark.nojit
quick = settings(deadline=None, derandomize=True, max_examples=100)


def dearest(structure, arms, stop=None):
    """By listing all mappings: the largest cost with at most R regions, for R = 1, 2, ..."""
    most = [0.0] * (structure.leaves + 1)
    for mapping in product(range(arms), repeat=structure.leaves):
        regions = 1 + sum(a != b for a, b in pairwise(mapping))
        most[regions] = max(most[regions], prior_cost(structure, mapping, arms=arms, stop=stop))
    return list(np.maximum.accumulate(most[1:]))


TREES = [(2, 0, 3), (2, 1, 2), (2, 2, 3), (2, 3, 2), (2, 3, 3), (3, 1, 3), (3, 2, 2), (4, 1, 3), (5, 1, 2)]


@pytest.mark.parametrize("stop", [None, 0.0, 0.2, 0.9])
@pytest.mark.parametrize(("k", "depth", "arms"), TREES)
def test_on_trees_it_is_the_dearest_of_all_mappings(k, depth, arms, stop):
    tree = hsb.KaryTree(k=k, depth=depth)
    for regions, most in enumerate(dearest(tree, arms, stop), start=1):
        assert worst_cost(tree, arms=arms, regions=regions, stop=stop) == pytest.approx(most, rel=1e-12)
    assert worst_cost(tree, arms=1, regions=5, stop=stop) == pytest.approx(0.0, abs=1e-12)


def twin(depth, k, arms, most, stop=0.5):
    """The recursion by levels as it is written down, changes between children counted, for exactly c changes: O(levels K c^2)."""
    value = {0: -ln(arms)}
    for _ in range(depth):
        several = {0: 0.0}
        for _ in range(k):
            joined: dict[int, float] = {}
            for (c, one), (d, other), between in product(several.items(), value.items(), (0, 1)):
                if c + d + between <= most:
                    joined[c + d + between] = min(joined.get(c + d + between, 0.0), one + other)
            several = joined
        constant = np.logaddexp(ln(stop) - ln(arms), ln(1.0 - stop) + k * value[0])
        value = {c: ln(1.0 - stop) + below for c, below in several.items()} | {0: float(constant)}
    return -min(value[c] for c in range(most + 1) if c in value)


@pytest.mark.parametrize(("k", "depth"), [(2, 5), (2, 10), (2, 52), (3, 4)])
def test_deep_trees_equal_the_recursion(k, depth):
    for arms, regions, stop in ((2, 2, 0.5), (3, 3, 0.5), (10, 10, 0.5), (3, 7, 0.1), (3, 12, 0.9)):
        result = worst_cost(hsb.KaryTree(k=k, depth=depth), arms=arms, regions=regions, stop=stop)
        assert result == pytest.approx(twin(depth, k, arms, regions - 1, stop), rel=1e-12)


def test_the_numbers_of_depth_5():
    """Those that Theorem 2 exceeds the dearest mapping by: with 50 arms 15 times."""
    tree = hsb.BinaryTree(depth=5)
    for arms, exact, all_of_them, closed in ((3, 20.3, 56.6, 39.4), (10, 78.4, 95.2, 275.6), (50, 146.7, 146.7, 2265.7)):
        assert round(worst_cost(tree, arms=arms, regions=arms), 1) == exact
        assert round(worst_cost(tree, arms=arms, regions=32), 1) == all_of_them
        assert round(prior_bound(tree, arms=arms, regions=arms), 1) == closed
        assert all_of_them == round(32 * ln(arms) + 31 * ln(2), 1)  # all pairs of leaves differ


def test_it_goes_up_the_levels_once_however_deep_the_tree():
    tree = hsb.BinaryTree(depth=52)
    costs = [worst_cost(tree, arms=arms, regions=regions) for arms in (2, 3, 10, 50) for regions in range(1, 51)]
    assert all(np.diff(costs[:50]) >= 0.0) and max(costs) < 20_000
    deep = hsb.BinaryTree(depth=4000, space=hsb.Box.unit(100))
    assert worst_cost(deep, arms=2, regions=2) < worst_cost(deep, arms=2, regions=10**6) < math.inf
    assert worst_cost(deep, arms=2, regions=2, stop=0.0) == math.inf  # 2^4000 ln 2


# -- other structures ----------------------------------------------------------------------------------------------------

OTHERS = {
    "lexicographic": hsb.Lexicographic(leaves=6),
    "3 groups": hsb.GroupedLexicographic(leaves=7, groups=3),
    "fewer leaves than groups": hsb.GroupedLexicographic(leaves=4, groups=6),
    "position": hsb.PositionSplits(bits=[2, 1]),
    "position, uneven": hsb.PositionSplits(bits=[0, 1, 2]),
    "position, one feature": hsb.PositionSplits(bits=[3]),
    "arbitrary": hsb.ArbitrarySplits(leaves=6),
    "hierarchy": cases.hierarchy(6, seed=5).structure,
    "one of": hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8)),
    "one of, nested": hsb.OneOf(hsb.BinaryTree(depth=2), hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8))),
    "one of, numbered otherwise": hsb.OneOf(
        hsb.PositionSplits(bits=[2, 1], space=hsb.Box.unit(2)), hsb.Lexicographic(leaves=8, space=hsb.Box.unit(2))
    ),
}


@pytest.mark.parametrize("structure", OTHERS.values(), ids=OTHERS)
def test_elsewhere_no_mapping_is_dearer_and_theorem_2_is_no_smaller(structure):
    for regions, most in enumerate(dearest(structure, 2), start=1):
        result = worst_cost(structure, arms=2, regions=regions)
        assert most <= result + 1e-9
        assert result <= prior_bound(structure, arms=2, regions=regions) + 1e-9
        assert result <= worst_cost(structure, arms=2, regions=structure.leaves) + 1e-9


@quick
@given(data=st.data())
def test_no_mapping_of_any_structure_is_dearer(data):
    """With arms of which some cost more, as those that were added do: every part is charged the dearest."""
    case = data.draw(st.one_of(*cases.FAMILIES.values()))
    arms, dearer = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([0.0, 0.7, 3.0]))
    size, structure = case.structure.leaves, case.structure
    mapping = np.array(data.draw(st.lists(st.integers(0, arms - 1), min_size=size, max_size=size)))
    phase = data.draw(st.sampled_from([1, 2, 4, size]))
    mapping = mapping[np.arange(size) // phase * phase]
    regions = 1 + int(np.count_nonzero(np.diff(mapping)))
    costs = np.full(arms, ln(arms))
    costs[data.draw(st.integers(0, arms)) :] += dearer
    exact = -structure.log_prior(mapping, -costs, case.stop)
    assert exact == math.inf or exact <= worst_cost(structure, arms=arms, regions=regions, stop=case.stop, dearer=dearer) + 1e-9


@pytest.mark.parametrize("structure", OTHERS.values(), ids=OTHERS)
def test_all_the_way_down_weighs_what_the_slow_recursion_says(structure):
    """`log_full` of the fast structures against the walk over all nodes."""
    if not isinstance(structure, hsb.OneOf):
        assert structure.log_full == pytest.approx(hsb.Structure.log_full.func(structure), rel=1e-12, abs=1e-12)


def test_one_change_less_is_too_little():
    """Negative control: what is said for R - 1 regions, or for a cheaper way to name an arm, is exceeded by a mapping of R."""
    for structure in (hsb.BinaryTree(depth=3), hsb.KaryTree(k=3, depth=2)):
        most = dearest(structure, 2)
        assert most[1] > worst_cost(structure, arms=2, regions=1) + 0.1
        assert most[2] > worst_cost(structure, arms=2, regions=2) + 0.1
    shape = naive.binary_tree(3)
    exact = -ln(naive.mapping_prior(shape, 3, [0, 1, 0, 1, 0, 1, 0, 1]))
    assert exact > worst_cost(hsb.BinaryTree(depth=3), arms=2, regions=8) + 0.1
    tree = hsb.BinaryTree(depth=3)
    later = np.array([ln(2), ln(2) + 3.0])  # of two arms the second came later
    dear = -tree.log_prior(np.array([1, 1, 1, 1, 1, 0, 1, 1]), -later, None)
    assert worst_cost(tree, arms=2, regions=3) < dear <= worst_cost(tree, arms=2, regions=3, dearer=3.0)


@pytest.mark.parametrize("wrong", [{"arms": 0}, {"regions": 0}, {"stop": 1.0}, {"dearer": -1.0}, {"dearer": math.nan}])
def test_other_arguments_are_refused(wrong):
    with pytest.raises(hsb.InputError, match=next(iter(wrong))):
        worst_cost(hsb.BinaryTree(depth=3), **({"arms": 2, "regions": 2} | wrong))
    with pytest.raises(hsb.InputError, match="stop= sets"):
        worst_cost(hsb.Lexicographic(leaves=3), arms=2, regions=2, stop=0.5)
    assert worst_cost(hsb.BinaryTree(depth=3), arms=2, regions=2, dearer=math.inf) == math.inf
    assert theory.worst_cost is worst_cost
