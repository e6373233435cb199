"""The slow versions agree with one another, with numbers worked by hand, and notice errors."""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt
import pytest

from naive import mixture as naive

ARMS = 3
HIERARCHIES = {
    "single leaf": naive.binary_tree(0),
    "binary": naive.binary_tree(2),
    "binary, stop 0.8": naive.binary_tree(2, stop=0.8),
    "binary, never stop": naive.binary_tree(2, stop=0.0),
    "3-ary": naive.kary_tree(3, 1),
    "lexicographic": naive.lexicographic(5),
    "3-group": naive.grouped_lexicographic(5, 3),
    "position": naive.position_splits([1, 1]),
    "position, uneven": naive.position_splits([2, 0]),
    "arbitrary": naive.arbitrary_splits(4),
    "one of": naive.one_of(naive.binary_tree(2, 0.7), naive.lexicographic(4)),
    "one of, nested": naive.one_of(
        naive.one_of(naive.binary_tree(2), naive.kary_tree(4, 1)), naive.with_stop(naive.position_splits([1, 1]), 0.3), stop=0.0
    ),
    **{f"random {n}": naive.random_hierarchy(np.random.default_rng(n), 5) for n in range(8)},
}
each_hierarchy = pytest.mark.parametrize("hierarchy", HIERARCHIES.values(), ids=HIERARCHIES)


def rounds(
    hierarchy: naive.Hierarchy, count: int = 25, masked: bool = False, seed: int = 0
) -> Iterator[tuple[int, int, float, list[int] | None]]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        available = rng.permutation(ARMS)[: rng.integers(1, ARMS + 1)].tolist()
        arm = available[0] if masked else int(rng.integers(ARMS))
        leaf, x = int(rng.integers(hierarchy.leaves)), float(rng.exponential())
        yield leaf, arm, x, available if masked else None


def gap(
    first: naive.Recursion | naive.Mixture, second: naive.Recursion | naive.Mixture, hierarchy: naive.Hierarchy, masked: bool
) -> float:
    """Largest difference in p over all leaves while both learn the same rounds."""
    worst = 0.0
    for leaf, arm, x, available in rounds(hierarchy, masked=masked):
        for s in range(hierarchy.leaves):
            for given in (None, available):
                p, q = first.probabilities(s, given), second.probabilities(s, given)
                assert abs(p.sum() - 1) < 1e-12
                assert given is None or set(np.flatnonzero(p)) == set(given)
                worst = max(worst, float(np.abs(p - q).max()))
        first.learn(leaf, arm, x, available)
        second.learn(leaf, arm, x, available)
    return worst


def representations(hierarchy: naive.Hierarchy, node: naive.Node) -> list[tuple[float, list[frozenset[int]]]]:
    """Return every way to split `node` into regions at which it stops, with its prior."""
    stop, splits = hierarchy.options(node)
    ways = [(stop, [hierarchy.regions[node]])]
    for share, group in splits:
        partial: list[tuple[float, list[frozenset[int]]]] = [(share, [])]
        for child in group:
            below = representations(hierarchy, child)
            partial = [(a * b, x + y) for a, x in partial for b, y in below]
        ways += partial
    return ways


@each_hierarchy
@pytest.mark.parametrize("masked", [False, True])
def test_recursion_is_the_mixture(hierarchy: naive.Hierarchy, masked: bool) -> None:
    recursion, mixture = naive.Recursion(hierarchy, ARMS), naive.Mixture(hierarchy, ARMS)
    assert abs(mixture.beta.sum() - 1) < 1e-12
    assert gap(recursion, mixture, hierarchy, masked) < 1e-12


@each_hierarchy
def test_offering_every_arm_is_no_mask(hierarchy: naive.Hierarchy) -> None:
    plain, offering = naive.Recursion(hierarchy, ARMS), naive.Recursion(hierarchy, ARMS)
    for leaf, arm, x, _ in rounds(hierarchy):
        plain.learn(leaf, arm, x)
        offering.learn(leaf, arm, x, np.ones(ARMS, dtype=bool))
    for s in range(hierarchy.leaves):
        np.testing.assert_allclose(plain.probabilities(s), offering.probabilities(s), rtol=1e-12)


