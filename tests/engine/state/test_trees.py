"""Trees: which are dense, their priors, and their limits."""

import numpy as np
import pytest

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import tree as words
from hsb.engine.state import State, chain_prior, make_cells, make_tree, resized, trees
from hsb.engine.state.views import TreeView


def test_a_small_tree_is_dense_and_a_large_or_limited_one_is_not(monkeypatch):
    assert make_tree(2, 5, 2, 0.5).number == h.DENSE
    assert make_tree(2, 40, 2, 0.5).number == make_tree(2, 5, 2, 0.5, most_rows=9).number == h.COMPRESSED
    monkeypatch.setattr(trees, "DENSE_WORDS", 0)
    assert make_tree(2, 5, 2, 0.5).number == h.COMPRESSED


@pytest.mark.parametrize("stop", [0.0, 1e-12, 0.3, 0.9])
def test_a_chain_is_passed_or_stopped_in(stop):
    go, stay = chain_prior(stop, 20)
    np.testing.assert_allclose(go, (1.0 - stop) ** np.arange(21), rtol=1e-13)
    np.testing.assert_allclose(stay, -np.expm1(np.arange(21) * np.log1p(-stop)), rtol=1e-13)
    assert not go.flags.writeable  # many trees share it


def test_a_prior_too_small_for_a_double_is_refused():
    with pytest.raises(hsb.BudgetError, match=r"depth=2000 with stop=0.5: .* Use a smaller depth or stop"):
        make_tree(2, 2000, 2, 0.5)


def test_cells_are_trees_side_by_side_that_share_nothing():
    state, p = State([make_cells(3, 2)], [1]), np.empty(2)
    state.update(np.array([1]), None, 0, 1.0, 0.5)
    for cell, first in ((0, 0.5), (1, np.exp(-2.0) / (1.0 + np.exp(-2.0))), (2, 0.5)):
        state.fill(np.array([cell]), None, p)
        assert p[0] == pytest.approx(first, rel=1e-13)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_tree_comes_back_from_its_trimmed_arrays_and_takes_another_arm(compressed):
    state, rng = State([make_tree(3, 4, 3, 0.2, most_rows=500 if compressed else 0)], [1]), np.random.default_rng(0)
    fresh = State([make_tree(3, 4, 3, 0.2, most_rows=500 if compressed else 0)], [1])
    for _ in range(30):
        digits = rng.integers(3, size=4).tolist()
        key = np.array([sum(digit << 2 * (30 - level) for level, digit in enumerate(digits))])
        state.update(key, None, int(rng.integers(3)), float(rng.random()), 0.4)
    again, p, q = fresh.from_arrays(state.to_arrays()), np.empty(3), np.empty(4)
    assert again.digest() == state.digest() and again.member(0).number == (h.COMPRESSED if compressed else h.DENSE)
    again.fill(key, None, p)
    again.widen()
    again.fill(key, None, q)
    assert q == pytest.approx([*0.75 * p, 0.25], rel=1e-12)
    assert TreeView(again.member(0)).used == TreeView(state.member(0)).used > 0


@pytest.mark.parametrize("most_rows", [0, 256])
def test_a_tree_without_room_for_two_rows_grows_whatever_its_size(most_rows):
    """A round stops until there is room for two more rows: a tree that stayed as it is would stop it forever."""
    fresh = make_tree(2, 40, 2, 0.5, most_rows)
    for used in range(9):
        for capacity in range(used, used + 4):
            for rounds in (1, 2, 100):
                member = resized(fresh, *sizes(fresh, capacity))
                member.I[words.ROWS] = used
                grown = resized(member, *member.kind.room(member, rounds))
                assert TreeView(member).capacity == capacity <= TreeView(grown).capacity
                assert TreeView(grown).capacity >= used + 2


def test_trees_that_are_nearly_full_grow_with_the_first_that_is_full():
    full, nearly, half = (make_tree(2, 40, 2, 0.5, 256) for _ in range(3))
    rooms = []
    for fresh, used in ((full, 63), (nearly, 48), (half, 32)):
        member = resized(fresh, *sizes(fresh, 64))
        member.I[words.ROWS] = used
        rooms.append(TreeView(resized(member, *member.kind.room(member, 1000))).capacity)
    assert rooms == [63 + 63 + 64, 48 + 48 + 64, 64]


def sizes(fresh, capacity):
    """Return the sizes of a fresh compressed tree's arrays with room for these rows."""
    tree = TreeView(fresh)
    return tree.row0 + capacity * tree.stride, tree.links0 + capacity * tree.link_stride
