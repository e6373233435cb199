"""What `docs/errata.md` says of the paper, in numbers. Section numbers are those of that page."""

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from naive import hierarchies as naive_hierarchies
from naive import mixture as naive
from support.cost_cases import fewest_splits

import hsb
from hsb import theory
from hsb.experiments.paper.rates import best_of_depth

ln = math.log
PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text()


def test_the_page_names_what_is_tested_here():
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", PAGE))
    assert named == {name for name in globals() if name.startswith("test_")} - {"test_the_page_names_what_is_tested_here"}


def test_exp4_over_regions_has_the_smaller_bound():
    """Section I-A: EXP4 over the mappings of R regions against Examples 4 and 2, all with the right constants; then with the exact prior."""
    N, M, R, T = 1024, 3, 3, 10**5
    mappings = sum(
        math.comb(N - 1, r - 1) * M * (M - 1) ** (r - 1) for r in range(1, R + 1)
    )  # cuts, an arm, then another one each time
    exp4 = theory.exp4_bound(arms=M, horizon=T, experts=mappings)
    tree = hsb.BinaryTree(depth=10)
    lexicographic = math.sqrt(2 * 2 * R * ln(N * M) * M * T)
    assert (mappings, round(exp4), round(lexicographic)) == (6_279_177, 3065, 5377)
    assert round(theory.regret_bound(tree, arms=M, horizon=T, regions=R)) == 6720
    small = hsb.Lexicographic(leaves=64)
    assert math.isclose(
        theory.prior_bound(small, arms=M, regions=R), 2 * R * ln(64 * M)
    )  # the formula used above is the library's
    exact = {}
    for name, cuts in {"early": (256, 512), "thirds": (341, 683)}.items():
        cost = theory.prior_cost(tree, np.searchsorted(cuts, np.arange(N), side="right"), arms=M)
        exact[name] = round(math.sqrt(2 * cost * M * T))
    assert exact == {"early": 1971, "thirds": 5150}
    rng = np.random.default_rng(0)
    for _ in range(100):
        cuts = np.sort(rng.choice(np.arange(1, N), 2, replace=False))
        assert theory.prior_cost(tree, np.searchsorted(cuts, np.arange(N), side="right"), arms=M) > ln(mappings)
    for depth in range(1, 13):
        for arms in range(2, 2**depth + 1):  # N >= M >= 2
            assert 2 * depth * ln(2 * arms) >= 2 * ln(2**depth * arms) * (1 - 1e-12)
            for r in (2, 3, 10):
                assert 2 * ((r - 1) * depth + 1) * ln(2 * arms) > r * ln(2**depth * arms)
    assert 2 * 1 * ln(2 * 64) < 2 * ln(2 * 64) + 1e-9  # control: on two leaves with 64 arms it is no more than twice


def test_depth_is_not_free_in_the_papers_own_bound():
    bounds = [theory.regret_bound(hsb.BinaryTree(depth=depth), arms=3, horizon=10**5) / 10**5 for depth in (2, 5, 10)]
    assert bounds == sorted(bounds)
    assert round(bounds[2] - bounds[1], 4) == 0.0186
    assert round(best_of_depth(5) - best_of_depth(10), 5) == 0.00041


def test_a_single_run_can_exceed_the_bound():
    """One leaf, losses (0, 1): a run may play the second arm in every round, and then loses more than the bound; the mean does not."""
    T = 3
    rate = theory.exp3_rate(arms=2, horizon=T)
    bound = theory.exp3_bound(arms=2, horizon=T)

    def outcomes(t, policy, probability, lost):
        if t == T:
            yield probability, lost
            return
        p = policy.probabilities(0.5)
        for arm in (0, 1):
            then = policy.copy()
            then.learn(hsb.Decision(context=0.5, arm=arm, propensity=float(p[arm])), loss=float(arm))
            yield from outcomes(t + 1, then, probability * float(p[arm]), lost + arm)

    every = list(outcomes(0, hsb.HSB(hsb.BinaryTree(depth=0), arms=2, learning_rate=rate), 1.0, 0))
    assert math.isclose(sum(probability for probability, _ in every), 1.0) and round(bound, 2) == 2.88
    assert round(sum(probability for probability, lost in every if lost > bound), 4) == 0.0087
    assert sum(probability * lost for probability, lost in every) <= bound