def test_a_wrong_prior_structure_or_constant_is_noticed() -> None:
    """Negative control: each of these must be far outside the tolerance above."""
    right = HIERARCHIES["binary"]
    wrong_prior = naive.binary_tree(2, stop=0.6)
    wrong_structure = naive.lexicographic(4)
    for wrong in (wrong_prior, wrong_structure):
        both = naive.Recursion(right, ARMS), naive.Mixture(wrong, ARMS)
        assert gap(*both, right, masked=False) > 1e-3

    class WithoutC(naive.Recursion):
        def learn(self, leaf: int, arm: int, x: float, available: naive.Available = None) -> None:
            super().learn(leaf, arm, x)

    assert gap(WithoutC(right, ARMS), naive.Mixture(right, ARMS), right, masked=True) > 1e-3


@each_hierarchy
def test_final_probabilities_are_those_after_the_rounds(hierarchy: naive.Hierarchy) -> None:
    recursion = naive.Recursion(hierarchy, ARMS)
    penalties = np.zeros((hierarchy.leaves, ARMS))
    for leaf, arm, x, _ in rounds(hierarchy):
        recursion.learn(leaf, arm, x)
        penalties[leaf, arm] += x
    expected = [recursion.probabilities(s) for s in range(hierarchy.leaves)]
    np.testing.assert_allclose(naive.final_probabilities(hierarchy, penalties), expected, rtol=1e-12)


def decimal_probability(hierarchy: naive.Hierarchy, penalties: npt.NDArray[np.float64], leaf: int, arm: int) -> float:
    """p of one arm by the sum over every representation, in 60 digits."""
    arms = penalties.shape[1]
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -(10**17), 10**17
        chosen = total = Decimal(0)
        for prior, regions in representations(hierarchy, hierarchy.root):
            every = only = Decimal(prior)
            for region in regions:
                exact = [sum(Decimal(x) for x in penalties[sorted(region), m]) for m in range(arms)]
                alpha = [(-Decimal(e)).exp() / arms for e in exact]
                every *= sum(alpha)
                only *= alpha[arm] if leaf in region else sum(alpha)
            total += every
            chosen += only
        return float(chosen / total)


@pytest.mark.parametrize("name", ["binary", "lexicographic", "one of", "random 1"])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e7])
def test_final_probabilities_with_huge_penalties(name: str, scale: float) -> None:
    hierarchy, rng = HIERARCHIES[name], np.random.default_rng(3)
    shape = hierarchy.leaves, ARMS
    penalties = scale * rng.integers(0, 3, shape) + rng.exponential(size=shape)
    p = naive.final_probabilities(hierarchy, penalties)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    for leaf in range(hierarchy.leaves):
        for arm in range(ARMS):
            exact = decimal_probability(hierarchy, penalties, leaf, arm)
            # 1e-8: a penalty of 2e7 is itself known to 4e-9 only.
            assert math.isclose(p[leaf, arm], exact, rel_tol=1e-8, abs_tol=1e-300)


def test_exp3_and_s_exp3_are_special_cases() -> None:
    penalties = 1e6 + 5 * np.random.default_rng(4).random((8, ARMS))
    leaf, finest = naive.binary_tree(0), naive.binary_tree(3, stop=0.0)
    np.testing.assert_allclose(naive.final_probabilities(leaf, penalties[:1]), [naive.exp3(penalties[0])], rtol=1e-12)
    np.testing.assert_allclose(naive.final_probabilities(finest, penalties), naive.s_exp3(penalties), rtol=1e-12)
    always = naive.final_probabilities(naive.binary_tree(3, stop=1.0), penalties)
    np.testing.assert_allclose(always, [naive.exp3(penalties.sum(axis=0))] * 8, rtol=1e-8)


def test_by_hand() -> None:
    """Depth 1, two arms, x = ln 2 at leaf 0, arm 0: w = 3/4, gamma = 1/4 and 5/16."""
    recursion = naive.Recursion(naive.binary_tree(1), 2)
    recursion.learn(0, 0, math.log(2))
    np.testing.assert_allclose(recursion.probabilities(0), [1 / 3, 2 / 3], rtol=1e-15)
    np.testing.assert_allclose(recursion.probabilities(1), [5 / 12, 7 / 12], rtol=1e-15)


