"""Every structure says the truth of itself: its constants, its cells, its cost, and its description as plain data."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixture as naive
from support.structures import EXAMPLES, OWN, PLANE, as_context, each, points

import hsb
from hsb.engine.state import trees
from hsb.learners.keys import Keys
from hsb.structures import from_dict, quantise
from hsb.structures.walk import log_beta

quick = settings(deadline=None, derandomize=True, max_examples=60)

countable = pytest.mark.parametrize(
    "structure", [s for s in EXAMPLES.values() if s.leaves <= 200], ids=[n for n, s in EXAMPLES.items() if s.leaves <= 200]
)


def test_every_class_is_covered_here():
    ours = {name for name, kind in hsb.Structure.kinds.items() if kind.__module__.startswith("hsb.")}
    assert ours == {type(structure).__name__ for structure in EXAMPLES.values()}
    assert ours <= set(hsb.__all__)


# -- constants -------------------------------------------------------------------------------------------------------


@pytest.mark.nojit
@quick
@given(leaves=st.integers(2, 14), regions=st.integers(2, 9), arms=st.integers(1, 9))
def test_example_1_arbitrary_splitting(leaves, regions, arms):
    s = hsb.ArbitrarySplits(leaves=leaves)
    assert (s.leaves, s.max_group, s.max_groups) == (leaves, 2, 2 ** (leaves - 1) - 1)
    assert s.splits(regions, arms) == arms - 1
    assert s.cost == (2 ** (leaves - 1), 3 ** (leaves - 1) - 2 ** (leaves - 1))


@pytest.mark.nojit
@quick
@given(k=st.integers(2, 9), depth=st.integers(1, 16), regions=st.integers(1, 9))
def test_examples_2_and_3_trees(k, depth, regions):
    s = hsb.KaryTree(k=k, depth=depth)
    assert (s.leaves, s.max_group, s.max_groups) == (k**depth, k, 1)
    assert s.splits(regions, 3) == (regions - 1) * depth
    assert s.cost == (depth + 1, depth)
    if k == 2:
        twin = hsb.BinaryTree(depth=depth)
        same = ("leaves", "max_group", "max_groups", "cost")
        assert all(getattr(twin, name) == getattr(s, name) for name in same)


@pytest.mark.nojit
@quick
@given(leaves=st.integers(2, 40), groups=st.integers(2, 8), regions=st.integers(1, 12))
def test_examples_4_and_5_intervals(leaves, groups, regions):
    s = hsb.GroupedLexicographic(leaves=leaves, groups=groups)
    assert (s.leaves, s.max_group) == (leaves, min(groups, leaves))
    assert s.max_groups == (math.comb(leaves - 1, groups - 1) if leaves >= groups else 1)
    assert s.splits(regions, 3) == math.ceil((regions - 1) / (groups - 1))
    if groups == 2:
        twin = hsb.Lexicographic(leaves=leaves)
        assert (twin.max_groups, twin.splits(regions, 3), twin.cost) == (leaves - 1, regions - 1, s.cost)


@pytest.mark.nojit
@quick
@given(bits=st.lists(st.integers(0, 4), min_size=1, max_size=4), regions=st.integers(1, 9))
def test_example_6_position_splitting(bits, regions):
    s = hsb.PositionSplits(bits=bits)
    assert (s.leaves, s.max_groups) == (2 ** sum(bits), sum(b > 0 for b in bits))
    assert s.max_group == (2 if sum(bits) else 1)
    assert s.splits(regions, 3) == (regions - 1) * sum(bits)
    assert s.cost.nodes == math.prod(b + 1 for b in bits)


NAIVE = {
    "binary": naive.binary_tree(4),
    "3-ary": naive.kary_tree(3, 3),
    "lexicographic": naive.lexicographic(9),
    "3-group": naive.grouped_lexicographic(8, 3),
    "7-group of 5": naive.grouped_lexicographic(5, 7),
    "position": naive.position_splits([2, 1]),
    "arbitrary": naive.arbitrary_splits(5),
}


@pytest.mark.parametrize("name", NAIVE)
def test_constants_and_cost_of_the_listed_graph(name):
    """The same numbers counted on the naive graph, node by node."""
    s, shape = EXAMPLES[name], NAIVE[name]
    assert s.leaves == shape.leaves
    assert s.max_group == max(len(group) for groups in shape.groups.values() for group in groups)
    assert s.max_groups == max(len(groups) for groups in shape.groups.values())
    around = [shape.containing(leaf) for leaf in range(shape.leaves)]
    counted = max(len(nodes) for nodes in around), max(sum(len(shape.groups[i]) for i in nodes) for nodes in around)
    if "group" in name:  # all intervals are kept, also those to which no split of the root leads
        assert s.cost.nodes >= counted[0] and s.cost.groups >= counted[1]
    else:
        assert s.cost == counted


def nodes_of(structure: hsb.Structure) -> list[Any]:
    """Every node that `groups` leads to."""
    seen = {structure.root: None}
    todo = [structure.root]
    while todo:
        children = [child for group in structure.groups(todo.pop()) for child in group if child not in seen]
        seen |= dict.fromkeys(children)
        todo += children
    return list(seen)


@pytest.mark.nojit
@pytest.mark.parametrize("name", NAIVE)
def test_nodes_split_as_those_of_the_listed_graph(name):
    """The same regions, each with the same groups in the same order, and boxes that cover as much."""
    s, shape = EXAMPLES[name], NAIVE[name]
    ours = {frozenset(s.leaves_of(i)): [[set(s.leaves_of(j)) for j in group] for group in s.groups(i)] for i in nodes_of(s)}
    assert ours == {
        shape.regions[i]: [[set(shape.regions[j]) for j in group] for group in shape.groups[i]] for i in shape.groups
    }
    for node in nodes_of(s):
        area = sum(math.prod(high - low for low, high in box) for box in s.boxes(node))
        assert math.isclose(area, len(s.leaves_of(node)) / s.leaves)
        assert sorted(map(sorted, s.options(node))) == sorted(map(sorted, s.groups(node)))


@pytest.mark.nojit
@pytest.mark.parametrize("name", [*NAIVE, "own"])
def test_layers_hold_every_node_once_children_first(name):
    """With the numbers and the order of groups that the state has."""
    s = EXAMPLES[name]
    done: dict[int, list[list[int]]] = {}
    for layer in s.layers():
        for number, groups in zip(layer.nodes.tolist(), layer.children.tolist(), strict=True):
            children = [[child for child in group if child >= 0] for group in groups]
            assert number not in done and all(child in done for group in children for child in group)
            done[number] = children
    assert done == {s.number(i): [[s.number(j) for j in group] for group in s.options(i)] for i in nodes_of(s)}
    assert s.inputs > max(done)


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["binary", "binary, plane", "3-ary", "lexicographic", "3-group", "7-group of 5"])
def test_the_fast_prices_are_those_of_the_walk(name):
    s, rng = EXAMPLES[name], np.random.default_rng(0)
    values = np.log([0.2, 0.3, 0.5])
    for phase in (1, 2, s.leaves):
        symbols = np.repeat(rng.integers(3, size=s.leaves), phase)[: s.leaves]
        assert math.isclose(s.log_beta(symbols, values, None), log_beta(s, symbols, values), rel_tol=1e-12)
    assert s.log_beta(symbols, values, None) > log_beta(s, symbols, values - 1e-6) + 1e-7  # the comparison notices


def test_constants_of_the_users_own_and_of_one_of():
    own = EXAMPLES["own"]
    assert (own.leaves, own.max_group, own.max_groups) == (4, 2, 3)
    assert own.cost == (5, 4)  # leaf 0: all, same, left, ends, a
    assert own.splits(1, 3) == 0
    assert own.splits(2, 3) == 1
    both = hsb.OneOf(hsb.BinaryTree(depth=3), hsb.Lexicographic(leaves=8))
    assert (both.leaves, both.max_group, both.max_groups) == (8, 2, 7)
    assert both.splits(1, 3) == 0
    assert both.splits(3, 2) == 1 + 2
    assert both.cost.nodes == 1 + 4 + 20


def test_leaves_that_are_only_numbered_are_the_contexts():
    """Without a space context k is leaf k; a space, or a description that names one, is taken as it is."""
    own = hsb.Hierarchy(OWN)
    assert own.space == hsb.Cells(4)
    assert [own.leaf_of(k) for k in range(4)] == [0, 1, 2, 3]
    with pytest.raises(hsb.InputError, match=r"cell numbers 0 \.\. 3"):
        own.leaf_of(4)
    for where in ({"space": hsb.Box.unit()}, {"features": [0]}):
        unit = hsb.Hierarchy(OWN, **where)
        assert unit.space == hsb.Box.unit() and unit.leaf_of(1) == 3
        assert from_dict(unit.to_dict()).space == hsb.Box.unit()
        assert "Box" in repr(unit) and unit != own


@countable
@pytest.mark.parametrize("dense", [True, False])
def test_cost_is_what_the_kernels_visit(structure, dense, monkeypatch):
    """Where every leaf has been seen, a round visits at most `cost.nodes` nodes, and so many at some leaf."""
    monkeypatch.setattr(trees, "DENSE_WORDS", 1 << 24 if dense else 0)
    policy = hsb.HSB(structure, arms=2, learning_rate=0.1, seed=0)
    everywhere = [as_context(row) for row in points(structure.space, 1000)]
    for context in everywhere:
        policy.learn(hsb.Decision(context=context, arm=0, propensity=0.5), loss=1.0)
    visited = []
    for context in everywhere:
        policy.probabilities(context)
        visited.append(int(policy.learner.mixture.state.visited.sum()))
    heads = sum(isinstance(s, hsb.OneOf) for s in _parts(structure))
    assert max(visited) <= structure.cost.nodes
    assert max(visited) >= structure.cost.nodes - heads


def _parts(structure: hsb.Structure) -> list[hsb.Structure]:
    return [structure] + [p for s in getattr(structure, "structures", ()) for p in _parts(s)]


# -- cells -----------------------------------------------------------------------------------------------------------


@countable
def test_a_point_inside_a_region_has_that_leaf(structure):
    rng = np.random.default_rng(1)
    for leaf in range(structure.leaves):
        bounds = structure.region(leaf)
        looked_at = structure.finest.features
        assert len(bounds) == len(looked_at)
        for share in (0.5, *rng.uniform(0.01, 0.99, 3)):
            unit = rng.random(structure.space.features)
            for j, (start, end) in zip(looked_at, bounds, strict=True):
                assert 0.0 <= start < end <= 1.0
                unit[j] = start + share * (end - start)
            if isinstance(structure.space, hsb.Cells):
                context = [math.floor(unit[0] * structure.space.n)]
            else:
                context = structure.space.low + unit * (structure.space.high - structure.space.low)
            assert structure.leaf_of(context) == leaf


@countable
def test_regions_fill_the_space(structure):
    volume = [math.prod(end - start for start, end in structure.region(leaf)) for leaf in range(structure.leaves)]
    assert math.isclose(sum(volume), 1.0)
    assert np.allclose(volume, 1 / structure.leaves)


@countable
def test_the_ends_of_the_space(structure):
    """The lower end is in the first cell; the upper end belongs to the last."""
    if isinstance(structure.space, hsb.Cells):
        low, high = [0], [structure.space.n - 1]
    else:
        low, high = structure.space.low, structure.space.high
    assert structure.leaf_of(low) == 0
    assert structure.leaf_of(high) == structure.leaves - 1


@pytest.mark.nojit
@quick
@given(data=st.data(), features=st.integers(1, 4), depth=st.integers(0, 12), k=st.sampled_from([2, 2, 3, 5]))
def test_the_quantiser_of_section_v(data, features, depth, k):
    """Feature j is divided into k^(depth // n + [j < depth mod n]) equal cells, and level l divides feature l mod n."""
    tree = hsb.KaryTree(k=k, depth=depth, space=hsb.Box.unit(features))
    parts = [depth // features + (j < depth % features) for j in range(features)]
    assert quantise.halvings(depth, features) == parts
    cell = [data.draw(st.integers(0, k**p - 1)) for p in parts]
    inside = [(c + 0.5) / k**p for c, p in zip(cell, parts, strict=True)]
    digits = [cell[l % features] // k ** (parts[l % features] - 1 - l // features) % k for l in range(depth)]
    leaf = 0
    for digit in digits:
        leaf = leaf * k + digit
    assert tree.leaf_of(inside) == leaf
    region = tree.region(leaf)
    assert np.allclose(region, [(c / k**p, (c + 1) / k**p) for c, p in zip(cell, parts, strict=True)], rtol=1e-14)
    assert key_digits(tree, np.array([inside])) == digits


def key_digits(tree: hsb.KaryTree, context: np.ndarray) -> list[int]:
    """A key read back, digit by digit, the first level first."""
    words = Keys(tree).keys(context)
    bits = quantise.digit_bits(tree.k)
    per_word = quantise.WORD // bits
    assert words.shape == (1, quantise.key_words(tree.k, tree.depth))
    results = []
    for level in range(tree.depth):
        word = int(words[0, level // per_word])
        results.append(word >> bits * (per_word - 1 - level % per_word) & ((1 << bits) - 1))
    return results


@each
def test_keys_agree_with_leaf_numbers(structure):
    contexts = points(structure.space, 200)
    unit = structure.space.to_unit(contexts)
    for part in _parts(structure):
        if isinstance(part, hsb.KaryTree):
            for context, row in zip(contexts, unit, strict=True):
                number = 0
                for digit in key_digits(part, context[None]):
                    number = number * part.k + digit
                if part.leaves <= 2**62:
                    assert number == part.leaf(row[None])[0]
                assert all(a <= row[j] <= b for j, (a, b) in zip(part.features, widened(part.region(number)), strict=True))
        elif not isinstance(part, hsb.OneOf):
            assert np.array_equal(Keys(part).keys(contexts), part.leaf(unit)[:, None])


def widened(bounds: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(a - 1e-15, b + 1e-15) for a, b in bounds]


@each
def test_one_point_quickly_is_the_same_key(structure):
    keys = Keys(structure)
    for context in points(structure.space, 300):
        key, clipped = keys.read(float(context[0]) if structure.space.features == 1 else context)
        assert [key.tolist()] == keys.keys(context[None]).tolist() and clipped == 0


@pytest.mark.nojit
def test_how_deep_a_tree_may_be():
    assert hsb.BinaryTree(depth=52).leaves == 2**52
    assert hsb.BinaryTree(depth=104, space=PLANE).leaves == 2**104
    assert hsb.BinaryTree(depth=52, space=PLANE, features=[1]).leaves == 2**52
    assert hsb.KaryTree(k=3, depth=32).leaves == 3**32
    for too_deep in (
        lambda: hsb.BinaryTree(depth=53),
        lambda: hsb.BinaryTree(depth=105, space=PLANE),
        lambda: hsb.BinaryTree(depth=53, space=PLANE, features=[0]),
        lambda: hsb.KaryTree(k=3, depth=33),
        lambda: hsb.KaryTree(k=4, depth=27),
    ):
        with pytest.raises(hsb.InputError, match="depth may be at most"):
            too_deep()


def test_the_deepest_tree_tells_neighbouring_doubles_apart():
    tree = hsb.BinaryTree(depth=52)
    one = 0.5
    following = one + 2.0**-52
    assert tree.leaf_of(following) == tree.leaf_of(one) + 1
    assert tree.leaf_of(np.nextafter(1.0, 0.0)) == tree.leaf_of(1.0) == 2**52 - 1