def test_corollary_1_is_twice_what_is_printed():
    A, M, T = 75.0, 3, 10**5
    best = min(A / rate + M * T * rate / 2 for rate in np.geomspace(1e-5, 10, 20_001))
    assert math.isclose(best, math.sqrt(2 * A * M * T), rel_tol=1e-6)
    assert math.isclose(best, 2 * math.sqrt(A * M * T / 2), rel_tol=1e-6)


def test_theorem_2_signs_and_no_splits():
    """ln(1/beta) is positive, so cannot be below a negative number; the last step of the proof holds with A_R = 0 too."""
    tree = hsb.BinaryTree(depth=4)
    constant = theory.prior_cost(tree, [0] * 16, arms=3)
    assert 0 < constant <= ln(2 * 3) <= theory.prior_bound(tree, arms=3, regions=1)
    for A in range(5):
        for psi in range(1, 6):
            assert A * psi + 1 <= psi * (A + 1)
            assert A * psi - A + 1 <= psi * (A + 1)


def test_regions_must_be_counted_along_the_leaves():
    """Two regions, but Examples 2 and 6 are wrong: on a line where they interleave, in a square where their border is a diagonal."""
    line = hsb.BinaryTree(depth=6)
    assert theory.prior_cost(line, np.arange(64) % 2, arms=2) > theory.prior_bound(line, arms=2, regions=2)

    square = hsb.BinaryTree(depth=8, space=hsb.Box.unit(2))
    middles = (np.arange(16) + 0.5) / 16
    mapping = np.empty(256, dtype=int)
    for x in middles:
        for y in middles:
            mapping[square.leaf_of([x, y])] = int(x + y < 1)
    assert theory.prior_cost(square, mapping, arms=2) > theory.prior_bound(square, arms=2, regions=2)
    assert theory.prior_cost(square, mapping, arms=2) <= theory.prior_bound(
        square, arms=2, regions=1 + int(np.count_nonzero(np.diff(mapping)))
    )


def test_a_rectangle_needs_more_splits_than_example_6_says():
    block = np.zeros((4, 4), dtype=int)
    block[1:3, 1:3] = 1
    assert fewest_splits(naive.position_splits([2, 2]), block.ravel().tolist()) == 9 > (2 - 1) * 4