@each_hierarchy
def test_most_probable_is_the_best_representation(hierarchy: naive.Hierarchy) -> None:
    penalties = 10 * np.random.default_rng(5).random((hierarchy.leaves, ARMS))
    pieces, value = naive.most_probable(hierarchy, penalties)
    assert sorted(leaf for region, _ in pieces for leaf in region) == [*range(hierarchy.leaves)]

    def weight(prior: float, regions: list[frozenset[int]]) -> float:
        best = sum(penalties[sorted(r)].sum(axis=0).min() + math.log(ARMS) for r in regions)
        return math.log(prior) - best if prior > 0 else -math.inf

    ways = representations(hierarchy, hierarchy.root)
    assert abs(sum(prior for prior, _ in ways) - 1) < 1e-12
    assert math.isclose(value, max(weight(*way) for way in ways), rel_tol=1e-12)
    mine = [region for region, _ in pieces]
    assert any(regions == mine and math.isclose(weight(p, regions), value) for p, regions in ways)
    assert all(arm == penalties[sorted(r)].sum(axis=0).argmin() for r, arm in pieces)


@each_hierarchy
def test_add_arm(hierarchy: naive.Hierarchy) -> None:
    early, later = naive.Recursion(hierarchy, ARMS - 1), naive.Recursion(hierarchy, ARMS)
    early.add_arm()  # before any round: as if it had been there
    assert gap(early, later, hierarchy, masked=True) < 1e-12

    before = np.array([later.probabilities(s) for s in range(hierarchy.leaves)])
    mass = later.w()
    later.add_arm()
    assert later.w() == pytest.approx(mass, rel=1e-12)
    for s, old in enumerate(before):
        expected = [*(old * ARMS / (ARMS + 1)), 1 / (ARMS + 1)]
        np.testing.assert_allclose(later.probabilities(s), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["binary", "lexicographic", "one of"])
def test_add_arm_between_rounds_over_representations(name: str) -> None:
    hierarchy = HIERARCHIES[name]
    recursion = naive.Recursion(hierarchy, ARMS)
    shares = {region: np.full(ARMS, 1 / ARMS) for region in hierarchy.regions.values()}
    for t, (leaf, arm, x, _) in enumerate(rounds(hierarchy)):
        if t == 12:
            recursion.add_arm()
            for r, share in shares.items():
                shares[r] = np.array([*(share * ARMS / (ARMS + 1)), share.sum() / (ARMS + 1)])
        arm = ARMS if t % 5 == 4 and t > 12 else arm
        recursion.learn(leaf, arm, x)
        for r in shares:
            shares[r][arm] *= math.exp(-x) if leaf in r else 1.0
    for s in range(hierarchy.leaves):
        gamma = np.zeros(ARMS + 1)
        for prior, regions in representations(hierarchy, hierarchy.root):
            others = math.prod(shares[r].sum() for r in regions if s not in r)
            gamma += prior * others * next(shares[r] for r in regions if s in r)
        np.testing.assert_allclose(recursion.probabilities(s), gamma / gamma.sum(), rtol=1e-12)


def test_a_sole_available_arm_loses_nothing() -> None:
    recursion = naive.Recursion(naive.binary_tree(1), ARMS)
    before = recursion.probabilities(0)
    recursion.learn(0, 1, 1e6, [1])
    np.testing.assert_array_equal(recursion.probabilities(0), before)


def test_shapes_of_the_builders() -> None:
    tree = naive.kary_tree(3, 2)
    assert tree.regions[(1,)] == {3, 4, 5} and tree.regions[(2, 1)] == {7}
    graph = naive.lexicographic(4)
    assert graph.groups[(0, 4)] == [((0, s), (s, 4)) for s in (1, 2, 3)]
    assert len(graph.regions) == 4 * 5 // 2
    grouped = naive.grouped_lexicographic(6, 3)
    assert len(grouped.groups[(0, 6)]) == math.comb(5, 2)
    assert grouped.groups[(0, 2)] == [((0, 1), (1, 2))]
    boxes = naive.position_splits([1, 2])
    assert len(boxes.regions) == 3 * 7 and boxes.regions[(1, 2), (2, 3)] == {6}
    assert len(boxes.containing(0)) == 2 * 3
    sets = naive.arbitrary_splits(4)
    assert len(sets.regions) == 2**4 - 1 and len(sets.groups[sets.root]) == 2**3 - 1


def test_bad_hierarchies_are_refused() -> None:
    tree = naive.binary_tree(1)
    with pytest.raises(ValueError, match="does not partition"):
        replace(tree, groups={**tree.groups, (): [((0,), (0,))]})
    with pytest.raises(ValueError, match="does not cover"):
        replace(tree, leaves=3)
    with pytest.raises(ValueError, match="does not partition"):
        naive.one_of(tree, naive.binary_tree(2))