def test_more_cells_cost_more_splits_in_the_plane():
    """The tree's splits for one diagonal border: about 2 sqrt(N), not log2 N."""
    needed = []
    for depth in (2, 4, 6, 8):
        tree = hsb.BinaryTree(depth=depth, space=hsb.Box.unit(2))
        corners = [[start for start, _ in tree.region(leaf)] for leaf in range(tree.leaves)]
        below = [int(x + y + 2.0 ** -(depth // 2) < 1) for x, y in corners]
        needed.append(fewest_splits(naive.binary_tree(depth), below))
    assert all(later > 1.9 * earlier for earlier, later in pairwise(needed))
    assert needed[-1] > 3 * 8


def test_the_worst_case_is_only_twice_s_exp3():
    """Section II promises it; Example 2 does not show it, the exact prior does."""
    tree = hsb.BinaryTree(depth=10)
    uniform = tree.leaves * ln(2)
    assert theory.prior_bound(tree, arms=2, regions=tree.leaves) > 35 * uniform
    for depth in range(1, 13):
        for arms in (2, 3, 10, 128, 1000, 10**6):
            first, last, _ = hsb.BinaryTree(depth=depth).example(arms, 2**depth)
            assert last > 2 * depth * 2**depth * ln(arms)
            assert first > (2 * depth - 0.5) * 2**depth * ln(arms)
    first, _, _ = hsb.BinaryTree(depth=2).example(1000, 4)
    assert first < 2 * 2 * 4 * ln(1000)  # so that the first line is not always 2 log2 N times as large: 106.4 and 110.5
    assert theory.prior_cost(tree, np.arange(tree.leaves) % 2, arms=2) < 2 * uniform


def test_short_intervals_need_a_rule():
    """Three groups of four leaves leave a pair that cannot be divided: four single leaves have no prior weight."""

    def split(node):
        a, b = node
        return [g for g in [((a, i), (i, j), (j, b)) for i in range(a + 1, b) for j in range(i + 1, b)] if b - a >= 3]

    printed = naive_hierarchies._grow((0, 4), 4, lambda node: range(*node), split)
    assert naive.mapping_prior(printed, 2, [0, 1, 0, 1]) == 0.0
    assert theory.prior_cost(hsb.GroupedLexicographic(leaves=4, groups=3), [0, 1, 0, 1], arms=2) < math.inf


def test_groups_must_partition():
    nodes = {
        "all": {"leaves": [0, 1], "groups": [["all of it", "left"]]},
        "all of it": {"leaves": [0, 1]},
        "left": {"leaves": [0]},
    }
    with pytest.raises(hsb.InputError, match="not a partition"):
        hsb.Hierarchy(nodes)
    # with the overlap, (9) charges a loss x at leaf 0 twice: more than e^-x is taken from a mapping that loses x
    x = 1.0
    w = (1 / 2) * (1 + math.exp(-x)) / 2 + (1 / 2) * ((1 + math.exp(-x)) / 2) ** 2
    mappings_at_0 = (1 + math.exp(-x)) / 2  # any prior that treats the arms alike
    assert w < mappings_at_0 - 0.05


def test_the_last_lines_of_examples_1_to_6():
    """The steps printed without a condition fail on one leaf; Example 1's needs two arms, as it says; Example 5's has room."""
    for M in range(1, 6):
        for N in range(1, 30):
            first, last = 2 * M * ln(2 ** (N - 1) * M), 2 * M * N * ln(M)
            assert (first <= last + 1e-9) == (M >= 2 or N == 1)
            for K in range(2, 6):
                for R in range(1, N + 1):
                    cost = (math.ceil((R - 1) / (K - 1)) + 1) * ln((1 + math.comb(N - 1, K - 1)) * M)
                    assert cost <= (R + 2 * K - 4 + (N == 1)) * ln(N * M) + 1e-9
    for D in range(4):
        for R in range(1, 5):
            assert ((R - 1) * D + 1 <= R * D) == (D >= 1)


def test_example_1_is_worse_than_equal_weights():
    """2 M ln(2^(N-1) M) is above N ln M, the cost of M^N equal weights; the exact cost of few regions is below."""
    for M in range(2, 8):
        for N in range(1, 40):
            assert 2 * M * ((N - 1) * ln(2) + ln(M)) > N * ln(M)
    assert theory.prior_cost(hsb.ArbitrarySplits(leaves=12), [0, 1, 1] * 4, arms=3) < 12 * ln(3)


def test_the_summary_of_the_examples_leaves_factors_out():
    """Costs over R ln N ln M, which the summary takes for bounded: they grow with K in Examples 3 and 5, with d in Example 6, and with
    neither in Examples 2 and 4."""

    def over(structure, arms, regions):
        return structure.example(arms, regions)[0] / (regions * ln(structure.leaves) * ln(arms))

    wide = [over(hsb.KaryTree(k=k, depth=1), 3, 2) for k in (4, 16, 64, 256)]
    groups = [over(hsb.GroupedLexicographic(leaves=40, groups=k), 3, 2) for k in (2, 4, 8, 16)]
    features = [over(hsb.PositionSplits(bits=[8 // d] * d), 2, 2) for d in (2, 4, 8)]  # 256 leaves each
    assert all(later > 1.1 * earlier for growing in (wide, groups, features) for earlier, later in pairwise(growing))
    assert wide[-1] > 10 * wide[0] and groups[-1] > 10 * groups[0]
    bounded = [over(hsb.BinaryTree(depth=depth), 3, 2) for depth in range(1, 20)]
    bounded += [over(hsb.Lexicographic(leaves=n), 3, 2) for n in (2, 8, 32, 128)]
    assert max(bounded) < 10


def test_theorem_2_exceeds_the_dearest_mapping_there_is():
    """Depth 5, by all mappings of few leaves (`tests/structures/test_dearest.py`) and here by the dearest: pairs of leaves that differ."""
    tree = hsb.BinaryTree(depth=5)
    for arms, closed, dearest in ((3, 39.4, 20.3), (10, 275.6, 78.4), (50, 2265.7, 146.7)):
        assert round(theory.prior_bound(tree, arms=arms, regions=arms), 1) == closed
        assert round(theory.worst_cost(tree, arms=arms, regions=arms), 1) == dearest
    everything = theory.prior_cost(tree, np.arange(32) % 2, arms=10)
    assert round(everything, 1) == 95.2 == round(theory.worst_cost(tree, arms=10, regions=32), 1)


def test_theorem_3_fails_for_losses_that_change():
    """One cell, distinct contexts, two arms whose losses do not depend on the context at all: c = 0."""
    T = 1000
    contexts = np.linspace(0, 1, T)
    losses = np.stack([np.arange(T) % 2, 1 - np.arange(T) % 2], axis=1)
    memory = {s: int(np.argmin(row)) for s, row in zip(contexts.tolist(), losses, strict=True)}
    assert sum(losses[t, memory[s]] for t, s in enumerate(contexts.tolist())) == 0
    assert losses.sum(axis=0).tolist() == [T / 2, T / 2]
    assert theory.quantisation_gap(1, 1, 0.0) == 0.0


def test_theorem_3_holds_for_one_fixed_function_per_arm():
    """c times the diagonal, with the arm that is best in the middle; the arm that is best in a corner can lose more."""
    rng = np.random.default_rng(0)
    centres, heights = rng.random((4, 2)), rng.random(4) * 0.2
    c, tree = 0.7, hsb.BinaryTree(depth=5, space=hsb.Box.unit(2))
    points = rng.random((20_000, 2))

    def loss(at):
        return heights + c * np.linalg.norm(at[:, None, :] - centres, axis=2)

    boxes = np.array([tree.region(leaf) for leaf in range(tree.leaves)])
    leaves = tree.leaf(points)
    gaps = loss(points)[np.arange(len(points)), loss(boxes.mean(axis=2)).argmin(axis=1)[leaves]] - loss(points).min(axis=1)
    diagonal = math.hypot(1 / 8, 1 / 4)
    assert 0 < gaps.max() <= c * diagonal <= theory.quantisation_gap(32, 2, c)

    s = np.linspace(0, 1, 101)  # one cell of diagonal 1, two arms that cross at its left end, nearly
    two = np.stack([0.5 + 0.4 * s, 0.501 - 0.4 * s], axis=1)
    excess = two - two.min(axis=1, keepdims=True)
    assert excess[:, two[0].argmin()].max() > 1.9 * 0.4
    assert excess[:, two[50].argmin()].max() <= 0.4


def test_theorem_3_is_for_halves():
    """A tree of 9 parts over two features: the diagonal of its cells is longer than 2 sqrt(n) / N^(1/n)."""
    assert math.hypot(1 / 9, 1) > theory.quantisation_gap(9, 2, 1.0)
    wide = hsb.KaryTree(k=9, depth=1, space=hsb.Box.unit(2))
    same = {"arms": 2, "horizon": 100}
    extra = theory.policy_bound(wide, **same, lipschitz=1.0) - theory.regret_bound(wide, **same)
    assert math.isclose(extra, 100 * math.hypot(1 / 9, 1))


def test_the_optimal_threshold_is_right():
    """Section VI-A: 0.9182 is where 1/2 + sin(2 pi s)/2 = sin(pi s); the best policy loses 0.1957."""
    s = (np.arange(1_000_000) + 0.5) / 1_000_000
    p = np.stack([0.5 + 0.5 * np.sin(2 * np.pi * s), np.sin(np.pi * s), s])
    best = p.argmin(axis=0)
    changes = np.flatnonzero(np.diff(best))
    assert best[[0, changes[0] + 1, changes[1] + 1]].tolist() == [2, 0, 1]
    assert np.allclose(s[changes], [0.5, 0.9181965], atol=2e-6)
    assert round(p.min(axis=0).mean(), 4) == 0.1957
